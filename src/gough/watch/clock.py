"""The times of a stream: samples on an even grid, and what interrupts it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.watch.rows import Samples

BRIDGED = 3
"""Lost samples in a row that are interpolated; a longer gap starts the filters anew."""
_CLOSE = 0.75
"""Periods by which a time may be off the grid."""
_FOLLOWED = 0.02
"""Share of that by which the grid follows."""
_TOGETHER = 500
"""Samples that are looked at together, so that a clock which is slightly fast or slow stays close to the grid."""


@dataclass(frozen=True)
class Break:
    """The stream is interrupted: a gap in its times, or a clock that jumps back."""

    time: float
    """The first time after it."""
    seconds: float
    """How far the times jump from where the next sample is expected; negative if back."""


@dataclass
class Grid:
    """Puts samples on an even grid; it *changes* with every block.

    Examples:
        >>> grid = Grid(rate=10.0, n=1)
        >>> parts = list(grid.take(np.array([0.0, 0.1, 0.3, 0.4, 2.0]), np.zeros((5, 2))))
        >>> [len(part) if isinstance(part, Samples) else part.seconds for part in parts]
        [1, 1, 1, 1, 1, 1.5, 1]
        >>> grid.n_samples, grid.n_bridged
        (6, 1)
    """

    rate: float
    n: int
    """Number of coordinates; so many columns of positions stand before the efforts."""
    origin: float | None = None
    """The time of grid point 0; None before the first sample."""
    at: int = -1
    """The grid point of the last sample."""
    last: Array = field(default_factory=lambda: np.zeros(0))
    n_samples: int = 0
    """Samples that were put on the grid, interpolated ones included."""
    n_bridged: int = 0
    n_repeated: int = 0
    """Samples with the time of the one before, which are left out."""
    n_lost: int = 0
    """Samples that were missing in gaps."""
    n_breaks: int = 0
    worst_jitter: float = 0.0
    """Seconds by which a time was off the grid at most."""

    def gap_to(self, time: float) -> float:
        """Seconds from where the next sample is expected to this time; 0 where it continues the grid or begins it."""
        off = 0.0 if self.origin is None else (time - self.origin) * self.rate - (self.at + 1)
        return off / self.rate if abs(off) >= _CLOSE else 0.0

    def restart(self) -> None:
        """Begin a new grid with the next sample."""
        self.origin = None

    def take(self, times: Array, values: Array) -> Iterator[Samples | Break]:
        """Parts of the grid, and breaks between them; values (N, positions and efforts) are finite."""
        begin = 0
        while begin < len(times):
            if self.origin is None:
                yield from self._start(times[begin], values[begin])
                begin += 1
                continue
            end = min(begin + _TOGETHER, len(times))
            off = (times[begin:end] - self.origin) * self.rate - (self.at + 1 + np.arange(end - begin))
            bad = np.flatnonzero(np.abs(off) >= _CLOSE)
            good = int(bad[0]) if len(bad) else end - begin
            if good:
                yield self._even(times[begin : begin + good], values[begin : begin + good], off[:good])
                begin += good
            else:
                yield from self._uneven(float(times[begin]), values[begin], float(off[0]))
                begin += 1

    def _start(self, time: float, value: Array) -> Iterator[Samples]:
        self.origin, self.at = float(time), -1
        yield self._even(np.array([time]), value[None], np.zeros(1))

    def _even(self, times: Array, values: Array, off: Array) -> Samples:
        assert self.origin is not None
        self.worst_jitter = max(self.worst_jitter, float(np.abs(off).max()) / self.rate)
        share = 1 - (1 - _FOLLOWED) ** len(off)
        self.origin += share * float(off.mean()) / self.rate
        return self._samples(times, values, interpolated=False)

    def _uneven(self, time: float, value: Array, off: float) -> Iterator[Samples | Break]:
        missing = round(off)
        if 1 <= missing <= BRIDGED and len(self.last):
            share = np.arange(1, missing + 1) / (missing + 1)
            between = self.last + share[:, None] * (value - self.last)
            assert self.origin is not None
            times = self.origin + (self.at + 1 + np.arange(missing)) / self.rate
            self.n_lost, self.n_bridged = self.n_lost + missing, self.n_bridged + missing
            yield self._samples(times, between, interpolated=True)
            yield self._samples(np.array([time]), value[None], interpolated=False)
            return
        if -1.5 < off < 0:  # the time of the sample before, or hardly later
            self.n_repeated += 1
            return
        self.n_breaks += 1
        self.n_lost += max(missing, 0)
        yield Break(time, off / self.rate)
        yield from self._start(time, value)

    def _samples(self, times: Array, values: Array, *, interpolated: bool) -> Samples:
        first = self.n_samples
        self.at += len(times)
        self.n_samples += len(times)
        self.last = values[-1].copy()
        flags = np.full(len(times), interpolated)
        return Samples(first, times, values[:, : self.n], values[:, self.n :], flags)

    def state(self) -> dict[str, Any]:
        """Numbers from which `restore` continues."""
        return dict(vars(self))

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        for name in vars(self):
            value = state[name]
            setattr(self, name, np.array(value) if name == "last" else value)
