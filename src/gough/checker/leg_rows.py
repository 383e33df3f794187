"""What one pose says about a leg in a box, in exact rational arithmetic: the checker's own derivation.

A leg (a, b, l) is consistent if for every pose some |δ| ≤ position, |ω| ≤ rotation and |η| ≤ reading tolerance have
|exp(ω) R b + p + δ − a| = l + reading + η, R being the rotation of a quaternion q. With v = R b, d = v + p − a and
m = v × (p − a), the squared distance lies within 2 Σ |d_i| δ_i + 2 Σ |m_i| ω_i + 2 |d| e of |d|², and above it by at
most (|δ| + |ω| |b| + e)² more, where e = |ω|² |b| / 2 bounds what exp(ω) adds to 1 + ω×. |d_i| and |m_i| are replaced
by chords over the box. All is multiplied by |q|², so that no division is left and every denominator is a power of two.

Several legs share the errors of a pose. There δ and ω stay as columns, with the d and m of the box's center; what d and
m differ from those in the box, times the tolerances, is left as a constant.
"""

from typing import NamedTuple

from gough.checker.dyadic import HALF, ZERO, Dyadic, aligned, ratio, root_above, total
from gough.checker.limits import spend
from gough.core.leg_measurements import LegMeasurements

Numbers = list[Dyadic]
_AFTER = ((1, 2), (2, 0), (0, 1))
_SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_TANGENTS = (Dyadic(-1, 0), Dyadic(-1, -1), HALF, Dyadic(1, 0))
PRODUCTS = (*((i, 3 + j) for i in range(3) for j in range(3)), *((j, j) for j in range(7)))
"""Pairs of unknowns whose products are columns 7 to 22, after the seven unknowns."""
ENVELOPES = 4 * len(PRODUCTS)


class Row(NamedTuple):
    """Σ coefficients · [h, products of h] ≤ side, all of them times 2^−exponent."""

    coefficients: list[int]
    side: int
    exponent: int


def row_of(coefficients: Numbers, side: Dyadic) -> Row:
    """The row in whole numbers."""
    numbers, exponent = aligned([*coefficients, side])
    return Row(numbers[:-1], numbers[-1], exponent)


def envelope(pair: tuple[int, int], column: int, columns: int, r: Numbers, which: int) -> Row:
    """(r_i ∓ h_i)(r_j ∓ h_j) ≥ 0 for a product, (h − t)² ≥ 0 for a square; the product stands in `column`."""
    i, j = pair
    row = [ZERO] * columns
    if i == j:
        t = _TANGENTS[which] * r[i]
        row[i], row[column] = 2 * t, Dyadic(-1, 0)
        return row_of(row, t * t)
    s1, s2 = _SIGNS[which]
    row[i], row[j], row[column] = s1 * r[j], s2 * r[i], Dyadic(-s1 * s2, 0)
    return row_of(row, r[i] * r[j])


class LegRows:
    """The rows of a leg's measurements in a box center ± radius, each reading being uncertain by `more` than stated.

    If they are `shared`, rows of poses have six columns more, 23 to 28: the errors of the pose.
    """

    def __init__(
        self, data: LegMeasurements, center: Numbers, radius: Numbers, more: Dyadic = ZERO, *, shared: bool = False
    ) -> None:
        self._data, self._c, self._r, self._more, self._shared = data, center, radius, more, shared
        self._known: dict[int, Row] = {}
        self._b_most = root_above(total(_square(abs(x) + r) for x, r in zip(center[3:6], radius[3:6], strict=True)))

    def row(self, number: int) -> Row:
        """Row `number`: the distance of pose k is not too long (k), or not too short (N + k), then envelopes."""
        if number not in self._known:
            n = len(self._data)
            spend(15_000 if number >= 2 * n else 500_000)
            row = self._envelope(number - 2 * n) if number >= 2 * n else self._pose(number)
            spend(len(row.coefficients) * (row.side.bit_length() // 30) ** 2)  # numbers far apart are long ones
            self._known[number] = row
        return self._known[number]

    def most(self, column: int) -> Dyadic:
        """The largest |y| of a column of the box."""
        if column < 7:
            return self._r[column]
        i, j = PRODUCTS[column - 7]
        return self._r[i] * self._r[j]

    def _envelope(self, number: int) -> Row:
        product, which = divmod(number, 4)
        return envelope(PRODUCTS[product], 7 + product, 23, self._r, which)

    def _pose(self, number: int) -> Row:
        k, n_poses = number % len(self._data), len(self._data)
        pose, sign = _Pose(self._data, k, self._c, self._r), 1 if number < n_poses else -1
        F, f = pose.equation()
        G, g = pose.remainder() if self._shared else pose.spread()
        errors = [sign * x for x in pose.slopes()] if self._shared else []
        e = HALF * pose.turn * self._b_most
        # (l + reading + η)² ≤ (l + reading + T)², since 0 ≤ l + reading + η: it is a distance
        T, L, n = max(pose.reading + self._more, ZERO), pose.length, pose.n
        g += 2 * T * L * n + 2 * root_above(total(x * x for x in pose.farthest)) * e
        G[6] += 2 * T * n
        coefficients = [sign * a - b for a, b in zip(F, G, strict=True)] + errors
        if sign > 0:
            return row_of(coefficients, g - f + n * T * T)
        square = _square(pose.move + root_above(pose.turn) * self._b_most + e)
        # l + reading + η ≥ 0: its square is at least (l + reading − T)², or that minus 4 T² if l + reading may be < T:
        # with s = l + reading, s² − 2 s T − 3 T² = (s + T)(s − 3 T) ≤ 0 for −T ≤ s ≤ 3 T, and s < −T is no distance
        shorter = -(T * T) if L - self._r[6] >= T else 3 * T * T
        return row_of(coefficients, g + f + n * (square + shorter))


class _Pose:
    """One pose around a center, everything times n = |q|²."""

    def __init__(self, data: LegMeasurements, k: int, c: Numbers, r: Numbers) -> None:
        def exactly(name: str) -> Numbers:
            return [Dyadic.of(x) for x in getattr(data, name)[k].reshape(-1).tolist()]

        self.c, self.r = c, r
        self.R, self.n = rotation(exactly("quaternion"))
        self.p = [x - a for x, a in zip(exactly("position"), c[:3], strict=True)]
        self.v = [total(x * y for x, y in zip(row, c[3:6], strict=True)) for row in self.R]
        self.d = [v + self.n * p for v, p in zip(self.v, self.p, strict=True)]
        self.turned = [total(abs(x) * y for x, y in zip(row, r[3:6], strict=True)) for row in self.R]
        self.reach = [self.n * r[i] + self.turned[i] for i in range(3)]
        self.farthest = [abs(d) + reach for d, reach in zip(self.d, self.reach, strict=True)]
        self.length = exactly("reading")[0] + c[6]
        self.reading = exactly("reading_tolerance")[0]
        self._tp, self._tw = exactly("position_tolerance"), exactly("rotation_tolerance")
        self.turn = total(x * x for x in self._tw)
        self.move = root_above(total(x * x for x in self._tp))

    def equation(self) -> tuple[Numbers, Dyadic]:
        """|d|² − (l + reading)² as coefficients of h and its products, and its value at the center."""
        n, R, p, cb = self.n, self.R, self.p, self.c[3:6]
        along = [n * cb[j] + total(R[i][j] * p[i] for i in range(3)) for j in range(3)]
        F = [-2 * d for d in self.d] + [2 * x for x in along] + [-2 * n * self.length]
        F += [-2 * R[i][j] for i in range(3) for j in range(3)] + [n] * 6 + [-n]
        squares = total(x * x for x in (*cb, *p)) - self.length * self.length
        return F, n * squares + 2 * total(v * x for v, x in zip(self.v, p, strict=True))

    def spread(self) -> tuple[Numbers, Dyadic]:
        """2 Σ |d_i| δ_i + 2 Σ |m_i| ω_i from above, likewise."""
        G, g = [ZERO] * 23, ZERO
        for i in range(3):
            form = {i: -self.n} | {3 + c: self.R[i][c] for c in range(3)}
            for columns, value, reach, t in ((form, self.d[i], self.reach[i], self._tp[i]), self._moment(i)):
                slope, height = chord(value - reach, value + reach)
                for column, x in columns.items():
                    G[column] += 2 * t * slope * x
                g += 2 * t * (slope * value + height)
        return G, g

    def slopes(self) -> Numbers:
        """2 d and 2 m at the center: what an error δ, ω adds to the squared distance, to first order."""
        return [2 * x for x in (*self.d, *(self._moment(i)[1] for i in range(3)))]

    def remainder(self) -> tuple[Numbers, Dyadic]:
        """2 Σ |d_i − d_i(center)| δ_i + 2 Σ |m_i − m_i(center)| ω_i from above: a constant."""
        moments = [self._moment(i) for i in range(3)]
        rest = total(2 * t * reach for t, reach in zip(self._tp, self.reach, strict=True))
        return [ZERO] * 23, rest + total(2 * t * reach for _, _, reach, t in moments)

    def _moment(self, i: int) -> tuple[dict[int, Dyadic], Dyadic, Dyadic, Dyadic]:
        """m_i = v_j p_k − v_k p_j: columns, value, how far it reaches in the box, and its tolerance."""
        j, k = _AFTER[i]
        R, v, p, r = self.R, self.v, self.p, self.r
        along = [R[j][c] * p[k] - R[k][c] * p[j] for c in range(3)]
        form = {3 + c: along[c] for c in range(3)} | {k: -v[j], j: v[k]}
        form |= {7 + 3 * k + c: -R[j][c] for c in range(3)} | {7 + 3 * j + c: R[k][c] for c in range(3)}
        reach = total(abs(x) * y for x, y in zip(along, r[3:6], strict=True))
        reach += (abs(v[j]) + self.turned[j]) * r[k] + (abs(v[k]) + self.turned[k]) * r[j]
        return form, v[j] * p[k] - v[k] * p[j], reach, self._tw[i]


def rotation(q: Numbers) -> tuple[list[Numbers], Dyadic]:
    """|q|² R and |q|²."""
    w, x, y, z = q
    return [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ], w * w + x * x + y * y + z * z


def _square(x: Dyadic) -> Dyadic:
    return x * x


def chord(low: Dyadic, high: Dyadic) -> tuple[Dyadic, Dyadic]:
    """A slope and a height with |x| ≤ slope x + height over [low, high]; any slope will do, so a short one is taken."""
    if low.n >= 0 or high.n <= 0:
        return Dyadic(1 if low.n >= 0 else -1, 0), ZERO
    slope = ratio(high + low, high - low)  # |x| − slope x is convex, so its largest value is at an end
    return slope, max(abs(low) - slope * low, abs(high) - slope * high)
