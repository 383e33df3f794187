"""`gough certify`: studies that run, certificates that `gough check` reads, and studies that are refused."""

import json
import re
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

from gough.checker import Verdict
from gough.cli.app import run
from gough.closure import (
    Bracket,
    Certification,
    ChainFinding,
    Finding,
    JointFinding,
    Tolerances,
    WithoutPoses,
    certify,
)
from gough.closure.certification import outer_box, prepare
from gough.closure.proving import at_least_each
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.core.tables import html_table
from gough.data import Poses, write_poses
from gough.region import Box
from gough.report.certification import box_tables
from gough.robots import LinearDelta
from gough.studies.calibration import CalibrationStudy
from tests.methods.legs import EDGE, POSITION, READING, ROTATION, extremal_poses

STUDY = """
[robot]
family = "gough"
blueprint = "deltalab"

[poses]
file = "poses.csv"

[noise]
position = ["0.0633 mm", "0.023 mm", "0.0608 mm"]
orientation = ["0.00923 deg", "0.0119 deg", "0.00894 deg"]
readings = ["0.0077 mm", "0.0127 mm", "0.0117 mm", "0.0102 mm", "0.0118 mm", "0.019 mm"]

[certify]
chains = [2, 5]
around = "3 mm"
"""


def prepared(study):
    """The questions of a study, each with what the sources state."""
    arguments = study.certify_arguments()
    keys = ("poses", "tolerances", "around", "center", "calibrated", "chains", "model_error", "sources")
    return prepare(study.model, **{key: arguments[key] for key in keys})


def write(folder, text=STUDY, bad=None, n=64, built=0.0):
    rng = np.random.default_rng(3)
    robot, poses = extremal_poses()
    some = rng.permutation(64)[:n]
    p, R = poses.position[some], poses.rotation[some]
    readings = robot.inverse(robot.nominal + built, p, R)
    p = p + EDGE * rng.uniform(-1, 1, p.shape) * POSITION
    if bad is not None:
        p[bad] += [0, 0, 5e-3]
    R = exp(EDGE * rng.uniform(-1, 1, p.shape) * ROTATION) @ R
    (folder / "poses.csv").unlink(missing_ok=True)
    write_poses(folder / "poses.csv", Poses(p, R, readings + EDGE * rng.uniform(-1, 1, readings.shape) * READING))
    path = folder / "study.toml"
    path.write_text(text)
    return path


def platform_data(path):
    """What a study states about a platform: measurements within half-widths."""
    question = prepared(CalibrationStudy.read(path)).question
    return SimpleNamespace(**question.arrays())


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A study of two legs that fit."""
    path = write(tmp_path_factory.mktemp("two 'legs"), n=24)
    with redirect_stdout(StringIO()) as printed:
        code = run(["certify", str(path)])
    path.with_name("printed.txt").write_text(printed.getvalue(), encoding="utf-8")
    return path, code


def test_the_printed_command_may_be_pasted(done):
    printed = (done[0].parent / "printed.txt").read_text(encoding="utf-8")
    command = printed.partition("Check the proofs again: ")[2]
    assert shlex.split(command) == ["gough", "check", str(done[0].parent / "results-certified" / "certificates")]


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """A study of two legs with a wrong pose."""
    text = STUDY.replace("chains = [2, 5]", "chains = [2, 5]\noutliers = 1")
    path = write(tmp_path_factory.mktemp("refuted"), text, bad=7, n=32)
    return path, run(["certify", str(path), "--json", "--out", str(path.parent / "out")])


def test_legs_that_fit(done, capsys):
    path, code = done
    assert code == 0
    folder = path.parent / "results-certified"
    data = json.loads((folder / "certification.json").read_text(encoding="utf-8"))
    assert data["refuted"] is False
    assert [leg["finding"] for leg in data["chains"]] == ["fits", "fits"]
    assert data["joint"]["finding"] == "fits"
    low, high = data["chains"][0]["box"]["a2x"]
    assert low < 0.2231792 < high
    assert all(file["holds"] for leg in data["chains"] for file in leg["certificates"])
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "What is proven, and what is not" in page
    assert not re.search(r'(?:src|href)="https?:', page)
    capsys.readouterr()
    assert run(["check", str(folder / "certificates")]) == 0
    assert "7 of 7 certificates hold" in capsys.readouterr().out


def test_a_certificate_finds_its_measurements(done, capsys):
    folder = done[0].parent / "results-certified" / "certificates"
    assert run(["check", str(folder / "leg-2-box.json"), "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["kind"] == "ChainBound"
    assert len(verdict["statement"]) == 1 + 7
    assert run(["check", str(folder / "leg-5-fits.json"), str(folder / "measurements.json")]) == 0
    assert "some geometry of leg 5 within the prior fits all poses" in capsys.readouterr().out


def test_a_changed_file_is_refused(done, tmp_path, capsys):
    folder = done[0].parent / "results-certified" / "certificates"
    for name in ("measurements.json", "leg-2-box.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    for name in ("leg-2-box.json", "measurements.json"):
        text = (folder / name).read_text()
        at = text.index(".", len(text) // 2) + 3
        (tmp_path / name).write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :])
        assert run(["check", str(tmp_path / "leg-2-box.json")]) == 2
        assert "seal is broken" in " ".join(capsys.readouterr().err.split())
        (tmp_path / name).write_text(text)
    assert run(["check", str(tmp_path / "leg-2-box.json")]) == 0


def test_the_place_of_a_mistake_is_said_once(tmp_path, capsys):
    path = write(tmp_path, n=1)
    assert run(["certify", str(path)]) == 2
    told = capsys.readouterr().err
    assert "measure at least" in " ".join(told.split())
    assert told.count("study.toml") == 1


def test_one_broken_file_does_not_hide_the_others(done, tmp_path, capsys):
    folder = done[0].parent / "results-certified" / "certificates"
    for name in ("measurements.json", "leg-5-fits.json", "leg-2-box.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    text = (tmp_path / "leg-5-fits.json").read_text()
    (tmp_path / "leg-5-fits.json").write_text(text[: len(text) // 2])
    assert run(["check", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "holds by itself  leg-2-box.json" in told
    assert "DOES NOT HOLD  leg-5-fits.json: not a complete JSON document" in told
    assert told.endswith("or not derived. By themselves, 1 of 2 certificates hold.\n")


def test_a_wrong_pose_is_refuted_and_named(refuted):
    path, code = refuted
    assert code == 1
    data = json.loads((path.parent / "out" / "certification.json").read_text(encoding="utf-8"))
    _, leg = data["chains"]
    assert data["joint"]["finding"] == "refuted"
    assert data["joint"]["left_out"] == [7]
    assert data["joint"]["epsilon_without"] <= 0
    assert leg["finding"] == "refuted"
    assert leg["without_poses"]["named"] == [7]
    epsilon = leg["epsilon"]
    assert 0 < epsilon["lower"] < epsilon["upper"] < epsilon["lower"] + 1.1e-6
    page = " ".join((path.parent / "out" / "report.html").read_text(encoding="utf-8").split())
    told = "Of leg 2 and 5, the line is that of the best one without pose 7 (line 9), whose whole error it shows; ε is"
    assert told in page  # so that its peak is another number than ε
    names = {file["file"] for file in leg["certificates"]}
    assert {f"certificates/leg-5-{name}.json" for name in ("empty", "epsilon-lower", "epsilon-upper")} <= names


@pytest.fixture(scope="module")
def excluded(tmp_path_factory):
    """Right data of a robot that the prior excludes: joints are up to 1 mm off, and sought within 0.1 mm."""
    built = np.random.default_rng(5).uniform(-1e-3, 1e-3, 42)
    text = STUDY.replace('around = "3 mm"', 'around = "0.1 mm"\noutliers = 1')
    path = write(tmp_path_factory.mktemp("excluded"), text, n=24, built=built)
    return json.loads(_certified(path, 1).read_text(encoding="utf-8"))


def _certified(path, code):
    assert run(["certify", str(path)]) == code
    return path.parent / "results-certified" / "certification.json"


def test_right_poses_are_wrong_only_on_conditions(excluded):
    """The prior is wrong and every pose is right: no sentence may say otherwise."""
    assert excluded["refuted"]
    sentences = [part for verdict in excluded["verdicts"] for part in re.split(r"(?<=\.) ", verdict)]
    about = [words for words in sentences if "wrong" in words or "must be" in words]
    assert len(about) > 1
    for words in about:
        assert words.startswith("If the prior, the tolerances and the model are right") or "or the prior" in words
    for words in sentences:
        if "proven" in words:
            assert re.search("prior|within ± 0.1 mm of the blueprint", words)
            assert "tolerance" in words


def test_refutations_say_what_to_do_next(refuted):
    path, _ = refuted
    page = (path.parent / "out" / "report.html").read_text(encoding="utf-8")
    assert "Measure again the poses that are named below" in page
    assert "no geometry within the prior fits. Measure the poses that must be wrong again" in page
    assert "Set outliers" not in page
    none = _refuted_legs(None)
    assert "Next: Set outliers = 1 to have a wrong pose named" in str(none)
    assert (
        _refuted_legs(_without(1, 2, ())).next
        == "Set outliers = 2 or more to have wrong poses named, and certify again."
    )


def test_chains_that_were_examined_together_are_named(done):
    printed = (done[0].parent / "printed.txt").read_text(encoding="utf-8")
    assert "Legs 2, 5 fit together" in printed
    assert "together  fits" in printed
    assert "all legs" not in printed.lower().replace("holds all legs", "").replace("box", "")


def test_a_joint_box_is_shown_and_refused_or_noted_where_there_is_none(tmp_path):
    box = STUDY.replace("around", "joint_box = true\naround")
    path = write(tmp_path, box.replace("chains = [2, 5]", "chains = [2, 5]\njoint = false"), n=12)
    with pytest.raises(InputError, match=r"line \d+, \[certify\] joint_box: joint_box = true asks"):
        CalibrationStudy.read(path).certify()
    path.write_text(box.replace("chains = [2, 5]", "legs = [2]"))
    one = CalibrationStudy.read(path).certify()
    assert any("joint_box has no effect: only leg 2 is certified" in note for note in one.notes)
    assert "the name is 'chains' now" in str(one)  # as the command says
    joint = JointFinding(Finding.FITS, Bracket(-np.inf, 0.0, 0.0), Box([-0.001] * 2, [0.001] * 2), ())
    legs = tuple(replace(_leg(-1.0, 1.0), chain=k) for k in (1, 2))
    named = tuple(replace(leg, names=(f"a{leg.chain}z",)) for leg in legs)
    shown = Certification(9, "", named, joint, (), {}, None, (), n_chains=2).table()
    assert [row[5] for row in shown.texts] == ["as the prior", "as the prior", "2.01"]
    assert shown.texts[-1][0] == "all"


def test_dimensions_of_the_library_are_named_in_python_too(tmp_path):
    delta, rng = LinearDelta(), np.random.default_rng(2)
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (12, 3))
    write_poses(tmp_path / "poses.csv", Poses(p, None, delta.inverse(delta.nominal, p)))
    text = '[robot]\nfamily = "linear-delta"\n[poses]\nfile = "poses.csv"\n'
    (tmp_path / "study.toml").write_text(text + '[certify]\nposition = "0.1 mm"\nreadings = "0.1 mm"\nchains = [1]\n')
    assert str(CalibrationStudy.read(tmp_path / "study.toml").certify()).startswith("Not stated in [robot.geometry]")
    answer = certify(delta, Poses(p, None, delta.inverse(delta.nominal, p)), Tolerances(0.1 + 1e-17, 1e-4), chains=[1])
    assert not re.search(r"\d{11}", " ".join(answer.premises))


def test_poses_are_named_by_number_and_line(refuted, capsys):
    path, _ = refuted
    assert path.with_name("poses.csv").read_text().splitlines()[8].startswith("0.0")
    data = json.loads((path.parent / "out" / "certification.json").read_text(encoding="utf-8"))
    assert data["chains"][0]["without_poses"]["named"] == [7]
    assert any("pose 7 (line 9) must be" in words for words in data["verdicts"])
    assert run(["check", str(path.parent / "out" / "certificates" / "leg-2-wrong-poses.json")]) == 0
    out = capsys.readouterr().out
    assert "misses pose 7 (line 9)" in out
    assert "counted from 0 (pose 0: line 2)" in out


def _without(q, at_least, named, upper=1e-5):
    return WithoutPoses(q, at_least, named, named, Bracket(-np.inf, upper, 0.0))


def _refuted_legs(*without):
    zeros, epsilon = np.zeros(7), Bracket(1e-5, 2e-5, 0.0)
    names = tuple("abcdefg")
    legs = tuple(
        ChainFinding(k + 1, Finding.REFUTED, names, zeros, None, 1, 0.0, epsilon, None, zeros, (), each, ())
        for k, each in enumerate(without)
    )
    return Certification(24, "within ± 1 mm of the blueprint", legs, None, (), {}, None, ())


def test_legs_that_name_more_poses_than_may_be_wrong_are_said_to_disagree():
    (words,) = [v for v in _refuted_legs(_without(1, 1, (3,)), _without(1, 1, (5,))).verdicts if "different" in v]
    assert "Legs 1, 2 name different poses, 2 in all" in words
    assert "or the prior excludes the robot" in words
    for agreeing in ((_without(1, 1, (3,)), _without(1, 1, (3,))), (_without(2, 1, (3,)), _without(2, 1, (5,)))):
        assert not any("different" in v for v in _refuted_legs(*agreeing).verdicts)


def test_a_number_of_wrong_poses_that_is_not_certified_is_not_said_to_be_none():
    assert _without(1, 0, ()).words() == "how many poses must be wrong is not proven."
    assert "at least 2 poses are wrong: raise outliers above 1" in _without(1, 2, ()).words()
    assert "is not proven" in _without(2, 1, ()).words()


def _leg(low, high, reach=0.005, center=0.0):
    box, prior = Box([low], [high]), outer_box(np.array([center]), np.array([reach]))
    zeros, epsilon = np.array([center]), Bracket(-np.inf, -1e-5, 0.0)
    return ChainFinding(1, Finding.FITS, ("a1z",), zeros, box, 1, 0.0, epsilon, None, zeros, (), None, (), prior=prior)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (None, None, ("as the prior: the data do not narrow it", "−5", "5", "10")),
        (None, 2**-10, ("lower side as the prior", "−5", "0.98", "5.98")),
        (-(2**-10), None, ("upper side as the prior", "−0.98", "5", "5.98")),
        (-(2**-10), 2**-10, ("narrowed", "−0.98", "0.98", "1.96")),
    ],
)
def test_sides_that_are_those_of_the_prior_are_marked_and_printed_as_stated(low, high, words):
    prior = outer_box(np.zeros(1), np.array([0.005]))
    leg = _leg(prior.lower[0] if low is None else low, prior.upper[0] if high is None else high)
    found = Certification(9, "within ± 5 mm of the blueprint", (leg,), None, (), {}, None, ())
    (page,) = re.findall(r"<tr><th[^>]*>a1z</th>(.*?)</tr>", html_table(box_tables(found)[0]).replace("\n", ""))
    shown = re.findall(r"<td[^>]*>(.*?)</td>", page)[1:]
    assert tuple(shown) == words
    same = (low is None) + (high is None)
    assert found.to_dict()["chains"][0]["sides_as_prior"] == ({"a1z": [low is None, high is None]} if same else {})
    assert (f"{same} of 2 sides of boxes are as the prior" in str(found)) == bool(same)
    assert (leg.widest == "as the prior") == (same == 2)


def test_a_prior_that_no_short_decimal_states_is_rounded_outward():
    center = 0.123456789123456
    prior = outer_box(np.array([center]), np.array([0.005]))
    leg = _leg(prior.lower[0], prior.upper[0], center=center)
    found = Certification(9, "within ± 5 mm of the blueprint", (leg,), None, (), {}, None, ())
    lower, upper = re.findall(r"<td[^>]*>([\d.]+)</td>", html_table(box_tables(found)[0]))[1:3]
    assert Fraction(lower) <= 1000 * Fraction(prior.lower[0]) < 1000 * Fraction(prior.upper[0]) <= Fraction(upper)
    assert Fraction(upper) - Fraction(lower) < 10 + Fraction(1, 10**5)


def test_a_lower_end_of_all_legs_that_one_leg_proves_is_said_to_be_that_leg_s():
    legs = list(_refuted_legs(None, None).chains)
    legs[1] = replace(legs[1], epsilon=Bracket(4.277e-5, 4.3e-5, 0.0))
    alone = JointFinding(Finding.REFUTED, Bracket(3.418e-5, 5e-5, 0.0), None, ())
    joint = at_least_each(alone, legs)
    assert joint.epsilon.lower == 4.277e-5
    assert (joint.lower_of, joint.own_lower) == (2, 3.418e-5)
    (words,) = [v for v in replace(_refuted_legs(), joint=joint).verdicts if "lower end" in v]
    assert "leg-2-epsilon-lower.json" in words
    assert "joint-epsilon-lower.json, proves 0.03417 mm" in words or "proves 0.03418 mm" in words
    stronger = at_least_each(replace(alone, epsilon=Bracket(4.9e-5, 5e-5, 0.0)), legs)
    assert stronger.lower_of is None
    assert not any("lower end" in v for v in replace(_refuted_legs(), joint=stronger).verdicts)


def test_joint_proofs_and_wrong_poses_hold_about_the_raw_data(refuted, capsys):
    path, _ = refuted
    capsys.readouterr()
    assert run(["check", str(path.parent / "out")]) == 0
    out = capsys.readouterr().out
    for kind in ("joint-epsilon-lower", "joint-without-wrong", "leg-2-wrong-poses", "leg-5-epsilon-upper"):
        assert f"holds  {kind}.json" in out
    assert "Derived from the sources in exact arithmetic" in out
    assert "readings: leg 2 ± 0.0381 mm, leg 5 ± 0.0354 mm" in out


def test_what_gough_wrote_itself_it_may_replace_and_nothing_else(refuted, capsys):
    path, _ = refuted
    out = path.parent / "other"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    assert run(["certify", str(path), "--out", str(out)]) == 2
    assert "did not write" in capsys.readouterr().err
    assert [p.name for p in out.iterdir()] == ["thesis.tex"]


def test_half_widths_are_as_stated_and_the_model_may_add_to_them(tmp_path):
    text = STUDY + 'position = "0.1 mm"\norientation = "0.01 deg"\nreadings = "0.05 mm"\n'
    plain = platform_data(write(tmp_path, text))
    for half, stated in (("position", 1e-4), ("rotation", np.radians(0.01)), ("reading", 5e-5)):
        tolerance = getattr(plain, f"{half}_tolerance")
        np.testing.assert_allclose(tolerance, stated, rtol=1e-9)
        assert (tolerance > stated).all()  # rounded up, by what a double may be off the decimal
    error = '[certify.model_error]\nconstant = "0.01 mm"\nreading = 1e-3\norientation = "0.1 mm/rad"\nposition = 2e-4\n'
    wider = platform_data(write(tmp_path, text + error))
    more = wider.reading_tolerance - plain.reading_tolerance
    assert (more > 1e-5 + 1e-3 * 0.06).all()  # extremal readings are 70 mm from their middle
    assert (more < 1e-5 + 1e-3 * 0.08 + 1e-4 + 2e-4 * 0.2).all()


def test_three_sigma_are_the_default(tmp_path):
    data = platform_data(write(tmp_path, STUDY))
    np.testing.assert_allclose(data.position_tolerance[0], POSITION)
    np.testing.assert_allclose(data.reading_tolerance[0], READING[[1, 4]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("chains = [2, 5]", "chains = [7]"), "line 15.*there is no leg 7: the robot has 6"),
        (lambda t: t.replace("chains = [2, 5]", "chains = [2, 2]"), "line 15.*more than once"),
        (lambda t: t.replace("chains = [2, 5]", "chain = [2]"), "did you mean 'chains'"),
        (lambda t: t.replace('around = "3 mm"', 'around = "3 deg"'), "line 16.*measures rad"),
        (lambda t: t.replace('around = "3 mm"', "around = 0"), "line 16"),
        (lambda t: t.replace('around = "3 mm"', 'around = ["3 mm", "2 mm"]'), "one length, or one for the base"),
        (lambda t: t + 'position = ["1 mm", "1 mm"]\n', "one half-width for all axes"),
        (lambda t: t + 'readings = ["1 mm", "1 mm"]\n', "one for each of 6 chains"),
        (lambda t: t + "readings = -1e-3\n", "must not be negative"),
        (lambda t: t + "sigmas = 0\n", "sigmas"),
        (lambda t: t + "outliers = 9\n", "outliers"),
        (lambda t: t + '[certify.model_error]\nconstant = "-1 mm"\n', "constant"),
        (
            lambda t: re.sub(r"\[noise\].*?\[certify\]", "[certify]", t, flags=re.DOTALL),
            "state half-widths of position",
        ),
        (lambda t: t.replace("deltalab", "deltalap"), "did you mean 'deltalab'"),
    ],
)
def test_refusals_name_the_line(tmp_path, change, message):
    path = write(tmp_path, change(STUDY), n=16)
    with pytest.raises(InputError, match=f"(?s){message}"):
        CalibrationStudy.read(path).certify()


def test_other_robots_and_no_robot(tmp_path, capsys):
    path = write(tmp_path, '[robot]\nfamily = "linear-delta"\n[poses]\nfile = "poses.csv"\n', n=8)
    assert run(["certify", str(path)]) == 2
    assert "state half-widths of position" in " ".join(capsys.readouterr().err.split())
    assert run(["certify", str(tmp_path / "none.toml")]) == 2
    assert run(["check", str(tmp_path)]) == 2
    assert "holds no certificates" in " ".join(capsys.readouterr().err.split())
    assert run(["check", str(path)]) == 2
    assert not (tmp_path / "results-certified").exists()


def test_a_check_says_what_was_removed_or_shortened(done, tmp_path, capsys):
    made = done[0].parent / "results-certified" / "certificates"
    capsys.readouterr()
    assert run(["check", str(made)]) == 0
    out = capsys.readouterr().out
    assert "gough check CERTIFICATE.json prints all of it" in out
    fits, squares = (re.search(f"leg-2-{name}.json: (.*)", out)[1] for name in ("fits", "least-squares"))
    assert fits != squares
    for name in ("measurements.json", "leg-2-box.json"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    assert run(["check", str(tmp_path)]) == 0
    assert "an older gough wrote this folder, or it was removed" in capsys.readouterr().out


def test_a_verdict_without_a_statement_says_so():
    verdict = Verdict(holds=False, reason="x", kind="certificate", statement=(), rows=(), checked="nothing")
    assert str(verdict).startswith("certificate: what it states could not be established.\n")
