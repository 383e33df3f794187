"""The signals of a recording on their way to a measured motion: what one preparation step hands to the next."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.data.motion import Mask
from gough.data.recording import Recording


@dataclass(frozen=True, eq=False)
class Signals:
    """Positions and efforts (N, n), evenly sampled; derivatives once they are known."""

    recording: Recording
    """As recorded, in SI units."""
    coordinates: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    actuators: tuple[str, ...]
    effort_units: tuple[str, ...]
    effort_channels: tuple[str, ...]
    q: Array
    efforts: Array
    kept: Mask
    first: int = 0
    """Sample of the recording that sample 0 is."""
    stride: int = 1
    """Samples of the recording from one sample to the next."""
    dq: Array | None = None
    ddq: Array | None = None
    cutoff: float | None = None
    """Hz of the low-pass that has been applied."""
    order: int = 0
    """Its order in one direction."""
    full: tuple[int, Array, Array, Array] | None = None
    """As first differentiated: the sample of the recording that is the first, positions, velocities, accelerations."""
    memory: float = 0.0
    """Seconds after which the low-pass of this preparation, applied or yet to come, has forgotten a sample."""

    @property
    def rate(self) -> float:
        return self.recording.rate / self.stride

    @property
    def n_samples(self) -> int:
        return len(self.q)

    def taken(self, samples: slice) -> "Signals":
        """Some of the samples: every stride-th of a range."""
        start, _, stride = samples.indices(self.n_samples)
        parts = {field: getattr(self, field) for field in ("q", "dq", "ddq", "efforts", "kept")}
        cut: dict[str, Any] = {field: part if part is None else part[samples] for field, part in parts.items()}
        return replace(self, **cut, first=self.first + start * self.stride, stride=self.stride * stride)

    def masked(self, mask: Mask) -> "Signals":
        """The signals without the rows (N, n), or samples (N, 1), where the mask is True."""
        return replace(self, kept=self.kept & ~mask)

    def of_recording(self, samples: Mask) -> Mask:
        """What is stated for each sample of the recording, (M, …), for those that are here, (N, …)."""
        return samples[self.first :: self.stride][: self.n_samples]


def surrounded(mask: Mask, samples: int) -> Mask:
    """The mask (N, n), each run of True longer at either end by so many samples and by its own length."""
    result = mask.copy(order="F")
    for column in range(mask.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], mask[:, column], [False]]).view(np.int8)))
        for start, stop in edges.reshape(-1, 2).tolist():
            reach = samples + stop - start
            result[max(start - reach, 0) : stop + reach, column] = True
    return result


def widened(mask: Mask, samples: int) -> Mask:
    """The mask (N, n), True also so many samples before and after each True."""
    result = mask.copy(order="F")
    for column in range(mask.shape[1]):
        at = np.flatnonzero(mask[:, column])
        apart = np.flatnonzero(np.diff(at) > 2 * samples + 1)
        firsts, lasts = at[np.append(0, apart + 1)[: at.size]], at[np.append(apart, -1)[: at.size]]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            result[max(first - samples, 0) : last + samples + 1, column] = True
    return result
