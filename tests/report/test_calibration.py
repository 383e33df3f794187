"""The page of a calibration: verdicts before numbers, every leg, proofs; drawn on any screen."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from gough.closure import Bracket, ChainFinding, Finding
from gough.core.rotations import exp
from gough.data import KlipperDelta, Poses, averaged
from gough.geometry import calibrate, calibrate_printer
from gough.region import Box
from gough.report.calibration.figures import expected_closure, map_figure, slices
from gough.report.calibration.page import calibration_documents, headline, printer_documents
from gough.report.calibration.tables import joint_changes
from gough.robots import GoughPlatform, LinearDelta
from gough.simulate import CalibrationCampaign, Faults

from .browser import CHROMIUM, Browser

HOSTILE = "All well. <img src=x onerror=alert(1)>"
NAMES, ZEROS = tuple("abcdefg"), np.zeros(7)
LEGS = (
    ChainFinding(
        1, Finding.FITS, NAMES, ZEROS, Box(ZEROS, [1e-3, 2e-3, 4.5e-3, 9e-4, 8e-4, 1.9e-3, 5e-3]), 1, 0.0,
        Bracket(-np.inf, -1e-5, 0.0), None, np.zeros(64), (), None, (), fitted=64,
    ),
    ChainFinding(
        2, Finding.REFUTED, NAMES, ZEROS, None, 1, 0.0, Bracket(1.157e-4, 1.167e-4, 0.0), None, np.zeros(64), (21,),
        None, (), fitted=3,
    ),
)  # fmt: skip


def measured(faults=Faults(), seed=1):  # noqa: B008 - a value
    campaign = CalibrationCampaign.deltalab(np.random.default_rng(seed), faults=faults, runs=3, images=2)
    data = campaign.run(np.random.default_rng(seed + 1))
    poses, others = averaged(data.poses)[0], averaged(data.validation)[0]
    return data, calibrate(campaign.robot, poses, frames="instrument", validation=others)


@pytest.fixture(scope="module")
def campaign():
    return measured()


@pytest.fixture(scope="module")
def files(campaign):
    data, found = campaign
    return calibration_documents("A <platform>", ("Lead.",), found, truth=data.truth, against=(HOSTILE,), legs=LEGS)


def test_all_files_are_there_and_say_the_same(files, campaign):
    _, found = campaign
    figures = {name for name in files if name.startswith("figures/")}
    assert figures >= {f"figures/{n}.{k}" for n in ("closure", "validation", "joints", "robot") for k in ("svg", "png")}
    assert json.loads(files["calibration.json"])["closure_rms"]["after"] == found.rms[1]
    page = files["report.html"].decode()
    assert "A &lt;platform&gt;" in page
    assert "<img" not in page
    for words in ("Not refuted", "Against the truth", "What is proven", "Frames of the instrument", "refuted"):
        assert words in page


def test_every_parameter_of_every_leg_is_in_the_table(files, campaign):
    page = files["report.html"].decode()
    table = re.search(r'aria-label="Joints and lengths, leg by leg".*?</table>', page, re.DOTALL)[0]
    assert table.count("<tr>") == 7
    assert table.count("±") == 42
    assert len(re.findall(r" σ</small>", table)) == 42
    data, found = campaign
    joints, moved, half = joint_changes(found)
    assert joints.shape == moved.shape == half.shape == (2, 6, 3)
    assert abs(moved.mean(axis=1)).max() < 1e-12  # the gauge: joints as near to the blueprint's as they can be
    true = replace(found, parameters=data.truth)
    assert abs(joint_changes(true)[1] - moved).max() < 2e-4


def test_the_noise_that_is_expected_is_the_one_that_is_seen(campaign):
    """Over legs, since 42 of 384 equations are used up; within what 342 degrees of freedom tell."""
    _, found = campaign
    left = found.residuals
    seen = np.sqrt((left**2).sum() / (left.size - 42) / (expected_closure(found) ** 2).mean())
    assert 0.85 < seen < 1.15
    assert expected_closure(replace(found, poses=replace(found.poses, covariance=None, reading_sigma=None))) is None


def test_the_headline_tells_refuted_from_not_refuted_and_not_tested(campaign):
    _, found = campaign
    assert (headline(found).text, headline(found).kind) == (
        "Not refuted: the stated noise explains the residuals.",
        "good",
    )
    _, wrong = measured(Faults(backlash=5e-4))
    assert headline(wrong).text.startswith("Refuted")
    assert headline(wrong).kind == "bad"
    silent = calibrate(found.model, replace(found.poses, covariance=None, reading_sigma=None), frames="instrument")
    assert headline(silent).text.startswith("The noise was not stated")
    suspect = headline(replace(found, doubts=("Millimetres.",)))
    assert suspect.kind == "bad"
    assert all(each.next for each in (headline(found), headline(wrong), headline(silent), suspect))


def test_other_robots_have_a_page_too():
    printer, rng = LinearDelta(), np.random.default_rng(1)
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
    poses = Poses(p, None, printer.inverse(printer.nominal + 1e-3, p) + rng.normal(0, 1e-5, p.shape))
    files = calibration_documents("A printer", (), calibrate(printer, poses))
    assert "endstop_a" in files["report.html"].decode()
    assert "figures/joints.svg" not in files


def test_a_printer_s_bed_is_drawn():
    delta, none = LinearDelta(radius=0.161), np.zeros(0)
    p = np.column_stack([0.1 * np.random.default_rng(1).uniform(-1, 1, (12, 2)), np.zeros(12)])
    readings = delta.inverse(delta.nominal, p)
    probes = KlipperDelta(0.16, delta.angle, delta.arm, delta.endstop, none, readings, none, none.reshape(0, 2, 3))
    probes = replace(probes, heights=1e-5 * np.random.default_rng(2).normal(size=12))
    files = printer_documents("A printer", (), calibrate_printer(probes))
    assert files["figures/bed.svg"].count(b"tower") >= 3
    assert b"delta_radius" in files["klipper.cfg"]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome is installed to open the report with")
def test_the_page_in_a_browser(files, tmp_path):
    path = tmp_path / "report.html"
    path.write_bytes(files["report.html"])
    browser = Browser(tmp_path / "profile")
    try:
        for width, dark in ((390, True), (1280, False)):
            with browser.open(path, width=width, dark=dark, touch=width < 500) as page:
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate("document.documentElement.dataset.live") >= "3"
                for name in ("closure", "validation", "robot"):
                    svg = page.evaluate(f"document.querySelector('#{name} .plot.live svg').outerHTML")
                    assert not re.search("NaN|undefined|Infinity", svg)
                assert page.evaluate("document.querySelector('#robot output').textContent").startswith("pose 0 ·")
                assert page.complaints == []
                assert page.requests == [path.as_uri()]
        # pointing at a residual shows the platform in that pose
        with browser.open(path) as page:
            page.hover(*page.place("#closure svg", 0.5, 0.1))
            page.frame()
            told = page.evaluate("document.querySelector('#robot output').textContent")
            assert 25 < int(re.match(r"pose (\d+)", told)[1]) < 40
    finally:
        browser.close()


def test_a_platform_with_four_legs_has_a_report(rng):
    """Four legs do not determine a pose: no uncertainty of predicted poses, and no failure."""
    whole = GoughPlatform.deltalab()
    legs = [0, 2, 3, 5]
    robot = GoughPlatform(whole.base[legs], whole.platform[legs], whole.length[legs])
    p, R = rng.normal([0, 0, 0.35], 0.03, (20, 3)), exp(rng.normal(0, 0.15, (20, 3)))
    readings = robot.inverse(robot.nominal + rng.normal(0, 1e-3, 28), p, R)
    found = calibrate(robot, Poses(p + rng.normal(0, 1e-5, p.shape), R, readings))
    files = calibration_documents("Four legs", (), found)
    assert "geometry.toml" in files
    assert "workspace-map.json" not in files
    assert b"Uncertainty of poses predicted" not in files["report.html"]


def test_labels_of_the_map_stay_in_the_figure_and_apart(campaign):
    """Axes of a fixed aspect move after a layout that does not expect it."""
    _, found = campaign
    drawing = map_figure(found, slices(found))
    drawing.svg()  # lays it out
    figure = drawing.figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [
        each.get_window_extent(canvas.get_renderer())
        for axes in figure.axes
        for each in (axes.xaxis.label, axes.yaxis.label, axes.title, *(axes.get_legend() or axes).findobj(Text))
        if each.get_text().strip() and each.get_visible()
    ]
    boxes = [each for each in boxes if each.width > 1]
    for each in boxes:
        assert figure.bbox.x0 <= each.x0
        assert each.x1 <= figure.bbox.x1
    left, right = figure.axes[0], figure.axes[1]
    label = right.yaxis.label.get_window_extent(canvas.get_renderer())
    assert label.x0 > left.get_window_extent(canvas.get_renderer()).x1
