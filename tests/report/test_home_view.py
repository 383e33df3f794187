"""Zeros and positive directions of actuators, as they are drawn, and what parameters are."""

import numpy as np
import pytest

from gough.report.base.home_view import drives, home_figure
from gough.robots import H4, ROBOTS, FiveBar, Palida
from gough.robots.meanings import parameter_meanings


def test_an_arm_of_an_h4_points_along_its_heading_at_zero_and_a_positive_turn_lowers_it():
    robot = H4()
    for drive, heading in zip(drives(robot.mechanism), robot.geometry.alpha, strict=True):
        assert drive.zero == pytest.approx(
            robot.geometry.arm * np.array([np.cos(heading), np.sin(heading), 0]), abs=1e-9
        )
        assert np.cross(drive.axis, drive.zero)[2] == pytest.approx(-robot.geometry.arm)
        assert drive.position == pytest.approx(robot.inverse(robot.home)[0])


def test_angles_of_a_five_bar_are_measured_from_the_x_axis_towards_y():
    for drive, length in zip(drives(FiveBar().mechanism), FiveBar().proximal, strict=True):
        assert drive.zero == pytest.approx([length, 0, 0], abs=1e-9)
        assert drive.axis == pytest.approx([0, 0, 1])


def test_a_leg_is_drawn_from_zero_in_the_direction_in_which_it_grows():
    robot = Palida()
    for drive in drives(robot.mechanism):
        assert not drive.turns
        assert np.linalg.norm(drive.zero) == pytest.approx(drive.position)
        assert drive.axis @ drive.zero == pytest.approx(-drive.position)


@pytest.mark.parametrize("family", ROBOTS)
def test_every_robot_is_drawn_and_every_parameter_has_a_meaning(family):
    robot = ROBOTS[family]()
    drawing = home_figure(robot)
    source = drawing.svg().decode()
    for k in range(1, len(robot.actuators) + 1):
        assert f">{k}</text>" in source
    assert all(name in drawing.caption for name in robot.coordinates)
    for model in getattr(robot, "variants", (robot,)):
        meanings = parameter_meanings(model)
        assert list(meanings) == list(model.names)
        assert all(text[0].isupper() and text.endswith(".") and "{" not in text for text in meanings.values())
    assert len(set(parameter_meanings(robot).values())) == len(robot.names)


def test_what_has_no_description_is_not_drawn():
    assert home_figure(object()) is None
