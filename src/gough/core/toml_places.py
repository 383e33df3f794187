"""Places in TOML files: the line of a value, for messages."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")

Place = tuple[str | int, ...]
"""The path to a value from the top of the file: keys of tables, and numbers in lists."""


def where(source: str, path: Path, place: Place) -> str:
    r"""`study.toml, line 7, [data] rate`: the place of a value in a file.

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
    r"""The line, from 1, on which a value or its table begins; None if it is not in the file.

    Examples:
        >>> line_of("a = 1\n[[b]]\n[[b]]\nc = 2\n", ("b", 1, "c"))
        4
    """
    for number, where in _places(source):
        if where == place:
            return number
    return None


def _places(source: str) -> Iterator[tuple[int, Place]]:
    """Every table header and key with its line; also lines of multi-line strings that look like keys."""
    table: Place = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(source.splitlines(), start=1):
        if header := _HEADER.match(line):
            names = _split(header[2])
            if header[1] == "[[":
                counts[names] = counts.get(names, -1) + 1
            table = _counted(names, counts)
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_split(key[1]))


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
