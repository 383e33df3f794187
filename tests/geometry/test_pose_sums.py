"""The compiled sums over poses against plain NumPy, at counts of poses around the size of a group."""

import numpy as np
import pytest

from gough.geometry import pose_sums

each_count = pytest.mark.parametrize("N", [1, 63, 64, 65, 200])
n, m, q, p = 3, 4, 5, 9
COLUMNS = np.array([[0, 1, 2, 8], [3, 4, 2, 8], [5, 6, 7, 8]])
"""Chains share unknowns 2 and 8."""
ROUNDING = 1e-11
"""Of sums of some hundred products of numbers of size one, and of inverses of well-conditioned matrices."""


def positive(rng, N, size):
    A = rng.normal(size=(N, size, size + 3))
    return A @ np.swapaxes(A, 1, 2) + np.eye(size)


def dense(X):
    J = np.zeros((len(X), n, p))
    for chain, places in enumerate(COLUMNS):
        J[:, chain, places] = X[:, chain]
    return J


@each_count
def test_weights_are_inverse_covariances(N, rng):
    J = rng.normal(size=(N, n, q))
    for C in (np.diag(rng.uniform(1, 2, q))[None], positive(rng, N, q)):
        W = pose_sums.weights(J, C)
        expected = np.linalg.inv(J @ C @ np.swapaxes(J, 1, 2))
        np.testing.assert_allclose(np.moveaxis(W, 2, 0), expected, rtol=1e-8, atol=ROUNDING)


@each_count
def test_roots_and_their_weights(N, rng):
    S = positive(rng, N, n)
    root = pose_sums.inverse_factors(S)
    np.testing.assert_allclose(root, np.linalg.inv(np.linalg.cholesky(S)), atol=ROUNDING)
    np.testing.assert_allclose(np.moveaxis(pose_sums.weights_of_roots(root), 2, 0), np.linalg.inv(S), atol=ROUNDING)
    assert not np.isfinite(pose_sums.inverse_factors(-S)).all()


@each_count
def test_normal_equations_gradient_and_whitened_rows(N, rng):
    X, f, S = rng.normal(size=(N, n, m)), rng.normal(size=(N, n)), positive(rng, N, n)
    root = pose_sums.inverse_factors(S)
    W, J = pose_sums.weights_of_roots(root), dense(X)
    A, y = (root @ J).reshape(-1, p), (root @ f[..., None]).reshape(-1)
    H, g, squares = pose_sums.normal(X, f, W, COLUMNS, p)
    np.testing.assert_allclose(H, A.T @ A, atol=ROUNDING)
    for gradient in (g, pose_sums.gradient(X, f, W, COLUMNS, p)[0]):
        np.testing.assert_allclose(gradient, A.T @ y, atol=ROUNDING)
    for total in (squares, pose_sums.gradient(X, f, W, COLUMNS, p)[1]):
        assert total == pytest.approx(y @ y)
    np.testing.assert_allclose(pose_sums.whitened(X, f, root, COLUMNS, p), np.column_stack([A, y]), atol=ROUNDING)
    without_last = pose_sums.whitened(X, f, root, COLUMNS, p - 1)
    np.testing.assert_allclose(without_last, np.column_stack([A[:, :-1], y]), atol=ROUNDING)


def test_poses_left_out(rng):
    N = 70
    X, f, S = rng.normal(size=(N, n, m)), rng.normal(size=(N, n)), positive(rng, N, n)
    root = pose_sums.inverse_factors(S)
    A, y = (root @ dense(X)).reshape(-1, p), (root @ f[..., None]).reshape(-1)
    shift = np.linalg.lstsq(A, y, rcond=None)[0]
    r = f - (X * shift[COLUMNS]).sum(axis=2)
    rows = np.array([0, 5, 64, 69])
    removes, trace = pose_sums.left_out(X, r, root, COLUMNS, np.linalg.inv(A.T @ A), rows)
    left = np.linalg.lstsq(A, y, rcond=None)[1][0]
    for k, pose in enumerate(rows):
        others = np.delete(np.arange(N * n), np.arange(n) + n * pose)
        assert left - np.linalg.lstsq(A[others], y[others], rcond=None)[1][0] == pytest.approx(removes[k])
    assert (trace >= n - ROUNDING).all()


def test_products_from_each_segment_on(rng):
    N = 20
    X, f, S = rng.normal(size=(N, n, m)), rng.normal(size=(N, n)), positive(rng, N, n)
    root = pose_sums.inverse_factors(S)
    W, E = pose_sums.weights_of_roots(root), rng.normal(size=(N, n, 3))
    poses, ends, first = np.arange(1, 20), np.array([7, 13, 19]), np.array([0, 1, 1])
    by_model, along, gram = pose_sums.later_products(E, X, f, W, COLUMNS, p, first, poses, ends)
    for segment, begin in enumerate([0, 7, 13]):
        rows = poses[begin:]
        A, y, e = ((root[rows] @ each[rows]).reshape(len(rows) * n, -1) for each in (dense(X), f[..., None], E))
        np.testing.assert_allclose(by_model[segment], A.T @ e, atol=ROUNDING)
        np.testing.assert_allclose(along[segment], y[:, 0] @ e, atol=ROUNDING)
        np.testing.assert_allclose(gram[segment, 0, 0], e[:, 0] @ e[:, 0], atol=ROUNDING)
        np.testing.assert_allclose(gram[segment, 1:], e[:, 1:].T @ e[:, 1:], atol=ROUNDING)


def test_poses_left_out_one_after_the_other(rng):
    N, most = 30, 4
    X, f, S = rng.normal(size=(N, n, m)), rng.normal(size=(N, n)), positive(rng, N, n)
    f[[4, 9]] += 5.0
    root, kept = pose_sums.inverse_factors(S), np.arange(1, N)
    A, y = (root @ dense(X)), (root @ f[..., None])[..., 0]

    def squares(rows):
        return float(np.linalg.lstsq(A[rows].reshape(-1, p), y[rows].reshape(-1), rcond=None)[1][0])

    a, b = A[kept].reshape(-1, p), y[kept].reshape(-1)
    M = np.zeros((p + 1, p + 1))
    M[:p, :p] = np.linalg.inv(a.T @ a)
    r = f - (X * np.linalg.lstsq(a, b, rcond=None)[0][COLUMNS]).sum(axis=2)
    poses, lefts = pose_sums.left_out_in_turn(X, r, root, COLUMNS, M, kept, most, squares(kept), 1e-6)
    left = kept
    for pose, value in zip(poses, lefts, strict=True):
        each = [squares(np.setdiff1d(left, [k])) for k in left]
        assert pose == left[int(np.argmin(each))]
        assert value == pytest.approx(min(each))
        left = np.setdiff1d(left, [pose])
    assert len(poses) == most


def test_steps_downhill_leave_held_unknowns(rng):
    A, free = rng.normal(size=(12, 5)), np.array([0, 2, 3])
    H, g = A.T @ A, rng.normal(size=5)
    scale = np.sqrt(H.diagonal()[free])
    for damping in (0.0, 0.1):
        part = H[np.ix_(free, free)]
        expected = -np.linalg.solve(part + damping * np.diag(part.diagonal()), g[free])
        step, largest = pose_sums.downhill(H, g, free, damping)
        np.testing.assert_allclose(step, expected, atol=ROUNDING)
        assert largest == pytest.approx(abs(expected * scale).max())
    with pytest.raises(np.linalg.LinAlgError):
        pose_sums.downhill(np.ones((5, 5)), g, free, 0.0)


@each_count
def test_weighted_squares(N, rng):
    f, S = rng.normal(size=(N, n)), positive(rng, N, n)
    W = pose_sums.weights_of_roots(pose_sums.inverse_factors(S))
    expected = np.einsum("si,sij,sj->", f, np.linalg.inv(S), f)
    assert pose_sums.weighted_squares(f, W) == pytest.approx(expected)
