"""What a file of recordings holds: channels, clocks, gaps, jitter and duplicates, before anything is chosen."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.tables import table
from gough.core.text import number
from gough.core.units import in_si, same_kind
from gough.data.channel_groups import GroupedSource, GroupSource
from gough.data.formats import opened, opened_recording
from gough.data.held_values import held_value
from gough.data.pose_columns import MeasuredTarget, calibration_proposal, measured_targets
from gough.data.pose_files import seeming_order
from gough.data.recording import MOST_TURNS
from gough.data.sources import Source, is_unit, split_head
from gough.data.times import Stamps, TimeColumn, longest_step, seconds_of

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 32
_TIMES = re.compile(r"(?:time|t|timestamp|time_?stamp|stamp|zeit|clock|elapsed)", re.IGNORECASE)
_EFFORT = re.compile(r"(?:tau|torque|effort|efforts|force|current|moment|[VIu])_?\d*", re.IGNORECASE)
_POSITION = re.compile(r"(?:q|pos|position|positions|angle|theta|phi|joint|leg|encoder|l)_?\d*", re.IGNORECASE)
_WORDS = re.compile(r"[/. ]")
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?")
_ELECTRIC = {
    "V": re.compile(r"(?:[vu]|volt|voltage)_?\d*", re.IGNORECASE),
    "A": re.compile(r"(?:i|current)_?\d*", re.IGNORECASE),
}
_DERIVED = re.compile(r"vel|acc|dq|speed|desired|reference|error|command|setpoint|target", re.IGNORECASE)
_OF_MOTION, _OF_EFFORT = {"rad", "deg", "m", "mm", "°"}, {"N·m", "Nm", "N", "V", "A", "mN·m", "N*m"}
_NUMBERED = (("q1", "q2", "q3", "q4"), ("Q1", "Q2", "Q3", "Q4"))
"""Columns that are a quaternion where they stand beside a position and all have unit length."""
_UNIT = 1e-2
_NO_JOINTS = re.compile(r"Pose|Transform|TFMessage|Odometry", re.IGNORECASE)
"""Types of messages whose positions are no coordinates of joints."""


@dataclass(frozen=True)
class ChannelOverview:
    """One channel: its range, and its course in a few bars."""

    name: str
    unit: str
    least: float | None
    """None where the channel has no number."""
    greatest: float | None
    missing: int
    course: str
    fault: str = ""
    """Why its numbers cannot be read; empty where they can."""


@dataclass(frozen=True)
class ClockOverview:
    """The times of a group of channels."""

    rate: float
    """Samples a second, by the mean step, gaps apart."""
    duration: float
    jitter: float
    """Root mean square of the deviations of steps from their mean, gaps apart, as a share of it."""
    jitter_at_most: float
    gaps: int
    """Steps that are too long to be jitter."""
    lost: int
    """Samples that fit into the gaps."""
    duplicates: int
    """Times that repeat the one before."""
    backwards: int
    """Times before the one before."""
    began: str = ""

    def loss_cost(self, samples: int) -> float:
        """Share by which σ of an estimate from so many samples is larger for want of the lost ones."""
        return float(np.sqrt((samples + self.lost) / max(samples, 1)) - 1)


@dataclass(frozen=True)
class GroupOverview:
    """Channels that share their instants."""

    name: str
    """Empty in a file with one table."""
    kind: str
    samples: int
    time: str
    """Head of the column of times; empty where there is none, or the file itself states the times."""
    clock: ClockOverview | None
    channels: tuple[ChannelOverview, ...]
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        title = f"{self.name or 'One table'}{f' ({self.kind})' if self.kind else ''}: {self.samples} samples"
        heads = ["channel", "unit", "least", "greatest", "missing", "course"]
        rows = [
            [each.name, each.unit, _ends(each.least), _ends(each.greatest), str(each.missing), each.course]
            for each in self.channels
        ]
        faults = (each.fault for each in self.channels if each.fault)
        return "\n".join([title, *self._on_clock(), str(table(heads, rows, "lurrrl")), *faults, *self.remarks])

    def _on_clock(self) -> Iterator[str]:
        clock = self.clock
        if clock is None:
            return
        by = f"by column '{self.time}'" if self.time else "by its times"
        began = f", began {clock.began}" if clock.began else ""
        yield f"{number(clock.rate)} Hz {by}, {number(clock.duration)} s{began}"
        cost = f", which raises σ of what is estimated by {clock.loss_cost(self.samples):.1%}" if clock.lost else ""
        yield (
            f"Steps deviate by {clock.jitter:.1%} rms, {clock.jitter_at_most:.1%} at most; {clock.gaps} gaps "
            f"({clock.lost} samples lost{cost}); {clock.duplicates} repeated times; "
            f"{clock.backwards} times run backwards"
        )


@dataclass(frozen=True)
class Overview:
    """What a file of recordings holds."""

    path: str
    groups: tuple[GroupOverview, ...]
    targets: tuple[MeasuredTarget, ...] = ()
    """Poses and points that an instrument measured, by the names of the columns of a table."""
    calibration: str = ""
    """The tables [measurements] and [[instruments]] of a study that calibrates from them; empty without any."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.groups))

    @property
    def is_recording(self) -> bool:
        """Whether the proposal has both positions and efforts."""
        return "# no channel is recognized" not in self.proposal

    @property
    def proposal(self) -> str:
        """The tables [data] and [data.columns] of a study that reads this file, as far as names and units suggest them.

        Coordinates are called q1, q2, … and efforts tau1, tau2, … (V1, V2, … where a gain makes efforts of voltages or
        currents) in the order of the file.
        """
        group_of = {each.name: group for group in self.groups for each in group.channels}
        group_kind = {group.name: group.kind for group in self.groups}
        by_group = {group.name: self._recognized([group]) for group in self.groups}
        complete = [name for name, (motion, efforts) in by_group.items() if motion and efforts]
        # several topics may state the same joints: one that has positions and efforts is enough
        chosen = next(
            (name for name in complete if group_kind[name].endswith("/JointState")), complete[0] if complete else None
        )
        motion, efforts = self._recognized(self.groups) if chosen is None else by_group[chosen]
        lines = ["[data]"]
        times = {group_of[name].time for name in (*motion, *efforts)} - {"", "time"}
        no_clock = any(group_of[name].clock is None for name in (*motion, *efforts))
        if times:
            lines.append(f"time = {_quoted(split_head(times.pop())[0])}")
        elif no_clock:
            lines += ['time = ""', 'rate = "1 kHz"  # the sampling rate: the file does not state it']
        jitter = max((group.clock.jitter_at_most for group in self.groups if group.clock), default=0.0)
        if jitter > 0.25:
            lines.append("resample = true  # if times are the exact instants of the samples")
        if any(group.clock and group.clock.gaps for group in self.groups):
            lines.append('missing = "mask"')
        lines += ["", "[[data.recordings]]", f"file = {_quoted(self.path)}", "", "[data.columns]"]
        named = {f"q{i}": name for i, name in enumerate(motion, start=1)}
        channel_of = {each.name: each for group in self.groups for each in group.channels}
        electric = [kind for kind in ("V", "A") if efforts and all(_may_be(channel_of[name], kind) for name in efforts)]
        named |= {f"{'V' if electric else 'tau'}{i}": name for i, name in enumerate(efforts, start=1)}
        for coordinate, name in named.items():
            fault = "  # mend its cells first: see above" if channel_of[name].fault else ""
            lines.append(f"{coordinate} = {_quoted(name)}{fault}")
        if not motion or not efforts:
            lacking = " and ".join(
                what for what, names in (("positions (q1, …)", motion), ("efforts (tau1, …)", efforts)) if not names
            )
            lines.append(f"# no channel is recognized as {lacking}: enter them")
        if named:
            lines += ["", *_units(named, channel_of, electric[0] if electric else "")]
        if electric:
            lines += [
                "",
                "[efforts]",
                f"gain = 1.0  # effort per {electric[0]}: enter that of your drives, or one for each",
            ]
        if len(complete) > 1:
            lines.append(
                f"# positions and efforts are also in {', '.join(name for name in complete if name != chosen)}"
            )
        return "\n".join(lines)

    def _recognized(self, groups: Sequence[GroupOverview]) -> tuple[list[str], list[str]]:
        """Channels of these groups that are positions, and those that are efforts."""
        measured = {column for target in self.targets for column in target.columns}
        named = [
            each
            for group in groups
            for each in group.channels
            if each.name not in measured and not _DERIVED.search(each.name) and not _NO_JOINTS.search(group.kind)
        ]
        efforts = _alike(named, _EFFORT, _POSITION, _OF_EFFORT)
        return [name for name in _alike(named, _POSITION, _EFFORT, _OF_MOTION) if name not in efforts], efforts


def overview(path: str | Path, heads: Sequence[str] = ()) -> Overview:
    r"""What a file of recordings holds: channels, rates, gaps, jitter, duplicates.

    Args:
        path: The file, or the folder of a bag.
        heads: Names of the columns of a text file without a line of names.

    Raises:
        InputError: the file cannot be read.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "swing.csv")
        ...     _ = path.write_text("t [ms],q1 [deg],tau1\n0,180,1.5\n1,90,1.6\n2,0,1.7\n4,10,1.8\n")
        ...     found = overview(path)
        >>> found.groups[0].time, found.groups[0].clock.rate, found.groups[0].clock.gaps
        ('t [ms]', 1000.0, 1)
    """
    path = Path(path)
    source = opened(path, "measurements", heads) if heads else opened_recording(path)
    if isinstance(source, GroupedSource):
        groups = tuple(_of_group(path, GroupSource(path, group)) for group in source.groups)
        return Overview(path.name, groups)
    table, texts = _of_table(path, source)
    targets = _with_quaternions(measured_targets([*(channel.name for channel in table.channels)]), source)
    if not targets:
        return Overview(path.name, (table,))
    ranges = {channel.name: max(abs(channel.least or 0.0), abs(channel.greatest or 0.0)) for channel in table.channels}
    largest = max(ranges[column] for target in targets for column in target.position)
    units = {channel.name: channel.unit for channel in table.channels}
    return Overview(
        path.name,
        (table,),
        targets,
        calibration_proposal(path.name, targets, units, texts, largest=largest, heads=heads),
    )


def _with_quaternions(targets: tuple[MeasuredTarget, ...], source: Source) -> tuple[MeasuredTarget, ...]:
    """The targets, their quaternions scalar first: names alone do not tell q1, …, q4 from joints, nor their order."""
    column = {split_head(head)[0]: i for i, head in enumerate(source.heads) if head}
    numbered = next((each for each in _NUMBERED if all(name in column for name in each)), ())
    result = []
    for target in targets:
        names = target.orientation or (numbered if len(targets) == 1 else ())
        if len(names) != 4:
            result.append(target)
            continue
        names = tuple(sorted(names, key=column.__getitem__))  # as they stand in the file
        q = source.load([column[name] for name in names], missing=True)
        q = q[np.isfinite(q).all(axis=1)]
        is_quaternion = len(q) > 0 and bool((abs(np.linalg.norm(q, axis=1) - 1) < _UNIT).all())
        result.append(_in_order(target, names, seeming_order(q)) if is_quaternion else target)
    return tuple(result)


def _in_order(target: MeasuredTarget, names: tuple[str, ...], order: str | None) -> MeasuredTarget:
    """A target whose quaternion, in the order of the file, seems to be in this order."""
    if order is None:  # the platform turns much: the names decide
        if target.orientation:
            return target
        return replace(target, orientation=names, meaning="a quaternion, scalar first or last: the data do not show it")
    scalar_first = names if order == "wxyz" else (names[3], *names[:3])
    if scalar_first == target.orientation:
        return target
    where = "first" if order == "wxyz" else "last"
    against = ", against their names" if target.orientation else ""
    meaning = f"a quaternion, scalar {where} in the file{against}: only so does the platform turn little"
    return replace(target, orientation=scalar_first, meaning=meaning)


def _of_group(path: Path, source: GroupSource) -> GroupOverview:
    group = source.group
    samples = source.load(range(len(group.heads)), missing=True)
    remarks: tuple[str, ...] = (source.note,) if source.note else ()
    clock: ClockOverview | None = None
    time = ""
    if source.heads != group.heads:
        clock = _clock(source.times(len(group.heads)), TimeColumn(path, "time", "time", None, source.place))
    else:
        time = next((head for head in group.heads if _is_time(head)), "")
    channels = tuple(_channel(head, column) for head, column in zip(group.heads, samples.T, strict=True))
    remarks += tuple(_on_held(head, column, clock) for head, column in zip(group.heads, samples.T, strict=True))
    remarks += tuple(map(_on_unit, channels))
    return GroupOverview(group.name, group.kind, len(samples), time, clock, channels, tuple(filter(None, remarks)))


def _of_table(path: Path, source: Source) -> tuple[GroupOverview, dict[str, tuple[str, ...]]]:
    """The columns of numbers, and those of texts."""
    channels: list[ChannelOverview] = []
    lengths: list[int] = []
    texts: dict[str, tuple[str, ...]] = {}
    remarks: list[str] = []
    time = next((i for i, head in enumerate(source.heads) if _is_time(head)), None)
    clock: ClockOverview | None = None
    if time is not None:
        head = source.heads[time]
        try:
            clock = _clock(source.times(time), TimeColumn(path, head, split_head(head)[0], None, source.place))
        except InputError as error:
            remarks.append(str(error))
    for i, head in enumerate(source.heads):
        if i == time or not head:
            continue
        try:
            values = source.load([i], missing=True)[:, 0]
        except InputError as error:
            cells = _texts(source, i)
            if cells:
                texts[split_head(head)[0]] = cells
                remarks.append(_on_texts(head, cells))
                continue
            name, unit = split_head(head)
            channels.append(ChannelOverview(name, unit or "", None, None, 0, "", str(error).removeprefix(f"{path}: ")))
            continue
        lengths.append(len(values))
        channels.append(_channel(head, values))
        remarks += [_on_held(head, values, clock), _on_unit(channels[-1])]
    if clock is None and source.rate:
        longest = max(lengths, default=1)
        clock = ClockOverview(source.rate, (longest - 1) / source.rate, 0.0, 0.0, 0, 0, 0, 0)
    samples = max([*lengths, *map(len, texts.values())], default=0)
    if not samples:
        raise InputError(f"{path}: {remarks[0].removeprefix(f'{path}: ')}" if remarks else f"{path} has no rows")
    head = "" if time is None else source.heads[time]
    return GroupOverview(
        "", "", samples, head, clock, tuple(channels), tuple(dict.fromkeys(filter(None, remarks)))
    ), texts


def _texts(source: Source, column: int) -> tuple[str, ...]:
    """The cells of a column of texts; none where the file is damaged, or most cells are numbers."""
    try:
        cells = source.times(column)
    except InputError:
        return ()
    if not isinstance(cells, tuple):
        return ()
    texts = tuple(str(cell).strip() for cell in cells)
    return texts if sum(not _NUMBER.fullmatch(text) for text in texts) * 2 > len(texts) else ()


def _on_texts(head: str, cells: tuple[str, ...]) -> str:
    own = tuple(dict.fromkeys(cells))
    shown = ", ".join(own[:4]) + (", …" if len(own) > 4 else "")
    return f"Column '{head}' holds texts, {len(own)} different ones: {shown}"


def _units(named: Mapping[str, str], channel_of: Mapping[str, ChannelOverview], electric: str) -> Iterator[str]:
    """The table [data.units] of channels, by their heads; without a head, what the study would assume."""
    yield "[data.units]"
    silent, degrees = [], []
    for coordinate, name in named.items():
        channel = channel_of[name]
        if is_unit(channel.unit) and not in_si(channel.unit)[1]:
            yield (
                f"# {coordinate} is in {channel.unit}, a share: multiply it by what 100 % stands for, such as the "
                "rated torque, and state that unit"
            )
        elif is_unit(channel.unit):
            yield f"{coordinate} = {_quoted(channel.unit)}"
        elif electric and coordinate.startswith("V"):
            yield f"{coordinate} = {_quoted(electric)}  # by its name: the file states no unit"
        elif _may_be_degrees(channel):
            degrees.append(coordinate)
        else:
            silent.append(coordinate)
    for coordinate in degrees:
        yield f'{coordinate} = "deg"  # by its size, more than two turns in radians; "mm" if it is a length: check it'
    if silent:
        names, unit = ", ".join(silent), "deg" if silent[0].startswith("q") else "mN*m"
        yield f'# no unit is known of {names}: SI units are assumed; enter others, such as {silent[0]} = "{unit}"'


def _may_be(channel: ChannelOverview, kind: str) -> bool:
    """Whether a channel is a voltage or a current: by its unit, or else by its name."""
    if is_unit(channel.unit):
        return same_kind(channel.unit, kind)
    return _ELECTRIC[kind].fullmatch(_WORDS.split(channel.name)[-1]) is not None


def _is_time(head: str) -> bool:
    return _TIMES.fullmatch(_WORDS.split(split_head(head)[0])[-1]) is not None


def _clock(times: Any, column: TimeColumn) -> ClockOverview | None:
    if len(times.nanoseconds if isinstance(times, Stamps) else times) == 0:
        return None
    seconds = seconds_of(times, column)
    steps = np.diff(seconds.values)
    rising = steps[steps > 0]
    if not rising.size:
        return None
    gaps = steps > longest_step(rising)
    period = float(steps[(steps > 0) & ~gaps].mean())
    usual = steps[(steps > 0) & ~gaps] / period - 1
    return ClockOverview(
        float(f"{1 / period:.9g}"),
        float(seconds.values.max() - seconds.values.min()),
        float(np.sqrt((usual**2).mean())) if usual.size else 0.0,
        float(abs(usual).max(initial=0.0)),
        int(gaps.sum()),
        int(np.maximum(np.rint(steps[gaps] / period) - 1, 0).sum()),
        int((steps == 0).sum()),
        int((steps < 0).sum()),
        seconds.began,
    )


def _channel(head: str, values: Array) -> ChannelOverview:
    name, unit = split_head(head)
    present = values[np.isfinite(values)]
    if not present.size:
        return ChannelOverview(name, unit or "", None, None, len(values), "")
    least, greatest = float(present.min()), float(present.max())
    missing = len(values) - len(present)
    return ChannelOverview(name, unit or "", least, greatest, missing, _course(values, least, greatest))


def _on_held(head: str, values: Array, clock: ClockOverview | None) -> str:
    """That a position stops from one sample to the next; empty where none does, or where efforts may."""
    name, unit = split_head(head)
    if clock is None or not (unit in _OF_MOTION if unit else _POSITION.fullmatch(_WORDS.split(name)[-1])):
        return ""
    held = held_value(values, clock.rate)
    if held is None:
        return ""
    lasts = number(held.length / clock.rate)
    return (
        f"Column '{head}' holds {number(held.value)} for {lasts} s from row {held.first + 1} on, "
        f"{held.in_words(unit or '')}: a dropout?"
    )


def _may_be_degrees(channel: ChannelOverview) -> bool:
    """Whether a position without a unit is too large for radians."""
    is_position = not channel.unit and _POSITION.fullmatch(_WORDS.split(channel.name)[-1]) is not None
    return is_position and max(abs(channel.least or 0.0), abs(channel.greatest or 0.0)) > MOST_TURNS


def _on_unit(channel: ChannelOverview) -> str:
    """That a position may be in degrees; empty where its unit is stated, or radians are possible."""
    if not _may_be_degrees(channel):
        return ""
    peak = number(max(abs(channel.least or 0.0), abs(channel.greatest or 0.0)))
    return f"Column '{channel.name}' states no unit and reaches {peak}: an angle in degrees, or a length in mm?"


def _course(values: Array, least: float, greatest: float) -> str:
    """Means of equal parts as bars between the least and the greatest; a gap where a part has no number."""
    bars = []
    for part in np.array_split(values, min(_WIDTH, len(values))):
        present = part[np.isfinite(part)]
        if not present.size:
            bars.append(" ")
            continue
        span = greatest - least
        height = (present.mean() - least) / span if 0 < span < np.inf else 0.5
        bars.append(_BARS[min(int(height * len(_BARS)), len(_BARS) - 1)])
    return "".join(bars)


def _alike(
    channels: Sequence[ChannelOverview], pattern: re.Pattern[str], other: re.Pattern[str], units: set[str]
) -> list[str]:
    """The channels of a kind: by the last word of their names that tells, or else by their units."""
    by_name = []
    for channel in channels:
        words = reversed(_WORDS.split(channel.name))
        telling = next((word for word in words if pattern.fullmatch(word) or other.fullmatch(word)), "")
        if pattern.fullmatch(telling):
            by_name.append(channel.name)
    return by_name or [channel.name for channel in channels if channel.unit in units]


def _ends(value: float | None) -> str:
    return "—" if value is None else number(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
