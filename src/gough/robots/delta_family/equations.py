"""The equations of one robot of the Delta family, from its layout, its platform and the columns of its regressor.

    geometry = (l, L, h, R, cos α_1, sin α_1, …), in the letters of [PRV03i]: l the arm, L the rods, h the length that
    turns with the platform (zero for a Delta) and R the distance along each arm from its rods' attachment at home to
    the motor. What is left of a geometry, such as the half length d of the lateral bars of an H4, stands in A
    [PRV03i, eqs. (3), (4)] and in P [PRV03i, eqs. (7), (8)] alike, and cancels from A - P, hence from every equation.

Columns of regressors are torques per unit of a parameter, by the principle of virtual power: a mass at a point r adds
(∂ṙ/∂q̇)ᵀ (r̈ + g z) to the torques, whatever the parametrization of its motion.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.delta_family.chain import (
    Chain,
    ChainMotion,
    J_q,
    J_x,
    Posture,
    motion_of_motors,
    motion_of_pose,
    posture,
)
from gough.robots.delta_family.matrices import closeness, cofactors

NEWTON_STEPS = 5
"""Steps of Newton's method that suffice for nearly all poses."""

RegressorColumns = Callable[[ChainMotion, Expression], list[Expression]]
"""The columns of a regressor, for a motion and the acceleration of gravity."""


@dataclass(frozen=True)
class Family:
    """The properties that distinguish one robot of the family from another, and the equations that follow from them."""

    name: str
    """In C, so a plain word."""
    n_pose: int
    turned: tuple[tuple[float, float], ...]
    """For each chain, the part of its rods' attachment that turns with the platform, (x, y) at θ = 0 in units of h."""
    attitude: Callable[[tuple[Expression, ...], Expression], list[Expression]]
    """Measures of how firmly the pairs of rods hold the platform's attitude, from the `normals` of the chains and x."""
    platform: Callable[[Expression], list[Expression | float]]
    """The coordinates of the platform's joints at a pose, in the order of the joints of the full mechanism."""
    columns: Mapping[str, RegressorColumns] = field(hash=False)
    """For each variant."""

    @property
    def n_motors(self) -> int:
        """The number of chains."""
        return len(self.turned)

    @property
    def n_geometry(self) -> int:
        """The number of values that describe the geometry."""
        return 4 + 2 * self.n_motors

    def chains(self, geometry: Expression) -> tuple[Chain, ...]:
        """The chains, for the numbers of a geometry."""
        arm, rod, h, base = (geometry[k] for k in range(4))
        chains = []
        for i, ((x, y), (dx, dy)) in enumerate(zip(self.turned, around_middle(self.turned), strict=True)):
            radial = ex.vector(geometry[4 + 2 * i], geometry[5 + 2 * i], 0.0)
            motor = ex.vector(dx * h, dy * h, 0.0) + base * radial
            chains.append(Chain(motor, ex.vector(x * h, y * h, 0.0), radial, arm, rod))
        return tuple(chains)

    def postures(self, x: Expression, geometry: Expression) -> tuple[Posture, ...]:
        """All chains at a pose."""
        return tuple(posture(chain, x) for chain in self.chains(geometry))

    def inverse(self, x: Expression, geometry: Expression) -> Expression:
        """The motor angles."""
        return ex.vector(*(each.q for each in self.postures(x, geometry)))

    def all_coordinates(self, x: Expression, geometry: Expression) -> Expression:
        """The coordinates of all joints of the full mechanism: of its platform, its motors, first rods, second rods.

        The two rods of a chain stay parallel. Both swing about an axis parallel to the motor's, then tilt about one
        across it.
        """
        at = self.postures(x, geometry)
        hooks: list[Expression] = []
        for each in at:
            along = -each.AB  # from the elbow to the platform
            slope = ex.atan2(-along[2], ex.dot(along, each.chain.radial))
            tilt = ex.asin(ex.dot(along, each.chain.axis) / each.chain.rod)
            hooks += [slope - each.q, tilt]
        return ex.vector(*self.platform(x), *(each.q for each in at), *hooks, *hooks)

    def coordinate_motion(
        self, x: Expression, dx: Expression, ddx: Expression, geometry: Expression
    ) -> dict[str, Expression]:
        """All coordinates `s` with two time derivatives and with `by_pose` = ∂s/∂x.

        Derivatives are those of the closed form itself, by automatic differentiation.
        """
        s = self.all_coordinates(x, geometry)
        ds = ex.directional(s, x, dx)
        dds = ex.directional(ds, x, dx) + ex.directional(ds, dx, ddx)
        return {"s": s, "ds": ds, "dds": dds, "by_pose": ex.derivative(s, x)}

    def margins(self, x: Expression, geometry: Expression) -> dict[str, Expression]:
        """Distances of the chains from the edge of their reach, and of the pose from singularities.

        The rows of J_x are divided by L, its column of θ by h: a matrix without units.
        """
        at = self.postures(x, geometry)
        ones = (1.0, 1.0, 1.0)
        scale = ex.vector(*ones, 1 / geometry[2]) if self.n_pose > 3 else ex.vector(*ones)
        J = J_x(at, self.n_pose)
        rows = (J[i, :].T * scale / each.chain.rod for i, each in enumerate(at))
        margins = ex.vector(closeness(ex.matrix(*rows).T), *self.attitude(normals(at), x))
        return {"reach": ex.vector(*(each.reach for each in at)), "margins": margins}

    def newton(self, x: Expression, q: Expression, geometry: Expression) -> dict[str, Expression]:
        """The step J(x) (q - inverse(x)) towards the pose of motor angles q, q - inverse(x), and det J_x."""
        at = self.postures(x, geometry)
        away = ex.vector(*(each.away(q[i]) for i, each in enumerate(at)))
        adjugate, determinant = cofactors(J_x(at, self.n_pose))
        step = adjugate @ (J_q(at) * away) / determinant  # [PRV03i, eq. (10)]
        return {"step": step, "away": away, "determinant": determinant}

    def descent(self, x: Expression, q: Expression, geometry: Expression) -> dict[str, Expression]:
        """The pose after several steps of `newton`, the last step, and det J_x just before it."""
        newton = kernel(self, "newton").function  # its trace is inserted, which takes less time than tracing again
        for _ in range(NEWTON_STEPS):
            step, _, determinant = newton.call([x, q, geometry])
            x += step
        return {"pose": x, "step": step, "determinant": determinant}

    def jacobian(self, x: Expression, geometry: Expression) -> Expression:
        """J with ẋ = J q̇."""
        return motion_of_pose(self.chains(geometry), x, x, x).J

    def joint_motion(
        self, x: Expression, dx: Expression, ddx: Expression, geometry: Expression
    ) -> dict[str, Expression]:
        """The motors' motion for the platform's."""
        motion = motion_of_pose(self.chains(geometry), x, dx, ddx)
        return {"q": ex.vector(*(each.q for each in motion.chains)), "dq": motion.dq, "ddq": motion.ddq}

    def pose_motion(
        self, x: Expression, dq: Expression, ddq: Expression, geometry: Expression
    ) -> dict[str, Expression]:
        """The platform's velocity and acceleration for the motors'."""
        motion = motion_of_motors(self.chains(geometry), x, dq, ddq)
        return {"dx": motion.dx, "ddx": motion.ddx}


def around_middle(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """The points as seen from their middle.

    The motors are placed so around the middle of the turned parts of the attachments: at home all chains are alike.

    Examples:
        >>> around_middle(((0.0, 1.0), (0.0, 0.0)))
        ((0.0, 0.5), (0.0, -0.5))
    """
    x, y = (sum(column) / len(points) for column in zip(*points, strict=True))
    return tuple((point[0] - x, point[1] - y) for point in points)


def normals(at: tuple[Posture, ...]) -> tuple[Expression, ...]:
    """The vector m = u × AB / L of each chain: its two rods let the body they hold turn by ω only if ω · m = 0.

    The rods end at B ± w u and A ± w u. The difference of their closure equations is AB · (ω × u) = 0, since the arm
    does not turn u. All other equations assume that the platform keeps its attitude; that follows where these
    equations are independent, and only there.
    """
    return tuple(ex.cross(each.chain.axis, each.AB) / each.chain.rod for each in at)


@cache
def kernel(family: Family, name: str) -> Kernel:
    """One of the kinematic equations, traced once for all robots of a family: the geometry is an input."""
    n, m = family.n_motors, family.n_pose
    inputs = {
        "inverse": {"x": m},
        "margins": {"x": m},
        "newton": {"x": m, "q": n},
        "descent": {"x": m, "q": n},
        "jacobian": {"x": m},
        "all_coordinates": {"x": m},
        "coordinate_motion": {"x": m, "dx": m, "ddx": m},
        "joint_motion": {"x": m, "dx": m, "ddx": m},
        "pose_motion": {"x": m, "dq": n, "ddq": n},
    }
    shape = {**inputs[name], "geometry": family.n_geometry}
    return trace(getattr(family, name), name=f"{family.name}_{name}", inputs=shape)


@cache
def regressor_of_pose(family: Family, variant: str) -> Kernel:
    """The regressor of a variant as a kernel of the platform's motion."""
    columns, chains, m = family.columns[variant], family.chains, family.n_pose
    return trace(
        lambda x, dx, ddx, geometry, g: ex.matrix(*columns(motion_of_pose(chains(geometry), x, dx, ddx), g)),
        name=f"{family.name}_regressor",
        inputs={"x": m, "dx": m, "ddx": m, "geometry": family.n_geometry, "gravity": ()},
    )


@cache
def regressor_of_motors(family: Family, variant: str) -> Kernel:
    """The regressor of a variant as a kernel of the pose and the motors' motion."""
    columns, chains, n = family.columns[variant], family.chains, family.n_motors
    return trace(
        lambda x, dq, ddq, geometry, g: ex.matrix(*columns(motion_of_motors(chains(geometry), x, dq, ddq), g)),
        name=f"{family.name}_joint_regressor",
        inputs={"x": family.n_pose, "dq": n, "ddq": n, "geometry": family.n_geometry, "gravity": ()},
    )


def per_motor(v: Expression) -> list[Expression]:
    """A column for each motor, that holds its entry of v."""
    n = v.numel()
    return [ex.vector(*(v[i] if i == j else 0.0 for i in range(n))) for j in range(n)]


def point_mass(motion: ChainMotion, DC: Expression, gravity: Expression) -> Expression:
    """The column of a mass at DC from the platform's origin."""
    return motion.velocity_by_motors(DC).T @ (motion.acceleration(DC) + ex.vector(0.0, 0.0, gravity))


def arm_weight(motion: ChainMotion) -> Expression:
    """-cos q, the column of an arm's first moment times g: the weight helps a motor that lowers the arm."""
    return -ex.vector(*(chain.cosine for chain in motion.chains))


def rods(motion: ChainMotion) -> Expression:
    """The column of the mass of one rod, for two uniform rods in each chain, beside half-masses at their ends.

    A uniform rod has the kinetic energy m/6 (|v_A|² + v_A · v_B + |v_B|²) = m/4 (|v_A|² + |v_B|²) - m/12 |v_B - v_A|².
    Its halves as points at A and B carry the first part and the whole weight; for two rods in a chain the rest is
    -m/6 |d AB/dt|², whose torque is -(2/6) m (∂AB/∂q)ᵀ d²AB/dt². [PRV03i] and [NCPP, §IV.A] leave it out.
    """
    total = ex.vector(*(0.0 for _ in motion.chains))
    for i, chain in enumerate(motion.chains):
        own = ex.matrix(*(chain.dPB if j == i else ex.vector(0.0, 0.0, 0.0) for j in range(len(motion.chains))))
        by_motors = own - motion.velocity_by_motors(chain.DC)
        elbow = chain.dPB * motion.ddq[i] - chain.PB * motion.dq[i] ** 2
        total += by_motors.T @ (elbow - motion.acceleration(chain.DC))
    return -total / 3


def of_chains(
    simplest: str, masses: Callable[[ChainMotion, Expression], list[Expression]]
) -> dict[str, RegressorColumns]:
    """Three nested models after [NCPP, eqs. (20)-(23)]: all chains alike, each on its own, and with rods.

    Columns: inertia of motor and arm, the given masses of the platform, weight of the arm, dry and viscous friction.
    """

    def alike(motion: ChainMotion, gravity: Expression) -> list[Expression]:
        return [motion.ddq, *masses(motion, gravity), arm_weight(motion), ex.sign(motion.dq), motion.dq]

    def per_chain(motion: ChainMotion, gravity: Expression) -> list[Expression]:
        friction = [*per_motor(ex.sign(motion.dq)), *per_motor(motion.dq)]
        return [*per_motor(motion.ddq), *masses(motion, gravity), *per_motor(arm_weight(motion)), *friction]

    def with_rods(motion: ChainMotion, gravity: Expression) -> list[Expression]:
        return [*per_chain(motion, gravity), rods(motion)]

    return {simplest: alike, "per chain": per_chain, "rods": with_rods}
