"""Noise from repeats: size, uncertainty, and tests that are right about as often as they promise."""

import numpy as np
import pytest
from scipy.signal import lfilter

from gough import InputError
from gough.methods import noise_from_repeats


@pytest.mark.parametrize("n_repeats", [2, 3, 6])
def test_probabilities_are_uniform_for_sound_noise(n_repeats, rng):
    """Of 300 tests of sound noise, some 5 % fall below 0.05; the binomial allows 2 % to 9 % (p < 1e-3)."""
    p = {"gaussian": [], "white": [], "alike": [], "independent": []}
    for _ in range(150):
        noise = noise_from_repeats(rng.normal(size=(n_repeats, 150, 2)), ["a", "b"])
        for kind in ("gaussian", "white", "alike"):
            p[kind] += [test.p for test in getattr(noise, kind)]
        p["independent"].append(noise.independence(1).p)
    for kind, values in p.items():
        # "alike" takes the worst of dependent tests, so it may be cautious with two repeats
        assert (0.0 if kind == "alike" else 0.02) <= np.mean(np.array(values) < 0.05) <= 0.1, kind
        assert np.mean(np.array(values) < 0.001) < 0.02, kind


def test_covariance_is_unbiased_and_its_uncertainty_true(rng):
    C = np.array([[1.0, 0.6], [0.6, 4.0]])
    root = np.linalg.cholesky(C)
    found = [noise_from_repeats(rng.normal(size=(2, 60, 2)) @ root.T, ["a", "b"]) for _ in range(400)]
    covariances = np.array([noise.covariance for noise in found])
    spread = covariances.std(axis=0)
    assert (abs(covariances.mean(axis=0) - C) < 4 * spread / 20).all()
    assert np.mean([noise.covariance_sigma for noise in found], axis=0) == pytest.approx(spread, rel=0.15)
    lower, upper = zip(*(noise.sigma_interval() for noise in found), strict=True)
    covered = ((np.array(lower) <= [1, 2]) & ([1, 2] <= np.array(upper))).mean()
    assert 0.92 < covered < 0.98


@pytest.mark.parametrize("n_repeats", [2, 3, 8])
def test_heavy_tails_are_found(n_repeats, rng):
    noise = noise_from_repeats(rng.standard_t(4, size=(n_repeats, 800, 1)), ["a"])
    assert noise.gaussian[0].is_refuted
    assert "Gaussian: refuted for a (excess kurtosis" in str(noise)


def test_skewness_is_found(rng):
    noise = noise_from_repeats(rng.gumbel(size=(5, 400, 1)), ["a"])
    assert noise.gaussian[0].is_refuted


def test_memory_is_found_and_measured(rng):
    e = lfilter([1.0], [1.0, -0.5], rng.normal(size=(6, 600, 2)), axis=1)
    e[..., 1] = rng.normal(size=(6, 600))
    noise = noise_from_repeats(e, ["filtered", "plain"])
    assert noise.white[0].is_refuted
    assert not noise.white[1].is_refuted
    assert noise.white[0].statistic == pytest.approx(0.5, abs=0.08)
    assert noise.memory[0] == pytest.approx(3.0, rel=0.25)  # (1 + ρ)/(1 − ρ)
    assert not noise.gaussian[0].is_refuted


def test_a_repeat_before_the_motion_was_steady_is_named(rng):
    e = rng.normal(size=(5, 300, 2))
    e[0, :, 1] += np.exp(-np.arange(300) / 100)
    noise = noise_from_repeats(e, ["a", "b"])
    assert [test.is_refuted for test in noise.alike] == [False, True]
    assert noise.alike[1].statistic == 1
    assert "b (repeat 1)" in noise.verdicts[3]


def test_common_errors_of_two_kinds_of_channels_are_found(rng):
    e = rng.normal(size=(4, 300, 3))
    e[..., 2] += 0.3 * e[..., 0]
    assert noise_from_repeats(e, ["a", "b", "c"]).independence(2).is_refuted


def test_lost_readings_are_left_out(rng):
    truth = np.cumsum(rng.normal(size=(200, 2)), axis=0)
    values = truth + rng.normal(size=(6, 200, 2))
    values[rng.random((6, 200)) < 0.2] = np.nan
    values[:, 7] = np.nan
    noise = noise_from_repeats(values, ["a", "b"])
    assert np.isnan(noise.mean[7]).all()
    assert noise.count[7] == 0
    assert noise.sigma == pytest.approx([1.0, 1.0], rel=0.12)
    assert not any(test.is_refuted for test in (*noise.gaussian, *noise.white, *noise.alike))


def test_what_cannot_be_used_is_refused_in_words(rng):
    e = rng.normal(size=(3, 50, 2))
    with pytest.raises(InputError, match=r"repeat 2 has 49 samples, but repeat 1 has 50.*cut them"):
        noise_from_repeats([e[0], e[1][:49]], ["a", "b"])
    with pytest.raises(InputError, match=r"one repeat only.*at least twice"):
        noise_from_repeats(e[:1], ["a", "b"])
    e[..., 1] = e[0, :, 1]
    with pytest.raises(InputError, match=r"'b' is the same in all repeats.*state its variance"):
        noise_from_repeats(e, ["a", "b"])
    e[..., 1] = 2 * e[..., 0]
    with pytest.raises(InputError, match=r"not positive definite: 'a' and 'b'.*Leave one out"):
        noise_from_repeats(e, ["a", "b"])
    with pytest.raises(InputError, match="2 readings beyond the first"):
        noise_from_repeats(rng.normal(size=(2, 2, 2)), ["a", "b"])
    with pytest.raises(InputError, match="3 names"):
        noise_from_repeats(rng.normal(size=(3, 5, 2)), ["a", "b", "c"])
