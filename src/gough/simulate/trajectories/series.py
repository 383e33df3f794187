"""Fourier series as trajectories, and trajectories of any kind as recordings."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require, require_positive
from gough.data import Recording
from gough.robots.model import DynamicModel, PoseMotion
from gough.simulate.equations import as_parallel


class Motion(NamedTuple):
    """Positions, velocities and accelerations (N, joints) at times (N,).

    Examples:
        >>> times, q, dq, ddq = FourierSeries([0.0], [[1.0]], [[0.0]], frequency=1.0).sample(rate=10.0)
        >>> q.shape
        (10, 1)
    """

    times: Array
    q: Array
    dq: Array
    ddq: Array


class Trajectory(Protocol):
    """What a robot is to follow: analytic, so that velocities and accelerations are exact at every time.

    In the pose of a parallel robot, or in the joints of a robot whose equations are written in joints.

    Examples:
        >>> series = FourierSeries([0.0], [[1.0]], [[0.0]], frequency=0.5)
        >>> trajectory: Trajectory = Periodic(series, periods=3)
        >>> trajectory.duration
        6.0
    """

    @property
    def duration(self) -> float:
        """Seconds."""
        ...

    def at(self, times: Any) -> Motion | PoseMotion:
        """The motion at the given times (N,)."""
        ...

    def sample(self, rate: float) -> Motion | PoseMotion:
        """The motion at `rate` samples a second, from time 0 to before the end."""
        ...


def instants(duration: float, rate: float) -> Array:
    """The times (N,) of `rate` samples a second from 0 to before `duration`.

    Examples:
        >>> instants(0.5, 10.0)
        array([0. , 0.1, 0.2, 0.3, 0.4])
    """
    require_positive(rate, "rate", "samples a second")
    n = round(duration * rate)
    require(n >= 1, f"{duration:g} s at {rate:g} Hz have no sample: raise the rate or the duration")
    return np.arange(n) / rate


@dataclass(frozen=True, eq=False)
class FourierSeries(ArrayValue):
    """A finite Fourier series per joint, with one fundamental frequency for all [AHG, eqs. (13)-(14)].

    q(t) = offset + Σ_k (μ_k sin kωt - ν_k cos kωt) / (kω), so that μ_k and ν_k are amplitudes of the velocity.
    [AHG] writes λ for q, λ₀ for the offset, ω_f for ω.

    Examples:
        >>> swing = FourierSeries(offset=[1.0], mu=[[np.pi]], nu=[[0.0]], frequency=0.5)
        >>> swing.sample(rate=2.0, periods=1).q.ravel().round(12)
        array([1., 2., 1., 0.])
    """

    offset: Array
    """Mean position of each joint (joints,)."""
    mu: Array
    """Sine amplitudes (joints, harmonics) in units of velocity."""
    nu: Array
    """Cosine amplitudes (joints, harmonics) in units of velocity."""
    frequency: float
    """Fundamental frequency in Hz; the period is its inverse."""

    def __post_init__(self) -> None:
        for name, ndim in (("offset", 1), ("mu", 2), ("nu", 2)):
            object.__setattr__(self, name, array(getattr(self, name), name, ndim=ndim))
            require(bool(np.isfinite(getattr(self, name)).all()), f"{name} must be finite")
        shape = self.mu.shape
        require(shape == self.nu.shape, f"mu and nu must have one shape, but have {shape} and {self.nu.shape}")
        require(len(self.offset) == shape[0] > 0, f"{len(self.offset)} offsets do not fit amplitudes {shape}")
        require(shape[1] > 0, "a Fourier series needs at least one harmonic")
        require_positive(self.frequency, "frequency", "Hz")

    @classmethod
    def random(
        cls,
        rng: np.random.Generator,
        *,
        offset: Any,
        amplitude: Any,
        frequency: float,
        n_harmonics: int = 5,
        velocity: Any = np.inf,
        acceleration: Any = np.inf,
    ) -> "FourierSeries":
        """A random series with |q - offset| <= amplitude, |dq| <= velocity and |ddq| <= acceleration at all times.

        Each joint is scaled until the first of its limits is reached by the sum of its amplitudes, a bound that the
        motion itself rarely attains. Harmonics have equal expected shares of the position.

        Args:
            rng: The source of randomness.
            offset: Mean position of each joint.
            amplitude: Greatest distance from it, one number or one per joint.
            frequency: Fundamental frequency in Hz.
            n_harmonics: Number of harmonics.
            velocity: Greatest speed, one number or one per joint.
            acceleration: Greatest acceleration, one number or one per joint.

        Examples:
            >>> motion = FourierSeries.random(np.random.default_rng(1), offset=[2.0, 1.0], amplitude=0.3, frequency=0.2)
            >>> motion.bounds()[0]
            array([0.3, 0.3])
        """
        require(n_harmonics >= 1, "a Fourier series needs at least one harmonic")
        center = array(offset, "offset", ndim=1)
        limits = [
            _limit(value, what, len(center))
            for value, what in ((amplitude, "amplitude"), (velocity, "velocity"), (acceleration, "acceleration"))
        ]
        require(bool(np.isfinite(limits[0]).all()), "amplitude must be finite")
        k = np.arange(1, n_harmonics + 1)
        mu, nu = rng.normal(size=(2, len(center), n_harmonics)) * k  # kω in the denominator makes positions equal
        trial = cls(center, mu, nu, frequency)
        scale = np.min([limit / bound for limit, bound in zip(limits, trial.bounds(), strict=True)], axis=0)
        return cls(center, mu * scale[:, None], nu * scale[:, None], frequency)

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.offset)

    @property
    def n_harmonics(self) -> int:
        """Number of harmonics."""
        return int(self.mu.shape[1])

    @property
    def period(self) -> float:
        """Duration of a period."""
        return 1.0 / self.frequency

    def bounds(self) -> tuple[Array, Array, Array]:
        """Bounds (joints,) of |q - offset|, |dq| and |ddq| at all times: sums of amplitudes."""
        size = np.hypot(self.mu, self.nu)
        pulsation = 2 * np.pi * self.frequency * np.arange(1, self.n_harmonics + 1)
        return (size / pulsation).sum(axis=1), size.sum(axis=1), (size * pulsation).sum(axis=1)

    def at(self, times: Any) -> Motion:
        """The motion at the given times (N,).

        Examples:
            >>> FourierSeries([0.0], [[1.0]], [[0.0]], frequency=1.0).at([0.0]).dq
            array([[1.]])
        """
        instants = array(times, "times", ndim=1)
        return self._motion(instants, self.frequency * instants)

    def sample(self, rate: float, periods: int = 1) -> Motion:
        """The motion at `rate` samples a second over whole periods; each period has exactly the same samples.

        Raises:
            InputError: a period is no whole number of samples, or the rate is too low for the highest harmonic.
        """
        require_count(periods, "periods")
        require_positive(rate, "rate", "samples a second")
        n = round(rate / self.frequency)
        if abs(n - rate / self.frequency) > 1e-9 * max(n, 1):
            raise InputError(
                f"a period of {self.period:g} s has {rate / self.frequency:g} samples at {rate:g} Hz, not a whole "
                f"number; averaging over periods needs one. Choose the rate {max(n, 1) * self.frequency:g} Hz"
            )
        if n <= 2 * self.n_harmonics:
            raise InputError(
                f"{rate:g} samples a second cannot show harmonic {self.n_harmonics} of {self.frequency:g} Hz; "
                f"take more than {2 * self.n_harmonics * self.frequency:g}"
            )
        one = self._motion(np.arange(n) / rate, np.arange(n) / n)
        repeated = (np.tile(part, (periods, 1)) for part in (one.q, one.dq, one.ddq))
        return Motion(np.arange(n * periods) / rate, *repeated)

    def _motion(self, times: Array, cycles: Array) -> Motion:
        """The motion after so many periods, counted as `cycles`; their whole part is dropped before it costs digits."""
        k = np.arange(1, self.n_harmonics + 1)
        angle = 2 * np.pi * np.mod(np.outer(np.mod(cycles, 1.0), k), 1.0)
        sine, cosine = np.sin(angle), np.cos(angle)
        pulsation = 2 * np.pi * self.frequency * k
        q = self.offset + (sine / pulsation) @ self.mu.T - (cosine / pulsation) @ self.nu.T  # [AHG, eq. (13)]
        dq = cosine @ self.mu.T + sine @ self.nu.T
        ddq = (cosine * pulsation) @ self.nu.T - (sine * pulsation) @ self.mu.T
        return Motion(times, q, dq, ddq)


@dataclass(frozen=True, eq=False)
class Periodic(ArrayValue):
    """A Fourier series in the joints, repeated: the trajectory of a robot whose equations are written in joints.

    Examples:
        >>> Periodic(FourierSeries([0.0], [[1.0]], [[0.0]], frequency=0.5), periods=2).sample(10.0).q.shape
        (40, 1)
    """

    series: FourierSeries
    periods: int = 1
    """How often the series is repeated."""

    def __post_init__(self) -> None:
        require_count(self.periods, "periods")

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.series.period * self.periods

    def at(self, times: Any) -> Motion:
        """The motion at the given times (N,)."""
        return self.series.at(times)

    def sample(self, rate: float) -> Motion:
        """The motion at `rate` samples a second; each period has exactly the same samples."""
        return self.series.sample(rate, self.periods)


def require_count(value: Any, what: str) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    require(whole and value >= 1, f"{what} must be a whole number, at least 1, but is {value}")


def _limit(value: Any, what: str, n_joints: int) -> Array:
    limit = np.array(value, dtype=np.float64)
    require(
        limit.shape in ((), (n_joints,)), f"{what} must be one number or {n_joints}, but its shape is {limit.shape}"
    )
    require(bool(np.all(limit > 0)), f"{what} must be positive")
    return np.broadcast_to(limit, (n_joints,))


def benchmark_circle(
    center: Any,
    radius: float,
    *,
    rate: float,
    speed: float = 1.0,
    inclination: float = np.radians(30.0),
    mirrored: bool = False,
) -> FourierSeries:
    """A circle at constant speed, in a plane through the x axis inclined by 30° [AHG, §V], as a series of one harmonic.

    Args:
        center: A pose; its first three coordinates are x, y and z, the others stay as they are.
        radius: In m.
        rate: Samples a second; the speed is changed a little so that a period is a whole number of them.
        speed: About so many m/s.
        inclination: Angle between the plane and the horizontal, in rad.
        mirrored: The plane is inclined to the other side: the mirror image of the motion.

    Examples:
        >>> circle = benchmark_circle([0.0, 0.0, -0.43, 0.0], 0.08, rate=1000.0)
        >>> circle.at([0.0]).q.round(3)
        array([[ 0.08,  0.  , -0.43,  0.  ]])
        >>> round(float(np.linalg.norm(circle.at([0.1]).dq)), 2)
        1.0
    """
    middle = array(center, "center", ndim=1)
    require(len(middle) >= 3, f"a circle in space needs a center with x, y and z, but it has {len(middle)} coordinates")
    for name, value in (("radius", radius), ("speed", speed), ("rate", rate)):
        require_positive(value, name)
    n = round(2 * np.pi * radius / speed * rate)
    require(n >= 8, f"one turn has {n} samples at {rate:g} Hz: raise the rate, or lower the speed")
    frequency = rate / n
    v = 2 * np.pi * frequency * radius
    mu, nu = np.zeros((2, len(middle), 1))
    nu[0] = -v  # x = radius · cos ωt
    mu[1], mu[2] = v * np.cos(inclination), v * np.sin(inclination) * (-1 if mirrored else 1)
    return FourierSeries(middle, mu, nu, frequency)


def as_recording(robot: DynamicModel, trajectory: Trajectory, rate: float) -> Recording:
    """A trajectory sampled `rate` times a second: positions, velocities and accelerations of the actuators, and poses.

    Channels are the robot's coordinates q…, dq…, ddq…, and the names of its pose; `gough.data.write_recording` writes
    them to a file.

    Raises:
        InputError: the trajectory leaves the workspace or meets a singularity; the message names the first such sample.

    Examples:
        >>> from gough.simulate import PickAndPlace
        >>> from gough.robots import Delta
        >>> as_recording(Delta(), PickAndPlace([0.0, 0.0, -0.85], cycle=0.5, cycles=1), 100.0).names
        ('q1', 'q2', 'q3', 'dq1', 'dq2', 'dq3', 'ddq1', 'ddq2', 'ddq3', 'x', 'y', 'z')
    """
    moved: Any = trajectory.sample(rate)
    x, dx, ddx = moved[1:] if isinstance(moved, Motion) else moved
    in_pose = as_parallel(robot)
    q, dq, ddq = (x, dx, ddx) if in_pose is None else in_pose.joint_motion(x, dx, ddx)
    names = [f"{d}{name}" for d in ("", "d", "dd") for name in robot.coordinates]
    units = [f"{unit}{per}" for per in ("", "/s", "/s²") for unit in robot.coordinate_units]
    samples = [q, dq, ddq]
    if in_pose is not None:
        names += [name if name not in names else f"pose {name}" for name in in_pose.pose_names]
        units += in_pose.pose_units
        samples.append(x)
    return Recording(tuple(names), tuple(units), np.hstack(samples), rate, source=f"trajectory of {robot.name}")
