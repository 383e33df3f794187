"""What an identification answers with. Plain values: nothing here computes an estimate."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from warnings import warn

import numpy as np

from gough.answers import Answer, read_json
from gough.core import outward
from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.tables import Table
from gough.core.text import listed, number, on_factors, percent, short_labels, spelled_out
from gough.data import MeasuredMotion
from gough.dynamics.adequacy import Adequacy, Finding
from gough.dynamics.bodies.certified import CertifiedBodies
from gough.dynamics.bodies.possible import PossibleBodies
from gough.dynamics.bounds import rounded_up
from gough.dynamics.named import ByMethod
from gough.dynamics.noise_level import STATED, NoiseLevel
from gough.dynamics.physics import Physics
from gough.dynamics.position_errors import MOVED
from gough.dynamics.recommended import Recommendation, coverage_sign, held_out_sign, sentences_against
from gough.dynamics.reduce import parameters_with_efforts_of
from gough.dynamics.signs import Sign
from gough.dynamics.tables import Blueprint, parameter_table, regroupings, sides
from gough.dynamics.text import as_given, by_actuator, measured_rows
from gough.dynamics.validation import Validation
from gough.dynamics.verdict import Verdict
from gough.estimates import Claim, Estimate, Status
from gough.methods.bounded.minimal_bound import MinimalBound
from gough.methods.statistical.identifiability import Identifiability
from gough.problem import LinearProblem
from gough.region import Interval
from gough.robots.mechanism import MechanismModel
from gough.robots.model import DynamicModel, require_moved
from gough.unknowns import Unknowns

_EXCITED = 1e-4
"""Part of a parameter's effect from which on it counts as excited; rounding of the base parameters is far below."""
_MOST_NAMED = 6
"""Parameters that a warning names."""
_WEAK = 1000.0
"""Condition from which on the weakest direction is worth a word."""


class EstimatesByMethod(Answer):
    """The estimates of several methods: `answer["hull"]` is that of one method.

    `answer["mass"]` and `answer.interval("mass")` are by the first method that succeeded, `answer.intervals("mass")`
    by every method, and `answer.interval("mass", method="gauss-markov")` is by one. The name of a method may be spelled
    in any way, see `ByMethod`.
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
        A combination has its whole name, or its label in the table, such as `I_1*`.
        """
        if name in list(self.estimates):
            return self.estimates[name]
        full = self._full_name(name)
        if full in self.fixed:
            return self.fixed[full]
        if name in self.estimates and full not in self.names:  # another spelling of a method's name
            return self.estimates[name]
        return self._preferred(full)[full]

    def interval(self, name: str, level: float | None = None, *, method: str | None = None) -> Interval:
        """The interval of one parameter, see `Estimate.interval`.

        Args:
            name: The parameter.
            level: The confidence level, where the method has one.
            method: The name of a method; None takes the first one that succeeded and gives an interval.

        Raises:
            InputError: no estimate has a parameter of this name, the prior fixes it, or there is no such method.
            AssumptionError: no method gives an interval, or not the one that is named.
        """
        self._require_free(name)
        name = self._full_name(name)
        return (self._preferred(name) if method is None else self._by(method)).interval(name, level)

    def _by(self, method: str) -> Estimate:
        """The estimate of one method."""
        if method not in self.estimates:
            known = ", ".join(self.estimates)
            raise InputError(f"no estimate is called '{method}'{nearest(str(method), self.estimates)} (known: {known})")
        return self.estimates[method]

    def _full_name(self, name: str) -> str:
        """The name of the combination that has this label in the table; any other name as it is."""
        return name if name in self.names else spelled_out(self.names).get(name, name)

    def _by_preference(self) -> Mapping[str, Estimate]:
        return self.estimates

    def _preferred(self, name: str) -> Estimate:
        """The first estimate of this parameter, those that succeeded and those with an interval before others."""
        known = [estimate for estimate in self._by_preference().values() if name in estimate.unknowns.names]
        if not known:
            raise self._unknown(name)
        return min(known, key=lambda each: (each.status is not Status.OK, each.claim is Claim.VALUE))

    def _unknown(self, name: str) -> InputError:
        """The error that a name has no estimate, to be raised."""
        methods = ", ".join(self.estimates)
        close = nearest(name, (*self.estimates, *self.names))
        return InputError(f"no estimate or parameter is called '{name}'{close} (known estimates: {methods})")

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
        name = self._full_name(name)
        if name not in self.names:
            raise self._unknown(name)
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
        """All estimates as plain data, by the ASCII name of their method; "title" is its name in tables.

        The notes of each estimate begin with the premises.
        """
        return ByMethod(
            {
                label: {"title": label, **replace(estimate, notes=(*self.premises, *estimate.notes)).to_dict()}
                for label, estimate in self.estimates.items()
            }
        ).keyed()


@dataclass(frozen=True, eq=False)
class SavedEstimates(EstimatesByMethod):
    """Estimates of several methods from a file: made by `Identified.from_json`."""

    estimates: Mapping[str, Estimate]
    fixed: Mapping[str, float] = field(default_factory=dict)
    premises: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimates", ByMethod(self.estimates))

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


VERDICT = "verdict"
"""Key of the verdict in estimate.json, after the methods."""


def estimates_from_json(text: str) -> dict[str, Estimate]:
    """The estimates by the name of their method, from what `to_json` returned or the file estimate.json of a report.

    The names are those of tables, such as "Gauss–Markov". Files of older versions have no other names. The verdict in
    estimate.json is not read.

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
    if isinstance(data, dict):
        data = {key: each for key, each in data.items() if key != VERDICT}
    if not isinstance(data, dict) or not data or "type" in data:
        raise InputError("expected estimates by the name of their method; for a single one use Estimate.from_json")
    titles: dict[str, Any] = {
        key: each.get("title", key) if isinstance(each, dict) else key for key, each in data.items()
    }
    proper = all(isinstance(title, str) for title in titles.values()) and len(set(titles.values())) == len(titles)
    require(proper, "expected a title of its own for each method, but titles are no text or stand more than once")
    return {titles[key]: Estimate.from_dict(each) for key, each in data.items()}


class RobotEstimates(EstimatesByMethod):
    """The estimates of a robot's parameters, from which efforts can be computed."""

    robot: DynamicModel
    physics: Physics | None
    possible: PossibleBodies | None
    certified: CertifiedBodies | None = None
    identifiability: Identifiability
    blueprint: Mapping[str, float]

    @property
    def compared_with_blueprint(self) -> Blueprint | None:
        """The user's own values of the unknowns, and those that differ from the estimate beyond its interval.

        They are `blueprint`, and the nominal values of a mechanism that is not one of the library's. A combination has
        a value where all its parameters have. None: the user stated nothing.
        """
        own = getattr(self.robot, "robot", self.robot)
        known = dict(self.blueprint)
        if isinstance(own, MechanismModel):
            known = {**dict(zip(own.names, own.nominal.tolist(), strict=True)), **known}
        if not known:
            return None
        theta = np.array([known.get(name, np.nan) for name in self.identifiability.names])
        rows = [base.coefficients for base in self.identifiability.base]
        values = np.array([np.where(row == 0, 0.0, row * theta).sum() for row in rows])
        differs = np.zeros(len(values), dtype=bool)
        for method, estimate in self._by_preference().items():
            lower, upper = sides(estimate)
            if estimate.status is Status.OK and len(lower) == len(values) and np.isfinite(lower).any():
                differs = (values < lower) | (values > upper)
                return Blueprint(values, differs, method)
        return Blueprint(values, differs, "")

    def remarks(self) -> tuple[str, ...]:
        """What the column of the blueprint and short labels stand for, and the verdicts."""
        compared = self.compared_with_blueprint
        return (*(() if compared is None else (compared.sentence,)), *super().remarks())

    @property
    def is_impossible(self) -> bool:
        """Are the parameters not physically possible, or do they show a mistake of signs or units?"""
        return self.physics is not None and self.physics.sign.against

    @property
    def on_physics(self) -> tuple[str, ...]:
        """Whether the parameters are physically possible, in sentences; none if this was not tested."""
        return () if self.physics is None else self.physics.sentences

    @property
    def on_possible(self) -> tuple[str, ...]:
        """The complete parameters of a robot that can exist, in sentences; none if they were not asked for."""
        said = () if self.possible is None else self.possible.sentences
        return said if self.certified is None else (*said, *self.certified.sentences)

    def parameters(self, method: str | None = None) -> Array:
        """Parameters of the robot that have the efforts of one estimate; `efforts` computes with them.

        Where only combinations are determined, the first parameter of each has the value of the combination, and the
        others are 0: these are not their values, and efforts are right for motions in which the same combinations act.

        Args:
            method: Name of the estimate; by default the first that succeeded.

        Raises:
            InputError: there is no estimate of this name, or it has no values.
        """
        estimate = self._estimate_of(method)
        return parameters_with_efforts_of(self.robot.names, self.identifiability, estimate, self.fixed)

    def efforts(self, q: Any, dq: Any, ddq: Any, *, method: str | None = None) -> Array:
        """Efforts (N, actuators) that the identified model predicts for a motion, whatever the data determine.

        A `UserWarning` states where the motion excites parameters that the identification did not determine, such as a
        combination that the identified motion kept constant: their share of the efforts is unknown and is left out.

        Args:
            q: Positions (N, coordinates).
            dq: Velocities.
            ddq: Accelerations.
            method: Name of the estimate; by default the first that succeeded.

        Raises:
            InputError: there is no estimate of this name, it has no values, or the motion does not fit the robot.

        Examples:
            >>> from gough.dynamics import identify
            >>> from gough.dynamics.example import random_motion
            >>> robot, motion = random_motion(1)
            >>> answer = identify(robot, motion, methods=["weighted"], compare=False)
            >>> answer.efforts(motion.q, motion.dq, motion.ddq).shape
            (300, 2)
        """
        parameters = self.parameters(method)
        require_moved(self.robot, q, dq, ddq)
        W = np.asarray(self.robot.regressor(q, dq, ddq))
        if undetermined := self._undetermined(W):
            warn(undetermined, UserWarning, stacklevel=2)
        return np.asarray(W @ parameters)

    def _estimate_of(self, method: str | None) -> Estimate:
        if method is None:
            usable = [each for each in self._by_preference().values() if np.isfinite(each.value).all()]
            if not usable:
                raise InputError("no method has values: the verdicts of the answer give the reasons")
            return min(usable, key=lambda each: (each.status is not Status.OK, each.claim is Claim.VALUE))
        estimate = self._by(method)
        if not np.isfinite(estimate.value).all():
            raise InputError(f"{method} has no values ({estimate.status.value}): choose another method")
        return estimate

    def _undetermined(self, W: Array) -> str:
        """A warning that names the parameters which act in W otherwise than in the motion identified; or nothing.

        In the motion identified, columns of parameters that were dropped are combinations of those that were kept.
        """
        analysis, names = self.identifiability, self.robot.names
        if analysis.is_full_rank:
            return ""
        own = W.reshape(-1, len(names))[:, [names.index(name) for name in analysis.names]]
        coefficients = np.array([base.coefficients for base in analysis.base])
        beyond = own - own[:, list(analysis.kept)] @ coefficients
        sizes, excess = np.linalg.norm(own, axis=0), np.linalg.norm(beyond, axis=0)
        acting = [k for k in range(len(analysis.names)) if excess[k] > _EXCITED * sizes[k] > 0]
        if not acting:
            return ""
        named = [analysis.names[k] for k in acting[:_MOST_NAMED]]
        more = [f"{len(acting) - len(named)} more"] if len(acting) > len(named) else []
        nominal = dict(zip(names, np.asarray(self.robot.nominal).tolist(), strict=True))
        assumed = np.array([nominal[name] for name in analysis.names])
        missing = abs(beyond @ assumed).reshape(W.shape[:2])
        worst = int(missing.max(axis=0).argmax())
        size = f"{number(float(missing.max()), digits=2)} {self.robot.effort_units[worst]}"
        return (
            f"the motion excites {listed([*named, *more])} otherwise than the identified motion did, and this effect "
            f"was not determined: it is left out of the efforts (up to {size} of {self.robot.actuators[worst]} with "
            "the nominal parameters). Identify from a motion that excites it"
        )

    def _unknown(self, name: str) -> InputError:
        """The error that a name has no estimate: for a parameter of the robot, with what is determined of it."""
        analysis = self.identifiability
        if name not in analysis.names:
            return super()._unknown(name)
        k = analysis.names.index(name)
        labels = dict(
            zip((base.name for base in analysis.base), short_labels([b.name for b in analysis.base]), strict=True)
        )
        known = [f"{base.name} (answer['{labels[base.name]}'])" for base in analysis.base if base.coefficients[k]]
        if not known:
            return InputError(
                f"'{name}' has no effect on the efforts of this motion, so nothing is determined about it: record a "
                "motion that excites it, if there is one"
            )
        return InputError(
            f"'{name}' is not determined by itself, only in combination: {listed(known)}. Ask for the combination, or "
            "fix the other parameters in it by a prior"
        )


@dataclass(frozen=True, eq=False)
class Identified(RobotEstimates):
    """A robot's parameters by every requested method, with verdicts on data, model and prediction.

    `print` shows a table of all methods with the verdicts. `identified["hull"]` is the estimate of one method;
    `identified["mass"]` and `identified.interval("mass")` are by the method `identified.recommended`, and
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
    noise_level: NoiseLevel | None = None
    """The noise of the filtered efforts, known from elsewhere than the fit, and the residuals beside it; None where it
    is neither stated nor seen above the band of the motion."""
    physics: Physics | None = None
    """Whether the parameters by the first method with a covariance are physically possible; None: not tested."""
    adequacy: Adequacy | None = None
    validation: Validation | None = None
    verdict: Verdict | None = None
    """The finding from all tests; None where the model was not judged."""
    recommendation: Recommendation | None = None
    """The method whose answer to use, by held-out prediction and coverage."""
    left_out: tuple[str, ...] = ()
    """Methods of the default that were not used, since the problem is large and nobody asked for them; a note says how
    to ask."""
    notes: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    """What the answer rests on besides the data and was not stated, such as dimensions; the first of the verdicts."""
    blueprint: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters that the user states; estimates are compared with them and do not depend on them."""
    possible: PossibleBodies | None = None
    """Complete parameters of a robot that can exist, see `gough.dynamics.possible_bodies`; None: not asked for."""
    certified: CertifiedBodies | None = None
    """What error bounds and physics prove of them, see `gough.dynamics.certified_bodies`; None: not asked for."""

    def __post_init__(self) -> None:
        for name in ("estimates", "refused"):
            object.__setattr__(self, name, ByMethod(getattr(self, name)))
        object.__setattr__(self, "fixed", MappingProxyType(dict(self.fixed)))

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
        """Are the stated errors or the model refuted by the data, or the parameters not physically possible?"""
        level = self.noise_level
        return (
            (level is not None and level.source == STATED and level.sign.against)
            or (self.bound_is_given and self.minimal.is_inconsistent)
            or any(estimate.status is Status.INCONSISTENT for estimate in self.estimates.values())
            or self.is_impossible
            or (self.possible is not None and self.possible.is_refuted)
            or (self.certified is not None and self.certified.is_empty)
            or (self.verdict is not None and self.verdict.finding is Finding.INADEQUATE)
        )

    @property
    def recommended(self) -> str:
        """The method whose values to use; empty where no method succeeded.

        It is the one that predicts held-out data best, see `gough.dynamics.recommended`. Where nothing was held out it
        is the first that succeeded, in the order asked for.
        """
        if self.recommendation is not None and self.recommendation.label in self.estimates:
            return self.recommendation.label
        return next(iter(self.succeeded), "")

    def _by_preference(self) -> Mapping[str, Estimate]:
        first = self.recommended
        return {label: self.estimates[label] for label in sorted(self.estimates, key=lambda label: label != first)}

    def to_dict(self) -> dict[str, Any]:
        """All estimates as plain data, by the ASCII name of their method, the recommended one first.

        The notes of each begin with the premises.
        """
        plain, first = super().to_dict(), self.recommended
        return {key: plain[key] for key in sorted(plain, key=lambda key: plain[key]["title"] != first)}

    @property
    def on_methods(self) -> tuple[str, ...]:
        """Which method to use and why, and what held-out data say against its answer, in sentences."""
        if self.recommendation is None:
            return ()
        # the verdict has the sentences of all tests
        signs = () if self.verdict is not None else (held_out_sign(self), coverage_sign(self))
        return (*self.recommendation.sentences, *sentences_against(signs))

    @property
    def succeeded(self) -> Mapping[str, Estimate]:
        """The estimates whose status is OK."""
        return ByMethod({name: e for name, e in self.estimates.items() if e.status is Status.OK})

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What a reader must know, a paragraph each: premises, model, data, bound, failures, physics, validation.

        Parameters that are not physically possible stand before the data.

        Examples:
            >>> from gough.dynamics import identify
            >>> from gough.dynamics.example import random_motion
            >>> identify(*random_motion(1), methods=["hull"], compare=False).verdicts[0].split(";")[0]
            '15 of 21 parameters or combinations of them are determined by 600 rows'
        """
        before, after = (self.on_physics, ()) if self.is_impossible else ((), self.on_physics)
        paragraphs = [self.premises, before, self.on_recordings]
        paragraphs += [] if self.verdict is None else [self.verdict.sentences]
        paragraphs += [
            self.on_data,
            self.on_bound,
            self.on_noise,
            self.on_failures,
            after,
            self.on_possible,
            self.on_methods,
        ]
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
                rows = measured_rows(self.motion, self.minimal.heaviest_rows)
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
    def noise_sign(self) -> Sign | None:
        """The test of the residuals against the noise level; None where no level is known in the band."""
        return self.noise_level.sign if self.noise_level is not None and self.noise_level.is_known else None

    @property
    def on_noise(self) -> tuple[str, ...]:
        """The noise level and the residuals beside it, and what errors of positions do to estimates, in sentences."""
        said = () if self.noise_level is None else self.noise_level.sign.sentences
        moved = [note for each in self.estimates.values() for note in each.notes if note.startswith(MOVED)]
        return (*said, *moved[:1])

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
        return parameter_table(self.problem.unknowns, self.estimates, truth, self.compared_with_blueprint)
