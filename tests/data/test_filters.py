"""Laws of the filters: no delay, linear, exact factors, a memory that ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gough.core.errors import InputError
from gough.data.filters import NEGLIGIBLE, advised_cutoff, differences, low_passed, memory, shortfall
from gough.data.steps import widened

RATE = 1000.0


def response(frequency, cutoff, order, rate):
    """|H|² of a digital Butterworth filter made by the bilinear transform: what two passes leave of a sine."""
    ratio = np.tan(np.pi * frequency / rate) / np.tan(np.pi * cutoff / rate)
    return 1 / (1 + ratio ** (2 * order))


@pytest.mark.parametrize("order", [1, 2, 4, 6])
@pytest.mark.parametrize("frequency", [0.5, 5.0, 20.0, 30.0])
def test_a_sine_keeps_its_phase_and_loses_what_the_formula_says(frequency, order):
    t = np.arange(8000) / RATE
    sines = np.stack([np.sin(2 * np.pi * frequency * t + 0.3), np.cos(2 * np.pi * frequency * t)], axis=1)
    passed = low_passed(sines, 20.0, order, RATE)
    inner = slice(3000, 5000)
    assert passed[inner] == pytest.approx(response(frequency, 20.0, order, RATE) * sines[inner], abs=2e-11)


def test_the_advised_cutoff_keeps_the_highest_harmonic_and_refuses_none():
    assert 1 - response(2.5, advised_cutoff(2.5), 2, RATE) < 0.002
    with pytest.raises(InputError, match="positive number of Hz"):
        advised_cutoff(0.0)


def test_at_the_cutoff_half_of_the_amplitude_is_left():
    assert response(20.0, 20.0, 4, RATE) == 0.5


def test_the_filter_does_not_delay(rng):
    noise = rng.standard_normal((4000, 1))
    passed = low_passed(noise, 25.0, 4, RATE)
    lags = np.arange(-200, 201)
    inner = slice(400, 3600)
    correlation = [float(noise[inner, 0] @ np.roll(passed[:, 0], lag)[inner]) for lag in lags]
    assert lags[np.argmax(correlation)] == 0


@given(place=st.integers(1500, 2500), order=st.integers(1, 6), cutoff=st.floats(5.0, 200.0))
@settings(max_examples=30, deadline=None)
def test_the_response_to_an_impulse_is_symmetric_and_forgotten_in_time(place, order, cutoff):
    impulse = np.zeros((4000, 1))
    impulse[place] = 1.0
    h = low_passed(impulse, cutoff, order, RATE)[:, 0]
    reach = min(place, len(h) - 1 - place)
    before, after = h[place - reach : place][::-1], h[place + 1 : place + 1 + reach]
    assert before == pytest.approx(after, abs=1e-12)
    late = memory(cutoff, order, RATE)
    # each of the poles adds at most its share to what is left
    assert abs(after[late:]).max(initial=0.0) <= order * NEGLIGIBLE * h[place]


@given(st.floats(-10, 10), st.floats(-10, 10), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_filters_and_differences_are_linear_and_commute(a, b, seed):
    x, y = np.random.default_rng(seed).standard_normal((2, 1500, 2))
    smooth = [low_passed(z, 30.0, 4, RATE) for z in (x, y, a * x + b * y)]
    assert smooth[2] == pytest.approx(a * smooth[0] + b * smooth[1], abs=1e-11)
    inner = slice(500, -500)
    for order in (0, 1):
        there = differences(low_passed(x, 30.0, 4, RATE), RATE)[order][inner]
        back = low_passed(differences(x, RATE)[order], 30.0, 4, RATE)[inner]
        assert there == pytest.approx(back, abs=1e-9 * RATE ** (order + 1))


def test_time_may_run_either_way(rng):
    x = rng.standard_normal((1500, 3))
    inner = slice(500, -500)  # which pass comes first matters at the ends
    reverse = low_passed(x[::-1], 30.0, 4, RATE)[::-1]
    assert reverse[inner] == pytest.approx(low_passed(x, 30.0, 4, RATE)[inner], abs=1e-13)


@given(omega=st.floats(0.01, 3.0), phase=st.floats(0, 6.0), rate=st.sampled_from([1.0, 2.0, 1000.0, 4096.0]))
def test_differences_of_a_sine_have_exactly_the_factors_of_theory(omega, phase, rate):
    """sin(ωΔ)/Δ and (2 sin(ωΔ/2)/Δ)², where ωΔ is `omega`; angles below 32 are off by at most 4e-15."""
    angle = omega * np.arange(8)[:, None] + phase
    dq, ddq = differences(np.sin(angle), rate)
    assert dq == pytest.approx(rate * np.sin(omega) * np.cos(angle[1:-1]), abs=8e-15 * rate)
    assert ddq == pytest.approx(-((2 * rate * np.sin(omega / 2)) ** 2) * np.sin(angle[1:-1]), abs=3e-14 * rate**2)
    turn = omega / (2 * np.pi) * rate
    assert shortfall(turn, rate)[0] == pytest.approx(1 - np.sin(omega) / omega, abs=1e-14)
    assert shortfall(turn, rate)[1] == pytest.approx(1 - (2 * np.sin(omega / 2) / omega) ** 2, abs=1e-14)


def test_parabolas_are_differentiated_exactly():
    t = np.arange(20.0)[:, None] / 4
    dq, ddq = differences(3 * t * t - t, 4.0)
    assert np.array_equal(dq, 6 * t[1:-1] - 1)
    assert np.array_equal(ddq, np.full((18, 1), 6.0))


def test_short_recordings_are_refused():
    with pytest.raises(InputError, match=r"144 samples \(0.144 s\) are too short for a low-pass at 20 Hz, .* than 144"):
        low_passed(np.zeros((144, 1)), 20.0, 4, RATE)
    assert low_passed(np.zeros((145, 1)), 20.0, 4, RATE).shape == (145, 1)


@given(rows=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40), samples=st.integers(0, 45))
def test_masks_widen_by_their_neighbours(rows, samples):
    mask = np.array(rows)
    near = [mask[max(i - samples, 0) : i + samples + 1].any(axis=0) for i in range(len(mask))]
    assert np.array_equal(widened(mask, samples), near)
