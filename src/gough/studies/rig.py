"""Several cameras: their images become sightings, these a rig and fused poses, with a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.errors import InputError, require
from gough.core.files import read_toml
from gough.core.text import listed
from gough.data import Poses
from gough.data.poses import Repeatability
from gough.report.rig import rig_budget_table, rig_documents, rig_table
from gough.studies.measured import first_reasons, of_repeats, repeats_and_rejected
from gough.studies.rig_frames import Frames, read_frames
from gough.vision import (
    Camera,
    DotTarget,
    FusedPoses,
    MeasuredPose,
    Rig,
    RigCamera,
    RigSighting,
    RigTarget,
    Sightings,
    check_images,
    fit_rig,
    read_camera,
    read_target,
)
from gough.vision.poses import forget_sightings, sight_images
from gough.vision.targets import AnyTarget

_SAME = 1e-3
"""Metres by which two descriptions of one sheet may place a dot differently."""


@dataclass(frozen=True)
class RigStudy:
    """A rig, fused poses, and the files of their report."""

    fused: FusedPoses
    poses: Poses
    repeatability: Repeatability | None
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
    wrong_cameras: tuple[str, ...] = ()
    """What images of a camera contradict in its own calibration, in sentences."""
    is_calibration: bool = False
    """Whether places were found, not only used."""

    @property
    def is_contradicted(self) -> bool:
        """Whether the images contradict the rig or a camera's calibration: the poses are then wrong."""
        return bool(self.fused.contradiction or self.wrong_cameras)

    def __str__(self) -> str:
        fused = self.fused
        lines = [*self.wrong_cameras, *([""] if self.wrong_cameras else []), str(fused)]
        if self.is_calibration:
            lines.append(str(rig_table(fused.rig)))
        lines += [str(rig_budget_table(fused)), *self.notes]
        return "\n".join([*lines, *repeats_and_rejected(self.repeatability, "Not used:", fused.rejected)])


def described_rig(
    cameras: Sequence[str],
    targets: Sequence[str],
    fixed: Sequence[str],
    moving: Sequence[str],
    size_sigma: float = 0.0,
) -> Rig:
    """A rig of files NAME=FILE of cameras and targets; without targets, the one that the cameras were calibrated with.

    A target may be the file of a camera that was calibrated with it: then its dots are where they were found.

    Raises:
        InputError: a file cannot be used, or a name is not known.
    """
    require(len(cameras) > 0, "state the cameras with --camera NAME=FILE, once for each")
    files = [_named(text) for text in cameras]
    read = [(name, *read_camera(file)) for name, file in files]
    names = [name for name, _ in files]
    unknown = [name for name in moving if name not in names]
    require(not unknown, f"--moving: no camera is called {listed(unknown)} (there are {', '.join(names)})")
    sheets = [_target(text, is_fixed=False, size_sigma=size_sigma) for text in targets]
    sheets += [_target(text, is_fixed=True, size_sigma=size_sigma) for text in fixed]
    if not targets:
        sheet, sigma = _common_target([(name, camera, target) for name, camera, target in read])
        sheets = [RigTarget("platform", sheet, dots_sigma=sigma, size_sigma=size_sigma), *sheets]
    return Rig(tuple(RigCamera(name, camera, name in moving) for name, camera, _ in read), tuple(sheets))


def _named(text: str) -> tuple[str, Path]:
    """NAME=FILE; without a name that of the file or, for camera.toml, of its folder."""
    name, found, file = text.partition("=")
    if not found:
        path = Path(text)
        name, file = (path.parent.name if path.stem in {"camera", "target"} and path.parent.name else path.stem), text
    require(bool(name.strip()) and bool(file.strip()), f"'{text}' must be NAME=FILE, such as left=left/camera.toml")
    require("/" not in name and "." not in name, f"'{name}' cannot be the name of a camera or target: no / and no dots")
    return name.strip(), Path(file.strip())


def _target(text: str, *, is_fixed: bool, size_sigma: float) -> RigTarget:
    name, file = _named(text)
    sigma = 0.0
    if "focal" in read_toml(file)[0]:
        camera, sheet = read_camera(file)
        require(sheet is not None, f"{file} does not say which target the camera was calibrated with")
        assert sheet is not None
        sigma = camera.dots_sigma if isinstance(sheet, DotTarget) else 0.0
    else:
        sheet = read_target(file)
    return RigTarget(name, sheet, is_fixed, sigma, size_sigma)


def _common_target(read: Sequence[tuple[str, Camera, AnyTarget | None]]) -> tuple[AnyTarget, float]:
    """The target that all camera files have, its dots at the weighted mean of where they were found."""
    without = [name for name, _, target in read if target is None]
    require(not without, f"the file of camera {listed(without)} does not say which target: add --target NAME=FILE")
    sheets = [target for _, _, target in read if target is not None]
    first = sheets[0]
    for (name, _, _), sheet in zip(read, sheets, strict=True):
        same = type(sheet) is type(first) and sheet.points.shape == first.points.shape
        same = same and float(abs(sheet.points - first.points).max()) < _SAME
        require(same, f"cameras {read[0][0]} and {name} were calibrated with different targets: add --target NAME=FILE")
    sigma = np.array([camera.dots_sigma for _, camera, _ in read])
    if not isinstance(first, DotTarget) or not (sigma > 0).all():
        return first, float(sigma[0]) if isinstance(first, DotTarget) else 0.0
    weight = 1 / sigma**2 / (1 / sigma**2).sum()
    points = sum(w * sheet.points for w, sheet in zip(weight, sheets, strict=True))
    return replace(first, points=points), float(1 / np.sqrt((1 / sigma**2).sum()))


def measure_rig(
    folder: Path,
    rig: Rig,
    table: Path | None = None,
    *,
    readings_in: Sequence[str] = (),
    executor: Any = None,
    ledger: Path | None = None,
    on_start: Callable[[int], None] = lambda _: None,
    on_image: Callable[[int], None] = lambda _: None,
) -> RigStudy:
    """Find all targets in all images of a folder, test the cameras, fit the rig, and report.

    Where the rig's places are known, they are the prior; else they are found. Results of images are kept in `ledger` as
    they come.
    """
    frames = read_frames(folder, [camera.name for camera in rig.cameras], table, readings_in)
    on_start(sum(len(each) for each in frames.images))
    sightings, wrong = _tested(rig, _sightings(rig, frames, executor=executor, ledger=ledger, on_image=on_image))
    if not sightings.seen:
        if ledger is not None:
            forget_sightings([each.target for each in rig.targets], [each.camera for each in rig.cameras], ledger)
        raise InputError(f"no image of {folder} shows a target of the rig:{first_reasons(sightings.missed)}")
    fused = fit_rig(rig, sightings)
    configuration, run, readings = frames.table.of(fused.names)
    poses = fused.to_poses(readings, configuration, run)
    mean, scatter = of_repeats(poses)
    found = rig.covariance is None
    files = rig_documents(
        fused, poses, mean, scatter, wrong=wrong, reading_unit=frames.table.unit, is_calibration=found
    )
    return RigStudy(fused, poses, scatter, files, frames.table.notes, wrong, found)


def _sightings(
    rig: Rig, frames: Frames, *, executor: Any, ledger: Path | None, on_image: Callable[[int], None]
) -> Sightings:
    images = {
        f"{camera.name}/{own[camera.name].name}": (k, j, own[camera.name])
        for k, own in enumerate(frames.images)
        for j, camera in enumerate(rig.cameras)
        if camera.name in own
    }
    answers = sight_images(
        {name: (j, file) for name, (_, j, file) in images.items()},
        [each.target for each in rig.targets],
        [each.camera for each in rig.cameras],
        executor=executor,
        path=ledger,
        on_image=on_image,
    )
    seen, missed = [], []
    for name, (k, j, _) in images.items():
        found = [(i, pose) for i, pose in enumerate(answers[name]) if isinstance(pose, MeasuredPose)]
        seen += [RigSighting(k, j, i, pose) for i, pose in found]
        if not found:
            missed.append((name, "; ".join(dict.fromkeys(map(str, answers[name])))))
    return Sightings(frames.names, tuple(seen), tuple(missed))


def _tested(rig: Rig, sightings: Sightings) -> tuple[Sightings, tuple[str, ...]]:
    """Without images that contradict the calibration of their camera by themselves; and cameras that all contradict."""
    odd, wrong, reasons = set(), [], []
    for j, camera in enumerate(rig.cameras):
        for k, target in enumerate(rig.targets):
            own = [n for n, each in enumerate(sightings.seen) if (each.camera, each.target) == (j, k)]
            lens = replace(camera.camera, dots_sigma=target.dots_sigma)
            test = check_images([sightings.seen[n].pose for n in own], target.target, lens)
            if test.contradiction:
                wrong.append(f"The images of camera {camera.name} contradict its calibration: {test.contradiction}")
            for n in test.rejected:
                odd.add(own[n])
                frame = sightings.frames[sightings.seen[own[n]].frame]
                reasons.append((f"{camera.name}/{frame}", test.images[n].cause))
    seen = tuple(each for n, each in enumerate(sightings.seen) if n not in odd)
    return replace(sightings, seen=seen, missed=(*sightings.missed, *reasons)), tuple(dict.fromkeys(wrong))
