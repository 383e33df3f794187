"""Isolated gaps: bridged with rows kept, at the cost that the account states; all others are masked."""

import re
from fractions import Fraction

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import Differentiate, DropMissing, LowPass, Recording, Trim, prepare
from gough.data.steps import _weights

COST = re.compile(r"at most about ([\d.e-]+) (rad|N·m)(?: and ([\d.e-]+) rad/s²)?")


def complete(rng, rate=1000.0, seconds=6.0, *, counts=0):
    """A motion and its effort, with dry friction that jumps; the encoder may have steps."""
    t = np.arange(int(seconds * rate)) / rate
    q = np.sin(6 * t) + 0.3 * np.sin(13 * t + 1) + 1e-4 * rng.normal(size=len(t))
    q = np.round(q * counts / 2 / np.pi) / counts * 2 * np.pi if counts else q
    effort = 3 * np.cos(6 * t) + 0.5 * np.sign(np.cos(6 * t)) + 0.05 * rng.normal(size=len(t))
    return Recording(["q1", "T1"], ["rad", "N·m"], np.stack([q, effort], axis=1), rate)


def with_gaps(recording, gaps, channels=(0, 1)):
    samples = recording.samples.copy()
    for begin, length in gaps:
        samples[begin : begin + length, channels] = np.nan
    return Recording(recording.names, recording.units, samples, recording.rate)


def prepared(recording, bridge=3, cutoff=20.0):
    return prepare(recording, ["q1"], ["T1"], [DropMissing(bridge=bridge), LowPass(cutoff), Differentiate(), Trim()])


@pytest.mark.parametrize("counts", [0, 4096])
@pytest.mark.parametrize(("rate", "cutoff"), [(1000.0, 20.0), (500.0, 10.0), (1000.0, 25.0), (2000.0, 20.0)])
def test_planted_gaps_cost_no_more_than_the_account_states(rng, rate, cutoff, counts):
    for _ in range(3):
        whole = complete(rng, rate, counts=counts)
        places = rng.choice(np.arange(300, len(whole) - 300, 20), size=40, replace=False)
        lost = with_gaps(whole, [(int(k), int(rng.integers(1, 4))) for k in places])
        truth, motion = prepared(whole, cutoff=cutoff), prepared(lost, cutoff=cutoff)
        assert motion.kept.all()
        said = {unit: (float(first), second) for first, unit, second in COST.findall(motion.account[1].did)}
        errors = abs(motion.q - truth.q).max(), abs(motion.efforts - truth.efforts).max()
        assert 0 < errors[0] <= said["rad"][0] < 30 * errors[0]
        assert 0 < errors[1] <= said["N·m"][0] < 30 * errors[1]
        assert abs(motion.ddq - truth.ddq).max() <= float(said["rad"][1])


def test_the_raw_error_is_stated_against_the_noise(rng):
    """For white noise σ, the cubic over one sample errs by σ √70/6 against the reading that was lost."""
    t = np.arange(20000) / 1000
    slow = np.stack([np.sin(3 * t), np.cos(3 * t)], axis=1)
    whole = Recording(["q1", "T1"], ["rad", "N·m"], slow + [1e-4, 0.05] * rng.normal(size=(20000, 2)), 1000.0)
    motion = prepared(with_gaps(whole, [(k, 1) for k in range(400, 19600, 60)]))
    text = motion.account[1].did
    error = float(re.search(r"'T1' is complete, they err by ([\d.]+) N·m", text)[1])
    times = float(re.search(r"'T1' .*?, ([\d.]+) times its noise", text)[1])
    assert error == pytest.approx(0.05 * np.sqrt(70) / 6, rel=0.06)
    assert times == pytest.approx(np.sqrt(70) / 6, rel=0.06)


def test_longer_gaps_are_masked_as_without_bridging(rng):
    whole = complete(rng)
    long, short = [(2000, 4), (4000, 50)], [(3000, 3), (1500, 1), (4500, 2)]
    both, masked = prepared(with_gaps(whole, long + short)), prepared(with_gaps(whole, long), bridge=0)
    assert np.array_equal(both.kept, masked.kept)
    assert not both.kept.all()
    text = both.account[1].did
    assert text.startswith("12 of 120 lost readings bridged by cubics, rows kept (")
    assert "; 108 other lost readings filled by lines, rows within 0.144 s of them masked" in text
    assert text.endswith("; bridged at this rate and cutoff: gaps of up to 3 samples whose error stays below the noise")
    every = prepared(with_gaps(whole, long + short), bridge=0)
    assert every.n_rows < both.n_rows
    assert every.account[1].did == "120 lost readings filled by lines, rows within 0.144 s of them masked"


@pytest.mark.parametrize(
    ("gaps", "rate", "cutoff", "bridge"),
    [
        ([(1000, 2)], 1000.0, 20.0, 1),  # longer than allowed
        ([(1000, 4)], 1000.0, 20.0, 3),
        ([(1000, 1)], 200.0, 20.0, 3),  # two of ten samples of the cutoff's period
        ([(1000, 3)], 400.0, 20.0, 3),
        ([(1000, 1), (1002, 1)], 1000.0, 20.0, 3),  # not isolated
    ],
)
def test_what_is_not_short_and_isolated_is_masked(rng, gaps, rate, cutoff, bridge):
    motion = prepared(with_gaps(complete(rng, rate, 9.0), gaps), bridge, cutoff)
    assert "bridged by cubics" not in motion.account[1].did
    assert not motion.kept.all()


def test_gaps_at_the_ends_are_masked(rng):
    lost = with_gaps(complete(rng), [(0, 1), (5998, 1)])
    assert prepared(lost).account[1].did.startswith("4 lost readings filled by lines")


def test_a_channel_that_is_wild_where_it_has_gaps_is_masked(rng):
    whole = complete(rng)
    samples = whole.samples.copy()
    samples[2950:3050, 1] += 20 * rng.normal(size=100)
    gaps = [(3000, 1)]
    wild = with_gaps(Recording(whole.names, whole.units, samples, whole.rate), gaps)
    motion = prepared(wild)
    assert motion.account[1].did.startswith("1 of 2 lost readings bridged by cubics, rows kept (where 'q1'")
    assert not motion.kept.all()


def test_without_a_low_pass_nothing_is_bridged(rng):
    lost = with_gaps(complete(rng), [(1000, 1)])
    motion = prepare(lost, ["q1"], ["T1"], [DropMissing(bridge=3, margin=0.01), Differentiate(), Trim(0.1)])
    assert motion.account[1].did == "2 lost readings filled by lines, rows within 0.01 s of them masked"


def test_a_position_that_is_bridged_spoils_no_row_of_other_actuators(rng):
    one = complete(rng)
    samples = np.concatenate([one.samples, complete(rng).samples], axis=1)
    samples[2000, 0] = np.nan
    samples[4000:4010, 3] = np.nan
    recording = Recording(["q1", "T1", "q2", "T2"], ["rad", "N·m"] * 2, samples, 1000.0)
    steps = [DropMissing(bridge=3), LowPass(20.0), Differentiate(), Trim()]
    kept = prepare(recording, ["q1", "q2"], ["T1", "T2"], steps).kept
    assert kept[:, 0].all()
    assert not kept[:, 1].all()


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_the_weights_are_those_of_the_cubic(gap):
    """Exact for 1, t, t², t³ in rationals: four conditions that determine four weights."""
    weights = [[Fraction(w).limit_denominator(1000) for w in row] for row in _weights(gap).tolist()]
    nodes = (-2, -1, gap, gap + 1)
    for power in range(4):
        assert [sum(w * Fraction(n) ** power for w, n in zip(row, nodes, strict=True)) for row in weights] == [
            Fraction(t) ** power for t in range(gap)
        ]


@pytest.mark.parametrize("bridge", [-1, 4, 1.5])
def test_a_wrong_length_is_refused(bridge):
    with pytest.raises(InputError, match="bridge must be a whole number from 0 to 3"):
        DropMissing(bridge=bridge)
