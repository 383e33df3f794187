"""Faults outside the catalogue, mistakes and thin data: what the verdict says of them is true."""

from dataclasses import replace

import numpy as np
import pytest

from gough import estimate
from gough.core.errors import InputError
from gough.data import Recording
from gough.dynamics import Finding, causes_of, identify, recorded, reduced, with_effects
from gough.dynamics.effect_rows import correlated_rows
from gough.dynamics.effects import catalogue
from gough.dynamics.form_errors import over_range, with_form_errors
from gough.methods import WeightedLeastSquares, identifiability
from gough.robots import FiveBar, efforts
from gough.robots.mechanism import MechanismModel
from gough.simulate.multibody.experiment import seven_axes, sines
from tests.dynamics.test_verdict import ROBOT, late, measured, moved, torques


@pytest.fixture(scope="module")
def motion():
    return moved(1)


def judged(motion, torque, **options):
    return identify(ROBOT, measured(motion.q, torque, 1), methods=["least squares"], **options)


def test_exchanged_efforts_are_the_headline(motion):
    verdict = judged(motion, torques(motion)[:, [1, 0, 2]]).verdict
    assert verdict.finding is Finding.INADEQUATE
    assert "With the efforts of motor 1 and motor 2 exchanged" in verdict.headline


def test_an_effect_that_removes_little_is_not_called_the_cause(motion):
    torque = torques(motion)
    verdict = judged(motion, np.clip(torque, -0.4 * abs(torque).max(), 0.4 * abs(torque).max())).verdict
    assert verdict.finding is Finding.INADEQUATE
    assert not verdict.is_explained
    assert "no effect of the catalogue explains" in verdict.headline


def test_a_saturated_channel_is_remarked():
    x = np.clip(np.sin(np.linspace(0, 20, 500)), -0.8, 0.9)
    (least, greatest) = Recording(["tau1"], ["N·m"], x[:, None], rate=100.0).remarks
    assert "has its least value -0.8" in least
    assert "is it saturated?" in greatest
    assert not Recording(["tau1"], ["N·m"], np.sin(np.linspace(0, 20, 500))[:, None], rate=100.0).remarks


def test_a_negative_friction_is_not_named(motion):
    """Less friction at low speeds than at high ones: a negative Stribeck effect imitates something else."""
    rms = np.sqrt((motion.dq**2).mean(axis=0))
    fault = -0.3 * np.sign(motion.dq) * np.exp(-((motion.dq / (0.15 * rms)) ** 2))
    found = causes_of(ROBOT, measured(motion.q, torques(motion) + fault, 1), most=1)
    of = {cause.effect.name: cause for cause in found.ranked}["stribeck"]
    assert of.is_impossible
    assert not of.is_present


def test_the_same_motion_is_no_validation(motion):
    data = measured(motion.q, torques(motion), 1)
    with pytest.raises(InputError, match="the same positions"):
        identify(ROBOT, data, methods=["least squares"], validation=data)


def test_thin_data_decide_nothing():
    short = moved(1, 1.2)
    verdict = judged(short, torques(short)).verdict
    assert verdict.finding is Finding.UNDECIDED
    assert "too few" in verdict.headline
    assert "These data do not allow: " in verdict.text


def test_negative_delays_are_delays_of_the_positions(motion):
    found = causes_of(ROBOT, measured(motion.q, late(torques(motion), -0.004), 1), most=1)
    assert found.likeliest.effect.name == "delay"
    assert "the positions are recorded later" in found.likeliest.caveat


def test_gains_state_their_reference(motion):
    model = with_effects(ROBOT, measured(motion.q, torques(motion) * [1.05, 1.0, 1.0], 11), ["gain"])
    (missing,) = {f"gain_{i + 1}" for i in range(3)} - set(model.values)
    assert f"relative to motor {missing[-1]}, taken as exact" in model.premise


@pytest.mark.parametrize(("name", "wrong"), [("stribeck", 0.11), ("hysteresis", 0.012)])
def test_numbers_of_a_form_are_refined_and_part_of_the_uncertainty(motion, name, wrong):
    """A Stribeck speed or presliding distance between those that are scanned does not bias the friction."""
    if name == "stribeck":
        u = motion.dq / (wrong * np.sqrt((motion.dq**2).mean(axis=0)))
        fault = np.sign(motion.dq) * np.exp(-(u**2))
    else:
        from gough.dynamics.effects.hysteresis import bristles

        x = motion.q / (wrong * np.ptp(motion.q, axis=0))
        fault = np.stack([bristles(one) for one in x.T], axis=1) - np.sign(motion.dq)
    found = causes_of(ROBOT, measured(motion.q, torques(motion) + 0.4 * fault, 1), effects=[catalogue()[name]])
    cause = found.ranked[0]
    assert (cause.sigma > (1 - 1e-12) * cause.conditional).all()
    assert (cause.sigma > 1.001 * cause.conditional).any()
    assert abs(cause.values - 0.4) == pytest.approx(0, abs=4 * cause.sigma.max())


def test_an_estimate_with_an_effect_does_not_take_its_form_as_known(motion):
    """A Stribeck speed that is free makes ± of the friction larger; the speed itself is moved to the best fit."""
    true = 0.33 * np.sqrt((motion.dq**2).mean(axis=0))
    u = motion.dq / true
    data = measured(motion.q, torques(motion) + 0.4 * np.sign(u) * np.exp(-(u**2)), 1)
    model = with_effects(ROBOT, data, ["stribeck"])
    assert np.array(model.effects[0].numbers) == pytest.approx(true, rel=0.1)
    problem = recorded(model, data)
    analysis = identifiability(problem)
    problem = problem if analysis.is_full_rank else reduced(problem, analysis)
    method = WeightedLeastSquares()
    given = estimate(problem, method)
    free = with_form_errors(given, method, problem, model, data)
    own = [given.unknowns.index(f"stribeck_{i + 1}") for i in range(3)]
    grown = free.region.sigma / given.region.sigma
    assert grown.min() > 1 - 1e-12
    assert grown[own].min() > 1.2
    assert "That the forms of effects are estimated too multiplies σ of stribeck_" in free.notes[-1]
    assert abs(free.value[own] - 0.4) == pytest.approx(0, abs=4 * free.region.sigma[own].max())
    # by the inverse of the information of all unknowns, in which the numbers are unknowns like the others
    rows = model.form_slopes(data).rows
    group = np.nonzero(data.kept)[1]
    r = problem.residuals(given.value)
    weight = 1 / np.sqrt(np.bincount(group, r**2) / np.bincount(group))[group]
    A = np.column_stack([problem.W, rows]) * weight[:, None]
    whole, alone = (np.linalg.inv(X.T @ X).diagonal()[own] for X in (A, A[:, : len(given.value)]))
    assert grown[own] == pytest.approx(np.sqrt(whole / alone), rel=0.1)


def test_the_form_of_a_weak_effect_may_be_any_with_the_weight_of_its_likelihood(motion):
    """± of a weak effect, by least squares of the whole problem at many Stribeck speeds of one motor."""
    rms = np.sqrt((motion.dq**2).mean(axis=0))
    u = motion.dq / (0.2 * rms)
    data = measured(motion.q, torques(motion) + 0.05 * np.sign(u) * np.exp(-(u**2)), 1)
    model = with_effects(ROBOT, data, ["stribeck"])
    problem = recorded(model, data)
    given = estimate(problem, WeightedLeastSquares())
    number = model.form_numbers(data)[0]
    grown = over_range(given, problem, number, given.region.sigma)
    k = given.unknowns.index("stribeck_1")
    low, high = number.limits
    values = np.geomspace(low, high, 150)
    group = np.nonzero(data.kept)[1]
    r = problem.residuals(given.value)
    weight = 1 / np.sqrt(np.bincount(group, r**2) / np.bincount(group))[group]
    together = correlated_rows(data)
    ratio, mean, variance = [], [], []
    for E in number.rows(values.tolist()):
        A = problem.W * weight[:, None]
        A[:, k] = E[:, 0] * weight
        theta, squares, *_ = np.linalg.lstsq(A, problem.y * weight, rcond=None)
        ratio.append(-squares[0] / together)
        mean.append(theta[k])
        variance.append(together * np.linalg.inv(A.T @ A)[k, k])
    share = np.exp((np.array(ratio) - max(ratio)) / 2)
    share /= share.sum()
    mean, variance = np.array(mean), np.array(variance)
    expected = share @ (variance + (mean - given.value[k]) ** 2)
    here = together * np.linalg.inv((problem.W * weight[:, None]).T @ (problem.W * weight[:, None]))[k, k]
    assert grown[k, k] == pytest.approx(expected - here, rel=0.03)
    assert grown[k, k] > 0.2 * given.region.covariance[k, k]


def test_an_effect_that_is_absent_is_within_its_uncertainty(motion):
    data = measured(motion.q, torques(motion), 1)
    model = with_effects(ROBOT, data, ["stribeck"])
    problem = recorded(model, data)
    given = estimate(problem, WeightedLeastSquares())
    free = with_form_errors(given, WeightedLeastSquares(), problem, model, data)
    assert (free.value == given.value).all()
    assert (free.region.sigma >= given.region.sigma).all()
    own = [given.unknowns.index(f"stribeck_{i + 1}") for i in range(3)]
    assert (abs(free.value[own]) < 3 * free.region.sigma[own]).all()


def test_an_effect_is_estimated_for_robots_without_variants(rng):
    """The built-in five-bar has one model only."""
    robot = FiveBar.demo()
    t = np.arange(4000) / 200
    q = np.array([2.0, 1.1]) + 0.3 * np.stack([np.sin(2.1 * t), np.sin(3.3 * t + 1)], axis=1)
    dq, ddq = np.gradient(q, 1 / 200, axis=0), np.gradient(np.gradient(q, 1 / 200, axis=0), 1 / 200, axis=0)
    torque = efforts(robot, robot.nominal, q, dq, ddq) + [0.3, -0.2] + 0.01 * rng.normal(size=q.shape)
    data = replace_motion(robot, q, dq, ddq, torque)
    answer = identify(robot, data, methods=["least squares"], effects=["offset"])
    assert answer.verdict is not None
    sigma = answer["least squares"].region.sigma[-2:]
    assert abs(answer["least squares"].value[-2:] - [0.3, -0.2]) == pytest.approx(0, abs=5 * sigma.max())


def replace_motion(robot, q, dq, ddq, torque):
    from gough.data import MeasuredMotion

    names = {key: getattr(robot, key) for key in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    return MeasuredMotion(200.0, q, dq, ddq, torque, np.ones(q.shape, dtype=bool), **names)


def test_a_mechanism_without_friction_is_told_so(rng):
    """Descriptions from CAD state no friction: it must not be mistaken for a drift."""
    arm = seven_axes()
    joints = tuple(
        replace(joint, freedoms=tuple(replace(each, friction=None) for each in joint.freedoms)) for joint in arm.joints
    )
    robot = MechanismModel(replace(arm, joints=joints))
    center = robot.inverse(robot.home)
    q, dq, ddq = sines(rng, center, np.full(7, 0.8), seconds=10.0, rate=200.0)
    torque = efforts(robot, robot.nominal, q, dq, ddq) + 2.0 * np.sign(dq) + 3.0 * dq
    torque += 0.02 * rng.normal(size=torque.shape)
    found = causes_of(robot, replace_motion(robot, q, dq, ddq, torque), most=1)
    assert found.likeliest.effect.name == "friction"
    values = dict(zip(found.likeliest.names, found.likeliest.values, strict=True))
    assert values["dry_1"] == pytest.approx(2.0, abs=0.05)
    assert values["viscous_7"] == pytest.approx(3.0, abs=0.05)
