"""Campaigns of commands: where tasks run, and what is printed if they are interrupted."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gough.campaigns import Executor, Interrupted, open_executor
from gough.cli.terminal import console


@contextmanager
def running(workers: int | None, cluster: str, folder: Path | None) -> Iterator[Executor]:
    """The executor that the options ask for; if the campaign is interrupted, print how to resume it."""
    with open_executor(workers, cluster) as executor:
        try:
            yield executor
        except Interrupted as stopped:
            if folder is not None:
                words = (
                    f"{stopped.done} of {stopped.of} tasks are done; their results are in {folder}. "
                    "Run the same command again to resume."
                )
                console(stderr=True).print(words, soft_wrap=True)
            raise
