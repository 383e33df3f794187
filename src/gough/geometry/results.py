"""The answer of a calibration: parameters, closure errors and verdicts."""

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gough.answers import Answer, read_json
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, nearest, require
from gough.core.rotations import log
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import counted, number, plus_minus, shown_unit
from gough.data import Poses
from gough.estimates import Estimate, FitStats
from gough.geometry.diagnosis import Diagnosis
from gough.geometry.frames import Frames
from gough.geometry.held_out import HeldOut, closure
from gough.geometry.predicted_pose import pose_sensitivity, pose_sigma
from gough.methods.statistical.identifiability import Identifiability, identifiability
from gough.problem import NonlinearProblem
from gough.region import ConfidenceEllipsoid, Interval
from gough.robots.kinematics import KinematicModel, PlatformPoses

_95 = 1.959963984540054
_BLOCK = 4096
"""Poses whose derivatives are held at a time."""


@dataclass(frozen=True)
class ChainFit:
    """Closure errors of one chain in m, and what its residuals are correlated with."""

    name: str
    rms_before: float
    rms_after: float
    peak_after: float
    peak_pose: int
    """Number of the pose with the largest residual, from 0."""
    follows_reading: float
    """Correlation of the residuals with the reading; `Calibrated.diagnosis` tests it."""
    follows_travel: float
    """Correlation with the direction that the reading came from; `Calibrated.diagnosis` tests it."""


class CalibratedParameters(Answer):
    """The parameters of a calibrated robot by name: `answer["radius"]`, `answer.interval("radius")`, in SI units."""

    model: KinematicModel
    start: Array
    parameters: Array
    estimate: Estimate

    @property
    @abstractmethod
    def verdicts(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""

    @property
    def names(self) -> tuple[str, ...]:
        """The robot's parameters, and what else was estimated, such as the scale of positions."""
        return tuple(dict.fromkeys((*self.model.names, *self.estimate.unknowns.names)))

    def __getitem__(self, name: str) -> float:
        if name in self.model.names:
            return float(self.parameters[self.model.names.index(name)])
        return self.estimate[name] if name in self.estimate.unknowns.names else self._unknown(name)

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The confidence interval of one parameter, in SI units, at the estimate's level or another one.

        Raises:
            InputError: there is no such parameter, or it was held at its value.
            AssumptionError: the measurements do not show their noise, so that no interval is known.
        """
        if name in self.estimate.unknowns.names:
            return self.estimate.interval(name, level)
        value = self[name]
        raise InputError(f"'{name}' was held at {number(value)} and has no interval; free it to have it estimated")

    def remarks(self) -> tuple[str, ...]:
        """The verdicts."""
        return self.verdicts

    def table(self, truth: Array | None = None) -> Table:
        """Parameters before and after, in mm and degrees where they are lengths and angles; with the truth if known."""
        halves = dict(zip(self.estimate.unknowns.names, self.estimate.half_widths().tolist(), strict=True))
        rows = []
        for i, (name, unit) in enumerate(zip(self.model.names, self.model.units, strict=True)):
            written_unit, factor = shown_unit(unit)
            before, after = self.start[i] * factor, self.parameters[i] * factor
            half = halves[name] * factor if name in halves else np.nan
            texts = [plus_minus(value, half)[0] for value in (before, after, after - before)]
            known = [] if truth is None else [plus_minus(truth[i] * factor, half)[0]]
            spread = plus_minus(after, half)[1] if name in halves else "fixed"
            rows.append([name, written_unit, *texts[:2], spread, texts[2] if name in halves else "—", *known])
        heads = ["parameter", "unit", "before", "after", "± (95%)", "change", *([] if truth is None else ["truth"])]
        return table(heads, rows, "lu" + "r" * (len(heads) - 2), "Geometry before and after")

    @classmethod
    def from_json(cls, text: str, model: KinematicModel) -> "SavedCalibration":
        """The parameters and the estimate that `to_json` wrote, of this robot; poses are not in the file.

        Raises:
            InputError: the text is no such document, or of another robot.
        """
        data = read_json(text)
        try:
            name, verdicts = data["model"], tuple(map(str, data["verdicts"]))
            before, after, estimate = data["before"], data["parameters"], data["estimate"]
        except (KeyError, TypeError) as error:
            raise InputError(f"not a calibration that this version of gough wrote: {error!r}") from error
        require(name == model.name, f"the calibration is of the robot '{name}', not of '{model.name}'")
        start, parameters = (_values(each, model.names) for each in (before, after))
        return SavedCalibration(model, start, parameters, Estimate.from_dict(estimate), verdicts)

    def _unknown(self, name: str) -> float:
        raise InputError(f"no parameter of the {self.model.name} is called '{name}'{nearest(name, self.names)}")


def _values(data: Any, names: tuple[str, ...]) -> Array:
    """Numbers by name as an array."""
    try:
        return np.array([data[name] for name in names], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the calibration lacks the value of a parameter: {error!r}") from error


@dataclass(frozen=True, eq=False)
class SavedCalibration(CalibratedParameters, ArrayValue):
    """A calibration from a file: made by `Calibrated.from_json`."""

    model: KinematicModel
    start: Array
    parameters: Array
    estimate: Estimate
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Those of the calibration."""
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        return {
            "model": self.model.name,
            "parameters": dict(zip(self.model.names, self.parameters.tolist(), strict=True)),
            "before": dict(zip(self.model.names, self.start.tolist(), strict=True)),
            "verdicts": list(self.verdicts),
            "estimate": self.estimate.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Calibrated(CalibratedParameters, ArrayValue):
    """A robot's calibrated geometry. `str()` of it is the account: parameters, verdicts, errors before and after.

    `answer["l1_length"]` is a parameter, `answer.interval("l1_length")` its confidence interval, both in SI units.
    """

    model: KinematicModel
    poses: Poses
    problem: NonlinearProblem
    start: Array
    """The parameters before: the blueprint, in the frames of the measurement."""
    parameters: Array
    """The parameters after; those that were fixed at their value."""
    scale: float
    """Factor of measured positions; 1 unless it was estimated."""
    estimate: Estimate
    chains: tuple[ChainFit, ...]
    values: Array
    """All unknowns of the problem, in its order: parameters, and what else was found."""
    frames: Frames | None
    """Where base and platform are in the frames of instrument and target, if poses are in these: as the blueprint fits
    best, or as they were found with the parameters that were held."""
    validation: HeldOut | None
    doubts: tuple[str, ...]
    """What does not fit and has no mistake of the catalogue, in sentences."""
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    """Mistakes for which the data are evidence."""
    premises: tuple[str, ...] = ()
    """What the answer rests on besides the data and was not stated, such as dimensions; the first of the verdicts."""
    moved_bodies: tuple[str, ...] = ()
    """Bodies of a Gough platform whose joints are given in the frame of instrument or target: "base", "platform"."""

    @cached_property
    def identifiability(self) -> Identifiability:
        """Which unknowns the poses determine, all equations counted alike."""
        return identifiability(self.problem.linearize(self.values).without_fixed()[0])

    @property
    def predicts(self) -> bool:
        """Whether the readings determine poses, and free parameters give predicted poses an uncertainty."""
        determined = len(self.model.chains) == len(self.model.freedoms)
        return determined and bool(set(self.model.names) & set(self.estimate.unknowns.names))

    @property
    def placed(self) -> Frames | None:
        """Base in the instrument's frame and platform in the target's, after the calibration."""
        from gough.geometry.machine import machine_geometry  # noqa: PLC0415 - it builds on this module

        try:
            return machine_geometry(self).frames if self.moved_bodies else self.frames
        except InputError:
            return self.frames

    @property
    def frame_words(self) -> str:
        """In which frames the joints of a Gough platform are given; empty where these are the robot's own."""
        frame = {"base": "the base's in the instrument's frame", "platform": "the platform's in the target's frame"}
        if not self.moved_bodies:
            return ""
        where = " and ".join(frame[body] for body in self.moved_bodies)
        return (
            f"Joints are given as measured, {where}; geometry.toml, and machine in calibration.json, have them in the "
            "robot's own frames."
        )

    @property
    def rms(self) -> tuple[float, float]:
        """Root mean square closure error of all chains before and after, m."""
        before, after = (np.array([getattr(c, f"rms_{when}") for c in self.chains]) for when in ("before", "after"))
        return float(np.sqrt((before**2).mean())), float(np.sqrt((after**2).mean()))

    @property
    def refuted(self) -> bool:
        """Whether the residuals are larger than the stated noise explains (p < 0.001), or the data are suspect.

        The residuals do not show all conventions: legs in another order are other legs to a calibration that starts
        from no blueprint. Such a geometry is not that of the machine.
        """
        return bool(self.suspects) or self.exceeds_noise

    @property
    def exceeds_noise(self) -> bool:
        """Whether the residuals are larger than the stated noise explains (χ², p < 0.001)."""
        return exceeds_noise(self.estimate)

    def predicted_sigma(self, poses: PlatformPoses) -> tuple[Array, Array]:
        """Standard deviations of predicted positions (N,) in m and orientations (N,) in rad: a map of the workspace.

        What the uncertainty of the parameters makes of a pose that is predicted from exact readings.
        """
        names = [name for name in self.estimate.unknowns.names if name in self.model.names]
        C = self.estimate.marginal(*names).region.covariance  # type: ignore[union-attr]
        free = [self.model.names.index(name) for name in names]
        parts = []
        for k in range(0, len(poses.position), _BLOCK):
            some = PlatformPoses(poses.position[k : k + _BLOCK], poses.rotation[k : k + _BLOCK])
            parts.append(pose_sigma(pose_sensitivity(self.model, self.parameters, some)[..., free], C))
        return np.concatenate([each[0] for each in parts]), np.concatenate([each[1] for each in parts])

    def chain_table(self) -> Table:
        """Closure errors by chain, and their correlations with the reading and the direction of travel."""
        rows: list[list[str | Cell]] = [
            [
                c.name,
                *(number(1e3 * v, digits=3) for v in (c.rms_before, c.rms_after, c.peak_after)),
                self.poses.label(c.peak_pose),
                *(
                    Cell(f"{r:+.2f}", mark="bad" if self.diagnosis.of_chain(k, mistake) else "")
                    for r, mistake in ((c.follows_reading, "gain"), (c.follows_travel, "backlash"))
                ),
            ]
            for k, c in enumerate(self.chains)
        ]
        errors = [Column(head, unit="mm") for head in ("rms before", "rms after", "peak")]
        heads: list[str | Column] = ["chain", *errors, "at pose", "r(reading)", "r(travel)"]
        return table(heads, rows, "lrrrrrr", "Closure of each chain")

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Premises, suspicious data, tests of the residuals and of the prediction, in sentences."""
        check = self.validation
        doubts = () if check is None else tuple(filter(None, (self.improvement, check.words)))
        texts = tuple(each.words for each in self.diagnosis.effects)
        notes = (*self.estimate.notes, *self.scarcity)
        return (*self.premises, *self.poses.notes, *self.suspects, *texts, *notes, *doubts)

    @property
    def improvement(self) -> str:
        """How the prediction of the validation poses changes, and what that shows; empty without such poses."""
        if self.validation is None:
            return ""
        if self.suspects:
            return (
                f"{self.validation.summary} This does not confirm the geometry: the validation poses are read in the "
                "same way as the others."
            )
        if self.exceeds_noise and self.validation.is_better:
            return f"{self.validation.summary} The residuals are refuted all the same."
        return self.validation.summary

    @property
    def scarcity(self) -> tuple[str, ...]:
        """How few equations are spare, and whether the ± exceeds the changes, in sentences; empty with enough poses."""
        n, unknowns = len(self.model.chains), self.estimate.unknowns
        equations = len(self.poses) * n
        spare = equations - len(unknowns)
        if isinstance(unknowns.prior, ConfidenceEllipsoid) or spare >= 2 * n:
            return ()
        few = "none is" if spare <= 0 else f"only {spare} {'is' if spare == 1 else 'are'}"
        tests = (
            "nothing tests the noise, the model or single poses" if spare <= 0 else "tests of noise and model are weak"
        )
        words = [f"Of {equations} equations {few} spare: {tests}. Measure more poses."]
        lengths = [
            k for k, name in enumerate(self.model.names) if name in unknowns.names and self.model.units[k] == "m"
        ]
        half = dict(zip(unknowns.names, self.estimate.half_widths().tolist(), strict=True))
        if lengths:
            wide = float(np.median([half[self.model.names[k]] for k in lengths]))
            change = float(np.median(abs(self.parameters - self.start)[lengths]))
            if wide > change:
                sizes = (f"{number(1e3 * v, digits=2)} mm" for v in (wide, change))
                advice = (
                    "" if self.frames is not None else " State the tolerance of the blueprint, or measure more poses."
                )
                words.append(
                    "The median ± of lengths, {}, exceeds their median change, {}: the calibrated values may be worse "
                    "than those of the blueprint.".format(*sizes)
                    + advice
                )
        return tuple(words)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Probable faults of how the data are read, in sentences: no number may be used before they are corrected."""
        return (*(each.words for each in self.diagnosis.conventions), *self.doubts)

    @property
    def residuals(self) -> Array:
        """What is left of the closure of each chain at each pose (N, chains), m."""
        poses = self.poses
        rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
        return closure(
            self.model, self.parameters, PlatformPoses(poses.position * self.scale, rotation), poses.readings
        )

    def headlines(self) -> tuple[str, ...]:
        """Number of parameters and poses, and rms before and after."""
        before, after = self.rms
        what = f"{self.model.name}: {len(self.estimate.unknowns)} parameters from {counted(len(self.poses), 'pose')}"
        return (f"{what}; closure {number(1e3 * before)} mm before, {number(1e3 * after)} mm after (rms).",)

    def __str__(self) -> str:
        parts = [
            *self.premises,
            *self.headlines(),
            *self.verdicts[len(self.premises) :],
            "",
            str(self.table()),
            *((self.frame_words,) if self.frame_words else ()),
            "",
            *((str(frame_table(self.placed)), "") if self.placed is not None else ()),
            str(self.chain_table()),
            "",
            str(self.identifiability),
        ]
        if self.validation is not None:
            parts += ["", "On validation poses:", str(self.validation)]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        before, after = self.rms
        return {
            "model": self.model.name,
            "poses": len(self.poses),
            "parameters": dict(zip(self.model.names, self.parameters.tolist(), strict=True)),
            "before": dict(zip(self.model.names, self.start.tolist(), strict=True)),
            "units": dict(zip(self.model.names, self.model.units, strict=True)),
            "scale": self.scale,
            "closure_rms": {"before": before, "after": after},
            "chains": [c.__dict__ for c in self.chains],
            "refuted": self.refuted,
            "premises": list(self.premises),
            "mistakes": [
                {"mistake": each.mistake, "p": each.p, "chain": each.chain, "poses": list(each.poses)}
                for each in self.diagnosis.accusations
            ],
            "verdicts": list(self.verdicts),
            "frames": None if self.placed is None else self.placed.to_dict(),
            "frame": self.frame_words or "Parameters are given in the robot's own frames.",
            "machine": machine_data(self),
            "validation": None
            if self.validation is None
            else [{"what": what, "before": b, "after": a} for what, b, a in self.validation.rows()],
            "estimate": self.estimate.to_dict(),
        }


def exceeds_noise(estimate: Estimate) -> bool:
    """Whether residuals are larger than the stated noise explains (χ², p < 0.001)."""
    stats = estimate.stats
    if not isinstance(stats, FitStats) or stats.chi_squared is None or stats.chi_squared_p is None:
        return False
    return stats.chi_squared > 1 and stats.chi_squared_p < 1e-3


def machine_data(calibrated: Calibrated) -> dict[str, Any] | None:
    """Parameters, covariance and frames in the machine's own frame for JSON; None where there is no such robot."""
    from gough.geometry.machine import machine_geometry  # noqa: PLC0415 - it builds on this module

    try:
        geometry = machine_geometry(calibrated)
    except InputError:
        return None
    return {
        "parameters": dict(zip(calibrated.model.names, geometry.model.nominal.tolist(), strict=True)),
        "covariance": None if geometry.covariance is None else geometry.covariance.tolist(),
        "frames": None if geometry.frames is None else geometry.frames.to_dict(),
    }


def frame_table(frames: Frames) -> Table:
    """Base in the instrument's frame and platform in the target's: origins, and rotation vectors, with ± 95 %."""
    half = np.full(12, np.nan)
    if frames.covariance is not None:
        half = _95 * np.sqrt(np.maximum(frames.covariance.diagonal(), 0.0))
    rows = []
    for i, (name, motion) in enumerate(
        (("base in the instrument's frame", frames.base), ("platform in the target's", frames.target))
    ):
        values = np.concatenate([1e3 * motion.t, np.degrees(log(motion.R[None])[0])])
        spread = half[6 * i : 6 * i + 6] * np.repeat([1e3, 180 / np.pi], 3)
        cells = [
            " ± ".join(plus_minus(value, each)) if each > 0 else f"{value:.3f}"
            for value, each in zip(values, spread, strict=True)
        ]
        rows.append([name, *cells])
    heads = ["", "x, mm", "y, mm", "z, mm", "rx, °", "ry, °", "rz, °"]
    return table(heads, rows, "lrrrrrr", "Frames")
