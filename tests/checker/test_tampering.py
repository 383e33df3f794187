"""Whatever is done to a certificate: an edit of the file breaks its seal, and with the seal put right the checker
accepts nothing that is false. Truth is decided by enumeration, which knows neither checker nor method.
"""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gough import AssumptionError, Bounded, Box, InputError, LinearProblem, Unknowns, estimate
from gough.checker import Certificate, Witness, certificate_of, check, load, save
from gough.methods import (
    BoundingEllipsoid,
    HullAndEllipsoid,
    LinearHull,
    RelaxedHull,
    TightEllipsoid,
    minimal_bound,
    outliers,
)
from tests.checker.documents import accepted, at, changed, document, leaves, lists
from tests.checker.oracle import is_true


def problem_of(seed, *, n_rows=5, uncertain=False, blunders=0, prior=8.0):
    rng = np.random.default_rng(seed)
    W = rng.integers(-8, 9, (n_rows, 2)) / 4
    y = W @ [1.0, -0.125] + rng.integers(-4, 5, n_rows) / 16
    y[:blunders] += 16
    D = rng.integers(0, 3, W.shape) / 16 if uncertain else None
    unknowns = Unknowns(["a", "b"], prior=Box([-prior, -prior], [prior, prior]))
    return LinearProblem(W, y, unknowns, Bounded(0.5, D))


def contradicted(seed):
    problem = problem_of(seed, blunders=1)
    return replace(problem, y=np.where(np.arange(problem.n_rows) < 3, problem.y + 20, problem.y - 20))


MAKERS = {
    "hull": lambda seed: (p := problem_of(seed), estimate(p, LinearHull(), strict=False)),
    "uncertain hull": lambda seed: (
        p := problem_of(seed, uncertain=True),
        estimate(p, LinearHull(), strict=False),
    ),
    "tight": lambda seed: (p := problem_of(seed), estimate(p, TightEllipsoid(), strict=False)),
    "bounding": lambda seed: (p := problem_of(seed), estimate(p, BoundingEllipsoid(rounds=3), strict=False)),
    "both": lambda seed: (p := problem_of(seed, uncertain=True), estimate(p, HullAndEllipsoid(), strict=False)),
    "relaxed": lambda seed: (p := problem_of(seed), estimate(p, RelaxedHull(1), strict=False)),
    "relaxed, blunder": lambda seed: (p := problem_of(seed, blunders=1), estimate(p, RelaxedHull(1), strict=False)),
    "relaxed empty": lambda seed: (p := contradicted(seed), estimate(p, RelaxedHull(1), strict=False)),
    "outliers": lambda seed: (p := problem_of(seed, blunders=1), outliers(p)),
    "empty": lambda seed: (p := contradicted(seed), estimate(p, LinearHull(), strict=False)),
    "witness": lambda seed: (p := problem_of(seed), minimal_bound(p)),
}


@cache
def made(kind, seed=1):
    problem, answer = MAKERS[kind](seed)
    return problem, certificate_of(problem, answer)


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_certified_is_true(kind):
    for seed in range(5):
        try:
            problem, certificate = made(kind, seed)
        except AssumptionError:  # nothing to certify
            continue
        assert check(certificate, problem)
        assert is_true(certificate.proof, problem)


def nudged(old):
    """Other numbers in its place: one bit, one digit, a sign, a factor away."""
    if isinstance(old, str):
        top, bottom = (int(part, 0) for part in old.split("/"))
        return [f"{t}/{b}" for t, b in ((top + 1, bottom), (top - 1, bottom), (top, bottom + 1), (-top, bottom))]
    if isinstance(old, int):
        return [old + 1, old - 1, 0, 5]
    near = np.nextafter(old, [-np.inf, np.inf]).tolist()
    return [*near, -old, 1.1 * old, 0.9 * old, 2 * old, old + 1, old - 1, 0.0]


@st.composite
def tampered(draw, data):
    """A document with one to three numbers changed, entries left out, repeated or exchanged."""
    for _ in range(draw(st.integers(1, 3))):
        numbers = sorted(leaves(data), key=str)
        if numbers and draw(st.booleans()):
            leaf = draw(st.sampled_from(numbers))
            data = changed(data, leaf, draw(st.sampled_from(nudged(at(data, leaf)))))
            continue
        found = sorted((path for path in lists(data) if at(data, path)), key=str)
        if not found:
            continue
        path = draw(st.sampled_from(found))
        entries = list(at(data, path))
        i, j = draw(st.integers(0, len(entries) - 1)), draw(st.integers(0, len(entries) - 1))
        match draw(st.sampled_from(["drop", "repeat", "exchange", "overwrite"])):
            case "drop":
                del entries[i]
            case "repeat":
                entries.insert(j, entries[i])
            case "exchange":
                entries[i], entries[j] = entries[j], entries[i]
            case "overwrite":
                entries[i] = entries[j]
        data = changed(data, path, entries)
    return data


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_checker_accepts_nothing_false(kind, data, tmp_path):
    problem, certificate = made(kind)
    mutant = data.draw(tampered(document(certificate)))
    proof = accepted(tmp_path / "c.json", mutant, problem)
    assert proof is None or is_true(proof, problem)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_stronger_statement_is_refused_with_a_reason(kind):
    problem, certificate = made(kind)
    proof = certificate.proof
    stronger = {
        "Bound": lambda: replace(proof, steps=tuple(
            replace(s, value=s.value + Fraction(1, 100)) if hasattr(s, "value") else s for s in proof.steps)),
        "Inside": lambda: replace(proof, rounds=(*proof.rounds[:-1], replace(
            proof.ellipsoid, shape=tuple(tuple(x * Fraction(99, 100) for x in row) for row in proof.ellipsoid.shape)))),
        "RelaxedBound": lambda: replace(proof, q=proof.q + 1),
        "RelaxedEmpty": lambda: replace(proof, q=proof.q + 9),
        "Violated": lambda: replace(proof, at_least=proof.at_least + 9),
        "Empty": lambda: replace(proof, steps=tuple(replace(s, value=s.value + 99) for s in proof.steps)),
        "Witness": lambda: Witness({"a": 99, "b": 0}),
    }  # fmt: skip
    verdict = check(Certificate.of(problem, stronger[certificate.kind]()), problem)
    assert not verdict
    assert len(verdict.reason) > 10


@pytest.mark.parametrize("kind", MAKERS)
def test_another_problem_is_refused(kind):
    problem, certificate = made(kind)
    other = replace(problem, y=np.nextafter(problem.y, np.inf))
    assert "another problem" in check(certificate, other).reason


@pytest.mark.parametrize("kind", MAKERS)
def test_every_edit_and_every_truncation_of_the_file_is_noticed(kind, tmp_path, rng):
    _, certificate = made(kind)
    path = tmp_path / "c.json"
    save(certificate, path)
    whole = path.read_bytes()
    for place in rng.integers(0, len(whole), 60).tolist():
        for content in (whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :], whole[:place]):
            path.write_bytes(content)
            with pytest.raises(InputError, match=r"c\.json"):
                load(path)


@pytest.mark.parametrize("kind", MAKERS)
def test_missing_and_unknown_keys_are_named(kind, tmp_path):
    problem, certificate = made(kind)
    original = document(certificate)
    for key in set(original) - {"seal", "gough"}:
        data = {k: v for k, v in original.items() if k != key}
        assert accepted(tmp_path / "c.json", data, problem) is None
    for path in [(), *(p for p in objects(original) if p)]:
        data = changed(original, path, {**at(original, path), "extra": 1})
        kept = accepted(tmp_path / "c.json", data, problem)
        assert kept is None, path


def objects(data, path=()):
    if isinstance(data, dict):
        yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from objects(value, (*path, key))


def test_certificates_of_format_1_still_load_and_hold(tmp_path, square):
    """Written by the gough that knew steps only, byte for byte."""
    for kind, content, seal in (
        ("Bound", '"steps": [\n  {"direction": {"a": 1.0}, "value": "19/12", "weights": [[2, "1/3"]]}\n ]',
         "9149c7a9a9f31164c141bb718e5bef615c11c686dbfb773434f7d56c6d96819f"),
        ("Witness", '"theta": {"a": "5/3", "b": 1.0}',
         "0d14b2557758feb662b003a43f848dea07432c2e20396fd7aaf038a8693e77d7"),
    ):  # fmt: skip
        digest = "46b2e75476bdffb7d0ff7a76c127322509e3264e1aa4668511ed55b6446afefa"
        head = f'{{\n "gough": "certificate",\n "version": 1,\n "kind": "{kind}",\n "problem": "sha256:{digest}",\n '
        path = tmp_path / f"{kind}.json"
        path.write_text(f'{head}{content},\n "seal": "sha256:{seal}"\n}}\n')
        certificate = load(path)
        assert certificate.version == 1
        assert check(certificate, square)


def test_format_1_knows_neither_new_kinds_nor_new_links(tmp_path):
    problem, certificate = made("tight")
    assert accepted(tmp_path / "c.json", document(certificate), problem) is not None
    assert accepted(tmp_path / "c.json", {**document(certificate), "version": 1}, problem) is None
    problem, certificate = made("uncertain hull")
    assert "split" in json.dumps(document(certificate))
    assert accepted(tmp_path / "c.json", {**document(certificate), "version": 1}, problem) is None
