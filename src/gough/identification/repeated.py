"""From repeats of a periodic motion to parameters by every estimator, beside each other as in [AHG, table III]."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gough.assemble import by_repeat, on_fitted_path, reduced, series_order
from gough.assemble.repeated_motion import RepeatedMotion
from gough.assemble.series_order import OrderChoice
from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError, nearest, require
from gough.core.text import number, table
from gough.estimate import Estimate
from gough.identification.results import Step
from gough.methods import (
    GaussMarkov,
    Identifiability,
    InstrumentalVariables,
    LeastSquares,
    TotalLeastSquares,
    identifiability,
)
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.model import DynamicModel

CUT_OFF = 4
"""Harmonics that differentiated positions are filtered to, over those of the path: more let noise in, fewer distort."""


@dataclass(frozen=True, eq=False)
class IdentifiedRepeats:
    """A robot's parameters from repeats of a periodic motion, by every estimator. `str()` is a table with verdicts."""

    robot: DynamicModel
    motion: RepeatedMotion
    order: OrderChoice
    """How many harmonics the path has, and why; its estimate is that of maximum likelihood."""
    found: Identifiability
    """What the motion can show; all estimates are in its base parameters."""
    estimates: Mapping[str, Estimate]
    refused: Mapping[str, str]
    """Estimators that failed, with the reason."""

    def __post_init__(self) -> None:
        for field in ("estimates", "refused"):
            object.__setattr__(self, field, MappingProxyType(dict(getattr(self, field))))

    def __getitem__(self, estimator: str) -> Estimate:
        if estimator not in self.estimates:
            known = ", ".join(self.estimates)
            raise InputError(
                f"no estimate is called '{estimator}'{nearest(estimator, self.estimates)} (known: {known})"
            )
        return self.estimates[estimator]

    @property
    def likeliest(self) -> Estimate:
        """Maximum likelihood."""
        return self.order.estimate

    @property
    def disagreement(self) -> Mapping[str, float]:
        """Probability that each estimator is as far from maximum likelihood as it is, if both were right.

        Maximum likelihood is efficient, so their difference spreads no more than the other estimate does by itself
        (Hausman's argument); small: the other is biased, or its covariance too small.
        """
        from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

        best, result = self.likeliest.value, {}
        for name, other in self.estimates.items():
            away = other.value - best
            assert isinstance(other.region, ConfidenceEllipsoid)
            scale = other.region.sigma
            squares = away / scale @ np.linalg.solve(other.region.correlation, away / scale)
            result[name] = float(chdtrc(len(away), squares))
        return result

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""
        words = [*self.motion.noise.verdicts, self._on_independence(), self.order.reason, *self.likeliest.notes]
        far = [name for name, p in self.disagreement.items() if p < 1e-4]
        if far:
            words.append(
                f"Further from maximum likelihood than their own uncertainty allows: {', '.join(far)}. Noise in their "
                "regressor biases them, or is missing from their σ; more data would not help."
            )
        words += [f"{name} failed: {reason}" for name, reason in self.refused.items()]
        return tuple(words)

    def _on_independence(self) -> str:
        test = self.motion.noise.independence(len(self.motion.coordinates))
        if test.is_refuted:
            return (
                f"Positions and efforts err together (correlation up to {test.statistic:.2f}, p = {test.p:.2g}): give "
                "independent=False, so that this counts."
            )
        return f"Positions and efforts err independently: not refuted (p = {test.p:.2g})."

    def __str__(self) -> str:
        names, units = self.likeliest.unknowns.names, self.likeliest.unknowns.units
        best = _sigma(self.likeliest)
        columns = [[number(v, s) for v, s in zip(e.value, best, strict=True)] for e in self.estimates.values()]
        sigma = [number(s, digits=2) for s in best]
        rows = [list(row) for row in zip(names, units, *columns, sigma, strict=True)]
        heads = ["parameter", "unit", *self.estimates, "σ (ML)"]
        return "\n".join([table(heads, rows, "ll" + "r" * (len(heads) - 2)), *self.verdicts])


def _sigma(estimate: Estimate) -> Array:
    region = estimate.region
    return region.sigma if isinstance(region, ConfidenceEllipsoid) else np.zeros(len(estimate.value))


def identify_repeated(
    robot: DynamicModel,
    motion: RepeatedMotion,
    *,
    orders: Sequence[int] = tuple(range(1, 13)),
    independent: bool = True,
    slower_than: float = 0.0,
    on_step: Callable[[Step], object] = lambda _: None,
) -> IdentifiedRepeats:
    """The robot's parameters from repeats of a periodic motion: usual estimators, and maximum likelihood.

    `least squares` and `Gauss–Markov` use positions that were filtered and differentiated in each repeat for itself, as
    usual; so do `instrumental variables` and `total least squares`, which know of the noise from the other repeats.
    `Gauss–Markov, fitted path` and `maximum likelihood` use the mean over the repeats and a path of few harmonics.

    Args:
        robot: The model; it offers `regressor_kernel()`.
        motion: Repeats of one period.
        orders: Numbers of harmonics to choose from.
        independent: Positions err independently of efforts.
        slower_than: Efforts of an actuator that moves slower are left out of the last two.
        on_step: Told of each phase when it begins.

    Examples:
        >>> from gough.experiments import FourierSeries, PeriodicExperiment
        >>> from gough.robots import H4
        >>> rng, robot = np.random.default_rng(1), H4()
        >>> series = FourierSeries.random(rng, offset=robot.home, amplitude=[0.1, 0.1, 0.06, 0.5], frequency=1.0)
        >>> experiment = PeriodicExperiment(robot, series, rate=200.0, periods=5, positions=2e-3, efforts=0.3)
        >>> found = identify_repeated(robot, experiment.run(rng), orders=[4, 5, 6])
        >>> found.order.order, [name for name, p in found.disagreement.items() if p < 1e-4]
        (5, ['least squares', 'Gauss–Markov'])
    """
    steps = _announced(on_step)
    steps("choosing the order of the path, maximum likelihood")
    order = series_order(robot, motion, orders, independent=independent, slower_than=slower_than)
    steps("efforts on the fitted path")
    fitted = on_fitted_path(robot, motion, order=order.order, slower_than=slower_than)
    found = identifiability(fitted)
    require(
        len(order.estimate.unknowns) == found.rank,
        "the motion is on the edge of what it can show: fewer rows make fewer parameters visible. Excite the robot",
    )
    steps("each repeat for itself")
    estimates, refused = _usual(robot, motion, order.order, found)
    steps("Gauss–Markov on the fitted path")
    estimates["Gauss–Markov, fitted path"] = GaussMarkov().estimate(_base(fitted, found))
    estimates["maximum likelihood"] = order.estimate
    return IdentifiedRepeats(robot, motion, order, found, estimates, refused)


def _announced(on_step: Callable[[Step], object], total: int = 4) -> Callable[[str], None]:
    number_of = iter(range(1, total + 1))

    def announce(what: str) -> None:
        on_step(Step(next(number_of), total, what))

    return announce


def _base(problem: LinearProblem, found: Identifiability) -> LinearProblem:
    return problem if found.is_full_rank else reduced(problem, found)


def _usual(
    robot: DynamicModel, motion: RepeatedMotion, order: int, found: Identifiability
) -> tuple[dict[str, Estimate], dict[str, str]]:
    """Estimates from noisy regressors; those that fail are named with the reason."""
    estimates: dict[str, Estimate] = {}
    refused: dict[str, str] = {}
    complete = motion.select(np.flatnonzero(np.isfinite(motion.readings).all(axis=(1, 2))))
    rows = by_repeat(robot, complete, order=min(CUT_OFF * order, (motion.n_samples - 1) // 2))
    problem, kept = _base(rows.problem, found), list(found.kept)
    errors: Array = rows.covariance[:, [[i] for i in (*kept, -1)], [*kept, -1]]
    for name, method in (
        ("least squares", LeastSquares()),
        ("Gauss–Markov", GaussMarkov()),
        ("instrumental variables", InstrumentalVariables(rows.instruments[:, kept])),
        ("total least squares", TotalLeastSquares(errors)),
    ):
        try:
            answer = method.estimate(problem)
        except GoughError as error:
            refused[name] = str(error)
            continue
        if len(answer.unknowns) == len(kept):
            estimates[name] = answer
        else:
            refused[name] = answer.status.value
    return estimates, refused
