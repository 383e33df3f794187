"""Figures 3 to 6 of [DACP06], from our data."""

from typing import Any

import numpy as np

from gough.closure.certified_leg import LegProblem
from gough.core.arrays import Array
from gough.core.rotations import log
from gough.methods import Fixpoint
from gough.methods.nonlinear.interval_newton import IntervalNewton
from gough.methods.nonlinear.lifted import LiftedHull
from gough.papers.gough_platform.printed import POSE_SIGMA, READING_SIGMA
from gough.papers.gough_platform.rebuilt import RebuiltPlatform
from gough.region import Box
from gough.report import Drawing
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.drawing import INK, QUIET, SERIES, WIDTH, blank, style
from gough.report.base.panels import charted

Axes = Any
"""Axes of matplotlib, which only reports import."""

_SLICE = (2, 6)
"""Figure 6 shows a_z and l of a leg; the paper does not say what its axes are."""
_GRID = 120


def reading_errors(sound: RebuiltPlatform) -> Drawing:
    """Figure 3: errors of the legs' readings about the mean of their configuration."""
    errors = 1e3 * sound.deviations()[1][:: sound.campaign.images]
    names = [f"leg {i + 1}" for i in range(errors.shape[1])]
    caption = (
        "Figure 3. Errors of the leg lengths about the mean of their configuration, mm; the curve has the standard "
        "deviation that the paper prints."
    )
    return _histograms("figure-3-readings", errors, np.array(READING_SIGMA, dtype=np.float64), names, caption)


def pose_errors(sound: RebuiltPlatform) -> Drawing:
    """Figure 4: errors of the six degrees of freedom of every image about the mean of its configuration."""
    poses, label = sound.measured.poses, sound.measured.poses.configuration
    assert poses.rotation is not None
    assert sound.poses.rotation is not None
    turned = log(poses.rotation @ np.swapaxes(sound.poses.rotation[label], 1, 2))
    errors = np.hstack([np.degrees(turned), 1e3 * sound.deviations()[0]])
    sigma = np.array([float(value) if name in "αβγ" else 1e3 * float(value) for name, value in POSE_SIGMA])
    names = [f"{name}, {'°' if name in 'αβγ' else 'mm'}" for name, _ in POSE_SIGMA]
    caption = (
        "Figure 4. Errors of the six degrees of freedom of all images about the mean of their configuration; the "
        "curves have the standard deviations that the paper prints. Angles are components of a rotation vector."
    )
    return _histograms("figure-4-poses", errors, sigma, names, caption)


def _histograms(name: str, errors: Array, sigma: Array, names: list[str], caption: str) -> Drawing:
    with style():
        figure = blank(WIDTH, 3.6)
        for i, axes in enumerate(figure.subplots(2, 3).flat):
            _histogram(axes, errors[:, i], float(sigma[i]))
            axes.set_title(names[i], loc="left")
    return Drawing(name, figure, f"Histograms of errors: {', '.join(names)}.", caption)


def _histogram(axes: Axes, errors: Array, sigma: float) -> None:
    edges = (sigma * np.linspace(-4, 4, 41)).tolist()
    axes.hist(errors, edges, density=True, color=SERIES[0], alpha=0.55)
    x = sigma * np.linspace(-4, 4, 161)
    axes.plot(x, np.exp(-0.5 * (x / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi)), color=INK, linewidth=1.0)
    axes.set_yticks([])


def improvements(sound: RebuiltPlatform, loose: RebuiltPlatform) -> Drawing:
    """Figure 5: by how much predicted poses get better, sorted, without and with play in the legs."""
    panels = []
    for what in ("position", "orientation"):
        lines = []
        for label, case, shade in (("sound", sound, 0), ("with play", loose, 1)):
            before = getattr(case.check, f"{what}_before")
            after = getattr(case.by_leg_check["right"], f"{what}_after")
            plain = getattr(case.plain_check, f"{what}_after")
            lines.append(Line(f"x_cσ, {label}", np.sort(100 * (1 - after / before)), shade))
            lines.append(Line(f"x_c, {label}", np.sort(100 * (1 - plain / before)), shade + 2))
        panels.append(Panel(f"improvement of the {what}", "%", tuple(lines), 160))
    n = len(sound.check.position_after)
    chart = Chart(1.0, 1.0, n, "validation poses, sorted", "", tuple(panels))
    description = f"Improvement of {n} predicted poses in percent, in ascending order."
    caption = (
        "Figure 5. 100 · (error before − error after) / error before of every validation pose, each curve sorted by "
        "itself; x_cσ is that of each leg by itself. Below zero the pose is predicted worse than by the blueprint."
    )
    name = "figure-5-improvement"
    return charted(name, chart, description, caption)


def solution_set(sound: RebuiltPlatform) -> Drawing:
    """Figure 6: a slice of the set of consistent legs, with its enclosures by lines and by a box."""
    problem = sound.first_leg
    center = sound.measured.truth[:7]
    free = np.isin(np.arange(7), _SLICE)
    flat = LegProblem(problem.data, Box(center - 5e-3 * free, center + 5e-3 * free), problem.chain)
    box = LiftedHull().estimate(flat).region.hull()
    step: Any = Fixpoint(IntervalNewton(krawczyk=True))  # type: ignore[arg-type]  # contracts what has linearizations
    newton = step.estimate(flat).region.hull()
    lines = _polygon(flat, newton)
    middle, reach = 1e3 * box.center[free], 0.75e3 * box.width[free]
    with style():
        figure = blank(WIDTH, 3.9)
        axes = figure.subplots()
        x, y = (1e3 * np.linspace(*ends, _GRID) for ends in _view(middle, reach))
        X, Y = np.meshgrid(x, y)
        inside = _misfit(flat, center, X / 1e3, Y / 1e3)
        axes.contourf(X, Y, inside, levels=[-1.0, 0.0], colors=[SERIES[0]], alpha=0.45)
        _outline(axes, 1e3 * lines, SERIES[1], "linear enclosure, one Newton step (12)")
        _outline(axes, 1e3 * _corners(box), SERIES[2], "box enclosure, proven")
        axes.plot(*(1e3 * center[free]), "o", color=QUIET, markersize=4, label="truth")
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        axes.set_xlabel("a_z of leg 1, mm")
        axes.set_ylabel("l of leg 1, mm")
        axes.fill([], [], color=SERIES[0], alpha=0.45, label="consistent")
        figure.legend(loc="outside upper center", ncols=2)
    description = "The consistent values of a_z and l of leg 1 with the other five fixed, and two enclosures."
    caption = (
        "Figure 6. The set of consistent legs in a plane: a_z and l of leg 1 with the other parameters at their true "
        "values; the lines that interval Newton draws around it, and the box that is proven to hold it."
    )
    return Drawing("figure-6-solution-set", figure, description, caption)


def _view(middle: Array, reach: Array) -> list[tuple[float, float]]:
    return [(float((m - r) / 1e3), float((m + r) / 1e3)) for m, r in zip(middle, reach, strict=True)]


def _corners(box: Box) -> Array:
    (a, b), (c, d) = ((box.lower[i], box.upper[i]) for i in _SLICE)
    return np.array([[a, c], [b, c], [b, d], [a, d]])


def _outline(axes: Axes, polygon: Array, color: str, label: str) -> None:
    closed = np.vstack([polygon, polygon[:1]])
    axes.plot(closed[:, 0], closed[:, 1], color=color, linewidth=1.2, label=label)


def _polygon(problem: LegProblem, box: Box) -> Array:
    """The lines of [DACP06, eq. (12)] around the slice, over a box that Newton has already contracted."""
    center = box.center
    f, J = problem.linearization(center, box)
    spread = f.rad + J.rad @ (box.width / 2)
    polygon, rows = _corners(box) - center[list(_SLICE)], J.mid[:, _SLICE]
    for row, value, limit in zip(rows, f.mid, spread, strict=True):
        for sign in (1.0, -1.0):  # sign (value + row h) ≤ limit
            polygon = _below(polygon, sign * row, limit - sign * value)
    return np.asarray(polygon + center[list(_SLICE)])


def _below(polygon: Array, normal: Array, limit: float) -> Array:
    """The part of a convex polygon where normal · x ≤ limit."""
    room = limit - polygon @ normal
    kept: list[Array] = []
    for i, (a, b) in enumerate(zip(room, np.roll(room, -1), strict=True)):
        if a >= 0:
            kept.append(polygon[i])
        if (a < 0) != (b < 0):
            kept.append(polygon[i] + a / (a - b) * (polygon[(i + 1) % len(polygon)] - polygon[i]))
    return np.array(kept).reshape(-1, 2)


def _misfit(problem: LegProblem, center: Array, first: Array, second: Array) -> Array:
    """By how much the worst pose misses at points of a slice, m: to first order in the tolerances, for a picture."""
    data, R = problem.data, problem.rotation.mid
    x = np.repeat(center[None], first.size, axis=0)
    x[:, _SLICE[0]], x[:, _SLICE[1]] = first.reshape(-1), second.reshape(-1)
    worst = np.full(len(x), -np.inf)
    for k in range(len(data)):
        v, p = x[:, 3:6] @ R[k].T, data.position[k] - x[:, :3]
        d = v + p
        length = np.linalg.norm(d, axis=1)
        slack = abs(d) @ data.position_tolerance[k] + abs(np.cross(v, p)) @ data.rotation_tolerance[k]
        miss = abs(length - x[:, 6] - data.reading[k]) - slack / length - data.reading_tolerance[k]
        worst = np.maximum(worst, miss)
    return worst.reshape(first.shape)
