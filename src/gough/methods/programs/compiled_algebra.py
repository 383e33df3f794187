"""Dense linear algebra for compiled code, where calls into BLAS would cost more than they do; imports numba."""

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled_loosely as compiled


@compiled
def invert(M: Array) -> bool:  # noqa: C901 - elimination has three loops
    """M ← M⁻¹ by Gauss and Jordan with row pivoting; False if it is singular."""
    n = len(M)
    order = np.empty(n, np.int64)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        order[k] = best
        if not abs(M[best, k]) > 1e-13:
            return False
        for j in range(n):
            M[k, j], M[best, j] = M[best, j], M[k, j]
        pivot = 1.0 / M[k, k]
        M[k, k] = 1.0
        for j in range(n):
            M[k, j] *= pivot
        for i in range(n):
            if i != k:
                factor = M[i, k]
                M[i, k] = 0.0
                for j in range(n):
                    M[i, j] -= factor * M[k, j]
    for k in range(n - 1, -1, -1):
        if order[k] != k:
            for i in range(n):
                M[i, k], M[i, order[k]] = M[i, order[k]], M[i, k]
    return True


@compiled
def dot(a: Array, b: Array) -> float:
    """Σ a b."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@compiled
def spread(G: Array, m: int, x: Array, result: Array) -> None:
    """G x."""
    for k in range(m):
        result[k] = 0.0
    for j in range(len(x)):
        v = x[j]
        if v != 0.0:
            for k in range(m):
                result[k] += v * G[j, k]
