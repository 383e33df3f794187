"""Exact numbers: fractions, and arrays of doubles as whole numbers times one power of two.

Doubles are taken apart by their bits and never computed with, so nothing here depends on how the processor rounds.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, isfinite, lcm, ldexp
from struct import pack, unpack
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError

Whole = npt.NDArray[np.object_]
"""An array of Python integers, which have as many digits as they need."""

_FRACTION_BITS = 52
_EXPONENT_MASK = 0x7FF
_LOWEST_EXPONENT = -1074
_SMALL = 1e-280
_LARGEST = ((1 << 53) - 1) << 971
"""The largest double."""


def rational(value: Any, what: str) -> Fraction:
    """`value` (an integer, a finite double or a fraction) without rounding.

    Examples:
        >>> rational(0.5, "a weight"), rational(Fraction(1, 3), "a weight")
        (Fraction(1, 2), Fraction(1, 3))
    """
    if type(value) is float and _SMALL < abs(value) < inf:
        return Fraction(value)  # takes it apart by `as_integer_ratio`
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        if not isfinite(value):
            raise InputError(f"{what} is {float(value)}; only finite numbers can be proven with")
        (n,), q = whole_numbers([float(value)])
        return Fraction(n << q) if q > 0 else Fraction(n, 1 << -q)
    raise InputError(f"{what} must be a number, but it is {value!r:.40}")


def integers(values: Array) -> tuple[Whole, int]:
    """Whole numbers n and an exponent q with values = n · 2^q, exactly. The values must be finite.

    Examples:
        >>> n, q = integers(np.array([0.5, -3.0]))
        >>> [Fraction(k) * Fraction(2) ** q for k in n.tolist()]
        [Fraction(1, 2), Fraction(-3, 1)]
    """
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    biased = (bits >> _FRACTION_BITS) & _EXPONENT_MASK
    if not (biased < _EXPONENT_MASK).all():  # problems refuse them when they are made, but arrays can be written to
        raise InputError("NaN and infinity are no numbers that can be proven with")
    mantissa = bits & ((1 << _FRACTION_BITS) - 1)
    mantissa |= (biased > 0).astype(np.int64) << _FRACTION_BITS
    exponent = np.maximum(biased, 1) - 1 + _LOWEST_EXPONENT
    nonzero = mantissa != 0
    q = int(exponent[nonzero].min()) if nonzero.any() else 0
    shift = np.where(nonzero, exponent - q, 0)
    return np.where(bits < 0, -mantissa, mantissa).astype(object) << shift.astype(object), q


def whole_numbers(values: Sequence[float]) -> tuple[list[int], int]:
    """As `integers`, for a few numbers, for which an array would be slower.

    Examples:
        >>> whole_numbers([0.5, -3.0])
        ([1, -6], -1)
    """
    ratios = [x.as_integer_ratio() if abs(x) > _SMALL else _small_ratio(x) for x in values]
    digits = max((d.bit_length() for _, d in ratios), default=1)
    return [n << (digits - d.bit_length()) for n, d in ratios], 1 - digits


def _small_ratio(value: float) -> tuple[int, int]:
    """As `as_integer_ratio`, where a processor that flushes to zero might mislead it: zero and the smallest doubles."""
    (bits,) = unpack("q", pack("d", value))
    biased, n = (bits >> _FRACTION_BITS) & _EXPONENT_MASK, bits & ((1 << _FRACTION_BITS) - 1)
    n |= (biased > 0) << _FRACTION_BITS
    return (-n if bits < 0 else n, 1 << (1 - _LOWEST_EXPONENT - max(biased, 1))) if n else (0, 1)


def over_common_denominator(values: Iterable[Fraction]) -> tuple[Whole, int]:
    """Whole numbers n and a denominator d with values = n / d.

    Examples:
        >>> over_common_denominator([Fraction(1, 2), Fraction(1, 3)])
        (array([3, 2], dtype=object), 6)
    """
    fractions = list(values)
    d = lcm(*(x.denominator for x in fractions))
    numerators = np.empty(len(fractions), dtype=object)
    numerators[:] = [x.numerator * (d // x.denominator) for x in fractions]
    return numerators, d


def as_double(value: Fraction) -> float | None:
    """The double that equals `value`, or None if none does.

    Examples:
        >>> as_double(Fraction(1, 2)), as_double(Fraction(1, 3))
        (0.5, None)
    """
    try:
        near = float(value)
    except OverflowError:
        return None
    return near if rational(near, "a double") == value else None


def round_down(value: Fraction) -> float | None:
    """The largest double ≤ `value`, or None below all doubles.

    Examples:
        >>> round_down(Fraction(1, 3)) < Fraction(1, 3) < np.nextafter(round_down(Fraction(1, 3)), 1)
        True
    """
    if value >= _LARGEST:
        return float(np.finfo(np.float64).max)
    if value < -_LARGEST:
        return None
    near = float(value)
    return near if rational(near, "a double") <= value else float(np.nextafter(near, -np.inf))


def dyadic_down(n: int, q: int) -> float | None:
    """The largest double ≤ n · 2^q, or None below all doubles: `round_down` without a fraction.

    Examples:
        >>> dyadic_down(3, -1), dyadic_down(2**60 + 1, -60), dyadic_down(-(2**60) - 1, -60)
        (1.5, 1.0, -1.0000000000000002)
    """
    extra = n.bit_length() - _FRACTION_BITS - 1
    if extra > 0:
        n, q = n >> extra, q + extra  # rounds down, for negative numbers too
    if abs(q) < 900:
        return ldexp(n, q)  # of at most 53 bits and far from where doubles end, so exact
    return round_down(Fraction(n << q) if q > 0 else Fraction(n, 1 << -q))
