"""The unknowns of a design: offsets and amplitudes of Fourier series with a common frequency [AHG, eqs. (13)-(14)]."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array
from gough.simulate.trajectories import FourierSeries


@dataclass(frozen=True, eq=False)
class SeriesSpace:
    """Series as vectors z of numbers near 1: for each coordinate its offset, μ_1 … μ_n, ν_1 … ν_n, and ω last.

    With six coordinates and five harmonics these are 67 numbers [AHG, §III].
    """

    home: Array
    span: Array
    """How far each coordinate can go from home (m,)."""
    n_harmonics: int
    frequencies: tuple[float, float]
    """Least and greatest fundamental frequency, Hz."""
    n_samples: int
    """Evenly spaced in a period."""

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return len(self.home) * (2 * self.n_harmonics + 1) + 1

    @property
    def pulsation(self) -> float:
        """By which ω is measured."""
        return float(2 * np.pi * np.sqrt(self.frequencies[0] * self.frequencies[1]))

    @cached_property
    def scale(self) -> Array:
        """The sizes (m, 2n+1) that the numbers of z count."""
        one = np.full(2 * self.n_harmonics + 1, self.pulsation / np.sqrt(self.n_harmonics))
        one[0] = 0.5
        return np.outer(self.span, one)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Lower and upper bound of each entry of z; wide, except for ω."""
        ends = [2 * np.pi * f / self.pulsation for f in self.frequencies]
        return [(-20.0, 20.0)] * (self.n - 1) + [(ends[0], ends[1])]

    def series(self, z: Array) -> FourierSeries:
        """The series of a vector."""
        offset, mu, nu, omega = self._parts(z)
        return FourierSeries(offset, mu, nu, float(omega / (2 * np.pi)))

    def vector(self, series: FourierSeries) -> Array:
        """The vector of a series."""
        parts = np.column_stack([series.offset - self.home, series.mu, series.nu]) / self.scale
        return np.append(parts, 2 * np.pi * series.frequency / self.pulsation)

    def motion(self, z: Array) -> tuple[Array, Array, Array]:
        """x, dx, ddx (samples, m) at the sampled phases of a period, whatever the period is."""
        offset, mu, nu, omega = self._parts(z)
        sine, cosine, k = self._waves
        kw = k * omega
        x = offset + sine @ (mu / kw).T - cosine @ (nu / kw).T
        return x, cosine @ mu.T + sine @ nu.T, cosine @ (nu * kw).T - sine @ (mu * kw).T

    def pulled_back(self, z: Array, by_x: Array, by_dx: Array, by_ddx: Array) -> Array:
        """The gradient by z of a number whose gradients by the motion (samples, m) are given."""
        _, mu, nu, omega = self._parts(z)
        sine, cosine, k = self._waves
        kw = k * omega
        xs, xc, as_, ac = by_x.T @ sine, by_x.T @ cosine, by_ddx.T @ sine, by_ddx.T @ cosine
        by_mu = xs / kw + by_dx.T @ cosine - as_ * kw
        by_nu = -xc / kw + by_dx.T @ sine + ac * kw
        by_omega = ((xc * nu - xs * mu) / kw / omega + (ac * nu - as_ * mu) * k).sum()
        by_parts = np.column_stack([by_x.sum(axis=0), by_mu, by_nu]) * self.scale
        return np.append(by_parts, by_omega * self.pulsation)

    def shrunk(self, z: Array, share: float, towards_home: float = 1.0) -> Array:
        """The same motion, smaller by `share` about its mean pose, and that nearer to home by `towards_home`."""
        parts = z[:-1].reshape(len(self.home), -1).copy()
        parts[:, 1:] *= share
        parts[:, 0] *= towards_home
        return np.append(parts, z[-1])

    def drawn(self, rng: np.random.Generator) -> Array:
        """A random vector, mean pose near home."""
        parts = rng.normal(size=(len(self.home), 2 * self.n_harmonics + 1))
        parts[:, 0] *= 0.3
        low, high = self.bounds[-1]
        return np.append(parts, rng.uniform(low, high))

    def _parts(self, z: Array) -> tuple[Array, Array, Array, float]:
        parts = z[:-1].reshape(len(self.home), -1) * self.scale
        n = self.n_harmonics
        return self.home + parts[:, 0], parts[:, 1 : n + 1], parts[:, n + 1 :], float(z[-1] * self.pulsation)

    @cached_property
    def _waves(self) -> tuple[Array, Array, Array]:
        k = np.arange(1.0, self.n_harmonics + 1)
        angle = 2 * np.pi * np.outer(np.arange(self.n_samples) / self.n_samples, k)
        return np.sin(angle), np.cos(angle), k
