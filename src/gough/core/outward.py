"""Guaranteed sets as text: decimals rounded outward, so that what is proven of a set is true of the printed one.

All arithmetic is exact. Lower ends are rounded down and upper ends up, after the conversion of units, which is exact or
enclosed (`DEGREES`). Digits follow from the width of the interval: printing widens it by less than 2 %, or by two units
of its 16th significant digit where it is narrower than that. `digits` states fewer of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TypeAlias

import numpy as np

from gough.core.errors import require
from gough.core.rational import rational

Number: TypeAlias = float | int | Fraction
"""What may be printed: doubles (also infinite ones and NaN), integers and fractions."""

MISSING = "—"
"""Printed for NaN, and for both ends of an empty interval."""

_STEPS = 100
"""The last printed digit is at most the width over this: two ends move by less than 2 % of the width."""
_DIGITS = 16
"""Significant digits at most. A double is determined by 17."""
_ONE_SIDED = 4
_FIXED = range(-4, 6)
_LONG = range(6, 9)
"""Powers of ten of the leading digit that are written without an exponent, if no digit before the point is cut off."""


@dataclass(frozen=True)
class Factor:
    """A positive factor between units, enclosed: it lies in [lower, upper]."""

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        require(0 < self.lower <= self.upper, f"a factor between units must satisfy 0 < lower ≤ upper, not {self}")


_PI = Factor(
    Fraction("3.14159265358979323846264338327950288419716939937510"),
    Fraction("3.14159265358979323846264338327950288419716939937511"),
)
DEGREES = Factor(180 / _PI.upper, 180 / _PI.lower)
"""Degrees in a radian."""

Times: TypeAlias = int | Fraction | Factor
"""A factor between units. Doubles such as 1e-3 are not accepted, since few of them are the number that is meant."""


def sides(lower: Number, upper: Number, *, times: Times = 1, digits: int = _DIGITS) -> tuple[str, str]:
    """Both ends of [lower, upper], each multiplied by `times`: the printed interval contains the given one.

    Ends have the same decimals and the same exponent, unless one is so near 0 that it would be printed as 0: whether 0
    is in the interval is true of the printed one too. An interval with one infinite end is printed as `at_least` or
    `at_most` prints the other. There are at most `digits` significant digits. Zeros at the end are dropped where no
    digit is cut off.

    Examples:
        >>> sides(0.12304, 0.12401), sides(-1e-9, 1e-9), sides(1.0, 2.0)
        (('0.123039', '0.124010'), ('-1.01e-09', '1.01e-09'), ('1', '2'))
        >>> sides(1e-7, 2.0), sides(-3.0, -1.25e-5), sides(0.0, 2.0)
        (('9.9e-08', '2.00'), ('-3.00', '-1.2e-05'), ('0', '2'))
        >>> sides(1e-3, 1.5e-3, times=1000), sides(0.0, np.inf), sides(0.1, 0.1)
        (('1.000', '1.501'), ('0', '∞'), ('0.1000000000000000', '0.1000000000000001'))
        >>> sides(0, np.pi, times=DEGREES), sides(0.123456781, 0.123456782, digits=3)
        (('0', '180'), ('0.123', '0.124'))
    """
    low, high = _end(lower), _end(upper)
    if low is None or high is None or low > high or lower == np.inf or upper == -np.inf:
        return MISSING, MISSING
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return at_least(lower, times=times), at_most(upper, times=times)
    low, high = _scaled(low, times)[0], _scaled(high, times)[1]
    power = _power(high - low, max(abs(low), abs(high)), digits)
    numbers = _down(low, power), _up(high, power)
    a, b = _decimals(numbers, power, exact=(low, high))
    if low > 0 and not numbers[0]:
        a = _one(low, _down)
    if high < 0 and not numbers[1]:
        b = _one(high, _up)
    return a, b


def _one(end: Fraction, rounded: Callable[[Fraction, int], int]) -> str:
    """An end that is near 0, beside the other one, with two digits of its own: its sign is part of what is proven."""
    power = _leading(end) - 1
    return _decimals((rounded(end, power),), power, exact=(end,))[0]


def between(lower: Number, upper: Number, *, times: Times = 1, digits: int = _DIGITS) -> str:
    """[lower, upper] as "lower … upper", as "≤ upper" or "≥ lower" where the other end is infinite.

    Examples:
        >>> between(0.12304, 0.12401), between(-np.inf, 0.25), between(0.5, np.inf), between(-np.inf, np.inf)
        ('0.123039 … 0.124010', '≤ 0.25', '≥ 0.5', '−∞ … ∞')
    """
    a, b = sides(lower, upper, times=times, digits=digits)
    if (lower == -np.inf) == (upper == np.inf):
        return f"{a} … {b}"
    return f"≤ {b}" if lower == -np.inf else f"≥ {a}"


def plus_minus(lower: Number, upper: Number, center: Number | None = None, *, times: Times = 1) -> tuple[str, str]:
    """A center and a radius with [lower, upper] ⊆ center ± radius as printed.

    The center is `center`, or else the middle, to the nearest decimal; the radius reaches from there to the farther
    end. Of an interval with an infinite end the radius is infinite.

    Examples:
        >>> plus_minus(0.12304, 0.12401), plus_minus(0.0, 3.0, 1.0), plus_minus(2.0, 2.0)
        (('0.123525', '0.000486'), ('1', '2'), ('2', '0'))
        >>> plus_minus(0.25, np.inf, 0.25), plus_minus(np.inf, -np.inf)
        (('0.25', '∞'), ('—', '—'))
    """
    low, high = _end(lower), _end(upper)
    middle = _end(center) if center is not None else None
    empty = low is None or high is None or low > high or lower == np.inf or upper == -np.inf
    if empty or (center is not None and not isinstance(middle, Fraction)):
        return MISSING, MISSING
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        finite = (end for end in (middle, low, high) if isinstance(end, Fraction))
        return _nearest(next(finite, Fraction(0)), times), "∞"
    if not isinstance(middle, Fraction):
        middle = _middle((low, high))
    low, high = _scaled(low, times)[0], _scaled(high, times)[1]
    middle = _middle(_scaled(middle, times))
    power = _power((high - low) / 2, max(abs(low), abs(high), abs(middle)), _DIGITS)
    c = floor(middle / Fraction(10) ** power + Fraction(1, 2))
    radius = max(high - c * Fraction(10) ** power, c * Fraction(10) ** power - low)
    a, b = _decimals((c, _up(radius, power)), power, exact=(middle, radius))
    return a, b


def at_most(value: Number, *, times: Times = 1, digits: int = _ONE_SIDED) -> str:
    """`value` · `times` with so many significant digits, rounded up: what is at most `value` is at most that.

    Examples:
        >>> at_most(0.00012341), at_most(-0.00012349), at_most(0.1, digits=2), at_most(1e-12, times=1000, digits=2)
        ('0.0001235', '-0.0001234', '0.11', '1.00e-09')
    """
    end = _end(value)
    if not isinstance(end, Fraction):
        return _unbounded(value)
    end = _scaled(end, times)[1]
    power = _leading(end) - digits + 1
    return _decimals((_up(end, power),), power, exact=(end,))[0]


def at_least(value: Number, *, times: Times = 1, digits: int = _ONE_SIDED) -> str:
    """`value` · `times` with so many significant digits, rounded down: what is at least `value` is at least that.

    Examples:
        >>> at_least(0.00012349), at_least(-0.00012341), at_least(0.5), at_least(-np.inf), at_least(np.nan)
        ('0.0001234', '-0.0001235', '0.5', '−∞', '—')
    """
    end = _end(value)
    if not isinstance(end, Fraction):
        return _unbounded(value)
    end = _scaled(end, times)[0]
    power = _leading(end) - digits + 1
    return _decimals((_down(end, power),), power, exact=(end,))[0]


def _nearest(value: Fraction, times: Times) -> str:
    value = _middle(_scaled(value, times))
    power = _leading(value) - _ONE_SIDED + 1
    return _decimals((floor(value / Fraction(10) ** power + Fraction(1, 2)),), power, exact=(value,))[0]


def _end(value: Number) -> Fraction | float | None:
    """The number exactly, ±∞ as a double, or None for NaN."""
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return None if np.isnan(value) else float(value)
    return rational(value, "a number to print")


def _unbounded(value: Number) -> str:
    return MISSING if value != value else "∞" if value > 0 else "−∞"  # noqa: PLR0124 - NaN


def _scaled(value: Fraction, times: Times) -> tuple[Fraction, Fraction]:
    """The number in the other unit, enclosed."""
    if not isinstance(times, Factor):
        require(isinstance(times, int | Fraction) and times > 0, f"units are converted by exact factors, not {times!r}")
        return value * times, value * times
    ends = value * times.lower, value * times.upper
    return min(ends), max(ends)


def _middle(ends: tuple[Fraction, Fraction]) -> Fraction:
    return (ends[0] + ends[1]) / 2


def _leading(value: Fraction) -> int:
    """The power of ten of the first digit, 0 for zero: 10^k ≤ |value| < 10^(k + 1)."""
    n, d = abs(value.numerator), value.denominator
    if not n:
        return 0
    k = (n.bit_length() - d.bit_length()) * 30103 // 100_000  # log10(2) to five digits, a first guess
    while n * 10 ** max(-k, 0) < d * 10 ** max(k, 0):
        k -= 1
    while n * 10 ** max(-k - 1, 0) >= d * 10 ** max(k + 1, 0):
        k += 1
    return k


def _power(width: Fraction, size: Fraction, digits: int) -> int:
    """The power of ten of the last digit to print."""
    finest = _leading(size) - digits + 1
    return max(_leading(width / _STEPS), finest) if width else finest


def _down(value: Fraction, power: int) -> int:
    """The largest n with n · 10^power ≤ value."""
    return floor(value / Fraction(10) ** power)


def _up(value: Fraction, power: int) -> int:
    """The smallest n with n · 10^power ≥ value."""
    return -_down(-value, power)


def _decimals(numbers: tuple[int, ...], power: int, *, exact: tuple[Fraction, ...]) -> tuple[str, ...]:
    """Each n · 10^power, with common decimals and exponent; without zeros at the end where they equal `exact`."""
    if all(n * Fraction(10) ** power == x for n, x in zip(numbers, exact, strict=True)):
        while any(numbers) and not any(n % 10 for n in numbers):
            numbers, power = tuple(n // 10 for n in numbers), power + 1
    largest = max(map(abs, numbers))
    if not largest:
        return ("0",) * len(numbers)
    leading = len(str(largest)) - 1 + power
    if leading in _FIXED or (leading in _LONG and power <= 0):
        return tuple(_point(n * 10 ** max(power, 0), max(-power, 0)) for n in numbers)
    return tuple(f"{_point(n, leading - power)}e{leading:+03d}" if n else "0" for n in numbers)


def _point(n: int, decimals: int) -> str:
    """The number n · 10^(−decimals)."""
    digits = str(abs(n)).rjust(decimals + 1, "0")
    sign = "-" if n < 0 else ""
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}" if decimals else f"{sign}{digits}"
