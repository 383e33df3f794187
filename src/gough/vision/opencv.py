"""OpenCV, loaded where it is used: it is an extra."""

from typing import Any

from gough.core.errors import InputError


def opencv() -> Any:
    """The module cv2.

    Raises:
        InputError: it is not installed; the message says how to.
    """
    try:
        import cv2  # noqa: PLC0415 - an extra, and start-up time
    except ImportError as error:
        raise InputError("images are read with OpenCV, which is not installed: pip install gough[vision]") from error
    return cv2
