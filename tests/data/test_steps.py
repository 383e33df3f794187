"""Steps of a preparation: what each does, what each refuses, and that they only ever take rows away."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gough.core.errors import InputError
from gough.data import (
    Decimate,
    Differentiate,
    DropMissing,
    EffortFromDriveSignal,
    LowPass,
    MaskReversals,
    MaskWhere,
    MeasuredMotion,
    Recording,
    Trim,
    default_steps,
    prepare,
)

RATE = 1000.0
T = np.arange(4000) / RATE
NAMES = ("q1", "q2", "V1", "V2", "load")
SAMPLES = np.stack(
    [np.sin(9 * T), 2 * np.cos(5 * T), 3 * np.cos(9 * T), np.sin(5 * T), np.where(T < 1.0, 0.0, 7.0)], axis=1
)
RECORDING = Recording(NAMES, ["rad", "rad", "V", "V", "N"], SAMPLES, RATE)
MOTORS = {"motor 1": "V1", "motor 2": "V2"}


def prepared(*steps, recording=RECORDING) -> MeasuredMotion:
    return prepare(recording, ["q1", "q2"], MOTORS, steps)


def refusal(*steps, recording=RECORDING) -> str:
    with pytest.raises(InputError) as error:
        prepared(*steps, recording=recording)
    return str(error.value)


def with_lost(*places) -> Recording:
    samples = SAMPLES.copy()
    for sample, channel in places:
        samples[sample, NAMES.index(channel)] = np.nan
    return replace(RECORDING, samples=samples)


def test_the_default_preparation_gives_the_motion_that_was():
    motion = prepared(*default_steps(RATE, cutoff=40.0, gain=2.0))
    t = motion.times
    assert motion.rate == 200.0
    assert motion.effort_units == ("N·m", "N·m")
    # two memories from the ends the filter has forgotten all but 1e-6 of what came in; differences fall short by
    # (ωΔ)²/6 and (ωΔ)²/12
    assert motion.q[:, 0] == pytest.approx(np.sin(9 * t), abs=1e-8)
    assert motion.dq[:, 0] == pytest.approx(9 * (1 - 81e-6 / 6) * np.cos(9 * t), abs=1e-6)
    assert motion.ddq[:, 0] == pytest.approx(-81 * (1 - 81e-6 / 12) * np.sin(9 * t), abs=1e-4)
    assert motion.efforts[:, 0] == pytest.approx(6 * np.cos(9 * t), abs=1e-6)
    assert motion.dq[:, 1] == pytest.approx(-10 * (1 - 25e-6 / 6) * np.sin(5 * t), abs=1e-6)


def test_gains_turn_currents_into_efforts():
    milliamperes = replace(RECORDING, units=("rad", "rad", "mA", "mA", "N"))
    motion = prepared(EffortFromDriveSignal(2.0), Differentiate(), recording=milliamperes)
    assert motion.efforts == pytest.approx(2e-3 * SAMPLES[1:-1, 2:4])
    assert "efforts are currents times 2 N·m/A" in str(motion)
    mixed = replace(RECORDING, units=("rad", "rad", "A", "V", "N"))
    refused = refusal(EffortFromDriveSignal(2.0), recording=mixed)
    assert "channel 'V2' is in V, not currents in A as another channel is" in refused


def test_gains_turn_volts_into_efforts():
    one, each = (prepared(EffortFromDriveSignal(g), Differentiate()) for g in (2.0, (2.0, -3.0)))
    assert np.array_equal(one.efforts, 2 * SAMPLES[1:-1, 2:4])
    assert np.array_equal(each.efforts, [2, -3] * SAMPLES[1:-1, 2:4])
    assert "efforts are voltages times 2, -3 N·m/V" in str(each)
    unstated = replace(RECORDING, units=("rad", "rad", "", "V", "N"))
    assert "no unit was stated: taken as V" in str(
        prepared(EffortFromDriveSignal(2.0), Differentiate(), recording=unstated)
    )
    newtons = replace(RECORDING, units=("rad", "rad", "N", "N", "N"))
    assert "channel 'V1' is in N, not in volts or amperes" in refusal(EffortFromDriveSignal(2.0), recording=newtons)
    assert "3 gains do not fit 2 actuators (motor 1, motor 2)" in refusal(EffortFromDriveSignal((1.0, 2.0, 3.0)))


def test_lost_samples_mask_their_rows_and_a_margin():
    motion = prepared(DropMissing(margin=0.002), Differentiate(), recording=with_lost((1000, "q1"), (2000, "V2")))
    places = np.rint(motion.times * RATE).astype(int)
    gone = [(places[i], j) for i, j in np.argwhere(~motion.kept).tolist()]
    assert gone == [*((i, j) for i in range(998, 1003) for j in (0, 1)), *((i, 1) for i in range(1998, 2003))]


def test_rows_that_survive_lost_samples_are_those_of_the_complete_recording():
    steps = default_steps(RATE, gain=2.0)
    whole = prepared(*steps)
    torn = prepared(*steps, recording=with_lost((1000, "q1"), (1001, "q1"), (2500, "V2"), (3000, "q2")))
    assert torn.n_rows < whole.n_rows
    assert not (torn.kept & ~whole.kept).any()
    # straight lines over two lost samples are off by q̈ Δ² at most; the filter forgets that to a thousandth
    line, pulsation = 1e-3 * 81 / RATE**2, 2 * np.pi * 20.0
    for field, size in (("q", line), ("dq", line * pulsation), ("ddq", line * pulsation**2), ("efforts", 6 * line)):
        ours, theirs = getattr(torn, field)[torn.kept], getattr(whole, field)[torn.kept]
        assert ours == pytest.approx(theirs, abs=size)


def test_longer_gaps_have_a_longer_margin():
    motion = prepared(
        DropMissing(), LowPass(20.0), Differentiate(), recording=with_lost(*((i, "V1") for i in range(50)))
    )
    assert np.flatnonzero(~motion.kept[:, 0]).tolist() == list(range(50 + 144 + 50 - 1))
    assert motion.kept[:, 1].all()


def test_lost_samples_are_refused_unless_dropped():
    assert refusal(LowPass(20.0), recording=with_lost((7, "V2"), (9, "V2"))) == (
        "the recording: channel 'V2' lacks 2 of 4000 samples, the first in row 8: put DropMissing() among the steps"
    )
    nothing = replace(RECORDING, samples=np.where(np.array(NAMES) == "q2", np.nan, SAMPLES))
    assert "every sample of 'q2' is missing" in refusal(DropMissing(), recording=nothing)
    assert "DropMissing must come before LowPass" in refusal(LowPass(20.0), DropMissing())
    assert prepared(Differentiate(), recording=with_lost((5, "load"))).n_rows == 2 * 3998


def test_the_low_pass_refuses_what_it_cannot_do():
    assert "needs more than 1200 samples a second, but there are 1000" in refusal(LowPass(600.0))
    assert "are too short for a low-pass at 0.5 Hz" in refusal(LowPass(0.5))
    assert "one is enough" in refusal(LowPass(20.0), LowPass(20.0))
    assert "LowPass must come before Differentiate" in refusal(Differentiate(), LowPass(20.0))


def test_the_low_pass_says_what_it_takes():
    """An encoder's steps of 1e-3 rad are 1e-3/√12 rms; noise of 0.1 V is taken nearly whole."""
    rng = np.random.default_rng(1)
    noisy = SAMPLES + [0, 0, 0, 0.1, 0] * rng.standard_normal(SAMPLES.shape)
    noisy[:, 0] = np.rint(noisy[:, 0] / 1e-3) * 1e-3
    account = prepared(LowPass(20.0), Differentiate(), recording=replace(RECORDING, samples=noisy)).account
    assert account[1].did == "took at most 0.00028 rad rms from positions and 0.098 V from efforts, without delay"


def test_decimation_needs_a_low_pass_that_is_low_enough():
    assert "folds high frequencies into low ones: filter first" in refusal(Differentiate(), Decimate(2))
    assert (
        "Decimate(25) leaves 40 samples a second, too few for the low-pass at 20 Hz: take a factor below 25"
        in refusal(LowPass(20.0), Differentiate(), Decimate(25))
    )
    every = prepared(LowPass(20.0), Differentiate())
    third = prepared(LowPass(20.0), Differentiate(), Decimate(3))
    assert np.array_equal(third.q, every.q[::3])
    assert third.account[-1].did == "1 of 3 samples: 333.3333333 Hz"
    assert third.times == pytest.approx(every.times[::3], abs=1e-12)
    assert "Decimate must come after Differentiate" in refusal(LowPass(20.0), Decimate(3), Differentiate())
    assert np.array_equal(prepared(Differentiate(), Decimate(1)).q, SAMPLES[1:-1, :2])


def test_trimming_takes_both_ends():
    motion = prepared(Differentiate(), Trim(0.1))
    assert motion.n_samples == 3998 - 200
    assert motion.times[0] == pytest.approx(0.101)
    assert prepared(LowPass(20.0), Differentiate(), Trim()).n_samples == 3998 - 2 * 288
    assert prepared(Differentiate(), Trim()).n_samples == 3998
    assert "trimming 2000 samples (2 s) at each end leaves nothing of 3998" in refusal(Differentiate(), Trim(2.0))


def test_rows_near_reversals_are_masked_by_actuator():
    motion = prepared(Differentiate(), MaskReversals(speed=0.05, within=0.03))
    for i in range(2):
        slow = abs(motion.dq[:, i]) < 0.05
        turned = motion.dq[1:, i] * motion.dq[:-1, i] < 0
        slow[1:] |= turned
        slow[:-1] |= turned
        near = np.array([slow[max(k - 30, 0) : k + 31].any() for k in range(len(slow))])
        assert np.array_equal(motion.kept[:, i], ~near)
    assert not np.array_equal(motion.kept[:, 0], motion.kept[:, 1])


def test_a_reversal_between_two_samples_is_not_missed():
    """At 100 Hz and 500 rad/s² no sample is slower than 0.05 rad/s."""
    t = np.arange(200) / 100.0
    samples = np.stack([250 * (t - 1.005) ** 2, np.ones(200) + t], axis=1)
    recording = Recording(["q1", "V1"], ["rad", "V"], samples, 100.0)
    motion = prepare(recording, ["q1"], ["V1"], [Differentiate(), MaskReversals(within=0.02)])
    assert abs(motion.dq).min() > 2.0
    assert np.flatnonzero(~motion.kept[:, 0]).tolist() == [97, 98, 99, 100, 101, 102]


def test_rows_are_masked_where_a_channel_says_so():
    loaded = prepared(Differentiate(), MaskWhere("load", lower=1.0))
    assert np.array_equal(loaded.kept[:, 0], loaded.times < 0.9995)
    assert np.array_equal(loaded.kept[:, 0], loaded.kept[:, 1])
    around = prepared(Differentiate(), MaskWhere("load", lower=1.0, within=0.01))
    assert np.array_equal(around.kept[:, 0], around.times < 0.9895)
    saturated = prepared(Differentiate(), MaskWhere("V1", upper=-2.9))
    assert saturated.kept[:, 1].all()
    assert np.array_equal(saturated.kept[:, 0], SAMPLES[1:-1, 2] > -2.9)
    late = prepared(LowPass(20.0), Differentiate(), Trim(0.5), Decimate(10), MaskWhere("time", 1.0, 2.0))
    assert np.array_equal(late.kept[:, 0], (late.times < 1.0) | (late.times > 2.0))
    assert "there is no channel 'laod'; did you mean 'load'" in refusal(Differentiate(), MaskWhere("laod"))


def test_masking_everything_is_refused_by_the_step_that_does_it():
    assert refusal(Differentiate(), MaskReversals(speed=100.0)) == (
        "recording: no row is left after MaskReversals(speed=100.0): 7996 rows masked (motor 1 3998, motor 2 3998): "
        "slower than 100 within ±0.03 s. Check the units of positions (degrees or radians) and of time, or state a "
        "lower speed"
    )


STEPS = st.lists(
    st.one_of(
        st.builds(Trim, st.floats(0, 0.3)),
        st.builds(Decimate, st.integers(1, 6)),
        st.builds(MaskReversals, st.floats(0, 1), st.floats(0, 0.1)),
        st.builds(MaskWhere, st.sampled_from(NAMES), st.floats(-1, 0), st.floats(0, 1), st.floats(0, 0.1)),
    ),
    max_size=5,
)  # fmt: skip


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_steps_never_add_rows_and_never_change_what_they_keep(steps):
    try:
        motion = prepared(LowPass(30.0), Differentiate(), *steps)
    except InputError as error:
        assert re_any(str(error))  # noqa: PT017
        return
    rows = [line.rows for line in motion.account]
    assert rows == sorted(rows, reverse=True)
    assert rows[-1] == motion.n_rows
    assert [line.samples for line in motion.account][-1] == motion.n_samples
    whole = prepared(LowPass(30.0), Differentiate())
    at = np.rint((motion.times - whole.times[0]) * RATE).astype(int)
    for field in ("q", "dq", "ddq", "efforts"):
        assert np.array_equal(getattr(motion, field), getattr(whole, field)[at])


def re_any(message: str) -> bool:
    return "no row is left" in message or "too few for the low-pass" in message


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LowPass(0.0), "a cutoff is a positive number of Hz, not 0.0"),
        (lambda: LowPass(20.0, order=0), "a whole number from 1 to 12, not 0"),
        (lambda: LowPass(20.0, order=2.5), "a whole number from 1 to 12, not 2.5"),
        (lambda: Decimate(0), "a whole number, at least 1, not 0"),
        (lambda: Trim(-1.0), "must not be negative, but are -1.0"),
        (lambda: MaskReversals(speed=-0.1), "speed must be a number ≥ 0, but is -0.1"),
        (lambda: MaskReversals(within=np.inf), "within must be a number ≥ 0, but is inf"),
        (lambda: MaskWhere("V1", 2.0, 1.0), "lower 2.0 must not exceed upper 1.0"),
        (lambda: EffortFromDriveSignal(0.0), "a gain is a finite number other than 0, but 0.0 was given"),
        (lambda: EffortFromDriveSignal(()), "a gain is a finite number other than 0"),
        (lambda: EffortFromDriveSignal(1.0, unit="mNm"), "efforts are in SI units, not in 'mNm'"),
        (lambda: DropMissing(margin=-1.0), "margin must be a number ≥ 0, but is -1.0"),
    ],
)
def test_steps_that_make_no_sense_are_refused(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)
