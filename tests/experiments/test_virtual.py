"""Virtual experiments: their noise is what it says it is, and a seed is a recording."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.experiments import EffortNoise, VirtualExperiment, five_bar
from gough.robots import efforts

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


def test_a_seed_is_a_recording():
    def record(seed):
        rng = np.random.default_rng(seed)
        return five_bar(rng, periods=1).run(rng)

    assert record(3) == record(3)
    assert record(3) != record(4)


def test_true_efforts_are_the_robots_own(rng):
    experiment = five_bar(rng, periods=1)
    recorded = experiment.run(rng)
    motion = (recorded.q, recorded.dq, recorded.ddq)
    assert np.array_equal(recorded.true_efforts, efforts(experiment.robot, experiment.parameters, *motion))
    assert recorded.errors == pytest.approx(recorded.efforts - recorded.true_efforts)
    assert experiment.robot.margin(recorded.q).min() > 0.3


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


def test_an_experiment_must_fit_its_robot(rng):
    good = five_bar(rng)
    with pytest.raises(InputError, match="21 parameters, not 3"):
        replace(good, parameters=np.ones(3))
    with pytest.raises(InputError, match="2 actuators, but the noise is that of 1"):
        VirtualExperiment(good.robot, good.motion, good.parameters, EffortNoise([[1.0]]), rate=100.0)
