"""Corners of boards refined in an image, with their standard deviations."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.homographies import PlaneMap
from gough.vision.sightings import ImageRefused, Numbers, Sighting
from gough.vision.spots import Image

_FARTHEST = 12.0
"""Largest radius of a corner's window, pixels."""
_EDGE = 1.2
"""Room for the blurred edges of what is beside a corner, pixels, while the blur is not known."""
_TAIL, _LEAST_TAIL = 2.3, 1.2
"""The same in widths of edges, and in pixels at least: beyond it is 1 % of the light of the other edge."""
_NARROW, _CLOSE = 3.0, 0.85
"""Least radius of a window, pixels; and its part of a small room, where what is beside it is alike on both sides."""
_SHALLOW = 0.7
"""Least part of a room beside an edge that is used, in widths of edges."""
_FEWEST = 12
"""Corners from which the curvature of edges by the lens is estimated."""
_STRAY = 0.6
"""Pixels beside where the other corners put it, beyond which a corner is left out: a simple lens is good to a tenth."""
_COARSE, _LITTLE = 0.4, 4.5
"""Standard deviation of corners that OpenCV found and no window of so many pixels could refine: 0.2 px of sharp ones to
0.6 px of blurred ones, by images of a ray caster. They count only where few others are seen."""


def refined(  # noqa: PLR0917 - what is known of corners
    gray: Image,
    plane: Array,
    which: Numbers,
    pixels: Array,
    gap: float,
    inward: Array | None = None,
    free: float | None = None,
) -> Sighting:
    """Corners that were found to about a pixel, where the image has them.

    Args:
        gray: The image.
        plane: (n, 2): corners of the board, m.
        which: (m,): numbers of those that were found.
        pixels: (m, 2): where they were found.
        gap: Distance from the edges of a corner to the nearest other edges of the board, m.
        inward: (m, 2): directions into the dark quadrant of each, for corners of markers that stand alone; None where
            two dark quadrants meet.
        free: Distance from a corner along its edges to the nearest other edges, m; as `gap` by default.

    Raises:
        ImageRefused: too few of them are corners.
    """
    from gough.vision import corners  # noqa: PLC0415 - numba

    middle = (np.array(gray.shape[::-1]) - 1) / 2
    J = PlaneMap(plane[which], pixels, middle).slopes(plane[which])
    shrink = np.abs(np.linalg.det(J)) / np.linalg.norm(J, axis=1).max(axis=1)
    alike = inward is None
    rooms = gap * shrink, (gap if free is None else free) * shrink
    normals = np.stack([np.stack([-J[:, 1, k], J[:, 0, k]], axis=1) for k in (0, 1)], axis=1)
    if inward is not None:
        facing = np.einsum("nij,nj->ni", J, inward)
        normals = normals * np.sign(np.einsum("nki,ni->nk", normals, facing))[:, :, None]
    angles = np.ascontiguousarray(np.arctan2(normals[:, :, 1], normals[:, :, 0]))
    image = np.ascontiguousarray(gray, dtype=np.uint16)
    windows = _windows(*rooms, _EDGE, alike=alike)
    straight = corners.fit_corners(
        image, np.ascontiguousarray(pixels), angles, np.zeros_like(angles), *windows, not alike
    )
    sharp = np.isfinite(straight[:, 0])
    centered = np.where(sharp[:, None], straight[:, :2], pixels)
    bends = np.zeros_like(angles)
    if sharp.sum() >= _FEWEST:  # OpenCV's own corners would show another curvature
        view = PlaneMap(plane[which[sharp]], straight[sharp, :2], middle)
        bends = np.ascontiguousarray(view.bends(plane[which], normals))
    if sharp.any():
        windows = _windows(*rooms, max(_TAIL * _median(straight[:, 5]), _LEAST_TAIL), alike=alike)
    fitted = corners.fit_corners(image, np.ascontiguousarray(centered), angles, bends, *windows, not alike)
    good = np.isfinite(fitted[:, 0])
    good &= np.isin(np.arange(len(good)), _usual(fitted, good))
    coarse = ~good & (windows[0] < _LITTLE)
    if good.sum() < _FEWEST:
        fitted[coarse] = np.column_stack(
            [pixels[coarse], np.tile([_COARSE**2, 0.0, _COARSE**2, np.nan, 0.0], (coarse.sum(), 1))]
        )
        good |= coarse
    if not good.any():
        raise ImageRefused(
            "the corners of the board are too blurred, or too near to each other: come nearer, and focus",
            cause="blurred",
        )
    good &= _together(plane[which], fitted[:, :2], good, middle)
    fitted = fitted[good]
    sigma = np.sqrt((fitted[:, 2] + fitted[:, 4]) / 2)
    return Sighting(which[good], fitted[:, :2], sigma, edge=_median(fitted[:, 5]))


def _windows(gap: Array, free: Array, tail: float, *, alike: bool) -> tuple[Array, Array]:
    """Radii of windows (n,), and how far from their edges they extend (n,), where blurred edges reach `tail` pixels."""
    inner = np.maximum(gap - tail, _SHALLOW * tail)
    least = np.maximum(_CLOSE * gap if alike else 0.0, _NARROW)
    reach = np.clip(np.maximum(free - tail, least), _NARROW, _FARTHEST)
    return reach, np.where(inner < reach, inner, np.inf)


def _together(plane: Array, pixels: Array, good: Any, middle: Array) -> Any:
    """Corners where the others put them: the edge of a finger that crosses an edge of the board is a corner, too."""
    kept = np.array(good)
    for _ in range(2):
        if kept.sum() < _FEWEST:
            break
        gaps = np.linalg.norm(PlaneMap(plane[kept], pixels[kept], middle)(plane) - pixels, axis=1)
        kept = good & (gaps < max(_STRAY, 6 * float(np.median(gaps[kept]))))
    return kept


def _median(widths: Array) -> float:
    known = widths[np.isfinite(widths)]
    return float(np.median(known)) if len(known) else float("nan")


def _usual(fitted: Array, good: Any) -> Numbers:
    """Corners whose contrast is not far below that of the others: a shadow's edge crosses the rest, or a finger."""
    contrast = fitted[good, 6]
    least = 0.3 * float(np.median(contrast)) if len(contrast) else 0.0
    return np.flatnonzero(good & (np.nan_to_num(fitted[:, 6]) > least)).astype(np.int64)


def as_bytes(gray: Image) -> Any:
    """Gray levels of 8 bits, as OpenCV's detectors of boards need them."""
    if gray.dtype == np.uint8:
        return np.ascontiguousarray(gray)
    bits = max(8, int(gray.max()).bit_length())
    return np.ascontiguousarray((gray >> (bits - 8)).astype(np.uint8))
