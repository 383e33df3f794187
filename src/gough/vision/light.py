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

from gough.core.arrays import Array, Mask
from gough.vision.detector import Sighting
from gough.vision.lens import Camera

_SIZES = (3, 6, 10, 15)
"""Coefficients of polynomials of degree 1 to 4, which describe light over the image; cross-validation chooses."""
_ROWS_EACH = 2
"""Dots for each coefficient that a polynomial needs at least."""
_FAR = 4.0
"""Standard deviations beyond which a dot takes no part in the fit of the light."""
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
    from gough.vision import optics  # noqa: PLC0415 - numba

    spots = seen.spots
    assert spots is not None
    images = optics.discs(camera.parameters, R, t, np.ascontiguousarray(target.points[seen.which]), target.radius)
    moments, flux = images[:, 3:6], np.maximum(spots.flux, 1e-3)
    places = (seen.pixels - (np.array(camera.size) - 1) / 2) / (max(camera.size) / 2)
    level = np.log(flux / images[:, 2]) - _growth(flux, images, spots.peak, spots.edge)
    near = np.abs(level - np.median(level)) < _NEAR_LEVEL
    lit, ground = _fitted(places, np.column_stack([level, spots.ground]), near)
    size = max(camera.size) / 2
    gain = spots.window / flux[:, None]
    shift = _times(moments, lit.slope / size) + _times(gain, ground.slope / size)
    parts = [_times(moments, lit.slopes / size), _times(gain, ground.slopes / size)]
    return Light(level - lit.value, shift, np.concatenate(parts, axis=2))


def _growth(flux: Array, images: Array, peak: Array, edge: Array) -> Array:
    """The logarithm of what a nonlinear response or spread ink adds to the light of a dot: a band along its outline.

    The band is as wide in all dots: its area is what the light of a dot is larger than its level times its area.
    The level in the middle of a dot is lowered by blur, by exp(−r²/2σ²).
    """
    area = images[:, 2]
    radius = np.sqrt(area / np.pi)
    lowered = 1 - np.exp(-(radius**2) / (2 * np.maximum(edge, 1e-3) ** 2))
    share = flux * lowered / (area * np.maximum(peak, 1e-3)) - 1  # of the band
    width = float(np.median(share * radius / 2))
    return np.asarray(np.log(np.maximum(1 + 2 * width / radius, 0.1)))


class _Fit(NamedTuple):
    """A polynomial over the image, at the dots."""

    value: Array
    slope: Array
    """(n, 2)."""
    slopes: Array
    """(n, 2, k): what independent standard normal errors add to `slope`."""


def _fitted(places: Array, values: Array, near: Mask) -> list[_Fit]:
    """For each column of values, the polynomial with the least error of prediction (generalized cross-validation
    [GHW79]).

    Monomials stand in the order of their degree, so that one triangle holds the fits of all degrees.
    """
    basis, along, across = _basis(places, _degree(int(near.sum())))
    Q, T = np.linalg.qr(basis[near])
    return [_chosen(basis, along, across, column, near, Q, T) for column in values.T]


def _chosen(  # noqa: PLR0917 - a fit
    basis: Array, along: Array, across: Array, values: Array, near: Mask, Q: Array, T: Array
) -> _Fit:
    best, kept = _best(values[near], Q)
    if not kept.all():
        near = near.copy()
        near[near] = kept
        Q, T = np.linalg.qr(basis[near])
    k = best
    inverse = np.linalg.inv(T[:k, :k])
    c = inverse @ (Q[:, :k].T @ values[near])
    fit = basis[:, :k] @ c
    variance = float(((values - fit)[near] ** 2).sum()) / max(len(Q) - k, 1)
    factor = np.sqrt(variance) * inverse
    slope = np.column_stack([along[:, :k] @ c, across[:, :k] @ c])
    return _Fit(fit, slope, np.stack([along[:, :k] @ factor, across[:, :k] @ factor], axis=1))


def _best(y: Array, Q: Array) -> tuple[int, Mask]:
    """The number of coefficients of the polynomial that predicts best, and the dots that are not far from it."""
    chosen: tuple[float, int, Mask] | None = None
    for k in _SIZES:
        if k > Q.shape[1]:
            break
        left = np.abs(y - Q[:, :k] @ (Q[:, :k].T @ y))
        kept = left <= _FAR * max(float(np.median(left)) / 0.6745, 1e-12)
        spare = max(int(kept.sum()) - k, 1)
        score = float((left[kept] ** 2).sum()) / spare**2
        if chosen is None or score < chosen[0]:
            chosen = (score, k, kept)
    assert chosen is not None
    return chosen[1:]


def _degree(n: int) -> int:
    """The largest degree that n dots determine."""
    return next((degree for degree in (4, 3, 2) if n >= _ROWS_EACH * _SIZES[degree - 1]), 1)


def _basis(places: Array, degree: int) -> tuple[Array, Array, Array]:
    """Monomials (n, k) of the places in the order of their degree, and their derivatives by u and v."""
    powers = np.ones((2, degree + 1, len(places)))
    for d in range(1, degree + 1):
        powers[:, d] = powers[:, d - 1] * places.T
    a, b = np.array([(d - j, j) for d in range(degree + 1) for j in range(d + 1)]).T
    u, v = powers
    return (
        (u[a] * v[b]).T,
        (a[:, None] * u[np.maximum(a - 1, 0)] * v[b]).T,
        (b[:, None] * u[a] * v[np.maximum(b - 1, 0)]).T,
    )


def _times(symmetric: Array, vectors: Array) -> Array:
    """Rows (uu, uv, vv) as matrices times rows (u, v), or times matrices (2, k)."""
    uu, uv, vv = (each.reshape(-1, *(1,) * (vectors.ndim - 2)) for each in symmetric.T)
    u, v = vectors[:, 0], vectors[:, 1]
    return np.stack([uu * u + uv * v, uv * u + vv * v], axis=1)
