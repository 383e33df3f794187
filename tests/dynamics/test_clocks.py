"""Two clocks: offset and drift of the efforts with ±, corrected by resampling; and the study that asks for it."""

import numpy as np
import pytest

from gough import InputError, estimate
from gough.cli.app import run
from gough.data import MeasuredMotion, Recording, default_steps, prepare, write_recording
from gough.data.clock_correction import retimed
from gough.dynamics import base_values, identify, recorded, reduced
from gough.dynamics.clock_errors import with_clock_errors
from gough.dynamics.clocks import compare_clocks, prepare_corrected
from gough.methods import WeightedLeastSquares, identifiability
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries
from gough.studies import IdentificationStudy

RATE = 200.0
ROBOT = FiveBar.demo()
EFFORTS = ("tau1", "tau2")
PATH = FourierSeries.random(np.random.default_rng(5), offset=[2.0, 1.1], amplitude=0.5, frequency=0.25)


def simulated(seed, late, drift, seconds=12.0, noise=0.01):
    """Truth at the instants that the late and drifting clock stamps: nothing is interpolated."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    happened = (t - late + drift * t[-1] / 2) / (1 + drift)
    tau = efforts(ROBOT, ROBOT.nominal, *PATH.at(happened)[-3:])
    tau = tau + noise * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
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


def base_estimate(motion):
    problem = recorded(ROBOT, motion)
    known = identifiability(problem, rtol=1e-6)
    base, method = reduced(problem, known), WeightedLeastSquares()
    answer = estimate(base, method)
    return answer, with_clock_errors(answer, method, base, motion), base_values(known, ROBOT.nominal)


def test_the_parameters_follow_the_clocks_as_the_correction_with_other_clocks_shows():
    """J C Jᵀ against identifications of the recording corrected by clocks that are half a σ off, resampled anew."""
    # half a sample: clocks that are half a σ off leave the same samples
    recording, steps = simulated(13, 0.0025, 1e-4), default_steps(RATE)
    channels = (ROBOT.coordinates, EFFORTS, steps)
    found = compare_clocks(ROBOT, recording, *channels)
    plain, wide, _ = base_estimate(prepare_corrected(ROBOT, recording, *channels, clocks=found))
    actuators = dict(zip(ROBOT.actuators, EFFORTS, strict=True))

    def at(late, drift):
        moved = retimed(recording, EFFORTS, found.late + late, found.drift + drift)
        return base_estimate(prepare(moved, ROBOT.coordinates, actuators, steps))[0].value

    h, k = found.late_sigma / 2, found.drift_sigma / 2
    J = np.stack([(at(h, 0) - at(-h, 0)) / (2 * h), (at(0, k) - at(0, -k)) / (2 * k)], axis=1)
    expected = J @ found.covariance @ J.T
    added = wide.region.covariance - plain.region.covariance
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(added / np.outer(size, size), expected / np.outer(size, size), atol=0.02)
    assert (wide.region.sigma > plain.region.sigma).all()
    assert "Errors of the clocks multiply σ of" in wide.notes[-1]
    assert (wide.value == plain.value).all()


@pytest.mark.slow
def test_intervals_of_parameters_hold_after_a_correction():
    """Errors of base parameters in σ over 30 recordings: those of the clocks are needed for the stated size."""
    z, narrow = [], []
    for seed in range(30):
        recording, steps = simulated(1000 + seed, 0.005, 1e-4, noise=0.02), default_steps(RATE)
        channels = (ROBOT.coordinates, EFFORTS, steps)
        found = compare_clocks(ROBOT, recording, *channels)
        plain, wide, truth = base_estimate(prepare_corrected(ROBOT, recording, *channels, clocks=found))
        z.append((wide.value - truth) / wide.region.sigma)
        narrow.append((plain.value - truth) / plain.region.sigma)
    # the mean of 30 squares of a normal number is known to 26 %; parameters of one recording are not independent
    assert 0.75 < np.mean(np.square(z)) < 1.3
    assert np.mean(np.square(narrow)) > np.mean(np.square(z))
    assert 0.92 < np.mean(np.abs(z) < 1.96) < 0.98


def test_sets_and_joined_recordings_know_of_corrected_clocks():
    recording, steps = simulated(14, 0.003, 0.0), default_steps(RATE)
    channels = (ROBOT.coordinates, EFFORTS, steps)
    found = compare_clocks(ROBOT, recording, *channels)
    motion = prepare_corrected(ROBOT, recording, *channels, clocks=found)
    answer = identify(ROBOT, motion, methods=["weighted", "ellipsoid"], compare=False)
    assert any("errors of the clocks are not in it" in note for note in answer["ellipsoid"].notes)
    plain = prepare(recording, ROBOT.coordinates, dict(zip(ROBOT.actuators, EFFORTS, strict=True)), steps)
    both = MeasuredMotion.concatenate(motion, plain, motion)
    errors = both.clock_errors
    assert errors.slopes.shape == (*both.q.shape, 4)
    n = len(motion)
    assert not errors.slopes[n : n + len(plain)].any()
    assert not errors.slopes[:n, :, 2:].any()
    np.testing.assert_array_equal(errors.covariance[2:, 2:], found.covariance)
    assert not errors.covariance[:2, 2:].any()
    np.testing.assert_array_equal(both.select(slice(5, 9)).clock_errors.slopes, errors.slopes[5:9])


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
