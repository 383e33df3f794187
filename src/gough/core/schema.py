"""The JSON schema of sealed files, certificate-schema.json, and a validator for what it uses of draft 2020-12.

Writers and readers take the keys of objects from it, and both refuse what it does not allow.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

from gough.core.errors import InputError

SCHEMA = Path(__file__).with_name("certificate-schema.json")
_TYPES: dict[str, tuple[type, ...]] = {
    "null": (NoneType,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list, tuple),
    "object": (dict,),
}
_OF_VALUES = {"type", "const", "enum", "pattern", "minimum", "exclusiveMinimum", "anyOf", "description"}
_OF_LISTS = {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}
_OF_OBJECTS = {"properties", "required", "additionalProperties", "minProperties"}
_DEFINED = "#/$defs/"


class Keys(NamedTuple):
    """Keys of an object."""

    required: frozenset[str]
    optional: frozenset[str]


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """All definitions of the schema by name; those of files are named by `name_of`."""
    loaded: dict[str, dict[str, Any]] = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    for name, each in loaded.items():
        for unknown in sorted(set(_keywords(each)) - _OF_VALUES - _OF_LISTS - _OF_OBJECTS):
            raise AssertionError(f"the validator does not know the keyword '{unknown}' of '{name}'")
    return loaded


def _keywords(schema: dict[str, Any]) -> Iterator[str]:
    """Keywords of a schema and of all schemas in it, without references."""
    if "$ref" in schema:
        return
    yield from schema
    inner = [*schema.get("anyOf", ()), *schema.get("prefixItems", ()), *schema.get("properties", {}).values()]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    for each in inner:
        yield from _keywords(each)


def keys(name: str) -> Keys:
    """Keys of the object that a definition describes.

    Examples:
        >>> sorted(keys("strip").optional)
        ['above', 'below']
    """
    schema = definitions()[name]
    required = frozenset(schema["required"])
    return Keys(required, frozenset(schema["properties"]) - required)


@cache
def kinds_of(file: str, version: int) -> tuple[str, ...]:
    """Kinds of a file, of one version.

    Examples:
        >>> kinds_of("certificate", 1)
        ('Witness', 'Bound', 'Empty')
    """
    start = f"{file.replace(' ', '-')}-{version}-"
    return tuple(name.removeprefix(start) for name in definitions() if name.startswith(start))


def name_of(data: Any) -> str:
    """The definition of a file: its entries "gough", "version" and, if the definition has one, "kind".

    Examples:
        >>> name_of({"gough": "chain certificate", "version": 3, "kind": "ChainBound"})
        'chain-certificate-3-ChainBound'
        >>> name_of({"gough": "linear problem", "version": 1})
        'linear-problem-1'

    Raises:
        InputError: there is no such kind of file.
    """
    entries = [data.get(key) for key in ("gough", "version", "kind")] if isinstance(data, dict) else []
    given = "-".join(str(entry).replace(" ", "-") for entry in entries if type(entry) in {str, int})
    if given not in definitions():
        raise InputError("not a file of a known kind and version")
    return given


def require_valid(data: Any, name: str | None = None) -> None:
    """Raise InputError unless the data are as a definition allows, by default that of the file that they are.

    An integer is a number without fraction or exponent, and a list may be a tuple. Of several alternatives the first
    counts whose type, length and keys fit; alternatives of this schema differ in these.

    Examples:
        >>> require_valid({"split": "a", "at": "1/3", "below": [], "above": []}, "split")
        >>> require_valid({"split": "a", "at": "0.5", "below": [], "above": []}, "split")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: at: a text is not of the form that is allowed
    """
    # a list of what is left, and not recursion: cases of certificates are nested as deep as Python's stack allows
    left: list[tuple[dict[str, Any], Any, tuple[str | int, ...]]] = [(_defined(name or name_of(data)), data, ())]
    while left:
        schema, value, path = left.pop()
        schema = _chosen(schema, value)
        if reason := _fault(schema, value):
            raise InputError(f"{_place(path)}{reason}")
        if isinstance(value, dict):
            own, other = schema.get("properties", {}), schema.get("additionalProperties")
            left += [(own.get(key, other), entry, (*path, key)) for key, entry in value.items()]
        elif isinstance(value, list | tuple) and "prefixItems" in schema:
            pairs = zip(schema["prefixItems"], value, strict=True)
            left += [(each, entry, (*path, i)) for i, (each, entry) in enumerate(pairs)]
        elif isinstance(value, list | tuple) and not _all_valid(schema["items"], value):
            left += [(schema["items"], entry, (*path, i)) for i, entry in enumerate(value)]


def _place(path: tuple[str | int, ...]) -> str:
    words = [f"entry {step}" if isinstance(step, int) else f"{step:.40}" for step in path[-6:]]
    return f"{', '.join(words)}: " if words else ""


def _defined(name: str) -> dict[str, Any]:
    return definitions()[name]


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = _defined(schema["$ref"].removeprefix(_DEFINED))
    return schema


def _chosen(schema: dict[str, Any], value: Any) -> dict[str, Any]:
    """The schema itself, or the first of its alternatives whose type, length and keys fit."""
    schema = _resolved(schema)
    while "anyOf" in schema:
        options = [_resolved(each) for each in schema["anyOf"]]
        fitting = [each for each in options if "anyOf" in each or not _outside(each, value)]
        schema = (fitting or options)[0]
    return schema


def _fault(schema: dict[str, Any], value: Any) -> str:
    """Why a value does not fit, apart from its entries; empty if it does."""
    if outside := _outside(schema, value):
        return outside
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(type(value) is type(each) and value == each for each in allowed):
        return f"it is none of {allowed}"
    if "pattern" in schema and re.fullmatch(schema["pattern"][1:-1], value) is None:
        return "a text is not of the form that is allowed"
    if value < schema["minimum"] if "minimum" in schema else False:
        return f"a number is less than {schema['minimum']}"
    if value <= schema["exclusiveMinimum"] if "exclusiveMinimum" in schema else False:
        return f"a number is not greater than {schema['exclusiveMinimum']}"
    return "an entry occurs twice" if schema.get("uniqueItems") and not _all_different(value) else ""


def _all_different(values: list[Any] | tuple[Any, ...]) -> bool:
    plain = set(map(type, values)) <= {int, str}
    return len(set(values) if plain else {json.dumps(entry) for entry in values}) == len(values)


def _outside(schema: dict[str, Any], value: Any) -> str:
    """Why a value has another type, length or other keys; empty if it has not."""
    if "type" not in schema:
        return ""
    if not _has_type(schema, type(value)):
        return f"it must be of type {schema['type']}"
    if isinstance(value, dict):
        missing = sorted(set(schema.get("required", ())) - set(value))
        other = [] if schema.get("additionalProperties") else sorted(set(value) - set(schema["properties"]))
        if missing or other:
            return f"'{missing[0]}' is missing" if missing else f"'{other[0]:.40}' is not a known key"
        return "it is empty" if len(value) < schema.get("minProperties", 0) else ""
    if isinstance(value, list | tuple) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 2**62):
        return f"a list has {len(value)} entries"
    return ""


def _has_type(schema: dict[str, Any], kind: type) -> bool:
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return kind is not bool and any(issubclass(kind, _TYPES[name]) for name in names)


def _all_valid(schema: dict[str, Any], values: Sequence[Any]) -> bool:
    """Whether all are numbers, texts or short lists of such that fit by type and size: quick for long lists."""
    schema = _resolved(schema)
    if "anyOf" in schema:
        return any(_all_valid(each, values) for each in schema["anyOf"])
    kinds = set(map(type, values))
    if "prefixItems" in schema and kinds <= {list, tuple}:
        fits = {len(entry) for entry in values} <= {schema["minItems"]}
        return fits and all(map(_all_valid, schema["prefixItems"], zip(*values, strict=True)))
    if set(schema) - {"type", "minimum", "description"}:
        return not values
    fits = all(_has_type(schema, kind) for kind in kinds)
    return fits and ("minimum" not in schema or min(values, default=0) >= schema["minimum"])
