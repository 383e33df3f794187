"""What weights on rows prove about |y − W θ| ≤ e + D |θ| and a box, in exact rational arithmetic.

A linear program's dual multipliers need not be exact for its bound to be: whatever they miss of the direction is
multiplied by the sides of the box [NS04]. They round outward in floating point, we do not round at all; and we admit
sides at infinity, where nothing may be left over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gough.certify.certificate import Coefficients, Step, Weights, bounds_of, coefficients, row_weights
from gough.certify.words import approximately, row_name, written
from gough.core.arrays import Array
from gough.core.errors import GoughError, nearest
from gough.core.rational import Whole, integers, over_common_denominator, rational, round_down
from gough.problem import LinearProblem


class NotProven(GoughError):  # noqa: N818 - it says what is the matter
    """The evidence does not prove the statement; the message says where it falls short."""


@dataclass(frozen=True)
class Sides:
    """A box in exact numbers; None is a side at infinity."""

    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]

    @classmethod
    def of_prior(cls, problem: LinearProblem) -> "Sides":
        prior = problem.unknowns.bounds
        return cls(_finite(prior.lower), _finite(prior.upper))

    def crossed(self) -> int | None:
        """First axis whose lower side lies above its upper side: nothing is in the box. None if there is none."""
        for axis, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if low is not None and high is not None and low > high:
                return axis
        return None

    def tightened(self, axis: int, slope: Fraction, value: Fraction) -> "Sides":
        """The part where slope · θ[axis] ≥ value."""
        side = value / slope
        if slope > 0:
            old = self.lower[axis]
            new = side if old is None else max(old, side)
            return replace(self, lower=(*self.lower[:axis], new, *self.lower[axis + 1 :]))
        old = self.upper[axis]
        new = side if old is None else min(old, side)
        return replace(self, upper=(*self.upper[:axis], new, *self.upper[axis + 1 :]))


def _finite(side: Array) -> tuple[Fraction | None, ...]:
    return tuple(rational(x, "a side") if np.isfinite(x) else None for x in side.tolist())


@dataclass(frozen=True)
class _Rows:
    """Some rows of a problem as whole numbers, to be multiplied by 2^exponent."""

    W: Whole
    y: Whole
    e: Whole
    D: Whole | None
    exponent: int


def _rows(problem: LinearProblem, rows: slice | list[int]) -> _Rows:
    noise, p = bounds_of(problem), len(problem.unknowns)
    W, y = problem.W[rows], problem.y[rows]
    e = np.broadcast_to(noise.radius, (problem.n_rows,))[rows]
    parts = [W, y[:, None], e[:, None]]
    if noise.regressor is not None:
        parts.append(np.broadcast_to(noise.regressor, problem.W.shape)[rows])
    whole, exponent = integers(np.hstack(parts))
    D = whole[:, p + 2 :] if noise.regressor is not None else None
    return _Rows(whole[:, :p], whole[:, p], whole[:, p + 1], D, exponent)


def vector(problem: LinearProblem, named: Coefficients) -> list[Fraction]:
    """One entry per unknown, 0 where none is named."""
    names = problem.unknowns.names
    for name, _ in named:
        if name not in names:
            raise NotProven(f"the problem has no unknown '{name}'{nearest(name, names)}")
    entries = dict(named)
    return [entries.get(name, Fraction(0)) for name in names]


def require_witness(problem: LinearProblem, theta: Coefficients) -> None:
    """Raise NotProven unless θ satisfies the prior and every row: |y − W θ| ≤ e + D |θ|."""
    point, given = vector(problem, theta), {name for name, _ in theta}
    box = Sides.of_prior(problem)
    for name, x, low, high in zip(problem.unknowns.names, point, box.lower, box.upper, strict=True):
        if name not in given:
            raise NotProven(f"the witness gives no value to '{name}'")
        if low is not None and x < low:
            raise NotProven(f"{name} = {written(x)} is below its prior, {written(low)}")
        if high is not None and x > high:
            raise NotProven(f"{name} = {written(x)} is above its prior, {written(high)}")
    numerators, denominator = over_common_denominator(point)
    for block in problem.blocks():
        rows = _rows(problem, block)
        misfit = abs(rows.y * denominator - rows.W @ numerators)
        allowed = rows.e * denominator
        if rows.D is not None:
            allowed = allowed + rows.D @ abs(numerators)
        wrong = np.flatnonzero(misfit > allowed)
        if wrong.size:
            first = int(wrong[0])
            excess = Fraction(misfit[first] - allowed[first], denominator) * Fraction(2) ** rows.exponent
            where = row_name(problem, block.start + first)
            raise NotProven(f"{where} is violated: |y − W θ| exceeds its bound by {approximately(excess)}")


def largest_value(problem: LinearProblem, box: Sides, direction: Coefficients, weights: Weights) -> Fraction:
    """The largest v for which the weights prove direction · θ ≥ v for every consistent θ in the box.

    With weights λ and d = direction − Wᵀλ, g = Dᵀ|λ|:
    direction · θ ≥ Σ (λ_k y_k − |λ_k| e_k) + Σ_j min (d_j θ_j − g_j |θ_j|), the minimum over the box.
    """
    for row, _ in weights:
        if row >= problem.n_rows:
            raise NotProven(f"there is no row {row}: the problem has {problem.n_rows}, counted from 0")
    wanted = vector(problem, direction)
    rows = _rows(problem, [row for row, _ in weights])
    numerators, denominator = over_common_denominator(weight for _, weight in weights)
    unit = Fraction(2) ** rows.exponent / denominator
    total = unit * int(numerators @ rows.y - abs(numerators) @ rows.e)
    taken = numerators @ rows.W
    blurred = np.zeros(len(wanted), dtype=object) if rows.D is None else abs(numerators) @ rows.D
    for axis, c in enumerate(wanted):
        total += _least(problem, box, axis, c - unit * int(taken[axis]), unit * int(blurred[axis]))
    return total


def _least(problem: LinearProblem, box: Sides, axis: int, d: Fraction, g: Fraction) -> Fraction:
    """Minimum of d x − g |x|, g ≥ 0, over one axis of the box. It is concave, so an end has it."""
    ends = []
    for side, sign, name in ((box.lower[axis], -1, "lower"), (box.upper[axis], 1, "upper")):
        if side is not None:
            ends.append(d * side - g * abs(side))
        elif sign * d < g:
            left = f"{approximately(d)} of it over" if g == 0 else "it over, blurred by the radius of W"
            raise NotProven(
                f"the weights leave {left}, and '{problem.unknowns.names[axis]}' has no {name} bound to take it"
            )
    return min(ends, default=Fraction(0))


def follow(problem: LinearProblem, steps: Iterable[Step]) -> Sides:
    """The box that a chain of steps establishes; raises NotProven at the first step that is not proven."""
    box = Sides.of_prior(problem)
    for number, step in enumerate(steps, start=1):
        try:
            proven = largest_value(problem, box, step.direction, step.weights)
        except NotProven as short:
            raise NotProven(f"step {number}: {short}") from short
        if proven < step.value:
            missing = approximately(step.value - proven)
            raise NotProven(f"step {number} states {written(step.value)}, which is {missing} more than its rows prove")
        box = _after(problem, box, step)
    return box


def _after(problem: LinearProblem, box: Sides, step: Step) -> Sides:
    slopes = [(axis, c) for axis, c in enumerate(vector(problem, step.direction)) if c]
    return box.tightened(*slopes[0], step.value) if len(slopes) == 1 else box


def prove(problem: LinearProblem, outline: Iterable[tuple[Mapping[str, Any], Mapping[int, Any]]]) -> tuple[Step, ...]:
    """A chain of steps from directions and weights, each with the largest double that its weights prove.

    Raises:
        NotProven: some weights prove nothing, because they leave over an unknown whose side is at infinity.

    Examples:
        >>> from gough import Bounded, Unknowns
        >>> problem = LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], Unknowns(["a", "b"]), Bounded(0.5))
        >>> [step] = prove(problem, [({"a": 1}, {0: 0.5, 1: 0.5})])
        >>> step.value
        Fraction(3, 2)
    """
    box, steps = Sides.of_prior(problem), []
    for given, weighted in outline:
        direction, weights = coefficients(given, "direction"), row_weights(weighted)
        value = round_down(largest_value(problem, box, direction, weights))
        if value is None:
            raise NotProven("the weights prove a bound below all doubles")
        steps.append(Step(direction, Fraction(value), weights))
        box = _after(problem, box, steps[-1])
    return tuple(steps)
