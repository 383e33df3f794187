"""A model judged on a benchmark motion: error of the model against error of measurement, actuator by actuator.

[AHG, §V] calls a model unbiased for an actuator if the variance of its error stays below that of the measurement. Here
the error of the model is what remains of the residual after the noise of the averaged repeats, the uncertainty of the
path and that of the parameters are taken off. Whether anything remains beyond chance is one question, how large it is
another.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array, ArrayValue, Mask, array
from gough.core.errors import InputError, require
from gough.core.tables import Cell, Table, table
from gough.core.text import number
from gough.core.units import squared
from gough.dynamics.periodic.equations import PathEquations
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.order import path_order
from gough.dynamics.periodic.path import FittedPath, fitted_path, path_covariance, reading_covariance
from gough.estimates import Estimate
from gough.problem import NonlinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.model import DynamicModel

SIGNIFICANCE = 0.01
"""Probability of calling a right model wrong, over all actuators."""


class Bias(Enum):
    """Verdict on the model of an actuator; the value is a text for people."""

    INVISIBLE = "no error of the model is visible"
    SMALL = "unbiased: the model's error is smaller than that of one reading"
    LARGE = "biased: the model's error exceeds that of a reading"

    @property
    def short(self) -> str:
        """The verdict in few words."""
        return "no error visible" if self is Bias.INVISIBLE else self.value.split(":", maxsplit=1)[0]


@dataclass(frozen=True, eq=False)
class BenchmarkVerdict(ArrayValue):
    """Model error against measurement error on a benchmark motion, by actuator. `str()` is a table with verdicts."""

    actuators: tuple[str, ...]
    effort_units: tuple[str, ...]
    measurement_variance: Array
    """Variance of one reading, from the scatter of the repeats."""
    residual_variance: Array
    """Mean square of measured (averaged over repeats) minus predicted efforts."""
    expected_variance: Array
    """What it would be if the model were exact: noise of the average, of the path and of the parameters."""
    p: Array
    """Probability of such residuals if the model were exact."""
    residuals: Array
    """(N, actuators)."""
    causes: tuple[str, ...]
    """Likely causes of the residuals, in words; empty where nothing stands out."""
    measured: Array
    """(N, actuators) efforts, averaged over the repeats."""
    kept: Mask
    """(N, actuators) rows that count; the others have no reading, or are too slow."""
    rate: float
    """Samples a second."""
    order: int
    """Harmonics of the path."""

    @property
    def predicted(self) -> Array:
        """(N, actuators) efforts of the model on the fitted path."""
        return self.measured - self.residuals

    @property
    def model_variance(self) -> Array:
        """Variance of the model's error: residual minus expected variance, not below zero."""
        return np.maximum(self.residual_variance - self.expected_variance, 0.0)

    @property
    def bias(self) -> tuple[Bias, ...]:
        """The verdict for each actuator; the test allows for their number."""
        visible = self.p * len(self.p) < SIGNIFICANCE
        large = self.model_variance > self.measurement_variance
        return tuple(
            Bias.LARGE if v and x else Bias.SMALL if v else Bias.INVISIBLE for v, x in zip(visible, large, strict=True)
        )

    @property
    def is_unbiased(self) -> bool:
        """Is the model's error below that of a reading for every actuator, as [AHG, §V] asks?"""
        return Bias.LARGE not in self.bias

    @property
    def verdicts(self) -> tuple[str, ...]:
        """A sentence for each actuator."""
        parts = zip(self.actuators, self.bias, self.model_variance, self.measurement_variance, self.causes, strict=True)
        return tuple(
            f"{name}: {bias.value} ({number(m, digits=3)} against {number(s, digits=3)}"
            f"{'; ' + cause if cause and bias is not Bias.INVISIBLE else ''})."
            for name, bias, m, s, cause in parts
        )

    def table(self) -> Table:
        """Variance of the model's error against that of a reading, actuator by actuator [AHG, §V]."""
        rows = [
            [
                name,
                squared(unit),
                number(m, digits=3),
                number(s, digits=3),
                f"{p:.2g}",
                Cell(
                    f"{bias.short}{f'; {cause}' if cause and bias is not Bias.INVISIBLE else ''}",
                    mark="bad" if bias is Bias.LARGE else "",
                ),
            ]
            for name, unit, m, s, p, bias, cause in zip(
                self.actuators,
                self.effort_units,
                self.model_variance,
                self.measurement_variance,
                self.p,
                self.bias,
                self.causes,
                strict=True,
            )
        ]
        heads = ["actuator", "unit", "variance of the model's error", "of a reading", "p", "verdict"]
        return table(heads, rows, "lurrrw", "Model error against measurement error")

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self.verdicts])


def all_parameters(problem: NonlinearProblem, answer: Estimate) -> tuple[Array, Array]:
    """All parameters of the robot's regressor and their covariance, from an estimate of `errors_in_variables`.

    Parameters that were fixed have their value; those that a combination stands for are zero, so that predictions are
    those of the combination.
    """
    equations = problem.equations
    if not isinstance(equations, PathEquations):
        raise InputError("this problem has no path: make it by errors_in_variables")
    columns, known = equations.columns, equations.known
    require(
        len(answer.unknowns) == len(columns),
        f"the estimate has {len(answer.unknowns)} unknowns, but the problem asks for {len(columns)}",
    )
    values, covariance = known.copy(), np.zeros((len(known), len(known)))
    values[columns] = answer.value
    if isinstance(answer.region, ConfidenceEllipsoid):
        covariance[np.ix_(columns, columns)] = answer.region.covariance
    return values, covariance


@np.errstate(all="ignore")
def benchmark(
    robot: DynamicModel,
    parameters: Any,
    motion: RepeatedMotion,
    *,
    order: int | None = None,
    covariance: Any = None,
    positions_covariance: Any = None,
    efforts_covariance: Any = None,
    slower_than: float = 0.0,
) -> BenchmarkVerdict:
    """Judge identified parameters on repeats of another motion, such as a circle.

    Args:
        robot: The model.
        parameters: All its parameters, as identified (`all_parameters` makes them of an estimate).
        motion: At least two repeats of the benchmark motion; their scatter is the noise.
        order: Harmonics of the path; None takes as many as the positions need.
        covariance: Of the parameters; None takes them as exact.
        positions_covariance: Of the errors of one reading of all positions; None takes it from the repeats.
        efforts_covariance: The same of the efforts.
        slower_than: Efforts of an actuator that moves slower are left out: friction may point either way.

    Raises:
        InputError: robot, parameters and motion do not fit.

    Examples:
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.robots import FiveBar
        >>> rng = np.random.default_rng(1)
        >>> series = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=0.5, frequency=0.5, n_harmonics=2)
        >>> robot = FiveBar()
        >>> motion = PeriodicExperiment(robot, series, rate=100.0, periods=5, positions=1e-4, efforts=0.1).run(rng)
        >>> wrong = robot.nominal * np.where(np.array(robot.names) == "fc_1", 2.0, 1.0)
        >>> for verdict in benchmark(robot, wrong, motion, order=2, slower_than=0.05).verdicts:
        ...     print(verdict)
        motor 1: biased: the model's error exceeds that of a reading (0.0884 against 0.00957; like friction).
        motor 2: no error of the model is visible (7.64e-06 against 0.00977).
    """
    p = array(parameters, "parameters", ndim=1)
    wanted = len(robot.names)
    require(len(p) == wanted, f"{robot.name} has {wanted} parameters, but {len(p)} are given")
    order = order or path_order(robot, motion, positions_covariance=positions_covariance)
    stated = {"positions_covariance": positions_covariance, "efforts_covariance": efforts_covariance}
    at = fitted_path(robot, motion, order=order, slower_than=slower_than, **stated)
    n, path = len(robot.coordinates), at.path
    W = at.model.regressors(path)
    residuals, kept = at.measured[:, n:] - W @ p, at.kept[:, n:]
    spread = np.broadcast_to(np.diagonal(at.covariance, axis1=-2, axis2=-1), at.measured.shape)[:, n:]
    shared = _shared_errors(at, p, W, covariance)
    expected = spread + (shared**2).sum(axis=2)
    mean = [
        np.where(kept, part, 0.0).sum(axis=0) / np.maximum(kept.sum(axis=0), 1) for part in (residuals**2, expected)
    ]
    moved = path if at.model.parallel is None else at.model.parallel.joint_motion(*path)
    causes = tuple(
        likely_cause(residuals[own, i], moved[0][own, i], moved[1][own, i], moved[2][own, i])
        if moved[0].shape[1] == kept.shape[1]
        else ""
        for i, own in enumerate(kept.T)
    )
    return BenchmarkVerdict(
        robot.actuators,
        robot.effort_units,
        reading_covariance(motion, positions_covariance, efforts_covariance)[0].diagonal()[n:],
        mean[0],
        mean[1],
        np.array(
            [_chance(residuals[own, i], spread[own, i], shared[own, i], at.noise_dof) for i, own in enumerate(kept.T)]
        ),
        residuals,
        causes,
        at.measured[:, n:],
        kept,
        motion.rate,
        order,
    )


def _shared_errors(at: FittedPath, p: Array, W: Array, covariance: Any) -> Array:
    """A (N, actuators, r), where A Aᵀ is the covariance that path and parameters put into an actuator's predictions."""
    by_path = at.model.efforts_by_path(at.path, p)
    J = at.harmonics.chain(by_path).reshape(*by_path.shape[:2], -1)
    parts = [J @ _root(path_covariance(at))]
    if covariance is not None:
        C = array(covariance, "covariance", ndim=2)
        require(C.shape == (len(p), len(p)), f"the covariance of {len(p)} parameters cannot have shape {C.shape}")
        parts.append(W @ _root(C))
    return np.concatenate(parts, axis=2)


def _root(C: Array) -> Array:
    """A with A Aᵀ = C, which may be singular."""
    scale = np.sqrt(np.where(C.diagonal() > 0, C.diagonal(), 1.0))
    values, vectors = np.linalg.eigh(C / np.outer(scale, scale))
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def _chance(d: Array, spread: Array, A: Array, dof: float) -> float:
    """Probability of residuals d at least as large, if their covariance is diag(spread) + A Aᵀ and was estimated."""
    if not len(d):
        return 1.0
    u, B = d / np.sqrt(spread), A / np.sqrt(spread)[:, None]
    pull = B.T @ u  # the inverse by Woodbury's formula
    squares = float(u @ u - pull @ np.linalg.solve(np.eye(B.shape[1]) + B.T @ B, pull))
    return float(fisher.above(len(d), dof, squares / len(d)))


SHARE = 0.5
"""Part of the mean square that an explanation must take to be named."""
WAVES = 60
"""Wave numbers along the stroke that are tried for a ripple."""


def likely_cause(residuals: Array, q: Array, dq: Array, ddq: Array) -> str:
    """The explanation that takes most of the residuals of one actuator, in words; empty if none takes half.

    Examples:
        >>> t = np.linspace(0, 2 * np.pi, 200, endpoint=False)
        >>> q, dq, ddq = np.sin(t), np.cos(t), -np.sin(t)
        >>> likely_cause(0.3 * np.sign(dq), q, dq, ddq), likely_cause(np.sin(40 * q), q, dq, ddq)
        ('like friction', 'like a ripple of period 0.16 along its stroke, as cogging is')
    """
    total = float(residuals @ residuals)
    if total == 0 or len(residuals) < 20:
        return ""
    shares = {
        "like friction": _share(residuals, np.sign(dq), dq),
        "like inertia": _share(residuals, ddq),
        "like an offset": _share(residuals, np.ones_like(q)),
    }
    stroke = float(np.ptp(q))
    if stroke > 0:
        numbers = 2 * np.pi / stroke * np.arange(2, 2 * WAVES) / 2
        k = _best_wave(residuals, q, numbers)
        if k > 2.2 * numbers[0]:  # a wave or two along the stroke is any slow effect
            words = f"like a ripple of period {2 * np.pi / k:.2g} along its stroke, as cogging is"
            shares[words] = _share(residuals, np.sin(k * q), np.cos(k * q))
    words, share = max(shares.items(), key=lambda item: item[1])
    return words if share >= SHARE else ""


def _best_wave(residuals: Array, q: Array, numbers: Array) -> float:
    """The wave number that explains most, among those given and then around the best of them."""

    def best(tried: Array) -> float:
        return float(tried[np.argmax([_share(residuals, np.sin(k * q), np.cos(k * q)) for k in tried])])

    near = numbers[1] - numbers[0]
    return best(best(numbers) + np.linspace(-near, near, 21))


def _share(residuals: Array, *columns: Array) -> float:
    """Part of the residuals' square that a combination of the columns takes."""
    A = np.column_stack(columns)
    fit = A @ np.linalg.lstsq(A, residuals, rcond=None)[0]
    return 1 - float(((residuals - fit) ** 2).sum()) / float(residuals @ residuals)
