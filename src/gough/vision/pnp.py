"""The pose of a target from the pixels of its dots, compiled by numba; importing this module imports numba."""

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled
from gough.vision.optics import discs, slopes

_STEPS = 40


@compiled
def refine(  # noqa: PLR0917 - numba knows no keywords
    camera: Array, R: Array, t: Array, points: Array, radius: float, pixels: Array, weights: Array
) -> tuple[Array, Array, float, Array, Array]:
    """Rotation and position that minimize Σ w |seen − expected|², that sum, its normal matrix (6, 6), the residuals.

    What is expected of a dot is the centroid of its image, not the image of its center.
    """
    R, t = R.copy(), t.copy()
    residuals, cost, N, g = _normal(camera, R, t, points, radius, pixels, weights)
    damping = 0.0
    for _ in range(_STEPS):
        step = _solved(N, g, damping)
        near = np.abs(step[:3]).max() < 1e-9 * abs(t[2]) and np.abs(step[3:]).max() < 1e-9
        R_new, t_new = _turned(step[3:], R), t + step[:3]
        if not t_new[2] > 0:
            damping = max(10 * damping, 1e-4)
            continue
        r_new, cost_new, N_new, g_new = _normal(camera, R_new, t_new, points, radius, pixels, weights)
        if cost_new <= cost * (1 + 1e-12):
            small = cost - cost_new < 1e-7 * cost
            R, t, residuals, cost, N, g = R_new, t_new, r_new, cost_new, N_new, g_new
            damping = damping / 10 if damping > 1e-7 else 0.0
            if near or (small and damping == 0.0):
                break
        elif near or damping > 1e8:
            break
        else:
            damping = max(10 * damping, 1e-4)
    return R, t, cost, N, residuals


@compiled
def _normal(  # noqa: PLR0917 - numba knows no keywords
    camera: Array, R: Array, t: Array, points: Array, radius: float, pixels: Array, weights: Array
) -> tuple[Array, float, Array, Array]:
    """Residuals (n, 2), weighted sum of squares, normal matrix and right side for a step."""
    expected, by_pose, _, _ = slopes(camera, R, t, points)
    if radius > 0:
        expected = discs(camera, R, t, points, radius)[:, :2]
    residuals = pixels - expected
    cost, N, g = 0.0, np.zeros((6, 6)), np.zeros(6)
    for i in range(len(points)):
        w = weights[i]
        for row in range(2):
            J, r = by_pose[i, row], residuals[i, row]
            cost += w * r * r
            for a in range(6):
                g[a] += w * J[a] * r
                for b in range(a + 1):
                    N[a, b] += w * J[a] * J[b]
    for a in range(6):
        for b in range(a):
            N[b, a] = N[a, b]
    return residuals, cost, N, g


@compiled
def _solved(N: Array, g: Array, damping: float) -> Array:
    """The solution of (N + damping diag N) x = g, by Cholesky."""
    n = len(g)
    L, x = np.zeros((n, n)), g.copy()
    for i in range(n):
        for j in range(i + 1):
            total = N[i, j] * (1 + damping if i == j else 1.0)
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(max(total, 1e-30)) if i == j else total / L[j, j]
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]
    return x


@compiled
def _turned(w: Array, R: Array) -> Array:
    """exp(w) R, exactly a rotation up to rounding."""
    angle = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    first = np.sin(angle) / angle if angle > 1e-8 else 1.0
    second = 2 * (np.sin(angle / 2) / angle) ** 2 if angle > 1e-8 else 0.5
    out = np.empty((3, 3))
    for j in range(3):
        x, y, z = R[0, j], R[1, j], R[2, j]
        a, b, c = w[1] * z - w[2] * y, w[2] * x - w[0] * z, w[0] * y - w[1] * x
        out[0, j] = x + first * a + second * (w[1] * c - w[2] * b)
        out[1, j] = y + first * b + second * (w[2] * a - w[0] * c)
        out[2, j] = z + first * c + second * (w[0] * b - w[1] * a)
    return out
