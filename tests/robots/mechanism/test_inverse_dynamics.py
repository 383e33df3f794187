"""Efforts in plain NumPy are those of the traced equations, for every mechanism and for changed dimensions."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import Hexapod, efforts
from gough.robots.hexapod import HexapodGeometry
from gough.robots.mechanism import Body, Inertia, Joint, Mechanism, MechanismModel, Placement, Platform
from gough.robots.mechanism.inverse_dynamics import efforts_of
from tests.robots.mechanism.robots import GENERAL, ROBOTS, around_home


def both(robot, near_robot, x, rng):
    """Efforts by both ways, from coordinates of another robot that are near."""
    theta = rng.normal(size=len(robot.names))
    dx, ddx = rng.normal(size=(2, *x.shape))
    motion = robot.joint_motion(x, dx, ddx)
    near = near_robot.coordinates_at(motion.q)
    values = dict(zip(robot.parameters, theta.tolist(), strict=True))
    return efforts_of(robot.mechanism, values, near, motion.dq, motion.ddq), efforts(robot, theta, *motion)


@pytest.mark.parametrize("name", ["6-ucu", "3-rrr", "five-bar"])
def test_they_are_those_of_the_regressor(name, rng):
    robot = ROBOTS[name]
    numeric, traced = both(robot, robot, around_home(name, rng, 20), rng)
    assert numeric == pytest.approx(traced, rel=1e-9, abs=1e-10 * np.abs(traced).max())


def test_a_pose_of_three_angles_is_followed(rng):
    """A wrist, whose pose is shown by a frame that is held in all three angles."""
    axes = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    parents = ("base", "link1", "link2")
    place = Placement((0.1, 0.0, 0.2))
    joints = [Joint(f"q{k}", "revolute", parents[k - 1], f"link{k}", place, axes[k - 1]) for k in (1, 2, 3)]
    bodies = [Body(f"link{k}", Inertia(1.0, (0.0, 0.1, 0.0), (0.02, 0.03, 0.04))) for k in (1, 2, 3)]
    platform = Platform("link3", ("roll", "pitch", "yaw"))
    robot = MechanismModel(
        Mechanism("wrist", tuple(bodies), tuple(joints), actuated=("q1", "q2", "q3"), platform=platform)
    )
    numeric, traced = both(robot, robot, rng.uniform(-0.5, 0.5, (20, 3)), rng)
    assert numeric == pytest.approx(traced, rel=1e-9, abs=1e-10 * np.abs(traced).max())


def test_general_bodies_have_products_of_inertia(rng):
    numeric, traced = both(GENERAL, GENERAL, around_home("palida", rng, 20), rng)
    assert numeric == pytest.approx(traced, rel=1e-9, abs=1e-10 * np.abs(traced).max())


def test_a_changed_dimension_is_found_from_the_coordinates_of_the_drawing(rng):
    drawn, built = Hexapod(), Hexapod(HexapodGeometry(base=0.61))
    numeric, traced = both(built, drawn, around_home("6-ups", rng, 20), rng)
    assert numeric == pytest.approx(traced, rel=1e-9, abs=1e-10 * np.abs(traced).max())
    moved, _ = both(drawn, drawn, around_home("6-ups", np.random.default_rng(0), 20), np.random.default_rng(1))
    other, _ = both(built, drawn, around_home("6-ups", np.random.default_rng(0), 20), np.random.default_rng(1))
    assert np.abs(moved - other).max() > 1e-3 * np.abs(moved).max()


def test_loops_that_cannot_close_are_refused(rng):
    robot = Hexapod()
    x = around_home("6-ups", rng, 3)
    far = replace(robot, geometry=HexapodGeometry(base=2.5, height=0.8))
    still = np.zeros((3, 6))
    near = robot.all_coordinates(x)
    near[:, [robot.coordinate_names.index(q) for q in robot.coordinates]] = 0.05
    with pytest.raises(InputError, match="do not close near these positions"):
        efforts_of(far.mechanism, dict(zip(far.parameters, far.nominal, strict=True)), near, still, still)
