"""Statements that survive violated rows: every choice of them is gone through, and nothing escapes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, Box, InputError, LinearProblem, Unknowns, estimate
from gough.checker import Certificate, RelaxedBound, RelaxedEmpty, RelaxedStep, Violated, certificate_of, check
from gough.methods import RelaxedHull
from tests.checker.oracle import is_true


def verdict(problem, proof):
    return check(Certificate.of(problem, proof), problem)


@pytest.fixture
def line():
    """Six measurements of a: 0, 0.25, 0.5, 0.75, 1 and a blunder, 9; each ± 1, a ∈ [−8, 8]."""
    y = [0.0, 0.25, 0.5, 0.75, 1.0, 9.0]
    return LinearProblem([[1.0]] * 6, y, Unknowns(["a"], ["kg"], prior=Box([-8], [8])), Bounded(1.0))


def above(value, *rows):
    return RelaxedStep({"a": 1}, value, [{row: 1} for row in rows])


def test_the_second_largest_survives_one_violation(line):
    proof = RelaxedBound(1, [above(0, 5, 4)])
    answer = verdict(line, proof)
    assert answer
    assert answer.statement == ("every θ of the prior that violates at most 1 row satisfies", "a ≥ 0 kg")
    assert answer.rows == (4, 5)
    assert is_true(proof, line)


def test_one_cut_is_not_enough_and_the_reason_names_who_escapes(line):
    answer = verdict(line, RelaxedBound(1, [above(0, 4)]))
    assert not answer
    assert "a θ that violates row 4 escapes" in answer.reason
    assert "escapes" in verdict(line, RelaxedBound(2, [above(-0.25, 5, 4)])).reason
    assert verdict(line, RelaxedBound(2, [above(-0.25, 5, 4, 3)]))
    assert verdict(line, RelaxedBound(0, [above(0, 4)]))


def test_each_cut_must_prove_the_value(line):
    assert "cut 2 proves 0.2500 less" in verdict(line, RelaxedBound(1, [above(0, 4, 3, 5)])).reason
    assert not verdict(line, RelaxedBound(1, [above(Fraction(1, 10**30), 5, 4)]))


def test_the_same_rows_twice_are_one_cut(line):
    twice = RelaxedStep({"a": 1}, 0, [{4: 1}, {4: 1, 0: 0}])
    assert "violates row 4 escapes" in verdict(line, RelaxedBound(1, [twice])).reason
    blind = RelaxedStep({"a": 1}, -8, [{4: 0}])
    assert verdict(line, RelaxedBound(3, [blind]))  # it rests on no row at all: the prior says so


def test_contradictions_serve_as_cuts(line):
    """Rows 0 and 5 exclude each other: who keeps both does not exist."""
    rows = {0: -1, 5: 1}
    assert verdict(line, RelaxedBound(1, [above(0, 4)], [rows]))
    step = replace(above(0, 4), contradictions=(tuple(rows.items()),))
    assert verdict(line, RelaxedBound(1, [step]))
    assert "do not contradict" in verdict(line, RelaxedBound(1, [above(0, 4)], [{0: -1, 4: 1}])).reason


def test_steps_tighten_the_box_for_those_after_them(line):
    two = LinearProblem([[1.0, 0.0]] * 3 + [[1.0, 1.0]] * 3, [0.0] * 3 + [5.0] * 3,
                        Unknowns(["a", "b"], prior=Box([-99, -99], [99, 99])), Bounded(1.0))  # fmt: skip
    first = RelaxedStep({"a": -1}, -1, [{0: -1}, {1: -1}])
    then = RelaxedStep({"b": 1}, 3, [{3: 1}, {4: 1}])
    assert verdict(two, RelaxedBound(1, [first, then]))
    assert is_true(RelaxedBound(1, [first, then]), two)
    assert "step 1" in verdict(two, RelaxedBound(1, [then, first])).reason


def test_more_than_q_violations(line):
    assert verdict(line, RelaxedEmpty(0, [], [{0: -1, 5: 1}]))
    far = replace(line, y=np.array([0.0, 0.25, 5.0, 5.25, 1.0, 0.5]))
    pairs = [{0: -1, 2: 1}, {1: -1, 3: 1}]
    assert verdict(far, RelaxedEmpty(1, [], pairs)).statement == ("every θ of the prior violates more than 1 row",)
    assert "violates row 0, row 1 escapes" in verdict(far, RelaxedEmpty(2, [], [*pairs, {1: -1, 2: 1}])).reason
    step = RelaxedStep({}, 1, [], pairs)
    assert verdict(far, RelaxedEmpty(1, [step]))
    with pytest.raises(InputError, match="at least one"):
        RelaxedEmpty(1, [])


def test_outliers_that_every_theta_has(line):
    """Row 5 contradicts each of the others: two of them suffice to name it, if one row may be wrong."""
    pairs = [{0: -1, 5: 1}, {1: -1, 5: 1}]
    proof = Violated(1, 1, [5], pairs)
    answer = verdict(line, proof)
    assert answer
    assert answer.statement == (
        "every θ of the prior violates at least 1 row",
        "every θ of the prior that violates at most 1 row violates row 5",
    )
    assert is_true(proof, line)
    assert "row 5: a θ that violates row 0, row 1 escapes" in verdict(line, Violated(1, 2, [5], pairs)).reason
    assert "violates row 5 escapes" in verdict(line, Violated(2, 1, [], pairs)).reason
    assert "row 0" in verdict(line, Violated(1, 1, [0], pairs)).reason
    assert "row 5: a θ that violates row 0 escapes" in verdict(line, Violated(1, 1, [5], pairs[:1])).reason
    assert "no row 6" in verdict(line, Violated(1, 1, [6], pairs)).reason
    with pytest.raises(InputError, match="states nothing"):
        Violated(0, 1, [], pairs)
    assert "contradiction 1: there is no row 9" in verdict(line, Violated(1, 1, [5], [{9: 1}])).reason


def test_an_uncertain_regressor_in_cuts():
    """|y − a| ≤ 1/2 + |a|/4, a ∈ [0, 8]: each row gives a ≥ (y − 1/2)·4/5."""
    problem = LinearProblem([[1.0]] * 3, [3.0, 3.5, 4.0], Unknowns(["a"], prior=Box([0], [8])), Bounded(0.5, 0.25))
    cut = Fraction(4, 5)
    proof = RelaxedBound(1, [RelaxedStep({"a": 1}, Fraction(12, 5), [{1: cut}, {2: cut}])])
    assert verdict(problem, proof)
    assert is_true(proof, problem)
    assert not verdict(problem, RelaxedBound(1, [RelaxedStep({"a": 1}, Fraction(12, 5), [{0: cut}, {2: cut}])]))


@pytest.mark.parametrize("q", [1, 2, 3])
def test_answers_prove_what_they_state_and_not_an_ulp_more(q, rng):
    """A value is the largest double that the cuts prove: one more is refused, one less holds, and so does q − 1."""
    W = rng.normal(size=(40, 3))
    y = W @ [1.0, -2.0, 0.5] + rng.uniform(-0.1, 0.1, 40)
    y[:q] += 3.0
    problem = LinearProblem(W, y, Unknowns(["a", "b", "c"], prior=Box([-9.0] * 3, [9.0] * 3)), Bounded(0.1))
    proof = certificate_of(problem, estimate(problem, RelaxedHull(q))).proof
    assert isinstance(proof, RelaxedBound)
    assert verdict(problem, proof)
    assert verdict(problem, replace(proof, q=q - 1))
    for i, step in enumerate(proof.steps):
        value = float(step.value)
        for beyond, holds in ((np.nextafter(value, np.inf), False), (np.nextafter(value, -np.inf), True)):
            changed = replace(step, value=Fraction(beyond))
            answer = verdict(problem, replace(proof, steps=(*proof.steps[:i], changed)))
            assert bool(answer) is holds, (step, answer.reason)


def test_no_cut_of_an_answer_can_be_left_out(rng):
    """Of few cuts each is needed, and so is each row of them: a cut with a row less does not prove its value."""
    W = rng.normal(size=(30, 2))
    problem = LinearProblem(
        W, W @ [1.0, -2.0] + rng.uniform(-0.1, 0.1, 30), Unknowns(["a", "b"], prior=Box([-9.0] * 2, [9.0] * 2)),
        Bounded(0.1),
    )  # fmt: skip
    proof = certificate_of(problem, estimate(problem, RelaxedHull(2))).proof
    assert isinstance(proof, RelaxedBound)
    left_out = 0
    for i, step in enumerate(proof.steps):
        before = proof.steps[:i]
        for k, cut in enumerate(step.cuts):
            fewer = replace(step, cuts=step.cuts[:k] + step.cuts[k + 1 :])
            assert not verdict(problem, replace(proof, steps=(*before, fewer)))
            shorter = replace(step, cuts=(*step.cuts[:k], cut[1:], *step.cuts[k + 1 :]))
            left_out += not verdict(problem, replace(proof, steps=(*before, shorter)))
    assert left_out > 0
