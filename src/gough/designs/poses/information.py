"""The Fisher information of each candidate about the identifiable parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry.beliefs import matching
from gough.geometry.chain_equations import ChainEquations
from gough.geometry.geometric import SCALE, geometric
from gough.methods.statistical.identifiability import Identifiability, analyze
from gough.robots.kinematics import KinematicModel

_BLOCK = 4096
_SAMPLE = 600
"""Poses from which the rank is determined."""


@dataclass(frozen=True, eq=False)
class PoseInformation(ArrayValue):
    """Rows of all candidates, whitened twice: by their noise, and so that the mean information is the identity.

    A pose k has the information F_k = J_kᵀ Σ_F⁻¹ J_k, with Σ_F = J_M Σ_M J_Mᵀ from the noise of pose and readings.
    Parameters that no pose determines individually are regrouped first, see `identifiability`. With Rᵀ R the mean
    of all F_k, Z_k = Σ_F^(-1/2) J_k R⁻¹; so the units of the parameters, and which of the regrouped ones stand for the
    others, make no difference to the search.
    """

    names: tuple[str, ...]
    """Names of what is identified: parameters, or combinations of them."""
    units: tuple[str, ...]
    identifiability: Identifiability
    Z: Array
    """(N, chains, r)."""
    R: Array
    """(r, r), upper triangle."""
    known: Array
    """(r, r): what is known before, in the coordinates of Z; zero where nothing is."""
    columns: tuple[int, ...]
    """Which of the robot's parameters stand for what is identified; the number after the last is the scale."""

    @property
    def n_parameters(self) -> int:
        """How many are identified, r."""
        return len(self.names)

    @property
    def n_chains(self) -> int:
        """Equations at each pose."""
        return self.Z.shape[1]

    def of(self, rows: Any) -> Array:
        """The information (r, r) of some candidates and of what is known before, in the coordinates of Z."""
        return information_of(self.Z, rows, self.known)

    def covariance(self, M: Array) -> Array:
        """Covariance of what is identified, in its units, from the information M in the coordinates of Z."""
        inverse = np.linalg.inv(np.linalg.cholesky(M)) @ self._R_inverse.T
        return np.asarray(inverse.T @ inverse)

    def singular_values(self, M: Array) -> Array:
        """Singular values of the whitened Jacobian, parameters in units of the σ that an average pose alone would give.

        The unit of a parameter is 1/√F̄_ii: then no choice of metres or degrees changes any index.
        """
        scaled = self.R / np.linalg.norm(self.R, axis=0)
        return np.sqrt(np.maximum(np.linalg.eigvalsh(scaled.T @ M @ scaled)[::-1], 0.0))

    def is_singular(self, M: Array) -> bool:
        """Whether the information of some direction is below 1e-9 times that of an average pose."""
        return bool(np.linalg.eigvalsh(M)[0] < 1e-9)

    @cached_property
    def _R_inverse(self) -> Array:
        return np.asarray(np.linalg.inv(self.R))

    def whitened(self, directions: Array) -> Array:
        """Derivatives (…, all parameters) of something by the parameters, in the coordinates of Z.

        Regrouping needs no more than the columns that stand for what is identified: the rest follows from them.
        """
        padded = np.concatenate([directions, np.zeros((*directions.shape[:-1], 1))], axis=-1)
        return np.asarray(padded[..., list(self.columns)] @ self._R_inverse)


def information_of(Z: Array, rows: Any, known: Array) -> Array:
    """Σ Z_kᵀ Z_k of some rows, and what is known before."""
    A = Z[np.asarray(rows, dtype=int)].reshape(-1, Z.shape[2])
    return np.asarray(A.T @ A + known)


@one_blas_thread()
def pose_information(
    model: KinematicModel,
    poses: Poses,
    *,
    parameters: Any = None,
    fixed: Sequence[str] = (),
    scale: bool = False,
    measured: Poses | None = None,
) -> PoseInformation:
    """The information of candidate poses whose noise is stated, at the blueprint's parameters or others.

    Args:
        model: The robot.
        poses: The candidates, with the noise that their measurement will have.
        parameters: Where the equations are linearized.
        fixed: Parameters that are known: names, or patterns such as "a*".
        scale: Is the scale of measured positions unknown too?
        measured: Poses that were measured already, with their noise: the chosen ones will be added to them.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (50, 3))
        >>> poses = Poses(p, None, printer.inverse(printer.nominal, p)).with_noise(1e-5, readings=1e-6)
        >>> information = pose_information(printer, poses)
        >>> information.n_parameters, information.Z.shape
        (10, (50, 3, 10))
        >>> bool(np.allclose(information.of(range(50)) / 50, np.eye(10)))
        True
    """
    fixed = matching(fixed, model.names)
    require(len(set(fixed)) < len(model.names), "nothing is left to find: every parameter is fixed")
    for group, what in ((poses, "the candidates"), (measured, "the poses measured already")):
        if group is not None and group.covariance is None and group.reading_sigma is None:
            raise InputError(
                f"state the noise of {what}: standard deviations of positions (and orientations), or of readings "
                "(in Python: position=…, readings=…); "
                "without it no accuracy can be predicted"
            )
    options: dict[str, Any] = {"parameters": parameters, "fixed": fixed, "scale": scale}
    A, names, units = _rows(model, poses, **options)
    before = None if measured is None else _rows(model, measured, **options)[0]
    return whitened_information(A, names, units, (*model.names, SCALE), before)


def whitened_information(
    A: Array, names: tuple[str, ...], units: tuple[str, ...], everything: tuple[str, ...], before: Array | None = None
) -> PoseInformation:
    """From rows (N, chains, p) whose noise has variance 1, in the columns of `names`, some of `everything`."""
    step = -(-len(A) // _SAMPLE)
    sample = A[::step].reshape(-1, len(names))
    if before is not None:
        sample = np.vstack([sample, before.reshape(-1, len(names))])
    identifiability = analyze(_qr(sample), names, n_rows=len(sample))
    require(identifiability.rank > 0, "no candidate is informative about any parameter")
    kept = list(identifiability.kept)
    if len(kept) < len(names):
        A = np.ascontiguousarray(A[..., kept])
    R = _triangle(A)
    inverse = np.linalg.inv(R)
    known = np.zeros((len(kept), len(kept)))
    if before is not None:
        B = before[..., kept].reshape(-1, len(kept)) @ inverse
        known = B.T @ B
    return PoseInformation(
        names=tuple(base.name for base in identifiability.base),
        units=tuple(units[i] for i in kept),
        identifiability=identifiability,
        Z=(A.reshape(-1, len(kept)) @ inverse).reshape(A.shape),
        R=R,
        known=known,
        columns=tuple(everything.index(names[i]) for i in kept),
    )


def _rows(
    model: KinematicModel, poses: Poses, *, parameters: Any, fixed: Sequence[str], scale: bool
) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """Σ_F^(-1/2) J (N, chains, p) in the columns that are not fixed, with their names and units."""
    parts: list[Array] = []
    for start in range(0, len(poses), _BLOCK):
        count = min(_BLOCK, len(poses) - start)
        # the problem refuses fewer equations than unknowns, which the whole set need not have
        rows = np.resize(np.arange(start, start + count), max(count, len(model.names) + 1))
        problem = geometric(model, poses.select(rows), start=parameters, scale=scale)
        equations, unknowns = problem.equations, problem.unknowns
        assert isinstance(equations, ChainEquations)
        assert unknowns.nominal is not None
        chosen = [i for i, name in enumerate(unknowns.names) if name not in set(fixed)]
        _, J, J_m = equations.both(unknowns.nominal, problem.measured)
        assert problem.noise.covariance is not None
        try:
            L = np.linalg.cholesky(J_m @ problem.noise.covariance @ np.swapaxes(J_m, 1, 2))
        except np.linalg.LinAlgError as error:
            raise InputError(
                "the stated noise leaves an equation without any: state that of readings and of poses, and keep away "
                "from singularities"
            ) from error
        parts.append(np.asarray(np.linalg.solve(L, J[..., chosen])[:count], dtype=np.float64))
    return np.concatenate(parts), tuple(unknowns.names[i] for i in chosen), tuple(unknowns.units[i] for i in chosen)


def _triangle(A: Array) -> Array:
    """R with Rᵀ R = Σ A_kᵀ A_k / N, its diagonal positive, by orthogonal steps: no digits are lost by squaring."""
    R: Array = np.zeros((0, A.shape[2]))
    for start in range(0, len(A), _BLOCK):
        R = _qr(np.vstack([R, A[start : start + _BLOCK].reshape(-1, A.shape[2])]))
    R = R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]
    return np.asarray(R / np.sqrt(len(A)))


def _qr(A: Array) -> Array:
    """The triangle alone."""
    return np.asarray(np.linalg.qr(A, mode="r"), dtype=np.float64)
