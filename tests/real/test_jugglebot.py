"""A measured Stewart platform, Jugglebot: 108 motion-capture poses and motor turns."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.rotations import angle_between, exp
from gough.data import read_poses
from gough.geometry import calibrate, cross_validate, held_out, machine_geometry, recalibrate, rezero
from gough.geometry.instruments import Instrument, Measurements, Sought, calibrate_by_instruments
from gough.robots import GoughPlatform

from .page import printed

GAIN_NAMES = tuple(f"g{i + 1}" for i in range(6))
TURNS_PER_MM = np.array([0.01321144, 0.0140456, 0.0138233, 0.014124109, 0.01416007, 0.01403256])


@pytest.fixture(scope="module")
def poses(shared_data):
    path = shared_data / "stewart-jugglebot" / "poses-108.csv"
    if not path.is_file():
        pytest.skip(f"no {path}")
    columns = {axis: f"position_{axis}" for axis in "xyz"}
    columns |= {f"q{axis}": f"orientation_{axis}" for axis in "wxyz"}
    columns |= {f"l{i + 1}": f"leg_length_{i + 1}" for i in range(6)}
    return read_poses(path, columns=columns, units={"position": "mm"})


@pytest.fixture(scope="module")
def platform():
    n = np.arange(6)
    base = np.radians(200 + 100 * (n // 2) + 20 * ((n + 1) // 2))
    top = np.radians(154.3012223 + 8.6024446 * (n // 2) + 111.3975554 * ((n + 1) // 2))
    options = {"gain": 1e-3 / TURNS_PER_MM, "gains": True, "reading_unit": "rev", "name": "Jugglebot"}
    blank = GoughPlatform.of_circles(0.410, 0.219075, base, top, 0.6, **options)
    return replace(blank, length=np.linalg.norm(blank.platform + np.array([0, 0, 0.565]) - blank.base, axis=1))


@pytest.fixture(scope="module")
def found(platform, poses):
    return calibrate(platform, poses)


def test_closure_before_and_after(found):
    before, after = found.rms
    assert round(1e3 * before, 1) == 50.5
    assert round(1e3 * after, 2) == 0.41
    assert found.identifiability.is_full_rank
    assert found.suspects == ()


def test_residuals_are_not_white_and_that_is_said(found):
    assert any("autocorrelated over" in words for words in found.verdicts)


def test_the_answer_is_that_of_scipy(found, platform, poses):
    """The same chain weights, another optimizer, another formulation."""
    from scipy.optimize import least_squares

    sigma = np.array([chain.rms_after for chain in found.chains])

    def residuals(x):
        return (
            (platform.inverse(x, poses.position, poses.rotation) - poses.readings) * platform.rows(x)[:, 7] / sigma
        ).ravel()

    other = least_squares(residuals, found.start, x_scale=1e-3, xtol=1e-14, ftol=1e-14)
    assert abs(other.x - found.parameters).max() < 1e-6


def test_gains_are_part_of_the_robot(found, platform, poses):
    """With the gains that its makers measured by hand, the model is refuted by poses that it has not seen."""
    free, held = (cross_validate(platform, poses, folds=6, fixed=names) for names in ((), GAIN_NAMES))
    rms = [1e3 * np.sqrt((check.length_after**2).mean()) for check in (free, held)]
    assert rms[0] < 0.6
    assert rms[1] > 1.8 * rms[0]
    assert free.position_after.mean() < 0.6 * held.position_after.mean()
    assert [round(each, 2) for each in reversed(rms)] == printed("closure at poses left out in turn, rms")
    for row, values in (
        ("predicted position there, mean error", [1e3 * check.position_after.mean() for check in (held, free)]),
        ("predicted orientation there, mean error", [np.degrees(c.orientation_after.mean()) for c in (held, free)]),
    ):
        assert [round(float(value), 2) for value in values] == printed(row)
    gains = found.parameters[7::8]
    assert gains[0] * TURNS_PER_MM[0] * 1e3 == pytest.approx(0.94, abs=0.01)  # leg 1 was measured 6 % off
    assert gains.std() < 0.01 * gains.mean()


def test_legs_that_lost_their_zero_are_mended_by_a_few_poses(found, platform, poses, rng):
    shifted = replace(poses, readings=poses.readings + rng.normal(0, 0.03, 6))
    zeroed = rezero(platform, found.parameters, shifted.select(range(0, 108, 10)))
    check = held_out(platform, shifted, found.parameters, zeroed)
    before, after = (1e3 * np.sqrt((errors**2).mean()) for errors in (check.length_before, check.length_after))
    assert before > 0.8
    assert after < 0.45


def test_the_instruments_frame_may_be_any(found, platform, poses):
    other = calibrate(platform, poses, frames="instrument")
    assert other.rms[0] < 3e-3  # the blueprint, moved to where it fits best
    assert other.rms[1] == pytest.approx(found.rms[1], rel=1e-6)


def test_the_wrong_order_of_quaternions_is_named(platform, shared_data):
    path = shared_data / "stewart-jugglebot" / "poses-108.csv"
    columns = {axis: f"position_{axis}" for axis in "xyz"} | {f"l{i + 1}": f"leg_length_{i + 1}" for i in range(6)}
    columns |= {f"q{i + 1}": f"orientation_{axis}" for i, axis in enumerate("xyzw")}
    right = read_poses(path, columns=columns, units={"position": "mm"})
    assert "xyzw, scalar last" in right.notes[0]
    wrong = read_poses(path, columns=columns, units={"position": "mm"}, quaternion="wxyz")
    assert "would fit" in wrong.notes[0]
    assert angle_between(right.rotation, wrong.rotation).min() > 2


def test_swapped_legs_are_named(platform, poses):
    found = calibrate(platform, replace(poses, readings=poses.readings[:, [1, 0, 2, 3, 4, 5]]))
    assert "in the order 2, 1, 3, 4, 5, 6" in found.suspects[0]


def test_a_bad_pose_is_named(platform, poses):
    moved = poses.position.copy()
    moved[40] += [0.0, 0.0, 0.03]
    found = calibrate(platform, replace(poses, position=moved))
    assert found.verdicts[0].startswith("Pose 40 (line 42) does not fit the others")


def test_readings_that_count_backwards_are_named(platform, poses):
    found = calibrate(platform, replace(poses, readings=poses.readings * [1, 1, -1, 1, 1, 1]))
    assert "the readings of leg 3 have the other sign" in found.suspects[0]


def test_as_many_unknowns_as_equations_follow_nothing(platform, poses, rng):
    found = calibrate(platform, poses.select(rng.choice(108, 8, replace=False)))
    assert not any("follow" in words for words in found.verdicts)


@pytest.mark.parametrize(
    ("file", "chosen", "before"),
    [
        ("poses-60-another-day.csv", {"zeros", "instrument frame", "target frame"}, 0.98),
        ("poses-60-offset-origins.csv", {"both frames"}, 37.8),
    ],
)
def test_another_day_is_explained_by_few_unknowns(found, shared_data, file, chosen, before):
    path = shared_data / "stewart-jugglebot" / file
    if not path.is_file():
        pytest.skip(f"no {path}")
    columns = {axis: f"position_{axis}" for axis in "xyz"} | {f"q{axis}": f"orientation_{axis}" for axis in "wxyz"}
    columns |= {f"l{i + 1}": f"leg_length_{i + 1}" for i in range(6)}
    day = read_poses(path, columns=columns, units={"position": "mm"})
    few = np.isin(np.arange(60), np.random.default_rng(0).permutation(60)[:6])
    answer = recalibrate(machine_geometry(found), day.select(few), validation=day.select(~few))
    assert answer.is_explained
    assert {answer.chosen.name, *(each.name for each in answer.rivals)} == chosen
    rms = [
        1e3 * np.sqrt((each**2).mean()) for each in (answer.validation.length_before, answer.validation.length_after)
    ]
    assert rms[0] == pytest.approx(before, rel=0.02)
    assert rms[1] < 0.43


def test_positions_alone_are_enough(platform, poses):
    """One point of unknown place in an unknown frame, poses left out in turn: mean error as on the page."""
    part, errors = np.arange(108) * 6 // 108, []
    for fold in range(6):
        seen, others = poses.select(part != fold), poses.select(part == fold)
        capture = Instrument("capture", "point", seen.position, 3e-4, frame=Sought(), point=Sought())
        answer = calibrate_by_instruments(platform, Measurements(seen.readings, 0.004, [capture]))
        assert not answer.refuted
        assert [motion.words for motion in answer.freedoms.motions] == [
            "the frame of the base",
            "the frame of the platform",
        ]
        t, w, point = (np.array([answer[f"capture.{stem}{axis}"] for axis in "xyz"]) for stem in ("", "r", "point_"))
        at = platform.forward(answer.parameters, others.readings)
        predicted = (at.position + at.rotation @ point) @ exp(w).T + t
        errors.append(np.linalg.norm(predicted - others.position, axis=1))
    assert (
        round(1e3 * np.concatenate(errors).mean(), 2) == printed("predicted position at poses left out, mean error")[1]
    )
