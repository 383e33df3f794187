"""The steps that make a recording a measured motion: frozen values, each of which describes what it did."""

from dataclasses import dataclass, replace
from math import ceil, floor, inf
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, require
from gough.core.text import written
from gough.core.units import in_si, same_kind
from gough.data.filters import differences, low_passed, memory, shortfall
from gough.data.motion import FullRate
from gough.data.recording import Recording

_WITHIN = 0.03
"""Seconds masked around a reversal where there is no low-pass."""


@dataclass(frozen=True, eq=False)
class Signals:
    """Positions and efforts (N, n), evenly sampled; derivatives once they are known."""

    recording: Recording
    """As recorded, in SI units."""
    coordinates: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    actuators: tuple[str, ...]
    effort_units: tuple[str, ...]
    effort_channels: tuple[str, ...]
    q: Array
    efforts: Array
    kept: Mask
    first: int = 0
    """Sample of the recording that sample 0 is."""
    stride: int = 1
    """Samples of the recording from one sample to the next."""
    dq: Array | None = None
    ddq: Array | None = None
    cutoff: float | None = None
    """Hz of the low-pass that has been applied."""
    order: int = 0
    """Its order in one direction."""
    full_rate: FullRate | None = None
    """The motion as first differentiated, where the efforts have passed a low-pass."""
    memory: float = 0.0
    """Seconds until the response of the low-pass of this preparation, applied or yet to come, is negligible."""

    @property
    def rate(self) -> float:
        return self.recording.rate / self.stride

    @property
    def n_samples(self) -> int:
        return len(self.q)

    def taken(self, samples: slice) -> "Signals":
        """Some of the samples: every stride-th of a range."""
        start, _, stride = samples.indices(self.n_samples)
        parts = {field: getattr(self, field) for field in ("q", "dq", "ddq", "efforts", "kept")}
        cut: dict[str, Any] = {field: part if part is None else part[samples] for field, part in parts.items()}
        if self.full_rate is not None:
            cut["full_rate"] = replace(self.full_rate, at=self.full_rate.at[samples])
        return replace(self, **cut, first=self.first + start * self.stride, stride=self.stride * stride)

    def masked(self, mask: Mask) -> "Signals":
        """The signals without the rows (N, n), or samples (N, 1), where the mask is True."""
        return replace(self, kept=self.kept & ~mask)

    def of_recording(self, samples: Mask) -> Mask:
        """What is stated for each sample of the recording, (M, …), for those that are here, (N, …)."""
        return samples[self.first :: self.stride][: self.n_samples]


class Step(Protocol):
    """One step of a preparation: it changes signals and describes what it did. `print(step)` is its definition.

    Examples:
        >>> steps: list[Step] = [LowPass(20.0), Differentiate(), Trim()]
        >>> print(*steps, sep=", ")
        LowPass(cutoff=20.0), Differentiate(), Trim()
    """

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """The signals after this step, and what it did."""
        ...


class _Printed:
    def __str__(self) -> str:
        return written(self, digits=6)


@dataclass(frozen=True)
class EffortFromVoltage(_Printed):
    """Efforts are an amplifier's input voltages times its gain [NCPP, eq. (24)].

    Examples:
        >>> print(EffortFromVoltage((1.9, 2.1)))
        EffortFromVoltage(gain=(1.9, 2.1))
    """

    gain: float | tuple[float, ...]
    """Effort per volt, one for all actuators or one for each; its sign is that of the wiring."""
    unit: str = "N·m"
    """Unit of the effort."""

    def __post_init__(self) -> None:
        gains = (self.gain,) if isinstance(self.gain, int | float) else tuple(self.gain)
        if not isinstance(self.gain, int | float):
            object.__setattr__(self, "gain", gains)
        good = len(gains) > 0 and all(bool(np.isfinite(g)) and g != 0 for g in gains)
        require(good, f"a gain is a finite number other than 0, but {self.gain} was given")
        require(in_si(self.unit)[0] == 1.0, f"efforts are in SI units, not in '{self.unit}'")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """Efforts in place of voltages."""
        n = len(signals.actuators)
        gains = np.broadcast_to(self.gain, n) if isinstance(self.gain, int | float) else np.array(self.gain)
        require(len(gains) == n, f"{len(gains)} gains do not fit {n} actuators ({', '.join(signals.actuators)})")
        for channel, unit in zip(signals.effort_channels, signals.effort_units, strict=True):
            fits = not unit or same_kind(unit, "V")
            require(fits, f"channel '{channel}' is in {unit}, not in volts: without EffortFromVoltage it is an effort")
        assumed = "" if all(signals.effort_units) else " (no unit was stated: taken as volts)"
        values = ", ".join(f"{gain:.6g}" for gain in (gains if len(set(gains)) > 1 else gains[:1]))
        now = replace(signals, efforts=signals.efforts * gains, effort_units=(self.unit,) * n)
        return now, f"efforts are voltages times {values} {self.unit}/V{assumed}"


@dataclass(frozen=True)
class DropMissing(_Printed):
    """Rows near samples that were lost are masked; before the filter, lost samples are bridged by straight lines.

    A lost position spoils every actuator's row of that instant, a lost effort only that of its actuator.

    Examples:
        >>> print(DropMissing(margin=0.1))
        DropMissing(margin=0.1)
    """

    margin: float | None = None
    """Seconds masked on either side; None takes the memory of the low-pass and the length of the gap."""

    def __post_init__(self) -> None:
        require(self.margin is None or 0 <= self.margin < inf, f"margin must be a number ≥ 0, but is {self.margin}")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """No signal is missing, and no row that would need it is kept."""
        require(signals.cutoff is None and signals.dq is None, "DropMissing must come before LowPass and Differentiate")
        lost_q, lost_efforts = np.isnan(signals.q), np.isnan(signals.efforts)
        if not (lost_q.any() or lost_efforts.any()):
            return signals, "no sample is missing"
        margin = signals.memory if self.margin is None else self.margin
        around = _surrounded if self.margin is None else _widened
        samples = ceil(margin * signals.rate)
        mask = around(np.asarray(lost_q.any(axis=1, keepdims=True)), samples) | around(lost_efforts, samples)
        names = signals.coordinates, signals.effort_channels
        bridged = replace(
            signals, q=_bridged(signals.q, lost_q, names[0]), efforts=_bridged(signals.efforts, lost_efforts, names[1])
        )
        lost = int(lost_q.sum() + lost_efforts.sum())
        return bridged.masked(mask), f"{lost} lost readings bridged, rows within {margin:.3g} s of them masked"


@dataclass(frozen=True)
class LowPass(_Printed):
    """A Butterworth low-pass forth and back, without delay, on positions and in parallel on efforts [PRV03i, §4.1].

    Both sides of the equation of motion pass the same filter: efforts here, and the regressor, computed at the full
    rate, where a problem is assembled. Two passes double the order, and at the cutoff half of the amplitude is left.
    The cutoff is high enough if what is taken from positions is no more than the encoder's steps explain.

    Examples:
        >>> print(LowPass(20.0), LowPass(20.0, order=2))
        LowPass(cutoff=20.0) LowPass(cutoff=20.0, order=2)
    """

    cutoff: float
    """Hz; `advised_cutoff` gives one for the highest harmonic of the trajectory."""
    order: int = 4
    """Order of the filter in one direction."""

    def __post_init__(self) -> None:
        require(0 < self.cutoff < inf, f"a cutoff is a positive number of Hz, not {self.cutoff}")
        whole = isinstance(self.order, int) and 1 <= self.order <= 12
        require(whole, f"the order of a filter is a whole number from 1 to 12, not {self.order}")

    def memory(self, rate: float) -> float:
        """Seconds after which the response to a sample is negligible, at `rate` samples a second."""
        require(
            self.cutoff < rate / 2,
            f"a low-pass at {self.cutoff:g} Hz needs more than {2 * self.cutoff:g} samples a second, but there are "
            f"{rate:g}",
        )
        return memory(self.cutoff, self.order, rate) / rate

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """Positions and efforts without their high frequencies."""
        require(signals.cutoff is None, "there is a LowPass already: one is enough")
        require(signals.dq is None, "LowPass must come before Differentiate")
        self.memory(signals.rate)  # refuses a cutoff beyond half of the rate
        q, efforts = (low_passed(x, self.cutoff, self.order, signals.rate) for x in (signals.q, signals.efforts))
        now = replace(signals, q=q, efforts=efforts, cutoff=self.cutoff, order=self.order)
        taken = _largest(signals.q - q, signals.coordinate_units), _largest(signals.efforts - efforts, now.effort_units)
        return now, f"took at most {taken[0]} rms from positions and {taken[1]} from efforts, without delay"


@dataclass(frozen=True)
class Differentiate(_Printed):
    """Velocities and accelerations by central differences of the positions [PRV03i, §4.1].

    [PRV03i] does not say how it forms accelerations; here they are second differences over three samples, which lose
    less of a sine than first differences taken twice.

    Examples:
        >>> print(Differentiate())
        Differentiate()
    """

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """The signals with derivatives, one sample shorter at each end."""
        require(signals.dq is None, "there is a Differentiate already: one is enough")
        require(signals.n_samples > 2, f"central differences need 3 samples, but there are {signals.n_samples}")
        dq, ddq = differences(signals.q, signals.rate)
        lost, full = "", None
        now = signals.taken(slice(1, signals.n_samples - 1))
        if signals.cutoff is not None:
            x, dx, ddx = (np.ascontiguousarray(part) for part in (now.q, dq, ddq))
            at, starts = np.arange(now.n_samples), np.zeros(1, dtype=np.int64)
            full = FullRate(signals.rate, x, dx, ddx, at, starts, signals.cutoff, signals.order)
            shares = shortfall(signals.cutoff, signals.rate)
            lost = f"; at {signals.cutoff:g} Hz they fall short by {shares[0]:.2%} and {shares[1]:.2%}"
        now = replace(now, dq=dq, ddq=ddq, full_rate=full)
        return now, f"velocities and accelerations by central differences{lost}"


@dataclass(frozen=True)
class Trim(_Printed):
    """Cut off both ends, where the filter still swings in.

    Examples:
        >>> print(Trim(0.5), Trim())
        Trim(seconds=0.5) Trim()
    """

    seconds: float | None = None
    """At each end; None takes twice the memory of the low-pass: positions pass it, and what is computed from them."""

    def __post_init__(self) -> None:
        good = self.seconds is None or 0 <= self.seconds < inf
        require(good, f"seconds to trim must not be negative, but are {self.seconds}")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """The signals without their ends."""
        seconds = 2 * signals.memory if self.seconds is None else self.seconds
        samples = ceil(seconds * signals.rate)
        left = signals.n_samples - 2 * samples
        require(
            left > 0,
            f"trimming {samples} samples ({seconds:.3g} s) at each end leaves nothing of {signals.n_samples}",
        )
        return signals.taken(slice(samples, samples + left)), f"{samples} samples ({seconds:.3g} s) off at each end"


@dataclass(frozen=True)
class Decimate(_Printed):
    """Keep every `factor`-th sample; what the lower rate could not show must have been filtered out before.

    Examples:
        >>> print(Decimate(10))
        Decimate(factor=10)
    """

    factor: int

    def __post_init__(self) -> None:
        whole = isinstance(self.factor, int) and self.factor >= 1
        require(whole, f"the factor is a whole number, at least 1, not {self.factor}")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """Fewer samples."""
        rate = signals.rate / self.factor
        require(signals.dq is not None, "Decimate must come after Differentiate: differences need the full rate")
        if signals.cutoff is None and self.factor > 1:
            raise InputError("Decimate without a LowPass before it folds high frequencies into low ones: filter first")
        require(
            signals.cutoff is None or signals.cutoff < rate / 2,
            f"Decimate({self.factor}) leaves {rate:g} samples a second, too few for the low-pass at "
            f"{signals.cutoff or 0.0:g} Hz: take a factor below {signals.rate / 2 / (signals.cutoff or inf):.4g}",
        )
        return signals.taken(slice(0, None, self.factor)), f"1 of {self.factor} samples: {rate:.10g} Hz"


@dataclass(frozen=True)
class MaskReversals(_Printed):
    """Mask an actuator's rows near the reversals of its coordinate, where the sign of dry friction is uncertain.

    A wrong sign of a small velocity is the dominant error of identified friction. Masked is what lies within so many
    seconds of a sample that is slower than `speed`, or of a change of direction between two samples.

    Examples:
        >>> print(MaskReversals())
        MaskReversals()
    """

    speed: float = 0.05
    """Units of the coordinate per second."""
    within: float | None = None
    """Seconds; None takes one period of the low-pass's cutoff, and 0.03 s without a low-pass. A joint under control
    sticks for some time where it turns, and the filter spreads that."""

    def __post_init__(self) -> None:
        for field in ("speed", "within"):
            value = getattr(self, field)
            good = (value is None and field == "within") or (value is not None and 0 <= value < inf)
            require(good, f"{field} must be a number ≥ 0, but is {value}")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """The signals with fewer rows kept."""
        if signals.dq is None:
            raise InputError("MaskReversals needs velocities: put Differentiate before it")
        slow = np.abs(signals.dq) < self.speed
        turned = np.signbit(signals.dq[1:]) != np.signbit(signals.dq[:-1])
        slow[1:] |= turned
        slow[:-1] |= turned
        within = self.within
        if within is None:
            within = _WITHIN if signals.cutoff is None else 1 / signals.cutoff
        mask = _widened(slow, ceil(within * signals.rate))
        return signals.masked(mask), _shares(signals, mask, f"slower than {self.speed:g} within ±{within:g} s")


@dataclass(frozen=True)
class MaskWhere(_Printed):
    """Mask samples where a channel of the recording lies within [lower, upper], in SI units.

    If the channel is that of an actuator's effort, only that actuator's rows are masked, else those of all. "time" is
    a channel of every recording.

    Examples:
        >>> print(MaskWhere("V1", lower=9.9))
        MaskWhere(channel='V1', lower=9.9)
    """

    channel: str
    lower: float = -inf
    upper: float = inf
    within: float = 0.0
    """Seconds that are masked before and after as well."""

    def __post_init__(self) -> None:
        require(self.lower <= self.upper, f"lower {self.lower} must not exceed upper {self.upper}")
        require(0 <= self.within < inf, f"within must be a number ≥ 0, but is {self.within}")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """The signals with fewer rows kept."""
        recording = signals.recording
        timed = self.channel == "time" and "time" not in recording.names
        values: Array = recording.times if timed else recording[self.channel]
        inside = ((values >= self.lower) & (values <= self.upper))[:, None]
        mask = signals.of_recording(_widened(inside, ceil(self.within * recording.rate)))
        if self.channel in signals.effort_channels:
            mask = mask & (np.array(signals.effort_channels) == self.channel)
        mask = np.broadcast_to(mask, signals.kept.shape)
        return signals.masked(mask), _shares(signals, mask, f"'{self.channel}' in [{self.lower:g}, {self.upper:g}]")


def default_steps(
    rate: float,
    *,
    cutoff: float = 20.0,
    gain: float | tuple[float, ...] | None = None,
    speed: float = 0.05,
    within: float | None = None,
) -> tuple[Step, ...]:
    """The usual preparation of a recording at `rate`: lost samples, gain, filter, derivatives, ends, reversals, rate.

    The rate is lowered to five times the cutoff or a little more, which keeps all that the filter lets pass.

    Examples:
        >>> print(*default_steps(1000.0, gain=2.0), sep=", ")
        DropMissing(), EffortFromVoltage(gain=2.0), LowPass(cutoff=20.0), Differentiate(), Trim(), MaskReversals(), \
Decimate(factor=10)
    """
    steps: list[Step] = [DropMissing()]
    if gain is not None:
        steps.append(EffortFromVoltage(gain))
    steps += [LowPass(cutoff), Differentiate(), Trim(), MaskReversals(speed, within)]
    factor = floor(rate / (5 * cutoff))
    if factor > 1:
        steps.append(Decimate(factor))
    return tuple(steps)


def _bridged(x: Array, lost: Mask, names: tuple[str, ...]) -> Array:
    """`x` with straight lines in place of what was lost."""
    if not lost.any():
        return x
    result = x.copy(order="K")
    at = np.arange(len(x))
    for column in np.flatnonzero(lost.any(axis=0)):
        gone = lost[:, column]
        require(not gone.all(), f"every sample of '{names[column]}' is missing")
        result[gone, column] = np.interp(at[gone], at[~gone], x[~gone, column])
    return result


def _largest(difference: Array, units: tuple[str, ...]) -> str:
    """The largest root mean square of a column, with its unit."""
    squares = np.einsum("ij,ij->j", difference, difference) / len(difference)
    worst = int(np.argmax(squares))
    return f"{float(np.sqrt(squares[worst])):.2g} {units[worst]}".strip()


def _shares(signals: Signals, mask: Mask, why: str) -> str:
    """How many rows that were still kept a mask takes away."""
    gone = (mask & signals.kept).sum(axis=0)
    if not gone.any():
        return f"no row is {why}"
    each = ", ".join(f"{name} {count}" for name, count in zip(signals.actuators, gone.tolist(), strict=True))
    return f"{gone.sum()} rows masked ({each}): {why}"


def _surrounded(mask: Mask, samples: int) -> Mask:
    """The mask (N, n), each run of True longer at either end by so many samples and by its own length."""
    result = mask.copy(order="F")
    for column in range(mask.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], mask[:, column], [False]]).view(np.int8)))
        for start, stop in edges.reshape(-1, 2).tolist():
            reach = samples + stop - start
            result[max(start - reach, 0) : stop + reach, column] = True
    return result


def _widened(mask: Mask, samples: int) -> Mask:
    """The mask (N, n), True also so many samples before and after each True."""
    result = mask.copy(order="F")
    for column in range(mask.shape[1]):
        at = np.flatnonzero(mask[:, column])
        apart = np.flatnonzero(np.diff(at) > 2 * samples + 1)
        firsts, lasts = at[np.append(0, apart + 1)[: at.size]], at[np.append(apart, -1)[: at.size]]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            result[max(first - samples, 0) : last + samples + 1, column] = True
    return result
