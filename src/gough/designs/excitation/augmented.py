"""An augmented Lagrangian [NW06, §17.4], minimized by a quasi-Newton method with the full matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.designs.excitation.problem import DesignProblem

_ROOM = 1e-3
"""Share of a limit's size that is kept free from the beginning."""
_STEP = 0.1
"""By which a limit is tightened at most in one correction."""
_FIRST, _RAISE, _MOST = 30.0, 3.0, 1e3
"""The penalty of the first round, by which it grows from one round to the next, and how far. Smaller at first, searches
run into singularities; larger, they stay near where they began."""
_GAIN = 0.005
"""A round ends where eight steps gain less than this."""


@dataclass
class Prices:
    """Multipliers of all limits at all samples of one start, and the size of the penalty."""

    upper: Array
    lower: Array
    tight: tuple[Array, Array]
    """By how much the lower and the upper limits are tightened, since values exceed their samples in between."""
    penalty: float = _FIRST
    evaluations: int = 0

    @classmethod
    def free(cls, n_samples: int, n_channels: int) -> "Prices":
        """Multipliers of zero."""
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
        """How far the greatest and the least values, h[1] and h[0], lie above and below their tightened ends."""
        low, high = ends
        return h[1] - (high - self.tight[1]), (low + self.tight[0]) - h[0]

    def added(self, h: Array, ends: tuple[Array, Array]) -> tuple[float, Array]:
        """Σ (max(0, λ + ρc)² - λ²) / 2ρ of all limits c <= 0, and its derivative by h."""
        above, below = self.excess(h, ends)
        up = np.maximum(0.0, self.upper + self.penalty * above)
        down = np.maximum(0.0, self.lower + self.penalty * below)
        total = (up**2).sum() + (down**2).sum() - (self.upper**2).sum() - (self.lower**2).sum()
        return float(total / (2 * self.penalty)), np.stack([-down, up])

    def tighten(self, below: Array, above: Array) -> None:
        """Tighten limits where they are exceeded between samples, by the excess (N, channels) at N instants.

        A sample answers for the instants nearer to it than to its neighbors, and for those of its neighbors, since the
        instant of the excess moves while the motion is corrected.
        """
        for room, excess in zip(self.tight, (below, above), strict=True):
            worst = self._near_samples(excess)
            np.add(room, np.where(worst > 0, np.minimum(1.2 * worst, _STEP) + _ROOM / 10, 0.0), out=room)

    def tighten_to(self, below: Array, above: Array, free: tuple[Array, Array]) -> None:
        """Tighten limits where another check than that of the search finds them exceeded, by the excess (N, channels).

        Args:
            below: Excess below the limits by the other check, at N instants.
            above: Excess above them.
            free: The room to the limits, below and above, that the search's own equations leave there.
        """
        for room, excess, left in zip(self.tight, (below, above), free, strict=True):
            more = np.minimum(1.2 * np.maximum(excess, 0.0), _STEP) + _ROOM / 10
            wanted = np.where(excess > 0, np.maximum(left, 0.0) + more, 0.0)
            np.maximum(room, self._near_samples(wanted), out=room)

    def _near_samples(self, values: Array) -> Array:
        """The greatest positive value near each sample (samples, channels), of values (N, channels) at N instants."""
        n = len(self.upper)
        nearest = np.round(np.arange(len(values)) * n / len(values)).astype(int) % n
        worst = np.zeros_like(self.upper)
        np.maximum.at(worst, nearest, np.maximum(values, 0.0))
        return np.maximum(worst, np.maximum(np.roll(worst, 1, axis=0), np.roll(worst, -1, axis=0)))

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
    ratios: tuple[float, float],
    *,
    steps: int,
    seen: Callable[[Array], object],
) -> Array:
    """Minimize the augmented Lagrangian at fixed prices; `seen` is called with every step.

    The frequency, last in z, stays between `ratios`: as their mean and half their distance times a sine.
    """
    low, high = ratios
    mean, half = (low + high) / 2, (high - low) / 2

    def vector(y: Array) -> Array:
        return np.append(y[:-1], mean + half * np.sin(y[-1]))

    def value(y: Array) -> tuple[float, Array]:
        prices.evaluations += 1
        total, gradient = problem.lagrangian(vector(y), lambda h: prices.added(h, problem.ends))
        return total, np.append(gradient[:-1], gradient[-1] * half * np.cos(y[-1]))

    angle = np.arcsin(np.clip((z[-1] - mean) / half, -1.0, 1.0)) if half > 0 else 0.0
    start = np.append(z[:-1], angle)
    return vector(minimize(value, start, steps=steps, decrease=_GAIN, seen=lambda y: seen(vector(y))))


def one_round(
    problem: DesignProblem,
    z: Array,
    prices: Prices,
    ratios: tuple[float, float],
    *,
    steps: int,
    tolerance: float,
    seen: Callable[[Array], object],
) -> tuple[Array, bool]:
    """Descend, then learn the prices: one round. Also, do the limits hold within `tolerance`?"""
    z = descend(problem, z, prices, ratios, steps=steps, seen=seen)
    worst = prices.learn(problem.evaluate(z).h, problem.ends)
    if worst > tolerance:
        prices.penalty = min(prices.penalty * _RAISE, _MOST)
    return z, worst <= tolerance


_DECREASE, _FLATTER = 1e-4, 0.9
_TRIALS = 25
_WINDOW = 8
"""Over so many steps the decrease is looked at before a search ends."""

Function = Callable[[Array], tuple[float, Array]]


class Iterate(NamedTuple):
    """Where a search stands."""

    x: Array
    value: float
    gradient: Array


def minimize(
    function: Function, x: Array, *, steps: int, decrease: float, seen: Callable[[Array], object] = lambda _: None
) -> Array:
    """A local minimum by the method of Broyden, Fletcher, Goldfarb and Shanno [LO13, algorithm 2.1].

    Args:
        function: Value and gradient; the value may be infinite away from x.
        x: Where to begin; the value is finite there.
        steps: Largest number of steps.
        decrease: Ends where the last steps together gained less.
        seen: Called with every step.

    Examples:
        >>> bowl = lambda x: (float(x @ x + abs(x[0])), 2 * x + np.array([np.sign(x[0]), 0.0]))
        >>> bool(np.abs(minimize(bowl, np.array([3.0, 4.0]), steps=100, decrease=1e-12)).max() < 1e-6)
        True
    """
    at = Iterate(x, *function(x))
    H: Array | None = None
    past = [at.value]
    for _ in range(steps):
        size = float(np.linalg.norm(at.gradient))
        if size == 0:
            break
        direction = -at.gradient / size if H is None else -(H @ at.gradient)
        next_ = _line_search(function, at, direction)
        if next_ is None:
            if H is None:
                break
            H = None  # what was learned does not hold here: once more along the gradient
            continue
        H = _learned(H, next_.x - at.x, next_.gradient - at.gradient)
        at = next_
        seen(at.x)
        past.append(at.value)
        if len(past) > _WINDOW and past[-1 - _WINDOW] - at.value < decrease:
            break
    return at.x


def _line_search(function: Function, at: Iterate, direction: Array) -> Iterate | None:
    """A step that decreases the value and flattens the slope; else the best that decreases it, or None."""
    slope = float(at.gradient @ direction)
    if slope >= 0:
        return None
    low, high, t = 0.0, np.inf, 1.0
    best: Iterate | None = None
    for _ in range(_TRIALS):
        x = at.x + t * direction
        here = Iterate(x, *function(x))
        if not here.value < at.value + _DECREASE * t * slope:
            high = t
        else:
            if best is None or here.value < best.value:
                best = here
            if float(here.gradient @ direction) >= _FLATTER * slope:
                return here
            low = t
        t = (low + high) / 2 if np.isfinite(high) else 2 * t
    return best


def _learned(H: Array | None, s: Array, y: Array) -> Array | None:
    """The inverse Hessian after a step s that changed the gradient by y."""
    curvature = float(s @ y)
    if curvature <= 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
        return H
    if H is None:
        H = np.eye(len(s)) * (curvature / float(y @ y))
    Hy = H @ y
    return np.asarray(
        H
        + np.outer(s, s) * ((curvature + float(y @ Hy)) / curvature**2)
        - (np.outer(Hy, s) + np.outer(s, Hy)) / curvature
    )
