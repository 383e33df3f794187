"""From recordings to a motion, and motions as values."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import (
    Decimate,
    Differentiate,
    DropMissing,
    LowPass,
    MeasuredMotion,
    Recording,
    StepReport,
    Trim,
    default_steps,
    prepare,
    read_recording,
)

RATE = 500.0
T = np.arange(2000) / RATE


def swing(omega: float, rate: float = RATE) -> Recording:
    samples = np.stack([np.sin(omega * T), np.cos(omega * T), 2 * np.sin(omega * T), np.cos(2 * T)], axis=1)
    return Recording(["q1", "q2", "u1", "u2"], ["rad", "rad", "V", "V"], samples, rate, source=f"swing-{omega:g}.csv")


SLOW, FAST = swing(3.0), swing(12.0)
STEPS = default_steps(RATE, gain=1.5)
Q, U = ["q1", "q2"], {"motor 1": "u1", "motor 2": "u2"}
FIELDS = ("q", "dq", "ddq", "efforts", "kept")


def test_several_recordings_are_prepared_each_for_itself():
    both = prepare([SLOW, FAST], Q, U, STEPS)
    apart = [prepare(one, Q, U, STEPS) for one in (SLOW, FAST)]
    for field in FIELDS:
        assert np.array_equal(getattr(both, field), np.concatenate([getattr(one, field) for one in apart]))
    assert both.pieces == (slice(0, len(apart[0])), slice(len(apart[0]), len(both)))
    assert np.diff(both.positions)[len(apart[0]) - 1] == 1 + both.rate  # a second between them
    assert both.n_rows == sum(one.n_rows for one in apart)
    assert [line.step for line in both.account if "swing" in line.step] == ["swing-3.csv", "swing-12.csv"]


def test_units_of_the_recording_do_not_matter():
    other = SLOW.in_units({"q1": "deg", "q2": "rev", "u1": "mV"})
    one, same = (prepare(recording, Q, U, STEPS) for recording in (SLOW, other))
    assert same.coordinate_units == one.coordinate_units == ("rad", "rad")
    for field in FIELDS[:4]:
        assert getattr(same, field) == pytest.approx(getattr(one, field), rel=1e-9, abs=1e-9)


def test_other_channels_do_not_matter():
    swapped = SLOW.select(["u2", "q1", "u1", "q2"])
    assert prepare(swapped, Q, U, STEPS) == prepare(SLOW, Q, U, STEPS)


def test_names_are_those_of_the_robot():
    motion = prepare(SLOW, {"arm 1": "q1", "arm 2": "q2"}, ["u1", "u2"], STEPS)
    assert motion.coordinates == ("arm 1", "arm 2")
    assert motion.actuators == ("u1", "u2")
    assert np.array_equal(motion.q, prepare(SLOW, Q, U, STEPS).q)


def test_the_account_is_printed():
    text = str(prepare(replace(SLOW, samples=100 * SLOW.samples), Q, U, STEPS))
    lines = text.splitlines()
    assert lines[0].endswith("rows of 342 samples × 2 actuators at 100 Hz")  # (1998 − 4 · 72) / 5
    assert [line.split("  ")[0] for line in lines[3:10]] == [
        "swing-3.csv",
        "DropMissing()",
        "EffortFromDriveSignal(gain=1.5)",
        "LowPass(cutoff=20.0)",
        "Differentiate()",
        "Trim()",
        "MaskReversals()",
    ]
    assert "if these are degrees, state units={'q1': 'deg'}" in lines[3]
    assert "rms from positions and" in text
    assert lines[-1].startswith("kept: motor 1 ")


@pytest.mark.parametrize(
    ("coordinates", "efforts", "steps", "words"),
    [
        (["q1", "q3"], U, STEPS, "there is no channel 'q3' in swing-3.csv; there are: q1, q2, u1, u2"),
        (["q1"], U, STEPS, "there are 1 coordinates and 2 efforts"),
        ("q1", U, STEPS, "coordinates must be a list of channels, not the text 'q1'"),
        ([], U, STEPS, "coordinates must name at least one channel"),
        (Q, U, [LowPass(20.0)], "put Differentiate() among the steps"),
        (Q, U, [LowPass(0.1), Differentiate()], "swing-3.csv, LowPass(cutoff=0.1): 2000 samples (4 s) are too short"),
    ],
)
def test_what_cannot_be_prepared_is_refused(coordinates, efforts, steps, words):
    with pytest.raises(InputError) as error:
        prepare(SLOW, coordinates, efforts, steps)
    assert words in str(error.value)


def test_no_recording_is_refused():
    with pytest.raises(InputError, match="there is no recording to prepare"):
        prepare([], Q, U, STEPS)


def motion_of(n: int, **fields) -> MeasuredMotion:
    one = np.ones((n, 1))
    names = {"coordinates": ["q1"], "coordinate_units": ["rad"], "actuators": ["motor 1"], "effort_units": ["N·m"]}
    parts = dict.fromkeys(("q", "dq", "ddq", "efforts"), one) | {"rate": 10.0, "kept": one == 1}
    return MeasuredMotion(**{**parts, **names, **fields})


def test_pieces_and_selections_keep_time():
    motion = motion_of(6, start=2.0, q=np.arange(6.0)[:, None])
    part = motion.select([0, 1, 4, 5])
    assert part.positions.tolist() == [0, 1, 4, 5]
    assert part.pieces == (slice(0, 2), slice(2, 4))
    assert part.times == pytest.approx([2.0, 2.1, 2.4, 2.5])
    assert motion.select(slice(2, 4)).q.ravel().tolist() == [2.0, 3.0]
    assert motion.select(np.arange(6) > 3).times == pytest.approx([2.4, 2.5])
    joined = MeasuredMotion.concatenate(part, part, gap=0.25)
    assert joined.positions.tolist() == [0, 1, 4, 5, 9, 10, 13, 14]
    assert MeasuredMotion.concatenate(motion) == motion


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dq": np.ones((4, 1))}, r"dq must have the shape of q, \(5, 1\), but has \(4, 1\)"),
        ({"kept": np.ones((5, 1))}, "kept must be a mask"),
        ({"kept": np.ones(5, dtype=bool)}, r"kept must have the shape of q, \(5, 1\), but has \(5,\)"),
        ({"ddq": np.full((5, 1), np.nan)}, "ddq is NaN or infinite at sample 0, column 0"),
        ({"actuators": ["a", "b"]}, "actuators must be 1 texts, one per column of q, but there are 2"),
        ({"positions": [0, 1, 2, 2, 3]}, "must be non-negative and rise"),
        ({"positions": [0.0, 1, 2, 3, 4]}, "a whole number per sample"),
        ({"rate": 0.0}, "rate must be positive, not 0.0"),
        ({"q": np.ones((0, 1))}, "at least one sample"),
    ],
)
def test_what_is_no_motion_is_refused(fields, words):
    with pytest.raises(InputError, match=words):
        motion_of(5, **fields)


def test_motions_that_do_not_belong_together_are_refused():
    with pytest.raises(InputError, match=r"motions 1 and 2 differ in rate: 10.0 and 20.0"):
        MeasuredMotion.concatenate(motion_of(3), motion_of(3, rate=20.0))
    with pytest.raises(InputError, match="motions 1 and 3 differ in actuators"):
        MeasuredMotion.concatenate(motion_of(3), motion_of(3), motion_of(3, actuators=["motor 2"]))
    with pytest.raises(InputError, match="no motion to concatenate"):
        MeasuredMotion.concatenate()
    with pytest.raises(InputError, match="the selection is empty"):
        motion_of(3).select([False] * 3)


def test_a_report_is_a_sentence():
    report = StepReport("Trim(0.1)", "100 samples (0.1 s) off at each end", 800, 3200)
    assert str(report) == "Trim(0.1): 100 samples (0.1 s) off at each end; 3200 rows remain"


def test_samples_know_their_rows_in_the_files(tmp_path):
    """A ramp passes the filter unchanged, so that the position of a sample shows the row it was read from."""
    rows = np.arange(1, 2001)
    lost = (rows > 900) & (rows <= 905)
    files = []
    for name in ("first.csv", "second.csv"):
        lines = [f"{k / 1000},{k},{k % 7}" for k in rows[~lost]]
        files.append(tmp_path / name)
        files[-1].write_text("\n".join(["# made for a test", "time,q [rad],T [N·m]", *lines]) + "\n")
    recordings = [read_recording(path, missing="mask") for path in files]
    steps = [DropMissing(), LowPass(20.0), Differentiate(), Trim(0.3), Decimate(10)]
    motion = prepare(recordings, ["q"], ["T"], steps)
    half = motion.n_samples // 2
    recorded = motion.q[:, 0].round().astype(int)  # the row, had none been lost
    inside = ~lost[recorded - 1] & motion.kept[:, 0]
    expected = recorded - np.where(recorded > 905, 5, 0)
    assert inside.sum() > 100
    assert np.array_equal(motion.rows[inside], expected[inside])
    assert set(motion.rows[lost[recorded - 1]]) <= {-900}
    assert motion.source.tolist() == [0] * half + [1] * half
    assert motion.select([half]).place(0) == f"row {expected[half]} of {files[1]}"


def test_a_lost_sample_is_named_by_the_rows_around_it(tmp_path):
    path = tmp_path / "gap.csv"
    path.write_text("time,q\n0.1,1\n0.2,2\n0.4,3\n0.5,4\n")
    recording = read_recording(path, missing="mask")
    assert recording.place(2) == "at t = 0.3 s, between rows 2 and 3"
    assert [recording.place(k) for k in (0, 1, 3)] == ["in row 1", "in row 2", "in row 3"]
    assert recording.between(0.2).place(0) == "at t = 0.3 s, between rows 2 and 3"


def test_a_sample_comes_from_one_of_the_sources():
    with pytest.raises(InputError, match="number the 1 sources"):
        motion_of(3, source=[0, 1, 0])
