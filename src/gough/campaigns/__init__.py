"""Campaigns: many tasks, each computed once, in this process, in several, or on a cluster of Dask or Slurm.

A result is a line of a ledger, a file: an interrupted campaign resumes from it. Results are the same bits wherever
tasks run.
"""

from gough.campaigns.campaign import Campaign, Interrupted
from gough.campaigns.digests import digest, file_digest
from gough.campaigns.executors import (
    DaskCluster,
    Executor,
    Futures,
    Processes,
    SlurmJobs,
    ThisProcess,
    executor_of,
    open_executor,
)
from gough.campaigns.ledger import LEDGERS, Ledger
from gough.campaigns.tasks import Unfinished, task_rng
from gough.campaigns.versions import Version, sources, this_version

__all__ = [
    "LEDGERS",
    "Campaign",
    "DaskCluster",
    "Executor",
    "Futures",
    "Interrupted",
    "Ledger",
    "Processes",
    "SlurmJobs",
    "ThisProcess",
    "Unfinished",
    "Version",
    "digest",
    "executor_of",
    "file_digest",
    "open_executor",
    "sources",
    "task_rng",
    "this_version",
]
