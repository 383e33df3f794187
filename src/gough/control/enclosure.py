"""Feedforward efforts of a motion over all models that the data allow, and whether drives suffice for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.control.motions import DesiredMotion
from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import AssumptionError, require
from gough.core.floating import require_ieee
from gough.core.intervals import Interval
from gough.core.outward import at_least, at_most
from gough.dynamics.validation import bounds_of_efforts
from gough.estimates import Claim, Estimate, Status, proof
from gough.export import IdentifiedDynamics
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Enclosure(ArrayValue):
    """Bounds (N, n) of the efforts that a motion needs, over a set of models.

    PROOF: at each of the N instants, for every parameter vector of the set, the exact effort W θ of the robot's
    equations lies between the floats `lower` and `upper`. W is evaluated in interval arithmetic at the floats of the
    desired pose, velocity and acceleration. ENCLOSURE: the same, with W as computed in floating point. CONFIDENCE: each
    effort by itself, with the probability of the region.
    """

    actuators: tuple[str, ...]
    units: tuple[str, ...]
    times: Array
    lower: Array
    upper: Array
    nominal: Array
    """Feedforward efforts (N, n) of the identified parameters."""
    claim: Claim
    methods: tuple[str, ...]
    """Names of the sets over which the efforts are bounded; bounds are those of their intersection."""
    premises: tuple[str, ...]

    @property
    def peak(self) -> Array:
        """The greatest effort (n,) that a model of the set needs, rounded up: the number to size drives by."""
        return np.asarray(np.maximum(np.abs(self.lower), np.abs(self.upper)).max(axis=0))

    @property
    def worst_error(self) -> Array:
        """The greatest error (n,) of the feedforward efforts against any model of the set, rounded up."""
        above, below = Interval(self.upper) - Interval(self.nominal), Interval(self.nominal) - Interval(self.lower)
        return np.asarray(np.maximum(above.upper, below.upper).max(axis=0))

    def is_within(self, limit: Array) -> bool:
        """Whether all models of the set need at most this effort (n,) at all instants."""
        return bool((self.peak <= limit).all())

    def first_doubt(self, limit: Array) -> tuple[int, int] | None:
        """The first instant and the actuator that some model of the set may drive beyond its limit; None: none."""
        beyond = np.maximum(np.abs(self.lower), np.abs(self.upper)) > limit
        return None if not beyond.any() else tuple(map(int, np.argwhere(beyond)[0]))  # type: ignore[return-value]

    def first_excess(self, limit: Array) -> tuple[int, int] | None:
        """The first instant and the actuator that every model of the set drives beyond its limit; None: none."""
        beyond = (self.lower > limit) | (self.upper < -limit)
        return None if not beyond.any() else tuple(map(int, np.argwhere(beyond)[0]))  # type: ignore[return-value]

    def statement(self, limit: Array) -> str:
        """The statement about drives of this limit (n,), with its claim."""
        kind = {Claim.PROOF: "Proven", Claim.ENCLOSURE: "Enclosed, up to the rounding of the regressor"}.get(
            self.claim, "By confidence"
        )
        shown = " and ".join(
            dict.fromkeys(f"± {_stated(value)} {u}" for value, u in zip(limit, self.units, strict=True))
        )
        if not np.isfinite(limit).all():
            return "No limit of the drives is stated: state it (`--limit`) to learn whether it suffices."
        if self.is_within(limit):
            return (
                f"{kind}: this motion stays within {shown} for every model that the data allow, at its "
                f"{len(self.times)} instants."
            )
        excess, doubt = self.first_excess(limit), self.first_doubt(limit)
        if excess is not None:
            k, i = excess
            least = float(max(self.lower[k, i], -self.upper[k, i]))
            return (
                f"{kind}: every model that the data allow needs more than {shown}, first at {self.times[k]:.3f} s, "
                f"where {self.actuators[i]} needs at least {at_least(least)} {self.units[i]}."
            )
        assert doubt is not None
        k, i = doubt
        most = float(max(abs(self.lower[k, i]), abs(self.upper[k, i])))
        return (
            f"Not proven to stay within {shown}: the first place is {self.times[k]:.3f} s, where {self.actuators[i]} "
            f"may need up to {at_most(most)} {self.units[i]}."
        )


def _stated(limit: float) -> str:
    """The limit with all its digits: the statement is about this very number."""
    return repr(float(limit)).removesuffix(".0")


_GUARANTEED = (
    "The parameters lie in the guaranteed set of the identification: its stated error bounds hold, and the robot obeys "
    "the equations of the model with its stated geometry."
)
_CONFIDENT = "The noise of the identification is as its method assumes, and the robot obeys the equations of the model."
_FEEDFORWARD = (
    "The efforts are those of the desired motion at the instants of sampling, without the share of feedback, and "
    "without the errors of measured efforts that the identification allows."
)


def enclose_feedforward(
    dynamics: IdentifiedDynamics, motion: DesiredMotion, problem: LinearProblem | None = None
) -> Enclosure | None:
    """Bounds of the feedforward efforts of a motion over all models that the data allow.

    Args:
        dynamics: The identification. Of its estimates, the guaranteed sets are used, all together; where there is none,
            the confidence region of the recommended method.
        motion: The desired motion.
        problem: The bounded-error problem of the identification, such as `answer.bounded`, with the unknowns of the
            estimates: bounds are then exact over its consistent set, the tightest that there are.

    Returns:
        The bounds, or None where no estimate has a bounded set.

    Raises:
        AssumptionError: the problem is inconsistent, or leaves an unknown without bound.
    """
    W, is_exact = _regressor(dynamics.robot, motion)
    names = list(dynamics.robot.names)
    columns = [names.index(name) for name in dynamics.columns if name in names]
    require(len(columns) == len(dynamics.columns), "the model includes effects of the catalogue: they have no bounds")
    own = iv.rearrange(lambda end: end[..., columns].reshape(-1, len(columns)), W)
    known = _known(W, dynamics)
    found = _over_problem(own, problem) if problem is not None else _over_sets(own, dynamics)
    if found is None:
        return None
    box, methods, claim = found
    bounds = Interval(box.lower, box.upper) + known
    shape = (len(motion), len(dynamics.robot.actuators))
    if claim is Claim.PROOF and not is_exact:
        claim = Claim.ENCLOSURE
    nominal = np.asarray(dynamics.robot.regressor(*motion.joints) @ dynamics.parameters())
    premises = (_CONFIDENT if claim is Claim.CONFIDENCE else _GUARANTEED, _FEEDFORWARD)
    return Enclosure(
        actuators=tuple(dynamics.robot.actuators),
        units=tuple(dynamics.robot.effort_units),
        times=motion.times,
        lower=np.asarray(bounds.lower).reshape(shape),
        upper=np.asarray(bounds.upper).reshape(shape),
        nominal=nominal,
        claim=claim,
        methods=methods,
        premises=premises,
    )


def _regressor(robot: Any, motion: DesiredMotion) -> tuple[Interval, bool]:
    """The regressor (N, n, p) of a motion, and whether it is enclosed: else it is as computed."""
    computed = np.asarray(robot.regressor(*motion.joints))
    if motion.pose is not None and hasattr(robot, "regressor_kernel"):
        try:
            kernel = robot.regressor_kernel()
            enclosed = kernel.enclose(*motion.pose)[kernel.outputs[0].name]
        except AssumptionError:  # a solve or a comparison, without interval meaning
            return Interval(computed), False
        ends = np.asarray(enclosed.lower), np.asarray(enclosed.upper)
        if ends[0].shape == computed.shape and np.isfinite(ends).all():
            return enclosed, True
    return Interval(computed), False


def _known(W: Interval, dynamics: IdentifiedDynamics) -> Interval:
    """Efforts of the parameters known beforehand."""
    if not dynamics.fixed:
        return Interval(0.0)
    names = list(dynamics.robot.names)
    fixed = [names.index(name) for name in dynamics.fixed]
    part = iv.rearrange(lambda end: end[..., fixed].reshape(-1, len(fixed)), W)
    return iv.dot(part, np.array(list(dynamics.fixed.values())))


def _over_sets(rows: Interval, dynamics: IdentifiedDynamics) -> tuple[Box, tuple[str, ...], Claim] | None:
    """Bounds over the intersection of the guaranteed sets, or over the recommended confidence region."""
    guaranteed = {
        name: each
        for name, each in dynamics.estimates.items()
        if each.status is Status.OK and each.claim >= Claim.ENCLOSURE and _is_bounded(each)
    }
    if not guaranteed:
        title, chosen = dynamics.estimate_of()
        if chosen.claim is Claim.VALUE or not _is_bounded(chosen):
            return None
        bounds, _ = bounds_of_efforts(chosen, rows.mid)
        return None if bounds is None else (bounds, (title,), Claim.CONFIDENCE)
    return _intersected(rows, guaranteed)


def _intersected(rows: Interval, guaranteed: Mapping[str, Estimate]) -> tuple[Box, tuple[str, ...], Claim]:
    require_ieee("the range of a torque")
    boxes, hull = [], None
    for each in guaranteed.values():
        box, _ = bounds_of_efforts(each, rows.mid)
        assert box is not None
        boxes.append(box)
        hull = each.region.hull() if hull is None else hull & each.region.hull()
    assert hull is not None
    joint = boxes[0]
    for box in boxes[1:]:
        joint &= box
    require(not (hull.is_empty or joint.is_empty), "the guaranteed sets of the identification contradict each other")
    claim = min(proof(), *(each.claim for each in guaranteed.values()))
    return _widened(joint, rows, hull), tuple(guaranteed), Claim(claim)


def _over_problem(rows: Interval, problem: LinearProblem | None) -> tuple[Box, tuple[str, ...], Claim] | None:
    from gough.methods import LinearHull, prediction_bounds  # noqa: PLC0415 - start-up time

    assert problem is not None
    box = prediction_bounds(problem, rows.mid)
    hull = LinearHull().contract(problem, problem.unknowns.bounds)
    if box.is_empty or hull.is_empty:
        raise AssumptionError("no parameters satisfy all rows of the data: there is no model whose efforts to bound")
    if not (box.is_bounded and hull.is_bounded):
        return None
    return _widened(box, rows, hull), ("all models consistent with the data",), proof()


def _widened(box: Box, rows: Interval, hull: Box) -> Box:
    """Bounds for the middle of the rows, widened for all rows in their intervals: by rad · |θ|, rounded up."""
    spread = rows - Interval(rows.mid)
    slack = iv.dot(spread, Interval(hull.lower, hull.upper))
    total = Interval(box.lower, box.upper) + slack
    return Box(np.asarray(total.lower), np.asarray(total.upper))


def _is_bounded(estimate: Estimate) -> bool:
    hull = estimate.region.hull()
    return hull.is_bounded and not hull.is_empty
