"""Parts of which platforms are made."""

from typing import Literal

from gough.simulate.multibody.description import Body, Joint, Segment, Solid

SHIFTS: tuple[Literal["x"], Literal["y"], Literal["z"]] = ("x", "y", "z")
FLOATING = (
    *(Joint(f"platform_{axis}", "slide", axis) for axis in SHIFTS),
    *(Joint(f"platform_r{axis}", "turn", axis) for axis in reversed(SHIFTS)),
)
"""The joints of a body that nothing but the rods holds: three slides, then turns about z, y, x."""
RADIUS = 0.008
"""Radius with which bars are drawn, m."""


def plate(mass: float, size: float) -> Solid:
    """A square plate, as wide as `size`, about its center. It never turns, so that its size is without effect."""
    flat = mass * size**2 / 12
    return Solid(mass, (0.0, 0.0, 0.0), (flat, flat, 2 * flat))


def bar(mass: float, inertia: float, center: tuple[float, float, float]) -> Solid:
    """A level bar that turns about the vertical only: `inertia` is about its center, across it."""
    return Solid(mass, center, (inertia, inertia, inertia))


def drawn(start: tuple[float, float, float], end: tuple[float, float, float]) -> Segment:
    """A bar of a platform, to be drawn."""
    return Segment(start, end, RADIUS)


def hinged(name: str, parent: str, at: tuple[float, float, float], solid: Solid, *segments: Segment) -> Body:
    """A body that turns about the vertical, on a hinge at a point of its parent."""
    return Body(name, parent, (Joint(f"{name}_turn", "turn", "z"),), solid, at, segments=segments)
