"""Recordings as files: tables and arrays, ROS bags, and files of measurement systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, require
from gough.core.files import new_file
from gough.core.units import in_si
from gough.data.array_sources import write_mat, write_npz
from gough.data.channel_groups import GroupedSource, GroupSource
from gough.data.csv_source import CsvSource
from gough.data.formats import opened_recording
from gough.data.parquet_source import write_csv, write_parquet
from gough.data.recording import Recording
from gough.data.resampling import evened, join_recordings
from gough.data.sources import MASK, Source, find_column, nearest_name, require_unique, split_head, unit_of
from gough.data.times import Stamps, TimeColumn, Times, clock_of, uneven_clock_of

Missing = Literal["refuse", "mask", "bridge"]
"""Treatment of missing samples."""
_WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".mat": write_mat, ".npz": write_npz}


@dataclass(frozen=True)
class _Layout:
    """Channels by name, each with its column and unit in a file; and the column of times, if there is one."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    units: tuple[str, ...]
    time_name: str
    time_column: int | None
    time_unit: str | None
    """The unit of the times that the user states."""


def read_recording(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    time: str | None = "time",
    rate: float | None = None,
    missing: Missing = "refuse",
    resample: bool = False,
) -> Recording:
    r"""The recording in a file, in SI units: `.csv`, `.parquet`, `.mat`, `.npz` or `.h5`; a ROS bag (a rosbag2 folder,
    `.mcap`, `.db3`, `.bag`); or `.mf4`, `.tdms` or `.c3d`.

    A CSV file has a line of heads; cells are separated by commas, semicolons or tabs, and with the latter two numbers
    may have decimal commas. Arrays in `.mat` and `.npz` files are channels under their names, and a matrix `q` is the
    channels q1, q2, … A head may state its unit, as "q1 [deg]". Times are numbers, in seconds unless a unit is stated,
    or dates such as 2024-03-01 12:00:00.123, which then count from the first sample.

    Bags and files of measurement systems have groups of channels, such as topics, each with its own times. Channels are
    named as `gough look` lists them. Channels of several groups are interpolated to one grid: see
    `gough.data.join_recordings`.

    Args:
        path: The file; its suffix is the format.
        columns: The channels to read, each with the column that holds it; None takes every column that has a name.
        units: Units in the file, by channel, and of the times as "time": "deg", "mm", "ms", "rev/20000" for an
            encoder. They are converted to SI; "" stays where none is stated.
        time: The column of times; None if there is none, or if it does not count.
        rate: Samples a second, needed where there is no column of times, and compared with it where there is one.
        missing: "refuse" refuses missing samples: NaN, blank cells, gaps in time. "mask" and "bridge" both read them as
            NaN; in the preparation, `DropMissing()` masks the rows around them, and `DropMissing(bridge=3)` bridges
            isolated ones.
        resample: Whether uneven times are the exact instants of the samples. Samples are then interpolated by cubic
            splines to an even grid. By default the clock counts as even, and times may deviate from it by a quarter of
            a period.

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
    require(missing in get_args(Missing), f"missing must be 'refuse', 'mask' or 'bridge', not '{missing}'")
    good = rate is None or (bool(np.isfinite(rate)) and rate > 0)
    require(good, f"rate must be a positive number of Hz, not {rate}")
    source = opened_recording(path)
    stated = _Stated(columns, units or {}, time, rate, missing, resample)
    if isinstance(source, GroupedSource):
        return _of_groups(source, stated)
    return _of_source(source, path, stated)


@dataclass(frozen=True)
class _Stated:
    """What the caller of `read_recording` states."""

    columns: Mapping[str, str] | None
    units: Mapping[str, str]
    time: str | None
    rate: float | None
    missing: Missing
    resample: bool


def _of_source(source: Source, path: Path, stated: _Stated) -> Recording:
    good = source.rate is None or 0 < source.rate < np.inf
    require(good, f"{path}: its rate must be a positive number of Hz, not {source.rate}")
    chosen = _layout(source, path, columns=stated.columns, units=stated.units, time=stated.time, rate=stated.rate)
    rate = source.rate if stated.rate is None else stated.rate
    recording = _recording(source, chosen, path, rate, missing=stated.missing != "refuse", resample=stated.resample)
    note = source.note if isinstance(source, CsvSource) else ""
    return replace(recording, notes=(*recording.notes, note)) if note else recording


def _of_groups(file: GroupedSource, stated: _Stated) -> Recording:
    """Channels of a file with several clocks; those of several groups are brought to one grid."""
    wanted = None if stated.columns is None else tuple(stated.columns.values())
    require(wanted is None or len(wanted) > 0, "columns must name at least one channel")
    parts = file.chosen(wanted)
    if len(parts) == 1:
        source, _ = parts[0]
        recording = _of_source(source, file.path, stated)
        return replace(recording, notes=(*recording.notes, *filter(None, [source.note])))
    assert stated.columns is not None  # several groups only where channels are chosen
    names = ", ".join(source.group.name for source, _ in parts)
    require(
        stated.time is not None,
        f"{file.path}: channels of {names} have clocks of their own, which need their times: leave time as it is",
    )
    recordings = []
    for source, heads in parts:
        own = {name: head for name, head in stated.columns.items() if head in heads}
        recordings.append(_of_group(source, file.path, own, stated))
    together = join_recordings(recordings, stated.rate).select(stated.columns)
    return replace(together, source=str(file.path), began=file.began([source for source, _ in parts]))


def _of_group(source: GroupSource, path: Path, columns: Mapping[str, str], stated: _Stated) -> Recording:
    units = {name: unit for name, unit in stated.units.items() if name in columns or name not in (stated.columns or {})}
    recording = _of_source(source, path, replace(stated, columns=columns, units=units, rate=None))
    return replace(recording, source=source.group.name, notes=(*recording.notes, *filter(None, [source.note])))


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


def _recording(
    source: Source, chosen: _Layout, path: Path, rate: float | None, *, missing: bool, resample: bool
) -> Recording:
    samples = source.load(chosen.columns, missing=missing)
    require(len(samples) > 0, f"{path} has no row")
    _require_numbers(samples, source, chosen.columns, path, missing=missing)
    start, rows, began, jitter = source.start, None, "", 0.0
    notes: tuple[str, ...] = ()
    if chosen.time_column is not None:
        times = source.times(chosen.time_column)
        _require_as_many(times, samples, source, chosen, path)
        head = source.heads[chosen.time_column]
        about = TimeColumn(path, head, chosen.time_name, chosen.time_unit, source.place)
        if resample:
            uneven = uneven_clock_of(times, about, rate=rate)
            samples, gaps = evened(uneven.seconds, samples, uneven.rate)
            about.require_no_gap(uneven.seconds, gaps, missing=missing)
            rate, start, began, notes = uneven.rate, uneven.start, uneven.began, uneven.remarks
        else:
            clock = clock_of(times, about, rate=rate, missing=missing)
            rate, start, began, notes = clock.rate, clock.start, clock.began, clock.remarks
            samples, rows = _on_grid(samples, clock.place)
            jitter = clock.jitter
    elif rate is not None and source.rate is not None:
        agree = abs(rate / source.rate - 1) <= 1e-6
        require(agree, f"{path}: a rate of {rate:.6g} Hz is stated, but the file states {source.rate:.6g} Hz")
    sizes = [in_si(unit) for unit in chosen.units]
    for column, (factor, _) in enumerate(sizes):
        if factor != 1.0:
            with np.errstate(over="ignore", under="ignore"):
                samples[:, column] *= factor
    notes += tuple(
        f"channel '{name}' is in {unit}, a share: its values are {factor:g} of those in the file, without a unit"
        for name, unit, (factor, si) in zip(chosen.names, chosen.units, sizes, strict=True)
        if unit and not si
    )
    assert rate is not None  # the layout has asked for it
    try:
        units = tuple(si for _, si in sizes)
        return Recording(chosen.names, units, samples, rate, start, str(path), rows, began, notes, jitter)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _require_as_many(times: Times, samples: Array, source: Source, chosen: _Layout, path: Path) -> None:
    """Refuse a column of times that is longer or shorter than the channels."""
    count = len(times.nanoseconds) if isinstance(times, Stamps) else len(times)
    name = source.heads[chosen.columns[0]]
    require(
        count == len(samples),
        f"{path}: '{name}' has {len(samples)} values, but '{chosen.time_name}' has {count}: channels are recorded at "
        "the same instants; choose those that are by columns",
    )


def _require_numbers(values: Array, source: Source, columns: Sequence[int], path: Path, *, missing: bool) -> None:
    """Refuse infinities, and NaN unless samples may be missing."""
    for i, column in enumerate(columns):
        bad = np.isinf(values[:, i]) if missing else ~np.isfinite(values[:, i])
        if not bad.any():
            continue
        row, count = int(np.argmax(bad)), int(bad.sum())
        infinite = bool(np.isinf(values[row, i]))
        what, hint = ("infinite", "") if infinite else ("missing", f", or {MASK} if a sample was lost")
        more = f" (and in {count - 1} more rows)" if count > 1 else ""
        raise InputError(f"{path}: {source.place(row)}, column '{source.heads[column]}' is {what}{more}: mend it{hint}")


def _layout(
    source: Source,
    path: Path,
    *,
    columns: Mapping[str, str] | None,
    units: Mapping[str, str],
    time: str | None,
    rate: float | None,
) -> _Layout:
    """The columns of the requested channels and of time."""
    time_column = _time_column(source, time, rate, path)
    names, places = _channels(source, columns, time_column, path)
    heads = {name: source.heads[place] for name, place in zip(names, places, strict=True)}
    unit_of, time_unit = dict(units), None
    if time is not None and time_column is not None:
        names_of_time = [name for name in dict.fromkeys((time, "time")) if name in unit_of and name not in heads]
        stated = [unit_of.pop(name) for name in names_of_time]
        require(len(set(stated)) < 2, f"units state two units of the time, {' and '.join(map(repr, stated))}: keep one")
        time_unit = stated[0] if stated else None
    for name, unit in unit_of.items():
        require(name in heads, f"units state that '{name}' is in {unit}, but it is not read{nearest_name(name, heads)}")
    return _Layout(names, places, _units(heads, unit_of, path), time or "", time_column, time_unit)


def _time_column(source: Source, time: str | None, rate: float | None, path: Path) -> int | None:
    """The column of times, or None where a rate is enough."""
    stated = rate is not None or source.rate is not None
    if time is None:
        require(stated, f"{path}: without a column of times, state rate= in samples a second")
        return None
    if stated and all(time not in (head, split_head(head)[0]) for head in source.heads):
        return None
    try:
        return find_column(source.heads, time, path)
    except InputError as error:
        raise InputError(f"{error}. Name the column of times by time=, or state rate= if there is none") from error


def _channels(
    source: Source, columns: Mapping[str, str] | None, time_column: int | None, path: Path
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names of the channels, and their columns in the file."""
    if columns is not None:
        require(len(columns) > 0, "columns must name at least one channel")
        return tuple(columns), tuple(find_column(source.heads, wanted, path) for wanted in columns.values())
    places = tuple(i for i, head in enumerate(source.heads) if head and i != time_column)
    require(len(places) > 0, f"{path} has no column beside that of times")
    require_unique([source.heads[i] for i in places], path)
    return tuple(split_head(source.heads[i])[0] for i in places), places


def _units(heads: Mapping[str, str], stated: Mapping[str, str], path: Path) -> tuple[str, ...]:
    """The unit of each channel, by its head and by the user's statement."""
    return tuple(unit_of(head, stated.get(name), path) or "" for name, head in heads.items())


def _on_grid(samples: Array, place: Integers) -> tuple[Array, Integers | None]:
    """Samples (N, n) on the grid, NaN where one was lost; and their rows, as in `Recording.rows`."""
    size = int(place[-1]) + 1
    if size == len(samples):
        return samples, None
    grid = np.full((size, samples.shape[1]), np.nan, order="F")
    grid[place] = samples
    rows = -np.searchsorted(place, np.arange(size), side="right")
    rows[place] *= -1
    return grid, rows
