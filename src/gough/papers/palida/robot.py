"""PaLiDA rebuilt: 24 base parameters, noise as large as printed, trajectories by several criteria, repetitions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.campaigns import Campaign, ThisProcess, digest, executor_of, this_version
from gough.core.arrays import Array, ArrayValue
from gough.core.progress import Progress
from gough.data import advised_cutoff
from gough.designs.excitation import CRITERIA, Design, DesignProblem, MotionLimits, optimize
from gough.dynamics import by_repeat, errors_in_variables, on_fitted_path
from gough.dynamics.base_parameters import base_parameters
from gough.dynamics.periodic.by_repeat import ByRepeat
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.path_model import path_model
from gough.dynamics.reduce import base_values
from gough.estimates import Estimate
from gough.methods import GaussMarkov, Identifiability, LeastSquares, MaximumLikelihood, cramer_rao_bound
from gough.methods.nonlinear.harmonics import Harmonics
from gough.papers.palida.printed import MEASUREMENT, TABLES, coefficients
from gough.robots import Palida
from gough.simulate import FourierSeries, MonteCarlo, PeriodicExperiment, white
from gough.simulate.monte_carlo import Estimator

WIDE = 25.0
"""Hz: a cut-off above the advised one of every design, to measure what it does to least squares and Gauss–Markov."""
FREQUENCIES = (0.2, 0.5)
"""Hz: least and greatest fundamental frequency."""
MARGIN = 0.5
"""Least distance to singularity, as a share of that at home."""
HALL = 1e-4
"""m: mean standard deviation of a measured strut length; the paper says large, and prints none."""

STATISTICAL, DETERMINISTIC, FAIR = "D-optimal", "condition", "scaled condition"
DESIGNS: Mapping[str, str] = MappingProxyType({STATISTICAL: "D", DETERMINISTIC: "condition", FAIR: "scaled condition"})
"""Designs by name, with the criterion that each minimizes."""
LS, GM, ON_PATH, ML = "LS", "GM", "GM, fitted path", "ML"
"""Estimators by label; LS and GM filter strut lengths at the advised cut-off."""
LS_WIDE, GM_WIDE, LS_TOP, GM_TOP = f"LS, {WIDE:g} Hz", f"GM, {WIDE:g} Hz", "LS, top harmonic", "GM, top harmonic"
"""LS and GM with other cut-offs: `WIDE`, and the highest harmonic of the trajectory."""
EXACT_LENGTHS, EXACT_FORCES = f"{STATISTICAL}, exact lengths", f"{STATISTICAL}, exact forces"
"""The D-optimal experiment with one of the two noises left out."""


@dataclass(frozen=True)
class Size:
    """How large the experiments are; the paper prints the number of repetitions only."""

    harmonics: int = 5
    """Harmonics of the trajectories: five make 67 unknowns."""
    readings: int = 1000
    """Readings of a period."""
    periods: int = 4
    """Periods of one repetition."""
    orders: tuple[int, ...] = (4, 5, 6)
    """Harmonics of the path to choose from, for maximum likelihood."""
    turns: int = 20
    """How often the circle is run through."""


def correlated(variances: Array, seed: int) -> Array:
    """A covariance with these variances, far from diagonal as in [AHG, fig. 5]: three common causes and own noise."""
    causes = np.random.default_rng(seed).normal(size=(len(variances), 3))
    C = causes @ causes.T + 1.2 * np.eye(len(variances))
    scale = np.sqrt(variances / C.diagonal())
    C = C * np.outer(scale, scale)
    return np.asarray((C + C.T) / 2)


FORCES = correlated(MEASUREMENT, 3)
"""Σ, N²: variances as printed, correlations chosen."""
POSITIONS = correlated((HALL * np.linspace(0.8, 1.3, 6)) ** 2, 2)
"""Δ, m²: chosen."""


@dataclass(frozen=True, eq=False)
class BaseModel:
    """PaLiDA in its base parameters."""

    full: Palida
    identifiability: Identifiability
    """Rank and regrouping of all parameters."""
    robot: Palida
    """With one column for each base parameter."""
    truth: Array
    """Base parameters of the a-priori values of [AHG, table III], friction of maximum likelihood there."""

    @cached_property
    def symbols(self) -> Mapping[str, str]:
        """The paper's symbol of each base parameter, by the name of its column."""
        return {self.robot.names[self.place(symbol)[0]]: symbol for symbol in TABLES}

    def place(self, symbol: str) -> tuple[int, float]:
        """Where a row of the paper's Table I stands among ours, and how far its factors are from ours at most."""
        wanted = coefficients(symbol, self.full.names, self.full.geometry.points()[1])
        away = [float(np.abs(base.coefficients - wanted).max()) for base in self.identifiability.base]
        best = int(np.argmin(away))
        return best, away[best]


@cache
def base_model() -> BaseModel:
    """PaLiDA as the library has it, found once in a process."""
    full = Palida()
    analysis = base_parameters(full)
    robot = full.with_only([full.names[i] for i in analysis.kept])
    return BaseModel(full, analysis, robot, base_values(analysis, full.nominal))


@dataclass(frozen=True, eq=False)
class Readings:
    """One repetition: some periods, read with noise."""

    robot: Palida
    motion: RepeatedMotion
    highest: float
    """Hz: highest harmonic of the trajectory."""
    _rows: dict[int, ByRepeat] = field(default_factory=dict)

    def order(self, cut_off: float | None) -> int:
        """Harmonics that a cut-off in Hz lets pass; None takes the advised one."""
        hertz = advised_cutoff(self.highest) if cut_off is None else cut_off
        return min(round(hertz * self.motion.period), (self.motion.n_samples - 1) // 2)

    def rows(self, cut_off: float | None) -> ByRepeat:
        """The usual way: strut lengths filtered and differentiated, period by period."""
        order = self.order(cut_off)
        if order not in self._rows:
            self._rows[order] = by_repeat(self.robot, self.motion, order=order)
        return self._rows[order]


@dataclass(frozen=True, eq=False)
class Repetition(ArrayValue):
    """An experiment to repeat: a trajectory, and all that decides what is read on it."""

    series: FourierSeries
    readings: int = Size.readings
    periods: int = Size.periods
    positions: Array = field(default_factory=lambda: POSITIONS)
    """Δ of one reading."""
    forces: Array = field(default_factory=lambda: FORCES)
    """Σ of one reading."""

    @property
    def highest(self) -> float:
        """Hz: highest harmonic of the trajectory."""
        return self.series.n_harmonics * self.series.frequency

    @property
    def experiment(self) -> PeriodicExperiment:
        """As the library knows it."""
        model = base_model()
        return PeriodicExperiment(
            model.robot,
            self.series,
            self.readings * self.series.frequency,
            self.periods,
            white(self.positions),
            white(self.forces),
            model.truth,
        )

    def __call__(self, rng: np.random.Generator) -> Readings:
        return Readings(base_model().robot, self.experiment.run(rng), self.highest)

    def acceleration_noise(self, data: Readings, cut_off: float | None) -> float:
        """Noise of the platform's accelerations over their size, both rms, in the mean of its six coordinates."""
        model, motion = path_model(data.robot), data.motion
        harmonics = Harmonics(motion.n_samples, data.order(cut_off), 2 * np.pi / motion.period)
        every = np.ones(motion.n_samples, dtype=bool)
        exact = self.experiment.motion()
        accelerations = np.stack([harmonics.path(harmonics.fit(model.start(q, exact.q), every)).ddx for q in motion.q])
        noise = np.sqrt(((accelerations - exact.ddq) ** 2).mean(axis=(0, 1)))
        return float((noise / np.sqrt((exact.ddq**2).mean(axis=0))).mean())

    def bound(self, order: int) -> Array:
        """The smallest covariance that unbiased estimates can have, those of the noise known [AHG, eq. (9)]."""
        experiment = self.experiment
        none = replace(experiment, positions=0.0, efforts=0.0).run(np.random.default_rng(0))
        problem = errors_in_variables(
            experiment.robot, none, order=order, positions_covariance=self.positions, efforts_covariance=self.forces
        )
        assert problem.unknowns.nominal is not None
        return cramer_rao_bound(problem, problem.unknowns.nominal)


def least_squares(data: Readings, *, cut_off: float | None = None) -> Estimate:
    """All readings alike; `cut_off` in Hz, None takes the advised one."""
    return LeastSquares().estimate(data.rows(cut_off).problem)


def gauss_markov(data: Readings, *, cut_off: float | None = None) -> Estimate:
    """[AHG, eq. (7)]; `cut_off` as for least squares."""
    return GaussMarkov().estimate(data.rows(cut_off).problem)


def on_path(data: Readings, *, order: int) -> Estimate:
    """Gauss–Markov on the Fourier series through the strut lengths: the cheap rival."""
    return GaussMarkov().estimate(on_fitted_path(data.robot, data.motion, order=order))


def maximum_likelihood(data: Readings, *, order: int) -> Estimate:
    """[AHG, eq. (15)]."""
    return MaximumLikelihood().estimate(errors_in_variables(data.robot, data.motion, order=order))


def campaigns(
    experiments: Mapping[str, Repetition], *, order: int, repetitions: int, seed: int
) -> dict[str, MonteCarlo]:
    """By name: all estimators on the D-optimal trajectory, fewer on its rivals, and what biases the usual ones.

    The last is measured by leaving out one noise at a time, that of strut lengths or that of forces; without the
    second Gauss–Markov would have other weights, and is left out.
    """
    model = base_model()
    truth = dict(zip(model.robot.names, model.truth.tolist(), strict=True))
    first = experiments[STATISTICAL]
    likeliest = partial(maximum_likelihood, order=order)
    usual: dict[str, Estimator] = {LS: least_squares, GM: gauss_markov}
    wide: dict[str, Estimator] = {
        LS_WIDE: partial(least_squares, cut_off=WIDE),
        GM_WIDE: partial(gauss_markov, cut_off=WIDE),
    }
    top: dict[str, Estimator] = {
        LS_TOP: partial(least_squares, cut_off=first.highest),
        GM_TOP: partial(gauss_markov, cut_off=first.highest),
    }
    every: dict[str, Estimator] = {**usual, ON_PATH: partial(on_path, order=order), ML: likeliest, **wide, **top}
    rivals = {name: experiments[name] for name in (DETERMINISTIC, FAIR)}
    lengths = {EXACT_LENGTHS: replace(first, positions=np.zeros_like(first.positions))}
    forces = {EXACT_FORCES: replace(first, forces=np.zeros_like(first.forces))}
    linear: dict[str, Estimator] = {LS: least_squares, LS_WIDE: wide[LS_WIDE]}
    return {
        "estimators": MonteCarlo({STATISTICAL: first}, every, truth, repetitions, seed),
        "rivals": MonteCarlo(rivals, {**linear, ML: likeliest}, truth, repetitions, seed),
        "exact-lengths": MonteCarlo(lengths, {**usual, **wide}, truth, repetitions, seed),
        "exact-forces": MonteCarlo(forces, linear, truth, repetitions, seed),
    }


@dataclass(frozen=True, eq=False)
class Designed:
    """A trajectory with the values of all criteria, and those of the random motion that the search began with."""

    series: FourierSeries
    criteria: Mapping[str, float]
    first: float
    """The criterion that was minimized, at the start."""


def design_problem(criterion: str, size: Size) -> DesignProblem:
    """The search for a trajectory by one criterion, within the limits of the description."""
    model = base_model()
    return DesignProblem(
        model.robot,
        MotionLimits.stated(model.robot, margin=MARGIN),
        sigma=FORCES,
        criterion=criterion,
        n_harmonics=size.harmonics,
        frequency=FREQUENCIES,
        recorded=size.readings * size.periods,
        parameters=model.truth,
    )


def designs(
    seed: int, size: Size, folder: Path | None, on_design: Callable[[str, str], object], executor: Any = None
) -> dict[str, Designed]:
    """A trajectory for each criterion, all from the same start [AHG, §IV.C]; those in the folder are taken from there.

    Args:
        seed: Of the start.
        size: Of the trajectories.
        folder: Where designs are kept, or None.
        on_design: Told the name of the design and the stage of its search.
        executor: Where designs are searched, of `gough.campaigns`; here by default.

    Raises:
        KeyboardInterrupt: the search was stopped.
    """
    executor = executor_of(executor)
    alone = isinstance(executor, ThisProcess)
    configuration = (this_version(), seed, size, FREQUENCIES, MARGIN, FORCES, base_model().truth, DESIGNS)
    shared = (size, seed, on_design) if alone else (size, seed)
    campaign = Campaign(
        _searched, {name: (name, criterion) for name, criterion in DESIGNS.items()}, shared, name=digest(configuration)
    )
    path = None if folder is None else folder / f"campaign-designs-{campaign.fingerprint[:8]}.jsonl"
    if not alone:
        on_design(next(iter(DESIGNS)), f"{len(DESIGNS)} searches")
    return {
        name: Designed(FourierSeries(**plain["series"]), plain["criteria"], plain["first"])
        for name, plain in campaign.run(path, executor=executor).items()
    }


def _searched(size: Size, seed: int, *rest: Any) -> dict[str, Any]:
    """A design as a task: its name and criterion come last, a callback of this process before them."""
    *on_design, name, criterion = rest

    def show(step: Progress) -> None:
        for each in on_design:
            each(name, step.stage)

    for each in on_design:
        each(name, "preparing")
    design = optimize(design_problem(criterion, size), starts=1, seed=seed, on_progress=show)
    if design.is_stopped:
        raise KeyboardInterrupt
    return _plain(design)


def plain_series(of: FourierSeries) -> dict[str, Any]:
    """The arguments that make the series, for JSON."""
    return {"offset": of.offset.tolist(), "mu": of.mu.tolist(), "nu": of.nu.tolist(), "frequency": of.frequency}


def _plain(design: Design) -> dict[str, Any]:
    return {
        "series": plain_series(design.series),
        "criteria": {name: design.criterion(name) for name in CRITERIA},
        "first": design.best.first,
    }
