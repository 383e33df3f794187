"""Rotations of space, many at once: rotation vectors, unit quaternions (scalar first) and matrices.

Every function takes leading axes of any shape: a rotation vector is (..., 3), a quaternion (..., 4), a matrix
(..., 3, 3). A small error of a rotation is written on its left: R_measured = exp(w) R_true.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.intervals import Interval

_SMALL = 1e-4


def cross_matrix(v: Any) -> Array:
    """The matrix of w ↦ v × w.

    Examples:
        >>> cross_matrix([0.0, 0.0, 1.0]) @ [1.0, 0.0, 0.0]
        array([0., 1., 0.])
    """
    v = np.asarray(v, dtype=float)
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*v.shape[:-1], 3, 3)


def exp(vector: Any) -> Array:
    """The matrix that turns by |vector| radians about it.

    Examples:
        >>> (exp([0.0, 0.0, np.pi / 2]) @ [1.0, 0.0, 0.0]).round(12) + 0.0
        array([0., 1., 0.])
    """
    K = cross_matrix(vector)
    angle = np.linalg.norm(np.asarray(vector, dtype=float), axis=-1)[..., None, None]
    safe = np.where(angle > _SMALL, angle, 1.0)
    first = np.where(angle > _SMALL, np.sin(safe) / safe, 1 - angle**2 / 6)
    second = np.where(angle > _SMALL, 2 * np.sin(safe / 2) ** 2 / safe**2, 0.5 - angle**2 / 24)
    result: Array = np.eye(3) + first * K + second * (K @ K)
    return result


def log(R: Any) -> Array:
    """The rotation vector of a matrix, at most π long.

    Examples:
        >>> log(exp([0.1, -0.2, 0.3])).round(12)
        array([ 0.1, -0.2,  0.3])
    """
    q = to_quaternion(R)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    cosine = q[..., :1]
    safe = np.where(sine > 1e-12, sine, 1.0)
    return np.where(sine > 1e-12, 2 * np.arctan2(sine, cosine) / safe, 2.0) * q[..., 1:]


def from_quaternion(q: Any) -> Array:
    """The matrix of a quaternion, scalar first, whatever its length.

    Examples:
        >>> from_quaternion([1.0, 0.0, 0.0, 0.0]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    q = np.asarray(q, dtype=float)
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    K = cross_matrix(q[..., 1:])
    result: Array = np.eye(3) + 2 * (q[..., :1, None] * K + K @ K)
    return result


def to_quaternion(R: Any) -> Array:
    """The quaternion of a matrix, scalar first and not negative.

    Examples:
        >>> to_quaternion(np.diag([1.0, -1.0, -1.0]))
        array([0., 1., 0., 0.])
    """
    R = np.asarray(R, dtype=float)
    diagonal = np.diagonal(R, axis1=-2, axis2=-1)
    trace = diagonal.sum(-1)
    squares = np.concatenate([1 + trace[..., None], 1 - trace[..., None] + 2 * diagonal], axis=-1)
    which = squares.argmax(-1)[..., None, None]
    x, y, z = (
        R[..., 2, 1] - R[..., 1, 2],
        R[..., 0, 2] - R[..., 2, 0],
        R[..., 1, 0] - R[..., 0, 1],
    )
    xy, xz, yz = (
        R[..., 0, 1] + R[..., 1, 0],
        R[..., 0, 2] + R[..., 2, 0],
        R[..., 1, 2] + R[..., 2, 1],
    )
    w2, x2, y2, z2 = np.moveaxis(squares, -1, 0)
    table = np.stack([w2, x, y, z, x, x2, xy, xz, y, xy, y2, yz, z, xz, yz, z2], axis=-1)
    rows = table.reshape(*table.shape[:-1], 4, 4)  # 4 q qᵀ: its row with the largest diagonal is the most exact
    q = np.take_along_axis(rows, which, axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., :1] < 0, -q, q) + 0.0


def nearest_rotation(M: Any) -> Array:
    """The rotation nearest to a matrix in the sum of squares.

    Examples:
        >>> nearest_rotation(2.0 * np.eye(3)).round(12).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    U, _, V = np.linalg.svd(np.asarray(M, dtype=float))
    sign = np.sign(np.linalg.det(U @ V))
    U = U.copy()
    U[..., :, 2] *= sign[..., None]
    result: Array = U @ V
    return result


def angle_between(R: Any, S: Any) -> Array:
    """Radians by which R and S differ.

    Examples:
        >>> float(angle_between(np.eye(3), exp([0.0, 0.5, 0.0])).round(12))
        0.5
    """
    D = np.swapaxes(np.asarray(R), -1, -2) @ np.asarray(S)
    return np.linalg.norm(log(D), axis=-1)


def is_rotation(R: Any, tolerance: float = 1e-3) -> npt.NDArray[np.bool_]:
    """Whether matrices are orthogonal and right-handed, up to a tolerance.

    Examples:
        >>> is_rotation([np.diag([1.0, 1.0, -1.0]), np.eye(3)]).tolist()
        [False, True]
    """
    R = np.asarray(R, dtype=float)
    gap = abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-2, -1))
    return np.asarray((gap <= tolerance) & (np.linalg.det(R) > 0))


def enclosed_rotation(quaternion: Array) -> Interval:
    """Matrices (N, 3, 3) that hold the rotations of quaternions (N, 4), scalar first and of any length.

    Examples:
        >>> enclosed_rotation(np.array([[2.0, 0.0, 0.0, 0.0]])).lower[0].tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = (Interval(quaternion[:, i]) for i in range(4))
    rows = [
        [iv.sqr(w) + iv.sqr(x) - iv.sqr(y) - iv.sqr(z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), iv.sqr(w) - iv.sqr(x) + iv.sqr(y) - iv.sqr(z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), iv.sqr(w) - iv.sqr(x) - iv.sqr(y) + iv.sqr(z)],
    ]
    n = iv.sqr(w) + iv.sqr(x) + iv.sqr(y) + iv.sqr(z)
    flat = iv.rearrange(lambda *ends: np.stack(ends, axis=-1), *(entry / n for row in rows for entry in row))
    return flat.reshape(len(quaternion), 3, 3)
