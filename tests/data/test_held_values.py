"""Positions that stop from one sample to the next, and those that come to rest as joints do."""

import numpy as np
import pytest

from gough.data import Decimate, Differentiate, DropMissing, LowPass, MaskWhere, Recording, Trim, prepare
from gough.data.held_values import held_value

COUNT = 2 * np.pi / 20_000
RATE = 1000.0
T = np.arange(6000) / RATE


def counted(x, step=COUNT):
    return np.round(x / step) * step


def swing(rng):
    amplitude, frequency, phase = rng.uniform(0.3, 1.5, 3), rng.uniform(0.2, 2.0, 3), rng.uniform(0, 6, 3)
    return (amplitude[:, None] * np.sin(2 * np.pi * frequency[:, None] * T + phase[:, None])).sum(axis=0)


def test_a_sensor_that_drops_out_is_found_wherever_it_moves():
    rng = np.random.default_rng(5)
    missed = judged = 0
    for _ in range(200):
        x = swing(rng)
        first, length = int(rng.integers(100, 4000)), int(rng.integers(60, 1500))
        speed = abs(x[first] - x[first - 20]) / 0.02
        stuck = counted(x)
        stuck[first : first + length] = stuck[first]
        found = held_value(stuck, RATE)
        steady = abs(x[first] - x[first - 5]) / 0.005 > 0.9 * speed
        if speed < 60 * COUNT / 0.02 or not steady:
            continue  # too slow, or braking anyway
        if found is None:
            missed += 1
            continue
        judged += 1
        assert abs(found.first - first) <= 2
        assert found.length >= length
        assert found.speed == pytest.approx(speed, rel=0.3)
    assert judged > 100
    assert missed <= 2


@pytest.mark.parametrize("brake", [0.006, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("step", [0.0, COUNT, 10 * COUNT])
def test_joints_that_brake_are_not_accused(brake, step):
    rng = np.random.default_rng(7)
    for _ in range(60):
        speed, stop = rng.uniform(0.1, 10.0), rng.uniform(1.0, 4.0)
        rate = np.clip((stop + brake / 2 - T) / brake, 0.0, 1.0)  # even braking around `stop`, then rest
        x = np.cumsum(speed * rate) / RATE
        assert held_value(counted(x, step) if step else x, RATE) is None


def test_motions_and_slow_logs_are_not_accused():
    rng = np.random.default_rng(9)
    for _ in range(100):
        x = swing(rng)
        assert held_value(counted(x, rng.choice([COUNT, 20 * COUNT])), RATE) is None
        assert held_value(np.repeat(counted(x)[::16], 16), RATE) is None  # read at 62.5 Hz, logged at 1 kHz


@pytest.mark.parametrize("x", [np.zeros(0), np.zeros(1), np.ones(500), np.full(500, np.nan), np.arange(3.0)])
def test_hardly_any_samples(x):
    assert held_value(x, RATE) is None


def test_missing_samples_end_a_repetition():
    x = counted(swing(np.random.default_rng(1)))
    x[2000:4000:30] = np.nan
    assert held_value(x, RATE) is None


def stuck_recording():
    x, y = counted(np.sin(3 * T)), np.cos(3 * T)
    x[3200:] = x[3200]
    return Recording(["q1", "tau1"], ["rad", "N·m"], np.stack([x, y], 1), RATE, source="log.csv")


def test_a_recording_remarks_on_it_and_says_what_to_do():
    (remark,) = stuck_recording().remarks
    assert remark.startswith("channel 'q1' holds -0.1744 rad for 2.800 s from row 3201 on, though it moved at 2.969")
    assert len(remark) < 250
    assert 'mask = [{channel = "time", lower = 3.2, upper = 6, within = "0.15 s"}]' in remark
    steps = (LowPass(20.0), Differentiate(), Trim())
    assert remark in prepare(stuck_recording(), ["q1"], ["tau1"], steps).account[0].remarks
    seen = prepare(stuck_recording(), ["q1"], ["tau1"], steps).dropouts
    assert [(each.channel, each.kind, each.row, each.is_left_out) for each in seen] == [("q1", "held", 3201, False)]
    masked = prepare(stuck_recording(), ["q1"], ["tau1"], (*steps, MaskWhere("time", 3.2, 6.0)))
    assert [each.is_left_out for each in masked.dropouts] == [True]
    assert not masked.account[0].remarks
    assert not Recording(["tau1"], ["N·m"], stuck_recording().samples[:, :1], RATE).remarks  # efforts may jump


def test_missing_samples_are_a_dropout_that_is_left_out():
    whole = stuck_recording()
    samples = np.array(whole.samples[:3000])
    samples[1000:1200, 1] = np.nan
    steps = (DropMissing(), LowPass(20.0), Differentiate(), Trim())
    (seen,) = prepare(Recording(whole.names, whole.units, samples, RATE), ["q1"], ["tau1"], steps).dropouts
    assert (seen.channel, seen.kind, seen.row, seen.duration, seen.is_left_out) == ("tau1", "missing", 1001, 0.2, True)


def test_positions_that_no_row_sees_need_not_be_reachable():
    steps = (LowPass(20.0), Differentiate(), Trim(), MaskWhere("time", 3.2, 6.0, within=0.15), Decimate(10))
    wrong = stuck_recording()
    samples = wrong.samples.copy()
    samples[4000:4100, 0] = 50.0  # far beyond what a joint does
    spoilt = Recording(wrong.names, wrong.units, samples, RATE)
    motion = prepare(spoilt, ["q1"], ["tau1"], steps)
    right = prepare(wrong, ["q1"], ["tau1"], steps)
    assert abs(motion.full_rate.q).max() < 1.1
    assert np.array_equal(motion.full_rate.at, right.full_rate.at)
    last = int(right.full_rate.at[right.kept.any(axis=1)].max())
    assert motion.full_rate.ddq[:last] == pytest.approx(right.full_rate.ddq[:last], abs=1e-6)
    assert (motion.full_rate.dq[-500:] == 0).all()


def test_a_position_that_jumps_after_it_was_held():
    """Slow motion does not tell a stop from rest, but no joint starts by a thousand steps of its encoder."""
    x = counted(0.5 * np.sin(T))
    x[2500:2800] = x[2499]
    found = held_value(x, RATE)
    assert (found.first, found.first + found.length, found.speed) == (2499, 2800, 0.0)
    assert found.jump == pytest.approx(abs(0.5 * np.sin(2.8) - 0.5 * np.sin(2.499)), abs=2 * COUNT)
    assert "and then jumps by 0.13" in found.in_words("rad")


def test_a_robot_that_mostly_rests_is_not_accused():
    """Its first steps are many units of a fine encoder, but no more than those that follow."""
    t = np.arange(200_000) / 100.0
    x = np.where(t > 1999.5, 0.5 * 10.0 * (t - 1999.5) ** 2, 0.0)
    assert held_value(counted(x, 1e-7), 100.0) is None
