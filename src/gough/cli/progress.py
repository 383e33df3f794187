"""Progress bars for long computations, on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from math import inf

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from gough.cli.terminal import console
from gough.core.progress import OnProgress, Phase, showing_compilation
from gough.core.progress import Progress as Reached
from gough.core.text import visible

_COMPILING = "compiling, once for all later runs"


class _Time(ProgressColumn):
    """The time left where parts are counted; else the time that has passed."""

    max_refresh = 0.5

    def __init__(self) -> None:
        super().__init__()
        self._left = TimeRemainingColumn()

    def render(self, task: Task) -> Text:
        if task.total is not None:
            return self._left.render(task)
        return Text(f"{task.elapsed or 0.0:.0f} s", style="progress.elapsed")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A progress bar that is erased at the end; nothing at all is written where stderr is not a terminal."""
    screen = console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), _Time())
    progress = Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
    with (
        nullcontext() if progress.disable else progress,  # rich before 14.3 ends also a disabled bar with an empty line
        showing_compilation(partial(_compilation, progress)),
    ):
        yield progress


@contextmanager
def _compilation(progress: Progress) -> Iterator[None]:
    """One more line while a compiler runs."""
    task = progress.add_task(_COMPILING, total=None)
    try:
        yield
    finally:
        progress.remove_task(task)


@contextmanager
def compilation_shown() -> Iterator[None]:
    """A line while a compiler runs, for what has no progress bar."""
    with progress_bar() as progress, _compilation(progress):
        yield


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """A bar without an end for work whose parts are not counted, and the callback that says what is done next."""
    with progress_bar() as progress:
        task = progress.add_task(what, total=None)
        yield lambda following: progress.update(task, description=following)


class Steps:
    """The callback that advances a bar at the start of each phase; a last one, after all that are told, is writing."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task, self._of = progress, task, 0

    def __call__(self, step: Phase) -> None:
        self._of = step.of
        self._progress.update(self._task, description=step.what, completed=step.number - 1, total=step.of + 1)

    def write(self, what: str = "drawing the report") -> None:
        """The last phase begins."""
        self._progress.update(self._task, description=what, completed=self._of, total=self._of + 1)


@contextmanager
def steps_shown() -> Iterator[Steps]:
    """A progress bar, and the callback that advances it at the start of each step."""
    with progress_bar() as progress:
        yield Steps(progress, progress.add_task("reading", total=None))


class Images:
    """The callback that tells how many images are read; what follows the last one is not counted."""

    def __init__(self, progress: Progress, what: str, then: str) -> None:
        self._progress, self._task, self._then = progress, progress.add_task(what, total=None), then
        self._total: int | None = None

    def start(self, total: int) -> None:
        """State how many there are."""
        self._total = total
        self._progress.update(self._task, total=total)

    def __call__(self, done: int) -> None:
        self._progress.update(self._task, completed=done)
        if done == self._total:
            self._progress.remove_task(self._task)
            self._task = self._progress.add_task(self._then, total=None)
            self._total = None


@contextmanager
def images_shown(what: str, then: str) -> Iterator[Images]:
    """A bar of images that are read, and what follows when all are."""
    with progress_bar() as progress:
        yield Images(progress, what, then)


@contextmanager
def parts_shown(what: str) -> Iterator[OnProgress]:
    """A bar of parts that are counted; its callback names the one that begins."""
    with progress_bar() as progress:
        task = progress.add_task(what, total=None)
        yield lambda step: progress.update(task, completed=step.done, total=step.of, description=visible(step.stage))


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
