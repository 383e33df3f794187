"""Instruments: each does what it says, and a seed decides."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.simulate import EffortNoise, Instruments, Ripple, UniformNoise, static_force_tests

EXACT = Instruments(encoder_counts=None)


def test_encoders_round_to_the_nearest_step(rng):
    q = rng.uniform(-3, 3, (200_000, 2))
    tools = Instruments(encoder_counts=5000)
    errors = tools.read_positions(q) - q
    step = 2 * np.pi / 5000
    assert tools.resolution == pytest.approx(step)
    assert np.abs(errors).max() <= step / 2 * (1 + 1e-12)
    # evenly spread: mean 0, variance step²/12, within four standard deviations of such a sample
    assert abs(errors.mean()) < 4 * step / np.sqrt(12 * errors.size)
    assert errors.var() == pytest.approx(step**2 / 12, rel=4 * np.sqrt(0.8 / errors.size))
    np.testing.assert_array_equal(EXACT.read_positions(q), q)


def test_the_converter_rounds_to_its_steps(rng):
    volts = rng.uniform(-10, 10, (1000, 3))
    read = replace(EXACT, voltage_step=0.005).read_voltages(volts, 1000.0, rng)
    assert np.abs(read - volts).max() <= 0.0025 * (1 + 1e-9)
    np.testing.assert_allclose(read / 0.005, np.round(read / 0.005), atol=1e-9)


def test_errors_are_stated_in_efforts_and_read_in_volts(rng):
    zeros = np.zeros((100_000, 2))
    read = Instruments(gain=[2.0, -4.0], noise=0.1).read_voltages(zeros, 1000.0, rng)
    assert read.std(axis=0) == pytest.approx([0.05, 0.025], rel=0.01)
    bounded = Instruments(gain=2.0, noise=UniformNoise([0.1, 0.2])).read_voltages(zeros, 1000.0, rng)
    assert (np.abs(bounded) <= [0.05, 0.1]).all()
    assert np.abs(bounded).max(axis=0) == pytest.approx([0.05, 0.1], rel=1e-3)


def test_outliers_come_with_the_noise(rng):
    noise = EffortNoise.white([0.1], outliers=0.02, outlier_size=50.0)
    read = Instruments(noise=noise).read_voltages(np.zeros((50_000, 1)), 1000.0, rng)
    assert np.mean(np.abs(read) > 4.0) == pytest.approx(0.02, rel=0.15)


def test_the_low_pass_is_a_causal_butterworth():
    rate, cutoff = 1000.0, 50.0
    tools = replace(EXACT, low_pass=cutoff)
    t = np.arange(4000) / rate
    for frequency in (5.0, 50.0, 200.0):
        signal = np.sin(2 * np.pi * frequency * t)[:, None]
        out = tools.read_voltages(signal, rate, np.random.default_rng(1))[2000:, 0]
        # the bilinear transform warps frequencies by the tangent
        ratio = np.tan(np.pi * frequency / rate) / np.tan(np.pi * cutoff / rate)
        assert np.abs(out).max() == pytest.approx(1 / np.sqrt(1 + ratio**4), rel=2e-3)
    step = np.where(t[:, None] < 1.0, 0.0, 1.0)
    out = tools.read_voltages(step, rate, np.random.default_rng(1))
    assert np.abs(out[:1000]).max() == 0  # nothing before its cause
    constant = tools.read_voltages(np.full((100, 2), 3.0), rate, np.random.default_rng(1))
    np.testing.assert_allclose(constant, 3.0)  # it has settled when a recording begins


def test_missed_samples_are_missing_or_held(rng):
    samples = rng.normal(size=(200_000, 3))
    tools = replace(EXACT, dropouts=0.03, dropout_length=4.0)
    lost = np.isnan(tools.log(samples, np.random.default_rng(1))).all(axis=1)
    assert lost.mean() == pytest.approx(0.03, rel=0.1)
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], lost.astype(int), [0]]))))[::2]
    assert runs.mean() == pytest.approx(4.0, rel=0.1)
    held = replace(tools, missed="held").log(samples, np.random.default_rng(1))
    np.testing.assert_array_equal(held[~lost], samples[~lost])
    np.testing.assert_array_equal(held[1:][lost[1:]], held[:-1][lost[1:]])


def test_a_ripple_is_a_sine_of_the_position():
    ripple = Ripple(0.2, waves=12.0, phase=[0.0, np.pi / 2])
    q = np.array([[0.1, 0.1], [0.2, 0.3]])
    np.testing.assert_allclose(ripple.torque(q), 0.2 * np.sin(12 * q + [0.0, np.pi / 2]))
    drawn = Instruments(ripple=Ripple(0.1)).phases(np.random.default_rng(1), 4)
    assert len(set(drawn)) == 4
    np.testing.assert_array_equal(Instruments(ripple=ripple).phases(np.random.default_rng(1), 2), [0.0, np.pi / 2])
    with pytest.raises(InputError, match="before its phase"):
        Ripple(0.2).torque(q)


def test_a_seed_is_a_reading(rng):
    tools = Instruments(gain=2.0, noise=0.1, dropouts=0.1, low_pass=100.0, voltage_step=0.01)
    volts = rng.normal(size=(500, 2))
    first, again, other = (tools.read_voltages(volts, 1000.0, np.random.default_rng(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gain": 0.0}, "gain must be finite and not 0"),
        ({"gain": [1.0, 0.0]}, "gain must be finite and not 0"),
        ({"gain": np.nan}, "gain must be finite and not 0"),
        ({"encoder_counts": 0}, "encoder_counts must be at least 1"),
        ({"noise": -0.1}, "noise must not be negative"),
        ({"voltage_limit": 0.0}, "voltage_limit must be positive"),
        ({"low_pass": 0.0}, "low_pass must be positive"),
        ({"voltage_step": -1.0}, "voltage_step must not be negative"),
        ({"dropouts": 1.0}, "dropouts is a share"),
        ({"dropout_length": 0.5}, "dropout_length must be at least 1"),
        ({"missed": "zero"}, "missed must be 'nan' or 'held'"),
    ],
)
def test_impossible_instruments_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        Instruments(**options)


@pytest.mark.parametrize("options", [{"amplitude": -1.0}, {"amplitude": np.inf}, {"amplitude": 1.0, "waves": np.nan}])
def test_impossible_ripples_are_refused(options):
    with pytest.raises(InputError, match="must be"):
        Ripple(**options)


def test_a_low_pass_beyond_the_samples_is_refused(rng):
    with pytest.raises(InputError, match="more than 1200 samples"):
        replace(EXACT, low_pass=600.0).read_voltages(np.zeros((10, 1)), 1000.0, rng)


def test_static_tests_show_the_gain(rng):
    gains = np.array([19.0, 20.5])
    volts = np.linspace(-5, 5, 101)
    tests = static_force_tests(rng, gains=gains, lever=0.375, voltages=volts, sigma=2.0, offset=1.0)
    design = np.column_stack([volts, np.ones_like(volts)])
    fit, residual = np.linalg.lstsq(design, tests.forces * tests.lever)[:2]
    sigma = 2.0 * 0.375 / np.linalg.norm(volts)
    assert np.abs(fit[0] - gains).max() < 4 * sigma
    assert fit[1] == pytest.approx([1.0, 1.0], abs=4 * 0.75 / np.sqrt(101))
    assert np.sqrt(residual / 99) == pytest.approx([0.75, 0.75], rel=0.3)
    stuck = static_force_tests(rng, gains=gains, lever=0.375, voltages=volts, sigma=0.0, friction=[0.0, 2.0])
    hidden = stuck.forces * 0.375 - np.outer(volts, gains)
    assert np.abs(hidden[:, 0]).max() < 1e-12
    assert 1.8 < np.abs(hidden[:, 1]).max() <= 2.0 + 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gains": [0.0]}, "gains must be finite and not 0"),
        ({"lever": 0.0}, "lever must be positive"),
        ({"voltages": []}, "voltages must be finite"),
        ({"voltages": [np.nan]}, "voltages must be finite"),
        ({"sigma": -1.0}, "sigma must not be negative"),
        ({"friction": -1.0}, "friction must not be negative"),
    ],
)
def test_impossible_static_tests_are_refused(rng, options, words):
    with pytest.raises(InputError, match=words):
        static_force_tests(rng, **{"gains": [1.0], "lever": 0.3, **options})
