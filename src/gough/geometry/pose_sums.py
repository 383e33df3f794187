"""Sums over poses of small matrices, compiled by numba; importing this module imports numba.

Poses are taken in groups, and the innermost loop runs over the poses of a group, so that eight of them are one
instruction where the processor has AVX-512. A matrix for each pose is (n, n, poses).
"""
# ruff: noqa: C901, PLR0912, PLR0917 - loops are what is compiled

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.compiled_kernels import compiled_loosely as compiled

_GROUP = 64


@compiled
def invert(A: Array) -> None:
    """Inverses of positive definite matrices (n, n, poses), in place: Gauss–Jordan, which needs no pivots there."""
    n, _, N = A.shape
    column = np.empty((n, N))
    for k in range(n):
        for i in range(n):
            for s in range(N):
                column[i, s] = A[i, k, s]
        for s in range(N):
            A[k, k, s] = 1.0
            column[k, s] = 1 / column[k, s]
        for j in range(n):
            for s in range(N):
                A[k, j, s] *= column[k, s]
        for i in range(n):
            if i != k:
                for s in range(N):
                    A[i, k, s] = 0.0
                for j in range(n):
                    for s in range(N):
                        A[i, j, s] -= column[i, s] * A[k, j, s]


@compiled
def weights(J: Array, C: Array) -> Array:
    """(J C Jᵀ)⁻¹ of each pose, (n, n, poses), from J (poses, n, q) and C (1 or poses, q, q)."""
    N, n, q = J.shape
    W = np.empty((n, n, N))
    j, S = np.empty((n, q, _GROUP)), np.empty((n, n, _GROUP))
    pushed = np.empty((q, _GROUP))
    for start in range(0, N, _GROUP):
        size = min(_GROUP, N - start)
        for i in range(n):
            for a in range(q):
                for s in range(size):
                    j[i, a, s] = J[start + s, i, a]
        for i in range(n):
            pushed[:] = 0.0
            for a in range(q):
                for b in range(q):
                    if len(C) > 1:
                        for s in range(size):
                            pushed[b, s] += j[i, a, s] * C[start + s, a, b]
                    elif C[0, a, b] != 0.0:
                        c = C[0, a, b]
                        for s in range(size):
                            pushed[b, s] += j[i, a, s] * c
            for k in range(i + 1):
                for s in range(_GROUP):
                    S[i, k, s] = 0.0
                for b in range(q):
                    for s in range(size):
                        S[i, k, s] += pushed[b, s] * j[k, b, s]
                for s in range(size):
                    S[k, i, s] = S[i, k, s]
        for s in range(size, _GROUP):
            for i in range(n):
                for k in range(n):
                    S[i, k, s] = 1.0 if i == k else 0.0
        invert(S)
        for i in range(n):
            for k in range(n):
                for s in range(size):
                    W[i, k, start + s] = S[i, k, s]
    return W


@compiled
def inverse_factors(S: Array) -> Array:
    """L⁻¹ (poses, n, n) of covariances L Lᵀ (poses, n, n)."""
    N, n, _ = S.shape
    result = np.zeros((N, n, n))
    A, B = np.empty((n, n, _GROUP)), np.empty((n, n, _GROUP))
    for start in range(0, N, _GROUP):
        size = min(_GROUP, N - start)
        for i in range(n):
            for k in range(n):
                for s in range(size):
                    A[i, k, s] = S[start + s, i, k]
                    B[i, k, s] = 1.0 if i == k else 0.0
        for i in range(n):  # rows of L from the left, with what is taken from them taken from the identity too
            for k in range(i):
                for j in range(k):
                    for s in range(size):
                        A[i, k, s] -= A[i, j, s] * A[k, j, s]
                for s in range(size):
                    A[i, k, s] *= A[k, k, s]
                for j in range(k + 1):
                    for s in range(size):
                        B[i, j, s] -= A[i, k, s] * B[k, j, s]
                for s in range(size):
                    A[i, i, s] -= A[i, k, s] * A[i, k, s]
            for s in range(size):
                A[i, i, s] = 1 / np.sqrt(A[i, i, s])
            for j in range(i + 1):
                for s in range(size):
                    B[i, j, s] *= A[i, i, s]
                    result[start + s, i, j] = B[i, j, s]
    return result


@compiled
def weights_of_roots(root: Array) -> Array:
    """LᵀL (n, n, poses) from lower triangles L (poses, n, n)."""
    N, n, _ = root.shape
    W = np.zeros((n, n, N))
    for i in range(n):
        for j in range(i + 1):
            for k in range(j + 1):
                for s in range(N):
                    W[j, k, s] += root[s, i, j] * root[s, i, k]
    for j in range(n):
        for k in range(j):
            for s in range(N):
                W[k, j, s] = W[j, k, s]
    return W


@compiled
def normal(X: Array, f: Array, W: Array, columns: Integers, p: int) -> tuple[Array, Array, float]:
    """Jᵀ W J (p, p), Jᵀ W f (p,) and fᵀ W f, summed over the poses.

    Args:
        X: (poses, n, k) derivatives of each chain by its own unknowns.
        f: (poses, n).
        W: (n, n, poses).
        columns: (n, k) numbers of these unknowns.
        p: Number of all unknowns.
    """
    N, n, m = X.shape
    H, g, cost = np.zeros((p, p)), np.zeros(p), 0.0
    x, weighted, row = np.empty((n, m, _GROUP)), np.empty((n, _GROUP)), np.empty(_GROUP)
    for start in range(0, N, _GROUP):
        size = min(_GROUP, N - start)
        for i in range(n):
            for a in range(m):
                for s in range(size):
                    x[i, a, s] = X[start + s, i, a]
        for i in range(n):
            for s in range(size):
                weighted[i, s] = 0.0
            for j in range(n):
                for s in range(size):
                    weighted[i, s] += W[i, j, start + s] * f[start + s, j]
            for s in range(size):
                cost += weighted[i, s] * f[start + s, i]
            for a in range(m):
                total = 0.0
                for s in range(size):
                    total += x[i, a, s] * weighted[i, s]
                g[columns[i, a]] += total
        for i in range(n):
            for j in range(i + 1):
                for a in range(m):
                    for s in range(size):
                        row[s] = x[i, a, s] * W[i, j, start + s]
                    for b in range(m):
                        total = 0.0
                        for s in range(size):
                            total += row[s] * x[j, b, s]
                        H[columns[i, a], columns[j, b]] += total
                        if j < i:
                            H[columns[j, b], columns[i, a]] += total
    return H, g, cost


@compiled
def gradient(X: Array, f: Array, W: Array, columns: Integers, p: int) -> tuple[Array, float]:
    """Jᵀ W f (p,) and fᵀ W f, as of `normal`."""
    N, n, m = X.shape
    g, squares = np.zeros(p), 0.0
    for s in range(N):
        for i in range(n):
            weighted = 0.0
            for j in range(n):
                weighted += W[i, j, s] * f[s, j]
            squares += weighted * f[s, i]
            for a in range(m):
                g[columns[i, a]] += X[s, i, a] * weighted
    return g, squares


@compiled
def whitened(X: Array, f: Array, root: Array, columns: Integers, p: int) -> Array:
    """Rows L [J f] (poses · n, p + 1) of poses with lower triangles L (poses, n, n); the rest is as of `normal`.

    Unknowns from number p on are left out.
    """
    N, n, m = X.shape
    A = np.zeros((N * n, p + 1))
    for s in range(N):
        for i in range(n):
            for j in range(i + 1):
                factor = root[s, i, j]
                for a in range(m):
                    if columns[j, a] < p:
                        A[s * n + i, columns[j, a]] += factor * X[s, j, a]
                A[s * n + i, p] += factor * f[s, j]
    return A


@compiled
def left_out(X: Array, f: Array, root: Array, columns: Integers, M: Array, rows: Integers) -> tuple[Array, Array]:
    """By how much the sum of squares decreases without each of some poses: rᵀ (I − H)⁻¹ r.

    With r = L f and H = L X M Xᵀ Lᵀ, where M is (JᵀJ)⁻¹; and the trace of (I − H)⁻¹, whose inverse is a lower
    bound of the eigenvalues; infinite where a diagonal entry is not positive. The rest is as of `whitened`.
    """
    n, m = X.shape[1:]
    removes, trace = np.empty(len(rows)), np.empty(len(rows))
    x, r, L = np.empty((n, m, _GROUP)), np.empty((n, _GROUP)), np.empty((n, n, _GROUP))
    along, H, left = np.empty((m, _GROUP)), np.empty((n, n, _GROUP)), np.empty((n, n, _GROUP))
    for start in range(0, len(rows), _GROUP):
        size = min(_GROUP, len(rows) - start)
        for s in range(size):
            k = rows[start + s]
            for i in range(n):
                for a in range(m):
                    x[i, a, s] = X[k, i, a]
                r[i, s] = 0.0
                for j in range(i + 1):
                    L[i, j, s] = root[k, i, j]
                    r[i, s] += root[k, i, j] * f[k, j]
        for i in range(n):
            for j in range(i + 1):
                H[i, j] = 0.0
                for b in range(m):
                    along[b] = 0.0
                    for a in range(m):
                        factor = M[columns[i, a], columns[j, b]]
                        for s in range(size):
                            along[b, s] += factor * x[i, a, s]
                    for s in range(size):
                        H[i, j, s] += along[b, s] * x[j, b, s]
                H[j, i] = H[i, j]
        for i in range(n):  # I − L H Lᵀ
            for j in range(n):
                along[0] = 0.0
                for k in range(i + 1):
                    for s in range(size):
                        along[0, s] += L[i, k, s] * H[k, j, s]
                left[i, j] = along[0]
        for i in range(n):
            for j in range(i + 1):
                along[0] = 0.0
                for k in range(j + 1):
                    for s in range(size):
                        along[0, s] += left[i, k, s] * L[j, k, s]
                for s in range(_GROUP):
                    H[i, j, s] = (1.0 if i == j else 0.0) - (along[0, s] if s < size else 0.0)
                H[j, i] = H[i, j]
        invert(H)
        for s in range(size):
            total, diagonal = 0.0, 0.0
            for i in range(n):
                diagonal += H[i, i, s] if H[i, i, s] > 0.0 else np.inf
                for j in range(n):
                    total += r[i, s] * H[i, j, s] * r[j, s]
            removes[start + s], trace[start + s] = total, diagonal
    return removes, trace


@compiled
def later_products(
    E: Array, X: Array, f: Array, W: Array, columns: Integers, p: int, first: Integers, poses: Integers, ends: Integers
) -> tuple[Array, Array, Array]:
    """Jᵀ W E, fᵀ W E and Eᵀ W E, summed over the poses from each segment on, for columns E (poses, n, k).

    They are (segments, p, k), (segments, k) and (segments, k, widest): products of columns are of those of the same
    alternative, which begins with column `first` (k,), and the last index counts from there. Segments end where `ends`
    says among the poses that count. The rest is as of `normal`.
    """
    n, k = E.shape[1:]
    m, widest = X.shape[2], 1
    for a in range(k):
        widest = max(widest, a - first[a] + 1)
    by_model, along = np.zeros((len(ends), p, k)), np.zeros((len(ends), k))
    gram = np.zeros((len(ends), k, widest))
    pushed = np.empty(k)
    begin = 0
    for segment in range(len(ends)):
        for s in poses[begin : ends[segment]]:
            for i in range(n):
                pushed[:] = 0.0
                for j in range(n):
                    weight = W[i, j, s]
                    for a in range(k):
                        pushed[a] += weight * E[s, j, a]
                for b in range(m):
                    factor, place = X[s, i, b], columns[i, b]
                    for a in range(k):
                        by_model[segment, place, a] += factor * pushed[a]
                for a in range(k):
                    along[segment, a] += f[s, i] * pushed[a]
                    for b in range(first[a], a + 1):
                        gram[segment, a, b - first[a]] += E[s, i, b] * pushed[a]
        begin = ends[segment]
    for segment in range(len(ends) - 2, -1, -1):
        by_model[segment] += by_model[segment + 1]
        along[segment] += along[segment + 1]
        gram[segment] += gram[segment + 1]
    for a in range(k):
        for b in range(first[a], a):
            gram[:, b, a - first[a]] = gram[:, a, b - first[a]]
    return by_model, along, gram
