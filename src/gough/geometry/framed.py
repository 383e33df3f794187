"""Which frames a robot's poses can determine, the problem of finding them, and the frames that were found."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gough.core.arrays import Array
from gough.core.rigid import RigidMotion
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry.frames import Frames
from gough.geometry.geometric import BASE, PLATFORM, geometric
from gough.problem import NonlinearProblem
from gough.robots.kinematics import KinematicModel


def base_names(model: KinematicModel) -> tuple[str, ...]:
    """Unknowns of the base's frame that poses of such a robot can determine."""
    return BASE if 2 in model.freedoms else (BASE[0], BASE[1], BASE[5])


def platform_names(model: KinematicModel) -> tuple[str, ...]:
    """Unknowns of the target's frame that poses of such a robot can determine: none where it does not turn.

    The height of a platform that turns about z alone cannot be told from that of the base.
    """
    if 3 in model.freedoms:
        return PLATFORM
    return (PLATFORM[0], PLATFORM[1], PLATFORM[5]) if model.has_orientation else ()


def framed(
    model: KinematicModel,
    poses: Poses,
    free: Sequence[str],
    *,
    start: Array,
    form: Literal["squared", "length"] = "length",
) -> NonlinearProblem:
    """The problem of some parameters, gains and unknowns of the frames, from poses in known frames that may differ.

    Args:
        model: The robot.
        poses: Measured poses, already moved by the frames as known.
        free: Names of the unknowns to find: parameters, `gain_names`, `base_names` and `platform_names`.
        start: Parameters, which stay unless they are free.
        form: Of the equations.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (9, 3))
        >>> poses = Poses(p + [0.001, 0.0, 0.002], None, printer.inverse(printer.nominal, p))
        >>> problem = framed(printer, poses, BASE, start=printer.nominal)
        >>> from gough.geometry.descent import approach
        >>> bool(abs(approach(problem, problem.unknowns.nominal).theta[13:19] - [1e-3, 0, 2e-3, 0, 0, 0]).max() < 1e-9)
        True
    """
    return geometric(model, poses, start=start, free=free, form=form, frames=True)


def moved_frames(frames: Frames | None, base: Array, target: Array) -> Frames:
    """The frames after motions ζ of the base and ξ of the platform that `ChainEquations` finds."""
    Z, X = (frames.base, frames.target) if frames is not None else (RigidMotion(np.eye(3), np.zeros(3)),) * 2
    return Frames(Z @ motion_of(base), X @ motion_of(target))


def motion_of(vector: Array) -> RigidMotion:
    """E(v): a rotation by the last three entries, then a shift by the first three."""
    return RigidMotion(exp(vector[3:]), np.asarray(vector[:3]))
