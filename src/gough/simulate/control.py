"""Joint controllers of the papers, as gains of one law."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require, require_positive
from gough.simulate.simulated_robot import SimulatedRobot


class Law(NamedTuple):
    """effort = proportional · e + integral · ∫e dt + damping · (q̇_reference - q̇), joint by joint, e = q_reference - q.

    Examples:
        >>> law: Law = JointPI(100.0, 200.0, damping=5.0).law(2)
        >>> law.damping
        array([5., 5.])
    """

    proportional: Array
    integral: Array
    damping: Array
    velocity_cutoff: float
    """Hz of the first-order low-pass of q̇, which is the difference of two encoder readings."""


class Controller(Protocol):
    """A controller that acts on each joint alone.

    It runs once in each sampling period, on what the encoders show, and its voltage is held until the next. Its
    integral stands still while the voltage is at its limit. The time it takes to compute is neglected.

    Examples:
        >>> controller: Controller = Cascade(40.0, 100.0, velocity=3.0)
        >>> controller.law(1).proportional
        array([120.])
    """

    def law(self, n_joints: int) -> Law:
        """The gains of each joint."""
        ...


@dataclass(frozen=True, eq=False)
class JointPI(ArrayValue):
    """PI control of joint positions with velocity damping [PRV03i, §4.1].

    The paper says "closed-loop joint PI control" and no more. A PI law on positions alone cannot stabilize an
    inertia: the damping by the difference of encoder readings is our assumption.

    Examples:
        >>> JointPI(100.0, 200.0, damping=5.0).law(4).proportional
        array([100., 100., 100., 100.])
    """

    proportional: Any
    """N·m/rad, one number or one per joint; as the following."""
    integral: Any
    """N·m/(rad·s)."""
    damping: Any
    """N·m·s/rad."""
    velocity_cutoff: float = 150.0
    """Hz."""

    def __post_init__(self) -> None:
        _store_gains(self, ("proportional", "integral", "damping"))

    @classmethod
    def tuned(cls, simulated: SimulatedRobot, at: Any, *, bandwidth: float, damping: float = 0.8) -> "JointPI":
        """Gains by pole placement on the inertia that each motor feels at the pose `at`, the others at rest.

        Args:
            simulated: The robot whose inertia is controlled.
            at: The pose (m,).
            bandwidth: Natural frequency of the closed loop in Hz; a tenth of it is the rate of the integral.
            damping: Damping ratio.

        Examples:
            >>> from gough.robots import H4
            >>> robot = H4()
            >>> controller = JointPI.tuned(SimulatedRobot(robot, robot.nominal), robot.home, bandwidth=10.0)
            >>> controller.proportional.shape
            (4,)
        """
        inertia, pulsation = _felt_inertia(simulated, at), _pulsation(bandwidth)
        stiffness = inertia * pulsation**2
        return cls(stiffness, stiffness * pulsation / 10, 2 * damping * inertia * pulsation)

    def law(self, n_joints: int) -> Law:
        """The gains of each joint."""
        proportional, integral, damping = (
            _each(value, n_joints) for value in (self.proportional, self.integral, self.damping)
        )
        return Law(proportional, integral, damping, self.velocity_cutoff)


@dataclass(frozen=True, eq=False)
class Cascade(ArrayValue):
    """P control of joint velocities inside PI control of joint positions [NCPP, §III].

    effort = velocity · (q̇_reference + proportional · e + integral · ∫e dt - q̇). That the reference's velocity is fed
    forward is our assumption; the paper prints no gains.

    Examples:
        >>> Cascade(40.0, 100.0, velocity=3.0).law(2).integral
        array([300., 300.])
    """

    proportional: Any
    """Proportional gain of the position loop, 1/s: one number or one per joint, as for the other gains."""
    integral: Any
    """Integral gain of the position loop, 1/s²."""
    velocity: Any
    """Gain of the velocity loop, N·m·s/rad."""
    velocity_cutoff: float = 150.0
    """Hz."""

    def __post_init__(self) -> None:
        _store_gains(self, ("proportional", "integral", "velocity"))

    @classmethod
    def tuned(cls, simulated: SimulatedRobot, at: Any, *, bandwidth: float, damping: float = 0.8) -> "Cascade":
        """The same closed loop as `JointPI.tuned`, written as a cascade.

        Examples:
            >>> from gough.robots import Par4
            >>> robot = Par4()
            >>> Cascade.tuned(SimulatedRobot(robot, robot.nominal), robot.home, bandwidth=10.0).velocity.shape
            (4,)
        """
        pulsation = _pulsation(bandwidth)
        loop = pulsation / (2 * damping)
        return cls(loop, loop * pulsation / 10, 2 * damping * pulsation * _felt_inertia(simulated, at))

    def law(self, n_joints: int) -> Law:
        """The gains of each joint."""
        velocity = _each(self.velocity, n_joints)
        proportional, integral = (_each(value, n_joints) * velocity for value in (self.proportional, self.integral))
        return Law(proportional, integral, velocity, self.velocity_cutoff)


def _store_gains(controller: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = array(getattr(controller, name), name, ndim=(0, 1))
        require(bool(np.isfinite(value).all() and (value >= 0).all()), f"{name} must be finite and not negative")
        object.__setattr__(controller, name, value)
    cutoff = controller.velocity_cutoff
    require(cutoff > 0, f"velocity_cutoff must be positive, in Hz, but is {cutoff}")


def _each(value: Array, n_joints: int) -> Array:
    require(value.ndim == 0 or len(value) == n_joints, f"there are {n_joints} joints, but {value.size} gains")
    return np.array(np.broadcast_to(value, (n_joints,)))


def _pulsation(bandwidth: float) -> float:
    require_positive(bandwidth, "bandwidth", "Hz")
    return 2 * np.pi * bandwidth


def _felt_inertia(simulated: SimulatedRobot, at: Any) -> Array:
    return np.diagonal(simulated.joint_inertia(at)).copy()
