"""The table of contents of a Parquet file and the heads of its pages, checked before a library trusts them.

Polars allocates what the head of a page claims, and a claim that no memory can satisfy ends the process. The layout is
that of "Apache Parquet" with Thrift's compact protocol.
"""

from mmap import mmap
from typing import Any

from gough.core.errors import InputError, require

_DEEPEST = 16
_MOST = 1 << 31
_LARGEST_PAGE = 256 << 20
"""Bytes; writers make pages of about 1 MB."""
Fields = dict[int, Any]
"""The fields of a Thrift structure by their numbers."""


def require_sound_pages(data: bytes | mmap) -> int:
    """The number of rows of a Parquet file whose pages agree with its table of contents.

    Raises:
        InputError: sizes, places or numbers of values contradict each other.
    """
    try:
        contents = _Thrift(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little")).structure()
        rows = sum(_group_rows(data, group) for group in contents.get(4, []))
        require(rows == contents[3], f"{contents[3]} rows are announced, but there are {rows}")
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise InputError("its table of contents is damaged") from error
    return rows


def _group_rows(data: bytes | mmap, group: Fields) -> int:
    rows: int = group[3]
    require(rows >= 0, f"{rows} rows are announced")
    for column in group[1]:
        chunk = column[3]
        begin = min((place for place in (chunk.get(11), chunk[9]) if place), default=0)
        count, size = chunk[5], chunk[7]
        inside = begin >= 4 and size >= 0 and begin + size <= len(data) - 8 and count >= 0
        require(inside, "a column does not lie inside the file")
        values = _values(data, begin, begin + size)
        require(values == count, f"a column has {values} values, but {count} are announced")
    return rows


def _values(data: bytes | mmap, at: int, end: int) -> int:
    """Number of values in the data pages from one place of the file to another."""
    total = 0
    while at < end:
        reader = _Thrift(data, at)
        head = reader.structure()
        for number in (1, 2, 3):
            require(0 <= head[number] <= _LARGEST_PAGE, "the head of a page is damaged")
        for kind in (5, 7, 8):  # data, dictionary, data of version 2
            numbers = [n for n in head.get(kind, {}).values() if type(n) is int]
            require(all(0 <= n < _MOST for n in numbers), "the head of a page is damaged")
        total += sum(head[kind][1] for kind in (5, 8) if kind in head)
        at = reader.at + head[3]
        require(at <= end, "a page does not lie inside its column")
    return total


class _Thrift:
    """Thrift's compact protocol from one place of a file on."""

    def __init__(self, data: bytes | mmap, at: int) -> None:
        self.data, self.at = data, at
        require(0 <= at < len(data), "its table of contents is not inside the file")

    def structure(self, depth: int = 0) -> Fields:
        require(depth < _DEEPEST, "its table of contents is nested too deeply")
        fields: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 0xF, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._unsigned())
            case 9 | 10:
                return self._list(depth)
            case 12:
                return self.structure(depth + 1)
        raise InputError(f"its table of contents holds data of kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        require(depth < _DEEPEST, "its table of contents is nested too deeply")
        head = self._byte()
        size = head >> 4 if head >> 4 != 0xF else self._unsigned()
        require(size <= len(self.data), "its table of contents claims a list that is longer than the file")
        boolean = head & 0xF in (1, 2)  # in lists they take a byte each
        return [self._byte() if boolean else self._value(head & 0xF, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        require(self.at + size <= len(self.data), "its table of contents claims a text that is longer than the file")
        self.at += size
        return self.data[self.at - size : self.at]

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise InputError("its table of contents holds a number that does not end")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
