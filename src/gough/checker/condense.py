"""Few strips instead of many: the same ellipsoid from at most (p + 1)(p + 2)/2 of them."""

from collections.abc import Sequence

import numpy as np

from gough.checker.quadratic import Body, Scaled
from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.evidence import EllipsoidRound
from gough.problem import LinearProblem

_MANY = 3
"""So many times the number that suffices are left as they are."""


@one_blas_thread()
def condensed(
    problem: LinearProblem, hint: EllipsoidRound, chosen: Sequence[int], body: Body
) -> tuple[list[int], list[float]]:
    """Numbers and weights of strips that say the same as the chosen ones together, if those are many.

    The weighted sum of the strips' squares is a vector of (p + 1)(p + 2)/2 coefficients, and so many of the strips
    suffice for it [CAR11]. Rounding changes it a little; whatever comes out is proven afterwards.
    """
    weights, p = hint.weights[list(chosen)], len(body.center.numbers)
    size = (p + 1) * (p + 2) // 2
    if len(chosen) <= _MANY * size:
        return list(chosen), weights.tolist()
    rows = np.array([hint.rows[i] for i in chosen])
    middle, half = hint.middle[list(chosen)], hint.half[list(chosen)]
    D = np.where((rows >= 0)[:, None], problem.W[np.maximum(rows, 0)], 0.0)
    sides = np.flatnonzero(rows < 0)
    D[sides, -1 - rows[sides]] = 1.0
    P, c = _floats(body.shape), _floats(body.center)
    free = P.diagonal() > 0
    scale = np.sqrt(P.diagonal()[free])
    with np.errstate(all="ignore"):
        try:
            L = np.linalg.cholesky(P[np.ix_(free, free)] / np.outer(scale, scale)) * scale[:, None]
        except np.linalg.LinAlgError:
            return list(chosen), weights.tolist()
        A, m = D[:, free] @ L, middle - D @ c
        i, j = np.triu_indices(A.shape[1])
        V = np.column_stack([A[:, i] * A[:, j], m[:, None] * A, half**2 - m**2])
        if not np.isfinite(np.square(weights[:, None] * V).sum()):
            return list(chosen), weights.tolist()
        few = fewer(V, weights)
    kept = np.flatnonzero(few)
    return [chosen[k] for k in kept.tolist()], few[kept].tolist()


def _floats(scaled: Scaled) -> Array:
    return np.vectorize(lambda x: float(scaled.unit * int(x)), otypes=[np.float64])(scaled.numbers)


def fewer(V: Array, weights: Array) -> Array:
    """Weights ≥ 0, at most one more than V has columns of them positive, with the same Σ weight · row of V, nearly.

    Many rows are taken together in groups first, and whole groups are left out, as in [MJF19].

    Examples:
        >>> few = fewer(np.array([[1.0], [2.0], [3.0], [4.0]]), np.ones(4))
        >>> int((few > 0).sum()) <= 2, round(float(few @ [1.0, 2.0, 3.0, 4.0]), 9)
        (True, 10.0)
    """
    size = np.sqrt(np.square(weights[:, None] * V).sum(axis=0))
    unit, result = V / np.where(size > 0, size, 1.0), weights.copy()
    while True:
        left = np.flatnonzero(result)
        groups = np.array_split(left, min(len(left), 2 * (V.shape[1] + 1)))
        if len(groups) <= V.shape[1] + 1:
            return result
        sums = np.array([result[group] @ unit[group] for group in groups])
        for group, factor in zip(groups, _thinned(sums), strict=True):
            result[group] *= factor


def _thinned(S: Array) -> Array:
    """Factors ≥ 0 with Σ factor · row = Σ row, of which at most as many as S has columns are positive.

    Each direction in which factors may move without changing the sum is followed until one of them is 0 [CAR11].
    """
    n, size = S.shape
    factors = np.ones(n)
    moves = np.linalg.svd(S.T)[2][min(n, size) :]  # rows: combinations that sum to zero
    while len(moves):
        move = moves[0] if moves[0].max() > 0 else -moves[0]
        falling = np.flatnonzero(move > 1e-12 * abs(move).max())
        if not falling.size:
            moves = moves[1:]  # a direction that rounding has left nothing of
            continue
        gone = falling[np.argmin(factors[falling] / move[falling])]
        factors = np.maximum(factors - factors[gone] / move[gone] * move, 0.0)
        factors[gone] = 0.0
        pivot = moves[np.argmax(abs(moves[:, gone]))]
        others = np.delete(moves, np.argmax(abs(moves[:, gone])), axis=0)
        moves = others - np.outer(others[:, gone] / pivot[gone], pivot)
        moves[:, factors == 0] = 0.0
        norm = np.linalg.norm(moves, axis=1)
        moves = moves[norm > 1e-9] / norm[norm > 1e-9, None]
    return factors
