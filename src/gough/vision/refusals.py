"""Why a target is not found in an image: each cause is tried, and the message names the one that applies."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.vision.board_corners import as_bytes
from gough.vision.chessboards import seen_squares
from gough.vision.homographies import PlaneMap
from gough.vision.markers import seen_markers
from gough.vision.opencv import opencv
from gough.vision.sightings import ImageRefused, Sighting
from gough.vision.spots import Image, Spots, find_spots
from gough.vision.targets import AnyTarget, DotTarget
from gough.vision.tiny_spots import tiny_spots

_FLAT = 6
"""Levels of 256 between dark and bright below which there is no contrast."""
_DARK = 0.16
"""Part of the range of levels below which the brightest parts of an image are dark."""
_CLIPPED = 0.6
"""Share of the bright parts of an image that are saturated, beyond which it is over-exposed."""
_WIDE, _SOFT = 0.2, 1.5
"""Width of the edges of dots beside their radius, and in pixels, beyond which they are out of focus; where blurred
dots are near to each other, their windows end before their edges do."""
_BRIGHTEST = 40
"""Pixels that are at least as bright as what is called the brightest parts of an image."""
_LARGER, _SMALLER = 3.0, (0.5, 0.25)
_TINY = 5
"""Factor by which places of tiny spots are enlarged: their errors of some 0.2 pixels are then those of other spots."""
_LEAST_RADIUS, _LARGE = 3.2, 5.0
"""Radii of dots, pixels: below the first they are too far away, beyond the second they are not."""
_SIMILAR = 1.5
_DOTS = 13
_FEWEST_TINY = 0.7
_BORDER = 1.6
"""Distances between neighbors: a target whose outermost dots are nearer to the image's edge goes on beyond it."""

_CLEAR = 6.0
"""Standard deviations of noise by which the level of a dot stands out; single bright pixels of an even wall do not."""

Identify = Callable[[Array, tuple[int, ...]], bool]
"""Whether the target is found among centers of spots (n, 2) in an image of this shape."""


def top_level(gray: Image) -> int:
    """The largest level of an image's pixels; cameras put 12 bits into 16."""
    bits = 8 if gray.dtype == np.uint8 else max(8, int(gray.max()).bit_length())
    return (1 << bits) - 1


def exposure_fault(gray: Image, target: AnyTarget) -> ImageRefused | None:
    """Whether an image is over-exposed, too dark, or without contrast."""
    low = int(np.percentile(gray[::2, ::2], 0.5))
    high = int(np.partition(gray, -_BRIGHTEST, axis=None)[-_BRIGHTEST])  # dots far away are a small part of an image
    top = top_level(gray) if gray.dtype == np.uint8 else max(top_level(gray), 4095)
    burnt = float((gray >= top).mean())
    lit = float((gray > low + 0.5 * (top - low)).mean())
    clipped = target.bright and burnt > max(_CLIPPED * lit, _BRIGHTEST / gray.size)
    if low > 0.9 * top or (target.bright and burnt > 0.3) or burnt > 0.7 or clipped:
        return ImageRefused(
            f"over-exposed: {'its bright parts are' if clipped else 'most of it is'} as bright as a pixel can be "
            f"({top}); shorten the exposure, or close the aperture",
            cause="over-exposed",
        )
    if high < _DARK * top:
        return ImageRefused(
            f"too dark: its brightest parts have level {high} of {top}; light the target, or lengthen the exposure",
            cause="too dark",
        )
    if high - low < _FLAT * (top + 1) // 256:
        return ImageRefused(
            f"there is no contrast in it: levels {low} to {high} of {top}; is the lens covered?", cause="no contrast"
        )
    return None


def why_no_dots(gray: Image, spots: Spots, target: DotTarget, identify: Identify) -> ImageRefused:
    """Why the dots of a target are not found."""
    faults = _dot_faults(gray, spots, target, identify)
    return exposure_fault(gray, target) or next(fault for fault in faults if fault is not None)


def _dot_faults(gray: Image, spots: Spots, target: DotTarget, identify: Identify) -> Iterator[ImageRefused | None]:
    cv, n, colors = opencv(), len(target.points), ("black", "white")

    def seen_in(image: Image, bright: bool) -> bool:  # noqa: FBT001
        return identify(find_spots(image, bright=bright).center, image.shape)

    if seen_in(np.ascontiguousarray(gray[:, ::-1]), target.bright):
        yield ImageRefused(
            "the target is seen as in a mirror: do not flip images, and photograph it directly", cause="mirrored"
        )
    if seen_in(gray, not target.bright):
        seen, stated = (colors[bright] for bright in (not target.bright, target.bright))
        yield ImageRefused(
            f"the target has {seen} dots, but its file says {stated} ones: change the value of bright there",
            cause="another target",
        )
    alike = _alike(spots)
    yield _spoilt(alike)
    larger = cv.resize(gray, None, fx=_LARGER, fy=_LARGER, interpolation=cv.INTER_CUBIC)
    far = ImageRefused(
        "too far away: its dots are smaller than 5 pixels; come nearer, or take a longer lens", cause="too far"
    )
    large = len(alike) >= _DOTS and float(np.median(_radius(alike))) > _LARGE
    if not large and (_is_tiny(gray, target, identify) or seen_in(larger, target.bright)):
        yield far
    smaller = (cv.resize(gray, None, fx=part, fy=part, interpolation=cv.INTER_AREA) for part in _SMALLER)
    if any(seen_in(image, target.bright) for image in smaller):
        yield ImageRefused(
            "out of focus or moved: the edges of its dots are wide; focus, and hold it still", cause="blurred"
        )
    if len(alike) >= _DOTS and float(np.median(_radius(alike))) < _LEAST_RADIUS:
        yield ImageRefused(
            f"too far away: {len(alike)} dots of {np.median(_radius(alike)):.1f} pixels radius; come nearer, or take a "
            "longer lens",
            cause="too far",
        )
    yield _other_board(gray)
    if _DOTS <= len(alike) < 0.9 * n and _at_border(alike.center, gray.shape):
        yield ImageRefused(
            f"partly outside the image: {len(alike)} of its {n} dots are seen, up to the edge of the image; move the "
            "target to the middle, or go back",
            cause="partly outside",
        )
    if _are_tiny(larger, target):
        yield far
    if len(alike) >= _DOTS:
        yield ImageRefused(
            f"{len(alike)} dots, but the target's diagonals are not among them: it is another target (compare the id "
            "printed on the sheet with the one in its file), or too many dots are hidden",
            cause="another target",
        )
    yield ImageRefused(f"the target is not in it: only {len(spots)} spots look like dots", cause="absent")


def _is_tiny(gray: Image, target: DotTarget, identify: Identify) -> bool:
    """Whether the target is found among spots that are too small to be measured."""
    tiny = tiny_spots(gray, bright=target.bright)
    return identify(tiny * _TINY, (gray.shape[0] * _TINY, gray.shape[1] * _TINY))


def _spoilt(alike: Spots) -> ImageRefused | None:
    """Whether dots of one size are seen that are saturated, or that have wide edges."""
    if len(alike) < _DOTS:
        return None
    if float(np.mean(alike.saturated > 0.5)) > 0.5:
        return ImageRefused(
            "over-exposed: the dots in it are as bright as a pixel can be; shorten the exposure", cause="over-exposed"
        )
    radius = _radius(alike)
    wide = float(np.median(alike.edge / radius)) > _WIDE and float(np.median(alike.edge)) > _SOFT
    if float(np.median(radius)) > _LEAST_RADIUS and wide:
        return ImageRefused(
            "out of focus or moved: the edges of the dots in it are wide; focus, and hold it still",
            cause="blurred",
        )
    return None


def _other_board(gray: Image) -> ImageRefused | None:
    image = as_bytes(gray)
    kind, count = seen_markers(image)
    if count:
        return ImageRefused(
            f"{count} markers of dictionary {kind} are seen, but the file describes dots", cause="another target"
        )
    columns, rows = seen_squares(image)
    if columns:
        return ImageRefused(
            f"a chessboard of {columns} × {rows} squares is seen, but the file describes dots", cause="another target"
        )
    return None


def _radius(spots: Spots) -> Array:
    return np.asarray(2 * (spots.axes[:, 0] * spots.axes[:, 2] - spots.axes[:, 1] ** 2).clip(1e-9) ** 0.25)


def _alike(spots: Spots) -> Spots:
    """Spots of similar size and level that stand out of the noise: dots of one target."""
    spots = spots.select(spots.peak > _CLEAR * np.maximum(spots.noise, 0.5))
    if not len(spots):
        return spots
    good = np.ones(len(spots), bool)
    for values in (_radius(spots), spots.peak):
        ratio = values / max(float(np.median(values)), 1e-9)
        good &= (ratio < _SIMILAR) & (ratio > 1 / _SIMILAR)
    return spots.select(good)


def _are_tiny(larger: Image, target: DotTarget) -> bool:
    """Whether an enlarged image has about as many dots as the target, too small to be identified."""
    alike = _alike(find_spots(larger, bright=target.bright))
    n = len(target.points)
    if not len(alike) or float(np.median(_radius(alike))) > _LEAST_RADIUS * _LARGER:
        return False
    ends = np.percentile(larger, 50), float(np.sort(larger, axis=None)[-_BRIGHTEST if target.bright else _BRIGHTEST])
    if float(np.median(alike.peak)) < 0.4 * abs(ends[1] - ends[0]):  # noise and texture are fainter than what is seen
        return False
    return _FEWEST_TINY * n < len(alike) < n / _FEWEST_TINY


def _at_border(centers: Array, shape: tuple[int, ...]) -> bool:
    """Whether dots go on to an edge of the image, as far as they are apart from each other."""
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2) + np.diag(np.full(len(centers), np.inf))
    near = _BORDER * float(np.median(gaps.min(axis=1)))
    u, v = centers.T
    return bool(min(u.min(), v.min(), shape[1] - 1 - u.max(), shape[0] - 1 - v.max()) < near)


def too_few(seen: Sighting, target: DotTarget, shape: tuple[int, ...]) -> ImageRefused:
    """Why only some of the dots that were identified are seen: outside the image, or hidden."""
    n = len(target.points)
    places = PlaneMap(target.points[seen.which, :2], seen.pixels, (np.array(shape[::-1]) - 1) / 2)(target.points[:, :2])
    missing = np.setdiff1d(np.arange(n), seen.which)
    u, v = places[missing].T
    edge = float(np.median(_radius(seen.spots))) + 4 if seen.spots is not None else 4.0
    beyond = {
        "left": u < edge,
        "right": u > shape[1] - 1 - edge,
        "upper": v < edge,
        "lower": v > shape[0] - 1 - edge,
    }
    outside = np.any(list(beyond.values()), axis=0)
    if outside.sum() > 0.5 * len(missing):
        side = max(beyond, key=lambda name: int(beyond[name].sum()))
        return ImageRefused(
            f"partly outside the image: {int(outside.sum())} of its {n} dots are beyond the {side} edge; move the "
            "target to the middle, or go back",
            cause="partly outside",
        )
    return ImageRefused(
        f"only {len(seen)} of {n} dots are seen: something hides the others, or light or shadow; clear the view",
        cause="hidden",
    )


def why_no_board(gray: Image, board: Any, refused: ImageRefused) -> ImageRefused:
    """The refusal of a board, or the fault of the exposure that caused it."""
    return exposure_fault(gray, board) or refused
