"""Every unknown by every method: intervals in the unknown's own unit, a panel each."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number, short_labels, shortened, signed
from gough.dynamics.tables import claimed, sides
from gough.estimates import Claim, Estimate
from gough.region import Box, ConfidenceEllipsoid
from gough.report.base.drawing import FAINT, INK, QUIET, WIDTH, Drawing, blank, color_of, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows: TypeAlias = Mapping[str, tuple[Array, Array, Array]]
"""Value, lower and upper end of each unknown, by method."""
_WIDE = 6.0
"""How many times wider than the smallest set an interval may be before it is cut at the panel's edge."""


def interval_figure(estimates: Mapping[str, Estimate], truth: Array | None = None) -> Drawing:
    """A panel per unknown, a row per method."""
    unknowns = next(iter(estimates.values())).unknowns
    labels = short_labels(unknowns.names)
    rows = {label: (estimate.value, *sides(estimate)) for label, estimate in estimates.items()}
    known = "" if truth is None else ", and the truth"
    description = f"Intervals of {len(labels)} parameters by {', '.join(estimates)}{known}."
    caption = (
        "Every parameter by every method, in its own unit: a dot for the value, a bar for the interval. An interval "
        f"more than {_WIDE:.0f} times wider than the smallest set is cut, and ends in an arrow."
    )
    if truth is not None:
        caption += " The upright line is the truth."

    sets = [is_set(estimate) for estimate in estimates.values()]
    ranges = [
        shown_range(
            [(float(lower[i]), float(upper[i])) for _, lower, upper in rows.values()],
            sets,
            [float(value[i]) for value, _, _ in rows.values()] + ([] if truth is None else [float(truth[i])]),
        )
        for i in range(len(labels))
    ]
    figure = _drawn(unknowns.units, labels, rows, truth, np.array(ranges))
    return Drawing("parameters", figure, description, caption, lambda _: _live(description, estimates, rows, truth))


def _live(description: str, estimates: Mapping[str, Estimate], rows: Rows, truth: Array | None) -> dict[str, Any]:
    """Data from which the page's script draws it."""
    unknowns = next(iter(estimates.values())).unknowns
    methods = [
        {"label": label, "color": k, "claim": claimed(e, in_full=True), "isSet": is_set(e)}
        for k, (label, e) in enumerate(estimates.items())
    ]
    items = [
        {
            "name": label,
            "unit": unknowns.units[i],
            "truth": None if truth is None else float(truth[i]),
            "nominal": None if unknowns.nominal is None else float(unknowns.nominal[i]),
            "rows": [
                {
                    "value": float(value[i]),
                    "lower": float(lower[i]),
                    "upper": float(upper[i]),
                    "printed": _printed(float(lower[i]), float(upper[i])) if is_set(estimates[name]) else None,
                }
                for name, (value, lower, upper) in rows.items()
            ],
        }
        for i, label in enumerate(short_labels(unknowns.names))
    ]
    return {"kind": "intervals", "description": description, "wide": _WIDE, "methods": methods, "items": items}


def _printed(lower: float, upper: float) -> list[str]:
    """Ends and half-width of a set as the page prints them: rounded outward."""
    return [*map(signed, outward.sides(lower, upper)), outward.plus_minus(lower, upper)[1]]


def _drawn(units: tuple[str, ...], labels: tuple[str, ...], rows: Rows, truth: Array | None, ranges: Array) -> "Figure":
    """All unknowns on one pair of axes, each stretched to the same width; the ends of each scale are printed."""
    n, block = len(labels), len(rows) + 1.9
    low, high = ranges.T
    top: Array = block * np.arange(n, dtype=np.float64)
    with style():
        figure = blank(WIDTH, 0.5 + 0.115 * block * n)
        axes = figure.subplots()
        if truth is not None:
            axes.vlines(
                (truth - low) / (high - low), top - 0.6, top + len(rows) - 0.4, color=INK, linewidth=1, label="truth"
            )
        for k, (label, row) in enumerate(rows.items()):
            value, lower, upper = ((part - low) / (high - low) for part in row)
            _draw_row(axes, (label, color_of(k)), top + k, value, (lower, upper))
        for i in range(n):
            for at, end, side in ((0.0, low[i], "left"), (1.0, high[i], "right")):
                words = signed(number(float(end), float(high[i] - low[i]) / 10))
                axes.text(at, top[i] + len(rows) + 0.45, words, ha=side, va="center", fontsize=7, color=QUIET)
        axes.hlines(top + len(rows) - 0.35, 0, 1, color=FAINT, linewidth=0.6)
        ticks = [
            f"{label}\n{shortened(unit, 14)}" if unit else label for label, unit in zip(labels, units, strict=True)
        ]
        axes.set_yticks(top + (len(rows) - 1) / 2, ticks)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(block * n - 0.6, -1.0)
        axes.set_xticks([])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.legend(loc="outside upper center", ncols=min(len(rows) + 1, 4), columnspacing=1.2, handletextpad=0.4)
    return figure


def _draw_row(axes: "Axes", look: tuple[str, str], at: Array, value: Array, ends: tuple[Array, Array]) -> None:
    """One method's intervals, in parts of each unknown's scale; what leaves it ends in an arrow."""
    (label, color), (lower, upper) = look, ends
    there = lower <= upper
    axes.hlines(at[there], np.clip(lower[there], 0, 1), np.clip(upper[there], 0, 1), color=color, linewidth=1.5)
    for marker, at_x, which in (("<", 0.0, there & (lower < 0)), (">", 1.0, there & (upper > 1))):
        axes.plot(np.full(which.sum(), at_x), at[which], marker, color=color, markersize=3)
    axes.plot(np.clip(value, 0, 1), at, "o", color=color, markersize=2.8, label=shortened(label))


def shown_range(ends: list[tuple[float, float]], sets: list[bool], others: list[float]) -> tuple[float, float]:
    """The stretch to show: all other values, and all intervals but those much wider than the smallest set.

    Where there is no set, the middle interval takes its place.

    Examples:
        >>> shown_range([(0.0, 0.1), (0.0, 1.0), (-100.0, 100.0)], [False, True, True], [0.5])
        (-0.08, 1.08)
    """
    widths = sorted((b - a, belongs) for (a, b), belongs in zip(ends, sets, strict=True) if 0 < b - a < np.inf)
    middle = widths[(len(widths) - 1) // 2][0] if widths else np.inf
    typical = next((width for width, belongs in widths if belongs), middle)
    kept = [side for a, b in ends if b - a <= _WIDE * typical for side in (a, b)]
    finite = [x for x in (*kept, *others) if np.isfinite(x)] or [-1.0, 1.0]
    low, high = min(finite), max(finite)
    margin = 0.08 * (high - low) or 0.01 * abs(high) or 1.0
    return low - margin, high + margin


def is_set(estimate: Estimate) -> bool:
    """Is its region a set with certain edges, not a belief?"""
    return not isinstance(estimate.region, ConfidenceEllipsoid) and estimate.claim >= Claim.ENCLOSURE


def bounded_box(estimate: Estimate) -> Box | None:
    """The hull of a set, where there is one without an open side."""
    box = estimate.region.hull()
    return box if is_set(estimate) and box.is_bounded and not box.is_empty else None
