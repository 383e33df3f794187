"""Frames of cameras, videos and growing folders; and the stills of a video that are worth measuring."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from gough.core.errors import InputError
from gough.core.png import png_file
from gough.vision.images import SUFFIXES, VIDEOS, read_image
from gough.vision.opencv import opencv
from gough.vision.sightings import ImageRefused
from gough.vision.spots import Image

_WIDE = 160
"""Width of the small copies by which frames are compared, pixels."""
_NEW = 4.0
"""Mean difference of the levels of two frames, of 256, beyond which they show different poses."""
_MOST = 200
"""Stills of one video."""
_POLL = 0.2


@dataclass(frozen=True)
class Frame:
    """One image of a sequence."""

    name: str
    image: Image
    still: bool
    """Whether it was taken as a photograph, so that motion between frames says nothing."""


def frames(
    source: str, *, seconds: float | None = None, is_done: Callable[[], bool] = lambda: False
) -> Iterator[Frame]:
    """Frames of a camera by its number, of a video file or stream, or of a folder to which images are added.

    Args:
        source: "0" for the first camera, a video file, an address such as rtsp://…, or a folder.
        seconds: How long to wait for new images or frames; None: without end.
        is_done: Asked before each frame.

    Raises:
        InputError: the source cannot be opened.
    """
    end = np.inf if seconds is None else monotonic() + seconds
    place = Path(source)
    if place.is_dir():
        yield from _folder(place, end, is_done)
        return
    cv = opencv()
    capture = cv.VideoCapture(int(source) if source.isdigit() else source)
    if not capture.isOpened():
        what = f"camera {source}" if source.isdigit() else source
        raise InputError(
            f"{what} cannot be opened: give the number of a connected camera (0 for the first), a video, or a folder"
        )
    number = 0
    try:
        while not is_done() and monotonic() < end:
            good, image = capture.read()
            if not good:
                return
            yield Frame(f"frame {number}", np.asarray(image), still=False)
            number += 1
    finally:
        capture.release()


def _folder(folder: Path, end: float, is_done: Callable[[], bool]) -> Iterator[Frame]:
    """Images of a folder as they appear; one that cannot be read yet is tried again."""
    done: set[str] = set()
    while True:
        waiting = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and p.name not in done)
        for path in waiting:
            if is_done():
                return
            try:
                image = read_image(path)
            except ImageRefused:  # perhaps still being written
                continue
            done.add(path.name)
            yield Frame(path.name, image, still=True)
        if is_done() or monotonic() >= end:
            return
        sleep(_POLL)


def stills(path: Path) -> list[tuple[int, Image]]:
    """The sharpest frame of each scene of a video, with its number: a scene ends where the picture has changed.

    Raises:
        InputError: the file is no video, or has no frame.
    """
    cv = opencv()
    capture = cv.VideoCapture(str(path))
    chosen: list[tuple[int, Image]] = []
    best: tuple[float, int, Image] | None = None
    reference: Any = None
    number = 0
    try:
        while len(chosen) < _MOST:
            good, image = capture.read()
            if not good:
                break
            gray = cv.cvtColor(image, cv.COLOR_BGR2GRAY) if image.ndim == 3 else image
            small = cv.resize(
                gray, (_WIDE, max(1, _WIDE * gray.shape[0] // gray.shape[1])), interpolation=cv.INTER_AREA
            )
            if reference is None or float(cv.absdiff(small, reference).mean()) > _NEW:
                chosen += [] if best is None else [best[1:]]
                best, reference = None, small
            sharpness = float(cv.Laplacian(gray, cv.CV_32F).var())
            if best is None or sharpness > best[0]:
                best = sharpness, number, np.asarray(gray)
            number += 1
    finally:
        capture.release()
    chosen += [] if best is None else [best[1:]]
    if not chosen:
        raise InputError(f"{path} is no video that OpenCV can read, or it has no frame")
    return chosen


def with_stills(files: Sequence[Path], folder: Path) -> list[Path]:
    """The files, with the stills of videos among them written to a folder and named after video and frame."""
    out: list[Path] = []
    for file in files:
        if file.suffix.lower() not in VIDEOS:
            out.append(file)
            continue
        for number, image in stills(file):
            still = folder / f"{file.stem}-f{number:05d}.png"
            still.write_bytes(png_file(image))
            out.append(still)
    return out
