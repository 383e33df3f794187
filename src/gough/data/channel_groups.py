"""Files whose channels come in groups with a clock each: topics of a bag, channel groups of a measurement file."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.data.sources import find_column, first_nan_of
from gough.data.times import Kind, Stamps, Times

TIME = "time"
"""Head of the times of a group."""


@dataclass(frozen=True, eq=False)
class ChannelGroup:
    """Channels that were recorded at the same instants."""

    name: str
    heads: tuple[str, ...]
    """Names of the channels, unique in the file, perhaps with units in brackets."""
    read: Callable[[], tuple[Times | None, Array, str]]
    """Reads the times, as `Source.times` has them, or None where the file states none; the channels (N, k); and a
    remark, such as where times come from."""
    kind: str = ""
    """What the group is in the file, such as a type of message."""
    row: str = "row"
    """What a sample is called in messages."""
    rate: float | None = None
    """Samples a second, where the file states it instead of times."""


class GroupSource:
    """One group of channels as a source: its times are the column `time`, behind its channels."""

    start: float = 0.0

    def __init__(self, path: Path, group: ChannelGroup, origin: int = 0) -> None:
        self._path, self.group, self._origin = path, group, origin
        self.rate: float | None = group.rate

    @cached_property
    def _read(self) -> tuple[Times | None, Array, str]:
        times, samples, note = self.group.read()
        require(len(samples) > 0, f"{self._path}: {self.group.name} has no sample")
        return times, samples, note

    @property
    def note(self) -> str:
        """A remark on the group; empty where there is none."""
        return self._read[2] and f"{self.group.name}: {self._read[2]}"

    @property
    def heads(self) -> tuple[str, ...]:
        """The channels, and the column of times where the file states times."""
        return self.group.heads if self._read[0] is None else (*self.group.heads, TIME)

    def load(self, columns: Sequence[int], *, missing: bool) -> Array:  # noqa: ARG002 - the caller refuses NaN
        """The columns (N, k)."""
        return np.asfortranarray(self._read[1][:, list(columns)])

    def first_nan(self, columns: Sequence[int]) -> tuple[int, int] | None:
        """Row and column of the first NaN; None without any."""
        return first_nan_of(self.load(columns, missing=True), columns)

    def times(self, column: int) -> Times:
        """The times of the group, counted from the origin of the file; or another column of it."""
        times = self._read[0]
        if column < len(self.group.heads) or times is None:
            return self._read[1][:, column]
        if isinstance(times, Stamps) and self._origin:
            return Stamps(Kind.ELAPSED, times.nanoseconds - self._origin, times.missing)
        return times

    def place(self, row: int) -> str:
        """What to call a row in a message."""
        return f"{self.group.row} {row + 1} of '{self.group.name}'"

    def places(self, rows: int) -> tuple[str, ...]:
        """Names of the first rows."""
        return tuple(map(self.place, range(rows)))

    def first(self) -> int | None:
        """The first instant in nanoseconds since 1970, where the file states dates."""
        times = self._read[0]
        if not isinstance(times, Stamps) or times.kind is Kind.ELAPSED:
            return None
        return int(times.nanoseconds.min())


class GroupedSource:
    """A file with several groups of channels."""

    def __init__(self, path: Path, groups: Iterable[ChannelGroup], *, what: str = "groups") -> None:
        self.path, self.groups, self._what = path, tuple(groups), what
        require(bool(self.groups), f"{path} holds no channel of numbers")

    def chosen(self, columns: Sequence[str] | None) -> tuple[tuple[GroupSource, tuple[str, ...]], ...]:
        """The groups that hold the columns, each with those that it holds; times of all count from one instant.

        Raises:
            InputError: a column is in none of them, or columns is None though there are several groups.
        """
        if columns is None:
            if len(self.groups) > 1:
                names = ", ".join(group.name for group in self.groups[:8])
                more = ", …" if len(self.groups) > 8 else ""
                raise InputError(
                    f"{self.path} has {len(self.groups)} {self._what} ({names}{more}): choose channels by columns; "
                    f"gough look {self.path} lists them"
                )
            return ((GroupSource(self.path, self.groups[0]), self.groups[0].heads),)
        heads = [head for group in self.groups for head in group.heads]
        owners = [group for group in self.groups for _ in group.heads]
        found: dict[int, tuple[ChannelGroup, list[str]]] = {}
        for wanted in columns:
            owner = owners[find_column(heads, wanted, self.path)]
            found.setdefault(id(owner), (owner, []))[1].append(wanted)
        if len(found) == 1:
            ((group, wanted_ones),) = found.values()
            return ((GroupSource(self.path, group), tuple(wanted_ones)),)
        sources = [GroupSource(self.path, group) for group, _ in found.values()]
        firsts = [source.first() for source in sources]
        dated = [first for first in firsts if first is not None]
        if dated and len(dated) < len(firsts):
            names = ", ".join(source.group.name for source in sources)
            raise InputError(f"{self.path}: some of {names} have dates and others none: choose channels of one of them")
        origin = min(dated, default=0)
        return tuple((GroupSource(self.path, group, origin), tuple(wanted)) for group, wanted in found.values())

    def began(self, sources: Sequence[GroupSource]) -> str:
        """Date and time of the first sample of some groups, from which their times count; empty where there is none."""
        firsts = [first for source in sources if (first := source.first()) is not None]
        return Stamps(Kind.ABSOLUTE, np.array([min(firsts)])).shown(0) if firsts else ""


def unique_heads(groups: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, ...]]:
    """Names of channels, with the name of the group before those that stand in several groups.

    Examples:
        >>> unique_heads([("slow", ["T", "q1"]), ("fast", ["q1"])])
        [('T', 'slow/q1'), ('fast/q1',)]
    """
    everywhere = [name for _, names in groups for name in names]
    return [
        tuple(f"{group}/{name}" if everywhere.count(name) > 1 else name for name in names) for group, names in groups
    ]
