"""Hulls of equations that are quadratic in the unknowns, by one linear program in the unknowns and their products."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from gough.core.arrays import Array
from gough.core.intervals import Interval
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, LiftedStats, Status
from gough.evidence import LiftedCut, LiftedStage
from gough.methods.bounded.box_answer import box_answer
from gough.methods.nonlinear.lifted_program import LiftedProgram, Relaxation, envelopes
from gough.region import Box
from gough.unknowns import Unknowns

_FAR = 1e150
"""Squares of radii beyond it are no floating-point numbers, and products would be without bounds."""
_CONTRADICTION = "No value of the unknowns within the prior fits all measurements within their tolerances"


class QuadraticProblem(Protocol):
    """Equations quadratic in the unknowns, with data known to intervals."""

    @property
    def unknowns(self) -> Unknowns: ...

    @property
    def n_rows(self) -> int:
        """Number of equations."""
        ...

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Pairs of unknowns whose products the equations share; (j, j) is a square."""
        ...

    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Inequalities for every consistent θ = center + h with |h| ≤ radius, linear in h and the products of h."""
        ...


class Contracted(NamedTuple):
    """A smaller box, and its proof."""

    box: Box
    stage: LiftedStage


@dataclass(frozen=True)
class LiftedHull:
    """The hull of a linear relaxation in which the products of unknowns that all equations share are unknowns too.

    Constraint: f_k(θ) = 0 for some data in their intervals, for equations quadratic in θ. Around the box's center,
    θ = c + h, each is exactly linear in h and the shared products h_i h_j, which are kept between McCormick's
    planes and over tangents of the squares. Kept: every consistent θ of the box. Does nothing where the box is
    unbounded, or so large that the planes say nothing. Not idempotent: `estimate` repeats it until no side gains more
    than `rtol`.

    The multipliers of each linear program prove their side in whole numbers [NS04], on rows whose own rounding was
    enclosed before; so does the contradiction where nothing is consistent. Linearizing over the box instead, as
    [DACP06, §4] does, needs a box of a few millimetres to begin with.

    Examples:
        >>> import gough
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> lengths = np.linalg.norm(p, axis=1)
        >>> data = LegMeasurements(np.tile([1.0, 0, 0, 0], (8, 1)), p, lengths - 0.2, 1e-5, 0.0, 1e-5)
        >>> prior = gough.Box([-0.1, -0.1, -0.1, 0, 0, 0, 0.1], [0.1, 0.1, 0.1, 0, 0, 0, 0.3])
        >>> answer = gough.estimate(LegProblem(data, prior), LiftedHull(), strict=False)
        >>> answer.claim.name, bool((answer.region.width < 2e-3).all())
        ('PROOF', True)
    """

    rtol: float = 1e-3
    """Part of its width that some unknown must gain for another step."""

    max_steps: int = 60

    claim: ClassVar[Claim] = Claim.PROOF

    def contract(self, problem: QuadraticProblem, box: Box) -> Box:
        return self.step(problem, box).box

    @np.errstate(all="ignore")
    @one_blas_thread()
    def step(self, problem: QuadraticProblem, box: Box) -> Contracted:
        """One step with its proof."""
        if box.is_empty or not box.is_bounded:
            return Contracted(box, LiftedStage((), (), ()))
        center, radius = center_and_radius(box)
        if not radius.max() < _FAR:
            return Contracted(box, LiftedStage((), (), ()))
        rows = problem.relaxation(center, radius)
        program = LiftedProgram(rows, envelopes(problem.products, radius), problem.products, radius)
        cuts, contradiction = program.cuts()
        stage = LiftedStage(tuple(center.tolist()), tuple(radius.tolist()), (contradiction,) if contradiction else cuts)
        return Contracted(Box.empty(len(box)) if contradiction else tightened(box, center, cuts), stage)

    @np.errstate(all="ignore")
    def estimate(self, problem: QuadraticProblem) -> Estimate:
        box, gaining = problem.unknowns.bounds, True
        stages: list[LiftedStage] = []
        while gaining and len(stages) < self.max_steps:
            last = box
            box, stage = self.step(problem, last)
            stages.append(stage)
            gaining = not box.is_empty and box.is_bounded and bool((box.width < (1 - self.rtol) * last.width).any())
        used = {row for stage in stages for cut in stage.cuts for row in cut.rows}
        active = tuple(sorted({row % problem.n_rows for row in used if row < 2 * problem.n_rows}))
        stats = LiftedStats(problem.n_rows, active_rows=active, steps=len(stages), stages=tuple(stages))
        return box_answer(
            self,
            self.claim,
            problem.unknowns,
            box,
            stats,
            contradiction=f"{_CONTRADICTION}; {_blame(stages[-1], problem.n_rows)}.",
            status=Status.MAX_STEPS if gaining else Status.OK,
        )


def center_and_radius(box: Box) -> tuple[Array, Array]:
    """The middle of a box and half its widths, rounded up."""
    center = box.center
    return center, np.maximum((Interval(box.upper) - center).upper, (Interval(center) - box.lower).upper)


def tightened(box: Box, center: Array, cuts: tuple[LiftedCut, ...]) -> Box:
    """The part of a box that satisfies all cuts, each rounded outward."""
    value = np.full((2, len(box)), -np.inf)
    for cut in cuts:
        value[0 if cut.sign > 0 else 1, cut.axis] = cut.value
    known, value = np.isfinite(value), np.where(np.isfinite(value), value, 0.0)
    lower = np.where(known[0], np.maximum(box.lower, (Interval(center) + value[0]).lower), box.lower)
    upper = np.where(known[1], np.minimum(box.upper, (Interval(center) - value[1]).upper), box.upper)
    return Box.empty(len(box)) if (lower > upper).any() else Box(lower, upper)


def _blame(stage: LiftedStage, n_poses: int) -> str:
    """The equations on which the last contradiction rests, heaviest first."""
    weights = blame(stage, n_poses)
    if not weights:
        return "bounds from below and above cross"
    names = [str(k) for k, _ in weights[:8]]
    return f"it rests on equations {', '.join(names)}{', …' if len(weights) > 8 else ''}, heaviest first"


def blame(stage: Any, n_rows: int) -> list[tuple[int, float]]:
    """The equations of a stage's cuts with their share of the multipliers' weight, heaviest first."""
    total: dict[int, float] = {}
    for cut in stage.cuts:
        for row, share in zip(cut.rows, cut.shares, strict=True):
            if row < 2 * n_rows:
                total[row % n_rows] = total.get(row % n_rows, 0.0) + share
    whole = sum(total.values()) or 1.0
    return sorted(((k, w / whole) for k, w in total.items()), key=lambda pair: -pair[1])
