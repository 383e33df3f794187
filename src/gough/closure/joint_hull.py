"""The hull of several legs together: each leg's own first, then programs in which the errors of poses are shared."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gough.closure.joint_legs import JointProblem
from gough.closure.joint_program import JointProgram
from gough.core.intervals import Interval
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, LiftedStats, Status
from gough.evidence import LiftedStage
from gough.methods.bounded.box_answer import box_answer
from gough.methods.nonlinear.lifted import LiftedHull
from gough.region import Box

_CONTRADICTION = "No legs within the prior fit all measurements together, the errors of poses being shared"


@dataclass(frozen=True)
class JointHull:
    """The box of all legs that fit together: what single legs allow, cut by programs over all equations at once.

    Constraint: the equations of all legs with errors δ, ω of a pose that are the same for all. Kept: every consistent
    choice of legs. Does nothing beyond the single legs where their boxes are so wide that 2 |h| times the tolerance of
    a pose exceeds that of a reading. Not idempotent.

    A leg that is moved by the wrong scale, or by backlash, often fits by itself with other errors of the poses than its
    neighbours need; together they do not. With `bounds` each unknown is bounded too, 14 programs a leg and step;
    without, only a contradiction is looked for, and bounds serve where the first program finds none.

    Examples:
        >>> import gough
        >>> from gough.checker.leg_equations import PlatformMeasurements
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> readings = np.linalg.norm(p, axis=1)[:, None] - [0.2, 0.2]
        >>> data = PlatformMeasurements(np.tile([1.0, 0, 0, 0], (8, 1)), p, readings, 1e-5, 0.0, 1e-5)
        >>> prior = gough.Box([-0.1, -0.1, -0.1, 0, 0, 0, 0.1] * 2, [0.1, 0.1, 0.1, 0, 0, 0, 0.3] * 2)
        >>> answer = gough.estimate(JointProblem(data, prior, (1, 2)), JointHull(), strict=False)
        >>> answer.claim.name, bool((answer.region.width < 2e-3).all())
        ('PROOF', True)
    """

    bounds: bool = True
    rtol: float = 0.02
    """Part of its width that some unknown must gain for another step."""
    max_steps: int = 4
    legs: LiftedHull = field(default_factory=lambda: LiftedHull(rtol=0.01))
    """What bounds each leg before."""

    claim: ClassVar[Claim] = Claim.PROOF

    @one_blas_thread()
    def estimate(self, problem: JointProblem) -> Estimate:
        box, stages = self._alone(problem)
        gaining, steps = not box.is_empty and box.is_bounded, 0
        while gaining and steps < self.max_steps:
            last, steps = box, steps + 1
            box, stage = self.step(problem, last)
            stages.append(stage)
            gaining = self.bounds and not box.is_empty and bool((box.width < (1 - self.rtol) * last.width).any())
        stats = LiftedStats(problem.n_rows, active_rows=_poses(problem, stages[-1:]), steps=steps, stages=tuple(stages))
        status = Status.MAX_STEPS if gaining else Status.OK
        unknowns = problem.unknowns
        note = f"{_CONTRADICTION}."
        return box_answer(self, self.claim, unknowns, box, stats, contradiction=note, status=status)

    def _alone(self, problem: JointProblem) -> tuple[Box, list[LiftedStage]]:
        """What each leg allows by itself."""
        stages, lower, upper = list[LiftedStage](), [], []
        for i, part in enumerate(problem.parts):
            answer = self.legs.estimate(part)
            assert isinstance(answer.stats, LiftedStats)
            stages += [replace(stage, part=i) for stage in answer.stats.stages]
            if answer.status is Status.INCONSISTENT:
                return Box.empty(len(problem.prior)), stages
            hull = answer.region.hull()
            lower.append(hull.lower)
            upper.append(hull.upper)
        return Box(np.concatenate(lower), np.concatenate(upper)), stages

    def step(self, problem: JointProblem, box: Box) -> "JointStep":
        """One step with its proof."""
        center = box.center
        radius = np.maximum((Interval(box.upper) - center).upper, (Interval(center) - box.lower).upper)
        program = JointProgram(problem, center, radius)
        contradiction, _ = program.contradiction()
        cuts = (contradiction,) if contradiction else program.cuts() if self.bounds else ()
        stage = LiftedStage(tuple(center.tolist()), tuple(radius.tolist()), cuts)
        if contradiction:
            return JointStep(Box.empty(len(box)), stage)
        lower, upper = box.lower.copy(), box.upper.copy()
        for cut in cuts:
            c = Interval(center[cut.axis])
            if cut.sign > 0:
                lower[cut.axis] = max(lower[cut.axis], float((c + cut.value).lower))
            else:
                upper[cut.axis] = min(upper[cut.axis], float((c - cut.value).upper))
        return JointStep(Box.empty(len(box)) if (lower > upper).any() else Box(lower, upper), stage)


class JointStep(NamedTuple):
    """A smaller box, and its proof."""

    box: Box
    stage: LiftedStage


def _poses(problem: JointProblem, stages: list[LiftedStage]) -> tuple[int, ...]:
    """The poses on which the last box rests."""
    n = len(problem.data)
    each = 2 * n + 4 * len(problem.parts[0].products)
    rows = {row % each for stage in stages for cut in stage.cuts for row in cut.rows}
    return tuple(sorted({row % n for row in rows if row < 2 * n}))
