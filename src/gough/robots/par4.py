"""The Par4: four motors, four pairs of rods, a platform that is a parallelogram; made for very high speed."""

from dataclasses import dataclass
from math import pi, radians
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array
from gough.robots._family import Family
from gough.robots._geometry import angles, check_geometry, home_height, length
from gough.robots._par4_equations import ENDS, HALVES, PAR4_EQUATIONS
from gough.robots._skeleton import Skeleton, directions
from gough.robots.delta_family import DeltaFamily, Parameter, chain_parameters


@dataclass(frozen=True)
class Par4Geometry:
    """The dimensions of a Par4, in m and rad. [NCPP] prints none: the defaults are of the size of its robot.

    Examples:
        >>> Par4Geometry(h=0.1).rod
        0.825
    """

    arm: float = length(0.375, "from a motor's axis to the elbow; L in [NCPP]")
    rod: float = length(0.825, "from the elbow to the platform; l in [NCPP]")
    h: float = length(0.12, "length of the two bars between the halves of the platform")
    d: float = length(0.06, "half length of the halves; it cancels from every equation, so no data can tell it")
    base: float = length(0.2, "from the attachment at home to the motor's axis, along the arm")
    alpha: tuple[float, ...] = angles(
        (pi / 4, 3 * pi / 4, 5 * pi / 4, 7 * pi / 4), "α_i, the direction of each arm from the x axis"
    )

    def __post_init__(self) -> None:
        check_geometry(self)


@dataclass(frozen=True)
class Par4(DeltaFamily):
    """The Par4 of [NCPP]: pose (x, y, z, θ), four motors whose positive turn lowers the arm; z is up.

    The pose is that of half 1 of the platform, which legs 3 and 4 hold. θ is the angle of the bars between the halves,
    zero in the middle of its range; a tool that a gear or belt turns faster is no part of it.

    Parameters, with the rods' mass halved between elbow and platform:

    | name | unit | meaning |
    |---|---|---|
    | i_act | kg·m² | motor, gear and arm about the motor's axis, and half of both rods at the elbow: m_rod·arm² |
    | m_1 | kg | half 1, half of both bars, and half of the rods of its two legs: 2·m_rod |
    | m_2 | kg | half 2, in the same way |
    | gS_arm | N·m | weight of an arm times the lever of its center, with half of both rods: g·m_rod·arm |
    | f_c | N·m | dry friction of a motor |
    | f_v | N·m·s/rad | viscous friction of a motor |
    | m_rod | kg | variant "rods": mass of one rod, two in each leg; what halves leave out of its inertia |

    Variant "paper" is the model of [NCPP, eq. (23)], 6 columns, all chains alike; "per chain" has i_act, gS_arm, f_c
    and f_v for each motor, 18 columns; "rods" has 19 and is exact for uniform rods, where the bars between the halves
    have their mass in their end bearings, as [NCPP, §IV.A] assumes.

    The nominal values are those of [NCPP, table 1] except f_v, which is printed as 20.4 N·m·s/rad: on the paper's own
    cycle that would take more than 100 N·m.

    Examples:
        >>> robot = Par4()
        >>> robot.home
        array([ 0.  , -0.06, -0.85,  0.  ])
        >>> q = robot.inverse([0.1, 0.2, -0.8, 0.5])
        >>> robot.forward(q).round(12)
        array([ 0.1,  0.2, -0.8,  0.5])
        >>> Par4(variant="paper").names
        ('i_act', 'm_1', 'm_2', 'gS_arm', 'f_c', 'f_v')
    """

    geometry: Par4Geometry = Par4Geometry()
    variant: str = "rods"
    gravity: float = 9.81
    """Acceleration of gravity, along -z."""
    least_margin: float = 1e-3
    """Poses with a smaller margin or reach are refused."""

    ADDS: ClassVar[dict[str, str]] = {
        "paper": "",
        "per chain": "differences between the chains",
        "rods": "the inertia of the rods",
    }
    FAMILY: ClassVar[Family] = PAR4_EQUATIONS

    def __post_init__(self) -> None:
        self._check()

    @property
    def name(self) -> str:
        """What the robot is called in reports."""
        return "Par4"

    @property
    def home(self) -> Array:
        """The pose above whose platform's middle all arms hang by about 33°."""
        of = self.geometry
        return np.array([0.0, -of.h / 2, home_height(of.arm, of.rod, of.base, hanging=radians(33)), 0.0])

    @property
    def _parameters(self) -> tuple[Parameter, ...]:
        masses: tuple[Parameter, ...] = (("m_1", "kg", 0.8043), ("m_2", "kg", 0.8594))
        is_common = self.variant == "paper"
        parameters = chain_parameters(masses, (0.113, 1.33, 2.43, 0.5), 1 if is_common else 4)
        return (*parameters, ("m_rod", "kg", 0.08)) if self.variant == "rods" else parameters

    @property
    def _numbers(self) -> Array:
        of = self.geometry
        return np.array([of.arm, of.rod, of.h, of.base, *directions(of.alpha)[0][:, :2].ravel()])

    @property
    def _skeleton(self) -> Skeleton:
        of = self.geometry
        radial, axis = directions(of.alpha)
        zero = np.zeros(4)
        fixed = np.column_stack([of.d * np.array(ENDS), zero, zero])
        motors = fixed + np.column_stack([zero, of.h * (np.array(HALVES) - 0.5), zero]) + of.base * radial
        ends = np.eye(4)
        platform = np.array([ends[[i, (i + 1) % 4]] for i in range(4)])
        return Skeleton(motors, fixed, of.arm / 8 * axis, platform)
