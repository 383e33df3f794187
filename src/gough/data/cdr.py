"""Numbers in serialized ROS messages, many messages at a time.

Messages of a topic usually have the same layout: the same joints, the same lengths. The layout is found by walking
through one message along its definition; numbers of all messages with that layout are then read as columns of one
matrix of bytes. ROS 2 messages are in CDR (aligned, with an encapsulation header of 4 bytes); those of ROS 1 are
packed.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, require

_DTYPES = {
    "bool": "u1", "byte": "u1", "char": "u1", "octet": "u1", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2",
    "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8", "float32": "f4", "float64": "f8",
}  # fmt: skip
_LONGEST = 512
"""Numbers in a sequence beyond which it is no set of channels, but an image or a cloud of points."""
_MOST_LAYOUTS = 64
_NAMES = ("name", "names", "joint_names", "interface_names")
"""Fields with the names of the entries of the sequences beside them."""
_DEEPEST = 16

Definitions = Mapping[str, tuple[Any, Sequence[tuple[str, Any]]]]
"""Fields of each message type, as `rosbags.typesys` has them."""


@dataclass(frozen=True)
class Numbers:
    """Numbers at one place of a message."""

    offset: int
    dtype: str
    count: int


@dataclass
class _Walk:
    """One walk through a message."""

    definitions: Definitions
    data: bytes
    packed: bool
    order: str = "<"
    at: int = 0
    begin: int = 0
    fixed: list[tuple[int, int]] = field(default_factory=list)
    """Begin and end of what must be the same in all messages of this layout: lengths and names."""

    def number(self, dtype: str, count: int = 1) -> Numbers:
        size = int(dtype[1])
        if not self.packed and count:
            self.at += -(self.at - self.begin) % size
        found = Numbers(self.at, self.order + dtype, count)
        self.at += size * count
        require(self.at <= len(self.data), "a message ends before its last field")
        return found

    def length(self) -> int:
        at = self.number("u4").offset
        self.fixed.append((at, at + 4))
        return int(struct.unpack_from(f"{self.order}I", self.data, at)[0])

    def text(self, *, is_name: bool) -> str:
        size = self.length()
        begin, self.at = self.at, self.at + size
        require(self.at <= len(self.data), "a text is longer than its message")
        if is_name:
            self.fixed.append((begin, self.at))
        return self.data[begin : self.at].rstrip(b"\x00").decode("utf-8", "replace")

    def message(self, kind: str, depth: int = 0) -> dict[str, Any]:
        require(kind in self.definitions, f"the type {kind} is not defined in the bag")
        require(depth < _DEEPEST, f"messages of type {kind} are nested too deeply")
        fields = self.definitions[kind][1]
        if not fields:
            self.number("u1")  # a structure has at least one member
        return {name: self.value(name, node, what, depth) for name, (node, what) in fields}

    def value(self, name: str, node: int, what: Any, depth: int) -> Any:
        """The value of a field: numbers, a text, a message, or a list of texts or messages."""
        if node == 1:
            return self._base(what[0], is_name=name == "child_frame_id")
        if node == 2:
            return self.message(what, depth + 1)
        (inner, kind), count = what
        if node == 4:
            count = self.length()
        if inner == 1 and kind[0] in _DTYPES:
            return self.number(_DTYPES[kind[0]], count)
        require(count <= len(self.data), f"field '{name}' has more entries than its message has bytes")
        if inner == 1:
            return [self._base(kind[0], is_name=name in _NAMES) for _ in range(count)]
        return [self.message(kind, depth + 1) for _ in range(count)]

    def _base(self, kind: str, *, is_name: bool) -> Any:
        if kind in _DTYPES:
            return self.number(_DTYPES[kind])
        require(kind == "string", f"numbers of type {kind} are not read")
        return self.text(is_name=is_name)


@dataclass(frozen=True)
class Channel:
    """One number of a message: its name, the group of channels that share its time stamp, and its place."""

    group: str
    name: str
    offset: int
    dtype: str
    stamp: Numbers | None
    """Seconds of the time stamp in the header; nanoseconds follow."""


@dataclass(frozen=True)
class Layout:
    """The channels of messages that have the same lengths and names."""

    channels: tuple[Channel, ...]
    fixed: tuple[tuple[int, int], ...]


def layout_of(data: bytes, kind: str, definitions: Definitions, *, packed: bool) -> Layout:
    """The layout of one message.

    Raises:
        InputError: its bytes do not fit the definition.
    """
    walk = _Walk(definitions, data, packed)
    if not packed:
        require(len(data) >= 4 and data[0] == 0 and data[1] in (0, 1), "a message is not in plain CDR")
        walk.order = "<" if data[1] else ">"
        walk.at = walk.begin = 4
    tree = walk.message(kind)
    channels = tuple(_channels(tree, "", "", None, ()))
    return Layout(channels, tuple(walk.fixed))


def _channels(
    tree: Mapping[str, Any], group: str, path: str, stamp: Numbers | None, names: Sequence[str]
) -> Iterator[Channel]:
    """The channels of a message, named by its fields, and by the names that a message gives to entries of sequences."""
    header = tree.get("header")
    if isinstance(header, dict) and isinstance(header.get("stamp"), dict):
        stamp = next(iter(header["stamp"].values()), None)
    own = next((tree[key] for key in _NAMES if isinstance(tree.get(key), list)), names)
    own = own if len(set(own)) == len(own) else ()
    for key, value in tree.items():
        if key == "header" or key in _NAMES:
            continue
        at = f"{path}/{key}"
        if isinstance(value, Numbers):
            if value.count <= _LONGEST:
                yield from _entries(value, group, at, stamp, own)
        elif isinstance(value, dict):
            yield from _channels(value, group, at, stamp, own)
        elif isinstance(value, list):
            for i, each in enumerate(value[:_LONGEST]):
                if not isinstance(each, dict):
                    continue
                child = each.get("child_frame_id")
                label = own[i] if len(own) == len(value) else child if isinstance(child, str) else str(i)
                inner = f"{path}/{label}" if isinstance(child, str) else f"{at}/{label}"
                yield from _channels(each, inner if "header" in each else group, inner, stamp, ())


def _entries(value: Numbers, group: str, at: str, stamp: Numbers | None, names: Sequence[str]) -> Iterator[Channel]:
    size = int(value.dtype[2])
    for i in range(value.count):
        suffix = f"/{names[i]}" if len(names) == value.count and names else "" if value.count == 1 else f"/{i}"
        yield Channel(group, at + suffix, value.offset + i * size, value.dtype, stamp)


@dataclass
class Columns:
    """Numbers of many messages: rows of a group of channels, by name."""

    names: dict[str, None]
    rows: list[tuple[Integers, Integers | None, dict[str, Array]]]
    """Indices of messages, their stamps in nanoseconds, and columns."""


def decoded(messages: Sequence[bytes], kind: str, definitions: Definitions, *, packed: bool) -> dict[str, Columns]:
    """The numbers of all messages of a topic, by group of channels.

    Raises:
        InputError: messages do not fit their definition, or have too many different layouts.
    """
    groups: dict[str, Columns] = {}
    sizes = np.array([len(each) for each in messages])
    layouts = 0
    for size in np.unique(sizes):
        left = np.flatnonzero(sizes == size)
        block = np.frombuffer(b"".join(messages[int(i)] for i in left), dtype=np.uint8).reshape(len(left), int(size))
        while left.size:
            layouts += 1
            require(
                layouts <= _MOST_LAYOUTS, f"messages of type {kind} change their layout more than {_MOST_LAYOUTS} times"
            )
            try:
                layout = layout_of(messages[int(left[0])], kind, definitions, packed=packed)
            except InputError as error:
                raise InputError(f"message {left[0] + 1}: {error}") from error
            same = np.ones(len(left), dtype=bool)
            for begin, end in layout.fixed:
                same &= (block[:, begin:end] == block[0, begin:end]).all(axis=1)
            _read(block[same], left[same], layout, groups)
            left, block = left[~same], block[~same]
    return groups


def _read(block: Any, rows: Integers, layout: Layout, groups: dict[str, Columns]) -> None:
    found: dict[str, tuple[Numbers | None, dict[str, Array]]] = {}
    for channel in layout.channels:
        _, columns = found.setdefault(channel.group, (channel.stamp, {}))
        columns[channel.name] = _column(block, channel.offset, channel.dtype).astype(np.float64)
    for group, (stamp, columns) in found.items():
        nanoseconds = None
        if stamp is not None:
            seconds = _column(block, stamp.offset, stamp.dtype).astype(np.int64)
            part = _column(block, stamp.offset + 4, stamp.dtype[0] + "u4").astype(np.int64)
            nanoseconds = seconds * 1_000_000_000 + part
        into = groups.setdefault(group, Columns({}, []))
        into.names.update(dict.fromkeys(columns))
        into.rows.append((rows, nanoseconds, columns))


def _column(block: Any, offset: int, dtype: str) -> Array:
    size = int(dtype[2])
    return np.ascontiguousarray(block[:, offset : offset + size]).view(dtype).ravel()
