"""What H4, Par4 and Delta refuse, and the message one gets."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import FiveBar, efforts
from tests.robots.robots import DELTAS, around_home


@pytest.fixture(params=DELTAS, ids=str)
def robot(request):
    return DELTAS[request.param]


def test_poses_out_of_reach_are_refused(robot):
    far = np.array([robot.home, robot.home * 0 + 3.0])
    with pytest.raises(InputError, match=r"sample 1: the pose is out of reach of motor 1.*\(1 of 2 samples\)"):
        robot.inverse(far)
    with pytest.raises(InputError, match=r"^the pose is out of reach of motor 1"):
        robot.inverse(far[1])
    assert (robot.reach(far)[1] < 0).all()
    for call in (robot.jacobian, lambda x: robot.joint_motion(x, 0 * x, 0 * x)):
        with pytest.raises(InputError, match="sample 1: the pose is out of reach"):
            call(far)


def test_the_edge_of_reach_is_refused(robot):
    """Bisect downward for the pose in which a leg is just not stretched."""
    low, high = 0.0, 3.0
    down = np.eye(len(robot.home))[2]
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if robot.reach(robot.home - middle * down).min() > 0 else (low, middle)
    with pytest.raises(InputError, match=r"the chain of motor \d is stretched or folded"):
        robot.inverse(robot.home - (low - 1e-9) * down)


@pytest.mark.parametrize("name", ["h4", "h4 uneven", "par4", "par4 uneven"])
def test_motor_angles_without_a_pose_are_refused(name, rng):
    """Of the Delta any angles have a pose, since its rods are longer than arm and base together."""
    robot = DELTAS[name]
    q = robot.inverse(around_home(robot, rng, 4))
    q[2] = [1.4, -1.4, 1.4, -1.4]  # some arms up, some down: the rods do not meet
    for call in (robot.forward, lambda q: robot.regressor(q, q, q), lambda q: robot.pose_motion(q, q, q)):
        with pytest.raises(InputError, match="sample 2: no pose has these motor angles: check the units"):
            call(q)
    q[2] = np.inf
    with pytest.raises(InputError, match="sample 2: no pose"):
        robot.forward(q)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.forward(np.zeros((3, 2))), r"q of \w+ must have . numbers .*shape is \(3, 2\)"),
        (lambda r: r.forward("angles"), "q must be an array of real numbers"),
        (lambda r: r.forward(np.zeros((3, len(r.actuators))), np.zeros(2)), r"guess of \w+ must have"),
        (
            lambda r: r.forward(np.zeros((3, len(r.actuators))), np.zeros((2, len(r.home)))),
            "guess must be one pose or one for each sample of q, but it has 2 and q has 3",
        ),
        (lambda r: r.forward(r.inverse(r.home), r.home * np.nan), "the guess holds NaN"),
        (lambda r: r.inverse(np.zeros((2, 7))), "input 'x' of kernel"),
        (lambda r: replace(r, variant="rodz"), "has no variant 'rodz'; did you mean 'rods'"),
        (lambda r: replace(r, gravity=np.nan), "gravity must be a finite"),
        (lambda r: replace(r, least_margin=0.0), "least_margin must lie between"),
        (lambda r: replace(r, geometry=replace(r.geometry, arm=-0.1)), "arm must be a positive length in m"),
        (lambda r: replace(r, geometry=replace(r.geometry, rod=np.nan)), "rod must be a positive length in m"),
        (lambda r: replace(r, geometry=replace(r.geometry, alpha=(0.0, 1.0))), "alpha must be a tuple of . angles"),
        (lambda r: replace(r, geometry=replace(r.geometry, alpha="abc")), "alpha must be a tuple of . angles"),
        (lambda r: replace(r, geometry=replace(r.geometry, rod=0.1)), "assembled: rods of 0.1 m do not bridge"),
        (lambda r: replace(r, geometry=replace(r.geometry, alpha=(1.0,) * len(r.actuators))), "singular at home"),
    ],
)
def test_bad_input_is_refused_kindly(robot, call, message):
    with pytest.raises(InputError, match=message):
        call(robot)


@pytest.mark.parametrize("what", ["q", "dq", "ddq"])
def test_efforts_name_the_argument_whose_shape_is_wrong(what):
    five_bar, still = FiveBar.demo(), np.zeros((2, 2))
    moved = {"q": np.full((2, 2), [2.0, 1.0]), "dq": still, "ddq": still}
    message = rf"^{what} must have a number for each coordinate of the .* \(2: .*\), .* but its shape is \(2, 3\)"
    with pytest.raises(InputError, match=message):
        efforts(five_bar, five_bar.nominal, **(moved | {what: np.zeros((2, 3))}))


def test_efforts_name_the_argument_with_other_samples():
    five_bar, still = FiveBar.demo(), np.zeros((2, 2))
    with pytest.raises(InputError, match="ddq has 3 samples, but q has 2: they are of the same instants"):
        efforts(five_bar, five_bar.nominal, np.full((2, 2), [2.0, 1.0]), still, np.zeros((3, 2)))
    assert efforts(five_bar, five_bar.nominal, [2.0, 1.0], [0.0, 0.0], [0.0, 0.0]).shape == (2,)
