"""The report on an identification from repeats: what stands beside each other, what the noise is, and verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.dynamics import IdentifiedRepeats, base_values
from gough.estimates import Estimate, LikelihoodStats
from gough.report.base import words
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.drawing import Drawing
from gough.report.base.html import Html, tag
from gough.report.base.intervals import interval_figure
from gough.report.base.page import Section, bullets, number_cards, paragraphs
from gough.report.base.regions import correlation_figure
from gough.report.base.robot_view import FRAMES, robot_figure
from gough.report.base.static import drawn
from gough.report.base.tables import method_list, parameter_table
from gough.report.identification import repeated_figures
from gough.report.identification.repeated_tables import (
    benchmark_table,
    disagreement_table,
    noise_table,
    order_table,
    regrouping_list,
)
from gough.report.identification.report import CLOCK, postures
from gough.report.identification.sections import HINT

_BESIDE = (
    "Values with the half-width of their 95% interval. Least squares and Gauss–Markov differentiate noisy positions, "
    "repeat by repeat; so do instrumental variables and total least squares, which know of the noise. The others fit a "
    "path to all repeats, and maximum likelihood weighs path and efforts together."
)
_JUDGED = (
    "The model's error is what is left once the noise of the averaged efforts, of the path and of the parameters is "
    "taken off. Below the variance of one reading the model counts as unbiased [AHG, §V]."
)


@dataclass(frozen=True, eq=False)
class RepeatedReport:
    """All that a report on an identification from repeats tells.

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
    found: IdentifiedRepeats
    truth: Array | None = None
    """Where the robot is simulated: given as true values of its parameters, kept as those of the base parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lead", tuple(self.lead))
        if self.truth is not None:
            given = array(self.truth, "truth", ndim=1)
            names, found = self.found.robot.names, self.found.found
            require(len(given) == len(names), f"truth must have {len(names)} entries, one for each parameter")
            value = dict(zip(names, given.tolist(), strict=True))
            object.__setattr__(self, "truth", base_values(found, [value[name] for name in found.names]))

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """By the name of the estimator, in the order of the tables."""
        return self.found.likeliest_first

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """Its figures."""
        found, made = self.found, repeated_figures
        drawings = [
            interval_figure(self.estimates, self.truth),
            made.verdict_figure("fit", found.fit, where="the motion that was identified from", clock=CLOCK),
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

    def cards(self) -> Html:
        """The few numbers to see first."""
        found, stats = self.found, self.found.likeliest.stats
        assert isinstance(stats, LikelihoodStats)
        shown = [
            (f"{found.found.rank} of {len(found.found.names)}", "parameters or combinations determined"),
            (f"{found.motion.n_repeats} × {found.motion.n_samples}", "repeats × samples"),
            (f"{stats.chi_squared:.3f}", "χ²/dof: 1 where model and noise explain the data"),
        ]
        if found.benchmarks:
            good = sum(verdict.is_unbiased for verdict in found.benchmarks.values())
            shown.append((f"{good} of {len(found.benchmarks)}", "other motions without bias in any actuator"))
        if self.truth is not None:
            worst = abs(words.in_sigma(found.likeliest, self.truth)).max()
            shown.append((f"{worst:.1f} σ", "worst error against the truth, maximum likelihood"))
        return number_cards(*shown)

    def sections(self, drawn_html: Mapping[str, Html]) -> tuple[Section, ...]:
        """What the page says, section by section; the figures by name."""
        found = self.found
        noise = () if found.noise is None else (noise_table(found.noise, _units(found)),)
        hint = tag("p", HINT, class_="hint")
        files = "The numbers are in estimate.json and report.json, the figures in the folder figures, beside this page."
        return (
            Section("In short", (self._verdicts(),)),
            Section("Parameters by every estimator", self._parameters(drawn_html)),
            Section("Does the model explain the data?", (paragraphs(*found.on_estimates), hint, drawn_html["fit"])),
            *self._benchmarks(drawn_html),
            Section("The robot along its motion", tuple(drawn_html[n] for n in ("robot", "motion") if n in drawn_html)),
            Section("How many harmonics", (paragraphs(found.order.reason), order_table(found), drawn_html["order"])),
            Section(
                "How large are the errors?",
                (
                    paragraphs(*found.on_noise),
                    *noise,
                    *(drawn_html[n] for n in ("noise", "whiteness", "errors") if n in drawn_html),
                ),
            ),
            Section("What is hard to tell apart", (drawn_html["correlation"],)),
            Section("How it was computed", (method_list(self.estimates, found.refused), paragraphs(files))),
        )

    def _verdicts(self) -> Html:
        found = self.found
        items = [tag("li", premise, class_="bad") for premise in found.premises]
        items += [tag("li", verdict) for verdict in (*found.on_noise, found.order.reason)]
        good = "bad" if found.order.is_refuted else "good"
        items += [
            tag("li", verdict, class_=good if verdict.startswith("χ²") else "plain") for verdict in found.on_estimates
        ]
        items += [
            tag("li", said, class_="good" if verdict.is_unbiased else "bad")
            for said, verdict in zip(found.on_benchmarks, found.benchmarks.values(), strict=True)
        ]
        if self.truth is not None:
            known = [words.against_truth(label, e, self.truth) for label, e in self.estimates.items()]
            items.append(tag("li", "Against the truth:", bullets(*known)))
        return tag("ul", *items, class_="verdicts")

    def _parameters(self, drawn_html: Mapping[str, Html]) -> tuple[str, ...]:
        found = self.found
        error = " Below each, the error against the truth in standard deviations." if self.truth is not None else ""
        fixed = ", ".join(f"{name} = {value:g}" for name, value in found.fixed.items())
        return (
            paragraphs(*words.determined(found.found), f"{_BESIDE}{error}", f"Fixed: {fixed}." if fixed else ""),
            parameter_table(self.estimates, self.truth),
            regrouping_list(found),
            disagreement_table(found),
            drawn_html["parameters"],
        )

    def _benchmarks(self, drawn_html: Mapping[str, Html]) -> tuple[Section, ...]:
        verdicts = self.found.benchmarks
        if not verdicts:
            return ()
        blocks: list[str] = [paragraphs(_JUDGED)]
        for k, (name, verdict) in enumerate(verdicts.items(), start=1):
            blocks += [tag("h3", name), benchmark_table(verdict), drawn_html[f"benchmark-{k}"]]
        return (Section("Does it predict other motions?", tuple(blocks)),)


def _units(found: IdentifiedRepeats) -> tuple[str, ...]:
    return found.motion.coordinate_units + found.motion.effort_units


def _motion_figure(found: IdentifiedRepeats) -> Drawing:
    """Mean positions over one period."""
    motion = found.motion
    units = " or ".join(dict.fromkeys(motion.coordinate_units))
    lines = tuple(Line(name, motion.mean[:, k], k) for k, name in enumerate(motion.coordinates))
    chart = Chart(0.0, 1 / motion.rate, motion.n_samples, "time", "s", (Panel("position", units, lines, 150),), CLOCK)
    description = f"Positions of {', '.join(motion.coordinates)} over one period, mean of {motion.n_repeats} repeats."
    caption = f"One period of the motion, averaged over {motion.n_repeats} repeats."
    return Drawing("motion", drawn(chart), description, caption, lambda curves: chart.live(description, curves))
