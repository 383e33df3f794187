"""Chains whose closure is a distance between points that are affine in the unknowns: quadratic, with interval data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.methods.nonlinear.lifted_program import Relaxation, chord
from gough.region import Box
from gough.unknowns import Unknowns

Pairs = tuple[tuple[int, int], ...]
_STRUCTURAL = 1e-9
"""Coefficients of products below this, in every row, are rounding: they get no column, and count as uncertain."""


@dataclass(frozen=True, eq=False)
class QuadraticChain(ArrayValue):
    """|d| = l in N measurements with d = p + A x + Σ ε_e (D_e + B_e x) + ρ, |ε_e| ≤ tolerance; l is the last unknown.

    p, A, D and B are intervals that hold the exact numbers which the measured doubles define; ρ is what linear errors
    leave out, |ρ| ≤ Σ_j bend_j |x_j|. `conditions` are exact equations between the unknowns. Every robot whose chain
    closes over one rod is of this form, once its angles are replaced by the vectors that they turn.

    Examples:
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> A = Interval(np.tile(np.hstack([-np.eye(3), np.zeros((3, 1))]), (8, 1, 1)))
        >>> D, B = Interval(np.tile(np.eye(3), (8, 1, 1))), Interval(np.zeros((8, 3, 3, 4)))
        >>> names, prior = ("x", "y", "z", "l"), Box.around([0.0, 0.0, 0.0, 0.4], 0.2)
        >>> data = (Interval(p), A, D, B, np.full((8, 3), 1e-5), np.zeros((8, 4)))
        >>> chain = QuadraticChain(names, ("m",) * 4, prior, *data)
        >>> chain.n_rows, chain.products
        (8, ((0, 0), (1, 1), (2, 2), (3, 3)))
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    prior: Box
    p: Interval
    """(N, 3), m."""
    A: Interval
    """(N, 3, n)."""
    D: Interval
    """(N, E, 3)."""
    B: Interval
    """(N, E, 3, n)."""
    tolerance: Array
    """(N, E)."""
    bend: Array
    """(N, n)."""
    conditions: tuple[Mapping[tuple[int, int], float], ...] = field(default=())
    """Each is Σ coefficient · x_i x_j = 0 over its pairs (i ≤ j)."""

    def __post_init__(self) -> None:
        n = len(self.names)
        require(len(self.prior) == n, f"the chain has {n} unknowns, but the prior has {len(self.prior)} axes")
        require(not self.prior.is_empty, "the prior is empty: no value would be allowed")
        require(bool(self.prior.lower[-1] >= 0), f"{self.names[-1]} is a length: its prior must not be negative")
        finite = all(np.isfinite(v.mag).all() for v in (self.p, self.A, self.D, self.B))
        require(finite, "what was measured must be finite: leave out the poses that lack a number")
        require(bool((self.tolerance >= 0).all()), "tolerances must not be negative")

    @cached_property
    def unknowns(self) -> Unknowns:
        """With the prior."""
        return Unknowns(self.names, self.units, prior=self.prior)

    @property
    def n_poses(self) -> int:
        """Number of measurements."""
        return len(self.tolerance)

    @property
    def n_rows(self) -> int:
        """Measurements, then conditions."""
        return self.n_poses + len(self.conditions)

    @cached_property
    def _pairs(self) -> Pairs:
        n = len(self.names)
        return tuple((i, j) for i in range(n) for j in range(i, n))

    @cached_property
    def _quadratic(self) -> tuple[Interval, Interval]:
        """Coefficients of all products: of |p + A x|² − l² (N, pairs) and of 2 (A x)·(B x) by error (N, E, pairs)."""
        own = _products(self.A, self.A, self._pairs)
        own = own - np.array([float(pair == (len(self.names) - 1,) * 2) for pair in self._pairs])
        A = iv.rearrange(lambda end: np.broadcast_to(end[:, None], self.B.shape), self.A)
        return own, 2 * _products(A, self.B, self._pairs)

    @cached_property
    def products(self) -> Pairs:
        """The products that occur."""
        return tuple(self._pairs[k] for k in self._kept)

    @cached_property
    def _kept(self) -> Any:
        own, errors = self._quadratic
        size = np.maximum(own.mag.max(axis=0), (errors.mag * self.tolerance[..., None]).max(axis=(0, 1), initial=0.0))
        for condition in self.conditions:
            size = np.maximum(size, [abs(condition.get(pair, 0.0)) for pair in self._pairs])
        return np.flatnonzero(size > _STRUCTURAL)

    def select(self, poses: Any) -> "QuadraticChain":
        """The problem with some measurements only."""
        rows = np.arange(self.n_poses)[poses if isinstance(poses, slice) else np.asarray(poses)]
        parts = (self.p[rows], self.A[rows], self.D[rows], self.B[rows], self.tolerance[rows], self.bend[rows])
        return QuadraticChain(self.names, self.units, self.prior, *parts, self.conditions)

    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Two rows a measurement and a condition, first all that bound the distance from above.

        With h = x − center the equation is exactly linear in h and its products; errors count by the chord of |2 d·D|,
        as for a leg of a Gough platform.
        """
        r, at = Interval(radius), self._kept
        d = self.p + iv.sum(self.A * center)
        D = self.D + iv.sum(self.B * center)
        own, errors = self._quadratic
        forms, constant = self._error_forms(d, D), 2 * iv.sum(D * _one_more(d))
        first, second = np.array(self._pairs).T
        most = (r[first] * r[second]).upper
        reach = iv.sum(abs(forms) * radius) + iv.sum(abs(errors) * most)
        slope, height = chord(constant, reach)
        weight = Interval(self.tolerance) * slope
        lost = np.setdiff1d(np.arange(len(self._pairs)), at)
        F = _join(2 * iv.sum(self.A * iv.rearrange(lambda end: end[..., None], d), axis=1), own[:, at])
        F = F - 2 * center[-1] * np.eye(F.shape[1])[len(center) - 1]
        G = iv.sum(iv.rearrange(lambda end: end[..., None], weight) * _join(forms, errors[..., at]), axis=1)
        f = iv.sum(iv.sqr(d)) - iv.sqr(Interval(center[-1]))
        g = iv.sum(Interval(self.tolerance) * (slope * constant + height))
        g = g + iv.sum(abs(own[:, lost]) * most[lost])
        g = g + iv.sum(Interval(self.tolerance) * iv.sum(abs(errors[..., lost]) * most[lost]))
        rest, square = self._second_order(d, D, radius, center)
        both = [(F - G, g + rest - f), (-F - G, g + rest + square + f)]
        exact = [self._exact(center, sign) for sign in (1.0, -1.0)]
        A = _below(*(part for (rows, _), (more, _) in zip(both, exact, strict=True) for part in (rows, more)))
        b = _below(*(part for (_, side), (_, more) in zip(both, exact, strict=True) for part in (side, more)))
        middle = A.mid
        sizes = np.concatenate([radius, most[at]])
        return Relaxation(middle, (b + iv.sum(abs(A - middle) * sizes)).upper)

    def _error_forms(self, d: Interval, D: Interval) -> Interval:
        """2 ∂(d·D_e)/∂h (N, E, n) at the center."""
        A = iv.rearrange(lambda end: end[:, None], self.A)
        along = iv.sum(A * iv.rearrange(lambda end: end[..., None], D), axis=2)
        across = iv.sum(self.B * iv.rearrange(lambda end: end[:, None, :, None], d), axis=2)
        return 2 * (along + across)

    def _second_order(self, d: Interval, D: Interval, radius: Array, center: Array) -> tuple[Interval, Interval]:
        """2 |d| |ρ|, and the largest |Σ ε D + ρ|²."""
        left = iv.sum(Interval(self.bend) * (abs(Interval(center)) + Interval(radius)))
        farthest = iv.sqrt(iv.sum(iv.sqr(abs(d) + iv.sum(abs(self.A) * radius))))
        sides = abs(D) + iv.sum(abs(self.B) * radius)
        moved = iv.sum(_one_less(Interval(self.tolerance)) * sides, axis=1)
        return 2 * farthest * left, iv.sqr(iv.sqrt(iv.sum(iv.sqr(moved))) + left)

    def _exact(self, center: Array, sign: float) -> tuple[Interval, Interval]:
        """Rows sign · condition ≤ 0 (S, columns), and their sides."""
        n, S = len(center), len(self.conditions)
        columns = n + len(self._kept)
        place = {pair: n + k for k, pair in enumerate(self.products)}
        rows, sides = [], []
        for condition in self.conditions:
            row, constant = [Interval(0.0)] * columns, Interval(0.0)
            for (i, j), coefficient in condition.items():
                c = sign * coefficient
                constant = constant + Interval(c) * center[i] * center[j]
                row[i] = row[i] + Interval(c) * center[j]
                row[j] = row[j] + Interval(c) * center[i]
                row[place[i, j]] = row[place[i, j]] + c
            rows.append(iv.rearrange(lambda *ends: np.array(ends), *row))
            sides.append(-constant)
        if not S:
            return Interval(np.zeros((0, columns))), Interval(np.zeros(0))
        return iv.rearrange(lambda *ends: np.stack(ends), *rows), iv.rearrange(lambda *ends: np.array(ends), *sides)


def _products(A: Interval, B: Interval, pairs: Pairs) -> Interval:
    """Coefficients of x_i x_j in (A x)·(B x), for matrices (…, 3, n)."""
    first, second = np.array(pairs).T
    one = iv.sum(iv.rearrange(lambda end: np.moveaxis(end, -2, -1), A[..., first] * B[..., second]))
    other = iv.sum(iv.rearrange(lambda end: np.moveaxis(end, -2, -1), A[..., second] * B[..., first]))
    twice = iv.rearrange(lambda end: np.where(first == second, 0.0, end), other)
    return one + twice


def _one_more(x: Interval) -> Interval:
    return iv.rearrange(lambda end: end[:, None], x)


def _one_less(x: Interval) -> Interval:
    return iv.rearrange(lambda end: end[..., None], x)


def _join(*parts: Interval) -> Interval:
    return iv.rearrange(lambda *ends: np.concatenate(ends, axis=-1), *parts)


def _below(*parts: Interval) -> Interval:
    return iv.rearrange(lambda *ends: np.concatenate(ends), *parts)
