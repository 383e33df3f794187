"""The equations of the Par4, as expressions: four legs, and a platform that is a planar parallelogram.

Half 1 of the platform, with the point D of the pose, is held by legs 3 and 4; half 2, with the point
D' = D + h (-sin θ, cos θ, 0), by legs 1 and 2. Two bars of length h join them, hinged about z, so that both halves only
translate. [NCPP] numbers the legs from 0; its list of symbols contradicts its matrices, which are followed here.

    geometry = (l, L, h, R, cos α_1, sin α_1, …, sin α_4), in the letters of [PRV03i]: l the arm, L the rods. The half
    length d of the halves cancels from every equation, as it does for the H4.
"""

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots import _columns as columns
from gough.robots._family import Family
from gough.robots._legs import Leg, Motion
from gough.robots._matrices import closeness

HALVES = (1.0, 1.0, 0.0, 0.0)
"""1 for a leg on half 2, 0 for one on half 1."""
ENDS = (1.0, -1.0, -1.0, 1.0)
"""+1 for a leg at the x end of its half, -1 for one at the other."""


def _legs(geometry: Expression) -> tuple[Leg, ...]:
    """The motors lie around the middle of the platform, which is h/2 from D: so all legs are alike at home."""
    arm, rod, h, base = (geometry[k] for k in range(4))
    legs = []
    for i, half in enumerate(HALVES):
        radial = ex.vector(geometry[4 + 2 * i], geometry[5 + 2 * i], 0.0)
        end = ex.vector(0.0, half * h, 0.0)
        motor = ex.vector(0.0, (half - 0.5) * h, 0.0) + base * radial
        legs.append(Leg(motor, end, radial, arm, rod))
    return tuple(legs)


def _attitude(m: tuple[Expression, ...], x: Expression) -> list[Expression]:
    """Both halves turn by one ω as long as the parallelogram is not flat, which it is at θ = ±90°."""
    return [closeness(ex.matrix(*m).T), ex.cos(x[3])]


def _masses(motion: Motion, gravity: Expression) -> list[Expression]:
    """[NCPP, eqs. (9), (17)] with the lost brackets: J_iᵀ m_i (ẍ_i + g).

    The acceleration of D' has the centripetal term of [NCPP, eq. (15)], Ṫ_2 θ̇ = h θ̇² (sin θ, -cos θ, 0).
    """
    half_1 = columns.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)
    return [half_1, columns.point_mass(motion, motion.legs[0].DC, gravity)]


PAR4_EQUATIONS = Family(
    name="par4",
    n_motors=4,
    n_pose=4,
    n_geometry=12,
    legs=_legs,
    turning_length=lambda geometry: geometry[2],
    attitude=_attitude,
    columns=columns.of_chains("paper", _masses),
)
"""The Par4 of [NCPP]."""
