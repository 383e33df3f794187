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
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.model import DynamicModel
from gough.simulate.equations import as_parallel, find_friction

_SAMPLES = 400
_RANK = 1e-9
"""Singular values of the scaled regressor below this share of the largest belong to no parameter."""


@dataclass(frozen=True, eq=False)
class Equations:
    """Functions of x, dx, ddx: `W` (actuators, base parameters), `h` (channels,) and `spread` (channels,); the adjoint.

    Tracking errors of the actuators change `h` by `spread` at most, to first order; without tracking errors that output
    is missing.
    """

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
    robot: DynamicModel,
    kept: Sequence[int],
    parameters: Array,
    channels: Sequence[Channel],
    *,
    friction_speed: float,
    tracking: Array,
) -> Equations:
    """The kernel of a design. Dry friction is tanh(velocity / friction_speed), so that it has a derivative.

    Args:
        robot: The model.
        kept: Columns of the base parameters.
        parameters: Values of the base parameters, by which efforts are predicted.
        channels: What is limited.
        friction_speed: At which dry friction has reached 76 % of its size.
        tracking: Greatest tracking error of each actuator (n,).
    """
    motion = _motion_kernel(robot)
    regressor, dry = _smooth_regressor(robot, friction_speed)
    n, p = len(robot.actuators), len(robot.names)

    def look(x: Expression, dx: Expression, ddx: Expression) -> dict[str, Expression]:
        moved = dict(zip((port.name for port in motion.outputs), motion.function.call([x, dx, ddx]), strict=True))
        flat = regressor.function.call([x, dx, ddx])[0]

        def entry(i: int, j: int) -> Expression:
            if dry is None or dry[i, j] == 0:
                return flat[i * p + j]
            return float(dry[i, j]) * ex.tanh(moved["dq"][i] / friction_speed)

        W = ex.matrix(*(ex.vector(*(entry(i, j) for i in range(n))) for j in kept))
        sources = {
            "speed": moved["dq"],
            "acceleration": moved["ddq"],
            "effort": W @ ex.vector(*parameters.tolist()),
            **_at_pose(robot, channels, x, moved),
        }
        values = {"W": W, "h": ex.vector(*(sources[one.kind][one.index] for one in channels))}
        if not tracking.any():
            return values
        posture = _posture(robot, channels, moved.get("s", x))
        return {**values, "spread": posture.spread(channels, tracking, smooth=True)}

    m = regressor.inputs[0].size
    return Equations(trace(look, name="design", inputs={"x": m, "dx": m, "ddx": m}))


@dataclass(frozen=True)
class _Posture:
    """Quantities that follow from the actuators' positions, by kind of channel, with derivatives by these positions."""

    values: dict[str, Expression]
    """`margins` are those of which the margin is the least."""
    by_q: dict[str, Expression]
    """(entries, actuators)."""
    step: Expression
    """Newton's step towards other positions."""
    away: Expression
    """How far these are, and how far loops are open."""

    def h(self, channels: Sequence[Channel]) -> Expression:
        """The channels; 0 for those that depend on velocities."""
        nothing = 0.0 * self.away[0]
        return ex.vector(
            *(
                _least(ex.components(self.values["margins"]))
                if one.kind == "margin"
                else self.values[one.kind][one.index]
                if one.follows_positions
                else nothing
                for one in channels
            )
        )

    def spread(self, channels: Sequence[Channel], tracking: Array, *, smooth: bool = False) -> Expression:
        """How much tracking errors change each channel at most, to first order: Σ |∂h/∂q_i| error_i.

        A margin m falls to √(m (m - 2 Σ |∂m/∂q_i| error_i)): its square is linear, since towards a singularity where
        the actuators lose the platform a margin falls like the square root of their distance to it. Where it is to be
        `smooth`, the tangent of the root at the least margin stands for the root: both keep the limit alike.
        """
        nothing, errors = 0.0 * self.away[0], tracking.tolist()

        def total(kind: str, k: int) -> Expression:
            rows = self.by_q[kind]
            return sum((error * ex.absolute(rows[k, i]) for i, error in enumerate(errors)), nothing)

        def one_spread(one: Channel) -> Expression:
            if one.kind == "position":
                return errors[one.index] + nothing
            if one.kind == "margin":
                margins = ex.components(self.values["margins"])
                squares = [ex.absolute(margin) * (margin - 2 * total("margins", k)) for k, margin in enumerate(margins)]
                least = _least(squares)
                fallen = (least / one.lower + one.lower) / 2 if smooth else ex.sqrt(ex.maximum(least, 0.0))
                return _least(margins) - fallen
            return total(one.kind, one.index) if one.follows_positions else nothing

        return ex.vector(*(one_spread(one) for one in channels))


def _mechanism(robot: ClosedChain, s: Expression, q: Expression | None = None) -> _Posture:
    """The posture of a mechanism with coordinates s; `q` are positions that its actuators are to take."""
    kernel = robot.displacement_kernel()
    at = [robot.coordinate_names.index(name) for name in robot.coordinates]
    here = ex.vector(*(s[k] for k in at))
    parts = dict(
        zip((port.name for port in kernel.outputs), kernel.function.call([s, here if q is None else q]), strict=True)
    )
    n = len(at)

    def rows(flat: Expression, chosen: Sequence[int]) -> Expression:
        return ex.matrix(*(ex.vector(*(flat[k * n + i] for k in chosen)) for i in range(n)))

    pose = robot.pose_positions
    by_s = parts["s_by_q"]
    return _Posture(
        {"position": here, "joint": s, "pose": ex.vector(*(s[k] for k in pose)), "margins": parts["margins"]},
        {
            "joint": rows(by_s, range(len(robot.coordinate_names))),
            "pose": rows(by_s, pose),
            "margins": rows(parts["margins_by_q"], range(2)),
        },
        parts["step"],
        ex.vector(*ex.components(parts["away"]), parts["gap"]),
    )


def _closed_form(robot: Any, channels: Sequence[Channel], x: Expression, q: Expression | None = None) -> _Posture:
    """The posture of a robot with closed-form inverse kinematics at the pose x, or at joint positions x."""
    in_joints = as_parallel(robot) is None
    here = x if in_joints else robot.inverse_kernel().function.call([x])[0]
    by_x = None if in_joints else ex.derivative(here, x)
    values = {"position": here, **_at_pose(robot, channels, x, {"q": here})}
    kinds = {one.kind for one in channels}
    moving = [kind for kind in ("pose", "margins", "reach") if kind.removesuffix("s") in kinds]

    def by_q(kind: str) -> Expression:
        derivative = ex.derivative(values[kind], x)
        return derivative if by_x is None else ex.solve(by_x.T, derivative.T).T

    far = here - here if q is None else q - here
    turns = (unit == "rad" for unit in robot.coordinate_units)
    away = ex.vector(*(ex.atan2(ex.sin(far[i]), ex.cos(far[i])) if turn else far[i] for i, turn in enumerate(turns)))
    step = away if by_x is None or q is None else ex.solve(by_x, away)
    return _Posture(values, {kind: by_q(kind) for kind in moving}, step, away)


def displaced_kernel(robot: Any, channels: Sequence[Channel]) -> Kernel:
    """How a state follows the actuators: all coordinates of a mechanism, or else the pose or joint positions.

    Outputs: `h` (channels,), 0 for channels that depend on velocities; `positions` of the actuators; `step`, Newton's
    step towards the state of actuator positions q; `away`, how far that is.
    """

    def look(state: Expression, q: Expression) -> dict[str, Expression]:
        posture = _posture(robot, channels, state, q)
        return {
            "h": posture.h(channels),
            "positions": posture.values["position"] + 0.0,
            "step": posture.step,
            "away": posture.away,
        }

    return trace(look, name="displaced", inputs={"state": _state_size(robot), "q": len(robot.actuators)})


def spread_kernel(robot: Any, channels: Sequence[Channel], tracking: Array) -> Kernel:
    """By how much tracking errors change the channels at a state, to first order; see `displaced_kernel`."""
    return trace(
        lambda state: _posture(robot, channels, state).spread(channels, tracking),
        name="spread",
        inputs={"state": _state_size(robot)},
    )


def _state_size(robot: Any) -> int:
    return len(robot.coordinate_names) if isinstance(robot, ClosedChain) else regressor_kernel(robot).inputs[0].size


def _posture(robot: Any, channels: Sequence[Channel], state: Expression, q: Expression | None = None) -> "_Posture":
    if isinstance(robot, ClosedChain):
        return _mechanism(robot, state, q)
    return _closed_form(robot, channels, state, q)


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


def _at_pose(
    robot: Any, channels: Sequence[Channel], x: Expression, moved: dict[str, Expression]
) -> dict[str, Expression]:
    """What is limited and depends on the pose alone, by kind; `margins` are those of which `margin` is the least."""
    kinds = {one.kind for one in channels}
    sources = {"position": moved["q"], "joint": moved.get("s", 0.0), "pose": x}
    if "margin" in kinds:
        if not hasattr(robot, "margin_kernel"):
            raise AssumptionError(
                f"{robot.name} has no margin_kernel(): a design needs its distance to singularity as a kernel"
            )
        sources["margins"] = robot.margin_kernel().function.call([x])[0]
        sources["margin"] = ex.vector(_least(ex.components(sources["margins"])))
    if "reach" in kinds:
        sources["reach"] = robot.reach_kernel().function.call([x])[0]
    return sources


def _least(values: Sequence[Expression]) -> Expression:
    least = values[0]
    for each in values[1:]:
        least = ex.minimum(least, each)
    return least
