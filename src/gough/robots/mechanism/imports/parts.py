"""Bodies, joints and closures from a file of another program."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import Body, Closure, Joint, Platform
from gough.robots.mechanism.placement import Vector, exact


@dataclass(frozen=True)
class Imported:
    """Bodies, joints and closures of a file; the user adds the platform and the actuators.

    Examples:
        >>> Imported("empty", (), ()).closures
        ()
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    closures: tuple[Closure, ...] = ()
    actuated: tuple[str, ...] = ()
    """Coordinates that the file's actuators drive."""
    gravity: Vector = (0.0, 0.0, -9.81)

    def mechanism(
        self,
        platform: Platform,
        *,
        closures: tuple[Closure, ...] = (),
        actuated: tuple[str, ...] = (),
        redundant: bool = False,
    ) -> Mechanism:
        """The mechanism, with closures beyond those of the file, and other actuated coordinates if they are given."""
        return Mechanism(
            self.name,
            self.bodies,
            self.joints,
            (*self.closures, *closures),
            actuated or self.actuated,
            platform,
            self.gravity,
            redundant,
        )


def rigid_body(mass: float, center: Array, inertia: Array) -> Inertia:
    """From the inertia matrix about the center of mass, in the axes of the body's frame."""
    if mass == 0 and not inertia.any():
        return Inertia(0.0, symmetry="massless")
    moments = (inertia[0, 0], inertia[1, 1], inertia[2, 2])
    products = (inertia[0, 1], inertia[0, 2], inertia[1, 2])
    return Inertia(mass, exact(center), exact(np.array(moments)), exact(np.array(products)))
