"""Chains of boxes for certificates, made from what a method found: its boxes again, in exact numbers."""

from collections.abc import Iterable
from fractions import Fraction

from gough.checker.box_trees import LegBox, Rows, Space, halves, tightened
from gough.checker.leg_proofs import LegCut, LegLink, LegSplit, LegStage
from gough.checker.linear import NotProven
from gough.core.rational import round_down
from gough.evidence import LiftedCut, LiftedStage, LiftedTree

_DIGITS = 13
"""Of weights that bound an unknown: the bound loses nothing that matters."""
_FEWER = (4, 7, 10, _DIGITS, 17)
"""Of weights that contradict each other: as many as the contradiction needs."""


def contradiction(legs: Space, tree: LiftedTree) -> tuple[LegLink, ...]:
    """The chain of a tree that leaves nothing.

    Raises:
        NotProven: in exact numbers it leaves something.
    """
    links, box = links_of(legs, tree, legs.prior())
    if not box.is_empty:
        raise NotProven("in exact numbers the boxes leave something")
    return links


def links_of(legs: Space, tree: LiftedTree, box: LegBox) -> tuple[tuple[LegLink, ...], LegBox]:
    """The chain of a tree of boxes, and the box it ends with."""
    links, box = chain_of(legs, tree.stages, box)
    if box.is_empty or not tree.halves:
        return links, box
    below, above = halves(box, tree.axis, Fraction(tree.at))
    low, left = links_of(legs, tree.halves[0], below)
    high, right = links_of(legs, tree.halves[1], above)
    return (*links, LegSplit(legs.names[tree.axis], tree.at, low, high)), left.union(right)


def chain_of(legs: Space, given: Iterable[LiftedStage], box: LegBox) -> tuple[tuple[LegLink, ...], LegBox]:
    """The boxes of a method again, each cut with the best double that its weights prove; and what they leave."""
    links: list[LegLink] = []
    for stage in given:
        if box.is_empty or not stage.center:
            break
        leg = None if stage.part is None else legs.legs[stage.part]
        members = slice(None) if stage.part is None else slice(7 * stage.part, 7 * stage.part + 7)
        center, radius = _around(box, members)
        rows, left, cuts = legs.rows(center, radius, leg), box, []
        for found in stage.cuts:
            cut = _cut(legs, rows, found)
            if cut is not None:
                cuts.append(cut)
                left = tightened(left, cut, rows.first + found.axis)
        if cuts:
            links.append(LegStage(center, radius, tuple(cuts), leg))
        box = left
    return tuple(links), box


def _around(box: LegBox, members: slice) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Doubles center, radius around a box."""
    lower, upper = box.lower[members], box.upper[members]
    center = [float((low + high) / 2) for low, high in zip(lower, upper, strict=True)]
    radius = []
    for c, low, high in zip(center, lower, upper, strict=True):
        below = round_down(-max(high - Fraction(c), Fraction(c) - low))
        assert below is not None
        radius.append(-below)
    return tuple(center), tuple(radius)


def _cut(legs: Space, rows: Rows, found: LiftedCut) -> LegCut | None:
    """The cut with the best double that its weights prove; None if they prove nothing new."""
    axis = rows.first + found.axis
    if found.sign == 0:
        for digits in _FEWER:
            cut = LegCut(legs.names[rows.first], "empty", 0.0, _weights(legs, found, digits))
            if rows.proven(cut, axis) > 0:
                return cut
        return None
    side = "lower" if found.sign > 0 else "upper"
    weights = _weights(legs, found, _DIGITS)
    proven = rows.proven(LegCut(legs.names[axis], side, 0.0, weights), axis)
    middle = rows.center[found.axis].fraction
    bound = round_down(middle + proven) if side == "lower" else round_down(proven - middle)
    if bound is None or proven <= -rows.radius[found.axis].fraction:
        return None
    return LegCut(legs.names[axis], side, bound if side == "lower" else -bound, weights)


def _weights(legs: Space, found: LiftedCut, digits: int) -> tuple[tuple[int, float], ...]:
    rounded = (
        (row, float(f"{legs.weight(row, weight):.{digits}g}"))
        for row, weight in zip(found.rows, found.weights, strict=True)
    )
    return tuple((row, weight) for row, weight in rounded if weight > 0)
