"""Certificates as small JSON files in which every number is exact.

A JSON number stands for the double nearest to it, written with as many digits as name that double and no other; any
other rational stands as text, "1/3", in hexadecimal if it is very long. The last entry seals the file: it is the
SHA-256 of all text before it, so that no edit goes unnoticed. The seal guards against accidents, the exact check
against everything else.
"""

import json
import re
from dataclasses import fields
from fractions import Fraction
from hashlib import sha256
from math import isinf
from pathlib import Path
from typing import Any

from gough.certify.certificate import FORMAT, Bound, Certificate, Empty, Proof, Step, Witness
from gough.core.errors import GoughError, InputError, nearest, require
from gough.core.files import new_file
from gough.core.floating import defect
from gough.core.rational import as_double

KINDS: dict[str, type[Proof]] = {kind.__name__: kind for kind in (Witness, Bound, Empty)}

_KEYS = ("gough", "version", "kind", "problem")
_SEAL = ',\n "seal": "'
_LONG = 2000  # bits; Python itself refuses decimal integers beyond 4300 digits
_WHOLE = r"[0-9]+|0x[0-9a-f]+"
_RATIONAL = re.compile(rf"(-?)({_WHOLE})/({_WHOLE})")


def save(certificate: Certificate, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the certificate as a JSON file, completely or not at all.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> path = Path(folder.name, "mass.json")
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
    _require_ieee()
    try:
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a certificate: it is not text") from error
    try:
        certificate = _certificate(_parsed(text))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    require(sealed(_unsealed(text)) == text, f"{path} was changed after it was saved: its seal is broken")
    return certificate


def render(certificate: Certificate) -> str:
    """The text of a certificate's file."""
    _require_ieee()
    head = {"gough": "certificate", "version": certificate.version, "kind": certificate.kind}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in {**head, "problem": certificate.problem}.items()]
    match certificate.proof:
        case Witness(theta=theta):
            lines.append(f' "theta": {_line(theta)}')
        case Bound(steps=steps) | Empty(steps=steps):
            body = ",\n".join(f"  {_step(step)}" for step in steps)
            lines.append(f' "steps": [\n{body}\n ]')
    return sealed("{\n" + ",\n".join(lines))


def _require_ieee() -> None:
    """Python's own conversion between doubles and digits is right only where the processor computes by IEEE 754."""
    if reason := defect():
        raise GoughError(f"certificates cannot be read or written exactly here, because {reason}")


def sealed(text: str) -> str:
    """The file's text with its seal."""
    return f'{text}{_SEAL}sha256:{sha256(text.encode()).hexdigest()}"\n}}\n'


def _unsealed(text: str) -> str:
    return text.rpartition(_SEAL)[0]


def _step(step: Step) -> str:
    weights = json.dumps([[row, _plain(x)] for row, x in step.weights])
    return f'{{"direction": {_line(step.direction)}, "value": {json.dumps(_plain(step.value))}, "weights": {weights}}}'


def _line(named: tuple[tuple[str, Fraction], ...]) -> str:
    return json.dumps({name: _plain(x) for name, x in named}, ensure_ascii=False)


def _plain(x: Fraction) -> float | str:
    double = as_double(x)
    if double is not None:
        return double
    if max(x.numerator.bit_length(), x.denominator.bit_length()) > _LONG:
        return f"{'-' if x < 0 else ''}{abs(x.numerator):#x}/{x.denominator:#x}"
    return f"{x.numerator}/{x.denominator}"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"not a complete JSON document: {error}") from error
    except RecursionError as error:
        raise InputError("not a certificate: its lists are nested too deeply") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"not a certificate: {error}") from error


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
    require(type(version) is int and version >= 1, f"version must be a whole number from 1, but it is {version!r:.40}")
    require(
        version <= FORMAT,
        f"the certificate has format {version}, from a newer gough; this one reads up to {FORMAT}. Update gough",
    )
    known = isinstance(kind, str) and kind in KINDS
    require(known, f"unknown kind {kind!r:.40}{nearest(str(kind), KINDS)}")
    cls = KINDS[kind]
    content = {field.name for field in fields(cls)}
    _require_keys(data, {*_KEYS, *content, "seal"}, f"a {kind} certificate")
    digest = data["problem"]
    fits = isinstance(digest, str) and re.fullmatch("sha256:[0-9a-f]{64}", digest) is not None
    require(fits, 'problem must be a digest, "sha256:" and 64 hexadecimal digits')
    return Certificate(digest, _proof(cls, data), version)


def _proof(cls: type[Proof], data: dict[str, Any]) -> Proof:
    if cls is Witness:
        return Witness(_named(data["theta"], "theta"))
    steps = data["steps"]
    require(isinstance(steps, list), f"steps must be a list, but it is {steps!r:.40}")
    chain = tuple(_read_step(step, number) for number, step in enumerate(steps, start=1))
    return Bound(chain) if cls is Bound else Empty(chain)


def _read_step(data: Any, number: int) -> Step:
    what = f"step {number}"
    require(isinstance(data, dict), f"{what} must be an object, but it is {data!r:.40}")
    _require_keys(data, {field.name for field in fields(Step)}, what)
    weights = data["weights"]
    fits = isinstance(weights, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in weights)
    require(fits, f"{what}: weights must be a list of pairs [row, weight]")
    pairs = tuple((row, _number(x, f"{what}: weight of row {row!r:.20}")) for row, x in weights)
    return Step(_named(data["direction"], f"{what}: direction"), _number(data["value"], f"{what}: value"), pairs)


def _require_keys(data: dict[str, Any], known: set[str], what: str) -> None:
    for key in data:
        require(key in known, f"{what} has no '{key}'{nearest(key, known)}")
    missing = sorted(known - set(data))
    require(not missing, f"{what} lacks '{', '.join(missing)}'")


def _named(data: Any, what: str) -> tuple[tuple[str, Fraction], ...]:
    require(isinstance(data, dict), f"{what} must be an object of names and numbers, but it is {data!r:.40}")
    return tuple((name, _number(x, f"{what}: '{name}'")) for name, x in data.items())


def _number(data: Any, what: str) -> Fraction:
    if isinstance(data, int | float) and not isinstance(data, bool):
        return Fraction(data)
    match = _RATIONAL.fullmatch(data) if isinstance(data, str) else None
    require(match is not None, f'{what} must be a number or a fraction such as "1/3", but it is {data!r:.40}')
    assert match is not None
    sign, numerator, denominator = match.groups()
    try:
        top, bottom = int(numerator, 0), int(denominator, 0)
    except ValueError as error:
        raise InputError(f"{what} is not a fraction that can be read: {error}") from error
    require(bottom != 0, f"{what} has the denominator 0")
    return Fraction(-top if sign else top, bottom)
