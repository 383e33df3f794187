"""Predictions on a trajectory that was not used, with bounds, and how often the measurements lie within."""

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.intervals import Interval, dot
from gough.data import MeasuredMotion
from gough.dynamics.regressors import measured_regressor
from gough.dynamics.results import ExactBounds, Identified, Prediction, Validation
from gough.estimates import Claim, Estimate, FitStats
from gough.methods import predict, prediction_bounds
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection

EXACT_SAMPLES = 40
"""Samples at which exact bounds are computed, each for every actuator."""


_BEYOND = (
    "This trajectory shows effects of parameters that the identified one only showed in combination: predictions leave "
    "them out. Identify from a motion that excites as much as this one."
)


class _Directions:
    """The regressor of another trajectory in the unknowns of an identification's problem."""

    def __init__(self, identified: Identified, motion: MeasuredMotion) -> None:
        robot, found = identified.robot, identified.found
        self.shape = motion.efforts.shape
        W = measured_regressor(robot, motion).reshape(-1, len(robot.names))
        fixed = np.array([name in identified.fixed for name in robot.names])
        values = np.array([identified.fixed[name] for name in robot.names if name in identified.fixed])
        self.known: Array = W[:, fixed] @ values if len(values) else np.zeros(len(W))
        """Effort of the parameters that are fixed, row by row."""
        free = W[:, ~fixed]
        self.W: Array = free[:, list(found.kept)]
        self.notes: tuple[str, ...] = ()
        if not found.is_full_rank:
            self.notes = _beyond(free, self.W, np.array([base.coefficients for base in found.base]))

    def by_sample(self, values: Array) -> Array:
        return (values + self.known).reshape(self.shape)


def _beyond(W: Array, kept: Array, C: Array) -> tuple[str, ...]:
    """A warning if combinations of the identified trajectory do not describe this one."""
    missed = np.linalg.norm(W - kept @ C) / max(float(np.linalg.norm(W)), 1e-300)
    if missed <= 1e-8:
        return ()
    return (_BEYOND,)


def validated(identified: Identified, motion: MeasuredMotion, *, samples: int = EXACT_SAMPLES) -> Validation:
    """Measured against predicted efforts on another trajectory, for every method that found a value.

    Exact bounds need two linear programs for each row, so they are computed at `samples` of the samples that have rows,
    evenly chosen.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> found = identify(*random_motion(1), methods=["hull"], bound=0.1, compare=False)
        >>> other = validated(found, random_motion(2)[1], samples=10)
        >>> other.exact.covered, other.predictions["hull"].covered
        (array([1., 1.]), array([1., 1.]))
    """
    require(motion.n_rows > 0, "every row of the validation motion is masked: nothing is left to compare with")
    directions = _Directions(identified, motion)
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
    estimate: Estimate, directions: _Directions, motion: MeasuredMotion, bound: Array, peak: Array
) -> Prediction:
    efforts = directions.by_sample(directions.W @ estimate.value)
    error = motion.efforts - efforts
    rms = np.sqrt(_mean(error**2, motion.kept))
    bounds, kind = _bounds_of_model(estimate, directions.W)
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


def _mean(values: Array | npt.NDArray[np.bool_], kept: npt.NDArray[np.bool_]) -> Array:
    """Mean over the kept rows of each actuator; NaN where there are none."""
    count = kept.sum(axis=0)
    result: Array = np.where(kept, values, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    return result


def _quantile(region: ConfidenceEllipsoid) -> float:
    from scipy import special  # noqa: PLC0415 - start-up time

    probability = 0.5 + region.level / 2
    return float(special.ndtri(probability) if region.dof == np.inf else special.stdtrit(region.dof, probability))


def _variance(region: ConfidenceEllipsoid, W: Array) -> Array:
    return np.maximum(np.einsum("ij,ij->i", W @ region.covariance, W), 0.0)


def _bounds_of_model(estimate: Estimate, W: Array) -> tuple[Box | None, str]:
    """What the model's effort can be over the region, and by which kind of region."""
    match estimate.region:
        case ConfidenceEllipsoid() as region:
            half = _quantile(region) * np.sqrt(_variance(region, W))
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


def _reach_of_reading(estimate: Estimate, directions: _Directions) -> Array:
    """Half of the interval that a reading lies in: the model's uncertainty and the reading's own noise."""
    region, stats = estimate.region, estimate.stats
    assert isinstance(region, ConfidenceEllipsoid)
    assert isinstance(stats, FitStats)
    noise = np.zeros(directions.shape[1]) if stats.residual_rms is None else stats.residual_rms
    return _quantile(region) * np.sqrt(_variance(region, directions.W).reshape(directions.shape) + noise**2)


def _exact(identified: Identified, directions: _Directions, motion: MeasuredMotion, samples: int) -> ExactBounds | None:
    """The exact range of the model's effort at some samples, None where there is none or the set is unbounded."""
    if identified.minimal.is_inconsistent and identified.bound_is_given:
        return None
    usable = np.flatnonzero(motion.kept.any(axis=1))
    if not usable.size or samples < 1:
        return None
    chosen = usable[np.unique(np.linspace(0, len(usable) - 1, min(samples, len(usable))).round().astype(np.int64))]
    n, p = directions.shape[1], directions.W.shape[1]
    rows = directions.W.reshape(-1, n, p)[chosen].reshape(-1, p)
    box = prediction_bounds(identified.bounded, rows)
    if box.is_empty or not box.is_bounded:
        return None
    known = directions.known.reshape(-1, n)[chosen]
    lower, upper = (side.reshape(-1, n) + known for side in (box.lower, box.upper))
    measured, kept, bound = motion.efforts[chosen], motion.kept[chosen], identified.bound
    inside = (lower - bound <= measured) & (measured <= upper + bound)
    return ExactBounds(chosen, lower, upper, _mean(inside, kept), kept.sum(axis=0))
