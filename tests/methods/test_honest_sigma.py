"""Printed σ against the σ of 200 simulated data sets, for white and for low-pass filtered noise."""

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.signal import butter, sosfiltfilt, sosfreqz

from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.methods import GaussMarkov, Huber, LeastSquares, RobustLeastSquares, WeightedLeastSquares

N_SETS = 200
COVARIANCE = np.array([[1.0, 0.5], [0.5, 4.0]]) * 0.01
METHODS = [LeastSquares(), WeightedLeastSquares(), GaussMarkov(), RobustLeastSquares(Huber())]


def regressor(n_samples):
    """Two actuators, eight unknowns: inertia-like, friction-like and gravity-like columns of a periodic motion."""
    t = np.linspace(0, 10, n_samples)
    columns = []
    for shift in (0.0, 1.0):
        q = np.sin(2 * np.pi * 0.7 * t + shift) + 0.5 * np.sin(2 * np.pi * 1.3 * t)
        dq, ddq = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
        columns.append(np.column_stack([ddq, dq, np.sign(dq), np.cos(q)]))
    W = np.zeros((n_samples, 2, 8))
    W[:, 0, :4], W[:, 1, 4:] = columns
    W[:, 0, 4:], W[:, 1, :4] = 0.3 * columns[1], 0.3 * columns[0]  # coupling
    return W.reshape(-1, 8)


def noise(rng, n_samples, cutoff):
    e = rng.normal(size=(n_samples + 400, 2)) @ np.linalg.cholesky(COVARIANCE).T
    if cutoff:
        e = sosfiltfilt(butter(4, cutoff, output="sos"), e, axis=0)
    return e[200:-200].reshape(-1)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("cutoff", [None, 0.1], ids=["white", "low-pass"])
def test_printed_sigma_is_the_empirical_one(method, cutoff):
    """Within 10 %, as root mean square over the unknowns: one σ from 200 sets is itself uncertain by 5 %."""
    n_samples = 2000
    W = regressor(n_samples)
    theta = np.array([0.5, 2.0, 1.0, 9.0, 0.4, 3.0, 1.5, 8.0])
    unknowns = Unknowns([f"p_{i}" for i in range(8)])
    values, sigmas = [], []
    for seed in range(N_SETS):
        y = W @ theta + noise(np.random.default_rng(seed), n_samples, cutoff)
        answer = estimate(LinearProblem(W, y, unknowns, Gaussian(), ("motor 1", "motor 2")), method)
        values.append(answer.value)
        sigmas.append(answer.region.sigma)
    values, sigmas = np.array(values), np.array(sigmas)
    empirical = np.sqrt(((values - theta) ** 2).mean(axis=0))
    ratio = np.sqrt(((sigmas / empirical) ** 2).mean())
    assert 0.9 < ratio < 1.1
    inside = abs(values - theta) < 1.96 * sigmas
    assert 0.92 < inside.mean() < 0.98


def test_the_textbook_sigma_would_be_wrong():
    """The law above is not idle: on this low-pass noise σ²(WᵀW)⁻¹ promises less than half of the true σ."""
    W, n_samples = regressor(2000), 2000
    sos = butter(4, 0.1, output="sos")
    power = abs(sosfreqz(sos, np.linspace(0, np.pi, 4097))[1]) ** 4
    rho = np.fft.irfft(power)[:n_samples]
    S = np.kron(toeplitz(rho / rho[0]), np.eye(2))
    pseudo_inverse = np.linalg.pinv(W)
    true = np.sqrt((pseudo_inverse @ S @ pseudo_inverse.T).diagonal())
    textbook = np.sqrt(np.linalg.inv(W.T @ W).diagonal())
    assert np.median(textbook / true) < 0.5


def test_gaps_in_time_are_gaps_and_not_neighbors(rng):
    """Stretches are masked, as near velocity reversals: the noise is seen to remember as long as without them."""
    n_samples = 8000
    W = regressor(n_samples)
    y = noise(rng, n_samples, 0.1)
    problem = LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(8)]), Gaussian(), ("motor 1", "motor 2"))
    kept = np.repeat(np.sin(np.arange(n_samples) / 25) > -0.5, 2)
    whole, part = estimate(problem, LeastSquares()), estimate(problem.select(kept), LeastSquares())
    fewer = np.sqrt(1 / kept.mean())
    assert part.stats.correlation_length == pytest.approx(whole.stats.correlation_length, abs=16)
    assert part.stats.autocorrelation == pytest.approx(whole.stats.autocorrelation, abs=0.01)
    assert part.region.sigma == pytest.approx(fewer * whole.region.sigma, rel=0.25)
    assert any("remember" in note for note in part.notes)


def test_decimated_rows_know_the_time_between_them(rng):
    n_samples = 8000
    W, y = regressor(n_samples), noise(rng, n_samples, 0.1)
    unknowns = Unknowns([f"p_{i}" for i in range(8)])
    every_fourth = np.repeat(np.arange(n_samples) % 4 == 0, 2)
    groups = ("motor 1", "motor 2")
    selected = LinearProblem(W, y, unknowns, Gaussian(), groups).select(every_fourth)
    recorded = LinearProblem(W[every_fourth], y[every_fourth], unknowns, Gaussian(), groups)
    a, b = estimate(selected, LeastSquares()), estimate(recorded, LeastSquares())
    assert a.value == pytest.approx(b.value)
    assert a.region.sigma == pytest.approx(b.region.sigma, rel=0.1)
