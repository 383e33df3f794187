"""The page of a designed motion: limits, predicted uncertainty, the motion, and the search."""

from math import ceil
from statistics import median

import numpy as np

from gough.core.tables import Cell, Table, table
from gough.core.text import listed, on_factors, short_labels, spelled_out
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
    "search, and between samples by second differences. Limits of positions, joints, pose, reach and the distance to "
    "singularity hold for every tracking error up to the stated one: to first order at all these samples, and by "
    "following the robot to all corners of the errors and to random errors between them. This check is dense; it is "
    "not a proof. Limits of speeds, accelerations and efforts are those of the designed motion."
)
_PREDICTED = (
    "Cramér–Rao bound of the standard deviations: Gauss–Markov reaches it if the errors of the efforts are as stated "
    "and the model is adequate; no unbiased estimator does better."
)
_CRITERIA = "This motion by every criterion, beside the best of all starts; small is good."
_COMBINED = "Parameters that no motion separates are combined:"


def design_documents(title: str, lead: tuple[str, ...], design: Design, *, periods: int = 1) -> dict[str, bytes]:
    """The files by name: report.html and figures/*."""
    course = Course.of(design)
    robot = motion_figure(design)
    meanings = spelled_out(design.problem.names)
    limits = design.limit_table()
    sections = (
        Section("The motion", (hint(TURN) if robot is not None else "", robot, path_figure(design, course))),
        Section("Load of the actuators", (actuator_figure(design, course),)),
        Section("Limits", (_CHECKED, room_figure(design), details(f"All {len(limits.rows)} limits", limits))),
        Section(
            "Predicted uncertainty",
            (
                _PREDICTED,
                sigma_figure(design),
                design.table(),
                _COMBINED if meanings else "",
                definitions(meanings),
                on_factors(meanings.values()),
            ),
        ),
        Section("The search", (starts_figure(design), _CRITERIA, criterion_table(design))),
    )
    return Page(title, lead, _cards(design), tuple(verdicts(design, periods)), sections).files()


def criterion_table(design: Design) -> Table:
    """The criteria of the result, and the best of all starts for each."""
    of = design.problem
    vectors = {each.number: of.space.vector(each.series) for each in design.attempts if each.series is not None}
    rows: list[list[str | Cell]] = []
    for name, criterion in CRITERIA.items():
        values = {k: of.value(z, criterion) for k, z in vectors.items()}
        best = min(values, key=lambda k: (values[k], k))
        word = "optimized" if name == of.criterion.name else ""
        label = Cell(f"{name}: {criterion.meaning}", word)
        rows.append([label, f"{design.criterion(name):.2f}", f"{values[best]:.2f}", f"start {best}"])
    return table(["criterion", "this motion", "best of the starts", "which"], rows, "lrrr", "Criteria")


def verdicts(design: Design, periods: int) -> list[Verdict]:
    """Whether limits hold, how the motion is entered, what it determines, and how well it was searched."""
    of, nearest = design.problem, int(np.argmax(design.beyond))
    margin = f"{abs(100 * design.worst):.2g} % of its range, {of.channels[nearest].name}"
    made = [
        Verdict(
            f"All limits hold at all times. The smallest margin is {margin}.",
            "good",
            "Run the trajectory at reduced speed first, and watch the actuator with the smallest margin.",
        )
        if design.worst <= 0
        else Verdict(
            f"A limit is exceeded by {margin}.",
            "bad",
            "Do not run this trajectory: loosen the limit in [design.limits], or design again with more starts.",
        ),
        _tracked(design),
        _entered(design, periods),
        _poor(design),
        _starts(design),
    ]
    if design.is_stopped:
        step = "Run gough design again without interrupting it, or with more starts."
        made.append(Verdict("The search was stopped before its end.", "plain", step))
    return made


def to_record(design: Design, periods: int) -> str:
    """Which part of trajectory.csv is periodic, and what a study says of its recording."""
    motion, period = design.trajectory(periods), f'period = "{design.series.period:.12g} s"'
    if isinstance(motion, Periodic):
        return f"Record several periods, and state in the study: {period} in [repeats]."
    rate = design.problem.rate
    begin = motion.ramp if rate is None else ceil(motion.ramp * rate - 1e-6) / rate
    part = f'begin = "{begin:.12g} s", end = "{begin + periods * design.series.period:.12g} s"'
    return (
        f"If you record trajectory.csv from its first to its last sample, state in the study: {period} in [repeats], "
        f"and {part} in [[data.recordings]]. The parts from and to rest are not periodic."
    )


def _tracked(design: Design) -> Verdict:
    """How much tracking error the motion tolerates."""
    check = design.tracking
    if not check.errors.any():
        step = "State the tracking error of your controller as 'tracking' in [design.limits], and design again."
        return Verdict(" ".join(check.lines()), "plain", step)
    if not check.is_clear:
        step = "Do not run this trajectory: design again, or reduce the tracking error of the controller."
        return Verdict(" ".join(check.lines()), "bad", step)
    step = "Let the controller stop the robot before its tracking error exceeds the stated one."
    return Verdict(" ".join(check.lines()), "good", step)


def _entered(design: Design, periods: int) -> Verdict:
    motion = design.trajectory(periods)
    if not isinstance(motion, Periodic):
        text = (
            f"trajectory.csv enters the motion from rest at home in {motion.ramp:.3g} s, runs {periods} "
            f"{'period' if periods == 1 else 'periods'} and returns to rest; the limits also hold on these parts."
        )
        return Verdict(text, "good", to_record(design, periods))
    text = (
        "No entry from rest that was tried keeps the limits: trajectory.csv contains the periods alone, and the robot "
        "must be brought to its first sample, at speed, in another way."
    )
    return Verdict(text, "bad", f"Plan an entry on your controller. {to_record(design, periods)}")


def _poor(design: Design) -> Verdict:
    """Parameters whose predicted σ exceeds their value."""
    of = design.problem
    cells = zip(short_labels(of.names), design.sigma, np.abs(of.base_values), strict=True)
    if not np.isfinite(design.sigma).all():
        text = "The motion does not determine all parameters."
        return Verdict(text, "bad", "Loosen limits or allow more harmonics, and design again.")
    far = [label for label, sd, size in cells if sd > size > 0]
    if not far:
        text = "The predicted σ of every parameter is smaller than the parameter itself."
        return Verdict(text, "good", "Record it, then run gough identify.")
    text = f"Not significantly different from zero with this motion: {listed(far)}."
    return Verdict(text, "plain", "Record more periods, or loosen the limits that the motion touches.")


def _starts(design: Design) -> Verdict:
    values = sorted(each.value for each in design.attempts if each.series is not None)
    n = len(design.attempts)
    if len(values) == 1:
        text = f"One of {n} starts found a motion that keeps the limits."
        return Verdict(text, "plain", "Try more starts (starts in [design]): one does not show how good it is.")
    text = f"{len(values)} of {n} starts keep the limits; the best two differ by {values[1] - values[0]:.2g}"
    if len(values) > 2:
        text += f", the best and the worst by {values[-1] - values[0]:.2g},"
    step = "More starts may find a better motion if the best two differ by more than 0.1; else this one is good."
    return Verdict(f"{text} in the criterion.", "plain", step)


def _cards(design: Design) -> tuple[tuple[str, str], ...]:
    of, series = design.problem, design.series
    cards = [(f"{design.value:.2f}".replace("-", "−"), f"{of.criterion.meaning}, criterion {of.criterion.name}")]
    if of.criterion.name == "D":
        chance = median(each.first for each in design.attempts)
        gain = np.exp((chance - design.value) / (2 * len(of.names)))
        cards.append((f"{gain:.2g} ×", "smaller σ than with the random motions of the starts, geometric mean"))
    return (
        *cards,
        (f"{series.period:.3g} s", f"period; {series.n_harmonics} harmonics, {of.n_variables} unknowns"),
        (f"{-100 * design.worst:.2g} %", "margin to the nearest limit"),
    )
