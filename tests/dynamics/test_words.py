"""Verdicts in sentences."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.text import percent
from gough.data import MeasuredMotion, Recording, default_steps, prepare
from gough.dynamics import identify
from gough.dynamics.example import random_motion
from gough.dynamics.text import measured_rows
from gough.region import Box


def test_angles_that_may_be_degrees_are_a_verdict_before_all_others():
    t = np.linspace(0.0, 4.0, 4001)
    samples = np.column_stack([100 * np.sin(t), np.cos(3 * t)])
    odd = prepare(Recording(["q1", "tau1"], ["rad", "N·m"], samples, rate=1000.0), ["q1"], ["tau1"], default_steps(1e3))
    assert [len(line.remarks) for line in odd.account] == [1, *[0] * (len(odd.account) - 1)]
    robot, motion = random_motion(1)
    found = identify(robot, replace(motion, account=odd.account), methods=["weighted"], compare=False)
    assert found.verdicts[0].startswith("Check recording: channel 'q1' reaches 100 rad, more than two turns")
    assert found.verdicts[0].endswith('in a study [data.units] q1 = "deg".')
    assert replace(found, premises=("Not stated.",)).verdicts[:2] == ("Not stated.", found.verdicts[0])


@pytest.mark.parametrize("fixed", [False, True])
def test_a_bound_is_refuted_for_the_parameters_within_the_prior(fixed):
    robot, motion = random_motion(1)
    free = identify(robot, motion, methods=["weighted"], bound=0.5, compare=False)
    assert not free.is_refuted
    assert "prior" not in " ".join(free.on_bound)
    lower, upper = np.full(len(robot.names), -np.inf), np.full(len(robot.names), np.inf)
    i = robot.names.index("fv_1")
    lower[i], upper[i] = robot.nominal[i] + 10, robot.nominal[i] + (10 if fixed else 11)
    found = identify(robot, motion, methods=["weighted"], bound=0.5, compare=False, prior=Box(lower, upper))
    assert found.is_refuted  # though the one method that was asked for has no bound to refute
    floor, causes = found.on_bound
    assert floor.startswith("No parameters within the prior explain every row with errors below ε* = ")
    assert floor.endswith(": the given error bound of 0.5 N·m is refuted.")
    assert causes.endswith(", or the prior is wrong.")


def test_bounds_that_were_given_are_repeated_by_actuator():
    found = identify(*random_motion(1), methods=["weighted"], bound=[0.3, 0.301], compare=False)
    assert "the given error bound of 0.3, 0.301 N·m (" in " ".join(found.on_bound)


@pytest.mark.parametrize(
    ("part", "text"),
    [(1.0, "100 %"), (0.99999, "99.9 %"), (0.995, "99.5 %"), (0.95, "95 %"), (1.25, "125 %"), (0.0, "0 %")],
)
def test_parts_are_shown_without_exponents_and_never_rounded_up_to_all(part, text):
    assert percent(part) == text


def test_rows_are_named_by_their_own_recording():
    """Two recordings, of which the second holds only rows that are not named: no file is named for all."""
    motion = random_motion(1, n_samples=10)[1]
    both = MeasuredMotion.concatenate(*(replace(motion, sources=[name]) for name in ("a.csv", "b.csv")))
    assert measured_rows(both, [0, 2, 3]) == "motor 1 in rows 1, 2 and motor 2 in row 2 of a.csv"
    assert measured_rows(both, [0, 20]) == "motor 1 in row 1 of a.csv and motor 1 in row 1 of b.csv"
    assert measured_rows(both, [0, 2, 4, 6, 8, 20]) == "motor 1 in rows 1, 2, 3, 4, 5 of a.csv and 1 more row"
