"""Tasks in any executor of `concurrent.futures`."""

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, Self

from gough.campaigns.tasks import Call, Outcome, Work, perform_elsewhere
from gough.core.errors import InputError


class Futures:
    """Runs tasks in an executor of `concurrent.futures`, or one with the same `submit`; its owner closes it.

    Examples:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(3) as threads:
        ...     Futures(threads).slots
        3
    """

    batch_seconds = 0.05

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self.slots = int(getattr(executor, "_max_workers", 0) or 4)
        self._pending: dict[Future[list[Outcome]], Sequence[Call]] = {}
        self._work: Work | None = None

    def first_batch(self, tasks: int) -> int:  # noqa: ARG002 - the protocol's
        """One task."""
        return 1

    def start(self, work: Work) -> None:
        """Take up a campaign."""
        self._work = work

    def submit(self, batches: Sequence[Sequence[Call]]) -> None:
        """Hand batches on."""
        assert self._work is not None
        for batch in batches:
            self._pending[self._executor.submit(perform_elsewhere, self._work, list(batch))] = batch

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes that have arrived."""
        outcomes: list[Outcome] = []
        for future in wait(self._pending, seconds, FIRST_COMPLETED).done:
            del self._pending[future]
            try:
                outcomes += future.result()
            except BrokenExecutor as error:
                raise InputError(
                    "a worker process ended unexpectedly, possibly for lack of memory: run the same command again to "
                    "resume, with fewer workers"
                ) from error
        return outcomes

    def withdraw(self) -> set[int]:
        """Take back batches that have not begun."""
        taken = [future for future in self._pending if future.cancel()]
        return {call.number for future in taken for call in self._pending.pop(future)}

    def abandon(self) -> None:
        """Cancel what has not begun; running tasks go on, and nobody waits for them."""
        for future in self._pending:
            future.cancel()
        self._pending.clear()

    def close(self) -> None:
        """Nothing: the executor belongs to somebody else."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
