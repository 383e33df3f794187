"""Bounds of linear functionals from multipliers, in exact rational arithmetic: nothing is rounded but the last digit.

At most p rows are active at a vertex, so exactness costs a millisecond however many rows the problem has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gough.core.arrays import Array
from gough.core.rational import Whole, integers, over_common_denominator, round_down
from gough.evidence import Evidence
from gough.noise import Bounded
from gough.problem import Integers, LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Weights λ on some rows: evidence for direction · θ ≥ value."""

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class _Rows:
    W: Whole
    y: Whole
    e: Whole
    D: Whole | None
    exponent: int


def _rows(problem: LinearProblem, index: Integers) -> _Rows:
    noise, p = problem.noise, len(problem.unknowns)
    assert isinstance(noise, Bounded)
    e = np.broadcast_to(noise.radius, problem.y.shape)[index]
    parts = [problem.W[index], problem.y[index][:, None], e[:, None]]
    if noise.regressor is not None:
        parts.append(np.broadcast_to(noise.regressor, problem.W.shape)[index])
    whole, exponent = integers(np.hstack(parts))
    return _Rows(whole[:, :p], whole[:, p], whole[:, p + 1], whole[:, p + 2 :] if len(parts) > 3 else None, exponent)


def lower_bound(
    problem: LinearProblem, box: Box, direction: Array, rows: Integers, weights: Array
) -> tuple[Fraction | None, Multipliers]:
    """The largest v that the weights prove: direction · θ ≥ v for every consistent θ in the box; None for −∞.

    With d = direction − Wᵀλ and g = Dᵀ|λ| it is Σ (λ_k y_k − |λ_k| e_k) + Σ_j min over the box of d_j θ_j − g_j |θ_j|
    [NS04]. Weights from floating point leave d a little off zero. Where the box has a side at infinity nothing may be
    left over, so there the weights are first corrected in rational arithmetic.
    """
    chosen = np.flatnonzero(weights)
    rows, exact = rows[chosen], [Fraction(w) for w in weights[chosen].tolist()]
    data = _rows(problem, rows)
    exact = _without_remainder(problem.W[rows], box, [Fraction(c) for c in direction.tolist()], data, exact)
    numerators, denominator = over_common_denominator(exact)
    multipliers = Multipliers(tuple(rows.tolist()), tuple(exact))
    wanted, exponent = integers(direction)
    common = min(exponent, data.exponent)
    d = (wanted * denominator << (exponent - common)) - (numerators @ data.W << (data.exponent - common))
    g = np.zeros_like(d) if data.D is None else abs(numerators) @ data.D << (data.exponent - common)
    left, side_exponent = _least(box, d, g)
    if left is None:
        return None, multipliers
    total = Fraction(2) ** data.exponent * int(numerators @ data.y - abs(numerators) @ data.e)
    total += Fraction(2) ** (common + side_exponent) * left
    return total / denominator, multipliers


def _least(box: Box, d: Whole, g: Whole) -> tuple[int | None, int]:
    """Sum over the axes of the minimum of d x − g |x|, concave for g ≥ 0 and so at an end; None if it is −∞.

    In whole numbers, times 2 to the power returned with it.
    """
    low, high = np.isfinite(box.lower), np.isfinite(box.upper)
    if (~low & (-d < g)).any() or (~high & (d < g)).any():
        return None, 0
    n = len(d)
    sides, exponent = integers(np.concatenate([np.where(low, box.lower, 0.0), np.where(high, box.upper, 0.0)]))
    at_low, at_high = (d * x - g * abs(x) for x in (sides[:n], sides[n:]))
    # toward an end at infinity the function does not fall, so the other end has the minimum; 0 where both are
    smaller = np.where(low & high, np.minimum(at_low, at_high), np.where(low, at_low, at_high))
    return int(smaller.sum()), exponent


def _without_remainder(
    W: Array, box: Box, wanted: Sequence[Fraction], data: _Rows, weights: list[Fraction]
) -> list[Fraction]:
    """Weights changed a little so that nothing is left over of the unknowns that have a side at infinity."""
    axes = np.flatnonzero(~np.isfinite(box.width)).tolist()
    if not axes or len(W) < len(axes):
        return weights
    basis = _independent(W[:, axes] * np.abs([float(w) for w in weights])[:, None])
    if basis is None:
        return weights
    numerators, denominator = over_common_denominator(weights)
    unit = Fraction(2) ** data.exponent
    left = [wanted[j] - unit * int(numerators @ data.W[:, j]) / denominator for j in axes]
    change = solve_exactly(data.W[basis][:, axes].T, [x / unit for x in left])
    if change is None:
        return weights
    for k, delta in zip(basis, change, strict=True):
        weights[k] += delta
    return weights


def _independent(W: Array) -> list[int] | None:
    """As many rows as columns that span the space, by QR with pivoting; None if there are none."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    size = abs(W).max(axis=0)
    if not size.all():
        return None
    R, order = qr((W / size).T, mode="r", pivoting=True)
    diagonal = abs(np.diagonal(R))
    if diagonal.min() <= 1e-12 * diagonal.max():
        return None
    return [int(k) for k in order[: W.shape[1]]]


def solve_exactly(A: Whole, b: Sequence[Fraction]) -> list[Fraction] | None:
    """The solution of A x = b for whole numbers A, by fraction-free elimination [BAR68]; None if A is singular.

    Examples:
        >>> solve_exactly(np.array([[2, 1], [1, 3]], dtype=object), [Fraction(1), Fraction(0)])
        [Fraction(3, 5), Fraction(-1, 5)]
    """
    n = len(b)
    right, denominator = over_common_denominator(b)
    M = [[int(A[i, j]) for j in range(n)] + [int(right[i])] for i in range(n)]
    previous = 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if M[i][k]), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(n):
            if i != k:
                factor, head = M[i][k], M[k][k]
                M[i] = [(head * x - factor * y) // previous for x, y in zip(M[i], M[k], strict=True)]
        previous = M[k][k]
    return [Fraction(M[i][n], M[i][i] * denominator) for i in range(n)]


def evidence(names: tuple[str, ...], factors: tuple[float, ...], used: Multipliers) -> Evidence:
    """The multipliers of a direction in the form that estimates carry."""
    return Evidence(names, factors, used.rows, tuple(str(weight) for weight in used.weights))


def rounded_down(value: Fraction | None) -> float:
    """The largest double not above a bound; −∞ where there is none."""
    near = None if value is None else round_down(value)
    return -np.inf if near is None else near


def rounded_up(value: Fraction | None) -> float:
    """The smallest double not below a bound; +∞ where there is none."""
    return -rounded_down(None if value is None else -value)
