"""Motions for a robot to follow that its identification has not seen: random ones, those of the papers, a user's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import GoughError, InputError, nearest, require
from gough.data import read_recording
from gough.export import IdentifiedDynamics
from gough.robots import H4
from gough.robots.model import JointMotion, PoseMotion
from gough.simulate import Circle, FourierSeries, Limits, PickAndPlace, Ramped, SlowThenFast
from gough.simulate.trajectories import instants

_MOST_SAMPLES = 200_000
_LEAST_MARGIN = 0.4
"""Part of the distance from singularity at home below which random motions are made smaller: near a singularity
efforts and errors of the pose grow without bound."""


@dataclass(frozen=True, eq=False)
class DesiredMotion(ArrayValue):
    """A motion of the actuators at the rate of a controller, and of the platform where the robot has a pose."""

    name: str
    rate: float
    joints: JointMotion
    pose: PoseMotion | None

    def __len__(self) -> int:
        return len(self.joints.q)

    @property
    def times(self) -> Array:
        """Seconds (N,)."""
        return np.arange(len(self)) / self.rate

    def outside(self, dynamics: IdentifiedDynamics) -> float:
        """Part of the instants at which the motion leaves the range of the data: positions, speeds, accelerations."""
        seen = dynamics.seen
        pairs = zip(self.joints, (seen.q, seen.dq, seen.ddq), strict=True)
        beyond = [((own < ends[0]) | (own > ends[1])).any(axis=1) for own, ends in pairs]
        return float(np.logical_or.reduce(beyond).mean())


def desired_motion(
    dynamics: IdentifiedDynamics, name: str, *, rate: float, rng: np.random.Generator, seconds: float = 3.0
) -> DesiredMotion:
    """The motion of this name, or of this file.

    Args:
        dynamics: The identified robot.
        name: One of `MOTIONS`, or a file (CSV, Parquet, .mat, .npz) with a column of times and one for each actuator or
            each coordinate of the pose.
        rate: Samples a second of the controller.
        rng: For random motions.
        seconds: Duration of random motions.

    Raises:
        InputError: there is no such motion or file, it lacks a column, or this robot cannot reach it.
    """
    if name in MOTIONS:
        require(
            seconds * rate <= _MOST_SAMPLES,
            f"a motion of {seconds:g} s at {rate:g} samples a second has {seconds * rate:.3g} samples, but at most "
            f"{_MOST_SAMPLES} are simulated: shorten it, or lower the rate",
        )
        moved = MOTIONS[name](dynamics, rate, rng, seconds)
    elif "." in Path(name).name:
        moved = _from_file(dynamics, Path(name), rate)
    else:
        raise InputError(
            f"there is no motion '{name}'{nearest(name, MOTIONS)} (known: {', '.join(MOTIONS)}, or a file such as "
            "motion.csv)"
        )
    return _reachable(dynamics.robot, name, rate, moved)


def _reachable(robot: Any, name: str, rate: float, moved: JointMotion | PoseMotion) -> DesiredMotion:
    """The motion in joints and pose; refused where it is out of reach, with the first such instant."""
    try:
        if isinstance(moved, PoseMotion):
            joints = robot.joint_motion(*moved)
            pose: PoseMotion | None = moved
        else:
            joints = moved
            pose = robot.pose_motion(*moved) if hasattr(robot, "pose_motion") else None
        finite = np.isfinite(np.hstack(joints)).all()
    except GoughError as error:
        raise InputError(f"the motion '{name}' is out of reach of the {robot.name}: {error}") from error
    require(bool(finite), f"the motion '{name}' is out of reach of the {robot.name}, or has a jump")
    return DesiredMotion(name, rate, JointMotion(*joints), pose)


def _random(dynamics: IdentifiedDynamics, rate: float, rng: np.random.Generator, seconds: float) -> JointMotion:
    """A random series of all actuators from rest to rest, mostly in the range of the data."""
    robot: Any = dynamics.robot
    seen = dynamics.seen
    middle = (seen.q[0] + seen.q[1]) / 2
    home = robot.inverse(robot.home) if hasattr(robot, "pose_names") else middle
    inside = ((home > seen.q[0]) & (home < seen.q[1])).all()
    center = home if inside else middle
    size = 0.9 * np.minimum(seen.q[1] - center, center - seen.q[0])
    ramp = 0.2 * seconds
    speed, acceleration = (0.9 * np.abs(each).min(axis=0) for each in (seen.dq, seen.ddq))
    full = FourierSeries.random(
        rng,
        offset=center,
        amplitude=size,
        frequency=1 / (seconds - 2 * ramp),
        n_harmonics=3,
        velocity=speed,
        acceleration=acceleration,
    )
    part = 1.0
    for _ in range(20):
        series = FourierSeries(center, part * full.mu, part * full.nu, full.frequency)
        moved = JointMotion(*Ramped(series, center, periods=1, ramp=ramp).sample(rate))
        if _is_clear(robot, moved):
            return moved
        part *= 0.85
    raise InputError(f"no random motion of the {robot.name} in the range of its data is reachable: use another --seed")


def _is_clear(robot: Any, moved: JointMotion) -> bool:
    if not hasattr(robot, "pose_motion"):
        return bool(np.isfinite(robot.regressor(*moved)).all())
    try:
        x = robot.pose_motion(*moved).x
    except GoughError:
        return False
    return bool(robot.margin(x).min() > _LEAST_MARGIN * robot.margin(robot.home))


def _h4_fast(dynamics: IdentifiedDynamics, rate: float, rng: np.random.Generator, seconds: float) -> PoseMotion:
    robot: Any = dynamics.robot
    if not isinstance(robot, H4):
        raise InputError(f"the motion 'h4-fast' is that of an H4, but the results are of another robot, {robot.name}")
    limits = Limits(efforts=10.0, joint_speed=20.0, margin=0.1, reach=0.2)
    found = SlowThenFast.search(
        rng, robot, amplitude=[0.12, 0.12, 0.06, 0.7], limits=limits, seconds=(seconds, seconds), candidates=5
    )
    return found.at(seconds + instants(seconds, rate))


def _circle(dynamics: IdentifiedDynamics, rate: float, *_: Any) -> PoseMotion:
    robot = _with_position(dynamics, "circle", (3, 4, 5, 6))
    radius, speed = 0.12, 1.0
    turn = 2 * np.pi * radius / speed
    return Circle(robot.home, radius, inclination=np.pi / 6, turn=turn, turns=2, ramp=0.5).sample(rate)


def _adept(dynamics: IdentifiedDynamics, rate: float, *_: Any) -> PoseMotion:
    robot = _with_position(dynamics, "adept", (3, 4))
    return PickAndPlace(robot.home).sample(rate)


def _with_position(dynamics: IdentifiedDynamics, name: str, sizes: tuple[int, ...]) -> Any:
    robot: Any = dynamics.robot
    names = tuple(getattr(robot, "pose_names", ()))
    if names[:3] != ("x", "y", "z") or len(names) not in sizes:
        known = ", ".join(names) or "joints only"
        raise InputError(
            f"the motion '{name}' moves a platform in x, y, z, but the results are of another robot: the {robot.name} "
            f"has {known}. Use random, or a file"
        )
    return robot


MOTIONS: Mapping[str, Callable[[IdentifiedDynamics, float, np.random.Generator, float], JointMotion | PoseMotion]] = (
    MappingProxyType({"random": _random, "h4-fast": _h4_fast, "circle": _circle, "adept": _adept})
)
"""Motions by name: a random one in the range of the data; the fast phase of the H4 papers [PRV03i, §4.1]; the circle of
PaLiDA, inclined by 30° at 1 m/s [AHG, §V]; the Adept cycle of Par4, 25-305-25 mm in 0.25 s at 15 g [NCPP, §III]."""


def _from_file(dynamics: IdentifiedDynamics, path: Path, rate: float) -> JointMotion | PoseMotion:
    """Positions of a file, interpolated by splines of degree five, whose derivatives are velocity and acceleration."""
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 - start-up time

    robot: Any = dynamics.robot
    pose = tuple(getattr(robot, "pose_names", ()))
    joints = tuple(robot.coordinates)
    recording = _recording(path, joints)
    for names, units, kind in (
        (joints, robot.coordinate_units, JointMotion),
        (pose, getattr(robot, "pose_units", ()), PoseMotion),
    ):
        if names and set(names) <= set(recording.names):
            _require_units(recording, dict(zip(names, units, strict=True)), path)
            samples = np.stack([recording[name] for name in names], axis=1)
            require(len(samples) >= 6, f"{path}: a motion needs at least 6 rows, but has {len(samples)}")
            spline = make_interp_spline(np.arange(len(samples)) / recording.rate, samples, k=5)
            seconds = (len(samples) - 1) / recording.rate
            require(
                seconds * rate <= _MOST_SAMPLES,
                f"{path}: {seconds:g} s at {rate:g} samples a second are more than the {_MOST_SAMPLES} samples that "
                "are simulated: cut the motion, or lower the rate",
            )
            t = instants(seconds, rate)
            return kind(*(np.asarray(spline(t, order)) for order in (0, 1, 2)))
    best = max((joints, pose), key=lambda names: len(set(names) & set(recording.names)))
    missing = [name for name in best if name not in recording.names]
    either = f" or {', '.join(pose)}" if pose and set(pose) != set(joints) else ""
    raise InputError(
        f"{path} has no column '{missing[0]}': a motion of the {robot.name} needs the columns time and "
        f"{', '.join(joints)}{either}"
    )


def _recording(path: Path, joints: tuple[str, ...]) -> Any:
    """The file, with a column 'time' in it; refused in the words of a motion, not of a study."""
    try:
        return read_recording(path)
    except InputError as error:
        raise InputError(
            f"{path} cannot be read as a motion. It needs a column 'time' with rising, evenly spaced seconds, and a "
            f"number in each cell of {', '.join(joints)}. The reader says: {error}"
        ) from error


def _require_units(recording: Any, units: Mapping[str, str], path: Path) -> None:
    found = dict(zip(recording.names, recording.units, strict=True))
    for name, unit in units.items():
        if found[name] not in ("", unit):
            raise InputError(f"{path}: column '{name}' is in {found[name]}, but the robot's '{name}' is in {unit}")
