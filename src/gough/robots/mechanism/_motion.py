"""The motion of all coordinates by the implicit function theorem, from the differentiated closure equations.

With C = ∂closures/∂s, closed loops mean C ṡ = 0 and C s̈ = -Ċ ṡ. Of these equations only independent ones are used
(`rows`), so that the part of C that belongs to the unknown coordinates is square.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gough.kernels import expression as ex
from gough.kernels.elimination import Elimination
from gough.kernels.expression import Expression
from gough.robots.mechanism._closing import closures
from gough.robots.mechanism.structure import Structure


@dataclass(frozen=True)
class MechanismMotion:
    """All coordinates with velocities and accelerations, and their derivatives by the actuators' positions."""

    s: Expression
    ds: Expression
    dds: Expression
    by_actuators: Expression
    """∂s/∂q (coordinates, actuators)."""


@dataclass(frozen=True)
class Following:
    """The coordinates as functions of some of them: how they follow a motion of those."""

    at: Structure
    s: Expression
    known: tuple[int, ...]
    by_known: Expression
    """∂s/∂known (coordinates, known)."""
    system: Elimination | None
    """None where all coordinates are known."""
    equations: Expression

    def velocities(self, rates: Expression) -> Expression:
        """ṡ for velocities of the known coordinates."""
        return self.by_known @ rates

    def accelerations(self, ds: Expression, rates: Expression) -> Expression:
        """s̈ for velocities of all and accelerations of the known coordinates."""
        if self.system is None:
            return self.by_known @ rates
        v = ex.symbol("v", self.at.n)  # velocities that do not depend on s, until they are put in
        twice = ex.directional(ex.directional(self.equations, self.s, v), self.s, v)
        unknown = self.system.solve(-ex.replaced(twice, v, ds))
        return self.by_known @ rates + spread(unknown, self.at.others(self.known), self.at.n)


def following(at: Structure, s: Expression, known: tuple[int, ...], rows: Sequence[int]) -> Following:
    """The dependence of all coordinates on the known ones, at s, a symbol."""
    unknown = at.others(known)
    entries = {k: unit_matrix(len(known))[i, :] for i, k in enumerate(known)}
    equations, system = ex.vector(), None
    if unknown:
        every = closures(at, s)
        equations = ex.vector(*(every[row] for row in rows))
        C = ex.derivative(equations, s)
        system = Elimination(columns_of(C, unknown))
        followed = system.solve(-columns_of(C, known))
        entries |= {k: followed[i, :] for i, k in enumerate(unknown)}
    by_known = ex.matrix(*(entries[k].T for k in range(at.n))).T
    return Following(at, s, known, by_known, system, equations)


def columns_of(A: Expression, chosen: Sequence[int]) -> Expression:
    """Some columns of a matrix."""
    return ex.matrix(*(A[:, k] for k in chosen))


def rows_of(A: Expression, chosen: Sequence[int]) -> Expression:
    """Some rows of a matrix or entries of a vector."""
    return ex.matrix(*(A[k, :].T for k in chosen)).T


def spread(values: Expression, places: Sequence[int], n: int) -> Expression:
    """A vector of n entries that holds the values in their places, and zeros."""
    filled = dict(zip(places, ex.components(values), strict=True))
    return ex.vector(*(filled.get(k, 0.0) for k in range(n)))


def motion_of_actuators(
    at: Structure, s: Expression, dq: Expression, ddq: Expression, rows: Sequence[int]
) -> MechanismMotion:
    """The motion in which the actuators move by dq and accelerate by ddq."""
    follow = following(at, s, at.actuated, rows)
    ds = follow.velocities(dq)
    return MechanismMotion(s, ds, follow.accelerations(ds, ddq), follow.by_known)


def motion_of_pose(
    at: Structure, s: Expression, dx: Expression, ddx: Expression, rows: Sequence[int]
) -> MechanismMotion:
    """The motion in which the pose moves by dx and accelerates by ddx."""
    follow = following(at, s, at.pose, rows)
    ds = follow.velocities(dx)
    J = rows_of(follow.by_known, at.actuated)
    by_actuators = follow.by_known @ Elimination(J).solve(unit_matrix(len(at.actuated)))
    return MechanismMotion(s, ds, follow.accelerations(ds, ddx), by_actuators)


def unit_matrix(n: int) -> Expression:
    """The unit matrix."""
    return ex.matrix(*(ex.vector(*(float(i == j) for i in range(n))) for j in range(n)))
