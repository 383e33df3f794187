"""Maximum likelihood on general equations: against other people's solvers, and the laws that every method obeys."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

from gough import (
    AssumptionError,
    Box,
    Claim,
    ConfidenceEllipsoid,
    Estimate,
    Gaussian,
    InputError,
    NonlinearProblem,
    Status,
    Unknowns,
    estimate,
)
from gough.methods import GaussNewton, MaximumLikelihood, cramer_rao_bound
from tests.laws.test_repeated import TRUE, leg_problem


def test_agrees_with_orthogonal_distance_regression(rng):
    odrpack = pytest.importorskip("odrpack")
    problem = leg_problem(rng, sigma=0.02)
    ours = estimate(problem, MaximumLikelihood()).value
    theirs = odrpack.odr_fit(
        lambda m, b: (m[0] - b[0]) ** 2 + (m[1] - b[1]) ** 2 - b[2] ** 2,
        problem.measured.T.copy(),
        np.zeros(len(problem.measured)),
        np.array([0.0, 0.0, 1.0]),
        task="implicit-ODR",
        partol=1e-12,
        sstol=1e-14,
        maxit=500,
    )
    assert ours == pytest.approx(theirs.beta, abs=1e-6)


def test_agrees_with_a_fit_over_all_true_points(rng):
    """Points on the circle are unknowns too, by an optimizer that knows nothing of the structure."""
    problem = leg_problem(rng, sigma=0.02, n=20)

    def away(unknowns):
        a, length, angles = unknowns[:2], unknowns[2], unknowns[3:]
        return (problem.measured - a - length * np.column_stack([np.cos(angles), np.sin(angles)])).ravel()

    d = problem.measured - TRUE[:2]
    start = np.concatenate([TRUE, np.arctan2(d[:, 1], d[:, 0])])
    theirs = scipy.optimize.least_squares(away, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    ours = estimate(problem, MaximumLikelihood())
    assert ours.value == pytest.approx(theirs.x[:3], abs=1e-6)
    assert ours.stats.chi_squared * ours.stats.dof == pytest.approx(2 * theirs.cost / 0.02**2, rel=1e-6)


def test_is_nearer_to_the_truth_than_linearization_at_noisy_points(rng):
    errors = {method: [] for method in (MaximumLikelihood(), GaussNewton())}
    for _ in range(40):
        problem = leg_problem(rng, sigma=0.05)
        for method, own in errors.items():
            own.append(estimate(problem, method).value - TRUE)
    bias = {type(m).__name__: abs(np.mean(e, axis=0) / np.std(e, axis=0)).max() for m, e in errors.items()}
    assert bias["MaximumLikelihood"] < 0.5
    assert bias["GaussNewton"] > 1.5


def test_sigma_is_honest_and_the_cramer_rao_bound(rng):
    errors, sigmas, inside = [], [], []
    for _ in range(120):
        answer = estimate(leg_problem(rng), MaximumLikelihood())
        errors.append(answer.value - TRUE)
        sigmas.append(answer.region.sigma)
        inside.append(TRUE in answer.region)
    empirical = np.sqrt(np.mean(np.square(errors), axis=0))
    assert np.sqrt(np.mean(np.square(sigmas), axis=0)) == pytest.approx(empirical, rel=0.15)
    assert 0.9 < np.mean(inside) < 0.99
    bound = np.sqrt(cramer_rao_bound(leg_problem(rng, sigma=1e-9), TRUE).diagonal()) * 1e6
    assert bound == pytest.approx(empirical, rel=0.2)


def test_what_it_reports(rng):
    answer = estimate(leg_problem(rng), MaximumLikelihood())
    stats = answer.stats
    assert answer.claim is Claim.CONFIDENCE
    assert answer.method == "MaximumLikelihood()"
    assert stats.aic == pytest.approx(2 * 3 - 2 * stats.log_likelihood)
    assert stats.bic == pytest.approx(3 * np.log(60) - 2 * stats.log_likelihood)
    assert Estimate.from_json(answer.to_json()) == answer
    assert answer.to_json() == estimate(leg_problem_again(), MaximumLikelihood()).to_json()


def leg_problem_again():
    import zlib

    name = "tests/methods/test_maximum_likelihood.py::test_what_it_reports"
    return leg_problem(np.random.default_rng(zlib.crc32(name.encode())))


def test_understated_noise_is_refuted_and_widens_sigma(rng):
    problem = leg_problem(rng)
    stated = estimate(problem, MaximumLikelihood())
    wrong = estimate(replace(problem, noise=Gaussian(problem.noise.covariance / 9)), MaximumLikelihood())
    assert wrong.value == pytest.approx(stated.value, abs=1e-9)
    assert wrong.stats.chi_squared_p < 1e-6
    assert any("refuted" in note for note in wrong.notes)
    assert wrong.region.sigma == pytest.approx(stated.region.sigma * np.sqrt(stated.stats.chi_squared), rel=1e-3)


def test_a_covariance_from_few_repeats_is_not_taken_for_known(rng):
    """χ² of noise that is 15 % too small by chance: refuted if the noise is known, not if 30 errors are behind it."""
    problem = leg_problem(rng, n=4000)
    noise = problem.noise.covariance * 0.85
    known, found = (
        estimate(replace(problem, noise=Gaussian(noise, dof)), MaximumLikelihood()).stats for dof in (np.inf, 30.0)
    )
    assert known.chi_squared_p < 1e-6
    assert found.chi_squared_p > 0.1


def test_nuisances_are_estimated_but_not_answered(rng):
    problem = leg_problem(rng)
    every = estimate(problem, MaximumLikelihood())
    some = estimate(replace(problem, nuisance=("ay",)), MaximumLikelihood())
    assert some.unknowns.names == ("ax", "l")
    assert some.value == pytest.approx(every.value[[0, 2]])
    assert some.region.covariance == pytest.approx(every.region.covariance[np.ix_([0, 2], [0, 2])])
    assert some.stats.nuisance == pytest.approx(every.value[1:2])
    assert estimate(replace(problem, nuisance=("ay",)), GaussNewton()).unknowns.names == ("ax", "l")


def test_masked_equations_do_not_count(rng):
    problem = leg_problem(rng)
    kept = np.ones((60, 1), dtype=bool)
    kept[::3] = False
    masked = estimate(replace(problem, kept=kept), MaximumLikelihood())
    fewer = estimate(replace(problem, measured=problem.measured[kept[:, 0]]), MaximumLikelihood())
    assert masked.value == pytest.approx(fewer.value, abs=1e-10)
    assert masked.region.covariance == pytest.approx(fewer.region.covariance)
    assert masked.stats.n_rows == fewer.stats.n_rows == 40


def test_fixed_unknowns_bounds_and_beliefs(rng):
    problem = leg_problem(rng)
    names, nominal = problem.unknowns.names, problem.unknowns.nominal

    def with_prior(prior):
        return estimate(replace(problem, unknowns=Unknowns(names, nominal=nominal, prior=prior)), MaximumLikelihood())

    fixed = with_prior(Box([-9, -9, 1.5], [9, 9, 1.5]))
    assert fixed.unknowns.names == ("ax", "ay")
    assert (abs(fixed.value - TRUE[:2]) < 5 * fixed.region.sigma).all()
    bounded = with_prior(Box([-9, -9, -9], [9, -0.21, 9]))
    assert bounded["ay"] == -0.21
    assert bounded.stats.prior_limited == ("ay",)
    loose = estimate(problem, MaximumLikelihood())
    believed = with_prior(ConfidenceEllipsoid([0, 0, 1.5], np.diag([1e6, 1e6, 1e-12])))
    assert believed["l"] == pytest.approx(1.5, abs=1e-5)
    assert believed.region.sigma[0] < 0.6 * loose.region.sigma[0]


def test_singular_not_converged_and_without_start_or_noise(rng):
    assert estimate(leg_problem(rng, n=1), MaximumLikelihood(), strict=False).status is Status.SINGULAR
    few = estimate(leg_problem(rng), MaximumLikelihood(max_steps=1), strict=False)
    assert few.status is Status.MAX_STEPS
    with pytest.raises(AssumptionError, match="nominal"):
        estimate(leg_problem(rng, nominal=None), MaximumLikelihood())
    with pytest.raises(AssumptionError, match="noise_from_repeats"):
        estimate(replace(leg_problem(rng), noise=Gaussian()), MaximumLikelihood())
    with pytest.raises(InputError, match="shape"):
        estimate(replace(leg_problem(rng), noise=Gaussian(np.eye(3))), MaximumLikelihood())


def test_what_a_problem_refuses(rng):
    problem = leg_problem(rng)
    with pytest.raises(InputError, match="no unknown is called 'az'"):
        replace(problem, nuisance=("az",))
    with pytest.raises(InputError, match="nothing is left to ask for"):
        replace(problem, nuisance=problem.unknowns.names)
    for wrong in (np.ones((59, 1), dtype=bool), np.zeros((60, 1), dtype=bool), np.ones((60, 1))):
        with pytest.raises(InputError, match="kept must be true or false"):
            replace(problem, kept=wrong)
    with pytest.raises(InputError, match="degrees of freedom must be positive"):
        Gaussian(1.0, dof=0)


class Level:
    """m = a, one reading at a time."""

    def residuals(self, theta, measured):
        return measured - theta

    def jacobians(self, theta, measured):
        return np.full((len(measured), 1, 1), -1.0), np.ones((len(measured), 1, 1))


def test_residuals_that_remember_widen_sigma(rng):
    """The mean of a moving average over 5 readings has five times the variance of white noise."""
    errors, sigmas = [], []
    for _ in range(40):
        e = np.convolve(rng.normal(size=2004), np.ones(5) / np.sqrt(5), "valid")
        problem = NonlinearProblem(Level(), e[:, None], Unknowns(["a"], nominal=[1.0]), Gaussian(1.0))
        answer = estimate(problem, MaximumLikelihood())
        errors.append(answer.value[0])
        sigmas.append(answer.region.sigma[0])
    assert np.mean(sigmas) * np.sqrt(2000) == pytest.approx(np.sqrt(5), rel=0.1)
    assert any("autocorrelated over" in note for note in answer.notes)
    assert np.std(errors) == pytest.approx(np.mean(sigmas), rel=0.3)
