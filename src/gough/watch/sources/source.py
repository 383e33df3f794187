"""Where samples come from: one small protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples that arrived together."""

    times: Array
    """(N,) seconds."""
    values: Array
    """(N, positions and efforts) in SI units, NaN where a value is missing."""
    bad: tuple[str, ...] = ()
    """What could not be read, each with its place."""
    notes: tuple[str, ...] = ()
    """What else happened, such as a file that was replaced."""
    is_new: bool = False
    """Whether another recording begins here: its times need not continue those before."""

    def __len__(self) -> int:
        return len(self.times)

    @classmethod
    def nothing(cls, channels: int) -> "Batch":
        """No samples."""
        return cls(np.zeros(0), np.zeros((0, channels)))


class Source(Protocol):
    """A stream of samples."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        ...

    @property
    def can_resume(self) -> bool:
        """Whether `position` and `resume` lose no sample and repeat none."""
        ...

    @property
    def is_live(self) -> bool:
        """Whether samples arrive while the robot runs, so that silence is worth an event."""
        ...

    def read(self, wait: float) -> Batch | None:
        """Samples that arrived, none if nothing came within `wait` seconds; None once the stream has ended."""
        ...

    def position(self) -> dict[str, Any]:
        """Where to resume: after all samples that `read` has returned."""
        ...

    def resume(self, position: Mapping[str, Any]) -> None:
        """Go on from a position.

        Raises:
            InputError: it is not one of this source, or what it points at has changed.
        """
        ...

    def close(self) -> None: ...
