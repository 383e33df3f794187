"""Recordings on disk: what is written is read again, and what others write is read right."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.io import savemat

from gough.core.errors import InputError
from gough.data import Recording, read_recording, write_recording

SUFFIXES = ["csv", "parquet", "mat", "npz"]
BITS = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)
NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\x85"), min_size=1, max_size=8
).filter(lambda name: name == name.strip() and name != "time" and not name.startswith(("#", "%", "//")))


def csv_of(tmp_path: Path, text: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def written_and_read(recording: Recording, suffix: str, **how) -> Recording:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a.{suffix}")
        write_recording(path, recording)
        return read_recording(path, **how)


def same_bits(one, other) -> bool:
    return one.shape == other.shape and np.array_equal(
        np.ascontiguousarray(one).view(np.int64), np.ascontiguousarray(other).view(np.int64)
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    samples=arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=BITS),
    rate=st.floats(1e-3, 1e6),
    start=st.floats(-1e3, 1e3),
)
def test_every_double_comes_back_bit_for_bit(suffix, samples, rate, start):
    names = [f"c{i}" for i in range(samples.shape[1])]
    units = ["rad", "V", "N·m", ""][: len(names)]
    back = written_and_read(Recording(names, units, samples, rate, start), suffix)
    assert same_bits(back.samples, samples)
    assert back.names == tuple(names)
    assert back.units == tuple(units)
    assert back.start == start
    if suffix == "csv":  # a column of times alone: as exact as these are
        assert back.rate == pytest.approx(rate, rel=1e-15 * (2 + 4 * abs(start) * rate))
    else:
        assert back.rate == rate


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=40, deadline=None)
@given(names=st.lists(NAMES, min_size=1, max_size=3, unique=True))
def test_names_of_any_letters_come_back(suffix, names):
    recording = Recording(names, ["rad"] * len(names), np.zeros((3, len(names))), 100.0)
    assert written_and_read(recording, suffix).names == tuple(names)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_that_look_like_units_come_back(suffix):
    names = ("q1 [deg]", "V (mV)", "a,b;c", 'say "so"', "x [y] [z]", "(N)")
    recording = Recording(names, ["", "V", "", "", "", "N"], np.zeros((3, 6)), 100.0)
    back = written_and_read(recording, suffix)
    assert back.names == names
    assert back.units == recording.units


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lost_samples_come_back_as_nan_if_asked_for(suffix):
    samples = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 6.0], [4.0, 7.0]])
    recording = Recording(["a", "b"], ["V", "V"], samples, 10.0)
    assert np.array_equal(written_and_read(recording, suffix, missing="mask").samples, samples, equal_nan=True)
    with pytest.raises(InputError, match=r"row 3.*column 'a \[V\]'|row 1.*column 'b \[V\]'"):
        written_and_read(recording, suffix)


@pytest.mark.parametrize("rate", [1000.0, 1024.0, 333.3333333333333, 4000.0, 44100.0, 0.5, 1 / 0.003])
@pytest.mark.parametrize("start", [0.0, 2.0, -1.0, 1e5])
def test_the_usual_rates_survive_a_column_of_times(rate, start):
    back = written_and_read(Recording(["a"], [""], np.zeros((5000, 1)), rate, start), "csv")
    assert back.rate == rate


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_overwritten_unless_asked(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    one, two = (Recording(["a"], [""], [[x], [x]], 1.0) for x in (1.0, 2.0))
    write_recording(path, one)
    with pytest.raises(InputError, match="exists; delete it or give another name"):
        write_recording(path, two)
    assert read_recording(path).samples[0, 0] == 1.0
    write_recording(path, two, overwrite=True)
    assert read_recording(path).samples[0, 0] == 2.0
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_what_cannot_be_written_is_refused(tmp_path):
    recording = Recording(["a"], [""], [[1.0], [2.0]], 1.0)
    with pytest.raises(InputError, match=r"writes recordings as .csv, .parquet, .mat, .npz, not as '.xlsx'"):
        write_recording(tmp_path / "a.xlsx", recording)
    with pytest.raises(InputError, match="a channel cannot be called 'time'"):
        write_recording(tmp_path / "a.csv", Recording(["time"], ["s"], [[1.0]], 1.0))
    with pytest.raises(InputError, match="are not distinct at 1e\\+09 Hz"):
        write_recording(tmp_path / "a.csv", Recording(["a"], [""], [[1.0], [2.0]], 1e9, start=1e9))
    assert not list(tmp_path.iterdir())


@given(order=st.permutations(["time", "q1 [deg]", "V1 [mV]", "other"]))
def test_the_order_of_columns_does_not_matter(order):
    columns = {"time": [0.0, 0.1, 0.2], "q1 [deg]": [1.0, 2.0, 3.0], "V1 [mV]": [5.0, 6.0, 7.0], "other": [0, 1, 2]}
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        pl.DataFrame({head: columns[head] for head in order}).write_csv(path)
        recording = read_recording(path)
    assert recording.unit("q1") == "rad"
    assert recording["q1"] == pytest.approx(np.deg2rad([1.0, 2.0, 3.0]), rel=1e-15)
    assert recording["V1"] == pytest.approx([0.005, 0.006, 0.007], rel=1e-15)
    assert recording.rate == 10.0


PLAIN = "time,q1,V1\n0.000,1.5,2\n0.001,-2.5,3e-1\n0.002,3.5,.5\n"
SAME = {
    "plain": PLAIN,
    "byte order mark": "\ufeff" + PLAIN,
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "German Excel": PLAIN.replace(",", ";").replace(".", ","),
    "tabs and decimal commas": PLAIN.replace(",", "\t").replace(".", ","),
    "Windows": PLAIN.replace("\n", "\r\n"),
    "no last newline": PLAIN[:-1],
    "empty lines at the end": PLAIN + "\n\n \n",
    "blanks around": PLAIN.replace(",", " , "),
    "quoted": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in PLAIN.split()),
    "comments first": "# made by a logger\n% at noon\n" + PLAIN,
    "comments between": PLAIN.replace("0.002", "# a pause\n\n0.002"),
    "commas at line ends": PLAIN.replace("\n", ",\n"),
    "an index in front": "\n".join(f"{'' if i == 0 else i},{line}" for i, line in enumerate(PLAIN.split())),
    "capitals and plus": PLAIN.replace("3e-1", "+3E-1"),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_csv_in_many_shapes_is_the_same_recording(text, tmp_path):
    recording = read_recording(csv_of(tmp_path, text))
    assert recording.names == ("q1", "V1")
    assert recording.samples.tolist() == [[1.5, 2.0], [-2.5, 0.3], [3.5, 0.5]]
    assert recording.rate == 1000.0


@settings(max_examples=60, deadline=None)
@given(
    samples=arrays(
        np.float64, st.tuples(st.integers(2, 6), st.just(2)), elements=BITS.filter(lambda x: abs(x) < 1e308)
    ),
    digits=st.integers(1, 20),
)
def test_quick_and_careful_reading_agree_to_the_bit(samples, digits):
    """The careful reader is Python's own float; a quote makes gough take it."""
    rows = [f"{i},{a:.{digits}e},{b:.{digits}e}" for i, (a, b) in enumerate(samples)]
    with TemporaryDirectory() as folder:
        quick = csv_of(Path(folder), "\n".join(["time,a,b", *rows]), "quick.csv")
        careful = csv_of(Path(folder), "\n".join(["time,a,b", *rows]).replace("0,", '"0",', 1), "careful.csv")
        assert same_bits(read_recording(quick).samples, read_recording(careful).samples)


def test_channels_are_chosen_by_name_or_by_head(tmp_path):
    path = csv_of(tmp_path, "t,angle [deg],angle [rad],u\n0,180,3.0,1\n1,90,1.5,2\n")
    recording = read_recording(path, time="t", columns={"q1": "angle [rad]", "V1": "u"}, units={"V1": "mV", "t": "ms"})
    assert recording["q1"].tolist() == [3.0, 1.5]
    assert recording["V1"].tolist() == [0.001, 0.002]
    assert recording.rate == 1000.0
    assert recording.source == str(path)


def test_an_encoder_in_counts(tmp_path):
    path = csv_of(tmp_path, "time,q1\n0,0\n1,5000\n2,20000\n")
    assert read_recording(path, units={"q1": "rev/20000"})["q1"] == pytest.approx([0.0, np.pi / 2, 2 * np.pi])


def test_without_times_the_rate_is_stated(tmp_path):
    path = csv_of(tmp_path, "a\n1\n2\n")
    assert read_recording(path, rate=50.0).times.tolist() == [0.0, 0.02]
    both = csv_of(tmp_path, "time,a\n7,1\n3,2\n", "b.csv")
    assert read_recording(both, time=None, rate=50.0).names == ("time", "a")


def test_times_of_few_digits_are_even_enough(tmp_path):
    times = [f"{i / 3000:.4f}" for i in range(3000)]
    path = csv_of(tmp_path, "time,a\n" + "".join(f"{t},1\n" for t in times))
    assert read_recording(path).rate == pytest.approx(3000.0, rel=1e-4)
    assert read_recording(path, rate=3000.0).rate == 3000.0


def test_times_since_1970_are_read(tmp_path):
    path = csv_of(tmp_path, "time,a\n" + "".join(f"{1.7e9 + i / 1000:.4f},1\n" for i in range(3000)))
    recording = read_recording(path)
    assert recording.rate == 1000.0
    assert recording.start == 1.7e9


def test_gaps_in_time_become_lost_samples_if_asked_for(tmp_path):
    kept = [i for i in range(100) if i not in (10, 11, 50)]
    path = csv_of(tmp_path, "time,a\n" + "".join(f"{i / 100:.2f},{i}\n" for i in kept))
    recording = read_recording(path, missing="mask")
    assert len(recording) == 100
    assert np.flatnonzero(np.isnan(recording["a"])).tolist() == [10, 11, 50]
    assert np.array_equal(recording["a"][kept], kept)


@pytest.mark.parametrize("mark", ["", "NaN", "nan", "n/a", "NA", "null", "-", "#N/A"])
def test_marks_of_lost_samples_are_known(mark, tmp_path):
    path = csv_of(tmp_path, f"time,a\n0,1\n1,{mark}\n2,3\n")
    assert np.isnan(read_recording(path, missing="mask")["a"]).tolist() == [False, True, False]
    with pytest.raises(InputError, match=r"row 2 \(line 3\), column 'a'.*state missing = \"mask\""):
        read_recording(path)


def savez(path, variables):
    np.savez(path, **variables)


@pytest.mark.parametrize(("suffix", "save"), [("mat", savemat), ("npz", savez)])
def test_arrays_of_others_are_channels(suffix, save, tmp_path):
    path = tmp_path / f"a.{suffix}"
    q = np.arange(12.0).reshape(6, 2)
    save(path, {"time": np.arange(6) / 100, "q": q, "V": q[:, :1].T, "note": "noon", "gain": 2.5})
    recording = read_recording(path, units={"q1": "deg", "V": "V"})
    assert recording.names == ("q1", "q2", "V")
    assert recording.units == ("rad", "", "V")
    assert np.array_equal(recording["q2"], q[:, 1])
    assert recording.rate == 100.0


def test_matrices_with_time_along_rows_are_turned(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"q": np.arange(12.0).reshape(2, 6), "rate": 250}, format="4")
    recording = read_recording(path)
    assert recording.names == ("q1", "q2")
    assert recording["q2"].tolist() == [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    assert recording.rate == 250.0


def test_whole_numbers_and_half_precision_are_numbers(tmp_path):
    frame = pl.DataFrame({"time": [0, 1, 2], "a": [1, 2, 3], "b": [True, False, True]})
    frame.with_columns(pl.col("a").cast(pl.Float32)).write_parquet(tmp_path / "a.parquet")
    assert read_recording(tmp_path / "a.parquet").samples.tolist() == [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]


def test_wide_files_are_read_in_part(tmp_path):
    heads = ["time", *(f"c{i}" for i in range(300))]
    path = csv_of(tmp_path, ",".join(heads) + "\n" + "".join(f"{k},{','.join(['x'] * 299)},{k}\n" for k in range(3)))
    assert read_recording(path, columns={"last": "c299"})["last"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("form", ["{:.6f}", "{!r}", "{:.5e}"])
def test_a_file_that_is_cut_inside_its_last_number_is_noted(tmp_path, form):
    """All its rows have all their cells: only the digits of the last number tell."""
    rows = "\n".join(f"{k / 100:.2f},{form.format(float(np.sin(0.3 * k + 0.1)) / 7)}" for k in range(50))
    path = tmp_path / "run.csv"
    for text, is_cut in ((rows, False), (rows + "\n", False), (rows[:-4], True), (rows[:-4] + "\n", False)):
        path.write_text("time,q1\n" + text)
        recording = read_recording(path)
        assert len(recording) == 50
        assert any("line 51 has no end" in remark for remark in recording.remarks) is is_cut


def test_decimal_commas_and_whole_numbers_are_no_reason_to_call_a_file_cut(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("time;q1\n" + "\n".join(f"{k / 100:.2f};{k / 7:.4f}".replace(".", ",") for k in range(50)))
    assert not any("no end" in remark for remark in read_recording(path).remarks)
    path.write_text(path.read_text()[:-2])
    assert any("no end" in remark for remark in read_recording(path).remarks)
    path.write_text("time,q1\n" + "\n".join(f"{k},{100 + k % 7}" for k in range(50))[:-1])
    assert not any("no end" in remark for remark in read_recording(path).remarks)
