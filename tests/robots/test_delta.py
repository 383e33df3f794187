"""The Delta: symmetries and a pose that can be done by hand."""

from dataclasses import replace

import numpy as np

from gough.robots import Delta, DeltaGeometry, efforts
from tests.robots.robots import around_home


def turn(x, angle):
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def test_a_turned_robot_does_the_same(rng):
    """Headings and poses turned alike leave motor angles and torques as they were."""
    robot = Delta(DeltaGeometry(alpha=(0.1, 2.0, 4.4)))
    turned = replace(robot, geometry=replace(robot.geometry, alpha=tuple(np.array(robot.geometry.alpha) + 0.7)))
    x = around_home(robot, rng, 100)
    dx, ddx = rng.normal(size=(2, *x.shape))
    motion = robot.joint_motion(x, dx, ddx)
    other = turned.joint_motion(turn(x, 0.7), turn(dx, 0.7), turn(ddx, 0.7))
    for one, two in zip(motion, other, strict=True):
        np.testing.assert_allclose(two, one, rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned.regressor(*other), robot.regressor(*motion), rtol=0, atol=1e-11)


def test_a_third_of_a_turn_exchanges_the_motors(rng):
    robot = Delta()
    x = around_home(robot, rng, 100)
    np.testing.assert_allclose(
        robot.inverse(turn(x, 2 * np.pi / 3)), robot.inverse(x)[:, [2, 0, 1]], rtol=0, atol=1e-13
    )


def test_only_the_difference_of_the_radii_matters(rng):
    one, other = Delta(DeltaGeometry(base=0.2, platform=0.05)), Delta(DeltaGeometry(base=0.25, platform=0.1))
    x = around_home(one, rng, 50)
    np.testing.assert_allclose(other.inverse(x), one.inverse(x), rtol=0, atol=1e-15)


def test_holding_torque_at_home_by_hand():
    """One leg carries a third of the platform: force along the rod, whose moment about the motor is the torque."""
    robot = Delta(variant="common")
    of = robot.geometry
    q = robot.inverse(robot.home)
    elbow = np.array([of.base - of.platform + of.arm * np.cos(q[0]), -of.arm * np.sin(q[0])])
    rod = elbow - [0.0, robot.home[2]]
    mass, weight = 1.3, 2.1
    pull = mass * robot.gravity / 3 / rod[1] * -rod  # on the elbow, as the platform hangs on it
    arm = of.arm * np.array([np.cos(q[0]), -np.sin(q[0])])
    moment = arm[0] * pull[1] - arm[1] * pull[0]  # about -u: positive raises the arm
    still = np.zeros(3)
    torque = efforts(robot, [0.0, mass, weight, 0.0, 0.0], q, still, still)
    np.testing.assert_allclose(torque, moment - weight * np.cos(q), rtol=1e-12)
