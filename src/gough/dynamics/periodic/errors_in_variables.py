"""A repeated periodic motion as a problem with errors in positions and efforts: parameters and path are unknown."""

from typing import Any

import numpy as np

from gough.core.arrays import Array, Mask
from gough.dynamics.periodic.equations import PathEquations
from gough.dynamics.periodic.motion import RepeatedMotion, channel_names
from gough.dynamics.periodic.path import FittedPath, fitted_path, linear_on, path_covariance
from gough.dynamics.periodic.path_model import PathModel
from gough.dynamics.reduce import reduced
from gough.methods.nonlinear.harmonics import Harmonics
from gough.methods.statistical.identifiability import identifiability
from gough.methods.statistical.linear import solve
from gough.methods.statistical.whitening import stated
from gough.noise import Gaussian
from gough.problem import Groups, NonlinearProblem
from gough.region import Box
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

TRIALS = 4
"""Paths, and as many opposite ones, that a row is tried on."""
REACH = 4.0
"""Their distance, in standard deviations of the path."""


@np.errstate(all="ignore")
def errors_in_variables(
    robot: DynamicModel,
    motion: RepeatedMotion,
    *,
    order: int,
    positions_covariance: Any = None,
    efforts_covariance: Any = None,
    independent: bool = True,
    slower_than: float = 0.0,
    prior: Box | None = None,
) -> NonlinearProblem:
    """The problem of [AHG, eq. (15)]: the robot's parameters and the Fourier coefficients of its path, from noisy data.

    The mean over the repeats is a sufficient statistic, so the problem has one sample per instant of the
    period. Coefficients of the path are nuisances: answers leave them out. The path begins at the least-squares fit to
    the measured positions, the parameters at Gauss–Markov on it. Where the data do not determine all parameters, the
    problem is in combinations that they do. Efforts that would jump within the path's uncertainty, because friction
    changes its sign there, are left out.

    Args:
        robot: The model whose parameters are unknown; it offers `regressor_kernel()`.
        motion: Repeats of one period of a periodic motion.
        order: Harmonics of the path; `series_order` chooses it.
        positions_covariance: Δ, of the errors of one reading of all positions; None takes it from the repeats.
        efforts_covariance: Σ, the same of the efforts.
        independent: Positions err independently of efforts, as in [AHG]; otherwise the repeats' covariance between
            them counts too.
        slower_than: Efforts of an actuator that moves slower (rad/s or m/s) are left out.
        prior: Bounds of the robot's parameters; equal sides fix one.

    Raises:
        InputError: robot and motion do not fit, a covariance is not positive definite, or the robot cannot be where it
            was measured; the message names it.

    Examples:
        >>> from gough import estimate
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.methods import MaximumLikelihood
        >>> from gough.robots import FiveBar
        >>> rng = np.random.default_rng(1)
        >>> series = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=0.5, frequency=0.5, n_harmonics=3)
        >>> experiment = PeriodicExperiment(FiveBar(), series, rate=100.0, periods=5, positions=1e-3, efforts=0.1)
        >>> problem = errors_in_variables(FiveBar(), experiment.run(rng), order=3)
        >>> answer = estimate(problem, MaximumLikelihood())
        >>> len(answer.unknowns), round(answer.stats.chi_squared, 1)
        (15, 1.0)
    """
    at = fitted_path(
        robot,
        motion,
        order=order,
        positions_covariance=positions_covariance,
        efforts_covariance=efforts_covariance,
        independent=independent,
        slower_than=slower_than,
    )
    linear, fixed = linear_on(at, prior).without_fixed()
    analysis = identifiability(linear)
    base = linear if analysis.is_full_rank else reduced(linear, analysis)
    known = np.array([fixed.get(name, 0.0) for name in robot.names])
    columns = np.array([robot.names.index(linear.unknowns.names[i]) for i in analysis.kept])
    equations = PathEquations(at.model, at.harmonics, columns, known)
    start = solve(base, stated(base, "errors_in_variables"), rtol=None).theta
    theta = np.concatenate([start, at.coefficients.reshape(-1)])
    kept = at.kept & _smooth_rows(equations, theta, at)
    names, units = _path_unknowns(at.model, at.harmonics)
    bounds, p = base.unknowns.bounds, len(columns)
    unknowns = Unknowns(
        (*base.unknowns.names, *names),
        (*base.unknowns.units, *units),
        theta,
        Box(
            np.append(bounds.lower, np.full(len(names), -np.inf)), np.append(bounds.upper, np.full(len(names), np.inf))
        ),
    )
    assert len(theta) == p + len(names)
    groups = Groups(channel_names(robot.coordinates, robot.actuators))
    noise = Gaussian(at.covariance, at.noise_dof)
    return NonlinearProblem(equations, at.measured, unknowns, noise, groups, names, None if kept.all() else kept)


def _smooth_rows(equations: PathEquations, theta: Array, at: FittedPath) -> Mask:
    """Rows that a path within reach of this one changes linearly: no velocity changes its sign there.

    Paths are drawn from the uncertainty that positions alone leave; a row that departs from its tangent by half of its
    own standard deviation on any of them is not smooth enough for Gauss–Newton, and is not informative about friction.
    """
    n, k = len(at.model.robot.coordinates), equations.n_linear
    C = path_covariance(at)
    scale = np.sqrt(C.diagonal())
    root = scale[:, None] * np.linalg.cholesky(C / np.outer(scale, scale))
    here = equations.along(theta)
    smooth = np.ones(at.measured.shape, dtype=bool)
    if here is None:
        return smooth
    p = equations.parameters(theta)
    by_path, efforts = equations.by_path(here, theta)[:, n:], here.W @ p
    spread = np.sqrt(np.broadcast_to(np.diagonal(at.covariance, axis1=-2, axis2=-1), at.measured.shape))[:, n:]
    for draw in np.random.default_rng(0).normal(size=(TRIALS, len(C))):
        for sign in (1.0, -1.0):
            step = sign * REACH * (root @ draw)
            moved = np.stack(at.harmonics.path(step.reshape(-1, at.harmonics.size)), axis=1)
            tangent = efforts + np.einsum("kgdm,kdm->kg", by_path, moved)
            there = equations.along(np.append(theta[:k], theta[k:] + step))
            if there is not None:
                smooth[:, n:] &= ~(abs(there.W @ p - tangent) > 0.5 * spread)
    return smooth


def _path_unknowns(model: PathModel, harmonics: Harmonics) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the coefficients of a path."""
    terms = ["mean", *(f"{word} {j}" for j in range(1, harmonics.order + 1) for word in ("cos", "sin"))]
    names = tuple(f"{name} {term}" for name in model.names for term in terms)
    return names, tuple(unit for unit in model.units for _ in terms)
