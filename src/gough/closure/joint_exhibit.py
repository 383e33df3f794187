"""Measurements within their tolerances at which legs fit: poses to exhibit, for a proof by example."""

from typing import NamedTuple

import numpy as np

from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.closure.certified_leg import LegProblem
from gough.closure.joint_legs import JointProblem
from gough.core.arrays import Array
from gough.core.rotations import exp
from gough.methods.programs.simplex import Outcome
from gough.methods.programs.sparse_program import SparseProgram, SparseRows

_HALVINGS = 60
_FINEST = 1e-8
"""Metres below which programs do not go on."""
ROOM = -1e-7
"""A need, m, with which legs certainly fit."""


class Exhibited(NamedTuple):
    """Errors of poses within their tolerances, and by how much more than stated readings must be off with them."""

    move: Array
    """Of positions δ (N, 3), m."""
    turn: Array
    """Of orientations (N, 3): v of the quaternion (1, v), half of the rotation vector, nearly."""
    needed: float


def exhibited(problem: LegProblem, point: Array) -> Exhibited:
    """For every pose the errors, between those that bring it nearest and farthest, with which the leg fits best.

    Examples:
        >>> data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.5]], [0.2501], 1e-3, 0, 1e-5)
        >>> from gough.region import Box
        >>> problem = LegProblem(data, Box.around([0, 0, 0, 0, 0, 0, 0.25], 0.01))
        >>> exhibited(problem, problem.prior.center).move.round(5) + 0.0
        array([[0.    , 0.    , 0.0001]])
    """
    data, R = problem.data, problem.rotation.mid
    v, p = R @ point[3:6], data.position - point[:3]
    errors = np.hstack([np.sign(v + p) * data.position_tolerance, np.sign(np.cross(v, p)) * data.rotation_tolerance])
    wanted = data.reading + point[6]
    low, high = -np.ones(len(data)), np.ones(len(data))
    for _ in range(_HALVINGS):  # the distance grows from one end to the other
        middle = (low + high) / 2
        short = _distances(point[None], R, data.position, middle[:, None] * errors)[:, 0] < wanted
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    move, turn = _within(data, ((low + high) / 2)[:, None] * errors)
    poses = _moved(data, move, turn)
    return Exhibited(move, turn, _needed(point[None], poses, wanted[:, None], data.reading_tolerance[:, None]))


def exhibited_together(problem: JointProblem, points: Array, errors: Array) -> Exhibited:
    """These errors δ, ω of poses, which all legs (legs, 7) share."""
    data = problem.data
    move, turn = _within(data, errors)
    poses = _moved(data, move, turn)
    return Exhibited(move, turn, _needed(points, poses, data.readings + points[:, 6], data.reading_tolerance))


def _within(data: LegMeasurements | PlatformMeasurements, errors: Array) -> tuple[Array, Array]:
    """Errors kept within their tolerances."""
    tp, tw = data.position_tolerance, data.rotation_tolerance
    return np.clip(errors[:, :3], -tp, tp), np.clip(errors[:, 3:], -tw, tw) / 2


def _moved(data: LegMeasurements | PlatformMeasurements, move: Array, turn: Array) -> tuple[Array, Array]:
    """Quaternions of any length, and positions, with these errors."""
    a, v = data.quaternion[:, :1], data.quaternion[:, 1:]
    scalar = a - (turn * v).sum(axis=1, keepdims=True)
    return np.hstack([scalar, v + a * turn + np.cross(turn, v)]), data.position + move


def _needed(points: Array, poses: tuple[Array, Array], wanted: Array, tolerance: Array) -> float:
    """The largest |distance − (l + reading)| − tolerance, in floating point."""
    q, p = poses
    w, x, y, z = q.T
    n = (q * q).sum(axis=1)
    R = (
        np.array(
            [
                [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
            ]
        ).transpose(2, 0, 1)
        / n[:, None, None]
    )
    reached = _distances(points, R, p, np.zeros((len(p), 6)))
    return float((abs(reached - wanted) - tolerance).max())


def _distances(points: Array, R: Array, position: Array, errors: Array) -> Array:
    """|exp(ω) R b + p + δ − a| (N, legs)."""
    return np.linalg.norm(_arms(points, R, position, errors)[1], axis=2)


def _arms(points: Array, R: Array, position: Array, errors: Array) -> tuple[Array, Array]:
    """The arms exp(ω) R b and the distances d as vectors (N, legs, 3)."""
    v = np.einsum("nij,lj->nli", exp(errors[:, 3:]) @ R, points[:, 3:6])
    return v, v + (position + errors[:, :3])[:, None] - points[:, :3]


class Fitted(NamedTuple):
    """Legs and errors of poses that fit as well as any near them, and what readings must be off by, m."""

    points: Array
    errors: Array
    needed: float


def best_together(problem: JointProblem, start: Array, *, enough: float = -np.inf, rounds: int = 30) -> Fitted:
    """Legs (legs, 7) and errors of poses whose largest need is small, by linear programs from a start; not proven.

    Ends early with a need of at most `enough`.
    """
    x, e, trust = start.copy(), np.zeros((len(problem.data), 6)), 3e-3
    g, *_ = _residuals(problem, x, e)
    best = float(g.max())
    for _ in range(rounds):
        step, errors, promised = _improved(problem, x, e, trust)
        moved = np.clip(x + step, *(side.reshape(x.shape) for side in (problem.prior.lower, problem.prior.upper)))
        there = float(_residuals(problem, moved, errors)[0].max())
        gained, expected = best - there, best - promised
        if gained > 0:
            x, e, best = moved, errors, there
        trust = trust / 3 if gained < 0.25 * expected else min(2 * trust, 0.05)
        if best <= enough or expected < _FINEST or trust < _FINEST:
            break
    return Fitted(x, e, best)


def _residuals(problem: JointProblem, x: Array, e: Array) -> tuple[Array, Array, Array, Array]:
    """Need of each equation, the signed residual (N, legs), and its derivatives by legs and by errors in tolerances."""
    data, R = problem.data, problem.parts[0].rotation.mid
    v, d = _arms(x, R, data.position, e)
    size = np.linalg.norm(d, axis=2)
    u = d / np.maximum(size, 1e-300)[..., None]
    g = size - x[:, 6] - data.readings
    along = np.einsum("nij,nli->nlj", exp(e[:, 3:]) @ R, u)
    by_leg = np.concatenate([-u, along, -np.ones((*g.shape, 1))], axis=2)
    by_error = np.concatenate(
        [u * data.position_tolerance[:, None], np.cross(v, u) * data.rotation_tolerance[:, None]], axis=2
    )
    return abs(g) - data.reading_tolerance, g, by_leg, by_error


def _improved(problem: JointProblem, x: Array, e: Array, trust: float) -> tuple[Array, Array, float]:
    """The step within trust that promises the smallest largest need, to first order; in units of trust."""
    data = problem.data
    n, m = data.readings.shape
    tolerance = np.hstack([data.position_tolerance, data.rotation_tolerance])
    safe = np.where(tolerance > 0, tolerance, 1.0)
    need, g, by_leg, by_error = _residuals(problem, x, e)
    rows = np.concatenate([by_leg, by_error / trust, -np.ones((n, m, 1))], axis=2).reshape(n * m, 14)
    pose, leg = np.divmod(np.arange(n * m), m)
    last = 7 * m + 6 * n
    where = np.hstack(
        [7 * leg[:, None] + np.arange(7), 7 * m + 6 * pose[:, None] + np.arange(6), np.full((n * m, 1), last)]
    )
    now, flipped = (g - (by_error * (e / safe)[:, None]).sum(axis=2)).reshape(-1), np.append(-np.ones(13), 1.0)
    high = np.concatenate([(data.reading_tolerance.reshape(-1) - sign * now) / trust for sign in (1, -1)])
    blocks = [(rows, where.astype(np.int32)), (rows * flipped, where.astype(np.int32))]
    reach = [((side - x.reshape(-1)) / trust) for side in (problem.prior.lower, problem.prior.upper)]
    most = abs(need).max() / trust + 1.0
    lower = np.concatenate([np.clip(reach[0], -1, 0), -np.ones(6 * n), [-most]])
    upper = np.concatenate([np.clip(reach[1], 0, 1), np.ones(6 * n), [most]])
    program = SparseProgram(lower, upper, SparseRows.of(blocks), np.full(2 * n * m, -np.inf), high)
    cost = np.zeros(last + 1)
    cost[last] = 1.0
    found = program.minimize(cost)
    if found.outcome is not Outcome.OPTIMAL:
        return np.zeros(x.shape), e, float(need.max())
    step, errors = found.point[: 7 * m].reshape(m, 7), found.point[7 * m : last].reshape(n, 6)
    return trust * step, errors * tolerance, trust * found.cost
