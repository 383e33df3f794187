"""Certificates about chains, and the equations they speak about, as JSON files in which every number is exact."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gough.checker.chain_proofs import CHAIN_PARTS, ChainBound, ChainCertificate, ChainEmpty, ChainProof, ChainWitness
from gough.checker.chain_questions import ARRAYS, ChainQuestion, Condition
from gough.checker.leg_files import (
    VERSION,
    chain_in,
    digest_in,
    is_table,
    list_of,
    loaded,
    numbers,
    plain_link,
    rendered,
    require_head,
    wholes,
)
from gough.checker.limits import QUESTION_BYTES, brief, remade
from gough.checker.records import number_in, plain_number, require_keys
from gough.core.arrays import Array
from gough.core.errors import nearest, require
from gough.core.files import new_file
from gough.region import Box

CHAIN = "chain certificate"
EQUATIONS = "chain equations"
_CONTENT = {"ChainBound": {"links"}, "ChainEmpty": {"links"}, "ChainWitness": {"values"}}
_SPARSE = ("A", "D", "B", "bend")
"""Arrays most of whose numbers are 0: `places` says which of a pose's numbers are given."""
_QUESTION = {"chain", "names", "lower", "upper", "products", "conditions", "reading", "reading_unit", *ARRAYS}


def equations_name(chain: int) -> str:
    """The file beside a certificate of this chain that holds its equations."""
    return f"chain-{chain}-equations.json"


def render_chain(certificate: ChainCertificate) -> str:
    """The text of a certificate's file."""
    head = {"gough": CHAIN, "version": VERSION, "kind": certificate.kind, "problem": certificate.problem}
    proof = remade(certificate.proof, CHAIN_PARTS)
    content: dict[str, Any] = (
        {"values": [plain_number(x) for x in proof.values]}
        if isinstance(proof, ChainWitness)
        else {"links": [plain_link(link) for link in proof.links]}
    )
    return rendered({**head, "chain": certificate.chain, "more": certificate.more, **content})


def render_equations(question: ChainQuestion) -> str:
    """The text of a file of equations."""
    head = {"gough": EQUATIONS, "version": VERSION, "chain": question.chain, "names": question.names}
    prior = {"lower": question.prior.lower.tolist(), "upper": question.prior.upper.tolist()}
    about = {"products": question.products, "conditions": question.conditions}
    unit = {"reading": question.reading, "reading_unit": question.reading_unit}
    arrays: dict[str, Any] = {}
    for name in ARRAYS:
        flat = getattr(question, name).reshape(question.n_poses, -1)
        if name in _SPARSE:
            places = np.flatnonzero(flat.any(axis=0))
            arrays[f"{name}_places"], flat = places.tolist(), flat[:, places]
        arrays[name] = flat.tolist()
    return rendered({**head, **prior, **about, **unit, **arrays})


def save_chain(certificate: ChainCertificate, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the certificate as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_chain(certificate).encode())


def save_equations(question: ChainQuestion, path: str | Path, *, overwrite: bool = False) -> None:
    """Write equations and prior as a JSON file, completely or not at all."""
    with new_file(path, overwrite=overwrite) as file:
        file.write(render_equations(question).encode())


def load_chain(path: str | Path) -> ChainCertificate:
    """The certificate in a file that `save_chain` wrote. It is well-formed then, but not yet checked.

    Examples:
        >>> load_chain("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _certificate, "a certificate of a chain")


def load_equations(path: str | Path) -> ChainQuestion:
    """The equations and the prior in a file that `save_equations` wrote.

    Examples:
        >>> load_equations("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _question, "a file of equations", QUESTION_BYTES)


def _certificate(data: Any) -> ChainCertificate:
    require_head(data, CHAIN, "a certificate of a chain")
    kind = data.get("kind")
    known = isinstance(kind, str) and kind in _CONTENT
    require(known, f"unknown kind {brief(kind)}{nearest(str(kind), _CONTENT)}")
    require_keys(data, {"gough", "version", "kind", "problem", "chain", "more", "seal", *_CONTENT[kind]}, f"a {kind}")
    (more,) = numbers([data["more"]], "more")
    (chain,) = wholes([data["chain"]], "chain")
    return ChainCertificate(digest_in(data["problem"]), chain, _proof(kind, data), more)


def _proof(kind: str, data: dict[str, Any]) -> ChainProof:
    if kind == "ChainWitness":
        values: list[Fraction] = list_of(data["values"], "values", number_in)
        return ChainWitness(tuple(values))
    links = chain_in(data["links"], "links")
    return ChainBound(links) if kind == "ChainBound" else ChainEmpty(links)


def _question(data: Any) -> ChainQuestion:
    require_head(data, EQUATIONS, "a file of equations that gough certify wrote")
    places = {f"{name}_places" for name in _SPARSE}
    require_keys(data, {"gough", "version", "seal", *_QUESTION, *places}, "equations")
    names = data["names"]
    require(isinstance(names, list) and all(isinstance(x, str) for x in names), "names must be a list of names")
    (chain,), (reading,) = wholes([data["chain"]], "chain"), wholes([data["reading"]], "reading")
    tolerance, n = _table(data["tolerance"], "tolerance"), len(names)
    E = tolerance.shape[1]
    sizes = {"A": (3, n), "D": (E, 3), "B": (E, 3, n), "bend": (n,)}
    filled = {name: _filled(data, name, size) for name, size in sizes.items()}
    blur = _table(data["blur"], "blur")
    require(blur.shape[1] == 1, "blur has one number a pose")
    return ChainQuestion(
        chain,
        tuple(names),
        Box(*(np.array(numbers(data[side], side)) for side in ("lower", "upper"))),
        _table(data["p"], "p"),
        **filled,
        tolerance=tolerance,
        blur=blur[:, 0],
        products=tuple(_pair(pair) for pair in list_of(data["products"], "product", wholes)),
        conditions=tuple(list_of(data["conditions"], "condition", _condition)),
        reading=reading,
        reading_unit=data["reading_unit"] if isinstance(data["reading_unit"], str) else "",
    )


def _table(data: Any, what: str) -> Array:
    is_table(data, what)
    return np.array(list_of(data, what, numbers))


def _filled(data: dict[str, Any], name: str, size: tuple[int, ...]) -> Array:
    """(N, *size), from the numbers at places."""
    places, values = wholes(data[f"{name}_places"], f"{name}_places"), _table(data[name], name)
    width = int(np.prod(size))
    fits = values.shape[1] == len(places) == len(set(places)) and all(place < width for place in places)
    require(fits, f"{name} must have a number for each place, and each place once")
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
