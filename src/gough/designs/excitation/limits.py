"""Limits of a designed motion: ranges, speeds, accelerations, efforts, passive joints, tilt, distances."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

import numpy as np

from gough.core.arguments import pair, ranges, real
from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, nearest, require
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.model import DynamicModel
from gough.simulate.equations import as_parallel

Range = tuple[float, float]

_ROTARY, _LINEAR, _SHARE = 0.02, 1e-3, 0.002
"""Tracking errors that are assumed: of rotary actuators (rad), of linear ones (m), and as a share of their range."""


@dataclass(frozen=True)
class Channel:
    """One quantity that must stay between two numbers at all times.

    Examples:
        >>> float(Channel("speed", 0, "speed of q1", "rad/s", -8.0, 8.0, 8.0).beyond(6.0))
        -0.25
    """

    kind: str
    """position, speed, acceleration, effort, joint, pose, margin or reach."""
    index: int
    """Which actuator, coordinate of the mechanism, or pose coordinate."""
    name: str
    """Name in messages."""
    unit: str
    lower: float = -inf
    upper: float = inf
    size: float = 1.0
    """By which a violation is divided to compare it with others: half the range, or the value at home."""

    @property
    def follows_positions(self) -> bool:
        """Does it depend on the actuators' positions alone, and so on their tracking errors?"""
        return self.kind in {"position", "joint", "pose", "margin", "reach"}

    def beyond(self, value: Any) -> Any:
        """By how much of `size` values lie outside; negative inside."""
        below = self.lower - value if isfinite(self.lower) else -inf
        above = value - self.upper if isfinite(self.upper) else -inf
        return np.maximum(below, above) / self.size


@dataclass(frozen=True, eq=False)
class MotionLimits(ArrayValue):
    """Limits of a designed motion, which hold at all times. SI units; one number, or one per actuator.

    Speeds and efforts must be stated, be it as `inf`: a motion that is designed without them is the fastest that the
    equations allow, and no robot can follow it.

    Examples:
        >>> limits = MotionLimits(speeds=10.0, efforts=[12.0, 12.0, 15.0, 15.0], pose={"θ": (-0.5, 0.5)})
        >>> limits.margin
        0.5
    """

    speeds: Any = None
    """Greatest speed of each actuator."""
    efforts: Any = None
    """Greatest force or torque of each actuator that the nominal parameters predict."""
    accelerations: Any = inf
    """Greatest acceleration of each actuator."""
    positions: tuple[Any, Any] | None = None
    """Least and greatest position of each actuator, such as the length of a strut; None where only reach limits it."""
    joints: Mapping[str, Range] = field(default_factory=dict)
    """Least and greatest angle of passive joints, by the names of the robot's `coordinate_names`."""
    pose: Mapping[str, Range] = field(default_factory=dict)
    """Least and greatest value of coordinates of the pose (or of the joints, where the motion is given in those):
    a box to stay in, and greatest tilts."""
    margin: float = 0.5
    """Least distance to singularity `robot.margin`, as a share of that at home. Without it a design that maximizes
    information ends in a singularity."""
    reach: float = 0.1
    """Least distance of each chain to the edge of its workspace `robot.reach`, as a share of that at home."""
    tracking: Any = None
    """Greatest tracking error of each actuator: how far the controller lets it deviate from its designed position. All
    limits of positions, passive joints, pose, margin and reach hold for every error up to this size. By default 20 mrad
    of rotary actuators, and of linear ones 0.2 % of the range in `positions`, or 1 mm where none is stated."""

    def __post_init__(self) -> None:
        for name in ("speeds", "efforts", "accelerations"):
            value = getattr(self, name)
            if value is not None:
                limit = array(value, name, ndim=(0, 1))
                require(bool((limit > 0).all()), f"{name} must be positive, but is {value}")
                object.__setattr__(self, name, limit if limit.ndim else float(limit))
        if self.tracking is not None:
            error = array(self.tracking, "tracking", ndim=(0, 1))
            good = bool((error >= 0).all() and np.isfinite(error).all())
            require(good, f"tracking must be a finite error of at least 0, in rad or m, but is {self.tracking}")
            object.__setattr__(self, "tracking", error if error.ndim else float(error))
        for name in ("margin", "reach"):
            share = real(getattr(self, name), name)
            object.__setattr__(self, name, share)
            require(0 <= share < 1, f"{name} is a share of what it is at home, from 0 to below 1, but is {share}")
        require(
            self.margin > 0,
            "margin must be positive: a motion designed to be informative ends in a singularity if nothing forbids it",
        )
        object.__setattr__(self, "joints", ranges(self.joints, "joints"))
        object.__setattr__(self, "pose", ranges(self.pose, "pose"))
        if self.positions is not None:
            for end in pair(self.positions, "positions"):
                array(end, "positions", ndim=(0, 1))
        for name, (low, high) in (*self.joints.items(), *self.pose.items()):
            require(low < high, f"the range of {name} must have lower < upper, but is {low:g} to {high:g}")

    @classmethod
    def stated(cls, robot: Any, **others: Any) -> "MotionLimits":
        """The limits that the robot's own description states, with `others` added or put in their place.

        Examples:
            >>> from gough.robots import Palida
            >>> limits = MotionLimits.stated(Palida(), margin=0.4)
            >>> limits.speeds.max(), limits.efforts.max(), limits.positions[1][0]
            (np.float64(1.2), np.float64(230.0), 1.15)
        """
        if not isinstance(robot, ClosedChain):
            return cls(**others)
        freedoms = robot.mechanism.freedoms
        known = {name: freedom.limits for name, freedom in freedoms.items() if freedom.limits is not None}
        actuated = [known.get(name) for name in robot.coordinates]
        limits: dict[str, Any] = {}
        for word, key in (("speeds", "speed"), ("efforts", "effort"), ("accelerations", "acceleration")):
            values = [inf if one is None else getattr(one, key) for one in actuated]
            if any(map(isfinite, values)):
                limits[word] = values
        if any(one is not None for one in actuated):
            limits["positions"] = (
                [-inf if one is None else one.lower for one in actuated],
                [inf if one is None else one.upper for one in actuated],
            )
        passive = (name for name in robot.coordinate_names if name in known and name not in robot.coordinates)
        limits["joints"] = {name: (known[name].lower, known[name].upper) for name in passive if known[name].is_bounded}
        return cls(**{**limits, **others})

    def channels(self, robot: DynamicModel, home: Array) -> tuple[Channel, ...]:
        """Everything that is limited, as one list.

        Raises:
            InputError: speeds or efforts are not stated, or a joint or coordinate is not known.
        """
        self._require_stated(robot)
        channels = [*self._actuators(robot), *self._joints(robot), *self._pose(robot), *self._distances(robot, home)]
        return tuple(one for one in channels if isfinite(one.lower) or isfinite(one.upper))

    def tracking_errors(self, robot: DynamicModel) -> Array:
        """The greatest tracking error of each actuator (n,), in rad or m: as stated, or the default.

        Examples:
            >>> from gough.robots import Delta, Palida
            >>> MotionLimits(speeds=8.0, efforts=10.0).tracking_errors(Delta())
            array([0.02, 0.02, 0.02])
            >>> MotionLimits.stated(Palida()).tracking_errors(Palida()).round(5)[:2]
            array([0.001, 0.001])
        """
        n = len(robot.actuators)
        if self.tracking is not None:
            alike = np.ndim(self.tracking) > 0 or not self.tracking or len(set(robot.coordinate_units)) == 1
            require(alike, f"{robot.name} has rotary and linear actuators: give one tracking error for each of {n}")
            return _each(self.tracking, n, "tracking")
        lengths = [high - low for low, high in zip(*self._ends(n), strict=True)]
        return np.array(
            [
                _ROTARY if unit == "rad" else _SHARE * length if isfinite(length) else _LINEAR
                for unit, length in zip(robot.coordinate_units, lengths, strict=True)
            ]
        )

    def _require_stated(self, robot: DynamicModel) -> None:
        units = {"speeds": f"{robot.coordinate_units[0]}/s", "efforts": robot.effort_units[0]}
        for name, unit in units.items():
            require(
                getattr(self, name) is not None,
                f"the limit '{name}' of {robot.name} is missing: state the greatest that its actuators can do, in "
                f"{unit}; write inf if there is none",
            )

    def _actuators(self, robot: DynamicModel) -> Iterator[Channel]:
        n = len(robot.actuators)
        for i, (low, high) in enumerate(zip(*self._ends(n), strict=True)):
            require(low < high, f"the range of {robot.coordinates[i]} must have lower < upper, not {low:g}, {high:g}")
            size = (high - low) / 2 if isfinite(high - low) else 1.0
            yield Channel("position", i, robot.coordinates[i], robot.coordinate_units[i], low, high, size)
        kinds = (
            ("speed", self.speeds, "/s"),
            ("acceleration", self.accelerations, "/s²"),
            ("effort", self.efforts, ""),
        )
        for kind, value, per in kinds:
            for i, most in enumerate(_each(value, n, f"{kind}s")):
                unit = robot.effort_units[i] if kind == "effort" else robot.coordinate_units[i] + per
                of = robot.actuators[i] if kind == "effort" else robot.coordinates[i]
                yield Channel(kind, i, f"{kind} of {of}", unit, -most, most, most)

    def _ends(self, n: int) -> tuple[Array, Array]:
        if self.positions is None:
            return np.full(n, -inf), np.full(n, inf)
        low, high = self.positions
        return _each(low, n, "the least position"), _each(high, n, "the greatest position")

    def _joints(self, robot: Any) -> Iterator[Channel]:
        known = getattr(robot, "coordinate_names", ())
        for name, (low, high) in self.joints.items():
            if name not in known:
                has = f"(known: {', '.join(known)})" if known else "(it has no passive joints that can be limited)"
                raise InputError(f"{robot.name} has no joint '{name}'{nearest(name, known)} {has}")
            yield Channel("joint", known.index(name), name, "rad", low, high, _half(low, high))

    def _pose(self, robot: DynamicModel) -> Iterator[Channel]:
        in_pose = as_parallel(robot)
        names = robot.coordinates if in_pose is None else in_pose.pose_names
        units = robot.coordinate_units if in_pose is None else in_pose.pose_units
        for name, (low, high) in self.pose.items():
            if name not in names:
                raise InputError(
                    f"{robot.name} has no coordinate '{name}'{nearest(name, names)} (known: {', '.join(names)})"
                )
            i = names.index(name)
            yield Channel("pose", i, name, units[i], low, high, _half(low, high))

    def _distances(self, robot: Any, home: Array) -> Iterator[Channel]:
        margin = float(robot.margin(home))
        require(
            margin > 0,
            f"the home of {robot.name} lies in a singularity or beyond one (margin {margin:.3g}): give another home",
        )
        yield Channel("margin", 0, "distance to singularity", "", self.margin * margin, size=margin)
        if hasattr(robot, "reach_kernel"):  # a mechanism's reach is the range of its actuators
            for i, at_home in enumerate(robot.reach(home)):
                of = f"reach of {robot.actuators[i]}"
                yield Channel("reach", i, of, "", self.reach * float(at_home), size=float(at_home))


def _each(value: Any, n: int, what: str) -> Array:
    limit = array(value, what, ndim=(0, 1))
    require(limit.shape in ((), (n,)), f"{what}: give one number for all actuators or one for each of {n}, not {value}")
    require(not np.isnan(limit).any(), f"{what} must be numbers, but one is NaN")
    return np.broadcast_to(limit, (n,))


def _half(low: float, high: float) -> float:
    return (high - low) / 2 if isfinite(high - low) else 1.0
