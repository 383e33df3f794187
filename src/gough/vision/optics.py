"""A camera with its lens, compiled by numba; importing this module imports numba.

Parameters of a camera are fx, fy, cx, cy in pixels, then the coefficients of its lens in OpenCV's order; the center of
a pixel has whole coordinates. Their number tells the model, as in OpenCV:

    8    k1 … k4 of the fisheye model [KB06]
    9    k1, k2, p1, p2, k3 of Brown's model [BRO71]
    12   and k4, k5, k6: the radial factor is a ratio of two polynomials
    16   and s1 … s4: a thin prism [WCH92]

A pose is (R, t): a point X of the target is R X + t before the camera, whose z looks forward. Slopes by a pose are for
(position, left rotation vector), as everywhere in gough.
"""

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled

_SIDEWAYS = np.pi / 2 - 1e-3
_NODES, _TURNS = np.sqrt((1 + np.array([-1.0, 1.0]) / np.sqrt(3)) / 2), 8
"""Gauss's rule in the square of the radius, and equal angles: exact on a disc for polynomials up to degree 7."""


FISHEYE, BROWN, RATIONAL, PRISM = 8, 9, 12, 16
"""Numbers of parameters of the models."""


@compiled
def distorted(camera: Array, x: float, y: float) -> tuple[float, float, float, float, float, float]:
    """The image at distance 1 of a point at distance 1 before the camera: x', y', and their slopes by x and y."""
    s = x * x + y * y
    if len(camera) == FISHEYE:
        radial, slope = _fisheye(camera, s)
        across = 2 * x * y * slope
        return x * radial, y * radial, radial + 2 * x * x * slope, across, across, radial + 2 * y * y * slope
    k1, k2, p1, p2, k3 = camera[4], camera[5], camera[6], camera[7], camera[8]
    radial = 1 + s * (k1 + s * (k2 + s * k3))
    slope = k1 + s * (2 * k2 + s * 3 * k3)  # of the radial factor by s
    if len(camera) >= RATIONAL:
        k4, k5, k6 = camera[9], camera[10], camera[11]
        below = 1 + s * (k4 + s * (k5 + s * k6))
        slope = (slope - radial * (k4 + s * (2 * k5 + s * 3 * k6)) / below) / below
        radial /= below
    u = x * radial + 2 * p1 * x * y + p2 * (s + 2 * x * x)
    v = y * radial + p1 * (s + 2 * y * y) + 2 * p2 * x * y
    across = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
    xx, xy = radial + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x, across
    yx, yy = across, radial + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
    if len(camera) >= PRISM:
        s1, s2, s3, s4 = camera[12], camera[13], camera[14], camera[15]
        u, v = u + s * (s1 + s * s2), v + s * (s3 + s * s4)
        first, second = 2 * (s1 + 2 * s * s2), 2 * (s3 + 2 * s * s4)
        xx, xy, yx, yy = xx + x * first, xy + y * first, yx + x * second, yy + y * second
    return u, v, xx, xy, yx, yy


@compiled
def _fisheye(camera: Array, s: float) -> tuple[float, float]:
    """The radial factor of the fisheye model [KB06] and its slope by s, the square of the tangent of the angle."""
    k1, k2, k3, k4 = camera[4], camera[5], camera[6], camera[7]
    if s < 1e-8:
        return 1 + s * (k1 - 1 / 3), k1 - 1 / 3
    r = np.sqrt(s)
    angle = np.arctan(r)
    q = angle * angle
    bent = angle * (1 + q * (k1 + q * (k2 + q * (k3 + q * k4))))
    growth = (1 + q * (3 * k1 + q * (5 * k2 + q * (7 * k3 + q * 9 * k4)))) / (1 + s)
    return bent / r, (growth - bent / r) / (2 * s)


@compiled
def _unbent(camera: Array, u: float, v: float) -> tuple[float, float]:
    """The point at distance 1 of a fisheye camera; NaN from 90° to the side on, and where the model folds over."""
    bent = np.sqrt(u * u + v * v)
    if bent < 1e-8:
        return u, v
    k1, k2, k3, k4 = camera[4], camera[5], camera[6], camera[7]
    angle = bent
    for _ in range(30):
        q = angle * angle
        growth = 1 + q * (3 * k1 + q * (5 * k2 + q * (7 * k3 + q * 9 * k4)))
        if not growth > 1e-3:
            return np.nan, np.nan
        step = (bent - angle * (1 + q * (k1 + q * (k2 + q * (k3 + q * k4))))) / growth
        angle += step
        if abs(step) < 1e-14:
            break
    if not 0 < angle < _SIDEWAYS:
        return np.nan, np.nan
    return u * np.tan(angle) / bent, v * np.tan(angle) / bent


@compiled
def undistorted(camera: Array, u: float, v: float) -> tuple[float, float]:
    """The point at distance 1 before the camera that is seen at a pixel; NaN where the model folds over."""
    a, b = (u - camera[2]) / camera[0], (v - camera[3]) / camera[1]
    if len(camera) == FISHEYE:
        return _unbent(camera, a, b)
    x, y = a, b
    for _ in range(30):
        p, q, xx, xy, yx, yy = distorted(camera, x, y)
        determinant = xx * yy - xy * yx
        if not determinant > 1e-3:
            return np.nan, np.nan
        dx, dy = (yy * (a - p) - xy * (b - q)) / determinant, (xx * (b - q) - yx * (a - p)) / determinant
        x, y = x + dx, y + dy
        if abs(dx) + abs(dy) < 1e-13:
            break
    return x, y


@compiled
def rays(camera: Array, pixels: Array) -> Array:
    """Points at distance 1 before the camera (n, 2) that are seen at pixels (n, 2)."""
    out = np.empty((len(pixels), 2))
    for i in range(len(pixels)):
        out[i, 0], out[i, 1] = undistorted(camera, pixels[i, 0], pixels[i, 1])
    return out


@compiled
def project(camera: Array, R: Array, t: Array, points: Array) -> Array:
    """Pixels (n, 2) of points (n, 3) of a target; NaN behind the camera."""
    out = np.empty((len(points), 2))
    for i in range(len(points)):
        X, Y, Z = points[i]
        z = R[2, 0] * X + R[2, 1] * Y + R[2, 2] * Z + t[2]
        if z <= 0:
            out[i] = np.nan
            continue
        x = (R[0, 0] * X + R[0, 1] * Y + R[0, 2] * Z + t[0]) / z
        y = (R[1, 0] * X + R[1, 1] * Y + R[1, 2] * Z + t[1]) / z
        u, v, _, _, _, _ = distorted(camera, x, y)
        out[i, 0], out[i, 1] = camera[0] * u + camera[2], camera[1] * v + camera[3]
    return out


@compiled
def _by_lens(camera: Array, x: float, y: float, c: Array) -> None:
    """Write the slopes of a pixel by the coefficients of the lens into c (2, p)."""
    fx, fy = camera[0], camera[1]
    s = x * x + y * y
    if len(camera) == FISHEYE:
        r = np.sqrt(s)
        angle = np.arctan(r)
        power = angle**3 / r if r > 1e-8 else s
        for k in range(4):
            c[0, 4 + k], c[1, 4 + k] = fx * x * power, fy * y * power
            power *= angle * angle
        return
    below, radial = 1.0, 1.0
    if len(camera) >= RATIONAL:
        below += s * (camera[9] + s * (camera[10] + s * camera[11]))
        radial = (1 + s * (camera[4] + s * (camera[5] + s * camera[8]))) / below
    power = s / below
    for k in (4, 5, 8):
        c[0, k], c[1, k] = fx * x * power, fy * y * power
        if len(camera) >= RATIONAL:
            column = 11 if k == 8 else k + 5
            c[0, column], c[1, column] = -radial * c[0, k], -radial * c[1, k]
        power *= s
    c[0, 6], c[0, 7] = fx * 2 * x * y, fx * (s + 2 * x * x)
    c[1, 6], c[1, 7] = fy * (s + 2 * y * y), fy * 2 * x * y
    if len(camera) >= PRISM:
        c[0, 12], c[0, 13], c[1, 14], c[1, 15] = fx * s, fx * s * s, fy * s, fy * s * s


@compiled
def slopes(camera: Array, R: Array, t: Array, points: Array) -> tuple[Array, Array, Array, Array]:
    """Pixels (n, 2) of points and their slopes by pose (n, 2, 6), camera (n, 2, p) and points (n, 2, 3).

    The number p is that of the camera's parameters.
    """
    n = len(points)
    pixels, by_pose = np.empty((n, 2)), np.zeros((n, 2, 6))
    by_camera, by_point = np.zeros((n, 2, len(camera))), np.empty((n, 2, 3))
    P = np.empty(3)
    for i in range(n):
        for a in range(3):
            P[a] = R[a, 0] * points[i, 0] + R[a, 1] * points[i, 1] + R[a, 2] * points[i, 2]
        z = P[2] + t[2]
        x, y = (P[0] + t[0]) / z, (P[1] + t[1]) / z
        u, v, xx, xy, yx, yy = distorted(camera, x, y)
        pixels[i, 0], pixels[i, 1] = camera[0] * u + camera[2], camera[1] * v + camera[3]
        for row in range(2):
            f = camera[row]
            dx, dy = (xx, xy) if row == 0 else (yx, yy)
            g0, g1, g2 = f * dx / z, f * dy / z, -f * (dx * x + dy * y) / z
            J = by_pose[i, row]
            J[0], J[1], J[2] = g0, g1, g2
            J[3], J[4], J[5] = P[1] * g2 - P[2] * g1, P[2] * g0 - P[0] * g2, P[0] * g1 - P[1] * g0
            for a in range(3):
                by_point[i, row, a] = g0 * R[0, a] + g1 * R[1, a] + g2 * R[2, a]
        by_camera[i, 0, 0], by_camera[i, 1, 1], by_camera[i, 0, 2], by_camera[i, 1, 3] = u, v, 1.0, 1.0
        _by_lens(camera, x, y, by_camera[i])
    return pixels, by_pose, by_camera, by_point


@compiled
def seen_at(  # noqa: PLR0917 - numba knows no keywords
    camera: Array, R: Array, t: Array, X: float, Y: float, Z: float
) -> tuple[float, float, float]:
    """Pixel of a point, and by how much the image of its plane is larger than the plane there, in pixels² per m²."""
    P0 = R[0, 0] * X + R[0, 1] * Y + R[0, 2] * Z + t[0]
    P1 = R[1, 0] * X + R[1, 1] * Y + R[1, 2] * Z + t[1]
    z = R[2, 0] * X + R[2, 1] * Y + R[2, 2] * Z + t[2]
    x, y = P0 / z, P1 / z
    u, v, xx, xy, yx, yy = distorted(camera, x, y)
    ax, ay = (R[0, 0] - x * R[2, 0]) / z, (R[1, 0] - y * R[2, 0]) / z
    bx, by = (R[0, 1] - x * R[2, 1]) / z, (R[1, 1] - y * R[2, 1]) / z
    stretch = abs((ax * by - ay * bx) * (xx * yy - xy * yx) * camera[0] * camera[1])
    return camera[0] * u + camera[2], camera[1] * v + camera[3], stretch


@compiled
def discs(camera: Array, R: Array, t: Array, centers: Array, radius: float) -> Array:
    """Images of discs about points of the target's plane (n, 6): centroid u, v; area; second moments uu, uv, vv.

    The centroid of a disc's image is not the image of its center: perspective and distortion shift it.
    """
    n, nodes = len(centers), 2 * _TURNS
    out = np.empty((n, 6))
    u, v, w = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    x, y = np.empty(nodes), np.empty(nodes)
    for a in range(2):
        for b in range(_TURNS):
            angle = 2 * np.pi * (b + 0.5 * a) / _TURNS
            x[a * _TURNS + b] = radius * _NODES[a] * np.cos(angle)
            y[a * _TURNS + b] = radius * _NODES[a] * np.sin(angle)
    for i in range(n):
        total, cu, cv = 0.0, 0.0, 0.0
        for k in range(nodes):
            u[k], v[k], w[k] = seen_at(camera, R, t, centers[i, 0] + x[k], centers[i, 1] + y[k], centers[i, 2])
            total += w[k]
            cu, cv = cu + w[k] * u[k], cv + w[k] * v[k]
        cu, cv = cu / total, cv / total
        uu, uv, vv = 0.0, 0.0, 0.0
        for k in range(nodes):
            du, dv = u[k] - cu, v[k] - cv
            uu, uv, vv = uu + w[k] * du * du, uv + w[k] * du * dv, vv + w[k] * dv * dv
        out[i, 0], out[i, 1], out[i, 2] = cu, cv, total / nodes * np.pi * radius**2
        out[i, 3], out[i, 4], out[i, 5] = uu / total, uv / total, vv / total
    return out
