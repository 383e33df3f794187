"""Ordinary least squares."""

from dataclasses import dataclass

import numpy as np

from gough.estimates import Estimate
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import Unweighted
from gough.problem import LinearProblem


@dataclass(frozen=True)
class LeastSquares:
    """θ̂ minimizes ‖y − W θ‖²: every row has the same weight, whatever the stated noise.

    The size of the noise, its correlation between groups and its memory are taken from the residuals, so that σ is
    true for filtered data too. Walks through the rows by blocks; W may be a memory map.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0], [1.0], [1.0]], [0.9, 1.0, 1.1], gough.Unknowns(["mass"], ["kg"]))
        >>> print(gough.estimate(problem, LeastSquares()).table())
        unknown  unit  value  ± (95%)      σ  σ/|value|
        ───────  ────  ─────  ───────  ─────  ─────────
        mass     kg     1.00     0.25  0.058      5.8 %
    """

    level: float = 0.95
    """Probability that the confidence region is made for."""
    rank_tolerance: float | None = None
    """Relative singular value below which a direction counts as unseen; None: rounding decides."""

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        whiten = Unweighted()
        solution = linear.solve(problem, whiten, rtol=self.rank_tolerance)
        return linear.answer(problem, whiten, solution, self, level=self.level)
