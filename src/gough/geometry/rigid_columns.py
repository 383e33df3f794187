"""Small rigid motions of the frames as columns of a nested model."""

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import cross_matrix
from gough.geometry.mistake import Fitted


def at_base(fitted: Fitted) -> Array:
    """(N, chains, 6): by a shift and a turn of measured poses about the mean position, seen from the base."""
    p = fitted.poses.position
    turn = fitted.by_pose[..., 3:] - fitted.by_pose[..., :3] @ cross_matrix(p - p.mean(axis=0))
    return np.concatenate([fitted.by_pose[..., :3], turn], axis=2)


def at_platform(fitted: Fitted) -> Array:
    """(N, chains, 6): by a shift and a turn of the target on the platform."""
    R = fitted.poses.rotation
    assert R is not None
    return np.concatenate([fitted.by_pose[..., :3] @ R, fitted.by_pose[..., 3:] @ R], axis=2)
