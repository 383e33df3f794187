"""From recordings to a measured motion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gough.core.errors import InputError, require
from gough.core.text import written
from gough.core.units import LARGEST
from gough.data.held_values import longest_missing
from gough.data.motion import Dropout, MeasuredMotion, StepReport
from gough.data.recording import Recording
from gough.data.steps import DropMissing, LowPass, MaskReversals, Signals, Step

_HINTS: Mapping[type, str] = {
    MaskReversals: ". Check the units of positions (degrees or radians) and of time, or state a lower speed"
}
"""What to do where a step leaves no row."""

Channels = Sequence[str] | Mapping[str, str]


def prepare(
    recordings: Recording | Sequence[Recording], coordinates: Channels, efforts: Channels, steps: Sequence[Step]
) -> MeasuredMotion:
    """The motion in one recording, or in several that are prepared each for itself and put one after the other.

    Args:
        recordings: What was recorded, in any units.
        coordinates: The channels of the robot's coordinates in the robot's order; or the robot's names for them, each
            with its channel.
        efforts: The channels of the actuators' efforts (or voltages), in the same order; or the robot's names for its
            actuators, each with its channel.
        steps: What is done, in this order; `default_steps` has a good one.

    Raises:
        InputError: a channel is not there, a sample is missing and no DropMissing is among the steps, a recording is
            too short, or the steps mask every row.

    Examples:
        >>> from gough.data import default_steps
        >>> t = np.arange(1000) / 1000
        >>> recording = Recording(["q1", "V1"], ["rad", "V"], np.stack([np.sin(9 * t), np.cos(9 * t)], 1), rate=1000.0)
        >>> motion = prepare(recording, ["q1"], {"motor 1": "V1"}, default_steps(1000.0, gain=2.0))
        >>> motion.n_rows, motion.effort_units
        (33, ('N·m',))
    """
    several = (recordings,) if isinstance(recordings, Recording) else tuple(recordings)
    require(len(several) > 0, "there is no recording to prepare")
    return MeasuredMotion.concatenate(*(_prepared(recording, coordinates, efforts, steps) for recording in several))


def _prepared(recording: Recording, coordinates: Channels, efforts: Channels, steps: Sequence[Step]) -> MeasuredMotion:
    whence = recording.source or "recording"
    with np.errstate(over="ignore", under="ignore"):
        recording = recording.in_si()
    for name, channel in zip(recording.names, recording.samples.T, strict=True):
        plausible = not bool((abs(channel) > LARGEST).any())
        require(plausible, f"{whence}: channel '{name}' has values beyond {LARGEST:g}: a robot has none, mend them")
    signals = _signals(recording, coordinates, efforts, steps)
    began = f", began {recording.began}" if recording.began else ""
    remarks = recording.remarks
    did = "; ".join([f"{recording.duration:.4g} s at {recording.rate:.10g} Hz{began}", *remarks])
    account = [StepReport(whence, did, signals.n_samples, signals.kept.sum().item(), remarks)]
    for step in steps:
        try:
            signals, did = step.apply(signals)
        except InputError as error:
            raise _in_step(error, step, recording) from error
        account.append(StepReport(str(step), did, signals.n_samples, signals.kept.sum().item()))
        if not account[-1].rows:
            raise InputError(f"{whence}: no row is left after {step}: {did}{_HINTS.get(type(step), '')}")
    dropouts = _dropouts(recording, signals, (*_named(coordinates, "coordinates")[1], *signals.effort_channels))
    account[0] = replace(account[0], remarks=_open_remarks(recording, dropouts), dropouts=dropouts)
    if signals.dq is None or signals.ddq is None:
        raise InputError("a motion needs velocities and accelerations: put Differentiate() among the steps")
    return MeasuredMotion(
        signals.rate,
        # sample by sample, and without what was trimmed and decimated away
        np.ascontiguousarray(signals.q),
        np.ascontiguousarray(signals.dq),
        np.ascontiguousarray(signals.ddq),
        np.ascontiguousarray(signals.efforts),
        np.ascontiguousarray(signals.kept),
        coordinates=signals.coordinates,
        coordinate_units=signals.coordinate_units,
        actuators=signals.actuators,
        effort_units=signals.effort_units,
        start=recording.start + signals.first / recording.rate,
        account=tuple(account),
        full_rate=signals.full_rate,
        sources=(whence,),
        rows=recording.row_of(signals.first + signals.stride * np.arange(signals.n_samples)),
    )


def _dropouts(recording: Recording, signals: Signals, channels: Sequence[str]) -> tuple[Dropout, ...]:
    """The longest stretches in which a channel that takes part holds its value or lacks samples."""
    at = signals.first + signals.stride * np.arange(signals.n_samples)
    left = at[signals.kept.any(axis=1)]
    found = []
    for name in dict.fromkeys(channels):
        held, missing = recording.held.get(name), longest_missing(recording[name], recording.rate)
        stretches = [("held", held.first, held.length)] if held is not None else []
        stretches += [("missing", *missing)] if missing is not None else []
        for kind, first, length in stretches:
            found.append(
                Dropout(
                    recording.source or "the recording",
                    name,
                    kind,
                    abs(int(recording.row_of(first))),
                    float(recording.times[first]),
                    length / recording.rate,
                    is_left_out=not bool(((left >= first) & (left < first + length)).any()),
                )
            )
    return tuple(found)


def _open_remarks(recording: Recording, dropouts: Sequence[Dropout]) -> tuple[str, ...]:
    """The remarks without those on held positions whose rows are left out."""
    done = {recording.on_held(each.channel) for each in dropouts if each.kind == "held" and each.is_left_out}
    return tuple(remark for remark in recording.remarks if remark not in done)


def _signals(recording: Recording, coordinates: Channels, efforts: Channels, steps: Sequence[Step]) -> Signals:
    (names, q_channels), (actuators, channels) = _named(coordinates, "coordinates"), _named(efforts, "efforts")
    require(
        len(names) == len(actuators),
        f"each coordinate has its actuator, but there are {len(names)} coordinates and {len(actuators)} efforts",
    )
    if not any(isinstance(step, DropMissing) for step in steps):
        _require_complete(recording, (*q_channels, *channels))
    q = recording.columns(q_channels)
    filters = [step for step in steps if isinstance(step, LowPass)]
    return Signals(
        recording,
        names,
        tuple(recording.unit(channel) for channel in q_channels),
        actuators,
        tuple(recording.unit(channel) for channel in channels),
        channels,
        q,
        recording.columns(channels),
        np.ones(q.shape, dtype=bool, order="F"),
        memory=max((_memory(step, recording) for step in filters), default=0.0),
        planned=(filters[0].cutoff, filters[0].order) if filters else None,
    )


def _memory(step: LowPass, recording: Recording) -> float:
    try:
        return step.memory(recording.rate)
    except InputError as error:
        raise _in_step(error, step, recording) from error


def _in_step(error: InputError, step: Step, recording: Recording) -> InputError:
    """The error of a step with the recording and the step, and with what is odd about the recording's clock."""
    return InputError("; ".join([f"{recording.source or 'recording'}, {written(step)}: {error}", *recording.notes]))


def _named(channels: Channels, what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The robot's names and the recording's channels."""
    require(not isinstance(channels, str), f"{what} must be a list of channels, not the text '{channels}'")
    if isinstance(channels, Mapping):
        return tuple(channels), tuple(channels.values())
    require(len(channels) > 0, f"{what} must name at least one channel")
    return tuple(channels), tuple(channels)


def _require_complete(recording: Recording, names: Sequence[str]) -> None:
    """Refuse lost samples."""
    for name in names:
        lost = np.flatnonzero(np.isnan(recording[name]))
        if lost.size:
            raise InputError(
                f"{recording.source or 'the recording'}: channel '{name}' lacks {lost.size} of {len(recording)} "
                f"samples, the first {recording.place(int(lost[0]))}: put DropMissing() among the steps"
            )
