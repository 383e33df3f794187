"""Total least squares: errors in W as well as in y, independent from row to row."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.least_squares import group_sigma
from gough.methods.statistical.whitening import ByRow
from gough.problem import LinearProblem


@dataclass(frozen=True, eq=False)
class TotalLeastSquares:
    """θ̂ minimizes Σ r_k² / (vᵀ C v), v = (−θ, 1): distances of the rows [W y] from a plane, in the metric C⁻¹ [VHV91].

    C is the covariance of the errors of one row [W y], up to a factor; columns that are exact have zeros. Each group
    may have its own. The size of the errors is taken from the residuals. Rows are taken to err independently, which a
    regressor from filtered positions does not, and all rows of a group alike, which it does not either: use it for
    comparisons, and `MaximumLikelihood` otherwise.

    Examples:
        >>> import gough
        >>> rng = np.random.default_rng(1)
        >>> x = rng.normal(size=5000)
        >>> W, y = (x + 0.5 * rng.normal(size=5000))[:, None], 3 * x + 0.5 * rng.normal(size=5000)
        >>> problem = gough.LinearProblem(W, y, gough.Unknowns(["a"]))
        >>> from gough.methods import LeastSquares
        >>> methods = (LeastSquares(), TotalLeastSquares(np.eye(2)))
        >>> [round(gough.estimate(problem, method)["a"], 1) for method in methods]
        [2.4, 3.1]
    """

    covariance: Any = None
    """(p+1, p+1), or (groups, p+1, p+1); None takes W as exact, which makes it weighted least squares."""
    level: float = 0.95
    rtol: float = 1e-8
    """Step, in units of σ, below which θ stays."""
    max_steps: int = 100
    rank_tolerance: float | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TotalLeastSquares):
            return NotImplemented
        options = (self.level, self.rtol, self.max_steps, self.rank_tolerance)
        others = (other.level, other.rtol, other.max_steps, other.rank_tolerance)
        return options == others and np.array_equal(np.asarray(self.covariance), np.asarray(other.covariance))

    __hash__ = None  # type: ignore[assignment]

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self, problem: LinearProblem) -> Estimate:
        C = self._covariances(problem)
        group = problem.groups.of_row(problem.n_rows)
        own = np.ones(len(problem.groups)) if self.covariance is None else None
        solution = linear.solve(problem, ByRow(np.ones(problem.n_rows)), rtol=self.rank_tolerance)
        theta, status, steps = solution.theta, Status.MAX_STEPS, 0
        while status is Status.MAX_STEPS and steps < self.max_steps:
            steps += 1
            if own is not None:
                last, own = own, group_sigma(problem, solution)
                C[:, -1, -1] = own**2
            adjusted, sigma = _adjusted(problem, C, group, theta)
            # a Gauss–Newton step of r/σ(θ): its derivative is −ŵ/σ
            y = adjusted @ theta + problem.residuals(theta)
            whiten = ByRow(sigma)
            solution = linear.solve(replace(problem, W=adjusted, y=y), whiten, rtol=self.rank_tolerance)
            last_theta, theta = theta, _moved(problem, C, group, theta, solution)
            kept = solution.columns
            near = self.rtol * np.linalg.norm(solution.inverse_root, axis=1) + 1e-15 * abs(theta[kept])
            still = bool((abs(theta - last_theta)[kept] <= near).all())
            if still and (own is None or (abs(own - last) <= 1e-6 * last).all()):
                status = Status.OK
        solution = replace(solution, theta=theta)
        shrunk = _shrunk(problem, C, group, solution)
        if shrunk is not None:
            solution = replace(solution, inverse_root=solution.inverse_root @ shrunk.T)
        stats = {"iterations": steps}
        return linear.answer(
            problem, whiten, solution, self, level=self.level, status=status, stats=stats, directions=adjusted
        )

    def _covariances(self, problem: LinearProblem) -> Array:
        n, k = len(problem.groups), len(problem.unknowns) + 1
        if self.covariance is None:
            return np.zeros((n, k, k))
        C = array(self.covariance, "the covariance of [W y]", ndim=(2, 3))
        require(
            C.shape in {(k, k), (n, k, k)},
            f"the covariance of [W y] must be {(k, k)}, or {(n, k, k)} by group, but its shape is {C.shape}",
        )
        C = np.array(np.broadcast_to(C, (n, k, k)))
        for name, own in zip(problem.groups.names, C, strict=True):
            diagonal = own.diagonal()
            scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
            least = np.linalg.eigvalsh(own / np.outer(scale, scale))[0]
            if not (np.isfinite(own).all() and diagonal[-1] > 0 and least >= -1e-9):
                raise InputError(
                    f"the covariance of [W y] of '{name}' must be positive semidefinite with a positive variance of y, "
                    f"but an eigenvalue of its correlation is {least:.2g} and that variance {diagonal[-1]:.2g}"
                )
        return C


def _adjusted(problem: LinearProblem, C: Array, group: Any, theta: Array) -> tuple[Array, Array]:
    """W corrected for the errors that the residuals indicate, uncorrelated with them; and σ of each residual.

    Cov(w, r) = C v without its last entry, Var r = vᵀ C v: ŵ = w − r Cov(w, r)/Var r. At the minimum Σ ŵ r/Var r = 0,
    so ŵ is an instrument for w, and errors are carried to θ̂ as they are there.
    """
    v = np.append(-theta, 1.0)
    cv = C @ v
    variance = cv @ v
    r = problem.residuals(theta)
    adjusted = problem.W - (r / variance[group])[:, None] * cv[group, :-1]
    return adjusted, np.sqrt(variance[group])


def _moved(problem: LinearProblem, C: Array, group: Any, theta: Array, solution: linear.Solution) -> Array:
    """The next θ: Newton's step where it helps, else Gauss–Newton's; shortened until distances do not grow."""
    step, kept = solution.theta - theta, solution.columns
    T = solution.inverse_root
    steps = [step]
    shrunk = _shrunk(problem, C, group, solution)
    if shrunk is not None and not solution.prior_limited:
        longer = step.copy()
        longer[kept] = T @ shrunk.T @ shrunk @ np.linalg.solve(T, step[kept])
        steps = [longer, step]
    now = _distance(problem, C, group, theta)
    for tried in (*steps, step / 2, step / 8, step / 64):
        if _distance(problem, C, group, theta + tried) <= now * (1 + 1e-12):
            return theta + tried
    return theta + step


def _distance(problem: LinearProblem, C: Array, group: Any, theta: Array) -> float:
    """Sum of squared distances of the rows from the plane of θ."""
    v = np.append(-theta, 1.0)
    return float((problem.residuals(theta) ** 2 / (C @ v @ v)[group]).sum())


def _shrunk(problem: LinearProblem, C: Array, group: Any, solution: linear.Solution) -> Array | None:
    """S, where T SᵀS Tᵀ is the inverse information of exact rows, and T Tᵀ that of the adjusted ones.

    Adjusted rows keep errors of Cov w − Cov(w, r)²/Var r, which are not information. None where they are all there is.
    """
    v = np.append(-solution.theta, 1.0)
    cv = C @ v
    variance = cv @ v
    scale = float(np.mean(problem.residuals(solution.theta) ** 2 / variance[group]))
    count = np.bincount(group, minlength=len(C))
    excess = C[:, :-1, :-1] - cv[:, :-1, None] * cv[:, None, :-1] / variance[:, None, None]
    kept, T = solution.columns, solution.inverse_root
    surplus = scale * np.einsum("g,gij->ij", count / variance, excess)[np.ix_(kept, kept)]
    try:
        # T⁻ᵀ (I − Tᵀ surplus T) T⁻¹ is the information of exact rows
        return np.asarray(np.linalg.inv(np.linalg.cholesky(np.eye(len(kept)) - T.T @ surplus @ T)))
    except np.linalg.LinAlgError:
        return None
