"""Errors that all poses share: generalized least squares with a dense covariance is the reference."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses, averaged, read_poses, write_poses
from gough.geometry import calibrate
from gough.geometry.common_errors import with_common_errors
from gough.geometry.geometric import geometric
from tests.geometry.simulated import EXTREMAL, ROBOT, measured, truth

SHARED = 2e-4


def shared_campaign(rng, count=3):
    """Truth, and poses whose common errors are larger than their own."""
    theta = truth(rng)
    _, poses = measured(theta, EXTREMAL, rng)
    common = SHARED * (rng.normal(size=(1, 6, count)) + rng.normal(size=(len(poses), 6, count)))
    e = common @ rng.normal(size=count)
    moved = {"position": poses.position + e[:, :3], "rotation": exp(e[:, 3:]) @ poses.rotation}
    return theta, replace(poses, **moved, common=common)


def test_estimate_and_covariance_are_those_of_the_dense_covariance(rng):
    _, poses = shared_campaign(rng)
    found = calibrate(ROBOT, poses)
    problem = geometric(ROBOT, poses, start=found.parameters)
    f, J, J_m = problem.equations.both(found.parameters, problem.measured)
    n = f.size
    whole = np.zeros((n, n))
    for k, each in enumerate(J_m @ problem.noise.covariance @ np.swapaxes(J_m, 1, 2)):
        whole[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = each
    by_common = (J_m[..., :6] @ poses.common).reshape(n, -1)
    whole += by_common @ by_common.T
    root = np.linalg.inv(np.linalg.cholesky(whole))
    A = root @ J.reshape(n, -1)
    C = np.linalg.inv(A.T @ A)
    sigma = np.sqrt(C.diagonal())
    step = C @ A.T @ root @ f.reshape(-1)
    assert abs(step / sigma).max() < 0.1  # slopes by the poses are taken where these are corrected, there at the poses
    names = found.estimate.unknowns.names
    assert not any(name.startswith("common") for name in names)
    assert np.sqrt(found.estimate.region.covariance.diagonal()) == pytest.approx(sigma, rel=0.02)


def test_intervals_hold_the_truth_as_often_as_stated_and_nothing_is_accused(rng):
    inside, ignored = [], []
    for _ in range(6):
        theta, poses = shared_campaign(rng)
        found = calibrate(ROBOT, poses)
        assert not found.refuted
        assert not found.diagnosis.accusations
        inside += hits(found, theta)
    ignored += hits(calibrate(ROBOT, replace(poses, common=None)), theta)
    assert 0.89 <= np.mean(inside) <= 0.99  # 252 parameters, in six groups that err together
    assert np.mean(ignored) < 0.7


def hits(found, theta):
    intervals = [found.interval(name) for name in ROBOT.names]
    return [each.lower <= value <= each.upper for each, value in zip(intervals, theta, strict=True)]


def test_noise_of_readings_is_estimated_beside_common_errors(rng):
    theta, poses = shared_campaign(rng)
    readings = ROBOT.inverse(theta, *exact(theta)) + rng.normal(0, 3e-5, poses.readings.shape)
    found = calibrate(ROBOT, replace(poses, readings=readings, reading_sigma=None))
    sigma = found.poses.reading_sigma[0]
    assert sigma == pytest.approx(3e-5, rel=0.35)


def exact(theta):
    there = ROBOT.forward(theta, EXTREMAL)
    return there.position, there.rotation


def test_columns_are_filled_up_to_a_multiple_of_the_chains(rng):
    _, poses = shared_campaign(rng, count=7)
    problem = with_common_errors(geometric(ROBOT, poses), poses)
    assert len(problem.nuisance) == 12
    assert len(problem.measured) == len(poses) + 2
    theta = problem.unknowns.nominal + rng.normal(0, 1e-4, len(problem.unknowns))
    f, J, J_m = problem.equations.both(theta, problem.measured)
    h = 1e-6
    for k in (0, 41, 42, 48, 53):
        ahead, behind = (
            problem.equations.residuals(theta + s * h * np.eye(len(theta))[k], problem.measured) for s in (1, -1)
        )
        assert J[..., k] == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)
    assert J_m.shape == (*f.shape, problem.measured.shape[1])


def test_files_averages_and_selections_keep_common_errors(rng, tmp_path):
    _, poses = shared_campaign(rng)
    poses = replace(poses, half_width=abs(rng.normal(size=(64, 6))))
    for name in ("poses.csv", "poses.parquet", "poses.npz", "poses.mat"):
        write_poses(tmp_path / name, poses)
        again = read_poses(tmp_path / name)
        assert again.common == pytest.approx(poses.common, rel=1e-12)
        assert again.half_width == pytest.approx(poses.half_width, rel=1e-12)
    assert (poses.select([3, 5]).common == poses.common[[3, 5]]).all()
    mean, _ = averaged(replace(poses, configuration=np.arange(64) // 4))
    assert mean.common == pytest.approx(poses.common.reshape(16, 4, 6, 3).mean(axis=1))
    total = poses.total_covariance
    assert total[7] == pytest.approx(poses.covariance + poses.common[7] @ poses.common[7].T)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"common": np.zeros((3, 6, 1))}, "must be .64, 6, k."),
        ({"common": np.full((64, 6, 1), np.nan)}, "NaN or infinite"),
        ({"covariance": None, "common": np.zeros((64, 6, 1))}, "need the covariance"),
        ({"half_width": np.full((64, 6), -1.0)}, "not negative"),
    ],
)
def test_what_cannot_be_is_refused(change, message, rng):
    _, poses = shared_campaign(rng)
    with pytest.raises(InputError, match=message):
        replace(poses, **change)


def test_positions_alone_keep_their_rows(rng):
    _, poses = shared_campaign(rng)
    flat = poses.without_rotation()
    assert flat.common.shape == (64, 3, 3)
    assert isinstance(flat, Poses)
