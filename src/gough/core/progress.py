"""Phases and progress of long computations, for progress displays."""

from collections.abc import Callable
from math import nan
from typing import NamedTuple


class Phase(NamedTuple):
    """A phase of a computation that begins: the `number`-th of `of` phases, for a progress display.

    Examples:
        >>> Phase(3, 12, "identifying: hull").what
        'identifying: hull'
    """

    number: int
    """Counted from 1."""
    of: int
    what: str


class Progress(NamedTuple):
    """How far a search or a campaign is: `done` of `of` parts.

    Examples:
        >>> Progress(25, 100).done
        25
    """

    done: int
    of: int
    stage: str = ""
    """The part that is being computed."""
    value: float = nan
    """The criterion that a search has reached; NaN before the first value."""


OnProgress = Callable[[Progress], object]


def announced(on_step: Callable[[Phase], object], total: int) -> Callable[[str], None]:
    """A function that announces the next of `total` phases by its name."""
    numbers = iter(range(1, total + 1))

    def announce(what: str) -> None:
        on_step(Phase(next(numbers), total, what))

    return announce
