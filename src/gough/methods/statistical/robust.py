"""Robust least squares: M-estimates with a bounded influence of each row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import ByGroup, ByRow, Unweighted, Whitening, row_blocks
from gough.problem import LinearProblem


class Loss(Protocol):
    """The influence function ψ of a residual u in units of its standard deviation."""

    def weight(self, u: Array) -> Array:
        """ψ(u)/u."""
        ...

    def slope(self, u: Array) -> Array:
        """ψ′(u)."""
        ...

    def cost(self, u: Array) -> Array:
        """ρ(u), the integral of ψ from 0 to u."""
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

    def cost(self, u: Array) -> Array:
        inside = np.minimum(abs(u), self.k)
        return inside * (abs(u) - inside / 2)


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

    def cost(self, u: Array) -> Array:
        rest: Array = np.maximum(1 - (u / self.k) ** 2, 0) ** 3
        return self.k**2 / 6 * (1 - rest)


@dataclass(frozen=True)
class RobustLeastSquares:
    """θ̂ solves Σ ψ(u_k) a_k = 0, with u the residuals in units of their group's robust scale (an M-estimate).

    Iteratively reweighted least squares; the scale is the median absolute residual of each group, over 0.6745. It is
    measured again at every step until it stays within 1 %, at most 20 times, and then kept, since medians jump and may
    do so for ever; from then on steps that raise 2 Σ ρ(u_k) by more than 1 are halved. If θ̂ does not converge, the
    status is MAX_STEPS
    and the answer that of `LeastSquares`. The covariance is the M-estimator's,
    (σ² E ψ² / (E ψ′)²)(AᵀA)⁻¹ for white errors [HUB81, §7.6].

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
    rtol: float = 1e-6
    """Change of θ̂ in units of its σ at which the iteration stops."""
    max_steps: int = 100
    rank_tolerance: float | None = None

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        fit, base = self._fit(problem)
        return fit.answer(problem, self) if base is None else self._answer(problem, base, fit.solution, fit.steps)

    def solution(self, problem: LinearProblem) -> linear.Solution:
        """The values that `estimate` finds, without their errors."""
        fit, base = self._fit(problem)
        return fit.solution if base is None else self._informed(problem, base, fit.solution)

    def _fit(self, problem: LinearProblem) -> tuple[linear.Fit, ByGroup | None]:
        """The fit, and the scale of each group; no scale where the weights do not converge."""
        plain = linear.solve(problem, Unweighted(), rtol=self.rank_tolerance)
        solution, steps = plain, 0
        for loss in [self.loss] if isinstance(self.loss, Huber) else [Huber(), self.loss]:
            base, solution, taken = self._scaled(problem, solution, loss)
            fit = linear.reweighted(
                problem,
                _weights(problem, base, loss),
                solution,
                rtol=self.rtol,
                max_steps=max(self.max_steps - taken, 1),
                rank_tolerance=self.rank_tolerance,
            )
            solution, steps = fit.solution, steps + max(taken - 1, 0) + fit.steps
        if fit.is_converged:
            return linear.Fit(solution, fit.whiten, steps), base
        note = linear.stepped_back("the weights of the rows", steps, "least squares")
        return linear.Fit(plain, Unweighted(), steps, Status.MAX_STEPS, (note,)), None

    def _scaled(
        self, problem: LinearProblem, solution: linear.Solution, loss: Loss
    ) -> tuple[ByGroup, linear.Solution, int]:
        """Fits with the scale of each measured again, until it stays: scale, solution and number of fits."""
        every = slice(0, problem.n_rows)
        residuals = _residuals(problem, solution.theta)
        sigma = _scale(problem, residuals, solution.theta)
        steps = 0
        for _ in range(min(_SCALES, self.max_steps)):
            steps += 1
            base = ByGroup(sigma, problem.groups)
            weight = loss.weight(base(every, residuals))
            solution = linear.solve(problem, _weighted(base.of_rows(every), weight), rtol=self.rank_tolerance)
            residuals = _residuals(problem, solution.theta)
            last, sigma = sigma, _scale(problem, residuals, solution.theta)
            if (abs(sigma - last) <= _SCALE_STAYS * last).all():
                break
        return ByGroup(sigma, problem.groups), solution, steps

    def _answer(self, problem: LinearProblem, base: ByGroup, solution: linear.Solution, steps: int) -> Estimate:
        u = base(slice(0, problem.n_rows), _residuals(problem, solution.theta))
        slope = max(float(self.loss.slope(u).mean()), 1e-3)
        stats = {"iterations": steps, "downweighted": int((self.loss.weight(u) < 0.5).sum())}
        return linear.answer(
            problem,
            base,
            self._informed(problem, base, solution),
            self,
            level=self.level,
            stats=stats,
            influence=lambda v: self.loss.weight(v) * v / slope,
        )

    def _informed(self, problem: LinearProblem, base: ByGroup, solution: linear.Solution) -> linear.Solution:
        """The solution with the information of rows that have the weight of their group alone."""
        return linear.with_information_of(solution, linear.solve(problem, base, rtol=self.rank_tolerance))

    def weights(self, problem: LinearProblem, theta: Array) -> Whitening:
        """The weights of the rows at a solution θ."""
        base = ByGroup(_scale(problem, _residuals(problem, theta), theta), problem.groups)
        return _weights(problem, base, self.loss)(theta, None).whiten


_SCALES = 20
_SCALE_STAYS = 0.01


def _weights(problem: LinearProblem, base: ByGroup, loss: Loss) -> Callable[[Array, Array | None], linear.Weights]:
    """Weights of the rows by their residuals, for a fixed scale of each group."""
    every = slice(0, problem.n_rows)
    sigma = base.of_rows(every)

    def weights(theta: Array, _: Array | None) -> linear.Weights:
        u = base(every, _residuals(problem, theta))
        weight = loss.weight(u)
        objective = 2 * float(loss.cost(u).sum()) + linear.disbelief(problem, theta)
        return linear.Weights(_weighted(sigma, weight), objective, weight, base.sigma)

    return weights


def _weighted(sigma: Array, weight: Array) -> ByRow:
    """Rows divided by the deviation that a weight makes of theirs: weight 0 leaves a row of zeros."""
    with np.errstate(divide="ignore"):
        return ByRow(sigma / np.sqrt(weight))


def _residuals(problem: LinearProblem, theta: Array) -> Array:
    return np.concatenate([problem.residuals(theta, rows) for rows in row_blocks(problem, Unweighted())])


def _scale(problem: LinearProblem, residuals: Array, theta: Array) -> Array:
    """Median absolute residual of each group over 0.6745, at least what rounding makes of it."""
    group = problem.groups.of_row(problem.n_rows)
    medians = np.array([np.median(abs(residuals[group == g])) for g in range(len(problem.groups))])
    return np.maximum(medians / 0.6744897501960817, linear.rounding(problem, theta))
