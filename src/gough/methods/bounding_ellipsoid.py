"""Ellipsoids around all parameters that satisfy |y − Wθ| ≤ e: recursive, in batch, proved."""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, array
from gough.core.errors import AssumptionError, InputError, require
from gough.core.intervals import Interval
from gough.core.midrad import upward
from gough.core.products import matmul
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimate import Claim, Estimate, Stats, Status
from gough.methods.ellipsoid_proof import ProvedEllipsoid, prove
from gough.methods.ellipsoid_strips import Integers, Strips, centered, middle_and_half, strips_of
from gough.methods.ellipsoid_weights import View, optimize
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box, Ellipsoid
from gough.unknowns import Unknowns

DETERMINANT = 0.0
"""Criterion of smallest volume."""
TRACE = 1.0
"""Criterion of smallest sum of squared semi-axes, each unknown in units of its prior, later of its present width."""


class Form(Enum):
    """How the recursion keeps its matrix."""

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
    multipliers for all strips at once, the resulting ellipsoid *proved* to hold the set, and all strips cut to their
    parts inside it, which the next round starts from. With rounds = 0 the answer is the recursion's own.

    The claim is PROOF after a round, and for the recursion alone if it did not cut (its multipliers are then proved);
    ENCLOSURE otherwise. If rows had to be left out it is VALUE: the region holds every θ that satisfies the others,
    but no one knows that an outlier is not among those. INCONSISTENT claims PROOF where multipliers prove it.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"], prior=gough.Box([-9, -9], [9, 9]))
        >>> W, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 3.0]
        >>> answer = gough.estimate(gough.LinearProblem(W, y, unknowns, gough.Bounded(0.5)), BoundingEllipsoid())
        >>> answer.claim.name, answer.value.round(6), answer.region.hull().upper.round(3)
        ('PROOF', array([1., 2.]), array([1.707, 2.707]))
    """

    criterion: float = DETERMINANT
    """Weight w of the trace in (1 − w) log det(P)/p + w log tr(P): DETERMINANT, TRACE, or a number between, mixed."""
    form: Form = Form.FACTORIZED
    passes: int = 1
    cut: bool = True
    """Replace a strip by its part inside the ellipsoid before it is used."""
    rounds: int = 15
    """At most so many; ends when the widths shrink by less than `rtol`."""
    rtol: float = 1e-3
    radius: float | None = None
    """Where the prior is open: how far θ may be from the nominal value (from 0, where none is stated)."""
    misses: int = 0
    """Rows that may miss the ellipsoid and be left out; one more, and the answer is INCONSISTENT."""

    def __post_init__(self) -> None:
        require(0 <= self.criterion <= 1, f"the criterion is a weight from 0 to 1, not {self.criterion}")
        require(self.passes >= 1, f"passes must be 1 or more, not {self.passes}")
        require(self.rounds >= 0, f"rounds must be 0 or more, not {self.rounds}")
        require(self.misses >= 0, f"misses must be 0 or more, not {self.misses}")
        require(self.rtol > 0, f"rtol must be positive, not {self.rtol}")
        require(isinstance(self.form, Form), "form must be Form.STANDARD or Form.FACTORIZED")

    @one_blas_thread()
    def estimate(self, problem: LinearProblem) -> Estimate:
        if not isinstance(problem.noise, Bounded):
            raise AssumptionError(
                "BoundingEllipsoid needs error bounds, but this problem states a covariance. "
                "State Bounded noise, or use GaussMarkov."
            )
        box = bounded_prior(problem.unknowns, self.radius)
        mid, half, free = centered(problem, problem.noise, box)
        strips = strips_of(problem.W, mid, half, free, box.project(free.tolist()))
        answer = _Answer(problem, self, box, free)
        if strips.contradiction >= 0:
            return answer.inconsistent(f"Row {strips.contradiction} is zero, but its bounds exclude zero.", proved=True)
        if not free.size:
            return answer.of(Ellipsoid(np.empty(0), np.empty((0, 0))), Claim.PROOF)
        return _estimated(self, strips, answer)


_UNPROVED = "Claims ENCLOSURE only: rounding could not be bounded, because the ellipsoid is too flat."


def _estimated(method: BoundingEllipsoid, strips: Strips, answer: "_Answer") -> Estimate:
    run = recursion(strips, method)
    if len(run.missed) <= method.misses:
        strips = strips.with_bounds(strips.mid, run.half)
    rounds = method.rounds if method.cut else min(method.rounds, 1)
    if run.exceeded:
        rounds = max(rounds, 1)
    refined = refine(strips, run.weights, method.criterion, rounds, method.rtol)
    if run.exceeded and not refined.is_empty and method.form is Form.STANDARD:
        # the verdict of a matrix that may have lost its definiteness is worth nothing
        return _estimated(replace(method, form=Form.FACTORIZED), strips, answer)
    if refined.is_empty or run.exceeded:
        return answer.inconsistent(run.verdict(method.misses), proved=refined.is_empty)
    proved = refined.ellipsoid
    if proved is None and not rounds and not method.cut:
        proved = _proved(strips, run.weights)
    if proved is None:
        region = run.region()
        notes = (_UNPROVED,) if rounds or not method.cut else ()
    else:
        region, notes = proved.ellipsoid(), ()
    claim = Claim.ENCLOSURE if proved is None else Claim.PROOF
    return answer.of(_unscaled(region, strips.columns), claim, run.missed, notes)


@dataclass(frozen=True, eq=False)
class Run:
    """What the recursion leaves: its ellipsoid, the strips' multipliers, and who missed."""

    center: Array
    matrix: Array
    factorized: bool
    weights: Array
    half: Array
    """Of the strips; ∞ for those that missed."""
    missed: tuple[int, ...]
    """Rows of the problem that missed the ellipsoid."""
    exceeded: bool

    def region(self) -> Ellipsoid:
        """The recursion's ellipsoid, as far as rounding left one."""
        if self.factorized:
            root = np.linalg.inv(self.matrix)
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


def recursion(strips: Strips, method: BoundingEllipsoid) -> Run:
    """All strips one by one, from the smallest ellipsoid around the box on: semi-axes √p times its halves."""
    from gough.methods import ellipsoid_recursion as kernels  # noqa: PLC0415 - numba

    p, factorized = strips.n_axes, method.form is Form.FACTORIZED
    origin, side = strips.mid[:p], strips.half[:p]
    matrix = np.diag(1 / (np.sqrt(p) * side)) if factorized else np.diag(p * side * side)
    center, scale, work = np.zeros(p), np.ones(1), np.zeros((3, p))
    weights, half = of_sides(strips), strips.half.copy()
    criterion = method.criterion if p > 1 else DETERMINANT  # one unknown: all criteria are one
    missed: list[int] = []
    kernel = kernels.factorized if factorized else kernels.standard
    for rows in strips.blocks()[1:] * method.passes:
        D = np.ascontiguousarray(strips.take(rows))
        kinds = np.zeros(len(D), dtype=np.int64)
        mid = strips.mid[rows] - D @ origin
        kernel(
            matrix, center, D, mid, half[rows], criterion, method.cut, method.misses - len(missed),
            scale, weights, rows.start, kinds, work,
        )  # fmt: skip
        off = rows.start + np.flatnonzero(kinds == kernels.MISSED)
        half[off] = np.inf
        missed += (off - p).tolist()
        if len(missed) > method.misses:
            break
    return Run(origin + center, matrix, factorized, weights, half, tuple(missed), len(missed) > method.misses)


@dataclass(frozen=True, eq=False)
class Refined:
    """The last ellipsoid that was proved, if any, and whether the strips were proved to contradict each other."""

    ellipsoid: ProvedEllipsoid | None
    weights: Array
    is_empty: bool = False


def refine(strips: Strips, weights: Array, criterion: float, rounds: int, rtol: float) -> Refined:
    """Rounds of: optimize the multipliers, prove their ellipsoid, cut every strip to its part inside.

    Constraint: the strips. Kept: every θ that satisfies them, since each round starts from strips that the proved
    ellipsoid implies. Does nothing where no round can be proved. Not idempotent, but converges.
    """
    p = strips.n_axes
    sides = np.isfinite(strips.half[:p])
    view = View(np.where(sides, strips.mid[:p], 0.0), np.where(sides, strips.half[:p], 1.0))
    best = Refined(None, weights)
    for _ in range(rounds):
        weights = optimize(strips, weights, view, criterion, rtol)
        proved = _proved(strips, weights)
        if proved is None and best.ellipsoid is None and sides.all():
            weights = optimize(strips, of_sides(strips), view, criterion, rtol)
            proved = _proved(strips, weights) or _proved(strips, of_sides(strips))
        if proved is None:
            break
        if proved.is_empty:
            return Refined(best.ellipsoid, weights, is_empty=True)
        last, best = view, Refined(proved, weights)
        strips = _cut(strips, proved)
        if (strips.half < 0).any():
            return Refined(proved, weights, is_empty=True)
        view = View(proved.center, proved.radius * np.linalg.norm(proved.factor, axis=1))
        if np.log(last.scale / view.scale).mean() < rtol:
            break
    return best


def of_sides(strips: Strips) -> Array:
    """Multipliers of the smallest ellipsoid around the box: 1/p for each side, as a weight of its square."""
    p, weights = strips.n_axes, np.zeros(len(strips))
    weights[:p] = 1 / (p * np.square(strips.half[:p]))
    return weights


def _proved(strips: Strips, weights: Array) -> ProvedEllipsoid | None:
    used = np.flatnonzero(weights)
    return prove(strips.take(used), strips.mid[used], strips.half[used], weights[used])


def _cut(strips: Strips, proved: ProvedEllipsoid) -> Strips:
    mid, half = strips.mid.copy(), strips.half.copy()
    for rows in strips.blocks():
        mid[rows], half[rows] = strips.cut(proved.support(strips.take(rows)), rows)
    return strips.with_bounds(mid, half)


@dataclass(frozen=True, eq=False)
class _Answer:
    """Results of the free unknowns, put into words and among the fixed ones."""

    problem: LinearProblem
    method: BoundingEllipsoid
    box: Box
    free: Integers
    notes: tuple[str, ...] = field(default=())

    def of(
        self, region: Ellipsoid, claim: Claim, missed: tuple[int, ...] = (), notes: tuple[str, ...] = ()
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
        if limited:
            notes += (f"Reach the prior's edge, so put in rather than found: {', '.join(limited)}.",)
        stats = Stats(self.problem.n_rows, limited)
        return Estimate(whole, claim, Status.OK, unknowns, written(self.method), stats, notes)

    def inconsistent(self, note: str, *, proved: bool) -> Estimate:
        claim = Claim.PROOF if proved else Claim.ENCLOSURE
        unknowns, stats = self.problem.unknowns, Stats(self.problem.n_rows)
        empty = Box.empty(len(unknowns))
        return Estimate(empty, claim, Status.INCONSISTENT, unknowns, written(self.method), stats, (note,))


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


def _unscaled(region: Ellipsoid, columns: Integers) -> Ellipsoid:
    """The ellipsoid of θ = 2^columns z, exactly."""
    exponent = columns[:, None] + columns
    with np.errstate(all="ignore"):
        center, shape = np.ldexp(region.center, columns), np.ldexp(region.shape, exponent)
        exact = (np.ldexp(center, -columns) == region.center).all() and (
            np.ldexp(shape, -exponent) == region.shape
        ).all()
    if not (exact and np.isfinite(shape).all()):
        raise InputError("the squares of some unknowns' widths are no floating-point numbers; choose other units")
    return Ellipsoid(center, shape)


@one_blas_thread()
def ellipsoid_of_strips(
    D: Any, lower: Any, upper: Any, *, criterion: float = DETERMINANT, rounds: int = 1, rtol: float = 1e-3
) -> tuple[Ellipsoid, Array]:
    """An ellipsoid proved to hold {θ : lower ≤ Dθ ≤ upper}, and the multiplier of each strip.

    Constraint: the strips; those with an infinite side are not used. Kept: every θ that satisfies all. Not idempotent:
    with rounds > 1 the strips are cut to their parts inside the ellipsoid and all is done again; the multipliers are
    those of the last round.

    Raises:
        InputError: the strips leave a direction open, contradict each other, or defy a proof.

    Examples:
        >>> disc, multipliers = ellipsoid_of_strips([[1.0, 0.0], [0.0, 1.0]], [-1, -2], [1, 2])
        >>> disc.shape.round(6), multipliers
        (array([[2., 0.],
               [0., 8.]]), array([0.5, 0.5]))
    """
    D, lower, upper = array(D, "D", ndim=2), array(lower, "lower", ndim=1), array(upper, "upper", ndim=1)
    require(D.shape[0] == len(lower) == len(upper), f"{len(D)} rows need as many lower and upper bounds")
    require(bool(np.isfinite(D).all()), "D must be finite")
    require(not (np.isnan(lower) | np.isnan(upper)).any() and bool((lower <= upper).all()), "lower must be <= upper")
    mid, half = middle_and_half(lower, upper)
    p, free = D.shape[1], np.arange(D.shape[1])
    strips = strips_of(D, mid, half, free, _reach(D, mid, half))
    # the sides of that box only set the scale: nothing is known of them
    sides = np.concatenate([np.full(p, np.inf), strips.half[p:]])
    strips = strips.with_bounds(strips.mid, sides)
    require(strips.contradiction < 0, f"row {strips.contradiction} is zero, but its bounds exclude zero")
    weights = _spanning(strips)
    refined = refine(strips, weights, criterion, rounds, rtol)
    require(not refined.is_empty, "the strips contradict each other: no θ satisfies them all")
    if refined.ellipsoid is None:
        raise InputError("the strips leave some direction open, or nearly so: no ellipsoid could be proved")
    multipliers = refined.weights[p:] * np.square(np.where(np.isfinite(strips.half[p:]), strips.half[p:], 0.0))
    return _unscaled(refined.ellipsoid.ellipsoid(), strips.columns), multipliers / multipliers.sum()


def _reach(D: Array, mid: Array, half: Array) -> Box:
    """A box that sets the scale of each unknown: what the narrowest strip along it allows."""
    with np.errstate(all="ignore"):
        each = np.where(D != 0, (np.abs(mid) + half)[:, None] / np.abs(D), np.inf).min(axis=0, initial=np.inf)
    each = np.where(np.isfinite(each) & (each > 0), each, 1.0)
    return Box(-each, each)


def _spanning(strips: Strips) -> Array:
    """Multipliers 1/p on p strips that pin down every direction, found by pivoting."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    p, weights = strips.n_axes, np.zeros(len(strips))
    known = p + np.flatnonzero(np.isfinite(strips.half[p:]))
    require(len(known) >= p, f"{p} unknowns need at least as many strips with two finite sides, not {len(known)}")
    h = np.maximum(strips.half[known], 1e-12)
    pivots = qr((strips.take(known) / h[:, None]).T, mode="r", pivoting=True)[1][:p]
    weights[known[pivots]] = 1 / (p * h[pivots] ** 2)
    return weights


def predict(region: Ellipsoid, D: Any) -> Box:
    """Bounds dᵀθ̂ ± √(dᵀPd) of each row d of D over the ellipsoid [PRV03e, eq. (37)], rounded outward.

    Examples:
        >>> torque = predict(Ellipsoid([1.0, 2.0], [[4.0, 0.0], [0.0, 9.0]]), [[1.0, 0.0], [1.0, 1.0]])
        >>> torque.lower.round(3), torque.upper.round(3)
        (array([-1.   , -0.606]), array([3.   , 6.606]))
    """
    rows = array(D, "D", ndim=2, copy=False)
    require(
        rows.shape[1] == len(region.center),
        f"D has {rows.shape[1]} columns, but the ellipsoid has {len(region.center)} axes",
    )
    square = iv.sum(Interval(rows) * matmul(rows, region.shape).interval())
    reach = iv.sqrt(Interval(np.zeros(len(rows)), np.maximum(square.upper, 0.0))).upper
    middle = matmul(rows, region.center)
    return Box(-upward(upward(reach + middle.rad) - middle.mid), upward(upward(reach + middle.rad) + middle.mid))
