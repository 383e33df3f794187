"""Mass and moments of solid shapes: what bodies weigh whose files give shapes and a density instead of an inertia."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.robots.mechanism.placement import Placement

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
"""The solid shapes, and how many sizes each has: radius; half the length along z; half-axes or half-sides."""


class Mass(NamedTuple):
    """A mass, its center, and its inertia matrix about that center."""

    mass: float
    center: Array
    inertia: Array


@dataclass(frozen=True)
class Solid:
    """A homogeneous solid, its center at the origin, and its axis along z where it has one.

    Examples:
        >>> Solid("box", (0.5, 1.0, 1.5)).volume
        6.0
        >>> Solid("sphere", (1.0,)).moments
        (0.4, 0.4, 0.4)
    """

    shape: str
    sizes: tuple[float, ...]

    def __post_init__(self) -> None:
        wanted = SIZES[self.shape]
        fits = len(self.sizes) == wanted and min(self.sizes) > 0
        require(fits, f"a {self.shape} needs {wanted} positive size{'s' * (wanted > 1)}, but has {self.sizes}")

    @property
    def volume(self) -> float:
        """The volume in m³."""
        match self.shape, self.sizes:
            case "sphere", (r,):
                return 4 / 3 * pi * r**3
            case "capsule", (r, h):
                return pi * r**2 * (2 * h + 4 / 3 * r)
            case "cylinder", (r, h):
                return 2 * pi * r**2 * h
            case "ellipsoid", (a, b, c):
                return 4 / 3 * pi * a * b * c
            case _, (a, b, c):
                return 8 * a * b * c
        raise AssertionError

    @property
    def moments(self) -> tuple[float, float, float]:
        """Moments of inertia about x, y and z for a mass of 1 kg."""
        match self.shape, self.sizes:
            case "sphere", (r,):
                return (2 / 5 * r**2,) * 3
            case "capsule", (r, h):
                ball = 2 * r / (2 * r + 3 * h)  # the part of the mass in the two half-balls
                rod = 1 - ball
                # a half-ball's own center is 3/8 r beyond the end of the rod
                across = rod * (r**2 / 4 + h**2 / 3) + ball * (2 / 5 * r**2 + h**2 + 3 / 4 * r * h)
                return across, across, rod * r**2 / 2 + ball * 2 / 5 * r**2
            case "cylinder", (r, h):
                across = r**2 / 4 + h**2 / 3
                return across, across, r**2 / 2
            case "ellipsoid", (a, b, c):
                return (b**2 + c**2) / 5, (a**2 + c**2) / 5, (a**2 + b**2) / 5
            case _, (a, b, c):
                return (b**2 + c**2) / 3, (a**2 + c**2) / 3, (a**2 + b**2) / 3
        raise AssertionError

    def at(self, place: Placement, mass: float) -> Mass:
        """The solid with a mass, at a placement in a body's frame."""
        R = place.matrix
        return Mass(mass, np.array(place.position), mass * R @ np.diag(self.moments) @ R.T)


def together(parts: Iterable[Mass]) -> Mass:
    """Several masses as one.

    Raises:
        InputError: their sum is 0, so that there is no center.

    Examples:
        >>> ball = Solid("sphere", (0.1,))
        >>> both = together(ball.at(Placement((0.0, 0.0, z)), 1.0) for z in (0.0, 2.0))
        >>> both.center, both.inertia[0, 0].round(6)
        (array([0., 0., 1.]), np.float64(2.008))
    """
    every = list(parts)
    total = sum(part.mass for part in every)
    if not total > 0:
        raise InputError("the masses sum up to 0, so that there is no center of mass")
    center = np.sum([part.mass * part.center for part in every], axis=0) / total
    inertia = np.zeros((3, 3))
    for part in every:
        d = part.center - center
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Mass(total, center, inertia)
