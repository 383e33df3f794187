"""Delta printers calibrated from what Klipper has probed, with the uncertainty that Klipper does not give."""

import json
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError
from gough.core.text import html_table, number, table
from gough.data import KlipperDelta, klipper_block
from gough.estimates import Estimate, estimate
from gough.geometry.probed import printer, probed
from gough.geometry.results import CalibratedParameters, shown_unit
from gough.methods import Identifiability, LeastSquares, Repeated, identifiability
from gough.problem import NonlinearProblem
from gough.robots import LinearDelta

_POOR = 1e-3
"""m: no bed is so uneven."""


@dataclass(frozen=True, eq=False)
class CalibratedPrinter(CalibratedParameters, ArrayValue):
    """A delta printer's geometry from probed heights and printed distances. `str()` of it is the account.

    `found["radius"]` is a parameter, `found.interval("radius")` its confidence interval, both in SI units.
    """

    model: LinearDelta
    """As it was configured."""
    probes: KlipperDelta
    problem: NonlinearProblem
    parameters: Array
    estimate: Estimate
    identifiability: Identifiability
    residuals_before: Array
    """(N,) m: of each probed height, then of each distance; weighted as Klipper does where there are distances."""
    residuals_after: Array

    @property
    def block(self) -> str:
        """What to put into printer.cfg, after its line of SAVE_CONFIG."""
        endstop, (radius,), angle, arm = np.split(self.parameters, [3, 4, 7])
        return klipper_block(float(radius), angle.tolist(), arm.tolist(), endstop.tolist())

    @property
    def rms(self) -> tuple[float, float]:
        """Of the residuals before and after, m."""
        before, after = (float(np.sqrt((r**2).mean())) for r in (self.residuals_before, self.residuals_after))
        return before, after

    @property
    def spare(self) -> int:
        """Equations beyond unknowns: what tells the noise."""
        return self.problem.measured.shape[0] - len(self.estimate.unknowns)

    def plus(self, name: str) -> str:
        """Half of a parameter's 95 % interval in mm or degrees; a dash where nothing tells the noise."""
        names = self.estimate.unknowns.names
        if name not in names:
            return "fixed"
        factor = shown_unit(self.model.units[self.model.names.index(name)])[1]
        return f"{self.estimate.intervals().width[names.index(name)] / 2 * factor:.2g}" if self.spare > 0 else "—"

    def table(self) -> str:
        """Parameters in mm and degrees, as configured and as found."""
        return table(*self._columns())

    def _repr_html_(self) -> str:
        """The headline, the table and the verdicts for a notebook."""
        return f"<p>{escape(self._headline())}</p>\n{html_table(*self._columns(), notes=self.verdicts)}"

    def _columns(self) -> tuple[list[str], list[list[str]], str]:
        """Heads, rows and alignment of the table."""
        rows = []
        for i, (name, unit) in enumerate(zip(self.model.names, self.model.units, strict=True)):
            shown, factor = shown_unit(unit)
            configured, found = self.model.nominal[i] * factor, self.parameters[i] * factor
            rows.append([name, shown, f"{configured:.4f}", f"{found:.4f}", self.plus(name)])
        return ["parameter", "unit", "configured", "found", "± (95%)"], rows, "llrrr"

    def _headline(self) -> str:
        before, after = self.rms
        n = len(self.probes.heights), len(self.probes.distances)
        return (
            f"{n[0]} heights and {n[1]} distances of {self.probes.source}: residuals {number(1e3 * before)} mm as "
            f"configured, {number(1e3 * after)} mm as found (rms)."
        )

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self.verdicts, "", self.table(), "", str(self.identifiability)])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What a reader must know."""
        before, after = self.rms
        more = f"{self.spare} equation{'s' * (self.spare != 1)}"
        few = f"Only {more} more than unknowns: ± is wide because so few points tell the noise. Probe more."
        held = "Heights alone do not tell the arms' lengths: these stay as configured. Measured distances would."
        missed = number(1e3 * (after if after > _POOR else before), digits=3)
        poor = (
            f"The geometry as {'found' if after > _POOR else 'configured'} misses the probed points by {missed} mm "
            "(rms). Check rotation_distance, microsteps and gear_ratio, which must be those of the day of the probing, "
            "and that the printer lost no steps."
        )
        return (
            *self.estimate.notes,
            *((poor,) if after > _POOR or before > 5 * _POOR else ()),
            *((few,) if 0 < self.spare < 4 else ()),
            *((held,) if not len(self.probes.distances) else ()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        before, after = self.rms
        return {
            "model": self.model.name,
            "source": self.probes.source,
            "parameters": dict(zip(self.model.names, self.parameters.tolist(), strict=True)),
            "before": dict(zip(self.model.names, self.model.nominal.tolist(), strict=True)),
            "units": dict(zip(self.model.names, self.model.units, strict=True)),
            "rms": {"before": before, "after": after},
            "verdicts": list(self.verdicts),
            "klipper": self.block,
            "estimate": self.estimate.to_dict(),
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)


def calibrate_printer(probes: KlipperDelta) -> CalibratedPrinter:
    """The printer's geometry by least squares on height, and on distances where there are any: Klipper's own problem.

    Raises:
        InputError: the configured printer cannot have been where it was probed.
        EstimationError: the probed points do not determine the geometry; the message says what they do.

    Examples:
        >>> delta, rng = LinearDelta(radius=0.161), np.random.default_rng(1)
        >>> p = np.column_stack([rng.uniform(-0.1, 0.1, (12, 2)), np.zeros(12)])
        >>> readings, none = delta.inverse(delta.nominal, p), np.zeros(0)
        >>> probes = KlipperDelta(
        ...     0.16, delta.angle, delta.arm, delta.endstop, np.zeros(12), readings, none, none.reshape(0, 2, 3)
        ... )
        >>> round(float(calibrate_printer(probes).parameters[3]), 9)
        0.161
    """
    model = printer(probes)
    _require_reach(model, probes)
    problem = probed(model, probes)
    try:
        answer = estimate(problem, Repeated(LeastSquares(), rtol=1e-6))
    except InputError as error:
        raise _out_of_reach(probes) from error
    values = model.nominal.copy()
    for name, value in zip(answer.unknowns.names, answer.value, strict=True):
        values[problem.unknowns.index(name)] = value
    tangent = problem.linearize(values)
    names = answer.unknowns.names
    columns = [problem.unknowns.index(name) for name in names]
    part = replace(tangent, W=tangent.W[:, columns], unknowns=problem.unknowns.select(names))
    before, after = (problem.equations.residuals(x, problem.measured)[:, 0] for x in (model.nominal, values))
    return CalibratedPrinter(model, probes, problem, values, answer, identifiability(part), before, after)


def _require_reach(model: LinearDelta, probes: KlipperDelta) -> None:
    """Refuse readings at which the configured arms do not meet."""
    try:
        model.forward(model.nominal, np.concatenate([probes.height_readings, *probes.distance_readings]))
    except InputError as error:
        raise _out_of_reach(probes) from error


def _out_of_reach(probes: KlipperDelta) -> InputError:
    return InputError(
        f"{probes.source or 'the printer'}: with the configured geometry the arms do not meet at every probed point. "
        "Check rotation_distance, microsteps, gear_ratio and arm_length: they must be those of the day of the probing"
    )
