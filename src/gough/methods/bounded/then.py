"""Two contractors, one after the other."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from gough.estimates import Claim, Contractor
from gough.problem import LinearProblem, NonlinearProblem
from gough.region import Box

P = TypeVar("P", LinearProblem, NonlinearProblem)


@dataclass(frozen=True)
class Then(Generic[P]):
    """The first contractor, then the second on the box that the first one left.

    Constraint: that of both, for one problem. Kept: what both keep, so the claim is the lesser of the two. Does
    nothing where neither does anything. Not idempotent in general, even if both are: use it in a Fixpoint.

    Examples:
        >>> import gough
        >>> from gough.methods import GaussSeidel, RowContractor
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [1.0, 0.0], unknowns, gough.Bounded(0.5))
        >>> both = Then(GaussSeidel(), RowContractor())
        >>> both.claim.name, both.contract(problem, problem.unknowns.bounds).width.round(9)
        ('PROOF', array([1., 1.]))
    """

    first: Contractor[P]
    second: Contractor[P]

    @property
    def claim(self) -> Claim:
        return min(self.first.claim, self.second.claim)

    def contract(self, problem: P, box: Box) -> Box:
        return self.second.contract(problem, self.first.contract(problem, box))
