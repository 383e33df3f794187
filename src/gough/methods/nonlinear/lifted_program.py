"""The linear program of a lifted relaxation, and proven cuts from its multipliers."""

from typing import NamedTuple

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, Integers
from gough.core.intervals import Interval
from gough.evidence import LiftedCut
from gough.methods.bounded.exact_bound import Prover
from gough.methods.programs.row_generation import GeneratedProgram
from gough.methods.programs.simplex import Optimum, Outcome
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box
from gough.unknowns import Unknowns

TANGENTS = (-1.0, -0.5, 0.5, 1.0)
"""Points at which tangents touch a square, in radii; the tangent at 0 is the side of the box."""
_SIGNS = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
_ALL = 600
"""Rows up to which all are in the program from the start."""
_FIRST = 300
_PER_ROUND = 60
_TOLERANCE = 1e-8


class Relaxation(NamedTuple):
    """A·[h, products of h] ≤ b."""

    A: Array
    b: Array


def envelopes(products: tuple[tuple[int, int], ...], radius: Array) -> Relaxation:
    """Inequalities for products over |h| ≤ radius: McCormick's four planes for each, four tangents for each square.

    Examples:
        >>> rows = envelopes(((0, 1), (0, 0)), np.array([1.0, 2.0]))
        >>> rows.A[0], rows.b[0]  # (1 − h0)(2 − h1) ≥ 0
        (array([ 2.,  1., -1.,  0.]), np.float64(2.0))
        >>> rows.A[4], rows.b[4]  # (h0 + 1)² ≥ 0
        (array([-2.,  0.,  0., -1.]), np.float64(1.0))
    """
    p, n = len(radius), len(products)
    A, b = np.zeros((n, 4, p + n)), np.empty((n, 4))
    first, second = np.array(products).T
    square, number = first == second, np.arange(n)
    b[:] = (Interval(radius[first]) * radius[second]).upper[:, None]
    for row, ((s, t), tangent) in enumerate(zip(_SIGNS, TANGENTS, strict=True)):
        at = tangent * radius[first]
        A[number, row, first] = np.where(square, 2 * at, s * radius[second])
        A[number[~square], row, second[~square]] = t * radius[first[~square]]
        A[number, row, p + number] = np.where(square, -1.0, -s * t)
        b[square, row] = (Interval(at) * at).upper[square]
    return Relaxation(A.reshape(4 * n, p + n), b.reshape(4 * n))


def chord(constant: Interval, reach: Interval) -> tuple[Array, Interval]:
    """A slope and a height with |x| ≤ slope x + height wherever x is within `reach` of the constant.

    Examples:
        >>> slope, height = chord(Interval(1.0), Interval(3.0))
        >>> float(slope), height
        (0.3333333333333333, Interval(2.6666666666666665, 2.666666666666667))
    """
    low, high = (constant - reach).lower, (constant + reach).upper
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.clip((high + low) / (high - low), -1.0, 1.0)
    slope = np.where(low >= 0, 1.0, np.where(high <= 0, -1.0, between))
    ends = [abs(Interval(end)) - Interval(slope) * end for end in (low, high)]
    return slope, iv.maximum(ends[0], ends[1])


def product_box(products: tuple[tuple[int, int], ...], radius: Array) -> Box:
    """The sides of h and of its products."""
    first, second = np.array(products).T
    most = (Interval(radius[first]) * radius[second]).upper
    least = np.where(first == second, 0.0, -most)
    return Box(np.concatenate([-radius, least]), np.concatenate([radius, most]))


class LiftedProgram(GeneratedProgram):
    """One box's program; rows are normalized in units of the box, and added as vertices violate them."""

    def __init__(
        self, equations: Relaxation, hulls: Relaxation, products: tuple[tuple[int, int], ...], radius: Array
    ) -> None:
        self._p, self._n_rows = len(radius), len(equations.b)
        self._A, self._b = np.vstack([equations.A, hulls.A]), np.concatenate([equations.b, hulls.b])
        self._box = product_box(products, radius)
        size = np.maximum(abs(self._box.lower), abs(self._box.upper))
        self._scale = np.where(size > 0, size, 1.0)
        scaled = self._A * self._scale
        length = abs(scaled).max(axis=1)
        self._length = np.where(length > 0, length, 1.0)
        self._rows, self._side = scaled / self._length[:, None], self._b / self._length
        super().__init__(self._box.lower / self._scale, self._box.upper / self._scale, len(self._b))
        self.add(self._first())
        names = tuple(f"y{j}" for j in range(len(self._scale)))
        # a row A y ≤ b stands as |A y − b| ≤ 0: right for weights ≤ 0, and others are dropped before
        self._prover = Prover(LinearProblem(self._A, self._b, Unknowns(names), Bounded(np.zeros(()))))

    def _first(self) -> Integers:
        """The envelopes, and the rows nearest to the center."""
        envelope = np.arange(self._n_rows, len(self._b))
        if self._n_rows <= _ALL:
            return np.concatenate([envelope, np.arange(self._n_rows)])
        slack = self._side[: self._n_rows] / np.linalg.norm(self._rows[: self._n_rows, : self._p], axis=1)
        return np.concatenate([envelope, np.sort(np.argpartition(slack, _FIRST)[:_FIRST])])

    def rows(self, numbers: Integers) -> tuple[Array, Array, Array]:
        return self._rows[numbers], np.full(len(numbers), -np.inf), self._side[numbers]

    def cuts(self) -> tuple[tuple[LiftedCut, ...], LiftedCut | None]:
        """A cut for each side of each unknown that gains, or a proven contradiction."""
        cuts = []
        for axis in range(self._p):
            for sign in (1.0, -1.0):
                if self._box.upper[axis] == 0:
                    continue
                cost = np.zeros(len(self._scale))
                cost[axis] = sign
                optimum = self.minimize(cost, self._violated)
                if optimum.outcome is Outcome.INFEASIBLE:
                    contradiction = self._contradiction(optimum)
                    if contradiction is not None:
                        return (), contradiction
                if optimum.outcome is Outcome.OPTIMAL:
                    cut = self._proven(axis, sign, optimum, self._scale[axis])
                    if cut.value > -self._box.upper[axis]:
                        cuts.append(cut)
        return tuple(cuts), None

    def multipliers(self, direction: Array) -> tuple[float, Integers, Array]:
        """The least direction · [h, products of h] about, and the multipliers ≥ 0 of the rows that bound it.

        Nothing is proven: −∞ and no multipliers where the program fails.
        """
        optimum = self.minimize(direction * self._scale, self._violated)
        if optimum.outcome is not Outcome.OPTIMAL:
            return -np.inf, np.zeros(0, dtype=np.int64), np.zeros(0)
        rows, shares = optimum.on(self.pool)
        weights = -shares / self._length[rows]
        useful = (weights > 0) & np.isfinite(weights)
        value = float(direction @ (self._scale * optimum.point))
        return value, rows[useful], weights[useful]

    def _violated(self, point: Array) -> Integers:
        """The rows outside the pool that the point violates most."""
        if not self.outside.any():
            return np.zeros(0, dtype=np.int64)
        excess = np.where(self.outside, self._rows @ point - self._side, -np.inf)
        worst = np.argpartition(-excess, min(_PER_ROUND, len(excess) - 1))[:_PER_ROUND]
        return np.sort(worst[excess[worst] > _TOLERANCE])

    def _contradiction(self, optimum: Optimum) -> LiftedCut | None:
        for turned in (1.0, -1.0):
            flipped = Optimum(optimum.outcome, optimum.point, optimum.rows, turned * optimum.weights)
            cut = self._proven(0, 0.0, flipped, 1.0)
            if cut.value > 0:
                return cut
        return None

    def _proven(self, axis: int, sign: float, optimum: Optimum, unit: float) -> LiftedCut:
        """The cut that the multipliers prove in exact arithmetic; only those of the right sign are used."""
        rows, shares = optimum.on(self.pool)
        useful = shares < 0
        rows, shares = rows[useful], unit * shares[useful]
        weights = shares / self._length[rows]
        finite = np.isfinite(weights)
        rows, shares, weights = rows[finite], shares[finite], weights[finite]
        direction = np.zeros(len(self._scale))
        direction[axis] = sign
        value, _ = self._prover.floor(self._box, direction, rows, weights)
        return LiftedCut(axis, sign, value, tuple(rows.tolist()), tuple((-weights).tolist()), tuple((-shares).tolist()))
