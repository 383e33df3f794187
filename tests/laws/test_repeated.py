"""Gauss–Newton as a repeated linear method: one chain of a planar robot calibrated from noisy poses."""

import numpy as np
import pytest
import scipy.optimize

from gough import AssumptionError, Claim, Gaussian, NonlinearProblem, Status, Unknowns, estimate
from gough.methods import GaussMarkov, GaussNewton

TRUE = np.array([0.1, -0.2, 1.5])


class Leg:
    """|p − a|² = l²: p is measured, the anchor a and the length l are unknown."""

    def residuals(self, theta, measured):
        return ((measured - theta[:2]) ** 2).sum(axis=1, keepdims=True) - theta[2] ** 2

    def jacobians(self, theta, measured):
        d = measured - theta[:2]
        by_theta = np.column_stack([-2 * d, np.full(len(d), -2 * theta[2])])
        return by_theta[:, None, :], 2 * d[:, None, :]


def leg_problem(rng, *, sigma=1e-3, n=60, nominal=(0.0, 0.0, 1.0)):
    angle = rng.uniform(0, 2, n)
    points = TRUE[:2] + TRUE[2] * np.column_stack([np.cos(angle), np.sin(angle)])
    measured = points + sigma * rng.normal(size=points.shape)
    return NonlinearProblem(Leg(), measured, Unknowns(["ax", "ay", "l"], ["m"] * 3, nominal), Gaussian(sigma**2))


def test_finds_the_truth_within_its_sigma(rng):
    answer = estimate(leg_problem(rng), GaussNewton(GaussMarkov()))
    assert answer.claim is Claim.CONFIDENCE
    assert (abs(answer.value - TRUE) < 5 * answer.region.sigma).all()
    assert answer.method == "GaussNewton()"


def test_agrees_with_another_optimizer(rng):
    problem = leg_problem(rng)
    ours = estimate(problem, GaussNewton()).value

    def weighted(theta):
        f = problem.equations.residuals(theta, problem.measured)[:, 0]
        J = problem.equations.jacobians(ours, problem.measured)[1][:, 0]
        return f / np.linalg.norm(J, axis=1)

    theirs = scipy.optimize.least_squares(weighted, TRUE, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    assert ours == pytest.approx(theirs, rel=1e-7)


def test_sigma_is_honest(rng):
    errors, sigmas = [], []
    for _ in range(200):
        answer = estimate(leg_problem(rng), GaussNewton())
        errors.append(answer.value - TRUE)
        sigmas.append(answer.region.sigma)
    ratio = np.sqrt(np.mean(np.square(sigmas), axis=0) / np.mean(np.square(errors), axis=0))
    assert ratio == pytest.approx(np.ones(3), abs=0.15)


def test_needs_a_starting_point(rng):
    problem = leg_problem(rng, nominal=None)
    with pytest.raises(AssumptionError, match="nominal"):
        estimate(problem, GaussNewton())


def test_not_converged_is_said(rng):
    answer = estimate(leg_problem(rng), GaussNewton(max_steps=1), strict=False)
    assert answer.status is Status.MAX_STEPS


def test_one_measured_pose_is_singular(rng):
    problem = leg_problem(rng, n=1)
    assert estimate(problem, GaussNewton(), strict=False).status is Status.SINGULAR
