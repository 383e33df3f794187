"""`gough check --verified`: both checkers on the same files, and which of them says what."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from gough import Bounded, Box, InputError, LinearProblem, Unknowns, estimate
from gough.checker import Certificate, Witness, certificate_of, load, save
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


@built
def test_a_linear_certificate_of_format_1_is_judged_by_both(files, capsys):
    certificate = load(files / "hull.json")
    save(replace(certificate, version=1), files / "old.json")
    assert run(["check", "--verified", str(files / "old.json"), str(files / "problem.npz")]) == 0
    assert "HOLDS: the proven checker accepts old.json about problem.json." in capsys.readouterr().out


@built
def test_a_certificate_and_its_problem_may_have_one_name(files, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "hull.npz").write_bytes((files / "problem.npz").read_bytes())
    save(replace(load(files / "hull.json"), version=1), tmp_path / "other" / "hull.json")
    assert (
        run(["check", "--verified", str(tmp_path / "other" / "hull.json"), str(tmp_path / "other" / "hull.npz")]) == 0
    )


@built
def test_names_are_read_in_every_locale(tmp_path):
    problem = LinearProblem([[1.0]], [1.0], Unknowns(["µ"]), Bounded(0.5))
    save(Certificate.of(problem, Witness({"µ": 1.0})), tmp_path / "witness.json")
    write_problem(problem, tmp_path / "problem.json")
    code = "from pathlib import Path; from gough.studies import verified as v; import sys; "
    code += "print(ascii(v.ask(v.installed(), Path(sys.argv[1]), Path(sys.argv[2])).lines))"
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", code, str(tmp_path / "witness.json"), str(tmp_path / "problem.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=plain)
    assert "\\xb5 = 1'" in done.stdout


@built
def test_a_certificate_about_another_unknown_does_not_hold(files, capsys):
    certificate = load(files / "hull.json")
    save(replace(certificate, proof=Witness({"a": 0.0, "c": 0.0})), files / "other.json")
    assert run(["check", "--verified", str(files / "other.json"), str(files / "problem.npz")]) == 1
    assert "DOES NOT HOLD: other.json names an unknown or a chain" in capsys.readouterr().out


@built
def test_a_refusal_names_the_program_once(tmp_path, files):
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match=r"^gough-proof-check: not ") as caught:
        verified.ask(verified.installed(), files / "hull.json", tmp_path / "broken.json")
    assert str(caught.value).count("gough-proof-check") == 1


def test_a_disagreement_is_a_failure(files, monkeypatch, capsys):
    refuses = verified.ProgramVerdict(holds=False, lines=("DOES NOT HOLD",))
    monkeypatch.setattr(verified, "installed", lambda: files)
    monkeypatch.setattr(verified, "ask", lambda *_: refuses)
    assert run(["check", "--verified", str(files / "hull.json"), str(files / "problem.npz")]) == 1
    assert "The checkers disagree about hull.json" in capsys.readouterr().out


def test_evidence_that_only_the_verified_checker_accepts_is_no_matter_of_digests(files, monkeypatch, capsys):
    monkeypatch.setattr(verified, "installed", lambda: files)
    monkeypatch.setattr(verified, "ask", lambda *_: verified.ProgramVerdict(holds=True, lines=("HOLDS",)))
    save(replace(load(files / "hull.json"), proof=Witness({"a": 4.0, "b": 4.0})), files / "false.json")
    assert run(["check", "--verified", str(files / "false.json"), str(files / "problem.npz")]) == 1
    assert "is none of these, the checkers disagree: report the files as a bug." in capsys.readouterr().out


@built
def test_one_certificate_without_its_question_does_not_hold(tmp_path, capsys):
    folder = leg_run(tmp_path)
    (folder / "measurements.json").unlink()
    (one, *_) = sorted(folder.glob("leg-2-*.json"))
    capsys.readouterr()
    assert run(["check", "--verified", str(one)]) == 1
    assert "measurements.json is missing" in capsys.readouterr().out
