"""Predictions on a trajectory that was not used, with bounds, and how often the measurements lie within."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import require
from gough.core.intervals import Interval, dot
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import number, percent
from gough.data import MeasuredMotion
from gough.dynamics.extras import EXACT_SAMPLES
from gough.dynamics.named import ByMethod
from gough.dynamics.regressors import measured_regressor
from gough.dynamics.text import by_actuator, largest
from gough.estimates import Claim, Estimate, FitStats, HullStats, Status
from gough.methods import predict, prediction_bounds
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection

if TYPE_CHECKING:
    from gough.dynamics.results import Identified

_BEYOND = (
    "This trajectory excites parameters that the identified motion determines only in combination; predictions omit "
    "them. Identify from a motion that excites at least as much as this one."
)


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
    """`rms` over the largest measured |effort| of the actuator."""
    covered: Array | None
    """Part of the kept rows of each actuator whose measured effort lies within the bounds: for sets within
    [lower − bound, upper + bound], for confidence within the interval of a reading, its noise included."""
    expected: float | None
    """What `covered` should be: the confidence level, or 1 for sets."""


@dataclass(frozen=True, eq=False)
class ExactBounds:
    """The exact range of the model's effort over all parameters that the bounds allow, at some of the samples."""

    samples: Integers
    """Numbers of the samples, evenly chosen."""
    lower: Array
    """(samples, actuators), proven."""
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

    motion: MeasuredMotion
    """The other trajectory; `motion.efforts` was measured, `motion.kept` marks the rows that count."""
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
    recommended: str = ""
    """The method that the sentences are about; empty: the first one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "predictions", ByMethod(self.predictions))

    @property
    def sentences(self) -> tuple[str, ...]:
        """How well each method predicts, and how many measurements lie within the predicted bounds."""
        sentences = list(self.notes)
        if self.predictions:
            sentences.append(_range_of_errors(self))
        exact = self.exact
        if exact is not None:
            outside = round(float(np.nansum((1 - exact.covered) * exact.n_rows)))
            rows = f"{int(exact.n_rows.sum())} measured efforts at {len(exact.samples)} samples, evenly chosen"
            verdict = "all lie" if outside == 0 else f"{outside} {'does' if outside == 1 else 'do'} not lie"
            sentences.append(f"Of {rows}, {verdict} within the exact bounds ± the error bound.")
            if outside:
                sentences.append(
                    "The error bound that explains the identified motion does not explain this one: state a larger "
                    "bound, or extend the model by an effect that this motion excites."
                )
        return (*sentences, *_coverage(self))

    @property
    def verdict(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)

    def table(self) -> Table:
        """A row for each method: rms, worst rms over peak, and how many measurements lie where they may."""
        motion = self.motion
        units = set(motion.effort_units)
        columns = [
            Column("method", "label"),
            Column("rms", note="worst", unit=units.pop() if len(units) == 1 else ""),
            Column("rms / peak", note="worst"),
            Column("bounds", "label"),
            Column("least inside"),
            Column("expected"),
            *(
                Column(f"rms, {a}", note=u, is_detail=True)
                for a, u in zip(motion.actuators, motion.effort_units, strict=True)
            ),
            *(Column(f"inside, {a}", is_detail=True) for a in motion.actuators),
        ]
        rows: list[list[str | Cell]] = []
        for label, one in self.predictions.items():
            inside = np.full(len(one.rms), np.nan) if one.covered is None else one.covered
            expected = "—" if one.expected is None else percent(one.expected)
            first = [label, number(largest(one.rms), digits=3), percent(largest(one.relative_rms)), one.kind or "—"]
            each = [number(float(v), digits=3) for v in one.rms]
            rows.append([*first, percent(_least(inside), digits=3), expected, *each, *_counted(inside, self.n_rows)])
        if self.exact is not None:
            exact = self.exact
            first = ["exact range", "—", "—", f"exact, at {len(exact.samples)} samples"]
            each = ["—"] * len(motion.actuators)
            least = percent(_least(exact.covered), digits=3)
            rows.append([*first, least, "100 %", *each, *_counted(exact.covered, exact.n_rows)])
        return table(columns, rows, "." * len(columns), "Prediction of another trajectory")

    def __str__(self) -> str:
        return f"{self.table()}\n{self.verdict}"


class Directions:
    """The regressor of another trajectory in the unknowns of an identification's problem."""

    def __init__(self, identified: "Identified", motion: MeasuredMotion) -> None:
        robot, analysis = identified.robot, identified.identifiability
        self.shape = motion.efforts.shape
        W = measured_regressor(robot, motion).reshape(-1, len(robot.names))
        fixed = np.array([name in identified.fixed for name in robot.names])
        values = np.array([identified.fixed[name] for name in robot.names if name in identified.fixed])
        self.known: Array = W[:, fixed] @ values if len(values) else np.zeros(len(W))
        """Effort of the parameters that are fixed, row by row."""
        free = W[:, ~fixed]
        self.W: Array = free[:, list(analysis.kept)]
        self.notes: tuple[str, ...] = ()
        if not analysis.is_full_rank:
            self.notes = _beyond(free, self.W, np.array([base.coefficients for base in analysis.base]))

    def by_sample(self, values: Array) -> Array:
        return (values + self.known).reshape(self.shape)


def _beyond(W: Array, kept: Array, C: Array) -> tuple[str, ...]:
    """A warning if combinations of the identified trajectory do not describe this one."""
    missed = np.linalg.norm(W - kept @ C) / max(float(np.linalg.norm(W)), 1e-300)
    if missed <= 1e-8:
        return ()
    return (_BEYOND,)


def validated(identified: "Identified", motion: MeasuredMotion, *, samples: int = EXACT_SAMPLES) -> Validation:
    """Measured against predicted efforts on another trajectory, for every method that found a value.

    Exact bounds need two linear programs for each row, so they are computed at `samples` of the samples that have rows,
    evenly chosen.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> identified = identify(*random_motion(1), methods=["hull"], bound=0.1, compare=False)
        >>> other = validated(identified, random_motion(2)[1], samples=10)
        >>> other.exact.covered, other.predictions["hull"].covered
        (array([1., 1.]), array([1., 1.]))
    """
    require(motion.n_rows > 0, "every row of the validation motion is masked: nothing is left to compare with")
    directions = Directions(identified, motion)
    kept = motion.kept
    peak = np.where(kept, abs(motion.efforts), 0.0).max(axis=0)
    predictions = {
        label: _prediction(estimate, directions, motion, identified.bound, peak)
        for label, estimate in identified.estimates.items()
        if len(estimate.value) == directions.W.shape[1] and _is_bounded(estimate)
    }
    return Validation(
        motion=motion,
        predictions=predictions,
        exact=_exact(identified, directions, motion, samples),
        bound=identified.bound,
        n_rows=kept.sum(axis=0),
        peak=peak,
        notes=directions.notes,
    )


def _is_bounded(estimate: Estimate) -> bool:
    hull = estimate.region.hull()
    return hull.is_bounded and not hull.is_empty


def _prediction(
    estimate: Estimate, directions: Directions, motion: MeasuredMotion, bound: Array, peak: Array
) -> Prediction:
    efforts = directions.by_sample(directions.W @ estimate.value)
    error = motion.efforts - efforts
    rms = np.sqrt(_mean(error**2, motion.kept))
    bounds, kind = bounds_of_efforts(estimate, directions.W)
    covered, expected, lower, upper = None, None, None, None
    if bounds is not None:
        lower, upper = directions.by_sample(bounds.lower), directions.by_sample(bounds.upper)
    if isinstance(estimate.region, ConfidenceEllipsoid):
        reach = _reach_of_reading(estimate, directions)
        covered, expected = _mean(abs(error) <= reach, motion.kept), estimate.region.level
    elif lower is not None and upper is not None:
        inside = (lower - bound <= motion.efforts) & (motion.efforts <= upper + bound)
        covered, expected = _mean(inside, motion.kept), 1.0
    relative = rms / np.where(peak > 0, peak, np.nan)
    return Prediction(efforts, lower, upper, kind, rms, relative, covered, expected)


def _mean(values: Array | Mask, kept: Mask) -> Array:
    """Mean over the kept rows of each actuator; NaN where there are none."""
    count = kept.sum(axis=0)
    result: Array = np.where(kept, values, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    return result


def quantile(region: ConfidenceEllipsoid) -> float:
    """Half of the interval of one number at the region's level, in standard deviations."""
    from scipy import special  # noqa: PLC0415 - start-up time

    probability = 0.5 + region.level / 2
    return float(special.ndtri(probability) if region.dof == np.inf else special.stdtrit(region.dof, probability))


def variance_of_efforts(region: ConfidenceEllipsoid, W: Array) -> Array:
    """Variance of the efforts W θ̂, row by row."""
    return np.maximum(np.einsum("ij,ij->i", W @ region.covariance, W), 0.0)


def bounds_of_efforts(estimate: Estimate, W: Array) -> tuple[Box | None, str]:
    """What the model's effort can be over the region, and by which kind of region."""
    match estimate.region:
        case ConfidenceEllipsoid() as region:
            half = quantile(region) * np.sqrt(variance_of_efforts(region, W))
            middle = W @ region.center
            return Box(middle - half, middle + half), "confidence"
        case Ellipsoid() as region:
            return predict(region, W), "ellipsoid"
        case Intersection() as region:
            return _over_box(region.box, W) & predict(region.ellipsoid, W), "ellipsoid"
        case Box() as region if region.is_bounded and estimate.claim is not Claim.VALUE:
            return _over_box(region, W), "box"
    return None, ""


def _over_box(box: Box, W: Array) -> Box:
    reach = dot(W, Interval(box.lower, box.upper))
    return Box(reach.lower, reach.upper)


def _reach_of_reading(estimate: Estimate, directions: Directions) -> Array:
    """Half of the interval that a reading lies in: the model's uncertainty and the reading's own noise."""
    region, stats = estimate.region, estimate.stats
    assert isinstance(region, ConfidenceEllipsoid)
    assert isinstance(stats, FitStats)
    noise = np.zeros(directions.shape[1]) if stats.residual_rms is None else stats.residual_rms
    return quantile(region) * np.sqrt(variance_of_efforts(region, directions.W).reshape(directions.shape) + noise**2)


def _exact(
    identified: "Identified", directions: Directions, motion: MeasuredMotion, samples: int
) -> ExactBounds | None:
    """The exact range of the model's effort at some samples, None where there is none or the set is unbounded."""
    if identified.minimal.is_inconsistent and identified.bound_is_given:
        return None
    usable = np.flatnonzero(motion.kept.any(axis=1))
    if not usable.size or samples < 1:
        return None
    chosen = usable[np.unique(np.linspace(0, len(usable) - 1, min(samples, len(usable))).round().astype(np.int64))]
    n, p = directions.shape[1], directions.W.shape[1]
    rows = directions.W.reshape(-1, n, p)[chosen].reshape(-1, p)
    box = prediction_bounds(identified.bounded, rows, within=_hull(identified))
    if box.is_empty or not box.is_bounded:
        return None
    known = directions.known.reshape(-1, n)[chosen]
    lower, upper = (side.reshape(-1, n) + known for side in (box.lower, box.upper))
    measured, kept, bound = motion.efforts[chosen], motion.kept[chosen], identified.bound
    inside = (lower - bound <= measured) & (measured <= upper + bound)
    return ExactBounds(chosen, lower, upper, _mean(inside, kept), kept.sum(axis=0))


def _hull(identified: "Identified") -> Box | None:
    """A box that is proven to hold all consistent parameters, if a method has found one."""
    for each in identified.estimates.values():
        if isinstance(each.stats, HullStats) and isinstance(each.region, Box) and each.claim is Claim.PROOF:
            return each.region if each.status is Status.OK else None
    return None


def _about(validation: Validation) -> str:
    """The method that the sentences are about."""
    return (
        validation.recommended
        if validation.recommended in validation.predictions
        else next(iter(validation.predictions))
    )


def _range_of_errors(validation: Validation) -> str:
    units, names = validation.motion.effort_units, validation.motion.actuators
    label = _about(validation)
    one = validation.predictions[label]
    rms = by_actuator(one.rms, units, names, number)
    return (
        f"On the validation trajectory, the model identified by {label} predicts efforts to {rms} rms, at most "
        f"{percent(largest(one.relative_rms))} of the peak."
    )


def _coverage(validation: Validation) -> Iterable[str]:
    if not validation.predictions:
        return
    label = _about(validation)
    one, rows = validation.predictions[label], validation.n_rows
    if one.kind == "confidence" and one.covered is not None and one.expected is not None:
        share = float(np.nansum(one.covered * rows) / max(rows.sum(), 1))
        yield f"For {label}, {percent(share)} of all rows lie within their {one.expected:.0%} intervals."


def _counted(parts: Array, n_rows: Integers) -> list[Cell]:
    """Parts in percent with the number of rows outside, so that one of a million shows."""
    cells = []
    for part, n in zip(parts, n_rows, strict=True):
        outside = round((1 - part) * n) if np.isfinite(part) else 0
        cells.append(Cell(percent(part, digits=3), f"{outside} of {n} outside" if outside else ""))
    return cells


def _least(values: Array) -> float:
    return -largest(-values)
