"""Normal matrices of Fourier series from transforms of what multiplies them, compiled by numba.

Importing this module imports numba.
"""
# ruff: noqa: C901, PLR0912 - loops are what is compiled

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled_loosely as compiled


@compiled
def products(cosines: Array, sines: Array, order: int, pulsation: float) -> Array:
    """Σ_k Bᵀ M_k B (m·size, m·size) from Σ_k M_k cos jωt_k and Σ_k M_k sin jωt_k, each (2 order + 1, entries).

    Entries of the symmetric M in position, velocity and acceleration are the lower triangle, row by row. Derivatives
    of cosines and sines are sines and cosines again, and a product of two of them is half a sum of those of the
    difference and of the sum of their angles.
    """
    size, entries = 2 * order + 1, cosines.shape[1]
    m = 1
    while 3 * m * (3 * m + 1) // 2 < entries:
        m += 1
    # the d-th derivative of cos is cos, −sin, −cos times a power of its pulsation; of sin it is sin, cos, −sin
    factors, is_sine = np.ones((3, size)), np.zeros((3, size), dtype=np.bool_)
    for i in range(size):
        is_sine[0, i] = is_sine[2, i] = i > 0 and i % 2 == 0
        is_sine[1, i] = not is_sine[0, i]
        rate = pulsation * ((i + 1) // 2)
        factors[1, i] = rate if is_sine[0, i] else -rate
        factors[2, i] = -rate * rate
    H, part = np.empty((m * size, m * size)), np.empty((size, size))
    for a in range(m):
        for b in range(a + 1):
            part[:] = 0.0
            for d in range(3):
                for e in range(3):
                    row, column = max(d * m + a, e * m + b), min(d * m + a, e * m + b)
                    place = row * (row + 1) // 2 + column
                    for i in range(size):
                        for j in range(size):
                            k, other = (i + 1) // 2, (j + 1) // 2
                            above, below = k + other, abs(k - other)
                            if is_sine[d, i] and is_sine[e, j]:
                                value = cosines[below, place] - cosines[above, place]
                            elif is_sine[d, i]:
                                value = sines[above, place] + (
                                    sines[below, place] if k >= other else -sines[below, place]
                                )
                            elif is_sine[e, j]:
                                value = sines[above, place] + (
                                    sines[below, place] if other >= k else -sines[below, place]
                                )
                            else:
                                value = cosines[below, place] + cosines[above, place]
                            part[i, j] += 0.5 * factors[d, i] * factors[e, j] * value
            for i in range(size):
                for j in range(size):
                    H[a * size + i, b * size + j] = part[i, j]
                    H[b * size + j, a * size + i] = part[i, j]
    return H
