"""Gauss–Newton: nonlinear problems by repeated linearization, with any method for linear problems."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import AssumptionError
from gough.core.text import written
from gough.estimates import Estimate, Method, Status
from gough.methods.statistical.gauss_markov import GaussMarkov
from gough.methods.statistical.whitening import Unweighted, Whitening, stated
from gough.problem import LinearProblem, NonlinearProblem
from gough.region import ConfidenceEllipsoid

_ROUNDING = 1000 * np.finfo(float).eps
"""Steps below this part of θ are rounding: data without noise have σ so small that no step is small against it."""


@dataclass(frozen=True)
class GaussNewton:
    """Linearize, solve by the method `of`, move there, until θ stays: Gauss–Newton for any linear method.

    The noise is pushed through the linearization anew at every step, so that weights belong to the answer and not to
    the starting point. A step beyond the answer's own uncertainty is halved until the residuals do not grow.
    """

    of: Method[LinearProblem] = field(default_factory=GaussMarkov)
    rtol: float = 1e-10
    """Step, relative to σ, below which θ stays."""
    max_steps: int = 50

    @np.errstate(all="ignore")
    def estimate(self, problem: NonlinearProblem) -> Estimate:
        unknowns = problem.unknowns
        if unknowns.nominal is None:
            raise AssumptionError("GaussNewton needs a starting point: Unknowns(..., nominal=blueprint values)")
        free = ~unknowns.is_fixed
        theta = np.where(free, unknowns.nominal, unknowns.bounds.lower)
        status = Status.MAX_STEPS
        for _ in range(self.max_steps):
            tangent = problem.linearize(theta)
            answer = self.of.estimate(tangent)
            if answer.status is Status.SINGULAR:
                return without_nuisances(problem, replace(answer, method=written(self)))
            region = answer.region
            spread = region.half_widths if isinstance(region, ConfidenceEllipsoid) else region.hull().width / 2
            step = answer.value - theta[free]
            if (abs(step) > spread).any():
                step *= _shortened(problem, tangent, theta, free, step)
            theta[free] += step
            if (abs(step) <= self.rtol * spread + _ROUNDING * abs(theta[free])).all():
                status = answer.status
                break
        return without_nuisances(problem, replace(answer, method=written(self), status=status))


def without_nuisances(problem: NonlinearProblem, answer: Estimate) -> Estimate:
    """The answer without the problem's nuisances."""
    hidden = set(problem.nuisance)
    names = [name for name in answer.unknowns.names if name not in hidden]
    return answer.marginal(*names) if hidden and names else answer


def _shortened(problem: NonlinearProblem, tangent: LinearProblem, theta: Array, free: Any, step: Array) -> float:
    """1, or the first of ½, ¼, … that does not make the sum of squares worse, weighted as at the start of the step."""
    whiten: Whitening = Unweighted() if problem.noise.covariance is None else stated(tangent, "GaussNewton")
    every = slice(0, tangent.n_rows)

    def cost(factor: float) -> float:
        moved = theta.copy()
        moved[free] += factor * step
        with np.errstate(all="ignore"):
            f = problem.equations.residuals(moved, problem.measured).reshape(-1)
            total = float((whiten(every, f) ** 2).sum())
        return total if np.isfinite(total) else np.inf

    now, factor = cost(0.0), 1.0
    while cost(factor) > now and factor > 1e-4:
        factor /= 2
    return factor
