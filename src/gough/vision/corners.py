"""Corners of squares and markers to a hundredth of a pixel, compiled by numba; importing this module imports numba.

A straight edge seen through a lens with a Gaussian point-spread function of width s is Φ(d/s) a distance d beside it.
Where two edges with normals m and n cross, the light of the quadrant between them is the bivariate normal probability
Φ₂(d/s, e/s; m·n): exact for edges at any angle, so that blur does not shift a corner. A corner of squares is the sum
of two opposite quadrants.
"""

from math import erf, exp, pi, sqrt
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled

_FREE = 9
"""Unknowns of a corner: u, v, the angles of both normals, width of the edges, slopes of the light, both levels."""
_STEPS = 20
_SETTLED = 1e-4
_NODES = np.array([0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415, 0.9530899229693319])
_WEIGHTS = np.array([0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                     0.11846344252809454])  # fmt: skip
"""Gauss's rule on [0, 1]."""
_WIDEST = 6.0
_LEAST_NOISE = 0.29
"""Standard deviation of rounding to whole levels."""
_MISFIT = 0.12
"""Root mean square of the residuals beside the difference of black and white, beyond which it is no corner."""


@compiled
def fit_corners(  # noqa: PLR0917 - numba knows no keywords
    image: Any,
    starts: Array,
    normals: Array,
    bends: Array,
    reach: Array,
    inner: Array,
    wedge: bool,  # noqa: FBT001
) -> Array:
    """Rows u, v, variances uu, uv, vv, width of the edges, contrast; NaN where there is no corner.

    Args:
        image: Gray levels.
        starts: (n, 2): corners to about a pixel.
        normals: (n, 2): angles of the normals of both edges; of a wedge, they point into it.
        bends: (n, 2): half the curvature of both edges that the lens causes, towards their normals, 1/pixels.
        reach: (n,): radius of the window, pixels.
        inner: (n,): distance from both edges beyond which the board has others, pixels: the window is a cross, or of a
            wedge all but what is deep inside.
        wedge: One dark quadrant, not two opposite ones.
    """
    out = np.full((len(starts), 7), np.nan)
    for k in range(len(starts)):
        _fit(image, starts[k], normals[k], bends[k], reach[k], inner[k], wedge, out[k])
    return out


@compiled
def _fit(  # noqa: PLR0917 - numba knows no keywords
    image: Any,
    start: Array,
    angles: Array,
    bends: Array,
    reach: float,
    inner: float,
    wedge: bool,  # noqa: FBT001
    out: Array,
) -> None:
    """One corner by Levenberg and Marquardt's method."""
    rows, columns = image.shape
    top, left = int(np.floor(start[1] - reach)), int(np.floor(start[0] - reach))
    bottom, right = int(np.ceil(start[1] + reach)), int(np.ceil(start[0] + reach))
    if top < 0 or left < 0 or bottom >= rows or right >= columns or reach < 2.0:
        return
    p = np.array([start[0], start[1], angles[0], angles[1], 0.8, 0.0, 0.0, 0.0, 0.0])
    used = _window(start, angles, reach, inner, wedge)
    _levels(image, p, bends, used, wedge)
    A, g = np.zeros((_FREE, _FREE)), np.zeros(_FREE)
    n, cost = _normal(image, p, used, bends, wedge, A, g)
    damping = 1e-3
    for _ in range(_STEPS):
        M = A.copy()
        for i in range(_FREE):
            M[i, i] = M[i, i] * (1 + damping) + 1e-12
        step = np.linalg.solve(M, g)
        new = p + step
        new[4] = min(max(new[4], 0.25), _WIDEST)
        B, h = np.zeros((_FREE, _FREE)), np.zeros(_FREE)
        n, after = _normal(image, new, used, bends, wedge, B, h)
        if after <= cost:
            settled = abs(step[0]) + abs(step[1]) < _SETTLED and cost - after < 1e-4 * cost
            p, A, g, cost = new, B, h, after
            damping = max(damping / 5, 1e-9)
            if settled:
                break
        else:
            damping *= 8
            if damping > 1e8:
                break
    contrast = abs(p[8]) * (1.0 if wedge else 2.0)
    if n < 3 * _FREE or np.hypot(p[0] - start[0], p[1] - start[1]) > min(2.5, 0.7 * reach):
        return
    if not cost / n < (_MISFIT * contrast) ** 2 or not abs(np.sin(p[2] - p[3])) > 0.15 or p[4] > 0.7 * reach:
        return
    C = np.linalg.inv(A + 1e-12 * np.eye(_FREE)) * max(cost / (n - _FREE), _LEAST_NOISE**2)
    out[0], out[1], out[2], out[3], out[4], out[5], out[6] = p[0], p[1], C[0, 0], C[0, 1], C[1, 1], p[4], contrast


@compiled
def _window(start: Array, angles: Array, reach: float, inner: float, wedge: bool) -> Any:  # noqa: FBT001
    """Rows and columns (n, 2) of the pixels around a corner that no other edge of the board reaches."""
    top, bottom = int(np.floor(start[1] - reach)), int(np.ceil(start[1] + reach))
    left, right = int(np.floor(start[0] - reach)), int(np.ceil(start[0] + reach))
    out = np.empty(((bottom - top + 1) * (right - left + 1), 2), np.int64)
    n = 0
    for i in range(top, bottom + 1):
        for j in range(left, right + 1):
            x, y = j - start[0], i - start[1]
            if x * x + y * y > reach * reach:
                continue
            d, e = np.cos(angles[0]) * x + np.sin(angles[0]) * y, np.cos(angles[1]) * x + np.sin(angles[1]) * y
            if (wedge and (d < 0 or e < 0)) or min(abs(d), abs(e)) <= inner:
                out[n, 0], out[n, 1] = i, j
                n += 1
    return out[:n]


@compiled
def _levels(image: Any, p: Array, bends: Array, used: Any, wedge: bool) -> None:  # noqa: FBT001
    """Set both levels by linear least squares."""
    m, mm, f, fm = 0.0, 0.0, 0.0, 0.0
    n = len(used)
    for i, j in used:
        shape = _shape(p, j - p[0], i - p[1], bends, wedge)[0]
        value = float(image[i, j])
        m, mm, f, fm = m + shape, mm + shape * shape, f + value, fm + value * shape
    p[8] = (fm - f * m / n) / max(mm - m * m / n, 1e-9)
    p[7] = (f - p[8] * m) / n


@compiled
def _shape(
    p: Array,
    x: float,
    y: float,
    bends: Array,
    wedge: bool,  # noqa: FBT001
) -> tuple[float, float, float, float, float, float]:
    """Light of the quadrant, or of two, beside a corner; its slopes by both distances and by the correlation."""
    c1, s1, c2, s2, width = np.cos(p[2]), np.sin(p[2]), np.cos(p[3]), np.sin(p[3]), p[4]
    h = (c1 * x + s1 * y - bends[0] * (c1 * y - s1 * x) ** 2) / width
    k = (c2 * x + s2 * y - bends[1] * (c2 * y - s2 * x) ** 2) / width
    rho = min(max(c1 * c2 + s1 * s2, -0.98), 0.98)
    angle = np.arcsin(rho)
    total = 0.0
    for node in range(len(_NODES)):
        sine = np.sin(angle * _NODES[node])
        total += _WEIGHTS[node] * exp(-(h * h + k * k - 2 * h * k * sine) / (2 * (1 - sine * sine)))
    both = total * angle / (2 * pi)
    left, right = 0.5 * (1 + erf(h / sqrt(2.0))), 0.5 * (1 + erf(k / sqrt(2.0)))
    root = np.sqrt(1 - rho * rho)
    by_h = exp(-h * h / 2) / sqrt(2 * pi) * 0.5 * (1 + erf((k - rho * h) / root / sqrt(2.0)))
    by_k = exp(-k * k / 2) / sqrt(2 * pi) * 0.5 * (1 + erf((h - rho * k) / root / sqrt(2.0)))
    by_rho = exp(-(h * h + k * k - 2 * rho * h * k) / (2 * root * root)) / (2 * pi * root)
    value = left * right + both
    if not wedge:
        by_h = 4 * by_h - 2 * exp(-h * h / 2) / sqrt(2 * pi)
        by_k = 4 * by_k - 2 * exp(-k * k / 2) / sqrt(2 * pi)
        value, by_rho = 4 * value - 2 * left - 2 * right + 1, 4 * by_rho
    return value, by_h, by_k, by_rho, h, k


@compiled
def _normal(  # noqa: PLR0917 - numba knows no keywords
    image: Any,
    p: Array,
    used: Any,
    bends: Array,
    wedge: bool,  # noqa: FBT001
    A: Array,
    g: Array,
) -> tuple[int, float]:
    """Add up normal equations over the pixels of the window; their number and the sum of squares."""
    cost, row = 0.0, np.empty(_FREE)
    width, by_angle = p[4], -np.sin(p[2] - p[3])
    for i, j in used:
        x, y = j - p[0], i - p[1]
        value, by_h, by_k, by_rho, h, k = _shape(p, x, y, bends, wedge)
        light = 1 + p[5] * x + p[6] * y
        level = p[7] + p[8] * value
        slope = light * p[8]
        row[0] = -slope * (by_h * np.cos(p[2]) + by_k * np.cos(p[3])) / width - p[5] * level
        row[1] = -slope * (by_h * np.sin(p[2]) + by_k * np.sin(p[3])) / width - p[6] * level
        row[2] = slope * (by_h * (-np.sin(p[2]) * x + np.cos(p[2]) * y) / width + by_rho * by_angle)
        row[3] = slope * (by_k * (-np.sin(p[3]) * x + np.cos(p[3]) * y) / width - by_rho * by_angle)
        row[4] = -slope * (by_h * h + by_k * k) / width
        row[5], row[6] = x * level, y * level
        row[7], row[8] = light, light * value
        residual = float(image[i, j]) - light * level
        cost += residual * residual
        for a in range(_FREE):
            g[a] += row[a] * residual
            for b in range(a + 1):
                A[a, b] += row[a] * row[b]
    for a in range(_FREE):
        for b in range(a):
            A[b, a] = A[a, b]
    return len(used), cost
