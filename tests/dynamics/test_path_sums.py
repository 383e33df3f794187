"""Compiled sums along a path against plain NumPy: roots of each sample or of all, apart or mixed, odd numbers."""

import numpy as np
import pytest

from gough.dynamics.periodic import path_sums
from gough.methods.statistical.lagged_sums import lagged_sums


def drawn(rng, sizes, *, shared, apart):
    """Residuals, a regressor, roots, and derivatives by the path; the rows of one sample are left out."""
    n_samples, n, m = sizes
    c, p = 2 * n, 5
    roots = rng.normal(size=(1 if shared else n_samples, c, c))
    if apart:
        roots[:, :n, n:], roots[:, n:, :n] = 0.0, 0.0
    if not shared and n_samples > 1:
        roots[n_samples // 2] = 0.0
    f, W = rng.normal(size=(n_samples, c)), rng.normal(size=(n_samples, n, p))
    return f, W, roots, rng.normal(size=(n_samples, n, m)), rng.normal(size=(n_samples, n, 3, m))


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (63, 3, 3), (64, 2, 3), (201, 4, 4)])
def test_sums_are_those_of_dense_whitened_derivatives(sizes, shared, apart, rng):
    n_samples, n, m = sizes
    f, W, roots, positions, efforts = drawn(rng, sizes, shared=shared, apart=apart)
    columns = np.array([4, 0, 2])
    alone = path_sums.apart(roots, n)
    assert alone == (n if apart else 0)
    u, A = path_sums.whitened(f, roots), path_sums.whitened_columns(W, columns, roots, alone)
    assert u.T == pytest.approx((roots @ f[..., None])[..., 0], abs=1e-12)
    whole = roots[:, :, n:] @ W[:, :, columns]
    assert abs(whole[:, :alone]).max(initial=0.0) == 0.0
    assert A.transpose(2, 1, 0) == pytest.approx(whole[:, alone:], abs=1e-12)

    J = np.zeros((n_samples, 2 * n, 3, m))
    J[:, :n, 0], J[:, n:] = positions, efforts
    K = roots @ J.reshape(n_samples, 2 * n, 3 * m)
    squares, mixed = path_sums.path_products(positions, efforts, A, u, roots, alone)
    expected = np.swapaxes(K, 1, 2) @ K
    size = abs(expected).max()
    assert squares.T == pytest.approx(expected[:, *np.tril_indices(3 * m)], abs=1e-13 * size)
    expected = np.swapaxes(K, 1, 2) @ np.concatenate([whole, u.T[..., None]], axis=2)
    found = mixed.reshape(3, len(columns) + 1, m, n_samples).transpose(3, 0, 2, 1)
    assert found.reshape(expected.shape) == pytest.approx(expected, abs=1e-13 * max(size, abs(expected).max()))

    pull = np.concatenate(path_sums.pulled_back(u, roots, n), axis=1)
    assert pull == pytest.approx((np.swapaxes(roots, 1, 2) @ u.T[..., None])[..., 0], abs=1e-12 * size)


def test_residuals_do_not_count_whole_turns_of_angles(rng):
    q, W, p = rng.uniform(-3, 3, (50, 2)), rng.normal(size=(50, 2, 4)), rng.normal(size=4)
    away = rng.uniform(-3, 3, (50, 4))
    measured = np.concatenate([q, W @ p], axis=1) + away
    measured[:, 0] += 2 * np.pi * rng.integers(-3, 4, 50)
    found = path_sums.residuals(measured, q, W, p, np.array([True, False]))
    assert found == pytest.approx(away, abs=1e-12)
    assert np.isnan(path_sums.residuals(measured, q, np.full_like(W, np.nan), p, np.array([True, False]))[:, 2:]).all()


def test_lagged_sums_count_pairs_that_are_kept(rng):
    u, kept = rng.normal(size=(40, 3)), rng.random((40, 3)) < 0.8
    u[~kept] = np.nan
    v = np.where(kept, u, 0.0)
    sums, pairs = lagged_sums(u, kept, 10)
    for lag in range(11):
        assert sums[lag] == pytest.approx((v[lag:] * v[: 40 - lag]).sum(axis=0), abs=1e-12)
        assert (pairs[lag] == (kept[lag:] & kept[: 40 - lag]).sum(axis=0)).all()
