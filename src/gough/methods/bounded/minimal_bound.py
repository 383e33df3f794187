"""The smallest factor on all error bounds for which a problem is consistent."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from gough.core import outward
from gough.core.arrays import Array, ArrayValue, Integers
from gough.core.errors import AssumptionError
from gough.core.products import residual
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, proof
from gough.evidence import Evidence
from gough.methods.bounded.chebyshev import chebyshev
from gough.methods.bounded.exact_bound import Prover, evidence, rounded_down, rounded_up
from gough.methods.bounded.strips import bounds_of, misfit
from gough.problem import LinearProblem
from gough.region import Box

_EXACT_ROWS = 200
"""Rows that may be computed in rational arithmetic."""


@dataclass(frozen=True, eq=False)
class MinimalBound(ArrayValue):
    """The smallest factor on all error bounds for which some θ of the prior satisfies them, enclosed rigorously.

    A factor above 1 is a proof that the problem as stated is inconsistent, and the rows are the culprits; a factor up
    to 1 is a proof that it is consistent, and `point` is the witness.
    """

    lower: float
    """No θ satisfies |y − W θ| ≤ factor · e for a factor below this."""
    upper: float
    """`point` satisfies |y − W θ| ≤ upper · e."""
    point: Array
    rows: tuple[int, ...]
    """The at most p + 1 rows that forbid anything smaller."""
    evidence: tuple[Evidence, ...]
    """Weights on those rows: a contradiction if `lower` exceeds 1."""
    claim: Claim = Claim.PROOF
    """Claim of both ends: PROOF, or ENCLOSURE where the processor does not compute by IEEE 754."""

    @property
    def heaviest_rows(self) -> tuple[int, ...]:
        """The rows by decreasing weight in the contradiction: an outlier comes first."""
        weights: dict[int, float] = {}
        for each in self.evidence:
            for row, weight in zip(each.rows, each.weights, strict=True):
                weights[row] = max(weights.get(row, 0.0), abs(float(Fraction(weight))))
        return tuple(sorted(self.rows, key=lambda row: -weights.get(row, 0.0)))

    @property
    def is_consistent(self) -> bool:
        """Whether `point` satisfies every row and the prior."""
        return self.upper <= 1

    @property
    def is_inconsistent(self) -> bool:
        """Whether it is proven that no point does."""
        return self.lower > 1

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows))
        if self.lower == inf:
            return f"No factor helps: rows {rows} have error bounds of zero and contradict each other or the prior."
        if self.upper == inf:
            return (
                "Some rows have error bounds of zero, which no factor enlarges, and no floating-point point was found "
                "that satisfies them exactly; give them bounds of the size of rounding."
            )
        if self.upper == 0:
            return "No error bounds are needed: the point exhibited satisfies all rows exactly."
        verdict = "not decided: the factor is 1 to within rounding"
        if self.is_consistent:
            verdict = "consistent, by the point exhibited"
        elif self.is_inconsistent:
            verdict = f"inconsistent: rows {rows} contradict each other or the prior"
        factor = outward.between(self.lower, self.upper, digits=6)
        return f"The smallest factor on the error bounds lies in {factor}; {verdict}."


@np.errstate(all="ignore")
@one_blas_thread()
def minimal_bound(problem: LinearProblem) -> MinimalBound:
    """The minimum over θ in the prior of max_k |y_k − W_k θ| / e_k, as an interval that holds in floats.

    The upper end is what a Chebyshev point attains, the lower end follows from the multipliers of the linear program in
    rational arithmetic: Σ λ_k (y_k − W_k θ) ≤ factor · Σ |λ_k| e_k for every θ.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [0.0, 3.0], gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> bound = minimal_bound(problem)
        >>> bound.lower, round(bound.upper, 12), bound.is_inconsistent, bound.rows
        (1.5, 1.5, True, (0, 1))
    """
    if bounds_of(problem, "minimal_bound").regressor is not None:
        raise AssumptionError("minimal_bound needs an exact W; state Bounded(radius) without a radius of W.")
    box = problem.unknowns.bounds
    fit = chebyshev(problem, box, "minimal_bound")
    pool, weights = fit.rows, fit.weights
    theta, upper = _exhibited(problem, fit.theta)
    proposals = [weights]
    if not fit.is_optimal:  # equations, which no factor helps: their weights may have any sign
        proposals += [-weights, _of_equations(problem, pool)]
    lower, used = max((_proven(problem, box, pool, w) for w in proposals), key=lambda one: one[0])
    return MinimalBound(lower, max(lower, upper), theta, used.rows, (used,), proof())


def _exhibited(problem: LinearProblem, theta: Array) -> tuple[Array, float]:
    """The point and the factor it attains; a point of fewer digits where it misses equations by rounding."""
    best, bounds = (attained(problem, theta), theta), problem.unknowns.bounds
    for digits in (14, 12, 9):
        if best[0] < inf:
            break
        short = np.clip([float(f"{v:.{digits}g}") for v in theta.tolist()], bounds.lower, bounds.upper)
        best = min(best, (attained(problem, short), short), key=lambda one: one[0])
    return best[1], best[0]


def _of_equations(problem: LinearProblem, pool: Integers) -> Array:
    """Weights on rows whose bound is zero and that seem to contradict each other."""
    radius = np.broadcast_to(bounds_of(problem, "minimal_bound").radius, problem.y.shape)[pool]
    weights, exact = np.zeros(len(pool)), pool[radius == 0]
    weights[radius == 0] = misfit(problem.W[exact], problem.y[exact])
    return weights


def _proven(problem: LinearProblem, box: Box, pool: Integers, weights: Array) -> tuple[float, Evidence]:
    nothing = np.zeros(len(box))
    value, used = Prover(problem).lower_bound(box, nothing, pool, weights)
    radius = np.broadcast_to(bounds_of(problem, "minimal_bound").radius, problem.y.shape)
    terms = zip(used.rows, used.weights, strict=True)
    total = sum((abs(w) * Fraction(float(radius[row])) for row, w in terms), Fraction(0))
    if value is None or total == 0:
        return (inf if value is not None and value > 0 else 0.0), evidence((), (), used)
    return max(rounded_down(1 + value / total), 0.0), evidence((), (), used)


def attained(problem: LinearProblem, theta: Array) -> float:
    """max_k |y_k − W_k θ| / e_k, rounded up; 0/0 counts as 0.

    Floating point with error bounds says which rows can have the maximum; those are computed exactly.
    """
    radius = np.broadcast_to(bounds_of(problem, "minimal_bound").radius, problem.y.shape)
    highest, lowest = np.empty(problem.n_rows), 0.0
    for rows in problem.blocks():
        r = residual(problem.W[rows], theta[:, None], problem.y[rows][:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            highest[rows] = np.where(r.mag[:, 0] == 0, 0.0, np.nextafter(r.mag[:, 0] / radius[rows], inf))
            at_least = np.maximum(abs(r.mid[:, 0]) - r.rad[:, 0], 0.0) / radius[rows]
        lowest = max(lowest, float(np.nan_to_num(at_least, posinf=inf).max()) * (1 - 1e-15))
    possible = np.flatnonzero(highest >= lowest)
    if lowest == inf or len(possible) > _EXACT_ROWS:
        return float(highest.max())
    x = [Fraction(v) for v in theta.tolist()]
    return max(_factor(problem, int(k), float(radius[k]), x) for k in possible)


def _factor(problem: LinearProblem, row: int, e: float, theta: list[Fraction]) -> float:
    W, y = problem.W[row].tolist(), float(problem.y[row])
    misfit = abs(Fraction(y) - sum((Fraction(w) * x for w, x in zip(W, theta, strict=True)), Fraction(0)))
    if misfit == 0:
        return 0.0
    return inf if e == 0 else rounded_up(misfit / Fraction(e))
