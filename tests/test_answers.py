"""The answers of the verbs share their manners: asked by name, printed as a table, shown in notebooks, kept as JSON."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from html import escape
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from gough import (
    AssumptionError,
    Claim,
    InputError,
    Interval,
    Status,
    calibrate,
    certify,
    check,
    choose_poses,
    identify,
    write_report,
)
from gough.answers import Answer
from gough.checker import Verdict, certificate_of
from gough.checker.certificate import rounded_intervals
from gough.checker.folders import check_folder
from gough.closure import Tolerances
from gough.core.text import signs
from gough.data import Poses
from gough.designs.excitation import Attempt, Design, DesignProblem, MotionLimits
from gough.designs.poses import PoseLimits, Selection
from gough.dynamics import Identified, estimates_from_json
from gough.dynamics.example import random_motion
from gough.estimates import Estimate
from gough.geometry import Calibrated
from gough.robots import Delta, LinearDelta
from gough.simulate import FourierSeries

LIMITS = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
FIXED = ("arm_a", "arm_b", "arm_c")


@pytest.fixture(scope="module")
def identified():
    return identify(*random_motion(1), methods=["weighted", "hull"], bound=0.1, compare=False)


@pytest.fixture(scope="module")
def printer():
    """A printer whose parameters are known, and its calibration from simulated poses, arms held."""
    printer, rng = LinearDelta(), np.random.default_rng(1)
    truth = printer.nominal + [1e-3 if name not in FIXED else 0.0 for name in printer.names]
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
    poses = Poses(p + rng.normal(0, 1e-5, p.shape), None, printer.inverse(truth, p)).with_noise(1e-5, None, 1e-7)
    return truth, calibrate(printer, poses, fixed=FIXED)


@pytest.fixture(scope="module")
def chosen():
    return choose_poses(LinearDelta(), LIMITS, count=8, position=5e-5, draws=60)


@pytest.fixture(scope="module")
def designed():
    problem = DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), sigma=0.2, n_harmonics=2)
    series = FourierSeries(problem.home, [[0.2, 0.1]] * 3, [[0.0, 0.1]] * 3, frequency=0.5)
    value = problem.value(problem.space.vector(series))
    failed = Attempt(2, None, np.inf, np.inf, 0.1, 3)
    return Design(problem, (Attempt(1, series, value, -20.0, 0.5, 10), failed), is_stopped=True)


@pytest.fixture(scope="module")
def certified():
    """A printer of which chain 1 is certified, and its parameters."""
    printer, rng = LinearDelta(), np.random.default_rng(1)
    truth = printer.nominal + rng.uniform(-1e-3, 1e-3, len(printer.names))
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (20, 3))
    poses = Poses(p, None, printer.inverse(truth, p))
    return truth, certify(printer, poses, Tolerances(1e-4, 3e-5), around=0.05, chains=[1])


def cells(html):
    parsed = ET.fromstring(f"<div>{html}</div>")
    return [["".join(cell.itertext()) for cell in row] for row in parsed.iter("tr")]


def test_notebooks_show_the_tables(identified, printer, certified, chosen, designed):
    for answer in (identified, printer[1], certified[1], chosen, designed):
        table = answer.table()
        assert str(table) in str(answer)
        heads, *rows = cells(answer._repr_html_())
        assert [head.split()[0] for head in heads] == [c.head.split()[0] for c in table.columns if c.kind != "unit"]
        for row, texts in zip(rows, table.texts, strict=True):
            assert all(signs(text) in signs(" ".join(row)) for text in texts)


def test_intervals_of_one_unknown_by_every_method(identified):
    name = identified.problem.unknowns.names[0]
    assert identified.intervals(name) == {
        "weighted": identified["weighted"].interval(name),
        "hull": identified["hull"].interval(name),
    }
    failed = replace(identified["hull"], status=Status.INCONSISTENT)
    partly = replace(identified, estimates={**identified.estimates, "hull": failed})
    assert list(partly.intervals(name)) == ["weighted"]
    with pytest.raises(InputError, match="no estimate or parameter is called 'masss'"):
        identified.intervals("masss")
    with pytest.raises(InputError, match="'mass' is fixed at 2 by the prior"):
        replace(identified, fixed={"mass": 2.0}).intervals("mass")


def test_estimates_of_all_methods_return_from_json(identified):
    text = identified.to_json()
    assert estimates_from_json(text) == dict(identified.estimates)
    for wrong, why in (
        (text[:-9], "not a complete JSON"),
        (identified["hull"].to_json(), "for a single one use Estimate.from_json"),
        ("[]", "expected estimates by the name"),
        ('{"hull": 3}', "expected an Estimate"),
    ):
        with pytest.raises(InputError, match=why):
            estimates_from_json(wrong)


def test_a_calibrated_robot_is_asked_by_name(printer):
    truth, found = printer
    for name, true in zip(found.model.names, truth, strict=True):
        if name in FIXED:
            assert found[name] == true
            with pytest.raises(InputError, match=f"'{name}' was held at .* and has no interval"):
                found.interval(name)
        else:
            assert found.interval(name) == found.estimate.interval(name)
            wide = found.interval(name, 1 - 1e-6)  # beyond chance: five standard deviations
            assert isinstance(wide, Interval)
            assert true in wide
            assert found[name] in wide
    with pytest.raises(InputError, match="no parameter of the linear delta is called 'radios'; did you mean 'radius'"):
        found["radios"]
    with pytest.raises(InputError, match="did you mean 'radius'"):
        found.interval("radios")
    assert Estimate.from_dict(json.loads(found.to_json())["estimate"]) == found.estimate


def test_a_calibration_that_knows_no_noise_has_no_interval(printer):
    _, found = printer
    few = Poses(found.poses.position[:4], None, found.poses.readings[:4])
    free = found.model.names[0]
    barely = calibrate(found.model, few, fixed=found.model.names[2:])
    assert free in barely.estimate.unknowns.names
    assert barely.interval(free).lower < barely[free]
    exact = replace(barely, estimate=replace(barely.estimate, claim=type(barely.estimate.claim).VALUE))
    with pytest.raises(AssumptionError, match="no interval"):
        exact.interval(free)


def test_a_certified_robot_is_asked_by_name(certified):
    truth, answer = certified
    (chain,) = answer.chains
    model = LinearDelta()
    assert not answer.refuted
    for k in model.columns[0]:
        name = model.names[k]
        assert truth[k] in answer.interval(name)
        assert answer.interval(name).lower <= answer[name] <= answer.interval(name).upper
    assert answer.interval("arm_1") == Interval(float(chain.box.lower[3]), float(chain.box.upper[3]))
    with pytest.raises(InputError, match="no unknown with an interval is called 'arm_b'; did you mean 'arm_a'"):
        answer["arm_b"]
    radius = answer.interval("radius")
    for lower, common in ((radius.upper, Interval(radius.upper, radius.upper)), (radius.upper + 1, None)):
        other = tuple(replace(each, lower=lower, upper=2.0) for each in chain.parameters if each.name == "radius")
        shared = replace(answer, chains=(chain, replace(chain, parameters=other)))
        if common is not None:
            assert shared.interval("radius") == common
            continue
        with pytest.raises(AssumptionError, match="no value fits all chains that share it"):
            shared.interval("radius")
    refuted = replace(answer, chains=(replace(chain, box=None, parameters=()),))
    with pytest.raises(AssumptionError, match="'arm_1' has no interval: no value of chain 1 in the prior fits"):
        refuted.interval("arm_1")


def test_a_certification_is_written_with_certificates_that_hold(certified, tmp_path):
    page = write_report(certified[1], tmp_path / "report")
    assert "<h1>Certification of the linear delta</h1>" in page.read_text(encoding="utf-8")
    verdict = check_folder(tmp_path / "report")
    assert verdict.holds
    assert not verdict.from_sources
    assert len(verdict.verdicts) == len(certified[1].files) == 2
    assert any("the run stored no study" in note for note in verdict.notes)


def test_what_certify_returned_is_checked_again_in_memory_and_in_files(certified, tmp_path):
    answer = certified[1]
    folder = write_report(answer, tmp_path / "report").parent
    in_memory, in_folder = check(answer), check(folder)
    assert in_memory.verdicts == in_folder.verdicts
    assert in_memory.names == ("tower_x_1", "tower_y_1", "carriage_1", "arm_1")
    for verdict in (in_memory, in_folder, check(str(folder / "certificates"))):
        assert verdict
        for name in verdict.names:  # certificates have rounded numbers, and prove a little less than was computed
            proven, computed = verdict.interval(name), answer.interval(name)
            assert proven.lower <= computed.lower < computed.upper <= proven.upper
            assert computed.lower - proven.lower < 1e-9 > proven.upper - computed.upper
        assert verdict.interval("arm_1").lower <= verdict["arm_1"] <= verdict.interval("arm_1").upper
    assert answer.files == answer.files
    for file in answer.files:
        one = check(file, answer)
        of_file = check(folder / "certificates" / file.name)
        assert one == of_file.verdict == in_memory.verdicts[file.name]
        assert one.names == of_file.names
        assert str(one) in str(of_file)
    json.loads(in_memory.to_json())
    assert "<table" in in_memory._repr_html_()
    assert in_memory.report(tmp_path / "verdicts").is_file()


def test_a_changed_certificate_proves_nothing(certified):
    answer = certified[1]
    (chain,) = answer.chains
    first, *others = chain.files
    number = re.search(r"0\.0[1-9][0-9]+", first.text)[0]
    changed = replace(first, text=first.text.replace(number, f"0.09{number[4:]}", 1))
    false = replace(answer, chains=(replace(chain, files=(changed, *others)),))
    verdict = check(false)
    assert not verdict
    assert verdict.names == ()
    assert not check(changed, false)
    with pytest.raises(InputError, match="because the folder does not hold"):
        verdict.interval("arm_1")
    with pytest.raises(InputError, match="has no such certificate"):
        check(changed, answer)


def test_a_selection_returns_from_json(chosen):
    assert Selection.from_json(chosen.to_json(), chosen.problem) == chosen
    others = choose_poses(LinearDelta(), LIMITS, count=8, position=5e-5, draws=60, seed=2)
    data = json.loads(chosen.to_json())
    for text, problem, why in (
        (chosen.to_json(), others.problem, "from other candidates"),
        (chosen.to_json().replace("linear delta", "hexapod"), chosen.problem, "of the robot 'hexapod'"),
        (json.dumps({**data, "rows": [*data["rows"][:-1], 10**6]}), chosen.problem, "from other candidates"),
        (json.dumps({**data, "rows": [-1, *data["rows"][1:]]}), chosen.problem, "from other candidates"),
        (json.dumps({**data, "rows": None}), chosen.problem, "not a selection"),
        (chosen.to_json()[:-5], chosen.problem, "not a selection"),
        ("{}", chosen.problem, "not a selection"),
        ("[]", chosen.problem, "not a selection"),
    ):
        with pytest.raises(InputError, match=why):
            Selection.from_json(text, problem)


def test_poses_are_chosen_for_a_target(chosen):
    fewest = choose_poses(LinearDelta(), LIMITS, target=6e-5, position=5e-5, draws=60)
    assert fewest.accuracy.position <= 6e-5
    assert fewest.problem.criterion.name == "pose"
    twice = choose_poses(LinearDelta(), LIMITS, position=5e-5, draws=60)
    assert len(twice.rows) == 2 * twice.problem.needed
    with pytest.raises(InputError, match=r"5 poses predict positions to .* m, not to 1e-06 m"):
        choose_poses(LinearDelta(), LIMITS, target=1e-6, position=5e-5, draws=60, most=5)
    with pytest.raises(InputError, match="either count, or target"):
        choose_poses(LinearDelta(), LIMITS, count=8, target=1e-5, position=5e-5)


def test_a_design_returns_from_json(designed):
    text, problem = designed.to_json(), designed.problem
    again = Design.from_json(text, problem)
    assert again == designed
    assert again.to_json() == text
    narrow = DesignProblem(Delta(), MotionLimits(speeds=0.5, efforts=10.0), sigma=0.2, n_harmonics=2)
    louder = DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), sigma=0.4, n_harmonics=2)
    longer = DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), sigma=0.2, n_harmonics=3)
    for wrong, other, why in (
        (text, narrow, "other limits: it exceeds"),
        (text, louder, "another problem: its criterion"),
        (text, longer, "another problem: its motion has"),
        (json.dumps({**json.loads(text), "robot": "H4"}), problem, "robot 'H4', not of"),
        (text[:-3], problem, "not a design"),
        ('{"robot": "Delta"}', problem, "not a design"),
    ):
        with pytest.raises(InputError, match=why):
            Design.from_json(wrong, other)


@pytest.mark.parametrize(
    ("kind", "title", "data"),
    [
        ("identified", "Identification of the five-bar", "estimate.json"),
        ("chosen", "Poses for the calibration of the linear delta", "selection.json"),
    ],
)
def test_a_report_is_written_in_one_call(kind, title, data, request, tmp_path):
    answer = request.getfixturevalue(kind)
    page = answer.report(tmp_path / "report")  # it calls write_report
    assert page == tmp_path / "report" / "report.html"
    assert f"<h1>{title}</h1>" in page.read_text(encoding="utf-8")
    written = (page.parent / data).read_text(encoding="utf-8")
    assert json.loads(written).items() >= json.loads(answer.to_json()).items()
    if isinstance(answer, Selection):
        assert Selection.from_json(written, answer.problem) == answer


def test_a_report_overwrites_nothing_and_refuses_other_answers(chosen, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="gough did not write"):
        write_report(chosen, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="there is no report of PoseLimits; there are reports of Identified, "):
        write_report(LIMITS, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.fixture(scope="module")
def estimated(printer):
    return printer[1].estimate


@pytest.fixture(scope="module")
def checked(identified):
    problem = identified.bounded
    return check(certificate_of(problem, identified["hull"]), problem)


RESTORE = {
    "estimated": lambda answer, text: Estimate.from_json(text),
    "identified": lambda answer, text: Identified.from_json(text),
    "calibrated": lambda answer, text: Calibrated.from_json(text, answer.model),
    "chosen": lambda answer, text: Selection.from_json(text, answer.problem),
    "designed": lambda answer, text: Design.from_json(text, answer.problem),
}


def answer_of(kind, request):
    if kind in {"calibrated", "certified"}:
        return request.getfixturevalue("printer" if kind == "calibrated" else kind)[1]
    return request.getfixturevalue(kind)


@pytest.fixture(params=[*RESTORE, "certified", "checked"])
def every_answer(request):
    return answer_of(request.param, request)


def held(answer, name):
    """Whether the calibration held this parameter at its value."""
    return isinstance(answer, Calibrated) and name in FIXED


def test_every_answer_is_asked_by_name(every_answer):
    answer = every_answer
    assert isinstance(answer, Answer)
    assert len(answer.names) > 0
    for name in answer.names:
        value = answer[name]
        assert type(value) is float
        if not held(answer, name):
            interval = answer.interval(name)
            assert type(interval) is Interval
            assert value in interval
    for ask in (answer.__getitem__, answer.interval):
        with pytest.raises(InputError, match=f"did you mean '{re.escape(answer.names[0])}'"):
            ask(f"{answer.names[0]}x")


def test_every_answer_prints_its_table_and_shows_it_in_notebooks(every_answer):
    answer = every_answer
    table = answer.table()
    heads, *rows = cells(answer._repr_html_())
    assert [head.split()[0] for head in heads] == [c.head.split()[0] for c in table.columns if c.kind != "unit"]
    for row, texts in zip(rows, table.texts, strict=True):
        assert all(signs(text) in signs(" ".join(row)) for text in texts)
    if not isinstance(answer, Verdict):  # its statement is no table on a terminal
        assert str(table) in str(answer)
    for line in answer.headlines():
        assert line in str(answer)
        assert escape(line) in answer._repr_html_()
    for remark in answer.remarks():
        assert remark in str(answer)
        assert escape(remark) in answer._repr_html_()


@pytest.mark.parametrize("kind", RESTORE)
def test_every_answer_returns_from_json_with_its_numbers(kind, request):
    answer = answer_of(kind, request)
    text = answer.to_json()
    assert json.loads(text) == json.loads(json.dumps(answer.to_dict()))
    again = RESTORE[kind](answer, text)
    assert isinstance(again, Answer)
    assert again.names == answer.names
    for name in answer.names:
        assert again[name] == answer[name]
        if not held(answer, name):
            assert again.interval(name) == answer.interval(name)
    assert again.table() == answer.table()
    assert RESTORE[kind](again, again.to_json()).table() == answer.table()
    with pytest.raises(InputError):
        RESTORE[kind](answer, text[:-9])
    for nothing in ("{}", "[]", "null", "3"):
        with pytest.raises(InputError):
            RESTORE[kind](answer, nothing)


def test_the_report_of_an_estimate_has_its_numbers(estimated, tmp_path):
    page = estimated.report(tmp_path, title="A <title>").read_text(encoding="utf-8")
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert all(signs(cell) in page for row in estimated.table().texts for cell in row)
    assert Estimate.from_json((tmp_path / "answer.json").read_text(encoding="utf-8")) == estimated


def test_values_and_intervals_of_an_identification_are_by_the_first_method_that_succeeded(identified):
    name = identified.names[0]
    assert identified[name] == identified["weighted"][name]
    assert identified.interval(name) == identified["weighted"].interval(name)
    assert identified.interval(name, 0.5) == identified["weighted"].interval(name, 0.5)
    failed = replace(identified["weighted"], status=Status.MAX_STEPS)
    partly = replace(identified, estimates={"weighted": failed, "hull": identified["hull"]})
    assert partly[name] == identified["hull"][name]
    assert partly.interval(name) == identified["hull"].interval(name)
    valued = replace(identified["weighted"], claim=Claim.VALUE)
    partly = replace(identified, estimates={"weighted": valued, "hull": identified["hull"]})
    assert partly.interval(name) == identified["hull"].interval(name)
    held = replace(identified, fixed={"arm": 2.0})
    assert held["arm"] == 2.0
    with pytest.raises(InputError, match="'arm' is fixed at 2 by the prior"):
        held.interval("arm")
    with pytest.raises(InputError, match=r"no estimate or parameter is called 'hul'; did you mean 'hull'"):
        identified["hul"]


def test_predicted_intervals_are_those_of_the_predicted_covariance(chosen, designed):
    from scipy.stats import norm

    for answer, values in ((chosen, None), (designed, designed.problem.base_values)):
        for i, name in enumerate(answer.names):
            sigma = answer.sigma[i]
            for level in (None, 0.5):
                lower, upper = answer.interval(name, level)
                half = norm.ppf(0.5 + (level or 0.95) / 2) * sigma
                assert (lower, upper) == pytest.approx((answer[name] - half, answer[name] + half), rel=1e-12)
            if values is not None:
                assert answer[name] == values[i]
        for level in (0.0, 1.0, 95, np.nan):
            with pytest.raises(InputError, match="between 0 and 1"):
                answer.interval(answer.names[0], level)
    printer = LinearDelta()
    alone = {name: value for name, value in zip(printer.names, printer.nominal, strict=True) if name in chosen.names}
    assert alone
    assert {name: chosen[name] for name in alone} == alone


def test_a_verdict_has_the_intervals_that_its_certificate_proves(identified, checked):
    hull = identified["hull"]
    assert checked.holds
    assert checked.names == hull.names
    for name in hull.names:
        # what exact arithmetic proves is rounded outward once, and the method's box was rounded outward from it
        (low, high), (least, most) = checked.interval(name), hull.interval(name)
        assert least <= low <= high <= most
        assert (low, high) == pytest.approx((least, most), rel=1e-12)
    with pytest.raises(InputError, match="no confidence level"):
        checked.interval(hull.names[0], 0.95)
    assert json.loads(checked.to_json())["intervals"][hull.names[0]] == list(checked.interval(hull.names[0]))


def test_a_verdict_that_does_not_hold_proves_no_interval(identified, checked):
    other = replace(identified.bounded, y=identified.bounded.y + 1.0)
    verdict = check(certificate_of(identified.bounded, identified["hull"]), other)
    for failed in (verdict, replace(checked, holds=False)):
        assert failed.names == ()
        assert json.loads(failed.to_json())["intervals"] == {}
        with pytest.raises(InputError, match="is proven, because the certificate does not hold"):
            failed.interval(identified["hull"].names[0])


def test_sides_of_verdicts_are_rounded_outward():
    third = Fraction(1, 3)
    low, high = rounded_intervals(["a"], [third], [third])["a"]
    assert Fraction(low) < third < Fraction(high)
    assert np.nextafter(low, 1) == high
    huge = Fraction(10) ** 400
    assert rounded_intervals(["a", "b"], [-huge, None], [huge, Fraction(1, 2)]) == {
        "a": Interval(-np.inf, np.inf),
        "b": Interval(-np.inf, 0.5),
    }
    assert rounded_intervals(["a"], [huge], [2 * huge])["a"] == (np.finfo(float).max, np.inf)


def test_a_saved_calibration_is_of_its_robot(printer):
    _, answer = printer
    text, data = answer.to_json(), json.loads(answer.to_json())
    other = text.replace('"model": "linear delta"', '"model": "hexapod"')
    without = json.dumps({**data, "parameters": {k: v for k, v in data["parameters"].items() if k != "radius"}})
    for wrong, why in ((other, "of the robot 'hexapod', not of"), (without, "lacks the value of a parameter")):
        with pytest.raises(InputError, match=why):
            Calibrated.from_json(wrong, answer.model)
    for name in FIXED:
        with pytest.raises(InputError, match="was held at"):
            Calibrated.from_json(text, answer.model).interval(name)
