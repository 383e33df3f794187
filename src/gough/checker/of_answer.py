"""From answers that carry evidence to certificates that anyone can check."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from gough.checker.certificate import Certificate
from gough.checker.linear import NotProven, Sides, after, best_step, with_bound
from gough.checker.of_ellipsoid import rounds_of
from gough.checker.proofs import Bound, Empty, Inside, Proof, RelaxedBound, RelaxedEmpty, RelaxedStep, Violated, Witness
from gough.checker.steps import Coefficients, Link, Reach, Split, Step, Weights
from gough.checker.words import written
from gough.core.arrays import Array
from gough.core.errors import AssumptionError
from gough.core.rational import rational
from gough.estimates import EllipsoidStats, Estimate, HullStats, RelaxedStats, Status
from gough.evidence import Evidence, Halves
from gough.evidence import Link as Hint
from gough.problem import LinearProblem
from gough.region import Box, Ellipsoid, Intersection


@runtime_checkable
class OutlierAnswer(Protocol):
    """What `gough.methods.bounded.outliers` answers."""

    @property
    def q(self) -> int: ...
    @property
    def at_least(self) -> int: ...
    @property
    def proven(self) -> tuple[int, ...]: ...
    @property
    def evidence(self) -> tuple[Evidence, ...]: ...
    @property
    def proofs(self) -> tuple[tuple[Evidence, ...], ...]: ...


@runtime_checkable
class FactorAnswer(Protocol):
    """What `gough.methods.bounded.minimal_bound` answers."""

    @property
    def is_consistent(self) -> bool: ...
    @property
    def is_inconsistent(self) -> bool: ...
    @property
    def point(self) -> Array: ...
    @property
    def evidence(self) -> tuple[Evidence, ...]: ...


@runtime_checkable
class PredictionAnswer(Protocol):
    """What `gough.methods.bounded.predictions` answers."""

    @property
    def bounds(self) -> Box: ...
    @property
    def evidence(self) -> tuple[Hint, ...]: ...


@np.errstate(all="ignore")
def certificate_of(
    problem: LinearProblem, answer: Estimate | OutlierAnswer | FactorAnswer | PredictionAnswer
) -> Certificate:
    """The certificate of all that the answer proves about the problem: its region, or a contradiction.

    An estimate of a hull, a relaxed hull or an ellipsoid gets a certificate of that very region, number by number;
    `outliers` one of how many and which; `minimal_bound` one of whether the problem is consistent; `predictions` one
    of every bound.

    Raises:
        AssumptionError: the answer keeps no evidence.
        NotProven: its evidence proves less than its region.

    Examples:
        >>> from gough import Bounded, Unknowns
        >>> from gough import estimate as solve
        >>> from gough.checker import check
        >>> from gough.methods import LinearHull
        >>> problem = LinearProblem([[1.0], [1.0]], [0.9, 1.1], Unknowns(["mass"]), Bounded(0.2))
        >>> certificate = certificate_of(problem, solve(problem, LinearHull()))
        >>> certificate.kind, check(certificate, problem).holds
        ('Bound', True)
    """
    if isinstance(answer, Estimate):
        return Certificate.of(problem, _of_estimate(problem, answer))
    if isinstance(answer, OutlierAnswer):
        return Certificate.of(problem, _of_outliers(answer))
    if isinstance(answer, FactorAnswer):
        return Certificate.of(problem, _of_factor(problem, answer))
    return Certificate.of(problem, Bound(chain_of(problem, answer.evidence)[0]))


def _of_estimate(problem: LinearProblem, estimate: Estimate) -> Proof:
    stats, empty = estimate.stats, estimate.status is Status.INCONSISTENT
    match stats:
        case RelaxedStats(sides=sides, contradictions=contradictions) if sides or contradictions:
            return _relaxed(problem, estimate, stats)
        case HullStats(evidence=evidence) if evidence:
            return _of_hull(problem, evidence, estimate.region.hull(), empty=empty)
        case EllipsoidStats(evidence=evidence) if evidence and empty:
            return _of_hull(problem, evidence, estimate.region.hull(), empty=True)
        case EllipsoidStats(rounds=rounds) if rounds and isinstance(estimate.region, Ellipsoid | Intersection):
            return _of_ellipsoid(problem, stats, estimate.region)
    raise AssumptionError(
        f"{estimate.method} keeps no evidence of this answer; LinearHull(), RelaxedHull(q), TightEllipsoid() and "
        "BoundingEllipsoid() do, if the prior alone bounds where they start and no row was left out."
    )


def _of_ellipsoid(problem: LinearProblem, stats: EllipsoidStats, region: Ellipsoid | Intersection) -> Inside:
    try:
        return _inside(problem, _last_of_each(stats.evidence), stats, region)
    except NotProven:
        return _inside(problem, stats.evidence, stats, region)


def _inside(
    problem: LinearProblem, hints: tuple[Hint, ...], stats: EllipsoidStats, region: Ellipsoid | Intersection
) -> Inside:
    links, box = _chain(problem, hints, Sides.of_prior(problem))
    if isinstance(region, Intersection):
        _require_inside(problem, box, region.box)
        if not all(isinstance(link, Step) for link in links):
            links += _stated(problem, region.box)
        region = region.ellipsoid
    return Inside(links, rounds_of(problem, box, stats.rounds, region))


def _of_hull(problem: LinearProblem, evidence: tuple[Hint, ...], region: Box, *, empty: bool) -> Proof:
    links, box = chain_of(problem, evidence, None if empty else region)
    if empty:
        if not box.is_empty:
            raise NotProven("the evidence does not prove that nothing is consistent")
        return Empty(links)
    _require_inside(problem, box, region)
    if not all(isinstance(link, Step) for link in links):
        links += _stated(problem, region)
    if not any(isinstance(link, Step) for link in links):
        raise AssumptionError("the rows prove nothing beyond the prior here, so there is nothing to certify")
    return Bound(links)


def _require_inside(problem: LinearProblem, box: Sides, region: Box) -> None:
    """Raise NotProven unless the box, which is proven, is inside the region, which is stated."""
    sides = zip(problem.unknowns.names, box.lower, box.upper, region.lower.tolist(), region.upper.tolist(), strict=True)
    for name, low, high, lower, upper in sides:
        for sign, proven, stated in ((1, low, lower), (-1, high, upper)):
            if box.is_empty or not np.isfinite(stated):
                continue
            wanted = sign * rational(stated, "a side")
            if proven is None or sign * proven < wanted:
                reached = "nothing" if proven is None else written(proven)
                raise NotProven(
                    f"the evidence proves {reached} for a side of '{name}', but the estimate says {stated!r}"
                )


def _stated(problem: LinearProblem, region: Box) -> tuple[Step, ...]:
    """The region's sides as steps of their own, that follow from the box."""
    prior = problem.unknowns.bounds
    steps = []
    for axis, name in enumerate(problem.unknowns.names):
        for sign, side, known in ((1, region.lower, prior.lower), (-1, region.upper, prior.upper)):
            if np.isfinite(side[axis]) and side[axis] != known[axis]:
                steps.append(Step(((name, Fraction(sign)),), sign * rational(side[axis], "a side")))
    return tuple(steps)


def chain_of(problem: LinearProblem, hints: Iterable[Hint], goal: Box | None = None) -> tuple[tuple[Link, ...], Sides]:
    """A chain of links from a method's hints, and the box that it leaves; a shorter chain if that reaches the goal."""
    hints, prior = tuple(hints), Sides.of_prior(problem)
    if goal is not None:
        for some in (_last_of_each(hints), _shorter_cases(hints)):
            try:
                links, box = _chain(problem, some, prior)
                _require_inside(problem, box, goal)
            except NotProven:
                continue
            return links, box
    return _chain(problem, hints, prior)


def _last_of_each(hints: tuple[Hint, ...]) -> tuple[Hint, ...]:
    """The hints without earlier ones for the same direction: the last is the best."""
    last = {(hint.names, hint.factors): hint for hint in hints if isinstance(hint, Evidence)}
    kept = (hint for hint in hints if not isinstance(hint, Evidence) or last[hint.names, hint.factors] is hint)
    return _shorter_cases(kept)


def _shorter_cases(hints: Iterable[Hint]) -> tuple[Hint, ...]:
    """The same with less in each half of a split."""
    return tuple(
        Halves(hint.name, hint.at, _last_of_each(hint.below), _last_of_each(hint.above))
        if isinstance(hint, Halves)
        else hint
        for hint in hints
    )


def _chain(problem: LinearProblem, hints: Iterable[Hint], box: Sides) -> tuple[tuple[Link, ...], Sides]:
    links: list[Link] = []
    for hint in hints:
        if isinstance(hint, Evidence):
            step = best_step(
                problem, box, tuple(zip(hint.names, map(_exact, hint.factors), strict=True)), weights(hint)
            )
            links.append(step)
            box = with_bound(problem, box, step)
            continue
        if isinstance(hint, Halves):
            split, box = _split(problem, hint, box)
            links.append(split)
        else:
            each = {name: weights(one) for name, one in zip(hint.names, hint.evidence, strict=True)}
            links.append(Reach(_named(hint.names, hint.bounds), tuple(each.items())))
            box = after(problem, box, links[-1])
    return tuple(links), box


def _split(problem: LinearProblem, hint: Halves, box: Sides) -> tuple[Split, Sides]:
    axis, at = problem.unknowns.index(hint.name), _exact(hint.at)
    below, lower = _chain(problem, hint.below, box.tightened(axis, Fraction(-1), -at))
    above, upper = _chain(problem, hint.above, box.tightened(axis, Fraction(1), at))
    return Split(hint.name, at, below, above), lower.union(upper)


def weights(hint: Evidence) -> Weights:
    """Rows and weights of a hint, without those that are 0."""
    exact = [(row, Fraction(weight)) for row, weight in zip(hint.rows, hint.weights, strict=True)]
    return tuple((row, weight) for row, weight in exact if weight)


def _named(names: Iterable[str], values: Iterable[float]) -> Coefficients:
    return tuple((name, _exact(x)) for name, x in zip(names, values, strict=True))


def _exact(x: float) -> Fraction:
    return rational(x, "a number")


def _relaxed(problem: LinearProblem, estimate: Estimate, stats: RelaxedStats) -> Proof:
    shared = tuple(weights(one) for one in stats.contradictions)
    steps = tuple(
        RelaxedStep(
            _named(side.names, side.factors),
            _exact(side.value),
            tuple(weights(one) for one in side.cuts),
            tuple(weights(one) for one in side.contradictions),
        )
        for side in stats.sides
    )
    if estimate.status is Status.INCONSISTENT:
        return RelaxedEmpty(stats.q, steps, shared)
    box = Sides.of_prior(problem)
    for step in steps:
        box = with_bound(problem, box, step)
    _require_inside(problem, box, estimate.region.hull())
    return RelaxedBound(stats.q, steps, shared)


def _of_outliers(found: OutlierAnswer) -> Violated:
    if not found.at_least:
        raise AssumptionError("nothing is proven about outliers here, so there is nothing to certify")
    hints = [*found.evidence, *(one for more in found.proofs for one in more)]
    return Violated(found.at_least, found.q, found.proven, tuple(weights(one) for one in hints))


def _of_factor(problem: LinearProblem, found: FactorAnswer) -> Proof:
    if found.is_consistent:
        return Witness(_named(problem.unknowns.names, found.point.tolist()))
    if not found.is_inconsistent:
        raise AssumptionError("the minimal bound decides nothing here: the factor is 1 to within rounding")
    return _of_hull(problem, found.evidence, Box.empty(len(problem.unknowns)), empty=True)
