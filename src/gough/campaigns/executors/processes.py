"""Tasks in processes of this machine, which may be killed without harm."""

import os
import pickle
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import Any, Self

from gough.campaigns.tasks import ONE_THREAD, Call, Outcome, Work, perform_elsewhere
from gough.core.errors import InputError, require

_STARTS = 3
"""Workers in a row that may end by themselves before they are ready."""
_KILLED = 30
"""The same for workers that are killed."""
_LEAVE = 5.0
"""Seconds that a worker has to end before it is killed."""


@dataclass(eq=False)
class _Worker:
    """A process, the connection to it, and the batches that it has."""

    process: Any
    connection: Connection
    is_ready: bool = False
    works: set[str] = field(default_factory=set)
    batches: list[Sequence[Call]] = field(default_factory=list)


class Processes:
    """Runs tasks in so many processes of this machine. A worker that is killed is replaced, and its tasks run again.

    Workers are started at the first task (method "spawn") and end with this process, however that ends. Ctrl-C does not
    reach them: the campaign decides what becomes of running tasks. Functions must be importable; a script guards its
    own code by `if __name__ == "__main__":`.

    Examples:
        >>> with Processes(2) as processes:
        ...     processes.slots
        2
    """

    batch_seconds = 0.05

    def __init__(self, workers: int) -> None:
        require(workers >= 1, f"workers must be at least 1, but is {workers}")
        self.slots = workers
        self._workers: list[_Worker] = []
        self._packed: dict[str, bytes] = {}
        self._work = ""
        self._lost: list[Outcome] = []
        self._failed = 0

    def first_batch(self, tasks: int) -> int:  # noqa: ARG002 - the protocol's
        """One task."""
        return 1

    def start(self, work: Work) -> None:
        """Pack what tasks share, for workers that need it."""
        self._work = work.name
        try:
            self._packed = {work.name: pickle.dumps(work)}
        except Exception as error:
            raise InputError(
                f"the tasks cannot be sent to other processes: {error}. Use functions at the top of a module and "
                "values that can be pickled, or one worker"
            ) from error

    def submit(self, batches: Sequence[Sequence[Call]]) -> None:
        """Send each batch to the worker that has least to do."""
        for batch in batches:
            while not self._sent(batch):
                pass

    def _sent(self, batch: Sequence[Call]) -> bool:
        """Whether a worker took the batch; one that has ended takes none."""
        if len(self._workers) < self.slots and all(worker.batches for worker in self._workers):
            self._workers.append(self._started())
        worker = min(self._workers, key=lambda each: len(each.batches))
        try:
            if self._work not in worker.works:
                worker.connection.send_bytes(self._packed[self._work])
                worker.works = {self._work}
            worker.connection.send((self._work, list(batch)))
        except (OSError, ValueError):
            self._bury(worker)
            return False
        worker.batches.append(batch)
        return True

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes that have arrived, those of lost workers included."""
        outcomes, self._lost = self._lost, []
        connections: list[Any] = [worker.connection for worker in self._workers]
        of = dict(zip(connections, self._workers, strict=True))
        for connection in wait(connections, 0 if outcomes else seconds):
            outcomes += self._received(of[connection])
        lost, self._lost = self._lost, []
        return [*outcomes, *lost]

    def _received(self, worker: _Worker) -> list[Outcome]:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            self._bury(worker)
            return []
        if message is None:
            worker.is_ready, self._failed = True, 0
            return []
        if isinstance(message, BaseException):
            raise message
        worker.batches.pop(0)
        return list(message)

    def _bury(self, worker: _Worker) -> None:
        """Take a worker that has ended off the list; its tasks are lost and will run again."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join(_LEAVE)
        code = worker.process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
        for k, batch in enumerate(worker.batches):
            waiting = k > 0 or not worker.is_ready
            self._lost += [Outcome(call.number, lost=f"a worker {how}", was_waiting=waiting) for call in batch]
        if not worker.is_ready:
            self._failed += 1
            require(
                self._failed < (_STARTS if code is None or code >= 0 else _KILLED),
                f"worker processes end before they are ready (the last one {how}): a script must guard its own code by "
                'if __name__ == "__main__": and there must be memory for another Python',
            )

    def _started(self) -> _Worker:
        context = get_context("spawn")
        own, its = context.Pipe()
        process = context.Process(target=_serve, args=(its,), daemon=True, name="gough worker")
        with _without_interrupts(), _environment(ONE_THREAD):
            process.start()
        its.close()
        return _Worker(process, own)

    def withdraw(self) -> set[int]:
        """Nothing: the few tasks that wait in a worker are short."""
        return set()

    def abandon(self) -> None:
        """End all workers at once."""
        for worker in self._workers:
            worker.process.kill()
        self.close()

    def close(self) -> None:
        """End the workers."""
        workers, self._workers, self._lost = self._workers, [], []
        for worker in workers:
            worker.connection.close()  # which a worker takes as the sign to end
        for worker in workers:
            worker.process.join(_LEAVE)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables that a process which is started meanwhile inherits."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block Ctrl-C for a moment: a process that is started meanwhile begins with it blocked; none is lost here."""
    if not hasattr(signal, "pthread_sigmask") or current_thread() is not main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """The life of a worker: batches in, outcomes out, until the other end of the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    inbox: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    connection.send(None)
    work: Work | None = None
    while True:
        try:
            message = pickle.loads(inbox.get())  # noqa: S301 - from the process that has started this one
            if isinstance(message, Work):
                work = message
                continue
            assert work is not None
            assert message[0] == work.name
            answer: Any = perform_elsewhere(work, message[1])
        except Exception as error:  # noqa: BLE001 - the campaign raises it
            answer = InputError(f"worker process {_name()}: {error}")
        with suppress(OSError):  # nobody is there any more; the thread that listens ends this process
            connection.send(answer)


def _name() -> str:
    from gough.campaigns.versions import place  # noqa: PLC0415 - for messages only

    return place()


def _listen(connection: Connection, inbox: "SimpleQueue[bytes]") -> None:
    """Take messages at once, so that nobody waits to send one; end this process when there can be no more."""
    while True:
        try:
            inbox.put(connection.recv_bytes())
        except (EOFError, OSError):
            sys.stdout.flush()
            os._exit(0)
