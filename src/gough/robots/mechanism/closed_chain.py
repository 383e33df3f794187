"""A mechanism as a robot: kinematics of its loops and a regressor, for many samples at once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, nearest, require
from gough.kernels import Kernel
from gough.robots.controller import ControllerEquations
from gough.robots.mechanism._search import run
from gough.robots.mechanism.controller import MechanismController
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.drawing import draw, segments
from gough.robots.mechanism.engine import Engine, engine
from gough.robots.mechanism.parameters import BODIES, COGGING, DRIVES, PASSIVE, Parameter, parameters
from gough.robots.mechanism.parts import BASE
from gough.robots.mechanism.placement import Vector
from gough.robots.model import CoordinateMotion, JointMotion, PoseMotion
from gough.robots.physical import KINDS, Limit, PhysicalLimits, RigidBody
from gough.robots.refusal import refuse_where

VARIANTS: dict[str, tuple[frozenset[str], str]] = {
    "bodies and drives": (frozenset({BODIES, DRIVES}), ""),
    "passive friction": (frozenset({PASSIVE}), "the friction of the passive joints"),
    "cogging": (frozenset({COGGING}), "the cogging of the drives"),
}
"""Nested models: what each adds, as parts of the parameters and in words."""
NOTHING = 1e-11
"""Columns whose entries are so much smaller than those of others with the same unit hold rounding errors only."""


class ClosedChain(ABC):
    """A robot given by a mechanism: bodies, joints, closures.

    Poses and positions of actuators may be given for one sample (a vector) or for many (a leading axis of N samples).
    A sample with a NaN is missing: its results are NaN, and it is never refused.
    """

    variant: str
    least_margin: float
    only: tuple[str, ...]

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism:
        """The bodies, joints and closures of the robot."""

    @property
    def name(self) -> str:
        """The name of the robot in reports."""
        return self.mechanism.name

    @property
    def actuators(self) -> tuple[str, ...]:
        """The rows of the regressor."""
        return self.mechanism.actuators

    @property
    def effort_units(self) -> tuple[str, ...]:
        """The units of the actuators' torques or forces."""
        return tuple("N·m" if motion == "turn" else "N" for motion in self._motions)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the actuators' positions."""
        return self.mechanism.actuated

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """The units of the actuators' positions."""
        return tuple("rad" if motion == "turn" else "m" for motion in self._motions)

    @property
    def pose_names(self) -> tuple[str, ...]:
        """The names of the pose coordinates."""
        return self.mechanism.platform.pose

    @property
    def pose_units(self) -> tuple[str, ...]:
        """The units of the pose coordinates."""
        at = self._engine.home.at
        return tuple("m" if at.motions[k] == "slide" else "rad" for k in at.pose)

    @property
    def home(self) -> Array:
        """The pose in which the mechanism was put together."""
        return np.array(self.mechanism.platform.home)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the regressor."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the parameters."""
        return tuple(parameter.unit for parameter in self.parameters)

    @property
    def nominal(self) -> Array:
        """The values that the description states."""
        return np.array([parameter.nominal for parameter in self.parameters])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The columns of the regressor with all that is known of them."""
        known = self._known
        if not self.only:
            return known
        by_name = {parameter.name: parameter for parameter in known}
        for name in self.only:
            if name not in by_name:
                raise InputError(
                    f"{self.name} has no parameter '{name}'{nearest(name, by_name)} (known: {', '.join(by_name)})"
                )
        return tuple(by_name[name] for name in self.only)

    @cached_property
    def physical(self) -> PhysicalLimits:
        """Bodies that can exist; rotor inertias and friction that are not negative.

        Nothing is demanded if `only` leaves parameters out: the others then stand for combinations with them.
        """
        if self.only:
            return PhysicalLimits()
        drives = (each for each in self.parameters if each.part != BODIES and each.is_nonnegative)
        terms: dict[str, dict[str, str]] = {}
        members: dict[str, tuple[str, ...]] = {}
        for each in self.parameters:
            if each.part == BODIES:
                group = each.name.removeprefix(f"{each.term}_")
                terms.setdefault(group, {})[each.term] = each.name
                members[group] = each.members
        bodies = (RigidBody(group, own, self._hidden_rotor(members[group])) for group, own in terms.items())
        return PhysicalLimits(tuple(Limit(each.name, KINDS[each.unit]) for each in drives), tuple(bodies))

    def _hidden_rotor(self, bodies: Sequence[str]) -> Vector | None:
        """Axis of a drive that turns one of these bodies against the base, if its rotor has no parameter."""
        for joint in self.mechanism.joints:
            drives = joint.kind == "revolute" and joint.parent == BASE and joint.name in self.mechanism.actuated
            if drives and joint.child in bodies and joint.freedoms[0].rotor is None:
                return joint.axis
        return None

    @cached_property
    def variants(self) -> tuple[Self, ...]:
        """The same robot with each of its nested dynamic models, simplest first; of `only`, what a model has."""
        every = [replace(self, variant=variant, only=()) for variant in self._offered]  # type: ignore[type-var]
        shared = [tuple(name for name in self.only if name in each.names) for each in every]
        return tuple(each.with_only(own) for each, own in zip(every, shared, strict=True) if own or not self.only)

    @property
    def adds(self) -> str:
        """The effect that this variant adds to the one before, as text; empty for the first."""
        return VARIANTS[self.variant][1] if self.variant != self._offered[0] else ""

    def with_only(self, names: Sequence[str]) -> Self:
        """The same robot with these columns only: independent ones make a shorter, quicker regressor."""
        return replace(self, only=tuple(names))  # type: ignore[type-var]

    def inverse(self, x: Any) -> Array:
        """Positions of the actuators (N, actuators) for poses, in the working mode of home.

        Raises:
            InputError: a pose is out of reach or nearly singular; the message names the first such sample.
        """
        return self._picked(self._at_pose(x), self._engine.home.at.actuated, x)

    def forward(self, q: Any, guess: Any = None) -> Array:
        """Poses for positions of the actuators (N, actuators): Newton's method on all loops, in the assembly of home.

        The search starts at the pose `guess` (one, or one per sample), or at home; a step that crosses a singularity
        or brings the loops no closer is halved. It ends where rounding does.

        Raises:
            InputError: the loops do not close, or nearly in a singularity; the message names the first such sample.
        """
        return self._picked(self._at_actuators(q, guess), self._engine.home.at.pose, q)

    def all_coordinates(self, x: Any) -> Array:
        """All coordinates of the mechanism (N, coordinates) at poses, passive ones too: see `coordinate_names`."""
        s = self._at_pose(x)
        return s if np.ndim(x) == 2 else s[0]

    def coordinates_at(self, q: Any, guess: Any = None) -> Array:
        """All coordinates of the mechanism (N, coordinates) at positions of the actuators, as `forward` finds them."""
        s = self._at_actuators(q, guess)
        return s if np.ndim(q) == 2 else s[0]

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of all coordinates, passive ones too."""
        return self._engine.home.at.coordinates

    def jacobian(self, x: Any) -> Array:
        """J (N, pose coordinates, actuators) with ẋ = J q̇."""
        still = np.zeros(len(self.home))
        s = self._at_pose(x)
        J = run(self._engine.joint_motion, s, still, still)["J"].reshape(len(s), len(still), len(still))
        inverse: Array = np.linalg.inv(J).astype(np.float64)
        return inverse if np.ndim(x) == 2 else inverse[0]

    def joint_motion(self, x: Any, dx: Any, ddx: Any) -> JointMotion:
        """Positions, velocities and accelerations of the actuators for a motion of the platform."""
        s = self._at_pose(x)
        motion = run(self._engine.joint_motion, s, *self._rates(dx, ddx, len(s), "pose"))
        at = self._engine.home.at.actuated
        return JointMotion(*(self._picked(part, at, x) for part in (s, motion["ds"], motion["dds"])))

    def coordinate_motion(self, x: Any, dx: Any, ddx: Any) -> CoordinateMotion:
        """The motion of all coordinates, passive ones too, for a motion of the platform."""
        s = self._at_pose(x)
        motion = run(self._engine.tree_motion, s, *self._rates(dx, ddx, len(s), "pose"))
        parts = (s, motion["ds"], motion["dds"], motion["J"])
        return CoordinateMotion(*(part if np.ndim(x) == 2 else part[0] for part in parts))

    def pose_motion(self, q: Any, dq: Any, ddq: Any, guess: Any = None) -> PoseMotion:
        """Poses, velocities and accelerations for a motion of the actuators; derivatives in closed form."""
        s = self._at_actuators(q, guess)
        motion = run(self._engine.pose_motion, s, *self._rates(dq, ddq, len(s), "actuator"))
        at = self._engine.home.at.pose
        return PoseMotion(*(self._picked(part, at, q) for part in (s, motion["ds"], motion["dds"])))

    def margin(self, x: Any) -> Array:
        """Distance from singularity (N,): zero at one, negative beyond one where the actuators lose the platform.

        The closure equations, differentiated, are written without units: lengths are divided by the greatest length
        of the mechanism. The margin is the smaller of two numbers 1/‖C⁻¹‖: with C the part that belongs to all
        coordinates but the actuators', and the part that belongs to all but the pose's. Up to the root of their size
        they are the smallest singular values. Out of reach it is NaN.
        """
        s = self.look(x)
        distances = self.margin_at(s)
        return distances if np.ndim(x) == 2 else distances[0]

    def reach(self, x: Any) -> Array:
        """Distance of each actuator from the ends of its range (N, actuators): 1 in the middle, 0 at an end.

        Negative out of range; 1 where no range is stated; NaN where the mechanism does not close.
        """
        q = self.look(x)[:, list(self._engine.home.at.actuated)]
        limits = [self.mechanism.freedoms[name].limits for name in self.coordinates]
        ends = np.array([(each.lower, each.upper) if each else (-np.inf, np.inf) for each in limits])
        half = (ends[:, 1] - ends[:, 0]) / 2
        nearest_end = np.minimum(q - ends[:, 0], ends[:, 1] - q)
        bounded = np.isfinite(half)
        share = np.where(bounded, nearest_end / np.where(bounded, half, 1.0), 1.0 + 0.0 * q)
        return share if np.ndim(x) == 2 else share[0]

    def regressor(self, q: Any, dq: Any, ddq: Any) -> Array:
        """Efforts per unit of each parameter (N, actuators, parameters), from the actuators' motion.

        Raises:
            InputError: the loops do not close at a sample, or nearly in a singularity; the message names it.
        """
        s = self._at_actuators(q, None)
        W = self._engine.joint_regressor(self.parameters, s, *self._rates(dq, ddq, len(s), "actuator"))
        W[:, :, self._idle] = 0.0
        return W if np.ndim(q) == 2 else W[0]

    def regressor_kernel(self, *, friction_speed: float = 0.0) -> Kernel:
        """The regressor as a kernel of x, dx, ddx: to simulate, differentiate, export as C.

        Unlike `regressor` it refuses no pose: where the loops do not close its values are NaN. Dry friction is a plain
        sign of the velocity, or tanh(velocity / friction_speed) where that is given.
        """
        known = self._kernels
        if friction_speed not in known:
            known[friction_speed] = self._engine.pose_regressor(self.parameters, self._idle, friction_speed)
        return known[friction_speed]

    def inverse_kernel(self) -> Kernel:
        """The positions of the actuators as a kernel of the pose."""
        return self._engine.positions

    def motion_kernel(self) -> Kernel:
        """All coordinates `s` with derivatives `ds`, `dds` as a kernel of x, dx, ddx: for limits of passive joints."""
        return self._engine.coordinate_motion

    def margin_kernel(self) -> Kernel:
        """The two margins (2,) as a kernel of the pose, positive on the side of home: for designs that keep clear."""
        return self._engine.pose_margins

    def displacement_kernel(self) -> Kernel:
        """How all coordinates s follow the actuators to positions q, and the margins; see `Engine.displacement`."""
        return self._engine.displacement

    def controller_equations(self) -> ControllerEquations:
        """Kinematics and dynamics as kernels of all coordinates, for a controller."""
        return MechanismController(self._engine, self.parameters, tuple(self._idle), self.least_margin).equations()

    @property
    def pose_positions(self) -> tuple[int, ...]:
        """Where the pose coordinates stand in `coordinate_names`."""
        return self._engine.home.at.pose

    @property
    def segments(self) -> tuple[str, ...]:
        """The kind of each segment of `skeleton`: base, arm, rod or platform."""
        return tuple(segment.kind for segment in segments(self.mechanism))

    def skeleton(self, x: Any) -> Array:
        """End points (N, segments, 2, 3) of the segments that draw the robot, in the base frame."""
        drawn = draw(self.mechanism, self.look(x))
        return drawn if np.ndim(x) == 2 else drawn[0]

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields travel to another process; kernels are traced anew there."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    @cached_property
    def _engine(self) -> Engine:
        return engine(self.mechanism)

    @cached_property
    def _kernels(self) -> dict[float, Kernel]:
        return {}

    @cached_property
    def _idle(self) -> list[int]:
        """The columns in which no motion around home leaves more than rounding: those are zero.

        They belong to bodies that never turn about some axis, which no single closure equation expresses.
        """
        rng = np.random.default_rng(0)
        units = np.array(self.units)
        near = np.where(np.array(self.pose_units) == "m", self._engine.home.size, 1.0)
        where, *rates = rng.uniform(-1, 1, (3, 16, len(self.home)))
        s, failed = self._engine.at_pose(self.home + 0.02 * near * where)
        if failed.any():
            return []
        most = np.abs(self._engine.joint_regressor(self.parameters, s, *rates)).max(axis=(0, 1))
        strongest = np.array([most[units == unit].max() for unit in units])
        return np.flatnonzero(most <= NOTHING * strongest).tolist()

    @property
    def _motions(self) -> tuple[str, ...]:
        return tuple(self.mechanism.motions[name] for name in self.coordinates)

    @property
    def _offered(self) -> tuple[str, ...]:
        """The variants that differ for this mechanism."""
        parts = {parameter.part for parameter in parameters(self.mechanism)}
        first, *others = VARIANTS
        return (first, *(name for name in others if VARIANTS[name][0] & parts))

    @property
    def _known(self) -> tuple[Parameter, ...]:
        """All parameters of the variant."""
        offered = self._offered
        parts = frozenset().union(*(VARIANTS[name][0] for name in offered[: offered.index(self.variant) + 1]))
        return tuple(parameter for parameter in parameters(self.mechanism) if parameter.part in parts)

    def _check(self) -> None:
        """Refuse what cannot be a robot, and fill in the most detailed variant."""
        offered = self._offered
        if not self.variant:
            object.__setattr__(self, "variant", offered[-1])
        if self.variant not in offered:
            raise InputError(
                f"{self.name} has no variant '{self.variant}'{nearest(self.variant, offered)} "
                f"(known: {', '.join(offered)})"
            )
        require(0 < self.least_margin < 1, f"least_margin must lie between 0 and 1, but is {self.least_margin}")
        _ = self.parameters, self._engine

    def _read(self, value: Any, what: str) -> Array:
        values = np.atleast_2d(array(value, what, ndim=(1, 2), copy=False))
        n = len(self.actuators)
        require(
            values.shape[1] == n,
            f"{what} of {self.name} must have {n} numbers in each sample, but its shape is {np.shape(value)}",
        )
        return values

    def _rates(self, first: Any, second: Any, n: int, what: str) -> list[Array]:
        """Velocities and accelerations, one sample for each of n, or one for all."""
        read = [self._read(first, f"the {what} velocity"), self._read(second, f"the {what} acceleration")]
        for each in read:
            require(len(each) in (1, n), f"there are {n} positions, but {len(each)} velocities or accelerations")
        return [np.broadcast_to(each, (n, each.shape[1])) for each in read]

    @staticmethod
    def _picked(s: Array, chosen: Sequence[int], like: Any) -> Array:
        values = s.reshape(len(s), -1)[:, list(chosen)]
        return values if np.ndim(like) == 2 else values[0]

    def along(self, x: Array) -> Array:
        """All coordinates (D, T, coordinates) along ways of poses (D, T, pose) from home; NaN once a way is lost."""
        return self._engine.along(x)

    def look(self, x: Any) -> Array:
        """All coordinates at poses (N, coordinates); NaN where there are none. Refuses nothing."""
        poses = self._read(x, "the pose")
        s, failed = self._engine.at_pose(poses, is_patient=True)
        return np.where(failed[:, None], np.nan, s)

    def _at_pose(self, x: Any) -> Array:
        poses = self._read(x, "the pose")
        s, failed = self._engine.at_pose(poses)
        refuse_where(
            failed if np.ndim(x) == 2 else failed[0],
            f"the pose is out of reach of {self.name}: check the units ({', '.join(sorted(set(self.pose_units)))})",
        )
        self._refuse(s, x)
        return s

    def _at_actuators(self, q: Any, guess: Any) -> Array:
        positions = self._read(q, "q")
        start = self._engine.home.s if guess is None else self._at_pose(guess)
        require(
            np.ndim(start) == 1 or len(start) in (1, len(positions)),
            f"guess must be one pose or one for each sample of q, but it has {len(start)} and q has {len(positions)}",
        )
        s, failed = self._engine.forward.solve(positions, start if np.ndim(start) == 1 or len(start) > 1 else start[0])
        failed |= self._engine.is_open(s)
        refuse_where(
            failed if np.ndim(q) == 2 else failed[0],
            f"{self.name} cannot be assembled with these positions of its actuators: check the units "
            f"({', '.join(sorted(set(self.coordinate_units)))}), signs and order, or pass a guess near the pose",
        )
        self._refuse(s, q)
        return s

    def margin_at(self, s: Array) -> Array:
        """The margin (N,) at all coordinates (N, coordinates); see `margin`."""
        distances = run(self._engine.margins, s)
        sides = self._engine.sides
        return np.minimum(distances["actuators"] * sides[0], np.abs(distances["pose"]))

    def _refuse(self, s: Array, like: Any) -> None:
        margin = self.margin_at(s)
        near = margin < self.least_margin if np.ndim(like) == 2 else margin[0] < self.least_margin
        refuse_where(
            near,
            f"{self.name} is singular there, or beyond a singularity: actuators and joints do not hold the platform",
        )


@dataclass(frozen=True)
class MechanismModel(ClosedChain):
    """Any mechanism as a robot that can be identified: kinematics of its loops, and a regressor for its actuators.

    Its parameters are those of the description: for each group of identical bodies the ten of a rigid body, or those
    that its symmetry leaves; rotors; friction; cogging. `gough.dynamics` finds the combinations of
    them that can be identified.

    Examples:
        >>> from gough.robots import FiveBar
        >>> robot = MechanismModel(FiveBar().mechanism)
        >>> q = robot.inverse([0.0, 0.5])
        >>> q.round(4)
        array([2.0424, 1.0992])
        >>> robot.forward(q).round(9) + 0.0
        array([0. , 0.5])
        >>> robot.regressor(q, [1.0, 0.0], [0.0, 0.0]).shape
        (2, 21)
    """

    description: Mechanism
    variant: str = ""
    """The name of one of the nested models; the most detailed by default."""
    only: tuple[str, ...] = ()
    """Names of the parameters to keep; all by default."""
    least_margin: float = field(default=1e-4, kw_only=True)
    """Poses with a smaller singularity margin are refused."""

    def __post_init__(self) -> None:
        self._check()

    @property
    def mechanism(self) -> Mechanism:
        """The bodies, joints and closures of the robot."""
        return self.description
