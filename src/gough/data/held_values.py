"""Positions that stop from one sample to the next: a sensor or a bus that repeats its last value."""

from math import ceil
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array

_LEAST = 0.05
"""Seconds that a value must be repeated at least."""
_LONGER = 10.0
"""Times the median repetition, which is several samples where a channel is read less often than it is logged."""
_BEFORE = 0.02
"""Seconds before a repetition over which the motion is measured."""
_STEADY = 0.8
"""Least speed in the last quarter of this time, over its mean: that of a joint that brakes evenly over an eighth of it.
"""


class HeldValue(NamedTuple):
    """A stretch of samples that repeat one value to the last bit, and the speed until then."""

    first: int
    length: int
    value: float
    speed: float
    """Units of the channel per second."""


def held_value(channel: Array, rate: float) -> HeldValue | None:
    """The longest stretch in which a moving position holds its value from one sample to the next; None without any.

    Hypothesis: a joint takes more than a quarter of the 20 ms (at least four samples) before to come to rest. Positions
    are rounded to steps of the smallest change in the channel; motions of less than some thirty of these in 20 ms are
    too coarse to be judged.

    Examples:
        >>> swing = np.sin(np.arange(1000) / 100)
        >>> held_value(swing, 1000.0)
        >>> stopped = held_value(np.where(np.arange(1000) < 600, swing, swing[600]), 1000.0)
        >>> stopped.first, stopped.length, f"{stopped.speed:.2f}"
        (600, 400, '9.26')
    """
    steps = abs(np.diff(channel))
    moves = steps != 0  # a missing sample counts as a change, so that it ends a repetition
    starts = np.concatenate([[0], np.flatnonzero(moves) + 1])
    lengths = np.diff(np.concatenate([starts, [len(channel)]]))
    before = max(4, ceil(_BEFORE * rate))
    long = (lengths >= max(_LEAST * rate, _LONGER * float(np.median(lengths)))) & (starts >= before)
    if not long.any():
        return None
    resolution = float(np.nanmin(steps[moves]))
    for run in np.flatnonzero(long)[np.argsort(-lengths[long], kind="stable")]:
        first = int(starts[run])
        whole, last = (abs(channel[first] - channel[first - n]) for n in (before, before // 4))
        if (last - resolution) / (before // 4) >= _STEADY * (whole + resolution) / before:
            return HeldValue(first, int(lengths[run]), float(channel[first]), float(whole) / before * rate)
    return None
