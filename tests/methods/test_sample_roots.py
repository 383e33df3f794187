"""Roots of the covariances of many samples by Jacobi's rotations, against NumPy's eigenvalues."""

import numpy as np
import pytest

from gough.methods.statistical.sample_roots import inverse_roots
from gough.methods.statistical.whitening import inverse_root


@pytest.mark.parametrize("N", [1, 63, 64, 65, 150])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_roots_of_inverses(N, n, rng):
    A = rng.normal(size=(N, n, n + 2))
    K = A @ np.swapaxes(A, 1, 2)
    values, vectors = np.linalg.eigh(K)
    expected = (vectors / np.sqrt(values)[:, None]) @ np.swapaxes(vectors, 1, 2)
    size = abs(expected).max(axis=(1, 2), keepdims=True)
    assert (abs(inverse_roots(K) - expected) < 1e-10 * size).all()  # conditions are below 1e5


def test_equal_and_nearly_equal_eigenvalues(rng):
    K = np.tile(np.eye(4), (70, 1, 1))
    K[1, 0, 1] = K[1, 1, 0] = 1e-17
    K[2] += 1e-9 * np.diag(np.arange(4.0))
    assert (abs(inverse_roots(K) - np.eye(4)) < 1e-8).all()


def test_scales_of_rows_do_not_matter(rng):
    A, scale = rng.normal(size=(40, 3, 5)), np.array([1e-9, 1.0, 1e12])
    C = A @ np.swapaxes(A, 1, 2)
    whole = inverse_root(C * np.outer(scale, scale)) * scale
    np.testing.assert_allclose(whole, inverse_root(C), rtol=1e-9, atol=1e-12)


def test_what_is_not_positive_definite_has_no_root():
    K = np.tile(np.eye(3), (40, 1, 1))
    K[7, 0, 1] = K[7, 1, 0] = 2.0
    K[9, 2, 2] = np.nan
    good = np.isfinite(inverse_roots(K)).all(axis=(1, 2))
    assert not good[[7, 9]].any()
    assert good.sum() == 38
