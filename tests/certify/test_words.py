"""Statements as a person reads them."""

from fractions import Fraction

from gough.certify import Bound, Empty, Step, Witness
from gough.certify.words import rows_in_words, statement


def test_of_several_bounds_on_one_direction_the_strongest_is_stated(square):
    steps = [Step({"a": 1}, 1.5), Step({"a": -1}, -2), Step({"a": 1}, 1.25), Step({"a": 1}, 1)]
    assert statement(Bound(steps), square) == ("a ≥ 1.5 kg", "a ≤ 2 kg")


def test_directions_with_several_unknowns(square):
    steps = [
        Step({"a": -2, "b": 1}, Fraction(1, 3)),
        Step({"a": 0.5, "b": -1}, 0),
        Step({}, 1),
        Step({"a": 3, "b": 0}, 6),
    ]
    assert statement(Bound(steps), square) == ("−2·a + b ≥ 1/3", "0.5·a − b ≥ 0", "0 ≥ 1", "3·a ≥ 6")


def test_witness_and_emptiness(square):
    assert statement(Witness({"a": Fraction(1, 3), "b": 0.1}), square)[1:] == ("a = 1/3 kg", "b = 0.1 m")
    assert statement(Empty([Step({}, 1)]), square) == ("no θ satisfies all rows and the prior",)


def test_many_rows_are_cut_short(rng, make_problem):
    problem = make_problem(rng)
    assert rows_in_words(problem, range(15)).endswith("row 11 and 3 more")
    assert rows_in_words(problem, [0, 99]) == "row 0"
    assert rows_in_words(problem, []) == "no row"
