"""Chains that close over one rod: their equations in doubles, and in exact arithmetic what these imply.

    |d| = l,   d = p + A x + Σ_e ε_e (D_e + B_e x) + ρ,   |ε_e| ≤ tolerance_e,   |ρ| ≤ blur + Σ_j bend_j |x_j|

l is the last unknown; ρ is what a linear error leaves out, and what was rounded when p, A, D and B were computed. With
d and D_e at the center of a box and h = x − center, |p + A x|² − l² is exactly linear in h and its products. Errors add
at most Σ t_e |2 d·D_e| + 2 |d| |ρ|, and above it |Σ ε_e D_e + ρ|² more; each |2 d·D_e| is replaced by a chord over the
box.

Several chains share the errors of a pose, all but the error of the reading. There they stay as columns, with the
2 d·D_e of the box's center; what 2 d·D_e differs from that in the box, times the tolerance, is left as a constant.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from gough.checker.box_rows import BoxRows, Numbers, Row, chord, row_of
from gough.checker.chain_proofs import double
from gough.checker.dyadic import HALF, ZERO, Dyadic, root_above, total
from gough.checker.limits import gcd_cost, spend
from gough.checker.linear import NotProven
from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.intervals import Interval
from gough.core.rational import rational

Condition = tuple[tuple[int, int, float], ...]
Sparse = dict[int, Dyadic]
Pairs = dict[tuple[int, int], Dyadic]
ARRAYS = ("p", "A", "D", "B", "tolerance", "bend", "blur")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class RodEquations(ArrayValue):
    """The equations |d| = l of N poses, and conditions on the unknowns. All numbers are doubles, taken exactly.

    Examples:
        >>> arrays = [np.zeros(shape) for shape in ((1, 3), (1, 3, 1), (1, 1, 3), (1, 1, 3, 1), (1, 1), (1, 1), 1)]
        >>> arrays[0][0, 2] = 0.5
        >>> RodEquations(("rod_2",), *arrays, ((0, 0),), reading=0).n_equations
        1
    """

    names: tuple[str, ...]
    p: Array
    """(N, 3)."""
    A: Array
    """(N, 3, n)."""
    D: Array
    """(N, E, 3)."""
    B: Array
    """(N, E, 3, n)."""
    tolerance: Array
    """(N, E)."""
    bend: Array
    """(N, n)."""
    blur: Array
    """(N,)."""
    products: tuple[tuple[int, int], ...]
    """Pairs i ≤ j of unknowns whose products are columns of the rows; other products count by their size."""
    conditions: tuple[Condition, ...] = ()
    """Each is Σ coefficient · x_i x_j = 0 over its (i, j, coefficient)."""
    reading: int = 0
    """Which error is the reading's: the chain's own. All others are errors of the pose."""
    reading_unit: str = "m"
    """If it is rad, the reading turns vectors, and |ρ| grows with the square of its tolerance."""

    word: ClassVar[str] = "chain"
    """What statements call such a chain."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        try:  # plain numbers, so that digests are those of the file: 1 and 1.0 are written differently
            products = tuple((index(i), index(j)) for i, j in self.products)
            terms = [[(index(i), index(j), double(c, "a coefficient")) for i, j, c in each] for each in self.conditions]
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"products and terms of conditions are pairs of unknowns, by number: {error}") from error
        object.__setattr__(self, "products", products)
        object.__setattr__(self, "conditions", tuple(map(tuple, terms)))
        for name in ARRAYS:
            values = np.array(getattr(self, name), dtype=float)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        require(self.tolerance.ndim == 2 and self.tolerance.size > 0, "tolerances are a table: poses by errors")
        n, (N, E) = len(self.names), self.tolerance.shape
        require(len(set(self.names)) == n > 0, "unknowns have different names")
        named = all(_NAME.fullmatch(name) for name in self.names)
        require(named, "names of unknowns are letters, digits and underscores")  # they are printed in statements
        shapes = ((N, 3), (N, 3, n), (N, E, 3), (N, E, 3, n), (N, E), (N, n), (N,))
        for name, shape in zip(ARRAYS, shapes, strict=True):
            values = getattr(self, name)
            require(values.shape == shape, f"{name} must be {shape}, but it is {values.shape}")
            require(bool(np.isfinite(values).all()), f"{name} must be finite")
        for name in ("tolerance", "bend", "blur"):
            require(bool((getattr(self, name) >= 0).all()), f"{name} must not be negative")
        pairs = [*self.products, *((i, j) for condition in self.conditions for i, j, _ in condition)]
        require(all(0 <= i <= j < n for i, j in pairs), "products are pairs i ≤ j of unknowns")
        require(len(set(self.products)) == len(self.products), "a product stands more than once")
        for condition in self.conditions:  # a term that stands twice would count twice
            pairs = [(i, j) for i, j, _ in condition]
            require(0 < len(set(pairs)) == len(pairs), "a condition has terms, and a product stands once in it")
            finite = all(np.isfinite(c) and c for _, _, c in condition)
            require(finite, "coefficients of a condition are finite, and none is zero")
        require(0 <= self.reading < E, f"there is no error {self.reading}")
        require(self.reading_unit in {"m", "rad"}, "readings are in m or rad")

    @classmethod
    def of(cls, problem: Any) -> "RodEquations":
        """The equations of a quadratic chain: middles of its intervals, and their radii as part of ρ.

        Examples:
            >>> from gough import Box
            >>> from gough.closure import Tolerances, certified_chain, quadratic_unknowns
            >>> from gough.data import Poses
            >>> from gough.robots import LinearDelta
            >>> printer, p = LinearDelta(), np.array([[0.0, 0.0, 0.1], [0.05, 0.0, 0.1]])
            >>> prior = Box.around(quadratic_unknowns(printer, printer.nominal, 1), 0.1)
            >>> poses = Poses(p, None, printer.inverse(printer.nominal, p))
            >>> equations = RodEquations.of(certified_chain(printer, poses, 1, prior, Tolerances(1e-4, 1e-5)))
            >>> equations.names, bool(equations.blur.max() < 1e-15)
            (('tower_x_1', 'tower_y_1', 'carriage_1', 'arm_1'), True)
        """
        t = Interval(problem.tolerance) + 1.0  # readings may be off by up to 1 m or 1 rad more than stated
        middles = {name: getattr(problem, name).mid for name in ("p", "A", "D", "B")}
        away = {name: Interval(abs(getattr(problem, name) - middle).upper) for name, middle in middles.items()}
        blur = iv.sum(away["p"]) + iv.sum(t * iv.sum(away["D"]))
        weighted = iv.rearrange(lambda end: end[..., None], t) * _summed(away["B"], 2)
        bend = Interval(problem.bend) + _summed(away["A"], 1) + _summed(weighted, 1)
        conditions = tuple(tuple((i, j, float(c)) for (i, j), c in each.items()) for each in problem.conditions)
        return cls(
            problem.names,
            **middles,
            tolerance=problem.tolerance,
            bend=bend.upper,
            blur=blur.upper,
            products=tuple((int(i), int(j)) for i, j in problem.products),
            conditions=conditions,
            reading=problem.reading,
            reading_unit=problem.reading_unit,
        )

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return len(self.tolerance)

    @property
    def n_equations(self) -> int:
        """Poses, then conditions."""
        return self.n_poses + len(self.conditions)

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns."""
        return len(self.names)

    @property
    def shared(self) -> list[int]:
        """The errors of a pose that all chains share: all but the reading's."""
        return [e for e in range(self.tolerance.shape[1]) if e != self.reading]

    @property
    def shared_tolerance(self) -> Array:
        """(N, E − 1): of the errors that all chains share."""
        return np.delete(self.tolerance, self.reading, axis=1)

    @property
    def reading_tolerance(self) -> Array:
        """(N,)."""
        return self.tolerance[:, self.reading]

    @property
    def turned(self) -> tuple[int, ...]:
        """The unknowns that the reading turns."""
        if self.reading_unit != "rad":
            return ()
        return tuple(np.flatnonzero(self.B[:, self.reading].any(axis=(0, 1))).tolist())

    def names_of(self, chain: int) -> tuple[str, ...]:  # noqa: ARG002 - names of legs have the number in them
        """The unknowns."""
        return self.names

    def rows(self, center: Numbers, radius: Numbers, more: Dyadic = ZERO, *, shared: bool = False) -> "RodRows":
        """The rows in a box."""
        return RodRows(self, center, radius, more, shared=shared)

    def condition(self, number: int, center: Numbers) -> tuple[Dyadic, Sparse, Pairs]:
        """A condition around a center: its value, and coefficients of h and of its products."""
        linear, quadratic, value = defaultdict[int, Dyadic](_zero), Pairs(), ZERO
        for i, j, coefficient in self.conditions[number]:
            c = Dyadic.of(coefficient)
            value += c * center[i] * center[j]
            linear[i] += c * center[j]
            linear[j] += c * center[i]
            quadratic[i, j] = quadratic.get((i, j), ZERO) + c
        return value, linear, quadratic

    def expansion(self, k: int, center: Numbers, radius: Numbers, more: Dyadic) -> "Expansion":
        """Pose k around a center, for |x − center| ≤ radius, the reading being uncertain by `more` than stated."""
        a, b = (np.count_nonzero(values, axis=-1) for values in (self.A[k], self.B[k]))
        spend(200_000 + 20_000 * int(a.sum() + b.sum() + self.D[k].size) + 1_500 * int((a * (a + b.sum(axis=0))).sum()))
        pose, c, r, last = ExactPose(self, k, more), center, radius, len(center) - 1
        d = [p + _dot(row, c) for p, row in zip(pose.p, pose.A, strict=True)]
        F = defaultdict[int, Dyadic](_zero)
        for i in range(3):
            for j, a in pose.A[i].items():
                F[j] += 2 * a * d[i]
        F[last] -= 2 * c[last]
        Q = _products(pose.A, pose.A)
        Q[last, last] = Q.get((last, last), ZERO) - Dyadic(1, 0)
        f = total(x * x for x in d) - c[last] * c[last]
        moved, along = [ZERO] * 3, list[Along]()
        for e, (t, D0, B) in enumerate(zip(pose.t, pose.D, pose.B, strict=True)):
            if not t.n:
                along.append((e, ZERO, {}, {}, t, ZERO))
                continue
            D = [x + _dot(row, c) for x, row in zip(D0, B, strict=True)]
            moved = [m + t * (abs(x) + _reach(row, r)) for m, x, row in zip(moved, D, B, strict=True)]
            form, products = _error(pose.A, B, d, D)
            value = 2 * total(x * y for x, y in zip(d, D, strict=True))
            reach = _reach(form, r) + total(abs(x) * r[i] * r[j] for (i, j), x in products.items())
            along.append((e, value, form, products, t, reach))
        left = pose.blur + total(x * (abs(c[j]) + r[j]) for j, x in pose.bend.items())
        farthest = [abs(x) + _reach(row, r) for x, row in zip(d, pose.A, strict=True)]
        rest = 2 * root_above(total(x * x for x in farthest)) * left
        longest = root_above(total(x * x for x in moved)) + left
        _, value, form, products, t, reach = along.pop(self.reading)
        return Expansion(f, F, Q, tuple(along), (t, value, form, products, reach), rest, longest)

    def scale(self, k: int) -> float:  # noqa: ARG002 - rows of legs are multiplied
        """What rows of pose k are multiplied by: nothing."""
        return 1.0

    def require_fits(self, values: Sequence[Fraction], k: int, more: Dyadic, errors: Sequence[Fraction] = ()) -> None:
        """Raise NotProven unless the chain fits pose k for some errors, or for the exhibited errors of the pose.

        What is free, all errors or the reading's only, is moved against d, and along it. If the distance is at most l
        there, and at least l here, whatever ρ is, some errors between the two make the distance equal to l, because ρ
        and with it the distance depend on them continuously.
        """
        spend(1_000_000 + (self.A[k].size + 2 * self.B[k].size) * gcd_cost(_digits([*values, *errors])))
        pose, x = ExactPose(self, k, more), list(values)
        d = [p.fraction + _at(row, x) for p, row in zip(pose.p, pose.A, strict=True)]
        left = pose.blur.fraction + sum((b.fraction * abs(x[j]) for j, b in pose.bend.items()), Fraction(0))
        shown = dict(zip(self.shared, errors, strict=True)) if errors else {}
        free = []
        for e, (t, D0, B) in enumerate(zip(pose.t, pose.D, pose.B, strict=True)):
            D = [y.fraction + _at(row, x) for y, row in zip(D0, B, strict=True)]
            if e not in shown:
                free.append((t.fraction, D))
                continue
            if abs(shown[e]) > t.fraction:
                raise NotProven(f"pose {k}: an exhibited error is beyond its tolerance")
            d = [a + shown[e] * y for a, y in zip(d, D, strict=True)]
        moved = [Fraction(0)] * 3
        for most, D in free:
            along = sum((a * b for a, b in zip(d, D, strict=True)), Fraction(0))
            sign = (along > 0) - (along < 0)
            moved = [m + sign * most * y for m, y in zip(moved, D, strict=True)]
        near, far = (sum(((a + s * m) ** 2 for a, m in zip(d, moved, strict=True)), Fraction(0)) for s in (-1, 1))
        if x[-1] < left or near > (x[-1] - left) ** 2:
            raise NotProven(f"the exhibited rod is too short in pose {k}")
        if far < (x[-1] + left) ** 2:
            raise NotProven(f"the exhibited rod is too long in pose {k}")


def _digits(values: Sequence[Fraction]) -> int:
    return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in values)


class ExactPose:
    """One pose's equation, the reading being uncertain by `more` than stated."""

    def __init__(self, equations: RodEquations, k: int, more: Dyadic) -> None:
        self.p = [Dyadic.of(x) for x in equations.p[k].tolist()]
        self.A = [_sparse(row) for row in equations.A[k].tolist()]
        self.D = [[Dyadic.of(x) for x in row] for row in equations.D[k].tolist()]
        self.B = [[_sparse(row) for row in matrix] for matrix in equations.B[k].tolist()]
        self.t = [Dyadic.of(x) for x in equations.tolerance[k].tolist()]
        self.bend = _sparse(equations.bend[k].tolist())
        self.blur = Dyadic.of(float(equations.blur[k]))
        stated = self.t[equations.reading]
        widened = max(stated + more, ZERO)
        self.t[equations.reading] = widened
        for j in equations.turned if widened > stated else ():  # a turn by η leaves |x| η²/2; bend may state less
            self.bend[j] = self.bend.get(j, ZERO) + HALF * (widened * widened - stated * stated)


class RodRows(BoxRows):
    """The rows of a chain's poses and conditions in a box."""

    def __init__(
        self, equations: RodEquations, center: Numbers, radius: Numbers, more: Dyadic = ZERO, *, shared: bool = False
    ) -> None:
        super().__init__(equations.products, equations.n_equations, center, radius)
        self._of, self._more, self._shared = equations, more, equations.shared if shared else []
        self._place = {pair: len(center) + k for k, pair in enumerate(equations.products)}

    def _both_sides(self, k: int) -> tuple[Row, Row]:
        n = self._of.n_poses
        if k >= n:
            spend(100_000)
        return self._pose(k) if k < n else self._condition(k - n)

    def _row(self, linear: Sparse, quadratic: Pairs, side: Dyadic, errors: Sequence[Dyadic] = ()) -> Row:
        """Products that have no column are taken at their worst."""
        row = [ZERO] * self.n_columns
        for j, x in linear.items():
            row[j] += x
        for pair, x in quadratic.items():
            if pair in self._place:
                row[self._place[pair]] += x
            else:
                side += abs(x) * self.radius[pair[0]] * self.radius[pair[1]]
        return row_of([*row, *errors], side)

    def _condition(self, number: int) -> tuple[Row, Row]:
        value, linear, quadratic = self._of.condition(number, self.center)
        return self._row(linear, quadratic, -value), self._row(_minus(linear), _minus(quadratic), value)

    def _pose(self, k: int) -> tuple[Row, Row]:
        at = self._of.expansion(k, self.center, self.radius, self._more)
        G, H, g = defaultdict[int, Dyadic](_zero), defaultdict[tuple[int, int], Dyadic](_zero), ZERO
        slopes = dict.fromkeys(self._shared, ZERO)
        for e, value, form, products, t, reach in at.errors_and_reading(self._of.reading):
            if not t.n:
                continue
            if e in slopes:  # ε 2 d·D = ε value + ε (2 d·D − value), and the last is at most t reach
                slopes[e] = value
                g += t * reach
                continue
            slope, height = chord(value - reach, value + reach)
            g += t * (slope * value + height)
            for j, x in form.items():
                G[j] += t * slope * x
            for pair, x in products.items():
                H[pair] += t * slope * x
        g += at.rest
        errors = list(slopes.values())
        above = self._row(_less(at.linear, G), _less(at.pairs, H), g - at.constant, errors)
        below = g + at.constant + at.longest * at.longest
        less = [-x for x in errors]
        return above, self._row(_less(_minus(at.linear), G), _less(_minus(at.pairs), H), below, less)


class Expansion(NamedTuple):
    """One pose's equation around the center of a box, exactly, and bounds of what is left, see the top of the page."""

    constant: Dyadic
    linear: Sparse
    pairs: Pairs
    """|p + A x|² − l² as a number, and coefficients of h and of its products."""
    errors: tuple["Along", ...]
    """2 d·D of each error that the chains share."""
    reading: tuple[Dyadic, Dyadic, Sparse, Pairs, Dyadic]
    """Of the reading: its tolerance; 2 d·D as a number and coefficients; and how far it is from that number."""
    rest: Dyadic
    """2 |d| |ρ|."""
    longest: Dyadic
    """|Σ ε_e D_e + ρ|."""

    def errors_and_reading(self, reading: int) -> list["Along"]:
        """Those of all errors, in their order."""
        t, value, form, pairs, reach = self.reading
        every = list(self.errors)
        every.insert(reading, (reading, value, form, pairs, t, reach))
        return every


Along = tuple[int, Dyadic, Sparse, Pairs, Dyadic, Dyadic]
"""Number of an error; 2 d·D as a number and coefficients of h and its products; its tolerance; its reach."""


def require_conditions(conditions: Sequence[Condition], values: Sequence[Fraction]) -> None:
    """Raise NotProven unless values satisfy all conditions exactly."""
    for number, condition in enumerate(conditions, start=1):
        if sum((rational(c, "a coefficient") * values[i] * values[j] for i, j, c in condition), Fraction(0)):
            raise NotProven(f"the exhibited chain does not satisfy condition {number}")


def _error(A: list[Sparse], B: list[Sparse], d: Numbers, D: Numbers) -> tuple[Sparse, Pairs]:
    """2 d·D as coefficients of h and of its products."""
    form = defaultdict[int, Dyadic](_zero)
    for i in range(3):
        for j, a in A[i].items():
            form[j] += 2 * a * D[i]
        for j, b in B[i].items():
            form[j] += 2 * b * d[i]
    return form, {pair: 2 * x for pair, x in _products(A, B).items()}


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


def _summed(x: Interval, axis: int) -> Interval:
    return iv.sum(iv.rearrange(lambda end: np.moveaxis(end, axis, -1), x))
