"""The protocol of executors."""

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

from gough.campaigns.tasks import Call, Outcome, Work


@runtime_checkable
class Executor(Protocol):
    """Runs batches of tasks somewhere. One campaign uses it at a time; several may, one after the other.

    It decides neither the order of tasks nor their seeds, and records nothing.
    """

    @property
    def slots(self) -> int:
        """How many batches can run at the same time."""

    @property
    def batch_seconds(self) -> float:
        """How long a batch should take, so that sending it costs little."""

    def first_batch(self, tasks: int) -> int:
        """Number of tasks in a batch while nobody knows yet how long they take."""

    def start(self, work: Work) -> None:
        """Prepare for the tasks of a campaign; workers with another version are refused by name."""

    def submit(self, batches: Sequence[Sequence[Call]]) -> None:
        """Begin with these batches."""

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes that have arrived; waits so long for the first."""

    def withdraw(self) -> set[int]:
        """Take back tasks that have not begun, where that is possible: their numbers."""

    def abandon(self) -> None:
        """End all tasks at once."""

    def close(self) -> None:
        """End the workers that this executor has started."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...
