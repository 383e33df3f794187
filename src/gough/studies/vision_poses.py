"""Poses measured from image files, with what is known of each image: its configuration, its run, the readings."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.data import Poses, averaged
from gough.data.poses import Repeatability
from gough.report.vision import pose_documents
from gough.vision import Camera, MeasuredImages, measure_images
from gough.vision.images import common_names
from gough.vision.target_files import AnyTarget

_NAMED = {"configuration": re.compile(r"(?:^|[^a-z])c(?:onfig(?:uration)?)?[-_]?(\d+)", re.IGNORECASE)}
_NAMED["run"] = re.compile(r"(?:^|[^a-z])r(?:un)?[-_]?(\d+)", re.IGNORECASE)
_READING = re.compile(r"^l(\d+)(?:\s*\[.*\])?$")

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ImageTable:
    """What is known of images besides their pixels."""

    configuration: Mapping[str, int]
    run: Mapping[str, int]
    readings: Mapping[str, tuple[float, ...]]

    def of(self, names: Sequence[str]) -> tuple[Labels | None, Labels | None, Array | None]:
        """Configuration, run and readings of images; None where not all of them have one."""

        def labels(known: Mapping[str, int]) -> Labels | None:
            return np.array([known[n] for n in names], np.int64) if all(n in known for n in names) else None

        every = all(n in self.readings for n in names) and bool(names)
        readings = np.array([self.readings[n] for n in names]) if every else None
        return labels(self.configuration), labels(self.run), readings


@dataclass(frozen=True)
class PoseStudy:
    """Measured poses, and the files that hold them."""

    images: MeasuredImages
    poses: Poses
    repeatability: Repeatability | None
    files: Mapping[str, bytes]


def measure_from(
    files: Sequence[Path],
    target: AnyTarget,
    camera: Camera,
    table: Path | None = None,
    *,
    executor: Executor | None = None,
    on_image: Callable[[int], None] | None = None,
) -> PoseStudy:
    """Measure the pose in each image, average repeats, and report."""
    names = common_names(files)
    known = table_of(names) if table is None else read_table(table, names)
    images = measure_images(files, target, camera, names=names, executor=executor, on_image=on_image)
    if not len(images):
        reasons = "".join(f"\n{name}: {why}" for name, why in images.rejected[:10])
        raise InputError(f"none of {len(files)} images gives a pose:{reasons}")
    configuration, run, readings = known.of(images.names)
    poses = images.to_poses(readings, configuration, run)
    mean, scatter = None, None
    if configuration is not None and len(np.unique(configuration)) < len(poses):
        mean, scatter = averaged(poses)
    return PoseStudy(images, poses, scatter, pose_documents(images, poses, mean, scatter))


def table_of(names: Sequence[str]) -> ImageTable:
    """Configuration and run as the images' names say them: c017-r03-i05.png, or config_17_run_3.png.

    Examples:
        >>> table_of(["c017-r03-i05.png"]).configuration, table_of(["run2_config4.png"]).run
        ({'c017-r03-i05.png': 17}, {'run2_config4.png': 2})
    """
    found: dict[str, dict[str, int]] = {"configuration": {}, "run": {}}
    for name in names:
        for what, pattern in _NAMED.items():
            match = pattern.search(Path(name).stem)
            if match:
                found[what][name] = int(match[1])
    return ImageTable(found["configuration"], found["run"], {})


def read_table(path: Path, names: Sequence[str]) -> ImageTable:
    """A CSV file with columns image, configuration, run, l1, l2, …; it must name each of the images."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a table: {error}") from error
    require(bool(rows), f"{path} has no row")
    heads = [head.strip() for head in rows[0] if head]
    require("image" in heads, f"{path} has no column 'image' (its columns: {', '.join(heads)})")
    legs = sorted((head for head in heads if _READING.match(head)), key=lambda head: int(_READING.sub(r"\1", head)))
    configuration: dict[str, int] = {}
    run: dict[str, int] = {}
    readings: dict[str, tuple[float, ...]] = {}
    for line, row in enumerate(rows, start=2):
        name = str(row["image"]).strip()
        try:
            if "configuration" in heads:
                configuration[name] = int(row["configuration"])
            if "run" in heads:
                run[name] = int(row["run"])
            if legs:
                readings[name] = tuple(float(row[leg]) for leg in legs)
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}, line {line}: {error}") from error
    listed = {str(row["image"]).strip() for row in rows}
    missing = [name for name in names if name not in listed]
    require(not missing, f"{path} does not name {len(missing)} of the images: {', '.join(missing[:3])}, …")
    return ImageTable(configuration, run, readings)
