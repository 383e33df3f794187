"""The steps that make a recording a measured motion: frozen values, each of which describes what it did."""

from dataclasses import dataclass, replace
from functools import cache
from math import ceil, floor, inf
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import InputError, require
from gough.core.text import counted, number, written
from gough.core.units import in_si, same_kind
from gough.data.filters import MEMORIES, differences, low_passed, memory, shortfall
from gough.data.measurement_noise import Band, ChannelNoise, channel_noise
from gough.data.motion import FullRate
from gough.data.recording import Recording

_SHORT = 1 / 8
"""Share of the cutoff's period that a gap which is bridged may last, from the sample before it to the one after it."""
_LOUD = 3.0
"""Times a channel's noise that bridging may err; the low-pass then leaves less of the errors than of the noise."""
_SHIFTS = tuple(sign * (6 + 7 * k) for k in range(4) for sign in (1, -1))
"""Samples by which the gaps of a channel are moved to where it is complete, to see how bridging errs there."""
_ALLOWANCE = 1.5
"""Factor on the largest error that was found so: other places err a little more."""
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
    noise: tuple[ChannelNoise, ChannelNoise] | None = None
    """Noise of positions and efforts as recorded, from what the low-pass has taken away."""
    full_rate: FullRate | None = None
    """The motion as first differentiated, where the efforts have passed a low-pass."""
    memory: float = 0.0
    """Seconds until the response of the low-pass of this preparation, applied or yet to come, is negligible."""
    planned: tuple[float, int] | None = None
    """Cutoff in Hz and order of that low-pass."""

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

    def without_unseen(self) -> "Signals":
        """The signals whose full rate rests where no row that is left sees it through the low-pass.

        A robot need not be able to reach the positions of a stretch that is masked because they are wrong.
        """
        full = self.full_rate
        left = self.kept.any(axis=1)
        if full is None or not left.any():
            return self
        reach = MEMORIES * memory(full.cutoff, full.order, full.rate)
        at, samples = full.at[left], np.arange(len(full.q))
        seen = np.flatnonzero(np.searchsorted(at, samples - reach) < np.searchsorted(at, samples + reach + 1))
        shown = seen[np.clip(np.searchsorted(seen, samples, side="right") - 1, 0, None)]
        rests = (shown != samples)[:, None]
        dq, ddq = (np.where(rests, 0.0, part) for part in (full.dq, full.ddq))
        return replace(self, full_rate=replace(full, q=full.q[shown], dq=dq, ddq=ddq)) if rests.any() else self

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
class EffortFromDriveSignal(_Printed):
    """Efforts are an amplifier's input voltages times its gain [NCPP, eq. (24)], or motor currents times theirs.

    Examples:
        >>> print(EffortFromDriveSignal((1.9, 2.1)))
        EffortFromDriveSignal(gain=(1.9, 2.1))
    """

    gain: float | tuple[float, ...]
    """Effort per volt, or per ampere, one for all actuators or one for each; its sign is that of the wiring."""
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
        """Efforts in place of voltages or currents."""
        n = len(signals.actuators)
        gains = np.broadcast_to(self.gain, n) if isinstance(self.gain, int | float) else np.array(self.gain)
        require(len(gains) == n, f"{len(gains)} gains do not fit {n} actuators ({', '.join(signals.actuators)})")
        are_currents = any(unit and same_kind(unit, "A") for unit in signals.effort_units)
        unit_in, what = ("A", "currents") if are_currents else ("V", "voltages")
        for channel, unit in zip(signals.effort_channels, signals.effort_units, strict=True):
            fits = not unit or same_kind(unit, unit_in)
            others = f"{what} in {unit_in} as another channel is" if are_currents else "in volts or amperes"
            require(
                fits, f"channel '{channel}' is in {unit}, not {others}: without EffortFromDriveSignal it is an effort"
            )
        assumed = "" if all(signals.effort_units) else f" (no unit was stated: taken as {unit_in})"
        values = ", ".join(f"{gain:.6g}" for gain in (gains if len(set(gains)) > 1 else gains[:1]))
        now = replace(signals, efforts=signals.efforts * gains, effort_units=(self.unit,) * n)
        return now, f"efforts are {what} times {values} {self.unit}/{unit_in}{assumed}"


@dataclass(frozen=True)
class DropMissing(_Printed):
    """Rows near samples that were lost are masked; isolated gaps may be bridged, and their rows kept.

    A lost position spoils every actuator's row of that instant, a lost effort only that of its actuator. A gap of at
    most `bridge` samples is bridged by the cubic through the two samples on either side, and its rows are kept, if the
    gap lasts no longer than an eighth of the period of the low-pass's cutoff, and if the same cubics, applied where the
    channel is complete, err by no more than three times its noise (rms of what the low-pass removes). The account
    states these errors. Before the filter, longer gaps are filled by straight lines, and the rows around are masked.

    Examples:
        >>> print(DropMissing(margin=0.1), DropMissing(bridge=3))
        DropMissing(margin=0.1) DropMissing(bridge=3)
    """

    margin: float | None = None
    """Seconds masked on either side; None takes the memory of the low-pass and the length of the gap."""
    bridge: int = 0
    """Samples of the longest gap that is bridged with its rows kept, at most 3; 0 bridges none."""

    def __post_init__(self) -> None:
        require(self.margin is None or 0 <= self.margin < inf, f"margin must be a number ≥ 0, but is {self.margin}")
        whole = isinstance(self.bridge, int) and 0 <= self.bridge <= 3
        require(whole, f"bridge must be a whole number from 0 to 3, but is {self.bridge}")

    def apply(self, signals: Signals) -> tuple[Signals, str]:
        """No signal is missing, and no row that would need it is kept."""
        require(signals.cutoff is None and signals.dq is None, "DropMissing must come before LowPass and Differentiate")
        lost_q, lost_efforts = np.isnan(signals.q), np.isnan(signals.efforts)
        if not (lost_q.any() or lost_efforts.any()):
            return signals, "no sample is missing"
        names = signals.coordinates, signals.effort_channels
        q, efforts = _filled(signals.q, lost_q, names[0]), _filled(signals.efforts, lost_efforts, names[1])
        bridges = [
            *self._bridges(signals, q, lost_q, names[0], signals.coordinate_units),
            *self._bridges(signals, efforts, lost_efforts, names[1], signals.effort_units),
        ]
        n_lost = int(lost_q.sum() + lost_efforts.sum())
        for one in bridges:
            one.values[one.at], one.lost[one.at] = one.bridged, False
        margin = signals.memory if self.margin is None else self.margin
        around = _surrounded if self.margin is None else widened
        samples = ceil(margin * signals.rate)
        mask = around(np.asarray(lost_q.any(axis=1, keepdims=True)), samples) | around(lost_efforts, samples)
        n_masked = int(lost_q.sum() + lost_efforts.sum())
        did = []
        if n_lost > n_masked:
            costs = _costs(bridges, signals.coordinates)
            did.append(f"{n_lost - n_masked} of {n_lost} lost readings bridged by cubics, rows kept ({costs})")
        if n_masked:
            others = " other" if n_lost > n_masked else ""
            did.append(f"{n_masked}{others} lost readings filled by lines, rows within {margin:.3g} s of them masked")
        if n_masked and (longest := self._longest(signals)) is not None:
            short = f"gaps of up to {counted(longest, 'sample')} whose error stays below the noise"
            did.append(f"bridged at this rate and cutoff: {short if longest else 'no gap, however short'}")
        return replace(signals, q=q, efforts=efforts).masked(mask), "; ".join(did)

    def _longest(self, signals: Signals) -> int | None:
        """Samples of the longest gap that is bridged at this rate and cutoff; None where none is to be bridged."""
        if not self.bridge or signals.planned is None:
            return None
        return max(min(self.bridge, floor(_SHORT * signals.rate / signals.planned[0] + 1e-9) - 1), 0)

    def _bridges(
        self, signals: Signals, x: Array, lost: Mask, names: tuple[str, ...], units: tuple[str, ...]
    ) -> list["_Bridge"]:
        """What is bridged of each channel, (N, n) filled by straight lines."""
        longest = self._longest(signals)
        if longest is None:
            return []
        tried = (
            _bridge((names[i], units[i]), x[:, i], lost[:, i], signals, longest)
            for i in np.flatnonzero(lost.any(axis=0)).tolist()
        )
        return [one for one in tried if one is not None]


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
        band = Band(self.cutoff, self.order, signals.rate)
        turned = np.signbit(np.diff(q, axis=0, prepend=q[:1])) != np.signbit(np.diff(q, axis=0, append=q[-1:]))
        noise = channel_noise(signals.q, q, band), channel_noise(signals.efforts, efforts, band, turned)
        now = replace(signals, q=q, efforts=efforts, cutoff=self.cutoff, order=self.order, noise=noise)
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
            noise = signals.noise or (None, None)
            full = FullRate(signals.rate, x, dx, ddx, at, starts, signals.cutoff, signals.order, *noise)
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
        mask = widened(slow, ceil(within * signals.rate))
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
        mask = signals.of_recording(widened(inside, ceil(self.within * recording.rate)))
        if self.channel in signals.effort_channels:
            mask = mask & (np.array(signals.effort_channels) == self.channel)
        mask = np.broadcast_to(mask, signals.kept.shape)
        left = signals.masked(mask).without_unseen()
        return left, _shares(signals, mask, f"'{self.channel}' in [{self.lower:g}, {self.upper:g}]")


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
        DropMissing(), EffortFromDriveSignal(gain=2.0), LowPass(cutoff=20.0), Differentiate(), Trim(), \
MaskReversals(), Decimate(factor=10)
    """
    steps: list[Step] = [DropMissing()]
    if gain is not None:
        steps.append(EffortFromDriveSignal(gain))
    steps += [LowPass(cutoff), Differentiate(), Trim(), MaskReversals(speed, within)]
    factor = floor(rate / (5 * cutoff))
    if factor > 1:
        steps.append(Decimate(factor))
    return tuple(steps)


def _filled(x: Array, lost: Mask, names: tuple[str, ...]) -> Array:
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


@dataclass(frozen=True, eq=False)
class _Bridge:
    """Samples of one channel that are bridged, and how cubics err where the channel is complete."""

    name: str
    unit: str
    values: Array
    """(N,) of the channel, to write to."""
    lost: Mask
    """(N,), to write to."""
    at: Integers
    """Places of the samples that are bridged."""
    bridged: Array
    error: float
    """Root mean square."""
    filtered: float
    """Largest error that the low-pass leaves."""
    second: float
    """Largest error of the second derivative then."""
    noise: float
    """Root mean square of what the low-pass removes from the channel."""


def _bridge(label: tuple[str, str], x: Array, lost: Mask, signals: Signals, longest: int) -> _Bridge | None:
    """Cubics over the gaps of one channel of at most `longest` samples; None where there are none, or they err much."""
    assert signals.planned is not None
    gaps = [(a, b) for a, b in _runs(lost) if b - a <= longest and _is_complete(lost, a, b)]
    values = x.copy()
    for a, b in gaps:
        values[a:b] = _cubic(x, a, b)
    errors, tried = np.zeros((2, len(x), len(_SHIFTS)))
    for column, shift in enumerate(_SHIFTS):
        for a, b in ((a + shift, b + shift) for a, b in gaps):
            if _is_complete(lost, a, b) and not lost[a:b].any():
                errors[a:b, column], tried[a:b, column] = _cubic(x, a, b) - x[a:b], 1.0
    if not tried.any():
        return None
    impulse = np.zeros(len(x))
    impulse[len(x) // 2] = max(_worst_sum(x, lost, gap) for gap in {b - a for a, b in gaps})
    filtered = low_passed(np.column_stack([errors, impulse, values]), *signals.planned, signals.rate)
    size, noise = float(np.sqrt((errors**2).sum() / tried.sum())), float(np.std(values - filtered[:, -1]))
    if size > _LOUD * noise:
        return None
    at = np.concatenate([np.arange(a, b) for a, b in gaps])
    left = filtered[:, :-1]
    first, second = (_ALLOWANCE * float(abs(each).max()) for each in (left, differences(left, signals.rate)[1]))
    name, unit = label
    return _Bridge(name, unit, x, lost, at, values[at], size, first, second, noise)


def _worst_sum(x: Array, lost: Mask, gap: int) -> float:
    """The largest sum of the errors of a cubic over a gap of this length, anywhere in the complete parts of a channel.

    A low-pass answers to the errors of a short gap as to an impulse of their sum. Somewhere a gap may hide a jump, such
    as that of dry friction: this is as if it hid the largest one of the channel.
    """
    spans = np.lib.stride_tricks.sliding_window_view(x, gap + 4)
    whole = ~np.lib.stride_tricks.sliding_window_view(lost, gap + 4).any(axis=1)
    weights = np.concatenate([_weights(gap).sum(axis=0)[:2], -np.ones(gap), _weights(gap).sum(axis=0)[2:]])
    return float(abs(spans @ weights).max(where=whole, initial=0.0))


def _costs(bridges: list[_Bridge], moving: tuple[str, ...]) -> str:
    """How bridging errs, for each unit in its worst channel; those of `moving` have accelerations."""
    worst: dict[str, _Bridge] = {}
    for one in bridges:
        if one.unit not in worst or one.filtered > worst[one.unit].filtered:
            worst[one.unit] = one
    texts = []
    for one in worst.values():
        size, left, second = (number(value, digits=2) for value in (one.error, one.filtered, one.second))
        text = f"where '{one.name}' is complete, they err by {size} {one.unit}"
        text += f", {number(one.error / one.noise, digits=2)} times its noise" if one.noise else ""
        text += f", and after the low-pass by at most about {left} {one.unit}"
        texts.append(text + (f" and {second} {one.unit}/s²" if one.name in moving else ""))
    return "; ".join(texts)


def _runs(lost: Mask) -> list[tuple[int, int]]:
    """Begin and end of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lost, [False]]).view(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _is_complete(lost: Mask, begin: int, end: int) -> bool:
    """Whether there are two samples on either side of a gap."""
    inside = begin >= 2 and end + 2 <= len(lost)
    return inside and not (lost[begin - 2 : begin].any() or lost[end : end + 2].any())


def _cubic(x: Array, begin: int, end: int) -> Array:
    """Values from begin to before end of the cubic through the two samples on either side."""
    weights = _weights(end - begin)
    return np.asarray(weights @ x[[begin - 2, begin - 1, end, end + 1]])


@cache
def _weights(gap: int) -> Array:
    """(gap, 4): weights of the samples at −2, −1, gap and gap + 1 in the cubic's values at 0 … gap − 1."""
    nodes, at = np.array([-2.0, -1.0, gap, gap + 1.0]), np.arange(float(gap))
    return np.stack(
        [np.prod([(at - other) / (node - other) for other in nodes if other != node], axis=0) for node in nodes],
        axis=1,
    )


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
        for start, stop in _runs(mask[:, column]):
            reach = samples + stop - start
            result[max(start - reach, 0) : stop + reach, column] = True
    return result


def widened(mask: Mask, samples: int) -> Mask:
    """The mask (N, n), True also so many samples before and after each True."""
    result = mask.copy(order="F")
    for column in range(mask.shape[1]):
        at = np.flatnonzero(mask[:, column])
        apart = np.flatnonzero(np.diff(at) > 2 * samples + 1)
        firsts, lasts = at[np.append(0, apart + 1)[: at.size]], at[np.append(apart, -1)[: at.size]]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            result[max(first - samples, 0) : last + samples + 1, column] = True
    return result
