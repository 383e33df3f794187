"""A robot along a path: positions, regressors and their exact derivatives, as functions of the path's coordinates."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.methods.nonlinear.harmonics import Path
from gough.robots.model import DynamicModel, ParallelRobot


@runtime_checkable
class TracedModel(DynamicModel, Protocol):
    """A dynamic model that offers its regressor as a kernel of position, velocity and acceleration."""

    def regressor_kernel(self) -> Kernel:
        """The regressor as a kernel of three vectors: of the pose for parallel robots, else of the coordinates."""
        ...


@dataclass(frozen=True, eq=False)
class PathModel:
    """What a robot measures and needs along a path x(t): in its pose, or in its coordinates where it has no pose."""

    robot: TracedModel
    regressor: Kernel
    adjoint: Kernel
    """Reverse sweep through positions and efforts of the parameters, as of `prediction`."""
    slopes: Kernel | None
    """∂q/∂x, where closed inverse kinematics makes it shorter than the regressor."""
    parallel: ParallelRobot | None
    """The robot, if its path is one of poses."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the path's coordinates."""
        return self.robot.coordinates if self.parallel is None else self.parallel.pose_names

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the path's coordinates."""
        return self.robot.coordinate_units if self.parallel is None else self.parallel.pose_units

    def start(self, q: Array, near: Array | None = None) -> Array:
        """Where the robot is for measured positions (N, n); it is looked for from home, or from poses `near`."""
        if self.parallel is None:
            return q
        return self.parallel.forward(q, near)

    def positions(self, x: Array) -> Array:
        """What the encoders show at x (N, m)."""
        return x if self.parallel is None else self.parallel.inverse(x)

    def positions_by_path(self, x: Array) -> Array:
        """∂q/∂x (N, n, m), where the robot can be at x."""
        robot, (n_samples, m) = self.parallel, x.shape
        if robot is None:
            return np.broadcast_to(np.eye(m), (n_samples, m, m))
        if self.slopes is not None:
            return self.slopes(x)
        if len(robot.coordinates) == m:  # ẋ = J q̇
            return np.asarray(np.linalg.inv(robot.jacobian(x)))
        unit = np.repeat(np.eye(m)[None], n_samples, axis=0).reshape(-1, m)
        moved = robot.joint_motion(np.repeat(x, m, axis=0), unit, np.zeros_like(unit)).dq
        return np.swapaxes(moved.reshape(n_samples, m, -1), 1, 2)

    def regressors(self, path: Path) -> Array:
        """W (N, actuators, parameters)."""
        return self.regressor(*path)

    def pulled(self, path: Path, parameters: Array, of_positions: Array, of_efforts: Array) -> list[Array]:
        """Σ_i weights_i ∂(q, W p)_i/∂(x, ẋ, ẍ), three times (N, m), for weights (N, n) and (N, actuators).

        One reverse sweep for all.
        """
        return list(self.adjoint.evaluate(*path, parameters, of_positions, of_efforts).values())

    def efforts_by_path(self, path: Path, parameters: Array) -> Array:
        """∂(W p)/∂(x, ẋ, ẍ) (N, actuators, 3, m), by one reverse sweep for each actuator."""
        n_samples, m = path.x.shape
        n = len(self.robot.actuators)
        nothing, seeds = np.zeros(len(self.robot.coordinates)), np.eye(n)
        result = np.empty((n_samples, n, 3, m))
        for i in range(n):
            for d, part in enumerate(self.pulled(path, parameters, nothing, seeds[i])):
                result[:, i, d] = part
        return result


def path_model(robot: Any) -> PathModel:
    """The robot's path model; traced once for robots that compare equal."""
    try:
        return _remembered(robot)
    except TypeError:  # the robot has no hash
        return _path_model(robot)


def _path_model(robot: Any) -> PathModel:
    if not isinstance(robot, TracedModel):
        raise InputError(
            f"{getattr(robot, 'name', robot)} offers no regressor_kernel(): without one there are no exact derivatives "
            "along a path"
        )
    kernel, parallel = robot.regressor_kernel(), robot if isinstance(robot, ParallelRobot) else None
    inverse = None if parallel is None else parallel.inverse_kernel()
    slopes = None
    if inverse is not None and len(inverse.tape.steps) * inverse.inputs[0].size <= len(kernel.tape.steps):
        slopes = inverse.jacobian(inverse.inputs[0].name)
    return PathModel(robot, kernel, prediction(kernel, inverse).adjoint("x", "dx", "ddx"), slopes, parallel)


def prediction(regressor: Kernel, inverse: Kernel | None) -> Kernel:
    """Positions q and efforts W p as a kernel of the path x, ẋ, ẍ and of the parameters p.

    Without inverse kinematics the path itself is measured.

    Examples:
        >>> from gough.robots import H4
        >>> prediction(H4().regressor_kernel(), H4().inverse_kernel())
        Kernel(prediction: x(4), dx(4), ddx(4), parameters(16) -> positions(4), efforts(4); 833 instructions)
    """
    n_parameters = regressor.outputs[0].shape[1]

    def look(x: Expression, dx: Expression, ddx: Expression, parameters: Expression) -> dict[str, Expression]:
        W = regressor.function.call([x, dx, ddx])[0]
        rows = (W[start : start + n_parameters] for start in range(0, W.numel(), n_parameters))
        return {
            "positions": 1.0 * x if inverse is None else inverse.function.call([x])[0],
            "efforts": ex.vector(*(ex.dot(row, parameters) for row in rows)),
        }

    shapes = dict(zip(("x", "dx", "ddx"), (port.shape for port in regressor.inputs), strict=True))
    return trace(look, name="prediction", inputs={**shapes, "parameters": n_parameters})


_remembered = lru_cache(maxsize=16)(_path_model)
