"""A causal low-pass of linear phase: all frequencies have the same delay, which is stated."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.data.filters import low_passed

_PERIODS = 2.2
"""Half of the length of the response, in periods of the cutoff."""
_TAPER = 5.0
"""Shape of the Kaiser window that ends the response."""


@dataclass(frozen=True)
class LinearPhase:
    """The zero-phase low-pass of an identification, cut to a finite length and delayed by half of that length.

    Its symmetric response is that of a Butterworth filter forth and back, times a Kaiser window, with a sum of 1.

    Examples:
        >>> low_pass = LinearPhase(20.0, 4, rate=1000.0)
        >>> low_pass.half, low_pass.delay
        (110, 0.11)
        >>> bool(abs(low_pass.gain(4.0) - 1) < 3e-4), bool(low_pass.gain(50.0) < 1e-3)
        (True, True)
    """

    cutoff: float
    """Frequency in Hz at which about half of the amplitude passes."""
    order: int
    rate: float

    def __post_init__(self) -> None:
        require(
            0 < self.cutoff < self.rate / 2,
            f"a low-pass at {self.cutoff:g} Hz needs more than {2 * self.cutoff:g} samples a second, but there are "
            f"{self.rate:g}",
        )

    @property
    def half(self) -> int:
        """Samples of delay."""
        return ceil(_PERIODS * self.rate / self.cutoff)

    @property
    def delay(self) -> float:
        """Seconds of delay."""
        return self.half / self.rate

    @cached_property
    def response(self) -> Array:
        """Weights (2 · half + 1,) of the samples."""
        n = self.half
        impulse = np.zeros((8 * n + 1, 1))
        impulse[4 * n] = 1.0
        whole = low_passed(impulse, self.cutoff, self.order, self.rate)[3 * n : 5 * n + 1, 0]
        weights = whole * np.kaiser(2 * n + 1, _TAPER)
        return np.asarray(weights / weights.sum())

    def gain(self, frequency: float) -> float:
        """Share of the amplitude of a sine of this frequency, Hz, that passes."""
        turns = 2 * np.pi * frequency / self.rate * np.arange(-self.half, self.half + 1)
        return float(self.response @ np.cos(turns))
