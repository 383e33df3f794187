"""The hull as a function of a factor on all error bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite

import numpy as np

from gough.core import outward
from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.core.tables import table
from gough.core.text import number
from gough.estimates import Claim, Status, proof
from gough.methods.bounded.constraint_generation import Warm
from gough.methods.bounded.linear_hull import Hull, LinearHull
from gough.methods.bounded.strips import bounds_of
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Sweep(ArrayValue):
    """Hulls for several factors on all error bounds, the largest first: data of a figure; `str()` of it is a table."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    factors: Array
    lower: Array
    """(factors, unknowns)."""
    upper: Array
    log_volume: Array
    """(factors,); −∞ where the problem is inconsistent."""
    status: tuple[Status, ...]
    claim: Claim = Claim.PROOF
    """Claim of every box: PROOF, or ENCLOSURE where the processor does not compute by IEEE 754."""

    @property
    def width(self) -> Array:
        """(factors, unknowns); −∞ where the problem is inconsistent."""
        return self.upper - self.lower

    def __str__(self) -> str:
        words = [
            "refuted" if status is Status.INCONSISTENT else "open" if status is Status.UNBOUNDED else "not refuted"
            for status in self.status
        ]
        rows = [["the bounds are", "", *words]]
        for name, unit, lower, upper in zip(self.names, self.units, self.lower.T, self.upper.T, strict=True):
            widths = (_width(a, b) for a, b in zip(lower.tolist(), upper.tolist(), strict=True))
            rows.append([f"width of {name}", unit, *widths])
        rows.append(["log volume", "", *("—" if v == -np.inf else number(v) for v in self.log_volume)])
        if not any(self.units):
            rows = [[row[0], *row[2:]] for row in rows]
        factors = [repr(factor).removesuffix(".0") for factor in self.factors.tolist()]
        heads = ["factor", *([""] if any(self.units) else []), *factors]
        return str(table(heads, rows, "l" + "l" * (len(heads) - 1 - len(words)) + "r" * len(words)))


@np.errstate(all="ignore")
def sweep(problem: LinearProblem, factors: Sequence[float], *, tolerance: float = 1e-9) -> Sweep:
    """The exact hull for each factor on the error bounds, from the largest to the smallest.

    A hull lies inside the hull of every larger factor, so each begins in the box of the last, and in the linear program
    of the last: rows and vertices are kept, and only the sides of the rows move. Every box is a proof.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [0.0, 3.0], gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> print(sweep(problem, [1, 2, 3]))
        factor                    3            2        1
        ──────────────  ───────────  ───────────  ───────
        the bounds are  not refuted  not refuted  refuted
        width of a                3            1        —
        log volume            1.099        0.000        —
    """
    noise = bounds_of(problem, "sweep")
    chosen = np.unique(array(factors, "factors", ndim=1))[::-1]
    require(chosen.size > 0, "a sweep needs at least one factor")
    require(bool(((chosen > 0) & np.isfinite(chosen)).all()), "factors on the error bounds must be positive numbers")
    box, boxes, warm = problem.unknowns.bounds, list[Box](), Warm()
    for factor in chosen:
        # rounded upward, the box holds what the exact product allows; and it keeps the order: hulls shrink
        radius = (Interval(noise.radius) * factor).upper
        require(bool(np.isfinite(radius).all()), f"the error bounds times {factor:.6g} are beyond all doubles")
        scaled = replace(problem, noise=Bounded(radius, noise.regressor))
        if noise.regressor is None and box.is_bounded and not box.is_empty:
            box = Hull(scaled, box, tolerance, warm=warm).box
        else:
            box = LinearHull(tolerance).contract(scaled, box)
        boxes.append(box)
    return Sweep(
        problem.unknowns.names,
        problem.unknowns.units,
        chosen,
        np.array([box.lower for box in boxes]),
        np.array([box.upper for box in boxes]),
        np.array([box.log_volume() for box in boxes]),
        tuple(_status(box) for box in boxes),
        proof(),
    )


def _width(lower: float, upper: float) -> str:
    """Upper − lower, rounded up."""
    if lower > upper:
        return outward.MISSING
    bounded = isfinite(lower) and isfinite(upper)
    return outward.at_most(Fraction(upper) - Fraction(lower) if bounded else inf, digits=3)


def _status(box: Box) -> Status:
    if box.is_empty:
        return Status.INCONSISTENT
    return Status.OK if box.is_bounded else Status.UNBOUNDED
