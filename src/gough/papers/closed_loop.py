"""A robot of a paper in closed loop: the complete mechanism under the exported C of its identification."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from gough.control import Comparison, ControlStudy, DesiredMotion, Outcome, control
from gough.core.arrays import Array
from gough.core.tables import Table
from gough.export import RobotModel
from gough.export.compiled import require_compiler
from gough.export.compiling import ExportError
from gough.papers.reproduction import side_by_side
from gough.report import Drawing
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.panels import charted
from gough.robots import ParallelRobot
from gough.simulate import Loop


def can_be_controlled() -> bool:
    """Whether MuJoCo and a C compiler are there."""
    try:
        require_compiler()
    except ExportError:
        return False
    return find_spec("mujoco") is not None


def controlled(
    model: RobotModel,
    truth: Mapping[str, float],
    *,
    motion: str | DesiredMotion,
    laws: Sequence[str],
    loop: Loop,
    models: Mapping[str, Mapping[str, float]] | None = None,
    seconds: float = 3.0,
) -> Comparison:
    """The robot with these true parameters under several laws.

    Args:
        model: An identification of the complete model.
        truth: True parameters by name.
        motion: A motion, or the name of one.
        laws: Names of laws.
        loop: How the controller is sampled, and what its drives can do.
        models: Parameters by name for each model that controllers are given, besides the true ones; a parameter that is
            not named is 0. None takes those of the identification and of the blueprint.
        seconds: Duration of the motion, where the motion leaves it open.
    """
    assert model.dynamics is not None
    names = model.dynamics.robot.names

    def vector(values: Mapping[str, float]) -> Array:
        return np.array([values.get(name, 0.0) for name in names])

    others = {name: vector(values) for name, values in (models or {}).items()}
    study = ControlStudy.of(model, truth=vector(truth), others=others)
    chosen = () if models is None else (*others, "true")
    return control(study, motion=motion, laws=laws, parameters=chosen, loop=loop, seconds=seconds)


def poses(compared: Comparison, run: Outcome, robot: ParallelRobot) -> Array:
    """The poses (N, coordinates) that the robot had."""
    assert compared.motion.pose is not None
    return robot.forward(run.tracked.q, guess=compared.motion.pose.x)


def numbers(compared: Comparison) -> dict[str, dict[str, Any]]:
    """For each controller: distances of the platform from its path (m), errors of the joints and peak efforts."""
    return {run.label: _numbers(run) for run in compared.outcomes}


def _numbers(run: Outcome) -> dict[str, Any]:
    distance, tracked = run.position_error, run.tracked
    if tracked.lost_at is not None or distance is None:
        return {"lost_at": tracked.lost_at}
    return {
        "rms_distance": float(np.sqrt(np.mean(distance**2))),
        "largest_distance": float(distance.max()),
        "rms_joint_error": float(np.sqrt(np.mean(tracked.error**2))),
        "peak_effort": float(tracked.peak_effort.max()),
        "saturation": tracked.saturation,
    }


def comparison_table(runs: Mapping[str, Mapping[str, Any]], caption: str, unit: str) -> Table:
    """A row for each controller, from `numbers`; `unit` is that of the efforts."""
    rows = []
    for label, run in runs.items():
        if "rms_distance" not in run:
            rows.append((label, *["—"] * 3, f"lost at {run['lost_at']:.2f} s"))
            continue
        distances = (f"{1e3 * run[key]:.3g}" for key in ("rms_distance", "largest_distance"))
        rows.append((label, *distances, f"{run['peak_effort']:.3g}", f"{100 * run['saturation']:.2g} %"))
    heads = ("controller, parameters", "rms distance, mm", "largest distance, mm", f"peak, {unit}", "at the limit")
    return side_by_side(caption, heads, tuple(rows))


def distance_figure(name: str, compared: Comparison, panels: Mapping[str, Sequence[str]], caption: str) -> Drawing:
    """Distances of the platform from its desired position over time.

    Args:
        name: Name of the figure.
        compared: The runs.
        panels: Labels of the runs in each panel, by its title: errors of different size have scales of their own.
        caption: Caption of the figure.
    """
    by_label = {run.label: run for run in compared.outcomes if run.tracked.lost_at is None}
    colors = {label: k for k, label in enumerate(by_label)}
    drawn = []
    for title, labels in panels.items():
        known = [label for label in labels if label in by_label]
        lines = tuple(Line(label, 1e3 * np.asarray(by_label[label].position_error), colors[label]) for label in known)
        drawn.append(Panel(f"distance from the path: {title}", "mm", lines, 150))
    chart = Chart(0.0, 1 / compared.motion.rate, len(compared.motion), "time", "s", tuple(drawn))
    described = "Distances of the platform from its desired position over time, under several controllers."
    return charted(name, chart, described, caption)
