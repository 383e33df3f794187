"""Links that are no steps: case distinctions, and bounds out of nothing."""

from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, Box, InputError, LinearProblem, Unknowns, estimate
from gough.checker import Bound, Certificate, Empty, NotProven, Reach, Split, Step, Witness, certificate_of, check
from gough.checker.linear import follow
from gough.methods import LinearHull
from tests.checker.oracle import is_true

HALF = Fraction(1, 2)


def verdict(problem, proof):
    return check(Certificate.of(problem, proof), problem)


@pytest.fixture
def uncertain():
    """|1 − a| ≤ 1/2 + |a|/2 for |a| ≤ 4: a ∈ [1/3, 3] where a ≥ 0, nothing where a < 0."""
    unknowns = Unknowns(["a"], prior=Box([-4], [4]))
    return LinearProblem([[1.0]], [1.0], unknowns, Bounded(0.5, [[0.5]]))


LOW, HIGH = Step({"a": 1}, Fraction(1, 3), {0: Fraction(2, 3)}), Step({"a": -1}, -3, {0: -2})
NOTHING = Step({}, HALF, {0: 1})


def test_each_orthant_by_itself_and_then_both(uncertain):
    stated = Step({"a": 1}, Fraction(1, 3)), Step({"a": -1}, -3)
    split = Split("a", 0, below=[NOTHING], above=[LOW, HIGH])
    assert verdict(uncertain, Bound([split, *stated]))
    assert verdict(uncertain, Bound([split, *stated])).statement == ("a ≥ 1/3", "a ≤ 3")
    assert not verdict(uncertain, Bound([LOW]))  # without the sign, |a| may be 4
    assert is_true(Bound([split, *stated]), uncertain)


@pytest.mark.parametrize(
    ("split", "reason"),
    [
        (Split("a", 0, below=[], above=[LOW, HIGH]), "states 1/3"),
        (Split("a", 0, below=[NOTHING], above=[HIGH]), "states 1/3"),
        (Split("a", 0, below=[LOW], above=[NOTHING]), "case a ≤ 0: step 1"),
        (Split("a", 1, below=[NOTHING], above=[LOW, HIGH]), "case a ≤ 1: step 1"),
        (Split("b", 0, below=[NOTHING], above=[LOW, HIGH]), "no unknown 'b'"),
    ],
    ids=range(5),
)
def test_no_case_may_be_missing_or_exchanged(uncertain, split, reason):
    answer = verdict(uncertain, Bound([split, Step({"a": 1}, Fraction(1, 3))]))
    assert not answer
    assert reason in answer.reason


def test_both_cases_empty(uncertain):
    problem = LinearProblem([[1.0], [1.0]], [1.0, -9.0], uncertain.unknowns, Bounded(0.5, [[0.5], [0.5]]))
    above = Step({}, HALF, {1: -1})
    assert verdict(problem, Empty([Split("a", 0, below=[NOTHING], above=[above])]))
    assert not verdict(problem, Empty([Split("a", 0, below=[NOTHING], above=[LOW])]))
    assert is_true(Empty([Split("a", 0, [NOTHING], [above])]), problem)


def test_reach_needs_no_box():
    """|3 − a| ≤ 1/2 + |a|/4 for all a: |a| ≤ 7/2 + |a|/4, so |a| < b for every b > 14/3."""
    problem = LinearProblem([[1.0]], [3.0], Unknowns(["a"]), Bounded(0.5, [[0.25]]))
    assert verdict(problem, Bound([Reach({"a": 4.7}, {"a": {0: 1}}), Step({"a": -1}, -4.7)]))
    on_the_edge = verdict(problem, Bound([Reach({"a": Fraction(14, 3)}, {"a": {0: 1}}), Step({"a": -1}, -5)]))
    assert "prove no smaller one" in on_the_edge.reason
    wrong_sign = verdict(problem, Bound([Reach({"a": 9}, {"a": {0: -1}}), Step({"a": 1}, -9)]))
    assert "prove no smaller one" in wrong_sign.reason


def test_a_reach_needs_bounds_of_errors_that_are_not_negative():
    """|a| ≤ 1.5 |a| − 1 holds where |a| ≥ 2, but 1.5 · 1 − 1 < 1 would "prove" |a| ≤ 1."""
    problem = LinearProblem([[1.0]], [0.0], Unknowns(["a"]), Bounded([1.0], [[1.5]]))
    object.__setattr__(problem.noise, "radius", np.array([-1.0]))  # no constructor sees this
    steps = Reach({"a": 1}, {"a": {0: 1}}), Step({"a": 1}, -1)
    with pytest.raises(NotProven, match="an error bound is negative"):
        follow(problem, steps)
    with pytest.raises(InputError, match="an error bound must be a number ≥ 0"):
        verdict(problem, Bound(steps))


@pytest.mark.parametrize("lower", [np.inf, np.nan])
def test_a_prior_that_was_altered_is_refused(lower):
    """No a satisfies ∞ ≤ a, so a witness must not be accepted."""
    problem = LinearProblem([[1.0]], [0.0], Unknowns(["a"]), Bounded(1.0))
    object.__setattr__(problem.unknowns.prior, "lower", np.array([lower]))
    with pytest.raises(InputError, match="Box"):
        verdict(problem, Witness({"a": 0}))


@pytest.mark.parametrize("bound", [-9, -2, Fraction(-1, 10**400), 0])
def test_a_reach_that_is_not_positive_is_refused_by_constructor_and_checker(bound):
    """With b < 0, r + G b < b may hold though nothing is proven: |a| ≤ 1 was once "proven" empty by b = −2."""
    problem = LinearProblem([[1.0]], [0.0], Unknowns(["a"]), Bounded(1.0))
    with pytest.raises(InputError, match="positive"):
        Reach({"a": bound}, {"a": {0: -1}})
    forged = object.__new__(Reach)
    object.__setattr__(forged, "bounds", (("a", Fraction(bound)),))
    object.__setattr__(forged, "weights", (("a", ((0, Fraction(-1)),)),))
    for chain in ([forged], [Split("a", 0, [forged], [forged])]):
        assert "positive" in verdict(problem, Empty(chain)).reason
        with pytest.raises(NotProven, match="must be positive"):  # the theorem's own line, without any constructor
            follow(problem, chain)


def test_reach_of_several_at_once_and_of_some_beside_a_box():
    W = [[1.0, 0.125], [0.125, 1.0]]
    problem = LinearProblem(W, [3.0, 2.0], Unknowns(["a", "b"]), Bounded(0.5))
    both = Reach({"a": 5, "b": 4}, {"a": {0: 1}, "b": {1: 1}})
    assert verdict(problem, Bound([both, Step({"a": 1}, -5), Step({"b": -1}, -4)]))
    alone = Bound([Reach({"a": 5}, {"a": {0: 1}}), Step({"a": 1}, -5)])
    assert "depends on 'b'" in verdict(problem, alone).reason
    half_open = LinearProblem(W, [3.0, 2.0], Unknowns(["a", "b"], prior=Box([-np.inf, -8], [np.inf, 8])), Bounded(0.5))
    assert verdict(half_open, alone)


@pytest.mark.parametrize("prior", [30.0, np.inf])
@pytest.mark.parametrize("splits", [0, 5])
def test_hulls_of_an_uncertain_regressor_to_the_last_digit(prior, splits, rng):
    """The certificate is about the very box of the estimate, after the split into orthants and without a prior."""
    split = 0
    for _ in range(15):
        p = int(rng.integers(1, 4))
        theta = rng.normal(size=p) * rng.choice([0.05, 1.0], p)
        W = rng.normal(size=(25, p))
        D = 0.05 * rng.uniform(size=W.shape)
        y = (W + D * rng.uniform(-1, 1, W.shape)) @ theta + rng.uniform(-0.1, 0.1, 25)
        box = None if prior == np.inf else Box(np.full(p, -prior), np.full(p, prior))
        problem = LinearProblem(W, y, Unknowns([f"x{j}" for j in range(p)], prior=box), Bounded(0.1, D))
        answer = estimate(problem, LinearHull(splits=splits))
        certificate = certificate_of(problem, answer)
        assert check(certificate, problem)
        steps = {}
        for step in (link for link in certificate.proof.steps if isinstance(link, Step)):
            steps[step.direction] = max(step.value, steps.get(step.direction, step.value))
        for name, low, high in zip(problem.unknowns, answer.region.lower, answer.region.upper, strict=True):
            assert steps[(name, Fraction(1)),] == Fraction(low)
            assert steps[(name, Fraction(-1)),] == -Fraction(high)
        split += any(isinstance(link, Split) for link in certificate.proof.steps)
    assert (split > 0) == (splits > 0)
