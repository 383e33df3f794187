"""Recordings with several clocks or uneven times, on one grid."""

import numpy as np
import pytest
from scipy.signal import resample_poly

from gough.core.errors import InputError
from gough.data import Recording, join_recordings, read_recording
from gough.data.overview import overview
from gough.data.resampling import PASSBAND


def sines(frequency, rate, count, start=0.0, name="x"):
    t = start + np.arange(count) / rate
    return Recording([name], [""], np.sin(2 * np.pi * frequency * t + 0.3)[:, None], rate, start)


@pytest.mark.parametrize("slow", [100.0, 333.0])
@pytest.mark.parametrize("share", [0.01, 0.2, PASSBAND])
def test_sines_in_the_band_are_kept(slow, share):
    """Both ways: to a faster and to a slower grid, at an offset that is no whole sample."""
    fast = Recording(["tau"], [""], np.zeros((3000, 1)), 1000.0)
    frequency = share * slow
    up = join_recordings([sines(frequency, slow, int(3 * slow), 0.00137), fast])
    assert abs(up["x"] - np.sin(2 * np.pi * frequency * up.times + 0.3)).max() < 1e-4
    other = Recording(["tau"], [""], np.zeros((int(3 * slow), 1)), slow)
    down = join_recordings([sines(frequency, 1000.0, 3000, 0.00037), other], rate=slow)
    assert down.rate == slow
    assert abs(down["x"] - np.sin(2 * np.pi * frequency * down.times + 0.3)).max() < 1e-4


def test_what_would_alias_is_removed():
    """170 Hz sampled at 100 Hz would look like 30 Hz."""
    grid = Recording(["tau"], [""], np.zeros((300, 1)), 100.0)
    down = join_recordings([sines(170.0, 1000.0, 3000), grid], rate=100.0)
    assert abs(down["x"]).max() < 1e-3


def test_agrees_with_scipy_on_random_signals():
    """Band-limited noise, up by 4: another filter with the same pass band."""
    rng = np.random.default_rng(1)
    t = np.arange(2000) / 100
    x = sum(rng.normal() * np.sin(2 * np.pi * f * t + rng.uniform(0, 6)) for f in rng.uniform(0, 30, 20))
    ours = join_recordings([
        Recording(["x"], [""], x[:, None], 100.0), Recording(["y"], [""], np.zeros((8000, 1)), 400.0)
    ])  # fmt: skip
    theirs = resample_poly(x, 4, 1, window=("kaiser", 9.0))
    begin = round(ours.start * 400)
    middle = slice(400, -400)
    assert abs(ours["x"] - theirs[begin : begin + len(ours)])[middle].max() < 2e-3 * abs(x).max()


def test_a_constant_stays_what_it_is():
    slow = Recording(["T"], ["K"], np.full((100, 1), 293.15), 10.0)
    fast = Recording(["q"], ["rad"], np.zeros((10000, 1)), 1000.0, 0.00012)
    together = join_recordings([slow, fast])
    assert abs(together["T"] / 293.15 - 1).max() < 1e-14
    assert together.units == ("K", "rad")


def test_a_lost_sample_stays_lost():
    slow = sines(1.0, 100.0, 300)
    samples = slow.samples.copy()
    samples[150] = np.nan
    together = join_recordings([
        Recording(["x"], [""], samples, 100.0), Recording(["y"], [""], np.zeros((3000, 1)), 1000.0)
    ])  # fmt: skip
    lost = together.times[np.isnan(together["x"])]
    assert 1.5 - 0.17 < lost.min() < 1.5 < lost.max() < 1.5 + 0.17


@pytest.mark.parametrize(
    ("recordings", "reason"),
    [
        ([], "no recording to join"),
        ([sines(1, 100, 100), sines(1, 200, 100)], "channel 'x' stands in more than one"),
        ([sines(1, 100, 100), sines(1, 200, 100, 50.0, "y")], "overlap in too short a time"),
        ([sines(1, 100, 20), sines(1, 200, 40, 0.001, "y")], "needs 16 samples at each end"),
    ],
)
def test_refusals(recordings, reason):
    with pytest.raises(InputError, match=reason):
        join_recordings(recordings)


@pytest.fixture
def jittery(tmp_path):
    """Exact instants that deviate by up to 40 % of a period; two samples are lost."""
    rng = np.random.default_rng(0)
    t = np.delete(np.arange(2000) / 1000 + rng.uniform(-4e-4, 4e-4, 2000), [500, 501])
    path = tmp_path / "jitter.csv"
    np.savetxt(path, np.c_[t, np.sin(20 * t)], delimiter=",", header="t [s],q1 [rad]", comments="", fmt="%.12f")
    return path


def test_uneven_instants_are_interpolated(jittery):
    with pytest.raises(InputError, match=r"resample=True \(in a study, resample = true in \[data\]\)"):
        read_recording(jittery, time="t", missing="mask")
    with pytest.raises(InputError, match="without a sample end there"):
        read_recording(jittery, time="t", resample=True)
    recording = read_recording(jittery, time="t", resample=True, missing="mask")
    assert recording.rate == 1000.0
    assert np.nanmax(abs(recording["q1"] - np.sin(20 * recording.times))) < 1e-7
    lost = np.flatnonzero(np.isnan(recording["q1"]))
    assert 2 <= lost.size <= 4
    assert set(lost) <= set(range(499, 503))
    assert "were interpolated by cubic splines to 1000 Hz" in recording.notes[0]


def test_overview_counts_what_is_wrong_with_a_clock(jittery, tmp_path):
    (group,) = overview(jittery).groups
    assert group.time == "t [s]"
    assert (group.clock.gaps, group.clock.lost, group.clock.duplicates, group.clock.backwards) == (1, 2, 0, 0)
    assert group.clock.rate == pytest.approx(1000, rel=1e-3)
    assert group.clock.jitter == pytest.approx(0.8 / np.sqrt(6), rel=0.1)  # a difference of two uniform numbers
    path = tmp_path / "doubled.csv"
    path.write_text("time,q1,label\n0,1,a\n1,1,b\n1,2,c\n2,1,d\n1.5,3,e\n3,2,f\n4,2,g\n")
    (group,) = overview(path).groups
    assert (group.clock.duplicates, group.clock.backwards) == (1, 1)
    assert [channel.name for channel in group.channels] == ["q1"]
    assert any("label" in remark for remark in group.remarks)


def test_proposal_is_a_table_that_a_study_reads(tmp_path):
    import tomllib

    path = tmp_path / 'run "2".csv'
    path.write_text('t [ms],"joint1.position","joint1.velocity","joint1.effort",temperature\n0,0,0,1,20\n1,1,1,1,20\n')
    proposal = tomllib.loads(overview(path).proposal)["data"]
    assert proposal["time"] == "t"
    assert proposal["recordings"] == [{"file": 'run "2".csv'}]
    assert proposal["columns"] == {"q1": "joint1.position", "tau1": "joint1.effort"}
    columns = proposal["columns"]
    assert read_recording(path, columns=columns, time="t").rate == 1000.0
