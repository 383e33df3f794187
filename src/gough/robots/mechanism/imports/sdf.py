"""SDF, the description of Gazebo: links, and joints between any of them, which may form loops."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import pi
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest
from gough.robots.mechanism.imports.joints import across, closing
from gough.robots.mechanism.imports.parts import Imported, rigid_body
from gough.robots.mechanism.imports.xml import Element, read_xml
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Closure, Freedom, Friction, Joint, Kind, Limits
from gough.robots.mechanism.placement import Placement, Vector, exact, roll_pitch_yaw, rotation, unit

KINDS: dict[str, Kind] = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "universal": "universal",
    "ball": "spherical",
}
_COST = {"fixed": 1, "revolute": 2, "prismatic": 2, "universal": 3, "spherical": 4}
"""Loops are cut at the joints with the highest number: a cut ball joint leaves the fewest equations."""
_WORLD = "world"
_FAR = 1e15
"""SDF writes 1e16 where a limit is open."""
REFUSED = {"include": "write out what is included", "gripper": "a gripper is no joint", "model": "write out its parts"}


def read_sdf(path: str | Path, actuated: Sequence[str] = ()) -> Imported:
    """Links and joints of the only model of an SDF file, versions 1.4 to 1.12.

    Links that a joint holds to the world are held to the base; where there is no such joint, the first link is the
    base. Where joints form loops, a tree of them is kept, and the others become closures: ball joints first, never one
    of `actuated`. Damping, friction and limits of axes are taken over; shapes, sensors and plugins are not looked at.

    Raises:
        InputError: the file cannot be read, or holds what a mechanism cannot express; with element and line.
    """
    root = read_xml(Path(path), "sdf")
    worlds = root.all("world")
    models = [model for holder in (root, *worlds) for model in holder.all("model")]
    if len(models) != 1:
        raise root.refuse(f"one <model> is expected, but there are {len(models)}")
    gravity = next((g for world in worlds for g in world.all("gravity")), None)
    x, y, z = gravity.text_numbers(3) if gravity is not None else (0.0, 0.0, -9.8)
    reader = _Model(models[0], _version(root), tuple(actuated))
    bodies, joints, closures = reader.parts()
    return Imported(models[0].required("name"), bodies, joints, closures, gravity=(x, y, z))


def _version(root: Element) -> tuple[int, int]:
    text = root.required("version")
    try:
        first, second = (int(part) for part in text.split("."))
    except ValueError as error:
        raise root.refuse(f"the version must be such as 1.9, but is '{text}'") from error
    return first, second


@dataclass(frozen=True, eq=False)
class _Model:
    """A model: where its frames stand in the position in which the file draws it."""

    element: Element
    version: tuple[int, int]
    actuated: tuple[str, ...]
    placing: list[str] = field(default_factory=list)
    """Frames whose placement is being looked for, to find circles."""

    @cached_property
    def links(self) -> dict[str, Element]:
        """The links by name."""
        for child in self.element:
            if child.tag in REFUSED:
                raise child.refuse(f"a mechanism has no such part: {REFUSED[child.tag]}")
        return self._named("link")

    @cached_property
    def joints(self) -> dict[str, Element]:
        """The joints by name."""
        return self._named("joint")

    def _named(self, tag: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in self.element.all(tag):
            name = element.required("name")
            if name in found:
                raise element.refuse("this name is there twice")
            found[name] = element
        return found

    @cached_property
    def frames(self) -> dict[str, Element]:
        """All that has a placement, by name."""
        return {**self._named("frame"), **self.links, **self.joints}

    def at(self, name: str, asker: Element) -> Placement:
        """Where a frame stands in the frame of the model."""
        if name in {"__model__", _WORLD, ""}:
            return Placement()
        if name not in self.frames:
            raise asker.refuse(f"there is no frame '{name}'{nearest(name, self.frames)}")
        if name in self.placing:
            raise asker.refuse(f"the frames {', '.join(self.placing)} stand relative to one another in a circle")
        element = self.frames[name]
        self.placing.append(name)
        default = self.end(element, "child") if element.tag == "joint" else element.attributes.get("attached_to", "")
        pose = element.first("pose")
        relative = pose.attributes.get("relative_to", "") if pose is not None else ""
        placed = self.at(relative or default, element) @ pose_of(element)
        self.placing.remove(name)
        return placed

    def end(self, joint: Element, tag: str) -> str:
        """The link that a joint names as its parent or child."""
        end = joint.first(tag)
        if end is None:
            raise joint.refuse(f"<{tag}> is required")
        name = end.text
        if name in self.frames and self.frames[name].tag == "frame":
            name = self.frames[name].attributes.get("attached_to", "")
        if name != _WORLD and name not in self.links:
            raise end.refuse(f"there is no link '{end.text}'{nearest(end.text, self.links)}")
        return name

    def parts(self) -> tuple[tuple[Body, ...], tuple[Joint, ...], tuple[Closure, ...]]:
        """Bodies on a tree of joints, and the closures that the other joints are."""
        if not self.links:
            raise self.element.refuse("the model has no <link>")
        ends = {name: (self.end(joint, "parent"), self.end(joint, "child")) for name, joint in self.joints.items()}
        for name, joint in self.joints.items():
            if ends[name][0] == ends[name][1]:
                raise joint.refuse(f"it holds '{ends[name][0]}' to itself")
            if joint.required("type") not in KINDS:
                raise joint.refuse(
                    f"joints of type '{joint.attributes['type']}' are not known (known: {', '.join(KINDS)})"
                )
        held = any(_WORLD in pair for pair in ends.values())
        root = _WORLD if held else next(iter(self.links))
        tree = self._tree(ends, root)
        places = {root: self.at(root if root != _WORLD else "", self.element)}
        joints: list[Joint] = []
        for name, (above, below) in tree.items():
            joints.append(self._joint(name, above, below, places, root))
        names = {root: BASE}
        closures = tuple(self._closure(name, ends[name], places, names) for name in self.joints if name not in tree)
        bodies = tuple(
            Body(self._body_name(name, root), self._inertia(link, places[name]))
            for name, link in self.links.items()
            if name != root
        )
        return bodies, tuple(joints), closures

    def _body_name(self, name: str, root: str) -> str:
        if name == BASE and name != root:
            raise self.links[name].refuse(f"'{BASE}' is the fixed frame of a mechanism: give this link another name")
        return name

    def _tree(self, ends: dict[str, tuple[str, str]], root: str) -> dict[str, tuple[str, str]]:
        """Joints of a spanning tree, from the root outwards, with the link above and below."""
        order = sorted(ends, key=lambda name: 0 if name in self.actuated else _COST[KINDS[self._kind(name)]])
        group = {name: name for name in (*self.links, _WORLD)}
        kept = []
        for name in order:
            first, second = (group[end] for end in ends[name])
            if first == second:
                if name in self.actuated:
                    raise self.joints[name].refuse("the actuated joints alone form a loop")
                continue
            kept.append(name)
            group = {link: first if of == second else of for link, of in group.items()}
        tree: dict[str, tuple[str, str]] = {}
        reached = {root}
        while len(tree) < len(kept):
            grown = [name for name in kept if name not in tree and len(set(ends[name]) & reached) == 1]
            if not grown:
                break
            for name in grown:
                above, below = ends[name] if ends[name][0] in reached else ends[name][::-1]
                tree[name] = (above, below)
                reached.add(below)
        loose = [name for name in self.links if name not in reached]
        if loose:
            raise self.links[loose[0]].refuse(f"no joint leads from here to {root}")
        return tree

    def _kind(self, name: str) -> str:
        return self.joints[name].required("type")

    def _joint(self, name: str, above: str, below: str, places: dict[str, Placement], root: str) -> Joint:
        element = self.joints[name]
        kind, at = KINDS[self._kind(name)], self.at(name, element)
        is_reversed = self.end(element, "parent") == below
        axes = [self._axis(element, tag) for tag in ("axis", "axis2")]
        if is_reversed:  # R1(q1) R2(q2), seen from the child, is R2(-q2) R1(-q1)
            turned = [(-x, -y, -z) for x, y, z in axes]
            axes = [turned[0], across(turned[0])] if kind != "universal" else turned[::-1]
        elif kind != "universal":
            axes[1] = across(axes[0])
        places[below] = at
        placement = inverse(places[above]) @ at
        freedoms = (self._freedom(element, name),) if kind in {"revolute", "prismatic"} else ()
        parent = BASE if above == root else above
        try:
            return Joint(name, kind, parent, below, placement, axes[0], axes[1], freedoms)
        except InputError as error:
            raise element.refuse(str(error)) from error

    def _closure(
        self, name: str, ends: tuple[str, str], places: dict[str, Placement], names: dict[str, str]
    ) -> Closure:
        element, at = self.joints[name], self.at(name, self.joints[name])
        frames = (inverse(places[ends[0]]) @ at, inverse(places[ends[1]]) @ at)
        kind = self._kind(name)
        first = self._axis(element, "axis")
        second = self._axis(element, "axis2") if kind == "universal" else first
        bodies = (names.get(ends[0], ends[0]), names.get(ends[1], ends[1]))
        try:
            return closing(name, kind, bodies, frames, (first, second))
        except InputError as error:
            raise element.refuse(str(error)) from error

    def _axis(self, joint: Element, tag: str) -> Vector:
        """A direction in the joint's frame; z where none is stated."""
        axis = joint.first(tag)
        xyz = axis.first("xyz") if axis is not None else None
        if axis is None or xyz is None:
            return (0.0, 0.0, 1.0) if tag == "axis" else (1.0, 0.0, 0.0)
        old = axis.first("use_parent_model_frame")
        in_model = self.version < (1, 5) or (old is not None and old.text in {"1", "true"})
        named = xyz.attributes.get("expressed_in", "")
        try:
            direction = np.array(unit(xyz.text_numbers(3), "axis"))
        except InputError as error:
            raise error if str(error).startswith(str(xyz.file)) else xyz.refuse(str(error)) from error
        if not named and not in_model:
            return exact(direction)
        own, other = self.at(joint.required("name"), joint), self.at(named, xyz)
        return exact(own.matrix.T @ other.matrix @ direction)

    def _freedom(self, joint: Element, name: str) -> Freedom:
        axis = joint.first("axis")
        limit, dynamics = (axis.first(tag) if axis is not None else None for tag in ("limit", "dynamics"))
        known: dict[str, float] = {}
        words = {"lower": "lower", "upper": "upper", "effort": "effort", "velocity": "speed"}
        for tag, key in words.items():
            value = _number(limit, tag, np.inf)
            is_open = abs(value) > _FAR or (tag in {"effort", "velocity"} and value <= 0)
            if not is_open and not (joint.attributes["type"] == "continuous" and tag in {"lower", "upper"}):
                known[key] = value
        if _number(dynamics, "spring_stiffness", 0.0):
            assert dynamics is not None
            raise dynamics.refuse("a mechanism has no springs")
        viscous, dry = (_number(dynamics, tag, 0.0) for tag in ("damping", "friction"))
        try:
            limits = Limits(**known) if known else None
            friction = Friction(name, dry or None, viscous or None) if viscous or dry else None
        except InputError as error:
            raise joint.refuse(str(error)) from error
        return Freedom(limits=limits, friction=friction)

    def _inertia(self, link: Element, body: Placement) -> Inertia:
        inertial = link.first("inertial")
        if inertial is None:
            raise link.refuse("it has no <inertial>, and SDF then takes 1 kg and 1 kg m²: state its mass")
        at = inverse(body) @ self.at(link.required("name"), link) @ pose_of(inertial)
        matrix = inertial.first("inertia")
        xx, yy, zz = (_number(matrix, key, 1.0) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (_number(matrix, key, 0.0) for key in ("ixy", "ixz", "iyz"))
        own: Array = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        try:
            mass = _number(inertial, "mass", 1.0)
            return rigid_body(mass, np.array(at.position), at.matrix @ own @ at.matrix.T)
        except InputError as error:
            raise inertial.refuse(str(error)) from error


def inverse(place: Placement) -> Placement:
    """The placement of the other frame in this one."""
    R = place.matrix.T
    return Placement(exact(-R @ np.array(place.position)), rotation(R))


def pose_of(element: Element) -> Placement:
    """What <pose> states: x, y, z, roll, pitch, yaw, or a quaternion where its attribute says so."""
    pose = element.first("pose")
    if pose is None or not pose.text:
        return Placement()
    form = pose.attributes.get("rotation_format", "euler_rpy")
    if form == "quat_xyzw":
        x, y, z, *quaternion = pose.text_numbers(7)
        qx, qy, qz, qw = np.array(quaternion) / (np.linalg.norm(quaternion) or np.nan)
        if np.isnan(qw):
            raise pose.refuse("a quaternion of length zero turns nothing")
        cross = np.array([[0.0, -qz, qy], [qz, 0.0, -qx], [-qy, qx, 0.0]])
        return Placement((x, y, z), rotation(np.eye(3) + 2 * qw * cross + 2 * cross @ cross))
    if form != "euler_rpy":
        raise pose.refuse(f"rotation_format must be euler_rpy or quat_xyzw, but is '{form:.40}'")
    x, y, z, *angles = pose.text_numbers(6)
    scale = pi / 180 if pose.attributes.get("degrees") in {"1", "true"} else 1.0
    roll, pitch, yaw = (angle * scale for angle in angles)
    return Placement((x, y, z), roll_pitch_yaw(roll, pitch, yaw))


def _number(holder: Element | None, tag: str, default: float) -> float:
    element = holder.first(tag) if holder is not None else None
    if element is None or element.text.lower() in {"inf", "+inf", "-inf"}:
        return default
    return element.text_numbers(1)[0]
