"""What a motion really demands, asked of the robot itself and not of the solver's equations; also between samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.designs.excitation.limits import Channel
from gough.designs.excitation.tracking import PER_HARMONIC, Neighborhood
from gough.robots.refusal import refuse_where
from gough.simulate.equations import as_parallel
from gough.simulate.trajectories import FourierSeries

DENSE = 300
"""Samples in a period of the highest harmonic at which limits are verified."""


def measured(robot: Any, parameters: Array, channels: Sequence[Channel], moved: tuple[Array, Array, Array]) -> Array:
    """The limited quantities (N, channels) of a motion, dry friction with its plain sign.

    Raises:
        InputError: a pose is out of reach or singular; the message names the first such sample.
    """
    x, dx, ddx = moved
    kinds = {one.kind for one in channels}
    in_pose = as_parallel(robot)
    q, dq, ddq = (x, dx, ddx) if in_pose is None else in_pose.joint_motion(x, dx, ddx)
    sources: dict[str, Array] = {"position": q, "speed": dq, "acceleration": ddq, "pose": x}
    if "effort" in kinds:
        sources["effort"] = robot.regressor_kernel()(x, dx, ddx) @ parameters
    if "joint" in kinds:
        sources["joint"] = robot.all_coordinates(x)
    if "margin" in kinds:
        sources["margin"] = robot.margin(x)[:, None]
    if "reach" in kinds:
        sources["reach"] = robot.reach(x)
    return np.column_stack([sources[one.kind][:, one.index] for one in channels])


def course(parameters: Array, around: Neighborhood, series: FourierSeries) -> tuple[Array, Array]:
    """The least and greatest values (N, channels) that a periodic motion takes around each of many samples.

    Tracking errors are included to first order.

    Raises:
        InputError: the motion leaves the workspace or meets a singularity; the message names the instant.
    """
    robot, channels = around.robot, around.channels
    n = DENSE * series.n_harmonics
    times = np.arange(n) / n * series.period
    _, x, dx, ddx = series.at(times)
    try:
        values = measured(robot, parameters, channels, (x, dx, ddx))
        distances = [i for i, one in enumerate(channels) if one.kind == "margin"]
        beyond = ~np.isfinite(values).all(axis=1) | ~(values[:, distances] > 0).all(axis=1)
        refuse_where(beyond, "it lies in a singularity, beyond one, or out of reach")
    except InputError as error:
        raise InputError(
            f"{robot.name} cannot follow the motion, sampled {n} times in its period of {series.period:g} s: {error}. "
            "Make the motion smaller, or keep a distance to singularity"
        ) from error
    spread = around.spread(x)
    low, high = values - spread, values + spread
    below, above = _between(low), _between(high)
    in_pose = as_parallel(robot)
    speeds = dx if in_pose is None else in_pose.joint_motion(x, dx, ddx).dq
    for i, one in enumerate(channels):
        if one.kind == "effort":
            below[:, i] = above[:, i] = _around_turns(values[:, i], speeds[:, one.index], above[:, i])
    return low - below, high + above


def _between(values: Array) -> Array:
    """By how much values (N, channels) of a period stray beyond their samples, by second differences."""
    return np.abs(np.roll(values, 1, axis=0) - 2 * values + np.roll(values, -1, axis=0)) / 4


def _around_turns(effort: Array, speed: Array, elsewhere: Array) -> Array:
    """By how much an effort (N,) strays beyond its samples; where its actuator turns, dry friction makes it jump.

    Up to the turn it is extrapolated from its own side of the jump, to first order and with a second difference.
    """
    around = elsewhere.copy()
    for past in (1, -1):  # from before the turn, and backwards in time from after it
        turns = np.sign(speed) != np.sign(np.roll(speed, -past))
        way = speed / np.where(turns, speed - np.roll(speed, -past), 1.0)
        slope, bend = effort - np.roll(effort, past), effort - 2 * np.roll(effort, past) + np.roll(effort, 2 * past)
        around = np.where(turns, np.abs(way * slope) + np.abs(bend) / 2, around)
    return around


def extremes(parameters: Array, around: Neighborhood, series: FourierSeries) -> tuple[Array, Array]:
    """The least and greatest values (channels,) that a periodic motion takes at any time, with any tracking error.

    Those of tracking errors are the worse of two: to first order, and as followed by `Neighborhood.extremes`.
    """
    low, high = course(parameters, around, series)
    least, most = followed(around, series)
    along = np.array([one.follows_positions for one in around.channels])
    return (
        np.where(along, np.minimum(low.min(axis=0), least.min(axis=0)), low.min(axis=0)),
        np.where(along, np.maximum(high.max(axis=0), most.max(axis=0)), high.max(axis=0)),
    )


def followed(around: Neighborhood, series: FourierSeries) -> tuple[Array, Array]:
    """The least and greatest values (N, channels) over tracking errors, followed around N instants of the period.

    Without tracking errors there is nothing to follow: the least is infinite, the greatest minus infinite.
    """
    if not around.errors.any():
        return np.full((1, len(around.channels)), np.inf), np.full((1, len(around.channels)), -np.inf)
    n = PER_HARMONIC * series.n_harmonics
    low, high = around.extremes(series.at(np.arange(n) / n * series.period)[1])
    with np.errstate(invalid="ignore"):  # a pose that is lost is infinitely far
        below, above = (np.nan_to_num(_between(each), nan=np.inf, posinf=np.inf) for each in (low, high))
    return low - below, high + above
