"""Sums of products of a series with itself some samples later, compiled by numba; importing this imports numba."""

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.compiled_kernels import compiled_loosely as compiled


@compiled
def lagged_sums(u: Array, kept: Mask, max_lag: int) -> tuple[Array, Array]:
    """Σ_k u_k u_(k + lag) of each series (samples, n), and how many pairs are kept, for lags 0 … max_lag, (lags, n)."""
    N, n = u.shape
    sums, pairs = np.zeros((max_lag + 1, n)), np.zeros((max_lag + 1, n))
    v, counts = np.empty(N), np.empty(N)
    for i in range(n):
        for k in range(N):
            v[k] = u[k, i] if kept[k, i] else 0.0
            counts[k] = 1.0 if kept[k, i] else 0.0
        for lag in range(max_lag + 1):
            total, count = 0.0, 0.0
            early, late, both, later = v[: N - lag], v[lag:], counts[: N - lag], counts[lag:]
            for k in range(N - lag):
                total += early[k] * late[k]
                count += both[k] * later[k]
            sums[lag, i], pairs[lag, i] = total, count
    return sums, pairs
