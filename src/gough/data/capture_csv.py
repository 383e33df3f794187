"""CSV files of motion capture, whose heads take several lines: OptiTrack Motive and Vicon Nexus.

Motive (format versions 1.2x): pairs of keys and values in the first line, then lines of types, names, identifiers and
kinds of columns, and a line that begins with Frame. Nexus: the name of a section, its rate, the names of trajectories
or segments, a line that begins with Frame, and a line of units.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gough.core.errors import InputError, require

_LENGTHS = {"meters": "m", "centimeters": "cm", "millimeters": "mm"}
_MOST_LINES = 20
_SECTIONS = ("Trajectories", "Segments", "Joints", "Model Outputs", "Devices")
_UNITS = {"mm": "mm", "cm": "cm", "m": "m", "deg": "deg", "rad": "rad", "N": "N", "N.mm": "N·mm", "V": "V"}


class Captured(NamedTuple):
    """What the heads of such a file say."""

    heads: tuple[str, ...]
    rate: float | None
    begin: int
    """Byte at which the rows begin."""
    line: int
    """Lines above the rows."""


def captured(data: bytes, path: Path) -> Captured | None:
    """The heads of a file of Motive or Nexus; None where it is another file.

    Raises:
        InputError: it begins like such a file, but its heads are not as they should be.
    """
    plain = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    first = plain[:200].split(b"\n", 1)[0].decode("utf-8", "replace").strip().strip('"')
    if first.startswith("Format Version,"):
        return _motive(*_lines(data, path), path)
    if first.rstrip(",") in _SECTIONS:
        return _nexus(*_lines(data, path), data, path)
    return None


def _lines(data: bytes, path: Path) -> tuple[list[list[str]], list[int]]:
    """Cells of the first lines, and where each line ends."""
    ends: list[int] = []
    begin = 0
    while len(ends) < _MOST_LINES and begin < len(data):
        begin = data.find(b"\n", begin) + 1 or len(data)
        ends.append(begin)
    try:
        texts = data[: ends[-1]].decode("utf-8-sig").splitlines()
        return [[cell.strip() for cell in next(csv.reader([text]), [])] for text in texts], ends
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: its heads are no UTF-8 text: save it as 'CSV UTF-8'") from error


def _frame_line(lines: Sequence[Sequence[str]], path: Path, what: str) -> int:
    found = [k for k, cells in enumerate(lines) if cells and cells[0] == "Frame"]
    require(
        bool(found), f"{path}: a file of {what} has a line that begins with 'Frame', but this has none: export anew"
    )
    return found[0]


def _motive(lines: list[list[str]], ends: list[int], path: Path) -> Captured:
    at = _frame_line(lines, path, "Motive")
    about = dict(zip(lines[0][::2], lines[0][1::2], strict=False))
    word = about.get("Length Units", "")
    require(
        word.lower() in _LENGTHS,
        f"{path}, line 1: 'Length Units' must be one of {', '.join(_LENGTHS)}, but is '{word:.40}'",
    )
    turn = about.get("Rotation Type", "")
    above = [cells for cells in lines[1:at] if any(cells)]
    require(len(above) >= 3, f"{path}: lines of types, names and kinds of columns are expected above line {at + 1}")
    names = next((cells for cells in above if len(cells) > 1 and cells[1] == "Name"), above[1])
    kinds, axes = above[-1], lines[at]
    heads = ["frame", "time [s]"]
    for k in range(2, len(axes)):
        kind = kinds[k] if k < len(kinds) else ""
        unit = f" [{_LENGTHS[word.lower()]}]" if kind == "Position" or "Error" in kind else ""
        unit = " [deg]" if kind == "Rotation" and turn != "Quaternion" else unit
        name = names[k] if k < len(names) else ""
        heads.append("/".join(filter(None, (name, kind, axes[k]))) + unit)
    return Captured(tuple(heads), None, ends[at], at + 1)


def _nexus(lines: list[list[str]], ends: list[int], data: bytes, path: Path) -> Captured:
    at = _frame_line(lines, path, "Nexus")
    require(at >= 2 and len(lines) > at + 1, f"{path}: rate, names and units are expected around line {at + 1}")
    try:
        rate = float(lines[1][0])
    except (IndexError, ValueError) as error:
        raise InputError(f"{path}, line 2 must be the rate in Hz") from error
    body = data[ends[at + 1] :].rstrip().replace(b"\r", b"")
    require(b"\n\n" not in body, f"{path} has several sections: export trajectories and other outputs to files each")
    names, axes, units = lines[at - 1], lines[at], lines[at + 1]
    heads, name = ["frame", "subframe"], ""
    for k in range(2, len(axes)):
        name = (names[k] if k < len(names) else "") or name
        written = units[k] if k < len(units) else ""
        unit = f" [{_UNITS[written]}]" if written in _UNITS else ""
        heads.append(f"{name}/{axes[k]}{unit}")
    return Captured(tuple(heads), rate, ends[at + 1], at + 2)
