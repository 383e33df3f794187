"""The page of a designed motion: limits, predicted uncertainty, the motion, and the search."""

from math import ceil
from statistics import median

import numpy as np

from gough.core.tables import Cell, Table, table
from gough.core.text import listed, short_labels, spelled_out
from gough.designs.excitation import CRITERIA, Design
from gough.report.base.page import TURN, Page, Section, Verdict, definitions, details, hint
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
    "Limits are evaluated with the robot's model and the sign function of dry friction, much more densely than in the "
    "search, and between samples by second differences. This check is dense; it is not a proof."
)
_PREDICTED = (
    "Cramér–Rao bound of the standard deviations: Gauss–Markov reaches it if the errors of the efforts are as stated "
    "and the model is adequate; no unbiased estimator does better."
)
_CRITERIA = "This motion by every criterion, beside the best of all starts; small is good."
_COMBINED = "Parameters that no motion separates are combined:"


def design_documents(title: str, lead: tuple[str, ...], found: Design, *, periods: int = 1) -> dict[str, bytes]:
    """The files by name: report.html and figures/*."""
    course = Course.of(found)
    robot = motion_figure(found)
    meanings = spelled_out(found.problem.names)
    limits = found.limit_table()
    sections = (
        Section("The motion", (hint(TURN) if robot is not None else "", robot, path_figure(found, course))),
        Section("Load of the actuators", (actuator_figure(found, course),)),
        Section("Limits", (_CHECKED, room_figure(found), details(f"All {len(limits.rows)} limits", limits))),
        Section(
            "Predicted uncertainty",
            (
                _PREDICTED,
                sigma_figure(found),
                found.table(),
                _COMBINED if meanings else "",
                definitions(meanings),
            ),
        ),
        Section("The search", (starts_figure(found), _CRITERIA, criterion_table(found))),
    )
    return Page(title, lead, _cards(found), tuple(verdicts(found, periods)), sections).files()


def criterion_table(found: Design) -> Table:
    """The criteria of the result, and the best of all starts for each."""
    of = found.problem
    vectors = {each.number: of.space.vector(each.series) for each in found.attempts if each.series is not None}
    rows: list[list[str | Cell]] = []
    for name, criterion in CRITERIA.items():
        values = {k: of.value(z, criterion) for k, z in vectors.items()}
        best = min(values, key=lambda k: (values[k], k))
        word = "optimized" if name == of.criterion.name else ""
        label = Cell(f"{name}: {criterion.meaning}", word)
        rows.append([label, f"{found.criterion(name):.2f}", f"{values[best]:.2f}", f"start {best}"])
    return table(["criterion", "this motion", "best of the starts", "which"], rows, "lrrr", "Criteria")


def verdicts(found: Design, periods: int) -> list[Verdict]:
    """Whether limits hold, how the motion is entered, what it determines, and how well it was searched."""
    of, nearest = found.problem, int(np.argmax(found.beyond))
    margin = f"{abs(100 * found.worst):.2g} % of its range, {of.channels[nearest].name}"
    made = [
        Verdict(
            f"All limits hold at all times. The smallest margin is {margin}.",
            "good",
            "Run the trajectory at reduced speed first, and watch the actuator with the smallest margin.",
        )
        if found.worst <= 0
        else Verdict(
            f"A limit is exceeded by {margin}.",
            "bad",
            "Do not run this trajectory: loosen the limit in [design.limits], or design again with more starts.",
        ),
        _entered(found, periods),
        _poor(found),
        _starts(found),
    ]
    if found.is_stopped:
        step = "Run gough design again without interrupting it, or with more starts."
        made.append(Verdict("The search was stopped before its end.", "plain", step))
    return made


def to_record(found: Design, periods: int) -> str:
    """Which part of trajectory.csv is periodic, and what a study says of its recording."""
    motion, period = found.trajectory(periods), f'period = "{found.series.period:.12g} s"'
    if isinstance(motion, Periodic):
        return f"Record several periods, and state in the study: {period} in [repeats]."
    rate = found.problem.rate
    begin = motion.ramp if rate is None else ceil(motion.ramp * rate - 1e-6) / rate
    part = f'begin = "{begin:.12g} s", end = "{begin + periods * found.series.period:.12g} s"'
    return (
        f"If you record trajectory.csv from its first to its last sample, state in the study: {period} in [repeats], "
        f"and {part} in [[data.recordings]]. The parts from and to rest are not periodic."
    )


def _entered(found: Design, periods: int) -> Verdict:
    motion = found.trajectory(periods)
    if not isinstance(motion, Periodic):
        text = (
            f"trajectory.csv enters the motion from rest at home in {motion.ramp:.3g} s, runs {periods} "
            f"{'period' if periods == 1 else 'periods'} and returns to rest; the limits also hold on these parts."
        )
        return Verdict(text, "good", to_record(found, periods))
    text = (
        "No entry from rest that was tried keeps the limits: trajectory.csv contains the periods alone, and the robot "
        "must be brought to its first sample, at speed, in another way."
    )
    return Verdict(text, "bad", f"Plan an entry on your controller. {to_record(found, periods)}")


def _poor(found: Design) -> Verdict:
    """Parameters whose predicted σ exceeds their value."""
    of = found.problem
    cells = zip(short_labels(of.names), found.sigma, np.abs(of.base_values), strict=True)
    if not np.isfinite(found.sigma).all():
        text = "The motion does not determine all parameters."
        return Verdict(text, "bad", "Loosen limits or allow more harmonics, and design again.")
    far = [label for label, sd, size in cells if sd > size > 0]
    if not far:
        text = "The predicted σ of every parameter is smaller than the parameter itself."
        return Verdict(text, "good", "Record it, then run gough identify.")
    text = f"Not significantly different from zero with this motion: {listed(far)}."
    return Verdict(text, "plain", "Record more periods, or loosen the limits that the motion touches.")


def _starts(found: Design) -> Verdict:
    values = sorted(each.value for each in found.attempts if each.series is not None)
    n = len(found.attempts)
    if len(values) == 1:
        text = f"One of {n} starts found a motion that keeps the limits."
        return Verdict(text, "plain", "Try more starts (starts in [design]): one does not show how good it is.")
    text = f"{len(values)} of {n} starts keep the limits; the best two differ by {values[1] - values[0]:.2g}"
    if len(values) > 2:
        text += f", the best and the worst by {values[-1] - values[0]:.2g},"
    step = "More starts may find a better motion if the best two differ by more than 0.1; else this one is good."
    return Verdict(f"{text} in the criterion.", "plain", step)


def _cards(found: Design) -> tuple[tuple[str, str], ...]:
    of, series = found.problem, found.series
    cards = [(f"{found.value:.2f}".replace("-", "−"), f"{of.criterion.meaning}, criterion {of.criterion.name}")]
    if of.criterion.name == "D":
        chance = median(each.first for each in found.attempts)
        gain = np.exp((chance - found.value) / (2 * len(of.names)))
        cards.append((f"{gain:.2g} ×", "smaller σ than with the random motions of the starts, geometric mean"))
    return (
        *cards,
        (f"{series.period:.3g} s", f"period; {series.n_harmonics} harmonics, {of.n_variables} unknowns"),
        (f"{-100 * found.worst:.2g} %", "margin to the nearest limit"),
    )
