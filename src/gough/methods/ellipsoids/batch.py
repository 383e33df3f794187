"""Ellipsoids of all strips at once: multipliers optimized, the ellipsoid proved, the strips cut, and again."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers, array
from gough.core.errors import InputError, require
from gough.core.floating import require_ieee
from gough.core.midrad import upward
from gough.core.threads import one_blas_thread
from gough.estimates import EllipsoidStats, Estimate, HullStats
from gough.evidence import EllipsoidRound, Evidence
from gough.methods.ellipsoids.proof import ROOM, ProvedEllipsoid, ProvedRound, is_finite, prove, proved_round
from gough.methods.ellipsoids.strips import ExactStrips, middle_and_half, strips_of
from gough.region import Box, Ellipsoid

DETERMINANT = 0.0
"""Criterion of smallest volume."""


TRACE = 1.0
"""Criterion of smallest sum of squared semi-axes, each unknown in units of its prior, later of its present width."""


TOO_WIDE = "the squares of some unknowns' widths are no floating-point numbers; choose other units"


OF_BOX = Evidence((), (), (), ())
"""Evidence of a side that the box itself has."""


_SWEEPS = 100


_ROUNDS = 60


_THIN = 1e-8


_ROUNDING = 2.0**-44


class Found(NamedTuple):
    """An ellipsoid and the strips that prove it."""

    region: Ellipsoid
    round: EllipsoidRound
    note: str = ""


@dataclass(frozen=True, eq=False)
class Refined:
    """The last ellipsoid that was proved, if any, and whether the strips were proved to contradict each other."""

    ellipsoid: ProvedEllipsoid | None
    weights: Array
    is_empty: bool = False
    rounds: tuple[ProvedRound, ...] = ()
    """All rounds that were proved, the ellipsoid's last."""


def refine(strips: ExactStrips, weights: Array, criterion: float, rounds: int, rtol: float) -> Refined:
    """Rounds of: optimize the multipliers, prove their ellipsoid, cut every strip to its part inside.

    Constraint: the strips. Kept: every θ that satisfies them, since each round starts from strips that the proved
    ellipsoid implies. Does nothing where no round can be proved. Not idempotent, but converges.
    """
    p = strips.n_axes
    sides = np.isfinite(strips.half[:p])
    view = View(np.where(sides, strips.mid[:p], 0.0), np.where(sides, strips.half[:p], 1.0))
    if not (weights > 0).any() and sides.all():  # a recursion that rounding has ruined leaves none
        weights = of_sides(strips)
    best = Refined(None, weights)
    for _ in range(rounds if (weights > 0).any() else 0):
        weights = optimize(strips, weights, view, criterion, rtol)
        proved = proved_ellipsoid(strips, weights)
        if proved is None and best.ellipsoid is None and sides.all():
            weights = optimize(strips, of_sides(strips), view, criterion, rtol)
            proved = proved_ellipsoid(strips, weights)
            if proved is None:
                weights = of_sides(strips)
                proved = proved_ellipsoid(strips, weights)
        if proved is None:
            break
        if proved.is_empty:
            return Refined(best.ellipsoid, weights, is_empty=True)
        last, best = view, Refined(proved, weights, rounds=(*best.rounds, proved_round(strips, weights, proved)))
        strips = _cut(strips, proved)
        if (strips.half < 0).any():
            return Refined(proved, weights, is_empty=True)
        view = View(proved.center, proved.radius * np.linalg.norm(proved.factor, axis=1))
        if np.log(last.scale / view.scale).mean() < rtol:
            break
    return best


def of_sides(strips: ExactStrips) -> Array:
    """Multipliers of the smallest ellipsoid around the box: 1/p for each side, as a weight of its square."""
    p, weights = strips.n_axes, np.zeros(len(strips))
    weights[:p] = 1 / (p * np.square(strips.half[:p]))
    return weights


def proved_ellipsoid(strips: ExactStrips, weights: Array) -> ProvedEllipsoid | None:
    used = np.flatnonzero(weights)
    return prove(strips.take(used), strips.mid[used], strips.half[used], weights[used])


def _cut(strips: ExactStrips, proved: ProvedEllipsoid) -> ExactStrips:
    mid, half = strips.mid.copy(), strips.half.copy()
    for rows in strips.blocks():
        mid[rows], half[rows] = strips.cut(proved.support(strips.take(rows)), rows)
    return strips.with_bounds(mid, half)


def unscaled(region: Ellipsoid, columns: Integers) -> Ellipsoid:
    """The ellipsoid of θ = 2^columns z, exactly."""
    exponent = columns[:, None] + columns
    with np.errstate(all="ignore"):
        center, shape = np.ldexp(region.center, columns), np.ldexp(region.shape, exponent)
        exact = (np.ldexp(center, -columns) == region.center).all() and (
            np.ldexp(shape, -exponent) == region.shape
        ).all()
    if not (exact and np.isfinite(shape).all()):
        raise InputError(TOO_WIDE)
    return Ellipsoid(center, shape)


@np.errstate(all="ignore")
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
    require_ieee("an ellipsoid around strips")
    require(D.shape[0] == len(lower) == len(upper), f"{len(D)} rows need as many lower and upper bounds")
    require(bool(np.isfinite(D).all()), "D must be finite")
    require(not (np.isnan(lower) | np.isnan(upper)).any() and bool((lower <= upper).all()), "lower must be <= upper")
    strips, refined = refined_strips(D, lower, upper, criterion, rounds=rounds, rtol=rtol)
    known = int(np.isfinite(strips.half[D.shape[1] :]).sum())
    require(
        known >= D.shape[1], f"{D.shape[1]} unknowns need at least as many strips with two finite sides, not {known}"
    )
    require(not refined.is_empty, "the strips contradict each other: no θ satisfies them all")
    if refined.ellipsoid is None:
        raise InputError("the strips leave some direction open, or nearly so: no ellipsoid could be proved")
    p = D.shape[1]
    multipliers = refined.weights[p:] * np.square(np.where(np.isfinite(strips.half[p:]), strips.half[p:], 0.0))
    return unscaled(refined.ellipsoid.ellipsoid(), strips.columns), multipliers / (multipliers.sum() or 1.0)


def refined_strips(
    D: Array, lower: Array, upper: Array, criterion: float, *, rounds: int = 1, rtol: float = 1e-3
) -> tuple[ExactStrips, Refined]:
    """The strips lower ≤ Dθ ≤ upper, scaled, and what could be proved of them."""
    mid, half = middle_and_half(lower, upper)
    p, free = D.shape[1], np.arange(D.shape[1])
    strips = strips_of(D, mid, half, free, _reach(D, mid, half))
    # the sides of that box only set the scale: nothing is known of them
    sides = np.concatenate([np.full(p, np.inf), strips.half[p:]])
    strips = strips.with_bounds(strips.mid, sides)
    require(strips.contradiction < 0, f"row {strips.contradiction} is zero, but its bounds exclude zero")
    return strips, refine(strips, _spanning(strips), criterion, rounds, rtol)


def _reach(D: Array, mid: Array, half: Array) -> Box:
    """A box that sets the scale of each unknown: what the narrowest strip along it allows."""
    with np.errstate(all="ignore"):
        each = np.where(D != 0, (np.abs(mid) + half)[:, None] / np.abs(D), np.inf).min(axis=0, initial=np.inf)
    each = np.where(np.isfinite(each) & (each > 0), each, 1.0)
    return Box(-each, each)


def _spanning(strips: ExactStrips) -> Array:
    """Multipliers 1/p on p strips that pin down every direction, found by pivoting; zeros if there are not so many."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    p, weights = strips.n_axes, np.zeros(len(strips))
    known = p + np.flatnonzero(np.isfinite(strips.half[p:]))
    if len(known) < p:
        return weights
    h = np.maximum(strips.half[known], 1e-12)
    pivots = qr((strips.take(known) / h[:, None]).T, mode="r", pivoting=True)[1][:p]
    weights[known[pivots]] = 1 / (p * h[pivots] ** 2)
    return weights


def around_hull(hull: Box) -> Found:
    """The smallest ellipsoid around a box: semi-axes √p times its halves, a point if it is one."""
    free = np.flatnonzero(hull.lower < hull.upper)
    p, (middle, half) = len(free), middle_and_half(hull.lower, hull.upper)
    center = np.where(hull.lower < hull.upper, middle, hull.lower)
    square, factor = np.zeros(len(hull)), np.zeros((len(hull), p))
    with np.errstate(all="ignore"):
        square[free] = upward(upward(p * half[free]) * half[free] * (1 + 4 * ROOM)) + np.finfo(float).tiny
        weights = 1 / (p * half[free] ** 2)
        factor[free, np.arange(p)] = np.sqrt(p) * half[free]
    one = EllipsoidRound(
        tuple((-1 - free).tolist()), middle[free], half[free], weights, center, factor, (OF_BOX,) * p, (OF_BOX,) * p
    )
    require(bool(np.isfinite(square).all()), TOO_WIDE)
    note = "The rows leave a set too thin for a better ellipsoid than the one around its hull." if p else ""
    note = note or "The rows leave a single point: the ellipsoid is that point."
    return Found(Ellipsoid(center, np.diag(square)), one, note)


def stats_in_hull(hull: Estimate, best: Found) -> EllipsoidStats:
    """Statistics of an ellipsoid inside the hull of an estimate; without a proof of the hull it has none either."""
    assert isinstance(hull.stats, HullStats)
    known = bool(hull.stats.evidence) or hull.region == hull.unknowns.bounds
    rounds = (best.round,) if known and is_finite(best.round) else ()
    return EllipsoidStats(hull.stats.n_rows, hull.stats.prior_limited, hull.stats.evidence, rounds)


@dataclass(frozen=True, eq=False)
class View:
    """Coordinates for the optimizer: z = center + scale · x, the axes of x of equal worth to the trace."""

    center: Array
    scale: Array

    def normalize(self, D: Array, mid: Array, half: Array) -> tuple[Array, Array, Array]:
        """Strips |b − aᵀx| ≤ 1, and their halves; a strip too thin for floating point is taken a little wider."""
        reach = np.abs(D) @ self.scale
        size = np.abs(mid) + np.abs(D) @ np.abs(self.center)
        h = np.maximum(half, np.maximum(_THIN * reach, _ROUNDING * size) + 1e-300)
        return D * self.scale / h[:, None], (mid - D @ self.center) / h, h


@dataclass(frozen=True, eq=False)
class Shape:
    """(x − c)ᵀ (X Xᵀ)⁻¹ (x − c) ≤ s of strips |b − aᵀx| ≤ 1 with multipliers: Σ λ (b − aᵀx)² ≤ Σ λ."""

    X: Array
    c: Array
    s: float

    @classmethod
    def of(cls, A: Array, b: Array, weights: Array) -> "Shape | None":
        """None where the strips leave a direction open."""
        root = np.sqrt(weights)[:, None]
        R = np.asarray(np.linalg.qr(root * np.column_stack([A, b]), mode="r"))
        p = A.shape[1]
        diagonal = np.abs(R.diagonal()[:p])
        if len(R) < p or not diagonal.min(initial=np.inf) > 1e-14 * diagonal.max(initial=0.0):
            return None
        X = np.linalg.inv(R[:p, :p])
        c = X @ R[:p, p]
        return cls(X, c, float((weights * (1 - (b - A @ c) ** 2)).sum()))

    def slope(self, A: Array, b: Array, w: float) -> Array:
        """Derivative of the criterion by each multiplier at zero, times s: negative where the strip would shrink it."""
        T = A @ self.X
        g, e = self.s * np.einsum("ij,ij->i", T, T), b - A @ self.c
        result = 1 - e * e - (1 - w) * g / A.shape[1]
        if w > 0:
            gain = self.s * np.einsum("ij,ij->i", T @ self.X.T, T @ self.X.T)
            result -= w * gain / np.square(self.X).sum()
        return np.asarray(result)


def optimize(strips: ExactStrips, weights: Array, view: View, criterion: float, rtol: float) -> Array:
    """Better multipliers than `weights`; s < 0 with them shows that no θ satisfies all strips, and is worth a proof.

    Coordinate descent on the strips in use [TOD16] with the most promising of all strips joining them, until no
    strip promises more than `rtol`. Any result is valid: this decides on size, never on truth.
    """
    criterion = criterion if strips.n_axes > 1 else 0.0  # one unknown: all criteria are one
    pool = np.flatnonzero(weights > 0)
    weights = weights[pool]
    for _ in range(_ROUNDS):
        A, b, h = view.normalize(strips.take(pool), strips.mid[pool], strips.half[pool])
        multipliers, contradiction = _descended(A, b, weights * h * h, criterion, rtol)
        weights, shape = multipliers / (h * h), Shape.of(A, b, multipliers)
        if contradiction or shape is None or not shape.s > 0:
            return _spread(strips, pool, weights)
        keep = multipliers > 1e-12 * multipliers.max()
        pool, weights = pool[keep], weights[keep]
        promising = _promising(strips, shape, view, criterion, rtol, pool=pool)
        if not promising.size:
            break
        pool, weights = np.append(pool, promising), np.append(weights, np.zeros(len(promising)))
    return _spread(strips, pool, weights)


def _descended(A: Array, b: Array, weights: Array, criterion: float, rtol: float) -> tuple[Array, bool]:
    from gough.methods.ellipsoids.recursion import descend  # noqa: PLC0415 - numba

    weights = weights / weights.max()
    shape = Shape.of(A, b, weights)
    if shape is None or not shape.s > 0:
        return weights, shape is not None
    P, c, A, better = shape.X @ shape.X.T, shape.c.copy(), np.ascontiguousarray(A), weights.copy()
    _, contradiction = descend(A, b, better, P, c, shape.s, criterion, _SWEEPS, rtol)
    usable = bool(np.isfinite(better).all()) and better.max() > 0
    return (better, contradiction) if usable else (weights, False)


def _promising(
    strips: ExactStrips, shape: Shape, view: View, criterion: float, rtol: float, *, pool: Integers
) -> Integers:
    """Numbers of the strips outside the pool that would shrink the ellipsoid most, at most 20 per unknown."""
    slopes = np.empty(len(strips))
    for rows in strips.blocks():
        A, b, _ = view.normalize(strips.take(rows), strips.mid[rows], strips.half[rows])
        slopes[rows] = shape.slope(A, b, criterion)
    slopes[pool] = 0.0
    useful = np.flatnonzero(slopes < -rtol)
    most = 20 * strips.n_axes
    return useful if len(useful) <= most else useful[np.argpartition(slopes[useful], most)[:most]]


def _spread(strips: ExactStrips, pool: Integers, weights: Array) -> Array:
    result = np.zeros(len(strips))
    result[pool] = weights
    return result
