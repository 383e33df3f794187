"""Roots of the covariances of many samples of a few rows, compiled by numba; importing this module imports numba.

The innermost loop runs over samples, so that eight of them are one instruction where the processor has AVX-512.
"""
# ruff: noqa: C901, PLR0912 - loops are what is compiled

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled_loosely as compiled

_GROUP = 64
_SWEEPS = 30
_ROUNDING = 1e-31
"""Squares of entries outside the diagonal, over those of the diagonal, at which a matrix counts as diagonal."""


@compiled
def inverse_roots(K: Array) -> Array:
    """K^(-1/2) of positive definite matrices (samples, n, n), by Jacobi's rotations; NaN of others."""
    N, n, _ = K.shape
    result = np.empty((N, n, n))
    A, V = np.empty((n, n, _GROUP)), np.empty((n, n, _GROUP))
    c, s = np.empty(_GROUP), np.empty(_GROUP)
    for start in range(0, N, _GROUP):
        size = min(_GROUP, N - start)
        for i in range(n):
            for j in range(n):
                for k in range(size):
                    A[i, j, k] = K[start + k, i, j]
                    V[i, j, k] = 1.0 if i == j else 0.0
        for _ in range(_SWEEPS):
            is_diagonal = True
            for k in range(size):
                beside, least = 0.0, np.inf
                for i in range(n):
                    least = min(least, A[i, i, k] * A[i, i, k])
                    for j in range(i):
                        beside += A[i, j, k] * A[i, j, k]
                is_diagonal &= beside <= _ROUNDING * least
            if is_diagonal:
                break
            for p in range(1, n):
                for q in range(p):
                    for k in range(size):
                        beside = A[p, q, k]
                        safe = beside if beside != 0.0 else 1.0
                        ratio = (A[q, q, k] - A[p, p, k]) / (2 * safe)
                        t = 1 / (abs(ratio) + np.sqrt(1 + ratio * ratio))
                        t = t if ratio >= 0 else -t
                        t = t if beside != 0.0 else 0.0
                        A[p, p, k] -= t * beside
                        A[q, q, k] += t * beside
                        A[p, q, k] = 0.0
                        c[k] = 1 / np.sqrt(1 + t * t)
                        s[k] = t * c[k]
                    for i in range(n):
                        if i not in (p, q):  # entries below the diagonal stand for those above it
                            a, b = max(i, p), min(i, p)
                            d, e = max(i, q), min(i, q)
                            for k in range(size):
                                x, y = A[a, b, k], A[d, e, k]
                                A[a, b, k] = c[k] * x - s[k] * y
                                A[d, e, k] = s[k] * x + c[k] * y
                        for k in range(size):
                            x, y = V[i, p, k], V[i, q, k]
                            V[i, p, k] = c[k] * x - s[k] * y
                            V[i, q, k] = s[k] * x + c[k] * y
        for j in range(n):
            for k in range(size):
                s[k] = 1 / np.sqrt(np.sqrt(A[j, j, k]))
            for i in range(n):
                for k in range(size):
                    V[i, j, k] *= s[k]
        for i in range(n):
            for j in range(i + 1):
                for k in range(size):
                    s[k] = 0.0
                for a in range(n):
                    for k in range(size):
                        s[k] += V[i, a, k] * V[j, a, k]
                for k in range(size):
                    result[start + k, i, j] = s[k]
                    result[start + k, j, i] = s[k]
    return result
