"""Ellipsoids around all parameters that satisfy |y − Wθ| ≤ e: recursive, in batch, proven."""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, Integers, array
from gough.core.errors import AssumptionError, InputError, require
from gough.core.floating import require_ieee
from gough.core.intervals import Interval
from gough.core.midrad import upward
from gough.core.products import matmul
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, EllipsoidStats, Estimate, HullStats, Status, guarded, limited_by_prior
from gough.evidence import EllipsoidRound
from gough.methods.bounded.gauss_seidel import GaussSeidel
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.bounded.strips import bounds_of
from gough.methods.ellipsoids.batch import (
    DETERMINANT,
    around_hull,
    of_sides,
    proved_ellipsoid,
    refine,
    stats_in_hull,
    unscaled,
)
from gough.methods.ellipsoids.proof import proved_round, rounds_in_units
from gough.methods.ellipsoids.strips import ExactStrips, centered, strips_of
from gough.problem import LinearProblem
from gough.region import Box, Ellipsoid
from gough.unknowns import Unknowns


class Form(Enum):
    """The matrix that the recursion updates."""

    STANDARD = "standard"
    """P itself [PRV03e, eq. (30)]: fewer operations, but P may lose its definiteness on hard data."""
    FACTORIZED = "factorized"
    """The square root of P⁻¹ [PRV03e, eq. (35)]: numerically stable."""

    def __repr__(self) -> str:
        return f"Form.{self.name}"


@dataclass(frozen=True)
class BoundingEllipsoid:
    """An ellipsoid around every θ with |y − Wθ| ≤ e in the prior [PRV03e, §III] [FH82].

    Constraint: the rows, and the prior as one strip per unknown; a W known to a radius widens its rows by what that
    radius can do within the prior. Kept: every θ that satisfies them all. A strip does nothing where the ellipsoid
    cannot shrink by it: p(1 − e²) ≥ g for the determinant. Not idempotent: further passes and rounds shrink further.

    First a recursion, `passes` times over the rows, as in the paper. Then `rounds` of batch optimization: the best
    multipliers for all strips at once, the resulting ellipsoid *proven* to hold the set, and all strips cut to their
    parts inside it, which the next round starts from. With rounds = 0 the answer is the recursion's own.

    The claim is PROOF after a round, and for the recursion alone if it did not cut (its multipliers are then proven);
    ENCLOSURE otherwise. If rows had to be left out it is VALUE: the region holds every θ that satisfies the others,
    among which there may be another outlier. INCONSISTENT is proven by multipliers; where the recursion sees
    a contradiction that rounding may have made, the answer is the ellipsoid around the exact hull.

    A `radius` says where to start and is no knowledge about θ: nothing is proven from it. If the rows by themselves
    prove that every consistent θ is within the radius, the answer is as good as with a prior; if they prove another
    box, that box is taken; if they leave some unknown open, the region holds the consistent θ within the radius, and
    the claim is VALUE.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"], prior=gough.Box([-9, -9], [9, 9]))
        >>> W, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 3.0]
        >>> answer = gough.estimate(gough.LinearProblem(W, y, unknowns, gough.Bounded(0.5)), BoundingEllipsoid())
        >>> answer.claim.name, answer.value.round(6), answer.region.hull().upper.round(3)
        ('PROOF', array([1., 2.]), array([1.707, 2.707]))
    """

    criterion: float = DETERMINANT
    """Weight w of the trace in (1 − w) log det(P)/p + w log tr(P): 0 the determinant, 1 the trace, mixed between.
    The trace counts each unknown in units of its prior, in later rounds of its present width."""
    form: Form = Form.FACTORIZED
    passes: int = 1
    cut: bool = True
    """Replace a strip by its part inside the ellipsoid before it is used."""
    rounds: int = 15
    """At most so many; ends when the widths shrink by less than `rtol`."""
    rtol: float = 1e-3
    radius: float | None = None
    """Where the prior is open: half-width of the box around the nominal values (or 0) where the recursion starts."""
    misses: int = 0
    """Rows that may miss the ellipsoid and be left out; one more, and the answer is INCONSISTENT."""

    def __post_init__(self) -> None:
        require(0 <= self.criterion <= 1, f"the criterion is a weight from 0 to 1, not {self.criterion}")
        require(self.passes >= 1, f"passes must be 1 or more, not {self.passes}")
        require(self.rounds >= 0, f"rounds must be 0 or more, not {self.rounds}")
        require(self.misses >= 0, f"misses must be 0 or more, not {self.misses}")
        require(self.rtol > 0, f"rtol must be positive, not {self.rtol}")
        require(isinstance(self.form, Form), "form must be Form.STANDARD or Form.FACTORIZED")

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self, problem: LinearProblem) -> Estimate:
        bounds_of(problem, "BoundingEllipsoid")
        box = bounded_prior(problem.unknowns, self.radius)
        answer = self._within(problem) if problem.unknowns.bounds.is_bounded else self._from(problem, box)
        return guarded(answer)

    def _from(self, problem: LinearProblem, ball: Box) -> Estimate:
        """The answer of a problem whose prior is open, from a start that is no part of it."""
        proven, note = _start(problem, ball)
        if proven.is_empty and not self.misses:
            return _refuted(self, problem)
        unknowns, is_proven = problem.unknowns, proven.is_bounded and not proven.is_empty
        answer = self._within(replace(problem, unknowns=replace(unknowns, prior=proven if is_proven else ball)))
        if answer.status is Status.INCONSISTENT:
            hull = LinearHull().estimate(problem)
            if hull.status is Status.INCONSISTENT:
                return _refuted(self, problem, hull, answer.notes)
            if not is_proven:
                raise AssumptionError(
                    f"no θ within the radius {self.radius} of the nominal values satisfies all rows, and the rows "
                    f"leave {', '.join(_open(unknowns, proven))} open, so that nothing is proven about the problem. "
                    "Give a greater radius, or Unknowns a bounded prior."
                )
        box, prior = answer.region.hull(), unknowns.bounds
        reached = (box.lower <= prior.lower) | (box.upper >= prior.upper)
        limited = tuple(n for n, on in zip(unknowns.names, reached & ~unknowns.is_fixed, strict=True) if on)
        others = [one for one in answer.notes if one not in limited_by_prior(answer.stats.prior_limited)]
        stats = EllipsoidStats(problem.n_rows, limited)
        claim, notes = answer.claim if is_proven else Claim.VALUE, (*others, *limited_by_prior(limited), *note)
        return replace(answer, unknowns=unknowns, method=written(self), stats=stats, claim=claim, notes=notes)

    def _within(self, problem: LinearProblem) -> Estimate:
        box = problem.unknowns.bounds
        mid, half, free = centered(problem, bounds_of(problem, "BoundingEllipsoid"), box)
        strips = strips_of(problem.W, mid, half, free, box.project(free.tolist()))
        answer = _Answer(problem, self, box, free)
        if strips.contradiction >= 0:
            return answer.inconsistent(f"Row {strips.contradiction} is zero, but its bounds exclude zero.")
        if not free.size:
            return answer.of(Ellipsoid(np.empty(0), np.empty((0, 0))), Claim.PROOF)
        return _estimated(self, strips, answer)


_UNPROVED = "Claims ENCLOSURE only: rounding could not be bounded, because the ellipsoid is too flat."


def _estimated(method: BoundingEllipsoid, strips: ExactStrips, answer: "_Answer") -> Estimate:
    run = recursion(strips, method)
    if len(run.missed) <= method.misses:
        strips = strips.with_bounds(strips.mid, run.half)
    rounds = method.rounds if method.cut else min(method.rounds, 1)
    if run.exceeded:
        rounds = max(rounds, 1)
    refined = refine(strips, run.weights, method.criterion, rounds, method.rtol)
    if run.exceeded and not refined.is_empty and method.form is Form.STANDARD:
        # the matrix may have lost its definiteness, so that its verdict is not reliable
        return _estimated(replace(method, form=Form.FACTORIZED), strips, answer)
    if refined.is_empty:
        return answer.inconsistent(run.verdict(method.misses))
    if run.exceeded:
        return answer.doubtful(run.verdict(method.misses))
    proved, evidence = refined.ellipsoid, refined.rounds
    if proved is None and not rounds and not method.cut:
        proved = proved_ellipsoid(strips, run.weights)
        evidence = () if proved is None else (proved_round(strips, run.weights, proved),)
    if proved is None:
        region = run.region()
        notes = (_UNPROVED,) if rounds or not method.cut else ()
    else:
        region, notes = proved.ellipsoid(), ()
    claim = Claim.ENCLOSURE if proved is None else Claim.PROOF
    in_units = () if run.missed else rounds_in_units(answer.box, strips, evidence)
    return answer.of(unscaled(region, strips.columns), claim, run.missed, notes, in_units)


@dataclass(frozen=True, eq=False)
class Run:
    """Result of the recursion: its ellipsoid, the strips' multipliers, and the rows that missed."""

    center: Array
    matrix: Array
    factorized: bool
    weights: Array
    half: Array
    """Half-widths of the strips; ∞ for those that missed."""
    missed: tuple[int, ...]
    """Rows of the problem that missed the ellipsoid."""
    exceeded: bool

    def region(self) -> Ellipsoid:
        """The recursion's ellipsoid, as far as rounding left one."""
        if self.factorized:
            try:
                root = np.linalg.inv(self.matrix)
            except np.linalg.LinAlgError as error:
                raise InputError("the ellipsoid is too flat for floating point; use TightEllipsoid()") from error
            return Ellipsoid(self.center, root @ root.T)
        if not np.linalg.eigvalsh(self.matrix)[0] > 0:
            raise InputError("the standard form has lost its definiteness to rounding; use Form.FACTORIZED")
        return Ellipsoid(self.center, self.matrix)

    def verdict(self, allowed: int) -> str:
        if not self.exceeded:
            return (
                "The strips contradict each other: some error exceeds its bound, the prior is wrong, or the model is."
            )
        rows = ", ".join(str(k) for k in self.missed[:10])
        return f"More than {allowed} rows miss the ellipsoid of the rows before them: {rows}."


def recursion(strips: ExactStrips, method: BoundingEllipsoid, known: tuple[int, ...] = ()) -> Run:
    """All strips one by one, from the smallest ellipsoid around the box on: semi-axes √p times its halves.

    `known` are rows that missed before, and whose half is ∞. If a row misses that was used in an earlier pass, all
    begins anew without it.
    """
    from gough.methods.ellipsoids import recursion as kernels  # noqa: PLC0415 - numba

    p, factorized = strips.n_axes, method.form is Form.FACTORIZED
    origin, side = strips.mid[:p], strips.half[:p]
    matrix = np.diag(1 / (np.sqrt(p) * side)) if factorized else np.diag(p * side * side)
    center, scale = np.zeros(p), np.ones(1)
    weights, half = of_sides(strips), strips.half.copy()
    criterion = method.criterion if p > 1 else DETERMINANT  # one unknown: all criteria are one
    missed = list(known)
    kernel = kernels.factorized if factorized else kernels.standard
    for rows in strips.blocks()[1:] * method.passes:
        D = np.ascontiguousarray(strips.take(rows))
        kinds = np.zeros(len(D), dtype=np.int64)
        mid = strips.mid[rows] - D @ origin
        kernel(
            matrix, center, D, mid, half[rows], criterion, method.cut, method.misses - len(missed),
            scale, weights, rows.start, kinds,
        )  # fmt: skip
        off = rows.start + np.flatnonzero(kinds == kernels.MISSED)
        half[off] = np.inf
        missed += (off - p).tolist()
        if len(missed) > method.misses:
            break
    if len(missed) <= method.misses and (weights[p + np.array(missed, dtype=np.int64)] > 0).any():
        return recursion(strips.with_bounds(strips.mid, half), method, tuple(missed))
    return Run(origin + center, matrix, factorized, weights, half, tuple(missed), len(missed) > method.misses)


@dataclass(frozen=True, eq=False)
class _Answer:
    """Estimates from results for the free unknowns: fixed ones and notes are added."""

    problem: LinearProblem
    method: BoundingEllipsoid
    box: Box
    free: Integers
    notes: tuple[str, ...] = field(default=())

    def of(
        self,
        region: Ellipsoid,
        claim: Claim,
        missed: tuple[int, ...] = (),
        notes: tuple[str, ...] = (),
        rounds: tuple[EllipsoidRound, ...] = (),
    ) -> Estimate:
        unknowns, grid = self.problem.unknowns, np.ix_(self.free, self.free)
        center, shape = self.box.lower.copy(), np.zeros((len(unknowns), len(unknowns)))
        center[self.free], shape[grid] = region.center, region.shape
        whole = Ellipsoid(center, shape)
        hull = whole.hull()
        beyond = (hull.lower <= self.box.lower) | (hull.upper >= self.box.upper)
        limited = tuple(unknowns.names[j] for j in self.free if beyond[j])
        if missed:
            claim = Claim.VALUE
            rows = ", ".join(str(k) for k in missed[:10]) + (", …" if len(missed) > 10 else "")
            what = f"{len(missed)} rows missed the ellipsoid and were left out: {rows}. The region holds every θ that"
            notes += (f"{what} satisfies the others; if an outlier is among those, it may not hold the truth.",)
        elif self.method.misses:
            notes += ("No row missed; still, the region holds the truth only if no error exceeds its bound.",)
        notes += limited_by_prior(limited)
        stats = EllipsoidStats(self.problem.n_rows, limited, rounds=rounds)
        return Estimate(whole, claim, Status.OK, unknowns, written(self.method), stats, notes)

    def inconsistent(self, note: str) -> Estimate:
        """Nothing is consistent, as multipliers have proven; linear programs name the culprits, if they can."""
        hull = LinearHull().estimate(self.problem)
        if hull.status is Status.INCONSISTENT:
            return _refuted(self.method, self.problem, hull, (note,))
        unknowns, stats = self.problem.unknowns, EllipsoidStats(self.problem.n_rows)
        empty = Box.empty(len(unknowns))
        return Estimate(empty, Claim.PROOF, Status.INCONSISTENT, unknowns, written(self.method), stats, (note,))

    def doubtful(self, note: str) -> Estimate:
        """The recursion saw a contradiction, and nothing proves it: linear programs decide."""
        hull = LinearHull().estimate(self.problem)
        if hull.status is Status.INCONSISTENT:
            return _refuted(self.method, self.problem, hull, (note,))
        around = around_hull(hull.region.hull())
        doubt = f"{note} That may come from rounding and is not proven: the ellipsoid is the one around the exact hull."
        stats, notes = stats_in_hull(hull, around), (doubt, *hull.notes)
        method = written(self.method)
        return replace(hull, region=around.region, status=Status.OK, method=method, stats=stats, notes=notes)


def _refuted(
    method: BoundingEllipsoid, problem: LinearProblem, hull: Estimate | None = None, notes: tuple[str, ...] = ()
) -> Estimate:
    """The verdict of linear programs that nothing is consistent, with the culprits and their proof."""
    hull = LinearHull().estimate(problem) if hull is None else hull
    assert isinstance(hull.stats, HullStats)
    stats = EllipsoidStats(problem.n_rows, evidence=hull.stats.evidence)
    return replace(hull, method=written(method), stats=stats, notes=(*notes, *hull.notes))


def _start(problem: LinearProblem, ball: Box) -> tuple[Box, tuple[str, ...]]:
    """A box that is proven to hold every consistent θ: the ball if it does, else what the rows prove; and a note.

    A box with a side at infinity says that the rows bound nothing better.
    """
    prior = problem.unknowns.bounds
    if GaussSeidel().contract(problem, prior) <= ball:  # quick, and often enough; the empty box is in every other
        return ball, ()
    hull = LinearHull().contract(problem, prior)
    if hull.is_empty:
        return hull, ("All rows together contradict each other: only θ within the radius were looked at.",)
    if hull <= ball:
        return ball, ()
    if not hull.is_bounded:
        names = ", ".join(_open(problem.unknowns, hull))
        within = "The region holds the consistent θ within the radius around the nominal values, and others may exist"
        return hull, (f"{within}: the rows leave {names} open. Give a bounded prior for a guaranteed set.",)
    return hull, ("The rows allow θ beyond the radius: the ellipsoid starts from the box that they prove instead.",)


def _open(unknowns: Unknowns, box: Box) -> list[str]:
    return [name for name, width in zip(unknowns.names, box.width, strict=True) if not np.isfinite(width)]


def bounded_prior(unknowns: Unknowns, radius: float | None) -> Box:
    """The prior as a finite box, open sides put at `radius` from the nominal value; AssumptionError without one."""
    prior = unknowns.bounds
    low, high = np.isfinite(prior.lower), np.isfinite(prior.upper)
    if radius is None:
        names = [n for n, shut in zip(unknowns.names, low & high, strict=True) if not shut]
        if names:
            raise AssumptionError(
                f"an ellipsoid must start somewhere, but the prior is open for {', '.join(names)}. "
                "Give Unknowns a bounded prior, or the method a radius around the nominal values."
            )
        return prior
    require(0 < radius < np.inf, f"the radius must be positive and finite, not {radius}")
    ball = Box.around(np.zeros(len(unknowns)) if unknowns.nominal is None else unknowns.nominal, radius)
    lower, upper = np.where(low, prior.lower, ball.lower), np.where(high, prior.upper, ball.upper)
    upside_down = [n for n, bad in zip(unknowns.names, lower > upper, strict=True) if bad]
    require(
        not upside_down, f"the prior of {', '.join(upside_down)} lies beyond the radius {radius}; give a greater one"
    )
    return Box(lower, upper)


@np.errstate(all="ignore")
def predict(region: Ellipsoid, D: Any) -> Box:
    """Bounds dᵀθ̂ ± √(dᵀPd) of each row d of D over the ellipsoid [PRV03e, eq. (37)], rounded outward.

    Examples:
        >>> torque = predict(Ellipsoid([1.0, 2.0], [[4.0, 0.0], [0.0, 9.0]]), [[1.0, 0.0], [1.0, 1.0]])
        >>> torque.lower.round(3), torque.upper.round(3)
        (array([-1.   , -0.606]), array([3.   , 6.606]))
    """
    rows = array(D, "D", ndim=2, copy=False)
    require_ieee("the range of a prediction")
    require(bool(np.isfinite(rows).all()), "D must be finite")
    require(
        rows.shape[1] == len(region.center),
        f"D has {rows.shape[1]} columns, but the ellipsoid has {len(region.center)} axes",
    )
    square = iv.sum(Interval(rows) * matmul(rows, region.shape).interval())
    reach = iv.sqrt(Interval(np.zeros(len(rows)), np.maximum(square.upper, 0.0))).upper
    middle = matmul(rows, region.center)
    return Box(-upward(upward(reach + middle.rad) - middle.mid), upward(upward(reach + middle.rad) + middle.mid))
