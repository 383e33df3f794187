"""Problems in base parameters."""

import re
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import gough
from gough.core.errors import InputError
from gough.dynamics import base_values, identify, reduced
from gough.dynamics.example import random_motion
from gough.methods import LeastSquares, identifiability
from gough.region import Box
from gough.robots import efforts

INF = np.inf


def problem_of(rng, *, noise=None, prior=None):
    """Columns a, b, c = 2a + b, and d without effect."""
    A = rng.standard_normal((40, 2))
    W = np.column_stack([A, A @ [2.0, 1.0], np.zeros(40)])
    unknowns = gough.Unknowns(("a", "b", "c", "d"), ("m", "s", "m", ""), [1.0, 2.0, 3.0, 4.0], prior)
    return gough.LinearProblem(W, W @ [1.0, 2.0, 3.0, 4.0], unknowns, noise or gough.Gaussian())


def test_a_reduced_problem_is_full_rank_and_says_the_same(rng):
    problem = problem_of(rng)
    found = identifiability(problem)
    base = reduced(problem, found)
    assert base.unknowns.names == ("a + 2·c", "b + c")
    assert base.unknowns.units == ("m", "s")
    answer = gough.estimate(base, LeastSquares())
    truth = base_values(found, [1.0, 2.0, 3.0, 4.0])
    assert answer.value == pytest.approx([7.0, 5.0])
    assert truth == pytest.approx([7.0, 5.0])
    assert base.unknowns.nominal == pytest.approx(truth)
    singular = gough.estimate(problem, LeastSquares(), strict=False)
    assert singular.unknowns.names == base.unknowns.names
    assert singular.value == pytest.approx(answer.value)


def test_bounds_become_those_of_the_combinations(rng):
    prior = gough.Box([0.0, -1.0, -1.0, -INF], [1.0, 1.0, 2.0, INF])
    problem = problem_of(rng, prior=prior)
    carried = reduced(problem, identifiability(problem)).unknowns.prior
    assert carried.lower == pytest.approx([-2.0, -2.0])
    assert carried.upper == pytest.approx([5.0, 3.0])


def test_an_unbounded_unknown_leaves_its_combinations_unbounded(rng):
    prior = gough.Box([0.0, 0.0, -INF, 0.0], [1.0, 1.0, 2.0, 1.0])
    problem = problem_of(rng, prior=prior)
    carried = reduced(problem, identifiability(problem)).unknowns.prior
    assert carried.lower.tolist() == [-INF, -INF]
    assert carried.upper == pytest.approx([5.0, 3.0])


def test_a_belief_is_carried_over(rng):
    prior = gough.ConfidenceEllipsoid([1.0, 2.0, 3.0, 4.0], np.eye(4))
    problem = problem_of(rng, prior=prior)
    carried = reduced(problem, identifiability(problem)).unknowns.prior
    assert carried.center == pytest.approx([7.0, 5.0])
    assert carried.covariance == pytest.approx(np.array([[5.0, 2.0], [2.0, 2.0]]))


def test_errors_of_the_regressor_are_bounded_over_the_prior(rng):
    """D |θ| depends on all of θ, dropped unknowns too, and not on the combinations that are kept."""
    radius = np.tile([1.0, 2.0, 3.0, 4.0], (40, 1))
    prior = gough.Box([-1.0, 0.0, -3.0, 0.1], [1.0, 0.5, 2.0, 0.7])
    problem = problem_of(rng, noise=gough.Bounded(0.1, radius), prior=prior)
    noise = reduced(problem, identifiability(problem)).noise
    exact = Fraction(0.1) + 1 + 2 * Fraction(0.5) + 9 + 4 * Fraction(0.7)
    assert noise.regressor is None
    assert all(exact <= Fraction(e) < exact * (1 + Fraction(1, 2**50)) for e in noise.radius.tolist())
    with pytest.raises(gough.AssumptionError, match="bounded prior"):
        reduced(problem_of(rng, noise=gough.Bounded(0.1, radius)), identifiability(problem))


def test_a_carried_prior_holds_every_combination(rng):
    for _ in range(50):
        lower = rng.normal(size=4)
        prior = gough.Box(lower, lower + rng.random(4))
        problem = problem_of(rng, prior=prior)
        found = identifiability(problem)
        carried = reduced(problem, found).unknowns.prior
        C = [[Fraction(c) for c in base.coefficients] for base in found.base]
        for side, wanted in ((carried.lower, min), (carried.upper, max)):
            ends = [[Fraction(x) for x in end.tolist()] for end in (prior.lower, prior.upper)]
            for row, end in zip(C, side.tolist(), strict=True):
                exact = sum(wanted(c * a, c * b) for c, a, b in zip(row, *ends, strict=True))
                assert end <= exact if wanted is min else end >= exact


def test_another_problems_identifiability_is_refused(rng):
    other = gough.LinearProblem([[1.0]], [1.0], gough.Unknowns(["x"]))
    with pytest.raises(InputError, match="belongs to another problem"):
        reduced(problem_of(rng), identifiability(other))


def test_values_of_another_length_are_refused(rng):
    with pytest.raises(InputError, match="4 entries"):
        base_values(identifiability(problem_of(rng)), [1.0])


def test_nothing_to_know_is_refused():
    nothing = gough.LinearProblem(np.zeros((3, 1)), np.zeros(3), gough.Unknowns(["x"]))
    with pytest.raises(InputError, match="determine no parameter"):
        reduced(nothing, identifiability(nothing))


def test_parameters_of_combinations_have_the_efforts_of_the_estimate():
    """What was measured determines 15 combinations of 21 parameters; with one fixed, of 20."""
    robot, motion = random_motion(1)
    moved = motion.q, motion.dq, motion.ddq
    free = np.full(len(robot.names), np.inf)
    lower, upper = -free, free.copy()
    lower[0] = upper[0] = robot.nominal[0]
    for prior in (None, Box(lower, upper)):
        answer = identify(robot, motion, methods=["weighted"], prior=prior, bound=0.1, compare=False)
        assert not answer.identifiability.is_full_rank
        theta = answer.parameters("weighted")
        assert theta.shape == (21,)
        known = sum(
            value * robot.regressor(*moved)[:, :, robot.names.index(name)] for name, value in answer.fixed.items()
        )
        expected = (answer.problem.W @ answer["weighted"].value).reshape(motion.efforts.shape) + known
        np.testing.assert_allclose(efforts(robot, theta, *moved), expected, rtol=0, atol=1e-9)
    with pytest.raises(InputError, match=r"parameters must be 21 numbers.*answer.parameters\(method\)"):
        efforts(robot, answer["weighted"].value, *moved)
    with pytest.raises(InputError, match="no estimate is called 'weigted'; did you mean 'weighted'"):
        answer.parameters("weigted")


def test_efforts_of_an_answer_warn_where_the_motion_excites_what_was_not_determined():
    robot, motion = random_motion(1)
    still = replace(motion, dq=motion.dq * [1.0, 0.0])
    answer = identify(robot, still, methods=["hull", "weighted"], bound=0.5, compare=False)
    moved = still.q, still.dq, still.ddq
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_first = answer.efforts(*moved)
        weighted = answer.efforts(*moved, method="weighted")
    assert (by_first == efforts(robot, answer.parameters("hull"), *moved)).all()
    assert (weighted == efforts(robot, answer.parameters("weighted"), *moved)).all()
    assert set(answer.identifiability.without_effect) >= {"fv_2", "fc_2"}
    k = [robot.names.index(name) for name in ("fv_2", "fc_2")]
    missing = robot.regressor(motion.q, motion.dq, motion.ddq)[:, :, k] @ robot.nominal[k]
    with pytest.warns(UserWarning, match="the motion excites") as caught:
        answer.efforts(motion.q, motion.dq, motion.ddq)
    text = str(caught[0].message)
    assert "fc_2" in text
    assert "fv_2" in text
    assert re.search(r"left out of the efforts \(up to (\S+) N·m of motor 2", text)[1] == f"{abs(missing).max():.2g}"
    with pytest.raises(InputError, match="no estimate is called 'weigted'; did you mean 'weighted'"):
        answer.efforts(*moved, method="weigted")


def test_a_combination_is_asked_for_by_its_label_and_a_part_of_it_is_refused_with_what_is_determined():
    robot, motion = random_motion(1)
    still = replace(motion, dq=motion.dq * [1.0, 0.0])
    answer = identify(robot, still, methods=["weighted"], bound=0.1, compare=False)
    labels = answer.regroupings
    label, name = next((label, name) for label, name in labels.items() if label.endswith("*"))
    assert answer[label] == answer[name] == answer["weighted"][name]
    assert answer.interval(label) == answer.interval(name)
    assert answer.intervals(label) == answer.intervals(name)
    part = name.split(" + ")[1].split("·")[-1].split(" ")[0]
    for ask in (answer.__getitem__, answer.interval, answer.intervals):
        with pytest.raises(InputError) as refused:
            ask(part)
        assert f"'{part}' is not determined by itself, only in combination: " in str(refused.value)
        assert f"{name} (answer['{label}'])" in str(refused.value)
        with pytest.raises(InputError, match="'fc_2' has no effect on the efforts of this motion"):
            ask("fc_2")
        with pytest.raises(InputError, match="no estimate or parameter is called 'fc_3'; did you mean 'fc_1'"):
            ask("fc_3")
