"""What is black on a board of squares or markers: rectangles, to print it or to render it."""

import numpy as np

from gough.core.arrays import Array
from gough.vision.boards import FAMILIES, AprilGrid, ArucoGrid, Chessboard, bits_in
from gough.vision.opencv import opencv
from gough.vision.targets import CharucoBoard

Board = Chessboard | CharucoBoard | ArucoGrid | AprilGrid


def black_rectangles(board: Board) -> Array:
    """Rectangles (n, 4) that are black on a board: left, bottom, right, top in m, in the board's frame.

    Examples:
        >>> black_rectangles(Chessboard(4, 5, 0.01)).shape
        (10, 4)
    """
    if isinstance(board, Chessboard):
        return _squares(board.columns, board.rows, board.square, first_black=True)
    if isinstance(board, CharucoBoard):
        return _charuco(board)
    cells = []
    for k in range(board.columns * board.rows):
        left, top = board.points[4 * k, :2]
        cells.append(_marker(board.dictionary, board.first + k, left, top, board.marker, _border(board)))
    if isinstance(board, AprilGrid):
        cells.append(_joints(board))
    return np.vstack(cells)


def _border(board: ArucoGrid | AprilGrid) -> int:
    return board.border if isinstance(board, AprilGrid) else 1


def _squares(columns: int, rows: int, side: float, *, first_black: bool) -> Array:
    i, j = np.indices((rows, columns)).reshape(2, -1)
    black = (i + j) % 2 == (0 if first_black else 1)
    left, top = (j[black] - columns / 2) * side, (rows / 2 - i[black]) * side
    return np.column_stack([left, top - side, left + side, top])


def _charuco(board: CharucoBoard) -> Array:
    """White squares hold markers, numbered row by row; older boards with an even number of rows begin with white."""
    first_black = not (board.legacy and board.rows % 2 == 0)
    cells = [_squares(board.columns, board.rows, board.square, first_black=first_black)]
    i, j = np.indices((board.rows, board.columns)).reshape(2, -1)
    white = (i + j) % 2 == (1 if first_black else 0)
    inset = (board.square - board.marker) / 2
    for k, (row, column) in enumerate(zip(i[white].tolist(), j[white].tolist(), strict=True)):
        left = (column - board.columns / 2) * board.square + inset
        top = (board.rows / 2 - row) * board.square - inset
        cells.append(_marker(board.dictionary, k, left, top, board.marker, 1))
    return np.vstack(cells)


def _marker(dictionary: str, number: int, left: float, top: float, side: float, border: int) -> Array:  # noqa: PLR0917
    """Black cells of a marker, joined along rows."""
    cv = opencv()
    n = bits_in(dictionary)
    name = f"DICT_APRILTAG_{dictionary}" if dictionary in FAMILIES else f"DICT_{dictionary}"
    known = cv.aruco.getPredefinedDictionary(getattr(cv.aruco, name))
    bits = np.asarray(cv.aruco.Dictionary.getBitsFromByteList(known.bytesList[number : number + 1], n))
    white = np.zeros((n + 2 * border, n + 2 * border), bool)
    white[border : border + n, border : border + n] = np.rot90(bits, 2 if dictionary in FAMILIES else 0) > 0
    cell, out = side / len(white), []
    for i, row in enumerate(white):
        ends = np.flatnonzero(np.diff(np.concatenate([[True], row, [True]]).astype(int)))
        out += [
            [left + a * cell, top - (i + 1) * cell, left + b * cell, top - i * cell]
            for a, b in ends.reshape(-1, 2).tolist()
        ]
    return np.array(out)


def _joints(grid: AprilGrid) -> Array:
    """Black squares between the corners of tags, so that four edges meet in each corner."""
    pitch, gap = grid.marker + grid.separation, grid.separation
    x, y = np.meshgrid(np.arange(grid.columns + 1) * pitch, np.arange(grid.rows + 1) * pitch)
    left, bottom = x.ravel() - grid.size[0] / 2, y.ravel() - grid.size[1] / 2
    return np.column_stack([left, bottom, left + gap, bottom + gap])
