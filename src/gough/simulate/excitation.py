"""Excitation of a parallel robot: a slow phase for friction, a fast one for inertia, both within the robot's limits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.robots.model import ParallelRobot, PoseMotion
from gough.simulate.equations import equations
from gough.simulate.trajectories import FourierSeries, instants, require_count

_SHRINK = 0.85
"""Factor by which a phase beyond a limit is made smaller, again and again."""
_FINE = 50
"""Samples in a period of the highest harmonic at which limits are checked."""
_LEAST = 0.05
"""A phase that is infeasible at this share of its wanted size is given up."""
_RANK = 1e-10
"""Singular values of the scaled regressor below this share of the largest belong to no parameter."""


@dataclass(frozen=True, eq=False)
class Limits(ArrayValue):
    """What a robot must not exceed while it is excited.

    Examples:
        >>> Limits(efforts=15.0, joint_speed=20.0).margin
        0.05
    """

    efforts: Any = np.inf
    """Greatest effort of each actuator that the blueprint predicts: one number, or one per actuator."""
    joint_speed: Any = np.inf
    """Greatest speed of each actuator."""
    margin: float = 0.05
    """Least `robot.margin`, the distance to singularity."""
    reach: float = 0.05
    """Least `robot.reach`, the distance of each chain to the edge of its workspace."""

    def __post_init__(self) -> None:
        for name in ("efforts", "joint_speed"):
            value = array(getattr(self, name), name, ndim=(0, 1))
            require(bool((value > 0).all()), f"{name} must be positive")
            object.__setattr__(self, name, value if value.ndim else float(value))
        for name in ("margin", "reach"):
            require(getattr(self, name) >= 0, f"{name} must not be negative, but is {getattr(self, name)}")

    def exceeded(self, robot: ParallelRobot, parameters: Any, motion: PoseMotion) -> str:
        """Which limit a finely sampled motion exceeds, in words; empty where it keeps them all.

        Between samples a value is taken to go beyond them by at most a quarter of the largest second difference:
        twice what a parabola through three samples does.

        Examples:
            >>> from gough.robots import H4
            >>> robot = H4()
            >>> away = PoseMotion(robot.home + [[0.9, 0, 0, 0]], np.zeros((1, 4)), np.zeros((1, 4)))
            >>> Limits().exceeded(robot, robot.nominal, away)
            'the pose is out of reach'
        """
        reach, margin = robot.reach(motion.x), robot.margin(motion.x)
        if not (reach > 0).all():
            return "the pose is out of reach"
        if not (reach - _between(reach) >= self.reach).all():
            return f"a chain comes nearer than {self.reach:g} to the edge of its workspace"
        if not (margin - _between(margin) >= self.margin).all():
            return f"the distance to singularity falls below {self.margin:g}"
        joints = robot.joint_motion(*motion)
        if not (np.abs(joints.dq) + _between(joints.dq) <= self.joint_speed).all():
            return "an actuator is too fast"
        if np.isfinite(self.efforts).any():
            required = _required_efforts(robot, parameters, motion)
            if not (np.abs(required) + _between(required) <= self.efforts).all():
                return "an actuator needs too large an effort"
        return ""


def _required_efforts(robot: ParallelRobot, parameters: Any, motion: PoseMotion) -> Array:
    values = array(parameters, "parameters", ndim=1)
    wanted = len(robot.names)
    require(len(values) == wanted, f"{robot.name} has {wanted} parameters, not {len(values)}")
    return np.asarray(equations(robot).regressor(*motion) @ values)


def _between(values: Array) -> Array:
    """How far, at most, values are taken to stray beyond their samples: per channel."""
    if len(values) < 3:
        return np.zeros(values.shape[1:])
    return np.asarray(np.abs(np.diff(values, n=2, axis=0)).max(axis=0) / 4)


@dataclass(frozen=True, eq=False)
class SlowThenFast(ArrayValue):
    """Two Fourier series of the pose, one after the other, each from rest at home to rest at home.

    "Exciting trajectories containing both slow (for friction) and high dynamics (for inertia)" [PRV03i, §4.1],
    [NCPP, §V.B]. In each phase the displacement from home is that of its series times a window that rises from 0 to 1
    and falls again within `blend` seconds, with three continuous derivatives; longer in the slow phase, so that all of
    it is slow.

    Examples:
        >>> home = [0.0, 0.0, -0.4]
        >>> series = [FourierSeries(home, 0.1 * np.ones((3, 2)), np.zeros((3, 2)), frequency=f) for f in (0.1, 0.5)]
        >>> motion = SlowThenFast(*series)
        >>> motion.duration, motion.at([0.0, 10.0]).x
        (20.0, array([[ 0. ,  0. , -0.4],
               [ 0. ,  0. , -0.4]]))
    """

    slow: FourierSeries
    fast: FourierSeries
    seconds: tuple[float, float] = (10.0, 10.0)
    """Durations of the two phases."""
    blend: tuple[float, float] | None = None
    """Seconds of the rise, and of the fall, of the window of each phase; None takes 1.5 and 0.5, or a quarter of a
    phase that is short."""

    def __post_init__(self) -> None:
        same = np.array_equal(self.slow.offset, self.fast.offset)
        require(same, "both phases must have the same offset, their home: the motion rests there between them")
        object.__setattr__(self, "blend", _blends(self.seconds, self.blend))
        for name in ("seconds", "blend"):
            both = tuple(float(s) for s in getattr(self, name))
            object.__setattr__(self, name, both)
            require(len(both) == 2, f"{name} must be two durations: of the slow phase and of the fast one")
            require(min(both) > 0, f"{name} must be positive, but is {both}")
        for seconds, blend in zip(self.seconds, self._blend, strict=True):
            require(seconds >= 2 * blend, f"a phase of {seconds:g} s must last at least twice its blend of {blend:g} s")

    @property
    def _blend(self) -> tuple[float, float]:
        assert self.blend is not None
        return self.blend

    @property
    def home(self) -> Array:
        """The pose at the beginning, between the phases, and at the end."""
        return self.slow.offset

    @property
    def duration(self) -> float:
        """Seconds of both phases."""
        return sum(self.seconds)

    def at(self, times: Any) -> PoseMotion:
        """Poses, velocities and accelerations (N, m) at the given times (N,); at rest before 0 and after the end."""
        t = array(times, "times", ndim=1)
        moved = np.zeros((3, len(t), len(self.home)))
        start = 0.0
        for series, seconds, blend in zip((self.slow, self.fast), self.seconds, self._blend, strict=True):
            during = (t >= start) & (t < start + seconds)
            moved[:, during] = _phase(series, seconds, blend, t[during] - start)
            start += seconds
        return PoseMotion(self.home + moved[0], moved[1], moved[2])

    def sample(self, rate: float) -> PoseMotion:
        """The motion at `rate` samples a second."""
        return self.at(instants(self.duration, rate))

    @classmethod
    def search(
        cls,
        rng: np.random.Generator,
        robot: ParallelRobot,
        *,
        amplitude: Any,
        parameters: Any = None,
        limits: Limits | None = None,
        slow: tuple[float, int] = (0.1, 3),
        fast: tuple[float, int] = (0.5, 5),
        seconds: tuple[float, float] = (10.0, 10.0),
        blend: tuple[float, float] | None = None,
        candidates: int = 40,
    ) -> "SlowThenFast":
        """The feasible random motion whose regressor has the least condition number, its columns scaled to length 1.

        A phase that exceeds a limit is made smaller until it keeps it.

        Args:
            rng: The source of randomness.
            robot: The model whose parameters are to be identified.
            amplitude: Greatest displacement from home of each pose coordinate (m,).
            parameters: By which efforts are predicted; None takes the robot's nominal ones.
            limits: What must not be exceeded; None takes the defaults of `Limits`.
            slow: Fundamental frequency in Hz and number of harmonics of the slow phase.
            fast: The same of the fast phase.
            seconds: Durations of the two phases.
            blend: Seconds of the rise, and of the fall, of the window of each phase; None as of the class.
            candidates: Number of motions to compare.

        Raises:
            InputError: no candidate is feasible; the message names the limit that stood most often in the way.

        Examples:
            >>> from gough.robots import H4
            >>> motion = SlowThenFast.search(
            ...     np.random.default_rng(1), H4(), amplitude=[0.1, 0.1, 0.05, 0.5], candidates=3
            ... )
            >>> motion.duration
            20.0
        """
        require_count(candidates, "candidates")
        limits = Limits() if limits is None else limits
        theta = robot.nominal if parameters is None else parameters
        build = _Candidates(robot, theta, limits, array(amplitude, "amplitude", ndim=1))
        best: tuple[float, SlowThenFast] | None = None
        for _ in range(candidates):
            phases = zip((slow, fast), seconds, _blends(seconds, blend), strict=True)
            pair = [build.series(rng, *how, length, window) for how, length, window in phases]
            if pair[0] is None or pair[1] is None:
                continue
            motion = cls(pair[0], pair[1], seconds, blend)
            score = condition(robot, motion.sample(build.coarse(fast)))
            if best is None or score < best[0]:
                best = (score, motion)
        if best is None:
            raise InputError(build.complaint(candidates))
        return best[1]


class _Candidates:
    """Random phases of a search, made feasible; counts what stood in the way."""

    def __init__(self, robot: ParallelRobot, parameters: Any, limits: Limits, amplitude: Array) -> None:
        m = len(robot.pose_names)
        require(len(amplitude) == m, f"{robot.name} has {m} pose coordinates, but amplitude has {len(amplitude)}")
        self.robot, self.parameters, self.limits = robot, parameters, limits
        self.amplitude = amplitude
        self.refused: dict[str, int] = {}

    def series(
        self, rng: np.random.Generator, frequency: float, n_harmonics: int, seconds: float, blend: float
    ) -> FourierSeries | None:
        """A random series, at most as large as wanted, whose phase keeps the limits; None where none is found."""
        home = self.robot.home
        full = FourierSeries.random(
            rng, offset=home, amplitude=self.amplitude, frequency=frequency, n_harmonics=n_harmonics
        )
        times = instants(seconds, _FINE * frequency * n_harmonics)
        size, why = 1.0, ""
        while size >= _LEAST:
            series = FourierSeries(home, size * full.mu, size * full.nu, frequency)
            x, dx, ddx = _phase(series, seconds, blend, times)
            why = self.limits.exceeded(self.robot, self.parameters, PoseMotion(home + x, dx, ddx))
            if not why:
                return series
            size *= _SHRINK
        self.refused[why] = self.refused.get(why, 0) + 1
        return None

    def coarse(self, fast: tuple[float, int]) -> float:
        """Samples a second that are enough for a condition number."""
        return 10 * fast[0] * fast[1]

    def complaint(self, candidates: int) -> str:
        """Why no candidate is feasible."""
        why = max(self.refused, key=lambda word: self.refused[word])
        return (
            f"none of {candidates} random motions of {self.robot.name} keeps its limits, not even at "
            f"{_LEAST:.0%} of the wanted amplitude: {why}. Loosen that limit, or slow the motion down"
        )


def condition(robot: ParallelRobot, motion: PoseMotion) -> float:
    """Condition number of the regressor along a motion, each column scaled to length 1.

    Directions that no motion shows (columns that depend on each other) are left out.

    Examples:
        >>> from gough.robots import H4
        >>> motion = SlowThenFast.search(
        ...     np.random.default_rng(1), H4(), amplitude=[0.1, 0.1, 0.05, 0.5], candidates=1
        ... )
        >>> condition(H4(), motion.sample(100.0)) < 200
        True
    """
    W = equations(robot).regressor(*motion)
    W = W.reshape(-1, W.shape[-1])
    length = np.linalg.norm(W, axis=0)
    with one_blas_thread():
        sizes = np.linalg.svd(W[:, length > 0] / length[length > 0], compute_uv=False)
    return float(sizes[0] / sizes[sizes > _RANK * sizes[0]][-1])


def _blends(seconds: tuple[float, ...], blend: tuple[float, float] | None) -> tuple[float, ...]:
    return tuple(min(b, s / 4) for b, s in zip((1.5, 0.5), seconds, strict=False)) if blend is None else blend


def _phase(series: FourierSeries, seconds: float, blend: float, t: Array) -> Array:
    """Displacement from home, velocity and acceleration (3, N, m) at times within a phase: the product rule."""
    _, x, dx, ddx = series.at(t)
    u = x - series.offset
    falling = t > seconds / 2
    w, dw, ddw = _smooth_step(np.where(falling, seconds - t, t) / blend)
    dw = np.where(falling, -dw, dw) / blend
    w, dw, ddw = w[:, None], dw[:, None], ddw[:, None] / blend**2
    return np.stack([w * u, w * dx + dw * u, w * ddx + 2 * dw * dx + ddw * u])


def _smooth_step(u: Array) -> tuple[Array, Array, Array]:
    """From 0 at u = 0 to 1 at u = 1 with three derivatives zero at both ends, and its two derivatives."""
    u = np.clip(u, 0.0, 1.0)
    value = u**4 * (35 + u * (-84 + u * (70 - 20 * u)))
    return value, 140 * (u * (1 - u)) ** 3, 420 * (u * (1 - u)) ** 2 * (1 - 2 * u)
