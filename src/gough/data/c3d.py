"""C3D files of motion capture: positions of points, and analog channels, of each frame.

Blocks have 512 bytes. The header names the block of the parameters, which are groups of named values, and the block of
the data: for each frame, x, y, z and a residual of each point, and then the analog samples. A negative residual means
that a point was not seen.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require

_BLOCK = 512
_ORDERS = {84: "<", 86: ">"}
"""Byte orders by the number of the processor type; that of DEC (85) has floating-point numbers of its own."""
_MOST_PARAMETERS = 10_000


@dataclass(frozen=True, eq=False)
class C3D:
    """Points and analog channels of a C3D file."""

    points: Array
    """(frames, points, 3); NaN where a point was not seen."""
    point_labels: tuple[str, ...]
    point_unit: str
    point_rate: float
    analogs: Array
    """(samples, channels)."""
    analog_labels: tuple[str, ...]
    analog_units: tuple[str, ...]
    analog_rate: float


def read_c3d(path: Path) -> C3D:
    """The points and analog channels of a C3D file.

    Raises:
        InputError: it is no C3D file, of a byte order that is not read, or not complete.
    """
    data = path.read_bytes()
    good = len(data) >= 2 * _BLOCK and data[1] == 0x50
    require(good, f"{path} is named as C3D, but it is not a C3D file by its content")
    begin = (data[0] - 1) * _BLOCK
    require(0 < begin + 4 <= len(data), f"{path} is not a complete C3D file: it ends before its parameters")
    order = _ORDERS.get(data[begin + 3], "")
    require(bool(order), f"{path}: C3D files of processor type {data[begin + 3]} are not read: save it as Intel")
    try:
        values = _parameters(data, begin, order)
        return _read(data, values, order)
    except (InputError, struct.error, ValueError, KeyError, IndexError) as error:
        reason = f"parameter {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path} is not a complete C3D file ({reason}): export it again") from error


def _parameters(data: bytes, begin: int, order: str) -> dict[str, Any]:
    """Values by "GROUP:NAME": numbers as arrays, texts as lists."""
    at, groups, found = begin + 4, {}, {}
    for _ in range(_MOST_PARAMETERS):
        length, number = struct.unpack_from("bb", data, at)
        if length == 0 or number == 0:
            break
        name = data[at + 2 : at + 2 + abs(length)].decode("latin-1").strip().upper()
        at += 2 + abs(length)
        (step,) = struct.unpack_from(f"{order}h", data, at)
        if number < 0:
            groups[-number] = name
        else:
            found[number, name] = _value(data, at + 2, order)
        if step <= 0:
            break
        at += step
    return {f"{groups.get(number, number)}:{name}": value for (number, name), value in found.items()}


def _value(data: bytes, at: int, order: str) -> Any:
    kind, n_dimensions = struct.unpack_from("bB", data, at)
    shape = data[at + 2 : at + 2 + n_dimensions]
    at += 2 + n_dimensions
    count = prod(shape)
    size = abs(kind)
    require(size in (1, 2, 4) and at + size * count <= len(data), "a parameter is longer than the file")
    raw = data[at : at + size * count]
    if kind == -1:
        width = shape[0] if shape else 1
        texts = [raw[i : i + width] for i in range(0, len(raw), width)] if width else []
        return [text.decode("latin-1").strip() for text in texts]
    with np.errstate(invalid="ignore"):  # NaN of any bits
        return np.frombuffer(raw, dtype=f"{order}{ {1: 'u1', 2: 'i2', 4: 'f4'}[size] }").astype(np.float64)


def _read(data: bytes, values: Mapping[str, Any], order: str) -> C3D:
    header = struct.unpack_from(f"{order}5H", data, 2)
    n_points, n_analog, first, last, _ = header
    (scale,) = struct.unpack_from(f"{order}f", data, 12)
    block, per_frame = struct.unpack_from(f"{order}2H", data, 16)
    (rate,) = struct.unpack_from(f"{order}f", data, 20)
    rate = float(values["POINT:RATE"][0]) if "POINT:RATE" in values else float(rate)
    require(0 < rate < np.inf, f"its frame rate is {rate:g} Hz")
    n_channels = n_analog // per_frame if per_frame else 0
    width, dtype = 4 * n_points + n_analog, f"{order}f4" if scale < 0 else f"{order}i2"
    require(width > 0 and block > 0, "it has neither points nor analog channels")
    size = width * int(dtype[2])
    there = (len(data) - (block - 1) * _BLOCK) // size
    stated = last - first + 1
    if last == 0xFFFF:  # the header cannot count further; the parameters do
        stated = int(values["POINT:FRAMES"][0]) if values["POINT:FRAMES"][0] > 0 else there
    require(0 < stated <= there, f"it holds {max(there, 0)} frames of {stated}")
    begin = (block - 1) * _BLOCK
    with np.errstate(invalid="ignore"):  # NaN of any bits
        samples = np.frombuffer(data[begin : begin + stated * size], dtype=dtype).astype(np.float64)
    frames = samples.reshape(stated, width)
    points = frames[:, : 4 * n_points].reshape(stated, n_points, 4)
    seen = points[:, :, 3] >= 0
    positions = np.where(seen[:, :, None], points[:, :, :3] * (1.0 if scale < 0 else float(scale)), np.nan)
    analogs = frames[:, 4 * n_points :].reshape(stated * per_frame, n_channels) if n_channels else np.zeros((0, 0))
    return C3D(
        positions,
        _labels(values, "POINT", n_points, "point"),
        next(iter(values.get("POINT:UNITS", [])), ""),
        rate,
        _scaled(analogs, values, n_channels),
        _labels(values, "ANALOG", n_channels, "analog"),
        tuple([*values.get("ANALOG:UNITS", []), *[""] * n_channels][:n_channels]),
        rate * per_frame,
    )


def _scaled(analogs: Array, values: Mapping[str, Any], n_channels: int) -> Array:
    """Analog samples in their units: (sample − offset) · scale · general scale."""
    if not n_channels:
        return analogs
    offset = np.resize(values.get("ANALOG:OFFSET", np.zeros(1)), n_channels)
    scale = np.resize(values.get("ANALOG:SCALE", np.ones(1)), n_channels)
    general = float(next(iter(values.get("ANALOG:GEN_SCALE", [1.0])), 1.0))
    return (analogs - offset) * scale * general


def _labels(values: Mapping[str, Any], group: str, count: int, word: str) -> tuple[str, ...]:
    """Labels of points or channels; those without a label, or with that of another, are numbered."""
    given = [label for key in ("LABELS", "LABELS2", "LABELS3") for label in values.get(f"{group}:{key}", [])]
    labels = [given[i] if i < len(given) and given[i] else f"{word} {i + 1}" for i in range(count)]
    return tuple(f"{label} ({i + 1})" if labels.count(label) > 1 else label for i, label in enumerate(labels))
