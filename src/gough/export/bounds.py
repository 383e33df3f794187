"""The set of an estimate as tables for exported bounds of efforts, rounded outward."""

from math import inf

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.region import Box, Ellipsoid

_TRIALS = 12


def radius_of(box: Box) -> Array:
    """Half widths around `box.center`, rounded up: center ± radius contains the box.

    Examples:
        >>> radius_of(Box([0.1], [0.4])) > 0.15
        array([ True])
    """
    center = box.center
    # a difference of doubles is at most one rounding away from the exact one, which the next larger double covers
    return np.nextafter(np.maximum(box.upper - center, center - box.lower), inf)


def covering_factor(ellipsoid: Ellipsoid) -> Array:
    """A lower triangular L with L Lᵀ ⪰ S, proven in exact integers: |Lᵀ w| is at least sqrt(wᵀ S w) for every w.

    Raises:
        InputError: S is far from positive semidefinite.

    Examples:
        >>> L = covering_factor(Ellipsoid([0.0, 0.0], [[4.0, 2.0], [2.0, 3.0]]))
        >>> bool(np.allclose(L @ L.T, [[4.0, 2.0], [2.0, 3.0]], rtol=1e-12))
        True
    """
    S = np.asarray(ellipsoid.shape)
    n, size = len(S), np.sqrt(np.diagonal(S))
    there = np.flatnonzero(size > 0)
    L = np.zeros((n, n))
    more = 4 * n * np.finfo(float).eps
    for _ in range(_TRIALS if len(there) else 0):
        scaled = S[np.ix_(there, there)] / np.outer(size[there], size[there])
        try:
            factor = np.linalg.cholesky(scaled + more * np.eye(len(there)))
        except np.linalg.LinAlgError:
            more *= 4
            continue
        L[np.ix_(there, there)] = size[there, None] * factor
        if _covers(L, S, size):
            return L
        more *= 4
    if not S.any():
        return L
    raise InputError("the set of the estimate has a shape that is not positive semidefinite: it has no bounds")


def _covers(L: Array, S: Array, size: Array) -> bool:
    """Whether D = L Lᵀ − S ⪰ 0, by the theorem of Gershgorin: with scales t > 0, D is diagonally dominant, exactly.

    T D T with T = diag(t) has no negative eigenvalue where each of its diagonal entries is at least the sum of the
    other entries of the row, and then neither has D. All numbers are integers times one power of two.
    """
    scales = [2.0 ** -round(np.log2(value)) if value > 0 else 1.0 for value in size]
    rows, bits = _integers(L)
    wanted, more = _integers(S)
    factors, _ = _integers(np.array([scales]))
    shift = 2 * bits - more
    n = len(rows)
    for j in range(n):
        others, own = 0, 0
        for k in range(n):
            product = sum(a * b for a, b in zip(rows[j], rows[k], strict=True))
            left = (product << max(-shift, 0)) - (wanted[j][k] << max(shift, 0))
            if j == k:
                own = left * factors[0][j]
            else:
                others += abs(left) * factors[0][k]
        if own < others:
            return False
    return True


def _integers(values: Array) -> tuple[list[list[int]], int]:
    """Numbers as exact integers over 2^bits."""
    pairs = [[number.as_integer_ratio() for number in row] for row in values.tolist()]
    bits = max(denominator.bit_length() - 1 for row in pairs for _, denominator in row)
    return [[n << (bits - (d.bit_length() - 1)) for n, d in row] for row in pairs], bits
