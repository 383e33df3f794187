"""Rotations enclosed: the exact rotation of a quaternion of doubles, with every rounding."""

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.intervals import Interval


def enclosed_rotation(quaternion: Array) -> Interval:
    """Matrices (N, 3, 3) that hold the rotations of quaternions (N, 4), scalar first and of any length.

    Examples:
        >>> enclosed_rotation(np.array([[2.0, 0.0, 0.0, 0.0]])).lower[0].tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = (Interval(quaternion[:, i]) for i in range(4))
    rows = [
        [iv.sqr(w) + iv.sqr(x) - iv.sqr(y) - iv.sqr(z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), iv.sqr(w) - iv.sqr(x) + iv.sqr(y) - iv.sqr(z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), iv.sqr(w) - iv.sqr(x) - iv.sqr(y) + iv.sqr(z)],
    ]
    n = iv.sqr(w) + iv.sqr(x) + iv.sqr(y) + iv.sqr(z)
    flat = iv.rearrange(lambda *ends: np.stack(ends, axis=-1), *(entry / n for row in rows for entry in row))
    return flat.reshape(len(quaternion), 3, 3)
