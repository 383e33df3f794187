"""A mechanism as MJCF, the XML of MuJoCo."""

from collections.abc import Sequence
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.robots.mechanism.bodies import body_motions, turns
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.drawing import draw, segments
from gough.robots.mechanism.parts import BASE, DIRECTIONS, HELD, Closure
from gough.robots.mechanism.structure import Link, structure

COLORS = {
    "base": "0.55 0.55 0.58 1",
    "arm": "0.20 0.40 0.65 1",
    "rod": "0.45 0.45 0.48 1",
    "platform": "0.80 0.55 0.20 1",
}
THICKNESS = {"base": 1.0, "arm": 2.0, "rod": 1.0, "platform": 1.3}
"""Radii with which segments are drawn, in units of a hundred and fiftieth of the robot's size."""


_HARD = "0.9999 0.9999 0.001"
"""Impedance of constraints that hold to micrometers."""


def mjcf(
    mechanism: Mechanism,
    reference: Array,
    efforts: Sequence[float] = (),
    *,
    timestep: float = 2.5e-4,
    has_closures: bool = True,
    has_friction: bool = False,
) -> str:
    """A mechanism as MJCF.

    MuJoCo shows a model first at its reference. There the joints have the values `reference` (coordinates,): the loops
    are closed from the start, and coordinates keep their meaning. The key frame "home" is the same state, with
    `efforts` for the actuators. The closures are soft, as always in MuJoCo; at this time step they hold the loops to
    micrometers. With `has_friction`, joints have the dry and viscous friction of the description.

    Raises:
        InputError: MuJoCo has no equality constraint like one of the closures.
    """
    names = mechanism.coordinates
    values = np.asarray(reference, dtype=float)[: len(names)]
    stiff = f"{2 * timestep!r} 1"
    root = Element("mujoco", model=mechanism.name)
    SubElement(root, "compiler", angle="radian", autolimits="true")
    option = SubElement(root, "option", gravity=_text(mechanism.gravity), timestep=repr(timestep))
    option.attrib.update(integrator="implicitfast", iterations="200", tolerance="1e-14")
    SubElement(option, "flag", contact="disable")
    SubElement(SubElement(root, "visual"), "headlight", ambient="0.5 0.5 0.5")
    world = SubElement(root, "worldbody")
    SubElement(world, "light", pos="0 0 2")
    elements = {BASE: world}
    links = structure(mechanism).links
    for link in links[: len(mechanism.bodies)]:
        parent = links[link.parent].body if link.parent >= 0 else BASE
        elements[link.body] = _body(elements[parent], link, mechanism, values, stiff, has_friction=has_friction)
    _draw(mechanism, elements, values)
    actuator, equality = SubElement(root, "actuator"), SubElement(root, "equality")
    for name in mechanism.actuated:
        SubElement(actuator, "motor", name=name, joint=name)
    soft = {"solref": stiff, "solimp": _HARD}
    for closure in mechanism.closures if has_closures else ():
        _close(elements, equality, closure, closure_kind(mechanism, closure), soft)
    order = [joint.get("name") for joint in world.iter("joint")]
    home = _text([values[names.index(str(name))] for name in order])
    key = SubElement(SubElement(root, "keyframe"), "key", name="home", qpos=home)
    if len(efforts):
        key.set("ctrl", _text(efforts))
    indent(root)
    return tostring(root, encoding="unicode")


def closure_kind(mechanism: Mechanism, closure: Closure) -> Literal["connect", "weld", "hinge"]:
    """The constraint of a multibody engine for a closure: two points held together, two frames, or a hinge about z.

    Two directions of a point are equivalent to three if no joint moves the points in the third, as in a plane.

    Raises:
        InputError: there is no such constraint.
    """
    held = set(closure.directions)
    if held == set(HELD["point"]) or (held == set(HELD["planar point"]) and _is_planar(mechanism, closure)):
        return "connect"
    if held == set(DIRECTIONS):
        return "weld"
    if held == set(HELD["revolute"]):
        return "hinge"
    raise InputError(
        f"closure '{closure.name}' of {mechanism.name} holds {', '.join(closure.directions)}: multibody engines "
        "have constraints for points, hinges and whole frames only. Efforts can be computed nevertheless"
    )


def _is_planar(mechanism: Mechanism, closure: Closure) -> bool:
    """Whether both points stay in one plane z = 0 of the first frame, at random positions of all joints."""
    s = np.random.default_rng(0).uniform(-1, 1, (16, len(mechanism.coordinates)))
    motions = body_motions(mechanism, s, np.zeros_like(s))
    ends = [motions[body].placed(place) for body, place in zip(closure.bodies, closure.placements, strict=True)]
    apart = ends[1].position - ends[0].position
    return bool(np.abs(np.einsum("ni,ni->n", apart, ends[0].rotation[:, :, 2])).max() < 1e-12)


def _body(
    parent: Element, link: Link, mechanism: Mechanism, reference: Array, stiff: str, *, has_friction: bool = False
) -> Element:
    """The body as it stands at the reference, with its joints and its mass.

    MuJoCo reads the axis of a joint in the body's frame at the reference, where later joints have turned it.
    """
    position, rotation = np.zeros(3), np.eye(3)
    axes: list[tuple[str, Array]] = []
    for step in link.steps:
        position = position + rotation @ np.array(step.before.position)
        rotation = rotation @ step.before.matrix
        axis = step.sign * rotation[:, step.axis]
        axes.append((mechanism.coordinates[step.coordinate], axis))
        value = reference[step.coordinate]
        if step.turns:
            rotation = rotation @ turns(np.array([step.sign * value]), step.axis)[0]
        else:
            position = position + value * axis
    position, rotation = position + rotation @ np.array(link.after.position), rotation @ link.after.matrix
    frame = _text([*rotation[:, 0], *rotation[:, 1]])
    element = SubElement(parent, "body", name=link.body, pos=_text(position), xyaxes=frame)
    for name, axis in axes:
        kind = "hinge" if mechanism.motions[name] == "turn" else "slide"
        rotor = mechanism.freedoms[name].rotor or 0.0
        own = {"name": name, "type": kind, "axis": _text(rotation.T @ axis)}
        value = reference[mechanism.coordinates.index(name)]
        joint = SubElement(element, "joint", own, ref=repr(float(value)), armature=repr(float(rotor)))
        if has_friction and (friction := mechanism.freedoms[name].friction) is not None:
            joint.set("frictionloss", repr(float(friction.dry or 0.0)))
            joint.set("solreffriction", stiff)  # by default, joints that stick creep
            joint.set("solimpfriction", _HARD)
            joint.set("damping", repr(float(friction.viscous or 0.0)))
    solid = mechanism.body(link.body).inertia
    inertial = {"pos": _text(solid.center), "mass": repr(float(solid.mass))}
    if any(solid.products):
        inertial["fullinertia"] = _text([*solid.moments, *solid.products])
    else:
        inertial["diaginertia"] = _text(solid.moments)
    SubElement(element, "inertial", inertial)
    return element


def _draw(mechanism: Mechanism, elements: dict[str, Element], reference: Array) -> None:
    """Segments that belong to one body, as round bars without mass that touch nothing."""
    drawn = draw(mechanism, reference[None])[0]
    size = float(np.ptp(drawn.reshape(-1, 3), axis=0).max()) / 150
    for segment in segments(mechanism):
        if segment.bodies[0] != segment.bodies[1] or segment.ends[0] == segment.ends[1]:
            continue
        ends = _text([*segment.ends[0], *segment.ends[1]])
        radius, color = repr(size * THICKNESS[segment.kind]), COLORS[segment.kind]
        shape = {"type": "capsule", "fromto": ends, "size": radius, "rgba": color, "mass": "0"}
        SubElement(elements[segment.bodies[0]], "geom", shape, contype="0", conaffinity="0")


def _close(
    elements: dict[str, Element], equality: Element, closure: Closure, kind: str, options: dict[str, str]
) -> None:
    """The equality constraints of a closure, between sites; a hinge holds two points of its axis."""
    for suffix, offset in (("", 0.0), *((("_axis", 0.1),) if kind == "hinge" else ())):
        sites = [f"{closure.name}{suffix}_{end}" for end in (1, 2)]
        for site, body, place in zip(sites, closure.bodies, closure.placements, strict=True):
            at = np.array(place.position) + offset * place.matrix[:, 2]
            element = SubElement(elements[body], "site", name=site, pos=_text(at), size="0.004")
            if kind == "weld":
                element.set("xyaxes", _text([*place.matrix[:, 0], *place.matrix[:, 1]]))
        own = {"name": f"{closure.name}{suffix}", "site1": sites[0], "site2": sites[1]}
        SubElement(equality, "weld" if kind == "weld" else "connect", own | options)


def _text(numbers: Sequence[float] | Array) -> str:
    return " ".join(repr(float(number)) for number in numbers)
