"""Proofs that a matrix is positive definite, or has full column rank, and bounds that come with them.

The factorizations are LAPACK's and untrusted; what is proved is proved of their output, by verified products. A proof
that does not go through says nothing of the matrix.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gough.core.errors import require
from gough.core.midrad import LIMIT, TINY, UNIT, Floats, MatrixLike, MidRad, inflated, parts, upward
from gough.core.products import BLOCK, matmul, residual

_DOWN = 1.0 - math.ldexp(1.0, -48)
_UP = 1.0 + math.ldexp(1.0, -48)
"""Factors that outweigh a dozen roundings."""


def smallest_eigenvalue(A: MatrixLike) -> Floats:
    """A lower bound on the eigenvalues of every symmetric matrix in A, over leading axes; -inf where there is none.

    With G'G close to A - λ I, the eigenvalues of A are at least those of A - G'G, since G'G has none below zero, and
    those are bounded by Gershgorin's circles. [RUM06] factorizes a shifted A likewise, but bounds the error of the
    factorization a priori.

    Examples:
        >>> float(smallest_eigenvalue([[2.0, 1.0], [1.0, 2.0]])) > 1 - 1e-14
        True
    """
    a, a_rad = _symmetric(A)
    with np.errstate(all="ignore"):
        try:
            values, vectors = np.linalg.eigh(a)
        except np.linalg.LinAlgError:
            return np.full(a.shape[:-2], -np.inf)
        root = np.sqrt(np.maximum(values - values[..., :1], 0.0))
        G = root[..., :, None] * np.swapaxes(vectors, -1, -2)
        G = np.where(np.isfinite(G), G, 0.0)  # any G will do
        rest = residual(np.swapaxes(G, -1, -2), G, a if a_rad is None else MidRad(a, a_rad))
        return _gershgorin(rest)


def _gershgorin(E: MidRad) -> Floats:
    """A lower bound on the eigenvalues of the symmetric matrices in E: the least of E_ii - Σ |E_ij|, j != i."""
    n = E.shape[-1]
    diagonal = np.diagonal(E.mid, axis1=-2, axis2=-1)
    off = np.where(np.eye(n, dtype=bool), 0.0, np.abs(E.mid)).sum(axis=-1)
    reach = inflated(off + E.rad.sum(axis=-1), 2 * n) + 16.0 * (n + 1) * TINY
    least: Floats = np.min(-upward(reach - diagonal), axis=-1, initial=np.inf)
    return least


def is_positive_definite(A: MatrixLike) -> NDArray[np.bool_]:
    """Whether every symmetric matrix in A is proved positive definite, over leading axes; independent of units.

    Examples:
        >>> is_positive_definite([[1e20, 1.0], [1.0, 1e-19]]), is_positive_definite([[1.0, 1.0], [1.0, 1.0]])
        (np.True_, np.False_)
    """
    a, a_rad = _symmetric(A)
    diagonal = np.diagonal(a, axis1=-2, axis2=-1)
    candidate = (diagonal >= TINY).all(axis=-1)
    half = -(np.frexp(np.where(diagonal >= TINY, diagonal, 1.0))[1] // 2)
    exponent = half[..., :, None] + half[..., None, :]
    with np.errstate(all="ignore"):
        # D A D with powers of two; 2 TINY before and after: the numbers that may be flushed to zero
        mid = np.ldexp(a, exponent)
        rad = np.ldexp((0.0 if a_rad is None else a_rad) + 2.0 * TINY, exponent) * _UP + 2.0 * TINY
        known = np.abs(mid) <= LIMIT
        scaled = MidRad(np.where(known, mid, 0.0), np.where(known, rad, np.inf))
    proved: NDArray[np.bool_] = candidate & (smallest_eigenvalue(scaled) > 0)
    return proved


def smallest_singular_value(W: MatrixLike) -> float:
    """A lower bound on the singular values of every matrix in W, which is tall; 0.0 if full rank cannot be proved.

    W is read by blocks of rows and never copied.

    Examples:
        >>> smallest_singular_value([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]) > 2 - 1e-12
        True
    """
    gain, X = _preconditioned(W)
    if gain <= 0:
        return 0.0
    p, size = len(X), np.abs(X)
    columns, rows = (inflated(size.sum(axis=axis).max(), p) + 16.0 * p * TINY for axis in (0, 1))
    norm = float(np.sqrt(columns) * np.sqrt(rows)) * _UP  # |X|₂ <= √(|X|₁ |X|∞) [HIG02, §6.3]
    bound = gain / norm * _DOWN
    return bound if bound > math.ldexp(1.0, -1000) and norm <= LIMIT else 0.0


def has_full_column_rank(W: MatrixLike) -> bool:
    """Whether every matrix in W, which is tall, is proved to have linearly independent columns.

    Examples:
        >>> has_full_column_rank([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        True
        >>> has_full_column_rank([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
        False
    """
    return _preconditioned(W)[0] > 0


def _symmetric(A: MatrixLike) -> tuple[Floats, Floats | None]:
    a, a_rad = parts(A)
    require(a.ndim >= 2 and a.shape[-1] == a.shape[-2], f"a symmetric matrix is square, not {a.shape}")
    require(bool(np.isfinite(a).all()), "a symmetric matrix must be finite")
    for part in (a, a_rad):
        symmetric = part is None or bool((part == np.swapaxes(part, -1, -2)).all())
        require(symmetric, "the matrix must be symmetric to the last bit; (A + A.T) / 2 is")
    return a, a_rad


def _preconditioned(W: MatrixLike) -> tuple[float, Floats]:
    """A matrix X and a lower bound on the singular values of W X, not positive if rank(W X) is not proved full.

    T = fl(W X), within Δ of W X, is nearly orthogonal if X inverts the triangular factor of W. Then
    σ(W X) >= √(1 - |I - T'T|) - |Δ|, in norms that bound the spectral one.
    """
    w, w_rad = parts(W)
    require(w.ndim == 2, f"a tall matrix has two axes, not {w.ndim}")
    p = w.shape[1]
    X = _inverse_triangle(w)
    if X is None:
        return 0.0, np.eye(p)
    gram, gram_rad, spread = np.zeros((p, p)), np.zeros((p, p)), np.zeros(())
    with np.errstate(all="ignore"):
        for rows in _blocks(len(w)):
            T = matmul(w[rows] if w_rad is None else MidRad(w[rows], w_rad[rows]), X)
            spread = spread + np.sum(np.square(T.rad))
            square = matmul(T.mid.T, T.mid)
            gram += square.mid
            gram_rad += square.rad + (2.0 * UNIT * np.abs(gram) + 8.0 * TINY)  # the last one: of the sum itself
        n_blocks = len(w) // BLOCK + 1
        spread = inflated(spread, w.size + 2) + 8.0 * w.size * TINY
        distance = np.abs(np.eye(p) - gram) + inflated(gram_rad, 4 * n_blocks)
        alpha = float(inflated(distance.sum(axis=1), p + 4).max(initial=0.0)) + 16.0 * (p + 1) * TINY
        if not alpha < 1:
            return 0.0, X
        gain = np.sqrt(1.0 - alpha) * _DOWN - np.sqrt(spread) * _UP
    return (float(gain) * _DOWN if gain > 0 else 0.0), X


def _inverse_triangle(w: Floats) -> Floats | None:
    """About the inverse of the triangular factor of w [DGHL12], or None if there is none."""
    n, p = w.shape
    R: Floats = np.empty((0, p))
    for rows in _blocks(n):
        R = np.asarray(np.linalg.qr(np.vstack([R, w[rows]]), mode="r"))
    require(bool(np.isfinite(R).all()) or bool(np.isfinite(w).all()), "a matrix must be finite")
    try:
        X: Floats = np.asarray(np.linalg.inv(R) if n >= p else np.full((p, p), np.nan))
    except np.linalg.LinAlgError:
        return None
    return X if np.isfinite(X).all() else None


def _blocks(n: int) -> Iterator[slice]:
    return (slice(k, min(k + BLOCK, n)) for k in range(0, n, BLOCK))
