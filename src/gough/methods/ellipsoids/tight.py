"""The ellipsoid around what is known of every informative row, instead of around what its bound says."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.intervals import Interval, dot
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, EllipsoidStats, Estimate, HullStats, Status, guarded
from gough.evidence import EllipsoidRound, Evidence
from gough.methods.bounded.constraint_generation import extremes
from gough.methods.bounded.exact_bound import evidence
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.bounded.predictions import proven_ranges, proven_row_ranges
from gough.methods.bounded.strips import bounds_of, reachable
from gough.methods.ellipsoids.batch import (
    DETERMINANT,
    OF_BOX,
    Found,
    around_hull,
    refined_strips,
    stats_in_hull,
    unscaled,
)
from gough.methods.ellipsoids.bounding import BoundingEllipsoid
from gough.methods.ellipsoids.proof import in_units
from gough.problem import LinearProblem
from gough.region import Box, Ellipsoid, Intersection

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class TightEllipsoid:
    """A small ellipsoid around {θ in the prior : |y − W θ| ≤ e}, from the exact range of d·θ for each row that matters.

    Constraint: |y − W θ| ≤ e, or ≤ e + D |θ| where W is known to ± D. Kept: every consistent θ. Not idempotent. Flat
    along unknowns that the data determine exactly; where the set is so thin that nothing better can be proven, the
    smallest ellipsoid around its hull.

    A row's own bound is |d·θ − y| ≤ e; all rows together bound d·θ more tightly: linear programs give its exact range
    over the consistent set, for the rows that bound the hull and for the axes. An ellipsoid through those strips has a
    box within about three times the hull at any number of rows, where the recursion's grows with it.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> answer = gough.estimate(problem, TightEllipsoid())
        >>> answer.value.round(6), answer.claim.name, [2.25, 1.25] in answer.region
        (array([2., 1.]), 'PROOF', True)
    """

    criterion: float = DETERMINANT
    """Weight of the trace against the determinant, from 0 to 1, as in BoundingEllipsoid."""
    most: int = 500
    """Rows that are used."""

    claim: ClassVar[Claim] = Claim.PROOF

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self, problem: LinearProblem) -> Estimate:
        return self.within(problem, LinearHull().estimate(problem))

    @np.errstate(all="ignore")
    @one_blas_thread()
    def within(self, problem: LinearProblem, answer: Estimate) -> Estimate:
        """The ellipsoid from `answer`, which `LinearHull()` gave to the same problem."""
        if answer.status is not Status.OK:
            return replace(answer, method=written(self))
        assert isinstance(answer.stats, HullStats)
        hull = answer.region.hull()
        best = _of_strips(problem, hull, self) or around_hull(hull)
        notes = (*answer.notes, *filter(None, (best.note,)))
        stats = stats_in_hull(answer, best)
        return guarded(replace(answer, region=best.region, method=written(self), stats=stats, notes=notes))


class _Ranges(NamedTuple):
    """Proven ranges of d·θ, and the evidence for their two ends."""

    numbers: Integers
    """Number of the row of W that is d, or −1 − j for the axis of θ_j."""
    D: Array
    lower: Array
    upper: Array
    below: list[Evidence]
    above: list[Evidence]


def _of_strips(problem: LinearProblem, hull: Box, method: TightEllipsoid) -> Found | None:
    """The ellipsoid of the axes and the rows that matter, flat along what is known exactly; None if it is too thin."""
    free = np.flatnonzero(hull.lower < hull.upper)
    ranges = _ranges(problem, hull, free, method.most) if free.size else None
    if ranges is None or (ranges.lower > ranges.upper).any():
        return None
    flat = np.setdiff1d(np.arange(len(hull)), free)
    inside = Interval(ranges.lower, ranges.upper) - dot(ranges.D[:, flat], Interval(hull.lower[flat]))
    strips, refined = refined_strips(ranges.D[:, free], inside.lower, inside.upper, method.criterion)
    if refined.ellipsoid is None or refined.is_empty:
        return None
    region = unscaled(refined.ellipsoid.ellipsoid(), strips.columns)
    one = in_units(strips, refined.rounds[-1], hull.lower[free])
    center, shape, factor = hull.lower.copy(), np.zeros((len(hull), len(hull))), np.zeros((len(hull), len(free)))
    center[free], shape[np.ix_(free, free)], factor[free] = region.center, region.shape, one.factor
    used = list(one.rows)
    below, above = tuple(ranges.below[k] for k in used), tuple(ranges.above[k] for k in used)
    rows = tuple(ranges.numbers[used].tolist())
    return Found(
        Ellipsoid(center, shape),
        EllipsoidRound(rows, one.middle, one.half, one.weights, center, factor, below, above),
    )


def _ranges(problem: LinearProblem, hull: Box, free: Integers, most: int) -> _Ranges | None:
    """Ranges of the free axes and of d·θ for the rows that bound the hull; None if the set is too thin to see."""
    p, axes = len(hull), np.eye(len(hull))[free]
    near = reachable(problem, hull)
    pool, points = near, np.zeros((0, p))
    if near.size:
        programs = extremes(problem.select(near), hull, np.vstack([np.eye(p), -np.eye(p)]), _TOLERANCE)
        if programs.contradiction is not None:
            return None
        pool = near[np.unique(programs.pool)[:most]]
        points = np.array([vertex.theta for vertex in programs.vertices])
    W, n = problem.W[pool], len(pool)
    if n and bounds_of(problem, "TightEllipsoid").regressor is None:
        proofs = proven_row_ranges(problem, hull, pool, points, _TOLERANCE)
    else:
        proofs = proven_ranges(problem, hull, np.vstack([W, -W]), _TOLERANCE)
    values, used = np.array([value for value, _ in proofs]), [evidence((), (), one) for _, one in proofs]
    return _Ranges(
        np.concatenate([-1 - free, pool]),
        np.vstack([axes, W]),
        np.concatenate([hull.lower[free], values[:n]]),
        np.concatenate([hull.upper[free], -values[n:]]),
        [OF_BOX] * len(free) + used[:n],
        [OF_BOX] * len(free) + used[n:],
    )


@dataclass(frozen=True)
class HullAndEllipsoid:
    """The intersection of the exact hull and an ellipsoid around {θ in the prior : |y − W θ| ≤ e}.

    Constraint: that of both. Kept: every consistent θ, since each of the two keeps it. Not idempotent, as the ellipsoid
    is not. The hull bounds every unknown by itself, the ellipsoid bounds their combinations; `θ in region` tests
    both, and the region's own hull is the smaller of their boxes.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> region = gough.estimate(problem, HullAndEllipsoid()).region
        >>> region.hull().upper, [2.5, 1.0] in region, [2.5, 1.5] in region, [2.6, 1.0] in region.ellipsoid
        (array([2.5, 1.5]), True, False, False)
    """

    ellipsoid: TightEllipsoid | BoundingEllipsoid = field(default_factory=TightEllipsoid)

    claim: ClassVar[Claim] = Claim.PROOF

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        box, other = LinearHull().estimate(problem), self.ellipsoid.estimate(problem)
        if box.status is not Status.OK or other.status is not Status.OK:
            worse = box if box.status is not Status.OK else other
            return replace(worse, method=written(self))
        assert isinstance(other.region, Ellipsoid)
        assert isinstance(box.stats, HullStats)
        assert isinstance(other.stats, EllipsoidStats)
        evidence = box.stats.evidence
        if other.stats.evidence != evidence:
            evidence += other.stats.evidence
        stats = EllipsoidStats(problem.n_rows, box.stats.prior_limited, evidence, other.stats.rounds)
        answer = Estimate(
            Intersection(box.region.hull(), other.region),
            min(box.claim, other.claim),
            Status.OK,
            problem.unknowns,
            written(self),
            stats,
            tuple(dict.fromkeys((*box.notes, *other.notes))),
        )
        return guarded(answer)
