"""Ordinary least squares."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.estimates import Estimate
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import ByGroup, Unweighted, row_blocks
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
        whiten = Unweighted()
        solution = linear.solve(problem, whiten, rtol=self.rank_tolerance)
        return linear.answer(problem, whiten, solution, self, level=self.level)


@dataclass(frozen=True)
class WeightedLeastSquares:
    """θ̂ minimizes Σ_g ‖y_g − W_g θ‖² / σ_g², where σ_g² is group g's residual variance at θ̂ itself.

    Groups are the actuators: a noisy motor then no longer spoils the fit of the others. This is the estimate
    that [PRV03i, Table 2] compares with; repeated to convergence, since one reweighting leaves the first fit's weights
    in the answer. With one group it is ordinary least squares.

    Examples:
        >>> import gough
        >>> W, y = np.ones((6, 1)), [1.0, 0.5, 1.1, 1.8, 0.9, 0.6]
        >>> problem = gough.LinearProblem(W, y, gough.Unknowns(["mass"]), groups=("fine", "rough"))
        >>> round(gough.estimate(problem, WeightedLeastSquares())["mass"], 3)
        0.999
    """

    level: float = 0.95
    rtol: float = 1e-6
    """Relative change of the weights at which the iteration stops."""
    max_steps: int = 50
    rank_tolerance: float | None = None

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        solution, whiten, status, steps = linear.reweighted(problem, group_sigma, ByGroup, self)
        stats = {"iterations": steps}
        return linear.answer(problem, whiten, solution, self, level=self.level, status=status, stats=stats)


def group_sigma(problem: LinearProblem, solution: linear.Solution) -> Array:
    """Root mean square residual of each group, at least what rounding makes of it."""
    n = len(problem.groups)
    squares, count = np.zeros(n), np.zeros(n)
    for rows in row_blocks(problem, Unweighted()):
        group = problem.groups.positions(rows) % n
        squares += np.bincount(group, problem.residuals(solution.theta, rows) ** 2, minlength=n)
        count += np.bincount(group, minlength=n)
    return np.maximum(np.sqrt(squares / np.maximum(count, 1)), linear.rounding(problem, solution.theta))
