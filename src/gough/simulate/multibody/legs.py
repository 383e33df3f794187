"""Legs of the Delta family: a motor on the base, an arm, and two parallel rods to a part that keeps its heading.

At q = 0 the arm is level and points along α; q > 0 lowers it. Each rod hangs on a universal joint at the elbow (first
about an axis parallel to the motor's, then about one across it) and on a ball joint at the platform.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.simulate.multibody.description import Body, Closure, Joint, Segment, Solid, Vector

LEG = 7
"""Numbers that place a leg: motor (3), α, and where its rods end on their carrier (3)."""
Platform = Callable[[Expression, Expression], tuple[Sequence[Expression], Sequence[Expression]]]
"""From the pose and h: the reference point of each leg's carrier, and the coordinates of the platform's joints."""


@dataclass(frozen=True)
class Leg:
    """Where a leg begins and ends: midway between its two rods."""

    motor: Vector
    alpha: float
    carrier: str
    """Name of the body that its rods end on."""
    end: Vector
    """There, in base axes from the carrier's reference point."""
    origin: Vector = (0.0, 0.0, 0.0)
    """The carrier's reference point in the carrier's frame."""

    @property
    def numbers(self) -> tuple[float, ...]:
        """What the kinematics needs."""
        return (*self.motor, self.alpha, *self.end)

    @property
    def across(self) -> Vector:
        """Unit vector u of the motor's axis, along which the two rods are spaced [PRV03i, §2.1]."""
        return (-float(np.sin(self.alpha)), float(np.cos(self.alpha)), 0.0)


@dataclass(frozen=True)
class LegParts:
    """Sizes and solids that all legs share."""

    arm: float
    rod: float
    spacing: float
    """Between the two rods of a leg."""
    arm_solid: Solid
    rod_solid: Solid
    rod_radius: float


def leg_bodies(k: int, leg: Leg, parts: LegParts, rotor_inertia: float) -> list[Body]:
    """The arm of leg k (counted from 1) and its two rods."""
    elbow, half = (parts.arm, 0.0, 0.0), parts.spacing / 2
    thick = Segment((0.0, 0.0, 0.0), elbow, 2 * parts.rod_radius)
    yoke = Segment((parts.arm, -half, 0.0), (parts.arm, half, 0.0), parts.rod_radius)
    motor = Joint(f"q{k}", "turn", "y", rotor_inertia)
    bodies = [Body(f"arm{k}", "", (motor,), parts.arm_solid, leg.motor, leg.alpha, (thick, yoke))]
    for side, offset in (("a", half), ("b", -half)):
        joints = (Joint(f"rod{k}{side}_swing", "turn", "y"), Joint(f"rod{k}{side}_tilt", "turn", "z"))
        shape = Segment((0.0, 0.0, 0.0), (parts.rod, 0.0, 0.0), parts.rod_radius)
        position = (parts.arm, offset, 0.0)
        bodies.append(Body(f"rod{k}{side}", f"arm{k}", joints, parts.rod_solid, position, segments=(shape,)))
    return bodies


def leg_closures(k: int, leg: Leg, parts: LegParts) -> list[Closure]:
    """The ball joints between the rods of leg k and their carrier."""
    middle, across = np.add(leg.origin, leg.end), np.array(leg.across)
    closures = []
    for side, offset in (("a", parts.spacing / 2), ("b", -parts.spacing / 2)):
        x, y, z = (middle + offset * across).tolist()
        ends = ((parts.rod, 0.0, 0.0), (x, y, z))
        closures.append(Closure(f"ball{k}{side}", (f"rod{k}{side}", leg.carrier), ends))
    return closures


def leg_coordinates(to_end: Expression, alpha: Expression, arm: Expression, rod: Expression) -> list[Expression]:
    """The five coordinates of a leg, from the vector that leads from its motor to its end: closed form.

    The arm and the rods, seen along the motor's axis, make a triangle on the chord from motor to end; the elbow is on
    its outer side. The rods of a leg stay parallel, so that both have the same two angles.
    """
    radial = to_end[0] * ex.cos(alpha) + to_end[1] * ex.sin(alpha)
    aside = to_end[1] * ex.cos(alpha) - to_end[0] * ex.sin(alpha)
    drop = -to_end[2]
    chord = radial**2 + drop**2
    cosine = (chord + aside**2 + arm**2 - rod**2) / (2 * arm * ex.sqrt(chord))  # law of cosines
    q = ex.atan2(drop, radial) - ex.acos(cosine)
    slope = ex.atan2(drop - arm * ex.sin(q), radial - arm * ex.cos(q))  # of the rods, seen along the motor's axis
    swing, tilt = slope - q, ex.asin(aside / rod)
    return [q, swing, tilt, swing, tilt]


def tree_coordinates(
    pose: Expression,
    legs: Expression,
    lengths: Expression,
    platform: Platform,
) -> Expression:
    """All coordinates of the tree for a pose: legs, then platform. `lengths` are (arm, rod, h)."""
    carriers, tail = platform(pose, lengths[2])
    coordinates: list[Expression] = []
    for k, carrier in enumerate(carriers):
        motor, end = legs[k, 0:3].T, legs[k, 4:7].T
        coordinates += leg_coordinates(carrier + end - motor, legs[k, 3], lengths[0], lengths[1])
    return ex.vector(*coordinates, *tail)


def motion_kernel(name: str, n_legs: int, n_pose: int, platform: Platform) -> Kernel:
    """The kernel from the platform's motion to the tree's: coordinates, two time derivatives, and ∂coordinates/∂pose.

    Derivatives are those of the closed form itself, by automatic differentiation.
    """

    def moving(
        x: Expression, dx: Expression, ddx: Expression, legs: Expression, lengths: Expression
    ) -> dict[str, Expression]:
        q = tree_coordinates(x, legs, lengths, platform)
        dq = ex.directional(q, x, dx)
        ddq = ex.directional(dq, x, dx) + ex.directional(dq, dx, ddx)
        return {"q": q, "dq": dq, "ddq": ddq, "jacobian": ex.derivative(q, x)}

    poses = dict.fromkeys(("x", "dx", "ddx"), n_pose)
    return trace(moving, name=f"{name}_tree", inputs={**poses, "legs": (n_legs, LEG), "lengths": 3})
