"""Lines that draw a mechanism: the shape of its bodies, as its joints and closures imply it."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.robots.mechanism.bodies import body_motions
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.parts import BASE, Joint
from gough.robots.mechanism.placement import Vector

_ORIGIN: Vector = (0.0, 0.0, 0.0)
KINDS = ("base", "arm", "rod", "platform")
"""The kinds of segments, in the order in which segments are listed."""


class Segment(NamedTuple):
    """A line between two points, each given in the frame of its body."""

    kind: str
    """One of KINDS."""
    bodies: tuple[str, str]
    ends: tuple[Vector, Vector]


@lru_cache(maxsize=64)
def segments(mechanism: Mechanism) -> tuple[Segment, ...]:
    """The base as a polygon, every body as lines from its joint to what is attached to it.

    Bodies on the base are arms, the platform and what is jointed to it is the platform, all others are rods. A slide is
    drawn as a rod.
    """
    every = sorted(_segments(mechanism), key=lambda segment: KINDS.index(segment.kind))
    if not any(segment.kind == "platform" for segment in every):
        platform = mechanism.platform
        every.append(Segment("platform", (platform.body,) * 2, (platform.tool.position,) * 2))
    return tuple(every)


def draw(mechanism: Mechanism, s: Array) -> Array:
    """End points (N, segments, 2, 3) of the segments in the base frame, at coordinates (N, coordinates)."""
    motions = body_motions(mechanism, s, np.zeros_like(s))
    ends = [
        np.stack([motions[body].at(end)[0] for body, end in zip(segment.bodies, segment.ends, strict=True)], axis=1)
        for segment in segments(mechanism)
    ]
    return np.stack(ends, axis=1)


def _segments(mechanism: Mechanism) -> list[Segment]:
    attached = attached_points(mechanism)
    lines = [Segment("base", (BASE, BASE), ends) for ends in _polygon(attached[BASE])]
    crossbars: list[Segment] = []
    for joint in mechanism.joints:
        body, kind = joint.child, _kind(mechanism, joint)
        if joint.kind in {"prismatic", "cylindrical"}:
            lines.append(Segment("rod", (joint.parent, body), (joint.placement.position, _ORIGIN)))
        stem, bars = _shape(attached[body], is_polygon=kind == "platform")
        lines += [Segment(kind, (body, body), ends) for ends in stem]
        crossbars += [Segment(kind, (body, body), ends) for ends in bars]
    return [*lines, *crossbars]


def _kind(mechanism: Mechanism, joint: Joint) -> str:
    body = mechanism.platform.body
    if mechanism.moves_platform and any(each.child == body for each in mechanism.way_to(joint.child)):
        return "platform"
    return "arm" if joint.parent == BASE else "rod"


Line = tuple[Vector, Vector]


def _shape(points: list[Vector], *, is_polygon: bool) -> tuple[list[Line], list[Line]]:
    """The lines of one body from its joint, and those across its end.

    Two points to one side of the joint are the ends of a crossbar: the body is a T.
    """
    distinct = [point for point in dict.fromkeys(points) if point != _ORIGIN]
    if is_polygon and len(distinct) > 2:
        return _polygon(distinct), []
    if len(distinct) == 2:
        middle = (np.array(distinct[0]) + np.array(distinct[1])) / 2
        x, y, z = middle.tolist()
        stem: list[Line] = [(_ORIGIN, (x, y, z))] if np.linalg.norm(middle) > 1e-9 else []
        return stem, [(distinct[0], distinct[1])]
    return [(_ORIGIN, point) for point in distinct], []


def _polygon(points: list[Vector]) -> list[Line]:
    """The sides of the polygon through some points; lines from the origin to each of them if there are one or two."""
    distinct = list(dict.fromkeys(points))
    if len(distinct) < 3:
        return [(_ORIGIN, point) for point in distinct if point != _ORIGIN]
    return list(zip(distinct, (*distinct[1:], distinct[0]), strict=True))


def attached_points(mechanism: Mechanism) -> dict[str, list[Vector]]:
    """For each body, the points at which joints and closures attach others to it."""
    points: dict[str, list[Vector]] = {name: [] for name in (BASE, *(body.name for body in mechanism.bodies))}
    for joint in mechanism.joints:
        if joint.kind not in {"free", "planar"}:
            points[joint.parent].append(joint.placement.position)
    for closure in mechanism.closures:
        for body, place in zip(closure.bodies, closure.placements, strict=True):
            points[body].append(place.position)
    return points
