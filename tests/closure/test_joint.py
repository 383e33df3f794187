"""Legs together: rows hold for consistent legs, the truth is kept, and what one leg allows another forbids."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gough import Box, InputError, Status, estimate
from gough.checker.chain_boxes import Space, StageRows
from gough.checker.chain_proofs import ChainCut
from gough.checker.chain_questions import question_of
from gough.checker.dyadic import Dyadic
from gough.checker.leg_equations import LegMeasurements, LegRows, PlatformMeasurements
from gough.closure.certified_leg import LegProblem
from gough.closure.fits import exhibited
from gough.closure.joint import JointProblem
from gough.closure.joint_hull import JointHull, JointProgram
from gough.closure.outliers import relaxed_tolerance, wrong_poses
from gough.closure.tolerance import joint_tolerance, minimal_tolerance, refuted
from gough.core.rotations import exp, from_quaternion
from gough.methods import LiftedHull
from tests.closure.test_certified_leg import lifted
from tests.methods.legs import joint_legs, leg_problem, measured_platform


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.3])
def test_exact_shared_rows_hold_for_the_errors_that_were_made(rng, size):
    """Quaternions of any length, errors up to their tolerances, boxes from fractions of a millimetre to a metre."""
    for _ in range(3):
        n, truth = 4, np.append(rng.normal(0, 0.3, 6), 0.3)
        q = rng.normal(size=(n, 4)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
        p = rng.normal(0, 0.3, (n, 3)) + np.array([0, 0, 0.5])
        tolerances = size * rng.random((n, 6))
        errors = tolerances * rng.choice([-1, 1, 0.3], (n, 6))
        turned = exp(errors[:, 3:]) @ from_quaternion(q / np.linalg.norm(q, axis=1, keepdims=True))
        d = turned @ truth[3:6] + p + errors[:, :3] - truth[:3]
        reading = np.linalg.norm(d, axis=1) - truth[6] + size * 0.1 * rng.uniform(-1, 1, n)
        data = LegMeasurements(q, p, reading, tolerances[:, :3], tolerances[:, 3:], 0.1 * size + 1e-13)
        radius = 10.0 ** rng.uniform(-4, 0) * rng.random(7)
        center = truth + rng.uniform(-1, 1, 7) * radius
        radius = np.maximum(radius, abs(truth - center) * (1 + 1e-15))
        c, r = ([Dyadic.of(x) for x in values.tolist()] for values in (center, radius))
        rows, problem = LegRows(data, c, r, shared=True), LegProblem(data, Box.around(center, radius))
        h = [Fraction(t) - x.fraction for t, x in zip(truth, c, strict=True)]
        relaxed = problem.shared_relaxation(center, radius)
        for number in range(2 * n):
            row, k = rows.row(number), number % n
            y = [*lifted(problem.products, h), *map(Fraction, errors[k].tolist())]
            assert sum(a * v for a, v in zip(row.coefficients, y, strict=True)) <= row.side
            unit = float(Fraction(2) ** row.exponent) / float((q[k] ** 2).sum())
            near = np.array([float(a) for a in row.coefficients]) * unit
            np.testing.assert_allclose(near, relaxed.A[number], atol=1e-11)
            assert float(row.side) * unit == pytest.approx(relaxed.b[number], abs=1e-11)


def test_what_a_program_proves_is_proven_exactly_too(rng):
    data, truth = measured_platform(rng, n=10, legs=(1, 4))
    problem = joint_legs(data, Box.around(truth, 2e-3), (1, 4))
    center, radius = truth + 1e-4, np.full(14, 2.2e-3)
    cuts = JointProgram(problem, center, radius).cuts()
    assert len(cuts) >= 3
    legs = Space.of(question_of(problem), (1, 4), 0.0)
    rows = StageRows(legs, center.tolist(), radius.tolist(), None)
    size = (data.quaternion**2).sum(axis=1)
    for cut in cuts[:3]:
        weights = tuple(
            (row, w / size[row % 84 % 10] if row % 84 < 20 else w) for row, w in zip(cut.rows, cut.weights, strict=True)
        )
        side = "lower" if cut.sign > 0 else "upper"
        proven = float(rows.proven(ChainCut(legs.names[cut.axis], side, 0.0, weights), cut.axis))
        assert cut.value == pytest.approx(proven, abs=1e-10)
        assert cut.sign * (truth - center)[cut.axis] >= cut.value


@pytest.mark.parametrize("legs", [(3,), (2, 6)])
def test_no_weights_whatever_prove_more_than_the_truth(rng, legs):
    """The checker's rule alone, against legs that are consistent: random rows, random weights, random boxes."""
    data, truth = measured_platform(rng, n=6, legs=legs)
    question = question_of(joint_legs(data, Box.around(truth, 1.0), legs))
    checker = Space.of(question, legs, 0.0)
    for _ in range(20):
        radius = 10.0 ** rng.uniform(-5, 0, len(truth))
        center = truth + rng.uniform(-0.999, 0.999, len(truth)) * radius
        rows = StageRows(checker, center.tolist(), radius.tolist(), None)
        for _ in range(5):
            axis, some = int(rng.integers(len(truth))), rng.choice(len(legs) * (2 * 6 + 64), 6, replace=False)
            weights = tuple(
                (row, float(w)) for row, w in zip(some.tolist(), 10.0 ** rng.uniform(-6, 3, 6), strict=True)
            )
            side = str(rng.choice(["lower", "upper", "empty"]))
            proven = rows.proven(ChainCut(checker.names[axis], side, 0.0, weights), axis)
            h = Fraction(truth[axis]) - Fraction(center[axis])
            assert proven <= {"lower": h, "upper": -h, "empty": 0}[side]


def test_the_truth_is_kept_and_the_box_not_larger(rng):
    data, truth = measured_platform(rng, n=8, legs=(1, 2))
    problem = joint_legs(data, Box.around(truth + rng.uniform(-1e-3, 1e-3, 14), 2e-3), (1, 2))
    method = JointHull(max_steps=1, chains=LiftedHull(rtol=0.5))
    answer = estimate(problem, method, strict=False)
    assert truth in answer.region
    for i, part in enumerate(problem.parts):
        alone = method.chains.estimate(part).region
        together = answer.region.lower[7 * i : 7 * i + 7], answer.region.upper[7 * i : 7 * i + 7]
        assert (together[0] >= alone.lower).all()
        assert (together[1] <= alone.upper).all()


def test_readings_that_only_together_contradict_each_other():
    """One pose twice; leg 1 says that the platform moved up between them, leg 2 that it did not."""
    q, p = np.tile([1.0, 0, 0, 0], (2, 1)), np.tile([0, 0, 0.5], (2, 1))
    data = PlatformMeasurements(q, p, [[0.1, 0.1], [0.101, 0.1]], 1e-3, 0, 1e-5)
    prior = Box(([0] * 6 + [0.3]) * 2, ([0] * 6 + [0.5]) * 2)
    problem = joint_legs(data, prior, (1, 2))
    assert all(part_ok is None for part_ok in map(refuted, problem.parts))
    assert JointHull().estimate(problem).status is Status.INCONSISTENT
    found = joint_tolerance(problem, np.tile([0, 0, 0, 0, 0, 0, 0.4], (2, 1)))
    # |ε| on each of two readings of each leg: half a millimetre must go somewhere
    assert found.lower <= 2.4e-4 <= found.upper + 1e-6
    assert found.upper - found.lower < 2e-5


def test_what_cannot_be_asked():
    data, truth = measured_platform(np.random.default_rng(0), n=8, legs=(1, 2))
    one = LegProblem(data.leg(0), Box.around(truth[:7], 1.0), 1)
    with pytest.raises(InputError, match="at least one chain"):
        JointProblem(())
    with pytest.raises(InputError, match="more than once"):
        JointProblem((one, one))
    others = LegMeasurements(data.quaternion, data.position, data.readings[:, 1], 1.0, 1.0, 1.0)
    with pytest.raises(InputError, match="poses and tolerances must be the same"):
        JointProblem((one, LegProblem(others, Box.around(truth[7:], 1.0), 2)))
    with pytest.raises(InputError, match="legs"):
        PlatformMeasurements(data.quaternion, data.position, data.readings[:, 0], 0, 0, 0)


def test_exhibited_poses_need_no_more_than_the_bracket_says(rng):
    problem, _ = leg_problem(rng, n=16, bad=3, around=0.02)
    found = minimal_tolerance(problem)
    assert exhibited(problem, found.point).needed == pytest.approx(found.upper, abs=1e-9)


def one_distance(readings):
    """A leg of which only l is unknown, read again and again with an interval of ± 1 mm: solved by sorting."""
    n = len(readings)
    q, p = np.tile([1.0, 0, 0, 0], (n, 1)), np.tile([0, 0, 0.4], (n, 1))
    return LegProblem(LegMeasurements(q, p, readings, 0, 0, 1e-3), Box([0] * 6 + [0.2], [0] * 6 + [0.4]))


def least_without(readings, q):
    """Half the range of the best n − q readings, less the interval; and who is left out."""
    some = [
        (np.ptp(np.delete(readings, out)) / 2 - 1e-3, out) for out in itertools.combinations(range(len(readings)), q)
    ]
    return min(some)


@pytest.mark.parametrize("q", [1, 2])
def test_a_relaxed_tolerance_is_the_least_over_all_choices(rng, q):
    readings = 0.1 + rng.uniform(-3e-3, 3e-3, 7)
    least, out = least_without(readings, q)
    found = relaxed_tolerance(one_distance(readings), q)
    assert found.left_out == out
    assert found.lower <= least <= found.upper + 1e-12
    assert found.upper - found.lower < 1.1e-6


@pytest.mark.parametrize("q", [1, 2])
def test_wrong_poses_are_those_that_every_choice_leaves_out(rng, q):
    readings = 0.1 + rng.uniform(-1e-4, 1e-4, 7)
    readings[:q] += [0.01, -0.02][:q]
    found = wrong_poses(one_distance(readings), q, (0, 1, 2))
    assert found.at_least == q
    assert found.named == tuple(range(q))
    more = wrong_poses(one_distance(readings + 0.01 * np.arange(7)), q, (0,))
    assert (more.at_least, more.named) == (q + 1, ())


def test_the_bad_pose_of_a_leg_is_named(rng):
    problem, _ = leg_problem(rng, n=24, bad=5, around=0.02)
    found = wrong_poses(problem, 1, (5, 6))
    assert (found.at_least, found.named) == (1, (5,))


def test_no_pose_is_wrong_where_all_fit(rng):
    problem, _ = leg_problem(rng, n=12, around=0.02)
    found = wrong_poses(problem, 1, (3,))
    assert (found.at_least, found.named, found.contradictions) == (0, (), ())
    with pytest.raises(InputError):
        wrong_poses(problem, -1)
    with pytest.raises(InputError):
        relaxed_tolerance(problem, 12)
