"""OpenCV, loaded where it is used: it is an extra."""

import os
from typing import Any

from gough.core.errors import InputError

MOST_PIXELS = 1 << 27
"""No camera has more; OpenCV refuses files that claim more before it allocates them."""


def opencv() -> Any:
    """The module cv2.

    Raises:
        InputError: it is not installed; the message names the extra.
    """
    os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(MOST_PIXELS))  # read when cv2 is loaded
    try:
        import cv2  # noqa: PLC0415 - an extra, and start-up time
    except ImportError as error:
        raise InputError("images are read with OpenCV, which is not installed: pip install gough[vision]") from error
    return cv2
