"""Camera, target and poses fitted to all images at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.vision.detector import Sighting
from gough.vision.lens import Camera

_STEPS = 60
_SETTLED = 1e-8


@dataclass(frozen=True)
class View:
    """One image: what is seen, and the pose of the target."""

    seen: Sighting
    rotation: Array
    position: Array
    pixels: Array
    """(m, 2): centroids, corrected for uneven light."""
    residuals: Array = field(default_factory=lambda: np.empty((0, 2)))
    """(m, 2): seen − expected, pixels."""


@dataclass(frozen=True)
class Adjustment:
    """What fits all images best."""

    camera: Camera
    """With its covariance."""
    points: Array
    """(n, 3): of the target."""
    views: tuple[View, ...]
    noise: float
    """Standard deviation of a coordinate, pixels."""


def adjust(  # noqa: PLR0917 - camera, target, views
    camera: Camera,
    points: Array,
    radius: float,
    views: Sequence[View],
    free: Any,
    print_sigma: float | None,
    *,
    start: Array | None = None,
) -> Adjustment:
    """Least squares over camera, poses and, where `print_sigma` is given, the target's points.

    Poses are eliminated view by view, so the cost grows with their number only linearly. Points move with the prior
    `print_sigma` and without the seven freedoms of a similarity.
    """
    nominal, points = points, points if start is None else start
    basis = np.zeros((nominal.size, 0)) if print_sigma is None else _deformations(nominal)
    scale = 1.0
    views = tuple(views)
    views, cost, dof = _fresh(camera, points, radius, views)
    for step in range(_STEPS):
        scale = max(cost / max(dof, 1), 1e-12)
        normal = _assembled(camera, points, views, scale)
        deformed = basis.T @ (points - nominal).ravel()
        change, by_view, covariance = _solved(normal, free, basis, deformed, print_sigma)
        moved = _moved(camera, points, views, change, by_view)
        new_views, new_cost, _ = _fresh(moved[0], moved[1], radius, moved[2])
        halvings = 0
        while not new_cost <= cost * (1 + 1e-3) and halvings < 12:  # the prior may trade a little of the images' fit
            change, by_view, halvings = change / 2, [d / 2 for d in by_view], halvings + 1
            moved = _moved(camera, points, views, change, by_view)
            new_views, new_cost, _ = _fresh(moved[0], moved[1], radius, moved[2])
        settled = abs(cost - new_cost) < _SETTLED * cost and step > 2
        camera, points, views, cost = moved[0], moved[1], new_views, new_cost
        if settled:
            break
    else:
        raise InputError("the calibration of the camera does not settle: are all images of one camera with one focus?")
    scale = cost / max(dof - int(np.sum(free)) - basis.shape[1] // 2, 1)
    full = np.zeros((9, 9))
    full[np.ix_(free, free)] = covariance
    noise = float(np.sqrt(scale * np.mean(np.concatenate([view.seen.sigma for view in views]) ** 2)))
    return Adjustment(replace(camera, covariance=full), points, views, noise)


def _fresh(camera: Camera, points: Array, radius: float, views: Sequence[View]) -> tuple[tuple[View, ...], float, int]:
    """The views with their residuals, the weighted sum of squares, and its degrees of freedom."""
    from gough.vision import optics  # noqa: PLC0415 - numba

    out, cost, dof = [], 0.0, 0
    for view in views:
        own = np.ascontiguousarray(points[view.seen.which])
        pose = camera.parameters, np.ascontiguousarray(view.rotation), np.ascontiguousarray(view.position), own
        seen_at = optics.discs(*pose, radius)[:, :2] if radius > 0 else optics.project(*pose)
        residuals = view.pixels - seen_at
        out.append(replace(view, residuals=residuals))
        cost += float(((residuals / view.seen.sigma[:, None]) ** 2).sum())
        dof += residuals.size - 6
    return tuple(out), cost if np.isfinite(cost) else np.inf, dof


@dataclass(frozen=True)
class _Normal:
    """Normal equations with the poses eliminated, for (camera, points), and what brings the poses back."""

    matrix: Array
    right: Array
    poses: list[tuple[Array, Array]]
    """For each view: U⁻¹ g and U⁻¹ V."""


def _assembled(camera: Camera, points: Array, views: Sequence[View], scale: float) -> _Normal:
    from gough.vision import optics  # noqa: PLC0415 - numba

    size = 9 + points.size
    matrix, right, poses = np.zeros((size, size)), np.zeros(size), []
    for view in views:
        own, m = view.seen.which, len(view.seen)
        _, by_pose, by_camera, by_point = optics.slopes(
            camera.parameters,
            np.ascontiguousarray(view.rotation),
            np.ascontiguousarray(view.position),
            np.ascontiguousarray(points[own]),
        )
        w = np.repeat(1 / (view.seen.sigma * np.sqrt(scale)), 2)
        P = by_pose.reshape(2 * m, 6) * w[:, None]
        S = np.zeros((2 * m, size))
        S[:, :9] = by_camera.reshape(2 * m, 9)
        places = 9 + 3 * own[:, None] + np.arange(3)
        rows = np.arange(2 * m).reshape(m, 2)
        S[rows[:, :, None], places[:, None, :]] = by_point
        S *= w[:, None]
        r = view.residuals.ravel() * w
        U, V, g = P.T @ P, P.T @ S, P.T @ r
        back = np.linalg.solve(U, np.column_stack([g, V]))
        matrix += S.T @ S - V.T @ back[:, 1:]
        right += S.T @ r - V.T @ back[:, 0]
        poses.append((back[:, 0], back[:, 1:]))
    return _Normal(matrix, right, poses)


def _solved(
    normal: _Normal, free: Any, basis: Array, deformed: Array, print_sigma: float | None
) -> tuple[Array, list[Array], Array]:
    """Change of (camera, points), changes of the poses, and the covariance of the free parameters of the camera."""
    size, k, n = len(normal.right), int(np.sum(free)), basis.shape[1]
    T = np.zeros((size, k + n))
    T[np.flatnonzero(free), np.arange(k)] = 1
    T[9:, k:] = basis
    A, b = T.T @ normal.matrix @ T, T.T @ normal.right
    if print_sigma is not None:
        A[k:, k:] += np.eye(n) / print_sigma**2
        b[k:] -= deformed / print_sigma**2
    d = 1 / np.sqrt(np.maximum(A.diagonal(), 1e-300))
    inverse = np.linalg.pinv(A * d * d[:, None], rcond=1e-14, hermitian=True) * d * d[:, None]
    change = T @ (inverse @ b)
    return change, [first - rest @ change for first, rest in normal.poses], inverse[:k, :k]


def _moved(
    camera: Camera, points: Array, views: Sequence[View], change: Array, by_view: Sequence[Array]
) -> tuple[Camera, Array, tuple[View, ...]]:
    p = camera.parameters + change[:9]
    bent = replace(camera, focal=np.maximum(p[:2], 1.0), center=p[2:4], distortion=p[4:], covariance=None)
    stepped = tuple(
        replace(view, rotation=exp(d[3:]) @ view.rotation, position=view.position + d[:3])
        for view, d in zip(views, by_view, strict=True)
    )
    return bent, points + change[9:].reshape(-1, 3), stepped


def _deformations(points: Array) -> Array:
    """An orthonormal basis (3n, 3n − 7) of what the points can do besides shift, turn and change of size."""
    centered = points - points.mean(axis=0)
    n = len(points)
    similarity = [np.tile(axis, (n, 1)).ravel() for axis in np.eye(3)]
    similarity += [np.cross(axis, centered).ravel() for axis in np.eye(3)]
    similarity.append(centered.ravel())
    Q = np.linalg.qr(np.column_stack(similarity), mode="complete")[0]
    return np.asarray(Q[:, 7:])
