"""Whether a recording repeats one motion: the period after which its channels return to their values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.core.arrays import Array, array

_LEAD = 0.2
"""Part of a recording that is left out at its beginning: the way into the motion."""
_MOVED = 0.25
"""Difference between samples, in variances, that a motion must reach before it can be said to return."""
_RETURNED = 0.02
"""Difference, in variances, below which it has returned."""
_WHOLE = 0.1
"""Part of a sample, or of the noise of differences, by which a period may miss a whole number of samples."""
PERIODS = 3
"""Periods that a recording must have to count as repeats: the first is left out, and one says nothing about noise."""


def period_of(samples: Any, rate: float) -> float | None:
    """The period of a motion in seconds, from channels (N, channels) at `rate` samples a second; None if it has none.

    Differences x(t + T) − x(t) are compared with the variance of their channel; the median channel decides, so that
    counters and noisy channels do not matter. The recording must have three periods or more.

    Examples:
        >>> t = np.arange(0, 10, 0.01)
        >>> motion = np.column_stack([np.sin(2 * np.pi * t / 2), np.cos(4 * np.pi * t / 2)])
        >>> period_of(motion, 100.0), period_of(motion[:500], 100.0), period_of(np.cumsum(motion**2, axis=0), 100.0)
        (2.0, None, None)
    """
    x = array(samples, "samples", ndim=2)
    finite = np.isfinite(x).all(axis=0)
    x = x[:, finite]
    total = len(x)
    x = x[int(_LEAD * total) :]
    x = x[:, x.std(axis=0) > 0] if len(x) else x
    longest = total // PERIODS
    if x.shape[1] == 0 or longest < 4 or longest >= len(x):
        return None
    away = _differences((x - x.mean(axis=0)) / x.std(axis=0), longest)
    left = np.flatnonzero(away > _MOVED)
    if not len(left):
        return None
    after = away[left[0] :]
    returned = np.flatnonzero(after < max(_RETURNED, 2 * float(after.min())))
    if not len(returned) or float(after.min()) > _RETURNED:
        return None
    # the first lag at which the motion has returned as well as ever, and the least difference around it
    first = int(left[0] + returned[0])
    last = first
    while last < longest and away[last] <= max(_RETURNED, 2 * float(after.min())):
        last += 1
    lag = first + int(away[first:last].argmin())
    return float((lag + _vertex(away, lag)) / rate)


def is_one_motion(recordings: Sequence[Any]) -> bool:
    """Are recordings (N, channels) of the same length repeats of each other, sample by sample?

    Examples:
        >>> t = np.arange(0, 5, 0.01)[:, None]
        >>> is_one_motion([np.sin(t), np.sin(t) + 1e-3]), is_one_motion([np.sin(t), np.cos(t)])
        (True, False)
    """
    x = np.stack([array(each, "samples", ndim=2) for each in recordings])
    x = x[:, :, np.isfinite(x).all(axis=(0, 1))]
    spread = x.std(axis=1).mean(axis=0)
    x = x[:, :, spread > 0] / spread[spread > 0]
    return bool(x.shape[2] and np.median(x.var(axis=0, ddof=1).mean(axis=0)) < _RETURNED)


def _differences(x: Array, longest: int) -> Array:
    """Median over channels of mean |x(t + lag) − x(t)|² / 2 for lags 0 … longest."""
    n = len(x)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x, size, axis=0)
    products = np.fft.irfft(abs(spectrum) ** 2, size, axis=0)[: longest + 1]
    squares = np.vstack([np.zeros(x.shape[1]), np.cumsum(x**2, axis=0)])
    lags = np.arange(longest + 1)
    both = squares[n - lags] + squares[-1] - squares[lags]
    return np.asarray(np.median((both - 2 * products) / (2 * (n - lags)[:, None]), axis=1))


def _vertex(values: Array, k: int) -> float:
    """The vertex of the parabola through three neighbors, as an offset from k.

    It is 0 where it is small, or where the difference at k exceeds the least one by little of what noise makes of it.
    """
    if not 0 < k < len(values) - 1:
        return 0.0
    before, at, after = values[k - 1 : k + 2].tolist()
    bend = before - 2 * at + after
    if bend <= 0:
        return 0.0
    offset, gain = (before - after) / (2 * bend), (before - after) ** 2 / (8 * bend)
    hidden = abs(offset) < 0.25 and gain <= _WHOLE * max(at - gain, 0.0)
    return 0.0 if hidden or abs(offset) < _WHOLE else offset
