"""Ellipsoids of a method, with the weighted strips that prove them: proposals in floating point, made exact here."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gough.checker.linear import NotProven, Sides
from gough.checker.proofs import Round, Strip
from gough.checker.quadratic import (
    Body,
    Known,
    Scaled,
    body_of,
    direction_of,
    form_of,
    require_ellipsoid,
    require_side,
    require_strip,
)
from gough.checker.steps import Coefficients, Weights
from gough.core.arrays import Array
from gough.core.rational import rational
from gough.core.threads import one_blas_thread
from gough.evidence import EllipsoidRound, Evidence
from gough.problem import LinearProblem
from gough.region import Ellipsoid

ROOM = 2.0**-37
"""Methods leave more room than this between an ellipsoid and its strips, relative to its size."""

_MANY = 3
"""So many times the number that suffices are left as they are."""


def rounds_of(
    problem: LinearProblem, box: Sides, hints: Sequence[EllipsoidRound], region: Ellipsoid
) -> tuple[Round, ...]:
    """The rounds of a certificate, the last of which states the very region.

    Raises:
        NotProven: the strips do not imply the region.
    """
    rounds: list[Round] = []
    known = Known(problem, box)
    for number, hint in enumerate(hints):
        last = number == len(hints) - 1
        center, shape = (region.center, _exactly(region.shape)) if last else (hint.center, _product(hint.factor))
        try:
            one = _round(known, hint, _named(problem, center), shape)
        except NotProven as short:
            raise NotProven(f"round {number}: {short}") from short
        rounds.append(one)
        known = known._replace(earlier=(*known.earlier, body_of(problem, one)))
    return tuple(rounds)


def _round(known: Known, hint: EllipsoidRound, center: Coefficients, shape: tuple[tuple[Fraction, ...], ...]) -> Round:
    problem = known.problem
    body = body_of(problem, Round(center, shape, ()))
    chosen = [i for i, w in enumerate(hint.weights.tolist()) if w > 0]
    chosen, weights = condensed(problem, hint, chosen, body)
    strips = [_strip(problem, hint, body, i, w) for i, w in zip(chosen, weights, strict=True)]
    if not hint.below:
        strips = [_with_sources(known, strip) for strip in strips]
    else:
        for strip in strips:
            require_strip(known, strip)
    short = NotProven("the strips leave a direction open")
    for factor in _factors(problem, body, strips):
        scaled = [replace(strip, weight=_short(factor * strip.weight)) for strip in strips]
        try:
            require_ellipsoid(known, body, scaled)
        except NotProven as reason:
            short = reason
            continue
        return Round(center, shape, tuple(scaled))
    raise short


def _strip(problem: LinearProblem, hint: EllipsoidRound, body: Body, i: int, weight: float) -> Strip:
    row = hint.rows[i]
    of: int | str = row if row >= 0 else problem.unknowns.names[-1 - row]
    middle, half, exact = (rational(float(x), "a number") for x in (hint.middle[i], hint.half[i], weight))
    d, flat = direction_of(problem, of), [not any(axis) for axis in body.shape.numbers]
    middle += d.unit * body.center.unit * sum(d.numbers[flat] * body.center.numbers[flat])
    if not hint.below:
        return Strip(of, middle, half, exact)
    return Strip(of, middle, half, exact, _weights(hint.below[i]), _weights(hint.above[i]))


def _weights(hint: Evidence) -> Weights:
    exact = ((row, Fraction(weight)) for row, weight in zip(hint.rows, hint.weights, strict=True))
    return tuple((row, weight) for row, weight in exact if weight)


def _with_sources(known: Known, strip: Strip) -> Strip:
    """The strip with what proves each of its sides."""
    return replace(strip, below=_source(known, strip, 1), above=_source(known, strip, -1))


def _source(known: Known, strip: Strip, sign: int) -> int | None:
    """What proves a side of a strip: its row or the box, or an earlier round, the latest that does."""
    for source in (None, *reversed(range(len(known.earlier)))):
        try:
            require_side(known, strip, sign, source)
        except NotProven:
            continue
        return source
    raise NotProven(f"nothing proves a side of the strip of {strip.of}")


def _factors(problem: LinearProblem, body: Body, strips: list[Strip]) -> Iterator[Fraction]:
    """Factors on the weights with which the strips may imply the ellipsoid; which one does is for others to find.

    Around the center the strips say xᵀ A x − 2 b · x ≤ rest, an ellipsoid of squared radius ρ = rest + bᵀ A⁻¹ b in the
    metric of A. With β = bᵀ A⁻¹ b / ρ, its center's distance squared, and P⁻¹ ⪯ (1 − ε) A / ρ, weights (1 − δ) / ρ
    serve if δ (ε − δ) ≥ β; and ε is more than 2 √β, since the ellipsoid reaches beyond the displaced one.

    Strips without width, from error bounds of zero, have ρ = 0, or what rounding makes of it: then any factor t serves
    for which t A exceeds P⁻¹ by far.
    """
    form, square = form_of(problem, body, strips), [body.shape.unit * int(x) for x in body.shape.numbers.diagonal()]
    free = [axis for axis, x in enumerate(square) if x > 0]
    if not free:
        yield Fraction(1)
        return
    unit = {axis: _size(square[axis]) for axis in free}
    grid = [[form.A.unit * int(form.A.numbers[i, j]) * unit[i] * unit[j] for j in free] for i in free]
    size = max(row[i] for i, row in enumerate(grid)) or Fraction(1)
    A = np.array([[float(x / size) for x in row] for row in grid])
    shape = [[body.shape.unit * int(body.shape.numbers[i, j]) / (unit[i] * unit[j]) for j in free] for i in free]
    P = np.array([[float(x) for x in row] for row in shape])
    push = [form.b.unit * int(form.b.numbers[i]) * unit[i] for i in free]
    longest = max(map(abs, push)) or Fraction(1)
    b = np.array([float(x / longest) for x in push])
    try:
        pulled = max(float(b @ np.linalg.solve(A, b)), 0.0)
        most = float(np.linalg.eigvals(np.linalg.solve(P, np.linalg.inv(A))).real.max())
    except np.linalg.LinAlgError as error:
        raise NotProven("the strips leave a direction open") from error
    if not (np.isfinite(pulled) and np.isfinite(most)):
        raise NotProven("the strips leave a direction open")
    pull = rational(pulled, "a number") * longest**2 / size
    rho = form.rest + pull
    if rho > 0:
        delta = float(np.sqrt(float(pull / rho))) + ROOM / 2 if pull < rho else 1.0
        if delta < 1:
            yield rational(1 - delta, "a number") / rho
    if most > 0:
        for room in (4, 10, 20, 40):
            yield rational(most, "a number") * 2**room / size


def _size(square: Fraction) -> Fraction:
    """A power of two near the root."""
    return Fraction(2) ** ((square.numerator.bit_length() - square.denominator.bit_length()) // 2)


def _short(x: Fraction) -> Fraction:
    """The double near a number, where there is one."""
    try:
        near = float(x)
    except OverflowError:
        return x
    return rational(near, "a weight") if near else x


def _named(problem: LinearProblem, values: Array) -> tuple[tuple[str, Fraction], ...]:
    pairs = zip(problem.unknowns.names, values.tolist(), strict=True)
    return tuple((name, rational(x, "a number")) for name, x in pairs)


def _exactly(shape: Array) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(rational(x, "a number") for x in shape[i, : i + 1].tolist()) for i in range(len(shape)))


def _product(factor: Array) -> tuple[tuple[Fraction, ...], ...]:
    """The lower triangle of factor · factorᵀ, without rounding."""
    rows = [[rational(x, "a number") for x in row] for row in factor.tolist()]
    zero = Fraction(0)
    return tuple(
        tuple(sum((a * b for a, b in zip(rows[i], rows[j], strict=True)), zero) for j in range(i + 1))
        for i in range(len(rows))
    )


@one_blas_thread()
def condensed(
    problem: LinearProblem, hint: EllipsoidRound, chosen: Sequence[int], body: Body
) -> tuple[list[int], list[float]]:
    """Numbers and weights of strips that say the same as the chosen ones together, if those are many.

    The weighted sum of the strips' squares is a vector of (p + 1)(p + 2)/2 coefficients, and so many of the strips
    suffice for it [CAR11]. Rounding changes it a little; whatever comes out is proven afterwards.
    """
    weights, p = hint.weights[list(chosen)], len(body.center.numbers)
    size = (p + 1) * (p + 2) // 2
    if len(chosen) <= _MANY * size:
        return list(chosen), weights.tolist()
    rows = np.array([hint.rows[i] for i in chosen])
    middle, half = hint.middle[list(chosen)], hint.half[list(chosen)]
    D = np.where((rows >= 0)[:, None], problem.W[np.maximum(rows, 0)], 0.0)
    sides = np.flatnonzero(rows < 0)
    D[sides, -1 - rows[sides]] = 1.0
    P, c = _floats(body.shape), _floats(body.center)
    free = P.diagonal() > 0
    scale = np.sqrt(P.diagonal()[free])
    with np.errstate(all="ignore"):
        try:
            L = np.linalg.cholesky(P[np.ix_(free, free)] / np.outer(scale, scale)) * scale[:, None]
        except np.linalg.LinAlgError:
            return list(chosen), weights.tolist()
        A, m = D[:, free] @ L, middle - D @ c
        i, j = np.triu_indices(A.shape[1])
        V = np.column_stack([A[:, i] * A[:, j], m[:, None] * A, half**2 - m**2])
        if not np.isfinite(np.square(weights[:, None] * V).sum()):
            return list(chosen), weights.tolist()
        few = fewer(V, weights)
    kept = np.flatnonzero(few)
    return [chosen[k] for k in kept.tolist()], few[kept].tolist()


def _floats(scaled: Scaled) -> Array:
    return np.vectorize(lambda x: float(scaled.unit * int(x)), otypes=[np.float64])(scaled.numbers)


def fewer(V: Array, weights: Array) -> Array:
    """Weights ≥ 0, at most one more than V has columns of them positive, with the same Σ weight · row of V, nearly.

    Many rows are taken together in groups first, and whole groups are left out, as in [MJF19].

    Examples:
        >>> few = fewer(np.array([[1.0], [2.0], [3.0], [4.0]]), np.ones(4))
        >>> int((few > 0).sum()) <= 2, round(float(few @ [1.0, 2.0, 3.0, 4.0]), 9)
        (True, 10.0)
    """
    size = np.sqrt(np.square(weights[:, None] * V).sum(axis=0))
    unit, result = V / np.where(size > 0, size, 1.0), weights.copy()
    while True:
        left = np.flatnonzero(result)
        groups = np.array_split(left, min(len(left), 2 * (V.shape[1] + 1)))
        if len(groups) <= V.shape[1] + 1:
            return result
        sums = np.array([result[group] @ unit[group] for group in groups])
        for group, factor in zip(groups, _thinned(sums), strict=True):
            result[group] *= factor


def _thinned(S: Array) -> Array:
    """Factors ≥ 0 with Σ factor · row = Σ row, of which at most as many as S has columns are positive.

    Each direction in which factors may move without changing the sum is followed until one of them is 0 [CAR11].
    """
    n, size = S.shape
    factors = np.ones(n)
    moves = np.linalg.svd(S.T)[2][min(n, size) :]  # rows: combinations that sum to zero
    while len(moves):
        move = moves[0] if moves[0].max() > 0 else -moves[0]
        falling = np.flatnonzero(move > 1e-12 * abs(move).max())
        if not falling.size:
            moves = moves[1:]  # a direction that rounding has left nothing of
            continue
        gone = falling[np.argmin(factors[falling] / move[falling])]
        factors = np.maximum(factors - factors[gone] / move[gone] * move, 0.0)
        factors[gone] = 0.0
        pivot = moves[np.argmax(abs(moves[:, gone]))]
        others = np.delete(moves, np.argmax(abs(moves[:, gone])), axis=0)
        moves = others - np.outer(others[:, gone] / pivot[gone], pivot)
        moves[:, factors == 0] = 0.0
        norm = np.linalg.norm(moves, axis=1)
        moves = moves[norm > 1e-9] / norm[norm > 1e-9, None]
    return factors
