"""Rendered images in a folder, with their truth beside them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.rotations import exp
from gough.data import Poses, write_poses
from gough.report import empty_folder
from gough.vision import Camera, Conditions, DotTarget, render
from gough.vision.target_drawing import png_file

_TRIALS = 400


@dataclass(frozen=True)
class RandomViews:
    """Poses before a camera, drawn at random so that the target is wholly in the image."""

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
        """The true one, a little off the middle."""
        middle = (np.array(self.size) - 1) / 2 + [3.0, -2.0]
        return Camera(self.size, np.full(2, self.focal), middle, np.array(self.distortion))

    def draw(self, target: DotTarget) -> list[tuple[Array, Array]]:
        """Rotations and positions."""
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
    """Render the views into a new or empty folder; the names of the images."""
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
