"""The answer of a calibration by instruments: geometry, instruments, and what the measurements determine."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.rotations import to_quaternion
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import counted, number, shown_unit
from gough.estimates import Estimate, FitStats
from gough.geometry.instruments.freedoms import Freedoms, Placing
from gough.geometry.instruments.measurements import Measurements
from gough.geometry.instruments.noise import NoiseEstimates
from gough.geometry.machine import MachineGeometry, middle_of, parameter_covariance, with_values
from gough.geometry.results import CalibratedParameters
from gough.methods.statistical.identifiability import Identifiability
from gough.region import ConfidenceEllipsoid
from gough.robots.arguments import finite_parameters
from gough.robots.kinematics import KinematicModel, PlatformPoses

if TYPE_CHECKING:
    from gough.geometry.instruments.nested import Nested

_NAMED = 5
_POSES_IN_FILE = 10_000
"""The JSON file holds the estimated poses if there are no more."""
_WEAK = 0.1
"""Share of the workspace beyond which ± of a length is called weak."""


@dataclass(frozen=True, eq=False)
class InstrumentFit(ArrayValue):
    """Residuals of one instrument, or of the readings."""

    name: str
    kind: str
    count: int
    """Numbers that were measured."""
    groups: tuple[tuple[str, float, float], ...]
    """Unit, and root mean square of the residuals before and after, for channels of each unit."""
    rms: float
    """Root mean square of the residuals after, in standard deviations."""
    worst: float
    """Largest of them."""
    worst_pose: int
    worst_channel: str


@dataclass(frozen=True, eq=False)
class CalibratedByInstruments(CalibratedParameters, ArrayValue):
    """A robot's geometry from what any instruments measured. `str()` of it is the account.

    `answer["l1"]` is a parameter of the robot or of an instrument (`answer["tracker.x"]`), `answer.interval("l1")` its
    confidence interval, both in SI units.
    """

    model: KinematicModel
    measurements: Measurements
    start: Array
    """The robot's parameters before: the blueprint."""
    parameters: Array
    estimate: Estimate
    """All that was estimated: parameters of the robot and of the instruments."""
    instruments: tuple[InstrumentFit, ...]
    identifiability: Identifiability
    freedoms: Freedoms
    placing: Placing
    """Where free frames are put."""
    poses: PlatformPoses
    """The poses as estimated, in the robot's frame."""
    is_planned: bool = False
    """Whether nothing was measured yet: ± are those to expect."""
    premises: tuple[str, ...] = ()
    noise: NoiseEstimates | None = None
    """Standard deviations that were estimated, as they were not stated."""
    nested: "Nested | None" = None
    """Tests of groups of parameters, where these were asked for."""

    @property
    def refuted(self) -> bool:
        """Whether the residuals are larger than the stated noise explains (p < 0.001)."""
        stats = self.estimate.stats
        if self.is_planned or not isinstance(stats, FitStats) or stats.chi_squared is None:
            return False
        assert stats.chi_squared_p is not None
        return stats.chi_squared > 1 and stats.chi_squared_p < 1e-3

    def with_noise(self, noise: NoiseEstimates) -> "CalibratedByInstruments":
        """This answer with Student's quantiles; without χ², as residuals do not test a noise estimated from them."""
        region, stats = self.estimate.region, self.estimate.stats
        if isinstance(region, ConfidenceEllipsoid):
            region = replace(region, dof=noise.dof)
        if isinstance(stats, FitStats):
            stats = replace(stats, chi_squared=None, chi_squared_p=None)
        notes = (noise.words, *(note for note in self.estimate.notes if not note.startswith("χ²/dof")))
        return replace(self, estimate=replace(self.estimate, region=region, stats=stats, notes=notes), noise=noise)

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the estimated parameters of instruments."""
        return tuple(name for name in self.estimate.unknowns.names if name not in set(self.model.names))

    def departure_from(self, parameters: Any) -> Array:
        """The robot's estimated parameters less others, whose frames are first put as those of this answer.

        The motion of the frames counts to first order. Fixed parameters are compared as they are.
        """
        other = finite_parameters(self.model, parameters, "parameters")
        difference = self.parameters - other
        free = [i for i, name in enumerate(self.model.names) if name in set(self.estimate.unknowns.names)]
        if self.freedoms.directions.shape[1]:
            away = np.zeros(len(self.estimate.unknowns))
            away[: len(free)] = difference[free]
            difference[free] += self.placing.correction(self.freedoms.directions, away)[: len(free)]
        return difference

    @property
    def geometry(self) -> MachineGeometry:
        """The robot as it was found, in its own frame, with covariance: the content of geometry.toml.

        It states no closure errors, which are those of measured poses.

        Raises:
            InputError: a robot with these dimensions cannot be, or is not one of the library's.
        """
        made, readings = with_values(self.model, self.parameters), self.measurements.readings
        missing = np.isnan(readings)
        if missing.any():
            readings = np.where(missing, self.model.inverse(self.parameters, *self.poses), readings)
        ends, middle = middle_of(readings)
        place = PlatformPoses(self.poses.position[middle][None], self.poses.rotation[middle][None])
        covariance, stats = parameter_covariance(self), self.estimate.stats
        return MachineGeometry(
            made,
            covariance,
            n_poses=len(self.measurements),
            spare=int(stats.dof) if isinstance(stats, FitStats) else 0,
            readings=ends,
            home_readings=readings[middle],
            home=place,
        )

    def instrument_table(self) -> Table:
        """Residuals by instrument before and after, in mm or degrees and in standard deviations."""
        rows: list[list[str | Cell]] = []
        for fit in self.instruments:
            for k, (unit, before, after) in enumerate(fit.groups):
                written, factor = shown_unit(unit)
                first = [fit.name, fit.kind, str(fit.count)] if k == 0 else ["", "", ""]
                texts = ["—", "—"] if self.is_planned else [number(v * factor, digits=3) for v in (before, after)]
                last = "—" if self.is_planned else f"{fit.rms:.2f}" if k == 0 else ""
                rows.append([*first, written, *texts, last])
        heads: list[str | Column] = [
            "instrument", "kind", "measured", "unit", "rms before", "rms after", "rms/σ"
        ]  # fmt: skip
        return table(heads, rows, "lwrurrr", "Residuals of the instruments")

    def part_table(self) -> Table:
        """Estimated parameters of the instruments."""
        halves = dict(zip(self.estimate.unknowns.names, self.estimate.half_widths().tolist(), strict=True))
        units = dict(zip(self.estimate.unknowns.names, self.estimate.unknowns.units, strict=True))
        rows = []
        for name in self.own:
            written, factor = shown_unit(units[name])
            half = halves[name] * factor
            value = "—" if self.is_planned else number(self.estimate[name] * factor, half)
            rows.append([name, written, value, number(half, digits=2)])
        return table(["parameter", "unit", "value", "± (95%)"], rows, "lurr", "Instruments")

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Premises, free frames, tests of the residuals and poor measurements, in sentences."""
        free, nested = self.freedoms.words, "" if self.nested is None else self.nested.words
        return tuple(
            filter(None, (*self.premises, nested, free, *self.estimate.notes, self.weak_words, self.outlier_words))
        )

    @property
    def weak_words(self) -> str:
        """Lengths that are known to no better than a tenth of the workspace; empty without any."""
        halves = zip(self.estimate.names, self.estimate.unknowns.units, self.estimate.half_widths(), strict=True)
        weak = [(name, half) for name, unit, half in halves if unit == "m" and not half < _WEAK * self.placing.size]
        if not weak:
            return ""
        worst = sorted(weak, key=lambda each: -each[1])
        names = ", ".join(f"{name} (± {number(1e3 * half, digits=2)} mm)" for name, half in worst[:_NAMED])
        more = f" and {len(weak) - _NAMED} more" if len(weak) > _NAMED else ""
        return (
            f"The measurements hardly determine {names}{more}, in a workspace of {number(1e3 * self.placing.size)} mm "
            "(rms): measure poses farther apart, add an instrument, or fix parameters that are known."
        )

    @property
    def outlier_words(self) -> str:
        """The largest residuals that are too large for chance among all measured numbers; empty without any."""
        if self.is_planned:
            return ""
        from scipy.special import ndtri  # noqa: PLC0415 - start-up time

        largest = -float(ndtri(5e-4 / max(self.measurements.n_measured, 1)))
        bad = sorted((fit for fit in self.instruments if fit.worst > largest), key=lambda fit: -fit.worst)
        if not bad:
            return ""
        texts = [
            f"{fit.name}, {fit.worst_channel} at pose {self.measurements.label(fit.worst_pose)}: {fit.worst:.3g} σ"
            for fit in bad[:_NAMED]
        ]
        return (
            f"Residuals of up to {bad[0].worst:.3g} σ, where {largest:.2g} σ are to be expected: {'; '.join(texts)}. "
            "Probably a bad measurement, or noise that is stated too small; leave it out and compare."
        )

    def headlines(self) -> tuple[str, ...]:
        """Number of parameters, poses and measured numbers."""
        n = len(self.estimate.unknowns)
        what = f"{counted(len(self.measurements), 'pose')} and {counted(self.measurements.n_measured, 'number')}"
        if self.is_planned:
            return (f"{self.model.name}: {n} parameters would be estimated from {what}.",)
        return (f"{self.model.name}: {n} parameters from {what}.",)

    def __str__(self) -> str:
        parts = [*self.premises, *self.headlines(), *self.verdicts[len(self.premises) :], "", str(self.table())]
        parts += ["", str(self.instrument_table())]
        if self.own:
            parts += ["", str(self.part_table())]
        if self.nested is not None:
            parts += ["", str(self.nested.table())]
        return "\n".join([*parts, "", str(self.identifiability)])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        return {
            "model": self.model.name,
            "poses": len(self.measurements),
            "planned": self.is_planned,
            "parameters": dict(zip(self.model.names, self.parameters.tolist(), strict=True)),
            "before": dict(zip(self.model.names, self.start.tolist(), strict=True)),
            "units": dict(zip(self.model.names, self.model.units, strict=True)),
            "instruments": [
                {
                    "name": fit.name,
                    "kind": fit.kind,
                    "measured": fit.count,
                    "rms": [{"unit": unit, "before": before, "after": after} for unit, before, after in fit.groups],
                    "rms_in_sigma": fit.rms,
                }
                for fit in self.instruments
            ],
            "noise": None
            if self.noise is None
            else [
                {"of": each.name, "sigma": float(sigma), "relative_error": float(error), "unit": each.unit}
                for each, sigma, error in zip(self.noise.components, self.noise.sigma, self.noise.relative, strict=True)
            ],
            "nested": None if self.nested is None else self.nested.to_dict(),
            "free_motions": [motion.words for motion in self.freedoms.motions],
            "refuted": self.refuted,
            "premises": list(self.premises),
            "verdicts": list(self.verdicts),
            "estimated_poses": None
            if len(self.measurements) > _POSES_IN_FILE
            else {
                "position": self.poses.position.tolist(),
                "quaternion": to_quaternion(self.poses.rotation).tolist(),
            },
            "estimate": self.estimate.to_dict(),
        }
