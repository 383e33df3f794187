"""Files of measurement systems: ASAM MDF (.mf4, .mdf), TDMS of National Instruments, and C3D of motion capture."""

import gc
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.data.c3d import read_c3d
from gough.data.channel_groups import ChannelGroup, GroupedSource, unique_heads
from gough.data.sources import is_unit, joined_head, readable
from gough.data.times import Times

_EXTRA = "pip install '.[formats]' in the clone"
_Read = Callable[[], tuple[Times | None, Array, str]]


def mdf_source(path: Path) -> GroupedSource:
    """The channel groups of an ASAM MDF file, version 3 or 4, each with its time."""
    try:
        from asammdf import MDF  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InputError(f"{path} is an MDF file, which needs asammdf: {_EXTRA}") from error
    with path.open("rb") as file:
        require(file.read(3) == b"MDF", f"{path} is named as MDF, but it is not an MDF file by its content")
    found: list[tuple[str, list[str], list[str], Times, list[Array]]] = []
    with _unlogged(), _opened_quietly(path, MDF) as mdf, readable(path, "MDF"):
        groups: list[Any] = mdf.groups
        for index, group in enumerate(groups):
            names, units, columns, times = [], [], [], None
            for place, channel in enumerate(group.channels):
                signal = mdf.get(group=index, index=place)
                values = np.asarray(signal.samples)
                if values.ndim != 1 or values.dtype.kind not in "fiub" or place == mdf.masters_db.get(index):
                    continue
                times = np.asarray(signal.timestamps, dtype=np.float64)
                names.append(channel.name)
                units.append(signal.unit or "")
                columns.append(values.astype(np.float64))
            if columns and len(columns[0]):
                name = getattr(group.channel_group, "acq_name", "") or f"group {index + 1}"
                found.append((name, names, units, times, columns))
    return _grouped(path, found, "channel groups")


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep what libraries log about damaged files away from the terminal: such files are refused."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _opened_quietly(path: Path, reader: Callable[[Path], Any]) -> Any:
    """The reader's object. That of a damaged file is half made, and the messages of its finalizer are suppressed."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    reason = ""
    try:
        try:
            with readable(path, "MDF"):
                return reader(path)
        except InputError as error:
            reason = str(error)
        gc.collect()  # finalizes the object now
    finally:
        sys.unraisablehook = hook
    raise InputError(reason)


def tdms_source(path: Path) -> GroupedSource:
    """The channels of a TDMS file; those with the same length, increment and offset share a clock."""
    try:
        from nptdms import TdmsFile  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InputError(f"{path} is a TDMS file, which needs nptdms: {_EXTRA}") from error
    clocks: dict[Any, tuple[str, list[str], list[str], Times | None, list[Array]]] = {}
    with _unlogged(), readable(path, "TDMS"):
        file = TdmsFile.read(path)
        require(
            not file.file_status.incomplete_final_segment,
            f"{path} ends within its last segment: it was cut off, or the recording was interrupted; save the complete "
            "part in a new file",
        )
        for group in file.groups():
            for channel in group.channels():
                values = np.asarray(channel[:])
                if values.ndim != 1 or values.dtype.kind not in "fiub" or not values.size:
                    continue
                step = float(channel.properties.get("wf_increment", 0.0) or 0.0)
                offset = float(channel.properties.get("wf_start_offset", 0.0) or 0.0)
                times = offset + step * np.arange(len(values)) if step > 0 else None
                key = (group.name, len(values), step, offset)
                same_group = [k for k in clocks if k[0] == group.name]
                name = group.name if not same_group or key in clocks else f"{group.name} ({len(same_group) + 1})"
                _, names, units, _, columns = clocks.setdefault(key, (name, [], [], times, []))
                names.append(channel.name)
                units.append(str(channel.properties.get("unit_string", "") or ""))
                columns.append(values.astype(np.float64))
    return _grouped(path, list(clocks.values()), "groups")


def c3d_source(path: Path) -> GroupedSource:
    """Points and analog channels of a C3D file; a point that was not seen is missing."""
    file = read_c3d(path)
    found: list[tuple[str, list[str], list[str], Any, list[Array]]] = []
    if file.point_labels:
        names = [f"{label}.{axis}" for label in file.point_labels for axis in "xyz"]
        columns = list(file.points.reshape(len(file.points), -1).T)
        times = np.arange(len(file.points)) / file.point_rate
        found.append(("points", names, [file.point_unit] * len(names), times, columns))
    if file.analog_labels:
        times = np.arange(len(file.analogs)) / file.analog_rate
        found.append(("analogs", list(file.analog_labels), list(file.analog_units), times, list(file.analogs.T)))
    return _grouped(path, found, "groups")


def _grouped(
    path: Path, found: Sequence[tuple[str, list[str], list[str], Any, list[Array]]], what: str
) -> GroupedSource:
    """A source of groups that are in memory; units that are not known stay a part of the name."""
    heads = unique_heads([(name, names) for name, names, *_ in found])
    groups = []
    for (name, _, units, times, columns), own in zip(found, heads, strict=True):
        written = tuple(joined_head(head, unit if is_unit(unit) else "") for head, unit in zip(own, units, strict=True))
        groups.append(ChannelGroup(name, written, _in_memory(times, columns)))
    return GroupedSource(path, groups, what=what)


def _in_memory(times: Any, columns: Sequence[Array]) -> _Read:
    samples = np.column_stack(columns)
    return lambda: (times, samples, "")
