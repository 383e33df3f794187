"""MJCF and URDF of an identified robot, read back by MuJoCo and Pinocchio."""

from ast import literal_eval
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from gough.core.arrays import Array
from gough.export.bodies import CompleteMechanism
from gough.export.compiling import ExportError
from gough.export.vectors import Vectors
from gough.robots.mechanism import Mechanism, Placement
from gough.robots.mechanism.assembly import assembled
from gough.robots.mechanism.bodies import weights
from gough.robots.mechanism.parts import BASE
from gough.robots.model import CoordinateMotion
from gough.simulate.multibody.engines import load, moves_of
from gough.simulate.multibody.mjcf import closure_kind, mjcf

STATES = 200
_HALF = 0.1
"""Distance of the two points that make a hinge, m."""
_FAR = {"turn": 6.283185307179586, "slide": 10.0}
"""Limits of joints for which none are stated."""


class Motion:
    """The motion of all joints of a mechanism at test vectors."""

    def __init__(self, of: CompleteMechanism, vectors: Vectors) -> None:
        q, dq, ddq = (vectors[key][:STATES] for key in ("q", "dq", "ddq"))
        pose = of.model.pose_motion(q, dq, ddq)
        found = of.model.coordinate_motion(*pose)
        self.names = of.mechanism.coordinates
        n = len(self.names)
        self.all = CoordinateMotion(*(part[:, :n] for part in found))  # without those of a tool frame
        self.actuated = [self.names.index(name) for name in of.mechanism.actuated]
        friction = vectors["friction"][:STATES]
        self.rigid: Array = vectors["tau"][:STATES] - friction

    def efforts(self, forces: Array) -> Array:
        """Efforts of the actuators with the power of forces (N, coordinates) on all closed motions."""
        along = np.einsum("nki,nk->ni", self.all.by_pose, forces)
        by_pose = np.swapaxes(self.all.by_pose[:, self.actuated], 1, 2)
        return np.asarray(np.linalg.solve(by_pose, along[..., None])[..., 0])

    def error(self, efforts: Array) -> float:
        """The largest error of efforts without friction, relative to the largest effort of the same motion."""
        size = np.maximum(np.abs(self.rigid).max(axis=1), np.median(np.abs(self.rigid).max(axis=1)))
        return float((np.abs(efforts - self.rigid).max(axis=1) / size).max())


def frictions(mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """Dry and viscous friction of each coordinate."""
    return {
        name: (0.0, 0.0) if each.friction is None else (each.friction.dry or 0.0, each.friction.viscous or 0.0)
        for name, each in mechanism.freedoms.items()
    }


def mjcf_text(of: CompleteMechanism) -> str:
    """MJCF with equality constraints, armature, friction loss and damping; assembled at home.

    Raises:
        InputError: MuJoCo has no constraint like one of the closures.
    """
    still = np.zeros((1, len(of.model.home)))
    motion = of.model.coordinate_motion(of.model.home[None], still, still)
    n = len(of.mechanism.coordinates)
    s, by_pose = motion.s[:, :n], motion.by_pose[0, :n]
    actuated = [of.mechanism.coordinates.index(name) for name in of.mechanism.actuated]
    holding = np.linalg.solve(by_pose[actuated].T, by_pose.T @ weights(of.mechanism, s)[0])
    return mjcf(of.mechanism, s[0], holding.tolist(), has_friction=True)


def mujoco_errors(text: str, of: CompleteMechanism, vectors: Vectors) -> dict[str, float]:
    """How far MuJoCo, reading the MJCF, differs from gough: efforts, closed loops, friction; relative errors."""
    mujoco = load("mujoco")
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        words = " ".join(str(error).split())
        raise ExportError(f"MuJoCo does not read the exported MJCF ({words}): nothing was written") from error
    data, motion = mujoco.MjData(model), Motion(of, vectors)
    order = np.array([motion.names.index(model.joint(k).name) for k in range(model.njnt)])
    gaps = 0.0
    for s in motion.all.s[:, order]:
        data.qpos[:] = s
        mujoco.mj_fwdPosition(model, data)
        held = data.efc_pos[np.array(data.efc_type) == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
        gaps = max(gaps, float(np.abs(held).max(initial=0.0)))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    damping, forces = np.array(model.dof_damping), np.empty_like(motion.all.s)
    model.dof_damping[:] = 0.0
    for k, (s, ds, dds) in enumerate(zip(*(part[:, order] for part in motion.all[:3]), strict=True)):
        data.qpos[:], data.qvel[:], data.qacc[:] = s, ds, dds
        mujoco.mj_inverse(model, data)
        forces[k, order] = data.qfrc_inverse
    wanted = np.array([frictions(of.mechanism)[motion.names[k]] for k in order]).T
    found = np.stack([np.array(model.dof_frictionloss), damping])
    rubbing = float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))
    return {"efforts": motion.error(motion.efforts(forces)), "closures in m": gaps, "friction": rubbing}


def urdf_texts(of: CompleteMechanism) -> tuple[str, str]:
    """The URDF of the tree that remains when closures are cut, and the YAML of the frames to join.

    The YAML has the keys of Extended-URDF, `closed_loop`, `type` and `name_mot`, and `armature`, `gravity` and `start`,
    the assembled position at home, which a URDF cannot state.

    Raises:
        InputError: a closure is neither of points nor of hinges nor of whole frames.
    """
    mechanism = of.mechanism
    root = Element("robot", name=mechanism.name)
    SubElement(root, "link", name=BASE)
    for joint in mechanism.joints:
        _joint(root, mechanism, joint)
    pairs: list[list[str]] = []
    kinds: list[str] = []
    for closure in mechanism.closures:
        kind = closure_kind(mechanism, closure)
        for offset in (0.0, _HALF) if kind == "hinge" else (0.0,):
            pairs.append([f"closedloop{len(pairs) + 1}_{end}" for end in "AB"])
            kinds.append("6d" if kind == "weld" else "3d")
            for name, body, place in zip(pairs[-1], closure.bodies, closure.placements, strict=True):
                shifted = place @ Placement((0.0, 0.0, offset))
                SubElement(root, "link", name=name)
                _fixed(root, f"{name}_joint", body, name, shifted)
    indent(root)
    armature = {name: each.rotor for name, each in mechanism.freedoms.items() if each.rotor}
    home = assembled(mechanism)
    at_home = dict(zip(home.at.coordinates, home.s.tolist(), strict=True))
    lines = [
        f"closed_loop: {pairs!r}",
        f"type: {kinds!r}",
        f"name_mot: {list(mechanism.actuated)!r}",
        f"armature: {_yaml_table(armature)}",
        f"gravity: [{', '.join(map(_yaml_number, mechanism.gravity))}]",
        f"start: {_yaml_table({name: at_home[name] for name in mechanism.freedoms})}",
    ]
    return tostring(root, encoding="unicode") + "\n", "\n".join(lines) + "\n"


def _joint(root: Element, mechanism: Mechanism, joint: Any) -> None:
    """One joint as single turns and slides, with links without mass between them."""
    link = SubElement(root, "link", name=joint.child)
    solid = mechanism.body(joint.child).inertia
    if solid.mass > 0:
        inertial = SubElement(link, "inertial")
        SubElement(inertial, "origin", xyz=_text(solid.center), rpy="0 0 0")
        SubElement(inertial, "mass", value=repr(float(solid.mass)))
        (xx, yy, zz), (xy, xz, yz) = solid.moments, solid.products
        entries = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        SubElement(inertial, "inertia", {key: repr(float(value)) for key, value in entries.items()})
    moves = moves_of(joint)
    if not moves:
        _fixed(root, joint.name, joint.parent, joint.child, joint.placement)
        return
    parent, place = joint.parent, joint.placement
    for k, (name, axis) in enumerate(moves):
        is_last = k == len(moves) - 1
        child = joint.child if is_last else f"{joint.name}_link{k + 1}"
        if not is_last:
            SubElement(root, "link", name=child)
        motion, freedom = mechanism.motions[name], mechanism.freedoms[name]
        element = SubElement(root, "joint", name=name, type="revolute" if motion == "turn" else "prismatic")
        _ends(element, parent, child, place)
        SubElement(element, "axis", xyz=_text(axis))
        dry, viscous = frictions(mechanism)[name]
        SubElement(element, "dynamics", damping=repr(viscous), friction=repr(dry))
        limits, far = freedom.limits, _FAR[motion]
        ends = (-far, far) if limits is None else (max(limits.lower, -far), min(limits.upper, far))
        most = [1e6 if limits is None or value == np.inf else value for value in _most(limits)]
        numbers = dict(zip(("lower", "upper", "velocity", "effort"), (*ends, *most), strict=True))
        SubElement(element, "limit", {key: repr(float(value)) for key, value in numbers.items()})
        parent, place = child, Placement()


def _most(limits: Any) -> tuple[float, float]:
    return (np.inf, np.inf) if limits is None else (limits.speed, limits.effort)


def _fixed(root: Element, name: str, parent: str, child: str, place: Placement) -> None:
    _ends(SubElement(root, "joint", name=name, type="fixed"), parent, child, place)


def _ends(element: Element, parent: str, child: str, place: Placement) -> None:
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)
    SubElement(element, "origin", xyz=_text(place.position), rpy=_text(_angles(place.matrix)))


def _angles(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw; where the pitch is a right angle, the yaw is zero."""
    across = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], across)
    if across < 1e-12:
        return float(np.arctan2(-R[1, 2], R[1, 1])), float(pitch), 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), float(pitch), float(np.arctan2(R[1, 0], R[0, 0]))


def _yaml_table(numbers: Mapping[str, float]) -> str:
    return "{" + ", ".join(f"{name!r}: {_yaml_number(value)}" for name, value in numbers.items()) + "}"


def _yaml_number(value: float) -> str:
    """The number as YAML 1.1 reads it: 1e-05 would be a text there."""
    mantissa, _, exponent = repr(float(value)).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{exponent}" if exponent else mantissa


def _text(numbers: Any) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def pinocchio_errors(urdf: str, yaml: str, of: CompleteMechanism, vectors: Vectors) -> dict[str, float]:
    """How far Pinocchio, reading URDF and YAML, differs from gough: efforts, closed loops, friction."""
    pin = load("pinocchio")
    stated = {key: literal_eval(value) for key, value in (line.split(": ", 1) for line in yaml.splitlines())}
    try:
        model = pin.buildModelFromXML(urdf)
    except (ValueError, RuntimeError) as error:
        raise ExportError(f"Pinocchio does not read the exported URDF ({error}): nothing was written") from error
    model.gravity.linear = np.array(stated["gravity"])
    data, motion = model.createData(), Motion(of, vectors)
    names = list(model.names)[1:]
    order = np.array([motion.names.index(name) for name in names])
    if model.nq != len(order) or sorted(order.tolist()) != list(range(len(motion.names))):
        raise ExportError("Pinocchio reads other joints than those of the exported URDF: nothing was written")
    model.armature = np.array([stated["armature"].get(name, 0.0) for name in names])
    forces, gaps = np.empty_like(motion.all.s), 0.0
    ends = [[model.getFrameId(name) for name in pair] for pair in stated["closed_loop"]]
    for k, (s, ds, dds) in enumerate(zip(*(part[:, order] for part in motion.all[:3]), strict=True)):
        forces[k, order] = pin.rnea(model, data, s, ds, dds)
        pin.framesForwardKinematics(model, data, s)
        for (a, b), kind in zip(ends, stated["type"], strict=True):
            first, second = data.oMf[a], data.oMf[b]
            apart = [np.abs(first.translation - second.translation).max()]
            apart += [np.abs(first.rotation - second.rotation).max()] if kind == "6d" else []
            gaps = max(gaps, float(max(apart)))
    wanted = np.array([frictions(of.mechanism)[name] for name in names]).T
    limits = [getattr(model, key, None) for key in ("friction", "damping")]
    rubbing = 0.0
    if all(each is not None and len(each) == len(names) for each in limits):
        rubbing = float(np.abs(np.array(limits) - wanted).max() / max(np.abs(wanted).max(), 1e-300))
    return {"efforts": motion.error(motion.efforts(forces)), "closures in m": gaps, "friction": rubbing}
