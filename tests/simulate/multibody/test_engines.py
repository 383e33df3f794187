"""Pinocchio, MuJoCo and the description see one and the same mechanism."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import AssumptionError, InputError
from gough.robots import H4, FiveBar
from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.assembly import closures_at
from gough.robots.mechanism.bodies import body_motions, energy
from gough.robots.mechanism.parts import HELD
from gough.simulate.multibody import Multibody, mjcf, pinocchio_model
from gough.simulate.multibody.engines import inverse_dynamics, mass_matrices
from gough.simulate.multibody.mjcf import closure_kind
from tests.simulate.multibody.motions import NEEDS, changed, mechanisms, named, swing

pin = pytest.importorskip("pinocchio", reason=NEEDS)
mujoco = pytest.importorskip("mujoco", reason=NEEDS)
NEWER = int(pin.__version__.split(".")[0]) >= 4
"""Whether data of constraints are arguments, and constraints are evaluated by themselves."""
every_mechanism = pytest.mark.parametrize("mechanism", mechanisms(), ids=named)


def in_xml(tree, xml):
    """For each joint of MuJoCo's model, which coordinate it is."""
    return [tree.coordinates.index(xml.joint(k).name) for k in range(xml.njnt)]


@every_mechanism
def test_torques_of_both_engines_agree(mechanism):
    motion = swing(mechanism)
    by_pinocchio, by_mujoco = (mechanism.efforts(*motion, engine=engine) for engine in ("pinocchio", "mujoco"))
    assert np.abs(by_pinocchio).max() > 1
    assert np.abs(by_pinocchio - by_mujoco).max() < 1e-12


@every_mechanism
def test_forces_agree_on_any_motion_of_the_open_tree(mechanism, rng):
    """Open loops too, and all joints moving: nothing is equal because it is zero."""
    tree = mechanism.mechanism
    q, dq, ddq = rng.normal(size=(3, 20, len(tree.coordinates)))
    first, second = (inverse_dynamics(tree, q, dq, ddq, engine) for engine in ("pinocchio", "mujoco"))
    assert np.abs(first - second).max() < 1e-12 * np.abs(first).max()


@every_mechanism
def test_all_three_place_the_bodies_alike(mechanism, rng):
    tree = mechanism.mechanism
    q = rng.normal(size=len(tree.coordinates))
    frames = body_motions(tree, q[None], np.zeros((1, len(q))))
    built, _ = mechanism.pinocchio()
    model, data = built.model, built.model.createData()
    pin.framesForwardKinematics(model, data, built.arranged(q))
    xml = mujoco.MjModel.from_xml_string(mechanism.mjcf())
    state = mujoco.MjData(xml)
    state.qpos[:] = q[in_xml(tree, xml)]
    mujoco.mj_kinematics(xml, state)
    assert list(model.names)[1:] == [tree.coordinates[k] for k in built.order]
    for body in tree.bodies:
        seen = data.oMf[model.getFrameId(body.name)]
        assert seen.rotation == pytest.approx(frames[body.name].rotation[0], abs=1e-13)
        assert seen.translation == pytest.approx(frames[body.name].position[0], abs=1e-13)
        assert state.body(body.name).xmat == pytest.approx(frames[body.name].rotation[0].ravel(), abs=1e-13)
        assert state.body(body.name).xpos == pytest.approx(frames[body.name].position[0], abs=1e-13)


@every_mechanism
def test_mass_matrices_agree_with_each_other_and_with_the_energy(mechanism, rng):
    tree = mechanism.mechanism
    q, dq = rng.normal(size=(2, len(tree.coordinates)))
    (mass,) = mass_matrices(tree, q[None], np.eye(len(q))[None])
    assert mass == pytest.approx(mass.T, abs=0)
    kinetic = energy(tree, q[None], dq[None]) - energy(tree, q[None], 0 * dq[None])
    assert dq @ mass @ dq / 2 == pytest.approx(kinetic[0], rel=1e-12)
    xml = mujoco.MjModel.from_xml_string(mechanism.mjcf())
    state = mujoco.MjData(xml)
    order = in_xml(tree, xml)
    state.qpos[:] = q[order]
    mujoco.mj_forward(xml, state)
    pushed = np.zeros(xml.nv)
    mujoco.mj_mulM(xml, state, pushed, dq[order])
    assert pushed == pytest.approx((mass @ dq)[order], abs=1e-12)


@every_mechanism
def test_pinocchios_constraints_are_our_closures(mechanism):
    moving = mechanism.motion(*(part[3] for part in swing(mechanism)))
    built, constraints = mechanism.pinocchio()
    model, data = built.model, built.model.createData()
    datas = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())
    pin.computeJointJacobians(model, data, built.arranged(moving.s[0]))
    for constraint, own in zip(constraints, datas, strict=True):
        if NEWER:
            constraint.calc(model, data, own)  # without it the Jacobian below is silently wrong
    theirs = pin.getConstraintsJacobian(model, data, constraints, datas)
    ours = closures_at(mechanism.mechanism, moving.s)[1].reshape(-1, moving.s.shape[1])[:, built.order]
    for k, closure in enumerate(mechanism.mechanism.closures):  # theirs is seen in the frame of the first body
        frame = body_motions(mechanism.mechanism, moving.s, moving.ds)[closure.bodies[0]].rotation[0]
        rows = slice(3 * k, 3 * k + 3)
        assert frame @ theirs[rows] == pytest.approx(-ours[rows], abs=1e-13)


@every_mechanism
def test_constraint_dynamics_gives_back_the_motion(mechanism):
    """Pinocchio's forward dynamics, which knows the closures and nothing of our projection, inverts `efforts`."""
    x, dx, ddx = (part[::20] for part in swing(mechanism))
    moving, torques = mechanism.motion(x, dx, ddx), mechanism.efforts(x, dx, ddx)
    built, constraints = mechanism.pinocchio()
    model = built.model
    data, datas = model.createData(), pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())
    pin.initConstraintDynamics(model, data, constraints, *([datas] if NEWER else []))
    names = [mechanism.mechanism.coordinates[k] for k in built.order]
    motors = [names.index(name) for name in mechanism.mechanism.actuated]
    s, ds, dds = (built.arranged(part) for part in moving[:3])
    for k in range(len(x)):
        forces = np.zeros(model.nv)
        forces[motors] = torques[k]
        # dependent closures (Par4) need the proximal term
        settings = pin.ProximalSettings(1e-13, 1e-10, 100)
        found = pin.constraintDynamics(model, data, s[k], ds[k], forces, constraints, datas, settings)
        assert np.abs(found - dds[k]).max() < 1e-10 * np.abs(dds).max()


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_a_missing_engine_is_named_with_the_remedy(engine, monkeypatch):
    def refuse(name, *_):
        raise ModuleNotFoundError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", refuse)
    mechanism = Multibody(H4().with_parts(arm_mass=0.123))  # one that no test has built before
    still = np.zeros(4)
    with pytest.raises(AssumptionError, match=rf"needs {engine}.*pip install 'gough\[multibody\]'"):
        mechanism.efforts(mechanism.robot.home, still, still, engine=engine)


def test_engines_are_checked():
    mechanism = Multibody(H4())
    still = np.zeros(4)
    with pytest.raises(InputError, match="engine must be 'pinocchio' or 'mujoco', but is 'adams'"):
        mechanism.efforts(mechanism.robot.home, still, still, engine="adams")
    with pytest.raises(InputError, match=r"MuJoCo refuses .* Pinocchio accepts any, massless rods too"):
        changed(mechanism, rod_mass=0.0).efforts(mechanism.robot.home, still, still, engine="mujoco")


def test_closures_become_constraints_of_the_engines():
    """A five-bar is closed by a point in its plane, or by a hinge; not by a point where a link leaves the plane."""
    flat = FiveBar().mechanism
    (end,) = flat.closures
    assert closure_kind(flat, end) == "connect"
    assert closure_kind(flat, replace(end, directions=HELD["frame"])) == "weld"
    hinged = replace(flat, closures=(replace(end, directions=HELD["revolute"]),), redundant=True)
    xml = mujoco.MjModel.from_xml_string(mjcf(hinged, MechanismModel(flat).all_coordinates(MechanismModel(flat).home)))
    state = mujoco.MjData(xml)
    mujoco.mj_forward(xml, state)
    assert [xml.equality(k).name for k in range(xml.neq)] == ["end", "end_axis"]
    assert np.abs(state.efc_pos).max() < 1e-12
    with pytest.raises(InputError, match="Pinocchio has no constraint that holds only x, y, z, rx, ry"):
        pinocchio_model(hinged).constraints(hinged)
    tilted = replace(flat, joints=(replace(flat.joints[0], axis=(0.1, 0.0, 1.0)), *flat.joints[1:]))
    with pytest.raises(InputError, match="closure 'end' of five-bar holds x, y: multibody engines have"):
        closure_kind(tilted, end)
