"""Progress bars for long computations, on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gough.cli.terminal import console
from gough.core.progress import OnProgress, Phase
from gough.core.progress import Progress as Reached


def progress_bar() -> Progress:
    """A progress bar that is erased at the end and hidden where stderr is not a terminal."""
    screen = console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)


@contextmanager
def steps_shown() -> Iterator[Callable[[Phase], None]]:
    """A progress bar, and the callback that advances it at the start of each step."""
    with progress_bar() as progress:
        task = progress.add_task("reading", total=None)

        def show(step: Phase) -> None:
            progress.update(task, description=step.what, completed=step.number - 1, total=step.of)

        yield show


@contextmanager
def starts_shown(first: str = "preparing") -> Iterator[OnProgress]:
    """A bar of the starts of a search with the best criterion so far."""
    best, done = inf, 0
    with progress_bar() as progress:
        task = progress.add_task(first, total=None)

        def show(step: Reached) -> None:
            nonlocal best, done
            if step.done > done:
                best, done = min(best, step.value), step.done
            so_far = f", best {best:.2f}" if best < inf else ""
            progress.update(task, completed=done, total=step.of, description=f"{step.stage}{so_far}")

        yield show
