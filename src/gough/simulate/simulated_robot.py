"""A robot whose parameters are known: its inverse dynamics, its forward dynamics, its friction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.robots.model import DynamicModel, JointMotion, PoseMotion
from gough.simulate.equations import Equations, as_parallel, equations
from gough.simulate.trajectories import Motion


class EffortModel(Protocol):
    """A model that computes the efforts of a motion of the pose, such as `gough.simulate.multibody.Multibody`.

    Examples:
        >>> class Weightless:
        ...     def efforts(self, x, dx, ddx):
        ...         return np.zeros((len(x), 4))
        >>> mechanism: EffortModel = Weightless()
    """

    def efforts(self, x: Any, dx: Any, ddx: Any) -> Array:
        """Actuator efforts (N, n) of a motion of the pose, without friction."""
        ...


@dataclass(frozen=True, eq=False)
class SimulatedRobot(ArrayValue):
    """A robot with its true parameters, and optionally a more detailed model of its efforts than its equations.

    With a `mechanism`, the efforts of a motion are those of the mechanism plus the friction of the parameters. The
    closed loop is always that of the robot's own equations; see `VirtualExperiment`.

    Dry friction in motion is that of the robot's equations, f · sign q̇, of passive joints too where they have any.
    Where it is integrated over time it is f · tanh(q̇ / friction_speed): within 1e-8 of f beyond ten times that speed.
    A joint that sticks creeps instead.

    Examples:
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> still = np.zeros((1, 2))
        >>> SimulatedRobot(robot, robot.nominal).efforts(JointMotion(np.array([[2.0, 1.0]]), still, still)).round(3)
        array([[-0.988,  1.161]])
    """

    robot: DynamicModel
    parameters: Array
    """The truth, one number per parameter of the robot."""
    mechanism: EffortModel | None = None
    friction_speed: float = 5e-3
    """Speed over which dry friction changes its sign in a closed loop, rad/s or m/s."""

    def __post_init__(self) -> None:
        parameters = array(self.parameters, "the true parameters", ndim=1)
        object.__setattr__(self, "parameters", parameters)
        wanted = len(self.robot.names)
        require(len(parameters) == wanted, f"{self.robot.name} has {wanted} parameters, not {len(parameters)}")
        require(bool(np.isfinite(parameters).all()), "the true parameters must be finite")
        require(self.friction_speed > 0, f"friction_speed must be positive, in rad/s, but is {self.friction_speed}")
        require(
            self.mechanism is None or self.moves_in_pose,
            f"a mechanism gives efforts of a pose, but the equations of {self.robot.name} are written in joints",
        )

    @property
    def n_actuators(self) -> int:
        """Number of actuators."""
        return len(self.robot.actuators)

    @property
    def moves_in_pose(self) -> bool:
        """Are the robot's equations written in its pose? Else in its joints."""
        return as_parallel(self.robot) is not None

    def joint_motion(self, motion: Motion | PoseMotion | JointMotion) -> JointMotion:
        """The motion of the joints.

        Raises:
            InputError: a pose is out of reach, or the motion is in the wrong coordinates.
        """
        if not isinstance(motion, PoseMotion):
            return JointMotion(motion.q, motion.dq, motion.ddq)
        robot = as_parallel(self.robot)
        if robot is None:
            raise InputError(f"{self.robot.name} is moved by a trajectory of its joints, not of a pose")
        return robot.joint_motion(*motion)

    def efforts(self, motion: Motion | PoseMotion | JointMotion) -> Array:
        """Efforts (N, n) of a motion, dry friction being sign q̇: the inverse dynamics.

        Raises:
            InputError: a pose is out of reach or singular.
        """
        joints = self.joint_motion(motion)  # refuses what the kernel would answer by NaN
        robot = as_parallel(self.robot)
        if robot is not None and self.mechanism is not None and not isinstance(motion, PoseMotion):
            motion = robot.pose_motion(*joints)
        if not isinstance(motion, PoseMotion):
            return np.asarray(self.robot.regressor(*joints) @ self.parameters)
        W = self.equations.regressor(*motion)
        if self.mechanism is None:
            return np.asarray(W @ self.parameters)
        rubbing = np.where(self.equations.friction.columns, self.parameters, 0.0)
        return self.mechanism.efforts(*motion) + np.asarray(W @ rubbing)

    def joint_inertia(self, at: Any) -> Array:
        """∂effort/∂q̈ (n, n) at a pose, or at joint positions; (N, n, n) at many: the inertia that the motors feel.

        Examples:
            >>> from gough.robots import FiveBar
            >>> robot = FiveBar.demo()
            >>> SimulatedRobot(robot, robot.nominal).joint_inertia([2.0, 1.0]).round(3)
            array([[0.047, 0.006],
                   [0.006, 0.048]])
        """

        def efforts(x: Array, change: Array) -> Array:
            return np.asarray(self.equations.regressor(x, np.zeros_like(x), change) @ self.parameters)

        return self._per_joint(at, efforts)

    def joint_damping(self, at: Any) -> Array:
        """∂effort/∂q̇ (n, n) of friction at rest, where it is stiffest in a closed loop; (N, n, n) at many places.

        Examples:
            >>> from gough.robots import FiveBar
            >>> robot = FiveBar.demo()
            >>> SimulatedRobot(robot, robot.nominal).joint_damping([2.0, 1.0]).round(2) + 0.0
            array([[60.08,  0.  ],
                   [ 0.  , 50.07]])
        """
        slow = 1e-4 * self.friction_speed  # where tanh is its argument to 1e-8

        def efforts(x: Array, change: Array) -> Array:
            return self.friction_efforts(x, slow * change) / slow

        return self._per_joint(at, efforts)

    def _per_joint(self, at: Any, efforts: Callable[[Array, Array], Array]) -> Array:
        """How the efforts (N, n) at x for a rate (N, m) of the coordinates change with that rate of the joints."""
        x = array(at, "at", ndim=(1, 2))
        m = x.shape[-1]
        units = np.vstack([np.zeros(m), np.eye(m)])
        poses = np.repeat(x.reshape(-1, m), m + 1, axis=0)
        torques = efforts(poses, np.tile(units, (len(poses) // (m + 1), 1))).reshape(-1, m + 1, self.n_actuators)
        by_rate = np.swapaxes(torques[:, 1:] - torques[:, :1], 1, 2).reshape(*x.shape[:-1], -1, m)
        robot = as_parallel(self.robot)
        return np.asarray(by_rate if robot is None else by_rate @ robot.jacobian(x))

    def accelerations(self, x: Any, dx: Any, efforts: Any) -> Array:
        """ẍ (N, m) under the given efforts (N, n), with the friction of a closed loop: the forward dynamics.

        Examples:
            >>> from gough.robots import FiveBar
            >>> robot = FiveBar.demo()
            >>> simulated = SimulatedRobot(robot, robot.nominal)
            >>> hold = simulated.efforts(JointMotion(np.array([[2.0, 1.0]]), np.zeros((1, 2)), np.zeros((1, 2))))
            >>> bool(abs(simulated.accelerations([[2.0, 1.0]], np.zeros((1, 2)), hold)).max() < 1e-12)
            True
        """
        smooth = np.zeros((3, self.n_actuators))
        return self.equations.accelerated(x, dx, efforts, self.parameters, self.friction_speed, smooth)

    def friction_efforts(self, x: Any, dx: Any) -> Array:
        """Efforts (N, n) that friction takes in a closed loop: viscous, and dry by its smooth law.

        Examples:
            >>> from gough.robots import FiveBar
            >>> robot = FiveBar.demo()
            >>> SimulatedRobot(robot, robot.nominal).friction_efforts([[2.0, 1.0]], [[1.0, -1.0]])
            array([[ 0.38, -0.32]])
        """
        return self.equations.rubbed(x, dx, self.parameters, self.friction_speed)

    @property
    def equations(self) -> Equations:
        """The robot's equations as kernels of its pose or its joints."""
        return equations(self.robot)
