"""Chains and trees of boxes, each cut by weighted rows: what they leave of a prior, in exact arithmetic."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from gough.checker.dyadic import Dyadic
from gough.checker.leg_proofs import LegCut, LegLink, LegSplit
from gough.checker.leg_rows import Row
from gough.checker.limits import product_cost, spend
from gough.checker.linear import NotProven
from gough.checker.words import approximately
from gough.core.rational import rational


class LegBox(NamedTuple):
    """What is left of the prior."""

    lower: list[Fraction]
    upper: list[Fraction]
    refuted: bool = False

    @property
    def is_empty(self) -> bool:
        return self.refuted or any(low > high for low, high in zip(self.lower, self.upper, strict=True))

    def union(self, other: "LegBox") -> "LegBox":
        """The smallest box around both; what is consistent is in one of them, hence in the other if one is empty."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        lower, upper = (zip(a, b, strict=True) for a, b in ((self.lower, other.lower), (self.upper, other.upper)))
        return LegBox([min(pair) for pair in lower], [max(pair) for pair in upper])


class Rows(Protocol):
    """The rows of equations in a box, and what weights on them prove."""

    @property
    def first(self) -> int:
        """The place of the first unknown that they speak about."""
        ...

    @property
    def center(self) -> list[Dyadic]: ...

    @property
    def radius(self) -> list[Dyadic]: ...

    def require_covers(self, box: LegBox) -> None:
        """Raise NotProven if the stage leaves out some of what is left."""
        ...

    def proven(self, cut: LegCut, axis: int) -> Fraction:
        """The largest v for which ± h ≥ v, or 0 ≥ v, follows."""
        ...


class Space(Protocol):
    """The unknowns of a question, their prior, and its rows in any box."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def legs(self) -> tuple[int, ...]:
        """Numbers of the legs, or of the chain."""
        ...

    def prior(self) -> LegBox:
        """Where they are sought."""
        ...

    def axis(self, unknown: str) -> int:
        """The place of an unknown."""
        ...

    def rows(self, center: Iterable[float], radius: Iterable[float], leg: int | None) -> Rows:
        """The rows of one leg, or of all there are, in a box."""
        ...

    def weight(self, row: int, weight: float) -> float:
        """A method's weight of a row, for the rows as they stand here."""
        ...


def require_covers(names: Sequence[str], rows: Rows, lower: Sequence[Fraction], upper: Sequence[Fraction]) -> None:
    """Raise NotProven if a box leaves out some of what is left: its rows are derived for |h| ≤ radius only."""
    for name, c, r, low, high in zip(names, rows.center, rows.radius, lower, upper, strict=True):
        if (c - r).fraction > low or (c + r).fraction < high:
            raise NotProven(f"a box does not cover what was left of '{name}'")


Term = tuple[Row, Dyadic, Sequence[int]]
"""A row, its weight, and the places of its columns."""


def least_value(
    terms: Sequence[Term],
    target: tuple[int, int] | None,
    *,
    most: Callable[[int], Dyadic],
    is_square: Callable[[int], bool],
) -> Fraction:
    """The largest v for which ± y ≥ v of a column, or 0 ≥ v, follows: Σ λ (A y − b) ≤ 0 is added, y at its worst.

    Each row is A y ≤ b, so that only weights λ ≥ 0 keep the sign of the sum.
    """
    if any(w.n < 0 for _, w, _ in terms):
        raise NotProven("the weight of a row is negative")
    least = min([0, *(row.exponent + w.e for row, w, _ in terms)])
    sums, value = defaultdict[int, int](int), 0
    if target is not None:
        sums[target[0]] = target[1] << -least
    for row, w, places in terms:
        spend(2000 + len(row.coefficients) * product_cost(w.n.bit_length(), row.side.bit_length()))
        factor = w.n << (row.exponent + w.e - least)
        value -= factor * row.side
        for place, a in zip(places, row.coefficients, strict=False):
            if a:
                sums[place] += factor * a
    bound = Dyadic(value, least)
    for column, t in sums.items():
        if t and not (t > 0 and is_square(column)):  # squares are not negative
            bound -= Dyadic(abs(t), least) * most(column)
    return bound.fraction


def follow(links: Iterable[LegLink], legs: Space, box: LegBox) -> LegBox:
    """The box that a chain establishes; raises NotProven at the first cut that proves less than it states.

    Once nothing is left, what follows could only be true, and is not looked at.
    """
    for number, link in enumerate(links, start=1):
        if box.is_empty:
            break
        if isinstance(link, LegSplit):
            below, above = halves(box, legs.axis(link.unknown), rational(link.at, "where a box is halved"))
            box = follow(link.below, legs, below).union(follow(link.above, legs, above))
            continue
        spend(50_000 + 5_000 * len(link.center))
        rows, left = legs.rows(link.center, link.radius, link.leg), box
        rows.require_covers(box)
        for cut in link.cuts:
            axis = rows.first if cut.side == "empty" else legs.axis(cut.unknown)
            proven, stated = rows.proven(cut, axis), _stated(cut, rows, axis)
            if proven < stated or (cut.side == "empty" and not proven > 0):
                short = approximately(stated - proven)
                raise NotProven(f"box {number}, {cut.side} side of '{cut.unknown}': its rows prove {short} less")
            left = tightened(left, cut, axis)  # all cuts of a stage are proven in the box before it
        box = left
    return box


def halves(box: LegBox, axis: int, at: Fraction) -> tuple[LegBox, LegBox]:
    """The parts below and above: every number is ≤ at or ≥ at, so nothing is between them, wherever `at` is."""
    lower, upper = list(box.lower), list(box.upper)
    lower[axis], upper[axis] = max(lower[axis], at), min(upper[axis], at)
    return LegBox(box.lower, upper, box.refuted), LegBox(lower, box.upper, box.refuted)


def tightened(box: LegBox, cut: LegCut, axis: int) -> LegBox:
    """The part that satisfies a cut."""
    lower, upper, bound = list(box.lower), list(box.upper), rational(cut.bound, "a bound")
    if cut.side == "empty":
        return box._replace(refuted=True)
    if cut.side == "lower":
        lower[axis] = max(lower[axis], bound)
    else:
        upper[axis] = min(upper[axis], bound)
    return LegBox(lower, upper, box.refuted)


def _stated(cut: LegCut, rows: Rows, axis: int) -> Fraction:
    if cut.side == "empty":
        return Fraction(0)
    if not rows.first <= axis < rows.first + len(rows.center):
        raise NotProven(f"a box about another leg says nothing of '{cut.unknown}'")
    center, bound = rows.center[axis - rows.first].fraction, rational(cut.bound, "a bound")
    return bound - center if cut.side == "lower" else center - bound
