"""Ellipsoids of all strips at once: multipliers optimized, the ellipsoid proved, the strips cut, and again."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.floating import require_ieee
from gough.core.midrad import upward
from gough.core.threads import one_blas_thread
from gough.evidence import EllipsoidRound, Evidence
from gough.methods.ellipsoids.evidence import ProvedRound, proved_round
from gough.methods.ellipsoids.proof import ROOM, ProvedEllipsoid, prove
from gough.methods.ellipsoids.strips import Integers, Strips, middle_and_half, strips_of
from gough.methods.ellipsoids.weights import View, optimize
from gough.region import Box, Ellipsoid

DETERMINANT = 0.0
"""Criterion of smallest volume."""
TRACE = 1.0
"""Criterion of smallest sum of squared semi-axes, each unknown in units of its prior, later of its present width."""


TOO_WIDE = "the squares of some unknowns' widths are no floating-point numbers; choose other units"


OF_BOX = Evidence((), (), (), ())
"""Evidence of a side that the box itself has."""


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
    """What was proved on the way, the ellipsoid last."""


def refine(strips: Strips, weights: Array, criterion: float, rounds: int, rtol: float) -> Refined:
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


def of_sides(strips: Strips) -> Array:
    """Multipliers of the smallest ellipsoid around the box: 1/p for each side, as a weight of its square."""
    p, weights = strips.n_axes, np.zeros(len(strips))
    weights[:p] = 1 / (p * np.square(strips.half[:p]))
    return weights


def proved_ellipsoid(strips: Strips, weights: Array) -> ProvedEllipsoid | None:
    used = np.flatnonzero(weights)
    return prove(strips.take(used), strips.mid[used], strips.half[used], weights[used])


def _cut(strips: Strips, proved: ProvedEllipsoid) -> Strips:
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
) -> tuple[Strips, Refined]:
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


def _spanning(strips: Strips) -> Array:
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
