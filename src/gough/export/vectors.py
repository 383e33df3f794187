"""Random motions of a robot with the results of gough: what exported programs are compared with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError
from gough.dynamics.validation import bounds_of_efforts
from gough.export.effects import FRICTION, ExportedEffects, effect_columns
from gough.export.model import CalibratedGeometry
from gough.kernels import Kernel
from gough.robots.chain_controller import pose_of
from gough.robots.controller import ControllerEquations

COUNT = 1000
_CANDIDATES = 4000
_EDGE = 0.01
"""Motions keep this part of the range of the data away from its ends: rounding does not move them outside."""
_CLEAR, _LEAST = 0.2, 20.0
"""Poses have at least this part of the margin at home, and so many times the least one: rounding grows towards
singularities."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs and results (N, coordinates) by name: x, q, dq, dx, and with dynamics also ddq, ddx, tau, …"""

    values: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.values["q"])

    def __getitem__(self, name: str) -> Array:
        return self.values[name]

    def scale(self, name: str) -> float:
        """The usual size of a result, to which errors are relative: the median over motions of its largest entry."""
        return float(np.median(np.abs(self.values[name]).max(axis=1))) or 1.0


def dynamic_vectors(of: ExportedEffects, count: int = COUNT) -> Vectors:
    """Random motions of an identified robot in the range of its data, with efforts by its regressor.

    Raises:
        InputError: too few poses of the robot are found.
    """
    dynamics, equations = of.dynamics, of.equations
    robot: Any = dynamics.robot
    rng = np.random.default_rng(1)
    x, q = _reachable(robot, equations, dynamics.seen.q, rng, count)
    n = len(q)
    dq, ddq = (_inside(span, rng, n) for span in (dynamics.seen.dq, dynamics.seen.ddq))
    theta = dynamics.robot_parameters()
    assert equations.efforts is not None
    friction = np.array(equations.efforts.is_friction)
    still = np.zeros_like(dq)
    W = np.asarray(robot.regressor(q, dq, ddq))
    at_rest, pushed = np.asarray(robot.regressor(q, still, still)), np.asarray(robot.regressor(q, still, ddq))
    rigid, rubbing = W @ np.where(friction, 0.0, theta), W @ np.where(friction, theta, 0.0)
    parts = np.where(friction, 0.0, theta)

    def switched(own: Array, switches: int, speed: Array = dq, acceleration: Array = ddq) -> Array:
        """Efforts of the robot's own model with those of effects that are switched on."""
        return own + _effects(of, (q, speed, acceleration), own, switches)

    values = {
        "x": x, "q": q, "dq": dq, "ddq": ddq, "tau": switched(rigid + rubbing, of.default),
        "friction": switched(rubbing, of.default, dq, still),
        "gravity": switched(at_rest @ parts, of.in_mass, still, still),
        "inertial": switched((pushed - at_rest) @ parts, of.in_mass, still, ddq),
    }  # fmt: skip
    if of.terms:
        bits = [1 << k for k in range(of.every.bit_length())]
        each = [switched(rigid + rubbing if bit & FRICTION else rigid, bit) for bit in bits]
        values["switched"] = np.concatenate(each, axis=1)
    if hasattr(robot, "pose_motion"):
        motion = robot.pose_motion(q, dq, ddq)
        values |= {"dx": motion.dx, "ddx": motion.ddx}
    else:
        values["dx"] = np.einsum("nij,nj->ni", robot.jacobian(q), dq)
    rows = _rows(of, (q, dq, ddq), W)
    bounds, _ = bounds_of_efforts(dynamics.estimate_of()[1], rows)
    if bounds is not None:
        known = W @ np.array([dynamics.fixed.get(name, 0.0) for name in robot.names])
        values |= {
            "lower": bounds.lower.reshape(known.shape) + known,
            "upper": bounds.upper.reshape(known.shape) + known,
        }
    return Vectors(values)


def _effects(of: ExportedEffects, motion: tuple[Array, Array, Array], own: Array, switches: int) -> Array:
    """Efforts (N, n) of the effects that are switched on."""
    values, total = of.dynamics.effect_values(), np.zeros_like(own)
    columns = effect_columns(of.dynamics, motion, own) if of.terms else {}
    for term in of.terms:
        if term.switch & switches:
            total += sum(columns[name] * values[name] for name in term.names)
    return total


def _rows(of: ExportedEffects, motion: tuple[Array, Array, Array], W: Array) -> Array:
    """The regressor (N·n, unknowns) of the unknowns; zero for effects that are not part of the efforts."""
    dynamics, names = of.dynamics, list(of.dynamics.robot.names)
    reference = np.array([dynamics.effect_reference.get(name, 0.0) for name in names])
    given = effect_columns(dynamics, motion, W @ reference) if of.terms else {}
    nothing = np.zeros(W.shape[:2])
    columns = [
        W[:, :, names.index(name)] if name in names else given[name] if of.switch_of(name) & of.default else nothing
        for name in dynamics.columns
    ]
    return np.stack(columns, axis=2).reshape(-1, len(columns))


def geometric_vectors(geometry: CalibratedGeometry, equations: ControllerEquations, count: int = COUNT) -> Vectors:
    """Random poses of a calibrated robot in the range of its readings, with velocities.

    Raises:
        InputError: too few poses of the robot are found.
    """
    model, theta, rng = geometry.model, geometry.parameters, np.random.default_rng(1)
    least = _least_margin(equations)
    n = len(equations.pose)
    span = np.where(equations.scale[:n] == 1.0, 0.5, 0.3 * equations.scale[:n])
    found = [np.zeros((0, 2 * n))]
    for _ in range(12):
        x = equations.home[:n] + span * rng.uniform(-1, 1, (_CANDIDATES, n))
        try:
            s = np.hstack([x, model.inverse(theta, *pose_of(model, x, geometry.home))])
            if equations.margin.replay(s)["margin"].min() > least:
                found.append(s[_away(s[:, n:], geometry.readings) <= 0.5 - _EDGE])
        except GoughError:
            pass
        if sum(map(len, found)) >= count:
            break
        span = 0.6 * span
    x, q = np.split(np.concatenate(found)[:count], 2, axis=1)
    if len(x) < count // 20:
        raise InputError(f"no poses of the {model.name} are found around the middle of its readings")
    J = np.asarray(equations.jacobian.replay(np.hstack([x, q]))["J"]).reshape(len(x), n, n)
    dq = rng.normal(size=q.shape) * np.maximum(np.ptp(geometry.readings, axis=0), 1e-3)
    return Vectors({"x": x, "q": q, "dq": dq, "dx": np.einsum("nij,nj->ni", J, dq)})


def _least_margin(equations: ControllerEquations) -> float:
    at_home = float(equations.margin.replay(equations.home)["margin"])
    return max(_CLEAR * at_home, _LEAST * equations.least_margin)


def _inside(span: Array, rng: np.random.Generator, n: int) -> Array:
    """Random values (n, coordinates) between two ends (2, coordinates)."""
    return np.asarray(span[0] + (span[1] - span[0]) * rng.uniform(_EDGE, 1 - _EDGE, size=(n, span.shape[1])))


def _away(q: Array, seen: Array) -> Array:
    """The largest distance (N,) of a coordinate from the middle of its range, over the range: inside, up to 0.5."""
    return np.asarray((np.abs(q - seen.mean(axis=0)) / np.maximum(seen[1] - seen[0], 1e-12)).max(axis=1))


def _states(robot: Any, equations: ControllerEquations, x: Array) -> Array:
    """All coordinates at poses; NaN where there are none."""
    if isinstance(equations.inverse, Kernel):
        s = equations.inverse.replay(x)["s"].reshape(len(x), -1)
    else:
        s = np.asarray(robot.look(x))
    return s


def _reachable(
    robot: Any, equations: ControllerEquations, seen: Array, rng: np.random.Generator, count: int
) -> tuple[Array, Array]:
    """Poses and positions of the actuators in the range of the data."""
    pose, actuated = list(equations.pose), list(equations.actuated)
    middle, nearest = equations.home[pose], np.inf
    span = np.where(equations.scale[pose] == 1.0, 0.6, 0.4 * equations.scale[pose])
    found: list[Array] = []
    least = _least_margin(equations)
    for _ in range(10):
        x = middle + span * rng.uniform(-1, 1, (_CANDIDATES, len(pose)))
        s = _states(robot, equations, x)
        s = s[np.isfinite(s).all(axis=1)]
        if len(s):
            s = s[equations.margin.replay(s)["margin"] > least]
        if len(s):
            away = _away(s[:, actuated], seen)
            found.append(s[away <= 0.5 - _EDGE])
            if away.min() < nearest:  # the middle of the data need not be home
                middle, nearest = s[away.argmin(), pose], away.min()
        if sum(map(len, found)) >= count:
            break
        span = 0.7 * span
    every = np.concatenate(found) if found else np.zeros((0, len(equations.home)))
    same = _assembled(robot, every[: 2 * count, actuated], every[: 2 * count, pose])
    chosen = every[: 2 * count][same][:count]
    if len(chosen) < count // 20:
        raise InputError(
            f"only {len(chosen)} poses of the {robot.name} are found in the range of the data: nothing can be "
            "verified. Check that the positions in the data are those of this robot"
        )
    return chosen[:, pose], chosen[:, actuated]


def _assembled(robot: Any, q: Array, x: Array) -> Any:
    """The samples whose pose forward kinematics finds from home."""
    if len(q) == 0:
        return np.zeros(0, dtype=bool)
    try:
        return np.abs(robot.forward(q) - x).max(axis=1) < 1e-6
    except GoughError:
        if len(q) == 1:
            return np.array([False])
        half = len(q) // 2
        return np.concatenate([_assembled(robot, q[:half], x[:half]), _assembled(robot, q[half:], x[half:])])
