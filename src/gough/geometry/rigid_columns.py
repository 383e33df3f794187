"""Small rigid motions of the frames as columns of a nested model."""

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import cross_matrix
from gough.geometry.mistake import Fitted


def at_base(fitted: Fitted) -> Array:
    """(N, chains, 6): by a shift and a turn of measured poses about the mean position, seen from the base."""
    p = fitted.poses.position
    return _moved(fitted.by_pose, np.broadcast_to(np.eye(3), (len(p), 3, 3)), p - p.mean(axis=0))


def at_platform(fitted: Fitted) -> Array:
    """(N, chains, 6): by a shift and a turn of the target on the platform."""
    R = fitted.poses.rotation
    assert R is not None
    return np.concatenate([fitted.by_pose[..., :3] @ R, fitted.by_pose[..., 3:] @ R], axis=2)


def _moved(by_pose: Array, R: Array, arm: Array) -> Array:
    turn = -by_pose[..., :3] @ cross_matrix(arm) + by_pose[..., 3:]
    return np.concatenate([by_pose[..., :3] @ R, turn], axis=2)
