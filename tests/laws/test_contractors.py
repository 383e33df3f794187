"""Laws of every contractor and set method, at zero tolerance where they claim PROOF."""

from fractions import Fraction

import numpy as np
import pytest

from gough import AssumptionError, Bounded, Box, Claim, Gaussian, LinearProblem, Status, Unknowns, estimate
from gough.methods import LinearHull, RelaxedHull
from tests.laws.problems import CONTRACTORS, OPEN_SET_METHODS, SET_METHODS, bounded_problem

every_contractor = pytest.mark.parametrize("contractor", CONTRACTORS, ids=repr)
every_method = pytest.mark.parametrize("method", SET_METHODS, ids=repr)


def is_consistent(problem, theta):
    """Does θ satisfy every row and the prior, in rational arithmetic?"""
    if theta not in problem.unknowns.bounds:
        return False
    x = [Fraction(v) for v in theta.tolist()]
    radius = np.broadcast_to(problem.noise.radius, problem.y.shape).tolist()
    rows = zip(problem.W.tolist(), problem.y.tolist(), radius, strict=True)
    return all(
        abs(Fraction(y) - sum(Fraction(w) * v for w, v in zip(row, x, strict=True))) <= Fraction(e)
        for row, y, e in rows
    )


@every_contractor
def test_never_widens_and_never_loses_the_truth(contractor, rng):
    tried = 0
    for _ in range(400):
        problem, theta = bounded_problem(rng)
        if not is_consistent(problem, theta):
            continue
        tried += 1
        prior = problem.unknowns.bounds
        box = contractor.contract(problem, prior)
        assert box <= prior
        assert theta in box
    assert tried > 300


@every_contractor
def test_truth_on_the_very_edge_is_kept(contractor, rng):
    """y is put so that the error equals its bound exactly: one ulp of inward rounding would lose θ."""
    for _ in range(300):
        p = int(rng.integers(1, 4))
        W = rng.integers(-9, 10, (6, p)).astype(float)
        theta = rng.integers(-(2**20), 2**20, p) / 2.0 ** rng.integers(0, 20)
        e = rng.integers(1, 2**20, 6) / 2.0**17
        y = W @ theta + rng.choice([-1, 1], 6) * e
        problem = LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(p)], prior=Box.around(theta, 1e3)), Bounded(e))
        assert is_consistent(problem, theta)
        assert theta in contractor.contract(problem, problem.unknowns.bounds)


@every_contractor
def test_empty_stays_empty(contractor):
    problem = LinearProblem(np.eye(2), [1, 2], Unknowns(["a", "b"]), Bounded(1.0))
    assert contractor.contract(problem, Box.empty(2)).is_empty


@every_contractor
def test_an_uncertain_regressor_keeps_every_regressor(contractor, rng):
    for _ in range(200):
        problem, theta = bounded_problem(rng, spread=0)
        D = rng.uniform(0, 0.2, problem.W.shape)
        inside = problem.W + 0.99 * D * rng.uniform(-1, 1, D.shape)
        exact = LinearProblem(inside, problem.y, problem.unknowns, problem.noise)
        if not is_consistent(exact, theta):
            continue
        uncertain = LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(problem.noise.radius, D))
        assert theta in contractor.contract(uncertain, problem.unknowns.bounds)


@every_contractor
def test_needs_bounds(contractor):
    problem = LinearProblem(np.eye(2), [1, 2], Unknowns(["a", "b"]), Gaussian(1.0))
    with pytest.raises(AssumptionError, match="Bounded"):
        contractor.contract(problem, problem.unknowns.bounds)


@every_method
def test_a_contradiction_is_inconsistent(method):
    problem = LinearProblem([[1.0], [1.0]], [0.0, 3.0], Unknowns(["a"], prior=Box([-9], [9])), Bounded(1.0))
    answer = estimate(problem, method, strict=False)
    assert answer.status is Status.INCONSISTENT
    assert answer.claim is Claim.PROOF
    assert answer.region.is_empty


@pytest.mark.parametrize("method", OPEN_SET_METHODS, ids=repr)
def test_an_open_direction_is_unbounded_and_named(method):
    problem = LinearProblem([[1.0, 0.0]], [0.0], Unknowns(["a", "b"]), Bounded(1.0))
    answer = estimate(problem, method, strict=False)
    assert answer.status is Status.UNBOUNDED
    assert any("b" in note for note in answer.notes)
    assert answer.region.upper[0] == 1


@every_method
def test_edges_on_the_prior_are_reported(method):
    prior = Box([-9, 0], [9, 1])
    problem = LinearProblem([[1.0, 0.0]], [0.0], Unknowns(["a", "b"], prior=prior), Bounded(1.0))
    assert estimate(problem, method).stats.prior_limited == ("b",)


@every_method
def test_answers_are_repeatable_and_survive_json(method, rng):
    problem, _ = bounded_problem(rng, n_rows=20, p=3, spread=0)
    answer = estimate(problem, method, strict=False)
    assert answer.to_json() == estimate(problem, method, strict=False).to_json()
    assert type(answer).from_json(answer.to_json()) == answer


@every_method
def test_order_of_rows_changes_no_verdict(method, rng):
    problem, theta = bounded_problem(rng, n_rows=30, p=3, spread=0)
    order = rng.permutation(30)
    other = LinearProblem(problem.W[order], problem.y[order], problem.unknowns, Bounded(problem.noise.radius[order]))
    a, b = (estimate(x, method, strict=False) for x in (problem, other))
    assert a.status is b.status
    assert theta in a.region
    assert theta in b.region


@every_method
def test_units_of_the_rows_lose_nothing(method, rng):
    for _ in range(5):
        problem, theta = bounded_problem(rng, n_rows=12, p=3, spread=0)
        units = np.ldexp(1.0, rng.integers(-30, 30, 12))
        noise = Bounded(problem.noise.radius * units)
        other = LinearProblem(problem.W * units[:, None], problem.y * units, problem.unknowns, noise)
        if is_consistent(problem, theta):
            assert theta in estimate(other, method, strict=False).region


@pytest.mark.parametrize("method", [LinearHull(), RelaxedHull(0), RelaxedHull(1)], ids=repr)
def test_units_of_rows_and_unknowns_change_no_hull(method, rng):
    """Powers of two: the numbers are the same, so the sets are; how well they are found must not depend on it."""
    for _ in range(30):
        problem, _ = bounded_problem(rng, n_rows=12, p=3, spread=0)
        rows, columns = np.ldexp(1.0, rng.integers(-30, 30, 12)), np.ldexp(1.0, rng.integers(-30, 30, 3))
        prior = problem.unknowns.bounds
        unknowns = Unknowns(problem.unknowns.names, prior=Box(prior.lower / columns, prior.upper / columns))
        noise = Bounded(problem.noise.radius * rows)
        other = LinearProblem(problem.W * rows[:, None] * columns, problem.y * rows, unknowns, noise)
        a, b = (estimate(x, method, strict=False) for x in (problem, other))
        assert a.status is b.status
        if not a.region.is_empty:
            width = np.where(np.isfinite(a.region.width), a.region.width, 1.0).max()
            np.testing.assert_allclose(b.region.lower * columns, a.region.lower, rtol=1e-7, atol=1e-7 * width)
            np.testing.assert_allclose(b.region.upper * columns, a.region.upper, rtol=1e-7, atol=1e-7 * width)
