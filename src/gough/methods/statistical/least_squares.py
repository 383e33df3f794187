"""Ordinary least squares."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import ByGroup, Unweighted, Whitening, row_blocks
from gough.problem import LinearProblem


@dataclass(frozen=True)
class LeastSquares:
    """θ̂ minimizes ‖y − W θ‖²: every row has the same weight, whatever the stated noise.

    The size of the noise, its correlation between groups and its autocorrelation are estimated from the residuals, so
    that σ is valid for filtered data too. Rows are read in blocks; W may be a memory map.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0], [1.0], [1.0]], [0.9, 1.0, 1.1], gough.Unknowns(["mass"], ["kg"]))
        >>> print(gough.estimate(problem, LeastSquares()).table())
        unknown  unit  value  ± (95%)      σ  σ/|value|
        ───────  ────  ─────  ───────  ─────  ─────────
        mass     kg     1.00     0.25  0.058      5.8 %
    """

    level: float = 0.95
    """Confidence level of the region."""
    rank_tolerance: float | None = None
    """Relative singular value below which a direction counts as not excited; None: by rounding."""

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        return linear.answer(problem, Unweighted(), self.solution(problem), self, level=self.level)

    def solution(self, problem: LinearProblem) -> linear.Solution:
        """The values that `estimate` finds, without their errors."""
        return linear.solve(problem, Unweighted(), rtol=self.rank_tolerance)

    def weights(self, problem: LinearProblem, theta: Array) -> Whitening:  # noqa: ARG002 - as other methods
        """The weights of the rows at a solution θ: none."""
        return Unweighted()


@dataclass(frozen=True)
class WeightedLeastSquares:
    """θ̂ minimizes Σ_g ‖y_g − W_g θ‖² / σ_g², where σ_g² is group g's residual variance at θ̂ itself.

    Groups are the actuators: a noisy motor then no longer spoils the fit of the others. This is the estimate
    that [PRV03i, Table 2] compares with; repeated to convergence, since one reweighting leaves the first fit's weights
    in the answer. With one group it is ordinary least squares. If the weights do not converge, the status is MAX_STEPS
    and the answer that of least squares.

    Examples:
        >>> import gough
        >>> W, y = np.ones((6, 1)), [1.0, 0.5, 1.1, 1.8, 0.9, 0.6]
        >>> problem = gough.LinearProblem(W, y, gough.Unknowns(["mass"]), groups=("fine", "rough"))
        >>> round(gough.estimate(problem, WeightedLeastSquares())["mass"], 3)
        0.999
    """

    level: float = 0.95
    rtol: float = 1e-6
    """Change of θ̂ in units of its σ, or relative change of the weights, at which the iteration stops."""
    max_steps: int = 50
    rank_tolerance: float | None = None

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        return self._fit(problem).answer(problem, self)

    def solution(self, problem: LinearProblem) -> linear.Solution:
        """The values that `estimate` finds, without their errors."""
        return self._fit(problem).solution

    def _fit(self, problem: LinearProblem) -> linear.Fit:
        plain = linear.solve(problem, Unweighted(), rtol=self.rank_tolerance)
        fit = by_group(problem, plain, rtol=self.rtol, max_steps=self.max_steps, rank_tolerance=self.rank_tolerance)
        if fit.is_converged:
            return linear.Fit(fit.solution, fit.whiten, fit.steps)
        note = linear.stepped_back("the weights of the groups", fit.steps, "least squares")
        return linear.Fit(plain, Unweighted(), fit.steps, Status.MAX_STEPS, (note,))

    def weights(self, problem: LinearProblem, theta: Array) -> Whitening:
        """The weights of the rows at a solution θ."""
        squares, count = sums_of_squares(problem, theta)
        sigma = np.maximum(np.sqrt(squares / np.maximum(count, 1)), linear.rounding(problem, theta))
        return ByGroup(sigma, problem.groups)


def by_group(
    problem: LinearProblem, start: linear.Solution, *, rtol: float, max_steps: int, rank_tolerance: float | None
) -> linear.Reweighted:
    """The fit in which each group has the weight of its own residuals; it maximizes the likelihood of θ and all σ_g."""

    def weights(theta: Array, _: Array | None) -> linear.Weights:
        squares, count = sums_of_squares(problem, theta)
        floor = linear.rounding(problem, theta)
        sigma = np.maximum(np.sqrt(squares / np.maximum(count, 1)), floor)
        objective = float((2 * count * np.log(sigma) + squares / sigma**2).sum()) + linear.disbelief(problem, theta)
        return linear.Weights(ByGroup(sigma, problem.groups), objective, sigma, sigma)

    return linear.reweighted(problem, weights, start, rtol=rtol, max_steps=max_steps, rank_tolerance=rank_tolerance)


def sums_of_squares(problem: LinearProblem, theta: Array) -> tuple[Array, Array]:
    """Sum of squared residuals of each group, and its number of rows."""
    n = len(problem.groups)
    squares, count = np.zeros(n), np.zeros(n)
    for rows in row_blocks(problem, Unweighted()):
        group = problem.groups.positions(rows) % n
        squares += np.bincount(group, problem.residuals(theta, rows) ** 2, minlength=n)
        count += np.bincount(group, minlength=n)
    return squares, count


def group_sigma(problem: LinearProblem, solution: linear.Solution) -> Array:
    """Root mean square residual of each group, at least what rounding makes of it."""
    squares, count = sums_of_squares(problem, solution.theta)
    return np.maximum(np.sqrt(squares / np.maximum(count, 1)), linear.rounding(problem, solution.theta))
