"""The robot at home, with the number, the zero and the positive direction of each actuator."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import GoughError
from gough.core.text import number
from gough.report.base.drawing import WIDTH, Drawing, color_of
from gough.report.base.robot_view import Place, back_to_front, fitted, look_of, seen
from gough.report.base.sheet import Sheet
from gough.robots.mechanism.assembly import assembled
from gough.robots.mechanism.bodies import body_motions
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.drawing import attached_points, draw, segments

_ARC = np.linspace(0, np.pi / 3, 25)
"""The angle that an arrow spans, from zero on."""


class Drive(NamedTuple):
    """An actuated coordinate at home, as it is drawn. All vectors are in the base frame."""

    turns: bool
    position: float
    """Its value at home."""
    origin: Array
    """A point on its axis: where the body is attached; of a slide, where it is."""
    axis: Array
    """Unit vector of its positive turn or slide."""
    zero: Array
    """From the origin to where the attached body points at zero; of a slide, to where it is at zero."""


def drives(mechanism: Mechanism) -> list[Drive]:
    """The actuated coordinates at home."""
    s = assembled(mechanism).s[None, : len(mechanism.coordinates)]
    result = []
    for name in mechanism.actuated:
        k = mechanism.coordinates.index(name)
        joint = next(joint for joint in mechanism.joints if name in joint.coordinates)
        frame = body_motions(mechanism, s, np.eye(s.shape[1])[k][None])[joint.child]
        turns, q, origin = mechanism.motions[name] == "turn", float(s[0, k]), frame.position[0]
        moving = frame.turning[0] if turns else frame.velocity[0]
        axis = moving / np.linalg.norm(moving)
        if turns:
            points = [frame.at(point)[0][0] - origin for point in attached_points(mechanism)[joint.child]]
            across = [point - axis * (axis @ point) for point in points]
            lead = max(across, key=lambda point: float(np.linalg.norm(point)), default=np.zeros(3))
            zero = _turned(lead, axis, -q)
        else:
            zero = -q * axis
        result.append(Drive(turns, q, origin, axis, zero))
    return result


def _turned(v: Array, axis: Array, angle: float) -> Array:
    """A vector across an axis, turned about it."""
    return np.cos(angle) * v + np.sin(angle) * np.cross(axis, v)


def home_figure(robot: Any) -> Drawing | None:
    """The robot at home, with its actuators numbered; None where it has no description that could be drawn."""
    mechanism = getattr(robot, "mechanism", None)
    if not isinstance(mechanism, Mechanism):
        return None
    try:
        s = assembled(mechanism).s[None, : len(mechanism.coordinates)]
        shape, every = draw(mechanism, s)[0], drives(mechanism)
    except GoughError:
        return None
    middle = (shape.min(axis=(0, 1)) + shape.max(axis=(0, 1))) / 2
    size = float(np.ptp(shape, axis=(0, 1)).max())
    is_flat = bool(np.ptp(shape[:, :, 2]) < 1e-9 * size)

    def view(points: Array) -> Array:
        return points - middle if is_flat else seen(points - middle)

    limbs = back_to_front([segment.kind for segment in segments(mechanism)], view(shape))
    arrows = [_arrow(drive, size, view) for drive in every]
    sheet = Sheet(72 * WIDTH, 72 * 4.0)
    shapes = [ends for _, ends in limbs] + [part for each in arrows for part in (each.way, each.beside, each.zero)]
    place = fitted(sheet, shapes, margin=0.09)
    for kind, ends in limbs:
        color, width = look_of(kind)
        sheet.stroke(*place(ends), color_of(color), width, opacity=0.55, is_round=True)
    for k, each in enumerate(arrows, start=1):
        _draw(sheet, each, str(k), place)
    units = robot.coordinate_units
    at = ", ".join(
        f"{name} = {number(drive.position, digits=3)} {unit}"
        for name, drive, unit in zip(robot.coordinates, every, units, strict=True)
    )
    kinds = {drive.turns for drive in every}
    words = {
        True: "a dashed line shows where its body points at zero, and the arrow starts there",
        False: "the arrow shows a slide, and a dot where it is at zero, if that is near",
    }
    caption = (
        f"The {robot.name} at home with the numbers of its actuators. Arrows point in the positive direction; "
        f"{'; '.join(words[kind] for kind in (True, False) if kind in kinds)}. Here {at}."
    )
    return Drawing("home", sheet, f"The {robot.name} at home: zeros and positive directions of its actuators.", caption)


class _Arrow(NamedTuple):
    """How an actuator is drawn, as the camera sees it: points (…, 2 or 3)."""

    way: Array
    """The line that ends in a head."""
    beside: Array
    """Where its number stands."""
    zero: Array
    """A dashed line to where its body points at zero, or a point; empty where zero is far."""


def _arrow(drive: Drive, size: float, view: Callable[[Array], Array]) -> _Arrow:
    if drive.turns:
        reach = float(np.linalg.norm(drive.zero))
        if reach == 0:  # nothing is attached off the axis: any direction across it
            other = np.eye(3)[int(np.abs(drive.axis).argmin())]
            across = other - drive.axis * (drive.axis @ other)
            drive = drive._replace(zero=0.1 * size * across / np.linalg.norm(across))
            reach = 0.1 * size
        radius = min(0.6 * reach, 0.16 * size)
        line = view(drive.origin + np.outer([0.0, 1.25 * radius / reach], drive.zero))
        path = np.array([_turned(drive.zero * radius / reach, drive.axis, angle) for angle in _ARC])
        return _Arrow(view(drive.origin + path), view(drive.origin - 0.35 * radius * drive.zero / reach), line)
    length, start, dot = 0.16 * size, drive.origin, np.zeros((0, 3))
    if np.linalg.norm(drive.zero) < 2 * size:  # between zero and where it is, the arrow is away from other bodies
        dot = view(drive.origin + drive.zero)[None]
        start = drive.origin + 0.6 * drive.zero
    way = view(start + np.outer([0.0, length], drive.axis))
    along = (way[1] - way[0])[:2]
    across = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-12)
    return _Arrow(way, way.mean(axis=0)[:2] + 0.03 * size * across, dot)


def _draw(sheet: Sheet, arrow: _Arrow, label: str, place: Place) -> None:
    """Arrow, zero and number of one actuator."""
    color = color_of(2)
    if len(arrow.zero) == 1:
        sheet.dots(*place(arrow.zero), color, 1.5)
    else:
        sheet.stroke(*place(arrow.zero), color, 1.0, dashed=True)
    way = np.stack(place(arrow.way))
    tip, along = way[:, -1], way[:, -1] - way[:, -2]
    if np.linalg.norm(along) > 0:  # a slide towards the camera has no direction on paper
        along = along / np.linalg.norm(along)
        across = np.array([-along[1], along[0]])
        length, half = _HEAD
        sheet.area([np.array([tip, tip - length * along + half * across, tip - length * along - half * across])], color)
    sheet.stroke(way[0], way[1], color, 1.6)
    x, y = place(arrow.beside)
    sheet.write(float(x), float(y), label, color, across="center", up="middle", size=10.0, bold=True)


_HEAD = 6.5, 2.6
"""Length and half width of an arrow's head, in points."""
