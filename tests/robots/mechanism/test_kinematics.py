"""Loops close, velocities and accelerations are derivatives of positions, refusals name their sample."""

import numpy as np
import pytest

from gough import InputError
from gough.robots import Hexapod, Palida, ParallelRobot
from gough.robots.mechanism import MechanismModel
from tests.robots.mechanism.robots import ROBOTS, around_home, path


@pytest.fixture(params=ROBOTS)
def name(request):
    return request.param


def test_every_mechanism_is_a_parallel_robot(name):
    assert isinstance(ROBOTS[name], ParallelRobot)


def test_forward_kinematics_undoes_inverse_kinematics(name, rng):
    robot, x = ROBOTS[name], around_home(name, rng, 60)
    assert np.abs(robot.forward(robot.inverse(x)) - x).max() < 1e-12


def test_one_sample_is_a_row_of_many(name, rng):
    robot, x = ROBOTS[name], around_home(name, rng, 3)
    q = robot.inverse(x)
    assert np.abs(robot.inverse(x[1]) - q[1]).max() < 1e-14
    assert robot.forward(q[1]).shape == x[1].shape
    assert robot.margin(x[1]).shape == ()
    assert robot.reach(x[1]).shape == q[1].shape
    assert robot.jacobian(x[1]).shape == (len(robot.home),) * 2
    assert robot.skeleton(x[1]).shape == (len(robot.segments), 2, 3)
    assert robot.regressor(q[1], q[1], q[1]).shape == (len(robot.actuators), len(robot.names))


def test_the_kernel_of_the_pose_has_the_same_inverse_kinematics(name, rng):
    robot, x = ROBOTS[name], around_home(name, rng, 30)
    assert np.abs(robot.inverse_kernel().replay(x)["q"] - robot.inverse(x)).max() < 1e-12


def test_velocities_and_accelerations_are_those_of_the_positions(name, rng):
    robot, h = ROBOTS[name], 1e-3
    times = np.array([0.1, 0.37, 0.8])
    seed = rng.integers(1 << 30)

    def positions(t):
        return robot.inverse(path(name, np.random.default_rng(seed), t)[0])

    motion = robot.joint_motion(*path(name, np.random.default_rng(seed), times))
    at = {k: positions(times + k * h) for k in range(-3, 4)}
    first = sum(c * (at[k] - at[-k]) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * h)
    second = (sum(c * (at[k] + at[-k]) for k, c in ((1, 270), (2, -27), (3, 2))) - 490 * at[0]) / (180 * h**2)
    # differences of sixth order: h⁶ times the seventh and eighth derivative, at most (4π)⁸ h⁶ = 6e-10 of the size
    assert np.abs(motion.dq - first).max() < 1e-8 * np.abs(first).max()
    assert np.abs(motion.ddq - second).max() < 1e-7 * np.abs(second).max()


def test_the_pose_moves_as_the_joints_move(name, rng):
    robot = ROBOTS[name]
    x, dx, ddx = path(name, rng, np.linspace(0, 1, 12))
    back = robot.pose_motion(*robot.joint_motion(x, dx, ddx))
    for found, wanted in zip(back, (x, dx, ddx), strict=True):
        assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_the_jacobian_carries_velocities_of_actuators_to_the_pose(name, rng):
    robot = ROBOTS[name]
    x, dx, ddx = path(name, rng, np.linspace(0, 1, 7))
    dq = robot.joint_motion(x, dx, ddx).dq
    assert np.abs(np.einsum("nij,nj->ni", robot.jacobian(x), dq) - dx).max() < 1e-11 * np.abs(dx).max()


def test_a_missing_sample_stays_missing_and_touches_no_other(name, rng):
    robot, x = ROBOTS[name], around_home(name, rng, 4)
    q = robot.inverse(x)
    q[2, 0] = np.nan
    found = robot.forward(q)
    assert np.isnan(found[2]).all()
    assert np.abs(np.delete(found - x, 2, axis=0)).max() < 1e-12


IMPOSSIBLE = {
    "palida": [0.1, 0.9, 0.9, 0.9, 0.9, 0.9],
    "6-ups": [0.1, 0.9, 0.9, 0.9, 0.9, 0.9],
    "h4": [2.093, 1.026, -0.04, -1.107],
    "3-rrr": [-4.2, -0.5, 1.6],
    "five-bar": [np.pi, 0.0],
}
"""Positions of actuators that do not fit together, or only in a singularity."""


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_the_first_sample_that_cannot_be_assembled_is_named(name):
    robot = ROBOTS[name]
    q = np.tile(robot.inverse(robot.home), (5, 1))
    q[[2, 4]] = IMPOSSIBLE[name]
    with pytest.raises(InputError, match=r"sample 2: .* (cannot be assembled|is singular there)"):
        robot.forward(q)


@pytest.mark.parametrize("name", ["delta", "h4", "par4", "3-rrr", "five-bar"])
def test_the_first_sample_that_cannot_be_reached_is_named(name):
    robot = ROBOTS[name]
    x = np.tile(robot.home, (5, 1))
    x[[3, 4], 0] += 10
    with pytest.raises(InputError, match=r"sample 3: the pose is out of reach of .*\(2 of 5 samples\)"):
        robot.inverse(x)


def test_poses_beyond_reach_have_no_margin_and_hide_no_others(rng):
    robot = ROBOTS["five-bar"]
    x = around_home("five-bar", rng, 200)
    x[::3] += 5.0
    margin = robot.margin(x)
    assert np.isnan(margin[::3]).all()
    assert (margin[1::3] > 0.01).all()
    assert (margin[2::3] > 0.01).all()


def test_margins_vanish_where_the_hexapod_is_singular():
    """Fichter's singularity: a platform turned by 90° about the vertical has no hold on that turn."""
    robot = Hexapod()
    yaw = np.linspace(0, np.pi / 2 + 0.1, 200)
    x = np.tile(robot.home, (200, 1))
    x[:, 5] = yaw
    margin = robot.margin(x)
    assert margin[0] > 0.1
    crossing = yaw[np.flatnonzero(np.diff(np.sign(margin)))]
    assert crossing == pytest.approx([np.pi / 2], abs=0.02)
    with pytest.raises(InputError, match="beyond a singularity"):
        robot.inverse([*robot.home[:5], np.pi / 2 + 0.05])


def test_margins_as_a_kernel_are_positive_and_the_same(rng):
    robot, x = ROBOTS["palida"], around_home("palida", rng, 20)
    both = robot.margin_kernel().replay(x)["margin"]
    assert np.abs(both.min(axis=1) - robot.margin(x)).max() < 1e-14


def test_reach_is_the_distance_from_the_limits_of_the_drives():
    robot = Palida()
    q = robot.inverse(robot.home)[0]
    assert robot.reach(robot.home) == pytest.approx([min(q - 0.65, 1.15 - q) / 0.25] * 6)


def test_the_working_and_the_assembly_mode_of_home_are_kept_far_from_it(rng):
    """Poses all over the limits of the drives come back, not their mirror images."""
    robot = ROBOTS["palida"]
    x = robot.home + rng.uniform(-1, 1, (600, 6)) * [0.35, 0.35, 0.2, 0.5, 0.5, 0.8]
    x = x[(robot.reach(x).min(axis=1) > 0) & (robot.margin(x) > 1e-3)]
    assert len(x) > 100
    assert np.abs(robot.forward(robot.inverse(x)) - x).max() < 1e-10


def test_strange_shapes_and_names_are_refused():
    robot = ROBOTS["3-rrr"]
    with pytest.raises(InputError, match="the pose of 3-RRR must have 3 numbers in each sample"):
        robot.inverse([0.0, 0.0])
    with pytest.raises(InputError, match="guess must be one pose or one for each sample of q"):
        robot.forward(np.tile(robot.inverse(robot.home), (5, 1)), guess=np.tile(robot.home, (2, 1)))
    with pytest.raises(InputError, match="has no variant 'pasive'"):
        MechanismModel(robot.mechanism, "pasive")
    with pytest.raises(InputError, match=r"has no parameter 'm_platfrm'; did you mean 'm_platform'\?"):
        MechanismModel(robot.mechanism, only=("m_platfrm",))


def test_a_guess_beside_another_assembly_finds_that_assembly():
    """The 3-RRR has a mirror image of its platform; a guess there is a pose of the other side, and is refused."""
    robot = ROBOTS["3-rrr"]
    q = robot.inverse(robot.home)
    assert np.abs(robot.forward(q, guess=[0.02, -0.01, 0.1]) - robot.home).max() < 1e-12
