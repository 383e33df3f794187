"""Outlines and intensity-weighted centroids of spots, compiled by numba; importing this module imports numba."""

from math import erf, exp, pi, sqrt
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled

_RING = 2.5
"""Width of the ring around a spot's window in which the ground is measured, pixels."""
_ROUNDS = 2
_LARGEST = 100.0
"""Half axis of a spot, pixels: larger ones are not measured."""
_FEWEST = 12
"""Pixels from which the ground is measured at least; with fewer, those near other spots count too."""
_STRAY, _STRAY_NOISE = 0.12, 5.0
"""Light in the ring is stray beyond so much of the spot's level and so many standard deviations of noise."""
_SKEW = 0.58
"""Share of the ground above its mean beyond which its dark part is looked at."""
_DARK = 3.0
"""Ground is darker than its median at most so many times as far as its brightest tenth is brighter: 3.8 standard
deviations of noise; what is darker lies beyond the sheet."""
_ALIKE = 0.85
"""A neighbor of so much of the spot's level has its outline where its edge is; a dimmer one is larger than it."""
_NODES = 8


@compiled
def outline_moments(points: Any, lengths: Any) -> Array:
    """For each outline (consecutive rows of `points`): centroid u, v; area; second moments uu, uv, vv.

    An outline runs through the centers of border pixels; area and moments are those of the spot half a pixel larger.
    """
    out = np.empty((len(lengths), 6))
    start = 0
    for k in range(len(lengths)):
        n = lengths[k]
        u0, v0 = points[start, 0], points[start, 1]
        area, cu, cv, uu, uv, vv, around = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            j = start + (i + 1) % n
            a, b = float(points[start + i, 0] - u0), float(points[start + i, 1] - v0)
            c, d = float(points[j, 0] - u0), float(points[j, 1] - v0)
            cross = a * d - c * b
            area += cross / 2
            cu, cv = cu + (a + c) * cross / 6, cv + (b + d) * cross / 6
            uu += (a * a + a * c + c * c) * cross / 12
            vv += (b * b + b * d + d * d) * cross / 12
            uv += (a * d + 2 * a * b + 2 * c * d + c * b) * cross / 24
            around += np.hypot(c - a, d - b)
        start += n
        if area == 0:
            out[k] = 0.0
            continue
        cu, cv = cu / area, cv / area
        uu, uv, vv = uu / area - cu * cu, uv / area - cu * cv, vv / area - cv * cv
        area = abs(area)
        grown = area + around / 2 + 0.785
        factor = grown / area
        out[k, 0], out[k, 1], out[k, 2] = cu + u0, cv + v0, grown
        out[k, 3], out[k, 4], out[k, 5] = uu * factor, uv * factor, vv * factor
    return out


@compiled
def measure(image: Any, shapes: Array, margins: Array, ceiling: int) -> Array:
    """For each shape of `outline_moments`, a row of `Spots`; NaN where its window leaves the image.

    Columns: center u, v; flux; ground; noise; moments uu, uv, vv of the shape; sums of uu, uv, vv over the window;
    peak; part of saturated pixels; width of the edge; pixels of stray light; middle u, v of the pixels of the ground.
    """
    out = np.full((len(shapes), 17), np.nan)
    ring, sums = np.empty((40000, 3)), np.empty(6)
    clear = margins.max() if len(margins) else 0.0
    every = np.empty((len(shapes), 6))
    for k in range(len(shapes)):
        every[k] = _axes(shapes[k])
    for k in range(len(shapes)):
        ellipse = _axes(shapes[k])
        reach = margins[k] + _RING
        long, short, c, s = ellipse[2] + reach, ellipse[3] + reach, ellipse[4], ellipse[5]
        half_u, half_v = np.hypot(c * long, s * short), np.hypot(s * long, c * short)
        inside = ellipse[0] - half_u > 1 and ellipse[0] + half_u < image.shape[1] - 2
        inside &= ellipse[1] - half_v > 1 and ellipse[1] + half_v < image.shape[0] - 2
        if not inside or long > _LARGEST:
            continue
        near = _near(every, k, reach + clear)
        n = _around(image, ellipse, margins[k], half_u, half_v, ring, every[near], clear)
        if n < _FEWEST:
            n = _around(image, ellipse, margins[k], half_u, half_v, ring, every[:0], clear)
        middle = float(image[int(np.rint(ellipse[1])), int(np.rint(ellipse[0]))])
        ground, noise, out[k, 15], out[k, 16] = _ground(ring[:n], middle)
        for _ in range(_ROUNDS):
            _sums(image, ellipse, margins[k], ground, sums)
            if not sums[0] > 0:
                break
            ellipse[0], ellipse[1] = ellipse[0] + sums[1] / sums[0], ellipse[1] + sums[2] / sums[0]
        if not sums[0] > 0 or not abs(ellipse[0] - shapes[k, 0]) + abs(ellipse[1] - shapes[k, 1]) < 3:
            continue
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = ellipse[0], ellipse[1], sums[0], ground, noise
        out[k, 5:8], out[k, 8:11] = shapes[k, 3:6], sums[3:6]
        out[k, 11], out[k, 12], out[k, 13] = _inside(image, ellipse, margins[k], ground, ceiling)
        out[k, 14] = _stray(image, shapes, k, ellipse, margins[k], max(noise, 0.5), ground)
    return out


@compiled
def _axes(shape: Array) -> Array:
    """Center u, v, long and short half axis, cosine and sine of the long one's direction."""
    uu, uv, vv = shape[3], shape[4], shape[5]
    half, middle = np.hypot((uu - vv) / 2, uv), (uu + vv) / 2
    angle = 0.5 * np.arctan2(2 * uv, uu - vv)
    long, short = 2 * np.sqrt(middle + half), 2 * np.sqrt(max(middle - half, 0.01))
    return np.array([shape[0], shape[1], long, short, np.cos(angle), np.sin(angle)])


@compiled
def _around(  # noqa: PLR0917 - numba knows no keywords
    image: Any, ellipse: Array, margin: float, half_u: float, half_v: float, ring: Array, others: Array, clear: float
) -> int:
    """Write levels and places of the pixels of the ring around the window, but for those near other spots, into `ring`;
    how many there are.

    Blurred light of neighbors in the ring would be taken for a slope of the ground.
    """
    u, v, long, short, c, s = ellipse
    a, b = 1 / (long + margin) ** 2, 1 / (short + margin) ** 2
    a_out, b_out = 1 / (long + margin + _RING) ** 2, 1 / (short + margin + _RING) ** 2
    n = 0
    for i in range(int(np.ceil(v - half_v)), int(np.floor(v + half_v)) + 1):
        for j in range(int(np.ceil(u - half_u)), int(np.floor(u + half_u)) + 1):
            p, q = c * (j - u) + s * (i - v), c * (i - v) - s * (j - u)
            inside = p * p * a + q * q * b > 1 and p * p * a_out + q * q * b_out <= 1 and n < len(ring)
            if inside and _is_clear(others, j, i, clear):
                ring[n, 0], ring[n, 1], ring[n, 2] = image[i, j], j, i
                n += 1
    return n


@compiled
def _near(every: Array, own: int, reach: float) -> Any:
    """Numbers of other spots whose surroundings may overlap those of a spot."""
    out = np.empty(len(every), np.int64)
    n = 0
    for k in range(len(every)):
        far = every[own, 2] + every[k, 2] + reach
        du, dv = every[k, 0] - every[own, 0], every[k, 1] - every[own, 1]
        if k != own and every[k, 2] < _LARGEST and du * du + dv * dv < far * far:
            out[n] = k
            n += 1
    return out[:n]


@compiled
def _is_clear(others: Array, u: float, v: float, clear: float) -> bool:
    """Whether a pixel is farther than `clear` from all these spots."""
    for k in range(len(others)):
        du, dv = u - others[k, 0], v - others[k, 1]
        p, q = others[k, 4] * du + others[k, 5] * dv, others[k, 4] * dv - others[k, 5] * du
        if (p / (others[k, 2] + clear)) ** 2 + (q / (others[k, 3] + clear)) ** 2 < 1:
            return False
    return True


@compiled
def _ground(ring: Array, middle: float) -> tuple[float, float, float, float]:
    """Mean and standard deviation of the ring without what belongs to neighbors of the spot or lies beyond the sheet,
    and the middle of its pixels: where neighbors are on one side, the mean is the ground on the other side.
    """
    lowest = middle
    for k in range(len(ring)):
        lowest = min(lowest, ring[k, 0])
    limit = lowest + 0.5 * (middle - lowest)
    least = _least(ring, limit) if _is_skew(ring, limit) else lowest
    mean, deviation, u, v = lowest, 0.0, 0.0, 0.0
    for _ in range(4):
        n, total, squares, u, v = 0, 0.0, 0.0, 0.0, 0.0
        for k in range(len(ring)):
            value = ring[k, 0]
            if least <= value <= limit:
                n, total, squares = n + 1, total + value, squares + value * value
                u, v = u + ring[k, 1], v + ring[k, 2]
        mean, u, v = total / n, u / n, v / n
        deviation = np.sqrt(max(squares / n - mean * mean, 0.0))
        limit = min(limit, mean + max(3.5 * deviation, 1.0))
    return mean, deviation, u, v


@compiled
def _is_skew(ring: Array, limit: float) -> bool:
    """Whether clearly more of the ground is above its mean than below: some of it is much darker than the rest."""
    total, n, above = 0.0, 0, 0
    for k in range(len(ring)):
        if ring[k, 0] <= limit:
            total, n = total + ring[k, 0], n + 1
    for k in range(len(ring)):
        above += total / n < ring[k, 0] <= limit
    return above > _SKEW * n


@compiled
def _least(ring: Array, limit: float) -> float:
    """A level that the ground of a ring is above: most of its pixels are within as far from the median as others."""
    levels = np.empty(len(ring))
    n = 0
    for k in range(len(ring)):
        if ring[k, 0] <= limit:
            levels[n] = ring[k, 0]
            n += 1
    levels = levels[:n]
    levels.sort()
    median = levels[n // 2]
    return median - max(_DARK * (levels[(9 * n) // 10] - median), 1.0)


@compiled
def _stray(  # noqa: PLR0917 - numba knows no keywords
    image: Any, shapes: Array, own: int, ellipse: Array, margin: float, noise: float, ground: float
) -> int:
    """How many pixels of the ring have light that neither the spot nor a neighbor like it explains, or are too dark."""
    u, v, long, short, c, s = ellipse
    reach = margin + _RING
    a, b = 1 / (long + margin) ** 2, 1 / (short + margin) ** 2
    a_out, b_out = 1 / (long + reach) ** 2, 1 / (short + reach) ** 2
    half_u = np.hypot(c * (long + reach), s * (short + reach))
    half_v = np.hypot(s * (long + reach), c * (short + reach))
    level = float(image[int(np.rint(v)), int(np.rint(u))]) - ground
    beyond, n = max(_STRAY * level, _STRAY_NOISE * noise), 0
    for i in range(int(np.ceil(v - half_v)), int(np.floor(v + half_v)) + 1):
        for j in range(int(np.ceil(u - half_u)), int(np.floor(u + half_u)) + 1):
            if abs(image[i, j] - ground) > beyond:
                p, q = c * (j - u) + s * (i - v), c * (i - v) - s * (j - u)
                if p * p * a + q * q * b > 1 and p * p * a_out + q * q * b_out <= 1:
                    dark = image[i, j] < ground
                    n += dark or not _is_neighbors(image, shapes, own, j, i, reach, ground + _ALIKE * level)
    return n


@compiled
def _is_neighbors(  # noqa: PLR0917 - numba knows no keywords
    image: Any, shapes: Array, own: int, u: int, v: int, reach: float, least: float
) -> bool:
    """Whether a pixel is within reach of another spot that is as bright."""
    for k in range(len(shapes)):
        du, dv = u - shapes[k, 0], v - shapes[k, 1]
        far = 2 * np.sqrt(shapes[k, 3] + shapes[k, 5]) + reach
        if k != own and du * du + dv * dv < far * far:
            distance = max(np.hypot(du, dv), 1e-9)
            if distance < _support(shapes[k, 3:6], du / distance, dv / distance) + reach:
                return bool(image[int(np.rint(shapes[k, 1])), int(np.rint(shapes[k, 0]))] > least)
    return False


@compiled
def _support(moments: Array, du: float, dv: float) -> float:
    """How far an ellipse with these second moments extends in a direction."""
    return 2 * np.sqrt(moments[0] * du * du + 2 * moments[1] * du * dv + moments[2] * dv * dv)


@compiled
def leaks(spots: Array, margins: Array, edge: float) -> Array:
    """How far light of neighbors, blurred into a spot's window, pulls its centroid: pixels (n,), for rows of `measure`.

    Where the gap is narrowest both outlines are parabolas, and a distance z beyond an edge of Gaussian width the light
    is Φ(−z): its integral over the window, and that times the distance from the center, are integrals along the
    window's border.
    """
    out = np.zeros(len(spots))
    for i in range(len(spots)):
        pull_u, pull_v = 0.0, 0.0
        for j in range(len(spots)):
            du, dv = spots[j, 0] - spots[i, 0], spots[j, 1] - spots[i, 1]
            distance = np.hypot(du, dv)
            if i == j or distance > 200:
                continue
            du, dv = du / distance, dv / distance
            own, its = _support(spots[i, 5:8], du, dv), _support(spots[j, 5:8], du, dv)
            gap = distance - own - its - margins[i]
            if gap < 4 * edge:
                bend = spots[i, 5] * spots[i, 7] - spots[i, 6] ** 2, spots[j, 5] * spots[j, 7] - spots[j, 6] ** 2
                radii = 16 * bend[0] / own**3 + margins[i], 16 * bend[1] / its**3
                pull = spots[j, 11] / spots[i, 2] * _leak(gap, own + margins[i], radii, edge)
                pull_u, pull_v = pull_u + pull * du, pull_v + pull * dv
        out[i] = np.hypot(pull_u, pull_v)
    return out


@compiled
def _leak(gap: float, arm: float, radii: Any, edge: float) -> float:
    """First moment, about a spot's center, of a neighbor's light in its window: `gap` between, radii of curvature."""
    curvature = 1 / radii[0] + 1 / radii[1]
    wide, total = np.sqrt(2 * max(4 * edge - gap, 0.0) / curvature), 0.0
    for node in range(_NODES):
        x = wide * (node + 0.5) / _NODES
        z = (gap + curvature * x * x / 2) / edge
        tail, density = 0.5 * (1 - erf(z / sqrt(2))), exp(-z * z / 2) / sqrt(2 * pi)
        inward = edge**2 * ((1 + z * z) * tail - z * density) / 2
        total += (arm - x * x / 2 / radii[0]) * edge * (density - z * tail) - inward
    return 2 * wide / _NODES * total


@compiled
def _sums(image: Any, ellipse: Array, margin: float, ground: float, sums: Array) -> None:
    """Over the window: flux, flux times u and v from the center, and uu, uv, vv of the pixels."""
    u, v, long, short, c, s = ellipse
    long, short = long + margin, short + margin
    a, b = 1 / long**2, 1 / short**2
    half_u, half_v = np.hypot(c * long, s * short), np.hypot(s * long, c * short)
    flux, fu, fv, uu, uv, vv = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(int(np.ceil(v - half_v)), int(np.floor(v + half_v)) + 1):
        for j in range(int(np.ceil(u - half_u)), int(np.floor(u + half_u)) + 1):
            du, dv = j - u, i - v
            p, q = c * du + s * dv, c * dv - s * du
            if p * p * a + q * q * b <= 1:
                w = image[i, j] - ground
                flux, fu, fv = flux + w, fu + w * du, fv + w * dv
                uu, uv, vv = uu + du * du, uv + du * dv, vv + dv * dv
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = flux, fu, fv, uu, uv, vv


@compiled
def _inside(image: Any, ellipse: Array, margin: float, ground: float, ceiling: int) -> tuple[float, float, float]:
    """Level of the spot above the ground, the part of it that is saturated, and the width of its edge."""
    u, v, long, short, c, s = ellipse
    half_u, half_v = np.hypot(c * long, s * short) + margin, np.hypot(s * long, c * short) + margin
    total, n, saturated = 0.0, 0, 0
    for i in range(int(np.ceil(v - half_v)), int(np.floor(v + half_v)) + 1):
        for j in range(int(np.ceil(u - half_u)), int(np.floor(u + half_u)) + 1):
            p, q = (c * (j - u) + s * (i - v)) / long, (c * (i - v) - s * (j - u)) / short
            if p * p + q * q < 0.2:
                total, n = total + image[i, j] - ground, n + 1
                saturated += image[i, j] >= ceiling
    level = total / max(n, 1)
    on_edge = 0
    for i in range(int(np.ceil(v - half_v)), int(np.floor(v + half_v)) + 1):
        for j in range(int(np.ceil(u - half_u)), int(np.floor(u + half_u)) + 1):
            p, q = (c * (j - u) + s * (i - v)) / (long + margin), (c * (i - v) - s * (j - u)) / (short + margin)
            if p * p + q * q < 1 and 0.1 * level < image[i, j] - ground < 0.9 * level:
                on_edge += 1
    around = 2 * np.pi * np.sqrt((long * long + short * short) / 2)
    return level, saturated / max(n, 1), on_edge / around / 2.563  # from 10 % to 90 % of a Gaussian edge: 2.563 σ
