"""One motion recorded several times: periods of a periodic motion, or runs of the same program."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gough.core.arrays import Array, ArrayValue, Integers, Mask, array
from gough.core.errors import InputError, require, require_positive
from gough.data.recording import Recording
from gough.data.steps import EffortFromDriveSignal
from gough.methods.noise.repeats import RepeatNoise, noise_from_repeats


@dataclass(frozen=True, eq=False)
class RepeatedMotion(ArrayValue):
    """R repeats of one motion, N samples each: positions as the encoders read them, and efforts.

    Nothing is filtered or differentiated. A reading that was lost is NaN.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> once = np.cos(np.linspace(0, 2 * np.pi, 100, endpoint=False))[:, None]
        >>> motion = RepeatedMotion(
        ...     50.0, once + 1e-3 * rng.normal(size=(4, 100, 1)), 2 * once + 0.1 * rng.normal(size=(4, 100, 1)),
        ...     coordinates=["q1"], coordinate_units=["rad"], actuators=["motor 1"], effort_units=["N·m"],
        ... )
        >>> motion.n_repeats, motion.period, motion.noise.sigma.round(4)
        (4, 2.0, array([0.0009, 0.1072]))
    """

    rate: float
    """Samples a second."""
    q: Array
    """(R, N, n) positions."""
    efforts: Array
    """(R, N, actuators)."""
    coordinates: tuple[str, ...] = ()
    coordinate_units: tuple[str, ...] = ()
    actuators: tuple[str, ...] = ()
    effort_units: tuple[str, ...] = ()
    source: str = ""
    """Where it comes from."""

    def __post_init__(self) -> None:
        for field in ("q", "efforts"):
            object.__setattr__(self, field, array(getattr(self, field), field, ndim=3, copy=False))
        require(
            self.q.shape[:2] == self.efforts.shape[:2],
            f"positions have {self.q.shape[0]} repeats of {self.q.shape[1]} samples, but efforts "
            f"{self.efforts.shape[0]} of {self.efforts.shape[1]}: both are recorded together",
        )
        require(self.q.size > 0, "a repeated motion needs at least one repeat with one sample")
        for fields, values in (
            (("coordinates", "coordinate_units"), self.q),
            (("actuators", "effort_units"), self.efforts),
        ):
            for field in fields:
                texts = tuple(getattr(self, field))
                object.__setattr__(self, field, texts)
                require(len(texts) == values.shape[2], f"{field} must be {values.shape[2]} texts, one per column")
        require_positive(self.rate, "rate", "samples a second")

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return len(self.q)

    @property
    def n_samples(self) -> int:
        """Samples of one repeat."""
        return int(self.q.shape[1])

    @property
    def period(self) -> float:
        """Duration of a repeat in seconds."""
        return self.n_samples / self.rate

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of positions, then efforts."""
        return channel_names(self.coordinates, self.actuators)

    @property
    def readings(self) -> Array:
        """(R, N, positions + efforts)."""
        return np.concatenate([self.q, self.efforts], axis=2)

    @cached_property
    def noise(self) -> RepeatNoise:
        """The errors of positions and efforts, estimated from the repeats.

        Raises:
            InputError: there is one repeat only, or a channel never changes from repeat to repeat.
        """
        return noise_from_repeats(self.readings, self.channels)

    @cached_property
    def mean(self) -> Array:
        """(N, positions + efforts) mean over the repeats, NaN where no repeat has a reading."""
        return _mean(self.readings)[0]

    @cached_property
    def count(self) -> Array:
        """(N,) repeats that have a reading."""
        return _mean(self.readings)[1]

    def select(self, repeats: Sequence[int] | Integers | slice) -> "RepeatedMotion":
        """Some of the repeats.

        Examples:
            >>> once = np.zeros((5, 10, 1))
            >>> names = {k: [k] for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
            >>> RepeatedMotion(10.0, once, once, **names).select(slice(1, None)).n_repeats
            4
        """
        q, efforts = self.q[repeats], self.efforts[repeats]
        require(len(q) > 0, "no repeat is left")
        return replace(self, q=q, efforts=efforts)

    def recording(self, efforts: Sequence[str] | None = None) -> Recording:
        """All repeats one after the other, as they would be recorded; `efforts` names their channels.

        Examples:
            >>> names = {k: [k] for k in ("coordinates", "actuators")}
            >>> units = {"coordinate_units": ["m"], "effort_units": ["N"]}
            >>> RepeatedMotion(10.0, *np.zeros((2, 3, 20, 1)), **names, **units).recording(["F1"]).names
            ('coordinates', 'F1')
        """
        names = self.channels if efforts is None else (*self.coordinates, *efforts)
        samples = self.readings.reshape(-1, len(self.channels))
        return Recording(names, self.coordinate_units + self.effort_units, samples, self.rate, source=self.source)

    @staticmethod
    def concatenate(*parts: "RepeatedMotion") -> "RepeatedMotion":
        """Repeats from several places as repeats of one motion; all begin at the same point of it.

        Raises:
            InputError: they differ in length, rate or channels; the message names both.

        Examples:
            >>> names = {k: [k] for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
            >>> few, more = (RepeatedMotion(10.0, *np.zeros((2, n, 10, 1)), **names) for n in (2, 3))
            >>> RepeatedMotion.concatenate(few, more).n_repeats
            5
        """
        require(len(parts) > 0, "there is no motion to put together")
        first = parts[0]
        for k, other in enumerate(parts[1:], start=2):
            names = first.source or "the first", other.source or f"number {k}"
            _require_alike(names, (first.rate, other.rate), (first.n_samples, other.n_samples))
            require(other.channels == first.channels, f"{names[1]} has other channels than {names[0]}")
        sources = dict.fromkeys(part.source for part in parts if part.source)
        q, efforts = (np.concatenate([getattr(part, field) for part in parts]) for field in ("q", "efforts"))
        return replace(first, q=q, efforts=efforts, source=", ".join(sources))


def channel_names(coordinates: Sequence[str], actuators: Sequence[str]) -> tuple[str, ...]:
    """Names of positions, then efforts, no two alike: an actuator may be called like its coordinate."""
    return (*coordinates, *(f"effort of {name}" if name in coordinates else name for name in actuators))


def _require_alike(names: tuple[str, str], rates: tuple[float, float], lengths: tuple[int, int]) -> None:
    """Refuse repeats that cannot be compared instant by instant."""
    require(
        rates[0] == rates[1],
        f"{names[1]} has {rates[1]:g} samples a second, but {names[0]} {rates[0]:g}: repeats are compared instant by "
        "instant, so record or resample all at one rate",
    )
    require(
        lengths[0] == lengths[1],
        f"{names[1]} has {lengths[1]} samples, but {names[0]} has {lengths[0]}: repeats are compared instant by "
        "instant, so cut all to the same part of the motion",
    )


def _mean(values: Array) -> tuple[Array, Array]:
    present: Mask = np.asarray(np.isfinite(values).all(axis=2))
    count = np.asarray(present.sum(axis=0), dtype=np.float64)
    total = np.where(present[:, :, None], values, 0.0).sum(axis=0)
    return total / np.where(count > 0, count, np.nan)[:, None], count


def periods(
    recording: Recording,
    coordinates: Sequence[str],
    efforts: Sequence[str],
    *,
    period: float,
    skip: int = 1,
    amplifier: EffortFromDriveSignal | None = None,
    actuators: Sequence[str] | None = None,
) -> RepeatedMotion:
    """The periods of a periodic motion, cut out of one recording.

    Args:
        recording: What was recorded, in any units.
        coordinates: Channels of the positions.
        efforts: Channels of the efforts, or of voltages.
        period: Duration of a period in seconds: a whole number of samples.
        skip: So many periods at the beginning are left out, because the motion is not yet periodic.
        amplifier: Makes efforts of voltages; None takes the channels for efforts.
        actuators: Names of the actuators; None takes those of the channels.

    Raises:
        InputError: a channel is not there, the period is no whole number of samples, or no period is complete.

    Examples:
        >>> t = np.arange(1050) / 100
        >>> recording = Recording(["q", "V"], ["rad", "V"], np.stack([np.sin(np.pi * t), np.cos(np.pi * t)], 1), 100.0)
        >>> periods(recording, ["q"], ["V"], period=2.0, amplifier=EffortFromDriveSignal(3.0)).efforts.shape
        (4, 200, 1)
    """
    n = round(period * recording.rate)
    if n < 1 or abs(n - period * recording.rate) > 1e-6 * max(n, 1):
        raise InputError(
            f"a period of {period:g} s has {period * recording.rate:.6g} samples at {recording.rate:g} Hz, not a whole "
            "number: periods could not be compared instant by instant. Choose rate and period to fit, or resample"
        )
    require(skip >= 0, f"skip must be a number of periods, but is {skip}")
    R = len(recording) // n - skip
    if R < 1:
        raise InputError(
            f"{recording.source or 'the recording'} has {len(recording) / n:.2f} periods of {n} samples; {skip} are "
            "skipped and none is left: record longer, or skip fewer"
        )
    part = slice(skip * n, (skip + R) * n)
    return _motion([(recording, part)], n, (coordinates, efforts), amplifier=amplifier, actuators=actuators)


def runs(
    recordings: Sequence[Recording],
    coordinates: Sequence[str],
    efforts: Sequence[str],
    *,
    amplifier: EffortFromDriveSignal | None = None,
    actuators: Sequence[str] | None = None,
) -> RepeatedMotion:
    """Several recordings of the same motion, each of them one repeat; they begin at the same point of it.

    Raises:
        InputError: they differ in length or rate; the message names both.

    Examples:
        >>> one = Recording(["q", "T"], ["rad", "N·m"], np.zeros((50, 2)), 100.0)
        >>> runs([one, one], ["q"], ["T"]).n_repeats
        2
    """
    require(len(recordings) > 0, "there is no recording")
    first = recordings[0]
    for k, other in enumerate(recordings[1:], start=2):
        names = first.source or "the first", other.source or f"recording {k}"
        _require_alike(names, (first.rate, other.rate), (len(first), len(other)))
    n = len(first)
    parts = [(recording, slice(0, n)) for recording in recordings]
    return _motion(parts, n, (coordinates, efforts), amplifier=amplifier, actuators=actuators)


def _motion(
    parts: Sequence[tuple[Recording, slice]],
    n: int,
    channels: tuple[Sequence[str], Sequence[str]],
    *,
    amplifier: EffortFromDriveSignal | None,
    actuators: Sequence[str] | None,
) -> RepeatedMotion:
    si = [(recording.in_si(), part) for recording, part in parts]
    q, y = (
        np.concatenate([recording.columns(names)[part].reshape(-1, n, len(names)) for recording, part in si])
        for names in channels
    )
    (coordinates, efforts), first = channels, si[0][0]
    units = tuple(first.unit(name) for name in efforts)
    if amplifier is not None:
        gains = np.atleast_1d(np.asarray(amplifier.gain, dtype=np.float64))
        require(len(gains) in {1, len(efforts)}, f"{len(gains)} gains do not fit {len(efforts)} efforts")
        y, units = y * gains, (amplifier.unit,) * len(efforts)
    return RepeatedMotion(
        first.rate,
        q,
        y,
        tuple(coordinates),
        tuple(first.unit(name) for name in coordinates),
        tuple(efforts if actuators is None else actuators),
        units,
        first.source,
    )
