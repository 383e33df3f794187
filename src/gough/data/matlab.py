"""Variables in MATLAB files of versions 4 to 7: arrays of numbers, texts and structs; of the rest, why they are none.

The layout is that of MathWorks' "MAT-File Format". Every length is checked against what is there before it is used: a
damaged file is refused, where a reader that trusts it would crash.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gough.core.errors import InputError, require

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FIRST_NUMERIC, _LAST_NUMERIC = 1, 2, 3, 4, 5, 6, 15
_COMPLEX = 0x800
_DEEPEST = 16
_PART = 16 << 20
_V4 = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
NOT_SPARSE = "is sparse: save full(…) of it"
NOT_CELLS = "is a cell array: save plain arrays of numbers"
NOT_COMPLEX = "holds complex numbers: save plain ones"
NOT_OBJECT = (
    "is an object such as a table, timeseries, datetime or duration, which MATLAB alone can read: save plain arrays, "
    "of dates t for instance posixtime(t) with its unit s"
)
MOST_ELEMENTS = 100
"""Elements of a struct array that are read."""


@dataclass(frozen=True)
class Refused:
    """A variable that holds no array of numbers or texts, and why."""

    why: str


def matlab_variables(data: bytes, allowed: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """The variables by name: arrays of numbers (in MATLAB's shape), texts or lists of texts, structs, or Refused.

    A struct is a dictionary of its fields, a struct array the dictionary of its elements "(1)", "(2)", ….

    `allowed` is asked about the number of bytes unpacked so far, and raises InputError where there are too many.

    Raises:
        InputError: the content is not that of a MATLAB file, or it is not complete.
    """
    if 0 in data[:4]:  # a header of version 5 begins with text
        return dict(_version_4(data))
    require(len(data) >= 128 and data[126:128] in (b"IM", b"MI"), "there is no header of a MATLAB file")
    order = "<" if data[126:128] == b"IM" else ">"
    variables: dict[str, Any] = {}
    for kind, content in _elements(data[128:], order):
        if kind == _COMPRESSED:
            inner = list(_elements(_inflated(content, allowed), order))
            require(len(inner) == 1, "a compressed variable is not complete")
            kind, content = inner[0]  # noqa: PLW2901 - what was compressed
        require(kind == _MATRIX, f"there is data of kind {kind} where a variable is expected")
        name, value = _matrix(content, order, 0)
        if name:  # what has no name is MATLAB's own
            require(name not in variables, f"variable '{name}' stands more than once")
            variables[name] = value
    return variables


def _inflated(content: bytes, allowed: Callable[[int], None]) -> bytes:
    parts, packed = [], content
    stream = zlib.decompressobj()
    try:
        while not stream.eof:
            part = stream.decompress(packed, _PART)
            packed = stream.unconsumed_tail
            require(bool(part or packed) or stream.eof, "a compressed variable is not complete")
            parts.append(part)
            allowed(sum(map(len, parts)))
        return b"".join(parts)
    except zlib.error as error:
        raise InputError(f"a compressed variable is damaged ({error})") from error


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Kinds and contents of the elements that follow one another."""
    at = 0
    while at < len(data):
        require(len(data) - at >= 8, "it ends within the head of an element")
        first, size = (int(n) for n in np.frombuffer(data, f"{order}u4", 2, at))
        if first >> 16:  # a small element: size, kind and content in eight bytes
            kind, size, begin, after = first & 0xFFFF, first >> 16, at + 4, at + 8
            require(size <= 4, f"a small element cannot hold {size} bytes")
        else:
            kind, begin = first, at + 8
            after = begin + size if kind == _COMPRESSED else begin + (size + 7) // 8 * 8
        require(begin + size <= len(data), f"it ends {begin + size - len(data)} bytes before an element does")
        yield kind, data[begin : begin + size]
        at = after


def _matrix(content: bytes, order: str, depth: int) -> tuple[str, Any]:
    """Name and value of an array."""
    require(depth <= _DEEPEST, "cells are nested too deeply")
    if not content:
        return "", np.empty((0, 0))  # how MATLAB writes an empty cell's content
    parts = list(_elements(content, order))
    require(len(parts) >= 3, "an array lacks its flags, sizes or name")
    flags, sizes = (_numbers(*part, order) for part in parts[:2])
    require(flags.size == 2 and flags.dtype.kind in "iu" and sizes.dtype.kind in "iu", "an array has no proper head")
    kind, shape = int(flags[0]) & 0xFF, tuple(int(n) for n in sizes)
    require(len(shape) >= 2 and min(shape) >= 0, f"an array cannot have the shape {shape}")
    name = parts[2][1].decode("utf-8", "replace")
    return name, _value(kind, shape, parts[3:], order, depth, is_complex=bool(int(flags[0]) & _COMPLEX))


def _value(
    kind: int, shape: tuple[int, ...], parts: list[tuple[int, bytes]], order: str, depth: int, *, is_complex: bool
) -> Any:
    if kind == _SPARSE:
        return Refused(NOT_SPARSE)
    if kind == _CELL:
        require(len(parts) == prod(shape), f"a cell array of shape {shape} has {len(parts)} cells")
        require(all(k == _MATRIX for k, _ in parts), "a cell holds no array")
        cells = [_matrix(content, order, depth + 1)[1] for _, content in parts]
        texts = ["" if isinstance(c, np.ndarray) and not c.size else c for c in cells]
        return texts if all(isinstance(c, str) for c in texts) else Refused(NOT_CELLS)
    if kind == _CHAR:
        return _text(parts[0], order) if parts else ""
    if not _FIRST_NUMERIC <= kind <= _LAST_NUMERIC:
        return _struct(shape, parts, order, depth) if kind == _STRUCT else Refused(NOT_OBJECT)
    if is_complex:
        return Refused(NOT_COMPLEX)
    require(len(parts) == 1, f"an array of numbers has {len(parts)} parts")
    values = _numbers(*parts[0], order)
    require(values.size == prod(shape), f"an array of shape {shape} has {values.size} numbers")
    return values.reshape(shape, order="F")


def _struct(shape: tuple[int, ...], parts: list[tuple[int, bytes]], order: str, depth: int) -> Any:
    """The fields of a struct, or of each element of a struct array."""
    require(len(parts) >= 2, "a struct lacks the names of its fields")
    length = _numbers(*parts[0], order)
    whole = length.size == 1 and length.dtype.kind in "iu" and int(length[0]) > 0
    require(whole and len(parts[1][1]) % int(length[0]) == 0, "the names of the fields of a struct are damaged")
    width, text = int(length[0]), parts[1][1]
    names = [text[i : i + width].split(b"\0")[0].decode("utf-8", "replace") for i in range(0, len(text), width)]
    fields = parts[2:]
    require(len(fields) == prod(shape) * len(names), f"a struct of shape {shape} has {len(fields)} values")
    require(all(k == _MATRIX for k, _ in fields), "a field of a struct holds no array")
    if len(set(names)) < len(names):
        return Refused("is a struct with two fields of one name: rename one of them")
    if prod(shape) > MOST_ELEMENTS:
        return too_many_elements(shape)
    values = [_matrix(content, order, depth + 1)[1] for _, content in fields]
    step = len(names)
    return elements([dict(zip(names, values[i * step :], strict=False)) for i in range(prod(shape))])


def elements(structs: list[dict[str, Any]]) -> dict[str, Any]:
    """A struct array as a dictionary of its elements; a single struct as itself."""
    return structs[0] if len(structs) == 1 else {f"({i + 1})": each for i, each in enumerate(structs)}


def too_many_elements(shape: tuple[int, ...]) -> Refused:
    """What becomes of a struct array with an element for each sample, for instance."""
    size = " × ".join(map(str, shape))
    return Refused(f"is an array of {size} structs, of which {MOST_ELEMENTS} at most are read: save plain arrays")


def _numbers(kind: int, content: bytes, order: str) -> Any:
    require(kind in _NUMBERS, f"there is data of kind {kind} where numbers are expected")
    item = np.dtype(order + _NUMBERS[kind])
    require(len(content) % item.itemsize == 0, "an array ends within a number")
    return np.frombuffer(content, item)


def _text(part: tuple[int, bytes], order: str) -> str:
    kind, content = part
    if kind in _TEXTS:
        end = "" if kind == 16 else "-le" if order == "<" else "-be"
        return content.decode(_TEXTS[kind] + end, "replace")
    codes = _numbers(kind, content, order)
    require(codes.dtype.kind in "iu", "a text is written as fractions")
    return "".join(chr(c) if 0 <= c < 0x110000 else "�" for c in codes.tolist())


def _version_4(data: bytes) -> Iterator[tuple[str, Any]]:
    at = 0
    while at < len(data):
        require(len(data) - at >= 20, "it ends within the head of a variable")
        order = "<" if int.from_bytes(data[at : at + 4], "little") < 10_000 else ">"
        code, rows, columns, imaginary, length = (int(n) for n in np.frombuffer(data, f"{order}i4", 5, at))
        machine, empty, precision, what = (code // 10**k % 10 for k in (3, 2, 1, 0))
        known = 0 <= code < 10_000 and machine in (0, 1) and empty == 0 and precision in _V4 and what in (0, 1, 2)
        require(known and min(rows, columns, length) >= 0, "it holds no variable of version 4")
        item = np.dtype(order + _V4[precision])
        begin, size = at + 20 + length, rows * columns * item.itemsize
        at = begin + size * (2 if imaginary else 1)
        require(at <= len(data), f"it ends {at - len(data)} bytes before a variable does")
        name = data[begin - length : begin].split(b"\0")[0].decode("latin-1")
        if what or imaginary:
            yield (
                name,
                ("", Refused(NOT_SPARSE))[what == 2] if what else Refused(NOT_COMPLEX),
            )
        else:
            yield name, np.frombuffer(data, item, rows * columns, begin).reshape((rows, columns), order="F")
