"""Degrees of freedom where the noise of each chain is estimated from its own residuals.

Every chain has a variance of its own, and every pair a covariance, since the errors of a pose reach all its chains. A
chain of 40 poses with 7 parameters has 33 degrees of freedom for its variance, not those of all six together; and a
covariance matrix of six chains makes joint regions wider than one common factor would.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.estimates import Estimate, FitStats
from gough.problem import LinearProblem, NonlinearProblem
from gough.region import ConfidenceEllipsoid

_MANY = 2e4
"""Degrees of freedom of all residuals beyond which those of one chain change no quantile."""
_LEVEL = 0.95
_ENOUGH = 3
"""Degrees of freedom of a chain, over the number of chains, from which on their correlations are determined …"""
_ROUGH = 1.0
"""… and degrees of freedom of a joint region where they are not."""
_TOO_FEW = (
    "These poses are too few to estimate how the errors of the chains are correlated: intervals of single parameters "
    "hold, joint regions of several parameters do not. State the noise, or measure more poses."
)
_RANK = 1e-9
"""Singular values of a chain's columns that count, relative to the largest."""


class ChainNoise(NamedTuple):
    """Degrees of freedom of single intervals, and of joint regions."""

    dof: float
    joint: float

    @property
    def is_correlation_known(self) -> bool:
        """Whether the residuals determine how the errors of chains are correlated."""
        return self.joint > _ROUGH


def with_chain_noise(estimate: Estimate, problem: NonlinearProblem, values: Array) -> Estimate:
    """The estimate with the degrees of freedom of the variances of its chains.

    Args:
        estimate: An estimate whose noise is taken from the residuals of each chain.
        problem: The problem, whose groups are the chains.
        values: All unknowns of the problem, at the solution.
    """
    region, stats = estimate.region, estimate.stats
    if not isinstance(region, ConfidenceEllipsoid) or not isinstance(stats, FitStats) or not region.dof < _MANY:
        return estimate
    tangent = problem.linearize(values).without_fixed()[0]
    sigma = stats.residual_rms
    spare = tangent.n_rows - len(tangent.unknowns)
    if spare <= 0 or sigma is None or not (np.isfinite(sigma).all() and (sigma > 0).all()):
        return estimate
    noise = chain_noise(tangent, sigma, independent=min(region.dof / spare, 1.0))
    dof = min(noise.dof, region.dof)
    notes = estimate.notes if noise.is_correlation_known else (*estimate.notes, _TOO_FEW)
    return replace(estimate, region=replace(region, dof=dof, joint_dof=min(noise.joint, dof)), notes=notes)


def chain_noise(problem: LinearProblem, sigma: Array, *, independent: float = 1.0) -> ChainNoise:
    """Degrees of freedom of the least certain variance of an unknown [SAT46], and of joint regions of all [MCK74].

    Args:
        problem: The linearized problem, whose groups are the chains.
        sigma: Standard deviation of the residuals of each chain.
        independent: Independent residuals as a share of all, where they are autocorrelated.

    Examples:
        >>> import gough
        >>> W = np.kron(np.random.default_rng(1).normal(size=(20, 2)), np.eye(2))
        >>> problem = LinearProblem(W, np.zeros(40), gough.Unknowns([*"abcd"]), groups=("leg 1", "leg 2"))
        >>> chain_noise(problem, np.ones(2))  # two unknowns of each leg, and 20 poses
        ChainNoise(dof=18.0, joint=14.2)
    """
    n, p = len(problem.groups), len(problem.unknowns)
    position = problem.groups.positions(slice(0, problem.n_rows))
    group, samples = position % n, position // n - position[0] // n
    A = problem.W / sigma[group][:, None]
    size = np.linalg.norm(A, axis=0)
    A = A / np.where(size > 0, size, 1.0)
    M = np.linalg.pinv(A.T @ A, hermitian=True)
    variance = np.maximum(M.diagonal(), 1e-300)
    relative, each, spans = np.zeros(p), [], []
    for g in range(n):
        own = A[group == g]
        H = own.T @ own
        nu = max(independent * (len(own) - float(np.trace(M @ H))), 1e-3)
        relative += ((M @ H @ M).diagonal() / variance) ** 2 / nu
        each.append(nu)
        U, s, _ = np.linalg.svd(own, full_matrices=False)
        span = np.zeros((samples[-1] + 1, int((s > _RANK * s[0]).sum())))
        span[samples[group == g]] = U[:, : span.shape[1]]
        spans.append(span)
    dof = float(1 / max(relative.max(initial=0.0), 1e-300))
    nu = float(np.mean(each))
    joint = _joint(_alike(spans), p, nu) if nu >= _ENOUGH * n else _ROUGH
    return ChainNoise(round(max(dof, 1.0), 1), round(joint, 1))


def _alike(spans: list[Array]) -> float:
    """Number of chains with the same parameters that would make as much of the estimated correlations: 1 … n.

    A joint region of several chains contains the covariance of two chains only as far as their columns span the same
    space. To first order in 1/ν, the mean of the squared distance is that of this number of chains with equal columns.
    """
    n = len(spans)
    shares = [
        float(((spans[g].T @ spans[h]) ** 2).sum()) / max(min(spans[g].shape[1], spans[h].shape[1]), 1)
        for g in range(n)
        for h in range(g)
    ]
    return 1 + (n - 1) * float(np.mean(shares)) if shares else 1.0


def _joint(n: float, p: int, nu: float) -> float:
    """Degrees of freedom d so that F(p, d) has the 95 % quantile of p parameters of n chains with equal columns.

    The squared distance is a trace of Hotelling and Lawley, with a covariance of n chains from ν degrees of freedom;
    its distribution is that of a multiple of F [MCK74].
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - start-up time
    from scipy.stats import f  # noqa: PLC0415 - start-up time

    if n <= 1:
        return nu
    B = (nu + p / n - n - 1) * (nu - 1) / ((nu - n - 3) * (nu - n))
    D = 4 + (p + 2) / (B - 1)
    limit = nu * (D - 2) / (D * (nu - n - 1)) * f.ppf(_LEVEL, p, D)
    return float(brentq(lambda d: f.ppf(_LEVEL, p, d) - limit, _ROUGH, 1e9))
