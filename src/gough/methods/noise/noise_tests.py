"""Tests of the scatter between repeats: whether it is Gaussian, white, and alike in all repeats.

Deviations from a mean over few repeats are neither independent between repeats nor of full size, and textbook tests
that take them for raw errors are wrong by as much. Each statistic here has its exact mean and variance under white
Gaussian noise for any number of repeats, and there are many samples to sum it over.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array

SIGNIFICANCE = 0.01
"""Probability of calling sound noise unsound, in each kind of test over all channels together."""
MAX_LAG = 20
"""Largest lag of the test of whiteness."""


class NoiseTest(NamedTuple):
    """One test of one channel.

    Examples:
        >>> NoiseTest("excess kurtosis", 0.2, p=0.03, adjusted=0.12).is_refuted
        False
    """

    what: str
    """Name of the statistic."""
    statistic: float
    p: float
    """Probability of a statistic at least as large by chance."""
    adjusted: float
    """The same after Holm: below α with probability α at most, however many channels are tested."""

    @property
    def is_refuted(self) -> bool:
        """Whether the hypothesis is rejected."""
        return self.adjusted < SIGNIFICANCE


class Deviations(NamedTuple):
    """Deviations of repeats from their mean."""

    d: Array
    """(R, N, channels); zero where a reading is missing."""
    present: Array
    """(R, N) 1 where there is a reading, else 0."""
    variance: Array
    """(channels,)."""

    @property
    def readings(self) -> Array:
        """(N,) how many each sample has."""
        return np.asarray(self.present.sum(axis=0))


def findings(what: Sequence[str], statistics: Array, p: Array) -> tuple[NoiseTest, ...]:
    """The findings of several channels, with Holm's correction for their number."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    parts = zip(what, statistics.tolist(), p.tolist(), adjusted.tolist(), strict=True)
    return tuple(NoiseTest(*part) for part in parts)


def autocorrelations(of: Deviations) -> tuple[Array, Array]:
    """ρ (lags, channels) at lags 1, 2, … within a repeat, and the variance that each has under white noise.

    Σ_r d_rk d_rk' is eᵀ M e' with M the projector off the mean of R repeats: its variance is σ⁴ (R − 1).
    """
    n_samples = of.d.shape[1]
    free = np.maximum(of.readings - 1, 0)
    total = of.variance * free.sum()
    rho, spread = [], []
    for lag in range(1, min(MAX_LAG, n_samples // 4) + 1):
        products = (of.d[:, lag:] * of.d[:, :-lag]).sum(axis=(0, 1))
        pairs = np.sqrt(free[lag:] * free[:-lag]).sum()
        rho.append(products / total)
        spread.append(pairs / free.sum() ** 2)
    channels = of.d.shape[2]
    return np.array(rho).reshape(-1, channels), np.array(spread)


def whiteness(of: Deviations) -> tuple[NoiseTest, ...]:
    """The test of Ljung and Box [LB78], with the variance that autocorrelations of deviations have."""
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    rho, spread = autocorrelations(of)
    channels = of.d.shape[2]
    if not len(rho):
        return findings(["correlation of neighbours"] * channels, np.zeros(channels), np.ones(channels))
    total = (rho**2 / spread[:, None]).sum(axis=0)
    return findings(["correlation of neighbours"] * channels, rho[0], chdtrc(len(rho), total))


def gaussianity(of: Deviations) -> tuple[NoiseTest, ...]:
    """Skewness and kurtosis together, from Fisher's k-statistics of the repeats of each sample.

    k₃ and k₄ are unbiased whatever the number of repeats, and under Gaussian errors uncorrelated with variances
    6 n/((n−1)(n−2)) and 24 n(n+1)/((n−1)(n−2)(n−3)) [KS58, §12.5]. Two or three repeats have no k₄: there the samples'
    variances vary too much instead. Memory makes neighbours alike by the third and fourth power of ρ.
    """
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    channels = of.d.shape[2]
    rho, _ = autocorrelations(of)
    third, fourth = (1 + 2 * np.maximum((rho**k).sum(axis=0), 0) for k in (3, 4))
    u = of.d / np.sqrt(of.variance)
    skew, skew_z = _skewness(u, of.readings)
    tail, tail_z = _kurtosis(u, of.readings)
    z = np.stack([skew_z / np.sqrt(third), tail_z / np.sqrt(fourth)])
    worse = abs(z).argmax(axis=0)
    what = [("skewness", "excess kurtosis")[k] for k in worse]
    freedom = 2 - int((skew_z == 0).all())
    return findings(what, np.stack([skew, tail])[worse, np.arange(channels)], chdtrc(freedom, (z**2).sum(axis=0)))


def _skewness(u: Array, count: Array) -> tuple[Array, Array]:
    """Skewness (channels,), and the same in units of its standard deviation under Gaussian errors."""
    enough = count >= 3
    n = count[enough][:, None]
    if not n.size:
        return np.zeros(u.shape[2]), np.zeros(u.shape[2])
    k3 = n / ((n - 1) * (n - 2)) * (u[:, enough] ** 3).sum(axis=0)
    weight = (n - 1) * (n - 2) / (6 * n)
    return _pooled(k3, weight)


def _kurtosis(u: Array, count: Array) -> tuple[Array, Array]:
    """Excess kurtosis (channels,), and the same in units of its standard deviation under Gaussian errors."""
    enough = count >= 4
    if enough.any():
        n = count[enough][:, None]
        s2, s4 = ((u[:, enough] ** k).sum(axis=0) for k in (2, 4))
        k4 = (n * (n + 1) * s4 - 3 * (n - 1) * s2**2) / ((n - 1) * (n - 2) * (n - 3))
        return _pooled(k4, (n - 1) * (n - 2) * (n - 3) / (24 * n * (n + 1)))
    enough = count >= 2
    n = count[enough][:, None]
    nu, X = n - 1, (u[:, enough] ** 2).sum(axis=0)
    # X is χ² with ν degrees of freedom times 1 + o(1); E X² − ν(ν+2) = κ₄ ν²/n, with the variance left by a fitted σ
    scale = nu**2 / n
    return _pooled((X**2 - nu * (nu + 2)) / scale - 2 * (nu + 2) * (X - nu) / scale, scale**2 / (8 * nu * (nu + 2)))


def _pooled(k: Array, weight: Array) -> tuple[Array, Array]:
    total = weight.sum()
    mean = (weight * k).sum(axis=0) / total
    return mean, mean * np.sqrt(total)


def alikeness(of: Deviations) -> tuple[NoiseTest, ...]:
    """Whether some repeat is offset from the others, or scatters more: the worst of 2 R tests for each channel.

    A repeat's deviations are N values of variance σ²(1 − 1/n): their sum is Gaussian, their squares are χ². Memory
    widens the first by 1 + 2 Σ ρ, the second by 1 + 2 Σ ρ².
    """
    from scipy.special import chdtr, chdtrc, ndtr  # noqa: PLC0415 - start-up time

    R, _, channels = of.d.shape
    rho, spread = autocorrelations(of)
    clear = np.where(abs(rho) > 2.5 * np.sqrt(spread)[:, None], rho, 0.0)
    first, second = np.maximum(1 + 2 * clear.sum(axis=0), 0.1), 1 + 2 * (clear**2).sum(axis=0)
    share = (of.present * (1 - 1 / np.maximum(of.readings, 1))).sum(axis=1)[:, None] * of.variance
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.where(share > 0, of.d.sum(axis=1) / np.sqrt(share * first), 0.0)
        energy = np.where(share > 0, (of.d**2).sum(axis=1) / share, 1.0)
    freedom = of.present.sum(axis=1)[:, None] / second
    scatter = 2 * np.minimum(chdtr(freedom, energy * freedom), chdtrc(freedom, energy * freedom))
    p = np.minimum(np.stack([2 * ndtr(-abs(offset)), scatter]), 1.0)
    least = p.min(axis=0)
    worst = least.argmin(axis=0)
    smallest = 1 - (1 - least.min(axis=0)) ** (2 * R)
    return findings(["repeat"] * channels, worst + 1.0, smallest)
