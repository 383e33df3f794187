"""Ellipsoids proven to hold every θ that satisfies a family of strips, whatever multipliers are proposed.

For any numbers w, each θ with |mid − dᵀθ| ≤ half for all strips satisfies Σ w²(mid − dᵀθ)² ≤ Σ w² half². Multipliers
come from an optimizer that is not trusted; here their ellipsoid is computed with every rounding bounded.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, Integers
from gough.core.intervals import Interval
from gough.core.midrad import LIMIT, TINY, UNIT, MidRad, enclosing, inflated, upward
from gough.core.products import BLOCK, accurate_residual, matmul
from gough.evidence import EllipsoidRound
from gough.methods.ellipsoids.strips import ExactStrips
from gough.region import Box, Ellipsoid

ROOM = 2.0**-36
"""Part by which a proven ellipsoid is made larger, so that another proof, without rounding, finds it large enough."""


@dataclass(frozen=True, eq=False)
class ProvedEllipsoid:
    """{center + factor·w : |w| ≤ radius}, proven to hold the set; radius < 0 proves that the set is empty.

    The same ellipsoid with a rounded shape is `ellipsoid()`; `support` keeps to the factor, which loses less.
    """

    center: Array
    factor: Array
    radius: float

    @property
    def is_empty(self) -> bool:
        return self.radius < 0

    def support(self, D: Array) -> Interval:
        """An enclosure of dᵀθ over the set, for each row d of D."""
        out = matmul(D, self.factor).mag
        with np.errstate(all="ignore"):
            # |dᵀ factor| radius: n squares, their sum, a root and a product, rounded upward in one go
            square = inflated(np.square(out).sum(axis=-1), 2 * out.shape[-1] + 8) + 64.0 * (out.shape[-1] + 1) * TINY
            reach = upward(upward(np.sqrt(square)) * self.radius)
        reach = np.where(square <= LIMIT, reach, np.inf)
        middle = matmul(D, self.center)
        return Interval(
            -upward(upward(reach + middle.rad) - middle.mid), upward(upward(reach + middle.rad) + middle.mid)
        )

    def inner_factor(self) -> Array:
        """F of the ellipsoid {center + F·w : |w| ≤ 1} half-way in the room left: in this one, around the set."""
        return self.factor * (self.radius * (1 - ROOM / 2))

    def ellipsoid(self) -> Ellipsoid:
        """A floating-point ellipsoid around it.

        The rounded shape S is within R of radius² factor factorᵀ, entry by entry. S + diag(T) dominates it if
        T_i ≥ Σ_j R_ij t_j / t_i for some t > 0, since 2|x_i x_j| ≤ x_i² t_j / t_i + x_j² t_i / t_j; t = 1/√S_ii makes
        T a few ulp of S_ii, however flat the ellipsoid is.
        """
        square = matmul(self.factor, self.factor.T).interval() * iv.sqr(Interval(self.radius))
        shape = enclosing(square)
        S = (shape.mid + shape.mid.T) / 2
        with np.errstate(all="ignore"):
            R = inflated(np.maximum(shape.rad, shape.rad.T) + np.abs(shape.mid - shape.mid.T) + 2 * UNIT * abs(S), 8)
            t = np.ldexp(1.0, -(np.frexp(np.maximum(S.diagonal(), TINY))[1] // 2))
            T = inflated((R * t).sum(axis=1), len(t) + 4) / t + 64.0 * (len(t) + 1) * TINY
            S[np.diag_indices(len(t))] = upward(S.diagonal() + upward(T))
        return Ellipsoid(self.center, S)


def prove(D: Array, mid: Array, half: Array, weights: Array) -> ProvedEllipsoid | None:
    """The ellipsoid of strips |mid − Dθ| ≤ half with multipliers `weights` ≥ 0, proven; None if the proof fails.

    Constraint: the strips, as the very numbers given. Kept: every θ that satisfies them. With B = diag(w) D and X about
    the inverse of its triangular factor, put θ = c + X v: then |B X v|² ≤ s + 2 v·u with u = (B X)ᵀ w(mid − D c) and
    s = Σ w²(half² − (mid − D c)²); from |I − (B X)ᵀ(B X)| ≤ η < 1 follows (1 − η)|v|² ≤ s + 2|u||v|, hence
    |v| ≤ (|u| + √(|u|² + (1 − η)s)) / (1 − η), and a contradiction if |u|² + (1 − η)s < 0.
    """
    greatest = weights.max(initial=0.0)
    with np.errstate(all="ignore"):
        w = np.sqrt(weights / greatest)
    use = w > 2.0**-80
    D, mid, half, w = D[use], mid[use], half[use], w[use]
    p = D.shape[1]
    if len(w) < p or not greatest < LIMIT:
        return None
    B = w[:, None] * D
    triangle = np.linalg.qr(B, mode="r")
    try:
        X = np.asarray(np.linalg.inv(triangle))
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(X).all() and abs(X).max(initial=0.0) <= 2.0**300):
        return None
    center = _minimizer(D, mid, w, B, X)
    if not np.isfinite(center).all():
        return None
    eta, pull, s = _bounds(D, mid, half, w, X=X, center=center)
    return _ellipsoid(center, X, eta, pull, s)


def _minimizer(D: Array, mid: Array, w: Array, B: Array, X: Array) -> Array:
    """About the center of the ellipsoid; accurate residuals make up for what the first solution lost."""
    T = B @ X
    center: Array = X @ (T.T @ (w * mid))
    for _ in range(2 if np.isfinite(center).all() else 0):
        center = center + X @ (T.T @ (w * accurate_residual(D, center, mid).mid))
    return center


def _bounds(D: Array, mid: Array, half: Array, w: Array, *, X: Array, center: Array) -> tuple[float, float, Interval]:
    """The numbers η, |u| and s of `prove`: two upper bounds and an enclosure, by blocks of strips."""
    p = D.shape[1]
    gram, u, s = Interval(np.zeros((p, p))), Interval(np.zeros(p)), Interval(0.0)
    for first in range(0, len(D), BLOCK):
        k = slice(first, first + BLOCK)
        B = w[k, None] * D[k]
        T = matmul(MidRad(B, 2.0 * UNIT * np.abs(B) + 4.0 * TINY), X)
        across = MidRad(T.mid.T, T.rad.T)
        rest = accurate_residual(D[k], center, mid[k]).interval()
        gram = gram + matmul(across, T).interval()
        u = u + matmul(across, enclosing(Interval(w[k]) * rest)).interval()
        s = s + iv.sum(iv.sqr(Interval(w[k])) * (iv.sqr(Interval(half[k])) - iv.sqr(rest)))
    distance = iv.sum(Interval((gram - np.eye(p)).mag))
    return float(distance.upper.max()), float(iv.sqrt(iv.sum(iv.sqr(u))).upper), s


def _ellipsoid(center: Array, X: Array, eta: float, pull: float, s: Interval) -> ProvedEllipsoid | None:
    if not (eta < 0.5 and np.isfinite(center).all() and np.isfinite(s.upper)):
        return None
    rest, u = 1.0 - Interval(0.0, eta), Interval(0.0, pull)
    inside = iv.sqr(u) + rest * Interval(float(s.upper))
    if inside.upper < 0:
        return ProvedEllipsoid(center, X, -1.0)
    # an ellipsoid that is a point gets a tiny radius: its shape stays positive definite
    radius = max(float(((u + iv.sqrt(inside & Interval(0.0, np.inf))) / rest).upper) * (1 + ROOM), 2.0**-100)
    return ProvedEllipsoid(center, X, radius) if radius <= 2.0**100 else None


class ProvedRound(NamedTuple):
    """Strips with their multipliers, and the ellipsoid that was proved of them."""

    used: Integers
    """Numbers of the strips."""
    mid: Array
    half: Array
    weights: Array
    ellipsoid: ProvedEllipsoid


def proved_round(strips: ExactStrips, weights: Array, proved: ProvedEllipsoid) -> ProvedRound:
    """The round of strips with positive multipliers; those so small that no proof uses them are left out."""
    used = np.flatnonzero(weights > 2.0**-160 * weights.max(initial=0.0))
    return ProvedRound(used, strips.mid[used], strips.half[used], weights[used], proved)


def rounds_in_units(box: Box, strips: ExactStrips, rounds: tuple[ProvedRound, ...]) -> tuple[EllipsoidRound, ...]:
    """The rounds as evidence; nothing where their numbers do not fit into floating point."""
    result = tuple(in_units(strips, one, box.lower) for one in rounds)
    return result if all(is_finite(one) for one in result) else ()


def in_units(strips: ExactStrips, one: ProvedRound, center: Array) -> EllipsoidRound:
    """A round in the units of its matrix; `center` says where the unknowns are that have no strips: the fixed ones."""
    side, p = one.used < strips.n_axes, strips.n_axes
    axis, row = np.where(side, one.used, 0), np.where(side, 0, one.used - p)
    exponent = np.where(side, strips.columns[axis], -strips.rows[row] if len(strips.rows) else 0)
    center, factor = center.copy(), np.zeros((len(center), p))
    with np.errstate(all="ignore"):
        middle, half = np.ldexp(one.mid, exponent), np.ldexp(one.half, exponent)
        weights = np.ldexp(one.weights, -2 * exponent)
        center[strips.free] = np.ldexp(one.ellipsoid.center, strips.columns)
        factor[strips.free] = np.ldexp(one.ellipsoid.inner_factor(), strips.columns[:, None])
    numbers = np.where(side, -1 - strips.free[axis], row)
    return EllipsoidRound(tuple(numbers.tolist()), middle, half, weights, center, factor)


def is_finite(one: EllipsoidRound) -> bool:
    """Whether all its numbers are finite."""
    return all(np.isfinite(values).all() for values in (one.middle, one.half, one.weights, one.center, one.factor))
