"""A contractor, repeated."""

from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

import numpy as np

from gough.core import intervals as iv
from gough.core.intervals import Interval
from gough.estimates import Claim, Contractor, Estimate, HullStats, Status
from gough.methods.bounded.box_answer import box_answer
from gough.methods.bounded.strips import bounds_of
from gough.problem import LinearProblem, NonlinearProblem
from gough.region import Box

_CONTRADICTION = "The bounds contradict each other: some error exceeds its bound, or the prior or the model is wrong."


P = TypeVar("P", LinearProblem, NonlinearProblem)


@dataclass(frozen=True)
class RowContractor:
    """Every row solved for every unknown: θ_j ∈ (y_k ± e_k − Σ_{i≠j} W_ki θ_i) / W_kj, the box put in for the others.

    Constraint: |y − W θ| ≤ e with W exact or known to a radius. Kept: every θ of the box that satisfies all rows.
    Does nothing where two unknowns of each row are unbounded, and little where rows involve many unknowns (forward
    and backward propagation on one linear row [BGGP99]). Not idempotent: use it in a Fixpoint.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"], prior=Box([0, 0], [10, 10]))
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, 0.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> box = RowContractor().contract(problem, unknowns.bounds)
        >>> box.lower, box.upper
        (array([0.5, 0. ]), array([1.5, 3.5]))
    """

    claim: ClassVar[Claim] = Claim.PROOF

    @np.errstate(all="ignore")
    def contract(self, problem: LinearProblem, box: Box) -> Box:
        bounds_of(problem, "RowContractor")
        for rows in problem.blocks():
            if box.is_empty:
                break
            box = box & _contracted(problem, rows, box)
        return box


def interval_rows(problem: LinearProblem, rows: slice) -> tuple[Interval, Interval]:
    """[W] and [y] in some rows of a problem with error bounds."""
    noise = bounds_of(problem, "interval_rows")
    y = Interval.centered(problem.y[rows], np.broadcast_to(noise.radius, problem.y.shape)[rows])
    W, D = problem.W[rows], noise.regressor
    return (Interval(W) if D is None else Interval.centered(W, D if D.ndim == 0 else D[rows])), y


def _contracted(problem: LinearProblem, rows: slice, box: Box) -> Box:
    """The box that these rows leave, each row and each unknown by itself."""
    theta = Interval(box.lower, box.upper)
    W, y = interval_rows(problem, rows)
    terms = [W[:, j] * theta[j] for j in range(len(box))]
    lower, upper = box.lower.copy(), box.upper.copy()
    for j, rest in enumerate(_sums_of_others(terms)):
        allowed = iv.mul_rev(W[:, j], y - rest, theta[j])
        if np.any(iv.is_empty(allowed)):
            return Box.empty(len(box))
        lower[j], upper[j] = np.max(allowed.lower), np.min(allowed.upper)
        if lower[j] > upper[j]:
            return Box.empty(len(box))
    return Box(lower, upper)


def _sums_of_others(terms: list[Interval]) -> list[Interval]:
    """Σ_{i≠j} terms[i] for each j, by sums from both ends: subtracting a term from the sum of all would widen."""
    zero = Interval(np.zeros(terms[0].shape))
    before, after = [zero], [zero]
    for left, right in zip(terms[:-1], terms[:0:-1], strict=True):
        before.append(before[-1] + left)
        after.append(after[-1] + right)
    return [b + a for b, a in zip(before, reversed(after), strict=True)]


@dataclass(frozen=True)
class Fixpoint:
    """Repeat a contractor, from the prior on, until no side of the box moves by more than `rtol` of its width.

    The box is valid after every step, so that stopping early costs width only. OK does not mean that a
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
    """Whether a side has become finite, or moved by more than rtol of the last width."""
    same = (box.lower == last.lower) & (box.upper == last.upper)
    with np.errstate(invalid="ignore"):
        change = np.maximum(box.lower - last.lower, last.upper - box.upper)
        little = np.isfinite(last.width) & (change <= rtol * last.width)
    return bool((~same & ~little).any())


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
