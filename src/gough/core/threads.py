"""Limits on the threads of BLAS."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_LOCK = Lock()
_inside: list[Any] = []
"""The limits in force, one of each block that is being run: only the first sets the limit, and the last lifts it."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Restrict BLAS to the calling thread; a context manager, also usable as a decorator.

    On tall, thin blocks and on matrices of a few dozen rows its threads cost more than they bring, and a hundred times
    more where other processes compete for the cores.

    Examples:
        >>> import numpy as np
        >>> with one_blas_thread():
        ...     float(np.linalg.det(np.eye(3)))
        1.0
    """
    with _LOCK:
        _inside.append(_inside[0] if _inside else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _LOCK:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401, PLC0415 - its BLAS must be loaded to be found
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - start-up time

    return ThreadpoolController()
