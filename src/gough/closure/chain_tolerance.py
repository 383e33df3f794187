"""How uncertain must readings be for some chain of a delta, H4, Par4 or 3-RRR to fit all poses? A bracket."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gough.closure.certified_chain import quadratic_unknowns
from gough.closure.leg_tolerance import smallest_need
from gough.closure.quadratic_chain import QuadraticChain
from gough.core.arrays import Array
from gough.core.floating import require_ieee
from gough.core.threads import one_blas_thread
from gough.estimates import Status
from gough.evidence import LiftedTree
from gough.methods.nonlinear.lifted import LiftedHull, blame
from gough.robots import KinematicModel, LinearDelta, PlanarRRR, RotaryDelta

_ROUNDS = 60
_FINEST = 1e-11
_STEP = 1e-7
"""Of finite differences, m or rad."""
_BLUNT = 1e-3
"""A reading that turns the rod about itself explains nothing: its leverage counts as so much."""
_WIDER = 8.0
"""How much wider a bracket is tried where a proof fails."""
_HALVINGS = 3
"""Attempts to narrow it again."""


class LowerEnd(NamedTuple):
    """With less than ε no chain fits: the proof, and the poses on which it rests, heaviest first."""

    epsilon: float
    tree: LiftedTree
    poses: tuple[int, ...]


def reading_error(model: KinematicModel) -> int:
    """The place of the reading among the errors of a chain's problem.

    Examples:
        >>> reading_error(LinearDelta()), reading_error(PlanarRRR())
        (3, 2)
    """
    return 2 if isinstance(model, PlanarRRR) else 3


def excess(problem: QuadraticChain, x: Array, reading: int, more: float = 0.0) -> Array:
    """By how much the rod is too short, then too long, in each pose (2 N), m: ≤ 0 where it fits.

    Errors are moved against d and along it; readings may be off by `more` than stated. Floating point.
    """
    *_, near, far, left = _reach(problem, x, reading, more)
    return np.concatenate([near + left - x[-1], x[-1] + left - far])


def needs(problem: QuadraticChain, x: Array, reading: int) -> Array:
    """The same as what readings must be off by more, to first order, in their unit (2 N)."""
    d, D, *_ = _reach(problem, x, reading, 0.0)
    leverage = abs(np.einsum("ni,ni->n", d, D[:, reading])) / np.maximum(np.linalg.norm(d, axis=1), 1e-300)
    return np.asarray(excess(problem, x, reading) / np.tile(np.maximum(leverage, _BLUNT), 2))


def needed_by(problem: QuadraticChain, x: Array, reading: int) -> float:
    """The smallest `more` with which a chain fits; −tolerance if even exact readings would do, ∞ if none does."""
    low, high = -float(problem.tolerance[:, reading].max()), 0.1
    if excess(problem, x, reading, high).max() > 0:
        return np.inf
    if excess(problem, x, reading, low).max() <= 0:
        return low
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(problem, x, reading, middle).max() <= 0 else (middle, high)
    return high


@one_blas_thread()
def best_chain(
    model: KinematicModel, problem: QuadraticChain, chain: int, reading: int, start: Array
) -> tuple[Array, float]:
    """Parameters whose chain (counted from 1) needs little, by Chebyshev's linear programs; and how much it needs."""
    columns, theta = model.columns[chain - 1], np.array(start, dtype=float)

    def need(row: Array) -> Array:
        full = theta.copy()
        full[columns] = row
        x = quadratic_unknowns(model, full, chain)
        if not np.isfinite(x).all() or x not in problem.prior:
            return np.full(2 * problem.n_poses, np.inf)
        return needs(problem, x, reading)

    row = theta[columns]
    here, trust = need(row), 0.01
    for _ in range(_ROUNDS if np.isfinite(here).all() else 0):
        J = np.array([(need(row + step) - here) / _STEP for step in _STEP * np.eye(len(row))]).T
        if not np.isfinite(J).all():
            break
        sides = np.full(len(row), trust)
        step, promised = smallest_need(J, here, -sides, sides, trust)
        there = need(row + step)
        best = float(here.max())
        gained, expected = best - float(there.max()), best - promised
        if gained > 0:
            row, here = row + step, there
        trust = trust / 3 if gained < 0.25 * expected else min(2 * trust, 0.1) if gained > 0.75 * expected else trust
        if expected < _FINEST or trust < _FINEST:
            break
    theta[columns] = row
    return theta, float(here.max())


def lower_end(ask: Callable[[float], QuadraticChain], upper: float, width: float) -> LowerEnd | None:
    """A proof that somewhat less than `upper` does not suffice, as near to it as a few attempts get; None: none found.

    `ask` makes the problem in which readings may be off by so much more.
    """
    require_ieee("the smallest tolerance")
    gap, failed, found = width, upper, None
    while found is None and upper - gap > 0:
        found = _refuted(ask, upper - gap)
        failed, gap = (failed, gap) if found is not None else (upper - gap, _WIDER * gap)
    if found is None:
        found = _refuted(ask, 0.0)
    for _ in range(_HALVINGS if found is not None else 0):
        if found is None or failed - found.epsilon <= width:
            break
        middle = (failed + found.epsilon) / 2
        better = _refuted(ask, middle)
        found, failed = (found, middle) if better is None else (better, failed)
    return found


def _refuted(ask: Callable[[float], QuadraticChain], epsilon: float) -> LowerEnd | None:
    problem = ask(epsilon)
    answer = LiftedHull(rtol=0.05).estimate(problem)
    if answer.status is not Status.INCONSISTENT:
        return None
    stages = answer.stats.stages  # type: ignore[attr-defined]
    poses = (k for k, _ in blame(stages[-1], problem.n_rows) if k < problem.n_poses)
    return LowerEnd(epsilon, LiftedTree(stages), tuple(poses))


def exact_unknowns(model: KinematicModel, parameters: Any, chain: int) -> tuple[Fraction, ...]:
    """The unknowns of a chain (counted from 1) near these parameters, as fractions that satisfy all its conditions.

    Cosine and sine of an angle are (1 − t²)/(1 + t²) and 2 t/(1 + t²) for a short t near the tangent of half of it.

    Examples:
        >>> x = exact_unknowns(RotaryDelta(), RotaryDelta().nominal, 2)
        >>> x[3] * x[6] + x[4] * x[7] + x[5] * x[8]
        Fraction(0, 1)
    """
    if isinstance(model, LinearDelta | PlanarRRR):
        return tuple(Fraction(x) for x in quadratic_unknowns(model, parameters, chain).tolist())
    row = np.asarray(parameters, dtype=float)[model.columns[chain - 1]].tolist()
    short = isinstance(model, RotaryDelta)
    angle, zero = row[2:4] if short else row[3:5]
    arm, rod = (Fraction(x) for x in (row[4:6] if short else row[5:7]))
    (c, s), (level, down) = _turn(angle), _turn(zero)
    radius = Fraction(row[0])
    motor = [radius * c, radius * s, Fraction(row[1])] if short else [Fraction(x) for x in row[:3]]
    joint = [] if short else [Fraction(x) for x in row[7:]]
    at_0 = [arm * level * c, arm * level * s, -arm * down]
    at_90 = [-arm * down * c, -arm * down * s, -arm * level]
    return (*motor, *at_0, *at_90, *joint, rod)


def _turn(angle: float) -> tuple[Fraction, Fraction]:
    """About cos and sin, whose squares add to 1."""
    quarter = np.cos(angle) < 0  # half of the angle is kept below 45°, and turned by 90° after
    t = Fraction(round(float(np.tan((angle - np.pi * quarter) / 2)) * 2**44), 2**44)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return (-c, -s) if quarter else (c, s)


def _reach(problem: QuadraticChain, x: Array, reading: int, more: float) -> tuple[Array, ...]:
    """d, D, the distances with errors moved against d and along it, and |ρ| at most."""
    d = problem.p.mid + problem.A.mid @ x
    D = problem.D.mid + problem.B.mid @ x
    t = problem.tolerance.copy()
    t[:, reading] = np.maximum(t[:, reading] + more, 0.0)
    turned = problem.B.mid[:, reading].any(axis=(0, 1))
    wider = (np.square(t[:, reading]) - np.square(problem.tolerance[:, reading])) / 2
    left = np.maximum(problem.bend + np.outer(wider, turned), 0.0) @ abs(x)
    shift = np.einsum("ne,nei->ni", np.sign(np.einsum("ni,nei->ne", d, D)) * t, D)
    near, far = (np.linalg.norm(d + sign * shift, axis=1) for sign in (-1, 1))
    return d, D, near, far, left
