"""Nested alternatives to a calibrated model, tested by likelihood ratio at a family-wise level.

The model is taken as linear about the calibrated parameters: r = J δ + E φ + e, whitened pose by pose with the stated
noise or, where none is stated, with components of noise that the residuals show. One orthonormal basis of the model's
columns serves all tests; blocks of many poses are reduced to triangles first, so that N poses cost one pass over them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry.mistake import Alternative, Fitted, Mistake
from gough.robots.kinematics import Columns, KinematicModel, all_derivatives

if TYPE_CHECKING:
    from gough.robots.compiled_chains import Chains

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
"""Poses whose whitened rows are kept; more are reduced to triangles."""
_REGULAR = 1e-6
"""Smallest eigenvalue of what poses leave of the information, from which on they are taken out of a solution; and of
the squares. Below, the rest is solved anew."""
_WELL = 1e-7
"""Smallest eigenvalue of a Gram matrix of unit diagonal that determines an orthonormal basis well enough."""


class Solved(NamedTuple):
    """The least squares of a linear model about the calibrated parameters."""

    root: Array
    """K with K Kᵀ = (JᵀJ)⁻¹: J K has orthonormal columns."""
    shift: Array
    """What must be subtracted from the parameters."""
    squares: float
    """The whitened sum of squares."""
    spare: int
    """Its degrees of freedom."""


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

    def columns(self, n_poses: int) -> Array:
        """(N, chains, k): the alternative's columns at the poses where it counts."""
        assert self.alternative is not None
        if not self.alternative.from_pose:
            return self.alternative.columns
        return np.asarray(self.alternative.columns * (np.arange(n_poses) >= self.first)[:, None, None])


def chains_of(model: KinematicModel, poses: Poses, theta: Array, *, scale: float) -> "Chains":
    """Closure errors of measured poses as lengths, and their derivatives; `scale` is a factor of positions."""
    from gough.robots.compiled_chains import chains_at  # noqa: PLC0415 - numba

    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    kernel = all_derivatives(model.chain_kernel("length"))
    return chains_at(kernel, model.columns, theta, poses.position * scale, rotation, poses.readings)


def fitted_at(
    model: KinematicModel, poses: Poses, theta: Array, *, scale: float, fixed: tuple[str, ...]
) -> tuple[Fitted, Array, Array]:
    """The derivatives at calibrated parameters, the closure errors (N, chains) and the derivatives by each chain's own
    parameters (N, chains, k).
    """
    return fitted_by(model, poses, chains_of(model, poses, theta, scale=scale), scale=scale, fixed=fixed)


def fitted_by(
    model: KinematicModel, poses: Poses, at: "Chains", *, scale: float, fixed: tuple[str, ...]
) -> tuple[Fitted, Array, Array]:
    """As `fitted_at`, from what `chains_of` returned there."""
    by_fixed = np.zeros((*poses.readings.shape, len(fixed)))
    for k, name in enumerate(fixed):
        chains, places = np.nonzero(model.columns == model.names.index(name))
        by_fixed[:, chains, k] = at.by_x[:, chains, places]
    by_pose = at.by_pose if scale == 1 else at.by_pose * np.repeat([scale, 1.0], 3)
    return Fitted(model, poses, by_pose, at.by_reading, fixed, by_fixed), at.residual, at.by_x


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
    from gough.geometry.pose_sums import spread  # noqa: PLC0415 - numba

    n, size = residuals.shape[1], 0 if C is None else C.shape[-1]
    P = np.ascontiguousarray(fitted.by_pose[..., :size])
    covariances = np.zeros((1, 0, 0)) if C is None else C.reshape(-1, size, size)
    variances = np.zeros((1, n)) if s is None else (s**2).reshape(-1, n)
    return roots(spread(P, np.array(covariances), fitted.by_reading, variances)), True


def roots(S: Array) -> Array:
    """Inverse Cholesky factors of covariances (N, n, n)."""
    from gough.geometry.pose_sums import inverse_factors  # noqa: PLC0415 - numba

    n = S.shape[1]
    S = S.copy()
    S[:, range(n), range(n)] *= 1 + 1e-9
    roots = inverse_factors(S)
    if not np.isfinite(roots).all():
        raise np.linalg.LinAlgError("a covariance of closure errors is not positive definite")
    return roots


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
    if len(rows) * n - J.shape[2] < 2 * n:
        mixtures = np.full((1, len(S)), 1 / len(S))
    best, chosen = -np.inf, mixtures[0]
    for weights in mixtures:
        root = roots(sum(w * each[rows] for w, each in zip(weights, S, strict=True)))
        value, _, _ = restricted_likelihood(root, J, residuals[rows])
        if value > best:
            best, chosen = value, weights
    return roots(sum(w * each for w, each in zip(chosen, S, strict=True)))


def restricted_likelihood(root: Array, J: Array, residuals: Array) -> tuple[float, float, int]:
    """Logarithm of the restricted likelihood of a covariance up to a factor, the whitened squares left, and their dof.

    Args:
        root: (N, chains, chains) whitening matrices.
        J: (N, chains, p) derivatives by all that is estimated.
        residuals: (N, chains) closure errors.
    """
    size = np.sqrt((J**2).sum(axis=(0, 1))) + 1e-300
    W, y = (root @ (J / size)).reshape(-1, J.shape[2]), (root @ residuals[..., None]).reshape(-1)
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    seen = s > _RANK * s.max(initial=0.0)
    left = float(y @ y - ((U[:, seen].T @ y) ** 2).sum())
    spare = len(y) - int(seen.sum())
    value = (
        float(np.log(np.diagonal(root, axis1=1, axis2=2)).sum())
        - 0.5 * spare * float(np.log(max(left, 1e-300)))
        - float(np.log(s[seen]).sum())
    )
    return value, left, spare


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

    @property
    def rows(self) -> int:
        """Number of equations."""
        return len(self.kept) * self.n + self.common.shape[2]

    @cached_property
    def _unknowns(self) -> "_Unknowns":
        """Derivatives by all that the model estimates: free parameters, common errors, what was added."""
        columns, free = self.fitted.model.columns, len(self.free)
        shared = np.concatenate([self.common, *self.added], axis=2)
        count = free + shared.shape[2]
        number = np.full(len(self.fitted.model.names), count)
        number[self.free] = np.arange(free)
        if not shared.shape[2]:
            return _Unknowns(self.own, number[columns], count)
        further = np.tile(np.arange(free, count), (self.n, 1))
        return _Unknowns(np.concatenate([self.own, shared], axis=2), np.hstack([number[columns], further]), count)

    @cached_property
    def _weights(self) -> Array:
        """(chains, chains, N): inverse covariances of the closure errors of each pose."""
        from gough.geometry.pose_sums import weights_of_roots  # noqa: PLC0415 - numba

        return weights_of_roots(self.whitener)

    def _derivatives(self, rows: Integers, residuals: Array) -> Array:
        """(rows · chains, p + 1) whitened derivatives by all that the model estimates, and closure errors."""
        from gough.geometry.pose_sums import whitened  # noqa: PLC0415 - numba

        X, columns, p = self._unknowns
        return whitened(X[rows], residuals[rows], self.whitener[rows], columns, p)

    def spread(self, rows: Integers) -> tuple[Array, Array]:
        """J K (rows, chains, rank) and what the fit leaves (rows, chains) of some poses, whitened."""
        A = self._derivatives(rows, self._left)
        return (A[:, :-1] @ self.solved.root).reshape(len(rows), self.n, -1), A[:, -1].reshape(len(rows), self.n)

    @property
    def _common_places(self) -> slice:
        """Where the common errors are among the unknowns; each is zero, with standard deviation 1."""
        return slice(len(self.free), len(self.free) + self.common.shape[2])

    @cached_property
    def _left(self) -> Array:
        """(N, chains) closure errors that the fit leaves."""
        from gough.geometry.pose_sums import shifted  # noqa: PLC0415 - numba

        X, columns, _ = self._unknowns
        return shifted(X, self.residuals, columns, self.solved.shift)

    @cached_property
    def solved(self) -> Solved:
        """The fit of the poses that are kept."""
        from gough.geometry.pose_sums import gradient, shifted, solution  # noqa: PLC0415 - numba

        (X, columns, p), W, f = self._unknowns, self._weights, self.residuals
        if len(self.kept) < len(X):
            X, f, W = X[self.kept], f[self.kept], W[:, :, self.kept]
        z = self._common_places
        K, shift, squares, bound = solution(X, f, W, columns, p, np.arange(z.start, z.stop))
        if _WELL * bound < 1:
            return Solved(K, shift, squares, self.rows - p)
        K = self._inverse_root_by_rows()
        shift = np.zeros(p)
        for _ in range(2):  # the second is the correction of rounding
            g, _ = gradient(X, shifted(X, f, columns, shift), W, columns, p + 1)
            g[z] -= shift[z]
            shift += K @ (K.T @ g[:p])
        _, squares = gradient(X, shifted(X, f, columns, shift), W, columns, p + 1)
        return Solved(K, shift, squares + float(shift[z] @ shift[z]), self.rows - K.shape[1])

    def _inverse_root_by_rows(self) -> Array:
        """K where the products of columns do not show it: from the rows, reduced to a triangle block by block."""
        R = np.zeros((0, self._unknowns.size))
        for rows in np.array_split(self.kept, -(-len(self.kept) // _BLOCK)):
            A = np.vstack([R, self._derivatives(rows, self.residuals)[:, :-1]])
            R = np.asarray(np.linalg.qr(A, mode="r")) if len(A) > A.shape[1] else A
        A = np.vstack([R, np.eye(R.shape[1])[self._common_places]])
        size = np.sqrt((A**2).sum(axis=0))
        size = np.where(size > 0, size, 1.0)
        _, s, Vt = np.linalg.svd(A / size, full_matrices=False)
        seen = s > _RANK * s.max(initial=0.0)
        return np.asarray((Vt[seen].T / s[seen]) / size[:, None])

    @property
    def squares(self) -> tuple[float, int]:
        """The whitened sum of squares, and its degrees of freedom."""
        return self.solved.squares, self.solved.spare

    @one_blas_thread()
    def tests(self, mistakes: Iterable[Mistake], level: float) -> "Tested":
        """Every alternative of these mistakes, with p corrected for the alternatives of its own mistake alone.

        Those with p below the level are described.
        """
        alternatives = [(mistake, each) for mistake in mistakes for each in mistake.columns(self.fitted)]
        if not alternatives:
            return Tested([], 0)
        segments = min(_SEGMENTS, len(self.kept))
        size, longer = divmod(len(self.kept), segments)  # the first segments are longer by one pose
        ends = size * np.arange(1, segments + 1) + np.minimum(np.arange(1, segments + 1), longer)
        starts = self.kept[np.append(0, ends[:-1])]
        those = self._removed([each for _, each in alternatives], ends)
        trials = Counter[str]()
        for mistake, each in alternatives:
            trials[mistake.name] += 2 * len(starts) - 2 if each.from_pose else 1
        tried = np.array([trials[mistake.name] for mistake, _ in alternatives])
        _, _, before, spare = self.solved
        left, seen = np.maximum(before - those.squares, 0.0), those.rank > 0
        p = tried[those.alternative] * self.chances(those.squares, np.maximum(those.rank, 1), left, spare - those.rank)
        tests = []
        for i in np.flatnonzero((p < level) & seen).tolist():
            k, rank, segment = (int(each[i]) for each in (those.alternative, those.rank, those.segment))
            mistake, each = alternatives[k]
            unit, width = np.sqrt(max(left[i] / max(spare - rank, 1), 1.0 if self.is_stated else 0.0)), those.width[i]
            first = int(starts[segment]) if each.from_pose else 0
            tests.append(
                Test(
                    mistake, each, those.values[i, :width], unit * those.deviations[i, :width], float(those.squares[i]),
                    rank, int(tried[k]), float(p[i]), float(left[i]), first,
                )
            )  # fmt: skip
        return Tested(tests, int(seen.sum()))

    def _removed(self, alternatives: list[Alternative], ends: Integers) -> "_Removed":
        """What alternatives take out of the squares.

        From the first pose on, or from each later segment on; segments end where `ends` says, among poses kept.
        """
        from gough.geometry.pose_sums import later_products, taken  # noqa: PLC0415 - numba

        widths, moving = tuple(each.columns.shape[2] for each in alternatives), tuple(e.from_pose for e in alternatives)
        starts, of, case, segment, width = _cases(widths, moving, len(ends))
        X, columns, p = self._unknowns
        E = np.concatenate([each.columns for each in alternatives], axis=2)
        sums = later_products(E, X, self._left, self._weights, columns, p + 1, of, self.kept, ends)
        K = np.ascontiguousarray(self.solved.root)
        values, variances, squares, products, size, is_clear = taken(*sums, K, starts, width, segment, _VISIBLE**-2)
        rank = width.copy()
        for i in np.flatnonzero(~is_clear):
            own = slice(0, width[i])
            w, Q = np.linalg.eigh(products[i, own, own])
            seen = w > _VISIBLE**2
            inverse = (Q * np.where(seen, 1 / np.where(seen, w, 1.0), 0.0)) @ Q.T
            along = sums[1][segment[i], starts[i] :][own] / size[i, own]
            values[i, own], variances[i, own], rank[i] = -(inverse @ along), inverse.diagonal(), seen.sum()
            squares[i] = -float(values[i, own] @ along)
        return _Removed(case, segment, width, values / size, np.sqrt(variances) / size, squares, rank)

    def chance(self, removes: float, k: int, left: float, spare: int) -> float:
        """Probability that k parameters remove so much by chance.

        By the stated noise, if it explains what is left; else by the size of what is left.
        """
        return float(self.chances(np.array([removes]), np.array([k]), np.array([left]), np.array([spare]))[0])

    def chances(self, removes: Array, k: Integers, left: Array, spare: Integers) -> Array:
        """`chance` of many alternatives."""
        from scipy.special import chdtrc, fdtrc  # noqa: PLC0415 - start-up time

        some = np.maximum(spare, 1)
        explained = ((spare <= 0) | (chdtrc(some, left) > LEVEL)) & self.is_stated
        by_noise = chdtrc(k, removes)
        if explained.all():
            return np.asarray(by_noise)
        by_size = np.where(spare < SPARE, 1.0, fdtrc(k, some, (removes / k) / np.maximum(left / some, 1e-300)))
        return np.where(explained, by_noise, by_size)

    @one_blas_thread()
    def without(self, poses: Integers) -> "NestedTests":
        """The same without these poses, by a downdate of the fit where the others determine as much."""
        gone = np.zeros(len(self.residuals), dtype=bool)
        gone[poses] = True
        rest = replace(self, kept=self.kept[~gone[self.kept]])
        vars(rest).update({name: vars(self)[name] for name in {"_unknowns", "_weights", "common"} & vars(self).keys()})
        K, shift, squares, spare = self.solved
        V, e = (each.reshape(len(poses) * self.n, -1) for each in self.spread(poses))
        if len(V) <= V.shape[1]:
            w, U = np.linalg.eigh(V @ V.T)
            B = U.T @ V
        else:
            U, s, Wt = np.linalg.svd(V, full_matrices=False)
            w, B = s**2, s[:, None] * Wt
        gap = 1 - w  # eigenvalues of I − V Vᵀ and, for all others 1, of I − VᵀV
        if not (gap > _REGULAR).all():
            return rest
        z = U.T @ e[:, 0]
        left = squares - float((e**2).sum() - z @ z) - float(z @ (z / gap))  # eᵀ (I − V Vᵀ)⁻¹ e is taken out
        if not left > _REGULAR * squares:
            return rest
        root = np.sqrt(gap)
        along = K @ B.T
        vars(rest)["solved"] = Solved(
            K + (along / (root * (1 + root))) @ B, shift - along @ (z / gap), left, spare - len(e)
        )
        return rest

    @cached_property
    def _inverse(self) -> Array:
        """(p + 1, p + 1): (JᵀJ)⁻¹, and zeros for parameters that are held."""
        p = self._unknowns.size
        M = np.zeros((p + 1, p + 1))
        M[:p, :p] = self.solved.root @ self.solved.root.T
        return M

    def without_in_turn(self, most: int) -> tuple[Integers, Array]:
        """Poses by how badly they fit, each without those before it, and the sums of squares without so many of them.

        At most so many, and fewer where some pose determines what the others do not: see `without` and `deleted`.
        """
        from gough.geometry.pose_sums import left_out_in_turn  # noqa: PLC0415 - numba

        X, columns, _ = self._unknowns
        return left_out_in_turn(
            X, self._left, self.whitener, columns, self._inverse, self.kept, most, self.solved.squares, _REGULAR
        )

    def deleted(self) -> tuple[Array, Integers]:
        """By how much the sum of squares decreases without each pose, and the equations that it loses then: (kept,).

        rᵀ (I − H)⁻¹ r of the pose, with its part H of the hat matrix: exact for a linear model.
        """
        from gough.geometry.pose_sums import left_out  # noqa: PLC0415 - numba

        X, columns, _ = self._unknowns
        removes, trace = left_out(X, self._left, self.whitener, columns, self._inverse, self.kept)
        dof = np.full(len(removes), self.n)
        near = np.flatnonzero(~(trace < 1e6))
        if len(near):
            V, r = self.spread(self.kept[near])
            w, Q = np.linalg.eigh(np.eye(self.n) - V @ np.swapaxes(V, 1, 2))
            z = np.einsum("nij,ni->nj", Q, r)
            seen = w > 1e-6
            removes[near] = np.where(seen, z**2 / np.where(seen, w, 1.0), 0.0).sum(axis=1)
            dof[near] = seen.sum(axis=1)
        return removes, dof


class _Cases(NamedTuple):
    """Alternatives, each from one segment on, whose columns stand side by side."""

    starts: Integers
    """The first column of each."""
    of: Integers
    """(all columns,): the first one of the same alternative."""
    alternative: Integers
    segment: Integers
    """The first segment in which it counts."""
    width: Integers
    """Number of its columns."""


@lru_cache(maxsize=64)
def _cases(widths: tuple[int, ...], moving: tuple[bool, ...], segments: int) -> _Cases:
    """What is tested of alternatives with so many columns, which count from a later segment on if they are `moving`."""
    width, times = np.array(widths), np.where(moving, segments - 1, 1)
    starts, case = np.cumsum(width) - width, np.repeat(np.arange(len(times)), times)
    segment = np.arange(len(case)) - np.repeat(np.cumsum(times) - times, times) + np.array(moving)[case]
    return _Cases(starts[case], np.repeat(starts, widths), case, segment, width[case])


class _Unknowns(NamedTuple):
    """Derivatives of the equations by all that is estimated."""

    of_chains: Array
    """(N, chains, k): by the unknowns of each chain."""
    columns: Integers
    """(chains, k): numbers of these; `size` for parameters that are held."""
    size: int


class Tested(NamedTuple):
    """Alternatives against the calibrated model."""

    below: list[Test]
    """Those with a p below the level."""
    tried: int
    """How many were tested."""


class _Removed(NamedTuple):
    """What alternatives take out of the squares, each from one segment on."""

    alternative: Integers
    segment: Integers
    """The first segment in which they count."""
    width: Integers
    """Number of their parameters; the rest of `values` and `deviations` has no meaning."""
    values: Array
    """(…, widest)."""
    deviations: Array
    """Of the values, at unit noise."""
    squares: Array
    rank: Integers
    """How many parameters the data determine beside the model's; 0 where it absorbs all."""
