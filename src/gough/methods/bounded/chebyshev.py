"""Chebyshev fits: a θ whose greatest residual, in units of the error bounds, is the least. Nothing here is proven."""

from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.methods.bounded.strips import Strips, bounds_of
from gough.methods.programs.row_generation import GeneratedProgram
from gough.methods.programs.simplex import Optimum, Outcome, Start
from gough.problem import LinearProblem
from gough.region import Box

_FIRST = 20
"""Rows to begin with, per unknown."""
_PER_ROUND = 8
"""Rows added each round, per unknown."""
_SAMPLE = 20000
"""Rows that choose the coordinates."""
_DEPENDENT = 1e-11
"""Part of the greatest diagonal entry of R below which columns are taken to depend on each other."""
_VIOLATED = 1e-10
_EXACT = 1e-12
"""Residuals that are a smaller part of y may be nothing but rounding."""


class Proposal(NamedTuple):
    """A Chebyshev point, and weights on rows that seem to prove it the best."""

    theta: Array
    rows: Integers
    """Rows that were looked at by the simplex method."""
    weights: Array
    """Their weights λ: positive where y − W θ is."""
    is_optimal: bool


def chebyshev(problem: LinearProblem, box: Box, method: str) -> Proposal:
    """A θ of the box that minimizes max_k |y_k − W_k θ| / e_k; 0/0 counts as 0.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0]] * 3, [0.0, 3.0, 1.0], gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> fit = chebyshev(problem, problem.unknowns.bounds, "a fit")
        >>> fit.theta.round(12), fit.rows[fit.weights != 0]
        (array([1.5]), array([0, 1]))
    """
    found = _Levelled.of(problem, box, method)
    if found is not None and (answer := found.proposal()).is_optimal:
        return answer
    return _InStrips(Strips.of(problem, box, method), box).proposal()


class _Levelled(GeneratedProgram):
    """The linear program min t, |r − A z| ≤ t, in coordinates where the columns of A = (W T) / (e s) are orthogonal.

    It begins at a reference of p + 1 rows with equal residuals, of those that least squares explain worst; such a
    vertex is the best for its own rows, and rows are exchanged from there [STI59]. Sides of a box of θ are rows without
    t, added where the way leads across them. In these coordinates a fit is as well conditioned as its reference,
    whatever the columns of W are.
    """

    def __init__(self, problem: LinearProblem, box: Box, radius: Array, center: Array, T: Array) -> None:
        p = len(center)
        super().__init__(np.full(p + 1, -inf), np.full(p + 1, inf), problem.n_rows + p)
        self._problem, self._box, self._radius = problem, box, radius
        self._center, self._T = center, T
        self._rest = self._residuals(problem.y, center)
        self._unit = float(np.sqrt(np.square(self._rest).mean()))
        self._optimum: Optimum | None = None

    @classmethod
    def of(cls, problem: LinearProblem, box: Box, method: str) -> "_Levelled | None":
        """The program, solved. None where a bound is 0, columns depend on each other, y fits or numbers overflow."""
        radius = np.broadcast_to(bounds_of(problem, method).radius, problem.y.shape)
        n_rows, p = problem.W.shape
        if n_rows <= p or box.is_empty or not (radius > 0).all() or not np.isfinite(radius).all():
            return None
        for stride in sorted({max(1, n_rows // _SAMPLE), 1}, reverse=True):
            some = slice(None, None, stride)
            e = radius[some]
            found = _orthogonal(problem.W[some] / e[:, None], problem.y[some] / e)
            if found is not None:
                self = cls(problem, box, radius, *found)
                fits = self._unit <= _EXACT * float(abs(problem.y / radius).max())
                return self if np.isfinite(self._unit) and not fits and self._begin() else None
        return None

    def _residuals(self, y: Array | float, theta: Array) -> Array:
        """(y − W θ) / e."""
        rest, n_rows = np.empty(self._problem.n_rows), self._problem.n_rows
        for rows in self._problem.blocks():
            rest[rows] = self._problem.W[rows] @ theta
        y = np.broadcast_to(y, n_rows)
        return (y - rest) / self._radius

    def _begin(self) -> bool:
        """Choose the first rows and the first reference, and solve; False if no rows span the space."""
        n_rows, p = self._problem.W.shape
        size = abs(self._rest)
        first = min(_FIRST * p, n_rows)
        worst = np.argpartition(-size, first - 1)[:first]
        worst = worst[np.argsort(-size[worst], kind="stable")]
        spread = np.arange(0, n_rows, max(1, n_rows // _SAMPLE))
        taken = self._spanning(worst)
        taken = self._spanning(np.union1d(worst, spread)) if taken is None else taken
        if taken is None:
            return False
        others = worst[~np.isin(worst, taken)]
        if not others.size:
            return False
        self.add(np.concatenate([taken, others]))
        A, rest = self._directions(self.pool[: p + 1]), self._rest[self.pool[: p + 1]] / self._unit
        weights = np.append(np.linalg.solve(A[:p].T, -A[p]), 1.0)
        sign = np.where((weights > 0) == (weights @ rest >= 0), 1.0, -1.0)
        cost = np.append(np.zeros(p), 1.0)
        basis = (p + 1) + 2 * np.arange(p + 1) + (sign < 0)
        self._optimum = self.minimize(cost, self._violated, Start(cost, basis, sign, rest))
        return True

    def _spanning(self, numbers: Integers) -> Integers | None:
        """As many of these rows as unknowns that are as independent as can be; None if they all depend on fewer."""
        from scipy.linalg import qr  # noqa: PLC0415 - start-up time

        R, order = qr(self._directions(numbers).T, mode="r", pivoting=True)
        diagonal = abs(R.diagonal())
        if len(diagonal) < len(R) or not diagonal.min() > _DEPENDENT * diagonal.max():
            return None
        return numbers[order[: len(R)]]

    def _directions(self, numbers: Integers) -> Array:
        return np.asarray(self._problem.W[numbers] @ self._T / self._radius[numbers, None])

    def rows(self, numbers: Integers) -> tuple[Array, Array, Array]:
        """Two rows for each number: a z + t ≥ r and a z − t ≤ r, or the sides of the box, which come last."""
        n_rows, p = self._problem.W.shape
        of_data = numbers[numbers < n_rows]
        axes = numbers[numbers >= n_rows] - n_rows
        length = np.sqrt(np.square(self._T[axes]).sum(axis=1)) if axes.size else np.ones(0)
        A = np.vstack([self._directions(of_data), self._T[axes] / length[:, None]])
        rest = self._rest[of_data] / self._unit
        part = self._unit * length
        both = np.zeros((2 * len(numbers), p + 1))
        both[:, :-1] = np.repeat(A, 2, axis=0)
        both[: 2 * len(of_data), -1] = np.tile([1.0, -1.0], len(of_data))
        low, high = np.full(len(both), -inf), np.full(len(both), inf)
        low[0::2] = np.append(rest, (self._box.lower - self._center)[axes] / part)
        high[1::2] = np.append(rest, (self._box.upper - self._center)[axes] / part)
        return both, low, high

    def _violated(self, point: Array) -> Integers:
        z, t = point[:-1], float(point[-1])
        n_rows, p = self._problem.W.shape
        moved = self._T @ (self._unit * z)
        excess = abs(self._rest + self._residuals(0.0, moved)) / self._unit - t
        wrong = np.flatnonzero((excess > _VIOLATED * max(t, 1.0)) & self.outside[:n_rows])
        limit = _PER_ROUND * p
        if len(wrong) > limit:
            wrong = wrong[np.argpartition(-excess[wrong], limit)[:limit]]
        theta = self._center + moved
        beyond = (theta < self._box.lower) | (theta > self._box.upper)
        return np.append(wrong, n_rows + np.flatnonzero(beyond & self.outside[n_rows:]))

    def proposal(self) -> Proposal:
        optimum, n_rows = self._optimum, self._problem.n_rows
        assert optimum is not None
        rows, weights = optimum.on(np.repeat(self.pool, 2))
        of_data = rows < n_rows
        total = np.bincount(rows[of_data], weights[of_data], n_rows)
        used = np.flatnonzero(total)
        theta = self._center + self._T @ (self._unit * optimum.point[:-1])
        is_optimal = optimum.outcome is Outcome.OPTIMAL and bool(np.isfinite(theta).all())
        return Proposal(
            np.clip(theta, self._box.lower, self._box.upper), used, total[used] / self._radius[used], is_optimal
        )


def _orthogonal(A: Array, b: Array) -> tuple[Array, Array] | None:
    """The least-squares θ of A θ = b, and T for which the columns of A T are orthogonal, of length √N."""
    from scipy.linalg import solve_triangular  # noqa: PLC0415 - start-up time

    size = abs(A).max(axis=0)
    if not (np.isfinite(size).all() and size.all() and np.isfinite(b).all()):
        return None
    p = A.shape[1]
    R: Array = np.asarray(np.linalg.qr(np.column_stack([A / size, b]), mode="r"))
    if not (len(R) > p and np.isfinite(R).all()):
        return None
    diagonal = abs(R.diagonal()[:p])
    if not diagonal.min() > _DEPENDENT * diagonal.max():
        return None
    inverse = solve_triangular(R[:p, :p], np.column_stack([np.eye(p), R[:p, p]])) / size[:, None]
    return inverse[:, p], np.sqrt(len(b)) * inverse[:, :p]


class _InStrips(GeneratedProgram):
    """The linear program min t, |y − W θ| ≤ t e, in z and t; also where some e are zero."""

    def __init__(self, strips: Strips, box: Box) -> None:
        low, high = strips.box(box)
        n_rows, p = strips.problem.n_rows, len(low)
        super().__init__(np.append(low, 0.0), np.append(high, inf), n_rows)
        self._strips, self._box, self._limit = strips, box, _PER_ROUND * p
        badness = abs(strips.middle) / np.maximum(strips.radius, 1e-300)
        first = _FIRST * p
        self.add(np.arange(n_rows) if n_rows <= first else np.argpartition(-badness, first)[:first])
        self._optimum = self.minimize(np.append(np.zeros(p), 1.0), self._violated)

    def rows(self, numbers: Integers) -> tuple[Array, Array, Array]:
        """Two rows for each strip: d z + h t ≥ m and d z − h t ≤ m."""
        strips = self._strips
        A, _, _ = strips.rows(numbers)
        length = strips.length[numbers]
        half, middle = strips.radius[numbers] / length, strips.middle[numbers] / length
        both = np.repeat(np.column_stack([A, half]), 2, axis=0)
        both[1::2, -1] *= -1
        low, high = np.full(len(both), -inf), np.full(len(both), inf)
        low[0::2], high[1::2] = middle, middle
        return both, low, high

    def _violated(self, point: Array) -> Integers:
        relaxed = replace(self._strips, radius=point[-1] * self._strips.radius)
        excess = np.where(self.outside, relaxed.excess(point[None, :-1]), -inf)
        wrong, limit = np.flatnonzero(excess > _VIOLATED), self._limit
        return wrong if len(wrong) <= limit else wrong[np.argpartition(-excess[wrong], limit)[:limit]]

    def proposal(self) -> Proposal:
        strips, optimum, pool = self._strips, self._optimum, self.pool
        index, multipliers = optimum.on(np.arange(len(pool)).repeat(2))
        weights = np.bincount(index, multipliers, len(pool)) / strips.length[pool]
        theta = np.clip(strips.theta(optimum.point[:-1]), self._box.lower, self._box.upper)
        return Proposal(theta, pool, weights, optimum.outcome is Outcome.OPTIMAL)
