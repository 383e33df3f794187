"""Figures of a design: the motion, the load of the actuators, limits, starts, and predicted standard deviations."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.text import short_labels, shortened
from gough.designs.excitation import Channel, Design
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.drawing import FAINT, INK, QUIET, SERIES, WIDTH, Drawing, blank, style
from gough.report.base.panels import charted
from gough.report.base.robot_view import FRAMES, robot_figure
from gough.report.identification.report import postures
from gough.simulate.equations import as_parallel

CLOCK = "period"
"""Figures over the period point together."""
_SHOWN = 600
"""Instants of the period."""
_LEFT = 30
"""Limits whose room is drawn, the nearest ones."""


@dataclass(frozen=True, eq=False)
class Course:
    """A designed motion over its period: coordinates, and positions, speeds, accelerations, efforts of actuators."""

    step: float
    x: Array
    parts: dict[str, Array]
    """By kind of channel, (instants, actuators)."""

    @classmethod
    def of(cls, design: Design) -> "Course":
        """The motion at evenly spaced instants, dry friction with its plain sign."""
        of, series = design.problem, design.series
        step = series.period / _SHOWN
        _, x, dx, ddx = series.at(step * np.arange(_SHOWN + 1))
        in_pose = as_parallel(of.robot)
        q, dq, ddq = (x, dx, ddx) if in_pose is None else in_pose.joint_motion(x, dx, ddx)
        effort = of.regressor(x, dx, ddx) @ of.parameters
        return cls(step, x, {"position": q, "speed": dq, "acceleration": ddq, "effort": effort})


def path_figure(design: Design, course: Course) -> Drawing:
    """The coordinates in which the motion is a Fourier series, over one period, with what limits them."""
    of = design.problem
    in_pose = as_parallel(of.robot)
    names, units = (
        (of.robot.coordinates, of.robot.coordinate_units)
        if in_pose is None
        else (in_pose.pose_names, in_pose.pose_units)
    )
    panels = []
    for i, (name, unit) in enumerate(zip(names, units, strict=True)):
        limits = [one for one in of.channels if one.kind == "pose" and one.index == i]
        marks = (Line("motion", course.x[:, i], 0), *_limit_lines(limits, len(course.x)))
        panels.append(Panel(name, unit, marks, 90, axis=i == len(names) - 1))
    chart = _chart(course, tuple(panels))
    series = design.series
    description = f"{', '.join(names)} over one period of {series.period:.4g} s."
    caption = f"One period of {series.period:.4g} s: {series.n_harmonics} harmonics of {series.frequency:.4g} Hz."
    if any(one.kind == "pose" for one in of.channels):
        caption += " Grey: limits."
    return charted("path", chart, description, caption)


def actuator_figure(design: Design, course: Course) -> Drawing:
    """Positions, speeds, accelerations and efforts of all actuators over one period, with their limits."""
    of = design.problem
    robot = of.robot
    unit, of_effort = (" or ".join(dict.fromkeys(each)) for each in (robot.coordinate_units, robot.effort_units))
    per = "/" if " or " not in unit else " per "
    kinds = (
        ("position", "positions", unit),
        ("speed", "speeds", f"{unit}{per}s"),
        ("acceleration", "accelerations", f"{unit}{per}s²"),
        ("effort", "efforts predicted", of_effort),
    )
    panels = []
    for kind, title, unit_name in kinds:
        values = course.parts[kind]
        lines = [Line(name, values[:, i], i, 1.1) for i, name in enumerate(robot.actuators)]
        limits = [one for one in of.channels if one.kind == kind]
        panels.append(Panel(title, unit_name, (*lines, *_limit_lines(limits, len(values))), 170, axis=kind == "effort"))
    chart = _chart(course, tuple(panels))
    description = f"Positions, speeds, accelerations and efforts of {', '.join(robot.actuators)} over one period."
    caption = (
        "Positions, speeds, accelerations and efforts of the actuators, with their limits (grey). Efforts are computed "
        "with the nominal parameters; they jump at a reversal, by twice the dry friction."
    )
    return charted("actuators", chart, description, caption)


def motion_figure(design: Design) -> Drawing | None:
    """The robot along the period; None for one that has no drawing."""
    of, series = design.problem, design.series
    step = series.period / (FRAMES - 1)
    _, x, _, _ = series.at(step * np.arange(FRAMES))
    seen = postures(of.robot, x, None if as_parallel(of.robot) is None else x, (0.0, step))
    return None if seen is None else robot_figure(of.robot.name, seen, CLOCK)


def starts_figure(design: Design) -> Drawing:
    """The criterion of every start, at its random motion and at the end."""
    attempts = design.attempts
    with style():
        figure = blank(WIDTH, 0.8 + 0.22 * len(attempts))
        axes = figure.subplots()
        for row, each in enumerate(attempts):
            is_best = each.number == design.best.number
            color = SERIES[1] if is_best else SERIES[0]
            axes.plot(each.first, row, "o", color=QUIET, markersize=4, label="random start" if row == 0 else "")
            if each.series is None:
                axes.annotate("exceeds limits", (each.first, row), (8, -3), textcoords="offset points", fontsize=8)
                continue
            axes.plot([each.first, each.value], [row, row], color=FAINT, linewidth=1.5, zorder=1)
            axes.plot(each.value, row, "o", color=color, markersize=6, label="result" if is_best else "")
        axes.set_yticks(range(len(attempts)), [f"start {each.number}" for each in attempts])
        axes.set_ylim(len(attempts) - 0.5, -0.5)
        axes.set_xlabel(f"{design.problem.criterion.meaning}: the smaller the better")
        axes.grid(visible=False, axis="y")
        figure.legend(loc="outside upper center", ncols=2)
    values = [each.value for each in attempts if each.series is not None]
    description = f"The criterion of {len(attempts)} starts: they end between {min(values):.2f} and {max(values):.2f}."
    caption = "Grey: the random feasible motion of each start. Colored: where it ended. Orange: the result."
    return Drawing("starts", figure, description, caption)


def room_figure(design: Design) -> Drawing:
    """Margin to each limit, at samples and between them."""
    left = -100 * np.array(design.beyond)
    order = np.argsort(left)[:_LEFT]
    names = [shortened(design.problem.channels[i].name, 28) for i in order]
    with style():
        figure = blank(WIDTH, 0.8 + 0.2 * len(order))
        axes = figure.subplots()
        axes.barh(range(len(order)), left[order], color=SERIES[0], height=0.62)
        axes.axvline(0.0, color=INK, linewidth=1.0)
        axes.set_yticks(range(len(order)), names)
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlabel("margin, % of the limit's range")
        axes.grid(visible=False, axis="y")
    nearest = design.problem.channels[int(order[0])].name
    description = f"Margin to each limit; the smallest, {left[order[0]]:.2g} %, is that of {nearest}."
    caption = (
        "Smallest margin to each limit over the period: at 300 samples in a period of the highest harmonic and, by "
        "second differences, between them. A bar to the left of 0 is a limit exceeded."
    )
    if len(left) > _LEFT:
        caption += f" The nearest {_LEFT} of {len(left)} limits."
    return Drawing("room", figure, description, caption)


def sigma_figure(design: Design) -> Drawing:
    """The predicted standard deviation of every parameter, relative to its nominal value."""
    of = design.problem
    labels = short_labels(of.names)
    share = 100 * design.sigma / of.typical
    known = of.base_values != 0
    rows = np.arange(len(labels))
    with style():
        figure = blank(WIDTH, 0.8 + 0.22 * len(labels))
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.plot(share[known], rows[known], "o", color=SERIES[0], markersize=6)
        axes.axvline(100.0, color=QUIET, linestyle="--", linewidth=1.0)
        axes.set_yticks(rows, labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.set_xlabel("predicted σ, % of the nominal value")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    description = f"Predicted standard deviations of {len(labels)} parameters relative to their nominal values."
    caption = (
        "Cramér–Rao bound of the standard deviation of each base parameter. Beyond the dashed line it exceeds the "
        "value itself: such a parameter is not significantly different from zero."
    )
    return Drawing("sigma", figure, description, caption)


def _chart(course: Course, panels: tuple[Panel, ...]) -> Chart:
    return Chart(0.0, course.step, len(course.x), "time", "s", panels, clock=CLOCK)


def _limit_lines(limits: list[Channel], n: int) -> list[Line]:
    """A line at each end of the limits, each once."""
    ends = sorted({end for one in limits for end in (one.lower, one.upper) if np.isfinite(end)})
    return [Line("limit", np.full(n, end), "quiet", 1.0) for end in ends]
