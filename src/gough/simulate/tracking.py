"""Laws of motion control, and a sampled loop of a law around a simulated robot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, Mask, array
from gough.core.errors import GoughError, InputError, nearest, require, require_positive
from gough.robots.model import JointMotion


class TorqueModel(Protocol):
    """The model that a law evaluates in each cycle, such as compiled C that `gough export` wrote."""

    def torque(self, q: Array, dq: Array, ddq: Array, *, friction: bool) -> Array:
        """Efforts (n,) of a motion of the actuators."""
        ...

    def gravity(self, q: Array) -> Array:
        """Efforts (n,) that hold the robot."""
        ...

    def friction(self, q: Array, dq: Array) -> Array:
        """Efforts (n,) of friction."""
        ...

    def restart(self, q: Array) -> None:
        """Begin at these positions."""
        ...


class Moving(Protocol):
    """A robot that moves, such as `gough.simulate.multibody.plant` makes."""

    def read(self) -> tuple[Array, Array]:
        """True positions and velocities of the actuators."""
        ...

    def advance(self, efforts: Array, seconds: float) -> None:
        """Move under efforts that are held for some time."""
        ...


@dataclass(frozen=True, eq=False)
class Loop(ArrayValue):
    """How a controller is sampled, what it measures, and what its drives can do.

    Examples:
        >>> Loop(rate=2000.0, limit=15.0).period
        0.0005
    """

    rate: float = 1000.0
    """Samples a second."""
    delay: int = 0
    """Whole samples from a reading until the effort that it causes."""
    resolution: Any = 0.0
    """Step of the encoders, rad or m, one number or one per actuator; 0 has no steps."""
    position_noise: float = 0.0
    """Standard deviation of the white noise of the positions, rad or m, before the encoder's steps."""
    effort_noise: Any = 0.0
    """Standard deviation of the white noise of the drives' efforts: one number or one per actuator."""
    limit: Any = np.inf
    """Greatest effort of the drives: one number, or one per actuator."""
    velocity_cutoff: float | None = 150.0
    """Hz of the first-order low-pass of velocity errors, which are differences of position errors; None: velocities are
    measured, without error."""
    bandwidth: float = 20.0
    """Hz: natural frequency of the closed loop for which all laws are tuned."""
    damping: float = 0.8
    """Its damping ratio."""

    def __post_init__(self) -> None:
        for name, unit in (("rate", "Hz"), ("bandwidth", "Hz"), ("damping", "")):
            require_positive(getattr(self, name), name, unit)
        require(isinstance(self.delay, int) and self.delay >= 0, f"delay must be 0, 1, 2, … but is {self.delay}")
        for name in ("resolution", "effort_noise", "limit", "position_noise"):
            value = array(getattr(self, name), name, ndim=(0, 1))
            require(not np.isnan(value).any(), f"{name} must be a number, but is NaN")
            require(bool((value >= 0).all()), f"{name} must not be negative")
            require(name == "limit" or bool(np.isfinite(value).all()), f"{name} must be finite")
            object.__setattr__(self, name, value)
        require(bool((self.limit > 0).all()), "limit must be positive")
        fastest = self.rate / np.pi
        require(
            self.bandwidth <= fastest,
            f"a controller with {self.rate:g} samples a second has at most a bandwidth of {fastest:.4g} Hz, but "
            f"{self.bandwidth:g} Hz are asked for: lower the bandwidth, or raise the rate",
        )
        cutoff = self.velocity_cutoff
        require(cutoff is None or cutoff > 0, f"velocity_cutoff must be positive, in Hz, or None, but is {cutoff}")

    @property
    def period(self) -> float:
        """Seconds from one sample to the next."""
        return 1 / self.rate

    @property
    def pulsation(self) -> float:
        """Natural frequency in rad/s."""
        return 2 * np.pi * self.bandwidth

    def limits(self, n: int) -> Array:
        """The limit of each of n actuators."""
        require(self.limit.ndim == 0 or len(self.limit) == n, f"there are {n} actuators, but {self.limit.size} limits")
        return np.array(np.broadcast_to(self.limit, (n,)))


class Sample(NamedTuple):
    """What a law knows at an instant."""

    q: Array
    """Positions as measured."""
    dq: Array
    """Velocities as measured, or made of positions."""
    wanted: JointMotion
    """The desired motion (N, n) from this instant on; the last row is repeated beyond its end."""


@dataclass(frozen=True, eq=False)
class Tuned:
    """A model and a loop for which laws are tuned."""

    model: TorqueModel
    loop: Loop
    inertia: Array
    """Inertia (n,) that each actuator feels at home in the blueprint: gains of laws without a model are made of it."""

    @cached_property
    def predictive(self) -> "PredictiveLaw":
        """The predictive law with the bandwidth of the loop."""
        return PredictiveLaw.tuned(self.loop)


def _pd(of: Tuned, now: Sample) -> Array:
    omega, zeta = of.loop.pulsation, of.loop.damping
    e, de = now.wanted.q[0] - now.q, now.wanted.dq[0] - now.dq
    return of.inertia * (omega**2 * e + 2 * zeta * omega * de)


def _pd_gravity(of: Tuned, now: Sample) -> Array:
    return _pd(of, now) + of.model.gravity(now.q)


def _feedforward(of: Tuned, now: Sample) -> Array:
    wanted = of.model.torque(now.wanted.q[0], now.wanted.dq[0], now.wanted.ddq[0], friction=True)
    return _pd(of, now) + wanted


def _linearized(of: Tuned, now: Sample, acceleration: Array) -> Array:
    """Efforts after which each actuator has this acceleration, if the model is right.

    Dry friction is that of the desired velocity: the sign of a measured one would chatter at rest.
    """
    rigid = of.model.torque(now.q, now.dq, acceleration, friction=False)
    return rigid + of.model.friction(now.q, now.wanted.dq[0])


def _computed_torque(of: Tuned, now: Sample) -> Array:
    omega, zeta = of.loop.pulsation, of.loop.damping
    e, de = now.wanted.q[0] - now.q, now.wanted.dq[0] - now.dq
    return _linearized(of, now, now.wanted.ddq[0] + omega**2 * e + 2 * zeta * omega * de)


def _predictive(of: Tuned, now: Sample) -> Array:
    return _linearized(of, now, of.predictive.acceleration(now))


LAWS: Mapping[str, Callable[[Tuned, Sample], Array]] = MappingProxyType(
    {
        "pd": _pd,
        "pd-gravity": _pd_gravity,
        "feedforward": _feedforward,
        "computed-torque": _computed_torque,
        "predictive": _predictive,
    }
)
"""The laws by name. PD has no model; the others add gravity at the measured positions, the inverse dynamics of the
desired motion, or linearize the robot by its inverse dynamics at the measured state."""


def require_law(name: str) -> None:
    """Refuse a law that does not exist."""
    if name not in LAWS:
        raise InputError(f"there is no controller '{name}'{nearest(name, LAWS)} (known: {', '.join(LAWS)})")


@dataclass(frozen=True, eq=False)
class PredictiveLaw(ArrayValue):
    """Predictive functional control of the linearized robot, a double integrator for each actuator [RIC93], [VP05].

    The future acceleration is a line over time. At the points of coincidence the predicted position shall be on a
    reference trajectory, which approaches the desired motion exponentially; least squares over these points. The law is
    one fixed row of gains. [VP05] stabilizes the double integrator by an inner velocity loop first; here the double
    integrator itself is predicted, exactly for an acceleration that is held from sample to sample.

    Examples:
        >>> law = PredictiveLaw.tuned(Loop(rate=1000.0, bandwidth=10.0))
        >>> len(law.points), bool(abs(law.stiffness / (2 * np.pi * 10.0) ** 2 - 1) < 0.05)
        (3, True)
    """

    period: float
    points: tuple[int, ...]
    """Points of coincidence: samples ahead."""
    decay: float
    """Factor by which the reference trajectory approaches the desired motion from one sample to the next."""

    def __post_init__(self) -> None:
        require_positive(self.period, "period", "s")
        require(len(set(self.points)) >= 2, "a line needs at least two different points of coincidence")
        require(min(self.points) >= 1, "points of coincidence must lie ahead: 1, 2, …")
        require(0 <= self.decay < 1, f"decay must be at least 0 and below 1, but is {self.decay}")

    @classmethod
    def tuned(cls, loop: Loop) -> "PredictiveLaw":
        """A horizon such that the law is as stiff as a loop of this bandwidth."""
        # stiffness times horizon² is a constant of the law, up to the rounding of its points to samples
        stiffness = cls._over(1000, 1e-3).stiffness
        samples = max(3, round(float(np.sqrt(stiffness)) / (loop.pulsation * loop.period)))
        return cls._over(samples, loop.period)

    @classmethod
    def _over(cls, samples: int, period: float) -> "PredictiveLaw":
        points = tuple(max(1, round(samples * part)) for part in (1 / 3, 2 / 3, 1.0))
        return cls(period, points, float(np.exp(-_DECAY / samples)))

    @cached_property
    def gains(self) -> Array:
        """The acceleration now, for a unit of missing position at each point of coincidence."""
        T = self.period
        rows = []
        for h in self.points:
            i = np.arange(h)
            rows.append([(h * T) ** 2 / 2, float(((h - i - 0.5) * i).sum()) * T**3])
        scale = np.array([T**2, T**3])  # columns of equal size, so that the pseudoinverse has no units
        return np.asarray(np.linalg.pinv(np.array(rows) / scale)[0] / scale[0])

    @property
    def stiffness(self) -> float:
        """Acceleration for a unit of position error, 1/s²."""
        return float(self.gains @ (1 - self.decay ** np.array(self.points)))

    @property
    def damping(self) -> float:
        """Acceleration for a unit of velocity error, 1/s."""
        return float(self.gains @ (self.period * np.array(self.points)))

    def acceleration(self, now: Sample) -> Array:
        """The acceleration that begins the best line."""
        h = np.array(self.points)
        ahead = now.wanted.q[np.minimum(h, len(now.wanted.q) - 1)]
        error = now.wanted.q[0] - now.q
        missing = ahead - np.outer(self.decay**h, error) - now.q - np.outer(h * self.period, now.dq)
        return np.asarray(self.gains @ missing)


_DECAY = 3.0
"""The reference trajectory has come within 5 % of the desired motion at the end of the horizon."""


@dataclass(frozen=True, eq=False)
class Tracked(ArrayValue):
    """What a robot did under a law, at N instants.

    Examples:
        >>> ones = np.ones((3, 2))
        >>> tracked = Tracked(np.arange(3.0), ones, ones, 1.5 * ones, 2 * ones, ones.astype(bool))
        >>> tracked.rms_error, tracked.saturation
        (array([0.5, 0.5]), 1.0)
    """

    times: Array
    q: Array
    """True positions (N, n); NaN after the robot was lost."""
    dq: Array
    wanted: Array
    efforts: Array
    """Efforts (N, n) of the drives from each instant to the next."""
    saturated: Mask
    """Where a drive was at its limit."""
    lost_at: float | None = None
    """Seconds after which the robot no longer followed; None: it followed to the end."""

    @property
    def error(self) -> Array:
        """Desired minus true positions (N, n)."""
        return self.wanted - self.q

    @property
    def rms_error(self) -> Array:
        """Root mean square of the error of each actuator, up to where the robot was lost."""
        return np.sqrt(np.nanmean(self.error**2, axis=0))

    @property
    def max_error(self) -> Array:
        """Largest error of each actuator."""
        return np.asarray(np.nanmax(np.abs(self.error), axis=0))

    @property
    def rms_effort(self) -> Array:
        """Root mean square of the effort of each actuator."""
        return np.sqrt(np.nanmean(self.efforts**2, axis=0))

    @property
    def peak_effort(self) -> Array:
        """Largest effort of each actuator."""
        return np.asarray(np.nanmax(np.abs(self.efforts), axis=0))

    @property
    def saturation(self) -> float:
        """Part of the instants at which a drive was at its limit."""
        there = np.isfinite(self.efforts).all(axis=1)
        return float(self.saturated[there].any(axis=1).mean()) if there.any() else 0.0


def track(
    robot: Moving,
    law: str,
    of: Tuned,
    reference: JointMotion,
    rng: np.random.Generator,
    *,
    lost: float = 0.5,
) -> Tracked:
    """Let a robot follow a motion under a law.

    In each period, positions are read, the law computes efforts, the drives clip them to their limit and hold them
    until the next period. Noise of the drives is added before clipping. With a delay, the drives first hold what the
    law computes at the beginning of the motion.

    Args:
        robot: The robot, at the beginning of the motion.
        law: One of `LAWS`.
        of: Model, loop and inertia.
        reference: The desired motion of the actuators at the loop's rate.
        rng: For the noise of encoders and drives; the same state gives the same motion, bit for bit.
        lost: Error of an actuator, rad or m, beyond which the robot no longer follows.

    Raises:
        InputError: there is no such law.
    """
    require_law(law)
    loop, n = of.loop, reference.q.shape[1]
    limit, size = loop.limits(n), len(reference.q)
    q, dq, efforts = (np.full((size, n), np.nan) for _ in range(3))
    saturated = np.zeros((size, n), dtype=bool)
    encoder = _Encoder(loop, rng.spawn(1)[0], n)
    drives = rng.spawn(1)[0]
    of.model.restart(reference.q[0])
    waiting: list[Array] = []
    lost_at = None
    for k in range(size):
        q[k], dq[k] = robot.read()
        if not np.abs(q[k] - reference.q[k]).max() <= lost:
            lost_at = k * loop.period
            q[k], dq[k] = np.nan, np.nan
            break
        measured = encoder.read(q[k], dq[k], reference.q[k], reference.dq[k])
        try:
            wanted = LAWS[law](of, Sample(*measured, JointMotion(*(part[k:] for part in reference))))
        except GoughError:  # the model has no solution at what was measured
            lost_at = k * loop.period
            break
        waiting = [*(waiting or [wanted] * loop.delay), wanted]
        command = waiting.pop(0) + loop.effort_noise * drives.standard_normal(n)
        efforts[k] = np.clip(command, -limit, limit)
        saturated[k] = np.abs(command) >= limit
        robot.advance(efforts[k], loop.period)
    times = np.arange(size, dtype=np.float64) * loop.period
    return Tracked(times, q, dq, reference.q, efforts, saturated, lost_at)


class _Encoder:
    """Positions in steps and with noise, and velocities made of them and of the desired motion.

    The low-pass acts on the velocity error alone, so that its delay does no harm while the robot follows.
    """

    def __init__(self, loop: Loop, rng: np.random.Generator, n: int) -> None:
        self._loop, self._rng = loop, rng
        self._before, self._slip = np.zeros(n), np.zeros(n)
        cutoff = loop.velocity_cutoff
        self._kept = 0.0 if cutoff is None else float(np.exp(-2 * np.pi * cutoff * loop.period))

    def read(self, q: Array, dq: Array, wanted: Array, speed: Array) -> tuple[Array, Array]:
        """Measured positions and velocities, for true ones and the desired ones."""
        loop = self._loop
        noisy = q + loop.position_noise * self._rng.standard_normal(len(q))
        step = np.broadcast_to(loop.resolution, q.shape)
        reading = np.where(step > 0, np.floor(noisy / np.where(step > 0, step, 1.0) + 0.5) * step, noisy)
        if loop.velocity_cutoff is None:
            return reading, dq
        error = wanted - reading
        self._slip = self._kept * self._slip + (1 - self._kept) * (error - self._before) / loop.period
        self._before = error
        return reading, speed - self._slip
