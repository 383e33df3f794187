"""Replay of a tape as vectorised NumPy: each instruction once per block of samples, never once per sample."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.kernels.operations import OPERATIONS
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
    calls = _bind(tape, sources, targets)
    for array, source in zip(inputs, sources, strict=True):
        if len(array) == 1:
            source[:] = array.T
    with np.errstate(all="ignore"):
        for start in range(0, n_samples, block):
            n = min(block, n_samples - start)
            for array, source in zip(inputs, sources, strict=True):
                if len(array) != 1:
                    source[:, :n] = array[start : start + n].T
            for function, arguments, out in calls:
                function(*arguments, out=out)
            for result, target in zip(results, targets, strict=True):
                result[start : start + n] = target[:, :n].T
    return results


_Call = tuple[Callable[..., Any], tuple[Any, ...], Array]


def _bind(tape: Tape, sources: Sequence[Array], targets: Sequence[Array]) -> list[_Call]:
    """The tape as calls on fixed arrays. Work slots are rows of one array, reused as the tape reuses them."""
    block = (sources or targets)[0].shape[1] if (sources or targets) else 1
    work = np.empty((tape.n_slots, block))
    calls: list[_Call] = []
    for step in tape.steps:
        match step.operation:
            case "input":
                calls.append((np.positive, (sources[step.reads[0]][step.reads[1]],), work[step.writes[0]]))
            case "output":
                calls.append((np.positive, (work[step.reads[0]],), targets[step.writes[0]][step.writes[1]]))
            case "const":
                calls.append((np.positive, (np.float64(step.constant),), work[step.writes[0]]))
            case operation:
                arguments = tuple(work[slot] for slot in step.reads)
                calls.append((OPERATIONS[operation].numpy, arguments, work[step.writes[0]]))
    return calls
