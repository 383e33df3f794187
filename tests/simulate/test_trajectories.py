"""Fourier trajectories: exact derivatives, exact periods, limits that hold."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.simulate.trajectories import FourierSeries, Periodic, instants


@pytest.fixture
def series(rng):
    return FourierSeries(rng.normal(size=3), rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), frequency=0.4)


def test_the_published_formula(series):
    """[AHG, eq. (13)], term by term."""
    t, omega = 0.7, 2 * np.pi * 0.4
    wanted = series.offset.copy()
    for joint in range(3):
        for k in range(1, 5):
            wanted[joint] += series.mu[joint, k - 1] / (k * omega) * np.sin(k * omega * t)
            wanted[joint] -= series.nu[joint, k - 1] / (k * omega) * np.cos(k * omega * t)
    np.testing.assert_allclose(series.at([t]).q[0], wanted, rtol=1e-13)


def test_derivatives_match_finite_differences(series):
    t, h = np.linspace(0, 5, 101), 1e-5
    before, now, after = series.at(t - h), series.at(t), series.at(t + h)
    np.testing.assert_allclose(now.dq, (after.q - before.q) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(now.ddq, (after.dq - before.dq) / (2 * h), atol=1e-7)


def test_samples_repeat_exactly_and_are_those_at_their_times(series):
    motion = series.sample(rate=20.0, periods=3)
    assert [part.shape for part in motion] == [(150,), (150, 3), (150, 3), (150, 3)]
    for part in (motion.q, motion.dq, motion.ddq):
        np.testing.assert_array_equal(part[:50], part[50:100])
    np.testing.assert_allclose(motion.q, series.at(motion.times).q, atol=1e-12)
    np.testing.assert_allclose(motion.times, np.arange(150) / 20)
    np.testing.assert_allclose(motion.q.mean(axis=0), series.offset, atol=1e-14)


def test_random_series_keep_their_limits(rng):
    amplitude, velocity, acceleration = np.array([0.1, 0.5, 2.0]), 1.0, np.array([9.0, np.inf, 3.0])
    for _ in range(20):
        series = FourierSeries.random(
            rng,
            offset=[1.0, 2.0, 3.0],
            amplitude=amplitude,
            frequency=0.3,
            velocity=velocity,
            acceleration=acceleration,
        )
        motion = series.sample(rate=300.0)
        assert (np.abs(motion.q - series.offset) <= amplitude + 1e-15).all()
        assert (np.abs(motion.dq) <= velocity + 1e-15).all()
        assert (np.abs(motion.ddq) <= acceleration + 1e-14).all()
        ratios = [
            bound / limit for bound, limit in zip(series.bounds(), (amplitude, velocity, acceleration), strict=True)
        ]
        np.testing.assert_allclose(np.max(ratios, axis=0), 1.0)


def test_same_seed_same_series():
    first, again, other = (
        FourierSeries.random(np.random.default_rng(seed), offset=[0.0], amplitude=1.0, frequency=1.0)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_values_are_frozen(series):
    with pytest.raises(ValueError, match="read-only"):
        series.mu[0, 0] = 1.0
    with pytest.raises(AttributeError):
        series.frequency = 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offset": [[1.0]]}, "offset must have 1 dimension"),
        ({"offset": [1.0, 2.0]}, "2 offsets do not fit"),
        ({"mu": [1.0]}, "mu must have 2 dimension"),
        ({"nu": [[1.0, 2.0]]}, "one shape"),
        ({"mu": [[np.nan]]}, "mu must be finite"),
        ({"mu": np.zeros((1, 0)), "nu": np.zeros((1, 0))}, "at least one harmonic"),
        ({"frequency": 0.0}, "frequency must be positive"),
        ({"frequency": np.inf}, "frequency must be positive"),
    ],
)
def test_impossible_series_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        FourierSeries(**({"offset": [0.0], "mu": [[1.0]], "nu": [[1.0]], "frequency": 1.0} | change))


@pytest.mark.parametrize(
    ("rate", "periods", "message"),
    [
        (100.3, 1, "not a whole number"),
        (2.0, 1, "cannot show harmonic 4"),
        (-1.0, 1, "rate must be positive"),
        (20.0, 0, "periods must be"),
        (20.0, 1.5, "periods must be"),
    ],
)
def test_impossible_sampling_is_refused(series, rate, periods, message):
    with pytest.raises(InputError, match=message):
        series.sample(rate, periods)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"amplitude": -1.0}, "amplitude must be positive"),
        ({"amplitude": np.inf}, "amplitude must be finite"),
        ({"amplitude": [1.0, 2.0]}, "amplitude must be one number or 1"),
        ({"velocity": 0.0}, "velocity must be positive"),
        ({"n_harmonics": 0}, "at least one harmonic"),
    ],
)
def test_impossible_limits_are_refused(rng, change, message):
    with pytest.raises(InputError, match=message):
        FourierSeries.random(rng, **({"offset": [0.0], "amplitude": 1.0, "frequency": 1.0} | change))


def test_a_repeated_series_is_a_trajectory(series):
    trajectory = Periodic(series, periods=3)
    assert trajectory.duration == pytest.approx(7.5)
    np.testing.assert_array_equal(trajectory.sample(20.0).q, series.sample(20.0, 3).q)
    np.testing.assert_array_equal(trajectory.at([0.3]).dq, series.at([0.3]).dq)
    for wrong in (0, 1.5, True):
        with pytest.raises(InputError, match="periods must be a whole number"):
            Periodic(series, wrong)


def test_instants_are_those_of_whole_samples():
    np.testing.assert_array_equal(instants(0.3, 10.0), [0.0, 0.1, 0.2])
    for rate in (-1.0, 0.0, np.nan, np.inf):
        with pytest.raises(InputError, match="rate must be positive"):
            instants(1.0, rate)
    with pytest.raises(InputError, match="have no sample"):
        instants(0.01, 10.0)
