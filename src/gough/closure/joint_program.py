"""The linear program of several legs in a box, the errors of poses being shared, and what its multipliers prove."""

import numpy as np

from gough.closure.joint_legs import COLUMNS, JointProblem
from gough.core import intervals as iv
from gough.core.arrays import Array, Integers
from gough.core.intervals import Interval
from gough.core.midrad import TINY, gamma, inflated
from gough.evidence import LiftedCut
from gough.methods.programs.simplex import Outcome
from gough.methods.programs.sparse_program import SparseProgram, SparseRows, column_sums

_UNIT = 1e-4
"""Metres in which the program counts the widening of readings."""


class JointProgram:
    """One box's program, in units of the box and with rows of length one; a last column widens all readings."""

    def __init__(self, problem: JointProblem, center: Array, radius: Array) -> None:
        given = problem.relaxation(center, radius)
        self._problem, self._given, n = problem, given, len(given.box)
        size = np.maximum(abs(given.box.lower), abs(given.box.upper))
        self._scale = np.where(size > 0, size, 1.0)
        A = given.A
        values = A.value * self._scale[A.column]
        length = np.zeros(len(given.b))
        np.maximum.at(length, A.row, abs(values))
        self._length = np.where(length > 0, length, 1.0)
        scaled = A._replace(value=values / self._length[A.row])
        rows = _with_column(scaled, -_UNIT * 2 * _lengths(problem, center) / self._length, n)
        lower, upper = np.append(given.box.lower / self._scale, 0.0), np.append(given.box.upper / self._scale, np.inf)
        free = np.full(len(given.b), -np.inf)
        self._program = SparseProgram(lower, upper, rows, free, given.b / self._length)

    def contradiction(self) -> tuple[LiftedCut | None, float]:
        """Multipliers that contradict each other, if the program proves any; and by how much readings must widen, m."""
        cost = np.append(np.zeros(len(self._scale)), 1.0)
        found = self._program.minimize(cost)
        if found.outcome is not Outcome.OPTIMAL or found.cost <= 0:
            return None, 0.0
        cut = self._proven(0, 0.0, found.weights)
        return (cut if cut.value > 0 else None), _UNIT * found.cost

    def cuts(self) -> tuple[LiftedCut, ...]:
        """A bound for each side of each unknown that gains."""
        self._program.set_column(len(self._scale), 0.0, 0.0)
        result = []
        for axis in range(7 * len(self._problem.legs)):
            column = COLUMNS * (axis // 7) + axis % 7
            for sign in (1.0, -1.0):
                cost = np.zeros(len(self._scale) + 1)
                cost[column] = sign
                found = self._program.minimize(cost)
                if found.outcome is not Outcome.OPTIMAL:
                    continue
                cut = self._proven(axis, sign, self._scale[column] * found.weights)
                if cut.value > -self._given.box.upper[column]:
                    result.append(cut)
        return tuple(result)

    def _proven(self, axis: int, sign: float, weights: Array) -> LiftedCut:
        """What multipliers prove, every rounding enclosed; only those of the right sign are used."""
        weights = weights[: len(self._length)]
        with np.errstate(all="ignore"):
            factors = -weights / self._length[: len(weights)]
        rows = np.flatnonzero((factors > 0) & (factors < np.inf))
        shares, factors = -weights[rows], factors[rows]
        value = self._bound(COLUMNS * (axis // 7) + axis % 7, sign, rows, factors)
        return LiftedCut(axis, sign, value, tuple(rows.tolist()), tuple(factors.tolist()), tuple(shares.tolist()))

    def _bound(self, column: int, sign: float, rows: Integers, weights: Array) -> float:
        """The value that sign · y[column] + Σ λ (A y − b) has at least in the box; Σ λ (A y − b) ≤ 0."""
        A, b, box = self._given
        of_row = np.zeros(len(b))
        of_row[rows] = weights
        used = np.flatnonzero(of_row[A.row] > 0)
        terms, where = of_row[A.row[used]] * A.value[used], A.column[used]
        middle = column_sums(where, terms, len(box))
        spread = gamma(len(used) + 3) * column_sums(where, abs(terms), len(box))
        radius = inflated(spread, len(used) + 3) + TINY * (len(used) + 1)
        left = Interval.centered(middle, radius) + np.where(np.arange(len(box)) == column, sign, 0.0)
        least = left * Interval(box.lower, box.upper)
        taken = iv.sum(Interval(weights) * b[rows])
        return float((iv.sum(Interval(least.lower)) - taken).lower)


def _with_column(rows: SparseRows, values: Array, column: int) -> SparseRows:
    """Rows with one entry more each, where it is not zero."""
    added = np.flatnonzero(values)
    order = np.argsort(np.concatenate([rows.row, added]), kind="stable")
    columns = np.concatenate([rows.column, np.full(len(added), column)])[order].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(np.diff(rows.start) + (values != 0))]).astype(np.int32)
    return SparseRows(start, columns, np.concatenate([rows.value, values[added]])[order])


def _lengths(problem: JointProblem, center: Array) -> Array:
    """The length l + reading at the center for each row of a pose, not below a millimetre; 0 for envelopes."""
    parts = []
    for i, part in enumerate(problem.parts):
        length = np.maximum(center[7 * i + 6] + part.data.reading, 1e-3)
        parts += [length, length, np.zeros(4 * len(part.products))]
    return np.concatenate(parts)
