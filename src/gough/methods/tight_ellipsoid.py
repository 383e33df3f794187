"""The ellipsoid around what is known of every informative row, instead of around what its bound says."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimate import Claim, Estimate, Stats, Status
from gough.methods.ellipsoid_batch import DETERMINANT, ellipsoid_of_strips
from gough.methods.linear_hull import Hull, LinearHull, prediction_bounds
from gough.problem import LinearProblem


@dataclass(frozen=True)
class TightEllipsoid:
    """A small ellipsoid around {θ in the prior : |y − W θ| ≤ e}, from the exact range of d·θ for each row that matters.

    Constraint: |y − W θ| ≤ e, W exact. Kept: every consistent θ. Not idempotent.

    A row's own bound says |d·θ − y| ≤ e, all rows together say much more: linear programs give the exact range of d·θ
    over the consistent set, for the rows that bound the hull and for the axes. An ellipsoid through those strips has a
    box within about three times the hull at any number of rows, where the recursion's grows with it.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> answer = gough.estimate(problem, TightEllipsoid())
        >>> answer.value.round(6), answer.claim.name, [2.25, 1.25] in answer.region
        (array([2., 1.]), 'PROOF', True)
    """

    criterion: float = DETERMINANT
    """Weight of the trace against the determinant, from 0 to 1, as in BoundingEllipsoid."""
    most: int = 500
    """Rows that are used."""

    claim: ClassVar[Claim] = Claim.PROOF

    @one_blas_thread()
    def estimate(self, problem: LinearProblem) -> Estimate:
        box_answer = LinearHull().estimate(problem)
        if box_answer.status is not Status.OK:
            return replace(box_answer, method=written(self))
        hull = box_answer.region.hull()
        pool = np.unique(Hull(problem, hull, tolerance=1e-9).found.pool)[: self.most]
        D = problem.W[pool]
        ranges = prediction_bounds(problem, D)
        region, _ = ellipsoid_of_strips(
            np.vstack([np.eye(len(hull)), D]),
            np.concatenate([hull.lower, ranges.lower]),
            np.concatenate([hull.upper, ranges.upper]),
            criterion=self.criterion,
        )
        stats = Stats(problem.n_rows, box_answer.stats.prior_limited)
        return Estimate(region, self.claim, Status.OK, problem.unknowns, written(self), stats, box_answer.notes)
