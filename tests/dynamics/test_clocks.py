"""Two clocks: offset and drift of the efforts with ±, corrected by resampling; and the study that asks for it."""

import numpy as np
import pytest

from gough import InputError
from gough.cli.app import run
from gough.data import Recording, default_steps, write_recording
from gough.data.clock_correction import retimed
from gough.dynamics.clocks import compare_clocks
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries
from gough.studies import IdentificationStudy

RATE = 200.0
ROBOT = FiveBar.demo()
EFFORTS = ("tau1", "tau2")
PATH = FourierSeries.random(np.random.default_rng(5), offset=[2.0, 1.1], amplitude=0.5, frequency=0.25)


def simulated(seed, late, drift, seconds=12.0):
    """Truth at the instants that the late and drifting clock stamps: nothing is interpolated."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    happened = (t - late + drift * t[-1] / 2) / (1 + drift)
    tau = efforts(ROBOT, ROBOT.nominal, *PATH.at(happened)[-3:])
    tau = tau + 0.01 * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    samples = np.hstack([PATH.at(t)[-3], tau])
    return Recording([*ROBOT.coordinates, *EFFORTS], ["rad", "rad", "N·m", "N·m"], samples, RATE)


@pytest.mark.parametrize(("late", "drift"), [(0.0, 0.0), (0.001, 1e-4), (0.005, -1e-4), (0.12, 0.0), (-0.3, 1e-4)])
def test_offset_and_drift_are_found_within_four_sigma(late, drift):
    found = compare_clocks(ROBOT, simulated(3, late, drift), ROBOT.coordinates, EFFORTS, default_steps(RATE))
    assert abs(found.late - late) < 4 * found.late_sigma
    assert abs(found.drift - drift) < 4 * found.drift_sigma
    assert found.late_sigma < 0.5e-3
    assert found.drift_sigma < 5e-5


def test_a_corrected_recording_has_no_offset_left():
    recording = simulated(4, 0.005, 1e-4)
    steps = default_steps(RATE)
    found = compare_clocks(ROBOT, recording, ROBOT.coordinates, EFFORTS, steps)
    assert found.is_shown
    moved = retimed(recording, EFFORTS, found.late, found.drift)
    again = compare_clocks(ROBOT, moved, ROBOT.coordinates, EFFORTS, steps)
    assert not again.is_shown
    assert moved.start > recording.start
    assert abs(moved.start * RATE - round(moved.start * RATE)) < 1e-6


def test_correction_keeps_sines_in_the_band_and_the_rows():
    t = np.arange(2000) / 100
    for late, drift in ((0.0, 0.0), (0.037, 1e-3), (-0.2, -1e-3)):
        true = (t - late + drift * t[-1] / 2) / (1 + drift)
        both = Recording(["q", "u"], ["rad", "V"], np.stack([np.sin(60 * t), np.sin(60 * true)], 1), 100.0)
        moved = retimed(both, ["u"], late, drift)
        assert np.abs(moved["u"] - moved["q"]).max() < 2e-4
        assert np.abs(moved["q"] - np.sin(60 * moved.times)).max() < 1e-9
        assert moved.row_of([0]) == round(moved.start * 100) + 1
    with pytest.raises(InputError, match="leaves no common time"):
        retimed(both, ["u"], 50.0)


def test_what_jitter_and_lost_samples_cost_is_said():
    recording = simulated(5, 0.0, 0.0)
    samples = recording.samples.copy()
    samples[700:940, 2] = np.nan
    lossy = Recording(recording.names, recording.units, samples, RATE, jitter=1e-3)
    found = compare_clocks(ROBOT, lossy, ROBOT.coordinates, EFFORTS, default_steps(RATE))
    assert found.lost == 240
    assert found.loss_cost == pytest.approx(np.sqrt(2400 / 2160) - 1)
    assert "240 of 2400 samples are missing, which raises σ by 5.4%" in found.costs
    assert found.jitter_cost == pytest.approx(np.sqrt(1 + 0.21 * (1e-3 / found.jitter_tenth) ** 2) - 1)


def test_the_interval_follows_the_efforts_and_their_noise():
    """Volts with a gain are the same efforts; a noisy actuator does not spoil what the other one tells."""
    steps = default_steps(RATE)
    recording = simulated(11, 0.002, 0.0)
    plain = compare_clocks(ROBOT, recording, ROBOT.coordinates, EFFORTS, steps)
    volts = Recording(recording.names, ("rad", "rad", "V", "V"), recording.samples / [1, 1, 4.0, -2.5], RATE)
    by_gain = compare_clocks(ROBOT, volts, ROBOT.coordinates, EFFORTS, default_steps(RATE, gain=(4.0, -2.5)))
    assert by_gain.late == pytest.approx(plain.late, abs=1e-3 * plain.late_sigma)
    assert by_gain.late_sigma == pytest.approx(plain.late_sigma, rel=1e-3)
    noisy = recording.samples.copy()
    noisy[:, 3] += 1.0 * np.random.default_rng(0).normal(size=len(noisy))
    spoiled = compare_clocks(
        ROBOT, Recording(recording.names, recording.units, noisy, RATE), ROBOT.coordinates, EFFORTS, steps
    )
    assert abs(spoiled.late - 0.002) < 3 * spoiled.late_sigma < 0.006


STUDY = """[robot]
family = "five-bar"
[data]
clocks = "{}"
[[data.recordings]]
file = "run.csv"
[methods]
use = ["least-squares"]
"""


def test_a_study_reports_and_corrects_clocks(tmp_path, capsys):
    write_recording(tmp_path / "run.csv", simulated(6, 0.005, 0.0))
    said = {}
    for word in ("one", "compare", "correct"):
        (tmp_path / "study.toml").write_text(STUDY.format(word))
        motion = IdentificationStudy.read(tmp_path / "study.toml").motion()
        said[word] = " ".join(each.did for each in motion.account)
    assert "late" not in said["one"]
    assert 'not corrected: state clocks = "correct"' in said["compare"]
    assert "; corrected by band-limited interpolation" in said["correct"]
    (tmp_path / "study.toml").write_text(STUDY.format("two"))
    assert run(["identify", str(tmp_path / "study.toml")]) == 2
    assert "clocks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: np.where(np.arange(len(t)) >= 500, t - 0.4, t), "time runs backwards"),
        (lambda t: np.where(np.arange(len(t)) >= 500, t - t[500], t), "are two recordings in one file"),
        (lambda t: np.where(np.arange(len(t)) == 500, t[499], t), "time stands still"),
        (lambda t: np.where(np.arange(len(t)) >= 500, t + 3600, t), "3600 s|missing|gap|lost"),
    ],
)
def test_clocks_that_jump_are_answered_in_one_line(tmp_path, spoil, said, capsys):
    recording = simulated(7, 0.0, 0.0)
    t = spoil(recording.times)
    rows = [",".join(map(repr, map(float, row))) for row in np.column_stack([t, recording.samples])]
    (tmp_path / "run.csv").write_text("\n".join(["time," + ",".join(recording.names), *rows]))
    (tmp_path / "study.toml").write_text(STUDY.format("correct"))
    assert run(["identify", str(tmp_path / "study.toml")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert any(word in told for word in said.split("|"))
    assert "Traceback" not in told
