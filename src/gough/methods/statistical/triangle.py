"""[W y] reduced to a triangle by Householder QR, row block by row block: a million rows in the memory of one block."""

from collections.abc import Iterator

import numpy as np

from gough.core.arrays import Array
from gough.methods.statistical.whitening import Whitening
from gough.problem import LinearProblem


def row_blocks(problem: LinearProblem, whiten: Whitening) -> Iterator[slice]:
    """The problem's row blocks, or all rows in one where the whitening needs that."""
    return iter([slice(0, problem.n_rows)]) if whiten.needs_all_rows else problem.blocks()


def triangle(problem: LinearProblem, whiten: Whitening) -> Array:
    """The (p+1) × (p+1) upper triangle R with RᵀR = [W y]ᵀ Σ⁻¹ [W y], without forming that product.

    Its last diagonal entry is the root of the residual sum of squares. Each block is stacked below the triangle of
    those before it and factored again [GVL13, §5.2] [DGHL12]; Householder QR is backward stable column by
    column, so badly scaled unknowns do no harm.
    """
    from scipy.linalg.lapack import dgeqrf, dgeqrf_lwork  # noqa: PLC0415 - start-up time

    k = len(problem.unknowns) + 1
    R = np.zeros((k, k))
    work = np.empty((0, k))
    for rows in row_blocks(problem, whiten):
        height = k + rows.stop - rows.start
        if len(work) != height:
            work = np.empty((height, k), order="F")
            lwork = int(dgeqrf_lwork(height, k)[0])
        work[:k] = R
        work[k:, :-1] = whiten(rows, problem.W[rows])
        work[k:, -1] = whiten(rows, problem.y[rows])
        factored, _, _, info = dgeqrf(work, lwork=lwork, overwrite_a=True)
        assert info == 0
        R = np.triu(factored[:k])
    return R
