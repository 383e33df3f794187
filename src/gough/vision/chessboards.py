"""Chessboards found in images."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.board_corners import as_bytes, refined
from gough.vision.boards import Chessboard
from gough.vision.homographies import is_mirrored
from gough.vision.opencv import opencv
from gough.vision.sightings import ImageRefused, Sighting
from gough.vision.spots import Image

_SHARE = 0.75
"""Share of the corners that must stand the refinement."""
_SMALLEST = (3, 3)
_BY_TURNS = 0.9
"""Share of the neighboring squares of a chessboard of which the right one is the brighter."""


def find_chessboard(gray: Image, board: Chessboard) -> Sighting:
    """All inner corners of a chessboard that is whole in the image.

    Raises:
        ImageRefused: it is not there; the message says what is seen instead.
    """
    image = as_bytes(gray)
    inner = board.columns - 1, board.rows - 1
    found = _corners(image, inner)
    if found is None:
        raise _absent(image, board)
    grid = found.reshape(board.rows - 1, board.columns - 1, 2)
    if is_mirrored(board.points[:, :2], grid.reshape(-1, 2)):
        grid = grid[:, ::-1]
    if board.is_unique and not _begins_black(image, grid):
        grid = grid[::-1, ::-1]
    seen = refined(gray, board.points[:, :2], np.arange(len(board.points)), grid.reshape(-1, 2), board.square)
    if len(seen) < _SHARE * len(board.points):
        raise ImageRefused(
            f"only {len(seen)} of {len(board.points)} corners are sharp: come nearer, focus, or light it evenly",
            cause="blurred",
        )
    return seen


def _corners(image: Any, inner: tuple[int, int]) -> Array | None:
    """Corners (n, 2) in OpenCV's order by each of its detectors in turn."""
    cv = opencv()
    found, corners = cv.findChessboardCornersSB(image, inner, flags=cv.CALIB_CB_NORMALIZE_IMAGE)
    if not found:
        found, corners = cv.findChessboardCorners(
            image, inner, flags=cv.CALIB_CB_ADAPTIVE_THRESH | cv.CALIB_CB_NORMALIZE_IMAGE
        )
        if found:
            cv.cornerSubPix(image, corners, (3, 3), (-1, -1), (cv.TERM_CRITERIA_EPS | cv.TERM_CRITERIA_COUNT, 20, 0.01))
    return np.asarray(corners, dtype=float).reshape(-1, 2) if found else None


def _begins_black(image: Any, grid: Array) -> bool:
    """Whether squares of the color of the first one, at the outer corner, are the darker ones."""
    levels = _levels(image, grid)  # inner squares begin one row and one column after the first one
    first = np.indices(levels.shape).sum(axis=0) % 2 == 0
    return bool(levels[first].mean() < levels[~first].mean())


def _is_checkered(image: Any, grid: Array) -> bool:
    """Whether squares around and between the corners are darker and brighter by turns; dots between corners are not."""
    wider = np.concatenate([2 * grid[:1] - grid[1:2], grid, 2 * grid[-1:] - grid[-2:-1]])
    wider = np.concatenate([2 * wider[:, :1] - wider[:, 1:2], wider, 2 * wider[:, -1:] - wider[:, -2:-1]], axis=1)
    levels = _levels(image, wider)
    signs = 1 - 2 * (np.indices(levels.shape).sum(axis=0) % 2)
    across, along = signs[:, 1:] * np.diff(levels, axis=1), signs[1:] * np.diff(levels, axis=0)
    brighter = float(np.mean(np.concatenate([across.ravel(), along.ravel()]) > 0))
    return max(brighter, 1 - brighter) > _BY_TURNS


def _levels(image: Any, grid: Array) -> Array:
    """Levels in the middle of the squares between corners."""
    middles = (grid[:-1, :-1] + grid[1:, :-1] + grid[:-1, 1:] + grid[1:, 1:]) / 4
    rows, columns = np.rint(middles[..., 1]).astype(int), np.rint(middles[..., 0]).astype(int)
    return np.asarray(image[rows.clip(0, image.shape[0] - 1), columns.clip(0, image.shape[1] - 1)], dtype=float)


def _absent(image: Any, board: Chessboard) -> ImageRefused:
    """Why a chessboard is not found: another size, or none."""
    columns, rows = seen_squares(image)
    stated = f"{board.columns} × {board.rows}"
    if columns == 0:
        return ImageRefused("no chessboard is seen in it", cause="absent")
    if {columns, rows} == {board.columns + 1, board.rows + 1}:
        return ImageRefused(
            f"a chessboard of {columns} × {rows} squares is seen, but the file says {stated}: columns and rows count "
            "squares, not inner corners",
            cause="another board",
        )
    if columns * rows < board.columns * board.rows and (columns <= board.columns and rows <= board.rows):
        return ImageRefused(
            f"only {columns} × {rows} of the {stated} squares are seen: the chessboard is partly hidden or outside the "
            "image, or it is another one",
            cause="partly outside",
        )
    return ImageRefused(
        f"a chessboard of {columns} × {rows} squares is seen, but the file says {stated}", cause="another board"
    )


def seen_squares(image: Any) -> tuple[int, int]:
    """Columns and rows of squares, the larger number first, of a chessboard of any size; 0, 0 where there is none."""
    cv = opencv()
    flags = cv.CALIB_CB_NORMALIZE_IMAGE | cv.CALIB_CB_LARGER
    found, corners, meta = cv.findChessboardCornersSBWithMeta(image, _SMALLEST, flags)
    if not found or meta is None:
        return 0, 0
    rows, columns = meta.shape[:2]
    if not _is_checkered(image, np.asarray(corners, dtype=float).reshape(rows, columns, 2)):
        return 0, 0
    return max(rows, columns) + 1, min(rows, columns) + 1
