"""Chains that share the errors of poses, in coordinates of their own: what weighted rows prove, in exact arithmetic.

With x = c + T z for each chain, its equation at a pose is exactly quadratic in z, and what the error ε_e of a pose
multiplies is W_e = form·z, up to a part that is quadratic in z and taken at its worst. Rows are linear in z, in all
products z_i z_j of a chain, in the errors of poses and in the products ε_e W_e of each chain. Products are kept between
planes that follow from the sides of their factors: (u − a)(v − b) ≥ 0 and its like. As sides move inward, so do planes.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from gough.checker.box_rows import Row, chord, row_of
from gough.checker.chain_boxes import ChainBox, Space, StageRows
from gough.checker.chain_proofs import ChainCut, ChainFrame, ChainStage, NumberedCut
from gough.checker.chain_questions import Equations
from gough.checker.dyadic import HALF, ZERO, Dyadic, aligned, total
from gough.checker.limits import product_cost, spend
from gough.checker.linear import NotProven
from gough.checker.rod_equations import Expansion, Pairs, RodEquations, Sparse
from gough.checker.words import approximately
from gough.core.covers import Elements
from gough.core.rational import Whole, rational

Numbers = list[Dyadic]
Weights = Iterable[tuple[int, float]]
PLANES = 4
"""Rows of each product: with sides (a, b) and (l, h) of its factors, those at the corners a l, b h, b l and a h."""
_ROOM = Dyadic(1, -20)
"""Part of a coordinate's size that the inverse of the axes may be wrong by."""
_TINY = Dyadic(1, -200)


class Sides(NamedTuple):
    """A quantity is between these."""

    lower: Dyadic
    upper: Dyadic

    @property
    def most(self) -> Dyadic:
        """The largest size."""
        return max(abs(self.lower), abs(self.upper))

    def cut(self, which: str, side: Dyadic) -> "Sides":
        """What a lower or upper bound leaves."""
        if which == "lower":
            return Sides(max(self.lower, side), self.upper)
        return Sides(self.lower, min(self.upper, side))

    def product(self, other: "Sides") -> "Sides":
        """Of two quantities."""
        corners = [x * y for x in self for y in other]
        return Sides(min(corners), max(corners))


class Equation(NamedTuple):
    """A pose's or a condition's equation in z: above·columns ≤ side and below·columns ≤ side, and what errors multiply.

    Rows have coefficients of z, of the products of z, and of the errors of the pose, whose products are apart.
    """

    above: Row
    below: Row
    forms: tuple[tuple[Dyadic, list[int], int, Dyadic], ...] = ()
    """For each shared error: 2 d·D at the center, W as whole numbers times a power of two, the most 2 d·D has more."""


class FramedChain:
    """One chain in its coordinates."""

    def __init__(self, equations: RodEquations, frame: ChainFrame, rows: StageRows, more: Dyadic) -> None:
        self.equations, self.frame, self._rows, self._more = equations, frame, rows, more
        self.n, self.n_poses, self.S = len(frame.center), equations.n_poses, len(equations.shared)
        self.pairs = tuple((i, j) for i in range(self.n) for j in range(i, self.n))
        self._axes, self._exponent = _whole(frame.axes)
        self._bits = _bits(self._axes.ravel().tolist())
        self.derived: tuple[dict[int, Equation], dict[int, Expansion]] = {}, {}
        self.stated = defaultdict[int, dict[str, Dyadic]](dict)
        self.first_sides = tuple(self._coordinates())

    @property
    def n_rows(self) -> int:
        """Two for each equation and each unknown's sides, and four for each product."""
        return _n_rows(self.equations)

    @property
    def n_columns(self) -> int:
        """Coordinates, their products, and products with errors of poses."""
        return self.n + len(self.pairs) + self.n_poses * self.S

    def adopt(self, other: "FramedChain") -> None:
        """Take over the equations of the same chain in the same coordinates, of which other cuts are known."""
        if self.key == other.key:
            self.derived = other.derived

    @property
    def key(self) -> tuple[Any, ...]:
        """What its equations are derived from."""
        ends = tuple(x.fraction for each in self.first_sides for x in each)
        frame = self.frame
        return id(self.equations), frame.center, frame.radius, frame.axes, ends, self._more.fraction

    def expansion(self, k: int) -> Expansion:
        """The equation of a pose around the center."""
        known = self.derived[1]
        if k not in known:
            known[k] = self.equations.expansion(k, self._rows.center, self._rows.radius, self._more)
        return known[k]

    def quantity(self, number: int) -> tuple[Dyadic, Sparse, Pairs]:
        """What a cut of the frame bounds: a number, and coefficients of h = x − center and of its products."""
        if number < self.n:
            row = (Dyadic.of(x) for x in self.frame.inverse[number])
            return ZERO, {i: x for i, x in enumerate(row) if x.n}, {}
        if number >= self.n + self.n_poses * self.S:  # there may be no shared errors at all
            raise NotProven(f"a frame has no number {number}")
        k, e = divmod(number - self.n, self.S)
        value, form, pairs = self.expansion(k).errors[e][1:4]
        return value, form, pairs

    def proven(self, cut: NumberedCut) -> Fraction:
        """The bound that the weights of a cut of the frame prove."""
        sign = 1 if cut.side == "lower" else -1
        constant, linear, pairs = self.quantity(cut.number)
        bits = max((x.n.bit_length() for x in linear.values()), default=0)
        spend(5_000 + (len(linear) + len(pairs)) * (2_000 + product_cost(bits, bits)))
        target, lost = self._rows.columns_of(linear, pairs)
        least = self._rows.least(cut.weights, {column: sign * x for column, x in target.items()})
        return constant.fraction + sign * (least - lost.fraction)

    def _coordinates(self) -> list[Sides]:
        """Sides of z: z = M h − E z with E = M T − 1, and no |z_i| exceeds its size s_i where |M h| + |E| s < s."""
        r = self._rows.radius
        M, exponent = _whole(self.frame.inverse)
        known = []
        for row in self.frame.inverse:
            most = total(abs(Dyadic.of(x)) * y for x, y in zip(row, r, strict=True))
            known.append(Sides(-most, most))
        for cut in self.frame.cuts:
            proven, bound = self.proven(cut), rational(cut.bound, "a bound")
            if (proven < bound) if cut.side == "lower" else (proven > bound):
                raise NotProven(f"a frame's bound of number {cut.number} is {approximately(abs(proven - bound))} off")
            if cut.number < self.n:
                known[cut.number] = known[cut.number].cut(cut.side, Dyadic.of(bound))
            else:
                stated = self.stated[cut.number - self.n]
                old = stated.get(cut.side, Dyadic.of(bound))
                stated[cut.side] = (max if cut.side == "lower" else min)(old, Dyadic.of(bound))
        scale = exponent + self._exponent
        spend(self.n**3 * product_cost(_bits(M.ravel().tolist()), self._bits))
        E = M @ self._axes
        one = 1 << -scale if scale < 0 else 1
        if scale > 0:
            raise NotProven("the inverse of a frame's axes is not the inverse")
        size = [each.most + each.most * _ROOM + _TINY for each in known]
        for j in range(self.n):
            away = total(Dyadic(abs(int(E[j, i]) - (one if i == j else 0)), scale) * size[i] for i in range(self.n))
            if not known[j].most + away < size[j]:
                raise NotProven("the inverse of a frame's axes is not the inverse")
            known[j] = Sides(known[j].lower - away, known[j].upper + away)
        return known

    def equation(self, number: int) -> Equation:
        """Equation `number` of poses, then conditions."""
        known = self.derived[0]
        if number not in known:
            spend(200_000)
            of = self._pose if number < self.n_poses else self._condition
            known[number] = of(number)
        return known[number]

    def _turned(self, linear: Mapping[int, Dyadic], pairs: Mapping[tuple[int, int], Dyadic]) -> tuple[Numbers, Numbers]:
        """Coefficients of z and of its products instead of those of h and of its products."""
        first = [ZERO] * self.n
        if linear:
            row = np.zeros(self.n, dtype=object)
            numbers, exponent = aligned(linear.values())
            spend(self.n**2 * product_cost(_bits(numbers), self._bits))
            row[list(linear)] = numbers
            first = [Dyadic(int(x), exponent + self._exponent) for x in row @ self._axes]
        second = [ZERO] * len(self.pairs)
        if pairs:
            Q = np.zeros((self.n, self.n), dtype=object)
            numbers, exponent = aligned(pairs.values())
            bits = _bits(numbers)
            spend(self.n**3 * (product_cost(bits, self._bits) + product_cost(bits + self._bits, self._bits)))
            for (i, j), x in zip(pairs, numbers, strict=True):  # twice the symmetric matrix
                Q[i, j] += x
                Q[j, i] += x
            P, scale = self._axes.T @ Q @ self._axes, exponent + 2 * self._exponent
            second = [Dyadic(int(P[i, j]), scale - (i == j)) for i, j in self.pairs]
        return first, second

    def _pose(self, k: int) -> Equation:
        at = self.expansion(k)
        F, Q = self._turned(at.linear, at.pairs)
        g, forms, slopes = at.rest, [], []
        for _, value, form, pairs, t, _ in at.errors:
            W, P = self._turned(form, pairs)
            beyond = total(abs(x) * self.first_sides[i].most * self.first_sides[j].most for (i, j), x in self._terms(P))
            g += t * beyond
            slopes.append(value)
            numbers, exponent = aligned([ZERO, *W])
            forms.append((value, numbers[1:], exponent, beyond))
        t, value, form, pairs, reach = at.reading
        G, H = [ZERO] * self.n, [ZERO] * len(self.pairs)
        if t.n:
            slope, height = chord(value - reach, value + reach)
            g += t * (slope * value + height)
            W, P = self._turned(form, pairs)
            G, H = [t * slope * x for x in W], [t * slope * x for x in P]
        own, lost = [*F, *Q], [*G, *H]
        above = row_of([*(x - y for x, y in zip(own, lost, strict=True)), *slopes], g - at.constant)
        less = [*(-x - y for x, y in zip(own, lost, strict=True)), *(-x for x in slopes)]
        return Equation(above, row_of(less, g + at.constant + at.longest * at.longest), tuple(forms))

    def _terms(self, P: Numbers) -> Iterator[tuple[tuple[int, int], Dyadic]]:
        return ((pair, x) for pair, x in zip(self.pairs, P, strict=True) if x.n)

    def _condition(self, number: int) -> Equation:
        constant, linear, pairs = self.equations.condition(number - self.n_poses, self._rows.center)
        F, Q = self._turned(linear, pairs)
        return Equation(row_of([*F, *Q], -constant), row_of([-x for x in (*F, *Q)], constant))

    def unknown(self, number: int) -> Row:
        """x_i − c_i ≤ r_i, or its opposite: sides of an unknown as a row of z."""
        i, upper = divmod(number, 2)
        sign = 1 if upper else -1
        return row_of([Dyadic(sign * int(x), self._exponent) for x in self._axes[i]], self._rows.radius[i])

    def form(self, k: int, e: int, sides: list[Sides]) -> tuple[Numbers, Sides]:
        """W of an error, and its sides where coordinates have theirs."""
        value, numbers, exponent, beyond = self.equation(k).forms[e]
        W = [Dyadic(x, exponent) for x in numbers]
        low = total(w * (each.lower if w.n > 0 else each.upper) for w, each in zip(W, sides, strict=True) if w.n)
        high = total(w * (each.upper if w.n > 0 else each.lower) for w, each in zip(W, sides, strict=True) if w.n)
        reach = Sides(low, high)
        for side, bound in self.stated.get(self.S * k + e, {}).items():
            reach = reach.cut(side, bound - value - beyond if side == "lower" else bound - value + beyond)
        return W, reach


class JointRows:
    """All chains in their coordinates, with sides of coordinates and of errors of poses that move inward."""

    def __init__(self, space: Space, box: ChainBox, frames: tuple[ChainFrame, ...]) -> None:
        if len(frames) != len(space.chains):
            raise NotProven(f"there are {len(frames)} frames, but {len(space.chains)} {space.word}s")
        self.chains, self._word = [], space.word
        for chain, equations, frame in zip(space.chains, space.equations, frames, strict=True):
            if not isinstance(equations, RodEquations):
                raise NotProven("frames are for chains that close over a rod")
            rows = space.rows(frame.center, frame.radius, chain)
            rows.require_covers(box)
            spend(50_000 * len(frame.center))
            self.chains.append(FramedChain(equations, frame, rows, space.more))
        self._first_rows = [0]
        self._first_columns = [0]
        self.first_coordinates = [0]
        for each in self.chains:
            self._first_rows.append(self._first_rows[-1] + each.n_rows)
            self._first_columns.append(self._first_columns[-1] + each.n_columns)
            self.first_coordinates.append(self.first_coordinates[-1] + each.n)
        tolerance = space.equations[0].shared_tolerance
        self.S = tolerance.shape[1]
        self.sides = [[*each.first_sides] for each in self.chains]
        most = [Dyadic.of(x) for x in tolerance.reshape(-1).tolist()]
        self.errors = [Sides(-x, x) for x in most]
        self.is_empty = False
        self._planes: dict[int, tuple[Row, list[int]]] = {}
        self._forms: dict[tuple[int, int], tuple[Numbers, Sides]] = {}

    @property
    def n_rows(self) -> int:
        """Rows of all chains."""
        return self._first_rows[-1]

    @property
    def n_columns(self) -> int:
        """Columns of all chains, and the errors of poses."""
        return self._first_columns[-1] + len(self.errors)

    def column(self, number: int) -> int:
        """The column of a coordinate or, after all of them, of an error."""
        if not 0 <= number < self.first_coordinates[-1] + len(self.errors):
            raise NotProven(f"there is no coordinate {number}")
        if number >= self.first_coordinates[-1]:
            return self._first_columns[-1] + number - self.first_coordinates[-1]
        i = max(i for i in range(len(self.chains)) if self.first_coordinates[i] <= number)
        return self._first_columns[i] + number - self.first_coordinates[i]

    def row(self, number: int) -> tuple[Row, list[int]]:
        """A row, and the places of its columns."""
        if not 0 <= number < self.n_rows:
            raise NotProven(f"there is no row {number}")
        i = max(i for i in range(len(self.chains)) if self._first_rows[i] <= number)
        chain, first, own = self.chains[i], self._first_columns[i], number - self._first_rows[i]
        M, errors = chain.equations.n_equations, self._first_columns[-1]
        if own < 2 * M:
            k, places = own % M, list(range(first, first + chain.n + len(chain.pairs)))
            equation = chain.equation(k)
            row = equation.above if own < M else equation.below
            if k >= chain.n_poses:
                return row, places
            sign = 1 if own < M else -1
            row = row._replace(coefficients=[*row.coefficients, *([sign << -row.exponent] * self.S)])
            products = first + chain.n + len(chain.pairs) + self.S * k
            places += [*range(errors + self.S * k, errors + self.S * (k + 1)), *range(products, products + self.S)]
            return row, places
        own -= 2 * M
        if own < 2 * chain.n:
            return chain.unknown(own), list(range(first, first + chain.n))
        if number not in self._planes:
            spend(20_000 + 2_000 * chain.n)
            self._planes[number] = self._plane(i, *divmod(own - 2 * chain.n, PLANES))
            row = self._planes[number][0]
            spend(len(row.coefficients) * (row.side.bit_length() // 30) ** 2)  # numbers far apart are long ones
        return self._planes[number]

    def _plane(self, i: int, product: int, which: int) -> tuple[Row, list[int]]:
        chain, first, sides = self.chains[i], self._first_columns[i], self.sides[i]
        column = first + chain.n + product
        if product < len(chain.pairs):
            j, m = chain.pairs[product]
            if j == m:
                return _tangent(sides[j], which), [first + j, column]
            row = _corner(sides[j], sides[m], [Dyadic(1, 0)], which)
            return row, [first + m, first + j, column]
        k, e = divmod(product - len(chain.pairs), self.S)
        W, reach = self._form(i, k, e)
        row = _corner(self.errors[self.S * k + e], reach, W, which)
        return row, [*range(first, first + chain.n), self._first_columns[-1] + self.S * k + e, column]

    def _form(self, i: int, k: int, e: int) -> tuple[Numbers, Sides]:
        key = i, self.S * k + e
        if key not in self._forms:
            self._forms[key] = self.chains[i].form(k, e, self.sides[i])
        return self._forms[key]

    def sides_of(self, column: int) -> Sides:
        """Sides of a column."""
        if column >= self._first_columns[-1]:
            return self.errors[column - self._first_columns[-1]]
        i = max(i for i in range(len(self.chains)) if self._first_columns[i] <= column)
        chain, sides, own = self.chains[i], self.sides[i], column - self._first_columns[i]
        if own < chain.n:
            return sides[own]
        own -= chain.n
        if own < len(chain.pairs):
            j, m = chain.pairs[own]
            square = sides[j].product(sides[m])
            return Sides(max(square.lower, ZERO), square.upper) if j == m else square
        k, e = divmod(own - len(chain.pairs), self.S)
        return self.errors[self.S * k + e].product(self._form(i, k, e)[1])

    def least(self, weights: Weights, target: Mapping[int, int]) -> Fraction:
        """The largest v for which target·y ≥ v follows: Σ λ (A y − b) ≤ 0 is added, and each y taken at its worst."""
        terms = []
        for number, weight in weights:
            row, places = self.row(number)
            w = Dyadic.of(weight)
            if w.n < 0:
                raise NotProven("the weight of a row is negative")
            spend(2000 + len(places) * product_cost(w.n.bit_length(), _bits((*row.coefficients, row.side))))
            terms.append((row, w, places))
        exponent = min([0, *(row.exponent + w.e for row, w, _ in terms)])
        sums, value = defaultdict[int, int](int), 0
        for column, x in target.items():
            sums[column] += x << -exponent
        for row, w, places in terms:
            factor = w.n << (row.exponent + w.e - exponent)
            value -= factor * row.side
            for place, a in zip(places, row.coefficients, strict=True):
                if a:
                    sums[place] += factor * a
        bound = Dyadic(value, exponent)
        spend(len(sums) * product_cost(value.bit_length(), 1_000))
        for column, t in sums.items():
            if t:
                sides = self.sides_of(column)
                bound += Dyadic(t, exponent) * (sides.lower if t > 0 else sides.upper)
        return bound.fraction

    def proven(self, cut: NumberedCut) -> Fraction:
        """The bound that the weights of a cut prove; of a contradiction what must be positive."""
        if cut.side == "empty":
            return self.least(cut.weights, {})
        sign = 1 if cut.side == "lower" else -1
        return sign * self.least(cut.weights, {self.column(cut.number): sign})

    def follow(self, stage: Sequence[NumberedCut]) -> None:
        """Move sides inward as far as the cuts of a stage say; all of them are proven with the sides before it."""
        for cut in stage:
            proven, bound = self.proven(cut), rational(cut.bound, "a bound")
            excess = bound - proven if cut.side == "upper" else proven - bound
            if excess < 0 or (cut.side == "empty" and not excess > 0):
                off = approximately(abs(proven - bound))
                raise NotProven(f"the {cut.side} side of number {cut.number}: its rows prove {off} less")
        self.move(stage)

    def move(self, stage: Iterable[NumberedCut]) -> None:
        """Move sides inward as far as cuts say, which are proven."""
        for cut in stage:
            if cut.side == "empty":
                self.is_empty = True
            else:
                self._move(cut, Dyadic.of(cut.bound))
        self._planes.clear()
        self._forms.clear()

    def _move(self, cut: NumberedCut, side: Dyadic) -> None:
        own = cut.number - self.first_coordinates[-1]
        if own >= 0:
            place, at = self.errors, own
        else:
            i = max(i for i in range(len(self.chains)) if self.first_coordinates[i] <= cut.number)
            place, at = self.sides[i], cut.number - self.first_coordinates[i]
        place[at] = place[at].cut(cut.side, side)
        self.is_empty = self.is_empty or place[at].upper < place[at].lower


def poses_of(space: Space, frames: Iterable[ChainFrame], stages: Iterable[Sequence[NumberedCut]]) -> Elements:
    """The poses whose rows have some weight in cuts of frames or of stages."""
    used = set[int]()
    for chain, frame in zip(space.chains, frames, strict=False):
        cuts = (ChainCut("", cut.side, cut.bound, cut.weights) for cut in frame.cuts)
        used |= space.poses((ChainStage(frame.center, frame.radius, tuple(cuts), chain),))
    first = list(accumulate(map(_n_rows, space.equations), initial=0))
    for number in {row for stage in stages for cut in stage for row, weight in cut.weights if weight}:
        i = bisect_right(first, number) - 1
        if i == len(space.equations):
            raise NotProven(f"there is no row {number}")
        own, each = number - first[i], space.equations[i]
        if own < 2 * each.n_equations and own % each.n_equations < each.n_poses:
            used.add(own % each.n_equations)
    return frozenset(used)


def require_empty(rows: JointRows, stages: Iterable[Sequence[NumberedCut]], word: str) -> None:
    """Raise NotProven unless stages leave nothing."""
    for number, stage in enumerate(stages, start=1):
        if rows.is_empty:
            return
        try:
            rows.follow(stage)
        except NotProven as short:
            raise NotProven(f"stage {number}: {short}") from short
    if not rows.is_empty:
        raise NotProven(f"the cuts are right, but they leave coordinates that {word}s may have")


def _n_rows(equations: Equations) -> int:
    n, S = equations.n_unknowns, equations.shared_tolerance.shape[1]
    return 2 * equations.n_equations + 2 * n + PLANES * (n * (n + 1) // 2 + equations.n_poses * S)


def _bits(numbers: Iterable[int]) -> int:
    """The length of the longest."""
    return max(map(int.bit_length, numbers))


def _whole(rows: Iterable[Iterable[float]]) -> tuple[Whole, int]:
    """A matrix of doubles as whole numbers times a power of two."""
    given = [[Dyadic.of(x) for x in row] for row in rows]
    numbers, exponent = aligned([x for row in given for x in row])
    matrix = np.empty(len(numbers), dtype=object)
    matrix[:] = numbers
    return matrix.reshape(len(given), -1), exponent


def _corner(u: Sides, v: Sides, form: Numbers, which: int) -> Row:
    """A plane of the product u v that touches at a corner, for v = form·y: coefficients of y, of u, of the product."""
    a, upper = ((u.lower, False), (u.upper, False), (u.upper, True), (u.lower, True))[which]
    b = (v.lower, v.upper, v.lower, v.upper)[which]
    sign = -1 if upper else 1  # (u − a)(v − b) is ≥ 0 at the first two corners and ≤ 0 at the others
    return row_of([*(sign * (a * x) for x in form), sign * b, Dyadic(-sign, 0)], sign * (a * b))


def _tangent(u: Sides, which: int) -> Row:
    """(u − t)² ≥ 0 at both sides and in the middle, and (u − lower)(upper − u) ≥ 0: coefficients of u and of u²."""
    if which == 2:
        return row_of([-(u.lower + u.upper), Dyadic(1, 0)], -(u.lower * u.upper))
    t = (u.lower, u.upper, ZERO, HALF * (u.lower + u.upper))[which]
    return row_of([2 * t, Dyadic(-1, 0)], t * t)
