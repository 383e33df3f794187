"""Digests of values, which tell tasks and campaigns apart; the same in every process and on every machine."""

import hashlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from types import CodeType
from typing import Any

import numpy as np

from gough.core.errors import InputError

_LENGTH = 32


def digest(value: Any) -> str:
    """A fingerprint of a configuration: the same for equal values, in every process; different for different ones.

    Arrays count by their bytes, functions by their name and what they do, paths by their text, other objects by their
    type and fields.

    Examples:
        >>> digest({"a": np.arange(3), "b": 1.5}) == digest({"b": 1.5, "a": np.arange(3)})
        True
        >>> digest((1, 2)) == digest((1, 2.5))
        False
    """
    hashed = hashlib.sha256()
    for part in _parts(value):
        hashed.update(len(part).to_bytes(8, "big") + part)
    return hashed.hexdigest()[:_LENGTH]


def file_digest(path: PurePath | str) -> str:
    """The digest of a file's content; that of its name where it cannot be read.

    Examples:
        >>> file_digest("no such file") == digest("no such file")
        True
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a pure path has no open()
            return hashlib.file_digest(file, "sha256").hexdigest()[:_LENGTH]
    except (OSError, ValueError):
        return digest(str(path))


_PLAIN = (str, bytes, bool, int, float, complex, Enum, Fraction, PurePath, np.generic, type(None), type(...))


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, _PLAIN):
        yield f"{type(value).__name__}:{value!r}".encode()
    elif isinstance(value, np.ndarray):
        yield f"array:{value.dtype.str}:{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping | Sequence | AbstractSet):
        yield from _of_collection(value)
    elif inspect.isfunction(value) or inspect.ismethod(value) or isinstance(value, type):
        yield from _of_function(value)
    else:
        yield from _of_object(value)


def _of_collection(value: Any) -> Iterator[bytes]:
    yield f"{'mapping' if isinstance(value, Mapping) else 'collection'}:{len(value)}".encode()
    if isinstance(value, Mapping):
        value = [(key, value[key]) for key in sorted(value, key=repr)]
    for entry in value if isinstance(value, Sequence) else sorted(value, key=repr):
        yield from _parts(entry)


def _of_object(value: Any) -> Iterator[bytes]:
    yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, partial):
        yield from _parts((value.func, value.args, value.keywords))
    elif is_dataclass(value):
        for field in fields(value):
            yield from _parts((field.name, getattr(value, field.name)))
    elif hasattr(value, "__dict__"):
        yield from _parts({k: v for k, v in vars(value).items() if not k.startswith("_")})
    elif slots := [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]:
        yield from _parts({name: getattr(value, name) for name in slots if hasattr(value, name)})
    else:
        raise InputError(f"a campaign cannot be told from another one by a {type(value).__name__}: use a frozen value")


def _of_function(value: Any) -> Iterator[bytes]:
    yield f"{value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, type):
        return
    if inspect.ismethod(value):
        yield from _parts(value.__self__)
        value = value.__func__
    value = inspect.unwrap(value)  # a decorator that keeps numpy's settings is no part of the campaign
    yield from _of_code(value.__code__)
    yield from _parts((value.__defaults__, value.__kwdefaults__))
    if value.__closure__:
        yield from _parts(tuple(cell.cell_contents for cell in value.__closure__))


def _of_code(code: CodeType) -> Iterator[bytes]:
    """What is run, whatever has become of the file since; comments and the places of lines do not count."""
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars)).encode()
    for constant in code.co_consts:
        yield from _of_code(constant) if isinstance(constant, CodeType) else _parts(constant)
