"""Campaigns: many tasks, each computed once, wherever it runs and however often the campaign is interrupted."""

import inspect
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Generic, TypeVar
from uuid import uuid4

from gough.campaigns.digests import digest, file_digest
from gough.campaigns.executors import Executor, executor_of
from gough.campaigns.ledger import Ledger
from gough.campaigns.plain import from_json
from gough.campaigns.tasks import Call, Outcome, Work
from gough.campaigns.versions import this_version
from gough.core.arguments import refused, whole
from gough.core.errors import InputError
from gough.core.progress import OnProgress, Progress
from gough.core.text import counted

T = TypeVar("T")

_LOSSES = 5
"""Workers that one task may cost before it is given up."""
_LONG = 0.5
"""Batches that take longer than this, in seconds, do not wait inside a worker: Ctrl-C then has less to wait for."""
_PATIENCE = 0.5
"""Seconds between two looks at Ctrl-C."""
_MOST = 10_000
"""Tasks in a batch."""


class Interrupted(KeyboardInterrupt):
    """A campaign was stopped by Ctrl-C; its finished tasks are kept.

    Examples:
        >>> str(Interrupted(37, 100, Path("a.jsonl")))
        'stopped after 37 of 100 tasks; results are in a.jsonl, and the same call resumes from there'
    """

    def __init__(self, done: int, of: int, path: Path | None) -> None:
        where = f"results are in {path}, and the same call resumes from there"
        kept = "no file keeps results" if path is None else where
        super().__init__(f"stopped after {done} of {of} tasks; {kept}")
        self.done, self.of, self.path = done, of, path


@dataclass(frozen=True, eq=False)
class Campaign(Generic[T]):
    """The same function with many arguments: `function(*shared, *arguments)` for each task.

    A task's result is a line of a ledger: a task with the same digest (function, shared arguments, its own arguments,
    key, seed, version of gough's sources and of the numerical libraries) is never computed again. Results are the same
    bits on every executor, with any number of workers, in any order, and after any interruption, on processors of
    one kind: tasks run with one thread of BLAS, and draw random numbers from generators of their own.

    Functions must be importable where tasks run (at the top of a module). Results are numbers, text, lists,
    dictionaries, arrays, or frozen values of gough.

    Examples:
        >>> import math
        >>> Campaign(math.hypot, {"a": (3.0, 4.0), "b": (5.0, 12.0)}).run()
        {'a': 5.0, 'b': 13.0}
    """

    function: Callable[..., T]
    tasks: Mapping[str, tuple[Any, ...]]
    """Arguments of each task by its key."""
    shared: tuple[Any, ...] = ()
    """The first arguments of all tasks; each worker gets them once."""
    seed: int | None = None
    """If given, the function gets the keyword `rng`: a generator seeded by this number and the task's key."""
    name: str = ""
    """Digest of the configuration; computed from function, shared arguments, seed and versions by default."""
    identities: Mapping[str, Any] | None = None
    """What tells tasks apart, instead of their arguments: the digest of a file's content instead of its path."""

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the configuration, which the first line of the ledger has."""
        return self.name or digest((this_version(), self._identity(), self.shared, self.seed))

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise refused("function", self.function, "a function", "math.hypot")
        if not isinstance(self.tasks, Mapping):
            raise refused("tasks", self.tasks, "arguments by key", '{"a": (3.0, 4.0)}')
        for key, arguments in self.tasks.items():
            if not isinstance(arguments, tuple):
                raise refused(f"tasks[{key!r}]", arguments, "a tuple of arguments", '{"a": (3.0,)}')
        if self.seed is not None:
            whole(self.seed, "seed")

    def _identity(self) -> Any:
        """The function as its digest knows it; functions of C have a name only.

        One that is not gough's counts with its file: what it calls there, and constants, decide its results too.
        """
        function = inspect.unwrap(self.function)
        if getattr(function, "__code__", None) is None:
            return f"{function.__module__}.{function.__qualname__}" if hasattr(function, "__qualname__") else function
        path = Path(function.__code__.co_filename)
        ours = function.__module__.partition(".")[0] == "gough"
        return self.function if ours or not path.is_file() else (self.function, file_digest(path))

    def digest_of(self, key: str) -> str:
        """The digest of a task.

        Examples:
            >>> one, two = (Campaign(max, {"a": (1, k)}) for k in (2, 3))
            >>> one.digest_of("a") == two.digest_of("a")
            False
        """
        return digest((self.fingerprint, self.argument_digest(key)))

    def argument_digest(self, key: str) -> str:
        """The part of a task's digest that its line in the ledger has; the rest is in the first line."""
        return digest((key, (self.identities or self.tasks)[key]))[:16]

    def ledger_file(self, path: str | Path) -> Path:
        """The file of the ledger: `path` itself, or of its own name where that is a folder."""
        if not Path(path).is_dir():
            return Path(path)
        return Path(path) / f"campaign-{self.function.__name__.strip('_')}-{self.fingerprint[:8]}.jsonl"

    def run(
        self,
        path: str | Path | None = None,
        *,
        executor: Any = None,
        workers: int = 1,
        on_progress: OnProgress = lambda _: None,
    ) -> dict[str, T]:
        """The results of all tasks by key; those that `path` has are not computed again.

        Args:
            path: The ledger: a file to which each result is appended when it arrives; or a folder that exists, in which
                the file is named after the campaign's digest.
            executor: Where tasks run: `Processes`, `DaskCluster`, `SlurmJobs`, an executor of `concurrent.futures`;
                by default this process, or so many processes as `workers` says.
            workers: Number of processes of this machine, where no executor is given.
            on_progress: Called after each task, and when Ctrl-C was pressed.

        Raises:
            InputError: the ledger belongs to another campaign, is in use or cannot be written; a worker has another
                version; or a task has ended its workers again and again.
            Interrupted: Ctrl-C; running tasks were finished and recorded, unless it was pressed twice.
        """
        found = dict(self.stream(path, executor=executor, workers=workers, on_progress=on_progress))
        return {key: found[key] for key in self.tasks}

    def stream(
        self,
        path: str | Path | None = None,
        *,
        executor: Any = None,
        workers: int = 1,
        on_progress: OnProgress = lambda _: None,
    ) -> Iterator[tuple[str, T]]:
        """Keys and results: those of the ledger first, then others as they arrive; nothing is kept in memory.

        Arguments and exceptions are those of `run`.
        """
        with ExitStack() as stack:
            chosen = executor_of(executor, workers)
            if chosen is not executor:
                stack.enter_context(chosen)
            ledger = None if path is None else stack.enter_context(Ledger(self.ledger_file(path), self.fingerprint))
            run = _Run(self, chosen, ledger, on_progress)
            if ledger is not None:
                for key in self.tasks:
                    if ledger.has(key, self.argument_digest(key)):
                        run.done += 1
                        yield key, ledger.results[key]
            if run.done == len(self.tasks):
                on_progress(Progress(run.done, len(self.tasks)))
                return
            with run.interrupts():
                on_progress(Progress(run.done, len(self.tasks)))
                yield from run.rest()


@dataclass
class _Run:
    """A campaign under way."""

    campaign: Campaign[Any]
    executor: Executor
    ledger: Ledger | None
    on_progress: OnProgress
    done: int = 0
    is_stopping: bool = False
    under_way: dict[int, Call] = field(default_factory=dict)
    again: deque[Call] = field(default_factory=deque)
    losses: Counter[int] = field(default_factory=Counter)
    size: int = 1
    seconds: float = 0.0
    """Average time of a task."""
    finished: int = 0
    error: BaseException | None = None
    """The first error of a task; tasks that run beside it are finished and recorded."""

    def rest(self) -> Iterator[tuple[str, Any]]:
        """Compute what is missing."""
        of = self.campaign
        name = uuid4().hex if self.ledger is None else of.fingerprint
        work = Work(name, of.function, of.shared, of.seed, this_version())
        self.executor.start(work)
        self.size = max(1, self.executor.first_batch(len(of.tasks) - self.done))
        waiting = self._missing()
        try:
            while True:
                if not self.is_stopping and self.error is None:
                    self._submit(waiting)
                if not self.under_way:
                    break
                outcomes = self.executor.wait(_PATIENCE)
                yield from [pair for outcome in outcomes for pair in self._taken(outcome)]  # all are recorded first
                if self.is_stopping or self.error is not None:
                    for number in self.executor.withdraw():
                        self.under_way.pop(number, None)
        except BaseException:
            self.executor.abandon()
            raise
        if self.error is not None:
            raise self.error
        if self.is_stopping and self.done < len(of.tasks):
            raise self._interrupted()

    def _taken(self, outcome: Outcome) -> Iterator[tuple[str, Any]]:
        """The key and the result of a task, unless it has failed or must run again."""
        call = self.under_way.pop(outcome.number)
        if outcome.lost:
            self._lost(call, outcome)
        elif outcome.error is not None:
            self.error = self.error or _named(outcome.error, call.key)
        else:
            yield call.key, self._arrived(call, outcome)

    def _missing(self) -> Iterator[Call]:
        for number, (key, arguments) in enumerate(self.campaign.tasks.items()):
            if self.ledger is None or not self.ledger.has(key, self.campaign.argument_digest(key)):
                yield Call(number, key, arguments)

    def _submit(self, waiting: Iterator[Call]) -> None:
        """Fill the executor: a batch for each slot, and a second one where batches are short."""
        short = self.finished == 0 or self.seconds * self.size < _LONG
        most = self.executor.slots * (2 if short and self.executor.slots > 1 else 1)
        batches: list[list[Call]] = []
        free = most - -(-len(self.under_way) // self.size)
        while free > len(batches):
            batch: list[Call] = []
            while len(batch) < self.size:
                call = self.again.popleft() if self.again else next(waiting, None)
                if call is None:
                    break
                batch.append(call)
            if not batch:
                break
            self.under_way |= {call.number: call for call in batch}
            batches.append(batch)
        if batches:
            self.executor.submit(batches)

    def _arrived(self, call: Call, outcome: Outcome) -> Any:
        """Record a result."""
        self.finished += 1
        self.seconds += (outcome.seconds - self.seconds) / min(self.finished, 100)
        self._adapt()
        if not outcome.is_final:
            self.is_stopping = True
            return from_json(outcome.text)
        if self.ledger is not None:
            self.ledger.append_text(call.key, outcome.text, self.campaign.argument_digest(call.key))
        self.done += 1
        self._show()
        return from_json(outcome.text)

    def _adapt(self) -> None:
        """Batches as long as the executor wants them, and several for each slot to the end."""
        wanted = self.executor.batch_seconds / max(self.seconds, 1e-6)
        left = (len(self.campaign.tasks) - self.done) / (4 * self.executor.slots)
        if self.executor.batch_seconds > 0:
            self.size = max(1, int(min(wanted, left, _MOST)))

    def _lost(self, call: Call, outcome: Outcome) -> None:
        self.losses[call.number] += not outcome.was_waiting
        if self.losses[call.number] >= _LOSSES:
            raise InputError(
                f"the task '{call.key}' was running {_LOSSES} times when {outcome.lost}: it may need more memory than "
                "there is, or crash. Other results are kept; run it alone to see why"
            )
        self.again.append(call)

    def _show(self) -> None:
        running = len(self.under_way)
        stage = f"finishing {counted(running, 'task')}; Ctrl-C again abandons them" if self.is_stopping else ""
        self.on_progress(Progress(self.done, len(self.campaign.tasks), stage))

    def _interrupted(self) -> Interrupted:
        return Interrupted(self.done, len(self.campaign.tasks), None if self.ledger is None else self.ledger.path)

    @contextmanager
    def interrupts(self) -> Iterator[None]:
        """The first Ctrl-C lets running tasks finish, the second one abandons them."""
        before = signal.getsignal(signal.SIGINT)
        inside = getattr(self.executor, "interrupts_tasks", False)
        if inside or current_thread() is not main_thread() or not callable(before):
            yield
            return

        def stop(*_: object) -> None:
            if self.is_stopping:
                raise self._interrupted()
            self.is_stopping = True
            self._show()

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def _named(error: BaseException, key: str) -> BaseException:
    """The error of a task, with the key of the task as a note."""
    error.add_note(f"This happened in the task '{key}'.")
    return error
