"""Gough-Stewart platforms for identification: six struts between a base below and a platform above."""

from dataclasses import dataclass
from functools import cached_property
from math import pi, radians
from typing import Literal

import numpy as np

from gough.core.arrays import Array
from gough.robots._geometry import check_geometry, length, pairs_on_circle
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, HELD, Body, Closure, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement, facing, rotation

_PAIR = radians(12)


@dataclass(frozen=True)
class HexapodGeometry:
    """The dimensions of a Gough-Stewart platform, in m; the defaults are of the size of a small motion platform.

    Examples:
        >>> HexapodGeometry().base
        0.6
    """

    base: float = length(0.6, "from the middle of the base to its joints, in pairs 24° apart")
    platform: float = length(0.4, "from the middle of the platform to its joints, in pairs 24° apart")
    height: float = length(0.8, "of the platform's joints above the base's at home")

    def __post_init__(self) -> None:
        check_geometry(self)

    def points(self) -> tuple[Array, Array]:
        """The joints on the base (6, 3) and those on the platform (6, 3), strut by strut."""
        return pairs_on_circle(self.base, _PAIR), pairs_on_circle(self.platform, pi / 3 - _PAIR)


def strut_mechanism(
    name: str,
    joints: tuple[Array, Array],
    home: tuple[float, ...],
    *,
    legs: Literal["UPS", "UCU"] = "UPS",
    zero: Array | None = None,
    gravity: float = 9.81,
) -> Mechanism:
    """A platform on struts. UPS: universal, prismatic, spherical joints; UCU: universal, cylindrical, universal.

    With cylindrical joints the rods also turn about their own axes, which spherical joints at their ends would leave
    undetermined.

    Args:
        name: What it is called.
        joints: The joints on the base (struts, 3) and those on the platform (struts, 3), m.
        home: A pose (x, y, z, roll, pitch, yaw) with the platform not turned.
        legs: The joints of a strut.
        zero: The length of each strut at which its coordinate is zero, m; zero by default.
        gravity: Acceleration of gravity, along -z.
    """
    numbers = [str(k) for k in range(1, len(joints[0]) + 1)]
    held, closures = [Joint("platform", "free", BASE, "platform")], []
    lengths = np.zeros(len(numbers)) if zero is None else zero
    for k, a, b, own in zip(numbers, *joints, lengths.tolist(), strict=True):
        along = b + np.array(home[:3]) - a
        span = float(np.linalg.norm(along))
        frame = facing(
            np.cross([0.0, 0.0, 1.0], along).tolist(), along.tolist()
        )  # x level and across the strut, z along it at home
        place = Placement(tuple(a.tolist()), frame)
        cardan = Freedom(0.0, Limits(-radians(40), radians(40)), Friction("u", dry=0.5))
        held.append(
            Joint(f"cardan{k}", "universal", BASE, f"cylinder{k}", place, (1, 0, 0), (0, 1, 0), (cardan, cardan))
        )
        range_ = Limits(0.75 * span - own, 1.25 * span - own, 1.5, effort=4e3)
        drive = Freedom(span - own, range_, Friction(k, dry=40.0, viscous=150.0))
        ends, shift = (f"rod{k}", "platform"), Placement((0.0, 0.0, own))
        if legs == "UPS":
            held.append(Joint(f"q{k}", "prismatic", f"cylinder{k}", f"rod{k}", shift, freedoms=(drive,)))
            closures.append(Closure.at_points(f"ball{k}", ends, ((0, 0, 0), tuple(b.tolist()))))
        else:
            held.append(Joint(f"q{k}", "cylindrical", f"cylinder{k}", f"rod{k}", shift, freedoms=(drive, Freedom())))
            across = facing(
                np.cross(along, [*a[:2], 0.0]).tolist(), along.tolist()
            )  # its y completes the cross at home
            seen = rotation(np.array(frame).T @ np.array(across))
            cross = (Placement(rotation=seen), Placement(tuple(b.tolist()), across))
            closures.append(Closure(f"cross{k}", ends, cross, HELD["universal"]))
    cylinder = Inertia(6.0, (0.0, 0.0, 0.3), (0.12, 0.12, 0.01), symmetry="z")
    rod = Inertia(3.0, (0.0, 0.0, -0.3), (0.06, 0.06, 0.002), symmetry="z")
    plate = Inertia(30.0, (0.0, 0.0, 0.05), (1.2, 1.2, 2.2), symmetry="z")
    bodies = [*(Body(f"cylinder{k}", cylinder, "cylinder") for k in numbers), Body("platform", plate)]
    bodies += [Body(f"rod{k}", rod, "rod") for k in numbers]
    return Mechanism(
        name,
        tuple(bodies),
        tuple(held),
        tuple(closures),
        actuated=tuple(f"q{k}" if legs == "UPS" else f"q{k}_slide" for k in numbers),
        platform=Platform("platform", home=home),
        gravity=(0.0, 0.0, -gravity),
        actuators=tuple(f"strut {k}" for k in numbers),
    )


@dataclass(frozen=True)
class Hexapod(ClosedChain):
    """A Gough-Stewart platform: pose (x, y, z, roll, pitch, yaw), six struts; base below, z up.

    Examples:
        >>> robot = Hexapod()
        >>> q = robot.inverse([0.05, 0.0, 0.82, 0.1, 0.0, 0.2])
        >>> robot.forward(q).round(12) + 0.0
        array([0.05, 0.  , 0.82, 0.1 , 0.  , 0.2 ])
    """

    geometry: HexapodGeometry = HexapodGeometry()
    variant: str = ""
    """"bodies and drives" or "passive friction"; the last by default."""
    gravity: float = 9.81
    """Acceleration of gravity, along -z."""
    legs: Literal["UPS", "UCU"] = "UPS"
    only: tuple[str, ...] = ()
    """Names of the parameters to keep; all by default."""
    least_margin: float = 1e-4
    """Poses with a smaller singularity margin are refused."""

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def mechanism(self) -> Mechanism:
        """The 13 bodies."""
        home = (0.0, 0.0, self.geometry.height, 0.0, 0.0, 0.0)
        joints = self.geometry.points()
        return strut_mechanism(f"6-{self.legs}", joints, home, legs=self.legs, gravity=self.gravity)
