"""The equations of probed heights of a delta printer, in exact arithmetic: three spheres a point, and its towers.

    |P_k + (0, 0, reading_ki) − T_i|² = arm_i²,   |z_k − height_k| ≤ ε,
    |T_a|, |T_b|, |T_c| in the plane are equal,   T_c stands at its configured angle

Unknown are the towers T_i, with the height of the carriage at reading zero, and the points P_k: nobody measured their
x and y. With h = x − center each equation is exactly linear in h and its products.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from gough.checker.box_rows import BoxRows, Numbers, Row, row_of
from gough.checker.chain_boxes import ChainBox, Space
from gough.checker.dyadic import ZERO, Dyadic
from gough.checker.limits import spend
from gough.checker.linear import NotProven
from gough.checker.raw_numbers import Span, total, turn
from gough.checker.raw_printer import ExactPrinter
from gough.core.arrays import Array
from gough.core.rational import rational

TOWERS = tuple(f"{what}_{t}" for t in "abc" for what in ("tower_x", "tower_y", "carriage"))
_FINE = 160
"""Binary digits after the point of numbers that are not doubles; what is rounded off is added to the other side."""


def names_of(n_points: int) -> tuple[str, ...]:
    """The unknowns: towers, then points."""
    return (*TOWERS, *(f"{axis}_{k}" for k in range(n_points) for axis in "xyz"))


@dataclass(frozen=True, eq=False)
class HeightEquations:
    """The equations of one printer."""

    printer: ExactPrinter

    word: ClassVar[str] = "printer"
    conditions: ClassVar[tuple[()]] = ()
    reading_unit: ClassVar[str] = "m"

    @property
    def n_poses(self) -> int:
        """None: points are unknowns."""
        return 0

    @property
    def n_points(self) -> int:
        """Number of probed points."""
        return len(self.printer.heights)

    @property
    def n_equations(self) -> int:
        """Three spheres a point, then the three conditions of the towers."""
        return 3 * self.n_points + 3

    @property
    def n_unknowns(self) -> int:
        """Coordinates of towers and points."""
        return 9 + 3 * self.n_points

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Squares, and tower by point, axis by axis."""
        squares = tuple((j, j) for j in range(self.n_unknowns))
        crossed = ((tower, point) for k in range(3 * self.n_points) for tower, point in zip(*_places(k), strict=True))
        return (*squares, *crossed)

    @property
    def reading_tolerance(self) -> Array:
        """Readings are exact."""
        return np.zeros(0)

    @property
    def shared_tolerance(self) -> Array:
        """No errors of poses are shared."""
        return np.zeros((0, 0))

    def names_of(self, chain: int) -> tuple[str, ...]:  # noqa: ARG002 - of the interface
        """The unknowns."""
        return names_of(self.n_points)

    def rows(self, center: Numbers, radius: Numbers, more: Dyadic, *, shared: bool) -> BoxRows:  # noqa: ARG002
        """Rows in a box."""
        return _HeightRows(self, center, radius)

    def scale(self, k: int) -> float:  # noqa: ARG002 - of the interface
        """Rows stand as they are."""
        return 1.0

    def require_fits(self, values: Sequence[Fraction], k: int, more: Dyadic, errors: Sequence[Fraction]) -> None:
        """Points are irrational: they are enclosed, not exhibited."""
        del values, k, more, errors
        raise NotProven("a printer is exhibited by a HeightWitness")


def _places(sphere: int) -> tuple[range, range]:
    """The unknowns of a sphere's tower and of its point."""
    point, tower = divmod(sphere, 3)
    return range(3 * tower, 3 * tower + 3), range(9 + 3 * point, 12 + 3 * point)


class _HeightRows(BoxRows):
    """Each equation from above and from below in a box."""

    def __init__(self, of: HeightEquations, center: Numbers, radius: Numbers) -> None:
        super().__init__(of.products, of.n_equations, center, radius)
        self._of = of
        self._at = [x.fraction for x in center]
        self._turn = turn(of.printer.angle_c.span)

    def _both_sides(self, k: int) -> tuple[Row, Row]:
        spend(20_000 + 200 * self.n_columns)
        spheres, n = 3 * self._of.n_points, self._of.n_unknowns
        linear: dict[int, Span] = {}
        products: dict[int, int] = {}
        if k < spheres:
            value = self._sphere(k, linear)
            tower, point = _places(k)
            products = dict.fromkeys((*tower, *point), 1) | dict.fromkeys(range(n + 3 * k, n + 3 * k + 3), -2)
        elif k < spheres + 2:
            value, first = Span.at(0), 3 * (k - spheres)
            for sign, j in ((1, first), (1, first + 1), (-1, first + 3), (-1, first + 4)):
                value += Span.at(sign * self._at[j] ** 2)
                linear[j], products[j] = Span.at(2 * sign * self._at[j]), sign
        else:
            cosine, sine = self._turn
            value = sine * self._at[6] - cosine * self._at[7]
            linear[6], linear[7] = sine, -cosine
        return self._rows(value, linear, products)

    def _sphere(self, k: int, linear: dict[int, Span]) -> Span:
        """|d|² − arm² at the center; its derivatives are entered."""
        printer, at = self._of.printer, self._at
        point, i = divmod(k, 3)
        value = -(printer.arm[i] ** 2)
        for axis, (t, p) in enumerate(zip(*_places(k), strict=True)):
            d = at[p] - at[t] + (printer.readings[point][i] if axis == 2 else 0)
            value += d * d
            linear[p], linear[t] = Span.at(2 * d), Span.at(-2 * d)
        return Span.at(value)

    def _rows(self, value: Span, linear: dict[int, Span], products: dict[int, int]) -> tuple[Row, Row]:
        """The equation value + linear · h + products = 0 as two rows, in numbers times powers of two."""
        row, slack = [ZERO] * self.n_columns, Fraction(0)
        for j, span in linear.items():
            row[j] = _below((span.low + span.high) / 2)
            off = max(abs(span.low - row[j].fraction), abs(span.high - row[j].fraction))
            slack += off * self.radius[j].fraction
        for place, factor in products.items():
            row[len(self.center) + place] = Dyadic(factor, 0)
        above = row_of(row, -_below(value.low - slack))
        return above, row_of([-x for x in row], -_below(-value.high - slack))


def _below(x: Fraction) -> Dyadic:
    """The largest multiple of 2^-160 that is not above x."""
    return Dyadic((x * (1 << _FINE)).__floor__(), -_FINE)


def height_space(printer: ExactPrinter, epsilon: float, lower: Sequence[float], upper: Sequence[float]) -> Space:
    """Where towers and points are sought: towers within their box, heights within ε, points wherever these allow.

    Raises:
        NotProven: the box of the towers is so wide that points may be anywhere.
    """
    e = rational(epsilon, "epsilon")
    low, high = ([rational(x, "a side of the towers") for x in side] for side in (lower, upper))
    if not (len(low) == len(high) == len(TOWERS) and all(a <= b for a, b in zip(low, high, strict=True)) and e >= 0):
        raise NotProven("the towers need a lower and an upper side for each of their 9 unknowns, and ε ≥ 0")
    for k in range(len(printer.heights)):
        spend_point(printer, k)
        for span in point_spans(printer, k, e, low, high):
            low.append(span.low)
            high.append(span.high)
    return Space((1,), (HeightEquations(printer),), names_of(len(printer.heights)), ChainBox(low, high))


def spend_point(printer: ExactPrinter, k: int) -> None:
    """Count the work of one point, which grows with the square of the digits of its decimals."""
    numbers = (*printer.arm, *printer.readings[k], printer.heights[k])
    spend(3_000_000 + max(x.numerator.bit_length() + x.denominator.bit_length() for x in numbers) ** 2 // 10)


def point_spans(
    printer: ExactPrinter, k: int, epsilon: Fraction, lower: Sequence[Fraction], upper: Sequence[Fraction]
) -> tuple[Span, Span, Span]:
    """Where a point is for all towers of a box, if its height is within ε.

    The differences of the three spheres are linear in the point: 2 (U_j − U_i)·P = |U_j|² − |U_i|² − arm_j² + arm_i²
    with the centers U_i of the spheres. Cramer's rule gives x and y; of the three pairs of differences each is right.
    Coordinates are counted from the middle of the towers, which keeps the squares small.
    """
    middle = [sum((lower[3 * i + axis] + upper[3 * i + axis] for i in range(3)), Fraction(0)) / 6 for axis in (0, 1)]
    z = Span(printer.heights[k] - epsilon, printer.heights[k] + epsilon)
    origin = (*middle, printer.heights[k])
    centers = []
    for i in range(3):
        shift = (Fraction(0), Fraction(0), printer.readings[k][i])
        sides = zip(lower[3 * i : 3 * i + 3], upper[3 * i : 3 * i + 3], shift, origin, strict=True)
        centers.append([Span(a - s - o, b - s - o) for a, b, s, o in sides])
    size = [
        total(_square(x) for x in center) - Span.at(arm**2) for center, arm in zip(centers, printer.arm, strict=True)
    ]
    rest = z - Span.at(printer.heights[k])
    rows = []
    for i, j in combinations(range(3), 2):
        x, y, up = ((centers[j][axis] - centers[i][axis]) * 2 for axis in range(3))
        rows.append((x, y, size[j] - size[i] - up * rest))
    found: list[tuple[Span, Span]] = []
    for (a, b, e), (c, d, f) in combinations(rows, 2):
        det = a * d - b * c
        found.append(((e * d - b * f) / det, (a * f - e * c) / det))
    x, y = (_common([pair[axis] for pair in found]) for axis in (0, 1))
    return (x + Span.at(middle[0])).rounded(), (y + Span.at(middle[1])).rounded(), z


def _square(x: Span) -> Span:
    return Span(x.least**2, x.most**2)


def _common(spans: Sequence[Span]) -> Span:
    """What lies in all of them; where nothing does, no point is there at all, and any span is right."""
    low, high = max(each.low for each in spans), min(each.high for each in spans)
    return Span(low, high) if low <= high else spans[0]
