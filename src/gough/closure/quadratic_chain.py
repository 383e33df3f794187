"""Chains whose closure is a distance between points that are affine in the unknowns: quadratic, with interval data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from gough.closure.chain_problem import ChainProblem, Pairs, Vector, absorbed, joined
from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.methods.nonlinear.lifted_program import Relaxation, chord
from gough.region import Box
from gough.unknowns import Unknowns

_STRUCTURAL = 1e-9
"""Coefficients of products below this, in every row, are rounding: they get no column, and count as uncertain."""
_INDEPENDENT = 1e-6
"""Singular values of the conditions' derivative below this part of the largest one count as zero."""


@dataclass(frozen=True, eq=False)
class QuadraticChain(ChainProblem):
    """|d| = l in N poses with d = p + A x + Σ ε_e (D_e + B_e x) + ρ, |ε_e| ≤ tolerance; l is the last unknown.

    p, A, D and B are intervals that hold the exact numbers which the measured doubles define; ρ is what linear errors
    leave out, |ρ| ≤ Σ_j bend_j |x_j|. One error is that of the chain's reading, the others are shared by all chains of
    the pose. Every robot whose chain closes over one rod is of this form, once its angles are replaced by the vectors
    that they turn.

    Examples:
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> A = Interval(np.tile(np.hstack([-np.eye(3), np.zeros((3, 1))]), (8, 1, 1)))
        >>> D, B = Interval(np.tile(np.eye(3), (8, 1, 1))), Interval(np.zeros((8, 3, 3, 4)))
        >>> names, prior = ("x", "y", "z", "l"), Box.around([0.0, 0.0, 0.0, 0.4], 0.2)
        >>> data = (Interval(p), A, D, B, np.full((8, 3), 1e-5), np.zeros((8, 4)))
        >>> chain = QuadraticChain(names, prior, *data, reading=2)  # the third error is that of a reading along z
        >>> chain.n_rows, chain.products
        (8, ((0, 0), (1, 1), (2, 2), (3, 3)))
    """

    names: tuple[str, ...]
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
    reading: int
    """Which error is the reading's."""
    reading_unit: str = "m"
    """If it is rad, the reading turns vectors, and |ρ| grows with the square of its tolerance."""
    conditions: tuple[Mapping[tuple[int, int], float], ...] = ()
    """Exact equations between the unknowns: each is Σ coefficient · x_i x_j = 0 over its pairs (i ≤ j)."""
    satisfying: Callable[[Array], tuple[Fraction, ...]] | None = None
    """Computes a point near x that satisfies all conditions exactly, where there are some."""
    chain: int = 1
    """Number of the chain, from 1."""
    products: Pairs = ()
    """Pairs (i ≤ j) of unknowns whose products are columns of the relaxation; left out: all that occur."""

    def __post_init__(self) -> None:
        n = len(self.names)
        require(len(self.prior) == n, f"the chain has {n} unknowns, but the prior has {len(self.prior)} axes")
        require(not self.prior.is_empty, "the prior is empty: no value would be allowed")
        require(bool(self.prior.lower[-1] >= 0), f"{self.names[-1]} is a length: its prior must not be negative")
        finite = all(np.isfinite(v.mag).all() for v in (self.p, self.A, self.D, self.B))
        require(finite, "what was measured must be finite: leave out the poses that lack a number")
        require(bool((self.tolerance >= 0).all()), "tolerances must not be negative")
        solved = not self.conditions or self.satisfying is not None
        require(solved, "state a function that finds points which satisfy the conditions exactly")
        require(0 <= self.reading < self.tolerance.shape[1], f"there is no error {self.reading} for the reading")
        if not self.products:
            object.__setattr__(self, "products", self._occurring())

    @cached_property
    def unknowns(self) -> Unknowns:
        """With the prior."""
        return Unknowns(self.names, ("m",) * len(self.names), prior=self.prior)

    @property
    def n_rows(self) -> int:
        """Equations: poses, then conditions."""
        return self.n_poses + len(self.conditions)

    @property
    def reading_tolerance(self) -> Array:
        """Tolerances (N,) of the readings, in their unit."""
        return self.tolerance[:, self.reading]

    @property
    def offset(self) -> Array:
        """Readings move d and add nothing to the length."""
        return np.zeros(self.n_poses)

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

    def _occurring(self) -> Pairs:
        own, errors = self._quadratic
        size = np.maximum(own.mag.max(axis=0), (errors.mag * self.tolerance[..., None]).max(axis=(0, 1), initial=0.0))
        for condition in self.conditions:
            size = np.maximum(size, [abs(condition.get(pair, 0.0)) for pair in self._pairs])
        return tuple(self._pairs[k] for k in np.flatnonzero(size > _STRUCTURAL))

    @cached_property
    def _kept(self) -> Any:
        return np.array([self._pairs.index(pair) for pair in self.products])

    def select(self, poses: Any) -> "QuadraticChain":
        """The problem with some poses only."""
        rows = np.arange(self.n_poses)[poses if isinstance(poses, slice) else np.asarray(poses)]
        parts = {name: getattr(self, name)[rows] for name in ("p", "A", "D", "B", "tolerance", "bend")}
        return replace(self, **parts)

    def widened(self, by: Any) -> "QuadraticChain":
        """The problem with readings uncertain by so much more, one number or one for each pose; sums are rounded up.

        A reading that is off by η turns vectors x, of which |x| η²/2 are left out of the linear errors.
        """
        stated, tolerance, bend = Interval(self.reading_tolerance), self.tolerance.copy(), self.bend
        tolerance[:, self.reading] = np.maximum((stated + by).upper, 0.0)
        if self.reading_unit == "rad":
            grown = (iv.sqr(Interval(tolerance[:, self.reading])) - iv.sqr(stated)) / 2
            turned = np.flatnonzero(self.B[:, self.reading].mag.any(axis=(0, 1)))
            bend = bend.copy()
            bend[:, turned] = np.maximum((Interval(bend[:, turned]) + grown[..., None]).upper, 0.0)
        return replace(self, tolerance=tolerance, bend=bend)

    def vector(self, x: Array, errors: Array) -> Vector:
        """The vector d with errors (N, E)."""
        A = self.A.mid + np.einsum("ne,neij->nij", errors, self.B.mid)
        D = self.D.mid + self.B.mid @ x
        d = self.p.mid + self.A.mid @ x + np.einsum("ne,nei->ni", errors, D)
        return Vector(d, A, np.swapaxes(D, 1, 2))

    def distance(self, x: Interval, errors: Array) -> Interval:
        """|d| with errors (N, E), enclosed, without ρ."""
        along = (self.D + iv.sum(self.B * x)) * Interval(errors)[..., None]
        moved = iv.sum(iv.rearrange(lambda end: np.swapaxes(end, 1, 2), along))
        return iv.sqrt(iv.sum(iv.sqr(self.p + iv.sum(self.A * x) + moved)))

    def exact(self, x: Array) -> tuple[Fraction, ...]:
        """A point near x that satisfies all conditions between the unknowns exactly."""
        return super().exact(x) if self.satisfying is None else self.satisfying(x)

    def tangent(self, x: Array) -> Array | None:
        """An orthonormal basis (n, k) of the directions in which conditions stay satisfied; None: all."""
        if not self.conditions:
            return None
        C = np.zeros((len(self.conditions), len(x)))
        for row, condition in zip(C, self.conditions, strict=True):
            for (i, j), coefficient in condition.items():
                row[i] += coefficient * x[j]
                row[j] += coefficient * x[i]
        _, size, V = np.linalg.svd(C)
        return np.asarray(V[int((size > _INDEPENDENT * size[0]).sum()) :].T)

    def along(self, center: Array) -> Array:
        """What 2 d·D of each shared error has as coefficients of h and its products, at a center (N, S, columns)."""
        d, D = self.p + iv.sum(self.A * center), self.D + iv.sum(self.B * center)
        _, errors = self._quadratic
        forms = np.concatenate([self._error_forms(d, D).mid, errors.mid[..., self._kept]], axis=2)
        return np.asarray(forms[:, self.shared])

    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Two rows for each pose and condition, first all that bound the distance from above.

        With h = x − center the equation is exactly linear in h and its products; errors count by the chord of |2 d·D|,
        as for a leg of a Gough platform.
        """
        return self._relaxed(center, radius, [])

    def shared_relaxation(self, center: Array, radius: Array) -> Relaxation:
        """The same rows with the shared errors of their pose as further columns, in their order.

        Their coefficients are 2 d·D at the center; what 2 d·D differs by in the box, times the tolerance, is constant.
        """
        return self._relaxed(center, radius, self.shared)

    def _relaxed(self, center: Array, radius: Array, shared: list[int]) -> Relaxation:
        r, at = Interval(radius), self._kept
        d = self.p + iv.sum(self.A * center)
        D = self.D + iv.sum(self.B * center)
        own, errors = self._quadratic
        forms, constant = self._error_forms(d, D), 2 * iv.sum(D * d[:, None])
        first, second = np.array(self._pairs).T
        most = (r[first] * r[second]).upper
        reach = iv.sum(abs(forms) * radius) + iv.sum(abs(errors) * most)
        slope, height = chord(constant, reach)
        slope[:, shared] = 0.0
        spread = slope * constant + height
        spread = iv.rearrange(lambda end, rest: _filled(end, shared, rest[:, shared]), spread, reach)
        weight = Interval(self.tolerance) * slope
        lost = np.setdiff1d(np.arange(len(self._pairs)), at)
        F = joined(2 * iv.sum(self.A * d[..., None], axis=1), own[:, at])
        F = F - 2 * center[-1] * np.eye(F.shape[1])[len(center) - 1]
        G = iv.sum(weight[..., None] * joined(forms, errors[..., at]), axis=1)
        f = iv.sum(iv.sqr(d)) - iv.sqr(Interval(center[-1]))
        g = iv.sum(Interval(self.tolerance) * spread)
        g = g + iv.sum(abs(own[:, lost]) * most[lost])
        g = g + iv.sum(Interval(self.tolerance) * iv.sum(abs(errors[..., lost]) * most[lost]))
        rest, square = self._second_order(d, D, radius, center)
        columns, none = constant[:, shared], Interval(np.zeros((len(self.conditions), len(shared))))
        parts = []
        for sign, more in ((1.0, Interval(0.0)), (-1.0, square)):
            rows, sides = self._exact(center, sign)
            parts += [(joined(sign * F - G, sign * columns), g + rest - sign * f + more), (joined(rows, none), sides)]
        A, b = (joined(*ends, axis=0) for ends in zip(*parts, strict=True))
        t = np.vstack([self.tolerance[:, shared], np.zeros((len(self.conditions), len(shared)))])
        sizes = np.hstack([np.tile(np.concatenate([radius, most[at]]), (len(b), 1)), np.vstack([t, t])])
        return absorbed(A, b, sizes)

    def _error_forms(self, d: Interval, D: Interval) -> Interval:
        """2 ∂(d·D_e)/∂h (N, E, n) at the center."""
        along = iv.sum(self.A[:, None] * D[..., None], axis=2)
        across = iv.sum(self.B * d[:, None, :, None], axis=2)
        return 2 * (along + across)

    def _second_order(self, d: Interval, D: Interval, radius: Array, center: Array) -> tuple[Interval, Interval]:
        """2 |d| |ρ|, and the largest |Σ ε D + ρ|²."""
        left = iv.sum(Interval(self.bend) * (abs(Interval(center)) + Interval(radius)))
        farthest = iv.sqrt(iv.sum(iv.sqr(abs(d) + iv.sum(abs(self.A) * radius))))
        sides = abs(D) + iv.sum(abs(self.B) * radius)
        moved = iv.sum(Interval(self.tolerance)[..., None] * sides, axis=1)
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


def _filled(values: Array, columns: list[int], entries: Array) -> Array:
    result = values.copy()
    result[:, columns] = entries
    return result
