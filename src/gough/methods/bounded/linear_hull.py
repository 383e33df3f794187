"""The exact hull of a bounded-error problem: the smallest box around every consistent θ, at any number of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, HullStats
from gough.evidence import Evidence, Halves, Link, Reach
from gough.methods.bounded.box_answer import box_answer
from gough.methods.bounded.constraint_generation import Extremes, Vertex, Warm, extremes
from gough.methods.bounded.exact_bound import Multipliers, Prover, evidence
from gough.methods.bounded.gauss_seidel import GaussSeidel
from gough.methods.bounded.strips import bounds_of, misfit, misfits
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box

_ROOM = 2.0**-12
"""Part by which a bound is taken larger, so that the smaller one that follows from it is smaller for certain."""


_MOST = 2000
"""Rows that are used at most."""


_THIN = 2.0**-40
"""Part of a number that is taken for its rounding."""
_LOST = 1e-9
"""Part of a box's width by which prices of the wrong sign may move a side without being replaced."""
_REACHED = 1e-9
"""Part of its terms by which a row may be off its side at a vertex that reaches it."""
_FEW = 8
"""Unknowns up to which weights are corrected exactly where the box is open; of more, a bounded box is proven first."""
_LEFT = 1e-12
"""Part of a box's width that rounded weights may cost before they are corrected exactly all the same."""
_TRIED = 20
"""Rows that are tried for a contradiction by rounding."""


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
            HullStats(problem.n_rows, (), hull.rows, len(hull.extremes.pool), hull.evidence),
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
        self._radius = np.broadcast_to(bounds_of(problem, "LinearHull").radius, problem.y.shape)
        self._axes = np.vstack([np.eye(p), -np.eye(p)])
        find = extremes if warm is None else warm.extremes
        self.extremes: Extremes = find(problem, box, self._axes, tolerance)
        self.evidence = before
        self.notes = ("Stopped early: the box is valid, but not yet the smallest.",) if self.extremes.stopped else ()
        if self.extremes.contradiction is not None:
            self.box = self._contradicted(box)
        else:
            self.box = self._proven(box)
        self.rows = tuple(sorted({row for used in self.evidence if isinstance(used, Evidence) for row in used.rows}))

    def _proven(self, box: Box) -> Box:
        given = box
        if not box.is_bounded and len(box) > _FEW:
            reached = reach(self._problem, box)
            if reached is not None:
                box, self.evidence = reached[0], (*self.evidence, reached[1])
        is_reached = box is not given
        for is_last in (False, True):  # the second pass proves in the box of the first, where left-overs weigh less
            for direction, vertex in zip(self._axes, self.extremes.vertices, strict=True):
                if box.is_empty or not vertex.weights.any():
                    continue
                axis = int(np.flatnonzero(direction)[0])
                proposals = list(self._weights(direction, vertex, float(box.width[axis])))
                around = [box, given] if is_last and is_reached and self._is_lossy(box, direction, vertex) else [box]
                floors = (self._prover.floor(each, direction, *one) for each in around for one in proposals)
                value, used = max(floors, key=itemgetter(0))
                if value == -np.inf:
                    continue
                lower, upper = np.full(len(box), -np.inf), np.full(len(box), np.inf)
                if direction[axis] > 0:
                    lower[axis] = value
                else:
                    upper[axis] = -value
                self.evidence += (evidence((self._problem.unknowns.names[axis],), (float(direction[axis]),), used),)
                box = box & Box(lower, upper)
        return self._examined(box) if not box.is_empty and _is_thin(box) else box

    def _is_lossy(self, box: Box, direction: Array, vertex: Vertex) -> bool:
        """Whether the rounding of the weights costs a part of this side that is worth an exact correction."""
        width, size = abs(direction) @ box.width, abs(direction) @ np.maximum(abs(box.lower), abs(box.upper))
        left = abs(direction - vertex.weights @ self._problem.W[vertex.rows]) @ box.width
        return bool(width <= _THIN * size or left > _LEFT * width)

    def _weights(self, direction: Array, vertex: Vertex, width: float) -> Iterator[tuple[Integers, Array]]:
        """Rows and weights that prove the value of a vertex, the solver's first.

        In units of an unknown, or of a sum of some, that two rows leave no room, a price of either sign is next to
        nothing for the solver. One with the sign of a side where the vertex is not costs the width of its row. Then
        others are proposed: none for such rows, which leaves them to the box; and prices of the right signs on all rows
        that the vertex reaches.
        """
        yield vertex.rows, vertex.weights
        miss = self._miss(vertex.rows, vertex.theta)
        e = self._radius[vertex.rows]
        wrong = (vertex.weights * miss < 0) & (abs(miss) > e / 2)
        if not wrong.any() or 2 * float(abs(vertex.weights[wrong]) @ e[wrong]) <= _LOST * width < np.inf:
            return
        yield vertex.rows, np.where(wrong, 0.0, vertex.weights)
        rows = np.unique(self.extremes.pool)
        W, miss, e = self._problem.W[rows], self._miss(rows, vertex.theta), self._radius[rows]
        size = abs(self._problem.y[rows]) + abs(W) @ abs(vertex.theta)
        reached = (abs(abs(miss) - e) <= _REACHED * (size + e)) & (size > 0)
        sides = W[reached] * np.sign(miss[reached])[:, None]
        length = abs(sides).max(axis=1, initial=0.0)
        prices = _cone_weights((sides / length[:, None]).T, direction) / length
        yield rows[reached], prices * np.sign(miss[reached])

    def _miss(self, rows: Integers, theta: Array) -> Array:
        return np.asarray(self._problem.y[rows] - self._problem.W[rows] @ theta)

    def _examined(self, box: Box) -> Box:
        """The empty box where equations determine all unknowns, and others contradict them by as little as rounding.

        No linear program in floating point sees that: rational arithmetic does, of rows that miss what others say.
        """
        W, y = self._problem.W, self._problem.y
        e = np.broadcast_to(bounds_of(self._problem, "LinearHull").radius, y.shape)
        sharp = np.flatnonzero(e <= _THIN * abs(y))
        rows = sharp[:: max(1, len(sharp) // _MOST)]
        rows = np.union1d(rows, np.intersect1d(self.extremes.pool, sharp))
        for weights in misfits(W[rows], y[rows], _TRIED) if rows.size else ():
            for sign in (1.0, -1.0):  # what misses by rounding may miss on the other side
                value, used = self._prover.lower_bound(box, np.zeros(len(box)), rows, sign * weights)
                if value is not None and value > 0:
                    self.evidence += (evidence((), (), used),)
                    return Box.empty(len(box))
        return box

    def _contradicted(self, box: Box) -> Box:
        """The empty box if the contradiction is proven; else the box as it was."""
        vertex = self.extremes.contradiction
        assert vertex is not None
        pool, W, y = np.unique(self.extremes.pool), self._problem.W, self._problem.y
        proposals = [(vertex.rows, vertex.weights), (vertex.rows, -vertex.weights), (pool, misfit(W[pool], y[pool]))]
        for rows, weights in proposals:
            value, used = self._prover.lower_bound(box, np.zeros(len(box)), rows, weights)
            if value is not None and value > 0:
                self.evidence += (evidence((), (), used),)
                return Box.empty(len(box))
        self.notes += ("The bounds seem to contradict each other, but that could not be proven.",)
        return box


def _cone_weights(A: Array, wanted: Array) -> Array:
    """Weights x ≥ 0 with A x about `wanted`."""
    from scipy.optimize import nnls  # noqa: PLC0415 - start-up time

    if not (A.size and np.isfinite(A).all()):  # SciPy ends the process where there is no column
        return np.zeros(A.shape[1])
    try:
        return np.asarray(nnls(A, wanted)[0])
    except RuntimeError:  # no convergence
        return np.zeros(A.shape[1])


def _bounded(problem: LinearProblem, box: Box) -> tuple[Box, tuple[Link, ...]]:
    """The box, bounded as well as it can be, and the proof: none where it was bounded before, or by Gauss–Seidel."""
    if box.is_bounded:
        return box, ()
    reached = reach(problem, box)
    if reached is not None:
        return reached[0], (reached[1],)
    return GaussSeidel().contract(problem, box), ()


def _is_thin(box: Box) -> bool:
    """Whether every unknown is known to rounding."""
    return bool((box.width <= _THIN * np.maximum(abs(box.lower), abs(box.upper))).all())


def _shrunk(last: Box, box: Box) -> bool:
    """Whether some side has moved by more than a percent of the width."""
    if box.is_empty or not last.is_bounded:
        return not box.is_empty and not last.is_bounded and box.is_bounded
    return bool((box.width < 0.99 * last.width).any())


def reach(problem: LinearProblem, box: Box) -> tuple[Box, Reach] | None:
    """The box, its open unknowns bounded by |θ| ≤ b, and the proof; None where none was found.

    Constraint: |y − W θ| ≤ e + D |θ|. Kept: every consistent θ of the box. Does nothing where no rows isolate the open
    unknowns well enough against their own uncertainty. Idempotent: a box that is bounded stays as it is.

    Rows weighted by an approximate left inverse B of W give |θ| ≤ r + G |θ| with G = |1 − B W| + |B| D, and thus
    |θ| ≤ b wherever r + G b < b: see `gough.checker.Reach`. This is tested in rational arithmetic.
    """
    names = problem.unknowns.names
    open_axes = np.flatnonzero(~np.isfinite(box.width))
    # others take part if they can be isolated too: what is known of them may be wide
    for axes in (np.arange(len(names)), open_axes):
        for rows in _choices(problem, axes):
            bounds = _bounds(problem, box, open_axes, rows, axes)
            if bounds is None:
                continue
            b, weights = bounds
            lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
            lower[open_axes], upper[open_axes] = -b, b
            used = tuple(
                evidence((names[j],), (1.0,), Multipliers(tuple(rows.tolist()), tuple(one)))
                for j, one in zip(open_axes.tolist(), weights.tolist(), strict=True)
            )
            proof = Reach(tuple(names[j] for j in open_axes), tuple(b.tolist()), used)
            return box & Box(lower, upper), proof
    return None


def _choices(problem: LinearProblem, axes: Integers) -> Iterator[Integers]:
    """Few rows that span these axes, then more of them."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    n_rows, p = problem.n_rows, len(axes)
    some = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST)).astype(np.int64))
    W = problem.W[some][:, axes]
    size = abs(W).max(axis=0, initial=0.0)
    if n_rows < p or not size.all():
        return
    scaled = W / size
    length = abs(scaled).max(axis=1)
    order = qr((scaled / np.where(length > 0, length, 1.0)[:, None]).T, mode="r", pivoting=True)[1]
    for count in sorted({p, min(4 * p, len(some)), len(some)}):
        spread = some[order[:p]] if count == p else some[:: max(1, len(some) // count)]
        yield np.union1d(some[order[:p]], spread)


def _bounds(
    problem: LinearProblem, box: Box, open_axes: Integers, rows: Integers, axes: Integers
) -> tuple[Array, Array] | None:
    """Bounds b of the open unknowns and the weights that prove them; None where these do not."""
    noise, p = problem.noise, len(box)
    assert isinstance(noise, Bounded)
    W, y, e = problem.W[rows], problem.y[rows], np.broadcast_to(noise.radius, problem.y.shape)[rows]
    D = np.zeros((1, 1)) if noise.regressor is None else noise.regressor
    size = abs(W[:, axes]).max(axis=0)
    most = np.maximum(abs(box.lower), abs(box.upper))
    shut = np.setdiff1d(np.arange(p), open_axes)
    with np.errstate(all="ignore"):
        B = np.linalg.pinv(W[:, axes] / size) / size[:, None] if size.all() else np.full((len(axes), len(rows)), np.nan)
        weights = B[np.isin(axes, open_axes)]
        if not np.isfinite(weights).all():
            return None
        left = abs(np.eye(p)[open_axes] - weights @ W) + abs(weights) @ np.broadcast_to(D, problem.W.shape)[rows]
        r = abs(weights @ y) + abs(weights) @ (e + _THIN * abs(y)) + left[:, shut] @ most[shut]
        try:
            b = np.linalg.solve(np.eye(len(open_axes)) - left[:, open_axes], r)
        except np.linalg.LinAlgError:
            return None
        b = (1 + _ROOM) * (b + _ROOM * abs(b).max(initial=0.0) * (b <= 0)) + 1e-300
    if not (np.isfinite(b).all() and (b > 0).all()):
        return None
    most[open_axes] = b
    prover, around, units = Prover(problem), Box(-most, most), np.eye(p)[open_axes]
    for unit, bound, one in zip(units, b.tolist(), weights, strict=True):
        if not all(prover.floor(around, sign * unit, rows, sign * one)[0] > -bound for sign in (1.0, -1.0)):
            return None
    return b, weights
