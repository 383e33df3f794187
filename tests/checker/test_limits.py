"""Limits: what is beyond one is not judged, says which limit it is, and takes little time to say so."""

import json
from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.checker import (
    Bound,
    Certificate,
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainStage,
    Empty,
    Split,
    Step,
    Violated,
    Witness,
    check,
    check_chains,
    files,
    limits,
    load,
    save,
)
from gough.checker.limits import BITS, DEPTH, bounded_work, common, spend
from gough.core.covers import TooManyCases, cover
from gough.core.errors import BeyondLimit
from gough.core.sealed import brief, sealed
from tests.checker import corpus

LINE = corpus.BETWEEN


def test_cases_nested_as_deep_as_allowed_hold_and_one_more_is_refused(tmp_path):
    link = Step({"a": 1}, 0, {1: 1})
    for _ in range(DEPTH):
        link = Split("a", 0, [link], [])
    certificate = Certificate.of(LINE, Bound([link, Step({"a": 1}, 0, {1: 1})]))
    save(certificate, tmp_path / "deep.json")
    assert check(load(tmp_path / "deep.json"), LINE)
    with pytest.raises(BeyondLimit, match="nested 151 deep"):
        Split("a", 0, [link], [])


@pytest.mark.parametrize("depth", [DEPTH + 1, 480, 5000, 100_000])
def test_files_nested_deeper_are_refused_without_a_traceback(depth, tmp_path):
    nested = '{"split": "a", "at": 0, "above": [], "below": [' * depth + "]}" * depth
    head = '{"gough": "certificate", "version": 2, "kind": "Empty", "problem": "sha256:' + 64 * "0"
    (tmp_path / "deep.json").write_text(sealed(f'{head}", "steps": [{nested}]'))
    with pytest.raises(BeyondLimit, match=r"deep\.json: .*deep"):
        load(tmp_path / "deep.json")


def test_long_numbers(tmp_path):
    assert check(Certificate.of(LINE, Bound([Step({"a": 1}, Fraction(-1, 2 ** (BITS - 1)), {1: 1})])), LINE)
    with pytest.raises(BeyondLimit, match="more than 20000 binary digits"):
        Step({"a": 1}, Fraction(-1, 2**BITS), {1: 1})
    data = json.loads(json.dumps({"gough": "certificate", "version": 2, "kind": "Witness"}))
    data |= {"problem": "sha256:" + 64 * "0", "theta": {"a": f"1/0x{3**20000:x}"}}
    (tmp_path / "long.json").write_text(sealed(json.dumps(data)[:-1]))
    with pytest.raises(BeyondLimit, match=r"theta.*binary digits"):
        load(tmp_path / "long.json")


def test_long_common_denominators():
    some = [Fraction(1, 2**k * 3) for k in range(500)]
    numbers, denominator = common(some)
    assert [Fraction(n, denominator) for n in numbers] == some
    with pytest.raises(BeyondLimit, match="common denominator"):
        common(Fraction(1, 3**10_000 + k) for k in range(100))


def test_files_as_long_as_one_likes_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FILE_BYTES", 2**20)
    with pytest.raises(BeyondLimit, match="more than 1 MiB"):
        load("/dev/zero")
    (tmp_path / "large.json").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(BeyondLimit, match="more than 1 MiB"):
        load(tmp_path / "large.json")


def test_parts_are_counted(monkeypatch):
    certificate = Certificate.of(LINE, Bound([Step({"a": 1}, 0, {1: 1})] * 100))
    assert check(certificate, LINE)
    monkeypatch.setattr(limits, "PARTS", 100)
    with pytest.raises(BeyondLimit, match="has 101 parts"):
        check(certificate, LINE)


def test_work_is_counted_whatever_it_is(monkeypatch):
    """A hundredth of the work allowed: certificates that ask for more end at once, and small ones are judged."""
    monkeypatch.setattr(limits, "WORK", limits.WORK // 100)
    assert check(Certificate.of(LINE, Witness({"a": 1})), LINE)
    many = Certificate.of(LINE, Bound([Step({"a": 1}, -9, {0: Fraction(1, 3**4000), 1: Fraction(1, 5**3000)})] * 3000))
    with pytest.raises(BeyondLimit, match="more work than is allowed"):
        check(many, LINE)
    question = corpus.FITTING
    cut = ChainCut("l1", "lower", -9.0, tuple((row, 1.0) for row in range(68)))
    stages = ChainBound((ChainStage(corpus.CENTER, corpus.RADIUS, (cut,)),) * 2000)
    with pytest.raises(BeyondLimit, match="more work than is allowed"):
        check_chains(ChainCertificate(question.digest(), (1,), stages), question)


def test_work_outside_a_check_is_free():
    spend(10**18)
    with bounded_work(10), pytest.raises(BeyondLimit):
        spend(11)
    spend(10**18)


def test_choices_without_end_are_given_up():
    """Three of each row, as hard as it gets: no few rows meet all, but it takes millions of cases to see."""
    rng = np.random.default_rng(1)
    sets = [frozenset(rng.choice(90, 3, replace=False).tolist()) for _ in range(400)]
    with pytest.raises(TooManyCases):
        cover(sets, 55, limit=5000)
    chain = [frozenset({i, i + 1}) for i in range(3000)]
    with pytest.raises(TooManyCases):  # and not RecursionError
        cover(chain, 2000)


def test_many_outliers_of_many_rows_are_quick():
    n = 300
    y = np.where(np.arange(n) % 2, 9.0, 0.0)
    problem = LinearProblem(np.ones((n, 1)), y, Unknowns(["a"], prior=Box([-99], [99])), Bounded(1.0))
    pairs = [{2 * i: -1, 2 * i + 1: 1} for i in range(n // 2)]
    assert check(Certificate.of(problem, Violated(n // 2, 1, [], pairs)), problem)
    assert not check(Certificate.of(problem, Violated(n // 2 + 1, 1, [], pairs)), problem)


def test_what_is_wrong_is_said_briefly():
    for value in ("x" * 10**6, 10**10_000, [0] * 10**6, Empty([Step({}, 1, {0: 1})]), None, 1.5, True):
        assert len(brief(value)) < 60
