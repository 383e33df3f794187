"""A motion as a linear problem: as prepared from recordings, or as arrays."""

import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, array, first_not_finite, frozen
from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.core.units import same_kind
from gough.data.motion import MeasuredMotion
from gough.dynamics.regressors import regressor_blocks
from gough.noise import Gaussian, Noise
from gough.problem import Groups, LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_SIZE_UNKNOWN = Gaussian()


@one_blas_thread()
def recorded(
    robot: DynamicModel,
    motion: MeasuredMotion,
    *,
    noise: Noise = _SIZE_UNKNOWN,
    prior: Box | ConfidenceEllipsoid | None = None,
    nominal: Any = None,
    full_rate: Array | None = None,
) -> LinearProblem:
    """The problem efforts = regressor · parameters + noise, with a row for each row of the motion that is kept.

    If the efforts have passed a low-pass, the regressor passes it too, at the rate of the recording: both sides are
    filtered alike [PRV03i, §4.1]. Rows stand sample by sample and actuator by actuator. Masked rows leave gaps in the
    groups' grid, and so do the seams between recordings: time stays time.

    Args:
        robot: The model whose dynamic parameters are unknown.
        motion: As `gough.data.prepare` returns it, with the robot's coordinates by their names.
        noise: What is known of the errors of the efforts; without it their size is estimated from the residuals.
        prior: What is known of the parameters beforehand.
        nominal: The blueprint's parameters; None takes the robot's own.
        full_rate: What `gough.dynamics.regressors.full_rate_regressor` returns, where it is known already.

    Raises:
        InputError: the motion is not one of this robot by names, number or units, or the robot cannot be at one of
            its samples; the message names it.

    Examples:
        >>> from gough.data import MeasuredMotion
        >>> from gough.robots import FiveBar
        >>> robot, still = FiveBar.demo(), np.zeros((2, 2))
        >>> motion = MeasuredMotion(
        ...     100.0, still + [2.0, 1.0], still, still, still + [-0.99, 1.16], [[True, True], [False, True]],
        ...     coordinates=robot.coordinates, coordinate_units=robot.coordinate_units,
        ...     actuators=robot.actuators, effort_units=robot.effort_units,
        ... )
        >>> problem = recorded(robot, motion)
        >>> problem.W.shape, problem.groups.position
        ((3, 21), array([0, 1, 3]))
    """
    require_fit(robot, motion)
    kept = motion.kept
    require(motion.n_rows > 0, "every row of the motion is masked: nothing is left to identify from")
    W, filled = np.empty((motion.n_rows, len(robot.names))), 0
    for samples, block in regressor_blocks(robot, motion, np.flatnonzero(kept.any(axis=1)), full_rate):
        rows = block[kept[samples]]
        W[filled : filled + len(rows)] = rows
        filled += len(rows)
    unknowns = Unknowns(robot.names, robot.units, robot.nominal if nominal is None else nominal, prior)
    return LinearProblem(frozen(W), motion.efforts[kept], unknowns, noise, _groups(robot, motion))


def _groups(robot: DynamicModel, motion: MeasuredMotion) -> Groups:
    n = len(robot.actuators)
    grid = (motion.positions[:, None] * n + np.arange(n))[motion.kept]
    complete = len(grid) == grid[-1] + 1
    return Groups(robot.actuators, None if complete else grid)


class Channels(Protocol):
    """Names and units of what was measured: of positions and of efforts."""

    @property
    def coordinates(self) -> tuple[str, ...]: ...

    @property
    def coordinate_units(self) -> tuple[str, ...]: ...

    @property
    def actuators(self) -> tuple[str, ...]: ...

    @property
    def effort_units(self) -> tuple[str, ...]: ...


def require_fit(robot: DynamicModel, motion: Channels) -> None:
    """Refuse a motion that is not one of this robot by number, order or units."""
    for what, wanted, recorded_names in (
        ("coordinates", robot.coordinates, motion.coordinates),
        ("actuators", robot.actuators, motion.actuators),
    ):
        require(
            len(wanted) == len(recorded_names),
            f"{robot.name} has {len(wanted)} {what} ({', '.join(wanted)}), but the motion has {len(recorded_names)} "
            f"({', '.join(recorded_names)})",
        )
    _require_order("coordinates", robot, robot.coordinates, motion.coordinates)
    _require_order("efforts", robot, robot.actuators, motion.actuators)
    _require_units(robot, motion.coordinates, motion.coordinate_units, robot.coordinate_units)
    _require_units(robot, motion.actuators, motion.effort_units, robot.effort_units)


def _require_order(what: str, robot: DynamicModel, wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse names in another order than the robot's, by the names or by the numbers in them."""
    if tuple(wanted) == tuple(names):
        return
    same = sorted(wanted) == sorted(names)
    ranks = _ranks(wanted), _ranks(names)
    ordered = None in ranks or ranks[0] == ranks[1]
    require(
        ordered and not same,
        f"the {what} of the motion are ({', '.join(names)}), but those of {robot.name} are ({', '.join(wanted)}), in "
        "this order: name them so, in this order, in prepare()",
    )


def _ranks(names: Sequence[str]) -> list[int] | None:
    """The order of the last numbers in the names, if each has one."""
    numbers = [re.findall(r"\d+", name) for name in names]
    if not all(numbers):
        return None
    last = [int(digits[-1]) for digits in numbers]
    return sorted(range(len(last)), key=last.__getitem__)


def _require_units(robot: DynamicModel, names: Sequence[str], units: Sequence[str], wanted: Sequence[str]) -> None:
    for name, unit, right in zip(names, units, wanted, strict=True):
        if not unit:
            raise InputError(f"the unit of '{name}' is not stated: {robot.name} needs {right}; state it in units=")
        if not same_kind(unit, right):
            electric = same_kind(unit, "V") or same_kind(unit, "A")
            makes = "EffortFromDriveSignal(gain) makes volts or amperes efforts"
            study = (
                "in a study gain in [efforts], with the channels called V1, V2, … in [data.columns] and [data.units]"
            )
            volts = f": {makes}; {study}" if electric else ""
            raise InputError(f"'{name}' is measured in {unit}, but {robot.name} needs {right}{volts}")


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
