"""The pose of a target in one image, with its covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.rotations import nearest_rotation
from gough.vision.detector import ImageRefused, Sighting, find_target, homography
from gough.vision.lens import Camera
from gough.vision.spots import Spots
from gough.vision.targets import AnyTarget, why_ambiguous

_FEWEST, _PASSES = 8, 4
_FAR = 4.5
"""Standard deviations beyond which a dot is left out."""
_DIM = 0.04
"""Relative lack or excess of light beyond which a dot is left out: something covers it, or shines on it."""
_STRAY, _LEAK = 0, 0.25
"""Pixels of stray light around a dot, and pull by its neighbors in standard deviations, beyond which it is left out."""
_BLACK = 1 / 3
"""Black paper reflects at most so much of what white paper does."""
_APART = 25.0
"""The wrong one of two poses must be worse by so much χ²."""
_FACING = 0.02
"""Tilt, rad, below which there is no second pose."""
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
    """(6, 6) of position in m and left rotation vector in rad, from the image's noise alone."""
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
    seen, fitted, left_out, shift = _without_misfits(seen, target, camera, fitted)
    pixels = seen.pixels - shift
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
    return MeasuredPose(R, t, np.asarray(scale * np.linalg.inv(N)), seen.which, residuals, left_out, seen.sigma, noise)


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
    R = nearest_rotation(np.column_stack([H[:, 0], H[:, 1], np.cross(H[:, 0], H[:, 1])]))
    return np.ascontiguousarray(R), np.ascontiguousarray(H[:, 2])


def _without_misfits(
    seen: Sighting, target: Any, camera: Camera, fitted: Fitted
) -> tuple[Sighting, Fitted, npt.NDArray[np.int64], Array]:
    """Without dots that are not where, or not as bright as, the others say; which they are, and the light's shift."""
    all_seen, shift = seen.which, np.zeros_like(seen.pixels)
    for _ in range(_PASSES):
        scaled = np.abs(fitted[4]) / seen.sigma[:, None]
        typical = max(float(np.median(scaled)) / 0.6745, 1.0)
        bad = scaled.max(axis=1) > _FAR * typical
        if seen.spots is not None:
            excess, *light = _relative_light(seen, target, camera, fitted[0], fitted[1])
            shift = _shift(seen.spots, *light)
            bad |= (seen.spots.stray > _STRAY) | (seen.spots.leak > _LEAK * seen.sigma)
            bad |= np.abs(excess) > max(_DIM, 4.5 * float(np.median(np.abs(excess))) / 0.6745)
        if not bad.any():
            break
        seen, shift = seen.select(~bad), shift[~bad]
        if len(seen) < _FEWEST:
            raise ImageRefused(f"only {len(seen)} dots fit together: the others are hidden or not dots")
        fitted = _refined(seen, target, camera, seen.pixels, fitted[0], fitted[1])
    return seen, fitted, np.setdiff1d(all_seen, seen.which), shift


def _relative_light(
    seen: Sighting, target: Any, camera: Camera, R: Array, t: Array
) -> tuple[Array, Array, Array, Array]:
    """For each dot: logarithm of its light over a smooth fit, the fit's slope (n, 2), ground's slope, disc moments."""
    from gough.vision import optics  # noqa: PLC0415 - numba

    assert seen.spots is not None
    images = optics.discs(camera.parameters, R, t, np.ascontiguousarray(target.points[seen.which]), target.radius)
    size = max(camera.size) / 2
    u, v = ((seen.pixels - (np.array(camera.size) - 1) / 2) / size).T
    basis = np.column_stack([np.ones(len(u)), u, v, u * u, u * v, v * v])
    level = np.log(np.maximum(seen.spots.flux, 1e-3) / images[:, 2])
    near = np.abs(level - np.median(level)) < 0.5  # a robust start: half a dot is far from a whole one
    kept = basis[near]
    fit = np.linalg.solve(kept.T @ kept + 1e-12 * np.eye(6), kept.T @ level[near])
    slope = np.column_stack([fit[1] + 2 * u * fit[3] + v * fit[4], fit[2] + u * fit[4] + 2 * v * fit[5]]) / size
    lit = np.exp(basis @ fit)
    share = _ground_share(lit[near], seen.spots.ground[near], bright=target.bright)
    return level - basis @ fit, slope, share * lit[:, None] * slope, images[:, 3:6]


def _ground_share(lit: Array, ground: Array, *, bright: bool) -> float:
    """How much the ground grows where the dots' light above it grows by 1: both are paper in the same light.

    Only that much of the ground's slope is believed. What the rings around dots show beyond it is light of neighbors
    and noise, and a slope fitted to that would shift all dots together, which residuals do not show.
    """
    spread = lit - lit.mean()
    share = float(spread @ ground / max(spread @ spread, 1e-12))
    least, most = (0.0, float(ground.mean() / lit.mean())) if bright else (-1 / (1 - _BLACK), -1.0)
    return min(max(share, least), most)


def light_shift(seen: Sighting, target: Any, camera: Camera, R: Array, t: Array) -> Array:
    """How far uneven light shifts centroids, pixels (n, 2): M ∇ log L of the dot, and the ground's slope in the window.

    M are the second moments of the dot's image: light that grows to one side weighs that side more.
    """
    if seen.spots is None:
        return np.zeros_like(seen.pixels)
    return _shift(seen.spots, *_relative_light(seen, target, camera, R, t)[1:])


def _shift(spots: Spots, slope: Array, ground: Array, moments: Array) -> Array:
    return _times(moments, slope) + _times(spots.window / spots.flux[:, None], ground)


def _times(symmetric: Array, vector: Array) -> Array:
    """Rows (uu, uv, vv) as matrices times rows (u, v)."""
    uu, uv, vv = symmetric.T
    u, v = vector.T
    return np.column_stack([uu * u + uv * v, uv * u + vv * v])


def _require_unique(  # noqa: PLR0917
    seen: Sighting, target: Any, camera: Camera, pixels: Array, fitted: Fitted, scale: float
) -> None:
    """A flat target may look almost the same tilted the other way: refuse where noise could confuse the two poses."""
    R, t, cost, _, _ = fitted
    ray = t / np.linalg.norm(t)
    first, second = (R[:, k] - 2 * (R[:, k] @ ray) * ray for k in (0, 1))
    mirrored = np.ascontiguousarray(np.column_stack([first, second, np.cross(first, second)]))
    other = _refined(seen, target, camera, pixels, mirrored, t)
    apart = float(np.arccos(np.clip((np.vdot(other[0], R) - 1) / 2, -1, 1)))
    if apart > _FACING and (other[2] - cost) / max(scale, 1e-12) < _APART:
        raise ImageRefused(
            f"two poses, {np.degrees(apart):.0f}° apart, explain it almost equally well: "
            "come nearer, tilt the target, or take a longer lens"
        )
