"""Legs written once: tables of a mechanism file that are repeated with other names and numbers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gough.core.errors import InputError, nearest, require
from gough.studies.mechanism_tables import LegsTable
from gough.studies.toml import Place, validated, where

KEYS = ("bodies", "joints", "closures")

Written = Callable[[Place], Place]
"""From a place among the tables written out to the place in the file."""


def written_out(data: Mapping[str, Any], source: str, path: Path) -> tuple[dict[str, Any], Written]:
    """The tables with every [[legs]] repeated for each of its names, and where each of them stands in the file.

    In the tables of a leg, "{leg}" inside any text is the leg's name; a text that is nothing but "{key}" is the leg's
    entry of the list `key` of [[legs]].
    """
    complete = {key: value for key, value in data.items() if key != "legs"}
    origins: dict[tuple[str, int], Place] = {}
    plain = {key: list(data.get(key, [])) if isinstance(data.get(key, []), list) else data[key] for key in KEYS}
    counts = dict.fromkeys(KEYS, 0)
    groups = data.get("legs", [])
    if not isinstance(groups, list):
        raise InputError(f"{where(source, path, ('legs',))}: write [[legs]], with two brackets: there may be several")
    for i, raw in enumerate(groups):
        table = validated(LegsTable, raw, source, path, lambda place, i=i: ("legs", i, *place))  # type: ignore[misc]
        lists = _lists(table, source, path, i)
        for n, leg in enumerate(table.names):
            values = {key: entries[n] for key, entries in lists.items()}
            for key in KEYS:
                for j, template in enumerate(getattr(table, key)):
                    origin = ("legs", i, key, counts[key] + j)
                    try:
                        plain[key].append(_filled(template, leg, values))
                    except InputError as error:
                        raise InputError(f"{where(source, path, origin)}: {error}") from error
                    origins[key, len(plain[key]) - 1] = origin
        for key in KEYS:
            counts[key] += len(getattr(table, key))

    def written(place: Place) -> Place:
        head = (place[0], place[1]) if len(place) > 1 else ()
        origin = origins.get(head) if len(head) == 2 else None  # type: ignore[arg-type]
        return place if origin is None else (*origin, *place[2:])

    return {**complete, **{key: value for key, value in plain.items() if value}}, written


def _lists(table: LegsTable, source: str, path: Path, i: int) -> dict[str, list[Any]]:
    """The lists with an entry for each leg."""
    lists = dict(table.model_extra or {})
    for key, entries in lists.items():
        try:
            require(key != "leg", "'leg' is the leg's name: call the list otherwise")
            require(isinstance(entries, list), "must be a list with an entry for each leg")
            n, wanted = len(entries), len(table.names)
            require(n == wanted, f"must have an entry for each of {wanted} legs, but has {n}")
        except InputError as error:
            raise InputError(f"{where(source, path, ('legs', i, key))}: {error}") from error
    return lists


def _filled(template: Any, leg: str, values: Mapping[str, Any]) -> Any:
    if isinstance(template, Mapping):
        return {key: _filled(value, leg, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, leg, values) for value in template]
    if not isinstance(template, str) or "{" not in template:
        return template
    if template.startswith("{") and template.endswith("}") and template != "{leg}":
        key = template[1:-1]
        if key not in values:
            raise InputError(
                f"[[legs]] has no list '{key}'{nearest(key, values)} (known: {', '.join(values) or 'none'})"
            )
        return values[key]
    return template.replace("{leg}", leg)
