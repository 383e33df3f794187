"""Bounds of linear functionals from multipliers, in exact rational arithmetic: only the result is rounded.

At most p rows are active at a vertex, so exactness costs a tenth of a millisecond however many rows there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from operator import mul
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.exact_equations import solve_exactly
from gough.core.rational import dyadic_down, integers, over_common_denominator, round_down, whole_numbers
from gough.evidence import Evidence
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Weights λ on some rows: evidence for direction · θ ≥ value."""

    rows: tuple[int, ...]
    factors: tuple[Fraction | float, ...]

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(w) for w in self.factors)

    @cached_property
    def support(self) -> frozenset[int]:
        """The rows whose weight is not zero."""
        return frozenset(row for row, weight in zip(self.rows, self.factors, strict=True) if weight)


class Floors(NamedTuple):
    """Bounds from several rows of multipliers; these become objects only where somebody asks for them."""

    values: list[float]
    rows: list[list[int]]
    """Rows of each bound, those of weight zero included."""
    factors: list[list[float]] | list[list[Fraction | float]]

    def support(self, place: int) -> frozenset[int]:
        """The rows of a bound whose weight is not zero."""
        return frozenset(compress(self.rows[place], self.factors[place]))

    def multipliers(self, place: int) -> Multipliers:
        """The multipliers of a bound."""
        factors = self.factors[place]
        return Multipliers(tuple(compress(self.rows[place], factors)), tuple(filter(None, factors)))


class Prover:
    """Bounds of one problem from multipliers; its rows are converted to whole numbers once."""

    def __init__(self, problem: LinearProblem) -> None:
        from gough.methods.bounded import long_sums  # noqa: PLC0415 - numba

        noise = problem.noise
        assert isinstance(noise, Bounded)
        self._problem, self._sum = problem, long_sums
        self._e = np.broadcast_to(noise.radius, problem.y.shape)
        self._D = None if noise.regressor is None else np.broadcast_to(noise.regressor, problem.W.shape)
        self._known: dict[int, tuple[list[int], int]] = {}
        self._place: dict[int, int] = {}
        self._table = np.empty((16, len(problem.unknowns) + 2))
        """Rows [W y e] that were used."""

    def lower_bound(
        self, box: Box, direction: Array, rows: Integers, weights: Array
    ) -> tuple[Fraction | None, Multipliers]:
        """The largest v that the weights prove: direction · θ ≥ v for every consistent θ in the box; None for −∞.

        With d = direction − Wᵀλ and g = Dᵀ|λ| it is Σ (λ_k y_k − |λ_k| e_k) + Σ_j min over the box of
        d_j θ_j − g_j |θ_j| [NS04]. Weights from floating point leave d a little off zero. Where the box has a side at
        infinity nothing may be left over, so there the weights are first corrected in rational arithmetic.
        """
        whole, used = self._proven(box, direction, rows, weights)
        return whole if whole is None or isinstance(whole, Fraction) else _times(*whole), used

    def floor(self, box: Box, direction: Array, rows: Integers, weights: Array) -> tuple[float, Multipliers]:
        """The largest double not above that bound; −∞ where there is none."""
        whole, used = self._proven(box, direction, rows, weights)
        if whole is None or isinstance(whole, Fraction):
            return rounded_down(whole), used
        near = dyadic_down(*whole)
        return -np.inf if near is None else near, used

    def floors(self, box: Box, direction: Array, rows: Integers, weights: Array) -> Floors:
        """The same for several rows of numbers and weights."""
        if not self._is_plain(box, rows.shape[1]):
            bounds = [self.floor(box, direction, *one) for one in zip(rows, weights, strict=True)]
            used = [one for _, one in bounds]
            return Floors([v for v, _ in bounds], [list(one.rows) for one in used], [list(one.factors) for one in used])
        usable = _usable(self._problem, rows, weights)
        rows, weights = np.where(usable, rows, 0), np.where(usable, weights, 0.0)
        nearest = [dyadic_down(*value) for value in self._long_sums(box, direction, rows, weights)]
        return Floors([-np.inf if near is None else near for near in nearest], rows.tolist(), weights.tolist())

    def _is_plain(self, box: Box, n_rows: int) -> bool:
        return self._D is None and max(n_rows, len(box)) <= self._sum.MOST and box.is_bounded

    def _proven(
        self, box: Box, direction: Array, rows: Integers, weights: Array
    ) -> tuple[Fraction | tuple[int, int] | None, Multipliers]:
        chosen = (_usable(self._problem, rows, weights) & (weights != 0)).nonzero()[0]
        rows, factors = rows[chosen], weights[chosen]
        if self._is_plain(box, len(rows)):
            (value,) = self._long_sums(box, direction, rows[None], factors[None])
            return value, Multipliers(tuple(rows.tolist()), tuple(factors.tolist()))
        return self._with_fractions(box, direction, rows, factors.tolist())

    def _long_sums(self, box: Box, direction: Array, rows: Integers, weights: Array) -> list[tuple[int, int]]:
        """Bounds as whole numbers times powers of two."""
        places, (n, length) = self._places(rows), (len(rows), self._sum.LENGTH)
        totals = np.empty((n, length), dtype=np.int64)
        table, wanted, lower, upper = map(_bits, (self._table, direction, box.lower, box.upper))
        self._sum.bounds(table, places, _bits(weights), wanted, lower, upper, totals)
        used = (totals != 0).any(axis=0).nonzero()[0]
        first, last = (int(used[0]), int(used[-1])) if used.size else (0, 0)
        sums = []
        for digits in totals[:, first : last + 1][:, ::-1].tolist():
            value = 0
            for digit in digits:
                value = (value << self._sum.BITS) + digit
            sums.append((value, self._sum.BITS * (first - self._sum.ZERO)))
        return sums

    def _places(self, rows: Integers) -> Integers:
        """Positions of some rows in the table of [W y e]; missing rows are entered."""
        new = [k for k in set(rows.ravel().tolist()) if k not in self._place]
        if new:
            n, size = len(self._place), len(self._table)
            if n + len(new) > size:
                self._table = np.concatenate([self._table, np.empty((max(size, len(new)), self._table.shape[1]))])
            part = slice(n, n + len(new))
            self._table[part, :-2] = self._problem.W[new]
            self._table[part, -2], self._table[part, -1] = self._problem.y[new], self._e[new]
            self._place |= {k: n + i for i, k in enumerate(new)}
        return np.array([[self._place[k] for k in some] for some in rows.tolist()], dtype=np.int64).reshape(rows.shape)

    def _with_fractions(
        self, box: Box, direction: Array, rows: Integers, factors: list[float]
    ) -> tuple[Fraction | None, Multipliers]:
        """The same for boxes with a side at infinity, and where W is uncertain."""
        wanted = whole_numbers(direction.tolist())
        sums = self._sums(rows.tolist(), *whole_numbers(factors))
        weights: list[Fraction | float] = list(factors)
        if not box.is_bounded:
            weights = self._without_remainder(box, wanted, rows, sums, factors)
            numerators, denominator = over_common_denominator([Fraction(w) for w in weights])
            sums = self._sums(rows.tolist(), numerators.tolist(), 0, denominator)
        return _least(_Sides.of(box), *wanted, sums), Multipliers(tuple(rows.tolist()), tuple(weights))

    def _row(self, k: int) -> tuple[list[int], int]:
        """W_k, y_k, e_k and D_k as whole numbers times a power of two."""
        if k not in self._known:
            numbers = [*self._problem.W[k].tolist(), float(self._problem.y[k]), float(self._e[k])]
            self._known[k] = whole_numbers(numbers if self._D is None else numbers + self._D[k].tolist())
        return self._known[k]

    def _sums(self, rows: list[int], weights: list[int], exponent: int, denominator: int = 1) -> "_Sums":
        """Sums over the rows for weights · 2^exponent / denominator."""
        p, parts = len(self._problem.unknowns), [self._row(k) for k in rows]
        lowest = min((q for _, q in parts), default=0)
        shifted = [w << (q - lowest) for w, (_, q) in zip(weights, parts, strict=True)]
        columns = list(zip(*(numbers for numbers, _ in parts), strict=True)) or [()] * (2 * p + 2)
        sizes = [abs(w) for w in shifted]
        Wt = [_dot(shifted, column) for column in columns[:p]]
        Dt = [0] * p if self._D is None else [_dot(sizes, column) for column in columns[p + 2 :]]
        value = _dot(shifted, columns[p]) - _dot(sizes, columns[p + 1])
        return _Sums(Wt, Dt, value, exponent + lowest, denominator)

    @np.errstate(all="ignore")
    def _without_remainder(
        self, box: Box, wanted: tuple[list[int], int], rows: Integers, sums: "_Sums", weights: list[float]
    ) -> list[Fraction | float]:
        """Weights changed a little so that nothing is left over of the unknowns that have a side at infinity."""
        # what no row involves cannot be corrected, and needs no correction unless it is wanted
        axes = np.flatnonzero(~np.isfinite(box.width) & self._problem.W[rows].any(axis=0)).tolist()
        W, size = self._problem.W[rows][:, axes], np.abs(weights)
        basis = _independent(W * (size / size.max())[:, None]) if 0 < len(axes) <= len(W) else None
        if basis is None:
            return list(weights)
        left = [_times(wanted[0][j], wanted[1]) - _times(sums.Wt[j], sums.exponent) for j in axes]
        whole, exponent = integers(W[basis].T)
        change = solve_exactly(whole, [x / _times(1, exponent) for x in left])
        if change is None:
            return list(weights)
        corrected: list[Fraction | float] = [Fraction(w) for w in weights]
        for k, delta in zip(basis, change, strict=True):
            corrected[k] += delta
        return corrected


def _usable(problem: LinearProblem, rows: Integers, weights: Array) -> Mask:
    """Mask of the proposals that are a finite weight on a row of the problem: proposals are not trusted."""
    usable: Mask = np.isfinite(weights) & (rows >= 0) & (rows < problem.n_rows)
    return usable


class _Sums(NamedTuple):
    """Wᵀλ, Dᵀ|λ| and Σ (λ y − |λ| e), each of them times 2^−exponent · denominator."""

    Wt: list[int]
    Dt: list[int]
    value: int
    exponent: int
    denominator: int


class _Sides(NamedTuple):
    """The sides of a box times 2^−exponent; None where one is at infinity."""

    lower: Sequence[int | None]
    upper: Sequence[int | None]
    exponent: int

    @classmethod
    def of(cls, box: Box) -> "_Sides":
        ends = np.concatenate([box.lower, box.upper])
        finite = np.isfinite(ends)
        numbers, exponent = whole_numbers(np.where(finite, ends, 0.0).tolist())
        sides = [n if known else None for n, known in zip(numbers, finite.tolist(), strict=True)]
        return cls(sides[: len(box)], sides[len(box) :], exponent)

    def least(self, j: int, d: int, g: int) -> int | None:
        """The minimum of d x − g |x| along an axis, times 2^−exponent; g ≥ 0, so it is at an end. None if it is −∞."""
        low, high = self.lower[j], self.upper[j]
        if g == 0 and low is not None and high is not None:
            return d * (low if d > 0 else high)
        if (low is None and -d < g) or (high is None and d < g):
            return None
        # toward an end at infinity the function does not fall, so the other end has the minimum; 0 where both are
        return min((d * x - g * abs(x) for x in (low, high) if x is not None), default=0)


def _least(sides: _Sides, wanted: list[int], unit: int, sums: _Sums) -> Fraction | None:
    """Σ (λ y − |λ| e) and the minimum over the box of what is left; None if it is −∞. In units of 2^common."""
    common = min(unit, sums.exponent)
    up, down = unit - common, sums.exponent - common
    total = 0
    for j, (c, w, g) in enumerate(zip(wanted, sums.Wt, sums.Dt, strict=True)):
        least = sides.least(j, (c * sums.denominator << up) - (w << down), g << down)
        if least is None:
            return None
        total += least
    value = _times(sums.value, sums.exponent) + _times(total, common + sides.exponent)
    return value if sums.denominator == 1 else value / sums.denominator


def _bits(x: Array) -> Integers:
    return np.ascontiguousarray(x, dtype=np.float64).view(np.int64)


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(map(mul, a, b))


def _times(n: int, exponent: int) -> Fraction:
    """The number n · 2^exponent."""
    return Fraction(n << exponent) if exponent >= 0 else Fraction(n, 1 << -exponent)


@np.errstate(all="ignore")
def _independent(W: Array) -> list[int] | None:
    """As many rows as columns that span the space, by QR with pivoting; None if there are none."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    size = abs(W).max(axis=0)
    scaled = W / size
    if not np.isfinite(scaled).all():
        return None
    R, order = qr(scaled.T, mode="r", pivoting=True)
    diagonal = abs(np.diagonal(R))
    if diagonal.min() <= 1e-12 * diagonal.max():
        return None
    return [int(k) for k in order[: W.shape[1]]]


def evidence(names: tuple[str, ...], factors: tuple[float, ...], used: Multipliers) -> Evidence:
    """The multipliers of a direction in the form that estimates carry."""
    return Evidence(names, factors, used.rows, tuple(map(_text, used.factors)))


def _text(weight: Fraction | float) -> str:
    """As str of the fraction, which need not be made for that."""
    n, d = weight.as_integer_ratio()
    return str(n) if d == 1 else f"{n}/{d}"


def rounded_down(value: Fraction | None) -> float:
    """The largest double not above a bound; −∞ where there is none."""
    near = None if value is None else round_down(value)
    return -np.inf if near is None else near


def rounded_up(value: Fraction | None) -> float:
    """The smallest double not below a bound; +∞ where there is none."""
    return -rounded_down(None if value is None else -value)
