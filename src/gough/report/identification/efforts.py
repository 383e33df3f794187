"""Figures over time: efforts measured and predicted with bounds, residuals, and the motion."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gough.core import outward
from gough.core.arrays import Array, Integers
from gough.data import MeasuredMotion
from gough.dynamics import ExactBounds, Prediction
from gough.report.base.charts import Band, Chart, Level, Line, Mark, Panel, merged, on_grid, stretches
from gough.report.base.drawing import Drawing
from gough.report.base.panels import charted

_SPANS = 1500
"""Shaded stretches in a panel, beyond which near ones are shaded as one."""
_BOUNDS = {
    "confidence": "confidence, {}",
    "ellipsoid": "whole region, {}",
    "box": "whole region, {}",
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Measured efforts of a motion beside those predicted by one method, with the bounds of some."""

    motion: MeasuredMotion
    chosen: str
    """The method whose prediction is drawn."""
    predictions: Mapping[str, Prediction]
    """That one, and those whose bounds are drawn."""
    bound: Array
    """Error bound of each actuator."""
    smallest: Array | None = None
    """ε* of each actuator, where it belongs to this motion."""
    exact: ExactBounds | None = None

    def chart(self, clock: str) -> Chart:
        """Two panels for each actuator: efforts, and residuals."""
        motion = self.motion
        n = int(motion.positions[-1]) + 1
        step = 1 / motion.rate
        panels = [panel for g in range(len(motion.actuators)) for panel in self._panels(g, n, step)]
        shaded = "excluded from the identification" if any(panel.spans for panel in panels) else ""
        return Chart(motion.start, step, n, "time", "s", tuple(panels), clock, shaded)

    def _panels(self, g: int, n: int, step: float) -> tuple[Panel, Panel]:
        motion = self.motion
        curves = (motion.efforts, self.predictions[self.chosen].efforts, motion.kept.astype(np.float64))
        measured, predicted, kept = (on_grid(values[:, g : g + 1], motion.positions, n)[0] for values in curves)
        left_over = np.where(kept == 1, measured - predicted, np.nan)
        spans = merged(stretches(kept == 0, motion.start, step), most=_SPANS)
        bands = self._bands(g, n, predicted)
        upper: tuple[Mark, ...] = (
            *(band for band in bands if not band.as_bars),
            Line("measured", measured, "quiet", 1.0),
            Line(f"predicted by {self.chosen}", predicted, 0, 1.6),
            *(band for band in bands if band.as_bars),
        )
        around = tuple(replace(band, around=None) for band in bands)
        levels = [Level("error bound", float(self.bound[g]), "quiet")]
        if self.smallest is not None:
            smallest = float(self.smallest[g])
            levels.append(Level("ε*, at most", smallest, 3, outward.at_most(smallest)))
        lower: tuple[Mark, ...] = (
            *(band for band in around if not band.as_bars),
            Line("measured − predicted", left_over, "ink", 0.8),
            *levels,
            *(band for band in around if band.as_bars),
        )
        name, unit = motion.actuators[g], motion.effort_units[g]
        return (
            Panel(name, unit, upper, 150, spans, axis=False),
            Panel(f"{name}: residual", unit, lower, 96, spans, symmetric=True),
        )

    def _bands(self, g: int, n: int, predicted: Array) -> tuple[Band, ...]:
        """Bounds on the model's effort, counted from what is predicted."""
        places = self.motion.positions
        limits = [
            (_BOUNDS.get(one.kind, "{}").format(label), one.lower, one.upper, places)
            for label, one in self.predictions.items()
            if one.lower is not None and one.upper is not None
        ]
        bands = [self._band(g, n, predicted, one, color=k) for k, one in enumerate(limits, start=1)]
        if self.exact is not None:
            exact = ("exact bounds", self.exact.lower, self.exact.upper, places[self.exact.samples])
            bands.append(replace(self._band(g, n, predicted, exact, color=4), as_bars=True))
        return tuple(bands)

    def _band(self, g: int, n: int, predicted: Array, band: tuple[str, Array, Array, Integers], *, color: int) -> Band:
        label, lower, upper, at = band
        below, above = (on_grid(side[:, g : g + 1], at, n)[0] - predicted for side in (lower, upper))
        return Band(label, np.nextafter(below, -np.inf), np.nextafter(above, np.inf), predicted, color)


def effort_figure(name: str, comparison: Comparison, *, where: str) -> Drawing:
    """The figure of a comparison; `where` says on which motion, for those who do not see it."""
    motion = comparison.motion
    chart = comparison.chart(name)
    seconds = f"{chart.step * (chart.n - 1):.3g} s"
    description = (
        f"Measured efforts of {', '.join(motion.actuators)} over {seconds} of {where}, those predicted by "
        f"{comparison.chosen}, and their difference."
    )
    caption = (
        "Measured effort (grey) and the prediction of the identified model (colored line); below each, their "
        "difference on a scale of its own, with each method's bounds on the model's effort."
    )
    if any(panel.spans for panel in chart.panels):
        caption += " Shaded samples are excluded from the identification and from every count."
    if chart.n > chart.live_points:
        caption += " Where samples are closer than the lines can show, the least and the greatest are drawn."
    return charted(name, chart, description, caption)


def motion_figure(motion: MeasuredMotion, clock: str) -> Drawing:
    """Positions, velocities and accelerations of every coordinate."""
    n, step = int(motion.positions[-1]) + 1, 1 / motion.rate
    units = list(dict.fromkeys(motion.coordinate_units))
    panels = []
    for title, values, per in (
        ("position", motion.q, ""),
        ("velocity", motion.dq, "/s"),
        ("acceleration", motion.ddq, "/s²"),
    ):
        rows = on_grid(values, motion.positions, n)
        lines = tuple(Line(name, row, k) for k, (name, row) in enumerate(zip(motion.coordinates, rows, strict=True)))
        panels.append(Panel(title, " or ".join(f"{unit}{per}" for unit in units if unit), lines, 110))
    chart = Chart(motion.start, step, n, "time", "s", tuple(panels), clock, live_points=4000)
    names = ", ".join(motion.coordinates)
    description = f"Position, velocity and acceleration of {names} over time."
    caption = f"The motion used for the identification: {names}. Slow parts excite friction, fast parts inertia."
    return charted("motion", chart, description, caption)
