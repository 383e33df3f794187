"""How a designed motion is entered from rest at home, and left to rest at home, within the limits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.robots.model import PoseMotion
from gough.simulate.trajectories import FourierSeries, instants
from gough.simulate.trajectories_pose import Ramped

_PHASES = 24
_LASTS = (1, 2, 4)
"""Periods that an entry may last."""
_TIMES = 60
"""Instants of an entry at which it is looked at first."""


@dataclass(frozen=True, eq=False)
class Joined(ArrayValue):
    """Whole periods of a Fourier series from some phase on, entered and left by polynomials from and to rest at home.

    The polynomials are of degree five: positions, velocities and accelerations are continuous.

    Examples:
        >>> series = FourierSeries([0.1], [[1.0]], [[0.0]], frequency=0.5)
        >>> motion = Joined(series, np.zeros(1), periods=3, ramp=2.0, phase=0.4)
        >>> motion.duration, motion.at([0.0, 10.0]).x.ravel()
        (10.0, array([0., 0.]))
        >>> bool(np.allclose(motion.at([2.3]).x, series.at([0.7]).q))
        True
    """

    series: FourierSeries
    home: Array
    periods: int
    ramp: float
    """Seconds of each polynomial."""
    phase: float
    """Seconds of the series at which it is entered, and left."""

    @property
    def duration(self) -> float:
        """Seconds of all periods and both polynomials."""
        return self.series.period * self.periods + 2 * self.ramp

    def at(self, times: Any) -> PoseMotion:
        """Positions, velocities and accelerations (N, m) at times (N,); at rest before 0 and after the end."""
        t = array(times, "times", ndim=1)
        _, *steady = self.series.at(t - self.ramp + self.phase)
        entered = self._polynomial(np.clip(t / self.ramp, 0.0, 1.0), 1.0)
        left = self._polynomial(np.clip((self.duration - t) / self.ramp, 0.0, 1.0), -1.0)
        before, after = (t < self.ramp)[:, None], (t > self.duration - self.ramp)[:, None]
        parts = zip(entered, left, steady, strict=True)
        return PoseMotion(*(np.where(before, first, np.where(after, last, own)) for first, last, own in parts))

    def sample(self, rate: float) -> PoseMotion:
        """The motion at `rate` samples a second."""
        return self.at(instants(self.duration, rate))

    def _polynomial(self, u: Array, way: float) -> tuple[Array, Array, Array]:
        """From rest at home (u = 0) to the series at `phase` (u = 1), or backwards in time."""
        _, x, dx, ddx = self.series.at([self.phase])
        p, v, a = x[0] - self.home, way * dx[0] * self.ramp, ddx[0] * self.ramp**2
        powers = np.stack([10 * p - 4 * v + a / 2, -15 * p + 7 * v - a, 6 * p - 3 * v + a / 2])
        moved = np.stack([u**3, u**4, u**5], axis=1) @ powers
        first = np.stack([3 * u**2, 4 * u**3, 5 * u**4], axis=1) @ powers / self.ramp
        second = np.stack([6 * u, 12 * u**2, 20 * u**3], axis=1) @ powers / self.ramp**2
        return self.home + moved, way * first, second


def entries(
    series: FourierSeries, home: Array, periods: int, holds: Callable[[PoseMotion], list[bool]]
) -> Iterator[Ramped | Joined]:
    """Ways to enter a motion, the plainest first: growing out of home, then by polynomials at any phase.

    Polynomials that break a limit at a coarse look are left out; `holds` tells for each of a few instants.
    """
    for n in (1, 2, 4, 8):
        yield Ramped(series, home, periods, n * series.period)
    phases = np.arange(_PHASES) / _PHASES * series.period
    every = [Joined(series, home, periods, n * series.period, float(phase)) for n in _LASTS for phase in phases]
    looks = [each.at(np.concatenate([u := np.linspace(0, each.ramp, _TIMES), each.duration - u])) for each in every]
    kept = holds(PoseMotion(*(np.concatenate(part) for part in zip(*looks, strict=True))))
    for each, flags in zip(every, np.reshape(kept, (len(every), -1)), strict=True):
        if flags.all():
            yield each
