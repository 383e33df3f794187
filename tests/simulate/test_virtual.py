"""Virtual experiments: exact where they say so, consistent under control, and a seed is a recording."""

from dataclasses import replace

import numpy as np
import pytest

from gough import estimate
from gough.core.errors import InputError
from gough.data import default_steps, prepare
from gough.dynamics import dynamic, recorded
from gough.methods import LeastSquares, WeightedLeastSquares
from gough.robots import H4, Delta, FiveBar, Par4, efforts
from gough.robots.model import PoseMotion
from gough.simulate import (
    EffortNoise,
    Instruments,
    JointPI,
    Periodic,
    PickAndPlace,
    Ripple,
    SimulatedRobot,
    SlowThenFast,
    UniformNoise,
    VirtualExperiment,
    five_bar,
    h4,
)

EXACT = Instruments(encoder_counts=None)


@pytest.fixture(scope="module")
def campaign():
    return h4(np.random.default_rng(3), seconds=(4.0, 4.0), candidates=3)


@pytest.fixture(scope="module")
def simulated(campaign):
    return campaign.experiment.run(np.random.default_rng(4))


def least_squares(robot, motion, torques, keep=slice(None)):
    problem = dynamic(robot, motion.q[keep], motion.dq[keep], motion.ddq[keep], torques[keep])
    return estimate(problem, LeastSquares()).value


@pytest.mark.parametrize("robot", [H4(), Par4(), Delta(), H4(variant="paper")], ids=lambda r: f"{r.name} {r.variant}")
def test_exact_data_give_the_truth_back(robot, rng):
    truth = robot.nominal * np.exp(0.15 * rng.standard_normal(len(robot.names)))
    amplitude = [0.1, 0.1, 0.05, 0.4][: len(robot.home)]
    motion = SlowThenFast.search(rng, robot, amplitude=amplitude, seconds=(2.0, 2.0), candidates=2)
    made = VirtualExperiment(SimulatedRobot(robot, truth), motion, EXACT, rate=200.0).run(rng)
    found = least_squares(robot, made.motion, made.measured_efforts)
    np.testing.assert_allclose(found, truth, rtol=1e-9)
    np.testing.assert_array_equal(made.truth, truth)


def test_motion_and_efforts_under_control_are_consistent(campaign, simulated):
    """The truth comes back from the true motion and efforts of the loop, away from where tanh stands for sign."""
    moving = (np.abs(simulated.motion.dq) > 0.1).all(axis=1)  # 20 times the speed of smoothing: tanh is 1
    found = least_squares(campaign.robot, simulated.motion, simulated.efforts, moving)
    np.testing.assert_allclose(found, simulated.truth, rtol=1e-9)


def test_a_recording_identifies_the_machine(rng):
    campaign = h4(rng, candidates=10)
    made = campaign.experiment.run(rng)
    robot = campaign.robot
    voltages = {name: f"V{i + 1}" for i, name in enumerate(robot.actuators)}
    # joints stick at reversals for some 10 ms, and the filter at 20 Hz smears what they do then over 1/20 s
    steps = default_steps(1000.0, gain=tuple(made.gain), cutoff=20.0, within=0.05)
    motion = prepare(made.recording, robot.coordinates, voltages, steps)
    answer = estimate(recorded(robot, motion), WeightedLeastSquares())
    in_sigma = (answer.value - made.truth) / answer.region.sigma
    assert np.abs(in_sigma).max() < 4
    assert np.sqrt(np.mean(in_sigma**2)) < 1.5
    off = dict(zip(robot.names, np.abs(answer.value / made.truth - 1), strict=True))
    assert off["M_nac"] < 0.005
    assert max(off[f"F_c{i}"] for i in range(1, 5)) < 0.01


def test_voltages_times_gain_are_the_efforts_but_for_ripple_and_errors(campaign):
    tools = replace(campaign.experiment.instruments, noise=None)
    made = replace(campaign.experiment, instruments=tools).run(np.random.default_rng(1))
    assert np.abs(made.errors).max() == pytest.approx(0.03, rel=1e-3)  # the ripple's amplitude
    smooth = replace(campaign.experiment, instruments=replace(tools, ripple=None)).run(np.random.default_rng(1))
    assert np.abs(smooth.errors).max() < 1e-12


def test_the_recorded_positions_are_those_of_the_encoders(simulated):
    step = 2 * np.pi / 20_000
    read = simulated.recording.samples[:, :4]
    assert np.abs(read - simulated.motion.q).max() <= step / 2 * (1 + 1e-9)
    np.testing.assert_allclose(read / step, np.round(read / step), atol=1e-9)
    assert simulated.recording.names == ("q1", "q2", "q3", "q4", "V1", "V2", "V3", "V4")
    assert simulated.recording.units == ("rad",) * 4 + ("V",) * 4


def rms(values):
    return np.sqrt(np.mean(values**2))


def test_the_true_motion_is_one_motion(campaign):
    """Velocities and accelerations are derivatives, the latter as means over the jump at each sample.

    A central difference misses a derivative by what the acceleration changes between its samples: a jump Δ of the
    acceleration adds hΔ/4 to the slope of the position, and half of Δ is seen in the means. Where friction turns, a
    difference over 2 ms is no derivative.
    """
    motion = replace(campaign.experiment, instruments=EXACT).run(np.random.default_rng(1)).motion
    turning = np.abs(motion.dq) < 0.2
    away = ~(turning[2:] | turning[1:-1] | turning[:-2]).any(axis=1)
    assert away.sum() > 1000
    h = motion.times[1]
    for position, speed, acceleration in ((motion.q, motion.dq, motion.ddq), (motion.x, motion.dx, motion.ddx)):
        slopes, changes = ((part[2:] - part[:-2])[away] / (2 * h) for part in (position, speed))
        steps = np.diff(acceleration, axis=0)[:-1][away]
        assert rms(slopes - speed[1:-1][away]) < h * rms(steps)
        assert rms(changes - acceleration[1:-1][away]) < 1e-3 * rms(acceleration)


class Heavier:
    """A mechanism that is the robot, with the nacelle 1 kg heavier."""

    def __init__(self, robot):
        self.kernel = robot.regressor_kernel()
        self.parameters = np.where(np.char.startswith(robot.names, "F_"), 0.0, robot.nominal)
        self.parameters[robot.names.index("M_nac")] += 1.0

    def efforts(self, x, dx, ddx):
        return self.kernel(x, dx, ddx) @ self.parameters


@pytest.mark.parametrize("controlled", [False, True])
def test_efforts_come_from_the_mechanism_where_there_is_one(campaign, controlled):
    robot = campaign.robot
    simulated = SimulatedRobot(robot, robot.nominal, Heavier(robot))
    plain = replace(campaign.experiment, simulated=simulated, instruments=EXACT)
    made = (plain if controlled else replace(plain, controller=None)).run(np.random.default_rng(1))
    moving = (np.abs(made.motion.dq) > 0.1).all(axis=1)
    found = dict(zip(robot.names, least_squares(robot, made.motion, made.measured_efforts, moving), strict=True))
    assert found["M_nac"] == pytest.approx(2.0492, rel=1e-9)
    assert found["F_c3"] == pytest.approx(0.7222, rel=1e-9)


def test_a_mechanism_is_asked_for_motions_of_the_joints_too(campaign, simulated):
    robot = campaign.robot
    heavier = SimulatedRobot(robot, robot.nominal, Heavier(robot))
    pose = PoseMotion(*(part[:50] for part in simulated.motion.pose))
    by_joints = heavier.efforts(heavier.joint_motion(pose))
    np.testing.assert_allclose(by_joints, heavier.efforts(pose), atol=1e-9)


def test_full_mechanisms_are_machines(rng):
    pytest.importorskip("pinocchio")
    campaign = h4(rng, mechanism=True, noise=None, seconds=(2.0, 2.0), candidates=2)
    made = campaign.experiment.run(rng)
    found = least_squares(campaign.robot, made.motion, made.efforts, (np.abs(made.motion.dq) > 0.1).all(axis=1))
    off = dict(zip(campaign.robot.names, np.abs(found / made.truth - 1), strict=True))
    # with the rods' column the model lacks only the turning of the rods about their own axes
    assert max(off.values()) < 2e-3
    assert off["M_nac"] < 1e-5


def test_a_seed_is_a_recording():
    def record(seed):
        rng = np.random.default_rng(seed)
        return h4(rng, seconds=(1.0, 1.0), candidates=1).experiment.run(rng)

    assert record(3) == record(3)
    assert record(3) != record(4)


def test_lost_samples_leave_all_else_as_it_is(campaign):
    whole = campaign.experiment.run(np.random.default_rng(1)).recording.samples
    lossy = replace(campaign.experiment, instruments=replace(campaign.experiment.instruments, dropouts=0.05))
    samples = lossy.run(np.random.default_rng(1)).recording.samples
    lost = np.isnan(samples)
    np.testing.assert_array_equal(lost.all(axis=1), lost.any(axis=1))
    np.testing.assert_array_equal(samples[~lost], whole[~lost])
    assert 0.02 < lost.mean() < 0.1


def test_the_five_bar_follows_exactly(rng):
    experiment = five_bar(rng, periods=1).experiment
    made = experiment.run(rng)
    motion = made.motion
    expected = efforts(experiment.robot, experiment.parameters, motion.q, motion.dq, motion.ddq)
    assert np.array_equal(made.efforts, expected)
    assert made.errors == pytest.approx(made.measured_efforts - made.efforts)
    assert made.errors.std(axis=0) == pytest.approx([0.02, 0.06], rel=0.3)
    assert np.array_equal(motion.error, np.zeros((1000, 2)))
    assert experiment.robot.margin(motion.q).min() > 0.3


def test_a_five_bar_can_be_controlled_too(rng):
    experiment = five_bar(rng, periods=1).experiment
    controller = JointPI.tuned(experiment.simulated, [2.05, 1.09], bandwidth=20.0)
    made = replace(experiment, rate=1000.0, controller=controller, instruments=EXACT).run(rng)
    assert 1e-4 < made.motion.error.max() < 0.02
    inertia = made.motion
    moving = (np.abs(inertia.dq) > 0.1).all(axis=1)
    predicted = efforts(experiment.robot, experiment.parameters, inertia.q, inertia.dq, inertia.ddq)
    np.testing.assert_allclose(made.efforts[moving], predicted[moving], atol=1e-9)


def test_bad_experiments_are_refused(campaign, rng):
    good = campaign.experiment
    for change, words in (
        ({"rate": -1.0}, "rate must be positive"),
        ({"rate": np.nan}, "rate must be positive"),
        ({"instruments": Instruments(noise=EffortNoise([[1.0]]))}, "4 actuators, but the noise is that of 1"),
        ({"instruments": Instruments(noise=UniformNoise([1.0, 1.0]))}, "4 actuators, but the noise is that of 2"),
        ({"instruments": Instruments(gain=[1.0, 2.0])}, "4 actuators, but 2 gains"),
    ):
        with pytest.raises(InputError, match=words):
            replace(good, **change)
    with pytest.raises(InputError, match="16 parameters, not 3"):
        SimulatedRobot(good.robot, np.ones(3))
    with pytest.raises(InputError, match="phases"):
        replace(good, instruments=Instruments(ripple=Ripple(0.1, phase=[0.0, 1.0]))).run(rng)


def test_trajectories_out_of_reach_are_refused(campaign, rng):
    far = PickAndPlace(campaign.robot.home, span=1.5, speed=50.0, acceleration=5000.0)
    for controller in (None, campaign.experiment.controller):
        with pytest.raises(InputError, match="sample 0: the pose is out of reach"):
            replace(campaign.experiment, trajectory=far, controller=controller).run(rng)


def test_trajectories_in_the_wrong_coordinates_are_refused(campaign, rng):
    bar = FiveBar.demo()
    with pytest.raises(InputError, match="trajectory of its joints"):
        VirtualExperiment(SimulatedRobot(bar, bar.nominal), campaign.experiment.trajectory, EXACT).run(rng)
    in_joints = five_bar(rng, periods=1).experiment.trajectory
    assert isinstance(in_joints, Periodic)
    with pytest.raises(InputError, match="trajectory of its pose"):
        VirtualExperiment(campaign.experiment.simulated, in_joints, EXACT, rate=200.0).run(rng)


def test_a_voltage_limit_that_is_too_low_is_told(campaign, rng):
    weak = replace(campaign.experiment.instruments, voltage_limit=1.5)
    experiment = replace(campaign.experiment, instruments=weak)
    with pytest.raises(InputError, match=r"motor \d no longer follows at .*motor \d was at its voltage limit of 1.5 V"):
        experiment.run(rng)
    with pytest.raises(
        InputError, match=r"motor \d would need .* V to follow the trajectory, but voltage_limit is 1.5"
    ):
        replace(experiment, controller=None).run(rng)
