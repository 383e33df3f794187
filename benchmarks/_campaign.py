"""Options and progress of benchmarks that are campaigns: they resume from their ledger, here or on a cluster."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from gough.campaigns import Campaign, open_executor
from gough.core.errors import InputError
from gough.core.progress import Progress


def add_options(parser: argparse.ArgumentParser, ledger: str) -> None:
    parser.add_argument("--workers", "--jobs", type=int, help="processes, or jobs of Slurm at a time")
    parser.add_argument("--cluster", default="", help="address of a Dask scheduler, 'dask' or 'slurm:partition=…'")
    parser.add_argument(
        "--ledger", type=Path, default=Path(ledger), help="file or folder of results so far; the same command resumes"
    )


def results_of(campaign: Campaign, given: argparse.Namespace) -> dict[str, Any]:
    """The results of all tasks; ends with exit code 2 if the ledger is another's, with 130 after Ctrl-C."""
    began: list[tuple[float, int]] = []

    def show(step: Progress) -> None:
        began[:] = began or [(time.monotonic(), step.done)]
        spent, done = time.monotonic() - began[0][0], step.done - began[0][1]
        left = f", {spent / done * (step.of - step.done) / 60:.1f} min left" if done else ""
        print(f"{step.done} of {step.of}{left} {step.stage}", end="\r", file=sys.stderr, flush=True)

    try:
        with open_executor(given.workers, given.cluster) as executor:
            return campaign.run(given.ledger, executor=executor, on_progress=show)
    except InputError as error:
        print(f"\n{error}", file=sys.stderr)
        raise SystemExit(2) from error
    except KeyboardInterrupt as stopped:
        print(f"\n{stopped}", file=sys.stderr)
        raise SystemExit(130) from stopped
