"""Frames: where the instrument stands in the robot's frame, and where its target sits on the platform.

An instrument measures A_k, the target in its own frame; the robot's model gives B_k, the platform in the base's
frame. With the base in the instrument's frame, Z, and the platform in the target's, X: A_k X = Z B_k for all k, the
robot-world and hand–eye problem.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.core.rigid import RigidMotion, require_turns, shah, with_translations
from gough.core.rotations import (
    angle_between,
    cross_matrix,
    from_quaternion,
    is_rotation,
    log,
    nearest_rotation,
    to_quaternion,
)
from gough.core.text import number
from gough.data import Poses

Linear = Literal["shah", "li", "andreff"]
_FARTHEST = 1e3
"""Distance from the base that no platform of such a robot has, m."""
_TILT = 5.0
"""Degrees by which a robot that turns about z alone may seem to tilt."""
_UNIT = 1e-3
"""The length of a stated quaternion may differ from 1 by so much; it means the rotation of the unit quaternion."""


@dataclass(frozen=True, eq=False)
class Frames(ArrayValue):
    """The base in the instrument's frame, the platform in the target's, and how well they are known."""

    base: RigidMotion
    """Z: from the base's frame to the instrument's."""
    target: RigidMotion
    """X: from the platform's frame to the target's."""
    covariance: Array | None = None
    """(12, 12) of Z and X: each position, then left rotation vector; None for a linear solution."""
    position_rms: float = 0.0
    """Root mean square of positions of A_k X − Z B_k, m."""
    rotation_rms: float = 0.0
    """Root mean square angle between A_k X and Z B_k, rad."""

    def to_dict(self) -> dict[str, Any]:
        """Base and platform as [frames] of a study states them: positions in m, quaternions scalar first.

        Without the platform if the target is the platform, as for robots that do not turn.
        """
        parts = {"base": self.base}
        if not np.array_equal(self.target.R, np.eye(3)) or self.target.t.any():
            parts["platform"] = self.target
        return {
            name: {"position": motion.t.tolist(), "quaternion": to_quaternion(motion.R).tolist()}
            for name, motion in parts.items()
        }


@dataclass(frozen=True, eq=False)
class Placement(ArrayValue):
    """A frame in another one: its origin, its orientation, and half-widths within which both are known.

    Examples:
        >>> Placement([1.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0], position_tolerance=1e-5).position_tolerance
        array([1.e-05, 1.e-05, 1.e-05])
        >>> Placement([0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0])
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: the quaternion must have the length 1, but has 1.414: divide it by its length, \
and check that no component is missing
    """

    position: Array = field(default_factory=lambda: np.zeros(3))
    """(3,), m."""
    quaternion: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    """(4,), scalar first."""
    position_tolerance: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) half-widths of the position along the axes of the other frame, m; one for all is taken too."""
    orientation_tolerance: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) half-widths of the left rotation vector, rad; one for all is taken too."""

    def __post_init__(self) -> None:
        for name, size in (("position", 3), ("quaternion", 4)):
            values = array(getattr(self, name), f"the {name} of a frame", ndim=1)
            require(values.shape == (size,), f"the {name} of a frame has {size} components, not {len(values)}")
            require(bool(np.isfinite(values).all()), f"the {name} of a frame must be finite, but is {values.tolist()}")
            object.__setattr__(self, name, values)
        length = float(np.linalg.norm(self.quaternion))
        require(
            abs(length - 1) <= _UNIT,
            f"the quaternion must have the length 1, but has {number(length)}: divide it by its length, and check "
            "that no component is missing",
        )
        for name in ("position_tolerance", "orientation_tolerance"):
            words = f"{name} of a frame"
            values = array(getattr(self, name), words, ndim=(0, 1))
            require(values.shape in {(), (1,), (3,)}, f"{words} is one half-width, or one for each of three axes")
            good = bool((values >= 0).all() and np.isfinite(values).all())
            require(good, f"{words} must be finite and not negative, but is {values.tolist()}")
            object.__setattr__(self, name, np.broadcast_to(values, 3))

    @classmethod
    def of(cls, motion: RigidMotion, position_tolerance: Any = 0.0, orientation_tolerance: Any = 0.0) -> "Placement":
        """The frame that a rigid motion moves to another one, such as one that `calibrate` estimates.

        Raises:
            InputError: the matrix is not a rotation.
        """
        R = np.asarray(motion.R, dtype=float)
        require(
            R.shape == (3, 3) and bool(np.isfinite(R).all()), "the rotation of a frame is a matrix of 3 × 3 numbers"
        )
        cause = "it is left-handed (its determinant is negative)" if np.linalg.det(R) < 0 else "it is not orthogonal"
        require(bool(is_rotation(R)), f"the matrix of a frame is not a rotation: {cause}")
        return cls(motion.t, to_quaternion(nearest_rotation(R)), position_tolerance, orientation_tolerance)

    @property
    def motion(self) -> RigidMotion:
        """The rigid motion from this frame to the other one."""
        return RigidMotion(from_quaternion(self.quaternion), self.position)

    @property
    def turns_about_z(self) -> bool:
        """Whether the two frames have the same z axis, exactly."""
        return not self.quaternion[1:3].any() and not self.orientation_tolerance[:2].any()


@dataclass(frozen=True, eq=False)
class StatedFrames(ArrayValue):
    """Where the robot's base is in an instrument's frame, and the platform in the frame of the measured target.

    With these, poses that an instrument measured become poses of the platform in the base's frame.

    Examples:
        >>> frames = StatedFrames(Placement([1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0]))
        >>> frames.moved(Poses([[0.9, 2.0, 0.3]], None, [[0.1, 0.1, 0.1]])).position.round(9) + 0.0
        array([[0.1, 0. , 0.3]])
    """

    base: Placement
    """The base in the instrument's frame."""
    platform: Placement = field(default_factory=Placement)
    """The platform in the target's frame."""

    @classmethod
    def of(cls, frames: Frames) -> "StatedFrames":
        """Estimated frames, taken as exact: state half-widths with `dataclasses.replace` of base and platform."""
        return cls(Placement.of(frames.base), Placement.of(frames.target))

    def moved(self, poses: Poses) -> Poses:
        """Poses of the platform in the base's frame, and their covariances, in floating point."""
        Z, X = self.base.motion, self.platform.motion
        if poses.rotation is None:
            carried = Z.R.T
            position, rotation = Z.inverse().of(poses.position), None
        else:
            seen = RigidMotion(poses.rotation, poses.position)
            position, rotation = (Z.inverse() @ seen @ X).t, Z.R.T @ poses.rotation @ X.R
            carried = np.tile(np.kron(np.eye(2), Z.R.T), (len(poses), 1, 1))
            carried[:, :3, 3:] = -Z.R.T @ cross_matrix(poses.rotation @ X.t)
        covariance = poses.covariance
        if covariance is not None:
            size = carried.shape[-1]
            covariance = carried @ covariance[..., :size, :size] @ np.swapaxes(carried, -1, -2)
        common = None if poses.common is None else carried @ poses.common[:, : carried.shape[-1]]
        noise: dict[str, Any] = {"covariance": covariance, "common": common, "half_width": None}
        return replace(poses, position=position, rotation=rotation, **noise)


def require_of_robot(moved: Poses) -> None:
    """Raise InputError unless poses that were moved into a robot's frame are near its base, and turn about z only."""
    far = abs(moved.position).max(axis=1)
    worst = int(far.argmax())
    require(
        bool(far[worst] <= _FARTHEST),
        f"with these frames, pose {worst} is {number(float(far[worst]))} m away from the base: check the units of "
        "positions, and that base.position is that of the base in the instrument's frame, not the other way round",
    )
    if moved.rotation is None:
        return
    tilt = np.degrees(np.arccos(np.clip(moved.rotation[:, 2, 2], -1.0, 1.0)))
    worst = int(tilt.argmax())
    require(
        bool(tilt[worst] < _TILT),
        f"with these frames, the platform is tilted by {tilt[worst]:.3g}° in pose {worst}, but this robot turns about "
        "z only: check that quaternions are scalar first, and that they are those of the base in the instrument's "
        "frame and of the platform in the target's",
    )


def hand_eye(measured: RigidMotion, modeled: RigidMotion, method: Linear = "shah") -> Frames:
    """Z and X of A_k X = Z B_k by a linear method, from poses (N) that differ in orientation.

    "shah": rotations by a singular vector of Σ R_B ⊗ R_A, then translations [SHA13]. "li": all at once by least
    squares [LWW10]. "andreff": X from relative motions by least squares, then Z [AHE01].

    Raises:
        InputError: fewer than three poses, or orientations that do not determine the frames.

    Examples:
        >>> from gough.core.rotations import exp
        >>> rng = np.random.default_rng(1)
        >>> B = RigidMotion(exp(0.3 * rng.normal(size=(9, 3))), rng.normal(size=(9, 3)))
        >>> Z, X = RigidMotion(exp(np.array([0.1, 2.0, 0.3])), np.ones(3)), RigidMotion(exp(np.ones(3)), np.zeros(3))
        >>> frames = hand_eye(Z @ B @ X.inverse(), B)
        >>> frames.base.t.round(9), bool(frames.position_rms < 1e-12)
        (array([1., 1., 1.]), True)
    """
    require(len(measured.R) == len(modeled.R) >= 3, "frames need at least three poses, measured and modeled alike")
    require_turns(modeled)
    R_X, R_Z = {"shah": shah, "li": _li, "andreff": _andreff}[method](measured, modeled)
    X, Z = with_translations(measured, modeled, R_X, R_Z)
    return _frames(Z, X, measured, modeled)


def refined(
    frames: Frames, measured: RigidMotion, modeled: RigidMotion, sigma: tuple[float, float] | None = None
) -> Frames:
    """The frames that minimize position and orientation errors together, and their covariance.

    `sigma` is the standard deviation of positions (m) and orientations (rad); without it the two are weighed by what
    their residuals turn out to be. The covariance has the size that the residuals show.

    Examples:
        >>> from gough.core.rotations import exp
        >>> rng = np.random.default_rng(1)
        >>> B = RigidMotion(exp(0.3 * rng.normal(size=(30, 3))), rng.normal(size=(30, 3)))
        >>> A = RigidMotion(exp(1e-3 * rng.normal(size=(30, 3))) @ B.R, B.t + 1e-3 * rng.normal(size=(30, 3)))
        >>> frames = refined(hand_eye(A, B), A, B)
        >>> bool(abs(frames.base.t / np.sqrt(frames.covariance.diagonal()[:3])).max() < 4)
        True
    """
    base, target = frames.base, frames.target
    covariance = np.eye(12)
    for _ in range(30):
        e = _errors(base, target, measured, modeled)
        weights = sigma or tuple(max(float(np.sqrt((part**2).mean())), 1e-15) for part in (e[:, :3], e[:, 3:]))
        scale = np.repeat(weights, 3)
        J = _derivatives(base, target, modeled)
        W, z = (J / scale[:, None]).reshape(-1, 12), (e / scale).reshape(-1)
        covariance = np.linalg.inv(W.T @ W)
        step = -covariance @ (W.T @ z)
        base, target = base.stepped(step[:6]), target.stepped(step[6:])
        if (abs(step) <= 1e-6 * np.sqrt(covariance.diagonal())).all():
            break
    dof = max(e.size - 12, 1)
    solution = _frames(base, target, measured, modeled)
    return Frames(base, target, covariance * float(z @ z) / dof, solution.position_rms, solution.rotation_rms)


def procrustes(points: Any, onto: Any, *, mirrored: bool = False) -> tuple[RigidMotion, float]:
    """The rigid motion that brings points nearest to others, and the root mean square distance that is left.

    With `mirrored` the motion is the best reflection instead, whose determinant is −1.

    Examples:
        >>> square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]])
        >>> motion, left = procrustes(square + 1.0, square)
        >>> motion.t.round(12), round(left, 12)
        (array([-1., -1., -1.]), 0.0)
    """
    P, Q = np.asarray(points, dtype=float), np.asarray(onto, dtype=float)
    p, q = P.mean(axis=0), Q.mean(axis=0)
    H = (Q - q).T @ (P - p)
    R = -nearest_rotation(-H) if mirrored else nearest_rotation(H)
    motion = RigidMotion(R, q - R @ p)
    return motion, float(np.sqrt(((motion.of(P) - Q) ** 2).sum(axis=1).mean()))


def _li(A: RigidMotion, B: RigidMotion) -> tuple[Array, Array]:
    n, eye = len(A.R), np.eye(3)
    rows, rest = np.zeros((n, 12, 24)), np.zeros((n, 12))
    for k in range(n):  # unknowns: rows of R_X, rows of R_Z, t_X, t_Z
        rows[k, :9, :9] = np.kron(A.R[k], eye)
        rows[k, :9, 9:18] = -np.kron(eye, B.R[k].T)
        rows[k, 9:, 9:18] = np.kron(eye, B.t[k])
        rows[k, 9:, 18:21] = -A.R[k]
        rows[k, 9:, 21:] = eye
        rest[k, 9:] = A.t[k]
    x, *_ = np.linalg.lstsq(rows.reshape(-1, 24), rest.reshape(-1), rcond=None)
    return nearest_rotation(x[:9].reshape(3, 3)), nearest_rotation(x[9:18].reshape(3, 3))


def _andreff(A: RigidMotion, B: RigidMotion) -> tuple[Array, Array]:
    first, eye = RigidMotion(A.R[:-1], A.t[:-1]).inverse(), np.eye(3)
    a = first @ RigidMotion(A.R[1:], A.t[1:])
    b = RigidMotion(B.R[:-1], B.t[:-1]).inverse() @ RigidMotion(B.R[1:], B.t[1:])
    rows, rest = np.zeros((len(a.R), 12, 12)), np.zeros((len(a.R), 12))
    for k in range(len(a.R)):  # unknowns: rows of R_X, t_X
        rows[k, :9, :9] = np.eye(9) - np.kron(a.R[k], b.R[k])
        rows[k, 9:, :9] = np.kron(eye, b.t[k])
        rows[k, 9:, 9:] = eye - a.R[k]
        rest[k, 9:] = a.t[k]
    x, *_ = np.linalg.lstsq(rows.reshape(-1, 12), rest.reshape(-1), rcond=None)
    X = nearest_rotation(x[:9].reshape(3, 3))
    return X, nearest_rotation((A.R @ X @ np.swapaxes(B.R, 1, 2)).mean(axis=0))


def _errors(base: RigidMotion, target: RigidMotion, measured: RigidMotion, modeled: RigidMotion) -> Array:
    """Measured less predicted poses of the target (N, 6): position, left rotation vector."""
    predicted = base @ modeled @ target.inverse()
    turn = log(measured.R @ np.swapaxes(predicted.R, -1, -2))
    return np.hstack([measured.t - predicted.t, turn])


def _derivatives(base: RigidMotion, target: RigidMotion, modeled: RigidMotion) -> Array:
    """Derivatives (N, 6, 12) of the errors by the steps of the two motions, for small errors of orientation."""
    predicted = base @ modeled @ target.inverse()
    J = np.zeros((len(predicted.t), 6, 12))
    J[:, :3, :3] = J[:, 3:, 3:6] = -np.eye(3)
    J[:, :3, 3:6] = cross_matrix(predicted.t - base.t)
    J[:, :3, 6:9] = J[:, 3:, 9:] = predicted.R
    J[:, :3, 9:] = predicted.R @ cross_matrix(target.t)
    return J


def _frames(base: RigidMotion, target: RigidMotion, measured: RigidMotion, modeled: RigidMotion) -> Frames:
    predicted = base @ modeled @ target.inverse()
    far = np.sqrt(((measured.t - predicted.t) ** 2).sum(axis=1).mean())
    turned = np.sqrt((angle_between(measured.R, predicted.R) ** 2).mean())
    return Frames(base, target, None, float(far), float(turned))
