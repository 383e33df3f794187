"""The equations of a design as one kernel: the regressor's independent columns, and everything that is limited."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import AssumptionError, InputError
from gough.designs.excitation.limits import Channel
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.methods.statistical.identifiability import Identifiability, analyze
from gough.robots.model import DynamicModel
from gough.simulate.equations import as_parallel, find_friction

_SAMPLES = 400
_RANK = 1e-9
"""Singular values of the scaled regressor below this share of the largest belong to no parameter."""


@dataclass(frozen=True, eq=False)
class Equations:
    """Functions of x, dx, ddx: `W` (actuators, base parameters) and `h` (channels,), and their adjoint."""

    forward: Kernel

    @cached_property
    def adjoint(self) -> Kernel:
        """Weights of W and h carried back to x, dx, ddx: one reverse sweep per sample."""
        return self.forward.adjoint("x", "dx", "ddx")

    def __getstate__(self) -> dict[str, Any]:
        """The adjoint travels too: to trace it again takes longer than to send it."""
        return {"forward": self.forward, "adjoint": self.adjoint}


def identifiable_about(robot: DynamicModel, home: Array) -> Identifiability:
    """Rank and base parameters of the regressor at random motions about home.

    All poses must be within reach: at its edge equations are met less exactly, which looks like another parameter.

    Raises:
        InputError: the robot cannot stand at home.
    """
    kernel: Kernel = regressor_kernel(robot)
    rng = np.random.default_rng(0)  # any general motion shows the rank
    m = len(home)
    x, dx, ddx = rng.uniform(-1.0, 1.0, (3, _SAMPLES, m))
    for size in 0.3 * 0.5 ** np.arange(8):
        W = kernel(home + size * x, dx, 5.0 * ddx)
        if np.isfinite(W).all():
            R = np.asarray(np.linalg.qr(W.reshape(-1, W.shape[-1]), mode="r"))
            return analyze(R, robot.names, n_rows=len(W) * W.shape[1], rtol=_RANK)
    raise InputError(
        f"{robot.name} cannot move about its home ({', '.join(f'{v:g}' for v in home)}): "
        "give another home, in m and rad"
    )


def design_equations(
    robot: DynamicModel, kept: Sequence[int], parameters: Array, channels: Sequence[Channel], friction_speed: float
) -> Equations:
    """The kernel of a design. Dry friction is tanh(velocity / friction_speed), so that it has a derivative.

    Args:
        robot: The model.
        kept: Columns of the base parameters.
        parameters: Values of the base parameters, by which efforts are predicted.
        channels: What is limited.
        friction_speed: At which dry friction has reached 76 % of its size.
    """
    motion = _motion_kernel(robot)
    regressor, dry = _smooth_regressor(robot, friction_speed)
    n, p = len(robot.actuators), len(robot.names)
    kinds = {one.kind for one in channels}

    def look(x: Expression, dx: Expression, ddx: Expression) -> dict[str, Expression]:
        moved = dict(zip((port.name for port in motion.outputs), motion.function.call([x, dx, ddx]), strict=True))
        flat = regressor.function.call([x, dx, ddx])[0]

        def entry(i: int, j: int) -> Expression:
            if dry is None or dry[i, j] == 0:
                return flat[i * p + j]
            return float(dry[i, j]) * ex.tanh(moved["dq"][i] / friction_speed)

        W = ex.matrix(*(ex.vector(*(entry(i, j) for i in range(n))) for j in kept))
        sources: dict[str, Expression] = {
            "position": moved["q"],
            "speed": moved["dq"],
            "acceleration": moved["ddq"],
            "effort": W @ ex.vector(*parameters.tolist()),
            "joint": moved.get("s", 0.0),
            "pose": x,
            **(_distances(robot, x) if kinds & {"margin", "reach"} else {}),
        }
        return {"W": W, "h": ex.vector(*(sources[one.kind][one.index] for one in channels))}

    m = regressor.inputs[0].size
    return Equations(trace(look, name="design", inputs={"x": m, "dx": m, "ddx": m}))


def regressor_kernel(robot: Any) -> Kernel:
    """The robot's regressor as a kernel of x, dx, ddx."""
    if not hasattr(robot, "regressor_kernel"):
        raise AssumptionError(f"{robot.name} has no regressor_kernel(): a design needs its equations as a kernel")
    kernel: Kernel = robot.regressor_kernel()
    return kernel


def _smooth_regressor(robot: Any, friction_speed: float) -> tuple[Kernel, Array | None]:
    """A regressor, and the size of those entries that still have to be made smooth; None where none has."""
    if "friction_speed" in signature(robot.regressor_kernel).parameters:
        return robot.regressor_kernel(friction_speed=friction_speed), None
    kernel = regressor_kernel(robot)
    in_pose = as_parallel(robot)
    return kernel, find_friction(kernel, None if in_pose is None else in_pose.home).dry


def _motion_kernel(robot: Any) -> Kernel:
    """From x, dx, ddx: q, dq, ddq of the actuators, and for a mechanism all coordinates s."""
    if as_parallel(robot) is None:
        n = len(robot.coordinates)
        return trace(
            lambda q, dq, ddq: {"q": q + 0.0, "dq": dq + 0.0, "ddq": ddq + 0.0},
            name="motion",
            inputs={"x": n, "v": n, "a": n},
        )
    if hasattr(robot, "joint_motion_kernel"):
        kernel: Kernel = robot.joint_motion_kernel()
        return kernel
    if hasattr(robot, "motion_kernel"):
        every = robot.motion_kernel()
        picked = [robot.coordinate_names.index(name) for name in robot.coordinates]

        def look(x: Expression, dx: Expression, ddx: Expression) -> dict[str, Expression]:
            parts = every.function.call([x, dx, ddx])
            actuated = {
                name: ex.vector(*(part[k] for k in picked))
                for name, part in zip(("q", "dq", "ddq"), parts, strict=True)
            }
            return {**actuated, "s": parts[0] + 0.0}

        m = every.inputs[0].size
        return trace(look, name="motion", inputs={"x": m, "v": m, "a": m})
    return _differentiated(robot)


def _differentiated(robot: Any) -> Kernel:
    """The actuators' motion by the chain rule, from their positions as a kernel of the pose."""
    if not hasattr(robot, "inverse_kernel"):
        raise AssumptionError(
            f"{robot.name} has no inverse_kernel(): a design needs its actuators' positions as a kernel of the pose"
        )
    inverse: Callable[..., Any] = robot.inverse_kernel().function.call
    m = len(robot.home)

    def look(x: Expression, dx: Expression, ddx: Expression) -> dict[str, Expression]:
        q = inverse([x])[0]
        dq = ex.directional(q, x, dx)
        ddq = ex.directional(dq, x, dx) + ex.directional(dq, dx, ddx)
        return {"q": q, "dq": dq, "ddq": ddq}

    return trace(look, name="motion", inputs={"x": m, "v": m, "a": m})


def _distances(robot: Any, x: Expression) -> dict[str, Expression]:
    """`margin`, the smallest of several, and `reach` where the robot has one beside the range of its actuators."""
    if not hasattr(robot, "margin_kernel"):
        raise AssumptionError(
            f"{robot.name} has no margin_kernel(): a design needs its distance to singularity as a kernel"
        )
    distances = {"margin": _least(robot.margin_kernel().function.call([x])[0])}
    if hasattr(robot, "reach_kernel"):
        distances["reach"] = robot.reach_kernel().function.call([x])[0]
    return distances


def _least(values: Expression) -> Expression:
    least = values[0]
    for k in range(1, values.numel()):
        least = ex.minimum(least, values[k])
    return ex.vector(least)
