"""Values as lines of JSON and back, bit for bit: numbers, arrays, tuples, and gough's own frozen values.

Reading creates instances of gough's dataclasses, named tuples and enumerations only, and runs no code of the file.
"""

import importlib
import json
from base64 import b64decode, b64encode
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from gough.core.errors import InputError

_MARK = "$"
_SAFE_KINDS = "biufcSU"
"""Kinds of arrays that hold numbers or text, not objects."""


def to_json(value: Any) -> str:
    """A value as one line of JSON.

    Raises:
        InputError: it holds something that cannot be read back, such as a function.

    Examples:
        >>> to_json({"a": (1.5, None)})
        '{"a":{"$tuple":[1.5,null]}}'
        >>> bool((from_json(to_json(np.array([0.1, np.nan]))) == [0.1, np.nan])[0])
        True
    """
    return json.dumps(_plain(value), ensure_ascii=True, separators=(",", ":"))


def from_json(text: str | bytes) -> Any:
    """The value that `to_json` wrote.

    Raises:
        InputError: the text is no such value.
    """
    try:
        return _value(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        raise InputError(f"this is no result that gough has written: {error}") from error


def _plain(value: Any) -> Any:  # noqa: C901 - one case for each type
    if value is None or type(value) in (str, bool, int, float):
        return value
    if type(value) is list:
        return [_plain(each) for each in value]
    if type(value) is dict:
        if all(type(key) is str and not key.startswith(_MARK) for key in value):
            return {key: _plain(each) for key, each in value.items()}
        return {"$dict": [[_plain(key), _plain(each)] for key, each in value.items()]}
    if type(value) is tuple:
        return {"$tuple": [_plain(each) for each in value]}
    if type(value) in (set, frozenset):
        return {"$frozenset": [_plain(each) for each in sorted(value)]}
    if isinstance(value, np.ndarray | np.generic):
        return _plain_array(value)
    if isinstance(value, Fraction):
        return {"$fraction": str(value)}
    if isinstance(value, complex):
        return {"$complex": [value.real, value.imag]}
    if isinstance(value, bytes):
        return {"$bytes": b64encode(value).decode()}
    if isinstance(value, PurePath):
        return {"$path": str(value)}
    return _plain_object(value)


def _plain_array(value: Any) -> Any:
    if value.dtype.kind not in _SAFE_KINDS:
        raise InputError(f"an array of {value.dtype} cannot be kept in a ledger: return numbers")
    content = np.asarray(value)
    scalar = isinstance(value, np.generic)
    order: Literal["C", "F"] = (
        "F" if content.ndim > 1 and content.flags.f_contiguous and not content.flags.c_contiguous else "C"
    )
    packed = b64encode(content.tobytes(order)).decode()  # the layout decides how BLAS rounds later sums
    return {"$scalar" if scalar else "$array": [value.dtype.str, list(content.shape), order, packed]}


def _plain_object(value: Any) -> Any:
    own = type(value)
    name = f"{own.__module__}:{own.__qualname__}"
    if not _is_ours(own.__module__):
        raise InputError(
            f"a task returned a {own.__module__}.{own.__qualname__}, which a ledger cannot keep: return numbers, text, "
            "lists, dictionaries, arrays, or values of gough"
        )
    if isinstance(value, Enum):
        return {"$enum": [name, value.name]}
    if isinstance(value, tuple):
        return {"$named": [name, [_plain(each) for each in value]]}
    if is_dataclass(value):
        return {"$value": [name, {field.name: _plain(getattr(value, field.name)) for field in fields(value)}]}
    raise InputError(f"a task returned a {own.__qualname__}, which a ledger cannot keep: return a frozen value")


def _value(data: Any) -> Any:
    if isinstance(data, list):
        return [_value(each) for each in data]
    if not isinstance(data, dict):
        return data
    if len(data) == 1:
        ((mark, content),) = data.items()
        if mark.startswith(_MARK):
            return _marked(mark, content)
    return {key: _value(each) for key, each in data.items()}


def _marked(mark: str, content: Any) -> Any:  # noqa: C901 - one case for each mark
    match mark:
        case "$tuple":
            return tuple(_value(each) for each in content)
        case "$frozenset":
            return frozenset(_value(each) for each in content)
        case "$dict":
            return {_value(key): _value(each) for key, each in content}
        case "$array" | "$scalar":
            return _array(*content, scalar=mark == "$scalar")
        case "$fraction":
            return Fraction(content)
        case "$complex":
            return complex(*content)
        case "$bytes":
            return b64decode(content)
        case "$path":
            return importlib.import_module("pathlib").Path(content)
        case "$enum":
            return _class(content[0])[content[1]]
        case "$named":
            return _class(content[0])._make(_value(each) for each in content[1])
        case "$value":
            return _instance(_class(content[0]), {name: _value(each) for name, each in content[1].items()})
    raise ValueError(f"unknown mark {mark}")


def _array(kind: str, shape: list[int], order: Any, packed: str, *, scalar: bool) -> Any:
    dtype = np.dtype(kind)
    if dtype.kind not in _SAFE_KINDS:
        raise ValueError(f"an array of {dtype}")
    array = np.frombuffer(b64decode(packed), dtype).reshape(shape, order=order)
    return array[()] if scalar else array.copy(order=order)


def _class(name: str) -> Any:
    module, _, qualified = name.partition(":")
    if not _is_ours(module):
        raise ValueError(f"{name} is no value of gough")
    found: Any = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, Enum) or hasattr(found, "_make")):
        raise ValueError(f"{name} is no value of gough")
    return found


def _instance(kind: Any, values: dict[str, Any]) -> Any:
    """A dataclass with these fields, as they were after its own checks: these are not run again."""
    if {field.name for field in fields(kind)} != set(values):
        raise ValueError(f"{kind.__qualname__} has other fields")
    made: Any = object.__new__(kind)
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(made, name, value)
    return made


def _is_ours(module: str) -> bool:
    return module == "gough" or module.startswith("gough.")
