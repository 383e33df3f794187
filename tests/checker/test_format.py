"""docs/certificate-format.md is complete: rows of chains computed from the page alone are those of the checker."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from gough.checker import LegMeasurements, RodEquations
from gough.checker.dyadic import Dyadic
from gough.checker.leg_equations import PRODUCTS


class X:
    """N · 2^e, never normalized: sums have the smaller exponent, products the sum of both."""

    def __init__(self, n, e=0):
        self.n, self.e = n, e

    @classmethod
    def of(cls, double):
        n, d = float(double).as_integer_ratio()
        return cls(n, 1 - d.bit_length())

    def __add__(self, other):
        e = min(self.e, other.e)
        return X((self.n << (self.e - e)) + (other.n << (other.e - e)), e)

    def __mul__(self, other):
        return X(self.n * other.n, self.e + other.e) if isinstance(other, X) else X(self.n * other, self.e)

    def __rmul__(self, factor):
        return self * factor

    def __neg__(self):
        return X(-self.n, self.e)

    def __sub__(self, other):
        return self + -other

    def __abs__(self):
        return X(abs(self.n), self.e)

    @property
    def value(self):
        return Fraction(self.n) * Fraction(2) ** self.e

    def __lt__(self, other):
        return self.value < other.value


ZERO = X(0)


def add(terms):
    return sum(terms, ZERO)


def root(x):
    if x.n <= 0:
        return ZERO
    u = max(0, 128 - x.n.bit_length())
    u += (x.e - u) % 2
    return X(isqrt(x.n << u) + 1, (x.e - u) // 2)


def chord(low, high):
    if low.value >= 0:
        return X(1), ZERO
    if high.value <= 0:
        return X(-1), ZERO
    s = X((high + low).value * 2**50 // (high - low).value, -50)
    return s, max(abs(low) - s * low, abs(high) - s * high)


def numbers(values):
    return [X.of(x) for x in np.asarray(values).reshape(-1)]


def dot(a, b):
    return add(x * y for x, y in zip(a, b, strict=True))


def leg_rows(data, k, c, r, more, *, shared):
    """Rows k and M + k of a leg, as coefficients by column and right-hand sides."""
    w, x, y, z = numbers(data.quaternion[k])
    n = w * w + x * x + y * y + z * z
    M = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    c_a, c_b, c_l, r_a, r_b, r_l = c[:3], c[3:6], c[6], r[:3], r[3:6], r[6]
    tau, omega, reading = (numbers(a[k]) for a in (data.position_tolerance, data.rotation_tolerance, data.reading))
    T = max(X.of(data.reading_tolerance[k]) + more, ZERO)
    p = [a - b for a, b in zip(numbers(data.position[k]), c_a, strict=True)]
    v = [dot(row, c_b) for row in M]
    d = [v[i] + n * p[i] for i in range(3)]
    turned = [dot(list(map(abs, row)), r_b) for row in M]
    reach = [n * r_a[i] + turned[i] for i in range(3)]
    L, half = reading[0] + c_l, X(1, -1)
    beta = root(add((abs(a) + b) * (abs(a) + b) for a, b in zip(c_b, r_b, strict=True)))
    e = half * dot(omega, omega) * beta
    pair = {product: 7 + place for place, product in enumerate(PRODUCTS)}
    F = dict.fromkeys(range(23), ZERO)
    f = n * (dot(c_b, c_b) + dot(p, p) - L * L) + 2 * dot(v, p)
    for i in range(3):
        F[i] = -2 * d[i]
        F[3 + i] = 2 * (n * c_b[i] + add(M[j][i] * p[j] for j in range(3)))
        for j in range(3):
            F[pair[i, 3 + j]] = -2 * M[i][j]
    F[6] = -2 * n * L
    F |= {pair[j, j]: n for j in range(6)} | {pair[6, 6]: -n}
    G, g, Z = dict.fromkeys(range(23), ZERO), ZERO, [ZERO] * 6
    for i in range(3):
        j, k2 = (i + 1) % 3, (i + 2) % 3
        along = [M[j][a] * p[k2] - M[k2][a] * p[j] for a in range(3)]
        Q = {3 + a: along[a] for a in range(3)} | {k2: -v[j], j: v[k2]}
        Q |= {pair[k2, 3 + a]: -M[j][a] for a in range(3)} | {pair[j, 3 + a]: M[k2][a] for a in range(3)}
        extent = (
            dot(list(map(abs, along)), r_b) + (abs(v[j]) + turned[j]) * r_a[k2] + (abs(v[k2]) + turned[k2]) * r_a[j]
        )
        D = {i: -n} | {3 + a: M[i][a] for a in range(3)}
        m = v[j] * p[k2] - v[k2] * p[j]
        for value, far, form, t, place in ((d[i], reach[i], D, tau[i], i), (m, extent, Q, omega[i], 3 + i)):
            if shared:
                g, Z[place] = g + 2 * t * far, 2 * value
                continue
            s, h = chord(value - far, value + far)
            g += 2 * t * (s * value + h)
            for column, a in form.items():
                G[column] += 2 * t * s * a
    farthest = [abs(d[i]) + reach[i] for i in range(3)]
    g += 2 * T * L * n + 2 * root(dot(farthest, farthest)) * e
    G[6] += 2 * T * n
    once = root(dot(tau, tau)) + root(dot(omega, omega)) * beta + e
    u = -(T * T) if not (L - r_l) < T else 3 * T * T
    end = Z if shared else []
    above = [F[j] - G[j] for j in range(23)] + end
    below = [-F[j] - G[j] for j in range(23)] + [-x for x in end]
    return (above, g - f + n * T * T), (below, g + f + n * (once * once + u))


def sparse(row):
    """Entries that are not 0; others are left out of sums."""
    return {j: X.of(x) for j, x in enumerate(row) if x}


def at(row, x):
    return add(a * x[j] for j, a in row.items())


def size(row, r):
    return add(abs(a) * r[j] for j, a in row.items())


def products(P, Q):
    """Coefficients of h_i h_j, i ≤ j, in P h · Q h."""
    found = {}
    for first, second in zip(P, Q, strict=True):
        for i, a in first.items():
            for j, b in second.items():
                key = min(i, j), max(i, j)
                found[key] = found.get(key, ZERO) + a * b
    return found


def widened(data, k, more):
    """Tolerances and bend of a pose with `more`."""
    t, bend = numbers(data.tolerance[k]), sparse(data.bend[k])
    stated = t[data.reading]
    t[data.reading] = T = max(stated + more, ZERO)
    if data.reading_unit == "rad" and stated < T:
        for j in np.flatnonzero(data.B[:, data.reading].any(axis=(0, 1))).tolist():
            bend[j] = bend.get(j, ZERO) + X(1, -1) * (T * T - stated * stated)
    return t, bend


def of_error(A, B, d, D):
    """Value, form and products of 2 (p + A x)·(D + B x)."""
    twice = [{j: 2 * (A[i].get(j, ZERO) * D[i] + B[i].get(j, ZERO) * d[i]) for j in A[i] | B[i]} for i in range(3)]
    form = {j: add(each[j] for each in twice if j in each) for each in twice for j in each}
    return 2 * dot(d, D), form, {pair: 2 * x for pair, x in products(A, B).items()}


def rod_rows(data, k, c, r, more, *, shared):
    """Rows k and M + k of a pose of a rod chain."""
    last, A = len(c) - 1, [sparse(row) for row in data.A[k]]
    t, bend = widened(data, k, more)
    d = [p + at(row, c) for p, row in zip(numbers(data.p[k]), A, strict=True)]
    f = dot(d, d) - c[last] * c[last]
    F = {j: add(2 * A[i][j] * d[i] for i in range(3) if j in A[i]) for j in range(len(c))} | products(A, A)
    F[last] = F[last] - 2 * c[last]
    F[last, last] = F.get((last, last), ZERO) - X(1)
    G, g, Z, moved = {}, ZERO, [], [ZERO] * 3
    for e, tolerance in enumerate(t):
        if not tolerance.n:
            Z += [ZERO] * (shared and e != data.reading)
            continue
        B = [sparse(row) for row in data.B[k, e]]
        D = [X.of(x) + at(row, c) for x, row in zip(data.D[k, e], B, strict=True)]
        moved = [m + tolerance * (abs(x) + size(row, r)) for m, x, row in zip(moved, D, B, strict=True)]
        value, form, P = of_error(A, B, d, D)
        reach = size(form, r) + add(abs(x) * r[i] * r[j] for (i, j), x in P.items())
        if shared and e != data.reading:
            Z.append(value)
            g += tolerance * reach
            continue
        s, h = chord(value - reach, value + reach)
        g += tolerance * (s * value + h)
        for key, x in (form | P).items():
            G[key] = G.get(key, ZERO) + tolerance * s * x
    left = X.of(data.blur[k]) + add(b * (abs(c[j]) + r[j]) for j, b in bend.items())
    far = [abs(x) + size(row, r) for x, row in zip(d, A, strict=True)]
    g += 2 * root(dot(far, far)) * left
    longest = root(dot(moved, moved)) + left
    columns = [*range(len(c)), *data.products]
    above = {key: F.get(key, ZERO) - G.get(key, ZERO) for key in F | G}
    below = {key: -F.get(key, ZERO) - G.get(key, ZERO) for key in F | G}
    worst = [add(abs(x[i, j]) * r[i] * r[j] for i, j in x.keys() - set(columns)) for x in (above, below)]
    return (
        ([above.get(key, ZERO) for key in columns] + Z, g - f + worst[0]),
        ([below.get(key, ZERO) for key in columns] + [-x for x in Z], g + f + longest * longest + worst[1]),
    )


def envelope(pair, columns, r, which):
    (i, j), row = pair, dict.fromkeys(columns, ZERO)
    if i == j:
        t = [X(-1), X(-1, -1), X(1, -1), X(1)][which] * r[i]
        row[i], row[pair] = 2 * t, X(-1)
        return list(row.values()), t * t
    s, t = [(1, 1), (1, -1), (-1, 1), (-1, -1)][which]
    row[i], row[j], row[pair] = s * r[j], t * r[i], X(-s * t)
    return list(row.values()), r[i] * r[j]


def same(row, page):
    unit = Fraction(2) ** row.exponent
    coefficients, side = page
    return [unit * a for a in row.coefficients] == [x.value for x in coefficients] and unit * row.side == side.value


def a_leg(rng):
    q = rng.normal(size=(2, 4)) * [[1.0], [3.0]]
    tolerances = (rng.uniform(0, 1e-3, (2, 3)), rng.uniform(0, 1e-2, (2, 3)), rng.uniform(0, 1e-2, 2))
    return LegMeasurements(q, rng.normal(size=(2, 3)), rng.normal(size=2), *tolerances)


def a_rod(rng, unit):
    n, N, E = 4, 2, 3
    some = [rng.normal(size=size) * (rng.random(size) < 0.5) for size in ((N, 3, n), (N, E, 3), (N, E, 3, n))]
    rest = (
        rng.uniform(0, 1e-2, (N, E)) * [1, 1, 0],
        rng.uniform(0, 1e-6, (N, n)) * [1, 0, 1, 1],
        rng.uniform(0, 1e-9, N),
    )
    products = ((0, 0), (0, 1), (1, 3), (2, 2), (3, 3))
    names = ("u", "v", "w", "rod")
    return RodEquations(names, rng.normal(size=(N, 3)), *some, *rest, products, reading=0, reading_unit=unit)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", ["leg", "m", "rad"])
def test_rows_from_the_page_are_those_of_the_checker(kind, shared, rng):
    for trial in range(4):
        data = a_leg(rng) if kind == "leg" else a_rod(rng, kind)
        center = rng.normal(size=data.n_unknowns) * (rng.random(data.n_unknowns) < 0.8)
        radius = rng.uniform(0, [1e-3, 1.0][trial % 2], data.n_unknowns) * (rng.random(data.n_unknowns) < 0.9)
        more = rng.choice([0.0, 1e-3, -1e-3, -1.0])
        c, r = ([Dyadic.of(x) for x in values.tolist()] for values in (center, radius))
        rows = data.rows(c, r, Dyadic.of(more), shared=shared)
        page = leg_rows if kind == "leg" else rod_rows
        for k in range(2):
            expected = page(data, k, numbers(center), numbers(radius), X.of(more), shared=shared)
            assert all(same(rows.row(number), each) for number, each in zip((k, 2 + k), expected, strict=True))
        columns = [*range(data.n_unknowns), *data.products]
        for number in range(4 * len(data.products)):
            product, which = divmod(number, 4)
            assert same(rows.row(4 + number), envelope(data.products[product], columns, numbers(radius), which))
        assert rows.n_rows == 4 + 4 * len(data.products)
