"""The page of a selection: which poses to measure, the accuracy to expect, and how other sets compare."""

from typing import TYPE_CHECKING

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number
from gough.designs.poses import Curve, Rival, Selection
from gough.report.base.drawing import FAINT, INK, QUIET, SERIES, WIDTH, Drawing, blank, style
from gough.report.base.page import Page, Section, Verdict, details
from gough.report.base.words import determined
from gough.report.poses.words import (
    comparison_table,
    excess_percent,
    how_many_words,
    sentences,
    sigma_table,
    unidentified,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INDICES = (
    "σ are root mean squares over the workspace, of poses predicted from exact readings. O1 to O5 are the "
    "observability indices of the literature, the larger the better; parameters are scaled by the σ that an average "
    "candidate would give each alone, so that units do not matter."
)
_SIGMA = "Predicted standard deviation of each parameter, if the noise is as the study states it."
_SHAPE = (
    " Those of the shape are in frames fitted to the robot's own joints: the part that does not depend on the place of "
    "the instrument."
)
_POOR = 0.05
"""Excess over the smallest possible standard deviations from which on a longer search is recommended."""
_FEW = 12
"""Parameters that are listed without a click."""


def selection_documents(
    title: str,
    lead: tuple[str, ...],
    selection: Selection,
    rivals: tuple[Rival, ...] = (),
    curve: Curve | None = None,
) -> dict[str, bytes]:
    """The files by name: report.html and figures/*."""
    sigma = sigma_table(selection)
    shape = _SHAPE if selection.shape_sigma is not None else ""
    every = sigma if len(sigma.rows) <= _FEW else details(f"All {len(sigma.rows)} parameters", sigma)
    sections = (
        Section("Chosen poses", (chosen_figure(selection),)),
        Section(
            "Accuracy to expect",
            (accuracy_figure(selection, rivals, curve), _INDICES, comparison_table(selection, rivals)),
        ),
        Section("Readings to command", (readings_figure(selection), selection.table())),
        Section("Parameters", (_SIGMA + shape, every)),
        Section("What can be identified", determined(selection.problem.information.identifiability)),
    )
    return Page(title, lead, _cards(selection, curve), tuple(_verdicts(selection, curve)), sections).files()


def _verdicts(selection: Selection, curve: Curve | None) -> list[Verdict]:
    missing = unidentified(selection)
    chosen = " ".join(text for text in sentences(selection) if text not in missing)
    step = "Measure these poses in this order with the readings below, then run gough calibrate."
    if selection.is_stopped:
        step = "Run gough poses again without interrupting it, or measure this set."
    elif selection.excess is not None and selection.excess > _POOR:
        step = "Allow more draws or candidates in [selection] to come nearer to the optimum, or measure this set."
    verdicts = [Verdict(chosen, "plain" if selection.is_stopped else "good", step)]
    for text in missing:
        step = "Fix these unknowns in the calibration study, or widen [selection.limits], and choose again."
        verdicts.append(Verdict(text, "bad", step))
    if curve is not None and (words := how_many_words(curve)):
        met = curve.selection is not None
        step = (
            "Measure this number of poses."
            if met
            else "Raise most in [selection], reduce the noise of the instrument, or relax the target."
        )
        verdicts.append(Verdict(words, "good" if met else "bad", step))
    return verdicts


def chosen_figure(selection: Selection) -> Drawing:
    """Candidates and chosen poses, from above and from the side."""
    of = selection.problem
    free = of.model.freedoms
    planes = [pair for pair in ((0, 1), (0, 2)) if set(pair) <= set(free)]
    everything, chosen = 1e3 * of.candidates.poses.position, 1e3 * selection.poses.position
    extremal = of.candidates.is_extremal[list(selection.rows)]
    with style():
        figure = blank(WIDTH, 3.3)
        for axes, (i, j) in zip(figure.subplots(1, len(planes), squeeze=False)[0], planes, strict=True):
            some = _thinned(everything[:, [i, j]])
            axes.plot(*some.T, ".", color=FAINT, markersize=2.5, label="candidates")
            axes.plot(*chosen[extremal][:, [i, j]].T, "s", color=SERIES[1], markersize=4.5, label="chosen, extremal")
            axes.plot(*chosen[~extremal][:, [i, j]].T, "o", color=SERIES[0], markersize=4.5, label="chosen, within")
            for k, place in enumerate(chosen[:, [i, j]]):
                axes.annotate(str(k + 1), place, (3, 3), textcoords="offset points", fontsize=6.5, color=INK)
            axes.set_aspect("equal")
            axes.set(xlabel=f"{'xyz'[i]}, mm", ylabel=f"{'xyz'[j]}, mm")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
    n = len(selection.rows)
    description = f"{n} chosen poses among {len(everything)} candidates, from above and from the side."
    caption = "Positions of the chosen poses, numbered in the order to measure them, among all candidates (grey)."
    return Drawing("chosen", figure, description, caption)


def readings_figure(selection: Selection) -> Drawing:
    """Each chain's readings at the chosen poses, within the range of all candidates."""
    of = selection.problem
    names, unit = of.model.chains, of.model.reading_unit
    factor, unit_name = (1e3, "mm") if unit == "m" else (180 / np.pi, "°") if unit == "rad" else (1.0, unit)
    readings, everything = factor * selection.poses.readings, factor * of.candidates.poses.readings
    n = len(readings)
    with style():
        figure = blank(WIDTH, 0.7 + 0.42 * len(names))
        axes = figure.subplots()
        for k in range(len(names)):
            low, high = everything[:, k].min(), everything[:, k].max()
            axes.plot([low, high], [k, k], color=FAINT, linewidth=5, solid_capstyle="butt")
            up = k + 0.28 * (np.arange(n) / max(n - 1, 1) - 0.5)  # apart, since many stand at an end
            axes.plot(readings[:, k], up, "o", color=SERIES[0], markersize=4, alpha=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel(f"reading, {unit_name}")
    description = f"Readings of {', '.join(names)} at {n} chosen poses."
    caption = "Readings at the chosen poses (dots, in their order from top to bottom) within those of the candidates."
    return Drawing("readings", figure, description, caption)


def accuracy_figure(selection: Selection, rivals: tuple[Rival, ...], curve: Curve | None) -> Drawing:
    """Predicted accuracy of positions against the number of poses."""
    first, counts, values = _prefix(selection)
    with style():
        figure = blank(WIDTH, 3.0)
        axes = figure.subplots()
        if curve is not None:
            points = [(p.count, 1e3 * p.accuracy.position) for p in curve.points]
            axes.plot(*np.array(points).T, "o-", color=SERIES[0], markersize=3.5, label="the best set of so many")
            if curve.target is not None:
                axes.axhline(1e3 * curve.target, color=QUIET, linestyle="--", linewidth=1.0, label="target")
        else:
            axes.plot(counts, values, "o-", color=SERIES[0], markersize=3.5, label="the first of the chosen")
        for k, rival in enumerate(rivals):
            axes.plot(rival.count, 1e3 * rival.accuracy.position, "D", color=SERIES[k + 1], label=rival.name)
        _logarithmic(axes)
        figure.legend(loc="outside upper center", ncols=2)
    what = "growing sets of poses" if curve is not None else f"the first {first} and more of the chosen poses"
    description = f"Standard deviation of predicted positions after a calibration from {what}."
    caption = (
        "Standard deviation of positions predicted after the calibration, root mean square over the workspace, against "
        "the number of poses measured."
    )
    return Drawing("accuracy", figure, description, caption)


def _cards(selection: Selection, curve: Curve | None) -> tuple[tuple[str, str], ...]:
    a, of = selection.accuracy, selection.problem
    cards = [
        (str(len(selection.rows)), f"poses to measure; at least {of.needed} are needed"),
        (
            f"{number(1e3 * a.position, digits=3)} mm",
            f"σ of predicted positions; worst {number(1e3 * a.position_worst, digits=3)} mm",
        ),
    ]
    if a.orientation > 0:
        worst = number(float(np.degrees(a.orientation_worst)), digits=2)
        cards.append((f"{number(float(np.degrees(a.orientation)), digits=2)}°", f"σ of orientations; worst {worst}°"))
    if curve is not None and curve.at_least is not None:
        cards.append((f"≥ {curve.at_least}", "poses for the target, however they are chosen"))
    if selection.excess is not None:
        cards.append((f"≤ {excess_percent(selection.excess)} %", "worse than the best set of as many candidates"))
    return tuple(cards)


def _prefix(selection: Selection) -> tuple[int, list[int], list[float]]:
    """The accuracy (mm) that the first poses give, for each number from the least that identifies all."""
    of, information = selection.problem, selection.problem.information
    counts, values = [], []
    for count in range(1, len(selection.rows) + 1):
        M = information.of(selection.rows[:count])
        if not information.is_singular(M):
            counts.append(count)
            values.append(1e3 * of.workspace.accuracy(information, M).position)
    return counts[0], counts, values


def _logarithmic(axes: "Axes") -> None:
    """Both axes by ratios, with numbers that a person reads."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - start-up time

    axes.set(xscale="log", yscale="log", xlabel="poses", ylabel="σ of position, mm")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
        axis.set_minor_formatter(NullFormatter())


def _thinned(points: Array, most: int = 1500) -> Array:
    return points[:: -(-len(points) // most)]
