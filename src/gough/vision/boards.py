"""Targets that people have already: grids of circles and ChArUco boards, found by OpenCV."""

import numpy as np

from gough.core.arrays import Array
from gough.vision.detector import ImageRefused, Sighting
from gough.vision.opencv import opencv
from gough.vision.spots import Image, find_spots
from gough.vision.targets import CharucoBoard, CircleGrid

_CORNER = 0.05
"""Standard deviation of a corner that residuals then scale, pixels."""
_FEWEST = 8


def find_grid(gray: Image, grid: CircleGrid) -> Sighting:
    """The circles of a whole grid; our centroids in OpenCV's order."""
    cv = opencv()
    spots = find_spots(gray, bright=grid.bright)
    n = len(grid.points)
    if len(spots) < n:
        raise ImageRefused(f"the grid is not whole in it: {len(spots)} spots look like circles, but it has {n}")
    kind = cv.CALIB_CB_ASYMMETRIC_GRID if grid.staggered else cv.CALIB_CB_SYMMETRIC_GRID
    candidates = spots.center.astype(np.float32).reshape(-1, 1, 2)
    found, places = cv.findCirclesGrid(
        candidates, (grid.columns, grid.rows), kind | cv.CALIB_CB_CLUSTERING, None, cv.CirclesGridFinderParameters()
    )
    if not found:
        raise ImageRefused(f"{len(spots)} spots, but no grid of {grid.columns} × {grid.rows} circles among them")
    gaps = np.linalg.norm(places.reshape(-1, 1, 2) - spots.center[None], axis=2)
    rows = gaps.argmin(axis=1)
    if not grid.staggered and _is_mirrored(grid.points[:, :2], spots.center[rows]):
        rows = rows.reshape(grid.rows, grid.columns)[:, ::-1].ravel()  # OpenCV may begin at any corner
    if _is_mirrored(grid.points[:, :2], spots.center[rows]):
        raise ImageRefused("the grid is seen as in a mirror, or its rows and columns are exchanged")
    seen = spots.select(rows)
    return Sighting(np.arange(n), seen.center, seen.sigma, seen)


def _is_mirrored(plane: Array, image: Array) -> bool:
    """Whether a view is not of the front: there v points down where y points up."""
    A = np.linalg.lstsq(np.column_stack([plane, np.ones(len(plane))]), image, rcond=None)[0]
    return bool(np.linalg.det(A[:2]) > 0)


def find_charuco(gray: Image, board: CharucoBoard) -> Sighting:
    """The inner corners of a board that are seen; its markers tell which they are."""
    cv = opencv()
    image = gray if gray.dtype == np.uint8 else (gray >> 8).astype(np.uint8)
    dictionary = cv.aruco.getPredefinedDictionary(getattr(cv.aruco, f"DICT_{board.dictionary}"))
    made = cv.aruco.CharucoBoard((board.columns, board.rows), board.square, board.marker, dictionary)
    made.setLegacyPattern(board.legacy)
    corners, numbers, _, markers = cv.aruco.CharucoDetector(made).detectBoard(image)
    if numbers is None or len(numbers) < _FEWEST:
        seen = 0 if markers is None else len(markers)
        raise ImageRefused(f"the board is not in it, or hidden: {seen} of its markers are seen")
    pixels = np.asarray(corners, dtype=float).reshape(-1, 2)
    return Sighting(np.asarray(numbers, dtype=np.int64).reshape(-1), pixels, np.full(len(pixels), _CORNER))
