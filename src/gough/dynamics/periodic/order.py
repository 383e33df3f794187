"""How many harmonics the path needs: too few bias every parameter as a wrong model does, too many cost little."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gough.core.errors import InputError, require
from gough.core.tables import Table, table
from gough.dynamics.periodic.errors_in_variables import errors_in_variables
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.path import mean_pose, reading_covariance
from gough.dynamics.periodic.path_model import path_model
from gough.dynamics.recorded import require_fit
from gough.estimates import Estimate, LikelihoodStats
from gough.methods.nonlinear.harmonics import Harmonics
from gough.methods.nonlinear.maximum_likelihood import REFUTED, MaximumLikelihood
from gough.methods.nonlinear.normal_equations import inverse_roots
from gough.problem import NonlinearProblem
from gough.robots.model import DynamicModel


class TriedOrder(NamedTuple):
    """Statistics of one order.

    Examples:
        >>> TriedOrder(5, 90, 1.02, 0.45, 0.0, 0.0).order
        5
    """

    order: int
    n_unknowns: int
    """Parameters and coefficients of the path."""
    chi_squared: float
    """Over its degrees of freedom."""
    p: float
    """Probability of a χ² at least as large, if model and noise are right."""
    aic_above: float
    """Akaike's criterion above the least of all orders."""
    bic_above: float
    """Schwarz's criterion likewise."""


@dataclass(frozen=True, eq=False)
class OrderChoice:
    """Maximum likelihood for each order of the path's Fourier series, and the order to use. `str()` is a table."""

    problems: dict[int, NonlinearProblem]
    """For each order, all with the same rows."""
    estimates: dict[int, Estimate]
    order: int
    """The one chosen."""
    reason: str
    """Why, in words."""

    @property
    def problem(self) -> NonlinearProblem:
        """The problem of the order chosen."""
        return self.problems[self.order]

    @property
    def estimate(self) -> Estimate:
        """Maximum likelihood for the order chosen."""
        return self.estimates[self.order]

    @property
    def is_refuted(self) -> bool:
        """Does χ² refute even the order chosen?"""
        return _is_refuted(self.estimate)

    @property
    def rows(self) -> tuple[TriedOrder, ...]:
        """Statistics of each order."""
        stats = {order: _stats(answer) for order, answer in self.estimates.items()}
        aic, bic = (min(getattr(each, name) for each in stats.values()) for name in ("aic", "bic"))
        rows = []
        for order, each in stats.items():
            assert each.chi_squared is not None
            assert each.chi_squared_p is not None
            chances = each.chi_squared, each.chi_squared_p
            rows.append(TriedOrder(order, each.n_unknowns, *chances, each.aic - aic, each.bic - bic))
        return tuple(rows)

    def table(self) -> Table:
        """Goodness of fit and information criteria of each order."""
        rows = [
            [
                f"{row.order}{', chosen' * (row.order == self.order)}",
                str(row.n_unknowns),
                f"{row.chi_squared:.3f}",
                f"{row.p:.2g}",
                f"{row.aic_above:.1f}",
                f"{row.bic_above:.1f}",
            ]
            for row in self.rows
        ]
        heads = ["harmonics", "unknowns", "χ²/dof", "p", "AIC − least", "BIC − least"]
        return table(heads, rows, "lrrrrr", "Orders of the path")

    def __str__(self) -> str:
        return f"{self.table()}\n{self.reason}"


def series_order(
    robot: DynamicModel,
    motion: RepeatedMotion,
    orders: Sequence[int] = tuple(range(1, 13)),
    *,
    method: MaximumLikelihood | None = None,
    **options: Any,
) -> OrderChoice:
    """The order of the path's series by χ² and information criteria, from a fit with each.

    The order of least BIC is chosen, if χ² does not refute it; else the lowest above it that is not refuted. If χ²
    refutes all, the model or the noise is wrong whatever the order, which the reason states.

    Args:
        robot: As for `errors_in_variables`.
        motion: As there.
        orders: Orders to try, rising.
        method: How to estimate; None takes the default one.
        options: Further arguments of `errors_in_variables`.

    Examples:
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.robots import FiveBar
        >>> rng = np.random.default_rng(1)
        >>> series = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=0.5, frequency=0.5, n_harmonics=3)
        >>> experiment = PeriodicExperiment(FiveBar(), series, rate=100.0, periods=5, positions=1e-3, efforts=0.1)
        >>> series_order(FiveBar(), experiment.run(rng), orders=[2, 3, 4]).order
        3
    """
    tried = [int(order) for order in orders if 2 * order < motion.n_samples]
    rising = len(tried) > 0 and all(a < b for a, b in pairwise(tried))
    require(rising and tried[0] >= 1, f"orders must rise from 1 or more, and stay below half of {motion.n_samples}")
    problems = {order: errors_in_variables(robot, motion, order=order, **options) for order in tried}
    problems = _with_common_rows(problems)
    estimates = {order: (method or MaximumLikelihood()).estimate(problem) for order, problem in problems.items()}
    solved = {order: answer for order, answer in estimates.items() if isinstance(answer.stats, LikelihoodStats)}
    if not solved:
        raise InputError(
            f"on the mean path of {motion.n_repeats} repeats the efforts do not determine the parameters, with order "
            f"{' or '.join(map(str, tried))}: check the period, {motion.period:g} s, and that all repeats begin at the "
            "same point of the motion, else they cancel one another; or record a motion that excites more"
        )
    order, reason = _chosen(solved)
    return OrderChoice({order: problems[order] for order in solved}, solved, order, reason)


def _with_common_rows(problems: dict[int, NonlinearProblem]) -> dict[int, NonlinearProblem]:
    """All problems with the rows that each of them keeps: likelihoods of different data cannot be compared."""
    masks = [problem.kept for problem in problems.values() if problem.kept is not None]
    if not masks:
        return problems
    common = np.logical_and.reduce(masks)
    return {order: replace(problem, kept=common) for order, problem in problems.items()}


def _stats(answer: Estimate) -> LikelihoodStats:
    assert isinstance(answer.stats, LikelihoodStats)
    return answer.stats


def _is_refuted(answer: Estimate) -> bool:
    stats = _stats(answer)
    assert stats.chi_squared is not None
    assert stats.chi_squared_p is not None
    return stats.chi_squared > 1 and stats.chi_squared_p < REFUTED


def _chosen(estimates: dict[int, Estimate]) -> tuple[int, str]:
    by_aic, by_bic = (min(estimates, key=lambda k: getattr(_stats(estimates[k]), name)) for name in ("aic", "bic"))
    both = f"BIC is least for order {by_bic}, AIC for order {by_aic}"
    explained = [order for order in estimates if not _is_refuted(estimates[order])]
    if by_bic in explained:
        return by_bic, f"Order {by_bic}: {both}, and χ² does not refute it."
    above = [order for order in explained if order > by_bic]
    if above:
        return above[0], f"Order {above[0]}: {both}, but χ² refutes all orders below {above[0]}."
    more = " Try higher orders." if by_bic == max(estimates) else ""
    return by_bic, (
        f"Order {by_bic}: {both}, but χ² refutes every order. An effect is missing from the model, or the noise is "
        f"understated or autocorrelated.{more}"
    )


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
    criterion = path_criterion(robot, motion, orders, positions_covariance=positions_covariance)
    return min(criterion, key=lambda order: criterion[order])


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
    criterion: dict[int, float] = {}
    for order in orders:
        harmonics = Harmonics(motion.n_samples, order, 2 * np.pi / motion.period)
        gains_nothing = len(criterion) > PATIENCE and min(list(criterion.values())[-PATIENCE:]) > min(
            criterion.values()
        )
        if harmonics.size >= len(q) or gains_nothing:
            break
        fitted = harmonics.path(harmonics.fit(x, present)).x[present]
        try:
            away = q - model.positions(fitted)
        except InputError:  # so few harmonics that the robot cannot be there
            continue
        squares = float(((roots @ away[..., None]) ** 2).sum())
        criterion[order] = squares + harmonics.size * x.shape[1] * np.log(q.size)
    require(
        bool(criterion), f"no series of order {orders[0]} to {orders[-1]} brings {robot.name} to where it was measured"
    )
    return criterion
