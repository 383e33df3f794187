"""The robot along its trajectory: a drawing in perspective, which the page's script lets one turn and play."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gough.core.arrays import Array
from gough.report.base.curves import Curves
from gough.report.base.drawing import WIDTH, Color, Drawing, color_of
from gough.report.base.sheet import Sheet

FRAMES = 400
"""Postures on the page; the script goes smoothly from one to the next."""
YAW, PITCH = -0.9, 0.45
_LOOKS: dict[str, tuple[Color, float]] = {
    "base": ("quiet", 2.5),
    "arm": (0, 3.5),
    "rod": ("ink", 1.2),
    "platform": (1, 3.0),
    "other": (2, 1.6),
}

Place: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""From points to places on a sheet."""


@dataclass(frozen=True, eq=False)
class Postures:
    """Line segments of a robot at instants start, start + step, …"""

    start: float
    step: float
    kinds: tuple[str, ...]
    """Kind of each segment: base, arm, rod or platform; `other` of a second robot beside the first."""
    segments: Array
    """End points (instants, segments, 2, 3) in meters."""
    poses: Array
    """(instants, coordinates of the platform)"""
    names: tuple[str, ...]
    units: tuple[str, ...]
    counted: str = "s"
    """Unit of the instants: "s", or "pose" where they are numbers of poses."""

    @property
    def trace(self) -> Array:
        """The middle of the platform at every instant; empty where there is no platform, or no way between poses."""
        own = [kind == "platform" and self.counted == "s" for kind in self.kinds]
        return self.segments[:, own].mean(axis=(1, 2)) if any(own) else np.zeros((0, 3))

    def live(self, description: str, clock: str, curves: Curves) -> dict[str, Any]:
        """Data from which the page's script draws it."""
        n = len(self.segments)
        return {
            "kind": "robot",
            "description": description,
            "clock": clock,
            "x": {"start": self.start, "step": self.step, "n": n, "counted": self.counted},
            "kinds": list(self.kinds),
            "tracks": [curves.add(track) for track in self.segments.reshape(n, -1).T],
            "pose": [
                {"name": name, "unit": unit, "values": curves.add(values)}
                for name, unit, values in zip(self.names, self.units, self.poses.T, strict=True)
            ],
        }


def robot_figure(name: str, postures: Postures, clock: str, caption: str = "") -> Drawing:
    """The robot in the posture it has in the middle of its trajectory, with the way of its platform."""
    n = len(postures.segments)
    if postures.counted == "s":
        description = (
            f"The {name} along {postures.step * (n - 1):.3g} s of its trajectory, with the path of its platform."
        )
        caption = caption or f"The model of the {name}, and the path of the center of its platform."
    else:
        description = f"The {name} in {n} poses."
        caption = caption or f"The model of the {name} in each of {n} poses."
    shape = postures.segments[len(postures.segments) // 2]
    middle = (postures.segments.min(axis=(0, 1, 2)) + postures.segments.max(axis=(0, 1, 2))) / 2
    trace, limbs = seen(postures.trace - middle), back_to_front(postures.kinds, seen(shape - middle))
    sheet = Sheet(72 * WIDTH, 72 * 4.2)
    place = fitted(sheet, [trace, *(ends for _, ends in limbs)])
    sheet.stroke(*place(trace), color_of(1), 0.6, opacity=0.5)
    for kind, ends in limbs:
        color, width = look_of(kind)
        sheet.stroke(*place(ends), color_of(color), width, is_round=True)
    return Drawing("robot", sheet, description, caption, lambda curves: postures.live(description, clock, curves))


def fitted(sheet: Sheet, shapes: Sequence[Array], *, margin: float = 0.05) -> Place:
    """From points (…, 2 or more) to places on a sheet: all shapes inside, upright, none distorted."""
    every = np.concatenate([shape[..., :2].reshape(-1, 2) for shape in shapes])
    low, high = every.min(axis=0), every.max(axis=0)
    paper = np.array([sheet.width, sheet.height])
    span = np.maximum(high - low, 1e-9 * max(float((high - low).max()), 1e-300))
    scale = (1 - 2 * margin) * float((paper / span).min())

    def place(points: Array) -> tuple[Array, Array]:
        at = paper / 2 + scale * (points[..., :2] - (low + high) / 2)
        return at[..., 0], at[..., 1]

    return place


def seen(points: Array) -> Array:
    """Points (…, 3) as the camera sees them: across, up, and how near.

    Examples:
        >>> seen(np.array([0.0, 0.0, 1.0])).round(3)
        array([0.   , 0.9  , 0.435])
    """
    x, y, z = np.moveaxis(points, -1, 0)
    away = np.sin(YAW) * x + np.cos(YAW) * y
    across = np.cos(YAW) * x - np.sin(YAW) * y
    return np.stack(
        [across, np.cos(PITCH) * z + np.sin(PITCH) * away, np.sin(PITCH) * z - np.cos(PITCH) * away], axis=-1
    )


def look_of(kind: str) -> tuple[Color, float]:
    """Color and line width of a kind of segment."""
    return _LOOKS.get(kind, _LOOKS["rod"])


def back_to_front(kinds: Sequence[str], segments: Array) -> list[tuple[str, Array]]:
    """The segments as the camera sees them, with their kinds: the farthest first."""
    order = np.argsort(segments[:, :, 2].mean(axis=1), kind="stable")
    return [(kinds[k], segments[k]) for k in order]
