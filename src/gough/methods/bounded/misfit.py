"""Rows that contradict each other as equations: a proposal where linear programs are too coarse to find one."""

import numpy as np

from gough.core.arrays import Array


def misfit(W: Array, y: Array) -> Array:
    """Weights on at most p + 1 rows with Wᵀλ ≈ 0 and λ·y ≥ 0: the row that misses most what others determine.

    Examples:
        >>> misfit(np.array([[1.0], [2.0], [1.0]]), np.array([1.0, 2.0, 1.5])).round(12)
        array([-1.,  0.,  1.])
    """
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    weights = np.zeros(len(y))
    size, length = abs(W).max(axis=0, initial=0.0), abs(W).max(axis=1, initial=0.0)
    if not length.any():
        return weights
    A = W / np.where(size > 0, size, 1.0)
    length = abs(A).max(axis=1)  # entries may vanish beside a column's greatest
    R, order = qr((A / np.where(length > 0, length, 1.0)[:, None]).T, mode="r", pivoting=True)
    diagonal = abs(R.diagonal())
    basis = order[: int((diagonal > 1e-10 * diagonal[0]).sum())]
    combined = np.linalg.lstsq(A[basis].T, A.T, rcond=None)[0]  # each row as a combination of those of the basis
    missed = np.nan_to_num(y - y[basis] @ combined)
    missed[basis] = 0.0
    worst = int(abs(missed).argmax())
    sign = 1.0 if missed[worst] > 0 else -1.0
    weights[basis] = -sign * combined[:, worst]
    weights[worst] = sign
    return weights
