"""Figures on repeats of a motion: efforts and residuals, the order of the path, and the noise."""

import numpy as np

from gough.core.arrays import Array
from gough.dynamics import BenchmarkVerdict, IdentifiedRepeats
from gough.methods.noise.noise_tests import MAX_LAG
from gough.report.base.charts import Band, Chart, Level, Line, Panel, charted, stretches
from gough.report.base.drawing import Drawing
from gough.report.base.regions import autocorrelation, matrix_figure

_BINS = np.linspace(-4, 4, 41)
_SHORT = 1.96
"""Standard deviations that 95 % of Gaussian errors stay within."""


def verdict_figure(name: str, verdict: BenchmarkVerdict, *, where: str, clock: str) -> Drawing:
    """Measured and predicted efforts of each actuator, and residuals against the noise that is expected."""
    n, step = len(verdict.measured), 1 / verdict.rate
    panels = []
    for i, (actuator, unit) in enumerate(zip(verdict.actuators, verdict.effort_units, strict=True)):
        kept = verdict.kept[:, i]
        spans = stretches(~kept, 0.0, step)
        both = (
            Line("measured, mean over repeats", verdict.measured[:, i], "quiet", 1.0),
            Line("predicted by maximum likelihood", verdict.predicted[:, i], 0, 1.6),
        )
        edge = _SHORT * float(np.sqrt(verdict.expected_variance[i]))
        left = (
            Line("measured − predicted", np.where(kept, verdict.residuals[:, i], np.nan), "ink", 0.8),
            Level("95 % limits if the model is exact", edge, 1),
        )
        panels += [
            Panel(actuator, unit, both, 130, spans, axis=False),
            Panel(f"{actuator}: residual", unit, left, 90, spans, symmetric=True),
        ]
    shaded = "excluded: too slow, or no reading" if any(panel.spans for panel in panels) else ""
    chart = Chart(0.0, step, n, "time", "s", tuple(panels), clock, shaded)
    description = (
        f"Efforts of {', '.join(verdict.actuators)} on {where}, measured and predicted, and their difference over "
        f"{n * step:.3g} s."
    )
    caption = (
        "Mean of the measured efforts over all repeats (grey) and efforts of the identified model (colored); below "
        "each, their difference, with its 95 % limits if the model is exact."
    )
    return charted(name, chart, description, caption)


def order_figure(found: IdentifiedRepeats) -> Drawing:
    """Information criteria over the number of harmonics, for the positions alone and for maximum likelihood."""
    alone, rows = dict(found.by_positions), {row.order: row for row in found.order.rows}
    least = min(alone.values())
    orders = range(1, max((*alone, *rows)) + 1)

    def line(label: str, values: dict[int, float], color: int) -> Line:
        return Line(label, np.log10(1 + np.array([values.get(k, np.nan) for k in orders])), color)

    above = {name: {k: getattr(row, f"{name}_above") for k, row in rows.items()} for name in ("bic", "aic")}
    panels = (
        Panel("positions alone", "", (line("BIC", {k: v - least for k, v in alone.items()}, 0),), 110),
        Panel("positions and efforts", "", (line("BIC", above["bic"], 0), line("AIC", above["aic"], 1)), 110),
    )
    chart = Chart(1.0, 1.0, len(orders), "harmonics of the path", "", panels)
    description = f"Information criteria for {orders[-1]} numbers of harmonics of the path, above the least."
    caption = (
        "How far each criterion is above its least, as log₁₀(1 + difference), for the positions alone and for maximum "
        "likelihood."
    )
    return charted("order", chart, description, caption)


def noise_figure(found: IdentifiedRepeats) -> Drawing:
    """Distribution of the errors of positions and efforts beside the Gaussian one [AHG, figure 4]."""
    motion = found.motion
    middle = (_BINS[1:] + _BINS[:-1]) / 2
    normal = Line("Gaussian", np.exp(-(middle**2) / 2) / np.sqrt(2 * np.pi), "quiet", 3.0)
    panels = []
    for title, names, errors in _errors(found):
        lines = []
        for k, name in enumerate(names):
            counts, _ = np.histogram(errors[:, k] / errors[:, k].std(), _BINS)
            lines.append(Line(name, counts / (len(errors) * (_BINS[1] - _BINS[0])), k))
        panels.append(Panel(f"density of errors, {title}", "", (normal, *lines), 150))
    chart = Chart(float(middle[0]), float(middle[1] - middle[0]), len(middle), "error", "σ", tuple(panels))
    description = f"Distribution of the errors of {len(motion.channels)} channels, and the Gaussian distribution."
    caption = "Errors of single readings about the mean over the repeats, in standard deviations of their channel."
    return charted("noise", chart, description, caption)


def whiteness_figure(found: IdentifiedRepeats) -> Drawing:
    """Autocorrelation of the errors of positions and efforts."""
    lags = min(3 * MAX_LAG, found.motion.n_samples // 4)
    panels = []
    for title, names, errors in _errors(found):
        edge = np.full(lags, _SHORT / np.sqrt(len(errors)))
        lines = [Line(name, autocorrelation(errors[:, k], lags)[1:], k) for k, name in enumerate(names)]
        panels.append(
            Panel(
                f"autocorrelation, {title}",
                "",
                (Band("95 % band", -edge, edge, color="quiet"), *lines),
                130,
            )
        )
    step = 1e3 / found.motion.rate
    chart = Chart(step, step, lags, "lag", "ms", tuple(panels))
    description = f"Autocorrelation of the errors of {len(found.motion.channels)} channels up to {lags} samples."
    caption = "From lag 1 on; uncorrelated errors stay in the grey band with probability 95 %."
    return charted("whiteness", chart, description, caption)


def covariance_figure(found: IdentifiedRepeats) -> Drawing:
    """Correlations of errors between channels: Δ and Σ [AHG, figure 5]."""
    C = found.covariance
    sigma = np.sqrt(C.diagonal())
    caption = "Correlation of the errors of one reading: positions first, then efforts."
    return matrix_figure("errors", C / np.outer(sigma, sigma), found.motion.channels, caption)


def _errors(found: IdentifiedRepeats) -> list[tuple[str, tuple[str, ...], Array]]:
    """For positions and for efforts: names, and errors (R·N, channels) about the mean, lost readings left out."""
    motion = found.motion
    n = len(motion.coordinates)
    away = (motion.readings - motion.mean).reshape(-1, len(motion.channels))
    away = away[np.isfinite(away).all(axis=1)]
    return [("positions", motion.coordinates, away[:, :n]), ("efforts", motion.actuators, away[:, n:])]
