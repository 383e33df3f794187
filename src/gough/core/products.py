"""Enclosures of matrix products and residuals, at the speed of BLAS.

A product of two sets is enclosed by its midpoint, which BLAS computes, and a radius that bounds both the spread of the
sets and every rounding error, a priori: no rounding mode is ever switched [RUM99], [RUM12]. A bound componentwise in
|A| |B| costs one more product; a rank-one bound by row and column norms would cost none, but depends on the units of
the columns, which in a regressor differ by many orders of magnitude.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gough.core.arrays import Array, Mask
from gough.core.errors import require
from gough.core.midrad import (
    LIMIT,
    TINY,
    UNIT,
    MatrixLike,
    MidRad,
    exact,
    gamma,
    inflated,
    inflation,
    parts,
    underflow,
)

BLOCK = 2**15
"""Rows handled at a time, so that the copies of a tall matrix stay small."""
_RANGE = math.ldexp(1.0, 150)
"""The accurate residual takes numbers of magnitude 0 or 1/_RANGE to _RANGE: then nothing in it underflows."""


def matmul(A: MatrixLike, B: MatrixLike) -> MidRad:
    """The set {A B}, enclosed; broadcast over leading axes as in NumPy, and B may be a vector.

    Two products of numbers, or of numbers and sets; three if A is a set. An entry whose terms might overflow gets an
    infinite radius.

    Raises:
        InputError: NaN or infinite entries, or shapes that do not fit.

    Examples:
        >>> enclosure = matmul([[0.1, 0.2]], [[0.3], [0.4]])
        >>> enclosure.mid, bool(enclosure.rad < 1e-15)
        (array([[0.11]]), True)
    """
    (a, a_rad), (b, b_rad) = parts(A), parts(B)
    if b.ndim == 1:
        column = matmul(_set(a, a_rad), _set(b[:, None], None if b_rad is None else b_rad[:, None]))
        return MidRad(column.mid[..., 0], column.rad[..., 0])
    require(a.ndim >= 2 and a.shape[-1] == b.shape[-2], f"shapes {a.shape} and {b.shape} do not fit a product")
    n = a.shape[-1]
    with np.errstate(all="ignore"):
        abs_a, abs_b = np.abs(a), np.abs(b)
        mid, rad = a @ b, _spread(abs_a, a_rad, abs_b, b_rad)
        a_max, b_max = _greatest(abs_a, a_rad, (-2, -1)), _greatest(abs_b, b_rad, (-2, -1))
        if not _cannot_overflow(n, a_max, b_max).all():
            require(bool(np.isfinite(a).all() and np.isfinite(b).all()), "a matrix to multiply must be finite")
            a_max, b_max = _greatest(abs_a, a_rad, -1), _greatest(abs_b, b_rad, -2)
            known = np.broadcast_to(_cannot_overflow(n, a_max, b_max), mid.shape)
            mid, rad = np.where(known, mid, 0.0), np.where(known, rad, np.inf)
        rad += 8.0 * underflow(n, a_max, b_max)
    return MidRad(mid, rad)


def _spread(a: Array, a_rad: Array | None, b: Array, b_rad: Array | None) -> Array:
    """|A| (rad B + γ |B|) + rad A (|B| + rad B), γ for n terms: how far A B may be from fl(mid A mid B) [RUM12].

    An upper bound, up to underflow: rounded at most n + 5 times in a row, n + 2 in the product, two in its right
    factor, one in the last sum. In place, since to allocate a large array may cost as much as to fill it.
    """
    error = gamma(a.shape[-1] + 2)  # n - 1 additions, a product, and two for the scaling inside BLAS
    spread: Array = a @ (b if b_rad is None else b_rad + error * b)
    if b_rad is None:
        spread *= error
    if a_rad is not None:
        spread += a_rad @ (b if b_rad is None else b + b_rad)
    spread *= inflation(a.shape[-1] + 5)
    return spread


def bound_matmul(P: Array, Q: Array) -> Array:
    """An upper bound on P Q for non-negative matrices; infinite where it might overflow."""
    n = P.shape[-1]
    with np.errstate(all="ignore"):
        p, q = P.max(axis=-1, keepdims=True, initial=0.0), Q.max(axis=-2, keepdims=True, initial=0.0)
        bound = inflated(P @ Q, n + 2) + 4.0 * underflow(n, p, q)
        return np.where(_cannot_overflow(n, p, q), bound, np.inf)


def residual(A: MatrixLike, x: MatrixLike, b: MatrixLike) -> MidRad:
    """The set {b - A x}, enclosed, with an error of about 2^-52 n |A| |x|.

    Examples:
        >>> residual([[1.0, 2.0]], [3.0, 4.0], [11.5]).mid
        array([0.5])
    """
    product, (c, c_rad) = matmul(A, x), parts(b)
    require(c.shape == product.shape, f"b has shape {c.shape}, and A x has {product.shape}")
    require(bool(np.isfinite(c).all()), "the right-hand side of a residual must be finite")
    with np.errstate(all="ignore"):
        mid = c - product.mid
        rad = _total(product.rad, c_rad) + 2.0 * UNIT * np.abs(mid)
        known = np.abs(c) + np.abs(product.mid) <= LIMIT
        return MidRad(np.where(known, mid, 0.0), np.where(known, inflated(rad, 4) + 64.0 * TINY, np.inf))


def _total(first: Array, *more: Array | None) -> Array:
    for bound in more:
        first = first if bound is None else first + bound
    return first


def accurate_residual(A: MatrixLike, x: ArrayLike, b: MatrixLike) -> MidRad:
    """The set {b - A x}, enclosed, with an error of about 2^-52 |b - A x| + 2^-76 n |A| |x|.

    It is tight where b and A x cancel. A and x are cut into slices of so few bits that the products of leading slices
    are exact, in whatever order and rounding mode BLAS adds [OORO12]. Numbers beyond 2^±150 are left to `residual`.

    Examples:
        >>> exact_value = 2.0**-60  # lost in a plain product
        >>> accurate_residual([[1.0 + 2.0**-30]], [1.0 - 2.0**-30], [1.0]).mid == exact_value
        array([ True])
    """
    (a, a_rad), point, (c, c_rad) = parts(A), exact(x), parts(b)
    if point.ndim == 1:
        column = accurate_residual(A, point[:, None], _set(c[..., None], None if c_rad is None else c_rad[..., None]))
        return MidRad(column.mid[..., 0], column.rad[..., 0])
    require(
        a.ndim >= 2 and a.shape[-1] == point.shape[-2] and c.shape == _product_shape(a, point),
        f"shapes {a.shape} of A, {point.shape} of x and {c.shape} of b do not fit",
    )
    if not (_in_range(a) and _in_range(point) and _in_range(c)):
        return residual(A, point, b)
    mid, rad = np.empty(c.shape), np.empty(c.shape)
    for rows in (slice(k, k + BLOCK) for k in range(0, a.shape[-2], BLOCK)):
        mid[..., rows, :], rad[..., rows, :] = _sliced_residual(a[..., rows, :], point, c[..., rows, :])
    spread = None if a_rad is None else bound_matmul(a_rad, np.abs(point))
    with np.errstate(all="ignore"):
        return MidRad(mid, inflated(_total(rad, c_rad, spread), 3) + 64.0 * TINY)


def _sliced_residual(a: Array, x: Array, c: Array) -> tuple[Array, Array]:
    """C - a x and a bound on its error.

    All scalings are by powers of two, hence exact; all slices are integers of at most `bits` bits times a power of two,
    so that n products of two of them sum up to less than 2^53 units.
    """
    n = a.shape[-1]
    bits = (53 - math.ceil(math.log2(max(n, 1)))) // 2
    inner = _power_above(x, -1)  # |x| < 1 after scaling its rows
    x, a = x / inner, a * np.swapaxes(inner, -1, -2)
    outer = _power_above(a, -1)  # |a| < 1 after scaling its rows
    a, c = a / outer, c / outer
    a1, a_tail = _cut(a, bits)
    a2, a3 = _cut(a_tail, 2 * bits)
    x1, x_tail = _cut(x, bits)
    x2, x3 = _cut(x_tail, 2 * bits)
    mid = c - a1 @ x1
    steps = np.abs(mid)
    for term in (a1 @ x2, a2 @ x1, a1 @ x3 + a2 @ x_tail + a3 @ x):
        mid = mid - term
        steps += np.abs(mid)
    # Each subtraction errs by u/(1 - u) of its result; in the last term n products of size 2^(-2 bits), thrice, err.
    rad = 2.0 * UNIT * steps + 4.0 * n * gamma(n + 4) * math.ldexp(1.0, -2 * bits)
    # 2^-850 n: numbers below TINY that pass for zero, times 2^150
    return mid * outer, rad * outer + n * math.ldexp(1.0, -850)


def _cut(x: Array, bits: int) -> tuple[Array, Array]:
    """X = head + tail exactly, the head a multiple of 2^-bits and not greater than x in magnitude."""
    # ldexp and not **: the C library's pow is off by one bit when the processor does not round to nearest
    head = np.trunc(x * math.ldexp(1.0, bits)) * math.ldexp(1.0, -bits)
    return head, x - head


def _power_above(x: Array, axis: int) -> Array:
    """The least power of two above the magnitudes along an axis, which is kept."""
    greatest = np.abs(x).max(axis=axis, keepdims=True, initial=0.0)
    # What is as small as this, some processors take for zero, and others not.
    exponent = np.frexp(np.where(greatest > math.ldexp(1.0, -500), greatest, 0.5))[1]
    return np.ldexp(1.0, exponent)


def _in_range(x: Array) -> bool:
    size = np.abs(x)
    least = np.min(size, where=size > 0, initial=1.0)
    return bool(np.max(size, initial=1.0) <= _RANGE and least >= 1.0 / _RANGE)


def _set(mid: Array, rad: Array | None) -> MatrixLike:
    return mid if rad is None else MidRad(mid, rad)


def _product_shape(a: Array, b: Array) -> tuple[int, ...]:
    return (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])


def _greatest(size: Array, rad: Array | None, axis: int | tuple[int, int]) -> Array:
    greatest: Array = size.max(axis=axis, keepdims=True, initial=0.0)
    return greatest if rad is None else greatest + rad.max(axis=axis, keepdims=True, initial=0.0)


def _cannot_overflow(n: int, a: Array, b: Array) -> Mask:
    """Whether no sum of n products of numbers up to a and b can overflow; false for NaN."""
    return np.asarray((a <= LIMIT) & (b <= LIMIT) & (n * a * b <= LIMIT))
