"""How far a set of poses may be from the best one: bounds that hold for every set of the same size.

Relaxed to weights, the choice is a convex problem, whose dual bounds it [KW60]. Weights come from a few multiplicative
steps; the bound holds for any weights, good or bad.
"""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.designs.poses.criteria import DCriterion, PoseCriterion, VarianceCriterion

_STEPS = 60
_KEPT = 1e-3
"""Weights below this share of the mean are left out of the steps; the bound itself asks every candidate."""


@one_blas_thread()
def least_value(
    Z: Array, count: int, criterion: PoseCriterion, known: Array, *, chosen: Sequence[int] = (), repeats: bool = False
) -> float | None:
    """No `count` of the candidates have a smaller criterion than this; None where no bound is known (E).

    D: ln det M* ≤ ln det M + r ln(tr(M⁻¹ M*) / r) for all M, since the geometric mean of eigenvalues is at most their
    arithmetic mean. Variances: tr(H M*⁻¹ Hᵀ) ≥ tr(H M⁻¹ Hᵀ)² / tr(H M⁻¹ M* M⁻¹ Hᵀ), by Cauchy and Schwarz. M* enters
    linearly: it is what is known and at most the `count` largest of the candidates' own shares. Up to rounding: this is
    no proof.

    Examples:
        >>> Z = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[0.1, 0.1]]])
        >>> round(least_value(Z, 2, DCriterion(), np.zeros((2, 2))), 6) + 0.0  # the first two are the best: det = 1
        0.0
    """
    if not isinstance(criterion, DCriterion | VarianceCriterion):
        return None
    trials = [_weighted(Z, _weights(Z, count, criterion, known), count, known)]
    if chosen:
        A = Z[list(chosen)].reshape(-1, Z.shape[2])
        trials.append(A.T @ A + known)
    bounds = [_bound(M, Z, count, criterion, known, repeats=repeats) for M in trials]
    return max((bound for bound in bounds if bound is not None), default=None)


_MOST = 1 << 20
"""Numbers of poses beyond it are not examined: that more are needed is all that is said."""


def fewest(Z: Array, criterion: VarianceCriterion, known: Array, target: float) -> int:
    """No fewer of the candidates, repeats allowed, have a root summed variance of at most `target`."""
    low, high = 1, 2
    while _misses(Z, criterion, known, high, target):
        low, high = high, 2 * high
        if high > _MOST:
            return low + 1
    if high == 2 and not _misses(Z, criterion, known, 1, target):
        return 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _misses(Z, criterion, known, middle, target) else (low, middle)
    return high


def _misses(Z: Array, criterion: VarianceCriterion, known: Array, count: int, target: float) -> bool:
    bound = least_value(Z, count, criterion, known, repeats=True)
    return bound is not None and bound > np.log(target) + 1e-9


def _weights(Z: Array, count: int, criterion: PoseCriterion, known: Array) -> Array:
    """Weights (N,) that sum to 1: multiplied by their candidates' shares of the derivative, again and again."""
    w = np.full(len(Z), 1 / len(Z))
    rows, some = np.arange(len(Z)), Z
    for _ in range(_STEPS):
        M = _weighted(some, w[rows], count, known)
        shares = _shares(M, some, criterion)
        if isinstance(criterion, VarianceCriterion):
            shares = np.sqrt(shares)
        w[rows] *= shares / (w[rows] @ shares)
        alive = w[rows] > _KEPT / len(Z)
        if alive.sum() < 0.7 * len(rows):
            w[rows[~alive]] = 0.0
            w /= w.sum()
            rows = rows[alive]
            some = Z[rows]
    return w


def _weighted(Z: Array, w: Array, count: int, known: Array) -> Array:
    A = Z * np.sqrt(count * w)[:, None, None]
    A = A.reshape(-1, Z.shape[2])
    return np.asarray(A.T @ A + known)


def _shares(M: Array, Z: Array, criterion: PoseCriterion) -> Array:
    """tr(M⁻¹ F_k), or tr(H M⁻¹ F_k M⁻¹ Hᵀ), of each candidate."""
    A = Z.reshape(-1, Z.shape[2]) @ _metric(M, criterion)
    return np.asarray(np.einsum("ij,ij->i", A, A).reshape(Z.shape[:2]).sum(axis=1))


def _metric(M: Array, criterion: PoseCriterion) -> Array:
    L = np.linalg.inv(np.linalg.cholesky(M))
    return np.asarray(L.T if isinstance(criterion, DCriterion) else L.T @ L @ criterion.H.T)  # type: ignore[attr-defined]


def _bound(M: Array, Z: Array, count: int, criterion: PoseCriterion, known: Array, *, repeats: bool) -> float | None:
    value = criterion.value(M)
    if not np.isfinite(value):
        return None
    shares = np.sort(_shares(M, Z, criterion))
    most = count * shares[-1] if repeats else shares[-count:].sum()
    metric = _metric(M, criterion)
    total = float(most + np.einsum("ij,ij->", known @ metric, metric))
    if isinstance(criterion, DCriterion):
        return value - len(M) * float(np.log(total / len(M)))
    return 2 * value - 0.5 * float(np.log(total))
