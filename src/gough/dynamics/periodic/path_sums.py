"""Residuals of a robot along a path and sums of their derivatives, compiled by numba; importing this imports numba.

Samples are taken in groups, and the innermost loop runs over the samples of a group, so that eight of them are one
instruction where the processor has AVX-512. Roots (1 or samples, c, c) are those of `inverse_roots`. Where they leave
`apart` rows of positions alone, those have nothing to do with efforts.
"""
# ruff: noqa: C901, PLR0912, PLR0917 - loops are what is compiled

from math import pi

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.compiled_kernels import compiled_loosely as compiled

_GROUP = 64


@compiled
def residuals(measured: Array, q: Array, W: Array, p: Array, turns: Mask) -> Array:
    """Measured minus (q, W p), (samples, c); where a position `turns`, whole turns do not count."""
    N, n = q.shape
    f = np.empty(measured.shape)
    for s in range(N):
        for i in range(n):
            away = measured[s, i] - q[s, i]
            if turns[i] and abs(away) > pi:
                away = (away + pi) % (2 * pi) - pi
            f[s, i] = away
        for i in range(W.shape[1]):
            total = 0.0
            for j in range(len(p)):
                total += W[s, i, j] * p[j]
            f[s, n + i] = measured[s, n + i] - total
    return f


@compiled
def apart(roots: Array, n: int) -> int:
    """The number n of first rows where the roots do not mix them with the others, else 0."""
    for s in range(len(roots)):
        for i in range(n):
            for j in range(n, roots.shape[1]):
                if roots[s, i, j] != 0.0 or roots[s, j, i] != 0.0:
                    return 0
    return n


@compiled
def whitened(f: Array, roots: Array) -> Array:
    """(c, samples): residuals (samples, c) multiplied by the roots."""
    N, c = f.shape
    u = np.empty((c, N))
    for s in range(N):
        L = roots[s if len(roots) > 1 else 0]
        for i in range(c):
            total = 0.0
            for j in range(c):
                total += L[i, j] * f[s, j]
            u[i, s] = total
    return u


@compiled
def pulled_back(u: Array, roots: Array, n: int) -> tuple[Array, Array]:
    """What multiplies the derivatives of positions (samples, n) and of efforts in the gradient: roots, turned, times u.

    u is (c, samples).
    """
    c, N = u.shape
    of_positions, of_efforts = np.zeros((N, n)), np.zeros((N, c - n))
    for s in range(N):
        L = roots[s if len(roots) > 1 else 0]
        for i in range(c):
            for j in range(n):
                of_positions[s, j] += L[i, j] * u[i, s]
            for j in range(n, c):
                of_efforts[s, j - n] += L[i, j] * u[i, s]
    return of_positions, of_efforts


@compiled
def _group_of_roots(roots: Array, start: int, size: int, L: Array) -> None:
    """The roots (c, c, group) of some samples."""
    c = roots.shape[1]
    for i in range(c):
        for j in range(c):
            if len(roots) > 1:
                for s in range(size):
                    L[i, j, s] = roots[start + s, i, j]
            elif start == 0:
                for s in range(_GROUP):
                    L[i, j, s] = roots[0, i, j]


@compiled
def _add_products(X: Array, i: int, Y: Array, j: int, rows: tuple[int, int], size: int, total: Array, at: int) -> None:
    """Add Σ_r X_ir Y_jr over some rows r, two at a time, to a row of a total.

    Indices of samples begin at zero, and no part of an array is taken out: either would cost more than the products.
    """
    first, last = rows
    for r in range(first, last - 1, 2):
        for s in range(size):
            total[at, s] += X[i, r, s] * Y[j, r, s] + X[i, r + 1, s] * Y[j, r + 1, s]
    if (last - first) % 2 == 1:
        for s in range(size):
            total[at, s] += X[i, last - 1, s] * Y[j, last - 1, s]


@compiled
def whitened_columns(W: Array, columns: Integers, roots: Array, alone: int) -> Array:
    """Columns of W (samples, actuators, parameters) multiplied by the roots, (columns, c − alone, samples).

    The first rows, which are `alone`, vanish and are left out.
    """
    N, n_efforts, _ = W.shape
    c, k = roots.shape[1], len(columns)
    rows = c - alone
    A, part = np.empty((k * rows, N)), np.empty((k * rows, _GROUP))
    L, w = np.empty((c, c, _GROUP)), np.zeros((k, c, _GROUP))
    for start in range(0, N, _GROUP):
        size = min(_GROUP, N - start)
        _group_of_roots(roots, start, size, L)
        for i in range(n_efforts):
            for a in range(k):
                for s in range(size):
                    w[a, c - n_efforts + i, s] = W[start + s, i, columns[a]]
        part[:] = 0.0
        for a in range(k):
            for r in range(rows):
                _add_products(L, alone + r, w, a, (c - n_efforts, c), size, part, a * rows + r)
        A[:, start : start + size] = part[:, :size]
    return A.reshape(k, rows, N)


@compiled
def path_products(
    positions: Array, efforts: Array, A: Array, u: Array, roots: Array, alone: int
) -> tuple[Array, Array]:
    """Products Kᵀ K and Kᵀ [A u] of each sample; K are the whitened derivatives by path, velocity and acceleration.

    Args:
        positions: (samples, n, m) derivatives by the path.
        efforts: (samples, c − n, 3, m).
        A: As of `whitened_columns`.
        u: (c, samples).
        roots: As everywhere here.
        alone: As of `apart`.

    Returns:
        (3m (3m + 1) / 2, samples), the lower triangle row by row, and (3, (k + 1) m, samples).
    """
    N, n, m = positions.shape
    c, k = len(u), len(A)
    squares, mixed = np.empty((3 * m * (3 * m + 1) // 2, N)), np.empty((3 * (k + 1) * m, N))
    squared, product = np.empty((len(squares), _GROUP)), np.empty((len(mixed), _GROUP))
    L, J, K = np.empty((c, c, _GROUP)), np.zeros((3 * m, c, _GROUP)), np.empty((3 * m * c, _GROUP))
    X, Y = K.reshape(3 * m, c, _GROUP), np.empty((k + 1, c, _GROUP))
    for start in range(0, N, _GROUP):
        size = min(_GROUP, N - start)
        _group_of_roots(roots, start, size, L)
        Y[:k, alone:, :size], Y[k, :, :size] = A[:, :, start : start + size], u[:, start : start + size]
        for a in range(m):
            for i in range(n):
                for s in range(size):
                    J[a, i, s] = positions[start + s, i, a]
        for d in range(3):
            for a in range(m):
                for i in range(c - n):
                    for s in range(size):
                        J[d * m + a, n + i, s] = efforts[start + s, i, d, a]
        K[:], squared[:], product[:] = 0.0, 0.0, 0.0
        for a in range(3 * m):
            for r in range(0 if a < m else alone, c):
                rows = (0, n) if r < alone else (n, c) if alone > 0 or a >= m else (0, c)
                _add_products(L, r, J, a, rows, size, K, a * c + r)
        for a in range(3 * m):
            d, at = a // m, a % m
            rows = (0, c) if a < m else (alone, c)
            for b in range(a + 1):
                _add_products(X, a, X, b, rows, size, squared, a * (a + 1) // 2 + b)
            for j in range(k):
                _add_products(X, a, Y, j, (alone, c), size, product, (d * (k + 1) + j) * m + at)
            _add_products(X, a, Y, k, rows, size, product, (d * (k + 1) + k) * m + at)
        squares[:, start : start + size] = squared[:, :size]
        mixed[:, start : start + size] = product[:, :size]
    return squares, mixed.reshape(3, (k + 1) * m, N)
