"""Curves over a common abscissa, as values: what a page's script draws, and what a file shows."""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from gough.core.arrays import Array
from gough.report.base.curves import Curves, as_shown
from gough.report.base.drawing import Color
from gough.report.base.scales import with_margin

PER_INCH = 88
"""Pixels of a screen that an inch of a file stands for."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve; NaN leaves a gap."""

    label: str
    y: Array
    color: Color = 0
    width: float = 1.3

    def live(self, curves: Curves) -> dict[str, Any]:
        look = {"kind": "line", "label": self.label, "color": self.color, "width": self.width}
        return {**look, "y": curves.add(self.y)}

    def thinned(self, factor: int) -> "Line":
        return replace(self, y=least_and_greatest(self.y, factor))


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two curves, or bars from one to the other where only few samples have them."""

    label: str
    below: Array
    """From `around` down to the lower curve: negative where it is below."""
    above: Array
    around: Array | None = None
    """A curve that both are counted from; None means zero."""
    color: Color = 0
    as_bars: bool = False

    @property
    def lower(self) -> Array:
        return self.below if self.around is None else self.below + self.around

    @property
    def upper(self) -> Array:
        return self.above if self.around is None else self.above + self.around

    def live(self, curves: Curves) -> dict[str, Any]:
        look = {"kind": "bars" if self.as_bars else "band", "label": self.label, "color": self.color, "width": 2}
        below, above, around = self.below, self.above, None
        if self.around is not None:  # the page adds what it has of it, which is rounded
            around, values = curves.add(self.around), as_shown(self.around)
            below, above = np.nextafter(self.lower - values, -np.inf), np.nextafter(self.upper - values, np.inf)
        return {**look, "lower": curves.add(below, "down"), "upper": curves.add(above, "up"), "around": around}

    def thinned(self, factor: int) -> "Band":
        lower, upper = -_greatest(-self.lower, factor), _greatest(self.upper, factor)
        return replace(self, below=np.repeat(lower, 2), above=np.repeat(upper, 2), around=None)


@dataclass(frozen=True, eq=False)
class Level:
    """Two horizontal lines at ± value."""

    label: str
    value: float
    color: Color = "quiet"
    printed: str = ""
    """The value as text, where it must not be rounded to nearest."""

    def live(self, curves: Curves) -> dict[str, Any]:  # noqa: ARG002 - as for other marks
        look = {"kind": "level", "label": self.label, "color": self.color, "width": 1}
        return {**look, "value": self.value, "printed": self.printed}

    def thinned(self, factor: int) -> "Level":  # noqa: ARG002 - as for other marks
        return self


Mark: TypeAlias = Line | Band | Level


@dataclass(frozen=True, eq=False)
class Panel:
    """Marks that share an ordinate."""

    title: str
    unit: str
    marks: tuple[Mark, ...]
    height: int = 150
    """In pixels of a screen."""
    spans: tuple[tuple[float, float], ...] = ()
    """Stretches of the abscissa to shade."""
    symmetric: bool = False
    """Zero in the middle?"""
    axis: bool = True
    """Numbers below it?"""


@dataclass(frozen=True, eq=False)
class Chart:
    """Panels one above the other over n abscissas start, start + step, …"""

    start: float
    step: float
    n: int
    x_label: str
    x_unit: str
    panels: tuple[Panel, ...]
    clock: str = ""
    """Charts with the same clock zoom and point together."""
    spans: str = ""
    """Meaning of shaded stretches."""
    live_points: int = 20_000
    """Points of a curve on the page; a longer one is thinned."""

    @property
    def x(self) -> Array:
        return np.asarray(self.start + self.step * np.arange(self.n))

    def thinned(self, n_points: int) -> "Chart":
        """At most so many points: of every stretch the least and the greatest, so that no spike is lost."""
        factor = -(-self.n // n_points)
        if factor <= 1:
            return self
        panels = tuple(replace(p, marks=tuple(mark.thinned(factor) for mark in p.marks)) for p in self.panels)
        n = 2 * -(-self.n // (2 * factor))
        return replace(self, step=self.step * factor, n=n, panels=panels)

    def live(self, description: str, curves: Curves) -> dict[str, Any]:
        """Data from which the page's script draws it."""
        chart = self.thinned(self.live_points)
        return {
            "kind": "lines",
            "description": description,
            "clock": chart.clock,
            "spans": chart.spans,
            "x": {"start": chart.start, "step": chart.step, "n": chart.n, "label": chart.x_label, "unit": chart.x_unit},
            "panels": [
                {
                    "title": panel.title,
                    "unit": panel.unit,
                    "height": panel.height,
                    "axis": panel.axis,
                    "symmetric": panel.symmetric,
                    "spans": panel.spans,
                    "marks": [mark.live(curves) for mark in panel.marks],
                }
                for panel in chart.panels
            ],
        }


def least_and_greatest(values: Array, factor: int) -> Array:
    """The least and the greatest of every 2·factor values, in their order.

    Examples:
        >>> least_and_greatest(np.array([0.0, 9.0, 1.0, 2.0, 5.0, np.nan, 3.0]), 2)
        array([0., 9., 5., 3.])
    """
    blocks = _blocks(values, factor)
    gaps = np.isnan(blocks)
    least, most = np.where(gaps, np.inf, blocks).argmin(axis=1), np.where(gaps, -np.inf, blocks).argmax(axis=1)
    rows = np.arange(len(blocks))
    pair = blocks[rows, np.minimum(least, most)], blocks[rows, np.maximum(least, most)]
    return np.stack(pair, axis=1).reshape(-1)


def _greatest(values: Array, factor: int) -> Array:
    """The greatest of every 2·factor values; NaN where there is none."""
    blocks = _blocks(values, factor)
    gaps = np.isnan(blocks)
    return np.where(gaps.all(axis=1), np.nan, np.where(gaps, -np.inf, blocks).max(axis=1))


def _blocks(values: Array, factor: int) -> Array:
    size = 2 * factor
    padded = np.full(-(-len(values) // size) * size, np.nan)
    padded[: len(values)] = values
    return padded.reshape(-1, size)


def stretches(wanted: Any, start: float, step: float) -> tuple[tuple[float, float], ...]:
    """The runs of True in a mask, as abscissas from half a step before to half a step after.

    Examples:
        >>> stretches([False, True, True, False, True], 0.0, 1.0)
        ((0.5, 2.5), (3.5, 4.5))
    """
    flags = np.concatenate([[False], np.asarray(wanted, dtype=bool), [False]])
    edges = np.flatnonzero(flags[1:] != flags[:-1])
    at = (start + step * (edges - 0.5)).round(9).tolist()
    return tuple(zip(at[0::2], at[1::2], strict=True))


def merged(spans: tuple[tuple[float, float], ...], *, most: int) -> tuple[tuple[float, float], ...]:
    """At most so many stretches: the shortest gaps between them are closed.

    Examples:
        >>> merged(((0.0, 1.0), (1.1, 2.0), (5.0, 6.0)), most=2)
        ((0.0, 2.0), (5.0, 6.0))
    """
    if len(spans) <= most:
        return spans
    starts, ends = np.array(spans).T
    open_gaps = np.sort(np.argsort(starts[1:] - ends[:-1], kind="stable")[len(spans) - most :])
    first, last = np.concatenate([[0], open_gaps + 1]), np.concatenate([open_gaps, [len(spans) - 1]])
    return tuple(zip(starts[first].tolist(), ends[last].tolist(), strict=True))


def on_grid(values: Array, places: Any, n: int) -> Array:
    """Values (samples, channels) on a grid of n places, NaN elsewhere; one row per channel.

    Examples:
        >>> on_grid(np.array([[1.0], [2.0]]), [0, 2], 3)
        array([[ 1., nan,  2.]])
    """
    grid = np.full((values.shape[1], n), np.nan)
    grid[:, places] = values.T
    return grid


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
    return with_margin(low, high)


def _extremes(mark: Mark) -> tuple[float, float]:
    """Least and greatest; nothing where there is none."""
    if isinstance(mark, Level):
        return -mark.value, mark.value
    lower, upper = (mark.lower, mark.upper) if isinstance(mark, Band) else (mark.y, mark.y)
    lower, upper = lower[np.isfinite(lower)], upper[np.isfinite(upper)]
    return float(lower.min(initial=np.inf)), float(upper.max(initial=-np.inf))
