"""All estimators beside each other, for a robot with all parameters visible and for one with combinations."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import repeats
from gough import Box, InputError
from gough.dynamics import base_values, identify_repeated
from gough.robots import Delta, FiveBar
from tests.dynamics.periodic_data import ROBOTS, experiment


@pytest.mark.parametrize("name", ROBOTS)
def test_estimators_beside_each_other(name):
    of = experiment(ROBOTS[name], positions=3e-3, efforts=0.1)
    steps = []
    found = identify_repeated(of.robot, of.run(np.random.default_rng(1)), orders=[2, 3, 4], on_step=steps.append)
    assert found.order.order == 3
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert list(found.estimates)[-1] == "maximum likelihood"
    assert len({e.unknowns.names for e in found.estimates.values()}) == 1
    assert not found.refused
    assert found.disagreement["least squares"] < 1e-4
    assert found.disagreement["instrumental variables"] > 1e-3
    assert found.disagreement["maximum likelihood"] == 1
    assert found.cut_off == 15
    assert "than their own uncertainty allows (probably biased): least squares (p = " in str(found)
    agreeing = f"filtered at 15 harmonics and differentiated, and allow for their noise. They agree with maximum \
likelihood (p = {found.disagreement['instrumental variables']:.2g})"
    assert agreeing in str(found)
    doubted = {name: e for name, e in found.estimates.items() if name != "instrumental variables"}
    assert "the cause" not in str(replace(found, estimates=doubted))
    assert "Independence of the errors of positions and efforts is not refuted" in str(found)
    with pytest.raises(InputError, match="no estimate or parameter is called 'ML'"):
        found["ML"]


def test_common_errors_of_positions_and_efforts_are_named_and_lost_readings_borne():
    of = experiment(ROBOTS["five-bar"])
    motion = of.run(np.random.default_rng(1))
    common = np.random.default_rng(2).normal(size=(5, 200, 1))
    q, efforts = motion.q + 1e-3 * common, motion.efforts + 0.2 * common
    q[2, 7, 1] = np.nan
    together = replace(motion, q=q, efforts=efforts)
    found = identify_repeated(of.robot, together, orders=[3], independent=False)
    assert any("are correlated" in words and "independent = false" in words for words in found.verdicts)
    assert found.likeliest.stats.chi_squared == pytest.approx(1.0, abs=0.15)


def test_the_order_follows_from_the_positions_and_benchmarks_are_judged():
    of = experiment(ROBOTS["five-bar"])
    other = experiment(ROBOTS["five-bar"], order=1, seed=4)
    rng = np.random.default_rng(1)
    found = identify_repeated(of.robot, of.run(rng), validation={"swing": other.run(rng)})
    assert found.order.order == min(found.by_positions, key=found.by_positions.get) == 3
    assert [row.order for row in found.order.rows] == [3, 4, 5]
    assert found.benchmarks["swing"].order == 1
    assert found.benchmarks["swing"].is_unbiased
    assert "On the motion “swing” the model is unbiased for every actuator." in found.verdicts
    assert list(found.likeliest_first)[:2] == ["maximum likelihood", "least squares"]
    assert not found.is_refuted
    heavier = replace(other, parameters=other.truth * np.where(np.array(of.robot.names) == "fc_1", 3.0, 1.0))
    judged = identify_repeated(of.robot, of.run(rng), orders=[3], validation={"swing": heavier.run(rng)})
    assert judged.is_refuted
    assert "On the motion “swing” the model is biased for motor 1." in judged.verdicts


def kinked(of, motion, step, corner):
    """The motion with dry friction under position control: a step of the positions at each reversal, low-passed.

    Harmonics above `corner` of the period are damped as by a second-order loop. Efforts are those of the kinked path.
    """
    n = motion.n_samples
    k = np.fft.fftfreq(n, 1 / n)[:, None]
    rate = 2j * np.pi * k / motion.period
    reading = motion.q - motion.q.mean(axis=0)
    smooth = np.fft.fft(of.run(np.random.default_rng(0)).q.mean(axis=0), axis=0)
    smooth *= abs(k) <= 3  # the path of the experiment has three harmonics
    reversal = np.fft.fft(np.sign(np.fft.ifft(rate * smooth, axis=0).real), axis=0)
    path = smooth - step * reversal / (1 + (k / corner) ** 2)
    q, dq, ddq = (np.fft.ifft(rate**power * path, axis=0).real for power in range(3))
    torques = of.robot.regressor(q, dq, ddq) @ of.truth
    noise = motion.efforts - motion.efforts.mean(axis=0)
    return replace(motion, q=q + reading, efforts=torques + noise)


def test_a_path_that_its_harmonics_cannot_follow_speaks_against_the_answer():
    of = experiment(ROBOTS["five-bar"], positions=1e-5)
    motion = of.run(np.random.default_rng(1))
    clean = identify_repeated(of.robot, motion, orders=[3])
    assert not clean.path_sign.against
    assert not clean.is_refuted
    assert clean.path_sign.p > 0.001
    assert clean.path_sign.sentences[0].startswith("The measured positions are consistent with a path of 3 harmonics")
    rough = identify_repeated(of.robot, kinked(of, motion, 1e-3, 20), orders=[3])
    assert rough.path_sign.against
    assert rough.is_refuted
    assert set(rough.path_sign.sentences) < set(rough.verdicts)
    assert "does not follow the measured positions" in rough.path_sign.sentences[0]
    needed = min(rough.by_positions, key=rough.by_positions.get)
    assert f"State orders up to {needed} or more in [repeats], or remove the table [repeats]" in str(rough)


def test_a_fixed_parameter_is_fixed_in_every_estimator():
    of = experiment(ROBOTS["five-bar"])
    names, truth = of.robot.names, of.truth
    lower, upper = (np.full(len(names), side) for side in (-np.inf, np.inf))
    k = names.index("fc_2")
    lower[k] = upper[k] = truth[k]
    found = identify_repeated(of.robot, of.run(np.random.default_rng(1)), orders=[3], prior=Box(lower, upper))
    assert found.fixed == {"fc_2": truth[k]}
    assert "fc_2" not in found.identifiability.names
    expected = base_values(found.identifiability, [truth[names.index(name)] for name in found.identifiability.names])
    for label in ("instrumental variables", "total least squares", "maximum likelihood"):
        estimate = found[label]
        assert abs((estimate.value - expected) / estimate.region.sigma).max() < 4.5, label
    assert not found.refused


@pytest.mark.parametrize(
    ("name", "rate", "case"),
    [
        ("five-bar", 200.0, "delay, 2 ms"),
        ("five-bar", 1000.0, "delay, 0.5 ms"),
        ("delta", 500.0, "delay, 7.3 ms"),
        ("five-bar", 500.0, "asymmetry, 0.01 of the rms effort"),
    ],
)
def test_effects_are_found_in_repeats_without_bias(name, rate, case):
    """A delay is not a whole number of samples: the samples at which dry friction jumps must not decide it."""
    robot = FiveBar.demo() if name == "five-bar" else Delta()
    first, values, sigma, truth = repeats.found(robot, rate, case, seed=3)
    assert first == repeats.CASES[case][0]
    assert (abs(values - truth) < 3.5 * sigma).all()
    assert (sigma < 0.2 * abs(truth)).all()
