"""Regressors along a stream of positions: forward kinematics begins at the last state, as in a controller."""

from collections.abc import Callable, Sequence

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError
from gough.kernels import Kernel
from gough.robots._newton import NewtonSearch, NewtonStep
from gough.robots.controller import Controllable, ControllerEquations, StateSearch
from gough.robots.model import DynamicModel

Columns = Callable[[Array, Array, Array], Array]
"""Columns of a regressor from states, velocities and accelerations of N samples."""


class _Follower(NewtonSearch):
    """Newton's method for the state s of a robot, with positions of its actuators known."""

    PIECES = (8, 50)
    IS_STRICT = True

    def __init__(self, equations: ControllerEquations, search: StateSearch) -> None:
        self._known, self._scale, self._search = list(equations.actuated), equations.scale, search

    def newton(self, x: Array, values: Array) -> NewtonStep:
        del values
        result = self._search.newton.evaluate(x)
        inside = result["side"] * self._search.side > 0
        return NewtonStep(result["step"].reshape(x.shape), result["error"], inside)

    def away(self, x: Array, values: Array) -> Array:
        return values - x[:, self._known]

    def entered(self, start: Array, values: Array) -> Array:
        x = start.copy()
        x[:, self._known] = values
        return x

    def limited(self, step: Array) -> tuple[Array, Array]:
        length = np.abs(step / self._scale).max(axis=1)
        return length, step / np.maximum(length, 1.0)[:, None]


class FollowedRegressor:
    """Some columns of a robot's regressor, block by block along a motion; it *changes* with every block.

    The state of the loops is found from the one before, so that a block costs a few Newton steps for all its samples
    together. Samples that the robot cannot reach have NaN in their rows; nothing is refused.

    Examples:
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> followed = FollowedRegressor(robot, ["m_load", "fc_1"])
        >>> q, dq, ddq = np.array([[2.0, 1.0]]), np.ones((1, 2)), np.zeros((1, 2))
        >>> columns = [robot.names.index(name) for name in ("m_load", "fc_1")]
        >>> bool(np.allclose(followed(q, dq, ddq), robot.regressor(q, dq, ddq)[:, :, columns]))
        True
    """

    def __init__(self, robot: DynamicModel, names: Sequence[str], columns: Columns | None = None) -> None:
        """Follow a robot.

        Args:
            robot: The robot.
            names: Parameters whose columns are wanted.
            columns: Computes them (N, actuators, names) from states, velocities and accelerations, where not all are
                parameters of the robot; default: the robot's own.
        """
        if not isinstance(robot, Controllable):
            raise InputError(f"a robot of type {type(robot).__name__} has no equations for a controller")
        equations = robot.controller_equations()
        if equations.efforts is None:
            raise InputError(f"{robot.name} has no dynamic model")
        self._equations = equations
        self._columns: Columns = columns or equations.efforts.regressor([robot.names.index(name) for name in names])
        forward = equations.forward
        self._closed = forward if isinstance(forward, Kernel) else None
        self._search = None if isinstance(forward, Kernel) else _Follower(equations, forward)
        self.state = np.array(equations.home)
        """The last state that was found."""

    def restart(self) -> None:
        """Begin at home again, as after a gap in the stream."""
        self.state = np.array(self._equations.home)

    def __call__(self, q: Array, dq: Array, ddq: Array) -> Array:
        """The rows (N, actuators, columns) of a block of N samples."""
        s, failed = self._states(q)
        found = np.flatnonzero(~failed & np.isfinite(s).all(axis=1))
        if len(found):
            self.state = s[found[-1]].copy()
        W = np.asarray(self._columns(s, dq, ddq))
        if len(found) < len(q):
            W[failed] = np.nan
        return W

    def _states(self, q: Array) -> tuple[Array, Mask]:
        if self._closed is not None:
            return self._closed(q), np.zeros(len(q), dtype=np.bool_)
        assert self._search is not None
        s, failed = self._search.solve(q, np.tile(self.state, (len(q), 1)), is_patient=True)
        if self._equations.complete is not None:
            s = self._equations.complete(s[:, list(self._equations.pose)])
            s[:, list(self._equations.actuated)] = q
        s[failed] = np.nan
        return s, failed
