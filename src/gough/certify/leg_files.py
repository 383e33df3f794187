"""Certificates about legs as JSON files in which every number is exact, sealed like the others."""

import json
import re
from pathlib import Path
from typing import Any

from gough.certify.files import sealed
from gough.certify.legs import LegCertificate, LegCut, LegStage
from gough.certify.records import require_keys
from gough.core.errors import InputError, require
from gough.core.files import new_file

_HEAD = {"gough": "leg certificate", "version": 1}
_SEAL = ',\n "seal": "'


def render_leg(certificate: LegCertificate) -> str:
    """The text of a certificate's file."""
    lines = [f' "{key}": {json.dumps(value)}' for key, value in {**_HEAD, "problem": certificate.problem}.items()]
    stages = [
        {
            "center": stage.center,
            "radius": stage.radius,
            "cuts": [[cut.unknown, cut.side, cut.bound, *zip(*cut.weights, strict=True)] for cut in stage.cuts],
        }
        for stage in certificate.stages
    ]
    entries = ",\n".join(f"  {json.dumps(stage, ensure_ascii=False, separators=(',', ':'))}" for stage in stages)
    return sealed("{\n" + ",\n".join([*lines, f' "stages": [\n{entries}\n ]']))


def save_leg(certificate: LegCertificate, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the certificate as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_leg(certificate).encode())


def load_leg(path: str | Path) -> LegCertificate:
    """The certificate in a file that `save_leg` wrote. It is well-formed then, but not yet checked."""
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
    whole = sealed(text.rpartition(_SEAL)[0]) == text
    require(whole, f"{path} was changed after it was saved: its seal is broken")
    return certificate


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a complete JSON document: {error}") from error


def _certificate(data: Any) -> LegCertificate:
    known = isinstance(data, dict) and all(data.get(key) == value for key, value in _HEAD.items())
    require(known, f'not a certificate of a leg that this gough reads: no "gough": "{_HEAD["gough"]}", version 1')
    require_keys(data, {*_HEAD, "problem", "stages", "seal"}, "a leg certificate")
    digest = data["problem"]
    fits = isinstance(digest, str) and re.fullmatch("sha256:[0-9a-f]{64}", digest) is not None
    require(fits, 'problem must be a digest, "sha256:" and 64 hexadecimal digits')
    require(isinstance(data["stages"], list), "stages must be a list")
    return LegCertificate(digest, tuple(_stage(stage, f"box {k}") for k, stage in enumerate(data["stages"], start=1)))


def _stage(data: Any, what: str) -> LegStage:
    require_keys(data, {"center", "radius", "cuts"}, what)
    center, radius = (_numbers(data[key], f"{what}: {key}") for key in ("center", "radius"))
    require(isinstance(data["cuts"], list), f"{what}: cuts must be a list")
    return LegStage(center, radius, tuple(_cut(cut, f"{what}, cut {k}") for k, cut in enumerate(data["cuts"], start=1)))


def _cut(data: Any, what: str) -> LegCut:
    require(isinstance(data, list) and len(data) in {3, 5}, f"{what} must be [unknown, side, bound, rows, weights]")
    unknown, side, bound, *weights = data
    require(isinstance(unknown, str) and isinstance(side, str), f"{what} must name its unknown and side")
    (number,) = _numbers([bound], f"{what}: bound")
    rows, values = weights or ([], [])
    require(isinstance(rows, list), f"{what}: rows must be a list")
    factors = _numbers(values, f"{what}: weights")
    require(len(rows) == len(factors), f"{what} must have a weight for each row")
    return LegCut(unknown, side, number, tuple(zip(rows, factors, strict=True)))


def _numbers(data: Any, what: str) -> tuple[float, ...]:
    good = isinstance(data, list) and all(isinstance(x, int | float) and not isinstance(x, bool) for x in data)
    require(good, f"{what} must be a list of numbers")
    exact = all(isinstance(x, float) or x == float(x) for x in data)
    require(exact, f"{what} has a whole number that is no double")
    return tuple(float(x) for x in data)
