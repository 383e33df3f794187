"""An augmented Lagrangian with L-BFGS-B: limits become penalties whose prices are learned."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.experiments.design.problem import DesignProblem

_ROOM = 1e-3
"""Of a limit's size that is left free from the beginning."""
_STEP = 0.1
"""By which a limit is tightened at most in one correction."""
_RAISE, _MOST = 3.0, 1e4
"""By which the penalty grows from one round to the next, and how far."""


class _Point(NamedTuple):
    z: Array
    value: float
    gradient: Array


@dataclass
class Prices:
    """What one start has learned so far: multipliers of all limits at all samples, and the size of the penalty."""

    upper: Array
    lower: Array
    tight: tuple[Array, Array]
    """By how much the lower and the upper limits are tightened, since values exceed their samples in between."""
    penalty: float = 10.0
    evaluations: int = 0

    @classmethod
    def free(cls, n_samples: int, n_channels: int) -> "Prices":
        """Before anything is known."""
        shape = (n_samples, n_channels)
        return cls(np.zeros(shape), np.zeros(shape), (np.full(shape, _ROOM), np.full(shape, _ROOM)))

    def refined(self, factor: int) -> "Prices":
        """The same prices for samples that lie `factor` times as near to each other."""
        upper, lower, *tight = (
            np.roll(np.repeat(each, factor, axis=0), -(factor // 2), axis=0)
            for each in (self.upper / factor, self.lower / factor, *self.tight)
        )
        return Prices(upper, lower, (tight[0], tight[1]), self.penalty, self.evaluations)

    def excess(self, h: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        """How far values lie above and below their tightened ends."""
        low, high = ends
        return h - (high - self.tight[1]), (low + self.tight[0]) - h

    def added(self, h: Array, ends: tuple[Array, Array]) -> tuple[float, Array]:
        """Σ (max(0, λ + ρc)² - λ²) / 2ρ of all limits c <= 0, and its derivative by h."""
        above, below = self.excess(h, ends)
        up = np.maximum(0.0, self.upper + self.penalty * above)
        down = np.maximum(0.0, self.lower + self.penalty * below)
        total = (up**2).sum() + (down**2).sum() - (self.upper**2).sum() - (self.lower**2).sum()
        return float(total / (2 * self.penalty)), up - down

    def tighten(self, below: Array, above: Array) -> None:
        """Tighten limits where they are exceeded between samples, by the excess (N, channels) at N instants.

        A sample answers for the instants nearer to it than to its neighbors, and for those of its neighbors, since the
        instant of the excess moves while the motion is corrected.
        """
        n = len(self.upper)
        nearest = np.round(np.arange(len(above)) * n / len(above)).astype(int) % n
        for room, excess in zip(self.tight, (below, above), strict=True):
            worst = np.zeros_like(room)
            np.maximum.at(worst, nearest, np.maximum(excess, 0.0))
            worst = np.maximum(worst, np.maximum(np.roll(worst, 1, axis=0), np.roll(worst, -1, axis=0)))
            np.add(room, np.where(worst > 0, np.minimum(1.2 * worst, _STEP) + _ROOM / 10, 0.0), out=room)

    def learn(self, h: Array, ends: tuple[Array, Array]) -> float:
        """Raise the prices of what is violated, lower those of what is not; the worst violation."""
        above, below = self.excess(h, ends)
        self.upper = np.maximum(0.0, self.upper + self.penalty * above)
        self.lower = np.maximum(0.0, self.lower + self.penalty * below)
        return float(max(above.max(), below.max()))


def descend(
    problem: DesignProblem,
    z: Array,
    prices: Prices,
    bounds: list[tuple[float, float]],
    *,
    iterations: int,
    seen: Callable[[Array], object],
) -> Array:
    """Minimize the augmented Lagrangian at fixed prices; `seen` is told of every step."""
    from scipy.optimize import minimize  # noqa: PLC0415 - start-up time

    last = accepted = _Point(z, *problem.lagrangian(z, lambda h: prices.added(h, problem.ends)))

    def value(at: Array) -> tuple[float, Array]:
        nonlocal last
        prices.evaluations += 1
        total, gradient = problem.lagrangian(at, lambda h: prices.added(h, problem.ends))
        if np.isfinite(total):
            last = _Point(at.copy(), total, gradient)
            return total, gradient
        # out of reach: worse than where the line search came from, but not by so much that it stops for good
        step = float(np.linalg.norm(at - accepted.z))
        return accepted.value + step * float(np.linalg.norm(accepted.gradient)), gradient

    def step(at: Array) -> None:
        nonlocal accepted
        accepted = last
        seen(at)

    options = {"maxiter": iterations, "maxcor": 25, "maxfun": 2 * iterations}
    found = minimize(value, z, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=step)
    return np.asarray(found.x)


def one_round(
    problem: DesignProblem,
    z: Array,
    prices: Prices,
    bounds: list[tuple[float, float]],
    *,
    iterations: int,
    tolerance: float,
    seen: Callable[[Array], object],
) -> tuple[Array, bool]:
    """Descend, then learn the prices: one round. Also, do the limits hold within `tolerance`?"""
    z = descend(problem, z, prices, bounds, iterations=iterations, seen=seen)
    worst = prices.learn(problem.evaluate(z).h, problem.ends)
    if worst > tolerance:
        prices.penalty = min(prices.penalty * _RAISE, _MOST)
    return z, worst <= tolerance
