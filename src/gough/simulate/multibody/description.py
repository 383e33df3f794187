"""A mechanism as a tree of rigid bodies and the closures that make loops of it: one description for every engine."""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Literal, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require

Vector = tuple[float, float, float]
AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Solid:
    """Mass, its center, and its principal moments of inertia about that center, along the axes of the body's frame."""

    mass: float
    center: Vector
    inertia: Vector

    def __post_init__(self) -> None:
        numbers = (self.mass, *self.center, *self.inertia)
        require(all(isfinite(number) for number in numbers), "masses, centers and inertias must be finite")
        require(self.mass >= 0 and min(self.inertia) >= 0, "masses and inertias cannot be negative")


@dataclass(frozen=True)
class Joint:
    """A turn about an axis of the body's frame, or a slide along it."""

    name: str
    kind: Literal["turn", "slide"]
    axis: Literal["x", "y", "z"]
    armature: float = 0.0
    """Inertia of a rotor that turns with the joint, seen behind the gear."""


@dataclass(frozen=True)
class Segment:
    """A round bar to draw, in the body's frame. It has no mass and touches nothing."""

    start: Vector
    end: Vector
    radius: float


@dataclass(frozen=True)
class Body:
    """A rigid body that moves against its parent by its joints, in order; its frame moves with it."""

    name: str
    parent: str
    """Name of the parent; "" is the base."""
    joints: tuple[Joint, ...]
    solid: Solid
    position: Vector = (0.0, 0.0, 0.0)
    """Origin of the frame in the parent's frame when all joints are at zero."""
    heading: float = 0.0
    """Turn about z from the parent's frame when all joints are at zero."""
    segments: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Closure:
    """Two points, of two bodies, that a ball joint keeps together."""

    name: str
    bodies: tuple[str, str]
    points: tuple[Vector, Vector]


class BodyMotion(NamedTuple):
    """A body's frame along a motion, in base coordinates: rotations (N, 3, 3), the others (N, 3)."""

    rotation: Array
    position: Array
    turning: Array
    velocity: Array

    def at(self, point: Vector) -> tuple[Array, Array]:
        """Position and velocity (N, 3) of a point of the body."""
        arm = self.rotation @ np.asarray(point)
        return self.position + arm, self.velocity + np.cross(self.turning, arm)


@dataclass(frozen=True)
class Tree:
    """Bodies, each after its parent and before other branches (depth first), and the closures between them.

    Examples:
        >>> swing = Joint("swing", "turn", "y")
        >>> bob = Solid(mass=2.0, center=(0.0, 0.0, -0.5), inertia=(0.0, 0.0, 0.0))
        >>> pendulum = Tree("pendulum", (Body("rod", "", (swing,), bob),), actuated=("swing",))
        >>> pendulum.energy(np.array([[0.0]]), np.array([[3.0]]))  # m v²/2 - m g l
        array([-7.56])
    """

    name: str
    bodies: tuple[Body, ...]
    closures: tuple[Closure, ...] = ()
    actuated: tuple[str, ...] = ()
    """Names of the joints that motors drive."""
    gravity: float = 9.81
    """Acceleration of free fall, towards -z."""

    def __post_init__(self) -> None:
        branch: list[str] = []
        for body in self.bodies:
            while branch and branch[-1] != body.parent:
                branch.pop()
            require(body.parent == "" or bool(branch), f"body '{body.name}' must follow its parent, depth first")
            branch.append(body.name)
        bodies, joints = {body.name for body in self.bodies}, set(self.coordinates)
        require(len(bodies) == len(self.bodies), "two bodies have one name")
        require(len(joints) == len(self.coordinates), "two joints have one name")
        require(set(self.actuated) <= joints, "an actuated joint is not in the tree")
        require(all(set(closure.bodies) <= bodies for closure in self.closures), "a closure names an unknown body")

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints in the order of the coordinates."""
        return tuple(joint for body in self.bodies for joint in body.joints)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates: one joint each."""
        return tuple(joint.name for joint in self.joints)

    def motion(self, q: Array, dq: Array) -> dict[str, BodyMotion]:
        """How the frames move for coordinates and velocities (N, coordinates), by name of the body."""
        n = len(q)
        still = np.zeros((n, 3))
        found = {"": BodyMotion(np.broadcast_to(np.eye(3), (n, 3, 3)), still, still, still)}
        k = 0
        for body in self.bodies:
            parent = found[body.parent]
            position, velocity = parent.at(body.position)
            rotation, turning = parent.rotation @ turn(body.heading, "z"), parent.turning
            for joint in body.joints:
                axis = rotation[:, :, AXES[joint.axis]]
                if joint.kind == "turn":
                    turning = turning + axis * dq[:, k, None]
                    rotation = rotation @ turn(q[:, k], joint.axis)
                else:
                    slid = axis * q[:, k, None]
                    position = position + slid
                    velocity = velocity + np.cross(turning, slid) + axis * dq[:, k, None]
                k += 1
            found[body.name] = BodyMotion(rotation, position, turning, velocity)
        return found

    def gaps(self, q: Array) -> Array:
        """The vectors (N, closures, 3) between the two points of each closure: zero where the loops are closed."""
        return self._differences(q, np.zeros_like(q), 0)

    def closure_jacobian(self, q: Array) -> Array:
        """∂gaps/∂q (N, 3 closures, coordinates). The mechanism has as many freedoms as this has columns less rank."""
        units = np.eye(q.shape[1])
        columns = [self._differences(q, np.broadcast_to(unit, q.shape), 1).reshape(len(q), -1) for unit in units]
        return np.stack(columns, axis=-1)

    def energy(self, q: Array, dq: Array) -> Array:
        """Kinetic energy plus potential energy against z = 0 (N,), armatures included."""
        moving = self.motion(q, dq)
        armature = np.array([joint.armature for joint in self.joints])
        total = dq**2 @ armature / 2
        for body in self.bodies:
            frame, solid = moving[body.name], body.solid
            center, velocity = frame.at(solid.center)
            spin = np.einsum("nij,ni->nj", frame.rotation, frame.turning)  # in the body's axes
            total += solid.mass * ((velocity**2).sum(axis=1) / 2 + self.gravity * center[:, 2])
            total += spin**2 @ np.array(solid.inertia) / 2
        return total

    def weights(self, q: Array) -> Array:
        """The forces (N, coordinates) that hold the open tree still against gravity."""
        forces = np.zeros_like(q)
        for k, unit in enumerate(np.eye(q.shape[1])):
            moving = self.motion(q, np.broadcast_to(unit, q.shape))
            for body in self.bodies:
                rising = moving[body.name].at(body.solid.center)[1][:, 2]
                forces[:, k] += body.solid.mass * self.gravity * rising
        return forces

    def _differences(self, q: Array, dq: Array, order: int) -> Array:
        """Differences of positions (order 0) or velocities (order 1) between the two points of each closure."""
        moving = self.motion(q, dq)
        pairs = [
            [moving[body].at(point)[order] for body, point in zip(c.bodies, c.points, strict=True)]
            for c in self.closures
        ]
        return np.stack([second - first for first, second in pairs], axis=1)


def turn(angles: Array | float, axis: Literal["x", "y", "z"]) -> Array:
    """Rotation matrices (..., 3, 3) of turns (...,) about an axis.

    Examples:
        >>> turn(np.pi / 2, "z").round(12) @ [1.0, 0.0, 0.0]
        array([0., 1., 0.])
    """
    i = AXES[axis]
    j, k = (i + 1) % 3, (i + 2) % 3
    matrices = np.zeros((*np.shape(angles), 3, 3))
    matrices[..., i, i] = 1.0
    matrices[..., j, j] = matrices[..., k, k] = np.cos(angles)
    matrices[..., k, j] = np.sin(angles)
    matrices[..., j, k] = -matrices[..., k, j]
    return matrices
