"""The smallest error bound, and priors that are closed without losing anything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gough import Box, InputError, LinearProblem, Unknowns
from gough.dynamics.bounds import closed_prior, residual_scale, smallest_factor, stated_bound, with_bounds


def random_problem(seed, *, prior=None, n_rows=60, p=3):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n_rows, p)) * 10.0 ** rng.uniform(-2, 2, p)
    y = W @ rng.normal(size=p) + rng.uniform(-1, 1, n_rows) * np.tile([0.1, 2.0], n_rows // 2)
    return LinearProblem(W, y, Unknowns([f"θ{i}" for i in range(p)], prior=prior), groups=("fine", "rough"))


def by_linear_program(problem, scale):
    """min t, |y − W θ| ≤ t · scale, as any textbook has it."""
    radius = scale[problem.groups.of_row(problem.n_rows)]
    A = np.vstack([np.column_stack([problem.W, -radius]), np.column_stack([-problem.W, -radius])])
    p = problem.W.shape[1]
    cost = np.append(np.zeros(p), 1.0)
    bounds = [(None, None)] * p + [(0, None)]
    return linprog(cost, A, np.concatenate([problem.y, -problem.y]), bounds=bounds, method="highs").fun


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_the_smallest_factor_is_the_linear_programs_and_proved_from_below(seed):
    problem = random_problem(seed)
    scale = residual_scale(problem)
    found = smallest_factor(problem, scale)
    expected = by_linear_program(problem, scale)
    assert found.lower <= found.upper
    assert found.lower == pytest.approx(expected, rel=1e-7)  # the prior is open, and yet it is not 0
    assert found.upper == pytest.approx(expected, rel=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_a_closed_prior_loses_no_consistent_point(seed):
    half_open = Box([-np.inf, -50.0, -np.inf], [np.inf, np.inf, 50.0])
    problem = random_problem(seed, prior=half_open)
    bound = 1.5 * smallest_factor(problem, np.ones(2)).upper * np.ones(2)
    box = closed_prior(problem, bound)
    assert box.is_bounded
    assert box <= half_open
    # extremes of the consistent set by independent linear programs
    radius = bound[problem.groups.of_row(problem.n_rows)]
    A, b = np.vstack([problem.W, -problem.W]), np.concatenate([problem.y + radius, radius - problem.y])
    limits = [(None, None), (-50, None), (None, 50)]
    for axis, sign in [(axis, sign) for axis in range(3) for sign in (1, -1)]:
        vertex = linprog(sign * np.eye(3)[axis], A, b, bounds=limits, method="highs").x
        assert box.lower[axis] < vertex[axis] < box.upper[axis] or vertex[axis] in (-50, 50)


def test_a_bounded_prior_is_kept():
    prior = Box([-9] * 3, [9] * 3)
    assert closed_prior(random_problem(1, prior=prior), np.ones(2)) is prior


def test_the_scale_is_each_actuators_own():
    """Errors are uniform: their rms is the bound over √3."""
    problem = random_problem(3, n_rows=20000)
    assert residual_scale(problem) == pytest.approx(np.array([0.1, 2.0]) / np.sqrt(3), rel=0.02)


def test_bounds_go_to_the_rows_of_their_actuator():
    problem = with_bounds(random_problem(1), np.array([1.0, 3.0]))
    assert problem.noise.radius[:4].tolist() == [1.0, 3.0, 1.0, 3.0]


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, [1.0, 2.0, 3.0], [1.0, 0.0]])
def test_bounds_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match="error bound"):
        stated_bound(wrong, ("fine", "rough"))
