"""Grids of circles found in images."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.board_corners import as_bytes
from gough.vision.homographies import PlaneMap, is_mirrored
from gough.vision.opencv import opencv
from gough.vision.sightings import ImageRefused, Numbers, Sighting
from gough.vision.spots import Image, Spots, find_spots
from gough.vision.targets import CircleGrid

_SHARE = 0.8
"""Share of the circles that must be measured."""
_IRREGULAR = 0.1
"""Root mean square by which circles may be beside their places, in distances between neighbors."""
_ALIKE = 1.6
"""Circles of one grid differ from their median by at most this factor in radius."""


def find_circles(gray: Image, grid: CircleGrid, response: float = 1.0) -> Sighting:
    """The circles of a grid that is whole in the image: our centroids, numbered in OpenCV's order.

    Levels are proportional to light^(1/response).

    Raises:
        ImageRefused: the grid is not there, or not whole.
    """
    spots = find_spots(gray, bright=grid.bright, response=response)
    n = len(grid.points)
    found = next((places for places in _attempts(gray, spots, grid) if _is_regular(places, grid, gray.shape)), None)
    if found is None:
        raise _absent(gray, spots, grid)
    if not grid.staggered and is_mirrored(grid.points[:, :2], found):
        found = found.reshape(grid.rows, grid.columns, 2)[:, ::-1].reshape(-1, 2)  # OpenCV may begin at any corner
    if is_mirrored(grid.points[:, :2], found):
        raise ImageRefused(
            "the grid is seen as in a mirror, or its rows and columns are exchanged: do not flip images, and check "
            "columns and rows",
            cause="mirrored",
        )
    which, rows = _measured(found, spots)
    if len(which) < _SHARE * n:
        raise ImageRefused(
            f"only {len(which)} of the grid's {n} circles have clear outlines: focus, and light it evenly",
            cause="blurred",
        )
    seen = spots.select(rows)
    return Sighting(which, seen.center, seen.sigma, seen, float(np.median(seen.edge)))


def _attempts(gray: Image, spots: Spots, grid: CircleGrid) -> Iterator[Array | None]:
    """Places (n, 2) in OpenCV's order by one way after the other, the fastest first."""
    cv = opencv()
    kind = cv.CALIB_CB_ASYMMETRIC_GRID if grid.staggered else cv.CALIB_CB_SYMMETRIC_GRID
    size = grid.columns, grid.rows
    parameters = cv.CirclesGridFinderParameters()
    centers = [spots.center[rows] for rows in _alike(spots, len(grid.points))]
    for way in (kind | cv.CALIB_CB_CLUSTERING, kind):
        for each in centers:
            if len(each) >= len(grid.points):
                candidates = each.astype(np.float32).reshape(-1, 1, 2)
                complete, places = cv.findCirclesGrid(candidates, size, way, None, parameters)
                yield _places(complete, places)
    image = as_bytes(gray)
    blobs = cv.SimpleBlobDetector_Params()
    blobs.blobColor = 255 if grid.bright else 0
    blobs.maxArea = float(image.size / 50)
    for way in (kind | cv.CALIB_CB_CLUSTERING, kind):
        complete, places = cv.findCirclesGrid(image, size, way, cv.SimpleBlobDetector_create(blobs), parameters)
        yield _places(complete, places)


def _is_regular(places: Array | None, grid: CircleGrid, shape: tuple[int, ...]) -> bool:
    """Whether places are those of the grid in a view: OpenCV may find a grid of another kind in a staggered one."""
    if places is None:
        return False
    plane = grid.points[:, :2]
    gaps = PlaneMap(plane, places, (np.array(shape[::-1]) - 1) / 2)(plane) - places
    spacing = float(np.median(np.linalg.norm(np.diff(places, axis=0), axis=1)))
    return float(np.sqrt((gaps**2).sum(axis=1).mean())) < _IRREGULAR * spacing


def _places(complete: Any, places: Any) -> Array | None:
    return np.asarray(places, dtype=float).reshape(-1, 2) if complete else None


def _alike(spots: Spots, n: int) -> Iterator[Any]:
    """All spots; and then those of similar radius: letters and holes around a grid are not."""
    yield np.arange(len(spots))
    if len(spots) > n:
        radius = (spots.axes[:, 0] * spots.axes[:, 2] - spots.axes[:, 1] ** 2).clip(1e-9) ** 0.25
        ratio = radius / np.median(radius)
        rows = np.flatnonzero((ratio < _ALIKE) & (ratio > 1 / _ALIKE))
        if len(rows) < len(spots):
            yield rows


def _measured(places: Array, spots: Spots) -> tuple[Numbers, Numbers]:
    """Numbers of the circles that have a spot, and of their spots."""
    if not len(spots):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    gaps = np.linalg.norm(places[:, None] - spots.center[None], axis=2)
    rows = gaps.argmin(axis=1)
    radius = 2 * (spots.axes[rows, 0] * spots.axes[rows, 2] - spots.axes[rows, 1] ** 2).clip(1e-9) ** 0.25
    near = gaps[np.arange(len(places)), rows] < 0.5 * radius
    return np.flatnonzero(near).astype(np.int64), rows[near].astype(np.int64)


def _absent(gray: Image, spots: Spots, grid: CircleGrid) -> ImageRefused:
    """Why a grid is not found: the other color, another size, or not whole."""
    n, kind = len(grid.points), "staggered" if grid.staggered else "rectangular"
    other = find_spots(gray, bright=not grid.bright)
    if len(other) >= n > len(spots):
        color = "white" if not grid.bright else "black"
        return ImageRefused(
            f"{len(other)} {color} circles are seen, but the file says bright = {str(grid.bright).lower()}",
            cause="another board",
        )
    if len(spots) < n:
        return ImageRefused(
            f"the grid is not whole in it: {len(spots)} spots look like circles, but it has {n}. Bring all of it into "
            "the image, near enough that circles are 8 pixels wide",
            cause="partly outside",
        )
    return ImageRefused(
        f"{len(spots)} spots, but no {kind} grid of {grid.columns} × {grid.rows} circles among them: check columns, "
        "rows and staggered in the file",
        cause="another board",
    )
