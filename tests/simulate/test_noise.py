"""Errors of efforts: they are what they say they are."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.simulate import EffortNoise, UniformNoise

COVARIANCE = np.array([[0.04, 0.03], [0.03, 0.09]])


@pytest.mark.parametrize("cutoff", [None, 20.0])
def test_errors_have_the_stated_covariance(rng, cutoff):
    errors = EffortNoise(COVARIANCE, cutoff=cutoff).draw(200_000, rate=200.0, rng=rng)
    # filtered errors have some 8 times fewer independent samples: 3 standard deviations are below 3 %
    assert errors.T @ errors / len(errors) == pytest.approx(COVARIANCE, rel=0.03)


def lag(errors, k):
    return np.mean(errors[k:] * errors[:-k], axis=0) / np.mean(errors**2, axis=0)


def test_filtered_errors_remember_what_the_filter_passes(rng):
    errors = EffortNoise(COVARIANCE, cutoff=20.0).draw(100_000, rate=200.0, rng=rng)
    # power of a Butterworth filter of order 4 made digital by the bilinear transform, passed twice
    angle = np.pi * (np.arange(4096) + 0.5) / 4096
    power = (1 + (np.tan(angle / 2) / np.tan(np.pi * 20.0 / 200.0)) ** 8) ** -2
    for k in (1, 2, 3, 5, 8, 12):
        expected = (power * np.cos(k * angle)).sum() / power.sum()
        assert lag(errors, k) == pytest.approx(expected, abs=0.03)


def test_errors_without_a_filter_remember_nothing(rng):
    errors = EffortNoise(COVARIANCE).draw(100_000, rate=200.0, rng=rng)
    assert abs(lag(errors, 1)).max() < 0.02


def test_the_ends_of_a_recording_are_as_noisy_as_its_middle(rng):
    many = 1000  # independent actuators stand for as many recordings; σ of each mean is 2.2 %
    noise = EffortNoise(np.eye(many), cutoff=10.0)
    power = np.mean([np.mean(noise.draw(8, rate=200.0, rng=rng) ** 2, axis=1) for _ in range(4)], axis=0)
    assert power == pytest.approx(np.ones(8), abs=0.1)


def test_outliers_are_added_to_the_same_noise(rng):
    noise = EffortNoise(COVARIANCE)
    clean = noise.draw(50_000, rate=100.0, rng=np.random.default_rng(1))
    spoilt = replace(noise, outliers=0.01).draw(50_000, rate=100.0, rng=np.random.default_rng(1))
    added = (spoilt - clean) / [0.2, 0.3]
    hit = abs(added) > 1e-9
    assert abs(added[hit]) == pytest.approx(20.0)
    assert hit.mean() == pytest.approx(0.01, rel=0.15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "negative eigenvalues"),
        ({"covariance": [[1.0, 2.0]]}, "square"),
        ({"covariance": [[np.nan]]}, "finite"),
        ({"cutoff": -1.0}, "cutoff"),
        ({"order": 0}, "order"),
        ({"outliers": 1.5}, "share"),
        ({"outlier_size": -1.0}, "outlier_size"),
    ],
)
def test_noise_that_cannot_be_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        EffortNoise(**{"covariance": COVARIANCE, **options})


def test_a_cutoff_beyond_the_samples_is_refused(rng):
    with pytest.raises(InputError, match="more than 400 samples"):
        EffortNoise(COVARIANCE, cutoff=200.0).draw(10, rate=100.0, rng=rng)


def test_uniform_errors_fill_their_bound_and_never_leave_it(rng):
    bound = np.array([0.1, 3.0])
    errors = UniformNoise(bound).draw(100_000, rate=1000.0, rng=rng)
    assert (abs(errors) <= bound).all()
    assert abs(errors).max(axis=0) == pytest.approx(bound, rel=1e-3)
    assert errors.var(axis=0) == pytest.approx(bound**2 / 3, rel=0.02)  # 3 standard deviations are below 1 %
    assert abs(lag(errors, 1)).max() < 0.02


@pytest.mark.parametrize("bound", [[-1.0], [np.inf], [np.nan], [], [[1.0]]])
def test_impossible_bounds_are_refused(bound):
    with pytest.raises(InputError, match="bound"):
        UniformNoise(bound)


def test_white_noise_is_independent():
    np.testing.assert_array_equal(EffortNoise.white([1.0, 2.0]).covariance, [[1.0, 0.0], [0.0, 4.0]])
