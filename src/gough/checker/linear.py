"""What weights on rows prove about |y − W θ| ≤ e + D |θ| and a box, in exact rational arithmetic.

A linear program's dual multipliers need not be exact for its bound to be: whatever they miss of the direction is
multiplied by the sides of the box [NS04]. They round outward in floating point, we do not round at all; and we admit
sides at infinity, where nothing may be left over.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from gough.checker.certificate import bounds_of
from gough.checker.limits import common, gcd_cost, product_cost, spend
from gough.checker.physical_proofs import PhysicalStep
from gough.checker.proofs import RelaxedStep
from gough.checker.steps import Coefficients, Link, Reach, Split, Step, Weights, coefficients, row_weights
from gough.checker.words import approximately, row_name, written
from gough.core.arrays import Array
from gough.core.errors import GoughError, nearest
from gough.core.rational import Whole, integers, rational, round_down
from gough.problem import LinearProblem


class NotProven(GoughError):  # noqa: N818 - it says what is the matter
    """The evidence does not prove the statement; the message says where it falls short."""


@dataclass(frozen=True)
class Sides:
    """A box in exact numbers; None is a side at infinity."""

    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]
    refuted: bool = False
    """Is it proven by a contradiction that nothing is in it?"""

    @property
    def is_empty(self) -> bool:
        """Is it proven that nothing is in it?"""
        return self.refuted or self.crossed() is not None

    @cached_property
    def scaled(self) -> tuple[list[int | None], list[int | None], Fraction]:
        """Both sides as whole numbers, and the unit to multiply them by; a side at infinity stays None."""
        numbers, denominator = common(side or Fraction(0) for side in (*self.lower, *self.upper))
        known = zip(numbers.tolist(), (*self.lower, *self.upper), strict=True)
        sides = [None if side is None else number for number, side in known]
        return sides[: len(self.lower)], sides[len(self.lower) :], Fraction(1, denominator)

    def largest(self, axis: int) -> Fraction | None:
        """The largest |θ[axis]| in the box; None for ∞."""
        low, high = self.lower[axis], self.upper[axis]
        return None if low is None or high is None else max(abs(low), abs(high))

    def union(self, other: "Sides") -> "Sides":
        """The smallest box around both. What holds in an empty one holds in the other, which is returned as it is."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        low = (None if a is None or b is None else min(a, b) for a, b in zip(self.lower, other.lower, strict=True))
        high = (None if a is None or b is None else max(a, b) for a, b in zip(self.upper, other.upper, strict=True))
        return Sides(tuple(low), tuple(high))

    @classmethod
    def of_prior(cls, problem: LinearProblem) -> "Sides":
        """The prior's sides. `Box` refuses NaN, lower = ∞ and upper = −∞, so that infinity means "no bound" here."""
        prior = problem.unknowns.bounds
        return cls(_finite(prior.lower), _finite(prior.upper))

    def crossed(self) -> int | None:
        """First axis whose lower side lies above its upper side: nothing is in the box. None if there is none."""
        for axis, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if low is not None and high is not None and low > high:
                return axis
        return None

    def tightened(self, axis: int, slope: Fraction, value: Fraction) -> "Sides":
        """The part where slope · θ[axis] ≥ value, for a slope that is not 0; it keeps `refuted`."""
        side = value / slope  # dividing by a negative slope turns the inequality around, hence the upper side below
        if slope > 0:
            old = self.lower[axis]
            new = side if old is None else max(old, side)
            return replace(self, lower=(*self.lower[:axis], new, *self.lower[axis + 1 :]))
        old = self.upper[axis]
        new = side if old is None else min(old, side)
        return replace(self, upper=(*self.upper[:axis], new, *self.upper[axis + 1 :]))


def _finite(side: Array) -> tuple[Fraction | None, ...]:
    return tuple(rational(x, "a side") if isfinite(x) else None for x in side.tolist())


@dataclass(frozen=True)
class Rows:
    """Some rows of a problem as whole numbers, to be multiplied by 2^exponent."""

    W: Whole
    y: Whole
    e: Whole
    D: Whole | None
    exponent: int


def rows_exactly(problem: LinearProblem, rows: slice | list[int]) -> Rows:
    """Some rows of a problem without rounding. Callers make sure of 0 ≤ row < n_rows: numpy counts −1 from the end."""
    noise, p = bounds_of(problem), len(problem.unknowns)
    W, y = problem.W[rows], problem.y[rows]
    spend(60_000 + 500 * W.size)
    e = np.broadcast_to(noise.radius, (problem.n_rows,))[rows]
    if not (e >= 0).all():  # as with D below; a reach needs r ≤ s r for s ≥ 1, that is, r ≥ 0
        raise NotProven("an error bound is negative somewhere")
    parts = [W, y[:, None], e[:, None]]
    if noise.regressor is not None:
        D = np.broadcast_to(noise.regressor, problem.W.shape)[rows]
        if not (D >= 0).all():  # `Bounded` refuses it, but arrays can be written to; d x − g |x| is concave for g ≥ 0
            raise NotProven("the radius of W is negative somewhere")
        parts.append(D)
    whole, exponent = integers(np.hstack(parts))
    blur = whole[:, p + 2 :] if noise.regressor is not None else None
    return Rows(whole[:, :p], whole[:, p], whole[:, p + 1], blur, exponent)


def vector(problem: LinearProblem, named: Coefficients) -> list[Fraction]:
    """One entry per unknown, 0 where none is named."""
    names, entries = problem.unknowns.names, dict(named)  # no name stands twice: `coefficients` refuses it
    spend(100 * len(names))
    for name in sorted(entries.keys() - set(names)):
        raise NotProven(f"the problem has no unknown '{name:.40}'{nearest(name, names)}")
    return [entries.get(name, Fraction(0)) for name in names]


def require_witness(problem: LinearProblem, theta: Coefficients) -> None:
    """Raise NotProven unless θ satisfies the prior and every row: |y − W θ| ≤ e + D |θ|."""
    point, named = vector(problem, theta), {name for name, _ in theta}
    box = Sides.of_prior(problem)
    for name, x, low, high in zip(problem.unknowns.names, point, box.lower, box.upper, strict=True):
        if name not in named:
            raise NotProven(f"the witness gives no value to '{name}'")
        if low is not None and x < low:
            raise NotProven(f"{name} = {written(x)} is below its prior, {written(low)}")
        if high is not None and x > high:
            raise NotProven(f"{name} = {written(x)} is above its prior, {written(high)}")
    numerators, denominator = common(point)
    digits = _bits(numerators)
    for block in problem.blocks():
        rows = rows_exactly(problem, block)
        spend(rows.W.size * product_cost(digits, 64))
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


class Combined(NamedTuple):
    """What weighted rows say: Σ λ_k y_k ± Σ |λ_k| e_k, and what they leave of a direction, times a unit.

    λ W θ ≥ λ y − |λ| (e + D |θ|) holds for weights of either sign, since |y − W θ| ≤ e + D |θ| bounds both sides.
    """

    middle: Fraction
    half: Fraction
    left: list[int]
    """The direction minus Wᵀλ."""
    blurred: list[int]
    """Dᵀ|λ|."""
    unit: Fraction


def combined(problem: LinearProblem, direction: Coefficients, weights: Weights) -> Combined:
    """The rows with their weights, compared with a direction."""
    for row, _ in weights:
        if not 0 <= row < problem.n_rows:
            raise NotProven(f"there is no row {row}: the problem has {problem.n_rows}, counted from 0")
    rows = rows_exactly(problem, [row for row, _ in weights])
    numerators, denominator = common(weight for _, weight in weights)
    wanted, size = common(vector(problem, direction))
    spend(40_000 + rows.W.size * product_cost(_bits(numerators), 64))
    sizes, unit = abs(numerators), Fraction(2) ** rows.exponent / denominator
    # c − unit · x = (c · size · unit.denominator − x · size · unit.numerator) / (size · unit.denominator)
    left = wanted * unit.denominator - (numerators @ rows.W) * (size * unit.numerator)
    blurred = [0] * len(left) if rows.D is None else ((sizes @ rows.D) * (size * unit.numerator)).tolist()
    middle, half = unit * int(numerators @ rows.y), unit * int(sizes @ rows.e)
    return Combined(middle, half, left.tolist(), blurred, Fraction(1, size * unit.denominator))


def _bits(numbers: Whole) -> int:
    """Bits of the longest of these whole numbers."""
    return max((int(x).bit_length() for x in numbers), default=0)


def largest_value(
    problem: LinearProblem,
    box: Sides,
    direction: Coefficients,
    weights: Weights,
    shared: Sequence[Sequence[int]] = (),
) -> Fraction:
    """The largest v for which the weights prove direction · θ ≥ v for every consistent θ in the box.

    With weights λ and d = direction − Wᵀλ, g = Dᵀ|λ|:
    direction · θ ≥ Σ (λ_k y_k − |λ_k| e_k) + Σ_j min (d_j θ_j − g_j |θ_j|), the minimum over the box.
    Axes of a group of `shared` have one value x in every θ that counts, so that their part is Σ d_j x − Σ g_j |x|; the
    sides of the first of them are used.
    """
    said = combined(problem, direction, weights)
    for first, *others in shared:
        for axis in others:
            for parts in (said.left, said.blurred):
                parts[first], parts[axis] = parts[first] + parts[axis], 0
    lower, upper, unit = box.scaled
    digits = said.unit.denominator.bit_length(), unit.denominator.bit_length()
    spend(2 * len(lower) * product_cost(*digits) + gcd_cost(sum(digits)))
    total = 0
    for axis, (d, g) in enumerate(zip(said.left, said.blurred, strict=True)):
        if d or g:
            ends = [d * side - g * abs(side) for side in (lower[axis], upper[axis]) if side is not None]
            if len(ends) < 2:
                _require_sides(problem, box, axis, d * said.unit, g * said.unit)
            # g ≥ 0: it is concave, so an end has the minimum; toward infinity it does not fall, as was made sure of.
            # In a box whose sides cross, whatever comes out is true of every point of it, since there is none.
            total += min(ends, default=0)
    return said.middle - said.half + total * said.unit * unit


def _require_sides(problem: LinearProblem, box: Sides, axis: int, d: Fraction, g: Fraction) -> None:
    """Raise NotProven if d x − g |x| falls without end along an axis of the box."""
    for side, sign, name in ((box.lower[axis], -1, "lower"), (box.upper[axis], 1, "upper")):
        if side is None and sign * d < g:
            left = f"{approximately(d)} of it over" if g == 0 else "it over, blurred by the radius of W"
            raise NotProven(
                f"the weights leave {left}, and '{problem.unknowns.names[axis]}' has no {name} bound to take it"
            )


def follow(problem: LinearProblem, chain: Iterable[Link], box: Sides | None = None) -> Sides:
    """The box that a chain of links establishes, from the prior on; raises NotProven at the first that proves less.

    Each link is true of every consistent θ in the box before it, hence of every consistent θ. Once the box is empty
    the links after it are true of nothing, and the box stays empty: sides only move inward, and `refuted` is kept.
    """
    box = Sides.of_prior(problem) if box is None else box
    for number, link in enumerate(chain, start=1):
        try:
            box = after(problem, box, link)
        except NotProven as short:
            raise NotProven(f"step {number}: {short}") from short
    return box


def after(problem: LinearProblem, box: Sides, link: Link) -> Sides:
    """The box that one link leaves; raises NotProven if it proves less than it states."""
    match link:
        case Split():
            return _after_split(problem, box, link)
        case Reach():
            return _after_reach(problem, box, link)
    proven = largest_value(problem, box, link.direction, link.weights)
    if proven < link.value:
        missing = approximately(link.value - proven)
        raise NotProven(f"it states {written(link.value)}, which is {missing} more than its rows prove")
    return with_bound(problem, box, link)


def with_bound(problem: LinearProblem, box: Sides, bound: Step | RelaxedStep | PhysicalStep) -> Sides:
    """The box, tightened by a bound that is proven: if it has one unknown only, or says that 0 is positive."""
    slopes = [(axis, c) for axis, c in enumerate(vector(problem, bound.direction)) if c]
    if not slopes and bound.value > 0:
        return replace(box, refuted=True)
    return box.tightened(*slopes[0], bound.value) if len(slopes) == 1 else box


def _after_split(problem: LinearProblem, box: Sides, split: Split) -> Sides:
    # every real number is ≤ at or ≥ at, so the two cases leave nothing out, wherever `at` is
    [axis] = [axis for axis, c in enumerate(vector(problem, ((split.name, Fraction(1)),))) if c]
    halves = []
    for sign, chain, which in ((-1, split.below, "≤"), (1, split.above, "≥")):
        half = box.tightened(axis, Fraction(sign), sign * split.at)
        try:
            halves.append(follow(problem, chain, half))
        except NotProven as short:
            raise NotProven(f"case {split.name} {which} {written(split.at)}: {short}") from short
    return halves[0].union(halves[1])


def _after_reach(problem: LinearProblem, box: Sides, reach: Reach) -> Sides:
    bounds, names = dict(reach.bounds), problem.unknowns.names
    vector(problem, reach.bounds)  # are these names known?
    for name, bound in bounds.items():
        if not bound > 0:  # the largest ratio |θ_i| / b_i exists, and s G b ≤ G b · s, only for b > 0
            raise NotProven(f"the reach of '{name}' is {written(bound)}, but it must be positive")
    if {name for name, _ in reach.weights} != set(bounds):  # the theorem needs an inequality for each of the bounds
        raise NotProven("a reach has no weights for some of its bounds")
    largest = [bounds[name] if name in bounds else box.largest(axis) for axis, name in enumerate(names)]
    for name, weights in reach.weights:
        # strictly: with equality any multiple of b might satisfy the inequalities
        if not _reached(problem, name, weights, largest) < bounds[name]:
            raise NotProven(
                f"the reach of '{name}' is {written(bounds[name])}, but its rows prove no smaller one from it"
            )
    for axis, name in enumerate(names):
        if name in bounds:
            box = box.tightened(axis, Fraction(1), -bounds[name]).tightened(axis, Fraction(-1), -bounds[name])
    return box


def _reached(problem: LinearProblem, name: str, weights: Weights, largest: list[Fraction | None]) -> Fraction:
    """The largest |θ[name]| that weighted rows leave if the other |θ_j| are at most `largest`.

    |θ_i| = |(e_i − Wᵀλ) θ + λ·(W θ)| ≤ Σ |d_j| |θ_j| + |λ·y| + |λ|·e + Σ g_j |θ_j|.
    """
    said = combined(problem, ((name, Fraction(1)),), weights)
    reached = abs(said.middle) + said.half
    for j, (d, g, most) in enumerate(zip(said.left, said.blurred, largest, strict=True)):
        if not d and not g:
            continue
        if most is None:
            raise NotProven(f"the reach of '{name}' depends on '{problem.unknowns.names[j]}', which has no bound")
        reached += said.unit * (abs(d) + g) * most
    return reached


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
        steps.append(best_step(problem, box, coefficients(given, "direction"), row_weights(weighted)))
        box = with_bound(problem, box, steps[-1])
    return tuple(steps)


def best_step(problem: LinearProblem, box: Sides, direction: Coefficients, weights: Weights) -> Step:
    """The step with the largest double that these weights prove in the box."""
    value = round_down(largest_value(problem, box, direction, weights))
    if value is None:
        raise NotProven("the weights prove a bound below all doubles")
    return Step(direction, Fraction(value), weights)
