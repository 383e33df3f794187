"""What `gough-proof-check` reads, as docs/certificate-format.md has it, and how it states what is proven."""

import json
from subprocess import run

import pytest

from gough.core.sealed import sealed
from gough.studies.verified import installed

PROGRAM = installed()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="gough-proof-check is not built: make proofs")

STEP = {"direction": {"x": 1}, "value": 0.5, "weights": [[0, 1]]}
ROW = '{"direction":{"x":1},"value":%s,"weights":[[%s,1]]}'


def problem(names=("x",), n_rows=1, **changed):
    p = len(names)
    data = {"gough": "linear problem", "version": 1, "names": names, "units": [""] * p, "nominal": None}
    data |= {"lower": [None] * p, "upper": [None] * p, "groups": ["g"], "position": None, "y": [1.0] * n_rows}
    data |= {"radius": 0.5, "regressor": None, "W": [[1.0] + [0.0] * (p - 1)] * n_rows, "seal": ""}
    return json.dumps({**data, **changed})


def certificate(kind="Bound", **parts):
    """A certificate; parts that are texts are JSON already."""
    head = {"gough": "certificate", "version": 2, "kind": kind, "problem": ""}
    entries = {key: value if isinstance(value, str) else json.dumps(value) for key, value in parts.items()}
    return sealed(json.dumps(head)[:-1] + "".join(f',\n "{key}": {value}' for key, value in entries.items()))


def leg(**changed):
    """A leg of length 1 with the joints at (0, 0, 0) and (0, 0, 1), and a reading to ± 1/8, at one pose."""
    data = {"gough": "chain equations", "version": 3, "kind": "legs", "chains": [1], "lower": [0.0] * 6 + [0.5]}
    data |= {"upper": [0.0] * 6 + [1.5], "quaternion": [[1.0, 0.0, 0.0, 0.0]], "position": [[0.0, 0.0, 1.0]]}
    data |= {"readings": [[0.0]], "position_tolerance": [[0.0] * 3], "rotation_tolerance": [[0.0] * 3]}
    return json.dumps({**data, "reading_tolerance": [[0.125]], "seal": "", **changed})


def witness(length, more):
    head = {"gough": "chain certificate", "version": 3, "kind": "ChainWitness", "problem": "", "chains": [1]}
    proof = {"more": more, "values": [0.0] * 6 + [length], "errors": [[0.0] * 6], "left_out": [], "seal": ""}
    return json.dumps({**head, **proof})


@pytest.fixture
def judge(tmp_path):
    """Exit code and output of the program."""

    def judge(certificate, problem):
        paths = tmp_path / "certificate.json", tmp_path / "problem.json"
        for path, text in zip(paths, (certificate, problem), strict=True):
            path.write_text(text, encoding="utf-8")
        done = run([PROGRAM, *paths], capture_output=True, check=False, timeout=60)
        return done.returncode, (done.stdout + done.stderr).decode()

    return judge


def test_rows_beyond_the_stack_are_read(judge):
    """Each of half a million rows once took a frame of the stack, as did each unit of a row's number."""
    n = 500_000
    step = {**STEP, "weights": [[n - 1, 1]]}
    assert judge(certificate(steps=[step]), problem(n_rows=n))[0] == 0
    assert judge(certificate(steps=[{**STEP, "weights": [[0, 1], [10**15 - 1, 0]]}]), problem())[0] == 1


@pytest.mark.parametrize(("digits", "code"), [(4300, 0), (4301, 2)])
@pytest.mark.parametrize("form", ["-{}", '"-{}/3"'])
def test_decimals_have_at_most_4300_digits(judge, form, digits, code):
    steps = "[" + ROW % (form.format("9" * digits), 0) + "]"
    assert judge(certificate(steps=steps), problem())[0] == code


def test_a_character_may_be_written_as_a_pair_of_escapes(judge):
    about = problem(names=("\U0001d6c9",))
    assert judge(certificate(steps=[{**STEP, "direction": {"\U0001d6c9": 1}}]), about)[0] == 0
    for half in ("\\ud835", "\\ud835x", "\\ud835\\ud835", "\\udec9", "\\udec9\\ud835"):
        steps = "[" + ROW.replace("x", half) % (0.5, 0) + "]"
        code, said = judge(certificate(steps=steps), about)
        assert (code, "half a character" in said) == (2, True), half


def test_names_that_the_problem_does_not_have_make_a_certificate_fail(judge):
    split = {"split": "y", "at": 0, "below": [], "above": []}
    for link in (split, {**STEP, "direction": {"y": 1}}, {"reach": {"y": 1}, "weights": {"y": []}}):
        code, said = judge(certificate(steps=[STEP, link]), problem())
        assert (code, "DOES NOT HOLD: certificate.json names an unknown" in said) == (1, True)
    assert judge(witness(1.0, 0.0).replace('"chains": [1]', '"chains": [2]'), leg())[0] == 1


@pytest.mark.parametrize("changed", [{"y": [], "W": []}, {"names": [" "]}, {"names": []}])
def test_a_problem_has_rows_and_named_unknowns(judge, changed):
    assert judge(certificate(steps=[STEP]), problem(**changed))[0] == 2


def test_minus_zero_is_an_index(judge):
    assert judge(certificate(steps="[" + ROW % (0.5, "-0") + "]"), problem())[0] == 0
    assert judge(certificate(steps="[" + ROW % (0.5, "-1") + "]"), problem())[0] == 2


@pytest.mark.parametrize(("splits", "code"), [(154, 0), (155, 2)])
def test_lists_and_objects_are_nested_at_most_310_deep(judge, splits, code):
    """Two for each split, the certificate and its list of steps."""
    links = []
    for _ in range(splits):
        links = [{"split": "x", "at": 0.5, "below": links, "above": []}]
    assert judge(certificate(steps=[STEP, *links]), problem())[0] == code


def test_digits_that_are_left_out_are_those_behind(judge):
    """-1/3 is not printed as -0.333…334..., whose digits are not those of -1/3."""
    steps = [{"direction": {"x": "-1/3", "y": "1/3"}, "value": -9, "weights": []}]
    _, said = judge(certificate(steps=steps), problem(names=("x", "y"), lower=[0.0, 0.0], upper=[1.0, 1.0]))
    assert "  -0.333333333333333333... x + 0.333333333333333333... y >= -9\n" in said


def test_a_flat_ellipsoid_is_stated_without_an_inverse(judge):
    strips = [{"of": 0, "middle": 1, "half": 0.5, "weight": 4}]
    rounds = [{"center": {"x": 1, "y": 2}, "shape": [["1/4"], [0, 0]], "strips": strips}]
    about = problem(names=("x", "y"), lower=[None, 2.0], upper=[None, 2.0])
    code, said = judge(certificate("Inside", steps=[], rounds=rounds), about)
    assert code == 0
    assert "P^-1" not in said
    assert "(u'(θ - c))^2 <= u' P u for every u" in said


def test_how_much_readings_may_be_off_is_stated_with_its_unit_and_its_end_at_zero(judge):
    assert judge(witness(1.25, 0.125), leg())[0] == 0
    assert "off by 0.125 m more than its tolerance states.\n" in judge(witness(1.25, 0.125), leg())[1]
    code, said = judge(witness(1.0, -5.0), leg())
    assert code == 0
    assert "off by 5 m less than its tolerance states, and not at all where that is less than 0.\n" in said
    assert judge(witness(1.0625, -5.0), leg())[0] == 1
