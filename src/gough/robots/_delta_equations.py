"""The equations of the Delta, as expressions: three legs, and a platform in one piece [CLA88].

geometry = (l, L, r, α_1, α_2, α_3). Of the radii of base and platform only the difference r enters.
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
    headings = [geometry[3 + i] for i in range(3)]
    motors = [ex.vector(radius * ex.cos(alpha), radius * ex.sin(alpha), 0.0) for alpha in headings]
    return tuple(Leg(motor, nothing, alpha, arm, rod) for motor, alpha in zip(motors, headings, strict=True))


def _attitude(m: tuple[Expression, ...], _x: Expression) -> list[Expression]:
    """The platform is one body: it turns by one ω."""
    return [closeness(ex.matrix(*m).T)]


def _masses(motion: Motion, gravity: Expression) -> list[Expression]:
    return [columns.point_mass(motion, ex.vector(0.0, 0.0, 0.0), gravity)]


DELTA_EQUATIONS = Family(
    name="delta",
    n_motors=3,
    n_pose=3,
    n_geometry=6,
    legs=_legs,
    turning_length=lambda geometry: geometry[0],
    attitude=_attitude,
    columns=columns.of_chains("common", _masses),
)
"""The Delta of [CLA88]."""
