"""Which columns of a file are the channels of a recording, in which units, and which one is time."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gough.core.errors import InputError, require
from gough.core.units import same_kind
from gough.data.sources import Source, find_column, nearest_name, require_unique, split_head, unit_of


@dataclass(frozen=True)
class Layout:
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


def layout(
    source: Source,
    path: Path,
    *,
    columns: Mapping[str, str] | None,
    units: Mapping[str, str],
    time: str | None,
    rate: float | None,
) -> Layout:
    """What the user asks for, found in the file."""
    time_column = _time_column(source, time, rate, path)
    names, places = _channels(source, columns, time_column, path)
    heads = {name: source.heads[place] for name, place in zip(names, places, strict=True)}
    given, time_unit = dict(units), "s"
    if time is not None and time_column is not None:
        head = source.heads[time_column]
        said = {time: given.pop(time)} if time in given else {}
        time_unit = _units({time: head}, said, path)[0] or "s"
        require(
            same_kind(time_unit, "s"),
            f"{path}, column '{head}': time cannot be measured in '{time_unit}'; it is in s, ms, µs, …",
        )
    for name, unit in given.items():
        require(name in heads, f"units state that '{name}' is in {unit}, but it is not read{nearest_name(name, heads)}")
    return Layout(names, places, _units(heads, given, path), time or "", time_column, time_unit)


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


def _units(heads: Mapping[str, str], given: Mapping[str, str], path: Path) -> tuple[str, ...]:
    """The unit of each channel, by what its head says and what the user says."""
    return tuple(unit_of(head, given.get(name), path) or "" for name, head in heads.items())
