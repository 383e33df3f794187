"""Where points are before a camera, from the rays to them: a start for the frames of instruments that see images."""

import numpy as np

from gough.core.arrays import Array
from gough.core.rigid import RigidMotion
from gough.core.rotations import cross_matrix, exp, nearest_rotation
from gough.geometry.instruments.kinds import lens_kernel

_STEPS = 30
_SETTLED = 1e-8
"""Steps of rad, and of the size of the points, that end the refinement: it is only a start."""
_FLAT = 1e-2
"""Points are called flat if their third extent is smaller than this share of the first."""


def rays_of(camera: Array, pixels: Array) -> Array:
    """Where the rays of pixels (n, 2) pierce the plane at distance 1 before a camera (n, 2): Newton's method.

    Examples:
        >>> camera = np.array([600.0, 600.0, 320.0, 240.0, -0.1, 0.0, 0.0, 0.0, 0.0])
        >>> rays_of(camera, np.array([[320.0, 240.0], [379.94, 240.0]])).round(6) + 0.0
        array([[0. , 0. ],
               [0.1, 0. ]])
    """
    rays = (pixels - camera[2:4]) / camera[:2]
    for _ in range(_STEPS):
        at = lens_kernel().evaluate(np.broadcast_to(camera, (len(rays), 9)), rays)
        rays = rays - np.linalg.solve(at["by_ray"].reshape(-1, 2, 2), (at["value"] - pixels)[..., None])[..., 0]
    return np.asarray(rays)


def resected(points: Array, rays: Array) -> RigidMotion | None:
    """The motion that brings points (n, 3) before a camera onto their rays (n, 2); None from fewer than four.

    A linear solution, from a homography where the points are flat, else from a projective matrix [ZHA00, §3.1], is
    refined by least squares of the rays.

    Examples:
        >>> motion = RigidMotion(exp(np.array([0.3, -0.2, 1.0])), np.array([0.1, 0.0, 2.0]))
        >>> square = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.2, 0.0], [0.2, 0.2, 0.0], [0.1, 0.3, 0.0]])
        >>> seen = motion.of(square)
        >>> bool(abs(resected(square, seen[:, :2] / seen[:, 2:]).t - motion.t).max() < 1e-9)
        True
    """
    if len(points) < 4:
        return None
    middle = points.mean(axis=0)
    _, extents, axes = np.linalg.svd(points - middle, full_matrices=False)
    size = float(extents[0]) / np.sqrt(len(points))
    if not (extents[1] > 1e-6 * extents[0] > 0 and np.isfinite(rays).all()):
        return None
    axes[2] = np.cross(axes[0], axes[1])
    own = (points - middle) @ axes.T / size
    found = [_flat(own, rays)]
    if extents[2] > _FLAT * extents[0] and len(points) >= 6:
        found.append(_solid(own, rays))
    refined = [_refined(own, rays, motion) for motion in found if motion is not None]
    kept = [each for each in refined if np.isfinite(each[1])]
    if not kept:
        return None
    R, t = min(kept, key=lambda each: each[1])[0]
    R = R @ axes
    return RigidMotion(R, size * t - R @ middle)


def _flat(points: Array, rays: Array) -> RigidMotion | None:
    """From the homography of the first two coordinates: its columns are r1, r2 and t up to a factor."""
    plane = np.column_stack([points[:, :2], np.ones(len(points))])
    H = _projective(plane, rays)
    H = H if H[2, 2] > 0 else -H
    scale = (np.linalg.norm(H[:, 0]) + np.linalg.norm(H[:, 1])) / 2
    if not scale > 0:
        return None
    r1, r2, t = (H / scale).T
    return RigidMotion(nearest_rotation(np.column_stack([r1, r2, np.cross(r1, r2)])), t)


def _solid(points: Array, rays: Array) -> RigidMotion | None:
    """From the projective matrix: its first three columns are a rotation up to a factor."""
    P = _projective(np.column_stack([points, np.ones(len(points))]), rays)
    P = P if np.linalg.det(P[:, :3]) > 0 else -P
    scale = np.cbrt(np.linalg.det(P[:, :3]))
    return RigidMotion(nearest_rotation(P[:, :3] / scale), P[:, 3] / scale) if scale > 0 else None


def _projective(points: Array, rays: Array) -> Array:
    """The matrix (3, k) that maps homogeneous points (n, k) to rays, by least squares of unit length."""
    n, k = points.shape
    A = np.zeros((2 * n, 3 * k))
    A[:n, :k] = A[n:, k : 2 * k] = points
    A[:n, 2 * k :], A[n:, 2 * k :] = -rays[:, :1] * points, -rays[:, 1:] * points
    return np.linalg.svd(A)[2][-1].reshape(3, k)


def _refined(points: Array, rays: Array, start: RigidMotion) -> tuple[RigidMotion, float]:
    """The motion with the least squares of the rays near a start, and their sum; infinite behind the camera."""
    motion, damping = start, 1e-3
    error, cost = _misfit(points, rays, motion)
    for _ in range(_STEPS):
        q = motion.of(points)
        slopes = np.zeros((len(q), 2, 3))
        slopes[:, 0, 0] = slopes[:, 1, 1] = 1 / q[:, 2]
        slopes[:, :, 2] = -q[:, :2] / q[:, 2:] ** 2
        J = (slopes @ np.concatenate([np.broadcast_to(np.eye(3), (len(q), 3, 3)), -cross_matrix(q)], axis=2)).reshape(
            -1, 6
        )
        H = J.T @ J
        step = -np.linalg.lstsq(H + damping * np.diag(H.diagonal()), J.T @ error, rcond=None)[0]
        turn = RigidMotion(exp(step[3:]), step[:3])
        trial = turn @ motion
        error_there, there = _misfit(points, rays, trial)
        if there < cost:
            motion, error, cost, damping = trial, error_there, there, damping / 10
        else:
            damping *= 10
        if abs(step).max() < _SETTLED:
            break
    return motion, cost


def _misfit(points: Array, rays: Array, motion: RigidMotion) -> tuple[Array, float]:
    q = motion.of(points)
    error = (q[:, :2] / q[:, 2:] - rays).reshape(-1)
    return error, float(error @ error) if (q[:, 2] > 0).all() else np.inf
