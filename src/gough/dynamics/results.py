"""What an identification answers with. Plain values: nothing here computes an estimate."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest
from gough.core.text import html_table, table
from gough.dynamics.bounds import rounded_up
from gough.estimates import Claim, Estimate, Status
from gough.methods.bounded.minimal_bound import MinimalBound
from gough.methods.statistical.identifiability import Identifiability
from gough.problem import LinearProblem
from gough.region import Interval
from gough.robots.model import DynamicModel

if TYPE_CHECKING:
    from gough.data import MeasuredMotion

Integers = npt.NDArray[np.int64]


class Step(NamedTuple):
    """A phase that begins: the `number`-th `of` so many, and what it does, for a progress display.

    Examples:
        >>> Step(3, 12, "identifying: hull").what
        'identifying: hull'
    """

    number: int
    """Counted from 1."""
    of: int
    what: str


@dataclass(frozen=True, eq=False)
class VariantFit:
    """How one of a robot's nested models does on data that it was not fitted to. Arrays have an entry per actuator."""

    variant: str
    """Its name, `robot.variant`."""
    adds: str
    """What it adds to the variant before, in words; empty for the first."""
    n_parameters: int
    rank: int
    """Parameters, or combinations of them, that the fitted data determine."""
    fitted_rms: Array
    """Root mean square of the residuals on the data that it was fitted to."""
    rms: Array
    """The same on held-out data."""
    peak: Array
    """Largest |residual| on held-out data."""
    smallest_bound: Array
    """Some parameters, within the prior or not, explain every fitted row with errors of this size, which is about the
    smallest in proportion to the residual rms."""
    overall: float
    """Root mean square over all held-out rows of all actuators, each in units of `Adequacy.unit`."""
    gain: float
    """Part of the mean square of the variant before that this one removes from held-out data; 0 for the first."""
    gain_sigma: float
    """Standard error of `gain`, from the scatter of residuals between blocks of time."""

    @property
    def is_determined(self) -> bool:
        """Do the data determine all of its parameters?"""
        return self.rank == self.n_parameters


class Finding(Enum):
    """What a comparison of models says about the one that was used; the value says it to a person.

    Examples:
        >>> Finding.UNDECIDED.value
        'this recording cannot tell the models apart'
    """

    ADEQUATE = "the model that was used is adequate"
    INADEQUATE = "the model that was used leaves out an effect that the data show"
    LARGER_THAN_NEEDED = "a simpler model would do as well"
    UNDECIDED = "this recording cannot tell the models apart"


@dataclass(frozen=True, eq=False)
class Adequacy:
    """The robot's variants, simplest first, judged on data that they were not fitted to.

    `str()` of it is a table with the verdict.

    Examples:
        >>> from gough.dynamics import adequacy_of
        >>> from gough.dynamics.example import random_motion
        >>> adequacy = adequacy_of(*random_motion(1, n_samples=2000))
        >>> adequacy.recommended, adequacy.fits[0].rank, adequacy.held_out
        ('five-bar', 15, 'each of 10 blocks of 2 s in turn')
    """

    fits: tuple[VariantFit, ...]
    used: str
    """The variant that the identification used."""
    recommended: str | None
    """The variant to use; None where the recording cannot tell."""
    finding: Finding
    held_out: str
    """What was held out, in words, e.g. `the validation recording`."""
    generic: float
    """Overall rms of the largest variant once general terms in position, velocity and acceleration mend its errors."""
    generic_gain: float
    """Part of the largest variant's held-out mean square that the general terms remove. About 0 or less: nothing that
    they could show is left, and the residual may be called noise."""
    generic_sigma: float
    """Standard error of `generic_gain`."""
    unit: str
    """Unit of the overall numbers: that of the efforts, or empty where these differ and rms is relative."""
    actuators: tuple[str, ...]
    shifts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where another variant is recommended: how far each parameter that both have is off in the variant used, as a part
    of the recommended variant's value, and in units of the σ that was printed for it (NaN without one)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", MappingProxyType(dict(self.shifts)))

    def fit(self, variant: str) -> VariantFit:
        """The fit of one variant, by name."""
        for one in self.fits:
            if one.variant == variant:
                return one
        known = [one.variant for one in self.fits]
        raise InputError(f"no variant is called '{variant}'{nearest(variant, known)} (known: {', '.join(known)})")

    @property
    def verdict(self) -> str:
        """The finding in sentences: what each variant leaves, which effect is missing, which model to use."""
        from gough.dynamics.words import on_adequacy  # noqa: PLC0415 - words are made of results

        return " ".join(on_adequacy(self))

    def __str__(self) -> str:
        from gough.dynamics.tables import adequacy_table  # noqa: PLC0415 - as above

        return f"{adequacy_table(self)}\n{self.verdict}"


@dataclass(frozen=True, eq=False)
class Prediction:
    """Efforts of another trajectory as one method's answer predicts them. Arrays are (samples, actuators)."""

    efforts: Array
    """From the value at the region's center."""
    lower: Array | None
    """Bounds of the model's effort over the method's region; None where the method has no bounded region."""
    upper: Array | None
    kind: str
    """What the bounds are: `confidence`, `ellipsoid` or `box`; empty without bounds."""
    rms: Array
    """Root mean square of measured − predicted for each actuator, over the rows that are kept."""
    relative_rms: Array
    """The same over the largest measured |effort| of the actuator."""
    covered: Array | None
    """Part of the kept rows of each actuator whose measured effort lies where it may lie: for sets within
    [lower − bound, upper + bound], for confidence within the interval of a reading, which has noise of its own."""
    expected: float | None
    """What `covered` should be: the confidence level, or 1 for sets."""


@dataclass(frozen=True, eq=False)
class ExactBounds:
    """The exact range of the model's effort over all parameters that the bounds allow, at some of the samples."""

    samples: Integers
    """Numbers of the samples, evenly chosen."""
    lower: Array
    """(samples, actuators), proved."""
    upper: Array
    covered: Array
    """Part of the kept rows among these samples, for each actuator, that lie within [lower − bound, upper + bound]."""
    n_rows: Integers
    """Number of kept rows among these samples, for each actuator."""


@dataclass(frozen=True, eq=False)
class Validation:
    """Measured against predicted efforts on a trajectory that was not used. `str()` of it is a table.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> (robot, motion), (_, other) = random_motion(1), random_motion(2)
        >>> validation = identify(robot, motion, methods=["weighted"], validation=other, compare=False).validation
        >>> validation.predictions["weighted"].kind, validation.n_rows, validation.predictions["weighted"].rms.round(2)
        ('confidence', array([300, 300]), array([0.06, 0.06]))
    """

    motion: "MeasuredMotion"
    """The other trajectory; `motion.efforts` was measured, `motion.kept` says what counts."""
    predictions: Mapping[str, Prediction]
    """By the name of the method; methods without a value are left out."""
    exact: ExactBounds | None
    """None where no parameters satisfy the bounds, or some are not bounded."""
    bound: Array
    """Error bound of each actuator that sets are allowed."""
    n_rows: Integers
    """Kept rows of each actuator."""
    peak: Array
    """Largest measured |effort| of each actuator among the kept rows."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "predictions", MappingProxyType(dict(self.predictions)))

    @property
    def verdict(self) -> str:
        """Coverage and rms in sentences."""
        from gough.dynamics.words import on_validation  # noqa: PLC0415 - words are made of results

        return " ".join(on_validation(self))

    def __str__(self) -> str:
        from gough.dynamics.tables import validation_table  # noqa: PLC0415 - as above

        return f"{validation_table(self)}\n{self.verdict}"


class EstimatesByMethod:
    """The estimates of several methods by name: `found["hull"]`, `found.intervals("mass")`, `found.to_json()`."""

    estimates: Mapping[str, Estimate]
    fixed: Mapping[str, float]
    premises: tuple[str, ...]

    def __getitem__(self, method: str) -> Estimate:
        if method not in self.estimates:
            known = ", ".join(self.estimates)
            raise InputError(f"no estimate is called '{method}'{nearest(method, self.estimates)} (known: {known})")
        return self.estimates[method]

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
        known = dict.fromkeys(each for estimate in self.estimates.values() for each in estimate.unknowns.names)
        if name in self.fixed:
            raise InputError(f"'{name}' is fixed at {self.fixed[name]:g} by the prior and was not estimated")
        if name not in known:
            raise InputError(f"no unknown is called '{name}'{nearest(name, known)}")
        return {label: each.interval(name) for label, each in able.items() if name in each.unknowns.names}

    def to_dict(self) -> dict[str, Any]:
        """All estimates by the name of their method as plain data; the notes of each begin with the premises."""
        return {
            label: replace(estimate, notes=(*self.premises, *estimate.notes)).to_dict()
            for label, estimate in self.estimates.items()
        }

    def to_json(self) -> str:
        """All estimates by the name of their method, as `gough identify` writes them; see `estimates_from_json`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)


def estimates_from_json(text: str) -> dict[str, Estimate]:
    """The estimates by the name of their method, from what `to_json` returned or the file estimate.json of a report.

    Raises:
        InputError: the text is not JSON, or is no such document.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> found = identify(*random_motion(1), methods=["weighted", "hull"], compare=False)
        >>> estimates_from_json(found.to_json()) == dict(found.estimates)
        True
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"not a complete JSON document: {error}") from error
    if not isinstance(data, dict) or "type" in data:
        raise InputError("expected estimates by the name of their method; for a single one use Estimate.from_json")
    return {label: Estimate.from_dict(each) for label, each in data.items()}


@dataclass(frozen=True, eq=False)
class Identified(EstimatesByMethod):
    """A robot's parameters by every method that was asked for, and how far they may be trusted.

    `str()` of it is a table of all methods with the verdicts; `identified["hull"]` is one estimate, and
    `identified.intervals("mass")` the interval of one parameter by every method.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> identified = identify(*random_motion(1), methods=["weighted", "hull"], compare=False)
        >>> identified["hull"].claim.name, identified.smallest_bound.round(3), identified.bound_is_given
        ('PROOF', array([0.097, 0.099]), False)
    """

    robot: DynamicModel
    motion: "MeasuredMotion"
    problem: LinearProblem
    """What the statistical methods solved: fixed parameters taken out, reduced to base parameters where rows do not
    determine all. All estimates have its unknowns."""
    bounded: LinearProblem
    """The same with the error bounds that the sets were given. Where the prior is open, its sides are closed by a box
    ten times as wide as the one that Gauss–Seidel proves to hold every consistent θ: none is lost."""
    found: Identifiability
    """Of all free parameters, before the reduction."""
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
        """What a reader must know, in sentences: data, bound, methods that failed, model, validation."""
        from gough.dynamics.words import verdicts  # noqa: PLC0415 - words are made of results

        return verdicts(self)

    def table(self) -> str:
        """A row for each unknown, a column for each method, as aligned text."""
        from gough.dynamics.tables import parameter_columns  # noqa: PLC0415 - as above

        return table(*parameter_columns(self))

    def _repr_html_(self) -> str:
        """The table and the verdicts for a notebook."""
        from gough.dynamics.tables import parameter_columns  # noqa: PLC0415 - as above

        return html_table(*parameter_columns(self), notes=self.verdicts)

    def __str__(self) -> str:
        return "\n".join([self.table(), *self.verdicts])


@dataclass(frozen=True, eq=False)
class GainEstimate:
    """An amplifier's gain from static force tests: torque = gain · voltage + offset.

    Examples:
        >>> from gough.dynamics import gain_from_static_tests
        >>> tests = gain_from_static_tests([-2, -1, 0, 1, 2], [-8.1, -3.9, 0.1, 4.1, 7.9], lever=0.25)
        >>> round(tests.gain, 3), tests.fit.region.sigma.round(3)
        (1.0, array([0.01 , 0.014]))
    """

    fit: Estimate
    """Least squares: unknowns `gain` [N·m/V] and `offset` [N·m], with σ."""
    hull: Estimate | None
    """The exact hull, where the resolution of the force sensor was given."""
    n_tests: int
    nonlinearity: float
    """Largest deviation of a cubic through the tests from the straight line, over the largest measured torque."""
    nonlinearity_p: float
    """Probability of a cubic at least as much better, if the truth is a straight line; small: it is not."""
    offset_is_zero: bool
    """Does the 95 % interval of the offset hold zero?"""

    @property
    def gain(self) -> float:
        """N·m per volt."""
        return self.fit["gain"]

    @property
    def offset(self) -> float:
        """Torque at zero volts."""
        return self.fit["offset"]

    @property
    def verdict(self) -> str:
        """Gain with its interval, offset and linearity in sentences."""
        from gough.dynamics.words import on_gain  # noqa: PLC0415 - words are made of results

        return " ".join(on_gain(self))

    def __str__(self) -> str:
        return f"{self.fit.table()}\n{self.verdict}"
