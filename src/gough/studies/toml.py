"""TOML files into tables, with errors that name file, line and key."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml

_SHOWN = 5
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]
"""The way to a value from the top of the file: keys of tables, and numbers in lists."""


_RENAMED_TABLES = {"machine": "robot"}
"""Tables of studies that had another name before version 0.2, and their name now."""
_RENAMED_KEYS = {("certify", "legs"): "chains"}
"""Keys of tables that had another name before version 0.2, and their name now."""
_RENAMED_VALUES: dict[tuple[str, str], dict[str, str]] = {
    ("calibration", "frames"): {"machine": "robot"},
    ("robot", "family"): {"planar-rrr": "3-rrr"},
}
"""Values of keys that were written differently before version 0.2, and how they are written now."""


def read_tables(path: Path) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """The tables of a study under their names of this version, its text, and a note about each old name in it.

    Raises:
        InputError: no such file, no TOML, or a table under its old name and its new one.
    """
    tables, source = read_toml(path)
    notes = []
    for old, new in _RENAMED_TABLES.items():
        if old in tables:
            require(new not in tables, f"{path} has both [{old}] and [{new}], two names of one table: keep [{new}]")
            notes.append(f"{where(source, path, (new,)).rpartition(',')[0]}: the table [{old}] is called [{new}] now.")
    if "machine" in tables and not tables.keys() & {"poses", "printer", "selection"}:
        tables["selection"] = {}  # a table [machine] alone asked for poses to measure
    tables = {_RENAMED_TABLES.get(name, name): value for name, value in tables.items()}
    for (name, key), now in _RENAMED_KEYS.items():
        table = tables.get(name)
        if isinstance(table, dict) and key in table:
            require(now not in table, f"{path} has both {key} and {now} in [{name}], two names of one key: keep {now}")
            tables[name] = {now if each == key else each: value for each, value in table.items()}
            notes.append(f"{where(source, path, (name, now)).rpartition(' ')[0]}: the key {key} is called {now} now.")
    for (name, key), values in _RENAMED_VALUES.items():
        table = tables.get(name)
        old_value = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(old_value, str) and old_value in values:
            tables[name] = {**table, key: values[old_value]}
            notes.append(f'{where(source, path, (name, key))}: "{old_value}" is called "{values[old_value]}" now.')
    return tables, source, tuple(notes)


def validated(
    model: type[Model],
    data: Mapping[str, Any],
    source: str,
    path: Path,
    written: Callable[[Place], Place] = lambda place: place,
) -> Model:
    """`data` as a `model`, or InputError with one line per mistake.

    `written` says where the file has what stands at a place of `data`.
    """
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        mistakes = error.errors(include_url=False)
        said = [f"{where(source, path, written(tuple(m['loc'])))}: {_in_words(m, model)}" for m in mistakes]
        lines = list(dict.fromkeys(said))
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"… and {len(lines) - _SHOWN} more"]
        raise InputError("\n".join(lines)) from error


def where(source: str, path: Path, place: Place) -> str:
    r"""`study.toml, line 7, [data] rate`: where a reader finds a value.

    Examples:
        >>> where("[data]\nrate = 0\n", Path("study.toml"), ("data", "rate"))
        'study.toml, line 2, [data] rate'
    """
    keys = [part for part in place if isinstance(part, str) and not part.startswith("function-")]
    while keys and (line := line_of(source, place)) is None and len(place) > 1:
        place = place[:-1]
    at = f", line {line}" if keys and line is not None else ""
    table = f", [{'.'.join(keys[:-1])}]" if len(keys) > 1 else ""
    return f"{path}{at}{table}{' ' if table else ', '}{keys[-1]}" if keys else f"{path}"


def line_of(source: str, place: Place) -> int | None:
    r"""The line, from 1, on which a value or its table begins; None where the file does not say it.

    Examples:
        >>> line_of("a = 1\n[[b]]\n[[b]]\nc = 2\n", ("b", 1, "c"))
        4
    """
    for number, found in _places(source):
        if found == place:
            return number
    return None


def _places(source: str) -> Iterator[tuple[int, Place]]:
    """Every table header and key with its line, by the names of this version.

    Multi-line strings that look like keys may add a few too many.
    """
    table: Place = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(source.splitlines(), start=1):
        if header := _HEADER.match(line):
            names = _split(header[2])
            if header[1] == "[[":
                counts[names] = counts.get(names, -1) + 1
            table = _counted(names, counts)
            yield number, _current(table)
        elif key := _KEY.match(line):
            yield number, _current((*table, *_split(key[1])))


def _current(place: Place) -> Place:
    first, *rest = place
    if isinstance(first, str):
        first = _RENAMED_TABLES.get(first, first)
        rest[:1] = [_RENAMED_KEYS.get((first, str(key)), key) for key in rest[:1]]
    return (first, *rest)


def _counted(names: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> Place:
    """The place of a table, with the number of each list on the way to it."""
    place: list[str | int] = []
    for i, name in enumerate(names):
        place.append(name)
        if names[: i + 1] in counts:
            place.append(counts[names[: i + 1]])
    return tuple(place)


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted))


def _in_words(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    kind, given, limits = mistake["type"], mistake["input"], mistake.get("ctx", {})
    known = _keys(model, mistake["loc"][:-1])
    match kind:
        case "extra_forbidden":
            return f"there is no such key{nearest(str(mistake['loc'][-1]), known)} (known: {', '.join(known)})"
        case "missing":
            return "this key is required"
        case "value_error":
            return str(limits["error"])
        case "greater_than":
            return f"must be greater than {limits['gt']:g}, but is {given!r}"
        case "greater_than_equal":
            return f"must be at least {limits['ge']:g}, but is {given!r}"
        case "less_than_equal":
            return f"must be at most {limits['le']:g}, but is {given!r}"
        case "too_short":
            return "the list is empty"
        case "finite_number":
            return f"must be a finite number, but is {given!r}"
        case "literal_error":
            return f"must be {limits['expected']}, but is {given!r}"
        case _:
            wanted = mistake["msg"].removeprefix("Input should be ")
            return f"must be {wanted}, but is {given!r}"


def _keys(model: type[BaseModel], place: Place) -> tuple[str, ...]:
    """The keys of the table at a place, through lists and dictionaries of tables."""
    table: type[BaseModel] | None = model
    for part in place:
        if isinstance(part, int) or table is None or part not in table.model_fields:
            continue  # an entry of a list, or of a dictionary whose entries all have one form
        table = _table_in(table.model_fields[part].annotation)
    return () if table is None else tuple(table.model_fields)


def _table_in(annotation: Any) -> type[BaseModel] | None:
    """The table that an annotation holds: itself, or the element of a list or dictionary."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _table_in(inner)
        if found is not None:
            return found
    return None
