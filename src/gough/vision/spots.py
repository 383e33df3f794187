"""Bright spots of an image: where they are, to a hundredth of a pixel."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.vision.opencv import opencv

Image = npt.NDArray[Any]
_SHRINK = 4
_WINDOW = 15
"""Light is compared within so many blocks of so many pixels: threshold follows it, and dots are smaller than that."""
_SMALLEST, _LONGEST, _MOST = 8, 1200, 400
"""Points on the outline of a spot, and how many spots are looked at."""
_SAMPLE = 12
"""Number of spots from which the sharpness is estimated."""
_FRAME = 4.0
"""Outlines whose area is so many times the median may be that of the sheet, and not of a dot."""
_SLIM = 0.12
"""A dot seen from the side: its short axis is at least so much of its long one."""
_BRIGHTEST = 65535
"""Light of the highest level, where the response is not linear."""
_ROUND = 0.12
"""How far the area of a spot may be from that of the ellipse with its moments."""


def median(values: Array) -> float:
    """The median of some dozens of numbers, at a tenth of the time of `np.median`.

    Examples:
        >>> median(np.array([3.0, 1.0, 2.0])), median(np.array([4.0, 1.0, 2.0, 3.0]))
        (2.0, 2.5)
    """
    n = values.size
    ordered = np.partition(values, ((n - 1) // 2, n // 2), axis=None)
    return float(ordered[(n - 1) // 2] + ordered[n // 2]) / 2


@dataclass(frozen=True)
class Spots:
    """Spots that look like discs; each field has a row for each of them."""

    center: Array
    """(n, 2): intensity-weighted centroids, pixels."""
    flux: Array
    """Sum of the intensity above the ground."""
    ground: Array
    """Intensity around the spot."""
    around: Array
    """(n, 2): middle of the pixels in which the ground was measured."""
    noise: Array
    """Standard deviation of the pixels around it."""
    axes: Array
    """(n, 3): second moments uu, uv, vv of the thresholded spot, pixels²."""
    window: Array
    """(n, 3): sums of uu, uv, vv over the pixels that were summed up, about the center."""
    peak: Array
    """Intensity in the middle, above the ground."""
    edge: Array
    """Width of the edge as the standard deviation of a blur, pixels."""
    saturated: Array
    """Part of the spot's pixels that are as bright as pixels can be."""
    stray: Array
    """Pixels around the spot with light that neither it nor a spot like it explains."""
    leak: Array
    """How far blurred light of neighboring spots pulls the centroid, pixels: good to a half while edges are narrow.

    With edges as wide as 0.4 of the radius it is two to four times more.
    """

    def __len__(self) -> int:
        return len(self.center)

    def select(self, rows: Any) -> "Spots":
        """Some of them: a mask, or numbers."""
        return replace(self, **{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    @property
    def sigma(self) -> Array:
        """Standard deviation of each coordinate of a centroid that the pixels' noise causes, pixels."""
        spread = (self.window[:, 0] + self.window[:, 2]) / 2
        return np.asarray(np.sqrt(spread) * max(median(self.noise), 0.29) / self.flux)


def find_spots(image: Image, *, bright: bool = True, response: float = 1.0) -> Spots:
    """The spots of a gray image (uint8 or uint16) that are brighter than what is around them, or darker.

    Levels are proportional to light^(1/response). Spots are found in the levels and measured in light.

    Examples:
        >>> image = np.full((40, 60), 20, np.uint8)
        >>> v, u = np.indices(image.shape)
        >>> image[np.hypot(u - 30, v - 20) < 6] = 200
        >>> find_spots(image).center.round(6)
        array([[30., 20.]])
    """
    from gough.vision import centroids  # noqa: PLC0415 - numba

    bits = 8 if image.dtype == np.uint8 else max(8, int(image.max()).bit_length())  # cameras put 12 bits into 16
    top = (1 << bits) - 1
    seen = image if bright else np.subtract(top, image, dtype=image.dtype)
    small = seen if seen.dtype == np.uint8 else (seen >> (bits - 8)).astype(np.uint8)
    outlines = _outlines(small)
    if not outlines:
        return _spots(np.empty((0, 18)))
    lengths = np.array([len(outline) for outline in outlines])
    shapes = centroids.outline_moments(np.concatenate(outlines).reshape(-1, 2), lengths)
    _, _, area, uu, uv, vv = shapes.T
    determinant = uu * vv - uv**2
    with np.errstate(all="ignore"):
        slim = np.sqrt(determinant) / (uu + vv)
        ellipse = area / (4 * np.pi * np.sqrt(determinant))
        good = (area > 4) & (slim > _SLIM / (1 + _SLIM**2)) & (abs(ellipse - 1) < _ROUND)
    shapes = _without_frames(shapes[good])
    if not len(shapes):
        return _spots(np.empty((0, 18)))
    if response != 1:
        light = _light(image, response, top)
        top = _BRIGHTEST
        seen = light if bright else np.subtract(top, light, dtype=light.dtype)
    seen = np.ascontiguousarray(seen)
    ceiling = top if bright else top + 1  # dark dots never saturate
    few = np.ascontiguousarray(shapes[:: max(1, len(shapes) // _SAMPLE)])  # of one type with `shapes`: compiled once
    edges = centroids.measure(seen, few, np.full(len(few), 3.0), ceiling)[:, 13]
    edges = edges[np.isfinite(edges)]
    if not len(edges):
        return _spots(np.empty((0, 18)))
    wanted = min(max(3 * median(edges) + 0.5, 1.5), 12.0)
    margins = np.clip(_room(shapes), 1.0, wanted)
    measured = centroids.measure(seen, shapes, margins, ceiling)
    whole = np.isfinite(measured[:, 0])
    measured = measured[whole]
    return _spots(np.column_stack([measured, centroids.leaks(measured, margins[whole], median(edges))]))


def _light(image: Image, response: float, top: int) -> Image:
    """The light of pixels, in steps of 16 bits, from levels up to `top`."""
    of_level = np.rint(_BRIGHTEST * (np.arange(top + 1) / top) ** response).astype(np.uint16)
    return np.asarray(opencv().LUT(image, of_level) if image.dtype == np.uint8 else np.take(of_level, image))


def _without_frames(shapes: Array) -> Array:
    """Without outlines that have other spots inside: the edge of a sheet before bright surroundings is no spot."""
    u, v, area, uu, uv, vv = shapes.T
    large = np.flatnonzero(area > _FRAME * median(area)) if len(area) else np.empty(0, int)
    frames = []
    for k in large.tolist():
        du, dv = u - u[k], v - v[k]
        inside = vv[k] * du * du - 2 * uv[k] * du * dv + uu[k] * dv * dv < 4 * (uu[k] * vv[k] - uv[k] ** 2)
        if np.count_nonzero(inside) > 1:
            frames.append(k)
    return np.delete(shapes, frames, axis=0) if frames else shapes


def _room(shapes: Array) -> Array:
    """Half the gap between each spot and its nearest neighbor, pixels."""
    u, v, _, uu, uv, vv = shapes.T
    du, dv = u[:, None] - u, v[:, None] - v
    distance = np.hypot(du, dv) + np.diag(np.full(len(u), np.inf))
    du, dv = du / distance, dv / distance
    reach = 2 * np.sqrt(np.maximum(uu[:, None] * du * du + 2 * uv[:, None] * du * dv + vv[:, None] * dv * dv, 0))
    return np.asarray((distance - reach - reach.T).min(axis=1) / 2)


def _outlines(image: Image) -> list[Any]:
    """Outlines of what is brighter than half way between dark and bright in its neighborhood."""
    cv = opencv()
    rows, columns = image.shape
    blocks = cv.resize(image, (max(1, columns // _SHRINK), max(1, rows // _SHRINK)), interpolation=cv.INTER_LINEAR)
    around = np.ones((_WINDOW, _WINDOW), np.uint8)
    low, high = cv.erode(blocks, around), cv.dilate(blocks, around)
    noise = _noise(image)
    level = cv.addWeighted(low, 0.5, high, 0.5, 0)
    level[cv.subtract(high, low) < max(12.0, 4 * noise)] = 255
    level = cv.resize(level, (columns, rows), interpolation=cv.INTER_LINEAR)
    softer = cv.GaussianBlur(image, (3, 3), 0) if noise < 8 else cv.GaussianBlur(image, (5, 5), 1.2)
    binary = cv.compare(softer, level, cv.CMP_GT)
    contours, tree = cv.findContours(binary, cv.RETR_CCOMP, cv.CHAIN_APPROX_NONE)
    if not contours:
        return []
    outer = [
        outline
        for outline, parent in zip(contours, tree[0, :, 3].tolist(), strict=True)
        if parent < 0 and _SMALLEST <= len(outline) <= _LONGEST
    ]
    return sorted(outer, key=len, reverse=True)[:_MOST] if len(outer) > _MOST else outer


def _noise(image: Image) -> float:
    """Standard deviation of the pixels, from differences of neighbors here and there."""
    a, b = image[4::8, 4::8].astype(np.int16), image[4::8, 5::8].astype(np.int16)
    differences = np.abs(a[:, : b.shape[1]] - b)
    ordered = np.partition(differences.ravel(), differences.size * 2 // 3) if differences.size else np.zeros(1)
    return float(ordered[differences.size * 2 // 3]) * 0.73 if differences.size else 0.0


def _spots(table: Array) -> Spots:
    return Spots(
        center=table[:, 0:2],
        flux=table[:, 2],
        ground=table[:, 3],
        noise=table[:, 4],
        axes=table[:, 5:8],
        window=table[:, 8:11],
        peak=table[:, 11],
        saturated=table[:, 12],
        edge=table[:, 13],
        stray=table[:, 14],
        around=table[:, 15:17],
        leak=table[:, 17],
    )
