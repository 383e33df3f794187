"""Robust least squares: M-estimates with a bounded influence of each row."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import ByGroup, ByRow, Unweighted, row_blocks
from gough.problem import LinearProblem


class Loss(Protocol):
    """The influence function ψ of a residual u in units of its standard deviation."""

    def weight(self, u: Array) -> Array:
        """ψ(u)/u."""
        ...

    def slope(self, u: Array) -> Array:
        """ψ′(u)."""
        ...


@dataclass(frozen=True)
class Huber:
    """ψ(u) = u up to k standard deviations, then constant: the influence of an outlier is bounded [HUB81, §7.3]."""

    k: float = 1.345
    """95 % efficient if there are no outliers."""

    def __post_init__(self) -> None:
        require(self.k > 0, f"Huber's k must be positive, but k = {self.k}")

    def weight(self, u: Array) -> Array:
        return self.k / np.maximum(abs(u), self.k)

    def slope(self, u: Array) -> Array:
        return (abs(u) <= self.k).astype(float)


@dataclass(frozen=True)
class Tukey:
    """ψ(u) = u (1 − (u/k)²)² up to k standard deviations, then 0: gross outliers have no influence."""

    k: float = 4.685
    """95 % efficient if there are no outliers."""

    def __post_init__(self) -> None:
        require(self.k > 0, f"Tukey's k must be positive, but k = {self.k}")

    def weight(self, u: Array) -> Array:
        return np.maximum(1 - (u / self.k) ** 2, 0) ** 2

    def slope(self, u: Array) -> Array:
        v = (u / self.k) ** 2
        return np.where(v < 1, (1 - v) * (1 - 5 * v), 0.0)


@dataclass(frozen=True)
class RobustLeastSquares:
    """θ̂ solves Σ ψ(u_k) a_k = 0, with u the residuals in units of their group's robust scale (an M-estimate).

    Iteratively reweighted least squares; the scale is the median absolute residual of each group, over 0.6745. The
    covariance is the M-estimator's, (σ² E ψ² / (E ψ′)²)(AᵀA)⁻¹ for white errors [HUB81, §7.6].

    Tukey's loss starts from Huber's answer, since it can have several solutions.

    Examples:
        >>> import gough
        >>> y = np.array([1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 50.0])
        >>> problem = gough.LinearProblem(np.ones((8, 1)), y, gough.Unknowns(["mass"]))
        >>> round(gough.estimate(problem, RobustLeastSquares(Tukey()))["mass"], 2)
        1.0
    """

    loss: Loss = Huber()
    level: float = 0.95
    rtol: float = 1e-8
    """Change of the fitted rows, relative to the residuals' scale, at which the iteration stops."""
    max_steps: int = 100
    rank_tolerance: float | None = None

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        solution = linear.solve(problem, Unweighted(), rtol=self.rank_tolerance)
        residuals = _residuals(problem, solution)
        stages = [self.loss] if isinstance(self.loss, Huber) else [Huber(), self.loss]
        steps, status = 0, Status.MAX_STEPS
        for loss in stages:
            for _ in range(self.max_steps):
                steps += 1
                base = ByGroup(_scale(problem, residuals, solution), problem.groups)
                every = slice(0, problem.n_rows)
                weight = loss.weight(base(every, residuals))
                solution = linear.solve(problem, _weighted(base.of_rows(every), weight), rtol=self.rank_tolerance)
                last, residuals = residuals, _residuals(problem, solution)
                status = Status.MAX_STEPS
                settled = self.rtol * base.of_rows(every) + linear.rounding(problem, solution.theta)
                if (abs(residuals - last) <= settled).all():
                    status = Status.OK
                    break
        return self._answer(problem, base, solution, steps=steps, status=status)

    def _answer(
        self, problem: LinearProblem, base: ByGroup, solution: linear.Solution, *, steps: int, status: Status
    ) -> Estimate:
        u = base(slice(0, problem.n_rows), _residuals(problem, solution))
        slope = max(float(self.loss.slope(u).mean()), 1e-3)
        plain = linear.solve(problem, base, rtol=self.rank_tolerance)
        stats = {"iterations": steps, "downweighted": int((self.loss.weight(u) < 0.5).sum())}
        return linear.answer(
            problem,
            base,
            linear.with_information_of(solution, plain),
            self,
            level=self.level,
            status=status,
            stats=stats,
            influence=lambda v: self.loss.weight(v) * v / slope,
        )


def _weighted(sigma: Array, weight: Array) -> ByRow:
    """Rows divided by the deviation that a weight makes of theirs: weight 0 leaves a row of zeros."""
    with np.errstate(divide="ignore"):
        return ByRow(sigma / np.sqrt(weight))


def _residuals(problem: LinearProblem, solution: linear.Solution) -> Array:
    return np.concatenate([problem.residuals(solution.theta, rows) for rows in row_blocks(problem, Unweighted())])


def _scale(problem: LinearProblem, residuals: Array, solution: linear.Solution) -> Array:
    """Median absolute residual of each group over 0.6745, at least what rounding makes of it."""
    group = problem.groups.of_row(problem.n_rows)
    medians = np.array([np.median(abs(residuals[group == g])) for g in range(len(problem.groups))])
    return np.maximum(medians / 0.6744897501960817, linear.rounding(problem, solution.theta))
