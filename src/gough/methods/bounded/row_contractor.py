"""The contractor that looks at one row at a time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.errors import AssumptionError
from gough.core.intervals import Interval
from gough.estimates import Claim
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True)
class RowContractor:
    """Every row solved for every unknown: θ_j ∈ (y_k ± e_k − Σ_{i≠j} W_ki θ_i) / W_kj, the box put in for the others.

    Constraint: |y − W θ| ≤ e with W exact or known to a radius. Kept: every θ of the box that satisfies all rows.
    Does nothing where two unknowns of each row are unbounded, and little where rows involve many unknowns (forward
    and backward propagation on one linear row [BGGP99]). Not idempotent: use it in a Fixpoint.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"], prior=Box([0, 0], [10, 10]))
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, 0.0]], [3.0, 1.0], unknowns, Bounded(0.5))
        >>> box = RowContractor().contract(problem, unknowns.bounds)
        >>> box.lower, box.upper
        (array([0.5, 0. ]), array([1.5, 3.5]))
    """

    claim: ClassVar[Claim] = Claim.PROOF

    @np.errstate(all="ignore")
    def contract(self, problem: LinearProblem, box: Box) -> Box:
        if not isinstance(problem.noise, Bounded):
            raise AssumptionError(
                "RowContractor needs error bounds, but this problem states a covariance. "
                "State Bounded noise, or use GaussMarkov."
            )
        for rows in problem.blocks():
            if box.is_empty:
                break
            box = box & _contracted(problem, problem.noise, rows, box)
        return box


def _contracted(problem: LinearProblem, noise: Bounded, rows: slice, box: Box) -> Box:
    """The box that these rows leave, each row and each unknown by itself."""
    theta = Interval(box.lower, box.upper)
    W = _regressor(problem.W[rows], noise, rows)
    e = np.broadcast_to(noise.radius, problem.y.shape)[rows]
    y = Interval.centered(problem.y[rows], e)
    terms = [W[:, j] * theta[j] for j in range(len(box))]
    lower, upper = box.lower.copy(), box.upper.copy()
    for j, rest in enumerate(_sums_of_others(terms)):
        allowed = iv.mul_rev(W[:, j], y - rest, theta[j])
        if np.any(iv.is_empty(allowed)):
            return Box.empty(len(box))
        lower[j], upper[j] = np.max(allowed.lower), np.min(allowed.upper)
        if lower[j] > upper[j]:
            return Box.empty(len(box))
    return Box(lower, upper)


def _regressor(W: Array, noise: Bounded, rows: slice) -> Interval:
    if noise.regressor is None:
        return Interval(W)
    return Interval.centered(W, noise.regressor if noise.regressor.ndim == 0 else noise.regressor[rows])


def _sums_of_others(terms: list[Interval]) -> list[Interval]:
    """Σ_{i≠j} terms[i] for each j, by sums from both ends: subtracting a term from the sum of all would widen."""
    zero = Interval(np.zeros(terms[0].shape))
    before, after = [zero], [zero]
    for left, right in zip(terms[:-1], terms[:0:-1], strict=True):
        before.append(before[-1] + left)
        after.append(after[-1] + right)
    return [b + a for b, a in zip(before, reversed(after), strict=True)]
