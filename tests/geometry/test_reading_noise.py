"""The noise of readings that nobody stated, beside poses with covariances."""

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.stats import multivariate_normal

from benchmarks.calibration_mistakes import elsewhere
from gough import calibrate
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry.geometric import geometric
from gough.geometry.reading_noise import _Closure
from gough.robots import LinearDelta
from tests.geometry.simulated import ANGLE, EXTREMAL, POSITION, ROBOT, truth


def seen(seed, sigma, n=20):
    """A true platform, and its poses as measured by a camera, with covariances; the encoders' noise is not stated."""
    rng = np.random.default_rng(seed)
    theta = truth(rng)
    readings = EXTREMAL[rng.permutation(64)[:n]]
    exact = ROBOT.forward(theta, readings)
    position = exact.position + POSITION * rng.normal(size=(n, 3))
    rotation = exp(ANGLE * rng.normal(size=(n, 3))) @ exact.rotation
    return theta, Poses(position, rotation, readings + sigma * rng.normal(size=(n, 6))).with_noise(POSITION, ANGLE)


def test_true_values_lie_in_their_intervals():
    inside = []
    for seed in range(100, 108):
        theta, poses = seen(seed, 1e-4)
        answer = calibrate(ROBOT, poses)
        inside += [value in answer.interval(name) for name, value in zip(ROBOT.names, theta, strict=True)]
        assert not answer.refuted
    assert 0.89 < np.mean(inside) < 0.99  # 336 intervals of 95 %; those of one robot are correlated


def test_the_estimated_noise_is_true_and_said():
    _, poses = seen(1, 1e-4, n=64)
    answer = calibrate(ROBOT, poses)
    sigma = answer.poses.reading_sigma
    assert sigma == pytest.approx(1e-4, rel=4 * 0.05)  # its standard deviation is 5 %
    assert "The noise of the readings is not stated" in str(answer)
    assert "stated noise explains the residuals" not in str(answer)


def test_stated_noise_is_not_estimated():
    _, poses = seen(1, 1e-4)
    answer = calibrate(ROBOT, poses.with_noise(POSITION, ANGLE, 1e-4))
    assert "not stated" not in str(answer)
    assert "χ²/dof" in str(answer)


def test_exact_readings_stay_exact_or_have_less_noise_than_the_poses_explain():
    for seed in range(3):
        _, poses = seen(seed, 0.0)
        sigma = calibrate(ROBOT, poses).poses.reading_sigma
        assert sigma is None or sigma.max() < 5e-5


def test_robot_that_does_not_turn():
    rng = np.random.default_rng(3)
    printer = LinearDelta()
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (40, 3))
    readings = printer.inverse(printer.nominal + 1e-3, p) + rng.normal(0, 5e-5, (40, 3))
    answer = calibrate(printer, Poses(p + rng.normal(0, 1e-5, p.shape), None, readings).with_noise(1e-5))
    assert answer.poses.reading_sigma == pytest.approx(5e-5, rel=0.4)


def test_restricted_likelihood_is_that_of_the_contrasts():
    """−2 ln L equals, up to a constant, that of Kᵀy, where the columns of K are orthogonal to all unknowns."""
    _, poses = seen(5, 1e-4, n=9)
    problem = geometric(ROBOT, poses.with_noise(POSITION, ANGLE, 1e-4))
    f, J, J_m = problem.equations.both(ROBOT.nominal, problem.measured)
    n = f.shape[1]
    by_reading = J_m[:, range(n), range(6, 6 + n)]
    y, X = (f / by_reading).reshape(-1), (J / by_reading[..., None]).reshape(-1, J.shape[2])
    K = null_space(X.T / np.linalg.norm(X, axis=0)[:, None])
    A = J_m[..., :6] / by_reading[..., None]
    own = np.zeros((len(y), len(y)))
    C = np.diag(np.concatenate([POSITION, ANGLE]) ** 2)
    for k, block in enumerate(A @ C @ A.transpose(0, 2, 1)):
        own[n * k : n * (k + 1), n * k : n * (k + 1)] = block
    rows = _Closure.of(problem, ROBOT.nominal)
    differences = []
    for variance in (1e-10, 1e-8, 1e-6):
        V = K.T @ (own + variance * np.eye(len(y))) @ K
        dense = -2 * multivariate_normal(np.zeros(len(V)), V).logpdf(K.T @ y)
        differences.append(rows._cost(variance) - dense)
    assert np.ptp(differences) < 1e-6 * max(map(abs, differences))


def test_held_joints_in_an_instruments_frame_leave_the_noise_of_readings_to_be_found(rng):
    exact = ROBOT.forward(ROBOT.nominal, EXTREMAL[:24])
    position = exact.position + POSITION * rng.normal(size=(24, 3))
    rotation = exp(ANGLE * rng.normal(size=(24, 3))) @ exact.rotation
    readings = EXTREMAL[:24] + 2e-4 * rng.normal(size=(24, 6))
    poses = elsewhere(Poses(position, rotation, readings).with_noise(POSITION, ANGLE))
    answer = calibrate(ROBOT, poses, frames="instrument", fixed=["a*", "b*"])
    assert answer.poses.reading_sigma == pytest.approx(2e-4, rel=0.25)  # its standard deviation is 6 %
    assert answer.estimate.stats.chi_squared is None
