"""Residuals that drift over a large part of the recording: σ, intervals and notes."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.linalg import toeplitz
from scipy.signal import lfilter

from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.methods import GaussMarkov, LeastSquares, WeightedLeastSquares
from gough.methods.statistical.drift import _correlations, slow_errors
from tests.methods.filtered_noise import GROUPS

N = 1000
WARNING = "may be as slow as the recording is long"


def regressor():
    """Six unknowns: offset, slow and faster motion of each of two actuators; the offset is shared."""
    t = np.linspace(0, 1, N)
    one, nothing = np.ones(N), np.zeros(N)
    columns = [(one, one)]
    for f in (1.3, 6.0):
        columns += [(np.sin(2 * np.pi * f * t), nothing), (nothing, np.cos(2 * np.pi * f * t))]
    columns += [(np.sign(np.sin(2 * np.pi * 2.3 * t)), np.cos(2 * np.pi * 3.1 * t))]
    return np.stack([np.column_stack(pair).reshape(-1) for pair in columns], axis=1)


def drifting(rng, part, n=2, size=1.0):
    """White noise of unit variance and a drift of that size, with a correlation time in parts of the recording."""
    a = np.exp(-1 / (part * N))
    slow = lfilter([np.sqrt(1 - a**2)], [1, -a], rng.normal(size=(N + round(6 * part * N), n)), axis=0)[-N:]
    return rng.normal(size=(N, n)) + size * slow


def problem(noise):
    W = regressor()
    names = [f"p_{i}" for i in range(W.shape[1])]
    return LinearProblem(W, np.ones(len(names)) @ W.T + noise.reshape(-1), Unknowns(names), Gaussian(), GROUPS)


@pytest.mark.parametrize(
    ("part", "method"),
    [(0.05, LeastSquares()), (0.2, LeastSquares()), (0.5, LeastSquares()), (0.2, GaussMarkov())],
    ids=["short", "medium", "long", "Gauss-Markov"],
)
def test_intervals_hold_the_truth_under_a_drift(part, method):
    """At least 93 % of the truths; with autocovariances alone, least squares holds 82 … 90 % of them."""
    inside = []
    for seed in range(40):
        box = estimate(problem(drifting(np.random.default_rng(seed), part)), method).intervals()
        inside.append((box.lower <= 1) & (1 <= box.upper))
    assert 0.93 <= np.mean(inside) < 0.995


def test_white_residuals_have_no_drift():
    found = 0
    for seed in range(60):
        answer = estimate(problem(np.random.default_rng(seed).normal(size=(N, 2))), LeastSquares())
        found += any("Residuals drift" in note for note in answer.notes)
    assert found <= 1


@pytest.mark.parametrize(
    "method", [LeastSquares(), WeightedLeastSquares(), GaussMarkov()], ids=lambda m: type(m).__name__
)
def test_a_random_walk_is_warned_of(method, rng):
    walk = 5 * np.cumsum(rng.normal(size=(N, 2)), axis=0) / np.sqrt(N)
    answer = estimate(problem(rng.normal(size=(N, 2)) + walk), method)
    assert any("Residuals drift" in note for note in answer.notes)
    assert any(WARNING in note for note in answer.notes)


def test_a_drift_that_is_short_against_the_recording_is_not_warned_of():
    notes = [estimate(problem(drifting(np.random.default_rng(s), 0.04)), LeastSquares()).notes for s in range(10)]
    assert not any(WARNING in note for each in notes for note in each)


def test_variance_of_the_drift_is_free_of_the_bias_of_the_fit():
    """40 groups whose residuals lack a constant and a ramp, which take half of the mean square away."""
    rng = np.random.default_rng(5)
    blocks, n = 125, 40
    e = np.linalg.cholesky(_correlations(blocks, 0.3 * blocks)) @ rng.normal(size=(blocks, n))
    e = 2 * e + rng.normal(size=(blocks, n))
    line, _ = np.linalg.qr(np.stack([np.ones(blocks), np.arange(blocks)], axis=1))
    design = np.einsum("bi,gh->bghi", line, np.eye(n)).reshape(blocks, n, 2 * n)
    drift = slow_errors(e - line @ (line.T @ e), np.ones((blocks, n)), design, 1)
    assert drift is not None
    rate = drift.weight @ (drift.variance.mean(axis=1) / drift.time)
    assert rate == pytest.approx(4 / 0.3, rel=0.15)
    assert 0.15 < drift.length < 0.6


def test_sigma_where_one_actuator_drifts():
    """Against the exact σ. That of the unknowns of the quiet actuator is too large, since groups share a prior."""
    A = np.linalg.pinv(regressor()).reshape(-1, N, 2)
    S = np.eye(N) + 9 * toeplitz(np.exp(-np.arange(N) / (0.2 * N)))
    exact = np.sqrt((A[:, :, 0] ** 2).sum(axis=1) + np.einsum("it,ts,is->i", A[:, :, 1], S, A[:, :, 1], optimize=True))
    sigmas = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(N, 2))
        noise[:, 1] += 3 * (drifting(rng, 0.2, size=1e6)[:, 1] / 1e6)
        sigmas.append(estimate(problem(noise), LeastSquares()).region.sigma)
    ratio = np.sqrt((np.array(sigmas) ** 2).mean(axis=0)) / exact
    assert (ratio[[0, 2, 4, 5]] > 0.7).all()
    assert (ratio[[0, 2, 4, 5]] < 1.4).all()
    assert (ratio[[1, 3]] > 0.9).all()
    assert (ratio[[1, 3]] < 2.5).all()


def test_correlation_of_block_means_is_the_integral():
    time = 1.7
    C = _correlations(4, time)
    for lag in (0, 2):
        exact, _ = dblquad(lambda x, y, lag=lag: np.exp(-abs(x + lag - y) / time), 0, 1, 0, 1)
        assert C[0, lag] == pytest.approx(exact, rel=1e-6)


def test_sigma_of_masked_rows_under_a_drift_does_not_depend_on_where_blocks_end(monkeypatch):
    rng = np.random.default_rng(3)
    whole = problem(drifting(rng, 0.2))
    masked = whole.select((rng.random(whole.n_rows) < 0.7) & (abs(np.arange(whole.n_rows) - 900) > 100))
    in_one = estimate(masked, LeastSquares())
    assert any("Residuals drift" in note for note in in_one.notes)
    blocks = LinearProblem.blocks
    monkeypatch.setattr(LinearProblem, "blocks", lambda self, size=0: blocks(self, 501))
    in_many = estimate(masked, LeastSquares())
    assert in_many.region.sigma == pytest.approx(in_one.region.sigma, rel=1e-9)
    complete = estimate(whole, LeastSquares())
    assert in_one.region.sigma == pytest.approx(complete.region.sigma, rel=0.5)
