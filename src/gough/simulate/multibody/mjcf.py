"""A tree as MJCF, the XML of MuJoCo."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from gough.core.arrays import Array
from gough.simulate.multibody.description import AXES, Body, Joint, Tree, turn

KINDS = {"turn": "hinge", "slide": "slide"}
COLORS = {"arm": "0.20 0.40 0.65 1", "rod": "0.45 0.45 0.48 1"}


def mjcf(tree: Tree, reference: Array, efforts: Sequence[float] = (), *, timestep: float = 2.5e-4) -> str:
    """The tree and its closures as MJCF.

    MuJoCo shows a model first at its reference. There the joints have the values `reference` (coordinates,): the loops
    are closed from the start, and coordinates keep their meaning. The key frame "home" is the same state, with
    `efforts` for the motors. The closures are soft, as always in MuJoCo; at this time step they hold the loops to
    micrometers.
    """
    root = Element("mujoco", model=tree.name)
    SubElement(root, "compiler", angle="radian", autolimits="true")
    option = SubElement(root, "option", gravity=f"0 0 {-tree.gravity!r}", timestep=repr(timestep))
    option.attrib.update(integrator="implicitfast", iterations="200", tolerance="1e-14")
    SubElement(option, "flag", contact="disable")
    SubElement(SubElement(root, "visual"), "headlight", ambient="0.5 0.5 0.5")
    world = SubElement(root, "worldbody")
    SubElement(world, "light", pos="0 0 2")
    values = dict(zip(tree.coordinates, np.asarray(reference, dtype=float).tolist(), strict=True))
    elements = {"": world}
    for body in tree.bodies:
        elements[body.name] = _body(elements[body.parent], body, values)
    actuator, equality = SubElement(root, "actuator"), SubElement(root, "equality")
    for name in tree.actuated:
        SubElement(actuator, "motor", name=name, joint=name)
    for closure in tree.closures:
        sites = [f"{closure.name}_{end}" for end in (1, 2)]
        for site, body_name, point in zip(sites, closure.bodies, closure.points, strict=True):
            SubElement(elements[body_name], "site", name=site, pos=_text(point), size="0.004")
        soft = {"solref": f"{2 * timestep!r} 1", "solimp": "0.9999 0.9999 0.001"}
        SubElement(equality, "connect", name=closure.name, site1=sites[0], site2=sites[1], attrib=soft)
    key = SubElement(SubElement(root, "keyframe"), "key", name="home", qpos=_text(list(values.values())))
    if len(efforts):
        key.set("ctrl", _text(efforts))
    indent(root)
    return tostring(root, encoding="unicode")


def _body(parent: Element, body: Body, reference: dict[str, float]) -> Element:
    """The body as it stands at the reference, with what it is made of."""
    position, rotation = np.array(body.position), turn(body.heading, "z")
    for joint in body.joints:
        if joint.kind == "turn":
            rotation = rotation @ turn(reference[joint.name], joint.axis)
        else:
            position = position + rotation[:, AXES[joint.axis]] * reference[joint.name]
    axes = _text([*rotation[:, 0], *rotation[:, 1]])
    element = SubElement(parent, "body", name=body.name, pos=_text(position), xyaxes=axes)
    for k, joint in enumerate(body.joints):
        _joint(element, joint, body.joints[k + 1 :], reference)
    solid = body.solid
    inertial = {"pos": _text(solid.center), "mass": repr(solid.mass), "diaginertia": _text(solid.inertia)}
    SubElement(element, "inertial", inertial)
    color = next((color for word, color in COLORS.items() if body.name.startswith(word)), "0.80 0.55 0.20 1")
    for segment in body.segments:
        ends = _text([*segment.start, *segment.end])
        shape = {"type": "capsule", "fromto": ends, "size": repr(segment.radius), "rgba": color, "mass": "0"}
        SubElement(element, "geom", shape, contype="0", conaffinity="0")
    return element


def _joint(body: Element, joint: Joint, later: Sequence[Joint], reference: dict[str, float]) -> None:
    """A joint, whose axis MuJoCo reads in the body's frame at the reference, where later joints have turned it."""
    axis = np.eye(3)[AXES[joint.axis]]
    for other in later:
        if other.kind == "turn":
            axis = turn(-reference[other.name], other.axis) @ axis
    value = {"name": joint.name, "type": KINDS[joint.kind], "axis": _text(axis), "ref": repr(reference[joint.name])}
    SubElement(body, "joint", value, armature=repr(joint.armature))


def _text(numbers: Sequence[float] | Array) -> str:
    return " ".join(repr(float(number)) for number in numbers)
