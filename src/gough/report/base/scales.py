"""Scales of axes: from values to points on paper, with round numbers at round places."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from gough.core.arrays import Array
from gough.core.text import signed

_FAR = 1e4
"""Beyond it, a point is outside any panel wherever it is."""
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST = 9
"""Numbers on an axis."""
_PLAIN = range(-4, 6)
"""Powers of ten of the largest number on an axis that is written without a common factor."""


@dataclass(frozen=True)
class Scale:
    """From values to points along one axis, and the numbers on it.

    Examples:
        >>> scale = Scale.linear((0.0, 5.0), (100.0, 200.0), per_number=25.0)
        >>> scale.labels, scale(scale.ticks).tolist()
        (('0', '2', '4'), [100.0, 140.0, 180.0])
    """

    values: tuple[float, float]
    points: tuple[float, float]
    ticks: Array
    labels: tuple[str, ...]
    factor: str = ""
    """What the numbers are to be multiplied with, such as 1e6; mostly empty."""

    def __call__(self, values: Array) -> Array:
        (low, high), (first, last) = self.values, self.points
        with np.errstate(over="ignore", invalid="ignore"):
            at = first + (np.where(np.isfinite(values), values, np.nan) - low) * ((last - first) / (high - low))
        return np.asarray(np.clip(at, -_FAR, _FAR))

    @classmethod
    def linear(cls, values: tuple[float, float], points: tuple[float, float], *, per_number: float) -> "Scale":
        """Round numbers, as many as have space for `per_number` points each."""
        most = int(np.clip(abs(points[1] - points[0]) / per_number, 1, _MOST))
        ticks = round_numbers(*values, most)
        labels, factor = in_words(ticks)
        return cls(values, points, ticks, labels, factor)

    @classmethod
    def of_powers(cls, values: tuple[float, float], points: tuple[float, float], *, per_number: float) -> "Scale":
        """For logarithms to base ten: the numbers are those whose logarithms these are.

        Examples:
            >>> Scale.of_powers((-1.2, 0.4), (0.0, 100.0), per_number=20.0).labels
            ('0.1', '0.2', '0.5', '1', '2')
        """
        low, high = values
        most = int(np.clip(abs(points[1] - points[0]) / per_number, 1, _MOST))
        first, last = floor(low), ceil(high)
        between = [(digit, power) for power in range(first, last + 1) for digit in (1, 2, 5)]
        chosen = [(d, k) for d, k in between if low <= k + log10(d) <= high]
        if len(chosen) > most:
            chosen = [(d, k) for d, k in chosen if d == 1][:: -(-(last - first + 1) // most)]
        ticks = np.array([k + log10(d) for d, k in chosen])
        return cls(values, points, ticks, tuple(f"{d * 10.0**k:g}" for d, k in chosen))


def with_margin(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis that shows all values between two.

    Examples:
        >>> with_margin(0.0, 50.0), with_margin(2.0, 2.0)
        ((-3.0, 53.0), (1.8, 2.2))
    """
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def round_numbers(low: float, high: float, most: int) -> Array:
    """Multiples of a round step between two values, at most so many and one more.

    Examples:
        >>> round_numbers(-0.7, 2.2, 6)
        array([-0.5,  0. ,  0.5,  1. ,  1.5,  2. ])
        >>> round_numbers(-1e300, 1e300, 2).tolist()
        [-1e+300, 0.0, 1e+300]
    """
    raw = high / most - low / most  # so written, the range of two huge numbers does not overflow
    if not raw > 0:
        return np.array([low])
    ten = floor(log10(raw))
    step = next((size * 10.0**ten for size in _ROUND if size * 10.0**ten >= raw * (1 - 1e-9)), raw)
    slack = 1e-9 * raw / step
    first, last = ceil(low / step - slack), floor(high / step + slack)
    ticks = np.array([k * step for k in range(first, min(last, first + most) + 1)])
    return ticks if len(ticks) else np.array([low])


def in_words(ticks: Array) -> tuple[tuple[str, ...], str]:
    """Numbers with as many decimals as tell them apart, and a common factor where they are huge or tiny.

    Examples:
        >>> in_words(np.array([-2.5, 0.0, 2.5]))
        (('−2.5', '0.0', '2.5'), '')
        >>> in_words(np.array([0.0, 2e7, 4e7]))
        (('0', '2', '4'), '1e7')
    """
    largest = float(abs(ticks).max(initial=0.0))
    power = floor(log10(largest)) if largest > 0 else 0
    factor = 10.0**power
    if power in _PLAIN or not factor > 0:
        power, factor = 0, 1.0
    scaled = ticks / factor
    apart = float(np.diff(scaled).min()) if len(scaled) > 1 else abs(float(scaled[0])) if len(scaled) else 1.0
    decimals = next((d for d in range(16) if (abs(scaled - scaled.round(d)) <= 1e-3 * apart).all()), 16)
    labels = tuple(signed(f"{value:.{decimals}f}") for value in (scaled + 0.0).tolist())
    return labels, f"1e{power}" if power else ""
