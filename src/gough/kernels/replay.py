"""Replay of a tape as vectorised NumPy: each instruction once per block of samples, never once per sample."""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array
from gough.kernels.tape import Tape

_BLOCK_BYTES = 1 << 20
"""The work space of a block should stay in the second-level cache."""
_BLOCK_LEAST, _BLOCK_MOST = 256, 4096
"""Below the first, the cost of a NumPy call dominates; beyond the second, nothing is gained."""


def replay(tape: Tape, inputs: Sequence[Array], sizes: Sequence[int], n_samples: int) -> list[Array]:
    """The outputs (n_samples, size) of a tape for inputs (n_samples or 1, size).

    Values outside an operation's domain become NaN, as in C.
    """
    results = [np.empty((n_samples, size)) for size in sizes]
    if n_samples == 0:
        return results
    block = int(np.clip(_BLOCK_BYTES // (8 * tape.n_slots), _BLOCK_LEAST, _BLOCK_MOST))
    block = min(block, n_samples)
    sources = [np.zeros((array.shape[1], block)) for array in inputs]
    targets = [np.empty((size, block)) for size in sizes]
    calls = tape.calls
    work = np.empty((tape.n_slots, block))  # slots are reused as the tape reuses them
    places = [*work, *(sources[i][j] for i, j in calls.inputs), *(targets[i][j] for i, j in calls.outputs)]
    places += map(np.float64, calls.constants)
    places += [*np.empty((calls.n_kept, block))]
    at = places.__getitem__
    for array, source in zip(inputs, sources, strict=True):
        if len(array) == 1:
            source[:] = array.T
    with np.errstate(all="ignore"):
        for start in range(0, n_samples, block):
            n = min(block, n_samples - start)
            for array, source in zip(inputs, sources, strict=True):
                if len(array) != 1:
                    source[:, :n] = array[start : start + n].T
            for function, where in calls.steps:
                function(*map(at, where))
            for result, target in zip(results, targets, strict=True):
                result[start : start + n] = target[:, :n].T
    return results
