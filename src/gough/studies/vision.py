"""Images of a target: a camera calibrated from them, poses measured in them, and images rendered with their truth."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.png import png_file
from gough.core.progress import OnProgress, Progress
from gough.core.rotations import exp
from gough.core.threads import one_blas_thread
from gough.data import Poses, write_poses
from gough.data.poses import Repeatability
from gough.report import empty_folder
from gough.report.base.drawing import Drawing
from gough.report.vision import budget_table, camera_documents, overlay, pose_documents
from gough.studies.image_table import read_table, table_of
from gough.studies.measured import first_reasons, of_repeats, repeats_and_rejected
from gough.vision import (
    CalibratedCamera,
    Camera,
    Conditions,
    DotTarget,
    ImageRefused,
    MeasuredImages,
    Sighting,
    bounded_pose,
    calibrate_camera,
    find_target,
    measure_images,
    read_image,
    render,
)
from gough.vision.detector import as_gray
from gough.vision.image_tests import CalibrationTest, check_images
from gough.vision.images import common_names
from gough.vision.poses import forget_sightings
from gough.vision.response import Response, Shot, estimate_response
from gough.vision.targets import AnyTarget

_FITTED = 8
"""Images from which the response is estimated."""
_PICTURES = 3
"""Images that the report of a camera shows."""
_TRIALS = 400
"""Random poses to try for each view."""
_LOOKED_AT = 12
"""Images without a pose in which the target is looked for once more."""


@dataclass(frozen=True)
class CameraStudy:
    """A calibrated camera, and the files of its report."""

    calibrated: CalibratedCamera
    files: Mapping[str, bytes]


@one_blas_thread()
def calibrate_from(
    files: Sequence[Path],
    target: AnyTarget,
    *,
    terms: Sequence[str] | None = None,
    lens: str | None = None,
    release: bool = True,
    response: float | None = None,
    on_progress: OnProgress = lambda _: None,
) -> CameraStudy:
    """Find the target in each image, calibrate, and report; images that cannot be used are listed with the reason.

    The response is estimated from the edges of dots where it is not stated. Where they refute a linear one, the dots
    are measured again in light, and the camera is calibrated by them.
    """
    by_name = dict(zip(common_names(files), files, strict=True))
    n = len(files)
    done, of = 0, 3 * n  # the calibration takes about as long as finding the target, response and report together too

    def calibrated_with(gamma: float, what: str) -> _Calibration:
        found = _found(by_name, target, gamma, lambda image: on_progress(Progress(done + image, of, what)))
        on_progress(Progress(done + n, of, "calibrating the lens"))
        return found, _calibrated(found, target, terms, lens, gamma, release=release)

    found, calibrated = calibrated_with(1.0 if response is None else response, "finding the target")
    if response is None and target.radius > 0:
        on_progress(Progress(2 * n, of, "estimating the response of the camera"))
        estimated = _response(calibrated, by_name)
        if estimated is not None and estimated.used != 1:
            done, of = 2 * n, 5 * n
            found, calibrated = calibrated_with(estimated.used, "finding the target in light")
        calibrated = replace(calibrated, response=estimated)
    on_progress(Progress(of - n // 2, of, "drawing the report"))
    return CameraStudy(calibrated, camera_documents(calibrated, found.pictures))


class _Found(NamedTuple):
    """The target in images."""

    names: list[str]
    sightings: list[Sighting]
    rejected: list[tuple[str, str]]
    pictures: list[Drawing]
    size: tuple[int, int] | None


_Calibration = tuple[_Found, CalibratedCamera]


def _found(files: Mapping[str, Path], target: AnyTarget, response: float, on_image: Callable[[int], object]) -> _Found:
    """The target in each image, with its reason where it is not found."""
    names, sightings, rejected = [], [], []
    pictures: list[Drawing] = []
    size: tuple[int, int] | None = None
    for done, (name, file) in enumerate(files.items(), start=1):
        try:
            image = read_image(file)
            size = size or (image.shape[1], image.shape[0])
            _require_size(image.shape, size)
            seen = find_target(image, target, response=response)
        except ImageRefused as refused:
            rejected.append((name, str(refused)))
        else:
            names.append(name)
            sightings.append(seen)
            if len(pictures) < _PICTURES:
                pictures.append(overlay(image, seen, f"overlay-{len(pictures) + 1}"))
        on_image(done)
    return _Found(names, sightings, rejected, pictures, size)


def _response(calibrated: CalibratedCamera, files: Mapping[str, Path]) -> Response | None:
    """The response that the edges of dots show in some of the images that calibrated the camera."""
    views = calibrated.views
    few = np.unique(np.linspace(0, len(views) - 1, _FITTED).astype(int)).tolist()
    shots = (
        Shot(as_gray(read_image(files[calibrated.names[k]])), views[k].seen, views[k].rotation, views[k].position)
        for k in few
    )
    return estimate_response(shots, calibrated.target, calibrated.camera)


def _require_size(shape: tuple[int, ...], size: tuple[int, int]) -> None:
    if (shape[1], shape[0]) != size:
        raise ImageRefused(f"it has {shape[1]} × {shape[0]} pixels, but the first one {size[0]} × {size[1]}")


def _calibrated(
    found: _Found,
    target: AnyTarget,
    terms: Sequence[str] | None,
    lens: str | None,
    response: float,
    *,
    release: bool,
) -> CalibratedCamera:
    size = found.size or (1, 1)
    try:
        calibrated = calibrate_camera(
            found.sightings, target, size, names=found.names, estimated=terms, lens=lens, release=release
        )
    except InputError as error:
        raise InputError(f"{error}{first_reasons(found.rejected)}") from error
    camera = replace(calibrated.camera, response=response)
    return replace(calibrated, camera=camera, rejected=(*found.rejected, *calibrated.rejected))


@dataclass(frozen=True)
class PoseStudy:
    """Measured poses, and the files of their report."""

    images: MeasuredImages
    poses: Poses
    repeatability: Repeatability | None
    files: Mapping[str, bytes]
    bound: float | None = None
    """Stated bound of the centroids' errors, pixels."""
    test: CalibrationTest | None = None
    """The images tested against the calibration of the camera."""
    notes: tuple[str, ...] = ()
    """How the table of readings was read, in sentences."""

    @property
    def is_contradicted(self) -> bool:
        """Whether the images contradict the calibration of the camera: the poses are then wrong."""
        return self.test is not None and bool(self.test.contradiction)

    def __str__(self) -> str:
        images = self.images
        noise = float(np.median([pose.noise for pose in images.measured]))
        total = len(images) + len(images.rejected)
        lines = [
            f"{len(images)} of {total} images give a pose; median noise of its points {noise:.4f} px.",
            str(budget_table(images)),
        ]
        if not images.measured[0].common.shape[1]:
            lines.append(
                "The camera file states no covariance: the camera's errors are not in the total, nor in poses.csv."
            )
        if self.poses.half_width is not None:
            half = np.median(self.poses.half_width, axis=0)
            axes = ", ".join(f"{1e6 * h:.1f}" for h in half[:3])
            turns = ", ".join(f"{np.degrees(h):.4f}" for h in half[3:])
            lines.append(
                f"If no centroid is off by more than {self.bound:g} px, errors are at most {axes} µm in x, y, z and "
                f"{turns}° about them (median over the images; proven for an exact camera and target)."
            )
        if self.test is not None:
            lines = [*([str(self.test), ""] if self.is_contradicted else []), *lines]
            lines += [] if self.is_contradicted else [str(self.test)]
        lines += self.notes
        return "\n".join([*lines, *repeats_and_rejected(self.repeatability, "No pose:", images.rejected)])


def measure_from(
    files: Sequence[Path],
    target: AnyTarget,
    camera: Camera,
    table: Path | None = None,
    *,
    readings_in: Sequence[str] = (),
    bound: float | None = None,
    size_sigma: float = 0.0,
    executor: Any = None,
    ledger: Path | None = None,
    on_image: Callable[[int], None] | None = None,
) -> PoseStudy:
    """Measure the pose in each image, average repeats, and report; `readings_in` are columns of the table.

    With a bound of the centroids' errors in pixels, poses get guaranteed half-widths, for certification. The size of
    the target has the relative standard deviation `size_sigma`. Results of images are kept in `ledger` as they come.
    """
    names = common_names(files)
    known = table_of(names) if table is None else read_table(table, names, readings_in)
    images = measure_images(
        files,
        target,
        camera,
        names=names,
        size_sigma=size_sigma,
        executor=executor,
        path=ledger,
        on_image=on_image,
    )
    images, test = _tested(images, dict(zip(names, files, strict=True)), target, camera)
    if not len(images):
        wrong = f"{test}\n" if test.contradiction else ""
        if ledger is not None:
            forget_sightings([target], [camera], ledger)
        raise InputError(f"{wrong}none of {len(files)} images gives a pose:{first_reasons(images.rejected)}")
    configuration, run, readings = known.of(images.names)
    half_width = None
    if bound is not None:
        bounds = [bounded_pose(pose, target, camera, bound) for pose in images.measured]
        half_width = np.array([np.concatenate([each.position, each.rotation]) for each in bounds])
    poses = images.to_poses(readings, configuration, run, half_width)
    mean, scatter = of_repeats(poses)
    documents = pose_documents(images, poses, mean, scatter, test, reading_unit=known.unit)
    return PoseStudy(images, poses, scatter, documents, bound, test, known.notes)


def _tested(
    images: MeasuredImages, files: Mapping[str, Path], target: AnyTarget, camera: Camera
) -> tuple[MeasuredImages, CalibrationTest]:
    """The images without those that contradict the calibration by themselves, and the test of them all.

    The target is looked for once more in some images without a pose: a wrong camera may be why there is none.
    """
    seen = []
    for name, _ in images.rejected[:_LOOKED_AT]:
        with suppress(ImageRefused):
            image = read_image(files[name])
            if image.shape[1::-1] == camera.size:
                seen.append(find_target(image, target))
    test = check_images(images.measured, target, camera, seen)
    odd = set(test.rejected)
    kept = [k for k in range(len(images)) if k not in odd]
    images = MeasuredImages(
        tuple(images.names[k] for k in kept),
        tuple(images.measured[k] for k in kept),
        (*images.rejected, *((images.names[k], test.images[k].cause) for k in sorted(odd))),
        images.size_sigma,
    )
    return images, test


@dataclass(frozen=True)
class RandomViews:
    """Random poses of a target that is completely in the image."""

    size: tuple[int, int]
    focal: float
    distortion: tuple[float, ...]
    tilt: float
    """Standard deviation of the rotation vector's components, rad."""
    count: int
    repeats: int
    seed: int

    @property
    def camera(self) -> Camera:
        """The true camera, with its center a little off the middle."""
        middle = (np.array(self.size) - 1) / 2 + [3.0, -2.0]
        return Camera(self.size, np.full(2, self.focal), middle, np.array(self.distortion))

    def draw(self, target: DotTarget) -> list[tuple[Array, Array]]:
        """Random rotations and positions."""
        rng = np.random.default_rng(self.seed)
        camera, poses = self.camera, []
        near = 1.15 * self.focal * max(target.size) / min(self.size)
        for _ in range(_TRIALS * self.count):
            R = exp(np.clip(rng.normal(0, self.tilt, 3), -2 * self.tilt, 2 * self.tilt)) @ np.diag([1.0, -1.0, -1.0])
            z = near * rng.uniform(1.0, 1.5)
            aside = rng.uniform(-0.25, 0.25, 2) * np.array(self.size) / self.focal * z
            t = np.array([*aside, z])
            pixels = camera.project(R, t, target.points)
            margin = 4 * target.radius * self.focal / z
            if (pixels > margin).all() and (pixels < np.array(self.size) - 1 - margin).all():
                poses.append((R, t))
            if len(poses) == self.count:
                return poses
        require(
            condition=False, message="the target does not fit into such images: less tilt, or a shorter focal length"
        )
        return poses


def write_views(
    folder: Path, target: DotTarget, views: RandomViews, conditions: Conditions, done: Callable[[], None]
) -> list[str]:
    """Render the views into a new or empty folder; returns the names of the images."""
    with empty_folder(folder):
        return _written(folder, target, views, conditions, done)


def _written(
    folder: Path, target: DotTarget, views: RandomViews, conditions: Conditions, done: Callable[[], None]
) -> list[str]:
    poses = views.draw(target)
    rng, names, rows = np.random.default_rng(views.seed + 1), [], []
    for k, (R, t) in enumerate(poses):
        for repeat in range(views.repeats):
            name = f"c{k:03d}-r{0:02d}-i{repeat:02d}.png"
            image = render(views.camera, target, R, t, conditions, rng).image
            (folder / name).write_bytes(png_file(image))
            names.append(name)
            rows.append(k)
            done()
    truth = Poses(
        np.array([poses[k][1] for k in rows]),
        np.array([poses[k][0] for k in rows]),
        np.zeros((len(rows), 0)),
        configuration=np.array(rows),
    )
    write_poses(folder / "truth.csv", truth)
    camera = views.camera
    text = f"size = {list(camera.size)}\nfocal = {camera.focal.tolist()}\ncenter = {camera.center.tolist()}\n"
    (folder / "camera-truth.toml").write_text(f"{text}distortion = {camera.distortion.tolist()}\n", encoding="utf-8")
    return names
