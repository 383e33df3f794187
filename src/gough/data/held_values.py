"""Stretches without measurements: positions that a sensor or a bus repeats, and samples that it leaves out."""

from math import ceil
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number

_LEAST = 0.05
"""Seconds that a value must be repeated at least."""
_LONGER = 10.0
"""Times the median repetition, which is several samples where a channel is read less often than it is logged."""
_BEFORE = 0.02
"""Seconds before a repetition over which the motion is measured."""
_STEADY = 0.8
"""Least speed in the last quarter of this time, over its mean: that of a joint that brakes evenly over an eighth of it.
"""


_JUMPS, _USUAL = 10.0, 0.999
"""A jump at the end is that many times this quantile of the changes of a channel while it moves."""


class HeldValue(NamedTuple):
    """A stretch of samples that repeat one value to the last bit."""

    first: int
    length: int
    value: float
    speed: float
    """Units of the channel per second until the stretch; 0 where it may have come to rest."""
    jump: float
    """Change to the sample after the stretch; 0 at the end of the channel."""

    def in_words(self, unit: str) -> str:
        """What cannot be a motion."""
        if self.speed:
            return f"though it moved at {number(self.speed)} {unit or 'units'}/s before"
        return f"and then jumps by {number(self.jump)}{f' {unit}' if unit else ''} within one sample"


def held_value(channel: Array, rate: float) -> HeldValue | None:
    """The longest stretch in which a position holds its value while it must have moved; None without any.

    Hypotheses: a joint takes more than a quarter of the 20 ms (at least four samples) before to come to rest; and one
    that rests does not start with ten times the change that 999 of 1000 moving samples stay below. Positions are
    rounded to steps of the smallest change in the channel; motions of less than some thirty of these in 20 ms are too
    coarse for the first.

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
    long = lengths >= max(_LEAST * rate, _LONGER * float(np.median(lengths)), 2)
    if not long.any() or not moves.any():
        return None
    resolution, usual = float(np.nanmin(steps[moves])), float(np.nanquantile(steps[moves], _USUAL))
    for run in np.flatnonzero(long)[np.argsort(-lengths[long], kind="stable")]:
        first, length = int(starts[run]), int(lengths[run])
        speed = _speed_until(channel, first, before, resolution) * rate if first >= before else 0.0
        after = first + length
        jump = float(abs(channel[after] - channel[first])) if after < len(channel) else 0.0
        if speed or jump > _JUMPS * max(usual, resolution):
            return HeldValue(first, length, float(channel[first]), speed, jump)
    return None


def longest_missing(channel: Array, rate: float) -> tuple[int, int] | None:
    """First sample and length of the longest stretch of missing samples that lasts as long as a dropout; None without.

    Examples:
        >>> longest_missing(np.where(abs(np.arange(1000) - 500) < 50, np.nan, 1.0), 1000.0)
        (451, 99)
        >>> longest_missing(np.zeros(1000), 1000.0)
    """
    missing = np.isnan(channel)
    if not missing.any():
        return None
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8)))
    firsts, lengths = edges[::2], edges[1::2] - edges[::2]
    longest = int(lengths.argmax())
    if lengths[longest] < max(_LEAST * rate, 2):
        return None
    return int(firsts[longest]), int(lengths[longest])


def _speed_until(channel: Array, first: int, before: int, resolution: float) -> float:
    """Change per sample until a stretch that begins while the channel moves; 0 where it may have slowed down."""
    whole, last = (float(abs(channel[first] - channel[first - n])) for n in (before, before // 4))
    return whole / before if (last - resolution) / (before // 4) >= _STEADY * (whole + resolution) / before else 0.0
