"""Recordings as files: CSV, Parquet, MATLAB `.mat` and `.npz`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.files import is_file, is_folder, new_file
from gough.core.units import LARGEST, in_si
from gough.data.array_sources import mat_source, npz_source, write_mat, write_npz
from gough.data.clock import even_clock
from gough.data.csv_source import CsvSource
from gough.data.layout import Layout, layout
from gough.data.parquet_source import ParquetSource, write_csv, write_parquet
from gough.data.recording import Recording
from gough.data.sources import Source

_READERS: dict[str, Callable[[Path], Source]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), CsvSource),
    **dict.fromkeys((".parquet", ".pq"), ParquetSource),
    ".mat": mat_source,
    ".npz": npz_source,
}
_WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".mat": write_mat, ".npz": write_npz}
_EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")


def read_recording(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    time: str | None = "time",
    rate: float | None = None,
    missing: Literal["refuse", "mask"] = "refuse",
) -> Recording:
    r"""The recording in a `.csv`, `.parquet`, `.mat` or `.npz` file, in SI units.

    A CSV file has a line of heads; cells are separated by commas, semicolons or tabs, and with the latter two numbers
    may have decimal commas. Arrays in `.mat` and `.npz` files are channels under their names, and a matrix `q` is the
    channels q1, q2, … A head may state its unit, as "q1 [deg]".

    Args:
        path: The file; its suffix tells the format.
        columns: The channels to read, each with the column that holds it; None takes every column that has a name.
        units: Units in the file, by channel (and of the time): "deg", "mm", "rev/20000" for an encoder. They are
            converted to SI; "" stays where none is stated.
        time: The column of times; None if there is none that counts.
        rate: Samples a second, needed where there is no column of times, and compared with it where there is one.
        missing: "mask" lets samples be missing, as NaN, blank cells or gaps in time: they become NaN, and DropMissing
            masks the rows around them. "refuse" refuses them.

    Raises:
        InputError: the file cannot be read as asked; the message names file, row and column.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "swing.csv")
        ...     _ = path.write_text("time,angle [deg],u\n0.000,180,1.5\n0.001,90,1.6\n0.002,0,1.7\n")
        ...     recording = read_recording(path, columns={"q1": "angle", "V1": "u"}, units={"V1": "V"})
        >>> recording.rate, recording.units, recording["q1"].round(4)
        (1000.0, ('rad', 'V'), array([3.1416, 1.5708, 0.    ]))
    """
    path = Path(path)
    require(missing in ("refuse", "mask"), f"missing must be 'refuse' or 'mask', not '{missing}'")
    good = rate is None or (bool(np.isfinite(rate)) and rate > 0)
    require(good, f"rate must be a positive number of Hz, not {rate}")
    source = _opened(path)
    good = source.rate is None or 0 < source.rate < np.inf
    require(good, f"{path}: its rate must be a positive number of Hz, not {source.rate}")
    chosen = layout(source, path, columns=columns, units=units or {}, time=time, rate=rate)
    return _recording(source, chosen, path, source.rate if rate is None else rate, missing=missing == "mask")


def write_recording(path: str | Path, recording: Recording, *, overwrite: bool = False) -> None:
    """Write a recording as `.csv`, `.parquet`, `.mat` or `.npz`, completely or not at all; every double bit for bit.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> recording = Recording(["q1"], ["rad"], [[0.1], [0.2], [0.3]], rate=1000.0)
        >>> with TemporaryDirectory() as folder:
        ...     write_recording(f"{folder}/swing.parquet", recording)
        ...     read_recording(f"{folder}/swing.parquet").samples.ravel()
        array([0.1, 0.2, 0.3])
    """
    suffix = Path(path).suffix.lower()
    known = ", ".join(_WRITERS)
    require(suffix in _WRITERS, f"{path} cannot be written: gough writes recordings as {known}, not as '{suffix}'")
    with new_file(path, overwrite=overwrite) as file:
        _WRITERS[suffix](file, recording)


def _opened(path: Path) -> Source:
    suffix = path.suffix.lower()
    if not is_file(path):
        require(not is_folder(path), f"{path} is a folder: give a file in it")
        raise InputError(f"{path} cannot be read: there is no such file{_beside(path)}")
    excel = f"{path} is an Excel workbook: save its sheet as 'CSV UTF-8'"
    require(suffix not in _EXCEL, excel)
    known = ", ".join(_READERS)
    require(suffix in _READERS, f"{path} cannot be read: gough reads recordings from {known}, not from '{suffix}'")
    try:
        require(path.stat().st_size > 0, f"{path} is empty")
        return _READERS[suffix](path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _beside(path: Path) -> str:
    """The nearest name in the same folder."""
    if not is_folder(path.parent):
        return f" (nor a folder {path.parent})"
    return nearest(path.name, sorted(other.name for other in path.parent.iterdir())[:1000])


def _recording(source: Source, chosen: Layout, path: Path, rate: float | None, *, missing: bool) -> Recording:
    values = source.load(chosen.all_columns, missing=missing)
    require(len(values) > 0, f"{path} has no row")
    n = len(chosen.names)
    _require_numbers(values, source, chosen.all_columns, path, may_miss=n if missing else 0)
    samples, start = values[:, :n], source.start
    if chosen.time_column is not None:
        with np.errstate(over="ignore", under="ignore"):
            seconds = values[:, n] * in_si(chosen.time_unit)[0]
        late = np.flatnonzero(~(abs(seconds) < LARGEST))
        require(not late.size, f"{path}, column '{chosen.time_name}': {values[late[:1], n]} is no time")
        clock = even_clock(
            seconds,
            stated=rate,
            name=chosen.time_name,
            where=lambda row: f"{path}: {source.place(row)}",
            missing=missing,
        )
        samples, rate, start = clock.on_grid(samples), clock.rate, clock.start
    elif rate is not None and source.rate is not None:
        agree = abs(rate / source.rate - 1) <= 1e-6
        require(agree, f"{path}: a rate of {rate:.6g} Hz is stated, but the file itself says {source.rate:.6g} Hz")
    sizes = [in_si(unit) for unit in chosen.units]
    for column, (factor, _) in enumerate(sizes):
        if factor != 1.0:
            with np.errstate(over="ignore", under="ignore"):
                samples[:, column] *= factor
    assert rate is not None  # the layout has asked for it
    try:
        return Recording(chosen.names, tuple(si for _, si in sizes), samples, rate, start, str(path))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _require_numbers(values: Array, source: Source, columns: Sequence[int], path: Path, *, may_miss: int) -> None:
    """Refuse infinities, and NaN except in the first `may_miss` columns."""
    for i, column in enumerate(columns):
        bad = np.isinf(values[:, i]) if i < may_miss else ~np.isfinite(values[:, i])
        if not bad.any():
            continue
        row, count = int(np.argmax(bad)), int(bad.sum())
        infinite = bool(np.isinf(values[row, i]))
        what, hint = (
            ("infinite", "")
            if infinite
            else ("missing", "" if may_miss else ", or read with missing='mask' if a sample was lost")
        )
        more = f" (and in {count - 1} more rows)" if count > 1 else ""
        raise InputError(f"{path}: {source.place(row)}, column '{source.heads[column]}' is {what}{more}: mend it{hint}")
