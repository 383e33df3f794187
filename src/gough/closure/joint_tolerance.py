"""How uncertain must readings be for some legs to fit all poses together? A bracket, certified at both ends."""

from dataclasses import dataclass, replace

import numpy as np

from gough.closure.joint_exhibit import ROOM, Exhibited, best_together, exhibited_together
from gough.closure.joint_hull import JointHull
from gough.closure.joint_legs import JointProblem
from gough.closure.joint_program import JointProgram
from gough.core.arrays import Array, ArrayValue
from gough.core.floating import require_ieee
from gough.core.intervals import Interval
from gough.core.threads import one_blas_thread
from gough.estimates import LiftedStats
from gough.evidence import LiftedStage, LiftedTree

_GAPS = (2e-5, 6e-5, 2e-4, 6e-4, 2e-3)
"""How far below the upper end proofs are tried, m, until one succeeds."""
_FINER = (1e-6, 5e-6)
"""The same with boxes made smaller before."""


@dataclass(frozen=True, eq=False)
class JointTolerance(ArrayValue):
    """The smallest ε by which every reading's tolerance must grow for legs of the prior to fit together."""

    lower: float
    """With less than this none do: proven by one linear program over all equations; −∞ where nothing was proven."""
    upper: float
    """With this much `points` fit at the exhibited poses."""
    points: Array
    """Legs that fit (legs, 7)."""
    exhibit: Exhibited
    tree: LiftedTree | None
    """The proof of the lower end, for a certificate."""

    @property
    def is_consistent(self) -> bool:
        """Do legs fit with the tolerances as stated? They are exhibited."""
        return self.upper <= 0

    @property
    def is_inconsistent(self) -> bool:
        """Is it proven that none do?"""
        return self.lower > 0


@np.errstate(all="ignore")
@one_blas_thread()
def joint_tolerance(problem: JointProblem, start: Array, *, thorough: bool = False) -> JointTolerance:
    """The bracket of the smallest ε of all legs together, from legs (legs, 7) that fit by themselves.

    Where legs fit with the tolerances as stated, that is the answer, and no lower end is sought. A program's error
    grows with the boxes of single legs, a few hundredths of a millimetre; with `thorough` boxes are first made smaller
    by programs over all equations, which takes minutes.

    Examples:
        >>> from gough.checker.leg_equations import PlatformMeasurements
        >>> from gough.region import Box
        >>> readings = [[0.1, 0.1], [0.1, 0.104]]  # one pose twice, 4 mm between the readings of the second leg
        >>> q, p = np.tile([1.0, 0, 0, 0], (2, 1)), np.tile([0, 0, 0.4], (2, 1))
        >>> data = PlatformMeasurements(q, p, readings, 0, 0, 1e-3)
        >>> problem = JointProblem(data, Box(([0] * 6 + [0.2]) * 2, ([0] * 6 + [0.4]) * 2), (1, 2))
        >>> found = joint_tolerance(problem, np.tile([0, 0, 0, 0, 0, 0, 0.3], (2, 1)))
        >>> found.is_inconsistent, bool(found.lower <= 0.001 <= found.upper + 1e-9)
        (True, True)
    """
    require_ieee("the smallest tolerance")
    fitted = best_together(problem, start, enough=ROOM)
    shown = exhibited_together(problem, fitted.points, fitted.errors)
    if shown.needed <= 0:
        return JointTolerance(-np.inf, shown.needed, fitted.points, shown, None)
    lower, tree = -np.inf, None
    for gap in (*_FINER, *_GAPS) if thorough else _GAPS:
        epsilon = shown.needed - gap
        if epsilon <= 0:  # at last the tolerances as stated
            epsilon = 0.0
        found, more = _refuted(problem.widened(epsilon), thorough=thorough)
        if found is not None:
            lower, tree = epsilon, found
            raised = epsilon + 0.9 * more if more else (epsilon + shown.needed) / 2
            again, _ = _refuted(problem.widened(raised), thorough=thorough)
            lower, tree = (raised, again) if again is not None else (lower, tree)
        if found is not None or epsilon == 0:
            break
    return JointTolerance(lower, shown.needed, fitted.points, shown, tree)


def _refuted(problem: JointProblem, *, thorough: bool) -> tuple[LiftedTree | None, float]:
    """The proof that no legs fit, and by how much readings would have to widen in the last box."""
    method = JointHull(bounds=False)
    answer = replace(method, max_steps=0).estimate(problem)
    assert isinstance(answer.stats, LiftedStats)
    stages, box = list[LiftedStage](answer.stats.stages), answer.region.hull()
    if box.is_empty:
        return LiftedTree(tuple(stages)), 0.0
    for _ in range(4 if thorough else 1):
        center = box.center
        radius = np.maximum((Interval(box.upper) - center).upper, (Interval(center) - box.lower).upper)
        cut, more = JointProgram(problem, center, radius).contradiction()
        if cut is not None:
            stages.append(LiftedStage(tuple(center.tolist()), tuple(radius.tolist()), (cut,)))
            return LiftedTree(tuple(stages)), more
        if thorough:
            box, stage = replace(method, bounds=True).step(problem, box)
            stages.append(stage)
            if box.is_empty:
                return LiftedTree(tuple(stages)), 0.0
    return None, 0.0
