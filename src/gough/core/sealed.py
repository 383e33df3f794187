"""Sealed JSON files in which every number is exact: certificates, and the problems that they are about.

The last entry is the seal, the SHA-256 of all text before it. It reveals accidental changes; it is no part of a proof.
docs/certificate-format.md specifies the files.
"""

import json
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from math import isinf
from pathlib import Path
from typing import Any, TypeVar

from gough.core.errors import BeyondLimit, GoughError, InputError, nearest, require
from gough.core.floating import defect
from gough.core.schema import keys, require_valid

NESTED = 310
"""Largest depth of lists and objects within each other: two for each of 150 cases of a certificate, and ten more."""
LARGEST = 256 * 2**20
"""Largest file of a problem or of equations, bytes."""
_TOO_DEEP = f"its lists are nested more than {NESTED} deep, too deep to be checked; prove it in smaller parts"
_SEAL = ',\n "seal": "'
_EXACT = 1 << 53
"""Whole numbers below are doubles."""
T = TypeVar("T")


def rendered(fields: dict[str, Any]) -> str:
    """The text of a file with these entries, and its seal.

    Examples:
        >>> about = {"gough": "chain certificate", "version": 3, "kind": "ChainBound", "problem": f"sha256:{64 * '0'}"}
        >>> print(rendered({**about, "chains": [1], "more": 0.5, "links": []}), end="")
        {
         "gough": "chain certificate",
         "version": 3,
         "kind": "ChainBound",
         "problem": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
         "chains": [1],
         "more": 0.5,
         "links": [],
         "seal": "sha256:be1b92d811ccdc9b3b7137f1815e5b59e815db5df7bedc791194593dcbd9bb81"
        }

    Raises:
        InputError: the schema does not allow these entries.
    """
    require_exact_digits()
    require_valid({**fields, "seal": f"sha256:{64 * '0'}"})
    return sealed("{\n" + ",\n".join(f' "{key}": {_lines(value)}' for key, value in fields.items()))


def _lines(value: Any) -> str:
    """JSON, entry by entry on lines of their own if it is a list of lists or objects."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple | dict):
        return "[\n" + ",\n".join(f"  {_short(entry)}" for entry in value) + "\n ]"
    return _short(value)


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def require_exact_digits() -> None:
    """Raise GoughError if the processor does not compute by IEEE 754, as Python's conversion of doubles demands."""
    if reason := defect():
        raise GoughError(f"certificates cannot be read or written exactly here, because {reason}")


def sealed(text: str) -> str:
    """The file's text with its seal."""
    return f'{text}{_SEAL}sha256:{sha256(text.encode()).hexdigest()}"\n}}\n'


def unsealed(text: str) -> str:
    """The text before the seal."""
    return text.rpartition(_SEAL)[0]


def loaded(path: str | Path, read: Callable[[Any], T], what: str, limit: int = LARGEST) -> T:
    """The value that `read` makes of the data in a sealed file of at most `limit` bytes, as the schema allows them.

    Raises:
        InputError: the file cannot be read, `read` refuses it, or its seal is broken.
        BeyondLimit: it is too large, or nested too deep.
    """
    require_exact_digits()
    text = _text(path, what, limit)
    try:
        data = parsed(text, what)
        value = read(data)
        require_valid(data)
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error
    except RecursionError as error:
        raise BeyondLimit(f"{path}: {_TOO_DEEP}") from error
    require(sealed(unsealed(text)) == text, f"{path} was changed after it was saved: its seal is broken")
    return value


def _text(path: str | Path, what: str, limit: int) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > limit:
        raise BeyondLimit(f"{path} has more than {limit // 2**20} MiB, which is not checked; prove it in smaller parts")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not {what}: it is not text") from error


def parsed(text: str, what: str) -> Any:
    """JSON data, if it is complete, names no key twice, and every number is a double or a whole number."""
    try:
        data = json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"not a complete JSON document: {error}") from error
    except RecursionError as error:
        raise BeyondLimit(_TOO_DEEP) from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"not {what}: {error}") from error
    level = [data]
    for _ in range(NESTED):  # readers call themselves for what is inside, so this is looked at first
        level = [entry for part in level if isinstance(part, dict | list) for entry in _entries(part)]
        if not level:
            return data
    raise BeyondLimit(_TOO_DEEP)


def _entries(part: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return part.values() if isinstance(part, dict) else part


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        require(key not in result, f"'{key}' stands more than once")
        result[key] = value
    return result


def _float(literal: str) -> float:
    value = float(literal)
    require(not isinf(value), f"{literal:.40} is larger than any double")
    vanished = value == 0 and re.search("[1-9]", literal.lower().partition("e")[0]) is not None
    require(not vanished, f"{literal:.40} is smaller than any double, but not 0")
    return value


def _constant(literal: str) -> float:
    raise InputError(f"{literal} is no number that a proof can use")


def kind_of_file(path: str | Path) -> str:
    """The value of a JSON file's first key "gough"; empty if it has none."""
    try:
        with Path(path).open("rb") as file:
            match = re.match(rb'\s*\{\s*"gough"\s*:\s*"([a-z ]{1,40})"', file.read(200))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return match[1].decode() if match else ""


def brief(value: Any) -> str:
    """A value for a message that refuses it, never longer than a line.

    Examples:
        >>> brief("x" * 100), brief([1, 2]), brief(10**5000)
        ("'xxxxxxxxxxxxxxxxx...", 'a list', 'a number of 16610 bits')
    """
    if value is None or isinstance(value, float | bool):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if value.bit_length() < 100 else f"a number of {value.bit_length()} bits"
    if isinstance(value, str):
        return repr(value) if len(value) <= 30 else f"{repr(value[:30])[:18]}..."
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def require_keys(data: Any, name: str, what: str) -> None:
    """Refuse an object that lacks a key of a definition of the schema, or has others."""
    required, optional = keys(name)
    require(isinstance(data, dict), f"{what} must be an object, but it is {brief(data)}")
    for key in sorted(data.keys() - required - optional):
        raise InputError(f"{what} has no {brief(key)}{nearest(key, required | optional)}")
    missing = sorted(required - set(data))
    require(not missing, f"{what} lacks '{', '.join(missing)}'")


def list_of(data: Any, what: str, each: Callable[[Any, str], T]) -> list[T]:
    """A list, each entry of which is read by `each`."""
    require(isinstance(data, list), f"{what} must be a list, but it is {brief(data)}")
    return [each(entry, f"{what} {number}") for number, entry in enumerate(data, start=1)]


def wholes(data: Any, what: str) -> tuple[int, ...]:
    """Whole numbers from 0 on."""
    good = isinstance(data, list) and all(isinstance(x, int) and not isinstance(x, bool) and x >= 0 for x in data)
    require(good, f"{what} must be a list of whole numbers from 0 on")
    return tuple(data)


def numbers(data: Any, what: str) -> tuple[float, ...]:
    """Doubles."""
    good = isinstance(data, list) and all(isinstance(x, int | float) and not isinstance(x, bool) for x in data)
    require(good, f"{what} must be a list of numbers")
    exact = all(isinstance(x, float) or (abs(x) < _EXACT) for x in data)
    require(exact, f"{what} has a whole number that is no double")
    return tuple(float(x) for x in data)


def rows_of_numbers(data: Any, what: str) -> list[tuple[float, ...]]:
    """Lists of doubles of one length, at least one."""
    lists = isinstance(data, list) and bool(data) and all(isinstance(row, list) for row in data)
    require(lists and len({len(row) for row in data}) == 1, f"{what} must be a table of numbers, rows of one length")
    return list_of(data, what, numbers)
