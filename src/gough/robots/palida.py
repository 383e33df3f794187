"""PaLiDA of [AHG]: six struts with linear direct drives, each a cardan ring, a stator and a slider; 19 bodies."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi, radians
from typing import Literal

import numpy as np

from gough.core.arrays import Array
from gough.robots._geometry import check_geometry, length, pairs_on_circle
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Closure, Cogging, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement, Rotation, facing
from gough.robots.physical import PhysicalLimits

DRY = (11.958, 2.597, 14.794, 4.988, 3.451, 5.392)
VISCOUS = (20.602, 20.538, 14.218, 25.279, 26.050, 23.137)
DRY_ALPHA, DRY_BETA = 0.420, 0.862
"""Friction: maximum likelihood of [AHG, table III]."""

_ON_BLUEPRINT = (
    "The a-priori values of [AHG, table III] fit no rigid bodies: p_2 = 0.947 kg·m² exceeds p_3 = 0.943 kg·m², but no "
    "moment of inertia of stator and slider exceeds the sum of the other two, so that p_2 ≤ p_3."
)
_TO_STATOR: Rotation = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
_TO_SLIDER: Rotation = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
"""z_1 is the axis of α, z_2 that of β, y_2 and z_3 are the axis of the strut, as table I of [AHG] implies."""


@dataclass(frozen=True)
class PalidaGeometry:
    """The dimensions of PaLiDA, in m and rad.

    [AHG] prints none; Table III fits only a small platform.

    Examples:
        >>> PalidaGeometry().base
        0.7
    """

    base: float = length(0.70, "from the middle of the base to the cardan joints")
    platform: float = length(0.09, "from the middle of the platform to its joints")
    height: float = length(0.104, "of the platform's joints above the tool center point")
    home: float = length(0.65, "of the base's joints above the platform's at home")

    def __post_init__(self) -> None:
        check_geometry(self)

    def points(self) -> tuple[Array, Array]:
        """The joints on the base (6, 3), and those on the platform (6, 3) from the tool center point."""
        on_base = pairs_on_circle(self.base, radians(14))
        return on_base, pairs_on_circle(self.platform, radians(38), self.height)


def _mechanism(robot: "Palida") -> Mechanism:
    """PaLiDA as a mechanism: base on top, platform below, z up.

    Inertias add up to the a-priori column of [AHG, table III]. Those numbers fit no rigid bodies: p_3 − p_2 = (I_zz2 +
    I_yy2 − I_xx2) + (I_yy3 + I_zz3 − I_xx3) is not negative for bodies that can exist, but is 0.943 − 0.947. Here the
    stator has the whole excess of 0.004 kg·m², which makes an eigenvalue of its pseudo-inertia −0.002, and the slider
    has none.
    """
    of = robot.geometry
    A, B = of.points()
    home = (0.0, 0.0, -of.home - of.height, 0.0, 0.0, 0.0)
    symmetric = robot.bodies == "symmetric"
    ring = Inertia.about_origin(1.0, moments=(0.002, 0.002, 0.002), symmetry="center" if symmetric else "none")
    stator = Inertia.about_origin(4.5, (0, 0.579, 0), (0.089, 0.002, 0.083), symmetry="y" if symmetric else "none")
    slider = Inertia.about_origin(2.0, (0, 0, -1.299), (0.861, 0.86, 0.001), symmetry="z" if symmetric else "none")
    plate = Inertia.about_origin(
        4.307, (0, 0, 0.45), (0.061608, 0.061608, 0.0258), symmetry="z" if symmetric else "none"
    )
    parts: dict[str, list[Body]] = {"ring": [], "stator": [], "slider": []}
    joints, closures = [Joint("platform", "free", BASE, "platform")], []
    for j in range(6):
        k = str(j + 1)
        joints += _strut_joints(j, A[j], np.array(home[:3]) + B[j], robot.cogging)
        for name, inertia, group in (("ring", ring, "1"), ("stator", stator, "2"), ("slider", slider, "3")):
            parts[name].append(Body(f"{name}{k}", inertia, group))
        closures.append(Closure.at_points(f"ball{k}", (f"slider{k}", "platform"), ((0, 0, 0), tuple(B[j].tolist()))))
    ordered = (*parts["ring"], *parts["stator"], Body("platform", plate, "E"), *parts["slider"])
    return Mechanism(
        "PaLiDA",
        ordered,
        tuple(joints),
        tuple(closures),
        actuated=tuple(f"q{k}" for k in range(1, 7)),
        platform=Platform("platform", home=home),
        gravity=(0.0, 0.0, -robot.gravity),
        actuators=tuple(f"drive {k}" for k in range(1, 7)),
    )


def _strut_joints(j: int, a: Array, b: Array, cogging: Cogging | None) -> list[Joint]:
    """Cardan joint and drive of a strut from a to b at home: there α = 0 and β = 90°.

    The axis of α is level and across the strut.
    """
    k, along = str(j + 1), b - a
    across = np.cross([0.0, 0.0, 1.0], along)
    frame = Placement(tuple(a.tolist()), facing((-along).tolist(), across.tolist()))
    tilt = Limits(-radians(35), radians(35))
    around = Limits(pi / 2 - radians(35), pi / 2 + radians(35))
    drive = Limits(0.65, 1.15, speed=1.2, effort=230.0)
    friction = Friction(k, dry=DRY[j], viscous=VISCOUS[j])
    return [
        Joint(
            f"alpha{k}", "revolute", BASE, f"ring{k}", frame, freedoms=(Freedom(0.0, tilt, Friction("α", DRY_ALPHA)),)
        ),
        Joint(
            f"beta{k}",
            "revolute",
            f"ring{k}",
            f"stator{k}",
            Placement(rotation=_TO_STATOR),
            freedoms=(Freedom(pi / 2, around, Friction("β", DRY_BETA)),),
        ),
        Joint(
            f"q{k}",
            "prismatic",
            f"stator{k}",
            f"slider{k}",
            Placement(rotation=_TO_SLIDER),
            freedoms=(Freedom(float(np.linalg.norm(along)), drive, friction, cogging=cogging),),
        ),
    ]


@dataclass(frozen=True)
class Palida(ClosedChain):
    """PaLiDA of [AHG]: pose (x, y, z, roll, pitch, yaw) of the tool center point, six linear direct drives; z is up.

    Parameters of symmetric bodies are those that make up [AHG, table I]: indices 1, 2, 3, E stand for cardan rings,
    stators, sliders and the platform; r_α, r_β for dry friction of the passive joints (in N·m, not N as printed), r_1
    … r_6 and v_1 … v_6 for dry and viscous friction of the drives. Ten combinations of the rigid-body parameters can
    be identified separately, 23 of those of general bodies; `gough.dynamics.base_parameters` prints them. The published
    a-priori values, which are the nominal ones here, fit no bodies that can exist: p_2 > p_3 in table III.

    Examples:
        >>> robot = Palida()
        >>> robot.inverse(robot.home).round(4)
        array([0.8975, 0.8975, 0.8975, 0.8975, 0.8975, 0.8975])
        >>> len(robot.names), robot.names[:4]
        (33, ('m_1', 'Ixx_1', 'Iyy_1', 'Izz_1'))
    """

    geometry: PalidaGeometry = PalidaGeometry()
    variant: str = ""
    """"bodies and drives", "passive friction" or, if the drives cog, "cogging"; the last by default."""
    gravity: float = 9.81
    """Acceleration of gravity, along -z."""
    bodies: Literal["symmetric", "general"] = "symmetric"
    cogging: Cogging | None = None
    """Forces of the drives that repeat with their position."""
    only: tuple[str, ...] = ()
    """Names of the parameters to keep; all by default."""
    least_margin: float = 1e-4
    """Poses with a smaller singularity margin are refused."""

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def mechanism(self) -> Mechanism:
        """The 19 bodies."""
        return _mechanism(self)

    @cached_property
    def physical(self) -> PhysicalLimits:
        """Bodies that can exist, which the published a-priori values are not; friction that is not negative."""
        return replace(super().physical, on_blueprint=_ON_BLUEPRINT)
