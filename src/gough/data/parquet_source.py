"""Columns of numbers in Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, require
from gough.data.parquet_pages import require_sound_pages
from gough.data.recording import Recording
from gough.data.sources import joined_head, readable, require_kind, require_unpacked_size
from gough.data.times import Kind, Stamps

_TIME = "time [s]"
_MAGIC = b"PAR1"
_RATE, _START = "gough_rate", "gough_start"


class ParquetSource:
    """A Parquet file: its heads and types are known, its columns are read on demand."""

    def __init__(self, path: Path) -> None:
        import polars as pl  # noqa: PLC0415 - start-up time

        self._path = path
        rows = _require_whole(path)
        with _readable(path):
            self._types = pl.read_parquet_schema(path)
            notes = pl.read_parquet_metadata(path)
        require_unpacked_size(path, 8 * rows * len(self._types))
        self.heads = tuple(self._types)
        self.rate: float | None = None
        self.start = 0.0
        if _RATE in notes and _START in notes:  # what gough wrote: its times say nothing new, and less exactly
            with readable(path, "Parquet"):
                self.rate, self.start = float.fromhex(notes[_RATE]), float.fromhex(notes[_START])
            self.heads = tuple(head for head in self.heads if head != _TIME)

    def load(self, columns: Sequence[int], *, missing: bool) -> Array:  # noqa: ARG002 - the caller refuses NaN
        """The columns (N, k), NaN where a value is null."""
        import polars as pl  # noqa: PLC0415 - start-up time

        names = [self.heads[column] for column in columns]
        for name in names:
            kind = self._types[name]
            numeric = kind.is_numeric() or kind in (pl.Boolean, pl.Null)
            require(numeric, f"{self._path}: column '{name}' holds {kind}, not numbers")
        with _readable(self._path):
            frame = pl.read_parquet(self._path, columns=names, glob=False)
            result = np.empty((frame.height, len(names)), order="F")
            for i, name in enumerate(names):
                result[:, i] = frame[name].cast(pl.Float64).to_numpy()
        return result

    def first_nan(self, columns: Sequence[int]) -> tuple[int, int] | None:
        """Row and column of the first NaN, other than a null; None without any."""
        import polars as pl  # noqa: PLC0415 - start-up time

        for column in columns:
            with _readable(self._path):
                series = pl.read_parquet(self._path, columns=[self.heads[column]], glob=False)[self.heads[column]]
            bad = np.flatnonzero(series.cast(pl.Float64).is_nan().fill_null(value=False).to_numpy())
            if bad.size:
                return int(bad[0]), column
        return None

    def times(self, column: int) -> Any:
        """The column of times: numbers, texts, or stamps where it holds dates, times of day or durations."""
        import polars as pl  # noqa: PLC0415 - start-up time

        name = self.heads[column]
        kind = self._types[name]
        if not (kind.is_temporal() or kind.is_integer() or kind == pl.String):
            return self.load([column], missing=True)[:, 0]
        with _readable(self._path):
            series = pl.read_parquet(self._path, columns=[name], glob=False)[name]
            if kind == pl.String:
                return tuple(series.fill_null("").to_list())
            missing = series.is_null().to_numpy()
            if kind.is_integer():
                exact = not missing.any() and kind not in (pl.UInt64, pl.Int128)
                return (series.cast(pl.Int64) if exact else series.cast(pl.Float64)).to_numpy()
            if isinstance(kind, pl.Datetime | pl.Duration):
                return self._stamps(series, kind, missing)
            require(kind == pl.Time, f"{self._path}: column '{name}' holds dates without a time of day")
            return Stamps(Kind.OF_DAY, series.to_physical().fill_null(0).to_numpy().astype(np.int64), missing)

    def _stamps(self, series: Any, kind: Any, missing: Mask) -> Stamps:
        """Stamps of dates or durations; polars keeps dates with a zone in UTC."""
        counts, digits = series.to_physical().fill_null(0), {"ms": 3, "us": 6, "ns": 9}[kind.time_unit]
        values = counts.to_numpy().astype(np.int64)
        scale = 10 ** (9 - digits)
        fits = not values.size or max(int(values.max()), -int(values.min())) < (1 << 63) // scale
        require(fits, f"{self._path}: column '{series.name}' holds dates beyond the years 1678 to 2261")
        zoned = getattr(kind, "time_zone", None) is not None
        which = Kind.ELAPSED if not hasattr(kind, "time_zone") else Kind.ABSOLUTE if zoned else Kind.LOCAL
        return Stamps(which, values * scale, missing, digits)

    def place(self, row: int) -> str:
        """What to call a row in a message."""
        return f"row {row + 1}"

    def places(self, rows: int) -> tuple[str, ...]:
        """Numbers of the first rows."""
        return tuple(map(self.place, range(rows)))


def write_parquet(file: BinaryIO, recording: Recording) -> None:
    """A column of times and one per channel; rate and start also as notes, so that no bit of them is lost."""
    frame_of(recording).write_parquet(
        file, metadata={_RATE: recording.rate.hex(), _START: recording.start.hex()}, statistics=False
    )


def write_csv(file: BinaryIO, recording: Recording) -> None:
    """A column of times and one per channel, numbers with as many digits as it takes to read them back exactly."""
    times = recording.times
    rising = len(times) == 1 or bool((times[1:] > times[:-1]).all())
    require(rising, f"times from {recording.start:g} s on are not distinct at {recording.rate:g} Hz")
    frame_of(recording).write_csv(file)


def frame_of(recording: Recording) -> Any:
    """The recording as a table with a column of times."""
    import polars as pl  # noqa: PLC0415 - start-up time

    heads = [joined_head(name, unit) for name, unit in zip(recording.names, recording.units, strict=True)]
    require("time" not in recording.names, "a channel cannot be called 'time' in a file that has a column of times")
    columns = [pl.Series(_TIME, recording.times)]
    columns += [pl.Series(head, np.ascontiguousarray(x)) for head, x in zip(heads, recording.samples.T, strict=True)]
    return pl.DataFrame(columns)


def _require_whole(path: Path) -> int:
    """The number of rows of a file with beginning and end: the table of contents of a Parquet file is its last part."""
    with path.open("rb") as file:
        begin = file.read(8)
        require_kind(path, "Parquet", begin)
        file.seek(0, 2)
        size = file.tell()
        file.seek(max(size - 8, 0))
        length, end = file.read(4), file.read(4)
    whole = size >= 12 and begin[:4] == end == _MAGIC and int.from_bytes(length, "little") <= size - 12
    require(whole, f"{path} is not a complete Parquet file, perhaps cut off: copy or save it again")
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return require_sound_pages(data)
    except InputError as error:
        raise InputError(
            f"{path} is not a complete Parquet file but damaged ({error}): copy or save it again"
        ) from error


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    from polars.exceptions import PanicException  # noqa: PLC0415 - start-up time

    try:
        with readable(path, "Parquet"):
            yield
    except PanicException as error:  # not an Exception
        raise InputError(f"{path} is not a complete Parquet file but damaged: copy or save it again") from error
