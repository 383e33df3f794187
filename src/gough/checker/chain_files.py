"""Certificates about chains, and the questions they are about, as JSON files in which every number is exact.

Format 3 is written, and format 4 for chains in coordinates of their own, which format 3 has not. Format 2 is read: it
had one pair of files for legs ("leg certificate", "platform measurements") and another for chains of other robots
("chain certificate", "chain equations", one chain each).
"""

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gough.checker.certificate import require_digest
from gough.checker.chain_proofs import (
    CHAIN_PARTS,
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainEmpty,
    ChainFrame,
    ChainLink,
    ChainOutliers,
    ChainProof,
    ChainSplit,
    ChainStage,
    ChainWitness,
    JointEmpty,
    NumberedCut,
)
from gough.checker.chain_questions import LEG_ARRAYS, ChainQuestion
from gough.checker.leg_equations import PlatformMeasurements
from gough.checker.limits import FILE_BYTES, NUMBERS, remade, require_within
from gough.checker.records import number_in, plain_number
from gough.checker.rod_equations import ARRAYS, Condition, RodEquations
from gough.core.arrays import Array
from gough.core.errors import nearest, require
from gough.core.files import new_file
from gough.core.schema import kinds_of, name_of
from gough.core.sealed import brief, list_of, loaded, numbers, rendered, require_keys, rows_of_numbers, wholes
from gough.region import Box

VERSION = 3
_JOINT = 4
"""The format of certificates about chains in coordinates of their own."""
CERTIFICATE, EQUATIONS = "chain certificate", "chain equations"
OLD_CERTIFICATE, OLD_MEASUREMENTS = "leg certificate", "platform measurements"
CERTIFICATES, QUESTIONS = {CERTIFICATE, OLD_CERTIFICATE}, {EQUATIONS, OLD_MEASUREMENTS}
_OLD = 2
_SPARSE = ("A", "D", "B", "bend")
"""Arrays most of whose numbers are 0: `places` says which of a pose's numbers are given."""


def render_chains(certificate: ChainCertificate) -> str:
    """The text of a certificate's file."""
    version = _JOINT if isinstance(certificate.proof, JointEmpty) else VERSION
    head = {"gough": CERTIFICATE, "version": version, "kind": certificate.kind, "problem": certificate.problem}
    about = {"chains": certificate.chains, "more": certificate.more}
    return rendered({**head, **about, **_plain(remade(certificate.proof, CHAIN_PARTS))})


def render_question(question: ChainQuestion) -> str:
    """The text of a file of equations."""
    head = {"gough": EQUATIONS, "version": VERSION, "kind": "legs" if question.legs else "rods"}
    prior = {"lower": question.prior.lower.tolist(), "upper": question.prior.upper.tolist()}
    body: dict[str, Any] = {"equations": [_plain_rod(rod) for rod in question.rods]}
    if question.legs:
        body = {name: values.tolist() for name, values in question.arrays().items()}
    return rendered({**head, "chains": question.chains, **prior, **body})


def _plain_rod(rod: RodEquations) -> dict[str, Any]:
    plain: dict[str, Any] = {"names": rod.names, "products": rod.products, "conditions": rod.conditions}
    plain |= {"reading": rod.reading, "reading_unit": rod.reading_unit}
    for name in ARRAYS:
        flat = getattr(rod, name).reshape(rod.n_poses, -1)
        if name in _SPARSE:
            places = np.flatnonzero(flat.any(axis=0))
            plain[f"{name}_places"], flat = places.tolist(), flat[:, places]
        plain[name] = flat.tolist()
    return plain


def save_chains(certificate: ChainCertificate, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the certificate as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_chains(certificate).encode())


def save_question(question: ChainQuestion, path: str | Path, *, overwrite: bool = False) -> None:
    """Write equations and prior as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_question(question).encode())


def load_chains(path: str | Path) -> ChainCertificate:
    """The certificate in a file that `save_chains` wrote. It is well-formed then, but not yet checked.

    Examples:
        >>> load_chains("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _certificate, "a certificate about chains", FILE_BYTES)


def load_question(path: str | Path) -> ChainQuestion:
    """The equations and the prior in a file that `save_question` wrote.

    Examples:
        >>> load_question("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _question, "a file of equations")


def _plain(proof: ChainProof) -> dict[str, Any]:
    match proof:
        case ChainBound(links) | ChainEmpty(links):
            return {"links": [plain_link(link) for link in links]}
        case JointEmpty(links, frames, stages):
            plain_frames = [
                {
                    "center": f.center,
                    "radius": f.radius,
                    "axes": f.axes,
                    "inverse": f.inverse,
                    "cuts": _plain_cuts(f.cuts),
                }
                for f in frames
            ]
            plain_stages = [_plain_cuts(stage) for stage in stages]
            return {"links": [plain_link(link) for link in links], "frames": plain_frames, "stages": plain_stages}
        case ChainWitness(values, errors, left_out):
            exhibited = [[plain_number(x) for x in row] for row in errors]
            return {"values": [plain_number(x) for x in values], "errors": exhibited, "left_out": left_out}
        case ChainOutliers(at_least, q, outliers, contradictions):
            several = [[plain_link(link) for link in links] for links in contradictions]
            return {"at_least": at_least, "q": q, "outliers": outliers, "contradictions": several}


def plain_link(link: ChainLink) -> dict[str, Any]:
    """Plain data of a box, or of both halves of one."""
    if isinstance(link, ChainSplit):
        halves = {key: [plain_link(one) for one in getattr(link, key)] for key in ("below", "above")}
        return {"split": link.unknown, "at": link.at, **halves}
    cuts = [[cut.unknown, cut.side, cut.bound, *zip(*cut.weights, strict=True)] for cut in link.cuts]
    return {"chain": link.chain, "center": link.center, "radius": link.radius, "cuts": cuts}


def _plain_frame(frame: ChainFrame) -> dict[str, Any]:
    numbers_of = {name: getattr(frame, name) for name in ("center", "radius", "axes", "inverse")}
    return {**numbers_of, "cuts": _plain_cuts(frame.cuts)}


def _plain_cuts(cuts: Sequence[NumberedCut]) -> list[list[Any]]:
    return [[cut.number, cut.side, cut.bound, *zip(*cut.weights, strict=True)] for cut in cuts]


def links_in(data: Any) -> tuple[ChainLink, ...]:
    """Boxes from plain data, as `plain_link` gives them."""
    return _Reader("chain").links(data, "links")


def _version(data: Any, known: set[str], what: str) -> int:
    """The format of a file; refuses one that is not what it should be, or of an unknown format."""
    fits = isinstance(data, dict) and isinstance(data.get("gough"), str) and data["gough"] in known
    require(fits, f'not {what}: no "gough": "{min(known)}"')
    version = data.get("version")
    formats = {_OLD} if data["gough"] in {OLD_CERTIFICATE, OLD_MEASUREMENTS} else {_OLD, VERSION}
    formats |= {_JOINT} if data["gough"] == CERTIFICATE else set()
    read = " or ".join(map(str, sorted(formats)))
    fits = type(version) is int and version in formats
    require(fits, f"it has format {brief(version)}, but this gough reads format {read}: write it again")
    return int(version)


def _certificate(data: Any) -> ChainCertificate:
    old = _version(data, CERTIFICATES, "a certificate about chains") == _OLD
    kinds, kind = kinds_of(data["gough"], data["version"]), data.get("kind")
    require(isinstance(kind, str) and kind in kinds, f"unknown kind {brief(kind)}{nearest(str(kind), kinds)}")
    numbered = {OLD_CERTIFICATE: "legs", CERTIFICATE: "chain"}[data["gough"]] if old else "chains"
    require_keys(data, name_of(data), f"a {kind}")
    (more,) = numbers([data["more"]], "more")
    chains = wholes([data[numbered]] if numbered == "chain" else data[numbered], numbered)
    require_digest(data["problem"])
    read = _Reader("leg" if old else "chain")
    return ChainCertificate(data["problem"], chains, read.proof(kind.replace("Leg", "Chain"), data), more)


class _Reader:
    """Reads proofs, the boxes of which name their chain by a key that depends on the format."""

    def __init__(self, chain: str) -> None:
        self._chain = chain

    def proof(self, kind: str, data: dict[str, Any]) -> ChainProof:
        if kind == "ChainWitness":
            return self._witness(data)
        if kind == "ChainOutliers":
            contradictions = tuple(list_of(data["contradictions"], "contradiction", self.links))
            return ChainOutliers(data["at_least"], data["q"], wholes(data["outliers"], "outliers"), contradictions)
        links = self.links(data["links"], "links")
        if kind == "JointEmpty":
            frames = tuple(list_of(data["frames"], "frame", _frame))
            return JointEmpty(links, frames, tuple(list_of(data["stages"], "stage", _numbered)))
        return ChainBound(links) if kind == "ChainBound" else ChainEmpty(links)

    @staticmethod
    def _witness(data: dict[str, Any]) -> ChainWitness:
        left_out = wholes(data.get("left_out", []), "left_out")
        if "move" in data:  # of a leg, format 2
            values = numbers(data["values"], "values")
            move, turn = (list_of(data[key], key, numbers) for key in ("move", "turn"))
            same = len(move) == len(turn) and all(len(row) == 3 for row in (*move, *turn))
            require(same, "each pose has three errors of position and three of orientation")
            errors: Any = [(*a, *b) for a, b in zip(move, turn, strict=True)]
            return ChainWitness(values, errors, left_out)  # type: ignore[arg-type]
        rows = list_of(data.get("errors", []), "errors", lambda row, what: tuple(list_of(row, what, number_in)))
        return ChainWitness(tuple(list_of(data["values"], "values", number_in)), tuple(rows), left_out)

    def links(self, data: Any, what: str) -> tuple[ChainLink, ...]:
        return tuple(list_of(data, f"{what}, box", self._link))

    def _link(self, data: Any, what: str) -> ChainLink:
        if isinstance(data, dict) and "split" in data:
            require_keys(data, "chain-split", what)
            require(isinstance(data["split"], str), f"{what} must name the unknown that it halves")
            (at,) = numbers([data["at"]], f"{what}: at")
            below, above = (self.links(data[key], f"{what}.{i}") for i, key in enumerate(("below", "above"), start=1))
            return ChainSplit(data["split"], at, below, above)
        require_keys(data, "chain-stage" if self._chain == "chain" else "old-chain-stage", what)
        center, radius = (numbers(data[key], f"{what}: {key}") for key in ("center", "radius"))
        number = data[self._chain]
        chain = None if number is None else wholes([number], f"{what}: {self._chain}")[0]
        return ChainStage(center, radius, tuple(list_of(data["cuts"], f"{what}, cut", _cut)), chain)


def _frame(data: Any, what: str) -> ChainFrame:
    require_keys(data, "chain-frame", what)
    center, radius = (numbers(data[key], f"{what}: {key}") for key in ("center", "radius"))
    axes, inverse = (tuple(list_of(data[key], f"{what}: {key}", numbers)) for key in ("axes", "inverse"))
    return ChainFrame(center, radius, axes, inverse, _numbered(data["cuts"], f"{what}: cuts"))


def _numbered(data: Any, what: str) -> tuple[NumberedCut, ...]:
    return tuple(list_of(data, f"{what}, cut", _numbered_cut))


def _numbered_cut(data: Any, what: str) -> NumberedCut:
    require(isinstance(data, list) and len(data) in {3, 5}, f"{what} must be [number, side, bound, rows, weights]")
    (number,) = wholes(data[:1], f"{what}: number")
    same = _cut(["", *data[1:]], what)
    return NumberedCut(number, same.side, same.bound, same.weights)


def _cut(data: Any, what: str) -> ChainCut:
    require(isinstance(data, list) and len(data) in {3, 5}, f"{what} must be [unknown, side, bound, rows, weights]")
    unknown, side, bound, *weights = data
    require(isinstance(unknown, str) and isinstance(side, str), f"{what} must name its unknown and side")
    (number,) = numbers([bound], f"{what}: bound")
    rows, values = weights or ([], [])
    factors = numbers(values, f"{what}: weights")
    require(isinstance(rows, list) and len(rows) == len(factors), f"{what} must have a weight for each row")
    return ChainCut(unknown, side, number, tuple(zip(wholes(rows, f"{what}: rows"), factors, strict=True)))


def _question(data: Any) -> ChainQuestion:
    old = _version(data, QUESTIONS, "a file of equations that gough certify wrote") == _OLD
    legs = data.get("kind") == "legs" if data["gough"] == EQUATIONS else True
    require(old or legs or data.get("kind") == "rods", 'kind must be "legs" or "rods"')
    require_keys(data, name_of(data), "equations")
    if old and not legs:
        return ChainQuestion(wholes([data["chain"]], "chain"), (_rod(data),), _prior(data))
    numbered = "legs" if old else "chains"
    chains = wholes(data[numbered], numbered)
    if legs:
        tables = {name: _table(data[name], name) for name in LEG_ARRAYS}
        for name in ("position", "rotation", "reading"):  # a constructor would repeat a single row for all poses
            wanted = tables["readings" if name == "reading" else "position"].shape
            require(tables[f"{name}_tolerance"].shape == wanted, f"{name}_tolerance must have the shape {wanted}")
        platform = PlatformMeasurements(**tables)
        return ChainQuestion(chains, platform.legs, _prior(data))
    return ChainQuestion(chains, tuple(list_of(data["equations"], "equations", _listed_rod)), _prior(data))


def _prior(data: dict[str, Any]) -> Box:
    return Box(*(np.array(numbers(data[side], side)) for side in ("lower", "upper")))


def _listed_rod(data: Any, what: str) -> RodEquations:
    require_keys(data, "rod", what)
    return _rod(data)


def _rod(data: dict[str, Any]) -> RodEquations:
    names = data["names"]
    require(isinstance(names, list) and all(isinstance(x, str) for x in names), "names must be a list of names")
    tolerance, n = _table(data["tolerance"], "tolerance"), len(names)
    E = tolerance.shape[1]
    sizes = {"A": (3, n), "D": (E, 3), "B": (E, 3, n), "bend": (n,)}
    filled = {name: _filled(data, name, size) for name, size in sizes.items()}
    blur = _table(data["blur"], "blur")
    require(blur.shape[1] == 1, "blur has one number a pose")
    return RodEquations(
        tuple(names),
        _table(data["p"], "p"),
        **filled,
        tolerance=tolerance,
        blur=blur[:, 0],
        products=tuple(_pair(pair) for pair in list_of(data["products"], "product", wholes)),
        conditions=tuple(list_of(data["conditions"], "condition", _condition)),
        reading=wholes([data["reading"]], "reading")[0],
        reading_unit=data["reading_unit"] if isinstance(data["reading_unit"], str) else "",
    )


def _table(data: Any, what: str) -> Array:
    return np.array(rows_of_numbers(data, what))


def _filled(data: dict[str, Any], name: str, size: tuple[int, ...]) -> Array:
    """(N, *size), from the numbers at places."""
    places, values = wholes(data[f"{name}_places"], f"{name}_places"), _table(data[name], name)
    width = prod(size)
    require_within(len(values) * width, NUMBERS, f"{name} has", " numbers")
    rising = all(a < b for a, b in pairwise((*places, width)))
    require(values.shape[1] == len(places) and rising, f"{name} must have a number for each place, in rising order")
    result = np.zeros((len(values), width))
    result[:, list(places)] = values
    return result.reshape(len(values), *size)


def _pair(pair: Sequence[int]) -> tuple[int, int]:
    require(len(pair) == 2, "a product is a pair of unknowns")
    return pair[0], pair[1]


def _condition(data: Any, what: str) -> Condition:
    def term(entry: Any, name: str) -> tuple[int, int, float]:
        require(isinstance(entry, list) and len(entry) == 3, f"{name} must be [unknown, unknown, coefficient]")
        (i, j), (c,) = wholes(entry[:2], name), numbers(entry[2:], name)
        return i, j, c

    return tuple(list_of(data, what, term))
