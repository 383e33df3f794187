"""Estimated weights converge, or the answer is that of a simpler method and says so."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from gough import Gaussian, InputError, LinearProblem, Unknowns, estimate
from gough.dynamics import METHODS, reduced
from gough.methods import GaussMarkov, LeastSquares, RobustLeastSquares, Tukey, WeightedLeastSquares, identifiability
from tests.dynamics.moving_robots import filtered, moving
from tests.methods.filtered_noise import GROUPS, THETA, noise, regressor

REWEIGHTED = ("weighted", "Gauss–Markov", "robust", "Tukey")
ERRORS = {
    "noise": lambda rng, motion: 0.1 * filtered(rng, *motion.q.shape),
    "one disturbance on all motors": lambda rng, motion: (
        filtered(rng, len(motion.q), 1) + 1e-3 * filtered(rng, *motion.q.shape)
    ),
    "the same disturbance": lambda rng, motion: filtered(rng, len(motion.q), 1) * np.ones(motion.q.shape[1]),
    "one motor without noise": lambda rng, motion: (
        0.1 * filtered(rng, *motion.q.shape) * (np.arange(motion.q.shape[1]) > 0)
    ),
    "friction that the model lacks": lambda rng, motion: (
        0.1 * filtered(rng, *motion.q.shape) + np.tanh(motion.dq / 0.05) * np.exp(-((motion.dq / 0.3) ** 2))
    ),
    "a smooth effect that the model lacks": lambda rng, motion: (
        1e-3 * filtered(rng, *motion.q.shape) + 3 * motion.q * np.sin(2 * motion.q) + 2 * np.cos(3 * motion.q[:, :1])
    ),
}


def problem_of(name, errors, seconds=3.0, seed=0):
    robot, motion, W = moving(name, seconds)
    y = W @ robot.nominal + ERRORS[errors](np.random.default_rng(seed), motion)
    problem = LinearProblem(W.reshape(y.size, -1), y.reshape(-1), Unknowns(robot.names), Gaussian(), robot.actuators)
    analysis = identifiability(problem)
    return problem if analysis.is_full_rank else reduced(problem, analysis)


@pytest.mark.parametrize("method", REWEIGHTED)
@pytest.mark.parametrize("errors", ERRORS)
def test_weights_converge(errors, method, rng):
    whole, other = problem_of("five-bar", errors), problem_of("H4", errors, seconds=2.0)
    for problem in (whole, whole.select(rng.random(whole.n_rows) < 0.7), other):
        answer = estimate(problem, METHODS[method])
        assert np.isfinite(answer.value).all()
        assert (answer.region.sigma >= 0).all()


def test_weights_converge_for_many_parameters():
    problem = problem_of("arm", "friction that the model lacks")
    assert len(problem.unknowns) == 57
    for method in ("weighted", "Gauss–Markov", "robust"):
        estimate(problem, METHODS[method])


def two_motors(rng, n_samples=400):
    y = regressor(n_samples) @ THETA + noise(rng, n_samples, None)
    return LinearProblem(regressor(n_samples), y, Unknowns([f"p{i}" for i in range(8)]), Gaussian(), GROUPS)


def test_a_converged_answer_is_a_fixed_point(rng):
    """One more step by the textbook formulas changes nothing."""
    problem = two_motors(rng)
    answer = estimate(problem, GaussMarkov(shrinkage=0.0))
    r = problem.residuals(answer.value).reshape(-1, 2)
    root = np.linalg.inv(np.linalg.cholesky(r.T @ r / len(r)))
    A = np.einsum("gh,khp->kgp", root, problem.W.reshape(-1, 2, 8)).reshape(-1, 8)
    again = np.linalg.lstsq(A, (problem.y.reshape(-1, 2) @ root.T).reshape(-1), rcond=None)[0]
    assert (abs(again - answer.value) < 1e-4 * answer.region.sigma).all()


def test_where_rows_are_missing_the_likelihood_is_largest_at_the_answer(rng):
    """By scipy's densities of each sample's rows, with the covariance that is likeliest for the residuals there."""
    problem = two_motors(rng)
    kept = rng.random(problem.n_rows) < 0.7
    problem = problem.select(kept)
    answer = estimate(problem, GaussMarkov(shrinkage=0.0))
    whole = np.full(len(kept), np.nan)

    def likelihood(theta, C):
        whole[kept] = problem.residuals(theta)
        r = whole.reshape(-1, 2)
        both = np.isfinite(r).all(axis=1)
        total = multivariate_normal(np.zeros(2), C).logpdf(r[both]).sum()
        for g in range(2):
            alone = np.isfinite(r[:, g]) & ~np.isfinite(r[:, 1 - g])
            total += multivariate_normal(0.0, C[g, g]).logpdf(r[alone, g]).sum()
        return total

    def likeliest(theta):
        whole[kept] = problem.residuals(theta)
        s = np.nanstd(whole.reshape(-1, 2), axis=0)

        def C(x):
            L = np.array([[np.exp(x[0]), 0.0], [x[1], np.exp(x[2])]])
            return L @ L.T

        found = minimize(lambda x: -likelihood(theta, C(x)), [np.log(s[0]), 0.0, np.log(s[1])], tol=1e-10)
        return -found.fun

    best = likeliest(answer.value)
    for direction in rng.normal(size=(6, 8)):
        assert likeliest(answer.value + 0.3 * answer.region.sigma * direction) < best + 1e-6


def test_shrinkage_goes_from_the_sample_covariance_to_the_variances(rng):
    problem = two_motors(rng)
    weighted = estimate(problem, WeightedLeastSquares())
    assert estimate(problem, GaussMarkov(shrinkage=1.0)).value == pytest.approx(weighted.value, rel=1e-6)
    halfway = estimate(problem, GaussMarkov(shrinkage=0.5)).value
    assert (abs(halfway - weighted.value) > 1e-3 * weighted.region.sigma).any()
    with pytest.raises(InputError, match="between 0 and 1"):
        GaussMarkov(shrinkage=1.5)


def test_few_samples_are_shrunk(rng):
    """Six motors, ten samples: without shrinkage the covariance of the residuals is nearly singular."""
    C = 0.5 + 0.5 * np.eye(6)
    worse = 0
    for _ in range(10):
        W = rng.normal(size=(60, 3))
        e = (rng.normal(size=(10, 6)) @ np.linalg.cholesky(C).T).reshape(-1)
        problem = LinearProblem(W, W @ [1.0, 2.0, 3.0] + e, Unknowns(["a", "b", "c"]), groups=tuple("uvwxyz"))
        error = [
            np.linalg.norm(estimate(problem, method, strict=False).value - [1, 2, 3])
            for method in (GaussMarkov(), GaussMarkov(shrinkage=0.0))
        ]
        worse += error[0] > error[1]
    assert worse <= 3


@pytest.mark.parametrize(
    ("method", "simpler"),
    [
        (GaussMarkov(max_steps=4), WeightedLeastSquares()),
        (GaussMarkov(max_steps=2), LeastSquares()),
        (WeightedLeastSquares(max_steps=2), LeastSquares()),
        (RobustLeastSquares(max_steps=2), LeastSquares()),
        (RobustLeastSquares(Tukey(), max_steps=2), LeastSquares()),
    ],
    ids=str,
)
def test_without_convergence_the_answer_is_that_of_a_simpler_method(method, simpler):
    """And its status is not OK, because it is not what was asked for."""
    problem = problem_of("H4", "friction that the model lacks")
    if isinstance(simpler, WeightedLeastSquares):
        method = replace(method, shrinkage=0.0)
    answer, other = estimate(problem, method, strict=False), estimate(problem, simpler)
    assert answer.status.name == "MAX_STEPS"
    assert answer.value == pytest.approx(other.value, rel=1e-5)
    assert answer.region.sigma == pytest.approx(other.region.sigma, rel=1e-5)
    name = "weighted least squares" if isinstance(simpler, WeightedLeastSquares) else "of least squares"
    assert any("still changed: values and ± are those of" in note and name in note for note in answer.notes)


def test_a_loss_is_the_integral_of_its_influence():
    u = np.linspace(-8, 8, 200001)
    for loss in (RobustLeastSquares().loss, Tukey()):
        psi = loss.weight(u) * u
        integral = np.concatenate([[0], np.cumsum((psi[1:] + psi[:-1]) / 2 * np.diff(u))])
        assert loss.cost(u) - loss.cost(u)[0] == pytest.approx(integral, abs=1e-6)
