"""Broken files: each is refused with a message that names file, row and column, and says what to do."""

# ruff: noqa: E501 - messages stand whole

import gzip
import os
import re
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from gough.core.errors import InputError
from gough.data import Recording, read_recording, write_recording

MASK = 'state missing = "mask" or "bridge" (in a study, in [data])'
NO_TIMES = 'give time=None and rate= (in a study, time = "" and rate in [data])'
HEAD = "time,q1,V1\n"
ROWS = "".join(f"{i / 1000},{0.1 * i},{i * i}\n" for i in range(5))
GOOD = HEAD + ROWS
TWO_HEADS = "time,q1 [rad],q1 [deg]\n"
MILLISECONDS = HEAD + "".join(f"{i},{0.1 * i},{i * i}\n" for i in range(5))

BROKEN_CSV = {
    # what: (text, arguments, message after the path)
    "nothing in it": ("", {}, " is empty"),
    "blank lines": ("\n \n", {}, " is empty"),
    "heads only": (HEAD, {}, " has no row below its heads"),
    "comments only": ("# a\n% b\n", {}, " holds nothing but comments"),
    "no such column": (
        GOOD,
        {"columns": {"q1": "q1", "V1": "v1"}},
        " has no column 'v1'; did you mean 'V1'? There are 'time', 'q1', 'V1'",
    ),
    "no column of times": (
        GOOD.replace("time", "t"),
        {},
        (" has no column 'time'. There are 't', 'q1', 'V1'. Name the column of times by time=, or state rate= if there "
        "is none"),
    ),
    "no rate": (GOOD, {"time": None}, ": without a column of times, state rate= in samples a second"),
    "a column twice": (
        "time,q1,q1\n0,1,2\n1,2,3\n",
        {},
        ": column 'q1' stands 2 times: rename them, or choose others by columns",
    ),
    "a name twice": (TWO_HEADS + ROWS, {}, ": column 'q1' stands 2 times: rename them, or choose others by columns"),
    "which of two": (TWO_HEADS + ROWS, {"columns": {"q": "q1"}}, ": column 'q1' stands more than once: rename one of them"),
    "text in a cell": (
        HEAD + "".join(f"{i / 1000},1,{'n/a' if i == 1046 else 2}\n" for i in range(1050)),
        {},
        f": row 1047 (line 1048), column 'V1' holds 'n/a': mend it, or {MASK} if a sample was lost there",
    ),
    "words in a cell": (GOOD + "0.005,1,one\n", {}, ": row 6 (line 7), column 'V1' holds 'one', which is not a number: mend it"),
    "an underscore": (GOOD + "0.005,1,1_000\n", {}, ": row 6 (line 7), column 'V1' holds '1_000', which is not a number: mend it"),
    "foreign digits": (GOOD + "0.005,1,٣\n", {}, ": row 6 (line 7), column 'V1' holds '٣', which is not a number: mend it"),
    "a blank cell": (
        GOOD + "0.005,,1\n",
        {},
        f": row 6 (line 7), column 'q1' is blank: mend it, or {MASK} if a sample was lost there",
    ),
    "NaN": (
        "# from a logger\n" + GOOD + "0.005,NaN,1\n",
        {},
        f": row 6 (line 8), column 'q1' holds 'NaN': mend it, or {MASK} if a sample was lost there",
    ),
    "NaN in time": (GOOD + "nan,1,1\n", {"missing": "mask"}, ": row 6 (line 7), column 'time' is missing: mend it"),
    "infinite": (GOOD + "0.005,-inf,1\n", {}, ": row 6 (line 7), column 'q1' holds '-inf', which is infinite: mend it"),
    "infinite, masked": (
        GOOD + "0.005,inf,1\n",
        {"missing": "mask"},
        ": row 6 (line 7), column 'q1' holds 'inf', which is infinite: mend it",
    ),
    "beyond double": (GOOD + "0.005,1e999,1\n", {}, ": row 6 (line 7), column 'q1' holds '1e999', which is too large: mend it"),
    "time runs back": (
        GOOD + "0.002,1,1\n0.003,1,1\n",
        {},
        (": row 6 (line 7), column 'time': time runs backwards, 0.002 s after 0.004 s: are two recordings in one file? "
        "Split it there; if only the times are wrong, " + NO_TIMES),
    ),
    "time stands still": (
        GOOD + "0.004,1,1\n0.004,1,1\n",
        {},
        (": row 6 (line 7), column 'time': time stands still, 0.004 s after 0.004 s (and in 1 more rows): are two "
        "recordings in one file? Split it there; if only the times are wrong, " + NO_TIMES),
    ),
    "a gap in time": (
        GOOD + "0.008,1,1\n0.009,1,2\n",
        {},
        (": row 6 (line 7), column 'time': time jumps from 0.004 s to 0.008 s, about 3 samples are lost there: state "
        'missing = "mask" or "bridge" (in a study, in [data])'),
    ),
    "more gaps than samples": (
        GOOD + "100,1,1\n",
        {"missing": "mask"},
        (": row 6 (line 7), column 'time': time jumps from 0.004 s to 100 s: 99995 samples are lost beside 6 that are "
        "there: split it there"),
    ),
    "uneven": (
        HEAD + "0,1,1\n0.001,1,1\n0.0024,1,1\n0.003,1,1\n0.004,1,2\n",
        {},
        (": row 3 (line 4), column 'time': sampling is not even, 0.0024 s is 40% of a period away from an even 1000 Hz. "
        "If times are the exact instants of the samples, state resample=True (in a study, resample = true in [data]); "
        "if the clock was even and only the times are inexact, " + NO_TIMES),
    ),
    "another rate": (
        GOOD,
        {"rate": 500},
        (": a rate of 500 Hz is stated, but column 'time' runs at 1000 Hz (rows are 0.001 s apart): drop rate=, or " + NO_TIMES),
    ),
    "time in ms": (
        MILLISECONDS,
        {"rate": 1000},
        (": a rate of 1000 Hz is stated, but column 'time' runs at 1 Hz (rows are 1 s apart): state units={'time': 'ms'}, "
        'in a study [data.units] time = "ms" if time is in ms'),
    ),
    "a single row": (HEAD + "0,1,2\n", {}, ": row 1 (line 2) is the only one: a sampling rate needs two rows, or rate="),
    "an unknown unit": (
        GOOD,
        {"units": {"q1": "dge"}},
        ", column 'q1': 'dge' is not a unit that gough knows; did you mean 'deg'?",
    ),
    "an unknown unit in a head": (
        GOOD.replace("q1", "q1 [rda]"),
        {},
        ", column 'q1 [rda]': 'rda' is not a unit that gough knows; did you mean 'rad'?",
    ),
    "time in mm": (
        GOOD.replace("time", "time [mm]"),
        {},
        ", column 'time [mm]': time cannot be measured in 'mm'; it is in s, ms, µs, …",
    ),
    "units against heads": (
        GOOD.replace("q1", "q1 [deg]"),
        {"units": {"q1": "mm"}},
        ": column 'q1 [deg]' is in deg by its head, but units state 'mm': correct one of them",
    ),
    "cut off": (
        GOOD + "0.005,1",
        {},
        ": row 6 (line 7) has 2 cells for 3 columns: the file seems cut off: copy it again, or delete that line",
    ),
    "cut off in another column": (
        GOOD + "0.005,1",
        {"columns": {"q1": "q1"}},
        ": row 6 (line 7) has 2 cells for 3 columns: the file seems cut off: copy it again, or delete that line",
    ),
    "a short line": (GOOD + "0.005,1\n0.006,1,2\n", {}, ": row 6 (line 7) has 2 cells for 3 columns: mend that line"),
    "a long line": (
        GOOD + "0.005,1,2,3\n",
        {"columns": {"q1": "q1"}},
        ": row 6 (line 7) has 4 cells for 3 columns: mend it; if numbers have decimal commas, separate cells by semicolons",
    ),
    "decimal commas between commas": (
        HEAD + "0,000,1,5,2,5\n",
        {},
        ": row 1 (line 2) has 6 cells for 3 columns: mend it; if numbers have decimal commas, separate cells by semicolons",
    ),
    "points and commas": (
        "time;q1;V1\n0,000;1.234,5;1\n0,001;2;3\n",
        {},
        ": row 1 (line 2), column 'q1' holds '1.234,5', which has a point though numbers have decimal commas here: mend it",
    ),
    "thousands": (
        "time;q1;V1\n0,000;1.234;1\n0,001;2;3\n",
        {},
        ": row 1 (line 2), column 'q1' holds '1.234', which has a point though numbers have decimal commas here: mend it",
    ),
    "blanks between cells": (
        GOOD.replace(",", "  "),
        {},
        ", line 1: cells are separated by blanks; separate them by commas, semicolons or tabs",
    ),
    "no heads": (
        ROWS,
        {},
        (
            ", line 1 holds numbers where the names of the columns are expected: put a line of names above them; studies "
            'of calibrations may state them, heads = ["name", "x [mm]", …]'
        ),
    ),
    "heads in a comment": (
        "# " + GOOD,
        {},
        (
            ", line 2 holds numbers where the names of the columns are expected: put a line of names above them (names "
            'in a comment line do not count); studies of calibrations may state them, heads = ["name", "x [mm]", …]'
        ),
    ),
    "nothing but time": ("time\n0\n1\n", {}, " has no column beside that of times"),
    "Latin-1": (
        GOOD.replace("q1", "Winkel [°]").encode("latin-1"),
        {},
        ", line 1 is not UTF-8 text (byte 0xB0 in 'time,Winkel [°],V1'): save it as 'CSV UTF-8'",
    ),
    "Latin-1 in a cell": (
        GOOD.encode() + b"0.005,1,\xb5\n",
        {},
        ": row 6 (line 7), column 'V1' holds '\\xb5', which is not a number: mend it",
    ),
    "UTF-16": (
        GOOD.encode("utf-16"),
        {},
        " is no plain text: it is UTF-16, which has to be saved as 'CSV UTF-8', or not CSV at all",
    ),
    "an Excel workbook": (b"PK\x03\x04xl/", {}, " is named as CSV, but it is an Excel workbook: save its sheet as 'CSV UTF-8'"),
    "an old Excel workbook": (
        b"\xd0\xcf\x11\xe0\xa1\xb1",
        {},
        " is named as CSV, but it is an Excel workbook: save its sheet as 'CSV UTF-8'",
    ),
    "compressed": (gzip.compress(GOOD.encode()), {}, " is named as CSV, but it is a gzip file by its content"),
    "an open quote": (
        GOOD + '0.005,"1,2\n',
        {},
        ": row 6 (line 7) has 2 cells for 3 columns: the file seems cut off: copy it again, or delete that line",
    ),
}  # fmt: skip


def refusal(path: Path, **how) -> str:
    with pytest.raises(InputError) as error:
        read_recording(path, **how)
    return str(error.value)


@pytest.mark.parametrize(("content", "how", "message"), BROKEN_CSV.values(), ids=BROKEN_CSV)
def test_a_broken_csv_file_is_refused_with_its_place_and_its_cure(content, how, message, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refusal(path, **how) == f"{path}{message}"


def test_what_is_no_file(tmp_path):
    good = tmp_path / "log.csv"
    good.write_text(GOOD)
    there = tmp_path / "nowhere" / "log.csv"
    assert refusal(tmp_path / "lgo.csv") == (
        f"{tmp_path / 'lgo.csv'} cannot be read: there is no such file; did you mean 'log.csv'?"
    )
    assert refusal(there) == f"{there} cannot be read: there is no such file (nor a folder {there.parent})"
    assert refusal(tmp_path) == (f"{tmp_path} is a folder: give a file in it, or a rosbag2 folder (with metadata.yaml)")
    workbook = tmp_path / "log.xlsx"
    workbook.write_bytes(b"PK\x03\x04")
    assert refusal(workbook) == f"{workbook} is an Excel workbook: save its sheet as 'CSV UTF-8'"
    other = tmp_path / "log.dat"
    other.write_bytes(b"#ROSBAG")
    assert refusal(other).endswith(
        "gough reads recordings from .csv, .tsv, .txt, .parquet, .pq, .mat, .npz, .h5, .hdf5, .mcap, .db3, .bag, .mf4, "
        ".mdf, .tdms, .c3d, not from '.dat'"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    path.chmod(0)
    assert refusal(path) == f"{path} cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"rate": -1.0}, "rate must be a positive number of Hz, not -1.0"),
        ({"missing": "drop"}, "missing must be 'refuse', 'mask' or 'bridge', not 'drop'"),
        ({"units": {"Q1": "deg"}}, "units state that 'Q1' is in deg, but it is not read; did you mean 'q1'?"),
        ({"columns": {}}, "columns must name at least one channel"),
    ],
)
def test_questions_that_make_no_sense(how, message, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(GOOD)
    assert refusal(path, **how) == message


RECORDING = Recording(["q1", "V1"], ["rad", "V"], np.arange(200.0).reshape(100, 2), 1000.0)


@pytest.mark.parametrize("suffix", ["parquet", "mat", "npz"])
@settings(max_examples=60, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_is_cut_off_anywhere_is_refused(suffix, share, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    whole = folder / f"whole.{suffix}"
    write_recording(whole, RECORDING)
    content = whole.read_bytes()
    cut = folder / f"cut.{suffix}"
    cut.write_bytes(content[: int(share * len(content))])
    message = refusal(cut)
    assert message.startswith(str(cut))
    assert re.search("is empty|is not a complete|is not an .npz file|holds no channel|no array", message), message


@pytest.mark.parametrize("suffix", ["mat", "npz", "csv"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_but_never_ends_in_a_traceback(suffix, data, tmp_path_factory):
    """Not Parquet: damage inside its pages can bring down the library that reads it."""
    folder = tmp_path_factory.mktemp("damage")
    path = folder / f"a.{suffix}"
    write_recording(path, RECORDING)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        read_recording(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize("text", ["time,q1\r0,1\r1,2\r", "time,q\r1,V1\n0,1,2\n", "time,q1\n0,\r1\n1,2\n"])
def test_carriage_returns_alone_do_not_end_lines(text, tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes(text.encode())
    assert str(path) in refusal(path)


@pytest.mark.parametrize("suffix", ["parquet", "mat", "npz"])
def test_a_file_of_another_kind_is_refused(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"This is a text about something else, and long enough for any header there may be." * 20)
    assert re.search(r"is not (a complete|an) (Parquet|MATLAB|\.npz)", refusal(path))


ARRAYS = {
    "other lengths": (
        {"time": np.arange(3.0), "q": np.arange(4.0)},
        (": 'q' has 4 values, but 'time' has 3: channels are recorded at the same instants; choose those that are by "
        "columns"),
    ),
    "a cube": (
        {"time": np.arange(3.0), "q": np.zeros((3, 4, 2))},
        (": array 'q' has shape (3, 4, 2), but a channel is a vector or a column of a matrix: save it as one; or choose "
        "others by columns"),
    ),
    "complex": (
        {"time": np.arange(3.0), "q": np.arange(3) * 1j},
        ": array 'q' holds complex numbers: save plain ones; or choose others by columns",
    ),
    "NaN": (
        {"time": np.arange(3.0), "q": [1.0, np.nan, np.nan]},
        f": row 2, column 'q' is missing (and in 1 more rows): mend it, or {MASK} if a sample was lost",
    ),
    "infinite": ({"time": np.arange(3.0), "q": [1.0, 2.0, np.inf]}, ": row 3, column 'q' is infinite: mend it"),
    "nothing": ({"note": "noon"}, " holds no channel: no array of numbers with more than one entry"),
    "not ours": (
        {"gough_recording": 1, "samples": np.zeros((3, 2)), "rate": 1.0, "start": 0.0, "units": ["V", "V"]},
        " has no array 'names', which a recording written by gough has",
    ),
    "from the future": (
        {"gough_recording": 9, "samples": np.zeros((3, 1)), "rate": 1.0, "start": 0.0, "names": ["a"], "units": ["V"]},
        " has format 9, from a newer gough; this one reads up to 1",
    ),
    "names that do not fit": (
        {"gough_recording": 1, "samples": np.zeros((3, 2)), "rate": 1.0, "start": 0.0, "names": ["a"], "units": ["V"]},
        ": 1 names and 1 units do not fit samples (3, 2)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("suffix", ["mat", "npz"])
@pytest.mark.parametrize(("variables", "message"), ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_are_no_channels(variables, message, suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    if suffix == "npz":
        np.savez(path, **variables)
    else:
        savemat(path, variables)
    assert refusal(path) == f"{path}{message}"


def test_pickled_objects_are_never_loaded(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, time=np.arange(3.0), q=np.array([1, None, 3], dtype=object))
    assert refusal(path) == (
        f"{path}: array 'q' cannot be read: it holds pickled Python objects, which may run code when they are read: save "
        "plain numbers"
    )
    alone = tmp_path / "b.npz"
    with alone.open("wb") as file:
        np.save(file, np.arange(3.0))
    assert refusal(alone) == f"{alone} is named as .npz, but it is a .npy file by its content"
    archive = tmp_path / "c.npz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("notes.txt", "nothing")
    assert refusal(archive) == f"{archive}: 'notes.txt' is not an array"


def test_matlab_structs_cells_and_new_files(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"s": {"a": 1.0, "b": np.arange(3)}, "time": np.arange(3.0), "q": np.arange(3.0)})
    assert read_recording(path).names == ("s.b", "q")
    assert read_recording(path, columns={"q": "q"}).names == ("q",)
    cells = tmp_path / "b.mat"
    savemat(cells, {"time": np.arange(2.0), "c": np.array([np.arange(2), np.arange(3)], dtype=object)})
    assert "array 'c' is a cell array: save plain arrays of numbers" in refusal(cells)
    new = tmp_path / "new.mat"
    new.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert refusal(new).startswith(f"{new} is not a complete MATLAB file, perhaps cut off or damaged (OSError: ")


def test_parquet_with_other_things_than_numbers(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"time": [0.0, 0.1], "q": ["a", "b"]}).write_parquet(path)
    assert refusal(path) == f"{path}: column 'q' holds String, not numbers"
    lost = tmp_path / "b.parquet"
    pl.DataFrame({"time": [0.0, 0.1], "q": [1.0, None]}).write_parquet(lost)
    assert refusal(lost) == (f"{lost}: row 2, column 'q' is missing: mend it, or {MASK} if a sample was lost")
    none = tmp_path / "c.parquet"
    pl.DataFrame({"time": [], "q": []}, schema={"time": pl.Float64, "q": pl.Float64}).write_parquet(none)
    assert refusal(none) == f"{none} has no row"
    wrong = tmp_path / "d.csv"
    wrong.write_bytes(path.read_bytes())
    assert refusal(wrong) == f"{wrong} is named as CSV, but it is a Parquet file by its content"


def test_another_rate_than_the_file_itself_says(tmp_path):
    path = tmp_path / "a.npz"
    write_recording(path, RECORDING)
    assert refusal(path, rate=500.0) == f"{path}: a rate of 500 Hz is stated, but the file states 1000 Hz"


def test_degrees_taken_for_radians_are_remarked_on_but_not_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEAD + "".join(f"{i / 1000},{30 + i},{i * i}\n" for i in range(5)))
    recording = read_recording(path, units={"q1": "rad"})
    said = "channel 'q1' reaches 34 rad, more than two turns: if these are degrees, state units={'q1': 'deg'}"
    assert recording.remarks == (f'{said}, in a study [data.units] q1 = "deg"',)
    assert recording.remarks[0] in str(recording)
    assert not read_recording(path, units={"q1": "deg"}).remarks
