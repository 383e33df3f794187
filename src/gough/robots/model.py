"""What every robot model offers to the code that meets it with data."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require


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
        """What the robot is called in reports."""
        ...

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators: the rows of a regressor."""
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


def efforts(model: DynamicModel, parameters: Any, q: Any, dq: Any, ddq: Any) -> Array:
    """The actuator forces or torques (N, actuators) of a robot with these parameters: its inverse dynamics.

    Examples:
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> efforts(robot, robot.nominal, [[2.0, 1.0]], [[0.0, 0.0]], [[0.0, 0.0]]).round(3)
        array([[-0.988,  1.161]])
    """
    values = np.asarray(parameters, dtype=np.float64)
    wanted = len(model.names)
    require(values.shape == (wanted,), f"parameters must be {wanted} numbers, but their shape is {values.shape}")
    return np.asarray(model.regressor(q, dq, ddq) @ values)
