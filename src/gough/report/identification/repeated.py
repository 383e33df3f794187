"""The report on an identification from repeats, and its page: parameters by every estimator, noise, other motions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.core.html import tag
from gough.core.text import on_factors
from gough.dynamics import BenchmarkVerdict, IdentifiedRepeats, base_values
from gough.estimates import Estimate, LikelihoodStats
from gough.methods.noise.noise_tests import MAX_LAG, NoiseTest
from gough.report.base import words
from gough.report.base.charts import Band, Chart, Level, Line, Panel, stretches
from gough.report.base.drawing import Drawing
from gough.report.base.home_view import home_figure
from gough.report.base.intervals import interval_figure
from gough.report.base.page import ZOOM, Block, Page, Section, Verdict, definitions, hint
from gough.report.base.panels import charted
from gough.report.base.regions import autocorrelation, correlation_figure, matrix_figure
from gough.report.base.robot_view import FRAMES, robot_figure
from gough.report.identification.page import (
    FILES,
    against,
    impossible_table,
    meanings,
    on_model,
    physics_part,
    possible_bodies_blocks,
    possible_part,
    verdict_part,
)
from gough.report.identification.report import CLOCK, postures
from gough.report.identification.tables import disagreement_table, method_list

_BINS = np.linspace(-4, 4, 41)
_SHORT = 1.96
"""Standard deviations that 95 % of Gaussian errors stay within."""


def verdict_figure(name: str, verdict: BenchmarkVerdict, *, where: str, clock: str) -> Drawing:
    """Measured and predicted efforts of each actuator, and residuals against the noise that is expected."""
    n, step = len(verdict.measured), 1 / verdict.rate
    panels = []
    for i, (actuator, unit) in enumerate(zip(verdict.actuators, verdict.effort_units, strict=True)):
        kept = verdict.kept[:, i]
        spans = stretches(~kept, 0.0, step)
        both = (
            Line("measured, mean over repeats", verdict.measured[:, i], "quiet", 1.0),
            Line("predicted by maximum likelihood", verdict.predicted[:, i], 0, 1.6),
        )
        edge = _SHORT * float(np.sqrt(verdict.expected_variance[i]))
        left = (
            Line("measured − predicted", np.where(kept, verdict.residuals[:, i], np.nan), "ink", 0.8),
            Level("95 % limits if the model is exact", edge, 1),
        )
        panels += [
            Panel(actuator, unit, both, 130, spans, axis=False),
            Panel(f"{actuator}: residual", unit, left, 90, spans, symmetric=True),
        ]
    shaded = "excluded: too slow, or no reading" if any(panel.spans for panel in panels) else ""
    chart = Chart(0.0, step, n, "time", "s", tuple(panels), clock, shaded)
    description = (
        f"Efforts of {', '.join(verdict.actuators)} on {where}, measured and predicted, and their difference over "
        f"{n * step:.3g} s."
    )
    caption = (
        "Mean of the measured efforts over all repeats (grey) and efforts of the identified model (colored); below "
        "each, their difference, with its 95 % limits if the model is exact."
    )
    return charted(name, chart, description, caption)


def order_figure(identified: IdentifiedRepeats) -> Drawing:
    """Information criteria over the number of harmonics, for the positions alone and for maximum likelihood."""
    alone, rows = dict(identified.by_positions), {row.order: row for row in identified.order.rows}
    least = min(alone.values())
    orders = range(1, max((*alone, *rows)) + 1)

    def line(label: str, values: dict[int, float], color: int) -> Line:
        return Line(label, np.log10(1 + np.array([values.get(k, np.nan) for k in orders])), color)

    above = {name: {k: getattr(row, f"{name}_above") for k, row in rows.items()} for name in ("bic", "aic")}
    panels = (
        Panel("positions alone", "", (line("BIC", {k: v - least for k, v in alone.items()}, 0),), 110),
        Panel("positions and efforts", "", (line("BIC", above["bic"], 0), line("AIC", above["aic"], 1)), 110),
    )
    chart = Chart(1.0, 1.0, len(orders), "harmonics of the path", "", panels)
    description = f"Information criteria for {orders[-1]} numbers of harmonics of the path, above the least."
    caption = (
        "How far each criterion is above its least, as log₁₀(1 + difference), for the positions alone and for maximum "
        "likelihood."
    )
    return charted("order", chart, description, caption)


def noise_figure(identified: IdentifiedRepeats) -> Drawing:
    """Distribution of the errors of positions and efforts beside the Gaussian one [AHG, figure 4]."""
    motion = identified.motion
    middle = (_BINS[1:] + _BINS[:-1]) / 2
    normal = Line("Gaussian", np.exp(-(middle**2) / 2) / np.sqrt(2 * np.pi), "quiet", 3.0)
    panels = []
    for title, names, errors in _errors(identified):
        lines = []
        for k, name in enumerate(names):
            counts, _ = np.histogram(errors[:, k] / errors[:, k].std(), _BINS)
            lines.append(Line(name, counts / (len(errors) * (_BINS[1] - _BINS[0])), k))
        panels.append(Panel(f"density of errors, {title}", "", (normal, *lines), 150))
    chart = Chart(float(middle[0]), float(middle[1] - middle[0]), len(middle), "error", "σ", tuple(panels))
    description = f"Distribution of the errors of {len(motion.channels)} channels, and the Gaussian distribution."
    caption = "Errors of single readings about the mean over the repeats, in standard deviations of their channel."
    return charted("noise", chart, description, caption)


def whiteness_figure(identified: IdentifiedRepeats) -> Drawing:
    """Autocorrelation of the errors of positions and efforts."""
    lags = min(3 * MAX_LAG, identified.motion.n_samples // 4)
    panels = []
    for title, names, errors in _errors(identified):
        edge = np.full(lags, _SHORT / np.sqrt(len(errors)))
        lines = [Line(name, autocorrelation(errors[:, k], lags)[1:], k) for k, name in enumerate(names)]
        panels.append(
            Panel(
                f"autocorrelation, {title}",
                "",
                (Band("95 % band", -edge, edge, color="quiet"), *lines),
                130,
            )
        )
    step = 1e3 / identified.motion.rate
    chart = Chart(step, step, lags, "lag", "ms", tuple(panels))
    description = f"Autocorrelation of the errors of {len(identified.motion.channels)} channels up to {lags} samples."
    caption = "From lag 1 on; uncorrelated errors stay in the grey band with probability 95 %."
    return charted("whiteness", chart, description, caption)


def covariance_figure(identified: IdentifiedRepeats) -> Drawing:
    """Correlations of errors between channels: Δ and Σ [AHG, figure 5]."""
    C = identified.covariance
    sigma = np.sqrt(C.diagonal())
    caption = "Correlation of the errors of one reading: positions first, then efforts."
    return matrix_figure("errors", C / np.outer(sigma, sigma), identified.motion.channels, caption)


def _errors(identified: IdentifiedRepeats) -> list[tuple[str, tuple[str, ...], Array]]:
    """For positions and for efforts: names, and errors (R·N, channels) about the mean, lost readings left out."""
    motion = identified.motion
    n = len(motion.coordinates)
    away = (motion.readings - motion.mean).reshape(-1, len(motion.channels))
    away = away[np.isfinite(away).all(axis=1)]
    return [("positions", motion.coordinates, away[:, :n]), ("efforts", motion.actuators, away[:, n:])]


_BESIDE = (
    "Values with the half-width of their 95% interval, each row in the unit below its name. Least squares and "
    "Gauss–Markov differentiate noisy positions, repeat by repeat; so do instrumental variables and total least "
    "squares, which allow for that noise. The others fit a path to all repeats, and maximum likelihood weighs path and "
    "efforts together."
)
_JUDGED = (
    "The model's error is the residual without the noise of the averaged efforts, of the path and of the parameters. "
    "If its variance is below that of one reading, the model counts as unbiased [AHG, §V]."
)


@dataclass(frozen=True, eq=False)
class RepeatedReport:
    """A report on an identification from repeats.

    Examples:
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.dynamics import identify_repeated
        >>> from gough.robots import FiveBar
        >>> rng, robot = np.random.default_rng(1), FiveBar()
        >>> series = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=0.5, frequency=0.5, n_harmonics=2)
        >>> motion = PeriodicExperiment(robot, series, rate=50.0, periods=5, positions=1e-3, efforts=0.1).run(rng)
        >>> report = RepeatedReport("A five-bar", (), identify_repeated(robot, motion, orders=[2]), robot.nominal)
        >>> len(report.truth), list(report.estimates)[0]
        (15, 'maximum likelihood')
    """

    title: str
    lead: tuple[str, ...]
    """Paragraphs on the robot and its data."""
    identified: IdentifiedRepeats
    truth: Array | None = None
    """Where the robot is simulated: given as true values of its parameters, kept as those of the base parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lead", tuple(self.lead))
        if self.truth is not None:
            values = array(self.truth, "truth", ndim=1)
            names, analysis = self.identified.robot.names, self.identified.identifiability
            require(len(values) == len(names), f"truth must have {len(names)} entries, one for each parameter")
            value = dict(zip(names, values.tolist(), strict=True))
            object.__setattr__(self, "truth", base_values(analysis, [value[name] for name in analysis.names]))

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """By the name of the estimator, in the order of the tables."""
        return self.identified.likeliest_first

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """Its figures."""
        identified = self.identified
        drawings = [
            interval_figure(self.estimates, self.truth),
            verdict_figure("fit", identified.fit, where="the motion used for the identification", clock=CLOCK),
            *(
                verdict_figure(f"benchmark-{k}", verdict, where=name, clock=f"benchmark-{k}")
                for k, (name, verdict) in enumerate(identified.benchmarks.items(), start=1)
            ),
            order_figure(identified),
            covariance_figure(identified),
            correlation_figure(identified.likeliest),
            _motion_figure(identified),
        ]
        if identified.noise is not None:
            drawings += [noise_figure(identified), whiteness_figure(identified)]
        if (home := home_figure(identified.robot)) is not None:
            drawings.append(home)
        instants = (
            np.linspace(0, identified.motion.n_samples - 1, min(FRAMES, identified.motion.n_samples))
            .round()
            .astype(int)
        )
        q = identified.motion.mean[instants, : len(identified.motion.coordinates)]
        step = identified.motion.period / len(instants)
        if np.isfinite(q).all() and (seen := postures(identified.robot, q, None, (0.0, step))) is not None:
            drawings.append(robot_figure(identified.robot.name, seen, CLOCK))
        return tuple(drawings)


def repeated_page(report: RepeatedReport) -> Page:
    """The page of an identification from repeats."""
    identified = report.identified
    drawn = {drawing.name: drawing for drawing in report.drawings}
    units = identified.motion.coordinate_units + identified.motion.effort_units
    noise = None if identified.noise is None else identified.noise.table(units)
    error = " Small print: the error against the truth in standard deviations." if report.truth is not None else ""
    fixed = ", ".join(f"{name} = {value:g}" for name, value in identified.fixed.items())
    benchmarks: list[Block] = [_JUDGED] if identified.benchmarks else []
    for k, (name, verdict) in enumerate(identified.benchmarks.items(), start=1):
        benchmarks += [tag("h3", name), verdict.table(), drawn[f"benchmark-{k}"]]
    sections = (
        Section(
            "Parameters by every estimator",
            (
                *words.determined(identified.identifiability),
                f"{_BESIDE}{error}",
                f"Fixed: {fixed}." if fixed else "",
                identified.table(report.truth),
                definitions(identified.regroupings),
                on_factors(identified.regroupings.values()),
                impossible_table(identified),
                disagreement_table(identified),
                drawn["parameters"],
                *meanings(identified),
                drawn.get("home"),
            ),
        ),
        Section("Fit", (*identified.on_estimates, hint(ZOOM), drawn["fit"])),
        Section("Possible bodies", possible_bodies_blocks(identified)),
        Section("Verdict on the model", on_model(identified.verdict)),
        Section("Prediction of other motions", tuple(benchmarks)),
        Section("The robot along its motion", (drawn.get("robot"), drawn["motion"])),
        Section("Number of harmonics", (identified.order.reason, identified.order.table(), drawn["order"])),
        Section("Noise", (*identified.on_noise, noise, drawn.get("noise"), drawn.get("whiteness"), drawn["errors"])),
        Section("Correlation of the parameters", (drawn["correlation"],)),
        Section("Methods", (method_list(report.estimates, identified.refused), FILES)),
    )
    return Page(report.title, report.lead, _cards(report), tuple(_verdicts(report)), sections)


def _cards(report: RepeatedReport) -> tuple[tuple[str, str], ...]:
    identified, stats = report.identified, report.identified.likeliest.stats
    assert isinstance(stats, LikelihoodStats)
    cards = [
        (
            f"{identified.identifiability.rank} of {len(identified.identifiability.names)}",
            "parameters or combinations determined",
        ),
        (f"{identified.motion.n_repeats} × {identified.motion.n_samples}", "repeats × samples"),
        (f"{stats.chi_squared:.3f}", "χ²/dof: 1 if model and noise explain the data"),
    ]
    if identified.benchmarks:
        good = sum(verdict.is_unbiased for verdict in identified.benchmarks.values())
        cards.append((f"{good} of {len(identified.benchmarks)}", "other motions without bias in any actuator"))
    if report.truth is not None:
        worst = abs(words.in_sigma(identified.likeliest, report.truth)).max()
        cards.append((f"{worst:.1f} σ", "largest error against the truth, maximum likelihood"))
    return tuple(cards)


def _verdicts(report: RepeatedReport) -> list[Verdict]:
    identified = report.identified
    premise = "State these values in the study as measured on the robot, then identify again."
    verdicts = [Verdict(text, "bad", premise) for text in identified.premises]
    texts, color, next_step = verdict_part(identified.verdict)
    verdicts.append(Verdict(" ".join(texts), color, next_step))  # type: ignore[arg-type]
    sentences, kind, step = physics_part(identified)
    on_physics = [Verdict(" ".join(sentences), kind, step)] if sentences else []  # type: ignore[arg-type]
    if identified.is_impossible:
        verdicts += on_physics
    noisy = any(test.is_refuted for tests in _noise_tests(identified) for test in tests)
    after_noise = "None: no assumption about the noise is refuted."
    if identified.noise is None:
        after_noise = "Record more repeats, so that the stated noise can be tested."
    elif noisy:
        after_noise = "Remove the cause that is named, or record again: the printed σ rest on the refuted assumption."
    verdicts.append(Verdict(" ".join(identified.on_noise), "plain", after_noise))
    after_order = (
        "Use a larger model, or check the stated noise: no number of harmonics explains the data."
        if identified.order.is_refuted
        else "None: this number of harmonics is used."
    )
    verdicts.append(Verdict(identified.order.reason, "bad" if identified.order.is_refuted else "good", after_order))
    if identified.path_sign.against:
        *reasons, step = identified.path_sign.sentences
        verdicts.append(Verdict(" ".join(reasons), "bad", step))
    after_fit = "Use the values of maximum likelihood; do not use the estimators named as too far from it."
    if identified.order.is_refuted:
        after_fit = "Find the effect that is missing in the figure of residuals, extend the model, and identify again."
    verdicts.append(
        Verdict(" ".join(identified.on_estimates), "bad" if identified.order.is_refuted else "good", after_fit)
    )
    if not identified.is_impossible:
        verdicts += on_physics
    sentences, kind, step = possible_part(identified)
    if sentences:
        verdicts.append(Verdict(" ".join(sentences), kind, step))  # type: ignore[arg-type]
    for text, verdict in zip(identified.on_benchmarks, identified.benchmarks.values(), strict=True):
        good = verdict.is_unbiased
        step = (
            "Use the model on motions like this one."
            if good
            else "Add the effect that the table names for these actuators to the model, and identify again."
        )
        verdicts.append(Verdict(text, "good" if good else "bad", step))
    if report.truth is not None:
        verdicts.append(against(words.against_truth(label, e, report.truth) for label, e in report.estimates.items()))
    return verdicts


def _noise_tests(identified: IdentifiedRepeats) -> tuple[tuple[NoiseTest, ...], ...]:
    noise = identified.noise
    if noise is None:
        return ()
    return (noise.gaussian, noise.white, noise.alike, (noise.independence(len(identified.motion.coordinates)),))


def _motion_figure(identified: IdentifiedRepeats) -> Drawing:
    """Mean positions over one period."""
    motion = identified.motion
    units = " or ".join(dict.fromkeys(motion.coordinate_units))
    lines = tuple(Line(name, motion.mean[:, k], k) for k, name in enumerate(motion.coordinates))
    chart = Chart(0.0, 1 / motion.rate, motion.n_samples, "time", "s", (Panel("position", units, lines, 150),), CLOCK)
    description = f"Positions of {', '.join(motion.coordinates)} over one period, mean of {motion.n_repeats} repeats."
    caption = f"One period of the motion, averaged over {motion.n_repeats} repeats."
    return charted("motion", chart, description, caption)
