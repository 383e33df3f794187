"""Columns of times: numbers in a unit, or dates and times of day, become seconds on an even clock."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import InputError, require
from gough.core.units import LARGEST, in_si, same_kind
from gough.data.sources import MASK, NO_TIMES, RESAMPLE, is_unit, split_head, unit_of

_JITTER = 0.25
"""Share of a period that a time may be away from the even grid: written with few digits, or stamped late."""
_DISAGREES = 0.005
"""Share by which a stated rate may differ from that of the times: two clocks are never quite alike."""
_MOST_LOST = 0.5
"""Share of samples that may be missing in time."""
_PLAUSIBLE = 10.0, 1e5
"""Hz; a recording of a robot that is sampled more slowly or faster gets a remark."""
_USUAL = 50.0, 5e4
"""Hz; another unit is suggested where it makes the rate one of these."""
_FARTHEST = 1e10
"""Seconds, about 317 years: no clock counts so many, so that a larger time is in another unit."""
_DAY, _HOUR = 86_400.0, 3600.0
_NS = 1_000_000_000
_EPOCH = 6.3e8, 4.1e9
"""Seconds since 1970 of the years 1990 to 2099."""
_UNITS = ("ms", "µs", "ns", "s", "min", "h", "day")
_YEARS = range(1900, 2262)
"""Years whose nanoseconds since 1970 are 64-bit integers."""
_DATE = re.compile(
    r"(?:(?P<y>\d{4})(?P<sep>[-/]?)(?P<m>\d\d)(?P=sep)(?P<d>\d\d)|(?P<d2>\d\d)\.(?P<m2>\d\d)\.(?P<y2>\d{4}))"
    r"(?:[T ]+(?P<time>.+))?",
    re.ASCII,
)
_TIME = re.compile(
    r"(?P<h>\d\d):?(?P<m>\d\d)(?::?(?P<s>\d\d)(?:[.,](?P<f>\d{1,12}))?)?"
    r" ?(?P<zone>Z|UTC|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_OF_DAY = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,12}))?", re.ASCII)
_WRITE_DATES = (
    "write dates and times as 2024-03-01 12:00:00.123, with Z or an offset such as +01:00 where they have one"
)


class Kind(Enum):
    """What the times of a column are."""

    NUMBER = "numbers"
    ELAPSED = "durations"
    LOCAL = "dates and times without a zone"
    ABSOLUTE = "dates and times with a zone"
    OF_DAY = "times of day"


@dataclass(frozen=True, eq=False)
class Stamps:
    """Instants or durations (N,) of a column, in whole nanoseconds."""

    kind: Kind
    nanoseconds: Integers
    """Since 1970-01-01 00:00 in UTC or local time, since midnight, or of a duration."""
    missing: Mask | None = None
    """(N,): True where a row has none."""
    digits: int = 9
    """Decimal digits of a second that are written."""
    offsets: tuple[tuple[int, str], ...] = ()
    """Rows from which on another offset from UTC holds, with that offset; the first is row 0."""

    def shown(self, row: int) -> str:
        """The time of a row, for messages."""
        ns = int(self.nanoseconds[row])
        whole, part = divmod(ns, _NS)
        fraction = f"{part:09d}"[: max(self.digits, 0)].rstrip("0")
        text = f".{fraction}" if fraction else ""
        if self.kind is Kind.ELAPSED:
            return f"{ns / _NS:.9g} s"
        if self.kind is Kind.OF_DAY:
            return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{text}"
        moment = str(np.datetime64(whole, "s")).replace("T", " ")
        return f"{moment}{text}{' UTC' if self.kind is Kind.ABSOLUTE else ''}"


Times = Any
"""A column as a source reads it: numbers (N,), float64 or int64; texts, a tuple of them; or `Stamps`."""


def is_moment(text: str) -> bool:
    """Whether a text is a date with a time, or a time of day.

    Examples:
        >>> is_moment("2024-03-01 12:00:00.5"), is_moment("12:00:01"), is_moment("left arm")
        (True, True, False)
    """
    try:
        _moment(text.strip())
    except InputError:
        return False
    return True


def stamps_of_numpy(values: Any) -> Stamps:
    """The instants of an array of `datetime64`, or the durations of one of `timedelta64`.

    Raises:
        InputError: the unit is not one of time, or a year is out of range.
    """
    unit, _ = np.datetime_data(values.dtype)
    require(unit not in ("generic", "Y", "M", "W", "D", "ps", "fs", "as"), f"holds times in units of '{unit}'")
    missing = np.isnat(values)
    kind, nanoseconds = ("M8[ns]", "M8") if values.dtype.kind == "M" else ("m8[ns]", "m8")
    coarse = values.astype(f"{nanoseconds}[s]").astype(np.int64)
    far = ~missing & (abs(coarse.astype(np.float64)) > 9.2e9)
    require(not far.any(), "holds dates beyond the years 1678 to 2261")
    exact = values.astype(kind).astype(np.int64)
    return Stamps(Kind.LOCAL if values.dtype.kind == "M" else Kind.ELAPSED, np.where(missing, 0, exact), missing)


def stamps_of_texts(texts: Iterable[str], where: Callable[[int], str]) -> Stamps:
    """The instants that texts state; `where` says which row one is, for messages.

    Raises:
        InputError: a text is blank or states no instant, or some have a zone or a date and others none; with the row.

    Examples:
        >>> stamps_of_texts(["2024-03-01T12:00:00.25Z", "2024-03-01 13:00:00,50+01:00"], str).nanoseconds % 10**9
        array([250000000, 500000000])
    """
    nanoseconds, digits, first = [], 0, None
    offsets: list[tuple[int, str]] = []
    for row, raw in enumerate(texts):
        text = raw.strip()
        if text.lower() in {"", "nat", "nan", "null", "none", "na", "n/a"}:
            raise InputError(f"{where(row)} has no time: mend it")
        try:
            kind, ns, n_digits, offset = _moment(text)
        except InputError as error:
            raise InputError(f"{where(row)} holds '{text:.40}', {error}") from error
        first = first or kind
        if kind is not first:
            raise InputError(
                f"{where(row)} holds '{text:.40}', but the rows above hold {first.value}: write all of them in one way"
            )
        if not offsets or offsets[-1][1] != offset:
            offsets.append((row, offset))
        nanoseconds.append(ns)
        digits = max(digits, n_digits)
    return Stamps(first or Kind.LOCAL, np.array(nanoseconds, dtype=np.int64), None, digits, tuple(offsets))


def _moment(text: str) -> tuple[Kind, int, int, str]:
    """Kind, nanoseconds, digits of the fraction, and offset from UTC of one text."""
    if of_day := _OF_DAY.fullmatch(text):
        return Kind.OF_DAY, *_of_day(of_day), ""
    dated = _DATE.fullmatch(text)
    if dated is None:
        raise InputError(f"which is no time: {_hint(text)}")
    days = _days(*(int(dated[key] or dated[f"{key}2"]) for key in "ymd"))
    timed = _TIME.fullmatch(dated["time"].strip()) if dated["time"] else None
    if timed is None:
        raise InputError(f"which is no date with a time: {_hint(text)}")
    ns, digits = _of_day(timed)
    zone = (timed["zone"] or "").upper()
    kind = Kind.ABSOLUTE if zone else Kind.LOCAL
    return kind, days * 86_400 * _NS + ns - _offset(zone) * _NS, digits, zone


def _of_day(parts: re.Match[str]) -> tuple[int, int]:
    """Nanoseconds since midnight, and digits of the fraction."""
    hours, minutes, seconds = (int(parts[key] or 0) for key in "hms")
    good = hours < 24 and minutes < 60 and seconds < 60
    require(good, "which is no time of day: hours go to 23, minutes and seconds to 59 (there is no leap second here)")
    fraction = parts["f"] or ""
    return (hours * 3600 + minutes * 60 + seconds) * _NS + int(fraction[:9].ljust(9, "0")), min(len(fraction), 9)


@cache
def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01."""
    require(year in _YEARS, f"which is no date of a recording: years go from {_YEARS[0]} to {_YEARS[-1]}")
    try:
        return (date(year, month, day) - date(1970, 1, 1)).days
    except ValueError as error:
        raise InputError(f"which is no date ({error}): mend it") from error


@cache
def _offset(zone: str) -> int:
    """Seconds that local time is ahead of UTC."""
    if zone in {"", "Z", "UTC"}:
        return 0
    digits = zone[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    require(hours <= 14 and minutes < 60, f"whose offset from UTC is {zone}: offsets go from -14:00 to +14:00")
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def _hint(text: str) -> str:
    if re.fullmatch(r"\d{1,3}:\d\d(?:[.,]\d+)?", text):
        return "hours and minutes, or minutes and seconds? Spreadsheets shorten times so: " + _WRITE_DATES
    if re.search(r"[ap]m\b", text, re.IGNORECASE):
        return "times with am and pm are not read: " + _WRITE_DATES
    if re.match(r"\d{1,2}/\d{1,2}/\d{2,4}", text):
        return "which of the numbers is the month? " + _WRITE_DATES[0].upper() + _WRITE_DATES[1:]
    if re.search(r"\d [A-Za-z]{2,5}$|\d [A-Z][a-z]+/", text):
        return "zones are stated by their offset from UTC, such as +01:00; names of zones are not read"
    return _WRITE_DATES


@dataclass(frozen=True, eq=False)
class Clock:
    """The even clock that a column of times follows."""

    rate: float
    """Samples a second."""
    start: float
    """Time of the first sample in seconds, by the clock of the file; 0 where the file has dates or times of day."""
    place: Integers
    """(N,) place of each row on the even grid."""
    began: str = ""
    """Date and time of the first row, where the file has it."""
    remarks: tuple[str, ...] = ()
    """What looks odd though it may be right."""
    jitter: float = 0.0
    """Root mean square deviation of the times from the even grid, s."""


@dataclass(frozen=True, eq=False)
class UnevenClock:
    """Instants that are exact, and the even grid to which samples are interpolated."""

    rate: float
    """Samples a second of the grid."""
    start: float
    seconds: Array
    """(N,) instants since the first."""
    began: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class TimeColumn:
    """Where a column of times stands, and what the user states of it."""

    path: Path
    head: str
    """Its head, perhaps with a unit in brackets."""
    name: str
    """What the user calls it."""
    unit: str | None
    """The unit that the user states."""
    place: Callable[[int], str]
    """What to call a row, counted from 0."""

    def at(self, row: int, name: str = "") -> str:
        """File, row and column, for a message."""
        return f"{self.path}: {self.place(row)}, column '{name or self.name}'"

    def require_all(self, missing: Mask, what: str = "missing") -> None:
        """Refuse rows without a time."""
        if missing.any():
            row, count = int(np.argmax(missing)), int(missing.sum())
            more = f" (and in {count - 1} more rows)" if count > 1 else ""
            raise InputError(f"{self.at(row, self.head)} is {what}{more}: mend it")

    def require_no_gap(self, seconds: Array, gaps: int, *, missing: bool) -> None:
        """Refuse gaps between instants, unless samples may be missing."""
        if gaps and not missing:
            row = int(np.argmax(np.diff(seconds))) + 1
            length = f"{seconds[row] - seconds[row - 1]:.4g} s"
            more = f" (the longest of {gaps} gaps)" if gaps > 1 else ""
            raise InputError(f"{self.at(row)}: {length} without a sample end there{more}: {MASK}")


@dataclass(frozen=True, eq=False)
class Seconds:
    """Times (N,) in seconds since the first row, and their description."""

    column: TimeColumn
    values: Array
    start: float
    kind: Kind
    shown: Callable[[int], str]
    unit: str = ""
    """Unit of numbers: that of the head or of the user; empty where neither states one."""
    spacing: float = 0.0
    """Seconds from a time to the next number that the file could state; 0 where it states them exactly."""
    began: str = ""
    remarks: tuple[str, ...] = ()

    def at(self, row: int) -> str:
        return self.column.at(row)

    def unit_if(self, ratio: float) -> str:
        """The unit in which the rate would be higher by this ratio; empty if there is none, or for dates."""
        size = in_si(self.unit or "s")[0] / ratio
        fitting = (unit for unit in _UNITS if abs(in_si(unit)[0] / size - 1) < 0.05)
        return next(fitting, "") if self.kind is Kind.NUMBER else ""


def clock_of(times: Times, column: TimeColumn, *, rate: float | None, missing: bool) -> Clock:
    """The even clock of a column of times.

    Args:
        times: The column as its source reads it.
        column: Where it stands.
        rate: The rate that the user or the file states.
        missing: Whether gaps of whole samples are allowed.

    Raises:
        InputError: a time is missing or none, times do not rise, are uneven, have gaps that are not allowed, or
            contradict the stated unit or rate; with the row.
    """
    return _even(seconds_of(times, column), rate, missing=missing)


def uneven_clock_of(times: Times, column: TimeColumn, *, rate: float | None) -> UnevenClock:
    """The clock of a column whose times are the exact instants of the samples, however uneven; with an even grid.

    Args:
        times: The column as its source reads it.
        column: Where it stands.
        rate: Rate of the grid; by default that of the median step.

    Raises:
        InputError: a time is missing or none, or times do not rise; with the row.
    """
    seconds = seconds_of(times, column)
    values = seconds.values
    require(len(values) > 3, f"{column.path}: interpolation needs 4 samples, there are {len(values)}")
    steps = np.diff(values)
    _require_rising(seconds, steps)
    usual = steps[steps <= longest_step(steps)]
    jitter = usual / usual.mean() - 1
    doubt = 2 * float(abs(jitter).max()) / len(usual) + float(np.finfo(np.float64).eps)
    grid = _shortest(1 / float(usual.mean()), doubt) if rate is None else float(rate)
    remark = (
        f"column '{column.name}': samples at uneven instants (steps deviate by {np.sqrt((jitter**2).mean()):.1%} rms, "
        f"{abs(jitter).max():.0%} at most) were interpolated by cubic splines to {grid:.6g} Hz"
    )
    return UnevenClock(grid, seconds.start, values, seconds.began, (*seconds.remarks, remark))


def longest_step(steps: Array) -> float:
    """The longest of positive steps of a jittering clock that is no gap: 1.5 medians, or more where steps scatter more.

    Examples:
        >>> even, uneven = np.array([1.0, 1.0, 0.9, 1.0, 2.0]), np.array([1.0, 1.6, 0.4, 1.2, 0.9])
        >>> longest_step(even), round(longest_step(uneven), 3)
        (1.5, 2.483)
    """
    median = float(np.median(steps))
    scatter = 1.4826 * float(np.median(abs(steps - median)))  # the standard deviation, for Gaussian steps
    return max(1.5 * median, median + 5 * scatter)


def seconds_of(times: Times, column: TimeColumn) -> "Seconds":
    """The times of a column in seconds since its first row."""
    if isinstance(times, tuple):
        times = stamps_of_texts(times, lambda row: column.at(row, column.head))
    return _of_stamps(times, column) if isinstance(times, Stamps) else _of_numbers(times, column)


def _of_stamps(stamps: Stamps, column: TimeColumn) -> Seconds:
    if stamps.missing is not None:
        column.require_all(stamps.missing)
    written = split_head(column.head)[1] or ""
    unit = column.unit or (written if is_unit(written) else "")
    require(
        not unit or stamps.kind is Kind.ELAPSED,
        f"{column.path}: column '{column.head}' holds {stamps.kind.value}, but "
        f"{'units state' if column.unit else 'its head states'} '{unit}': leave the unit out",
    )
    first = int(stamps.nanoseconds[0])
    near = _span(stamps.nanoseconds) < 1 << 63
    require(near, f"{column.path}: column '{column.head}' holds times that are more than 292 years apart: mend them")
    dated = stamps.kind is not Kind.ELAPSED
    changes = tuple(
        f"times have the offset {offset} from UTC from {column.place(row)} on, {before} before it"
        for (_, before), (row, offset) in pairwise(stamps.offsets)
        if _offset(before) != _offset(offset)
    )
    return Seconds(
        column,
        (stamps.nanoseconds - first) / float(_NS),
        0.0 if dated else first / _NS,
        stamps.kind,
        stamps.shown,
        began=stamps.shown(0) if dated else "",
        remarks=changes,
    )


def _of_numbers(values: Any, column: TimeColumn) -> Seconds:
    unit = unit_of(column.head, column.unit, column.path) or ""
    require(
        same_kind(unit or "s", "s"),
        f"{column.path}, column '{column.head}': time cannot be measured in '{unit}'; it is in s, ms, µs, …",
    )
    column.require_all(np.isnan(values))
    column.require_all(np.isinf(values), "infinite")
    exact = values.dtype.kind in "iu" and _span(values) < 1 << 63
    values = values if exact else values.astype(np.float64)
    factor = in_si(unit or "s")[0]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        seconds = values * factor
        wrong = np.flatnonzero(~(abs(seconds) < LARGEST))
        require(not wrong.size, f"{column.path}, column '{column.name}': {values[wrong[:1]]} is no time")
        since_first = (values - values[0]) * factor
    largest = float(abs(seconds).max())
    if not unit and largest > _FARTHEST:
        likely = _likely_epoch(largest)
        guess = f", probably {likely} since 1970" if likely else ""
        raise InputError(
            f"{column.at(0)}: {values[0]:.15g} s are {largest / _DAY / 365.25:.3g} years, so the unit is another one"
            f"{guess}: state it in the head, as '{column.name} [{likely or 'ms'}]', or by "
            f"{_stating(column.name, likely or 'ms')}"
        )
    return Seconds(
        column,
        since_first,
        float(values[0]) * factor,
        Kind.NUMBER,
        lambda row: f"{seconds[row]:.15g} s",
        unit,
        0.0 if exact else float(np.spacing(abs(values).max())) * factor,
        _began(float(values[0]), unit) if unit else "",
    )


def _span(values: Integers) -> int:
    return int(values.max()) - int(values.min())


def _stating(name: str, unit: str) -> str:
    return f"units={{'{name}': '{unit}'}}, in a study [data.units] time = \"{unit}\""


def _likely_epoch(seconds: float) -> str:
    """The unit in which a number of this size is a date between 1990 and 2100, or nothing."""
    for unit in ("ms", "µs", "ns"):
        if _EPOCH[0] < seconds * in_si(unit)[0] < _EPOCH[1]:
            return unit
    return ""


def _began(value: float, unit: str) -> str:
    """The date that a number in a unit is, where it is one of a clock since 1970, or of MATLAB's or Excel's days."""
    seconds = value * in_si(unit)[0]
    since, clock = 0.0, ""
    if in_si(unit)[0] == _DAY and 6.9e5 < value < 8e5:
        since, clock = -719_529 * _DAY, " by MATLAB's datenum"
    elif in_si(unit)[0] == _DAY and 3e4 < value < 8e4:
        since, clock = -25_569 * _DAY, " by Excel's serial number"
    elif _EPOCH[0] < seconds < _EPOCH[1]:
        clock = " UTC"
    if not clock:
        return ""
    return f"{str(np.datetime64(round((seconds + since) * 1000), 'ms')).replace('T', ' ')}{clock}"


def _even(times: Seconds, stated: float | None, *, missing: bool) -> Clock:
    values, column = times.values, times.column
    if len(values) == 1:
        if stated is None:
            where = f"{column.path}: {column.place(0)}"
            raise InputError(f"{where} is the only one: a sampling rate needs two rows, or rate=")
        return Clock(float(stated), times.start, np.zeros(1, dtype=np.int64), times.began)
    steps = np.diff(values)
    apart = float(np.median(abs(steps)))
    if times.spacing > _JITTER * apart:
        raise InputError(
            f"{column.path}: numbers as large as those of column '{column.name}' state times to {times.spacing:.2g} s "
            f"only, but rows are {apart:.2g} s apart: save integers, or times since the first sample; or {NO_TIMES}"
        )
    _require_rising(times, steps)
    place = _places(times, steps, missing=missing)
    rate = float(place[-1] / values[-1])
    _require_agreement(times, rate, stated)
    off = abs(values - place / rate)
    worst = int(np.argmax(off))
    if off[worst] * rate > _JITTER:
        raise InputError(
            f"{times.at(worst)}: sampling is not even, {times.shown(worst)} is {off[worst] * rate:.0%} of a period "
            f"away from an even {rate:.6g} Hz. {RESAMPLE}; if the clock was even and only the times are inexact, "
            f"{NO_TIMES}"
        )
    if stated is None:
        doubt = 2 * (off[worst] + times.spacing + np.spacing(values[-1])) / values[-1]
        rate = _shortest(rate, float(doubt))
    remarks = (*times.remarks, *_on_rate(times, rate))
    jitter = float(np.sqrt(np.mean(off**2)))
    return Clock(rate if stated is None else float(stated), times.start, place, times.began, remarks, jitter)


def _on_rate(times: Seconds, rate: float) -> Iterable[str]:
    """A remark where a recording of a robot would have another rate."""
    if _PLAUSIBLE[0] <= rate <= _PLAUSIBLE[1]:
        return
    usual = {}
    for unit in _UNITS if times.kind is Kind.NUMBER else ():
        other = rate * in_si(times.unit or "s")[0] / in_si(unit)[0]
        if unit != (times.unit or "s") and _USUAL[0] <= other <= _USUAL[1]:
            usual[unit] = other
    by = f"by column '{times.column.name}', in {times.unit or 's'}" if times.kind is Kind.NUMBER else "by its times"
    hint = ""
    if usual:
        unit = min(usual, key=lambda unit: len(f"{_shortest(usual[unit], 1e-3):.15g}".strip("0.")))
        hint = f": if they are in {unit} ({usual[unit]:.4g} Hz), state {_stating(times.column.name, unit)}"
    yield f"the sampling rate is {rate:.4g} Hz {by}{hint}"


def _require_rising(times: Seconds, steps: Array) -> None:
    wrong = np.flatnonzero(steps <= 0)
    if not wrong.size:
        return
    row = int(wrong[0]) + 1
    verb = "stands still" if steps[row - 1] == 0 else "runs backwards"
    more = f" (and in {wrong.size - 1} more rows)" if wrong.size > 1 else ""
    raise InputError(
        f"{times.at(row)}: time {verb}, {times.shown(row)} after {times.shown(row - 1)}{more}: "
        f"{_why_not_rising(times, steps, row)}"
    )


def _why_not_rising(times: Seconds, steps: Array, row: int) -> str:
    back = -float(steps[row - 1])
    if times.kind is Kind.OF_DAY and back > _DAY / 2:
        return (
            "a time of day starts again at midnight. Write the date with it, as 2024-03-01 23:59:59.5, or split the "
            "recording there"
        )
    if times.kind is Kind.LOCAL and abs(back - _HOUR) < _HOUR / 2:
        return (
            "summer time ends so. Write times in UTC, or with their offset, as 2024-10-27 02:59:59.5+02:00, or split "
            "the recording there"
        )
    still = int((steps == 0).sum())
    if back == 0 and still > max(10, len(steps) / 5):
        return f"{still} of {len(steps) + 1} rows repeat a time: write times with more digits, or {NO_TIMES}"
    return f"are two recordings in one file? Split it there; if only the times are wrong, {NO_TIMES}"


def _require_agreement(times: Seconds, rate: float, stated: float | None) -> None:
    if stated is None or abs(stated / rate - 1) <= _DISAGREES:
        return
    unit = times.unit_if(stated / rate)
    hint = f"state {_stating(times.column.name, unit)} if time is in {unit}" if unit else f"drop rate=, or {NO_TIMES}"
    raise InputError(
        f"{times.column.path}: a rate of {stated:.6g} Hz is stated, but column '{times.column.name}' runs at "
        f"{rate:.6g} Hz (rows are {1 / rate:.6g} s apart): {hint}"
    )


def _places(times: Seconds, steps: Array, *, missing: bool) -> Integers:
    """Place of each sample in the grid; gaps are whole numbers of samples."""
    longest = longest_step(steps)
    gaps = np.flatnonzero(steps > longest)
    if not gaps.size:
        return np.arange(len(steps) + 1)
    row = int(gaps[0]) + 1
    lost = np.rint(steps / steps[steps <= longest].mean()).astype(np.int64) - 1

    def jump(row: int = row) -> str:
        return f"{times.at(row)}: time jumps from {times.shown(row - 1)} to {times.shown(row)}"

    for at in (gaps[abs(steps[gaps] - _HOUR) <= longest] if times.kind is Kind.LOCAL else ())[:1]:
        raise InputError(
            f"{jump(int(at) + 1)}, an hour: summer time begins so. Write times in UTC, or with their offset, as "
            "2024-03-31 03:00:00.5+02:00, or split the recording there"
        )
    total = int(lost[gaps].sum())
    more = f", {total} in all" if gaps.size > 1 else ""
    if not missing:
        raise InputError(f"{jump()}, about {lost[row - 1]} samples are lost there{more}: {MASK}")
    if total > _MOST_LOST * (len(steps) + 1):
        raise InputError(f"{jump()}: {total} samples are lost beside {len(steps) + 1} that are there: split it there")
    return np.concatenate([[0], np.cumsum(np.maximum(lost, 0) + 1)])


def _shortest(rate: float, doubt: float) -> float:
    """The shortest decimal number that the rate, or its inverse, can be, within a relative doubt.

    Examples:
        >>> _shortest(999.9999999999999, 1e-15), _shortest(333.3333333333334, 1e-15)
        (1000.0, 333.3333333333333)
    """
    for digits in range(1, 17):
        for candidate in (float(f"{rate:.{digits}g}"), 1 / float(f"{1 / rate:.{digits}g}")):
            if abs(candidate - rate) <= doubt * rate:
                return candidate
    return rate
