"""Is what a certificate states true? Decided by enumeration in rationals, for one to three unknowns.

The consistent set is a union of polytopes, one for each orthant (for each set of dropped rows, where some may be
violated), and all that is stated of it is true of it if it is true of its corners. It must be bounded, by the prior or
by its rows.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from gough.checker import Bound, Empty, Inside, RelaxedBound, RelaxedEmpty, Violated, Witness


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
        if np.isfinite(prior.upper[j]):
            found.append((unit, Fraction(float(prior.upper[j]))))
        if np.isfinite(prior.lower[j]):
            found.append(([-x for x in unit], -Fraction(float(prior.lower[j]))))
    return found


_CORNERS = {}


def corners(problem, dropped=()):
    """Corners of all parts of the consistent set; none if it is empty. They are kept: problems do not change."""
    key = id(problem), frozenset(dropped)
    if key not in _CORNERS:
        _CORNERS[key] = problem, corners_anew(problem, dropped)
    return _CORNERS[key][1]


def corners_anew(problem, dropped):
    p, found = len(problem.unknowns), []
    for signs in product((-1, 1), repeat=p):
        sides = half_planes(problem, signs, dropped)
        for chosen in combinations(sides, p):
            point = solved(chosen)
            if point is not None and point not in found and all(dot(a, point) <= b for a, b in sides):
                found.append(point)
    return found


def solved(sides):
    """The point on all of these planes, by elimination; None if there is no single one."""
    rows = [[*a, b] for a, b in sides]
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


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
    # xᵀ P⁻¹ x ≤ 1 with P definite if and only if all leading minors of P are positive, and that of [P, x; xᵀ, 1] is ≥ 0
    M = [[*(P[i][j] for j in free), x[i]] for i in free] + [[*(x[j] for j in free), Fraction(1)]]
    minors = [determinant([row[:k] for row in M[:k]]) for k in range(1, len(M) + 1)]
    return all(minor > 0 for minor in minors[:-1]) and minors[-1] >= 0


def determinant(M):
    if not M:
        return Fraction(1)
    return sum(
        ((-1) ** j * M[0][j] * determinant([[*row[:j], *row[j + 1 :]] for row in M[1:]]) for j in range(len(M))),
        Fraction(0),
    )


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
