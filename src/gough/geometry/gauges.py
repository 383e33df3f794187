"""Gauges: which frames the joints of a platform are reported in, and what that makes of their uncertainty.

Measured poses fix base and platform in the instrument's frames; shapes can be compared with a blueprint, and with
another day, only in frames that belong to the robot. A gauge is six linear conditions on the joints of a body.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rigid import RigidMotion
from gough.core.rotations import cross_matrix, exp
from gough.geometry.frames import procrustes
from gough.robots.gough_platform import GoughPlatform


class Gauge(Protocol):
    """Six conditions C x = d on the coordinates x (18) of six joints, in the order x1, y1, z1, x2, …"""

    def conditions(self, reference: Array) -> tuple[Array, Array]:
        """C (6, 3 n) and d (6); `reference` are the blueprint's joints (n, 3)."""
        ...


@dataclass(frozen=True)
class Procrustes:
    """The joints lie as near to the blueprint's as they can: Σ a_i = Σ ā_i and Σ ā_i × a_i = 0.

    Every joint counts alike, so that no joint's error moves the others much: the gauge to report in.

    Examples:
        >>> Procrustes().conditions(np.eye(3))[0].shape
        (6, 9)
    """

    def conditions(self, reference: Array) -> tuple[Array, Array]:
        n = len(reference)
        mean = reference.mean(axis=0)
        shift = np.tile(np.eye(3), n)
        turn = np.hstack(list(cross_matrix(reference - mean)))
        return np.vstack([shift, turn]), np.concatenate([n * mean, np.zeros(3)])


@dataclass(frozen=True)
class CentroidGauge:
    """The centroid at the origin, y1 = y2 and z1 = z2 = z3: the gauge of the tables of [DACP06].

    It is ill-conditioned where joints 2 and 3 are close: 0.1 mm of height there tilts everything else.

    Examples:
        >>> CentroidGauge().conditions(np.zeros((6, 3)))[0].shape
        (6, 18)
    """

    def conditions(self, reference: Array) -> tuple[Array, Array]:
        n = len(reference)
        C = np.zeros((6, 3 * n))
        C[:3] = np.tile(np.eye(3), n)
        for row, (i, j) in enumerate(((1, 4), (2, 5), (5, 8)), start=3):
            C[row, i], C[row, j] = 1.0, -1.0
        return C, np.zeros(6)


@dataclass(frozen=True)
class PointGauge:
    """Joint 1 at the origin, joint 2 on the x axis, joint 3 in the plane z = 0 [DACP06, §3.1].

    Examples:
        >>> PointGauge().conditions(np.zeros((6, 3)))[0].sum(axis=1).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """

    def conditions(self, reference: Array) -> tuple[Array, Array]:
        C = np.zeros((6, 3 * len(reference)))
        C[range(6), [0, 1, 2, 4, 5, 8]] = 1.0
        return C, np.zeros(6)


class Regauged(NamedTuple):
    """Parameters in other frames, with their covariance, and the motions that lead there."""

    parameters: Array
    covariance: Array | None
    base: RigidMotion
    """From the frame that the joints of the base were in to the gauge's."""
    platform: RigidMotion


def regauged(
    model: GoughPlatform,
    parameters: Array,
    covariance: Array | None = None,
    gauge: Gauge | None = None,
    *,
    bodies: Sequence[str] = ("base", "platform"),
) -> Regauged:
    """A platform's parameters in a gauge (Procrustes by default), with the covariance carried along.

    `bodies` are those whose joints are moved; the joints of the other one stay.

    A gauge changes nothing that can be measured: leg lengths and predicted poses stay, in the new frames. Within a
    gauge its conditions hold without error, so the covariance loses 12 dimensions and is S C Sᵀ [BAA81] with
    S = I − N (K N)⁻¹ K, where K are the conditions and N is what small motions of the frames do.

    Examples:
        >>> robot = GoughPlatform.deltalab()
        >>> moved = robot.nominal + np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0], 6)
        >>> bool(abs(regauged(robot, moved).parameters - robot.nominal).max() < 1e-12)
        True
    """
    rows = model.rows(parameters)
    width = 8 if model.gains else 7
    chosen = gauge or Procrustes()
    S, motions = np.eye(rows.shape[0] * width), []
    rows = rows.copy()
    for body, columns, reference in (
        ("base", slice(0, 3), model.base),
        ("platform", slice(3, 6), model.platform),
    ):
        if body not in bodies:
            motions.append(RigidMotion(np.eye(3), np.zeros(3)))
            continue
        C, d = chosen.conditions(reference)
        motion = _into(rows[:, columns], reference, C, d)
        rows[:, columns] = motion.of(rows[:, columns])
        places = (np.arange(len(rows))[:, None] * width + np.arange(width)[columns]).reshape(-1)
        N = _small_motions(rows[:, columns])
        turn = np.kron(np.eye(len(rows)), motion.R)
        S[np.ix_(places, places)] = turn - N @ np.linalg.solve(C @ N, C @ turn)
        motions.append(motion)
    carried = None if covariance is None else S @ covariance @ S.T
    return Regauged(model.parameters(rows), carried, motions[0], motions[1])


def _into(points: Array, reference: Array, C: Array, d: Array) -> RigidMotion:
    """The motion after which the points satisfy C x = d, by Newton's method from the blueprint's place."""
    motion, _ = procrustes(points, reference)
    if np.linalg.cond(C @ _small_motions(motion.of(points))) > 1e10:
        raise InputError("this gauge does not fix the frame: its joints lie on one line")
    for _ in range(50):
        x = motion.of(points)
        step: Array = np.asarray(np.linalg.solve(C @ _small_motions(x), d - C @ x.reshape(-1)), dtype=np.float64)
        step[3:] /= max(1.0, float(np.linalg.norm(step[3:])) / 0.5)
        motion = RigidMotion(exp(step[3:]), step[:3]) @ motion
        if abs(step).max() < 1e-14:
            break
    return motion


def _small_motions(points: Array) -> Array:
    """What a shift and a left turn do to the coordinates of points: (3 n, 6)."""
    return np.hstack([np.tile(np.eye(3), (len(points), 1)), np.concatenate(list(-cross_matrix(points)))])
