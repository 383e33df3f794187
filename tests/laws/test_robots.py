"""One law for all robots: what they compute is what follows from their one description, the `mechanism`.

Closed forms of the kinematics and dynamics, drawings, calibration models and the models of Pinocchio and MuJoCo are
compared with `MechanismModel(robot.mechanism)`, whose equations know nothing of any particular robot. A robot that is
registered in `gough.robots` without cases here fails.
"""

import inspect
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest

import gough.robots
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.robots import (
    BY_INSTRUMENTS,
    CLOSED_FORMS,
    KINEMATICS,
    ROBOTS,
    Delta,
    DeltaGeometry,
    FiveBar,
    GoughPlatform,
    H4Geometry,
    H4Kinematics,
    HexapodGeometry,
    LinearDelta,
    PalidaGeometry,
    Par4,
    Par4Geometry,
    Par4Kinematics,
    PlanarGeometry,
    PlanarRRR,
    PlatformPoses,
    RotaryDelta,
)
from gough.robots.kinematics import all_derivatives, evaluate_chains
from gough.robots.mechanism import Inertia, MechanismModel
from gough.robots.mechanism.parameters import parameters

UNEVEN = {
    "h4": {"geometry": H4Geometry(arm=0.3, rod=0.61, d=0.09, h=0.08, base=0.11, alpha=(0.2, 2.9, 4.6, 4.9))},
    "par4": {"geometry": Par4Geometry(arm=0.3, rod=0.7, h=0.1, d=0.05, base=0.15, alpha=(0.6, 2.5, 4.1, 5.3))},
    "delta": {"geometry": DeltaGeometry(arm=0.2, rod=0.45, base=0.12, platform=0.08, alpha=(0.1, 2.0, 4.4))},
    "five-bar": {"base": 0.15, "proximal": (0.24, 0.26), "distal": (0.36, 0.33)},
    "palida": {"geometry": PalidaGeometry(base=0.75, platform=0.12, height=0.09, home=0.6)},
    "6-ups": {"geometry": HexapodGeometry(base=0.5, platform=0.35, height=0.7)},
    "6-ucu": {"geometry": HexapodGeometry(base=0.5, platform=0.35, height=0.7)},
    "3-rrr": {"geometry": PlanarGeometry(base=0.4, platform=0.1, proximal=0.25, distal=0.3)},
}
"""For each robot, dimensions without accidental symmetry."""
REACH = {"five-bar": 0.06, "delta": 0.08}
"""How far poses go from home, m; turns go to 0.3 rad."""

_BASE = np.array(
    [
        [0.22, -0.15, 0.0],
        [0.23, 0.1, 0.01],
        [0.03, 0.27, 0.0],
        [-0.2, 0.16, -0.02],
        [-0.25, 0.0, 0.0],
        [-0.04, -0.26, 0.0],
    ]
)
_PLATFORM = np.array(
    [
        [0.17, -0.02, 0.0],
        [0.1, 0.12, 0.0],
        [0.05, 0.16, 0.01],
        [-0.14, 0.08, 0.0],
        [-0.15, 0.05, 0.0],
        [0.01, -0.18, 0.0],
    ]
)
BLUEPRINTS = {
    "gough": [GoughPlatform.deltalab(), GoughPlatform(_BASE, _PLATFORM, [0.3, 0.31, 0.32, 0.33, 0.34, 0.35], gain=1.5)],
    "linear-delta": [LinearDelta(), LinearDelta(0.15, [0.34, 0.36, 0.35], [0.41, 0.4, 0.39], (3.6, 5.8, 1.5))],
    "rotary-delta": [
        RotaryDelta(),
        RotaryDelta(
            [0.1, 0.12, 0.11],
            [0.26, 0.25, 0.27],
            [0.7, 0.69, 0.71],
            (0.1, 2.0, 4.3),
            [0.0, 0.01, -0.02],
            [0.1, 0.0, -0.2],
        ),
    ],
    "3-rrr": [
        PlanarRRR(),
        PlanarRRR(arm=[0.3, 0.32, 0.28], rod=[0.31, 0.3, 0.33], zero=[0.1, -0.2, 0.3], elbow=[1.0, -1.0, 1.0]),
    ],
    "h4": [H4Kinematics(UNEVEN["h4"]["geometry"])],
    "par4": [Par4Kinematics(UNEVEN["par4"]["geometry"])],
}
"""Models for calibration, regular and irregular ones."""


@cache
def described(name):
    """The robot with its irregular dimensions, and the general model of its description."""
    robot = ROBOTS[name](**UNEVEN[name])
    return robot, MechanismModel(robot.mechanism)


def poses(name, rng, n):
    _, model = described(name)
    size = np.where(np.array(model.pose_units) == "m", REACH.get(name, 0.1), 0.3)
    return model.home + rng.uniform(-1, 1, (n, len(model.home))) * size


def motion(name, rng, n=20):
    x = poses(name, rng, n)
    return x, rng.normal(size=x.shape), 5 * rng.normal(size=x.shape)


def same(found, wanted, share=1e-10):
    assert np.abs(found - wanted).max() < share * max(1.0, np.abs(wanted).max())


every_robot = pytest.mark.parametrize("name", ROBOTS)
every_blueprint = pytest.mark.parametrize(
    "model", [each for models in BLUEPRINTS.values() for each in models], ids=lambda each: f"{each.name}"
)


def test_every_robot_is_registered_and_has_cases():
    public = [getattr(gough.robots, name) for name in gough.robots.__all__]
    robots = {each for each in public if inspect.isclass(each) and hasattr(each, "inverse") and hasattr(each, "names")}
    protocols = {each for each in robots if getattr(each, "_is_protocol", False)}
    made = {getattr(make, "func", make) for make in (*ROBOTS.values(), *KINEMATICS.values(), *BY_INSTRUMENTS.values())}
    assert robots - protocols == made
    assert set(UNEVEN) == set(ROBOTS)
    assert {name: {type(each) for each in models} for name, models in BLUEPRINTS.items()} == {
        name: {kind} for name, kind in KINEMATICS.items()
    }
    assert set(CLOSED_FORMS) == {name for name, make in ROBOTS.items() if not is_general(make)}


def is_general(make):
    return issubclass(getattr(make, "func", make), gough.robots.mechanism.closed_chain.ClosedChain)


@every_robot
def test_a_robot_and_its_mechanism_have_the_same_actuators(name):
    robot, model = described(name)
    assert robot.actuators == model.actuators
    assert robot.coordinates == model.coordinates
    assert robot.effort_units == model.effort_units
    assert robot.coordinate_units == model.coordinate_units
    assert len(getattr(robot, "home", model.home)) == len(model.home)


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_kinematics_are_those_of_the_mechanism(name, rng):
    robot, model = described(name)
    x, dx, ddx = motion(name, rng)
    q = model.inverse(x)
    same(np.sin((robot.inverse(x) - q) / 2), 0 * q)  # whole turns of a motor change nothing
    same(robot.forward(q), x)
    same(robot.jacobian(q if name == "five-bar" else x), model.jacobian(x))
    if name == "five-bar":
        return
    for found, wanted in zip(robot.joint_motion(x, dx, ddx), model.joint_motion(x, dx, ddx), strict=True):
        same(found, wanted)
    for found, wanted in zip(robot.coordinate_motion(x, dx, ddx), model.coordinate_motion(x, dx, ddx), strict=True):
        same(found, wanted)
    same(robot.skeleton(x), model.skeleton(x))
    assert robot.segments == model.segments


def test_the_regressor_of_the_five_bar_is_that_of_its_mechanism(rng):
    robot, model = described("five-bar")
    q, dq, ddq = model.joint_motion(*motion("five-bar", rng))
    order = [*range(17), 19, 17, 20, 18]  # by hand viscous and dry friction of motor 1, then of motor 2
    same(model.regressor(q, dq, ddq)[:, :, order], robot.regressor(q, dq, ddq))
    assert model.nominal[order] == pytest.approx(robot.nominal, abs=1e-15)


@pytest.mark.parametrize("name", ["h4", "par4", "delta"])
def test_regressors_of_the_delta_family_are_those_of_the_mechanism(name, rng):
    """With slender rods the parts sum up to the parameters exactly: for any parts, so that each column is compared."""
    robot, model = described(name)
    x, dx, ddx = motion(name, rng)
    moved = robot.joint_motion(x, dx, ddx)
    W, whole = robot.regressor(*moved), model.regressor(*moved)
    friction = np.array(
        [value if is_friction(own) else 0.0 for own, value in zip(robot.names, robot.nominal, strict=True)]
    )
    for _ in range(len(robot.names)):
        odd = robot.with_parts(**scaled(robot.parts, rng), rod_radius=1e-7)
        nominal = np.array([parameter.nominal for parameter in parameters(odd.mechanism)])
        same(W @ (odd.parameters_of_parts() + friction), whole @ nominal)


def is_friction(name):
    return name.lower().startswith("f_")


def scaled(parts, rng):
    """All masses and inertias of the parts, each times a random factor."""
    values = {each.name: getattr(parts, each.name) for each in fields(parts)}
    return {
        name: tuple(v * rng.uniform(0.5, 2) for v in value) if isinstance(value, tuple) else value * rng.uniform(0.5, 2)
        for name, value in values.items()
        if value is not None and name.endswith(("_mass", "_masses", "_inertia", "_center"))
    }


@every_robot
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_engines_have_the_efforts_of_the_mechanism(name, engine, rng):
    pytest.importorskip(engine)
    from gough.simulate.multibody import Multibody

    _, model = described(name)
    x, dx, ddx = motion(name, rng, 8)
    whole = Multibody(Possible(name))
    wanted = model.regressor(*model.joint_motion(x, dx, ddx)) @ whole.robot.rigid
    same(whole.efforts(x, dx, ddx, engine=engine), wanted)
    assert whole.closure_error(x).max() < 1e-12


@every_robot
def test_mujoco_assembles_and_holds_the_robot_at_home(name):
    mujoco = pytest.importorskip("mujoco")
    from gough.simulate.multibody import Multibody

    _, model = described(name)
    whole = Multibody(Possible(name))
    if name == "6-ucu":
        with pytest.raises(InputError, match="closure 'cross1' of 6-UCU holds x, y, z, rz"):
            whole.mjcf()
        return
    xml = mujoco.MjModel.from_xml_string(whole.mjcf())
    state = mujoco.MjData(xml)
    mujoco.mj_resetDataKeyframe(xml, state, 0)
    mujoco.mj_forward(xml, state)
    assert len(state.efc_pos) >= len(whole.mechanism.rows)
    assert np.abs(state.efc_pos).max() < 1e-12
    still = np.zeros_like(model.home)
    same(state.ctrl, model.regressor(*model.joint_motion(model.home, still, still)) @ whole.robot.rigid)


class Possible:
    """A robot whose inertias are those of rigid bodies."""

    def __init__(self, name):
        robot, model = described(name)
        robot = robot if hasattr(robot, "coordinate_motion") else model
        self.name, self.home, self.coordinate_motion = robot.name, robot.home, robot.coordinate_motion
        bodies = tuple(replace(body, inertia=possible(body.inertia)) for body in model.mechanism.bodies)
        self.mechanism = replace(robot.mechanism, bodies=bodies)

    @property
    def rigid(self):
        """The nominal parameters without friction."""
        every = parameters(self.mechanism)
        return np.array([p.nominal if p.part == "bodies" or p.term == "J" else 0.0 for p in every])


def possible(inertia):
    """Inertias that a rigid body can have: MuJoCo refuses those of [AHG], which are identified, not measured."""
    if inertia.is_possible:
        return inertia
    return Inertia(inertia.mass, inertia.center, (max(inertia.moments),) * 3, symmetry=inertia.symmetry)


@every_blueprint
def test_calibration_models_are_their_mechanisms(model, rng):
    general = MechanismModel(model.mechanism)
    names, n = general.pose_names, 20
    size = np.where(np.array(general.pose_units) == "m", 0.03, 0.15)
    x = general.home + rng.uniform(-1, 1, (n, len(names))) * size
    at = placed(names, x)
    readings = model.inverse(model.nominal, *at)
    gain = float(np.max(getattr(model, "gain", 1.0)))
    away = gain * readings - general.inverse(x)
    same(np.sin(away / 2) if model.reading_unit == "rad" else away, 0 * away)
    found = model.forward(model.nominal, readings)
    same(found.position, at.position)
    same(found.rotation, at.rotation, 1e-9)
    slopes = evaluate_chains(all_derivatives(model.chain_kernel("length")), model.columns, model.nominal, at, readings)
    by_pose = -gain * slopes["by_pose"][..., list(model.freedoms)] / slopes["by_reading"][..., None]
    if "roll" in names:  # a small turn as a function of roll, pitch and yaw
        yaw, pitch = (exp(x[:, k, None] * np.eye(3)[axis]) for k, axis in ((5, 2), (4, 1)))
        about = [(yaw @ pitch)[:, :, 0], yaw[:, :, 1], np.broadcast_to([0.0, 0.0, 1.0], (n, 3))]
        by_pose[:, :, 3:] = by_pose[:, :, 3:] @ np.stack(about, axis=-1)
    same(np.linalg.inv(by_pose), general.jacobian(x), 1e-8)


def placed(names, x):
    """The pose of the platform: its turns are about x, y and z, or, for the last coordinate of a plane, about z."""
    position = np.zeros((len(x), 3))
    for k, word in enumerate(names):
        if word in "xyz":
            position[:, "xyz".index(word)] = x[:, k]
    turns = {word: x[:, k] for k, word in enumerate(names) if word not in "xyz"}
    order = [("yaw", 2), ("pitch", 1), ("roll", 0)] if "roll" in turns else [(word, 2) for word in turns]
    rotation = np.broadcast_to(np.eye(3), (len(x), 3, 3))
    for word, axis in order:
        rotation = rotation @ exp(turns[word][:, None] * np.eye(3)[axis])
    return PlatformPoses(position, rotation)


def test_the_law_can_fail(rng):
    """A robot whose arms are a micrometer longer than described is found out."""
    other = Delta(replace(described("delta")[0].geometry, arm=0.200001))
    x = poses("delta", rng, 20)
    with pytest.raises(AssertionError):
        same(np.sin((other.inverse(x) - described("delta")[1].inverse(x)) / 2), np.zeros((20, 3)))


def test_defaults_of_the_closed_forms_assemble():
    for name in CLOSED_FORMS:
        robot = ROBOTS[name]()
        assert robot.mechanism.name == robot.name
        assert robot.mechanism == ROBOTS[name]().mechanism
    assert Par4().mechanism.redundant
    assert FiveBar().mechanism.coordinates == ("q1", "elbow1", "q2", "elbow2")
