"""`gough check --verified`: both checkers on the same files, and which of them says what."""

import pytest

from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.checker import certificate_of, save
from gough.cli.app import run
from gough.data import write_problem
from gough.methods import LinearHull
from gough.studies import verified
from tests.checker.runs import leg_run

built = pytest.mark.skipif(verified.installed() is None, reason="gough-proof-check is not built: make proofs")


@pytest.fixture
def files(tmp_path):
    problem = LinearProblem(
        [[1.0, 0.5], [0.25, 1.0]], [1.0, 0.5], Unknowns(["a", "b"], prior=Box([-4] * 2, [4] * 2)), Bounded(0.5)
    )
    save(certificate_of(problem, estimate(problem, LinearHull())), tmp_path / "hull.json")
    write_problem(problem, tmp_path / "problem.npz")
    return tmp_path


def test_without_the_program_it_says_what_to_do(files, monkeypatch, capsys):
    monkeypatch.setattr(verified, "installed", lambda: None)
    assert run(["check", "--verified", str(files / "hull.json"), str(files / "problem.npz")]) == 2
    assert "make proofs" in capsys.readouterr().err


@built
def test_a_problem_in_npz_is_judged_by_both(files, capsys):
    assert run(["check", "--verified", str(files / "hull.json"), str(files / "problem.npz")]) == 0
    out = capsys.readouterr().out
    assert "Python checker:" in out
    assert "HOLDS: the proven checker accepts hull.json about problem.json." in out


@built
def test_a_folder_is_judged_by_both(tmp_path, capsys):
    folder = leg_run(tmp_path)
    capsys.readouterr()
    assert run(["check", "--verified", str(folder)]) == 0
    out = capsys.readouterr().out
    n = len(list(folder.glob("leg-2-*.json")))
    assert n >= 2
    assert out.count("HOLDS: the proven checker accepts leg-2-") == n
    assert f"{n} of {n} certificates hold." in out


def test_a_disagreement_is_a_failure(files, monkeypatch, capsys):
    refuses = verified.ProgramVerdict(holds=False, lines=("DOES NOT HOLD",))
    monkeypatch.setattr(verified, "installed", lambda: files)
    monkeypatch.setattr(verified, "ask", lambda *_: refuses)
    assert run(["check", "--verified", str(files / "hull.json"), str(files / "problem.npz")]) == 1
    assert "The checkers disagree about hull.json" in capsys.readouterr().out
