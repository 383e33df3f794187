"""The complete mechanism under efforts: both engines against the equations of motion, each other, and energy."""

from dataclasses import replace

import numpy as np
import pytest

from gough import InputError
from gough.robots import Delta, Palida, Par4
from gough.robots.mechanism import Inertia, MechanismModel
from gough.simulate.multibody import Multibody, plant
from gough.simulate.multibody.plants import _balanced

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")


def frictionless(mechanism):
    joints = tuple(
        replace(joint, freedoms=tuple(replace(each, friction=None) for each in joint.freedoms))
        for joint in mechanism.joints
    )
    return replace(mechanism, joints=joints)


@pytest.mark.parametrize("robot", [Delta(), Par4()], ids=["delta", "par4"])
def test_the_first_instant_has_the_acceleration_of_the_projected_mass_matrix(robot):
    # the closures of Par4 are redundant
    q, efforts = robot.inverse(robot.home), np.linspace(3.0, 5.0, len(robot.actuators))
    begun = plant(frictionless(robot.mechanism), q, np.zeros_like(q), "pinocchio")
    short = 1e-5
    begun.advance(efforts, short)
    known = Multibody(robot).accelerations(robot.home, np.zeros_like(robot.home), efforts)
    wanted = np.linalg.solve(robot.jacobian(robot.home), known)
    assert np.allclose(begun.read()[1] / short, wanted, rtol=1e-5, atol=1e-5 * abs(wanted).max())


def test_the_work_of_the_actuators_becomes_energy_of_the_bodies():
    robot = Delta()
    whole, q = Multibody(robot), robot.inverse(robot.home)
    moving = plant(frictionless(robot.mechanism), q, np.zeros(3), "pinocchio")
    work, short = 0.0, 2.5e-4
    for k in range(400):
        efforts = np.array([6.0, 3.0, -4.0]) * np.cos(30 * k * short)
        before = moving.read()[0]
        moving.advance(efforts, short)
        work += efforts @ (moving.read()[0] - before)  # efforts are constant meanwhile: exact
    q_end, dq_end = moving.read()
    end = robot.pose_motion(q_end[None], dq_end[None], np.zeros((1, 3)))
    gained = whole.energy(end.x[0], end.dx[0]) - whole.energy(robot.home, np.zeros(3))
    # order four at 0.25 ms, and loops that drift by less than 1e-9 m
    assert abs(gained - work) < 1e-7 * max(abs(work), abs(gained))


def test_both_engines_move_alike():
    robot = Delta()
    q = robot.inverse(robot.home)
    ends = {}
    for step in (2e-4, 1e-4):
        for engine in ("mujoco", "pinocchio"):
            moving = plant(frictionless(robot.mechanism), q, np.zeros(3), engine, step=step)
            for _ in range(100):
                moving.advance(np.array([9.0, -5.0, 2.0]), 1e-3)
            ends[engine, step] = moving.read()[0]
    moved = abs(ends["pinocchio", 1e-4] - q).max()
    apart = {step: abs(ends["mujoco", step] - ends["pinocchio", step]).max() for step in (2e-4, 1e-4)}
    assert apart[2e-4] < 5e-3 * moved
    assert apart[1e-4] < 0.6 * apart[2e-4]  # MuJoCo is of first order


def test_an_actuator_below_its_dry_friction_sticks_in_mujoco_and_creeps_in_pinocchio():
    robot = Delta()
    q = robot.inverse(robot.home)
    holding = Multibody(robot).efforts(robot.home, np.zeros(3), np.zeros(3)) + 1.0  # dry friction is 2 N·m
    moved = {}
    for engine in ("mujoco", "pinocchio"):
        moving = plant(robot.mechanism, q, np.zeros(3), engine)
        for _ in range(50):
            moving.advance(holding, 1e-3)
        moved[engine] = abs(moving.read()[0] - q).max()
    assert moved["mujoco"] < 1e-6
    assert moved["pinocchio"] < 0.05 * 5e-3  # 50 ms at the speed over which friction changes its sign


def test_an_unknown_engine_is_refused():
    robot = Delta()
    with pytest.raises(InputError, match="engine must be one of mujoco, pinocchio, but is 'mujocco'"):
        plant(robot.mechanism, robot.inverse(robot.home), np.zeros(3), "mujocco")


@pytest.mark.parametrize("engine", ["mujoco", "pinocchio"])
def test_bodies_that_no_mass_has_accelerate_by_their_equations(engine):
    """Inverse dynamics of the mechanism, then forward dynamics by the engine: the same acceleration.

    The large moment of the stators is 2.5 times the sum of the other two, with products of inertia: MuJoCo would refuse
    it in a file, and a body that it balances has other efforts.
    """
    described = frictionless(Palida().mechanism)
    thin = Inertia(4.5, (0.0, 0.13, 0.0), (0.5, 0.1, 0.1), (0.02, 0.01, 0.0))
    assert not thin.is_possible
    bodies = tuple(replace(body, inertia=thin) if body.name.startswith("stator") else body for body in described.bodies)
    mechanism = replace(described, bodies=bodies)
    rng = np.random.default_rng(1)
    size = np.array([0.05, 0.05, 0.05, 0.1, 0.1, 0.1])
    way = Palida().home + size * rng.uniform(-1, 1, 6), 5 * size * rng.uniform(-1, 1, 6), rng.uniform(-20, 20, 6)
    q, dq, ddq = (part[0] for part in Palida().joint_motion(*(part[None] for part in way)))
    h = 2e-5
    errors = {}
    for name, efforts_of, moves in (
        ("possible", described, described),
        ("own", mechanism, mechanism),
        ("balanced", mechanism, _balanced(mechanism)),
    ):
        model = MechanismModel(efforts_of)
        tau = (model.regressor(q[None], dq[None], ddq[None]) @ model.nominal)[0]
        moved = plant(moves, q, dq, engine, step=h)
        moved.advance(tau, h)
        errors[name] = abs((moved.read()[1] - dq) / h - ddq).max()
    assert errors["possible"] < 0.05  # m/s²: closures are soft in MuJoCo, in new versions 0.005
    assert errors["own"] < 1.2 * errors["possible"] + 1e-4
    assert errors["balanced"] > 0.5
