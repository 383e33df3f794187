"""Efforts of a mechanism in plain NumPy: for changed dimensions, for which tracing and compiling kernels takes seconds.

Positions, velocities and accelerations of all frames are computed in base coordinates, from the base outwards, and
forces from the tips inwards [LWP80, §III]. Closure equations are sums of products of vectors, whose derivatives follow
from those of the frames. Samples are the last axis of all arrays here: vectors are (3, N).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.robots.mechanism.assembly import assembled
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import TERMS
from gough.robots.mechanism.parameters import Parameter
from gough.robots.mechanism.parts import Closure
from gough.robots.mechanism.placement import UNTURNED, Placement
from gough.robots.mechanism.structure import JointStep, Structure, structure

_CLOSED = 1e-12
_STEPS = 8


def efforts_of(mechanism: Mechanism, values: Mapping[Parameter, float], near: Array, dq: Array, ddq: Array) -> Array:
    """Efforts (N, actuators) of a mechanism: those of its regressor times the parameters' values.

    Args:
        mechanism: The mechanism.
        values: The values of parameters.
        near: All coordinates (N, n) of the motion, those of the actuators exactly, the others about: as of a mechanism
            with slightly different dimensions.
        dq: Velocities of the actuators (N, actuators).
        ddq: Their accelerations.

    Raises:
        InputError: the loops do not close near these coordinates.

    Examples:
        >>> from gough.robots import ThreeRRR, efforts
        >>> robot = ThreeRRR()
        >>> motion = robot.joint_motion([[0.02, 0.01, 0.1]], [[1.0, 0.0, 2.0]], [[0.0, 3.0, 1.0]])
        >>> near = robot.all_coordinates([[0.02, 0.01, 0.1]])
        >>> values = dict(zip(robot.parameters, robot.nominal, strict=True))
        >>> same = efforts_of(robot.mechanism, values, near, motion.dq, motion.ddq)
        >>> bool(abs(same - efforts(robot, robot.nominal, *motion)).max() < 1e-12)
        True
    """
    at, rows, unknown = structure(mechanism), _rows_of(mechanism), _unknown(mechanism)
    s, by_actuators, inverse = _followed(mechanism, near)
    ds = np.einsum("kin,ni->kn", by_actuators, dq)
    dds = np.einsum("kin,ni->kn", by_actuators, ddq)
    if inverse is not None:
        dds[unknown] -= _times(inverse, _Closures.at(at, rows, _frames(at, s, ds)).second)
    frames = _frames(at, s, ds, dds, -np.array(mechanism.gravity))
    forces = _forces(at, frames, _bodies(values))
    for parameter, value in values.items():
        for k in (at.coordinates.index(member) for member in parameter.members if parameter.term not in TERMS):
            forces[k] += value * _UNIT_FORCES[parameter.term](s[k], ds[k], dds[k], parameter.wave)
    return np.asarray(np.einsum("kin,kn->ni", by_actuators, forces))


def follow_actuators(mechanism: Mechanism, near: Array) -> tuple[Array, Array]:
    """All coordinates (N, n) where the loops close, and their derivatives (N, n, actuators) by the actuators'.

    `near` and errors are those of `efforts_of`.

    Examples:
        >>> from gough.robots import ThreeRRR
        >>> robot = ThreeRRR()
        >>> near = robot.all_coordinates([[0.02, 0.01, 0.1]])
        >>> s, by_actuators = follow_actuators(robot.mechanism, near)
        >>> bool(abs(s - near).max() < 1e-12), by_actuators.shape
        (True, (1, 9, 3))
    """
    s, by_actuators, _ = _followed(mechanism, near)
    return np.ascontiguousarray(s.T), np.ascontiguousarray(np.moveaxis(by_actuators, 2, 0))


def _rows_of(mechanism: Mechanism) -> list[int]:
    return list(assembled(mechanism).rows)


def _unknown(mechanism: Mechanism) -> list[int]:
    at = structure(mechanism)
    return list(at.others(at.actuated))


def _followed(mechanism: Mechanism, near: Array) -> tuple[Array, Array, Array | None]:
    """Coordinates (n, N), derivatives by actuators (n, actuators, N), and inverses of C, where anything is unknown."""
    at, unknown = structure(mechanism), _unknown(mechanism)
    known = list(at.actuated)
    s = np.ascontiguousarray(near.T)
    by_actuators = np.zeros((at.n, len(known), s.shape[1]))
    by_actuators[known, range(len(known))] = 1.0
    if not unknown:
        return s, by_actuators, None
    closures, inverse = _closed(mechanism, s, _rows_of(mechanism), unknown)
    by_actuators[unknown] = -np.einsum("nur,rkn->ukn", inverse, closures.by[:, known])
    return s, by_actuators, inverse


def _closed(mechanism: Mechanism, s: Array, rows: list[int], unknown: list[int]) -> "tuple[_Closures, Array]":
    """Bring the unknown coordinates to where the loops close; the closures there, and (N, …) inverses of their C."""
    at = structure(mechanism)
    for _ in range(_STEPS):
        closures = _Closures.at(at, rows, _frames(at, s))
        C = np.moveaxis(closures.by[:, unknown], 2, 0)
        if abs(closures.value).max() < _CLOSED:
            return closures, np.asarray(np.linalg.inv(C), dtype=np.float64)
        s[unknown] -= np.linalg.solve(C, closures.value.T[:, :, None])[:, :, 0].T
    raise InputError(f"the loops of {mechanism.name} do not close near these positions")


def _times(matrices: Array, v: Array) -> Array:
    return np.asarray(np.einsum("nur,rn->un", matrices, v))


def _cross(a: Array, b: Array) -> Array:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@dataclass(frozen=True, eq=False)
class _Axis:
    """The axis of a coordinate: about it turns or along it slides all that follows."""

    turns: bool
    direction: Array
    origin: Array


@dataclass(frozen=True, eq=False)
class _Frame:
    """A frame along a motion: rotation (3, 3, N), the others (3, N)."""

    rotation: Array
    position: Array
    turning: Array
    velocity: Array
    spin: Array
    """Angular acceleration."""
    acceleration: Array
    axes: dict[int, _Axis]
    """The axes of the coordinates that move it."""

    def shifted(self, arm: Array) -> "_Frame":
        """The frame with its origin moved by a vector that is fixed in it."""
        across = _cross(self.turning, arm)
        return _Frame(
            self.rotation,
            self.position + arm,
            self.turning,
            self.velocity + across,
            self.spin,
            self.acceleration + _cross(self.spin, arm) + _cross(self.turning, across),
            self.axes,
        )

    def placed(self, at: Placement) -> "_Frame":
        """A frame that stands still in this one."""
        moved = self.shifted(np.einsum("xin,i->xn", self.rotation, at.position)) if any(at.position) else self
        if at.rotation == UNTURNED:
            return moved
        return _with(moved, np.einsum("xin,ij->xjn", moved.rotation, at.matrix))

    def moved(self, step: JointStep, s: Array, ds: Array, dds: Array) -> "_Frame":
        """The frame after a turn or a slide by a coordinate (N,)."""
        before = self.placed(step.before)
        e = step.sign * before.rotation[:, step.axis]
        axes = {**before.axes, step.coordinate: _Axis(step.turns, e, before.position)}
        if not step.turns:
            there = before.shifted(e * s)
            acceleration = there.acceleration + 2 * _cross(there.turning, e) * ds + e * dds
            return _Frame(
                there.rotation,
                there.position,
                there.turning,
                there.velocity + e * ds,
                there.spin,
                acceleration,
                axes,
            )
        j, k = (step.axis + 1) % 3, (step.axis + 2) % 3
        c, sine = np.cos(s), step.sign * np.sin(s)
        rotation = before.rotation.copy()
        rotation[:, j] = c * before.rotation[:, j] + sine * before.rotation[:, k]
        rotation[:, k] = c * before.rotation[:, k] - sine * before.rotation[:, j]
        spin = before.spin + _cross(before.turning, e) * ds + e * dds
        turning = before.turning + e * ds
        return _Frame(rotation, before.position, turning, before.velocity, spin, before.acceleration, axes)

    @property
    def origin(self) -> "_Vector":
        """Position of the origin."""

        def by(axis: _Axis) -> Array:
            return _cross(axis.direction, self.position - axis.origin) if axis.turns else axis.direction

        return _Vector(self.position, self.velocity, self.acceleration, {k: by(a) for k, a in self.axes.items()})

    def axis(self, k: int) -> "_Vector":
        """One of the frame's axes."""
        e = self.rotation[:, k]
        first = _cross(self.turning, e)
        second = _cross(self.spin, e) + _cross(self.turning, first)
        return _Vector(e, first, second, {k: _cross(a.direction, e) for k, a in self.axes.items() if a.turns})


def _with(frame: _Frame, rotation: Array) -> _Frame:
    return _Frame(rotation, frame.position, frame.turning, frame.velocity, frame.spin, frame.acceleration, frame.axes)


@dataclass(frozen=True, eq=False)
class _Vector:
    """A vector with two derivatives in time, and those by the coordinates that change it."""

    value: Array
    first: Array
    second: Array
    by: dict[int, Array]

    def minus(self, other: "_Vector") -> "_Vector":
        by = dict(self.by)
        for k, each in other.by.items():
            by[k] = by[k] - each if k in by else -each
        return _Vector(self.value - other.value, self.first - other.first, self.second - other.second, by)

    def dot(self, other: "_Vector") -> "_Scalar":
        by: dict[int, Array] = {}
        for one, factor in ((self, other), (other, self)):
            for k, each in one.by.items():
                product = _dot(each, factor.value)
                by[k] = by[k] + product if k in by else product
        second = _dot(self.second, other.value) + 2 * _dot(self.first, other.first) + _dot(self.value, other.second)
        return _Scalar(_dot(self.value, other.value), second, by)

    def component(self, k: int) -> "_Scalar":
        return _Scalar(self.value[k], self.second[k], {j: each[k] for j, each in self.by.items()})


@dataclass(frozen=True, eq=False)
class _Scalar:
    """A closure equation (N,): its value, its second derivative in time, and those by the coordinates."""

    value: Array
    second: Array
    by: dict[int, Array]


@dataclass(frozen=True, eq=False)
class _Closures:
    """The independent closure equations."""

    value: Array
    """(rows, N)."""
    second: Array
    """(rows, N): second derivatives in time."""
    by: Array
    """(rows, coordinates, N): derivatives by the coordinates."""

    @classmethod
    def at(cls, at: Structure, rows: list[int], frames: list[_Frame]) -> "_Closures":
        every: list[_Scalar] = []
        for closure, first, second in at.closures:
            ends = [frames[k].placed(place) for k, place in zip((first, second), closure.placements, strict=True)]
            every += _rows(closure, ends[0], ends[1])
        chosen = [every[row] for row in rows]
        by = np.zeros((len(rows), at.n, frames[0].position.shape[1]))
        for r, row in enumerate(chosen):
            for k, each in row.by.items():
                by[r, k] = each
        return cls(np.stack([row.value for row in chosen]), np.stack([row.second for row in chosen]), by)


def _rows(closure: Closure, first: _Frame, second: _Frame) -> Iterator[_Scalar]:
    """The equations of one closure, as `gough.robots.mechanism._closing` states them, up to factors."""
    held = [d for d in closure.directions if len(d) == 1]
    turned = [d for d in closure.directions if len(d) == 2]
    around = {"rx": "yz", "ry": "zx", "rz": "xy"}

    def cosine(a: str, b: str) -> _Scalar:
        return first.axis("xyz".index(a)).dot(second.axis("xyz".index(b)))

    gap = second.origin.minus(first.origin) if held else None
    for d in closure.directions:
        if gap is not None and d in held:
            k = "xyz".index(d)
            yield gap.component(k) if len(held) == 3 else gap.dot(first.axis(k))
        elif len(turned) == 2:
            free = next(each[1] for each in around if each not in turned)
            yield cosine(around[d].replace(free, ""), free)
        else:  # of three, those with the other order follow where the frames are nearly parallel
            yield cosine(*around[d])


def _frames(
    at: Structure, s: Array, ds: Array | None = None, dds: Array | None = None, upwards: Array | None = None
) -> list[_Frame]:
    """The frames of all links, and that of the base as the last: number −1."""
    n = s.shape[1]
    none, still = np.zeros((3, n)), np.zeros_like(s)
    first, second = still if ds is None else ds, still if dds is None else dds
    gravity = none if upwards is None else none + upwards[:, None]
    base = _Frame(np.tile(np.eye(3)[:, :, None], (1, 1, n)), none, none, none, none, gravity, {})
    frames: list[_Frame] = []
    for link in at.links:
        frame = base if link.parent < 0 else frames[link.parent]
        for step in link.steps:
            k = step.coordinate
            frame = frame.moved(step, s[k], first[k], second[k])
        frames.append(frame.placed(link.after))
    return [*frames, base]


def _bodies(values: Mapping[Parameter, float]) -> dict[str, dict[str, float]]:
    """The ten inertial parameters of each body, by name."""
    found: dict[str, dict[str, float]] = {}
    for parameter, value in values.items():
        for member in parameter.members if parameter.term in TERMS else ():
            found.setdefault(member, dict.fromkeys(TERMS, 0.0))[parameter.term] = value
    return found


def _forces(at: Structure, frames: list[_Frame], bodies: dict[str, dict[str, float]]) -> Array:
    """Forces (coordinates, N) on the coordinates of the open tree, by Newton's and Euler's equations."""
    n = frames[-1].position.shape[1]
    force, moment = np.zeros((len(at.links), 3, n)), np.zeros((len(at.links), 3, n))  # about the base's origin
    total = np.zeros((at.n, n))
    for number in reversed(range(len(at.links))):
        link, frame = at.links[number], frames[number]
        own = bodies.get(link.body)
        if own is not None:
            f, about = _wrench(frame, own)
            force[number] += f
            moment[number] += about + _cross(frame.position, f)
        for step in link.steps:
            axis = frame.axes[step.coordinate]
            f, about = force[number], moment[number]
            lever = about - _cross(axis.origin, f) if axis.turns else f
            total[step.coordinate] = _dot(axis.direction, lever)
        if link.parent >= 0:
            force[link.parent] += force[number]
            moment[link.parent] += moment[number]
    return total


def _wrench(frame: _Frame, own: dict[str, float]) -> tuple[Array, Array]:
    """Force, and moment about the frame's origin, that a body needs."""
    m, sx, sy, sz, xx, yy, zz, xy, xz, yz = (own[term] for term in TERMS)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    S = np.einsum("xin,i->xn", frame.rotation, np.array([sx, sy, sz]))
    a, w, spin = frame.acceleration, frame.turning, frame.spin

    def product(v: Array) -> Array:
        return np.asarray(np.einsum("xin,in->xn", frame.rotation, inertia @ np.einsum("xin,xn->in", frame.rotation, v)))

    force = m * a + _cross(spin, S) + _cross(w, _cross(w, S))
    return force, _cross(S, a) + product(spin) + _cross(w, product(w))


_UNIT_FORCES: dict[str, Callable[[Array, Array, Array, float], Array]] = {
    "r": lambda _s, ds, _dds, _k: np.sign(ds),
    "v": lambda _s, ds, _dds, _k: ds,
    "J": lambda _s, _ds, dds, _k: dds,
    "o": lambda s, _ds, _dds, _k: np.ones_like(s),
    "cos": lambda s, _ds, _dds, k: np.cos(k * s),
    "sin": lambda s, _ds, _dds, k: np.sin(k * s),
}
"""Force on a coordinate per unit of a parameter of friction, a rotor or cogging: of s, ds, dds, wave number."""
