"""What an identification answers with. Plain values: nothing here computes an estimate."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.answers import Answer, read_json
from gough.core import outward
from gough.core.arrays import Array
from gough.core.errors import InputError, nearest
from gough.core.tables import Table
from gough.core.text import listed, number, on_factors, percent, spelled_out
from gough.data import MeasuredMotion
from gough.dynamics.adequacy import Adequacy, Finding
from gough.dynamics.bounds import rounded_up
from gough.dynamics.reduce import parameters_with_efforts_of
from gough.dynamics.tables import parameter_table, regroupings
from gough.dynamics.text import as_given, by_actuator, measured_rows
from gough.dynamics.validation import Validation
from gough.estimates import Claim, Estimate, Status
from gough.methods.bounded.minimal_bound import MinimalBound
from gough.methods.statistical.identifiability import Identifiability
from gough.problem import LinearProblem
from gough.region import Interval
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_WEAK = 1000.0
"""Condition from which on the weakest direction is worth a word."""


class EstimatesByMethod(Answer):
    """The estimates of several methods: `answer["hull"]` is that of one method.

    `answer["mass"]` and `answer.interval("mass")` are by the first method that succeeded, `answer.intervals("mass")`
    by every method.
    """

    estimates: Mapping[str, Estimate]
    fixed: Mapping[str, float]
    premises: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that some method estimated."""
        return tuple(dict.fromkeys(name for estimate in self.estimates.values() for name in estimate.unknowns.names))

    def __getitem__(self, name: str) -> Any:
        """The estimate of the method of this name, or else the value of the parameter of this name.

        The value is by the first method that succeeded, the one that `interval` takes; a fixed parameter has its value.
        """
        if name in self.estimates:
            return self.estimates[name]
        return self.fixed[name] if name in self.fixed else self._preferred(name)[name]

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The interval of one parameter by the first method that succeeded and gives one, see `Estimate.interval`.

        Raises:
            InputError: no estimate has a parameter of this name, or the prior fixes it.
            AssumptionError: no method gives an interval.
        """
        self._require_free(name)
        return self._preferred(name).interval(name, level)

    def _by_preference(self) -> Mapping[str, Estimate]:
        return self.estimates

    def _preferred(self, name: str) -> Estimate:
        """The first estimate of this parameter, those that succeeded and those with an interval before others."""
        known = [estimate for estimate in self._by_preference().values() if name in estimate.unknowns.names]
        if not known:
            methods = ", ".join(self.estimates)
            close = nearest(name, (*self.estimates, *self.names))
            raise InputError(f"no estimate or parameter is called '{name}'{close} (known estimates: {methods})")
        return min(known, key=lambda each: (each.status is not Status.OK, each.claim is Claim.VALUE))

    def _require_free(self, name: str) -> None:
        if name in self.fixed:
            raise InputError(f"'{name}' is fixed at {self.fixed[name]:g} by the prior and was not estimated")

    def intervals(self, name: str) -> dict[str, Interval]:
        """The interval of one unknown by each method that gives one, see `Estimate.interval`.

        Methods are left out that did not succeed or claim a VALUE alone.

        Raises:
            InputError: no estimate has an unknown of this name.
        """
        able = {
            label: estimate
            for label, estimate in self.estimates.items()
            if estimate.status is Status.OK and estimate.claim is not Claim.VALUE
        }
        self._require_free(name)
        if name not in self.names:
            raise InputError(f"no unknown is called '{name}'{nearest(name, self.names)}")
        return {label: each.interval(name) for label, each in able.items() if name in each.unknowns.names}

    @property
    @abstractmethod
    def verdicts(self) -> tuple[str, ...]:
        """What a reader must know, in sentences."""

    @property
    @abstractmethod
    def regroupings(self) -> dict[str, str]:
        """What each short label of the table stands for: combinations of parameters."""

    @abstractmethod
    def table(self, truth: Array | None = None) -> Table:
        """A row for each parameter, a column for each method; against the true values where they are known."""

    def remarks(self) -> tuple[str, ...]:
        """What short labels stand for, and the verdicts."""
        combined, rounded = self.regroupings, on_factors(self.regroupings.values())
        lines = [f"{label} = {text}" for label, text in combined.items()]
        return (*lines, *([rounded] if rounded else []), *self.verdicts)

    @classmethod
    def from_json(cls, text: str) -> "SavedEstimates":
        """The estimates that `to_json` wrote; robot, motion and verdicts are not in the file.

        Raises:
            InputError: the text is no such document.
        """
        return SavedEstimates(estimates_from_json(text))

    def to_dict(self) -> dict[str, Any]:
        """All estimates by the name of their method as plain data; the notes of each begin with the premises."""
        return {
            label: replace(estimate, notes=(*self.premises, *estimate.notes)).to_dict()
            for label, estimate in self.estimates.items()
        }


@dataclass(frozen=True, eq=False)
class SavedEstimates(EstimatesByMethod):
    """Estimates of several methods from a file: made by `Identified.from_json`."""

    estimates: Mapping[str, Estimate]
    fixed: Mapping[str, float] = field(default_factory=dict)
    premises: tuple[str, ...] = ()

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The notes of all estimates."""
        return tuple(dict.fromkeys(note for estimate in self.estimates.values() for note in estimate.notes))

    @property
    def regroupings(self) -> dict[str, str]:
        """What each short label of the table stands for: combinations of parameters."""
        return spelled_out(self._unknowns.names)

    @property
    def _unknowns(self) -> Unknowns:
        return next(iter(self.estimates.values())).unknowns

    def table(self, truth: Array | None = None) -> Table:
        """A row for each parameter, a column for each method; against the true values where they are known."""
        return parameter_table(self._unknowns, self.estimates, truth)


def estimates_from_json(text: str) -> dict[str, Estimate]:
    """The estimates by the name of their method, from what `to_json` returned or the file estimate.json of a report.

    Raises:
        InputError: the text is not JSON, or is no such document.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> answer = identify(*random_motion(1), methods=["weighted", "hull"], compare=False)
        >>> estimates_from_json(answer.to_json()) == dict(answer.estimates)
        True
    """
    data = read_json(text)
    if not isinstance(data, dict) or not data or "type" in data:
        raise InputError("expected estimates by the name of their method; for a single one use Estimate.from_json")
    return {label: Estimate.from_dict(each) for label, each in data.items()}


class RobotEstimates(EstimatesByMethod):
    """The estimates of a robot's parameters, from which efforts can be computed."""

    robot: DynamicModel
    identifiability: Identifiability

    def parameters(self, method: str) -> Array:
        """Parameters of the robot that have the efforts of one estimate, for `gough.robots.efforts`.

        Where only combinations are determined, the first parameter of each has the value of the combination, and the
        others are 0: these are not their values, and efforts are right for motions in which the same combinations act.

        Raises:
            InputError: there is no estimate of this name.
        """
        if method not in self.estimates:
            raise InputError(f"no estimate is called '{method}'{nearest(str(method), self.estimates)}")
        return parameters_with_efforts_of(self.robot.names, self.identifiability, self.estimates[method], self.fixed)


@dataclass(frozen=True, eq=False)
class Identified(RobotEstimates):
    """A robot's parameters by every requested method, with verdicts on data, model and prediction.

    `print` shows a table of all methods with the verdicts. `identified["hull"]` is the estimate of one method;
    `identified["mass"]` and `identified.interval("mass")` are by the first method that succeeded, and
    `identified.intervals("mass")` are the intervals by every method.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> identified = identify(*random_motion(1), methods=["weighted", "hull"], compare=False)
        >>> identified["hull"].claim.name, identified.smallest_bound.round(3), identified.bound_is_given
        ('PROOF', array([0.097, 0.099]), False)
    """

    robot: DynamicModel
    motion: MeasuredMotion
    problem: LinearProblem
    """What the statistical methods solved: fixed parameters taken out, reduced to base parameters where rows do not
    determine all. All estimates have its unknowns."""
    bounded: LinearProblem
    """The problem of the set methods, with their error bounds. Where the prior is open, its sides are closed by a box
    ten times as wide as the one that Gauss–Seidel proves to hold every consistent θ: none is lost."""
    identifiability: Identifiability
    """Identifiability of all free parameters, before the reduction."""
    estimates: Mapping[str, Estimate]
    """By name of the method, in the order asked for; those that failed too, with their status and words."""
    refused: Mapping[str, str]
    """Methods that could not begin, with the reason."""
    scale: Array
    """What the factor of `minimal` multiplies, for each actuator: the given bound, or else its residual rms."""
    minimal: MinimalBound
    """The smallest factor on `scale` with which some parameters explain every row."""
    bound: Array
    """Error bound of each actuator that the sets were given."""
    bound_is_given: bool
    """False: it is `margin` · ε*, taken from the data, so the sets are conditional on it."""
    margin: float
    """bound / ε* where the bound is taken from the data."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Parameters that the prior fixes, with their values."""
    adequacy: Adequacy | None = None
    validation: Validation | None = None
    notes: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    """What the answer rests on besides the data and was not stated, such as dimensions; the first of the verdicts."""

    def __post_init__(self) -> None:
        for name in ("estimates", "refused", "fixed"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def smallest_bound(self) -> Array:
        """ε* of each actuator, from above: `minimal.point` explains every row with errors of this size."""
        return rounded_up(self.minimal.upper, self.scale)

    @property
    def proved_bound(self) -> Array:
        """ε* of each actuator, from below: no parameters within the prior explain every row with smaller errors.

        Errors of all actuators are smaller in proportion.
        """
        return -rounded_up(-self.minimal.lower, self.scale)

    @property
    def has_prior(self) -> bool:
        """Does a prior bound or fix parameters? Then ε* is about the parameters within it only."""
        bounds = self.problem.unknowns.bounds
        return bool(self.fixed) or bool(np.isfinite(bounds.lower).any() or np.isfinite(bounds.upper).any())

    @property
    def is_refuted(self) -> bool:
        """Do the data refute the stated error bound, or is the model that was used found inadequate?"""
        return (
            (self.bound_is_given and self.minimal.is_inconsistent)
            or any(estimate.status is Status.INCONSISTENT for estimate in self.estimates.values())
            or (self.adequacy is not None and self.adequacy.finding is Finding.INADEQUATE)
        )

    @property
    def succeeded(self) -> Mapping[str, Estimate]:
        """The estimates whose status is OK."""
        return MappingProxyType({name: e for name, e in self.estimates.items() if e.status is Status.OK})

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What a reader must know, a paragraph each: premises, data, bound, methods that failed, model, validation.

        Examples:
            >>> from gough.dynamics import identify
            >>> from gough.dynamics.example import random_motion
            >>> identify(*random_motion(1), methods=["hull"], compare=False).verdicts[0].split(";")[0]
            '15 of 21 parameters or combinations of them are determined by 600 rows'
        """
        paragraphs = [self.premises, self.on_recordings, self.on_data, self.on_bound, self.on_failures]
        paragraphs += [part.sentences for part in (self.adequacy, self.validation) if part is not None]
        return tuple(" ".join(sentences) for sentences in (*paragraphs, self.notes) if sentences)

    @property
    def on_recordings(self) -> tuple[str, ...]:
        """Suspicious channels of the recordings, such as angles that may be in degrees, in sentences."""
        return tuple(f"Check {line.step}: {remark}." for line in self.motion.account for remark in line.remarks)

    @property
    def on_data(self) -> tuple[str, ...]:
        """The rows that were used and the parameters that they determine, in sentences."""
        analysis, n_rows, complete = self.identifiability, self.problem.n_rows, self.motion.kept.size
        rows = f"{n_rows} rows" if n_rows == complete else f"{n_rows} rows ({percent(1 - n_rows / complete)} masked)"
        what = "parameters are" if analysis.is_full_rank else "parameters or combinations of them are"
        lines = [
            (
                f"{analysis.rank} of {len(analysis.names)} {what} determined by {rows}; "
                f"condition number {analysis.condition:.3g}."
            )
        ]
        if analysis.not_identifiable:
            lines.append(f"Not determined individually: {listed(analysis.not_identifiable)}.")
        if analysis.condition > _WEAK:
            lines.append(
                f"The worst-excited direction is {analysis.weakest}: excite it more, or fix a parameter by a prior."
            )
        if self.fixed:
            known = [f"{name} = {number(value)}" for name, value in self.fixed.items()]
            lines.append(f"Fixed by the prior: {listed(known)}.")
        return tuple(lines)

    @property
    def on_bound(self) -> tuple[str, ...]:
        """ε*, the bound that was used, and what that means for the sets, in sentences."""
        units, names = self.robot.effort_units, self.robot.actuators
        enough = by_actuator(self.smallest_bound, units, names, outward.at_most)
        floor = f"Some parameters explain every row with errors of ε* = {enough}; it is not proven that none need less"
        if self.minimal.lower > 0:
            least = by_actuator(self.proved_bound, units, names, outward.at_least)
            within = " within the prior" if self.has_prior else ""
            floor = f"No parameters{within} explain every row with errors below ε* = {least} (proven)"
            if self.minimal.lower < 0.99 * self.minimal.upper:
                floor += f", and some do with errors of {enough}"
        # The sets are proven for the bound that was used; for a smaller one, as printed, they hold as well.
        used = by_actuator(self.bound, units, names, outward.at_least)
        if not self.bound_is_given:
            condition = "it is taken from the data, so the sets are conditional on it"
            return (f"{floor}.", f"The error bound is {self.margin:g} ε* = {used}: {condition}.")
        stated = f"the given error bound of {by_actuator(self.bound, units, names, as_given)}"
        if self.minimal.is_inconsistent:
            prior = ", or the prior is wrong" if self.has_prior else ""
            causes = f"Either errors are larger than stated, or the model is wrong, or some rows are outliers{prior}."
            if self.minimal.rows:
                rows = measured_rows(self.motion, self.minimal.rows)
                causes = f"The contradiction involves {rows}: check these first. {causes}"
            return (f"{floor}: {stated} is refuted.", causes)
        ratio = 1 / self.minimal.upper if self.minimal.upper > 0 else np.inf
        lines = [f"{floor}; {stated} is {number(ratio, digits=3)} times that."]
        if ratio < self.margin:
            lines.append(
                "So close to ε*, a set can be small and still exclude the true parameters, because errors that fit the "
                "model by chance leave no residual. State a larger bound unless this one is certain."
            )
        return tuple(lines)

    @property
    def on_failures(self) -> tuple[str, ...]:
        """Methods without an answer, each with the reason, in sentences."""
        failed = [(label, each) for label, each in self.estimates.items() if each.status is not Status.OK]
        lines = [" ".join([f"{label} is {each.status.value}.", *each.notes]) for label, each in failed]
        return (*lines, *(f"{label} could not be used: {reason}" for label, reason in self.refused.items()))

    @property
    def regroupings(self) -> dict[str, str]:
        """What each short label of the table stands for: combinations of parameters."""
        return regroupings(self.robot, self.identifiability, self.problem.unknowns.names)

    def table(self, truth: Array | None = None) -> Table:
        """A row for each parameter, a column for each method; against the true values where they are known."""
        return parameter_table(self.problem.unknowns, self.estimates, truth)
