"""Calibration where the truth is known: errors as predicted, verdicts that are true, causes that are named."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp, from_quaternion, to_quaternion
from gough.data import Poses
from gough.estimates import EstimationError
from gough.geometry import Placement, StatedFrames, calibrate, cross_validate, held_out, rezero, robot_frame
from gough.region import ConfidenceEllipsoid
from gough.robots import GoughPlatform, LinearDelta, PlatformPoses, RotaryDelta
from tests.geometry.simulated import EXTREMAL, READING, ROBOT, measured, truth

SEEDED_AS = "tests/calibration/test_calibrate.py"

GAINS = GoughPlatform(ROBOT.base, ROBOT.platform, ROBOT.length, gains=True)


def test_errors_are_as_predicted_and_chi_squared_is_one(rng):
    theta = truth(rng)
    scaled, covered, chi = [], 0, []
    for _ in range(8):
        found = calibrate(ROBOT, measured(theta, EXTREMAL, rng)[1])
        scaled.append((found.parameters - theta) / found.estimate.region.sigma)
        covered += int((abs(found.parameters - theta) <= found.estimate.region.interval().width / 2).sum())
        chi.append(found.estimate.stats.chi_squared)
        assert not found.refuted
        assert found.suspects == ()
    assert 0.8 < np.sqrt(np.mean(np.square(scaled))) < 1.2
    assert covered / (8 * 42) > 0.9
    assert 0.9 < np.mean(chi) < 1.1


def test_the_order_of_poses_has_no_meaning(rng):
    """Errors that alternate in sign from pose to pose are not called autocorrelated; another order, the same σ."""
    model, n = LinearDelta(), 40
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (n, 3))
    errors = 2e-5 * (-1.0) ** np.arange(n)[:, None] * np.ones(3)
    poses = Poses(p, None, model.inverse(model.nominal + 1e-3, p) + errors)
    found, other = calibrate(model, poses), calibrate(model, poses.select(rng.permutation(n)))
    assert not any("autocorrelated" in note for note in found.estimate.notes)
    np.testing.assert_allclose(other.estimate.region.sigma, found.estimate.region.sigma, rtol=1e-3)


def test_validation_improves_as_the_paper_reports_it(rng):
    theta = truth(rng)
    _, others = measured(theta, rng.uniform(0, 0.14, (64, 6)), rng)
    found = calibrate(ROBOT, measured(theta, EXTREMAL, rng)[1], validation=others)
    check = found.validation
    assert check.position_before.mean() > 1e-3
    assert check.position_after.mean() < 3e-4
    assert (check.improvement > 0).mean() > 0.95
    assert "mean orientation error [°]" in str(check)
    assert "before" in str(found)
    assert found.to_dict()["closure_rms"]["after"] < 1e-4


def test_a_validation_that_gets_worse_is_said_in_words():
    """A good blueprint, few poses and much noise: the calibration predicts other poses worse."""
    model, rng = LinearDelta(), np.random.default_rng(5)
    p = rng.uniform([-0.02, -0.02, 0.0], [0.02, 0.02, 0.02], (16, 3))
    others = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (9, 3))
    noisy = Poses(p, None, model.inverse(model.nominal, p) + rng.normal(0, 1e-4, p.shape))
    found = calibrate(model, noisy, validation=Poses(others, None, model.inverse(model.nominal, others) + 1e-6))
    assert found.validation.is_better is False
    assert "predict these poses worse than the parameters before" in found.validation.summary
    assert found.validation.summary in found.verdicts
    assert "× larger" in str(found.validation.table())
    assert str(found.validation.table()).startswith("9 poses")


def test_the_map_of_uncertainty_is_what_repeated_calibrations_scatter(rng):
    theta = truth(rng)
    where = ROBOT.forward(theta, rng.uniform(0.02, 0.12, (5, 6)))
    readings = ROBOT.inverse(theta, *where)
    scatter = []
    for _ in range(15):
        found = calibrate(ROBOT, measured(theta, EXTREMAL, rng)[1])
        scatter.append(ROBOT.forward(found.parameters, readings, where).position - where.position)
    sigma, turned = found.predicted_sigma(where)
    ratio = np.sqrt(np.mean(np.sum(np.square(scatter), axis=2), axis=0)) / sigma
    assert (ratio > 0.6).all()
    assert (ratio < 1.5).all()  # 15 runs of about three components each: 11 % of standard deviation
    assert (turned > 0).all()


def test_any_frames_are_found_by_hand_eye(rng):
    theta = truth(rng)
    _, seen = measured(theta, EXTREMAL, rng)
    Z, X = (
        (exp(np.array([3.0, 0.1, 0.0])), np.array([0.1, 0.0, 0.9])),
        (exp(np.array([0.0, 0.0, 1.0])), np.array([0.0, 0.02, 0.05])),
    )
    elsewhere = replace(
        seen,
        position=(seen.position - (seen.rotation @ X[0].T @ X[1])) @ Z[0].T + Z[1],
        rotation=Z[0] @ seen.rotation @ X[0].T,
    )
    found = calibrate(ROBOT, elsewhere, frames="instrument")
    here = calibrate(ROBOT, seen)
    assert found.frames.position_rms < 5e-3
    assert found.rms[1] == pytest.approx(here.rms[1], rel=0.05)
    assert found.rms[0] < 5e-3
    assert not found.refuted


def test_a_missing_effect_is_refuted(rng):
    """A leg's gain that is 0.5 % wrong, and a vision scale that is: χ² and the residuals' structure tell."""
    theta = truth(rng)
    _, seen = measured(theta, EXTREMAL, rng)
    bent = replace(seen, readings=seen.readings * np.array([1.005, 1, 1, 1, 1, 1]))
    found = calibrate(ROBOT, bent)
    assert found.refuted
    freed = calibrate(GAINS, bent)
    assert not freed.refuted
    assert freed.parameters[7] == pytest.approx(1 / 1.005, abs=5 * freed.estimate.region.sigma[7])
    scaled = replace(seen, position=seen.position * 1.005)
    assert calibrate(ROBOT, scaled).refuted
    free = calibrate(ROBOT, scaled, scale=True)
    assert not free.refuted
    assert free.scale == pytest.approx(1 / 1.005, abs=5 * free.estimate.region.sigma[-1])


def test_backlash_shows_in_the_direction_of_travel(rng):
    theta = truth(rng)
    readings = rng.uniform(0, 0.14, (120, 6))
    _, seen = measured(theta, readings, rng)
    travel = np.sign(np.diff(readings[:, 2], prepend=readings[0, 2]))
    loose = seen.readings.copy()
    loose[:, 2] += 3e-4 * travel
    found = calibrate(ROBOT, replace(seen, readings=loose))
    assert found.refuted
    assert any("leg 3" in words and "backlash" in words for words in found.verdicts)


def test_outliers_are_limited_by_the_robust_loss(rng):
    theta = truth(rng)
    _, seen = measured(theta, EXTREMAL, rng)
    spoilt = seen.readings.copy()
    spoilt[10, 0] += 0.01
    spoilt[30, 4] -= 0.02
    spoilt = replace(seen, readings=spoilt)
    plain, robust = calibrate(ROBOT, spoilt), calibrate(ROBOT, spoilt, robust=True)
    assert abs(robust.parameters - theta).max() < 0.2 * abs(plain.parameters - theta).max()
    assert plain.chains[4].peak_pose == 30


def test_a_belief_and_fixed_parameters(rng):
    theta = truth(rng)
    _, seen = measured(theta, EXTREMAL[:5], rng)
    found = calibrate(ROBOT, seen, prior=ConfidenceEllipsoid(ROBOT.nominal, 4e-6 * np.eye(42)))
    assert found.rms[1] < found.rms[0] / 10
    found = calibrate(ROBOT, seen, fixed=[n for n in ROBOT.names if n[0] != "l"])
    assert len(found.estimate.unknowns) == 6
    assert (found.parameters[:6] == ROBOT.nominal[:6]).all()


def test_legs_are_zeroed_anew(rng):
    theta = truth(rng)
    _, seen = measured(theta, rng.uniform(0, 0.14, (60, 6)), rng)
    today = replace(seen, readings=seen.readings + rng.normal(0, 5e-3, 6))
    zeroed = rezero(ROBOT, theta, today.select(range(6)))
    check = held_out(ROBOT, today.select(range(6, 60)), theta, zeroed)
    before, after = (np.sqrt((errors**2).mean()) for errors in (check.length_before, check.length_after))
    assert before > 2e-3
    assert after < 2e-4


@pytest.mark.parametrize("model", [LinearDelta(), RotaryDelta()], ids=lambda m: m.name)
def test_deltas_in_any_frame(model, rng):
    height = 0.05 if isinstance(model, LinearDelta) else -0.7
    p = rng.uniform([-0.1, -0.1, height - 0.05], [0.1, 0.1, height + 0.05], (80, 3))
    rod = [i for i, name in enumerate(model.names) if name.startswith(("arm", "rod", "radius"))]
    theta = model.nominal.copy()
    theta[rod] += rng.normal(0, 1e-3, len(rod))
    readings = model.inverse(theta, p)
    R = exp(np.array([0.3, -0.2, 2.0]))
    seen = Poses((p + 1e-5 * rng.normal(size=p.shape)) @ R.T + 1.0, None, readings)
    known = [name for name in model.names if name.startswith(("angle", "height", "zero"))]
    before = calibrate(model, robot_frame(model, seen), fixed=known)
    assert before.rms[1] < 0.5 * before.rms[0]
    own = calibrate(model, Poses(p + 1e-5 * rng.normal(size=p.shape), None, readings).with_noise(1e-5), fixed=known)
    assert not own.refuted
    assert abs(own.parameters - theta).max() < 1e-4
    assert cross_validate(model, own.poses, folds=4, fixed=known).position_after.max() < 1e-4


def named(rng, change):
    theta = truth(rng)
    _, seen = measured(theta, EXTREMAL, rng)
    try:
        return " ".join(calibrate(ROBOT, change(seen)).verdicts)
    except (EstimationError, InputError) as error:
        return str(error)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: replace(s, position=1e3 * s.position), "millimetres were taken for metres in the positions"),
        (lambda s: replace(s, readings=1e3 * s.readings), "millimetres were taken for metres in the readings"),
        (lambda s: replace(s, position=s.position / 0.0254), "inches were taken for metres in the positions"),
        (lambda s: replace(s, readings=s.readings / 25.4), "inches were taken for millimetres in the readings"),
        (
            lambda s: replace(s, position=25.4 * s.position, readings=25.4 * s.readings),
            "inches in positions and readings, or inches for millimetres in the blueprint",
        ),
        (lambda s: replace(s, readings=-s.readings), "the other sign"),
        (lambda s: replace(s, position=s.position * [-1, 1, 1]), "x axis of the positions is mirrored"),
        (lambda s: replace(s, rotation=np.swapaxes(s.rotation, 1, 2)), "must be turned around"),
        (
            lambda s: replace(s, rotation=from_quaternion(np.roll(to_quaternion(s.rotation), 1, axis=1))),
            "scalar first but read as scalar last",
        ),
        (lambda s: replace(s, readings=s.readings[:, [0, 1, 3, 2, 4, 5]]), "in the order 1, 2, 4, 3, 5, 6"),
        (lambda s: replace(s, readings=np.roll(s.readings, 1, axis=1)), "in the order 2, 3, 4, 5, 6, 1"),
        (
            lambda s: replace(
                s,
                position=s.position * [1, -1, 1],
                rotation=np.diag([1, -1, 1]) @ s.rotation @ np.diag([1, -1, 1]),
            ),
            "mirrored",
        ),
        (
            lambda s: replace(
                s,
                position=s.position @ exp([0.3, -0.2, 2.0]).T + exp([0.3, -0.2, 2.0]) @ s.rotation @ [0.02, 0.03, 0.1],
                rotation=exp([0.3, -0.2, 2.0]) @ s.rotation @ exp([0.1, 0.2, -0.5]),
            ),
            'State frames = "instrument"',
        ),
    ],
)
def test_the_likely_cause_is_named(change, words, rng):
    assert words in named(rng, change)


def test_refusals(rng):
    _, seen = measured(truth(rng), EXTREMAL, rng)
    with pytest.raises(InputError, match="did you mean 'a1x'"):
        calibrate(ROBOT, seen, fixed=["a1xx"])
    with pytest.raises(InputError, match="leave the frames out"):
        calibrate(ROBOT, seen, frames=StatedFrames(Placement()))
    still = Poses(
        np.tile(seen.position[:1], (9, 1)), np.tile(seen.rotation[:1], (9, 1, 1)), np.tile(seen.readings[:1], (9, 1))
    )
    with pytest.raises(EstimationError, match="Not identifiable"):
        calibrate(ROBOT, still.with_noise(1e-4, 1e-4, READING))
    assert PlatformPoses(seen.position, seen.rotation).position.shape == (64, 3)


def test_few_clean_poses_are_not_accused_of_wrong_units():
    """48 equations for 42 unknowns: the iteration may not settle, but the chains close."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        theta = ROBOT.nominal + rng.normal(0, 1e-3, 42)
        p, R = rng.normal([0, 0, 0.35], 0.03, (8, 3)), exp(rng.normal(0, 0.15, (8, 3)))
        poses = Poses(p + rng.normal(0, 5e-5, p.shape), R, ROBOT.inverse(theta, p, R))
        try:
            words = str(calibrate(ROBOT, poses))
        except (InputError, EstimationError) as error:
            words = str(error)
        assert "check units" not in words
