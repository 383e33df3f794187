"""Worker processes of commands that share their work among several."""

import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

from gough.core.errors import InputError


@contextmanager
def worker_pool(count: int, advice: str) -> Iterator[Executor | None]:
    """A pool of worker processes; None for one worker, which is this process.

    Ctrl-C ends the workers at once, without a word of theirs. If one ends by itself, `advice` says what to do.
    """
    if count == 1:
        yield None
        return
    with ProcessPoolExecutor(count, get_context("spawn"), _end_when_interrupted) as executor:
        try:
            yield executor
        except BrokenProcessPool as error:
            raise InputError(f"a worker process ended unexpectedly, possibly for lack of memory: {advice}") from error
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _end_when_interrupted() -> None:
    """Let Ctrl-C end a worker at once: workers have nothing to save."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
