"""Uneven light: how far it shifts the centroids of dots, estimated from the dots and the ground around them.

An image of dots is g(u) + l(u) [inside a dot]: a ground g and light l of the dots above it. Both are smooth. They
contain illumination that falls off to one side, vignetting, gloss, and light that lens and housing scatter; the
response of the camera acts on both. A centroid in a window is shifted by

    M ∇ log l + W ∇g / flux,

where M are the second moments of the dot's image, and W the sums of the second moments of the window's pixels. Errors
of the two fits shift all dots of an image together, which residuals do not show: they are a term of the covariance of
the pose.
"""

from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.vision.detector import Sighting
from gough.vision.lens import Camera
from gough.vision.spots import median

_NEAR_LEVEL = 0.5
"""A robust start: the light of half a dot is far from that of a whole one."""


class Light(NamedTuple):
    """Light of the dots of one image."""

    excess: Array
    """(n,): logarithm of the light of a dot over the smooth fit: something covers it, or shines on it."""
    shift: Array
    """(n, 2): how far centroids are shifted, pixels."""
    factor: Array
    """(n, 2, k): what k independent standard normal errors of the fits add to `shift`, pixels."""


def light_of(seen: Sighting, target: Any, camera: Camera, R: Array, t: Array) -> Light:
    """The light of the dots of a sighting that has spots, from a pose that is known well enough."""
    from gough.vision import optics, polynomials  # noqa: PLC0415 - numba

    spots = seen.spots
    assert spots is not None
    images = optics.discs(camera.parameters, R, t, np.ascontiguousarray(target.points[seen.which]), target.radius)
    moments, size = images[:, 3:6], max(camera.size) / 2
    places, around = (
        np.ascontiguousarray((each - (np.array(camera.size) - 1) / 2) / size) for each in (seen.pixels, spots.around)
    )
    level = np.log(np.maximum(spots.flux, 1e-3) / images[:, 2])
    near = np.abs(level - median(level)) < _NEAR_LEVEL
    ground, slope, slopes = polynomials.smooth(around, np.ascontiguousarray(spots.ground), near, places)
    flux = np.maximum(spots.flux - (ground - spots.ground) * _area(spots.window), 1e-3)
    gain = spots.window / flux[:, None] / size
    shift, factor = _times(gain, slope), _times(gain, slopes)
    level = np.log(flux / images[:, 2]) - _growth(flux, images, spots.peak, spots.edge)
    lit, slope, slopes = polynomials.smooth(places, level, near, places)
    factor = np.concatenate([_times(moments / size, slopes), factor], axis=2)
    return Light(level - lit, shift + _times(moments / size, slope), factor)


def _area(window: Array) -> Array:
    """Area of an ellipse from the sums of uu, uv, vv over it."""
    return np.asarray((16 * np.pi**2 * np.maximum(window[:, 0] * window[:, 2] - window[:, 1] ** 2, 0)) ** 0.25)


def _growth(flux: Array, images: Array, peak: Array, edge: Array) -> Array:
    """The logarithm of what a nonlinear response or spread ink adds to the light of a dot: a band along its outline.

    The band is as wide in all dots: its area is what the light of a dot is larger than its level times its area.
    The level in the middle of a dot is lowered by blur, by exp(−r²/2σ²).
    """
    area = images[:, 2]
    radius = np.sqrt(area / np.pi)
    lowered = 1 - np.exp(-(radius**2) / (2 * np.maximum(edge, 1e-3) ** 2))
    share = flux * lowered / (area * np.maximum(peak, 1e-3)) - 1  # of the band
    width = median(share * radius / 2)
    return np.asarray(np.log(np.maximum(1 + 2 * width / radius, 0.1)))


def _times(symmetric: Array, vectors: Array) -> Array:
    """Rows (uu, uv, vv) as matrices times rows (u, v), or times matrices (2, k)."""
    uu, uv, vv = (each.reshape(-1, *(1,) * (vectors.ndim - 2)) for each in symmetric.T)
    u, v = vectors[:, 0], vectors[:, 1]
    return np.stack([uu * u + uv * v, uv * u + vv * v], axis=1)
