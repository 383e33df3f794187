"""Rows of a problem as time series on the grid (sample, group), walked through in blocks that know their past."""

from collections.abc import Callable, Iterator

import numpy as np

from gough.core.arrays import Array
from gough.methods.triangle import row_blocks
from gough.methods.whitening import Whitening
from gough.problem import LinearProblem


def with_past(
    problem: LinearProblem, whiten: Whitening, rows_of: Callable[[slice], Array], past: int, *, flush: bool = False
) -> Iterator[Array]:
    """Blocks (past + samples, groups, columns) of what `rows_of` gives; rows that are missing are zero.

    The first `past` entries of a block are the samples before it, zero before the recording began: a causal sum over
    at most `past` lags then needs nothing but the block. With `flush` a last block of `past` zeros follows, so that
    a filter rings out.
    """
    n = len(problem.groups)
    history: Array | None = None
    next_sample = 0
    for rows in row_blocks(problem, whiten):
        values = rows_of(rows)
        values = values.reshape(len(values), -1)
        positions = problem.groups.positions(rows)
        first, last = int(positions[0]) // n, int(positions[-1]) // n
        skipped = min(first - next_sample, past)
        grid = np.zeros((past + last - first + 1, n, values.shape[1]))
        if history is not None and skipped < past:
            grid[: past - skipped] = history[skipped:]
        grid.reshape(-1, values.shape[1])[(past - first) * n + positions] = values
        yield grid
        history, next_sample = grid[len(grid) - past :], last + 1
    if flush and past and history is not None:
        yield np.concatenate([history, np.zeros_like(history)])


def lagged_sums(block: Array, past: int) -> Array:
    """Σ_k x_k x_{k−l} for l = 0 … past over the block's own samples k: (columns …, past + 1), by FFT."""
    own = block.copy()
    own[:past] = 0
    size = fast_length(len(block) + past)
    spectrum = np.fft.rfft(own, size, axis=0) * np.conj(np.fft.rfft(block, size, axis=0))
    return np.moveaxis(np.fft.irfft(spectrum, size, axis=0)[: past + 1], 0, -1)


def filtered(block: Array, taps: Array) -> Array:
    """z_k = Σ_l taps[l] x_{k−l} over the block's own samples, each group by its own taps (past + 1, n)."""
    past = len(taps) - 1
    size = fast_length(len(block))
    response = np.fft.rfft(taps, size, axis=0)[:, :, None]
    return np.fft.irfft(response * np.fft.rfft(block, size, axis=0), size, axis=0)[past : len(block)]


def fast_length(n: int) -> int:
    """The next length ≥ n that the FFT likes."""
    from scipy.fft import next_fast_len  # noqa: PLC0415 - start-up time

    return int(next_fast_len(n, real=True))
