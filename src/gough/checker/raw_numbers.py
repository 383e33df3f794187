"""Numbers as people write them, without rounding: decimals as fractions, units with their power of π, enclosures.

The checker's own reading of what was measured: nothing of the code that made the numbers of a proof is used here.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from gough.checker.linear import NotProven

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_QUANTITY = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?)\s*(.*?)\s*", re.DOTALL)
_LONGEST = 4300
_LARGEST_EXPONENT = 5000
_BITS = 256
_GRID = 1 << _BITS
_FARTHEST = 3600
"""The square of the largest angle, rad²."""


def decimal(text: str) -> Fraction:
    """The number that a decimal says.

    Raises:
        NotProven: it is no decimal, or so long that it would take all memory.

    Examples:
        >>> decimal("+1.50e-1"), decimal("1e-400") > 0
        (Fraction(3, 20), True)
    """
    if len(text) > _LONGEST or _DECIMAL.fullmatch(text) is None:
        raise NotProven(f"'{text:.40}' is not a decimal number that can be read exactly")
    if abs(int(re.split("[eE]", f"{text}e0")[1])) > _LARGEST_EXPONENT:
        raise NotProven(f"'{text:.40}' has an exponent beyond {_LARGEST_EXPONENT}")
    try:
        return Fraction(text.removesuffix("."))
    except ValueError as error:  # Python may have been told to read shorter numbers only
        raise NotProven(f"'{text:.40}' has more digits than Python reads here") from error


@dataclass(frozen=True)
class Span:
    """Every number from low to high. What irrational numbers lie in, and what is computed from them."""

    low: Fraction
    high: Fraction

    @classmethod
    def at(cls, x: Fraction | int) -> "Span":
        """One number."""
        return cls(Fraction(x), Fraction(x))

    def __add__(self, other: "Span") -> "Span":
        return Span(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Span") -> "Span":
        return Span(self.low - other.high, self.high - other.low)

    def __neg__(self) -> "Span":
        return Span(-self.high, -self.low)

    def __mul__(self, other: "Span | Fraction | int") -> "Span":
        if not isinstance(other, Span):
            ends = (self.low * other, self.high * other)
        else:
            ends = tuple(x * y for x in (self.low, self.high) for y in (other.low, other.high))  # type: ignore[assignment]
        return Span(min(ends), max(ends))

    def __truediv__(self, other: "Span") -> "Span":
        if other.low <= 0 <= other.high:
            raise NotProven("a number that may be zero divides another")
        return self * Span(1 / other.high, 1 / other.low)

    @property
    def most(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def least(self) -> Fraction:
        """The smallest absolute value."""
        return Fraction(0) if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))

    @property
    def size(self) -> "Span":
        """Absolute values."""
        return Span(self.least, self.most)

    def rounded(self) -> "Span":
        """Between multiples of 2^-256, so that fractions stay short."""
        return Span(Fraction((self.low * _GRID).__floor__(), _GRID), Fraction((self.high * _GRID).__ceil__(), _GRID))

    def root(self) -> "Span":
        """Square roots.

        Examples:
            >>> root = Span.at(2).root()
            >>> root.low ** 2 <= 2 <= root.high ** 2, root.high - root.low < Fraction(1, 2**250)
            (True, True)
        """
        if self.low < 0:
            raise NotProven("a square is negative")
        low, high = (isqrt((x * _GRID * _GRID).__floor__()) for x in (self.low, self.high))
        exact = Fraction(high, _GRID) ** 2 == self.high
        return Span(Fraction(low, _GRID), Fraction(high if exact else high + 1, _GRID))


PI = Span(
    Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"),
    Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900"),
)


def total(spans: Any) -> Span:
    """The sum of spans."""
    return sum(spans, Span.at(0))


def cosine(square: Span) -> Span:
    """Cosines of x, for x² in a span.

    Examples:
        >>> half_turn = cosine(PI * PI)
        >>> half_turn.low <= -1 <= half_turn.high, half_turn.high - half_turn.low < Fraction(1, 2**200)
        (True, True)
    """
    return _series(square, 0)


def sinc(square: Span) -> Span:
    """The quotients sin x / x, for x² in a span; 1 at 0."""
    return _series(square, 1)


def turn(angle: Span) -> tuple[Span, Span]:
    """Cosine and sine of an angle."""
    square = (angle * angle).rounded()
    return cosine(square), (sinc(square) * angle).rounded()


def _series(square: Span, first: int) -> Span:
    """Σ (−x²)^k first! / (2 k + first)!, the rest being less than twice the first term left out."""
    if square.high > _FARTHEST:
        raise NotProven("an angle is larger than 60 rad")
    square = Span(max(square.low, Fraction(0)), square.high)
    term = result = Span.at(1)
    k = 0
    while True:
        k += 2
        term = (-(term * square) * Fraction(1, (k - 1 + first) * (k + first))).rounded()
        if k * k > 2 * square.high and term.most * _GRID <= 2:  # each later term is less than half of the one before
            rest = 2 * term.most
            return (result + Span(-rest, rest)).rounded()
        result = result + term


@dataclass(frozen=True)
class Scaled:
    """number · π^power: what a quantity with a unit is in SI, exactly."""

    number: Fraction
    power: int = 0

    @property
    def span(self) -> Span:
        """An enclosure of it."""
        if self.power == 0:
            return Span.at(self.number)
        factor = PI
        for _ in range(abs(self.power) - 1):
            factor = factor * PI
        return factor * self.number if self.power > 0 else Span.at(self.number) / factor

    def __mul__(self, factor: Fraction) -> "Scaled":
        return Scaled(self.number * factor, self.power)


_UNITS: dict[str, tuple[Fraction, int, str]] = {
    "rad": (Fraction(1), 0, "rad"), "mrad": (Fraction(1, 1000), 0, "rad"), "deg": (Fraction(1, 180), 1, "rad"),
    "°": (Fraction(1, 180), 1, "rad"), "arcmin": (Fraction(1, 10_800), 1, "rad"),
    "arcsec": (Fraction(1, 648_000), 1, "rad"), "rev": (Fraction(2), 1, "rad"), "turn": (Fraction(2), 1, "rad"),
    "count": (Fraction(1), 0, "count"), "m": (Fraction(1), 0, "m"), "cm": (Fraction(1, 100), 0, "m"),
    "mm": (Fraction(1, 1000), 0, "m"), "µm": (Fraction(1, 10**6), 0, "m"), "nm": (Fraction(1, 10**9), 0, "m"),
    "in": (Fraction(254, 10_000), 0, "m"), "%": (Fraction(1, 100), 0, ""), "V": (Fraction(1), 0, "V"),
    "mV": (Fraction(1, 1000), 0, "V"), "µV": (Fraction(1, 10**6), 0, "V"), "kV": (Fraction(1000), 0, "V"),
    "A": (Fraction(1), 0, "A"), "mA": (Fraction(1, 1000), 0, "A"), "µA": (Fraction(1, 10**6), 0, "A"),
}  # fmt: skip
"""Size of units in SI as number, power of π, and what they measure."""
_ALSO = {
    "radian": "rad", "radians": "rad", "degree": "deg", "degrees": "deg", "revs": "rev", "turns": "turn",
    "counts": "count", "um": "µm", "inch": "in", "uV": "µV", "uA": "µA",
}  # fmt: skip
_FACTOR = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?|[^\W\d]+|[°%])(?:\^?(-?[0-9]))?")
_PLAIN = str.maketrans("⁻−⁰¹²³⁴⁵⁶⁷⁸⁹μº", "--0123456789µ°")


def unit(text: str) -> tuple[Scaled, dict[str, int]]:
    """The size of a unit in SI, and the powers of what it measures.

    Examples:
        >>> unit("mm")
        (Scaled(number=Fraction(1, 1000), power=0), {'m': 1})
        >>> unit("rev/20000")
        (Scaled(number=Fraction(1, 10000), power=1), {'rad': 1})
    """
    number, power, measures = Fraction(1), 0, Counter[str]()
    for place, group in enumerate(unicodedata.normalize("NFC", text).translate(_PLAIN).strip().split("/")):
        for word in re.split(r"\s*[·*⋅×]\s*|\s+", group.strip()):
            found = _FACTOR.fullmatch(word)
            if found is None and (word or place):
                raise NotProven(f"the checker knows no unit '{text:.40}'")
            if found is None:
                continue
            times = int(found[2] or 1) * (-1 if place else 1)
            size, pi, what = _size(found[1], text)
            number, power = number * size**times, power + pi * times
            if what:
                measures[what] += times
    if number <= 0:
        raise NotProven(f"the unit '{text:.40}' has no size")
    return Scaled(number, power), {what: times for what, times in measures.items() if times}


def _size(symbol: str, text: str) -> tuple[Fraction, int, str]:
    if symbol[0].isdigit():
        return decimal(symbol), 0, ""
    known = _UNITS.get(_ALSO.get(symbol, symbol))
    if known is None:
        raise NotProven(f"the checker knows no unit '{text:.40}'")
    return known


def converted(number: Fraction, given: str | None, wanted: str | None) -> Scaled:
    """A number of the unit `given` in the unit `wanted`: as it is where none is given, in SI where none is wanted."""
    if given is None or given == wanted:
        return Scaled(number)
    size, measures = unit(given)
    other, meant = (Scaled(Fraction(1)), measures) if wanted is None else unit(wanted)
    if measures != meant:
        raise NotProven(f"'{given:.40}' cannot become '{wanted}'")
    return Scaled(number * size.number / other.number, size.power - other.power)


def quantity(value: Any, wanted: str) -> Scaled:
    """A number in `wanted`, or a text such as "260 mm", in `wanted`.

    Examples:
        >>> quantity("0.15 mm", "m").number, quantity("90 deg", "rad")
        (Fraction(3, 20000), Scaled(number=Fraction(1, 2), power=1))
    """
    if isinstance(value, bool) or not isinstance(value, int | Fraction | str):
        raise NotProven(f"{value!r:.40} is not a quantity in {wanted}")
    if not isinstance(value, str):
        return Scaled(Fraction(value))
    written = _QUANTITY.fullmatch(value)
    if written is None:
        raise NotProven(f"'{value:.40}' is not a number with a unit")
    return converted(decimal(written[1]), written[2] or None, wanted)
