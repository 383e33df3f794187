"""ROS recordings without ROS: rosbag2 folders (SQLite, MCAP), single .mcap and .db3 files, and ROS 1 .bag files.

A topic is a group of channels. A channel is named by its topic and the fields of the message, and by the names that the
message itself gives: `/joint_states/position/motor1` for `sensor_msgs/JointState`, and
`/tf/platform/transform/translation/x`. Times are those of the header, or of the recorder where a message has no header.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, require
from gough.data.cdr import Columns, decoded, layout_of
from gough.data.channel_groups import ChannelGroup, GroupedSource
from gough.data.sources import joined_head, readable
from gough.data.times import Kind, Stamps

SUFFIXES = (".mcap", ".db3", ".bag")
_CHANGING = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
"""Types whose messages hold other channels from one to the next."""
_EXAMPLES = 16
"""Messages of a topic from which its channels are listed."""
_METADATA = "metadata.yaml"
_NO_HEADER = "messages have no time stamp of their own; times are those at which the recorder received them"
_BY_FIELD = {
    ("position", "x"): "m", ("position", "y"): "m", ("position", "z"): "m",
    ("translation", "x"): "m", ("translation", "y"): "m", ("translation", "z"): "m",
    ("linear", "x"): "m/s", ("linear", "y"): "m/s", ("linear", "z"): "m/s",
    ("angular", "x"): "rad/s", ("angular", "y"): "rad/s", ("angular", "z"): "rad/s",
    ("force", "x"): "N", ("force", "y"): "N", ("force", "z"): "N",
    ("torque", "x"): "N·m", ("torque", "y"): "N·m", ("torque", "z"): "N·m",
}  # fmt: skip
"""Units that definitions of `geometry_msgs` fix: those of poses, transforms, twists and wrenches."""
_WITH_UNITS = ("Pose", "Transform", "Twist", "Wrench", "TFMessage", "tfMessage", "Odometry")


def is_bag_folder(path: Path) -> bool:
    """Whether a folder is a rosbag2 recording."""
    return (path / _METADATA).is_file()


def bag_source(path: Path) -> GroupedSource:
    """The topics of a bag whose messages hold numbers.

    Raises:
        InputError: the library rosbags is not installed, or the bag is damaged or holds no numbers.
    """
    with _opened(path) as reader:
        groups: list[ChannelGroup] = []
        for topic, connections in _topics(reader):
            groups += _groups(path, reader, topic, connections)
    return GroupedSource(path, groups, what="topics")


def _topics(reader: Any) -> Iterator[tuple[str, list[Any]]]:
    by_topic: dict[str, list[Any]] = {}
    for connection in reader.connections:
        by_topic.setdefault(connection.topic, []).append(connection)
    yield from sorted(by_topic.items())


def _groups(path: Path, reader: Any, topic: str, connections: Sequence[Any]) -> list[ChannelGroup]:
    """The groups of channels of one topic, by its first messages; none where it holds no numbers."""
    kind = connections[0].msgtype
    if kind not in reader.typestore.fielddefs or any(each.msgtype != kind for each in connections):
        return []
    count = None if kind in _CHANGING else _EXAMPLES
    names: dict[str, dict[str, None]] = {}
    for _, _, data in islice(reader.messages(connections=list(connections)), count):
        try:
            layout = layout_of(bytes(data), kind, reader.typestore.fielddefs, packed=not reader.is2)
        except InputError:
            return []
        for channel in layout.channels:
            names.setdefault(channel.group, {})[channel.name] = None
    return [
        ChannelGroup(
            topic + group,
            tuple(joined_head(topic + name, _unit(kind, name)) for name in channels),
            _reader(path, topic, kind, group, tuple(channels)),
            kind,
            "message",
        )
        for group, channels in names.items()
    ]


def _unit(kind: str, name: str) -> str:
    if not any(word in kind for word in _WITH_UNITS):
        return ""
    *_, field, axis = ("", *name.split("/"))
    return _BY_FIELD.get((field, axis), "")


def _reader(path: Path, topic: str, kind: str, group: str, names: tuple[str, ...]) -> Any:
    def read() -> tuple[Stamps, Array, str]:
        with _opened(path) as reader:
            connections = [each for each in reader.connections if each.topic == topic]
            messages = [(stamp, bytes(data)) for _, stamp, data in reader.messages(connections=connections)]
            require(bool(messages), f"{path}: topic {topic} has no message")
            try:
                columns = decoded(
                    [data for _, data in messages], kind, reader.typestore.fielddefs, packed=not reader.is2
                ).get(group)
            except InputError as error:
                raise InputError(f"{path}, topic {topic}: {error}") from error
        require(columns is not None, f"{path}: topic {topic} has no message with the channels of {group}")
        assert columns is not None
        return _table(columns, names, np.array([stamp for stamp, _ in messages], dtype=np.int64))

    return read


def _table(columns: Columns, names: Sequence[str], recorded: Integers) -> tuple[Stamps, Array, str]:
    """Times, channels (N, k) in the order of the messages, NaN where a message lacks a channel; and a remark."""
    rows = np.concatenate([part[0] for part in columns.rows])
    samples = np.full((len(rows), len(names)), np.nan)
    stamps = np.empty(len(rows), dtype=np.int64)
    begin, headers = 0, True
    for indices, nanoseconds, values in columns.rows:
        end = begin + len(indices)
        for column, name in enumerate(names):
            if name in values:
                samples[begin:end, column] = values[name]
        headers = headers and nanoseconds is not None and bool((nanoseconds > 0).all())
        stamps[begin:end] = nanoseconds if nanoseconds is not None else 0
        begin = end
    order = np.argsort(rows, kind="stable")
    times = stamps[order] if headers else recorded[rows[order]]
    return Stamps(Kind.ABSOLUTE, times), samples[order], "" if headers else _NO_HEADER


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        from rosbags.highlevel import AnyReader  # noqa: PLC0415 - an extra
        from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} is a ROS recording, which needs rosbags: pip install '.[formats]' in the clone"
        ) from error
    with readable(path, "ROS bag"), AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
        yield reader
