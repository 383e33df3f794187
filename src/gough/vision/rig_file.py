"""Rigs as TOML files: cameras, targets, their places, and the covariance of all of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml
from gough.core.rigid import IDENTITY, RigidMotion
from gough.core.rotations import from_quaternion, nearest_rotation, to_quaternion
from gough.core.text import visible
from gough.vision.camera import camera_of, camera_toml
from gough.vision.rig import Rig, RigCamera, RigTarget
from gough.vision.targets import target_of, target_text

_PLACE = ("position", "quaternion")
_CAMERA = ("name", "moving", *_PLACE, "camera")
_TARGET = ("name", "fixed", "dots_sigma", "size_sigma", *_PLACE, "target")


def rig_text(rig: Rig) -> str:
    """A rig as TOML.

    Examples:
        >>> from gough.vision import Camera, design_target
        >>> lens = Camera((640, 480), [600.0, 600.0], [319.5, 239.5])
        >>> rig = Rig((RigCamera("left", lens),), (RigTarget("plate", design_target(0.2, 0.2)),))
        >>> print(rig_text(rig).splitlines()[0])
        # World: camera left; platform: target plate
    """
    lines = [f"# World: {rig.world}; platform: {rig.platform}"]
    for camera in rig.cameras:
        lines += ["", "[[camera]]", f"name = {_quoted(camera.name)}", f"moving = {str(camera.is_moving).lower()}"]
        lines += [] if camera.is_moving else _place(camera.world, "of the world in the camera's frame")
        lines += ["[camera.camera]", camera_toml(camera.camera).rstrip()]
    for sheet in rig.targets:
        mount = "world" if sheet.is_fixed else "platform"
        lines += ["", "[[target]]", f"name = {_quoted(sheet.name)}", f"fixed = {str(sheet.is_fixed).lower()}"]
        lines += [f"dots_sigma = {sheet.dots_sigma!r}  # standard deviation of the places of dots before the rig, m"]
        lines += [f"size_sigma = {sheet.size_sigma!r}  # relative standard deviation of the size"]
        lines += _place(sheet.place, f"of the target in the frame of the {mount}")
        lines += ["[target.target]", target_text(sheet.target).rstrip()]
    if rig.covariance is not None:
        lines += ["", *_covariance(rig, rig.covariance)]
    return "\n".join([*lines, ""])


def _place(motion: RigidMotion, words: str) -> list[str]:
    q = to_quaternion(motion.R)
    return [f"position = {motion.t.tolist()}  # {words}, m", f"quaternion = {q.tolist()}  # scalar first"]


def _covariance(rig: Rig, C: Array) -> list[str]:
    """Standard deviations by name, and correlations row by row below the diagonal; exact parameters are left out."""
    kept = np.flatnonzero(C.diagonal() > 0)
    sigma = np.sqrt(C.diagonal()[kept])
    K = C[np.ix_(kept, kept)] / np.outer(sigma, sigma)
    lines = ["[uncertainty]", "# positions in m, left rotation vectors (rx, ry, rz) in rad, lenses as in [camera]"]
    names = [rig.layout.names[k] for k in kept]
    lines += ["parameters = [", *(f"    {_quoted(name)}," for name in names), "]"]
    lines += [f"sigma = {sigma.tolist()}", "correlation = [  # row by row, below the diagonal"]
    for i in range(1, len(kept)):
        row = ", ".join(f"{v:.9g}" if v != round(v) else f"{v:.1f}" for v in K[i, :i])
        lines.append(f"    [{row}],")
    return [*lines, "]"]


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_rig(path: str | Path) -> Rig:
    """The rig in a TOML file.

    Raises:
        InputError: the file cannot be read, or is no rig; the message names what is missing.
    """
    data = read_toml(path)[0]
    for key in data:
        require(
            key in {"camera", "target", "uncertainty"},
            f"{path}: a rig has no '{key}'{nearest(key, ('camera', 'target', 'uncertainty'))}; "
            "write it with gough camera rig",
        )
    for key in ("camera", "target"):
        fits = isinstance(data.get(key), list) and len(data[key]) > 0 and all(isinstance(e, dict) for e in data[key])
        require(fits, f"{path} is no rig: it has no [[{key}]]; write it with gough camera rig")
    cameras, targets = [], []
    for k, each in enumerate(data["camera"]):
        where = f"{path}, camera {k + 1}"
        _check(each, _CAMERA, where)
        require(isinstance(each.get("camera"), dict), f"{where} has no table [camera.camera]")
        lens = camera_of(each["camera"], f"{where}, [camera.camera]")
        cameras.append(RigCamera(_name(each, where), lens, _flag(each, "moving", where), _motion(each, where)))
    for k, each in enumerate(data["target"]):
        where = f"{path}, target {k + 1}"
        _check(each, _TARGET, where)
        require(isinstance(each.get("target"), dict), f"{where} has no table [target.target]")
        sheet = target_of(each["target"], f"{where}, [target.target]")
        dots, size = (_size(each.get(key, 0.0), f"{where}, {key}") for key in ("dots_sigma", "size_sigma"))
        fixed = _flag(each, "fixed", where)
        targets.append(RigTarget(_name(each, where), sheet, fixed, dots, size, _motion(each, where)))
    try:
        rig = Rig(tuple(cameras), tuple(targets))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return Rig(rig.cameras, rig.targets, _read_covariance(data.get("uncertainty"), rig, path))


def _check(each: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in each:
        require(key in known, f"{where}: '{key}' is not known{nearest(key, known)}")


def _name(each: Mapping[str, Any], where: str) -> str:
    name = each.get("name")
    if not isinstance(name, str) or not name or visible(name) != name:
        raise InputError(f"{where} needs a name in quotes")
    return name


def _flag(each: Mapping[str, Any], key: str, where: str) -> bool:
    value = each.get(key, False)
    if not isinstance(value, bool):
        raise InputError(f"{where}: {key} must be true or false, but is {value!r}")
    return value


def _size(value: Any, where: str) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1
    require(good, f"{where} must be a number from 0 to 1, but is {value!r}")
    return float(value)


def _motion(each: Mapping[str, Any], where: str) -> RigidMotion:
    if each.get("moving") is True:
        return IDENTITY
    parts = []
    for key, count in zip(_PLACE, (3, 4), strict=True):
        value = each.get(key)
        good = isinstance(value, list) and len(value) == count and all(_is_number(v) for v in value)
        require(good, f"{where}: {key} must be {count} finite numbers, but is {value!r}")
        parts.append(np.array(value, dtype=float))
    length = float(np.linalg.norm(parts[1]))
    require(abs(length - 1) < 1e-6, f"{where}: the quaternion must have the length 1, but has {length:.6g}")
    return RigidMotion(nearest_rotation(from_quaternion(parts[1])), parts[0])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))


def _read_covariance(table: Any, rig: Rig, path: str | Path) -> Array:
    where = f"{path}, [uncertainty]"
    require(isinstance(table, dict), f"{path} has no table [uncertainty]: write it with gough camera rig")
    names, sigma, rows = (table.get(key) for key in ("parameters", "sigma", "correlation"))
    known = {name: k for k, name in enumerate(rig.layout.names)}
    whole = isinstance(names, list) and isinstance(sigma, list) and isinstance(rows, list)
    require(whole, f"{where} needs parameters, sigma and correlation")
    n = len(names)
    for name in names:
        require(
            isinstance(name, str) and name in known,
            f"{where}: this rig has no parameter {name!r}{nearest(str(name), known)}",
        )
    require(len(set(names)) == n, f"{where}: a parameter is named twice")
    good = len(sigma) == n and all(_is_number(s) and s > 0 for s in sigma)
    require(good, f"{where}: sigma must be {n} positive numbers, one for each parameter")
    shape = len(rows) == max(n - 1, 0) and all(isinstance(r, list) and len(r) == k + 1 for k, r in enumerate(rows))
    fits = shape and all(_is_number(v) and abs(v) <= 1 for row in rows for v in row)
    require(fits, f"{where}: correlation must have {max(n - 1, 0)} rows of 1, 2, 3, … numbers from -1 to 1")
    K = np.eye(n)
    for i, row in enumerate(rows, start=1):
        K[i, :i] = K[:i, i] = row
    least = float(np.linalg.eigvalsh(K)[0]) if n else 0.0
    require(least > -1e-6, f"{where}: correlation is no matrix of correlations (eigenvalue {least:.2g})")
    place = np.array([known[name] for name in names], dtype=int)
    C = np.zeros((len(known), len(known)))
    C[np.ix_(place, place)] = K * np.outer(sigma, sigma)
    return C
