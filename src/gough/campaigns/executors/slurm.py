"""Tasks as jobs of Slurm, through submitit and a folder that all machines share."""

import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

from gough.campaigns.tasks import Call, Outcome, Work, perform_elsewhere
from gough.core.errors import InputError, require

_POLL = 0.2
"""Seconds between two looks at the folder."""


class SlurmJobs:
    """Runs batches of tasks as jobs of Slurm. Jobs need no network: tasks and results are files in a shared folder.

    A job that fails, is preempted or runs out of time is lost, and its tasks are submitted again.

    Args:
        folder: For the files of jobs, on a file system that the machines of the cluster share.
        workers: Largest number of jobs at the same time.
        tasks_per_job: Tasks in a job; by default such that each of `workers` jobs has about four parts to do.
        parameters: Of submitit, such as {"slurm_partition": "cpu", "timeout_min": 60, "mem_gb": 4}.
        cluster: "slurm"; "local" runs jobs as processes of this machine, to try it out.

    Raises:
        InputError: submitit is not installed, or there is no Slurm.
    """

    batch_seconds = 0.0

    def __init__(
        self,
        folder: str | Path,
        *,
        workers: int = 16,
        tasks_per_job: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        cluster: str = "slurm",
    ) -> None:
        require(workers >= 1, f"workers must be at least 1, but is {workers}")
        require(
            tasks_per_job is None or tasks_per_job >= 1, f"tasks_per_job must be at least 1, but is {tasks_per_job}"
        )
        try:
            import submitit  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise InputError("submitit is not installed: pip install 'gough[cluster]'") from error
        self.slots, self._tasks_per_job = workers, tasks_per_job
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            self._executor = submitit.AutoExecutor(self._folder / "%j", cluster=cluster)
            options = {"name": "gough", "cpus_per_task": 1, "timeout_min": 60, **(parameters or {})}
            self._executor.update_parameters(**options)
        except (RuntimeError, ValueError, TypeError, NameError) as error:
            raise InputError(f"jobs cannot be submitted to Slurm: {error}") from error
        self._jobs: list[tuple[Any, Sequence[Call]]] = []
        self._work: Path | None = None

    def first_batch(self, tasks: int) -> int:
        """The tasks of a job."""
        return self._tasks_per_job or max(1, -(-tasks // (4 * self.slots)))

    def start(self, work: Work) -> None:
        """Write what tasks share into the folder, once."""
        import cloudpickle  # noqa: PLC0415 - an extra

        self._work = self._folder / f"work-{work.name}.pickle"
        self._work.write_bytes(cloudpickle.dumps(work))  # with functions of a script, which jobs cannot import

    def submit(self, batches: Sequence[Sequence[Call]]) -> None:
        """Submit an array of jobs."""
        import submitit  # noqa: PLC0415 - an extra

        jobs = []
        try:
            with self._executor.batch():
                jobs += [self._executor.submit(_perform_file, str(self._work), list(batch)) for batch in batches]
        except submitit.core.utils.FailedJobError as error:
            raise InputError(f"Slurm refused a job: {error}") from error
        self._jobs += zip(jobs, batches, strict=True)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes of jobs that have ended."""
        until = monotonic() + seconds
        while True:
            ended = [(job, batch) for job, batch in self._jobs if job.done()]
            if ended or monotonic() > until:
                break
            sleep(_POLL)
        self._jobs = [entry for entry in self._jobs if entry not in ended]
        return [outcome for job, batch in ended for outcome in _outcomes(job, batch)]

    def withdraw(self) -> set[int]:
        """Cancel jobs that wait in the queue."""
        waiting = [entry for entry in self._jobs if entry[0].state in ("PENDING", "REQUEUED")]
        for job, _ in waiting:
            job.cancel()
        self._jobs = [entry for entry in self._jobs if entry not in waiting]
        return {call.number for _, batch in waiting for call in batch}

    def abandon(self) -> None:
        """Cancel all jobs."""
        for job, _ in self._jobs:
            with suppress(Exception):  # it may have ended meanwhile
                job.cancel(check=False)
        self._jobs = []

    def close(self) -> None:
        """Remove what tasks shared; logs of jobs stay in the folder."""
        if self._work is not None:
            self._work.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _perform_file(work: str, calls: Sequence[Call]) -> list[Outcome]:
    """The outcomes of some tasks; what they share is read from a file."""
    return perform_elsewhere(pickle.loads(Path(work).read_bytes()), calls)  # noqa: S301 - written by `start`


def _outcomes(job: Any, batch: Sequence[Call]) -> Sequence[Outcome]:
    import submitit  # noqa: PLC0415 - an extra

    try:
        outcomes: Sequence[Outcome] = job.result()
    except submitit.core.utils.UncompletedJobError as error:
        text = str(error)
        if "is refused: it has" in text:
            raise InputError(next(line for line in text.splitlines() if "is refused: it has" in line)) from error
        lines = (job.stderr() or text).strip().splitlines() or ["no reason"]
        return [Outcome(call.number, lost=f"job {job.job_id} failed ({lines[-1].strip()})") for call in batch]
    except Exception as error:  # noqa: BLE001 - results of a job that was killed while it wrote them
        return [Outcome(call.number, lost=f"job {job.job_id} failed ({type(error).__name__})") for call in batch]
    return outcomes
