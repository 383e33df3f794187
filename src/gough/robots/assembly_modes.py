"""Assembly modes: all poses in which a robot can be assembled at the same readings."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.core.rotations import angle_between, enclosed_rotation, exp, to_quaternion
from gough.kernels import Kernel
from gough.robots._candidates import Candidates
from gough.robots.kinematics import (
    Columns,
    KinematicModel,
    PlatformPoses,
    PoseFinder,
    all_derivatives,
    checked,
    checked_pose,
    checked_readings,
    evaluate_chains,
)

Which = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
_SAME = 1e-7
"""Modes nearer to each other than this (m) are one."""
_STEP = 0.06
_RADII = (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
"""Boxes that are tried, in m."""


class ModeChoice(NamedTuple):
    """The mode that a pose belongs to."""

    mode: Indices
    """(N,): its number among all modes; −1 where the sample has none."""
    distance: Array
    """(N,) m: from the pose to that mode, turns counted by the robot's lever."""
    other: Array
    """(N,) m: from that mode to the nearest other one of the sample; infinite where there is none."""

    @property
    def is_ambiguous(self) -> Which:
        """(N,): the poses that are so far from their mode that they may belong to another one."""
        return np.asarray(~(self.distance < self.other / 2))


@dataclass(frozen=True, eq=False)
class AssemblyModes(ArrayValue):
    """All poses that were found at the readings of N samples, M in all.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer = LinearDelta()
        >>> modes = assembly_modes(printer, printer.nominal, [[0.3, 0.3, 0.3]])
        >>> modes.count, modes.poses.position[:, 2].round(4), modes.is_proven
        (array([2]), array([0.1   , 0.7113]), array([ True,  True]))
    """

    sample: Indices
    """(M,): the sample of each mode, in increasing order."""
    poses: PlatformPoses
    error: Array
    """(M,) m: the exact mode is proven to lie in a box of this radius; 0 where nothing is proven."""
    alone: Array
    """(M,) m: it is proven to be the only one in a box of this radius; 0 where nothing is proven."""
    margin: Array
    """(M,): smallest singular value of the chains' lengths by the pose, turns in units of the lever: 0 at a
    singularity, where modes meet."""
    complete: Which
    """(N,): did the method look everywhere? Then no mode is missing, unless rounding hides one near a singularity.
    Otherwise at least those found exist."""
    lever: float
    """m: how far a turn by 1 rad counts as a distance; radii of boxes in rad are those in m over it."""

    @property
    def count(self) -> Indices:
        """(N,): number of modes of each sample."""
        return np.bincount(self.sample, minlength=len(self.complete))

    @property
    def is_proven(self) -> Which:
        """(M,): is there certainly one, and one only, next to the pose that is given?"""
        return self.error > 0

    def of(self, sample: int) -> PlatformPoses:
        """The modes of one sample."""
        rows = self.sample == sample
        return PlatformPoses(self.poses.position[rows], self.poses.rotation[rows])

    def belonging(self, poses: PlatformPoses) -> ModeChoice:
        """The mode that each of N poses, one for each sample, belongs to: the nearest.

        Examples:
            >>> from gough.robots import LinearDelta
            >>> printer = LinearDelta()
            >>> modes = assembly_modes(printer, printer.nominal, [[0.3, 0.3, 0.3]])
            >>> chosen = modes.belonging(PlatformPoses(np.array([[0.0, 0.0, 0.12]]), np.eye(3)[None]))
            >>> chosen.mode, chosen.distance.round(3), chosen.other.round(3), chosen.is_ambiguous
            (array([0]), array([0.02]), array([0.611]), array([False]))
        """
        N = len(self.complete)
        checked = checked_pose(poses.position, poses.rotation)
        require(len(checked.position) == N, f"there are {N} samples, but {len(checked.position)} poses")
        mode, distance, other = np.full(N, -1), np.full(N, np.inf), np.full(N, np.inf)
        for k in range(N):
            rows = np.flatnonzero(self.sample == k)
            if rows.size:
                modes = PlatformPoses(self.poses.position[rows], self.poses.rotation[rows])
                far = _distance(modes, PlatformPoses(checked.position[k], checked.rotation[k]), self.lever)
                best = int(far.argmin())
                mode[k], distance[k] = rows[best], far[best]
                apart = _distance(modes, PlatformPoses(modes.position[best], modes.rotation[best]), self.lever)
                other[k] = np.delete(apart, best).min(initial=np.inf)
        return ModeChoice(mode, distance, other)


def assembly_modes(model: KinematicModel, parameters: Any, readings: Any) -> AssemblyModes:
    """All poses that the robot can have at the readings (N, chains).

    Two for deltas, by spheres that meet; up to 6 for a planar 3-RRR and up to 8 for an H4 or Par4, by eigenvalues; up
    to 40 for a Gough platform, by following 40 complex paths. Each one found is then proven, where it is not singular.

    Examples:
        >>> from gough.robots import PlanarRRR
        >>> robot = PlanarRRR()
        >>> modes = assembly_modes(robot, robot.nominal, robot.inverse(robot.nominal, [0.02, 0.01, 0.0]))
        >>> modes.count, bool(modes.is_proven.all()), modes.complete
        (array([2]), True, array([ True]))
    """
    theta, values = checked(model, parameters), checked_readings(model, readings)
    return _settled(model, theta, values, model.mode_candidates(theta, values))


def nearest_other_mode(model: KinematicModel, parameters: Any, readings: Array, poses: PlatformPoses) -> Array:
    """Distances (N,) in m from poses that satisfy the equations to another mode nearby; infinite where none is found.

    Near a singularity two modes lie on both sides of a fold: along the direction v in which the lengths change least,
    by σ, with curvature κ, the other one is about 2 σ/κ away. Newton's method starts there.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer = LinearDelta(arm=0.1601)  # arms that are nearly level
        >>> flat = PlatformPoses(np.array([[0.0, 0.0, 0.1]]), np.eye(3)[None])
        >>> readings = printer.inverse(printer.nominal, flat.position)
        >>> nearest_other_mode(printer, printer.nominal, readings, flat).round(4)
        array([0.0113])
    """
    theta, free = checked(model, parameters), list(model.freedoms)
    finder = _finder(model)
    lever = _lever(model, theta, readings, poses)
    unit = np.where(np.array(free) < 3, 1.0, 1 / lever)

    def lengths_by(at: PlatformPoses) -> Array:
        return evaluate_chains(finder.derivatives, model.columns, theta, at, readings)["by_pose"][..., free] * unit

    U, sigma, V = np.linalg.svd(lengths_by(poses))
    u, v = U[:, :, -1], V[:, -1]
    step = np.zeros((len(v), 6))
    step[:, free] = v * unit
    h = 1e-5
    ends = [lengths_by(_shifted(poses, sign * h * step)) for sign in (1.0, -1.0)]
    curvature = np.einsum("ni,nij,nj->n", u, (ends[0] - ends[1]) / (2 * h), v)
    with np.errstate(all="ignore"):
        s = np.clip(-2 * sigma[:, -1] / curvature, -2.0, 2.0)
    s = np.where(np.isfinite(s), s, 0.0)
    p, R, arrived = finder.newton(theta, readings, *_shifted(poses, s[:, None] * step))
    far = _distance(PlatformPoses(p, R), poses, lever)
    return np.where(arrived & (far > _SAME), far, np.inf)


def _finder(model: KinematicModel) -> PoseFinder:
    return PoseFinder.of(model, _STEP)


def _shifted(poses: PlatformPoses, step: Array) -> PlatformPoses:
    return PlatformPoses(poses.position + step[:, :3], exp(step[:, 3:]) @ poses.rotation)


def _distance(poses: PlatformPoses, other: PlatformPoses, lever: float) -> Array:
    moved = np.linalg.norm(poses.position - other.position, axis=-1)
    return np.asarray(moved + lever * angle_between(poses.rotation, other.rotation))


def _lever(model: KinematicModel, theta: Array, readings: Array, poses: PlatformPoses) -> float:
    """By how much more a turn changes the lengths than a shift, m."""
    kernel = all_derivatives(model.chain_kernel("length"))
    J = evaluate_chains(kernel, model.columns, theta, poses, readings)["by_pose"]
    turns, moves = ([f for f in model.freedoms if (f > 2) is turning] for turning in (True, False))
    if not turns or not len(J):
        return 1.0
    size = [np.sqrt(np.nanmean(J[..., columns] ** 2)) for columns in (turns, moves)]
    return max(float(size[0] / size[1]), 1e-3)


def _settled(model: KinematicModel, theta: Array, readings: Array, candidates: Candidates) -> AssemblyModes:
    """Candidates, polished by Newton's method, each once, with proofs."""
    sample, _ = np.nonzero(candidates.may_be)
    finder = _finder(model)
    p, R, arrived = finder.newton(
        theta, readings[sample], candidates.position[candidates.may_be], candidates.rotation[candidates.may_be]
    )
    arrived &= abs(p).max(axis=1, initial=0.0) < 1e6
    complete = candidates.complete.copy()
    complete[sample[~arrived]] = False
    sample, poses = sample[arrived], PlatformPoses(p[arrived], R[arrived])
    lever = _lever(model, theta, readings[sample], poses)
    kept = _first_of_each(sample, poses, lever)
    sample, poses = sample[kept], PlatformPoses(poses.position[kept], poses.rotation[kept])
    values, none = readings[sample], np.zeros(0)
    if len(sample) == 0:
        return AssemblyModes(sample, poses, none, none, none, complete, lever)
    J = evaluate_chains(finder.derivatives, model.columns, theta, poses, values)["by_pose"][..., list(model.freedoms)]
    unit = np.where(np.array(model.freedoms) < 3, 1.0, 1 / lever)
    margin: Array = np.asarray(np.linalg.svd(J * unit, compute_uv=False)[..., -1], dtype=np.float64)
    error, alone = _ModeProof(finder.derivatives, model.columns, model.freedoms, lever).radii(theta, values, poses)
    return AssemblyModes(sample, poses, error, alone, margin, complete, lever)


def _first_of_each(sample: Indices, poses: PlatformPoses, lever: float) -> Indices:
    """Rows of modes that are not an earlier one of their sample again."""
    kept: list[int] = []
    for k in range(len(sample)):
        rows = [j for j in kept[-40:] if sample[j] == sample[k]]
        here = PlatformPoses(poses.position[k], poses.rotation[k])
        if not rows or _distance(PlatformPoses(poses.position[rows], poses.rotation[rows]), here, lever).min() > _SAME:
            kept.append(k)
    return np.array(kept, dtype=np.int64)


class _ModeProof:
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
        enclosed = self._kernel.enclose(x, position, repeated(R), turn, readings.reshape(-1))
        return {name: enclosed[name].reshape(M, n, *enclosed[name].shape[1:]) for name in ("residual", "by_pose")}


def _maps_inside(Y: Array, shift: Interval, J: Interval, r: Array) -> Array:
    """Is |Y f(c)| + |1 − Y J(X)| r < r?"""
    product = iv.sum(Interval(Y)[:, :, :, None] * iv.rearrange(lambda end: end[:, None], J), axis=2)
    reach = abs(shift) + iv.sum(abs(np.eye(len(r)) - product) * r)
    return np.asarray((reach.upper < r).all(axis=1))
