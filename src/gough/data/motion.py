"""A measured motion, ready for identification: positions, velocities, accelerations, efforts, and what is masked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from gough.core.arguments import instance
from gough.core.arrays import Array, ArrayValue, Integers, Mask, array, first_not_finite
from gough.core.errors import require
from gough.core.tables import Cell, Table, table
from gough.core.text import number
from gough.data.measurement_noise import Band, ChannelNoise


@dataclass(frozen=True)
class StepReport:
    """What one step of a preparation did.

    Examples:
        >>> print(StepReport("Trim(0.1)", "100 samples cut off at each end", samples=800, rows=3200))
        Trim(0.1): 100 samples cut off at each end; 3200 rows remain
    """

    step: str
    """The step as one would write it; where the recording comes from in the first line."""
    did: str
    """What it did, in words."""
    samples: int
    """Number of samples after it."""
    rows: int
    """Number of rows (samples × actuators, without those masked) after it."""
    remarks: tuple[str, ...] = ()
    """What looks odd in a recording, see `Recording.remarks`."""
    dropouts: tuple["Dropout", ...] = ()
    """Stretches of a recording without measurements."""

    def __str__(self) -> str:
        return f"{self.step}: {self.did}; {self.rows} rows remain"


class Dropout(NamedTuple):
    """A stretch of a channel without measurements: samples are missing, or repeat one value while it must have moved.

    Examples:
        >>> Dropout("robot/run.csv", "q1", "held", 3201, 3.2, 2.8, is_left_out=False).words
        "channel 'q1' of run.csv drops out (it holds its value for 2.800 s from row 3201 on)"
    """

    source: str
    """The recording."""
    channel: str
    kind: str
    """What the file has instead: "held" (one value) or "missing" (none)."""
    row: int
    """First row of the stretch."""
    begin: float
    """Its instant, in seconds."""
    duration: float
    """In seconds."""
    is_left_out: bool
    """Whether no row of the stretch takes part."""

    @property
    def words(self) -> str:
        """As a clause."""
        what = "it holds its value" if self.kind == "held" else "samples are missing"
        where = f"channel '{self.channel}' of {PurePath(self.source).name}"
        return f"{where} drops out ({what} for {number(self.duration)} s from row {self.row} on)"


@dataclass(frozen=True, eq=False)
class FullRate(ArrayValue):
    """The motion (M, n) at the rate of the recording, and the low-pass that the efforts have passed.

    What is computed from the motion has to pass the same low-pass before it is compared with the efforts: the sign of
    a velocity jumps, a filtered effort does not. That takes all samples, before any is trimmed or decimated away.

    Examples:
        >>> FullRate(1000.0, np.zeros((9, 1)), np.zeros((9, 1)), np.zeros((9, 1)), [0, 4, 8], [0], 20.0, 4).pieces
        (slice(0, 9, None),)
    """

    rate: float
    """Samples a second."""
    q: Array
    dq: Array
    ddq: Array
    at: Integers
    """Which of the M samples each of the N samples of the motion is."""
    starts: Integers
    """Where each recording begins."""
    cutoff: float
    """Hz of the low-pass."""
    order: int
    """Order of the low-pass in one direction."""
    positions_noise: ChannelNoise | None = None
    """Noise of the positions as recorded, measured above the band; None where nothing was measured."""
    efforts_noise: ChannelNoise | None = None
    """The same of the efforts."""

    def __post_init__(self) -> None:
        for field in ("q", "dq", "ddq"):
            object.__setattr__(self, field, array(getattr(self, field), field, ndim=2, copy=False))
        for field in ("at", "starts"):
            object.__setattr__(self, field, np.asarray(getattr(self, field), dtype=np.int64))

    @property
    def band(self) -> Band:
        """The band that the low-pass leaves."""
        return Band(self.cutoff, self.order, self.rate)

    @property
    def pieces(self) -> tuple[slice, ...]:
        """The range of samples of each recording."""
        return tuple(slice(a, b) for a, b in pairwise([*self.starts.tolist(), len(self.q)]))

    @classmethod
    def concatenate(cls, *parts: "FullRate") -> "FullRate":
        """Several recordings, one after the other."""
        first = parts[0]
        for field in ("rate", "cutoff", "order"):
            values = [getattr(part, field) for part in parts]
            require(len(set(values)) == 1, f"motions that passed filters of another {field} cannot be joined: {values}")
        offsets = np.cumsum([0, *(len(part.q) for part in parts[:-1])])
        joined: dict[str, Any] = {
            field: np.concatenate([getattr(part, field) for part in parts]) for field in ("q", "dq", "ddq")
        }
        for field in ("at", "starts"):
            moved = [getattr(part, field) + offset for part, offset in zip(parts, offsets, strict=True)]
            joined[field] = np.concatenate(moved)
        for field in ("positions_noise", "efforts_noise"):
            noises = [getattr(part, field) for part in parts]
            joined[field] = None if None in noises else ChannelNoise.pooled(noises)
        return replace(first, **joined)


@dataclass(frozen=True, eq=False)
class ClockErrors(ArrayValue):
    """How efforts change with the offsets and drifts of their clocks, which were corrected by estimates.

    Examples:
        >>> one = ClockErrors(np.ones((3, 2, 1)), np.array([[4e-8]]))
        >>> ClockErrors.concatenate([one, one], [3, 3]).slopes.shape
        (6, 2, 2)
    """

    slopes: Array
    """(N, n, k) change of the efforts per unit of each of k numbers of the clocks."""
    covariance: Array
    """(k, k) of these numbers."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "slopes", array(self.slopes, "slopes", ndim=3, copy=False))
        object.__setattr__(self, "covariance", array(self.covariance, "covariance", ndim=2, copy=False))
        k = self.slopes.shape[2]
        shape = self.covariance.shape
        require(shape == (k, k), f"{k} numbers of clocks need a covariance of shape {(k, k)}, not {shape}")

    @classmethod
    def concatenate(cls, parts: Sequence["ClockErrors | None"], lengths: Sequence[int]) -> "ClockErrors | None":
        """Clocks of several recordings, each with errors of its own; None: nothing was corrected."""
        known = [part for part in parts if part is not None]
        if not known:
            return None
        ends = np.cumsum([0, *(0 if part is None else len(part.covariance) for part in parts)])
        slopes = np.zeros((sum(lengths), known[0].slopes.shape[1], int(ends[-1])))
        covariance = np.zeros((int(ends[-1]), int(ends[-1])))
        first = 0
        for part, length, a, b in zip(parts, lengths, ends[:-1], ends[1:], strict=True):
            if part is not None:
                slopes[first : first + length, :, a:b], covariance[a:b, a:b] = part.slopes, part.covariance
            first += length
        return cls(slopes, covariance)


@dataclass(frozen=True, eq=False)
class MeasuredMotion(ArrayValue):
    """N samples of n coordinates with their derivatives, and of the efforts of n actuators; some rows are masked.

    Coordinate i is moved by actuator i. Samples stand on one even grid of instants, `rate` a second; where a piece is
    missing, as between two recordings, the grid has a gap.

    Examples:
        >>> still = np.zeros((3, 1))
        >>> motion = MeasuredMotion(
        ...     100.0, [[0.1], [0.2], [0.3]], still + 10, still, still + 0.5, [[True], [False], [True]],
        ...     coordinates=["q1"], coordinate_units=["rad"], actuators=["motor 1"], effort_units=["N·m"],
        ... )
        >>> motion.n_samples, motion.n_rows, motion.times
        (3, 2, array([0.  , 0.01, 0.02]))
    """

    rate: float
    """Samples a second."""
    q: Array
    """Positions (N, n)."""
    dq: Array
    """Velocities (N, n)."""
    ddq: Array
    """Accelerations (N, n)."""
    efforts: Array
    """Forces or torques (N, n)."""
    kept: Mask
    """(N, n): False where a row is masked."""
    positions: Integers = None  # type: ignore[assignment]
    """(N,) place of each sample in the complete even grid; None means one after the other."""
    coordinates: tuple[str, ...] = ()
    """Names of the coordinates."""
    coordinate_units: tuple[str, ...] = ()
    actuators: tuple[str, ...] = ()
    """Names of the actuators."""
    effort_units: tuple[str, ...] = ()
    start: float = 0.0
    """Time of place 0 of the grid, in seconds."""
    account: tuple[StepReport, ...] = ()
    """What was done to the recording, step by step."""
    full_rate: FullRate | None = None
    """The motion before it was trimmed and decimated, if the efforts have passed a low-pass."""
    sources: tuple[str, ...] = ("recording",)
    """The recordings that the motion was prepared from."""
    rows: Integers = None  # type: ignore[assignment]
    """(N,) row of its recording that each sample is, as in `Recording.rows`; None: 1, 2, 3, …"""
    source: Integers = None  # type: ignore[assignment]
    """(N,) number of the recording in `sources` that each sample is from; None: all are from the first."""
    clock_errors: ClockErrors | None = None
    """What is not known of the clocks of the efforts; None where these were not corrected."""

    def __post_init__(self) -> None:
        for field in ("q", "dq", "ddq", "efforts"):
            object.__setattr__(self, field, array(getattr(self, field), field, ndim=2, copy=False))
        n_samples, n = self.q.shape
        require(n_samples > 0 and n > 0, "a motion needs at least one sample of one coordinate")
        kept = np.asarray(self.kept)
        require(kept.dtype == bool, "kept must be a mask: True or False")
        object.__setattr__(self, "kept", kept)
        for field in ("dq", "ddq", "efforts", "kept"):
            shape = getattr(self, field).shape
            require(shape == self.q.shape, f"{field} must have the shape of q, {self.q.shape}, but has {shape}")
        for field in ("q", "dq", "ddq", "efforts"):
            bad = first_not_finite(getattr(self, field))
            require(bad is None, f"{field} is NaN or infinite at sample {bad and bad[0]}, column {bad and bad[1]}")
        for field in ("coordinates", "coordinate_units", "actuators", "effort_units"):
            texts = tuple(getattr(self, field))
            object.__setattr__(self, field, texts)
            require(len(texts) == n, f"{field} must be {n} texts, one per column of q, but there are {len(texts)}")
        object.__setattr__(self, "positions", _positions(self.positions, n_samples))
        object.__setattr__(self, "account", tuple(self.account))
        object.__setattr__(self, "sources", tuple(self.sources))
        for field, default in (("rows", np.arange(1, n_samples + 1)), ("source", np.zeros(n_samples, dtype=np.int64))):
            values = default if getattr(self, field) is None else np.asarray(getattr(self, field), dtype=np.int64)
            require(values.shape == (n_samples,), f"{field} must be a whole number per sample")
            object.__setattr__(self, field, values)
        known = self.source.min() >= 0 and self.source.max() < len(self.sources)
        require(bool(known), f"source must number the {len(self.sources)} sources from 0 on")
        require(bool(np.isfinite(self.rate)) and self.rate > 0, f"rate must be positive, not {self.rate}")
        fits = self.full_rate is None or len(self.full_rate.at) == n_samples
        require(fits, "full_rate must say which of its samples each sample is")
        slopes = None if self.clock_errors is None else self.clock_errors.slopes.shape[:2]
        require(slopes in (None, self.q.shape), f"clock_errors must have slopes of all efforts, {self.q.shape}")

    def __len__(self) -> int:
        return len(self.q)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.q)

    @property
    def n_rows(self) -> int:
        """Number of rows that are not masked."""
        return int(np.count_nonzero(self.kept))

    @property
    def times(self) -> Array:
        """(N,) instants in seconds; from one recording to the next they only go on rising."""
        return np.asarray(self.start + self.positions / self.rate)

    @property
    def pieces(self) -> tuple[slice, ...]:
        """The ranges of samples that follow one another without a gap.

        Examples:
            >>> one = np.ones((3, 1))
            >>> names = {k: [k] for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
            >>> MeasuredMotion(1.0, one, one, one, one, one == 1, [0, 1, 7], **names).pieces
            (slice(0, 2, None), slice(2, 3, None))
        """
        ends = [0, *(np.flatnonzero(np.diff(self.positions) > 1) + 1).tolist(), self.n_samples]
        return tuple(slice(a, b) for a, b in pairwise(ends))

    def place(self, sample: int) -> str:
        """Where a sample comes from, for a message.

        Examples:
            >>> one = np.ones((2, 1))
            >>> names = {k: [k] for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
            >>> MeasuredMotion(1.0, one, one, one, one, one == 1, **names, rows=[5, 15], sources=["a.csv"]).place(1)
            'row 15 of a.csv'
        """
        return f"row {abs(self.rows[sample])} of {self.sources[self.source[sample]]}"

    def select(self, samples: Any) -> "MeasuredMotion":
        """The motion with some samples only: a slice, a mask, or rising sample numbers. Gaps stay gaps.

        Examples:
            >>> one = np.ones((4, 1))
            >>> names = {k: [k] for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
            >>> MeasuredMotion(1.0, one, one, one, one, one == 1, **names).select([0, 3]).positions
            array([0, 3])
        """
        chosen = samples if isinstance(samples, slice) else np.asarray(samples)
        fields = ("q", "dq", "ddq", "efforts", "kept", "positions", "rows", "source")
        parts = {field: getattr(self, field)[chosen] for field in fields}
        require(len(parts["q"]) > 0, "no sample is left: the selection is empty")
        full = self.full_rate and replace(self.full_rate, at=self.full_rate.at[chosen])
        clocks = self.clock_errors and replace(self.clock_errors, slopes=self.clock_errors.slopes[chosen])
        return replace(self, **parts, full_rate=full, clock_errors=clocks)

    @classmethod
    def concatenate(cls, *motions: "MeasuredMotion", gap: float = 1.0) -> "MeasuredMotion":
        """Several motions as one, with a gap of so many seconds between them: they do not touch in time.

        Examples:
            >>> one = np.ones((2, 1))
            >>> names = {k: [k] for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
            >>> slow = MeasuredMotion(10.0, one, one, one, one, one == 1, **names)
            >>> MeasuredMotion.concatenate(slow, slow).positions
            array([ 0,  1, 12, 13])
        """
        require(len(motions) > 0, "there is no motion to concatenate")
        first = motions[0]
        for field in ("rate", "coordinates", "coordinate_units", "actuators", "effort_units"):
            for count, other in enumerate(motions[1:], start=2):
                here, there = getattr(first, field), getattr(other, field)
                require(here == there, f"motions 1 and {count} differ in {field}: {here} and {there}")
        positions, begin = [], 0
        for motion in motions:
            places: Integers = np.asarray(motion.positions)
            positions.append(places - places[0] + begin)
            begin = int(positions[-1][-1]) + 1 + int(np.ceil(gap * first.rate))
        parts: dict[str, Any] = {
            f: np.concatenate([getattr(m, f) for m in motions]) for f in ("q", "dq", "ddq", "efforts", "kept", "rows")
        }
        parts["sources"] = tuple(source for motion in motions for source in motion.sources)
        before = np.cumsum([0, *(len(motion.sources) for motion in motions[:-1])])
        parts["source"] = np.concatenate([motion.source + n for motion, n in zip(motions, before, strict=True)])
        parts["account"] = tuple(line for motion in motions for line in motion.account)
        full = [motion.full_rate for motion in motions if motion.full_rate is not None]
        require(len(full) in (0, len(motions)), "motions that passed a low-pass and others cannot be joined")
        parts["full_rate"] = FullRate.concatenate(*full) if full else None
        lengths = [motion.n_samples for motion in motions]
        parts["clock_errors"] = ClockErrors.concatenate([motion.clock_errors for motion in motions], lengths)
        return replace(first, **parts, positions=np.concatenate(positions))

    @property
    def dropouts(self) -> tuple[Dropout, ...]:
        """Stretches of the recordings without measurements, left out or not."""
        return tuple(each for line in self.account for each in line.dropouts)

    def account_table(self) -> Table:
        """Steps of the preparation, and the rows that remain after each."""
        most = max((line.rows for line in self.account), default=0) or 1
        rows: list[list[str | Cell]] = [
            [line.step, line.did, str(line.samples), Cell(str(line.rows), share=line.rows / most)]
            for line in self.account
        ]
        return table(["step", "what it did", "samples", "rows that remain"], rows, "lwrr", "Preparation, step by step")

    def __str__(self) -> str:
        """The account as a table, and what remains."""
        title = (
            f"{self.n_rows} rows of {self.n_samples} samples × {len(self.actuators)} actuators at {self.rate:.10g} Hz"
        )
        if not self.account:
            return title
        kept = ", ".join(
            f"{name} {share:.0%}" for name, share in zip(self.actuators, self.kept.mean(axis=0), strict=True)
        )
        return "\n".join([title, str(self.account_table()), f"kept: {kept}"])


def measured_motion(value: Any, what: str = "motion") -> MeasuredMotion:
    """The value, if it is a measured motion: a recording has to be prepared, since that takes decisions.

    Raises:
        InputError: it is something else; the message says what to write.
    """
    steps = "gough.data.default_steps(recording.rate)"
    how = f"gough.data.prepare(recording, coordinates, efforts, {steps}) with the names of the channels"
    where = ", where recording = gough.data.read_recording(path)"
    return instance(value, what, MeasuredMotion, "a MeasuredMotion", f"{how}{where}")


def _positions(values: Any, n_samples: int) -> Integers:
    if values is None:
        return np.arange(n_samples)
    positions = np.asarray(values)
    require(
        positions.dtype.kind in "iu" and positions.shape == (n_samples,), "positions must be a whole number per sample"
    )
    rising = positions[0] >= 0 and bool((np.diff(positions) > 0).all())
    require(rising, "positions must be non-negative and rise from sample to sample")
    return positions.astype(np.int64)
