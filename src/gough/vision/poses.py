"""Poses from many images: measured one by one, gathered, averaged, with intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.campaigns import Campaign, file_digest
from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.progress import Progress
from gough.data import Poses
from gough.vision.detector import ImageRefused
from gough.vision.images import read_image
from gough.vision.lens import Camera
from gough.vision.pose import MeasuredPose, camera_factor, measure_pose
from gough.vision.pose_enclosure import Assumed, PoseBounds, enclose_pose
from gough.vision.targets import AnyTarget

_LOW_RANK = 12
"""Combinations of the errors of printed dots that poses share; others count as errors of each pose."""


@dataclass(frozen=True)
class MeasuredImages:
    """What a set of images gave.

    Examples:
        >>> pose, _, _ = _example()
        >>> measured = MeasuredImages(("a.png",), (pose,), (("b.png", "the file is empty"),))
        >>> len(measured), measured.to_poses().covariance.shape
        (1, (1, 6, 6))
    """

    names: tuple[str, ...]
    """Names of the images that were measured."""
    measured: tuple[MeasuredPose, ...]
    rejected: tuple[tuple[str, str], ...]
    """Names of the other images, and why they give no pose."""
    size_sigma: float = 0.0
    """Relative standard deviation of the target's size, on which the metre of all poses depends."""

    def __len__(self) -> int:
        return len(self.measured)

    def to_poses(
        self, readings: Any = None, configuration: Any = None, run: Any = None, half_width: Any = None
    ) -> Poses:
        """The poses with their covariances and the errors that they share, in the camera's frame, for a calibration.

        Args:
            readings: (N, chains) of the robot's sensors, if they are known.
            configuration: (N,): images with the same number show the same configuration of the robot.
            run: (N,): images with the same number were taken without moving the robot in between.
            half_width: (N, 6) bounds of the errors, such as those of `bounded_pose`.
        """
        require(len(self.measured) > 0, "no image gave a pose")
        own, dots = np.array([pose.covariance for pose in self.measured]), self._by_dots(_LOW_RANK)
        parts = [np.array([pose.common for pose in self.measured]), dots.kept]
        if self.size_sigma > 0:
            parts.append(self._by_size()[..., None])
        shared = np.concatenate(parts, axis=2)
        return Poses(
            np.array([pose.position for pose in self.measured]),
            np.array([pose.rotation for pose in self.measured]),
            np.zeros((len(self), 0)) if readings is None else readings,
            own + dots.rest,
            common=shared if shared.shape[2] else None,
            half_width=half_width,
            configuration=configuration,
            run=run,
        )

    def budget(self) -> dict[str, Array]:
        """Covariances (N, 6, 6) of each pose by their causes: noise, light, camera, dots and size of the target.

        Examples:
            >>> pose, _, _ = _example()
            >>> budget = MeasuredImages(("a.png",), (pose,), ()).budget()
            >>> list(budget), bool(np.allclose(budget["total"][0], pose.covariance))
            (['noise', 'light', 'camera', 'target', 'size', 'total'], True)
        """
        light = np.array([pose.light for pose in self.measured])
        own = np.array([pose.covariance for pose in self.measured])
        camera = np.array([pose.common @ pose.common.T for pose in self.measured])
        by_size = self._by_size()
        size = by_size[:, :, None] * by_size[:, None]
        target = np.array([pose.dots @ pose.dots.T for pose in self.measured])
        parts = {"noise": own - light, "light": light, "camera": camera, "target": target, "size": size}
        return {**parts, "total": own + camera + target + size}

    def _by_dots(self, count: int) -> "LowRank":
        """Errors of poses by those of the printed dots: the `count` combinations that matter most, and the rest."""
        factor = np.array([pose.dots for pose in self.measured])
        return low_rank(factor, np.array([pose.sigma for pose in self.measured]), count)

    def _by_size(self) -> Array:
        """(N, 6): what a standard deviation of the target's size does to the poses."""
        position = np.array([pose.position for pose in self.measured])
        return np.asarray(self.size_sigma * np.hstack([position, np.zeros_like(position)]))


class LowRank(NamedTuple):
    """Errors that poses share, and the covariances of what is taken as each pose's own."""

    kept: Array
    rest: Array


def low_rank(factor: Array, sigma: Array, count: int) -> LowRank:
    """Errors (N, 6, k) that poses share: the `count` combinations that matter most beside `sigma` (N, 6), and the rest.

    Examples:
        >>> kept, rest = low_rank(np.ones((2, 6, 3)), np.ones((2, 6)), 1)
        >>> kept.shape, bool(abs(rest).max() < 1e-12)
        ((2, 6, 1), True)
    """
    white = (factor / sigma[..., None]).reshape(6 * len(factor), factor.shape[2])
    _, vectors = np.linalg.eigh(white.T @ white)
    turned = factor @ vectors[:, ::-1]
    rest = turned[..., count:]
    return LowRank(turned[..., :count], np.asarray(rest @ np.swapaxes(rest, 1, 2)))


def measure_images(
    files: Sequence[Path],
    target: AnyTarget,
    camera: Camera,
    *,
    names: Sequence[str] | None = None,
    size_sigma: float = 0.0,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_image: Callable[[int], None] | None = None,
) -> MeasuredImages:
    """The pose of the target in each image; images that give none are listed with the reason, and the rest go on.

    Args:
        files: The images.
        target: What they show.
        camera: That took them.
        names: Names of the images; those of the files by default.
        size_sigma: Relative standard deviation of the target's size.
        executor: Where images are measured: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
            Workers read the images under the same paths.
        workers: Number of processes of this machine, where no executor is given.
        path: A file, or a folder for it, to which each result is appended; images that it has, by their content, are
            not measured again.
        on_image: Called with the number of images done.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from gough.vision import design_target
        >>> camera, target = Camera((320, 240), [300.0, 300.0], [159.5, 119.5]), design_target(0.2, 0.2)
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.png").write_text("no image")
        ...     measure_images([Path(folder, "a.png")], target, camera).rejected
        (('a.png', 'it is no image that OpenCV can read'),)
    """
    require(0 <= size_sigma < 0.1, "the relative standard deviation of the target's size must be between 0 and 0.1")
    names = [file.name for file in files] if names is None else list(names)
    keyed = {f"{k} {name}": (0, file) for k, (name, file) in enumerate(zip(names, files, strict=True), start=1)}
    answers = sight_images(keyed, [target], [camera], executor=executor, workers=workers, path=path, on_image=on_image)
    measured = [(name, answer) for name, (answer,) in zip(names, answers.values(), strict=True)]
    kept = [(name, answer) for name, answer in measured if isinstance(answer, MeasuredPose)]
    rejected = tuple((name, answer) for name, answer in measured if isinstance(answer, str))
    return MeasuredImages(tuple(name for name, _ in kept), tuple(pose for _, pose in kept), rejected, size_sigma)


def sight_images(
    images: Mapping[str, tuple[int, Path]],
    targets: Sequence[AnyTarget],
    cameras: Sequence[Camera],
    *,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_image: Callable[[int], None] | None = None,
) -> dict[str, tuple[MeasuredPose | str, ...]]:
    """The pose of each target in each image, or why there is none; images have names, the number of their camera, and
    a file.

    The other arguments are those of `measure_images`. A ledger of which no image gives a pose is removed again.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> _, target, camera = _example()
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.png").write_text("no image")
        ...     sight_images({"left/a.png": (0, Path(folder, "a.png"))}, [target], [camera], path=folder)
        ...     list(Path(folder).glob("*.jsonl"))
        {'left/a.png': ('it is no image that OpenCV can read',)}
        []
    """
    identities = {key: f"{j} {file_digest(file)}" for key, (j, file) in images.items()} if path is not None else None
    campaign = Campaign(_sighted, dict(images), (tuple(targets), tuple(cameras)), identities=identities)

    def show(step: Progress) -> None:
        if on_image is not None and step.done:
            on_image(step.done)

    answers = campaign.run(path, executor=executor, workers=workers, on_progress=show)
    if path is not None and all(isinstance(each, str) for answer in answers.values() for each in answer):
        forget_sightings(targets, cameras, path)
    return answers


def forget_sightings(targets: Sequence[AnyTarget], cameras: Sequence[Camera], path: str | Path) -> None:
    """Remove the ledger of `sight_images` from a folder, where none of its poses is of use."""
    Campaign(_sighted, {}, (tuple(targets), tuple(cameras))).ledger_file(path).unlink(missing_ok=True)


def _sighted(
    targets: Sequence[AnyTarget], cameras: Sequence[Camera], j: int, file: Path
) -> tuple[MeasuredPose | str, ...]:
    """For each target its pose in a file of a camera, or the reason why there is none."""
    try:
        image = read_image(file)
    except ImageRefused as refused:
        return (str(refused),) * len(targets)
    return tuple(_measured(image, target, cameras[j]) for target in targets)


def _measured(image: Any, target: AnyTarget, camera: Camera) -> MeasuredPose | str:
    try:
        return measure_pose(image, target, camera)
    except ImageRefused as refused:
        return str(refused)


def pose_intervals(measured: Sequence[MeasuredPose], k: float = 3.0) -> tuple[Array, Array]:
    """Half-widths of position (N, 3) in m and of the left rotation vector (N, 3) in rad: k standard deviations.

    Errors of the camera count too, where its covariance is known. Nothing proves that an error is within k standard
    deviations: 99.7 % of Gaussian errors are within 3, each axis by itself.

    Examples:
        >>> pose, _, _ = _example()
        >>> position, rotation = pose_intervals([pose])
        >>> bool(np.allclose(position[0], 3 * pose.sigma[:3]))
        True
    """
    require(k > 0, "an interval is a positive number of standard deviations wide")
    sigma = np.sqrt([pose.sigma**2 + (pose.common**2).sum(axis=1) + (pose.dots**2).sum(axis=1) for pose in measured])
    return k * sigma[:, :3], k * sigma[:, 3:]


def bounded_pose(
    pose: MeasuredPose,
    target: AnyTarget,
    camera: Camera,
    error: float,
    *,
    camera_error: Any = None,
    point_error: float = 0.0,
) -> PoseBounds:
    """Half-widths of position and left rotation vector that hold the true pose if no centroid is off by more than
    `error` pixels.

    Proven for the numbers returned, rounding included: every pose in the region searched (`searched_position`,
    `searched_rotation`) whose expected centroids are all within `error` of those that were measured and corrected for
    light (`MeasuredPose.pixels`) is within the half-widths. That errors of centroids are bounded so, and that the true
    pose is in the region, are assumptions.

    Args:
        pose: The measured pose.
        target: The target.
        camera: The camera, exact unless `camera_error` is given.
        error: Largest error of a coordinate of a centroid, pixels.
        camera_error: Largest errors of the camera's parameters: fx, fy, cx, cy, k1, k2, p1, p2, k3, …
        point_error: Largest error of a coordinate of a dot, m.

    Raises:
        InputError: no pose fits all centroids within the bound, or the bound is too large to determine the pose.

    Examples:
        >>> pose, target, camera = _example()
        >>> bounds = bounded_pose(pose, target, camera, 0.05)
        >>> bool((abs(pose.position - [0.0, 0.0, 0.3]) <= bounds.position).all())
        True
    """
    require(error > 0, "the bound of the centroids' errors must be positive, in pixels")
    require(point_error >= 0, "the bound of the dots' errors must not be negative, in m")
    count = len(camera.parameters)
    about = np.zeros(count) if camera_error is None else array(camera_error, "camera_error", ndim=1)
    fits = len(about) == count and bool((about >= 0).all())
    require(fits, f"camera_error must be {count} numbers, none negative")
    require(len(pose.pixels) == len(pose.which), "this pose has no centroids: measure it from an image")
    points = np.ascontiguousarray(target.points[pose.which])
    assumed = Assumed(float(error), about, float(point_error))
    return enclose_pose(pose.rotation, pose.position, pose.pixels, points, target.radius, camera, assumed)


def camera_share(pose: MeasuredPose, target: AnyTarget, camera: Camera) -> Array:
    """Covariance (6, 6) that the camera's own uncertainty adds to a pose: the same error in all its images.

    It does not average out over repeats, so it is not part of `MeasuredPose.covariance`; `Poses.common` has it, as a
    factor.

    Examples:
        >>> from dataclasses import replace
        >>> pose, target, camera = _example()
        >>> unsure = replace(camera, covariance=np.diag([0.0, 0.0, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0]) ** 2)
        >>> share = camera_share(pose, target, unsure)  # a center off by 0.1 px is 0.1 mm at 0.3 m behind 300 px
        >>> bool(0.5e-4 < np.sqrt(share[0, 0]) < 2e-4)
        True
    """
    if camera.covariance is None:
        raise InputError("the camera's covariance is not known: calibrate it with gough camera calibrate")
    factor = camera_factor(pose.rotation, pose.position, target.points[pose.which], pose.weight, camera)
    return np.asarray(factor @ factor.T)


def _example() -> tuple[MeasuredPose, AnyTarget, Camera]:
    """A pose for the examples of this file."""
    from gough.vision import design_target, render  # noqa: PLC0415 - for examples only

    camera, target = Camera((320, 240), np.full(2, 300.0), np.array([159.5, 119.5])), design_target(0.2, 0.2)
    tilted = np.array([[0.8, 0.0, -0.6], [0.0, -1.0, 0.0], [-0.6, 0.0, -0.8]])
    image = render(camera, target, tilted, [0.0, 0.0, 0.3], rng=np.random.default_rng(1))
    return measure_pose(image.image, target, camera), target, camera
