"""Probed heights and printed distances of a delta printer that do not fit: each is tested against all others.

A calibration from few points absorbs a wrong one in its parameters. The test therefore also uses how far dimensions of
printers usually are from their configuration: tolerances that are assumptions, stated here and in every verdict.
"""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, Mask
from gough.geometry.nested import LEVEL

TOLERANCES = {"endstop": 5e-3, "radius": 3e-3, "angle": np.radians(1.0), "arm": 1e-3}
"""Standard deviations of dimensions about their configuration, m and rad."""
_NOISE = (2e-5, 5e-5)
"""Usual errors of heights and of distances, m."""
_FACTOR = 3.0
"""Errors are this factor off the usual ones, with a log-normal distribution."""
_WRONG = 1.5e-3
"""Standard deviation of a wrong height or distance, m."""
_GRID = np.geomspace(0.1, 30.0, 8)


@dataclass(frozen=True)
class WrongPoint:
    """A height or distance that does not fit the others."""

    row: int
    off: float
    """By how much it is larger than the others predict, m."""
    sigma: float
    """Standard deviation of this prediction, m."""
    p: float
    """Probability of such data if no point is wrong, at most."""


def wrong_point(errors: Array, derivatives: Array, tolerances: Array, is_height: Array) -> WrongPoint | None:
    """The point that is far more probably wrong than not; None without any.

    The ratio of marginal likelihoods with and without it must exceed (number of points) / 0.001, which by Markov's
    inequality has a probability below 0.001 where no point is wrong.

    Args:
        errors: (N,) predicted less measured heights and distances at the configured dimensions, m; by the tangent at
            the calibrated ones.
        derivatives: (N, p) of these by the dimensions that are estimated.
        tolerances: (p,) standard deviations of the dimensions about their configuration.
        is_height: (N,) whether each is a height.
    """
    n = len(errors)
    A = derivatives * tolerances
    heights = is_height > 0
    best, _ = _largest(errors, A, heights, np.zeros(n, dtype=bool))
    found: tuple[float, int] | None = None
    for k in range(n):
        value, _ = _largest(errors, A, heights, np.arange(n) == k)
        if found is None or value > found[0]:
            found = (value, k)
    if found is None or found[0] - best <= np.log(n / LEVEL):
        return None
    row = found[1]
    _, size = _largest(errors, A, heights, np.arange(n) == row)
    S = A @ A.T + np.diag(np.where(heights, size[0], size[1]) ** 2)
    others = np.arange(n) != row
    gain = np.linalg.solve(S[np.ix_(others, others)], S[others, row])
    predicted = float(gain @ errors[others])
    variance = float(S[row, row] - gain @ S[others, row])
    p = float(np.exp(max(-700.0, best - found[0]))) * n
    return WrongPoint(row, predicted - float(errors[row]), float(np.sqrt(max(variance, 0.0))), p)


def _largest(errors: Array, A: Array, heights: Mask, wrong: Mask) -> tuple[float, tuple[float, float]]:
    """The logarithm of the marginal likelihood with some points wrong, largest over the sizes of errors."""
    best, size = -np.inf, _NOISE
    K = A @ A.T
    for a in _GRID:
        for b in _GRID if (~heights).any() else _GRID[:1]:
            sigma = (_NOISE[0] * a, _NOISE[1] * b)
            S = K + np.diag(np.where(heights, *sigma) ** 2 + np.where(wrong, _WRONG**2, 0.0))
            L = np.linalg.cholesky(S)
            z = np.linalg.solve(L, errors)
            prior = np.log(a) ** 2 + (np.log(b) ** 2 if (~heights).any() else 0.0)
            value = -0.5 * float(z @ z) - float(np.log(L.diagonal()).sum()) - 0.5 * prior / np.log(_FACTOR) ** 2
            if value > best:
                best, size = value, sigma
    return best, size
