"""The bracket of the smallest tolerance: its upper end is attained, its lower end refuted, faults are named."""

import numpy as np
import pytest

from gough import Box, InputError, Status, estimate
from gough.checker import chain_certificate, check_chains
from gough.closure.certified_leg import LegProblem
from gough.closure.fits import excess
from gough.closure.tolerance import minimal_tolerance, poses_to_blame
from gough.core.rotations import exp
from gough.methods.nonlinear.lifted import LiftedHull
from tests.closure.test_certified_leg import hostile_leg
from tests.methods.legs import leg_problem


@pytest.mark.parametrize(
    "fault", [{"backlash": 1e-3}, {"scale": 0.02, "leg": 3}, {"bad": 21}, {"backlash": 3e-3, "around": 1.0}]
)
def test_the_bracket_of_a_faulty_leg(rng, fault):
    problem, _ = leg_problem(rng, **fault)
    found = minimal_tolerance(problem)
    assert found.is_inconsistent
    assert 0 < found.lower < found.upper <= found.lower + 1.001e-6
    assert found.point in problem.prior
    assert found.upper == excess(problem, found.point).max()
    below = estimate(problem.widened(found.lower), LiftedHull(), strict=False)
    assert below.status is Status.INCONSISTENT
    enough = estimate(problem.widened(found.upper), LiftedHull(), strict=False)
    assert found.point in enough.region


def test_the_lower_end_has_a_certificate(rng):
    problem, _ = leg_problem(rng, bad=21)
    below = problem.widened(minimal_tolerance(problem).lower)
    certificate = chain_certificate(below, estimate(below, LiftedHull(), strict=False))
    verdict = check_chains(certificate, below)
    assert verdict
    assert verdict.kind == "ChainEmpty"


def test_consistent_measurements_are_recognized(rng):
    problem, _ = leg_problem(rng)
    found = minimal_tolerance(problem)
    assert found.is_consistent
    assert not found.is_inconsistent


def test_the_bad_pose_is_named_and_its_removal_helps(rng):
    problem, _ = leg_problem(rng, bad=21)
    assert minimal_tolerance(problem).poses[0][0] == 21
    [(pose, without)] = poses_to_blame(problem)
    assert pose == 21
    assert without.is_consistent


def test_reach_is_attained_by_exhibited_measurements(rng):
    """Independently, in floating point: what is called attainable is attained by some measurement, up to rounding."""
    size = 5e-3
    data, truth = hostile_leg(rng, size)
    problem = LegProblem(data, Box.around(truth, 0.1))
    short, long = excess(problem, truth).reshape(2, -1)
    near, far = (
        data.reading + truth[6] + part for part in (short + data.reading_tolerance, -long - data.reading_tolerance)
    )
    R, p, b = problem.rotation.mid, data.position - truth[:3], truth[3:6]
    assert (near < far).all()
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 6)).reshape(6, -1).T
    lengths = np.array(
        [
            np.linalg.norm((exp(c[:3] * data.rotation_tolerance) @ R) @ b + p + c[3:] * data.position_tolerance, axis=1)
            for c in corners
        ]
    )
    assert (near >= lengths.min(axis=0) - 1e-12).all()
    assert (far <= lengths.max(axis=0) + 1e-12).all()
    np.testing.assert_allclose(near, lengths.min(axis=0), atol=6 * size**2)  # of second order
    np.testing.assert_allclose(far, lengths.max(axis=0), atol=6 * size**2)


def test_a_true_leg_needs_no_more_than_stated(rng):
    for size in (1e-4, 1e-2):
        data, truth = hostile_leg(rng, size)
        problem = LegProblem(data, Box.around(truth, 0.1))
        # the two exhibited measurements reach nearly as far as any, so that little more than the tolerance is needed
        assert excess(problem, truth).max() <= 3 * size**2


def test_what_cannot_be_asked(rng):
    data, truth = hostile_leg(rng, 1e-3)
    with pytest.raises(InputError, match="finite"):
        minimal_tolerance(LegProblem(data, Box.unbounded(7)))
    with pytest.raises(InputError, match="positive"):
        minimal_tolerance(LegProblem(data, Box.around(truth, 1.0)), width=0.0)
