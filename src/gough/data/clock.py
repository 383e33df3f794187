"""The even clock behind a column of times: its rate, and the samples that were lost."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.data.motion import Integers

_JITTER = 0.25
"""Share of a period that a time may be away from the even grid: written with few digits, or stamped late."""
_DISAGREES = 0.005
"""Share by which a stated rate may differ from that of the times: two clocks are never quite alike."""
_MOST_LOST = 0.5
"""Share of samples that may be missing in time."""


@dataclass(frozen=True, eq=False)
class Clock:
    """Sample i is the `place[i]`-th of an even grid that begins at `start`."""

    rate: float
    start: float
    place: Integers

    def on_grid(self, samples: Array) -> Array:
        """The samples (N, n) on the grid, NaN where one was lost."""
        size = int(self.place[-1]) + 1
        if size == len(samples):
            return samples
        grid = np.full((size, samples.shape[1]), np.nan, order="F")
        grid[self.place] = samples
        return grid


def even_clock(times: Array, *, stated: float | None, name: str, where: Callable[[int], str], missing: bool) -> Clock:
    """The clock of a column of times in seconds.

    Args:
        times: (N,) in seconds.
        stated: The rate that the user or the file states.
        name: Name of the column, for messages.
        where: File and row, counted from 0, for messages.
        missing: Whether gaps of whole samples are allowed.

    Raises:
        InputError: times do not rise, are uneven, have gaps that are not allowed, or contradict the stated rate.
    """
    if len(times) == 1:
        if stated is None:
            raise InputError(f"{where(0)} is the only one: a sampling rate needs two rows, or rate=")
        return Clock(float(stated), float(times[0]), np.zeros(1, dtype=np.int64))
    steps = np.diff(times)
    _require_rising(times, steps, name, where)
    place = _places(times, steps, name, where, missing=missing)
    rate, start = place[-1] / (times[-1] - times[0]), float(times[0])
    _require_agreement(float(rate), stated, name, where)
    off = abs(times - (start + place / rate))
    worst = int(np.argmax(off))
    if off[worst] * rate > _JITTER:
        raise InputError(
            f"{where(worst)}, column '{name}': sampling is not even, {times[worst]:.9g} s is {off[worst] * rate:.0%} "
            f"of a period away from an even {rate:.6g} Hz. Resample the recording; or, if its clock was even and only "
            "the times are inexact, leave them out by time=None and state rate="
        )
    if stated is not None:
        return Clock(float(stated), start, place)
    doubt = 2 * (off[worst] + np.spacing(abs(times).max())) / (times[-1] - times[0])
    return Clock(_shortest(float(rate), float(doubt)), start, place)


def _require_rising(times: Array, steps: Array, name: str, where: Callable[[int], str]) -> None:
    wrong = np.flatnonzero(steps <= 0)
    if wrong.size:
        row = int(wrong[0]) + 1
        verb = "stands still" if steps[row - 1] == 0 else "runs backwards"
        raise InputError(
            f"{where(row)}, column '{name}': time {verb}, {times[row]:.9g} s after {times[row - 1]:.9g} s"
            f"{f' (and in {wrong.size - 1} more rows)' if wrong.size > 1 else ''}: "
            "are two recordings in one file? Split it there; if only the times are wrong, give time=None and rate="
        )


def _require_agreement(rate: float, stated: float | None, name: str, where: Callable[[int], str]) -> None:
    if stated is None or abs(stated / rate - 1) <= _DISAGREES:
        return
    units = {1000.0: "ms", 1e6: "µs", 1e9: "ns", 1 / 60: "min"}
    unit = next((unit for ratio, unit in units.items() if abs(stated / rate / ratio - 1) < 0.05), "")
    hint = f"give units={{'{name}': '{unit}'}} if time is in {unit}" if unit else "drop rate=, or give time=None"
    raise InputError(
        f"{where(0).rpartition(':')[0]}: a rate of {stated:.6g} Hz is stated, but column '{name}' runs at {rate:.6g} "
        f"Hz (rows are {1 / rate:.6g} s apart): {hint}"
    )


def _places(times: Array, steps: Array, name: str, where: Callable[[int], str], *, missing: bool) -> Integers:
    """Place of each sample in the grid; gaps are whole numbers of samples."""
    longest = 1.5 * np.median(steps)
    gaps = np.flatnonzero(steps > longest)
    if not gaps.size:
        return np.arange(len(times))
    row = int(gaps[0]) + 1
    lost = np.rint(steps / steps[steps <= longest].mean()).astype(np.int64) - 1

    def jump() -> str:
        return f"{where(row)}, column '{name}': time jumps from {times[row - 1]:.9g} s to {times[row]:.9g} s"

    total = int(lost[gaps].sum())
    more = f", {total} in all" if gaps.size > 1 else ""
    if not missing:
        raise InputError(f"{jump()}, about {lost[row - 1]} samples are lost there{more}: read with missing='mask'")
    if total > _MOST_LOST * len(times):
        raise InputError(f"{jump()}: {total} samples are lost beside {len(times)} that are there: split it there")
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
