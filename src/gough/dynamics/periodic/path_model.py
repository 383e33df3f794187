"""A robot along a path: positions, regressors and their exact derivatives, as functions of the path's coordinates."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.kernels import Kernel
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
        """∂q/∂x (N, n, m): ẋ = J q̇, so it is the inverse of J where that is square."""
        robot, (n_samples, m) = self.parallel, x.shape
        if robot is None:
            return np.broadcast_to(np.eye(m), (n_samples, m, m))
        if len(robot.coordinates) == m:
            return np.asarray(np.linalg.inv(robot.jacobian(x)))
        unit = np.repeat(np.eye(m)[None], n_samples, axis=0).reshape(-1, m)
        moved = robot.joint_motion(np.repeat(x, m, axis=0), unit, np.zeros_like(unit)).dq
        return np.swapaxes(moved.reshape(n_samples, m, -1), 1, 2)

    def pulled_positions(self, x: Array, weights: Array) -> Array:
        """Σ_i weights_i ∂q_i/∂x (N, m) for weights (N, n)."""
        if self.parallel is not None and len(self.parallel.coordinates) == x.shape[1]:
            turned = np.swapaxes(self.parallel.jacobian(x), 1, 2)
            return np.asarray(np.linalg.solve(turned, weights[..., None]))[..., 0]
        return (weights[:, None] @ self.positions_by_path(x))[:, 0]

    def regressors(self, path: Path) -> Array:
        """W (N, actuators, parameters)."""
        return self.regressor(*path)

    def pulled(self, path: Path, parameters: Array, weights: Array) -> Array:
        """Σ_i weights_i ∂(W p)_i/∂(x, ẋ, ẍ) (N, 3, m) for weights (N, actuators), by one reverse sweep for all."""
        gradient = self.adjoint.evaluate(*path, weights[:, :, None] * parameters)
        return np.stack(list(gradient.values()), axis=1)

    def efforts_by_path(self, path: Path, parameters: Array) -> Array:
        """∂(W p)/∂(x, ẋ, ẍ) (N, actuators, 3, m), by one reverse sweep through the regressor for each actuator."""
        n_samples, m = path.x.shape
        n = len(self.robot.actuators)
        seeds = np.zeros((n, n, len(parameters)))
        seeds[np.arange(n), np.arange(n)] = parameters
        result = np.empty((n_samples, n, 3, m))
        for i in range(n):
            gradient = self.adjoint.evaluate(*path, seeds[i])
            for d, part in enumerate(gradient.values()):
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
    kernel = robot.regressor_kernel()
    names = [port.name for port in kernel.inputs]
    return PathModel(robot, kernel, kernel.adjoint(*names), robot if isinstance(robot, ParallelRobot) else None)


_remembered = lru_cache(maxsize=16)(_path_model)
