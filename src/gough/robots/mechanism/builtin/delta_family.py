"""H4, Par4 and Delta with every arm, rod and joint: full mechanisms of the robots whose simplified models stand beside.

At q = 0 an arm is level and points along α; q > 0 lowers it. Each of the two rods of a leg hangs on a universal joint
at the elbow and on a ball joint at the platform.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from gough.core.arrays import Array
from gough.robots.delta import Delta
from gough.robots.delta_family import DeltaFamily
from gough.robots.h4 import H4
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Closure, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement, Vector, turned
from gough.robots.par4 import Par4

_RANGE = Limits(-pi / 2, pi / 2)
_FLAT: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class LegMasses:
    """What the legs are made of. Rods are slender and uniform: then the variant "rods" of the robots is exact.

    Examples:
        >>> LegMasses().rod
        0.08
    """

    arm: float = 0.6
    """Mass of an arm, in kg; uniform along its length."""
    rod: float = 0.08
    """Mass of one of the two rods of a leg, in kg."""
    rotor: float = 0.07
    """Inertia of a motor behind its gear, in kg·m²."""
    spacing: float = 0.1
    """Distance between the two rods of a leg, in m."""
    dry: float = 2.0
    """Dry friction of a motor, in N·m."""
    viscous: float = 0.4
    """Viscous friction of a motor, in N·m·s/rad."""


@dataclass(frozen=True)
class _Leg:
    motor: Vector
    alpha: float
    carrier: str
    """The body that its rods end on."""
    end: Vector
    """The middle of the rods' ends, in the carrier's frame."""
    drop: Vector
    """From motor to end at home."""


def delta_mechanism(robot: Delta | None = None, masses: LegMasses | None = None, plate: float = 0.96) -> Mechanism:
    """The Delta: three arms, six rods and a platform, 21 coordinates.

    Examples:
        >>> len(delta_mechanism().coordinates)
        21
    """
    of = robot or Delta()
    size, legs = of.geometry, []
    for alpha in size.alpha:
        c, s = cos(alpha), sin(alpha)
        end = (size.platform * c, size.platform * s, 0.0)
        motor = (size.base * c, size.base * s, 0.0)
        legs.append(_Leg(motor, alpha, "platform", end, _less(np.add(of.home, end), motor)))
    body = Body("platform", Inertia(plate, _FLAT, (1e-3, 1e-3, 2e-3), symmetry="center"))
    closures: list[Closure] = []
    top = ([body], [Joint("platform", "free", BASE, "platform")], closures)
    platform = Platform("platform", ("x", "y", "z"), tuple(of.home.tolist()))
    return _mechanism(of, legs, masses or LegMasses(), top, platform)


def h4_mechanism(
    robot: H4 | None = None,
    masses: LegMasses | None = None,
    *,
    crossbar: float = 0.4892,
    crossbar_inertia: float = 0.000984,
    lateral: float = 0.2,
) -> Mechanism:
    """The H4: four arms, eight rods, a crossbar and two lateral bars on its ends, 28 coordinates.

    Examples:
        >>> len(h4_mechanism().coordinates)
        28
    """
    of = robot or H4()
    size, legs = of.geometry, []
    for end, side, alpha in zip((1, -1, -1, 1), (1, 1, -1, -1), size.alpha, strict=True):
        motor = (end * size.h + size.base * cos(alpha), side * size.d + size.base * sin(alpha), 0.0)
        tip: Vector = (0.0, side * size.d, 0.0)
        drop = _less(np.array([end * size.h, side * size.d, of.home[2]]), motor)
        legs.append(_Leg(motor, alpha, "lateral1" if end > 0 else "lateral2", tip, drop))
    flat = lateral * size.d**2 / 3
    bar = Inertia(lateral, _FLAT, (flat, flat, 2 * flat), symmetry="center")
    middle = Inertia(crossbar, _FLAT, (crossbar_inertia,) * 3, symmetry="center")
    joints = [Joint("platform", "free", BASE, "crossbar")]
    bodies = [Body("crossbar", middle)]
    for k, end in ((1, 1), (2, -1)):
        bodies.append(Body(f"lateral{k}", bar, "lateral"))
        joints.append(
            Joint(f"lateral{k}_turn", "revolute", "crossbar", f"lateral{k}", Placement((end * size.h, 0.0, 0.0)))
        )
    platform = Platform("crossbar", ("x", "y", "z", "yaw"), tuple(of.home.tolist()))
    return _mechanism(of, legs, masses or LegMasses(0.1, 0.04, 0.0113, 0.08, 1.0, 0.1), (bodies, joints, []), platform)


def par4_mechanism(
    robot: Par4 | None = None,
    masses: LegMasses | None = None,
    *,
    halves: tuple[float, float] = (0.5943, 0.6494),
    bar: float = 0.05,
) -> Mechanism:
    """The Par4: four arms, eight rods, two half plates and two bars between them, 29 coordinates.

    Two of its closure equations follow from the others: the halves hold one another's attitude more often than
    needed. The pose is that of half 1 and the angle of the bars, whose mass is in the bearings at their ends, as in
    [NCPP].

    Examples:
        >>> par4_mechanism().redundant
        True
    """
    of = robot or Par4()
    size, legs = of.geometry, []
    d, h = size.d, size.h
    for half, side, alpha in zip((2, 2, 1, 1), (1, -1, -1, 1), size.alpha, strict=True):
        y = h / 2 if half == 2 else -h / 2
        motor = (side * d + size.base * cos(alpha), y + size.base * sin(alpha), 0.0)
        end: Vector = (side * d - d, 0.0, 0.0) if half == 2 else (side * d, 0.0, 0.0)
        legs.append(_Leg(motor, alpha, f"half{half}", end, _less(np.array([side * d, y, of.home[2]]), motor)))
    first, second = (
        Inertia(m, _FLAT, (m * d**2 / 3, m * d**2 / 3, 2 * m * d**2 / 3), symmetry="center") for m in halves
    )
    shifted = Inertia(halves[1], (-d, 0.0, 0.0), second.moments, symmetry="x")
    link = Inertia(bar, (0.0, h / 2, 0.0), (bar * h**2 / 4, 0.0, bar * h**2 / 4), symmetry="y")
    bodies = [Body("half1", first), Body("bar1", link, "bar"), Body("half2", shifted), Body("bar2", link, "bar")]
    joints = [
        Joint("platform", "free", BASE, "half1"),
        Joint("bar1_turn", "revolute", "half1", "bar1", Placement((d, 0.0, 0.0))),
        Joint("half2_turn", "revolute", "bar1", "half2", Placement((0.0, h, 0.0))),
        Joint("bar2_turn", "revolute", "half1", "bar2", Placement((-d, 0.0, 0.0))),
    ]
    closing = Closure.at_points("hinge4", ("bar2", "half2"), ((0.0, h, 0.0), (-2 * d, 0.0, 0.0)))
    platform = Platform("half1", ("x", "y", "z", "bar1_turn"), tuple(of.home.tolist()))
    top = (bodies, joints, [closing])
    return _mechanism(of, legs, masses or LegMasses(0.66, 0.08, 0.077, 0.1, 2.43, 0.5), top, platform, redundant=True)


def _mechanism(
    robot: DeltaFamily,
    legs: Sequence[_Leg],
    masses: LegMasses,
    top: tuple[list[Body], list[Joint], list[Closure]],
    platform: Platform,
    *,
    redundant: bool = False,
) -> Mechanism:
    arm, rod = robot.geometry.arm, robot.geometry.rod  # type: ignore[attr-defined]
    thick, thin = masses.arm * arm**2 / 12, masses.rod * rod**2 / 12
    solids = {
        "arm": Inertia(masses.arm, (arm / 2, 0.0, 0.0), (0.0, thick, thick), symmetry="x"),
        "rod": Inertia(masses.rod, (rod / 2, 0.0, 0.0), (0.0, thin, thin), symmetry="x"),
    }
    bodies: dict[str, list[Body]] = {"arm": [], "rod": []}
    joints, closures = list(top[1]), list(top[2])
    for k, leg in enumerate(legs, start=1):
        q, swing, tilt = _angles(leg, arm, rod)
        motor = Freedom(q, _RANGE, Friction(str(k), dry=masses.dry, viscous=masses.viscous), rotor=masses.rotor)
        at = Placement(leg.motor, turned("z", leg.alpha))
        joints.append(Joint(f"q{k}", "revolute", BASE, f"arm{k}", at, (0, 1, 0), freedoms=(motor,)))
        bodies["arm"].append(Body(f"arm{k}", solids["arm"], "arm"))
        across = np.array([-sin(leg.alpha), cos(leg.alpha), 0.0])
        for side, offset in (("a", masses.spacing / 2), ("b", -masses.spacing / 2)):
            name, elbow = f"rod{k}{side}", Placement((arm, offset, 0.0))
            turns = (Freedom(swing), Freedom(tilt))
            joints.append(Joint(f"{name}_hook", "universal", f"arm{k}", name, elbow, (0, 1, 0), (0, 0, 1), turns))
            bodies["rod"].append(Body(name, solids["rod"], "rod"))
            x, y, z = (np.array(leg.end) + offset * across).tolist()
            closures.append(Closure.at_points(f"ball{k}{side}", (name, leg.carrier), ((rod, 0.0, 0.0), (x, y, z))))
    n = len(legs)
    return Mechanism(
        robot.name,
        (*bodies["arm"], *top[0], *bodies["rod"]),
        tuple(joints),
        tuple(closures),
        actuated=tuple(f"q{k}" for k in range(1, n + 1)),
        platform=platform,
        gravity=(0.0, 0.0, -robot.gravity),
        redundant=redundant,
        actuators=robot.actuators,
    )


def _angles(leg: _Leg, arm: float, rod: float) -> tuple[float, float, float]:
    """Motor angle, swing and tilt of the rods at home, with the elbow on the outer side."""
    x, y, z = leg.drop
    radial, aside = x * cos(leg.alpha) + y * sin(leg.alpha), y * cos(leg.alpha) - x * sin(leg.alpha)
    chord = radial**2 + z**2
    cosine = (chord + aside**2 + arm**2 - rod**2) / (2 * arm * chord**0.5)  # law of cosines
    q = np.arctan2(-z, radial) - np.arccos(cosine)
    slope = np.arctan2(-z - arm * sin(q), radial - arm * cos(q))
    return float(q), float(slope - q), float(np.arcsin(aside / rod))


def _less(a: Array, b: Vector) -> Vector:
    x, y, z = np.subtract(a, b).tolist()
    return (x, y, z)
