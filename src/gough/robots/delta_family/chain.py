"""One chain of the Delta family, as expressions: a motor turns an arm, a pair of parallel rods carries the platform.

    P motor, B elbow, A end of the rods on the platform; l = |PB| arm, L = |AB| rods, as in [PRV03i, fig. 2].
    [NCPP] swaps the letters: its elbow is A, its platform end B, its arm L and its rods l.

The base frame has z up; q is the angle by which an arm hangs below the horizontal. The platform keeps its attitude: its
pose is x = (position, θ), or the position alone, and the end of a rod is A = position + a + R_z(θ) c with constants a
and c. In all equations a enters only through P - a, so that each chain is written as seen from its own a: `motor` is
P - a, and points come out shifted by a.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.delta_family.matrices import inverse_matrix


@dataclass(frozen=True)
class Chain:
    """The constants of one chain."""

    motor: Expression
    """P - a, the place of the motor as seen from the fixed part of the rods' attachment."""
    turned: Expression
    """c, the part of the attachment that turns with the platform, at θ = 0."""
    radial: Expression
    """(cos α, sin α, 0), the arm's direction at q = 0."""
    arm: Expression
    """l."""
    rod: Expression
    """L."""

    @property
    def axis(self) -> Expression:
        """The motor's axis u = (-sin α, cos α, 0): a positive turn lowers the arm [PRV03i, eq. (13)]."""
        return ex.vector(-self.radial[1], self.radial[0], 0.0)


@dataclass(frozen=True)
class Posture:
    """One chain at a pose."""

    chain: Chain
    cosine: Expression
    """cos q."""
    sine: Expression
    """sin q."""
    reach: Expression
    PB: Expression
    AB: Expression
    DC: Expression
    """c turned by θ, from the platform's origin D; the fixed a adds nothing to any velocity."""
    A: Expression
    """The end of the rods, shifted by -a."""

    @property
    def q(self) -> Expression:
        """The motor angle."""
        return ex.atan2(self.sine, self.cosine)

    def away(self, q: Expression) -> Expression:
        """The angle in (-π, π] from here to q: whole turns of a motor change nothing."""
        c, s = ex.cos(q), ex.sin(q)
        return ex.atan2(s * self.cosine - c * self.sine, c * self.cosine + s * self.sine)

    @property
    def dPB(self) -> Expression:
        """∂PB/∂q = u × PB."""
        return ex.cross(self.chain.axis, self.PB)

    @property
    def dDC(self) -> Expression:
        """∂DC/∂θ."""
        return ex.vector(-self.DC[1], self.DC[0], 0.0)


def posture(chain: Chain, x: Expression) -> Posture:
    """Inverse kinematics of one chain: where |AB| = L [PRV03i, eqs. (1)-(9)], with the elbow on the outer side.

    With r and -z the coordinates of A as seen from P in the plane of the arm, |AB|² = L² reads r cos q - z sin q = k
    with k = (|PA|² + l² - L²) / 2l. Its solutions are the directions that make the angle acos(k/ρ), ρ = |(r, z)|, with
    (r, -z); the smaller q is the one whose elbow lies outside. `reach` is the sine of that angle: zero where the arm
    and the rods, seen in the plane of the arm, are stretched or folded, and -√(cos² - 1) where the chain cannot reach.
    """
    DC = ex.vector(0.0, 0.0, 0.0)
    if x.numel() > 3:
        c, s = ex.cos(x[3]), ex.sin(x[3])
        DC = ex.vector(
            c * chain.turned[0] - s * chain.turned[1], s * chain.turned[0] + c * chain.turned[1], chain.turned[2]
        )
    A = x[:3] + DC
    PA = A - chain.motor
    r, z = ex.dot(PA, chain.radial), PA[2]
    k = (ex.dot(PA, PA) + chain.arm**2 - chain.rod**2) / (2 * chain.arm)
    squared = r**2 + z**2
    height = squared - k**2
    side = ex.sqrt(height)
    cosine, sine = (k * r - side * z) / squared, (-k * z - side * r) / squared
    PB = chain.arm * (cosine * chain.radial - sine * ex.vector(0.0, 0.0, 1.0))  # [PRV03i, eq. (6)]
    return Posture(
        chain,
        cosine,
        sine,
        reach=ex.sign(height) * ex.sqrt(ex.absolute(height) / squared),
        PB=PB,
        AB=PB - PA,  # [PRV03i, eq. (9)]
        DC=DC,
        A=A,
    )


def J_x(at: Sequence[Posture], n_pose: int) -> Expression:
    """Rows (AB, (DC × AB)_z): the closure equations AB · (Ḃ - Ȧ) = 0 by the platform's velocity.

    [PRV03i, eq. (12)], corrected: DC belongs to the chain's own end of the crossbar, C_1 for chains 1 and 4, C_2 for
    chains 2 and 3. As printed (C_1, C_1, C_2, C_2) the matrix is singular at home. [NCPP, eq. (3)] is the same for the
    Par4.
    """
    return ex.matrix(*(ex.vector(each.AB, ex.cross(each.DC, each.AB)[2])[:n_pose] for each in at)).T


def J_q(at: Sequence[Posture]) -> Expression:
    """The diagonal (PB × AB) · u of the closure equations by the motors' velocities [PRV03i, eq. (13)].

    [NCPP, eqs. (4), (12)], corrected: in its letters (PA × AB) · u; as printed the sign is the opposite.
    """
    return ex.vector(*(ex.dot(ex.cross(each.PB, each.AB), each.chain.axis) for each in at))


@dataclass(frozen=True)
class ChainMotion:
    """Chains and platform, with velocities and accelerations and their derivatives by the motors' velocities."""

    chains: tuple[Posture, ...]
    J: Expression
    """ẋ = J q̇ [PRV03i, eq. (11)]."""
    dq: Expression
    ddq: Expression
    dx: Expression
    ddx: Expression

    def velocity_by_motors(self, DC: Expression) -> Expression:
        """∂v/∂q̇ (3 × motors) of the point at DC from the platform's origin, which turns with θ."""
        if self.dx.numel() == 3:
            return self.J
        return self.J[:3, :] + ex.vector(-DC[1], DC[0], 0.0) @ self.J[3, :]

    def acceleration(self, DC: Expression) -> Expression:
        """The acceleration of that point."""
        if self.dx.numel() == 3:
            return self.ddx
        return self.ddx[:3] + ex.vector(-DC[1], DC[0], 0.0) * self.ddx[3] - DC * self.dx[3] ** 2


def _quadratic(at: Sequence[Posture], dq: Expression, dx: Expression) -> Expression:
    """J_x ẍ - J_q q̈, by differentiating AB · (Ḃ - Ȧ) = 0: it replaces the differencing of J in [PRV03i, eq. (19)].

    AB · (B̈ - Ä) + |Ḃ - Ȧ|² = 0 with B̈ = (u × PB) q̈ - PB q̇² and Ä = p̈ + (z × DC) θ̈ - DC θ̇².
    """
    terms = []
    for i, each in enumerate(at):
        turning = dx[3] if dx.numel() > 3 else 0.0
        slip = each.dPB * dq[i] - dx[:3] - each.dDC * turning
        terms.append(ex.dot(slip, slip) - ex.dot(each.AB, each.PB) * dq[i] ** 2 + ex.dot(each.AB, each.DC) * turning**2)
    return ex.vector(*terms)


def motion_of_pose(chains: Sequence[Chain], x: Expression, dx: Expression, ddx: Expression) -> ChainMotion:
    """The motion in which the platform is at x, moves by dx and accelerates by ddx: no system is solved for it."""
    at = tuple(posture(chain, x) for chain in chains)
    by_pose, by_motors = J_x(at, x.numel()), J_q(at)
    dq = (by_pose @ dx) / by_motors
    ddq = (by_pose @ ddx - _quadratic(at, dq, dx)) / by_motors
    return ChainMotion(at, _scaled(inverse_matrix(by_pose), by_motors), dq, ddq, dx, ddx)


def motion_of_motors(chains: Sequence[Chain], x: Expression, dq: Expression, ddq: Expression) -> ChainMotion:
    """The motion in which the platform is at x, and the motors move by dq and accelerate by ddq."""
    at = tuple(posture(chain, x) for chain in chains)
    by_motors = J_q(at)
    solve = inverse_matrix(J_x(at, x.numel()))
    dx = solve @ (by_motors * dq)
    ddx = solve @ (by_motors * ddq + _quadratic(at, dq, dx))
    return ChainMotion(at, _scaled(solve, by_motors), dq, ddq, dx, ddx)


def _scaled(A: Expression, factors: Expression) -> Expression:
    """The matrix with each column multiplied by its factor."""
    return ex.matrix(*(A[:, i] * factors[i] for i in range(factors.numel())))
