"""Sparse systems of expressions: solutions, signs of determinants and distances, against LAPACK."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gough.kernels import expression as ex
from gough.kernels import trace
from gough.kernels.elimination import Elimination


def system(pattern, n_right):
    """A kernel that solves systems with this pattern of entries."""
    n = len(pattern)
    places = np.argwhere(pattern)

    def solve(a, b):
        columns = [[0.0] * n for _ in range(n)]
        for k, (i, j) in enumerate(places):
            columns[j][i] = a[k]
        found = Elimination(ex.matrix(*(ex.vector(*column) for column in columns)))
        return {"x": found.solve(b), "side": found.determinant_sign, "closeness": found.closeness()}

    return trace(solve, name="system", inputs={"a": len(places), "b": (n, n_right)})


def filled(pattern, values):
    A = np.zeros((len(values), *pattern.shape))
    A[:, pattern] = values
    return A


@given(st.integers(1, 7), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_solutions_are_those_of_lapack(n, seed):
    rng = np.random.default_rng(seed)
    pattern = (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)[rng.permutation(n)]
    kernel = system(pattern, 2)
    values, b = rng.normal(size=(5, pattern.sum())), rng.normal(size=(5, n, 2))
    A = filled(pattern, values)
    good = np.linalg.cond(A) < 1e6
    found = kernel.replay(values, b)
    x = np.linalg.solve(A[good], b[good])
    assert np.abs(found["x"].reshape(5, n, 2)[good] - x).max(initial=0.0) < 1e-8 * np.abs(x).max(initial=1.0)
    signs = np.sign(found["side"][good]) * np.linalg.slogdet(A[good])[0]
    assert len(set(signs)) <= 1  # one factor ±1 for all matrices of a pattern
    closeness = 1 / np.linalg.norm(np.linalg.inv(A[good]), axis=(1, 2))
    assert found["closeness"][good] == pytest.approx(closeness, rel=1e-6)


def test_a_vanishing_pivot_costs_no_digits():
    """Elimination without pivots would divide by the first entry."""
    kernel = system(np.ones((3, 3), dtype=bool), 1)
    for small in (0.0, 1e-300, 1e-17):
        A = np.array([[small, 1.0, 2.0], [1.0, 1.0, 1.0], [2.0, 1.0, 5.0]])
        x = kernel.replay(A.ravel(), (A @ [1.0, 2.0, 3.0])[:, None])["x"]
        assert x == pytest.approx([1.0, 2.0, 3.0], abs=1e-14)


def test_zeros_are_not_computed_with():
    full, arrow = np.ones((12, 12), dtype=bool), np.eye(12, dtype=bool)
    arrow[-1] = arrow[:, -1] = True
    assert len(system(arrow, 1).tape.steps) < len(system(full, 1).tape.steps) / 2


def test_it_keeps_a_kernel_out_of_the_interval_replay():
    kernel = system(np.ones((2, 2), dtype=bool), 1)
    assert kernel.solves == ("solve of a 2x2 system",)


def test_a_column_of_zeros_is_our_own_mistake():
    with pytest.raises(ArithmeticError, match="column 1 of the matrix is always zero"):
        Elimination(ex.matrix(ex.vector(1.0, 2.0), ex.vector(0.0, 0.0)))
