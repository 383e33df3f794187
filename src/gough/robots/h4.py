"""The H4: four motors, four pairs of rods, an articulated platform; three translations and a rotation about z.

The platform has the shape of an H. The crossbar C_1 C_2 of half length h turns by θ; a lateral bar is hinged to each of
its ends, keeps its direction y, and is held by two chains: chains 1 and 4 at C_1, chains 2 and 3 at C_2, each at the
distance d from the hinge.
"""

from dataclasses import dataclass, field
from math import pi, radians
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._geometry import angles, length
from gough.robots.arm_chain import TurningArms
from gough.robots.delta_family import equations
from gough.robots.delta_family.chain import ChainMotion
from gough.robots.delta_family.description import ArmGeometry, ArmParts, Carrier, Top
from gough.robots.delta_family.matrices import closeness
from gough.robots.delta_family.model import DeltaFamily, Parameter
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Joint, Platform
from gough.robots.mechanism.placement import Placement

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
class H4Geometry(ArmGeometry):
    """The dimensions of an H4, in m and rad. The papers print none: the defaults are of the size of their robot.

    Examples:
        >>> H4Geometry(arm=0.25).rod
        0.48
    """

    arm: float = length(0.26, "l, from a motor's axis to the elbow")
    rod: float = length(0.48, "L, from the elbow to the platform")
    d: float = length(0.06, "half length of the lateral bars; it cancels from every equation and cannot be identified")
    h: float = length(0.06, "half length of the crossbar")
    base: float = length(0.14, "R, from the attachment at home to the motor's axis, along the arm")
    alpha: tuple[float, ...] = angles((0.0, pi, 1.5 * pi, 1.5 * pi), "α_i, the direction of each arm from the x axis")

    TURNED: ClassVar[tuple[tuple[float, float], ...]] = ((1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0), (1.0, 0.0))
    """The end of the crossbar, C_1 or C_2, to which each chain's lateral bar is hinged [PRV03i, eqs. (3), (4)]."""
    FIXED: ClassVar[tuple[tuple[float, float], ...]] = ((0.0, 1.0), (0.0, 1.0), (0.0, -1.0), (0.0, -1.0))
    """The end of its lateral bar to which each chain leads, in units of d."""

    @property
    def fixed(self) -> Array:
        """(4, 2) m: from the hinges to the rods' attachments, along the lateral bars."""
        return self.d * np.array(self.FIXED)


@dataclass(frozen=True)
class H4Parts(ArmParts):
    """Masses and inertias of an H4, in kg, m and kg·m². The defaults add up to Table 2 of [PRV03i].

    Examples:
        >>> H4Parts(lateral_mass=0.3).arm_mass
        0.1
    """

    arm_mass: float = 0.1
    arm_center: float = 0.106
    arm_inertia: float = 0.000563
    rotor_inertia: tuple[float, ...] = (0.0097094, 0.0076094, 0.0109094, 0.0169094)
    rod_mass: float = 0.04
    rod_radius: float = 0.006
    rod_inertia: float | None = None
    spacing: float = 0.08
    crossbar_mass: float = 0.4892
    """Mass of the crossbar with the tool."""
    crossbar_inertia: float = 0.000984
    """Moment of inertia of the crossbar with the tool about the vertical through its center."""
    lateral_mass: float = 0.2
    """Mass of one lateral bar."""


def _attitude(m: tuple[Expression, ...], _x: Expression) -> list[Expression]:
    """The lateral bars turn by (ω_x, ω_y, ω_1) and (ω_x, ω_y, ω_2): hinged about z, they tilt together.

    With motors at 90° from each other these equations are dependent at home, though J_x is regular: each bar can tilt
    about the same horizontal axis. Hence α_3 = α_4 in [PRV03i, fig. 2].
    """
    first, second = (ex.matrix(m[0], m[3]).T, ex.matrix(m[1], m[2]).T)
    zero = ex.vector(0.0, 0.0)
    rows = ex.matrix(
        ex.vector(first[:, 0], second[:, 0]),
        ex.vector(first[:, 1], second[:, 1]),
        ex.vector(first[:, 2], zero),
        ex.vector(zero, second[:, 2]),
    )
    return [closeness(rows)]


def _platform(x: Expression) -> list[Expression | float]:
    """The crossbar's position and its roll, pitch and yaw, and the turns of the lateral bars against it."""
    return [x[0], x[1], x[2], 0.0, 0.0, x[3], -x[3], -x[3]]


def _paper(motion: ChainMotion, gravity: Expression) -> list[Expression]:
    """[PRV03i, eqs. (14), (17), (18)], corrected: gravity adds to z̈, since z is up and q lowers the arm."""
    nacelle = equations.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)
    crossbar = motion.J[3, :].T * motion.ddx[3]
    friction = [*equations.per_motor(motion.dq), *equations.per_motor(ex.sign(motion.dq))]
    return [*equations.per_motor(motion.ddq), nacelle, crossbar, *friction]


def _arm_gravity(motion: ChainMotion, gravity: Expression) -> list[Expression]:
    return [*_paper(motion, gravity), gravity * equations.arm_weight(motion)]


def _rods(motion: ChainMotion, gravity: Expression) -> list[Expression]:
    return [*_arm_gravity(motion, gravity), equations.rods(motion)]


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
    | m_rod | kg | variant "rods": mass of one rod, two in each chain; what halves leave out of its inertia |

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
    parts: H4Parts = H4Parts()

    ADDS: ClassVar[dict[str, str]] = {
        "paper": "",
        "arm gravity": "the weight of the arms",
        "rods": "the inertia of the rods",
    }
    FAMILY: ClassVar[equations.Family] = equations.Family(
        name="h4",
        n_pose=4,
        turned=H4Geometry.TURNED,
        attitude=_attitude,
        platform=_platform,
        columns={"paper": _paper, "arm gravity": _arm_gravity, "rods": _rods},
    )
    HANGING: ClassVar[float] = radians(28)

    @property
    def name(self) -> str:
        """The name of the robot in reports."""
        return "H4"

    def _columns(self, variant: str) -> tuple[Parameter, ...]:
        arm: Parameter = ("S_arm", "kg·m", 0.021)
        rod: Parameter = ("m_rod", "kg", 0.04)
        return _SEEN_IN_PAPER + {"paper": (), "arm gravity": (arm,), "rods": (arm, rod)}[variant]

    @property
    def _top(self) -> Top:
        """The crossbar with its two lateral bars: 15 bodies and 28 joints in all, 8 ball joints leave 4 freedoms."""
        of, parts = self.geometry, self.parts
        crossbar = Inertia(parts.crossbar_mass, moments=(parts.crossbar_inertia,) * 3, symmetry="center")
        flat = parts.lateral_mass * of.d**2 / 3
        lateral = Inertia(parts.lateral_mass, moments=(flat, flat, 2 * flat), symmetry="center")
        names = {1.0: "lateral1", -1.0: "lateral2"}
        bodies = (Body("crossbar", crossbar), *(Body(name, lateral, "lateral") for name in names.values()))
        hinges = (
            Joint(f"{name}_turn", "revolute", "crossbar", name, Placement((end * of.h, 0.0, 0.0)))
            for end, name in names.items()
        )
        home = tuple(self.home.tolist())
        carriers = [
            Carrier(names[end], (x, y, 0.0), (home[0] + end * of.h + x, home[1] + y, home[2]))
            for (end, _), (x, y) in zip(of.TURNED, of.fixed.tolist(), strict=True)
        ]
        joints = (Joint("platform", "free", BASE, "crossbar"), *hinges)
        return Top(bodies, joints, Platform("crossbar", ("x", "y", "z", "yaw"), home), tuple(carriers))

    @property
    def _lumped(self) -> dict[str, float]:
        of, parts = self.geometry, self.parts
        carried = 2 * parts.lateral_mass + 4 * parts.rod_mass  # eight rods leave their halves here
        return {
            **{f"I_mot{k}": inertia for k, inertia in enumerate(parts.arm_inertias(of.arm), start=1)},
            "M_nac": parts.crossbar_mass + carried,
            "I_bc": parts.crossbar_inertia + carried * of.h**2,
            "S_arm": parts.arm_moment(of.arm),
            "m_rod": parts.rod_column(of.rod),
        }


@dataclass(frozen=True, eq=False)
class H4Kinematics(TurningArms):
    """The geometry of an H4, 9 parameters a chain: motor (3), angle, zero, arm, rod, joint (2).

    The pose is that of the crossbar; of a measured orientation only the heading about z counts. All 36 parameters are
    found from poses with different headings; `joint` is unknown along with the heading's zero, so that the crossbar's
    mark may point anywhere. At the blueprint it is the robot of `H4`, whose parameters are those of its dynamics.

    Examples:
        >>> from gough.robots.kinematics import heading
        >>> robot = H4Kinematics()
        >>> readings = robot.inverse(robot.nominal, [0.05, 0.02, -0.4], heading(0.3))
        >>> readings.round(4)
        array([[0.2615, 0.5982, 0.4334, 0.5549]])
        >>> bool(abs(readings - H4().inverse([0.05, 0.02, -0.4, 0.3])).max() < 1e-12)
        True
        >>> robot.forward(robot.nominal, readings).position.round(6)
        array([[ 0.05,  0.02, -0.4 ]])
    """

    geometry: H4Geometry = field(default_factory=H4Geometry)
    name: str = "H4"
    calibrated: Array | None = None
    ROBOT: ClassVar[type[DeltaFamily]] = H4
