"""The full mechanism of the H4: four arms, eight rods, a crossbar and two lateral bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import cos, sin

from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.h4 import H4
from gough.simulate.multibody.description import Body, Closure
from gough.simulate.multibody.legs import Leg, motion_kernel
from gough.simulate.multibody.mechanism import FullMechanism
from gough.simulate.multibody.platforms import FLOATING, bar, drawn, hinged, plate

ENDS = (1, -1, -1, 1)
"""The end of the crossbar (+1: C_1, -1: C_2) that carries each leg's lateral bar [PRV03i, eqs. (3)-(4)]."""
SIDES = (1, 1, -1, -1)
"""The end of the lateral bar (+y, -y) that each leg leads to."""


def _platform(pose: Expression, h: Expression) -> tuple[Sequence[Expression], Sequence[Expression]]:
    theta = pose[3]
    along = h * ex.vector(ex.cos(theta), ex.sin(theta), 0.0)
    carriers = [pose[0:3] + end * along for end in ENDS]
    return carriers, [pose[0], pose[1], pose[2], theta, 0.0, 0.0, -theta, -theta]


@cache
def _kernel() -> Kernel:
    return motion_kernel("h4", len(ENDS), 4, _platform)


@dataclass(frozen=True)
class H4Mechanism(FullMechanism):
    """The H4 with all its parts: 15 bodies, 28 joints, and 8 ball joints that leave it 4 freedoms.

    The lateral bars turn on the ends of the crossbar; the four pairs of rods keep their heading, so that only the
    crossbar turns by θ. The default masses add up to Table 2 of [PRV03i].

    Examples:
        >>> mechanism = H4Mechanism()
        >>> mechanism.efforts(mechanism.robot.home, [0, 0, 0, 0], [0, 0, 0, 0]).round(3)
        array([-2.122, -2.122, -0.181, -0.181])
    """

    robot: H4 = field(default_factory=H4)
    arm_mass: float = 0.1
    arm_center: float = 0.106
    arm_inertia: float = 0.000563
    rotor_inertia: tuple[float, ...] = (0.0097094, 0.0076094, 0.0109094, 0.0169094)
    rod_mass: float = 0.04
    rod_radius: float = 0.006
    rod_inertia: float | None = None
    spacing: float = 0.08
    crossbar_mass: float = 0.4892
    """Mass of the crossbar with the tool, in kg."""
    crossbar_inertia: float = 0.000984
    """Moment of inertia of the crossbar with the tool about the vertical through its center, in kg·m²."""
    lateral_mass: float = 0.2
    """Mass of one lateral bar, in kg."""

    @property
    def legs(self) -> tuple[Leg, ...]:
        """Where the legs begin and end [PRV03i, eqs. (3)-(8)]."""
        size, legs = self.robot.geometry, []
        for end, side, alpha in zip(ENDS, SIDES, size.alpha, strict=True):
            motor = (end * size.h + size.base * cos(alpha), side * size.d + size.base * sin(alpha), 0.0)
            legs.append(Leg(motor, alpha, "lateral1" if end > 0 else "lateral2", (0.0, side * size.d, 0.0)))
        return tuple(legs)

    @property
    def platform(self) -> tuple[tuple[Body, ...], tuple[Closure, ...]]:
        """The crossbar with its two lateral bars."""
        size = self.robot.geometry
        tips = (size.h, 0.0, 0.0), (-size.h, 0.0, 0.0)
        crossbar = bar(self.crossbar_mass, self.crossbar_inertia, (0.0, 0.0, 0.0))
        lateral = plate(self.lateral_mass, 2 * size.d)
        shape = drawn((0.0, -size.d, 0.0), (0.0, size.d, 0.0))
        sides = (hinged(f"lateral{k}", "crossbar", tip, lateral, shape) for k, tip in enumerate(tips, start=1))
        return (Body("crossbar", "", FLOATING, crossbar, segments=(drawn(*tips),)), *sides), ()

    @property
    def lumped(self) -> Mapping[str, float]:
        """The parameters of the robot's simplified models by name, without friction."""
        carried = 2 * self.lateral_mass + 4 * self.rod_mass  # eight rods leave their halves here
        return {
            **{f"I_mot{k}": inertia for k, inertia in enumerate(self._arm_inertias, start=1)},
            "M_nac": self.crossbar_mass + carried,
            "I_bc": self.crossbar_inertia + carried * self.robot.geometry.h**2,
            "S_arm": self._arm_moment,
            "m_rod": self._rod_column,
        }

    @property
    def _offset(self) -> float:
        return self.robot.geometry.h

    def _kernel(self) -> Kernel:
        return _kernel()
