"""Whitening: rows multiplied by Σ^(-1/2), block by block, never as an N × N matrix; QR of whitened rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import AssumptionError
from gough.noise import Gaussian
from gough.problem import Groups, LinearProblem

_MANY = 32
"""Samples from which on …"""
_SMALL = 12
"""… roots of matrices up to this size are found by Jacobi's rotations, many at once."""

_PANEL = 8
"""Columns that are eliminated together."""


class Whitening(Protocol):
    """Multiplies rows by a square root of the inverse covariance."""

    @property
    def needs_all_rows(self) -> bool: ...

    def __call__(self, rows: slice, block: Array) -> Array:
        """`block` (the given rows of a matrix or vector), whitened."""
        ...


@dataclass(frozen=True, eq=False)
class Unweighted:
    """Every row as it is."""

    needs_all_rows = False

    def __call__(self, rows: slice, block: Array) -> Array:  # noqa: ARG002 - the protocol's signature
        return block


@dataclass(frozen=True, eq=False)
class ByRow:
    """Each row divided by its own standard deviation."""

    sigma: Array
    needs_all_rows = False

    def __call__(self, rows: slice, block: Array) -> Array:
        sigma = self.sigma if self.sigma.ndim == 0 else self.sigma[rows]
        return (block.T / sigma).T


@dataclass(frozen=True, eq=False)
class ByGroup:
    """Each row divided by the standard deviation of its group."""

    sigma: Array
    groups: Groups
    needs_all_rows = False

    def __call__(self, rows: slice, block: Array) -> Array:
        return (block.T / self.of_rows(rows)).T

    def of_rows(self, rows: slice) -> Array:
        """The standard deviation of each row."""
        return self.sigma[self.groups.positions(rows) % len(self.groups)]


@dataclass(frozen=True, eq=False)
class BySample:
    """The rows of each sample multiplied by K^(-1/2) D⁻¹, where D K D is the sample's covariance, D the deviations.

    The symmetric root keeps a whitened row nearest to its own group and treats all groups alike; a Cholesky factor
    would prefer the first. Where a sample lacks some of its rows, the covariance is that of those it has.
    """

    covariance: Array
    groups: Groups
    needs_all_rows = False

    def __call__(self, rows: slice, block: Array) -> Array:
        n = len(self.groups)
        columns = block.reshape(len(block), -1)
        if self.groups.position is None and rows.start % n == 0 and len(block) % n == 0:
            first = rows.start // n
            roots = self._complete if self.covariance.ndim == 2 else self._complete[first : first + len(block) // n]
            return np.matmul(roots, columns.reshape(-1, n, columns.shape[1])).reshape(block.shape)
        positions = self.groups.positions(rows)
        samples, count = np.unique(positions // n, return_counts=True)
        if len(samples) * n == len(positions):
            roots = self._complete if self.covariance.ndim == 2 else self._complete[samples]
            whitened = np.matmul(roots, columns.reshape(len(samples), n, -1))
            return whitened.reshape(block.shape)
        result = np.empty_like(columns)
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        pattern = np.bincount(np.repeat(np.arange(len(samples)), count), weights=2.0 ** (positions % n))
        for bits in np.unique(pattern):  # at most 2ⁿ ways to lack rows, in practice a few
            alike = np.flatnonzero(pattern == bits)
            present = positions[first[alike[0]] + np.arange(count[alike[0]])] % n
            index = first[alike, None] + np.arange(len(present))
            result[index] = np.matmul(self._roots(samples[alike], present), columns[index])
        return result.reshape(block.shape)

    @cached_property
    def _complete(self) -> Array:
        """The roots of all samples that lack nothing, found once: as large as the covariance."""
        return self._roots(np.arange(len(self.covariance)), np.arange(len(self.groups)))

    def _roots(self, samples: Integers, present: Integers) -> Array:
        C = self.covariance if self.covariance.ndim == 2 else self.covariance[samples]
        return inverse_root(C[..., present[:, None], present])


def inverse_root(C: Array) -> Array:
    """K^(-1/2) D⁻¹ of covariances C = D K D (…, n, n): the symmetric root of the correlation treats all rows alike."""
    deviations = np.sqrt(np.diagonal(C, axis1=-2, axis2=-1))
    K = C / (deviations[..., None] * deviations[..., None, :])
    if K.ndim == 3 and len(K) >= _MANY and K.shape[1] <= _SMALL:
        from gough.methods.statistical import sample_roots  # noqa: PLC0415 - numba

        return np.asarray(sample_roots.inverse_roots(K) / deviations[..., None, :])
    values, vectors = np.linalg.eigh(K)
    root: Array = (vectors / np.sqrt(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return root / deviations[..., None, :]


@dataclass(frozen=True, eq=False)
class Full:
    """All rows at once, multiplied by L⁻¹, where L Lᵀ is their covariance."""

    L: Array
    needs_all_rows = True

    def __call__(self, rows: slice, block: Array) -> Array:
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - start-up time

        assert rows.start == 0
        assert len(block) == len(self.L)
        result: Array = solve_triangular(self.L, block, lower=True)
        return result


def stated(problem: LinearProblem, method: str) -> Whitening:
    """The whitening by the covariance that the problem states."""
    noise = problem.noise
    if not isinstance(noise, Gaussian):
        raise AssumptionError(
            f"{method} needs a covariance, but this problem states bounds. "
            "State Gaussian noise, or use a method for bounded errors."
        )
    C = noise.covariance
    if C is None:
        raise AssumptionError(f"{method} needs a covariance, but this problem's noise has none: Gaussian(covariance)")
    if C.ndim <= 1:
        return ByRow(np.sqrt(C))
    if C.ndim == 3 or len(C) == len(problem.groups) != problem.n_rows:
        return BySample(C, problem.groups)
    return Full(np.asarray(np.linalg.cholesky(C), dtype=np.float64))


def row_blocks(problem: LinearProblem, whiten: Whitening) -> Iterator[slice]:
    """The problem's row blocks, or all rows in one where the whitening needs that."""
    return iter([slice(0, problem.n_rows)]) if whiten.needs_all_rows else problem.blocks()


def triangle(problem: LinearProblem, whiten: Whitening) -> Array:
    """The (p+1) × (p+1) upper triangle R with RᵀR = [W y]ᵀ Σ⁻¹ [W y], without forming that product.

    Its last diagonal entry is the root of the residual sum of squares. Each block is stacked below the triangle of
    those before it and factored again [GVL13, §5.2] [DGHL12]; Householder QR is backward stable column by
    column, so badly scaled unknowns do no harm.
    """
    from scipy.linalg.lapack import dtpqrt  # noqa: PLC0415 - start-up time

    k = len(problem.unknowns) + 1
    R, work = np.zeros((k, k), order="F"), np.empty((0, k))
    for rows in row_blocks(problem, whiten):
        height = rows.stop - rows.start
        if len(work) != height:
            work = np.empty((height, k), order="F")
        work[:, :-1] = whiten(rows, problem.W[rows])
        work[:, -1] = whiten(rows, problem.y[rows])
        R, _, _, info = dtpqrt(0, min(_PANEL, k), R, work, overwrite_a=True, overwrite_b=True)
        assert info == 0
    return np.ascontiguousarray(R)
