"""How many harmonics a path has, from its positions alone: quick, and before any dynamics."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.core.errors import InputError, require
from gough.dynamics.fitted_path import mean_pose, reading_covariance
from gough.dynamics.path_model import path_model
from gough.dynamics.recorded import require_fit
from gough.dynamics.repeated_motion import RepeatedMotion
from gough.methods.nonlinear.harmonics import Harmonics
from gough.methods.nonlinear.normal_equations import inverse_roots
from gough.robots.model import DynamicModel

MOST = 30
"""Harmonics that are tried at most."""
PATIENCE = 3
"""Orders without a gain after which no more are tried."""


def path_order(
    robot: DynamicModel,
    motion: RepeatedMotion,
    orders: Sequence[int] = tuple(range(1, MOST + 1)),
    *,
    positions_covariance: Any = None,
) -> int:
    """The order of the path's Fourier series for which BIC of the measured positions is least.

    Efforts have no say, so that no model of the dynamics is needed; `series_order` asks them too.

    Raises:
        InputError: robot and motion do not fit, or no order brings the robot where it was measured.

    Examples:
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.robots import FiveBar
        >>> rng = np.random.default_rng(1)
        >>> series = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=0.5, frequency=0.5, n_harmonics=3)
        >>> experiment = PeriodicExperiment(FiveBar(), series, rate=100.0, periods=5, positions=1e-3, efforts=0.1)
        >>> path_order(FiveBar(), experiment.run(rng))
        3
    """
    found = path_criterion(robot, motion, orders, positions_covariance=positions_covariance)
    return min(found, key=lambda order: found[order])


def path_criterion(
    robot: DynamicModel,
    motion: RepeatedMotion,
    orders: Sequence[int] = tuple(range(1, MOST + 1)),
    *,
    positions_covariance: Any = None,
) -> dict[int, float]:
    """BIC of the measured positions for each order that was tried, constants left out: χ² + unknowns · ln(readings).

    Even or odd harmonics may be missing: orders are tried until three in a row gain nothing.
    """
    require_fit(robot, motion)
    model, n = path_model(robot), len(robot.coordinates)
    C = reading_covariance(motion, positions_covariance, 1.0 if positions_covariance is not None else None)[0][:n, :n]
    present = motion.count > 0
    x, q, count = mean_pose(model, motion), motion.mean[present, :n], motion.count[present]
    roots, _ = inverse_roots(C / count[:, None, None], len(q), np.ones_like(q, dtype=bool))
    found: dict[int, float] = {}
    for order in orders:
        harmonics = Harmonics(motion.n_samples, order, 2 * np.pi / motion.period)
        gains_nothing = len(found) > PATIENCE and min(list(found.values())[-PATIENCE:]) > min(found.values())
        if harmonics.size >= len(q) or gains_nothing:
            break
        fitted = harmonics.path(harmonics.fit(x, present)).x[present]
        try:
            away = q - model.positions(fitted)
        except InputError:  # so few harmonics that the robot cannot be there
            continue
        squares = float(((roots @ away[..., None]) ** 2).sum())
        found[order] = squares + harmonics.size * x.shape[1] * np.log(q.size)
    require(bool(found), f"no series of order {orders[0]} to {orders[-1]} brings {robot.name} to where it was measured")
    return found
