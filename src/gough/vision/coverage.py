"""How much of each pixel a disc covers, compiled by numba; importing this module imports numba."""

from math import erf, exp, pi, sqrt
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled
from gough.vision.optics import distorted, undistorted

_STRIPS = 8
_FAR = 4.0
"""Standard deviations of the blur that are drawn."""


def blur_weights(blur: float) -> tuple[int, Array]:
    """Into how many cells a pixel's side is cut, and what a covered cell adds to the pixels around it.

    A lens blurs before the sensor samples: the weights are the integrals over cells of the Gaussian folded with the
    pixel's square. Blurring whole pixels would leave up to 0.005 px of error in the centroid of a small dot.
    """
    if blur <= 0:
        return 1, np.ones(1)
    cells = 6 if blur < 0.4 else 4
    reach = int(np.ceil(_FAR * blur))
    edges = np.arange(-cells * (reach + 0.5), cells * (reach + 0.5) + 1) / cells
    twice = np.array([_integral((x + 0.5) / blur) - _integral((x - 0.5) / blur) for x in edges]) * blur
    weights = np.diff(twice)
    return cells, weights * cells / weights.sum()


def _integral(z: float) -> float:
    """∫ Φ up to z."""
    return z * (1 + erf(z / sqrt(2))) / 2 + exp(-z * z / 2) / sqrt(2 * pi)


@compiled
def cover(  # noqa: PLR0917 - numba knows no keywords
    canvas: Array,
    camera: Array,
    R: Array,
    t: Array,
    centers: Array,
    radius: float,
    images: Array,
    cells: int,
    weights: Array,
    hidden: Array,
    light: Array,
) -> None:
    """Add to each pixel of `canvas` how much of its light comes from discs on the target.

    Within a pixel the map to the target's plane is taken as linear (it bends by 10⁻⁴ of a pixel), a cell at the
    disc's edge is cut into strips across that edge, and the chord of each strip is exact. `images` are the discs'
    images as `optics.discs` gives them; `hidden` are the first and last u and v of rectangles before the target
    (n, 4); `light` is as `lit` takes it: it falls before the lens blurs.
    """
    rows, columns = canvas.shape
    reach = (len(weights) // cells - 1) // 2
    scale = 1.0 / (cells * cells)
    for i in range(len(centers)):
        inverse = _inverse(R, R[:, 2] * centers[i, 2] + t)
        half_u, half_v = 2 * np.sqrt(images[i, 3]) + 1.5, 2 * np.sqrt(images[i, 5]) + 1.5
        if not np.isfinite(half_u + half_v):
            continue
        top, left = int(np.floor(images[i, 1] - half_v)), int(np.floor(images[i, 0] - half_u))
        tall, wide = int(2 * half_v) + 3, int(2 * half_u) + 3
        if top > rows + reach or left > columns + reach or top + tall < -reach or left + wide < -reach:
            continue
        fine = np.zeros((tall * cells, wide * cells))
        for a in range(tall):
            for b in range(wide):
                _fill(fine, a, b, cells, on_plane(camera, inverse, left + b, top + a), centers[i], radius)
        for a in range(tall * cells):
            for b in range(wide * cells):
                if fine[a, b] > 0:
                    v, u = top - 0.5 + (a + 0.5) / cells, left - 0.5 + (b + 0.5) / cells
                    fine[a, b] *= 0.0 if _is_hidden(hidden, u, v) else lit(light, u, v)
        _spread(canvas, fine, top, left, cells, weights * scale**0.5)


@compiled
def lit(light: Array, u: Any, v: Any) -> Any:
    """Light at a pixel, 1 in the middle: what is lost in the corners, its growth along u and v, width and height."""
    width, height = light[3], light[4]
    a, b = (u - (width - 1) / 2) / width, (v - (height - 1) / 2) / height
    aspect = height / width
    square = (a * a + (b * aspect) ** 2) * 4 / (1 + aspect**2)
    return (1 - light[0] * square) * (1 + light[1] * a + light[2] * b)


@compiled
def _spread(  # noqa: PLR0917 - numba knows no keywords
    canvas: Array, fine: Array, top: int, left: int, cells: int, weights: Array
) -> None:
    """Add a patch of cells to the pixels, first along rows, then along columns."""
    reach = (len(weights) // cells - 1) // 2
    tall, wide = fine.shape[0], fine.shape[1] // cells
    along = np.zeros((tall, wide + 2 * reach))
    for a in range(tall):
        for b in range(fine.shape[1]):
            value = fine[a, b]
            if value != 0:
                pixel = b // cells
                for k in range(-reach, reach + 1):  # the pixel k to the right sees this cell k to its left
                    along[a, pixel + k + reach] += value * weights[(reach - k) * cells + b % cells]
    for a in range(tall):
        for k in range(-reach, reach + 1):
            v = top + a // cells + k
            if 0 <= v < canvas.shape[0]:
                weight = weights[(reach - k) * cells + a % cells]
                for b in range(along.shape[1]):
                    u = left + b - reach
                    if 0 <= u < canvas.shape[1]:
                        canvas[v, u] += weight * along[a, b]


@compiled
def _is_hidden(hidden: Array, u: float, v: float) -> bool:
    for k in range(len(hidden)):  # noqa: SIM110 - numba compiles no generator
        if hidden[k, 0] < u < hidden[k, 1] and hidden[k, 2] < v < hidden[k, 3]:
            return True
    return False


@compiled
def _inverse(R: Array, p: Array) -> Array:
    """The inverse of [r₁ r₂ p], by cross products."""
    out = np.empty((3, 3))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        out[0, k] = R[i, 1] * p[j] - R[j, 1] * p[i]
        out[1, k] = p[i] * R[j, 0] - p[j] * R[i, 0]
        out[2, k] = R[i, 0] * R[j, 1] - R[j, 0] * R[i, 1]
    scale = R[0, 0] * out[0, 0] + R[1, 0] * out[0, 1] + R[2, 0] * out[0, 2]
    return out / scale


@compiled
def on_plane(camera: Array, inverse: Array, u: float, v: float) -> tuple[float, float, float, float, float, float]:
    """Where on the target a pixel's center looks, and the slopes of that by u and v: X, Y, Xu, Xv, Yu, Yv."""
    x, y = undistorted(camera, u, v)
    _, _, xx, xy, yx, yy = distorted(camera, x, y)
    determinant = xx * yy - xy * yx
    xu, xv = yy / determinant / camera[0], -xy / determinant / camera[1]
    yu, yv = -yx / determinant / camera[0], xx / determinant / camera[1]
    w = inverse[2, 0] * x + inverse[2, 1] * y + inverse[2, 2]
    X = (inverse[0, 0] * x + inverse[0, 1] * y + inverse[0, 2]) / w
    Y = (inverse[1, 0] * x + inverse[1, 1] * y + inverse[1, 2]) / w
    Xx, Xy = (inverse[0, 0] - X * inverse[2, 0]) / w, (inverse[0, 1] - X * inverse[2, 1]) / w
    Yx, Yy = (inverse[1, 0] - Y * inverse[2, 0]) / w, (inverse[1, 1] - Y * inverse[2, 1]) / w
    return X, Y, Xx * xu + Xy * yu, Xx * xv + Xy * yv, Yx * xu + Yy * yu, Yx * xv + Yy * yv


@compiled
def _fill(  # noqa: PLR0917 - numba knows no keywords
    fine: Array, row: int, column: int, cells: int, at: Any, center: Array, radius: float
) -> None:
    """Write into the cells of one pixel which part of each a disc covers."""
    X, Y, Xu, Xv, Yu, Yv = at
    X, Y = X - center[0], Y - center[1]
    if not np.isfinite(X + Y):
        return
    distance, reach = np.hypot(X, Y), 0.5 * (abs(Xu) + abs(Xv) + abs(Yu) + abs(Yv))
    if distance > radius + reach:
        return
    for a in range(cells):
        for b in range(cells):
            du, dv = (b + 0.5) / cells - 0.5, (a + 0.5) / cells - 0.5
            part = 1.0
            if distance >= radius - reach:
                place = X + Xu * du + Xv * dv, Y + Yu * du + Yv * dv
                part = _covered(place, (Xu / cells, Xv / cells, Yu / cells, Yv / cells), radius)
            fine[row * cells + a, column * cells + b] = part


@compiled
def _covered(place: Any, sides: Any, radius: float) -> float:
    """The part of a small square, by its middle and its sides, that a disc about the origin covers."""
    X, Y = place
    Xu, Xv, Yu, Yv = sides
    reach = 0.5 * (abs(Xu) + abs(Xv) + abs(Yu) + abs(Yv))
    distance = np.hypot(X, Y)
    if distance > radius + reach:
        return 0.0
    if distance < radius - reach:
        return 1.0
    if abs(X * Xv + Y * Yv) > abs(X * Xu + Y * Yu):  # chords across the edge, not along it: their length is smooth
        Xu, Xv, Yu, Yv = Xv, Xu, Yv, Yu
    a, total = Xu * Xu + Yu * Yu, 0.0
    for row in range(_STRIPS):
        dv = (row + 0.5) / _STRIPS - 0.5
        p, q = X + Xv * dv, Y + Yv * dv
        b, c = p * Xu + q * Yu, p * p + q * q - radius * radius
        inside = b * b - a * c
        if inside > 0:
            root = np.sqrt(inside)
            total += max(0.0, min(0.5, (-b + root) / a) - max(-0.5, (-b - root) / a))
    return total / _STRIPS
