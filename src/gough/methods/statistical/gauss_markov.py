"""The Gauss–Markov estimator: least squares weighted by the covariance of the measurements."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.estimates import Estimate
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import BySample, Unweighted, row_blocks, stated
from gough.noise import Gaussian
from gough.problem import LinearProblem


@dataclass(frozen=True)
class GaussMarkov:
    """θ̂ minimizes (y − W θ)ᵀ Σ⁻¹ (y − W θ) [AHG, eq. (7)], with covariance (Wᵀ Σ⁻¹ W)⁻¹.

    Σ is the covariance that the problem states. Where it states none, the n × n covariance between the groups of one
    sample is estimated from the residuals, and the fit repeated until neither changes.

    Examples:
        >>> import gough
        >>> noise = gough.Gaussian([0.01, 1.0])
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [1.0, 2.0], gough.Unknowns(["mass"]), noise)
        >>> round(gough.estimate(problem, GaussMarkov())["mass"], 4)
        1.0099
    """

    level: float = 0.95
    rtol: float = 1e-6
    """Relative change of an estimated Σ at which the iteration stops."""
    max_steps: int = 50
    rank_tolerance: float | None = None

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        if isinstance(problem.noise, Gaussian) and problem.noise.covariance is None:
            solution, whiten, status, steps = linear.reweighted(problem, sample_covariance, BySample, self)
            stats = {"iterations": steps}
            return linear.answer(problem, whiten, solution, self, level=self.level, status=status, stats=stats)
        whiten = stated(problem, "GaussMarkov")
        solution = linear.solve(problem, whiten, rtol=self.rank_tolerance)
        return linear.answer(problem, whiten, solution, self, level=self.level, scale_known=True)


def sample_covariance(problem: LinearProblem, solution: linear.Solution) -> Array:
    """Mean of r rᵀ over the samples, pair by pair of groups; a little is added where it would be singular."""
    n = len(problem.groups)
    total, count = np.zeros((n, n)), np.zeros((n, n))
    for rows in row_blocks(problem, Unweighted()):
        positions = problem.groups.positions(rows)
        start = positions[0] // n * n
        grid = np.zeros((2, positions[-1] // n * n + n - start))
        grid[0, positions - start] = problem.residuals(solution.theta, rows)
        grid[1, positions - start] = 1.0
        r, present = grid.reshape(2, -1, n)
        total += r.T @ r
        count += present.T @ present
    C: Array = total / np.maximum(count, 1)
    smallest = max(1e-12 * C.diagonal().max(), linear.rounding(problem, solution.theta) ** 2)
    return C + max(smallest - float(np.linalg.eigvalsh(C)[0]), 0.0) * np.eye(n)
