"""The robots of the Delta family as bodies, joints and closures: arms on motors, and pairs of parallel rods.

At q = 0 an arm is level and points along α; q > 0 lowers it. Each of the two rods of a chain is held by a universal
joint at the elbow (first about an axis parallel to the motor's, then about one across it) and by a ball joint at the
platform.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite, pi
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.robots._geometry import check_geometry
from gough.robots.arm_chain import arm_readings, elbows
from gough.robots.delta_family.equations import around_middle
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Closure, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement, Vector, rotation, turned

_ANY = Limits(-pi / 2, pi / 2)
_SIDES = (("a", -0.5), ("b", 0.5))
"""The two rods of a chain, and where they are along the motor's axis, in units of their spacing."""


class ArmGeometry(ABC):
    """The dimensions of a robot of the family: a dataclass of lengths in m and angles in rad."""

    arm: float
    rod: float
    base: float
    alpha: tuple[float, ...]
    TURNED: ClassVar[tuple[tuple[float, float], ...]]
    """For each chain, the part of its rods' attachment that turns with the platform, (x, y) at θ = 0 in units of h."""

    def __post_init__(self) -> None:
        check_geometry(self)

    @property
    @abstractmethod
    def fixed(self) -> Array:
        """(chains, 2) m: the part of the rods' attachments that does not turn. It cancels from every equation."""

    @property
    def turning(self) -> float:
        """The length h that turns with the platform; zero where nothing turns."""
        return float(getattr(self, "h", 0.0))

    @property
    def radius(self) -> float:
        """R, along each arm, from its rods' attachment at home to the motor."""
        return self.base

    @property
    def radial(self) -> Array:
        """(chains, 2): the direction of each arm at q = 0."""
        return np.column_stack([np.cos(self.alpha), np.sin(self.alpha)])

    @property
    def numbers(self) -> Array:
        """The geometry as the equations take it."""
        return np.array([self.arm, self.rod, self.turning, self.radius, *self.radial.ravel()])

    @property
    def blueprint(self) -> Array:
        """(chains, 9), a chain in a row: motor (3) less the fixed attachment, angle, zero, arm, rod, joint (2)."""
        n = len(self.alpha)
        motor = self.turning * np.array(around_middle(self.TURNED)) + self.radius * self.radial
        lengths = np.tile([0.0, self.arm, self.rod], (n, 1))
        return np.column_stack([motor, np.zeros(n), self.alpha, lengths, self.turning * np.array(self.TURNED)])


@dataclass(frozen=True)
class ArmParts:
    """Masses and inertias of the chains of a robot, in kg, m and kg·m². Each robot adds the parts of its platform."""

    arm_mass: float
    """Mass of one arm."""
    arm_center: float
    """Distance from the motor's axis to the arm's center of mass, along the arm."""
    arm_inertia: float
    """Moment of inertia of one arm about its center of mass, across the arm."""
    rotor_inertia: tuple[float, ...]
    """Moment of inertia of each motor, seen behind its gear."""
    rod_mass: float
    """Mass of one of the two rods of a chain."""
    rod_radius: float
    """Radius of a rod. A rod resists turning about its own axis as a full cylinder of this radius."""
    rod_inertia: float | None
    """Moment of inertia of one rod about its center, across the rod; None: that of the uniform cylinder."""
    spacing: float
    """Distance between the two rods of a chain."""

    def __post_init__(self) -> None:
        require(isinstance(self.rotor_inertia, tuple), "rotor_inertia must be a tuple of numbers, one per motor")
        for each in fields(self):
            values = getattr(self, each.name)
            for value in values if isinstance(values, tuple) else (values,):
                require(value is None or isfinite(value), f"{each.name} must be finite, but is {values}")
                if each.name != "arm_center":
                    require(value is None or value >= 0, f"{each.name} must not be negative, but is {values}")
        require(self.rod_radius > 0, "rod_radius must be positive")
        require(self.spacing > 0, "spacing must be positive: two rods cannot be in one place")

    def arm(self) -> Inertia:
        """One arm, along x."""
        across = self.arm_inertia
        return Inertia(self.arm_mass, (self.arm_center, 0.0, 0.0), (across / 10, across, across), symmetry="x")

    def rod(self, length: float) -> Inertia:
        """One rod of this length, along x."""
        across = self.inertia_across(length)
        axial = self.rod_mass * self.rod_radius**2 / 2
        return Inertia(self.rod_mass, (length / 2, 0.0, 0.0), (axial, across, across), symmetry="x")

    def inertia_across(self, length: float) -> float:
        """The moment of inertia of a rod of this length about its center, across itself."""
        if self.rod_inertia is not None:
            return self.rod_inertia
        return self.rod_mass * (length**2 / 12 + self.rod_radius**2 / 4)

    def rod_column(self, length: float) -> float:
        """The parameter m_rod of the variants with rods: the mass of a uniform rod.

        With v_A, v_B the velocities of a rod's ends and s its inertia, kinetic energy =
        m/2 (|v_A|² + |v_B|²)/2 - (m/4 - s/L²)/2 |v_A - v_B|², and m/4 - s/L² = m/6 if it is slender and uniform.
        """
        return 6 * (self.rod_mass / 4 - self.inertia_across(length) / length**2)

    def arm_moment(self, length: float) -> float:
        """First moment of an arm of this length about its motor's axis, with its halves of two rods at the elbow."""
        return self.arm_mass * self.arm_center + self.rod_mass * length

    def arm_inertias(self, length: float) -> list[float]:
        """Moments of inertia of each motor with its arm and its halves of two rods."""
        moving = self.arm_inertia + self.arm_mass * self.arm_center**2 + self.rod_mass * length**2
        return [rotor + moving for rotor in self.rotor_inertia]

    def chain_parameters(self, length: float, gravity: float) -> dict[str, float]:
        """The parameters of chains in the models of [NCPP, eqs. (1), (23)]: of their mean, and of each."""
        inertias, weight = self.arm_inertias(length), gravity * self.arm_moment(length)
        numbered = [(str(k), value) for k, value in enumerate(inertias, start=1)]
        chains = [("", sum(inertias) / len(inertias)), *numbered]
        return {f"i_act{k}": value for k, value in chains} | {f"gS_arm{k}": weight for k, _ in chains}


@dataclass(frozen=True)
class Carrier:
    """A body of the platform that holds the rods of a chain."""

    body: str
    end: Vector
    """The middle of the rods' ends, in the frame of the body, which is not turned at home."""
    at_home: Vector
    """The same point in the base frame, at home."""


@dataclass(frozen=True)
class Top:
    """The platform of a robot: bodies, joints, closures and the pose."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    platform: Platform
    carriers: tuple[Carrier, ...]
    """One for each chain."""
    closures: tuple[Closure, ...] = ()


def arm_mechanism(
    name: str,
    blueprint: Array,
    parts: ArmParts,
    top: Top,
    *,
    friction: Sequence[tuple[float, float]],
    gravity: float,
    redundant: bool = False,
) -> Mechanism:
    """A robot whose platform is held by arms and pairs of rods.

    Args:
        name: What it is called.
        blueprint: Motor (3), heading, zero, length of the arm and of the rods of each chain (chains, 7).
        parts: Masses and the spacing of the rods.
        top: The platform.
        friction: Dry and viscous friction of each motor.
        gravity: Acceleration of gravity, along -z.
        redundant: Whether closures repeat one another.
    """
    motors, (angle, zero, arm, rod) = blueprint[:, :3], blueprint[:, 3:7].T
    ends = np.array([carrier.at_home for carrier in top.carriers])
    q = arm_readings((ends - motors)[None], angle, zero, arm, rod, hint="the robot cannot be assembled at home")
    begin = elbows(motors, angle, q + zero, arm)[0]
    joints = list(top.joints)
    for k, row in enumerate(blueprint):
        dry, viscous = friction[k]
        drive = Freedom(float(q[0, k]), _ANY, Friction(str(k + 1), dry, viscous), parts.rotor_inertia[k])
        frame = Placement(_vector(row[:3]), rotation(np.array(turned("z", row[3])) @ np.array(turned("y", row[4]))))
        joints.append(Joint(f"q{k + 1}", "revolute", BASE, f"arm{k + 1}", frame, (0, 1, 0), freedoms=(drive,)))
    numbers = range(1, len(blueprint) + 1)
    pairs = RodPairs(
        tuple(f"arm{k}" for k in numbers),
        tuple((length, 0.0, 0.0) for length in arm.tolist()),
        tuple(rod.tolist()),
        tuple(angle.tolist()),
        top.carriers,
        parts,
    )
    hooks, rods, balls = pairs.parts(ends - begin, q[0] + zero)
    return Mechanism(
        name,
        (*(Body(f"arm{k}", parts.arm(), "arm") for k in numbers), *top.bodies, *rods),
        (*joints, *hooks),
        (*top.closures, *balls),
        actuated=tuple(f"q{k}" for k in numbers),
        platform=top.platform,
        gravity=(0.0, 0.0, -gravity),
        redundant=redundant,
        actuators=tuple(f"motor {k}" for k in numbers),
    )


@dataclass(frozen=True)
class RodPairs:
    """The pairs of parallel rods that lead from arms or carriages to a platform."""

    parents: tuple[str, ...]
    """The bodies that the pairs begin on."""
    elbows: tuple[Vector, ...]
    """The middle of each pair's begin, in the frame of its parent."""
    lengths: tuple[float, ...]
    angles: tuple[float, ...]
    """Headings of the parents."""
    carriers: tuple[Carrier, ...]
    masses: ArmParts

    def parts(self, along: Array, hanging: Array) -> tuple[list[Joint], list[Body], list[Closure]]:
        """Joints, bodies and closures, for the directions of the rods (chains, 3) and the parents' turns at home."""
        joints, bodies, closures = [], [], []
        group = "rod" if len(set(self.lengths)) == 1 else ""
        for side, offset in _SIDES:
            for k, length in enumerate(self.lengths):
                name, apart, angle = f"rod{k + 1}{side}", offset * self.masses.spacing, self.angles[k]
                u = np.array([-np.sin(angle), np.cos(angle), 0.0])
                slope = np.arctan2(-along[k, 2], along[k, 0] * np.cos(angle) + along[k, 1] * np.sin(angle))
                starts = (Freedom(float(slope - hanging[k])), Freedom(float(np.arcsin(along[k] @ u / length))))
                x, y, z = self.elbows[k]
                hook = Placement((x, y + apart, z))
                parent, carrier = self.parents[k], self.carriers[k]
                joints.append(Joint(f"{name}_hook", "universal", parent, name, hook, (0, 1, 0), (0, 0, 1), starts))
                bodies.append(Body(name, self.masses.rod(length), group))
                ends = ((length, 0.0, 0.0), _vector(np.array(carrier.end) + apart * u))
                closures.append(Closure.at_points(f"ball{k + 1}{side}", (name, carrier.body), ends))
        return joints, bodies, closures


def _vector(values: Array) -> Vector:
    x, y, z = (values + 0.0).tolist()
    return (x, y, z)
