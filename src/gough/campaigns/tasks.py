"""What is sent to a worker, and what comes back."""

import hashlib
import os
import pickle
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from gough.campaigns.plain import to_json
from gough.campaigns.versions import Version, place, this_version
from gough.core.errors import InputError
from gough.core.threads import one_blas_thread


class Work(NamedTuple):
    """What all tasks of a campaign share; a worker gets it once."""

    name: str
    """Digest of the campaign's configuration."""
    function: Callable[..., Any]
    shared: tuple[Any, ...]
    seed: int | None
    version: Version


class Call(NamedTuple):
    """One task: the arguments that follow the shared ones."""

    number: int
    key: str
    arguments: tuple[Any, ...]


class Outcome(NamedTuple):
    """What became of a task: the JSON of its result, an error, or neither if its worker was lost."""

    number: int
    text: str = ""
    error: BaseException | None = None
    lost: str = ""
    """How the worker ended."""
    was_waiting: bool = False
    """Whether a lost task had not begun: then it is not the cause of the worker's end."""
    is_final: bool = True
    """Whether the result may be recorded; not that of a task that was interrupted."""
    seconds: float = 0.0


class Unfinished(Exception):  # noqa: N818 - it is no error
    """Raised by a task that was interrupted but has a result: it is handed on and not recorded; the campaign ends.

    Examples:
        >>> Unfinished(3.5).result
        3.5
    """

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


def task_rng(seed: int, key: str) -> np.random.Generator:
    """The random generator of a task: it depends on the campaign's seed and the task's key, on nothing else.

    Examples:
        >>> float(task_rng(1, "a").random()) == float(task_rng(1, "a").random())
        True
    """
    words = np.frombuffer(hashlib.sha256(key.encode()).digest(), dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist()]))


def perform(work: Work, calls: Sequence[Call]) -> list[Outcome]:
    """The outcomes of some tasks, one after the other, with one thread of BLAS.

    Raises:
        InputError: this process has another version than the one that made the tasks.
    """
    refuse_other_version(work.version)
    with one_blas_thread():
        return [_outcome(work, call) for call in calls]


def perform_elsewhere(work: Work, calls: Sequence[Call]) -> list[Outcome]:
    """`perform` in a worker, whose BLAS has one thread from now on: other tasks may run in its other threads."""
    _one_thread_for_good()
    refuse_other_version(work.version)
    return [_sendable(_outcome(work, call)) for call in calls]


def refuse_other_version(wanted: Version) -> None:
    """Raise InputError, with the name of this process, unless it has that version."""
    difference = wanted.difference(this_version())
    if difference:
        raise InputError(
            f"worker {place()} is refused: it has {difference}. Results would not be comparable; install the same "
            "version there, and restart the worker"
        )


ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of a process whose BLAS has one thread from its start."""


@cache
def _one_thread_for_good() -> None:
    if all(os.environ.get(name) == value for name, value in ONE_THREAD.items()):
        return
    import scipy.linalg  # noqa: F401, PLC0415 - its BLAS must be loaded to be found
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - start-up time

    threadpool_limits(limits=1, user_api="blas")


def _outcome(work: Work, call: Call) -> Outcome:
    began = perf_counter()
    options = {} if work.seed is None else {"rng": task_rng(work.seed, call.key)}
    try:
        text, final = to_json(work.function(*work.shared, *call.arguments, **options)), True
    except Unfinished as interrupted:
        text, final = to_json(interrupted.result), False
    except Exception as error:  # noqa: BLE001 - whatever a task raises is raised where the campaign runs
        return Outcome(call.number, error=error, seconds=perf_counter() - began)
    return Outcome(call.number, text, is_final=final, seconds=perf_counter() - began)


def _sendable(outcome: Outcome) -> Outcome:
    """The outcome with an error that can be sent to another process."""
    error = outcome.error
    if error is None:
        return outcome
    lines = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was dumped a moment ago
        copy.add_note(f"In {place()}:\n{lines}")
    except Exception:  # noqa: BLE001 - any error of an unusual exception
        copy = RuntimeError(f"{type(error).__name__}: {error}\n{lines}")
    return outcome._replace(error=copy)
