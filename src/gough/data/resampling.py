"""Recordings with other clocks or uneven instants, brought to one even grid."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.text import number
from gough.data.recording import Recording
from gough.data.times import longest_step

_HALF_WIDTH = 16
"""Samples of the slower rate on each side of an instant that the interpolation uses."""
_BETA = 9.0
"""Shape of the Kaiser window: it leaves about 1e-4 of what is above the band."""
_SAME = 1e-3
"""Share of a period by which two grids may differ and still count as one."""
_BLOCK = 1 << 15

PASSBAND = 0.4
"""Share of the slower rate up to which a resampled sine keeps its amplitude to 1e-4."""


def join_recordings(recordings: Sequence[Recording], rate: float | None = None) -> Recording:
    """Recordings of one experiment, whose times count from the same instant, as one recording on an even grid.

    The grid has the highest rate of the recordings, or `rate`, and covers the time that all of them cover. Channels are
    interpolated by a sinc function in a Kaiser window, which keeps sines of up to 0.4 of the slower of the two rates to
    1e-4 of their amplitude; faster ones are attenuated where they would alias. Near a lost sample, 16 samples on each
    side are lost too. Recordings that are on the grid already keep their numbers.

    Raises:
        InputError: two recordings have a channel of the same name, or do not overlap by enough samples.

    Examples:
        >>> t = np.arange(400) / 100
        >>> slow = Recording(["q1"], ["rad"], np.sin(6 * t)[:, None], rate=100.0)
        >>> fast = Recording(["tau1"], ["N·m"], np.zeros((1990, 1)), rate=500.0, start=0.0007)
        >>> both = join_recordings([slow, fast])
        >>> both.names, both.rate, bool(abs(both["q1"] - np.sin(6 * both.times)).max() < 1e-4)
        (('q1', 'tau1'), 500.0, True)
    """
    require(len(recordings) > 0, "there is no recording to join")
    grid = max(recordings, key=lambda one: one.rate)
    highest = grid.rate if rate is None else float(rate)
    names = [name for one in recordings for name in one.names]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"channel '{twice and twice[0]}' stands in more than one of the recordings: rename it")
    moved = [one for one in recordings if not _is_on(one, grid, highest)]
    first, last = _common(recordings, moved, highest)
    origin = grid.start if grid.rate == highest else first
    begin, end = ceil((first - origin) * highest - _SAME), floor((last - origin) * highest + _SAME)
    if end <= begin:
        spans = "; ".join(f"{one.source or one.names[0]}: {_span(one)}" for one in recordings)
        raise InputError(
            f"the channels overlap in too short a time ({spans}; interpolation needs {_HALF_WIDTH} samples at each "
            "end): choose channels that were recorded together"
        )
    times = origin + np.arange(begin, end + 1) / highest
    parts = [_at(one, times, resampled=one in moved) for one in recordings]
    notes = [
        f"{', '.join(one.names)} ({number(one.rate)} Hz) {'were' if len(one.names) > 1 else 'was'} interpolated to "
        f"{number(highest)} Hz, band-limited to {number(PASSBAND * min(one.rate, highest))} Hz"
        for one in moved
    ]
    return replace(
        grid,
        names=tuple(names),
        units=tuple(unit for one in recordings for unit in one.units),
        samples=np.concatenate(parts, axis=1),
        rate=highest,
        start=float(times[0]),
        rows=None,
        notes=(*dict.fromkeys(note for one in recordings for note in one.notes), *notes),
    )


def band_limited(samples: Array, rate: float, start: float, times: Array, limit: float) -> Array:
    """Samples (N, k), the first at `start`, interpolated at instants (M,); NaN where one that is needed is missing.

    Args:
        samples: Even samples.
        rate: Their rate.
        start: Instant of the first one.
        times: Instants to interpolate at.
        limit: Rate of the grid that these instants form: content above half of it is removed.
    """
    stretch = max(1.0, rate / limit)
    width = ceil(_HALF_WIDTH * stretch)
    offsets = np.arange(1 - width, width + 1)
    out = np.full((len(times), samples.shape[1]), np.nan)
    position = (times - start) * rate
    for k in range(0, len(times), _BLOCK):
        at = position[k : k + _BLOCK]
        nearest = np.floor(at + 1e-9).astype(np.int64)
        inside = (nearest + offsets[0] >= 0) & (nearest + offsets[-1] < len(samples))
        used = nearest[inside, None] + offsets
        weights = _kernel((at[inside, None] - used) / stretch)
        weights /= weights.sum(axis=1, keepdims=True)  # a constant stays what it is
        out[k : k + _BLOCK][inside] = np.einsum("mj,mjk->mk", weights, samples[used])
    return out


def evened(seconds: Array, samples: Array, rate: float) -> tuple[Array, int]:
    """Samples (N, k) at rising instants (N,), interpolated by cubic splines on an even grid from the first of them.

    Instants of the grid inside a gap (`longest_step`) are NaN, and so are those next to NaN; the second
    result is the number of gaps.

    Examples:
        >>> t = np.array([0.0, 0.11, 0.19, 0.3, 0.42, 0.5])
        >>> even, gaps = evened(t, t[:, None] ** 2, rate=10.0)
        >>> even[:, 0].round(6), gaps
        (array([0.  , 0.01, 0.04, 0.09, 0.16, 0.25]), 0)
    """
    from scipy.interpolate import CubicSpline  # noqa: PLC0415 - start-up time

    steps = np.diff(seconds)
    longest = longest_step(steps) if len(steps) else 0.0
    size = floor((seconds[-1] - seconds[0]) * rate + _SAME) + 1
    grid = seconds[0] + np.arange(size) / rate
    even = np.full((size, samples.shape[1]), np.nan)
    for column in range(samples.shape[1]):
        present = np.flatnonzero(~np.isnan(samples[:, column]))
        if not present.size:
            continue
        breaks = np.flatnonzero(np.diff(seconds[present]) > longest) + 1
        for run in np.split(present, breaks):
            here = slice(*np.searchsorted(grid, (seconds[run[0]] - _SAME / rate, seconds[run[-1]] + _SAME / rate)))
            if len(run) > 3:
                even[here, column] = CubicSpline(seconds[run], samples[run, column])(grid[here])
    return even, int((steps > longest).sum())


def _kernel(x: Array) -> Array:
    """The windowed sinc function at distances in samples of the slower rate; its band ends at half of that rate."""
    from scipy.special import i0  # noqa: PLC0415 - start-up time

    inside = np.maximum(0.0, 1 - (x / _HALF_WIDTH) ** 2)
    return np.asarray(np.sinc(x) * i0(_BETA * np.sqrt(inside)) * (abs(x) < _HALF_WIDTH))


def _is_on(one: Recording, grid: Recording, rate: float) -> bool:
    """Whether a recording's instants are those of the grid."""
    if abs(one.rate / rate - 1) * len(one) > _SAME or (grid.rate != rate and one is not grid):
        return False
    offset = (one.start - grid.start) * rate
    return grid.rate == rate and abs(offset - round(offset)) <= _SAME


def _common(recordings: Sequence[Recording], moved: Sequence[Recording], rate: float) -> tuple[float, float]:
    """The first and the last instant at which all recordings can be had."""
    first, last = -np.inf, np.inf
    for one in recordings:
        margin = ceil(_HALF_WIDTH * max(1.0, one.rate / rate)) / one.rate if one in moved else 0.0
        first = max(first, one.start + margin)
        last = min(last, one.start + one.duration - margin)
    return first, last


def _at(one: Recording, times: Array, *, resampled: bool) -> Array:
    if resampled:
        limit = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else one.rate
        return band_limited(one.samples, one.rate, one.start, times, float(limit))
    begin = round((times[0] - one.start) * one.rate)
    return one.samples[begin : begin + len(times)]


def _span(one: Recording) -> str:
    return f"{number(one.start)} to {number(one.start + one.duration)} s"
