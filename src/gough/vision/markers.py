"""Boards with ArUco markers or AprilTags found in images."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.board_corners import as_bytes, refined
from gough.vision.boards import FAMILIES, AprilGrid, ArucoGrid, bits_in, markers_in
from gough.vision.homographies import PlaneMap, is_mirrored
from gough.vision.opencv import opencv
from gough.vision.sightings import ImageRefused, Numbers, Sighting
from gough.vision.spots import Image
from gough.vision.targets import CharucoBoard

_FEWEST_CORNERS = 8
_FAR = 0.35
"""Relative to the side of a marker, how far a marker of a grid may be from where the others put it."""
_LIKELY = ("4X4_1000", "5X5_1000", "6X6_1000", "7X7_1000", "ARUCO_ORIGINAL", *FAMILIES)
"""Dictionaries that contain the smaller ones of their kind, looked for where a board's own is not seen."""
_FEWEST_MARKERS = 3
_LOOSE = 0.4
"""Root mean square of the corners of tags about their grid in a view, beyond which they are not believed, pixels."""
_CLEAR = 4.0
"""Times by which one of the legacy pattern and the other one must fit better."""


def find_charuco(gray: Image, board: CharucoBoard) -> Sighting:
    """The visible inner corners of a ChArUco board, numbered by its markers.

    Raises:
        ImageRefused: the board is not there; the message says what is seen instead.
    """
    cv = opencv()
    image = as_bytes(gray)
    made = _opencv_board(board)
    corners, numbers, quads, markers = cv.aruco.CharucoDetector(made).detectBoard(image)
    if numbers is None or len(numbers) < _FEWEST_CORNERS:
        raise _why_no_charuco(image, board, quads, markers)
    which = np.asarray(numbers, dtype=np.int64).reshape(-1)
    pixels = np.asarray(corners, dtype=float).reshape(-1, 2)
    _require_front(board.points[which, :2], pixels)
    gap = (board.square - board.marker) / 2
    return refined(gray, board.points[:, :2], which, pixels, gap, free=board.square)


def find_markers(gray: Image, grid: ArucoGrid | AprilGrid) -> Sighting:
    """The corners of the markers of a grid that are visible.

    Raises:
        ImageRefused: the grid is not there; the message says what is seen instead.
    """
    image = as_bytes(gray)
    border = grid.border if isinstance(grid, AprilGrid) else 1
    quads, numbers = _detected(image, grid.dictionary, border)
    turned = (
        2 if isinstance(grid, AprilGrid) else 0
    )  # OpenCV's bits of AprilTags are those of the library, turned by 180°
    own = [k for k, number in enumerate(numbers) if 0 <= number - grid.first < grid.columns * grid.rows]
    if 4 * len(own) < _FEWEST_CORNERS:
        raise _why_no_markers(image, grid, numbers)
    which = np.concatenate([4 * (numbers[k] - grid.first) + np.arange(4) for k in own]).astype(np.int64)
    pixels = np.concatenate([np.roll(quads[k], turned, axis=0) for k in own])
    which, pixels = _consistent(grid.points[:, :2], which, pixels)
    if len(which) < _FEWEST_CORNERS:
        raise _mirrored(image, grid.dictionary, len(own), border) or ImageRefused(
            f"{len(own)} markers of {grid.dictionary} are seen, but not where a grid of {grid.columns} × {grid.rows} "
            "has them: check columns, rows, marker, separation and first in the file",
            cause="another board",
        )
    _require_front(grid.points[which, :2], pixels)
    cell = grid.marker / (bits_in(grid.dictionary) + 2 * border)
    if isinstance(grid, AprilGrid):  # black squares touch the tags' corners, and pull OpenCV's outlines by pixels
        middle = (np.array(gray.shape[::-1]) - 1) / 2
        starts = PlaneMap(grid.points[which, :2], pixels, middle)(grid.points[:, :2])
        inside = np.flatnonzero(((starts > 0) & (starts < 2 * middle)).all(axis=1)).astype(np.int64)
        seen = refined(gray, grid.points[:, :2], inside, starts[inside], min(grid.separation, border * cell))
        gaps = PlaneMap(grid.points[seen.which, :2], seen.pixels, middle)(grid.points[seen.which, :2]) - seen.pixels
        if np.sqrt((gaps**2).sum(axis=1).mean()) > _LOOSE:
            raise ImageRefused("the tags' corners do not lie on a grid: come nearer, and focus", cause="blurred")
        return seen
    inward = np.array([[1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])[which % 4]
    free = min(grid.separation, grid.marker / 2)
    return refined(gray, grid.points[:, :2], which, pixels, cell, inward, free)


def _opencv_board(board: CharucoBoard) -> Any:
    cv = opencv()
    made = cv.aruco.CharucoBoard((board.columns, board.rows), board.square, board.marker, _dictionary(board.dictionary))
    made.setLegacyPattern(board.legacy)
    return made


def _dictionary(name: str) -> Any:
    cv = opencv()
    known = f"DICT_APRILTAG_{name}" if name in FAMILIES else f"DICT_{name}"
    return cv.aruco.getPredefinedDictionary(getattr(cv.aruco, known))


def _detected(image: Any, dictionary: str, border: int = 1) -> tuple[list[Array], list[int]]:
    """Corners (4, 2) and numbers of the markers that are seen."""
    cv = opencv()
    parameters = cv.aruco.DetectorParameters()
    parameters.markerBorderBits = border
    parameters.cornerRefinementMethod = cv.aruco.CORNER_REFINE_SUBPIX
    quads, numbers, _ = cv.aruco.ArucoDetector(_dictionary(dictionary), parameters).detectMarkers(image)
    if numbers is None:
        return [], []
    return [np.asarray(quad, dtype=float).reshape(4, 2) for quad in quads], np.asarray(numbers).ravel().tolist()


def _consistent(plane: Array, which: Numbers, pixels: Array) -> tuple[Numbers, Array]:
    """Markers where a homography of most of them has them: others are misread, or of another board."""
    cv = opencv()
    side = float(np.median([np.linalg.norm(pixels[k] - pixels[k + 1]) for k in range(0, len(pixels), 4)]))
    H, kept = cv.findHomography(plane[which], pixels, cv.RANSAC, max(_FAR * side, 2.0))
    if H is None:
        return which[:0], pixels[:0]
    whole = np.repeat(kept.reshape(-1, 4).all(axis=1), 4)
    return which[whole], pixels[whole]


def _require_front(plane: Array, pixels: Array) -> None:
    if is_mirrored(plane, pixels):
        raise ImageRefused("the board is seen as in a mirror: do not flip images", cause="mirrored")


def _why_no_charuco(image: Any, board: CharucoBoard, quads: Any, markers: Any) -> ImageRefused:
    """Why a ChArUco board is not found: another dictionary, pattern or size, a mirror, or not enough of it."""
    numbers = [] if markers is None else np.asarray(markers).ravel().tolist()
    n = board.columns * board.rows // 2
    if len(numbers) < _FEWEST_MARKERS:
        return _other_markers(image, board.dictionary, len(numbers)) or ImageRefused(
            f"the board is not in it, or hidden: {len(numbers)} of its {n} markers are seen", cause="absent"
        )
    beyond = [number for number in numbers if number >= n]
    if beyond:
        return ImageRefused(
            f"marker {max(beyond)} of {board.dictionary} is seen, but a board of {board.columns} × {board.rows} "
            f"squares has markers 0 to {n - 1}: it has another size",
            cause="another board",
        )
    likely = _fitting_board(board, quads, numbers)
    if likely is not None:
        return likely
    return ImageRefused(
        f"{len(numbers)} of the board's {n} markers are seen, but fewer than {_FEWEST_CORNERS} corners between them: "
        "bring more of it into the image, and focus",
        cause="partly outside",
    )


def _fitting_board(board: CharucoBoard, quads: Any, numbers: Sequence[int]) -> ImageRefused | None:
    """Whether the markers are where another board, of the same number of markers, has them."""
    corners = np.concatenate([np.asarray(quad, dtype=float).reshape(4, 2) for quad in quads])

    def misfit(columns: int, rows: int, *, legacy: bool) -> float:
        cv = opencv()
        other = CharucoBoard(columns, rows, board.square, board.marker, board.dictionary, legacy)
        places = np.asarray(_opencv_board(other).getObjPoints())[..., :2]
        if max(numbers) >= len(places):
            return float("inf")
        plane = places[list(numbers)].reshape(-1, 2)
        H, _ = cv.findHomography(plane, corners)
        if H is None:
            return float("inf")
        mapped = cv.perspectiveTransform(plane.reshape(-1, 1, 2), H).reshape(-1, 2)
        return float(np.sqrt(((mapped - corners) ** 2).sum(axis=1).mean()))

    stated_size = board.columns, board.rows
    stated = misfit(board.columns, board.rows, legacy=board.legacy)
    if _CLEAR * misfit(board.columns, board.rows, legacy=not board.legacy) < stated:
        has, says = ("an older OpenCV's", "true") if not board.legacy else ("today's", "false")
        return ImageRefused(f"the board has {has} pattern: write legacy = {says} in its file", cause="another board")
    most = 2 * markers_in(board.dictionary)
    sizes = [(c, r) for c in range(3, 25) for r in range(3, 25) if c * r <= most and (c, r) != stated_size]
    fits = sorted((misfit(c, r, legacy=legacy), c, r) for c, r in sizes for legacy in (False, True))
    if _CLEAR * fits[0][0] < stated:
        columns = fits[0][1]
        return ImageRefused(
            f"the markers stand as on a board with {columns} columns, but the file says {board.columns} × {board.rows}"
            + (": are columns and rows exchanged?" if columns == board.rows else ""),
            cause="another board",
        )
    return None


def _why_no_markers(image: Any, grid: ArucoGrid | AprilGrid, numbers: Sequence[int]) -> ImageRefused:
    n = grid.columns * grid.rows
    if len(numbers) >= _FEWEST_MARKERS:
        return ImageRefused(
            f"markers {min(numbers)} to {max(numbers)} of {grid.dictionary} are seen, but the board has {grid.first} "
            f"to {grid.first + n - 1}: check first, columns and rows in the file",
            cause="another board",
        )
    if isinstance(grid, AprilGrid):
        other = 3 - grid.border
        seen = len(_detected(image, grid.dictionary, other)[1])
        if seen >= _FEWEST_MARKERS:
            return ImageRefused(
                f"{seen} tags are seen whose border is {other} cells wide: write border = {other} in the file",
                cause="another board",
            )
    border = grid.border if isinstance(grid, AprilGrid) else 1
    return _other_markers(image, grid.dictionary, len(numbers), border) or ImageRefused(
        f"the board is not in it, or hidden: {len(numbers)} of its {n} markers are seen", cause="absent"
    )


def _mirrored(image: Any, stated: str, own: int, border: int = 1) -> ImageRefused | None:
    """Whether more markers are seen in the mirrored image."""
    if len(_detected(np.ascontiguousarray(image[:, ::-1]), stated, border)[1]) < max(_FEWEST_MARKERS, own + 1):
        return None
    return ImageRefused("the board is seen as in a mirror: do not flip images", cause="mirrored")


def _other_markers(image: Any, stated: str, own: int, border: int = 1) -> ImageRefused | None:
    """A mirror image, or markers of another dictionary, if at least three of them are seen."""
    mirrored = _mirrored(image, stated, own, border)
    if mirrored is not None:
        return mirrored
    kind, count = seen_markers(image, without=stated, most=own)
    if not count:
        return None
    return ImageRefused(
        f"{count} markers of dictionary {kind} are seen, but the file says {stated}", cause="another board"
    )


def seen_markers(image: Any, *, without: str = "", most: int = 0) -> tuple[str, int]:
    """Dictionary and number of markers that are seen, if there are at least three and more than `most`; else "", 0."""
    counts = {
        name: max(len(set(_detected(image, name, cells)[1])) for cells in ((1, 2) if name in FAMILIES else (1,)))
        for name in _LIKELY
        if name.split("_")[0] != without.split("_", maxsplit=1)[0]
    }
    name = max(counts, key=lambda each: counts[each])
    return (name.removesuffix("_1000"), counts[name]) if counts[name] >= max(_FEWEST_MARKERS, most + 1) else ("", 0)
