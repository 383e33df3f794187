"""Tasks on a cluster of Dask: a scheduler that runs somewhere, or workers of this machine."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Self

from gough.campaigns.tasks import Call, Outcome, Work, perform_elsewhere
from gough.campaigns.versions import Version
from gough.core.errors import InputError, require

_CONNECT = 10.0
"""Seconds until a scheduler must answer."""
_WORKERS = 60.0
"""Seconds until it must have a worker."""
_COUNT = 1.0
"""Seconds after which workers are counted again."""
_GONE = 3.0
"""Seconds without a connection after which the scheduler counts as gone."""
_VERSION = "tuple(__import__('gough.campaigns.versions', fromlist=['versions']).this_version())"
"""What workers evaluate to say which version they have: text, since a worker with another version may not know more."""


class DaskCluster:
    """Runs tasks on the workers of a Dask scheduler; without an address, on a cluster of processes on this machine.

    A worker that is lost costs nothing but the time of its tasks, which run again. If the scheduler is lost, the
    campaign ends with a message; what the ledger has is not computed again.

    Args:
        address: Such as "tcp://10.0.0.1:8786", or the file that `dask scheduler --scheduler-file` writes.
        workers: Number of processes, without an address.

    Raises:
        InputError: dask.distributed is not installed, there is no scheduler, it has no workers, or a worker has another
            version of gough, Python, NumPy or SciPy; the message names it.
    """

    batch_seconds = 0.2

    def __init__(self, address: str = "", *, workers: int = 2) -> None:
        try:
            import distributed  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise InputError("dask.distributed is not installed: pip install 'gough[cluster]'") from error
        self._own: Any = None
        self._address = address
        if not address:
            cluster: Any = distributed.LocalCluster
            self._own = cluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            )
        try:
            self._client = _client(self._own or address)
        except BaseException:
            if self._own is not None:
                self._own.close()
            raise
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._pending: dict[str, tuple[Any, Sequence[Call]]] = {}
        self._work: Any = None
        self._seen, self._count = monotonic(), 0
        self._slots, self._counted = 1, -_COUNT

    @property
    def slots(self) -> int:
        """Threads of all workers; asked for once a second, since the scheduler has to answer."""
        if monotonic() - self._counted > _COUNT and self._is_connected():
            self._slots = max(1, sum(self._client.nthreads().values()))
            self._counted = monotonic()
        return self._slots

    def first_batch(self, tasks: int) -> int:  # noqa: ARG002 - the protocol's
        """One task."""
        return 1

    def start(self, work: Work) -> None:
        """Compare versions, and hand over what tasks share."""
        try:
            self._client.wait_for_workers(1, timeout=_WORKERS)
        except TimeoutError as error:
            raise InputError(
                f"the Dask scheduler {self._where} has no workers: start some with dask worker {self._where}"
            ) from error
        self._refuse_others(work.version)
        self._work = self._client.submit(_same, work, key=f"gough-work-{work.name}-{id(self)}")

    def _refuse_others(self, wanted: Version) -> None:
        for worker, found in self._client.run(eval, _VERSION, on_error="return").items():
            if isinstance(found, BaseException):
                raise InputError(
                    f"worker {worker} is refused: it has no gough that runs campaigns ({type(found).__name__}: {found}"
                    f"). Install gough {wanted.gough} there, and restart the worker"
                )
            difference = wanted.difference(found)
            require(
                not difference,
                f"worker {worker} is refused: it has {difference}. Results would not be comparable; install the same "
                "version there, and restart the worker",
            )

    def submit(self, batches: Sequence[Sequence[Call]]) -> None:
        """Hand batches to the scheduler."""
        for batch in batches:
            self._count += 1
            key = f"gough-{id(self)}-{self._count}"
            future = self._client.submit(perform_elsewhere, self._work, list(batch), key=key, pure=False, retries=0)
            self._pending[key] = (future, batch)
            future.add_done_callback(self._done.put)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes that have arrived."""
        self._require_scheduler()
        finished = []
        with suppress(Empty):
            finished.append(self._done.get(timeout=seconds))
            while True:
                finished.append(self._done.get_nowait())
        return [outcome for future in finished for outcome in self._outcomes(future)]

    def _outcomes(self, future: Any) -> Sequence[Outcome]:
        known = self._pending.pop(future.key, None)
        if known is None:
            return ()
        batch = known[1]
        try:
            outcomes: Sequence[Outcome] = future.result(timeout=_CONNECT)
        except InputError:
            raise  # a worker that joined later has another version
        except Exception as error:
            if not self._is_connected():
                raise self._gone() from error
            return [Outcome(call.number, lost=f"a worker of Dask was lost ({_first(error)})") for call in batch]
        return outcomes

    def _is_connected(self) -> bool:
        comm = getattr(self._client, "scheduler_comm", None)
        return self._client.status == "running" and comm is not None and not comm.comm.closed()

    def _require_scheduler(self) -> None:
        if self._is_connected():
            self._seen = monotonic()
        elif monotonic() - self._seen > _GONE:
            raise self._gone()

    def _gone(self) -> InputError:
        return InputError(
            f"the connection to the Dask scheduler {self._where} is lost. Results so far are kept; start a scheduler "
            "and workers, and run the same command again to resume"
        )

    @property
    def _where(self) -> str:
        return self._address or "on this machine"

    def withdraw(self) -> set[int]:
        """Nothing: no more batches are sent than there are workers, and short ones."""
        return set()

    def abandon(self) -> None:
        """Cancel all tasks; those that run are finished by their workers, and nobody waits for them."""
        futures = [future for future, _ in self._pending.values()]
        self._pending.clear()
        if self._is_connected():
            with suppress(Exception):  # the scheduler may go at the same moment
                self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._work = None
        with suppress(Exception):  # a scheduler that is gone cannot be left in good order
            self._client.close(timeout=2 if self._is_connected() else 0)
        if self._own is not None:
            self._own.close(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _client(at: Any) -> Any:
    import distributed  # noqa: PLC0415 - an extra

    client: Any = distributed.Client
    if isinstance(at, str) and at.endswith(".json"):
        require(Path(at).is_file(), f"there is no file {at}: give the one that dask scheduler --scheduler-file writes")
    try:
        if isinstance(at, str) and at.endswith(".json"):
            return client(scheduler_file=at, timeout=_CONNECT, set_as_default=False)
        return client(at, timeout=_CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {at} ({_first(error)}): start one with dask scheduler, and give the address "
            "that it prints, such as tcp://10.0.0.1:8786"
        ) from error


def _first(error: BaseException) -> str:
    """The first line of an error."""
    return (str(error) or type(error).__name__).splitlines()[0]


def _same(work: Work) -> Work:
    """The work itself, as the result of a task: Dask sends it to each worker once, and makes it anew if it is lost."""
    return work
