"""What holds and what does not: the checker against duals known by hand, by scipy, and against hostile numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import get_args

import numpy as np
import pytest
from scipy.optimize import linprog

from gough import (
    AssumptionError,
    Bounded,
    Box,
    ConfidenceEllipsoid,
    Gaussian,
    Groups,
    InputError,
    LinearProblem,
    Unknowns,
)
from gough.checker import Bound, Certificate, Empty, NotProven, Proof, Step, Witness, check, prove
from gough.checker.check import CHECKERS
from gough.checker.files import KINDS


def verdict(problem, proof):
    return check(Certificate.of(problem, proof), problem)


def above(x):
    return float(np.nextafter(x, np.inf))


def test_every_kind_has_its_checker():
    assert set(CHECKERS) == set(get_args(Proof)) == set(KINDS.values())


# witnesses


def test_witness_on_the_very_edge_holds_and_one_ulp_beyond_does_not(square):
    edge = Fraction(19, 12)
    assert verdict(square, Witness({"a": edge, "b": 1}))
    beyond = verdict(square, Witness({"a": edge - Fraction(1, 10**400), "b": 1}))
    assert not beyond
    assert "row 2 is violated" in beyond.reason
    assert "2^-1327" in beyond.reason


def test_witness_decides_what_floating_point_cannot():
    # 0.1 + 0.2 rounds to 0.30000000000000004, but the sum of the two doubles is neither that nor 0.3
    exact = Fraction(0.1) + Fraction(0.2)
    problem = LinearProblem([[1.0, 1.0]], [0.1 + 0.2], Unknowns(["a", "b"]), Bounded(0.0))
    assert Fraction(0.1 + 0.2) != exact
    assert not verdict(problem, Witness({"a": 0.1, "b": 0.2}))
    assert verdict(problem, Witness({"a": 0.1, "b": Fraction(0.1 + 0.2) - Fraction(0.1)}))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300])
def test_witness_at_hostile_scales(scale):
    problem = LinearProblem([[scale], [-scale]], [scale, -scale], Unknowns(["a"]), Bounded(0.0))
    assert verdict(problem, Witness({"a": 1}))
    assert not verdict(problem, Witness({"a": above(1.0)}))


def test_witness_obeys_the_prior():
    problem = LinearProblem([[1.0]], [1.0], Unknowns(["a"], prior=Box([0.5], [1.0])), Bounded(3.0))
    assert verdict(problem, Witness({"a": 1.0}))
    assert "above its prior" in verdict(problem, Witness({"a": above(1.0)})).reason
    assert "below its prior" in verdict(problem, Witness({"a": 0.25})).reason


def test_witness_names_every_unknown_and_no_other(square):
    assert "no value to 'b'" in verdict(square, Witness({"a": 1})).reason
    assert "no unknown 'c'" in verdict(square, Witness({"a": 1, "b": 1, "c": 0})).reason


def test_witness_names_the_group_of_a_violated_row():
    groups = Groups(("left", "right"))
    problem = LinearProblem(np.ones((4, 1)), [0.0, 0.0, 0.0, 9.0], Unknowns(["a"]), Bounded(1.0), groups)
    assert "row 3 (right)" in verdict(problem, Witness({"a": 0})).reason


def test_witness_agrees_with_plain_fractions(rng, make_problem):
    for _ in range(20):
        problem = make_problem(rng, n_rows=12, p=3)
        theta = np.linalg.lstsq(problem.W, problem.y)[0]
        misfit = [
            abs(Fraction(y) - sum(Fraction(w) * Fraction(t) for w, t in zip(row, theta.tolist(), strict=True)))
            for row, y in zip(problem.W.tolist(), problem.y.tolist(), strict=True)
        ]
        consistent = max(misfit) <= Fraction(0.3)
        assert verdict(problem, Witness(dict(zip(problem.unknowns, theta, strict=True)))).holds == consistent


# bounds


def test_rational_duals_prove_the_exact_optimum_and_not_more(square, thirds):
    direction, weights, best = thirds
    assert verdict(square, Bound([Step(direction, best, weights)]))
    more = verdict(square, Bound([Step(direction, best + Fraction(1, 10**300), weights)]))
    assert not more
    assert "more than its rows prove" in more.reason


def test_negative_weights_take_the_other_end(square):
    assert verdict(square, Bound([Step({"a": -1}, Fraction(-7, 4), {2: Fraction(-1, 3)})])).statement == (
        "a ≤ 1.75 kg",
    )


def test_a_double_for_one_third_leaves_over_what_nothing_bounds(square):
    short = verdict(square, Bound([Step({"a": 1}, 1.0, {2: 1 / 3})]))
    assert not short
    assert "'a' has no lower bound" in short.reason


def test_the_prior_takes_what_inexact_weights_leave_over(square):
    prior = Box([-100, -100], [100, 100])
    bounded = replace(square, unknowns=Unknowns(["a", "b"], prior=prior))
    [step] = prove(bounded, [({"a": 1}, {2: 1 / 3})])
    left = 1 - 3 * Fraction(1 / 3)
    exact = Fraction(1 / 3) * (5 - Fraction(1, 4)) - 100 * left
    assert step.value <= exact < Fraction(above(float(step.value)))
    assert verdict(bounded, Bound([step]))
    assert not verdict(bounded, Bound([replace(step, value=Fraction(above(float(step.value))))]))


def test_steps_use_the_box_of_earlier_steps():
    # a ≥ 2 by row 0; then 1·b ≥ 5 − a's share: b = (b + a) − a needs a ≤ 3, also by row 0
    problem = LinearProblem([[2.0, 0.0], [1.0, 1.0]], [5.0, 10.0], Unknowns(["a", "b"]), Bounded([1.0, 0.5]))
    a_at_most = Step({"a": -1}, -3, {0: Fraction(-1, 2)})
    b_at_least = Step({"b": 1}, Fraction(13, 2), {1: 1})
    assert verdict(problem, Bound([a_at_most, b_at_least]))
    assert "'a' has no upper bound" in verdict(problem, Bound([b_at_least])).reason
    assert "step 1" in verdict(problem, Bound([b_at_least, a_at_most])).reason
    assert not verdict(problem, Bound([a_at_most, replace(b_at_least, value=Fraction(131, 20))]))


def test_a_scaled_axis_tightens_the_box_too():
    problem = LinearProblem([[2.0, 0.0], [1.0, 1.0]], [5.0, 10.0], Unknowns(["a", "b"]), Bounded([1.0, 0.5]))
    chain = [Step({"a": -4}, -12, {0: -2}), Step({"b": 2}, 13, {1: 2})]
    assert verdict(problem, Bound(chain))


def test_a_bound_by_the_prior_alone_needs_no_row():
    problem = LinearProblem([[1.0]], [0.0], Unknowns(["a"], prior=Box([2], [3])), Bounded(9.0))
    assert verdict(problem, Bound([Step({"a": 2}, 4)]))
    assert not verdict(problem, Bound([Step({"a": 2}, above(4.0))]))


def scipy_dual(problem, c):
    """Value and row multipliers of min c·θ by HiGHS; the multipliers are untrusted floating-point numbers."""
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    A, b = np.vstack([problem.W, -problem.W]), np.concatenate([problem.y + e, e - problem.y])
    bounds = list(zip(problem.unknowns.bounds.lower, problem.unknowns.bounds.upper, strict=True))
    answer = linprog(c, A_ub=A, b_ub=b, bounds=bounds, method="highs")
    assert answer.status == 0
    upper, lower = np.split(answer.ineqlin.marginals, 2)
    weights = upper - lower
    return answer.fun, {int(k): float(weights[k]) for k in np.flatnonzero(weights)}


def test_duals_of_a_linear_program_become_bounds(rng, make_problem):
    for _ in range(15):
        problem = make_problem(rng, prior=Box(np.full(4, -50.0), np.full(4, 50.0)))
        c = rng.normal(size=4)
        optimum, weights = scipy_dual(problem, c)
        direction = dict(zip(problem.unknowns, c, strict=True))
        [step] = prove(problem, [(direction, weights)])
        assert abs(float(step.value) - optimum) <= 1e-9 * (1 + abs(optimum))
        weaker = optimum - 1e-9 * (1 + abs(optimum))
        assert verdict(problem, Bound([replace(step, value=Fraction(weaker))]))
        assert verdict(problem, Bound([step]))
        assert not verdict(problem, Bound([replace(step, value=Fraction(above(float(step.value))))]))


def test_bounds_never_exclude_a_consistent_point(rng, make_problem):
    for _ in range(10):
        problem = make_problem(rng, n_rows=8, p=2, prior=Box([-9, -9], [9, 9]))
        theta = np.linalg.lstsq(problem.W, problem.y)[0]
        if not verdict(problem, Witness(dict(zip(problem.unknowns, theta, strict=True)))):
            continue
        outline = [({"x0": 1}, dict(enumerate(rng.normal(size=8)))) for _ in range(20)]
        assert all(step.value <= Fraction(theta[0]) for step in prove(problem, outline))


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-150, 1e150, 1e300])
def test_bounds_at_hostile_scales(scale):
    # one row scale·a = scale ± scale: a ∈ [0, 2], whatever the scale
    problem = LinearProblem([[scale]], [scale], Unknowns(["a"]), Bounded(scale))
    weight = 1 / Fraction(scale)
    assert verdict(problem, Bound([Step({"a": -1}, -2, {0: -weight})]))
    assert not verdict(problem, Bound([Step({"a": -1}, above(-2.0), {0: -weight})]))


def test_mixed_scales_lose_nothing():
    # 1e300 swallows 1 in floating point
    problem = LinearProblem([[1e300, 1.0], [1e300, 0.0]], [1e300, 1e300], Unknowns(["a", "b"]), Bounded(5e-324))
    best = -2 * Fraction(5e-324)
    assert verdict(problem, Bound([Step({"b": 1}, best, {0: 1, 1: -1})]))
    assert not verdict(problem, Bound([Step({"b": 1}, 0, {0: 1, 1: -1})]))


# emptiness


def test_rows_that_contradict_each_other_are_named():
    problem = LinearProblem(np.ones((5, 1)), [0.0, 0.1, 3.0, 0.2, 0.1], Unknowns(["a"]), Bounded(1.0))
    proof = Empty([Step({}, 1, {2: 1, 0: -1})])
    answer = verdict(problem, proof)
    assert answer
    assert answer.rows == (0, 2)
    assert "row 0, row 2" in answer.checked
    assert not verdict(problem, Empty([Step({}, above(1.0), {2: 1, 0: -1})]))


def test_touching_rows_are_not_empty():
    problem = LinearProblem([[1.0], [1.0]], [0.0, 2.0], Unknowns(["a"]), Bounded(1.0))
    answer = verdict(problem, Empty([Step({}, 0, {1: 1, 0: -1})]))
    assert not answer
    assert "contradict neither" in answer.reason
    assert verdict(problem, Witness({"a": 1}))


def test_empty_by_a_gap_far_below_rounding():
    problem = LinearProblem([[1.0], [1.0]], [0.0, above(2.0)], Unknowns(["a"]), Bounded(1.0))
    assert verdict(problem, Empty([Step({}, 2.0**-51, {1: 1, 0: -1})]))


def test_empty_against_the_prior():
    problem = LinearProblem([[1.0]], [5.0], Unknowns(["a"], prior=Box([0], [3])), Bounded(1.0))
    assert verdict(problem, Empty([Step({}, 1, {0: 1})]))
    assert verdict(problem, Empty([Step({"a": 1}, 4, {0: 1})])).reason.startswith("the rows bound 'a' from below")


def test_empty_from_a_farkas_ray_of_a_linear_program(rng, make_problem):
    problem = make_problem(rng, n_rows=20, p=3, prior=Box(np.full(3, -50.0), np.full(3, 50.0)))
    y = problem.y.copy()
    y[7] += 5.0
    broken = replace(problem, y=y)
    # least t with |y − W θ| ≤ e + t: its duals weigh the rows that contradict each other
    A = np.block([[broken.W, -np.ones((20, 1))], [-broken.W, -np.ones((20, 1))]])
    answer = linprog(
        [0, 0, 0, 1], A_ub=A, b_ub=np.concatenate([y + 0.3, 0.3 - y]), bounds=[(-50, 50)] * 3 + [(0, None)]
    )
    upper, lower = np.split(answer.ineqlin.marginals, 2)
    weights = {int(k): float((upper - lower)[k]) for k in np.flatnonzero(upper - lower)}
    steps = prove(broken, [({}, weights)])
    assert steps[0].value > 0
    assert verdict(broken, Empty(steps))
    assert 7 in Empty(steps).rows
    assert len(Empty(steps).rows) <= 4


def test_a_wrong_bound_proof_of_a_consistent_problem_is_not_empty(square):
    assert not verdict(square, Empty([Step({}, Fraction(1, 10**9), {0: 1, 1: -1})]))


# radius of W


def test_witness_with_a_radius_of_W():
    problem = LinearProblem([[1.0]], [3.0], Unknowns(["a"]), Bounded(0.5, [[0.25]]))
    # |3 − a| ≤ 1/2 + |a|/4: a ∈ [2, 14/3]
    assert verdict(problem, Witness({"a": 2}))
    assert verdict(problem, Witness({"a": Fraction(14, 3)}))
    assert not verdict(problem, Witness({"a": Fraction(14, 3) + Fraction(1, 10**50)}))
    assert not verdict(problem, Witness({"a": Fraction(2) - Fraction(1, 10**50)}))


@pytest.mark.parametrize(("scalar", "prior"), list(product([False, True], [Box([0], [np.inf]), Box([0], [100])])))
def test_bound_with_a_radius_of_W(scalar, prior):
    problem = LinearProblem([[1.0]], [3.0], Unknowns(["a"], prior=prior), Bounded(0.5, 0.25 if scalar else [[0.25]]))
    # for a ≥ 0: (1 + 1/4) a ≥ 5/2 and (1 − 1/4) a ≤ 7/2
    assert verdict(problem, Bound([Step({"a": 1}, 2, {0: Fraction(4, 5)})]))
    assert not verdict(problem, Bound([Step({"a": 1}, above(2.0), {0: Fraction(4, 5)})]))
    assert verdict(problem, Bound([Step({"a": -1}, Fraction(-14, 3), {0: Fraction(-4, 3)})]))
    assert not verdict(problem, Bound([Step({"a": -1}, Fraction(-14, 3) + Fraction(1, 10**50), {0: Fraction(-4, 3)})]))


def test_a_radius_of_W_without_any_side_proves_nothing():
    problem = LinearProblem([[1.0]], [3.0], Unknowns(["a"]), Bounded(0.5, 0.25))
    short = verdict(problem, Bound([Step({"a": 1}, 0, {0: Fraction(4, 5)})]))
    assert not short
    assert "blurred by the radius of W" in short.reason


def test_bounds_with_a_radius_of_W_keep_every_consistent_point(rng):
    for _ in range(30):
        W, D, theta = rng.normal(size=(6, 2)), rng.uniform(0, 0.2, size=(6, 2)), rng.normal(size=2)
        y = (W + D * rng.choice([-1, 1], size=W.shape)) @ theta
        problem = LinearProblem(W, y, Unknowns(["a", "b"], prior=Box([-3, -3], [3, 3])), Bounded(1e-9, D))
        if abs(theta).max() >= 3 or not verdict(problem, Witness({"a": theta[0], "b": theta[1]})):
            continue
        [step] = prove(problem, [({"a": 1}, dict(enumerate(rng.normal(size=6))))])
        assert step.value <= Fraction(theta[0])


# which problem


def test_another_problem_is_refused(square, thirds):
    direction, weights, best = thirds
    certificate = Certificate.of(square, Bound([Step(direction, best, weights)]))
    others = {
        "W": replace(square, W=np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 5e-324]])),
        "y": replace(square, y=np.nextafter(square.y, np.inf)),
        "radius": replace(square, noise=Bounded([0.5, 0.5, above(0.25)])),
        "regressor": replace(square, noise=Bounded([0.5, 0.5, 0.25], 0.0)),
        "names": replace(square, unknowns=Unknowns(["b", "a"], ["kg", "m"])),
        "units": replace(square, unknowns=Unknowns(["a", "b"], ["g", "m"])),
        "prior": replace(square, unknowns=Unknowns(["a", "b"], ["kg", "m"], prior=Box([-1e300, -1e300], [9, 9]))),
        "groups": replace(square, groups=Groups(("x", "y", "z"))),
        "rows": square.select([0, 1]),
    }
    assert check(certificate, square)
    for what, other in others.items():
        answer = check(certificate, other)
        assert not answer, what
        assert "another problem" in answer.reason


def test_nominal_values_and_beliefs_exclude_nothing(square, thirds):
    direction, weights, best = thirds
    certificate = Certificate.of(square, Bound([Step(direction, best, weights)]))
    belief = ConfidenceEllipsoid([0, 0], np.eye(2))
    assert check(certificate, replace(square, unknowns=Unknowns(["a", "b"], ["kg", "m"], [1, 2], belief)))


def test_gaussian_noise_is_refused(square):
    certificate = Certificate.of(square, Witness({"a": 1, "b": 1}))
    with pytest.raises(AssumptionError, match="Bounded"):
        check(certificate, replace(square, noise=Gaussian(1.0)))


def test_another_format_does_not_hold(square):
    certificate = Certificate.of(square, Witness({"a": Fraction(5, 3), "b": 1}))
    with pytest.raises(InputError, match="format 3"):
        replace(certificate, version=3)
    object.__setattr__(certificate, "version", 3)
    assert "format 3" in check(certificate, square).reason


def test_rows_beyond_the_problem_do_not_count(square):
    assert "no row 3" in verdict(square, Bound([Step({"a": 1}, 1, {3: 1})])).reason


def test_prove_says_what_is_missing(square):
    with pytest.raises(NotProven, match="'a' has no lower bound"):
        prove(square, [({"a": 1}, {2: 1 / 3})])
    with pytest.raises(NotProven, match="no unknown 'aa'"):
        prove(square, [({"aa": 1}, {2: 1 / 3})])
    with pytest.raises(NotProven, match="below all doubles"):
        prove(square, [({"a": -(10**400)}, {2: Fraction(-(10**400), 3)})])


def test_a_memory_map_is_walked_by_blocks(tmp_path, rng):
    W = np.lib.format.open_memmap(tmp_path / "W.npy", mode="w+", dtype=np.float64, shape=(20_000, 3))
    W[:] = rng.normal(size=W.shape)
    theta = np.array([1.0, -2.0, 0.5])
    unknowns = Unknowns(["a", "b", "c"])
    mapped = LinearProblem(np.load(tmp_path / "W.npy", mmap_mode="r"), W @ theta, unknowns, Bounded(1e-12))
    copied = LinearProblem(np.asfortranarray(W), W @ theta, unknowns, Bounded(1e-12))
    certificate = Certificate.of(copied, Witness(dict(zip(unknowns, theta, strict=True))))
    assert check(certificate, mapped)
