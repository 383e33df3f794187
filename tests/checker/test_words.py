"""Statements as a person reads them."""

from fractions import Fraction

from gough.checker import (
    Bound,
    Empty,
    Inside,
    RelaxedBound,
    RelaxedEmpty,
    RelaxedStep,
    Round,
    Split,
    Step,
    Violated,
    Witness,
)
from gough.checker.words import rows_in_words, statement


def test_of_several_bounds_on_one_direction_the_strongest_is_stated(square):
    steps = [Step({"a": 1}, 1.5), Step({"a": -1}, -2), Step({"a": 1}, 1.25), Step({"a": 1}, 1)]
    assert statement(Bound(steps), square) == ("a ≥ 1.5 kg", "a ≤ 2 kg")


def test_directions_with_several_unknowns(square):
    steps = [
        Step({"a": -2, "b": 1}, Fraction(1, 3)),
        Step({"a": 0.5, "b": -1}, 0),
        Step({}, 1),
        Step({"a": 3, "b": 0}, 6),
        Step({"a": -3, "b": -1}, -6),
    ]
    expected = ("−2·a + b ≥ 1/3", "0.5·a − b ≥ 0", "0 ≥ 1", "3·a ≥ 6", "3·a + b ≤ 6")
    assert statement(Bound(steps), square) == expected


def test_witness_and_emptiness(square):
    assert statement(Witness({"a": Fraction(1, 3), "b": 0.1}), square)[1:] == ("a = 1/3 kg", "b = 0.1 m")
    assert statement(Empty([Step({}, 1)]), square) == ("no θ satisfies all rows and the prior",)


def test_many_rows_are_cut_short(rng, make_problem):
    problem = make_problem(rng)
    assert rows_in_words(problem, range(15)).endswith("row 11 and 3 more")
    assert rows_in_words(problem, [0, 99]) == "row 0"
    assert rows_in_words(problem, []) == "no row"


def test_ellipsoids(square):
    """Center, reach, and the bounds that come with it; what is flat reaches nowhere."""
    one = Round({"a": Fraction(1, 3), "b": 2}, [[Fraction(1, 4)], [0, 0]], [])
    assert statement(Inside([Step({"a": 1}, 0)], [one]), square) == (
        "every consistent θ lies in the ellipsoid (θ − c)ᵀ P⁻¹ (θ − c) ≤ 1 whose center, and reach from it, is",
        "a = 0.333 ± 0.501 kg",
        "b = 2 ± 0 m",
        "and satisfies",
        "a ≥ 0 kg",
    )
    tiny = Round({"a": 0, "b": 0}, [[Fraction(1, 10**600)], [0, 10**600]], [])
    assert statement(Inside([], [tiny]), square)[1:] == ("a = 0 ± 1.01e-300 kg", "b = 0 ± 1e+300 m")


def test_violated_rows(square):
    step = RelaxedStep({"a": -1}, -2, [])
    assert statement(RelaxedBound(2, [step]), square) == (
        "every θ of the prior that violates at most 2 rows satisfies",
        "a ≤ 2 kg",
    )
    assert statement(RelaxedEmpty(0, [], [{0: 1}]), square) == ("every θ of the prior violates more than 0 rows",)
    assert statement(Violated(1, 3, [0, 2], [{0: 1}]), square) == (
        "every θ of the prior violates at least 1 row",
        "every θ of the prior that violates at most 3 rows violates row 0, row 2",
    )
    assert statement(Violated(2, 2, [], [{0: 1}]), square) == ("every θ of the prior violates at least 2 rows",)


def test_what_is_proven_in_one_case_only_is_not_stated(square):
    split = Split("a", 0, below=[Step({"a": 1}, -1)], above=[Step({"b": 1}, 5)])
    assert statement(Bound([split, Step({"a": 1}, -1)]), square) == ("a ≥ -1 kg",)
