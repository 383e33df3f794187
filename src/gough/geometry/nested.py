"""Nested alternatives to a calibrated model, tested by likelihood ratio at a family-wise level.

The model is taken as linear about the calibrated parameters: r = J δ + E φ + e, whitened pose by pose with the stated
noise or, where none is stated, with components of noise that the residuals show. One orthonormal basis of the model's
columns serves all tests; blocks of many poses are reduced to triangles first, so that N poses cost one pass over them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
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
    from gough.geometry import pose_sums  # noqa: PLC0415 - numba

    n = S.shape[1]
    S = S.copy()
    S[:, range(n), range(n)] *= 1 + 1e-9
    roots = pose_sums.inverse_factors(S)
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
        from gough.geometry import pose_sums  # noqa: PLC0415 - numba

        return pose_sums.weights_of_roots(self.whitener)

    def _derivatives(self, rows: Integers, residuals: Array) -> Array:
        """(rows · chains, p + 1) whitened derivatives by all that the model estimates, and closure errors."""
        from gough.geometry import pose_sums  # noqa: PLC0415 - numba

        X, columns, p = self._unknowns
        return pose_sums.whitened(X[rows], residuals[rows], self.whitener[rows], columns, p)

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
        X, columns, _ = self._unknowns
        return _shifted(X, self.residuals, columns, self.solved.shift)

    @cached_property
    def solved(self) -> Solved:
        """The fit of the poses that are kept."""
        from gough.geometry import pose_sums  # noqa: PLC0415 - numba

        (X, columns, p), W, f = self._unknowns, self._weights, self.residuals
        if len(self.kept) < len(X):
            X, f, W = X[self.kept], f[self.kept], W[:, :, self.kept]
        H, g, _ = pose_sums.normal(X, f, W, columns, p + 1)  # parameters that are held have the last place
        z = self._common_places
        places = range(z.start, z.stop)
        H[places, places] += 1.0
        K = _inverse_root(H[:p, :p])
        K = self._inverse_root_by_rows() if K is None else K
        shift = K @ (K.T @ g[:p])
        g, _ = pose_sums.gradient(X, _shifted(X, f, columns, shift), W, columns, p + 1)
        g[z] -= shift[z]
        shift += K @ (K.T @ g[:p])  # the correction of rounding
        _, squares = pose_sums.gradient(X, _shifted(X, f, columns, shift), W, columns, p + 1)
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
        removed = self._removed([each for _, each in alternatives], ends)
        trials = Counter[str]()
        for mistake, each in alternatives:
            trials[mistake.name] += 2 * len(starts) - 2 if each.from_pose else 1
        tried = np.array([trials[mistake.name] for mistake, _ in alternatives])
        tests, count = list[tuple[tuple[int, int], Test]](), 0
        _, _, before, spare = self.solved
        for those in removed:
            left, seen = np.maximum(before - those.squares, 0.0), those.rank > 0
            count += int(seen.sum())
            p = tried[those.alternative] * self.chances(
                those.squares, np.where(seen, those.rank, 1), left, spare - those.rank
            )
            for i in np.flatnonzero((p < level) & seen):
                k, rank, segment = (int(each[i]) for each in (those.alternative, those.rank, those.segment))
                mistake, each = alternatives[k]
                unit = np.sqrt(max(left[i] / max(spare - rank, 1), 1.0 if self.is_stated else 0.0))
                first = int(starts[segment]) if each.from_pose else 0
                test = Test(
                    mistake, each, those.values[i], unit * those.deviations[i], float(those.squares[i]), rank,
                    int(tried[k]), float(p[i]), float(left[i]), first,
                )  # fmt: skip
                tests.append(((k, segment), test))
        return Tested([each for _, each in sorted(tests, key=lambda each: each[0])], count)

    def _removed(self, alternatives: list[Alternative], ends: Integers) -> "list[_Removed]":
        """What alternatives take out of the squares, those of as many columns together.

        From the first pose on, or from each later segment on; segments end where `ends` says, among poses kept.
        """
        from gough.geometry import pose_sums  # noqa: PLC0415 - numba

        widths = np.array([each.columns.shape[2] for each in alternatives])
        moving = np.array([each.from_pose for each in alternatives])
        starts = np.cumsum(widths) - widths
        X, columns, p = self._unknowns
        E = np.concatenate([each.columns for each in alternatives], axis=2)
        of = np.repeat(starts, widths)
        sums = pose_sums.later_products(E, X, self._left, self._weights, columns, p + 1, of, self.kept, ends)
        by_model, along, gram = sums
        result = []
        for width, later in {*zip(widths.tolist(), moving.tolist(), strict=True)}:
            alike = np.flatnonzero((widths == width) & (moving == later))
            own = starts[alike][:, None] + np.arange(width)
            those = slice(1, None) if later else slice(0, 1)
            absorbed = self.solved.root.T @ by_model[those, :p, own.reshape(-1)[0] : own.reshape(-1)[-1] + 1]
            absorbed = np.moveaxis(absorbed[..., own - own[0, 0]], 1, 2)  # (segments, alternatives, rank, k)
            products = gram[those][:, own, :width]
            size = np.sqrt(np.diagonal(products, axis1=2, axis2=3))
            left = products - np.swapaxes(absorbed, 2, 3) @ absorbed
            first, segment = np.tile(alike, len(left)), np.repeat(np.arange(len(gram))[those], len(alike))
            along_own = along[those][:, own].reshape(-1, width)
            result.append(_removed(first, segment, left.reshape(-1, width, width), along_own, size.reshape(-1, width)))
        return result

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

    def deleted(self) -> tuple[Array, Integers]:
        """By how much the sum of squares decreases without each pose, and the equations that it loses then: (kept,).

        rᵀ (I − H)⁻¹ r of the pose, with its part H of the hat matrix: exact for a linear model.
        """
        from gough.geometry import pose_sums  # noqa: PLC0415 - numba

        X, columns, p = self._unknowns
        M = np.zeros((p + 1, p + 1))
        M[:p, :p] = self.solved.root @ self.solved.root.T
        removes, trace = pose_sums.left_out(X, self._left, self.whitener, columns, M, self.kept)
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


def _shifted(X: Array, f: Array, columns: Integers, shift: Array) -> Array:
    """Closure errors f (N, chains) after the unknowns are shifted; X and columns are those of `_Unknowns`."""
    return np.asarray(f - np.einsum("nia,ia->ni", X, np.append(shift, 0.0)[columns]))


def _inverse_root(H: Array) -> Array | None:
    """K with Kᵀ H K = I by Cholesky's factorization; None where H is nearly singular."""
    size = np.sqrt(H.diagonal())
    size = np.where(size > 0, size, 1.0)
    try:
        K = np.linalg.inv(np.linalg.cholesky(H / np.outer(size, size))).T
    except np.linalg.LinAlgError:
        return None
    return K / size[:, None] if _WELL * float((K**2).sum()) < 1 else None  # a bound of the smallest eigenvalue


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
    """What alternatives take out of the squares."""

    alternative: Integers
    segment: Integers
    """The first segment in which they count."""
    values: Array
    """(alternatives, k)."""
    deviations: Array
    """Of the values, at unit noise."""
    squares: Array
    rank: Integers


def _removed(alternative: Integers, segment: Integers, gram: Array, along: Array, size: Array) -> _Removed:
    """From the products of alternatives' columns, without what the model absorbs of them; of rank 0 where that is all.

    Args:
        alternative: (alternatives,) their numbers.
        segment: (alternatives,) their first segments.
        gram: (alternatives, k, k) products of what is left of the columns.
        along: (alternatives, k) their products with the residuals.
        size: (alternatives, k) lengths of the whole columns.
    """
    from gough.geometry import pose_sums  # noqa: PLC0415 - numba

    size = np.where(size > 0, size, 1.0)
    scaled, along = gram / (size[:, :, None] * size[:, None]), along / size
    inverse = np.moveaxis(scaled, 0, 2).copy(order="C")
    pose_sums.invert(inverse)
    inverse = np.moveaxis(inverse, 2, 0)
    rank = np.full(len(size), size.shape[1])
    variances = np.diagonal(inverse, axis1=1, axis2=2)
    bad = np.flatnonzero(~(variances.sum(axis=1) < _VISIBLE**-2) | ~(variances > 0).all(axis=1))
    if len(bad):
        w, Q = np.linalg.eigh(scaled[bad])
        seen = w > _VISIBLE**2
        rank[bad] = seen.sum(axis=1)
        inverse[bad] = (Q * np.where(seen, 1 / np.where(seen, w, 1.0), 0.0)[:, None]) @ np.swapaxes(Q, 1, 2)
    values = -(inverse @ along[..., None])[..., 0]
    deviations = np.sqrt(np.diagonal(inverse, axis1=1, axis2=2))
    return _Removed(alternative, segment, values / size, deviations / size, -(values * along).sum(axis=1), rank)
