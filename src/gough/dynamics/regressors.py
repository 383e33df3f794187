"""The regressor of a measured motion: it passes the filter that the efforts have passed."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gough.core.arrays import Array, Integers, Mask, first_not_finite
from gough.core.errors import InputError, require
from gough.data.filters import MEMORIES, low_passed, memory
from gough.data.motion import FullRate, MeasuredMotion
from gough.robots.model import DynamicModel

SAMPLES_PER_BLOCK = 1 << 14
"""Samples whose regressors are held at a time."""


@runtime_checkable
class _OfMotions(Protocol):
    """A model some of whose columns depend on a motion as a whole."""

    robot: DynamicModel

    def columns_of(self, motion: MeasuredMotion) -> Array: ...


def measured_regressor(robot: DynamicModel, motion: MeasuredMotion) -> Array:
    """The regressor (N, actuators, parameters) to compare with the efforts of a motion, masked or not.

    If the efforts have passed a low-pass, so has this regressor, column by column, at the rate of the recording: then
    both sides of the equation of motion are filtered alike, the jumps of dry friction too [PRV03i, §4.1].

    Examples:
        >>> from gough.data import MeasuredMotion
        >>> from gough.robots import FiveBar
        >>> robot, still = FiveBar.demo(), np.zeros((2, 2))
        >>> motion = MeasuredMotion(
        ...     100.0, still + [2.0, 1.0], still, still, still, still == 0,
        ...     coordinates=robot.coordinates, coordinate_units=robot.coordinate_units,
        ...     actuators=robot.actuators, effort_units=robot.effort_units,
        ... )
        >>> measured_regressor(robot, motion).shape
        (2, 2, 21)
    """
    W = np.empty((motion.n_samples, len(robot.actuators), len(robot.names)))
    for samples, block in regressor_blocks(robot, motion, np.arange(motion.n_samples)):
        W[samples] = block
    return W


def full_rate_regressor(robot: DynamicModel, motion: MeasuredMotion) -> Array:
    """The regressor (samples of the recording, actuators, parameters), unfiltered, computed block by block."""
    full = motion.full_rate or motion
    W = np.empty((len(full.q), len(robot.actuators), len(robot.names)))
    for start in range(0, len(W), SAMPLES_PER_BLOCK):
        samples = np.arange(start, min(start + SAMPLES_PER_BLOCK, len(W)))
        W[samples] = _regressor(robot, motion, (full.q, full.dq, full.ddq), samples)
    return W


def regressor_blocks(
    robot: DynamicModel, motion: MeasuredMotion, samples: Integers, full_rate: Array | None = None
) -> Iterator[tuple[Integers, Array]]:
    """The regressor of some samples, rising, of a motion: their numbers, and (their count, n, p), block by block.

    A model with effects has columns that depend on the motion as a whole, such as a delay: see `WithEffects`.

    Args:
        robot: The model.
        motion: What was measured.
        samples: Numbers of the samples.
        full_rate: What `full_rate_regressor` returns, where it is known already.
    """
    if isinstance(robot, _OfMotions):
        extra = robot.columns_of(motion)
        own = None if full_rate is None else full_rate[:, :, : len(robot.robot.names)]
        for chosen, block in regressor_blocks(robot.robot, motion, samples, own):
            yield chosen, np.concatenate([block, extra[chosen]], axis=2)
        return
    full = motion.full_rate
    if full is None:
        for start in range(0, len(samples), SAMPLES_PER_BLOCK):
            chosen = samples[start : start + SAMPLES_PER_BLOCK]
            known = None if full_rate is None else full_rate[chosen]
            moved = (motion.q, motion.dq, motion.ddq)
            yield chosen, _regressor(robot, motion, moved, chosen) if known is None else known
        return
    reach = MEMORIES * memory(full.cutoff, full.order, full.rate)
    at = full.at[samples]
    for piece in full.pieces:
        first, last = np.searchsorted(at, [piece.start, piece.stop])
        while first < last:
            stop = first + _block_length(at[first:last], reach)
            around = np.arange(max(at[first] - reach, piece.start), min(at[stop - 1] + reach + 1, piece.stop))
            if full_rate is None:
                W = _regressor(robot, motion, (full.q, full.dq, full.ddq), around)
            else:
                W = full_rate[around[0] : around[-1] + 1]
            yield samples[first:stop], filtered_at(W, full, at[first:stop] - around[0])
            first = stop


def _block_length(at: Integers, reach: int) -> int:
    """How many samples from the first one on are taken together: no more than a block, and none beyond a long gap."""
    size = max(SAMPLES_PER_BLOCK, 4 * reach)
    length = int(np.searchsorted(at, at[0] + size))
    gaps = np.flatnonzero(np.diff(at[:length]) > 2 * reach)
    return int(gaps[0]) + 1 if gaps.size else length


def filtered_at(columns: Array, full: FullRate, samples: Integers) -> Array:
    """Columns (M, n, k) of a piece at the full rate after the low-pass, at some samples: (samples, n, k)."""
    flat = columns.reshape(len(columns), -1)
    present = _present(flat)
    if present.all():
        passed = low_passed(flat, full.cutoff, full.order, full.rate)[samples]
        return np.asarray(passed.reshape(len(samples), *columns.shape[1:]))
    result = np.zeros((len(samples), flat.shape[1]))
    result[:, present] = low_passed(flat[:, present], full.cutoff, full.order, full.rate)[samples]
    return result.reshape(len(samples), *columns.shape[1:])


def _present(columns: Array) -> Mask:
    """Which columns (M, k) are not zero everywhere; most are seen by their first row."""
    present: Mask = np.asarray(columns[:1].any(axis=0))
    if not present.all():
        present[~present] = columns[:, ~present].any(axis=0)
    return present


def _regressor(robot: DynamicModel, motion: MeasuredMotion, moved: tuple[Array, ...], samples: Any) -> Array:
    """The regressors (samples, n, p); where the robot refuses, the first sample that it refuses is named."""
    wanted = (len(samples), len(robot.actuators), len(robot.names))
    try:
        W: Array = np.asarray(robot.regressor(*(part[samples] for part in moved)))
    except InputError as error:
        if len(samples) > 1:
            half = len(samples) // 2
            _regressor(robot, motion, moved, samples[:half])
            _regressor(robot, motion, moved, samples[half:])
            raise  # only together
        at = ", ".join(f"{c} = {v:.4g}" for c, v in zip(motion.coordinates, moved[0][samples[0]], strict=True))
        raise InputError(
            f"{robot.name} cannot reach the position measured in {_place(motion, int(samples[0]))} ({at}): {error}. "
            f"Check zero and direction of its coordinates, and its geometry{_degrees(motion, moved[0])}{_odd(motion)}"
        ) from error
    require(W.shape == wanted, f"the regressor of {robot.name} has shape {W.shape} where {wanted} is expected")
    bad = first_not_finite(W)
    if bad is not None:
        where = f"of {motion.actuators[bad[1]]} by '{robot.names[bad[2]]}' in {_place(motion, int(samples[bad[0]]))}"
        raise InputError(f"the regressor of {robot.name} is {W[bad]} {where}: the model is not defined there")
    return W


def _degrees(motion: MeasuredMotion, q: Array) -> str:
    """A hint where angles exceed a turn: they may be degrees."""
    largest = [
        (float(abs(values).max()), name)
        for name, unit, values in zip(motion.coordinates, motion.coordinate_units, q.T, strict=True)
        if unit == "rad"
    ]
    size, name = max(largest, default=(0.0, ""))
    return f"; {name} reaches {size:.3g} rad, more than a turn: are these degrees?" if size > 2 * np.pi else ""


def _odd(motion: MeasuredMotion) -> str:
    """What looks odd in the recordings, which may be why a robot refuses a position."""
    remarks = [remark for line in motion.account for remark in line.remarks]
    return f". Also check: {'; '.join(remarks)}" if remarks else ""


def _place(motion: MeasuredMotion, sample: int) -> str:
    """The row of a sample of the motion, or of the motion at its full rate.

    A sample between two that are left is in a row between theirs, where no row of the recording is missing there.
    """
    full = motion.full_rate
    if full is None:
        return motion.place(sample)
    nearest = int(np.argmin(abs(full.at - sample)))
    if full.at[nearest] == sample:
        return motion.place(nearest)
    before = int(np.searchsorted(full.at, sample)) - 1
    if 0 <= before < motion.n_samples - 1 and motion.source[before] == motion.source[before + 1]:
        first, last = (abs(int(motion.rows[k])) for k in (before, before + 1))
        if last - first == full.at[before + 1] - full.at[before]:
            row = first + sample - int(full.at[before])
            return f"row {row} of {motion.sources[motion.source[before]]}"
    return f"a row near {motion.place(nearest)}"
