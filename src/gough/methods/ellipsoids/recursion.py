"""The recursions of bounding ellipsoids over strips, compiled by numba; importing this module imports numba.

Notation of all kernels: a strip is |mid − dᵀθ| ≤ half; the ellipsoid (θ − c)ᵀ M (θ − c) ≤ 1 has M = P⁻¹ = UᵀU, U upper
triangular. With g = dᵀPd / half² and e = (mid − dᵀc) / half, the family of [PRV03e, eq. (28)] (whose premise is that
θ lies in the ellipsoid *and* in the strip) is written in ρ = (1 − α)/α and x = ρ g:

    M' = (M + ρ d dᵀ / half²) / σ,    σ = 1 + ρ − ρ e² / (1 + x)

σ = (1 − δ)/α, where δ = α(1 − α)e² / (α + (1 − α)g) is the safe form of the δ of [PRV03e, eq. (30)], whose last term
must read θ̂_kᵀ N θ̂_k: as printed, M may lose its definiteness, and the ellipsoid the true parameter.
"""

import math

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.compiled_kernels import compiled_loosely as compiled

IDLE, UPDATED, MISSED = 0, 1, 2
"""Effect of a strip: none, the ellipsoid shrank, or the strip misses it."""
_TOUCH = 1e-6
"""A strip counts as missing the ellipsoid only beyond this share of its reach: nearer, rounding might decide."""
_THIN = 1e-8
"""A strip is taken no thinner than this share of the ellipsoid's reach, so that one update cannot flatten it."""
_ROUNDING = 2.0**-44
"""Nor thinner than this share of its own terms, which rounding leaves uncertain."""
_MOST = 1e12
"""Limit on x: with one unknown the best ellipsoid may be the strip itself, x → ∞."""


@compiled
def slope(x: float, g: float, e2: float, p: int, w: float, trace: float, gain: float) -> float:  # noqa: PLR0917
    """Derivative by ρ of (1 − w) log det(P') / p + w log tr(P') at x = ρ g; `gain` = |P d|² / half².

    det P' = σᵖ det P / (1 + x) and tr P' = σ (tr P − ρ gain / (1 + x)), by the matrix inversion lemma.
    """
    D, rho = 1.0 + x, x / g
    sigma = 1.0 + rho - rho * e2 / D
    result = (1.0 - e2 / (D * D)) / sigma - (1.0 - w) * g / (p * D)
    if w > 0.0:
        result -= w * gain / (D * D * max(trace - rho * gain / D, 1e-14 * trace))
    return result


@compiled
def best(least: float, g: float, e2: float, p: int, w: float, trace: float, gain: float) -> float:  # noqa: PLR0917
    """The x ≥ `least` (which is ≤ 0) of the best ellipsoid in the family.

    Determinant, w = 0: (p − 1)x² + (2p − 1 − g + e²)x + p(1 − e²) − g = 0, the explicit optimum that [PRV03e, §III.A]
    leaves to its references; there is no update if p(1 − e²) ≥ g. Otherwise the root of the slope, by bisection.
    """
    if w == 0.0:
        b, c = 2.0 * p - 1.0 - g + e2, p * (1.0 - e2) - g
        if p == 1:
            x = -c / b if b > 0.0 else _MOST
        else:
            root = np.sqrt(max(b * b - 4.0 * (p - 1.0) * c, 0.0))
            x = -2.0 * c / (b + root) if b > 0.0 else (root - b) / (2.0 * (p - 1.0))
        return min(max(x, least), _MOST)
    if slope(0.0, g, e2, p, w, trace, gain) < 0.0:
        low, high = 0.0, 1e-3
        while high < _MOST and slope(high, g, e2, p, w, trace, gain) < 0.0:
            low, high = high, 4.0 * high
    else:
        low, high = least, 0.0
        if least >= 0.0 or slope(low, g, e2, p, w, trace, gain) >= 0.0:
            return least
    for _ in range(60):
        middle = 0.5 * (low + high)
        if slope(middle, g, e2, p, w, trace, gain) < 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled
def effective(r: float, half: float, size: float, root: float, cut: bool) -> tuple[int, float, float]:  # noqa: FBT001
    """The effective part of the strip |r − dᵀx| ≤ half for |dᵀx| ≤ root: (IDLE, UPDATED or MISSED; its r and half).

    Cutting replaces it by its part inside the support interval of dᵀx, which holds the same points of the ellipsoid.
    MISSED is an empty intersection, |e| > 1 + √g.
    """
    if abs(r) - half > root * (1.0 + _TOUCH) + _ROUNDING * size:
        return MISSED, r, half
    low, high = r - half, r + half
    if cut:
        low, high = max(low, -root), min(high, root)
    if low > high or (low <= -root and high >= root):
        return IDLE, r, half
    return UPDATED, 0.5 * (low + high), max(0.5 * (high - low), _THIN * root, _ROUNDING * size)


@compiled
def solve_transposed(U: Array, inverse: Array, d: Array, t: Array) -> float:
    """Solve Uᵀ t = d; `inverse` is 1 over the diagonal of U. Returns |t|² = dᵀ P d.

    U, here and below, has as many rows as columns, a multiple of four: four sums at a time stay in a vector register.
    """
    total = 0.0
    for j in range(0, len(U), 4):
        x0 = x1 = x2 = x3 = 0.0
        for k in range(j):
            v = t[k]
            x0 += U[k, j] * v
            x1 += U[k, j + 1] * v
            x2 += U[k, j + 2] * v
            x3 += U[k, j + 3] * v
        x0 = (d[j] - x0) * inverse[j]
        x1 = (d[j + 1] - x1 - U[j, j + 1] * x0) * inverse[j + 1]
        x2 = (d[j + 2] - x2 - U[j, j + 2] * x0 - U[j + 1, j + 2] * x1) * inverse[j + 2]
        x3 = (d[j + 3] - x3 - U[j, j + 3] * x0 - U[j + 1, j + 3] * x1 - U[j + 2, j + 3] * x2) * inverse[j + 3]
        t[j], t[j + 1], t[j + 2], t[j + 3] = x0, x1, x2, x3
        total += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3
    return total


@compiled
def solve(U: Array, inverse: Array, t: Array, u: Array) -> float:
    """Solve U u = t; returns |u|²."""
    n, total = len(U), 0.0
    for i in range(n - 4, -1, -4):
        x0 = x1 = x2 = x3 = 0.0
        for k in range(i + 4, n):
            v = u[k]
            x0 += U[i, k] * v
            x1 += U[i + 1, k] * v
            x2 += U[i + 2, k] * v
            x3 += U[i + 3, k] * v
        x3 = (t[i + 3] - x3) * inverse[i + 3]
        x2 = (t[i + 2] - x2 - U[i + 2, i + 3] * x3) * inverse[i + 2]
        x1 = (t[i + 1] - x1 - U[i + 1, i + 2] * x2 - U[i + 1, i + 3] * x3) * inverse[i + 1]
        x0 = (t[i] - x0 - U[i, i + 1] * x1 - U[i, i + 2] * x2 - U[i, i + 3] * x3) * inverse[i]
        u[i], u[i + 1], u[i + 2], u[i + 3] = x0, x1, x2, x3
        total += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3
    return total


@compiled
def trace_of_inverse(U: Array, inverse: Array, p: int, column: Array) -> float:
    """Trace of P = U⁻¹ U⁻ᵀ, column by column: recursions for it lose all digits as P shrinks."""
    total = 0.0
    for j in range(p):
        for i in range(j, -1, -1):
            v = 1.0 if i == j else 0.0
            for k in range(i + 1, j + 1):
                v -= U[i, k] * column[k]
            column[i] = v * inverse[i]
            total += column[i] * column[i]
    return total


@compiled
def add_row(U: Array, t: Array, d: Array, weight: float, scale: float, old: Array, new: Array) -> None:  # noqa: PLR0917
    """U ← scale · (triangular form of [U; √weight dᵀ]), given t = U⁻ᵀ d; `d`, `old` and `new` are overwritten.

    It is X̃_k of [PRV03e, eqs. (33)–(35)], with X_{k−1} = √α X̃_{k−1} in (33) and the division by √(1 − τ²) beforehand,
    since τ² = δ is known. The rotations of (34) are done all at once: with s_i = 1 + weight Σ_{k ≤ i} t_k², row i of
    the result is old_i U_i + new_i (d − Σ_{k ≤ i} t_k U_k) [GGMS74, method C1], without a chain of square roots.
    """
    n, before = len(U), 1.0
    for i in range(n):
        old[i] = before
        before += weight * t[i] * t[i]
        new[i] = before
    for i in range(n):
        ratio = np.sqrt(new[i] / old[i])
        new[i] = scale * ratio * weight * t[i] / new[i]
        old[i] = scale * ratio
    for j in range(0, n, 4):
        x0, x1, x2, x3 = d[j], d[j + 1], d[j + 2], d[j + 3]
        for k in range(j):
            v, f, g = t[k], old[k], new[k]
            u0, u1, u2, u3 = U[k, j], U[k, j + 1], U[k, j + 2], U[k, j + 3]
            x0 -= v * u0
            x1 -= v * u1
            x2 -= v * u2
            x3 -= v * u3
            U[k, j], U[k, j + 1], U[k, j + 2], U[k, j + 3] = (
                f * u0 + g * x0,
                f * u1 + g * x1,
                f * u2 + g * x2,
                f * u3 + g * x3,
            )
        d[j], d[j + 1], d[j + 2], d[j + 3] = x0, x1, x2, x3
        for k in range(j, j + 4):
            for i in range(k + 1, j + 4):
                d[i] -= t[k] * U[k, i]
                U[k, i] = old[k] * U[k, i] + new[k] * d[i]
            U[k, k] *= old[k]


@compiled
def padded(U: Array, fill: float) -> Array:
    """A matrix with zeros to the right and below, so that its size is a multiple of four; `fill` on its diagonal."""
    p = len(U)
    n = (p + 3) // 4 * 4
    result = np.zeros((n, n))
    for i in range(n):
        result[i, i] = fill
    result[:p, :p] = U
    return result


@compiled
def log_weight(weights: Array, k: int, scale: Array, added: float, sigma: float) -> None:
    """A ← A + added · s · d dᵀ, s ← σ s in M = A / s: the strip's multiplier, in the unit of all others."""
    weights[k] += added * scale[0]
    scale[0] *= sigma
    if not 1e-100 < scale[0] < 1e100:
        for i in range(len(weights)):
            weights[i] /= scale[0]
        scale[0] = 1.0


@compiled
def inverse_diagonal(X: Array, p: int, vectors: Array) -> None:
    """Enter 1 over the diagonal of X where `one_strip` reads it; the rest of the diagonal of a padded X stays 1."""
    inverse = vectors[3]
    for i in range(p):
        inverse[i] = 1.0 / X[i, i]
    for i in range(p, len(X)):
        X[i, i] = inverse[i] = 1.0


@compiled
def one_strip(  # noqa: PLR0917 - as below
    X: Array, c: Array, p: int, vectors: Array, mid: float, half: float, w: float, cut: bool,  # noqa: FBT001
) -> tuple[int, float, float]:  # fmt: skip
    """Take in the strip of which `vectors[1]` is d: its effect, and ρ / half² and σ where the ellipsoid shrank.

    X is padded; X, c and `vectors` change in place.
    """
    t, d, u, inverse, old, new = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    r, size = mid, abs(mid)
    for j in range(p):
        v = d[j] * c[j]
        r -= v
        size += abs(v)
    G = solve_transposed(X, inverse, d, t)
    kind, r, h = effective(r, half, size, np.sqrt(G), cut)
    if kind != UPDATED or G == 0.0:
        return kind, 0.0, 1.0
    g, e = G / (h * h), r / h
    gain, trace = (solve(X, inverse, t, u) / (h * h), trace_of_inverse(X, inverse, p, old)) if w > 0.0 else (0.0, 0.0)
    x = best(0.0, g, e * e, p, w, trace, gain)
    rho = x / g
    sigma = 1.0 + rho - rho * e * e / (1.0 + x)
    if x < 1e-12 or not sigma > 1e-12:
        return IDLE, 0.0, 1.0
    if w == 0.0:
        solve(X, inverse, t, u)
    step = rho / (1.0 + x) / (h * h) * r
    for i in range(p):
        c[i] += step * u[i]  # θ̂_k − θ̂_{k−1} = P d of the strip, times what it weighs
    for i in range(p, len(d)):
        d[i] = 0.0
    add_row(X, t, d, rho / (h * h), 1.0 / np.sqrt(sigma), old, new)
    inverse_diagonal(X, p, vectors)
    return kind, rho / (h * h), sigma


@compiled
def factorized(  # noqa: PLR0917 - called from compiled and interpreted code
    U: Array, c: Array, D: Array, mid: Array, half: Array, w: float, cut: bool, allowed: int,  # noqa: FBT001
    scale: Array, weights: Array, first: int, kinds: Integers,
) -> int:  # fmt: skip
    """Take in strips one by one in square-root information form; U, c and `scale` change in place.

    `weights` are the multipliers of all strips, in the unit of `scale`, or empty if not wanted; `kinds` tells what each
    strip did. Returns the number of strips that missed, and stops at the first beyond `allowed`.
    """
    p, missed = len(c), 0
    X = padded(U, 1.0)
    vectors = np.zeros((6, len(X)))
    inverse_diagonal(X, p, vectors)
    d = vectors[1]
    for k in range(len(mid)):
        for j in range(p):
            d[j] = D[k, j]
        kinds[k], added, sigma = one_strip(X, c, p, vectors, mid[k], half[k], w, cut)
        if kinds[k] == MISSED:
            missed += 1
            if missed > allowed:
                break
        if kinds[k] == UPDATED and len(weights):
            log_weight(weights, first + k, scale, added, sigma)
    U[:, :] = X[:p, :p]
    return missed


HEAD = 8
"""Numbers at the head of the state of a stream: p, w, whether strips are cut, misses allowed, and three counts."""
P, CRITERION, CUT, ALLOWED, ROWS, UPDATES, MISSES = range(7)
"""Their places."""


@compiled
def stream_parts(state: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Views of the state of a stream: X padded to n × n, vectors of `one_strip`, center, origin, scale."""
    n = (int(state[P]) + 3) // 4 * 4
    at = HEAD + n * n
    X, vectors = state[HEAD:at].reshape((n, n)), state[at : at + 6 * n].reshape((6, n))
    at += 6 * n
    return X, vectors, state[at : at + n], state[at + n : at + 2 * n], state[at + 2 * n : at + 3 * n]


@compiled
def stream_row(state: Array, row: Array, y: float, half: float) -> int:
    """Take in |y − rowᵀθ| ≤ half: its effect, or −1 with nothing changed where a number is not finite or half < 0.

    All that a stream needs lies in one array: the time of a call from Python goes by the number of arrays.
    """
    p = int(state[P])
    X, vectors, c, origin, scale = stream_parts(state)
    if len(row) != p or not (half >= 0.0 and abs(y) < np.inf and half < np.inf):
        return -1
    d, mid, most = vectors[1], y, 0.0
    for j in range(p):
        v = row[j]
        if not abs(v) < np.inf:
            return -1
        mid -= v * origin[j]
        d[j] = v * scale[j]
        most = max(most, abs(d[j]))
    if not 1e-100 < most < 1e100 and most > 0.0:  # squares would be no numbers; a power of two loses no digit
        exponent = -math.frexp(most)[1]
        mid, half = math.ldexp(mid, exponent), math.ldexp(half, exponent)
        for j in range(p):
            d[j] = math.ldexp(d[j], exponent)
    state[ROWS] += 1.0
    if state[MISSES] > state[ALLOWED]:
        return IDLE
    kind = one_strip(X, c, p, vectors, mid, half, state[CRITERION], state[CUT] > 0.0)[0]
    if kind == UPDATED:
        state[UPDATES] += 1.0
    elif kind == MISSED:
        state[MISSES] += 1.0
    return kind


@compiled
def stream_rows(state: Array, rows: Array, y: Array, half: Array) -> None:
    """Take in rows one after the other, all of them finite."""
    for k in range(len(y)):
        stream_row(state, rows[k], y[k], half[k])


@compiled
def standard(  # noqa: C901, PLR0917 - one loop, called from compiled and interpreted code
    P: Array, c: Array, D: Array, mid: Array, half: Array, w: float, cut: bool, allowed: int,  # noqa: FBT001
    scale: Array, weights: Array, first: int, kinds: Integers,
) -> int:  # fmt: skip
    """As `factorized`, by [PRV03e, eq. (30)] with its δ corrected, for P = M⁻¹ by the matrix inversion lemma."""
    p, missed, t = len(c), 0, np.zeros(len(c))
    for k in range(len(mid)):
        r, size, G = mid[k], abs(mid[k]), 0.0
        for i in range(p):
            v = D[k, i] * c[i]
            r -= v
            size += abs(v)
            t[i] = 0.0
            for j in range(p):
                t[i] += P[i, j] * D[k, j]
            G += t[i] * D[k, i]
        kinds[k], r, h = effective(r, half[k], size, np.sqrt(max(G, 0.0)), cut)
        if kinds[k] == MISSED:
            missed += 1
            if missed > allowed:
                return missed
        if kinds[k] != UPDATED or not G > 0.0:
            continue
        g, e, gain, trace = G / (h * h), r / h, 0.0, 0.0
        for i in range(p):
            gain += t[i] * t[i] / (h * h)
            trace += P[i, i]
        x = best(0.0, g, e * e, p, w, trace, gain)
        rho = x / g
        sigma = 1.0 + rho - rho * e * e / (1.0 + x)
        if x < 1e-12 or not sigma > 1e-12:
            kinds[k] = IDLE
            continue
        step = rho / (1.0 + x) / (h * h)
        for i in range(p):
            c[i] += step * r * t[i]
            for j in range(i + 1):
                P[i, j] = sigma * (P[i, j] - step * t[i] * t[j]) if p > 1 else sigma * P[i, j] / (1.0 + x)
                P[j, i] = P[i, j]
        if len(weights):
            log_weight(weights, first + k, scale, rho / (h * h), sigma)
    return missed


@compiled
def descend(  # noqa: C901, PLR0917 - as above
    A: Array, b: Array, weights: Array, P: Array, c: Array, s: float, w: float, sweeps: int, tolerance: float
) -> tuple[float, bool]:
    """Exact coordinate descent on the multipliers of strips |b − aᵀθ| ≤ 1, up and down; in place.

    The ellipsoid is (θ − c)ᵀ P⁻¹ (θ − c) ≤ s with P⁻¹ = Σ λ a aᵀ. Ends after `sweeps`, or when no x exceeds
    `tolerance`. Returns s, and whether the multipliers contradict each other (s < 0: no θ satisfies all strips).
    """
    n, p = A.shape
    t = np.zeros(p)
    trace = 0.0
    for _ in range(sweeps):
        most, trace = 0.0, 0.0
        for i in range(p):
            trace += s * P[i, i]
        for k in range(n):
            e, leverage, gain = b[k], 0.0, 0.0
            for i in range(p):
                t[i] = 0.0
                for j in range(p):
                    t[i] += P[i, j] * A[k, j]
                leverage += t[i] * A[k, i]
                gain += t[i] * t[i]
                e -= A[k, i] * c[i]
            g, gain = leverage * s, gain * s * s
            if not g > 0.0 or (weights[k] == 0.0 and slope(0.0, g, e * e, p, w, trace, gain) >= 0.0):
                continue
            contradiction = abs(e) > (1.0 + np.sqrt(g)) * (1.0 + _TOUCH)
            # σ < 0 at 1 + x = |e| is a contradiction in numbers, for the proof
            x = (
                abs(e) - 1.0
                if contradiction
                else best(max(-weights[k] * leverage, 1e-9 - 1.0), g, e * e, p, w, trace, gain)
            )
            rho = x / g
            sigma = 1.0 + rho - rho * e * e / (1.0 + x)
            weights[k] = max(weights[k] + rho * s, 0.0)
            if contradiction:
                return s * sigma, True
            if abs(x) < 1e-14 or not sigma > 1e-12:
                weights[k] = max(weights[k] - rho * s, 0.0)
                continue
            step = rho * s / (1.0 + x)
            trace = sigma * (trace - rho * gain / (1.0 + x))
            for i in range(p):
                c[i] += step * e * t[i]
                for j in range(p):
                    P[i, j] -= step * t[i] * t[j]
            s *= sigma
            most = max(most, abs(x))
        if most < tolerance:
            break
    return s, False
