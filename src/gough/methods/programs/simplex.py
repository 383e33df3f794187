"""A linear program that is changed a little and solved again, from where a similar one ended; not trusted.

Few unknowns and some hundred rows suit the compiled simplex method of `dense_simplex`; where it gives up, HiGHS tries
from scratch. The only module that imports highspy. What it returns are proposals; bounds are
made from them elsewhere, exactly.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, cast

import numpy as np

from gough.core.arrays import Array, Integers

_DOUBTFUL = 1e-7
"""Contradictions by less than this, in rows of length one, may come from rounding: HiGHS is asked too."""
_SMALL = 1 << 16
"""Entries of a pool of rows up to which all of them are held; of larger ones, those near the vertex."""
_SHORT = 1e-300
"""Length of rows that have none."""
_ALIKE = 0.7
"""Cosine of the angle between costs from which on they have vertices near one another."""
_MEMORY = 4096
"""Costs whose vertices are remembered, the oldest forgotten first."""


class Outcome(Enum):
    """Outcome of a run."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


class Start(NamedTuple):
    """A vertex to begin with: the least for some cost, though perhaps of other rows."""

    cost: Array
    basis: Integers
    sign: Array
    value: Array


@dataclass(frozen=True, eq=False)
class Optimum:
    """A vertex and the multipliers of the rows; of an infeasible program, the multipliers of a contradiction."""

    outcome: Outcome
    point: Array
    rows: Integers
    """Rows whose multiplier is not zero, rising."""
    weights: Array
    """Their multipliers."""
    start: Start | None = None
    """A start for similar programs."""

    def on(self, pool: Integers) -> tuple[Integers, Array]:
        """The multipliers that are numbers, and the entries of `pool` that they belong to; others are left out."""
        used = min(len(self.rows), len(self.weights))
        rows, weights = self.rows[:used], self.weights[:used]
        usable = np.isfinite(weights) & (rows >= 0) & (rows < len(pool))
        return pool[rows[usable]], weights[usable]


class Simplex:
    """minimize c·x subject to lower ≤ A x ≤ upper and x in a box; rows are added, costs change, vertices are kept."""

    def __init__(self, lower: Array, upper: Array) -> None:
        from gough.methods.programs import dense_simplex  # noqa: PLC0415 - numba

        self._kernel: Any = dense_simplex
        n = self._n = len(lower)
        self._pool = _Pool(n)
        self._memory = _Memory(n)
        self._pool.add(np.eye(n), lower, upper)

    def add_rows(self, A: Array, lower: Array, upper: Array) -> None:
        self._pool.add(A.T, lower, upper)

    @property
    def tableau(self) -> tuple[Any, int]:
        """The program as the compiled method holds it, and how many of its columns are rows."""
        return self._pool.whole, self._pool.size

    def set_row(self, row: int, lower: float, upper: float) -> None:
        self._pool.sides[:, self._n + row] = lower, upper

    def set_sides(self, lower: Array, upper: Array) -> None:
        """Set the sides of all rows."""
        self._pool.sides[:, self._n : self._pool.size] = lower, upper

    def minimize(self, cost: Array, start: Start | None = None) -> Optimum:
        """The optimum for this cost, from `start` or the best vertex that is known, or a corner; or by HiGHS."""
        if not np.isfinite(cost).all():
            return self._optimum(Outcome.FAILED, np.zeros(self._n), np.arange(0), np.zeros(0))
        start = start or self._memory.nearest(cost)
        answer = None if start is None else self._run(start, cost)
        if answer is None:
            corner = self._corner(cost)
            answer = None if corner is None else self._run(corner, cost)
        return answer or self._by_highs(cost)

    def minimize_each(self, cost: Array, dropped: list[list[int]], starts: list[Start]) -> Any:
        """The optima without some rows each, from vertices that are the least for the same cost: `Runs`."""
        rows = np.array([self._n + row for some in dropped for row in some], dtype=np.int64)
        first = np.cumsum([0, *map(len, dropped)])
        basis, sign, value = (np.array([start[i] for start in starts]) for i in (1, 2, 3))
        number = np.zeros((2, len(starts)), dtype=np.int64)
        runs = self._kernel.Runs(basis, sign, value, np.empty(sign.shape), np.empty(sign.shape), *number)
        n, m = self._n, self._pool.size
        self._kernel.minimize_each(self._pool.whole, m, cost, cost, 50 * (n + 10) + m, rows, first, runs)
        return runs

    def remember(self, cost: Array, vertex: Start, point: Array) -> None:
        """Keep a vertex of a program that has the same rows in other coordinates: to begin with for this cost."""
        value = point @ self._pool.G[:, vertex.basis]
        self._memory.remember(Start(cost, vertex.basis, vertex.sign, value), point)

    def _corner(self, cost: Array) -> Start | None:
        """The corner of the box that is least for the cost, if there is one."""
        lower, upper = self._pool.sides[:, : self._n]
        sign = np.where((cost > 0) | ((cost == 0) & np.isfinite(lower)), 1.0, -1.0)
        value = np.where(sign > 0, lower, upper)
        return Start(cost, np.arange(self._n), sign, value) if np.isfinite(value).all() else None

    def _run(self, start: Start, cost: Array) -> Optimum | None:
        """The result of the compiled method from a vertex; None if it gives up."""
        n, m = self._n, self._pool.size
        limit = 50 * (n + 10) + m
        is_small = m * n <= _SMALL
        T = self._pool.whole if is_small else self._pool.part
        T.sign[:], T.value[:], T.age[0] = start.sign, start.value, self._kernel.FRESH
        if is_small:
            T.basis[:] = start.basis
            outcome, row = self._kernel.minimize(T, m, start.cost, cost, limit, np.inf)
            basis = T.basis.copy()
        else:
            pool = self._pool.rows
            outcome, row = self._kernel.minimize_part(T, pool, start.basis, start.cost, cost, limit)
            basis = pool.number[T.basis]
        if outcome == self._kernel.FAILED:
            return None
        if outcome == self._kernel.INFEASIBLE:
            number = row if is_small else pool.number[row]
            missed = max(T.lower[row] - T.reach[row], T.reach[row] - T.upper[row])
            if missed < _DOUBTFUL:
                return None
            weights = np.where(abs(T.alpha) > 1e-9, -T.alpha, 0.0)
            dropped = np.isinf(self._pool.sides[:, basis]).all(axis=0)
            if weights[dropped].any():  # it rests on a row that is dropped by now
                return None
            return self._optimum(Outcome.INFEASIBLE, np.zeros(n), np.append(basis, number), np.append(weights, 1.0))
        start = Start(cost, basis, T.sign.copy(), T.value.copy())
        self._memory.remember(start, T.x)
        return self._optimum(Outcome.OPTIMAL, T.x.copy(), basis, T.price, start)

    def _optimum(
        self, outcome: Outcome, point: Array, basis: Integers, weights: Array, start: Start | None = None
    ) -> Optimum:
        rows = basis - self._n
        used = np.flatnonzero((rows >= 0) & (weights != 0))
        used = used[rows[used].argsort()]
        return Optimum(outcome, point, rows[used], weights[used], start)

    def _by_highs(self, cost: Array) -> Optimum:
        n, m = self._n, self._pool.size - self._n
        highspy, highs = quiet_highs(1e-10, presolve="off")
        lower, upper = self._pool.sides[:, : self._pool.size]
        highs.addVars(n, lower[:n], upper[:n])
        starts, index = np.arange(m, dtype=np.int32) * n, np.tile(np.arange(n, dtype=np.int32), m)
        highs.addRows(m, lower[n:], upper[n:], m * n, starts, index, self._pool.G[:, n : self._pool.size].T.ravel())
        highs.changeColsCost(n, np.arange(n, dtype=np.int32), cost)
        highs.run()
        rows = np.arange(n, n + m)
        status, known = highs.getModelStatus(), highspy.HighsModelStatus
        if status == known.kOptimal:
            solution = highs.getSolution()
            point, weights = np.array(solution.col_value), np.array(solution.row_dual)
            if point.shape == (n,) and np.isfinite(point).all():
                return self._optimum(Outcome.OPTIMAL, point, rows, _of_length(weights, m))
        if status == known.kInfeasible:
            _, exists, ray = highs.getDualRay()
            weights = np.array(ray) if exists else np.zeros(m)
            return self._optimum(Outcome.INFEASIBLE, np.zeros(n), rows, _of_length(weights, m))
        return self._optimum(Outcome.FAILED, np.zeros(n), rows, np.zeros(m))


def quiet_highs(tolerance: float, **options: Any) -> tuple[Any, Any]:
    """The module highspy, and a solver of it that prints nothing and runs in one thread."""
    import highspy as untyped  # noqa: PLC0415 - start-up time

    highspy = cast("Any", untyped)
    highs = highspy.Highs()
    tolerances = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
    for option, value in {"output_flag": False, "threads": 1, **options, **tolerances}.items():
        highs.setOptionValue(option, value)
    return highspy, highs


def _of_length(weights: Array, m: int) -> Array:
    """Multipliers of m rows; zeros where HiGHS has none, though it calls a vertex optimal."""
    return weights if weights.shape == (m,) else np.zeros(m)


class _Pool:
    """The rows of a program, with room for more, and two tableaus: one holds all of them, one the nearest."""

    def __init__(self, n: int) -> None:
        from gough.methods.programs import dense_simplex  # noqa: PLC0415 - numba

        self._kernel: Any = dense_simplex
        self.size = 0
        self.G, self.sides, self._length = np.empty((n, 0)), np.empty((2, 0)), np.empty(0)
        self.rows: Any = None
        self.whole: Any = None
        self.part: Any = None

    def add(self, columns: Array, lower: Array, upper: Array) -> None:
        size, m = self.size, self.size + len(lower)
        if m > self.G.shape[1]:
            held = self.G[:, :size], self.sides[:, :size], self._length[:size]
            self.G, self.sides, self._length = np.empty((len(self.G), 2 * m)), np.empty((2, 2 * m)), np.empty(2 * m)
            self.G[:, :size], self.sides[:, :size], self._length[:size] = held
            self.rows = self._kernel.Pool(
                self.G, *self.sides, self._length, np.empty(2 * m), np.empty(2 * m, dtype=np.int64), m
            )
            self.whole = self._tableau(self.G, self.sides)
            self.part = self._tableau(np.empty_like(self.G), np.empty_like(self.sides))
        self.G[:, size:m], self.sides[:, size:m] = columns, (lower, upper)
        self._length[size:m] = np.maximum(np.sqrt(np.square(columns).sum(axis=0)), _SHORT)
        self.size, self.rows = m, self.rows._replace(size=m)

    def _tableau(self, G: Array, sides: Array) -> Any:
        n, capacity = G.shape
        sign, value, x, price, entering, alpha = np.empty((6, n))
        reach, rate = np.empty((2, capacity))
        place, basis, flips, age = (np.empty(k, dtype=np.int64) for k in (capacity, n, n, 1))
        return self._kernel.Tableau(
            G, *sides, basis, sign, value, np.empty((n, n)), x, price, entering, alpha, place, reach, rate, flips, age
        )


class _Memory:
    """Vertices that were the best for some cost."""

    def __init__(self, n: int) -> None:
        self._place: dict[bytes, int] = {}
        self._starts: list[Start] = []
        self._points, self._units = np.zeros((16, n)), np.zeros((16, n))

    def nearest(self, cost: Array) -> Start | None:
        """The start stored for this cost, or for one at a small angle, or else that where this cost is the least."""
        place = self._place.get(cost.tobytes())
        if place is None:
            count = len(self._starts)
            if not count:
                return None
            cosines = self._units[:count] @ cost
            place = int(cosines.argmax())
            if not cosines[place] > _ALIKE * np.sqrt(cost @ cost):
                place = int((self._points[:count] @ cost).argmin())
        return self._starts[place]

    def remember(self, start: Start, point: Array) -> None:
        key = start.cost.tobytes()
        place = self._place.get(key)
        if place is not None:
            self._starts[place], self._points[place] = start, point
            return
        if len(self._starts) < _MEMORY:
            place = len(self._starts)
            self._starts.append(start)
            if place == len(self._points):
                more = np.zeros_like(self._points)
                self._points, self._units = (np.concatenate([each, more]) for each in (self._points, self._units))
        else:
            place = self._place.pop(next(iter(self._place)))
            self._starts[place] = start
        self._place[key] = place
        self._points[place], self._units[place] = point, start.cost / (np.sqrt(start.cost @ start.cost) or 1.0)
