"""Delta printers calibrated from what Klipper has probed, with the uncertainty that Klipper does not give."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.tables import Table, table
from gough.core.text import number, shown_unit
from gough.data import KlipperDelta, klipper_block
from gough.estimates import Estimate, EstimationError, Status, estimate
from gough.geometry.probe_mistakes import TOLERANCES, WrongPoint, wrong_point
from gough.geometry.results import CalibratedParameters
from gough.kernels import Kernel
from gough.methods import GaussNewton, Identifiability, LeastSquares, identifiability
from gough.noise import Gaussian
from gough.problem import Groups, NonlinearProblem
from gough.region import Box
from gough.robots import LinearDelta
from gough.unknowns import Unknowns

_POOR = 1e-3
"""m: more than the unevenness of any bed."""


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
    """(N,) m: of each probed height, then of each distance, predicted less measured."""
    residuals_after: Array
    wrong: WrongPoint | None = None
    """A height or distance that does not fit the others."""

    @property
    def refuted(self) -> bool:
        """Whether the residuals refute the stated noise: never, since Klipper states none."""
        return False

    @property
    def block(self) -> str:
        """What to put into printer.cfg, after its line of SAVE_CONFIG."""
        endstop, (radius,), angle, arm = np.split(self.parameters, [3, 4, 7])
        return klipper_block(float(radius), angle.tolist(), arm.tolist(), endstop.tolist())

    @property
    def rms(self) -> tuple[float, float]:
        """Root mean square of the residuals before and after, m."""
        before, after = (float(np.sqrt((r**2).mean())) for r in (self.residuals_before, self.residuals_after))
        return before, after

    @property
    def spare(self) -> int:
        """Equations beyond unknowns, from which the noise is estimated."""
        return self.problem.measured.shape[0] - len(self.estimate.unknowns)

    def plus(self, name: str) -> str:
        """Half of a parameter's 95 % interval in mm or degrees; a dash where the noise is unknown."""
        names = self.estimate.unknowns.names
        if name not in names:
            return "fixed"
        factor = shown_unit(self.model.units[self.model.names.index(name)])[1]
        return f"{self.estimate.half_widths()[names.index(name)] * factor:.2g}" if self.spare > 0 else "—"

    @property
    def start(self) -> Array:  # type: ignore[override]
        """The parameters before: as configured."""
        return self.model.nominal

    def table(self, truth: Array | None = None) -> Table:  # noqa: ARG002 - as of other calibrations
        """Parameters in mm and degrees, as configured and as found."""
        rows = []
        for i, (name, unit) in enumerate(zip(self.model.names, self.model.units, strict=True)):
            written_unit, factor = shown_unit(unit)
            configured, calibrated = self.model.nominal[i] * factor, self.parameters[i] * factor
            half = self.plus(name)
            change = round(calibrated - configured, 4) + 0.0
            moved = "—" if half == "fixed" else f"{change:+.4f}" if change else "0.0000"
            rows.append([name, written_unit, f"{configured:.4f}", f"{calibrated:.4f}", moved, half])
        heads = ["parameter", "unit", "configured", "found", "change", "± (95%)"]
        return table(heads, rows, "lurrrr", "Geometry as configured and as found")

    def headlines(self) -> tuple[str, ...]:
        """Number of measurements, and rms before and after."""
        before, after = self.rms
        n = len(self.probes.heights), len(self.probes.distances)
        what = f"{n[0]} heights and {n[1]} distances of {self.probes.source}"
        return (f"{what}: residuals {number(1e3 * before)} mm as configured, {number(1e3 * after)} mm as found (rms).",)

    def __str__(self) -> str:
        return "\n".join([*self.headlines(), *self.verdicts, "", str(self.table()), "", str(self.identifiability)])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Tests of the residuals, and what to measure or check next, in sentences."""
        before, after = self.rms
        more = f"{self.spare} equation{'s' * (self.spare != 1)}"
        few = f"Only {more} more than unknowns: ± is wide because the noise is estimated from few points. Probe more."
        held = "Heights alone do not determine the arms' lengths, which stay as configured: measure distances too."
        missed = number(1e3 * (after if after > _POOR else before), digits=3)
        poor = (
            f"The geometry as {'found' if after > _POOR else 'configured'} misses the probed points by {missed} mm "
            "(rms). Check rotation_distance, microsteps and gear_ratio, which must be those of the day of the probing, "
            "and that the printer lost no steps."
        )
        return (
            *self.estimate.notes,
            *filter(None, (self._wrong_words(),)),
            *((poor,) if after > _POOR or before > 5 * _POOR else ()),
            *((few,) if 0 < self.spare < 4 else ()),
            *((held,) if not len(self.probes.distances) else ()),
        )

    def _wrong_words(self) -> str:
        """The point that does not fit, and what to do about it; empty without any."""
        if self.wrong is None:
            return ""
        k, n = self.wrong.row, len(self.probes.heights)
        what = f"height{k}" if k < n else f"distance{k - n}"
        sure = f"p = {self.wrong.p:.1g}" if self.wrong.p > 1e-12 else "p < 1e-12"
        off, half = number(1e3 * abs(self.wrong.off), digits=3), number(2e3 * self.wrong.sigma, digits=2)
        than = "more" if self.wrong.off > 0 else "less"
        return (
            f"The saved {what} is {off} ± {half} mm {than} than the other points predict, if arms are within about "
            f"1 mm of their configuration and the radius within 3 mm ({sure}). "
            f"{'Probe' if k < n else 'Measure'} it again, or remove it: it moves the whole geometry."
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


def calibrate_printer(probes: KlipperDelta) -> CalibratedPrinter:
    """The printer's geometry by least squares on height, and on distances where there are any: Klipper's own problem.

    Raises:
        InputError: the configured printer cannot have been where it was probed.
        EstimationError: the probed points do not determine the geometry; the message names what they determine.

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
        answer = estimate(problem, GaussNewton(LeastSquares(), rtol=1e-6))
    except EstimationError as error:
        if error.estimate.status is not Status.MAX_STEPS:
            raise
        raise EstimationError(error.estimate, _UNSETTLED) from error
    except InputError as error:
        raise _out_of_reach(probes) from error
    values = model.nominal.copy()
    for name, value in zip(answer.unknowns.names, answer.value, strict=True):
        values[problem.unknowns.index(name)] = value
    tangent = problem.linearize(values)
    names = answer.unknowns.names
    columns = [problem.unknowns.index(name) for name in names]
    part = replace(tangent, W=tangent.W[:, columns], unknowns=problem.unknowns.select(names))
    equations = problem.equations
    assert isinstance(equations, ProbeEquations)
    before, after = (
        equations.residuals(x, problem.measured)[:, 0] / equations.weights for x in (model.nominal, values)
    )
    J = equations.jacobians(values, problem.measured)[0][:, 0, columns] / equations.weights[:, None]
    tolerances = np.array([TOLERANCES[name.split("_")[0]] for name in names])
    errors = after - J @ (values - model.nominal)[columns]
    wrong = wrong_point(errors, J, tolerances, equations.is_height)
    return CalibratedPrinter(model, probes, problem, values, answer, identifiability(part), before, after, wrong)


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


_UNSETTLED = (
    "The iteration does not settle: the probed points determine the geometry too weakly, or one of them is wrong. "
    "Probe more points, spread over the whole bed, or measure distances of a printed object too."
)
_DISTANCE_WEIGHT = 0.5
"""Over this share, Klipper weights all probed heights together as it does all distances."""
_HEIGHTS_ALONE = ("endstop_a", "endstop_b", "endstop_c", "radius", "angle_a", "angle_b")
_WITH_DISTANCES = (*_HEIGHTS_ALONE, "arm_a", "arm_b", "arm_c")


@dataclass(frozen=True, eq=False)
class ProbeEquations(ArrayValue):
    """Height of the nozzle less the one that was met, and distance of two points less the one that was printed.

    Measured: a height or a distance, then the readings at one point or two (6; the last three are idle for heights).
    """

    position: Kernel
    is_height: Array
    """(N,): 1 for a height, 0 for a distance."""
    weights: Array
    """(N,): each equation is multiplied by it."""

    def residuals(self, theta: Array, measured: Array) -> Array:
        """(N, 1), m."""
        p, q = (self.position(theta, measured[:, k : k + 3]) for k in (1, 4))
        value = np.where(self.is_height > 0, p[:, 2], np.linalg.norm(p - q, axis=1))
        return (self.weights * (value - measured[:, 0]))[:, None]

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """By the unknowns (N, 1, 10) and by what was measured (N, 1, 7)."""
        ends = [measured[:, k : k + 3] for k in (1, 4)]
        p, q = (self.position(theta, end) for end in ends)
        by_x = [self.position.jacobian("x")(theta, end) for end in ends]
        by_reading = [self.position.jacobian("readings")(theta, end) for end in ends]
        d = p - q
        u = d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
        heights = self.is_height[:, None] > 0
        first = np.where(heights, [0.0, 0.0, 1.0], u)
        second = np.where(heights, 0.0, -u)
        J = sum(np.einsum("ni,nij->nj", a, b) for a, b in zip((first, second), by_x, strict=True))
        parts = [np.einsum("ni,nij->nj", a, b) for a, b in zip((first, second), by_reading, strict=True)]
        J_m = np.hstack([-np.ones((len(measured), 1)), *parts])
        return (self.weights[:, None] * J)[:, None], (self.weights[:, None] * J_m)[:, None]


def printer(probes: KlipperDelta) -> LinearDelta:
    """The printer as it is configured.

    Examples:
        >>> none = np.zeros(0)
        >>> probes = KlipperDelta(0.16, np.zeros(3), np.full(3, 0.3), np.full(3, 0.4), none, none, none, none)
        >>> printer(probes).radius
        0.16
    """
    return LinearDelta(probes.radius, probes.arm, probes.endstop, probes.angle)


def probed(model: LinearDelta, probes: KlipperDelta, *, free: Sequence[str] | None = None) -> NonlinearProblem:
    """The printer's geometry from what DELTA_CALIBRATE has probed, as Klipper poses the problem.

    With heights alone the endstops, the radius and the angles of towers a and b are free; printed distances free the
    arms too, and weigh as Klipper lets them weigh. The angle of tower c stays: it is the frame. The size of the noise
    is not stated, but taken from the residuals.

    Examples:
        >>> delta = LinearDelta()
        >>> xy = 0.1 * np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [0.7, 0.7], [-0.7, 0.7], [0.7, -0.7]])
        >>> readings = delta.inverse(delta.nominal, np.column_stack([xy, np.zeros(8)]))
        >>> none = np.zeros(0)
        >>> probes = KlipperDelta(
        ...     0.16, delta.angle, delta.arm, delta.endstop, np.zeros(8), readings, none, none.reshape(0, 2, 3)
        ... )
        >>> len(probed(delta, probes).unknowns)
        10
    """
    heights, distances = len(probes.heights), len(probes.distances)
    measured = np.zeros((heights + distances, 7))
    measured[:, 0] = np.concatenate([probes.heights, probes.distances])
    measured[:heights, 1:4] = measured[:heights, 4:] = probes.height_readings
    measured[heights:, 1:] = probes.distance_readings.reshape(distances, 6)
    counted = max(heights - probes.manual, 1)
    weight = np.sqrt(distances / (_DISTANCE_WEIGHT * counted)) if distances else 1.0
    is_height = np.repeat([1.0, 0.0], [heights, distances])
    equations = ProbeEquations(model.position_kernel(), is_height, np.where(is_height > 0, weight, 1.0))
    chosen = free if free is not None else (_WITH_DISTANCES if distances else _HEIGHTS_ALONE)
    known = Unknowns(model.names)
    places = [known.index(name) for name in chosen]
    rows = heights + distances
    require(
        rows >= len(places),
        f"{rows} probed points cannot determine {len(places)} dimensions: probe {len(places) + 1} or more",
    )
    lower, upper = model.nominal.copy(), model.nominal.copy()
    lower[places], upper[places] = -np.inf, np.inf
    unknowns = Unknowns(model.names, model.units, model.nominal, Box(lower, upper))
    return NonlinearProblem(equations, measured, unknowns, Gaussian(), Groups(("probe",), is_series=False))
