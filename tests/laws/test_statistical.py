"""Laws of every statistical method."""

from dataclasses import replace

import numpy as np
import pytest

from gough import Box, Claim, Gaussian, LinearProblem, Status, Unknowns, estimate
from gough.core.text import written
from gough.methods import GaussMarkov
from tests.laws.problems import STATISTICAL_METHODS, gaussian_problem

every_method = pytest.mark.parametrize("method", STATISTICAL_METHODS, ids=written)


@every_method
def test_finds_the_truth(method, rng):
    problem, theta = gaussian_problem(rng)
    answer = estimate(problem, method)
    assert answer.status is Status.OK
    assert answer.claim is Claim.CONFIDENCE
    assert (abs(answer.value - theta) < 5 * answer.region.sigma).all()


@every_method
def test_is_exact_without_noise(method, rng):
    problem, theta = gaussian_problem(rng)
    problem = replace(problem, y=problem.W @ theta)
    answer = estimate(problem, method)
    scale = np.linalg.norm(problem.W, axis=0)
    assert abs((answer.value - theta) * scale).max() <= 1e-12 * abs(theta * scale).max()


@pytest.mark.parametrize("method", [one for one in STATISTICAL_METHODS if hasattr(one, "solution")], ids=written)
def test_a_solution_has_the_values_of_the_estimate(method, rng):
    problem, _ = gaussian_problem(rng)
    solution = method.solution(problem)
    np.testing.assert_array_equal(solution.theta[solution.columns], estimate(problem, method).value)


@every_method
def test_same_input_same_bits(method, rng):
    problem, _ = gaussian_problem(rng)
    assert estimate(problem, method).to_json() == estimate(problem, method).to_json()


@every_method
def test_units_do_not_matter(method, rng):
    """Unknowns counted in other units (powers of two, so that nothing rounds) give the same answer in those units."""
    problem, _ = gaussian_problem(rng)
    factor = 2.0 ** rng.integers(-30, 30, len(problem.unknowns))
    other = replace(problem, W=problem.W * factor)
    a, b = estimate(problem, method), estimate(other, method)
    assert b.value * factor == pytest.approx(a.value, rel=1e-10)
    assert b.region.sigma * factor == pytest.approx(a.region.sigma, rel=1e-9)


@every_method
def test_unit_of_the_measurement_scales_the_answer(method, rng):
    problem, _ = gaussian_problem(rng)
    other = replace(problem, y=problem.y * 1024, noise=Gaussian(problem.noise.covariance * 1024**2))
    a, b = estimate(problem, method), estimate(other, method)
    assert b.value == pytest.approx(1024 * a.value, rel=1e-9)
    assert b.region.sigma == pytest.approx(1024 * a.region.sigma, rel=1e-8)


@every_method
def test_order_of_unknowns_does_not_matter(method, rng):
    problem, _ = gaussian_problem(rng)
    order = rng.permutation(len(problem.unknowns))
    names = [problem.unknowns.names[i] for i in order]
    other = replace(problem, W=problem.W[:, order], unknowns=Unknowns(names))
    a, b = estimate(problem, method), estimate(other, method)
    for name in names:
        assert b[name] == pytest.approx(a[name], rel=1e-9)


@every_method
def test_order_of_groups_does_not_matter(method, rng):
    problem, _ = gaussian_problem(rng)
    swap = np.arange(problem.n_rows).reshape(-1, 2)[:, ::-1].reshape(-1)
    other = LinearProblem(
        problem.W[swap], problem.y[swap], problem.unknowns, Gaussian(problem.noise.covariance[::-1, ::-1]), ("y", "x")
    )
    a, b = estimate(problem, method), estimate(other, method)
    assert b.value == pytest.approx(a.value, rel=1e-8)
    assert b.region.sigma == pytest.approx(a.region.sigma, rel=1e-6)


@every_method
def test_repeating_all_data_halves_the_variance(method, rng):
    problem, _ = gaussian_problem(rng, n_samples=2000)
    twice = replace(problem, W=np.vstack([problem.W] * 2), y=np.concatenate([problem.y] * 2))
    a, b = estimate(problem, method), estimate(twice, method)
    assert b.value == pytest.approx(a.value, rel=1e-6)
    assert b.region.sigma * np.sqrt(2) == pytest.approx(a.region.sigma, rel=0.02)


@every_method
def test_a_fixed_unknown_stays_where_it_was_put(method, rng):
    problem, theta = gaussian_problem(rng)
    bounds = np.tile([[-np.inf], [np.inf]], (1, len(theta)))
    bounds[:, 1] = theta[1]
    names = problem.unknowns.names
    answer = estimate(replace(problem, unknowns=Unknowns(names, prior=Box(*bounds))), method)
    assert answer.unknowns.names == (names[0], *names[2:])
    free = [i for i in range(len(theta)) if i != 1]
    assert (abs(answer.value - theta[free]) < 5 * answer.region.sigma).all()


@every_method
def test_bounds_hold_and_are_reported(method, rng):
    problem, theta = gaussian_problem(rng)
    loose = estimate(problem, method)
    upper = np.full(len(theta), np.inf)
    upper[2] = theta[2] - 10 * loose.region.sigma[2]
    prior = Box(np.full(len(theta), -np.inf), upper)
    answer = estimate(replace(problem, unknowns=Unknowns(problem.unknowns.names, prior=prior)), method)
    assert answer.value in prior
    assert answer["p_2"] == upper[2]
    assert answer.stats.prior_limited == ("p_2",)


@every_method
def test_one_row_and_one_unknown(method):
    problem = LinearProblem([[2.0]], [3.0], Unknowns(["a"]), Gaussian(0.01))
    answer = estimate(problem, method)
    assert answer["a"] == pytest.approx(1.5)
    if isinstance(method, GaussMarkov):
        assert answer.region.sigma == pytest.approx([0.05])
    else:
        assert answer.claim is Claim.VALUE
        assert "—" in str(answer.table())


@every_method
def test_rows_fewer_than_unknowns_are_singular(method):
    problem = LinearProblem([[1.0, 2.0]], [3.0], Unknowns(["a", "b"]), Gaussian(0.01))
    answer = estimate(problem, method, strict=False)
    assert answer.status is Status.SINGULAR
    assert answer.stats.not_identifiable == ("a", "b")
    assert answer.unknowns.names == ("a + 2·b",)
    assert answer.value == pytest.approx([3.0])


@every_method
def test_a_matrix_of_zeros_is_singular(method):
    problem = LinearProblem(np.zeros((4, 2)), np.ones(4), Unknowns(["a", "b"]), Gaussian(0.01))
    answer = estimate(problem, method, strict=False)
    assert answer.status is Status.SINGULAR
    assert answer.stats.not_identifiable == ("a", "b")


@every_method
@pytest.mark.parametrize("exponent", [-150, 150])
def test_extreme_scales(method, exponent, rng):
    problem, _ = gaussian_problem(rng)
    factor = 2.0**exponent
    other = replace(problem, W=problem.W * factor)
    assert estimate(other, method).value * factor == pytest.approx(estimate(problem, method).value, rel=1e-9)
