"""Amplifier gains from static force tests."""

from fractions import Fraction

import numpy as np
import pytest

from gough import InputError, Status
from gough.dynamics import gain_from_static_tests

V = np.tile(np.linspace(-5, 5, 11), 2)


def forces(rng, *, gain=2.5, lever=0.375, offset=0.0, sigma=0.3, curve=0.0):
    return (gain * V + offset + curve * V**3) / lever + rng.normal(0, sigma, len(V))


def test_line_is_numpys_and_sigma_is_what_repetition_shows(rng):
    gains, sigmas = [], []
    for _ in range(300):
        F = forces(rng)
        found = gain_from_static_tests(V, F, 0.375)
        gains.append(found.gain)
        sigmas.append(found.fit.region.sigma[0])
        assert (found.gain, found.offset) == pytest.approx(tuple(np.polyfit(V, 0.375 * F, 1)))
    assert np.mean(gains) == pytest.approx(2.5, abs=4 * np.std(gains) / np.sqrt(300))
    assert np.mean(sigmas) == pytest.approx(np.std(gains), rel=0.15)


def test_hull_holds_the_truth_when_the_resolution_holds(rng):
    for _ in range(20):
        F = (2.5 * V + 0.2) / 0.375 + rng.uniform(-0.5, 0.5, len(V))
        found = gain_from_static_tests(V, F, 0.375, resolution=0.5)
        assert [2.5, 0.2] in found.hull.region
        assert "for certain" in found.verdict


def test_friction_beyond_the_resolution_is_said(rng):
    F = (2.5 * V + 0.4 * rng.choice([-1, 1], len(V))) / 0.375
    found = gain_from_static_tests(V, F, 0.375, resolution=0.1)
    assert found.hull.status is Status.INCONSISTENT
    assert "dry friction holds part of the torque back" in found.verdict


def test_an_offset_is_seen(rng):
    assert gain_from_static_tests(V, forces(rng, offset=2.0), 0.375).offset_is_zero is False
    assert "is not zero" in gain_from_static_tests(V, forces(rng, offset=2.0), 0.375).verdict


def test_linearity_is_judged_at_its_level(rng):
    straight = [gain_from_static_tests(V, forces(rng), 0.375).nonlinearity_p for _ in range(400)]
    assert np.mean(np.array(straight) < 0.05) == pytest.approx(0.05, abs=0.035)
    curved = gain_from_static_tests(V, forces(rng, curve=-0.02), 0.375)
    assert curved.nonlinearity_p < 1e-6
    # a cubic of odd powers departs from its best line by 0.2 of its size at these voltages, or so
    assert 0.01 < curved.nonlinearity < 0.1
    assert "Not linear" in curved.verdict


def test_exact_data():
    found = gain_from_static_tests([-1, 0, 1, 2, 3], [-4.0, 0.0, 4.0, 8.0, 12.0], 0.25)
    assert found.gain == pytest.approx(1.0)
    assert found.nonlinearity == pytest.approx(0.0, abs=1e-12)
    assert "The tests do not refute linearity" in found.verdict
    assert "gain" in str(found)


def test_few_voltages_show_no_curvature():
    found = gain_from_static_tests([1, 1, 2, 2], [4.0, 4.1, 8.0, 8.1], 0.25)
    assert np.isnan(found.nonlinearity)
    assert "too few different voltages" in found.verdict


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2], 0.1), "at least 3"),
        (([1, 1, 1], [1, 2, 3], 0.1), "same voltage"),
        (([1, 2, 3], [1, 2], 0.1), "one force for each"),
        (([1, 2, np.nan], [1, 2, 3], 0.1), "finite"),
        (([1, 2, 3], [1, 2, 3], 0.0), "lever"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        gain_from_static_tests(*arguments)


def test_a_resolution_must_be_positive():
    with pytest.raises(InputError, match="resolution"):
        gain_from_static_tests([1, 2, 3], [1, 2, 3], 0.1, resolution=0.0)


def test_bounds_hold_for_the_exact_products_with_the_lever(rng):
    """Two tests of the same voltage whose forces differ by twice the resolution leave one torque: the exact one."""
    for _ in range(50):
        lever, force, resolution = rng.uniform(0.1, 1), rng.uniform(1, 9), 2.0 ** -rng.integers(2, 9)
        low = np.ldexp(np.round(np.ldexp(force, 20)), -20)  # so that low + 2 resolution is a double
        found = gain_from_static_tests(
            [0.0, 0.0, 1.0, 2.0], [low, low + 2 * resolution, low, low], lever=lever, resolution=resolution
        )
        exact = Fraction(lever) * (Fraction(low) + Fraction(resolution))  # the only offset that fits both
        box = found.hull.region
        assert box.lower[1] <= exact <= box.upper[1]
