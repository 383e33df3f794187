"""`gough check` at the shell: words, JSON and exit codes."""

import json
import re
import subprocess
import sys
from fractions import Fraction

import pytest

from gough import Bounded, Gaussian, Groups, LinearProblem, Unknowns
from gough.checker import (
    Bound,
    Certificate,
    Empty,
    Inside,
    RelaxedBound,
    RelaxedStep,
    Round,
    Step,
    Strip,
    Violated,
    Witness,
    save,
)
from gough.cli.app import run
from gough.data import write_problem

HALF = Fraction(1, 2)
W, Y = [[1.0, 1.0], [1.0, -1.0], [3.0, 0.0], [0.0, 1.0]], [3.0, 1.0, 5.0, 1.0]


@pytest.fixture
def problem(tmp_path) -> LinearProblem:
    unknowns = Unknowns(["mass", "fv_1"], ["kg", ""])
    problem = LinearProblem(W, Y, unknowns, Bounded([0.5, 0.5, 0.25, 1.0]), Groups(("left", "right")))
    write_problem(problem, tmp_path / "problem.npz")
    return problem


@pytest.fixture
def call(tmp_path, capsys):
    def check(*arguments):
        code = run(["check", *(str(tmp_path / a) if not a.startswith("-") else a for a in arguments)])
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return check


@pytest.fixture
def certify(tmp_path, problem):
    def write(proof):
        save(Certificate.of(problem, proof), tmp_path / "c.json")

    return write


def test_a_bound_that_holds(call, certify):
    certify(
        Bound([Step({"mass": 1}, Fraction(19, 12), {2: Fraction(1, 3)}), Step({"mass": 1, "fv_1": 1}, 2.5, {0: 1})])
    )
    code, out, _ = call("c.json", "problem.npz")
    assert code == 0
    problem = re.escape("4 rows, 2 unknowns.\nBounds: |y − W θ| ≤ 0.25 … 1.0.\nPrior: none.\n")
    assert re.match(rf"Problem: problem.npz \(sha256:[0-9a-f]{{12}}…, \d+ bytes\), {problem}", out)
    assert out.endswith(
        "Prior: none.\n"
        "Bound states:\n"
        "  mass ≥ 19/12 kg\n"
        "  mass + fv_1 ≥ 2.5\n"
        "Checked: row 0 (left), row 2 (left), and the prior.\n"
        "The certificate holds: the weighted rows prove each of its 2 steps.\n"
    )


def test_a_bound_that_claims_too_much(call, certify):
    certify(Bound([Step({"mass": 1}, 2, {2: Fraction(1, 3)})]))
    code, out, _ = call("c.json", "problem.npz")
    assert code == 1
    assert "does not hold: step 1: it states 2, which is 0.4167 more than its rows prove." in out


def test_witness_and_empty(call, certify, tmp_path):
    certify(Witness({"mass": Fraction(5, 3), "fv_1": 1}))
    code, out, _ = call("c.json", "problem.npz")
    assert (code, "mass = 5/3 kg" in out, "all 4 rows" in out) == (0, True, True)
    (tmp_path / "c.json").unlink()
    certify(Empty([Step({}, 1, {0: 1, 1: -1})]))
    code, out, _ = call("c.json", "problem.npz")
    assert (code, "no θ satisfies" in out, "row 0 (left), row 1 (right)" in out) == (1, True, True)


def test_an_ellipsoid_in_words(call, certify):
    strips = [Strip(2, 5, Fraction(1, 4), 8), Strip(3, 1, 1, HALF)]
    certify(Inside([], [Round({"mass": Fraction(5, 3), "fv_1": 1}, [[Fraction(1, 72)], [0, 2]], strips)]))
    code, out, _ = call("c.json", "problem.npz")
    assert out.endswith(
        "Prior: none.\n"
        "Inside states:\n"
        "  every consistent θ lies in the ellipsoid (θ − c)ᵀ P⁻¹ (θ − c) ≤ 1 whose center, and reach from it, is\n"
        "  mass = 1.667 ± 0.119 kg\n"
        "  fv_1 = 1.00 ± 1.42\n"
        "Checked: row 2 (left), row 3 (right), and the prior.\n"
        "The certificate holds: 2 weighted strips imply the ellipsoid.\n"
    )
    assert code == 0


def test_violated_rows_in_words(call, certify, tmp_path):
    certify(RelaxedBound(1, [RelaxedStep({"mass": 1}, 1, [{2: Fraction(1, 3)}, {0: HALF, 1: HALF}])]))
    code, out, _ = call("c.json", "problem.npz")
    assert code == 0
    assert "every θ of the prior that violates at most 1 row satisfies\n  mass ≥ 1 kg\n" in out
    assert "holds: whichever 1 row may be violated, some cut of each of its 1 steps is left." in out
    (tmp_path / "c.json").unlink()
    certify(Violated(1, 1, [2], [{2: 1}]))
    code, out, _ = call("c.json", "problem.npz", "--json")
    answer = json.loads(out)
    assert code == 1
    assert answer["reason"].startswith("contradiction 1: the weights leave")
    assert answer["statement"][0] == "every θ of the prior violates at least 1 row"


def test_json(call, certify):
    certify(Bound([Step({"mass": 1}, 1.5, {2: Fraction(1, 3)})]))
    code, out, _ = call("c.json", "problem.npz", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["holds"] is True
    assert answer["kind"] == "Bound"
    assert answer["rows"] == [2]
    assert answer["statement"] == ["mass ≥ 1.5 kg"]


def test_a_problem_as_text_is_the_same_problem(call, certify, problem, tmp_path):
    certify(Witness({"mass": Fraction(5, 3), "fv_1": 1}))
    write_problem(problem, tmp_path / "problem.json")
    code, out, _ = call("c.json", "problem.json")
    assert code == 0
    assert out.splitlines()[1:] == call("c.json", "problem.npz")[1].splitlines()[1:]


def test_a_table_is_a_problem_too(call, tmp_path):
    (tmp_path / "p.csv").write_text("mass,y,e\n2,3,1\n")
    table = LinearProblem([[2.0]], [3.0], Unknowns(["mass"]), Bounded([1.0]))
    save(Certificate.of(table, Bound([Step({"mass": 1}, 1, {0: 0.5})])), tmp_path / "c.json")
    code, out, _ = call("c.json", "p.csv")
    assert code == 0
    assert "The 3 decimals of the table are doubles without rounding." in out
    (tmp_path / "p.csv").write_text("mass,y,e\n2,3,0.1\n")
    table = LinearProblem([[2.0]], [3.0], Unknowns(["mass"]), Bounded([0.1]))
    save(Certificate.of(table, Bound([Step({"mass": 1}, 1, {0: 0.5})])), tmp_path / "c.json", overwrite=True)
    code, out, _ = call("c.json", "p.csv")
    assert code == 0
    assert "about the doubles nearest to the decimals of the table: 1 of 3 decimals are not doubles." in out


def test_bad_input_is_a_message_and_exit_code_2(call, certify, tmp_path):
    certify(Witness({"mass": 2, "fv_1": 1}))
    write_problem(LinearProblem(W, Y, Unknowns(["mass", "fv_1"]), Gaussian(1.0)), tmp_path / "gaussian.npz")
    (tmp_path / "edited.json").write_text((tmp_path / "c.json").read_text().replace("2.0", "2.5"))
    (tmp_path / "copy.npz").write_text((tmp_path / "c.json").read_text())
    (tmp_path / "torn.json").write_text((tmp_path / "c.json").read_text()[:90])
    for arguments, message in [
        (("none.json", "problem.npz"), "No such file"),
        (("c.json", "none.npz"), "no such file"),
        (("torn.json", "problem.npz"), "not a complete JSON document"),
        (("edited.json", "problem.npz"), "changed after it was saved"),
        (("c.json", "c.json"), "c.json: not a linear problem"),
        (
            ("c.json", "copy.npz"),
            "copy.npz is not a complete .npz file: it does not begin like one. Problems are .npz files",
        ),
        (("c.json", "gaussian.npz"), "Gaussian noise"),
        (("c.json",), "state the problem"),
    ]:
        code, out, err = call(*arguments)
        assert code == 2
        assert out == ""
        assert message in err
        assert "pickle" not in err


def test_another_problem_is_exit_code_1(call, certify, tmp_path):
    certify(Witness({"mass": Fraction(5, 3), "fv_1": 1}))
    write_problem(LinearProblem(W, Y, Unknowns(["mass", "fv_1"]), Bounded(9.0)), tmp_path / "other.npz")
    code, out, _ = call("c.json", "other.npz")
    assert code == 1
    assert "is about another problem" in out


def test_as_a_process(certify, tmp_path):
    certify(Witness({"mass": 9, "fv_1": 1}))
    command = [sys.executable, "-c", "from gough.cli import main; main()", "check", "c.json", "problem.npz"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "does not hold: row 0 (left) is violated" in ended.stdout
    assert ended.stderr == ""
