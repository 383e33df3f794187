"""Guaranteed bounds of a robot whose bodies can exist: rows with error bounds, intersected with the cone of physics.

Each bound is a semidefinite program over the rows that matter. Its multipliers of the rows are taken as they are, and
what they leave is completed to a function that no possible body makes negative; the bound that follows is computed in
exact rationals by the checker's own arithmetic. A solver that errs makes a bound wider, never wrong.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gough.answers import ProvenIntervals
from gough.checker import Certificate, PhysicalBound, PhysicalEmpty, PhysicalStep, check
from gough.checker.files import render
from gough.checker.linear import NotProven, Sides, with_bound
from gough.checker.physical import best_physical_step, is_never_negative, physical_step, with_shared_sides
from gough.checker.physical_proofs import BodyTerms, ellipsoid_factors
from gough.core import outward
from gough.core.arrays import Array
from gough.core.codec import encode
from gough.core.errors import AssumptionError, InputError, require
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, short_labels
from gough.data.problems import problem_text
from gough.dynamics.bodies.complete import UNITS, BodyMatrix, CompleteSet, Ellipsoid, complete_set
from gough.dynamics.bodies.program import SOLVER, Point, Programs, Scaled, run, solvers
from gough.dynamics.recorded import recorded
from gough.dynamics.with_effects import WithEffects
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box, Interval
from gough.robots.mechanism.inertia import TERMS
from gough.robots.physical import FORMS, RigidBody, physical_limits
from gough.unknowns import Unknowns

if TYPE_CHECKING:
    from gough.dynamics.results import Identified

TOTAL = "total mass"
HEAVIEST = 100.0
"""Limit of the mass of a body where none is stated, over the mass of all bodies of the blueprint."""
FARTHEST = 10.0
"""Limit of the distance of mass from the origin of its body's frame, over the largest such of the blueprint."""
_SIZES = 1000.0
"""Limit of other parameters: the efforts that one makes alone, over those measured."""
_ROUNDS = 8
"""Times that rows are added."""
_ADDED = 3
"""Rows that are added for each direction at once."""
_ZERO = 1e-6
"""Share of the largest diagonal entry of a multiplier, in units of the blueprint, below which one counts as zero."""
_NEGLIGIBLE = 1e-6
"""Share of the largest weight below which a row is left out on trial: few rows determine an end of an interval."""
_REFINED = 3
"""Times that weights are changed to leave less."""
_VIOLATED = 1e-6
"""Share of its bound by which a row must be violated to be added."""


@dataclass(frozen=True)
class Limits:
    """Limits beyond which no body is looked for: premises of every bound.

    Examples:
        >>> Limits(heaviest=20.0).farthest is None
        True
    """

    heaviest: float | None = None
    """Mass of a body, kg; None: a hundred times that of all bodies of the blueprint."""
    farthest: float | None = None
    """Distance of mass from the origin of its body's frame, m; None: ten times that of the blueprint."""

    def __post_init__(self) -> None:
        for name, unit in (("heaviest", "kg"), ("farthest", "m")):
            value = getattr(self, name)
            require(value is None or 0 < value < inf, f"{name} must be positive and finite, in {unit}, but is {value}")


@dataclass(frozen=True, eq=False)
class CertifiedBodies(ProvenIntervals):
    """What error bounds and physics prove of a robot, with a certificate that `gough check` verifies.

    `answer.interval("m_rod")` is a proven interval; `answer.is_empty` states that no robot that can exist explains the
    data within their bounds.
    """

    problem: LinearProblem
    """The rows in all parameters of the robot, and a prior that includes the limits."""
    certificate: Certificate
    intervals: Mapping[str, Interval]
    """By the names of base parameters, parameters, and `total mass`: proven intervals, those that are not the prior."""
    units: Mapping[str, str]
    factor: float
    """About the smallest factor on the error bounds for which a robot that can exist explains every row."""
    premises: tuple[str, ...] = ()
    """What the proof assumes besides the rows, in sentences."""
    alone: Mapping[str, Interval] = field(default_factory=dict)
    """Intervals by the rows without physics, where they are known."""

    @property
    def is_empty(self) -> bool:
        """Whether no robot that can exist explains the data within their bounds."""
        return isinstance(self.certificate.proof, PhysicalEmpty)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result, in sentences."""
        if self.is_empty:
            causes = "Errors are larger than stated, rows are outliers, the model is wrong, or a premise does not hold."
            first = "No physical robot explains these data within the bounds (proven)."
            enough = f"The bounds would have to be about {number(self.factor, digits=3)} times as large."
            return (f"{first} {enough} {causes}", *self.premises)
        n = len(self.intervals)
        about = f"Error bounds and physics together prove {n} intervals of parameters and combinations."
        mass = ""
        if TOTAL in self.intervals:
            lower, upper = self.intervals[TOTAL]
            mass = f" The bodies weigh {_range(lower, upper)} kg in total."
        return (f"{about}{mass}", *self.premises)

    def table(self) -> Table:
        """A row for each proven interval, rounded outward, beside that without physics where it is known."""
        columns = [Column("parameter", "label"), Column("unit", "unit"), Column("lower"), Column("upper")]
        columns.append(Column("width over that without physics"))
        rows: list[list[str | Cell]] = []
        labels = short_labels(self.names)
        for label, (name, (lower, upper)) in zip(labels, self.intervals.items(), strict=True):
            other = self.alone.get(name)
            share = "" if other is None else number((upper - lower) / (other.upper - other.lower), digits=3)
            rows.append([label, self.units.get(name, ""), *outward.sides(lower, upper), share])
        return table(columns, rows, "." * len(columns), "Proven intervals of robots that can exist")

    def headlines(self) -> Sequence[str]:
        """What is proven, in sentences."""
        return self.sentences

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data; it is not restored from them, since a file is no proof: check the certificate."""
        return {
            "is_empty": self.is_empty,
            "factor": encode(float(self.factor)),
            "problem": self.certificate.problem,
            "intervals": {name: encode(list(each)) for name, each in self.intervals.items()},
            "premises": list(self.premises),
            "sentences": list(self.sentences),
        }

    def files(self) -> dict[str, bytes]:
        """The certificate and the problem that it is about, by the names of their files."""
        return {
            "physical-certificate.json": render(self.certificate).encode(),
            "physical-problem.json": problem_text(self.problem).encode(),
        }


def _range(lower: float, upper: float) -> str:
    if lower == -inf or upper == inf:
        return f"at least {outward.at_least(lower)}" if upper == inf else f"at most {outward.at_most(upper)}"
    return outward.between(lower, upper)


def certified_bodies(
    identified: "Identified",
    *,
    equal: Sequence[Sequence[str]] = (),
    inside: Mapping[str, Ellipsoid] | None = None,
    limits: Limits | None = None,
    prior: Box | None = None,
    on_step: Callable[[str], object] = lambda _: None,
) -> CertifiedBodies:
    """Guaranteed bounds of the parameters of a robot that can exist, or a proof that none explains the data.

    Args:
        identified: What `identify` returned; its error bounds are used.
        equal: Groups of bodies, by name, that are equal: a premise of the bounds.
        inside: Ellipsoids that bodies do not leave, by the names of bodies.
        limits: Limits of masses and distances beyond which no body is looked for.
        prior: Bounds of the robot's parameters, as they were given to `identify`.
        on_step: Called with words when a part begins.

    Raises:
        InputError: cvxpy is not installed; the robot states no limits or has effects; a body does not exist.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> robot, motion = random_motion(1, n_samples=60)
        >>> answer = certified_bodies(identify(robot, motion, methods=["weighted"], bound=0.1, compare=False))
        >>> lower, upper = answer.interval("fv_1")
        >>> 0 <= lower <= 0.08 <= upper
        True
    """
    solvers()
    robot = identified.robot
    if isinstance(robot, WithEffects):
        raise InputError("bounds of bodies are not computed for models with effects: identify without effects")
    analysis = identified.identifiability
    known = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    blueprint = {**known, **identified.blueprint, **identified.fixed}
    complete = complete_set(
        physical_limits(robot), analysis, blueprint, fixed=identified.fixed, equal=equal, inside=dict(inside or {})
    )
    rows = recorded(robot, identified.motion, prior=None)
    radius = np.asarray(identified.bound)[rows.groups.of_row(rows.n_rows)]
    box, premises = _prior(complete, rows, blueprint, fixed=identified.fixed, limits=limits or Limits(), prior=prior)
    unknowns = Unknowns(robot.names, robot.units, robot.nominal, box)
    problem = LinearProblem(rows.W, rows.y, unknowns, Bounded(radius), rows.groups)
    search = _Search(complete, problem)
    on_step("testing whether a robot that can exist explains the rows")
    factor, step = search.smallest_factor()
    if step is not None:
        proof = PhysicalEmpty(search.bodies, search.nonnegative, (step,), search.equal)
        return _checked(CertifiedBodies(problem, Certificate.of(problem, proof), {}, {}, factor, premises))
    on_step("proving bounds of robots that can exist")
    units = dict(zip(robot.names, robot.units, strict=True))
    directions = dict(_directions(identified, complete))
    for base, unit in zip(identified.problem.unknowns.names, identified.problem.unknowns.units, strict=True):
        units.setdefault(base, unit)
    units[TOTAL] = "kg"
    steps, found = search.bounds(directions)
    if not steps:
        raise AssumptionError("error bounds and physics prove no interval that the prior does not state already")
    leaders = _leaders(complete)
    each = {name: found[first] for name, first in leaders.items() if first in found}
    intervals = {**each, **{name: ends for name, ends in found.items() if name not in leaders}}
    proof_of_bounds = PhysicalBound(search.bodies, search.nonnegative, steps, search.equal)
    answer = CertifiedBodies(
        problem, Certificate.of(problem, proof_of_bounds), intervals, units, factor, premises, _alone(identified)
    )
    return _checked(answer)


def _checked(answer: CertifiedBodies) -> CertifiedBodies:
    """The answer, if the checker finds that its certificate holds."""
    verdict = check(answer.certificate, answer.problem)
    assert verdict.holds, verdict.reason
    return answer


def _alone(identified: "Identified") -> dict[str, Interval]:
    """Proven intervals of the hull, without physics."""
    for estimate in identified.estimates.values():
        if estimate.method.startswith("LinearHull"):
            hull = estimate.intervals()
            sides = zip(estimate.unknowns.names, hull.lower.tolist(), hull.upper.tolist(), strict=True)
            return {name: Interval(low, high) for name, low, high in sides if low < high}
    return {}


def _directions(identified: "Identified", complete: CompleteSet) -> Iterator[tuple[str, dict[str, float]]]:
    """Parameters, then base parameters, then the total mass: each a combination of parameters."""
    for name in _leaders(complete).values():
        yield name, {name: 1.0}
    analysis = identified.identifiability
    for base in analysis.base:
        terms = {name: float(c) for name, c in zip(analysis.names, base.coefficients.tolist(), strict=True) if c}
        if len(terms) > 1 or base.name not in complete.names:
            yield base.name, terms
    masses = _masses(identified.robot, complete)
    if len(masses) > 1:
        yield TOTAL, masses


def _leaders(complete: CompleteSet) -> dict[str, str]:
    """For each parameter the first of those that equal it."""
    places = complete.share.argmax(axis=1).tolist()
    first = {place: name for name, place in zip(reversed(complete.names), reversed(places), strict=True)}
    return {name: first[place] for name, place in zip(complete.names, places, strict=True)}


def _masses(robot: Any, complete: CompleteSet) -> dict[str, float]:
    """Masses of the bodies that are free, with the number of bodies that share each; none where one is not free."""
    listed = getattr(robot, "parameters", ())
    members = {each.name: float(len(each.members)) for each in listed if getattr(each, "term", "") == "m"}
    found = {limit.name: 1.0 for limit in complete.limits.nonnegative if limit.what == "mass"}
    every = physical_limits(robot).bodies
    for body in every:
        name = body.terms.get("m")
        if name is None or name not in complete.names:
            return {}
        found[name] = members.get(name, 1.0)
    return found if every else {}


def _prior(
    complete: CompleteSet,
    rows: LinearProblem,
    blueprint: Mapping[str, float],
    *,
    fixed: Mapping[str, float],
    limits: Limits,
    prior: Box | None,
) -> tuple[Box, tuple[str, ...]]:
    """A bounded prior of all parameters: the user's, and limits that are far beyond any robot; with its words."""
    names = rows.unknowns.names
    squares, effort = np.zeros(len(names)), 0.0
    for block in rows.blocks():
        squares += (rows.W[block] ** 2).sum(axis=0)
        effort = max(effort, float(abs(rows.y[block]).max(initial=0.0)))
    rms = np.sqrt(squares / rows.n_rows)
    own = abs(np.array([blueprint[name] for name in names]))
    size = np.where(rms > 0, effort / np.maximum(rms, 1e-300), 0.0)
    half = _SIZES * np.maximum(np.maximum(size, own), 1e-6)
    lower, upper = -half, half
    for limit in complete.limits.nonnegative:
        lower[names.index(limit.name)] = 0.0
    words = [f"No parameter by itself makes efforts of more than {_SIZES:g} times the measured ones."]
    if complete.limits.bodies:
        heaviest, farthest = _far(complete, blueprint, limits)
        words.append(
            f"No body is heavier than {outward.at_least(heaviest, digits=3)} kg or has mass farther than "
            f"{outward.at_least(farthest, digits=3)} m from the origin of its frame."
        )
        sides = {"m": (0.0, heaviest)}
        sides |= {f"s{k}": (-heaviest * farthest, heaviest * farthest) for k in "xyz"}
        moment = 2 * heaviest * farthest**2  # a rotor may add as much again
        sides |= {f"I{k}{k}": (0.0, moment) for k in "xyz"} | {f"I{k}": (-moment, moment) for k in ("xy", "xz", "yz")}
        for body in complete.limits.bodies:
            for term, name in body.terms.items():
                k = names.index(name)
                lower[k], upper[k] = sides[term]
        if any(body.rotor is not None for body in complete.limits.bodies):
            most = outward.at_least(moment / 2, digits=3)
            words.append(f"No rotor that has no parameter of its own adds more than {most} kg·m² to a body.")
    words += [f"Bodies {listed(matrix.members)} are equal." for matrix in complete.bodies if len(matrix.members) > 1]
    words += [f"Body {name} lies within its stated ellipsoid." for name in complete.ellipsoids]
    words += list(complete.conditions)
    if prior is not None:
        lower, upper = np.maximum(lower, prior.lower), np.minimum(upper, prior.upper)
        words.append("Parameters lie within the bounds that the study states.")
    for name, value in fixed.items():
        lower[names.index(name)] = upper[names.index(name)] = value
    crossed = [name for name, low, high in zip(names, lower, upper, strict=True) if low > high]
    require(not crossed, f"the prior of {', '.join(crossed)} excludes every possible body: correct it in [unknowns]")
    return Box(lower, upper), tuple(words)


def _far(complete: CompleteSet, blueprint: Mapping[str, float], limits: Limits) -> tuple[float, float]:
    masses = [max(blueprint.get(body.terms.get("m", ""), 0.0), 0.0) for body in complete.limits.bodies]
    heaviest = limits.heaviest if limits.heaviest is not None else HEAVIEST * sum(masses)
    reach = []
    for body in complete.bodies:
        P = body.reference
        if len(P) == 4:
            reach.append(float(np.sqrt(np.trace(P[:3, :3]) / P[3, 3])))
    farthest = limits.farthest if limits.farthest is not None else FARTHEST * max(reach, default=1.0)
    return heaviest, farthest


class _Multipliers(NamedTuple):
    """What a solver returned for one direction."""

    point: Array
    rows: dict[int, float]
    matrices: tuple[Array, ...]
    """Of the bodies, scaled."""
    inside: Array


class _Search:
    """Bounds of directions over the rows and the cone; multipliers become steps of a proof."""

    def __init__(self, complete: CompleteSet, problem: LinearProblem) -> None:
        self.complete, self.problem = complete, problem
        names = problem.unknowns.names
        self.at = [names.index(name) for name in complete.names]
        sizes = np.where(complete.reference != 0, abs(complete.reference), 1.0)
        self.scaled = Scaled.of(complete, sizes)
        self.programs = Programs(self.scaled, np.zeros((0, len(complete.labels))), np.zeros(0), 0.0, SOLVER)
        assert isinstance(problem.noise, Bounded)
        self.radius = np.broadcast_to(problem.noise.radius, (problem.n_rows,))
        bounds = problem.unknowns.bounds
        others = [k for k in range(len(names)) if k not in self.at]
        y = problem.y - problem.W[:, others] @ bounds.lower[others]
        # rows in units of their bounds, as functions of the scaled variables
        self.W = problem.W[:, self.at] @ complete.share @ self.scaled.T / self.radius[:, None]
        self.y = y / self.radius
        self.used = self._first_rows()

    @cached_property
    def bodies(self) -> tuple[BodyTerms, ...]:
        """The bodies as the certificate states them."""
        return tuple(self._terms(body) for body in self.complete.limits.bodies)

    @property
    def equal(self) -> tuple[tuple[str, ...], ...]:
        """Groups of equal bodies, as the certificate states them."""
        return tuple(matrix.members for matrix in self.complete.bodies if len(matrix.members) > 1)

    @cached_property
    def shared(self) -> tuple[tuple[int, ...], ...]:
        """Axes of the problem that have one value, since their bodies are equal."""
        terms = {body.name: dict(body.terms) for body in self.bodies}
        names = self.problem.unknowns.names
        return tuple(
            tuple(names.index(terms[name][term]) for name in group) for group in self.equal for term in terms[group[0]]
        )

    @property
    def prior(self) -> Sides:
        """The box that a proof starts from."""
        return with_shared_sides(Sides.of_prior(self.problem), self.shared)

    def _terms(self, body: RigidBody) -> BodyTerms:
        ellipsoid = self.complete.ellipsoids.get(body.name)
        ordered = {term: body.terms[term] for term in TERMS if term in body.terms}
        rotor = None if body.rotor is None or set(ordered) == {"m"} else body.rotor
        if ellipsoid is None:
            return BodyTerms(body.name, ordered, rotor)  # type: ignore[arg-type]
        radii = tuple(None if r == inf else r for r in ellipsoid.radii)
        return BodyTerms(body.name, ordered, rotor, ellipsoid.center, radii)  # type: ignore[arg-type]

    @property
    def nonnegative(self) -> tuple[str, ...]:
        return tuple(limit.name for limit in self.complete.limits.nonnegative)

    def _first_rows(self) -> list[int]:
        """Rows to begin with: those far from a fit, and those in which one variable matters most."""
        fit, *_ = np.linalg.lstsq(self.W, self.y, rcond=1e-12)
        left = abs(self.y - self.W @ fit)
        chosen = set(np.argsort(-left)[: 2 * self.W.shape[1]].tolist())
        chosen |= {int(k) for column in self.W.T for k in (column.argmax(), column.argmin())}
        return sorted(chosen)

    def smallest_factor(self) -> tuple[float, PhysicalStep | None]:
        """About the smallest factor on the bounds that leaves a possible robot; a step that proves that 1 does not."""
        cp = solvers()
        factor, multipliers = np.nan, None
        for _ in range(_ROUNDS):
            u, s = cp.Variable(self.W.shape[1]), cp.Variable(nonneg=True)
            W, y = self.W[self.used], self.y[self.used]
            low, high = W @ u + s >= y, W @ u - s <= y
            program = cp.Problem(cp.Minimize(s), [low, high, *self._limits(cp, u)])
            matrices, within = self._last
            if run(cp, program, SOLVER) not in {"optimal", "optimal_inaccurate"} or u.value is None:
                break
            factor = float(s.value)
            multipliers = self._multipliers(u, low, high, matrices, within)
            if not self._add_violated([u.value], factor):
                break
        if multipliers is None or not factor > 1:
            return factor, None
        step = self._step(self.prior, {}, multipliers)
        return factor, step if step is not None and step.value > 0 else None

    def bounds(
        self, directions: Mapping[str, Mapping[str, float]]
    ) -> tuple[tuple[PhysicalStep, ...], dict[str, Interval]]:
        """Steps that prove both sides of each direction, and the intervals that they prove."""
        wanted = [(name, sign) for name in directions for sign in (1.0, -1.0)]
        found = self._solved(directions, wanted)
        box, proven, chain = self.prior, dict[tuple[str, float], PhysicalStep](), list[PhysicalStep]()
        # twice: what the first pass proves of single parameters makes the remainders of the second smaller
        for _ in range(2):
            for name, sign in wanted:
                if (name, sign) not in found:
                    continue
                signed = {key: sign * c for key, c in directions[name].items()}
                step = self._step(box, signed, found[name, sign])
                before = proven.get((name, sign))
                if step is None or not self._tells(name, step) or (before and step.value <= before.value):
                    continue
                proven[name, sign] = step
                chain.append(step)
                box = with_shared_sides(with_bound(self.problem, box, step), self.shared)
        kept = set(map(id, proven.values()))
        # in the order in which they were proven: each rests on the box that those of single parameters before it leave
        steps = tuple(step for step in chain if id(step) in kept or len(step.direction) == 1)
        ends = {
            name: Interval(
                self._end(proven.get((name, 1.0)), directions[name], 1),
                -self._end(proven.get((name, -1.0)), directions[name], -1),
            )
            for name in directions
            if (name, 1.0) in proven or (name, -1.0) in proven
        }
        return steps, ends

    def _end(self, step: PhysicalStep | None, direction: Mapping[str, float], sign: int) -> float:
        """The proven end of a direction times its sign; without a step 0 for a sum that physics keeps from below it."""
        if step is not None:
            return float(step.value)
        bounds, names = self.problem.unknowns.bounds, self.problem.unknowns.names
        zero = all(c > 0 and bounds.lower[names.index(name)] >= 0 for name, c in direction.items())
        return 0.0 if sign > 0 and zero else -inf

    def _tells(self, name: str, step: PhysicalStep) -> bool:
        """Whether a step says considerably more than the limits of bodies do."""
        bounds, names = self.problem.unknowns.bounds, self.problem.unknowns.names
        places = [(float(c), names.index(each)) for each, c in step.direction]
        widths = [abs(c) * (bounds.upper[k] - bounds.lower[k]) for c, k in places]
        least = sum(min(c * bounds.lower[k], c * bounds.upper[k]) for c, k in places)
        value = float(step.value)
        # efforts determine base parameters; of others an end near a limit, or of one body, is no knowledge
        is_base = len(places) > 1 and name != TOTAL
        return value > least + 1e-9 * max(widths) and (is_base or value > -0.5 * min(widths))

    def _limits(self, cp: Any, u: Any) -> list[Any]:
        point = Point.all_of(u)
        matrices, linear = self.programs.matrices(cp, point, 0.0), self.programs.linear(point)
        within = linear[len(linear) - len(self.scaled.within) :]
        self._last = matrices, within
        bounds = self.problem.unknowns.bounds
        rows = self.complete.share @ self.scaled.T
        lower, upper = bounds.lower[self.at], bounds.upper[self.at]
        size = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
        box = [(rows / size[:, None]) @ u >= lower / size, (rows / size[:, None]) @ u <= upper / size]
        return [*matrices, *linear, *box]

    def _solved(
        self, directions: Mapping[str, Mapping[str, float]], wanted: Sequence[tuple[str, float]]
    ) -> dict[tuple[str, float], _Multipliers]:
        """Multipliers of each direction; rows are added where an answer violates them."""
        cp = solvers()
        rows = {name: self._row(direction) for name, direction in directions.items()}
        found: dict[tuple[str, float], _Multipliers] = {}
        open_ones = list(wanted)
        for _ in range(_ROUNDS):
            u, objective = cp.Variable(self.W.shape[1]), cp.Parameter(self.W.shape[1])
            W, y = self.W[self.used], self.y[self.used]
            low, high = W @ u >= y - 1, W @ u <= y + 1
            program = cp.Problem(cp.Minimize(objective @ u), [low, high, *self._limits(cp, u)])
            matrices, within = self._last
            for key in open_ones:
                row = rows[key[0]]
                size = float(np.linalg.norm(row)) or 1.0
                objective.value = key[1] * row / size
                if run(cp, program, SOLVER) not in {"optimal", "optimal_inaccurate"} or u.value is None:
                    continue
                found[key] = self._multipliers(u, low, high, matrices, within, size=size)
            violated = self._add_violated([found[key].point for key in open_ones if key in found], 1.0)
            open_ones = [key for key in open_ones if key in found and self._worst(found[key].point, 1.0) > _VIOLATED]
            if not violated or not open_ones:
                break
        return found

    def _row(self, direction: Mapping[str, float]) -> Array:
        factors = np.array([direction.get(name, 0.0) for name in self.complete.names])
        return np.asarray(factors @ self.complete.share @ self.scaled.T)

    def _worst(self, point: Array, factor: float) -> float:
        return float((abs(self.y - self.W @ point) - factor).max())

    def _add_violated(self, points: Sequence[Array], factor: float) -> bool:
        """Use the rows that these points violate most; whether there are any."""
        more, known = set[int](), set(self.used)
        for point in points:
            excess = abs(self.y - self.W @ point) - factor
            worst = np.argsort(-excess)[:_ADDED]
            more |= {int(k) for k in worst if excess[k] > _VIOLATED * max(factor, 1.0)}
        self.used = sorted(known | more)
        return bool(more - known)

    def _multipliers(
        self, u: Any, low: Any, high: Any, matrices: list[Any], within: list[Any], *, size: float = 1.0
    ) -> _Multipliers:
        weights = size * (np.asarray(low.dual_value) - np.asarray(high.dual_value))
        every = dict(zip(self.used, weights.tolist(), strict=True))
        rows = {row: float(w / self.radius[row]) for row, w in _large(every, 1e-12).items()}
        duals = tuple(size * np.asarray(each.dual_value) for each in matrices)
        inside = np.array([size * float(np.max(each.dual_value)) for each in within])
        return _Multipliers(np.asarray(u.value), rows, duals, inside)

    def _step(self, box: Sides, direction: Mapping[str, float], by: _Multipliers) -> PhysicalStep | None:
        """The step that proves most, of those with the multipliers of the solver and with refined weights."""
        few = _large(by.rows, _NEGLIGIBLE)
        choices = [(by.rows, by.matrices), (by.rows, None)]
        choices += [(self._refined(box, direction, weights, by), None) for weights in (by.rows, few)]
        values = []
        for weights, matrices in choices:
            left = self._left(direction, weights)
            values.append(self._about(box, left, weights, self._possible(left, by, matrices, is_exact=False)[0]))
        weights, matrices = choices[int(np.argmax(values))]
        possible, inside = self._possible(self._left(direction, weights), by, matrices)
        try:
            return best_physical_step(
                self.problem, box, physical_step(direction, weights, possible, inside), self.shared
            )
        except NotProven:
            return None

    def _about(
        self, box: Sides, left: Mapping[str, float], weights: Mapping[int, float], possible: Mapping[str, float]
    ) -> float:
        """About the value that these weights prove, in floating point."""
        rows, x = list(weights), np.array(list(weights.values()))
        rest = np.array([c - possible.get(name, 0.0) for name, c in left.items()])
        for first, *others in self.shared:
            rest[first] += rest[others].sum()
            rest[others] = 0.0
        lower, upper = (np.array([np.nan if x is None else float(x) for x in side]) for side in (box.lower, box.upper))
        sides = np.minimum(rest * lower, rest * upper)[rest != 0]
        value = float(x @ self.problem.y[rows] - abs(x) @ self.radius[rows] + sides.sum())
        return -inf if np.isnan(value) else value

    def _left(self, direction: Mapping[str, float], weights: Mapping[int, float]) -> dict[str, float]:
        """What weighted rows leave of a direction, by the names of the parameters."""
        left = -np.array(list(weights.values())) @ self.problem.W[list(weights)]
        names = self.problem.unknowns.names
        for name, c in direction.items():
            left[names.index(name)] += c
        return dict(zip(names, left.tolist(), strict=True))

    def _refined(
        self, box: Sides, direction: Mapping[str, float], by_rows: Mapping[int, float], by: _Multipliers
    ) -> dict[int, float]:
        """Weights that leave less to be multiplied by the sides of the box than those of the solver do.

        A solver stops at 1e-8, and a limit of a body may be 1e9 in units of its blueprint. What weights leave besides
        a function that no possible body makes negative is taken away by the least relative change of the weights:
        rows at their bounds have large weights, and changing these costs nearly nothing.
        """
        rows, weights = list(by_rows), dict(by_rows)
        names = self.complete.names
        sides = [(box.lower[k], box.upper[k]) for k in self.at]
        width = np.array([1.0 if low is None or high is None else float(high - low) for low, high in sides])
        leaders = self.complete.share[:, self.complete.share.any(axis=0)]
        W = self.problem.W[np.ix_(rows, self.at)] @ leaders
        scale = leaders.T @ width / leaders.sum(axis=0)
        for _ in range(_REFINED):
            left = self._left(direction, weights)
            possible, _ = self._possible(left, by, None, is_exact=False)
            rest = leaders.T @ [left[name] - possible.get(name, 0.0) for name in names]
            size = abs(np.array(list(weights.values())))
            change, *_ = np.linalg.lstsq((W * size[:, None] * scale).T, rest * scale, rcond=1e-12)
            weights = {row: weights[row] + x for row, x in zip(rows, (size * change).tolist(), strict=True)}
        return weights

    def _possible(
        self,
        left: Mapping[str, float],
        by: _Multipliers,
        matrices: tuple[Array, ...] | None,
        *,
        is_exact: bool = True,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """A function that no possible body makes negative, near to what the rows leave; multipliers of ellipsoids.

        If it is not exact, it may be negative by rounding errors.
        """
        possible = {name: max(left[name], 0.0) for name in self.nonnegative if left[name] > 0}
        inside: dict[str, float] = {}
        multiplier = iter(by.inside)
        stated = {body.name: body for body in self.bodies}
        for k, matrix in enumerate(self.complete.bodies):
            members = [stated[name] for name in matrix.members]
            # of equal bodies, the one with the ellipsoid stands for all
            body = next((each for each in members if each.center is not None), members[0])
            terms = [dict(each.terms) for each in members]
            free = [term for term, name in body.terms if name in self.complete.names]
            wanted = {term: sum(left[own[term]] for own in terms) for term in free}
            share, bound = 0.0, dict.fromkeys(TERMS, 0.0)
            if matrix.inside is not None:
                within = float(next(multiplier)) / (float(np.linalg.norm(self._within_row(matrix))) or 1.0)
                bound |= {term: float(x) for term, x in ellipsoid_factors(body).items()}
                share = max(within, 0.0)
            if matrices is not None:
                root = self.scaled.roots[k]
                wanted = _factors(root.T @ matrices[k] @ root, dict(body.terms))  # fixed ones cost nothing
            else:
                wanted = {term: x - share * bound[term] for term, x in wanted.items()}
            found = _never_negative(body, matrix, wanted, share, is_exact=is_exact)
            if found is None:
                continue
            possible |= {dict(body.terms)[term]: x for term, x in found.items() if x}
            if share:
                inside[body.name] = share
        return possible, inside

    def _within_row(self, matrix: BodyMatrix) -> Array:
        assert matrix.inside is not None
        return np.asarray(matrix.inside[0] @ self.scaled.T[list(matrix.places)])


def _large(weights: Mapping[int, float], share: float) -> dict[int, float]:
    """Weights that are larger than a share of the largest."""
    least = share * max(map(abs, weights.values()), default=0.0)
    return {row: x for row, x in weights.items() if abs(x) > least}


def _factors(S: Array, free: Iterable[str]) -> dict[str, float]:
    """Factors of the ten parameters in ⟨S, P⟩, those of the terms given."""
    if len(S) == 1:
        return {"m": float(S[0, 0])}
    every = dict(zip(TERMS, np.tensordot(UNITS, (S + S.T) / 2, axes=2).tolist(), strict=True))
    return {term: every[term] for term in free}


def _never_negative(
    body: BodyTerms, matrix: BodyMatrix, wanted: Mapping[str, float], share: float, *, is_exact: bool
) -> dict[str, float] | None:
    """Factors near the wanted ones that no possible body makes negative; None where none were found.

    `share` is the multiplier of the ellipsoid: it is added to the result, and terms that are not listed must vanish.
    """
    listed = dict(body.terms)
    if set(listed) == {"m"}:
        return {"m": max(wanted.get("m", 0.0), 0.0)}
    bound = {term: float(x) for term, x in ellipsoid_factors(body).items()} if share else {}
    c = np.array([wanted.get(term, 0.0 if term in listed else -share * bound.get(term, 0.0)) for term in TERMS])
    root = np.linalg.cholesky(matrix.reference)
    S = np.tensordot(c, FORMS, axes=1)
    # a diagonal entry that is zero but for the solver's errors makes its row zero: eigenvalues would spread the errors
    sizes = S.diagonal() * matrix.reference.diagonal()
    none = sizes <= _ZERO * float(abs(sizes).max())
    S[none], S[:, none] = 0.0, 0.0
    S = root.T @ S @ root
    values, vectors = np.linalg.eigh(S)
    scale = float(abs(values).max())
    if scale == 0:
        return {}
    inverse = np.linalg.inv(root)
    clipped = inverse.T @ ((vectors * np.maximum(values, 0.0)) @ vectors.T) @ inverse
    near = _factors(clipped, TERMS)
    usual = dict(zip(TERMS, (1 / np.maximum(abs(_ten(matrix.reference)), 1e-300)).tolist(), strict=True))
    lift = 1e-15 * scale
    for _ in range(60):
        ten = {}
        for term in TERMS:
            if term in wanted or (term in listed and share):
                more = lift * usual[term] if term in {"m", "Ixx", "Iyy", "Izz"} else 0.0
                ten[term] = near[term] + more
        if not is_exact or _holds(body, ten, share):
            return {term: x + share * bound.get(term, 0.0) for term, x in ten.items()}
        lift *= 4
    return None


def _holds(body: BodyTerms, ten: Mapping[str, float], share: float) -> bool:
    """Whether these factors, plus the ellipsoid's share, are proven by the checker's own test."""
    bound = ellipsoid_factors(body) if share else {}
    listed = dict(body.terms)
    total = {
        term: Fraction(ten.get(term, 0.0) + share * float(bound.get(term, 0.0))) if term in ten else Fraction(0)
        for term in listed
    }
    exact = {term: total.get(term, Fraction(0)) - Fraction(share) * bound.get(term, Fraction(0)) for term in TERMS}
    if body.rotor is not None:
        a = body.rotor
        places = ((0, 0, "Ixx"), (1, 1, "Iyy"), (2, 2, "Izz"), (0, 1, "Ixy"), (0, 2, "Ixz"), (1, 2, "Iyz"))
        if sum((a[i] * a[j] * total.get(term, Fraction(0)) for i, j, term in places), Fraction(0)) < 0:
            return False
    return is_never_negative(exact)


def _ten(P: Array) -> Array:
    """The ten parameters of a pseudo-inertia."""
    S, trace = P[:3, :3], float(np.trace(P[:3, :3]))
    moments = trace - np.diag(S)
    return np.array([P[3, 3], *P[:3, 3], *moments, -S[0, 1], -S[0, 2], -S[1, 2]])
