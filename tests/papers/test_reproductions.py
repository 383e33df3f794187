"""`gough reproduce`: the papers' tables beside ours."""

import json
from fractions import Fraction
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from gough.cli.app import run
from gough.methods import TightEllipsoid
from gough.papers import rebuilt
from gough.papers.catalogue import PAPERS
from gough.papers.closed_loop import can_be_controlled
from gough.papers.h4 import ellipsoid as h4_ellipsoid
from gough.papers.printed import NCPP, PRV03E, PRV03I, ellipsoid_volume, implied_bound, outside_their_boxes
from gough.papers.reproduction import as_markdown
from gough.region import Ellipsoid
from tests.papers import pages
from tests.papers.pages import numbers_in

NAMES = ("h4-interval", "h4-ellipsoid", "par4")


@pytest.fixture(scope="module")
def interval():
    return PAPERS["h4-interval"](seed=1)


@pytest.fixture(scope="module")
def ellipsoid():
    return PAPERS["h4-ellipsoid"](seed=1)


@pytest.fixture(scope="module")
def par4():
    return PAPERS["par4"](seed=1)


@pytest.fixture(params=["h4-interval", "h4-ellipsoid", "par4"])
def reproduced(request):
    fixture = {"h4-interval": "interval", "h4-ellipsoid": "ellipsoid", "par4": "par4"}[request.param]
    return request.param, request.getfixturevalue(fixture)


def cell(table, name, head):
    row = next(row for row in table.texts if row[0] == name)
    return row[table.heads.index(head)]


def test_every_paper_has_its_tables_and_its_remarks(reproduced):
    name, found = reproduced
    assert found.inconsistencies
    assert found.differences
    for table in found.tables:
        assert all(len(row) == len(table.heads) for row in table.texts)
    json.dumps(found.to_dict(), allow_nan=False)
    printed = {"h4-interval": PRV03I, "h4-ellipsoid": PRV03E, "par4": NCPP}[name]
    shown = {row[0] for row in found.tables[0].texts}
    assert set(printed) <= shown


def test_boxes_hold_the_truth_and_the_hull_lies_in_the_paper_s_box(interval):
    numbers, weighted = interval.numbers, interval.tables[1]
    for name in PRV03I:
        truth, outer, inner = numbers["truth"][name], numbers["gauss_seidel"][name], numbers["hull"][name]
        assert outer[0] <= inner[0] <= truth <= inner[1] <= outer[1]
        value, percent = numbers_in(cell(weighted, name, "ours, 16 parameters"))
        assert abs(value - truth) < 5 * percent / 100 * value + 1e-4  # cells are rounded to 1e-4


@pytest.mark.skipif(not can_be_controlled(), reason="needs MuJoCo and a C compiler")
def test_a_model_removes_the_overshoot_of_the_adept_cycle(par4):
    runs = par4.numbers["closed_loop"]
    assert runs["pd"]["overshoot_of_x"] > 5e-3
    for law in ("feedforward", "computed-torque"):
        assert runs[f"{law}, identified"]["largest_distance"] < 0.05 * runs["pd"]["largest_distance"]
    assert runs["predictive, identified"]["largest_distance"] < 0.25 * runs["pd"]["largest_distance"]
    assert all(run["peak_torque"] < 200.0 for run in runs.values())
    assert "figure-4-adept-cycle" in {drawing.name for drawing in par4.drawings}


@pytest.mark.skipif(not can_be_controlled(), reason="needs MuJoCo and a C compiler")
def test_the_h4_follows_better_with_every_better_model(interval, ellipsoid):
    """PD, then models of 14 parameters, which lack arms and rods, then of 16: each follows better than the last."""
    runs = {label: run["rms_distance"] for label, run in interval.numbers["closed_loop"].items()}
    order = ["pd", *(f"feedforward, {name}" for name in ("box center, 14", "hull center, 14", "weighted, 14"))]
    assert sorted(order, key=runs.get, reverse=True) == order
    assert runs["feedforward, weighted, 16"] < 0.1 * runs["feedforward, weighted, 14"]
    assert runs["feedforward, weighted, 16"] < 1.5 * runs["feedforward, true"]
    drives = interval.numbers["drives"]
    assert drives["claim"] == "PROOF"
    assert max(run["peak_effort"] for run in interval.numbers["closed_loop"].values()) < drives["peak"] < 15.0
    runs = {label: run["rms_distance"] for label, run in ellipsoid.numbers["closed_loop"].items()}
    for law in ("computed-torque", "predictive"):
        for center in ("recursive, 14", "tight, 14"):
            assert 5 * runs[f"{law}, tight, 16"] < runs[f"{law}, {center}"] < 0.2 * runs["pd"]


def test_printed_boxes_contain_the_computed_ones(interval):
    table = interval.tables[0]
    for head, key in (("ours, Gauss–Seidel", "gauss_seidel"), ("ours, exact hull", "hull")):
        for name, (lower, upper) in interval.numbers[key].items():
            shown = [Fraction(part) for part in cell(table, name, head).strip("[]").split(", ")]
            assert shown[0] <= Fraction(lower)
            assert Fraction(upper) <= shown[1]


def test_what_the_papers_numbers_contradict_is_computed_from_them(interval, ellipsoid, par4):
    assert outside_their_boxes(PRV03I) == ("F_v2",)
    assert outside_their_boxes(PRV03E) == ()
    name, bound = implied_bound()
    assert (name, round(bound, 3)) == ("F_c3", 0.435)
    assert min(interval.numbers["row_sums_of_dry_friction"].values()) >= 1  # the theorem behind it, on our rows
    assert interval.numbers["inverse_of_29_against_pseudoinverse"] < 1e-9
    assert interval.numbers["second_gauss_seidel_step"] == 0
    assert ellipsoid_volume(1.0, 3) == pytest.approx(4.18879020)  # 4π/3
    assert any("F_v2" in line for line in interval.inconsistencies)
    assert any("1.63e-21" in line for line in ellipsoid.inconsistencies)
    assert any("f_v = 20.4" in line for line in par4.inconsistencies)


def test_equation_30_as_printed_is_told_apart_from_the_corrected_one(ellipsoid):
    trials = ellipsoid.numbers["equation_30"]
    for name, ends in trials.items():
        if name.endswith("corrected"):
            assert set(ends) == {"holds the truth"}
    printed = trials["random problems, δ as printed"]
    assert sum(printed.values()) == 300
    assert printed["not positive definite"] > printed["loses the truth"] > 0
    (sentence,) = (line for line in ellipsoid.inconsistencies if "(30)" in line)
    assert f"{printed['not positive definite']} of 300 random problems" in sentence
    assert f"loses the true parameters in {printed['loses the truth']};" in sentence


def test_the_recursion_holds_the_truth_of_a_consistent_problem_only_once_it_is_corrected(rng):
    W, truth = rng.standard_normal((30, 3)), np.array([0.3, -0.2, 0.5])
    y = W @ truth + rng.uniform(-0.1, 0.1, 30)
    ball = Ellipsoid(np.zeros(3), 3 * np.eye(3))
    for corrected in (True, False):
        end = h4_ellipsoid.printed_recursion(W, y, 0.1, ball, truth, corrected=corrected)
        assert (end == "holds the truth") is corrected


def test_the_bound_for_the_printed_determinant_gives_it(ellipsoid):
    """The tight ellipsoid with that bound, computed anew, has the printed determinant to a factor of 1.6."""
    assert 0.4 < ellipsoid.numbers["bound_for_the_printed_determinant"]["bound"] < 0.55
    rows = rebuilt.Rows.of(rebuilt.rebuild("h4", seed=1, on_step=lambda _: None), "paper")
    region = TightEllipsoid().estimate(rows.problem(ellipsoid.numbers["bound_for_the_printed_determinant"]["bound"]))
    assert np.linalg.slogdet(region.region.shape)[1] == pytest.approx(np.log(1.63e-21), abs=0.5)


def test_the_verdict_on_par4_does_not_contradict_itself(par4):
    verdict = par4.differences[0]
    assert "with differences between the chains there is no improvement" in verdict
    assert "lacks the inertia of the rods:" in verdict
    left = par4.numbers["rms_left_by_the_true_parameters"]
    assert par4.numbers["adequacy"]["fits"][-1]["rms"] == pytest.approx(left, rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_sentences_that_name_a_cause_have_numbers(shown_by, name):
    pages.causes_have_numbers(shown_by[name])


def test_figures_are_drawn_and_told(reproduced):
    name, found = reproduced
    wanted = {
        "h4-interval": ["table-1-boxes", "widths", *(["model-based-control"] if can_be_controlled() else [])],
        "h4-ellipsoid": [
            "sizes",
            "projections",
            "figure-4-cross-validation",
            *(["model-based-control"] if can_be_controlled() else []),
        ],
        "par4": [
            *(["figure-4-adept-cycle"] if can_be_controlled() else []),
            "figure-6-adept-cycle",
            "rod-mass",
            "figure-7-cross-validation",
        ],
    }
    assert [drawing.name for drawing in found.drawings] == wanted[name]
    for drawing in found.drawings:
        svg = drawing.svg()
        assert fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
        assert b"mathdefault" not in svg
    assert set(found.to_dict()["figures"]) == set(wanted[name])


@pytest.fixture
def shown_by(monkeypatch, interval, ellipsoid, par4):
    """The command with reproductions that are computed already."""
    known = {"h4-interval": interval, "h4-ellipsoid": ellipsoid, "par4": par4}
    pages.show(monkeypatch, known)
    return known


def test_the_command(capsys, shown_by):
    assert run(["reproduce", "par4"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "Table 1. Estimated dynamic parameters" in shown.out
    assert "What the paper's own numbers contradict" in shown.out
    assert run(["reproduce", "par4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["paper"] == "NCPP"
    assert run(["reproduce", "par5"]) == 2
    assert "did you mean 'par4'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_written_to_a_new_folder_and_the_command_says_so(capsys, shown_by, tmp_path, name):
    pages.is_written(name, shown_by[name], tmp_path / "new", capsys)


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_has_the_numbers_that_are_computed(shown_by, name):
    pytest.importorskip("pinocchio")
    if not can_be_controlled():
        pytest.skip("the stored page has the robot in closed loop: needs MuJoCo and a C compiler")
    pages.is_documented(name, shown_by[name])


@pytest.mark.parametrize("path", sorted(pages.PAGES.glob("*.json")), ids=lambda path: path.stem)
def test_pages_of_the_documentation_are_made_of_their_numbers(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == as_markdown(stored)
    assert f"(reproductions/{path.stem}.md)" in pages.PAGES.with_suffix(".md").read_text(encoding="utf-8")
