"""The noise of readings where only that of the poses is stated: a variance component, by restricted likelihood."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.text import plus_minus
from gough.data import Poses
from gough.estimates import Estimate, FitStats
from gough.geometry.chain_equations import ChainEquations
from gough.geometry.descent import approach
from gough.problem import NonlinearProblem
from gough.region import ConfidenceEllipsoid

_MOST_POSES = 4096
"""Poses, evenly chosen, that the noise is estimated from: more do not change its second digit."""
_ROUNDS = 12
_SETTLED = 1e-3
"""Change of the noise, as a part of it, at which the rounds end."""


class ReadingNoise(NamedTuple):
    """Standard deviation of one reading, estimated from the closure errors of all chains."""

    sigma: float
    error: float
    """Standard deviation of `sigma`."""
    dof: float
    """Degrees of freedom of the least certain covariance that it makes [SAT46]."""

    def sentence(self, unit: str, factor: float) -> str:
        """What was estimated, in the unit of readings as a person reads it."""
        value, spread = plus_minus(self.sigma * factor, 2 * self.error * factor)
        return (
            f"The noise of the readings is not stated. Its standard deviation is estimated from the residuals, beside "
            f"the stated covariances of the poses: {value} ± {spread} {unit} (95 %). If the sensors are better than "
            "that, the model or the poses have other errors; state [noise] readings to test it."
        )

    def qualified(self, estimate: Estimate) -> Estimate:
        """The estimate with Student's quantiles; without χ², as residuals do not test a noise estimated from them."""
        region, stats = estimate.region, estimate.stats
        if isinstance(region, ConfidenceEllipsoid) and self.dof < region.dof:
            region = replace(region, dof=self.dof)
        if isinstance(stats, FitStats):
            stats = replace(stats, chi_squared=None, chi_squared_p=None)
        notes = tuple(note for note in estimate.notes if not note.startswith("χ²/dof"))
        return replace(estimate, region=region, stats=stats, notes=notes)


def reading_noise(problem_of: Callable[[Poses], NonlinearProblem], poses: Poses) -> ReadingNoise | None:
    """The noise of all readings, alike, given the covariances of the poses; None if none is seen beside theirs.

    Also None where the noise of the readings is stated, or that of the poses is not.

    Parameters and noise are estimated in turn: parameters by weighted least squares, the noise by the maximum of the
    restricted likelihood [PT71] of the closure equations, linearized at the parameters.

    Args:
        problem_of: The calibration problem of poses whose noise is stated.
        poses: What was measured.
    """
    if poses.covariance is None or poses.reading_sigma is not None:
        return None
    step = -(-len(poses) // _MOST_POSES)
    chosen = poses.select(np.arange(0, len(poses), step)) if step > 1 else poses
    first = problem_of(replace(chosen, reading_sigma=np.array(1.0)))
    theta = np.asarray(first.unknowns.nominal)
    sigma = float(np.sqrt(np.mean(_Closure.of(first, theta, chosen.common).y ** 2)))
    for _ in range(_ROUNDS):
        if not sigma > 0:
            return None
        problem = problem_of(replace(chosen, reading_sigma=np.array(sigma)))
        near = approach(problem, theta)
        if not np.isfinite(near.theta).all():
            return None
        theta = near.theta
        rows = _Closure.of(problem, theta, chosen.common)
        if rows.excess <= 0:
            return None
        before, sigma = sigma, float(np.sqrt(rows.likeliest()))
        if abs(sigma - before) <= _SETTLED * before:
            return rows.noise(sigma)
    return rows.noise(sigma) if sigma > 0 else None


class _Closure(NamedTuple):
    """Closure equations y = Z δ + e in units of a reading, with independent errors of variance λ + σ².

    The errors of the poses make a covariance A C Aᵀ of the closure of a pose's chains, in units of their readings; its
    eigenvectors are the coordinates of y and Z, and its eigenvalues are λ. The noise of the readings is alike in all
    directions.
    """

    y: Array
    Z: Array
    eigenvalues: Array

    @classmethod
    def of(cls, problem: NonlinearProblem, theta: Array, common: Array | None = None) -> "_Closure":
        """The equations at θ; errors that the poses share count as unknowns of any size."""
        equations = problem.equations
        assert isinstance(equations, ChainEquations)
        f, J, J_m = equations.both(theta, problem.measured)
        n = f.shape[1]
        by_reading = J_m[:, range(n), range(J_m.shape[2] - n, J_m.shape[2])]
        A = J_m[..., :-n] / by_reading[..., None]
        C = problem.noise.covariance
        assert C is not None
        values, vectors = np.linalg.eigh(A @ C[..., :-n, :-n] @ A.transpose(0, 2, 1))
        free = np.flatnonzero(~problem.unknowns.is_fixed)
        turned = vectors.transpose(0, 2, 1)
        y = (turned @ (f / by_reading)[..., None]).reshape(-1)
        columns = J[..., free] / by_reading[..., None]
        if common is not None:
            columns = np.concatenate([columns, A @ common[:, : A.shape[2]]], axis=2)
        Z = (turned @ columns).reshape(len(y), -1)
        size = np.linalg.norm(Z, axis=0)
        return cls(y, Z / np.where(size > 0, size, 1.0), np.maximum(values, 0.0).reshape(-1))

    @property
    def excess(self) -> int:
        """Rows beyond the number of unknowns."""
        return len(self.y) - self.Z.shape[1]

    def likeliest(self) -> float:
        """The variance σ² of largest restricted likelihood; 0 where the errors of the poses explain the residuals."""
        from scipy.optimize import minimize_scalar  # noqa: PLC0415 - start-up time

        largest = float(np.mean(self.y**2)) * len(self.y) / self.excess
        if not largest > 0:
            return 0.0
        logs = np.log(largest) + np.arange(-30.0, 1.0, 2.0)  # the likelihood may have a maximum at 0 too
        costs = [self._cost(float(np.exp(each))) for each in logs]
        best = int(np.argmin(costs))
        if best == 0:
            return 0.0
        bracket = (float(logs[best - 1]), float(logs[min(best + 1, len(logs) - 1)] + 1))
        found = minimize_scalar(lambda each: self._cost(float(np.exp(each))), bounds=bracket, method="bounded")
        variance = float(np.exp(found.x))
        return variance if found.fun < self._cost(0.0) else 0.0

    def noise(self, sigma: float) -> ReadingNoise:
        """The noise with its uncertainty, from Fisher's information of σ² and what σ² does to the covariance."""
        w = 1 / (self.eigenvalues + sigma**2)
        M = np.linalg.pinv(self.Z.T @ (w[:, None] * self.Z), hermitian=True)
        H2 = self.Z.T @ (w[:, None] ** 2 * self.Z)
        H3 = self.Z.T @ (w[:, None] ** 3 * self.Z)
        information = 0.5 * float((w**2).sum() - 2 * np.trace(M @ H3) + np.trace(M @ H2 @ M @ H2))
        variance = 1 / max(information, 1e-300)
        slope = (M @ H2 @ M).diagonal()
        share = float(np.max(slope / np.maximum(M.diagonal(), 1e-300)))
        return ReadingNoise(sigma, float(np.sqrt(variance)) / (2 * sigma), max(2 / (share**2 * variance), 1.0))

    def _cost(self, variance: float) -> float:
        """−2 ln of the restricted likelihood [PT71]."""
        total = self.eigenvalues + variance
        if not total.min() > 0:
            return np.inf
        w = 1 / total
        H = self.Z.T @ (w[:, None] * self.Z)
        values, vectors = np.linalg.eigh(H)
        seen = values > 1e-13 * values[-1]
        g = vectors.T @ (self.Z.T @ (w * self.y))
        fit = float((g[seen] ** 2 / values[seen]).sum())
        return float(np.log(total).sum() + np.log(values[seen]).sum() + (w * self.y**2).sum() - fit)
