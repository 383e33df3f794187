"""Searches: better than chance, within limits at all times, repeatable, parallel, stopped at will."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.designs.excitation import DesignProblem, optimize, search
from gough.designs.excitation.measure import measured
from gough.designs.excitation.search import random_start
from gough.simulate.trajectories import Joined


@pytest.fixture(scope="module")
def found(five_bar):
    return optimize(five_bar, starts=2, seed=6)


def test_better_than_every_random_motion(five_bar, found):
    rng = np.random.default_rng(1)
    random = [five_bar.value(random_start(five_bar, rng)) for _ in range(100)]
    assert found.value < min(random) - 5
    assert all(attempt.value < attempt.first for attempt in found.attempts)


def test_limits_hold_at_all_times(five_bar, found, rng):
    """The search smooths dry friction; limits hold with its plain sign, and between samples."""
    times = rng.uniform(0, found.series.period, 20_000)
    values = measured(five_bar.robot, five_bar.parameters, five_bar.channels, found.series.at(times)[1:])
    for channel, column in zip(five_bar.channels, values.T, strict=True):
        assert channel.beyond(column).max() <= 0, channel.name
    assert -0.05 < found.worst <= 0  # and some limit is used


def test_the_period_is_a_whole_number_of_samples(five_bar, found):
    samples = five_bar.rate / found.series.frequency
    assert samples == pytest.approx(round(samples), abs=1e-9)
    assert len(found.recording()) == round(samples)


def test_the_motion_is_entered_from_rest_and_left_to_rest(five_bar, found):
    recording = found.recording(periods=2, ramps=True)
    limits = {channel.name: channel for channel in five_bar.channels}
    for i, name in enumerate(("q1", "q2")):
        np.testing.assert_allclose(recording[name][0], five_bar.home[i], atol=1e-12)
        assert recording[f"d{name}"][0] == 0
        assert abs(recording[f"d{name}"]).max() <= limits[f"speed of {name}"].upper
    motion = found.trajectory(2)
    times = motion.ramp + np.arange(0, 2 * found.series.period, 1 / five_bar.rate)
    start = round(motion.ramp * five_bar.rate)
    steady = found.series.at(times - motion.ramp + getattr(motion, "phase", 0.0)).q[:, 0]
    np.testing.assert_allclose(recording["q1"][start : start + len(steady)], steady, atol=1e-9)


@pytest.mark.parametrize("phase", [0.0, 0.7])
def test_polynomials_join_the_motion_smoothly(found, phase):
    """Velocities and accelerations are derivatives, and nothing jumps where a polynomial meets the series."""
    motion = Joined(found.series, np.array([2.0, 1.0]), periods=1, ramp=0.8, phase=phase)
    step = 1e-4
    times = np.arange(0.0, motion.duration, 0.01)
    _, dx, ddx = motion.at(times)
    ahead, behind = motion.at(times + step), motion.at(times - step)
    inside = (times > step) & (times < motion.duration - step)
    np.testing.assert_allclose(((ahead.x - behind.x) / (2 * step))[inside], dx[inside], atol=1e-3)
    np.testing.assert_allclose(
        ((ahead.dx - behind.dx) / (2 * step))[inside], ddx[inside], atol=1e-2 * np.abs(ddx).max()
    )
    for meeting in (motion.ramp, motion.duration - motion.ramp):
        here, there = (np.concatenate(motion.at([meeting + s * 1e-9])) for s in (-1, 1))
        np.testing.assert_allclose(here, there, atol=1e-6 * np.abs(here).max())


def test_promised_deviations_are_those_of_gauss_markov(five_bar, found):
    W = five_bar.evaluate(five_bar.space.vector(found.series)).W
    covariance = np.linalg.inv(five_bar.information(W))
    np.testing.assert_allclose(found.sigma, np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert found.criterion("D") == pytest.approx(found.value)


def test_the_same_seed_gives_the_same_motion_in_any_executor(five_bar, found):
    told = []
    with ThreadPoolExecutor(2) as executor:
        again = optimize(five_bar, starts=1, seed=6, executor=executor, on_progress=told.append)
    assert again.series == found.attempts[0].series
    assert [(step.done, step.stage) for step in told] == [(1, "start 1: done")]


def test_the_report_names_what_matters(found):
    text = str(found)
    for words in ("five-bar: −ln det F", "σ predicted", "effort of motor 1", "2 of 2 starts"):
        assert words in text


def test_a_stopped_search_keeps_its_best(five_bar):
    """Ctrl-C in the middle of a start: what it has reached is made to keep the limits."""

    def stop(step):
        if step.done == 1 and step.stage.startswith("start 2"):
            raise KeyboardInterrupt

    stopped = optimize(five_bar, starts=9, seed=3, on_progress=stop)
    assert stopped.is_stopped
    assert len(stopped.attempts) == 2
    assert stopped.worst <= 0
    assert "stopped early" in str(stopped)


def test_stopped_before_anything_is_found(five_bar, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "random_start", stop)
    with pytest.raises(KeyboardInterrupt):
        optimize(five_bar, starts=2)


def test_no_motion_within_the_limits(five_bar, monkeypatch):
    monkeypatch.setattr(search, "strict", lambda *_: None)
    monkeypatch.setattr(search._Start, "improve", lambda _, z: z)
    with pytest.raises(InputError, match=r"none of 2 starts.*loosen the limits"):
        optimize(five_bar, starts=2)


def test_conditions_are_made_small_too(five_bar):
    problem = DesignProblem(
        five_bar.robot, five_bar.limits, criterion="scaled condition", home=five_bar.home, n_harmonics=2
    )
    found = optimize(problem, starts=1, seed=3)
    assert found.value < found.attempts[0].first - 0.3
    assert found.worst <= 0
