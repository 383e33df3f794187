"""How uncertain must readings be for some chain to fit all poses? A bracket, proven at both ends."""

from dataclasses import dataclass

import numpy as np

from gough.checker.chain_proofs import JointEmpty
from gough.closure.chain_problem import ChainProblem
from gough.closure.fits import Exhibited, best_point, best_together
from gough.closure.framed_joint import Near, lower_end
from gough.closure.joint import JointProblem
from gough.closure.joint_hull import JointHull
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.core.floating import require_ieee
from gough.core.threads import one_blas_thread
from gough.estimates import LiftedStats, Status
from gough.evidence import LiftedStage, LiftedTree
from gough.methods.nonlinear.lifted import LiftedHull, blame
from gough.region import Box

_BOXES = 60
"""Boxes after which an attempt at a proof is given up."""
_FEW_BOXES = 4
"""The same where readings move d: squares of errors, which smaller boxes do not reduce, are most of what is left."""
_WIDER = 10.0
"""How much wider a bracket is tried where a proof fails."""
_GAPS = (2e-5, 6e-5, 2e-4, 6e-4, 2e-3, np.inf)
"""How far below the upper end of ε of several chains proofs are tried until one succeeds; at last at ε = 0."""
_FINER = (1e-6, 5e-6)
"""The same with boxes made smaller before."""
_STEPS = 4
"""Programs over all equations that make them smaller."""
_HALVINGS = 3
"""Attempts to narrow it again."""


class _Bracket(ArrayValue):
    """lower ≤ ε ≤ upper."""

    lower: float
    upper: float
    tree: LiftedTree | JointEmpty | None

    @property
    def is_consistent(self) -> bool:
        """Do chains fit with the tolerances as stated? They are exhibited."""
        return self.upper <= 0

    @property
    def is_inconsistent(self) -> bool:
        """Is it proven that none do?"""
        return self.lower >= 0 and self.tree is not None


@dataclass(frozen=True, eq=False)
class ChainTolerance(_Bracket):
    """The smallest ε by which every reading's tolerance must grow for a chain of the prior to fit: lower ≤ ε ≤ upper.

    ε is the minimal error bound of [DACP06, eqs. (15), (16)], on lengths instead of their squares, in the unit of the
    readings. If it is negative, the measurements are consistent with room to spare.
    """

    lower: float
    """With less than this no chain of the prior fits: proven by linear programs whose multipliers are exact."""
    upper: float
    """With this much `point` fits: proven by measurements on both sides of every equation; ∞ where none is known."""
    point: Array
    """A chain that fits; where conditions hold between its unknowns, `exact` of the problem is the point that does."""
    poses: tuple[tuple[int, float], ...]
    """Poses that forbid less, with their share of the blame, heaviest first."""
    boxes: int
    """Boxes that the proof of the lower end needed; 1 if nothing had to be split."""
    tree: LiftedTree | None = None
    """The proof of the lower end, for a certificate; None where nothing was proven."""


@np.errstate(all="ignore")
@one_blas_thread()
def minimal_tolerance(problem: ChainProblem, *, width: float = 1e-6, start: Array | None = None) -> ChainTolerance:
    """The bracket of the smallest ε, at most `width` wide where the proof succeeds, else as narrow as one was found.

    A point that fits is sought from the middle of the prior, and from `start` where one is given.

    Examples:
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> q, p = np.tile([1.0, 0, 0, 0], (2, 1)), [[0, 0, 0.4], [0, 0, 0.4]]
        >>> data = LegMeasurements(q, p, [0.1, 0.104], 0, 0, 1e-3)  # one distance, read with 4 mm in between
        >>> bracket = minimal_tolerance(LegProblem(data, Box([0] * 6 + [0.2], [0] * 6 + [0.4])))
        >>> bool(0.001 - 1e-6 <= bracket.lower <= 0.001 <= bracket.upper), bracket.is_inconsistent
        (True, True)
    """
    require_ieee("the smallest tolerance")
    require(problem.prior.is_bounded, "the smallest tolerance is sought in a prior with finite sides: state one")
    require(width > 0, "the width of a bracket is positive")
    point, upper = best_point(problem, *([] if start is None else [start]), problem.prior.center)
    least, gap, failed, boxes = -float(problem.reading_tolerance.min()), width, np.inf, 0
    most = _BOXES if problem.reading is None else 1
    best: _Refutation | None = None
    while best is None and (epsilon := _below(upper, gap, least)) is not None:
        proof = _Refutation(problem, point, upper, epsilon).run(most)
        point, upper, boxes, gap = proof.point, proof.upper, boxes + proof.boxes, _WIDER * gap
        best, failed = (proof, failed) if proof.succeeded else (None, proof.epsilon)
        if epsilon == 0:
            break
    if best is None:
        return ChainTolerance(least, max(upper, least), point, (), boxes)
    for _ in range(_HALVINGS):
        if not 1.001 * width < min(failed, upper) - best.epsilon < np.inf:
            break
        proof = _Refutation(problem, point, upper, (min(failed, upper) + best.epsilon) / 2).run(most)
        point, upper = proof.point, proof.upper
        better = proof.succeeded and proof.epsilon > best.epsilon
        best, failed = (proof, failed) if better else (best, proof.epsilon)
    return ChainTolerance(best.epsilon, upper, point, best.poses(), best.boxes, best.tree())


def _below(upper: float, gap: float, least: float) -> float | None:
    """The ε to refute: `upper` less the gap, or 0 where that is less and the stated tolerances may not suffice."""
    if upper > 0:
        return upper - gap if 0 < upper - gap < np.inf else 0.0
    return upper - gap if upper - gap > least else None


@np.errstate(all="ignore")
def poses_to_blame(
    problem: ChainProblem, most: int = 3, *, width: float = 1e-6
) -> tuple[tuple[int, ChainTolerance], ...]:
    """Poses without which ε falls most, one after the other: the number of each, and the bracket once it is left out.

    Ends when the measurements are consistent, or with `most` poses. Each bracket is certified for the poses that are
    left; that no other choice of as many poses does better is not.
    """
    result: list[tuple[int, ChainTolerance]] = []
    numbers, now = np.arange(problem.n_poses), minimal_tolerance(problem, width=width)
    while not now.is_consistent and now.poses and len(result) < most:
        trials = []
        for pose, _ in now.poses[:3]:
            rest = problem.select(np.arange(problem.n_poses) != pose)
            trials.append((best_point(rest, now.point)[1], pose, rest))
        _, pose, problem = min(trials, key=lambda trial: trial[0])
        now = minimal_tolerance(problem, width=width, start=now.point)
        result.append((int(numbers[pose]), now))
        numbers = np.delete(numbers, pose)
    return tuple(result)


@one_blas_thread()
def refuted(problem: ChainProblem, boxes: int | None = None) -> LiftedTree | None:
    """The proof that no chain of the prior fits, by halving boxes where one is not enough; None if none was found."""
    proof = _Refutation(problem, problem.prior.center, np.inf, 0.0)
    proof.run(boxes or (_BOXES if problem.reading is None else _FEW_BOXES))
    return proof.tree() if proof.succeeded else None


@dataclass
class _Node:
    """A box that is being refuted, and what became of it."""

    box: Box
    stages: tuple[LiftedStage, ...] = ()
    axis: int = 0
    at: float = 0.0
    halves: "tuple[_Node, ...]" = ()

    def tree(self) -> LiftedTree:
        return LiftedTree(self.stages, self.axis, self.at, tuple(half.tree() for half in self.halves))


class _Refutation:
    """An attempt to prove that `epsilon` does not suffice; better points found on the way are kept."""

    def __init__(self, problem: ChainProblem, point: Array, upper: float, epsilon: float) -> None:
        self._problem, self.point, self.upper, self._gap = problem, point, upper, upper - epsilon
        self.epsilon, self.boxes, self.succeeded = epsilon, 0, False
        self._blame: dict[int, float] = {}
        self._root = _Node(problem.prior)

    def run(self, most: int) -> "_Refutation":
        """Go on until nothing is left, a chain that fits is met, or so many boxes were tried."""
        pending, method = [self._root], LiftedHull(rtol=0.05)
        while pending and self.boxes < most:
            node = pending.pop()
            self.boxes += 1
            part = self._problem.within(node.box).widened(self.epsilon)
            answer = method.estimate(part)
            node.stages = answer.stats.stages  # type: ignore[attr-defined]
            if answer.status is Status.INCONSISTENT:
                for pose, share in blame(node.stages[-1], part.n_rows):
                    if pose < part.n_poses:
                        self._blame[pose] = self._blame.get(pose, 0.0) + share
                continue
            left = answer.region.hull()
            point, upper = best_point(self._problem, left.center)
            if upper < self.upper:
                self.point, self.upper = point, upper
                if upper <= self.epsilon and not np.isfinite(self._gap):  # a chain that fits: nothing to refute
                    return self
                if np.isfinite(self._gap):  # ε is smaller than was thought: prove it anew
                    self.epsilon = max(min(self.epsilon, upper - self._gap), 0.0 if upper > 0 else -np.inf)
                    self._root, self._blame = _Node(self._problem.prior), {}
                    pending = [self._root]
                    continue
            node.axis, node.at, halves = _halves(left)
            node.halves = tuple(_Node(half) for half in halves)
            pending += node.halves
        self.succeeded = not pending
        return self

    def tree(self) -> LiftedTree:
        return self._root.tree()

    def poses(self) -> tuple[tuple[int, float], ...]:
        whole = sum(self._blame.values()) or 1.0
        return tuple(sorted(((k, w / whole) for k, w in self._blame.items()), key=lambda pair: -pair[1]))


def _halves(box: Box) -> tuple[int, float, list[Box]]:
    """The longest axis, its middle, and both halves."""
    axis = int(box.width.argmax())
    lower, upper = box.lower.copy(), box.upper.copy()
    lower[axis] = upper[axis] = box.center[axis]
    return axis, float(box.center[axis]), [Box(box.lower, upper), Box(lower, box.upper)]


@dataclass(frozen=True, eq=False)
class JointTolerance(_Bracket):
    """The smallest ε by which every reading's tolerance must grow for chains of the prior to fit together."""

    lower: float
    """With less than this none do: proven by linear programs over all equations; −∞ where nothing was proven."""
    upper: float
    """With this much `points` fit at the exhibited poses."""
    points: Array
    """Unknowns of chain after chain that fit."""
    exhibit: Exhibited
    tree: LiftedTree | JointEmpty | None
    """The proof of the lower end, for a certificate."""


@np.errstate(all="ignore")
@one_blas_thread()
def joint_tolerance(
    problem: JointProblem, start: Array, *, width: float = 1e-6, thorough: bool = False
) -> JointTolerance:
    """The bracket of the smallest ε of all chains together, from chains that fit by themselves, one after the other.

    Where chains fit with the tolerances as stated, that is the answer, and no lower end is sought. For chains over rods
    the bracket becomes at most `width` wide where the proof succeeds, see `gough.closure.framed_joint`. For legs a
    program's error grows with the boxes of single chains, a few hundredths of a millimetre; with `thorough` boxes are
    first made smaller by programs over all equations, which takes minutes.

    Examples:
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> q, p = np.tile([1.0, 0, 0, 0], (2, 1)), np.tile([0, 0, 0.4], (2, 1))
        >>> prior = Box([0] * 6 + [0.2], [0] * 6 + [0.4])
        >>> readings = ([0.1, 0.1], [0.1, 0.104])  # one pose twice, 4 mm between the readings of the second leg
        >>> data = [LegMeasurements(q, p, each, 0, 0, 1e-3) for each in readings]
        >>> problem = JointProblem(tuple(LegProblem(each, prior, leg) for leg, each in enumerate(data, start=1)))
        >>> bracket = joint_tolerance(problem, np.tile([0, 0, 0, 0, 0, 0, 0.3], 2))
        >>> bracket.is_inconsistent, bool(bracket.lower <= 0.001 <= bracket.upper + 1e-9)
        (True, True)
    """
    require_ieee("the smallest tolerance")
    points, exhibit = best_together(problem, start)
    if exhibit.needed <= 0:
        return JointTolerance(-np.inf, exhibit.needed, points, exhibit, None)
    closer = lower_end(problem, exhibit.needed, width, Near(points, exhibit.errors))
    if closer is not None:
        return JointTolerance(closer.epsilon, exhibit.needed, points, exhibit, closer.proof)
    lower, tree = -np.inf, None
    for gap in (*_FINER, *_GAPS) if thorough else _GAPS:
        epsilon = max(exhibit.needed - gap, 0.0) if exhibit.needed < np.inf else 0.0
        proof, more = _refuted_together(problem.widened(epsilon), thorough=thorough)
        if proof is not None:
            lower, tree = epsilon, proof
            raised = epsilon + 0.9 * more if more else (epsilon + exhibit.needed) / 2
            if raised < exhibit.needed:
                again, _ = _refuted_together(problem.widened(raised), thorough=thorough)
                lower, tree = (raised, again) if again is not None else (lower, tree)
        if proof is not None or epsilon == 0:
            break
    return JointTolerance(lower, exhibit.needed, points, exhibit, tree)


def _refuted_together(problem: JointProblem, *, thorough: bool) -> tuple[LiftedTree | None, float]:
    """The proof that no chains fit together, and by how much readings would have to widen in the last box."""
    answer, more = JointHull(max_steps=0).estimate(problem), 0.0
    assert isinstance(answer.stats, LiftedStats)
    stages, box = list(answer.stats.stages), answer.region.hull()
    for _ in range(_STEPS if thorough else 1):
        if not box.is_empty:
            box, stage, more = JointHull(bounds=thorough).step(problem, box)
            stages.append(stage)
    return (LiftedTree(tuple(stages)) if box.is_empty else None), more
