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
"""Room for the blurred edges of what is beside a corner, pixels."""
_SHARP = 2.5
"""Wider edges are out of focus beside the narrowest window, pixels."""


def refined(  # noqa: PLR0917 - what is known of corners
    gray: Image, plane: Array, which: Numbers, pixels: Array, gap: float, inward: Array | None = None
) -> Sighting:
    """Corners that were found to about a pixel, where the image has them.

    Args:
        gray: The image.
        plane: (n, 2): corners of the board, m.
        which: (m,): numbers of those that were found.
        pixels: (m, 2): where they were found.
        gap: Distance from a corner to the nearest other edge of the board, m.
        inward: (m, 2): directions into the dark quadrant of each, for corners of markers that stand alone; None where
            two dark quadrants meet.

    Raises:
        ImageRefused: too few of them are corners.
    """
    from gough.vision import corners  # noqa: PLC0415 - numba

    J = PlaneMap(plane[which], pixels).slopes(plane[which])
    along = np.linalg.norm(J, axis=1)
    room = gap * np.abs(np.linalg.det(J)) / along.max(axis=1)
    reach = np.clip(room - _EDGE, 2.5, _FARTHEST)
    normals = np.stack([np.stack([-J[:, 1, k], J[:, 0, k]], axis=1) for k in (0, 1)], axis=1)
    if inward is not None:
        facing = np.einsum("nij,nj->ni", J, inward)
        normals = normals * np.sign(np.einsum("nki,ni->nk", normals, facing))[:, :, None]
    angles = np.ascontiguousarray(np.arctan2(normals[:, :, 1], normals[:, :, 0]))
    image = np.ascontiguousarray(gray, dtype=np.uint16)
    fitted = corners.fit_corners(image, np.ascontiguousarray(pixels), angles, reach, inward is not None)
    good = np.isfinite(fitted[:, 0])
    good &= np.isin(np.arange(len(good)), _usual(fitted, good))
    if not good.any():
        raise ImageRefused(
            "the corners of the board are too blurred, or too near to each other: come nearer, and focus",
            cause="blurred",
        )
    fitted = fitted[good]
    sigma = np.sqrt((fitted[:, 2] + fitted[:, 4]) / 2)
    return Sighting(which[good], fitted[:, :2], sigma, edge=float(np.median(fitted[:, 5])))


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
