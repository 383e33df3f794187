"""A quick way near the answer: damped Gauss–Newton on the normal equations, one evaluation a step."""

from dataclasses import dataclass

import numpy as np

from gough.assemble.geometric import ChainEquations
from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.methods.robust import Huber
from gough.problem import NonlinearProblem


@dataclass(frozen=True)
class Arrived:
    """Where the descent ended."""

    theta: Array
    rms: float
    """Root mean square of the residuals there, in the unit of the equations and not weighted."""
    converged: bool


@one_blas_thread()
def approach(problem: NonlinearProblem, theta: Array, *, max_steps: int = 60) -> Arrived:
    """Near the weighted least-squares solution, from θ; fixed unknowns stay. Answers are for the methods to give.

    The weights are those of each point, re-evaluated: (J_M Σ_M J_Mᵀ)⁻¹. Steps are judged by the weights of their start.
    """
    equations, measured = problem.equations, problem.measured
    assert isinstance(equations, ChainEquations)
    free = np.flatnonzero(~problem.unknowns.is_fixed)
    theta = theta.copy()
    damping, converged = 0.0, False
    f, J, J_m = equations.both(theta, measured)
    for _ in range(max_steps):
        L = _root(problem, J_m)
        A = (L @ J[..., free]).reshape(-1, len(free))
        u = (L @ f[..., None]).reshape(-1)
        scale = np.sqrt((A * A).sum(axis=0)) + 1e-300
        A /= scale
        H, g = A.T @ A, A.T @ u
        moved = theta.copy()
        try:
            step = -np.linalg.solve(H + damping * np.eye(len(free)), g)
        except np.linalg.LinAlgError:
            damping = max(10 * damping, 1e-8)
            continue
        moved[free] += step / scale
        with np.errstate(all="ignore"):
            trial = equations.both(moved, measured)
            cost = float(((L @ trial[0][..., None]) ** 2).sum())
        if not cost <= float(u @ u) * (1 + 1e-12):
            if abs(step).max() < 1e-6 * np.sqrt(u @ u + 1.0):
                converged = True
                break
            damping = max(10 * damping, 1e-8)
            if damping > 1e6:
                break
            continue
        theta, (f, J, J_m), damping = moved, trial, damping / 10 if damping > 1e-7 else 0.0
        if abs(step).max() <= 1e-5 * max(np.sqrt(float(u @ u) / u.size), 1e-300):
            converged = True
            break
    return Arrived(theta, float(np.sqrt((f**2).mean())), converged)


@one_blas_thread()
def approach_robustly(problem: NonlinearProblem, theta: Array, *, max_steps: int = 50) -> Arrived:
    """Near the solution of Huber's loss, whose scale is that of each chain's residuals: reweighted Gauss–Newton."""
    equations = problem.equations
    assert isinstance(equations, ChainEquations)
    loss = Huber()
    free = np.flatnonzero(~problem.unknowns.is_fixed)
    theta, converged = approach(problem, theta).theta.copy(), False
    for _ in range(max_steps):
        f, J, _ = equations.both(theta, problem.measured)
        scale = np.maximum(np.median(abs(f), axis=0) / 0.6744897501960817, 1e-12)
        root = np.sqrt(loss.weight(f / scale)) / scale
        A, u = (root[..., None] * J[..., free]).reshape(-1, len(free)), (root * f).reshape(-1)
        size = np.sqrt((A * A).sum(axis=0)) + 1e-300
        step = -np.linalg.lstsq(A / size, u, rcond=None)[0]
        theta[free] += step / size
        if abs(step).max() <= 1e-4:
            converged = True
            break
    return Arrived(theta, float(np.sqrt((f**2).mean())), converged)


def _root(problem: NonlinearProblem, J_m: Array) -> Array:
    """L with LᵀL = (J_m Σ J_mᵀ)⁻¹; the identity where no noise is stated."""
    C = problem.noise.covariance
    if C is None:
        return np.eye(J_m.shape[1])
    return np.asarray(np.linalg.inv(np.linalg.cholesky(J_m @ C @ np.swapaxes(J_m, 1, 2))))
