"""The equations that a controller evaluates in each cycle, as kernels of a state that it keeps between cycles.

The state s of a robot contains the positions of its actuators, its pose, and for a mechanism all passive coordinates.
Forward kinematics begins at the last state (a warm start) and takes few steps. Everything else is a function of s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gough.core.arrays import Array
from gough.kernels import Kernel


@dataclass(frozen=True, eq=False)
class StateSearch:
    """Newton's method for the coordinates of s that are not known."""

    newton: Kernel
    """From s: `step` for all coordinates, zero for known ones; `error`, the sum of squared gaps without units; `side`,
    whose sign changes where the solution is singular."""
    side: float
    """The sign of `side` at home."""


@dataclass(frozen=True, eq=False)
class EffortEquations:
    """Inverse dynamics, linear in the parameters θ."""

    joint: Kernel
    """From s, dq, ddq, theta, weight: `rigid`, the efforts of bodies and rotors, and `friction`, those of friction and
    cogging. Gravity is multiplied by `weight`, except where a parameter already contains it."""
    pose: Kernel | None
    """From s, dx, ddx, theta, weight: the same, with `dq` and `ddq`; None where the robot has no such equations."""
    regressor: Callable[[Sequence[int]], Kernel]
    """The kernel of some columns of the regressor (actuators, columns), from s, dq, ddq."""
    is_friction: tuple[bool, ...]
    """Which parameters belong to `friction`."""


@dataclass(frozen=True, eq=False)
class ControllerEquations:
    """The kinematics of a robot, and its dynamics where it has any."""

    coordinates: tuple[str, ...]
    """Names of the coordinates of s."""
    home: Array
    """The state at home."""
    actuated: tuple[int, ...]
    """Where the positions of the actuators stand in s."""
    pose: tuple[int, ...]
    """Where the pose stands in s."""
    scale: Array
    """Units by which steps are divided: a length of the size of the robot, or a radian."""
    forward: StateSearch | Kernel
    """For known positions of the actuators; a kernel is the closed form of s from q."""
    inverse: StateSearch | Kernel
    """For a known pose; a kernel is the closed form of s from x, NaN out of reach."""
    complete: Kernel | None
    """The closed form of s from x, for those coordinates that the forward search leaves out; None if it leaves none."""
    jacobian: Kernel
    """From s: `J` (pose, actuators) with ẋ = J q̇."""
    margin: Kernel
    """From s: `margin`, the distance from singularity."""
    least_margin: float
    """States with a smaller margin are singular."""
    efforts: EffortEquations | None
    speeds: Kernel | None = None
    """From s, dq: `ds`, velocities of all coordinates, and `turns` (closures, 3), angular velocities of the second body
    of each closure against the first, in the base frame; None where s has no passive coordinates."""


@runtime_checkable
class Controllable(Protocol):
    """A robot whose equations can be evaluated in a controller."""

    def controller_equations(self) -> ControllerEquations:
        """Kinematics and dynamics as kernels of a state."""
        ...
