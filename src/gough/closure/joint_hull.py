"""The hull of several chains together: each one's own first, then programs in which the errors of poses are shared."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gough.closure.fits import leverage
from gough.closure.joint import JointProblem
from gough.core import intervals as iv
from gough.core.arrays import Array, Integers
from gough.core.intervals import Interval
from gough.core.midrad import TINY, gamma, inflated
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, LiftedStats, Status
from gough.evidence import LiftedCut, LiftedStage
from gough.methods.bounded.box_answer import box_answer
from gough.methods.nonlinear.lifted import LiftedHull, center_and_radius, tightened
from gough.methods.programs.simplex import Outcome
from gough.methods.programs.sparse_program import SparseProgram, SparseRows, column_sums
from gough.region import Box

_UNIT = 1e-4
"""Unit, m or rad, in which the program counts the widening of readings."""
_SHORT = 1e-3
"""Rows count as if their chain was at least so long, m."""
_CONTRADICTION = "No chains within the prior fit all measurements together, the errors of poses being shared"


class JointProgram:
    """One box's linear program, in units of the box and with rows of length one; a last column widens all readings."""

    def __init__(self, problem: JointProblem, center: Array, radius: Array) -> None:
        rows = problem.relaxation(center, radius)
        self._problem, self._rows, n = problem, rows, len(rows.box)
        size = np.maximum(abs(rows.box.lower), abs(rows.box.upper))
        self._scale = np.where(size > 0, size, 1.0)
        values = rows.A.value * self._scale[rows.A.column]
        length = np.zeros(len(rows.b))
        np.maximum.at(length, rows.A.row, abs(values))
        self._length = np.where(length > 0, length, 1.0)
        scaled = rows.A._replace(value=values / self._length[rows.A.row])
        scaled = _with_column(scaled, -_UNIT * 2 * _widening(problem, center) / self._length, n)
        lower, upper = np.append(rows.box.lower / self._scale, 0.0), np.append(rows.box.upper / self._scale, np.inf)
        free = np.full(len(rows.b), -np.inf)
        self._program = SparseProgram(lower, upper, scaled, free, rows.b / self._length)

    def contradiction(self) -> tuple[LiftedCut | None, float]:
        """Multipliers that contradict each other, if the program proves any; and by how much readings must widen."""
        cost = np.append(np.zeros(len(self._scale)), 1.0)
        optimum = self._program.minimize(cost)
        if optimum.outcome is not Outcome.OPTIMAL or optimum.cost <= 0:
            return None, 0.0
        cut = self._proven(0, 0.0, optimum.weights)
        return (cut if cut.value > 0 else None), _UNIT * optimum.cost

    def cuts(self) -> tuple[LiftedCut, ...]:
        """A bound for each side of each unknown that gains."""
        self._program.set_column(len(self._scale), 0.0, 0.0)
        result = []
        for axis in range(len(self._problem.prior)):
            column = self._problem.column(axis)
            for sign in (1.0, -1.0):
                cost = np.zeros(len(self._scale) + 1)
                cost[column] = sign
                optimum = self._program.minimize(cost)
                if optimum.outcome is not Outcome.OPTIMAL:
                    continue
                cut = self._proven(axis, sign, self._scale[column] * optimum.weights)
                if cut.value > -self._rows.box.upper[column]:
                    result.append(cut)
        return tuple(result)

    def _proven(self, axis: int, sign: float, weights: Array) -> LiftedCut:
        """What multipliers prove, every rounding enclosed; only those of the right sign are used."""
        weights = weights[: len(self._length)]
        with np.errstate(all="ignore"):
            factors = -weights / self._length[: len(weights)]
        rows = np.flatnonzero((factors > 0) & (factors < np.inf))
        shares, factors = -weights[rows], factors[rows]
        value = self._bound(self._problem.column(axis), sign, rows, factors)
        return LiftedCut(axis, sign, value, tuple(rows.tolist()), tuple(factors.tolist()), tuple(shares.tolist()))

    def _bound(self, column: int, sign: float, rows: Integers, weights: Array) -> float:
        """The value that sign · y[column] + Σ λ (A y − b) has at least in the box; Σ λ (A y − b) ≤ 0."""
        A, b, box = self._rows
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


def _widening(problem: JointProblem, center: Array) -> Array:
    """What a reading that is off by one unit more adds to half of each row's side, about; 0 for envelopes.

    Conditions count as short chains, so that the program always has a solution.
    """
    parts = []
    for part, place in problem:
        length = np.full(part.n_rows, _SHORT)
        distance = leverage(part, center[place]) * (center[place][-1] + part.offset)
        length[: part.n_poses] = np.maximum(distance, _SHORT)
        parts += [length, length, np.zeros(4 * len(part.products))]
    return np.concatenate(parts)


class JointStep(NamedTuple):
    """A smaller box, its proof, and, if it is empty, by how much readings would have to widen for it not to be."""

    box: Box
    stage: LiftedStage
    more: float


@dataclass(frozen=True)
class JointHull:
    """The box of all chains that fit together: what single chains allow, cut by programs over all equations at once.

    Constraint: the equations of all chains with shared errors of a pose that are the same for all. Kept: every
    consistent choice of chains. Does nothing beyond the single chains where their boxes are so wide that 2 |h| times
    the tolerance of a pose exceeds that of a reading. Not idempotent.

    A chain that is moved by the wrong scale, or by backlash, often fits by itself with other errors of the poses than
    its neighbours need; together they do not. With `bounds` each unknown is bounded too, two programs for each and
    step; without, only a contradiction is looked for, and bounds serve where the first program finds none.

    Examples:
        >>> import gough
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> data = LegMeasurements(np.tile([1.0, 0, 0, 0], (8, 1)), p, np.linalg.norm(p, axis=1) - 0.2, 1e-5, 0.0, 1e-5)
        >>> prior = gough.Box([-0.1, -0.1, -0.1, 0, 0, 0, 0.1], [0.1, 0.1, 0.1, 0, 0, 0, 0.3])
        >>> problem = JointProblem(tuple(LegProblem(data, prior, leg) for leg in (1, 2)))
        >>> answer = gough.estimate(problem, JointHull(), strict=False)
        >>> answer.claim.name, bool((answer.region.width < 2e-3).all())
        ('PROOF', True)
    """

    bounds: bool = True
    rtol: float = 0.02
    """Part of its width that some unknown must gain for another step."""
    max_steps: int = 4
    chains: LiftedHull = field(default_factory=lambda: LiftedHull(rtol=0.01))
    """What bounds each chain before."""

    claim: ClassVar[Claim] = Claim.PROOF

    @one_blas_thread()
    def estimate(self, problem: JointProblem) -> Estimate:
        box, stages = self._alone(problem)
        gaining, steps = not box.is_empty and box.is_bounded, 0
        while gaining and steps < self.max_steps:
            last, steps = box, steps + 1
            box, stage, _ = self.step(problem, last)
            stages.append(stage)
            gaining = self.bounds and not box.is_empty and bool((box.width < (1 - self.rtol) * last.width).any())
        last_rows = [row for cut in stages[-1].cuts for row in cut.rows]
        part = stages[-1].part
        active = (problem if part is None else JointProblem((problem.parts[part],))).poses(last_rows)
        stats = LiftedStats(problem.n_rows, active_rows=active, steps=steps, stages=tuple(stages))
        status = Status.MAX_STEPS if gaining else Status.OK
        note = f"{_CONTRADICTION}."
        return box_answer(self, self.claim, problem.unknowns, box, stats, contradiction=note, status=status)

    def _alone(self, problem: JointProblem) -> tuple[Box, list[LiftedStage]]:
        """What each chain allows by itself."""
        stages, lower, upper = list[LiftedStage](), [], []
        for i, part in enumerate(problem.parts):
            answer = self.chains.estimate(part)
            assert isinstance(answer.stats, LiftedStats)
            stages += [replace(stage, part=i) for stage in answer.stats.stages]
            if answer.status is Status.INCONSISTENT:
                return Box.empty(len(problem.prior)), stages
            hull = answer.region.hull()
            lower.append(hull.lower)
            upper.append(hull.upper)
        return Box(np.concatenate(lower), np.concatenate(upper)), stages

    def step(self, problem: JointProblem, box: Box) -> JointStep:
        """One step with its proof."""
        center, radius = center_and_radius(box)
        program = JointProgram(problem, center, radius)
        contradiction, more = program.contradiction()
        cuts = (contradiction,) if contradiction else program.cuts() if self.bounds else ()
        stage = LiftedStage(tuple(center.tolist()), tuple(radius.tolist()), cuts)
        if contradiction:
            return JointStep(Box.empty(len(box)), stage, more)
        return JointStep(tightened(box, center, cuts), stage, 0.0)
