"""A contractor, repeated."""

from dataclasses import dataclass, field

import numpy as np

from gough.estimates import Claim, Contractor, Estimate, HullStats, Status
from gough.methods.bounded.box_answer import box_answer
from gough.methods.bounded.row_contractor import RowContractor
from gough.problem import LinearProblem
from gough.region import Box

_CONTRADICTION = "The bounds contradict each other: some error exceeds its bound, or the prior or the model is wrong."


@dataclass(frozen=True)
class Fixpoint:
    """Repeat a contractor, from the prior on, until no side of the box moves by more than `rtol` of its width.

    The box is valid after every step, so stopping early costs width and never truth. OK does not mean that a
    consistent θ exists; INCONSISTENT means that none does.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"], prior=Box([0, 0], [10, 10]))
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, 0.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> answer = gough.estimate(problem, Fixpoint(RowContractor()))
        >>> answer.claim.name, answer.region.upper
        ('PROOF', array([1.5, 3. ]))
    """

    of: Contractor[LinearProblem] = field(default_factory=RowContractor)
    rtol: float = 1e-3
    max_steps: int = 50

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        box, steps = problem.unknowns.bounds, 0
        moved = True
        while moved and steps < self.max_steps:
            last, box = box, self.of.contract(problem, box)
            steps += 1
            moved = not box.is_empty and _moved(last, box, self.rtol)
        return box_answer(
            self,
            Claim(self.of.claim),
            problem.unknowns,
            box,
            HullStats(problem.n_rows),
            contradiction=_CONTRADICTION,
            status=Status.MAX_STEPS if moved else Status.OK,
        )


def _moved(last: Box, box: Box, rtol: float) -> bool:
    """Has a side become finite, or moved by more than rtol of the last width?"""
    same = (box.lower == last.lower) & (box.upper == last.upper)
    with np.errstate(invalid="ignore"):
        change = np.maximum(box.lower - last.lower, last.upper - box.upper)
        little = np.isfinite(last.width) & (change <= rtol * last.width)
    return bool((~same & ~little).any())
