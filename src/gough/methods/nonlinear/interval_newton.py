"""Interval Newton: any contractor of linear problems becomes one of nonlinear problems."""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.intervals import Interval
from gough.estimates import Claim, Contractor
from gough.methods.bounded.linear_hull import LinearHull
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box
from gough.unknowns import Unknowns


class Linearization(NamedTuple):
    """f(x) in value + slope · (x − center) for every x of a box and all data within their intervals."""

    value: Interval
    """f at the center (N,)."""
    slope: Interval
    """Derivatives over the whole box (N, p)."""


class LinearizableProblem(Protocol):
    """Equations with interval data that can be enclosed by linear ones over a box."""

    @property
    def unknowns(self) -> Unknowns: ...

    @property
    def n_rows(self) -> int: ...

    def linearization(self, center: Array, box: Box) -> Linearization: ...


@dataclass(frozen=True)
class IntervalNewton:
    """The box that the interval linear system of a box allows: f(c) + J(box) (x − c) = 0 [DACP06, §4].

    Constraint: f(x) = 0 for some data in their intervals. Kept: every consistent x of the box. Does nothing where the
    derivatives over the box are too wide: for a Gough leg, beyond some millimetres. Not idempotent: use it in a
    Fixpoint.

    `inner` bounds the solutions of |f + J₀ h| ≤ rad f + rad J · |h|: LinearHull over chords of |h| (Oettli and Prager's
    inequalities as Beaumont relaxes them), or GaussSeidel, preconditioned. With `krawczyk` the uncertainty of J is
    multiplied by the box before, and what is left is linear with constant bounds [DACP06, eq. (12)].

    Examples:
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> lengths = np.linalg.norm(p, axis=1)
        >>> data = LegMeasurements(np.tile([1.0, 0, 0, 0], (8, 1)), p, lengths - 0.2, 1e-5, 0.0, 1e-5)
        >>> problem = LegProblem(data, Box([-2e-3] * 3 + [0] * 3 + [0.198], [2e-3] * 3 + [0] * 3 + [0.202]))
        >>> box = IntervalNewton().contract(problem, problem.prior)
        >>> [0, 0, 0, 0, 0, 0, 0.2] in box, bool((box.width < problem.prior.width).any())
        (True, True)
    """

    inner: Contractor[LinearProblem] = field(default_factory=LinearHull)
    krawczyk: bool = False

    @property
    def claim(self) -> Claim:
        return self.inner.claim

    @np.errstate(all="ignore")
    def contract(self, problem: LinearizableProblem, box: Box) -> Box:
        if box.is_empty or not box.is_bounded:
            return box
        center = box.center
        f, J = problem.linearization(center, box)
        step = box - center
        noise = Bounded(f.rad, J.rad)
        if self.krawczyk:
            farthest = np.maximum(abs(step.lower), abs(step.upper))
            noise = Bounded((Interval(f.rad) + iv.dot(J.rad, farthest)).upper)
        unknowns = Unknowns(problem.unknowns.names, problem.unknowns.units, prior=step)
        moved = self.inner.contract(LinearProblem(J.mid, -f.mid, unknowns, noise), step)
        return moved if moved.is_empty else (moved + center) & box
