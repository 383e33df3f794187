"""All chains of deltas, H4, Par4 and 3-RRR with shared errors of poses: rows, brackets, wrong poses, certificates."""

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from benchmarks.certified_chain import HOMES, ROBOTS, measured, problem_of
from gough import Box, InputError, Status
from gough.checker import check_chains
from gough.checker.of_chain import empty_certificate, outlier_certificate, witness_certificate
from gough.closure import (
    JointHull,
    JointProblem,
    Tolerances,
    certified_chain,
    joint_tolerance,
    minimal_tolerance,
    quadratic_unknowns,
    relaxed_tolerance,
    wrong_poses,
)
from gough.closure.fits import best_point, excess, exhibited, needed_by
from gough.closure.tolerance import refuted
from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import LinearDelta, PlanarRRR, RotaryDelta
from tests.closure.test_certified_leg import lifted

each_robot = pytest.mark.parametrize("model", ROBOTS, ids=lambda m: m.name)


def ball(x):
    return flint.arb(flint.fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else x


def misses(model, x, pose, q):
    """|d|² − l² of a chain with unknowns x, at a pose (x, y, z, heading) and a reading: the geometry, in balls."""
    x, (px, py, pz, heading), q = [ball(v) for v in x], [ball(v) for v in pose], ball(q)
    if isinstance(model, LinearDelta):
        d = [px - x[0], py - x[1], pz + q - x[2]]
        return sum(v * v for v in d) - x[3] ** 2
    c, s = q.cos(), q.sin()
    if isinstance(model, PlanarRRR):
        d = [px - x[0] - c * x[2] + s * x[3], py - x[1] - s * x[2] - c * x[3], flint.arb(0)]
    else:
        d = [v - x[i] - c * x[3 + i] - s * x[6 + i] for i, v in enumerate((px, py, pz))]
    if model.has_orientation:
        c, s, (u, v) = heading.cos(), heading.sin(), x[-3:-1]
        d[0], d[1] = d[0] + c * u - s * v, d[1] + s * u + c * v
    return sum(v * v for v in d) - x[-1] ** 2


def exact_reading(model, x, pose, near):
    """A double within 1e-12 of a reading with which the chain closes exactly: the sign changes between both ends."""
    q, w = near, Fraction(1, 10**12)
    for _ in range(20):
        value = float(misses(model, x, pose, Fraction(q)).mid())
        ends = [float(misses(model, x, pose, Fraction(q) + e).mid()) for e in (-Fraction(1, 10**7), Fraction(1, 10**7))]
        q -= value / ((ends[1] - ends[0]) / 2e-7)
    below, above = (misses(model, x, pose, Fraction(q) + e) for e in (-w, w))
    assert bool(below * above < 0)
    return q


def simulated(model, rng, size, n=4):
    """Chains in exact numbers, and poses whose shared errors (N, 4) are known exactly; readings within tolerances.

    Errors are up to `size`, m or rad, those of readings up to half of it and up to a part that `widened` must cover.
    """
    free = np.isin(range(6), model.freedoms)
    p = [0, 0, HOMES[model.name]] + free[:3] * rng.uniform(-0.1, 0.1, (n, 3)) * 0.8
    seen = exp(np.outer(rng.uniform(-0.6, 0.6, n) * free[5], [0, 0, 1]))
    errors = size * np.hstack([rng.choice([-1, 1, 0.3], (n, 3)), rng.choice([-1, 1, 0.3], (n, 1))]) * free[[0, 1, 2, 5]]
    heading = np.arctan2(seen[:, 1, 0], seen[:, 0, 0])
    poses = [[Fraction(v) + Fraction(e) for v, e in zip([*p[k], heading[k]], errors[k], strict=True)] for k in range(n)]
    moved = np.array([[float(v) for v in pose] for pose in poses])
    near = model.inverse(model.nominal, moved[:, :3], exp(np.outer(moved[:, 3], [0, 0, 1])))
    template = measured(model, rng, 1)
    truth, readings = [], np.empty((n, len(model.chains)))
    for i in range(len(model.chains)):
        problem, x = problem_of(model, template, 0.1, rng, i + 1)
        truth.append(problem.exact(x))
        for k in range(n):
            readings[k, i] = exact_reading(model, truth[i], poses[k], float(near[k, i]))
    off = 0.999 * size * rng.choice([-1, 1], readings.shape)  # 1e-12 and rounding are less than what is left
    shared = errors[:, [0, 1, 3]] if isinstance(model, PlanarRRR) else errors[:, : 4 if free[5] else 3]
    return truth, Poses(p, seen, readings + off), shared


@each_robot
@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.03])
def test_rows_hold_exactly_for_the_errors_that_were_made(model, size, rng):
    """Both kinds of rows in boxes from micrometres to decimetres, readings as stated or widened to what they are."""
    truth, poses, errors = simulated(model, rng, size)
    for i, x in enumerate(truth):
        values, n = np.array([float(v) for v in x]), len(poses)
        prior = Box(np.append(values[:-1] - 1.0, 0.0), values + 1.0)
        stated = rng.choice([1.0, 0.5])
        problem = certified_chain(model, poses, i + 1, prior, Tolerances(size, stated * size, size))
        problem = problem if stated == 1 else problem.widened(0.5 * size)
        assert (abs(errors) <= problem.tolerance[:, problem.shared]).all()
        for reach in (1e-6, 1e-3, 0.1):
            radius = reach * rng.random(len(x))
            center = values + rng.uniform(-0.9, 0.9, len(x)) * radius
            radius += 1e-15
            h = [v - Fraction(c) for v, c in zip(x, center.tolist(), strict=True)]
            assert all(abs(v) <= Fraction(r) for v, r in zip(h, radius.tolist(), strict=True))
            y = lifted(problem.products, h)
            for rows, more in (
                (problem.relaxation(center, radius), ()),
                (problem.shared_relaxation(center, radius), errors),
            ):
                assert len(rows.b) == 2 * problem.n_rows
                for number, (row, side) in enumerate(zip(rows.A.tolist(), rows.b.tolist(), strict=True)):
                    k = min(number % problem.n_rows, n - 1)  # conditions have zeros for the errors
                    full = [*y, *(map(Fraction, more[k].tolist()) if len(more) else ())]
                    assert sum(Fraction(a) * v for a, v in zip(row, full, strict=True)) <= Fraction(side)


@each_robot
def test_the_truth_fits_together_and_no_row_of_the_joint_relaxation_forbids_it(model, rng):
    """The joint rows, as the program has them, in exact numbers; and the joint box keeps the truth."""
    truth, poses, errors = simulated(model, rng, 1e-4, n=3)
    parts = []
    for i, x in enumerate(truth):
        values = np.array([float(v) for v in x])
        parts.append(certified_chain(model, poses, i + 1, Box.around(values, 1e-3), Tolerances(1e-4, 1e-4, 1e-4)))
    problem = JointProblem(tuple(parts))
    center, radius = problem.prior.center + 1e-5, np.full(len(problem.prior), 1.1e-3)
    rows = problem.relaxation(center, radius)
    y = []
    for part, at in problem:
        h = [v - Fraction(c) for v, c in zip(truth[part.chain - 1], center[at].tolist(), strict=True)]
        y += lifted(part.products, h)
    y += [Fraction(e) for e in errors.reshape(-1).tolist()]
    assert all(Fraction(a) <= v <= Fraction(b) for a, v, b in zip(rows.box.lower, y, rows.box.upper, strict=True))
    left = [Fraction(0)] * len(rows.b)
    for row, column, value in zip(rows.A.row.tolist(), rows.A.column.tolist(), rows.A.value.tolist(), strict=True):
        left[row] += Fraction(value) * y[column]
    assert all(a <= Fraction(b) for a, b in zip(left, rows.b.tolist(), strict=True))
    assert JointHull(bounds=False, max_steps=1).estimate(problem).status is not Status.INCONSISTENT


def backlash(model, size, n=30, seed=3):
    rng = np.random.default_rng(seed)
    poses = measured(model, rng, n)
    poses = replace(poses, readings=poses.readings + rng.uniform(-size, size, poses.readings.shape))
    return JointProblem(tuple(problem_of(model, poses, 0.005, rng, k + 1)[0] for k in range(len(model.chains))))


@pytest.mark.parametrize("model", [ROBOTS[0], ROBOTS[2], ROBOTS[4]], ids=lambda m: m.name)
def test_backlash_that_each_chain_absorbs_is_refuted_for_all_together(model):
    """Each chain fits by itself with other errors of the poses than its neighbours need; certificates of both hold."""
    problem = backlash(model, 1e-4 if isinstance(model, LinearDelta) else 2e-4)
    alone = [minimal_tolerance(part) for part in problem.parts]
    assert all(bracket.is_consistent for bracket in alone)
    together = joint_tolerance(problem, np.concatenate([bracket.point for bracket in alone]))
    assert 0 < together.lower < together.upper < 1e-4
    assert check_chains(empty_certificate(problem, together.tree, more=together.lower), problem).holds
    values = [v for part, at in problem for v in part.exact(together.points[at])]
    certificate = witness_certificate(problem, values, together.exhibit.errors, more=together.upper)
    assert certificate.more == together.upper  # no slack: the need was computed with every rounding enclosed
    assert check_chains(certificate, problem).holds


def test_chains_that_fit_together_are_exhibited():
    problem = backlash(RotaryDelta(), 0.0, n=12)
    start = np.concatenate([best_point(part, part.prior.center)[0] for part in problem.parts])
    together = joint_tolerance(problem, start)
    assert together.is_consistent
    assert (abs(together.exhibit.errors) <= problem.tolerance).all()
    values = [v for part, at in problem for v in part.exact(together.points[at])]
    assert check_chains(witness_certificate(problem, values, together.exhibit.errors), problem).holds


def rod_of_one_length(readings, tolerance=1e-3):
    """A vertical rod, of which only the length is unknown: |reading − carriage| = l, which sorting solves."""
    n = len(readings)
    poses = Poses(np.zeros((n, 3)), None, np.column_stack([readings, readings, readings]))
    prior = Box([0.0, 0.0, 0.7, 0.2], [0.0, 0.0, 0.7, 0.6])
    return certified_chain(LinearDelta(), poses, 1, prior, Tolerances(0.0, tolerance))


@pytest.mark.parametrize("q", [0, 1])
def test_the_bracket_of_a_rod_is_the_least_over_all_choices(rng, q):
    readings = 0.3 + rng.uniform(-3e-3, 3e-3, 5)
    ordered = np.sort(readings)
    least = min(np.ptp(ordered[i : 5 - q + i]) / 2 - 1e-3 for i in range(q + 1))
    problem = rod_of_one_length(readings)
    bracket = relaxed_tolerance(problem, q) if q else minimal_tolerance(problem)
    assert bracket.lower <= least + 1e-15
    assert least <= bracket.upper + 1e-15
    assert bracket.upper - bracket.lower < 1e-5
    if not q:
        assert check_chains(empty_certificate(problem, bracket.tree, more=bracket.lower), problem).holds


@each_robot
def test_a_wrong_pose_is_named_and_the_others_are_not(model):
    rng = np.random.default_rng(5)
    poses = measured(model, rng, 14 if isinstance(model, LinearDelta) else 10)
    off = poses.position.copy()
    off[5] += [0.006, 0.004, 0.005]
    problem, _ = problem_of(model, replace(poses, position=off), 0.01, rng)
    result = wrong_poses(problem, 1, (4, 5, 6))
    assert (result.at_least, result.named) == (1, (5,))
    certificate = outlier_certificate(problem, result.contradictions, at_least=1, q=1, outliers=(5,))
    assert check_chains(certificate, problem).holds
    if isinstance(model, LinearDelta):
        relaxed = relaxed_tolerance(problem, 1)
        assert relaxed.left_out == (5,)
        assert relaxed.upper <= 0


@each_robot
def test_no_pose_is_wrong_where_a_chain_fits(model, rng):
    problem, _ = problem_of(model, measured(model, rng, 12), 0.01, rng)
    result = wrong_poses(problem, 1, (3,))
    assert (result.at_least, result.named, result.contradictions) == (0, (), ())
    assert refuted(problem, 1) is None


@each_robot
def test_what_a_point_needs_suffices_and_is_exhibited(model, rng):
    problem, truth = problem_of(model, measured(model, rng, 10), 0.05, rng)
    assert excess(problem, truth).max() <= 0
    moved = np.array([float(v) for v in problem.exact(truth + rng.normal(0, 1e-4, len(truth)))])
    epsilon = needed_by(problem, moved)
    assert excess(problem.widened(epsilon), moved).max() <= 0
    assert epsilon == -3e-5 or excess(problem.widened(epsilon - 2e-12), moved).max() > 0
    for condition in problem.conditions:
        x = problem.exact(moved)
        assert sum(Fraction(c) * x[i] * x[j] for (i, j), c in condition.items()) == 0
    exhibit = exhibited(problem, moved)
    assert exhibit.needed >= epsilon - 2e-12
    values = problem.exact(moved)
    certificate = witness_certificate(problem, values, exhibit.errors, more=max(exhibit.needed, 0.0))
    assert check_chains(certificate, problem).holds


def test_chains_share_poses_and_tolerances(rng):
    model = LinearDelta()
    poses = measured(model, rng, 5)
    one, two = (problem_of(model, poses, 0.01, rng, k)[0] for k in (1, 2))
    with pytest.raises(InputError, match="at least one"):
        JointProblem(())
    with pytest.raises(InputError, match="more than once"):
        JointProblem((one, one))
    with pytest.raises(InputError, match="same for all"):
        JointProblem((one, two.select([0, 1, 2])))
    wider = replace(two, tolerance=2 * two.tolerance)
    with pytest.raises(InputError, match="same for all"):
        JointProblem((one, wider))
    assert len(JointProblem((one, two.widened(1e-3))).prior) == 8
    assert quadratic_unknowns(model, model.nominal, 2) in two.prior
