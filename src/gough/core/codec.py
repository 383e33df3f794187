"""Frozen dataclasses to plain JSON data and back, exactly: every float returns bit for bit."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest


def encode(value: Any) -> Any:
    """`value` as JSON data; numbers that JSON does not know become "inf", "-inf", "nan".

    Examples:
        >>> encode(np.array([1.0, np.inf]))
        [1.0, 'inf']
    """
    if is_dataclass(value) and not isinstance(value, type):
        body = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        return {"type": type(value).__name__, **body}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.ndarray):
        return encode(value.tolist())
    if isinstance(value, list | tuple):
        return [encode(entry) for entry in value]
    if isinstance(value, float):
        return value if isfinite(value) else repr(value)
    if value is None or isinstance(value, str | int | bool):
        return value
    raise TypeError(f"cannot encode {type(value).__name__}")


def decode(data: Any, types: Mapping[str, type]) -> Any:
    """The value that `encode` made `data` from; `types` names the dataclasses that may occur."""
    if isinstance(data, list):
        return [decode(entry, types) for entry in data]
    if not isinstance(data, dict):
        return data
    name = data.get("type")
    if not isinstance(name, str) or name not in types:
        raise InputError(f"unknown type {name!r}{nearest(str(name), types)}")
    return _decode_dataclass(types[name], {k: v for k, v in data.items() if k != "type"}, types)


def _decode_dataclass(cls: type, body: dict[str, Any], types: Mapping[str, type]) -> Any:
    hints = get_type_hints(cls)
    known = {field.name for field in fields(cls)}
    for key in body:
        if key not in known:
            raise InputError(f"{cls.__name__} has no field '{key}'{nearest(key, known)}")
    values = {key: _as_field(decode(entry, types), hints[key]) for key, entry in body.items()}
    try:
        return cls(**values)
    except TypeError as error:
        missing = sorted(known - set(body))
        raise InputError(f"{cls.__name__} cannot be read; fields not given: {', '.join(missing)}") from error


def _as_field(value: Any, hint: Any) -> Any:
    """A list of numbers where the field is an array, an enumeration's member where it is one, a tuple for a tuple."""
    options = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    if value is None or is_dataclass(value):
        return value
    for option in options:
        if option == Array or (option is float and isinstance(value, str | int | float)):
            return _numbers(value, scalar=option is float)
        if isinstance(option, type) and issubclass(option, Enum):
            if value not in option.__members__:
                raise InputError(f"unknown {option.__name__} {value!r}{nearest(str(value), option.__members__)}")
            return option[value]
        if get_origin(option) is tuple and isinstance(value, list):
            return tuple(value)
    return value


def finite_or_none(value: float) -> float | None:
    """The number for JSON, which has no infinities and no NaN: those become null."""
    return float(value) if np.isfinite(value) else None


def _numbers(value: Any, *, scalar: bool) -> Any:
    try:
        return float(value) if scalar else np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"expected numbers, but found {value!r:.60}") from error
