"""Tasks one after the other in this process."""

from collections import deque
from collections.abc import Sequence
from typing import Self

from gough.campaigns.tasks import Call, Outcome, Work, perform


class ThisProcess:
    """Runs tasks in this process, one after the other.

    Args:
        interrupts_tasks: Whether Ctrl-C is raised inside the running task; otherwise that task is finished first.

    Examples:
        >>> ThisProcess().slots
        1
    """

    slots = 1
    batch_seconds = 0.0

    def __init__(self, *, interrupts_tasks: bool = False) -> None:
        self.interrupts_tasks = interrupts_tasks
        self._calls: deque[Call] = deque()
        self._work: Work | None = None

    def first_batch(self, tasks: int) -> int:  # noqa: ARG002 - the protocol's
        """One task."""
        return 1

    def start(self, work: Work) -> None:
        """Take up a campaign."""
        self._calls.clear()
        self._work = work

    def submit(self, batches: Sequence[Sequence[Call]]) -> None:
        """Begin with these batches."""
        for batch in batches:
            self._calls.extend(batch)

    def wait(self, seconds: float) -> Sequence[Outcome]:  # noqa: ARG002 - the protocol's
        """Run the next task."""
        assert self._work is not None
        return perform(self._work, [self._calls.popleft()]) if self._calls else ()

    def withdraw(self) -> set[int]:
        """Take back tasks that have not begun."""
        numbers = {call.number for call in self._calls}
        self._calls.clear()
        return numbers

    def abandon(self) -> None:
        """Forget all tasks."""
        self._calls.clear()

    def close(self) -> None:
        """Forget the campaign."""
        self._work = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
