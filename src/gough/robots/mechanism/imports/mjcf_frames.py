"""Frames, angles and defaults of MJCF."""

import re
from dataclasses import dataclass, replace
from math import pi, radians

import numpy as np

from gough.core.errors import InputError, require
from gough.robots.mechanism.imports.xml import Element
from gough.robots.mechanism.placement import Placement, Rotation, exact, facing, rotation, turned, unit


@dataclass(frozen=True, eq=False)
class Compiler:
    """The settings of <compiler> and <default>."""

    angle: float
    """An angle as it is written, in rad."""
    sequence: str
    """The order of euler angles: a small letter turns with the frame, a capital one stays."""
    defaults: dict[str, dict[str, dict[str, str]]]
    """By class and tag, the default attributes of elements."""

    @classmethod
    def read(cls, root: Element) -> "Compiler":
        """From the root of a file."""
        settings: dict[str, str] = {}
        for compiler in root.all("compiler"):
            settings |= compiler.attributes
            if compiler.attributes.get("coordinate", "local") != "local":
                raise compiler.refuse("global coordinates cannot be read: save the file anew with MuJoCo")
            if compiler.attributes.get("inertiafromgeom") == "true":
                raise compiler.refuse("masses must not come from shapes: give every body an <inertial>")
            if compiler.attributes.get("settotalmass", "-1") != "-1":
                raise compiler.refuse("settotalmass would change all masses: save the file anew with MuJoCo")
        defaults: dict[str, dict[str, dict[str, str]]] = {}
        for block in root.all("default"):
            _defaults(block, block.attributes.get("class", "main"), {}, defaults)
        angle = 1.0 if settings.get("angle", "degree") == "radian" else pi / 180
        sequence = settings.get("eulerseq", "xyz")
        if re.fullmatch("[xyzXYZ]{3}", sequence) is None:
            raise root.refuse(f"<compiler eulerseq>: '{sequence:.40}' is no order of three axes, such as xyz")
        return cls(angle, sequence, defaults)

    def filled(self, element: Element, style: str) -> Element:
        """The element with the attributes that its class gives it."""
        name = element.attributes.get("class", style or "main")
        if name not in self.defaults and name != "main":
            raise element.refuse(f"there is no default class '{name}'")
        given = self.defaults.get(name, {}).get(element.tag, {})
        return replace(element, attributes={**given, **element.attributes})


def _defaults(
    block: Element, name: str, above: dict[str, dict[str, str]], defaults: dict[str, dict[str, dict[str, str]]]
) -> None:
    own = {tag: dict(values) for tag, values in above.items()}
    for child in block:
        if child.tag != "default":
            own[child.tag] = {**own.get(child.tag, {}), **child.attributes}
    defaults[name] = own
    for child in block.all("default"):
        _defaults(child, child.required("class"), own, defaults)


def frame_of(element: Element, compiler: Compiler) -> Placement:
    """Position and orientation of a body, site or inertial frame."""
    x, y, z = element.numbers("pos", "0 0 0", 3)
    return Placement((x, y, z), _orientation(element, compiler))


def _orientation(element: Element, compiler: Compiler) -> Rotation:
    try:
        return _turned(element, compiler)
    except InputError as error:
        if str(error).startswith(str(element.file)):
            raise
        raise element.refuse(str(error)) from error


def _turned(element: Element, compiler: Compiler) -> Rotation:
    given = [key for key in ("quat", "axisangle", "euler", "xyaxes", "zaxis") if key in element.attributes]
    if not given:
        return Placement().rotation
    if len(given) > 1:
        raise element.refuse(f"its orientation is stated twice, by {' and '.join(given)}")
    match given[0]:
        case "quat":
            return _from_quaternion(np.array(element.numbers("quat", "", 4)))
        case "axisangle":
            *axis, angle = element.numbers("axisangle", "", 4)
            return turned(axis, angle * compiler.angle)
        case "xyaxes":
            values = np.array(element.numbers("xyaxes", "", 6))
            return facing(values[:3].tolist(), np.cross(values[:3], values[3:]).tolist())
        case "zaxis":
            return _least_turn(np.array(element.numbers("zaxis", "", 3)))
        case _:
            total = np.eye(3)
            for letter, angle in zip(compiler.sequence, element.numbers("euler", "", 3), strict=True):
                turn = np.array(turned(letter.lower(), angle * compiler.angle))
                total = total @ turn if letter.islower() else turn @ total
            return rotation(total)


def _from_quaternion(q: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Rotation:
    require(bool(np.linalg.norm(q) > 1e-12), "a quaternion of length zero turns nothing")
    w, x, y, z = q / np.linalg.norm(q)
    return rotation(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    )


def _least_turn(z: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Rotation:
    """The shortest turn that brings the z axis there."""
    z = np.array(unit(z, "zaxis"))
    axis = np.cross([0.0, 0.0, 1.0], z)
    if np.linalg.norm(axis) < 1e-12:
        return turned("x", 0.0 if z[2] > 0 else radians(180))
    return turned(exact(axis / np.linalg.norm(axis)), float(np.arctan2(np.linalg.norm(axis), z[2])))
