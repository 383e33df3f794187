"""The Par4: four motors, four pairs of rods, a platform that is a parallelogram; made for very high speed.

Half 1 of the platform, with the point D of the pose, is held by chains 3 and 4; half 2, with the point
D' = D + h (-sin θ, cos θ, 0), by chains 1 and 2. Two bars of length h join them, hinged about z, so that both halves
only translate. [NCPP] numbers the chains from 0; its list of symbols contradicts its matrices, which are followed here.
"""

from dataclasses import dataclass, field
from math import pi, radians
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._geometry import angles, length
from gough.robots.arm_chain import TurningArms
from gough.robots.delta_family import equations
from gough.robots.delta_family.chain import ChainMotion
from gough.robots.delta_family.description import ArmGeometry, ArmParts, Carrier, Top
from gough.robots.delta_family.matrices import closeness
from gough.robots.delta_family.model import DeltaFamily, Parameter, chain_parameters
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Closure, Joint, Platform
from gough.robots.mechanism.placement import Placement


@dataclass(frozen=True)
class Par4Geometry(ArmGeometry):
    """The dimensions of a Par4, in m and rad. [NCPP] prints none: the defaults are of the size of its robot.

    Examples:
        >>> Par4Geometry(h=0.1).rod
        0.825
    """

    arm: float = length(0.375, "from a motor's axis to the elbow; L in [NCPP]")
    rod: float = length(0.825, "from the elbow to the platform; l in [NCPP]")
    h: float = length(0.12, "length of the two bars between the halves of the platform")
    d: float = length(0.06, "half length of the halves; it cancels from every equation and cannot be identified")
    base: float = length(0.2, "from the attachment at home to the motor's axis, along the arm")
    alpha: tuple[float, ...] = angles(
        (pi / 4, 3 * pi / 4, 5 * pi / 4, 7 * pi / 4), "α_i, the direction of each arm from the x axis"
    )

    TURNED: ClassVar[tuple[tuple[float, float], ...]] = ((0.0, 1.0), (0.0, 1.0), (0.0, 0.0), (0.0, 0.0))
    """From D to the half that holds each chain, in units of h: half 2 for chains 1 and 2, half 1 for 3 and 4."""
    FIXED: ClassVar[tuple[tuple[float, float], ...]] = ((1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0), (1.0, 0.0))
    """The end of its half to which each chain leads, in units of d."""

    @property
    def fixed(self) -> Array:
        """(4, 2) m: from the middles of the halves to the rods' attachments."""
        return self.d * np.array(self.FIXED)


@dataclass(frozen=True)
class Par4Parts(ArmParts):
    """Masses and inertias of a Par4, in kg, m and kg·m². The defaults add up to Table 1 of [NCPP].

    The belt that multiplies θ and what it turns are not included, as in [NCPP].

    Examples:
        >>> Par4Parts(bar_mass=0.06).half_masses
        (0.5943, 0.6494)
    """

    arm_mass: float = 0.66
    arm_center: float = 0.16
    arm_inertia: float = 0.0077
    rotor_inertia: tuple[float, ...] = (0.077154,) * 4
    rod_mass: float = 0.08
    rod_radius: float = 0.007
    rod_inertia: float | None = None
    spacing: float = 0.1
    half_masses: tuple[float, float] = (0.5943, 0.6494)
    """Masses of half plates 1 and 2, m_1 and m_2 of [NCPP]."""
    bar_mass: float = 0.05
    """Mass of one of the two bars between the half plates, m_3 of [NCPP]."""
    bar_inertia: float | None = None
    """Moment of inertia of such a bar about its center; None puts its mass into the bearings at its ends."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = isinstance(self.half_masses, tuple) and len(self.half_masses) == 2
        require(fits, f"half_masses must be a tuple of 2 masses, but is {self.half_masses}")


def _attitude(m: tuple[Expression, ...], x: Expression) -> list[Expression]:
    """Both halves turn by one ω as long as the parallelogram is not flat, which it is at θ = ±90°."""
    return [closeness(ex.matrix(*m).T), ex.cos(x[3])]


def _platform(x: Expression) -> list[Expression | float]:
    """The position and attitude of half 1, and the turns of bar 1, half 2 and bar 2."""
    return [x[0], x[1], x[2], 0.0, 0.0, 0.0, x[3], -x[3], x[3]]


def _masses(motion: ChainMotion, gravity: Expression) -> list[Expression]:
    """[NCPP, eqs. (9), (17)] with the lost brackets: J_iᵀ m_i (ẍ_i + g).

    The acceleration of D' has the centripetal term of [NCPP, eq. (15)], Ṫ_2 θ̇ = h θ̇² (sin θ, -cos θ, 0).
    """
    half_1 = equations.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)
    return [half_1, equations.point_mass(motion, motion.chains[0].DC, gravity)]


@dataclass(frozen=True)
class Par4(DeltaFamily):
    """The Par4 of [NCPP]: pose (x, y, z, θ), four motors whose positive turn lowers the arm; z is up.

    The pose is that of half 1 of the platform, which chains 3 and 4 hold. θ is the angle of the bars between the
    halves, zero in the middle of its range; a tool that a gear or belt turns faster is not included.

    Parameters, with the rods' mass halved between elbow and platform:

    | name | unit | meaning |
    |---|---|---|
    | i_act | kg·m² | motor, gear and arm about the motor's axis, and half of both rods at the elbow: m_rod·arm² |
    | m_1 | kg | half 1, half of both bars, and half of the rods of its two chains: 2·m_rod |
    | m_2 | kg | half 2, in the same way |
    | gS_arm | N·m | weight of an arm times the lever of its center, with half of both rods: g·m_rod·arm |
    | f_c | N·m | dry friction of a motor |
    | f_v | N·m·s/rad | viscous friction of a motor |
    | m_rod | kg | variant "rods": mass of one rod, two in each chain; what halves leave out of its inertia |

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
    parts: Par4Parts = Par4Parts()

    ADDS: ClassVar[dict[str, str]] = {
        "paper": "",
        "per chain": "differences between the chains",
        "rods": "the inertia of the rods",
    }
    FAMILY: ClassVar[equations.Family] = equations.Family(
        name="par4",
        n_pose=4,
        turned=Par4Geometry.TURNED,
        attitude=_attitude,
        platform=_platform,
        columns=equations.of_chains("paper", _masses),
    )
    HANGING: ClassVar[float] = radians(33)

    @property
    def name(self) -> str:
        """The name of the robot in reports."""
        return "Par4"

    def _columns(self, variant: str) -> tuple[Parameter, ...]:
        masses: tuple[Parameter, ...] = (("m_1", "kg", 0.8043), ("m_2", "kg", 0.8594))
        parameters = chain_parameters(masses, (0.113, 1.33, 2.43, 0.5), 1 if variant == "paper" else 4)
        return (*parameters, ("m_rod", "kg", 0.08)) if variant == "rods" else parameters

    @property
    def _is_redundant(self) -> bool:
        """The halves hold one another's attitude more often than needed: two of 27 equations follow from the others."""
        return True

    @property
    def _top(self) -> Top:
        """Half 1, a bar, half 2 on that bar, and the other bar, which closes the parallelogram.

        16 bodies and 29 joints in all, 9 closures leave 4 freedoms.
        """
        d, h, parts = self.geometry.d, self.geometry.h, self.parts
        across = parts.bar_mass * h**2 / 4 if parts.bar_inertia is None else parts.bar_inertia
        bar = Inertia(parts.bar_mass, (0.0, h / 2, 0.0), (across,) * 3, symmetry="y")
        flat = [m * d**2 / 3 for m in parts.half_masses]
        half_1 = Inertia(parts.half_masses[0], moments=(flat[0], flat[0], 2 * flat[0]), symmetry="center")
        half_2 = Inertia(parts.half_masses[1], (-d, 0.0, 0.0), (flat[1], flat[1], 2 * flat[1]), symmetry="x")
        bodies = (Body("half1", half_1), Body("bar1", bar, "bar"), Body("half2", half_2), Body("bar2", bar, "bar"))
        joints = (
            Joint("platform", "free", BASE, "half1"),
            Joint("bar1_turn", "revolute", "half1", "bar1", Placement((d, 0.0, 0.0))),
            Joint("half2_turn", "revolute", "bar1", "half2", Placement((0.0, h, 0.0))),  # its frame is on its hinge
            Joint("bar2_turn", "revolute", "half1", "bar2", Placement((-d, 0.0, 0.0))),
        )
        closing = Closure.at_points("hinge4", ("bar2", "half2"), ((0.0, h, 0.0), (-2 * d, 0.0, 0.0)))
        home = tuple(self.home.tolist())
        carriers = []
        for (_, half), (x, y) in zip(self.geometry.TURNED, self.geometry.fixed.tolist(), strict=True):
            at_home = (home[0] + x, home[1] + half * h + y, home[2])
            end = (x - d, y, 0.0) if half else (x, y, 0.0)
            carriers.append(Carrier("half2" if half else "half1", end, at_home))
        return Top(
            bodies, joints, Platform("half1", ("x", "y", "z", "bar1_turn"), home), tuple(carriers), closures=(closing,)
        )

    @property
    def _lumped(self) -> dict[str, float]:
        of, parts = self.geometry, self.parts
        halves = [mass + parts.bar_mass + 2 * parts.rod_mass for mass in parts.half_masses]  # [NCPP, eqs. (8), (14)]
        chains = parts.chain_parameters(of.arm, self.gravity)
        return {**chains, "m_1": halves[0], "m_2": halves[1], "m_rod": parts.rod_column(of.rod)}


@dataclass(frozen=True, eq=False)
class Par4Kinematics(TurningArms):
    """The geometry of a Par4, 9 parameters a chain: motor (3), angle, zero, arm, rod, joint (2).

    The pose is that of half 1 of the platform, which chains 3 and 4 hold, with the heading of the bars between the
    halves; of a measured orientation only the heading about z counts. All 36 parameters are found from poses with
    different headings. At the blueprint it is the robot of `Par4`, whose parameters are those of its dynamics.

    Examples:
        >>> from gough.robots.kinematics import heading
        >>> robot = Par4Kinematics()
        >>> readings = robot.inverse(robot.nominal, [0.1, 0.2, -0.8], heading(0.5))
        >>> bool(abs(readings - Par4().inverse([0.1, 0.2, -0.8, 0.5])).max() < 1e-12)
        True
        >>> robot.forward(robot.nominal, readings).position.round(6)
        array([[ 0.1,  0.2, -0.8]])
    """

    geometry: Par4Geometry = field(default_factory=Par4Geometry)
    name: str = "Par4"
    calibrated: Array | None = None
    ROBOT: ClassVar[type[DeltaFamily]] = Par4
