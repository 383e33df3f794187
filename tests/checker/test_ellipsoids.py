"""Ellipsoids: known by hand, exact at the very edge, sound whatever is proposed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, Box, InputError, LinearProblem, Unknowns
from gough.checker import Certificate, Inside, Round, Step, Strip, check
from tests.checker.documents import accepted, at, changed, document, leaves
from tests.checker.oracle import is_true

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def verdict(problem, proof):
    return check(Certificate.of(problem, proof), problem)


@pytest.fixture
def box():
    """|a| ≤ 1 by row 0, |b − 1| ≤ 2 by the prior: the smallest ellipsoid has semi-axes √2 times as large."""
    unknowns = Unknowns(["a", "b"], ["kg", "m"], prior=Box([-9, -1], [9, 3]))
    return LinearProblem([[1.0, 0.0], [1.0, 1.0]], [0.0, 1.0], unknowns, Bounded([1.0, 9.0]))


@pytest.fixture
def tight():
    """Σ weight·half² = 1 and center and shape to match: nothing to spare."""
    strips = [Strip(0, 0, 1, HALF), Strip("b", 1, 2, Fraction(1, 8))]
    return Inside([], [Round({"a": 0, "b": 1}, [[2], [0, 8]], strips)])


def test_the_ellipsoid_around_a_box(box, tight):
    answer = verdict(box, tight)
    assert answer
    assert answer.reason == "2 weighted strips imply the ellipsoid"
    assert answer.rows == (0,)
    assert answer.statement[1:] == ("a = 0.00 ± 1.42 kg", "b = 1.00 ± 2.83 m")
    assert is_true(tight, box)


def test_no_number_of_it_may_change_but_to_state_less(tmp_path, box, tight):
    original = document(Certificate.of(box, tight))
    survived = []
    for leaf in leaves(original):
        old = at(original, leaf)
        nudged = (
            [old + 1, old - 1]
            if isinstance(old, int)
            else [*np.nextafter(old, [-9, 9]).tolist(), old + 0.1, -old - 0.1]
        )
        for new in nudged:
            proof = accepted(tmp_path / "c.json", changed(original, leaf, new), box)
            if proof is not None:
                survived.append((leaf[2:], new > old))
                assert is_true(proof, box)
    assert {leaf for leaf, _ in survived} == {("shape", 0, 0), ("shape", 1, 1)}
    assert all(larger for _, larger in survived)


def test_reasons_name_what_falls_short(box, tight):
    [one] = tight.rounds

    def reason(**changes):
        return verdict(box, Inside([], [replace(one, **changes)])).reason

    first, second = one.strips
    assert "would have to be larger" in reason(shape=((2,), (0, Fraction(799, 100))))
    assert "would have to be larger" in reason(center={"a": 0.001, "b": 1})
    assert "no value to 'b'" in reason(center={"a": 0}, shape=((2,),))
    assert "no unknown 'c'" in reason(center={"a": 0, "b": 1, "c": 0}, shape=((2,), (0, 8), (0, 0, 0)))
    moved = replace(first, middle=Fraction(1, 10))
    assert "strip 1: its lower side is 0.1000 further in" in reason(strips=(moved, second))
    assert "strip 2: its upper side" in reason(strips=(first, replace(second, middle=Fraction(9, 10))))
    with pytest.raises(InputError, match="must not be negative"):
        replace(second, weight=-second.weight)
    assert "there is no row 7" in reason(strips=(replace(first, of=7), second))
    assert "no unknown 'c'" in reason(strips=(first, replace(second, of="c")))
    with pytest.raises(InputError, match="not before it"):
        reason(strips=(first, replace(second, below=0)))
    assert "flat along 'b'" in reason(shape=((2,), (0, 0)))


def test_names_in_another_order_are_the_same_ellipsoid(box):
    strips = [Strip(0, 0, 1, HALF), Strip("b", 1, 2, Fraction(1, 8))]
    assert verdict(box, Inside([], [Round({"b": 1, "a": 0}, [[8], [0, 2]], strips)]))
    assert not verdict(box, Inside([], [Round({"b": 1, "a": 0}, [[2], [0, 8]], strips)]))


def test_strips_that_many_rows_prove_together(square):
    """a ∈ [19/12, 7/4] by row 2, b by rows 0 and 1: strips of unknowns in the box of the steps."""
    steps = [
        Step({"a": 1}, Fraction(19, 12), {2: THIRD}),
        Step({"a": -1}, Fraction(-7, 4), {2: -THIRD}),
        Step({"b": 1}, HALF, {0: HALF, 1: -HALF}),
        Step({"b": -1}, Fraction(-3, 2), {0: -HALF, 1: HALF}),
    ]
    a, b = Strip("a", Fraction(5, 3), Fraction(1, 12), 72), Strip("b", 1, HALF, 2)
    one = Round({"a": Fraction(5, 3), "b": 1}, [[Fraction(1, 72)], [0, HALF]], [a, b])
    assert verdict(square, Inside(steps, [one]))
    assert "step" in verdict(square, Inside([replace(steps[0], value=Fraction(5, 3)), *steps[1:]], [one])).reason
    by_rows = replace(a, below=((2, THIRD),), above=((2, -THIRD),))
    assert verdict(square, Inside(steps, [replace(one, strips=(by_rows, b))]))
    wrong = replace(a, below=((2, -THIRD),), above=((2, THIRD),))
    assert not verdict(square, Inside(steps, [replace(one, strips=(wrong, b))]))


def test_a_later_round_uses_the_reach_of_an_earlier_one(box, tight):
    """The ellipsoid's reach along a + b is √10; row 1 alone allows 9."""
    [first] = tight.rounds
    width = Fraction(3163, 1000)
    rest = (HALF + width**2 / 20) * (1 + Fraction(1, 10**10))
    cut = Strip(1, 1, width, 1 / (20 * rest), below=0, above=0)
    strips = (*(replace(s, weight=s.weight / (2 * rest)) for s in first.strips), cut)
    shape = np.linalg.inv(np.diag([1 / 4, 1 / 16]) + 1 / 20) * float(rest) * (1 + 1e-9)
    second = Round({"a": 0, "b": 1}, [[shape[0, 0]], shape[1].tolist()], strips)
    both = Inside([], [first, second])
    assert verdict(box, both).reason.endswith("of each of 2 rounds")
    assert is_true(both, box)
    narrow = replace(second, strips=(*strips[:2], replace(cut, half=Fraction(3162, 1000))))
    too_narrow = verdict(box, Inside([], [first, narrow])).reason
    assert "round 1: strip 3: the ellipsoid of round 0 reaches beyond" in too_narrow
    by_its_row = replace(second, strips=(*strips[:2], replace(cut, below=None)))
    assert "further in" in verdict(box, Inside([], [first, by_its_row])).reason
    with pytest.raises(InputError, match="not before it"):
        Inside([], [second])


def test_what_a_prior_fixes_is_flat():
    unknowns = Unknowns(["a", "b"], prior=Box([0.1, -9], [0.1, 9]))
    problem = LinearProblem([[3.0, 1.0]], [1.0], unknowns, Bounded(0.5))
    middle = 1 - 3 * Fraction(0.1)
    one = Round({"a": 0.1, "b": middle}, [[0], [0, Fraction(1, 4)]], [Strip(0, 1, HALF, 4)])
    assert verdict(problem, Inside([], [one]))
    assert not verdict(problem, Inside([], [replace(one, shape=((0,), (0, Fraction(1, 4) - Fraction(1, 10**40))))]))
    assert "flat along 'a'" in verdict(problem, Inside([], [replace(one, center={"a": 0.2, "b": middle})])).reason


def test_a_point_needs_no_strip():
    problem = LinearProblem([[2.0]], [3.0], Unknowns(["a"]), Bounded(0.0))
    steps = [Step({"a": 1}, 1.5, {0: 0.5}), Step({"a": -1}, -1.5, {0: -0.5})]
    assert verdict(problem, Inside(steps, [Round({"a": 1.5}, [[0]], [])]))
    assert not verdict(problem, Inside(steps[:1], [Round({"a": 1.5}, [[0]], [])]))


def test_an_uncertain_regressor_widens_its_strips():
    """|3 − a| ≤ 1/2 + |a|/4 in [0, 4]: the row's own strip is |3 − a| ≤ 3/2."""
    unknowns = Unknowns(["a"], prior=Box([0], [4]))
    problem = LinearProblem([[1.0]], [3.0], unknowns, Bounded(0.5, [[0.25]]))
    one = Round({"a": 3}, [[Fraction(9, 4)]], [Strip(0, 3, Fraction(3, 2), Fraction(4, 9))])
    assert verdict(problem, Inside([], [one]))
    narrow = replace(one, shape=((2,),), strips=(Strip(0, 3, 1, 1),))
    assert "further in" in verdict(problem, Inside([], [narrow])).reason


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_hostile_scales(scale):
    """The box of `tight` with a in other units."""
    unknowns = Unknowns(["a", "b"], prior=Box([-9 * scale, -1], [9 * scale, 3]))
    problem = LinearProblem([[1 / scale, 0.0]], [0.0], unknowns, Bounded(1.0))
    square = Fraction(1 / scale) ** 2
    strips = [Strip(0, 0, 1, HALF), Strip("b", 1, 2, Fraction(1, 8))]
    assert verdict(problem, Inside([], [Round({"a": 0, "b": 1}, [[2 / square], [0, 8]], strips)]))
    less = 2 / square * (1 - Fraction(1, 10**50))
    assert not verdict(problem, Inside([], [Round({"a": 0, "b": 1}, [[less], [0, 8]], strips)]))
