"""TOML files as tables, with errors that name file, line and key."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from gough.core.arguments import as_path
from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml
from gough.core.toml_places import Place, where

_MOST = 5
"""Mistakes that are listed at once."""
Model = TypeVar("Model", bound=BaseModel)


class Table(BaseModel):
    """A table of a file: one field for each key; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


@dataclass(frozen=True, eq=False)
class TomlFile:
    """A TOML file: its tables, and the line of each value for messages."""

    path: Path
    source: str = ""
    """The text of the file."""
    tables: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Remarks for the user about the text, such as old names with their new ones."""
    written: Callable[[Place], Place] = lambda place: place
    """The place in the file of a value at a place of `tables`."""

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file.

        Raises:
            InputError: there is no such file, or it is not TOML; with the line.
        """
        file = as_path(path, "path")
        tables, source = read_toml(file)
        return cls(file, source, tables)

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """Prefix the message of an InputError raised inside with file, line and key, unless it names a line of it."""
        try:
            yield
        except InputError as error:
            if not self.source or str(error).startswith(f"{self.path}, "):
                raise
            if error.key:
                table = next((n for n in range(len(place), 0, -1) if _inner(self.tables, place[:n]) is not None), 0)
                place = (*place[:table], *error.key)
            raise InputError(f"{where(self.source, self.path, self.written(place))}: {error}") from error

    def validated(self, model: type[Model], tables: Mapping[str, Any] | None = None) -> Model:
        """The tables, or those given instead, as a `model`.

        Raises:
            InputError: a key is unknown or missing, or a value is not allowed; one line for each mistake.
        """
        try:
            return model.model_validate(dict(self.tables if tables is None else tables))
        except ValidationError as error:
            mistakes = error.errors(include_url=False)
            lines = list(
                dict.fromkeys(
                    f"{where(self.source, self.path, self.written(tuple(mistake['loc'])))}: {_message(mistake, model)}"
                    for mistake in mistakes
                )
            )
            if len(lines) > _MOST:
                lines[_MOST:] = [f"… and {len(lines) - _MOST} more"]
            raise InputError("\n".join(lines)) from error

    def renamed(self, keys: Mapping[Place, str], values: Mapping[Place, Mapping[str, str]]) -> Self:
        """The file with current names in place of old ones, and a note about each.

        Args:
            keys: The old place of a table or key, and its name now. Its table keeps its place.
            values: The current place of a key, and the new values of old ones.

        Raises:
            InputError: a table or key stands under its old name and its new one.
        """
        tables, notes = dict(self.tables), list(self.notes)
        old_of: dict[Place, Place] = {}
        for old, name in keys.items():
            holder = _inner(tables, old[:-1])
            if holder is None or old[-1] not in holder:
                continue
            new = (*old[:-1], name)
            words = [f"[{place[0]}]" if len(place) == 1 else f"'{place[-1]}'" for place in (old, new)]
            with self.at(*old):
                require(name not in holder, f"{words[0]} is the old name of {words[1]}, which is there too: keep one")
            _put(tables, old[:-1], {name if key == old[-1] else key: value for key, value in holder.items()})
            old_of[new] = old
            notes.append(f"{where(self.source, self.path, old)}: the name is {words[1]} now.")

        def written(place: Place) -> Place:
            for n in range(len(place), 0, -1):
                if place[:n] in old_of:
                    return (*old_of[place[:n]], *place[n:])
            return place

        for place, changed in values.items():
            holder = _inner(tables, place[:-1])
            value = None if holder is None else holder.get(place[-1])
            if holder is not None and isinstance(value, str) and value in changed:
                _put(tables, place[:-1], {**holder, place[-1]: changed[value]})
                notes.append(
                    f'{where(self.source, self.path, written(place))}: "{value}" is written "{changed[value]}" now.'
                )
        return replace(self, tables=tables, notes=tuple(notes), written=written)


def _inner(tables: Mapping[str, Any], place: Place) -> Mapping[Any, Any] | None:
    """The table at a place; None where there is none."""
    inner: Any = tables
    for key in place:
        if isinstance(inner, list) and isinstance(key, int):
            inner = inner[key] if 0 <= key < len(inner) else None
        else:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
    return inner if isinstance(inner, Mapping) else None


def _put(tables: dict[str, Any], place: Place, table: dict[Any, Any]) -> None:
    """Replace the table at a place of at most one key."""
    if place:
        tables[str(place[0])] = table
    else:
        tables.clear()
        tables.update(table)


def _message(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    kind, value, limits = mistake["type"], mistake["input"], mistake.get("ctx", {})
    known = _keys(model, mistake["loc"][:-1])
    match kind:
        case "extra_forbidden":
            return f"there is no such key{nearest(str(mistake['loc'][-1]), known)} (known: {', '.join(known)})"
        case "missing":
            return "this key is required"
        case "value_error":
            return str(limits["error"])
        case "greater_than":
            return f"must be greater than {limits['gt']:g}, but is {value!r}"
        case "greater_than_equal":
            return f"must be at least {limits['ge']:g}, but is {value!r}"
        case "less_than_equal":
            return f"must be at most {limits['le']:g}, but is {value!r}"
        case "too_short":
            return "the list is empty"
        case "finite_number":
            return f"must be a finite number, but is {value!r}"
        case "literal_error":
            return f"must be {limits['expected']}, but is {value!r}"
        case _:
            wanted = mistake["msg"].removeprefix("Input should be ")
            return f"must be {wanted}, but is {value!r}"


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
        table = _table_in(inner)
        if table is not None:
            return table
    return None
