"""The exact hull of a bounded-error problem: the smallest box around every consistent θ, at any number of rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.core.floating import require_ieee
from gough.core.intervals import Interval, dot
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, HullStats
from gough.evidence import Evidence, Halves, Link
from gough.methods.bounded.box_answer import box_answer
from gough.methods.bounded.constraint_generation import Extremes, Warm, extremes
from gough.methods.bounded.exact_bound import Prover, evidence, rounded_down, rounded_up
from gough.methods.bounded.gauss_seidel import GaussSeidel
from gough.methods.bounded.misfit import misfit
from gough.methods.bounded.reach import reach
from gough.methods.bounded.strips import bounds_of, reachable
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True)
class LinearHull:
    """The hull of {θ in the box : |y − W θ| ≤ e}: 2p linear programs, their bounds made rigorous by exact arithmetic.

    Constraint: |y − W θ| ≤ e row by row, or |y − W θ| ≤ e + D |θ| where W is known to ± D [OP64]. Kept: every
    consistent θ of the box. Does nothing in directions that no row bounds. Idempotent up to `tolerance`.

    With an uncertain W, |θ_j| is linear where the sign of θ_j is known. Elsewhere its chord over the box stands for it
    and the hull is repeated while it shrinks; then the box is split at zero, if at most `splits` signs are open, and
    the union of the orthants' hulls is the smallest box. Beyond that it is valid, and nearly the smallest.

    Only a few hundred rows decide the hull. They are found by constraint generation: solve with some rows, look for
    rows that the vertices violate, add those, repeat; any subset of the rows gives a valid box. The multipliers of
    the active rows then prove each side in rational arithmetic, twice, so that the second proof uses the box of the
    first [NS04]. `stats.evidence` holds them; `gough.checker.certificate_of` makes a certificate of it.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> hull = gough.estimate(problem, LinearHull())
        >>> hull.region.lower, hull.region.upper, hull.claim.name
        (array([1.5, 0.5]), array([2.5, 1.5]), 'PROOF')
    """

    tolerance: float = 1e-9
    """Part of the hull's width by which a row may cut further without being looked at."""

    splits: int = 5
    """Unknowns of undetermined sign for which the box is split, where W is uncertain."""

    claim: ClassVar[Claim] = Claim.PROOF

    @np.errstate(all="ignore")
    def contract(self, problem: LinearProblem, box: Box) -> Box:
        return box if box.is_empty else self._hull(problem, box)[1]

    def _hull(self, problem: LinearProblem, box: Box) -> tuple["Hull", Box]:
        """A hull with its evidence, and the box that is left in the end."""
        if bounds_of(problem, "LinearHull").regressor is None:
            hull = Hull(problem, box, self.tolerance)
            if not (hull.box.is_empty or hull.box.is_bounded):
                hull = self._from_a_verified_box(problem, hull)
            return hull, hull.box
        start, known = _bounded(problem, box)
        # of a contradiction linear programs tell more than who found it
        hull, last = Hull(problem, box if start.is_empty else start, self.tolerance, known), box
        while _shrunk(last, hull.box):
            last, hull = hull.box, Hull(problem, hull.box, self.tolerance, hull.evidence)
        if not hull.box.is_empty:
            self._split(problem, hull)
        if start.is_empty and not hull.box.is_empty:
            hull.box, hull.evidence = start, ()
        elif start is not box and not (known or start.is_empty):
            hull.evidence = ()  # it begins in the box of another method, which a certificate does not know
        return hull, hull.box

    def _from_a_verified_box(self, problem: LinearProblem, hull: "Hull") -> "Hull":
        """The hull again, where weights on a degenerate vertex left an open side that a left inverse of W can close."""
        start, known = _bounded(problem, hull.box)
        if not start.is_bounded:
            return hull
        again = Hull(problem, start, self.tolerance, hull.evidence + known)
        if not known:
            again.evidence = ()  # as above
        return again

    def _split(self, problem: LinearProblem, hull: "Hull") -> None:
        """The union of the hulls of all orthants, where few signs are open: the smallest box."""
        open_signs = np.flatnonzero((hull.box.lower < 0) & (hull.box.upper > 0)).tolist()
        if not 0 < len(open_signs) <= self.splits:
            return
        union, links = self._halves(problem, hull.box, open_signs)
        hull.box, hull.evidence = union & hull.box, hull.evidence + links

    def _halves(self, problem: LinearProblem, box: Box, axes: list[int]) -> tuple[Box, tuple[Link, ...]]:
        if not axes:
            hull = Hull(problem, box, self.tolerance)
            return hull.box, hull.evidence
        axis, *others = axes
        lower, upper = box.lower.copy(), box.upper.copy()
        lower[axis] = upper[axis] = 0.0
        below, proof_below = self._halves(problem, Box(box.lower, upper), others)
        above, proof_above = self._halves(problem, Box(lower, box.upper), others)
        return below | above, (Halves(problem.unknowns.names[axis], 0.0, proof_below, proof_above),)

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        hull, box = self._hull(problem, problem.unknowns.bounds)
        culprits = ", ".join(map(str, hull.rows))
        return box_answer(
            self,
            self.claim,
            problem.unknowns,
            box,
            HullStats(problem.n_rows, (), hull.rows, len(hull.found.pool), hull.evidence),
            notes=hull.notes,
            contradiction=f"No θ satisfies all bounds: rows {culprits} contradict each other or the prior.",
        )


class Hull:
    """One computation of a hull: extremes, then proofs."""

    box: Box
    evidence: tuple[Link, ...]
    notes: tuple[str, ...]
    rows: tuple[int, ...]

    @one_blas_thread()
    def __init__(
        self,
        problem: LinearProblem,
        box: Box,
        tolerance: float,
        before: tuple[Link, ...] = (),
        warm: Warm | None = None,
    ) -> None:
        p = len(problem.unknowns)
        self._problem, self._prover = problem, Prover(problem)
        self._axes = np.vstack([np.eye(p), -np.eye(p)])
        self.found: Extremes = (warm or Warm()).extremes(problem, box, self._axes, tolerance)
        self.evidence = before
        self.notes = ("Stopped early: the box is valid, but not yet the smallest.",) if self.found.stopped else ()
        if self.found.contradiction is not None:
            self.box = self._contradicted(box)
        else:
            self.box = self._proven(box)
        self.rows = tuple(sorted({row for used in self.evidence if isinstance(used, Evidence) for row in used.rows}))

    def _proven(self, box: Box) -> Box:
        for _ in range(2):  # the second pass proves in the box of the first, where left-overs weigh less
            for direction, vertex in zip(self._axes, self.found.vertices, strict=True):
                if box.is_empty or not vertex.weights.any():
                    continue
                value, used = self._prover.lower_bound(box, direction, vertex.rows, vertex.weights)
                axis = int(np.flatnonzero(direction)[0])
                cut = Box.unbounded(len(box))
                lower, upper = cut.lower.copy(), cut.upper.copy()
                if direction[axis] > 0:
                    lower[axis] = rounded_down(value)
                else:
                    upper[axis] = rounded_up(None if value is None else -value)
                if value is not None:
                    self.evidence += (evidence((self._problem.unknowns.names[axis],), (float(direction[axis]),), used),)
                box = box & Box(lower, upper)
        return box

    def _contradicted(self, box: Box) -> Box:
        """The empty box if the contradiction is proven; else the box as it was."""
        vertex = self.found.contradiction
        assert vertex is not None
        pool, W, y = np.unique(self.found.pool), self._problem.W, self._problem.y
        proposals = [(vertex.rows, vertex.weights), (vertex.rows, -vertex.weights), (pool, misfit(W[pool], y[pool]))]
        for rows, weights in proposals:
            value, used = self._prover.lower_bound(box, np.zeros(len(box)), rows, weights)
            if value is not None and value > 0:
                self.evidence += (evidence((), (), used),)
                return Box.empty(len(box))
        self.notes += ("The bounds seem to contradict each other, but that could not be proven.",)
        return box


def _bounded(problem: LinearProblem, box: Box) -> tuple[Box, tuple[Link, ...]]:
    """The box, bounded as well as it can be, and the proof: none where it was bounded before, or by Gauss–Seidel."""
    if box.is_bounded:
        return box, ()
    found = reach(problem, box)
    if found is not None:
        return found[0], (found[1],)
    return GaussSeidel().contract(problem, box), ()


def _shrunk(last: Box, box: Box) -> bool:
    """Has some side moved by more than a percent of the width?"""
    if box.is_empty or not last.is_bounded:
        return not box.is_empty and not last.is_bounded and box.is_bounded
    return bool((box.width < 0.99 * last.width).any())


def _range_over(box: Box, D: Array) -> Box:
    """What d·θ can be over a box, for each row d."""
    values = dot(D, Interval(box.lower, box.upper))
    return Box(values.lower, values.upper)


@np.errstate(all="ignore")
@one_blas_thread()
def prediction_bounds(problem: LinearProblem, directions: Array, *, tolerance: float = 1e-9) -> Box:
    """Exact bounds of d·θ over all consistent θ, for each row d of `directions`: what a torque can be.

    The bounds are rigorous (PROOF), and thousands of them share one linear program. AssumptionError where the
    processor does not compute by IEEE 754.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> box = prediction_bounds(problem, [[1.0, 1.0]])
        >>> box.lower, box.upper
        (array([2.5]), array([3.5]))
    """
    require_ieee("the range of a prediction")
    D = array(directions, "directions", ndim=2)
    require(bool(np.isfinite(D).all()), "directions must be finite")
    fits = D.shape[1] == len(problem.unknowns)
    require(fits, f"directions need a column per unknown, {len(problem.unknowns)}, but their shape is {D.shape}")
    hull = LinearHull(tolerance).contract(problem, problem.unknowns.bounds)
    if hull.is_empty:
        return Box.empty(len(D))
    rows = reachable(problem, hull)
    if rows.size == 0:
        return _range_over(hull, D)
    both, problem = np.vstack([D, -D]), problem.select(rows)
    found = extremes(problem, hull, both, tolerance)
    if found.contradiction is not None:  # a set so thin that floating point misses it: the box is all that is known
        return _range_over(hull, D)
    prover = Prover(problem)
    values = [prover.floor(hull, d, v.rows, v.weights)[0] for d, v in zip(both, found.vertices, strict=True)]
    lower, upper = np.array(values[: len(D)]), -np.array(values[len(D) :])
    # bounds that cross contradict each other, so that no θ is consistent
    return Box.empty(len(D)) if (lower > upper).any() else Box(lower, upper)
