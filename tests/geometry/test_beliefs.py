"""Patterns of names, and tolerances of a blueprint as a prior."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry import calibrate
from gough.geometry.beliefs import matching
from gough.robots import GoughPlatform

ROBOT = GoughPlatform.deltalab()


def seen(rng, count, sigma=1e-4):
    truth = ROBOT.nominal + rng.normal(0, 1e-3, 42)
    p, R = rng.normal([0, 0, 0.35], 0.03, (count, 3)), exp(rng.normal(0, 0.15, (count, 3)))
    return truth, Poses(p + rng.normal(0, sigma, p.shape), R, ROBOT.inverse(truth, p, R)).with_noise(sigma, 1e-6, 1e-6)


def test_a_tolerance_is_the_prior_of_normal_equations(rng):
    """The posterior of a linear problem: (JᵀΣ⁻¹J + C₀⁻¹)⁻¹, at the solution."""
    _, poses = seen(rng, 30)
    answer = calibrate(ROBOT, poses, tolerance=2e-3)
    tangent = answer.problem.linearize(answer.parameters)
    W = tangent.W
    blocks = np.asarray(tangent.noise.covariance)
    information = sum(
        w.T @ np.linalg.solve(S, w)
        for w, S in zip(W.reshape(30, 6, 42), np.broadcast_to(blocks, (30, 6, 6)), strict=True)
    )
    C = np.linalg.inv(information + np.eye(42) / 1e-3**2)
    assert np.sqrt(answer.estimate.region.covariance.diagonal()) == pytest.approx(np.sqrt(C.diagonal()), rel=0.05)


def test_few_poses_suffice_with_tolerances_and_held_parameters(rng):
    truth, poses = seen(rng, 5)
    with pytest.raises(InputError, match="measure at least"):
        calibrate(ROBOT, poses)
    answer = calibrate(ROBOT, poses, tolerance={"a*": 2e-3, "b*": 2e-3}, fixed=["l*"])
    assert (answer.parameters[6::7] == ROBOT.length).all()
    free = np.arange(42) % 7 != 6
    assert abs(answer.parameters - ROBOT.nominal)[free].max() < 5e-3
    assert answer.rms[1] < 0.5 * answer.rms[0]
    assert truth is not None


def test_patterns_and_tolerances_are_refused_where_they_mean_nothing(rng):
    _, poses = seen(rng, 20)
    with pytest.raises(InputError, match=r"no parameter matches 'c\*'"):
        calibrate(ROBOT, poses, fixed=["c*"])
    with pytest.raises(InputError, match="no parameter is called 'a9x'; did you mean"):
        calibrate(ROBOT, poses, fixed=["a9x"])
    with pytest.raises(InputError, match="tolerance of a"):
        calibrate(ROBOT, poses, tolerance={"a*": -1.0})
    with pytest.raises(InputError, match="in the robot's frame"):
        calibrate(ROBOT, poses, frames="instrument", tolerance=1e-3)


def test_patterns_without_a_dot_are_of_the_robot():
    names = ["l1", "b1x", "level.rx", "bubble.up_x"]
    assert matching(["l*", "b*"], names) == ("l1", "b1x")
    assert matching(["*"], names) == ("l1", "b1x")
    assert matching(["bubble.*", "level.rx"], names) == ("level.rx", "bubble.up_x")
    with pytest.raises(InputError, match=r"such as 'level\.\*'"):
        matching(["lev*"], names)
