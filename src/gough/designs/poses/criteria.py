"""Criteria of a set of poses, and the pose that improves a set most.

Information matrices M stand in the coordinates of `PoseInformation.Z`: that of an average pose is the identity.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, nearest
from gough.designs.poses.information import PoseInformation

_CHUNK, _BLOCK = 64, 1024


class PoseCriterion(Protocol):
    """A number to be made small, of the information M of a set, and the candidate that makes it smallest."""

    diminishes: ClassVar[bool]
    """Does what a pose adds shrink as the set grows? Then what it added before is a bound of what it adds now."""

    @property
    def name(self) -> str:
        """Name in studies."""
        ...

    @property
    def meaning(self) -> str:
        """Text for reports."""
        ...

    def value(self, M: Array) -> float:
        """The criterion; infinite where M is singular."""
        ...

    def gains(self, M: Array, Z: Array) -> Array:
        """By how much each candidate (N, chains, r) makes it smaller, added to M."""
        ...

    def best(self, M: Array, Z: Array, allowed: Mask) -> tuple[int, float]:
        """The candidate that makes it smallest, and by how much."""
        ...


@dataclass(frozen=True)
class DCriterion:
    """−ln det M: the volume of the parameters' confidence ellipsoid; O1 is another word for it [SH08].

    Examples:
        >>> Z = np.array([[[1.0, 0.0]], [[0.0, 2.0]]])
        >>> k, gain = DCriterion().best(np.eye(2), Z, np.array([True, True]))
        >>> k, round(float(np.exp(gain)), 9)  # det(M + zᵀz) / det M = 1 + z M⁻¹ zᵀ
        (1, 5.0)
    """

    name: str = "D"
    meaning: str = "volume of the parameters' confidence ellipsoid"
    diminishes: ClassVar[bool] = True

    def value(self, M: Array) -> float:
        """−ln det M."""
        sign, logarithm = np.linalg.slogdet(M)
        return float(-logarithm) if sign > 0 else np.inf

    def gains(self, M: Array, Z: Array) -> Array:
        """The determinant lemma, ln det(I + Z_k M⁻¹ Z_kᵀ): in the size of a pose's equations."""
        T = _whitening(M)
        return _by_blocks(Z, lambda part: _log_det(_times(part, T)))

    def best(self, M: Array, Z: Array, allowed: Mask) -> tuple[int, float]:
        """Only candidates are looked into whose bound by Hadamard, Σ ln(1 + |y_i|²), is above the best so far."""
        T = _whitening(M)

        def hadamard(part: Array) -> Array:
            Y = _times(part, T)
            return np.asarray(np.log1p(np.einsum("nij,nij->ni", Y, Y)).sum(axis=1))

        bound = np.where(allowed, _by_blocks(Z, hadamard), -np.inf)
        return _best(bound, lambda rows: _log_det(_times(Z[rows], T)))


@dataclass(frozen=True, eq=False)
class VarianceCriterion:
    """½ ln tr(H M⁻¹ Hᵀ): the root of a sum of variances, of parameters (A) or of predicted positions ("pose").

    Examples:
        >>> Z = np.array([[[3.0, 0.0]], [[0.0, 2.0]]])
        >>> criterion = VarianceCriterion(np.diag([0.0, 1.0]), "A", "")
        >>> k, gain = criterion.best(np.eye(2), Z, np.array([True, True]))
        >>> k, round(float(np.exp(-2 * gain)), 9)  # only the second direction counts: 1/5 of its variance is left
        (1, 0.2)
    """

    H: Array
    """(m, r): what has the variances to be small, by the parameters."""
    name: str
    meaning: str
    diminishes: ClassVar[bool] = False

    def value(self, M: Array) -> float:
        """½ ln tr(H M⁻¹ Hᵀ)."""
        try:
            L = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.log(np.linalg.norm(np.linalg.solve(L, self.H.T))))

    def gains(self, M: Array, Z: Array) -> Array:
        """By Woodbury's identity: tr(H M⁻¹ Z_kᵀ (I + Z_k M⁻¹ Z_kᵀ)⁻¹ Z_k M⁻¹ Hᵀ) is what the sum loses."""
        T = _whitening(M)
        HT = self.H @ T
        root, total = _root(HT.T @ HT).T, float((HT**2).sum())

        def gained(part: Array) -> Array:
            Y = _times(part, T)
            V = _times(Y, root)
            G = np.eye(Y.shape[1]) + Y @ np.swapaxes(Y, 1, 2)
            lost = np.einsum("nij,nij->n", np.linalg.inv(G), V @ np.swapaxes(V, 1, 2))
            return np.asarray(-0.5 * np.log(np.maximum(1 - lost / total, 1e-300)))

        return _by_blocks(Z, gained)

    def best(self, M: Array, Z: Array, allowed: Mask) -> tuple[int, float]:
        """The largest gain."""
        gains = np.where(allowed, self.gains(M, Z), -np.inf)
        k = int(gains.argmax())
        return k, float(gains[k])


@dataclass(frozen=True, eq=False)
class ECriterion:
    """−ln λ_min of the information in the scaled parameters: the weakest direction; O3 is another word for it [SH08].

    Examples:
        >>> Z = np.array([[[3.0, 0.0]], [[0.0, 2.0]]])
        >>> ECriterion(np.eye(2)).best(np.diag([1.0, 2.0]), Z, np.array([True, True]))[0]
        0
    """

    T: Array
    """(r, r): from the scaled parameters to the coordinates of Z."""
    name: str = "E"
    meaning: str = "variance of the weakest direction"
    diminishes: ClassVar[bool] = False

    def value(self, M: Array) -> float:
        """−ln λ_min."""
        least = float(np.linalg.eigvalsh(self.T.T @ M @ self.T)[0])
        return -np.log(least) if least > 0 else np.inf

    def gains(self, M: Array, Z: Array) -> Array:
        """One eigenvalue problem for each candidate."""
        S, A = self.T.T @ M @ self.T, _times(Z, self.T)
        before = np.linalg.eigvalsh(S)[0]
        after = np.linalg.eigvalsh(S + np.swapaxes(A, 1, 2) @ A)[:, 0]
        return np.asarray(np.log(np.maximum(after, 1e-300) / max(before, 1e-300)))

    def best(self, M: Array, Z: Array, allowed: Mask) -> tuple[int, float]:
        """Only candidates are looked into whose bound is above the best so far.

        λ_min of a matrix is at most that of its restriction to any subspace; here, to that of the lowest eigenvectors.
        """
        S = self.T.T @ M @ self.T
        values, vectors = np.linalg.eigh(S)
        some = min(2 * Z.shape[1], len(values))
        A = _times(Z, self.T @ vectors[:, :some])
        low = np.linalg.eigvalsh(np.diag(values[:some]) + np.swapaxes(A, 1, 2) @ A)[:, 0]
        bound = np.log(np.maximum(low, 1e-300) / max(values[0], 1e-300))
        return _best(np.where(allowed, bound, -np.inf), lambda rows: self.gains(M, Z[rows]))


CRITERIA = ("D", "A", "E", "pose")
"""Names of all criteria, as studies use them."""


def criterion_named(name: str, information: PoseInformation, sensitivity: Array | None = None) -> PoseCriterion:
    """The criterion of that name for these candidates.

    Args:
        name: "D", "A", "E" or "pose".
        information: Information of the candidates.
        sensitivity: For "pose": how positions of the workspace, (N, 3, p), depend on all parameters.
    """
    scaled = information.R / np.linalg.norm(information.R, axis=0)
    match name:
        case "D":
            return DCriterion()
        case "A":
            H = np.linalg.inv(scaled)
            return VarianceCriterion(
                H, "A", "mean variance of the parameters, each relative to that by an average pose"
            )
        case "E":
            return ECriterion(scaled)
        case "pose":
            assert sensitivity is not None
            H = information.whitened(sensitivity).reshape(-1, information.n_parameters) / np.sqrt(len(sensitivity))
            return VarianceCriterion(_root(H.T @ H), "pose", "mean variance of predicted positions over the workspace")
    raise InputError(f"no criterion is called '{name}'{nearest(name, CRITERIA)} (known: {', '.join(CRITERIA)})")


def _best(bound: Array, exact: "Exact") -> tuple[int, float]:
    """The largest of `exact`, which never exceeds its bound; only rows whose bound is above the best are evaluated."""
    n = min(_CHUNK, len(bound))
    first = np.argpartition(-bound, n - 1)[:n] if n < len(bound) else np.arange(n)
    first = np.sort(first[np.isfinite(bound[first])])
    values = exact(first)
    k, most = int(first[values.argmax()]), float(values.max())
    rest = np.setdiff1d(np.flatnonzero(bound > most), first, assume_unique=True)
    for start in range(0, len(rest), _CHUNK * 16):
        rows = rest[start : start + _CHUNK * 16]
        rows = rows[bound[rows] > most]
        if rows.size and (values := exact(rows)).max() > most:
            k, most = int(rows[values.argmax()]), float(values.max())
    return k, most


class Exact(Protocol):
    """Exact values of some rows."""

    def __call__(self, rows: "np.typing.NDArray[np.int64]", /) -> Array: ...


def _times(Z: Array, T: Array) -> Array:
    """Z_k T for all k, as one product."""
    return np.asarray((Z.reshape(-1, Z.shape[2]) @ T).reshape(*Z.shape[:2], T.shape[1]))


def _whitening(M: Array) -> Array:
    """T = L⁻ᵀ with M = L Lᵀ: then Z_k M⁻¹ Z_kᵀ = Y_k Y_kᵀ with Y_k = Z_k T."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(M)).T)


def _by_blocks(Z: Array, of: Callable[[Array], Array]) -> Array:
    """One number for each candidate, a block at a time: what a block needs stays in the cache."""
    return np.concatenate([of(Z[start : start + _BLOCK]) for start in range(0, len(Z), _BLOCK)])


def _log_det(Y: Array) -> Array:
    """Logarithms ln det(I + Y_k Y_kᵀ) for all k."""
    G = np.eye(Y.shape[1]) + Y @ np.swapaxes(Y, 1, 2)
    return np.asarray(2 * np.log(np.diagonal(np.linalg.cholesky(G), axis1=1, axis2=2)).sum(axis=1))


def _root(K: Array) -> Array:
    """H (r, r) with Hᵀ H = K, for a symmetric K that is not negative."""
    values, vectors = np.linalg.eigh(K)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)
