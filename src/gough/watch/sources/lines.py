"""Lines of a stream, as CSV below a head or as JSON objects, become samples in SI units."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.units import LARGEST, factor_between, in_si
from gough.data.cut_lines import seems_cut
from gough.data.sources import find_column, require_unique, split_head, unit_of

LONGEST = 1 << 16
"""Bytes of a line; what is longer is no sample."""
_LOOKED_AT = 1 << 12
"""Bytes of complete lines with which a last line without its end is compared."""
_SEPARATORS = ",;\t"
_NUMBER = re.compile(rb"[ \t]*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[ \t]*")
_MISSING = frozenset({"", "nan", "na", "null", "none", "-"})


@dataclass(frozen=True)
class Channels:
    """What is read from a stream: times, then positions and efforts, with their columns and units.

    Examples:
        >>> Channels("time", {"q1": "angle"}, {"q1": "deg"}, {"q1": "rad"}).names
        ('q1',)
    """

    time: str | None
    """Name of the column of times; None: samples are counted, and `rate` makes times of them."""
    columns: Mapping[str, str]
    """Channel = column, in the order of the values."""
    units: Mapping[str, str]
    """Channel, or the column of times, = its unit, where it is stated."""
    wanted: Mapping[str, str]
    """Channel = the unit that the model takes."""
    factors: Mapping[str, float] = field(default_factory=dict)
    """Channel = what its values are multiplied by besides, such as the gain of an amplifier."""
    rate: float | None = None

    def __post_init__(self) -> None:
        timed = self.time is not None or self.rate is not None
        require(timed, "a stream without a column of times needs a rate: state rate in [data]")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def factor(self, channel: str, unit: str | None) -> float:
        """What the numbers of a channel are multiplied by, if they are in this unit."""
        return (factor_between(unit, self.wanted[channel]) if unit else 1.0) * self.factors.get(channel, 1.0)


@dataclass
class Decoded:
    """Samples of some lines."""

    times: Array
    values: Array
    """(N, channels), NaN where a value is missing."""
    bad: list[tuple[int, str]]
    """Number and fault of each line that is no sample."""


class LineDecoder:
    r"""Decodes lines as they arrive; a line without its end waits. It *changes* with every piece.

    The first line decides: an object of JSON, or the head of CSV. A line that is no sample is left out and reported;
    the samples around it tell how many are lost.

    Examples:
        >>> channels = Channels("time", {"q1": "q1"}, {}, {"q1": "rad"})
        >>> decoder = LineDecoder(channels, "a.csv")
        >>> found = decoder.take(b"time,q1 [deg]\n0,180\n0.1,x\n0.2,9")
        >>> found.values.round(4).tolist(), found.bad
        ([[3.1416]], [(3, "column 'q1 [deg]' holds 'x', which is no number")])
        >>> decoder.take(b"0\n").times.tolist()
        [0.2]
    """

    def __init__(self, channels: Channels, name: str) -> None:
        self.channels, self.name = channels, name
        self.n_lines = self.n_counted = 0
        """Lines with their end so far, and samples that were counted where there are no times."""
        self.head = ""
        """The line of the columns' names; "{" for JSON."""
        self._rest = b""
        self._before = b""
        """The last lines that were complete."""
        self._separator = ","
        self._chosen: list[int] = []
        self._cells = 0
        self._heads: tuple[str, ...] = ()
        self._factors = np.ones(0)

    @property
    def n_waiting(self) -> int:
        """Bytes of the line that is not complete."""
        return len(self._rest)

    def take(self, data: bytes) -> Decoded:
        """The samples of all lines that are complete now."""
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        self._rest = data[end:]
        self._before = data[max(0, end - _LOOKED_AT) : end] if end else self._before
        require(
            len(self._rest) <= LONGEST,
            f"{self.name}, line {self.n_lines + 1} is longer than {LONGEST} bytes: expected CSV or JSON lines",
        )
        return self._decoded(data[:end])

    def end(self) -> Decoded:
        """The samples of a last line without its end, unless it seems to be cut off inside of a number."""
        data, self._rest = self._rest, b""
        others = self._before.decode("utf-8", "replace").split("\n")[1:-1]
        if (
            data.strip()
            and self.head not in ("", "{")
            and seems_cut(data.decode("utf-8", "replace"), others, self._separator)
        ):
            self.n_lines += 1
            fault = "has no end and fewer digits than the lines before it: it seems cut off, and is left out"
            return Decoded(np.zeros(0), np.zeros((0, len(self.channels.names))), [(self.n_lines, fault)])
        return self._decoded(data + b"\n" if data.strip() else b"")

    def _decoded(self, data: bytes) -> Decoded:
        while data and not self.head:
            line, _, data = data.partition(b"\n")
            self.n_lines += 1
            text = line.strip().removeprefix(b"\xef\xbb\xbf")
            if text.startswith(b"{"):
                self._begin("{")
                data = line + b"\n" + data
                self.n_lines -= 1
            elif text and not text.startswith(b"#"):
                self._begin(self._text(text))
        if not data:
            return Decoded(np.zeros(0), np.zeros((0, len(self.channels.names))), [])
        first = self.n_lines + 1
        self.n_lines += data.count(b"\n")
        if self.head == "{":
            return self._of_json(data, first)
        table = self._quickly(data)
        if table is None:
            return self._carefully(data, first)
        return self._samples(table[:, self._chosen], [])

    def _text(self, line: bytes) -> str:
        require(len(line) <= LONGEST, f"{self.name}, line {self.n_lines} is too long for a head of columns")
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.name}, line {self.n_lines} is not UTF-8 text: expected CSV or JSON lines"
            ) from error

    def _begin(self, head: str) -> None:
        """Find the channels in the head."""
        channels = self.channels
        if head == "{":
            self._separator = ","
            heads = tuple(filter(None, (channels.time, *channels.columns.values())))
            self._heads, self._chosen = heads, list(range(len(heads)))
        else:
            self._separator = max(_SEPARATORS, key=head.count)
            heads = tuple(cell.strip().strip('"').strip() for cell in head.split(self._separator))
            where = Path(self.name)
            numbers = [cell for cell in heads if _NUMBER.fullmatch(cell.encode())]
            require(
                len(numbers) < len(heads),
                f"{self.name}, line {self.n_lines} holds numbers where the names of the columns are expected: put a "
                "line of names above them",
            )
            require_unique(heads, where)
            wanted = filter(None, (channels.time, *channels.columns.values()))
            self._heads, self._chosen = heads, [find_column(heads, name, where) for name in wanted]
        self.head, self._cells = head, len(heads)
        self._factors = self._units(heads)

    def _units(self, heads: tuple[str, ...]) -> Array:
        channels, where = self.channels, Path(self.name)
        chosen = [heads[i] for i in self._chosen]
        factors = []
        if channels.time is not None:
            unit = unit_of(chosen.pop(0), channels.units.get("time", channels.units.get(channels.time)), where)
            factors.append(in_si(unit or "s")[0])
        for channel, head in zip(channels.names, chosen, strict=True):
            factors.append(channels.factor(channel, unit_of(head, channels.units.get(channel), where)))
        return np.array(factors)

    def _quickly(self, data: bytes) -> Array | None:
        """All cells as a table if every line has as many plain numbers as the head; else None."""
        n = data.count(b"\n")
        sep = self._separator.encode()
        if data.count(sep) != n * (self._cells - 1) or b'"' in data or b"#" in data or (sep != b"," and b"," in data):
            return None
        flat = data.replace(b"\r\n", b"\n")[:-1].replace(b"\n", b",").replace(sep, b",")
        try:
            values = np.array(flat.split(b","), dtype=np.float64)
        except ValueError:
            return None
        if len(values) != n * self._cells or b"_" in data:
            return None
        return values.reshape(n, self._cells)

    def _carefully(self, data: bytes, first: int) -> Decoded:
        """Each line for itself: a line that is no sample is reported."""
        rows: list[list[float]] = []
        bad: list[tuple[int, str]] = []
        for number, line in enumerate(data[:-1].split(b"\n"), start=first):
            if not line.strip() or line.lstrip().startswith(b"#"):
                continue
            cells = line.decode("utf-8", "backslashreplace").rstrip("\r").split(self._separator)
            if len(cells) != self._cells:
                bad.append((number, f"has {len(cells)} cells for {self._cells} columns"))
                continue
            try:
                rows.append([self._cell(cells[i], i) for i in self._chosen])
            except ValueError as error:
                bad.append((number, str(error)))
        return self._samples(np.array(rows).reshape(-1, len(self._chosen)), bad)

    def _cell(self, cell: str, column: int) -> float:
        text = cell.strip().strip('"').strip()
        if text.lower() in _MISSING:
            return np.nan
        comma = self._separator != "," and "," in text and "." not in text
        plain = text.replace(",", ".") if comma else text
        if _NUMBER.fullmatch(plain.encode()) is None:
            raise ValueError(f"column '{self._heads[column]}' holds '{text[:40]}', which is no number")
        return float(plain)

    def _of_json(self, data: bytes, first: int) -> Decoded:
        rows: list[list[float]] = []
        bad: list[tuple[int, str]] = []
        for number, line in enumerate(data[:-1].split(b"\n"), start=first):
            if not line.strip():
                continue
            try:
                rows.append(_values(json.loads(line), self._heads))
            except (ValueError, RecursionError) as error:
                bad.append((number, f"is no sample: {str(error)[:120]}"))
        return self._samples(np.array(rows).reshape(-1, len(self._heads)), bad)

    def _samples(self, table: Array, bad: list[tuple[int, str]]) -> Decoded:
        with np.errstate(all="ignore"):
            table = table * self._factors
        table[~(np.abs(table) <= LARGEST)] = np.nan
        if self.channels.time is not None:
            return Decoded(table[:, 0], table[:, 1:], bad)
        assert self.channels.rate is not None
        self.n_counted += len(table)
        times = (self.n_counted - len(table) + np.arange(len(table))) / self.channels.rate
        return Decoded(times, table, bad)

    def state(self) -> dict[str, Any]:
        """Text and numbers from which `restore` continues; a line that is not complete is read again."""
        return {"head": self.head, "n_lines": self.n_lines, "n_counted": self.n_counted}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue where `state` was taken."""
        if state["head"]:
            self._begin(state["head"])
        self.n_lines, self.n_counted, self._rest = int(state["n_lines"]), int(state["n_counted"]), b""


def _values(entry: Any, names: tuple[str, ...]) -> list[float]:
    """Numbers of an object by name; NaN for null and for what is not there."""
    if not isinstance(entry, dict):
        raise ValueError('expected an object such as {"time": 0.1, "q1": 2.0}')  # noqa: TRY004 - one kind of fault
    result = []
    for name in names:
        value = entry.get(name)
        if value is None:
            result.append(np.nan)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"'{split_head(name)[0]}' is no number")
        else:
            result.append(float(value) if abs(value) < LARGEST else np.nan)
    if np.isnan(result[0]):
        raise ValueError(f"'{names[0]}' is missing")
    return result
