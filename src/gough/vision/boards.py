"""Boards with corners: chessboards and grids of markers, as OpenCV, Kalibr and others print them.

Frame: origin in the middle of the corners, x to the right and y up for whoever looks at it, z towards them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import nearest, require

MOST = 1000
_SIZES = (50, 100, 250, 1000)
DICTIONARIES = (*(f"{n}X{n}_{size}" for n in (4, 5, 6, 7) for size in _SIZES), "ARUCO_ORIGINAL")
"""Dictionaries of ArUco markers, as OpenCV names them."""
FAMILIES = ("36h11", "36h10", "25h9", "16h5")
"""Families of AprilTags."""
_MARKERS = {"ARUCO_ORIGINAL": 1024, "36h11": 587, "36h10": 2320, "25h9": 35, "16h5": 30}
_BITS = {"ARUCO_ORIGINAL": 5, "36h11": 6, "36h10": 6, "25h9": 5, "16h5": 4}


def markers_in(dictionary: str) -> int:
    """Number of markers of a dictionary.

    Examples:
        >>> markers_in("5X5_100"), markers_in("36h11")
        (100, 587)
    """
    return _MARKERS.get(dictionary) or int(dictionary.rsplit("_", 1)[1])


def bits_in(dictionary: str) -> int:
    """Cells along the side of a marker, without its black border.

    Examples:
        >>> bits_in("5X5_100"), bits_in("36h11")
        (5, 6)
    """
    return _BITS.get(dictionary) or int(dictionary[0])


def centered(x: Array, y: Array) -> Array:
    """Points (n, 3) of a plane about the middle of their extent."""
    points = np.column_stack([x, y, np.zeros(len(x))]).astype(float)
    return np.asarray(points - (points.max(axis=0) + points.min(axis=0)) / 2)


def require_dictionary(name: str, known: tuple[str, ...], markers: int, first: int = 0) -> None:
    """Refuse a dictionary that is not known, or has fewer markers than a board needs."""
    require(name in known, f"no dictionary is called '{name}'{nearest(name, known)} (known: {', '.join(known)})")
    most = markers_in(name)
    require(
        first >= 0 and first + markers <= most,
        f"the board needs markers {first} to {first + markers - 1}, but the dictionary {name} has 0 to {most - 1}",
    )


class OfCorners:
    """What boards have in common whose points are corners of black squares or markers on white."""

    @property
    def radius(self) -> float:
        """Corners have none."""
        return 0.0

    @property
    def bright(self) -> bool:
        """White is the ground."""
        return False


class OfSquares(OfCorners):
    """What boards of squares have in common; their points are the inner corners."""

    columns: int
    rows: int
    square: float

    @cached_property
    def points(self) -> Array:
        """Inner corners row by row from the top left, in OpenCV's order."""
        i, j = np.divmod(np.arange((self.rows - 1) * (self.columns - 1)), self.columns - 1)
        return centered(j * self.square, -i * self.square)

    @property
    def size(self) -> tuple[float, float]:
        """All squares."""
        return self.columns * self.square, self.rows * self.square


@dataclass(frozen=True)
class Chessboard(OfSquares):
    """Black and white squares; its points are the inner corners. The square at the top left is black.

    Examples:
        >>> board = Chessboard(10, 7, 0.025)
        >>> board.points.shape, board.is_unique, Chessboard(9, 7, 0.025).is_unique
        ((54, 3), True, False)
    """

    columns: int
    """Squares in a row, one more than the inner corners that OpenCV counts."""
    rows: int
    """Squares in a column."""
    square: float
    """Side of a square."""
    name: str = "chessboard"

    def __post_init__(self) -> None:
        counts = 4 <= self.columns <= MOST and 4 <= self.rows <= MOST
        require(counts, f"a chessboard has 4 to {MOST} rows and columns of squares")
        require(self.square > 0, "squares of a chessboard must have a positive side")

    @property
    def is_unique(self) -> bool:
        """Whether it looks different upside down: one with an odd and an even number of squares does."""
        return (self.columns + self.rows) % 2 == 1


@dataclass(frozen=True)
class ArucoGrid(OfCorners):
    """Markers apart from each other, numbered row by row from the top left (OpenCV: GridBoard).

    Its points are the corners of the markers: top left, top right, bottom right, bottom left of each.

    Examples:
        >>> ArucoGrid(5, 7, 0.04, 0.01, "6X6_250").points.shape
        (140, 3)
    """

    columns: int
    rows: int
    marker: float
    """Side of a marker."""
    separation: float
    """Gap between markers."""
    dictionary: str = "5X5_100"
    first: int = 0
    """Number of the first marker."""
    name: str = "aruco"

    def __post_init__(self) -> None:
        _check_markers(self)
        require_dictionary(self.dictionary, DICTIONARIES, self.columns * self.rows, self.first)

    @cached_property
    def points(self) -> Array:
        """Corners of each marker, marker by marker."""
        return _marker_corners(self, upward=False)

    @property
    def size(self) -> tuple[float, float]:
        """The markers with a white margin as wide as their gap."""
        return _marker_size(self)


@dataclass(frozen=True)
class AprilGrid(OfCorners):
    """AprilTags with black squares where their corners meet, numbered row by row from the bottom left (Kalibr).

    Its points are the corners of the tags: top left, top right, bottom right, bottom left of each.

    Examples:
        >>> AprilGrid(6, 6, 0.088, 0.0264).points.shape
        (144, 3)
    """

    columns: int
    rows: int
    marker: float
    """Side of a tag (Kalibr: tagSize)."""
    separation: float
    """Gap between tags (Kalibr: tagSpacing times tagSize)."""
    dictionary: str = "36h11"
    """Family of the tags."""
    first: int = 0
    """Number of the first tag."""
    border: int = 2
    """Width of the tags' black border in cells; Kalibr prints 2, the AprilTag library 1."""
    name: str = "aprilgrid"

    def __post_init__(self) -> None:
        _check_markers(self)
        require(self.border in {1, 2}, f"the border of a tag is 1 or 2 cells wide, not {self.border}")
        require_dictionary(self.dictionary, FAMILIES, self.columns * self.rows, self.first)

    @cached_property
    def points(self) -> Array:
        """Corners of each tag, tag by tag."""
        return _marker_corners(self, upward=True)

    @property
    def size(self) -> tuple[float, float]:
        """The tags with the black squares at their corners."""
        return _marker_size(self)


def _check_markers(grid: ArucoGrid | AprilGrid) -> None:
    counts = 1 <= grid.columns <= MOST and 1 <= grid.rows <= MOST and grid.columns * grid.rows >= 2
    require(counts, f"a grid of markers has 1 to {MOST} rows and columns, and at least two markers")
    require(0 < grid.separation < grid.marker, "the gap between markers must be positive, and smaller than their side")


def _marker_corners(grid: ArucoGrid | AprilGrid, *, upward: bool) -> Array:
    i, j = np.divmod(np.arange(grid.rows * grid.columns), grid.columns)
    pitch, side = grid.marker + grid.separation, grid.marker
    x, y = j * pitch, (i if upward else -i) * pitch
    across, down = np.array([0.0, side, side, 0.0]), np.array([0.0, 0.0, side, side])
    return centered((x[:, None] + across).ravel(), (y[:, None] - down).ravel())


def _marker_size(grid: ArucoGrid | AprilGrid) -> tuple[float, float]:
    pitch = grid.marker + grid.separation
    return grid.columns * pitch + grid.separation, grid.rows * pitch + grid.separation
