"""Any mechanism of `gough.robots.mechanism` as Pinocchio sees it: its open tree, built from the same description."""

from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.robots.mechanism import Mechanism
from gough.robots.mechanism.parts import BASE, Joint
from gough.robots.mechanism.placement import Vector
from gough.simulate.multibody.engines import load

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_POSE: dict[str, Vector] = {"x": _X, "y": _Y, "z": _Z, "yaw": _Z, "pitch": _Y, "roll": _X}


class OpenTree(NamedTuple):
    """The bodies and joints of a mechanism, without its closures."""

    model: Any
    """A `pinocchio.Model`, whose joints have one coordinate each."""
    order: Array
    """For each coordinate of the model, which coordinate of the mechanism it is."""
    bodies: dict[str, int]
    """The joint that carries each body."""

    def arranged(self, s: Array) -> Array:
        """Coordinates, velocities or forces (N, coordinates) of the mechanism in the model's order."""
        return s[..., self.order]


def open_tree(mechanism: Mechanism) -> OpenTree:
    """The open tree of a mechanism.

    Raises:
        AssumptionError: Pinocchio is not installed.

    Examples:
        >>> from gough.robots.mechanism import five_bar_mechanism
        >>> open_tree(five_bar_mechanism()).model.nq
        4
    """
    pin = load("pinocchio")
    model = pin.Model()
    model.name = mechanism.name
    model.gravity.linear = np.array(mechanism.gravity)
    names, order, ids = list(mechanism.coordinates), [], {BASE: 0}
    frames = {BASE: pin.SE3.Identity()}
    rotors = []
    todo = list(mechanism.joints)
    while todo:
        joint = next(joint for joint in todo if joint.parent in ids)
        todo.remove(joint)
        last = ids[joint.parent]
        place = frames[joint.parent] * pin.SE3(joint.placement.matrix, np.array(joint.placement.position))
        for name, axis in _moves(joint):
            kind = (
                pin.JointModelRevoluteUnaligned
                if mechanism.motions[name] == "turn"
                else pin.JointModelPrismaticUnaligned
            )
            last = model.addJoint(last, kind(np.array(axis)), place, name)
            order.append(names.index(name))
            rotors.append(mechanism.freedoms[name].rotor or 0.0)
            place = pin.SE3.Identity()
        inertia = mechanism.body(joint.child).inertia
        model.appendBodyToJoint(last, pin.Inertia(inertia.mass, np.array(inertia.center), inertia.matrix), place)
        ids[joint.child], frames[joint.child] = last, place
    model.armature = np.array(rotors)
    return OpenTree(model, np.array(order), ids)


def _moves(joint: Joint) -> list[tuple[str, Vector]]:
    """The single turns and slides of a joint, from the parent outwards, with their axes."""
    match joint.kind:
        case "free" | "planar":
            known = dict(zip((name.rsplit("_", 1)[1] for name in joint.coordinates), joint.coordinates, strict=True))
            return [(known[word], axis) for word, axis in _POSE.items() if word in known]
        case "spherical":
            axes: tuple[Vector, ...] = (_X, _Y, _Z)
        case "universal":
            axes = (joint.axis, joint.second_axis)
        case _:
            axes = (joint.axis,) * len(joint.coordinates)
    return list(zip(joint.coordinates, axes, strict=True))
