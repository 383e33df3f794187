"""Slow, then fast: exact derivatives, rest where it is promised, limits that hold between samples."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import H4, Delta, Par4
from gough.robots.model import PoseMotion
from gough.simulate import FourierSeries, Limits, SlowThenFast, condition

ROBOT = H4()
AMPLITUDE = [0.12, 0.12, 0.06, 0.7]
LIMITS = Limits(efforts=6.0, joint_speed=4.0, margin=0.1, reach=0.2)


@pytest.fixture(scope="module")
def motion():
    return SlowThenFast.search(np.random.default_rng(1), ROBOT, amplitude=AMPLITUDE, limits=LIMITS, candidates=8)


def test_velocities_and_accelerations_are_derivatives(motion):
    t, h = np.sort(np.random.default_rng(2).uniform(0, 20, 3000)), 1e-6
    t = np.concatenate([t, [0.25, 1.4, 9.6, 10.2, 19.9]])  # within the windows' slopes
    before, now, after = motion.at(t - h), motion.at(t), motion.at(t + h)
    np.testing.assert_allclose(now.dx, (after.x - before.x) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(now.ddx, (after.dx - before.dx) / (2 * h), atol=1e-6)


def test_it_rests_at_home_before_between_and_after(motion):
    at = motion.at([-1.0, 0.0, 10.0, 20.0, 25.0])
    np.testing.assert_allclose(at.x, np.broadcast_to(ROBOT.home, (5, 4)), atol=1e-15)
    assert np.abs(at.dx).max() == np.abs(at.ddx).max() == 0
    assert motion.sample(100.0).x.shape == (2000, 4)
    assert motion.duration == 20.0


def test_between_the_windows_it_is_the_series(motion):
    t = np.linspace(1.5, 8.5, 50)
    np.testing.assert_allclose(motion.at(t).x, motion.slow.at(t).q, atol=1e-15)
    np.testing.assert_allclose(motion.at(10 + t).ddx, motion.fast.at(t).ddq, atol=1e-11)


def test_the_slow_phase_is_slow_and_the_fast_one_fast(motion):
    joints = ROBOT.joint_motion(*motion.sample(100.0))
    slow, fast = np.abs(joints.dq[:1000]).max(axis=0), np.abs(joints.dq[1000:]).max(axis=0)
    assert (fast > 2 * slow).all()


def test_limits_hold_between_the_samples_that_were_checked(motion):
    """125 samples a second were checked; here are 20 000."""
    fine = motion.sample(20_000.0)
    joints = ROBOT.joint_motion(*fine)
    torques = ROBOT.regressor_kernel()(*fine) @ ROBOT.nominal
    assert np.abs(torques).max() <= LIMITS.efforts
    assert np.abs(joints.dq).max() <= LIMITS.joint_speed
    assert ROBOT.margin(fine.x).min() >= LIMITS.margin
    assert ROBOT.reach(fine.x).min() >= LIMITS.reach
    assert (np.abs(fine.x - ROBOT.home).max(axis=0) <= AMPLITUDE).all()
    # and they are used: the motion is not needlessly small
    assert max(np.abs(torques).max() / LIMITS.efforts, np.abs(joints.dq).max() / LIMITS.joint_speed) > 0.6


def test_more_candidates_are_never_worse():
    scores = []
    for candidates in (1, 4, 16):
        found = [
            SlowThenFast.search(
                np.random.default_rng(seed), ROBOT, amplitude=AMPLITUDE, limits=LIMITS, candidates=candidates
            )
            for seed in range(4)
        ]
        scores.append([condition(ROBOT, one.sample(25.0)) for one in found])
    assert (np.diff(scores, axis=0) <= 0).all()
    assert np.mean(scores[-1]) < 0.95 * np.mean(scores[0])


@pytest.mark.parametrize("robot", [Par4(), Delta(), H4(variant="paper")], ids=lambda r: f"{r.name} {r.variant}")
def test_other_robots_are_excited_too(robot, rng):
    amplitude = [0.1, 0.1, 0.05, 0.3][: len(robot.home)]
    found = SlowThenFast.search(rng, robot, amplitude=amplitude, seconds=(2.0, 2.0), candidates=2)
    assert condition(robot, found.sample(50.0)) < 200


def test_condition_is_that_of_the_scaled_regressor(motion):
    samples = motion.sample(20.0)
    W = ROBOT.regressor_kernel()(*samples).reshape(-1, 16)
    assert condition(ROBOT, samples) == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-9)


def test_a_seed_is_a_motion(motion):
    again = SlowThenFast.search(np.random.default_rng(1), ROBOT, amplitude=AMPLITUDE, limits=LIMITS, candidates=8)
    other = SlowThenFast.search(np.random.default_rng(2), ROBOT, amplitude=AMPLITUDE, limits=LIMITS, candidates=8)
    assert motion == again
    assert motion != other


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(efforts=1.0), "too large an effort"),
        (Limits(joint_speed=1e-3), "too fast"),
        (Limits(margin=0.9), "singularity falls below 0.9"),
        (Limits(reach=0.999), "edge of its workspace"),
    ],
)
def test_limits_that_nothing_keeps_are_named(limits, words):
    with pytest.raises(InputError, match=rf"none of 2 random motions of H4 keeps its limits.*{words}"):
        SlowThenFast.search(np.random.default_rng(1), ROBOT, amplitude=AMPLITUDE, limits=limits, candidates=2)


def test_what_exceeds_a_limit_is_said():
    still = np.zeros((5, 4))
    far = at_rest(ROBOT.home + np.array([2.0, 0, 0, 0]), still)
    assert Limits().exceeded(ROBOT, ROBOT.nominal, far) == "the pose is out of reach"
    home = at_rest(ROBOT.home, still)
    assert Limits(efforts=15.0, joint_speed=1.0).exceeded(ROBOT, ROBOT.nominal, home) == ""
    with pytest.raises(InputError, match="16 parameters, not 2"):
        Limits(efforts=15.0).exceeded(ROBOT, [1.0, 2.0], home)


def at_rest(pose, still):
    return PoseMotion(np.tile(pose, (len(still), 1)), still, still)


SERIES = FourierSeries(ROBOT.home, 0.01 * np.ones((4, 2)), np.zeros((4, 2)), frequency=0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fast": replace(SERIES, offset=ROBOT.home + 0.1)}, "same offset"),
        ({"blend": (1.0, 0.0)}, "blend must be positive"),
        ({"blend": (6.0, 1.0)}, "10 s must last at least twice its blend of 6 s"),
        ({"seconds": (1.0, 2.0, 3.0)}, "two durations"),
    ],
)
def test_impossible_motions_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        SlowThenFast(**{"slow": SERIES, "fast": SERIES, **change})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"amplitude": [0.1, 0.1]}, "4 pose coordinates, but amplitude has 2"),
        ({"candidates": 0}, "candidates must be a whole number"),
    ],
)
def test_impossible_searches_are_refused(rng, options, words):
    with pytest.raises(InputError, match=words):
        SlowThenFast.search(rng, ROBOT, **{"amplitude": AMPLITUDE, **options})


@pytest.mark.parametrize("options", [{"efforts": -1.0}, {"joint_speed": 0.0}, {"margin": -0.1}, {"reach": np.nan}])
def test_impossible_limits_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Limits(**options)
