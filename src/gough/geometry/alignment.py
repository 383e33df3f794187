"""Poses of an instrument brought into the robot's frame by its blueprint, also where the zeros of readings are lost."""

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, require
from gough.core.rigid import RigidMotion
from gough.core.rotations import angle_between, nearest_rotation
from gough.data import Poses
from gough.geometry.frames import Frames, Placement, StatedFrames, hand_eye, procrustes, refined
from gough.robots.gough_platform import GoughPlatform
from gough.robots.kinematics import KinematicModel, PlatformPoses, PoseFinder, all_derivatives

_LARGEST = 0.06
"""Longest step of Newton's method, m."""
_POOR = 0.1
"""Frames that leave more than this share of the robot's size, or more rad, are no start."""
_LENGTHS = (0.7, 0.9, 1.1, 1.4, 1.8, 2.3)
"""Mean lengths of the legs that are tried where zeros are lost, over the distance of base and platform joints."""
_SOME = 24
"""Poses that frames are sought from at first."""


def modeled_poses(model: KinematicModel, theta: Array, readings: Array) -> tuple[PlatformPoses, Mask] | None:
    """Poses at readings (N, chains), and which of them are found; None where the robot cannot be assembled.

    The last few answers are kept: many conventions change the measured poses, but not the readings.
    """
    key = (id(model), theta.tobytes(), readings.tobytes())
    if key not in _known:
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)))
        _known[key] = (model, _modeled(model, theta, readings))
    return _known[key][1]


_KEPT = 4
_known: "dict[tuple[int, bytes, bytes], tuple[KinematicModel, tuple[PlatformPoses, Mask] | None]]" = {}


def _modeled(model: KinematicModel, theta: Array, readings: Array) -> tuple[PlatformPoses, Mask] | None:
    try:
        if not isinstance(model, GoughPlatform):
            return model.forward(theta, readings), np.ones(len(readings), dtype=bool)
        home = model.home(theta, readings)
    except InputError:
        return None
    kernel = all_derivatives(model.chain_kernel("length"))
    finder = PoseFinder(kernel, model.columns, model.freedoms, largest=_LARGEST)
    p, R, arrived = finder.newton(theta, readings, home.position, home.rotation)
    return PlatformPoses(p, R), np.asarray(arrived)


def moved_to_robot(model: KinematicModel, theta: Array, poses: Poses, *, zeros: bool = False) -> Poses:
    """Poses moved into the robot's frame, as its blueprint fits best.

    Args:
        model: The robot.
        theta: Its blueprint.
        poses: Poses in an instrument's frame.
        zeros: Whether lost zeros of a Gough platform's readings are sought too.

    Raises:
        InputError: the blueprint cannot be assembled at the readings, or poses do not determine the frames.
    """
    if isinstance(model, GoughPlatform):
        frames = aligned(model, theta, poses, zeros=zeros)[1]
    else:
        require(3 not in model.freedoms, "the frames of this robot are not estimated from its blueprint")
        frames = frames_of_translations(model, theta, poses)
    if poses.rotation is None or not model.has_orientation:
        poses = poses.without_rotation()
    return StatedFrames(Placement.of(frames.base), Placement.of(frames.target)).moved(poses)


def aligned(model: GoughPlatform, theta: Array, poses: Poses, *, zeros: bool = True) -> tuple[Array, Frames]:
    """The parameters, with other zeros where those of the blueprint do not fit, and the frames of the instrument.

    Raises:
        InputError: no zeros are found with which the blueprint can be assembled at the readings.
    """
    require(poses.rotation is not None, "hand–eye calibration needs measured orientations")
    require(len(model.base) == 6, "hand–eye calibration by the blueprint needs six legs")
    size = _size(model)
    here = _frames(model, theta, poses, polish=zeros)
    if here is not None and (not zeros or _left(here, size) < _POOR):
        return theta, here
    require(zeros, "the blueprint cannot be assembled at these readings")
    some = poses.select(np.unique(np.linspace(0, len(poses) - 1, min(len(poses), _SOME)).astype(int)))
    rows = model.rows(theta)
    mean = float((rows[:, 6] + rows[:, 7] * some.readings).mean())
    found: list[tuple[float, Array]] = []
    for length in _LENGTHS:
        shifted = rows.copy()
        shifted[:, 6] += length * size - mean
        found.append(_zeroed(model, shifted, some))
    left, best = min(found, key=lambda pair: pair[0])
    frames = _frames(model, best, poses, polish=True) if left < _POOR else None
    if frames is not None:
        return best, frames
    if here is None:
        raise InputError(
            "the blueprint cannot be assembled at most of the readings, whatever their zeros: check its dimensions, "
            "and unit, sign and order of the readings"
        )
    return theta, here


def frames_of_translations(model: KinematicModel, theta: Array, poses: Poses) -> Frames:
    """Frames of a robot that does not turn, or about z only; see `estimated_frames`."""
    found = modeled_poses(model, theta, poses.readings)
    modeled = model.forward(theta, poses.readings) if found is None else found[0]
    offset = np.zeros(3)
    motion, left = procrustes(poses.position, modeled.position)
    for _ in range(100 if model.has_orientation else 0):  # the tracked point turns with the platform
        before = left
        missing = motion.of(poses.position) - modeled.position
        offset = np.einsum("nij,ni->j", modeled.rotation, missing) / len(poses) * [1.0, 1.0, 0.0]
        motion, left = procrustes(poses.position, modeled.position + modeled.rotation @ offset)
        if left > (1 - 1e-3) * before:
            break
    base, target, turned = motion.inverse(), RigidMotion(np.eye(3), np.zeros(3)), 0.0
    if model.has_orientation and poses.rotation is not None:
        seen = motion.R @ poses.rotation
        mark = nearest_rotation(np.einsum("nji,njk->ik", seen, modeled.rotation))
        target = RigidMotion(mark, -mark @ offset)
        turned = float(np.sqrt((angle_between(seen @ mark, modeled.rotation) ** 2).mean()))
    return Frames(base, target, None, left, turned)


def _size(model: GoughPlatform) -> float:
    """Mean distance of the joints from the middle of their body."""
    points = (model.base - model.base.mean(axis=0), model.platform - model.platform.mean(axis=0))
    return float(np.mean([np.linalg.norm(each, axis=1).mean() for each in points])) or 1.0


def _left(frames: Frames, size: float) -> float:
    return frames.position_rms / size + frames.rotation_rms


def _frames(model: GoughPlatform, theta: Array, poses: Poses, *, polish: bool = False) -> Frames | None:
    """By hand–eye calibration on the poses at which the blueprint is assembled; None where there are few."""
    modeled = modeled_poses(model, theta, poses.readings)
    if modeled is None or poses.rotation is None:
        return None
    there, arrived = modeled
    if arrived.sum() < max(4, 0.6 * len(arrived)):
        return None
    A = RigidMotion(poses.rotation[arrived], poses.position[arrived])
    B = RigidMotion(there.rotation[arrived], there.position[arrived])
    try:
        return refined(hand_eye(A, B), A, B) if polish else hand_eye(A, B)
    except np.linalg.LinAlgError:
        return None


def _zeroed(model: GoughPlatform, rows: Array, poses: Poses) -> tuple[float, Array]:
    """What frames leave (relative), and the parameters with zeros that fit them: frames and zeros in turn."""
    size, best = _size(model), (np.inf, model.parameters(rows))
    assert poses.rotation is not None
    for _ in range(8):
        theta = model.parameters(rows)
        try:
            frames = _frames(model, theta, poses)
        except InputError:
            break
        if frames is None or not _left(frames, size) < best[0] * (1 - 1e-3):
            break
        best = (_left(frames, size), theta)
        moved = StatedFrames(Placement.of(frames.base), Placement.of(frames.target)).moved(poses)
        rows = rows.copy()
        rows[:, 6] += (rows[:, 7] * (model.inverse(theta, moved.position, moved.rotation) - poses.readings)).mean(
            axis=0
        )
    return best
