"""Instrumental variables: least squares that noise in the regressor does not bias."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.estimates import Estimate, Status
from gough.methods.statistical import linear
from gough.methods.statistical.least_squares import group_sigma
from gough.methods.statistical.whitening import ByGroup, Unweighted, Whitening
from gough.problem import LinearProblem

Instruments = Callable[[LinearProblem, Array], Any]
"""Z (N, p or more) for a problem and the present θ, as a model of the robot simulates it."""


def own_regressor(problem: LinearProblem, theta: Array) -> Array:
    """W itself: instruments that change nothing, for comparison.

    Examples:
        >>> from gough import Unknowns
        >>> own_regressor(LinearProblem([[2.0]], [1.0], Unknowns(["a"])), np.zeros(1))
        array([[2.]])
    """
    del theta
    return problem.W


@dataclass(frozen=True, eq=False)
class InstrumentalVariables:
    """θ̂ solves Zᵀ(y − W θ) = 0: instruments Z resemble W but do not share its noise [JVG14].

    W from measured and differentiated positions errs together with itself, which pulls least squares towards zero.
    Instruments free of that noise do not: the regressor of another repeat of the motion, of the reference, or of a
    simulation with the present parameters (a function of θ, then the estimate is repeated until θ stays). Groups are
    weighted as in `WeightedLeastSquares`. With more instruments than unknowns it is two-stage least squares.

    Examples:
        >>> import gough
        >>> rng = np.random.default_rng(1)
        >>> x = rng.normal(size=2000)
        >>> W, Z = (x + 0.5 * rng.normal(size=2000))[:, None], (x + 0.5 * rng.normal(size=2000))[:, None]
        >>> problem = gough.LinearProblem(W, 3 * x, gough.Unknowns(["a"]))
        >>> from gough.methods import LeastSquares
        >>> methods = (LeastSquares(), InstrumentalVariables(Z))
        >>> [round(gough.estimate(problem, method)["a"], 1) for method in methods]
        [2.4, 3.0]
    """

    instruments: Instruments | Array = own_regressor
    """Z (N, p or more), or a function of problem and θ that returns it."""
    level: float = 0.95
    rtol: float = 1e-6
    """Step, in units of σ, below which θ stays; relative change of the weights likewise."""
    max_steps: int = 50
    rank_tolerance: float | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InstrumentalVariables):
            return NotImplemented
        same = self.instruments is other.instruments or np.array_equal(self._given(), other._given())
        return same and (self.level, self.rtol, self.max_steps, self.rank_tolerance) == (
            other.level, other.rtol, other.max_steps, other.rank_tolerance,
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def _given(self) -> Any:
        return None if callable(self.instruments) else self.instruments

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self, problem: LinearProblem) -> Estimate:
        whiten: Whitening = Unweighted()
        theta = linear.solve(problem, whiten, rtol=self.rank_tolerance).theta
        sigma = np.ones(len(problem.groups))
        status, steps = Status.MAX_STEPS, 0
        # residuals below it are rounding and no noise, steps that change the rows by less than it are none
        rounding = 64 * np.finfo(float).eps * float(abs(problem.y).max())
        size = np.max([abs(problem.W[rows]).max(axis=0) for rows in problem.blocks()], axis=0)
        while status is Status.MAX_STEPS and steps < self.max_steps:
            steps += 1
            projected = replace(problem, W=_projected(problem, whiten, self._instruments(problem, theta)))
            solution = linear.solve(projected, whiten, rtol=self.rank_tolerance)
            last, sigma = sigma, group_sigma(problem, solution)
            step, theta = solution.theta - theta, solution.theta
            spread = np.linalg.norm(solution.inverse_root, axis=1)
            small = abs(step) * size <= rounding
            small[solution.columns] |= abs(step[solution.columns]) <= self.rtol * spread
            still = small[solution.columns].all() or not callable(self.instruments)
            if steps > 1 and still and (abs(sigma - last) <= self.rtol * last + rounding).all():
                status = Status.OK
            else:
                whiten = ByGroup(sigma, problem.groups)
        stats = {"iterations": steps}
        return linear.answer(
            problem, whiten, solution, self, level=self.level, status=status, stats=stats, directions=projected.W
        )

    def _instruments(self, problem: LinearProblem, theta: Array) -> Array:
        Z = self.instruments(problem, theta) if callable(self.instruments) else self.instruments
        Z = array(Z, "the instruments", ndim=2, copy=False)
        require(
            len(Z) == problem.n_rows,
            f"instruments need a row for each of the problem's {problem.n_rows} rows, but have {len(Z)}",
        )
        bad = ~np.isfinite(Z)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise InputError(f"the instruments are {Z[row, column]} in row {row}, column {column}")
        return Z


def _projected(problem: LinearProblem, whiten: Whitening, Z: Array) -> Array:
    """The part of W that instruments explain: Z (ZᵀΣ⁻¹Z)⁻¹ ZᵀΣ⁻¹ W, by which two-stage least squares replaces W."""
    every = slice(0, problem.n_rows)
    scale = np.linalg.norm(Z, axis=0)
    used = scale > 0
    A = whiten(every, Z[:, used] / scale[used])
    B = np.linalg.lstsq(A, whiten(every, problem.W), rcond=None)[0]
    return np.asarray((Z[:, used] / scale[used]) @ B)
