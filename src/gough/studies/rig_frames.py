"""Images of several cameras matched to frames: one folder for each camera, one name or one row of a table per frame."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gough.core.errors import InputError, require
from gough.core.text import listed, visible
from gough.data.sources import split_head
from gough.studies.image_table import IMAGE, ImageTable, column_named, read_table, rows_of, table_of
from gough.vision.images import SUFFIXES, VIDEOS

_EDGE = re.compile(r"^[\s._-]+|[\s._-]+$")


@dataclass(frozen=True)
class Frames:
    """Images that were taken at the same time."""

    names: tuple[str, ...]
    images: tuple[Mapping[str, Path], ...]
    """For each frame: the image of each camera that took one, by the camera's name."""
    table: ImageTable
    """Configuration, run and readings of the frames."""


def read_frames(
    folder: Path, cameras: Sequence[str], table: Path | None = None, readings: Sequence[str] = ()
) -> Frames:
    """Match the images in folder/camera of all cameras.

    Images with the same name are one frame; the name of the camera in it does not count (left-007.png, right-007.png).
    Where the table has a column for each camera, these columns name the images of each frame instead.

    Raises:
        InputError: a folder is missing or empty, names do not match, or the table names images that are not there.
    """
    files = {camera: _images(folder, camera, cameras) for camera in cameras}
    stated = None if table is None else _stated(table, files)
    if stated is None:
        names, images = _by_name(files)
    else:
        names, images = stated
    known = table_of(names) if table is None else read_table(table, names, readings)
    return Frames(tuple(names), tuple(images), known)


def _images(folder: Path, camera: str, cameras: Sequence[str]) -> list[Path]:
    require(folder.is_dir(), f"there is no folder {folder}: it has one folder of images for each camera")
    place = folder / camera
    if not place.is_dir():
        there = sorted(visible(each.name) for each in folder.iterdir() if each.is_dir())
        has = f"it has {listed(there)}" if there else "it has no folders"
        raise InputError(
            f"there is no folder {place} with the images of camera {camera}: {has}. Name the folders after the "
            f"cameras ({', '.join(cameras)}), or the cameras after the folders: --camera NAME=FILE"
        )
    films = [each.name for each in place.iterdir() if each.suffix.lower() in VIDEOS]
    require(not films, f"{place} has videos ({', '.join(films[:3])}): frames of several cameras must be single images")
    found = sorted(each for each in place.iterdir() if each.suffix.lower() in SUFFIXES)
    require(len(found) > 0, f"there is no image in {place} (known: {', '.join(SUFFIXES)})")
    return found


def _by_name(files: Mapping[str, Sequence[Path]]) -> tuple[list[str], list[Mapping[str, Path]]]:
    frames: dict[str, dict[str, Path]] = {}
    for camera, images in files.items():
        for image in images:
            key = _EDGE.sub("", image.stem.replace(camera, "")) or image.stem
            own = frames.setdefault(key, {})
            other = own.get(camera, image)
            require(other == image, f"{other} and {image} would be the same frame '{key}': keep one of them")
            own[camera] = image
    if len(files) > 1 and all(len(own) == 1 for own in frames.values()):
        examples = ", ".join(f"{images[0].parent.name}/{images[0].name}" for images in files.values())
        raise InputError(
            f"no two images have the same name, so that no frame has two cameras: {examples}. Name images of one frame "
            f"alike, or state them with --table: a column 'frame', and columns {', '.join(files)} with their images"
        )
    keys = sorted(frames)
    names = []
    for key in keys:
        called = {visible(image.name) for image in frames[key].values()}
        names.append(called.pop() if len(called) == 1 else visible(key))
    return (names if len(set(names)) == len(names) else keys), [frames[key] for key in keys]


def _stated(table: Path, files: Mapping[str, Sequence[Path]]) -> tuple[list[str], list[Mapping[str, Path]]] | None:
    """Frames by the table's columns for the cameras; None where it has none of them."""
    heads, rows = rows_of(table)
    named = [split_head(head)[0] for head in heads]
    columns = {camera: named.index(camera) for camera in files if camera in named}
    if not columns:
        return None
    missing = [camera for camera in files if camera not in columns]
    require(not missing, f"{table} has columns for some cameras, but none for {listed(missing)}")
    frame = column_named(named, IMAGE)
    require(frame is not None, f"{table} has no column 'frame', which names the frames")
    assert frame is not None
    there = {camera: {image.name: image for image in images} for camera, images in files.items()}
    names: list[str] = []
    frames: list[Mapping[str, Path]] = []
    used: dict[Path, int] = {}
    for line, row in rows:
        own = {}
        for camera, at in columns.items():
            if not row[at]:
                continue
            image = there[camera].get(row[at])
            if image is None:
                raise InputError(f"{table}, line {line}, column '{camera}': there is no image {row[at]} of this camera")
            require(image not in used, f"{table}, line {line}: {image} is in line {used.get(image)} too")
            used[image] = line
            own[camera] = image
        names.append(row[named.index(frame)])
        frames.append(own)
    return names, frames
