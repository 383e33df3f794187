"""Rows of a problem as time series on the grid (sample, group), walked through in blocks that know their past."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.methods.statistical.triangle import row_blocks
from gough.methods.statistical.whitening import Whitening
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
        if history is not None and first - next_sample > past:
            if past:
                yield _ringing(history)
            history = None
        begin = first if history is None else next_sample  # samples without any row ring like all others
        grid = np.zeros((past + last - begin + 1, n, values.shape[1]))
        if history is not None:
            grid[:past] = history
        grid.reshape(-1, values.shape[1])[(past - begin) * n + positions] = values
        yield grid
        history, next_sample = grid[len(grid) - past :], last + 1
    if flush and past and history is not None:
        yield _ringing(history)


def _ringing(history: Array) -> Array:
    """A block of zeros after its past."""
    return np.concatenate([history, np.zeros_like(history)])


class LaggedSums:
    """Σ_k x_k x_{k−l} for l = 0 … past, added up over blocks; the spectra are added, and transformed back once."""

    def __init__(self, past: int) -> None:
        self._past = past
        self._spectra: dict[int, npt.NDArray[np.complex128]] = {}

    def add(self, block: Array) -> None:
        """Count the block's own samples: `block` (past + samples, columns) begins with its past."""
        size = fast_length(len(block) + self._past)
        own = np.fft.rfft(block[self._past :], size, axis=0)
        spectrum = own * np.conj(np.fft.rfft(block, size, axis=0))
        self._spectra[size] = self._spectra[size] + spectrum if size in self._spectra else spectrum

    def total(self) -> Array:
        """(columns, past + 1)."""
        # own samples begin at 0 and not at `past`, so that lag l stands at l − past
        lags = np.arange(-self._past, 1)
        return np.sum([np.fft.irfft(S, size, axis=0)[lags] for size, S in self._spectra.items()], axis=0).T


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
