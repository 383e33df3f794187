"""From repeats of a periodic motion to parameters by every estimator, beside each other as in [AHG, table III]."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError, require
from gough.core.progress import Phase, announced
from gough.core.tables import Table
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion, advised_cutoff
from gough.data.filters import MEMORIES, low_passed, memory
from gough.data.motion import FullRate
from gough.data.steps import widened
from gough.dynamics.adequacy import Finding
from gough.dynamics.bodies.possible import PossibleBodies
from gough.dynamics.causes import Causes, causes_of
from gough.dynamics.named import ByMethod
from gough.dynamics.noise_level import ABOUT, REPEATS, STATED, NoiseLevel
from gough.dynamics.periodic.benchmark import BenchmarkVerdict, Bias, all_parameters, benchmark
from gough.dynamics.periodic.by_repeat import by_repeat
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.order import OrderChoice, path_criterion, series_order
from gough.dynamics.periodic.path import FittedPath, fitted_path, on_fitted_path, path_squares, reading_covariance
from gough.dynamics.physics import Physics, physics_of
from gough.dynamics.reduce import reduced
from gough.dynamics.results import RobotEstimates
from gough.dynamics.signs import LEVEL, Sign, chance
from gough.dynamics.tables import parameter_table, regroupings
from gough.dynamics.verdict import Verdict, verdict_of
from gough.estimates import Estimate, FitStats
from gough.methods import (
    GaussMarkov,
    Identifiability,
    InstrumentalVariables,
    LeastSquares,
    TotalLeastSquares,
    identifiability,
)
from gough.methods.noise.repeats import RepeatNoise
from gough.methods.statistical.residuals import verdict as on_chi_squared
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

DOUBTED = 1e-4
"""Probability below which an estimator counts as further from maximum likelihood than its σ allows."""
_EXACT_REGRESSOR = ("least squares", "Gauss–Markov")
"""Estimators that take filtered and differentiated positions as exact."""
_INSTRUMENTS = "instrumental variables"
_EFFORTS = 20
"""Cutoff of the low-pass of the efforts over the highest frequency of the path, where effects are sought."""
_PER_CUTOFF = 5
"""Samples a second over the cutoff, at least."""
_FILTER_ORDER = 4
_WITHIN = 1.5
"""Periods of the cutoff around a reversal in which rows are masked, where a moved jump of dry friction is seen."""
_MOST_MASKED = 0.7
"""Part of an actuator's rows that may be masked near reversals; all are kept where it would be more."""
_ON_EFFECTS = (
    "Effects are not estimated from repeats: to include one, remove the table [repeats], which identifies from "
    "filtered recordings, and add [effects]."
)


@dataclass(frozen=True, eq=False)
class IdentifiedRepeats(RobotEstimates):
    """A robot's parameters from repeats of a periodic motion, by every estimator. `str()` is a table with verdicts."""

    robot: DynamicModel
    motion: RepeatedMotion
    order: OrderChoice
    """How many harmonics the path has, and why; its estimate is that of maximum likelihood."""
    by_positions: Mapping[int, float]
    """BIC of the positions alone for each number of harmonics, up to a constant."""
    identifiability: Identifiability
    """What the motion can show; all estimates are in its base parameters."""
    estimates: Mapping[str, Estimate]
    refused: Mapping[str, str]
    """Estimators that failed, with the reason."""
    covariance: Array
    """(positions + efforts)² of one reading, stated or estimated from the repeats: [AHG]'s Δ and Σ."""
    noise: RepeatNoise | None
    """Errors estimated from the repeats; None where a channel's errors were stated because repeats do not show them."""
    fit: BenchmarkVerdict
    """Maximum likelihood on the motion that it was estimated from."""
    benchmarks: Mapping[str, BenchmarkVerdict]
    """Maximum likelihood on motions that were not used, by their names."""
    fixed: Mapping[str, float]
    """Parameters that the prior fixes, with their values."""
    premises: tuple[str, ...] = ()
    """What the answer rests on besides the data and was not stated, such as dimensions; the first of the verdicts."""
    physics: Physics | None = None
    """Whether the parameters by maximum likelihood are physically possible; None: not tested."""
    blueprint: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters that the user states; estimates are compared with them and do not depend on them."""
    possible: PossibleBodies | None = None
    """Complete parameters of a robot that can exist, see `gough.dynamics.possible_bodies`; None: not asked for."""

    def __post_init__(self) -> None:
        for name in ("by_positions", "benchmarks", "fixed"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name in ("estimates", "refused"):
            object.__setattr__(self, name, ByMethod(getattr(self, name)))

    @property
    def cut_off(self) -> int:
        """Harmonics to which positions are filtered before they are differentiated, for the usual estimators."""
        return _cut_off(self.motion, self.order.order)

    @property
    def likeliest(self) -> Estimate:
        """Maximum likelihood."""
        return self.order.estimate

    @property
    def likeliest_first(self) -> Mapping[str, Estimate]:
        """The estimates, maximum likelihood before all others: for tables that may be too wide to be seen whole."""
        name = next(name for name, estimate in self.estimates.items() if estimate is self.likeliest)
        return {name: self.likeliest, **self.estimates}

    @property
    def is_refuted(self) -> bool:
        """Does χ² refute model and noise together, or any other test the model?"""
        impossible = self.possible is not None and self.possible.is_refuted
        return self.order.is_refuted or impossible or self.verdict.finding is Finding.INADEQUATE

    @cached_property
    def _fitted_path(self) -> FittedPath:
        n, C = len(self.motion.coordinates), self.covariance
        return fitted_path(
            self.robot,
            self.motion,
            order=self.order.order,
            positions_covariance=C[:n, :n],
            efforts_covariance=C[n:, n:],
        )

    @cached_property
    def fitted_motion(self) -> MeasuredMotion:
        """The fitted path of one period with its derivatives, and the efforts averaged over the repeats."""
        at = self._fitted_path
        moved = at.path if at.model.parallel is None else at.model.parallel.joint_motion(*at.path)
        return MeasuredMotion(
            self.motion.rate,
            moved[0],
            moved[1],
            moved[2],
            self.fit.measured,
            self.fit.kept,
            coordinates=self.motion.coordinates,
            coordinate_units=self.motion.coordinate_units,
            actuators=self.motion.actuators,
            effort_units=self.motion.effort_units,
        )

    @cached_property
    def filtered_motion(self) -> MeasuredMotion:
        """The fitted path with low-pass filtered efforts, without rows near reversals: what effects are sought in.

        The samples of a jump of dry friction do not show when it happened: a delay would be estimated from them. The
        low-pass continues into the periods before and after.
        """
        motion, n = self.fitted_motion, self.motion.n_samples
        cutoff = min(_EFFORTS * self.order.order / self.motion.period, motion.rate / _PER_CUTOFF)
        reach = MEMORIES * memory(cutoff, _FILTER_ORDER, motion.rate)
        before = max(n, reach)
        around = np.arange(-before, n + reach) % n
        at = np.arange(before, before + n, max(1, int(motion.rate / (_PER_CUTOFF * cutoff))))
        efforts = np.where(self.fit.kept, motion.efforts, self.fit.predicted)
        turned = np.signbit(motion.dq) != np.signbit(np.roll(motion.dq, 1, axis=0))
        near = widened(turned[around], ceil(_WITHIN * motion.rate / cutoff))[at]
        near &= near.mean(axis=0) < _MOST_MASKED
        full = FullRate(
            motion.rate,
            motion.q[around],
            motion.dq[around],
            motion.ddq[around],
            at,
            np.zeros(1, dtype=np.int64),
            cutoff,
            _FILTER_ORDER,
        )
        passed = low_passed(efforts[around], cutoff, _FILTER_ORDER, motion.rate)
        chosen = around[at]
        return replace(
            motion,
            rate=motion.rate / max(1, int(at[1] - at[0])),
            q=motion.q[chosen],
            dq=motion.dq[chosen],
            ddq=motion.ddq[chosen],
            efforts=passed[at],
            kept=motion.kept[chosen] & ~near,
            positions=np.arange(len(at)),
            rows=motion.rows[chosen],
            source=motion.source[chosen],
            full_rate=full,
        )

    @cached_property
    def causes(self) -> Causes:
        """Effects of the catalogue that explain what the model leaves on the fitted path."""
        fixed = [self.fixed.get(name, np.nan) for name in self.robot.names]
        lower, upper = (np.where(np.isnan(fixed), side, fixed) for side in (-np.inf, np.inf))
        return causes_of(self.robot, self.filtered_motion, prior=Box(lower, upper))

    @cached_property
    def verdict(self) -> Verdict:
        """The finding from all tests: noise, path, physics, other motions, and the catalogue of effects."""
        # sentences about the path are a paragraph of their own
        signs = [self.noise_sign, replace(self.path_sign, sentences=())]
        if self.physics is not None:
            signs.append(self.physics.sign)
        for name, other in self.benchmarks.items():
            p = min(1.0, float(np.nanmin(other.p)) * len(other.p))
            worst = float(np.sqrt(np.nanmax(other.residual_variance / other.expected_variance)))
            statistic = f"residuals {worst:.3g} times the expected ones at most"
            signs.append(Sign(f"prediction of {name}", not other.is_unbiased, statistic, p))
        mistake = "" if self.physics is None else self.physics.mistake
        verdict = verdict_of(None, self.causes, tuple(signs), mistake=mistake, excess=self.noise_level.excess)
        return replace(verdict, remark=_ON_EFFECTS if verdict.cause is not None else "")

    @property
    def noise_level(self) -> NoiseLevel:
        """The noise of the efforts, averaged over the repeats, and the residuals of maximum likelihood beside it."""
        fit, n = self.fit, len(self.motion.actuators)
        count = np.maximum(fit.kept.sum(axis=0), 1).astype(np.float64)
        spread = fit.measurement_variance / self.motion.n_repeats
        return NoiseLevel(
            fit.actuators,
            fit.effort_units,
            STATED if self.noise is None else REPEATS,
            np.sqrt(np.minimum(spread, fit.expected_variance)),
            np.sqrt(np.maximum(fit.expected_variance - spread, 0.0)),
            np.zeros(n),
            np.full(n, np.inf if self.noise is None else self.noise.dof),
            np.ones(n, dtype=bool),
            np.sqrt(fit.residual_variance),
            np.maximum(count - len(self.likeliest.value) / n, 1.0),
        )

    @property
    def noise_sign(self) -> Sign:
        """The test of the residuals of maximum likelihood against the noise of the repeats, by χ²."""
        stats = self.likeliest.stats
        assert isinstance(stats, FitStats)
        assert stats.chi_squared is not None
        assert stats.chi_squared_p is not None
        against = stats.chi_squared > 1 and stats.chi_squared_p < LEVEL
        said = on_chi_squared(stats.chi_squared, stats.chi_squared_p)
        ratio = f"χ²/dof = {stats.chi_squared:.3f}"
        return Sign(ABOUT, against=against, statistic=ratio, p=stats.chi_squared_p, sentences=(said,))

    @cached_property
    def path_sign(self) -> Sign:
        """Test whether the mean positions follow a path with the chosen number of harmonics, by χ².

        Dry friction under position control makes kinks in a path; a series that cannot follow them biases all
        parameters, friction most.
        """
        n, order = len(self.motion.coordinates), self.order.order
        squares, dof = path_squares(self._fitted_path)
        ratio = float(squares.sum()) / dof
        # autocorrelated errors are fewer independent ones
        memory = 1.0 if self.noise is None else max(1.0, float(self.noise.memory[:n].max()))
        noise_dof = np.inf if self.noise is None else self.noise.dof
        p = float(fisher.above(dof / memory, noise_dof / memory, ratio))
        against = ratio > 1 and p < LEVEL
        test = f"χ²/dof = {ratio:.3g}, p {chance(p) if p <= 1e-12 else f'= {chance(p)}'}"
        if not against:
            fits = f"The measured positions are consistent with a path of {order} harmonics ({test})."
            return Sign("path", against=False, statistic=f"χ²/dof = {ratio:.3g}", p=p, sentences=(fits,))
        worst = self.motion.coordinates[int(squares.argmax())]
        needed = min(self.by_positions, key=lambda tried: self.by_positions[tried])
        more = f"State orders up to {needed} or more in [repeats], or r" if needed > order else "R"
        misfit = (
            f"A path of {order} harmonics does not follow the measured positions ({test}), least those of {worst}: the "
            "parameters are biased, friction most, and their σ do not account for it."
        )
        words = (
            misfit,
            "Dry friction under position control makes kinks in the path that few harmonics cannot follow.",
            f"{more}emove the table [repeats] from the study, which identifies from filtered recordings instead.",
        )
        return Sign("path", against=True, statistic=f"χ²/dof = {ratio:.3g}", p=p, sentences=words)

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
        return ByMethod(result)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Premises, noise, order of the path, estimates, physics and benchmarks, in sentences.

        Parameters that are not physically possible stand before the noise.
        """
        path = self.path_sign.sentences if self.path_sign.against else ()
        before, after = (self.on_physics, ()) if self.is_impossible else ((), self.on_physics)
        on_data = (*self.on_noise, self.order.reason, *path, *self.on_estimates)
        return (*self.premises, *before, *on_data, *after, *self.on_possible, *self.on_benchmarks)

    @property
    def on_noise(self) -> tuple[str, ...]:
        """Tests of the errors by the scatter of the repeats, in sentences."""
        if self.noise is None:
            return ("The repeats do not determine the errors of every channel: stated covariances are not tested.",)
        test = self.noise.independence(len(self.motion.coordinates))
        together = (
            f"Errors of positions and efforts are correlated (up to {test.statistic:.2f}, p = {test.p:.2g}): state "
            "independent = false to take this into account."
            if test.is_refuted
            else f"Independence of the errors of positions and efforts is not refuted (p = {test.p:.2g})."
        )
        return (*self.noise.verdicts, together)

    @property
    def on_estimates(self) -> tuple[str, ...]:
        """Tests of the residuals, biased estimators, and estimators that failed, in sentences."""
        words = [*self.likeliest.notes]
        chances = self.disagreement
        far = {name: p for name, p in chances.items() if p < DOUBTED}
        if far:
            named = ", ".join(f"{name} (p = {p:.2g})" for name, p in far.items())
            allowed = "their own uncertainty allows"
            words.append(f"Further from maximum likelihood than {allowed} (probably biased): {named}.")
        if far.keys() & _EXACT_REGRESSOR and chances.get(_INSTRUMENTS, 0.0) >= DOUBTED:
            words.append(
                f"Instrumental variables use the same positions, filtered at {self.cut_off} harmonics and "
                "differentiated, and allow for their noise. They agree with maximum likelihood "
                f"(p = {chances[_INSTRUMENTS]:.2g}), which points to that noise as the cause."
            )
        return (*words, *(f"{name} failed: {reason}" for name, reason in self.refused.items()))

    @property
    def on_benchmarks(self) -> tuple[str, ...]:
        """The model's bias on each motion that was not used, in a sentence."""
        words = []
        for motion, verdict in self.benchmarks.items():
            biased = [name for name, bias in zip(verdict.actuators, verdict.bias, strict=True) if bias is Bias.LARGE]
            bias_text = f"biased for {', '.join(biased)}" if biased else "unbiased for every actuator"
            words.append(f"On the motion “{motion}” the model is {bias_text}.")
        return tuple(words)

    def _by_preference(self) -> Mapping[str, Estimate]:
        return self.likeliest_first

    def table(self, truth: Array | None = None) -> Table:
        """A row for each parameter, a column for each estimator, maximum likelihood first."""
        return parameter_table(self.likeliest.unknowns, self.likeliest_first, truth, self.compared_with_blueprint)

    @property
    def regroupings(self) -> dict[str, str]:
        """What each short label of the table stands for: combinations of parameters."""
        return regroupings(self.robot, self.identifiability, self.likeliest.unknowns.names)


@one_blas_thread()
def identify_repeated(
    robot: DynamicModel,
    motion: RepeatedMotion,
    *,
    orders: Sequence[int] | None = None,
    independent: bool = True,
    slower_than: float = 0.0,
    positions_covariance: Any = None,
    efforts_covariance: Any = None,
    prior: Box | None = None,
    validation: Mapping[str, RepeatedMotion] | None = None,
    on_step: Callable[[Phase], object] = lambda _: None,
) -> IdentifiedRepeats:
    """The robot's parameters from repeats of a periodic motion: usual estimators, and maximum likelihood.

    `least squares` and `Gauss–Markov` use positions that were filtered and differentiated in each repeat for itself, as
    usual; so do `instrumental variables` and `total least squares`, which estimate the noise from the other repeats.
    `Gauss–Markov, fitted path` and `maximum likelihood` use the mean over the repeats and a path of few harmonics.

    Args:
        robot: The model; it offers `regressor_kernel()`.
        motion: Repeats of one period.
        orders: Numbers of harmonics to choose from; None tries as many as the positions need, and two more.
        independent: Positions err independently of efforts.
        slower_than: Efforts of an actuator that moves slower are left out of the last two, and of benchmarks.
        positions_covariance: Δ, of the errors of one reading of all positions; None takes it from the repeats.
        efforts_covariance: Σ, the same of the efforts.
        prior: Bounds of the robot's parameters: equal sides fix one; others hold for maximum likelihood alone.
        validation: Repeats of other motions by name, such as a circle, on which the model is tested.
        on_step: Called with each phase when it begins.

    Examples:
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.robots import H4
        >>> rng, robot = np.random.default_rng(1), H4()
        >>> series = FourierSeries.random(rng, offset=robot.home, amplitude=[0.1, 0.1, 0.06, 0.5], frequency=1.0)
        >>> experiment = PeriodicExperiment(robot, series, rate=200.0, periods=5, positions=2e-3, efforts=0.3)
        >>> identified = identify_repeated(robot, experiment.run(rng), orders=[4, 5, 6])
        >>> identified.order.order, [name for name, p in identified.disagreement.items() if p < 1e-4]
        (5, ['least squares', 'Gauss–Markov'])
    """
    others = dict(validation or {})
    steps = announced(on_step, 5 + len(others))
    stated = {"positions_covariance": positions_covariance, "efforts_covariance": efforts_covariance}
    covariance, _ = reading_covariance(motion, **stated, independent=independent)
    steps("choosing the order of the path, maximum likelihood")
    by_positions = path_criterion(robot, motion, positions_covariance=positions_covariance)
    if orders is None:
        least = min(by_positions, key=lambda order: by_positions[order])
        orders = range(least, least + 3)
    options = {**stated, "slower_than": slower_than}
    order = series_order(robot, motion, orders, independent=independent, prior=prior, **options)
    steps("efforts on the fitted path")
    fitted, fixed = on_fitted_path(robot, motion, order=order.order, prior=prior, **options).without_fixed()
    analysis = identifiability(fitted)
    require(
        len(order.estimate.unknowns) == analysis.rank,
        "the motion barely determines the parameters: leaving out rows lowers the rank. Excite the robot more",
    )
    steps("each repeat for itself")
    estimates, refused = _usual(robot, motion, order.order, analysis, prior)
    steps("Gauss–Markov on the fitted path")
    estimates["Gauss–Markov, fitted path"] = GaussMarkov().estimate(_base(fitted, analysis))
    estimates["maximum likelihood"] = order.estimate
    steps("testing the residuals")
    values, spread = all_parameters(order.problem, order.estimate)
    fit = benchmark(robot, values, motion, order=order.order, **options)
    benchmarks = {}
    for name, other in others.items():
        steps(f"testing the model on {name}")
        benchmarks[name] = benchmark(robot, values, other, covariance=spread, **options)
    noise = _noise(motion, is_stated=positions_covariance is not None or efforts_covariance is not None)
    physics = physics_of(robot, analysis, _base(fitted, analysis), order.estimate, method="maximum likelihood")
    found = (estimates, refused, covariance, noise, fit, benchmarks, fixed)
    return IdentifiedRepeats(robot, motion, order, by_positions, analysis, *found, physics=physics)


def _cut_off(motion: RepeatedMotion, order: int) -> int:
    """The advised cut-off in harmonics; half of the readings of a period at most."""
    return min(round(advised_cutoff(order / motion.period) * motion.period), (motion.n_samples - 1) // 2)


def _noise(motion: RepeatedMotion, *, is_stated: bool) -> RepeatNoise | None:
    try:
        return motion.noise
    except InputError:
        if not is_stated:
            raise
        return None


def _base(problem: LinearProblem, analysis: Identifiability) -> LinearProblem:
    return problem if analysis.is_full_rank else reduced(problem, analysis)


def _usual(
    robot: DynamicModel, motion: RepeatedMotion, order: int, analysis: Identifiability, prior: Box | None
) -> tuple[dict[str, Estimate], dict[str, str]]:
    """Estimates from noisy regressors; those that fail are named with the reason."""
    estimates: dict[str, Estimate] = {}
    refused: dict[str, str] = {}
    complete = motion.select(np.flatnonzero(np.isfinite(motion.readings).all(axis=(1, 2))))
    rows = by_repeat(robot, complete, order=_cut_off(motion, order))
    unknowns = Unknowns(robot.names, robot.units, robot.nominal, prior)
    free, fixed = replace(rows.problem, unknowns=unknowns).without_fixed()
    known = np.array([fixed.get(name, 0.0) for name in robot.names])
    problem = _base(free, analysis)
    kept = [robot.names.index(analysis.names[i]) for i in analysis.kept]
    # errors of the kept columns, and of what is left of an effort once fixed parameters are taken out
    picked = np.vstack([np.eye(len(known) + 1)[kept], np.append(-known, 1.0)])
    for name, method in (
        ("least squares", LeastSquares()),
        ("Gauss–Markov", GaussMarkov()),
        ("instrumental variables", InstrumentalVariables(rows.instruments[:, kept])),
        ("total least squares", TotalLeastSquares(picked @ rows.covariance @ picked.T)),
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
