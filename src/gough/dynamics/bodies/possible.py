"""Possible bodies: the complete parameters behind an estimate of base parameters, and which of them are data.

Efforts determine base parameters, which are combinations of masses, first moments, moments of inertia and friction.
Infinitely many complete sets have the same base parameters and make the same efforts. Of those whose bodies can exist
[WEN18] [SC14], the one nearest to the blueprint is found, by the log-det divergence of pseudo-inertias [LWP20] or by
their Frobenius distance, both measured in units of the blueprint. If none can exist, the one with the least misfit is
found, and what it costs in standard deviations.

The solver is not trusted: margins of its answer are verified in exact rationals, and the misfit is computed from the
numbers returned.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from math import inf, isfinite, isinf, lcm
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gough.answers import Answer, position_of, read_json
from gough.checker.quadratic import is_semidefinite
from gough.core import fisher, outward
from gough.core.arrays import Array
from gough.core.codec import encode
from gough.core.errors import AssumptionError, InputError, nearest, require
from gough.core.rational import Whole
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, signs
from gough.dynamics.bodies.complete import BodyMatrix, CompleteSet, Ellipsoid, complete_set
from gough.dynamics.bodies.optimality import distance_gap, misfit_gap
from gough.dynamics.bodies.program import MEASURES, SOLVER, Measure, Programs, Scaled, Solution
from gough.dynamics.physical_cone import has_base, rank, whitening
from gough.dynamics.signs import LEVEL, p_equals
from gough.estimates import Estimate, Status
from gough.region import ConfidenceEllipsoid, Interval
from gough.robots.physical import physical_limits

if TYPE_CHECKING:
    from gough.dynamics.results import RobotEstimates

MARGIN = 1e-3
"""Share of its blueprint that every body contains at least."""
_EXACT = 1e-6
"""Misfit in σ below which base parameters are reproduced; solvers and rounding leave less."""
_NEARLY_EXACT = 1e-3
"""Misfit in σ, as a solver finds it, below which base parameters may be reproduced."""
_ACCURACY = 1e-7
"""Share of the estimate's size in σ that a solver may leave of it, where σ is small."""
_SLACK = (1.001, 1e-3)
"""Factor and σ by which the misfit may exceed the least one, so that the nearest of several is found."""
_MOST_NAMED = 6
_TRIED = 3
"""Bodies with the largest multipliers, whose limits are left out one at a time."""
_FORCING = 1e-4
"""Share of the misfit that a body must take away to be named as forcing it; if less than this is left, none is."""
DATA, PRIOR, HIDDEN = "data", "prior", "no effect"


@dataclass(frozen=True)
class PhysicalOptions:
    """How possible bodies are chosen: `[physical]` of a study.

    Examples:
        >>> PhysicalOptions(nearest="frobenius").margin
        0.001
    """

    nearest: Measure = "log-det"
    margin: float = MARGIN
    """Share of its blueprint that every body contains at least: 0 allows bodies at the edge of what is possible."""
    equal: tuple[tuple[str, ...], ...] = ()
    """Groups of bodies, by name, that are equal."""
    inside: Mapping[str, Ellipsoid] = field(default_factory=dict)
    """Ellipsoids that bodies do not leave, by the names of bodies."""
    ranges: bool = True
    """Whether to compute how far each parameter may move."""
    solver: str = SOLVER

    def __post_init__(self) -> None:
        if self.nearest not in MEASURES:
            raise InputError(
                f"nearest must be one of {', '.join(MEASURES)}, but is '{self.nearest}'"
                f"{nearest(str(self.nearest), MEASURES)}"
            )
        fits = isinstance(self.margin, int | float) and not isinstance(self.margin, bool)
        require(
            fits and 0 <= self.margin < 1,
            "margin is the share of its blueprint that every body contains at least: a number from 0 to less than 1, "
            f"but it is {self.margin}",
        )
        object.__setattr__(self, "equal", tuple(tuple(group) for group in _lists(self.equal)))
        object.__setattr__(self, "inside", dict(self.inside))


def _lists(equal: Any) -> Any:
    for group in equal:
        require(not isinstance(group, str), "equal is a list of groups, each a list of the names of bodies")
    return equal


@dataclass(frozen=True)
class PossibleBody:
    """One body of the answer, and how far inside of what is possible it is proven to be."""

    name: str
    margin: float
    """Share of its blueprint that it contains at least, proven in exact rationals; negative: not possible."""
    distance: float
    """Its log-det divergence from the blueprint."""
    blueprint_was_moved: bool
    """Whether the blueprint is no possible body itself; the nearest one that is was used."""


@dataclass(frozen=True)
class Freedom:
    """One parameter: its value, and whether the data or the blueprint determine it."""

    name: str
    unit: str
    value: float
    blueprint: float
    source: str
    """data: efforts determine it; prior: it may change without changing any effort; no effect: no effort has it."""
    sigma: float
    """Standard deviation where it is data, of the estimate; NaN elsewhere."""
    lower: float
    """Least value with the same base parameters and bodies that can exist; NaN where it was not computed."""
    upper: float


@dataclass(frozen=True, eq=False)
class PossibleBodies(Answer):
    """Complete parameters of a robot that can exist, and which of them are data.

    `answer["m_rod"]` is a value, `answer.interval("m_rod")` how far it may move without changing any effort.
    """

    method: str
    """Method of the estimate."""
    nearest: str
    margin: float
    misfit: float
    """How far the base parameters are from the estimate, in standard deviations; 0: reproduced."""
    p: float
    """Probability of such a misfit or a larger one if the robot is possible; at least, as the test is conservative."""
    residual: float
    """Largest difference of a base parameter from the estimate, in its σ, for the values returned."""
    distance: float
    """Distance from the blueprint: half the squared Frobenius distance, or the log-det divergence, of all bodies."""
    bodies: tuple[PossibleBody, ...]
    parameters: tuple[Freedom, ...]
    forced_by: tuple[tuple[str, float], ...] = ()
    """Bodies that force the misfit, the worst first, each with the misfit that would be left without its limits."""
    solver: str = SOLVER
    conditions: tuple[str, ...] = ()
    """What possible means here besides positive mass, in sentences."""
    gap: float = float("nan")
    """The distance minus a lower bound of what any solver could find: 0 for the optimum; NaN: not computed."""
    misfit_gap: float = 0.0
    """The least misfit minus such a bound of it, in standard deviations; 0 where nothing is misfit."""

    @property
    def is_exact(self) -> bool:
        """Whether the base parameters of the estimate are reproduced."""
        return self.misfit == 0

    @property
    def is_refuted(self) -> bool:
        """Whether the misfit is too large for a robot that can exist."""
        return self.p < LEVEL

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, those without effect too."""
        return tuple(each.name for each in self.parameters)

    @property
    def values(self) -> dict[str, float]:
        """Values by the names of the parameters."""
        return {each.name: each.value for each in self.parameters}

    def __getitem__(self, name: str) -> float:
        """The value of a parameter."""
        return self.parameters[position_of(name, self.names, "parameter")].value

    def interval(self, name: str, level: float | None = None) -> Interval:
        """How far a parameter may move without changing any base parameter, within what is possible.

        Raises:
            InputError: there is no such parameter, or `level` is given: the interval is no confidence interval.
            AssumptionError: ranges were not computed.
        """
        require(level is None, "these intervals are ranges of possible values without a level: leave level out")
        each = self.parameters[position_of(name, self.names, "parameter")]
        if np.isnan(each.lower):
            raise AssumptionError(f"the range of '{name}' was not computed: ask for ranges = true")
        return Interval(each.lower, each.upper)

    def by_source(self, source: str) -> tuple[str, ...]:
        """Names of the parameters with this source: data, prior or no effect."""
        return tuple(each.name for each in self.parameters if each.source == source)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result, in sentences."""
        return (*self._on_possibility, *self._on_sources, *self.conditions)

    @property
    def _on_possibility(self) -> tuple[str, ...]:
        least = min((body.margin for body in self.bodies), default=inf)
        inside = ""
        if self.bodies:
            inside = f" Every body contains at least {_share(least)} of its blueprint (verified in exact rationals)."
        near = "log-det divergence" if self.nearest == "log-det" else "Frobenius distance"
        if self.is_exact:
            first = f"Some robot that can exist has exactly the base parameters by {self.method}."
            how = f"Of all that do, the one nearest to the blueprint by the {near} is given."
            return (first + inside, how)
        if self.is_refuted:
            verdict = "the estimate is not physically possible"
        else:
            verdict = "such a misfit is not unusual for noisy estimates"
        cost = f"{number(self.misfit, digits=3)} σ from the estimate ({p_equals(self.p)}: {verdict})"
        first = f"No robot that can exist has exactly the base parameters by {self.method}: the nearest is {cost}."
        return (first + inside, *self._on_force)

    @property
    def _on_force(self) -> tuple[str, ...]:
        if not self.forced_by:
            return ()
        named = [f"{name} ({number(left, digits=3)} σ without its limits)" for name, left in self.forced_by]
        more = [f"{len(named) - _MOST_NAMED} more"] if len(named) > _MOST_NAMED else []
        return (f"Limits that force this: {listed([*named[:_MOST_NAMED], *more])}.",)

    @property
    def _on_sources(self) -> tuple[str, ...]:
        data, prior = self.by_source(DATA), (*self.by_source(PRIOR), *self.by_source(HIDDEN))
        total = len(data) + len(prior)
        if not prior:
            return (f"The efforts determine all {total} parameters.",)
        rest = f"the values of the other {len(prior)} come from the blueprint"
        first = f"The efforts determine {len(data)} of {total} parameters; {rest}, and other possible robots"
        lines = [f"{first} make the same efforts."]
        moved = [body.name for body in self.bodies if body.blueprint_was_moved]
        if moved:
            one = "body" if len(moved) == 1 else "bodies"
            lines.append(
                f"The blueprint of {one} {listed(moved)} is not possible, or thinner than can be measured with: a "
                "slightly thicker one was used as the blueprint."
            )
        return tuple(lines)

    def table(self) -> Table:
        """A row for each parameter: its value, the blueprint's, and whether it is data or prior."""
        columns = [
            Column("parameter", "label"),
            Column("unit", "unit"),
            Column("value"),
            Column("blueprint"),
            Column("source", "words"),
            Column("possible from"),
            Column("to"),
        ]
        rows: list[list[str | Cell]] = []
        for each in self.parameters:
            ends = ["", ""]
            if each.source != DATA and not np.isnan(each.lower):
                ends = [_end(each.lower), _end(each.upper)]
            source = f"{each.source}, σ = {number(each.sigma, digits=2)}" if isfinite(each.sigma) else each.source
            rows.append([each.name, each.unit, number(each.value), number(each.blueprint), source, *ends])
        return table(columns, rows, "." * len(columns), "Parameters of a robot that can exist: data and prior")

    def body_table(self) -> Table:
        """A row for each body: its proven margin, and its distance from the blueprint."""
        rows: list[list[str | Cell]] = [
            [body.name, _share(body.margin), number(body.distance, digits=3)] for body in self.bodies
        ]
        columns = [Column("body", "label"), Column("contains of its blueprint, ≥"), Column("log-det divergence")]
        return table(columns, rows, "." * len(columns), "Bodies")

    def headlines(self) -> Sequence[str]:
        """What was found, in sentences."""
        return self.sentences

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data; numbers that JSON does not know are the texts "inf", "-inf" and "nan"."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        plain["bodies"] = [{key: _plain(value) for key, value in vars(body).items()} for body in self.bodies]
        plain["parameters"] = [{key: _plain(value) for key, value in vars(each).items()} for each in self.parameters]
        plain["forced_by"] = [list(pair) for pair in self.forced_by]
        plain["conditions"] = list(self.conditions)
        plain["gap"] = encode(self.gap)
        return {**plain, "sentences": list(self.sentences)}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """The answer that `to_dict` wrote.

        Raises:
            InputError: the data are no such answer.
        """
        try:
            known = {each.name: data[each.name] for each in fields(cls) if each.name not in _GAPS}
            known |= {name: float(data[name]) for name in _GAPS if name in data}
            known["bodies"] = tuple(PossibleBody(**_with_numbers(body)) for body in data["bodies"])
            known["parameters"] = tuple(Freedom(**_with_numbers(each)) for each in data["parameters"])
            known["forced_by"] = tuple((str(name), float(left)) for name, left in data["forced_by"])
            known["conditions"] = tuple(data["conditions"])
            return cls(**known)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not the data of possible bodies: {error}") from error

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The answer that `to_json` wrote.

        Raises:
            InputError: the text is no such document.
        """
        return cls.from_dict(read_json(text))


_GAPS = ("gap", "misfit_gap")  # answers of older versions have none
_NUMBERS = frozenset({"value", "blueprint", "sigma", "lower", "upper", "margin", "distance"})


def _plain(value: Any) -> Any:
    return encode(value) if isinstance(value, float) else value


def _with_numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: float(value) if key in _NUMBERS else value for key, value in data.items()}


def _share(x: float) -> str:
    """A margin, rounded down."""
    return outward.at_least(x, digits=2)


def _end(x: float) -> str:
    return signs("∞" if x > 0 else "-∞") if isinf(x) else number(x)


def possible_bodies(
    identified: "RobotEstimates",
    options: PhysicalOptions | None = None,
    *,
    method: str | None = None,
    on_step: Callable[[str], object] = lambda _: None,
) -> PossibleBodies:
    """The complete parameters of a robot that can exist, nearest to the blueprint, behind an identification.

    Args:
        identified: What `identify` or `identify_repeated` returned.
        options: How they are chosen.
        method: Name of the estimate; by default the first with a covariance, the recommended one before others.
        on_step: Called with words when a part begins.

    Raises:
        InputError: cvxpy is not installed; the robot states no limits; a body does not exist; groups contradict each
            other; no estimate has a covariance.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> identified = identify(*random_motion(1), methods=["weighted"], compare=False)
        >>> possible_bodies(identified, PhysicalOptions(ranges=False)).by_source("data")[-2:]
        ('fv_2', 'fc_2')
    """
    options = options or PhysicalOptions()
    analysis, robot = identified.identifiability, identified.robot
    label, answer = _estimate(identified, method)
    known = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    blueprint = {**known, **identified.blueprint, **identified.fixed}
    complete = complete_set(
        physical_limits(robot),
        analysis,
        blueprint,
        fixed=identified.fixed,
        equal=options.equal,
        inside=options.inside,
    )
    units = dict(zip(robot.names, robot.units, strict=True))
    return _answer(complete, answer, label, options, units=units, on_step=on_step)


def _estimate(identified: "RobotEstimates", method: str | None) -> tuple[str, Estimate]:
    """The estimate to start from: the one asked for, or the first with a covariance."""
    analysis = identified.identifiability
    if method is not None:
        answer = identified._by(method)  # noqa: SLF001 - of this package
        require(has_base(analysis, answer), f"{method} has no covariance of the base parameters: choose another method")
        return method, answer
    for label, answer in identified._by_preference().items():  # noqa: SLF001 - of this package
        finite = has_base(analysis, answer) and bool(np.isfinite(answer.value).all())
        if finite and answer.status is Status.OK:
            return label, answer
    raise InputError(
        "no method has a covariance, in which the distance from possible bodies could be measured: add a statistical "
        'method such as "gauss-markov" to methods.use'
    )


def _answer(
    complete: CompleteSet,
    answer: Estimate,
    label: str,
    options: PhysicalOptions,
    *,
    units: Mapping[str, str],
    on_step: Callable[[str], object],
) -> PossibleBodies:
    region = answer.region
    assert isinstance(region, ConfidenceEllipsoid)
    beta = region.center
    least = 1e-9 * np.where(abs(beta) > 0, abs(beta), float(abs(beta).max()) or 1.0)
    V = region.covariance + np.diag(least**2)
    white = whitening(V)
    effect = np.linalg.norm(white @ complete.C, axis=0)
    sizes = np.where(complete.reference != 0, abs(complete.reference), 1 / np.maximum(effect, 1e-300))
    sizes = np.where(np.isfinite(sizes) & (sizes < 1e100), sizes, 1.0)
    scaled = Scaled.of(complete, sizes)
    programs = Programs(scaled, white @ complete.C @ scaled.T, white @ beta, options.margin, options.solver)
    on_step("searching for possible bodies")
    best = _least_misfit(programs, options)
    solution, misfit, forced, allowed = None, 0.0, tuple[tuple[str, float], ...](), None
    if best.objective < _NEARLY_EXACT + _ACCURACY * float(np.linalg.norm(programs.b)):
        solution = programs.exact(options.nearest)
    if solution is None or not (solution.is_solved and _verified(complete, scaled, solution, options.margin)):
        solution, misfit, forced, allowed = _compromise(programs, options, best)
    variables = _clipped(complete, scaled.variables(solution.point))
    margins = [proven_margin(body, variables) for body in complete.bodies]
    if min(margins, default=0.0) < options.margin:
        worst = complete.bodies[int(np.argmin(margins))].name
        raise InputError(
            f"the answer of the solver {options.solver} could not be verified: body '{worst}' contains "
            f"{min(margins):.3g} of its blueprint instead of {options.margin:g} (status {solution.status}). State a "
            "blueprint that is nearer to the robot, or another margin"
        )
    difference = _difference(complete.C, variables, beta)
    misfit = float(np.linalg.norm(white @ difference)) if misfit else 0.0
    residual = float((abs(difference) / np.sqrt(V.diagonal())).max(initial=0.0))
    require(
        misfit > 0 or residual <= _EXACT + programs.rounding,
        f"the answer of the solver {options.solver} could not be verified: a base parameter is off by {residual:.1e} σ",
    )
    on_step("computing how far parameters may move")
    parameters = _freedoms(complete, programs, variables, units=units, with_ranges=options.ranges)
    bodies = tuple(
        PossibleBody(body.name, margin, _divergence(body, variables), body.is_moved)
        for body, margin in zip(complete.bodies, margins, strict=True)
    )
    dof = len(beta) - rank(complete.C[:, ~complete.constrained])
    p = _chance(misfit, dof, region.dof)
    return PossibleBodies(
        method=label,
        nearest=options.nearest,
        margin=float(options.margin),
        misfit=misfit,
        p=p,
        residual=residual,
        distance=float(solution.objective),
        bodies=bodies,
        parameters=parameters,
        forced_by=forced,
        solver=options.solver,
        conditions=(*complete.conditions, *_conditions(complete, options)),
        gap=distance_gap(programs, solution, options.nearest, allowed),
        misfit_gap=0.0 if allowed is None else misfit_gap(programs, best),
    )


def _conditions(complete: CompleteSet, options: PhysicalOptions) -> tuple[str, ...]:
    lines = [f"Bodies {listed(group)} are taken to be equal." for group in options.equal]
    if complete.limits.on_blueprint and any(body.is_moved for body in complete.bodies):
        lines.append(complete.limits.on_blueprint)
    if complete.ellipsoids:
        lines.append(f"Stated ellipsoids bound {listed(list(complete.ellipsoids))}.")
    return tuple(lines)


def _verified(complete: CompleteSet, scaled: Scaled, solution: Solution, margin: float) -> bool:
    variables = _clipped(complete, scaled.variables(solution.point))
    return all(proven_margin(body, variables) >= margin for body in complete.bodies)


def _least_misfit(programs: Programs, options: PhysicalOptions) -> Solution:
    """The possible point with the least misfit."""
    best = programs.misfit()
    if best.status == "solver_error":
        raise InputError(f"the solver {options.solver} failed, or is not installed: choose another, such as {SOLVER}")
    if not best.is_solved:
        raise InputError(
            f"the solver {options.solver} found no possible bodies at all (status {best.status}): check the "
            "ellipsoids of [physical.inside], which may exclude every body, and the values that the prior fixes"
        )
    return best


def _compromise(
    programs: Programs, options: PhysicalOptions, best: Solution
) -> tuple[Solution, float, tuple[tuple[str, float], ...], float]:
    """The nearest of the possible points with nearly the least misfit, the least, what forces it, and the allowed."""
    factor, sigma = _SLACK
    allowed = factor * best.objective + sigma
    solution = programs.compromise(options.nearest, allowed)
    if not solution.is_solved:
        raise InputError(
            f"the solver {options.solver} ended without an answer (status {solution.status}): state a blueprint that "
            'is nearer to the robot, or nearest = "frobenius"'
        )
    forced = []
    strength = [float(np.linalg.norm(dual)) for dual in best.duals]
    for k in np.argsort(strength)[::-1][:_TRIED].tolist():
        if strength[k] > 1e-6 * max(strength) and best.objective > _EXACT:
            left = programs.misfit(without=k)
            share = left.objective / best.objective
            if left.is_solved and share < 1 - _FORCING:
                name = programs.scaled.complete.bodies[k].name
                forced.append((name, float(left.objective) if share > _FORCING else 0.0))
    return solution, max(best.objective, _EXACT), tuple(sorted(forced, key=lambda pair: pair[1])), allowed


def _clipped(complete: CompleteSet, variables: Array) -> Array:
    """Variables that must not be negative, without the rounding errors of a solver below zero."""
    return np.where(complete.nonnegative, np.maximum(variables, 0.0), variables)


def proven_margin(body: BodyMatrix, variables: Array) -> float:
    """The largest double t found for which the body minus t times its blueprint is proven to be possible.

    The matrix of the variables is computed in exact rationals, and so is its elimination.
    """
    P = _exact_matrix(body, variables)
    Q = [[Fraction(x) for x in row] for row in body.reference.tolist()]
    d = len(Q)
    Q = [[(Q[i][j] + Q[j][i]) / 2 for j in range(d)] for i in range(d)]
    root = np.linalg.inv(np.linalg.cholesky(body.reference))
    t = float(np.linalg.eigvalsh(root @ body.matrix(variables) @ root.T)[0])
    step = 1e-15 * max(1.0, abs(t))
    for _ in range(60):
        if is_semidefinite(_whole([[P[i][j] - Fraction(t) * Q[i][j] for j in range(d)] for i in range(d)])):
            return t
        t, step = t - step, 2 * step
    return -inf


def _exact_matrix(body: BodyMatrix, variables: Array) -> list[list[Fraction]]:
    d = len(body.constant)
    P = [[Fraction(float(body.constant[i, j])) for j in range(d)] for i in range(d)]
    for k, form in zip(body.places, body.forms, strict=True):
        v = Fraction(float(variables[k]))
        for i in range(d):
            for j in range(d):
                if form[i, j]:
                    P[i][j] += v * Fraction(float(form[i, j]))
    return P


def _whole(M: list[list[Fraction]]) -> Whole:
    """A symmetric matrix of fractions, times their common denominator."""
    scale = lcm(*(x.denominator for row in M for x in row))
    whole = np.empty((len(M), len(M)), dtype=object)
    for i, row in enumerate(M):
        for j, x in enumerate(row):
            whole[i, j] = int(x * scale)
    return whole


def _difference(C: Array, variables: Array, beta: Array) -> Array:
    """C v − β for these doubles, rounded once."""
    exact = [Fraction(x) for x in variables.tolist()]
    rows = []
    for row, value in zip(C, beta.tolist(), strict=True):
        total = -Fraction(value)
        for k in np.flatnonzero(row).tolist():
            total += Fraction(float(row[k])) * exact[k]
        rows.append(float(total))
    return np.array(rows)


def _divergence(body: BodyMatrix, variables: Array) -> float:
    root = np.linalg.inv(np.linalg.cholesky(body.reference))
    X = root @ body.matrix(variables) @ root.T
    sign, logarithm = np.linalg.slogdet(X)
    return float(np.trace(X) - logarithm - len(X)) if sign > 0 else inf


def _chance(misfit: float, dof: int, scale_dof: float) -> float:
    return 1.0 if misfit == 0 or dof == 0 else float(fisher.above(dof, scale_dof, misfit**2 / dof))


def _freedoms(
    complete: CompleteSet,
    programs: Programs,
    variables: Array,
    *,
    units: Mapping[str, str],
    with_ranges: bool,
) -> tuple[Freedom, ...]:
    """A row for each free parameter of the robot: its value, and what it may be without changing any effort."""
    scaled = programs.scaled
    rows = complete.share @ scaled.T
    null = programs.null
    moves = np.linalg.norm(rows @ null, axis=1) > 1e-7 * np.linalg.norm(rows, axis=1)
    blueprint, values = complete.share @ complete.reference, complete.share @ variables
    effect = np.linalg.norm(complete.C, axis=0) @ complete.share.T > 0
    inverse = rows @ np.linalg.pinv(programs.A)  # A is whitened: its errors have the unit matrix as covariance
    sigma = np.sqrt(np.maximum((inverse**2).sum(axis=1), 0.0))
    ranges = [(np.nan, np.nan)] * len(rows)
    if with_ranges:
        ranges = list(programs.ranges(np.asarray(np.linalg.solve(scaled.T, variables), dtype=np.float64), rows))
    found = []
    for k, name in enumerate(complete.names):
        source = DATA if not moves[k] else PRIOR if effect[k] else HIDDEN
        lower, upper = (float(values[k] + end) for end in ranges[k])
        own = float(sigma[k]) if source == DATA else float("nan")
        unit = units.get(name, "")
        found.append(Freedom(name, unit, float(values[k]), float(blueprint[k]), source, own, lower, upper))
    return tuple(found)
