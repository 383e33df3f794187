"""Charts as files: panels one above the other, placed, scaled and ruled here.

Lengths are in points, from the lower left corner.
"""

import numpy as np

from gough.core.arrays import Array
from gough.core.text import shortened
from gough.report.base.charts import PER_INCH, Band, Chart, Level, Line, Mark, Panel, limits
from gough.report.base.drawing import FAINT, INK, WIDTH, Drawing, color_of
from gough.report.base.scales import Scale
from gough.report.base.sheet import SIZE, Name, Sheet, Window, text_width

_POINTS = 400
"""Points of a curve."""
_LINE = 12.5
"""Height of a line of text."""
PAD, MARK = 3.0, 3.5
"""The least space between things and around them, and the length of marks at numbers."""
_TITLE = 22.0
"""Height of a panel's title with the space above it."""
_NAME = 40
"""Letters of a name in a legend."""


def charted(name: str, chart: Chart, description: str, caption: str) -> Drawing:
    """The chart as a figure: a file, and drawn by the script on a page."""
    return Drawing(name, _drawn(chart), description, caption, lambda curves: chart.live(description, curves))


def _drawn(chart: Chart) -> Sheet:
    """The chart as a figure, its panels one above the other over one abscissa."""
    chart = chart.thinned(_POINTS)
    heights = np.array([panel.height for panel in chart.panels])
    height = 72 * (0.75 + heights.sum() / PER_INCH) + _TITLE * len(heights)
    sheet = Sheet(72 * WIDTH, height)
    named = {mark.label: mark for panel in chart.panels for mark in panel.marks}
    names = [_entry(shortened(label, _NAME), mark) for label, mark in named.items()]
    top = height - 2 * PAD - sheet.legend(names, INK, 2 if len(names) > 3 else len(names), height - PAD)
    bottom = PAD + 2 * _LINE + 2 * MARK
    own = (top - bottom - _TITLE * len(heights)) * heights / heights.sum()
    edges = top - np.cumsum(_TITLE + own)
    ordinates = [
        Scale.linear(limits(panel), (edge, edge + size), per_number=2 * SIZE)
        for panel, edge, size in zip(chart.panels, edges.tolist(), own.tolist(), strict=True)
    ]
    abscissa = _abscissa(chart, left_edge(*ordinates))
    rule(sheet, abscissa, ordinates)
    for panel, ordinate in zip(chart.panels, ordinates, strict=True):
        _draw(sheet, panel, abscissa, ordinate, chart.x)
    frame(sheet, abscissa, ordinates)
    name_below(sheet, abscissa, ", ".join(word for word in (chart.x_label, chart.x_unit) if word))
    return sheet


def left_edge(*ordinates: Scale) -> float:
    """Where panels begin: right of the widest number."""
    return PAD + max((text_width(label) for scale in ordinates for label in scale.labels), default=0.0) + 2 * MARK


def _abscissa(chart: Chart, left: float) -> Scale:
    first, last = float(chart.x[0]), float(chart.x[-1])
    return abscissa_from(left, (first, last) if first < last else (first - 1, first + 1))


def abscissa_from(left: float, ends: tuple[float, float], right: float = 72 * WIDTH - PAD) -> Scale:
    """From the numbers at the left to the right edge, or as far from it as the last number needs."""
    scale = Scale.linear(ends, (left, right), per_number=3 * SIZE)
    beyond = scale(scale.ticks[-1:])[0] + text_width(scale.labels[-1]) / 2 - right if scale.labels else 0.0
    return scale if beyond <= 0 else Scale.linear(ends, (left, right - beyond), per_number=3 * SIZE)


def _entry(label: str, mark: Mark) -> Name:
    color = color_of(mark.color)
    if isinstance(mark, Band) and not mark.as_bars:
        return label, color, "area", 0.25
    return label, color, "dashes" if isinstance(mark, Level) else "line", _width(mark)


def _width(mark: Mark) -> float:
    return mark.width if isinstance(mark, Line) else 0.8 if isinstance(mark, Level) else 1.5


def _draw(sheet: Sheet, panel: Panel, abscissa: Scale, ordinate: Scale, x: Array) -> None:
    """Title, shaded stretches and marks of a panel."""
    title = ", ".join(word for word in (panel.title, panel.unit, ordinate.factor) if word)
    sheet.write(abscissa.points[0], ordinate.points[1] + 0.6 * SIZE, shortened(title, 60), INK)
    window = window_of(abscissa, ordinate)
    across, (low, high) = abscissa(np.array(panel.spans).reshape(-1, 2)), ordinate.points
    shaded = [np.array([[a, low], [a, high], [b, high], [b, low]]) for a, b in across]
    sheet.area(shaded, FAINT, 0.4, window)
    x = abscissa(x)
    for mark in panel.marks:
        color, width = color_of(mark.color), _width(mark)
        match mark:
            case Band(as_bars=True):
                there = np.isfinite(mark.lower) & np.isfinite(mark.upper)
                ends = ordinate(np.stack([mark.lower, mark.upper, np.full(len(x), np.nan)], axis=1)[there])
                sheet.stroke(np.repeat(x[there], 3), ends, color, width, window=window)
            case Band():
                in_pairs = np.array_equal(mark.lower[0::2], mark.lower[1::2], equal_nan=True)  # thinned bounds are
                some = slice(None, None, 2 if in_pairs else 1)
                outlines = _outlines(x[some], ordinate(mark.lower[some]), ordinate(mark.upper[some]))
                sheet.area(outlines, color, 0.25, window)
            case Level():
                at = np.repeat(ordinate(np.array([mark.value, np.nan, -mark.value])), [2, 1, 2])
                ends = np.array([*abscissa.points, np.nan, *abscissa.points])
                sheet.stroke(ends, at, color, width, dashed=True, window=window)
            case Line():
                sheet.stroke(x, ordinate(mark.y), color, width, window=window)


def window_of(abscissa: Scale, ordinate: Scale) -> Window:
    """What lies between the ends of both axes."""
    return abscissa.points[0], min(ordinate.points), abscissa.points[1], max(ordinate.points)


def rule(sheet: Sheet, abscissa: Scale, ordinates: list[Scale]) -> None:
    """Grids, and numbers with the small lines at them, of panels one above the other."""
    (left, right), grid, marks = abscissa.points, [], []
    places = abscissa(abscissa.ticks).tolist()
    for scale in ordinates:
        low, high = scale.points
        heights = scale(scale.ticks).tolist()
        grid += [((left, y), (right, y)) for y in heights] + [((x, low), (x, high)) for x in places]
        marks += [((left, y), (left - MARK, y)) for y in heights] + [((x, low), (x, low - MARK)) for x in places]
        for y, label in zip(heights, scale.labels, strict=True):
            sheet.write(left - 2 * MARK, y, label, INK, across="right", up="middle")
    lowest = min(min(scale.points) for scale in ordinates)
    for x, label in zip(places, abscissa.labels, strict=True):
        sheet.write(x, lowest - 2 * MARK, label, INK, across="center", up="top")
    segments(sheet, grid, FAINT, 0.5)
    segments(sheet, marks, INK, 0.8)


def frame(sheet: Sheet, abscissa: Scale, ordinates: list[Scale]) -> None:
    """The left and the lower edge of each panel."""
    left, right = abscissa.points
    edges = [
        edge
        for low, high in (scale.points for scale in ordinates)
        for edge in (((left, high), (left, low)), ((left, low), (right, low)))
    ]
    segments(sheet, edges, FAINT, 0.8)


def name_below(sheet: Sheet, abscissa: Scale, name: str) -> None:
    """What the abscissa is, at the lower edge."""
    words = ", ".join(word for word in (name, abscissa.factor) if word)
    sheet.write(sum(abscissa.points) / 2, PAD, words, INK, across="center", up="bottom")


def segments(
    sheet: Sheet, strokes: list[tuple[tuple[float, float], tuple[float, float]]], color: str, width: float
) -> None:
    """Straight lines of one look, as one."""
    gap = (np.nan, np.nan)
    if strokes:
        x, y = np.array([place for a, b in strokes for place in (a, b, gap)]).T
        sheet.stroke(x, y, color, width)


def _outlines(x: Array, lower: Array, upper: Array) -> list[Array]:
    """The area between two curves, one polygon for each stretch without a gap."""
    there = np.concatenate([[False], np.isfinite(lower) & np.isfinite(upper), [False]])
    edges = np.flatnonzero(there[1:] != there[:-1])
    forth, back = np.stack([x, upper], axis=1), np.stack([x, lower], axis=1)
    return [
        np.concatenate([forth[a:b], back[a:b][::-1]])
        for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
