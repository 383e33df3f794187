"""Positions and velocities of the bodies of a mechanism, in plain NumPy: for drawings, energies and checks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.parts import BASE
from gough.robots.mechanism.placement import STILL, UNTURNED, Placement, Vector
from gough.robots.mechanism.structure import JointStep, structure


class BodyMotion(NamedTuple):
    """A body's frame along a motion, in base coordinates: rotations (N, 3, 3), the others (N, 3)."""

    rotation: Array
    position: Array
    turning: Array
    velocity: Array

    def at(self, point: Vector) -> tuple[Array, Array]:
        """Position and velocity (N, 3) of a point of the body."""
        lever = self.rotation @ np.asarray(point)
        return self.position + lever, self.velocity + np.cross(self.turning, lever)

    def placed(self, placement: Placement) -> "BodyMotion":
        """The motion of a frame that is fixed in this one."""
        if placement == STILL:
            return self
        position, velocity = self.at(placement.position)
        return BodyMotion(_turned(self.rotation, placement), position, self.turning, velocity)

    def moved(self, step: JointStep, s: Array, ds: Array) -> "BodyMotion":
        """The motion of a frame that turns or slides against this one by a coordinate s (N,) with velocity ds."""
        before = self.placed(step.before)
        axis = step.sign * before.rotation[:, :, step.axis]
        if step.turns:
            rotation = before.rotation @ turns(step.sign * s, step.axis)
            return before._replace(rotation=rotation, turning=before.turning + axis * ds[:, None])
        shift = axis * s[:, None]
        velocity = before.velocity + np.cross(before.turning, shift) + axis * ds[:, None]
        return before._replace(position=before.position + shift, velocity=velocity)


def turns(angles: Array, axis: int) -> Array:
    """Rotation matrices (N, 3, 3) about the x, y or z axis (0, 1, 2).

    Examples:
        >>> turns(np.array([np.pi / 2]), 2).round(12)[0] @ [1.0, 0.0, 0.0]
        array([0., 1., 0.])
    """
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrices = np.zeros((len(angles), 3, 3))
    matrices[:, axis, axis] = 1.0
    matrices[:, j, j] = matrices[:, k, k] = np.cos(angles)
    matrices[:, k, j] = np.sin(angles)
    matrices[:, j, k] = -matrices[:, k, j]
    return matrices


def body_motions(mechanism: Mechanism, s: Array, ds: Array) -> dict[str, BodyMotion]:
    """The motion of all bodies' frames, by name, for coordinates and velocities (N, coordinates) of the open tree.

    Only the coordinates of the joints are read; further columns, such as those of a tool frame, are ignored.

    Examples:
        >>> from gough.robots import FiveBar
        >>> still = np.zeros((1, 4))
        >>> body_motions(FiveBar().mechanism, still, still)["load"].position.round(3)
        array([[0.5, 0. , 0. ]])
    """
    still = np.zeros((len(s), 3))
    motions = {BASE: BodyMotion(np.broadcast_to(np.eye(3), (len(s), 3, 3)), still, still, still)}
    parts = structure(mechanism)
    joints = len(mechanism.coordinates)
    for link in parts.links:
        if any(step.coordinate >= joints for step in link.steps):
            continue  # the tool frame
        frame = motions[parts.links[link.parent].body if link.parent >= 0 else BASE]
        for step in link.steps:
            frame = frame.moved(step, s[:, step.coordinate], ds[:, step.coordinate])
        motions[link.body] = frame.placed(link.after)
    return motions


def turnings(mechanism: Mechanism, s: Array, rates: Sequence[Array]) -> dict[str, Array]:
    """Angular velocities (N, 3, len(rates)) of all bodies, by name, for several velocities of the coordinates.

    Each is that of `body_motions`, which also finds positions and velocities.

    Examples:
        >>> from gough.robots import FiveBar
        >>> still, moving = np.zeros((1, 4)), np.ones((1, 4))
        >>> turnings(FiveBar().mechanism, still, [still, moving])["load"]
        array([[[0., 0.],
                [0., 0.],
                [0., 2.]]])
    """
    rotations = {BASE: np.broadcast_to(np.eye(3), (len(s), 3, 3))}
    found = {BASE: np.zeros((len(s), 3, len(rates)))}
    parts = structure(mechanism)
    joints = len(mechanism.coordinates)
    for link in parts.links:
        if any(step.coordinate >= joints for step in link.steps):
            continue  # the tool frame
        parent = parts.links[link.parent].body if link.parent >= 0 else BASE
        rotation, turning = rotations[parent], found[parent]
        for step in link.steps:
            rotation = _turned(rotation, step.before)
            if step.turns:
                axis = step.sign * rotation[:, :, step.axis]
                speeds = np.stack([each[:, step.coordinate] for each in rates], axis=1)
                turning = turning + axis[:, :, None] * speeds[:, None, :]
                rotation = rotation @ turns(step.sign * s[:, step.coordinate], step.axis)
        rotations[link.body], found[link.body] = _turned(rotation, link.after), turning
    return found


def _turned(rotation: Array, placement: Placement) -> Array:
    return rotation if placement.rotation == UNTURNED else rotation @ placement.matrix


def energy(mechanism: Mechanism, s: Array, ds: Array) -> Array:
    """Kinetic plus potential energy (N,) of all bodies and rotors in J; the potential is zero at the base's origin."""
    motions = body_motions(mechanism, s, ds)
    rotors = np.array([mechanism.freedoms[name].rotor or 0.0 for name in mechanism.coordinates])
    total = ds[:, : len(rotors)] ** 2 @ rotors / 2
    for body in mechanism.bodies:
        frame, inertia = motions[body.name], body.inertia
        center, velocity = frame.at(inertia.center)
        spin = np.einsum("nij,ni->nj", frame.rotation, frame.turning)  # in the body's axes
        total += inertia.mass * ((velocity**2).sum(axis=1) / 2 - center @ np.array(mechanism.gravity))
        total += (spin @ inertia.matrix * spin).sum(axis=1) / 2
    return total


def weights(mechanism: Mechanism, s: Array) -> Array:
    """The forces (N, coordinates) that hold the open tree still against gravity."""
    n = len(mechanism.coordinates)
    forces = np.zeros((len(s), n))
    for k, unit in enumerate(np.eye(n)):
        motions = body_motions(mechanism, s, np.broadcast_to(unit, (len(s), n)))
        for body in mechanism.bodies:
            velocity = motions[body.name].at(body.inertia.center)[1]
            forces[:, k] -= body.inertia.mass * velocity @ np.array(mechanism.gravity)
    return forces
