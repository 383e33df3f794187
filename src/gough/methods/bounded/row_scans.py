"""Passes over all rows of a tall problem, compiled by numba; importing this module imports numba.

Each reads a block of W once. What they find are proposals: no bound rests on them, so sums may be reordered.
"""

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.compiled_kernels import compiled_loosely as compiled

_UNSEEN = 1 - 1e-9
"""Part of its bound within which an error does not count as near it."""


@compiled
def reaching(W: Array, y: Array, radius: Array, center: Array, half: Array, reaches: Mask) -> None:  # noqa: PLR0917
    """Rows that some θ with |θ − center| ≤ half violates, or nearly: |y − W center| + |W| half is not below e."""
    n, p = W.shape
    for k in range(n):
        middle, spread = 0.0, 0.0
        for j in range(p):
            middle += W[k, j] * center[j]
            spread += abs(W[k, j]) * half[j]
        reaches[k] = not abs(y[k] - middle) + spread < _UNSEEN * radius[k]  # what is not a number reaches


@compiled
def lengths(  # noqa: PLR0917
    W: Array, y: Array, center: Array, scale: Array, middle: Array, length: Array, size: Array
) -> None:
    """Values y − W center, lengths ‖scale ∘ W_k‖, and sizes |W_k| |center| of all rows."""
    n, p = W.shape
    for k in range(n):
        along, square, most, whole = 0.0, 0.0, 0.0, 0.0
        for j in range(p):
            along += W[k, j] * center[j]
            whole += abs(W[k, j] * center[j])
            entry = abs(W[k, j] * scale[j])
            square += entry * entry
            most = max(most, entry)
        middle[k], size[k] = y[k] - along, whole
        if not 1e-280 < square < 1e300:  # squares of entries may be no numbers, those of their ratios are
            square = 0.0
            for j in range(p):
                ratio = W[k, j] * scale[j] / most if most > 0.0 else 0.0
                square += ratio * ratio
            length[k] = most * np.sqrt(square)
        else:
            length[k] = np.sqrt(square)


@compiled
def farthest(reach: Array, middle: Array, worst: Array) -> None:
    """How far the outermost of some points is from the middle of each strip; `reach` has a row for each point."""
    m, n = reach.shape
    low, high = reach[0].copy(), reach[0].copy()
    for i in range(1, m):
        for k in range(n):
            low[k] = min(low[k], reach[i, k])
            high[k] = max(high[k], reach[i, k])
    for k in range(n):
        worst[k] = max(high[k] - middle[k], middle[k] - low[k])
