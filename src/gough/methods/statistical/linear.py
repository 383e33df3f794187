"""The linear fit that all statistical methods share: triangle, identifiability, prior, solution, covariance."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, FitStats, Status, limited_by_prior
from gough.methods.statistical.identifiability import Identifiability, analyze
from gough.methods.statistical.residuals import (
    Fitted,
    NoiseModel,
    covariance,
    degrees_of_freedom,
    goodness,
    noise_model,
    unknown_noise,
    verdict,
)
from gough.methods.statistical.whitening import Unweighted, Whitening, row_blocks, stated, triangle
from gough.noise import Gaussian
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.unknowns import Unknowns

_LARGE = 1e150
_NO_NOISE = (
    "As many unknowns as rows: nothing is left to estimate the noise from, so no ± can be given. "
    "Record more, or state the noise and use GaussMarkov."
)


@dataclass(frozen=True, eq=False)
class Solution:
    """Minimizer of ‖Σ^(-1/2)(y − W θ)‖² (plus the prior), and which unknowns it determines."""

    theta: Array
    """All unknowns; fixed ones at their value, those outside the independent set at 0."""
    columns: Array
    """Numbers of the unknowns that were estimated."""
    inverse_root: Array
    """T with T Tᵀ = (AᵀA + P)⁻¹."""
    prior_information: Array | None
    identifiability: Identifiability
    prior_limited: tuple[str, ...]


@one_blas_thread()
def solve(problem: LinearProblem, whiten: Whitening, *, rtol: float | None) -> Solution:
    """The weighted least-squares solution, within the prior."""
    from scipy.linalg.lapack import dtrtri, dtrtrs  # noqa: PLC0415 - start-up time

    unknowns, bounds = problem.unknowns, problem.unknowns.bounds
    free = np.flatnonzero(~unknowns.is_fixed)
    theta = np.where(unknowns.is_fixed, bounds.lower, 0.0)
    R = triangle(problem, whiten)
    _require_squares(R, unknowns)
    R = R[:-1]
    z = R[:, -1] - R[:, :-1] @ theta
    A = R[:, free]
    if isinstance(unknowns.prior, ConfidenceEllipsoid):
        root = _inverse_root(unknowns.prior.covariance)
        A, z = np.vstack([A, root]), np.concatenate([z, root @ unknowns.prior.center])
        prior = root.T @ root
    else:
        prior = None
    names = tuple(unknowns.names[i] for i in free.tolist())
    analysis = analyze(A, names, n_rows=problem.n_rows, rtol=rtol)
    kept = np.array(analysis.kept, dtype=int)
    scale = np.linalg.norm(A[:, kept], axis=0)
    S, reduced = A[:, kept] / scale, z
    if len(S) > len(kept) or prior is not None:  # else it is a triangle already
        Q, S = np.linalg.qr(S)
        reduced = Q.T @ z
    values, T = np.zeros(0), np.zeros((0, 0))
    if len(kept):
        values, T = dtrtrs(S, reduced)[0] / scale, dtrtri(S)[0] / scale[:, None]
    limited: tuple[str, ...] = ()
    if analysis.is_full_rank and len(free):
        values, limited = _within(bounds.lower[free], bounds.upper[free], A, z, values, names)
    theta[free[kept]] = values
    return Solution(theta, free[kept], T, None if prior is None else prior[np.ix_(kept, kept)], analysis, limited)


class Weights(NamedTuple):
    """Weights of the rows that follow from the residuals of one solution, and the objective at that solution."""

    whiten: Whitening
    objective: float
    """Of the iteration, such as −2 times the logarithm of the likelihood: steps that raise it by more than `_SLACK`
    are halved."""
    measured: Array
    """What the weights were made of; the iteration also ends when it stays the same."""
    sigma: Array
    """(n,) standard deviation of the residuals of each group."""


class Reweighted(NamedTuple):
    """The outcome of an iteratively reweighted fit."""

    solution: Solution
    whiten: Whitening
    """The weights that `solution` was fitted with."""
    weights: Weights
    """The weights that the residuals of `solution` give."""
    steps: int
    is_converged: bool


@one_blas_thread()
def reweighted(
    problem: LinearProblem,
    weights_of: Callable[[Array, Array | None], Weights],
    start: Solution,
    *,
    rtol: float,
    max_steps: int,
    rank_tolerance: float | None,
) -> Reweighted:
    """Fits weighted by the residuals of the fit before, until neither changes.

    A step that raises the objective by more than 1 is halved until it lowers it. Every second step is extrapolated
    by the last two
    (SQUAREM [VR08]), where that lowers the objective: plain reweighting converges in proportion to how much of the
    weights the residuals decide, which for models with large systematic residuals takes hundreds of steps.

    Args:
        problem: The rows.
        weights_of: Weights by the residuals at θ; its second argument is what was measured at a θ near by, if any.
        start: Where to begin.
        rtol: Change of θ in units of its standard deviation, or relative change of what the weights are made of, at
            which the iteration ends.
        max_steps: Largest number of fits.
        rank_tolerance: See `solve`.
    """
    old, weights = start, weights_of(start.theta, None)
    whiten: Whitening = Unweighted()
    earlier: Array | None = None
    for step in range(1, max_steps + 1):
        whiten = weights.whiten
        new = solve(problem, whiten, rtol=rank_tolerance)
        after = weights_of(new.theta, weights.measured)
        if (
            _change(old, new) <= rtol
            or _is_same(weights.measured, after.measured, rtol)
            or _is_rounding(problem, new.theta - old.theta, rtol * after.sigma + rounding(problem, new.theta))
        ):
            return Reweighted(new, whiten, after, step, is_converged=True)
        if after.objective > weights.objective + _SLACK:
            halved = _halved(weights_of, old, weights, new)
            if halved is None:
                return Reweighted(new, whiten, after, step, is_converged=False)
            old, weights = halved
            earlier = None
            continue
        further = None
        if earlier is not None and len(old.columns) == len(new.columns):
            further = _extrapolated(earlier, old.theta, new, problem.unknowns.bounds)
        earlier = old.theta
        old, weights = new, after
        if further is not None:
            there = weights_of(further, after.measured)
            earlier = None
            if there.objective < after.objective:
                old, weights = replace(new, theta=further), there
    return Reweighted(new, whiten, weights, max_steps, is_converged=False)


def stepped_back(what: str, steps: int, to: str) -> str:
    """The note of an answer whose iteration did not converge, about the method whose answer is returned instead."""
    return f"After {steps} step{'s' * (steps > 1)} {what} still changed: values and ± are those of {to}."


_SLACK = 1.0
"""Rise of an objective that is accepted: rounding explains it where some rows err by rounding only, and a difference of
1 in −2 log-likelihood is one standard deviation."""
_HALVINGS = 10


def _change(old: Solution, new: Solution) -> float:
    """Root mean square over the unknowns of the change of θ, in units of the standard deviations of whitened rows."""
    if not np.array_equal(old.columns, new.columns) or not len(new.columns):
        return 0.0 if not len(new.columns) else inf
    step = np.linalg.solve(new.inverse_root, (new.theta - old.theta)[new.columns])
    return float(np.sqrt((step**2).mean()))


def _is_rounding(problem: LinearProblem, step: Array, limit: Array) -> bool:
    """Whether a step changes the fitted rows of each group by no more than its limit."""
    n = len(problem.groups)
    return all(
        (abs(problem.W[rows] @ step) <= limit[problem.groups.positions(rows) % n]).all() for rows in problem.blocks()
    )


def _is_same(before: Array, after: Array, rtol: float) -> bool:
    """Whether two spreads are equal; in covariances, whose entries may vanish, relative to the two variances."""
    scale = before
    if before.ndim == 2:
        deviations = np.sqrt(before.diagonal())
        scale = np.outer(deviations, deviations)
    return bool((abs(after - before) <= rtol * scale).all())


def _halved(
    weights_of: Callable[[Array, Array | None], Weights], old: Solution, weights: Weights, new: Solution
) -> tuple[Solution, Weights] | None:
    """The longest of the halved steps from `old` towards `new` that lowers the objective; None where none does."""
    for k in range(1, _HALVINGS + 1):
        theta = old.theta + (new.theta - old.theta) / 2**k
        there = weights_of(theta, weights.measured)
        if there.objective < weights.objective:
            return replace(new, theta=theta), there
    return None


def _extrapolated(first: Array, second: Array, third: Solution, bounds: Box) -> Array | None:
    """Where two steps lead if each next one is shorter by the same factor; None outside the bounds.

    Lengths of steps are in units of standard deviations, so that units of the unknowns do not matter.
    """
    r, v = second - first, third.theta - 2 * second + first
    lengths = [np.linalg.norm(np.linalg.solve(third.inverse_root, d[third.columns])) for d in (r, v)]
    if not lengths[1] > 0:
        return None
    alpha = max(float(lengths[0] / lengths[1]), 1.0)
    theta: Array = first + 2 * alpha * r + alpha**2 * v
    inside = (bounds.lower <= theta) & (theta <= bounds.upper)
    return theta if alpha > 1 and inside.all() else None


def disbelief(problem: LinearProblem, theta: Array) -> float:
    """−2 times the logarithm of the prior's density at θ, but for a constant; 0 for a prior that is a box."""
    unknowns = problem.unknowns
    if not isinstance(unknowns.prior, ConfidenceEllipsoid):
        return 0.0
    free = ~unknowns.is_fixed
    return float(((_inverse_root(unknowns.prior.covariance) @ (theta[free] - unknowns.prior.center)) ** 2).sum())


def _require_squares(R: Array, unknowns: Unknowns) -> None:
    """Refuse data whose squares, or those of the solution, leave the range of floating point: σ is made of squares."""
    size = abs(R).max(axis=0)
    fits = (size == 0) | ((size >= 1 / _LARGE) & (size <= _LARGE) & ~(size[-1] > _LARGE * size))
    if not fits.all():
        k = int(fits.argmin())
        what = f"W in column '{unknowns.names[k]}'" if k < len(unknowns) else "y"
        raise InputError(
            f"{what} is about {size[k]:.1g}, in units of the noise where it is stated: squares of such numbers, or of "
            "unknowns in such units, are no floating-point numbers. Choose other units."
        )


def _inverse_root(C: Array) -> Array:
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(C)))
    except np.linalg.LinAlgError as error:
        raise InputError(
            "the prior's covariance is singular; to fix an unknown, use a Box prior with equal sides"
        ) from error


def _within(  # noqa: PLR0917 - the problem and its solution
    lower: Array, upper: Array, A: Array, z: Array, values: Array, names: tuple[str, ...]
) -> tuple[Array, tuple[str, ...]]:
    """The minimizer inside the bounds, and the unknowns that lie on one."""
    if ((lower <= values) & (values <= upper)).all():
        return values, ()
    from scipy.optimize import lsq_linear  # noqa: PLC0415 - start-up time

    scale = np.linalg.norm(A, axis=0)
    bounded = lsq_linear(A / scale, z, bounds=(lower * scale, upper * scale), method="bvls")
    active = bounded.active_mask != 0
    values = np.where(bounded.active_mask < 0, lower, np.where(active, upper, bounded.x / scale))
    return values, tuple(name for name, on in zip(names, active, strict=True) if on)


class Fit(NamedTuple):
    """What an iterated method found, before the errors of its values are estimated."""

    solution: Solution
    whiten: Whitening
    steps: int
    status: Status = Status.OK
    notes: tuple[str, ...] = ()

    def answer(self, problem: LinearProblem, method: Any) -> Estimate:
        """The estimate, with errors."""
        stats = {"iterations": self.steps}
        return answer(
            problem,
            self.whiten,
            self.solution,
            method,
            level=method.level,
            status=self.status,
            stats=stats,
            notes=self.notes,
        )


@one_blas_thread()
def answer(
    problem: LinearProblem,
    whiten: Whitening,
    solution: Solution,
    method: Any,
    *,
    level: float,
    scale_known: bool = False,
    status: Status = Status.OK,
    stats: dict[str, Any] | None = None,
    influence: Any = None,
    directions: Array | None = None,
    notes: tuple[str, ...] = (),
) -> Estimate:
    """The estimate of a solution: covariance by the noise model of the residuals, statistics, notes."""
    T = solution.inverse_root
    fit = Fitted(problem, whiten, solution.theta, solution.columns, T, influence, directions)
    spare = problem.n_rows - len(solution.columns)
    noise = noise_model(fit) if spare > 0 else unknown_noise(fit)
    if scale_known:
        noise = noise.of_unit_size()
    chi_squared, p_value = _chi_squared(fit, noise, is_stated=scale_known)
    unknowns, status = _named(problem.unknowns, solution, status)
    fit_stats = FitStats(
        n_rows=problem.n_rows,
        prior_limited=solution.prior_limited,
        dof=noise.dof,
        groups=problem.groups.names,
        residual_rms=np.sqrt(noise.mean_square),
        autocorrelation=noise.lag_one,
        correlation_length=noise.length,
        chi_squared=chi_squared,
        chi_squared_p=p_value,
        condition=solution.identifiability.condition,
        not_identifiable=solution.identifiability.not_identifiable,
        **(stats or {}),
    )
    notes = (*notes, *_notes(fit_stats, noise, solution))
    value = solution.theta[solution.columns]
    if spare <= 0 and not scale_known:
        notes += (_NO_NOISE,)
        return Estimate(Box(value, value), Claim.VALUE, status, unknowns, written(method), fit_stats, notes)
    C = covariance(fit, noise, prior=solution.prior_information)
    dof = degrees_of_freedom(fit, noise, C.diagonal(), scale_known=scale_known)
    region = ConfidenceEllipsoid(value, C, level, dof)
    return Estimate(region, Claim.CONFIDENCE, status, unknowns, written(method), fit_stats, notes)


def _named(unknowns: Unknowns, solution: Solution, status: Status) -> tuple[Unknowns, Status]:
    """The estimated unknowns; base parameters under their regrouped names where the data are singular."""
    analysis = solution.identifiability
    kept = [unknowns.names[i] for i in solution.columns]
    if analysis.is_full_rank:
        return unknowns.select(kept), status
    units = tuple(unknowns.units[i] for i in solution.columns)
    return Unknowns(tuple(b.name for b in analysis.base), units), Status.SINGULAR


def _chi_squared(fit: Fitted, noise: NoiseModel, *, is_stated: bool) -> tuple[float | None, float | None]:
    """χ² over its degrees of freedom for the noise that was stated, and its two-sided probability.

    Where rows were whitened by the stated noise (`is_stated`), the noise model has the sum of squares.
    """
    problem = fit.problem
    dof = problem.n_rows - len(fit.columns)
    if not isinstance(problem.noise, Gaussian) or problem.noise.covariance is None or dof <= 0:
        return None, None
    total = noise.sum_of_squares if is_stated else 0.0
    if not is_stated:
        whiten = stated(problem, "χ²")
        for rows in row_blocks(problem, whiten):
            total += float((whiten(rows, problem.residuals(fit.theta, rows)) ** 2).sum())
    return goodness(total / dof, noise.dof, problem.noise)


def _notes(stats: FitStats, noise: NoiseModel, solution: Solution) -> tuple[str, ...]:
    notes = []
    analysis = solution.identifiability
    if not analysis.is_full_rank:
        notes.append(f"Not identifiable by itself: {', '.join(analysis.not_identifiable)}.")
        notes.append(
            "The table gives the combinations that are. Move the robot so that these unknowns differ in effect, "
            "or fix some of them with a prior."
        )
    if stats.chi_squared is not None and stats.chi_squared_p is not None:
        notes.append(verdict(stats.chi_squared, stats.chi_squared_p))
    notes += noise.notes(f"{noise.dof:.0f} degrees of freedom left")
    return (*notes, *limited_by_prior(stats.prior_limited))


def rounding(problem: LinearProblem, theta: Array) -> float:
    """The size that a residual may have by rounding alone; smaller ones carry no information."""
    largest = 0.0
    for rows in problem.blocks():
        largest = max(largest, float((abs(problem.y[rows]) + abs(problem.W[rows]) @ abs(theta)).max()))
    return 4 * (len(theta) + 1) * float(np.finfo(float).eps) * largest or float(np.finfo(float).tiny)


def with_information_of(solution: Solution, other: Solution) -> Solution:
    """`solution` with the information of `other`: for a robust fit, that of the unweighted rows."""
    return replace(
        solution, columns=other.columns, inverse_root=other.inverse_root, identifiability=other.identifiability
    )
