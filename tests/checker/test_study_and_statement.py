"""What the study states goes before what a manifest or a question says, and statements say all that they rest on."""

import re
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gough import InputError
from gough.checker import load_question
from gough.checker.manifest import MANIFEST
from gough.checker.raw_chains import FAMILIES
from gough.cli.app import run
from gough.robots import RotaryDelta
from tests.checker.corpus import base
from tests.checker.runs import edited, resealed
from tests.cli.test_certify_chains import write as write_chains


def judged(folder, capsys):
    """Exit code and output of the check of a folder whose seals and digests were all put right."""
    resealed(folder)
    code = run(["check", str(folder)])
    return code, " ".join(capsys.readouterr().out.split())


@pytest.fixture(scope="module")
def delta(tmp_path_factory):
    """The folder of certificates of one chain of a rotary delta that fits."""
    place = tmp_path_factory.mktemp("rotary")
    path = write_chains(place, RotaryDelta(), "rotary-delta", "chains = [1]\n", n=12)
    path.write_text(path.read_text().replace("50 mm", "5 mm"))
    assert run(["certify", str(path), "--json"]) == 0
    return place / "results-certified" / "certificates"


@pytest.fixture
def arm(delta, tmp_path):
    return Path(shutil.copytree(delta, tmp_path / "certificates"))


def twice(data):
    data["equations"][0]["conditions"][2][0][2] = 2.0


def more(data):
    data["equations"][0]["conditions"].append(data["equations"][0]["conditions"][2])


def fewer(data):
    del data["equations"][0]["conditions"][-1]


def in_another_order(data):
    rod = data["equations"][0]
    rod["conditions"] = [each[::-1] for each in reversed(rod["conditions"])]


@pytest.mark.parametrize("change", [twice, more, fewer])
def test_conditions_of_a_chain_are_those_of_its_family(arm, change, capsys):
    edited(arm / "equations.json", change)
    code, out = judged(arm, capsys)
    assert code == 1
    assert "the conditions of the equations are not those of a rotary-delta" in out


def test_the_order_of_conditions_and_terms_says_nothing(arm, capsys):
    edited(arm / "equations.json", in_another_order)
    for path in (*arm.glob("*-box.json"), *arm.glob("*-epsilon-*.json")):  # their weights go by the order of rows
        path.unlink()
    edited(arm / MANIFEST, lambda data: data.update(files=[f for f in data["files"] if (arm / f[0]).exists()]))
    code, out = judged(arm, capsys)
    assert code == 0
    assert "1 of 1 certificates hold." in out


def stated(folder, text):
    path = folder / "sources" / "study.toml"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[certify.model_error]\nconstant = "5 mm"\n', "'mm' cannot become 'rad'"),
        ('[certify.model_error]\nconstant = "1e-9 mrad"\n', "pose 0 (line 2): a stated half-width is larger"),
        ("[certify.model_error]\nreading = 1e-9\n", ": a stated half-width is larger"),
        ("[certify.model_error]\nposition = 1e-9\n", ": a stated half-width is larger"),
        ("[certify.model_error]\nreading = -1e-9\n", "a model error is negative"),
        ('[calibration]\nframes = "instrument"\n', "the poses are in an instrument's frame"),
        ('[certify.modelerror]\nconstant = "9 m"\n', "does not know what 'modelerror' in [certify] means"),
        ("[chains]\n", "does not know what 'chains' in the study means"),
    ],
)
def test_a_study_of_chains_that_asks_for_more(arm, text, message, capsys):
    stated(arm, text)
    code, out = judged(arm, capsys)
    assert code == 1
    assert message in out
    assert "0 of" in out


def test_a_study_of_chains_that_asks_for_nothing_more(arm, capsys):
    stated(arm, "[calibration]\nscale = true\n[certify.model_error]\nconstant = 0\n[output]\nfolder = 'x'\n")
    code, out = judged(arm, capsys)
    assert code == 0
    assert "Derived from the sources" in out
    assert "(centers: taken as given; whether they are the built-in blueprint of a rotary-delta is not checked" in out


def test_a_geometry_of_which_no_center_is_computed(arm, capsys):
    stated(arm, '[robot.geometry]\nradius = "500 mm"\n')
    _, out = judged(arm, capsys)
    assert "does not compute the center of a chain's prior from [robot.geometry]" in out
    assert "Derived from the sources" not in out


@pytest.mark.parametrize("given", [{"center": ""}, {"center": "calibrated values"}, {"values": []}, {"gains": [1.0]}])
def test_centers_of_chains_are_taken_as_given_where_the_study_says_so(arm, given, capsys):
    edited(arm / MANIFEST, lambda data: data["given"].update(given))
    code, out = judged(arm, capsys)
    assert code == 1
    assert "does not follow from the sources" in out


def test_statements_say_whose_errors_are_shared():
    """A joint box is about legs that fit with the same errors of each pose; single legs that fit may be outside."""
    within, shared = "all poses within their tolerances", ", with the same errors of each pose for all legs"
    for name, head in (
        ("leg bound", f"every geometry of leg 1 within the prior that fits {within} satisfies:"),
        ("joint bound", f"every geometry of legs 1, 2 within the prior that fits {within}{shared}, satisfies:"),
    ):
        question, certificate, checker = base(name)
        assert checker(certificate, question).statement[0] == head
    question, certificate, checker = base("joint witness")
    assert checker(certificate, question).statement[0].endswith(shared)


def value_of(words, x):
    """The left side of an equation such as U_x² + U_y V_z − P_x V_y = 0 at a chain."""
    value, sign = Fraction(0), 1
    for term in re.split(r" ([+−]) ", words.removesuffix(" = 0")):
        if term in "+−":
            sign = 1 if term == "+" else -1
            continue
        first, second = [term[:-1]] * 2 if term.endswith("²") else term.split()
        value += sign * x[first] * x[second]
    return value


def test_the_conditions_of_a_chain_are_printed(arm, capsys):
    """All of them, as equations that the blueprint satisfies, and each of which a turned arm breaks somewhere."""
    code, out = judged(arm, capsys)
    assert code == 0
    told = re.search(r"that is (U_x V_x .*? = 0)\.", out)[1].split(", ")
    question = load_question(arm / "equations.json")
    assert len(told) == len(question.equations[0].conditions) == 8
    assert "every geometry of chain 1 within the prior that meets its conditions and fits all poses" in out
    names = [f"{letter}_{axis}" for letter in "PUV" for axis in "xyz"]
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = [Fraction(int(x), 64) for x in rng.integers(-99, 99, 9)]
        x = dict(zip(names, values, strict=True))
        for words, condition in zip(told, FAMILIES["rotary-delta"].conditions, strict=True):
            assert value_of(words, x) == sum(c * values[i] * values[j] for i, j, c in condition)


def test_the_conditions_are_printed_where_nothing_is_derived(arm, capsys):
    (arm / MANIFEST).unlink()
    shutil.rmtree(arm / "sources")
    assert run(["check", str(arm)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Conditions of chain 1: arm_at_0_x_1 arm_at_90_x_1 + arm_at_0_y_1 arm_at_90_y_1" in out
    assert "motor_x_1 arm_at_90_y_1 − motor_y_1 arm_at_90_x_1 = 0." in out


def test_names_in_equations_say_nothing_else():
    (rod,) = base("chain bound")[0].equations
    assert replace(rod, names=("x_1", "rod_1")).names == ("x_1", "rod_1")
    for name in ("x = 5 m; verified", "rod\n", "\x1b[31mx", "", "x" * 99):
        with pytest.raises(InputError, match="names of unknowns"):
            replace(rod, names=(name, "rod_1"))
