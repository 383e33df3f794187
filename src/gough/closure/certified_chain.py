"""One chain of a delta, H4, Par4 or planar 3-RRR with interval data, in unknowns in which it is quadratic.

Angles are replaced by the vectors that they turn: a tower by its place, an arm on a motor at the angle q by
cos q U + sin q V with U ⟂ V of equal length. Boxes of those unknowns become boxes of the robot's parameters.
"""

from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gough.closure.quadratic_chain import QuadraticChain
from gough.closure.seen_poses import PoseError, SeenPoses, moved_poses, own_poses
from gough.core import intervals as iv
from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.data.poses import Poses
from gough.geometry.calibrate import require_frames_of
from gough.geometry.frames import StatedFrames
from gough.region import Box
from gough.robots import KinematicModel, LinearDelta, PlanarRRR, RotaryDelta
from gough.robots.arm_chain import TurningArms

_XYZ = ("x", "y", "z")
_LEVEL_AXIS = (
    {(3, 6): 1.0, (4, 7): 1.0, (5, 8): 1.0},
    {(3, 7): 1.0, (4, 6): -1.0},
    {(3, 3): 1.0, (4, 4): 1.0, (8, 8): -1.0},
    {(6, 6): 1.0, (7, 7): 1.0, (5, 5): -1.0},
    {(3, 5): 1.0, (6, 8): 1.0},
    {(4, 5): 1.0, (7, 8): 1.0},
)
"""Conditions of an arm on a level axis: U ⟂ V, both have one heading, and the level part of each is as long as the
upright part of the other. Some follow from others, but not from their relaxations."""
_ON_RADIUS = ({(0, 4): 1.0, (1, 3): -1.0}, {(0, 7): 1.0, (1, 6): -1.0})
"""The motor lies on the line from the origin in the heading of its arm."""


class Tolerances(NamedTuple):
    """What each measurement may be off by: numbers, or arrays that broadcast over the poses.

    Examples:
        >>> poses = Poses([[0.0, 0.0, 0.1]], None, [[0.2, 0.2, 0.2]]).with_noise(1e-4, None, 1e-5)
        >>> Tolerances.of_noise(poses, sigmas=2, reading=3e-5)[:2]
        (array([[0.0002, 0.0002, 0.0002]]), 3e-05)
    """

    position: Any
    """m, axis by axis: one, three, or (N, 3)."""
    reading: Any
    """In the unit of the readings: one, one for each chain, or (N, chains)."""
    orientation: Any = None
    """rad, of the left rotation vector: one, three, or (N, 3); of robots that turn about z only, of the heading, unless
    poses are in an instrument's frame. None: not stated, which counts as exact for robots that do not turn."""

    @classmethod
    def of_noise(
        cls, poses: Poses, sigmas: float = 3.0, *, position: Any = None, reading: Any = None, orientation: Any = None
    ) -> "Tolerances":
        """So many standard deviations of the noise that the poses state, except for what is stated here.

        Raises:
            InputError: a half-width is neither stated nor follows from the noise.
        """
        if position is None:
            position = _deviations(poses, "position", sigmas)
        if orientation is None:
            orientation = 0.0 if poses.rotation is None else _deviations(poses, "orientation", sigmas)
        if reading is None:
            stated = poses.reading_sigma is not None
            require(stated, "state half-widths of readings, or the standard deviation of their noise")
            reading = sigmas * np.asarray(poses.reading_sigma)
        return cls(position, reading, orientation)

    def broadcast(self, poses: Poses) -> "Tolerances":
        """Arrays (N, 3), (N, chains) and (N, 3).

        Raises:
            InputError: a half-width has a wrong shape, or is negative.
        """
        n, m = poses.readings.shape
        position, reading, orientation = (
            array(0.0 if each is None else each, f"tolerances: {name}", ndim=(0, 1, 2))
            for name, each in self._asdict().items()
        )
        axes = "state one half-width for all axes, or one for each of three"
        require(all(each.shape in {(), (1,), (3,), (n, 3)} for each in (position, orientation)), axes)
        fits = reading.shape in {(), (1,), (m,), (n, m)}
        require(fits, f"readings must have one half-width, or one for each of {m} chains")
        for what, each in (("positions", position), ("readings", reading), ("orientations", orientation)):
            good = bool((each >= 0).all() and np.isfinite(each).all())
            require(good, f"half-widths of {what} must not be negative, infinite or NaN")
        return Tolerances(
            np.broadcast_to(position, (n, 3)), np.broadcast_to(reading, (n, m)), np.broadcast_to(orientation, (n, 3))
        )


def _deviations(poses: Poses, what: str, sigmas: float) -> Array:
    """Bounds of positions or orientations (N, 3) that the poses state, or so many standard deviations of them."""
    axes = slice(0, 3) if what == "position" else slice(3, 6)
    if poses.half_width is not None:
        return poses.half_width[:, axes].copy()
    require(poses.covariance is not None, f"state half-widths of {what}, or the standard deviation of its noise")
    sigma = np.sqrt(np.diagonal(np.asarray(poses.total_covariance), axis1=-2, axis2=-1)[..., axes])
    return np.broadcast_to(sigmas * sigma, (len(poses), 3)).copy()


def certified_chain(
    model: KinematicModel,
    poses: Poses,
    chain: int,
    prior: Box,
    tolerances: Tolerances,
    *,
    frames: StatedFrames | None = None,
) -> QuadraticChain:
    """The problem of one chain (counted from 1): which of its parameters fit all poses within tolerances?

    The prior is a box of the unknowns of `chain_names`; `quadratic_unknowns` computes them from parameters. Poses are
    in the robot's frame, or in that of an instrument if `frames` are given.

    Examples:
        >>> from gough.methods import LiftedHull
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (30, 3))
        >>> poses = Poses(p, None, printer.inverse(printer.nominal, p))
        >>> truth = quadratic_unknowns(printer, printer.nominal, 1)
        >>> problem = certified_chain(printer, poses, 1, Box.around(truth, 0.3), Tolerances(1e-5, 1e-6))
        >>> answer = LiftedHull().estimate(problem)
        >>> answer.claim.name, truth in answer.region, bool(answer.region.width.max() < 2e-3)
        ('PROOF', True, True)
    """
    require(1 <= chain <= len(model.chains), f"there is no chain {chain}: the {model.name} has {len(model.chains)}")
    require(poses.n_chains == len(model.chains), f"the {model.name} has {len(model.chains)} readings a pose")
    turns = model.has_orientation
    require(not turns or poses.rotation is not None, f"the {model.name} turns: its chains need measured headings")
    N, names = len(poses), chain_names(model, chain)
    read = np.broadcast_to(np.asarray(tolerances.reading, dtype=float), (N,))
    axes = 2 if isinstance(model, PlanarRRR) else 3
    moved = np.broadcast_to(np.asarray(tolerances.position, dtype=float), (N, 3))
    turned = np.asarray(0.0 if tolerances.orientation is None else tolerances.orientation, dtype=float)
    if frames is None:
        seen = own_poses(poses, moved, np.broadcast_to(turned, (N,)), axes=axes, turns=turns)
    else:
        require_frames_of(model, frames)
        seen = moved_poses(poses, moved, np.broadcast_to(turned, (N, 3)), frames, axes=axes, turns=turns)
    parts, q = _Parts(N, len(names)), _Angles(poses.readings[:, chain - 1], read)
    for error in seen.shifts:
        parts.add(error.tolerance, D=error.direction)
    p, place = seen.position, {(i, i): Interval(-np.ones(N)) for i in range(axes)}
    rest: dict[str, Any] = {"reading": len(seen.shifts), "chain": chain}
    entries = place
    if isinstance(model, LinearDelta):
        parts.add(read, D=Interval(np.tile([0.0, 0.0, 1.0], (N, 1))))
        p = _raised(p, q.value)
    elif isinstance(model, PlanarRRR):
        entries = place | _turned(parts, q, 2, -1.0)
    else:
        require(isinstance(model, RotaryDelta | TurningArms), "legs are certified by certified_leg()")
        radial = isinstance(model, RotaryDelta)
        rest["conditions"] = (*_LEVEL_AXIS, *_ON_RADIUS) if radial else _LEVEL_AXIS
        rest["satisfying"] = partial(_on_level_axis, radial=radial)
        entries = place | _swung(parts, q)
    first = len(names) - 3
    for error in seen.turns:
        parts.add(error.tolerance, error.direction, None if not turns else _slopes(parts, seen, error, first))
    if seen.heading is not None:
        c, s = seen.heading
        entries |= {(0, first): c, (0, first + 1): -s, (1, first): s, (1, first + 1): c}
        parts.bend[:, [first, first + 1]] += seen.bend[:, None]
    unit = "m" if isinstance(model, LinearDelta) else "rad"
    return QuadraticChain(names, prior, p, parts.matrix(entries), *parts.errors(), reading_unit=unit, **rest)


def _slopes(parts: "_Parts", seen: SeenPoses, error: PoseError, first: int) -> Interval:
    """What an error of the heading moves a vector of the platform by, whose coordinates begin at column `first`."""
    assert seen.heading is not None
    c, s = (part * error.slope for part in seen.heading)
    return parts.matrix({(0, first): -s, (0, first + 1): -c, (1, first): c, (1, first + 1): -s})


def chain_names(model: KinematicModel, chain: int) -> tuple[str, ...]:
    """The unknowns of a chain (counted from 1) in which it is quadratic.

    Examples:
        >>> chain_names(LinearDelta(), 1)
        ('tower_x_1', 'tower_y_1', 'carriage_1', 'arm_1')
    """
    if isinstance(model, LinearDelta):
        stems: tuple[str, ...] = ("tower_x", "tower_y", "carriage", "arm")
    elif isinstance(model, PlanarRRR):
        stems = ("base_x", "base_y", "arm_x", "arm_y", "joint_x", "joint_y", "rod")
    else:
        level, down = (tuple(f"{word}_{axis}" for axis in _XYZ) for word in ("arm_at_0", "arm_at_90"))
        joint = ("joint_x", "joint_y") if model.has_orientation else ()
        stems = (*(f"motor_{axis}" for axis in _XYZ), *level, *down, *joint, "rod")
    return tuple(f"{stem}_{chain}" for stem in stems)


def quadratic_unknowns(model: KinematicModel, parameters: Any, chain: int) -> Array:
    """The unknowns of `chain_names` for the robot's parameters.

    Examples:
        >>> quadratic_unknowns(PlanarRRR(), PlanarRRR().nominal, 1).round(3) + 0.0
        array([0.  , 0.45, 0.3 , 0.  , 0.  , 0.12, 0.3 ])
    """
    row = np.asarray(parameters, dtype=float)[model.columns[chain - 1]]
    if isinstance(model, LinearDelta):
        endstop, radius, angle, arm = row
        top = endstop + np.sqrt(arm**2 - radius**2)
        return np.array([radius * np.cos(angle), radius * np.sin(angle), top, arm])
    if isinstance(model, PlanarRRR):
        x, y, zero, arm, rod, joint_x, joint_y = row
        return np.array([x, y, arm * np.cos(zero), arm * np.sin(zero), joint_x, joint_y, rod])
    if isinstance(model, RotaryDelta):
        radius, height, angle, zero, arm, rod = row
        motor, joint = [radius * np.cos(angle), radius * np.sin(angle), height], []
    else:
        motor, (angle, zero, arm, rod), joint = list(row[:3]), row[3:7], list(row[7:])
    radial = np.array([np.cos(angle), np.sin(angle), 0.0])
    c, s, z = np.cos(zero), np.sin(zero), np.array([0.0, 0.0, 1.0])
    return np.concatenate([motor, arm * (c * radial - s * z), -arm * (s * radial + c * z), joint, [rod]])


def chain_parameters(model: KinematicModel, chain: int, box: Box) -> Box:
    """The robot's own parameters of a chain (counted from 1), in their order, over a box of its quadratic unknowns.

    Angles are given within half a turn of the blueprint's.

    Examples:
        >>> box = chain_parameters(LinearDelta(), 1, Box([-0.1, 0.0, 0.7, 0.3], [-0.1, 0.0, 0.7, 0.3]))
        >>> [round(float(v), 4) for v in box.center]
        [0.4172, 0.1, 3.1416, 0.3]
    """
    if box.is_empty:
        return Box.empty(model.columns.shape[1])
    x = [Interval(low, high) for low, high in zip(box.lower, box.upper, strict=True)]
    near = model.nominal[model.columns[chain - 1]].tolist()
    if isinstance(model, LinearDelta):
        square = iv.sqr(x[0]) + iv.sqr(x[1])
        angle = _angle(x[0], x[1], near[2])
        parts = [x[2] - iv.sqrt(iv.sqr(x[3]) - square), iv.sqrt(square), angle, x[3]]
    elif isinstance(model, PlanarRRR):
        zero = _angle(x[2], x[3], near[2])
        parts = [*x[:2], zero, iv.sqrt(iv.sqr(x[2]) + iv.sqr(x[3])), x[6], *x[4:6]]
    else:
        # U = arm (cos zero r − sin zero e_z) and V = −arm (sin zero r + cos zero e_z), r = (cos angle, sin angle, 0)
        arm = iv.sqrt(iv.sqr(x[3]) + iv.sqr(x[4]) + iv.sqr(x[5])) & iv.sqrt(iv.sqr(x[6]) + iv.sqr(x[7]) + iv.sqr(x[8]))
        place = 2 if isinstance(model, RotaryDelta) else 3
        zero = _angle(-x[8], -x[5], near[place + 1])
        r = [iv.cos(zero) * x[3 + i] - iv.sin(zero) * x[6 + i] for i in range(2)]  # times the arm
        angle = _angle(r[0], r[1], near[place])
        if isinstance(model, RotaryDelta):
            radius = iv.cos(angle) * x[0] + iv.sin(angle) * x[1]  # the motor's place is radius · r
            if bool(radius.lower > 0):
                radius = radius & iv.sqrt(iv.sqr(x[0]) + iv.sqr(x[1]))
            parts = [radius, x[2], angle, zero, arm, x[9]]
        else:
            parts = [*x[:3], angle, zero, arm, x[11], *x[9:11]]
    if any(bool(np.any(iv.is_empty(part))) for part in parts):
        return Box.empty(len(parts))
    return Box(np.array([float(v.lower) for v in parts]), np.array([float(v.upper) for v in parts]))


def _angle(x: Interval, y: Interval, near: float) -> Interval:
    """Angles of the vectors (x, y), within half a turn of `near`: turned back by it first, away from the branch cut."""
    c, s = iv.cos(Interval(near)), iv.sin(Interval(near))
    return near + iv.atan2(c * y - s * x, c * x + s * y)


class _Angles(NamedTuple):
    """Angles (N,) and what each may be off by."""

    value: Array
    tolerance: Array

    @property
    def cosine(self) -> Interval:
        return iv.cos(Interval(self.value))

    @property
    def sine(self) -> Interval:
        return iv.sin(Interval(self.value))


class _Parts:
    """Errors of N measurements of a chain with n unknowns, gathered one by one."""

    def __init__(self, N: int, n: int) -> None:
        self.N, self.n = N, n
        self._D: list[Interval] = []
        self._B: list[Interval] = []
        self._tolerance: list[Array] = []
        self.bend = np.zeros((N, n))

    def add(self, tolerance: Array, D: Interval | None = None, B: Interval | None = None) -> None:
        """An error with its direction D + B x."""
        self._tolerance.append(np.asarray(tolerance))
        self._D.append(Interval(np.zeros((self.N, 3))) if D is None else D)
        self._B.append(Interval(np.zeros((self.N, 3, self.n))) if B is None else B)

    def errors(self) -> tuple[Interval, Interval, Array, Array]:
        """D, B, tolerance, bend."""
        D, B = (iv.rearrange(lambda *ends: np.stack(ends, axis=1), *parts) for parts in (self._D, self._B))
        return D, B, np.stack(self._tolerance, axis=1), self.bend

    def matrix(self, entries: dict[tuple[int, int], Interval]) -> Interval:
        """A matrix (N, 3, n) with some entries."""
        place = {key: k for k, key in enumerate(entries)}

        def filled(*ends: Array) -> Array:
            result = np.zeros((self.N, 3, self.n))
            for (i, j), k in place.items():
                result[:, i, j] = ends[k]
            return result

        return iv.rearrange(filled, *entries.values())


def _raised(position: Interval, reading: Array) -> Interval:
    """Positions (N, 3) with readings added to z."""
    z = position[:, 2] + reading
    return iv.rearrange(lambda x, y, top: np.stack([x, y, top], axis=1), position[:, 0], position[:, 1], z)


def _bent(parts: _Parts, columns: list[int], tolerance: Array) -> None:
    """What a turn by up to the tolerance leaves of second order of the vectors in these columns: |x| τ²/2."""
    parts.bend[:, columns] += (iv.sqr(Interval(tolerance)) / 2).upper[:, None]


def _turned(parts: _Parts, angle: _Angles, first: int, sign: float) -> dict[tuple[int, int], Interval]:
    """The vector ± R(angle) x in the plane, whose coordinates begin at column `first`, and the error of its angle."""
    c, s = sign * angle.cosine, sign * angle.sine
    derivative = {(0, first): -s, (0, first + 1): -c, (1, first): c, (1, first + 1): -s}
    parts.add(angle.tolerance, B=parts.matrix(derivative))
    _bent(parts, [first, first + 1], angle.tolerance)
    return {(0, first): c, (0, first + 1): -s, (1, first): s, (1, first + 1): c}


def _swung(parts: _Parts, q: _Angles) -> dict[tuple[int, int], Interval]:
    """The vector −cos q U − sin q V of an arm, and the error of its angle."""
    c, s = q.cosine, q.sine
    turn = {(i, 3 + i): s for i in range(3)} | {(i, 6 + i): -c for i in range(3)}
    parts.add(q.tolerance, B=parts.matrix(turn))
    _bent(parts, [3, 4, 5, 6, 7, 8], q.tolerance)
    return {(i, 3 + i): -c for i in range(3)} | {(i, 6 + i): -s for i in range(3)}


def _on_level_axis(x: Array, *, radial: bool) -> tuple[Fraction, ...]:
    """A point near x whose arm turns about a level axis, exactly: U and V from its length and two angles.

    If it is radial, the motor lies on the line from the origin in the heading of its arm. Cosine and sine of an angle
    are (1 − t²)/(1 + t²) and 2 t/(1 + t²) for a short t near the tangent of half of it.

    Examples:
        >>> x = _on_level_axis(quadratic_unknowns(RotaryDelta(), RotaryDelta().nominal, 2), radial=True)
        >>> x[3] * x[6] + x[4] * x[7] + x[5] * x[8]
        Fraction(0, 1)
    """
    values = [Fraction(value) for value in x.tolist()]
    zero = np.arctan2(-x[5], -x[8])
    heading = np.cos(zero) * x[3:5] - np.sin(zero) * x[6:8]
    (level, down), (c, s) = _cosine_sine(zero), _cosine_sine(np.arctan2(heading[1], heading[0]))
    arm = Fraction(float(np.sqrt((x[3:9] @ x[3:9]) / 2)))
    values[3:6] = arm * level * c, arm * level * s, -arm * down
    values[6:9] = -arm * down * c, -arm * down * s, -arm * level
    if radial:
        radius = Fraction(float(x[0]) * float(c) + float(x[1]) * float(s))
        values[:2] = radius * c, radius * s
    return tuple(values)


def _cosine_sine(angle: float) -> tuple[Fraction, Fraction]:
    """Numbers near cos and sin whose squares add to 1."""
    behind = np.cos(angle) < 0  # half of the angle is kept below 45°, and the vector turned by 180° after
    t = Fraction(round(float(np.tan((angle - np.pi * behind) / 2)) * 2**44), 2**44)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return (-c, -s) if behind else (c, s)
