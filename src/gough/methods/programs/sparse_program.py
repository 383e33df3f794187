"""A linear program with many columns and few entries in a row, by HiGHS; not trusted: bounds are made elsewhere."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.methods.programs.simplex import Outcome, quiet_highs

Indices = npt.NDArray[np.int32]


class SparseRows(NamedTuple):
    """Rows one after the other: where each begins, columns and values of its entries."""

    start: Indices
    column: Indices
    value: Array

    @classmethod
    def of(cls, blocks: "list[tuple[Array, Indices]]") -> "SparseRows":
        """Rows of blocks (values (m, k), their columns (m, k)); zeros are left out.

        Examples:
            >>> SparseRows.of([(np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([[0, 1], [1, 2]], np.int32))]).column
            array([0, 1, 2], dtype=int32)
        """
        counts, columns, values = [], [], []
        for A, where in blocks:
            used = A != 0
            counts.append(used.sum(axis=1))
            columns.append(where[used])
            values.append(A[used])
        start = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
        return cls(start, np.concatenate(columns).astype(np.int32), np.concatenate(values))

    @property
    def row(self) -> npt.NDArray[np.int64]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def column_sums(where: npt.NDArray[Any], values: Array, n: int) -> Array:
    """Sums of values by the number of their column."""
    return np.bincount(where, values, minlength=n).astype(np.float64)


class SparseOptimum(NamedTuple):
    """A vertex, its cost, and the multipliers of all rows."""

    outcome: Outcome
    point: Array
    weights: Array
    cost: float


class SparseProgram:
    """minimize c·x subject to lower ≤ A x ≤ upper and x in a box; costs and sides of columns change.

    Examples:
        >>> rows = SparseRows.of([(np.array([[1.0, 1.0]]), np.array([[0, 1]], np.int32))])
        >>> program = SparseProgram(np.zeros(2), np.ones(2), rows, np.array([1.5]), np.array([np.inf]))
        >>> round(program.minimize(np.array([1.0, 2.0])).cost, 9)
        2.0
    """

    def __init__(
        self,
        lower: Array,
        upper: Array,
        rows: SparseRows,
        low: Array,
        high: Array,
        *,
        vertex: bool = True,
        tolerance: float = 1e-9,
    ) -> None:
        self._n = len(lower)
        # by interior points, perhaps with a vertex in the end: a few times faster than simplex steps from the last one
        self._highspy, self._highs = quiet_highs(tolerance, solver="ipm", run_crossover="on" if vertex else "off")
        self._highs.addVars(self._n, lower, upper)
        self._highs.addRows(len(low), low, high, len(rows.value), rows.start[:-1], rows.column, rows.value)

    def set_column(self, column: int, lower: float, upper: float) -> None:
        """Sides of one column."""
        self._highs.changeColBounds(column, lower, upper)

    def minimize(self, cost: Array) -> SparseOptimum:
        """The optimum for this cost."""
        self._highs.changeColsCost(self._n, np.arange(self._n, dtype=np.int32), cost)
        self._highs.run()
        status, known = self._highs.getModelStatus(), self._highspy.HighsModelStatus
        if status not in {known.kOptimal, known.kInfeasible}:
            self._highs.setOptionValue("solver", "simplex")
            self._highs.run()
            self._highs.setOptionValue("solver", "ipm")
            status = self._highs.getModelStatus()
        solution = self._highs.getSolution()
        outcome = Outcome.OPTIMAL if status == known.kOptimal else Outcome.FAILED
        if status == known.kInfeasible:
            outcome = Outcome.INFEASIBLE
        point, weights = np.array(solution.col_value), np.array(solution.row_dual)
        if outcome is Outcome.OPTIMAL and not (len(point) == self._n and np.isfinite(point).all()):
            outcome = Outcome.FAILED  # HiGHS may call a vertex optimal that it does not have
        return SparseOptimum(outcome, point, weights, float(self._highs.getInfo().objective_function_value))
