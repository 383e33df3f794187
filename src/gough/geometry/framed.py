"""The equations of a robot's chains with gains of readings and the frames of instrument and target as unknowns too."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.rotations import cross_matrix, exp
from gough.data import Poses
from gough.geometry.frames import Frames, RigidMotion
from gough.geometry.geometric import fixed_prior, measured_of, require_enough, require_fit
from gough.kernels import Kernel
from gough.problem import Groups, NonlinearProblem
from gough.robots.kinematics import Columns, KinematicModel, PlatformPoses, all_derivatives, evaluate_chains
from gough.unknowns import Unknowns

_AXES = ("x", "y", "z", "rx", "ry", "rz")
BASE = tuple(f"base_{axis}" for axis in _AXES)
"""Unknowns of the base in the instrument's frame: a shift and a rotation vector, in the base's frame."""
PLATFORM = tuple(f"platform_{axis}" for axis in _AXES)
"""Unknowns of the platform in the target's frame: a shift and a rotation vector, in the platform's frame."""


def gain_names(model: KinematicModel) -> tuple[str, ...]:
    """Names of the factors of the readings, chain by chain."""
    return tuple(f"gain {chain}" for chain in model.chains)


def base_names(model: KinematicModel) -> tuple[str, ...]:
    """Unknowns of the base's frame that poses of such a robot can determine."""
    return BASE if 2 in model.freedoms else (BASE[0], BASE[1], BASE[5])


def platform_names(model: KinematicModel) -> tuple[str, ...]:
    """Unknowns of the target's frame that poses of such a robot can determine: none where it does not turn.

    The height of a platform that turns about z alone cannot be told from that of the base.
    """
    if 3 in model.freedoms:
        return PLATFORM
    return (PLATFORM[0], PLATFORM[1], PLATFORM[5]) if model.has_orientation else ()


@dataclass(frozen=True, eq=False)
class FramedEquations(ArrayValue):
    """f(x, B, (1 + γ) reading) = 0 for each chain, with the pose of the platform B = E(ζ)⁻¹ B₀ E(ξ).

    B₀ is the pose as known frames give it; E(ζ) and E(ξ) are motions by which the frames of base and platform differ
    from them: a shift, then a rotation vector. Unknowns: the parameters of the robot, γ of each chain, ζ and ξ.
    """

    derivatives: Kernel
    columns: Columns
    n_parameters: int
    rotation: Array
    """(N, 3, 3) of B₀."""
    position: Array | None
    """(N, 3) of B₀, where poses count as exact."""
    readings: Array | None
    """(N, chains), where readings count as exact."""
    turns: bool

    @property
    def n_unknowns(self) -> int:
        """Parameters, gains and twelve of the frames."""
        return self.n_parameters + len(self.columns) + 12

    @cached_property
    def unknown_columns(self) -> Columns:
        """(chains, k + 13): the unknowns of each chain."""
        n, p = len(self.columns), self.n_parameters
        frames = np.tile(np.arange(p + n, p + n + 12), (n, 1))
        return np.column_stack([self.columns, p + np.arange(n), frames])

    def residuals(self, theta: Array, measured: Array) -> Array:
        """(N, chains)."""
        return self.by_chain(theta, measured)[0]

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """By the unknowns (N, chains, p) and by what was measured (N, chains, q)."""
        _, J, J_m = self.both(theta, measured)
        return J, J_m

    def both(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Residuals and both Jacobians, from one evaluation."""
        f, X, J_m = self.by_chain(theta, measured)
        J = np.zeros((*f.shape, self.n_unknowns))
        for chain, columns in enumerate(self.unknown_columns):
            J[:, chain, columns] = X[:, chain]
        return f, J, J_m

    def by_chain(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Residuals (N, chains), derivatives by each chain's own unknowns (N, chains, k + 13) and by measurements."""
        n, p = len(self.columns), self.n_parameters
        gains, base, target = 1 + theta[p : p + n], theta[p + n : p + n + 6], theta[p + n + 6 :]
        position, rotation, readings = self._parts(measured)
        back = exp(base[3:]).T
        reach = rotation @ target[:3]
        seen = position + reach - base[:3]
        there = PlatformPoses(seen @ back.T, back @ rotation @ exp(target[3:]))
        values = evaluate_chains(self.derivatives, self.columns, theta[:p], there, readings * gains)
        by_p, by_r = (values["by_pose"][..., part] @ back for part in (slice(0, 3), slice(3, 6)))
        by_reading = values["by_reading"]
        turned = left_jacobian(base[3:])
        parts = [
            values["by_x"],
            (by_reading * readings)[..., None],
            -by_p,
            (by_p @ cross_matrix(seen) - by_r) @ turned,
            by_p @ rotation,
            by_r @ rotation @ left_jacobian(target[3:]),
        ]
        X = np.concatenate(parts, axis=2)
        pose = [by_p, by_r - by_p @ cross_matrix(reach)] if self.turns else [by_p]
        blocks = [] if self.position is not None else pose
        if self.readings is None:
            own = np.zeros((len(readings), n, n))
            own[:, range(n), range(n)] = by_reading * gains
            blocks = [*blocks, own]
        return values["residual"], X, np.concatenate(blocks, axis=2)

    def _parts(self, measured: Array) -> tuple[Array, Array, Array]:
        """Position and rotation of B₀, and readings."""
        rest, rotation = measured, self.rotation
        if self.position is None:
            position, rest = rest[:, :3], rest[:, 3:]
            if self.turns:
                rotation, rest = exp(rest[:, :3]) @ rotation, rest[:, 3:]
        else:
            position = self.position
        return position, rotation, rest if self.readings is None else self.readings


def left_jacobian(vector: Array) -> Array:
    """J with exp(v + dv) = exp(J dv) exp(v), to first order.

    Examples:
        >>> v, h = np.array([0.3, -0.2, 0.5]), np.array([1e-7, 2e-7, -1e-7])
        >>> bool(abs(exp(v + h) - exp(left_jacobian(v) @ h) @ exp(v)).max() < 1e-13)
        True
    """
    angle = float(np.linalg.norm(vector))
    K = cross_matrix(vector)
    if angle < 1e-4:
        return np.asarray(np.eye(3) + K / 2 + K @ K / 6)
    first, second = (1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.asarray(np.eye(3) + first * K + second * K @ K)


def framed(
    model: KinematicModel,
    poses: Poses,
    free: Sequence[str],
    *,
    start: Array,
    form: Literal["squared", "length"] = "length",
) -> NonlinearProblem:
    """The problem of some parameters, gains and unknowns of the frames, from poses in known frames that may differ.

    Args:
        model: The robot.
        poses: Measured poses, already moved by the frames as known.
        free: Names of the unknowns to find: parameters, `gain_names`, `base_names` and `platform_names`.
        start: Parameters, which stay unless they are free.
        form: Of the equations.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (9, 3))
        >>> poses = Poses(p + [0.001, 0.0, 0.002], None, printer.inverse(printer.nominal, p))
        >>> problem = framed(printer, poses, BASE, start=printer.nominal)
        >>> from gough.geometry.descent import approach
        >>> bool(abs(approach(problem, problem.unknowns.nominal).theta[13:19] - [1e-3, 0, 2e-3, 0, 0, 0]).max() < 1e-9)
        True
    """
    require_fit(model, poses)
    gains = gain_names(model)
    names = (*model.names, *gains, *BASE, *PLATFORM)
    units = (*model.units, *("" for _ in gains), *(("m",) * 3 + ("rad",) * 3) * 2)
    theta = np.concatenate([start, np.zeros(len(gains) + 12)])
    unknowns = Unknowns(names, units, theta, fixed_prior(None, free, theta, names))
    require_enough(unknowns, poses, model)
    measured, noise, exact = measured_of(model, poses)
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    equations = FramedEquations(
        all_derivatives(model.chain_kernel(form)),
        model.columns,
        len(model.names),
        rotation,
        poses.position if exact == "poses" else None,
        poses.readings if exact == "readings" else None,
        model.has_orientation,
    )
    return NonlinearProblem(equations, measured, unknowns, noise, Groups(model.chains, is_series=False))


def moved_frames(frames: Frames | None, base: Array, target: Array) -> Frames:
    """The frames after motions ζ of the base and ξ of the platform that `FramedEquations` finds."""
    Z, X = (frames.base, frames.target) if frames is not None else (RigidMotion(np.eye(3), np.zeros(3)),) * 2
    return Frames(Z @ motion_of(base), X @ motion_of(target))


def motion_of(vector: Array) -> RigidMotion:
    """E(v): a rotation by the last three entries, then a shift by the first three."""
    return RigidMotion(exp(vector[3:]), np.asarray(vector[:3]))
