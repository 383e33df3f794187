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
    middles = (grid[:-1, :-1] + grid[1:, :-1] + grid[:-1, 1:] + grid[1:, 1:]) / 4
    rows, columns = np.rint(middles[..., 1]).astype(int), np.rint(middles[..., 0]).astype(int)
    levels = image[rows.clip(0, image.shape[0] - 1), columns.clip(0, image.shape[1] - 1)].astype(float)
    i, j = np.indices(levels.shape)
    first = (i + j) % 2 == 0  # inner squares begin one row and one column after the first one
    return bool(levels[first].mean() < levels[~first].mean())


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
    found, _, meta = cv.findChessboardCornersSBWithMeta(image, _SMALLEST, flags)
    if not found or meta is None:
        return 0, 0
    rows, columns = meta.shape[:2]
    return max(rows, columns) + 1, min(rows, columns) + 1
