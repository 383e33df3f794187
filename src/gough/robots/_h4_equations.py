"""The equations of the H4, as expressions: four legs, and a platform in the shape of an H.

The crossbar C_1 C_2 of half length h turns by θ; a lateral bar hangs on a hinge at each of its ends, keeps its
direction y, and is held by two legs: legs 1 and 4 at C_1, legs 2 and 3 at C_2, each at the distance d from the hinge.

    geometry = (l, L, h, R, cos α_1, sin α_1, …, sin α_4). The half length d of the lateral bars is no part of it: it
    stands in A [PRV03i, eqs. (3), (4)] and in P [PRV03i, eqs. (7), (8)] alike, and cancels from A - P, hence from every
    equation.
"""

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots import _columns as columns
from gough.robots._family import Family
from gough.robots._legs import Leg, Motion
from gough.robots._matrices import closeness

SIDES = (1.0, -1.0, -1.0, 1.0)
"""+1 for a leg at C_1, -1 for one at C_2."""
ENDS = (1.0, 1.0, -1.0, -1.0)
"""+1 for a leg at the y end of its lateral bar, -1 for one at the other."""


def _legs(geometry: Expression) -> tuple[Leg, ...]:
    arm, rod, h, base = (geometry[k] for k in range(4))
    legs = []
    for i, side in enumerate(SIDES):
        radial = ex.vector(geometry[4 + 2 * i], geometry[5 + 2 * i], 0.0)
        end = ex.vector(side * h, 0.0, 0.0)  # [PRV03i, eqs. (3), (4)] without d
        motor = end + base * radial  # [PRV03i, eqs. (7), (8)] without d
        legs.append(Leg(motor, end, radial, arm, rod))
    return tuple(legs)


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


def _paper(motion: Motion, gravity: Expression) -> list[Expression]:
    """[PRV03i, eqs. (14), (17), (18)], corrected: gravity adds to z̈, since z is up and q lowers the arm."""
    nacelle = columns.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)
    crossbar = motion.J[3, :].T * motion.ddx[3]
    friction = [*columns.each(motion.dq), *columns.each(ex.sign(motion.dq))]
    return [*columns.each(motion.ddq), nacelle, crossbar, *friction]


def _arm_gravity(motion: Motion, gravity: Expression) -> list[Expression]:
    return [*_paper(motion, gravity), gravity * columns.arm_weight(motion)]


def _rods(motion: Motion, gravity: Expression) -> list[Expression]:
    return [*_arm_gravity(motion, gravity), columns.rods(motion)]


H4_EQUATIONS = Family(
    name="h4",
    n_motors=4,
    n_pose=4,
    n_geometry=12,
    legs=_legs,
    turning_length=lambda geometry: geometry[2],
    attitude=_attitude,
    columns={"paper": _paper, "arm gravity": _arm_gravity, "rods": _rods},
)
"""The H4 of [PRV03i] and [PRV03e]."""
