"""Cameras as TOML files: the lens, how well it is known, and the target as it was found to be."""

from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml
from gough.vision.camera import CalibratedCamera
from gough.vision.lens import Camera
from gough.vision.target_files import AnyTarget, target_of, target_text

_KEYS = ("size", "focal", "center", "distortion", "covariance", "noise", "target")


def camera_text(found: CalibratedCamera) -> str:
    """A calibrated camera as TOML.

    Examples:
        >>> from gough.vision import CircleGrid
        >>> camera = Camera((640, 480), [600.0, 600.0], [319.5, 239.5])
        >>> found = CalibratedCamera(camera, CircleGrid(4, 5, 0.02, 0.004), (), (), (), 0.01, 0.0)
        >>> print(camera_text(found).splitlines()[1])
        size = [640, 480]  # pixels
    """
    camera = found.camera
    lines = [
        f"# {len(found.views)} images, residuals {found.rms:.4f} px",
        f"size = {list(camera.size)}  # pixels",
        f"focal = {camera.focal.tolist()}  # fx, fy in pixels",
        f"center = {camera.center.tolist()}  # cx, cy; the center of the first pixel is 0, 0",
        f"distortion = {camera.distortion.tolist()}  # k1, k2, p1, p2, k3 as in OpenCV",
        f"noise = {found.noise!r}  # standard deviation of a dot's centroid, pixels",
    ]
    if camera.covariance is not None:
        lines += ["covariance = [  # of fx, fy, cx, cy, k1, k2, p1, p2, k3"]
        lines += [f"    {row}," for row in camera.covariance.tolist()] + ["]"]
    return "\n".join([*lines, "", "[target]", target_text(found.target)])


def read_camera(path: str | Path) -> tuple[Camera, AnyTarget | None]:
    r"""The camera in a TOML file, and the target it was calibrated with, if the file says it.

    Raises:
        InputError: the file cannot be read, or is no camera; the message says what is missing.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "camera.toml")
        ...     _ = file.write_text("size = [640, 480]\nfocal = [600.0, 600.0]\ncenter = [319.5, 239.5]\n")
        ...     read_camera(file)[0].focal
        array([600., 600.])
    """
    data = read_toml(path)[0]
    for name in data:
        require(name in _KEYS, f"{path}: a camera has no '{name}'{nearest(name, _KEYS)}")
    for name in ("size", "focal", "center"):
        require(name in data, f"{path} is no camera: it does not say its {name}")
    try:
        covariance = data.get("covariance")
        size = tuple(data["size"])
        camera = Camera(size, data["focal"], data["center"], _array(data.get("distortion", [])), covariance)
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error
    target = data.get("target")
    return camera, None if target is None else target_of(target, f"{path}, [target]")


def _array(values: Any) -> Array:
    return np.asarray(values, dtype=float)
