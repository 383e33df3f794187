"""Least squares with a weight per group, found from the residuals."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.triangle import row_blocks
from gough.methods.statistical.whitening import ByGroup, Unweighted, Whitening
from gough.problem import LinearProblem


@dataclass(frozen=True)
class WeightedLeastSquares:
    """θ̂ minimizes Σ_g ‖y_g − W_g θ‖² / σ_g², where σ_g² is group g's residual variance at θ̂ itself.

    Groups are the actuators: a noisy motor then spoils the others no more. This is the estimate that [PRV03i, Table 2]
    compares with; repeated to convergence, since one reweighting leaves the first fit's weights in the answer. With
    one group it is ordinary least squares.

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
        whiten: Whitening = Unweighted()
        solution = linear.solve(problem, whiten, rtol=self.rank_tolerance)
        sigma = group_sigma(problem, solution)
        for step in range(1, self.max_steps + 1):
            whiten = ByGroup(sigma, problem.groups)
            solution = linear.solve(problem, whiten, rtol=self.rank_tolerance)
            last, sigma = sigma, group_sigma(problem, solution)
            if (abs(sigma - last) <= self.rtol * last).all():
                return self._answer(problem, whiten, solution, step, Status.OK)
        return self._answer(problem, whiten, solution, self.max_steps, Status.MAX_STEPS)

    def _answer(
        self, problem: LinearProblem, whiten: Whitening, solution: linear.Solution, step: int, status: Status
    ) -> Estimate:
        stats = {"iterations": step}
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
