"""Figures 2 and 4 to 7 of [AHG], from our data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.text import listed
from gough.dynamics import BenchmarkVerdict, Bias
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.papers.palida.benchmark import WORDS
from gough.papers.palida.robot import DETERMINISTIC, FAIR, LS, ML, STATISTICAL
from gough.report import Drawing
from gough.report.base.charts import Chart, Level, Line, Panel
from gough.report.base.drawing import INK, QUIET, SERIES, WIDTH, blank, style
from gough.report.base.panels import charted
from gough.robots import Palida
from gough.simulate import FourierSeries, Spread

SHOWN = ("p_4", "p_10", "v_5")
"""Parameters of Figure 6; the paper does not name its three."""
DRIVES = (1, 3, 4, 6)
"""Drives of Figure 7; the paper does not name its four."""
_POINTS = 400


def trajectory(robot: Palida, series: FourierSeries) -> Drawing:
    """Figure 2: one period of the D-optimal trajectory, displacements and angles."""
    times = np.linspace(0.0, series.period, _POINTS)
    x = series.at(times).q
    panels = []
    for title, unit, factor, columns in (
        ("displacement", "m", 1.0, range(3)),
        ("angle", "°", np.degrees(1.0), range(3, 6)),
    ):
        lines = tuple(Line(robot.pose_names[i], factor * x[:, i], i) for i in columns)
        panels.append(Panel(title, unit, lines, 170))
    chart = Chart(0.0, float(times[1]), _POINTS, "time", "s", tuple(panels))
    names = listed(robot.pose_names)
    description = f"One period of the D-optimal trajectory: {names} over {series.period:.3g} s."
    caption = (
        f"Figure 2. One period of the D-optimal trajectory, {series.n_harmonics} harmonics of {series.frequency:.3g} "
        "Hz: displacements above, angles below."
    )
    return charted("figure-2-trajectory", chart, description, caption)


def noise(motion: RepeatedMotion) -> Drawing:
    """Figure 4: what one recording shows of the errors of each drive's force."""
    n = len(motion.coordinates)
    tests = motion.noise
    scale = np.sqrt(motion.n_repeats / (motion.n_repeats - 1))
    errors = ((motion.efforts - motion.efforts.mean(axis=0)) * scale).reshape(-1, len(motion.actuators))
    with style():
        figure = blank(WIDTH, 4.2)
        rows = figure.subplots(2, 3, sharex=True, sharey=True)
        reach = 4 * float(tests.sigma[n:].max())
        grid = np.linspace(-reach, reach, 200)
        for i, axes in enumerate(rows.flat):
            sigma = float(tests.sigma[n + i])
            axes.hist(errors[:, i], bins=40, range=(-reach, reach), density=True, color=SERIES[0], alpha=0.45)
            axes.plot(grid, _normal(grid, 0.0, sigma), color=INK, linewidth=1.0)
            axes.set_title(f"{motion.actuators[i]}: σ = {sigma:.1f} N", loc="left")
            axes.set_yticks([])
        for axes in rows[1]:
            axes.set_xlabel("noise, N")
    refuted = [name for name, test in zip(motion.actuators, tests.gaussian[n:], strict=True) if test.is_refuted]
    verdict = f"Gaussian is refuted for {listed(refuted)}." if refuted else "A Gaussian is refuted for none of them."
    spread = f"{tests.sigma[n:].min():.0f} to {tests.sigma[n:].max():.0f} N"
    return Drawing(
        "figure-4-noise",
        figure,
        f"Histograms of the force errors of {len(motion.actuators)} drives, with normal distributions of σ {spread}.",
        f"Figure 4. Errors of measured forces, found from the scatter of {motion.n_repeats} periods about their mean, "
        f"with normal distributions of the same variance; σ = {spread} (paper: 20 to 30 N). {verdict}",
    )


def covariances(motion: RepeatedMotion) -> Drawing:
    """Figure 5: isolines of the entries of Σ and Δ, scaled to a unit diagonal."""
    n = len(motion.coordinates)
    K = motion.noise.correlation
    parts = (("forces, Σ", K[n:, n:], motion.actuators), ("strut lengths, Δ", K[:n, :n], motion.coordinates))
    levels = np.round(np.arange(-0.8, 0.81, 0.2), 1) + 0.0  # no −0
    with style():
        figure = blank(WIDTH, 3.6)
        for axes, (title, rho, names) in zip(figure.subplots(1, 2), parts, strict=True):
            at = np.arange(1, len(rho) + 1)
            colors = [QUIET if level == 0 else SERIES[0 if level > 0 else 1] for level in levels]
            lines = axes.contour(at, at, rho, levels=levels, colors=colors, linewidths=1.1)
            axes.clabel(lines, levels[levels != 0], fmt="%.1f", fontsize=7.5)
            axes.set_title(title, loc="left")
            axes.set_xticks(at, [name.split(" ")[-1].lstrip("q") for name in names])
            axes.set_yticks(at, [name.split(" ")[-1].lstrip("q") for name in names])
            axes.set_aspect("equal")
            axes.grid(visible=False)
    largest = [float(np.abs(rho - np.eye(len(rho))).max()) for _, rho, _ in parts]
    return Drawing(
        "figure-5-covariances",
        figure,
        "Isolines of the correlation matrices of measured forces and of measured strut lengths.",
        "Figure 5. Isolines of the entries of both covariance matrices, as one recording shows them, scaled to a unit "
        f"diagonal; blue is positive, orange negative. Largest correlations {largest[0]:.2f} of forces "
        f"and {largest[1]:.2f} of strut lengths.",
    )


def distributions(spreads: Mapping[tuple[str, str], Spread], symbols: Mapping[str, str]) -> Drawing:
    """Figure 6: three parameters on each design as normal distributions, by least squares and maximum likelihood."""
    columns = {symbol: name for name, symbol in symbols.items()}
    looks = {STATISTICAL: (SERIES[0], "-"), FAIR: (SERIES[2], "--"), DETERMINISTIC: (SERIES[1], ":")}
    with style():
        figure = blank(WIDTH, 4.4)
        rows = figure.subplots(2, len(SHOWN))
        for estimator, line in zip((LS, ML), rows, strict=True):
            for axes, symbol in zip(line, SHOWN, strict=True):
                own = {name: spreads[name, estimator] for name in looks}
                i = own[STATISTICAL].names.index(columns[symbol])
                _bells(axes, {looks[name]: (name, float(s.mean[i]), float(s.sd[i])) for name, s in own.items()})
                axes.axvline(float(own[STATISTICAL].truth[i]), color=INK, linewidth=0.8, label="truth")
                axes.set_title(f"{symbol}, {estimator}", loc="left")
        handles, labels = rows[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))

    def worst(estimator: str) -> float:
        own = [spreads[name, estimator] for name in looks]
        return max(abs(float(s.bias_in_sd[s.names.index(columns[symbol])])) for s in own for symbol in SHOWN)

    return Drawing(
        "figure-6-designs",
        figure,
        f"Normal distributions of {listed(SHOWN)} on three trajectories, by two estimators, and the true values.",
        f"Figure 6. Estimates of {listed(SHOWN)} over {spreads[STATISTICAL, LS].n} repetitions as normal "
        "distributions. Above, least squares as in the paper, with the advised cut-off: these means are off the truth "
        f"by up to {worst(LS):.1f} standard deviations. Below, maximum likelihood: by up to {worst(ML):.1f}.",
    )


def _bells(axes: Any, bells: Mapping[tuple[str, str], tuple[str, float, float]]) -> None:
    """Normal densities by color and dash: label, mean and sd of each."""
    low = min(mean - 3.5 * sd for _, mean, sd in bells.values())
    high = max(mean + 3.5 * sd for _, mean, sd in bells.values())
    for (color, dash), (label, mean, sd) in bells.items():
        x = np.union1d(np.linspace(low, high, 300), np.linspace(mean - 4 * sd, mean + 4 * sd, 100).clip(low, high))
        axes.plot(x, _normal(x, mean, sd), dash, color=color, label=label)
    axes.set_yticks([])


def residuals(verdict: BenchmarkVerdict, motion: RepeatedMotion) -> Drawing:
    """Figure 7: measured minus predicted forces on the circle, for four drives."""
    predicted = motion.efforts.mean(axis=0) - verdict.residuals
    once = motion.efforts[0] - predicted
    panels = []
    for drive in DRIVES:
        i = drive - 1
        marks = (
            Line("one turn", once[:, i], "faint", 0.7),
            Line(f"mean of {motion.n_repeats} turns", verdict.residuals[:, i], 0, 1.4),
            Level("± σ of a reading", float(np.sqrt(verdict.measurement_variance[i]))),
        )
        title = f"{verdict.actuators[i]}: {WORDS[verdict.bias[i]]}"
        panels.append(Panel(title, "N", marks, 110, symmetric=True))
    chart = Chart(0.0, 1 / motion.rate, motion.n_samples, "time", "s", tuple(panels))
    description = (
        f"Measured minus predicted forces of drives {listed([str(d) for d in DRIVES])} on one turn of the circle."
    )
    biased = [name for name, bias in zip(verdict.actuators, verdict.bias, strict=True) if bias is Bias.LARGE]
    caption = (
        "Figure 7. Measured minus predicted forces on the circle inclined by 30°, model without cogging: one turn, and "
        f"the mean of {motion.n_repeats} turns. Biased by the verdict: {listed(biased) or 'none'}."
    )
    return charted("figure-7-model-error", chart, description, caption)


def _normal(x: Array, mean: float, sd: float) -> Any:
    return np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
