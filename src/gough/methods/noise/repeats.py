"""The noise of each channel, estimated from repeats of the same motion.

Readings of one instant in R repeats share their true value, so that their scatter about the mean is noise and nothing
else, whatever the model. From it come the covariance with its uncertainty, and tests of what estimators take for
granted: that errors are Gaussian, white, and alike in all repeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, Mask, array
from gough.core.errors import InputError, require
from gough.core.tables import Cell, Table, table
from gough.core.text import number, power_of_thousand, scaled_unit
from gough.methods.noise.noise_tests import Deviations, NoiseTest, alikeness, autocorrelations, gaussianity, whiteness


@dataclass(frozen=True, eq=False)
class RepeatNoise(ArrayValue):
    """The noise of several channels, from repeats of one motion: made by `noise_from_repeats`.

    `str()` of it is a table with verdicts in words.
    """

    names: tuple[str, ...]
    mean: Array
    """(N, channels) mean over the repeats; NaN where no repeat has a reading."""
    count: Array
    """(N,) how many repeats have a reading."""
    covariance: Array
    """(channels, channels) of the errors of one reading, pooled over all samples."""
    dof: float
    """Independent errors behind it: readings beyond the first of each sample."""
    gaussian: tuple[NoiseTest, ...]
    """Test of each channel by skewness and excess kurtosis; the more significant of the two is named."""
    white: tuple[NoiseTest, ...]
    """Test of each channel by the correlation between samples up to 20 apart."""
    alike: tuple[NoiseTest, ...]
    """Test of each channel; its statistic is the number of the repeat (from 1) that differs most."""
    memory: Array
    """(channels,) variance of a mean over time, over what it were without correlation between samples."""

    @property
    def sigma(self) -> Array:
        """Standard deviation of each channel."""
        return np.sqrt(self.covariance.diagonal())

    @property
    def correlation(self) -> Array:
        """The covariance scaled to a unit diagonal."""
        return self.covariance / np.outer(self.sigma, self.sigma)

    @property
    def covariance_sigma(self) -> Array:
        """Standard deviation of each entry of the covariance, as Wishart's distribution has it."""
        C = self.covariance
        return np.sqrt((C**2 + np.outer(C.diagonal(), C.diagonal())) / self.dof)

    def sigma_interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper ends of the confidence intervals of `sigma`."""
        from scipy.special import chdtri  # noqa: PLC0415 - start-up time

        smallest, largest = (chdtri(self.dof, tail) for tail in ((1 + level) / 2, (1 - level) / 2))
        return self.sigma * np.sqrt(self.dof / largest), self.sigma * np.sqrt(self.dof / smallest)

    def independence(self, first: int) -> NoiseTest:
        """Test whether the errors of the first channels are independent of those of the others.

        Bartlett's approximation of the likelihood ratio between covariances with and without the blocks between them.

        Examples:
            >>> errors = np.random.default_rng(1).normal(size=(5, 200, 2))
            >>> noise_from_repeats(errors, ["q", "effort"]).independence(1).is_refuted
            False
        """
        from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

        K, c = self.correlation, len(self.names)
        require(0 < first < c, f"of {c} channels, {first} cannot be compared with the rest")
        own, other, both = (np.linalg.slogdet(part)[1] for part in (K[:first, :first], K[first:, first:], K))
        ratio = (self.dof - (c + 1) / 2) * (own + other - both)
        p = float(chdtrc(first * (c - first), max(ratio, 0.0)))
        return NoiseTest("largest correlation", float(abs(K[:first, first:]).max()), p, p)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The results of the tests, in sentences."""
        relative = number(100 / np.sqrt(2 * self.dof), digits=2)
        return (
            f"Each σ is known to ± {relative} %, from {self.dof:.0f} independent errors.",
            self._on("Gaussian", self.gaussian, _NOT_GAUSSIAN),
            self._on("White", self.white, _NOT_WHITE.format(np.sqrt(self.memory.max()))),
            self._on("Alike in all repeats", self.alike, _NOT_ALIKE),
        )

    def _on(self, what: str, findings: tuple[NoiseTest, ...], otherwise: str) -> str:
        wrong = [(n, f) for n, f in zip(self.names, findings, strict=True) if f.is_refuted]
        if not wrong:
            least = min(f.p for f in findings)
            return f"{what}: not refuted (smallest p = {least:.2g} of {len(findings)} channels)."
        named = ", ".join(f"{n} ({f.what} {f.statistic:.2g})" for n, f in wrong)
        return f"{what}: refuted for {named}. {otherwise}"

    def table(self, units: Sequence[str] = ()) -> Table:
        """σ of each channel with its interval, and the outcome of each test; scaled where units are known."""
        rows: list[list[str | Cell]] = []
        sides = zip(self.names, units or [""] * len(self.names), self.sigma, *self.sigma_interval(), strict=True)
        for i, (name, unit, *values) in enumerate(sides):
            power = power_of_thousand(float(values[0])) if units else 0
            sigma, low, high = (number(float(value) / 10.0**power, digits=3) for value in values)
            tests = (self.gaussian[i], self.white[i], self.alike[i])
            cells = [
                Cell("no" if t.is_refuted else "yes", f"p = {t.p:.2g}", "bad" if t.is_refuted else "") for t in tests
            ]
            rows.append([name, scaled_unit(unit, power), sigma, f"{low} … {high}", *cells])
        heads = ["channel", "unit", "σ of a reading", "95% interval", "Gaussian?", "white?", "alike in all repeats?"]
        return table(heads, rows, "lurrrrr", "Noise of each channel")

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self.verdicts])


_NOT_GAUSSIAN = (
    "Estimates stay unbiased, but single readings weigh too much: look for spikes, coarse steps, or noise whose size "
    "changes along the motion."
)
_NOT_WHITE = (
    "A σ that takes samples for independent is too small, up to {:.1f} times for slow effects: record unfiltered, or "
    "fewer samples a second."
)
_NOT_ALIKE = "Leave out repeats from before the motion was steady; look for drift and warming up."


@np.errstate(all="ignore")
def noise_from_repeats(repeats: Any, names: Sequence[str]) -> RepeatNoise:
    """The noise of the channels in `repeats` (R, N, channels): R recordings of one motion, N samples each.

    A reading with a NaN in any channel is missing. The covariance is pooled over all samples and divided by the number
    of readings beyond the first of each sample, so that it is unbiased for any R ≥ 2.

    Raises:
        InputError: repeats of different length, fewer than two, or a channel without noise.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> truth = np.sin(np.linspace(0, 6, 500))[:, None] * [1.0, 20.0]
        >>> noise = noise_from_repeats(truth + rng.normal(size=(8, 500, 2)) * [0.01, 0.5], ["q1", "motor 1"])
        >>> print(noise)
                                                                     alike in
                        σ of a                                            all
        channel  unit  reading      95% interval  Gaussian?  white?  repeats?
        ───────  ────  ───────  ────────────────  ─────────  ──────  ────────
        q1              0.0100  0.00980 … 0.0103        yes     yes       yes
        motor 1          0.499     0.487 … 0.510        yes     yes       yes
        Each σ is known to ± 1.2 %, from 3500 independent errors.
        Gaussian: not refuted (smallest p = 0.22 of 2 channels).
        White: not refuted (smallest p = 0.18 of 2 channels).
        Alike in all repeats: not refuted (smallest p = 0.33 of 2 channels).
    """
    values = _repeats(repeats, names)
    present: Mask = np.asarray(np.isfinite(values).all(axis=2))
    count = np.asarray(present.sum(axis=0), dtype=np.float64)
    filled = np.where(present[:, :, None], values, 0.0)
    with np.errstate(invalid="ignore"):
        mean = filled.sum(axis=0) / np.where(count > 0, count, np.nan)[:, None]
    dof = float(np.maximum(count - 1, 0).sum())
    d = np.where(present[:, :, None], filled - np.nan_to_num(mean), 0.0)
    C = np.einsum("rki,rkj->ij", d, d) / max(dof, 1.0)
    _require_noise(C, dof, names, abs(filled).max(axis=(0, 1)))
    of = Deviations(d, present.astype(np.float64), C.diagonal())
    rho, spread = autocorrelations(of)
    clear = np.where(abs(rho) > 2.5 * np.sqrt(spread)[:, None], rho, 0.0)
    memory = np.maximum(1 + 2 * clear.sum(axis=0), 1.0)
    return RepeatNoise(tuple(names), mean, count, C, dof, gaussianity(of), whiteness(of), alikeness(of), memory)


def _repeats(repeats: Any, names: Sequence[str]) -> Array:
    """(R, N, channels), or an error that says which repeat does not fit."""
    lengths = [len(one) for one in repeats]
    for k, length in enumerate(lengths):
        if length != lengths[0]:
            raise InputError(
                f"repeat {k + 1} has {length} samples, but repeat 1 has {lengths[0]}: repeats are compared instant by "
                "instant, so cut them to the same part of the motion, or give the period in samples"
            )
    values = array(repeats, "repeats", ndim=3, copy=False)
    require(values.shape[1] > 0, "the repeats are empty")
    require(values.shape[2] == len(names), f"{len(names)} names do not fit repeats with {values.shape[2]} channels")
    require(not np.isinf(values).any(), "repeats have infinite readings; a reading that is missing is NaN")
    if len(values) < 2:
        raise InputError(
            "one repeat only: it shows no noise. Record the motion at least twice (five times or more to test it), or "
            "state the covariances"
        )
    return values


def _require_noise(C: Array, dof: float, names: Sequence[str], size: Array) -> None:
    if dof <= len(names):
        raise InputError(
            f"{dof:.0f} readings beyond the first of their sample cannot show the covariance of {len(names)} channels: "
            "record more repeats, or state the covariances"
        )
    still = np.flatnonzero(np.sqrt(C.diagonal()) <= 1e-14 * size)
    if still.size:
        raise InputError(
            f"channel '{names[still[0]]}' is the same in all repeats, so its noise is smaller than its steps: state "
            "its variance (a step of s has s²/12), or check that the repeats are different recordings"
        )
    scale = np.sqrt(C.diagonal())
    values, vectors = np.linalg.eigh(C / np.outer(scale, scale))
    if values[0] <= 1e-10:
        pair = sorted(np.argsort(-abs(vectors[:, 0]))[:2].tolist())
        raise InputError(
            f"the covariance of the repeats is not positive definite: '{names[pair[0]]}' and '{names[pair[1]]}' err "
            "together exactly. Is one computed from the other? Leave one out"
        )
