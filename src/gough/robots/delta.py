"""The Delta: three motors, three pairs of rods, a platform in one piece that only translates [CLA88]."""

from dataclasses import dataclass
from math import pi, radians
from typing import ClassVar

from gough.core.arrays import Array
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._geometry import angles, length
from gough.robots.delta_family import equations
from gough.robots.delta_family.chain import ChainMotion
from gough.robots.delta_family.description import ArmGeometry, ArmParts, Carrier, Top
from gough.robots.delta_family.matrices import closeness
from gough.robots.delta_family.model import DeltaFamily, Parameter, chain_parameters
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Joint, Platform


@dataclass(frozen=True)
class DeltaGeometry(ArmGeometry):
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

    TURNED: ClassVar[tuple[tuple[float, float], ...]] = ((0.0, 0.0),) * 3
    """Nothing turns."""

    @property
    def fixed(self) -> Array:
        """(3, 2) m: from the platform's middle to the rods' attachments."""
        return self.platform * self.radial

    @property
    def radius(self) -> float:
        """The radius of the base less that of the platform: only this difference enters the equations."""
        return self.base - self.platform


@dataclass(frozen=True)
class DeltaParts(ArmParts):
    """Masses and inertias of a Delta, in kg, m and kg·m². The defaults add up to the nominal parameters of the robot.

    Examples:
        >>> DeltaParts().platform_mass
        0.96
    """

    arm_mass: float = 0.6
    arm_center: float = 0.16387
    arm_inertia: float = 0.0045
    rotor_inertia: tuple[float, ...] = (0.072188,) * 3
    rod_mass: float = 0.08
    rod_radius: float = 0.007
    rod_inertia: float | None = None
    spacing: float = 0.1
    platform_mass: float = 0.96
    """Mass of the platform with the tool."""


def _attitude(m: tuple[Expression, ...], _x: Expression) -> list[Expression]:
    """The platform is one body: it turns by one ω."""
    return [closeness(ex.matrix(*m).T)]


def _platform(x: Expression) -> list[Expression | float]:
    """The platform's position and attitude."""
    return [x[0], x[1], x[2], 0.0, 0.0, 0.0]


def _masses(motion: ChainMotion, gravity: Expression) -> list[Expression]:
    return [equations.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)]


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
    | m_rod | kg | variant "rods": mass of one rod, two in each chain; what halves leave out of its inertia |

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
    parts: DeltaParts = DeltaParts()

    ADDS: ClassVar[dict[str, str]] = {
        "common": "",
        "per chain": "differences between the chains",
        "rods": "the inertia of the rods",
    }
    FAMILY: ClassVar[equations.Family] = equations.Family(
        name="delta",
        n_pose=3,
        turned=DeltaGeometry.TURNED,
        attitude=_attitude,
        platform=_platform,
        columns=equations.of_chains("common", _masses),
    )
    HANGING: ClassVar[float] = radians(30)

    @property
    def name(self) -> str:
        """The name of the robot in reports."""
        return "Delta"

    def _columns(self, variant: str) -> tuple[Parameter, ...]:
        masses: tuple[Parameter, ...] = (("m_plate", "kg", 1.2),)
        parameters = chain_parameters(masses, (0.1, 1.2, 2.0, 0.4), 1 if variant == "common" else 3)
        return (*parameters, ("m_rod", "kg", 0.08)) if variant == "rods" else parameters

    @property
    def _top(self) -> Top:
        """One plate: 10 bodies and 21 joints in all, 6 ball joints leave 3 freedoms."""
        return plate(self.parts.platform_mass, self.geometry.fixed, self.home)

    @property
    def _lumped(self) -> dict[str, float]:
        of, parts = self.geometry, self.parts
        chains = parts.chain_parameters(of.arm, self.gravity)
        plate = parts.platform_mass + 3 * parts.rod_mass
        return {**chains, "m_plate": plate, "m_rod": parts.rod_column(of.rod)}


def plate(mass: float, attachments: Array, home: Array) -> Top:
    """A platform in one piece with the rods' attachments (chains, 2) around its middle, which is at `home` (3)."""
    size = float((attachments**2).sum(axis=1).max())
    flat = mass * size / 12
    body = Body("platform", Inertia(mass, moments=(flat, flat, 2 * flat), symmetry="center"))
    x, y, z = home.tolist()
    carriers = tuple(
        Carrier("platform", (right, front, 0.0), (x + right, y + front, z)) for right, front in attachments.tolist()
    )
    joint = Joint("platform", "free", BASE, "platform")
    return Top((body,), (joint,), Platform("platform", ("x", "y", "z"), (x, y, z)), carriers)
