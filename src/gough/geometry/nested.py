"""Nested alternatives to a calibrated model, tested by likelihood ratio at a family-wise level.

The model is taken as linear about the calibrated parameters: r = J δ + E φ + e, whitened pose by pose with the stated
noise or, where none is stated, with components of noise that the residuals show. Blocks of poses are reduced to
triangles, so that all tests of N poses cost one pass over them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry.mistake import Alternative, Fitted, Mistake
from gough.robots.kinematics import Columns, KinematicModel, PlatformPoses, all_derivatives, evaluate_chains

LEVEL = 0.001
"""Probability with which data without mistakes are accused of any."""
_SEGMENTS = 32
"""Blocks of poses, at whose ends a frame may have moved."""
_VISIBLE = 1e-3
"""Share of an alternative's columns that must be left after the parameters' own are taken out."""
_RANK = 1e-10
SPARE = 3
"""Degrees of freedom that an alternative must leave, where the noise is estimated."""
_SHOWN = 256
"""Poses from which components of noise are estimated."""
_MIXTURES = np.array([(a, b, c) for a in (0.03, 0.3, 1.0) for b in (0.03, 0.3, 1.0) for c in (0.03, 0.3, 1.0)])
_BLOCK = 4096


class Test(NamedTuple):
    """An alternative against the calibrated model."""

    mistake: Mistake
    alternative: Alternative | None
    """None for poses that are left out."""
    values: Array
    sigma: Array
    removes: float
    """Decrease of the whitened sum of squares."""
    dof: int
    """Parameters that it adds and the data determine."""
    trials: int
    """Forms of this mistake that were tried."""
    p: float
    """Probability of such a decrease without the mistake, corrected for all alternatives."""
    left: float
    """Whitened sum of squares with it."""
    first: int = 0
    """The pose from which on it counts."""
    poses: tuple[int, ...] = ()
    """Poses that are left out."""


def fitted_at(
    model: KinematicModel, poses: Poses, theta: Array, *, scale: float, fixed: tuple[str, ...]
) -> tuple[Fitted, Array, Array]:
    """The derivatives at calibrated parameters, the closure errors (N, chains) and the derivatives by each chain's own
    parameters (N, chains, k).
    """
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    seen = PlatformPoses(poses.position * scale, rotation)
    kernel = all_derivatives(model.chain_kernel("length"))
    values = evaluate_chains(kernel, model.columns, theta, seen, poses.readings)
    by_fixed = np.zeros((*poses.readings.shape, len(fixed)))
    for k, name in enumerate(fixed):
        chains, places = np.nonzero(model.columns == model.names.index(name))
        by_fixed[:, chains, k] = values["by_x"][:, chains, places]
    by_pose = values["by_pose"] * np.repeat([scale, 1.0], 3)
    return Fitted(model, poses, by_pose, values["by_reading"], fixed, by_fixed), values["residual"], values["by_x"]


def whiteners(
    fitted: Fitted, residuals: Array, own: Array, free: Integers, added: tuple[Array, ...] = ()
) -> tuple[Array, bool]:
    """Matrices (N, chains, chains) that make closure errors white, and whether the noise was stated.

    Args:
        fitted: The calibrated robot at its poses.
        residuals: (N, chains) closure errors.
        own: (N, chains, k) derivatives by each chain's parameters.
        free: Which parameters are estimated.
        added: Further columns (N, chains, k) that belong to the model.
    """
    poses = fitted.poses
    C, s = poses.covariance, poses.reading_sigma
    if C is None and s is None:
        return _estimated(fitted, residuals, own, free, added), False
    N, n = residuals.shape
    S = np.zeros((N, n, n))
    if C is not None:
        J = fitted.by_pose[..., : C.shape[-1]]
        S += J @ C @ np.swapaxes(J, 1, 2)
    if s is not None:
        S[:, range(n), range(n)] += (fitted.by_reading * s) ** 2
    return _roots(S), True


def _roots(S: Array) -> Array:
    """Inverse Cholesky factors of covariances (N, n, n)."""
    n = S.shape[1]
    S = S.copy()
    S[:, range(n), range(n)] *= 1 + 1e-9
    return np.asarray(np.linalg.inv(np.linalg.cholesky(S)))


def _estimated(fitted: Fitted, residuals: Array, own: Array, free: Integers, added: tuple[Array, ...]) -> Array:
    """By the mixture of errors of positions, orientations and readings that is likeliest (restricted likelihood)."""
    N, n = residuals.shape
    rows = np.unique(np.linspace(0, N - 1, min(N, _SHOWN)).astype(int))
    parts = [fitted.by_pose[..., :3]]
    if fitted.poses.rotation is not None and fitted.model.has_orientation:
        parts.append(fitted.by_pose[..., 3:])
    S = [J @ np.swapaxes(J, 1, 2) for J in parts]
    S.append(fitted.by_reading[..., None] ** 2 * np.eye(n))
    S = [each / np.mean(np.trace(each, axis1=1, axis2=2) / n) for each in S]
    mixtures = np.unique(_MIXTURES[:, : len(S)] / _MIXTURES[:, : len(S)].sum(axis=1, keepdims=True), axis=0)
    J = dense(own[rows], fitted.model.columns, len(fitted.model.names))[..., free]
    J = np.concatenate([J, *(each[rows] for each in added)], axis=2)
    size = np.sqrt((J**2).sum(axis=(0, 1))) + 1e-300
    spare = len(rows) * n - J.shape[2]
    if spare < 2 * n:
        mixtures = np.full((1, len(S)), 1 / len(S))
    best, chosen = -np.inf, mixtures[0]
    for weights in mixtures:
        root = _roots(sum(w * each[rows] for w, each in zip(weights, S, strict=True)))
        W, y = (root @ (J / size)).reshape(-1, J.shape[2]), (root @ residuals[rows, :, None]).reshape(-1)
        U, s, _ = np.linalg.svd(W, full_matrices=False)
        seen = s > _RANK * s.max(initial=0.0)
        left = float(y @ y - ((U[:, seen].T @ y) ** 2).sum())
        value = (
            float(np.log(np.diagonal(root, axis1=1, axis2=2)).sum())
            - 0.5 * spare * np.log(max(left, 1e-300))
            - float(np.log(s[seen]).sum())
        )
        if value > best:
            best, chosen = value, weights
    return _roots(sum(w * each for w, each in zip(chosen, S, strict=True)))


def dense(own: Array, columns: Columns, p: int) -> Array:
    """(N, chains, p): each chain's derivatives at the places of its parameters."""
    J = np.zeros((*own.shape[:2], p))
    for chain, places in enumerate(columns):
        J[:, chain, places] = own[:, chain]
    return J


@dataclass(frozen=True, eq=False)
class NestedTests:
    """All poses of a calibration, whitened, with the columns of all alternatives."""

    fitted: Fitted
    residuals: Array
    """(N, chains) closure errors, m."""
    own: Array
    """(N, chains, k) derivatives by each chain's parameters."""
    free: Integers
    """Which parameters are estimated."""
    whitener: Array
    is_stated: bool
    kept: Integers
    """Poses that are tested; the others were left out before."""
    added: tuple[Array, ...] = ()
    """Columns (N, chains, k) that belong to the model already: of mistakes that were found."""

    @cached_property
    def common(self) -> Array:
        """(N, chains, k): closure errors by errors that the poses share, each of standard deviation 1."""
        shared = self.fitted.poses.common
        if shared is None:
            return np.zeros((*self.residuals.shape, 0))
        return np.asarray(self.fitted.by_pose[..., : shared.shape[1]] @ shared)

    @property
    def n(self) -> int:
        """Number of chains."""
        return self.residuals.shape[1]

    def _white(self, values: Array, rows: Integers) -> Array:
        return np.asarray(self.whitener[rows] @ values)

    def jacobian(self, rows: Integers) -> Array:
        """(rows, chains, p) whitened derivatives by all that the model estimates."""
        J = dense(self.own[rows], self.fitted.model.columns, len(self.fitted.model.names))[..., self.free]
        return self._white(np.concatenate([J, self.common[rows], *(each[rows] for each in self.added)], axis=2), rows)

    def _prior(self, columns: int) -> Array:
        """Rows (k, columns) that state the common errors: zero, with standard deviation 1."""
        k, first = self.common.shape[2], len(self.free)
        rows = np.zeros((k, columns))
        rows[range(k), range(first, first + k)] = 1.0
        return rows

    @cached_property
    def segments(self) -> list[Integers]:
        """Poses in blocks of about equal size."""
        return [each for each in np.array_split(self.kept, min(_SEGMENTS, len(self.kept))) if len(each)]

    @one_blas_thread()
    def _triangles(self, columns: list[Array]) -> list[Array]:
        """Of each segment, rows whose products are those of [J, columns, r]."""
        result = []
        for segment in self.segments:
            R: Array | None = None
            for rows in np.array_split(segment, -(-len(segment) // _BLOCK)):
                parts = [self.jacobian(rows), *(self._white(each[rows], rows) for each in columns)]
                parts.append(self._white(self.residuals[rows, :, None], rows))
                A = np.concatenate(parts, axis=2)
                A = A.reshape(-1, A.shape[2])
                A = A if R is None else np.vstack([R, A])
                R = np.asarray(np.linalg.qr(A, mode="r")) if len(A) > A.shape[1] else A
            assert R is not None
            result.append(R)
        return result

    @property
    def rows(self) -> int:
        """Number of equations."""
        return len(self.kept) * self.n + self.common.shape[2]

    @one_blas_thread()
    def tests(self, mistakes: Iterable[Mistake]) -> list[Test]:
        """Every alternative of these mistakes, with p corrected for the alternatives of its own mistake alone."""
        alternatives = [(mistake, each) for mistake in mistakes for each in mistake.columns(self.fitted)]
        if not alternatives:
            return []
        triangles = self._triangles([each.columns for _, each in alternatives])
        ends = np.cumsum([len(each) for each in triangles])
        A = np.vstack([*triangles, self._prior(triangles[0].shape[1])])
        p = self.jacobian(self.kept[:1]).shape[2]
        basis = _basis(A[:, :p])
        r = A[:, -1] - basis @ (basis.T @ A[:, -1])
        before, spare = float(r @ r), self.rows - basis.shape[1]
        places = p + np.cumsum([0, *(each.columns.shape[2] for _, each in alternatives)])
        result = []
        for (mistake, each), start, stop in zip(alternatives, places[:-1], places[1:], strict=True):
            E = A[:, start:stop]
            trials = sum(2 * len(ends) - 2 if a.from_pose else 1 for m, a in alternatives if m is mistake)
            if not each.from_pose:
                found = _one(E, basis, r)
                if found is not None:
                    result.append(self._test(mistake, each, *found, before, spare, trials, 0))
                continue
            for end, segment in zip(ends[:-1], self.segments[1:], strict=True):
                later = E.copy()
                later[:end] = 0.0
                found = _one(later, basis, r)
                if found is not None:
                    result.append(self._test(mistake, each, *found, before, spare, trials, int(segment[0])))
        return result

    def _test(  # noqa: PLR0917 - one test
        self,
        mistake: Mistake,
        alternative: Alternative,
        values: Array,
        deviations: Array,
        removes: float,
        k: int,
        before: float,
        spare: int,
        trials: int,
        first: int,
    ) -> Test:
        left = max(before - removes, 0.0)
        p = self.chance(removes, k, left, spare - k)
        unit = max(left / max(spare - k, 1), 1.0 if self.is_stated else 0.0)
        sigma = np.sqrt(unit) * deviations
        return Test(mistake, alternative, values, sigma, removes, k, trials, min(1.0, trials * p), left, first)

    def chance(self, removes: float, k: int, left: float, spare: int) -> float:
        """Probability that k parameters remove so much by chance.

        By the stated noise, if it explains what is left; else by the size of what is left.
        """
        from scipy.special import chdtrc, fdtrc  # noqa: PLC0415 - start-up time

        if self.is_stated and (spare <= 0 or chdtrc(spare, left) > LEVEL):
            return float(chdtrc(k, removes))
        if spare < SPARE:
            return 1.0
        return float(fdtrc(k, spare, (removes / k) / max(left / spare, 1e-300)))

    @cached_property
    def _solved(self) -> tuple[Array, Array, float, int]:
        """K with K Kᵀ = (JᵀJ)⁻¹, the shift of the parameters, the sum of squares and its degrees of freedom."""
        triangles = self._triangles([])
        A = np.vstack([*triangles, self._prior(triangles[0].shape[1])])
        p = A.shape[1] - 1
        size = np.linalg.norm(A[:, :p], axis=0)
        size = np.where(size > 0, size, 1.0)
        U, s, Vt = np.linalg.svd(A[:, :p] / size, full_matrices=False)
        seen = s > _RANK * s.max(initial=0.0)
        K = (Vt[seen].T / s[seen]) / size[:, None]
        delta = K @ (U[:, seen].T @ A[:, -1])
        left = A[:, -1] - A[:, :p] @ delta
        return K, delta, float(left @ left), self.rows - int(seen.sum())

    @one_blas_thread()
    def deleted(self) -> tuple[Array, Array]:
        """By how much the sum of squares decreases without each pose, and the equations that it loses then: (kept,).

        rᵀ (I − H)⁻¹ r of the pose, with its part H of the hat matrix: exact for a linear model.
        """
        K, delta, _, _ = self._solved
        removes, dof = np.zeros(len(self.kept)), np.zeros(len(self.kept))
        for part in np.array_split(np.arange(len(self.kept)), -(-len(self.kept) // _BLOCK)):
            rows = self.kept[part]
            J = self.jacobian(rows)
            r = self._white(self.residuals[rows, :, None], rows)[..., 0] - J @ delta
            V = J @ K
            w, Q = np.linalg.eigh(np.eye(self.n) - V @ np.swapaxes(V, 1, 2))
            z = np.einsum("nij,ni->nj", Q, r)
            seen = w > 1e-6
            removes[part] = np.where(seen, z**2 / np.where(seen, w, 1.0), 0.0).sum(axis=1)
            dof[part] = seen.sum(axis=1)
        return removes, dof

    def shift(self) -> Array:
        """What must be subtracted from the free parameters for the least squares of the poses that are kept."""
        return self._solved[1][: len(self.free)]

    @property
    def squares(self) -> tuple[float, int]:
        """The whitened sum of squares, and its degrees of freedom."""
        return self._solved[2:]


def _basis(A: Array) -> Array:
    size = np.linalg.norm(A, axis=0)
    U, s, _ = np.linalg.svd(A / np.where(size > 0, size, 1.0), full_matrices=False)
    return np.asarray(U[:, s > _RANK * s.max(initial=0.0)])


def _one(E: Array, basis: Array, r: Array) -> tuple[Array, Array, float, int] | None:
    """Values, their deviations at unit noise, decrease of the squares and rank; None where the model absorbs all."""
    size = np.linalg.norm(E, axis=0)
    size = np.where(size > 0, size, 1.0)
    U, s, Vt = np.linalg.svd((E - basis @ (basis.T @ E)) / size, full_matrices=False)
    seen = s > _VISIBLE
    if not seen.any():
        return None
    U, s, Vt = U[:, seen], s[seen], Vt[seen]
    z = U.T @ r
    values = -Vt.T @ (z / s) / size
    return values, np.sqrt(((Vt.T / s) ** 2).sum(axis=1)) / size, float(z @ z), len(s)
