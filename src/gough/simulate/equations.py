"""Forward dynamics from a regressor: efforts are linear in the acceleration, so that it follows from one solve."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import AssumptionError
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.model import DynamicModel, ParallelRobot

Ports = dict[str, int | tuple[int, ...]]
"""Inputs of a kernel with their shapes."""


@dataclass(frozen=True)
class Friction:
    """Which entries of a regressor (n, p) are friction, found by asking it."""

    dry: Array
    """Size of an entry that does not change with the size of the velocity, only with its direction; else 0."""
    viscous: Array
    """1 where an entry is any other odd function of the velocity, else 0."""

    @property
    def dry_columns(self) -> Mask:
        """Which parameters (p,) are dry friction."""
        return np.asarray(self.dry.any(axis=0))

    @property
    def columns(self) -> Mask:
        """Which parameters (p,) belong to friction."""
        return np.asarray((self.dry + self.viscous).any(axis=0))


@dataclass(frozen=True)
class Equations:
    """The kernels of a robot in its own coordinates x: a pose, or joint positions."""

    regressor: Kernel
    """(n, p) of x, dx, ddx."""
    inverse: Kernel | None
    """q (n,) of x; None where x is q."""
    friction: Friction
    sliding: Kernel | None = None
    """From x, dx, ddx: the columns of dry friction (n, dry ones) with tanh in place of sign, for a robot whose passive
    joints rub too. None: only drives rub, each on its own velocity."""

    @property
    def n(self) -> int:
        """Number of actuators."""
        return self.regressor.outputs[0].shape[0]

    @property
    def m(self) -> int:
        """Number of coordinates."""
        return self.regressor.inputs[0].size

    @property
    def p(self) -> int:
        """Number of parameters."""
        return self.regressor.outputs[0].shape[1]

    def positions(self, x: Expression) -> Expression:
        """Joint positions q of x."""
        return x if self.inverse is None else self.inverse.function.call([x])[0]

    @cached_property
    def accelerated(self) -> Kernel:
        """ẍ of x, dx, effort, parameters, the speed that smooths dry friction, and the motors' ripple (3, n).

        The ripple's rows are its amplitude, its waves in a turn, and its phase.
        """

        def solve(  # noqa: PLR0917 - the inputs of a kernel
            x: Expression,
            dx: Expression,
            effort: Expression,
            theta: Expression,
            speed: Expression,
            ripple: Expression,
            ddx: Expression,
        ) -> Expression:
            q = self.positions(x)
            added = ex.vector(*(ripple[0, i] * ex.sin(ripple[1, i] * q[i] + ripple[2, i]) for i in range(self.n)))
            smooth = self._efforts(x, dx, ddx, theta, ~self.friction.dry_columns)
            return ex.solve(ex.derivative(smooth, ddx), effort + added - smooth - self._dry(x, dx, theta, speed))

        n, m = self.n, self.m
        inputs: Ports = {"x": m, "dx": m, "effort": n, "theta": self.p, "speed": (), "ripple": (3, n), "ddx": m}
        kernel = trace(solve, name=f"{self.regressor.name}_forward", inputs=inputs)
        # written at a free ddx so that the derivative exists, then read at 0
        return kernel.bind(ddx=np.zeros(self.m))

    @cached_property
    def rubbed(self) -> Kernel:
        """The friction efforts of x, dx, parameters and the speed that smooths dry friction."""

        def efforts(x: Expression, dx: Expression, theta: Expression, speed: Expression) -> Expression:
            viscous: Mask = np.asarray(self.friction.viscous.any(axis=0))
            return self._efforts(x, dx, self._still, theta, viscous) + self._dry(x, dx, theta, speed)

        inputs: Ports = {"x": self.m, "dx": self.m, "theta": self.p, "speed": ()}
        return trace(efforts, name=f"{self.regressor.name}_friction", inputs=inputs)

    @property
    def _still(self) -> Expression:
        return ex.vector(*(0.0 for _ in range(self.m)))

    def _efforts(self, x: Expression, dx: Expression, ddx: Expression, theta: Expression, kept: Mask) -> Expression:
        """The product regressor · parameters, of the kept columns (p,) only."""
        flat = self.regressor.function.call([x, dx, ddx])[0]
        columns = np.flatnonzero(kept).tolist()
        return _sums(self.n, columns, lambda i, j: flat[i * self.p + j] * theta[j])

    def _dry(self, x: Expression, dx: Expression, theta: Expression, speed: Expression) -> Expression:
        """Dry friction with tanh(velocity / speed) of each joint in place of its sign."""
        dry, columns = self.friction.dry, np.flatnonzero(self.friction.dry_columns).tolist()
        if self.sliding is None:
            dq = ex.directional(self.positions(x), x, dx)
            size = _sums(self.n, columns, lambda i, j: float(dry[i, j]) * theta[j])
            return ex.vector(*(size[i] * ex.tanh(dq[i] / speed) for i in range(self.n)))
        # velocities of all joints are linear in dx, so that tanh(velocity / speed) is tanh(velocity) at dx / speed
        flat = self.sliding.function.call([x, dx / speed, self._still])[0]
        return _sums(self.n, columns, lambda i, j: flat[i * len(columns) + columns.index(j)] * theta[j])


def _sums(n: int, columns: Sequence[int], term: Callable[[int, int], Expression]) -> Expression:
    """The sums (n,) over the columns j of term(i, j)."""
    return ex.vector(*(sum((term(i, j) for j in columns), ex.vector(0.0)) for i in range(n)))


def equations(robot: DynamicModel) -> Equations:
    """The kernels of a robot, made once for each.

    Raises:
        AssumptionError: the robot offers none, so that it cannot be simulated in a closed loop.
    """
    return _remembered(robot) if isinstance(robot, Hashable) else _equations(robot)


def _equations(robot: Any) -> Equations:
    if not hasattr(robot, "regressor_kernel"):
        raise AssumptionError(f"{robot.name} has no regressor_kernel(): a closed loop needs its equations as a kernel")
    regressor = robot.regressor_kernel()
    in_pose = as_parallel(robot)
    inverse = None if in_pose is None else in_pose.inverse_kernel()
    friction = find_friction(regressor, None if in_pose is None else in_pose.home)
    return Equations(regressor, inverse, friction, _sliding_kernel(robot, friction))


_remembered = lru_cache(maxsize=16)(_equations)


def as_parallel(robot: DynamicModel) -> ParallelRobot | None:
    """The robot, if its equations are written in its pose; asking one attribute is quicker than the whole protocol."""
    return cast("ParallelRobot", robot) if hasattr(robot, "pose_names") else None


def _sliding_kernel(robot: Any, friction: Friction) -> Kernel | None:
    """The columns of dry friction made smooth by the robot itself, which alone has the speeds of passive joints."""
    if not hasattr(robot, "with_only") or not friction.dry_columns.any():
        return None
    names = [name for name, is_dry in zip(robot.names, friction.dry_columns, strict=True) if is_dry]
    return robot.with_only(names).regressor_kernel(friction_speed=1.0)


def find_friction(regressor: Kernel, at: Array | None = None) -> Friction:
    """Which entries are friction, from the regressor at some velocity, at twice that velocity, and at the opposite one.

    Friction is odd in the velocity, inertia and weight are even; dry friction is the same at twice the velocity. Where
    no pose is given, the first that can be assembled among random joint positions is asked.
    """
    m = regressor.inputs[0].size
    rng = np.random.default_rng(0)  # any velocity at which no joint stands still
    dx, ddx = rng.uniform(0.5, 1.5, (2, m)) * rng.choice([-1.0, 1.0], (2, m))
    poses = [at] if at is not None else list(rng.uniform(-np.pi, np.pi, (1000, m)))
    for pose in poses:
        W = regressor(np.broadcast_to(pose, (3, m)), np.outer([1.0, 2.0, -1.0], dx), np.broadcast_to(ddx, (3, m)))
        if np.isfinite(W).all():
            break
    else:
        raise AssumptionError(f"the regressor '{regressor.name}' is not finite at any pose that was tried")
    forth, twice, back = W
    rounding = 1e-9 * abs(forth).max(axis=0)  # of the column's own size: at home some columns are nothing but rounding
    odd = (abs(back + forth) <= rounding).all(axis=0) & (forth != 0).any(axis=0)
    dry = odd & (abs(twice - forth) <= rounding).all(axis=0)
    return Friction(np.where(dry, np.abs(forth), 0.0), np.where(odd & ~dry, (forth != 0) * 1.0, 0.0))
