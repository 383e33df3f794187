"""Finite Fourier series on an even grid of one period, and the sums over samples that least squares needs of them.

A path of order h is x(t) = c₀ + Σ_j (c_2j−1 cos jωt + c_2j sin jωt): a Fourier series as [AHG, eq. (13)], with
amplitudes of the position instead of the velocity, which makes a normal matrix of positions diagonal. Products of its
basis functions are Fourier series again, of order 2h. So the normal matrix of any smooth function of path, velocity and
acceleration needs nothing of the samples but a Fourier transform of small matrices, whatever the number of harmonics.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import require


class Path(NamedTuple):
    """Positions, velocities and accelerations, each (N, m)."""

    x: Array
    dx: Array
    ddx: Array


@dataclass(frozen=True)
class Harmonics:
    """The basis 1, cos ωt, sin ωt, cos 2ωt, … up to `order`, at N even instants of one period.

    Examples:
        >>> Harmonics(n_samples=8, order=1, pulsation=2.0).path(np.array([[1.0, 0.5, 0.0]])).x[:3, 0].round(3)
        array([1.5  , 1.354, 1.   ])
    """

    n_samples: int
    order: int
    pulsation: float
    """ω = 2π / period, in rad/s."""

    def __post_init__(self) -> None:
        require(self.order >= 1, f"a Fourier series needs at least one harmonic, but order = {self.order}")
        require(
            self.n_samples > 2 * self.order,
            f"{self.n_samples} samples a period cannot show harmonic {self.order}: lower the order below "
            f"{self.n_samples / 2:g}",
        )

    @property
    def size(self) -> int:
        """Number of coefficients for each coordinate."""
        return 2 * self.order + 1

    @cached_property
    def basis(self) -> Array:
        """(3, N, size): the basis functions, their first and second derivatives by time."""
        j = np.arange(1, self.order + 1)
        turns = np.outer(np.arange(self.n_samples), j) % self.n_samples / self.n_samples
        cosine, sine = np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)
        w = self.pulsation * j
        result = np.zeros((3, self.n_samples, self.size))
        result[0, :, 0] = 1.0
        for k, (even, odd) in enumerate(((cosine, sine), (-w * sine, w * cosine), (-(w**2) * cosine, -(w**2) * sine))):
            result[k, :, 1::2], result[k, :, 2::2] = even, odd
        return result

    def path(self, coefficients: Array) -> Path:
        """The path with coefficients (m, size)."""
        return Path(*(self.basis @ coefficients.T))

    def fit(self, x: Array, kept: npt.NDArray[np.bool_]) -> Array:
        """Coefficients (m, size) of the path through positions (N, m) by least squares, over the samples kept."""
        coefficients = np.linalg.lstsq(self.basis[0][kept], x[kept], rcond=None)[0]
        return np.ascontiguousarray(coefficients.T)

    def chain(self, by_path: Array) -> Array:
        """Derivatives (N, …, m, size) by the coefficients, from those (N, …, 3, m) by position, velocity, acceleration.

        Examples:
            >>> ones = np.ones((8, 2, 3, 4))
            >>> Harmonics(8, 1, 1.0).chain(ones).shape
            (8, 2, 4, 3)
        """
        return np.einsum("k...dm,dka->k...ma", by_path, self.basis, optimize=True)

    def project(self, sums: Array) -> Array:
        """Σ over samples of `chain`: (…, m, size) from (N, …, 3, m)."""
        n, middle, m = len(sums), sums.shape[1:-2], sums.shape[-1]
        result = self.summed(np.moveaxis(sums, -2, 0).reshape(3, n, -1))
        return np.moveaxis(result.reshape(self.size, *middle, m), 0, -1)

    def summed(self, sums: Iterable[Array]) -> Array:
        """Σ over samples of what multiplies the basis and its derivatives: (size, r) from three times (N, r)."""
        return np.asarray(sum(basis.T @ each for basis, each in zip(self.basis, sums, strict=True)))

    def products(self, M: Array) -> Array:
        """Σ_k Bᵀ M_k B (m·size, m·size), where the symmetric M_k is in position, velocity and acceleration.

        M (3m (3m + 1) / 2, N) is its lower triangle, row by row. The sum is a Fourier transform of M at differences and
        sums of two harmonics, times powers of jω for the derivatives.
        """
        from gough.methods.nonlinear import harmonic_sums  # noqa: PLC0415 - numba

        cosines, sines = (part @ M.T for part in self._transform)
        return np.asarray(harmonic_sums.products(cosines, sines, self.order, float(self.pulsation)))

    @cached_property
    def _transform(self) -> tuple[Array, Array]:
        """Cosines and sines (2 order + 1, N) of a Fourier transform: few frequencies cost less as a product."""
        turns = np.outer(np.arange(2 * self.order + 1), np.arange(self.n_samples)) % self.n_samples / self.n_samples
        return np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)
