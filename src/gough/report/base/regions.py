"""Correlations of errors: between parameters, the joint region of the most correlated pair, and over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.text import short_labels, shortened, signed
from gough.estimates import Estimate
from gough.region import ConfidenceEllipsoid
from gough.report.base.charts import Band, Chart, Line, Panel
from gough.report.base.curves import Curves
from gough.report.base.drawing import FAINT, INK, SERIES, WIDTH, Drawing, color_of
from gough.report.base.panels import (
    PAD,
    abscissa_from,
    charted,
    frame,
    left_edge,
    name_below,
    rule,
    segments,
    window_of,
)
from gough.report.base.scales import Scale, with_margin
from gough.report.base.sheet import SIZE, Name, Sheet, names_width, text_width


def belief(estimate: Estimate) -> ConfidenceEllipsoid:
    """The confidence region of an estimate; an error where it has none."""
    region = estimate.region
    require(isinstance(region, ConfidenceEllipsoid), f"{estimate.method} states no confidence region to draw")
    assert isinstance(region, ConfidenceEllipsoid)
    return region


def memory_figure(residuals: Array, groups: Sequence[str], *, rate: float, n_lags: int = 60) -> Drawing:
    """Autocorrelation of the residuals (samples, groups), with the 95 % band of uncorrelated ones."""
    n_lags = max(1, min(n_lags, len(residuals) // 4))
    chance = 1.96 / np.sqrt(max(int(np.isfinite(residuals).sum(axis=0).min()), 1))
    edge = np.full(n_lags + 1, chance)
    lines = tuple(Line(name, autocorrelation(residuals[:, g], n_lags), g) for g, name in enumerate(groups))
    band = Band("95 % band", -edge, edge, color="quiet")
    chart = Chart(
        0.0, 1e3 / rate, n_lags + 1, "lag", "ms", (Panel("autocorrelation of the residuals", "", (band, *lines), 190),)
    )
    description = f"Autocorrelation of the residuals of {', '.join(groups)} up to a lag of {n_lags} samples."
    caption = (
        "Beyond lag 0, uncorrelated residuals stay in the grey band with probability 95 %. Autocorrelated residuals "
        "make the usual formula for σ too small; the σ printed here account for them."
    )
    return charted("memory", chart, description, caption)


def autocorrelation(series: Array, n_lags: int) -> Array:
    """Σ r_k r_{k−l} / Σ r_k² for l = 0 … n_lags; gaps (NaN) count as zero.

    Examples:
        >>> autocorrelation(np.array([1.0, -1.0, 1.0, -1.0]), 1)
        array([ 1.  , -0.75])
    """
    r = np.nan_to_num(series)
    power = float(r @ r) or 1.0
    return np.array([r[lag:] @ r[: len(r) - lag] for lag in range(n_lags + 1)]) / power


def correlation_figure(estimate: Estimate) -> Drawing:
    """Correlations between the estimated unknowns: a square per pair, its area the size, its color the sign."""
    rho, labels = belief(estimate).correlation, short_labels(estimate.unknowns.names)
    i, j = weakest_pair(estimate)
    caption = (
        "Correlation of errors between parameters: the larger the square, the worse the data separate the two. "
        f"Strongest: {labels[i]} with {labels[j]}, {signed(f'{rho[i, j]:.2f}')}."
    )
    return matrix_figure("correlation", rho, labels, caption, of="parameters")


def matrix_figure(name: str, rho: Array, labels: Sequence[str], caption: str, *, of: str = "channels") -> Drawing:
    """A matrix of correlations as squares: the larger, the stronger; colored by sign."""
    n = len(labels)
    sheet = _squares(rho, labels)
    i, j = divmod(int(np.tril(abs(rho), -1).argmax()), n)
    strongest = f"{signed(f'{rho[i, j]:.2f}')}, {labels[i]} with {labels[j]}"
    description = f"Correlation matrix of {n} {of}; the strongest is {strongest}."

    def live(_: Curves) -> dict[str, Any]:
        values = np.clip(rho, -1, 1).round(5).tolist()
        return {"kind": "matrix", "description": description, "labels": list(labels), "values": values}

    return Drawing(name, sheet, description, caption, live)


def _squares(rho: Array, labels: Sequence[str]) -> Sheet:
    n, room = len(labels), max(map(text_width, labels), default=0.0) + 2 * PAD
    cell = min((72 * WIDTH - room - PAD) / n, 30.0)
    sheet = Sheet(72 * WIDTH, max(cell * n, 36.0) + room + PAD)
    left, top = room, sheet.height - PAD
    for i, label in enumerate(labels):
        place = (i + 0.5) * cell
        sheet.write(left - PAD, top - place, label, INK, across="right", up="middle")
        sheet.write(left + place, top - n * cell - PAD, label, INK, across="right", up="middle", upright=True)
    for color, opacity, chosen in (
        (INK, 0.25, np.eye(n, dtype=bool)),
        *((SERIES[k], 1.0, np.tril(sign * rho > 0, -1)) for k, sign in enumerate((1, -1))),
    ):
        down, along = np.nonzero(chosen & (abs(rho) > 0.0025))
        half = cell * np.sqrt(np.minimum(abs(rho[down, along]), 1.0)) / 2
        x, y = left + (along + 0.5) * cell, top - (down + 0.5) * cell
        corners = [np.stack([x + a * half, y + b * half], axis=1) for a, b in ((-1, -1), (-1, 1), (1, 1), (1, -1))]
        sheet.area(np.stack(corners, axis=1), color, opacity)
    corner, end = (left, top - n * cell), (left + n * cell, top - n * cell)
    segments(sheet, [((left, top), corner), (corner, end)], FAINT, 0.8)
    names: list[Name] = [(words, SERIES[k], "square", 1.0) for k, words in enumerate(_SIGNS)]
    sheet.names(names, INK, sheet.width - PAD - names_width(names), top)
    return sheet


_SIGNS = "positive correlation", "negative correlation"


def weakest_pair(estimate: Estimate) -> tuple[int, int]:
    """The two unknowns whose errors are correlated most."""
    size = np.tril(abs(belief(estimate).correlation), -1)
    i, j = np.unravel_index(int(size.argmax()), size.shape)
    return int(i), int(j)


def pair_figure(estimates: Mapping[str, Estimate], axes: tuple[int, int], *, truth: Array | None = None) -> Drawing:
    """Joint regions of two unknowns by every method that has a bounded one."""
    unknowns = next(iter(estimates.values())).unknowns
    x, y = axes
    names, units = short_labels(unknowns.names), unknowns.units
    outlines = {
        label: (k, estimate.value[[x, y]], estimate.region.outline((x, y)))
        for k, (label, estimate) in enumerate(estimates.items())
        if np.isfinite(estimate.region.outline((x, y))).all()
    }
    description = f"Joint regions of {names[x]} and {names[y]} by {', '.join(outlines)}."
    caption = (
        f"The two most correlated parameters, {names[x]} and {names[y]}: their joint region by every method, an "
        "ellipse for confidence regions and ellipsoids, a rectangle for boxes."
    )
    true_pair = None if truth is None else truth[[x, y]]

    def live(curves: Curves) -> dict[str, Any]:
        shapes = [
            {
                "label": label,
                "color": k,
                "x": float(center[0]),
                "y": float(center[1]),
                "outline": [curves.add(side) for side in outline.T],
            }
            for label, (k, center, outline) in outlines.items()
        ]
        if true_pair is not None:
            shapes.append(
                {"label": "truth", "color": "ink", "x": float(true_pair[0]), "y": float(true_pair[1]), "outline": None}
            )
        named = {"xy"[k]: {"label": names[i], "unit": units[i]} for k, i in enumerate(axes)}
        return {"kind": "plane", "description": description, "shapes": shapes, **named}

    labels = [f"{names[i]}{f', {shortened(units[i])}' if units[i] else ''}" for i in axes]
    return Drawing("pair", _pair_drawn(outlines, true_pair, labels), description, caption, live)


def _pair_drawn(outlines: Mapping[str, tuple[int, Array, Array]], truth: Array | None, labels: list[str]) -> Sheet:
    names: list[Name] = [(shortened(label), color_of(k), "line", 1.2) for label, (k, _, _) in outlines.items()]
    if truth is not None:
        names.append(("truth", INK, "plus", 1.8))
    columns = min(len(names), 4)
    sheet = Sheet(72 * WIDTH, 72 * 3.8 + 13.5 * -(-len(names) // columns))
    top = sheet.height - 3 * PAD - sheet.legend(names, INK, columns, sheet.height - PAD)
    every = [outline for _, _, outline in outlines.values()] + ([] if truth is None else [truth[None]])
    every = every or [np.zeros((1, 2))]
    (x_low, y_low), (x_high, y_high) = (side(np.concatenate(every), axis=0).tolist() for side in (np.min, np.max))
    ordinate = Scale.linear(with_margin(y_low, y_high), (PAD + 30.0, top), per_number=3 * SIZE)
    abscissa = abscissa_from(left_edge(ordinate) + 1.5 * SIZE, with_margin(x_low, x_high))
    window = window_of(abscissa, ordinate)
    rule(sheet, abscissa, [ordinate])
    for k, center, outline in outlines.values():
        sheet.stroke(abscissa(outline[:, 0]), ordinate(outline[:, 1]), color_of(k), window=window)
        sheet.dots(abscissa(center[:1]), ordinate(center[1:]), color_of(k), 2.0)
    if truth is not None:
        sheet.plus(float(abscissa(truth[:1])[0]), float(ordinate(truth[1:])[0]), INK, 6.5, 1.8)
    frame(sheet, abscissa, [ordinate])
    name_below(sheet, abscissa, labels[0])
    words = ", ".join(word for word in (labels[1], ordinate.factor) if word)
    sheet.write(PAD, sum(ordinate.points) / 2, words, INK, across="center", up="top", upright=True)
    return sheet
