"""The interfaces of robot models: kinematics, dynamics and motions."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.kernels import Kernel


@runtime_checkable
class DynamicModel(Protocol):
    """A robot whose actuator efforts are linear in its dynamic parameters: effort = regressor · parameters.

    Examples:
        >>> from gough.robots import FiveBar
        >>> isinstance(FiveBar.demo(), DynamicModel)
        True
    """

    @property
    def name(self) -> str:
        """The name of the robot in reports."""
        ...

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators: the rows of a regressor."""
        ...

    @property
    def effort_units(self) -> tuple[str, ...]:
        """Units of the actuators' efforts."""
        ...

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the measured positions q."""
        ...

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the measured positions."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters: the columns of a regressor."""
        ...

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the parameters."""
        ...

    @property
    def nominal(self) -> Array:
        """Plausible values of the parameters, such as a designer would guess them."""
        ...

    def regressor(self, q: Any, dq: Any, ddq: Any) -> Array:
        """The regressor (N, actuators, parameters) for positions, velocities and accelerations (N, coordinates)."""
        ...


class JointMotion(NamedTuple):
    """Positions of the motors with their velocities and accelerations, each (N, coordinates).

    Examples:
        >>> JointMotion(np.zeros((5, 4)), np.ones((5, 4)), np.zeros((5, 4))).dq.shape
        (5, 4)
    """

    q: Array
    dq: Array
    ddq: Array


class PoseMotion(NamedTuple):
    """Poses of the platform with their velocities and accelerations, each (N, pose coordinates).

    Examples:
        >>> PoseMotion(np.zeros((5, 4)), np.ones((5, 4)), np.zeros((5, 4))).dx.shape
        (5, 4)
    """

    x: Array
    dx: Array
    ddx: Array


class CoordinateMotion(NamedTuple):
    """The motion of all coordinates of a mechanism, passive ones too, each (N, coordinates).

    Examples:
        >>> from gough.robots import H4
        >>> robot, still = H4(), np.zeros((1, 4))
        >>> robot.coordinate_motion(robot.home[None], still, still).by_pose.shape
        (1, 28, 4)
    """

    s: Array
    ds: Array
    dds: Array
    by_pose: Array
    """∂s/∂x (N, coordinates, pose coordinates): the motions that leave the loops closed."""


@runtime_checkable
class ParallelRobot(DynamicModel, Protocol):
    """A dynamic model of a robot whose pose x and motor positions q determine each other.

    One pose (a vector) or many (a leading axis of N samples) may be given everywhere; shapes below are for many.

    Examples:
        >>> from gough.robots import H4
        >>> isinstance(H4(), ParallelRobot)
        True
    """

    @property
    def pose_names(self) -> tuple[str, ...]:
        """Names of the pose coordinates."""
        ...

    @property
    def pose_units(self) -> tuple[str, ...]:
        """Units of the pose coordinates."""
        ...

    @property
    def home(self) -> Array:
        """A pose well inside the workspace."""
        ...

    @property
    def variant(self) -> str:
        """The name of this one of the nested dynamic models."""
        ...

    @property
    def variants(self) -> Sequence[Self]:
        """The same robot with each of its nested dynamic models, simplest first."""
        ...

    @property
    def adds(self) -> str:
        """The effect that this variant adds to the one before, as text; empty for the first."""
        ...

    @property
    def segments(self) -> tuple[str, ...]:
        """The kind of each segment of `skeleton`: base, arm, rod or platform."""
        ...

    def inverse(self, x: Any) -> Array:
        """Motor positions (N, coordinates) for poses."""
        ...

    def forward(self, q: Any, guess: Any = None) -> Array:
        """Poses (N, pose coordinates) for motor positions; the search starts at `guess`, or at home."""
        ...

    def jacobian(self, x: Any) -> Array:
        """J (N, pose coordinates, coordinates) with ẋ = J q̇."""
        ...

    def joint_motion(self, x: Any, dx: Any, ddx: Any) -> JointMotion:
        """The motion of the motors for a motion of the platform."""
        ...

    def pose_motion(self, q: Any, dq: Any, ddq: Any, guess: Any = None) -> PoseMotion:
        """The motion of the platform for a motion of the motors."""
        ...

    def margin(self, x: Any) -> Array:
        """Distance to singularity (N,), zero at a singularity."""
        ...

    def reach(self, x: Any) -> Array:
        """Distance of each chain from the edge of its workspace (N, coordinates); negative out of reach."""
        ...

    def skeleton(self, x: Any) -> Array:
        """End points (N, segments, 2, 3) of the segments that draw the robot."""
        ...

    def regressor_kernel(self) -> Kernel:
        """The regressor (coordinates, parameters) as a kernel of x, dx, ddx."""
        ...

    def inverse_kernel(self) -> Kernel:
        """Motor positions (coordinates,) as a kernel of the pose."""
        ...

    def margin_kernel(self) -> Kernel:
        """Distances to singularities as a kernel of the pose, positive on the side of home."""
        ...


def efforts(model: DynamicModel, parameters: Any, q: Any, dq: Any, ddq: Any) -> Array:
    """The actuator forces or torques (N, actuators) of a robot with these parameters: its inverse dynamics.

    Examples:
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> efforts(robot, robot.nominal, [[2.0, 1.0]], [[0.0, 0.0]], [[0.0, 0.0]]).round(3)
        array([[-0.988,  1.161]])
    """
    values = array(parameters, "parameters", ndim=1)
    wanted = len(model.names)
    base = (
        f" ({', '.join(model.names[:3])}, …). Where data determine combinations only, answer.efforts(q, dq, ddq) has "
        "the efforts of an identification, and answer.parameters(method) has parameters with the same efforts"
    )
    require(
        values.shape == (wanted,),
        f"parameters must be {wanted} numbers, but their shape is {values.shape}{base if values.size < wanted else ''}",
    )
    require_moved(model, q, dq, ddq)
    return np.asarray(model.regressor(q, dq, ddq) @ values)


def require_moved(model: DynamicModel, q: Any, dq: Any, ddq: Any) -> None:
    """Refuse positions, velocities and accelerations that do not have a number for each coordinate of the model.

    Raises:
        InputError: the shape of one does not fit; the message names the argument.

    Examples:
        >>> from gough.robots import FiveBar
        >>> require_moved(FiveBar.demo(), [[2.0, 1.0]], [[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: ddq has 2 samples, but q has 1: they are of the same instants
    """
    n, first = len(model.coordinates), ""
    samples = 0
    for name, value in (("q", q), ("dq", dq), ("ddq", ddq)):
        given = array(value, name, ndim=(1, 2), copy=False)
        require(
            given.shape[-1] == n,
            f"{name} must have a number for each coordinate of the {model.name} ({n}: {', '.join(model.coordinates)}), "
            f"as (N, {n}) or ({n},), but its shape is {given.shape}",
        )
        if given.ndim == 2 and not first:
            first, samples = name, len(given)
        require(
            given.ndim == 1 or len(given) == samples,
            f"{name} has {len(given)} samples, but {first} has {samples}: they are of the same instants",
        )
