"""Instrumental variables and total least squares: no bias from noise in W, and σ that is true."""

import numpy as np
import pytest

from gough import InputError, LinearProblem, Status, Unknowns, estimate
from gough.methods import InstrumentalVariables, LeastSquares, TotalLeastSquares

THETA = np.array([1.0, -0.2, 7.0])
SIZE = np.array([1.0, 10.0, 0.1])
SIGMA_W = 0.3 * SIZE
UNKNOWNS = Unknowns(["a", "b", "c"])


def covariance():
    C = np.diag(np.append(SIGMA_W, 0.5) ** 2)
    C[0, 1] = C[1, 0] = 0.3 * SIGMA_W[0] * SIGMA_W[1]
    C[2, 3] = C[3, 2] = 0.3 * SIGMA_W[2] * 0.5
    return C


def noisy(rng, n=400):
    """(W, y) with errors of that covariance, and the exact regressor."""
    X = rng.normal(size=(n, 3)) * SIZE
    e = rng.normal(size=(n, 4)) @ np.linalg.cholesky(covariance()).T
    return X + e[:, :3], X @ THETA + e[:, 3], X


def spread(rng, method_of, repetitions=80):
    errors, sigmas = [], []
    for _ in range(repetitions):
        W, y, X = noisy(rng)
        answer = estimate(LinearProblem(W, y, UNKNOWNS), method_of(rng, X))
        errors.append(answer.value - THETA)
        sigmas.append(answer.region.sigma)
    sd = np.std(errors, axis=0)
    return abs(np.mean(errors, axis=0) / sd).max(), np.sqrt(np.mean(np.square(sigmas), axis=0)) / sd


def other_reading(rng, X):
    return InstrumentalVariables(X + rng.normal(size=X.shape) * SIGMA_W)


def test_least_squares_is_biased_and_the_others_are_not(rng):
    biased, _ = spread(rng, lambda *_: LeastSquares())
    assert biased > 2
    for method_of in (other_reading, lambda *_: TotalLeastSquares(covariance())):
        bias, ratio = spread(rng, method_of)
        assert bias < 0.4
        assert ratio == pytest.approx(np.ones(3), abs=0.25)


def test_total_least_squares_is_the_smallest_singular_vector(rng):
    W, y, _ = noisy(rng)
    answer = estimate(LinearProblem(W, y, UNKNOWNS), TotalLeastSquares(covariance()))
    root = np.linalg.inv(np.linalg.cholesky(covariance()))
    v = root.T @ np.linalg.svd(np.column_stack([W, y]) @ root.T)[2][-1]
    assert answer.value == pytest.approx(-v[:3] / v[3], rel=1e-8)


def test_total_least_squares_is_linear_orthogonal_distance_regression(rng):
    odrpack = pytest.importorskip("odrpack")
    W, y, _ = noisy(rng)
    C = np.diag(np.append(SIGMA_W, 0.5) ** 2)
    ours = estimate(LinearProblem(W, y, UNKNOWNS), TotalLeastSquares(C)).value
    weights = {"weight_x": 1 / SIGMA_W**2, "weight_y": 1 / 0.5**2}
    options = {"partol": 1e-13, "sstol": 1e-15, "maxit": 500}
    theirs = odrpack.odr_fit(lambda x, b: b @ x, W.T.copy(), y, np.ones(3), **weights, **options)
    assert ours == pytest.approx(theirs.beta, rel=1e-6)


def test_groups_have_covariances_of_their_own(rng):
    """A group with an exact regressor and one with a noisy one: the weights follow."""
    W, y, X = noisy(rng, 600)
    both = np.stack([np.column_stack([W, y]), np.column_stack([X, X @ THETA + 0.5 * rng.normal(size=600)])], axis=1)
    exact = np.zeros((4, 4))
    exact[3, 3] = 0.25
    rows = both.reshape(-1, 4)
    problem = LinearProblem(rows[:, :3], rows[:, 3], UNKNOWNS, groups=("noisy", "exact"))
    together = estimate(problem, TotalLeastSquares(np.stack([covariance(), exact])))
    alone = estimate(LinearProblem(both[:, 1, :3], both[:, 1, 3], UNKNOWNS), TotalLeastSquares(exact))
    assert (abs(together.value - THETA) < 4 * together.region.sigma).all()
    assert (together.region.sigma < 1.02 * alone.region.sigma).all()


def test_instruments_may_depend_on_the_estimate(rng):
    """A simulation that is wrong by a factor of the present θ: instruments need no exact scale."""
    W, y, X = noisy(rng)
    seen = []

    def simulated(problem, theta):
        seen.append(theta)
        return X * theta

    answer = estimate(LinearProblem(W, y, UNKNOWNS), InstrumentalVariables(simulated))
    fixed = estimate(LinearProblem(W, y, UNKNOWNS), InstrumentalVariables(X))
    assert answer.value == pytest.approx(fixed.value, rel=1e-5)
    assert len(seen) > 1
    assert answer.method == "InstrumentalVariables(instruments=simulated)"


def test_more_instruments_than_unknowns(rng):
    W, y, X = noisy(rng, 2000)
    Z = np.column_stack([X + rng.normal(size=X.shape) * SIGMA_W for _ in range(3)])
    answer = estimate(LinearProblem(W, y, UNKNOWNS), InstrumentalVariables(Z))
    assert (abs(answer.value - THETA) < 4 * answer.region.sigma).all()


def test_instruments_that_say_nothing_about_an_unknown_leave_it_open(rng):
    W, y, X = noisy(rng)
    Z = X.copy()
    Z[:, 2] = 0.0
    answer = estimate(LinearProblem(W, y, UNKNOWNS), InstrumentalVariables(Z), strict=False)
    assert answer.status is Status.SINGULAR


def test_refusals(rng):
    W, y, X = noisy(rng, 20)
    problem = LinearProblem(W, y, UNKNOWNS)
    with pytest.raises(InputError, match="20 rows, but have 10"):
        estimate(problem, InstrumentalVariables(X[:10]))
    X[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        estimate(problem, InstrumentalVariables(X))
    with pytest.raises(InputError, match=r"must be \(4, 4\)"):
        estimate(problem, TotalLeastSquares(np.eye(3)))
    with pytest.raises(InputError, match="positive semidefinite"):
        estimate(problem, TotalLeastSquares(-np.eye(4)))
