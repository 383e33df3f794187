"""Certificates about legs, and the measurements they speak about, as JSON files in which every number is exact."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gough.checker.files import parsed, require_ieee, sealed, unsealed
from gough.checker.leg_proofs import (
    LEG_PARTS,
    LegBound,
    LegCertificate,
    LegCut,
    LegEmpty,
    LegLink,
    LegOutliers,
    LegProof,
    LegSplit,
    LegStage,
    LegWitness,
)
from gough.checker.leg_questions import TOLERANCES, PlatformQuestion
from gough.checker.limits import FILE_BYTES, QUESTION_BYTES, BeyondLimit, brief, read_text, remade
from gough.checker.records import require_keys
from gough.core.errors import InputError, nearest, require
from gough.core.files import new_file
from gough.core.leg_measurements import PlatformMeasurements
from gough.region import Box

CERTIFICATE = "leg certificate"
QUESTION = "platform measurements"
VERSION = 2
_CONTENT = {
    "LegBound": {"links"},
    "LegEmpty": {"links"},
    "LegWitness": {"values", "move", "turn", "left_out"},
    "LegOutliers": {"at_least", "q", "outliers", "contradictions"},
}
_ARRAYS = ("quaternion", "position", "readings", *TOLERANCES)
T = TypeVar("T")


def render_leg(certificate: LegCertificate) -> str:
    """The text of a certificate's file."""
    head = {"gough": CERTIFICATE, "version": VERSION, "kind": certificate.kind, "problem": certificate.problem}
    return rendered(
        {**head, "legs": certificate.legs, "more": certificate.more, **_plain(remade(certificate.proof, LEG_PARTS))}
    )


def render_question(question: PlatformQuestion) -> str:
    """The text of a file of measurements."""
    head = {"gough": QUESTION, "version": VERSION, "legs": question.legs}
    prior = {"lower": question.prior.lower.tolist(), "upper": question.prior.upper.tolist()}
    return rendered({**head, **prior, **{name: getattr(question.data, name).tolist() for name in _ARRAYS}})


def save_leg(certificate: LegCertificate, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the certificate as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_leg(certificate).encode())


def save_question(question: PlatformQuestion, path: str | Path, *, overwrite: bool = False) -> None:
    """Write measurements and prior as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_question(question).encode())


def load_leg(path: str | Path) -> LegCertificate:
    """The certificate in a file that `save_leg` wrote. It is well-formed then, but not yet checked.

    Examples:
        >>> load_leg("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _certificate, "a certificate of legs")


def load_question(path: str | Path) -> PlatformQuestion:
    """The measurements and the prior in a file that `save_question` wrote.

    Examples:
        >>> load_question("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _question, "a file of measurements", QUESTION_BYTES)


def kind_of_file(path: str | Path) -> str:
    """What a JSON file says it is: the value of its first key "gough"; empty where there is none."""
    try:
        with Path(path).open("rb") as file:
            found = re.match(rb'\s*\{\s*"gough"\s*:\s*"([a-z ]{1,40})"', file.read(200))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return found[1].decode() if found else ""


def loaded(path: str | Path, read: Callable[[Any], T], what: str, limit: int = FILE_BYTES) -> T:
    """What `read` makes of a sealed JSON file."""
    require_ieee()
    text = read_text(path, what, limit)
    try:
        value = read(parsed(text))
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error
    except RecursionError as error:
        raise BeyondLimit(f"{path}: boxes are halved too often in a row; prove it in smaller parts") from error
    require(sealed(unsealed(text)) == text, f"{path} was changed after it was saved: its seal is broken")
    return value


def rendered(fields: dict[str, Any]) -> str:
    """The text of a sealed JSON file."""
    require_ieee()
    return sealed("{\n" + ",\n".join(f' "{key}": {_lines(value)}' for key, value in fields.items()))


def _lines(value: Any) -> str:
    """JSON, entry by entry on lines of their own if it is a list of lists or objects."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple | dict):
        return "[\n" + ",\n".join(f"  {_short(entry)}" for entry in value) + "\n ]"
    return _short(value)


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain(proof: LegProof) -> dict[str, Any]:
    match proof:
        case LegBound(links) | LegEmpty(links):
            return {"links": [plain_link(link) for link in links]}
        case LegWitness(values, move, turn, left_out):
            return {"values": values, "move": move, "turn": turn, "left_out": left_out}
        case LegOutliers(at_least, q, outliers, chains):
            cuts = [[plain_link(link) for link in chain] for chain in chains]
            return {"at_least": at_least, "q": q, "outliers": outliers, "contradictions": cuts}


def plain_link(link: LegLink) -> dict[str, Any]:
    """Plain data of a box, or of both halves of one."""
    if isinstance(link, LegSplit):
        halves = {key: [plain_link(one) for one in getattr(link, key)] for key in ("below", "above")}
        return {"split": link.unknown, "at": link.at, **halves}
    cuts = [[cut.unknown, cut.side, cut.bound, *zip(*cut.weights, strict=True)] for cut in link.cuts]
    return {"leg": link.leg, "center": link.center, "radius": link.radius, "cuts": cuts}


def require_head(data: Any, what: str, words: str) -> None:
    """Refuse a file that is not `what`, or of another format."""
    known = isinstance(data, dict) and data.get("gough") == what
    require(known, f'not {words}: no "gough": "{what}"')
    version = data.get("version")
    fits = type(version) is int and version == VERSION
    require(fits, f"it has format {brief(version)}, but this gough reads format {VERSION}: write it again")


def _certificate(data: Any) -> LegCertificate:
    require_head(data, CERTIFICATE, "a certificate of legs")
    kind = data.get("kind")
    known = isinstance(kind, str) and kind in _CONTENT
    require(known, f"unknown kind {brief(kind)}{nearest(str(kind), _CONTENT)}")
    require_keys(data, {"gough", "version", "kind", "problem", "legs", "more", "seal", *_CONTENT[kind]}, f"a {kind}")
    (more,) = numbers([data["more"]], "more")
    return LegCertificate(digest_in(data["problem"]), wholes(data["legs"], "legs"), _proof(kind, data), more)


def digest_in(data: Any) -> str:
    """The digest of a problem."""
    fits = isinstance(data, str) and re.fullmatch("sha256:[0-9a-f]{64}", data) is not None
    require(fits, 'problem must be a digest, "sha256:" and 64 hexadecimal digits')
    return str(data)


def _proof(kind: str, data: dict[str, Any]) -> LegProof:
    if kind == "LegWitness":
        rows = {key: tuple(list_of(data[key], key, numbers)) for key in ("move", "turn")}
        return LegWitness(numbers(data["values"], "values"), **rows, left_out=wholes(data["left_out"], "left_out"))
    if kind == "LegOutliers":
        chains = tuple(list_of(data["contradictions"], "contradiction", chain_in))
        return LegOutliers(data["at_least"], data["q"], wholes(data["outliers"], "outliers"), chains)
    links = chain_in(data["links"], "links")
    return LegBound(links) if kind == "LegBound" else LegEmpty(links)


def chain_in(data: Any, what: str) -> tuple[LegLink, ...]:
    """The boxes in plain data."""
    return tuple(list_of(data, f"{what}, box", _link))


def _link(data: Any, what: str) -> LegLink:
    if isinstance(data, dict) and "split" in data:
        require_keys(data, {"split", "at", "below", "above"}, what)
        require(isinstance(data["split"], str), f"{what} must name the unknown that it halves")
        (at,) = numbers([data["at"]], f"{what}: at")
        return LegSplit(data["split"], at, chain_in(data["below"], f"{what}.1"), chain_in(data["above"], f"{what}.2"))
    require_keys(data, {"leg", "center", "radius", "cuts"}, what)
    center, radius = (numbers(data[key], f"{what}: {key}") for key in ("center", "radius"))
    leg = None if data["leg"] is None else wholes([data["leg"]], f"{what}: leg")[0]
    return LegStage(center, radius, tuple(list_of(data["cuts"], f"{what}, cut", _cut)), leg)


def _cut(data: Any, what: str) -> LegCut:
    require(isinstance(data, list) and len(data) in {3, 5}, f"{what} must be [unknown, side, bound, rows, weights]")
    unknown, side, bound, *weights = data
    require(isinstance(unknown, str) and isinstance(side, str), f"{what} must name its unknown and side")
    (number,) = numbers([bound], f"{what}: bound")
    rows, values = weights or ([], [])
    factors = numbers(values, f"{what}: weights")
    require(isinstance(rows, list) and len(rows) == len(factors), f"{what} must have a weight for each row")
    return LegCut(unknown, side, number, tuple(zip(wholes(rows, f"{what}: rows"), factors, strict=True)))


def _question(data: Any) -> PlatformQuestion:
    require_head(data, QUESTION, "a file of measurements that gough certify wrote")
    require_keys(data, {"gough", "version", "legs", "lower", "upper", *_ARRAYS, "seal"}, "measurements")
    tables = {name: np.array(list_of(data[name], name, numbers)) for name in _ARRAYS if is_table(data[name], name)}
    prior = Box(*(np.array(numbers(data[side], side)) for side in ("lower", "upper")))
    return PlatformQuestion(PlatformMeasurements(**tables), prior, wholes(data["legs"], "legs"))


def is_table(data: Any, what: str) -> bool:
    """True, or an error if it is no table of numbers."""
    lists = isinstance(data, list) and bool(data) and all(isinstance(row, list) for row in data)
    require(lists and len({len(row) for row in data}) == 1, f"{what} must be a table of numbers, a row for each pose")
    return True


def list_of(data: Any, what: str, each: Callable[[Any, str], T]) -> list[T]:
    """A list, each entry of which is read."""
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
    exact = all(isinstance(x, float) or (abs(x) < 2**53) for x in data)
    require(exact, f"{what} has a whole number that is no double")
    return tuple(float(x) for x in data)
