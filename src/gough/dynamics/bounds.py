"""Error bounds: how large they must be, what they are taken to be, and problems that state them."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.methods import GaussSeidel, MinimalBound, minimal_bound
from gough.methods.statistical import linear
from gough.methods.statistical.least_squares import group_sigma
from gough.methods.statistical.whitening import ByGroup, Unweighted
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box
from gough.unknowns import Unknowns

_WIDER = 10.0
"""How much wider than a proven box sets start, so that no answer lies on that box."""


def residual_scale(problem: LinearProblem) -> Array:
    """Root mean square residual of each group, after a fit in which each group has the weight of its own residuals.

    Never zero: what rounding makes of a residual is the least.

    Examples:
        >>> import gough
        >>> W, y = np.ones((6, 1)), [1.0, 0.5, 1.1, 1.8, 0.9, 0.6]
        >>> residual_scale(gough.LinearProblem(W, y, gough.Unknowns(["mass"]), groups=("fine", "rough"))).round(2)
        array([0.08, 0.59])
    """
    sigma = group_sigma(problem, linear.solve(problem, Unweighted(), rtol=None))
    return group_sigma(problem, linear.solve(problem, ByGroup(sigma, problem.groups), rtol=None))


def stated_bound(bound: float | Sequence[float] | Array, actuators: tuple[str, ...]) -> Array:
    """A bound for each actuator, from one number for all or one for each."""
    values = array(bound, "the error bound", ndim=(0, 1))
    n = len(actuators)
    fits = values.ndim == 0 or len(values) == n
    require(fits, f"give one error bound, or one for each of {', '.join(actuators)}; there are {values.size}")
    wrong = [name for name, b in zip(actuators, np.broadcast_to(values, n), strict=True) if not 0 < b < inf]
    require(not wrong, f"an error bound must be positive and finite, but that of {', '.join(wrong)} is not")
    return np.array(np.broadcast_to(values, n))


def with_bounds(problem: LinearProblem, bound: Array, prior: Box | None = None) -> LinearProblem:
    """The problem with an error bound for each group instead of its noise; a belief about θ bounds nothing."""
    old = problem.unknowns
    unknowns = Unknowns(old.names, old.units, old.nominal, old.bounds if prior is None else prior)
    radius = bound[problem.groups.of_row(problem.n_rows)]
    return replace(problem, unknowns=unknowns, noise=Bounded(radius))


def smallest_factor(problem: LinearProblem, scale: Array) -> MinimalBound:
    """The smallest factor t for which some θ satisfies |y − W θ| ≤ t · scale, row by row, enclosed rigorously.

    Where the prior is open, multipliers alone prove nothing of θ far away. But least squares needs some factor, and no
    θ outside the box that is proven for that factor can do with less.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem(np.ones((2, 1)), [0.0, 3.0], gough.Unknowns(["a"]))
        >>> factor = smallest_factor(problem, np.ones(1))
        >>> round(factor.lower, 9), round(factor.upper, 9)
        (1.5, 1.5)
    """
    prior = problem.unknowns.bounds
    solution = linear.solve(problem, Unweighted(), rtol=None)
    radius = scale[problem.groups.of_row(problem.n_rows)]
    enough = float((abs(problem.residuals(solution.theta)) / radius).max())
    box = closed_prior(problem, np.nextafter(enough * (1 + 1e-12) * scale, inf))
    factor = minimal_bound(with_bounds(problem, scale, box))
    return factor if prior.is_bounded or not box.is_bounded else replace(factor, lower=min(factor.lower, enough))


def rounded_up(factor: float, scale: Array) -> Array:
    """Factor · scale for positive scales, not below the exact product.

    Examples:
        >>> rounded_up(0.1, np.array([3.0])) > 0.30000000000000001665, rounded_up(0.0, np.ones(1))
        (array([ True]), array([0.]))
    """
    product = np.asarray(factor * scale)
    return np.where((product == 0) & (factor == 0) | np.isinf(product), product, np.nextafter(product, inf))


def closed_prior(problem: LinearProblem, bound: Array) -> Box:
    """The prior, its open sides closed without losing a θ that satisfies these bounds.

    Open sides become those of a box ten times as wide as the one that Gauss–Seidel proves to hold every consistent θ.
    The prior stays as it was where nothing is proven.
    """
    prior = problem.unknowns.bounds
    if prior.is_bounded:
        return prior
    box = GaussSeidel().contract(with_bounds(problem, bound), prior)
    if not box.is_bounded:
        return prior
    half = _WIDER / 2 * np.maximum(box.width, np.finfo(float).eps * abs(box.center))
    wide = Box.around(box.center, half)
    return Box(
        np.where(np.isfinite(prior.lower), prior.lower, wide.lower),
        np.where(np.isfinite(prior.upper), prior.upper, wide.upper),
    )
