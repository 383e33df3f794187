"""Rigid motions, and the two of A_k X = Z B_k by a linear method."""

from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import exp, log, nearest_rotation


class RigidMotion(NamedTuple):
    """Rigid motions p ↦ R p + t, one or many.

    Examples:
        >>> move = RigidMotion(np.eye(3), np.array([0.0, 0.0, 1.0]))
        >>> (move @ move).t, move.inverse().t
        (array([0., 0., 2.]), array([-0., -0., -1.]))
    """

    R: Array
    t: Array

    def __matmul__(self, other: "RigidMotion") -> "RigidMotion":
        """First `other`, then this one."""
        return RigidMotion(self.R @ other.R, (self.R @ other.t[..., None])[..., 0] + self.t)

    def inverse(self) -> "RigidMotion":
        """The way back."""
        back = np.swapaxes(self.R, -1, -2)
        return RigidMotion(back, -(back @ self.t[..., None])[..., 0])

    def of(self, points: Any) -> Array:
        """Points (N, 3) moved by one motion."""
        return np.asarray(np.asarray(points) @ self.R.T + self.t)

    def stepped(self, step: Array) -> "RigidMotion":
        """Shifted by a step's first three entries, turned by its last three about its own origin.

        Examples:
            >>> RigidMotion(np.eye(3), np.zeros(3)).stepped(np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])).t
            array([0., 0., 1.])
        """
        return RigidMotion(exp(step[..., 3:]) @ self.R, self.t + step[..., :3])


IDENTITY = RigidMotion(np.eye(3), np.zeros(3))


def require_turns(modeled: RigidMotion) -> None:
    """Raise InputError unless poses turn about more than one axis: otherwise A_k X = Z B_k has many solutions."""
    turns = log(modeled.R @ modeled.R[0].T)
    spread = np.linalg.svd(turns, compute_uv=False)
    if spread[1] < 1e-6 * max(spread[0], 1e-3):
        raise InputError(
            "the poses turn about one axis only, or not at all, so that they do not determine how the target sits on "
            "the platform: measure poses that tilt in several directions"
        )


def shah(A: RigidMotion, B: RigidMotion) -> tuple[Array, Array]:
    """Rotations of X and Z in A_k X = Z B_k, by a singular vector of Σ R_B ⊗ R_A [SHA13].

    Examples:
        >>> B = RigidMotion(exp(np.eye(3)), np.zeros((3, 3)))
        >>> X, Z = shah(RigidMotion(exp([0.0, 0.0, 1.0]) @ B.R, B.t), B)
        >>> log(Z).round(9) + 0.0
        array([0., 0., 1.])
    """
    K = np.einsum("nij,nkl->ikjl", B.R, A.R).reshape(9, 9)
    U, _, V = np.linalg.svd(K)
    X, Z = V[0].reshape(3, 3).T, U[:, 0].reshape(3, 3).T  # vec stacks columns
    sign = np.sign(np.linalg.det(X))
    return nearest_rotation(sign * X), nearest_rotation(sign * Z)


def with_translations(A: RigidMotion, B: RigidMotion, R_X: Array, R_Z: Array) -> tuple[RigidMotion, RigidMotion]:
    """X and Z in A_k X = Z B_k whose rotations are known: translations by least squares.

    Examples:
        >>> B = RigidMotion(exp(np.eye(3)), np.zeros((3, 3)))
        >>> X, Z = with_translations(RigidMotion(B.R, B.t + 1.0), B, np.eye(3), np.eye(3))
        >>> Z.t.round(9), X.t.round(9) + 0.0
        (array([1., 1., 1.]), array([0., 0., 0.]))
    """
    rows = np.concatenate([np.hstack([R, -np.eye(3)]) for R in A.R])
    rest = (R_Z @ B.t[..., None])[..., 0] - A.t
    t, *_ = np.linalg.lstsq(rows, rest.reshape(-1), rcond=None)
    return RigidMotion(R_X, t[:3]), RigidMotion(R_Z, t[3:])
