"""The two multibody engines, Pinocchio and MuJoCo: loaded when first used, given the same tree."""

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import AssumptionError, InputError
from gough.simulate.multibody.description import Tree, turn
from gough.simulate.multibody.mjcf import mjcf

Engine = Literal["pinocchio", "mujoco"]


class PinocchioMechanism(NamedTuple):
    """A tree as Pinocchio's model, and its closures as Pinocchio's constraints."""

    model: Any
    """A `pinocchio.Model`; its coordinates are those of the tree, in order."""
    constraints: Any
    """A `pinocchio.StdVec_RigidConstraintModel`, a CONTACT_3D for each closure."""


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


def build_pinocchio(tree: Tree) -> PinocchioMechanism:
    """The tree and its closures for Pinocchio."""
    pin = load("pinocchio")
    joint_models = {
        (kind, axis): getattr(pin, f"JointModel{letter}{axis.upper()}")
        for kind, letter in (("turn", "R"), ("slide", "P"))
        for axis in "xyz"
    }
    model = pin.Model()
    model.name = tree.name
    model.gravity.linear = np.array([0.0, 0.0, -tree.gravity])
    ids = {"": 0}
    for body in tree.bodies:
        last = ids[body.parent]
        placement = pin.SE3(turn(body.heading, "z"), np.array(body.position))
        for joint in body.joints:
            last = model.addJoint(last, joint_models[joint.kind, joint.axis](), placement, joint.name)
            placement = pin.SE3.Identity()
        solid = pin.Inertia(body.solid.mass, np.array(body.solid.center), np.diag(body.solid.inertia))
        model.appendBodyToJoint(last, solid, placement)
        model.addFrame(pin.Frame(body.name, last, placement, pin.FrameType.BODY), False)  # noqa: FBT003 - mass is in
        ids[body.name] = last
    model.armature = np.array([joint.armature for joint in tree.joints])
    constraints = pin.StdVec_RigidConstraintModel()
    for closure in tree.closures:
        ends = []
        for name, point in zip(closure.bodies, closure.points, strict=True):
            ends += [ids[name], pin.SE3(np.eye(3), np.array(point))]
        constraint = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends, pin.ReferenceFrame.LOCAL)
        constraint.name = closure.name
        constraints.append(constraint)
    return PinocchioMechanism(model, constraints)


@lru_cache(maxsize=8)
def _pinocchio(tree: Tree) -> tuple[Any, Any, Any]:
    model = build_pinocchio(tree).model
    return load("pinocchio"), model, model.createData()


@lru_cache(maxsize=8)
def _mujoco(tree: Tree) -> tuple[Any, Any, Any]:
    mujoco = load("mujoco")
    try:
        model = mujoco.MjModel.from_xml_string(mjcf(tree, np.zeros(len(tree.coordinates))))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"MuJoCo refuses the {tree.name} ({reason}): it wants mass and inertia in every body. "
            "Pinocchio takes massless rods"
        ) from error
    # mj_inverse with constraints on adds their forces and does not give the motors' torques: the loops are open here,
    # and the caller projects.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return mujoco, model, mujoco.MjData(model)


def _inverse_by_pinocchio(tree: Tree, q: Array, dq: Array, ddq: Array) -> Array:
    pin, model, data = _pinocchio(tree)
    rnea = pin.rnea
    return np.array([rnea(model, data, *sample) for sample in zip(q, dq, ddq, strict=True)])


def _inverse_by_mujoco(tree: Tree, q: Array, dq: Array, ddq: Array) -> Array:
    mujoco, model, data = _mujoco(tree)
    forces = np.empty_like(q)
    for k in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        forces[k] = data.qfrc_inverse
    return forces


def inverse_dynamics(tree: Tree, q: Array, dq: Array, ddq: Array, engine: str) -> Array:
    """Forces (N, coordinates) that move the open tree so, without its closures."""
    engines: dict[str, Callable[[Tree, Array, Array, Array], Array]] = {
        "pinocchio": _inverse_by_pinocchio,
        "mujoco": _inverse_by_mujoco,
    }
    if engine not in engines:
        raise InputError(f"engine must be 'pinocchio' or 'mujoco', but is {engine!r}")
    return engines[engine](tree, q, dq, ddq).reshape(q.shape)


def mass_matrices(tree: Tree, q: Array) -> Array:
    """Mass matrices (N, coordinates, coordinates) of the open tree, armatures included, by Pinocchio."""
    pin, model, data = _pinocchio(tree)
    size = q.shape[1]
    found = np.empty((len(q), size, size))
    for k, sample in enumerate(q):
        found[k] = pin.crba(model, data, sample)
    above = np.triu(found, 1)  # Pinocchio promises the upper triangle only
    return np.triu(found) + np.swapaxes(above, 1, 2)
