"""A design for every robot of the library; the large mechanisms, which take long to trace, are in the benchmark."""

import numpy as np
import pytest

from benchmarks.every_design import LARGE, limits_of
from gough.core.errors import InputError
from gough.designs.excitation import DesignProblem, MotionLimits, optimize, search
from gough.robots import CLOSED_FORMS, ROBOTS, Delta
from gough.robots.mechanism import MechanismModel

SMALL = [name for name in ROBOTS if name not in LARGE]


def make(name):
    kind, _, word = name.partition(" ")
    return ROBOTS[word]() if kind == "robot" else MechanismModel(ROBOTS[word]().mechanism)


@pytest.mark.parametrize(
    "name", [*(f"robot {word}" for word in CLOSED_FORMS), *(f"mechanism {word}" for word in SMALL)]
)
def test_a_motion_within_the_limits_is_found(name, monkeypatch):
    monkeypatch.setattr(search, "_ROUNDS", 4)
    monkeypatch.setattr(search, "_STEPS", 40)
    robot = make(name)
    home = [2.05, 1.09] if name == "robot five-bar" else None
    found = optimize(DesignProblem(robot, limits_of(robot), n_harmonics=1, home=home), starts=1)
    assert found.worst <= 0
    assert found.value < found.attempts[0].first
    assert np.isfinite(found.sigma).all()


def test_large_mechanisms_are_mechanisms():
    assert set(LARGE) < set(ROBOTS)


def test_a_design_with_a_single_limit():
    robot = ROBOTS["five-bar"]()
    problem = DesignProblem(robot, MotionLimits(speeds=np.inf, efforts=np.inf), n_harmonics=1, home=[2.05, 1.09])
    assert [channel.kind for channel in problem.channels] == ["margin"]
    value, gradient = problem.lagrangian(problem.space.drawn(np.random.default_rng(1)) / 5, lambda h: (0.0, 0.0 * h))
    assert np.isfinite(value)
    assert gradient.shape == (problem.n_variables,)


def test_limits_that_no_motion_keeps_are_refused(monkeypatch):
    """Hardly more than what holds the robot up at home: every motion needs more."""
    robot = Delta()
    still = np.zeros(3)
    needed = np.abs(robot.regressor(robot.inverse(robot.home), still, still) @ robot.nominal).max()
    monkeypatch.setattr(search, "_ROUNDS", 1)
    monkeypatch.setattr(search, "_STEPS", 10)
    limits = MotionLimits(speeds=8.0, efforts=needed + 1e-3)
    with pytest.raises(InputError, match=r"none of 1 starts found a motion of Delta.*loosen the limits"):
        optimize(DesignProblem(robot, limits, n_harmonics=1, frequency=0.5), starts=1)
