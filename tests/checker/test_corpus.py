"""The adversarial corpus: what a hypothesis excludes is refused by constructor, reader and checker."""

import json
from copy import copy
from dataclasses import fields, replace
from typing import get_args

import pytest

from gough import InputError
from gough.checker import (
    Certificate,
    Proof,
    chain_files,
    check,
    load,
    load_chains,
    load_question,
    records,
)
from gough.checker.chain_proofs import ChainProof, JointEmpty
from gough.checker.check import CHECKERS
from gough.checker.linear import NotProven
from gough.core.sealed import sealed
from tests.checker.corpus import (
    CASES,
    EQUATIONS,
    LINEAR,
    PAIR,
    PHYSICAL,
    QUESTIONS,
    STRAIGHT,
    again,
    base,
    by_constructor,
    chains,
    forged,
    legs,
    pairs,
)
from tests.checker.oracle import is_true

BASES = [*LINEAR, *legs(), *chains(), *pairs()]
EVERY = [*BASES, *PHYSICAL]


def named(case):
    return f"{case.base}: {case.hypothesis}"


@pytest.mark.parametrize("name", EVERY)
def test_bases_hold(name):
    """The positive twin of every case: without the violation the certificate holds."""
    problem, certificate, checker = base(name)
    verdict = checker(certificate, problem)
    assert verdict, verdict.reason
    same = again(certificate, (), {}, forged)
    assert checker(same, problem)  # made without its constructor, and right: so cases fail for their own reason


def judged(checker, certificate, problem):
    """Is it accepted? Refusals by a limit count as refusals."""
    try:
        return checker(certificate, problem).holds
    except InputError:
        return False


@pytest.mark.parametrize("case", CASES, ids=named)
def test_constructors_refuse_what_they_can_tell(case):
    _, certificate, _ = base(case.base)
    if case.by == "constructor":
        with pytest.raises(InputError):
            again(certificate, case.path, case.changes, by_constructor)
    else:
        again(certificate, case.path, case.changes, by_constructor)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_checker_refuses_it_whoever_made_it(case):
    problem, certificate, checker = base(case.base)
    assert not judged(checker, again(certificate, case.path, case.changes, forged), problem)


@pytest.mark.parametrize("case", [case for case in CASES if case.base in LINEAR and case.path], ids=named)
def test_no_line_of_the_checker_rests_on_a_constructor(case):
    """The checker's own lines, with every constructor bypassed, accept nothing that enumeration finds false."""
    problem, certificate, _ = base(case.base)
    proof = again(certificate, case.path, case.changes, forged).proof
    try:
        CHECKERS[type(proof)](proof, problem)
    except (NotProven, InputError, TypeError, ValueError, AttributeError, RecursionError, LookupError):
        return
    assert is_true(proof, problem)


def written(certificate):
    """The text of its file, with a right seal, whatever is in it."""
    proof = certificate.proof
    linear = isinstance(certificate, Certificate)
    head = {"version": certificate.version if linear else chain_files.VERSION}
    head |= {"kind": type(proof).__name__, "problem": certificate.problem}
    if linear:
        content = {"gough": "certificate", **head, **records.plain(proof, certificate.version)}
    else:
        about = {"chains": list(certificate.chains), "more": certificate.more}
        content = {"gough": chain_files.CERTIFICATE, **head, **about, **chain_files._plain(proof)}
    return sealed(json.dumps(content)[:-1])


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_file_of_it_is_refused_though_its_seal_is_right(case, tmp_path):
    problem, certificate, checker = base(case.base)
    path = tmp_path / "c.json"
    try:
        path.write_text(written(again(certificate, case.path, case.changes, forged)))
    except (InputError, TypeError, ValueError, AttributeError, RecursionError):
        return  # JSON has no way to say it
    reader = load if checker is check else load_chains
    try:
        read = reader(path)
    except InputError:
        return
    if judged(checker, read, problem):  # JSON said something else: keys cannot stand twice, and True is 1
        assert read == certificate or is_true(read.proof, problem)


@pytest.mark.parametrize("changes", EQUATIONS.values(), ids=EQUATIONS)
def test_equations_that_violate_a_hypothesis_are_refused(changes, tmp_path):
    path = tmp_path / "equations.json"
    path.write_text(chain_files.render_question(STRAIGHT))
    assert load_question(path).digest() == STRAIGHT.digest()  # the positive twin
    (rod,) = STRAIGHT.equations
    with pytest.raises(InputError):
        replace(STRAIGHT, **changes) if "prior" in changes else replace(rod, **changes)
    lie, part = copy(STRAIGHT), copy(rod)
    for name, value in changes.items():
        object.__setattr__(lie if name == "prior" else part, name, value)
    object.__setattr__(lie, "equations", (part,))
    try:
        path.write_text(chain_files.render_question(lie))
    except (InputError, ValueError):
        return  # JSON has no way to say it
    with pytest.raises(InputError):
        load_question(path)


@pytest.mark.parametrize("change", QUESTIONS.values(), ids=QUESTIONS)
def test_questions_about_chains_that_do_not_belong_together_are_refused(change, tmp_path):
    path = tmp_path / "equations.json"
    path.write_text(chain_files.render_question(PAIR))
    assert load_question(path).digest() == PAIR.digest()  # the positive twin
    assert load_question(path) == PAIR
    with pytest.raises(InputError):
        replace(PAIR, equations=change(PAIR.rods))
    lie = copy(PAIR)
    object.__setattr__(lie, "equations", change(PAIR.rods))
    path.write_text(chain_files.render_question(lie))
    with pytest.raises(InputError):
        load_question(path)


def test_it_is_written_as_it_is_read(tmp_path):
    """The files above are those of the real writer, but for their layout."""
    for name in EVERY:
        _, certificate, checker = base(name)
        path = tmp_path / f"{name}.json"
        path.write_text(written(certificate))
        reader = load if checker is check else load_chains
        assert reader(path) == certificate


def test_cases_are_many_and_have_names_of_their_own():
    assert len({named(case) for case in CASES}) == len(CASES) >= 200
    kinds = {type(base(case.base)[1].proof) for case in CASES}
    assert kinds == {*get_args(Proof), *get_args(ChainProof)} - {JointEmpty}  # its cases are in test_joint_frames
    assert all(fields(kind) for kind in kinds)
