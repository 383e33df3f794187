"""The equations of a robot's chains: parameters, gains of readings, frames and the scale of positions are unknowns."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.rotations import cross_matrix, exp
from gough.geometry.descent import by_all_unknowns
from gough.kernels import Kernel
from gough.robots.kinematics import Columns

if TYPE_CHECKING:
    from gough.robots.compiled_chains import Chains


@dataclass(frozen=True, eq=False)
class ChainEquations(ArrayValue):
    """f(x, B, (1 + γ) reading) = 0 for each chain, with the pose of the platform B = E(ζ)⁻¹ B₀ E(ξ).

    B₀ is the measured pose, its rotation a small turn after the one that was read, its position times a scale. E(ζ) and
    E(ξ) are motions by which the frames of base and platform differ from those that B₀ is in: a shift, then a rotation
    vector. Unknowns: the parameters of the robot, then γ of each chain, ζ and ξ if `has_frames`, then the scale if
    `has_scale`; what is not unknown is zero, and the scale is one.

    What is measured of a pose: its position (3), its turn (3, zero as read) where the platform turns, and its readings
    (chains); exact ones of these are not among the measurements.
    """

    derivatives: Kernel
    columns: Columns
    n_parameters: int
    rotation: Array
    """(N, 3, 3) as read."""
    position: Array | None
    """(N, 3) where poses count as exact."""
    readings: Array | None
    """(N, chains) where readings count as exact."""
    turns: bool
    has_frames: bool = False
    has_scale: bool = False

    @property
    def n_unknowns(self) -> int:
        """Parameters, gains and twelve of the frames, scale."""
        return self.n_parameters + self.has_frames * (len(self.columns) + 12) + self.has_scale

    @cached_property
    def unknown_columns(self) -> Columns:
        """(chains, k): the unknowns of each chain."""
        n, p = len(self.columns), self.n_parameters
        parts = [self.columns]
        if self.has_frames:
            parts += [p + np.arange(n)[:, None], np.tile(np.arange(p + n, p + n + 12), (n, 1))]
        if self.has_scale:
            parts += [np.full((n, 1), self.n_unknowns - 1)]
        return np.hstack(parts)

    def residuals(self, theta: Array, measured: Array) -> Array:
        """(N, chains)."""
        return self._evaluate(theta, measured).values.residual

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """By the unknowns (N, chains, p) and by what was measured (N, chains, q)."""
        _, J, J_m = self.both(theta, measured)
        return J, J_m

    def both(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Residuals and both Jacobians, from one evaluation."""
        return by_all_unknowns(self, theta, measured)

    def by_chain(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Residuals (N, chains), derivatives by each chain's own unknowns (N, chains, k) and by what was measured."""
        at = self._evaluate(theta, measured)
        by_reading, by_pose, parts = at.values.by_reading, at.values.by_pose, [at.values.by_x]
        if at.frames is not None:
            own, by_pose = at.frames.derivatives(by_pose, at.rotation, at.seen)
            parts += [(by_reading * at.readings)[..., None], own]
            by_reading = by_reading * at.frames.gains
        if self.has_scale:
            parts.append(by_pose[..., :3] @ at.position[..., None])
            by_pose = by_pose * np.repeat([theta[-1], 1.0], 3)
        X = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return at.values.residual, X, self._by_measured(by_pose, by_reading)

    def _by_measured(self, by_pose: Array, by_reading: Array) -> Array:
        size = 0 if self.position is not None else 6 if self.turns else 3
        if self.readings is not None:
            return by_pose[..., :size]
        N, n = by_reading.shape
        J_m = np.zeros((N, n, size + n))
        J_m[..., :size] = by_pose[..., :size]
        J_m[:, range(n), range(size, size + n)] = by_reading
        return J_m

    def _parts(self, measured: Array) -> tuple[Array, Array, Array]:
        """Position, turn and readings."""
        rest = measured
        if self.position is None:
            position, rest = rest[:, :3], rest[:, 3:]
            turn, rest = (rest[:, :3], rest[:, 3:]) if self.turns else (np.zeros((len(rest), 3)), rest)
        else:
            position, turn = self.position, np.zeros((len(measured), 3))
        return position, turn, rest if self.readings is None else self.readings

    def _evaluate(self, theta: Array, measured: Array) -> "_Evaluated":
        from gough.robots.compiled_chains import chains_at  # noqa: PLC0415 - numba

        position, turn, readings = self._parts(measured)
        seen = position * theta[-1] if self.has_scale else position
        if not self.has_frames:
            there, turned, counted, frames, rotation = seen, self.rotation, readings, None, self.rotation
        else:
            frames = _Frames.of(theta[self.n_parameters :], readings.shape[1])
            rotation = exp(turn) @ self.rotation if turn.any() else self.rotation
            there, turned = frames.moved(seen, rotation)
            turn, counted = np.zeros((1, 3)), readings * frames.gains
        values = chains_at(self.derivatives, self.columns, theta, there, turned, counted, turn)
        return _Evaluated(values, position, seen, rotation, readings, frames)


class _Frames(NamedTuple):
    """Factors 1 + γ of the readings (chains,), and the motions ζ and ξ of the frames."""

    gains: Array
    base: Array
    target: Array

    @classmethod
    def of(cls, theta: Array, n: int) -> "_Frames":
        return cls(1 + theta[:n], theta[n : n + 6], theta[n + 6 : n + 12])

    def moved(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Position and rotation of B."""
        back = exp(self.base[3:]).T
        return (position + rotation @ self.target[:3] - self.base[:3]) @ back.T, back @ rotation @ exp(self.target[3:])

    def derivatives(self, by_pose: Array, rotation: Array, position: Array) -> tuple[Array, Array]:
        """By ζ and ξ (N, chains, 12), and by position and left rotation vector of B₀ (N, chains, 6).

        `by_pose` are the derivatives by B; `rotation` and `position` are those of B₀.
        """
        back = exp(self.base[3:]).T
        by_p, by_r = by_pose[..., :3] @ back, by_pose[..., 3:] @ back
        reach = rotation @ self.target[:3]
        parts = [
            -by_p,
            (by_p @ cross_matrix(position + reach - self.base[:3]) - by_r) @ left_jacobian(self.base[3:]),
            by_p @ rotation,
            by_r @ rotation @ left_jacobian(self.target[3:]),
        ]
        return np.concatenate(parts, axis=2), np.concatenate([by_p, by_r - by_p @ cross_matrix(reach)], axis=2)


class _Evaluated(NamedTuple):
    """The outputs of the kernel at B, and what B is made of."""

    values: "Chains"
    position: Array
    """As measured."""
    seen: Array
    """Times the scale."""
    rotation: Array
    readings: Array
    frames: _Frames | None


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
