"""Sums over poses of small matrices, compiled by numba; importing this module imports numba.

Poses are taken in groups, and the innermost loop runs over the poses of a group, so that eight of them are one
instruction where the processor has AVX-512. A matrix for each pose is (n, n, poses).
"""
# ruff: noqa: C901, PLR0912, PLR0917 - loops are what is compiled

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.compiled_kernels import compiled_loosely as compiled

_GROUP = 64
_LANES = 8
"""Numbers in one instruction, where the processor has AVX-512."""


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
def side_by_side(X: Array, f: Array, root: Array, rows: Integers) -> tuple[Array, Array, Array]:
    """X (n, k, rows), L (n, n, rows) and r = L f (n, rows) of some poses; arguments are as of `whitened`."""
    n, m = X.shape[1:]
    size = len(rows)
    x, L, r = np.empty((n, m, size)), np.empty((n, n, size)), np.zeros((n, size))
    for s in range(size):
        for i in range(n):
            for a in range(m):
                x[i, a, s] = X[rows[s], i, a]
            for j in range(i + 1):
                L[i, j, s] = root[rows[s], i, j]
                r[i, s] += root[rows[s], i, j] * f[rows[s], j]
    return x, L, r


@compiled
def unexplained(x: Array, L: Array, columns: Integers, M: Array) -> Array:
    """I − H (n, n, poses) with H = L X M Xᵀ Lᵀ, from X and L as of `side_by_side`, and M the inverse of JᵀJ."""
    n, m, size = x.shape
    left, along = np.empty((n, n, size)), np.empty((m, size))
    H, D = np.empty((n, n, size)), np.empty((n, n, size))
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
    for i in range(n):
        for j in range(n):
            left[i, j] = 0.0
            for k in range(i + 1):
                for s in range(size):
                    left[i, j, s] += L[i, k, s] * H[k, j, s]
    for i in range(n):
        for j in range(i + 1):
            D[i, j] = 1.0 if i == j else 0.0
            for k in range(j + 1):
                for s in range(size):
                    D[i, j, s] -= left[i, k, s] * L[j, k, s]
            D[j, i] = D[i, j]
    return D


@compiled
def judged(inverse: Array, r: Array) -> tuple[Array, Array]:
    """Of each pose rᵀ A r, from A (n, n, poses) and r (n, poses), and the trace of A.

    The trace is infinite where a diagonal entry is not positive; it is a bound of the eigenvalues of a positive A.
    """
    n, N = r.shape
    squares, trace = np.zeros(N), np.zeros(N)
    for i in range(n):
        for s in range(N):
            trace[s] += inverse[i, i, s] if inverse[i, i, s] > 0.0 else np.inf
        for j in range(n):
            for s in range(N):
                squares[s] += r[i, s] * inverse[i, j, s] * r[j, s]
    return squares, trace


@compiled
def left_out(X: Array, f: Array, root: Array, columns: Integers, M: Array, rows: Integers) -> tuple[Array, Array]:
    """By how much the sum of squares decreases without each of some poses: rᵀ (I − H)⁻¹ r, with r = L f.

    And the trace of (I − H)⁻¹, as of `judged`. H is as of `unexplained`, and the rest as of `whitened`.
    """
    removes, trace = np.empty(len(rows)), np.empty(len(rows))
    for start in range(0, len(rows), _GROUP):
        x, L, r = side_by_side(X, f, root, rows[start : start + _GROUP])
        inverse = unexplained(x, L, columns, M)
        invert(inverse)
        removes[start : start + _GROUP], trace[start : start + _GROUP] = judged(inverse, r)
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
    by_model, along = np.empty((len(ends), p, k)), np.empty((len(ends), k))
    gram = np.zeros((len(ends), k, widest))
    wide = -(-k // _LANES) * _LANES  # innermost loops have no rest
    e, pushed, of_model = np.zeros((n, wide)), np.empty(wide), np.zeros((p, wide))
    with_errors, before = np.zeros(wide), np.zeros((widest, wide))  # before[d, a]: of column a with the d-th before it
    for segment in range(len(ends) - 1, -1, -1):
        for s in poses[ends[segment - 1] if segment else 0 : ends[segment]]:
            e[:, :k] = E[s]
            for i in range(n):
                pushed[:] = 0.0
                for j in range(n):
                    weight = W[i, j, s]
                    for a in range(wide):
                        pushed[a] += weight * e[j, a]
                for b in range(m):
                    factor, place = X[s, i, b], columns[i, b]
                    for a in range(wide):
                        of_model[place, a] += factor * pushed[a]
                error = f[s, i]
                for a in range(wide):
                    with_errors[a] += error * pushed[a]
                for d in range(widest):
                    for a in range(wide - d):
                        before[d, a + d] += e[i, a] * pushed[a + d]
        by_model[segment], along[segment] = of_model[:, :k], with_errors[:k]
        for a in range(k):
            for b in range(first[a], a + 1):
                gram[segment, a, b - first[a]] = before[a - b, a]
                gram[segment, b, a - first[a]] = before[a - b, a]
    return by_model, along, gram


@compiled
def turns(R: Array, middle: int) -> Array:
    """Rotation vectors (poses, 3) from one of the rotations (poses, 3, 3) to each, less their mean."""
    result, D, q = np.empty((len(R), 3)), np.empty((3, 3)), np.empty(4)
    mean = np.zeros(3)
    for s in range(len(R)):
        for a in range(3):
            for b in range(3):
                D[a, b] = 0.0
                for c in range(3):
                    D[a, b] += R[s, a, c] * R[middle, b, c]
        trace, best = D[0, 0] + D[1, 1] + D[2, 2], 0
        for a in range(1, 3):
            best = a if D[a, a] > D[best, best] else best
        i, j = (best + 1) % 3, (best + 2) % 3
        if trace > D[best, best]:  # 4 q qᵀ: its row with the largest diagonal is the most exact
            q[0] = 1 + trace
            q[1], q[2], q[3] = D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]
        else:
            q[0] = D[j, i] - D[i, j]
            q[1 + best] = 1 - trace + 2 * D[best, best]
            q[1 + i], q[1 + j] = D[i, best] + D[best, i], D[j, best] + D[best, j]
        sine, sign = np.sqrt(q[1] ** 2 + q[2] ** 2 + q[3] ** 2), 1.0 if q[0] >= 0 else -1.0
        factor = 2 * np.arctan2(sine, abs(q[0])) / sine if sine > 0 else 0.0
        for a in range(3):
            result[s, a] = sign * factor * q[1 + a]
            mean[a] += result[s, a] / len(R)
    result -= mean
    return result


@compiled
def slopes(predicted: Array, readings: Array) -> tuple[Array, Array]:
    """Of each chain the slope of readings (N, n) over predicted ones, and the part of their variance that is left."""
    N, n = readings.shape
    slope, left = np.empty(n), np.empty(n)
    for i in range(n):
        a, b = predicted[:, i] - predicted[:, i].sum() / N, readings[:, i] - readings[:, i].sum() / N
        slope[i] = (a * b).sum() / max((a * a).sum(), 1e-300)
        left[i] = ((b - slope[i] * a) ** 2).sum() / max((b * b).sum(), 1e-300)
    return slope, left


@compiled
def closures(before: Array, after: Array, readings: Array) -> tuple[Array, Integers, Array]:
    """Of closure errors (N, n): sums of squares (2, n), the pose with the largest afterwards, and two correlations.

    The correlations (2, n) are those of what is left with the reading, and with the direction that it came from; 0
    where one does not vary.
    """
    N, n = after.shape
    squares, worst, correlations = np.zeros((2, n)), np.zeros(n, dtype=np.int64), np.zeros((2, n))
    others = np.zeros((2, N))
    for i in range(n):
        for s in range(N):
            squares[0, i] += before[s, i] ** 2
            squares[1, i] += after[s, i] ** 2
            worst[i] = s if abs(after[s, i]) > abs(after[worst[i], i]) else worst[i]
            others[0, s] = readings[s, i]
            others[1, s] = np.sign(readings[s, i] - readings[s - 1, i]) if s else 0.0
        a = after[:, i] - after[:, i].sum() / N
        for k in range(2):
            b = others[k] - others[k].sum() / N
            size = np.sqrt((a * a).sum() * (b * b).sum())
            correlations[k, i] = (a * b).sum() / size if size > 0 else 0.0
    return squares, worst, correlations


@compiled
def inverse_root(H: Array) -> Array:
    """K with Kᵀ H K = I, an upper triangle, by Cholesky's factorization of H scaled to a unit diagonal; NaN if none."""
    p = len(H)
    size, L, B = np.empty(p), np.zeros((p, p)), np.zeros((p, p))
    for i in range(p):
        size[i] = np.sqrt(H[i, i]) if H[i, i] > 0 else 1.0
    for i in range(p):
        for j in range(i + 1):
            total = H[i, j] / (size[i] * size[j])
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(total) if i == j else total / L[j, j]
    for i in range(p):  # rows of L⁻¹
        B[i, i] = 1.0
        for k in range(i):
            factor = L[i, k]
            for j in range(k + 1):
                B[i, j] -= factor * B[k, j]
        for j in range(i + 1):
            B[i, j] /= L[i, i]
    return np.ascontiguousarray(B.T) / size.reshape(-1, 1)


@compiled
def downhill(H: Array, g: Array, free: Integers, damping: float) -> tuple[Array, float]:
    """The step −(H + damping · diag H)⁻¹ g of the unknowns that are free, and its largest entry in units of 1/√H_kk.

    Raises:
        LinAlgError: the matrix is singular.
    """
    p = len(free)
    A, b, scale = np.empty((p, p)), np.empty(p), np.empty(p)
    for i in range(p):
        scale[i] = np.sqrt(H[free[i], free[i]]) + 1e-300
        b[i] = g[free[i]] / scale[i]
    for i in range(p):
        for j in range(p):
            A[i, j] = H[free[i], free[j]] / (scale[i] * scale[j])
        A[i, i] += damping
    step = -np.linalg.solve(A, b)
    return step / scale, np.abs(step).max()


@compiled
def weighted_squares(f: Array, W: Array) -> float:
    """The sum of fᵀ W f over the poses, from f (poses, n) and W (n, n, poses)."""
    N, n = f.shape
    total = 0.0
    for i in range(n):
        for j in range(n):
            for s in range(N):
                total += f[s, i] * W[i, j, s] * f[s, j]
    return total


@compiled
def shifted(X: Array, f: Array, columns: Integers, shift: Array) -> Array:
    """Closure errors f (poses, n) less X shift; unknowns beyond the shift are held."""
    N, n, m = X.shape
    left = f.copy()
    for i in range(n):
        for a in range(m):
            if columns[i, a] < len(shift):
                for s in range(N):
                    left[s, i] -= X[s, i, a] * shift[columns[i, a]]
    return left


@compiled
def solution(
    X: Array, f: Array, W: Array, columns: Integers, p: int, certain: Integers
) -> tuple[Array, Array, float, float]:
    """Least squares of f + X δ (poses, n) with weights W (n, n, poses) and of 0 + δ of some unknowns.

    They are K with K Kᵀ = (JᵀJ)⁻¹, −δ, the sum of squares that is left, and that of the scaled K, which is a bound of
    the inverse of the smallest eigenvalue; not finite where there is none.

    Args:
        X: (poses, n, k) derivatives of each chain by its own unknowns.
        f: (poses, n).
        W: (n, n, poses).
        columns: (n, k) numbers of these unknowns; `p` for those that are held.
        p: Number of all unknowns.
        certain: Unknowns that are zero, with standard deviation 1.
    """
    H, g, _ = normal(X, f, W, columns, p + 1)
    for k in certain:
        H[k, k] += 1.0
    K = inverse_root(np.ascontiguousarray(H[:p, :p]))
    bound, shift, squares = 0.0, np.zeros(p), 0.0
    for i in range(p):
        for j in range(p):
            bound += K[i, j] ** 2 * (H[i, i] if H[i, i] > 0 else 1.0)
    for turn in range(3):
        if turn > 0:  # the second is the correction of rounding
            g, squares = gradient(X, shifted(X, f, columns, shift), W, columns, p + 1)
            for k in certain:
                g[k] -= shift[k]
                squares += shift[k] ** 2
        if turn < 2:
            along = np.zeros(p)
            for i in range(p):
                for j in range(p):
                    along[j] += K[i, j] * g[i]
            for i in range(p):
                for j in range(p):
                    shift[i] += K[i, j] * along[j]
    return K, shift, squares, bound


@compiled
def left_out_in_turn(
    X: Array,
    f: Array,
    root: Array,
    columns: Integers,
    M: Array,
    kept: Integers,
    most: int,
    squares: float,
    least: float,
) -> tuple[Integers, Array]:
    """Poses by how badly they fit, each without those before it, and the sums of squares without so many of them.

    They are fewer than `most` where, without some pose, the others determine the unknowns hardly better than it did, or
    leave no squares: where eigenvalues of I − H are below `least`, or the part of the squares that is left.

    Args:
        X: (poses, n, k).
        f: (poses, n) what the fit to the poses that are kept leaves.
        root: (poses, n, n).
        columns: (n, k).
        M: (p + 1, p + 1) (JᵀJ)⁻¹, and zeros.
        kept: Numbers of the poses that were fitted.
        most: How many are left out.
        squares: Of what the fit leaves.
        least: As above.
    """
    # without a pose, with I − H = D, the H of another pose with it adds H D⁻¹ Hᵀ to that pose's own, and H D⁻¹ r to r
    n, m = X.shape[1:]
    p, N = len(M) - 1, len(kept)
    x, L, r = side_by_side(X, f, root, kept)
    D, M, is_kept = unexplained(x, L, columns, M), M.copy(), np.ones(N, dtype=np.bool_)
    H, pushed, row = np.empty((n, n, N)), np.empty((n, n, N)), np.empty(N)
    dropped, lefts = np.empty(most, dtype=np.int64), np.empty(most)
    for count in range(most):
        inverse = D.copy()
        invert(inverse)
        removes, trace = judged(inverse, r)
        worst, certain = 0, True
        for s in range(N):
            if is_kept[s]:
                certain = certain and trace[s] < 1 / least
                worst = s if not is_kept[worst] or removes[s] > removes[worst] else worst
        left = squares - removes[worst]
        if not certain or not left > least * squares:
            return dropped[:count], lefts[:count]
        A, e = inverse[:, :, worst].copy(), r[:, worst].copy()
        pose = slice(kept[worst], kept[worst] + 1)
        own = whitened(X[pose], f[pose], root[pose], columns, p + 1)[:, : p + 1]
        V = np.dot(M, np.ascontiguousarray(own.T))  # of the worst pose M Xᵀ Lᵀ, and zeros
        M += np.dot(np.dot(V, A), np.ascontiguousarray(V.T))
        for j in range(n):
            H[:, j] = 0.0
            for i in range(n):
                row[:] = 0.0
                for a in range(m):
                    factor = V[columns[i, a], j]
                    for s in range(N):
                        row[s] += factor * x[i, a, s]
                for b in range(i, n):
                    for s in range(N):
                        H[b, j, s] += L[b, i, s] * row[s]
        for i in range(n):
            for j in range(n):
                pushed[i, j] = 0.0
                for a in range(n):
                    factor = A[a, j]
                    for s in range(N):
                        pushed[i, j, s] += factor * H[i, a, s]
        for i in range(n):
            for a in range(n):
                factor = e[a]
                for s in range(N):
                    r[i, s] += factor * pushed[i, a, s]
                for j in range(n):
                    for s in range(N):
                        D[i, j, s] -= pushed[i, a, s] * H[j, a, s]
        is_kept[worst] = False
        dropped[count], lefts[count], squares = kept[worst], left, left
    return dropped, lefts


@compiled
def taken(
    by_model: Array,
    along: Array,
    gram: Array,
    K: Array,
    starts: Integers,
    widths: Integers,
    segments: Integers,
    largest: float,
) -> tuple[Array, Array, Array, Array, Array, Mask]:
    """What alternatives take out of the squares, from `later_products` and the root K (p, rank) of the model's fit.

    For each alternative and the first of its segments: values (…, widest), their variances at unit noise, the
    decrease of the squares, and products (…, widest, widest) of what the model leaves of its columns, with their
    lengths; and whether variances of columns of unit length are positive, and in all less than `largest`.

    Args:
        by_model: (segments, p + 1, k).
        along: (segments, k).
        gram: (segments, k, widest).
        K: (p, rank).
        starts: First columns of the alternatives.
        widths: Numbers of their columns.
        segments: The first segment of each.
        largest: As above.
    """
    count, widest, (p, rank) = len(starts), gram.shape[2], K.shape
    ends = np.cumsum(widths)
    columns = np.empty((ends[-1], p))
    for c in range(count):
        for b in range(p):
            for a in range(widths[c]):
                columns[ends[c] - widths[c] + a, b] = by_model[segments[c], b, starts[c] + a]
    absorbed = np.dot(columns, K)
    values, variances = np.zeros((count, widest)), np.zeros((count, widest))
    size, products, removes = np.ones((count, widest)), np.zeros((count, widest, widest)), np.zeros(count)
    inverse = np.zeros((widest, widest, count))
    for c in range(count):
        w, begin, segment = widths[c], ends[c] - widths[c], segments[c]
        for a in range(widest):
            inverse[a, a, c] = 1.0
        for a in range(w):
            own = gram[segment, starts[c] + a, a]
            size[c, a] = np.sqrt(own) if own > 0 else 1.0
            for b in range(a + 1):
                left = gram[segment, starts[c] + a, b]
                for r in range(rank):
                    left -= absorbed[begin + a, r] * absorbed[begin + b, r]
                left /= size[c, a] * size[c, b]
                products[c, a, b], products[c, b, a] = left, left
                inverse[a, b, c], inverse[b, a, c] = left, left
    invert(inverse)
    is_clear = np.empty(count, dtype=np.bool_)
    for c in range(count):
        total, least = 0.0, np.inf
        for a in range(widths[c]):
            total += inverse[a, a, c]
            least = min(least, inverse[a, a, c])
        is_clear[c] = total < largest and least > 0
        for a in range(widths[c]):
            for b in range(widths[c]):
                values[c, a] -= inverse[a, b, c] * along[segments[c], starts[c] + b] / size[c, b]
            removes[c] -= values[c, a] * along[segments[c], starts[c] + a] / size[c, a]
            variances[c, a] = inverse[a, a, c]
    return values, variances, removes, products, size, is_clear


@compiled
def at_base(P: Array, position: Array) -> Array:
    """(poses, n, 6): by a shift and a turn about the mean position, from derivatives by pose (poses, n, 6)."""
    N, n, _ = P.shape
    result, d = np.empty((N, n, 6)), np.empty(3)
    middle = np.zeros(3)
    for s in range(N):
        middle += position[s] / N
    for s in range(N):
        d[:] = position[s] - middle
        for i in range(n):
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                result[s, i, a] = P[s, i, a]
                result[s, i, 3 + a] = P[s, i, 3 + a] + d[b] * P[s, i, c] - d[c] * P[s, i, b]
    return result


@compiled
def at_platform(P: Array, rotation: Array) -> Array:
    """(poses, n, 6): by a shift and a turn in the frame of the platform, from derivatives by pose (poses, n, 6)."""
    result = np.zeros(P.shape)
    for s in range(len(P)):
        for i in range(P.shape[1]):
            for a in range(3):
                for b in range(3):
                    result[s, i, b] += P[s, i, a] * rotation[s, a, b]
                    result[s, i, 3 + b] += P[s, i, 3 + a] * rotation[s, a, b]
    return result


@compiled
def spread(P: Array, C: Array, by_reading: Array, variances: Array) -> Array:
    """Covariances (poses, n, n) of closure errors, from those of the poses and variances of the readings.

    Args:
        P: (poses, n, q) derivatives by pose.
        C: (1 or poses, q, q).
        by_reading: (poses, n) derivatives by reading.
        variances: (1 or poses, n).
    """
    N, n, q = P.shape
    S, pushed = np.zeros((N, n, n)), np.empty(q)
    for s in range(N):
        c, v = s if len(C) > 1 else 0, s if len(variances) > 1 else 0
        for i in range(n):
            pushed[:] = 0.0
            for a in range(q):
                for b in range(q):
                    if C[c, a, b] != 0.0:
                        pushed[b] += P[s, i, a] * C[c, a, b]
            for j in range(n):
                for b in range(q):
                    S[s, i, j] += pushed[b] * P[s, j, b]
            S[s, i, i] += by_reading[s, i] ** 2 * variances[v, i]
    return S
