"""Positions and efforts as functions of a robot's parameters and of the Fourier coefficients of its path."""

from dataclasses import dataclass, field

import numpy as np

from gough.core.arrays import Array, Integers
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
    _whitened: list[tuple[Array, Array, Array]] = field(default_factory=list, init=False, repr=False)

    def whitened(self, columns: Integers, roots: Array) -> tuple[Array, Array]:
        """These columns of W multiplied by the roots, A (rows, k), and AᵀA: kept for the next call with these roots."""
        if not self._whitened or self._whitened[0][0] is not roots:
            A = roots[..., self.q.shape[1] :] @ self.W[:, :, columns]
            A = A.reshape(-1, len(columns))
            self._whitened[:] = [(roots, A, A.T @ A)]
        return self._whitened[0][1:]


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
        away = measured - np.concatenate([at.q, at.W @ self.parameters(theta)], axis=1)
        for i, unit in enumerate(self.model.robot.coordinate_units):
            if unit == "rad":  # encoders may count turns that inverse kinematics does not
                away[:, i] = (away[:, i] + np.pi) % (2 * np.pi) - np.pi
        return away

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
        u = self._whitened(at, theta, measured, roots)
        A, information = at.whitened(self.columns, roots)
        return Normal(float(u @ u), A.T @ u, information)

    def _whitened(self, at: Along, theta: Array, measured: Array, roots: Array) -> Array:
        """Residuals (rows,), multiplied by the roots."""
        return (roots @ self._residuals(at, theta, measured)[..., None]).reshape(-1)

    def whitened_residuals(self, theta: Array, measured: Array, roots: Array) -> tuple[Array, Array]:
        """Residuals (N, positions + efforts), plain and multiplied by the roots."""
        at = self._along_again(theta)
        f = np.full(measured.shape, np.nan) if at is None else self._residuals(at, theta, measured)
        return f, (roots @ f[..., None])[..., 0]

    def gradient(self, theta: Array, measured: Array, roots: Array) -> tuple[float, Array]:
        """Sum of squares and its gradient Jᵀu, by one reverse sweep instead of one for each actuator."""
        at = self._along_again(theta)
        if at is None:
            return np.inf, np.zeros(len(theta))
        u = self._whitened(at, theta, measured, roots)
        A, _ = at.whitened(self.columns, roots)
        pull = (np.swapaxes(roots, -1, -2) @ u.reshape(*measured.shape, 1))[..., 0]
        n = at.q.shape[1]
        sums = self.model.pulled(at.path, self.parameters(theta), pull[:, n:])
        sums[:, 0] += self.model.pulled_positions(at.path.x, pull[:, :n])
        return float(u @ u), np.concatenate([A.T @ u, self.harmonics.summed(sums).T.reshape(-1)])

    def normal(self, theta: Array, measured: Array, roots: Array) -> Normal:
        """The normal equations in parameters and path together."""
        at = self._along_again(theta)
        t, k = len(theta), self.n_linear
        if at is None:
            return Normal(np.inf, np.zeros(t), np.eye(t))
        n_samples, c = measured.shape
        u = self._whitened(at, theta, measured, roots)
        A, information = at.whitened(self.columns, roots)
        K = roots @ self.by_path(at, theta).reshape(n_samples, c, -1)
        m = K.shape[2] // 3
        turned = np.swapaxes(K, 1, 2)
        sums = turned @ np.concatenate([A.reshape(n_samples, c, k), u.reshape(n_samples, c, 1)], axis=2)
        cross = self.harmonics.summed(sums.reshape(n_samples, 3, -1)).reshape(-1, m, k + 1).T.reshape(k + 1, -1)
        H = np.empty((t, t))
        H[:k, :k], H[:k, k:], H[k:, :k] = information, cross[:k], cross[:k].T
        H[k:, k:] = self.harmonics.products((turned @ K).reshape(n_samples, 3, m, 3, m))
        return Normal(float(u @ u), np.concatenate([A.T @ u, cross[k]]), H)
