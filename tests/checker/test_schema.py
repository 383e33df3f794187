"""The JSON schema, gough's validator, the writers and the readers agree on which files are well-formed.

Judged by `jsonschema`, an independent implementation of draft 2020-12, on documents of every kind and version, and on
copies of them in which one value is changed.
"""

import json
import re
from collections import Counter
from copy import deepcopy
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from gough import InputError
from gough.checker import (
    chain_files,
    files,
    height_proofs,
    load_question,
    manifest,
    physical_proofs,
    proofs,
    records,
    save_question,
    steps,
)
from gough.checker.chain_proofs import (
    ChainBound,
    ChainCut,
    ChainEmpty,
    ChainFrame,
    ChainOutliers,
    ChainStage,
    ChainWitness,
    JointEmpty,
)
from gough.checker.chain_questions import LEG_ARRAYS
from gough.checker.rod_equations import ARRAYS
from gough.core import schema
from gough.data import problems
from tests.checker import corpus
from tests.data.test_problems import BOUNDED

SAMPLES = Path(__file__).parents[1] / "samples"
STORED = [*SAMPLES.glob("*/certificate-*.json"), *SAMPLES.glob("*/certificates/*/*.json")]
STORED += Path(__file__).parent.glob("data/before-manifest/*/*.json")
SCHEMA = json.loads(schema.SCHEMA.read_text(encoding="utf-8"))
READERS = {
    "certificate": files._certificate,
    "chain certificate": chain_files._certificate,
    "leg certificate": chain_files._certificate,
    "chain equations": chain_files._question,
    "platform measurements": chain_files._question,
    "height certificate": height_proofs._certificate,
    "certification manifest": manifest._manifest,
    "linear problem": problems._of_plain,
}
"""What reads the data of a file, before the schema is consulted."""


STAGE = ChainStage((0.5,) * 15, (0.25,) * 15, (ChainCut("tower_x_a", "lower", 0.5, ((3, 0.5), (7, 2.0))),))
HEIGHTS = (
    height_proofs.HeightEmpty(1e-5, (-0.5,) * 9, (0.5,) * 9, (STAGE,)),
    height_proofs.HeightWitness(1e-5, (0.4, 0.4, 0.4, 0.16, 3.6, 5.7), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0)), 1e-9),
)
PRINTER = tuple((name, height_proofs.digest_of_file(name.encode())) for name in ("printer.cfg", "parts/belts.cfg"))


def strict_integer(_, value):
    """Integers are written without fraction and exponent, which a schema cannot say."""
    return isinstance(value, int) and not isinstance(value, bool)


STRICT = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", strict_integer),
)


@cache
def judge(name):
    """The independent validator of one kind of file."""
    return STRICT({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def allowed(data, name):
    """Whether gough's validator allows the data as this kind of file."""
    try:
        schema.require_valid(data, name)
    except InputError:
        return False
    return True


@cache
def documents():
    """Small documents of every kind and version, as they are written, and older ones as they were."""
    texts = [files.render(corpus.base(name)[1]) for name in (*corpus.LINEAR, *corpus.PHYSICAL)]
    about_chains = (corpus.legs() | corpus.chains() | corpus.pairs()).values()
    texts += [chain_files.render_chains(each) for _, each in (*about_chains, corpus.coordinates())]
    texts += [chain_files.render_question(each) for each in (corpus.BOTH, corpus.STRAIGHT, corpus.PAIR)]
    texts += [problems.rendered(problems._plain(problem)) for problem in BOUNDED.values()]
    texts += [height_proofs.render_heights(height_proofs.HeightCertificate(PRINTER, each)) for each in HEIGHTS]
    found = list(map(json.loads, texts))
    known = {schema.name_of(data) for data in found}
    for path in sorted(STORED, key=lambda path: path.stat().st_size):
        data = json.loads(path.read_text(encoding="utf-8"))
        if schema.name_of(data) not in known:
            known.add(schema.name_of(data))
            found.append(data)
    for kind in ("Witness", "Bound", "Empty"):  # of format 1, which differs in its number and in what it lacks
        found.append(next(data for data in found if data.get("kind") == kind) | {"version": 1})
    for kind in ("PhysicalBound", "PhysicalEmpty"):  # of format 3, which states no equal bodies
        newer = next(data for data in found if data.get("kind") == kind)
        found.append({key: value for key, value in newer.items() if key != "equal"} | {"version": 3})
    return found


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    refs = [each["$ref"].removeprefix("#/$defs/") for each in SCHEMA["oneOf"]]
    assert refs == [name for name, each in schema.definitions().items() if "seal" in each.get("properties", {})]


def test_every_kind_of_file_is_among_the_documents():
    kinds = {schema.name_of(data) for data in documents()}
    assert kinds == {ref["$ref"].removeprefix("#/$defs/") for ref in SCHEMA["oneOf"]}


def test_what_is_written_and_stored_is_valid():
    whole = jsonschema.Draft202012Validator(SCHEMA)
    for data in documents():
        assert whole.is_valid(data)
        READERS[data["gough"]](data)
    for path in STORED:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert judge(schema.name_of(data)).is_valid(data), path
        assert allowed(data, schema.name_of(data)), path


def test_keys_are_the_fields_of_what_is_written():
    """The definitions name the fields of the values that are written, no more and no less."""
    names = {"step": steps.Step, "relaxed-step": proofs.RelaxedStep, "round": proofs.Round, "strip": proofs.Strip}
    physical = tuple(kind for kind in records.KINDS if kind.startswith("Physical"))
    names |= {f"certificate-{4 if kind in physical else 2}-{kind}": cls for kind, cls in records.KINDS.items()}
    names |= {"physical-step": physical_proofs.PhysicalStep, "body": physical_proofs.BodyTerms}
    names |= {f"chain-certificate-3-{x.__name__}": x for x in (ChainBound, ChainEmpty, ChainWitness, ChainOutliers)}
    names |= {"chain-certificate-4-JointEmpty": JointEmpty, "chain-frame": ChainFrame}
    about = {"gough", "version", "kind", "problem", "seal", "chains", "more"}
    for name, cls in names.items():
        known = schema.keys(name)
        assert (known.required | known.optional) - about == {field.name for field in fields(cls) if field.init}
    assert (*schema.kinds_of("certificate", 2), *schema.kinds_of("certificate", 4)) == tuple(records.KINDS)
    assert schema.kinds_of("certificate", 3) == schema.kinds_of("certificate", 4) == physical
    assert set(LEG_ARRAYS) < schema.keys("chain-equations-3-legs").required
    assert set(ARRAYS) < schema.keys("rod").required


@pytest.mark.parametrize(
    "change",
    [
        {"conditions": (((0, 0, 1), (0, 1, 0.25)),)},
        {"conditions": [[(np.int64(0), 0, np.float64(1.0)), (0, 1, Fraction(1, 4))]]},
        {"products": [[0, 0], [0, np.int64(1)], [1, 1]]},
    ],
)
def test_a_question_has_the_digest_of_its_file_whatever_types_it_was_made_of(change, tmp_path):
    (rod,) = corpus.STRAIGHT.equations
    question = replace(corpus.STRAIGHT, equations=(replace(rod, **change),))
    assert question.digest() == corpus.STRAIGHT.digest()
    save_question(question, tmp_path / "q.json")
    assert load_question(tmp_path / "q.json").digest() == question.digest()
    for wrong in ({"products": ((0, 0.5),)}, {"products": ((0, 0, 1),)}, {"conditions": (((0, 0),),)}):
        with pytest.raises(InputError, match="by number"):
            replace(rod, **wrong)


def paths(data, path=()):
    """Paths of all values in a document."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from paths(value, (*path, key))


def changed(data, path, change):
    """A copy of a document in which the value at a path is changed; `change` edits its place in what is around it."""
    copy = deepcopy(data)
    around = copy
    for key in path[:-1]:
        around = around[key]
    change(around, path[-1])
    return copy


def put(value):
    return lambda around, key: around.__setitem__(key, value)


def another_key(around, key):
    if isinstance(around[key], dict):
        around[key]["other"] = 1
    else:
        around[key] = {"other": 1}


def shorter(around, key):
    around[key] = around[key][:-1] if isinstance(around[key], list | str) else -around[key]


def longer(around, key):
    around[key] = [*around[key], *around[key][-1:]] if isinstance(around[key], list) else [around[key]]


N_CHANGES = 25
CHANGES = [put(x) for x in (None, True, -1, 0, 1.5, 2, "x", "1/3", "-1/3", "01/3", "1/0", "a\n", [], {}, [[]], [0, 1])]
CHANGES += [lambda around, key: around.pop(key), another_key, longer, shorter]
SEVERAL_VALUES = re.compile(
    "lower triangle|semidefinite|stands more than once|for each unknown|for each row|for each place|no bound: 0"
    "|go by the names|rows of one length|as many errors|three errors|upside down|sides; give|units; give|nominal values"
    "|groups place|a multiple of|must have (the )?shape|must be \\(|W must have|same tolerances|not among the files"
    "|at least one step|states nothing|not before it|is a length|products are pairs|there is no error|one number a pose"
    "|as many error bounds|there are equations of|row positions|unknowns have different names|is no rotation"
    "|coefficients of a condition|a product stands|could equal another|have different terms|occurs more than once in"
    "|lower and an upper side"
)
"""Reasons why a reader refuses what the schema allows: they are about several values together, or coefficients of 0."""


@pytest.mark.parametrize("part", range(4))
def test_schema_validator_and_readers_agree_on_changed_documents(part, rng):
    counts = Counter()
    for data in documents()[part::4]:
        name, read = schema.name_of(data), READERS[data["gough"]]
        places = [path for path in paths(data) if path and path[0] not in {"gough", "version", "kind", "seal"}]
        for _ in range(N_CHANGES):
            path, change = places[rng.integers(len(places))], CHANGES[rng.integers(len(CHANGES))]
            try:
                copy = changed(data, path, change)
            except TypeError:
                continue  # a text has no negative
            valid, reason = judge(name).is_valid(copy), ""
            assert allowed(copy, name) == valid, (name, path)
            try:
                read(copy)
            except InputError as error:
                reason = str(error)
            # the questions of a manifest are compared with what the questions' files have
            assert valid or reason or path[0] == "questions", (name, path)
            assert not (valid and reason) or SEVERAL_VALUES.search(reason), (name, path, reason)
            counts[valid, bool(reason)] += 1
    assert counts[False, True] > 200
    assert counts[True, False] > 40
    assert counts[True, True] > 5
