"""Certificates about probed heights of a delta printer: what they state, and their files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from gough.checker.certificate import require_digest
from gough.checker.chain_files import links_in, plain_link
from gough.checker.chain_proofs import CHAIN_PARTS, ChainLink, checked_links, double, doubles
from gough.checker.height_equations import TOWERS
from gough.checker.limits import FILE_BYTES, remade
from gough.core.errors import nearest, require
from gough.core.schema import kinds_of, name_of
from gough.core.sealed import brief, list_of, loaded, numbers, rendered, require_keys, rows_of_numbers

KIND = "height certificate"
VERSION = 1
_ODD = re.compile(r"[\\\x00-\x1f\x7f\ud800-\udfff]")
"""What no path has: backslashes, control characters, and halves of characters, which no file system can encode."""
GEOMETRY = ("endstop_a", "endstop_b", "endstop_c", "radius", "angle_a", "angle_b")
"""Parameters that a witness exhibits; arms and the angle of tower c are as configured."""


@dataclass(frozen=True)
class HeightEmpty:
    """No printer whose towers lie in the box explains all heights within ε: the links leave nothing."""

    epsilon: float
    """m."""
    lower: tuple[float, ...]
    """(9,) m: x, y of a tower and the height of its carriage at reading zero, tower by tower."""
    upper: tuple[float, ...]
    links: tuple[ChainLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", double(self.epsilon, "epsilon"))
        for side in ("lower", "upper"):
            object.__setattr__(self, side, doubles(getattr(self, side), f"a side {side}"))
        object.__setattr__(self, "links", checked_links(self.links, empty=False))
        sides = len(self.lower) == len(self.upper) == len(TOWERS)
        ordered = sides and all(a <= b for a, b in zip(self.lower, self.upper, strict=True))
        require(ordered, f"the towers have {len(TOWERS)} unknowns, each with a lower and an upper side")
        require(0 <= self.epsilon < inf, "epsilon must not be negative")


@dataclass(frozen=True)
class HeightWitness:
    """A printer that explains all heights within ε: its geometry, and a small box around each of its points."""

    epsilon: float
    """m."""
    geometry: tuple[float, ...]
    """Values of `GEOMETRY`, m and rad."""
    points: tuple[tuple[float, ...], ...]
    """(N, 3) m: middles of the boxes."""
    radius: float
    """m: half the width of each box."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", double(self.epsilon, "epsilon"))
        object.__setattr__(self, "radius", double(self.radius, "radius"))
        object.__setattr__(self, "geometry", doubles(self.geometry, "a parameter"))
        object.__setattr__(self, "points", tuple(doubles(point, "a coordinate") for point in self.points))
        require(len(self.geometry) == len(GEOMETRY), f"a printer has {len(GEOMETRY)} parameters here")
        require(bool(self.points), "a printer was probed at one or more points")
        require(all(len(point) == 3 for point in self.points), "a point has three coordinates")
        require(self.radius > 0, "the radius of boxes must be positive")
        require(0 <= self.epsilon < inf, "epsilon must not be negative")


HeightProof = HeightEmpty | HeightWitness
_PARTS = (*CHAIN_PARTS, HeightEmpty, HeightWitness)


@dataclass(frozen=True)
class HeightCertificate:
    """A statement about probed heights with its evidence, and the digest of each file of the configuration.

    Examples:
        >>> witness = HeightWitness(1e-5, (0.4, 0.4, 0.4, 0.16, 3.6, 5.7), ((0.0, 0.0, 0.0),), 1e-9)
        >>> HeightCertificate((("printer.cfg", digest_of_file(b"")),), witness).kind
        'HeightWitness'
    """

    sources: tuple[tuple[str, str], ...]
    """Path, relative to the folder of the first file, and digest."""
    proof: HeightProof

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple((name, digest) for name, digest in self.sources))
        names = [name for name, _ in self.sources]
        require(0 < len(set(names)) == len(names), "a configuration has one or more different files")
        for name, digest in self.sources:
            parts = Path(name).parts
            inside = bool(parts) and ".." not in parts and not Path(name).is_absolute()
            require(inside and _ODD.search(name) is None, f"{brief(name)} is no path in this folder")
            require_digest(digest)
        require(isinstance(self.proof, HeightProof), f"a certificate has a proof, not {brief(self.proof)}")

    @property
    def kind(self) -> str:
        """The name of its proof's class."""
        return type(self.proof).__name__


def digest_of_file(content: bytes) -> str:
    """SHA-256 of a file's content."""
    return f"sha256:{sha256(content).hexdigest()}"


def height_certificate(files: Mapping[str, bytes], proof: HeightProof) -> HeightCertificate:
    """The certificate of a proof about these files."""
    return HeightCertificate(tuple((name, digest_of_file(content)) for name, content in files.items()), proof)


def remade_heights(certificate: HeightCertificate) -> HeightCertificate:
    """The certificate made again by its constructors, each of which refuses what it must."""
    return HeightCertificate(certificate.sources, remade(certificate.proof, _PARTS))


def render_heights(certificate: HeightCertificate) -> str:
    """The text of a certificate's file."""
    proof = remade(certificate.proof, _PARTS)
    head = {"gough": KIND, "version": VERSION, "kind": certificate.kind, "sources": certificate.sources}
    if isinstance(proof, HeightEmpty):
        sides = {"epsilon": proof.epsilon, "lower": proof.lower, "upper": proof.upper}
        return rendered({**head, **sides, "links": [plain_link(link) for link in proof.links]})
    geometry = dict(zip(GEOMETRY, proof.geometry, strict=True))
    return rendered(
        {**head, "epsilon": proof.epsilon, "geometry": geometry, "points": proof.points, "radius": proof.radius}
    )


def load_heights(path: str | Path) -> HeightCertificate:
    """The certificate in a file that `gough certify printer.cfg` wrote. It is well-formed then, but not yet checked.

    Examples:
        >>> load_heights("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _certificate, "a certificate about probed heights", FILE_BYTES)


def _certificate(data: Any) -> HeightCertificate:
    known = isinstance(data, dict) and data.get("gough") == KIND
    require(known, f'not a certificate about probed heights: no "gough": "{KIND}"')
    version, kind = data.get("version"), data.get("kind")
    fits = type(version) is int and version == VERSION
    require(fits, f"it has format {brief(version)}, but this gough reads format {VERSION}: update gough")
    kinds = kinds_of(KIND, VERSION)
    require(isinstance(kind, str) and kind in kinds, f"unknown kind {brief(kind)}{nearest(str(kind), kinds)}")
    require_keys(data, name_of(data), f"a {kind}")
    sources = tuple(list_of(data["sources"], "source", _source))
    (epsilon,) = numbers([data["epsilon"]], "epsilon")
    if kind == "HeightEmpty":
        lower, upper = (numbers(data[side], side) for side in ("lower", "upper"))
        return HeightCertificate(sources, HeightEmpty(epsilon, lower, upper, links_in(data["links"])))
    require_keys(data["geometry"], "printer-geometry", "geometry")
    geometry = numbers([data["geometry"][name] for name in GEOMETRY], "geometry")
    points = tuple(map(tuple, rows_of_numbers(data["points"], "points")))
    (radius,) = numbers([data["radius"]], "radius")
    return HeightCertificate(sources, HeightWitness(epsilon, geometry, points, radius))


def _source(data: Any, what: str) -> tuple[str, str]:
    good = isinstance(data, list) and len(data) == 2 and all(isinstance(x, str) for x in data)
    require(good, f"{what} must be [path, digest]")
    return data[0], data[1]
