"""Experiments with known faults: what they claim of the robot, seen from elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.dynamics import recorded
from gough.robots import FiveBar
from gough.robots.model import efforts
from gough.simulate.multibody import EXPERIMENTS, experiment
from tests.simulate.multibody.motions import NEEDS

pin = pytest.importorskip("pinocchio", reason=NEEDS)
pytest.importorskip("mujoco", reason=NEEDS)


def five_bar(**options):
    return experiment("five-bar", seconds=2.0, rate=500.0, **options)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_both_engines_give_the_same_efforts(name):
    first, second = (experiment(name, seconds=0.5, rate=100.0, engine=engine) for engine in ("pinocchio", "mujoco"))
    motion = (first.q, first.dq, first.ddq)
    assert np.abs(first.efforts(*motion) - second.efforts(*motion)).max() < 1e-9 * np.abs(first.efforts(*motion)).max()


@pytest.mark.parametrize("name", ["delta", "five-bar"])
def test_the_model_leaves_nothing_of_clean_data(name):
    """A hundredth of the noise of a measurement, 0.3 % of the efforts, would be taken for an effect."""
    truth = experiment(name, seconds=4.0)
    problem = recorded(truth.robot, truth.measured()[0])
    size = np.linalg.norm(problem.W, axis=0)
    W = problem.W / np.where(size > 0, size, 1.0)
    left = problem.y - W @ np.linalg.lstsq(W, problem.y, rcond=1e-9)[0]
    assert np.linalg.norm(left) < 3e-5 * np.linalg.norm(problem.y)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_velocities_are_the_derivatives_of_what_is_prescribed(name):
    truth = experiment(name, seconds=1.0)
    for x, dx in ((truth.q, truth.dq), (truth.dq, truth.ddq)):
        first = truth.recording == 0
        slope = np.gradient(x[first], 1 / truth.rate, axis=0)[1:-1]
        assert np.abs(slope - dx[first][1:-1]).max() < 1e-3 * np.abs(dx).max()


def test_friction_and_rotors_belong_to_the_drives():
    truth = five_bar()
    robot = truth.robot
    friction = np.where(np.isin(robot.names, ["fv_1", "fc_1", "fv_2", "fc_2"]), robot.nominal, 0.0)
    friction[[robot.names.index("I_1"), robot.names.index("I_2")]] = 4e-3
    own = efforts(robot, friction, truth.q, truth.dq, truth.ddq)
    assert truth.drive_efforts(truth.q, truth.dq, truth.ddq) == pytest.approx(own, abs=1e-12)


def test_a_payload_is_a_mass_at_the_end():
    truth = five_bar()
    robot = truth.robot
    motion = (truth.q, truth.dq, truth.ddq)
    more = truth.with_payload(0.3).efforts(*motion) - truth.efforts(*motion)
    unit = 0.3 * (np.array(robot.names) == "m_load")
    assert more == pytest.approx(efforts(robot, unit, *motion), abs=1e-10)


def test_a_longer_link_is_a_robot_with_that_link():
    truth = five_bar()
    motion = (truth.q, truth.dq, truth.ddq)
    longer = replace(FiveBar.demo(), distal=(0.35, 1.02 * 0.35))
    wanted = efforts(longer, longer.nominal, *motion)
    assert truth.with_length("distal2", 1.02).efforts(*motion) == pytest.approx(wanted, abs=1e-9)
    with pytest.raises(InputError, match="no dimension is called 'distal'; did you mean 'distal"):
        truth.with_length("distal", 1.02)


def test_passive_friction_takes_the_power_of_all_passive_joints():
    """Angles of the links by the closure of the five-bar, their rates by differences in time."""
    truth = experiment("five-bar", seconds=1.0)
    robot = truth.robot
    ends, elbows = robot.forward(truth.q), robot.elbow_positions(truth.q)
    angles = [np.unwrap(np.arctan2(*(ends - elbows[:, k]).T[::-1])) for k in (0, 1)]
    inside = np.r_[2:998, 1002:1998]
    rates = [np.gradient(angle, 1 / truth.rate)[inside] for angle in angles]
    turns = [rates[0] - truth.dq[inside, 0], rates[1] - truth.dq[inside, 1], rates[1] - rates[0]]
    power = (truth.passive_friction(0.2) * truth.dq)[inside].sum(axis=1)
    assert power == pytest.approx(0.2 * sum(turn**2 for turn in turns), rel=1e-3, abs=1e-3)


def test_unknown_robots_are_refused():
    with pytest.raises(InputError, match="no experiment is called 'detla'; did you mean 'delta'"):
        experiment("detla")
