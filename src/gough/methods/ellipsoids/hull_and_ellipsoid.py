"""The smallest box and a small ellipsoid at once: what is in both."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from gough.core.text import written
from gough.estimates import Claim, EllipsoidStats, Estimate, HullStats, Status, guarded
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.ellipsoids.bounding import BoundingEllipsoid
from gough.methods.ellipsoids.tight import TightEllipsoid
from gough.problem import LinearProblem
from gough.region import Ellipsoid, Intersection


@dataclass(frozen=True)
class HullAndEllipsoid:
    """The intersection of the exact hull and an ellipsoid around {θ in the prior : |y − W θ| ≤ e}.

    Constraint: that of both. Kept: every consistent θ, since each of the two keeps it. Not idempotent, as the ellipsoid
    is not. The hull bounds every unknown by itself, the ellipsoid knows how they hang together; `θ in region` asks
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
