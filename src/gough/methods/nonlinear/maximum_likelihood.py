"""Maximum likelihood with errors in all that was measured."""

from dataclasses import dataclass, replace
from math import log, pi
from typing import Any, TypeGuard

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import AssumptionError
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, LikelihoodStats, Status, limited_by_prior
from gough.methods.nonlinear.gauss_newton import without_nuisances
from gough.methods.nonlinear.normal_equations import (
    GeneralTarget,
    Normal,
    StructuredEquations,
    StructuredTarget,
    Target,
    inverse_roots,
    sample_covariances,
)
from gough.methods.statistical.gauss_markov import GaussMarkov
from gough.methods.statistical.residuals import Fitted, NoiseModel, covariance, goodness, noise_model, verdict, widening
from gough.methods.statistical.whitening import stated
from gough.problem import Equations, NonlinearProblem
from gough.region import Box, ConfidenceEllipsoid

REFUTED = 0.001
"""Probability of χ² below which its excess is taken into σ."""


_Fit = tuple[float | None, float | None]
"""χ² over its degrees of freedom, and its probability."""


SCREEN = 4.5
"""An autocorrelation beyond so many of its standard deviations, among a few hundred, is not chance."""


MAX_LAG = 20


NEAR = 0.001
"""A step, in units of the answer's standard deviation, below which the next one goes to all unknowns at once."""


@dataclass(frozen=True, eq=False)
class ResidualSummary:
    """Statistics of the residuals, and the covariance of the answer that follows from them."""

    covariance: Array
    groups: tuple[str, ...]
    rms: Array
    """Root mean square of each group's residuals, in its unit."""
    lag_one: Array
    length: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MaximumLikelihood:
    """θ̂ makes what was measured most likely: it minimizes Σ (m − m̂)ᵀ Σ⁻¹ (m − m̂) subject to f(θ, m̂) = 0 [AHG, eq. (6)].

    Gauss–Newton steps, damped where the likelihood would fall; unknowns that enter linearly are solved for anew at
    every step, so the first of them is the Gauss–Markov estimate [AHG, §V]. Where the problem's equations bring their
    own normal equations (`StructuredEquations`), these are used. With a known covariance of the noise the answer's is
    the inverse of Fisher's information at θ̂: the Cramér–Rao bound [AHG, eq. (9)]. It is widened for an estimated
    covariance, for autocorrelated residuals, and for a χ² that refutes noise or model; a note says so.

    Examples:
        >>> import gough
        >>> class Circle:  # |m| = r
        ...     def residuals(self, theta, m):
        ...         return np.linalg.norm(m, axis=1, keepdims=True) - theta
        ...     def jacobians(self, theta, m):
        ...         return np.full((len(m), 1, 1), -1.0), (m / np.linalg.norm(m, axis=1, keepdims=True))[:, None]
        >>> measured, r = [[1.0, 0.1], [0.0, 1.02], [-0.97, 0.0]], gough.Unknowns(["r"], nominal=[2.0])
        >>> problem = gough.NonlinearProblem(Circle(), measured, r, gough.Gaussian(1e-4))
        >>> round(gough.estimate(problem, MaximumLikelihood())["r"], 4)
        0.9983
    """

    level: float = 0.95
    rtol: float = 1e-6
    """Step, in units of the answer's standard deviation, below which θ stays."""
    max_steps: int = 50

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self, problem: NonlinearProblem) -> Estimate:
        search = _DampedDescent(problem)
        status, steps = search.climb(self.rtol, self.max_steps)
        if status is Status.SINGULAR:
            answer = GaussMarkov(self.level).estimate(problem.linearize(search.theta))
            return without_nuisances(problem, replace(answer, method=written(self), status=Status.SINGULAR))
        return self._answer(search, status, steps)

    def _answer(self, search: "_DampedDescent", status: Status, steps: int) -> Estimate:
        problem, free = search.problem, search.free
        prior = None if search.prior is None else search.prior[np.ix_(free, free)]
        at_end = search.target.residuals(search.theta)
        residuals = residual_summary(problem, search.theta, search.inverse_information, at_end, prior)
        dof = search.n_rows - int(free.sum())
        chi_squared, p = goodness(search.squares / dof, dof, problem.noise) if dof > 0 else (None, None)
        covariance, notes = residuals.covariance * widening(problem.noise), []
        if chi_squared is not None and p is not None:
            notes.append(verdict(chi_squared, p))
            if p < REFUTED and chi_squared > 1:
                covariance = covariance * chi_squared
                notes.append(_WIDENED.format(np.sqrt(chi_squared)))
        notes += [*residuals.notes, *limited_by_prior(search.on_edge)]
        unknowns = problem.unknowns
        hidden = [unknowns.index(name) for name in problem.nuisance]
        chosen = [i for i in np.flatnonzero(free) if i not in set(hidden)]
        place = np.cumsum(free) - 1
        rows = place[chosen]
        region = ConfidenceEllipsoid(search.theta[chosen], covariance[np.ix_(rows, rows)], self.level)
        stats = self._stats(search, residuals, steps, fit=(chi_squared, p), nuisance=search.theta[hidden])
        wanted = unknowns.select([unknowns.names[i] for i in chosen])
        return Estimate(region, Claim.CONFIDENCE, status, wanted, written(self), stats, tuple(notes))

    @staticmethod
    def _stats(
        search: "_DampedDescent", residuals: ResidualSummary, steps: int, *, fit: _Fit, nuisance: Array
    ) -> LikelihoodStats:
        k = int(search.free.sum())
        log_likelihood = -0.5 * (search.squares + search.log_determinant)
        return LikelihoodStats(
            n_rows=search.n_rows,
            prior_limited=search.on_edge,
            dof=float(search.n_rows - k),
            groups=residuals.groups,
            residual_rms=residuals.rms,
            autocorrelation=residuals.lag_one,
            correlation_length=residuals.length,
            chi_squared=fit[0],
            chi_squared_p=fit[1],
            condition=search.condition,
            iterations=steps,
            log_likelihood=log_likelihood,
            n_unknowns=k,
            aic=2 * k - 2 * log_likelihood,
            bic=k * log(search.n_rows) - 2 * log_likelihood,
            nuisance=nuisance if len(nuisance) else None,
        )


_WIDENED = (
    "Noise and model together are refuted, so each σ is widened by {:.3g}; that covers noise that is larger than "
    "stated, not an error of the model."
)


@np.errstate(all="ignore")
def cramer_rao_bound(problem: NonlinearProblem, theta: Any) -> Array:
    """The smallest covariance that unbiased estimates of the wanted unknowns can have where θ is true.

    The inverse of Fisher's information of all unknowns, nuisances too, without any prior [AHG, eqs. (8)-(9)]; what was
    measured is taken at its value, so give it a problem whose measurements are those of θ.

    Examples:
        >>> import gough
        >>> class Scale:  # m = θ
        ...     def residuals(self, theta, m):
        ...         return m - theta
        ...     def jacobians(self, theta, m):
        ...         return np.full((len(m), 1, 1), -1.0), np.ones((len(m), 1, 1))
        >>> problem = gough.NonlinearProblem(Scale(), np.ones((25, 1)), gough.Unknowns(["a"]), gough.Gaussian(1.0))
        >>> cramer_rao_bound(problem, [1.0])
        array([[0.04]])
    """
    normal = _target(problem)[0].normal(np.asarray(theta, dtype=np.float64))
    wanted = [problem.unknowns.index(name) for name in problem.wanted]
    return _inverse(normal.information)[np.ix_(wanted, wanted)]


def _target(problem: NonlinearProblem) -> tuple[Target, float]:
    """The likelihood, and Σ ln det(2π C) over the covariances C of what it is a likelihood of."""
    C, n_samples = sample_covariances(problem), len(problem.measured)
    if _is_structured(problem.equations):
        roots, logdet = inverse_roots(C, n_samples, problem.kept)
        count = problem.measured.size if problem.kept is None else int(problem.kept.sum())
        return StructuredTarget(problem, problem.equations, roots), logdet + count * log(2 * pi)
    logdet = inverse_roots(C, n_samples, None)[1]
    return GeneralTarget(problem, C), logdet + problem.measured.size * log(2 * pi)


def _is_structured(equations: Equations) -> TypeGuard[StructuredEquations]:
    """As isinstance, which takes a hundred times as long for a protocol."""
    own = ("n_linear", "normal", "linear_normal", "gradient", "whitened_residuals")
    return all(hasattr(equations, name) for name in own)


def _inverse(information: Array) -> Array:
    """The inverse of a positive definite matrix whose diagonal may span many decades."""
    scale = np.sqrt(information.diagonal())
    inverse = np.linalg.inv(information / np.outer(scale, scale)) / np.outer(scale, scale)
    return np.asarray((inverse + inverse.T) / 2)


class _DampedDescent:
    """Levenberg's damped Gauss–Newton iteration, with its state."""

    def __init__(self, problem: NonlinearProblem) -> None:
        unknowns = problem.unknowns
        if unknowns.nominal is None:
            raise AssumptionError("MaximumLikelihood needs a starting point: Unknowns(..., nominal=blueprint values)")
        self.problem = problem
        self.free = ~unknowns.is_fixed
        self.bounds = unknowns.bounds
        self.target, self.log_determinant = _target(problem)
        self.theta = np.where(
            self.free, np.clip(unknowns.nominal, self.bounds.lower, self.bounds.upper), self.bounds.lower
        )
        belief = unknowns.prior if isinstance(unknowns.prior, ConfidenceEllipsoid) else None
        self.prior = None if belief is None else _inverse(belief.covariance)
        """Information that a belief adds."""
        self._believed = self.theta if belief is None else belief.center
        self.squares = np.inf
        self.inverse_information = np.zeros((0, 0))
        self.condition = np.inf
        self._accepted: Array | None = None
        self.n_rows = self.target.n_rows

    @property
    def on_edge(self) -> tuple[str, ...]:
        """Unknowns whose value lies on the prior."""
        edge = self.free & ((self.theta == self.bounds.lower) | (self.theta == self.bounds.upper))
        return tuple(self.problem.unknowns.names[i] for i in np.flatnonzero(edge))

    def climb(self, rtol: float, max_steps: int) -> tuple[Status, int]:
        """Steps until one is small; the status, and how many there were.

        As long as steps shrink tenfold the information hardly changes, and that of an earlier step serves.
        """
        self.theta, _ = self._with_linear(self.theta)
        bare, damping, last, is_near = self.target.normal(self.theta), 0.0, np.inf, False
        for step in range(1, max_steps + 1):
            normal = self._with_prior(bare, self.theta)
            self.squares = normal.squares
            if not (np.isfinite(normal.squares) and self._accept(normal, bare.information)):
                return Status.SINGULAR, step
            moved, there = self._near_step(normal, bare, rtol) if is_near and last < NEAR else (self.theta, None)
            if there is None:
                moved, damping = self._step(normal, damping)
            size = self._size(moved - self.theta, normal)
            self.theta = moved
            if size <= rtol:
                return Status.OK, step
            is_near = damping == 0.0 and size < 0.1 * last
            if not is_near:
                bare = self.target.normal(moved)
            else:
                bare = self.target.nearby(moved, bare) if there is None else there
            last = size
        return Status.MAX_STEPS, max_steps

    def _accept(self, normal: Normal, bare: Array) -> bool:
        """Take the inverse information; False if the information, `bare` without that of a belief, is singular."""
        if bare is self._accepted:  # that of an earlier step serves
            return True
        H = normal.information[np.ix_(self.free, self.free)]
        diagonal = H.diagonal()
        if not (diagonal > 0).all():
            return False
        scale = np.sqrt(diagonal)
        values = np.linalg.eigvalsh(H / np.outer(scale, scale))
        self.condition = float(np.sqrt(values[-1] / max(values[0], 1e-300)))
        if values[0] <= len(H) * np.finfo(float).eps * values[-1]:
            return False
        self.inverse_information = _inverse(H)
        self._accepted = bare
        return True

    def _near_step(self, normal: Normal, bare: Normal, rtol: float) -> tuple[Array, Normal | None]:
        """The next θ where steps shrink fast, and the normal equations there with the information of an earlier step.

        None instead of these if the sum of squares becomes larger. The last step needs no gradient.
        """
        moved = self._newton(normal)
        if self._size(moved - self.theta, normal) > rtol:
            there = self.target.nearby(moved, bare)
        else:
            there = bare._replace(squares=self.target.squares(moved))
        fell = there.squares + self._prior_squares(moved) <= _no_larger(normal.squares)
        return moved, there if fell else None

    def _step(self, normal: Normal, damping: float) -> tuple[Array, float]:
        """The next θ and the damping that it took: no step makes the sum of squares larger."""
        for _ in range(40):
            trial = self._minimizer(normal, self.theta, damping) if damping else self._newton(normal)
            moved, squares = self._with_linear(trial)
            if squares <= _no_larger(normal.squares):
                return moved, damping / 10 if damping > 1e-10 else 0.0
            damping = max(10.0 * damping, 1e-6)
        return self.theta, damping

    def _with_linear(self, theta: Array) -> tuple[Array, float]:
        """θ with the unknowns that enter linearly at their best for the others, and the sum of squares there."""
        k = self.target.n_linear
        linear = self.target.linear_normal(theta)
        if not k or not np.isfinite(linear.squares):
            return theta, linear.squares + self._prior_squares(theta)
        padded = Normal(linear.squares, np.zeros(len(theta)), np.zeros((len(theta), len(theta))))
        padded.gradient[:k], padded.information[:k, :k] = linear.gradient, linear.information
        padded = self._with_prior(padded, theta)
        moved = self._minimizer(padded, theta, 0.0, slice(0, k))
        step = moved - theta
        return moved, float(padded.squares - 2 * padded.gradient @ step + step @ padded.information @ step)

    def _minimizer(self, normal: Normal, theta: Array, damping: float, among: slice = slice(None)) -> Array:
        """The minimizer of the quadratic model within the bounds, over the free ones among the first unknowns."""
        axes = np.flatnonzero(self.free[among])
        H, g = normal.information[np.ix_(axes, axes)], normal.gradient[axes]
        scale = np.sqrt(H.diagonal())
        scale = np.where(scale > 0, scale, 1.0)
        damped = H / np.outer(scale, scale) + damping * np.eye(len(axes))
        try:
            step = np.linalg.solve(damped, g / scale) / scale
        except np.linalg.LinAlgError:
            return theta
        moved = theta.copy()
        moved[axes] += step
        if self._is_inside(moved):
            return moved
        box = self.bounds.project(axes.tolist())
        moved[axes] = _bounded(damped, g / scale, scale, theta[axes], box)
        return moved

    def _newton(self, normal: Normal) -> Array:
        """The minimizer of the quadratic model within the bounds, by the inverse of its information."""
        moved = self.theta.copy()
        moved[self.free] += self.inverse_information @ normal.gradient[self.free]
        return moved if self._is_inside(moved) else self._minimizer(normal, self.theta, 0.0)

    def _is_inside(self, theta: Array) -> bool:
        return bool(((self.bounds.lower <= theta) & (theta <= self.bounds.upper)).all())

    def _size(self, step: Array, normal: Normal) -> float:
        """The step in units of the answer's standard deviation."""
        squared = float(step @ normal.information @ step)
        return float(np.sqrt(max(squared, 0.0) / max(int(self.free.sum()), 1)))

    def _with_prior(self, normal: Normal, theta: Array) -> Normal:
        """The normal equations of likelihood and belief together."""
        if self.prior is None:
            return normal
        pull = self.prior @ (self._believed - theta)
        squares = normal.squares + self._prior_squares(theta)
        return Normal(squares, normal.gradient + pull, normal.information + self.prior)

    def _prior_squares(self, theta: Array) -> float:
        away = self._believed - theta
        return 0.0 if self.prior is None else float(away @ self.prior @ away)


def _no_larger(squares: float) -> float:
    """The largest sum of squares that rounding may make of this one."""
    return squares * (1 + 1e-12) + 1e-12


def _bounded(H: Array, g: Array, scale: Array, theta: Array, box: Box) -> Array:
    """θ + step, where the step minimizes a quadratic model in scaled unknowns within the bounds."""
    from scipy.optimize import lsq_linear  # noqa: PLC0415 - start-up time

    R = np.linalg.cholesky(H).T
    z = np.linalg.solve(R.T, g)
    sides = ((box.lower - theta) * scale, (box.upper - theta) * scale)
    wide = np.maximum(sides[1] - sides[0], 0) > 0
    assert wide.all()
    bounded = lsq_linear(R, z, bounds=sides, method="bvls")
    value = theta + bounded.x / scale
    return np.where(bounded.active_mask < 0, box.lower, np.where(bounded.active_mask > 0, box.upper, value))


def residual_summary(
    problem: NonlinearProblem, theta: Array, inverse_information: Array, residuals: tuple[Array, Array],
    prior: Array | None,
) -> ResidualSummary:  # fmt: skip
    """The covariance of an answer θ with these residuals (samples, n), plain and whitened: wider if autocorrelated.

    White residuals leave the inverse information as it is. A first look at single autocorrelations is cheap; where one
    stands out, the noise is modelled as for linear problems, on the tangent problem.
    """
    f, u = residuals
    kept = np.ones(f.shape, dtype=bool) if problem.kept is None else problem.kept
    names = problem.groups.names if problem.groups else tuple(f"equation {i + 1}" for i in range(f.shape[1]))
    count = np.maximum(kept.sum(axis=0), 1)
    rms = np.sqrt((np.where(kept, f, 0.0) ** 2).sum(axis=0) / count)
    rho, scores = _autocorrelations(u, kept)
    lag_one = rho[0] if len(rho) else np.zeros(f.shape[1])
    white = ResidualSummary(inverse_information, names, rms, lag_one, 0, ())
    if not (scores > SCREEN).any():
        return white
    fit, noise = _modelled(problem, theta, inverse_information)
    if not noise.length and noise.drift is None:
        return white
    known = noise.of_unit_size()
    return replace(white, covariance=covariance(fit, known, prior=prior), length=noise.length, notes=noise.notes())


def _autocorrelations(u: Array, kept: Mask) -> tuple[Array, Array]:
    """ρ (lags, n), and |ρ| in units of its standard deviation under white noise."""
    from gough.methods.statistical.lagged_sums import lagged_sums  # noqa: PLC0415 - numba

    sums, pairs = lagged_sums(np.ascontiguousarray(u), kept, min(MAX_LAG, len(u) // 4))
    rho = sums[1:] / np.maximum(sums[0], 1e-300)
    return rho, abs(rho) * pairs[0] / np.sqrt(np.maximum(pairs[1:], 1))


def _modelled(problem: NonlinearProblem, theta: Array, inverse_information: Array) -> tuple[Fitted, NoiseModel]:
    tangent = problem.linearize(theta)
    columns: Any = np.flatnonzero(~problem.unknowns.is_fixed)
    scale = np.sqrt(inverse_information.diagonal())
    T = scale[:, None] * np.linalg.cholesky(inverse_information / np.outer(scale, scale))
    fit = Fitted(tangent, stated(tangent, "MaximumLikelihood"), theta, columns, T)
    return fit, noise_model(fit)
