"""Progress bars for long computations, on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gough.cli.terminal import console
from gough.core.progress import Phase


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
