"""The report of an identification: one page, its figures as files, and every estimate as JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.estimate import Estimate, FitStats
from gough.methods.identifiability import Identifiability
from gough.problem import LinearProblem
from gough.report import figures, words
from gough.report.drawing import Drawing
from gough.report.html import Html, tag
from gough.report.page import Section, bullets, number_cards, page, paragraphs
from gough.report.tables import combinations, fit_table, parameter_table

_DRAWN_SAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Identification:
    """All that a report on the identification of one robot tells."""

    title: str
    lead: tuple[str, ...]
    """Paragraphs on the robot and its data."""
    problem: LinearProblem
    estimates: Mapping[str, Estimate]
    """Answers to `problem` by the name of the method, in the order of the tables."""
    reference: str
    """The method whose residuals and correlations are shown."""
    found: Identifiability | None = None
    truth: Array | None = None
    """True values of the problem's unknowns, where the robot is simulated."""
    rate: float | None = None
    """Samples a second."""
    effort_unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimates", MappingProxyType(dict(self.estimates)))
        known = ", ".join(self.estimates)
        require(self.reference in self.estimates, f"no estimate is called '{self.reference}'; there are: {known}")
        for label, estimate in self.estimates.items():
            same = estimate.unknowns.names == self.problem.unknowns.names
            require(same, f"the estimate '{label}' has other unknowns than the problem: reduce the problem first")

    @property
    def chosen(self) -> Estimate:
        """The reference method's estimate."""
        return self.estimates[self.reference]

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """Its figures: parameters, fit, memory, correlation, pair."""
        groups = self.problem.groups.names
        residuals = by_sample(self.problem, self.problem.residuals(self.chosen.value))
        measured = by_sample(self.problem, self.problem.y)
        shown = slice(0, _DRAWN_SAMPLES)
        times = np.arange(len(measured)) / (self.rate or 1.0)
        drawn = [
            figures.parameters(self.estimates, truth=self.truth, reference=self.reference),
            figures.fit(times[shown], measured[shown], (measured - residuals)[shown], groups, unit=self.effort_unit),
            figures.memory(residuals, groups, rate=self.rate),
        ]
        if len(self.chosen.value) > 1:
            drawn.append(figures.correlation(self.chosen))
            drawn.append(figures.pair(self.estimates, figures.weakest_pair(self.chosen), truth=self.truth))
        return tuple(drawn)


def by_sample(problem: LinearProblem, values: Array) -> Array:
    """Rows of a problem as (samples, groups), NaN where a sample lacks one.

    Examples:
        >>> import gough
        >>> problem = gough.LinearProblem([[1.0], [2.0]], [1, 2], gough.Unknowns(["a"]), groups=("x", "y"))
        >>> by_sample(problem, problem.y)
        array([[1., 2.]])
    """
    n = len(problem.groups)
    positions = problem.groups.positions(slice(0, problem.n_rows))
    grid = np.full((int(positions[-1]) // n + 1) * n, np.nan)
    grid[positions] = values
    return grid.reshape(-1, n)


def documents(report: Identification, *, on_file: Callable[[str], object] = len) -> dict[str, bytes]:
    """The files of the report by name: report.html, estimate.json, figures/*.

    `on_file` is told the name of each as soon as it is made, for a progress display.
    """
    estimates = {label: estimate.to_dict() for label, estimate in report.estimates.items()}
    data = json.dumps(estimates, ensure_ascii=False, indent=1, allow_nan=False)
    files = {"estimate.json": f"{data}\n".encode()}
    makers: dict[str, Callable[[], bytes]] = {"report.html": lambda: to_html(report).encode()}
    for drawing in report.drawings:
        makers |= {f"figures/{drawing.name}.svg": drawing.svg, f"figures/{drawing.name}.png": drawing.png}
    for name, make in makers.items():
        files[name] = make()
        on_file(name)
    return files


def to_html(report: Identification) -> str:
    """The page."""
    drawn = {drawing.name: drawing.html() for drawing in report.drawings}
    sections = [
        Section("Parameters", _parameters(report, drawn)),
        Section("What the data can show", _identifiability(report)),
        Section("Does the model explain the data?", _fit(report, drawn)),
        Section("How long errors remember", (drawn["memory"],)),
        Section("What is hard to tell apart", tuple(drawn[name] for name in ("correlation", "pair") if name in drawn)),
        Section("How it was computed", (_methods(report),)),
    ]
    return page(report.title, report.lead, tuple(s for s in sections if s.blocks), cards=_cards(report))


def _cards(report: Identification) -> Html:
    cards = []
    if report.found is not None:
        cards.append((f"{report.found.rank} of {len(report.found.names)}", "parameters or combinations determined"))
    stats = report.chosen.stats
    if isinstance(stats, FitStats):
        if stats.chi_squared is not None:
            explained = "noise as stated" if (stats.chi_squared_p or 0) >= 0.001 else "noise not as stated"
            cards.append((f"{stats.chi_squared:.2f}", f"χ² per degree of freedom: {explained}"))
        cards.append((f"{stats.correlation_length // 2}", "samples that errors remember"))
    if report.truth is not None:
        worst = abs(words.in_sigma(report.chosen, report.truth)).max()
        cards.append((f"{worst:.1f} σ", f"worst error against the truth, {report.reference}"))
    return number_cards(*cards)


def _parameters(report: Identification, drawn: Mapping[str, Html]) -> tuple[str, ...]:
    level = f"{report.chosen.region.level:.0%}" if hasattr(report.chosen.region, "level") else ""
    legend = f"Values with the half-width of their {level} interval" if level else "Values with their half-width"
    legend += "; below, the error against the truth in standard deviations." if report.truth is not None else "."
    verdicts = []
    if report.truth is not None:
        verdicts = [words.against_truth(label, e, report.truth) for label, e in report.estimates.items()]
    return (
        bullets(*verdicts),
        paragraphs(words.near_zero(report.chosen), legend),
        parameter_table(report.estimates, report.truth),
        drawn["parameters"],
    )


def _identifiability(report: Identification) -> tuple[str, ...]:
    if report.found is None:
        return ()
    return (paragraphs(*words.determined(report.found)), combinations(report.problem.unknowns.names))


def _fit(report: Identification, drawn: Mapping[str, Html]) -> tuple[str, ...]:
    return (
        paragraphs(*report.chosen.notes),
        fit_table(report.estimates, (report.effort_unit,) * len(report.problem.groups)),
        drawn["fit"],
    )


def _methods(report: Identification) -> Html:
    items = [
        tag("li", tag("b", label), ": ", tag("code", e.method), f" — {e.status.value}; claims {e.claim.name}.")
        for label, e in report.estimates.items()
    ]
    files = "The numbers are in estimate.json, the figures in the folder figures, both beside this page."
    return Html(tag("ul", *items) + tag("p", files))
