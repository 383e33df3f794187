"""What changed since a calibration is named, with the fewest unknowns, and mended."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.days import change, measured, named
from gough.core.errors import InputError
from gough.data import Poses
from gough.geometry import MachineGeometry, calibrate, machine_geometry, recalibrate
from gough.geometry.days import day_of
from gough.robots import GoughPlatform, LinearDelta

ROBOT = GoughPlatform.deltalab()


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(7)
    theta = ROBOT.nominal + rng.normal(0, 1e-3, 42)
    return theta, machine_geometry(calibrate(ROBOT, measured(ROBOT, theta, 40, rng)))


@pytest.mark.parametrize(
    "cause", ["nothing", "one zero", "one gain", "zeros", "instrument frame", "target frame", "both frames"]
)
def test_the_cause_is_named_and_mended(known, cause):
    theta, geometry = known
    rng = np.random.default_rng(3)
    changed = {name: 3 * np.asarray(value) for name, value in change(cause, rng).items()}
    day = day_of(ROBOT, measured(ROBOT, theta, 10, rng), changed)
    other = day_of(ROBOT, measured(ROBOT, theta, 15, rng), changed)
    answer = recalibrate(geometry, day, validation=other)
    assert named(answer.chosen.name) == cause
    assert answer.is_explained
    assert answer.validation.position_after.mean() < 2e-4
    again = recalibrate(answer.geometry, other) if cause != "one gain" else None  # gains are no parameters here
    assert again is None or again.chosen.name == "nothing"
    assert ("changed:" in answer.words) == (cause != "nothing")


def test_frames_far_away_are_found_too(known):
    theta, geometry = known
    rng = np.random.default_rng(4)
    far = {"base": np.array([2.0, -1.0, 0.5, 0.2, -0.1, 2.5]), "platform": np.array([0.1, 0.0, 0.2, 0.0, 1.0, 0.0])}
    answer = recalibrate(geometry, day_of(ROBOT, measured(ROBOT, theta, 10, rng), far))
    assert answer.chosen.name == "both frames"
    assert answer.chosen.frames.base.t == pytest.approx(far["base"][:3], abs=2e-3)
    assert answer.chosen.values[:3] == pytest.approx(far["base"][:3], abs=2e-3)


def test_what_nothing_explains_is_said(known):
    theta, geometry = known
    rng = np.random.default_rng(5)
    bent = theta + rng.normal(0, 2e-3, 42)
    answer = recalibrate(geometry, measured(ROBOT, bent, 12, rng))
    assert answer.refuted
    assert "Calibrate again" in answer.words


def test_a_single_wrong_pose_is_named_and_calibrate_is_advised(known):
    theta, geometry = known
    rng = np.random.default_rng(8)
    day = day_of(ROBOT, measured(ROBOT, theta, 8, rng), {"zeros": 1e-3 * rng.normal(size=6)})
    position = day.position.copy()
    position[3] += [3e-3, 0.0, 0.0]
    answer = recalibrate(geometry, replace(day, position=position))
    assert answer.refuted
    assert "Without pose 3, “zeros” explains the others" in " ".join(answer.verdicts)
    turned = recalibrate(geometry, replace(day, readings=day.readings[:, [1, 0, 2, 3, 4, 5]]))
    assert "gough calibrate" in turned.words
    assert not any(text.startswith("Without pose") for text in turned.verdicts)


def test_the_error_of_a_change_is_that_of_days_with_one_geometry(known):
    """Errors of the geometry are in the zeros before and in those of the day: most of them cancel in the change."""
    theta, geometry = known
    rng = np.random.default_rng(9)
    zeros = 1e-3 * rng.normal(size=6)
    now = recalibrate(geometry, day_of(ROBOT, measured(ROBOT, theta, 10, rng), {"zeros": zeros})).chosen
    assert now.name == "zeros"
    own = [ROBOT.names.index(name) for name in now.unknowns]
    change = now.values - geometry.model.nominal[own]
    assert (abs(change + zeros) < 4 * now.change_sigma).all()
    assert now.change_sigma.mean() < 0.5 * now.sigma.mean()


def test_a_gain_of_a_robot_without_gains_is_told_and_not_written():
    printer, rng = LinearDelta(), np.random.default_rng(1)
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (10, 3))
    readings = printer.inverse(printer.nominal, p) * [1.0, 1.02, 1.0] + rng.normal(0, 1e-5, p.shape)
    geometry = MachineGeometry(printer, closure=np.full(3, 1e-5), spare=100)
    answer = recalibrate(geometry, Poses(p, None, readings))
    assert answer.chosen.name == "gain of tower b"
    assert any("Multiply the readings of this chain by 0.98" in text for text in answer.verdicts)
    assert (answer.geometry.model.nominal == printer.nominal).all()


def test_arguments_are_refused_with_what_is_expected(known):
    _, geometry = known
    poses = Poses([[0.0, 0.0, 0.3]], [np.eye(3)], [[0.1] * 6])
    with pytest.raises(InputError, match="does not state what its calibration left"):
        recalibrate(replace(geometry, closure=None), poses)
    with pytest.raises(InputError, match="level"):
        recalibrate(geometry, poses, level=2.0)


def test_chains_share_the_errors_of_poses(known):
    """Errors of positions alone correlate the closure errors of the chains; errors of readings do not."""
    theta, geometry = known
    assert geometry.independent < 0.8
    rng = np.random.default_rng(8)
    exact = ROBOT.forward(theta, rng.uniform(0, 0.14, (60, 6)))
    readings = ROBOT.inverse(theta, exact.position, exact.rotation) + 1e-5 * rng.normal(size=(60, 6))
    by_readings = machine_geometry(calibrate(ROBOT, Poses(exact.position, exact.rotation, readings)))
    assert by_readings.independent > 0.9
