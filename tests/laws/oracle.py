"""What is true of a small bounded-error problem, by enumeration in exact rationals: nothing of gough decides here."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from gough import Box, Ellipsoid, Intersection


def exact(values):
    return [Fraction(float(v)) for v in np.asarray(values, dtype=float).ravel()]


def solved(A, b):
    """The solution of a square system by elimination, or None if it is singular."""
    n = len(b)
    M = [[*row, side] for row, side in zip(A, b, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if M[i][k]), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(n):
            if i != k and M[i][k]:
                factor = M[i][k] / M[k][k]
                M[i] = [x - factor * y for x, y in zip(M[i], M[k], strict=True)]
    return [M[i][n] / M[i][i] for i in range(n)]


def inequalities(problem, signs, factor=Fraction(1)):
    """(a, b) with a·θ ≤ b for every row and side of the prior, for θ whose entries have these signs."""
    p, prior, noise = len(problem.unknowns), problem.unknowns.bounds, problem.noise
    radius = exact(np.broadcast_to(noise.radius, problem.y.shape))
    D = None if noise.regressor is None else np.broadcast_to(noise.regressor, problem.W.shape)
    rows = []
    for k, (y, e) in enumerate(zip(exact(problem.y), radius, strict=True)):
        w = exact(problem.W[k])
        blur = [Fraction(0)] * p if D is None else [s * d for s, d in zip(signs, exact(D[k]), strict=True)]
        rows.append(([a - d for a, d in zip(w, blur, strict=True)], y + factor * e))
        rows.append(([-a - d for a, d in zip(w, blur, strict=True)], factor * e - y))
    sides = []
    for j in range(p):
        unit = [Fraction(int(i == j)) for i in range(p)]
        minus = [-x for x in unit]
        sides += [(unit, Fraction(prior.upper[j]))] if np.isfinite(prior.upper[j]) else []
        sides += [(minus, -Fraction(prior.lower[j]))] if np.isfinite(prior.lower[j]) else []
        if D is not None:
            sides.append(([-signs[j] * x for x in unit], Fraction(0)))
    return rows, sides


_FOUND = {}


def vertices(problem, dropped=(), factor=Fraction(1)):
    """All vertices of the set of consistent θ, orthant by orthant where W is uncertain; the prior must be bounded."""
    key = (id(problem), tuple(dropped), factor)
    if key not in _FOUND:
        _FOUND[key] = problem, _vertices(problem, dropped, factor)  # with the problem, so that its id stays its own
    return _FOUND[key][1]


def _vertices(problem, dropped, factor):
    assert problem.unknowns.bounds.is_bounded
    p, found = len(problem.unknowns), set()
    uncertain = problem.noise.regressor is not None
    for signs in product((1, -1), repeat=p) if uncertain else [(1,) * p]:
        rows, sides = inequalities(problem, signs, factor)
        kept = [pair for k, pair in enumerate(rows) if k // 2 not in dropped] + sides
        for chosen in combinations(kept, p):
            x = solved([a for a, _ in chosen], [b for _, b in chosen])
            if x is not None and all(sum(c * v for c, v in zip(a, x, strict=True)) <= b for a, b in kept):
                found.add(tuple(x))
    return found


def relaxed_vertices(problem, q):
    """Vertices of the sets that are left when any q rows are dropped."""
    return set().union(*(vertices(problem, some) for some in combinations(range(problem.n_rows), q)))


def is_consistent(problem, theta, factor=Fraction(1), allowed=0):
    """Does θ satisfy the prior, and all rows but so many, in rational arithmetic?"""
    x = list(theta)
    rows, sides = inequalities(problem, [1 if v >= 0 else -1 for v in x], factor)
    held = [sum(c * v for c, v in zip(a, x, strict=True)) <= b for a, b in rows]
    wrong = sum(not (low and high) for low, high in zip(held[::2], held[1::2], strict=True))
    return wrong <= allowed and all(sum(c * v for c, v in zip(a, x, strict=True)) <= b for a, b in sides)


def holds(region, theta):
    """θ in the region, in rational arithmetic and without tolerance."""
    x = list(theta)
    match region:
        case Box():
            sides = zip(region.lower.tolist(), x, region.upper.tolist(), strict=True)
            return all(low <= v <= high for low, v, high in sides)  # Python compares fractions and floats exactly
        case Intersection():
            return holds(region.box, x) and holds(region.ellipsoid, x)
        case Ellipsoid():
            off = [v - c for v, c in zip(x, exact(region.center), strict=True)]
            free = [j for j in range(len(x)) if region.shape[j].any()]
            if any(off[j] for j in range(len(x)) if j not in free):
                return False
            if not free:
                return True
            P = [exact(region.shape[j, free]) for j in free]
            inner = solved(P, [off[j] for j in free])
            assert inner is not None
            return sum(off[j] * v for j, v in zip(free, inner, strict=True)) <= 1
    raise AssertionError(region)
