"""Positions and efforts as functions of a robot's parameters and of the Fourier coefficients of its path."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import InputError
from gough.dynamics.periodic.path_model import PathModel
from gough.methods.nonlinear.harmonics import Harmonics, Path
from gough.methods.nonlinear.normal_equations import Normal


@dataclass(frozen=True, eq=False)
class Along:
    """A robot along a path."""

    path: Path
    q: Array
    W: Array
    _columns: list[tuple[Array, "WhitenedColumns"]] = field(default_factory=list, init=False, repr=False)

    def columns(self, chosen: Integers, roots: Array) -> "WhitenedColumns":
        """These columns of W, whitened: kept for the next call with these roots."""
        if not self._columns or self._columns[0][0] is not roots:
            from gough.dynamics.periodic import path_sums  # noqa: PLC0415 - numba

            alone = path_sums.apart(_each(roots), self.q.shape[1])
            A = path_sums.whitened_columns(self.W, chosen, _each(roots), alone)
            flat = A.reshape(len(A), -1)
            self._columns[:] = [(roots, WhitenedColumns(A, flat @ flat.T, alone))]
        return self._columns[0][1]


class WhitenedColumns(NamedTuple):
    """Columns of a regressor multiplied by the roots."""

    A: Array
    """(k, rows, N), without the rows that are `alone`, in which they vanish."""
    information: Array
    """AᵀA (k, k)."""
    alone: int
    """The number of positions, where roots leave them apart from efforts, else 0."""

    def pull(self, u: Array) -> Array:
        """Aᵀu (k,) for whitened residuals (c, N)."""
        return np.asarray(self.A.reshape(len(self.A), -1) @ u[self.alone :].ravel())


@dataclass(frozen=True, eq=False)
class PathEquations:
    """m = h(p, c) = (q(x), W(x, ẋ, ẍ) p) along the path x(t) with coefficients c [AHG, eqs. (1), (2), (13)].

    θ = (p, c): parameters first, then for each coordinate of the path its mean, cosines and sines. Measured are n
    positions and n efforts. Derivatives are exact; the normal equations come from sums over samples that never form the
    Jacobian (see `Harmonics`).
    """

    model: PathModel
    harmonics: Harmonics
    columns: Integers
    """Columns of the robot's regressor whose parameters are unknown."""
    known: Array
    """(all parameters,) values of the others; zero for the unknown ones."""
    _last: dict[bytes, Along | None] = field(default_factory=dict, init=False, repr=False)
    """The path of the last normal equations: those in the parameters alone and those in all follow each other on it."""

    @property
    def n_linear(self) -> int:
        """The parameters enter linearly."""
        return len(self.columns)

    def coefficients(self, theta: Array) -> Array:
        """(m, size) of the path."""
        return theta[self.n_linear :].reshape(-1, self.harmonics.size)

    def parameters(self, theta: Array) -> Array:
        """All parameters of the robot's regressor."""
        p = self.known.copy()
        p[self.columns] = theta[: self.n_linear]
        return p

    def along(self, theta: Array) -> Along | None:
        """The robot along the path of θ; None where it cannot be."""
        path = self.harmonics.path(self.coefficients(theta))
        try:
            q = self.model.positions(path.x)
        except InputError:
            return None
        W = self.model.regressors(path)
        return Along(path, q, W) if np.isfinite(W).all() and np.isfinite(q).all() else None

    def _along_again(self, theta: Array) -> Along | None:
        """As `along`; where the path is that of the last call, so is the answer."""
        key = self.coefficients(theta).tobytes()
        if key not in self._last:
            at = self.along(theta)
            self._last.clear()
            self._last[key] = at
        return self._last[key]

    def residuals(self, theta: Array, measured: Array) -> Array:
        """What was measured minus what θ predicts (N, positions + efforts); NaN where the robot cannot be there."""
        at = self.along(theta)
        return np.full(measured.shape, np.nan) if at is None else self._residuals(at, theta, measured)

    def _residuals(self, at: Along, theta: Array, measured: Array) -> Array:
        from gough.dynamics.periodic import path_sums  # noqa: PLC0415 - numba

        return path_sums.residuals(measured, at.q, at.W, self.parameters(theta), self._turns)

    @cached_property
    def _turns(self) -> Mask:
        """Whether a position is an angle: encoders may count turns that inverse kinematics does not."""
        return np.array([unit == "rad" for unit in self.model.robot.coordinate_units])

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """∂f/∂θ and ∂f/∂m, dense: for methods that do not use the structure."""
        at = self.along(theta)
        n_samples, c = measured.shape
        J = np.full((n_samples, c, len(theta)), np.nan)
        if at is not None:
            n, k = at.q.shape[1], self.n_linear
            J[:, :n, :k] = 0.0
            J[:, n:, :k] = -at.W[:, :, self.columns]
            J[:, :, k:] = -self.harmonics.chain(self.by_path(at, theta)).reshape(n_samples, c, -1)
        return J, np.broadcast_to(np.eye(c), (n_samples, c, c))

    def by_path(self, at: Along, theta: Array) -> Array:
        """∂h/∂(x, ẋ, ẍ) (N, positions + efforts, 3, m)."""
        positions = self.model.positions_by_path(at.path.x)
        efforts = self.model.efforts_by_path(at.path, self.parameters(theta))
        first = np.zeros((*positions.shape[:2], 3, positions.shape[2]))
        first[:, :, 0] = positions
        return np.concatenate([first, efforts], axis=1)

    def linear_normal(self, theta: Array, measured: Array, roots: Array) -> Normal:
        """The normal equations in the parameters alone."""
        at = self._along_again(theta)
        k = self.n_linear
        if at is None:
            return Normal(np.inf, np.zeros(k), np.eye(k))
        u, columns = self._whitened(at, theta, measured, roots), at.columns(self.columns, roots)
        return Normal(_squares(u), columns.pull(u), columns.information)

    def _whitened(self, at: Along, theta: Array, measured: Array, roots: Array) -> Array:
        """Residuals (c, N), multiplied by the roots."""
        from gough.dynamics.periodic import path_sums  # noqa: PLC0415 - numba

        return path_sums.whitened(self._residuals(at, theta, measured), _each(roots))

    def whitened_residuals(self, theta: Array, measured: Array, roots: Array) -> tuple[Array, Array]:
        """Residuals (N, positions + efforts), plain and multiplied by the roots."""
        from gough.dynamics.periodic import path_sums  # noqa: PLC0415 - numba

        at = self._along_again(theta)
        f = np.full(measured.shape, np.nan) if at is None else self._residuals(at, theta, measured)
        return f, path_sums.whitened(f, _each(roots)).T

    def gradient(self, theta: Array, measured: Array, roots: Array) -> tuple[float, Array]:
        """Sum of squares and its gradient Jᵀu, by one reverse sweep instead of one for each actuator."""
        from gough.dynamics.periodic import path_sums  # noqa: PLC0415 - numba

        at = self._along_again(theta)
        if at is None:
            return np.inf, np.zeros(len(theta))
        u = self._whitened(at, theta, measured, roots)
        pull = path_sums.pulled_back(u, _each(roots), at.q.shape[1])
        by_path = self.harmonics.summed(self.model.pulled(at.path, self.parameters(theta), *pull))
        by_parameters = at.W.reshape(-1, at.W.shape[2]).T @ pull[1].ravel()
        return _squares(u), np.concatenate([by_parameters[self.columns], by_path.T.ravel()])

    def normal(self, theta: Array, measured: Array, roots: Array) -> Normal:
        """The normal equations in parameters and path together."""
        from gough.dynamics.periodic import path_sums  # noqa: PLC0415 - numba

        at = self._along_again(theta)
        t, k = len(theta), self.n_linear
        if at is None:
            return Normal(np.inf, np.zeros(t), np.eye(t))
        u, columns = self._whitened(at, theta, measured, roots), at.columns(self.columns, roots)
        slopes = self.model.positions_by_path(at.path.x), self.model.efforts_by_path(at.path, self.parameters(theta))
        squares, mixed = path_sums.path_products(*slopes, columns.A, u, _each(roots), columns.alone)
        cross = self.harmonics.summed(np.swapaxes(mixed, 1, 2)).T.reshape(k + 1, -1)
        H = np.empty((t, t))
        H[:k, :k], H[:k, k:], H[k:, :k] = columns.information, cross[:k], cross[:k].T
        H[k:, k:] = self.harmonics.products(squares)
        return Normal(_squares(u), np.concatenate([columns.pull(u), cross[k]]), H)


def _squares(u: Array) -> float:
    return float(np.vdot(u, u))


def _each(roots: Array) -> Array:
    """Roots with an axis of samples, of length 1 where all share them."""
    return roots if roots.ndim == 3 else roots[None]
