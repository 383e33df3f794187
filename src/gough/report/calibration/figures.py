"""Figures of a calibration: measured poses, joints that moved, residuals, predicted poses, maps of the workspace."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import log
from gough.core.text import number, poses_counted_from, signed
from gough.geometry import Calibrated, CalibratedPrinter, HeldOut
from gough.geometry.gauges import regauged
from gough.geometry.workspace_map import WorkspaceMap, workspace_map
from gough.region import ConfidenceEllipsoid
from gough.report.base.charts import Chart, Level, Line, Panel
from gough.report.base.drawing import FAINT, INK, QUIET, SERIES, WIDTH, Drawing, blank, style
from gough.report.base.panels import charted
from gough.report.base.robot_view import Postures, robot_figure
from gough.report.calibration.tables import joint_changes
from gough.robots import GoughPlatform
from gough.robots.kinematics import PlatformPoses, all_derivatives, evaluate_chains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = "workspace-map.json"
_LEVELS = 7
_SLICE, _VOLUME = 31, 9
"""Positions along each axis."""
_CURVE, _POSTURES, _DOTS = 1500, 300, 1000
"""Poses that are drawn: of curves, of the robot, and of maps."""


def slices(calibrated: Calibrated) -> tuple[WorkspaceMap, ...]:
    """The horizontal slice through the middle of the measured poses, and an upright one where the robot moves in z.

    None where the calibration states no covariance, or the middle of its poses is nowhere near them.
    """
    if not isinstance(calibrated.estimate.region, ConfidenceEllipsoid):
        return ()
    planes = ("xy", "xz") if 2 in calibrated.model.freedoms else ("xy",)
    maps = tuple(workspace_map(calibrated, plane, resolution=_SLICE) for plane in planes)
    return tuple(each for each in maps if np.isfinite(each.position).sum() > 3)


def map_figure(calibrated: Calibrated, maps: tuple[WorkspaceMap, ...]) -> Drawing:
    """Each slice as a grid of squares, darker where poses are predicted worse, with the measured poses on it."""
    kinds = ["position", *(["orientation"] if maps[0].orientation is not None else [])]
    with style():
        figure = blank(WIDTH, 0.3 + 2.3 * len(kinds), layout="compressed")
        rows = figure.subplots(len(kinds), len(maps), squeeze=False)
        for kind, row in zip(kinds, rows, strict=True):
            grids = [_values(each, kind) for each in maps]
            edges = _edges(grids)
            for k, (each, values, axes) in enumerate(zip(maps, grids, row, strict=True)):
                _draw(axes, each, values, edges)
                axes.plot(*_seen(calibrated, each), ".", color=QUIET, markersize=2.5)
                axes.set_title(f"σ of {kind}, {'mm' if kind == 'position' else '°'}" if k == 0 else " ", loc="left")
            _key(row[-1], edges)
    worst, where = max((each.worst for each in maps), key=lambda pair: pair[0])
    place = ", ".join(f"{name} = {signed(f'{1e3 * value:.0f}')} mm" for name, value in where.items())
    description = f"Standard deviation of predicted poses over {len(maps)} slices of the workspace; worst near {place}."
    caption = (
        "Standard deviation of poses predicted from exact readings, by the covariance of the parameters: slices "
        "through the middle of the measured poses (dots), in their mean orientation. Worst on them: "
        f"{number(1e3 * worst, digits=2)} mm at {place}. Empty where readings would leave the range that was measured."
    )
    step = _thinning(len(calibrated.poses), _DOTS)
    if step > 1:
        caption += f" Every {step}th pose is drawn, and those at the ends of the axes."
    return Drawing("map", figure, description, caption)


def map_data(calibrated: Calibrated, maps: tuple[WorkspaceMap, ...]) -> bytes:
    """The slices, and a coarse volume, as JSON in SI units."""
    axes = "".join(name for i, name in enumerate("xyz") if i in calibrated.model.freedoms)
    volume = workspace_map(calibrated, axes, resolution=_VOLUME)
    data = {
        "about": "Standard deviations of poses predicted from exact readings, by the covariance of the parameters; "
        "null where readings would leave the range that was measured.",
        "units": {"position_sigma": "m", "orientation_sigma": "rad", "axes": "m"},
        "slices": [each.to_dict() for each in maps],
        "volume": volume.to_dict(),
    }
    return (json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _values(workspace: WorkspaceMap, kind: str) -> Array:
    if kind == "position":
        return 1e3 * workspace.position
    assert workspace.orientation is not None
    return np.degrees(workspace.orientation)


def _edges(grids: list[Array]) -> Array:
    """Edges of the levels: from the least to the greatest value, in steps of equal ratio where that is large."""
    known = np.concatenate([values[np.isfinite(values)] for values in grids])
    low, high = float(known.min()), float(known.max())
    high = high if high > low * (1 + 1e-9) else low * (1 + 1e-9) + 1e-300
    edges = np.geomspace(low, high, _LEVELS + 1) if high > 4 * low > 0 else np.linspace(low, high, _LEVELS + 1)
    return np.asarray(edges)


def _strength(level: int) -> float:
    """Opacity of a level."""
    return 0.12 + 0.83 * level / (_LEVELS - 1)


def _draw(axes: "Axes", workspace: WorkspaceMap, values: Array, edges: Array) -> None:
    """All squares of a level as one patch: so a page stays small, and takes its colors from the reader's scheme."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - start-up time
    from matplotlib.path import Path  # noqa: PLC0415 - start-up time

    x, y = (1e3 * each for each in workspace.grid)
    dx, dy = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    level = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _LEVELS - 1)
    for k in range(_LEVELS):
        places = np.argwhere((level == k) & np.isfinite(values))
        if len(places) == 0:
            continue
        corners = np.array([(-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy), (-dx, -dy)])
        squares = np.concatenate([corners + np.array([x[i], y[j]]) for i, j in places])
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(places)
        axes.add_patch(PathPatch(Path(squares, codes), color=SERIES[0], alpha=_strength(k), linewidth=0))
    axes.set(xlim=(x[0] - dx, x[-1] + dx), ylim=(y[0] - dy, y[-1] + dy))
    axes.set_aspect("equal")
    axes.set(xlabel=f"{workspace.axes[0]}, mm", ylabel=f"{workspace.axes[1]}, mm")


def _key(axes: "Axes", edges: Array) -> None:
    """Legend of the colors, beside the last slice."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - start-up time

    def text(value: float) -> str:
        return number(float(value), digits=3)

    patches = [
        Patch(
            facecolor=SERIES[0], alpha=_strength(k), edgecolor=FAINT, label=f"{text(edges[k])} – {text(edges[k + 1])}"
        )
        for k in range(_LEVELS)
    ]
    axes.legend(handles=patches[::-1], loc="center left", bbox_to_anchor=(1.02, 0.5), handlelength=1.2, fontsize=8)


def _seen(calibrated: Calibrated, workspace: WorkspaceMap) -> list[Array]:
    places = ["xyz".index(name) for name in workspace.axes]
    positions = calibrated.poses.position
    rows = np.arange(0, len(positions), _thinning(len(positions), _DOTS))
    rows = np.union1d(rows, np.concatenate([positions.argmin(axis=0), positions.argmax(axis=0)]))
    return [1e3 * calibrated.scale * positions[rows, i] for i in places]


def _thinning(n: int, most: int) -> int:
    """Of how many poses one is drawn, so that at most about `most` are.

    Examples:
        >>> _thinning(1500, 1500), _thinning(100000, 1500)
        (1, 67)
    """
    return max(1, -(-n // most))


if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLOCK = "pose"
"""Figures over the poses point together."""
_95 = 1.959963984540054


def seen_poses(calibrated: Calibrated) -> PlatformPoses:
    """The measured poses, multiplied by the scale."""
    poses = calibrated.poses
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    return PlatformPoses(poses.position * calibrated.scale, rotation)


def expected_closure(calibrated: Calibrated) -> Array | None:
    """Standard deviation of each chain's closure error (chains) by the stated noise, m; None where none is stated."""
    poses, model = calibrated.poses, calibrated.model
    C, s = poses.covariance, poses.reading_sigma
    if C is None and s is None:
        return None
    kernel = all_derivatives(model.chain_kernel("length"))
    J = evaluate_chains(kernel, model.columns, calibrated.parameters, seen_poses(calibrated), poses.readings)
    variance = np.zeros(poses.readings.shape)
    if C is not None:
        by_pose = J["by_pose"][..., : C.shape[-1]]
        variance += np.einsum("nci,...ij,ncj->nc", by_pose, C, by_pose) if C.ndim == 2 else _each(by_pose, C)
    if s is not None:
        variance += (J["by_reading"] * s) ** 2
    return np.asarray(np.sqrt(variance.mean(axis=0)))


def _each(by_pose: Array, C: Array) -> Array:
    return np.asarray(np.einsum("nci,nij,ncj->nc", by_pose, C, by_pose))


def closure_figure(calibrated: Calibrated) -> Drawing:
    """Closure error of every chain at every pose, a panel each, with the 95 % limits of the stated noise."""
    poses, model = calibrated.poses, calibrated.model
    left = 1e3 * calibrated.residuals
    sigma = expected_closure(calibrated)
    panels = []
    step = _thinning(len(poses), _CURVE)
    for k, name in enumerate(model.chains):
        line = Line(name, left[:, k], k)
        marks: list[Line | Level] = [line if step == 1 else line.thinned(step)]
        if sigma is not None:
            marks.append(Level("95 % limits of the stated noise", 1e3 * _95 * float(sigma[k])))
        panels.append(Panel(name, "mm", tuple(marks), 120, symmetric=True, axis=k == len(model.chains) - 1))
    shown = len(panels[0].marks[0].y)  # type: ignore[union-attr]
    chart = Chart(0.0, float(step), shown, "pose", "", tuple(panels), clock=CLOCK if step == 1 else "")
    description = f"Closure errors of {', '.join(model.chains)} at each of {len(poses)} poses."
    caption = (
        "Closure error of each chain after calibration. If the model is adequate, the errors show no pattern and 95 % "
        f"of them lie between the dashed lines. Poses are {poses_counted_from(poses.places)}."
    )
    if step > 1:
        caption += f" Of every {2 * step} poses, the least and the greatest error of each chain are drawn."
    return charted("closure", chart, description, caption)


def validation_figure(check: HeldOut) -> Drawing:
    """Errors of held-out poses before and after, sorted [DACP06, Figure 5]."""
    panels = []
    n = len(check.position_after)
    step = _thinning(n, _CURVE)
    rows = np.arange(n - 1, -1, -step)[::-1]  # with the greatest error
    for what, unit, factor, before, after in (
        ("position error", "mm", 1e3, check.position_before, check.position_after),
        ("orientation error", "°", 180 / np.pi, check.orientation_before, check.orientation_after),
    ):
        if what == "orientation error" and not after.any():
            continue
        lines = [Line("after", np.sort(factor * after)[rows], 0)]
        if before is not None:
            panels.append(Panel(what, unit, (*lines, Line("before", np.sort(factor * before)[rows], "quiet")), 130))
        if before is None or before.max() > 4 * after.max():  # too small to be read on the same scale
            panels.append(Panel(f"{what} after", unit, tuple(lines), 110))
    chart = Chart(1.0 + float(rows[0]), float(step), len(rows), "poses, sorted by error", "", tuple(panels))
    description = f"Errors of {n} predicted poses before and after calibration, in ascending order."
    caption = "Distance between measured poses and those predicted from the readings; each curve is sorted by itself."
    if step > 1:
        caption += f" Every {step}th pose is drawn, and the one with the greatest error."
    return charted("validation", chart, description, caption)


def posture_figure(calibrated: Calibrated) -> Drawing | None:
    """A Gough platform in its measured poses, to turn and to play; None for robots that have no drawing yet."""
    model = calibrated.model
    if not isinstance(model, GoughPlatform):
        return None
    now = regauged(model, calibrated.parameters)
    rows, seen = model.rows(now.parameters), seen_poses(calibrated)
    step = _thinning(len(seen.position), _POSTURES)
    seen = PlatformPoses(seen.position[::step], seen.rotation[::step])
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
    drawing = robot_figure(model.name, postures, CLOCK if step == 1 else "")
    return drawing if step == 1 else replace(drawing, caption=f"{drawing.caption} Every {step}th pose is drawn.")


def joint_figure(calibrated: Calibrated) -> Drawing:
    """Joints of a Gough platform against its blueprint, seen from above; arrows are magnified."""
    joints, moved, half = joint_changes(calibrated)
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


def probe_figure(calibrated: CalibratedPrinter) -> Drawing:
    """Residual of each probed point, as configured and as found."""
    pairs = (("as found", calibrated.residuals_after, 0), ("as configured", calibrated.residuals_before, 1))
    panels = tuple(Panel(what, "mm", (Line(what, 1e3 * r, k),), 120, symmetric=True) for what, r, k in pairs)
    chart = Chart(0.0, 1.0, len(calibrated.residuals_after), "probed point", "", panels)
    description = "Residual of each probed point, with the geometry as found and as configured."
    caption = "Height (or distance) that the geometry predicts, minus the measured one."
    return charted("residuals", chart, description, caption)


def bed_figure(calibrated: CalibratedPrinter) -> Drawing:
    """The bed from above: towers, probed points, and the residual of each height."""
    n = len(calibrated.probes.heights)
    readings = calibrated.probes.height_readings
    places = 1e3 * calibrated.model.forward(calibrated.parameters, readings).position[:, :2]
    left = 1e3 * calibrated.residuals_after[:n]
    _, (radius,), angle, _ = np.split(calibrated.parameters, [3, 4, 7])
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
