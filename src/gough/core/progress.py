"""Phases of long computations, for progress displays."""

from collections.abc import Callable
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


def announced(on_step: Callable[[Phase], object], total: int) -> Callable[[str], None]:
    """A function that announces the next of `total` phases by its name."""
    numbers = iter(range(1, total + 1))

    def announce(what: str) -> None:
        on_step(Phase(next(numbers), total, what))

    return announce
