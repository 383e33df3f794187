"""How well given chains fit: what their readings must be off by, the best point, and errors of poses to exhibit."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from gough.closure.chain_problem import ChainProblem
from gough.closure.joint import JointProblem
from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.intervals import Interval
from gough.methods.programs.simplex import Outcome, Simplex
from gough.methods.programs.sparse_program import Indices, SparseProgram, SparseRows

State = TypeVar("State")
_ROUNDS = 100
_FINEST = 1e-11
"""Metres below which the search for a point does not go on."""
_FINEST_TOGETHER = 1e-8
"""The same for several chains together."""
_ENOUGH = -1e-7
"""A need, in the unit of readings, with which chains certainly fit together."""
_HALVINGS = 60
_BLUNT = 1e-3
"""A reading that turns the rod about itself explains nothing: its leverage counts as so much."""
_MOST = 0.1
"""What readings may be off by at most, in their unit."""
_AGAIN = 3
"""Searches around what was needed so far, where needs are known to first order only."""
_ROOM = 1e-9
"""Metres by which a search stays away from the sides of the prior where conditions move its points."""
_CLOSE = 1e-12
"""The width, in the unit of readings, to which a need is computed where the reading moves d."""


class Exhibited(NamedTuple):
    """Shared errors of poses within their tolerances, and by how much more than stated readings are off with them."""

    errors: Array
    """(N, S), as a certificate states them: for legs δ, and v of the quaternion (1, v), nearly half of ω."""
    needed: float


def excess(problem: ChainProblem, x: Array, shared: Array | None = None) -> Array:
    """Upper bounds of how much too short the length is in each pose, then of how much too long (2 N), m.

    The chain fits where both are ≤ 0: the distance is at most l + reading + η with some errors, at least that with
    others, and it depends on them continuously. Shared errors (N, S) may be given; else they are free within their
    tolerances. Every rounding is enclosed.
    """
    point = _enclosed(problem, x)
    low, high = _ends(problem, x, shared)
    left = 0.0 if problem.bend is None else iv.sum(Interval(problem.bend) * abs(point))
    length, slack = point[-1] + problem.offset, problem.reading_tolerance if problem.reading is None else 0.0
    near, far = (problem.distance(point, errors) for errors in (low, high))
    both = near + left - length - slack, length + left - far - slack
    return np.concatenate([side.upper for side in both])


def needs(problem: ChainProblem, x: Array, shared: Array | None = None) -> Array:
    """The same as widening of the reading's tolerance, in its unit (2 N): in floating point.

    To first order where readings move d.
    """
    low, high = _ends(problem, x, shared)
    near = np.linalg.norm(problem.vector(x, low).d, axis=1)
    far = near if high is low else np.linalg.norm(problem.vector(x, high).d, axis=1)
    left = 0.0 if problem.bend is None else problem.bend @ abs(x)
    length, slack = x[-1] + problem.offset, problem.reading_tolerance if problem.reading is None else 0.0
    both = np.concatenate([near + left - length - slack, length + left - far - slack])
    return both / np.tile(leverage(problem, x), 2)


def needed_by(problem: ChainProblem, x: Array, shared: Array | None = None) -> float:
    """An ε, by which all tolerances of readings grow, with which the chain fits; ∞ if none up to 0.1 m or rad suffices.

    Where readings move d, it is not less than what makes readings exact.
    """
    if problem.reading is None:
        return float(excess(problem, x, shared).max())
    low, high = (
        -float(problem.reading_tolerance.max()),
        float(np.clip(2 * needs(problem, x, shared).max(), _CLOSE, _MOST)),
    )

    def fits(more: float) -> bool:
        return bool(excess(problem.widened(more), x, shared).max() <= 0)

    if fits(low):
        return low
    if not fits(high):
        low, high = high, _MOST
        if not fits(high):
            return np.inf
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def leverage(problem: ChainProblem, x: Array) -> Array:
    """What a reading that is off by one unit adds to the distance (N,), m."""
    if problem.reading is None:
        return np.ones(problem.n_poses)
    d, _, by_errors = problem.vector(x, np.zeros(problem.tolerance.shape))
    along = abs(np.einsum("ni,ni->n", d, by_errors[:, :, problem.reading]))
    return np.maximum(along / np.maximum(np.linalg.norm(d, axis=1), 1e-300), _BLUNT)


def onto(problem: ChainProblem, x: Array) -> Array:
    """A point of the prior near x that satisfies the conditions between unknowns, to rounding."""
    x = np.clip(x, problem.prior.lower, problem.prior.upper)
    return x if problem.tangent(x) is None else np.array([float(value) for value in problem.exact(x)])


def best_point(problem: ChainProblem, *starts: Array) -> tuple[Array, float]:
    """A point of the prior whose ε is small, and an ε with which it certainly fits; ∞ if none is known.

    By least squares, and then Chebyshev's linear programs, from each of the starts.
    """
    candidates = []
    for start in starts:
        first = onto(problem, start)
        fitted = onto(problem, _least_squares(problem, first))
        candidates.append(_improved(problem, fitted if fitted in problem.prior else first))
    best = min(candidates, key=lambda pair: pair[1])[0]
    epsilon = _needed_within(problem, best)
    for _ in range(_AGAIN if problem.reading is not None and 0 < epsilon < np.inf else 0):
        moved, _ = _improved(problem.widened(epsilon), best, finest=100 * _FINEST)
        less = _needed_within(problem, moved)
        if not less < epsilon:
            break
        best, epsilon = moved, less
    return best, epsilon


def _needed_within(problem: ChainProblem, x: Array, shared: Array | None = None) -> float:
    """The ε that the chain needs; ∞ if the point that a witness states may be outside the prior."""
    point, prior = _enclosed(problem, x), problem.prior
    inside = (point.lower >= prior.lower).all() and (point.upper <= prior.upper).all()
    return needed_by(problem, x, shared) if inside else np.inf


def _improved(problem: ChainProblem, x: Array, finest: float = _FINEST) -> tuple[Array, float]:
    """A point near x with a smaller largest need, and that need."""

    def step(point: Array, trust: float) -> tuple[Array, float, float]:
        moved, promised = _chebyshev(problem, point, trust)
        there = onto(problem, point + moved)
        return there, promised, float(needs(problem, there).max()) if there in problem.prior else np.inf

    return _descended(x, float(needs(problem, x).max()), step, trust=0.01, finest=finest)


def _descended(
    state: State,
    need: float,
    step: Callable[[State, float], tuple[State, float, float]],
    *,
    trust: float,
    finest: float,
    enough: float = -np.inf,
) -> tuple[State, float]:
    """A state with a smaller need, by steps within a trust region: each has a promised need and a true one."""
    for _ in range(_ROUNDS):
        moved, promised, there = step(state, trust)
        gained, expected = need - there, need - promised
        if gained > 0:
            state, need = moved, there
        trust = trust / 3 if gained < 0.25 * expected else min(2 * trust, 0.1) if gained > 0.75 * expected else trust
        if need <= enough or expected < finest or trust < finest:
            break
    return state, need


def _least_squares(problem: ChainProblem, start: Array) -> Array:
    """A few steps of Gauss and Newton, fixed unknowns left alone."""
    x, free, none = start.copy(), problem.prior.width > 0, np.zeros(problem.tolerance.shape)
    for _ in range(30):
        d, by_unknowns, _ = problem.vector(x, none)
        size = np.linalg.norm(d, axis=1)
        J = np.einsum("ni,nij->nj", d / np.maximum(size, 1e-300)[:, None], by_unknowns)
        J[:, -1] -= 1.0
        T = problem.tangent(x)
        directions = np.eye(len(x))[:, free] if T is None else T
        step = directions @ np.linalg.lstsq(J @ directions, x[-1] + problem.offset - size, rcond=1e-9)[0]
        moved = x + step if T is None else np.array([float(value) for value in problem.exact(x + step)])
        if not np.isfinite(moved).all():
            return start
        x = moved
        if abs(step).max(initial=0.0) < 1e-12:
            break
    return x


def slopes(problem: ChainProblem, x: Array, shared: Array | None = None) -> tuple[Array, Array]:
    """Derivatives of `needs` by the unknowns (2 N, n) and by the shared errors (2 N, S), leverage being constant."""
    by_unknowns, by_errors = [], []
    bend = 0.0 if problem.bend is None else np.sign(x) * problem.bend
    for sign, errors in zip((1.0, -1.0), _ends(problem, x, shared), strict=True):
        d, by_x, by_e = problem.vector(x, errors)
        u = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
        along = np.einsum("ni,nij->nj", u, by_x)
        along[:, -1] -= 1.0
        by_unknowns.append(sign * along + bend)
        by_errors.append(sign * np.einsum("ni,nie->ne", u, by_e[:, :, problem.shared]))
    unit = np.tile(leverage(problem, x), 2)[:, None]
    return np.vstack(by_unknowns) / unit, np.vstack(by_errors) / unit


def _ends(problem: ChainProblem, x: Array, shared: Array | None) -> tuple[Array, Array]:
    """Errors (N, E) moved against d, and along it; the shared ones as given, if they are."""
    now = np.zeros(problem.tolerance.shape)
    most = problem.tolerance
    if shared is not None:
        most = most.copy()
        now[:, problem.shared], most[:, problem.shared] = shared, 0.0
        if problem.reading is None:
            return now, now
    d, _, by_errors = problem.vector(x, now)
    moved = np.sign(np.einsum("ni,nie->ne", d, by_errors)) * most
    return now - moved, now + moved


def _enclosed(problem: ChainProblem, x: Array) -> Interval:
    """The point that a witness states for x."""
    if problem.tangent(x) is None:
        return Interval(x)
    return iv.rearrange(lambda *ends: np.array(ends), *map(Interval, problem.exact(x)))


def _chebyshev(problem: ChainProblem, x: Array, trust: float) -> tuple[Array, float]:
    """The step within trust that promises the smallest largest need, to first order, and that need."""
    here, steps = needs(problem, x), _Steps.at(problem, x, trust)
    most = float(abs(here).max()) / trust + 1.0
    program = Simplex(np.append(steps.lower, -most), np.append(steps.upper, most))
    rows = np.hstack([slopes(problem, x)[0] @ steps.basis, -np.ones((len(here), 1))])
    program.add_rows(rows, np.full(len(rows), -np.inf), -here / trust)
    if len(steps.sides):
        rows = np.hstack([steps.rows, np.zeros((len(steps.rows), 1))])
        program.add_rows(rows, np.full(len(rows), -np.inf), steps.sides)
    optimum = program.minimize(np.append(np.zeros(len(steps.lower)), 1.0))
    if optimum.outcome is not Outcome.OPTIMAL:
        return np.zeros(len(x)), float(here.max())
    return trust * steps.basis @ optimum.point[:-1], trust * float(optimum.point[-1])


class _Steps(NamedTuple):
    """Steps of a chain in units of trust: combinations of a basis between lower and upper with rows ≤ sides."""

    basis: Array
    """(n, k): directions in which conditions stay satisfied."""
    lower: Array
    upper: Array
    rows: Array
    """What keeps steps along conditions within the prior."""
    sides: Array

    @classmethod
    def at(cls, problem: ChainProblem, x: Array, trust: float) -> "_Steps":
        T, n = problem.tangent(x), len(x)
        low, high = ((side - x) / trust for side in (problem.prior.lower, problem.prior.upper))
        if T is None:
            return cls(np.eye(n), np.clip(low, -1, 0), np.clip(high, 0, 1), np.zeros((0, n)), np.zeros(0))
        room = np.minimum(problem.prior.width / 4, _ROOM) / trust
        sides = np.maximum(np.concatenate([high - room, -low - room]), 0.0)
        return cls(T, -np.ones(T.shape[1]), np.ones(T.shape[1]), np.vstack([T, -T]), sides)


def exhibited(problem: ChainProblem, x: Array) -> Exhibited:
    """For every pose the errors, between those that bring it nearest and farthest, with which the chain fits best."""
    errors, wanted = _ends(problem, x, None)[1], problem.offset + x[-1]
    if problem.reading is not None:
        errors[:, problem.reading] = 0.0
    low, high = -np.ones(len(errors)), np.ones(len(errors))
    for _ in range(_HALVINGS):  # the distance grows from one end to the other
        middle = (low + high) / 2
        short = np.linalg.norm(problem.vector(x, middle[:, None] * errors).d, axis=1) < wanted
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    stated, meant = problem.stated((((low + high) / 2)[:, None] * errors)[:, problem.shared])
    return Exhibited(stated, needed_by(problem, x, meant))


def best_together(problem: JointProblem, start: Array, *, enough: float = _ENOUGH) -> tuple[Array, Exhibited]:
    """Chains, one after the other, and errors of poses that they share, with which they fit well: by linear programs.

    The search ends early with a need of at most `enough`. What is exhibited suffices; that nothing less does is not
    proven.
    """

    def step(state: tuple[Array, Array], trust: float) -> tuple[tuple[Array, Array], float, float]:
        moved, errors, promised = _improved_together(problem, *state, trust)
        there = np.concatenate([onto(part, state[0][at] + moved[at]) for part, at in problem])
        return (there, errors), promised, _largest_need(problem, there, errors) if there in problem.prior else np.inf

    x, e = np.asarray(start, dtype=float).reshape(-1), np.zeros(problem.tolerance.shape)
    need = _largest_need(problem, x, e) if x in problem.prior else np.inf
    (x, e), _ = _descended((x, e), need, step, trust=3e-3, finest=_FINEST_TOGETHER, enough=enough)
    stated, meant = problem.parts[0].stated(e)
    return x, Exhibited(stated, max(_needed_within(part, x[at], meant) for part, at in problem))


def _largest_need(problem: JointProblem, x: Array, e: Array) -> float:
    return float(max(needs(part, x[at], e).max() for part, at in problem))


def _improved_together(problem: JointProblem, x: Array, e: Array, trust: float) -> tuple[Array, Array, float]:
    """The step within trust that promises the smallest largest need, to first order, and the errors of poses with it.

    Unknowns of the program: steps along each chain's conditions in units of trust, errors in units of their tolerances,
    and the largest need.
    """
    n, S = problem.tolerance.shape
    safe = np.where(problem.tolerance > 0, problem.tolerance, 1.0)
    steps = [_Steps.at(part, x[at], trust) for part, at in problem]
    first = np.cumsum([0, *(len(each.lower) for each in steps)]).tolist()
    errors_at, last = first[-1], first[-1] + S * n
    blocks, sides, largest = list[tuple[Array, Indices]](), [], 0.0
    pose = np.tile(np.arange(n), 2)[:, None]
    for (part, at), each, column in zip(problem, steps, first, strict=False):
        need, (by_unknowns, by_errors) = needs(part, x[at], e), slopes(part, x[at], e)
        in_tolerances = by_errors * np.tile(problem.tolerance, (2, 1))
        rows = np.hstack([by_unknowns @ each.basis, in_tolerances / trust, -np.ones((2 * n, 1))])
        own = column + np.arange(len(each.lower))
        where = [np.tile(own, (2 * n, 1)), errors_at + S * pose + np.arange(S), np.full((2 * n, 1), last)]
        blocks += [(rows, np.hstack(where).astype(np.int32))]
        blocks += [(each.rows, np.tile(own, (len(each.rows), 1)).astype(np.int32))] if len(each.rows) else []
        sides += [((in_tolerances * np.tile(e / safe, (2, 1))).sum(axis=1) - need) / trust, each.sides]
        largest = max(largest, float(abs(need).max()))
    most = largest / trust + 1.0
    lower = np.concatenate([*(each.lower for each in steps), -np.ones(S * n), [-most]])
    upper = np.concatenate([*(each.upper for each in steps), np.ones(S * n), [most]])
    high = np.concatenate(sides)
    program = SparseProgram(lower, upper, SparseRows.of(blocks), np.full(len(high), -np.inf), high)
    optimum = program.minimize(np.append(np.zeros(last), 1.0))
    if optimum.outcome is not Outcome.OPTIMAL:
        return np.zeros(x.shape), e, _largest_need(problem, x, e)
    parts = [each.basis @ optimum.point[i : i + len(each.lower)] for each, i in zip(steps, first, strict=False)]
    errors = optimum.point[errors_at:last].reshape(n, S) * problem.tolerance
    return trust * np.concatenate(parts), errors, trust * optimum.cost
