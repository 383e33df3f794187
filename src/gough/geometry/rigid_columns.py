"""Small rigid motions of the frames as columns of a nested model."""

import numpy as np

from gough.core.arrays import Array
from gough.geometry.mistake import Fitted


def at_base(fitted: Fitted) -> Array:
    """(N, chains, 6): by a shift and a turn of measured poses about the mean position, seen from the base."""
    from gough.geometry import pose_sums  # noqa: PLC0415 - numba

    return pose_sums.at_base(fitted.by_pose, np.array(fitted.poses.position))


def at_platform(fitted: Fitted) -> Array:
    """(N, chains, 6): by a shift and a turn of the target on the platform."""
    from gough.geometry import pose_sums  # noqa: PLC0415 - numba

    assert fitted.poses.rotation is not None
    return pose_sums.at_platform(fitted.by_pose, np.array(fitted.poses.rotation))
