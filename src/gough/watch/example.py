"""A simulated robot whose truth and faults are known, for examples, tests and benchmarks of watching."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers
from gough.dynamics.effects.payload import platform_parameters
from gough.estimates import Claim, Estimate, Stats, Status
from gough.export.model import IdentifiedDynamics, MotionRange
from gough.methods import LinearHull
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots import FiveBar
from gough.robots.following import FollowedRegressor
from gough.unknowns import Unknowns
from gough.watch.model import WatchedModel
from gough.watch.preparation import Preparation, PreparationOptions
from gough.watch.rows import Rows, Samples

_HARMONICS = (3, 5, 7, 11, 13)
"""Of a motion, in tenths of a hertz: it repeats after ten seconds."""
PERIOD = 10.0
_BLEND = 2.0
"""Seconds in which one motion passes into the next."""
_SMALLEST = 0.4
"""Share of the amplitude that the smallest of several motions has."""


@dataclass(frozen=True, eq=False)
class SimulatedStream:
    """A robot on a cycle of motions of ten seconds each, whose efforts are measured with errors that keep a bound.

    Examples:
        >>> stream = SimulatedStream()
        >>> times, values = stream.samples(0, 1000, np.random.default_rng(0))
        >>> values.shape
        (1000, 4)
    """

    robot: Any = field(default_factory=FiveBar.demo)
    rate: float = 1000.0
    noise: float = 0.05
    """Standard deviation of one reading of an effort; errors are even, between ± √3 times it."""
    amplitude: float = 0.4
    """Largest deflection of each coordinate from home."""
    seed: int = 0
    motions: int = 1
    """Motions of a cycle; all but the first have other phases, sizes of harmonics, and 40 to 100 % of the amplitude."""

    @property
    def cycle(self) -> float:
        """Seconds after which all motions begin again."""
        return self.motions * PERIOD

    @cached_property
    def center(self) -> Array:
        """Positions of the actuators at home."""
        equations = self.robot.controller_equations()
        return np.asarray(equations.home[list(equations.actuated)])

    @cached_property
    def parameters(self) -> Array:
        """The truth: the nominal parameters, each changed by up to 10 %."""
        nominal = np.asarray(self.robot.nominal)
        return nominal * np.random.default_rng(self.seed).uniform(0.9, 1.1, len(nominal))

    @cached_property
    def _waves(self) -> tuple[Array, Array]:
        """Sizes and phases (motions, harmonics, coordinates)."""
        sizes, phases = [], []
        rng, shape = np.random.default_rng(self.seed + 1), (len(_HARMONICS), len(self.center))
        for k in range(self.motions):
            size = rng.normal(size=shape)
            phases.append(rng.uniform(0, 2 * np.pi, shape))
            share = rng.uniform(_SMALLEST, 1.0) if k else 1.0
            sizes.append(share * self.amplitude * size / np.abs(size).sum(axis=0))
        return np.array(sizes), np.array(phases)

    def motion(self, times: Array) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations."""
        number, since = np.divmod(times, PERIOD)
        which = number.astype(np.int64) % self.motions
        (x, dx, ddx), (y, dy, ddy) = self._deflection(which - 1, times), self._deflection(which, times)
        s, ds, dds = _smooth_step(since[:, None] / _BLEND)
        ds, dds = ds / _BLEND, dds / _BLEND**2
        q = self.center + x + s * (y - x)
        dq = dx + s * (dy - dx) + ds * (y - x)
        return q, dq, ddx + s * (ddy - ddx) + 2 * ds * (dy - dx) + dds * (y - x)

    def _deflection(self, which: Integers, times: Array) -> tuple[Array, Array, Array]:
        """Deflection from home, its velocity and acceleration, where sample k belongs to motion which[k]."""
        sizes, phases = self._waves
        result = np.zeros((3, len(times), len(self.center)))
        for h, harmonic in enumerate(_HARMONICS):
            w = 2 * np.pi * harmonic / PERIOD
            size, angle = sizes[which, h], w * times[:, None] + phases[which, h]
            sine, cosine = size * np.sin(angle), size * np.cos(angle)
            result += np.stack([sine, w * cosine, -w * w * sine])
        return result[0], result[1], result[2]

    @cached_property
    def regressor(self) -> Array:
        """The regressor (samples, actuators, parameters) of one cycle."""
        moved = self.motion(np.arange(round(self.cycle * self.rate)) / self.rate)
        return np.asarray(FollowedRegressor(self.robot, self.robot.names)(*moved))

    def samples(
        self, first: int, count: int, rng: np.random.Generator, *, change: Mapping[str, float] | None = None
    ) -> tuple[Array, Array]:
        """Times (count,) and values (count, positions and efforts); `change` adds to parameters by name."""
        index = first + np.arange(count)
        values = self._cycle_values(tuple((change or {}).items()))[index % len(self.regressor)]
        n = len(self.center)
        values[:, n:] += self.noise * np.sqrt(3) * rng.uniform(-1, 1, (count, values.shape[1] - n))
        return index / self.rate, values

    @cached_property
    def _cycle_values(self) -> Any:
        """Positions and efforts of one cycle without errors, by what is added to the parameters."""

        @lru_cache(maxsize=4)
        def values(change: tuple[tuple[str, float], ...]) -> Array:
            q = self.motion(np.arange(len(self.regressor)) / self.rate)[0]
            return np.concatenate([q, self.regressor @ self.changed(dict(change))], axis=1)

        return values

    def changed(self, change: Mapping[str, float]) -> Array:
        """The parameters with something added to some of them."""
        theta = self.parameters.copy()
        for name, value in change.items():
            theta[self.robot.names.index(name)] += value
        return theta

    @property
    def mass(self) -> str:
        """Name of the platform's mass."""
        return platform_parameters(self.robot)[0][0]

    def rows(self, seconds: float, rng: np.random.Generator) -> Rows:
        """Prepared rows of a recording from the beginning on."""
        times, values = self.samples(0, round(seconds * self.rate), rng)
        n, names = len(self.center), self.robot.names
        preparation = Preparation(PreparationOptions(self.rate), FollowedRegressor(self.robot, names), n, len(names))
        lost = np.zeros(len(times), dtype=np.bool_)
        return preparation.take(Samples(0, times, values[:, :n], values[:, n:], lost))

    def identified(self, seconds: float = 30.0, factor: float = 1.5) -> IdentifiedDynamics:
        """The model of a recording, by least squares and as the hull for `factor` times the largest residual."""
        robot, rows = self.robot, self.rows(seconds, np.random.default_rng(self.seed + 2))
        W, y = rows.W[rows.kept], rows.y[rows.kept]
        kept = _independent(W)
        columns = tuple(robot.names[k] for k in kept)
        W = W[:, kept]
        value: Array = np.asarray(np.linalg.lstsq(W, y, rcond=None)[0], dtype=np.float64)
        rest = y - W @ value
        bound = factor * float(np.abs(rest).max())
        units = tuple(robot.units[k] for k in kept)
        unknowns = Unknowns(columns, units, value)
        problem = LinearProblem(W, y, unknowns, Bounded(np.array(bound)))
        variance = 10 * float(rest @ rest) / (len(y) - len(kept))  # rows at five times the cutoff are not independent
        covariance: Array = variance * np.asarray(np.linalg.inv(W.T @ W), dtype=np.float64)
        fit = Estimate(
            ConfidenceEllipsoid(value, covariance), Claim.CONFIDENCE, Status.OK, unknowns, "weighted", Stats(len(y))
        )
        seen = MotionRange.of(rows.q, rows.dq, rows.ddq)
        estimates = {"weighted": fit, "hull": LinearHull().estimate(problem)}
        n = len(robot.actuators)
        return IdentifiedDynamics(robot, columns, estimates, "weighted", {}, seen, bound=(bound,) * n)

    def model(self) -> WatchedModel:
        """The identified robot as it is watched."""
        return WatchedModel.of(self.identified())


def _smooth_step(x: Array) -> tuple[Array, Array, Array]:
    """A polynomial of degree five from 0 at x ≤ 0 to 1 at x ≥ 1, and its first two derivatives, which vanish there."""
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x) ** 2, 60 * x * (1 - x) * (1 - 2 * x)


def _independent(W: Array) -> list[int]:
    """Columns that span those of W, chosen from the left."""
    scaled = W / np.maximum(np.linalg.norm(W, axis=0), 1e-300)
    kept: list[int] = []
    basis = np.zeros((len(W), 0))
    for k in range(W.shape[1]):
        rest = scaled[:, k] - basis @ (basis.T @ scaled[:, k])
        rest -= basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > 1e-3:
            kept.append(k)
            basis = np.column_stack([basis, rest / size])
    return kept
