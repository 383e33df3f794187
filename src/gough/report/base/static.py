"""Charts drawn by matplotlib: files of their own, and what a page shows without its script."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core.arrays import Array
from gough.report.base.charts import Band, Chart, Color, Level, Line, Mark, Panel
from gough.report.base.drawing import FAINT, INK, QUIET, SERIES, blank, style
from gough.report.base.labels import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

WIDTH = 6.0
"""Inches: wide enough for a screen, narrow enough for a phone."""
POINTS = 400
"""Points of a curve in a file."""
_PER_INCH = 88
"""Pixels of a screen that an inch of a file stands for."""


def color_of(color: Color) -> str:
    """The same color as on the page.

    Examples:
        >>> color_of("ink")
        '#22303c'
    """
    if isinstance(color, int):
        return SERIES[color % len(SERIES)]
    return {"ink": INK, "quiet": QUIET, "faint": FAINT}[color]


def drawn(chart: Chart) -> "Figure":
    """The chart as a figure, its panels one above the other over one abscissa."""
    chart = chart.thinned(POINTS)
    heights = [panel.height for panel in chart.panels]
    with style():
        figure = blank(WIDTH, 0.75 + sum(heights) / _PER_INCH + 0.28 * len(heights))
        rows = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)
        for panel, axes in zip(chart.panels, rows[:, 0], strict=True):
            _draw_panel(axes, panel, chart.x)
        last = rows[-1, 0]
        last.set_xlabel(f"{chart.x_label}, {chart.x_unit}" if chart.x_unit else chart.x_label)
        if chart.n > 1:
            last.set_xlim(chart.x[0], chart.x[-1])
        handles = {label: handle for axes in rows[:, 0] for handle, label in zip(*_legend(axes), strict=True)}
        figure.legend(
            handles.values(),
            [shortened(label, 40) for label in handles],
            loc="outside upper center",
            ncols=2 if len(handles) > 3 else len(handles),
            columnspacing=1.2,
        )
    return figure


def _legend(axes: "Axes") -> tuple[list[Any], list[str]]:
    handles, labels = axes.get_legend_handles_labels()
    return list(handles), [str(label) for label in labels]


def _draw_panel(axes: "Axes", panel: Panel, x: Array) -> None:
    if panel.spans:
        axes.add_patch(_stripes(axes, panel.spans))
    for mark in panel.marks:
        _draw_mark(axes, mark, x)
    axes.set_title(shortened(f"{panel.title}{f', {panel.unit}' if panel.unit else ''}", 60), loc="left")
    axes.set_ylim(*limits(panel))


def limits(panel: Panel) -> tuple[float, float]:
    """The ordinates to show: all curves, and of bounds so much that they do not squeeze what they are bounds of.

    Examples:
        >>> limits(Panel("", "", (Line("", np.array([0.0, 4.0])), Band("", np.array([-50.0]), np.array([5.0])))))
        (-4.54, 5.54)
        >>> limits(Panel("", "", (Line("", np.array([np.nan])), Level("", 1.0))))
        (-1.12, 1.12)
    """
    tight = [_extremes(mark) for mark in panel.marks if not isinstance(mark, Band)]
    wide = [_extremes(mark) for mark in panel.marks if isinstance(mark, Band)]
    low = min((least for least, _ in tight), default=np.inf)
    high = max((most for _, most in tight), default=-np.inf)
    bottom, top = (2 * low - high, 2 * high - low) if low <= high else (-np.inf, np.inf)
    for least, most in wide:
        low, high = min(low, max(least, bottom)), max(high, min(most, top))
    if low > high:
        return -1.0, 1.0
    if panel.symmetric:
        low, high = -max(-low, high), max(-low, high)
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def _extremes(mark: Mark) -> tuple[float, float]:
    """Least and greatest; nothing where there is none."""
    if isinstance(mark, Level):
        return -mark.value, mark.value
    lower, upper = (mark.lower, mark.upper) if isinstance(mark, Band) else (mark.y, mark.y)
    lower, upper = lower[np.isfinite(lower)], upper[np.isfinite(upper)]
    return float(lower.min(initial=np.inf)), float(upper.max(initial=-np.inf))


def _stripes(axes: "Axes", spans: tuple[tuple[float, float], ...]) -> "PathPatch":
    """All shaded stretches as one patch: there may be hundreds."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - start-up time
    from matplotlib.path import Path  # noqa: PLC0415 - start-up time

    corners = [[(a, 0), (a, 1), (b, 1), (b, 0), (a, 0)] for a, b in spans]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(spans)
    path = Path([corner for box in corners for corner in box], codes)
    return PathPatch(path, transform=axes.get_xaxis_transform(), color=FAINT, alpha=0.4, linewidth=0)


def _draw_mark(axes: "Axes", mark: Mark, x: Array) -> None:
    color = color_of(mark.color)
    match mark:
        case Line():
            axes.plot(x, mark.y, color=color, linewidth=mark.width, label=mark.label)
        case Band(as_bars=True):
            there = np.isfinite(mark.lower)
            pairs = np.stack([mark.lower[there], mark.upper[there], np.full(there.sum(), np.nan)], axis=1)
            axes.plot(np.repeat(x[there], 3), pairs.reshape(-1), color=color, linewidth=1.5, label=mark.label)
        case Band():
            in_pairs = np.array_equal(mark.lower[0::2], mark.lower[1::2], equal_nan=True)  # as thinned bounds are
            some = slice(None, None, 2 if in_pairs else 1)
            axes.fill_between(
                x[some], mark.lower[some], mark.upper[some], color=color, alpha=0.25, linewidth=0, label=mark.label
            )
        case Level():
            axes.axhline(mark.value, color=color, linewidth=0.8, linestyle="--", label=mark.label)
            axes.axhline(-mark.value, color=color, linewidth=0.8, linestyle="--")
