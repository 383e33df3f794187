"""Intervals and joint regions where the noise of chains is estimated from few poses."""

import numpy as np
import pytest
from scipy.stats import f

from gough import LinearProblem, Unknowns
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry import calibrate
from gough.geometry.chain_noise import chain_noise
from gough.region import ConfidenceEllipsoid
from gough.robots import GoughPlatform

ROBOT = GoughPlatform.deltalab()


def measured(rng, n):
    """Poses without stated noise, and the truth."""
    theta = ROBOT.nominal + rng.normal(0, 1e-3, 42)
    true = ROBOT.forward(theta, rng.uniform(0, 0.14, (n, 6)))
    readings = ROBOT.inverse(theta, *true) + rng.normal(0, 1e-5, (n, 6))
    rotation = exp(rng.normal(0, 2e-4, (n, 3))) @ true.rotation
    return theta, Poses(true.position + rng.normal(0, 5e-5, (n, 3)), rotation, readings)


def test_intervals_of_twelve_poses_hold_the_truth(rng):
    """With the degrees of freedom of all legs together (30) they held it in 90 %."""
    inside = []
    for _ in range(12):
        theta, poses = measured(rng, 12)
        answer = calibrate(ROBOT, poses).estimate
        assert answer.region.dof < 6  # 12 poses less 7 parameters of a leg
        inside.append(abs(answer.value - theta) <= answer.half_widths())
    assert np.mean(inside) > 0.925


def test_few_poses_do_not_determine_correlations_and_it_is_said(rng):
    notes = calibrate(ROBOT, measured(rng, 12)[1]).estimate.notes
    assert any("too few to estimate how the errors of the chains are correlated" in note for note in notes)
    assert not any("too few" in note for note in calibrate(ROBOT, measured(rng, 40)[1]).estimate.notes)


def test_stated_noise_keeps_its_quantiles(rng):
    region = calibrate(ROBOT, measured(rng, 12)[1].with_noise(5e-5, 2e-4, 1e-5)).estimate.region
    assert region.dof == np.inf
    assert region.joint_dof is None


@pytest.mark.parametrize("alike", [True, False])
def test_joint_regions_have_the_quantile_of_simulated_chains(rng, alike):
    """Chains with equal columns (Hotelling's case), and with columns of their own."""
    n, q, samples = 3, 4, 24
    columns = [rng.normal(size=(samples, q))] * n if alike else list(rng.normal(size=(n, samples, q)))
    W = np.zeros((samples, n, n * q))
    for g in range(n):
        W[:, g, g * q : g * q + q] = columns[g]
    W = W.reshape(samples * n, -1)
    problem = LinearProblem(W, np.zeros(len(W)), Unknowns([f"x{i}" for i in range(n * q)]), groups=[*"abc"])
    noise = chain_noise(problem, np.ones(n))
    L = np.linalg.cholesky(0.5 * np.eye(n) + 0.5)
    hats = [np.linalg.qr(each)[0] for each in columns]
    distances = []
    for _ in range(3000):
        e = rng.normal(size=(samples, n)) @ L.T
        r = np.column_stack([e[:, g] - hats[g] @ (hats[g].T @ e[:, g]) for g in range(n)])
        free = [[(samples - 2 * q + float(((hats[g].T @ hats[h]) ** 2).sum())) for h in range(n)] for g in range(n)]
        S = r.T @ r / np.array(free)
        C = np.block([[S[g, h] * hats[g].T @ hats[h] for h in range(n)] for g in range(n)])
        u = np.concatenate([hats[g].T @ e[:, g] for g in range(n)])
        distances.append(u @ np.linalg.solve(C, u))
    inside = np.mean(np.array(distances) <= n * q * f.ppf(0.95, n * q, noise.joint))
    assert 0.93 < inside < 0.97


def test_joint_degrees_of_freedom_widen_joint_regions_alone():
    plain = ConfidenceEllipsoid([0.0, 0.0], np.eye(2), dof=20.0)
    wider = ConfidenceEllipsoid([0.0, 0.0], np.eye(2), dof=20.0, joint_dof=5.0)
    assert (wider.interval().upper == plain.interval().upper).all()
    assert (wider.hull().upper > plain.hull().upper).all()
    assert (wider.project([0]).hull().upper == plain.project([0]).hull().upper).all()
