"""What one pose says about a chain in a box, in exact rational arithmetic: the checker's own derivation.

With d = p + A x and D_e + B_e x at the center of a box and h = x − center, |d|² − l² is exactly linear in h and its
products. Errors add at most Σ t_e |2 d·D_e| + 2 |d| |ρ|, and above it |Σ ε_e D_e + ρ|² more; each |2 d·D_e| is replaced
by a chord over the box. Every number is a whole number times a power of two.
"""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

import numpy as np

from gough.checker.chain_questions import ChainQuestion
from gough.checker.dyadic import HALF, ZERO, Dyadic, root_above, total
from gough.checker.leg_rows import Numbers, Row, chord, envelope, row_of
from gough.checker.limits import spend

Sparse = dict[int, Dyadic]
Pairs = dict[tuple[int, int], Dyadic]
K = TypeVar("K")


class ExactPose:
    """One pose's equation, the reading being uncertain by `more` than stated."""

    def __init__(self, question: ChainQuestion, k: int, more: Dyadic) -> None:
        self.p = [Dyadic.of(x) for x in question.p[k].tolist()]
        self.A = [_sparse(row) for row in question.A[k].tolist()]
        self.D = [[Dyadic.of(x) for x in row] for row in question.D[k].tolist()]
        self.B = [[_sparse(row) for row in matrix] for matrix in question.B[k].tolist()]
        self.t = [Dyadic.of(x) for x in question.tolerance[k].tolist()]
        self.bend = _sparse(question.bend[k].tolist())
        self.blur = Dyadic.of(float(question.blur[k]))
        stated = self.t[question.reading]
        widened = max(stated + more, ZERO)
        self.t[question.reading] = widened
        for j in question.turned:  # a turn by η leaves |x| η²/2
            self.bend[j] = max(self.bend.get(j, ZERO) + HALF * (widened * widened - stated * stated), ZERO)


class ChainRows:
    """The rows of a chain's measurements and conditions in a box center ± radius."""

    def __init__(self, question: ChainQuestion, center: Numbers, radius: Numbers, more: Dyadic = ZERO) -> None:
        self._question, self._c, self._r, self._more = question, center, radius, more
        self._n = len(center)
        self._place = {pair: self._n + k for k, pair in enumerate(question.products)}
        self._known: dict[int, Row] = {}
        self._both: dict[int, tuple[Row, Row]] = {}
        terms = np.count_nonzero(question.A[0]) + np.count_nonzero(question.B[0]) + question.D[0].size
        self._cost = 200_000 + 20_000 * int(terms)

    @property
    def n_rows(self) -> int:
        """Two for each pose and condition, and the envelopes."""
        return 2 * self._question.n_rows + 4 * len(self._question.products)

    def row(self, number: int) -> Row:
        """Row `number`: equation k from above (k) and from below (n_rows + k), then four envelopes of each product."""
        if number not in self._known:
            n = self._question.n_rows
            self._known[number] = self._envelope(number - 2 * n) if number >= 2 * n else self._equation(number)
        return self._known[number]

    def most(self, column: int) -> Dyadic:
        """The largest |y| of a column of the box."""
        if column < self._n:
            return self._r[column]
        i, j = self._question.products[column - self._n]
        return self._r[i] * self._r[j]

    def is_square(self, column: int) -> bool:
        """Is it the product of an unknown with itself?"""
        return column >= self._n and len(set(self._question.products[column - self._n])) == 1

    def _envelope(self, number: int) -> Row:
        product, which = divmod(number, 4)
        columns = self._n + len(self._place)
        return envelope(self._question.products[product], self._n + product, columns, self._r, which)

    def _equation(self, number: int) -> Row:
        side, k = divmod(number, self._question.n_rows)
        if k not in self._both:
            n = self._question.n_poses
            spend(self._cost if k < n else 100_000)
            self._both[k] = self._pose(k) if k < n else self._condition(k - n)
            for row in self._both[k]:
                spend(len(row.coefficients) * (row.side.bit_length() // 30) ** 2)  # numbers far apart are long ones
        return self._both[k][side]

    def _row(self, linear: Sparse, quadratic: Pairs, side: Dyadic) -> Row:
        """Products that have no column are taken at their worst."""
        row = [ZERO] * (self._n + len(self._place))
        for j, x in linear.items():
            row[j] += x
        for pair, x in quadratic.items():
            if pair in self._place:
                row[self._place[pair]] += x
            else:
                side += abs(x) * self._r[pair[0]] * self._r[pair[1]]
        return row_of(row, side)

    def _condition(self, number: int) -> tuple[Row, Row]:
        linear, quadratic, value = defaultdict[int, Dyadic](_zero), Pairs(), ZERO
        for i, j, coefficient in self._question.conditions[number]:
            c = Dyadic.of(coefficient)
            value += c * self._c[i] * self._c[j]
            linear[i] += c * self._c[j]
            linear[j] += c * self._c[i]
            quadratic[i, j] = quadratic.get((i, j), ZERO) + c
        return self._row(linear, quadratic, -value), self._row(_minus(linear), _minus(quadratic), value)

    def _pose(self, k: int) -> tuple[Row, Row]:
        pose, c, r, last = ExactPose(self._question, k, self._more), self._c, self._r, self._n - 1
        d = [p + _dot(row, c) for p, row in zip(pose.p, pose.A, strict=True)]
        F = defaultdict[int, Dyadic](_zero)
        for i in range(3):
            for j, a in pose.A[i].items():
                F[j] += 2 * a * d[i]
        F[last] -= 2 * c[last]
        Q = _products(pose.A, pose.A)
        Q[last, last] = Q.get((last, last), ZERO) - Dyadic(1, 0)
        f = total(x * x for x in d) - c[last] * c[last]
        G, H, g = defaultdict[int, Dyadic](_zero), defaultdict[tuple[int, int], Dyadic](_zero), ZERO
        moved = [ZERO] * 3
        for t, D0, B in zip(pose.t, pose.D, pose.B, strict=True):
            if not t.n:
                continue
            D = [x + _dot(row, c) for x, row in zip(D0, B, strict=True)]
            moved = [m + t * (abs(x) + _reach(row, r)) for m, x, row in zip(moved, D, B, strict=True)]
            form, products = self._error(pose.A, B, d, D)
            value = 2 * total(x * y for x, y in zip(d, D, strict=True))
            reach = _reach(form, r) + total(abs(x) * r[i] * r[j] for (i, j), x in products.items())
            slope, height = chord(value - reach, value + reach)
            g += t * (slope * value + height)
            for j, x in form.items():
                G[j] += t * slope * x
            for pair, x in products.items():
                H[pair] += t * slope * x
        left = pose.blur + total(x * (abs(c[j]) + r[j]) for j, x in pose.bend.items())
        farthest = [abs(x) + _reach(row, r) for x, row in zip(d, pose.A, strict=True)]
        g += 2 * root_above(total(x * x for x in farthest)) * left
        longest = root_above(total(x * x for x in moved)) + left
        above = self._row(_less(F, G), _less(Q, H), g - f)
        return above, self._row(_less(_minus(F), G), _less(_minus(Q), H), g + f + longest * longest)

    @staticmethod
    def _error(A: list[Sparse], B: list[Sparse], d: Numbers, D: Numbers) -> tuple[Sparse, Pairs]:
        """2 d·D as coefficients of h and of its products."""
        form = defaultdict[int, Dyadic](_zero)
        for i in range(3):
            for j, a in A[i].items():
                form[j] += 2 * a * D[i]
            for j, b in B[i].items():
                form[j] += 2 * b * d[i]
        return form, {pair: 2 * x for pair, x in _products(A, B).items()}


def misfit(question: ChainQuestion, k: int, x: list[Fraction], more: Dyadic) -> str:
    """Whether the rod of length l is too short or too long in pose k at x; empty if some errors fit, whatever ρ is.

    All errors are moved against d, and along it. If the distance is at most l there, and at least l here, ρ at its
    worst, some errors between the two have it equal to l: it depends on them continuously.
    """
    pose = ExactPose(question, k, more)
    d = [p.fraction + _at(row, x) for p, row in zip(pose.p, pose.A, strict=True)]
    left = pose.blur.fraction + sum((b.fraction * abs(x[j]) for j, b in pose.bend.items()), Fraction(0))
    moved = [Fraction(0)] * 3
    for t, D0, B in zip(pose.t, pose.D, pose.B, strict=True):
        D = [y.fraction + _at(row, x) for y, row in zip(D0, B, strict=True)]
        along = sum((a * b for a, b in zip(d, D, strict=True)), Fraction(0))
        sign = (along > 0) - (along < 0)
        moved = [m + sign * t.fraction * y for m, y in zip(moved, D, strict=True)]
    near, far = (sum(((a + s * m) ** 2 for a, m in zip(d, moved, strict=True)), Fraction(0)) for s in (-1, 1))
    if x[-1] < left or near > (x[-1] - left) ** 2:
        return "too short"
    return "" if far >= (x[-1] + left) ** 2 else "too long"


def _zero() -> Dyadic:
    return ZERO


def _sparse(row: list[float]) -> Sparse:
    return {j: Dyadic.of(x) for j, x in enumerate(row) if x}


def _dot(row: Sparse, c: Numbers) -> Dyadic:
    return total(x * c[j] for j, x in row.items())


def _at(row: Sparse, x: list[Fraction]) -> Fraction:
    return sum((a.fraction * x[j] for j, a in row.items()), Fraction(0))


def _reach(row: Sparse, r: Numbers) -> Dyadic:
    return total(abs(x) * r[j] for j, x in row.items())


def _products(A: list[Sparse], B: list[Sparse]) -> Pairs:
    """Coefficients of h_i h_j, i ≤ j, in (A h)·(B h)."""
    result = defaultdict[tuple[int, int], Dyadic](_zero)
    for first, second in zip(A, B, strict=True):
        for i, a in first.items():
            for j, b in second.items():
                result[min(i, j), max(i, j)] += a * b
    return result


def _minus(x: Mapping[K, Dyadic]) -> dict[K, Dyadic]:
    return {key: -value for key, value in x.items()}


def _less(x: Mapping[K, Dyadic], y: Mapping[K, Dyadic]) -> dict[K, Dyadic]:
    result = dict(x)
    for key, value in y.items():
        result[key] = result.get(key, ZERO) - value
    return result
