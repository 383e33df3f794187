"""Certificates as small JSON files in which every number is exact.

The last entry seals the file: it is the SHA-256 of all text before it, so that no edit goes unnoticed. The seal guards
against accidents, the exact check against everything else.
"""

import json
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from math import isinf
from pathlib import Path
from typing import Any, TypeVar

from gough.checker.certificate import Certificate, require_version
from gough.checker.limits import DEPTH, FILE_BYTES, BeyondLimit, brief, read_text, remade
from gough.checker.proofs import PARTS
from gough.checker.records import KINDS, content_of, plain, read, require_keys
from gough.core.errors import GoughError, InputError, nearest, require
from gough.core.files import new_file
from gough.core.floating import defect

_KEYS = ("gough", "version", "kind", "problem")
_NESTED = 2 * DEPTH + 10
"""Lists and objects within each other: two for each case, and those of a step."""
_TOO_DEEP = f"its lists are nested more than {_NESTED} deep, too deep to be checked; prove it in smaller parts"
T = TypeVar("T")
_SEAL = ',\n "seal": "'


def save(certificate: Certificate, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the certificate as a JSON file, completely or not at all.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> path = Path(folder.name, "mass.json")
        >>> from fractions import Fraction
        >>> from gough.checker import Witness
        >>> certificate = Certificate("sha256:" + 64 * "0", Witness({"mass": Fraction(1, 3)}))
        >>> save(certificate, path)
        >>> load(path) == certificate
        True
        >>> folder.cleanup()
    """
    with new_file(path, overwrite=overwrite) as file:
        file.write(render(certificate).encode())


def load(path: str | Path) -> Certificate:
    """The certificate in a file that `save` wrote. It is well-formed then, but not yet checked.

    Examples:
        >>> load("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _certificate, "a certificate")


def loaded(path: str | Path, read: Callable[[Any], T], what: str, limit: int = FILE_BYTES) -> T:
    """What `read` makes of a sealed JSON file."""
    require_ieee()
    text = read_text(path, what, limit)
    try:
        value = read(parsed(text))
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error
    except RecursionError as error:
        raise BeyondLimit(f"{path}: {_TOO_DEEP}") from error
    require(sealed(unsealed(text)) == text, f"{path} was changed after it was saved: its seal is broken")
    return value


def render(certificate: Certificate) -> str:
    """The text of a certificate's file."""
    require_ieee()
    head = {"gough": "certificate", "version": certificate.version, "kind": certificate.kind}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in {**head, "problem": certificate.problem}.items()]
    lines += [f' "{key}": {_lines(value)}' for key, value in plain(remade(certificate.proof, PARTS)).items()]
    return sealed("{\n" + ",\n".join(lines))


def _lines(value: Any) -> str:
    """JSON, entry by entry on lines of their own if it is a list of lists or objects."""
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n" + ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def require_ieee() -> None:
    """Python's own conversion between doubles and digits is right only where the processor computes by IEEE 754."""
    if reason := defect():
        raise GoughError(f"certificates cannot be read or written exactly here, because {reason}")


def sealed(text: str) -> str:
    """The file's text with its seal."""
    return f'{text}{_SEAL}sha256:{sha256(text.encode()).hexdigest()}"\n}}\n'


def unsealed(text: str) -> str:
    """The text before the seal."""
    return text.rpartition(_SEAL)[0]


def parsed(text: str) -> Any:
    """JSON data, if it is complete, names no key twice, and every number is a double."""
    try:
        data = json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"not a complete JSON document: {error}") from error
    except RecursionError as error:
        raise BeyondLimit(_TOO_DEEP) from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"not a certificate: {error}") from error
    level = [data]
    for _ in range(_NESTED):  # readers call themselves for what is inside, so this is looked at first
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


def _certificate(data: Any) -> Certificate:
    require(
        isinstance(data, dict) and data.get("gough") == "certificate", 'not a certificate: no "gough": "certificate"'
    )
    version, kind = data.get("version"), data.get("kind")
    require_version(version)
    known = isinstance(kind, str) and kind in KINDS
    require(known, f"unknown kind {brief(kind)}{nearest(str(kind), KINDS)}")
    cls = KINDS[kind]
    require_keys(data, {*_KEYS, *content_of(cls), "seal"}, f"a {kind} certificate")
    return Certificate(data["problem"], read(cls, data, version), version)
