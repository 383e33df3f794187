"""Every statistical method against the dense textbook formula, written out here with N × N matrices."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

from gough import (
    AssumptionError,
    Bounded,
    Box,
    ConfidenceEllipsoid,
    Gaussian,
    InputError,
    LinearProblem,
    Unknowns,
    estimate,
)
from gough.methods import GaussMarkov, LeastSquares, RobustLeastSquares, WeightedLeastSquares
from tests.laws.problems import gaussian_problem


def dense_gauss_markov(W, y, sigma):
    inverse = np.linalg.inv(sigma)
    covariance = np.linalg.inv(W.T @ inverse @ W)
    return covariance @ W.T @ inverse @ y, covariance


def test_least_squares_is_lstsq(rng):
    problem, _ = gaussian_problem(rng, groups=("x",), n_samples=20000)
    answer = estimate(problem, LeastSquares())
    expected, rss, *_ = np.linalg.lstsq(problem.W, problem.y)
    assert answer.value == pytest.approx(expected, rel=1e-11)
    textbook = rss[0] / (problem.n_rows - 5) * np.linalg.inv(problem.W.T @ problem.W)
    assert answer.stats.correlation_length == 0
    assert answer.region.covariance == pytest.approx(textbook, rel=1e-6)
    assert answer.stats.residual_rms == pytest.approx([np.sqrt(rss[0] / problem.n_rows)])


@pytest.mark.parametrize("form", ["scalar", "rows", "block", "samples", "full"])
def test_every_form_of_covariance_gives_the_dense_answer(form, rng):
    n_samples, n = 40, 3
    problem, _ = gaussian_problem(rng, groups=("x", "y", "z"), n_samples=n_samples, p=4)
    roots = rng.normal(size=(n_samples, n, n)) + 2 * np.eye(n)
    blocks = roots @ np.swapaxes(roots, 1, 2)
    variances = rng.uniform(0.5, 2, n_samples * n)
    correlated = np.exp(-abs(np.subtract.outer(np.arange(120), np.arange(120))) / 5)
    noise, dense = {
        "scalar": (Gaussian(0.3), 0.3 * np.eye(120)),
        "rows": (Gaussian(variances), np.diag(variances)),
        "block": (Gaussian(blocks[0]), np.kron(np.eye(n_samples), blocks[0])),
        "samples": (Gaussian(blocks), scipy.linalg.block_diag(*blocks)),
        "full": (Gaussian(correlated), correlated),
    }[form]
    answer = estimate(replace(problem, noise=noise), GaussMarkov())
    expected, covariance = dense_gauss_markov(problem.W, problem.y, dense)
    assert answer.value == pytest.approx(expected, rel=1e-9)
    if answer.stats.correlation_length == 0:
        assert answer.region.covariance == pytest.approx(covariance, rel=1e-8)


@pytest.mark.parametrize("by_sample", [False, True])
def test_missing_rows_use_the_covariance_of_those_present(by_sample, rng):
    problem, _ = gaussian_problem(rng, groups=("x", "y", "z"), n_samples=40, p=4)
    blocks = np.array([problem.noise.covariance * (1 + k % 3) for k in range(40)])
    noise = Gaussian(blocks) if by_sample else problem.noise
    present = rng.random(120) < 0.7
    answer = estimate(replace(problem, noise=noise).select(present), GaussMarkov())
    dense = scipy.linalg.block_diag(*(blocks if by_sample else [problem.noise.covariance] * 40))
    expected, _ = dense_gauss_markov(problem.W[present], problem.y[present], dense[np.ix_(present, present)])
    assert answer.value == pytest.approx(expected, rel=1e-9)


def test_a_gaussian_prior_adds_its_information(rng):
    problem, theta = gaussian_problem(rng, n_samples=10, p=3, spread=0)
    P = np.diag([0.01, 0.04, 0.09])
    prior = ConfidenceEllipsoid(theta + 0.1, P)
    answer = estimate(replace(problem, unknowns=Unknowns(problem.unknowns.names, prior=prior)), GaussMarkov())
    sigma = np.kron(np.eye(10), problem.noise.covariance)
    information = problem.W.T @ np.linalg.solve(sigma, problem.W) + np.linalg.inv(P)
    rhs = problem.W.T @ np.linalg.solve(sigma, problem.y) + np.linalg.solve(P, theta + 0.1)
    assert answer.value == pytest.approx(np.linalg.solve(information, rhs), rel=1e-9)
    if answer.stats.correlation_length == 0:
        assert answer.region.covariance == pytest.approx(np.linalg.inv(information), rel=1e-8)


def test_a_gaussian_prior_makes_a_singular_problem_regular():
    unknowns = Unknowns(["a", "b"], prior=ConfidenceEllipsoid([1, 1], np.eye(2)))
    problem = LinearProblem([[1.0, 1.0]] * 3, [2.0, 2.1, 1.9], unknowns, Gaussian(0.01))
    answer = estimate(problem, GaussMarkov())
    assert answer.value == pytest.approx([1, 1])
    assert answer.region.correlation[0, 1] < -0.95


def test_a_singular_prior_covariance_is_refused():
    unknowns = Unknowns(["a", "b"], prior=ConfidenceEllipsoid([1, 1], np.ones((2, 2))))
    with pytest.raises(InputError, match="Box prior with equal sides"):
        estimate(LinearProblem(np.eye(2), [1, 2], unknowns, Gaussian(1.0)), GaussMarkov())


def test_bounds_give_the_constrained_minimum(rng):
    problem, theta = gaussian_problem(rng, p=4, groups=("x",), spread=0)
    prior = Box(theta - np.array([9, 0.01, 9, 9]), theta + np.array([9, 9, -0.3, 9]))
    answer = estimate(replace(problem, unknowns=Unknowns(problem.unknowns.names, prior=prior)), LeastSquares())
    expected = scipy.optimize.lsq_linear(problem.W, problem.y, (prior.lower, prior.upper), tol=1e-14).x
    assert answer.value == pytest.approx(expected, rel=1e-5)
    assert "p_2" in answer.stats.prior_limited


def test_weights_per_group_converge_to_the_residual_variances(rng):
    problem, _ = gaussian_problem(rng, groups=("quiet", "loud"), n_samples=3000)
    answer = estimate(problem, WeightedLeastSquares())
    rms = answer.stats.residual_rms
    weights = np.tile(1 / rms, 3000)
    expected = np.linalg.lstsq(problem.W * weights[:, None], problem.y * weights)[0]
    assert answer.value == pytest.approx(expected, rel=1e-6)
    assert rms[1] / rms[0] == pytest.approx(2, rel=0.1)
    assert answer.stats.iterations > 1


def test_gauss_markov_estimates_a_covariance_that_is_not_stated(rng):
    problem, _ = gaussian_problem(rng, n_samples=5000)
    known, found = estimate(problem, GaussMarkov()), estimate(replace(problem, noise=Gaussian()), GaussMarkov())
    assert (abs(found.value - known.value) < 0.1 * known.region.sigma).all()
    assert found.region.sigma == pytest.approx(known.region.sigma, rel=0.03)


def test_gauss_markov_needs_a_covariance():
    problem = LinearProblem(np.eye(2), [1, 2], Unknowns(["a", "b"]), Bounded(1.0))
    with pytest.raises(AssumptionError, match="states bounds"):
        estimate(problem, GaussMarkov())


def test_chi_squared_judges_the_stated_noise(rng):
    problem, _ = gaussian_problem(rng, n_samples=1000)
    right = estimate(problem, GaussMarkov())
    assert right.stats.chi_squared == pytest.approx(1, abs=0.15)
    assert right.stats.chi_squared_p > 0.001
    assert any("explains the residuals" in note for note in right.notes)
    too_small = estimate(replace(problem, noise=Gaussian(problem.noise.covariance / 4)), GaussMarkov())
    assert too_small.stats.chi_squared_p < 1e-6
    assert any("an effect is missing" in note for note in too_small.notes)
    too_large = estimate(replace(problem, noise=Gaussian(problem.noise.covariance * 4)), GaussMarkov())
    assert any("overstated" in note for note in too_large.notes)
    assert estimate(replace(problem, noise=Gaussian()), LeastSquares()).stats.chi_squared is None


@pytest.mark.parametrize("method", [RobustLeastSquares(), LeastSquares()])
def test_outliers(method, rng):
    problem, theta = gaussian_problem(rng, groups=("x",), n_samples=1000)
    y = problem.y.copy()
    hit = rng.choice(1000, 60, replace=False)
    y[hit] += rng.uniform(20, 40, 60)
    answer = estimate(replace(problem, y=y, noise=Gaussian()), method)
    clean = np.linalg.inv(problem.W.T @ problem.W).diagonal() ** 0.5 * 0.1
    error = abs((answer.value - theta) / clean).max()
    if isinstance(method, RobustLeastSquares):
        assert error < 6
        assert 60 <= answer.stats.downweighted < 100
    else:
        assert error > 6


def test_blocks_do_not_change_the_answer(rng, monkeypatch):
    problem, _ = gaussian_problem(rng, n_samples=3000)
    whole = estimate(problem, GaussMarkov())
    monkeypatch.setattr(LinearProblem.blocks, "__defaults__", (64,))
    pieces = estimate(problem, GaussMarkov())
    assert pieces.value == pytest.approx(whole.value, rel=1e-10)
    assert pieces.region.sigma == pytest.approx(whole.region.sigma, rel=1e-9)
    assert pieces.stats.residual_rms == pytest.approx(whole.stats.residual_rms)


def test_not_converged_is_said(rng):
    problem, _ = gaussian_problem(rng)
    for method in (WeightedLeastSquares(max_steps=1), RobustLeastSquares(max_steps=1)):
        answer = estimate(problem, method, strict=False)
        assert answer.status.name == "MAX_STEPS"
        assert answer.stats.iterations == 1


@pytest.mark.parametrize("method", [LeastSquares(), WeightedLeastSquares(), GaussMarkov(), RobustLeastSquares()])
def test_data_that_fit_exactly_end_in_numbers(method):
    problem = LinearProblem([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]], [1.0, 2.0, 3.0], Unknowns(["a", "b"]))
    answer = estimate(problem, method)
    assert answer.value == pytest.approx([1.0, 0.0], abs=1e-12)
    assert (answer.region.sigma < 1e-12).all()
