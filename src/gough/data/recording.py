"""What a robot recorded: named channels with units, sampled together at an even rate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, Integers, Mask, array
from gough.core.errors import InputError, require
from gough.core.tables import table
from gough.core.text import number, percent, require_encodable
from gough.core.units import factor_between, in_si, same_kind
from gough.data.held_values import HeldValue, held_value
from gough.data.sources import nearest_name

MOST_TURNS = 4 * np.pi
"""An actuated arm of a parallel robot does not turn further: beyond it, radians are probably degrees."""
_CLIPPED, _HELD = 0.01, 5
"""Part of the samples with the same extreme value, and consecutive ones among them, from which on it is remarked."""
_OF_POSITIONS = ("rad", "m")


@dataclass(frozen=True, eq=False)
class Recording(ArrayValue):
    """Channels by name, all sampled at the same instants, `rate` times a second.

    A sample that was lost is NaN in its channel; infinities are refused. Units that are not stated are "".

    Examples:
        >>> recording = Recording(["q1", "V1"], ["rad", "V"], [[0.0, 1.5], [0.1, 1.6], [0.2, 1.4]], rate=1000.0)
        >>> recording["V1"], recording.duration
        (array([1.5, 1.6, 1.4]), 0.002)
        >>> print(recording)
        3 samples at 1000 Hz, 0.002 s
        channel  unit  least  greatest  missing
        ───────  ────  ─────  ────────  ───────
        q1       rad       0    0.2000        0
        V1       V     1.400     1.600        0
    """

    names: tuple[str, ...]
    """Names of the channels."""
    units: tuple[str, ...]
    """Unit of each channel; "" where none is stated."""
    samples: Array
    """(N, channels)."""
    rate: float
    """Samples a second."""
    start: float = 0.0
    """Time of the first sample in seconds."""
    source: str = ""
    """Where it comes from: usually a file."""
    rows: Integers | None = None
    """(N,) row of the source that each sample is, counted from 1; −k where it was lost after row k; None: 1, 2, 3, …"""
    began: str = ""
    """Date and time of the first sample of the source, where the source has it."""
    notes: tuple[str, ...] = ()
    """Remarks of whoever made the recording, such as that its times seem to be in another unit."""
    jitter: float = 0.0
    """Root mean square deviation of the source's times from the even grid, s."""

    def __post_init__(self) -> None:
        for field in ("names", "units", "notes"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        samples = array(self.samples, "samples", ndim=2, copy=False)
        object.__setattr__(self, "samples", samples)
        require(len(self.names) > 0, "a recording needs at least one channel")
        require_encodable((*self.names, *self.units), "name of a channel")
        twice = [name for name in self.names if self.names.count(name) > 1]
        require(not twice, f"channel '{twice and twice[0]}' stands more than once")
        require(
            len(self.units) == len(self.names), f"{len(self.names)} channels need as many units, not {len(self.units)}"
        )
        require(
            samples.shape[1] == len(self.names),
            f"{len(self.names)} channels ({', '.join(self.names)}) need as many columns, but there are "
            f"{samples.shape[1]}",
        )
        require(len(samples) > 0, "a recording needs at least one sample")
        for name, unit in zip(self.names, self.units, strict=True):
            _require_unit(name, unit)
        for field in ("rate", "start"):
            object.__setattr__(self, field, float(getattr(self, field)))
        require(0 < self.rate < np.inf, f"rate must be a positive number, not {self.rate:g}")
        require(bool(np.isfinite(self.start)), f"start must be a finite number, not {self.start:g}")
        if self.rows is not None:
            rows = np.asarray(self.rows, dtype=np.int64)
            require(rows.shape == (len(samples),), f"rows must be {len(samples)} whole numbers, one for each sample")
            object.__setattr__(self, "rows", rows)
        for name, channel in zip(self.names, samples.T, strict=True):
            wrong = np.flatnonzero(np.isinf(channel))
            require(not wrong.size, f"channel '{name}' is infinite {self.place(wrong[:1].sum())}")

    def __getitem__(self, name: str) -> Array:
        """The samples (N,) of one channel."""
        return self.samples[:, self._column(name)]

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def times(self) -> Array:
        """(N,) instants in seconds."""
        return self.start + np.arange(len(self)) / self.rate

    @property
    def duration(self) -> float:
        """Seconds from the first sample to the last."""
        return (len(self) - 1) / self.rate

    def row_of(self, samples: Any) -> Integers:
        """Rows of the source, as in `rows`, that samples, counted from 0, are."""
        return np.asarray(samples) + 1 if self.rows is None else self.rows[samples]

    def place(self, sample: int) -> str:
        """Where a sample, counted from 0, is in the source, for a message.

        Examples:
            >>> Recording(["q1"], ["rad"], [[0.1], [np.nan], [0.2]], rate=100.0, rows=[1, -1, 2]).place(1)
            'at t = 0.01 s, between rows 1 and 2'
        """
        row = int(self.row_of(sample))
        if row > 0:
            return f"in row {row}"
        return f"at t = {self.start + sample / self.rate:.6g} s, between rows {-row} and {1 - row}"

    def unit(self, name: str) -> str:
        """The unit of one channel."""
        return self.units[self._column(name)]

    def select(self, names: Iterable[str]) -> "Recording":
        """The recording with these channels only, in this order.

        Examples:
            >>> Recording(["a", "b"], ["", ""], [[1, 2]], rate=1.0).select(["b"]).samples
            array([[2.]])
        """
        columns = [self._column(name) for name in names]
        units = tuple(self.units[i] for i in columns)
        return replace(self, names=tuple(self.names[i] for i in columns), units=units, samples=self.samples[:, columns])

    def between(self, begin: float = 0.0, end: float | None = None) -> "Recording":
        """What was recorded from `begin` to before `end`, in seconds since the first sample.

        Raises:
            InputError: the recording is shorter, or nothing is left.

        Examples:
            >>> recording = Recording(["q"], ["rad"], np.zeros((100, 1)), rate=10.0)
            >>> part = recording.between(2.0, 5.0)
            >>> len(part), part.start
            (30, 2.0)
        """
        first = ceil(begin * self.rate - 1e-6)
        after = len(self) if end is None else ceil(end * self.rate - 1e-6)
        if not 0 <= first < after <= len(self):
            part = f"from {begin:g} s" + ("" if end is None else f" to {end:g} s")
            raise InputError(f"the recording lasts {len(self) / self.rate:.6g} s: there is no part of it {part}")
        rows = self.row_of(np.arange(first, after))
        return replace(self, samples=self.samples[first:after], start=self.start + first / self.rate, rows=rows)

    def columns(self, names: Iterable[str]) -> Array:
        """The samples (N, k) of some channels, each of them contiguous."""
        return np.asfortranarray(self.samples[:, [self._column(name) for name in names]])

    def to(self, *units: str) -> "Recording":
        """The recording with the channels that measure the same as one of `units` converted to it.

        Examples:
            >>> Recording(["q", "V"], ["rad", "V"], [[np.pi, 0.5]], rate=1.0).to("deg", "mV").samples
            array([[180., 500.]])
        """
        return self.in_units({n: new for new in units for n, u in zip(self.names, self.units, strict=True)
                              if u and same_kind(u, new)})  # fmt: skip

    def in_units(self, units: Mapping[str, str]) -> "Recording":
        """The recording with some channels, by name, converted to other units."""
        samples, changed = self.samples.copy(order="K"), list(self.units)
        for name, unit in units.items():
            column = self._column(name)
            try:
                samples[:, column] *= factor_between(self.units[column], unit)
            except InputError as error:
                raise InputError(f"channel '{name}': {error}") from error
            changed[column] = unit
        return replace(self, samples=samples, units=tuple(changed))

    def in_si(self) -> "Recording":
        """The recording with every channel in SI units."""
        other = {n: in_si(u)[1] for n, u in zip(self.names, self.units, strict=True) if in_si(u) != (1.0, u)}
        return self.in_units(other) if other else self

    @property
    def remarks(self) -> tuple[str, ...]:
        """What looks odd though it may be right: the rate, angles beyond two turns, jumps of a turn, constant channels,
        positions that stop within one sample.

        Examples:
            >>> Recording(["q1"], ["rad"], [[80.0], [90.0]], rate=1.0).remarks[0].split(":")[0]
            "channel 'q1' reaches 90 rad, more than two turns"
        """
        return (
            *self.notes,
            *(
                remark
                for name, unit, channel in zip(self.names, self.units, self.samples.T, strict=True)
                for remark in self._remarks(name, unit, channel)
            ),
            *map(self.on_held, self.held),
        )

    @cached_property
    def held(self) -> Mapping[str, HeldValue]:
        """Positions that hold a value while they must have moved, by channel."""
        found = {
            name: held_value(channel, self.rate)
            for name, unit, channel in zip(self.names, self.units, self.samples.T, strict=True)
            if in_si(unit)[1] in _OF_POSITIONS
        }
        return {name: held for name, held in found.items() if held is not None}

    def on_held(self, name: str) -> str:
        """What is odd about a held position, and how to leave its rows out."""
        held, unit = self.held[name], self.unit(name)
        began, lasts = self.times[held.first], held.length / self.rate
        where = self.place(held.first).replace("in row", "from row")
        return (
            f"channel '{name}' holds {number(held.value)} {unit} for {number(lasts)} s {where} on, "
            f"{held.in_words(unit)}: a dropout? To leave it out, in [preparation]: "
            f'mask = [{{channel = "time", lower = {began:.6g}, upper = {began + lasts:.6g}, within = "0.15 s"}}]'
        )

    def __str__(self) -> str:
        heads = ["channel", "unit", "least", "greatest", "missing"]
        rows = [
            [
                name,
                unit,
                *(number(end) if end else "0" for end in _extremes(channel)),
                str(int(np.isnan(channel).sum())),
            ]
            for name, unit, channel in zip(self.names, self.units, self.samples.T, strict=True)
        ]
        source = f"{self.source}: " if self.source else ""
        began = f", began {self.began}" if self.began else ""
        title = f"{source}{len(self)} samples at {self.rate:.10g} Hz, {self.duration:.6g} s{began}"
        return "\n".join([title, str(table(heads, rows, "lurrr")), *self.remarks])

    def _remarks(self, name: str, unit: str, channel: Array) -> Iterable[str]:
        least, greatest = _extremes(channel)
        peak = max(abs(least), abs(greatest))
        if np.isnan(peak):
            yield f"channel '{name}' has no sample at all"
        elif unit == "rad" and peak > MOST_TURNS:
            yield (
                f"channel '{name}' reaches {peak:.4g} rad, more than two turns: "
                f"if these are degrees, state units={{'{name}': 'deg'}}, in a study [data.units] {name} = \"deg\""
            )
        elif unit == "rad" and greatest - least > np.pi:
            steps = np.nan_to_num(abs(np.diff(channel)))
            jump = int(np.argmax(steps))
            if steps[jump] > np.pi:
                where = f"after row {abs(int(self.row_of(jump)))}"
                yield f"channel '{name}' jumps by {steps[jump]:.3g} rad {where}: does its counter wrap around?"
        elif least == greatest and len(channel) > 1:
            yield f"channel '{name}' never changes: is it connected?"
        for end, which in ((least, "least"), (greatest, "greatest")):
            share = float((channel == end).mean())
            if least < greatest and share > _CLIPPED and _longest(channel == end) > _HELD:
                yield (
                    f"channel '{name}' has its {which} value {number(end)} in {percent(share)} of the samples: is it "
                    "saturated? Such rows contradict the model: leave them out by [[preparation.mask]] in a study"
                )

    def _column(self, name: str) -> int:
        if name not in self.names:
            close = nearest_name(name, self.names) or f"; there are: {', '.join(self.names)}"
            where = f" in {self.source}" if self.source else ""
            raise InputError(f"there is no channel '{name}'{where}{close}")
        return self.names.index(name)


def _require_unit(name: str, unit: str) -> None:
    try:
        in_si(unit)
    except InputError as error:
        raise InputError(f"channel '{name}': {error}") from error


def _longest(mask: Mask) -> int:
    """Length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _extremes(channel: Array) -> tuple[float, float]:
    """Least and greatest sample that is there; NaN if there is none."""
    least, greatest = float(channel.min()), float(channel.max())
    if least == least:  # noqa: PLR0124 - not NaN
        return least, greatest
    present = channel[~np.isnan(channel)]
    return (float(present.min()), float(present.max())) if present.size else (np.nan, np.nan)
