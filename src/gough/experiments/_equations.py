"""Forward dynamics from a regressor: efforts are linear in the acceleration, so that it follows from one solve."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import AssumptionError
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._family import kernels as family_kernels
from gough.robots.model import DynamicModel, ParallelRobot

Ports = dict[str, int | tuple[int, ...]]
"""Inputs of a kernel with their shapes."""


@dataclass(frozen=True)
class Friction:
    """Which entries of a regressor (n, p) are friction, found by asking it."""

    dry: Array
    """1 where an entry is the sign of its joint's velocity, else 0."""
    viscous: Array
    """1 where an entry is any other odd function of the velocity, else 0."""

    @property
    def columns(self) -> Array:
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
            dq = ex.directional(q, x, dx)
            added = ex.vector(*(ripple[0, i] * ex.sin(ripple[1, i] * q[i] + ripple[2, i]) for i in range(self.n)))
            smooth = self._efforts(x, dx, ddx, theta, self.friction.dry == 0)
            return ex.solve(ex.derivative(smooth, ddx), effort + added - smooth - self._dry(dq, theta, speed))

        n, m = self.n, self.m
        inputs: Ports = {"x": m, "dx": m, "effort": n, "theta": self.p, "speed": (), "ripple": (3, n), "ddx": m}
        kernel = trace(solve, name=f"{self.regressor.name}_forward", inputs=inputs)
        # written at a free ddx so that the derivative exists, then read at 0
        return kernel.bind(ddx=np.zeros(self.m))

    @cached_property
    def rubbed(self) -> Kernel:
        """The friction efforts of x, dx, parameters and the speed that smooths dry friction."""

        def efforts(x: Expression, dx: Expression, theta: Expression, speed: Expression) -> Expression:
            still = ex.vector(*(0.0 for _ in range(self.m)))
            dq = ex.directional(self.positions(x), x, dx)
            return self._efforts(x, dx, still, theta, self.friction.viscous) + self._dry(dq, theta, speed)

        inputs: Ports = {"x": self.m, "dx": self.m, "theta": self.p, "speed": ()}
        return trace(efforts, name=f"{self.regressor.name}_friction", inputs=inputs)

    def _efforts(self, x: Expression, dx: Expression, ddx: Expression, theta: Expression, kept: Array) -> Expression:
        """The product regressor · parameters, of the kept entries (n, p) only."""
        flat = self.regressor.function.call([x, dx, ddx])[0]
        return _weighted_sums(lambda i, j: flat[i * self.p + j] * theta[j], kept)

    def _dry(self, dq: Expression, theta: Expression, speed: Expression) -> Expression:
        """Dry friction f tanh(q̇ / speed), joint by joint."""
        dry = self.friction.dry
        size = _weighted_sums(lambda i, j: float(dry[i, j]) * theta[j], dry)
        return ex.vector(*(size[i] * ex.tanh(dq[i] / speed) for i in range(self.n)))


def _weighted_sums(term: Callable[[int, int], Expression], kept: Array) -> Expression:
    """The sums over j of term(i, j), of the kept entries (n, p)."""
    rows = [sum((term(i, int(j)) for j in np.flatnonzero(row)), ex.vector(0.0)) for i, row in enumerate(kept)]
    return ex.vector(*rows)


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
    inverse = None if in_pose is None else _inverse_kernel(robot)
    return Equations(regressor, inverse, find_friction(regressor, None if in_pose is None else in_pose.home))


_remembered = lru_cache(maxsize=16)(_equations)


def as_parallel(robot: DynamicModel) -> ParallelRobot | None:
    """The robot, if its equations are written in its pose; asking one attribute is quicker than the whole protocol."""
    return cast("ParallelRobot", robot) if hasattr(robot, "pose_names") else None


def _inverse_kernel(robot: Any) -> Kernel:
    """Joint positions as a kernel of the pose, geometry bound."""
    if hasattr(robot, "inverse_kernel"):
        return robot.inverse_kernel()
    kernel = family_kernels(robot.FAMILY)["inverse"]
    return kernel.bind(geometry=robot._numbers)  # noqa: SLF001 - no public way offers it as a kernel


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
    odd = np.isclose(back, -forth, rtol=1e-9, atol=1e-12).all(axis=0) & (forth != 0).any(axis=0)
    dry = odd & np.isclose(twice, forth, rtol=1e-9, atol=1e-12).all(axis=0)
    return Friction(np.where(dry, np.abs(forth), 0.0), np.where(odd & ~dry, (forth != 0) * 1.0, 0.0))
