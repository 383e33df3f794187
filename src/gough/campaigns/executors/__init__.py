"""Executors: where the tasks of a campaign run."""

from gough.campaigns.executors.choice import executor_of, open_executor
from gough.campaigns.executors.dask_cluster import DaskCluster
from gough.campaigns.executors.futures import Futures
from gough.campaigns.executors.processes import Processes
from gough.campaigns.executors.protocol import Executor
from gough.campaigns.executors.slurm import SlurmJobs
from gough.campaigns.executors.this_process import ThisProcess

__all__ = [
    "DaskCluster",
    "Executor",
    "Futures",
    "Processes",
    "SlurmJobs",
    "ThisProcess",
    "executor_of",
    "open_executor",
]
