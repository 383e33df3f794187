"""Simulated robots: forward dynamics is the inverse of inverse dynamics, and friction is found where it is."""

import numpy as np
import pytest

from gough.core.errors import AssumptionError, InputError
from gough.robots import H4, Delta, FiveBar, Par4
from gough.robots.model import JointMotion, PoseMotion
from gough.simulate import FourierSeries, SimulatedRobot, SlowThenFast
from gough.simulate.equations import equations, find_friction

SEEDED_AS = "tests/simulate/test_machine.py"
ROBOTS = [variant for robot in (H4(), Par4(), Delta()) for variant in robot.variants]


def named(robot):
    return f"{robot.name} {robot.variant}"


def states(robot, rng, n=200):
    """Random motions of the platform, every joint faster than the smoothing of dry friction."""
    m = len(robot.home)
    size = np.array([0.1, 0.1, 0.05, 0.4])[:m]
    x = robot.home + size * rng.uniform(-1, 1, (n, m))
    dx, ddx = rng.normal(size=(2, n, m)) * [[[1.0]], [[10.0]]]
    motion = PoseMotion(x, dx, ddx)
    fast = (np.abs(robot.joint_motion(*motion).dq) > 0.1).all(axis=1)
    return PoseMotion(*(part[fast] for part in motion))


@pytest.mark.parametrize("robot", ROBOTS, ids=named)
def test_forward_dynamics_undoes_inverse_dynamics(robot, rng):
    simulated = SimulatedRobot(robot, robot.nominal)
    motion = states(robot, rng)
    found = simulated.accelerations(motion.x, motion.dx, simulated.efforts(motion))
    np.testing.assert_allclose(found, motion.ddx, atol=1e-8 * np.abs(motion.ddx).max())


@pytest.mark.parametrize("robot", ROBOTS, ids=named)
def test_efforts_of_a_pose_are_those_of_its_joints(robot, rng):
    simulated, motion = SimulatedRobot(robot, robot.nominal), states(robot, rng, 30)
    by_joints = simulated.efforts(simulated.joint_motion(motion))
    np.testing.assert_allclose(simulated.efforts(motion), by_joints, atol=1e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=named)
def test_friction_is_found_by_asking(robot):
    friction = equations(robot).friction
    rubs = [name for name, is_friction in zip(robot.names, friction.columns, strict=True) if is_friction]
    assert rubs == [name for name in robot.names if name.lower().startswith(("f_c", "f_v"))]
    dry = [name for name, one in zip(robot.names, friction.dry.any(axis=0), strict=True) if one]
    assert dry == [name for name in robot.names if name.lower().startswith("f_c")]
    n = len(robot.actuators)
    np.testing.assert_array_equal((friction.dry @ robot.nominal), [dict(zip(robot.names, robot.nominal, strict=True))[
        name] for name in (dry if len(dry) == n else dry * n)])  # fmt: skip


def test_friction_of_a_robot_in_joints_is_found_too():
    robot = FiveBar.demo()
    friction = equations(robot).friction
    assert [name for name, one in zip(robot.names, friction.columns, strict=True) if one] == list(robot.names[-4:])
    torn = FiveBar(base=0.8999, proximal=(0.1, 0.1), distal=(0.35, 0.35))  # assembled only if stretched
    with pytest.raises(AssumptionError, match="not finite"):
        find_friction(torn.regressor_kernel())


def test_smooth_friction_is_the_plain_one_at_speed(rng):
    robot = H4()
    simulated, motion = SimulatedRobot(robot, robot.nominal), states(robot, rng)
    still = PoseMotion(motion.x, np.zeros_like(motion.x), np.zeros_like(motion.x))
    backwards = simulated.efforts(PoseMotion(motion.x, -motion.dx, motion.ddx))
    odd = (simulated.efforts(motion) - backwards) / 2
    np.testing.assert_allclose(simulated.friction_efforts(motion.x, motion.dx), odd, atol=1e-9)
    assert np.abs(simulated.friction_efforts(*still[:2])).max() == 0


@pytest.mark.parametrize("robot", [H4(), Par4(), Delta(), FiveBar.demo()], ids=lambda r: r.name)
def test_inertia_is_symmetric_positive_and_that_of_the_efforts(robot, rng):
    simulated = SimulatedRobot(robot, robot.nominal)
    if isinstance(robot, FiveBar):
        at = np.array([2.0, 1.1]) + 0.2 * rng.uniform(-1, 1, (5, 2))
        q = at
    else:
        at = states(robot, rng, 5).x
        q = robot.inverse(at)
    inertia = simulated.joint_inertia(at)
    np.testing.assert_allclose(inertia, np.swapaxes(inertia, 1, 2), atol=1e-12)
    assert np.linalg.eigvalsh(inertia).min() > 0
    np.testing.assert_allclose(simulated.joint_inertia(at[0]), inertia[0], atol=1e-15)
    ddq, still = rng.normal(size=q.shape), np.zeros_like(q)
    pushed = simulated.efforts(JointMotion(q, still, ddq)) - simulated.efforts(JointMotion(q, still, still))
    np.testing.assert_allclose(pushed, np.einsum("nij,nj->ni", inertia, ddq), atol=1e-9)


def test_impossible_robots_are_refused():
    robot, bar = H4(), FiveBar.demo()
    for wrong, words in (
        (lambda: SimulatedRobot(robot, [1.0]), "16 parameters, not 1"),
        (lambda: SimulatedRobot(robot, np.full(16, np.nan)), "must be finite"),
        (lambda: SimulatedRobot(robot, robot.nominal, friction_speed=0.0), "friction_speed must be positive"),
        (lambda: SimulatedRobot(bar, bar.nominal, mechanism=object()), "written in joints"),
    ):
        with pytest.raises(InputError, match=words):
            wrong()


def test_a_robot_without_equations_says_so():
    class Plain:
        name, actuators, names = "plain", ("motor",), ("I",)

    with pytest.raises(AssumptionError, match="plain has no regressor_kernel"):
        SimulatedRobot(Plain(), [1.0]).accelerations([[0.0]], [[0.0]], [[0.0]])


def test_poses_of_another_robot_are_refused():
    series = FourierSeries([0.0, 0.0, -0.4], 0.1 * np.ones((3, 1)), np.zeros((3, 1)), frequency=1.0)
    motion = SlowThenFast(series, series).sample(10.0)
    with pytest.raises(InputError, match="'x' of kernel"):
        SimulatedRobot(H4(), H4().nominal).efforts(motion)
