"""The two multibody engines, Pinocchio and MuJoCo: loaded when first used, given the same mechanism."""

import importlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import AssumptionError, InputError
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.parts import BASE, Joint
from gough.robots.mechanism.placement import AXES, Placement, Vector
from gough.simulate.multibody.mjcf import closure_kind, mjcf

Engine = Literal["pinocchio", "mujoco"]
_POSE = {word: AXES[axis] for word, axis in (*((k, k) for k in "xyz"), ("yaw", "z"), ("pitch", "y"), ("roll", "x"))}


class PinocchioModel(NamedTuple):
    """The bodies and joints of a mechanism as Pinocchio's model."""

    model: Any
    """A `pinocchio.Model`, whose joints have one coordinate each."""
    order: Array
    """For each coordinate of the model, which coordinate of the mechanism it is."""
    bodies: dict[str, int]
    """The joint that carries each body."""

    def arranged(self, s: Array) -> Array:
        """Coordinates, velocities or forces (N, coordinates) of the mechanism in the model's order."""
        return s[..., self.order]

    def constraints(self, mechanism: Mechanism) -> Any:
        """The closures as a `pinocchio.StdVec_RigidConstraintModel`.

        Raises:
            InputError: a closure holds neither a point nor a whole frame; Pinocchio has no such constraint.
        """
        pin = load("pinocchio")
        kinds = {"connect": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}
        constraints = pin.StdVec_RigidConstraintModel()
        for closure in mechanism.closures:
            kind = closure_kind(mechanism, closure)
            if kind not in kinds:
                raise InputError(f"Pinocchio has no constraint that holds only {', '.join(closure.directions)}")
            ends: list[Any] = []
            for body, place in zip(closure.bodies, closure.placements, strict=True):
                ends += [self.bodies[body], _se3(pin, place)]
            constraint = pin.RigidConstraintModel(kinds[kind], self.model, *ends, pin.ReferenceFrame.LOCAL)
            constraint.name = closure.name
            constraints.append(constraint)
        return constraints


def load(engine: str) -> Any:
    """The engine's Python module.

    Raises:
        AssumptionError: it is not installed.
    """
    try:
        return importlib.import_module(engine)
    except ImportError as error:
        raise AssumptionError(
            f"the full mechanism needs {engine}, which is not installed or does not load here ({error}); "
            "pip install 'gough[multibody]'"
        ) from error


def pinocchio_model(mechanism: Mechanism) -> PinocchioModel:
    """The open tree of a mechanism for Pinocchio.

    Raises:
        AssumptionError: Pinocchio is not installed.

    Examples:
        >>> from gough.robots import FiveBar
        >>> pinocchio_model(FiveBar().mechanism).model.nq
        4
    """
    pin = load("pinocchio")
    model = pin.Model()
    model.name = mechanism.name
    model.gravity.linear = np.array(mechanism.gravity)
    names, order, ids = list(mechanism.coordinates), [], {BASE: 0}
    frames = {BASE: pin.SE3.Identity()}
    rotors = []
    for joint in _depth_first(mechanism, BASE):
        last = ids[joint.parent]
        place = frames[joint.parent] * _se3(pin, joint.placement)
        for name, axis in moves_of(joint):
            last = model.addJoint(last, _joint_model(pin, mechanism.motions[name], axis), place, name)
            order.append(names.index(name))
            rotors.append(mechanism.freedoms[name].rotor or 0.0)
            place = pin.SE3.Identity()
        inertia = mechanism.body(joint.child).inertia
        model.appendBodyToJoint(last, pin.Inertia(inertia.mass, np.array(inertia.center), inertia.matrix), place)
        model.addFrame(pin.Frame(joint.child, last, place, pin.FrameType.BODY), False)  # noqa: FBT003 - mass is in
        ids[joint.child], frames[joint.child] = last, place
    model.armature = np.array(rotors)
    return PinocchioModel(model, np.array(order), ids)


def _depth_first(mechanism: Mechanism, body: str) -> Iterator[Joint]:
    """The joints beyond a body, branch by branch: Pinocchio's mass matrices are wrong in any other order."""
    for joint in mechanism.joints:
        if joint.parent == body:
            yield joint
            yield from _depth_first(mechanism, joint.child)


def _joint_model(pin: Any, motion: str, axis: Vector) -> Any:
    """A turn or a slide; Pinocchio is faster where the axis is that of a coordinate."""
    if axis in AXES.values() and sum(axis) == 1:
        return getattr(pin, f"JointModel{'R' if motion == 'turn' else 'P'}{'XYZ'[axis.index(1.0)]}")()
    kind = pin.JointModelRevoluteUnaligned if motion == "turn" else pin.JointModelPrismaticUnaligned
    return kind(np.array(axis))


def _se3(pin: Any, place: Placement) -> Any:
    return pin.SE3(place.matrix, np.array(place.position))


def moves_of(joint: Joint) -> list[tuple[str, Vector]]:
    """The single turns and slides of a joint, from the parent outwards, with their axes."""
    match joint.kind:
        case "free" | "planar":
            known = dict(zip((name.rsplit("_", 1)[1] for name in joint.coordinates), joint.coordinates, strict=True))
            return [(known[word], axis) for word, axis in _POSE.items() if word in known]
        case "spherical":
            axes: tuple[Vector, ...] = (AXES["x"], AXES["y"], AXES["z"])
        case "universal":
            axes = (joint.axis, joint.second_axis)
        case _:
            axes = (joint.axis,) * len(joint.coordinates)
    return list(zip(joint.coordinates, axes, strict=True))


@lru_cache(maxsize=8)
def _pinocchio(mechanism: Mechanism) -> tuple[Any, PinocchioModel, Any]:
    built = pinocchio_model(mechanism)
    return load("pinocchio"), built, built.model.createData()


@lru_cache(maxsize=8)
def _mujoco(mechanism: Mechanism) -> tuple[Any, Any, Any, Array]:
    mujoco = load("mujoco")
    names = mechanism.coordinates
    try:
        model = mujoco.MjModel.from_xml_string(mjcf(mechanism, np.zeros(len(names)), has_closures=False))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"MuJoCo refuses the {mechanism.name} ({reason}): every body must have mass, and moments of inertia that a "
            "rigid body can have. Pinocchio accepts any, massless rods too"
        ) from error
    order = np.array([names.index(model.joint(k).name) for k in range(model.njnt)])
    return mujoco, model, mujoco.MjData(model), order


def _inverse_by_pinocchio(mechanism: Mechanism, s: Array, ds: Array, dds: Array) -> Array:
    pin, built, data = _pinocchio(mechanism)
    rnea, model = pin.rnea, built.model
    samples = zip(*(np.ascontiguousarray(built.arranged(part)) for part in (s, ds, dds)), strict=True)
    forces = np.array([rnea(model, data, *sample) for sample in samples]).reshape(s.shape)
    return forces[:, np.argsort(built.order)]


def _inverse_by_mujoco(mechanism: Mechanism, s: Array, ds: Array, dds: Array) -> Array:
    mujoco, model, data, order = _mujoco(mechanism)
    q, dq, ddq = (part[:, order] for part in (s, ds, dds))
    forces = np.empty_like(q)
    for k in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        forces[k] = data.qfrc_inverse
    return forces[:, np.argsort(order)]


def inverse_dynamics(mechanism: Mechanism, s: Array, ds: Array, dds: Array, engine: str) -> Array:
    """Forces (N, coordinates) that move the open tree so, without its closures."""
    engines: dict[str, Callable[[Mechanism, Array, Array, Array], Array]] = {
        "pinocchio": _inverse_by_pinocchio,
        "mujoco": _inverse_by_mujoco,
    }
    if engine not in engines:
        raise InputError(f"engine must be 'pinocchio' or 'mujoco', but is {engine!r}")
    return engines[engine](mechanism, s, ds, dds)


def mass_matrices(mechanism: Mechanism, s: Array, directions: Array) -> Array:
    """Mass matrices DᵀMD (N, m, m) of the open tree in directions D (N, coordinates, m), with rotors, by Pinocchio."""
    pin, built, data = _pinocchio(mechanism)
    size = s.shape[1]
    matrices = np.empty((len(s), size, size))
    for k, sample in enumerate(np.ascontiguousarray(built.arranged(s))):
        matrices[k] = pin.crba(built.model, data, sample)
    above = np.triu(matrices, 1)  # Pinocchio promises the upper triangle only
    along = directions[:, built.order]
    return np.swapaxes(along, 1, 2) @ (np.triu(matrices) + np.swapaxes(above, 1, 2)) @ along
