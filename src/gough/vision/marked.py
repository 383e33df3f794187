"""Frames with marks for a person who holds the target."""

from typing import Any

import numpy as np

from gough.vision.opencv import opencv
from gough.vision.sightings import Sighting
from gough.vision.spots import Image

_GREEN, _ORANGE = (60, 200, 60), (0, 140, 255)
_WIDEST = 1280


def marked(image: Image, seen: Sighting | None, outline: Any) -> bytes:
    """A frame as JPEG, with crosses on the points that are seen and the outline (4, 2) of the next view.

    Examples:
        >>> marked(np.zeros((48, 64), np.uint8), None, None)[:2] == bytes([255, 216])
        True
    """
    cv = opencv()
    levels = image if image.dtype == np.uint8 else (image >> 8).astype(np.uint8)
    picture = cv.cvtColor(levels, cv.COLOR_GRAY2BGR) if levels.ndim == 2 else levels[:, :, :3].copy()
    scale = min(1.0, _WIDEST / picture.shape[1])
    if scale < 1:
        picture = cv.resize(picture, None, fx=scale, fy=scale, interpolation=cv.INTER_AREA)
    thick = max(1, round(picture.shape[1] / 500))
    if seen is not None:
        for u, v in (seen.pixels * scale).tolist():
            cv.drawMarker(picture, (round(u), round(v)), _GREEN, cv.MARKER_CROSS, 8 * thick, thick)
    if outline is not None and np.isfinite(outline).all():
        corners = np.rint(np.asarray(outline) * scale).astype(np.int32)
        cv.polylines(picture, [corners], True, _ORANGE, 2 * thick)  # noqa: FBT003 - OpenCV's signature
        for corner in corners[:2].tolist():
            cv.circle(picture, corner, 4 * thick, _ORANGE, -1)
    return bytes(cv.imencode(".jpg", picture)[1])
