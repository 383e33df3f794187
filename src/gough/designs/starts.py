"""The starts of a search as a campaign: each is a task, for any executor; a stopped search keeps its best."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from gough.campaigns import Campaign, ThisProcess, Unfinished, executor_of
from gough.core.progress import OnProgress, Progress

OnStage = Callable[[str, float], object]
"""Called by a start with what it does, and the criterion that it has reached."""


class Attempted(Protocol):
    """What a start returns."""

    @property
    def number(self) -> int:
        """The number of the start, from 1."""

    @property
    def value(self) -> float:
        """The criterion."""

    @property
    def is_stopped(self) -> bool:
        """Whether it was interrupted: then it is what had been reached, and is not recorded."""


T = TypeVar("T", bound=Attempted)


@dataclass(frozen=True)
class Starts(Generic[T]):
    """A search from several starts: `attempt(*shared, number, on_stage)` for each number from 1.

    Results depend on the number of a start only, not on the executor or on other starts.
    """

    attempt: Callable[..., T]
    """At the top of a module, so that other processes find it."""
    shared: tuple[Any, ...]
    count: int
    name: str
    """Digest of all that decides the result of a start."""
    executor: Any = None
    """Where starts run: an executor of `gough.campaigns` or `concurrent.futures`; here by default."""
    workers: int = 1
    """Number of processes of this machine, where no executor is given."""
    on_progress: OnProgress = lambda _: None
    before: Callable[[], object] = lambda: None
    """Called before starts are sent elsewhere: what is compiled here is not compiled by every worker."""

    def run(self, path: str | Path | None = None) -> tuple[list[T], bool]:
        """What the starts found, in order, and whether the search was stopped by Ctrl-C.

        Args:
            path: A file, or a folder for it, to which each finished start is appended and from which a search resumes.
        """
        done: list[T] = []
        stopped = False
        try:
            for each in self._stream(path):
                done.append(each)
                stopped |= each.is_stopped
        except KeyboardInterrupt:
            stopped = True
        return sorted(done, key=lambda each: each.number), stopped

    def _stream(self, path: str | Path | None) -> Iterator[T]:
        chosen = executor_of(self.executor, self.workers)
        alone = isinstance(chosen, ThisProcess)
        if alone:
            chosen = ThisProcess(interrupts_tasks=True)
        else:
            self.before()
        tasks = {f"start {k}": (k,) for k in range(1, self.count + 1)}
        shared = (self.attempt, self.shared, self._on_stage if alone else None)
        campaign: Campaign[T] = Campaign(_attempted, tasks, shared, name=self.name)
        done = 0
        with chosen if self.executor is None else nullcontext():
            for _, each in campaign.stream(path, executor=chosen, on_progress=self._on_stop):
                done += not each.is_stopped
                yield each
                self.on_progress(Progress(done, self.count, f"start {each.number}: done", each.value))

    def _on_stop(self, step: Progress) -> None:
        if step.stage:
            self.on_progress(step)

    def _on_stage(self, number: int, what: str, value: float) -> None:
        self.on_progress(Progress(number - 1, self.count, f"start {number}: {what}", value))


def _attempted(attempt: Callable[..., T], shared: tuple[Any, ...], on_stage: Any, number: int) -> T:
    """One start as a task; a callback is there in this process only."""
    done = attempt(*shared, number, (lambda *_: None) if on_stage is None else partial(on_stage, number))
    if done.is_stopped:
        raise Unfinished(done)
    return done
