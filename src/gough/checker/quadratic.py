"""What weighted strips prove about ellipsoids, in exact rational arithmetic."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from gough.checker.limits import common, product_cost, spend
from gough.checker.linear import NotProven, Sides, largest_value, rows_exactly, vector
from gough.checker.proofs import Round, Strip
from gough.checker.steps import Weights
from gough.checker.words import approximately, written
from gough.core.rational import Whole
from gough.problem import LinearProblem


class Scaled(NamedTuple):
    """Whole numbers, to be multiplied by one unit."""

    numbers: Whole
    unit: Fraction

    @classmethod
    def of(cls, values: Sequence[Fraction]) -> "Scaled":
        numbers, denominator = common(values)
        return cls(numbers, Fraction(1, denominator))


class Body(NamedTuple):
    """An ellipsoid in exact numbers, by the order of the problem's unknowns."""

    center: Scaled
    shape: Scaled

    def reach(self, d: Scaled) -> tuple[Fraction, Fraction]:
        """The middle d · center, and the square of what d · θ may differ from it: dᵀ shape d.

        Of θ in the ellipsoid, by the inequality of Cauchy and Schwarz; along an axis that is flat θ is the center.
        """
        middle = d.unit * self.center.unit * int(d.numbers @ self.center.numbers)
        return middle, d.unit**2 * self.shape.unit * int(d.numbers @ self.shape.numbers @ d.numbers)


class Known(NamedTuple):
    """What strips may be proven from."""

    problem: LinearProblem
    box: Sides
    earlier: tuple[Body, ...] = ()
    """The ellipsoids of the rounds before."""


class Form(NamedTuple):
    """Σ weight (half² − (middle − d · θ)²) = rest + 2 b · x − xᵀ A x with x = θ − center."""

    A: Scaled
    b: Scaled
    rest: Fraction


def require_rounds(problem: LinearProblem, box: Sides, rounds: Iterable[Round]) -> None:
    """Raise NotProven unless each round's ellipsoid holds every consistent θ, which is known to be in the box."""
    known = Known(problem, box)
    for number, one in enumerate(rounds):
        try:
            body = body_of(problem, one)
            for count, strip in enumerate(one.strips, start=1):
                try:
                    require_strip(known, strip)
                except NotProven as short:
                    raise NotProven(f"strip {count}: {short}") from short
            require_ellipsoid(known, body, one.strips)
        except NotProven as short:
            raise NotProven(f"round {number}: {short}") from short
        known = known._replace(earlier=(*known.earlier, body))


def body_of(problem: LinearProblem, one: Round) -> Body:
    """The ellipsoid that a round states."""
    names = [name for name, _ in one.center]
    center = vector(problem, one.center)
    for name in problem.unknowns.names:
        if name not in names:
            raise NotProven(f"the center gives no value to '{name}'")
    place, p = [names.index(name) for name in problem.unknowns.names], len(names)
    shape = Scaled.of([one.shape[max(i, j)][min(i, j)] for i in place for j in place])
    return Body(Scaled.of(center), shape._replace(numbers=shape.numbers.reshape(p, p)))


def require_strip(known: Known, strip: Strip) -> None:
    """Raise NotProven unless |middle − d · θ| ≤ half for every consistent θ."""
    if strip.weight < 0:  # a sum of weight · (half² − (middle − d · θ)²) is not negative for weights ≥ 0 only
        raise NotProven(f"its weight is {written(strip.weight)}, but it must not be negative")
    if strip.half < 0:  # both sides could be proven of an empty set only, which other certificates state
        raise NotProven(f"its half width is {written(strip.half)}, but it must not be negative")
    for sign, source in ((1, strip.below), (-1, strip.above)):
        require_side(known, strip, sign, source)


def require_side(known: Known, strip: Strip, sign: int, source: Weights | int | None) -> None:
    """Raise NotProven unless the source proves the lower side of a strip (sign 1) or its upper side (sign −1)."""
    problem, wanted = known.problem, sign * strip.middle - strip.half
    if isinstance(source, int):
        if not 0 <= source < len(known.earlier):
            raise NotProven(f"it refers to round {source}, which is not before this one")
        middle, square = known.earlier[source].reach(direction_of(problem, strip.of))
        # ± d · θ ≥ ± middle − √square; the root is avoided, which needs ± middle − wanted ≥ 0
        if sign * middle < wanted or (sign * middle - wanted) ** 2 < square:
            raise NotProven(f"the ellipsoid of round {source} reaches beyond its {_side(sign)} side")
        return
    own: Weights = ((strip.of, Fraction(sign)),) if isinstance(strip.of, int) else ()
    d = direction_of(problem, strip.of)
    named = tuple((name, sign * d.unit * int(x)) for name, x in zip(problem.unknowns.names, d.numbers, strict=True))
    proven = largest_value(problem, known.box, named, own if source is None else source)
    if proven < wanted:
        missing = approximately(wanted - proven)
        raise NotProven(f"its {_side(sign)} side is {missing} further in than what is proven")


def _side(sign: int) -> str:
    return "lower" if sign > 0 else "upper"


def direction_of(problem: LinearProblem, of: int | str) -> Scaled:
    """The direction d of a strip: a row of W, or one unknown."""
    if isinstance(of, str):
        return Scaled.of(vector(problem, ((of, Fraction(1)),)))
    if not 0 <= of < problem.n_rows:
        raise NotProven(f"there is no row {of}: the problem has {problem.n_rows}, counted from 0")
    row = rows_exactly(problem, [of])
    return Scaled(row.W[0], Fraction(2) ** row.exponent)


def require_ellipsoid(known: Known, body: Body, strips: Sequence[Strip]) -> None:
    """Raise NotProven unless the weighted strips put every θ of the box into the ellipsoid."""
    problem, box, free = known.problem, known.box, []
    for axis, name in enumerate(problem.unknowns.names):
        center = body.center.unit * int(body.center.numbers[axis])
        if any(body.shape.numbers[axis]):
            free.append(axis)  # the gap below is semidefinite only if the shape is definite along the free axes
        elif not box.lower[axis] == center == box.upper[axis]:
            raise NotProven(f"the ellipsoid is flat along '{name}', but the box does not fix it there")
    M = gap(body, form_of(problem, body, strips), free)
    spend(exact_cost(len(M), SHORT_BITS) // 3)
    if not is_semidefinite(M, before_exact=lambda bits: spend(exact_cost(len(M), bits))):
        raise NotProven("the weighted strips do not imply the ellipsoid: it would have to be larger, or lie elsewhere")


def gap(body: Body, form: Form, free: list[int]) -> Whole:
    """A matrix that is semidefinite if and only if 1 − xᵀ P⁻¹ x ≥ rest + 2 b · x − xᵀ A x for all x.

    That is [A − P⁻¹, −b; −bᵀ, 1 − rest], the Schur complement of P in [P, I, 0; I, A, −b; 0, −bᵀ, 1 − rest]. The
    larger matrix needs no inverse, and it is semidefinite only if P is definite. All of it is times one denominator.
    """
    p, grid, last = len(free), np.ix_(free, free), 1 - form.rest
    scale = lcm(*(x.denominator for x in (body.shape.unit, form.A.unit, form.b.unit, last)))
    M = np.zeros((2 * p + 1, 2 * p + 1), dtype=object)
    M[:p, :p] = body.shape.numbers[grid] * int(body.shape.unit * scale)
    M[p:-1, p:-1] = form.A.numbers[grid] * int(form.A.unit * scale)
    M[p:-1, -1] = M[-1, p:-1] = -form.b.numbers[free] * int(form.b.unit * scale)
    M[-1, -1] = int(last * scale)
    for i in range(p):
        M[i, p + i] = M[p + i, i] = scale
    return M


def form_of(problem: LinearProblem, body: Body, strips: Sequence[Strip]) -> Form:
    """The weighted sum of the strips' squares around the ellipsoid's center."""
    d = _directions(problem, strips)
    middles = (int(x) * d.unit * body.center.unit for x in d.numbers @ body.center.numbers)
    offsets = [strip.middle - x for strip, x in zip(strips, middles, strict=True)]
    weights = Scaled.of([strip.weight for strip in strips])
    pulls = Scaled.of([strip.weight * m for strip, m in zip(strips, offsets, strict=True)])
    rests = Scaled.of([s.weight * (s.half**2 - m**2) for s, m in zip(strips, offsets, strict=True)])
    rest = rests.unit * int(rests.numbers.sum())
    p, digits = len(problem.unknowns), [_bits(x.numbers) for x in (d, weights, pulls)]
    spend(len(strips) * p * (p + 1) * product_cost(sum(digits[:2]), digits[0]))
    A = Scaled((d.numbers.T * weights.numbers) @ d.numbers, d.unit**2 * weights.unit)
    return Form(A, Scaled(pulls.numbers @ d.numbers, d.unit * pulls.unit), rest)


def _bits(numbers: Whole) -> int:
    """Bits of the longest of these whole numbers."""
    return max((int(x).bit_length() for x in numbers.flat), default=0)


def _directions(problem: LinearProblem, strips: Sequence[Strip]) -> Scaled:
    """Direction of each strip."""
    rows = rows_exactly(problem, [strip.of for strip in strips if isinstance(strip.of, int)])
    exponent = min(rows.exponent, 0)
    D = np.zeros((len(strips), len(problem.unknowns)), dtype=object)
    number = 0
    for i, strip in enumerate(strips):
        if isinstance(strip.of, int):
            D[i] = rows.W[number] << (rows.exponent - exponent)
            number += 1
        else:
            D[i] = [int(c) << -exponent for c in vector(problem, ((strip.of, Fraction(1)),))]
    return Scaled(D, Fraction(2) ** exponent)


_BITS = 128
"""Digits kept for the quick look: far more than any margin of a floating-point answer, far less than all."""


SHORT_BITS = 2 * _BITS
"""Bits of the entries that are looked at first."""


def is_semidefinite(M: Whole, before_exact: Callable[[int], None] = lambda _: None) -> bool:
    """Whether xᵀMx ≥ 0 for all x, M symmetric, by fraction-free elimination [BAR68]: its pivots are minors of M.

    Exact numbers are long, and most matrices are far from the edge. So a smaller and a larger matrix with short
    numbers are looked at first: with S = diag(s) M diag(s), s powers of two, and S = T + R, T the whole parts, all
    entries of R are in [0, 1), hence n·1 ± R are diagonally dominant: S is semidefinite if T − n·1 is, and only if
    T + n·1 is. `before_exact` is called with the number of bits if all digits must be looked at.

    Examples:
        >>> import numpy as np
        >>> is_semidefinite(np.array([[1, 1], [1, 1]], dtype=object))
        True
        >>> is_semidefinite(np.array([[1, 2], [2, 3]], dtype=object))
        False
    """
    n = len(M)
    rows = [[int(x) for x in M[i, : i + 1]] for i in range(n)]
    if any(rows[i][i] < 0 for i in range(n)):
        return False
    bits = [rows[i][i].bit_length() for i in range(n)]
    if any(2 * (rows[i][j].bit_length() - 1) >= bits[i] + bits[j] for i in range(n) for j in range(i) if rows[i][j]):
        return False  # M_ij² > M_ii M_jj; it also keeps the numbers below short
    half = [count // 2 for count in bits]
    short = [[_times_power(rows[i][j], _BITS - half[i] - half[j]) for j in range(i + 1)] for i in range(n)]
    if _eliminated(_shifted(short, -n)):
        return True
    if not _eliminated(_shifted(short, n)):
        return False
    before_exact(max((x.bit_length() for row in rows for x in row), default=0))
    return _eliminated(rows)


def exact_cost(n: int, bits: int) -> int:
    """About how many nanoseconds the elimination of n rows of whole numbers with so many bits takes.

    Examples:
        >>> exact_cost(3, 100) < exact_cost(29, 100) < exact_cost(29, 5000)
        True
    """
    return sum((n - k) ** 2 * (200 + 3 * ((k + 1) * bits // 30 + 1) ** 2) // 2 for k in range(n))


def _shifted(rows: list[list[int]], by: int) -> list[list[int]]:
    return [[*row[:-1], row[-1] + by] for row in rows]


def _times_power(x: int, exponent: int) -> int:
    """The whole part of x·2^exponent, rounded down."""
    return x << exponent if exponent >= 0 else x >> -exponent


def _eliminated(rows: list[list[int]]) -> bool:
    """Elimination of a lower triangle; a pivot of 0 is passed over if its column is 0 too."""
    n, previous = len(rows), 1
    rows = [list(row) for row in rows]
    for k in range(n):
        pivot, column = rows[k][k], [rows[i][k] for i in range(k + 1, n)]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        if pivot == 0:
            continue
        for i, head in enumerate(column, start=k + 1):
            row = rows[i]
            for j, other in enumerate(column[: i - k], start=k + 1):
                row[j] = (pivot * row[j] - head * other) // previous
        previous = pivot
    return True
