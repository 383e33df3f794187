"""URDF, the robot description of ROS: a tree of links, and elements of its extensions that close loops."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gough.core.errors import InputError
from gough.robots.mechanism.imports.joints import across
from gough.robots.mechanism.imports.parts import Imported, rigid_body
from gough.robots.mechanism.imports.urdf_closures import axis_of, closures_of, end_of, origin_of
from gough.robots.mechanism.imports.xml import Element, read_xml
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, FREEDOMS, Body, Freedom, Friction, Joint, Kind, Limits

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
    other programs add are not looked at. Loops are closed by the elements <constraint> and <loop> of extended files;
    see `urdf_closures`.

    Raises:
        InputError: the file cannot be read, or holds what a mechanism cannot express; with element and line.
    """
    return read_tree(path).imported


@dataclass(frozen=True)
class UrdfTree:
    """What a URDF file describes, and the name of the link that is its base."""

    imported: Imported
    root: str


def read_tree(path: str | Path) -> UrdfTree:
    """As `read_urdf`, with the name of the root link, by which other files refer to the base."""
    robot = read_xml(Path(path), "robot")
    links = {link.required("name"): link for link in robot.all("link")}
    joints = robot.all("joint")
    children = {end_of(joint, "child", links) for joint in joints}
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        raise robot.refuse(f"one link must be the root, but there are {len(roots)} ({', '.join(roots) or 'a circle'})")
    renamed = {roots[0]: BASE}
    for name, link in links.items():
        if name == BASE and name != roots[0]:
            raise link.refuse(f"'{BASE}' is the fixed frame of a mechanism: give this link another name")
    imported = Imported(
        robot.attributes.get("name", Path(path).stem),
        tuple(Body(name, _inertia(link)) for name, link in links.items() if name != roots[0]),
        tuple(_joint(joint, links, renamed) for joint in joints),
        tuple(closures_of(robot, links, renamed)),
    )
    return UrdfTree(imported, roots[0])


def _inertia(link: Element) -> Inertia:
    inertial = link.first("inertial")
    if inertial is None:
        return Inertia(0.0, symmetry="massless")
    at = origin_of(inertial)
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
    parent, child = (end_of(joint, tag, links) for tag in ("parent", "child"))
    kind = KINDS[word]
    # fixed and floating joints do not use the axis: exporters write zeros there
    axis = axis_of(joint, "axis") if kind not in {"fixed", "free"} else (1.0, 0.0, 0.0)
    if kind == "planar" and axis != (0.0, 0.0, 1.0):
        raise joint.refuse("a planar joint must have the axis '0 0 1': turn its origin instead")
    n = len(FREEDOMS[kind])
    freedoms = (_freedom(joint, name, is_bounded=word != "continuous"),) if n == 1 else ()
    return Joint(name, kind, renamed.get(parent, parent), child, origin_of(joint), axis, across(axis), freedoms)


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
