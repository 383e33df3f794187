"""Polynomials and circles: derivatives, rest at both ends, and what is refused."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import read_recording, write_recording
from gough.robots import Delta, FiveBar
from gough.simulate.trajectories import Circle, FourierSeries, Periodic, PolynomialPath, Ramped, as_recording

PATHS = [
    PolynomialPath([[0.0, 0.0, -0.8], [0.1, 0.05, -0.75], [-0.1, 0.0, -0.8]], [0.5, 0.8]),
    Circle([0.0, 0.0, -0.75, 0.1], radius=0.1, inclination=np.pi / 6, heading=0.4),
    Circle([0.0, 0.0, -0.75], radius=0.1, turns=3, ramp=1.5, turn=0.7).mirrored,
    Ramped(FourierSeries([0.1, 0.2], [[0.5], [0.1]], [[0.2], [0.0]], frequency=0.5), [0.0, 0.1], periods=2, ramp=2.0),
]


@pytest.mark.parametrize("path", PATHS)
def test_velocities_and_accelerations_are_derivatives(path, rng):
    t, step = rng.uniform(0.01, path.duration - 0.01, 200), 1e-6
    before, at, after = (path.at(t + d) for d in (-step, 0.0, step))
    np.testing.assert_allclose((after.x - before.x) / (2 * step), at.dx, atol=1e-7)
    np.testing.assert_allclose((after.dx - before.dx) / (2 * step), at.ddx, atol=1e-5)


@pytest.mark.parametrize("path", PATHS)
def test_paths_begin_and_end_at_rest(path):
    ends = path.at([-1.0, 0.0, path.duration, path.duration + 1.0])
    np.testing.assert_allclose(ends.dx, 0.0, atol=1e-12)
    np.testing.assert_allclose(ends.ddx, 0.0, atol=1e-9)


def test_a_polynomial_path_passes_its_points():
    path = PATHS[0]
    np.testing.assert_allclose(path.at([0.0, 0.5, 1.3]).x, path.points, atol=1e-12)


def test_a_circle_is_one_and_closes():
    circle = PATHS[1]
    x = circle.sample(200.0).x[:, :3]
    np.testing.assert_allclose(np.linalg.norm(x - circle.center[:3], axis=1), 0.1, atol=1e-12)
    np.testing.assert_allclose(circle.at([circle.duration]).x, circle.at([0.0]).x, atol=1e-12)
    assert np.ptp(x[:, 2]) == pytest.approx(2 * 0.1 * np.sin(np.pi / 6), rel=1e-3)


def test_the_mirror_image_of_a_circle_is_upside_down():
    circle = Circle([0.0, 0.0, 0.0], radius=0.1, inclination=0.5)
    t = np.linspace(0, circle.duration, 50)
    np.testing.assert_allclose(circle.mirrored.at(t).x, circle.at(t).x * [1, 1, -1], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PolynomialPath([[0.0, 0.0]], []), "at least two points"),
        (lambda: PolynomialPath([[0.0], [1.0]], [1.0, 2.0]), "1 ways between them, but 2"),
        (lambda: PolynomialPath([[0.0], [1.0]], [0.0]), "positive time"),
        (lambda: Circle([0.0, 0.0], radius=0.1), "begin with x, y, z"),
        (lambda: Circle([0.0, 0.0, 0.0], radius=-0.1), "radius must be positive"),
        (lambda: Circle([0.0, 0.0, 0.0], radius=0.1, ramp=0.6), "do not fit into 1 turns"),
    ],
)
def test_bad_paths_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_trajectory_is_written_and_read(tmp_path):
    robot = Delta()
    recording = as_recording(robot, Circle(robot.home, radius=0.05), 100.0)
    write_recording(tmp_path / "circle.csv", recording)
    read = read_recording(tmp_path / "circle.csv")
    np.testing.assert_allclose(read["q1"], recording["q1"], rtol=1e-12)
    np.testing.assert_allclose(
        robot.forward(read.columns(robot.coordinates)), read.columns(robot.pose_names), atol=1e-9
    )


def test_joint_trajectories_have_no_pose():
    series = FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.2]], frequency=0.5)
    assert as_recording(FiveBar(), Periodic(series), 100.0).names == ("q1", "q2", "dq1", "dq2", "ddq1", "ddq2")


def test_a_trajectory_out_of_reach_is_refused():
    with pytest.raises(InputError, match="out of reach"):
        as_recording(Delta(), Circle([0.0, 0.0, -0.85], radius=2.0), 100.0)
