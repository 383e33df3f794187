"""Planar mechanisms: the five-bar and the 3-RRR, in the x-y plane."""

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from gough.core.arrays import Array
from gough.robots._geometry import length
from gough.robots.five_bar import FiveBar
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, HELD, Body, Closure, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement, Vector

_ANY_TURN = Limits(-pi, 2 * pi)


def _link(mass: float, first: tuple[float, float], inertia: float) -> Inertia:
    """A link that moves in the plane: mass, first moments and moment of inertia about the frame's origin."""
    x, y = first[0] / mass, first[1] / mass
    flat = inertia - mass * (x * x + y * y)
    return Inertia(mass, (x, y, 0.0), (0.0, flat, flat), symmetry="planar")


def five_bar_mechanism(robot: FiveBar | None = None) -> Mechanism:
    """The five-bar as a mechanism: four links, a payload on the first distal one, and a closure at the end point.

    Its parameters are those of `FiveBar` in the same order: m, sx, sy, Izz for m, mx, my, I of each link.

    Examples:
        >>> five_bar_mechanism().coordinates
        ('q1', 'elbow1', 'q2', 'elbow2')
    """
    of = robot or FiveBar()
    reach = [0.83 * (a + b) for a, b in zip(of.proximal, of.distal, strict=True)]
    side = of.side
    home = np.array([0.0, side * (min(reach) ** 2 - of.base**2 / 4) ** 0.5])
    q = of.inverse(home)
    elbows = of.elbow_positions(q)
    turns = [float(np.arctan2(*(home - elbow)[::-1]) - angle) for elbow, angle in zip(elbows, q, strict=True)]
    values = of.nominal
    links = [_link(m, (mx, my), inertia) for m, mx, my, inertia in values[:16].reshape(4, 4).tolist()]
    joints, load = [], Body("load", Inertia(float(values[16]), symmetry="point"))
    for i in (0, 1):
        k = str(i + 1)
        viscous, dry = values[17 + 2 * i : 19 + 2 * i].tolist()
        motor = Freedom(float(q[i]), _ANY_TURN, Friction(k, dry=dry, viscous=viscous))
        at = Placement(((2 * i - 1) * of.base / 2, 0.0, 0.0))
        elbow = Placement((of.proximal[i], 0.0, 0.0))
        joints += [
            Joint(f"q{k}", "revolute", BASE, f"proximal{k}", at, freedoms=(motor,)),
            Joint(f"elbow{k}", "revolute", f"proximal{k}", f"distal{k}", elbow, freedoms=(Freedom(turns[i]),)),
        ]
    ends: list[Vector] = [(r, 0.0, 0.0) for r in of.distal]
    joints.append(Joint("hand", "fixed", "distal1", "load", Placement(ends[0])))
    names = ("proximal1", "proximal2", "distal1", "distal2")
    bodies = [Body(name, link, str(k)) for k, (name, link) in enumerate(zip(names, links, strict=True), start=1)]
    closing = Closure("end", ("load", "distal2"), (Placement(), Placement(ends[1])), HELD["planar point"])
    return Mechanism(
        "five-bar",
        (*bodies, load),
        tuple(joints),
        (closing,),
        actuated=("q1", "q2"),
        platform=Platform("load", ("x", "y"), tuple(home.tolist())),
        gravity=(*of.gravity, 0.0),
        actuators=("motor 1", "motor 2"),
    )


@dataclass(frozen=True)
class PlanarGeometry:
    """The dimensions of a 3-RRR, in m.

    Examples:
        >>> PlanarGeometry().proximal
        0.3
    """

    base: float = length(0.45, "from the middle to the motors' axes")
    platform: float = length(0.12, "from the middle of the platform to its joints")
    proximal: float = length(0.3, "of the links on the motors")
    distal: float = length(0.3, "of the links on the platform")


def planar_mechanism(geometry: PlanarGeometry | None = None, gravity: float = 9.81) -> Mechanism:
    """The 3-RRR: three motors, three proximal and three distal links, and a platform that moves in a vertical plane.

    Examples:
        >>> planar_mechanism().platform.pose
        ('x', 'y', 'yaw')
    """
    of = geometry or PlanarGeometry()
    joints, closures = [Joint("platform", "planar", BASE, "platform")], []
    angles = [pi / 2 + k * 2 * pi / 3 for k in range(3)]
    for i, angle in enumerate(angles):
        k = str(i + 1)
        motor, end = (radius * np.array([cos(angle), sin(angle)]) for radius in (of.base, of.platform))
        q, elbow = _two_links(end - motor, of.proximal, of.distal)
        free = Freedom(q, _ANY_TURN, Friction(k, dry=0.3, viscous=0.08))
        joints += [
            Joint(f"q{k}", "revolute", BASE, f"proximal{k}", Placement((*motor.tolist(), 0.0)), freedoms=(free,)),
            Joint(
                f"elbow{k}",
                "revolute",
                f"proximal{k}",
                f"distal{k}",
                Placement((of.proximal, 0.0, 0.0)),
                freedoms=(Freedom(elbow),),
            ),
        ]
        ends = (Placement((of.distal, 0.0, 0.0)), Placement((*end.tolist(), 0.0)))
        closures.append(Closure(f"pin{k}", (f"distal{k}", "platform"), ends, HELD["planar point"]))
    rod = [
        _link(m, (m * span / 2, 0.0), m * span**2 / 3 + rotor)
        for m, span, rotor in ((0.4, of.proximal, 4e-3), (0.25, of.distal, 0.0))
    ]
    plate = _link(0.8, (0.0, 0.0), 0.8 * of.platform**2 / 2)
    bodies = [Body(f"{name}{k}", rod[n], name) for n, name in enumerate(("proximal", "distal")) for k in (1, 2, 3)]
    return Mechanism(
        "3-RRR",
        (*bodies[:3], Body("platform", plate), *bodies[3:]),
        tuple(joints),
        tuple(closures),
        actuated=("q1", "q2", "q3"),
        platform=Platform("platform", ("x", "y", "yaw")),
        gravity=(0.0, -gravity, 0.0),
        actuators=("motor 1", "motor 2", "motor 3"),
    )


def _two_links(chord: Array, first: float, second: float) -> tuple[float, float]:
    """The angle of the first link, and that of the second against it, that bring their end to a point."""
    squared = float(chord @ chord)
    bend = np.arccos((squared - first**2 - second**2) / (2 * first * second))  # law of cosines
    lead = np.arctan2(second * np.sin(bend), first + second * np.cos(bend))
    return float(np.arctan2(chord[1], chord[0]) - lead), float(bend)
