"""Poses that a robot really has at given readings, and readings at given poses: many, some of them out of reach."""

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
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
    has another sign than at home, a singularity is on the way: no robot that comes from home gets there so.
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
    """Derivatives of the chains' closure as lengths by the pose (N, chains, 6), and by the reading (N, chains)."""
    kernel = all_derivatives(model.chain_kernel("length"))
    found = evaluate_chains(kernel, model.columns, parameters, poses, readings)
    return found["by_pose"], found["by_reading"]
