"""Poses that a machine really has at given readings, and readings at given poses: many, some of them out of reach."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.robots.kinematics import KinematicModel, PlatformPoses, PoseFinder, all_derivatives, evaluate_chains

Mask = npt.NDArray[np.bool_]
_STEP = 0.06
"""Longest step of the search for a pose, m."""
_PIECES = 5


def assembled(
    model: KinematicModel, parameters: Array, readings: Array, home: PlatformPoses
) -> tuple[PlatformPoses, Mask]:
    """Poses at readings (N, chains), and which of them are reached from home on the straight line of readings.

    The way is cut in pieces, each followed by Newton's method. Where that fails, or where the Jacobian's determinant
    has another sign than at home, a singularity is on the way: no machine that comes from home gets there so.
    """
    kernel = all_derivatives(model.chain_kernel("length"))
    finder = PoseFinder(kernel, model.columns, model.freedoms, largest=_STEP)
    start = model.inverse(parameters, home.position, home.rotation)
    side = finder.side(parameters, start, home)[0]
    p, R = (np.repeat(each, len(readings), axis=0) for each in home)
    alive = np.arange(len(readings))
    for piece in range(1, _PIECES + 1):
        want = start + (readings[alive] - start) * (piece / _PIECES)
        p[alive], R[alive], arrived = finder.newton(parameters, want, p[alive], R[alive])
        with np.errstate(all="ignore"):
            arrived &= finder.side(parameters, want, PlatformPoses(p[alive], R[alive])) == side
        alive = alive[arrived]
    return PlatformPoses(p, R), np.isin(np.arange(len(readings)), alive)


def closure_derivatives(
    model: KinematicModel, parameters: Array, poses: PlatformPoses, readings: Array
) -> tuple[Array, Array]:
    """Of the chains' closure as lengths: by the pose (N, chains, 6), and of each chain by its reading (N, chains)."""
    kernel = all_derivatives(model.chain_kernel("length"))
    found = evaluate_chains(kernel, model.columns, parameters, poses, readings)
    return found["by_pose"], found["by_reading"]


def readings_where_reached(model: KinematicModel, parameters: Array, poses: PlatformPoses) -> tuple[Array, Mask]:
    """Readings (N, chains) at poses, NaN where out of reach, and which poses are reached.

    A machine refuses a whole batch for one pose out of reach: halves are tried until the culprits stand alone.
    """
    n = len(poses.position)
    try:
        found = model.inverse(parameters, poses.position, poses.rotation)
    except InputError:
        if n == 1:
            return np.full((1, len(model.chains)), np.nan), np.zeros(1, dtype=bool)
        parts = [_part(poses, slice(None, n // 2)), _part(poses, slice(n // 2, None))]
        halves = [readings_where_reached(model, parameters, part) for part in parts]
        return np.concatenate([half[0] for half in halves]), np.concatenate([half[1] for half in halves])
    return found, np.asarray(np.isfinite(found).all(axis=1))


def _part(poses: PlatformPoses, rows: Any) -> PlatformPoses:
    return PlatformPoses(poses.position[rows], poses.rotation[rows])
