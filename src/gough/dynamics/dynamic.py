"""Inverse dynamics as a linear problem: the bridge from any robot and its recording to every method."""

from typing import Any

import numpy as np

from gough.core.arrays import Array, array, first_not_finite
from gough.core.errors import InputError, require
from gough.noise import Gaussian, Noise
from gough.problem import Groups, LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_SIZE_UNKNOWN = Gaussian()


def dynamic(
    robot: DynamicModel,
    q: Any,
    dq: Any,
    ddq: Any,
    efforts: Any,
    *,
    noise: Noise = _SIZE_UNKNOWN,
    prior: Box | ConfidenceEllipsoid | None = None,
    nominal: Any = None,
) -> LinearProblem:
    """The problem efforts = regressor(q, dq, ddq) · parameters + noise, sample by sample and actuator by actuator.

    Args:
        robot: The model whose dynamic parameters are unknown.
        q: Positions (N, coordinates), as `robot.regressor` takes them.
        dq: Velocities (N, coordinates).
        ddq: Accelerations (N, coordinates).
        efforts: Measured forces or torques (N, actuators).
        noise: What is known of the errors of `efforts`; without it their size is estimated from the residuals.
        prior: What is known of the parameters beforehand.
        nominal: The blueprint's parameters; None takes the robot's own.

    Raises:
        InputError: shapes do not fit, or a number is missing; the message names channel and sample.

    Examples:
        >>> from gough.robots import FiveBar
        >>> still = np.zeros((1, 2))
        >>> problem = dynamic(FiveBar.demo(), [[2.0, 1.0]], still, still, [[-0.99, 1.16]])
        >>> problem.W.shape, problem.groups.names
        ((2, 21), ('motor 1', 'motor 2'))
    """
    moved = {what: _channels(value, what) for what, value in (("q", q), ("dq", dq), ("ddq", ddq))}
    y = _channels(efforts, "efforts", robot.actuators)
    _require_alike(moved, y, robot)
    W = _regressor(robot, moved)
    blueprint = robot.nominal if nominal is None else nominal
    unknowns = Unknowns(robot.names, robot.units, blueprint, prior)
    return LinearProblem(W, y.reshape(-1), unknowns, noise, Groups(robot.actuators))


def _channels(value: Any, what: str, names: tuple[str, ...] = ()) -> Array:
    """`value` as (samples, channels), every entry finite."""
    channels = array(value, what, ndim=2, copy=False)
    bad = first_not_finite(channels)
    if bad is not None:
        sample, column = bad
        which = f"of '{names[column]}'" if column < len(names) else f"in column {column}"
        raise InputError(
            f"{what} {which} is {channels[bad]} at sample {sample} (counted from 0): leave that sample out, or mend it"
        )
    return channels


def _require_alike(moved: dict[str, Array], y: Array, robot: DynamicModel) -> None:
    n_samples = len(moved["q"])
    require(n_samples > 0, "a problem needs at least one sample, but q is empty")
    for what, channels in (*moved.items(), ("efforts", y)):
        require(
            len(channels) == n_samples,
            f"{what} has {len(channels)} samples, but q has {n_samples}: all are recorded at the same times",
        )
    for what in ("dq", "ddq"):
        require(
            moved[what].shape == moved["q"].shape,
            f"{what} has {moved[what].shape[1]} columns, but q has {moved['q'].shape[1]}",
        )
    names = robot.actuators
    require(
        y.shape[1] == len(names),
        f"efforts must have a column per actuator ({', '.join(names)}), but there are {y.shape[1]}",
    )


def _regressor(robot: DynamicModel, moved: dict[str, Array]) -> Array:
    """The robot's regressor with its first two axes, samples and actuators, made one."""
    wanted = (len(moved["q"]), len(robot.actuators), len(robot.names))
    W: Array = np.asarray(robot.regressor(moved["q"], moved["dq"], moved["ddq"]))
    require(W.shape == wanted, f"the regressor of {robot.name} has shape {W.shape} where {wanted} is expected")
    return W.reshape(-1, wanted[2])
