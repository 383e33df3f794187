"""Chebyshev fits by exchange, against HiGHS; the ends of ε* hold around its value."""

import numpy as np
import pytest
from scipy.optimize import linprog

import gough
from gough.methods import minimal_bound
from gough.methods.programs.simplex import Simplex
from gough.region import Box


def by_highs(problem):
    """The least factor on the error bounds, by interior points and crossover of HiGHS, in columns of length one."""
    W, y = problem.W / problem.noise.radius[:, None], problem.y / problem.noise.radius
    length = np.linalg.norm(W, axis=0)
    box = problem.unknowns.bounds
    sides = np.block([[W / length, -np.ones((len(y), 1))], [-W / length, -np.ones((len(y), 1))]])
    limits = [*zip(box.lower * length, box.upper * length, strict=True), (0, None)]
    limits = [tuple(None if end is None or np.isinf(end) else end for end in pair) for pair in limits]
    return linprog(np.eye(len(length) + 1)[-1], sides, np.append(y, -y), bounds=limits, method="highs-ipm").fun


def chain_of_axes(rng, n_rows, p, *, condition=1e4, wrong=0.3):
    """Rows of a model that does not explain the data: smooth columns, ill-conditioned, with structured residuals."""
    t = np.linspace(0, 1, n_rows)
    waves, _ = np.linalg.qr(np.sin(2 * np.pi * np.outer(t, rng.uniform(0.5, 12, p)) + rng.uniform(0, 6, p)))
    waves *= np.sqrt(n_rows)
    mix, _ = np.linalg.qr(rng.normal(size=(p, p)))
    W = waves @ (mix * np.geomspace(1, 1 / condition, p)) * 10.0 ** rng.integers(-3, 4, p)
    y = waves @ rng.normal(size=p) + wrong * np.sign(np.sin(37 * t)) + 0.01 * rng.standard_t(2, n_rows)
    unknowns = gough.Unknowns([f"a{k}" for k in range(p)])
    return gough.LinearProblem(W, y, unknowns, gough.Bounded(rng.uniform(0.5, 2, n_rows)))


@pytest.fixture
def without_highs(monkeypatch):
    def refuse(*_):
        pytest.fail("HiGHS was needed")

    monkeypatch.setattr(Simplex, "_by_highs", refuse)


@pytest.mark.usefixtures("without_highs")
@pytest.mark.parametrize(("n_rows", "p", "condition"), [(60, 3, 1e2), (400, 20, 1e8), (3000, 40, 1e4), (42, 40, 10)])
def test_equals_highs_on_data_that_no_model_explains(n_rows, p, condition, rng):
    problem = chain_of_axes(rng, n_rows, p, condition=condition)
    found = minimal_bound(problem)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9)
    assert found.upper == pytest.approx(by_highs(problem), rel=1e-6)
    assert len(found.rows) <= p + 1


@pytest.mark.usefixtures("without_highs")
def test_a_prior_that_cuts_the_best_fit_off(rng):
    free = chain_of_axes(rng, 500, 8, condition=10)
    best = minimal_bound(free).point
    half = abs(best) * rng.uniform(0.05, 0.5, 8)
    box = Box.around(best + np.where(np.arange(8) % 2, 1.5, 0.2) * half, half)
    problem = gough.LinearProblem(free.W, free.y, gough.Unknowns(free.unknowns.names, prior=box), free.noise)
    found = minimal_bound(problem)
    assert found.point in box
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9)
    assert found.upper == pytest.approx(by_highs(problem), rel=1e-7)
    assert found.upper > minimal_bound(free).upper


@pytest.mark.usefixtures("without_highs")
def test_rows_that_repeat_and_ties(rng):
    """Quantized readings at few positions: many rows are equal, and many residuals are the greatest."""
    t = rng.integers(0, 9, 300)
    W, y = np.vander(t / 8.0, 4), np.round(np.sin(t) + rng.uniform(-1, 1, 300), 1)
    problem = gough.LinearProblem(W, y, gough.Unknowns(list("abcd")), gough.Bounded(np.full(300, 0.5)))
    found = minimal_bound(problem)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9)
    assert found.upper == pytest.approx(by_highs(problem), rel=1e-9)


def test_rows_that_bear_no_direction_of_their_own(rng):
    """One unknown appears in few rows, which the strided sample of all rows misses, and which fit well."""
    n = 50_001
    W = np.column_stack([np.ones(n), rng.normal(size=n), np.zeros(n)])
    W[1:8:2, 2] = 1.0
    y = W @ [1.0, 2.0, 3.0] + rng.uniform(-1, 1, n)
    y[1:8:2] = W[1:8:2] @ [1.0, 2.0, 3.0]
    problem = gough.LinearProblem(W, y, gough.Unknowns(list("abc")), gough.Bounded(np.ones(n)))
    found = minimal_bound(problem)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9)
    assert 0.9 < found.upper < 1.0
