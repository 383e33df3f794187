"""Compiled kernels: a C loop over samples, called through ctypes on row-major arrays.

Samples are shared among plain threads (ctypes releases the interpreter lock), not OpenMP: no second thread runtime is
loaded beside that of BLAS, a forked process is safe, and any C compiler will do.
"""

import ctypes
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.kernels.cache import compiled
from gough.kernels.compiler import CompilationError, find_compiler
from gough.kernels.csource import BATCH_SYMBOL

_STEPS_PER_THREAD = 8_000_000
"""About 2 ms of work; starting a thread takes 0.05 ms."""

_Pointers = ctypes.Array[ctypes.c_void_p]


@dataclass(frozen=True)
class NativeKernel:
    """A loaded shared object."""

    entry: Any
    n_steps: int

    @property
    def address(self) -> int:
        """Where the loop over samples begins in memory: for other compiled code that calls it."""
        return int(ctypes.cast(self.entry, ctypes.c_void_p).value or 0)

    def __call__(self, inputs: Sequence[Array], sizes: Sequence[int], n_samples: int) -> list[Array]:
        """The outputs (n_samples, size) for contiguous inputs (n_samples or 1, size)."""
        outputs = [np.empty((n_samples, size)) for size in sizes]
        strides = [0 if len(array) == 1 else array.shape[1] for array in inputs]
        steps = (ctypes.c_ssize_t * max(len(inputs), 1))(*strides)
        sources, targets = _pointers(inputs), _pointers(outputs)

        def run(bounds: tuple[int, int]) -> None:
            self.entry(bounds[0], bounds[1], sources, steps, targets)

        n_threads = n_samples * self.n_steps // _STEPS_PER_THREAD
        n_threads = 1 if n_threads <= 1 else min(available_threads(), n_threads)
        if n_threads == 1:
            run((0, n_samples))
        else:
            edges = [n_samples * k // n_threads for k in range(n_threads + 1)]
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(run, pairwise(edges)))
        return outputs


def available_threads() -> int:
    """Number of threads that a kernel may use: OMP_NUM_THREADS if set, else the processors this process may run on.

    Examples:
        >>> available_threads() >= 1
        True
    """
    chosen = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=256)
def load(source: str, n_steps: int) -> NativeKernel:
    """The kernel of this C text, from the cache or compiled now.

    Args:
        source: The C text.
        n_steps: Number of instructions.

    Raises:
        CompilationError: there is no compiler, it failed, or the cache cannot be trusted.
    """
    path = compiled(source, find_compiler())
    try:
        entry = getattr(ctypes.CDLL(str(path)), BATCH_SYMBOL)
    except (OSError, AttributeError) as error:
        raise CompilationError(f"the compiled kernel could not be loaded: {error}") from error
    pointers = ctypes.POINTER(ctypes.c_void_p)
    entry.argtypes = [ctypes.c_ssize_t, ctypes.c_ssize_t, pointers, ctypes.POINTER(ctypes.c_ssize_t), pointers]
    entry.restype = None
    return NativeKernel(entry, n_steps)


def _pointers(arrays: Sequence[Array]) -> _Pointers:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.__array_interface__["data"][0] for array in arrays))
