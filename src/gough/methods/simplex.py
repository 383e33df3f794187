"""A linear program that is changed a little and solved again, from where a similar one ended; not trusted.

Few unknowns and some hundred rows suit the compiled simplex method of `dense_simplex`; where it gives up, HiGHS tries
from scratch. The only module that imports highspy. What it returns are proposals; bounds are made from them elsewhere,
exactly.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

import numpy as np

from gough.core.arrays import Array

_MEMORY = 4096
"""Costs whose vertices are remembered, the oldest forgotten first."""


class Outcome(Enum):
    """How a run ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Optimum:
    """A vertex and the multipliers of the rows; of an infeasible program, the multipliers of a contradiction."""

    outcome: Outcome
    point: Array
    weights: Array


class Simplex:
    """minimize c·x subject to lower ≤ A x ≤ upper and x in a box; rows are added, costs change, vertices are kept."""

    def __init__(self, lower: Array, upper: Array) -> None:
        from gough.methods import dense_simplex  # noqa: PLC0415 - numba

        self._kernel: Any = dense_simplex
        n = self._n = len(lower)
        self._G = np.empty((n, 0))
        self._sides = np.empty((2, 0))
        self._m = 0
        self._memory = _Memory(n)
        self._extend(np.eye(n), lower, upper)

    def add_rows(self, A: Array, lower: Array, upper: Array) -> None:
        self._extend(A.T, lower, upper)

    def _extend(self, columns: Array, lower: Array, upper: Array) -> None:
        n, m = self._n, self._m + len(lower)
        if m > self._G.shape[1]:
            G, sides = np.empty((n, 2 * m)), np.empty((2, 2 * m))
            G[:, : self._m], sides[:, : self._m] = self._G[:, : self._m], self._sides[:, : self._m]
            self._G, self._sides = G, sides
            small = [np.empty(n) for _ in range(4)]
            sign, value, x, price = small
            self._tableau = self._kernel.Tableau(
                G, sides[0], sides[1], np.arange(n), sign, value, np.empty((n, n)), x, price, np.empty(n),
                np.empty(2 * m, dtype=np.int64), np.empty(2 * m), np.empty(2 * m), np.empty(n, dtype=np.int64),
            )  # fmt: skip
        self._G[:, self._m : m] = columns
        self._sides[0, self._m : m], self._sides[1, self._m : m] = lower, upper
        self._m = m

    def set_row(self, row: int, lower: float, upper: float) -> None:
        self._sides[:, self._n + row] = lower, upper

    def minimize(self, cost: Array) -> Optimum:
        """The optimum for this cost, from the vertex of the most similar cost; else from a corner; else by HiGHS."""
        known = self._memory.nearest(cost)
        if known is not None:
            before = self._memory.recall(known, self._tableau)
            answer = self._run(before, cost)
            if answer is not None:
                return answer
        if self._start_in_a_corner(cost):
            answer = self._run(cost, cost)
            if answer is not None:
                return answer
        return self._by_highs(cost)

    def _start_in_a_corner(self, cost: Array) -> bool:
        """The corner of the box that is least for the cost, if there is one."""
        T, n = self._tableau, self._n
        lower, upper = self._sides[:, :n]
        T.basis[:] = np.arange(n)
        T.sign[:] = np.where((cost > 0) | ((cost == 0) & np.isfinite(lower)), 1.0, -1.0)
        T.value[:] = np.where(T.sign > 0, lower, upper)
        return bool(np.isfinite(T.value).all())

    def _run(self, before: Array, cost: Array) -> Optimum | None:
        """What the compiled method finds from the vertex in the tableau; None if it gives up."""
        T, n, m = self._tableau, self._n, self._m
        outcome, row = self._kernel.minimize(T, m, before, cost, 50 * (n + 10) + m)
        if outcome == self._kernel.FAILED:
            return None
        weights = np.zeros(m)
        if outcome == self._kernel.INFEASIBLE:
            weights[T.basis] = np.where(abs(T.alpha) > 1e-9, -T.alpha, 0.0)
            weights[row] = 1.0
            gone = np.isinf(self._sides[:, T.basis]).all(axis=0)
            if weights[T.basis[gone]].any():  # it rests on a row that is dropped by now
                return None
            return Optimum(Outcome.INFEASIBLE, np.zeros(n), weights[n:])
        weights[T.basis] = T.price
        self._memory.remember(cost, T)
        return Optimum(Outcome.OPTIMAL, T.x.copy(), weights[n:])

    def _by_highs(self, cost: Array) -> Optimum:
        import highspy as untyped  # noqa: PLC0415 - start-up time

        n, m, highspy = self._n, self._m - self._n, cast("Any", untyped)
        highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("threads", 1),
            ("primal_feasibility_tolerance", 1e-10),
            ("dual_feasibility_tolerance", 1e-10),
        ):
            highs.setOptionValue(option, value)
        lower, upper = self._sides[:, : self._m]
        highs.addVars(n, lower[:n], upper[:n])
        starts, index = np.arange(m, dtype=np.int32) * n, np.tile(np.arange(n, dtype=np.int32), m)
        highs.addRows(m, lower[n:], upper[n:], m * n, starts, index, self._G[:, n : self._m].T.ravel())
        highs.changeColsCost(n, np.arange(n, dtype=np.int32), cost)
        highs.run()
        status, known = highs.getModelStatus(), highspy.HighsModelStatus
        if status == known.kOptimal:
            solution = highs.getSolution()
            return Optimum(Outcome.OPTIMAL, np.array(solution.col_value), np.array(solution.row_dual))
        if status == known.kInfeasible:
            _, exists, ray = highs.getDualRay()
            return Optimum(Outcome.INFEASIBLE, np.zeros(n), np.array(ray) if exists else np.zeros(m))
        return Optimum(Outcome.FAILED, np.zeros(n), np.zeros(m))


class _Memory:
    """Vertices that were the best for some cost."""

    def __init__(self, n: int) -> None:
        self._place: dict[bytes, int] = {}
        self._count = 0
        self._costs = np.zeros((16, n))
        self._units = np.zeros((16, n))
        self._basis = np.zeros((16, n), dtype=np.int64)
        self._sides = np.zeros((16, 2, n))

    def nearest(self, cost: Array) -> int | None:
        """Where the cost is remembered, or else the one at the smallest angle to it."""
        known = self._place.get(cost.tobytes())
        if known is not None or not self._count:
            return known
        return int((self._units[: self._count] @ cost).argmax())

    def recall(self, known: int, tableau: Any) -> Array:
        """Put a vertex into the tableau; its cost."""
        tableau.basis[:] = self._basis[known]
        tableau.sign[:], tableau.value[:] = self._sides[known]
        return self._costs[known]

    def remember(self, cost: Array, tableau: Any) -> None:
        key = cost.tobytes()
        place = self._place.get(key)
        if place is None:
            place = self._new()
            self._place[key] = place
            self._costs[place] = cost
            self._units[place] = cost / (np.sqrt(cost @ cost) or 1.0)
        self._basis[place] = tableau.basis
        self._sides[place] = tableau.sign, tableau.value

    def _new(self) -> int:
        if self._count < _MEMORY:
            if self._count == len(self._costs):
                for name in ("_costs", "_units", "_basis", "_sides"):
                    old = getattr(self, name)
                    setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
            self._count += 1
            return self._count - 1
        oldest = next(iter(self._place))
        return self._place.pop(oldest)
