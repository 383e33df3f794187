"""The streams of a watch: samples as they arrive, and rows y = W θ + e as they are prepared."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers, Mask


@dataclass(frozen=True, eq=False)
class Samples:
    """Consecutive samples on an even grid of times, in SI units."""

    first: int
    """Number of the first one since the watch began."""
    times: Array
    """(N,) seconds, as the source states them."""
    q: Array
    """(N, coordinates)"""
    efforts: Array
    """(N, actuators)"""
    bridged: Mask
    """(N,) samples that were lost and are interpolated."""

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the equation of motion at a lower rate: both sides have passed the same low-pass."""

    samples: Integers
    """(M,) number of the sample that each belongs to."""
    times: Array
    """(M,) its time."""
    y: Array
    """(M, actuators) efforts."""
    W: Array
    """(M, actuators, columns) regressor."""
    spread: Array | None
    """(M, actuators, columns) Σ |h| |w| of each entry over the response h of the low-pass: what a parameter that moves
    meanwhile can do at most; None where parameters are constant."""
    kept: Mask
    """(M, actuators): not near a reversal of the coordinate."""
    measured: Mask
    """(M,): no sample that was interpolated, or that the robot cannot reach, is part of it."""
    q: Array
    dq: Array
    ddq: Array

    def __len__(self) -> int:
        return len(self.times)

    @classmethod
    def empty(cls, n: int, k: int) -> "Rows":
        """No rows, of n actuators and k columns."""
        none = np.zeros((0, n))
        kept, measured = np.zeros((0, n), dtype=np.bool_), np.zeros(0, dtype=np.bool_)
        return cls(
            np.zeros(0, dtype=np.int64), np.zeros(0), none, np.zeros((0, n, k)), None, kept, measured, none, none, none
        )

    def taken(self, chosen: Mask | slice) -> "Rows":
        """Some of the rows."""
        parts: dict[str, Any] = {name: value if value is None else value[chosen] for name, value in vars(self).items()}
        return Rows(**parts)
