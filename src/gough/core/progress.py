"""Phases and progress of long computations, for progress displays."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
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


_shown: ContextVar[Callable[[], AbstractContextManager[object]]] = ContextVar("_shown", default=nullcontext)
"""Makes the context of a compiler's run; inside such a context, one of which nothing is seen."""


@contextmanager
def showing_compilation(shown: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """Inside the block, compilers run in contexts that this function makes, so that a user sees what is waited for."""
    token = _shown.set(shown)
    try:
        yield
    finally:
        _shown.reset(token)


@contextmanager
def compilation() -> Iterator[None]:
    """A context for the run of a compiler, which may compile what its source calls: that is shown as one run."""
    shown = _shown.get()
    with showing_compilation(nullcontext), shown():
        yield
