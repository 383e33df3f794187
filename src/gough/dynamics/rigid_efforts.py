"""Efforts of a model without friction, and how they change where positions are not those that were measured."""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array, Mask
from gough.dynamics.effect import Excitation

Motion = tuple[Array, Array, Array]
"""Positions, velocities and accelerations (coarse samples, coordinates)."""
_STEP = 1e-6
"""Displacement of finite differences, as a part of the range of positions and of the largest velocity."""
_SOME = 500
"""Samples at which columns of the regressor are compared."""
_SAME = 1e-9
"""Part of the largest entry of a column by which equal ones may differ."""


def coarse_motion(excitation: Excitation) -> Motion:
    """The motion at the coarse samples."""
    at = excitation.coarse
    return excitation.q[at], excitation.dq[at], excitation.ddq[at]


def rigid_efforts(excitation: Excitation, q: Array, dq: Array, ddq: Array) -> Array:
    """Efforts of the model without friction: their even part in the velocity."""
    even = excitation.once("even parameters", lambda: _even(excitation), is_of_motion=True)
    if even is not None:
        return excitation.plain_efforts(q, dq, ddq, chosen=even)
    return (excitation.plain_efforts(q, dq, ddq) + excitation.plain_efforts(q, -dq, ddq)) / 2


def coarse_efforts(excitation: Excitation) -> Array:
    """The rigid efforts (coarse samples, actuators) of the motion itself."""
    return excitation.once("rigid efforts", lambda: rigid_efforts(excitation, *coarse_motion(excitation)))


def rigid_derivatives(excitation: Excitation) -> Motion:
    """Derivatives (coarse samples, actuators, coordinates) of the rigid efforts by q, q̇ and q̈.

    Raises:
        InputError: a position is at the very edge of what the robot reaches.
    """
    return excitation.once("rigid derivatives", lambda: _derivatives(excitation))


def displaced(excitation: Excitation, moves: Sequence[Motion], values: Array) -> Array:
    """How the rigid efforts change along some changes of the motion: columns (coarse samples, actuators, changes).

    Args:
        excitation: The motion and the model.
        moves: What is added to positions, velocities and accelerations, per unit of each change.
        values: Sizes of the changes; columns · values is then the change of the efforts exactly. Zeros: derivatives.

    Raises:
        InputError: the robot does not reach a position.
    """
    by, motion = rigid_derivatives(excitation), coarse_motion(excitation)
    each = [sum(np.einsum("sai,si->sa", d, move) for d, move in zip(by, own, strict=True)) for own in moves]
    columns = np.stack(each, axis=2)
    if values.any():
        moved = [x + sum(c * own[k] for c, own in zip(values, moves, strict=True)) for k, x in enumerate(motion)]
        change = rigid_efforts(excitation, *moved) - coarse_efforts(excitation)
        columns += (change - columns @ values)[:, :, None] * (values / (values @ values))
    return columns


def _even(excitation: Excitation) -> Mask | None:
    """Which parameters' efforts are even in the velocity; None where some are neither even nor odd."""
    q, dq, ddq = (x[:: max(1, len(x) // _SOME)] for x in coarse_motion(excitation))
    W = excitation.plain.regressor(np.tile(q, (2, 1)), np.concatenate([dq, -dq]), np.tile(ddq, (2, 1)))
    forth, back = np.split(np.asarray(W), 2)
    least = _SAME * abs(W).max(axis=(0, 1))
    even = abs(forth - back).max(axis=(0, 1)) <= least
    odd = abs(forth + back).max(axis=(0, 1)) <= least
    return np.asarray(even, dtype=np.bool_) if (even | odd).all() else None


def _derivatives(excitation: Excitation) -> Motion:
    motion = coarse_motion(excitation)
    rigid = coarse_efforts(excitation)
    found = tuple(np.empty((*rigid.shape, excitation.n)) for _ in motion)
    for k, x in enumerate(motion):
        size = np.ptp(x, axis=0) if k == 0 else abs(x).max(axis=0)
        steps = np.where(size > 0, (_STEP, _STEP, 1.0)[k] * size, 1.0)  # linear in q̈
        for i, step in enumerate(steps.tolist()):
            moved = [other.copy() if other is x else other for other in motion]
            moved[k][:, i] += step
            found[k][:, :, i] = (rigid_efforts(excitation, *moved) - rigid) / step
    return found[0], found[1], found[2]
