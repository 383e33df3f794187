"""Files: written completely or not at all, and read within limits."""

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from gough.core.errors import InputError, nearest, require

_LARGEST_TEXT = 16 << 20
"""Bytes of a text file that a person writes; what is larger is another kind of file."""
_DEEPEST = 32
"""Tables and lists inside one another."""
_WHOLE = 1 << 63
"""Whole numbers of TOML have 64 bits."""


def is_file(path: Path) -> bool:
    """Whether there is such a file; names that no file can have, too long or with the character NUL, name none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def file_beside(path: Path) -> str:
    """`"; did you mean 'x'?"` for the file of the same folder with the nearest name; for messages."""
    if not is_folder(path.parent):
        return f" (nor a folder {path.parent})"
    return nearest(path.name, sorted(other.name for other in path.parent.iterdir() if is_file(other))[:1000])


def read_text(path: str | Path) -> str:
    """The text of a small file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: it cannot be read, is too large for a text that a person writes, or is not UTF-8.
    """
    if is_folder(Path(path)):
        texts = sorted(each.name for each in Path(path).glob("*.toml") if each.is_file())
        example = f", such as {Path(path) / texts[0]}" if texts else ""
        raise InputError(f"{path} is a folder: give a file{example}")
    try:
        size = Path(path).stat().st_size
        require(size <= _LARGEST_TEXT, f"{path} has {size >> 20} MB: such files have at most {_LARGEST_TEXT >> 20} MB")
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be read: there is no such file{file_beside(Path(path))}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except ValueError as error:  # a name with the character NUL
        raise InputError(f"{path!r} cannot be read: {error}") from error


def read_toml(path: str | Path) -> tuple[dict[str, Any], str]:
    """The tables of a TOML file, and its text.

    Raises:
        InputError: it cannot be read, or is no TOML; the message names line and column.
    """
    text = read_text(path)
    nested = f"{path}: tables and lists stand in one another more than {_DEEPEST} deep"
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}. Text stands in quotes, lists in [ ]") from error
    except RecursionError as error:
        raise InputError(nested) from error
    except ValueError as error:  # a date that is none, or a number with thousands of digits
        raise InputError(f"{path} is not valid TOML: {error}") from error
    values: list[Any] = [tables]
    for _ in range(_DEEPEST):
        values = [
            inner
            for value in values
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        for value in values:
            whole = isinstance(value, int) and not -_WHOLE <= value < _WHOLE
            require(not whole, f"{path}: a whole number of {len(str(value))} digits is too large; write 1e20 for 10²⁰")
    require(not any(isinstance(value, dict | list) for value in values), nested)
    return tables, text


@contextmanager
def naming(target: Path, temporary: Path) -> Iterator[None]:
    """Make errors of the system name the file that is written instead of a temporary one, or none if a disk is full.

    Examples:
        >>> with naming(Path("a.txt"), Path(".a.txt")):
        ...     raise OSError(28, "No space left on device")
        Traceback (most recent call last):
        ...
        OSError: [Errno 28] No space left on device: 'a.txt'
    """
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename) == str(temporary):
            error.filename = str(target)
        raise


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file open for writing that gets its name only once it is complete; an existing one stays unless `overwrite`.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with new_file(f"{folder}/a.txt") as file:
        ...         _ = file.write(b"all of it")
        ...     Path(folder, "a.txt").read_text()
        'all of it'
    """
    target, exists = Path(path), f"{path} exists; delete it or give another name (in Python: overwrite=True)"
    require(overwrite or not target.exists(), exists)
    require(target.parent.is_dir(), f"{path} cannot be written: there is no folder {target.parent}")
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with naming(target, temporary), temporary.open("xb") as file:
            yield file
        if not overwrite:
            target.touch(exist_ok=False)  # fails if another process was faster
        temporary.replace(target)
    except FileExistsError as error:
        raise InputError(exists) from error
    finally:
        temporary.unlink(missing_ok=True)


def save_state(path: str | Path, kind: str, state: dict[str, Any], *, overwrite: bool = False) -> None:
    """Write plain data under the name of its kind, completely or not at all.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     save_state(f"{folder}/a.json", "counter 1", {"count": 3})
        ...     load_state(f"{folder}/a.json", "counter 1")
        {'count': 3}
    """
    document = {"format": kind, "sha256": _digest(state), "state": state}
    with new_file(path, overwrite=overwrite) as file:
        file.write(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode())


def load_state(path: str | Path, kind: str) -> dict[str, Any]:
    """The data that `save_state` wrote; InputError if the file is not complete, unchanged and of this kind."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        damaged = document["format"] != kind or document["sha256"] != _digest(document["state"])
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no saved '{kind}', or only a part of one") from error
    require(not damaged, f"{path} is no saved '{kind}', or it was changed or damaged")
    state: dict[str, Any] = document["state"]
    return state


def _digest(state: Any) -> str:
    return sha256(json.dumps(state, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
