"""What solves linear problems, repeated, solves nonlinear ones."""

from dataclasses import dataclass, field, replace

import numpy as np

from gough.core.errors import AssumptionError
from gough.core.text import written
from gough.estimate import Estimate, Method, Status
from gough.methods.gauss_markov import GaussMarkov
from gough.problem import LinearProblem, NonlinearProblem
from gough.region import Box, ConfidenceEllipsoid


@dataclass(frozen=True)
class Repeated:
    """Linearize, solve by `of`, move there, until θ stays: Gauss–Newton for any linear method.

    The noise is pushed through the linearization anew at every step, so that weights belong to the answer and not to
    the starting point. A step that makes the linear method's residuals worse is halved.
    """

    of: Method[LinearProblem] = field(default_factory=GaussMarkov)
    rtol: float = 1e-10
    """Step, relative to σ, below which θ stays."""
    max_steps: int = 50

    def estimate(self, problem: NonlinearProblem) -> Estimate:
        start = problem.unknowns.nominal
        if start is None:
            raise AssumptionError("Repeated needs a starting point: Unknowns(..., nominal=blueprint values)")
        theta = np.array(start)
        answer = None
        for _ in range(self.max_steps):
            answer = self.of.estimate(problem.linearize(theta))
            if answer.status is Status.SINGULAR or len(answer.value) != len(theta):
                return replace(answer, method=written(self))
            step = answer.value - theta
            step *= _shortened(problem, theta, step)
            theta = theta + step
            if (abs(step) <= self.rtol * _spread(answer) + 4 * np.finfo(float).eps * abs(theta)).all():
                return replace(answer, method=written(self))
        assert answer is not None
        return replace(answer, method=written(self), status=Status.MAX_STEPS)


def _shortened(problem: NonlinearProblem, theta: np.ndarray, step: np.ndarray) -> float:
    """1, or the first of ½, ¼, … that does not make the sum of squares worse."""

    def cost(factor: float) -> float:
        with np.errstate(all="ignore"):
            total = float((problem.equations.residuals(theta + factor * step, problem.measured) ** 2).sum())
        return total if np.isfinite(total) else np.inf

    now, factor = cost(0.0), 1.0
    while cost(factor) > now * (1 + 1e-9) and factor > 1e-4:
        factor /= 2
    return factor


def _spread(answer: Estimate) -> np.ndarray:
    region = answer.region
    if isinstance(region, ConfidenceEllipsoid):
        return region.sigma
    box: Box = region.hull()
    return box.width / 2
