"""MJCF, the XML of MuJoCo: bodies inside bodies, with joints in them, and equality constraints that close loops."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import pi, radians
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.robots.mechanism.imports.parts import Imported, rigid_body
from gough.robots.mechanism.imports.shapes import SIZES, Mass, Solid, together
from gough.robots.mechanism.imports.xml import Element, read_xml
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, HELD, Body, Closure, Freedom, Friction, Joint, Limits
from gough.robots.mechanism.placement import Placement, Rotation, Vector, exact, facing, rotation, turned, unit

_DENSITY = 1000.0
"""Density of geoms in kg/m³, where a file states none."""
_ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion")
"""Actuators; a default of any of them is one of all."""


@dataclass(frozen=True, eq=False)
class MjcfSettings:
    """The settings of <compiler> and <default>."""

    angle: float
    """An angle as it is written, in rad."""
    sequence: str
    """The order of euler angles: a small letter turns with the frame, a capital one stays."""
    defaults: dict[str, dict[str, dict[str, str]]]
    """By class and tag, the default attributes of elements."""
    inertia_from_geoms: str = "auto"
    """true: inertias come from the geoms; false: from <inertial>; auto: from the geoms where there is no <inertial>."""
    groups: tuple[float, float] = (0, 5)
    """The first and the last group of geoms that count for an inertia."""
    least_mass: float = 0.0
    least_moment: float = 0.0
    is_balanced: bool = False
    """Moments that no rigid body has are replaced by their mean."""
    total_mass: float = -1.0
    """All masses are scaled to this sum, if it is positive."""
    auto_limits: bool = True
    """A joint with a range is limited."""

    @classmethod
    def read(cls, root: Element) -> "MjcfSettings":
        """From the root of a file."""
        compilers = root.all("compiler")
        compiler = Element("compiler", {}, root.line, root.file)
        for each in compilers:
            compiler = replace(each, attributes={**compiler.attributes, **each.attributes})
            if each.attributes.get("coordinate", "local") != "local":
                raise each.refuse("global coordinates cannot be read: save the file anew with MuJoCo")
            if each.attributes.get("alignfree") == "true":
                raise each.refuse("alignfree moves the frames of free bodies: write alignfree='false'")
        settings = compiler.attributes
        defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for block in root.all("default"):
            _defaults(block, "main", defaults["main"], defaults)
            defaults[block.attributes.get("class", "main")] = defaults["main"]  # older files give it another name
        angle = 1.0 if settings.get("angle", "degree") == "radian" else pi / 180
        sequence = settings.get("eulerseq", "xyz")
        if re.fullmatch("[xyzXYZ]{3}", sequence) is None:
            raise root.refuse(f"<compiler eulerseq>: '{sequence:.40}' is no order of three axes, such as xyz")
        first, last = compiler.numbers("inertiagrouprange", "0 5", 2)
        return cls(
            angle,
            sequence,
            defaults,
            _word(compiler, "inertiafromgeom", ("auto", "true", "false")),
            (first, last),
            compiler.number("boundmass"),
            compiler.number("boundinertia"),
            _word(compiler, "balanceinertia", ("false", "true")) == "true",
            compiler.number("settotalmass", -1.0),
            _word(compiler, "autolimits", ("true", "false")) == "true",
        )

    def filled(self, element: Element, style: str, tags: tuple[str, ...] = ()) -> Element:
        """The element with the attributes that its class gives it, by its own tag or by one of `tags`."""
        name = element.attributes.get("class", style or "main")
        if name not in self.defaults:
            raise element.refuse(f"there is no default class '{name}'")
        attributes: dict[str, str] = {}
        for tag in tags or (element.tag,):
            attributes = _over(attributes, self.defaults[name].get(tag, {}))
        return replace(element, attributes=_over(attributes, element.attributes))


def _word(element: Element, key: str, known: tuple[str, ...]) -> str:
    """One of several words; the first is the default."""
    word = element.attributes.get(key, known[0])
    if word not in known:
        raise element.refuse(f"'{key}' must be one of {', '.join(known)}, but is '{word:.40}'")
    return word


def _over(below: dict[str, str], above: dict[str, str]) -> dict[str, str]:
    """Attributes over those of a default: an orientation replaces that of the default, however it is written."""
    turned = any(key in above for key in _ORIENTATIONS)
    return {**{key: text for key, text in below.items() if not (turned and key in _ORIENTATIONS)}, **above}


def _defaults(
    block: Element, name: str, above: dict[str, dict[str, str]], defaults: dict[str, dict[str, dict[str, str]]]
) -> None:
    own = {tag: dict(values) for tag, values in above.items()}
    for child in block:
        if child.tag != "default":
            own[child.tag] = _over(own.get(child.tag, {}), child.attributes)
    defaults[name] = own
    for child in block.all("default"):
        _defaults(child, child.required("class"), own, defaults)


def frame_of(element: Element, settings: MjcfSettings) -> Placement:
    """Position and orientation of a body, frame, site, geom or inertial frame."""
    if "fromto" in element.attributes:
        ends = np.array(element.numbers("fromto", "", 6)).reshape(2, 3)
        return Placement(exact(ends.mean(axis=0)), _orientation(element, settings))
    x, y, z = element.numbers("pos", "0 0 0", 3)
    return Placement((x, y, z), _orientation(element, settings))


def _orientation(element: Element, settings: MjcfSettings) -> Rotation:
    try:
        return _turned(element, settings)
    except InputError as error:
        if str(error).startswith(str(element.file)):
            raise
        raise element.refuse(str(error)) from error


def _turned(element: Element, settings: MjcfSettings) -> Rotation:
    if "fromto" in element.attributes:
        start, end = np.array(element.numbers("fromto", "", 6)).reshape(2, 3)
        return _least_turn(start - end)
    keys = [key for key in _ORIENTATIONS if key in element.attributes]
    if not keys:
        return Placement().rotation
    if len(keys) > 1:
        raise element.refuse(f"its orientation is stated twice, by {' and '.join(keys)}")
    match keys[0]:
        case "quat":
            return _from_quaternion(np.array(element.numbers("quat", "", 4)))
        case "axisangle":
            *axis, angle = element.numbers("axisangle", "", 4)
            return turned(axis, angle * settings.angle)
        case "xyaxes":
            values = np.array(element.numbers("xyaxes", "", 6))
            return facing(values[:3].tolist(), np.cross(values[:3], values[3:]).tolist())
        case "zaxis":
            return _least_turn(np.array(element.numbers("zaxis", "", 3)))
        case _:
            total = np.eye(3)
            for letter, angle in zip(settings.sequence, element.numbers("euler", "", 3), strict=True):
                turn = np.array(turned(letter.lower(), angle * settings.angle))
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


REFUSED = {
    "tendon": "tendons pull along paths",
    "deformable": "deformable bodies are not rigid",
    "include": "write out what is included",
    "extension": "plugins are programs",
    "composite": "write out its bodies",
    "flexcomp": "it is not rigid",
    "replicate": "write out its copies",
    "attach": "write out what is attached",
}
"""Elements that no mechanism has, and why or what to do."""


def read_mjcf(path: str | Path) -> Imported:
    """Bodies, joints, closures and actuators of an MJCF file; the world is the base.

    Joints: hinge, slide, ball, free. Closures: connect and weld, between bodies or sites. Actuators on joints, with
    gear 1, name the actuated coordinates. Damping, friction loss, armature and ranges are taken over. Bodies without
    <inertial> have the mass of their geoms, as <compiler> states; meshes need an <inertial>. Contacts and what only the
    picture needs are not looked at.

    Raises:
        InputError: the file cannot be read, or holds what a mechanism cannot express; with element and line.
    """
    root = read_xml(Path(path), "mujoco")
    reader = _Reader(root)
    world = root.first("worldbody")
    if world is None:
        raise root.refuse("there is no <worldbody>")
    reader.read_children(world, BASE, Placement(), Placement(), "")
    return Imported(
        root.attributes.get("model", Path(path).stem),
        tuple(reader.weighed()),
        tuple(reader.joints),
        tuple(reader.closures()),
        tuple(reader.actuated()),
        _gravity(root),
    )


def _gravity(root: Element) -> Vector:
    gravity: Vector = (0.0, 0.0, -9.81)
    for option in root.all("option"):
        x, y, z = option.numbers("gravity", " ".join(map(repr, gravity)), 3)
        gravity = (x, y, z)
    flags = [flag for option in root.all("option") for flag in option.all("flag")]
    return (0.0, 0.0, 0.0) if any(flag.attributes.get("gravity") == "disable" for flag in flags) else gravity


@dataclass(eq=False)
class _Reader:
    """The bodies, joints and closures read so far."""

    root: Element
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    frames: dict[str, Placement] = field(default_factory=lambda: {BASE: Placement(), "world": Placement()})
    """Frame of every body as MJCF defines it, in the world, at the reference."""
    shifts: dict[str, Vector] = field(default_factory=lambda: {BASE: (0.0, 0.0, 0.0), "world": (0.0, 0.0, 0.0)})
    """Where the frame that a joint gives to the body stands in the body's frame of MJCF: only positions differ."""
    sites: dict[str, tuple[str, Placement]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for child in self.root:
            if child.tag in REFUSED:
                raise child.refuse(f"a mechanism has no such part: {REFUSED[child.tag]}")

    @cached_property
    def settings(self) -> MjcfSettings:
        """The conventions of angles and frames."""
        return MjcfSettings.read(self.root)

    def _inside(self, element: Element, style: str) -> Iterator[tuple[Element, Placement, str]]:
        """What a body holds, with the placement of the <frame> around it, and the class of defaults there."""
        for child in element:
            if child.tag in REFUSED:
                raise child.refuse(f"a mechanism has no such part: {REFUSED[child.tag]}")
            if child.tag == "frame":
                at = frame_of(child, self.settings)
                for part, place, own in self._inside(child, child.attributes.get("childclass", style)):
                    yield part, at @ place, own
            else:
                yield child, Placement(), style

    def read_children(self, element: Element, name: str, world: Placement, shift: Placement, style: str) -> None:
        """Everything inside a body; `shift` leads from its frame of MJCF to the frame that its joint gives it."""
        for child, outer, own in self._inside(element, style):
            if child.tag == "site" and "name" in child.attributes:
                self.sites[child.attributes["name"]] = (
                    name,
                    outer @ frame_of(self.settings.filled(child, own), self.settings),
                )
            elif child.tag == "body":
                self._read_body(child, name, world, (shift, outer), own)

    def _read_body(
        self, element: Element, parent: str, world: Placement, around: tuple[Placement, Placement], style: str
    ) -> None:
        shift, outer = around
        style = element.attributes.get("childclass", style)
        name = element.attributes.get("name", f"body{len(self.bodies) + 1}")
        if name == BASE or element.attributes.get("mocap") == "true" or element.number("gravcomp"):
            raise element.refuse(f"a body called '{BASE}', moved by mocap or freed from gravity cannot be expressed")
        at = outer @ frame_of(element, self.settings)
        before = Placement(tuple((-np.array(shift.position)).tolist())) @ at
        held = list(self._inside(element, style))
        # defaults of joints do not hold for <freejoint>
        joints = [
            (part if part.tag == "freejoint" else self.settings.filled(part, own), place)
            for part, place, own in held
            if part.tag in {"joint", "freejoint"}
        ]
        anchor = np.zeros(3)
        above = parent
        for k, (joint, place) in enumerate(joints):
            is_last = k == len(joints) - 1
            child = name if is_last else f"{name}_before_{joints[k + 1][0].attributes.get('name', k + 1)}"
            made, anchor = self._joint(joint, above, child, (before, place), anchor)
            self.joints.append(made)
            if not is_last:
                self.bodies.append(Body(child, Inertia(0.0, symmetry="massless")))
            above, before = child, Placement()
        if not joints:
            self.joints.append(Joint(f"{name}_fixed", "fixed", parent, name, before))
        self.bodies.append(Body(name, self._inertia(element, held, anchor)))
        self.frames[name] = world @ at
        self.shifts[name] = exact(anchor)
        self.read_children(element, name, world @ at, Placement(exact(anchor)), style)

    def _joint(
        self, joint: Element, parent: str, child: str, around: tuple[Placement, Placement], anchor: Array
    ) -> tuple[Joint, Array]:
        """A joint whose frame stands at its anchor, turned back by its reference, and that anchor."""
        before, outer = around
        kind = "free" if joint.tag == "freejoint" else joint.attributes.get("type", "hinge")
        name = joint.attributes.get("name", f"joint{len(self.joints) + 1}")
        _refuse_forces(joint, kind)
        if kind == "free":
            if parent != BASE:
                raise joint.refuse("a free joint belongs directly under the world")
            return Joint(name, "free", parent, child, freedoms=_floating(before)), np.zeros(3)
        pos = np.array(outer.position) + outer.matrix @ np.array(joint.numbers("pos", "0 0 0", 3))
        place = before @ Placement(exact(pos - anchor))
        if kind == "ball":
            return Joint(name, "spherical", parent, child, place), pos
        if kind not in {"hinge", "slide"}:
            raise joint.refuse(f"joints of type '{kind}' are not known (known: hinge, slide, ball, free)")
        try:
            direction = unit(outer.matrix @ np.array(unit(joint.numbers("axis", "0 0 1", 3), "axis")), "axis")
        except InputError as error:
            raise joint.refuse("an axis of zero length points nowhere") from error
        ref = joint.number("ref") * (self.settings.angle if kind == "hinge" else 1.0)
        if kind == "hinge":
            place @= Placement(rotation=turned(direction, -ref))
        else:
            place @= Placement(exact(-ref * np.array(direction)))
        across = (1.0, 0.0, 0.0) if abs(direction[0]) < 0.9 else (0.0, 1.0, 0.0)
        word = "revolute" if kind == "hinge" else "prismatic"
        freedom = self._freedom(joint, name, ref, self.settings.angle if kind == "hinge" else 1.0)
        return Joint(name, word, parent, child, place, direction, across, (freedom,)), pos  # type: ignore[arg-type]

    def _freedom(self, joint: Element, name: str, start: float, unit: float) -> Freedom:
        limits = None
        ends = joint.numbers("range", "0 0")
        limited = joint.attributes.get("limited", "auto")
        if limited == "true" or (limited == "auto" and self.settings.auto_limits and ends[0] < ends[-1]):
            try:
                limits = Limits(ends[0] * unit, ends[-1] * unit)
            except InputError as error:
                raise joint.refuse(str(error)) from error
        viscous, dry, rotor = (joint.number(key) for key in ("damping", "frictionloss", "armature"))
        friction = Friction(name, dry or None, viscous or None) if dry or viscous else None
        return Freedom(start, limits, friction, rotor or None)

    def _inertia(self, element: Element, held: list[tuple[Element, Placement, str]], anchor: Array) -> Inertia:
        """About the center, which is seen from the joint's anchor."""
        settings = self.settings
        inertial = next(((part, place) for part, place, _ in held if part.tag == "inertial"), None)
        mode = settings.inertia_from_geoms
        geoms: list[Mass] = []
        if mode == "true" or (mode == "auto" and inertial is None):
            every = (self._geom(part, place, own) for part, place, own in held if part.tag == "geom")
            geoms = [geom for geom in every if geom is not None]
        try:
            if geoms:
                found = together(geoms) if sum(geom.mass for geom in geoms) > 0 else None
            elif inertial is not None:
                found = self._stated(*inertial)
            else:
                found = None
            if found is None:
                found = Mass(0.0, np.zeros(3), np.zeros((3, 3)))
            mass, center, inertia = self._bounded(found)
            return rigid_body(mass, center - anchor, inertia)
        except InputError as error:
            where = inertial[0] if inertial is not None and not geoms else element
            if str(error).startswith(str(element.file)):
                raise
            raise where.refuse(str(error)) from error

    def _stated(self, inertial: Element, outer: Placement) -> Mass:
        at = outer @ frame_of(inertial, self.settings)
        if "fullinertia" in inertial.attributes:
            xx, yy, zz, xy, xz, yz = inertial.numbers("fullinertia", "", 6)
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            own = np.diag(inertial.numbers("diaginertia", "0 0 0", 3))
        return Mass(inertial.number("mass"), np.array(at.position), at.matrix @ own @ at.matrix.T)

    def _geom(self, element: Element, outer: Placement, style: str) -> Mass | None:
        """Mass of a geom; None where it does not count: another group, or a shape without volume."""
        geom = self.settings.filled(element, style)
        first, last = self.settings.groups
        shape = geom.attributes.get("type", "sphere")
        if not first <= geom.number("group") <= last or shape in {"plane", "hfield"}:
            return None
        if "mass" in geom.attributes and geom.number("mass") == 0:
            return Mass(0.0, np.zeros(3), np.zeros((3, 3)))
        if shape not in SIZES or "mesh" in geom.attributes or geom.attributes.get("shellinertia") == "true":
            what = "of type mesh" if "mesh" in geom.attributes else f"of type {shape}"
            what = "with shellinertia" if shape in SIZES and "mesh" not in geom.attributes else what
            raise geom.refuse(
                f"the inertia of a geom {what} is not computed: give the body an <inertial>, as in a file that MuJoCo "
                "saved (mujoco.mj_saveLastXML), or the geom mass='0'"
            )
        try:
            solid = Solid(shape, self._sizes(geom, shape))
        except InputError as error:
            if str(error).startswith(str(geom.file)):
                raise
            raise geom.refuse(str(error)) from error
        mass = geom.number("mass") if "mass" in geom.attributes else geom.number("density", _DENSITY) * solid.volume
        if mass < 0:
            raise geom.refuse("mass and density must not be negative")
        return solid.at(outer @ frame_of(geom, self.settings), mass)

    def _sizes(self, geom: Element, shape: str) -> tuple[float, ...]:
        sizes = geom.numbers("size", "0")
        if "fromto" not in geom.attributes:
            return tuple(sizes[: SIZES[shape]])
        if shape == "sphere":
            raise geom.refuse("a sphere has no two ends: fromto is for capsule, cylinder, box and ellipsoid")
        if any(geom.numbers("pos", "0 0 0", 3)):
            raise geom.refuse("its position is stated twice, by pos and fromto")
        start, end = np.array(geom.numbers("fromto", "", 6)).reshape(2, 3)
        half = float(np.linalg.norm(start - end)) / 2
        return (sizes[0], half) if SIZES[shape] == 2 else (sizes[0], sizes[0], half)

    def _bounded(self, body: Mass) -> Mass:
        """The mass with the least mass and moments that <compiler> asks for, and moments that a body can have."""
        settings = self.settings
        if not (settings.least_mass or settings.least_moment or settings.is_balanced):
            return body
        moments, axes = np.linalg.eigh(body.inertia)
        moments = np.maximum(moments, settings.least_moment)
        if settings.is_balanced and moments[0] + moments[1] < moments[2]:
            moments[:] = moments.mean()
        return Mass(max(body.mass, settings.least_mass), body.center, axes @ np.diag(moments) @ axes.T)

    def weighed(self) -> list[Body]:
        """The bodies, their masses scaled to the total that <compiler> asks for."""
        total = sum(body.inertia.mass for body in self.bodies)
        if self.settings.total_mass <= 0 or total == 0:
            return self.bodies
        by = self.settings.total_mass / total
        return [
            replace(body, inertia=rigid_body(by * one.mass, np.array(one.center), by * one.matrix))
            for body in self.bodies
            for one in (body.inertia,)
        ]

    def closures(self) -> list[Closure]:
        """The active connect and weld constraints."""
        closures = []
        for block in self.root.all("equality"):
            for k, written in enumerate(block):
                element = self.settings.filled(written, "", ("equality", written.tag))
                if element.attributes.get("active", "true") == "false":
                    continue
                if element.tag not in {"connect", "weld"}:
                    raise element.refuse("only connect and weld can be expressed as closures of points and frames")
                closures.append(self._closure(element, element.attributes.get("name", f"{element.tag}{k + 1}")))
        return closures

    def _closure(self, element: Element, name: str) -> Closure:
        held = HELD["point"] if element.tag == "connect" else HELD["frame"]
        if "site1" in element.attributes:
            ends = []
            for key in ("site1", "site2"):
                word = element.required(key)
                if word not in self.sites:
                    raise element.refuse(f"there is no site '{word}'")
                ends.append(self.sites[word])
        else:
            bodies = [element.required("body1"), element.attributes.get("body2", "world")]
            for body in bodies:
                if body not in self.frames:
                    raise element.refuse(f"there is no body '{body}'")
            if any(element.numbers("relpose", "0 1 0 0 0 0 0", 7)[3:]):
                raise element.refuse("a weld with relpose cannot be expressed: weld two sites")
            anchor = Placement(exact(np.array(element.numbers("anchor", "0 0 0", 3))))
            there = self.frames[bodies[0]] @ anchor  # both ends coincide at the reference
            ends = [(bodies[0], anchor), (bodies[1], _seen(self.frames[bodies[1]], there))]
        first, second = (self._moved(body, place) for body, place in ends)
        return Closure(name, (first[0], second[0]), (first[1], second[1]), held)

    def _moved(self, body: str, place: Placement) -> tuple[str, Placement]:
        """A frame on a body of MJCF, seen from the frame that its joint gives it."""
        shift = np.array(self.shifts[body])
        return BASE if body == "world" else body, Placement(exact(np.array(place.position) - shift), place.rotation)

    def actuated(self) -> list[str]:
        """The coordinates that actuators drive."""
        known = {name for joint in self.joints for name in joint.coordinates}
        joints = []
        for block in self.root.all("actuator"):
            for written in block:
                element = self.settings.filled(written, "", _ACTUATORS)
                joint = element.attributes.get("joint")
                if joint is None:
                    raise element.refuse("only actuators on joints can be expressed")
                if joint not in known:
                    raise element.refuse(f"there is no hinge or slide '{joint}'")
                if element.numbers("gear", "1")[0] != 1.0:
                    raise element.refuse("the effort of a joint is identified: write gear='1'")
                joints.append(joint)
        return joints


def _refuse_forces(joint: Element, kind: str) -> None:
    """Refuse what acts on a joint and is no parameter of a mechanism."""
    if joint.number("stiffness") or any(joint.numbers("springdamper", "0 0")):
        raise joint.refuse("springs cannot be expressed: set stiffness to 0")
    lost = [key for key in ("damping", "frictionloss", "armature") if kind in {"free", "ball"} and joint.number(key)]
    if lost:
        raise joint.refuse(f"{lost[0]} of a {kind} joint cannot be expressed: write {lost[0]}='0' in it")
    if joint.attributes.get("align") == "true":
        raise joint.refuse("align moves the frame of the body: write align='false'")


def _seen(frame: Placement, there: Placement) -> Placement:
    """A placement of the world, seen from a frame."""
    R = frame.matrix.T
    position = R @ (np.array(there.position) - np.array(frame.position))
    return Placement(exact(position), rotation(R @ there.matrix))


def _floating(at: Placement) -> tuple[Freedom, ...]:
    """The pose of a free body at the reference: x, y, z, roll, pitch, yaw."""
    R = at.matrix
    roll, pitch, yaw = np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(np.clip(R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])
    return tuple(Freedom(float(value)) for value in (*at.position, roll, pitch, yaw))
