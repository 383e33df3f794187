"""Columns of times in other units, and as dates: against Python's datetime, zoneinfo, NumPy and Polars."""

# ruff: noqa: DTZ001, E501 - wall clocks have no zone; messages stand whole

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from gough.core.errors import InputError
from gough.data import Recording, default_steps, prepare, read_recording
from gough.data.times import Kind, stamps_of_texts

N = 50
BEGIN = datetime(2024, 3, 1, 12, 0, 0, 123000)


def csv_of(folder, times, head="time", name="log.csv"):
    path = folder / name
    path.write_text(f"{head};q1\n" + "".join(f"{t};{i}\n" for i, t in enumerate(times)))
    return path


def every(seconds, begin=BEGIN, n=N):
    return [begin + timedelta(seconds=seconds) * i for i in range(n)]


# units


@pytest.mark.parametrize(
    ("unit", "step"),
    [
        ("s", "0.001"), ("ms", "1"), ("µs", "1000"), ("us", "1000"), ("μs", "1000"), ("ns", "1000000"),
        ("min", "1.6666666666666667e-05"), ("h", "2.7777777777777776e-07"), ("msec", "1"), ("seconds", "0.001"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["head", "round", "units", "time"])
def test_the_unit_of_the_times_is_stated_in_the_head_or_by_the_user(unit, step, how, tmp_path):
    head = {"head": f"t [{unit}]", "round": f"t ({unit})"}.get(how, "t")
    path = csv_of(tmp_path, [repr(float(step) * (i + 7)) for i in range(N)], head)
    units = {"units": {"t": unit}, "time": {"time": unit}}.get(how)
    recording = read_recording(path, time="t", units=units)
    assert recording.rate == pytest.approx(1000.0, rel=1e-9)
    assert recording.start == pytest.approx(0.007, rel=1e-12)
    assert recording.notes == ()


def test_two_units_of_the_time_are_refused(tmp_path):
    path = csv_of(tmp_path, range(N), "t [ms]")
    with pytest.raises(InputError, match=r"column 't \[ms\]' is in ms by its head, but units state 's'"):
        read_recording(path, time="t", units={"t": "s"})
    with pytest.raises(InputError, match="units state two units of the time, 'ms' and 's': keep one"):
        read_recording(csv_of(tmp_path, range(N), "t"), time="t", units={"t": "ms", "time": "s"})


@pytest.mark.parametrize(
    ("step", "unit", "rate", "likely"),
    [
        (1, None, 1.0, "ms (1000 Hz)"),
        (1000, None, 0.001, "µs (1000 Hz)"),
        (1000000, None, 1e-6, "ns (1000 Hz)"),
        (0.001, "ms", 1e6, "s (1000 Hz)"),
        (1e-6, "ms", 1e9, None),
        (1 / 60000, None, 60000.0, "none"),
        (1 / 86.4e6, None, 86.4e6, "day (1000 Hz)"),
    ],
)
def test_a_rate_that_no_robot_is_sampled_at_gets_a_remark(step, unit, rate, likely, tmp_path):
    path = csv_of(tmp_path, [repr(step * i) for i in range(N)])
    recording = read_recording(path, units=unit and {"time": unit})
    assert recording.rate == pytest.approx(rate)
    if likely == "none":
        assert recording.remarks == ()
    else:
        assert f"the sampling rate is {rate:.4g} Hz" in recording.remarks[0]
        assert likely is None or f"if they are in {likely}" in recording.remarks[0]


def test_the_remark_is_in_the_account_and_in_refusals_of_the_preparation(tmp_path):
    path = csv_of(tmp_path, range(2000))
    recording = Recording(["q1", "V1"], ["rad", "V"], np.zeros((2000, 2)), rate=1.0)
    text = read_recording(path)
    remark = text.remarks[0]
    both = Recording(recording.names, recording.units, recording.samples, 1.0, notes=text.notes)
    with pytest.raises(InputError, match="needs more than 40 samples a second, but there are 1; the sampling rate is"):
        prepare(both, ["q1"], ["V1"], default_steps(1.0))
    slow = prepare(both, ["q1"], ["V1"], default_steps(1.0, cutoff=0.1, speed=0.0, within=0.0)[1:-1])
    assert remark in slow.account[0].did


@pytest.mark.parametrize(("unit", "scale"), [("ms", 1e3), ("µs", 1e6), ("ns", 1e9)])
def test_numbers_of_an_epoch_need_their_unit(unit, scale, tmp_path):
    values = [round((BEGIN.replace(tzinfo=UTC).timestamp() + i / 1000) * scale) for i in range(N)]
    path = csv_of(tmp_path, values)
    with pytest.raises(InputError, match=rf"row 1 \(line 2\), column 'time': .* probably {unit} since 1970: state it"):
        read_recording(path)
    recording = read_recording(path, units={"time": unit})
    assert recording.rate == 1000.0
    assert recording.began == "2024-03-01 12:00:00.123 UTC"
    np.savez(tmp_path / "log.npz", time=np.array(values, dtype=np.int64), q1=np.arange(N))
    pl.DataFrame({"time": values, "q1": range(N)}).write_parquet(tmp_path / "log.parquet")
    for suffix in ("npz", "parquet"):
        assert read_recording(tmp_path / f"log.{suffix}", units={"time": unit}).rate == 1000.0


def test_integers_of_nanoseconds_are_exact(tmp_path):
    """A double resolves an epoch in ns to 256 ns: at 3 MHz that is uneven."""
    values = 1_709_294_400_123_456_789 + 300 * np.arange(N)
    np.savez(tmp_path / "log.npz", time=values, q1=np.arange(N))
    assert read_recording(tmp_path / "log.npz", units={"time": "ns"}).rate == 1e9 / 300
    np.savez(tmp_path / "float.npz", time=values.astype(float), q1=np.arange(N))
    with pytest.raises(
        InputError, match=r"state times to 2\.6e-07 s only, but rows are 2\.6e-07 s apart: save integers"
    ):
        read_recording(tmp_path / "float.npz", units={"time": "ns"})


def test_matlab_s_days_need_their_unit(tmp_path):
    datenum = 739312.5 + np.arange(N) / 86400 / 100  # datenum(2024, 3, 1, 12, 0, 0)
    path = csv_of(tmp_path, map(repr, datenum.tolist()))
    assert "if they are in day (100 Hz)" in read_recording(path).remarks[0]
    recording = read_recording(path, units={"time": "days"})
    assert recording.rate == pytest.approx(100.0, rel=1e-6)
    assert recording.began == "2024-03-01 12:00:00.000 by MATLAB's datenum"
    excel = csv_of(tmp_path, map(repr, (45352.5 + np.arange(N) / 86400 / 100).tolist()), "time [day]", "excel.csv")
    assert read_recording(excel).began == "2024-03-01 12:00:00.000 by Excel's serial number"


# dates


WRITTEN = {
    "iso": lambda t: t.isoformat(timespec="microseconds"),
    "blank": lambda t: t.isoformat(" ", "milliseconds"),
    "utc": lambda t: t.isoformat(timespec="milliseconds") + "Z",
    "named utc": lambda t: t.isoformat(" ", "milliseconds") + " UTC",
    "offset": lambda t: t.replace(tzinfo=timezone(timedelta(hours=5, minutes=30))).isoformat(),
    "basic": lambda t: t.strftime("%Y%m%dT%H%M%S.%f"),
    "comma": lambda t: t.strftime("%Y-%m-%d %H:%M:%S,%f")[:-3],
    "slashes": lambda t: t.strftime("%Y/%m/%d %H:%M:%S.%f"),
    "german": lambda t: t.strftime("%d.%m.%Y %H:%M:%S,%f"),
    "time of day": lambda t: t.strftime("%H:%M:%S.%f"),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_dates_are_read_as_python_writes_them(form, tmp_path):
    recording = read_recording(csv_of(tmp_path, map(WRITTEN[form], every(0.002))))
    assert (recording.rate, recording.start, len(recording)) == (500.0, 0.0, N)
    assert "12:00:00.123" in recording.began or form == "offset"
    assert f"began {recording.began}" in str(recording)


MOMENTS = st.datetimes(datetime(1900, 1, 2), datetime(2261, 12, 30))
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


@given(moments=st.lists(st.tuples(MOMENTS, OFFSETS), min_size=1, max_size=5))
@settings(deadline=None)
def test_instants_with_offsets_are_those_of_python(moments):
    zoned = [moment.replace(tzinfo=zone) for moment, zone in moments]
    stamps = stamps_of_texts([moment.isoformat() for moment in zoned], str)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert stamps.kind is Kind.ABSOLUTE
    assert stamps.nanoseconds.tolist() == [(m - epoch) // timedelta(microseconds=1) * 1000 for m in zoned]


def test_nine_digits_of_a_second_are_kept(tmp_path):
    ns = 123_456_789 + 1000 * np.arange(N)  # 1 MHz
    path = csv_of(tmp_path, [f"2024-03-01T12:00:00.{k:09d}Z" for k in ns])
    assert read_recording(path).rate == 1e6


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_of_parquet_files(unit, zone, tmp_path):
    frame = pl.DataFrame({"time": every(0.002), "q1": range(N)})
    frame = frame.with_columns(pl.col("time").cast(pl.Datetime(unit)).dt.replace_time_zone(zone))
    frame.write_parquet(tmp_path / "log.parquet")
    recording = read_recording(tmp_path / "log.parquet")
    assert recording.rate == 500.0
    assert recording.began == {
        None: "2024-03-01 12:00:00.123", "UTC": "2024-03-01 12:00:00.123 UTC",
        "Europe/Berlin": "2024-03-01 11:00:00.123 UTC",
    }[zone]  # fmt: skip


def test_other_times_of_parquet_files(tmp_path):
    path = tmp_path / "log.parquet"
    moments = every(0.002)
    cases = {
        "duration": [t - moments[0] + timedelta(seconds=3) for t in moments],
        "time of day": [t.time() for t in moments],
        "text": [t.isoformat() for t in moments],
    }
    for times in cases.values():
        pl.DataFrame({"time": times, "q1": range(N)}).write_parquet(path)
        assert read_recording(path).rate == 500.0
    pl.DataFrame({"time": cases["duration"], "q1": range(N)}).write_parquet(path)
    assert read_recording(path).start == 3.0
    pl.DataFrame({"time": [moments[0], None, moments[2]], "q1": range(3)}).write_parquet(path)
    with pytest.raises(InputError, match="row 2, column 'time' is missing: mend it"):
        read_recording(path, missing="mask")
    pl.DataFrame({"time": [t.date() for t in moments], "q1": range(N)}).write_parquet(path)
    with pytest.raises(InputError, match="holds dates without a time of day"):
        read_recording(path)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_timestamps_of_npz_files(unit, tmp_path):
    times = np.array(every(0.002), dtype=f"M8[{unit}]")
    np.savez(tmp_path / "log.npz", time=times, q1=np.arange(N))
    assert read_recording(tmp_path / "log.npz").began == "2024-03-01 12:00:00.123"
    np.savez(tmp_path / "log.npz", time=times - times[0], q1=np.arange(N))
    assert read_recording(tmp_path / "log.npz").rate == 500.0
    np.savez(
        tmp_path / "log.npz", time=np.array([t.isoformat() for t in every(0.002)]), q1=np.arange(N), note=["a", "b"]
    )
    assert read_recording(tmp_path / "log.npz").rate == 500.0
    times[7] = np.datetime64("NaT")
    np.savez(tmp_path / "log.npz", time=times, q1=np.arange(N))
    with pytest.raises(InputError, match="row 8, column 'time' is missing: mend it"):
        read_recording(tmp_path / "log.npz", missing="mask")
    with pytest.raises(InputError, match="array 'time' holds dates or durations: name it as the column of times"):
        read_recording(tmp_path / "log.npz", columns={"t": "time"}, time=None, rate=500.0)


def test_cell_arrays_of_dates_in_mat_files(tmp_path):
    cells = np.array([t.isoformat() for t in every(0.002)], dtype=object)
    savemat(
        tmp_path / "log.mat", {"time": cells, "q1": np.arange(float(N)), "note": np.array(["a", "b"], dtype=object)}
    )
    assert read_recording(tmp_path / "log.mat").rate == 500.0


def test_gaps_between_dates_become_lost_samples(tmp_path):
    kept = [t for i, t in enumerate(every(0.01)) if i not in (5, 6, 30)]
    path = csv_of(tmp_path, (t.isoformat() for t in kept))
    with pytest.raises(
        InputError, match=r"row 6 \(line 7\), column 'time': time jumps from 2024-03-01 12:00:00.163 to "
    ):
        read_recording(path)
    assert np.flatnonzero(np.isnan(read_recording(path, missing="mask")["q1"])).tolist() == [5, 6, 30]


# hostile columns


def refusal(folder, times, **how):
    with pytest.raises(InputError) as caught:
        read_recording(csv_of(folder, times), **how)
    return str(caught.value)


BERLIN = ZoneInfo("Europe/Berlin")


def local(begin, n=N, step=0.5):
    """Wall-clock times in Berlin."""
    return [t.astimezone(BERLIN) for t in every(step, begin.replace(tzinfo=UTC), n)]


def test_the_end_of_summer_time_is_refused_unless_offsets_are_written(tmp_path):
    times = local(datetime(2024, 10, 27, 0, 59, 50))
    plain = [t.replace(tzinfo=None).isoformat(timespec="milliseconds") for t in times]
    message = refusal(tmp_path, plain)
    assert (
        "row 21 (line 22), column 'time': time runs backwards, 2024-10-27 02:00:00 after 2024-10-27 02:59:59.5"
        in message
    )
    assert "summer time ends so. Write times in UTC, or with their offset" in message
    recording = read_recording(csv_of(tmp_path, (t.isoformat(timespec="milliseconds") for t in times)))
    assert recording.rate == 2.0
    assert "times have the offset +01:00 from UTC from row 21 (line 22) on, +02:00 before it" in recording.remarks[0]


def test_the_beginning_of_summer_time_is_refused_though_samples_may_be_missing(tmp_path):
    times = local(datetime(2024, 3, 30, 22, 0), n=5 * 3600, step=1.0)
    plain = [t.replace(tzinfo=None).isoformat() for t in times]
    message = refusal(tmp_path, plain, missing="mask")
    assert "time jumps from 2024-03-31 01:59:59 to 2024-03-31 03:00:00, an hour: summer time begins so" in message


def test_midnight_is_refused_in_times_of_day(tmp_path):
    times = [t.strftime("%H:%M:%S.%f") for t in every(0.5, datetime(2024, 3, 1, 23, 59, 55))]
    message = refusal(tmp_path, times)
    assert "row 11 (line 12), column 'time': time runs backwards, 00:00:00 after 23:59:59.5" in message
    assert "a time of day starts again at midnight. Write the date with it" in message


WRONG = {
    "no zone among zones": (["2024-03-01T12:00:00Z", "2024-03-01T12:00:01"], "row 2 .line 3., .* but the rows above hold dates and times with a zone"),
    "a number among dates": (["2024-03-01T12:00:00Z", "17"], "holds '17', which is no time"),
    "a date among numbers": (["0", "2024-03-01T12:00:00Z"], "holds '2024-03-01T12:00:00Z', which is not a number"),
    "a time of day among dates": (["2024-03-01T12:00:00", "12:00:01"], "but the rows above hold dates and times without"),
    "NaT": (["2024-03-01T12:00:00Z", "NaT"], "row 2 .line 3., column 'time' has no time: mend it"),
    "blank": (["2024-03-01T12:00:00Z", ""], "row 2 .line 3., column 'time' has no time: mend it"),
    "blank first": (["", "2024-03-01T12:00:00Z"], "row 2 .line 3., column 'time' holds '2024-03-01T12:00:00Z', which is not"),
    "blank number": (["0", "", "0.2"], "row 2 .line 3., column 'time' is missing: mend it"),
    "named zone": (["2024-03-01 12:00:00 CET"] * 2, "zones are stated by their offset from UTC"),
    "zone of a place": (["2024-03-01 12:00:00 Europe/Berlin"] * 2, "zones are stated by their offset from UTC"),
    "month or day": (["03/01/2024 12:00:00"] * 2, "which of the numbers is the month"),
    "am": (["2024-03-01 12:00:00 PM"] * 2, "times with am and pm are not read"),
    "minutes": (["12:00.5", "12:01.5"], "hours and minutes, or minutes and seconds"),
    "no time": (["2024-03-01", "2024-03-02"], "which is no date with a time"),
    "no date": (["2023-02-29 12:00:00", "2023-02-29 12:00:01"], "which is no date"),
    "far": (["0999-02-28 12:00:00"] * 2, "years go from 1900 to 2261"),
    "apart": (["1900-02-28 12:00:00", "2261-01-01 00:00:00"], "more than 292 years apart"),
    "leap second": (["2016-12-31T23:59:60Z"] * 2, "there is no leap second here"),
    "offset": (["2024-03-01T12:00:00+25:00"] * 2, "offsets go from -14:00"),
    "words": (["yesterday", "today"], "which is no time: write dates and times as 2024-03-01 12:00:00.123"),
    "backwards": (["2024-03-01T12:00:01", "2024-03-01T12:00:00"], "time runs backwards, 2024-03-01 12:00:00 after"),
    "seconds only": ([f"2024-03-01T12:00:{i // 20:02d}" for i in range(60)], "57 of 60 rows repeat a time: write times with more digits"),
    "two units": ([*(repr(i / 1000) for i in range(30)), *map(str, range(30, 60))], "time jumps from 0.029 s to 30 s"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("missing", ["refuse", "mask"])
def test_a_wrong_time_is_refused_with_its_line(case, missing, tmp_path):
    times, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        read_recording(csv_of(tmp_path, times), missing=missing)


def test_a_unit_beside_dates_is_refused(tmp_path):
    times = [t.isoformat() for t in every(0.002)]
    with pytest.raises(
        InputError, match="holds dates and times without a zone, but units state 'ms': leave the unit out"
    ):
        read_recording(csv_of(tmp_path, times), units={"time": "ms"})
    with pytest.raises(InputError, match="but its head states 's': leave the unit out"):
        read_recording(csv_of(tmp_path, times, "time [s]"))
    assert read_recording(csv_of(tmp_path, times, "time [UTC]")).rate == 500.0


def test_integers_that_are_far_apart_do_not_wrap_around(tmp_path):
    values = np.array([-(2**62) - 2**61, 0, 2**62 + 2**61])
    np.savez(tmp_path / "log.npz", time=values, q1=np.arange(3))
    assert read_recording(tmp_path / "log.npz", units={"time": "ns"}).duration == pytest.approx(3 * 2**62 / 1e9)
