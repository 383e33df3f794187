"""Whole numbers times powers of two: exact as fractions are, and several times faster where nothing is divided."""

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

from gough.core.errors import InputError
from gough.core.rational import rational


class Dyadic:
    """n · 2^e. It is never changed once it is made.

    Examples:
        >>> x = Dyadic.of(0.75)
        >>> (2 * x * x - x).fraction, x < Dyadic(1, 0), abs(-x).fraction
        (Fraction(3, 8), True, Fraction(3, 4))
    """

    __slots__ = ("e", "n")

    def __init__(self, n: int, e: int) -> None:
        self.n, self.e = n, e

    @classmethod
    def of(cls, value: float | Fraction) -> "Dyadic":
        """The value of a double, or of a fraction whose denominator is a power of two."""
        exact = rational(value, "a number")
        if exact.denominator & (exact.denominator - 1):
            raise InputError(f"a number must be a double here, but it is {value!r:.40}")
        return cls(exact.numerator, 1 - exact.denominator.bit_length())

    @property
    def fraction(self) -> Fraction:
        """The number as a fraction."""
        return Fraction(self.n << self.e) if self.e >= 0 else Fraction(self.n, 1 << -self.e)

    def __add__(self, other: "Dyadic") -> "Dyadic":
        d = self.e - other.e
        if d >= 0:
            return Dyadic((self.n << d) + other.n, other.e)
        return Dyadic(self.n + (other.n << -d), self.e)

    def __sub__(self, other: "Dyadic") -> "Dyadic":
        d = self.e - other.e
        if d >= 0:
            return Dyadic((self.n << d) - other.n, other.e)
        return Dyadic(self.n - (other.n << -d), self.e)

    def __mul__(self, other: "Dyadic") -> "Dyadic":
        return Dyadic(self.n * other.n, self.e + other.e)

    def __rmul__(self, factor: int) -> "Dyadic":
        return Dyadic(factor * self.n, self.e)

    def __neg__(self) -> "Dyadic":
        return Dyadic(-self.n, self.e)

    def __abs__(self) -> "Dyadic":
        return Dyadic(abs(self.n), self.e)

    def __lt__(self, other: "Dyadic") -> bool:
        return (self - other).n < 0

    def __le__(self, other: "Dyadic") -> bool:
        return (self - other).n <= 0


ZERO = Dyadic(0, 0)
HALF = Dyadic(1, -1)


def total(terms: Iterable[Dyadic]) -> Dyadic:
    """Their sum.

    Examples:
        >>> total([Dyadic(1, -1), Dyadic(1, -2)]).fraction
        Fraction(3, 4)
    """
    return sum(terms, ZERO)


def root_above(x: Dyadic) -> Dyadic:
    """A number whose square is at least x ≥ 0, and not much more.

    Examples:
        >>> root_above(Dyadic(2, 0)).fraction ** 2 >= 2, float(root_above(Dyadic(2, 0)).fraction)
        (True, 1.4142135623730951)
    """
    if x.n <= 0:  # isqrt would refuse a negative number; sums of squares have none
        return ZERO
    up = max(0, 128 - x.n.bit_length())
    up += (x.e - up) % 2  # an even exponent is left
    return Dyadic(isqrt(x.n << up) + 1, (x.e - up) // 2)


def ratio(x: Dyadic, y: Dyadic, digits: int = 50) -> Dyadic:
    """About x / y for y > 0, to so many binary digits after the point.

    Examples:
        >>> ratio(Dyadic(1, 0), Dyadic(3, 0), 2).fraction
        Fraction(1, 4)
    """
    d = x.e - y.e + digits
    return Dyadic((x.n << d) // y.n if d >= 0 else x.n // (y.n << -d), -digits)


def aligned(numbers: Iterable[Dyadic]) -> tuple[list[int], int]:
    """Whole numbers and the one exponent that they share.

    Examples:
        >>> aligned([Dyadic(1, 0), Dyadic(3, -1)])
        ([2, 3], -1)
    """
    terms = list(numbers)
    least = min(x.e for x in terms)
    return [x.n << (x.e - least) for x in terms], least
