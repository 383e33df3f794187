"""Each repeat for itself: noisy regressors from its own positions, and instruments from the other repeats."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.path_model import path_model
from gough.dynamics.recorded import require_fit
from gough.methods.nonlinear.harmonics import Harmonics
from gough.problem import Groups, LinearProblem
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns


@dataclass(frozen=True, eq=False)
class ByRepeat:
    """A linear problem with the rows of all repeats, and two remedies against the noise of its regressor."""

    problem: LinearProblem
    """Efforts of each repeat, on the path through that repeat's own positions."""
    instruments: Array
    """(rows, p) mean regressor of all other repeats: for `InstrumentalVariables`."""
    covariance: Array
    """(actuators, p+1, p+1) of the errors of a row [W y], from their scatter: for `TotalLeastSquares`."""


def by_repeat(robot: DynamicModel, motion: RepeatedMotion, *, order: int) -> ByRepeat:
    """The usual way: positions low-pass filtered and differentiated, here by a Fourier series of high order.

    The filter's cut-off is `order` times the frequency of the period. With noisy positions accelerations are noisy, and
    least squares is biased; the other repeats, whose noise is independent, correct for that.

    Examples:
        >>> from gough import estimate
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.methods import InstrumentalVariables, LeastSquares
        >>> from gough.robots import H4
        >>> rng = np.random.default_rng(1)
        >>> series = FourierSeries.random(rng, offset=H4().home, amplitude=[0.1, 0.1, 0.05, 0.5], frequency=1.0)
        >>> motion = PeriodicExperiment(H4(), series, rate=200.0, periods=5, positions=3e-3, efforts=0.1).run(rng)
        >>> rows = by_repeat(H4(), motion, order=20)
        >>> methods = (LeastSquares(), InstrumentalVariables(rows.instruments))
        >>> [round(estimate(rows.problem, method)["M_nac"], 2) for method in methods]  # 1.05 is true
        [0.96, 1.05]
    """
    require_fit(robot, motion)
    if motion.n_repeats < 2:
        raise InputError("one repeat does not show the noise: record the motion at least twice")
    complete = np.isfinite(motion.readings).all()
    require(bool(complete), "by_repeat needs complete repeats: leave out those with lost readings (select)")
    model = path_model(robot)
    harmonics = Harmonics(motion.n_samples, order, 2 * np.pi / motion.period)
    every = np.ones(motion.n_samples, dtype=bool)
    near = model.start(motion.mean[:, : len(robot.coordinates)])  # the mean is less noisy, so that each repeat is near
    W = np.stack([model.regressors(harmonics.path(harmonics.fit(model.start(q, near), every))) for q in motion.q])
    R, p = len(W), W.shape[-1]
    others = (W.sum(axis=0) - W) / (R - 1)
    rows = np.concatenate([W, motion.efforts[..., None]], axis=3)
    away = rows - rows.mean(axis=0)
    covariance = np.einsum("rkgi,rkgj->gij", away, away) / ((R - 1) * motion.n_samples)
    unknowns = Unknowns(robot.names, robot.units, robot.nominal)
    problem = LinearProblem(W.reshape(-1, p), motion.efforts.reshape(-1), unknowns, groups=Groups(robot.actuators))
    return ByRepeat(problem, others.reshape(-1, p), covariance)
