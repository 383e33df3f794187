"""A quick way near the answer: damped Gauss–Newton on the normal equations, one evaluation a step."""

from typing import NamedTuple, Protocol, cast

import numpy as np

from gough.core.arrays import Array, frozen
from gough.core.threads import one_blas_thread
from gough.methods.statistical.robust import Huber
from gough.problem import NonlinearProblem
from gough.robots.kinematics import Columns

_NEAR = 1e-2
"""A step this small in standard deviations ends the descent: the next one would be about its square."""
_SETTLED = 1e-7
"""A step this small in standard deviations ends what `settle` adds."""
_SETTLING = 6
"""Most steps that it adds."""


class ByChain(Protocol):
    """Equations whose chains have unknowns of their own, as `ChainEquations`."""

    @property
    def n_unknowns(self) -> int: ...

    @property
    def unknown_columns(self) -> Columns: ...

    def by_chain(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]: ...

    def both(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]: ...


def by_all_unknowns(equations: ByChain, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
    """Residuals, and Jacobians by all unknowns (samples, chains, p) and by what was measured, from one evaluation."""
    f, X, J_m = equations.by_chain(theta, measured)
    J = np.zeros((*f.shape, equations.n_unknowns))
    for chain, columns in enumerate(equations.unknown_columns):
        J[:, chain, columns] = X[:, chain]
    return f, frozen(J), J_m


class Arrived(NamedTuple):
    """Where the descent ended."""

    theta: Array
    converged: bool


@np.errstate(all="ignore")
@one_blas_thread()
def approach(problem: NonlinearProblem, theta: Array, *, max_steps: int = 60, settle: bool = False) -> Arrived:
    """Near the weighted least-squares solution, from θ; fixed unknowns stay. Answers are for the methods to give.

    The weights are those of each point, re-evaluated as long as a step moves by more than a standard deviation:
    (J_M Σ_M J_Mᵀ)⁻¹. Steps are judged by the weights of their start. With `settle` a few more steps follow, each with
    the weights of its own start, so that a method that begins there has nothing left to do but to give the answer.
    """
    from gough.geometry.pose_sums import downhill  # noqa: PLC0415 - numba

    equations, measured = cast(ByChain, problem.equations), problem.measured
    free = np.flatnonzero(~problem.unknowns.is_fixed)
    theta = theta.copy()
    damping, converged, far, W = 0.0, False, True, None
    now = equations.by_chain(theta, measured)
    while max_steps > 0 and damping <= 1e6:
        max_steps -= 1
        W = _weights(problem, now[2]) if far else W
        H, g, cost = _normal(equations, now[0], now[1], W)
        if not (np.isfinite(np.sqrt(H.diagonal()[free])).all() and np.isfinite(cost) and cost >= 0):
            break
        try:
            step, size = downhill(H, g, free, damping)
        except np.linalg.LinAlgError:
            damping = max(10 * damping, 1e-8)
            continue
        moved = theta.copy()
        moved[free] += step
        trial = equations.by_chain(moved, measured)
        if _squares(trial[0], W) <= cost * (1 + 1e-12):
            theta, now, damping = moved, trial, damping / 10 if damping > 1e-7 else 0.0
            unit = _unit(cost, now[0])
            far, converged = size > unit, size <= _NEAR * unit
        else:
            damping = max(10 * damping, 1e-8)
            converged = size < 1e-6 * float(np.sqrt(cost + 1.0))
        if converged:
            break
    for _ in range(_SETTLING if settle and converged else 0):
        H, g, cost = _normal(equations, now[0], now[1], _weights(problem, now[2]))
        try:
            step, size = downhill(H, g, free, 0.0)
        except np.linalg.LinAlgError:
            break
        unit = _unit(cost, now[0])
        if not size <= unit:
            break
        theta[free] += step
        if size <= _SETTLED * unit:
            break
        now = equations.by_chain(theta, measured)
    return Arrived(theta, converged)


def _unit(cost: float, f: Array) -> float:
    """The root mean square of closure errors f, weighted: a step in units of this is in standard deviations."""
    return float(max(np.sqrt(cost / f.size), 1e-300))


def _normal(equations: ByChain, f: Array, X: Array, W: Array | None) -> tuple[Array, Array, float]:
    """Jᵀ W J, Jᵀ W f and fᵀ W f, summed over all poses, from each chain's own derivatives X (N, n, k).

    W is (n, n, N), or None for the identity.
    """
    columns, p = equations.unknown_columns, equations.n_unknowns
    if W is not None:
        from gough.geometry.pose_sums import normal  # noqa: PLC0415 - numba

        H, g, cost = normal(X, f, W, columns, p)
        return H, g, cost
    H, g = np.zeros(p * p), np.zeros(p)
    x = np.ascontiguousarray(np.moveaxis(X, 0, 2))
    np.add.at(g, columns, (x @ f.T[..., None])[..., 0])
    np.add.at(H, p * columns[:, :, None] + columns[:, None], x @ np.swapaxes(x, 1, 2))
    return H.reshape(p, p), g, _squares(f, None)


def _squares(f: Array, W: Array | None) -> float:
    """The sum of fᵀ W f."""
    if W is None:
        return float(f.reshape(-1) @ f.reshape(-1))
    from gough.geometry.pose_sums import weighted_squares  # noqa: PLC0415 - numba

    return weighted_squares(f, W)


@one_blas_thread()
def approach_robustly(problem: NonlinearProblem, theta: Array, *, max_steps: int = 50) -> Arrived:
    """Near the solution of Huber's loss, whose scale is that of each chain's residuals: reweighted Gauss–Newton."""
    equations = cast(ByChain, problem.equations)
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
    return Arrived(theta, converged)


def _weights(problem: NonlinearProblem, J_m: Array) -> Array | None:
    """(J_m Σ J_mᵀ)⁻¹ of each pose (n, n, N); None where no noise is stated."""
    C = problem.noise.covariance
    if C is None:
        return None
    from gough.geometry.pose_sums import weights  # noqa: PLC0415 - numba

    return weights(J_m, C.reshape(-1, *C.shape[-2:]))
