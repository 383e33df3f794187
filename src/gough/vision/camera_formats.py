"""Camera files of other programs: OpenCV (YAML, XML, JSON), ROS camera_info (YAML), Kalibr camchain (YAML)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.yaml_text import parsed_yaml
from gough.vision.camera import camera_toml, read_camera
from gough.vision.lens import BROWN, Camera
from gough.vision.opencv import opencv

FORMATS = ("gough", "opencv", "ros", "kalibr")
_MATRIX = ("camera_matrix", "cameraMatrix", "camera_Matrix", "K", "intrinsics")
_DISTORTION = ("distortion_coefficients", "distCoeffs", "dist_coeffs", "Distortion_Coefficients", "D")
_TILTED = 14
"""Coefficients of OpenCV's model with a tilted sensor, which gough does not have."""
_ROS = {"plumb_bob": 5, "rational_polynomial": 8}
_LARGEST = 1 << 22
"""Bytes; no camera file is larger."""


def read_any_camera(path: str | Path, *, size: tuple[int, int] | None = None, name: str = "cam0") -> Camera:
    r"""The camera in a file of gough, OpenCV, ROS or Kalibr; the content tells which.

    Args:
        path: The file.
        size: Width and height of the images, where the file does not state them.
        name: Which camera of a Kalibr camchain.

    Raises:
        InputError: the file cannot be read, describes no camera, or one that gough cannot represent.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> chain = "cam0:\n  camera_model: pinhole\n  intrinsics: [600.0, 601.0, 319.5, 239.5]\n"
        >>> chain += "  distortion_model: radtan\n  distortion_coeffs: [-0.1, 0.02, 0, 0]\n  resolution: [640, 480]\n"
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "camchain.yaml")
        ...     _ = file.write_text(chain)
        ...     read_any_camera(file).focal
        array([600., 601.])
    """
    path = Path(path)
    if path.suffix.lower() == ".toml":
        return read_camera(path)[0]
    try:
        require(path.stat().st_size <= _LARGEST, f"{path} is too large for a camera file")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    try:
        if path.suffix.lower() in (".xml", ".json") or "opencv-matrix" in text:
            return _from_opencv(text, size)
        data = parsed_yaml(text, "camera file of ROS or Kalibr")
        if "distortion_model" in data or "image_width" in data:
            return _from_ros(data, size)
        return _from_kalibr(data, size, name)
    except (InputError, TypeError, ValueError, KeyError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path}: {what}") from error


def write_any_camera(camera: Camera, form: str, *, xml: bool = False) -> str:
    """A camera as text of gough, OpenCV, ROS or Kalibr. Only gough's format has the covariance.

    Raises:
        InputError: the format cannot represent this lens.

    Examples:
        >>> camera = Camera((640, 480), [600.0, 600.0], [319.5, 239.5], [-0.1, 0.02])
        >>> print(write_any_camera(camera, "kalibr").splitlines()[2])
          intrinsics: [600.0, 600.0, 319.5, 239.5]
        >>> write_any_camera(Camera((640, 480), [600.0, 600.0], [319.5, 239.5], [0, 0, 0, 0, 0.1]), "kalibr")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: Kalibr's radtan model has k1, k2, p1, p2 only, but this lens has k3 = 0.1: \
calibrate with --lens tangential, or choose another format
    """
    require(form in FORMATS, f"no format is called '{form}'{nearest(form, FORMATS)} ({', '.join(FORMATS)})")
    if form == "gough":
        return camera_toml(camera)
    if form == "opencv":
        return _to_opencv(camera, xml=xml)
    return _to_ros(camera) if form == "ros" else _to_kalibr(camera)


def _numbers(values: Any, what: str, count: int | None = None) -> Array:
    try:
        numbers = np.array([float(v) for v in values])
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be a list of numbers") from error
    require(count is None or len(numbers) == count, f"{what} must be {count} numbers, not {len(numbers)}")
    return numbers


def _camera(K: Array, distortion: Array, size: Sequence[Any] | None, lens: str) -> Camera:
    require(size is not None, "it does not state the size of the images: add --size 1024x768")
    assert size is not None
    require(K.shape == (3, 3), f"the camera matrix must be 3 × 3, not {K.shape}")
    plain = bool((np.delete(K.ravel(), (0, 2, 4, 5)) == [0.0, 0.0, 0.0, 0.0, 1.0]).all())
    require(plain, "the camera matrix has skew or a last row other than 0, 0, 1: gough's cameras have none")
    width, height = (int(v) for v in size)
    return Camera((width, height), K[[0, 1], [0, 1]], K[:2, 2], distortion, lens=lens)


def _from_opencv(text: str, size: tuple[int, int] | None) -> Camera:
    cv = opencv()
    try:
        file = cv.FileStorage(text, cv.FILE_STORAGE_READ | cv.FILE_STORAGE_MEMORY)
    except (cv.error, SystemError) as error:
        raise InputError("OpenCV cannot read it") from error
    K = _found(file, _MATRIX)
    require(K is not None, f"it has no camera matrix (known names: {', '.join(_MATRIX)})")
    found = _found(file, _DISTORTION)
    distortion = np.zeros(0) if found is None else np.asarray(found, dtype=float).ravel()
    fisheye = not file.getNode("fisheye_model").empty() and file.getNode("fisheye_model").real() != 0
    if len(distortion) == _TILTED:
        require(not distortion[12:].any(), "it has a tilted sensor (τx, τy), which gough's cameras do not have")
        distortion = distortion[:12]
    nodes = [file.getNode(name) for name in ("image_width", "image_height")]
    stated = None if any(node.empty() for node in nodes) else tuple(int(node.real()) for node in nodes)
    return _camera(np.asarray(K, dtype=float), distortion, stated or size, "fisheye" if fisheye else "brown")


def _found(file: Any, names: Sequence[str]) -> Any:
    for name in names:
        node = file.getNode(name)
        if not node.empty() and node.isMap():
            return node.mat()
    return None


def _to_opencv(camera: Camera, *, xml: bool) -> str:
    cv = opencv()
    file = cv.FileStorage("camera.xml" if xml else "camera.yml", cv.FILE_STORAGE_WRITE | cv.FILE_STORAGE_MEMORY)
    file.write("image_width", camera.size[0])
    file.write("image_height", camera.size[1])
    if camera.lens == "fisheye":
        file.write("fisheye_model", 1)
    file.write("camera_matrix", _matrix(camera))
    file.write("distortion_coefficients", np.array(camera.distortion).reshape(-1, 1))
    return str(file.releaseAndGetString())


def _matrix(camera: Camera) -> Array:
    K = np.diag([*camera.focal, 1.0])
    K[:2, 2] = camera.center
    return K


def _from_ros(data: Mapping[str, Any], size: tuple[int, int] | None) -> Camera:
    K = _numbers(data["camera_matrix"]["data"], "camera_matrix", 9).reshape(3, 3)
    model = str(data.get("distortion_model", "plumb_bob"))
    known = (*_ROS, "equidistant")
    require(model in known, f"gough has no distortion model '{model}' (known of ROS: {', '.join(known)})")
    distortion = _numbers(data.get("distortion_coefficients", {}).get("data", ()), "distortion_coefficients")
    require(len(distortion) <= _ROS.get(model, 4), f"{model} has at most {_ROS.get(model, 4)} coefficients")
    stated = (data["image_width"], data["image_height"]) if "image_width" in data and "image_height" in data else size
    return _camera(K, distortion, stated, "fisheye" if model == "equidistant" else "brown")


def _to_ros(camera: Camera) -> str:
    if camera.lens == "fisheye":
        model, values = "equidistant", camera.distortion
    else:
        values = camera.distortion[:8]
        _require_zero(camera, 8, "ROS camera_info has no thin prism", "--lens k3 or rational")
        model = "plumb_bob" if len(values) <= 5 else "rational_polynomial"
    K = _matrix(camera)
    P = np.column_stack([K, np.zeros(3)])
    lines = [
        f"image_width: {camera.size[0]}",
        f"image_height: {camera.size[1]}",
        "camera_name: camera",
        *_block("camera_matrix", K),
        f"distortion_model: {model}",
        *_block("distortion_coefficients", values.reshape(1, -1)),
        *_block("rectification_matrix", np.eye(3)),
        *_block("projection_matrix", P),
    ]
    return "\n".join(lines) + "\n"


def _block(name: str, values: Array) -> list[str]:
    return [
        f"{name}:",
        f"  rows: {values.shape[0]}",
        f"  cols: {values.shape[1]}",
        f"  data: {_listed(values.ravel())}",
    ]


def _listed(values: Array) -> str:
    return f"[{', '.join(_number(v) for v in values.tolist())}]"


def _number(value: float) -> str:
    """A number that YAML 1.1 reads as one: 1e-05 would be a text in it."""
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    return text if not exponent or "." in mantissa else f"{mantissa}.0e{exponent}"


def _from_kalibr(data: Mapping[str, Any], size: tuple[int, int] | None, name: str) -> Camera:
    cameras = [key for key, value in data.items() if isinstance(value, Mapping) and "intrinsics" in value]
    require(bool(cameras), "it is no camera file of OpenCV, ROS or Kalibr")
    require(name in cameras, f"it has no camera '{name}'{nearest(name, cameras)} ({', '.join(map(str, cameras))})")
    one = data[name]
    model = str(one.get("camera_model", "pinhole"))
    require(model == "pinhole", f"gough has no camera model '{model}' of Kalibr: only pinhole")
    distortion_model = str(one.get("distortion_model", "none"))
    known = {"radtan": "brown", "equidistant": "fisheye", "equi": "fisheye", "none": "brown"}
    require(distortion_model in known, f"gough has no distortion model '{distortion_model}' of Kalibr")
    fx, fy, cx, cy = _numbers(one["intrinsics"], "intrinsics", 4)
    values = _numbers(one.get("distortion_coeffs", ()), "distortion_coeffs")
    require(len(values) <= 4, "distortion_coeffs of Kalibr are at most four numbers")
    K = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    return _camera(K, values, one.get("resolution", size), known[distortion_model])


def _to_kalibr(camera: Camera) -> str:
    _require_zero(camera, 4, "Kalibr's radtan model has k1, k2, p1, p2 only", "--lens tangential")
    lines = [
        "cam0:",
        "  camera_model: pinhole",
        f"  intrinsics: {_listed(np.concatenate([camera.focal, camera.center]))}",
        f"  distortion_model: {'equidistant' if camera.lens == 'fisheye' else 'radtan'}",
        f"  distortion_coeffs: {_listed(camera.distortion[:4])}",
        f"  resolution: [{camera.size[0]}, {camera.size[1]}]",
    ]
    return "\n".join(lines) + "\n"


def _require_zero(camera: Camera, first: int, what: str, option: str) -> None:
    """Refuse a lens whose coefficients from the given one on are not zero."""
    if camera.lens == "fisheye":
        return
    left = [f"{name} = {v:g}" for name, v in zip(BROWN[first:], camera.distortion[first:], strict=False) if v]
    lacking = f"{what}, but this lens has {', '.join(left)}: calibrate with {option}, or choose another format"
    require(not left, lacking)
