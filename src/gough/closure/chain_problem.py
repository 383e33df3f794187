"""The problem of one kinematic chain with interval data: what legs of a Gough platform and chains over a rod share."""

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.intervals import Interval
from gough.methods.nonlinear.lifted_program import Relaxation
from gough.region import Box
from gough.unknowns import Unknowns

Pairs = tuple[tuple[int, int], ...]


class Vector(NamedTuple):
    """The vector d along a chain in each pose and its derivatives, in floating point."""

    d: Array
    """(N, 3), m."""
    by_unknowns: Array
    """(N, 3, n)."""
    by_errors: Array
    """(N, 3, E)."""


class ChainProblem(ArrayValue, ABC):
    """|d(x, ε) + ρ| = l + offset + η in N poses with |ε| ≤ tolerance, |ρ| ≤ bend·|x|: which x of the prior fit?

    The unknowns are x, the last of which is the length l. Each pose has E errors ε that move d. Some are shared by all
    chains of the pose (position, orientation); the reading is an error of the chain's own. It either moves d, and is
    number `reading` of the errors, or it is the offset of the length, and |η| is at most its tolerance.

    Subclasses are frozen dataclasses.
    """

    prior: Box
    chain: int
    """Number of the chain, from 1."""
    products: Pairs
    """Pairs (i ≤ j) of unknowns whose products are columns of the relaxation."""
    tolerance: Array
    """Tolerances (N, E) of the errors that move d."""
    bend: Array | None
    """What linear errors leave out of d (N, n); None: nothing."""
    reading: int | None
    """Which of the errors is the chain's own; None: all are shared."""

    @property
    @abstractmethod
    def unknowns(self) -> Unknowns:
        """The unknowns with the prior."""

    @property
    @abstractmethod
    def reading_tolerance(self) -> Array:
        """Tolerances (N,) of the readings, in their unit."""

    @property
    @abstractmethod
    def offset(self) -> Array:
        """Readings (N,) that add to the length; zeros where they move d."""

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return len(self.tolerance)

    @property
    def n_rows(self) -> int:
        """Number of equations: poses, then conditions."""
        return self.n_poses

    @cached_property
    def shared(self) -> list[int]:
        """Which errors are shared by all chains of a pose."""
        return [e for e in range(self.tolerance.shape[1]) if e != self.reading]

    def within(self, prior: Box) -> Self:
        """The problem with another prior."""
        return replace(self, prior=prior)  # type: ignore[type-var]

    @abstractmethod
    def select(self, poses: Any) -> Self:
        """The problem with some poses only: a mask, a slice, or numbers."""

    @abstractmethod
    def widened(self, by: Any) -> Self:
        """The problem with readings uncertain by so much more, one number or one for each pose; rounded up."""

    @abstractmethod
    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Inequalities for every consistent x = center + h with |h| ≤ radius, linear in h and the products of h.

        Two rows for each equation, first all that bound the distance from above.
        """

    @abstractmethod
    def shared_relaxation(self, center: Array, radius: Array) -> Relaxation:
        """The same rows with the shared errors of their pose as further columns."""

    @abstractmethod
    def vector(self, x: Array, errors: Array) -> Vector:
        """The vector d with errors (N, E)."""

    @abstractmethod
    def distance(self, x: Interval, errors: Array) -> Interval:
        """|d| with errors (N, E), enclosed, without ρ."""

    def exact(self, x: Array) -> tuple[Fraction, ...]:
        """A point near x that satisfies all conditions between the unknowns exactly: x itself where there are none."""
        return tuple(Fraction(value) for value in x.tolist())

    def tangent(self, x: Array) -> Array | None:  # noqa: ARG002 - of the interface
        """An orthonormal basis (n, k) of the directions in which conditions stay satisfied; None: all directions."""
        return None

    def stated(self, errors: Array) -> tuple[Array, Array]:
        """Shared errors (N, S) within their tolerances, as a certificate states them, and as `vector` takes them."""
        most = self.tolerance[:, self.shared]
        within = np.clip(errors, -most, most)
        return within, within


def absorbed(A: Interval, b: Interval, sizes: Array) -> Relaxation:
    """Rows of doubles that intervals of rows imply: what A is uncertain by, times the largest |y|, goes into b."""
    middle = A.mid
    return Relaxation(middle, (b + iv.sum(abs(A - middle) * sizes)).upper)


def joined(*parts: Interval, axis: int = -1) -> Interval:
    """Parts one after the other along an axis."""
    return iv.rearrange(lambda *ends: np.concatenate(ends, axis=axis), *parts)
