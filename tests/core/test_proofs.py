"""Proofs of definiteness and rank: never of what is false, and of what is well conditioned always."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.midrad import MidRad
from gough.core.proofs import (
    has_full_column_rank,
    is_positive_definite,
    smallest_eigenvalue,
    smallest_singular_value,
)

_spec = importlib.util.spec_from_file_location("exact", Path(__file__).with_name("exact.py"))
exact = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(exact)


def singular(rng, n):
    """An integer matrix B B' of rank n - 1, exactly."""
    B = rng.integers(-99, 99, (n, n - 1)).astype(float)
    return B @ B.T


@pytest.mark.parametrize("n", [2, 3, 6, 14])
def test_what_is_singular_or_indefinite_is_never_proved_definite(n, rng):
    for _ in range(30):
        A = singular(rng, n)
        for scale in (1.0, 2.0**-40, 2.0**600, 2.0**-600):
            assert not is_positive_definite(A * scale)
            assert smallest_eigenvalue(A * scale) <= 0
        k = rng.integers(n)
        A[k, k] -= 2.0**-30
        assert not exact.is_positive_definite(exact.rational(A))
        assert not is_positive_definite(A)


@pytest.mark.parametrize("n", [1, 2, 6, 14])
def test_eigenvalue_bound_is_below_and_near(n, rng):
    for _ in range(10):
        B = rng.standard_normal((n, n))
        A = B + B.T
        bound = float(smallest_eigenvalue(A))
        nearly = np.linalg.eigvalsh(A)[0]
        assert exact.is_positive_definite(exact.shifted(exact.rational(A), bound))
        assert bound >= nearly - 1e-12 * np.abs(A).sum()


def test_definite_matrices_are_proved_in_any_units(rng):
    for _ in range(20):
        B = rng.standard_normal((30, 8))
        units = np.ldexp(1.0, rng.integers(-200, 200, 8))
        A = B.T @ B
        A = (A + A.T) / 2 * units * units[:, None]
        assert exact.is_positive_definite(exact.rational(A))
        assert is_positive_definite(A)


def test_hilbert_matrices_are_proved_as_far_as_rounding_allows():
    def hilbert(n):
        common = math.lcm(*range(1, 2 * n))
        return np.array([[common // (i + j + 1) for j in range(n)] for i in range(n)], dtype=float)

    assert all(is_positive_definite(hilbert(n)) for n in range(1, 9))


def test_sets_of_matrices_are_definite_only_if_all_are(rng):
    A = np.diag([1.0, 2.0, 3.0])
    assert is_positive_definite(MidRad(A, np.full((3, 3), 0.2)))
    assert not is_positive_definite(MidRad(A, np.full((3, 3), 0.8)))  # [[0.2, 0.8], [0.8, 1.2]] is in a corner
    bound = float(smallest_eigenvalue(MidRad(A, np.full((3, 3), 0.1))))
    for _ in range(50):
        noise = rng.uniform(-0.1, 0.1, (3, 3))
        member = A + np.triu(noise) + np.triu(noise, 1).T
        assert np.linalg.eigvalsh(member)[0] >= bound
    assert not is_positive_definite(MidRad(A, np.where(A > 2, np.inf, 0.0)))


def test_batches_are_judged_one_by_one(rng):
    good, bad = np.eye(3), singular(rng, 3)
    assert is_positive_definite(np.stack([good, bad, good])).tolist() == [True, False, True]
    assert smallest_eigenvalue(np.stack([good, 2 * good])).shape == (2,)


def test_extreme_magnitudes_prove_nothing_false():
    assert smallest_eigenvalue(np.diag([1e308, -1e308])) == -math.inf
    assert not is_positive_definite(np.array([[1e-320, 0.0], [0.0, 1.0]]))
    assert not is_positive_definite(np.array([[1e-300, 1e300], [1e300, 1e-300]]))
    assert is_positive_definite(np.diag([1e300, 1e-300]))


@pytest.mark.parametrize(
    "bad", [np.ones((2, 3)), np.array([[1.0, 2.0], [0.0, 1.0]]), np.full((2, 2), math.nan), np.ones(3)]
)
def test_what_is_no_symmetric_matrix_is_refused(bad):
    with pytest.raises(InputError):
        is_positive_definite(bad)


def deficient(rng, rows, p):
    """An integer matrix whose columns are dependent, exactly."""
    W = rng.integers(-99, 99, (rows, p)).astype(float)
    W[:, rng.integers(p)] = 0
    mix = np.eye(p) + np.triu(rng.integers(-3, 4, (p, p)), 1)
    return W @ mix @ (np.eye(p) + np.tril(rng.integers(-3, 4, (p, p)), -1))


@pytest.mark.parametrize(("rows", "p"), [(2, 2), (10, 3), (100, 14), (40_000, 5)])
def test_dependent_columns_are_never_proved_independent(rows, p, rng):
    for _ in range(20 if rows < 1000 else 2):
        W = deficient(rng, rows, p)
        assert np.abs(W).max() < 2**53
        assert not has_full_column_rank(W)
        assert not has_full_column_rank(W * np.ldexp(1.0, rng.integers(-300, 300, p)))
        assert smallest_singular_value(W) == 0.0


def test_singular_value_bound_is_below_and_near(rng):
    for _ in range(10):
        W = rng.standard_normal((40, 6))
        bound = smallest_singular_value(W)
        gram = exact.rational(W.T) * exact.rational(W)
        square = exact.fmpq(*bound.as_integer_ratio()) ** 2
        identity = exact.rational(np.eye(6))
        assert exact.is_positive_definite(gram - identity * square)
        assert bound >= 0.2 * np.linalg.svd(W, compute_uv=False)[-1]


def test_independent_columns_are_proved_in_any_units(rng):
    W = rng.standard_normal((100_000, 14)) * np.ldexp(1.0, rng.integers(-100, 100, 14))
    assert has_full_column_rank(W)
    assert has_full_column_rank(np.vander(np.linspace(0, 1, 200), 9))
    assert not has_full_column_rank(W[:13])


def test_sets_of_tall_matrices_have_full_rank_only_if_all_have(rng):
    W = rng.standard_normal((50, 4))
    assert has_full_column_rank(MidRad(W, np.full(W.shape, 1e-2)))
    assert not has_full_column_rank(MidRad(W, np.abs(W)))
    assert smallest_singular_value(MidRad(W, np.full(W.shape, 1e-2))) < smallest_singular_value(W)


def test_rank_of_strange_matrices():
    assert not has_full_column_rank(np.zeros((5, 2)))
    assert not has_full_column_rank(np.full((5, 2), 1e308))
    with pytest.raises(InputError):
        has_full_column_rank(np.full((5, 2), math.nan))
    with pytest.raises(InputError):
        has_full_column_rank(np.ones(3))
