"""Spots of one or two pixels radius: too small to be measured, large enough to say what they are."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.opencv import opencv
from gough.vision.spots import Image

_SCALE = 1.2
"""Standard deviation, in pixels, of the blur that looks most like such a spot."""
_CLEAR = 6.0
"""Standard deviations of noise that a spot stands out by: in a million pixels noise alone reaches 5."""
_FAINT = 0.35
"""Part of the response of the other spots, below which a spot is not one of them."""
_REACH = 4.0
"""Spots of one target are within so many distances to the nearest neighbor of one another."""
_ROUND = 0.3
"""Least curvature of a maximum beside its largest one."""
_MOST = 400


def tiny_spots(image: Image, *, bright: bool = True) -> Array:
    """Centers (n, 2) of tiny spots alike in an image: the largest group of neighbors, to a few tenths of a pixel.

    Spots are maxima of the difference of two blurs (which a smooth ground does not change) that stand out of its noise.

    Examples:
        >>> rng, image = np.random.default_rng(1), np.full((60, 80), 30.0)
        >>> for u, v in [(20, 20), (28, 20), (20, 28), (28, 30)]:
        ...     image[v - 1 : v + 2, u - 1 : u + 2] += 60
        >>> noisy = (image + rng.normal(0, 3, image.shape)).round().astype(np.uint8)
        >>> tiny_spots(noisy).round().astype(int).tolist()
        [[20, 20], [28, 20], [20, 28], [28, 30]]
    """
    cv = opencv()
    seen = image.astype(np.float32) if bright else -image.astype(np.float32)
    response = cv.GaussianBlur(seen, (0, 0), _SCALE) - cv.GaussianBlur(seen, (0, 0), 2 * _SCALE)
    noise = float(np.median(np.abs(response[::2, ::2]))) / 0.6745
    highest = cv.dilate(response, np.ones((3, 3), np.uint8))
    rows, columns = np.nonzero((response >= highest) & (response > max(_CLEAR * noise, 1e-3)))
    inside = (rows > 1) & (columns > 1) & (rows < image.shape[0] - 2) & (columns < image.shape[1] - 2)
    rows, columns = rows[inside], columns[inside]
    order = np.argsort(-response[rows, columns])[:_MOST]
    return _group(*_peaks(response, rows[order], columns[order]))


def _peaks(response: Array, rows: Any, columns: Any) -> tuple[Array, Array]:
    """Places of round maxima by parabolas through three values, and their heights; those along an edge are long."""
    middle = response[rows, columns]
    shift, bend = [], []
    for du, dv in ((1, 0), (0, 1)):
        before, after = response[rows - dv, columns - du], response[rows + dv, columns + du]
        bend.append(np.maximum(2 * middle - before - after, 1e-6))
        shift.append(np.clip((after - before) / 2 / bend[-1], -0.5, 0.5))
    same = response[rows + 1, columns + 1] + response[rows - 1, columns - 1]
    mixed = (response[rows + 1, columns - 1] + response[rows - 1, columns + 1] - same) / 4
    half, differ = (bend[0] + bend[1]) / 2, np.hypot((bend[0] - bend[1]) / 2, mixed)
    is_round = half - differ > _ROUND * (half + differ)
    places = np.column_stack([columns + shift[0], rows + shift[1]]).astype(float)
    return places[is_round], middle[is_round].astype(float)


def _group(centers: Array, heights: Array) -> Array:
    """The largest set of spots of similar height that neighbors connect, in the order of their rows."""
    if len(centers) < 2:
        return centers
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + np.diag(np.full(len(centers), np.inf))
    near = gaps < _REACH * np.median(np.sort(gaps.min(axis=1))[: max(2, len(gaps) // 2)])
    best = np.empty(0, int)
    left = np.ones(len(centers), bool)
    while left.any():
        group = np.zeros(len(centers), bool)
        group[np.argmax(left)] = True
        while (grown := group | near[group].any(axis=0)).tolist() != group.tolist():
            group = grown
        left &= ~group
        members = np.flatnonzero(group)
        members = members[heights[members] > _FAINT * np.median(heights[members])]
        best = members if len(members) > len(best) else best
    return centers[best[np.lexsort((centers[best, 0], centers[best, 1].round()))]]
