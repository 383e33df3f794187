"""A joint that closes a loop, as the directions in which two frames stay together."""

import numpy as np

from gough.core.errors import InputError, require
from gough.robots.mechanism.parts import HELD, Closure
from gough.robots.mechanism.placement import Placement, Vector, facing

CLOSING: dict[str, tuple[str, ...]] = {
    "fixed": HELD["frame"],
    "revolute": HELD["revolute"],
    "continuous": HELD["revolute"],
    "prismatic": ("x", "y", "rx", "ry", "rz"),
    "cylindrical": ("x", "y", "rx", "ry"),
    "planar": ("z", "rx", "ry"),
    "universal": HELD["universal"],
    "spherical": HELD["point"],
    "ball": HELD["point"],
}
"""Kinds of joints that may close a loop, and the directions that they hold, with z along the axis of the joint."""
_PARALLEL = 1e-9


def across(axis: Vector) -> Vector:
    """A direction that is not the axis."""
    return (1.0, 0.0, 0.0) if abs(axis[0]) < 0.9 else (0.0, 1.0, 0.0)


def closing(
    name: str,
    kind: str,
    bodies: tuple[str, str],
    placements: tuple[Placement, Placement],
    axes: tuple[Vector, Vector],
) -> Closure:
    """The closure that a joint between two bodies is.

    Args:
        name: Its name.
        kind: One of `CLOSING`.
        bodies: The two bodies.
        placements: The two frames that coincide where the joint is at zero, one in each body.
        axes: The axis of the joint in each of the two frames; of a universal joint the first axis in the first frame
            and the second axis in the second.

    Raises:
        InputError: the kind is not known, or a sliding joint has different axes in its two frames.
    """
    if kind not in CLOSING:
        raise InputError(f"a joint of type '{kind}' closes no loop (known: {', '.join(CLOSING)})")
    if kind in {"fixed", "spherical", "ball"}:
        return Closure(name, bodies, placements, CLOSING[kind])
    first, second = (np.array(axis) for axis in axes)
    if kind == "universal":
        # z stands across the axis: the x axis of the first frame and the y axis of the second are the cross
        z = np.cross(first, across(axes[0]))
        one = Placement(rotation=facing(first.tolist(), z.tolist()))
        other = np.cross(second, across(axes[1]))
        two = Placement(rotation=facing(np.cross(second, other).tolist(), other.tolist()))
        return Closure(name, bodies, (placements[0] @ one, placements[1] @ two), CLOSING[kind])
    require(
        kind != "prismatic" or float(np.abs(first - second).max()) < _PARALLEL,
        "the axis of a sliding joint must be the same in both frames: turn a frame instead",
    )
    turns = [Placement(rotation=facing(across(axis), axis)) for axis in axes]
    return Closure(name, bodies, (placements[0] @ turns[0], placements[1] @ turns[1]), CLOSING[kind])
