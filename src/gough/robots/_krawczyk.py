"""Proof that one pose, and only one, satisfies the equations of a robot in a box around a computed pose."""

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.intervals import Interval
from gough.core.rotations import enclosed_rotation, to_quaternion
from gough.kernels import Kernel
from gough.robots.kinematics import Columns, PlatformPoses

_RADII = (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
"""Boxes that are tried, in m."""


class ModeProof:
    """Krawczyk's operator: K = c − Y f(c) + (1 − Y J(X)) (X − c) inside X proves one solution in X [KRA69].

    Coordinates of X: a shift of the position, and a turn (Cayley's) after the rotation of a quaternion of doubles,
    which is enclosed. What is proven is about the parameters and readings as they stand, as doubles.
    """

    def __init__(self, derivatives: Kernel, columns: Columns, freedoms: tuple[int, ...], lever: float) -> None:
        self._kernel, self._columns, self._free = derivatives, columns, list(freedoms)
        self._unit = np.where(np.array(self._free) < 3, 1.0, 1 / lever)

    def radii(self, theta: Array, readings: Array, poses: PlatformPoses) -> tuple[Array, Array]:
        """The smallest and the largest box (m) that prove their one solution, for poses (M): 0 where none does."""
        smallest, largest = np.zeros(len(readings)), np.zeros(len(readings))
        quaternion = to_quaternion(poses.rotation)
        if 3 not in self._free:
            quaternion[:, 1:3] = 0.0
        R = enclosed_rotation(quaternion)
        center = self._evaluate(theta, readings, poses.position, R, np.zeros(6))
        Y: Array = np.asarray(np.linalg.inv(center["by_pose"].mid[..., self._free]), dtype=np.float64)
        shift = iv.sum(Interval(Y) * iv.rearrange(lambda end: end[:, None], center["residual"]))  # Y f(c)
        for result, radii in ((largest, _RADII), (smallest, _RADII[::-1])):
            for radius in radii:
                rows = (
                    np.flatnonzero(result == 0)
                    if result is largest
                    else np.flatnonzero((smallest == 0) & (largest > 0))
                )
                if rows.size == 0:
                    break
                r = np.zeros(6)
                r[self._free] = radius * self._unit
                over = self._evaluate(theta, readings[rows], poses.position[rows], R[rows], r)["by_pose"]
                proven = _maps_inside(Y[rows], shift[rows], over[..., self._free], r[self._free])
                result[rows[proven]] = radius
        return smallest, largest

    def _evaluate(self, theta: Array, readings: Array, p: Array, R: Interval, r: Array) -> dict[str, Interval]:
        M, n = readings.shape
        x = np.broadcast_to(theta[self._columns], (M, *self._columns.shape)).reshape(M * n, -1)

        def repeated(values: Interval) -> Interval:
            return iv.rearrange(lambda end: np.repeat(end, n, axis=0), values)

        position = repeated(Interval.centered(p, np.broadcast_to(r[:3], p.shape)))
        turn = Interval(np.tile(-r[3:], (M * n, 1)), np.tile(r[3:], (M * n, 1)))
        found = self._kernel.enclose(x, position, repeated(R), turn, readings.reshape(-1))
        return {name: found[name].reshape(M, n, *found[name].shape[1:]) for name in ("residual", "by_pose")}


def _maps_inside(Y: Array, shift: Interval, J: Interval, r: Array) -> Array:
    """Is |Y f(c)| + |1 − Y J(X)| r < r?"""
    product = iv.sum(Interval(Y)[:, :, :, None] * iv.rearrange(lambda end: end[:, None], J), axis=2)
    reach = abs(shift) + iv.sum(abs(np.eye(len(r)) - product) * r)
    return np.asarray((reach.upper < r).all(axis=1))
