"""Rows of one chain's equations in a box, in exact rational arithmetic, and what weights on rows prove.

With h = x − center, a row is linear in h, in products of h, and in the errors of one pose where chains share them. All
numbers are whole numbers times powers of two.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from gough.checker.dyadic import HALF, ZERO, Dyadic, aligned, ratio
from gough.checker.limits import product_cost, spend
from gough.checker.linear import NotProven

Numbers = list[Dyadic]
Pairs = tuple[tuple[int, int], ...]
_SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_TANGENTS = (Dyadic(-1, 0), Dyadic(-1, -1), HALF, Dyadic(1, 0))


class Row(NamedTuple):
    """Σ coefficients · [h, products of h, errors of the pose] ≤ side, all of them times 2^exponent."""

    coefficients: list[int]
    side: int
    exponent: int


def row_of(coefficients: Numbers, side: Dyadic) -> Row:
    """The row in whole numbers."""
    numbers, exponent = aligned([*coefficients, side])
    return Row(numbers[:-1], numbers[-1], exponent)


def envelope(pair: tuple[int, int], column: int, columns: int, r: Numbers, which: int) -> Row:
    """(r_i ∓ h_i)(r_j ∓ h_j) ≥ 0 for a product, (h − t)² ≥ 0 for a square; the product stands in `column`."""
    i, j = pair
    row = [ZERO] * columns
    if i == j:
        t = _TANGENTS[which] * r[i]
        row[i], row[column] = 2 * t, Dyadic(-1, 0)
        return row_of(row, t * t)
    s1, s2 = _SIGNS[which]
    row[i], row[j], row[column] = s1 * r[j], s2 * r[i], Dyadic(-s1 * s2, 0)
    return row_of(row, r[i] * r[j])


def chord(low: Dyadic, high: Dyadic) -> tuple[Dyadic, Dyadic]:
    """A slope and a height with |x| ≤ slope x + height over [low, high]; any slope will do, so a short one is taken."""
    if low.n >= 0 or high.n <= 0:
        return Dyadic(1 if low.n >= 0 else -1, 0), ZERO
    slope = ratio(high + low, high - low)  # |x| − slope x is convex, so its largest value is at an end
    return slope, max(abs(low) - slope * low, abs(high) - slope * high)


class BoxRows(ABC):
    """The rows of a chain's equations in a box center ± radius, each reading being uncertain by `more` than stated.

    Row k bounds equation k from above and row n + k from below, equations being poses and then conditions; the four
    envelopes of each product follow. If errors of poses are `shared`, rows of poses have a column more for each.
    """

    def __init__(self, products: Pairs, n_equations: int, center: Numbers, radius: Numbers) -> None:
        self._products, self._n_equations, self.center, self.radius = products, n_equations, center, radius
        self._envelopes: dict[int, Row] = {}
        self._equations: dict[int, tuple[Row, Row]] = {}

    @property
    def n_rows(self) -> int:
        """Two for each equation, and the envelopes."""
        return 2 * self._n_equations + 4 * len(self._products)

    @property
    def n_columns(self) -> int:
        """Unknowns and their products, without errors of poses."""
        return len(self.center) + len(self._products)

    def equation(self, number: int) -> int | None:
        """The equation that a row bounds; None for envelopes."""
        return number % self._n_equations if number < 2 * self._n_equations else None

    def row(self, number: int) -> Row:
        """Row `number`, which must exist."""
        n = self._n_equations
        if number >= 2 * n:
            if number not in self._envelopes:
                spend(15_000)
                product, which = divmod(number - 2 * n, 4)
                column = len(self.center) + product
                row = envelope(self._products[product], column, self.n_columns, self.radius, which)
                self._envelopes[number] = row
            return self._envelopes[number]
        side, k = divmod(number, n)
        if k not in self._equations:
            self._equations[k] = self._both_sides(k)
            for row in self._equations[k]:
                spend(len(row.coefficients) * (row.side.bit_length() // 30) ** 2)  # numbers far apart are long ones
        return self._equations[k][side]

    @abstractmethod
    def _both_sides(self, k: int) -> tuple[Row, Row]:
        """Equation k from above and from below."""

    def most(self, column: int) -> Dyadic:
        """The largest |y| of a column of the box."""
        if column < len(self.center):
            return self.radius[column]
        i, j = self._products[column - len(self.center)]
        return self.radius[i] * self.radius[j]

    def is_square(self, column: int) -> bool:
        """Is it the product of an unknown with itself?"""
        if column < len(self.center):
            return False
        i, j = self._products[column - len(self.center)]
        return i == j


Term = tuple[Row, Dyadic, Sequence[int]]
"""A row, its weight, and the places of its columns."""


def least_value(
    terms: Sequence[Term],
    target: Mapping[int, Dyadic],
    *,
    most: Callable[[int], Dyadic],
    is_square: Callable[[int], bool],
) -> Fraction:
    """The largest v for which target·y ≥ v follows: Σ λ (A y − b) ≤ 0 is added, y at its worst.

    Each row is A y ≤ b, so that only weights λ ≥ 0 keep the sign of the sum.
    """
    if any(w.n < 0 for _, w, _ in terms):
        raise NotProven("the weight of a row is negative")
    least = min([0, *(x.e for x in target.values()), *(row.exponent + w.e for row, w, _ in terms)])
    sums, value = defaultdict[int, int](int), 0
    for column, x in target.items():
        sums[column] = x.n << (x.e - least)
    for row, w, places in terms:
        spend(2000 + len(row.coefficients) * product_cost(w.n.bit_length(), row.side.bit_length()))
        factor = w.n << (row.exponent + w.e - least)
        value -= factor * row.side
        for place, a in zip(places, row.coefficients, strict=True):
            if a:
                sums[place] += factor * a
    bound = Dyadic(value, least)
    for column, t in sums.items():
        if t and not (t > 0 and is_square(column)):  # squares are not negative
            bound -= Dyadic(abs(t), least) * most(column)
    return bound.fraction
