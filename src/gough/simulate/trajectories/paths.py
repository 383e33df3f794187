"""Paths from rest to rest: polynomials from point to point, circles in any plane, series with ramps."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require, require_positive
from gough.robots.model import PoseMotion
from gough.simulate.trajectories.series import FourierSeries, instants, require_count


@dataclass(frozen=True, eq=False)
class PolynomialPath(ArrayValue):
    """From point to point by quintic polynomials of time, at rest at each point.

    All coordinates move in step: between two points the path is straight, and velocity and acceleration are continuous.

    Examples:
        >>> path = PolynomialPath([[0.0, 0.0, -0.8], [0.1, 0.0, -0.8]], seconds=[0.5])
        >>> path.at([0.0, 0.25, 0.5]).x[:, 0]
        array([0.  , 0.05, 0.1 ])
    """

    points: Array
    """Poses (k, m), in the order of their visit."""
    seconds: Array
    """How long each of the k - 1 ways takes."""

    def __post_init__(self) -> None:
        for name, ndim in (("points", 2), ("seconds", 1)):
            value = array(getattr(self, name), name, ndim=ndim)
            require(bool(np.isfinite(value).all()), f"{name} must be finite")
            object.__setattr__(self, name, value)
        k = len(self.points)
        require(k >= 2, f"a path needs at least two points, but has {k}")
        require(
            len(self.seconds) == k - 1, f"{k} points have {k - 1} ways between them, but {len(self.seconds)} durations"
        )
        require(bool((self.seconds > 0).all()), "each way must take a positive time")

    @property
    def duration(self) -> float:
        """Seconds of all ways."""
        return float(self.seconds.sum())

    def at(self, times: Any) -> PoseMotion:
        """Poses, velocities and accelerations (N, m) at the given times (N,); at rest before 0 and after the end."""
        t = array(times, "times", ndim=1)
        ends = np.cumsum(self.seconds)
        way = np.clip(np.searchsorted(ends, t, side="right"), 0, len(ends) - 1)
        seconds = self.seconds[way]
        u = np.clip((t - (ends[way] - seconds)) / seconds, 0.0, 1.0)
        s, ds, dds = rise(u)
        along = np.diff(self.points, axis=0)[way]
        scaled = (s, ds / seconds, dds / seconds**2)
        x, dx, ddx = (value[:, None] * along for value in scaled)
        return PoseMotion(self.points[way] + x, dx, ddx)

    def sample(self, rate: float) -> PoseMotion:
        """The motion at `rate` samples a second."""
        return self.at(instants(self.duration, rate))


@dataclass(frozen=True, eq=False)
class Circle(ArrayValue):
    """A circle of the platform in an inclined plane, at constant speed between a smooth start and a smooth stop.

    The benchmark motion of [AHG, §V] is a circle inclined by 30°; `mirrored` is its image on the other side. The plane
    contains the direction `heading` and rises by `inclination` to its left. The platform keeps its attitude.

    Examples:
        >>> circle = Circle([0.0, 0.0, -0.75, 0.0, 0.0, 0.0], radius=0.1, inclination=np.pi / 6)
        >>> circle.at([0.0]).x.round(3) + 0.0
        array([[ 0.1 ,  0.  , -0.75,  0.  ,  0.  ,  0.  ]])
        >>> bool(np.allclose(np.linalg.norm(circle.at([0.3, 1.1]).x - circle.center, axis=1), 0.1))
        True
    """

    center: Array
    """The pose in the middle: its first three coordinates are x, y, z."""
    radius: float
    inclination: float = 0.0
    """Angle between the plane and the horizontal, rad."""
    heading: float = 0.0
    """Direction of the line in which the plane meets the horizontal, from x towards y, rad."""
    turn: float = 2.0
    """Seconds of a turn at constant speed."""
    turns: int = 1
    ramp: float = 0.25
    """Turns from rest to full speed, and from full speed to rest; they are part of the turns."""

    def __post_init__(self) -> None:
        center = array(self.center, "center", ndim=1)
        require(len(center) >= 3, f"center must begin with x, y, z, but has {len(center)} numbers")
        require(bool(np.isfinite(center).all()), "center must be finite")
        object.__setattr__(self, "center", center)
        for name in ("radius", "turn", "ramp"):
            require_positive(getattr(self, name), name)
        require(np.isfinite(self.inclination) and np.isfinite(self.heading), "inclination and heading must be finite")
        require_count(self.turns, "turns")
        require(2 * self.ramp <= self.turns, f"two ramps of {self.ramp:g} turns do not fit into {self.turns} turns")

    @property
    def mirrored(self) -> "Circle":
        """The same circle inclined to the other side."""
        return Circle(self.center, self.radius, -self.inclination, self.heading, self.turn, self.turns, self.ramp)

    @property
    def duration(self) -> float:
        """Seconds: a ramp takes twice as long as the same way at full speed."""
        return self.turn * (self.turns + 2 * self.ramp)

    def at(self, times: Any) -> PoseMotion:
        """Poses, velocities and accelerations (N, m) at the given times (N,); at rest before 0 and after the end."""
        t = np.clip(array(times, "times", ndim=1), 0.0, self.duration)
        angle, speed, acceleration = self._angle(t)
        across = np.array([np.cos(self.heading), np.sin(self.heading), 0.0])
        level = np.array([-across[1], across[0], 0.0])
        up = np.cos(self.inclination) * level + np.sin(self.inclination) * np.array([0.0, 0.0, 1.0])
        outwards = self.radius * (np.outer(np.cos(angle), across) + np.outer(np.sin(angle), up))
        onwards = self.radius * (np.outer(np.cos(angle), up) - np.outer(np.sin(angle), across))
        x, dx, ddx = np.zeros((3, len(t), len(self.center)))
        x[:] = self.center
        x[:, :3] += outwards
        dx[:, :3] = speed[:, None] * onwards
        ddx[:, :3] = acceleration[:, None] * onwards - (speed**2)[:, None] * outwards
        return PoseMotion(x, dx, ddx)

    def sample(self, rate: float) -> PoseMotion:
        """The motion at `rate` samples a second."""
        return self.at(instants(self.duration, rate))

    def _angle(self, t: Array) -> tuple[Array, Array, Array]:
        """The angle on the circle with two derivatives: speed rises and falls by a cubic, with no jump of acceleration.

        On a ramp of T seconds the speed is ω (3u² - 2u³) with u = t / T, and the angle ω T (u³ - u⁴/2).
        """
        omega, T = 2 * np.pi / self.turn, 2 * self.ramp * self.turn
        falling = t > self.duration / 2
        since = np.where(falling, self.duration - t, t)
        u = np.minimum(since / T, 1.0)
        angle = omega * (T * (u**3 - u**4 / 2) + np.maximum(since - T, 0.0))
        speed = omega * (3 - 2 * u) * u**2
        acceleration = omega * 6 * u * (1 - u) / T
        whole = 2 * np.pi * self.turns
        return np.where(falling, whole - angle, angle), speed, np.where(falling, -acceleration, acceleration)


@dataclass(frozen=True, eq=False)
class Ramped(ArrayValue):
    """Whole periods of a Fourier series, entered from rest at home and left to rest at home.

    During the ramps the displacement of the series from home is multiplied by a quintic that rises from 0 to 1, or
    falls; in between the series is repeated exactly.

    Examples:
        >>> series = FourierSeries([0.1], [[1.0]], [[0.0]], frequency=0.5)
        >>> motion = Ramped(series, home=[0.0], periods=3, ramp=2.0)
        >>> motion.duration, motion.at([0.0, 10.0]).x.ravel()
        (10.0, array([0., 0.]))
        >>> bool(np.allclose(motion.at([2.3]).x, series.at([0.3]).q))
        True
    """

    series: FourierSeries
    home: Array
    """Pose, or joint positions, at the beginning and at the end."""
    periods: int = 1
    ramp: float = 1.0
    """Seconds of each ramp; the periods begin after the first."""

    def __post_init__(self) -> None:
        home = array(self.home, "home", ndim=1)
        object.__setattr__(self, "home", home)
        m = self.series.n_joints
        require(len(home) == m, f"home must have {m} numbers, as the series has, but has {len(home)}")
        require_count(self.periods, "periods")
        require_positive(self.ramp, "ramp", "seconds")

    @property
    def duration(self) -> float:
        """Seconds of all periods and both ramps."""
        return self.series.period * self.periods + 2 * self.ramp

    def at(self, times: Any) -> PoseMotion:
        """Positions, velocities and accelerations (N, m) at times (N,); at rest before 0 and after the end."""
        t = array(times, "times", ndim=1)
        _, x, dx, ddx = self.series.at(t - self.ramp)
        falling = t > self.duration / 2
        u = np.clip(np.where(falling, self.duration - t, t) / self.ramp, 0.0, 1.0)
        w, dw, ddw = (each[:, None] for each in rise(u))
        dw = np.where(falling[:, None], -dw, dw) / self.ramp
        ddw = ddw / self.ramp**2
        away = x - self.home
        return PoseMotion(self.home + w * away, w * dx + dw * away, w * ddx + 2 * dw * dx + ddw * away)

    def sample(self, rate: float) -> PoseMotion:
        """The motion at `rate` samples a second."""
        return self.at(instants(self.duration, rate))


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


def rise(u: Array) -> tuple[Array, Array, Array]:
    """From 0 at rest to 1 at rest, with acceleration 0 at both ends, and its two derivatives."""
    return u**3 * (10 + u * (6 * u - 15)), 30 * (u * (1 - u)) ** 2, 60 * u * (1 - u) * (1 - 2 * u)
