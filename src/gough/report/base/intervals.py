"""Every unknown by every method: intervals in the unknown's own unit, a panel each."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number, short_labels, shortened, signed
from gough.dynamics.tables import claimed, sides
from gough.estimates import Claim, Estimate
from gough.region import Box, ConfidenceEllipsoid
from gough.report.base.drawing import FAINT, INK, QUIET, WIDTH, Drawing, color_of
from gough.report.base.panels import PAD, segments
from gough.report.base.sheet import Name, Sheet, text_width

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
    sheet = _drawn(unknowns.units, labels, rows, truth, np.array(ranges))
    return Drawing("parameters", sheet, description, caption, lambda _: _live(description, estimates, rows, truth))


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


def _drawn(units: tuple[str, ...], labels: tuple[str, ...], rows: Rows, truth: Array | None, ranges: Array) -> Sheet:
    """All unknowns one below the other, each stretched to the same width; the ends of each scale are printed."""
    n, block = len(labels), len(rows) + 1.9
    low, high = ranges.T
    names: list[Name] = [(shortened(label), color_of(k), "dot", 1.8) for k, label in enumerate(rows)]
    if truth is not None:
        names.append(("truth", INK, "line", 1.0))
    sheet = Sheet(72 * WIDTH, _STEP * block * n + 13.5 * -(-len(names) // 4) + 4 * PAD)
    top = sheet.height - 3 * PAD - sheet.legend(names, INK, min(len(names), 4), sheet.height - PAD)
    first: Array = top - _STEP * (block * np.arange(n, dtype=np.float64) + 0.5)
    words = [(label, shortened(unit, 14)) if unit else (label,) for label, unit in zip(labels, units, strict=True)]
    left = 2 * PAD + max(text_width(line) for lines in words for line in lines)
    right = sheet.width - PAD

    def across(values: Array) -> Array:
        return left + (right - left) * (values - low) / (high - low)

    scales = first - _STEP * (len(rows) - 0.35)
    segments(sheet, [((left, y), (right, y)) for y in scales.tolist()], FAINT, 0.6)
    if truth is not None:
        ends = zip(across(truth).tolist(), first.tolist(), strict=True)
        strokes = [((x, y + 0.6 * _STEP), (x, y - _STEP * (len(rows) - 0.4))) for x, y in ends]
        segments(sheet, strokes, INK, 1.0)
    for k, (value, lower, upper) in enumerate(rows.values()):
        _draw_row(sheet, color_of(k), first - _STEP * k, (across(value), across(lower), across(upper)), (left, right))
    for i in range(n):
        for x, end, side in ((left, low[i], "left"), (right, high[i], "right")):
            printed = signed(number(float(end), float(high[i] - low[i]) / 10))
            sheet.write(x, scales[i] - 0.8 * _STEP, printed, QUIET, across=side, up="middle", size=7.0)
        middle = first[i] - _STEP * (len(rows) - 1) / 2 + 6 * (len(words[i]) - 1)
        for line, text in enumerate(words[i]):
            sheet.write(left - PAD, middle - 12 * line, text, INK, across="right", up="middle")
    return sheet


_STEP = 8.28
"""Points from one interval to the next."""
_TIP = 1.5
"""Half the size of an arrow's head."""


def _draw_row(
    sheet: Sheet, color: str, at: Array, interval: tuple[Array, Array, Array], edges: tuple[float, float]
) -> None:
    """One method's intervals (value, lower, upper) in points; what leaves its scale ends in an arrow."""
    (value, lower, upper), (left, right) = interval, edges
    there = lower <= upper
    ends = zip(
        *(np.clip(side[there], left, right).tolist() for side in (lower, upper)), at[there].tolist(), strict=True
    )
    segments(sheet, [((a, y), (b, y)) for a, b, y in ends], color, 1.5)
    for x, out, beyond in ((left, -_TIP, there & (lower < left)), (right, _TIP, there & (upper > right))):
        heads = [np.array([(x + out, y), (x - out, y + _TIP), (x - out, y - _TIP)]) for y in at[beyond].tolist()]
        sheet.area(heads, color)
    sheet.dots(np.clip(value, left, right), at, color, 1.4)


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
