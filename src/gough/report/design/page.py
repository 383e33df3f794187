"""The page of a designed motion: is it safe, what it will tell, how it looks, and how it was found."""

from math import ceil
from statistics import median

import numpy as np

from gough.core.text import number
from gough.designs.excitation import CRITERIA, Design
from gough.report.base.curves import Curves
from gough.report.base.drawing import Drawing
from gough.report.base.html import Html, tag
from gough.report.base.labels import short_labels
from gough.report.base.numbers import signed
from gough.report.base.page import Section, number_cards, page, paragraphs
from gough.report.base.tables import cell, combinations, row_head, table
from gough.report.design.figures import (
    Course,
    actuator_figure,
    motion_figure,
    path_figure,
    room_figure,
    sigma_figure,
    starts_figure,
)
from gough.simulate.trajectories import Periodic

_CHECKED = (
    "Limits are asked of the robot itself, with the plain sign of dry friction, far more densely than the search looks "
    "at them, and between samples by second differences. This check is dense, not a proof."
)
_PROMISE = (
    "What Gauss–Markov estimates from this motion will have, if the errors of the efforts are as stated and the model "
    "holds: the Cramér–Rao bound, which no unbiased estimator beats."
)
_CRITERIA = "The same motion judged by every criterion, beside the best that any of the starts has; small is good."
_HINT = "Drag to turn it; play, or point at an instant in the figures below."
_COMBINED = "Parameters that no motion tells apart are regrouped:"


def design_documents(title: str, lead: tuple[str, ...], found: Design, *, periods: int = 1) -> dict[str, bytes]:
    """The files by name: report.html and figures/*."""
    course = Course.of(found)
    robot, path, actuators = motion_figure(found), path_figure(found, course), actuator_figure(found, course)
    starts, room, sigma = starts_figure(found), room_figure(found), sigma_figure(found)
    shown: tuple[str, ...] = () if robot is None else (tag("p", _HINT, class_="hint"), robot.html())
    meanings = combinations(found.problem.names)
    regrouped = (paragraphs(_COMBINED), meanings) if meanings else ()
    sections = (
        Section("Verdict", (verdicts(found, periods),)),
        Section("The motion", (*shown, path.html())),
        Section("What it asks of the actuators", (actuators.html(),)),
        Section("Limits", (paragraphs(_CHECKED), room.html(), limit_table(found))),
        Section("What it will tell", (paragraphs(_PROMISE), sigma.html(), sigma_table(found), *regrouped)),
        Section("How it was found", (starts.html(), paragraphs(_CRITERIA), criterion_table(found))),
    )
    drawings = [each for each in (robot, path, actuators, room, sigma, starts) if each is not None]
    return _files(title, lead, sections, _cards(found), drawings)


def limit_table(found: Design) -> Html:
    """Every limit with what the motion makes of it."""
    low, high = found.extremes
    rows = []
    for one, least, most, beyond in zip(found.problem.channels, low, high, found.beyond, strict=True):
        ends = (
            number(one.lower) if np.isfinite(one.lower) else "—",
            number(one.upper) if np.isfinite(one.upper) else "—",
        )
        values = [number(float(least)), number(float(most)), *ends, f"{-100 * beyond:.2f} %"]
        rows.append([row_head(one.name, one.unit), *(cell(signed(value)) for value in values)])
    heads = ["limited", "least", "greatest", "allowed from", "to", "room left"]
    every = table(heads, rows, "Limits")
    return tag("details", tag("summary", f"All {len(rows)} limits"), every)


def sigma_table(found: Design) -> Html:
    """Nominal value and predicted standard deviation of every parameter."""
    of = found.problem
    units = [of.robot.units[i] for i in of.found.kept]
    rows = []
    for label, unit, value, sd in zip(short_labels(of.names), units, of.base_values, found.sigma, strict=True):
        share = f"{100 * sd / abs(value):.2g} %" if value and sd < np.inf else "—"
        shown = [signed(number(float(value))), number(float(sd), digits=2), share]
        rows.append([row_head(label, unit), *map(cell, shown)])
    return table(["parameter", "nominal", "σ predicted", "share"], rows, "Predicted standard deviations")


def criterion_table(found: Design) -> Html:
    """The criteria of the answer, and the best of all starts for each."""
    of = found.problem
    vectors = {each.number: of.space.vector(each.series) for each in found.attempts if each.series is not None}
    rows = []
    for name, criterion in CRITERIA.items():
        values = {k: of.value(z, criterion) for k, z in vectors.items()}
        best = min(values, key=lambda k: (values[k], k))
        word = "optimized" if name == of.criterion.name else ""
        shown = [f"{found.criterion(name):.2f}", f"{values[best]:.2f}", f"start {best}"]
        rows.append([row_head(f"{name}: {criterion.meaning}", word), *(cell(signed(each)) for each in shown)])
    return table(["criterion", "this motion", "best of the starts", "which"], rows, "Criteria")


def verdicts(found: Design, periods: int) -> Html:
    """What to know before anything else."""
    of, nearest = found.problem, int(np.argmax(found.beyond))
    room = f"{-100 * found.worst:.2g} % of its range, {of.channels[nearest].name}"
    kept = found.worst <= 0
    items = [
        tag("li", f"All limits hold at all times. The nearest has room: {room}.", class_="good")
        if kept
        else tag(
            "li", f"A limit is exceeded, by {100 * found.worst:.2g} %: {of.channels[nearest].name}.", class_="bad"
        ),
        _entered(found, periods),
        tag("li", to_record(found, periods), class_="plain"),
        _poor(found),
        _starts(found),
    ]
    if found.is_stopped:
        items.append(tag("li", "The search was stopped before its end: more starts may find better.", class_="plain"))
    return tag("ul", *items, class_="verdicts")


def to_record(found: Design, periods: int) -> str:
    """Which part of trajectory.csv is periodic, and what a study says of its recording."""
    motion, period = found.trajectory(periods), f'period = "{found.series.period:.12g} s"'
    if isinstance(motion, Periodic):
        return f"Record it again and again, and state in the study: {period} in [repeats]."
    rate = found.problem.rate
    begin = motion.ramp if rate is None else ceil(motion.ramp * rate - 1e-6) / rate
    part = f'begin = "{begin:.12g} s", end = "{begin + periods * found.series.period:.12g} s"'
    return (
        f"If you record trajectory.csv from its first to its last sample, state in the study: {period} in [repeats], "
        f"and {part} in [[data.recordings]]. The ways from and to rest are no repeats."
    )


def _entered(found: Design, periods: int) -> Html:
    motion = found.trajectory(periods)
    if not isinstance(motion, Periodic):
        words = (
            f"trajectory.csv enters the motion from rest at home in {motion.ramp:.3g} s, runs {periods} "
            f"{'period' if periods == 1 else 'periods'} and returns to rest; the limits hold on the way too."
        )
        return tag("li", words, class_="good")
    return tag(
        "li",
        "No way from rest that was tried keeps the limits: trajectory.csv holds the periods alone, and the robot "
        "must be brought to its first sample, at speed, in another way.",
        class_="bad",
    )


def _poor(found: Design) -> Html:
    """Parameters that the motion cannot tell from zero."""
    of = found.problem
    cells = zip(short_labels(of.names), found.sigma, np.abs(of.base_values), strict=True)
    if not np.isfinite(found.sigma).all():
        return tag("li", "The motion shows too little to determine the parameters at all. Loosen limits.", class_="bad")
    far = [label for label, sd, size in cells if sd > size > 0]
    if not far:
        return tag("li", "Every parameter's predicted σ is smaller than the parameter itself.", class_="good")
    words = f"Not to be told from zero, even so: {', '.join(far)}. Record longer, or loosen limits."
    return tag("li", words, class_="plain")


def _starts(found: Design) -> Html:
    values = sorted(each.value for each in found.attempts if each.series is not None)
    n = len(found.attempts)
    if len(values) == 1:
        return tag("li", f"One of {n} starts found a motion that keeps the limits.", class_="plain")
    told = f"{len(values)} of {n} starts keep the limits; the best two differ by {values[1] - values[0]:.2g}"
    if len(values) > 2:
        told += f", the best and the worst by {values[-1] - values[0]:.2g},"
    return tag("li", f"{told} in the criterion.", class_="plain")


def _cards(found: Design) -> Html:
    of, series = found.problem, found.series
    cards = [(signed(f"{found.value:.2f}"), f"{of.criterion.meaning}, criterion {of.criterion.name}")]
    if of.criterion.name == "D":
        chance = median(each.first for each in found.attempts)
        gain = np.exp((chance - found.value) / (2 * len(of.names)))
        cards.append((f"{gain:.2g} ×", "smaller σ than of the random motions it began with, on average"))
    cards += [
        (f"{series.period:.3g} s", f"period; {series.n_harmonics} harmonics, {of.n_variables} unknowns"),
        (f"{-100 * found.worst:.2g} %", "room left to the nearest limit, at any time"),
    ]
    return number_cards(*cards)


def _files(
    title: str, lead: tuple[str, ...], sections: tuple[Section, ...], cards: Html, drawings: list[Drawing]
) -> dict[str, bytes]:
    curves = Curves()
    figures = {drawing.name: drawing.live(curves) for drawing in drawings if drawing.live is not None}
    html = page(title, lead, sections, cards=cards, figures=figures, curves=curves)
    files = {"report.html": html.encode()}
    for drawing in drawings:
        files |= {f"figures/{drawing.name}.svg": drawing.svg(), f"figures/{drawing.name}.png": drawing.png()}
    return files
