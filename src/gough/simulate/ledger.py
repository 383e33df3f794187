"""Results of a long campaign on disk: each appended whole, none lost by a kill, none mixed with another campaign's.

A file of lines of JSON. The first identifies the campaign, by the digest of its configuration; every other one is a
result with its key. A line that a kill cut short is dropped when the file is opened again.
"""

import hashlib
import inspect
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, Self

import numpy as np

from gough.core.errors import InputError, require

_HEADER = {"gough_campaign": 1}
"""How such a file begins, with the version of its format."""


def digest(value: Any) -> str:
    """A fingerprint of a configuration: the same for equal values, in every process; different for different ones.

    Arrays count by their bytes, functions by their name and what they do, other objects by their type and fields.

    Examples:
        >>> digest({"a": np.arange(3), "b": 1.5}) == digest({"b": 1.5, "a": np.arange(3)})
        True
        >>> digest((1, 2)) == digest((1, 2.5))
        False
    """
    hashed = hashlib.sha256()
    for part in _parts(value):
        hashed.update(len(part).to_bytes(8, "big") + part)
    return hashed.hexdigest()[:32]


_PLAIN = (str, bytes, bool, int, float, complex, Enum, np.generic, type(None), type(...))


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


class Ledger:
    """An open file of results. Appending is one write to the end of the file, then to the disk.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with Ledger(Path(folder, "a.jsonl"), "b5") as ledger:
        ...         ledger.append("first", {"value": 1.5})
        ...     with Ledger(Path(folder, "a.jsonl"), "b5") as again:
        ...         dict(again.results)
        {'first': {'value': 1.5}}
    """

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        self.path = Path(path)
        self.results: dict[str, Any] = {}
        require(self.path.parent.is_dir(), f"{path} cannot be written: there is no folder {self.path.parent}")
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(self._file, self.path)  # before reading: what is read stays true
            whole = self._read(fingerprint)
        except BaseException:
            os.close(self._file)
            raise
        os.ftruncate(self._file, whole)
        os.lseek(self._file, 0, os.SEEK_END)
        if not whole:
            self._write({**_HEADER, "digest": fingerprint})

    def _read(self, fingerprint: str) -> int:
        """Take up the results that are there; the number of bytes in whole lines."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        begun = json.dumps(_HEADER, separators=(",", ":")).encode()[:-1]
        foreign = f"{self.path} is not the file of a campaign; give another name"
        require(data.startswith(begun) or begun.startswith(data), foreign)
        for k, line in enumerate(data[:whole].splitlines()):
            try:
                entry = json.loads(line)
                if k == 0:
                    self._check(entry["digest"], fingerprint)
                else:
                    self.results[entry["key"]] = entry["result"]
            except (ValueError, KeyError, TypeError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"{self.path}, line {k + 1} is not a result: the file is damaged") from error
        return whole

    def _check(self, fingerprint: str, wanted: str) -> None:
        require(
            fingerprint == wanted,
            f"{self.path} belongs to a campaign with another configuration (digest {fingerprint[:8]}…, not "
            f"{wanted[:8]}…): its results would be mixed up. Give another name, or restore that configuration",
        )

    def append(self, key: str, result: Any) -> None:
        """Add a result."""
        self.results[key] = result
        self._write({"key": key, "result": result})

    def _write(self, entry: Any) -> None:
        line = json.dumps(entry, allow_nan=True, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _lock(file: int, path: Path) -> None:
    """Refuse a file that another process is writing to."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return
    except OSError as error:
        raise InputError(f"{path} is in use by another process: two campaigns cannot write to one file") from error
