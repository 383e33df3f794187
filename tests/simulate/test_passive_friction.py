"""Dry friction of passive joints in a closed loop: against a formula by finite differences, and a balance of energy."""

from dataclasses import replace

import numpy as np
import pytest

from gough.robots import FiveBar, Palida
from gough.robots.mechanism import Friction, MechanismModel
from gough.robots.model import PoseMotion
from gough.simulate import ClosedLoop, FourierSeries, Instruments, JointPI, SimulatedRobot
from gough.simulate.equations import equations

RUBS = 0.7
"""N·m, of each elbow: about as much as the drives."""


@pytest.fixture(scope="module")
def robot():
    """A five-bar whose elbows rub, in a horizontal plane."""
    mechanism = FiveBar().mechanism
    joints = tuple(
        replace(joint, freedoms=(replace(joint.freedoms[0], friction=Friction("elbow", dry=RUBS)),))
        if joint.name.startswith("elbow")
        else joint
        for joint in mechanism.joints
    )
    return MechanismModel(replace(mechanism, joints=joints, gravity=(0.0, 0.0, 0.0)))


def states(robot, rng, n=20):
    x = robot.home + 0.05 * rng.uniform(-1, 1, (n, 2))
    return PoseMotion(x, rng.normal(size=(n, 2)), 5 * rng.normal(size=(n, 2)))


def joint_speeds(robot, motion):
    """Velocities of all joints by central differences of their positions along the motion."""
    step = 1e-6
    ahead, behind = (robot.all_coordinates(motion.x + side * step * motion.dx) for side in (1, -1))
    return (ahead - behind) / (2 * step)


def by_actuators(robot, x):
    """∂s/∂q (N, joints, actuators) by central differences through forward kinematics."""
    q, step = robot.inverse(x), 1e-6
    columns = []
    for unit in np.eye(q.shape[1]):
        ahead, behind = (robot.all_coordinates(robot.forward(q + side * step * unit, x)) for side in (1, -1))
        columns.append((ahead - behind) / (2 * step))
    return np.stack(columns, axis=2)


def frictions(robot, speeds, smooth):
    """Friction (N, joints) of each joint by itself, from the names of the parameters."""
    value = dict(zip(robot.names, robot.nominal, strict=True))
    found = np.zeros_like(speeds)
    for k, name in enumerate(robot.coordinate_names):
        if name.startswith("pose"):
            continue
        label = "elbow" if name.startswith("elbow") else name.removeprefix("q")
        found[:, k] = value[f"r_{label}"] * np.tanh(speeds[:, k] / smooth) + value.get(f"v_{label}", 0.0) * speeds[:, k]
    return found


@pytest.mark.parametrize("smooth", [0.005, 0.8])
def test_friction_is_that_of_every_joint_carried_to_the_actuators(robot, rng, smooth):
    simulated, motion = SimulatedRobot(robot, robot.nominal, friction_speed=smooth), states(robot, rng)
    own = frictions(robot, joint_speeds(robot, motion), smooth)
    expected = np.einsum("nk,nka->na", own, by_actuators(robot, motion.x))
    np.testing.assert_allclose(simulated.friction_efforts(motion.x, motion.dx), expected, atol=2e-7)


def test_forward_dynamics_undoes_inverse_dynamics(robot, rng):
    simulated, motion = SimulatedRobot(robot, robot.nominal), states(robot, rng)
    fast = (abs(joint_speeds(robot, motion)) > 0.06).all(axis=1)  # where the smooth law is the plain one
    motion = PoseMotion(*(part[fast] for part in motion))
    found = simulated.accelerations(motion.x, motion.dx, simulated.efforts(motion))
    np.testing.assert_allclose(found, motion.ddx, atol=1e-7 * abs(motion.ddx).max())


def test_energy_is_balanced_under_control(robot):
    """Work of the motors = growth of kinetic energy + what rubs off, each joint from its own speed."""
    smooth, rate = 0.5, 2000.0
    simulated = SimulatedRobot(robot, robot.nominal, friction_speed=smooth)
    series = FourierSeries(robot.home, [[0.15], [0.1]], [[0.05], [-0.12]], frequency=1.0)
    motion = series.sample(rate)
    controller = JointPI.tuned(simulated, robot.home, bandwidth=15.0)
    loop = ClosedLoop(simulated, controller, Instruments(encoder_counts=None), rate, np.zeros(2), substeps=4)
    followed = loop.follow(PoseMotion(motion.q, motion.dq, motion.ddq))
    q, dq, _ = robot.joint_motion(followed.x, followed.dx, np.zeros_like(followed.x))
    kinetic = np.einsum("ni,nij,nj->n", dq, simulated.joint_inertia(followed.x), dq) / 2
    work = (followed.voltages[:-1] * np.diff(q, axis=0)).sum()  # the effort is held over each period, its gain is 1
    speeds = joint_speeds(robot, PoseMotion(followed.x, followed.dx, followed.dx))
    power = (frictions(robot, speeds, smooth) * speeds).sum(axis=1)
    lost = ((power[1:] + power[:-1]) / 2).sum() / rate
    passive = [name.startswith("elbow") for name in robot.coordinate_names]
    elbows = RUBS * (np.tanh(speeds / smooth) * speeds)[:, passive].sum() / rate
    assert elbows > 0.1 * work  # so that leaving them out would show
    assert work == pytest.approx(kinetic[-1] - kinetic[0] + lost, rel=1e-5)


def test_steps_are_enough_for_the_friction_of_all_joints(robot):
    simulated = SimulatedRobot(robot, robot.nominal)
    without = SimulatedRobot(robot, np.where(np.array(robot.names) == "r_elbow", 0.0, robot.nominal))
    all_joints, drives = (np.linalg.eigvals(one.joint_damping(robot.home)).max() for one in (simulated, without))
    by = by_actuators(robot, robot.home[None])[0, [name.startswith("elbow") for name in robot.coordinate_names]]
    expected = without.joint_damping(robot.home) + RUBS / simulated.friction_speed * by.T @ by
    np.testing.assert_allclose(simulated.joint_damping(robot.home), expected, rtol=1e-6)
    assert all_joints > 1.1 * drives


def test_friction_of_palida_is_told_apart():
    """Passive joints too; the columns are asked, not compiled into a forward dynamics."""
    robot = Palida()
    friction = equations(robot).friction
    assert [n for n, dry in zip(robot.names, friction.dry_columns, strict=True) if dry] == [
        *("r_α", "r_β"),
        *(f"r_{k}" for k in range(1, 7)),
    ]
    assert [n for n, rubs in zip(robot.names, friction.columns, strict=True) if rubs][8:] == [
        f"v_{k}" for k in range(1, 7)
    ]
