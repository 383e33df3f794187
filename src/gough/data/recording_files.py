"""Recordings as files: CSV, Parquet, MATLAB `.mat` and `.npz`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, require
from gough.core.files import new_file
from gough.core.units import LARGEST, in_si, same_kind
from gough.data.array_sources import write_mat, write_npz
from gough.data.formats import opened
from gough.data.parquet_source import write_csv, write_parquet
from gough.data.recording import Recording
from gough.data.sources import MASK, Source, find_column, nearest_name, require_unique, split_head, unit_of

_WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".mat": write_mat, ".npz": write_npz}
_JITTER = 0.25
"""Share of a period that a time may be away from the even grid: written with few digits, or stamped late."""
_DISAGREES = 0.005
"""Share by which a stated rate may differ from that of the times: two clocks are never quite alike."""
_MOST_LOST = 0.5
"""Share of samples that may be missing in time."""


@dataclass(frozen=True)
class _Layout:
    """Channels by name, each with its column and unit in a file; and the column of times, if there is one."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    units: tuple[str, ...]
    time_name: str
    time_column: int | None
    time_unit: str

    @property
    def all_columns(self) -> tuple[int, ...]:
        """Those of the channels and, as the last one, that of times."""
        return self.columns if self.time_column is None else (*self.columns, self.time_column)


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
        path: The file; its suffix is the format.
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
    source = opened(path, "recordings")
    good = source.rate is None or 0 < source.rate < np.inf
    require(good, f"{path}: its rate must be a positive number of Hz, not {source.rate}")
    chosen = _layout(source, path, columns=columns, units=units or {}, time=time, rate=rate)
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


def _recording(source: Source, chosen: _Layout, path: Path, rate: float | None, *, missing: bool) -> Recording:
    values = source.load(chosen.all_columns, missing=missing)
    require(len(values) > 0, f"{path} has no row")
    n = len(chosen.names)
    _require_numbers(values, source, chosen.all_columns, path, may_miss=n if missing else 0)
    samples, start, rows = values[:, :n], source.start, None
    if chosen.time_column is not None:
        with np.errstate(over="ignore", under="ignore"):
            seconds = values[:, n] * in_si(chosen.time_unit)[0]
        late = np.flatnonzero(~(abs(seconds) < LARGEST))
        require(not late.size, f"{path}, column '{chosen.time_name}': {values[late[:1], n]} is no time")
        rate, start, place = _even_clock(
            seconds,
            stated=rate,
            name=chosen.time_name,
            where=lambda row: f"{path}: {source.place(row)}",
            missing=missing,
        )
        samples, rows = _on_grid(samples, place)
    elif rate is not None and source.rate is not None:
        agree = abs(rate / source.rate - 1) <= 1e-6
        require(agree, f"{path}: a rate of {rate:.6g} Hz is stated, but the file states {source.rate:.6g} Hz")
    sizes = [in_si(unit) for unit in chosen.units]
    for column, (factor, _) in enumerate(sizes):
        if factor != 1.0:
            with np.errstate(over="ignore", under="ignore"):
                samples[:, column] *= factor
    assert rate is not None  # the layout has asked for it
    try:
        return Recording(chosen.names, tuple(si for _, si in sizes), samples, rate, start, str(path), rows)
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
            ("infinite", "") if infinite else ("missing", "" if may_miss else f", or {MASK} if a sample was lost")
        )
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
    unit_of, time_unit = dict(units), "s"
    if time is not None and time_column is not None:
        head = source.heads[time_column]
        stated = {time: unit_of.pop(time)} if time in unit_of else {}
        time_unit = _units({time: head}, stated, path)[0] or "s"
        require(
            same_kind(time_unit, "s"),
            f"{path}, column '{head}': time cannot be measured in '{time_unit}'; it is in s, ms, µs, …",
        )
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


def _even_clock(
    times: Array, *, stated: float | None, name: str, where: Callable[[int], str], missing: bool
) -> tuple[float, float, Integers]:
    """The rate and the start of a column of times in seconds, and the place of each row on that even grid.

    Args:
        times: (N,) in seconds.
        stated: The rate that the user or the file states.
        name: Name of the column, for messages.
        where: File and row, counted from 0, for messages.
        missing: Whether gaps of whole samples are allowed.

    Raises:
        InputError: times do not rise, are uneven, have gaps that are not allowed, or contradict the stated rate.
    """
    if len(times) == 1:
        if stated is None:
            raise InputError(f"{where(0)} is the only one: a sampling rate needs two rows, or rate=")
        return float(stated), float(times[0]), np.zeros(1, dtype=np.int64)
    steps = np.diff(times)
    _require_rising(times, steps, name, where)
    place = _places(times, steps, name, where, missing=missing)
    rate, start = place[-1] / (times[-1] - times[0]), float(times[0])
    _require_agreement(float(rate), stated, name, where)
    off = abs(times - (start + place / rate))
    worst = int(np.argmax(off))
    if off[worst] * rate > _JITTER:
        raise InputError(
            f"{where(worst)}, column '{name}': sampling is not even, {times[worst]:.9g} s is {off[worst] * rate:.0%} "
            f"of a period away from an even {rate:.6g} Hz. Resample the recording; or, if its clock was even and only "
            "the times are inexact, leave them out by time=None and state rate="
        )
    if stated is not None:
        return float(stated), start, place
    doubt = 2 * (off[worst] + np.spacing(abs(times).max())) / (times[-1] - times[0])
    return _shortest(float(rate), float(doubt)), start, place


def _require_rising(times: Array, steps: Array, name: str, where: Callable[[int], str]) -> None:
    wrong = np.flatnonzero(steps <= 0)
    if wrong.size:
        row = int(wrong[0]) + 1
        verb = "stands still" if steps[row - 1] == 0 else "runs backwards"
        raise InputError(
            f"{where(row)}, column '{name}': time {verb}, {times[row]:.9g} s after {times[row - 1]:.9g} s"
            f"{f' (and in {wrong.size - 1} more rows)' if wrong.size > 1 else ''}: "
            "are two recordings in one file? Split it there; if only the times are wrong, give time=None and rate="
        )


def _require_agreement(rate: float, stated: float | None, name: str, where: Callable[[int], str]) -> None:
    if stated is None or abs(stated / rate - 1) <= _DISAGREES:
        return
    units = {1000.0: "ms", 1e6: "µs", 1e9: "ns", 1 / 60: "min"}
    unit = next((unit for ratio, unit in units.items() if abs(stated / rate / ratio - 1) < 0.05), "")
    hint = f"give units={{'{name}': '{unit}'}} if time is in {unit}" if unit else "drop rate=, or give time=None"
    raise InputError(
        f"{where(0).rpartition(':')[0]}: a rate of {stated:.6g} Hz is stated, but column '{name}' runs at {rate:.6g} "
        f"Hz (rows are {1 / rate:.6g} s apart): {hint}"
    )


def _places(times: Array, steps: Array, name: str, where: Callable[[int], str], *, missing: bool) -> Integers:
    """Place of each sample in the grid; gaps are whole numbers of samples."""
    longest = 1.5 * np.median(steps)
    gaps = np.flatnonzero(steps > longest)
    if not gaps.size:
        return np.arange(len(times))
    row = int(gaps[0]) + 1
    lost = np.rint(steps / steps[steps <= longest].mean()).astype(np.int64) - 1

    def jump() -> str:
        return f"{where(row)}, column '{name}': time jumps from {times[row - 1]:.9g} s to {times[row]:.9g} s"

    total = int(lost[gaps].sum())
    more = f", {total} in all" if gaps.size > 1 else ""
    if not missing:
        raise InputError(f"{jump()}, about {lost[row - 1]} samples are lost there{more}: {MASK}")
    if total > _MOST_LOST * len(times):
        raise InputError(f"{jump()}: {total} samples are lost beside {len(times)} that are there: split it there")
    return np.concatenate([[0], np.cumsum(np.maximum(lost, 0) + 1)])


def _shortest(rate: float, doubt: float) -> float:
    """The shortest decimal number that the rate, or its inverse, can be, within a relative doubt.

    Examples:
        >>> _shortest(999.9999999999999, 1e-15), _shortest(333.3333333333334, 1e-15)
        (1000.0, 333.3333333333333)
    """
    for digits in range(1, 17):
        for candidate in (float(f"{rate:.{digits}g}"), 1 / float(f"{1 / rate:.{digits}g}")):
            if abs(candidate - rate) <= doubt * rate:
                return candidate
    return rate
