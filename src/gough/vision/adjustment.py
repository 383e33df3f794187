"""Camera, target and poses fitted to all images at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.vision.detector import Sighting
from gough.vision.lens import Camera, NoiseLevel

_STEPS = 60
_SETTLED = 1e-8
_MOST_DAMPING = 1e4
_SECOND_POLYNOMIAL = 1.0
"""Standard deviation of k4, k5, k6 that is assumed beforehand."""

Columns = Callable[[Array], Array]
"""Slopes (m, 2, k) of further effects at the expected pixels (m, 2) of a view."""


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
    """With its covariance and noise."""
    points: Array
    """(n, 3): of the target."""
    views: tuple[View, ...]
    cost: float
    """Sum of squares of the residuals, each over its standard deviation."""
    freedom: float
    """Degrees of freedom of `cost`: observations less parameters, those of the dots as far as the images fix them."""
    held_out: Array
    """(views,): the cost of each view where camera and dots are estimated without it, and its pose with it."""

    @property
    def noise(self) -> float:
        """Standard deviation of a coordinate, pixels."""
        assert self.camera.noise is not None
        return self.camera.noise.sigma


@dataclass(frozen=True)
class _Problem:
    """What is adjusted, in which coordinates."""

    nominal: Array
    radius: float
    free: Any
    basis: Array
    print_sigma: float | None

    @property
    def coordinates(self) -> Array:
        """(p + 3 n, k): the camera's parameters and, if released, the dots' places by the coordinates that are free."""
        p, k, n = len(self.free), int(np.sum(self.free)), self.basis.shape[1]
        T = np.zeros((p + len(self.basis), k + n))
        T[np.flatnonzero(self.free), np.arange(k)] = 1
        T[p:, k:] = self.basis
        return T

    def prior(self, camera: Camera, points: Array) -> tuple[Array, Array]:
        """Weights (k,) of the free coordinates, and the right side that they add to normal equations.

        Dots have that of the printer. The second polynomial of the rational model has one of its own: with it both
        polynomials may have a common factor, of which no image tells.
        """
        own = np.array([1 / _SECOND_POLYNOMIAL**2 if name in ("k4", "k5", "k6") else 0.0 for name in camera.names])
        own = own[self.free] if camera.lens == "brown" else np.zeros(int(np.sum(self.free)))
        weight = 0.0 if self.print_sigma is None else 1 / self.print_sigma**2
        deformed = self.basis.T @ (points - self.nominal).ravel() if len(self.basis) else np.zeros(0)
        weights = np.concatenate([own, np.full(self.basis.shape[1], weight)])
        return weights, -weights * np.concatenate([camera.parameters[self.free], deformed])


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
    basis = np.zeros((0, 0)) if print_sigma is None else _deformations(points)
    problem = _Problem(points, radius, np.asarray(free, dtype=bool), basis, print_sigma)
    points = points if start is None else start
    views = tuple(views)
    views, cost, dof = _fresh(camera, points, radius, views)
    T, damping = problem.coordinates, 0.0
    for step in range(_STEPS):
        scale = max(cost / max(dof, 1), 1e-12)
        normal = _assembled(problem, camera, points, views, scale)
        while True:
            change, by_view = _step(normal, T, problem.prior(camera, points), damping)
            moved = _moved(camera, points, views, change, by_view)
            new_views, new_cost, _ = _fresh(moved[0], moved[1], radius, moved[2])
            if new_cost <= cost * (1 + 1e-3) or damping > _MOST_DAMPING:  # the prior may trade a little of the fit
                break
            damping = max(10 * damping, 1e-6)
        settled = abs(cost - new_cost) < _SETTLED * cost and step > 1
        if not new_cost <= cost * (1 + 1e-3):
            break
        camera, points, views, cost = moved[0], moved[1], new_views, new_cost
        damping = damping / 10 if damping > 1e-9 else 0.0
        if settled:
            break
    else:
        raise InputError("the calibration of the camera does not settle: are all images of one camera with one focus?")
    return _accounted(problem, camera, points, views, cost)


def _accounted(problem: _Problem, camera: Camera, points: Array, views: tuple[View, ...], cost: float) -> Adjustment:
    """The minimum with covariance, noise, and the cost of each view left out."""
    T, k = problem.coordinates, int(np.sum(problem.free))
    observations = sum(view.residuals.size - 6 for view in views)
    weights, _ = problem.prior(camera, points)
    freedom = float(max(observations - k, 1))
    for _ in range(2):  # how far the prior holds the dots depends on the noise, and that on the degrees of freedom
        scale = max(cost / freedom, 1e-12)
        normal = _assembled(problem, camera, points, views, scale)
        A = T.T @ normal.matrix @ T
        inverse = scaled_inverse(A + np.diag(weights))
        freedom = max(observations - float(np.vdot(inverse, A)), 1.0)
    full = np.zeros((len(problem.free), len(problem.free)))
    full[np.ix_(problem.free, problem.free)] = inverse[:k, :k] * (cost / freedom / scale)
    noise = float(np.sqrt(cost / freedom * np.mean(np.concatenate([view.seen.sigma for view in views]) ** 2)))
    own = float(np.sqrt(max(np.trace(inverse[k:, k:]), 0.0) / max(len(points) * 3, 1)))
    level = NoiseLevel(max(noise, 1e-12), max(float(np.sqrt(cost / freedom)), 1e-9), _spread(views), freedom)
    camera = replace(camera, covariance=full, noise=level, dots_sigma=own)
    held_out = scale * _held_out(normal, T, np.diag(weights))
    return Adjustment(camera, points, views, cost, freedom, held_out)


def _spread(views: Sequence[View]) -> float:
    """Standard deviation of the logarithm of the views' noise, beyond that of chance."""
    if len(views) < 2:
        return 0.0
    mean = np.array([((v.residuals / v.seen.sigma[:, None]) ** 2).mean() for v in views])
    chance = np.mean([2 / max(v.residuals.size - 6, 1) for v in views]) / 4
    return float(np.sqrt(max(np.var(np.log(np.maximum(mean, 1e-300)) / 2, ddof=1) - chance, 0.0)))


def _held_out(normal: "_Normal", T: Array, prior: Array) -> Array:
    """The cost of each view at the minimum of the others, to second order about the minimum of all.

    The others' gradient at the minimum of all is the view's own with the other sign; so one solution of normal
    equations without the view leads to their minimum.
    """
    A = T.T @ normal.matrix @ T + prior
    out = np.empty(len(normal.views))
    for k, (N, g, c) in enumerate(normal.views):
        own, right = T.T @ N @ T, T.T @ g
        step = -scaled_solution(A - own, right)
        out[k] = c - 2 * right @ step + step @ own @ step
    return out


def pattern(
    adjusted: Adjustment, nominal: Array, free: Any, print_sigma: float | None, columns: Columns
) -> tuple[float, int]:
    """How much further effects that camera, dots and poses do not imitate lower the cost, and their number.

    The first is an F statistic times the second: the decrease in units of the mean square that is left.
    """
    basis = np.zeros((0, 0)) if print_sigma is None else _deformations(nominal)
    problem = _Problem(nominal, 0.0, np.asarray(free, dtype=bool), basis, print_sigma)
    T, weights = problem.coordinates, problem.prior(adjusted.camera, adjusted.points)[0]
    scale = max(adjusted.cost / adjusted.freedom, 1e-12)
    normal = _assembled(problem, adjusted.camera, adjusted.points, adjusted.views, scale, columns)
    size, k = len(T), len(normal.right) - len(T)
    A = T.T @ normal.matrix[:size, :size] @ T + np.diag(weights)
    B = T.T @ normal.matrix[:size, size:]
    C, right = normal.matrix[size:, size:] - B.T @ scaled_inverse(A) @ B, normal.right[size:]
    d = 1 / np.sqrt(np.maximum(normal.matrix.diagonal()[size:], 1e-300))
    values, vectors = np.linalg.eigh(C * d * d[:, None])
    seen = values > 1e-6
    gain = float((((vectors[:, seen].T @ (right * d)) ** 2) / values[seen]).sum())
    rank = int(seen.sum())
    left = (adjusted.freedom - gain) / max(adjusted.freedom - rank, 1.0)
    return gain / max(left, 1e-12), min(rank, k)


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
    views: list[tuple[Array, Array, float]]
    """For each view: its part of `matrix` and `right`, and its cost with the best pose."""


def _assembled(  # noqa: PLR0917 - what is adjusted, and where it is
    problem: _Problem,
    camera: Camera,
    points: Array,
    views: Sequence[View],
    scale: float,
    columns: Columns | None = None,
) -> _Normal:
    from gough.vision import optics  # noqa: PLC0415 - numba

    p = len(camera.parameters)
    size = p + len(problem.basis)
    poses, parts = [], []
    for view in views:
        own, m = view.seen.which, len(view.seen)
        pixels, by_pose, by_camera, by_point = optics.slopes(
            camera.parameters,
            np.ascontiguousarray(view.rotation),
            np.ascontiguousarray(view.position),
            np.ascontiguousarray(points[own]),
        )
        w = np.repeat(1 / (view.seen.sigma * np.sqrt(scale)), 2)
        P = by_pose.reshape(2 * m, 6) * w[:, None]
        S = np.zeros((2 * m, size))
        S[:, :p] = by_camera.reshape(2 * m, p)
        if len(problem.basis):
            places = p + 3 * own[:, None] + np.arange(3)
            rows = np.arange(2 * m).reshape(m, 2)
            S[rows[:, :, None], places[:, None, :]] = by_point
        if columns is not None:
            S = np.column_stack([S, columns(pixels).reshape(2 * m, -1)])
        S *= w[:, None]
        r = view.residuals.ravel() * w
        U, V, g = P.T @ P, P.T @ S, P.T @ r
        back = np.linalg.solve(U, np.column_stack([g, V]))
        parts.append((S.T @ S - V.T @ back[:, 1:], S.T @ r - V.T @ back[:, 0], float(r @ r - g @ back[:, 0])))
        poses.append((back[:, 0], back[:, 1:]))
    return _Normal(sum(part[0] for part in parts), sum(part[1] for part in parts), poses, parts)


def scaled_inverse(A: Array) -> Array:
    """The inverse of A ≥ 0, scaled to a unit diagonal first; the pseudo-inverse where it is singular."""
    d = 1 / np.sqrt(np.maximum(A.diagonal(), 1e-300))
    return np.asarray(np.linalg.pinv(A * d * d[:, None], rcond=1e-14, hermitian=True) * d * d[:, None])


def scaled_solution(A: Array, b: Array) -> Array:
    """The solution of A x = b with A ≥ 0; the shortest one in A's own units where that is singular."""
    if not len(b):
        return b
    from scipy.linalg import cho_factor, cho_solve  # noqa: PLC0415 - start-up time

    d = 1 / np.sqrt(np.maximum(A.diagonal(), 1e-300))
    try:
        return np.asarray(d * cho_solve(cho_factor(A * d * d[:, None]), d * b))
    except LinAlgError:
        return np.asarray(scaled_inverse(A) @ b)


def _step(normal: _Normal, T: Array, prior: tuple[Array, Array], damping: float) -> tuple[Array, list[Array]]:
    """Change of (camera, points), and changes of the poses."""
    A, b = T.T @ normal.matrix @ T + np.diag(prior[0]), T.T @ normal.right + prior[1]
    change = T @ scaled_solution(A + damping * np.diag(A.diagonal()), b)
    return change, [first - rest @ change for first, rest in normal.poses]


def _moved(
    camera: Camera, points: Array, views: Sequence[View], change: Array, by_view: Sequence[Array]
) -> tuple[Camera, Array, tuple[View, ...]]:
    n = len(camera.parameters)
    p = camera.parameters + change[:n]
    bent = replace(camera, focal=np.maximum(p[:2], 1.0), center=p[2:4], distortion=p[4:], covariance=None)
    turned = exp(np.array([d[3:] for d in by_view]).reshape(-1, 3))
    stepped = tuple(
        replace(view, rotation=turn @ view.rotation, position=view.position + d[:3])
        for view, d, turn in zip(views, by_view, turned, strict=True)
    )
    return bent, points + change[n:].reshape(-1, 3) if len(change) > n else points, stepped


def _deformations(points: Array) -> Array:
    """An orthonormal basis (3n, 3n − 7) of what the points can do besides shift, turn and change of size."""
    centered = points - points.mean(axis=0)
    n = len(points)
    similarity = [np.tile(axis, (n, 1)).ravel() for axis in np.eye(3)]
    similarity += [np.cross(axis, centered).ravel() for axis in np.eye(3)]
    similarity.append(centered.ravel())
    Q = np.linalg.qr(np.column_stack(similarity), mode="complete")[0]
    return np.asarray(Q[:, 7:])
