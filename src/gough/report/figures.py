"""Figures of a report, drawn from estimates and arrays; none knows a robot."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.estimate import Estimate
from gough.region import ConfidenceEllipsoid
from gough.report.drawing import FAINT, INK, SERIES, Drawing, blank, style
from gough.report.labels import short_labels, shortened
from gough.report.numbers import signed
from gough.report.tables import half_widths

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 6.0
"""Inches: wide enough for a screen, narrow enough for a phone."""
MARKERS = "osD^vP"


def parameters(estimates: Mapping[str, Estimate], *, truth: Array | None = None, reference: str) -> Drawing:
    """Estimates by every method with their bars, as distances from the truth in σ of the reference method.

    Without a truth, distances are taken from the reference method's own values.
    """
    chosen = _belief(estimates[reference])
    zero = chosen.center if truth is None else truth
    labels = short_labels(estimates[reference].unknowns.names)
    n, methods = len(labels), list(estimates)
    with style():
        figure = blank(WIDTH, 1.2 + 0.36 * n)
        axes = figure.subplots()
        draw_parameters(axes, estimates, zero, chosen.sigma)
        axes.set_yticks(range(n), labels)
        axes.set_xlabel(
            f"distance from {'the truth' if truth is not None else reference}, in σ of {shortened(reference)}"
        )
        figure.legend(loc="outside upper center", ncols=min(len(methods), 4), columnspacing=1.2, handletextpad=0.3)
    from_what = "the true value" if truth is not None else f"the value by {reference}"
    return Drawing(
        "parameters",
        figure,
        f"Dot plot of {n} parameters by {', '.join(methods)}: distance from {from_what} with {chosen.level:.0%} bars.",
        f"Every parameter by every method. Zero is {from_what}; bars hold {chosen.level:.0%}. All are drawn in "
        f"standard deviations of {reference}, so a longer bar is a less precise method.",
    )


def draw_parameters(axes: "Axes", estimates: Mapping[str, Estimate], zero: Array, unit: Array) -> None:
    """The dots and bars of `parameters` on given axes, first unknown on top."""
    n, count = len(zero), len(estimates)
    axes.axvline(0.0, color=INK, linewidth=1)
    for k, (label, estimate) in enumerate(estimates.items()):
        at = np.arange(n) + 0.62 * ((k + 0.5) / count - 0.5)
        axes.errorbar(
            (estimate.value - zero) / unit,
            at,
            xerr=half_widths(estimate) / unit,
            fmt=MARKERS[k % len(MARKERS)],
            markersize=3.2,
            linewidth=1.3,
            color=SERIES[k % len(SERIES)],
            label=shortened(label),
        )
    axes.grid(visible=False, axis="y")
    for row in range(1, n, 2):
        axes.axhspan(row - 0.5, row + 0.5, color=FAINT, alpha=0.25, linewidth=0, zorder=0)
    axes.set_ylim(n - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def fit(times: Array, measured: Array, predicted: Array, groups: Sequence[str], *, unit: str = "") -> Drawing:
    """Measured and predicted efforts (samples, groups) over time, and below each what is left."""
    require(measured.shape == predicted.shape, "measured and predicted efforts must have one shape")
    require(measured.shape == (len(times), len(groups)), "efforts must be (samples, groups), to match times and names")
    n = len(groups)
    with style():
        figure = blank(WIDTH, 0.7 + 2.15 * n)
        panels = figure.subplots(2 * n, 1, sharex=True, height_ratios=[2.2, 1] * n)
        for g, name in enumerate(groups):
            pair = panels[2 * g], panels[2 * g + 1]
            draw_fit(pair, times, measured[:, g], predicted[:, g], color=SERIES[0])
            pair[0].set_title(shortened(f"{name}{f', {unit}' if unit else ''}"), loc="left")
            pair[1].set_ylabel("residual")
        panels[-1].set_xlabel("time, s")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0.45, 1.0), ncols=2, borderaxespad=0.1)
    return Drawing(
        "fit",
        figure,
        f"Measured and predicted efforts of {', '.join(groups)} over {times[-1] - times[0]:.3g} s, with residuals.",
        "Measured effort (broad) and what the identified model predicts (fine line); below, their difference and a "
        "band of two standard deviations of the residuals shown.",
    )


def draw_fit(panels: "tuple[Axes, Axes]", times: Array, measured: Array, predicted: Array, *, color: str) -> None:
    """One group of `fit` on two given axes."""
    upper, lower = panels
    residual = measured - predicted
    upper.plot(times, measured, color=FAINT, linewidth=4, label="measured")
    upper.plot(times, predicted, color=color, label="predicted")
    spread = 2 * float(np.nanstd(residual))
    lower.axhspan(-spread, spread, color=FAINT, alpha=0.4, linewidth=0)
    lower.plot(times, residual, color=INK, linewidth=0.6)
    limit = max(1.1 * float(np.nanmax(abs(residual))), 1e-300)
    lower.set_ylim(-limit, limit)
    upper.margins(x=0.01)


def memory(residuals: Array, groups: Sequence[str], *, rate: float | None = None, n_lags: int = 60) -> Drawing:
    """Autocorrelation of the residuals (samples, groups) with the band that chance alone stays in."""
    n_lags = min(n_lags, len(residuals) // 4)
    lags = np.arange(n_lags + 1)
    chance = 1.96 / np.sqrt(np.isfinite(residuals).sum(axis=0).min())
    with style():
        figure = blank(WIDTH, 2.7)
        axes = figure.subplots()
        axes.axhspan(-chance, chance, color=FAINT, alpha=0.6, linewidth=0, label="chance, 95%")
        axes.axhline(0, color=INK, linewidth=0.8)
        for g, name in enumerate(groups):
            rho = autocorrelation(residuals[:, g], n_lags)
            axes.plot(
                lags, rho, color=SERIES[g % len(SERIES)], marker=MARKERS[g % 6], markersize=2.5, label=shortened(name)
            )
        axes.set_xlabel("lag, samples" + (f" of {1e3 / rate:.3g} ms" if rate else ""))
        axes.set_ylabel("autocorrelation")
        axes.set_xlim(0, n_lags)
        axes.legend(loc="upper right")
    return Drawing(
        "memory",
        figure,
        f"Autocorrelation of the residuals of {', '.join(groups)} up to a lag of {n_lags} samples.",
        "Beyond lag 0, residuals without a memory would stay in the grey band 19 times out "
        "of 20; what leaves it makes textbook uncertainties too small, and is accounted for here.",
    )


def autocorrelation(series: Array, n_lags: int) -> Array:
    """Σ r_k r_{k−l} / Σ r_k² for l = 0 … n_lags; gaps (NaN) count as zero.

    Examples:
        >>> autocorrelation(np.array([1.0, -1.0, 1.0, -1.0]), 1)
        array([ 1.  , -0.75])
    """
    r = np.nan_to_num(series)
    power = float(r @ r) or 1.0
    return np.array([r[lag:] @ r[: len(r) - lag] for lag in range(n_lags + 1)]) / power


def correlation(estimate: Estimate) -> Drawing:
    """Correlations between the estimated unknowns: a square per pair, its area the size, its color the sign."""
    belief = _belief(estimate)
    labels = short_labels(estimate.unknowns.names)
    n = len(labels)
    with style():
        figure = blank(WIDTH, 0.6 + 0.36 * n)
        axes = figure.subplots()
        _squares(axes, belief.correlation)
        axes.set_xticks(range(n), labels, rotation=90)
        axes.set_yticks(range(n), labels)
        axes.set_xlim(-0.5, n - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for k, words in enumerate(("rise together", "one rises as the other falls")):
            axes.plot([], [], "s", color=SERIES[k], label=words)
        axes.legend(loc="upper right")
    i, j = weakest_pair(estimate)
    rho = signed(f"{belief.correlation[i, j]:.2f}")
    return Drawing(
        "correlation",
        figure,
        f"Correlation matrix of {n} parameters; the strongest is {rho} between {labels[i]} and {labels[j]}.",
        f"Correlation of errors between parameters: the larger the square, the less the data tell the two apart. "
        f"Strongest: {labels[i]} with {labels[j]}, {rho}.",
    )


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
    size = np.tril(abs(_belief(estimate).correlation), -1)
    i, j = np.unravel_index(int(size.argmax()), size.shape)
    return int(i), int(j)


def pair(
    estimates: Mapping[str, Estimate], axes: tuple[int, int], *, truth: Array | None = None, level: float = 0.95
) -> Drawing:
    """Joint regions of two unknowns by every method."""
    first = next(iter(estimates.values())).unknowns
    x, y = axes
    names = short_labels(first.names)
    with style():
        figure = blank(WIDTH, 4.0)
        panel: Any = figure.subplots()
        for k, (label, estimate) in enumerate(estimates.items()):
            color = SERIES[k % len(SERIES)]
            panel.plot(*estimate.region.outline((x, y)).T, color=color, label=shortened(label))
            panel.plot(*estimate.value[[x, y]], MARKERS[k % len(MARKERS)], color=color, markersize=4)
        if truth is not None:
            panel.plot(*truth[[x, y]], "+", color=INK, markersize=13, markeredgewidth=1.8, label="truth")
        for axis, i in ((panel.xaxis, x), (panel.yaxis, y)):
            axis.set_label_text(f"{names[i]}{f', {shortened(first.units[i])}' if first.units[i] else ''}")
        panel.legend(loc="best")
    return Drawing(
        "pair",
        figure,
        f"Confidence ellipses of {names[x]} and {names[y]} by {', '.join(estimates)}.",
        f"The two parameters hardest to tell apart, {names[x]} and {names[y]}, with their joint {level:.0%} regions.",
    )


def _belief(estimate: Estimate) -> ConfidenceEllipsoid:
    require(isinstance(estimate.region, ConfidenceEllipsoid), f"{estimate.method} states no confidence region to draw")
    assert isinstance(estimate.region, ConfidenceEllipsoid)
    return estimate.region
