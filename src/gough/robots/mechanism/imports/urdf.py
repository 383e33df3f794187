"""URDF, the robot description of ROS: a tree of links. Loops must be stated separately."""

from pathlib import Path

import numpy as np

from gough.core.errors import InputError
from gough.robots.mechanism.imports.parts import Imported, rigid_body
from gough.robots.mechanism.imports.xml import Element, read_xml
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, FREEDOMS, Body, Freedom, Friction, Joint, Kind, Limits
from gough.robots.mechanism.placement import Placement, Vector, roll_pitch_yaw, unit

KINDS: dict[str, Kind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}


def read_urdf(path: str | Path) -> Imported:
    """Links and joints of a URDF file; its root link is the base.

    Inertias, limits, damping (viscous) and friction (dry) of joints are taken over; shapes, transmissions and what
    other programs add are not looked at.

    Raises:
        InputError: the file cannot be read, or holds what a mechanism cannot express; with element and line.
    """
    robot = read_xml(Path(path), "robot")
    links = {link.required("name"): link for link in robot.all("link")}
    joints = robot.all("joint")
    children = {_end(joint, "child", links) for joint in joints}
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        raise robot.refuse(f"one link must be the root, but there are {len(roots)} ({', '.join(roots) or 'a circle'})")
    renamed = {roots[0]: BASE}
    for name, link in links.items():
        if name == BASE and name != roots[0]:
            raise link.refuse(f"'{BASE}' is the fixed frame of a mechanism: give this link another name")
    return Imported(
        robot.attributes.get("name", Path(path).stem),
        tuple(Body(name, _inertia(link)) for name, link in links.items() if name != roots[0]),
        tuple(_joint(joint, links, renamed) for joint in joints),
    )


def _end(joint: Element, tag: str, links: dict[str, Element]) -> str:
    end = joint.first(tag)
    if end is None:
        raise joint.refuse(f"<{tag} link='…'/> is required")
    name = end.required("link")
    if name not in links:
        raise end.refuse(f"there is no link '{name}'")
    return name


def _origin(element: Element) -> Placement:
    origin = element.first("origin")
    if origin is None:
        return Placement()
    x, y, z = origin.numbers("xyz", "0 0 0", 3)
    roll, pitch, yaw = origin.numbers("rpy", "0 0 0", 3)
    return Placement((x, y, z), roll_pitch_yaw(roll, pitch, yaw))


def _inertia(link: Element) -> Inertia:
    inertial = link.first("inertial")
    if inertial is None:
        return Inertia(0.0, symmetry="massless")
    at = _origin(inertial)
    mass, matrix = inertial.first("mass"), inertial.first("inertia")
    xx, yy, zz, xy, xz, yz = (
        matrix.number(f"i{word}") if matrix is not None else 0.0 for word in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    try:
        kilograms = mass.number("value") if mass is not None else 0.0
        return rigid_body(kilograms, np.array(at.position), at.matrix @ own @ at.matrix.T)
    except InputError as error:
        raise inertial.refuse(str(error)) from error


def _joint(joint: Element, links: dict[str, Element], renamed: dict[str, str]) -> Joint:
    name, word = joint.required("name"), joint.required("type")
    if word not in KINDS:
        raise joint.refuse(f"joints of type '{word}' are not known (known: {', '.join(KINDS)})")
    for tag in ("mimic",):
        if (gear := joint.first(tag)) is not None:
            raise gear.refuse("a joint that follows another by a gear is no closure of points or frames")
    parent, child = (_end(joint, tag, links) for tag in ("parent", "child"))
    kind = KINDS[word]
    axis = _axis(joint)
    if kind == "planar" and axis != (0.0, 0.0, 1.0):
        raise joint.refuse("a planar joint must have the axis '0 0 1': turn its origin instead")
    n = len(FREEDOMS[kind])
    freedoms = (_freedom(joint, name, is_bounded=word != "continuous"),) if n == 1 else ()
    return Joint(name, kind, renamed.get(parent, parent), child, _origin(joint), axis, _across(axis), freedoms)


def _axis(joint: Element) -> Vector:
    element = joint.first("axis")
    x, y, z = element.numbers("xyz", "1 0 0", 3) if element is not None else (1.0, 0.0, 0.0)
    try:
        return unit([x, y, z], "axis")
    except InputError as error:
        raise (element or joint).refuse("an axis of zero length points nowhere") from error


def _across(axis: Vector) -> Vector:
    """Any direction that is not the axis: only universal joints have a second one, which URDF does not know."""
    return (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 else (0.0, 1.0, 0.0)


def _freedom(joint: Element, name: str, *, is_bounded: bool) -> Freedom:
    limit, dynamics = joint.first("limit"), joint.first("dynamics")
    limits = None
    if limit is not None:
        known: dict[str, float] = {
            key: limit.number(key) for key in ("lower", "upper") if key in limit.attributes and is_bounded
        }
        for key, word in (("effort", "effort"), ("speed", "velocity")):
            if limit.number(word) > 0:
                known[key] = limit.number(word)
        try:
            limits = Limits(**known) if known else None
        except InputError as error:
            raise limit.refuse(str(error)) from error
    friction = None
    if dynamics is not None:
        viscous, dry = dynamics.number("damping"), dynamics.number("friction")
        if viscous or dry:
            friction = Friction(name, dry or None, viscous or None)
    return Freedom(limits=limits, friction=friction)
