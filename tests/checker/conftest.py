"""Small problems whose duals are known by hand."""

from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, LinearProblem, Unknowns


@pytest.fixture
def square() -> LinearProblem:
    """|3 − a − b| ≤ 1/2, |1 − a + b| ≤ 1/2, |5 − 3a| ≤ 1/4, no prior: a ∈ [19/12, 7/4] by row 2 alone."""
    W = [[1.0, 1.0], [1.0, -1.0], [3.0, 0.0]]
    return LinearProblem(W, [3.0, 1.0, 5.0], Unknowns(["a", "b"], ["kg", "m"]), Bounded([0.5, 0.5, 0.25]))


@pytest.fixture
def thirds() -> tuple[dict, dict, Fraction]:
    """Direction, weights and value of the best bound a ≥ 19/12, with a weight that no double equals."""
    return {"a": 1}, {2: Fraction(1, 3)}, Fraction(19, 12)


def random_problem(rng: np.random.Generator, n_rows=30, p=4, radius=0.3, **options) -> LinearProblem:
    W = rng.normal(size=(n_rows, p))
    y = W @ rng.normal(size=p) + radius * rng.uniform(-1, 1, size=n_rows)
    names = tuple(f"x{j}" for j in range(p))
    return LinearProblem(W, y, Unknowns(names, **options), Bounded(radius))


@pytest.fixture
def make_problem():
    return random_problem
