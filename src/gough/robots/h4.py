"""The H4: four motors, four pairs of rods, an articulated platform; three translations and a rotation about z."""

from dataclasses import dataclass
from math import pi, radians
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array
from gough.robots._family import Family
from gough.robots._geometry import angles, check_geometry, home_height, length
from gough.robots._h4_equations import ENDS, H4_EQUATIONS, SIDES
from gough.robots._skeleton import Skeleton, directions
from gough.robots.delta_family import DeltaFamily, Parameter

_SEEN_IN_PAPER: tuple[Parameter, ...] = (
    ("I_mot1", "kg·m²", 0.0141),
    ("I_mot2", "kg·m²", 0.0120),
    ("I_mot3", "kg·m²", 0.0153),
    ("I_mot4", "kg·m²", 0.0213),
    ("M_nac", "kg", 1.0492),
    ("I_bc", "kg·m²", 0.0030),
    ("F_v1", "N·m·s/rad", 0.1636),
    ("F_v2", "N·m·s/rad", 0.0560),
    ("F_v3", "N·m·s/rad", 0.0930),
    ("F_v4", "N·m·s/rad", 0.0917),
    ("F_c1", "N·m", 1.1453),
    ("F_c2", "N·m", 1.0950),
    ("F_c3", "N·m", 0.7222),
    ("F_c4", "N·m", 0.9932),
)
"""Weighted least squares of [PRV03i, table 2]."""


@dataclass(frozen=True)
class H4Geometry:
    """The dimensions of an H4, in m and rad. The papers print none: the defaults are of the size of their robot.

    Examples:
        >>> H4Geometry(arm=0.25).rod
        0.48
    """

    arm: float = length(0.26, "l, from a motor's axis to the elbow")
    rod: float = length(0.48, "L, from the elbow to the platform")
    d: float = length(0.06, "half length of the lateral bars; it cancels from every equation, so no data can tell it")
    h: float = length(0.06, "half length of the crossbar")
    base: float = length(0.14, "R, from the attachment at home to the motor's axis, along the arm")
    alpha: tuple[float, ...] = angles((0.0, pi, 1.5 * pi, 1.5 * pi), "α_i, the direction of each arm from the x axis")

    def __post_init__(self) -> None:
        check_geometry(self)


@dataclass(frozen=True)
class H4(DeltaFamily):
    """The H4 of [PRV03i] and [PRV03e]: pose (x, y, z, θ), four motors whose positive turn lowers the arm; z is up.

    Parameters, with the rods' mass halved between elbow and platform:

    | name | unit | meaning |
    |---|---|---|
    | I_mot1 … 4 | kg·m² | motor with arm about the motor's axis, and half of both rods at the elbow: m_rod·arm² |
    | M_nac | kg | crossbar, both lateral bars and half of the eight rods: 4·m_rod |
    | I_bc | kg·m² | crossbar about z, with lateral bars and half of the rods (4·m_rod·h²) as points at its ends |
    | F_v1 … 4 | N·m·s/rad | viscous friction of each motor |
    | F_c1 … 4 | N·m | dry friction of each motor |
    | S_arm | kg·m | variants "arm gravity" and "rods": first moment of an arm, with half of both rods: m_rod·arm |
    | m_rod | kg | variant "rods": mass of one rod, two in each leg; what halves leave out of its inertia |

    Variant "paper" is the model of [PRV03i, eq. (18)], 14 columns; "arm gravity" has 15, and "rods" 16: it is exact for
    uniform rods. At the headings of the papers the robot is regular; motors at 90° from each other are refused,
    because then the pairs of rods do not hold the platform's attitude at home, although J_x is regular.

    Examples:
        >>> robot = H4()
        >>> robot.home
        array([ 0.  ,  0.  , -0.43,  0.  ])
        >>> q = robot.inverse([0.05, 0.02, -0.4, 0.3])
        >>> robot.forward(q).round(12)
        array([ 0.05,  0.02, -0.4 ,  0.3 ])
        >>> robot.regressor(q, [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]).shape
        (4, 16)
        >>> [variant.adds for variant in robot.variants]
        ['', 'the weight of the arms', 'the inertia of the rods']
    """

    geometry: H4Geometry = H4Geometry()
    variant: str = "rods"
    gravity: float = 9.81
    """Acceleration of gravity, along -z."""
    least_margin: float = 1e-3
    """Poses with a smaller margin or reach are refused."""

    ADDS: ClassVar[dict[str, str]] = {
        "paper": "",
        "arm gravity": "the weight of the arms",
        "rods": "the inertia of the rods",
    }
    FAMILY: ClassVar[Family] = H4_EQUATIONS

    def __post_init__(self) -> None:
        self._check()

    @property
    def name(self) -> str:
        """What the robot is called in reports."""
        return "H4"

    @property
    def home(self) -> Array:
        """The pose above whose middle all arms hang by about 28°."""
        of = self.geometry
        return np.array([0.0, 0.0, home_height(of.arm, of.rod, of.base, hanging=radians(28)), 0.0])

    @property
    def _parameters(self) -> tuple[Parameter, ...]:
        arm: Parameter = ("S_arm", "kg·m", 0.021)
        rod: Parameter = ("m_rod", "kg", 0.04)
        return _SEEN_IN_PAPER + {"paper": (), "arm gravity": (arm,), "rods": (arm, rod)}[self.variant]

    @property
    def _numbers(self) -> Array:
        of = self.geometry
        return np.array([of.arm, of.rod, of.h, of.base, *directions(of.alpha)[0][:, :2].ravel()])

    @property
    def _skeleton(self) -> Skeleton:
        of = self.geometry
        radial, axis = directions(of.alpha)
        zero = np.zeros(4)
        fixed = np.column_stack([zero, of.d * np.array(ENDS), zero])
        motors = fixed + np.column_stack([of.h * np.array(SIDES), zero, zero]) + of.base * radial
        ends = np.eye(4)
        hinges = (ends[[0, 1]] + ends[[3, 2]]) / 2
        platform = np.array([ends[[0, 3]], ends[[1, 2]], hinges])
        return Skeleton(motors, fixed, of.arm / 8 * axis, platform)
