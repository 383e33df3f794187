"""Measured poses as chains over rods see them: enclosed positions and headings in the robot's frame, and their errors.

Poses may be of a target in the frame of an instrument. With the base in that frame, Z = (R_Z, t_Z), and the platform in
the target's, X = (R_X, t_X), a measured pose (A, a) of the target puts the platform of the robot at

    p = R_Zᵀ exp(−ζ) (a + δ + exp(ω) A (t_X + χ) − t_Z),    R = R_Zᵀ exp(−ζ) exp(ω) A exp(ξ) R_X,

where δ and ω are errors of the measured pose (δ contains the error of t_Z), and ζ, χ and ξ errors of the frames. The
heading is the direction of the first column of R, seen along z. All errors keep their own axes: none of their
intervals is widened by the change of frames. p and the heading are linear in them up to remainders that `moved_poses`
bounds.
"""

from typing import NamedTuple

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.intervals import Interval
from gough.core.rotations import enclosed_rotation, nearest_rotation, to_quaternion
from gough.data.poses import Poses
from gough.geometry.frames import Placement, StatedFrames, require_of_robot

_ROTATION = 2.0**-44
"""What a rotation that was read, made orthogonal and written as a quaternion is rounded by, entry by entry."""
_DECIMALS = 2.0**-48
"""What decimals and units are rounded by when they become doubles, relative."""
_STEEPEST = 0.25
"""The largest z of the platform's x axis for which remainders of the heading are bounded."""
_BENT = 1.6
"""A vector that is turned by the heading moves by its linear part up to so much times |ω|² of its length, see
`moved_poses`."""


class PoseError(NamedTuple):
    """An error of each pose, or of the frames in each pose: |ε| ≤ tolerance."""

    tolerance: Array
    """(N,), m or rad."""
    direction: Interval
    """(N, 3): what it moves the position by, for one unit of ε."""
    slope: Interval
    """(N,): what it turns the heading by, rad for one unit of ε."""


class SeenPoses(NamedTuple):
    """N poses in the robot's frame."""

    position: Interval
    """(N, 3), m, with the remainder of what linear errors leave out."""
    heading: tuple[Interval, Interval] | None
    """Cosine and sine (N,) of the heading, where the robot turns."""
    shifts: tuple[PoseError, ...]
    """Errors in m."""
    turns: tuple[PoseError, ...]
    """Errors in rad."""
    bend: Array
    """(N,): what linear errors of the heading leave out of a vector that it turns, for one unit of its length."""


def own_poses(poses: Poses, position: Array, heading: Array, *, axes: int, turns: bool) -> SeenPoses:
    """Poses that were measured in the robot's frame, with half-widths of positions (N, 3) and headings (N,).

    A planar robot has two axes.
    """
    N = len(poses)
    none = Interval(np.zeros(N))
    shifts = tuple(PoseError(position[:, i], Interval(np.tile(np.eye(3)[i], (N, 1))), none) for i in range(axes))
    p = Interval(poses.position * (np.arange(3) < axes))
    if not turns:
        return SeenPoses(p, None, shifts, (), np.zeros(N))
    assert poses.rotation is not None
    angle = Interval(np.arctan2(poses.rotation[:, 1, 0], poses.rotation[:, 0, 0]))
    error = PoseError(heading, Interval(np.zeros((N, 3))), Interval(np.ones(N)))
    bend = (iv.sqr(Interval(heading)) / 2).upper
    return SeenPoses(p, (iv.cos(angle), iv.sin(angle)), shifts, (error,), bend)


def moved_poses(
    poses: Poses, position: Array, orientation: Array, frames: StatedFrames, *, axes: int, turns: bool
) -> SeenPoses:
    """Poses of a target in an instrument's frame, with half-widths (N, 3) along its axes, moved into the robot's frame.

    With y = a + A t_X − t_Z the position is R_Zᵀ (y + δ + A χ + ω × A t_X − ζ × y) up to

        |ζ|²/2 |y| + |ζ| (|δ| + |χ| + |ω| (|t_X| + |χ|)) + |ω|²/2 |t_X| + |ω| |χ|.

    The heading of a unit vector u that turns with the velocity w grows by (w_z − (w·u) u_z) / (1 − u_z²). Along
    exp(−s ζ) exp(s ω) A exp(s ξ), with W = |ζ| + |ω| + |ξ|, its second derivative by s is at most 1.97 W² where
    |u_z| ≤ 1/4, and its first 1.04 W. So the heading is linear up to 0.99 W², and a vector that it turns up to
    0.99 W² + 0.54 W² < 1.6 W² of its length.

    Raises:
        InputError: with these frames the poses are not those of such a robot.
    """
    _require_measured(poses, frames, planar=axes == 2, turns=turns)
    require_of_robot(frames.moved(poses if turns else poses.without_rotation()))
    N, base, platform = len(poses), frames.base, frames.platform
    Z, still = _matrix(base), Interval(np.zeros((N, 3)))
    A = _measured_rotations(poses) if turns else None
    arm = still if A is None else iv.sum(A * _decimals(platform.position))
    y = _decimals(poses.position) + arm - _decimals(base.position)
    shift = (Interval(position) + base.position_tolerance).upper
    zeta, chi, xi = (
        np.tile(each, (N, 1))
        for each in (base.orientation_tolerance, platform.position_tolerance, platform.orientation_tolerance)
    )
    omega = orientation if turns else np.zeros((N, 3))
    shifts = _errors(Z, shift, Interval(np.tile(np.eye(3), (N, 1, 1))), still)
    turning, heading, rate = list[PoseError](), None, still
    if A is not None:
        u = _to_base(Z, iv.sum(A * _matrix(platform)[:, 0]))
        _require_known(u.mag[:, 2], omega + zeta + xi)
        level = iv.sqr(u[:, 0]) + iv.sqr(u[:, 1])
        heading = u[:, 0] / iv.sqrt(level), u[:, 1] / iv.sqrt(level)
        across = (-u[:, 2] * u[:, 0] / level, -u[:, 2] * u[:, 1] / level, Interval(np.ones(N)))
        rate = iv.sum(Z * _stacked(*across)[:, None])
        shifts += _errors(Z, chi, _transposed(A), still) if chi.any() else []
        turning += _errors(Z, omega, _crossed(arm), rate)
    if zeta.any():
        turning += _errors(Z, zeta, -_crossed(y), -rate)
    if A is not None and xi.any():
        turning += _errors(Z, xi, Interval(np.zeros((N, 3, 3))), iv.sum(A * rate[..., None], axis=1))
    z, w, c, far = _length(zeta), _length(omega), _length(chi), _length(platform.position)
    left = iv.sqr(z) / 2 * _length(y) + z * (_length(shift) + c + w * (far + c)) + iv.sqr(w) / 2 * far + w * c
    p = _to_base(Z, y) + Interval(-left.upper, left.upper)[:, None]
    flat = np.arange(3) < axes
    return SeenPoses(
        p * flat.astype(float),
        heading,
        tuple(error._replace(direction=error.direction * flat.astype(float)) for error in shifts),
        tuple(error._replace(direction=error.direction * flat.astype(float)) for error in turning),
        (_BENT * iv.sqr(z + w + _length(xi))).upper if turns else np.zeros(N),
    )


def _errors(Z: Interval, tolerance: Array, directions: Interval, rate: Interval) -> list[PoseError]:
    """Three errors with half-widths (N, 3), directions (N, 3, 3) in the instrument's frame, and rates (N, 3)."""
    return [PoseError(tolerance[:, j], _to_base(Z, directions[:, j]), rate[:, j]) for j in range(3)]


def _matrix(placement: Placement) -> Interval:
    """The rotation (3, 3) of a frame, wide enough for the decimals that became its quaternion."""
    R = enclosed_rotation(placement.quaternion[None])[0]
    whole = (R.lower == R.upper) & (R.mid == np.round(R.mid))  # the quaternion of no turn is exact
    return R + Interval(-_ROTATION, _ROTATION) * Interval((~whole).astype(float))


def _measured_rotations(poses: Poses) -> Interval:
    assert poses.rotation is not None
    return enclosed_rotation(to_quaternion(nearest_rotation(poses.rotation))) + Interval(-_ROTATION, _ROTATION)


def _decimals(values: Array) -> Interval:
    """Numbers, wide enough for the decimals that they were."""
    return Interval(values) * Interval(1 - _DECIMALS, 1 + _DECIMALS)


def _to_base(Z: Interval, vectors: Interval) -> Interval:
    """Vectors (N, 3) of the instrument's frame along the axes of the base."""
    return iv.sum(_transposed(Z) * vectors[:, None])


def _transposed(matrices: Interval) -> Interval:
    return iv.rearrange(lambda end: np.swapaxes(end, -1, -2), matrices)


def _stacked(*parts: Interval) -> Interval:
    return iv.rearrange(lambda *ends: np.stack(ends, axis=-1), *parts)


def _crossed(v: Interval) -> Interval:
    """The products e_j × v (N, 3, 3) of each axis with vectors."""
    x, y, z, none = v[:, 0], v[:, 1], v[:, 2], Interval(np.zeros(len(v)))
    rows = [_stacked(none, -z, y), _stacked(z, none, -x), _stacked(-y, x, none)]
    return iv.rearrange(lambda *ends: np.stack(ends, axis=1), *rows)


def _length(vectors: Array | Interval) -> Interval:
    return iv.sqrt(iv.sum(iv.sqr(vectors if isinstance(vectors, Interval) else Interval(vectors))))


def _require_measured(poses: Poses, frames: StatedFrames, *, planar: bool, turns: bool) -> None:
    """Refuse frames that tilt what has not been measured in all directions."""
    level = not (frames.base.quaternion[1:3].any() or frames.platform.quaternion[1:3].any())
    if level:
        return
    advice = "measure it, or state frames whose quaternions are (w, 0, 0, z)"
    if planar and not poses.position[:, 2].any():
        raise InputError(f"the frames tilt, but the poses have no z (or z = 0 throughout): {advice}")
    if turns and poses.rotation is not None and bool((poses.rotation[:, 2, 2] == 1.0).all()):
        raise InputError(
            f"the frames tilt, but only headings about z of the instrument were measured, no tilt: {advice}"
        )


def _require_known(steep: Array, turned: Array) -> None:
    """Refuse orientations that are uncertain by much: their remainders are not bounded."""
    fits = bool((steep + turned.sum(axis=1) <= _STEEPEST - 1e-9).all())
    require(fits, "orientations of poses and frames must be known to about ± 0.1 rad, all half-widths added")
