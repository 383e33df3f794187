"""How probable data are under a blueprint that is about right: what corrections of conventions are compared by.

A calibration with every parameter free absorbs many mistakes, such as legs in another order: only the blueprint then
shows them. Parameters are taken as normal about the blueprint with an unknown relative deviation τ, zeros of readings
as unknown, frames as roughly right, and errors of readings as normal with an unknown deviation σ. The marginal
likelihood of the readings, maximized over σ and τ, is that of a linear model at the most probable parameters.
"""

from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError
from gough.core.rotations import cross_matrix, exp
from gough.data import Poses
from gough.robots.kinematics import KinematicModel, PlatformPoses, all_derivatives, evaluate_chains

_TAU = np.array([1e-3, 5e-3, 0.02, 0.06])
"""Relative deviations of the parameters."""
_FRAME = 0.05
"""Deviation of frames: over the robot's size, and in rad."""
_STEPS = 6
_SIGMAS = 24
_LEAST = 1e-7
"""Smallest deviation of errors, over the travel of the readings."""


class Evidence(NamedTuple):
    """The logarithm of the marginal likelihood of a pose, and how well its readings are predicted."""

    per_pose: float
    left: float
    """Root mean square error of readings at the most probable parameters, over their standard deviation."""


def evidence_of(model: KinematicModel, blueprint: Array, poses: Poses, stretch: float = 1.0) -> Evidence | None:
    """The evidence of poses in the robot's frame; None where the equations cannot be evaluated.

    Args:
        model: The robot.
        blueprint: Its parameters.
        poses: Poses and readings, about in the robot's frame.
        stretch: Factor that readings were multiplied by, so that densities are those of the readings as stated.
    """
    size, travel = _size(model, blueprint), poses.readings.std(axis=0)
    travel = np.maximum(travel, 1e-3 * max(float(travel.max()), 1e-12))
    scale = _scale(model, blueprint, size)
    kernel = all_derivatives(model.chain_kernel("length"))
    turns = model.has_orientation and poses.rotation is not None
    at = PlatformPoses(
        poses.position, np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    )
    p, frames = len(blueprint), 12 if turns else 6
    is_zero = np.isin(model.names, model.zeros)
    u = np.zeros(p + frames)
    best: Evidence | None = None
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            y, J = _linear(model, kernel, blueprint, u, at, poses.readings, travel, turns=turns)
            if not (np.isfinite(y).all() and np.isfinite(J).all()):
                return best
            Q, R = np.linalg.qr(J)
            z = Q.T @ y
            rest = max(float(y @ y - z @ z), 0.0)
            deviations = [_deviations(scale, is_zero, size, each, frames) for each in _TAU]
            found = [_marginal(z, R * each, rest, len(y) - len(z)) for each in deviations]
            k = int(np.argmax([each[0] for each in found]))
            u = deviations[k] * found[k][1]
            value = found[k][0] - float(np.log(travel / abs(stretch)).sum()) * len(poses)
            now = Evidence(value / len(poses), float(np.sqrt(np.mean((y - J @ u) ** 2))))
            if best is not None and now.per_pose < best.per_pose + 0.01:
                best = max(best, now)
                break
            best = now if best is None else max(best, now)
    return best


def readings_of(model: KinematicModel, blueprint: Array, poses: Poses) -> Array | None:
    """Readings (N, chains) that the blueprint has at these poses; None where it cannot reach all."""
    return readings_at(model, blueprint, poses.position, poses.rotation)


def readings_at(model: KinematicModel, blueprint: Array, position: Array, rotation: Array | None) -> Array | None:
    """The same at positions (N, 3) and rotations (N, 3, 3)."""
    try:
        with np.errstate(all="ignore"):
            q = model.inverse(blueprint, position, rotation if model.has_orientation else None)
    except InputError:
        return None
    return q if bool(np.isfinite(q).all()) else None


def _size(model: KinematicModel, blueprint: Array) -> float:
    lengths = [unit == "m" and name not in model.zeros for name, unit in zip(model.names, model.units, strict=True)]
    return float(np.sqrt((blueprint[lengths] ** 2).mean())) * 1.5 if any(lengths) else 1.0


def _scale(model: KinematicModel, blueprint: Array, size: float) -> Array:
    """What a relative deviation of one is for each parameter: the robot's size, a radian, the gain itself."""
    units = np.array(model.units)
    return np.where(units == "m", size, np.where(units == "rad", 1.0, np.maximum(abs(blueprint), 1e-12)))


def _deviations(scale: Array, is_zero: Mask, size: float, tau: float, frames: int) -> Array:
    """Prior standard deviations of all unknowns: parameters, and frames in units of the size and rad."""
    own = np.where(is_zero, np.maximum(scale, size) if size else scale, tau * scale)
    return np.concatenate([own, np.full(frames, _FRAME) * np.tile(np.repeat([size, 1.0], 3), frames // 6)])


def _linear(  # noqa: PLR0917 - one linearization
    model: KinematicModel,
    kernel: object,
    blueprint: Array,
    u: Array,
    at: PlatformPoses,
    readings: Array,
    travel: Array,
    *,
    turns: bool,
) -> tuple[Array, Array]:
    """Errors of readings at the blueprint, by the tangent at u, and their derivatives: both over the travel."""
    p = len(blueprint)
    moved = _moved(at, u[p:], turns=turns)
    values = evaluate_chains(kernel, model.columns, blueprint + u[:p], moved, readings)  # type: ignore[arg-type]
    factor = -1 / (values["by_reading"] * travel)
    N, n = readings.shape
    J = np.zeros((N, n, len(u)))
    for chain, columns in enumerate(model.columns):
        J[:, chain, columns] = values["by_x"][:, chain]
    by_pose = values["by_pose"]
    p_now, R_now = moved
    middle = p_now.mean(axis=0)
    J[..., p : p + 3] = by_pose[..., :3]
    J[..., p + 3 : p + 6] = by_pose[..., 3:] - by_pose[..., :3] @ cross_matrix(p_now - middle)
    if turns:
        J[..., p + 6 : p + 9] = by_pose[..., :3] @ R_now
        J[..., p + 9 :] = by_pose[..., 3:] @ R_now
    A = (J * factor[..., None]).reshape(N * n, -1)
    # the reading that closes the chain, less the one measured, vanishes at the truth: 0 = e + J (u* − u) + noise
    e = (values["residual"] * factor).reshape(-1)
    return A @ u - e, A


def _moved(at: PlatformPoses, frames: Array, *, turns: bool) -> PlatformPoses:
    middle = at.position.mean(axis=0)
    turn = exp(frames[3:6])
    position, rotation = (at.position - middle) @ turn.T + middle + frames[:3], turn @ at.rotation
    if turns:
        position = position + rotation @ frames[6:9]
        rotation = rotation @ exp(frames[9:])
    return PlatformPoses(position, rotation)


def _marginal(y: Array, A: Array, rest: float, spare: int) -> tuple[float, Array]:
    """Ln p of y ~ N(0, σ² I + A Aᵀ) and of further `spare` values with squares `rest` and variance σ².

    The largest over σ, with the most probable factors of A's columns.
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    z = U.T @ y
    rest = rest + max(float(y @ y - z @ z), 0.0)
    n = len(y) + spare
    rms = float(np.sqrt((y @ y + rest) / n)) + 1e-12
    variance = np.geomspace(_LEAST, max(10 * rms, 10 * _LEAST), _SIGMAS)[:, None] ** 2
    total = variance + s**2
    white = (n - len(s)) * np.log(variance[:, 0]) + rest / variance[:, 0]
    value = -0.5 * ((np.log(total) + z**2 / total).sum(axis=1) + white)
    k = int(value.argmax())
    return float(value[k]) - 0.5 * n * float(np.log(2 * np.pi)), Vt.T @ (s * z / total[k])
