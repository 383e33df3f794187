"""Polygons in the plane, for drawing."""

import numpy as np

from gough.core.arrays import Array


def cut(polygon: Array, axis: int, sign: float, side: float) -> Array:
    """The part of a convex polygon (n, 2) where sign · x[axis] ≥ side; (0, 2) where nothing is left.

    Examples:
        >>> cut(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]), axis=0, sign=1.0, side=1.0)
        array([[1., 0.],
               [2., 0.],
               [2., 2.],
               [1., 2.]])
    """
    inside = sign * polygon[:, axis] - side
    kept = []
    for i, (a, b) in enumerate(zip(inside, np.roll(inside, -1), strict=True)):
        if a >= 0:
            kept.append(polygon[i])
        if (a < 0 < b) or (b < 0 < a):
            kept.append(polygon[i] + a / (a - b) * (polygon[(i + 1) % len(polygon)] - polygon[i]))
    return np.array(kept).reshape(-1, 2)
