"""Is what a certificate states true? Decided by enumeration in rationals, for one or two unknowns and a bounded prior.

The consistent set is a union of polygons, one for each orthant (for each set of dropped rows, where some may be
violated), and all that is stated of it is true of it if it is true of its corners.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from gough.certify import Bound, Empty, Inside, RelaxedBound, RelaxedEmpty, Violated, Witness


def half_planes(problem, signs, dropped):
    """Pairs (a, b) of a·θ ≤ b in one orthant: Oettli's and Prager's rows, the prior, and the orthant's sides."""
    noise = problem.noise
    e = np.broadcast_to(noise.radius, problem.y.shape)
    D = np.broadcast_to(0.0 if noise.regressor is None else noise.regressor, problem.W.shape)
    found = []
    for k in range(problem.n_rows):
        if k in dropped:
            continue
        w, d = [[Fraction(float(x)) for x in rows[k]] for rows in (problem.W, D)]
        y, radius = Fraction(float(problem.y[k])), Fraction(float(e[k]))
        found.append(([a - s * b for a, b, s in zip(w, d, signs, strict=True)], y + radius))
        found.append(([-a - s * b for a, b, s in zip(w, d, signs, strict=True)], radius - y))
    prior = problem.unknowns.bounds
    for j, s in enumerate(signs):
        unit = [Fraction(int(i == j)) for i in range(len(signs))]
        found.append(([-s * x for x in unit], Fraction(0)))
        found.append((unit, Fraction(float(prior.upper[j]))))
        found.append(([-x for x in unit], -Fraction(float(prior.lower[j]))))
    return found


def corners(problem, dropped=()):
    """Corners of all parts of the consistent set; none if it is empty."""
    p, found = len(problem.unknowns), []
    for signs in product((-1, 1), repeat=p):
        sides = half_planes(problem, signs, dropped)
        for chosen in combinations(sides, p):
            point = solved(chosen)
            if point is not None and all(dot(a, point) <= b for a, b in sides):
                found.append(point)
    return found


def solved(sides):
    if len(sides) == 1:
        [([a], b)] = sides
        return [b / a] if a else None
    ([a, b], x), ([c, d], y) = sides
    det = a * d - b * c
    return [(x * d - b * y) / det, (a * y - x * c) / det] if det else None


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def vector(problem, named):
    return [dict(named).get(name, Fraction(0)) for name in problem.unknowns.names]


def keeps(problem, steps, points):
    return all(dot(vector(problem, s.direction), x) >= s.value for s in steps if hasattr(s, "value") for x in points)


def in_ellipsoid(problem, ellipsoid, point):
    """(θ − c)ᵀ P⁻¹ (θ − c) ≤ 1 with P definite, or flat and θ in its plane."""
    order = [[name for name, _ in ellipsoid.center].index(name) for name in problem.unknowns.names]
    P = [[ellipsoid.shape[max(i, j)][min(i, j)] for j in order] for i in order]
    x = [t - c for t, c in zip(point, vector(problem, ellipsoid.center), strict=True)]
    free = [i for i in range(len(x)) if any(P[i])]
    if any(x[i] for i in range(len(x)) if i not in free):
        return False
    if len(free) == 1:
        [i] = free
        return P[i][i] > 0 and x[i] ** 2 <= P[i][i]
    if not free:
        return True
    det = P[0][0] * P[1][1] - P[0][1] ** 2
    square = P[1][1] * x[0] ** 2 - 2 * P[0][1] * x[0] * x[1] + P[0][0] * x[1] ** 2
    return P[0][0] > 0 and det > 0 and square <= det


def subsets(problem, q, without=()):
    rows = [k for k in range(problem.n_rows) if k not in without]
    return (chosen for size in range(min(q, len(rows)) + 1) for chosen in combinations(rows, size))


def is_true(proof, problem):
    """Whether the statement is true, whatever its evidence is worth."""
    match proof:
        case Witness(theta=theta):
            point = vector(problem, theta)
            return any(all(dot(a, point) <= b for a, b in half_planes(problem, signs, ()))
                       for signs in product((-1, 1), repeat=len(point)))  # fmt: skip
        case Bound(steps=steps):
            return keeps(problem, steps, corners(problem))
        case Empty():
            return not corners(problem)
        case Inside(steps=steps, ellipsoid=ellipsoid):
            points = corners(problem)
            return keeps(problem, steps, points) and all(in_ellipsoid(problem, ellipsoid, x) for x in points)
        case RelaxedBound(q=q, steps=steps):
            return all(keeps(problem, steps, corners(problem, dropped)) for dropped in subsets(problem, q))
        case RelaxedEmpty(q=q):
            return not any(corners(problem, dropped) for dropped in subsets(problem, q))
        case Violated(at_least=at_least, q=q, outliers=outliers):
            enough = not at_least or not any(corners(problem, dropped) for dropped in subsets(problem, at_least - 1))
            named = (corners(problem, dropped) for row in outliers for dropped in subsets(problem, q, (row,)))
            return enough and not any(named)
    raise AssertionError(proof)
