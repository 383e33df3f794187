"""What becomes of the hull when the error bounds are larger or smaller than stated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.core.text import number, table
from gough.estimate import Status
from gough.methods.linear_hull import LinearHull
from gough.methods.strips import bounds_of
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Sweep(ArrayValue):
    """Hulls for several factors on all error bounds: data of a figure; `str()` of it is a table."""

    names: tuple[str, ...]
    factors: Array
    lower: Array
    """(factors, unknowns)."""
    upper: Array
    log_volume: Array
    status: tuple[Status, ...]

    @property
    def width(self) -> Array:
        """(factors, unknowns); −∞ where the problem is inconsistent."""
        return self.upper - self.lower

    def __str__(self) -> str:
        rows = [
            [number(f), status.name, *(number(w, digits=3) for w in width), number(volume)]
            for f, status, width, volume in zip(self.factors, self.status, self.width, self.log_volume, strict=True)
        ]
        heads = ["factor", "status", *(f"width {name}" for name in self.names), "log volume"]
        return table(heads, rows, align="rl" + "r" * (len(heads) - 2))


def sweep(problem: LinearProblem, factors: Sequence[float], *, tolerance: float = 1e-9) -> Sweep:
    """The exact hull for each factor on the error bounds, from the largest to the smallest.

    A hull lies inside the hull of every larger factor, so each begins in the box of the last. Every box is a proof; OK
    means not refuted.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [0.0, 3.0], gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> print(sweep(problem, [1, 2]))
        factor  status        width a  log volume
        ──────  ────────────  ───────  ──────────
         2.000  OK               1.00       0.000
         1.000  INCONSISTENT       −∞          −∞
    """
    noise = bounds_of(problem, "sweep")
    chosen = np.unique(array(factors, "factors", ndim=1))[::-1]
    require(chosen.size > 0, "a sweep needs at least one factor")
    require(bool(((chosen > 0) & np.isfinite(chosen)).all()), "factors on the error bounds must be positive numbers")
    box, boxes = problem.unknowns.bounds, []
    for factor in chosen:
        # radius · factor is rounded to nearest, which keeps the order: hulls shrink with the factor
        radius = Bounded(noise.radius * factor, noise.regressor)
        box = LinearHull(tolerance).contract(replace(problem, noise=radius), box)
        boxes.append(box)
    return Sweep(
        problem.unknowns.names,
        chosen,
        np.array([box.lower for box in boxes]),
        np.array([box.upper for box in boxes]),
        np.array([box.log_volume() for box in boxes]),
        tuple(_status(box) for box in boxes),
    )


def _status(box: Box) -> Status:
    if box.is_empty:
        return Status.INCONSISTENT
    return Status.OK if box.is_bounded else Status.UNBOUNDED
