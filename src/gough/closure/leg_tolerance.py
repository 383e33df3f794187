"""How uncertain must readings be for some leg to fit all poses? A bracket, certified at both ends."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gough.closure.certified_leg import LegProblem
from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.core.floating import require_ieee
from gough.core.intervals import Interval
from gough.core.threads import one_blas_thread
from gough.estimates import Status
from gough.evidence import LiftedStage, LiftedTree
from gough.methods.nonlinear.lifted import LiftedHull, blame
from gough.methods.programs.simplex import Outcome, Simplex
from gough.region import Box

_ROUNDS = 100
_FINEST = 1e-11
"""Metres below which the search for a point does not go on."""
_BOXES = 60
"""Boxes after which an attempt at a proof is given up."""


@dataclass(frozen=True, eq=False)
class LegTolerance(ArrayValue):
    """The smallest ε by which every reading's tolerance must grow for some leg of the prior to fit: lower ≤ ε ≤ upper.

    ε is the minimal error bound of [DACP06, eqs. (15), (16)], on lengths instead of their squares. If it is negative,
    the measurements are consistent with room to spare.
    """

    lower: float
    """With less than this no leg of the prior fits: proven by linear programs whose multipliers are exact."""
    upper: float
    """With this much `point` fits: proven by exhibited measurements on both sides of every equation."""
    point: Array
    """A leg (a, b, l) that fits."""
    poses: tuple[tuple[int, float], ...]
    """Poses that forbid less, with their share of the blame, heaviest first."""
    boxes: int
    """Boxes that the proof of the lower end needed; 1 if nothing had to be split."""
    tree: LiftedTree | None = None
    """The proof of the lower end, for a certificate; None where nothing was proven."""

    @property
    def is_consistent(self) -> bool:
        """Does a leg fit with the tolerances as stated? It is exhibited."""
        return self.upper <= 0

    @property
    def is_inconsistent(self) -> bool:
        """Is it proven that none does?"""
        return self.lower > 0


class Reach(NamedTuple):
    """How short and how long a leg certainly can be at each pose, within the tolerances of the pose."""

    shortest: Array
    """Some measurement gives at most this."""
    longest: Array
    """Some measurement gives at least this."""


def reach(problem: LegProblem, point: Array) -> Reach:
    """The distance at two measurements of each pose, moved along and against d and m: rounded to the safe side.

    Tolerances are connected, so all distances between the two are attained as well.
    """
    data, R = problem.data, problem.rotation
    v = iv.sum(R * point[3:6])
    p = Interval(data.position) - point[:3]
    middle_v, middle_p = v.mid, p.mid
    move = np.sign(middle_v + middle_p) * data.position_tolerance
    turn = np.sign(np.cross(middle_v, middle_p)) * data.rotation_tolerance
    near, far = (_distance(v, p + sign * move, sign * turn) for sign in (-1.0, 1.0))
    return Reach(near.upper, far.lower)


def _distance(v: Interval, p: Interval, turn: Array) -> Interval:
    """|exp(turn) v + p|, enclosed."""
    w = Interval(turn)
    angle = iv.sqrt(iv.sum(iv.sqr(w)))
    still = (turn == 0).all(axis=1)
    safe = iv.rearrange(lambda end: np.where(still, 1.0, end), angle)
    first, second = iv.sin(safe) / safe, 2 * iv.sqr(iv.sin(safe / 2) / safe)
    once = _cross(w, v)
    turned = v + _column(first) * once + _column(second) * _cross(w, once)
    return iv.sqrt(iv.sum(iv.sqr(turned + p)))


def _cross(x: Interval, y: Interval) -> Interval:
    j, k = [1, 2, 0], [2, 0, 1]
    return x[:, j] * y[:, k] - x[:, k] * y[:, j]


def _column(x: Interval) -> Interval:
    return iv.rearrange(lambda end: end[:, None], x)


def needed(problem: LegProblem, point: Array) -> Array:
    """For each pose, and whether the leg is too short or too long there: an ε that certainly suffices (2 N)."""
    near, far = reach(problem, point)
    length = Interval(problem.data.reading) + point[6]
    tolerance = problem.data.reading_tolerance
    both = Interval(near) - length - tolerance, length - far - tolerance
    return np.concatenate([side.upper for side in both])


@np.errstate(all="ignore")
@one_blas_thread()
def minimal_tolerance(problem: LegProblem, *, width: float = 1e-6) -> LegTolerance:
    """The bracket of the smallest ε, at most `width` wide where the proof succeeds, else as narrow as one was found.

    Examples:
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> q, p = np.tile([1.0, 0, 0, 0], (2, 1)), [[0, 0, 0.4], [0, 0, 0.4]]
        >>> data = LegMeasurements(q, p, [0.1, 0.104], 0, 0, 1e-3)  # one distance, read with 4 mm in between
        >>> found = minimal_tolerance(LegProblem(data, Box([0] * 6 + [0.2], [0] * 6 + [0.4])))
        >>> bool(0.001 - 1e-6 <= found.lower <= 0.001 <= found.upper), found.is_inconsistent
        (True, True)
    """
    require_ieee("the smallest tolerance")
    require(problem.prior.is_bounded, "the smallest tolerance is sought in a prior with finite sides: state one")
    require(width > 0, "the width of a bracket is positive")
    point, upper = _best_point(problem, problem.prior.center, problem.prior)
    least = -float(problem.data.reading_tolerance.min())
    gap, boxes = width, 0
    while upper - gap > least:
        proof = _Refutation(problem, point, upper, gap)
        proof.run()
        point, upper, boxes = proof.point, proof.upper, boxes + proof.boxes
        if proof.succeeded:
            return LegTolerance(proof.epsilon, upper, point, proof.poses(), proof.boxes, proof.tree())
        gap *= 10
    return LegTolerance(least, max(upper, least), point, (), boxes)


@np.errstate(all="ignore")
def poses_to_blame(problem: LegProblem, most: int = 3, *, width: float = 1e-6) -> tuple[tuple[int, LegTolerance], ...]:
    """Poses without which ε falls most, one after the other: the number of each, and the bracket once it is left out.

    Ends when the measurements are consistent, or with `most` poses. Each bracket is certified for the poses that are
    left; that no other choice of as many poses does better is not.
    """
    found: list[tuple[int, LegTolerance]] = []
    numbers, now = np.arange(problem.n_rows), minimal_tolerance(problem, width=width)
    while not now.is_consistent and now.poses and len(found) < most:
        trials = []
        for pose, _ in now.poses[:3]:
            rest = problem.select(np.arange(problem.n_rows) != pose)
            trials.append((_best_point(rest, now.point, rest.prior)[1], pose, rest))
        _, pose, problem = min(trials, key=lambda trial: trial[0])
        now = minimal_tolerance(problem, width=width)
        found.append((int(numbers[pose]), now))
        numbers = np.delete(numbers, pose)
    return tuple(found)


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


@one_blas_thread()
def refuted(problem: LegProblem, boxes: int = _BOXES) -> LiftedTree | None:
    """The proof that no leg of the prior fits, by halving boxes where one is not enough; None if none was found.

    Examples:
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> q, p = np.tile([1.0, 0, 0, 0], (2, 1)), [[0, 0, 0.4], [0, 0, 0.4]]
        >>> data = LegMeasurements(q, p, [0.1, 0.104], 0, 0, 1e-3)  # one distance, read with 4 mm in between
        >>> refuted(LegProblem(data, Box([0] * 6 + [0.2], [0] * 6 + [0.4]))) is not None
        True
    """
    proof = _Refutation(problem, problem.prior.center, np.inf, np.inf)
    proof.epsilon = 0.0
    proof.run(boxes)
    return proof.tree() if proof.succeeded else None


class _Refutation:
    """An attempt to prove that less than `upper` − `gap` does not suffice; better points found on the way are kept."""

    def __init__(self, problem: LegProblem, point: Array, upper: float, gap: float) -> None:
        self._problem, self.point, self.upper, self._gap = problem, point, upper, gap
        self.epsilon, self.boxes, self.succeeded = upper - gap, 0, False
        self._blame: dict[int, float] = {}
        self._root = _Node(problem.prior)

    def run(self, most: int = _BOXES) -> None:
        pending, method = [self._root], LiftedHull(rtol=0.05)
        while pending and self.boxes < most:
            node = pending.pop()
            self.boxes += 1
            part = replace(self._problem, prior=node.box).widened(self.epsilon)
            answer = method.estimate(part)
            node.stages = answer.stats.stages  # type: ignore[attr-defined]
            if answer.status is Status.INCONSISTENT:
                for pose, share in blame(node.stages[-1], part.n_rows):
                    self._blame[pose] = self._blame.get(pose, 0.0) + share
                continue
            left = answer.region.hull()
            point, upper = _best_point(self._problem, left.center, self._problem.prior)
            if upper <= self.epsilon:
                self.point, self.upper = point, upper
                if not np.isfinite(self._gap):  # a leg that fits: there is nothing to refute
                    return
            if upper < self.upper and np.isfinite(self._gap):  # ε is smaller than was thought: prove it anew
                self.point, self.upper, self.epsilon = point, upper, min(self.epsilon, upper - self._gap)
                self._root, self._blame = _Node(self._problem.prior), {}
                pending = [self._root]
                continue
            node.axis, node.at, halves = _halves(left)
            node.halves = tuple(_Node(half) for half in halves)
            pending += node.halves
        self.succeeded = not pending

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


def _best_point(problem: LegProblem, start: Array, prior: Box) -> tuple[Array, float]:
    """A point of the prior whose ε is small, by least squares and then Chebyshev's linear programs; and that ε."""
    x = np.clip(_least_squares(problem, start), prior.lower, prior.upper)
    here = needed(problem, x)
    best, trust = float(here.max()), 0.01
    for _ in range(_ROUNDS):
        step, promised = _chebyshev(problem, x, here, trust, prior)
        moved = np.clip(x + step, prior.lower, prior.upper)
        there = needed(problem, moved)
        gained, expected = best - float(there.max()), best - promised
        if gained > 0:
            x, here, best = moved, there, float(there.max())
        trust = trust / 3 if gained < 0.25 * expected else min(2 * trust, 0.1) if gained > 0.75 * expected else trust
        if expected < _FINEST or trust < _FINEST:
            break
    return x, best


def _frames(problem: LegProblem, x: Array) -> tuple[Array, Array, Array, Array]:
    """R, v = R b, p − a, and d, in floating point."""
    R = problem.rotation.mid
    v, p = R @ x[3:6], problem.data.position - x[:3]
    return R, v, p, v + p


def _slopes(R: Array, d: Array) -> Array:
    """∂(|d| − l)/∂(a, b, l)."""
    u = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
    return np.hstack([-u, np.einsum("nij,ni->nj", R, u), -np.ones((len(d), 1))])


def _least_squares(problem: LegProblem, start: Array) -> Array:
    """A few steps of Gauss and Newton, fixed unknowns left alone."""
    x, free = start.copy(), problem.prior.width > 0
    for _ in range(30):
        R, _, _, d = _frames(problem, x)
        g = np.linalg.norm(d, axis=1) - problem.data.reading - x[6]
        step = np.linalg.lstsq(_slopes(R, d)[:, free], -g, rcond=1e-9)[0]
        x[free] += step
        if not np.isfinite(x).all():
            return start
        if abs(step).max(initial=0.0) < 1e-12:
            break
    return x


def _chebyshev(problem: LegProblem, x: Array, here: Array, trust: float, prior: Box) -> tuple[Array, float]:
    """The step within trust that promises the smallest largest need, to first order, and that need."""
    R, v, p, d = _frames(problem, x)
    size = np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
    moved = np.sign(d) * problem.data.position_tolerance
    turned = np.sign(np.cross(v, p)) * problem.data.rotation_tolerance
    spread = np.zeros((len(d), 7))
    spread[:, :3] = -(moved + np.cross(turned, v)) / size
    spread[:, 3:6] = np.einsum("nij,ni->nj", R, moved + np.cross(p, turned)) / size
    J = _slopes(R, d)
    A = np.vstack([J - spread, -J - spread])
    low, high = np.maximum(-trust, prior.lower - x), np.minimum(trust, prior.upper - x)
    return smallest_need(A, here, low, high, trust)


def smallest_need(A: Array, here: Array, low: Array, high: Array, trust: float) -> tuple[Array, float]:
    """The step between low ≤ 0 and high ≥ 0 with the smallest largest A step + here, and that."""
    n, most = len(low), float(abs(here).max()) / trust + 1.0
    sides = np.minimum(low / trust, 0.0), np.maximum(high / trust, 0.0)
    program = Simplex(np.append(sides[0], -most), np.append(sides[1], most))
    rows = np.hstack([A, -np.ones((len(A), 1))])
    program.add_rows(rows, np.full(len(A), -np.inf), -here / trust)
    found = program.minimize(np.append(np.zeros(n), 1.0))
    if found.outcome is not Outcome.OPTIMAL:
        return np.zeros(n), float(here.max())
    return trust * found.point[:n], trust * float(found.point[n])
