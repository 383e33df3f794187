"""Factors of covariances."""

import numpy as np

from gough.core.arrays import Array


def root(C: Array) -> Array:
    """F with F Fᵀ = C, without columns of zeros.

    Examples:
        >>> F = root(np.diag([4.0, 0.0]))
        >>> F.shape, (F @ F.T).tolist()
        ((2, 1), [[4.0, 0.0], [0.0, 0.0]])
    """
    size = np.sqrt(np.maximum(C.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(C / np.outer(size, size))
    seen = values > 1e-12 * float(values.max(initial=1e-300))
    return np.asarray(size[:, None] * vectors[:, seen] * np.sqrt(values[seen]))
