"""Gradients, Fisher information, limits as the robot itself sees them, and every refusal."""

import pickle

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.designs.excitation import CRITERIA, DesignProblem, MotionLimits
from gough.designs.excitation.measure import course, extremes, measured
from gough.designs.excitation.search import random_start
from gough.designs.excitation.tracking import Neighborhood
from gough.robots import H4, Delta, FiveBar, Par4
from gough.robots.mechanism import MechanismModel
from gough.simulate.trajectories import FourierSeries


def weights(problem, rng):
    """A smooth function of what is limited, with its gradient."""
    w = rng.normal(size=(problem.n_samples, len(problem.channels)))
    return lambda h: (float((w * h**2).sum()), 2 * w * h)


def check_gradient(problem, rng):
    z = random_start(problem, rng)
    added = weights(problem, rng)
    direction, step = rng.normal(size=len(z)), 1e-6
    ahead, behind = (problem.lagrangian(z + s * direction, added)[0] for s in (step, -step))
    found = problem.lagrangian(z, added)[1] @ direction
    assert found == pytest.approx((ahead - behind) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("name", CRITERIA)
def test_gradient_of_criteria_and_limits(name, delta, rng):
    check_gradient(_with(delta, name), rng)


def test_gradient_in_joint_coordinates(five_bar, rng):
    check_gradient(five_bar, rng)


def test_gradient_of_a_mechanism_with_passive_joints(rng):
    robot = MechanismModel(FiveBar().mechanism)
    passive = next(name for name in robot.coordinate_names if name not in (*robot.coordinates, *robot.pose_names))
    limits = MotionLimits(speeds=8.0, efforts=20.0, joints={passive: (-10.0, 10.0)})
    problem = DesignProblem(robot, limits, n_harmonics=2, friction_speed=1e-3)
    assert passive in [channel.name for channel in problem.channels]
    check_gradient(problem, rng)
    check_channels(problem, rng)


def _with(problem, name):
    return DesignProblem(problem.robot, problem.limits, problem.sigma, name, n_harmonics=2, n_samples=12)


def check_channels(problem, rng):
    """The solver's channels are what the robot itself says, away from standstill, where friction is smoothed."""
    z = random_start(problem, rng)
    x, dx, ddx = problem.space.motion(z)
    own = problem.equations.forward.evaluate(x, dx, ddx)["h"]
    asked = measured(problem.robot, problem.parameters, problem.channels, (x, dx, ddx))
    speeds = dx if isinstance(problem.robot, FiveBar) else problem.robot.joint_motion(x, dx, ddx).dq
    fast = (np.abs(speeds) > 20 * problem.friction_speed).all(axis=1)
    assert fast.sum() > len(fast) / 4
    sizes = [channel.size for channel in problem.channels]
    np.testing.assert_allclose(own[fast] / sizes, asked[fast] / sizes, atol=1e-9)


@pytest.mark.parametrize("make", [Par4, Delta])
def test_channels_are_what_the_robot_says(make, rng):
    limits = MotionLimits(speeds=20.0, efforts=200.0, accelerations=500.0)
    check_channels(DesignProblem(make(), limits, n_harmonics=2, friction_speed=1e-3), rng)


def test_channels_in_joint_coordinates(five_bar, rng):
    check_channels(five_bar, rng)


def test_fisher_information_with_full_covariance(five_bar, rng):
    """Σ_k W_kᵀ Σ⁻¹ W_k, scaled to the number of samples that are recorded."""
    W = five_bar.evaluate(random_start(five_bar, rng)).W
    inverse = np.linalg.inv([[0.01, 0.005], [0.005, 0.04]])
    direct = sum(sample.T @ inverse @ sample for sample in W) * five_bar.recorded / len(W)
    scale = np.sqrt(np.outer(np.diag(direct), np.diag(direct)))
    np.testing.assert_allclose(five_bar.information(W) / scale, direct / scale, atol=1e-12)


def test_dependent_parameters_are_regrouped(five_bar):
    assert len(five_bar.names) == 15
    assert len(five_bar.robot.names) == 21


def test_vectors_and_series_are_the_same(delta, rng):
    z = random_start(delta, rng)
    series = delta.series(z)
    np.testing.assert_allclose(delta.space.vector(series), z, rtol=1e-12)
    times = np.arange(delta.n_samples) / delta.n_samples * series.period
    for ours, theirs in zip(delta.space.motion(z), series.at(times)[1:], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_the_paper_counts_67_unknowns():
    """12 n + 7 for six coordinates and n = 5 harmonics [AHG, §III]."""
    from gough.designs.excitation.problem import SeriesSpace

    assert SeriesSpace(np.zeros(6), np.ones(6), 5, (0.1, 0.5), 100).n == 12 * 5 + 7


def test_values_between_samples_stay_within_the_extremes(delta, rng):
    series = delta.series(random_start(delta, rng))
    low, high = extremes(delta.parameters, delta.neighborhood, series)
    times = rng.uniform(0, series.period, 5000)
    values = measured(delta.robot, delta.parameters, delta.channels, series.at(times)[1:])
    sizes = np.array([channel.size for channel in delta.channels])
    assert ((values - high) / sizes).max() < 1e-6
    assert ((low - values) / sizes).max() < 1e-6


def test_a_problem_travels_to_another_process(delta, rng):
    z = random_start(delta, rng)
    assert pickle.loads(pickle.dumps(delta)).value(z) == delta.value(z)


LIMITS = MotionLimits(speeds=8.0, efforts=10.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DesignProblem(Delta(), MotionLimits(efforts=10.0)), "the limit 'speeds' of Delta is missing.*rad/s"),
        (lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0)), "the limit 'efforts' of Delta is missing.*N·m"),
        (
            lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=0.5)),
            r"cannot stand at its home: effort of motor 1 is .* Loosen that limit",
        ),
        (
            lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=9.0, pose={"z": (-0.5, 0.0)})),
            "cannot stand at its home: z is",
        ),
        (
            lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=9.0, pose={"zz": (-0.5, 0.0)})),
            "no coordinate 'zz'; did you mean 'z'",
        ),
        (
            lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=9.0, joints={"alpha": (0.0, 1.0)})),
            "no joint 'alpha'",
        ),
        (lambda: DesignProblem(Delta(), MotionLimits(speeds=[8.0, 8.0], efforts=9.0)), "one for each of 3"),
        (lambda: MotionLimits(speeds=-1.0), "speeds must be positive"),
        (lambda: MotionLimits(margin=0.0), "ends in a singularity"),
        (lambda: MotionLimits(tracking=-0.01), "tracking must be a finite error"),
        (lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=9.0, tracking=[0.1, 0.1])), "each of 3"),
        (
            lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=9.0, margin=0.99, tracking="0.1")),
            "tracking",
        ),
        (
            lambda: DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=9.0, positions=(-0.2, 0.6), tracking=0.5)),
            "cannot keep its limits at home with tracking errors of 500 mrad: .*State a smaller 'tracking'",
        ),
        (lambda: MotionLimits(pose={"z": (1.0, 0.0)}), "lower < upper"),
        (lambda: DesignProblem(FiveBar(), LIMITS), "states no home"),
        (lambda: DesignProblem(Delta(), LIMITS, home=[0.0, 0.0]), "must be 3 numbers"),
        (lambda: DesignProblem(Delta(), LIMITS, home=[0.0, 0.0, -5.0]), "out of reach|singularity"),
        (lambda: DesignProblem(Delta(), LIMITS, sigma=-1.0), "sigma must be positive"),
        (lambda: DesignProblem(Delta(), LIMITS, sigma=np.ones((3, 3))), "not positive definite"),
        (lambda: DesignProblem(Delta(), LIMITS, sigma=[1.0, 2.0]), "one for each of 3"),
        (lambda: DesignProblem(Delta(), LIMITS, frequency=0.0), "frequency must be"),
        (lambda: DesignProblem(Delta(), LIMITS, frequency=0.3, rate=100.0), "no period of .* is a whole number"),
        (lambda: DesignProblem(Delta(), LIMITS, n_harmonics=0), "n_harmonics must be a whole number"),
        (lambda: DesignProblem(Delta(), LIMITS, parameters=[1.0]), "has 14 parameters"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_motion_through_a_singularity_is_refused():
    """The H4 loses its platform where θ is a right angle."""
    robot = H4()
    through = FourierSeries(robot.home, [[0.0], [0.0], [0.0], [6.0]], np.zeros((4, 1)), frequency=0.5)
    channels = MotionLimits(speeds=8.0, efforts=10.0).channels(robot, robot.home)
    with pytest.raises(InputError, match=r"H4 cannot follow the motion.*period of 2 s: sample .*singular.*smaller"):
        course(robot.nominal, Neighborhood(robot, channels, np.full(4, 0.01)), through)
