"""The Gauss–Markov estimator: least squares weighted by the covariance of the measurements."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.least_squares import by_group, sums_of_squares
from gough.methods.statistical.whitening import BySample, Unweighted, Whitening, row_blocks, stated
from gough.noise import Gaussian
from gough.problem import LinearProblem

_PARTS = 20
"""Parts of the recording whose scatter shows how well the correlation of two groups is known."""
_SINGULAR = 1e-12
"""Smallest eigenvalue of an estimated correlation matrix."""


@dataclass(frozen=True)
class GaussMarkov:
    """θ̂ minimizes (y − W θ)ᵀ Σ⁻¹ (y − W θ) [AHG, eq. (7)], with covariance (Wᵀ Σ⁻¹ W)⁻¹.

    Σ is the covariance that the problem states. Where it states none, the n × n covariance C between the groups of one
    sample is estimated from the residuals, and the fit repeated until neither changes: C = (1 − λ) R + λ D, with R the
    mean of r rᵀ over the samples (where rows are missing, its expectation given the others), D the variances of
    `WeightedLeastSquares`, and λ the `shrinkage`. The iteration minimizes the penalized −2 log-likelihood
    Σ_k (log det C_k + r_kᵀ C_k⁻¹ r_k) + N λ/(1 − λ) (log det C + tr C⁻¹ D). If it does not converge, the
    status is MAX_STEPS and the answer that of `WeightedLeastSquares`, or of `LeastSquares` if that does not converge.

    Examples:
        >>> import gough
        >>> noise = gough.Gaussian([0.01, 1.0])
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [1.0, 2.0], gough.Unknowns(["mass"]), noise)
        >>> round(gough.estimate(problem, GaussMarkov())["mass"], 4)
        1.0099
    """

    level: float = 0.95
    rtol: float = 1e-6
    """Change of θ̂ in units of its σ, or relative change of an estimated Σ, at which the iteration stops."""
    max_steps: int = 100
    rank_tolerance: float | None = None
    shrinkage: float | None = None
    """λ from 0 to 1, the weight of the variances alone in an estimated Σ. None: the variance of the estimated
    correlations over their mean square [SS05], the variance by their scatter between 20 parts of the recording, so
    that it is right for autocorrelated residuals: small for many samples, 1 where no correlation stands out."""

    def __post_init__(self) -> None:
        fits = self.shrinkage is None or 0 <= self.shrinkage <= 1
        require(fits, f"shrinkage must lie between 0 and 1, but is {self.shrinkage}")

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        if isinstance(problem.noise, Gaussian) and problem.noise.covariance is None:
            return self._with_estimated_covariance(problem).answer(problem, self)
        whiten = stated(problem, "GaussMarkov")
        solution = linear.solve(problem, whiten, rtol=self.rank_tolerance)
        return linear.answer(problem, whiten, solution, self, level=self.level, scale_known=True)

    def solution(self, problem: LinearProblem) -> linear.Solution:
        """The values that `estimate` finds, without their errors."""
        if isinstance(problem.noise, Gaussian) and problem.noise.covariance is None:
            return self._with_estimated_covariance(problem).solution
        return linear.solve(problem, stated(problem, "GaussMarkov"), rtol=self.rank_tolerance)

    def _with_estimated_covariance(self, problem: LinearProblem) -> linear.Fit:
        limits: dict[str, Any] = {
            "rtol": self.rtol, "max_steps": self.max_steps, "rank_tolerance": self.rank_tolerance,
        }  # fmt: skip
        plain = linear.solve(problem, Unweighted(), rtol=self.rank_tolerance)
        weighted = by_group(problem, plain, **limits)
        start = weighted.solution if weighted.is_converged else plain
        of_theta = self._weighting(problem, start.theta, weighted.weights.measured**2)
        fit = linear.reweighted(problem, of_theta, start, **limits)
        if fit.is_converged:
            return linear.Fit(fit.solution, fit.whiten, fit.steps)
        simpler = "weighted least squares" if weighted.is_converged else "least squares"
        notes = (linear.stepped_back("the estimated covariance", fit.steps, simpler),)
        if weighted.is_converged:
            return linear.Fit(weighted.solution, weighted.whiten, fit.steps, Status.MAX_STEPS, notes)
        return linear.Fit(plain, Unweighted(), fit.steps, Status.MAX_STEPS, notes)

    def _weighting(
        self, problem: LinearProblem, start: Array, variances: Array
    ) -> Callable[[Array, Array | None], linear.Weights]:
        """Weights by the residuals at θ; the shrinkage is that of the residuals at `start`."""
        share = _shrinkage(problem, start) if self.shrinkage is None else self.shrinkage

        def weights(theta: Array, near: Array | None) -> linear.Weights:
            floor = linear.rounding(problem, theta) ** 2
            D = np.diag(np.maximum(variances, floor))
            C, objective = _likeliest(_second_moments(problem, theta), D, D if near is None else near, share, floor)
            objective += linear.disbelief(problem, theta)
            return linear.Weights(BySample(C, problem.groups), objective, C, np.sqrt(C.diagonal()))

        return weights

    def weights(self, problem: LinearProblem, theta: Array) -> Whitening:
        """The weights of the rows at a solution θ."""
        if isinstance(problem.noise, Gaussian) and problem.noise.covariance is None:
            squares, count = sums_of_squares(problem, theta)
            return self._weighting(problem, theta, squares / np.maximum(count, 1))(theta, None).whiten
        return stated(problem, "GaussMarkov")


class _Moments(NamedTuple):
    """Second moments of the residuals, for each set of groups that samples have: what the likelihood needs of them."""

    present: Array
    """(sets, n): 1 for the groups that samples of this set have, else 0."""
    samples: Array
    """(sets,): how many there are."""
    total: Array
    """(sets, n, n): Σ r rᵀ over these samples; 0 for groups that they lack."""

    @property
    def is_complete(self) -> bool:
        """Whether no sample lacks a group."""
        return bool(self.present.all())

    def inverses(self, C: Array) -> tuple[Array, Array]:
        """(C restricted to the present groups)⁻¹, 0 elsewhere, and ln det of each restriction."""
        both = self.present[:, :, None] * self.present[:, None]
        whole = np.where(both > 0, C, np.eye(len(C)))  # groups that are missing stand apart, with variance 1
        return np.asarray(np.linalg.inv(whole) * both), np.asarray(np.linalg.slogdet(whole)[1])


def _second_moments(problem: LinearProblem, theta: Array) -> _Moments:
    """Sums of r rᵀ over the samples, for each set of groups that samples have."""
    n = len(problem.groups)
    found: dict[float, tuple[Array, int, Array]] = {}
    for rows in row_blocks(problem, Unweighted()):
        r, has = _by_sample(problem, theta, rows)
        pattern = has @ 2.0 ** np.arange(n)
        for bits in np.unique(pattern[pattern > 0]):
            of_kind = pattern == bits
            u = r[of_kind]
            _, count, total = found.get(bits, (None, 0, np.zeros((n, n))))
            found[bits] = (has[int(of_kind.argmax())], count + len(u), total + u.T @ u)
    sets = list(found.values())
    return _Moments(
        np.array([present for present, _, _ in sets]),
        np.array([float(count) for _, count, _ in sets]),
        np.array([total for _, _, total in sets]),
    )


def _by_sample(problem: LinearProblem, theta: Array, rows: slice) -> tuple[Array, Array]:
    """Residuals of these rows as (samples, groups), 0 where a row is missing, and 1 where there is one."""
    n = len(problem.groups)
    positions = problem.groups.positions(rows)
    start = positions[0] // n * n
    grid = np.zeros((2, positions[-1] // n * n + n - start))
    grid[0, positions - start] = problem.residuals(theta, rows)
    grid[1, positions - start] = 1.0
    r, has = grid.reshape(2, -1, n)
    return r, has


def _likeliest(moments: _Moments, D: Array, start: Array, share: float, floor: float) -> tuple[Array, float]:
    """The covariance that maximizes the penalized likelihood for fixed residuals, and −2 times its logarithm.

    Without missing rows it is (1 − λ) R + λ D at once, else the limit of expectation and maximization in turn.
    """
    if share == 1:
        return D, _minus_two_log_likelihood(moments, D)
    C, steps = start, 1 if moments.is_complete else _EXPECTATIONS
    for _ in range(steps):
        last, C = C, _regular((1 - share) * _expected(moments, C) + share * D, floor)
        if (abs(C - last) <= _EXPECTED * np.sqrt(np.outer(C.diagonal(), C.diagonal()))).all():
            break
    own = np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, D))
    N = float(moments.samples.sum())
    return C, _minus_two_log_likelihood(moments, C) + share / (1 - share) * N * float(own)


_EXPECTATIONS = 200
_EXPECTED = 1e-8
"""Relative change of a covariance at which expectations are no longer repeated."""


def _expected(moments: _Moments, C: Array) -> Array:
    """Mean over the samples of r rᵀ, where those of missing rows are expected from the others by C.

    With K = C C_pp⁻¹ (0 in the columns of missing groups) the expectation of r is K r, which leaves present ones as
    they are, and its covariance C − K C.
    """
    inverse, _ = moments.inverses(C)
    K = C @ inverse
    total = (K @ moments.total @ np.swapaxes(K, 1, 2) + moments.samples[:, None, None] * (C - K @ C)).sum(axis=0)
    result: Array = (total + total.T) / (2 * moments.samples.sum())
    return result


def _regular(C: Array, floor: float) -> Array:
    """The covariance, with a little added to its diagonal where it would be singular."""
    C = C + np.diag(np.maximum(floor - C.diagonal(), 0.0))
    deviations = np.sqrt(C.diagonal())
    smallest = float(np.linalg.eigvalsh(C / np.outer(deviations, deviations))[0])
    return C + max(_SINGULAR - smallest, 0.0) * np.diag(C.diagonal())


def _minus_two_log_likelihood(moments: _Moments, C: Array) -> float:
    inverse, log_det = moments.inverses(C)
    return float(moments.samples @ log_det + (inverse * moments.total).sum())


def _shrinkage(problem: LinearProblem, theta: Array) -> float:
    """Variance of the estimated correlations between groups over their mean square, at most 1 [SS05, eq. (10)].

    Deviation: the variance is that of means over consecutive parts of the recording, since errors are autocorrelated.
    """
    n = len(problem.groups)
    if n == 1:
        return 0.0
    last = problem.groups.positions(slice(problem.n_rows - 1, problem.n_rows))[0]
    n_samples, first = int(last) // n + 1, 0
    parts = min(_PARTS, n_samples)
    products, pairs = np.zeros((2, parts, n, n))
    for rows in row_blocks(problem, Unweighted()):
        r, has = _by_sample(problem, theta, rows)
        first = int(problem.groups.positions(slice(rows.start, rows.start + 1))[0]) // n
        part = (first + np.arange(len(r))) * parts // n_samples
        for k in np.unique(part):
            here = part == k
            products[k] += r[here].T @ r[here]
            pairs[k] += has[here].T @ has[here]
    whole, count = products.sum(axis=0), np.maximum(pairs.sum(axis=0), 1.0)
    deviations = np.sqrt(np.maximum((whole / count).diagonal(), np.finfo(float).tiny))
    scale = np.outer(deviations, deviations)
    correlation = whole / count / scale
    off = (products - pairs * whole / count) / scale
    own = np.diagonal(off, axis1=1, axis2=2)
    off = off - correlation * (own[:, :, None] + own[:, None, :]) / 2  # what the two variances explain of it
    variance = (off**2).sum(axis=0) / count**2 * parts / max(parts - 1, 1)
    between = ~np.eye(n, dtype=bool)
    size = float((correlation[between] ** 2).sum())
    return min(float(variance[between].sum()) / size, 1.0) if size > 0 else 1.0
