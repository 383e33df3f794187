"""The lifted hull keeps the truth, contracts from metres, and refutes what is not there."""

import numpy as np
import pytest

from gough import Box, Claim, Status, estimate
from gough.closure.certified_leg import LegProblem
from gough.methods import Fixpoint
from gough.methods.nonlinear.lifted import LiftedHull, blame
from tests.methods.legs import leg_problem, measured_leg


@pytest.mark.parametrize("seed", range(20))
def test_the_truth_is_kept_and_the_box_small(seed):
    rng = np.random.default_rng(seed)
    problem, truth = leg_problem(rng, around=[0.01, 0.1, 1.0, 10.0][seed % 4], leg=1 + seed % 6)
    answer = estimate(problem, LiftedHull())
    assert truth in answer.region
    assert answer.claim is Claim.PROOF
    assert (answer.region.width < 0.03).all()


def test_never_widens_and_is_repeatable(rng):
    problem, truth = leg_problem(rng)
    once = LiftedHull().contract(problem, problem.prior)
    assert truth in once
    assert once <= problem.prior
    assert once == LiftedHull().contract(problem, problem.prior)
    assert LiftedHull().contract(problem, once) <= once


def test_the_start_does_not_matter(rng):
    problem, truth = leg_problem(rng, around=0.01)
    near = estimate(problem, LiftedHull()).region
    far = estimate(LegProblem(problem.data, Box.around(truth, 5.0)), LiftedHull()).region
    np.testing.assert_allclose(far.width, near.width, rtol=1e-3)


def test_in_a_fixpoint(rng):
    problem, truth = leg_problem(rng)
    answer = Fixpoint(LiftedHull()).estimate(problem)
    assert truth in answer.region
    assert answer.claim is Claim.PROOF
    np.testing.assert_allclose(answer.region.width, estimate(problem, LiftedHull()).region.width, rtol=1e-2)


def test_more_poses_give_smaller_boxes(rng):
    problem, truth = leg_problem(rng, n=320)
    many = estimate(problem, LiftedHull()).region
    few = estimate(problem.select(slice(0, 64)), LiftedHull()).region
    assert truth in many
    assert (many.width < few.width).all()


def test_feasible_points_stay_inside(rng):
    """Legs that fit with errors at most as large as allowed are consistent, and none of them is lost."""
    data, truth = measured_leg(rng)
    roomy = LegProblem(data.widened(1e-3), Box.around(truth, 0.1))
    region = estimate(roomy, LiftedHull()).region
    for _ in range(50):
        step = rng.normal(size=7)
        point = truth + 4e-4 * step / np.linalg.norm(step)  # moves each length by less than 1 mm
        assert point in region


@pytest.mark.parametrize("fault", [{"scale": 0.02}, {"bad": 21}, {"backlash": 3e-3}])
def test_faults_are_refuted(rng, fault):
    problem, _ = leg_problem(rng, **fault)
    answer = estimate(problem, LiftedHull(), strict=False)
    assert answer.status is Status.INCONSISTENT
    assert answer.region.is_empty
    assert "No value of the unknowns" in answer.notes[0]


def test_the_bad_pose_is_blamed_first(rng):
    problem, _ = leg_problem(rng, bad=21)
    answer = estimate(problem, LiftedHull(), strict=False)
    weights = blame(answer.stats.stages[-1], problem.n_rows)
    assert weights[0][0] == 21


def test_fixed_unknowns_stay_fixed(rng):
    data, truth = measured_leg(rng)
    lower, upper = truth - 0.05, truth + 0.05
    lower[:3] = upper[:3] = truth[:3]
    answer = estimate(LegProblem(data, Box(lower, upper)), LiftedHull())
    assert truth in answer.region
    assert (answer.region.width[:3] == 0).all()
    free = estimate(LegProblem(data, Box.around(truth, 0.05)), LiftedHull())
    assert (answer.region.width[3:] < free.region.width[3:]).all()


def test_an_unbounded_prior_is_left_alone(rng):
    data, _ = measured_leg(rng)
    answer = estimate(LegProblem(data, Box.unbounded(7)), LiftedHull(), strict=False)
    assert answer.status is Status.UNBOUNDED
