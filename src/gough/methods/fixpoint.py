"""A contractor, repeated."""

from dataclasses import dataclass, field

import numpy as np

from gough.core.text import written
from gough.estimate import Claim, Contractor, Estimate, Stats, Status
from gough.methods.row_contractor import RowContractor
from gough.problem import LinearProblem
from gough.region import Box


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

    def estimate(self, problem: LinearProblem) -> Estimate:
        box, steps = problem.unknowns.bounds, 0
        moved = True
        while moved and steps < self.max_steps:
            last, box = box, self.of.contract(problem, box)
            steps += 1
            moved = not box.is_empty and _moved(last, box, self.rtol)
        return _answer(problem, box, self, Status.MAX_STEPS if moved else Status.OK)


def _moved(last: Box, box: Box, rtol: float) -> bool:
    """Has a side become finite, or moved by more than rtol of the last width?"""
    same = (box.lower == last.lower) & (box.upper == last.upper)
    with np.errstate(invalid="ignore"):
        change = np.maximum(box.lower - last.lower, last.upper - box.upper)
        little = np.isfinite(last.width) & (change <= rtol * last.width)
    return bool((~same & ~little).any())


def _answer(problem: LinearProblem, box: Box, method: Fixpoint, status: Status) -> Estimate:
    unknowns = problem.unknowns
    prior = unknowns.bounds
    notes: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    if box.is_empty:
        status = Status.INCONSISTENT
        notes = (
            "The bounds contradict each other: some error exceeds its bound, the prior is wrong, or the model is.",
        )
    else:
        touches = ((box.lower == prior.lower) & np.isfinite(box.lower)) | (
            (box.upper == prior.upper) & np.isfinite(box.upper)
        )
        limited = tuple(name for name, on in zip(unknowns.names, touches & ~unknowns.is_fixed, strict=True) if on)
        open_sides = [name for name, w in zip(unknowns.names, box.width, strict=True) if not np.isfinite(w)]
        if open_sides:
            status = Status.UNBOUNDED
            notes = (f"Without a finite bound: {', '.join(open_sides)}.",)
    if limited:
        notes += (f"On the prior's edge, so put in rather than found: {', '.join(limited)}.",)
    claim = Claim(method.of.claim)
    return Estimate(box, claim, status, unknowns, written(method), Stats(problem.n_rows, limited), notes)
