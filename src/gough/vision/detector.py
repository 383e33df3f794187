"""Targets found in images: which spot is which dot, or why that is not determined."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.boards import Chessboard
from gough.vision.chessboards import find_chessboard
from gough.vision.circle_grids import find_circles
from gough.vision.homographies import homography, mapped, weights
from gough.vision.lens import Camera
from gough.vision.markers import find_charuco, find_markers
from gough.vision.refusals import too_few, why_no_board, why_no_dots
from gough.vision.sightings import ImageRefused, Numbers, Sighting
from gough.vision.spots import Image, Spots, find_spots, median
from gough.vision.targets import SHORT, AnyTarget, CharucoBoard, CircleGrid, DotTarget

_FEWEST = 12
"""A sighting of fewer dots is refused: 8 of them fix the homography, the others confirm it."""
_SHARE = 0.6
"""Share of the dots expected in the image that must be seen."""
_PAIRS = 12
_BENDS = (0.0, 0.06, 0.13, 0.22, -0.06, 0.35, -0.15)
"""Distortion of a camera that is not known, tried one after the other: relative to the image's half diagonal."""
_SATURATED = 0.25
_BLURRED = 0.45
"""Width of the edges beside the radius of the dots: beyond, neighbors shine into each other, and σ is not honest."""


def find_target(
    image: Any, target: AnyTarget, camera: Camera | None = None, *, response: float | None = None
) -> Sighting:
    """The points of the target that an image (gray or color, 8 or 16 bits) shows, each with its number.

    Without a camera the lens is taken to be an ordinary one: good enough to say which dot is which. Levels are
    proportional to light^(1/response), by default with the response of the camera; the centroids of dots are those of
    light.

    Raises:
        ImageRefused: the target is not there, not whole enough, there twice, or over-exposed.

    Examples:
        >>> from gough.vision import design_target, render
        >>> camera, target = Camera((320, 240), [300.0, 300.0], [159.5, 119.5]), design_target(0.2, 0.2)
        >>> picture = render(camera, target, np.diag([1.0, -1.0, -1.0]), [0.0, 0.0, 0.3])
        >>> seen = find_target(picture.image, target, camera)
        >>> len(seen), bool(abs(seen.pixels - picture.centroids[seen.which]).max() < 0.02)
        (45, True)
    """
    gray = as_gray(image)
    if response is None:
        response = 1.0 if camera is None else camera.response
    if camera is not None and gray.shape != camera.size[::-1]:
        width, height = camera.size
        raise ImageRefused(
            f"it has {gray.shape[1]} × {gray.shape[0]} pixels, but the camera {width} × {height}: not this camera's"
        )
    if isinstance(target, DotTarget):
        return _find_dots(gray, target, camera, response)
    try:
        return _find_board(gray, target, response)
    except ImageRefused as refused:
        raise why_no_board(gray, target, refused) from refused


def _find_board(gray: Image, target: AnyTarget, response: float) -> Sighting:
    if isinstance(target, CircleGrid):
        return find_circles(gray, target, response)
    if isinstance(target, Chessboard):
        return find_chessboard(gray, target)
    if isinstance(target, CharucoBoard):
        return find_charuco(gray, target)
    assert not isinstance(target, DotTarget)
    return find_markers(gray, target)


def as_gray(image: Any) -> Image:
    """A gray image of uint8 or uint16; colors (in OpenCV's order) are weighted as the eye does."""
    values = np.asarray(image)
    if values.dtype not in (np.uint8, np.uint16):
        raise ImageRefused(f"its pixels are {values.dtype}: images have 8 or 16 bits")
    if values.ndim == 3 and values.shape[2] in (1, 3, 4):
        if values.shape[2] == 1:
            return values[:, :, 0]
        weighted = values[:, :, :3].astype(np.float32) @ np.array([0.114, 0.587, 0.299], np.float32)
        return np.rint(weighted).astype(values.dtype)
    if values.ndim != 2 or min(values.shape) < 32:
        raise ImageRefused(f"its shape is {values.shape}: an image has rows and columns, at least 32 of them")
    return values


def _find_dots(gray: Image, target: DotTarget, camera: Camera | None, response: float) -> Sighting:
    spots = find_spots(gray, bright=target.bright, response=response)
    best = _numbered(spots.center, gray.shape, target, camera)
    if best is None:

        def identify(centers: Array, shape: tuple[int, ...]) -> bool:
            found = _numbered(centers, shape, target, None)
            return found is not None and len(found[0]) >= _SHARE * len(target.points)

        raise why_no_dots(gray, spots, target, identify)
    which, rows = best
    seen = spots.select(rows)
    sighting = Sighting(which, seen.center, seen.sigma, seen, median(seen.edge))
    _require_enough(sighting, seen, target, gray.shape)
    return sighting


def _numbered(
    centers: Array, shape: tuple[int, ...], target: DotTarget, camera: Camera | None
) -> tuple[Numbers, Numbers] | None:
    """Numbers of dots and of their spots; None where the target is not among the spots."""
    if len(centers) < _FEWEST:
        return None
    flat = _flattened(centers, shape, camera)
    best: tuple[Numbers, Numbers] | None = None
    for ideal in flat:
        dots = _identified(ideal, target, tolerance=0.75 if camera is not None else 2.0)
        if dots is not None and (best is None or len(dots[0]) > len(best[0])):
            best = dots
            if camera is not None or len(dots[0]) >= 0.9 * len(target.points):
                rest = np.delete(np.arange(len(centers)), dots[1])
                again = _identified(ideal[rest], target, tolerance=0.75) if len(rest) >= _FEWEST else None
                if again is not None:
                    raise ImageRefused(
                        "the target is in the image twice: cover one of them, or a mirror's image", cause="twice"
                    )
                break
    return best


def _require_enough(sighting: Sighting, seen: Spots, target: DotTarget, shape: tuple[int, ...]) -> None:
    bright = float(np.mean(seen.saturated > 0.5))
    if bright > _SATURATED:
        raise ImageRefused(
            f"over-exposed: {100 * bright:.0f} % of the dots are saturated; shorten the exposure", cause="over-exposed"
        )
    radius = 2 * (seen.axes[:, 0] * seen.axes[:, 2] - seen.axes[:, 1] ** 2) ** 0.25
    if median(seen.edge / radius) > _BLURRED:
        raise ImageRefused(
            "out of focus, or too far away: the edges of the dots are almost as wide as the dots; focus, come nearer",
            cause="blurred",
        )
    if len(sighting) < max(_FEWEST, _SHARE * len(target.points)):
        raise too_few(sighting, target, shape)


def _flattened(pixels: Array, shape: tuple[int, ...], camera: Camera | None) -> list[Array]:
    """Pixels without distortion; several guesses where the camera is not known."""
    if camera is not None:
        ideal = camera.rays(pixels) * camera.focal + camera.center
        return [np.where(np.isfinite(ideal), ideal, -1e6)]
    middle = np.array([shape[1] - 1, shape[0] - 1]) / 2
    out = pixels - middle
    square = (out**2).sum(axis=1, keepdims=True) / (middle @ middle)
    return [middle + out * (1 + bend * square) for bend in _BENDS]


def _identified(ideal: Array, target: DotTarget, tolerance: float) -> tuple[Numbers, Numbers] | None:
    """Numbers of the target's dots and of the spots that are they; None where there is no consistent reading."""
    from gough.vision.alignments import alignments  # noqa: PLC0415 - numba

    axes = [np.linalg.norm(dots - dots[0], axis=1) for dots in (target.long, target.short)]
    lines = alignments(np.ascontiguousarray(ideal), tolerance, *axes)
    order = np.lexsort((lines[:, 2], -lines[:, 1]))
    lines = lines[order]
    long, short = lines[lines[:, 0] == 0][:_PAIRS], lines[lines[:, 0] == 1][:_PAIRS]
    merit = (long[:, 1] - 0.5 * long[:, 2])[:, None] + (short[:, 1] - 0.5 * short[:, 2])
    pairs = np.column_stack(np.unravel_index(np.argsort(-merit, axis=None)[:_PAIRS], merit.shape)).tolist()
    best: tuple[Numbers, Numbers] | None = None
    for i, j in pairs:
        confirmed = _confirmed(ideal, target, long[i, 3:], short[j, 3 : 3 + SHORT], tolerance)
        if confirmed is not None and (best is None or len(confirmed[0]) > len(best[0])):
            best = confirmed
            if len(confirmed[0]) >= 0.8 * len(target.points):
                break
    return best


def _confirmed(
    ideal: Array, target: DotTarget, long: Array, short: Array, tolerance: float
) -> tuple[Numbers, Numbers] | None:
    """All dots that agree with a reading of both diagonals; None where too few do, or the view is of the back."""
    rows = np.concatenate([long, short]).astype(np.int64)
    which = np.flatnonzero(rows >= 0)
    rows = rows[which]
    if len(set(rows.tolist())) < len(rows):
        return None
    plane = target.points[:, :2] / np.abs(target.points[:, :2]).max()
    middle, scale = ideal[rows].mean(axis=0), np.abs(ideal[rows] - ideal[rows].mean(axis=0)).max()
    reduced = (ideal - middle) / scale
    within = 4 * tolerance
    for _ in range(2):
        H = homography(plane[which], reduced[rows])
        expected = mapped(H, plane) * scale + middle
        gaps = np.linalg.norm(expected[:, None] - ideal[None], axis=2)
        nearest = gaps.argmin(axis=1)
        near = gaps[np.arange(len(plane)), nearest] < within
        which, rows = np.flatnonzero(near), nearest[near].astype(np.int64)
        if len(which) < _FEWEST or len(np.unique(rows)) < len(rows):
            return None
        within = 2 * tolerance
    seen_from_behind = np.linalg.det(H) * np.sign(weights(H, plane).mean()) > 0  # v points down, y up
    return None if seen_from_behind else (which, rows)


__all__ = ["ImageRefused", "Sighting", "as_gray", "find_target", "homography"]
