"""The equations of the Delta, as expressions: three legs, and a platform in one piece [CLA88].

geometry = (l, L, r, cos α_1, sin α_1, …, sin α_3). Of the radii of base and platform only the difference r enters.
"""

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots import _columns as columns
from gough.robots._family import Family
from gough.robots._legs import Leg, Motion
from gough.robots._matrices import closeness


def _legs(geometry: Expression) -> tuple[Leg, ...]:
    arm, rod, radius = (geometry[k] for k in range(3))
    nothing = ex.vector(0.0, 0.0, 0.0)
    radials = [ex.vector(geometry[3 + 2 * i], geometry[4 + 2 * i], 0.0) for i in range(3)]
    return tuple(Leg(radius * radial, nothing, radial, arm, rod) for radial in radials)


def _attitude(m: tuple[Expression, ...], _x: Expression) -> list[Expression]:
    """The platform is one body: it turns by one ω."""
    return [closeness(ex.matrix(*m).T)]


def _masses(motion: Motion, gravity: Expression) -> list[Expression]:
    return [columns.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)]


DELTA_EQUATIONS = Family(
    name="delta",
    n_motors=3,
    n_pose=3,
    n_geometry=9,
    legs=_legs,
    turning_length=lambda geometry: geometry[0],
    attitude=_attitude,
    columns=columns.of_chains("common", _masses),
)
"""The Delta of [CLA88]."""
