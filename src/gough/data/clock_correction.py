"""Channels whose clock is late and drifts against that of the others, resampled at the others' instants."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gough.core.errors import require
from gough.data.recording import Recording
from gough.data.resampling import band_limited


def retimed(recording: Recording, channels: Sequence[str], late: float, drift: float = 0.0) -> Recording:
    """The recording with some channels as they were at the instants of the others.

    What happened at instant t stands in these channels at t + late + drift · (t − middle of the recording). They are
    interpolated as `join_recordings` does it, by a sinc function in a Kaiser window; samples at the ends for which
    channels are lacking are left out.

    Raises:
        InputError: the clocks are further apart than the recording is long.

    Examples:
        >>> t = np.arange(600) / 100
        >>> samples = np.stack([np.sin(6 * t), np.sin(6 * (t - 0.013))], axis=1)
        >>> both = retimed(Recording(["q1", "tau1"], ["rad", "N·m"], samples, rate=100.0), ["tau1"], late=0.013)
        >>> bool(abs(both["tau1"] - both["q1"]).max() < 1e-4)
        True
    """
    moved = [recording.names.index(name) for name in channels if recording[name] is not None]
    t = recording.times
    middle = (t[0] + t[-1]) / 2
    instants = t + late + drift * (t - middle)
    position = (instants - recording.start) * recording.rate
    samples = recording.samples.copy()
    samples[:, moved] = band_limited(
        recording.samples[:, moved], recording.rate, recording.start, instants, recording.rate
    )
    inside = np.flatnonzero((position >= 16) & (position < len(t) - 17))
    require(
        inside.size > 1,
        f"{recording.source or 'the recording'}: a clock that is {late:.3g} s late leaves no common time",
    )
    kept = slice(int(inside[0]), int(inside[-1]) + 1)
    return replace(
        recording,
        samples=samples[kept],
        start=float(t[kept.start]),
        rows=recording.row_of(np.arange(kept.start, kept.stop)),
    )
