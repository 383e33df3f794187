"""Image files: read, or refused with a reason."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from gough.core.errors import InputError, require
from gough.core.text import visible
from gough.vision.detector import ImageRefused
from gough.vision.opencv import MOST_PIXELS, opencv
from gough.vision.spots import Image

_INFLATED = 8 * 1032
"""Pixels that a byte of a PNG file can stand for: of one bit, deflated at most 1032 times."""
VIDEOS = (".mp4", ".avi", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg")
SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".pgm", ".webp")


def read_image(path: str | Path) -> Image:
    """The pixels of an image file: gray (h, w) or color (h, w, 3), 8 or 16 bits.

    Raises:
        ImageRefused: the file cannot be read, is cut off, or is no image.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from gough.vision import design_target, to_png
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.png").write_bytes(to_png(design_target(0.1, 0.1), dpi=60))
        ...     read_image(Path(folder, "a.png")).shape
        (702, 496)
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ImageRefused(f"it cannot be read: {error.strerror}") from error
    if not content:
        raise ImageRefused("the file is empty")
    png, jpeg = content.startswith(b"\x89PNG"), content.startswith(b"\xff\xd8")
    if (png and not _has_whole_chunks(content)) or (jpeg and b"\xff\xd9" not in content[-64:]):
        raise ImageRefused("the file is cut off: it ends in the middle of the image")
    cv = opencv()
    pixels = int.from_bytes(content[16:20]) * int.from_bytes(content[20:24])
    if png and pixels > min(MOST_PIXELS, _INFLATED * len(content)):
        raise ImageRefused("it claims more pixels than any camera has: it is damaged")
    try:
        image = cv.imdecode(np.frombuffer(content, np.uint8), cv.IMREAD_UNCHANGED)
    except cv.error as error:  # such as a size beyond what OpenCV allows
        raise ImageRefused(f"OpenCV cannot read it: {' '.join(str(error).split())[:120]}") from error
    if image is None:
        raise ImageRefused("it is no image that OpenCV can read")
    return np.asarray(image)


def _has_whole_chunks(png: bytes) -> bool:
    """Whether every part of a PNG file ends inside it, up to the last one: OpenCV would allocate what a part claims."""
    at = 8
    while at + 12 <= len(png):
        kind, after = png[at + 4 : at + 8], at + 12 + int.from_bytes(png[at : at + 4])
        if kind == b"IEND":
            return after <= len(png)
        at = after
    return False


def image_files(places: Iterable[str | Path]) -> list[Path]:
    """The image and video files at the given places, folders searched, in order of their names.

    Raises:
        InputError: a place does not exist, or there is no image in any of them.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     for name in ("b.png", "a.jpg", "notes.txt"):
        ...         _ = Path(folder, name).write_text("")
        ...     [file.name for file in image_files([folder])]
        ['a.jpg', 'b.png']
    """
    files: list[Path] = []
    for place in map(Path, places):
        require(place.exists(), f"there is no file or folder {place}")
        known = (*SUFFIXES, *VIDEOS)
        inside = sorted(p for p in place.rglob("*") if p.suffix.lower() in known) if place.is_dir() else [place]
        files += inside
    if not files:
        raise InputError(f"there is no image in {', '.join(map(str, places))} (known: {', '.join(SUFFIXES)})")
    return files


def common_names(files: Sequence[Path]) -> list[str]:
    """Names of files as short as they can be and still differ: without the folders that all of them share."""
    names = [visible(file.name) for file in files]
    return names if len(set(names)) == len(names) else [visible(str(file)) for file in files]
