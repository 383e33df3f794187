"""Smooth values over an image as polynomials, compiled by numba; importing this module imports numba."""

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.compiled_kernels import compiled

_MOST = 4
"""Largest degree; cross-validation chooses."""
_ROWS_EACH = 2
"""Rows for each coefficient that a polynomial needs at least."""
_FAR = 4.0
"""Standard deviations beyond which a value takes no part in the fit."""


@compiled
def smooth(measured: Array, values: Array, near: Mask, places: Array) -> tuple[Array, Array, Array]:
    """A polynomial through values that are measured at some places, at other ones: value (n,), slope (n, 2), and what
    independent standard normal errors of the coefficients add to the slope (n, 2, k).

    Its degree is one more than that with the least error of prediction (generalized cross-validation [GHW79]): what a
    polynomial leaves out by a little is not in the errors of its coefficients.

    Only values that are `near` and not far from the fit take part. Monomials stand in the order of their degree, so
    that one triangle holds the fits of all degrees.
    """
    count, degree = near.sum(), 1
    while degree < _MOST and count >= _ROWS_EACH * _size(degree + 1):
        degree += 1
    basis = _monomials(measured, degree)
    Q, T = np.linalg.qr(basis[near])
    k, kept = _best(values[near], Q, degree)
    if not kept.all():
        near = near.copy()
        near[np.flatnonzero(near)[~kept]] = False
        Q, T = np.linalg.qr(basis[near])
    Q = np.ascontiguousarray(Q[:, :k])
    y = values[near]
    projected = np.ascontiguousarray(Q.T) @ y
    left = y - Q @ projected
    inverse = np.linalg.inv(np.ascontiguousarray(T[:k, :k]))
    c = inverse @ projected
    factor = np.sqrt((left * left).sum() / max(len(y) - k, 1)) * inverse
    slope, slopes = np.empty((len(places), 2)), np.empty((len(places), 2, k))
    for axis in range(2):
        by = np.ascontiguousarray(_derivatives(places, degree, axis)[:, :k])
        slope[:, axis], slopes[:, axis] = by @ c, by @ factor
    return np.ascontiguousarray(_monomials(places, degree)[:, :k]) @ c, slope, slopes


@compiled
def _size(degree: int) -> int:
    """Number of coefficients."""
    return (degree + 1) * (degree + 2) // 2


@compiled
def _best(y: Array, Q: Array, degree: int) -> tuple[int, Mask]:
    """The number of coefficients that are fitted, and the values that are not far from what predicts best."""
    least, best, near = np.inf, 0, np.ones(len(y), np.bool_)
    left, used = y.copy(), 0
    for d in range(1, degree + 1):
        k = _size(d)
        while used < k:
            left -= (Q[:, used] * y).sum() * Q[:, used]
            used += 1
        apart = np.abs(left)
        kept = apart <= _FAR * max(np.median(apart) / 0.6745, 1e-12)
        score = (apart[kept] ** 2).sum() / max(kept.sum() - k, 1) ** 2
        if score < least:
            least, best, near = score, d, kept
    return _size(min(best + 1, degree)), near


@compiled
def _monomials(places: Array, degree: int) -> Array:
    """(n, k) in the order of their degree."""
    out = np.empty((len(places), _size(degree)))
    for i in range(len(places)):
        k = 0
        for d in range(degree + 1):
            for j in range(d + 1):
                out[i, k] = places[i, 0] ** (d - j) * places[i, 1] ** j
                k += 1
    return out


@compiled
def _derivatives(places: Array, degree: int, axis: int) -> Array:
    """(n, k): of the monomials by one of the two coordinates."""
    out = np.zeros((len(places), _size(degree)))
    for i in range(len(places)):
        k = 0
        for d in range(degree + 1):
            for j in range(d + 1):
                if axis == 0 and d > j:
                    out[i, k] = (d - j) * places[i, 0] ** (d - j - 1) * places[i, 1] ** j
                elif axis == 1 and j > 0:
                    out[i, k] = j * places[i, 0] ** (d - j) * places[i, 1] ** (j - 1)
                k += 1
    return out
