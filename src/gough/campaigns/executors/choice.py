"""The executor that a caller or a command line asks for."""

from pathlib import Path
from typing import Any

from gough.campaigns.executors.dask_cluster import DaskCluster
from gough.campaigns.executors.futures import Futures
from gough.campaigns.executors.processes import Processes
from gough.campaigns.executors.protocol import Executor
from gough.campaigns.executors.slurm import SlurmJobs
from gough.campaigns.executors.this_process import ThisProcess
from gough.core.arguments import refused
from gough.core.errors import InputError, nearest, require

_SLURM = {"partition": str, "account": str, "time": int, "memory": float, "tasks": int, "folder": str}
_SUBMITIT = {"partition": "slurm_partition", "account": "slurm_account", "time": "timeout_min", "memory": "mem_gb"}


def executor_of(executor: Any = None, workers: int = 1) -> Executor:
    """An executor as given; one of `concurrent.futures` made fit; or one for so many workers of this machine.

    Raises:
        InputError: it is no executor.

    Examples:
        >>> type(executor_of()).__name__, executor_of(workers=3).slots
        ('ThisProcess', 3)
    """
    whole = isinstance(workers, int) and not isinstance(workers, bool) and workers >= 1
    require(whole, f"workers must be a whole number, at least 1, but is {workers!r}")
    if executor is None:
        return ThisProcess() if workers == 1 else Processes(workers)
    if isinstance(executor, type):
        raise refused("executor", executor, "an executor", "gough.campaigns.Processes(4)")
    if isinstance(executor, Executor):
        return executor
    if not callable(getattr(executor, "submit", None)):
        raise refused("executor", executor, "an executor", "gough.campaigns.Processes(4)")
    return Futures(executor)


def open_executor(workers: int | None = None, cluster: str = "") -> Executor:
    """The executor for the options --workers and --cluster of a command; a context manager.

    Args:
        workers: Number of processes, or of jobs at a time; one by default.
        cluster: Address or scheduler file of Dask; "dask" for a cluster of this machine; "slurm", or
            "slurm:partition=cpu,time=60,memory=4,tasks=20" with minutes, GB and tasks for each job.

    Raises:
        InputError: the cluster cannot be used.

    Examples:
        >>> open_executor(2).slots
        2
        >>> open_executor(cluster="slurm:partion=cpu")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: --cluster slurm has no setting 'partion'; did you mean 'partition'?
    """
    if not cluster:
        return executor_of(workers=workers or 1)
    if cluster == "slurm" or cluster.startswith("slurm:"):
        return _slurm(cluster.partition(":")[2], workers)
    if cluster == "dask":
        return DaskCluster(workers=workers or 2)
    known = "://" in cluster or cluster.endswith(".json")
    require(
        known,
        f"--cluster {cluster} is no cluster: give the address of a Dask scheduler, such as tcp://10.0.0.1:8786, its "
        'scheduler file (.json), "dask" or "slurm"',
    )
    require(
        workers is None, "--workers and the address of a cluster contradict each other: the cluster has its workers"
    )
    return DaskCluster(cluster)


def _slurm(text: str, workers: int | None) -> Executor:
    settings: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        require(name in _SLURM, f"--cluster slurm has no setting '{name}'{nearest(name, _SLURM)}")
        try:
            settings[name] = _SLURM[name](value)
        except ValueError as error:
            raise InputError(f"--cluster slurm: {name} must be a number, but is '{value}'") from error
    parameters = {_SUBMITIT[name]: settings[name] for name in _SUBMITIT if name in settings}
    folder = Path(settings.get("folder", "gough-slurm"))
    return SlurmJobs(folder, workers=workers or 16, tasks_per_job=settings.get("tasks"), parameters=parameters)
