"""Correlations of errors: between parameters, the joint region of the most correlated pair, and over time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.text import short_labels, shortened, signed
from gough.estimates import Estimate
from gough.region import ConfidenceEllipsoid
from gough.report.base.charts import Band, Chart, Line, Panel
from gough.report.base.curves import Curves
from gough.report.base.drawing import INK, SERIES, WIDTH, Drawing, blank, color_of, style
from gough.report.base.panels import charted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    with style():
        figure = blank(WIDTH, 0.6 + 0.36 * n)
        axes = figure.subplots()
        _squares(axes, rho)
        axes.set_xticks(range(n), labels, rotation=90)
        axes.set_yticks(range(n), labels)
        axes.set_xlim(-0.5, n - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for k, words in enumerate(("positive correlation", "negative correlation")):
            axes.plot([], [], "s", color=SERIES[k], label=words)
        axes.legend(loc="upper right")
    i, j = divmod(int(np.tril(abs(rho), -1).argmax()), n)
    strongest = f"{signed(f'{rho[i, j]:.2f}')}, {labels[i]} with {labels[j]}"
    description = f"Correlation matrix of {n} {of}; the strongest is {strongest}."

    def live(_: Curves) -> dict[str, Any]:
        values = np.clip(rho, -1, 1).round(5).tolist()
        return {"kind": "matrix", "description": description, "labels": list(labels), "values": values}

    return Drawing(name, figure, description, caption, live)


def _squares(axes: "Axes", rho: Array) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - start-up time

    for i in range(len(rho)):
        for j in range(i + 1):
            side = np.sqrt(abs(rho[i, j]))
            color = INK if i == j else SERIES[0 if rho[i, j] > 0 else 1]
            if side > 0.05:
                corner = (j - side / 2, i - side / 2)
                axes.add_patch(Rectangle(corner, side, side, color=color, linewidth=0, alpha=0.25 if i == j else 1))


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


def _pair_drawn(outlines: Mapping[str, tuple[int, Array, Array]], truth: Array | None, labels: list[str]) -> Any:
    with style():
        figure = blank(WIDTH, 4.0)
        panel = figure.subplots()
        for label, (k, center, outline) in outlines.items():
            panel.plot(*outline.T, color=color_of(k), label=shortened(label))
            panel.plot(*center, "o", color=color_of(k), markersize=4)
        if truth is not None:
            panel.plot(*truth, "+", color=INK, markersize=13, markeredgewidth=1.8, label="truth")
        panel.set_xlabel(labels[0])
        panel.set_ylabel(labels[1])
        panel.legend(loc="best")
    return figure
