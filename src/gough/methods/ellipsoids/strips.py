"""Strips |mid − dᵀz| ≤ half in coordinates of order one, scaled by powers of two so that nothing is rounded."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gough.core.arrays import ROWS_PER_BLOCK, Array, Integers, Mask
from gough.core.intervals import Interval
from gough.core.midrad import TINY, upward
from gough.core.products import bound_matmul, residual
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box

_CACHED = 1 << 22
"""Entries of D kept scaled in memory; a longer D is scaled block by block each time."""
_FAINT = 900
"""Entries that differ by more than 2^900 in one row, or bounds beyond it, make the row useless and not wrong."""


@dataclass(frozen=True, eq=False)
class ExactStrips:
    """The p sides of a box, then one strip per row of W, for z = θ / 2^columns.

    A strip with half = ∞ says nothing. Row k of W is multiplied by 2^rows[k], which makes its greatest entry about one.
    """

    W: Array
    free: Integers
    """Columns of W in use: those whose unknown is not fixed."""
    columns: Integers
    rows: Integers
    mid: Array
    half: Array
    contradiction: int = -1
    """A row of zeros whose bounds exclude zero, or −1: a proof of inconsistency by itself."""
    _cache: list[Array] = field(default_factory=list)

    @property
    def n_axes(self) -> int:
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.mid)

    def take(self, chosen: Any) -> Array:
        """Scaled rows of the strips with these numbers (a slice within one kind, or an array of numbers)."""
        p = self.n_axes
        if isinstance(chosen, slice):
            return np.eye(p)[chosen] if chosen.stop <= p else self._scaled(slice(chosen.start - p, chosen.stop - p))
        result = np.zeros((len(chosen), p))
        side = chosen < p
        result[side] = np.eye(p)[chosen[side]]
        result[~side] = self._scaled(chosen[~side] - p)
        return result

    def blocks(self) -> list[slice]:
        """The sides, then blocks of rows."""
        p, n = self.n_axes, len(self)
        return [slice(0, p), *(slice(k, min(k + ROWS_PER_BLOCK, n)) for k in range(p, n, ROWS_PER_BLOCK))]

    def _scaled(self, rows: Any) -> Array:
        if self.W.size > _CACHED:
            return self._scale(rows)
        if not self._cache:
            self._cache.append(self._scale(slice(0, len(self.W))))
        return self._cache[0][rows]

    def _scale(self, rows: Any) -> Array:
        D = np.ldexp(self.W[rows][:, self.free], self.columns + self.rows[rows, None])
        D[~np.isfinite(self.half[self.n_axes :][rows])] = 0.0
        return D

    def cut(self, support: Interval, rows: slice) -> tuple[Array, Array]:
        """Middle and half of the strips' parts inside the support, rounded outward; half < 0 where nothing is left."""
        known = np.isfinite(self.half[rows])
        strip = Interval.centered(self.mid[rows], np.where(known, self.half[rows], 0.0))
        lower, upper = np.maximum(strip.lower, support.lower), np.minimum(strip.upper, support.upper)
        mid, half = middle_and_half(lower, upper)
        narrower = known & (half < self.half[rows])
        return np.where(narrower, mid, self.mid[rows]), np.where(narrower, half, self.half[rows])

    def with_bounds(self, mid: Array, half: Array) -> "ExactStrips":
        return replace(self, mid=mid, half=half)


def middle_and_half(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Middle and half of intervals, rounded outward: half = ∞ where an end is infinite, −1 where lower > upper."""
    with np.errstate(all="ignore"):
        mid = 0.5 * lower + 0.5 * upper
        half = np.maximum(upward(upper - mid), upward(mid - lower))
    known = np.isfinite(mid) & np.isfinite(half)
    return np.where(known, mid, 0.0), np.where(lower > upper, -1.0, np.where(known, half, np.inf))


def strips_of(W: Array, mid: Array, half: Array, free: Integers, prior: Box) -> ExactStrips:
    """The sides of `prior` (finite, not fixed) and the rows |mid − W θ| ≤ half, scaled."""
    center, radius = middle_and_half(prior.lower, prior.upper)
    columns = np.frexp(radius)[1].astype(np.int64)
    rows, usable = np.zeros(len(W), dtype=np.int64), np.zeros(len(W), dtype=bool)
    contradiction = -1
    for first in range(0, len(W), ROWS_PER_BLOCK):
        block = slice(first, min(first + ROWS_PER_BLOCK, len(W)))
        D = W[block][:, free]
        exponent = np.frexp(D)[1] + columns
        greatest = np.where(D != 0, exponent, -(2**20)).max(axis=1, initial=-(2**20))
        least = np.where(D != 0, exponent, 2**20).min(axis=1, initial=2**20)
        nothing = greatest == -(2**20)
        refuted = np.flatnonzero(nothing & (np.abs(mid[block]) > half[block]))
        if refuted.size and contradiction < 0:
            contradiction = first + int(refuted[0])
        usable[block] = ~nothing & (greatest - least < _FAINT)
        rows[block] = np.where(nothing, 0, -greatest)
    scaled_mid, scaled_half = _scaled_bounds(mid, half, rows, usable)
    side_mid, side_half = np.ldexp(center, -columns), np.ldexp(radius, -columns)
    # a middle so small beside its half that it was rounded, by next to nothing, is paid for by an ulp or two
    side_half = np.where(np.ldexp(side_mid, columns) == center, side_half, side_half * (1 + 2.0**-50))
    return ExactStrips(
        W, free, columns, rows,
        np.concatenate([side_mid, scaled_mid]), np.concatenate([side_half, scaled_half]),
        contradiction,
    )  # fmt: skip


def _scaled_bounds(mid: Array, half: Array, rows: Integers, usable: Mask) -> tuple[Array, Array]:
    """Middle and half times 2^rows; a half too small for that is raised, a middle too small or large is useless."""
    with np.errstate(all="ignore"):
        new_mid, new_half = np.ldexp(mid, rows), np.ldexp(half, rows)
        exact = (np.ldexp(new_mid, -rows) == mid) & (np.abs(new_mid) <= 2.0**_FAINT) & usable
        new_half = np.where(half > 0, np.maximum(new_half, 2.0**-_FAINT), 0.0)
    return np.where(exact, new_mid, 0.0), np.where(exact & (new_half <= 2.0**_FAINT), new_half, np.inf)


def centered(problem: LinearProblem, noise: Bounded, box: Box) -> tuple[Array, Array, Integers]:
    """Middle and half of each row for the free unknowns, and their columns; fixed ones are moved to the middle.

    An uncertain regressor widens the row by Σ radius · max|θ| over `box`.
    """
    fixed = np.flatnonzero(box.lower == box.upper)
    free = np.flatnonzero(box.lower != box.upper)
    mid = np.array(problem.y)
    half = np.array(np.broadcast_to(noise.radius, mid.shape))
    greatest = np.maximum(np.abs(box.lower), np.abs(box.upper))
    for rows in problem.blocks():
        if fixed.size:
            moved = residual(problem.W[rows][:, fixed], box.lower[fixed], mid[rows])
            mid[rows], half[rows] = moved.mid, upward(half[rows] + moved.rad)
        if noise.regressor is not None:
            D = np.broadcast_to(
                noise.regressor if noise.regressor.ndim == 0 else noise.regressor[rows], problem.W[rows].shape
            )
            half[rows] = upward(half[rows] + bound_matmul(D, greatest[:, None])[:, 0]) + TINY
    return mid, half, free
