"""Columns of numbers in CSV files: quickly where a file is as it should be, cell by cell where it is not."""

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.data.capture_csv import captured
from gough.data.cut_lines import seems_cut
from gough.data.sources import MASK, require_kind

_SEPARATORS = (",", ";", "\t")
_COMMENTS = ("#", "%", "//")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(rb"\d,\d")
_NOT_THERE = {"", "nan", "na", "n/a", "#n/a", "#nv", "null", "none", "-", "--"}
_INFINITE = re.compile(r"[+-]?(?:inf|infinity|∞)", re.IGNORECASE)
_BLOCK = 1 << 18
_LOOKED_AT = 1 << 14
"""Bytes at the end of a file that tell whether it is cut off."""


class CsvSource:
    """A CSV file in memory: its heads are known, its numbers are read on demand.

    Comment lines before the heads are skipped. Cells are separated by commas, semicolons or tabs; with the latter two
    numbers may have decimal commas. Heads of several lines, as programs of motion capture write them, are joined: see
    `gough.data.capture_csv`. Programs of laser trackers write rows without heads, which `heads` then states; only in
    such files blanks may separate cells.
    """

    rate: float | None = None
    start: float = 0.0

    def __init__(self, path: Path, heads: Sequence[str] = ()) -> None:
        self._path = path
        self._data = path.read_bytes()
        require_kind(path, "CSV", self._data[:8])
        if heads:
            self._without_heads(tuple(heads))
            return
        if (capture := captured(self._data, path)) is not None:
            self.heads, self.rate, self._begin, self._line = capture
            self._end, self._separator, self._n_cells = len(self._data.rstrip()), ",", len(self.heads)
            self._decimal_comma = False
            return
        self._begin, self._line, head = _head_line(self._data, path)
        self._end = len(self._data.rstrip()) if self._data[-2:].isspace() else len(self._data)
        try:
            self._separator = _separator(head, self._first_row())
            self.heads = tuple(cell.strip() for cell in next(csv.reader([head], delimiter=self._separator)))
        except csv.Error as error:
            raise InputError(
                f"{path}, line {self._line} or the one below it is no row of cells ({error}): the file is damaged, or "
                "its lines end in carriage returns alone; save it again as CSV"
            ) from error
        self._n_cells = len(self.heads)
        self._require_heads(head)
        commas = self._separator != "," and _has(self._data, self._begin, self._end, b",")
        self._decimal_comma = commas and _DECIMAL_COMMA.search(self._data, self._begin, self._end) is not None

    def _without_heads(self, heads: tuple[str, ...]) -> None:
        """Begin with the first line that is no comment: its cells are numbers and names of a row."""
        begin, line, first = _head_line(self._data, self._path)
        self._line = line - 1
        self._begin = max(self._data.rfind(b"\n", 0, begin - 1) + 1, 3 if self._data.startswith(b"\xef\xbb\xbf") else 0)
        self._end = len(self._data.rstrip())
        counts = {s: len(next(csv.reader([first], delimiter=s))) for s in _SEPARATORS}
        self._separator = max(_SEPARATORS, key=lambda s: counts[s])
        if max(counts.values()) == 1 and " " in first.strip():
            self._separator = " "
        cells = first.split() if self._separator == " " else next(csv.reader([first], delimiter=self._separator))
        require(
            len(cells) == len(heads),
            f"{self._path}, line {line} has {len(cells)} cells, but heads states names of {len(heads)} columns: state "
            "one for each column, in their order",
        )
        named = [
            cell.strip() for cell in cells if cell.strip() and not _NUMBER.fullmatch(cell.strip().replace(",", "."))
        ]
        require(
            len(named) < len(cells),
            f"{self._path}, line {line} holds names ({', '.join(named[:4])}), not numbers: leave out heads, since the "
            "file has its own",
        )
        self.heads, self._n_cells = heads, len(heads)
        commas = self._separator != "," and _has(self._data, self._begin, self._end, b",")
        self._decimal_comma = commas and _DECIMAL_COMMA.search(self._data, self._begin, self._end) is not None

    def load(self, columns: Sequence[int], *, missing: bool) -> Array:
        """The columns (N, k), NaN where a cell is blank or marks a missing value."""
        values = self._quickly(columns, missing=missing)
        return self._carefully(columns, missing=missing) if values is None else values

    def first_nan(self, columns: Sequence[int]) -> tuple[int, int] | None:
        """Row and column of the first cell that is written NaN; None without any."""
        for number, _, cells in self._whole_rows():
            for column in columns:
                if cells[column].strip().lower() == "nan":
                    return number - 1, column
        return None

    def times(self, column: int) -> Any:
        """The column of times: numbers, or texts if its first cell is neither blank nor a number."""
        first = next((cells[column].strip() for _, _, cells in self._whole_rows()), "")
        if first.lower() in _NOT_THERE or _INFINITE.fullmatch(first) or self._is_number(first):
            return self.load([column], missing=True)[:, 0]
        return tuple(cells[column] for _, _, cells in self._whole_rows())

    def place(self, row: int) -> str:
        """What to call a row in a message."""
        for number, (line, _) in enumerate(self._rows()):
            if number == row:
                return f"row {row + 1} (line {line})"
        return f"row {row + 1}"

    @property
    def note(self) -> str:
        """That the file seems to be cut off inside of its last number; empty if it does not."""
        if self._data.endswith((b"\n", b"\r")):
            return ""
        end = self._data[max(self._begin, self._end - _LOOKED_AT) : self._end]
        *others, last = end.decode("utf-8", "replace").split("\n")
        if not seems_cut(last, others[1:], self._separator):
            return ""
        line = self._data.count(b"\n") + 1
        return (
            f"line {line} has no end, and '{last.strip()[-20:]}' has fewer digits than the lines before it: the file "
            "seems to be cut off there; copy it again, or delete that line"
        )

    def places(self, rows: int) -> tuple[str, ...]:
        """Lines of the first rows."""
        return tuple(f"line {line}" for line, _ in islice(self._rows(), rows))

    def _first_row(self) -> str:
        for stripped in (raw.strip() for raw in self._data[self._begin : self._begin + 65536].split(b"\n")):
            if stripped and not stripped.startswith(tuple(c.encode() for c in _COMMENTS)):
                return stripped.decode("utf-8", "replace")
        return ""

    def _require_heads(self, head: str) -> None:
        where = f"{self._path}, line {self._line}"
        first = self._first_row()
        numbers = [cell for cell in self.heads if cell and _NUMBER.fullmatch(cell)]
        decimals = [cell for cell in numbers if not cell.isdigit()]  # columns may be called 1, 2, …, but not 0.25, 0.31
        require(
            len(numbers) < len([cell for cell in self.heads if cell]) and len(decimals) < 2,
            f"{where} holds numbers where the names of the columns are expected: put a line of names above them"
            + (" (names in a comment line do not count)" if self._line > 1 else "")
            + '; studies of calibrations may state them, heads = ["name", "x [mm]", …]',
        )
        require(first != "", f"{self._path} has no row below its heads")
        blanks = self._n_cells == 1 and " " in head.strip() and len(first.split()) == len(head.split()) > 1
        advice = "separate them by commas, semicolons or tabs"
        if blanks and all(_NUMBER.fullmatch(cell) for cell in head.split()):
            advice += ', or state the names that it lacks, heads = ["x [mm]", …], in the study of a calibration'
        require(not blanks, f"{where}: cells are separated by blanks; {advice}")

    def _quickly(self, columns: Sequence[int], *, missing: bool) -> Array | None:
        """What polars reads, if the file is even and every number is plain; otherwise None."""
        import polars as pl  # noqa: PLC0415 - start-up time

        body = self._data, self._begin, self._end
        if _has(*body, b'"') or (self._decimal_comma and _has(*body, b".")):
            return None
        if not self._is_even:
            return None
        try:
            frame = pl.read_csv(
                self._data if self._end == len(self._data) else self._data[: self._end],
                has_header=False,
                skip_lines=self._line,
                separator=self._separator,
                quote_char=None,
                schema={str(i): pl.Float64 for i in range(self._n_cells)},
                columns=sorted(set(columns)),
                null_values=sorted(_NOT_THERE - {""}) if missing else None,
                decimal_comma=self._decimal_comma,
            )
        except pl.exceptions.PolarsError:
            return None
        result = np.empty((frame.height, len(columns)), order="F")
        for i, column in enumerate(columns):
            result[:, i] = frame[str(column)].to_numpy()
        bad = np.isinf(result) if missing else ~np.isfinite(result)
        return None if bad.any() else result

    @cached_property
    def _is_even(self) -> bool:
        return _is_even(self._data, self._begin, self._end, self._separator, self._n_cells)

    def _carefully(self, columns: Sequence[int], *, missing: bool) -> Array:
        """Every cell looked at: slow, and each refusal names the cell."""
        values = array("d")
        for number, line, cells in self._whole_rows():
            where = f"{self._path}: row {number} (line {line})"
            values.extend(self._cell(cells[c], f"{where}, column '{self.heads[c]}'", missing=missing) for c in columns)
        return np.frombuffer(values).reshape(-1, len(columns)).copy(order="F")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line numbers and cells of all rows."""
        text = io.TextIOWrapper(
            io.BytesIO(self._data[self._begin : self._end]), "utf-8", "backslashreplace", newline=""
        )
        lines = (re.sub(r"\s+", " ", each.strip()) for each in text) if self._separator == " " else text
        rows = csv.reader(lines, delimiter=self._separator)
        try:
            for cells in rows:
                blank = not cells or (len(cells) == 1 < self._n_cells and not cells[0].strip())
                if not blank and not cells[0].lstrip().startswith(_COMMENTS):
                    yield self._line + rows.line_num, cells
        except csv.Error as error:
            raise InputError(f"{self._path}, line {self._line + rows.line_num}: {error}") from error

    def _whole_rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Numbers from 1, lines and cells of all rows; a row with too few or too many cells is refused."""
        rows = self._rows()
        for number, (line, cells) in enumerate(rows, start=1):
            if len(cells) != self._n_cells:
                wrong = self._wrong_count(len(cells), is_last=next(rows, None) is None)
                raise InputError(f"{self._path}: row {number} (line {line}) {wrong}")
            yield number, line, cells

    def _is_number(self, text: str) -> bool:
        return _NUMBER.fullmatch(text.replace(",", ".") if self._decimal_comma else text) is not None

    def _cell(self, cell: str, where: str, *, missing: bool) -> float:
        text = cell.strip()
        both = self._decimal_comma and "." in text
        if self._is_number(text) and not both:
            value = float(text.replace(",", ".") if self._decimal_comma else text)
            require(abs(value) < np.inf, f"{where} holds '{text}', which is too large: mend it")
            return value
        if text.lower() in _NOT_THERE:
            if missing:
                return np.nan
            holds = f"holds '{text}'" if text else "is blank"
            raise InputError(f"{where} {holds}: mend it, or {MASK} if a sample was lost there")
        require(_INFINITE.fullmatch(text) is None, f"{where} holds '{text}', which is infinite: mend it")
        why = "which has a point though numbers have decimal commas here" if both else "which is not a number"
        raise InputError(f"{where} holds '{text:.40}', {why}: mend it")

    def _wrong_count(self, count: int, *, is_last: bool) -> str:
        if is_last and count < self._n_cells:
            why = "the file seems cut off: copy it again, or delete that line"
        elif self._separator == "," and count > self._n_cells:
            why = "mend it; if numbers have decimal commas, separate cells by semicolons"
        else:
            why = "mend that line"
        return f"has {count} cells for {self._n_cells} columns: {why}"


def _head_line(data: bytes, path: Path) -> tuple[int, int, str]:
    """Where the rows begin, the number of the line of heads, and that line."""
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in data[:200]
    require(
        not utf16, f"{path} is no plain text: it is UTF-16, which has to be saved as 'CSV UTF-8', or not CSV at all"
    )
    begin, line = (3 if data.startswith(b"\xef\xbb\xbf") else 0), 0
    while begin < len(data):
        end = data.find(b"\n", begin) + 1 or len(data)
        raw, begin, line = data[begin:end], end, line + 1
        try:
            text = raw.decode("utf-8").strip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {line} is not UTF-8 text (byte 0x{raw[error.start]:02X} in "
                f"'{raw.decode('latin-1').strip():.60}'): save it as 'CSV UTF-8'"
            ) from error
        if text.strip() and not text.lstrip().startswith(_COMMENTS):
            return begin, line, text
    raise InputError(f"{path} is empty" if not data.strip() else f"{path} holds nothing but comments")


def _separator(head: str, first: str) -> str:
    """What separates cells: most often in the line of heads, and as often in the first row if there is a choice."""
    counts = {s: len(next(csv.reader([head], delimiter=s))) for s in _SEPARATORS}
    if max(counts.values()) == 1:
        return ","
    rows = {s: len(next(csv.reader([first], delimiter=s), [])) for s in _SEPARATORS}
    return max(_SEPARATORS, key=lambda s: (counts[s] > 1 and counts[s] == rows[s], counts[s]))


def _has(data: bytes, begin: int, end: int, mark: bytes) -> bool:
    return data.find(mark, begin, end) >= 0


def _is_even(data: bytes, begin: int, end: int, separator: str, n_cells: int) -> bool:
    """Whether every line has as many cells as there are heads; quotes must not occur."""
    pattern = np.array([ord(separator)] * (n_cells - 1) + [ord("\n")], dtype=np.uint8)
    while begin < end:
        stop = data.rfind(b"\n", begin, min(begin + _BLOCK, end)) + 1 or end
        block = np.frombuffer(data, np.uint8, stop - begin, begin)
        marks = block[(block == pattern[0]) | (block == pattern[-1])]
        if stop == end and data[end - 1] != ord("\n"):
            marks = np.append(marks, pattern[-1])
        if len(marks) % n_cells or not (marks.reshape(-1, n_cells) == pattern).all():
            return False
        begin = stop
    return True
