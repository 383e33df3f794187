"""The equations of one robot of the Delta family, from its legs, its columns and what its platform can do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._columns import Columns
from gough.robots._legs import J_q, J_x, Leg, Posture, motion_of_motors, motion_of_pose, posture
from gough.robots._matrices import closeness, cofactors

DESCENT = 5
"""Steps of Newton's method that suffice for nearly all poses."""


@dataclass(frozen=True)
class Family:
    """What tells one robot from another, and the equations that follow from it."""

    name: str
    """In C, so a plain word."""
    n_motors: int
    n_pose: int
    n_geometry: int
    legs: Callable[[Expression], tuple[Leg, ...]]
    """The legs for the numbers of a geometry."""
    turning_length: Callable[[Expression], Expression]
    """The length that makes θ comparable with a displacement."""
    attitude: Callable[[tuple[Expression, ...], Expression], list[Expression]]
    """How firmly the pairs of rods hold the platform's attitude, for the normals of the legs (see `normals`) and x."""
    columns: Mapping[str, Columns] = field(hash=False)
    """For each variant."""

    def postures(self, x: Expression, geometry: Expression) -> tuple[Posture, ...]:
        """All legs at a pose."""
        return tuple(posture(leg, x) for leg in self.legs(geometry))

    def inverse(self, x: Expression, geometry: Expression) -> Expression:
        """The motor angles."""
        return ex.vector(*(leg.q for leg in self.postures(x, geometry)))

    def points(self, x: Expression, geometry: Expression) -> dict[str, Expression]:
        """Ends of the rods and elbows, a row each, as seen from the fixed part of each leg's attachment."""
        at = self.postures(x, geometry)
        return {"ends": ex.matrix(*(leg.A for leg in at)).T, "elbows": ex.matrix(*(leg.A + leg.AB for leg in at)).T}

    def margins(self, x: Expression, geometry: Expression) -> dict[str, Expression]:
        """How far each leg is from the edge of its reach, and the pose from singularities of position and attitude.

        The rows of J_x are divided by L, its column of θ by a length of the platform: a matrix without units.
        """
        at = self.postures(x, geometry)
        scale = ex.vector(1.0, 1.0, 1.0, 1 / self.turning_length(geometry))[: self.n_pose]
        J = J_x(at, self.n_pose)
        rows = (J[i, :].T * scale / leg.leg.rod for i, leg in enumerate(at))
        margins = ex.vector(closeness(ex.matrix(*rows).T), *self.attitude(normals(at), x))
        return {"reach": ex.vector(*(leg.reach for leg in at)), "margins": margins}

    def newton(self, x: Expression, q: Expression, geometry: Expression) -> dict[str, Expression]:
        """The step J(x) (q - inverse(x)) towards the pose of motor angles q, q - inverse(x), and det J_x."""
        at = self.postures(x, geometry)
        away = ex.vector(*(leg.away(q[i]) for i, leg in enumerate(at)))
        adjugate, determinant = cofactors(J_x(at, self.n_pose))
        step = adjugate @ (J_q(at) * away) / determinant  # [PRV03i, eq. (10)]
        return {"step": step, "away": away, "determinant": determinant}

    def descent(self, x: Expression, q: Expression, geometry: Expression) -> dict[str, Expression]:
        """Where several steps of `newton` lead, the last of them, and det J_x just before it."""
        for _ in range(DESCENT):
            found = self.newton(x, q, geometry)
            x += found["step"]
        return {"pose": x, "step": found["step"], "determinant": found["determinant"]}

    def jacobian(self, x: Expression, geometry: Expression) -> Expression:
        """J with ẋ = J q̇."""
        return motion_of_pose(self.legs(geometry), x, x, x).J

    def joint_motion(
        self, x: Expression, dx: Expression, ddx: Expression, geometry: Expression
    ) -> dict[str, Expression]:
        """The motors' motion for the platform's."""
        motion = motion_of_pose(self.legs(geometry), x, dx, ddx)
        return {"q": ex.vector(*(leg.q for leg in motion.legs)), "dq": motion.dq, "ddq": motion.ddq}

    def pose_motion(
        self, x: Expression, dq: Expression, ddq: Expression, geometry: Expression
    ) -> dict[str, Expression]:
        """The platform's velocity and acceleration for the motors'."""
        motion = motion_of_motors(self.legs(geometry), x, dq, ddq)
        return {"dx": motion.dx, "ddx": motion.ddx}


def normals(legs: tuple[Posture, ...]) -> tuple[Expression, ...]:
    """The vector m = u × AB / L of each leg: its two rods let the body they hold
    turn by ω only if ω · m = 0.

    The rods end at B ± w u and A ± w u. The difference of their closure equations is AB · (ω × u) = 0, since the arm
    does not turn u. All other equations assume that the platform keeps its attitude; that follows where these
    equations are independent, and only there.
    """
    return tuple(ex.cross(leg.leg.axis, leg.AB) / leg.leg.rod for leg in legs)


@cache
def kernels(family: Family) -> dict[str, Kernel]:
    """The kinematics, traced once for all robots of a family: the geometry is an input."""
    n, m = family.n_motors, family.n_pose
    inputs = {
        "inverse": {"x": m},
        "points": {"x": m},
        "margins": {"x": m},
        "newton": {"x": m, "q": n},
        "descent": {"x": m, "q": n},
        "jacobian": {"x": m},
        "joint_motion": {"x": m, "dx": m, "ddx": m},
        "pose_motion": {"x": m, "dq": n, "ddq": n},
    }
    return {
        name: trace(
            getattr(family, name), name=f"{family.name}_{name}", inputs={**given, "geometry": family.n_geometry}
        )
        for name, given in inputs.items()
    }


@cache
def regressors(family: Family, variant: str) -> dict[str, Kernel]:
    """The regressor of a variant, as a kernel of the platform's motion and as one of the motors' motion."""
    columns, legs = family.columns[variant], family.legs
    n, m = family.n_motors, family.n_pose
    shape = {"geometry": (family.n_geometry,), "gravity": ()}
    return {
        "pose": trace(
            lambda x, dx, ddx, geometry, g: ex.matrix(*columns(motion_of_pose(legs(geometry), x, dx, ddx), g)),
            name=f"{family.name}_regressor",
            inputs={"x": m, "dx": m, "ddx": m, **shape},
        ),
        "joint": trace(
            lambda x, dq, ddq, geometry, g: ex.matrix(*columns(motion_of_motors(legs(geometry), x, dq, ddq), g)),
            name=f"{family.name}_joint_regressor",
            inputs={"x": m, "dq": n, "ddq": n, **shape},
        ),
    }
