"""Tracking errors: followed poses against the robots' own forward kinematics, folds against their closed form."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.designs.excitation import DesignProblem, MotionLimits, optimize, search
from gough.designs.excitation.tracking import Neighborhood, check_tracking, tracking_text
from gough.robots import H4, ROBOTS, FiveBar, Palida

LIMITS = MotionLimits(speeds=8.0, efforts=30.0)


def around(robot, home, errors):
    return Neighborhood(robot, LIMITS.channels(robot, home), np.asarray(errors, dtype=float))


@pytest.mark.parametrize("name", ["h4", "3-rrr"])
def test_displaced_actuators_lead_where_the_robot_says(name, rng):
    """A robot with closed forms, and a mechanism whose coordinates are followed together."""
    robot = ROBOTS[name]()
    n = len(robot.actuators)
    near = around(robot, robot.home, np.full(n, 0.03))
    error = rng.uniform(-0.03, 0.03, (20, n))
    moved = near.follow(np.repeat(near.states(robot.home[None]), 20, axis=0), error)
    assert not moved.lost.any()
    x = robot.forward(robot.inverse(robot.home) + error)
    (margin,) = (i for i, one in enumerate(near.channels) if one.kind == "margin")
    np.testing.assert_allclose(moved.h[:, margin], robot.margin(x), rtol=1e-6)


@pytest.mark.parametrize("name", ["h4", "3-rrr"])
def test_spread_is_the_gradient_by_the_actuators(name):
    robot = ROBOTS[name]()
    n = len(robot.actuators)
    x = robot.home + 0.02 * np.arange(1.0, len(robot.home) + 1)
    channels = MotionLimits(speeds=8.0, efforts=30.0, pose={robot.pose_names[0]: (-9.0, 9.0)}).channels(robot, x)
    near = Neighborhood(robot, channels, np.full(n, 1e-4))
    q, spread, step = robot.inverse(x), near.spread(x[None])[0], 1e-6
    ahead, behind = (near.values(robot.forward(q + s * step * np.eye(n), guess=x)) for s in (1, -1))
    slopes = np.abs(ahead - behind).sum(axis=0) / (2 * step) * 1e-4
    for one, found, wanted in zip(channels, spread, slopes, strict=True):
        if one.follows_positions:
            # the square of a margin is what is linear: its root differs by a second-order term
            assert found == pytest.approx(wanted, rel=1e-2, abs=1e-10), one.name


def test_the_singularity_of_a_five_bar_is_where_its_distal_links_align():
    """With both motors displaced outward, the elbows come apart until the distal links are one line."""
    robot = FiveBar(distal=(0.25, 0.25))
    q = np.array([2.05, 1.09])

    def apart(error):
        a, b = robot.elbow_positions(q + np.array([error, -error]))
        return np.hypot(*(a - b)) - sum(robot.distal)

    low, high = 0.0, 0.3
    assert apart(low) < 0 < apart(high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if apart(middle) < 0 else (low, middle)
    near = around(robot, q, [0.02, 0.02])
    share, which, error = near.first_singularity(q[None])
    assert which == 0
    assert share * 0.02 == pytest.approx(low, rel=1e-3)
    np.testing.assert_allclose(error, [low, -low], rtol=1e-3)
    beyond = near.follow(np.array([q, q]), np.array([[0.9 * low, -0.9 * low], [1.1 * low, -1.1 * low]]))
    assert beyond.lost.tolist() == [False, True]
    least, most = around(robot, q, [0.3, 0.3]).extremes(q[None])
    assert np.isneginf(least).any()
    assert np.isposinf(most).any()


@pytest.fixture(scope="module")
def before_and_after():
    """The same H4 designed without and with tracking errors of 12 mrad."""
    found = []
    for error in (0.0, 0.012):
        limits = MotionLimits(speeds=8.0, efforts=30.0, tracking=error)
        problem = DesignProblem(H4(), limits, n_harmonics=2, frequency=0.5, rate=200.0)
        found.append(optimize(problem, starts=1, seed=1))
    return found


def test_a_design_keeps_clear_of_singularities_with_tracking_errors(before_and_after, rng):
    """Without a stated error the design meets a singularity at less than 12 mrad, although its margin is kept."""
    before, after = before_and_after
    assert before.worst <= 0
    assert np.abs(before.tracking.singular).max() < 0.012
    assert after.worst <= 0
    assert after.tracking.is_clear
    assert after.tracking.holds
    assert np.abs(after.tracking.singular).max() > 0.012
    robot = H4()
    _, x, _, _ = after.series.at(rng.uniform(0, after.series.period, 2000))
    poses = robot.forward(robot.inverse(x) + rng.uniform(-0.012, 0.012, (len(x), 4)), guess=x)
    assert robot.margin(poses).min() >= 0.5 * robot.margin(robot.home)
    assert robot.reach(poses).min() > 0


def test_the_answer_states_what_is_tolerated(before_and_after):
    before, after = before_and_after
    assert "mrad reaches a singularity at t = " in str(before)
    assert "With tracking errors up to 12 mrad the smallest distance to singularity is" in str(after)
    assert after.to_dict()["tracking"]["limits_exceeded"] == []
    of = after.problem
    check = check_tracking(of.neighborhood, np.array([0.5]), before.series.at([0.0]).q, of.default_tracking)
    assert "12 mrad" in str(check)


def test_a_motion_that_meets_the_limit_of_tracking_nowhere_is_refused(monkeypatch):
    monkeypatch.setattr(search, "_ROUNDS", 1)
    monkeypatch.setattr(search, "_STEPS", 5)
    monkeypatch.setattr(search, "_LEAST", 0.9999)
    robot = FiveBar()
    limits = MotionLimits(speeds=np.inf, efforts=np.inf, tracking=0.2, margin=0.5)
    problem = DesignProblem(robot, limits, n_harmonics=1, home=[2.05, 1.09])
    monkeypatch.setattr(search, "_BOTH", (lambda p, _: (np.ones((1, len(p.channels))),) * 2,))
    with pytest.raises(InputError, match=r"none of 1 starts .*tracking errors of 200 mrad.*smaller tracking error"):
        optimize(problem, starts=1)


def test_errors_in_words_and_by_default():
    robot = Palida()
    assert tracking_text(robot, MotionLimits.stated(robot).tracking_errors(robot)) == "1 mm"
    assert tracking_text(H4(), LIMITS.tracking_errors(H4())) == "20 mrad"
