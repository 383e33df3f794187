"""Printed σ against the σ of 200 simulated data sets, for white and for low-pass filtered noise."""

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.signal import butter, sosfreqz

from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.methods import GaussMarkov, Huber, LeastSquares, RobustLeastSquares, WeightedLeastSquares
from tests.methods.filtered_noise import GROUPS, THETA, noise, regressor

N_SETS = 200
METHODS = [LeastSquares(), WeightedLeastSquares(), GaussMarkov(), RobustLeastSquares(Huber())]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("cutoff", [None, 0.1], ids=["white", "low-pass"])
def test_printed_sigma_is_the_empirical_one(method, cutoff):
    """Within 10 %, as root mean square over the unknowns: one σ from 200 sets is itself uncertain by 5 %."""
    n_samples = 2000
    W = regressor(n_samples)
    unknowns = Unknowns([f"p_{i}" for i in range(8)])
    values, sigmas = [], []
    for seed in range(N_SETS):
        y = W @ THETA + noise(np.random.default_rng(seed), n_samples, cutoff)
        answer = estimate(LinearProblem(W, y, unknowns, Gaussian(), GROUPS), method)
        values.append(answer.value)
        sigmas.append(answer.region.sigma)
    values, sigmas = np.array(values), np.array(sigmas)
    empirical = np.sqrt(((values - THETA) ** 2).mean(axis=0))
    ratio = np.sqrt(((sigmas / empirical) ** 2).mean())
    assert 0.9 < ratio < 1.1
    inside = abs(values - THETA) < 1.96 * sigmas
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
    problem = LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(8)]), Gaussian(), GROUPS)
    kept = np.repeat(np.sin(np.arange(n_samples) / 25) > -0.5, 2)
    whole, part = estimate(problem, LeastSquares()), estimate(problem.select(kept), LeastSquares())
    fewer = np.sqrt(1 / kept.mean())
    assert part.stats.correlation_length == pytest.approx(whole.stats.correlation_length, abs=16)
    assert part.stats.autocorrelation == pytest.approx(whole.stats.autocorrelation, abs=0.01)
    assert part.region.sigma == pytest.approx(fewer * whole.region.sigma, rel=0.25)
    assert any("autocorrelated over" in note for note in part.notes)


def test_decimated_rows_know_the_time_between_them(rng):
    n_samples = 8000
    W, y = regressor(n_samples), noise(rng, n_samples, 0.1)
    unknowns = Unknowns([f"p_{i}" for i in range(8)])
    every_fourth = np.repeat(np.arange(n_samples) % 4 == 0, 2)
    selected = LinearProblem(W, y, unknowns, Gaussian(), GROUPS).select(every_fourth)
    recorded = LinearProblem(W[every_fourth], y[every_fourth], unknowns, Gaussian(), GROUPS)
    a, b = estimate(selected, LeastSquares()), estimate(recorded, LeastSquares())
    assert a.value == pytest.approx(b.value)
    assert a.region.sigma == pytest.approx(b.region.sigma, rel=0.1)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("cutoff", [None, 0.1], ids=["white", "low-pass"])
def test_sigma_of_masked_rows_does_not_depend_on_where_blocks_end(method, cutoff, monkeypatch):
    rng = np.random.default_rng(3)
    n_samples = 3000
    y = noise(rng, n_samples, cutoff)
    whole = LinearProblem(regressor(n_samples), y, Unknowns([f"p_{i}" for i in range(8)]), Gaussian(), GROUPS)
    problem = whole.select(rng.random(whole.n_rows) < 0.7)
    in_one = estimate(problem, method)
    blocks = LinearProblem.blocks
    monkeypatch.setattr(LinearProblem, "blocks", lambda self, size=0: blocks(self, 501))
    in_many = estimate(problem, method)
    assert in_many.region.sigma == pytest.approx(in_one.region.sigma, rel=1e-9)
    assert in_many.value == pytest.approx(in_one.value, rel=1e-6, abs=1e-9)
