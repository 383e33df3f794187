"""The bridge from robot and recording to problem."""

import numpy as np
import pytest

import gough
from gough.core.errors import InputError
from gough.dynamics import dynamic
from gough.robots import FiveBar, efforts

ROBOT = FiveBar.demo()


@pytest.fixture
def recording(rng):
    q = np.array([2.0, 1.1]) + 0.2 * rng.standard_normal((30, 2))
    dq, ddq = rng.standard_normal((2, 30, 2))
    return {"q": q, "dq": dq, "ddq": ddq, "efforts": efforts(ROBOT, ROBOT.nominal, q, dq, ddq)}


def test_rows_are_samples_then_actuators(recording):
    problem = dynamic(ROBOT, **recording)
    assert problem.groups.names == ROBOT.actuators
    assert problem.unknowns.names == ROBOT.names
    assert problem.unknowns.units == ROBOT.units
    assert np.array_equal(problem.y.reshape(-1, 2), recording["efforts"])
    assert abs(problem.residuals(ROBOT.nominal)).max() < 1e-12


def test_noise_prior_and_blueprint_are_passed_on(recording):
    prior, noise = gough.Box(np.zeros(21), np.full(21, 9.0)), gough.Gaussian(np.diag([1.0, 2.0]))
    problem = dynamic(ROBOT, **recording, noise=noise, prior=prior, nominal=np.ones(21))
    assert problem.noise == noise
    assert problem.unknowns.prior == prior
    assert np.array_equal(problem.unknowns.nominal, np.ones(21))
    assert np.array_equal(dynamic(ROBOT, **recording).unknowns.nominal, ROBOT.nominal)


@pytest.mark.parametrize(
    ("channel", "column", "words"),
    [("efforts", 1, "efforts of 'motor 2' is nan at sample 7"), ("dq", 0, "dq in column 0 is nan at sample 7")],
)
def test_a_missing_number_is_named(recording, channel, column, words):
    spoilt = recording[channel].copy()
    spoilt[7, column] = np.nan
    with pytest.raises(InputError, match=words):
        dynamic(ROBOT, **{**recording, channel: spoilt})


@pytest.mark.parametrize(
    ("channel", "value", "words"),
    [
        ("dq", np.zeros((29, 2)), "dq has 29 samples, but q has 30"),
        ("ddq", np.zeros((30, 3)), "ddq has 3 columns, but q has 2"),
        ("efforts", np.zeros((30, 1)), r"a column per actuator \(motor 1, motor 2\), but there are 1"),
        ("efforts", np.zeros(30), "efforts must have 2 dimension"),
        ("q", np.zeros((0, 2)), "at least one sample"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(recording, channel, value, words):
    with pytest.raises(InputError, match=words):
        dynamic(ROBOT, **{**recording, channel: value})


def test_a_singular_pose_is_refused_by_the_robot_itself(recording):
    with pytest.raises(InputError, match="sample 3"):
        dynamic(ROBOT, **{**recording, "q": np.where(np.arange(30)[:, None] == 3, [np.pi, 0.0], recording["q"])})
