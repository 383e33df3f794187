"""Linear programs over a problem of which some rows are dropped, each answered by a bound that is proven.

The pool of rows is shared by all programs: a dropped row is given infinite sides and gets them back afterwards, so that
the next program starts where the last one ended.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.methods.bounded.exact_bound import Floors, Multipliers, Prover, rounded_down
from gough.methods.bounded.strips import Outline, Strips, least_squares, reachable
from gough.methods.programs.row_generation import GeneratedProgram
from gough.methods.programs.simplex import Optimum, Outcome, Start
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box

RowSet = frozenset[int]
NO_ROWS: RowSet = frozenset()
NO_MULTIPLIERS = Multipliers((), ())

_FIRST = 10
"""Rows to begin with, per unknown."""
_ADDED = 8
"""Rows added at most where a vertex violates rows."""
_ROUNDS = 200
"""Rounds of adding rows, after which what was found must do."""
_TINY = 1e-11
"""Weights below this part of the largest are set to zero before anything is proven with them."""
_WIDE = 1e6
"""Sides of a box that are wider, in units of the error bounds, come from the prior and say nothing about scales."""
_SAMPLE = 20000


class Solved(NamedTuple):
    """Vertices of several programs of one cost, and what they prove; a search has tens of thousands of programs."""

    cost: Array
    runs: Any
    place: list[int]
    """For each bound, the run that it belongs to."""
    floors: Floors


class Single(NamedTuple):
    """The multipliers of one program, and its vertex."""

    multipliers: Multipliers
    start: Start | None = None


NO_SOURCE = Single(NO_MULTIPLIERS)


@dataclass(frozen=True, eq=False, slots=True)
class Cut:
    """direction · θ ≥ value for every θ of the box that satisfies `rows`; ∞ if none does, −∞ if nothing was proven."""

    value: float
    rows: RowSet = NO_ROWS
    source: Solved | Single = NO_SOURCE
    index: int = 0
    """Its place among the bounds of the source."""

    @property
    def multipliers(self) -> Multipliers:
        """The weights on rows that prove it."""
        source = self.source
        return source.multipliers if isinstance(source, Single) else source.floors.multipliers(self.index)

    @property
    def start(self) -> Start | None:
        """The vertex of it, where similar programs may begin."""
        source = self.source
        if isinstance(source, Single):
            return source.start
        runs, i = source.runs, source.place[self.index]
        return Start(source.cost, runs.basis[i], runs.sign[i], runs.value[i])


class Programs(GeneratedProgram):
    """minimize direction · θ over the box and all rows but some; every answer is proven in rational arithmetic."""

    def __init__(self, problem: LinearProblem, box: Box, strips: Strips, tolerance: float) -> None:
        super().__init__(*strips.box(box), problem.n_rows)
        self.problem, self.box, self.strips = problem, box, strips
        self.tolerance = tolerance
        self.prover = Prover(problem)
        self._reachable = reachable(problem, box)
        self._place: dict[int, int] = {}
        self._sides: list[tuple[float, float]] = []
        """Sides of the rows in the pool, dropped ones included."""
        self._outlined: tuple[int, Outline | None] = (-1, None)
        self._off: RowSet = NO_ROWS
        self._costs: dict[bytes, tuple[Array, float]] = {}
        self._solved: dict[tuple[bytes, RowSet], Cut] = {}
        self._proven: dict[tuple[bytes, RowSet], Cut] = {}
        self.add(strips.nearest(_FIRST * len(strips.center), self._reachable))

    def cut(self, direction: Array, without: RowSet, near: Cut | None = None) -> Cut:
        """The best proven bound of direction · θ that uses none of the rows `without`; `near` is a similar one."""
        key = (direction.tobytes(), without)
        if key not in self._solved:
            self._solved[key] = self._proposed(direction, without, near)
        return self._solved[key]

    def cuts(self, direction: Array, withouts: list[RowSet], near: list[Cut]) -> list[Cut]:
        """Several of them at once, which is quicker."""
        key = direction.tobytes()
        new = [i for i, without in enumerate(withouts) if (key, without) not in self._solved]
        if len(new) > 1 and self.outline is not None:
            starts = [(i, start) for i in new if (start := near[i].start)]
            self._solve_each(direction, [withouts[i] for i, _ in starts], [start for _, start in starts])
        return [self.cut(direction, without, one) for without, one in zip(withouts, near, strict=True)]

    def column(self, row: int) -> int:
        """Where the tableau has a row."""
        return len(self.box) + self._place[row]

    def _solve_each(self, direction: Array, withouts: list[RowSet], starts: list[Start]) -> None:
        """Enter cuts that need nothing but the pool; the others are left to be solved one by one."""
        if not starts:
            return
        cost, size = self.scaled_cost(direction)
        self.switch(NO_ROWS)
        place = self._place
        dropped = [[place[row] for row in without if row in place] for without in withouts]
        runs = self.simplex.minimize_each(cost, dropped, starts)
        outline = self.outline
        assert outline is not None
        excess = outline.excess(runs.point).max(axis=0, initial=-np.inf)
        good = ((runs.outcome == 0) & (excess <= self.tolerance)).nonzero()[0]
        place = good.tolist()
        index = runs.basis[good] - len(self.box)
        known = (index >= 0) & (index < len(self.pool))
        rows = self.pool[np.where(known, index, 0)]
        # a cut of the other rows must not rest on a dropped one, whatever the program says
        allowed = np.array(
            [[row not in withouts[i] for row in some] for i, some in zip(place, rows.tolist(), strict=True)], bool
        )
        weights = np.where(known & allowed.reshape(known.shape), runs.price[good], 0.0)
        weights[~(abs(weights) > _TINY * abs(weights).max(axis=1, keepdims=True, initial=0.0))] = 0.0
        weights = weights * size / self.strips.length[rows]
        key, floors = direction.tobytes(), self.prover.floors(self.box, direction, rows, weights)
        source = Solved(cost, runs, place, floors)
        for index, (i, value) in enumerate(zip(place, floors.values, strict=True)):
            self._solved[key, withouts[i]] = Cut(value, floors.support(index), source, index)

    def scaled_cost(self, direction: Array) -> tuple[Array, float]:
        """The cost in the coordinates of the strips, and what it was divided by."""
        key = direction.tobytes()
        if key not in self._costs:
            self._costs[key] = self.strips.cost(direction)
        return self._costs[key]

    def contradiction(self, rows: Integers, weights: Array) -> Multipliers | None:
        """Multipliers that prove 0 ≥ value > 0, so that no θ of the box satisfies these rows; None if they do not."""
        for sign in (1, -1):
            value, used = self._bound(np.zeros(len(self.box)), rows, sign * weights)
            if value > 0:
                return used
        return None

    def _proposed(self, direction: Array, without: RowSet, near: Cut | None) -> Cut:
        cost, size = self.scaled_cost(direction)
        optimum = self._optimum(cost, without, None if near is None else near.start)
        rows, weights = optimum.on(self.pool)
        # a cut of the other rows must not rest on a dropped one, whatever the program says
        kept = (abs(weights) > _TINY * abs(weights).max(initial=0.0)) & ~np.isin(rows, list(without))
        rows, weights = rows[kept], weights[kept]
        weights = weights / self.strips.length[rows]
        match optimum.outcome:
            case Outcome.INFEASIBLE:
                wrong = self.contradiction(rows, weights) if rows.size else None
                return Cut(-np.inf) if wrong is None else Cut(np.inf, wrong.support, Single(wrong))
            case Outcome.OPTIMAL:
                weights = weights * size
                bound = self._prove(direction, rows, weights)
                return replace(bound, source=Single(bound.multipliers, optimum.start))
        return Cut(-np.inf)

    def _prove(self, direction: Array, rows: Integers, weights: Array) -> Cut:
        key = (direction.tobytes(), frozenset(rows.tolist()))
        if key not in self._proven:  # bounds that were proven in a wider box hold in this one
            value, used = self._bound(direction, rows, weights)
            self._proven[key] = Cut(value, used.support, Single(used))
        return self._proven[key]

    def _bound(self, direction: Array, rows: Integers, weights: Array) -> tuple[float, Multipliers]:
        if weights.any():
            return self.prover.floor(self.box, direction, rows, weights)
        return rounded_down(_least(self.box, direction)), NO_MULTIPLIERS

    def _optimum(self, cost: Array, without: RowSet, start: Start | None) -> Optimum:
        self.switch(without)
        return self.minimize(cost, lambda point: self.violated(point, without), start, max_rounds=_ROUNDS)

    @property
    def outline(self) -> Outline | None:
        """Rows outside the pool that may be violated."""
        size, outline = self._outlined
        if size != len(self.pool):
            outline = self.strips.outline(self._reachable[self.outside[self._reachable]])
            self._outlined = len(self.pool), outline
        return outline

    def violated(self, point: Array, without: RowSet) -> Integers:
        outline = self.outline
        rows = self._reachable if outline is None else outline.rows
        at = point[None, :]
        excess = self.strips.excess(at, rows) if outline is None else outline.excess(at)[:, 0]
        index = (excess > self.tolerance).nonzero()[0]
        if index.size:
            unseen = [row for row in without if row not in self._place]
            index = index[self.outside[rows[index]] & ~np.isin(rows[index], unseen)]
        return rows[index[np.argsort(-excess[index], kind="stable")[:_ADDED]]]

    def rows(self, numbers: Integers) -> tuple[Array, Array, Array]:
        """Rows that the pool gains; those that are dropped now get no sides."""
        A, lower, upper = self.strips.rows(numbers)
        self._place |= {row: len(self._sides) + i for i, row in enumerate(numbers.tolist())}
        self._sides += zip(lower.tolist(), upper.tolist(), strict=True)
        dropped = np.isin(numbers, list(self._off))
        return A, np.where(dropped, -np.inf, lower), np.where(dropped, np.inf, upper)

    def switch(self, without: RowSet) -> None:
        for row in sorted(without - self._off):
            if row in self._place:
                self.simplex.set_row(self._place[row], -np.inf, np.inf)
        for row in sorted(self._off - without):
            if row in self._place:
                self.simplex.set_row(self._place[row], *self._sides[self._place[row]])
        self._off = without


def robust_strips(problem: LinearProblem, box: Box, method: str) -> Strips:
    """Strips around a point near which most rows hold: least absolute residuals of a sample, roughly."""
    strips = replace(Strips.of(problem, box, method), chord=None)
    A, lower, upper = strips.rows(np.arange(0, problem.n_rows, max(1, problem.n_rows // _SAMPLE)))
    known = np.isfinite(lower) & np.isfinite(upper)
    A, b = A[known], lower[known] / 2 + upper[known] / 2
    z: Array = np.zeros(A.shape[1])
    for _ in range(20 if len(A) else 0):
        residual: Array = abs(b - A @ z)
        weight = 1 / np.sqrt(np.maximum(residual, 1e-6 * np.median(residual) + 1e-300))
        z = least_squares(A * weight[:, None], b * weight)
    center = np.clip(strips.theta(z), box.lower, box.upper)
    return widened(strips.recentered(center, center), box)


def around(strips: Strips, box: Box) -> Strips:
    """The same strips in coordinates where the box, as far as rows bound it, is about the unit box."""
    bounded = box.width < _WIDE * strips.scale
    center = np.clip(strips.center, box.lower, box.upper)
    lower, upper = np.where(bounded, box.lower, center), np.where(bounded, box.upper, center)
    return widened(strips.recentered(lower, upper), box)


def widened(strips: Strips, box: Box) -> Strips:
    """Strips with radius e + D |θ| at its largest in the box, if W has a radius D and the box is bounded."""
    noise = strips.problem.noise
    assert isinstance(noise, Bounded)
    if noise.regressor is None or not box.is_bounded:
        return strips
    D = np.broadcast_to(noise.regressor, strips.problem.W.shape)
    radius = noise.radius + D @ np.maximum(abs(box.lower), abs(box.upper))
    return replace(strips, radius=np.where(np.isnan(radius), np.inf, radius))


def _least(box: Box, direction: Array) -> Fraction | None:
    """The minimum of direction · θ over the box; None for −∞."""
    total = Fraction(0)
    for d, low, high in zip(direction.tolist(), box.lower.tolist(), box.upper.tolist(), strict=True):
        side = low if d > 0 else high
        if d and not np.isfinite(side):
            return None
        total += Fraction(d) * Fraction(side) if d else 0
    return total
