"""Lines that draw a mechanism: what its joints and closures say about the shape of its bodies."""

from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.parts import BASE
from gough.robots.mechanism.placement import Vector
from gough.robots.mechanism.structure import Structure

Point = tuple[int, Vector]
"""A link (-1 is the base), and a point in its frame."""
Segment = tuple[str, Point, Point]
"""Its kind (base, arm, rod, platform) and its ends."""

_ORIGIN: Vector = (0.0, 0.0, 0.0)


def segments(mechanism: Mechanism, at: Structure) -> tuple[Segment, ...]:
    """The base as a polygon, every body from its joint to what hangs on it, the platform as a polygon."""
    where = {BASE: -1, **{link.body: k for k, link in enumerate(at.links)}}
    held = _held(mechanism)
    found: list[Segment] = [("base", (-1, a), (-1, b)) for a, b in _around(held[BASE])]
    for joint in mechanism.joints:
        link = where[joint.child]
        if joint.kind in {"prismatic", "cylindrical"}:
            found.append(("rod", (where[joint.parent], joint.placement.position), (link, _ORIGIN)))
        body = joint.child
        if body == mechanism.platform.body and mechanism.moves_platform:
            found += [("platform", (link, a), (link, b)) for a, b in _around(held[body])]
            continue
        kind = "arm" if joint.parent == BASE else "rod"
        found += [(kind, (link, _ORIGIN), (link, point)) for point in dict.fromkeys(held[body]) if point != _ORIGIN]
    if not any(kind == "platform" for kind, _, _ in found):
        tool = (where[mechanism.platform.body], mechanism.platform.tool.position)
        found.append(("platform", tool, tool))
    return tuple(found)


def _held(mechanism: Mechanism) -> dict[str, list[Vector]]:
    """For each body, the points where joints and closures hold on to it."""
    held: dict[str, list[Vector]] = {name: [] for name in (BASE, *(body.name for body in mechanism.bodies))}
    for joint in mechanism.joints:
        if joint.kind not in {"free", "planar"}:
            held[joint.parent].append(joint.placement.position)
    for closure in mechanism.closures:
        for body, place in zip(closure.bodies, closure.placements, strict=True):
            held[body].append(place.position)
    return held


def _around(points: list[Vector]) -> list[tuple[Vector, Vector]]:
    """The sides of the polygon through some points; from the origin to each of them if there are one or two."""
    distinct = list(dict.fromkeys(points))
    if len(distinct) < 3:
        return [(_ORIGIN, point) for point in distinct if point != _ORIGIN]
    return list(zip(distinct, (*distinct[1:], distinct[0]), strict=True))
