"""Configuration, run and readings of images: from a table, and from the images' names."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.files import read_text
from gough.core.units import in_si
from gough.data.sources import nearest_name, split_head

Labels = npt.NDArray[np.int64]
_NAMED = {"configuration": re.compile(r"(?:^|[^a-z])c(?:onfig(?:uration)?)?[-_]?(\d+)", re.IGNORECASE)}
_NAMED["run"] = re.compile(r"(?:^|[^a-z])r(?:un)?[-_]?(\d+)", re.IGNORECASE)
IMAGE = ("image", "file", "filename", "name", "picture", "photo", "frame")
_LABELS = {
    "configuration": ("configuration", "config", "pose", "conf", "position"),
    "run": ("run", "series", "repeat", "repetition", "session"),
}
_NUMBERED = re.compile(r"^(.*?[^\d\s_-])[\s_-]*(\d+)$")
_COMMON = ("l", "leg", "q", "joint", "axis", "motor", "actuator", "reading", "length", "encoder", "arm")
"""Usual names of readings before their number, the most usual first."""


@dataclass(frozen=True)
class ImageTable:
    """Configuration, run and readings of images."""

    configuration: Mapping[str, int] = field(default_factory=dict)
    run: Mapping[str, int] = field(default_factory=dict)
    readings: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    unit: str = ""
    """SI unit of the readings; empty where the table states none."""
    notes: tuple[str, ...] = ()
    """How the table was read, in sentences."""

    def of(self, names: Sequence[str]) -> tuple[Labels | None, Labels | None, Array | None]:
        """Configuration, run and readings of images; None where not all of them have one."""

        def labels(known: Mapping[str, int]) -> Labels | None:
            return np.array([known[n] for n in names], np.int64) if all(n in known for n in names) else None

        every = all(n in self.readings for n in names) and bool(names)
        readings = np.array([self.readings[n] for n in names]) if every else None
        return labels(self.configuration), labels(self.run), readings


def table_of(names: Sequence[str]) -> ImageTable:
    """Configuration and run from the names of images: c017-r03-i05.png, or config_17_run_3.png.

    Examples:
        >>> table_of(["c017-r03-i05.png"]).configuration, table_of(["run2_config4.png"]).run
        ({'c017-r03-i05.png': 17}, {'run2_config4.png': 2})
    """
    numbers: dict[str, dict[str, int]] = {"configuration": {}, "run": {}}
    for name in names:
        for what, pattern in _NAMED.items():
            match = pattern.search(Path(name).stem)
            if match:
                numbers[what][name] = int(match[1])
    return ImageTable(numbers["configuration"], numbers["run"])


def read_table(path: Path, names: Sequence[str], readings: Sequence[str] = ()) -> ImageTable:
    """The rows of a CSV file that are about the given images; it must name each of them.

    Columns: image; configuration and run, where the images' names do not have them; and the readings: those named by
    `readings`, or l1, l2, … or leg1, leg2, … and so on. Heads may have units, such as "leg1 [mm]"; then the readings
    are converted to SI.

    Raises:
        InputError: an image or a column is missing, or a cell is no number; the message names line and column.
    """
    heads, rows = rows_of(path)
    named = [split_head(head)[0] for head in heads]
    place = {name: k for k, name in reversed(list(enumerate(named)))}
    image = column_named(named, IMAGE)
    require(image is not None, f"{path} has no column 'image' (its columns: {', '.join(heads)})")
    assert image is not None
    chosen = _chosen(path, named, readings)
    factor, unit = _unit(path, [heads[place[name]] for name in chosen])
    labels = {what: column_named(named, known) for what, known in _LABELS.items()}
    from_names = table_of(names)
    found: dict[str, dict[str, int]] = {
        "configuration": dict(from_names.configuration),
        "run": dict(from_names.run),
    }
    values: dict[str, tuple[float, ...]] = {}
    seen: dict[str, int] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        name = row[place[image]]
        require(name not in seen, f"{where}: the image {name} stands in line {seen.get(name)} too: delete one of them")
        seen[name] = line
        for what, column in labels.items():
            if column is not None:
                found[what][name] = _whole(row[place[column]], f"{where}, column '{column}'")
        if chosen:
            cells = [(row[place[head]], f"{where}, column '{head}'") for head in chosen]
            values[name] = tuple(factor * _number(cell, at) for cell, at in cells)
    missing = [name for name in names if name not in seen]
    require(not missing, f"{path} does not name {len(missing)} of the images: {', '.join(missing[:3])}, …")
    return ImageTable(
        found["configuration"], found["run"], values, unit, _notes(path, named, image, labels, chosen, unit)
    )


def rows_of(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Heads, and the line and cells of each row; cells are separated by commas, semicolons or tabs."""
    lines = read_text(path).splitlines()
    first = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=first.count)
    reader = csv.reader(lines, delimiter=separator)
    try:
        rows = [
            (reader.line_num, [cell.strip() for cell in row]) for row in reader if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num} is no row of a table: {error}") from error
    require(len(rows) > 0, f"{path} is empty")
    heads = rows[0][1]
    while heads and not heads[-1]:
        heads = heads[:-1]
    require(len(rows) > 1, f"{path} has no row")
    for line, row in rows[1:]:
        require(len(row) >= len(heads), f"{path}, line {line} has {len(row)} cells, but there are {len(heads)} columns")
    return heads, rows[1:]


def column_named(named: Sequence[str], known: Sequence[str]) -> str | None:
    """The column with the first of these names, whatever the case of its letters."""
    lower = {name.lower(): name for name in reversed(named)}
    return next((lower[name] for name in known if name in lower), None)


def _chosen(path: Path, named: Sequence[str], readings: Sequence[str]) -> list[str]:
    """Columns of the readings in order."""
    for name in readings:
        require(name in named, f"{path} has no column '{name}'{nearest_name(name, named)}")
    if readings:
        return list(readings)
    stems: dict[str, dict[int, str]] = {}
    for name in named:
        match = _NUMBERED.match(name)
        if match:
            stems.setdefault(match[1].lower().rstrip(" _-"), {})[int(match[2])] = name
    series = {stem: [of[k] for k in sorted(of)] for stem, of in stems.items() if len(of) > 1}
    usual = [stem for stem in _COMMON if stem in series]
    if usual:
        return series[usual[0]]
    require(
        len(series) < 2,
        f"{path}: which columns are the readings? Several are numbered: "
        f"{'; '.join(', '.join(each) for each in series.values())}. State them with --readings leg1,leg2,…",
    )
    return next(iter(series.values()), [])


def _unit(path: Path, heads: Sequence[str]) -> tuple[float, str]:
    """Factor to SI, and the SI unit; 1 and "" where the heads state none."""
    units = [split_head(head)[1] for head in heads]
    stated = {unit for unit in units if unit is not None}
    if not stated:
        return 1.0, ""
    require(
        len(stated) == 1 and None not in units,
        f"{path}: readings must have one unit, but their heads are {', '.join(heads)}",
    )
    try:
        return in_si(stated.pop())
    except InputError as error:
        raise InputError(f"{path}, column '{heads[0]}': {error}") from error


def _whole(cell: str, where: str) -> int:
    value = _number(cell, where)
    require(value == round(value), f"{where} must be a whole number, but is '{cell}'")
    return round(value)


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError as error:
        comma = ": write a point instead of the comma" if "," in cell else ""
        raise InputError(f"{where} must be a number, but is '{cell}'{comma}") from error
    require(np.isfinite(value), f"{where} must be a finite number, but is '{cell}'")
    return value


def _notes(  # noqa: PLR0917 - how each column was read
    path: Path,
    named: Sequence[str],
    image: str,
    labels: Mapping[str, str | None],
    chosen: Sequence[str],
    unit: str,
) -> tuple[str, ...]:
    notes = []
    if chosen and list(chosen) != [f"l{k + 1}" for k in range(len(chosen))]:
        notes.append(f"Readings {', '.join(chosen)} of {path} are l1 … l{len(chosen)} of poses.csv.")
    if chosen and not unit:
        notes.append("The table states no unit of the readings: they are taken in the unit of the robot's readings.")
    used = {image, *chosen, *(name for name in labels.values() if name is not None)}
    unused = [name for name in named if name and name not in used]
    if unused:
        notes.append(f"Columns that were not used: {', '.join(unused)}.")
    if not chosen:
        notes.append(f"No column of {path} was recognized as a reading: name them l1, l2, …, or state --readings.")
    return tuple(notes)
