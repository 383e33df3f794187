"""Dimensions that differ from the drawing: lengths and angles of the robot, one at a time."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth
from gough.robots.mechanism.closed_chain import ClosedChain, MechanismModel
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inverse_dynamics import efforts_of
from gough.robots.mechanism.placement import Placement

_STEP = 1e-6
"""Change of a dimension of 1 m or 1 rad for finite differences; smaller ones change in proportion."""
_NOTHING = 1e-10
"""Part of the efforts below which their change is rounding: the finite step of a dimension changes them by 1e-6."""
_SAME = 1 - 1e-6
"""Cosine between columns from which on dimensions are not told apart."""


@dataclass(frozen=True)
class Dimension:
    """A dimension of a robot that can be changed."""

    name: str
    unit: str
    value: float
    field: str = ""
    """The field of a built-in robot, or of its geometry, that holds it."""
    place: int | None = None
    """Which entry of the field, if it has several."""
    joints: tuple[str, ...] = ()
    """The joints and closures of a mechanism whose distances from the frame before them it is."""

    def changed(self, robot: Any, by: float) -> Any:
        """The robot with another value of this dimension."""
        if self.joints:
            return replace(robot, description=_stretched(robot.mechanism, self.joints, 1 + by / self.value))
        holder = getattr(robot, "geometry", robot)
        new: Any = self.value + by
        if self.place is not None:
            old = getattr(holder, self.field)
            new = (*old[: self.place], new, *old[self.place + 1 :])
        other = replace(holder, **{self.field: new})
        return other if holder is robot else replace(robot, geometry=other)


def dimensions(robot: Any) -> list[Dimension]:
    """The dimensions of a robot.

    For a built-in robot these are its fields, or those of its geometry, that have a unit. For another mechanism they
    are the distances of joints and closures from the frames of their bodies: those that are equal together, and each.

    Examples:
        >>> from gough.robots import FiveBar
        >>> [each.name for each in dimensions(FiveBar())]
        ['base', 'proximal_1', 'proximal_2', 'distal_1', 'distal_2']
    """
    if isinstance(robot, MechanismModel):
        return _distances(robot.mechanism)
    holder, found = getattr(robot, "geometry", robot), []
    for each in fields(holder) if is_dataclass(holder) else ():
        unit, value = each.metadata.get("unit"), getattr(holder, each.name)
        if unit is not None and isinstance(value, tuple):
            found += [Dimension(f"{each.name}_{k + 1}", unit, float(x), each.name, k) for k, x in enumerate(value)]
        elif unit is not None:
            found.append(Dimension(each.name, unit, float(value), each.name))
    return found


def _distances(mechanism: Mechanism) -> list[Dimension]:
    places = {joint.name: joint.placement for joint in mechanism.joints}
    for closure in mechanism.closures:
        places |= {f"{closure.name} on {body}": at for body, at in zip(closure.bodies, closure.placements, strict=True)}
    groups: dict[float, list[str]] = {}
    for name, at in places.items():
        groups.setdefault(float(f"{np.linalg.norm(at.position):.9g}"), []).append(name)
    found = []
    for length, names in groups.items():
        if length > 0:
            found += [Dimension(f"distance of {name}", "m", length, joints=(name,)) for name in names]
        if length > 0 and len(names) > 1:
            found.append(Dimension(f"distance of {', '.join(names)}", "m", length, joints=tuple(names)))
    return found


def _stretched(mechanism: Mechanism, names: tuple[str, ...], factor: float) -> Mechanism:
    def longer(at: Placement, name: str) -> Placement:
        x, y, z = (np.array(at.position) * (factor if name in names else 1.0)).tolist()
        return Placement((x, y, z), at.rotation)

    joints = tuple(replace(joint, placement=longer(joint.placement, joint.name)) for joint in mechanism.joints)
    closures = []
    for closure in mechanism.closures:
        first, second = (
            longer(at, f"{closure.name} on {body}") for body, at in zip(closure.bodies, closure.placements, strict=True)
        )
        closures.append(replace(closure, placements=(first, second)))
    return replace(mechanism, joints=joints, closures=tuple(closures))


@dataclass(frozen=True, eq=False)
class Geometry(Effect):
    """W(g + δ) θ: one dimension of the robot is g + δ where the model has g.

    A derivative of W by g at the fitted θ is defined although single entries of θ are not: where W(g) n = 0,
    (∂W/∂g) n is a combination of columns of W, since base parameters exist for every geometry.
    """

    dimension: Dimension | None = None
    others: tuple[str, ...] = ()
    """Further dimensions whose error has the same efforts."""
    title: str = "a dimension that differs from the drawing"

    name = "geometry"
    advice = (
        "Measure that dimension, or calibrate the robot (gough calibrate), and correct it in [robot]. "
        'use = ["geometry"] in [effects] estimates its error, to check it: calibration determines it better.'
    )
    correction = (
        "State the dimension with its error added in [robot] of the study, and identify again without this effect: "
        "efforts of the drawn dimension are not those that were identified."
    )
    sizes = (0.002, 0.006, 0.02)
    size_unit = "of one length"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """One for each dimension that has efforts of its own."""
        found: list[tuple[Dimension, Array, list[str]]] = []
        for dimension in dimensions(excitation.plain):
            column = _slope(excitation, dimension)
            if column is None:
                continue
            direction = (column / np.linalg.norm(column)).reshape(-1)
            same = next((known for known in found if abs(known[1] @ direction) > _SAME), None)
            if same is None:
                found.append((dimension, direction, []))
            else:
                same[2].append(dimension.name)
        return tuple(
            replace(self, dimension=dimension, others=tuple(others), title=_title([dimension.name, *others]))
            for dimension, _, others in found
        )

    def columns(self, excitation: Excitation) -> Columns | None:
        """The error of the dimension; at an error that is known, the secant."""
        if self.dimension is None:
            return None
        name = f"error of {self.dimension.name}"
        by = excitation.at.get(name, 0.0)
        column = _secant(excitation, self.dimension, by) if by else _slope(excitation, self.dimension)
        if column is None:
            return None
        return Columns((name,), (self.dimension.unit,), excitation.interpolated(column)[:, :, None])

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:
        """One length, any, is longer than drawn."""
        if not truth.lengths:
            return None
        longer = truth.with_length(str(rng.choice(np.array(truth.lengths))), 1 + size)
        return Planted(truth.q, longer.efforts(truth.q, truth.dq, truth.ddq))


def _title(names: list[str]) -> str:
    return f"a dimension that differs from the drawing: {' or '.join(names)}"


def _slope(excitation: Excitation, dimension: Dimension) -> Array | None:
    """Derivative of the model's efforts (coarse samples, actuators) by a dimension; None where it is rounding only."""

    def computed() -> Array | None:
        column = _secant(excitation, dimension, 0.0)
        if column is None:
            return None
        least = _NOTHING * np.linalg.norm(_drawn(excitation)) / _change(dimension)
        return column if np.linalg.norm(column) > least else None

    return excitation.once(f"by {dimension.name}", computed)


def _secant(excitation: Excitation, dimension: Dimension, by: float) -> Array | None:
    """Change of the model's efforts (coarse samples, actuators) by a change of a dimension, over that change."""
    change = by or _change(dimension)
    try:
        efforts = _efforts(excitation, dimension, change)
    except InputError:  # the robot with this dimension cannot be assembled, or does not reach the positions
        return None
    return np.asarray((efforts - _drawn(excitation)) / change)


def _change(dimension: Dimension) -> float:
    return _STEP * min(abs(dimension.value) or 1.0, 1.0)


def _drawn(excitation: Excitation) -> Array:
    """Efforts of the fitted parameters (coarse samples, actuators) with all dimensions as drawn."""
    return excitation.once("efforts", lambda: _efforts(excitation, None, 0.0))


def _efforts(excitation: Excitation, dimension: Dimension | None, by: float) -> Array:
    """Efforts of the fitted parameters (coarse samples, actuators) in a robot with another dimension."""
    robot, at = excitation.plain, excitation.coarse
    motion = excitation.q[at], excitation.dq[at], excitation.ddq[at]
    other: Any = robot if dimension is None else dimension.changed(robot, by)
    if not isinstance(robot, ClosedChain):
        return excitation.plain_efforts(*motion, other)
    near = excitation.once("coordinates", lambda: robot.coordinates_at(motion[0]), is_of_motion=True)
    values = dict(zip(robot.parameters, excitation.parameters.tolist(), strict=False))
    return efforts_of(other.mechanism, values, near, motion[1], motion[2])


EFFECT = Geometry()
