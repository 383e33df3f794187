"""Certificates as small JSON files in which every number is exact.

The last entry seals the file: it is the SHA-256 of all text before it, so that no edit goes unnoticed. The seal guards
against accidents, the exact check against everything else.
"""

import json
from pathlib import Path
from typing import Any

from gough.checker.certificate import Certificate, require_version
from gough.checker.limits import FILE_BYTES, remade
from gough.checker.proofs import PARTS
from gough.checker.records import KINDS, plain, read
from gough.core.errors import nearest, require
from gough.core.files import new_file
from gough.core.schema import kinds_of, require_valid
from gough.core.sealed import brief, loaded, require_exact_digits, require_keys, sealed


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
    return loaded(path, _certificate, "a certificate", FILE_BYTES)


def render(certificate: Certificate) -> str:
    """The text of a certificate's file."""
    require_exact_digits()
    proof = plain(remade(certificate.proof, PARTS), certificate.version)
    head = {"gough": "certificate", "version": certificate.version, "kind": certificate.kind}
    head["problem"] = certificate.problem
    require_valid({**head, **proof, "seal": certificate.problem})
    lines = [f' "{key}": {json.dumps(value)}' for key, value in head.items()]
    lines += [f' "{key}": {_lines(value)}' for key, value in proof.items()]
    return sealed("{\n" + ",\n".join(lines))


def _lines(value: Any) -> str:
    """JSON, entry by entry on lines of their own if it is a list of lists or objects."""
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n" + ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def _certificate(data: Any) -> Certificate:
    require(
        isinstance(data, dict) and data.get("gough") == "certificate", 'not a certificate: no "gough": "certificate"'
    )
    version, kind = data.get("version"), data.get("kind")
    require_version(version)
    known = isinstance(kind, str) and kind in KINDS
    require(known, f"unknown kind {brief(kind)}{nearest(str(kind), KINDS)}")
    require(kind in kinds_of("certificate", version), f"certificates of format {version} know no kind {kind}")
    require_keys(data, f"certificate-{version}-{kind}", f"a {kind} certificate")
    return Certificate(data["problem"], read(KINDS[kind], data, version), version)
