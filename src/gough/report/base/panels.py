"""Charts as files: panels one above the other, placed, scaled and ruled here.

Axes of matplotlib would take several times as long: they lay themselves out by drawing themselves, twice.

Lengths are in points, from the lower left corner.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core.arrays import Array
from gough.core.text import shortened
from gough.report.base.charts import PER_INCH, Band, Chart, Level, Line, Mark, Panel, limits
from gough.report.base.drawing import FAINT, INK, WIDTH, Drawing, blank, color_of, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch
    from matplotlib.transforms import TransformedBbox

_POINTS = 400
"""Points of a curve."""
_SIZE, _LINE = 9.5, 12.5
"""Size of text, and height of a line of it."""
_PAD, _MARK = 3.0, 3.5
"""The least space between things and around them, and the length of marks at numbers."""
_TITLE = 22.0
"""Height of a panel's title with the space above it."""
_FAR = 1e4
"""Beyond it, a point is outside any panel wherever it is."""


def charted(name: str, chart: Chart, description: str, caption: str) -> Drawing:
    """The chart as a figure: a file by matplotlib, and drawn by the script on a page."""
    return Drawing(name, _drawn(chart), description, caption, lambda curves: chart.live(description, curves))


@dataclass(frozen=True)
class _Scale:
    """From values to points along one axis, and the numbers on it."""

    values: tuple[float, float]
    points: tuple[float, float]
    ticks: Array
    labels: tuple[str, ...]
    factor: str
    """What the numbers are to be multiplied with, such as 1e6; mostly empty."""

    def __call__(self, values: Array) -> Array:
        (low, high), (first, last) = self.values, self.points
        with np.errstate(over="ignore", invalid="ignore"):
            at = first + (np.where(np.isfinite(values), values, np.nan) - low) * ((last - first) / (high - low))
        return np.asarray(np.clip(at, -_FAR, _FAR))


def _scale(values: tuple[float, float], points: tuple[float, float], *, per_number: float) -> _Scale:
    """Round numbers, as many as have space for `per_number` points each."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter  # noqa: PLC0415 - start-up time

    most = int(np.clip((points[1] - points[0]) / per_number, 1, 9))
    ticks = np.asarray(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(*values))
    slack = 1e-9 * (values[1] - values[0])
    ticks = ticks[(values[0] - slack <= ticks) & (ticks <= values[1] + slack)]
    words = ScalarFormatter(useOffset=False, useMathText=False)
    words.create_dummy_axis()
    assert words.axis is not None
    words.axis.set_view_interval(*values)
    labels = tuple(words.format_ticks(ticks.tolist()))
    return _Scale(values, points, ticks, labels, words.get_offset())


def _drawn(chart: Chart) -> "Figure":
    """The chart as a figure, its panels one above the other over one abscissa."""
    chart = chart.thinned(_POINTS)
    heights = np.array([panel.height for panel in chart.panels])
    height = 72 * (0.75 + heights.sum() / PER_INCH) + _TITLE * len(heights)
    with style():
        sheet = _Sheet(blank(WIDTH, height / 72, layout=None))
        top = height - _PAD - sheet.legend(chart)
        bottom = _PAD + 2 * _LINE + 2 * _MARK
        own = (top - bottom - _TITLE * len(heights)) * heights / heights.sum()
        edges = top - np.cumsum(_TITLE + own)
        ordinates = [
            _scale(limits(panel), (edge, edge + size), per_number=2 * _SIZE)
            for panel, edge, size in zip(chart.panels, edges.tolist(), own.tolist(), strict=True)
        ]
        left = (
            _PAD + max((sheet.width(label) for scale in ordinates for label in scale.labels), default=0.0) + 2 * _MARK
        )
        abscissa = _abscissa(chart, left, sheet)
        for panel, ordinate in zip(chart.panels, ordinates, strict=True):
            sheet.panel(panel, abscissa, ordinate, chart.x)
        sheet.frames(abscissa, ordinates)
        name = ", ".join(word for word in (chart.x_label, chart.x_unit, abscissa.factor) if word)
        sheet.write(sum(abscissa.points) / 2, _PAD, name, "center", "bottom")
    return sheet.figure


def _abscissa(chart: Chart, left: float, sheet: "_Sheet") -> _Scale:
    """From the numbers at the left to the right edge, or as far from it as the last number needs."""
    first, last = float(chart.x[0]), float(chart.x[-1])
    ends = (first, last) if first < last else (first - 1, first + 1)
    right = 72 * WIDTH - _PAD
    scale = _scale(ends, (left, right), per_number=3 * _SIZE)
    beyond = scale(scale.ticks[-1:])[0] + sheet.width(scale.labels[-1]) / 2 - right if scale.labels else 0.0
    return scale if beyond <= 0 else _scale(ends, (left, right - beyond), per_number=3 * _SIZE)


class _Sheet:
    """A figure on which lines, areas and words stand at places in points."""

    def __init__(self, figure: "Figure") -> None:
        from matplotlib.backend_bases import RendererBase  # noqa: PLC0415 - start-up time
        from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - start-up time
        from matplotlib.transforms import Affine2D  # noqa: PLC0415 - start-up time

        self.figure = figure
        self._measure = RendererBase()
        self._font = FontProperties(size=_SIZE)
        self._points = Affine2D().scale(1 / 72) + figure.dpi_scale_trans

    def width(self, text: str) -> float:
        return float(self._measure.get_text_width_height_descent(text, self._font, ismath=False)[0])

    def write(self, x: float, y: float, text: str, across: str, up: str) -> None:
        self.figure.text(x, y, text, transform=self._points, horizontalalignment=across, verticalalignment=up)

    def legend(self, chart: Chart) -> float:
        """Names of all marks at the top; the height that they take."""
        named = {mark.label: mark for panel in chart.panels for mark in panel.marks}
        nothing = np.zeros(0)
        legend = self.figure.legend(
            [self._area([], mark) if _is_area(mark) else self._line(nothing, nothing, mark) for mark in named.values()],
            [shortened(label, 40) for label in named],
            loc="upper center",
            ncols=2 if len(named) > 3 else len(named),
            columnspacing=1.2,
        )
        return float(legend.get_window_extent(self._measure).height) + _SIZE / 2

    def panel(self, panel: Panel, abscissa: _Scale, ordinate: _Scale, x: Array) -> None:
        """Title, shaded stretches and marks of a panel."""
        title = ", ".join(word for word in (panel.title, panel.unit, ordinate.factor) if word)
        self.write(abscissa.points[0], ordinate.points[1] + 0.6 * _SIZE, shortened(title, 60), "left", "baseline")
        within = self._box(abscissa.points, ordinate.points)
        low, high = ordinate.points
        across = abscissa(np.array(panel.spans).reshape(-1, 2))
        shaded = [np.array([[a, low], [a, high], [b, high], [b, low]]) for a, b in across]
        artists: list[Line2D | PathPatch] = [self._area(shaded, None)]
        x = abscissa(x)
        for mark in panel.marks:
            match mark:
                case Band(as_bars=True):
                    there = np.isfinite(mark.lower) & np.isfinite(mark.upper)
                    ends = ordinate(np.stack([mark.lower, mark.upper, np.full(len(x), np.nan)], axis=1)[there])
                    artists.append(self._line(np.repeat(x[there], 3), ends.reshape(-1), mark))
                case Band():
                    in_pairs = np.array_equal(mark.lower[0::2], mark.lower[1::2], equal_nan=True)  # thinned bounds are
                    some = slice(None, None, 2 if in_pairs else 1)
                    outlines = _outlines(x[some], ordinate(mark.lower[some]), ordinate(mark.upper[some]))
                    artists.append(self._area(outlines, mark))
                case Level():
                    at = np.repeat(ordinate(np.array([mark.value, np.nan, -mark.value])), [2, 1, 2])
                    artists.append(self._line(np.array([*abscissa.points, np.nan, *abscissa.points]), at, mark))
                case Line():
                    artists.append(self._line(x, ordinate(mark.y), mark))
        for artist in artists:
            artist.set_clip_box(within)
            self.figure.add_artist(artist)

    def frames(self, abscissa: _Scale, ordinates: list[_Scale]) -> None:
        """Edges, grids, numbers and the small lines at them, of all panels together."""
        (left, right), grid, edges, marks = abscissa.points, [], [], []
        places = abscissa(abscissa.ticks).tolist()
        for scale in ordinates:
            low, high = scale.points
            heights = scale(scale.ticks).tolist()
            edges += [((left, high), (left, low)), ((left, low), (right, low))]
            grid += [((left, y), (right, y)) for y in heights] + [((x, low), (x, high)) for x in places]
            marks += [((left, y), (left - _MARK, y)) for y in heights] + [((x, low), (x, low - _MARK)) for x in places]
            for y, label in zip(heights, scale.labels, strict=True):
                self.write(left - 2 * _MARK, y, label, "right", "center_baseline")
        for x, label in zip(places, abscissa.labels, strict=True):
            self.write(x, ordinates[-1].points[0] - 2 * _MARK, label, "center", "top")
        for strokes, color, width, order in ((grid, FAINT, 0.5, 0.5), (marks, INK, 0.8, 2.0), (edges, FAINT, 0.8, 2.5)):
            gap = (np.nan, np.nan)
            x, y = np.array([place for a, b in strokes for place in (a, b, gap)]).reshape(-1, 2).T
            self.figure.add_artist(self._stroke(x, y, color=color, linewidth=width, zorder=order))

    def _line(self, x: Array, y: Array, mark: Mark) -> "Line2D":
        dashes, width = ("--", 0.8) if isinstance(mark, Level) else ("-", mark.width if isinstance(mark, Line) else 1.5)
        return self._stroke(x, y, color=color_of(mark.color), linewidth=width, linestyle=dashes)

    def _stroke(self, x: Array, y: Array, **look: Any) -> "Line2D":
        from matplotlib.lines import Line2D  # noqa: PLC0415 - start-up time

        return Line2D(x, y, transform=self._points, **look)

    def _area(self, outlines: list[Array], mark: Mark | None) -> "PathPatch":
        """Polygons as one patch; without a mark, of stretches that are shaded."""
        from matplotlib.patches import PathPatch  # noqa: PLC0415 - start-up time
        from matplotlib.path import Path  # noqa: PLC0415 - start-up time

        closed = [Path(np.concatenate([each, each[:1]]), closed=True) for each in outlines]
        path = Path.make_compound_path(*closed) if closed else Path(np.zeros((0, 2)))
        color, alpha = (FAINT, 0.4) if mark is None else (color_of(mark.color), 0.25)
        return PathPatch(path, transform=self._points, color=color, alpha=alpha, linewidth=0)

    def _box(self, across: tuple[float, float], up: tuple[float, float]) -> "TransformedBbox":
        from matplotlib.transforms import Bbox, TransformedBbox  # noqa: PLC0415 - start-up time

        return TransformedBbox(Bbox.from_extents(across[0], up[0], across[1], up[1]), self._points)


def _is_area(mark: Mark) -> bool:
    return isinstance(mark, Band) and not mark.as_bars


def _outlines(x: Array, lower: Array, upper: Array) -> list[Array]:
    """The area between two curves, one polygon for each stretch without a gap."""
    there = np.concatenate([[False], np.isfinite(lower) & np.isfinite(upper), [False]])
    edges = np.flatnonzero(there[1:] != there[:-1])
    forth, back = np.stack([x, upper], axis=1), np.stack([x, lower], axis=1)
    return [
        np.concatenate([forth[a:b], back[a:b][::-1]])
        for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
