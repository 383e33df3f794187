"""Nested alternatives to a calibrated model, tested by likelihood ratio at a family-wise level.

The model is taken as linear about the calibrated parameters: r = J δ + E φ + e, whitened pose by pose with the stated
noise or, where none is stated, with components of noise that the residuals show. One orthonormal basis of the model's
columns serves all tests; blocks of many poses are reduced to triangles first, so that N poses cost one pass over them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry.descent import inverses
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
_WELL = 1e-10
"""Smallest eigenvalue of a Gram matrix of unit diagonal with which it has full rank, and two Cholesky factorizations
make its columns orthonormal."""


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

    def _derivatives(self, rows: Integers) -> Array:
        """(rows, chains, p + 1) whitened derivatives by all that the model estimates, and closure errors."""
        J = dense(self.own[rows], self.fitted.model.columns, len(self.fitted.model.names))[..., self.free]
        further = (self.common[rows], *(each[rows] for each in self.added), self.residuals[rows, :, None])
        return self._white(np.concatenate([J, *further], axis=2), rows)

    @cached_property
    def _whole(self) -> Array | None:
        """The same of all poses, where they are few enough to be kept."""
        n_poses = len(self.residuals)
        return self._derivatives(np.arange(n_poses)) if n_poses <= _BLOCK else None

    @cached_property
    def _spread(self) -> tuple[Array, Array] | None:
        """J K (N, chains, rank) and what the fit leaves (N, chains) of all poses, where they are kept."""
        if self._whole is None:
            return None
        K, shift = self.solved[:2]
        A = self._whole.reshape(-1, self._whole.shape[2])
        V, r = A[:, :-1] @ K, A[:, -1] - A[:, :-1] @ shift
        return V.reshape(*self.residuals.shape, -1), r.reshape(self.residuals.shape)

    def spread(self, rows: Integers) -> tuple[Array, Array]:
        """J K (rows, chains, rank) and what the fit leaves (rows, chains) of some poses."""
        if self._spread is not None:
            return self._spread[0][rows], self._spread[1][rows]
        J, y = self.derivatives(rows)
        K, shift = self.solved[:2]
        return (J.reshape(-1, len(K)) @ K).reshape(*J.shape[:2], -1), y - J @ shift

    def derivatives(self, rows: Integers) -> tuple[Array, Array]:
        """Whitened derivatives (rows, chains, p) by all that the model estimates, and closure errors (rows, chains)."""
        A = self._derivatives(rows) if self._whole is None else self._whole[rows]
        return A[..., :-1], A[..., -1]

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
    def _rows(self) -> Array:
        """Rows whose products are those of [J, r]: the whitened ones where they are kept, else triangles."""
        if self._whole is not None:
            A = self._whole if len(self.kept) == len(self._whole) else self._whole[self.kept]
            blocks = [A.reshape(-1, A.shape[2])]
        else:
            blocks = [self._triangle(segment, []) for segment in self.segments]
        prior = self._prior(blocks[0].shape[1])
        return np.vstack([*blocks, prior]) if len(prior) or len(blocks) > 1 else blocks[0]

    def _against(self, columns: list[Array]) -> tuple[Array, Array, Array, Integers]:
        """An orthonormal basis of the model's columns, what the fit leaves, and columns of alternatives.

        In rows as those of `_rows`, with the places where the rows of each segment begin and end.
        """
        K, shift = self.solved[:2]
        if self._whole is not None:
            E = self._white(np.concatenate([each[self.kept] for each in columns], axis=2), self.kept)
            V, r = self.spread(self.kept)
            sizes = [self.n * len(each) for each in self.segments]
            rows = [(V.reshape(-1, V.shape[2]), r.reshape(-1), E.reshape(-1, E.shape[2]))]
        else:
            triangles = [self._triangle(segment, columns) for segment in self.segments]
            sizes, p = [len(each) for each in triangles], len(K)
            rows = [(A[:, :p] @ K, A[:, p] - A[:, :p] @ shift, A[:, p + 1 :]) for A in triangles]
        prior = self._prior(len(K))
        rows += [(prior @ K, -prior @ shift, np.zeros((len(prior), rows[0][2].shape[1])))] if len(prior) else []
        if len(rows) == 1:
            return *rows[0], np.cumsum([0, *sizes])
        V, r, E = (np.concatenate(each) for each in zip(*rows, strict=True))
        return V, r, E, np.cumsum([0, *sizes])

    def _triangle(self, segment: Integers, columns: list[Array]) -> Array:
        R: Array | None = None
        for rows in np.array_split(segment, -(-len(segment) // _BLOCK)):
            A = np.concatenate([self._derivatives(rows), *(self._white(each[rows], rows) for each in columns)], axis=2)
            A = A.reshape(-1, A.shape[2])
            A = A if R is None else np.vstack([R, A])
            R = np.asarray(np.linalg.qr(A, mode="r")) if len(A) > A.shape[1] else A
        assert R is not None
        return R

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
        basis, r, E, ends = self._against([each.columns for _, each in alternatives])
        size = np.sqrt((E**2).sum(axis=0))
        absorbed = basis.T @ E
        gram, along = E.T @ E - absorbed.T @ absorbed, E.T @ r
        widths = [each.columns.shape[2] for _, each in alternatives]
        places = [np.arange(stop - width, stop) for width, stop in zip(widths, np.cumsum(widths), strict=True)]
        removed: dict[int, list[_Removed | None]] = {}
        for width in set(widths):
            alike = [i for i, (_, each) in enumerate(alternatives) if not each.from_pose and widths[i] == width]
            own = np.array([places[i] for i in alike], dtype=int).reshape(-1, width)
            those = _removed(gram[own[:, :, None], own[:, None]], along[own], size[own])
            removed |= {i: [each] for i, each in zip(alike, those, strict=True)}
        trials = Counter[str]()
        for mistake, each in alternatives:
            trials[mistake.name] += 2 * len(self.segments) - 2 if each.from_pose else 1
        later = [int(segment[0]) for segment in self.segments[1:]]
        found: list[tuple[Mistake, Alternative, int, int, _Removed]] = []
        for i, (mistake, each) in enumerate(alternatives):
            here = slice(int(places[i][0]), int(places[i][-1]) + 1)
            those = _from_each_segment(E[:, here], basis, r, ends) if each.from_pose else removed[i]
            for first, one in zip(later if each.from_pose else [0], those, strict=True):
                if one is not None:
                    found.append((mistake, each, trials[mistake.name], first, one))
        return self._tested(found)

    def _tested(self, found: "list[tuple[Mistake, Alternative, int, int, _Removed]]") -> list[Test]:
        """Probabilities and deviations of all alternatives at once."""
        if not found:
            return []
        _, _, before, spare = self.solved
        removes, k = (np.array([getattr(each[4], name) for each in found]) for name in ("squares", "rank"))
        left = np.maximum(before - removes, 0.0)
        chances = self.chances(removes, k, left, spare - k)
        unit = np.sqrt(np.maximum(left / np.maximum(spare - k, 1), 1.0 if self.is_stated else 0.0))
        return [
            Test(mistake, each, one.values, unit[i] * one.deviations, one.squares, one.rank, trials,
                 min(1.0, trials * float(chances[i])), float(left[i]), first)
            for i, (mistake, each, trials, first, one) in enumerate(found)
        ]  # fmt: skip

    def chance(self, removes: float, k: int, left: float, spare: int) -> float:
        """Probability that k parameters remove so much by chance.

        By the stated noise, if it explains what is left; else by the size of what is left.
        """
        return float(self.chances(np.array([removes]), np.array([k]), np.array([left]), np.array([spare]))[0])

    def chances(self, removes: Array, k: Integers, left: Array, spare: Integers) -> Array:
        """`chance` of many alternatives."""
        from scipy.special import chdtrc, fdtrc  # noqa: PLC0415 - start-up time

        some = np.maximum(spare, 1)
        by_size = np.where(spare < SPARE, 1.0, fdtrc(k, some, (removes / k) / np.maximum(left / some, 1e-300)))
        if not self.is_stated:
            return np.asarray(by_size)
        explained = (spare <= 0) | (chdtrc(some, left) > LEVEL)
        return np.where(explained, chdtrc(k, removes), by_size)

    @cached_property
    def solved(self) -> Solved:
        """The fit of the poses that are kept."""
        A = self._rows()
        K = _inverse_root(A[:, :-1])
        shift = K @ (K.T @ (A[:, :-1].T @ A[:, -1]))
        left = A[:, -1] - A[:, :-1] @ shift
        again = K @ (K.T @ (A[:, :-1].T @ left))  # the correction of rounding
        left = left - A[:, :-1] @ again
        return Solved(K, shift + again, float(left @ left), self.rows - K.shape[1])

    @one_blas_thread()
    def without(self, poses: Integers) -> "NestedTests":
        """The same without these poses, by a downdate of the fit where the others determine as much."""
        rest = replace(self, kept=self.kept[~np.isin(self.kept, poses)])
        vars(rest).update({name: value for name, value in vars(self).items() if name in {"_whole", "common"}})
        K, shift, squares, spare = self.solved
        V, e = (each.reshape(len(poses) * self.n, -1) for each in self.spread(poses))
        e = e[:, 0]
        U, s, Wt = np.linalg.svd(V, full_matrices=False)
        gap = 1 - s**2  # eigenvalues of I − V Vᵀ and, for all others 1, of I − VᵀV
        if not (gap > _REGULAR).all():
            return rest
        z = U.T @ e
        left = squares - float(e @ e - z @ z) - float(z @ (z / gap))  # eᵀ (I − V Vᵀ)⁻¹ e is taken out
        if not left > _REGULAR * squares:
            return rest
        grow, moved = (Wt.T * (1 / np.sqrt(gap) - 1)) @ Wt, Wt.T @ (s * z / gap)
        vars(rest)["solved"] = Solved(K + K @ grow, shift - K @ moved, left, spare - len(e))
        if self._spread is not None:
            whole, r = self._spread
            vars(rest)["_spread"] = whole + whole @ grow, r + whole @ moved
        return rest

    @one_blas_thread()
    def deleted(self) -> tuple[Array, Array]:
        """By how much the sum of squares decreases without each pose, and the equations that it loses then: (kept,).

        rᵀ (I − H)⁻¹ r of the pose, with its part H of the hat matrix: exact for a linear model.
        """
        removes, dof = np.zeros(len(self.kept)), np.zeros(len(self.kept))
        for part in np.array_split(np.arange(len(self.kept)), -(-len(self.kept) // _BLOCK)):
            V, r = self.spread(self.kept[part])
            left = np.eye(self.n) - V @ np.swapaxes(V, 1, 2)
            inverse = inverses(np.ascontiguousarray(np.moveaxis(left, 0, 2)))
            removes[part] = ((inverse * r.T).sum(axis=1) * r.T).sum(axis=0)
            dof[part] = self.n
            # 1 / trace of the inverse is a lower bound of the eigenvalues
            near = np.flatnonzero(~(np.trace(inverse) < 1e6) | ~(np.diagonal(inverse) > 0).all(axis=1))
            w, Q = np.linalg.eigh(left[near])
            z = np.einsum("nij,ni->nj", Q, r[near])
            seen = w > 1e-6
            removes[part[near]] = np.where(seen, z**2 / np.where(seen, w, 1.0), 0.0).sum(axis=1)
            dof[part[near]] = seen.sum(axis=1)
        return removes, dof

    @property
    def squares(self) -> tuple[float, int]:
        """The whitened sum of squares, and its degrees of freedom."""
        return self.solved.squares, self.solved.spare


def _inverse_root(A: Array) -> Array:
    """K with orthonormal columns A K that span those of A."""
    size = np.sqrt((A**2).sum(axis=0))
    size = np.where(size > 0, size, 1.0)
    scaled = A / size
    gram = scaled.T @ scaled
    if len(gram) and np.isfinite(gram).all() and np.linalg.eigvalsh(gram)[0] > _WELL:
        first = np.linalg.inv(np.linalg.cholesky(gram)).T
        again = scaled @ first  # orthonormal but for the rounding of the Gram matrix, which a second time removes
        return np.asarray((first @ np.linalg.inv(np.linalg.cholesky(again.T @ again)).T) / size[:, None])
    _, s, Vt = np.linalg.svd(scaled, full_matrices=False)
    seen = s > _RANK * s.max(initial=0.0)
    return np.asarray((Vt[seen].T / s[seen]) / size[:, None])


class _Removed(NamedTuple):
    """What an alternative takes out of the squares."""

    values: Array
    deviations: Array
    """Of the values, at unit noise."""
    squares: float
    rank: int


def _removed(gram: Array, along: Array, size: Array) -> list[_Removed | None]:
    """From the products of alternatives' columns, without what the model absorbs of them; None where that is all.

    Args:
        gram: (alternatives, k, k) products of what is left of the columns.
        along: (alternatives, k) their products with the residuals.
        size: (alternatives, k) lengths of the whole columns.
    """
    size = np.where(size > 0, size, 1.0)
    w, Q = np.linalg.eigh(gram / (size[:, :, None] * size[:, None]))
    seen = w > _VISIBLE**2
    inverse = np.where(seen, 1 / np.sqrt(np.where(seen, w, 1.0)), 0.0)
    z = (np.swapaxes(Q, 1, 2) @ (along / size)[..., None])[..., 0] * inverse
    values = -(Q @ (z * inverse)[..., None])[..., 0] / size
    deviations = np.sqrt(((Q * inverse[:, None]) ** 2).sum(axis=2)) / size
    squares, rank = (z**2).sum(axis=1), seen.sum(axis=1)
    return [
        _Removed(values[i], deviations[i], float(squares[i]), int(rank[i])) if rank[i] else None for i in range(len(z))
    ]


def _from_each_segment(E: Array, basis: Array, r: Array, ends: Integers) -> list[_Removed | None]:
    """Columns that count from the second, third, … segment on."""
    own = [slice(a, b) for a, b in pairwise(ends.tolist())]
    if len(own) < 2:
        return []
    alike = len(set(np.diff(ends).tolist())) == 1

    def later(X: Array) -> Array:
        """EᵀX over the later segments, from each on."""
        if alike:
            A, B = (each[: ends[-1]].reshape(len(own), -1, each.shape[1]) for each in (E, X))
            products = np.swapaxes(A, 1, 2) @ B
        else:
            products = np.array([E[part].T @ X[part] for part in own])
        return np.asarray(np.cumsum(products[:0:-1], axis=0)[::-1])

    grams, along, absorbed = later(E), later(r[:, None])[..., 0], later(basis)
    size = np.sqrt(np.diagonal(grams, axis1=1, axis2=2))
    return _removed(grams - absorbed @ np.swapaxes(absorbed, 1, 2), along, size)
