"""The Delta: three motors, three pairs of rods, a platform that only translates."""

from dataclasses import dataclass
from math import pi, radians
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array
from gough.robots._delta_equations import DELTA_EQUATIONS
from gough.robots._family import Family
from gough.robots._geometry import angles, check_geometry, home_height, length
from gough.robots._skeleton import Skeleton, directions
from gough.robots.delta_family import DeltaFamily, Parameter, chain_parameters


@dataclass(frozen=True)
class DeltaGeometry:
    """The dimensions of a Delta, in m and rad; the defaults are of the size of a packaging robot.

    Examples:
        >>> DeltaGeometry(platform=0.05).base
        0.2
    """

    arm: float = length(0.3, "from a motor's axis to the elbow")
    rod: float = length(0.8, "from the elbow to the platform")
    base: float = length(0.2, "from the middle to the motors' axes; only base - platform enters the equations")
    platform: float = length(0.045, "from the platform's middle to the rods")
    alpha: tuple[float, ...] = angles((0.0, 2 * pi / 3, 4 * pi / 3), "α_i, the direction of each arm from the x axis")

    def __post_init__(self) -> None:
        check_geometry(self)


@dataclass(frozen=True)
class Delta(DeltaFamily):
    """The Delta of [CLA88]: pose (x, y, z), three motors whose positive turn lowers the arm; z is up.

    Parameters, with the rods' mass halved between elbow and platform:

    | name | unit | meaning |
    |---|---|---|
    | i_act | kg·m² | motor, gear and arm about the motor's axis, and half of both rods at the elbow: m_rod·arm² |
    | m_plate | kg | platform with payload, and half of the six rods: 3·m_rod |
    | gS_arm | N·m | weight of an arm times the lever of its center, with half of both rods: g·m_rod·arm |
    | f_c | N·m | dry friction of a motor |
    | f_v | N·m·s/rad | viscous friction of a motor |
    | m_rod | kg | variant "rods": mass of one rod, two in each leg; what halves leave out of its inertia |

    Variant "common" has 5 columns, all chains alike, after [NCPP, eq. (23)]; "per chain" has i_act, gS_arm, f_c and f_v
    for each motor, 13 columns; "rods" has 14 and is exact for uniform rods.

    Examples:
        >>> robot = Delta()
        >>> q = robot.inverse([0.1, 0.2, -0.8])
        >>> robot.forward(q).round(12)
        array([ 0.1,  0.2, -0.8])
        >>> Delta(variant="common").names
        ('i_act', 'm_plate', 'gS_arm', 'f_c', 'f_v')
    """

    geometry: DeltaGeometry = DeltaGeometry()
    variant: str = "rods"
    gravity: float = 9.81
    """Acceleration of gravity, along -z."""
    least_margin: float = 1e-3
    """Poses with a smaller margin or reach are refused."""

    ADDS: ClassVar[dict[str, str]] = {
        "common": "",
        "per chain": "differences between the chains",
        "rods": "the inertia of the rods",
    }
    FAMILY: ClassVar[Family] = DELTA_EQUATIONS

    def __post_init__(self) -> None:
        self._check()

    @property
    def name(self) -> str:
        """What the robot is called in reports."""
        return "Delta"

    @property
    def home(self) -> Array:
        """The pose in the middle in which all arms hang by about 30°."""
        of = self.geometry
        return np.array([0.0, 0.0, home_height(of.arm, of.rod, of.base - of.platform, hanging=radians(30))])

    @property
    def _parameters(self) -> tuple[Parameter, ...]:
        masses: tuple[Parameter, ...] = (("m_plate", "kg", 1.2),)
        is_common = self.variant == "common"
        parameters = chain_parameters(masses, (0.1, 1.2, 2.0, 0.4), 1 if is_common else 3)
        return (*parameters, ("m_rod", "kg", 0.08)) if self.variant == "rods" else parameters

    @property
    def _numbers(self) -> Array:
        of = self.geometry
        return np.array([of.arm, of.rod, of.base - of.platform, *directions(of.alpha)[0][:, :2].ravel()])

    @property
    def _skeleton(self) -> Skeleton:
        of = self.geometry
        radial, axis = directions(of.alpha)
        ends = np.eye(3)
        platform = np.array([ends[[i, (i + 1) % 3]] for i in range(3)])
        return Skeleton(of.base * radial, of.platform * radial, of.arm / 8 * axis, platform)
