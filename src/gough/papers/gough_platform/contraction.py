"""The contractors of [DACP06, §4] and ours on boxes around a leg; Krawczyk's with bisection, as the paper names it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.closure.certified_leg import LegProblem
from gough.core import outward
from gough.core.arrays import Array
from gough.core.tables import Table
from gough.methods import Fixpoint, GaussSeidel
from gough.methods.nonlinear.interval_newton import IntervalNewton
from gough.methods.nonlinear.lifted import LiftedHull
from gough.papers.gough_platform.rebuilt import WIDE
from gough.papers.reproduction import side_by_side
from gough.region import Box

BOXES = 31
"""Boxes that the bisection may contract: five levels of halving, if none is empty."""
KRAWCZYK, BISECTED, LIFTED = "Krawczyk (12)", f"(12) bisected, {BOXES} boxes", "ours, lifted"
_ORDER = (KRAWCZYK, BISECTED, "Oettli–Prager", "Gauss–Seidel", LIFTED)
AROUND = (2e-3, 5e-3, 1e-2, 0.1, 1.0)
"""m: half the sides of the boxes to begin with."""
_GAINED = 0.999
"""Part of a side below which a box counts as contracted."""


@dataclass(frozen=True, eq=False)
class Bisected:
    """The rest of a box after contraction with bisection."""

    hull: Box
    """The smallest box around all boxes that are left: it holds every consistent leg of the box to begin with."""
    contracted: int
    """Boxes that were contracted."""
    empty: int
    """Boxes that are proven to contain no consistent leg."""
    left: int
    """Boxes that are left."""


def bisected(problem: LegProblem, *, boxes: int) -> Bisected:
    """Krawczyk's linear programs (12), repeated until they gain nothing, then the widest side halved, and so on.

    The largest box is always taken next; it ends after `boxes` contractions.

    Examples:
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> data = LegMeasurements(np.tile([1.0, 0, 0, 0], (8, 1)), p, np.linalg.norm(p, axis=1) - 0.2, 1e-5, 0.0, 1e-5)
        >>> prior = Box([-2e-3] * 3 + [0] * 3 + [0.198], [2e-3] * 3 + [0] * 3 + [0.202])
        >>> once, often = (bisected(LegProblem(data, prior), boxes=n) for n in (1, 9))
        >>> [0, 0, 0, 0, 0, 0, 0.2] in often.hull, bool((often.hull.width <= once.hull.width).all()), often.contracted
        (True, True, 9)
    """
    step: Any = Fixpoint(IntervalNewton(krawczyk=True))  # type: ignore[arg-type]  # contracts what has linearizations
    waiting, contracted, empty = [problem.prior], 0, 0
    while waiting and contracted < boxes:
        waiting.sort(key=lambda box: float(box.width.max()))
        hull = step.estimate(replace(problem, prior=waiting.pop())).region.hull()
        contracted += 1
        if hull.is_empty:
            empty += 1
            continue
        axis = int(hull.width.argmax())
        waiting += _halves(hull, axis)
    if not waiting:
        return Bisected(Box.empty(len(problem.prior)), contracted, empty, 0)
    lower, upper = np.array([box.lower for box in waiting]), np.array([box.upper for box in waiting])
    return Bisected(Box(lower.min(axis=0), upper.max(axis=0)), contracted, empty, len(waiting))


def _halves(box: Box, axis: int) -> list[Box]:
    middle = box.center[axis]
    below, above = box.upper.copy(), box.lower.copy()
    below[axis] = above[axis] = middle
    return [Box(box.lower, below), Box(above, box.upper)]


@dataclass(frozen=True, eq=False)
class Contractions:
    """Widths (m) that each method leaves of each box, and what the bisection did."""

    widths: dict[str, list[Array]]
    """By method: for each box of `AROUND` the seven widths."""
    bisections: list[Bisected]

    @classmethod
    def of(cls, problem: LegProblem, center: Array) -> "Contractions":
        """Boxes of several sizes around a leg."""
        newton: dict[str, Any] = {
            KRAWCZYK: IntervalNewton(krawczyk=True),
            "Oettli–Prager": IntervalNewton(),
            "Gauss–Seidel": IntervalNewton(GaussSeidel()),
        }
        starts = [replace(problem, prior=Box.around(center, around)) for around in AROUND]
        bisections = [bisected(start, boxes=BOXES) for start in starts]
        widths = {
            name: [Fixpoint(step).estimate(start).region.hull().width for start in starts]  # type: ignore[arg-type]
            for name, step in newton.items()
        }
        widths[BISECTED] = [each.hull.width for each in bisections]
        widths[LIFTED] = [LiftedHull().estimate(start).region.hull().width for start in starts]
        return cls({name: widths[name] for name in _ORDER}, bisections)

    def gained(self, method: str) -> list[bool]:
        """Does the method narrow any side of each box?"""
        return [
            bool((width < _GAINED * 2 * around).any())
            for width, around in zip(self.widths[method], AROUND, strict=True)
        ]

    def largest(self, method: str) -> float:
        """m: the largest box of `AROUND` that the method contracts; 0 if none."""
        return max((a for a, gained in zip(AROUND, self.gained(method), strict=True) if gained), default=0.0)

    @property
    def lifted_differ(self) -> float:
        """Largest relative difference of the lifted widths, from boxes that (12) alone does not contract."""
        begun = zip(self.widths[LIFTED], AROUND, strict=True)
        widths = [width for width, around in begun if around > self.largest(KRAWCZYK)]
        return max((float((abs(width - widths[0]) / widths[0]).max()) for width in widths), default=0.0)

    def table(self) -> Table:
        """Least and largest width by method and box."""
        rows = tuple(
            (f"± {1e3 * around:g}", *(self._cell(name, k) for name in self.widths)) for k, around in enumerate(AROUND)
        )
        caption = f"Section 4. Widths of leg 1 (least … largest of seven) from boxes of several sizes, ± {WIDE:g} σ, mm"
        return side_by_side(caption, ("from", *self.widths), rows)

    def _cell(self, method: str, k: int) -> str:
        if not self.gained(method)[k]:
            return "as wide"
        width = self.widths[method][k]
        ends = np.nextafter([width.min(), width.max()], np.inf).tolist()
        return " … ".join(outward.at_most(end, times=1000, digits=3) for end in ends)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, m."""
        return {
            "around": list(AROUND),
            "widths": {name: [width.tolist() for width in widths] for name, widths in self.widths.items()},
            "bisection": [
                {"contracted": each.contracted, "empty": each.empty, "left": each.left} for each in self.bisections
            ],
            "largest_box_contracted": {name: self.largest(name) for name in self.widths},
            "lifted_widths_differ_by": self.lifted_differ,
        }
