"""Columns of regressors of the Delta family: torque per unit of a parameter, by the principle of virtual power.

A mass at a point r adds (∂ṙ/∂q̇)ᵀ (r̈ + g z) to the torques, whatever the parametrization of its motion.
"""

from collections.abc import Callable

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._legs import Motion

Columns = Callable[[Motion, Expression], list[Expression]]
"""The columns of a regressor, for a motion and the acceleration of gravity."""


def each(v: Expression) -> list[Expression]:
    """A column for each motor, that holds its entry of v."""
    n = v.numel()
    return [ex.vector(*(v[i] if i == j else 0.0 for i in range(n))) for j in range(n)]


def point_mass(motion: Motion, DC: Expression, gravity: Expression) -> Expression:
    """The column of a mass at DC from the platform's origin."""
    return motion.velocity_by_motors(DC).T @ (motion.acceleration(DC) + ex.vector(0.0, 0.0, gravity))


def arm_weight(motion: Motion) -> Expression:
    """-cos q, the column of an arm's first moment times g: the weight helps a motor that lowers the arm."""
    return -ex.vector(*(leg.cosine for leg in motion.legs))


def rods(motion: Motion) -> Expression:
    """The column of the mass of one rod, for two uniform rods in each leg, beside half-masses at their ends.

    A uniform rod has the kinetic energy m/6 (|v_A|² + v_A · v_B + |v_B|²) = m/4 (|v_A|² + |v_B|²) - m/12 |v_B - v_A|².
    Its halves as points at A and B carry the first part and the whole weight; for two rods in a leg the rest is
    -m/6 |d AB/dt|², whose torque is -(2/6) m (∂AB/∂q)ᵀ d²AB/dt². [PRV03i] and [NCPP, §IV.A] leave it out.
    """
    total = ex.vector(*(0.0 for _ in motion.legs))
    for i, leg in enumerate(motion.legs):
        own = ex.matrix(*(leg.dPB if j == i else ex.vector(0.0, 0.0, 0.0) for j in range(len(motion.legs))))
        by_motors = own - motion.velocity_by_motors(leg.DC)
        elbow = leg.dPB * motion.ddq[i] - leg.PB * motion.dq[i] ** 2
        total += by_motors.T @ (elbow - motion.acceleration(leg.DC))
    return -total / 3


def of_chains(simplest: str, masses: Callable[[Motion, Expression], list[Expression]]) -> dict[str, Columns]:
    """Three nested models after [NCPP, eqs. (20)-(23)]: all chains alike, each on its own, and with rods.

    Columns: inertia of motor and arm, the given masses of the platform, weight of the arm, dry and viscous friction.
    """

    def alike(motion: Motion, gravity: Expression) -> list[Expression]:
        return [motion.ddq, *masses(motion, gravity), arm_weight(motion), ex.sign(motion.dq), motion.dq]

    def per_chain(motion: Motion, gravity: Expression) -> list[Expression]:
        friction = [*each(ex.sign(motion.dq)), *each(motion.dq)]
        return [*each(motion.ddq), *masses(motion, gravity), *each(arm_weight(motion)), *friction]

    def with_rods(motion: Motion, gravity: Expression) -> list[Expression]:
        return [*per_chain(motion, gravity), rods(motion)]

    return {simplest: alike, "per chain": per_chain, "rods": with_rods}
