"""The problem of one kinematic chain with interval data: what legs of a Gough platform and chains over a rod share."""

from fractions import Fraction
from typing import Any, NamedTuple, Protocol, Self

from gough.core.arrays import Array
from gough.core.intervals import Interval
from gough.methods.nonlinear.lifted_program import Relaxation
from gough.region import Box
from gough.unknowns import Unknowns


class Vector(NamedTuple):
    """The vector d along a chain in each pose and its derivatives, in floating point."""

    d: Array
    """(N, 3), m."""
    by_unknowns: Array
    """(N, 3, n)."""
    by_errors: Array
    """(N, 3, E)."""


class ChainProblem(Protocol):
    """|d(x, ε)| = l + reading + η in N poses, with |ε| ≤ tolerance and |η| ≤ slack: which x of the prior fit?

    The unknowns are x, the last of which is the length l. Each pose has E errors ε that move d. Some are shared by all
    chains of the pose (position, orientation); the reading is an error of the chain's own. It either moves d, and is
    number `reading` of the errors, or it adds to the length, and `slack` is its tolerance.
    """

    @property
    def chain(self) -> int:
        """Number of the chain, from 1."""
        ...

    @property
    def prior(self) -> Box: ...

    @property
    def unknowns(self) -> Unknowns: ...

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Pairs of unknowns whose products are columns of the relaxation; (j, j) is a square."""
        ...

    @property
    def n_poses(self) -> int: ...

    @property
    def n_rows(self) -> int:
        """Equations: poses, then conditions."""
        ...

    @property
    def tolerance(self) -> Array:
        """Tolerances (N, E) of the errors that move d."""
        ...

    @property
    def reading(self) -> int | None:
        """Which of these errors is the chain's own; None: all are shared."""
        ...

    @property
    def reading_tolerance(self) -> Array:
        """Tolerances (N,) of the readings, in their unit."""
        ...

    @property
    def bend(self) -> Array | None:
        """What linear errors leave out of d, a vector ρ with |ρ| ≤ Σ bend_j |x_j| (N, n); None: nothing."""
        ...

    @property
    def offset(self) -> Array:
        """Readings (N,) that add to the length; zeros where they move d."""
        ...

    def select(self, poses: Any) -> Self:
        """The problem with some poses only."""
        ...

    def widened(self, by: Any) -> Self:
        """The problem with readings uncertain by so much more, one number or one for each pose."""
        ...

    def within(self, prior: Box) -> Self:
        """The problem with another prior."""
        ...

    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Inequalities for every consistent x = center + h with |h| ≤ radius, linear in h and the products of h.

        Two rows for each equation, first all that bound the distance from above.
        """
        ...

    def shared_relaxation(self, center: Array, radius: Array) -> Relaxation:
        """The same rows with the shared errors of their pose as further columns."""
        ...

    def vector(self, x: Array, errors: Array) -> Vector:
        """The vector d with errors (N, E)."""
        ...

    def distance(self, x: Interval, errors: Array) -> Interval:
        """|d| with errors (N, E), enclosed, without ρ."""
        ...

    def exact(self, x: Array) -> tuple[Fraction, ...]:
        """A point near x that satisfies all conditions between the unknowns exactly."""
        ...

    def tangent(self, x: Array) -> Array | None:
        """An orthonormal basis (n, k) of the directions in which conditions stay satisfied; None: all."""
        ...

    def stated(self, errors: Array) -> tuple[Array, Array]:
        """Shared errors (N, S) within their tolerances, as a certificate states them, and as `vector` takes them."""
        ...


def shared_errors(problem: ChainProblem) -> list[int]:
    """Which errors are shared by all chains of a pose."""
    return [e for e in range(problem.tolerance.shape[1]) if e != problem.reading]
