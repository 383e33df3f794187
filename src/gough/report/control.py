"""The page of controllers compared on one motion: tracking errors, efforts, and what the drives must be able to do."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.control import Comparison, Outcome
from gough.core.arrays import Array, Integers
from gough.core.errors import GoughError
from gough.core.outward import at_most
from gough.core.tables import Column, Table, table
from gough.core.text import number
from gough.estimates import Claim
from gough.report.base.charts import Band, Chart, Level, Line, Mark, Panel
from gough.report.base.drawing import Drawing
from gough.report.base.page import ZOOM, Page, Section, Verdict, bullets, definitions, hint
from gough.report.base.panels import charted
from gough.report.base.robot_view import FRAMES, Postures, robot_figure

_SEEN = 0.05
"""Largest magnified error in a drawing of the robot, as a part of its size."""
_LAWS = {
    "pd": "Feedback of position and velocity errors without a model; gains by poles on the blueprint's inertia.",
    "pd-gravity": "PD, and the weight of the robot at the measured positions.",
    "feedforward": "PD, and the inverse dynamics of the desired motion, friction included.",
    "computed-torque": "Inverse dynamics at the measured state make each actuator a double integrator, under PD.",
    "predictive": "The same linearization under predictive functional control: a line of accelerations over a short "
    "horizon, by one fixed row of gains.",
}
_PARAMETERS = {
    "blueprint": "Nominal parameters of the robot's description.",
    "identified": "The recommended estimate of the identification.",
    "physical": "The physically possible estimate of the identification.",
    "true": "The parameters of the simulated robot: what remains is due to sampling, sensors and drives.",
}


def control_documents(title: str, lead: tuple[str, ...], compared: Comparison) -> dict[str, bytes]:
    """The files by name: report.html, figures/* and control.json."""
    data = json.dumps(compared.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    return {"control.json": f"{data}\n".encode(), **control_page(title, lead, compared).files()}


def control_page(title: str, lead: tuple[str, ...], compared: Comparison) -> Page:
    """The page."""
    laws = dict.fromkeys(each.law for each in compared.outcomes)
    used = dict.fromkeys(each.parameters for each in compared.outcomes if each.parameters)
    sections = [
        Section(
            "Controllers",
            (
                compared.table(),
                definitions({law: _LAWS[law] for law in laws} | {name: _PARAMETERS[name] for name in used}),
            ),
        ),
        *_robot_sections(compared),
        Section("Tracking error", (hint(ZOOM), error_figure(compared))),
        Section("Efforts", (effort_figure(compared),)),
        *_drive_sections(compared),
        Section("Loop", (_loop_table(compared),)),
    ]
    return Page(title, (*lead, *compared.setting()), _cards(compared), _verdicts(compared), tuple(sections))


def _cards(compared: Comparison) -> tuple[tuple[str, str], ...]:
    unit, factor = _error_unit(compared)
    cards = []
    for run in _chosen(compared):
        if run.tracked.lost_at is None:
            worst = factor * float(run.tracked.max_error.max())
            cards.append((f"{number(worst, digits=3)} {unit}", f"largest error, {run.label}"))
    if compared.enclosure is not None:
        peak, units = compared.enclosure.peak, compared.enclosure.units
        k = int(peak.argmax())
        cards.append(
            (f"≤ {at_most(float(peak[k]))} {units[k]}", "effort of the motion, all models that the data allow")
        )
    return tuple(cards)


def _verdicts(compared: Comparison) -> tuple[Verdict, ...]:
    found, limits = compared.enclosure, compared.limits
    verdicts = [Verdict(doubt, "bad", "Include the missing effect in the study.") for doubt in compared.doubts]
    if found is not None and np.isfinite(limits).all():
        good = found.is_within(limits)
        step = "" if good else "Slow the motion down, choose stronger drives, or identify with smaller error bounds."
        verdicts.append(Verdict(found.statement(limits), "good" if good else "bad", step))
    lost = [run for run in compared.outcomes if run.tracked.lost_at is not None]
    verdicts += [
        Verdict(
            f"{run.label}: the robot no longer follows after {run.tracked.lost_at:.3f} s.",
            "bad",
            "Use a lower bandwidth, a higher rate, a shorter delay, or stronger drives.",
        )
        for run in lost
    ]
    saturated = [run.label for run in compared.outcomes if run.tracked.saturation > 0]
    if saturated:
        verdicts.append(Verdict(f"Drives reach their limit: {'; '.join(saturated)}."))
    return tuple(verdicts)


def _error_unit(compared: Comparison) -> tuple[str, float]:
    return ("mrad", 1e3) if compared.study.dynamics.robot.coordinate_units[0] == "rad" else ("µm", 1e6)


def _chosen(compared: Comparison) -> list[Outcome]:
    """One run of each law: with the identified parameters, or without a model."""
    return [each for each in compared.outcomes if each.parameters in ("", "identified")]


def _robot_sections(compared: Comparison) -> list[Section]:
    figure = motion_figure(compared)
    return [] if figure is None else [Section("Motion", (figure,))]


def motion_figure(compared: Comparison) -> Drawing | None:
    """The robot under one law with identified and with blueprint parameters, errors magnified; None: not drawn."""
    pair, motion = _pair(compared), compared.motion
    robot: Any = compared.study.dynamics.robot
    if pair is None or motion.pose is None or not hasattr(robot, "skeleton"):
        return None
    frames = np.unique(np.linspace(0, len(motion) - 1, FRAMES).astype(int))
    desired = motion.pose.x[frames]
    try:
        poses = [_reached(robot, run, frames, desired) for run in pair]
        factor, shown = _magnified(robot, desired, poses)
    except GoughError:  # a posture that the robot's drawing does not reach
        return None
    own, other = (np.asarray(robot.skeleton(x)) for x in shown)
    moving = [k for k, kind in enumerate(robot.segments) if kind != "base"]
    drawn = Postures(
        0.0,
        (len(motion) - 1) / max(len(frames) - 1, 1) / motion.rate,
        (*robot.segments, *("other" for _ in moving)),
        np.concatenate([own, other[:, moving]], axis=1),
        poses[0],
        tuple(robot.pose_names),
        tuple(robot.pose_units),
    )
    law = pair[0].law
    times = f"Errors are magnified {factor:g} times." if factor != 1 else "Errors are not magnified."
    caption = (
        f"The {robot.name} under {law} with identified parameters, and thin beside it the same robot under {law} with "
        f"blueprint parameters. {times}"
    )
    return robot_figure(robot.name, drawn, "motion", caption)


def _pair(compared: Comparison) -> tuple[Outcome, Outcome] | None:
    """The runs with identified and blueprint parameters under one law: feedforward where it is compared."""
    laws = sorted({run.law for run in compared.outcomes if run.parameters}, key=lambda law: law != "feedforward")
    if not laws:
        return None
    own, other = (compared.outcome(laws[0], name) for name in ("identified", "blueprint"))
    return own, other


def _reached(robot: Any, run: Outcome, frames: Integers, desired: Array) -> Array:
    """Poses of a run at some instants; after it is lost, the last one."""
    there = np.isfinite(run.tracked.q[frames]).all(axis=1)
    last = np.maximum.accumulate(np.where(there, np.arange(len(frames)), 0))
    x = np.array(desired)
    x[there] = robot.forward(run.tracked.q[frames][there], guess=desired[there])
    return np.asarray(x[last])


def _magnified(robot: Any, desired: Array, poses: Sequence[Array]) -> tuple[float, list[Array]]:
    """Poses with their distance from the desired ones multiplied by 1, 2, 5, 10, …, so that it is seen.

    Raises:
        GoughError: the robot cannot be drawn at the poses themselves.
    """
    still = np.asarray(robot.skeleton(desired))
    size = float(np.ptp(still, axis=(0, 1, 2)).max())
    away = max(float(np.abs(np.asarray(robot.skeleton(x)) - still).max()) for x in poses)
    steps = [a * 10.0**b for b in range(7) for a in (1, 2, 5)]
    for factor in reversed([step for step in steps if step * away <= _SEEN * size] or [1.0]):
        shown = [desired + factor * (x - desired) for x in poses]
        try:
            if all(np.isfinite(robot.skeleton(x)).all() for x in shown):
                return factor, shown
        except GoughError:
            continue
    return 1.0, list(poses)


def error_figure(compared: Comparison) -> Drawing:
    """The error of each actuator over time, by law, with identified parameters."""
    unit, factor = _error_unit(compared)
    runs, robot = _chosen(compared), compared.study.dynamics.robot
    panels = tuple(
        Panel(
            name,
            unit,
            tuple(Line(run.label, factor * run.tracked.error[:, i], k) for k, run in enumerate(runs)),
            height=120,
            symmetric=True,
        )
        for i, name in enumerate(robot.actuators)
    )
    description = f"Errors of {', '.join(robot.actuators)} over time under {len(runs)} controllers."
    caption = "Desired minus true position of each actuator. Controllers with a model have the identified parameters."
    return charted("tracking-errors", _chart(compared, panels), description, caption)


def effort_figure(compared: Comparison) -> Drawing:
    """The efforts of each actuator over time."""
    runs, robot = _chosen(compared), compared.study.dynamics.robot
    panels = []
    for i, name in enumerate(robot.actuators):
        marks: list[Mark] = [Line(run.label, run.tracked.efforts[:, i], k) for k, run in enumerate(runs)]
        if np.isfinite(compared.limits[i]):
            marks.append(Level("limit of the drive", float(compared.limits[i])))
        panels.append(Panel(name, robot.effort_units[i], tuple(marks), height=120))
    description = f"Efforts of {', '.join(robot.actuators)} over time under {len(runs)} controllers."
    caption = "Efforts of the drives, after clipping to their limit."
    return charted("efforts", _chart(compared, tuple(panels)), description, caption)


def _drive_sections(compared: Comparison) -> list[Section]:
    found = compared.enclosure
    if found is None:
        return [Section("Drives", compared.drives())]
    panels = []
    for i, (name, unit) in enumerate(zip(found.actuators, found.units, strict=True)):
        marks: list[Mark] = [
            Band("all models that the data allow", found.lower[:, i], found.upper[:, i], color=0),
            Line("identified", found.nominal[:, i], 1),
        ]
        if np.isfinite(compared.limits[i]):
            marks.append(Level("limit of the drive", float(compared.limits[i])))
        panels.append(Panel(name, unit, tuple(marks), height=120))
    description = f"Bounds of the feedforward efforts of {', '.join(found.actuators)} over time."
    kind = {Claim.PROOF: "Proven bounds", Claim.ENCLOSURE: "Bounds in exact arithmetic"}.get(
        found.claim, "Confidence bounds"
    )
    caption = f"{kind} of the efforts of the desired motion, from {', '.join(found.methods)}."
    figure = charted("effort-bounds", _chart(compared, tuple(panels)), description, caption)
    premises = bullets(*(f"Premise: {text}" for text in found.premises))
    return [Section("Drives", (*compared.drives(), drive_table(compared), figure, premises))]


def drive_table(compared: Comparison) -> Table:
    """The number to size each drive by, and the worst error of its feedforward effort, rounded up."""
    found = compared.enclosure
    assert found is not None
    rows = [
        [name, unit, at_most(float(peak)), at_most(float(worst)), number(float(np.abs(own).max()))]
        for name, unit, peak, worst, own in zip(
            found.actuators, found.units, found.peak, found.worst_error, found.nominal.T, strict=True
        )
    ]
    heads: list[str | Column] = ["actuator", "unit", "peak, all models", "worst feedforward error", "peak, identified"]
    return table(heads, rows, "lurrr")


def _loop_table(compared: Comparison) -> Table:
    loop = compared.loop
    cutoff = loop.velocity_cutoff
    rows = [
        ["sample time", f"{1e3 * loop.period:g} ms"],
        ["delay", f"{loop.delay} samples"],
        ["encoder step", _listed(loop.resolution)],
        ["noise of positions, σ", _listed(loop.position_noise)],
        ["noise of efforts, σ", _listed(loop.effort_noise)],
        ["limit of efforts", _listed(loop.limit)],
        ["low-pass of velocities", "measured velocities" if cutoff is None else f"{cutoff:g} Hz"],
        ["bandwidth and damping", f"{loop.bandwidth:g} Hz, {loop.damping:g}"],
        ["engine", compared.engine],
    ]
    return table(["setting", "value"], rows, "lw")


def _listed(values: Array | float) -> str:
    own = list(dict.fromkeys(np.atleast_1d(values).tolist()))
    return ", ".join("none" if value in (0.0, np.inf) else f"{value:g}" for value in own)


def _chart(compared: Comparison, panels: tuple[Panel, ...]) -> Chart:
    motion = compared.motion
    return Chart(0.0, 1 / motion.rate, len(motion), "time", "s", panels, clock="motion")
