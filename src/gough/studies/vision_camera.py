"""A camera calibrated from image files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gough.core.errors import InputError
from gough.core.threads import one_blas_thread
from gough.report.base.drawing import Drawing
from gough.report.vision import camera_documents, overlay
from gough.vision import CalibratedCamera, ImageRefused, Sighting, calibrate_camera, find_target, read_image
from gough.vision.images import common_names
from gough.vision.target_files import AnyTarget

_PICTURES = 3


@dataclass(frozen=True)
class CameraStudy:
    """A calibrated camera, and the files that say so."""

    calibrated: CalibratedCamera
    files: Mapping[str, bytes]


@one_blas_thread()
def calibrate_from(
    files: Sequence[Path],
    target: AnyTarget,
    *,
    terms: Sequence[str] = ("k1", "k2", "p1", "p2"),
    release: bool = True,
    on_image: Callable[[int], None] = lambda _: None,
) -> CameraStudy:
    """Find the target in each image, calibrate, and report; images that cannot be used are listed with the reason."""
    names, sightings, rejected = [], [], []
    pictures: list[Drawing] = []
    size: tuple[int, int] | None = None
    for done, (file, name) in enumerate(zip(files, common_names(files), strict=True), start=1):
        try:
            image = read_image(file)
            size = size or (image.shape[1], image.shape[0])
            _require_size(image.shape, size)
            seen = find_target(image, target)
        except ImageRefused as refused:
            rejected.append((name, str(refused)))
        else:
            names.append(name)
            sightings.append(seen)
            if len(pictures) < _PICTURES:
                pictures.append(overlay(image, seen, f"overlay-{len(pictures) + 1}"))
        on_image(done)
    return _calibrated(sightings, names, rejected, pictures, target, size, terms, release=release)


def _require_size(shape: tuple[int, ...], size: tuple[int, int]) -> None:
    if (shape[1], shape[0]) != size:
        raise ImageRefused(f"it has {shape[1]} × {shape[0]} pixels, but the first one {size[0]} × {size[1]}")


def _calibrated(  # noqa: PLR0917 - what the images gave
    sightings: list[Sighting],
    names: list[str],
    rejected: list[tuple[str, str]],
    pictures: list[Drawing],
    target: AnyTarget,
    size: tuple[int, int] | None,
    terms: Sequence[str],
    *,
    release: bool,
) -> CameraStudy:
    try:
        found = calibrate_camera(sightings, target, size or (1, 1), names=names, estimated=terms, release=release)
    except InputError as error:
        reasons = "".join(f"\n{name}: {why}" for name, why in rejected)
        raise InputError(f"{error}{reasons}") from error
    found = replace(found, rejected=(*rejected, *found.rejected))
    return CameraStudy(found, camera_documents(found, pictures))
