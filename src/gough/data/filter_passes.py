"""A pass of second-order sections over signals, compiled by numba; importing this module imports numba."""

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled_loosely as compiled


@compiled
def pass_through(sections: Array, x: Array, state: Array, step: int) -> None:
    """Put the signals `x` (N, n) through the sections (m, 6) where they are, in their transposed direct form.

    Args:
        sections: b₀ b₁ b₂ 1 a₁ a₂ of each.
        x: Samples of n signals.
        state: (2 m, n), as it is before the first sample; not changed.
        step: 1 from the first sample to the last, −1 from the last to the first.
    """
    n_samples, n = x.shape
    first, second = np.empty(n), np.empty(n)  # arrays of its own: only then are several signals in one instruction
    for k in range(len(sections)):
        b0, b1, b2, a1, a2 = sections[k, 0], sections[k, 1], sections[k, 2], sections[k, 4], sections[k, 5]
        first[:], second[:] = state[2 * k], state[2 * k + 1]
        for i in range(n_samples):
            row = x[i if step > 0 else n_samples - 1 - i]
            for j in range(n):
                u = row[j]
                y = b0 * u + first[j]
                first[j] = b1 * u - a1 * y + second[j]
                second[j] = b2 * u - a2 * y
                row[j] = y
