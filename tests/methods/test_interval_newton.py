"""Interval Newton keeps the truth, contracts from millimetres, and is never better than the lifted hull."""

import numpy as np
import pytest

from gough import Box, Claim, Status
from gough.closure.certified_leg import LegProblem
from gough.core import intervals as iv
from gough.core.intervals import Interval
from gough.core.rotations import exp
from gough.methods import Fixpoint, GaussSeidel, LinearHull, Then
from gough.methods.nonlinear.interval_newton import IntervalNewton
from gough.methods.nonlinear.lifted import LiftedHull
from tests.closure.test_certified_leg import hostile_leg
from tests.methods.legs import measured_leg

ALL = [IntervalNewton(), IntervalNewton(krawczyk=True), IntervalNewton(GaussSeidel())]


@pytest.mark.parametrize("newton", ALL, ids=repr)
def test_keeps_the_truth_and_the_lifted_hull(newton):
    for seed, around in enumerate((5e-4, 2e-3, 5e-3)):
        rng = np.random.default_rng(seed)
        data, truth = measured_leg(rng, leg=1 + seed)
        problem = LegProblem(data, Box.around(truth + rng.uniform(-0.5, 0.5, 7) * around, around))
        answer = Fixpoint(newton, max_steps=5).estimate(problem)
        assert truth in answer.region
        assert answer.claim is Claim.PROOF
        assert LiftedHull().estimate(problem).region <= answer.region
        assert answer.region <= problem.prior


def test_contracts_from_millimetres_and_not_from_centimetres(rng):
    data, truth = measured_leg(rng)
    near = LegProblem(data, Box.around(truth, 5e-3))
    assert (Fixpoint(IntervalNewton()).estimate(near).region.width < 0.9 * near.prior.width).any()
    far = LegProblem(data, Box.around(truth, 0.1))
    assert IntervalNewton().contract(far, far.prior) == far.prior


def test_oettli_prager_is_at_least_as_tight_as_krawczyk(rng):
    data, truth = measured_leg(rng)
    problem = LegProblem(data, Box.around(truth + 1e-3 * rng.uniform(-1, 1, 7), 3e-3))
    chords, constant = (IntervalNewton(LinearHull(), k).contract(problem, problem.prior) for k in (False, True))
    assert (chords.width <= constant.width * (1 + 1e-9)).all()


@pytest.mark.parametrize("newton", ALL, ids=repr)
def test_refutes_a_bad_pose(rng, newton):
    data, truth = measured_leg(rng, bad=21)
    answer = Fixpoint(newton).estimate(LegProblem(data, Box.around(truth, 5e-4)))
    assert answer.status is Status.INCONSISTENT


def test_composes(rng):
    data, truth = measured_leg(rng)
    problem = LegProblem(data, Box.around(truth, 0.1))
    both = Then(LiftedHull(), IntervalNewton())
    assert both.claim is Claim.PROOF
    assert truth in both.contract(problem, problem.prior)


@pytest.mark.parametrize("size", [1e-4, 1e-2, 0.3])
def test_the_linearization_encloses_the_equations(rng, size):
    """At random points of the box and random data within tolerances, in floating point with room for its rounding."""
    data, truth = hostile_leg(rng, size)
    box = Box.around(truth, size)
    problem = LegProblem(data, box)
    center = truth + size * rng.uniform(-0.5, 0.5, 7)
    value, slope = problem.linearization(center, box)
    for _ in range(200):
        x = (
            rng.choice([box.lower, box.upper, center], axis=0)
            if rng.random() < 0.3
            else rng.uniform(box.lower, box.upper)
        )
        errors = rng.choice([-1.0, 1.0], size=(len(data), 7)) * rng.random((len(data), 1)) ** 0.2
        R = exp(errors[:, :3] * data.rotation_tolerance) @ problem.rotation.mid
        seen = R @ x[3:6] + data.position + errors[:, 3:6] * data.position_tolerance - x[:3]
        f = (seen**2).sum(axis=1) - (data.reading + errors[:, 6] * data.reading_tolerance + x[6]) ** 2
        enclosed = value + iv.sum(slope * (Interval(x) - center))
        assert (enclosed.lower - 1e-12 <= f).all()
        assert (f <= enclosed.upper + 1e-12).all()
