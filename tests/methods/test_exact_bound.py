"""Bounds from multipliers against the formula written out in fractions, term by term."""

from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.methods.bounded.exact_bound import Prover, rounded_down, rounded_up
from tests.laws.problems import bounded_problem


def written_out(problem, box, direction, used):
    """Σ (λ y − |λ| e) + Σ_j min over the box of d_j x − g_j |x|; None for −∞."""
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    D = problem.noise.regressor
    total, weights = Fraction(0), dict(zip(used.rows, used.weights, strict=True))
    for k, w in weights.items():
        total += w * Fraction(float(problem.y[k])) - abs(w) * Fraction(float(e[k]))
    for j in range(len(box)):
        d = Fraction(float(direction[j])) - sum(w * Fraction(float(problem.W[k, j])) for k, w in weights.items())
        g = 0 if D is None else sum(abs(w) * Fraction(float(D[k, j])) for k, w in weights.items())
        low, high = float(box.lower[j]), float(box.upper[j])
        if (low == -np.inf and -d < g) or (high == np.inf and d < g):
            return None
        total += min((d * Fraction(x) - g * abs(Fraction(x)) for x in (low, high) if np.isfinite(x)), default=0)
    return total


@pytest.mark.parametrize("uncertain", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
def test_equals_the_formula_in_fractions(uncertain, bounded, rng):
    for _ in range(100):
        problem, theta = bounded_problem(rng)
        p, W = len(theta), problem.W
        if uncertain:
            problem = LinearProblem(W, problem.y, problem.unknowns, Bounded(problem.noise.radius, 0.1 * abs(W)))
        box = problem.unknowns.bounds if bounded else Box.unbounded(p)
        direction = rng.normal(size=p) * (rng.random(p) < 0.8)
        rows = rng.permutation(problem.n_rows)[: p + 1]
        weights = rng.normal(size=len(rows)) * (rng.random(len(rows)) < 0.9)
        value, used = Prover(problem).lower_bound(box, direction, rows, weights)
        assert value == written_out(problem, box, direction, used)
        assert used.support <= set(rows.tolist())


def test_an_open_box_needs_weights_that_leave_nothing_over(rng):
    """Weights of floating point leave 1e-16 over, which an unbounded θ would make −∞: they are corrected."""
    W, theta = rng.normal(size=(6, 3)), rng.normal(size=3)
    problem = LinearProblem(W, W @ theta, Unknowns(["a", "b", "c"]), Bounded(0.1))
    direction, rows = np.array([1.0, 0.0, 0.0]), np.arange(3)
    weights = np.linalg.solve(W[:3].T, direction)
    value, used = Prover(problem).lower_bound(problem.unknowns.bounds, direction, rows, weights)
    assert value is not None
    assert value <= Fraction(theta[0])
    assert all(
        sum(w * Fraction(float(W[k, j])) for k, w in zip(used.rows, used.weights, strict=True))
        == Fraction(direction[j])
        for j in range(3)
    )


def test_one_prover_serves_many_boxes(rng):
    problem, _ = bounded_problem(rng, n_rows=8, p=3, spread=0)
    prover, rows, weights = Prover(problem), np.arange(4), rng.normal(size=4)
    for reach in (1.0, 10.0, np.inf):
        box = Box(np.full(3, -reach), np.full(3, reach))
        alone = Prover(problem).lower_bound(box, np.ones(3), rows, weights)
        again = prover.lower_bound(box, np.ones(3), rows, weights)
        assert alone[0] == again[0]


def test_rounding_is_outward():
    third = Fraction(1, 3)
    assert Fraction(rounded_down(third)) < third < Fraction(rounded_up(third))
    assert (rounded_down(None), rounded_up(None)) == (-np.inf, np.inf)


def any_doubles(rng, shape):
    """Every kind of finite double: subnormal, zero, huge; and ordinary ones."""
    values = rng.integers(0, 2**64, shape, dtype=np.uint64).view(np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    ordinary = rng.normal(size=shape) * 2.0 ** rng.integers(-60, 60, shape)
    return np.where(rng.random(shape) < 0.5, values, ordinary)


def test_compiled_sums_are_exact_for_every_kind_of_double(rng):
    for _ in range(150):
        p, n = int(rng.integers(1, 6)), int(rng.integers(1, 9))
        W, y, e = any_doubles(rng, (n, p)), any_doubles(rng, n), abs(any_doubles(rng, n))
        sides = np.sort(any_doubles(rng, (2, p)), axis=0)
        problem = LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(p)]), Bounded(e))
        direction, weights, box = any_doubles(rng, p), any_doubles(rng, n), Box(*sides)
        value, used = Prover(problem).lower_bound(box, direction, np.arange(n), weights)
        assert value == written_out(problem, box, direction, used)


def test_many_large_terms_do_not_overflow(rng):
    """As many rows as the compiled sums take, all digits of all numbers set: the largest sums there are."""
    full = float(2**53 - 1)
    for n in (199, 200, 201):
        problem = LinearProblem(np.full((n, 3), full), np.full(n, full), Unknowns(["a", "b", "c"]), Bounded(full / 2))
        box, direction = Box([-full] * 3, [full] * 3), np.full(3, -full)
        value, used = Prover(problem).lower_bound(box, direction, np.arange(n), np.full(n, full))
        assert value == written_out(problem, box, direction, used)


def test_several_bounds_at_once_are_those_one_by_one(rng):
    for uncertain in (False, True):
        problem, _ = bounded_problem(rng, n_rows=10, p=3, spread=0)
        D = 0.1 * abs(problem.W) if uncertain else None
        problem = LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(problem.noise.radius, D))
        prover, direction, box = Prover(problem), rng.normal(size=3), Box([-9] * 3, [9] * 3)
        rows = np.array([rng.permutation(10)[:4] for _ in range(7)])
        weights = rng.normal(size=(7, 4)) * (rng.random((7, 4)) < 0.7)
        together = prover.floors(box, direction, rows, weights)
        for k, (value, some, factors) in enumerate(zip(together.values, rows, weights, strict=True)):
            used = together.multipliers(k)
            alone, same = prover.floor(box, direction, some, factors)
            assert together.support(k) == used.support == set(used.rows)
            assert value == alone == rounded_down(prover.lower_bound(box, direction, some, factors)[0])
            assert (used.rows, used.weights) == (same.rows, same.weights)
