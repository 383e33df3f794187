"""The noise of recorded channels above the band of the motion, and the steps in which a channel is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from gough.core.arrays import Array, ArrayValue, Mask
from gough.data.filters import low_passed, response

ABOVE = 1.5
"""The noise is measured from this many times the cutoff on: a motion that the low-pass keeps has no part there …"""
UNEVEN = 0.15
"""… and counts as white if no part of that band differs from the whole by more than this share of the power."""
_LEAST_BAND = 2.0
"""Highest frequency that the recording must show, over the cutoff."""
_LINE = 3.0
"""A frequency, or a stretch of time, with so many times the usual power is left out: a line, a jump, a blow."""
_BESIDE = 6
"""Frequencies on either side that a line is compared with."""
_BANDS = 6
"""Parts of the band that are compared …"""
_SURE = 4.0
"""… by so many standard deviations …"""
_VISIBLE = 0.25
"""… and fewer parts where these would be more than this share of the power."""
_LEAST_SEGMENTS = 8
_FINEST = 1e-7
"""Steps below this part of a channel's range are those of floating-point numbers."""
_LOOKED_AT = 50_000


@dataclass(frozen=True)
class Band:
    """The band of frequencies that a low-pass leaves.

    Examples:
        >>> round(Band(20.0, 4, 1000.0).width, 2)
        17.96
    """

    cutoff: float
    """Hz."""
    order: int
    """Order of the low-pass in one direction."""
    rate: float
    """Samples a second."""

    def low_passed(self, x: Array) -> Array:
        """Channels (N, n) after the low-pass."""
        return low_passed(x, self.cutoff, self.order, self.rate)

    def response(self, frequency: Array) -> Array:
        """What the low-pass leaves of the amplitude of a sine of each frequency, Hz."""
        return response(frequency, self.cutoff, self.order, self.rate)

    @property
    def width(self) -> float:
        """Hz: the variance that white noise of density 1 has after the low-pass."""
        frequency = (np.arange(8192) + 0.5) / 8192 * self.rate / 2
        return float((self.response(frequency) ** 2).mean() * self.rate / 2)


@dataclass(frozen=True, eq=False)
class ChannelNoise(ArrayValue):
    """The noise of n channels as recorded, in SI units: measured where the low-pass leaves nothing of the motion.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> x = np.round(rng.normal(0, 0.5, (20_000, 1)) / 0.01) * 0.01
        >>> band = Band(20.0, 4, 1000.0)
        >>> noise = channel_noise(x, band.low_passed(x), band)
        >>> noise.sigma.round(2), noise.step, noise.is_white
        (array([0.5]), array([0.01]), array([ True]))
    """

    density: Array
    """(n,) one-sided power spectral density above the band, in unit²/Hz; NaN where it cannot be measured."""
    dof: Array
    """(n,) equivalent number of independent values behind the density."""
    unevenness: Array
    """(n,) largest share by which a part of the band differs from the whole, beyond chance; 0 for white noise."""
    slope: Array
    """(n,) power in the lowest part of the band over that in the highest."""
    step: Array
    """(n,) step of the recorded values; 0 where there is none."""
    colored: Array
    """(n,) variance in the band, after the low-pass, of the part of the errors of rounding that is not white."""
    rate: float
    """Samples a second."""

    @property
    def sigma(self) -> Array:
        """(n,) standard deviation of one reading, if the noise is white."""
        return np.sqrt(self.density * self.rate / 2)

    @property
    def is_white(self) -> Mask:
        """(n,) whether the power is even above the band."""
        return np.asarray(np.isfinite(self.density) & (self.unevenness <= UNEVEN))

    @classmethod
    def pooled(cls, parts: Sequence["ChannelNoise"]) -> "ChannelNoise":
        """The mean over recordings, by their independent values; what any of them shows of a channel is kept."""
        if len(parts) == 1:
            return parts[0]
        dof = np.array([part.dof for part in parts])
        weights = dof / np.where(dof.sum(axis=0) > 0, dof.sum(axis=0), 1.0)

        def mean(field: str) -> Array:
            values = np.array([getattr(part, field) for part in parts])
            total: Array = np.where(weights > 0, weights * values, 0.0).sum(axis=0)
            return np.where(dof.sum(axis=0) > 0, total, np.nan)

        steps = np.array([part.step for part in parts])
        uneven = np.array([part.unevenness for part in parts])
        return cls(
            mean("density"), dof.sum(axis=0), uneven.max(axis=0), mean("slope"), steps.max(axis=0), mean("colored"),
            parts[0].rate,
        )  # fmt: skip


def channel_noise(raw: Array, smooth: Array, band: Band, turns: Mask | None = None) -> ChannelNoise:
    """The noise of channels (N, n) from what a low-pass takes away.

    Args:
        raw: As recorded.
        smooth: What the low-pass leaves.
        band: Pass band of the low-pass.
        turns: (N, n) True at samples where a jump is expected, as of dry friction where a joint turns; stretches of
            time with one are left out where enough others remain.
    """
    n = raw.shape[1]
    step = np.array([recorded_step(raw[:, i]) for i in range(n)])
    spectra = [_density(raw[:, i] - smooth[:, i], band, None if turns is None else turns[:, i]) for i in range(n)]
    density, dof, uneven, slope = (np.array(values) for values in zip(*spectra, strict=True))
    colored = np.zeros(n)
    for i in np.flatnonzero((step > 0) & np.isfinite(density)):
        colored[i] = _colored_rounding(smooth[:, i], float(step[i]), float(density[i]), band)
    return ChannelNoise(density, dof, uneven, slope, step, colored, band.rate)


def recorded_step(x: Array) -> float:
    """The step of which all values of a channel are whole multiples, from some offset; 0 for a continuous channel.

    Examples:
        >>> recorded_step(np.array([0.1, 0.4, 0.3, 0.1, 0.7])).__round__(9)
        0.1
        >>> recorded_step(np.random.default_rng(1).normal(size=1000))
        0.0
    """
    values = np.unique(x[:_LOOKED_AT])
    if len(values) < 3:
        return 0.0
    gaps = np.diff(values)
    span = values[-1] - values[0]
    gaps = gaps[gaps > 1e-12 * span]  # the same value, converted from another unit
    # lost samples that were bridged, or a converter that hops, leave a few values between the steps
    for share in (0.0, 0.02, 0.1):
        step = float(np.quantile(gaps, share, method="higher"))
        if step < _FINEST * span:
            continue
        for _ in range(3):
            multiples = np.rint(gaps / step)
            fits = (multiples > 0) & (abs(gaps / step - multiples) < 0.1)
            if not fits.any():
                break
            step = float(gaps[fits].sum() / multiples[fits].sum())
        # gaps of many steps are near a multiple by chance, those of one or two are not
        few = gaps < 2.5 * step
        if fits.mean() > 0.97 and few.sum() >= 2:
            return step
    return 0.0


def rounded(x: Array, step: Array, offset: Array) -> Array:
    """Values (N, n) as a converter with steps shows them whose zero lies at a part `offset` of a step; 0: as they are.

    Examples:
        >>> rounded(np.array([[0.13, 0.13]]), np.array([0.1, 0.0]), np.zeros(2)).round(3)
        array([[0.15, 0.13]])
    """
    wide = np.where(step > 0, step, 1.0)
    shown = x / wide
    shown += offset
    np.floor(shown, out=shown)
    shown += 0.5
    shown -= offset
    shown *= wide
    return shown if (step > 0).all() else np.where(step > 0, shown, x)


def _density(removed: Array, band: Band, turns: Mask | None) -> tuple[float, float, float, float]:
    """Density, degrees of freedom, unevenness beyond chance, and lowest over highest part of the band."""
    cutoff, rate = band.cutoff, band.rate
    unknown = np.nan, 0.0, 0.0, np.nan
    if rate / 2 < _LEAST_BAND * cutoff:
        return unknown
    length = 2 ** ceil(log2(2.5 * rate / cutoff))  # short, so that many are free of turns
    hop = length // 2
    if len(removed) < (_LEAST_SEGMENTS + 1) * hop:
        return unknown
    views = np.lib.stride_tricks.sliding_window_view(removed, length)[::hop]
    frequency = np.asarray(np.fft.rfftfreq(length, 1 / rate), dtype=np.float64)
    bins = np.flatnonzero((frequency >= ABOVE * cutoff) & (frequency < rate / 2 - rate / length))
    if len(bins) < 2:
        return unknown
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(length) + 0.5) / length)
    kept = 1 - band.response(frequency[bins])
    scale = 2 / (rate * (window**2).sum()) / kept**2
    power = np.concatenate(
        [abs(np.fft.rfft(window * views[i : i + 256], axis=1)[:, bins]) ** 2 * scale for i in range(0, len(views), 256)]
    )
    power = power[_quiet(power, turns, length, hop)]
    if not power.any():
        return 0.0, 1.0, 0.0, 1.0
    profile = power.mean(axis=0)
    plain = _without_lines(profile)
    if not plain.any():
        return unknown
    # neighboring stretches overlap by half and share 1/6 of their power; neighboring frequencies of the window more
    independent = len(power) / (1 + 2 / 36), plain.sum() / 1.95
    density = float(profile[plain].mean())
    count = min(_BANDS, int(independent[0] * independent[1] * (_VISIBLE / _SURE) ** 2), int(plain.sum()) // 2)
    if count < 3:
        return unknown  # too short to tell whether the noise is white
    shares = np.array([part.mean() for part in np.array_split(profile[plain], count)]) / density
    chance = _SURE / np.sqrt(independent[0] * independent[1] / count)
    uneven = float((abs(shares - 1) - chance * np.maximum(shares, 1.0)).max())
    slope = float(shares[0] / max(shares[-1], 1e-300))
    return density, 2 * independent[0] * independent[1], max(uneven, 0.0), slope


def _without_lines(profile: Array) -> Mask:
    """The frequencies that do not stand out of those around them, and are no neighbors of such: a line is wide."""
    width = min(2 * _BESIDE + 1, len(profile))
    medians = np.median(np.lib.stride_tricks.sliding_window_view(profile, width), axis=1)
    nearest = np.clip(np.arange(len(profile)) - width // 2, 0, len(medians) - 1)
    line = profile > _LINE * medians[nearest]
    # mode "same" has the length of the longer of the two, which may be the window
    return np.asarray(~np.convolve(line, np.ones(5))[2:-2].astype(bool))


def _quiet(power: Array, turns: Mask | None, length: int, hop: int) -> Mask:
    """The stretches of time without a turn, and without far more power than most, where enough remain."""
    quiet = np.ones(len(power), dtype=bool)
    if turns is not None:
        count = np.concatenate([[0], np.cumsum(turns)])
        starts = hop * np.arange(len(power))
        still = count[starts + length] == count[starts]
        if still.sum() >= _LEAST_SEGMENTS:
            quiet = still
    total = np.median(power, axis=1)
    quiet &= total <= _LINE * np.median(total[quiet])
    return quiet


def _colored_rounding(smooth: Array, step: float, density: float, band: Band) -> float:
    """Variance, after the low-pass, that errors of rounding have beyond what their density above the band explains."""
    rng = np.random.default_rng(0)
    white = max(density * band.rate / 2 - step**2 / 12, 0.0)
    true = (smooth + np.sqrt(white) * rng.standard_normal(len(smooth)))[:, None]
    error = rounded(true, np.array([step]), rng.random(1)) - true
    left = band.low_passed(error)
    above = _density((error - left)[:, 0], band, None)[0]
    return max(float(left.var()) - above * band.width, 0.0)
