"""Figures of a calibration: the robot in its measured poses, joints that moved, residuals, predicted poses."""

from typing import TYPE_CHECKING

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import log
from gough.core.text import poses_counted_from
from gough.geometry import Calibrated, CalibratedPrinter, HeldOut
from gough.geometry.gauges import regauged
from gough.report.base.charts import Chart, Level, Line, Panel, charted
from gough.report.base.drawing import FAINT, INK, QUIET, SERIES, WIDTH, Drawing, blank, style
from gough.report.base.robot_view import Postures, robot_figure
from gough.report.calibration.tables import joint_changes
from gough.robots import GoughPlatform
from gough.robots.kinematics import PlatformPoses, all_derivatives, evaluate_chains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLOCK = "pose"
"""Figures over the poses point together."""
_95 = 1.959963984540054


def seen_poses(found: Calibrated) -> PlatformPoses:
    """The measured poses, multiplied by the scale."""
    poses = found.poses
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    return PlatformPoses(poses.position * found.scale, rotation)


def expected_closure(found: Calibrated) -> Array | None:
    """Standard deviation of each chain's closure error (chains) by the stated noise, m; None where none is stated."""
    poses, model = found.poses, found.model
    C, s = poses.covariance, poses.reading_sigma
    if C is None and s is None:
        return None
    kernel = all_derivatives(model.chain_kernel("length"))
    J = evaluate_chains(kernel, model.columns, found.parameters, seen_poses(found), poses.readings)
    variance = np.zeros(poses.readings.shape)
    if C is not None:
        by_pose = J["by_pose"][..., : C.shape[-1]]
        variance += np.einsum("nci,...ij,ncj->nc", by_pose, C, by_pose) if C.ndim == 2 else _each(by_pose, C)
    if s is not None:
        variance += (J["by_reading"] * s) ** 2
    return np.asarray(np.sqrt(variance.mean(axis=0)))


def _each(by_pose: Array, C: Array) -> Array:
    return np.asarray(np.einsum("nci,nij,ncj->nc", by_pose, C, by_pose))


def closure_figure(found: Calibrated) -> Drawing:
    """Closure error of every chain at every pose, a panel each, with the 95 % limits of the stated noise."""
    poses, model = found.poses, found.model
    left = 1e3 * found.residuals
    sigma = expected_closure(found)
    panels = []
    for k, name in enumerate(model.chains):
        marks: list[Line | Level] = [Line(name, left[:, k], k)]
        if sigma is not None:
            marks.append(Level("95 % limits of the stated noise", 1e3 * _95 * float(sigma[k])))
        panels.append(Panel(name, "mm", tuple(marks), 120, symmetric=True, axis=k == len(model.chains) - 1))
    chart = Chart(0.0, 1.0, len(poses), "pose", "", tuple(panels), clock=CLOCK)
    description = f"Closure errors of {', '.join(model.chains)} at each of {len(poses)} poses."
    caption = (
        "Closure error of each chain after calibration. If the model is adequate, the errors show no pattern and 95 % "
        f"of them lie between the dashed lines. Poses are {poses_counted_from(poses.places)}."
    )
    return charted("closure", chart, description, caption)


def validation_figure(check: HeldOut) -> Drawing:
    """Errors of held-out poses before and after, sorted [DACP06, Figure 5]."""
    panels = []
    for what, unit, factor, before, after in (
        ("position error", "mm", 1e3, check.position_before, check.position_after),
        ("orientation error", "°", 180 / np.pi, check.orientation_before, check.orientation_after),
    ):
        if what == "orientation error" and not after.any():
            continue
        lines = [Line("after", np.sort(factor * after), 0)]
        if before is not None:
            panels.append(Panel(what, unit, (*lines, Line("before", np.sort(factor * before), "quiet")), 130))
        if before is None or before.max() > 4 * after.max():  # too small to be read on the same scale
            panels.append(Panel(f"{what} after", unit, tuple(lines), 110))
    n = len(check.position_after)
    chart = Chart(1.0, 1.0, n, "poses, sorted by error", "", tuple(panels))
    description = f"Errors of {n} predicted poses before and after calibration, in ascending order."
    caption = "Distance between measured poses and those predicted from the readings; each curve is sorted by itself."
    return charted("validation", chart, description, caption)


def posture_figure(found: Calibrated) -> Drawing | None:
    """A Gough platform in its measured poses, to turn and to play; None for robots that have no drawing yet."""
    model = found.model
    if not isinstance(model, GoughPlatform):
        return None
    now = regauged(model, found.parameters)
    rows, seen = model.rows(now.parameters), seen_poses(found)
    R = now.base.R @ seen.rotation @ now.platform.R.T
    p = now.base.of(seen.position) - (R @ now.platform.t)
    B = np.einsum("nij,lj->nli", R, rows[:, 3:6]) + p[:, None]
    A = np.broadcast_to(rows[:, :3], B.shape)
    around = np.argsort(np.arctan2(*(rows[:, :2] - rows[:, :2].mean(axis=0)).T[::-1]))
    above = np.argsort(np.arctan2(*(rows[:, 3:5] - rows[:, 3:5].mean(axis=0)).T[::-1]))
    pairs = ((A[:, around], np.roll(A[:, around], -1, axis=1)), (A, B), (B[:, above], np.roll(B[:, above], -1, axis=1)))
    segments = np.concatenate([np.stack(pair, axis=2) for pair in pairs], axis=1)
    n = len(rows)
    kinds = ("base",) * n + ("rod",) * n + ("platform",) * n
    pose = np.hstack([1e3 * p, np.degrees(log(R))])
    names, units = ("x", "y", "z", "rx", "ry", "rz"), ("mm",) * 3 + ("°",) * 3
    postures = Postures(0.0, 1.0, kinds, segments, pose, names, units, counted="pose")
    return robot_figure(model.name, postures, CLOCK)


def joint_figure(found: Calibrated) -> Drawing:
    """Joints of a Gough platform against its blueprint, seen from above; arrows are magnified."""
    joints, moved, half = joint_changes(found)
    longest = float(np.linalg.norm(moved[..., :2], axis=2).max()) or 1.0
    reach = float(np.linalg.norm(joints[..., :2] - joints[..., :2].mean(axis=1, keepdims=True), axis=2).max())
    times = _round_down(0.25 * reach / longest)
    with style():
        figure = blank(WIDTH, 5.4)
        axes = figure.subplots()
        for k, (name, color) in enumerate((("base", 0), ("platform", 1))):
            _draw_joints(axes, 1e3 * joints[k], 1e3 * moved[k], None if half is None else 1e3 * half[k], times, color)
            axes.plot([], [], color=SERIES[color], label=f"joints of the {name}")
        axes.set_aspect("equal")
        axes.set(xlim=(-1.42e3 * reach, 1.42e3 * reach), ylim=(-1.35e3 * reach, 1.35e3 * reach))
        axes.set_title("from above, mm", loc="left")
        figure.legend(loc="outside upper center", ncols=2)
    description = f"Joints of base and platform from above, with arrows from the blueprint, {times:g} times too long."
    sizes = ", and so are the 95 % ellipses at their tips" if half is not None else ""
    caption = (
        "From the blueprint's joints to the calibrated ones, leg by leg, seen from above. Arrows are magnified "
        f"{times:g} times{sizes}. Numbers: height of a joint above its place in the blueprint, in mm."
    )
    return Drawing("joints", figure, description, caption)


def _draw_joints(  # noqa: PLR0917 - one picture
    axes: "Axes", joints: Array, moved: Array, half: Array | None, times: float, color: int
) -> None:
    from matplotlib.patches import Ellipse  # noqa: PLC0415 - start-up time

    angle, size = np.arctan2(joints[:, 1], joints[:, 0]), float(np.linalg.norm(joints[:, :2], axis=1).max())
    around = joints[np.argsort(angle)]
    axes.fill(around[:, 0], around[:, 1], facecolor="none", edgecolor=FAINT, linewidth=1.0)
    apart = (angle - angle[:, None] + np.pi) % (2 * np.pi) - np.pi  # of each other joint, seen from this one
    nearest = np.take_along_axis(apart, np.argsort(abs(apart), axis=1)[:, 1:2], axis=1)[:, 0]
    written = angle - np.sign(nearest) * 0.12  # away from the neighbor
    for leg, (place, way) in enumerate(zip(joints, moved, strict=True)):
        tip = place[:2] + times * way[:2]
        arrow = {"arrowstyle": "-|>", "color": SERIES[color], "shrinkA": 0, "shrinkB": 0}
        axes.plot(*place[:2], "o", color=QUIET, markersize=3.5)
        axes.annotate("", tip, place[:2], arrowprops=arrow)
        if half is not None:
            width, height = 2 * times * half[leg, :2]
            axes.add_patch(Ellipse((tip[0], tip[1]), width, height, facecolor="none", edgecolor=INK, linewidth=0.8))
        x, y = 1.2 * size * np.cos(written[leg]), 1.2 * size * np.sin(written[leg])
        axes.text(x, y, f"{leg + 1}: {way[2]:+.2f}".replace("-", "−"), ha="center", va="center", fontsize=8)


def _round_down(value: float) -> float:
    """1, 2 or 5 times a power of ten, at most `value`.

    Examples:
        >>> _round_down(37.0), _round_down(0.7)
        (20.0, 0.5)
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(m for m in (1, 2, 5) if m * power <= value))


def probe_figure(found: CalibratedPrinter) -> Drawing:
    """Residual of each probed point, as configured and as found."""
    pairs = (("as found", found.residuals_after, 0), ("as configured", found.residuals_before, 1))
    panels = tuple(Panel(what, "mm", (Line(what, 1e3 * r, k),), 120, symmetric=True) for what, r, k in pairs)
    chart = Chart(0.0, 1.0, len(found.residuals_after), "probed point", "", panels)
    description = "Residual of each probed point, with the geometry as found and as configured."
    caption = "Height (or distance) that the geometry predicts, minus the measured one."
    return charted("residuals", chart, description, caption)


def bed_figure(found: CalibratedPrinter) -> Drawing:
    """The bed from above: towers, probed points, and the residual of each height."""
    n = len(found.probes.heights)
    readings = found.probes.height_readings
    places = 1e3 * found.model.forward(found.parameters, readings).position[:, :2]
    left = 1e3 * found.residuals_after[:n]
    _, (radius,), angle, _ = np.split(found.parameters, [3, 4, 7])
    towers = 1e3 * radius * np.column_stack([np.cos(angle), np.sin(angle)])
    size = max(float(abs(left).max()), 1e-9)
    with style():
        figure = blank(WIDTH, 4.0)
        axes = figure.subplots()
        axes.fill(towers[:, 0], towers[:, 1], facecolor="none", edgecolor=FAINT, linewidth=1.0)
        for name, (x, y) in zip("ABC", towers, strict=True):
            axes.plot(x, y, "s", color=QUIET, markersize=7)
            axes.annotate(f"tower {name}", (x, y), (7, 5), textcoords="offset points", fontsize=8)
        for (x, y), value in zip(places, left, strict=True):
            color = SERIES[0] if value >= 0 else SERIES[1]
            axes.plot(x, y, "o", color=color, markersize=4 + 14 * abs(value) / size, alpha=0.7)
            text = f"{value:+.3f}".replace("-", "−")
            axes.annotate(text, (x, y), (0, 11), textcoords="offset points", ha="center", fontsize=8)
        axes.set_aspect("equal")
        axes.margins(0.12)
        axes.set_title("bed and towers from above, mm", loc="left")
    description = f"The bed from above: {n} probed points, each with the residual of its height, and the towers."
    caption = "Residual of each probed height, in mm: blue where the geometry predicts too much, orange too little."
    return Drawing("bed", figure, description, caption)
