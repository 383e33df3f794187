"""Campaigns: complete, seeded, and truly of one robot."""

import numpy as np
import pytest

from gough.robots import ROBOTS, efforts
from gough.simulate import DEMOS, Campaign, Limits, SlowThenFast, UniformNoise
from gough.simulate.demos import five_bar

SHORT = {"seconds": (1.0, 1.0), "candidates": 1}
IN_POSE = ("h4", "par4", "delta")


@pytest.mark.parametrize("name", IN_POSE)
def test_a_campaign_has_all_that_a_demo_needs(name):
    rng = np.random.default_rng(1)
    campaign = DEMOS[name].campaign(rng, **SHORT)
    robot, n = campaign.robot, len(campaign.robot.actuators)
    assert isinstance(campaign, Campaign)
    assert DEMOS[name].robot == robot.name
    off = np.log(campaign.truth / robot.nominal)
    assert 0.07 < off.std() < 0.3
    assert campaign.gain.shape == (n,)
    assert campaign.validation.simulated is campaign.experiment.simulated
    assert campaign.validation.trajectory != campaign.experiment.trajectory
    recordings = [experiment.run(rng).recording for experiment in (campaign.experiment, campaign.validation)]
    assert [len(recording) for recording in recordings] == [2000, 1000]
    assert all(recording.names[-1] == f"V{n}" for recording in recordings)
    assert (campaign.static_tests is not None) == (name == "par4")


def test_static_tests_are_of_the_campaigns_own_gains():
    campaign = DEMOS["par4"].campaign(np.random.default_rng(1), **SHORT)
    tests = campaign.static_tests
    np.testing.assert_array_equal(tests.gains, campaign.gain)
    assert len(set(tests.gains)) == 4
    slope = np.linalg.lstsq(np.column_stack([tests.voltages, np.ones(11)]), tests.forces * tests.lever)[0][0]
    assert slope == pytest.approx(campaign.gain, rel=0.02)


@pytest.mark.parametrize("name", [name for name, demo in DEMOS.items() if not demo.is_periodic])
def test_a_seed_is_a_campaign(name):
    options = SHORT if name in IN_POSE else {"periods": 1}

    def record(seed):
        rng = np.random.default_rng(seed)
        campaign = DEMOS[name].campaign(rng, **options)
        return campaign.experiment.run(rng), campaign.validation.run(rng)

    assert record(7) == record(7)
    assert record(7)[0] != record(8)[0]
    assert record(7)[1] != record(8)[1]


def test_bounded_noise_may_be_asked_for():
    rng = np.random.default_rng(1)
    campaign = DEMOS["h4"].campaign(rng, noise=UniformNoise(np.full(4, 0.2)), **SHORT)
    made = campaign.experiment.run(rng)
    ripple = campaign.experiment.instruments.ripple.amplitude
    assert np.abs(made.errors).max() <= 0.2 + ripple * (1 + 1e-9)


@pytest.mark.parametrize("name", IN_POSE)
def test_complete_mechanisms_have_their_own_masses(name):
    pytest.importorskip("pinocchio")
    campaign = DEMOS[name].campaign(np.random.default_rng(2), mechanism=True, noise=None, **SHORT)
    simulated = campaign.experiment.simulated
    friction = simulated.equations.friction.columns
    assert simulated.mechanism is not None
    np.testing.assert_array_equal(
        simulated.parameters[~friction], simulated.mechanism.robot.parameters_of_parts()[~friction]
    )
    off = np.log(campaign.truth / campaign.robot.nominal)
    assert (off != 0).all()
    assert np.abs(off).max() < 1.0
    still = campaign.robot.home[None], np.zeros((1, len(campaign.robot.home))), np.zeros((1, len(campaign.robot.home)))
    own = campaign.robot.regressor_kernel()(*still) @ campaign.truth
    np.testing.assert_allclose(simulated.mechanism.efforts(*still), own, rtol=1e-6)


@pytest.mark.parametrize("name", IN_POSE)
def test_excitation_keeps_the_limits_of_the_robot(name):
    campaign = DEMOS[name].campaign(np.random.default_rng(3), seconds=(2.0, 2.0), candidates=2)
    motion = campaign.experiment.trajectory
    assert isinstance(motion, SlowThenFast)
    limits = Limits(efforts=10.0 if name == "h4" else 100.0, joint_speed=20.0, margin=0.1, reach=0.2)
    assert limits.exceeded(campaign.robot, campaign.robot.nominal, motion.sample(2000.0)) == ""


def test_the_five_bars_validation_is_another_motion():
    campaign = five_bar(np.random.default_rng(1), periods=2)
    assert campaign.experiment.trajectory.duration == 10.0
    assert campaign.validation.trajectory.series != campaign.experiment.trajectory.series
    np.testing.assert_array_equal(campaign.gain, [1.0, 1.0])


def test_every_robot_of_the_library_has_an_example():
    assert set(ROBOTS) <= set(DEMOS)


@pytest.mark.parametrize("name", ["6-ups", "6-ucu", "3-rrr"])
def test_a_periodic_example_stays_within_the_workspace_and_has_the_true_efforts(name):
    campaign = DEMOS[name].campaign(np.random.default_rng(1), periods=6, rate=20.0)
    robot = campaign.robot
    assert DEMOS[name].robot == robot.name
    for experiment in (campaign.experiment, *campaign.validation.values()):
        _, x, dx, ddx = experiment.series.sample(20.0)
        assert (robot.margin(x) > 0.5 * robot.margin(robot.home)).all()
        assert np.isfinite(robot.inverse(x)).all()
        if name == "3-rrr":  # efforts of a hexapod take seconds
            motion = experiment.run(np.random.default_rng(2))
            assert motion.efforts.mean(axis=0).std() > 10 * experiment.efforts
            exact = efforts(robot, campaign.truth, *robot.joint_motion(x, dx, ddx))
            assert (motion.efforts - exact).std() == pytest.approx(experiment.efforts, rel=0.1)
