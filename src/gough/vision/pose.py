"""The pose of a target in one image, with its covariance."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.rotations import nearest_rotation
from gough.vision.covariances import root as _root
from gough.vision.detector import ImageRefused, Sighting, find_target, homography
from gough.vision.lens import Camera
from gough.vision.light import Light, light_of
from gough.vision.spots import median
from gough.vision.targets import AnyTarget, why_ambiguous

_FEWEST, _PASSES = 8, 4
_FAR = 4.5
"""Standard deviations beyond which a dot is left out."""
_DIM = 0.04
"""Relative lack or excess of light beyond which a dot is left out: something covers it, or shines on it."""
_STRAY, _LEAK = 0, 0.25
"""Pixels of stray light around a dot, and pull by its neighbors in standard deviations, beyond which it is left out."""
_APART = 25.0
"""The wrong one of two poses must be worse by so much χ²."""
_FACING = 0.02
"""Tilt, rad, below which there is no second pose."""
_PREDICTED = 30
"""Degrees of freedom of the standard deviations of corners, which their own pixels give. Those of dots follow from the
noise of the ground, which a nonlinear response makes another than that of the dots: there only residuals count."""
_WORST = 1.0
"""Root mean square of the residuals beyond which the image is refused, pixels."""


@dataclass(frozen=True)
class MeasuredPose:
    """Where a target is before the camera, and how well that is known."""

    rotation: Array
    """(3, 3): of the target in the camera's frame (x right, y down, z forward)."""
    position: Array
    """(3,): of its origin, m."""
    covariance: Array
    """(6, 6) of position in m and left rotation vector in rad, from noise and light of the image: not from errors that
    all images of a camera share."""
    which: npt.NDArray[np.int64]
    """Numbers of the dots that were used."""
    residuals: Array
    """(m, 2): seen − expected, pixels."""
    left_out: npt.NDArray[np.int64]
    """Numbers of dots that were seen, but do not fit."""
    weight: Array
    """(m,): standard deviation by which each dot was weighted, pixels."""
    noise: float
    """Standard deviation of a coordinate of a centroid, from the residuals, pixels."""
    light: Array = field(default_factory=lambda: np.zeros((6, 6)))
    """(6, 6): the part of `covariance` that comes from uneven light, whose correction is uncertain."""
    common: Array = field(default_factory=lambda: np.zeros((6, 0)))
    """(6, k): what standard deviations of the camera do to the pose; errors that all images of a camera share."""
    dots: Array = field(default_factory=lambda: np.zeros((6, 0)))
    """(6, 2 n): what standard deviations of the places of all n dots on the sheet do to the pose; shared too."""
    pixels: Array = field(default_factory=lambda: np.empty((0, 2)))
    """(m, 2): centroids of the dots that were used, corrected for light."""

    @property
    def rms(self) -> float:
        """Root mean square of the residuals' coordinates, pixels."""
        return float(np.sqrt((self.residuals**2).mean()))

    @property
    def sigma(self) -> Array:
        """Standard deviations of x, y, z in m and of the rotation vector in rad."""
        return np.sqrt(self.covariance.diagonal())


def measure_pose(image: Any, target: AnyTarget, camera: Camera) -> MeasuredPose:
    """The pose of a target in an image, in the camera's frame.

    Raises:
        ImageRefused: the target is not found, or its pose is ambiguous; the message gives the reason.

    Examples:
        >>> from gough.vision import design_target, render
        >>> camera, target = Camera((320, 240), [300.0, 300.0], [159.5, 119.5]), design_target(0.2, 0.2)
        >>> tilted = np.array([[0.8, 0.0, -0.6], [0.0, -1.0, 0.0], [-0.6, 0.0, -0.8]])
        >>> picture = render(camera, target, tilted, [0.0, 0.0, 0.3], rng=np.random.default_rng(1))
        >>> pose = measure_pose(picture.image, target, camera)
        >>> bool(abs(pose.position - [0.0, 0.0, 0.3]).max() < 1e-4)
        True
    """
    ambiguous = why_ambiguous(target)
    require(not ambiguous, ambiguous)
    return pose_of(find_target(image, target, camera), target, camera)


def pose_of(seen: Sighting, target: AnyTarget, camera: Camera) -> MeasuredPose:
    """The pose of a target whose points were found."""
    R, t = first_guess(seen, target, camera)
    fitted = _refined(seen, target, camera, seen.pixels, R, t)
    seen, fitted, left_out, light = _without_misfits(seen, target, camera, fitted)
    pixels = seen.pixels - light.shift
    fitted = _refined(seen, target, camera, pixels, fitted[0], fitted[1])
    R, t, cost, N, residuals = fitted
    scale = cost / (2 * len(seen) - 6)
    if np.sqrt((residuals**2).mean()) > _WORST:
        raise ImageRefused(
            f"the dots are {np.sqrt((residuals**2).mean()):.1f} px from where this camera and target put them: "
            "is it this camera with this focus, and this target, and flat?"
        )
    _require_unique(seen, target, camera, pixels, fitted, scale)
    noise = float(np.sqrt(scale * np.mean(seen.sigma**2)))
    inverse = np.linalg.inv(N)
    points = np.ascontiguousarray(target.points[seen.which])
    gain, by_camera, by_point = _gain(R, t, points, seen.sigma, camera)
    by_light = gain @ light.factor.reshape(2 * len(seen), -1)
    uneven = by_light @ by_light.T
    spread = _variance_factor(cost, 2 * len(seen) - 6, 0 if seen.spots is not None else _PREDICTED) * inverse + uneven
    common = np.zeros((6, 0)) if camera.covariance is None else -gain @ by_camera @ _root(camera.covariance)
    dots = np.zeros((6, 0))
    if camera.dots_sigma > 0:
        by_dots = np.zeros((6, len(target.points), 2))
        by_dots[:, seen.which] = np.einsum("kmi,mij->kmj", gain.reshape(6, -1, 2), by_point[..., :2])
        dots = camera.dots_sigma * by_dots.reshape(6, -1)
    return MeasuredPose(R, t, spread, seen.which, residuals, left_out, seen.sigma, noise, uneven, common, dots, pixels)


def _variance_factor(cost: float, freedom: int, predicted: int) -> float:
    """By what the stated variances are multiplied: as the residuals say.

    Errors in units of a standard deviation that is estimated from f residuals have Student's t distribution, whose
    variance is f / (f − 2). Few residuals that are small by chance count less: as if `predicted` more had the stated
    size.
    """
    counted, total = (freedom, cost) if cost >= freedom else (freedom + predicted, cost + predicted)
    return total / max(counted - 2, 1)


def camera_factor(R: Array, t: Array, points: Array, weight: Array, camera: Camera) -> Array:
    """(6, k): what independent standard deviations of the camera's parameters do to a pose."""
    gain, by_camera, _ = _gain(R, t, np.ascontiguousarray(points), weight, camera)
    assert camera.covariance is not None
    return np.asarray(-gain @ by_camera @ _root(camera.covariance))


def _gain(R: Array, t: Array, points: Array, weight: Array, camera: Camera) -> tuple[Array, Array, Array]:
    """Slopes of the least-squares pose by pixels (6, 2m), and of these by camera (2m, p) and points (m, 2, 3)."""
    from gough.vision import optics  # noqa: PLC0415 - numba

    _, by_pose, by_camera, by_point = optics.slopes(camera.parameters, R, t, points)
    J = by_pose.reshape(-1, 6)
    weighted = J / np.repeat(weight, 2)[:, None] ** 2
    return np.asarray(np.linalg.solve(weighted.T @ J, weighted.T), float), by_camera.reshape(len(J), -1), by_point


Fitted = tuple[Array, Array, float, Array, Array]


def _refined(seen: Sighting, target: Any, camera: Camera, pixels: Array, R: Array, t: Array) -> Fitted:  # noqa: PLR0917
    from gough.vision import pnp  # noqa: PLC0415 - numba

    points = np.ascontiguousarray(target.points[seen.which])
    weights = 1 / seen.sigma**2
    return pnp.refine(camera.parameters, R, t, points, target.radius, np.ascontiguousarray(pixels), weights)


def first_guess(seen: Sighting, target: Any, camera: Camera) -> tuple[Array, Array]:
    """Rotation and position from the homography."""
    size = float(np.abs(target.points[:, :2]).max())
    H = homography(target.points[seen.which, :2] / size, camera.rays(seen.pixels))
    H = H * np.sign(H[2, 2])
    H[:, :2] /= size
    H *= 2 / (np.linalg.norm(H[:, 0]) + np.linalg.norm(H[:, 1]))
    R = nearest_rotation(_right_handed(H[:, 0], H[:, 1]))
    return np.ascontiguousarray(R), np.ascontiguousarray(H[:, 2])


def _right_handed(first: Array, second: Array) -> Array:
    """The matrix of two columns and their cross product; `np.cross` takes a twentieth of the time of an image."""
    (a, b, c), (x, y, z) = first.tolist(), second.tolist()
    return np.array([[a, x, b * z - c * y], [b, y, c * x - a * z], [c, z, a * y - b * x]])


def _without_misfits(
    seen: Sighting, target: Any, camera: Camera, fitted: Fitted
) -> tuple[Sighting, Fitted, npt.NDArray[np.int64], Light]:
    """Without dots that are not where, or not as bright as, the others say; which they are, and the light."""
    all_seen, n = seen.which, len(seen)
    light = Light(np.zeros(n), np.zeros((n, 2)), np.zeros((n, 2, 0)))
    for _ in range(_PASSES):
        scaled = np.abs(fitted[4]) / seen.sigma[:, None]
        typical = max(median(scaled) / 0.6745, 1.0)
        bad = scaled.max(axis=1) > _FAR * typical
        if seen.spots is not None:
            light = light_of(seen, target, camera, fitted[0], fitted[1])
            excess = light.excess
            bad |= (seen.spots.stray > _STRAY) | (seen.spots.leak > _LEAK * seen.sigma)
            bad |= np.abs(excess) > max(_DIM, 4.5 * median(np.abs(excess)) / 0.6745)
        if not bad.any():
            break
        seen, light = seen.select(~bad), Light(*(each[~bad] for each in light))
        if len(seen) < _FEWEST:
            raise ImageRefused(f"only {len(seen)} dots fit together: the others are hidden or not dots")
        fitted = _refined(seen, target, camera, seen.pixels, fitted[0], fitted[1])
    return seen, fitted, all_seen[~np.isin(all_seen, seen.which)], light


def light_shift(seen: Sighting, target: Any, camera: Camera, R: Array, t: Array) -> Array:
    """How far uneven light shifts centroids, pixels (n, 2)."""
    return np.zeros_like(seen.pixels) if seen.spots is None else light_of(seen, target, camera, R, t).shift


def _require_unique(  # noqa: PLR0917
    seen: Sighting, target: Any, camera: Camera, pixels: Array, fitted: Fitted, scale: float
) -> None:
    """A flat target may look almost the same tilted the other way: refuse where noise could confuse the two poses."""
    R, t, cost, _, _ = fitted
    ray = t / np.linalg.norm(t)
    first, second = (R[:, k] - 2 * (R[:, k] @ ray) * ray for k in (0, 1))
    other = _refined(seen, target, camera, pixels, _right_handed(first, second), t)
    apart = float(np.arccos(np.clip((np.vdot(other[0], R) - 1) / 2, -1, 1)))
    if apart > _FACING and (other[2] - cost) / max(scale, 1e-12) < _APART:
        raise ImageRefused(
            f"two poses, {np.degrees(apart):.0f}° apart, explain it almost equally well: "
            "come nearer, tilt the target, or take a longer lens"
        )
