"""The page of a design: every figure in a browser, and the numbers of the design itself."""

import numpy as np
import pytest

from gough.designs.excitation import Attempt, Design, DesignProblem, MotionLimits
from gough.report.design.figures import Course
from gough.report.design.page import criterion_table, design_documents, verdicts
from gough.robots import Delta
from gough.simulate.trajectories import FourierSeries

from .browser import CHROMIUM, Browser


@pytest.fixture(scope="module")
def found():
    """A small motion of a delta, as if two of three starts had found one."""
    limits = MotionLimits(speeds=8.0, efforts=15.0, pose={"z": (-1.0, -0.5)})
    problem = DesignProblem(Delta(), limits, sigma=0.2, n_harmonics=2)
    attempts = []
    for number, size in enumerate((0.15, 0.2), start=1):
        series = FourierSeries(problem.home, [[size, 0.1]] * 3, [[0.1, 0.0], [0.0, 0.1], [0.05, 0.05]], frequency=0.5)
        attempts.append(Attempt(number, series, problem.value(problem.space.vector(series)), -100.0, 0.1, 50))
    return Design(problem, (*attempts, Attempt(3, None, np.inf, -90.0, 0.1, 50)))


@pytest.fixture(scope="module")
def files(found):
    return design_documents("Delta", ("for a test",), found, periods=3)


def test_the_page_says_what_the_design_is(found, files):
    page = files["report.html"].decode()
    names = ("robot", "path", "actuators", "room", "sigma", "starts")
    assert set(files) == {"report.html", *(f"figures/{name}.{kind}" for name in names for kind in ("svg", "png"))}
    for words in (
        "All limits hold at all times",
        "runs 3 periods",
        "period = &quot;2 s&quot; in [repeats], and begin = &quot;",
        "2 of 3 starts keep the limits",
        "m_plate",
        "scaled condition",
        f"{100 * -found.worst:.2g} %",
    ):
        assert words in page, words
    for name in names:
        assert f'id="{name}"' in page


def test_a_broken_limit_and_a_missing_ramp_are_not_hidden(found):
    tight = DesignProblem(Delta(), MotionLimits(speeds=0.02, efforts=15.0), sigma=0.2, n_harmonics=2)
    made = verdicts(Design(tight, found.attempts[:1]), periods=1)
    assert all(verdict.next for verdict in made)
    told = " ".join(verdict.text for verdict in made)
    for words in ("A limit is exceeded", "speed of q", "No entry from rest that was tried keeps the limits"):
        assert words in told, words
    assert "All limits hold" not in told


def test_a_motion_that_shows_nothing_promises_nothing(found):
    still = FourierSeries(found.problem.home, np.full((3, 2), 1e-9), np.zeros((3, 2)), frequency=0.5)
    design = Design(found.problem, (Attempt(1, still, 90.0, 100.0, 0.1, 50),))
    assert (design.sigma == np.inf).all()
    assert "nan" not in str(design)
    (poor,) = (each for each in verdicts(design, periods=1) if "does not determine all parameters" in each.text)
    assert poor.kind == "bad"


def test_efforts_are_those_of_the_parameters(found):
    course = Course.of(found)
    robot, series = Delta(), found.series
    _, x, dx, ddx = series.at(course.step * np.arange(len(course.x)))
    moved = robot.joint_motion(x, dx, ddx)
    np.testing.assert_allclose(course.parts["speed"], moved.dq)
    np.testing.assert_allclose(course.parts["effort"], robot.regressor(*moved) @ robot.nominal, atol=1e-9)
    assert "start 2" in str(criterion_table(found))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome is installed to open the report with")
def test_a_browser_draws_it(files, tmp_path):
    path = tmp_path / "report.html"
    path.write_bytes(files["report.html"])
    browser = Browser(tmp_path / "profile")
    try:
        with browser.open(path, width=390, dark=True, touch=True) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert page.evaluate("document.documentElement.dataset.live") == "3"
            assert page.evaluate("document.querySelectorAll('#actuators path.line').length") >= 12
            assert not page.evaluate("/NaN|undefined/.test(document.querySelector('main').innerHTML)")
            assert page.complaints == []
            assert page.requests == [path.as_uri()]
    finally:
        browser.close()
