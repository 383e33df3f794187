"""A measured motion as effects need it: at the rate of the recording, and back through the low-pass."""

import numpy as np

from gough.core.arrays import Array
from gough.data import MeasuredMotion
from gough.dynamics.effect import Excitation
from gough.dynamics.regressors import SAMPLES_PER_BLOCK, filtered_at
from gough.robots.model import DynamicModel

Moved = tuple[Array, Array, Array]
"""Positions, velocities and accelerations."""


def excitation_of(
    robot: DynamicModel,
    motion: MeasuredMotion,
    parameters: Array,
    residuals: Array | None = None,
    *,
    efforts: Array | None = None,
) -> Excitation:
    """The motion at the rate of its recording, with the efforts of a model.

    Args:
        robot: The model.
        motion: What was measured.
        parameters: Values of all of the model's parameters.
        residuals: Measured minus predicted efforts (samples of the motion, actuators), NaN where masked; None: unknown.
        efforts: The model's efforts at the rate of the recording, where they are known already.
    """
    full = motion.full_rate
    moved: Moved = (motion.q, motion.dq, motion.ddq) if full is None else (full.q, full.dq, full.ddq)
    at = np.arange(motion.n_samples) if full is None else full.at
    size = len(moved[0])
    recording = np.zeros(size, dtype=np.int64)
    if full is None:
        recording += np.cumsum(np.append(0, np.diff(motion.positions) != 1))
    else:
        recording[full.starts[1:]] = 1
        recording = np.cumsum(recording)
    rate = motion.rate if full is None else full.rate
    left = np.full((size, len(robot.actuators)), np.nan)
    if residuals is not None:
        left[at] = residuals
    return Excitation(
        robot=robot,
        parameters=parameters,
        rate=rate,
        time=np.arange(size) / rate,
        recording=recording,
        q=moved[0],
        dq=moved[1],
        ddq=moved[2],
        efforts=model_efforts(robot, parameters, moved) if efforts is None else efforts,
        residuals=left,
        regressor=robot.regressor,
        cutoff=np.inf if full is None else full.cutoff,
        order=4 if full is None else full.order,
    )


def model_efforts(robot: DynamicModel, parameters: Array, moved: Moved) -> Array:
    """Efforts (samples, actuators) of the model, block by block."""
    parts = [
        np.asarray(robot.regressor(*(x[start : start + SAMPLES_PER_BLOCK] for x in moved)) @ parameters)
        for start in range(0, len(moved[0]), SAMPLES_PER_BLOCK)
    ]
    return np.concatenate(parts)


def through_low_pass(values: Array, motion: MeasuredMotion) -> Array:
    """Columns (samples of the recording, actuators, k) as the efforts are: filtered, at the samples of the motion."""
    full = motion.full_rate
    if full is None:
        return values
    starts = np.searchsorted(full.at, [piece.start for piece in full.pieces[1:]])
    parts = zip(full.pieces, np.split(full.at, starts), strict=True)
    return np.concatenate([filtered_at(values[piece], full, at - piece.start) for piece, at in parts])
