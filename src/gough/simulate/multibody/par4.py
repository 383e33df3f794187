"""The full mechanism of the Par4: four arms, eight rods, two half plates and the two bars between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import cos, sin

from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.par4 import Par4
from gough.simulate.multibody.description import Body, Closure
from gough.simulate.multibody.legs import Leg, motion_kernel
from gough.simulate.multibody.mechanism import FullMechanism
from gough.simulate.multibody.platforms import FLOATING, bar, drawn, hinged, plate

HALVES = (2, 2, 1, 1)
"""The half plate that each leg carries: 2 is the side of B_0 and B_1, 1 that of B_2 and B_3 [NCPP, eqs. (3), (11)]."""
SIDES = (1, -1, -1, 1)
"""The end of the half plate (+x, -x) that each leg leads to."""


def _platform(pose: Expression, h: Expression) -> tuple[Sequence[Expression], Sequence[Expression]]:
    theta = pose[3]
    along = h * ex.vector(-ex.sin(theta), ex.cos(theta), 0.0)
    carriers = [pose[0:3] + (along if half == 2 else 0.0) for half in HALVES]
    return carriers, [pose[0], pose[1], pose[2], 0.0, 0.0, 0.0, theta, -theta, theta]


@cache
def _kernel() -> Kernel:
    return motion_kernel("par4", len(HALVES), 4, _platform)


@dataclass(frozen=True)
class Par4Mechanism(FullMechanism):
    """The Par4 with all its parts: 16 bodies, 29 joints, and 9 closures that leave it 4 freedoms.

    Half plates 1 and 2 and the two bars between them make a parallelogram in a level plane; both halves keep their
    heading, and the bars turn by θ. The closures hold one another's attitudes more often than needed: two of their 27
    equations follow from the others. The default masses add up to Table 1 of [NCPP]. The belt that multiplies θ and
    what it turns are not included, as in [NCPP].

    Examples:
        >>> mechanism = Par4Mechanism()
        >>> mechanism.parameters("paper").round(4)
        array([0.113 , 0.8043, 0.8594, 1.3302, 0.    , 0.    ])
    """

    robot: Par4 = field(default_factory=Par4)
    arm_mass: float = 0.66
    arm_center: float = 0.16
    arm_inertia: float = 0.0077
    rotor_inertia: tuple[float, ...] = (0.077154,) * 4
    rod_mass: float = 0.08
    rod_radius: float = 0.007
    rod_inertia: float | None = None
    spacing: float = 0.1
    half_masses: tuple[float, float] = (0.5943, 0.6494)
    """Masses of half plates 1 and 2, m_1 and m_2 of [NCPP], in kg."""
    bar_mass: float = 0.05
    """Mass of one of the two bars between the half plates, m_3 of [NCPP], in kg."""
    bar_inertia: float | None = None
    """Moment of inertia of such a bar about its center, in kg·m²; None puts its mass into the bearings at its ends."""

    @property
    def legs(self) -> tuple[Leg, ...]:
        """Where the legs begin and end."""
        size, legs = self.robot.geometry, []
        for half, side, alpha in zip(HALVES, SIDES, size.alpha, strict=True):
            y = size.h / 2 if half == 2 else -size.h / 2
            motor = (side * size.d + size.base * cos(alpha), y + size.base * sin(alpha), 0.0)
            origin = (-size.d if half == 2 else 0.0, 0.0, 0.0)
            legs.append(Leg(motor, alpha, f"half{half}", (side * size.d, 0.0, 0.0), origin))
        return tuple(legs)

    @property
    def platform(self) -> tuple[tuple[Body, ...], tuple[Closure, ...]]:
        """Half plate 1, a bar, half plate 2 on that bar, and the other bar, which closes the parallelogram."""
        size = self.robot.geometry
        d, tip = size.d, (0.0, size.h, 0.0)
        link = bar(self.bar_mass, self._bar_inertia, (0.0, size.h / 2, 0.0))
        first, second = (plate(mass, 2 * d) for mass in self.half_masses)
        shifted = replace(second, center=(-d, 0.0, 0.0))  # the frame of half plate 2 is on its hinge
        bodies = (
            Body("half1", "", FLOATING, first, segments=(drawn((-d, 0.0, 0.0), (d, 0.0, 0.0)),)),
            hinged("bar1", "half1", (d, 0.0, 0.0), link, drawn((0.0, 0.0, 0.0), tip)),
            hinged("half2", "bar1", tip, shifted, drawn((0.0, 0.0, 0.0), (-2 * d, 0.0, 0.0))),
            hinged("bar2", "half1", (-d, 0.0, 0.0), link, drawn((0.0, 0.0, 0.0), tip)),
        )
        return bodies, (Closure("hinge4", ("bar2", "half2"), (tip, (-2 * d, 0.0, 0.0))),)

    @property
    def lumped(self) -> Mapping[str, float]:
        """The parameters of the robot's simplified models by name, without friction."""
        halves = [mass + self.bar_mass + 2 * self.rod_mass for mass in self.half_masses]  # [NCPP, eqs. (8), (14)]
        return {**self._chain_parameters, "m_1": halves[0], "m_2": halves[1]}

    @property
    def _bar_inertia(self) -> float:
        return self.bar_mass * self.robot.geometry.h**2 / 4 if self.bar_inertia is None else self.bar_inertia

    @property
    def _offset(self) -> float:
        return self.robot.geometry.h

    def _kernel(self) -> Kernel:
        return _kernel()
