"""The report on an identification from repeats, and its page: parameters by every estimator, noise, other motions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.core.html import tag
from gough.dynamics import IdentifiedRepeats, base_values
from gough.estimates import Estimate, LikelihoodStats
from gough.methods.noise.noise_tests import NoiseTest
from gough.report.base import words
from gough.report.base.charts import Chart, Line, Panel, charted
from gough.report.base.drawing import Drawing
from gough.report.base.intervals import interval_figure
from gough.report.base.page import ZOOM, Block, Page, Section, Verdict, definitions, hint
from gough.report.base.regions import correlation_figure
from gough.report.base.robot_view import FRAMES, robot_figure
from gough.report.identification import repeated_figures
from gough.report.identification.page import FILES, against
from gough.report.identification.report import CLOCK, postures
from gough.report.identification.tables import disagreement_table, method_list

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
            given = array(self.truth, "truth", ndim=1)
            names, found = self.identified.robot.names, self.identified.identifiability
            require(len(given) == len(names), f"truth must have {len(names)} entries, one for each parameter")
            value = dict(zip(names, given.tolist(), strict=True))
            object.__setattr__(self, "truth", base_values(found, [value[name] for name in found.names]))

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """By the name of the estimator, in the order of the tables."""
        return self.identified.likeliest_first

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """Its figures."""
        found, made = self.identified, repeated_figures
        drawings = [
            interval_figure(self.estimates, self.truth),
            made.verdict_figure("fit", found.fit, where="the motion used for the identification", clock=CLOCK),
            *(
                made.verdict_figure(f"benchmark-{k}", verdict, where=name, clock=f"benchmark-{k}")
                for k, (name, verdict) in enumerate(found.benchmarks.items(), start=1)
            ),
            made.order_figure(found),
            made.covariance_figure(found),
            correlation_figure(found.likeliest),
            _motion_figure(found),
        ]
        if found.noise is not None:
            drawings += [made.noise_figure(found), made.whiteness_figure(found)]
        instants = np.linspace(0, found.motion.n_samples - 1, min(FRAMES, found.motion.n_samples)).round().astype(int)
        q = found.motion.mean[instants, : len(found.motion.coordinates)]
        step = found.motion.period / len(instants)
        if np.isfinite(q).all() and (seen := postures(found.robot, q, None, (0.0, step))) is not None:
            drawings.append(robot_figure(found.robot.name, seen, CLOCK))
        return tuple(drawings)


def repeated_page(report: RepeatedReport) -> Page:
    """The page of an identification from repeats."""
    found = report.identified
    drawn = {drawing.name: drawing for drawing in report.drawings}
    units = found.motion.coordinate_units + found.motion.effort_units
    noise = None if found.noise is None else found.noise.table(units)
    error = " Small print: the error against the truth in standard deviations." if report.truth is not None else ""
    fixed = ", ".join(f"{name} = {value:g}" for name, value in found.fixed.items())
    benchmarks: list[Block] = [_JUDGED] if found.benchmarks else []
    for k, (name, verdict) in enumerate(found.benchmarks.items(), start=1):
        benchmarks += [tag("h3", name), verdict.table(), drawn[f"benchmark-{k}"]]
    sections = (
        Section(
            "Parameters by every estimator",
            (
                *words.determined(found.identifiability),
                f"{_BESIDE}{error}",
                f"Fixed: {fixed}." if fixed else "",
                found.table(report.truth),
                definitions(found.regroupings),
                disagreement_table(found),
                drawn["parameters"],
            ),
        ),
        Section("Fit", (*found.on_estimates, hint(ZOOM), drawn["fit"])),
        Section("Prediction of other motions", tuple(benchmarks)),
        Section("The robot along its motion", (drawn.get("robot"), drawn["motion"])),
        Section("Number of harmonics", (found.order.reason, found.order.table(), drawn["order"])),
        Section("Noise", (*found.on_noise, noise, drawn.get("noise"), drawn.get("whiteness"), drawn["errors"])),
        Section("Correlation of the parameters", (drawn["correlation"],)),
        Section("Methods", (method_list(report.estimates, found.refused), FILES)),
    )
    return Page(report.title, report.lead, _cards(report), tuple(_verdicts(report)), sections)


def _cards(report: RepeatedReport) -> tuple[tuple[str, str], ...]:
    found, stats = report.identified, report.identified.likeliest.stats
    assert isinstance(stats, LikelihoodStats)
    cards = [
        (
            f"{found.identifiability.rank} of {len(found.identifiability.names)}",
            "parameters or combinations determined",
        ),
        (f"{found.motion.n_repeats} × {found.motion.n_samples}", "repeats × samples"),
        (f"{stats.chi_squared:.3f}", "χ²/dof: 1 if model and noise explain the data"),
    ]
    if found.benchmarks:
        good = sum(verdict.is_unbiased for verdict in found.benchmarks.values())
        cards.append((f"{good} of {len(found.benchmarks)}", "other motions without bias in any actuator"))
    if report.truth is not None:
        worst = abs(words.in_sigma(found.likeliest, report.truth)).max()
        cards.append((f"{worst:.1f} σ", "largest error against the truth, maximum likelihood"))
    return tuple(cards)


def _verdicts(report: RepeatedReport) -> list[Verdict]:
    found = report.identified
    premise = "State these values in the study as measured on the robot, then identify again."
    verdicts = [Verdict(text, "bad", premise) for text in found.premises]
    noisy = any(test.is_refuted for tests in _noise_tests(found) for test in tests)
    after_noise = "None: no assumption about the noise is refuted."
    if found.noise is None:
        after_noise = "Record more repeats, so that the stated noise can be tested."
    elif noisy:
        after_noise = "Remove the cause that is named, or record again: the printed σ rest on the refuted assumption."
    verdicts.append(Verdict(" ".join(found.on_noise), "plain", after_noise))
    after_order = (
        "Use a larger model, or check the stated noise: no number of harmonics explains the data."
        if found.order.is_refuted
        else "None: this number of harmonics is used."
    )
    verdicts.append(Verdict(found.order.reason, "bad" if found.order.is_refuted else "good", after_order))
    after_fit = "Use the values of maximum likelihood; do not use the estimators named as too far from it."
    if found.order.is_refuted:
        after_fit = "Find the effect that is missing in the figure of residuals, extend the model, and identify again."
    verdicts.append(Verdict(" ".join(found.on_estimates), "bad" if found.order.is_refuted else "good", after_fit))
    for text, verdict in zip(found.on_benchmarks, found.benchmarks.values(), strict=True):
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


def _noise_tests(found: IdentifiedRepeats) -> tuple[tuple[NoiseTest, ...], ...]:
    noise = found.noise
    if noise is None:
        return ()
    return (noise.gaussian, noise.white, noise.alike, (noise.independence(len(found.motion.coordinates)),))


def _motion_figure(found: IdentifiedRepeats) -> Drawing:
    """Mean positions over one period."""
    motion = found.motion
    units = " or ".join(dict.fromkeys(motion.coordinate_units))
    lines = tuple(Line(name, motion.mean[:, k], k) for k, name in enumerate(motion.coordinates))
    chart = Chart(0.0, 1 / motion.rate, motion.n_samples, "time", "s", (Panel("position", units, lines, 150),), CLOCK)
    description = f"Positions of {', '.join(motion.coordinates)} over one period, mean of {motion.n_repeats} repeats."
    caption = f"One period of the motion, averaged over {motion.n_repeats} repeats."
    return charted("motion", chart, description, caption)
