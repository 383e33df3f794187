"""A linear program that is changed a little and solved again: HiGHS, warm-started, and not trusted.

The only module that imports highspy. What it returns are proposals; bounds are made from them elsewhere, exactly.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from gough.core.arrays import Array


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
    """minimize c·x subject to lower ≤ A x ≤ upper and x in a box: rows are added, costs changed, the basis kept."""

    def __init__(self, lower: Array, upper: Array) -> None:
        import highspy  # noqa: PLC0415 - start-up time

        self._highspy: Any = highspy
        self._highs: Any = self._highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("threads", 1),
            ("primal_feasibility_tolerance", 1e-10),
            ("dual_feasibility_tolerance", 1e-10),
        ):
            self._highs.setOptionValue(option, value)
        self._n = len(lower)
        self._highs.addVars(self._n, lower, upper)

    def add_rows(self, A: Array, lower: Array, upper: Array) -> None:
        m, n = A.shape
        starts = np.arange(m, dtype=np.int32) * n
        index = np.tile(np.arange(n, dtype=np.int32), m)
        self._highs.addRows(m, lower, upper, m * n, starts, index, np.ascontiguousarray(A).ravel())

    def set_row(self, row: int, lower: float, upper: float) -> None:
        self._highs.changeRowBounds(row, lower, upper)

    def minimize(self, cost: Array) -> Optimum:
        """The optimum for this cost; tried once more from scratch if the warm start leads nowhere."""
        self._highs.changeColsCost(self._n, np.arange(self._n, dtype=np.int32), cost)
        for attempt in range(2):
            self._highs.run()
            status, known = self._highs.getModelStatus(), self._highspy.HighsModelStatus
            if status == known.kOptimal:
                solution = self._highs.getSolution()
                return Optimum(Outcome.OPTIMAL, np.array(solution.col_value), np.array(solution.row_dual))
            if status == known.kInfeasible:
                _, exists, ray = self._highs.getDualRay()
                weights = np.array(ray) if exists else np.zeros(self._highs.getNumRow())
                return Optimum(Outcome.INFEASIBLE, np.zeros(self._n), weights)
            if attempt == 0:
                self._highs.clearSolver()
        return Optimum(Outcome.FAILED, np.zeros(self._n), np.zeros(self._highs.getNumRow()))
