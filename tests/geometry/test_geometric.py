"""Geometric problems: Jacobians against differences, covariance against simulation, refusals."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry.geometric import geometric
from gough.region import ConfidenceEllipsoid
from gough.robots import GoughPlatform, LinearDelta, RotaryDelta
from tests.geometry.simulated import EXTREMAL, ROBOT, measured, truth

GAINS = GoughPlatform(ROBOT.base, ROBOT.platform, ROBOT.length, gains=True)


def poses_of(model, rng, n=9):
    if isinstance(model, GoughPlatform):
        p, R = rng.normal([0, 0, 0.35], 0.02, (n, 3)), exp(0.15 * rng.normal(size=(n, 3)))
    else:
        p, R = rng.normal([0, 0, 0.1 if isinstance(model, LinearDelta) else -0.7], 0.03, (n, 3)), None
    return Poses(p, R, model.inverse(model.nominal, p, R) + 1e-3 * rng.normal(size=(n, len(model.chains))))


@pytest.mark.parametrize(
    "model", [ROBOT, GAINS, LinearDelta(), RotaryDelta()], ids=lambda m: f"{m.name} {len(m.names)}"
)
@pytest.mark.parametrize("stated", ["nothing", "poses", "readings", "both"])
def test_jacobians_are_differences(model, stated, rng):
    poses = poses_of(model, rng)
    noise = {"position": 1e-4, "orientation": 1e-3} if stated in ("poses", "both") else {}
    poses = poses.with_noise(**noise, readings=1e-5 if stated in ("readings", "both") else None)
    problem = geometric(model, poses, scale=True)
    theta = problem.unknowns.nominal + 1e-3 * rng.normal(size=len(problem.unknowns))
    J, J_m = problem.equations.jacobians(theta, problem.measured)
    h = 1e-6
    for j in range(len(theta)):
        step = h * (np.arange(len(theta)) == j)
        ends = [problem.equations.residuals(theta + s * step, problem.measured) for s in (1, -1)]
        assert abs(J[..., j] - (ends[0] - ends[1]) / (2 * h)).max() < 1e-8
    for j in range(problem.measured.shape[1]):
        step = h * (np.arange(problem.measured.shape[1]) == j)
        ends = [problem.equations.residuals(theta, problem.measured + s * step) for s in (1, -1)]
        assert abs(J_m[..., j] - (ends[0] - ends[1]) / (2 * h)).max() < 1e-8


def test_the_pushed_covariance_is_that_of_simulated_equations(rng):
    theta = truth(rng)
    readings = EXTREMAL[rng.integers(64)][None].repeat(4000, axis=0)
    _, seen = measured(theta, readings, rng)
    problem = geometric(ROBOT, seen, start=theta)
    f = problem.equations.residuals(theta, problem.measured)
    stated = problem.linearize(theta).noise.covariance.mean(axis=0)
    found = np.cov(f.T)
    scale = np.sqrt(np.diag(stated))
    assert abs((found - stated) / np.outer(scale, scale)).max() < 0.1


def test_refusals(rng):
    poses = poses_of(ROBOT, rng, 6)
    with pytest.raises(InputError, match="at least 7 poses"):
        geometric(ROBOT, poses)
    assert len(geometric(ROBOT, poses, prior=ConfidenceEllipsoid(ROBOT.nominal, 1e-4 * np.eye(42))).measured) == 6
    assert geometric(ROBOT, poses, free=ROBOT.zeros).unknowns.is_fixed.sum() == 36
    with pytest.raises(InputError, match="did you mean 'l1'"):
        geometric(ROBOT, poses, free=["l1x"])
    with pytest.raises(InputError, match="6 chains"):
        geometric(ROBOT, Poses(poses.position, poses.rotation, poses.readings[:, :5]))
    with pytest.raises(InputError, match="orientations"):
        geometric(ROBOT, Poses(poses.position, None, poses.readings))
