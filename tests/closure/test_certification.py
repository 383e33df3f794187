"""`certify` on simulated measurements whose truth is known, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.certified_chain import ROBOTS, TOLERANCES, measured
from gough import InputError, calibrate, certify
from gough.closure import Finding, ModelError, Tolerances
from gough.closure.certification import prepare
from gough.closure.certified_chain import quadratic_unknowns
from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import GoughPlatform, LinearDelta, PlanarRRR

POSITION, TURN, READING = 1e-4, 1e-6, 1e-5


@pytest.fixture(scope="module")
def platform():
    """A platform that differs from its blueprint by up to 5 mm, its parameters, and poses with errors to the edge."""
    robot, rng = GoughPlatform.deltalab(), np.random.default_rng(1)
    truth = robot.nominal + rng.uniform(-5e-3, 5e-3, robot.nominal.shape)
    p, R = rng.normal([0, 0, 0.35], 0.03, (20, 3)), exp(rng.normal(0, 0.15, (20, 3)))
    readings = robot.inverse(truth, p, R)
    return robot, truth, Poses(p + 0.999 * POSITION * rng.choice([-1, 1], p.shape), R, readings)


def test_every_leg_s_box_contains_the_truth(platform):
    robot, truth, poses = platform
    found = calibrate(robot, poses)
    answer = certify(robot, poses, Tolerances(POSITION, READING, TURN), around=0.02, chains=[2, 5], calibrated=found)
    assert not answer.refuted
    assert answer.joint is not None
    for leg in answer.chains:
        assert truth.reshape(6, 7)[leg.chain - 1] in leg.box
        assert leg.least_squares is not None
    assert answer.around == "within ± 20 mm of the blueprint"
    assert any(line.startswith("Tolerances: positions ± 0.1 mm") for line in answer.premises)
    shifted = certify(robot, poses, Tolerances(POSITION, READING, TURN), center=truth, around=0.01, chains=[1])
    assert truth[:7] in shifted.chains[0].box
    assert shifted.around == "within ± 10 mm of the stated values"


SEEDS = {"linear delta": (0, 1, 2, 3), "planar 3-RRR": (0, 1), "rotary delta": (0,), "H4": (0,), "Par4": (0,)}


@pytest.mark.parametrize(
    ("model", "seed"),
    [pytest.param(model, seed, id=f"{model.name}-{seed}") for model in ROBOTS for seed in SEEDS[model.name]],
)
def test_clean_poses_are_never_refuted_and_every_box_contains_the_truth(model, seed):
    """Errors of poses reach the edge of their tolerances; all chains share them."""
    poses = measured(model, np.random.default_rng(seed), 14)
    answer = certify(model, poses, TOLERANCES, around=0.02, chains=[1, 2])
    assert not answer.refuted
    assert answer.joint.finding is Finding.FITS
    assert all(file.holds for file in answer.files)
    for chain in answer.chains:
        assert quadratic_unknowns(model, model.nominal, chain.chain) in chain.box
        for k in model.columns[chain.chain - 1]:
            assert model.nominal[k] in answer.interval(model.names[k])


def spoiled(poses, pose, by):
    position = poses.position.copy()
    position[pose] += by
    return replace(poses, position=position)


@pytest.mark.parametrize("model", [LinearDelta(), PlanarRRR()], ids=lambda model: model.name)
def test_a_pose_that_is_off_by_1_mm_is_named(model):
    poses = spoiled(measured(model, np.random.default_rng(5), 20), 7, [6e-4, 6e-4, 6e-4 * (2 in model.freedoms)])
    answer = certify(model, poses, TOLERANCES, around=0.02, chains=[2, 3], outliers=1)
    assert answer.refuted
    named = [chain.without.named for chain in answer.chains if chain.without is not None]
    assert (7,) in named
    assert set(named) <= {(), (7,)}
    assert answer.joint.left_out == (7,)
    assert answer.joint.needed == 0  # without it, all chains fit together with the tolerances as stated
    assert all(file.holds for file in answer.files)


def test_a_box_of_all_chains_together_contains_the_truth():
    model = LinearDelta()
    poses = measured(model, np.random.default_rng(2), 14)
    answer = certify(model, poses, TOLERANCES, around=0.02, chains=[1, 2], joint_box=True)
    truth = np.concatenate([quadratic_unknowns(model, model.nominal, chain) for chain in (1, 2)])
    alone = np.concatenate([chain.box.width for chain in answer.chains])
    assert truth in answer.joint.box
    assert (answer.joint.box.width <= 1.01 * alone).all()  # single chains are bounded to 1 %
    assert [file.name for file in answer.joint.files if "box" in file.name] == ["joint-box.json"]


def test_errors_of_the_model_widen_the_readings_of_every_robot():
    model = LinearDelta()
    poses = measured(model, np.random.default_rng(2), 14)
    readings = poses.readings.copy()
    readings[::2, 0] += 6e-4  # backlash
    loose = replace(poses, readings=readings)
    assert certify(model, loose, TOLERANCES, around=0.02, chains=[1], joint=False).refuted
    for error in (ModelError(constant=6e-4), ModelError(reading=2e-2), ModelError(position=2e-2)):
        (chain,) = certify(model, loose, TOLERANCES, around=0.02, chains=[1], model_error=error).chains
        half = prepare(model, loose, TOLERANCES, around=0.02, model_error=error).problem.parts[0].reading_tolerance
        assert (half >= TOLERANCES.reading).all()
        assert half.max() > TOLERANCES.reading
        if error.constant:
            assert chain.finding is Finding.FITS
            assert quadratic_unknowns(model, model.nominal, 1) in chain.box
    with pytest.raises(InputError, match="needs measured orientations"):
        certify(model, replace(poses, rotation=None), TOLERANCES, model_error=ModelError(orientation=1.0))


def test_tolerances_follow_from_the_noise_of_the_poses(platform):
    robot, _, poses = platform
    noisy = poses.with_noise([1e-5, 2e-5, 3e-5], 1e-6, [1e-6] * 6)
    half = Tolerances.of_noise(noisy, sigmas=2, reading=5e-6).broadcast(noisy)
    np.testing.assert_allclose(half.position[3], [2e-5, 4e-5, 6e-5])
    np.testing.assert_allclose(half.orientation, 2e-6)
    assert (half.reading == 5e-6).all()
    question = prepare(robot, noisy, half, around=0.01).question
    assert (question.legs[0].position_tolerance == half.position).all()  # arrays are taken as they are
    assert (question.arrays()["reading_tolerance"] == half.reading).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tolerances": Tolerances([1e-4, 1e-4], 1e-5)}, "one half-width for all axes"),
        ({"tolerances": Tolerances(1e-4, [1e-5, 1e-5])}, "one for each of 6 chains"),
        ({"tolerances": Tolerances(1e-4, -1e-5)}, "half-widths of readings must not be negative"),
        ({"tolerances": Tolerances(np.nan, 1e-5)}, "half-widths of positions must not be negative"),
        ({"tolerances": Tolerances(1e-4, 1e-5)}, "turns: state half-widths of orientations in rad"),
        ({"chains": [0]}, "there is no leg 0: the robot has 6"),
        ({"chains": [2, 2]}, "named more than once"),
        ({"around": 0.0}, "positive length"),
        ({"around": [0.1, 0.1]}, "state one length, or one for the base's points"),
        ({"center": "calibrated"}, "needs a calibration"),
        ({"center": "middle"}, "not 'middle'"),
        ({"center": np.zeros(3)}, "center must have 42 parameters, not 3"),
        ({"outliers": -1}, "outliers must be a whole number, at least 0, but it is -1"),
        ({"outliers": 20}, "of 20, but is 20"),
        ({"width": 0.0}, "width must be a finite number above 0, but it is 0.0"),
        ({"model_error": ModelError(constant=-1e-3)}, "model_error: constant must be a finite number, at least 0"),
        ({"robot": LinearDelta()}, "the linear delta has 3 readings a pose"),
        ({"robot": object()}, "robot must be a kinematic model, but it is an object"),
    ],
)
def test_refusals(platform, change, message):
    robot, _, poses = platform
    arguments = {"robot": robot, "poses": poses, "tolerances": Tolerances(POSITION, READING, TURN), **change}
    with pytest.raises(InputError, match=message):
        certify(**arguments)


def test_legs_need_orientations(platform):
    robot, _, poses = platform
    with pytest.raises(InputError, match="none were measured"):
        certify(robot, replace(poses, rotation=None), Tolerances(POSITION, READING))
