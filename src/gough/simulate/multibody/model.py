"""A robot with every part of it a rigid body, as a multibody program sees it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.robots.mechanism.assembly import closures_at
from gough.robots.mechanism.bodies import energy, weights
from gough.robots.mechanism.description import Mechanism
from gough.robots.model import CoordinateMotion
from gough.simulate.multibody.engines import (
    Engine,
    PinocchioModel,
    inverse_dynamics,
    mass_matrices,
    pinocchio_model,
)
from gough.simulate.multibody.mjcf import mjcf


class Described(Protocol):
    """A robot with a description, all of whose joints follow its pose."""

    @property
    def name(self) -> str: ...
    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def home(self) -> Array: ...
    def coordinate_motion(self, x: Any, dx: Any, ddx: Any) -> CoordinateMotion: ...


@dataclass(frozen=True)
class Multibody:
    """A robot with every part of its `mechanism` a rigid body, as a multibody program sees it.

    Bodies and joints make a tree; closures close its loops. For a motion of the platform the robot gives the motion of
    all joints. An engine gives the forces on the open tree, and the principle of virtual work leaves those of the
    actuators: (∂s/∂q)ᵀ f, with s all coordinates and q those of the actuators. Closure forces do no work and need not
    be known. Friction is not included.

    Examples:
        >>> from gough.robots import H4
        >>> whole = Multibody(H4())
        >>> len(whole.mechanism.bodies), len(whole.mechanism.coordinates)
        (15, 28)
        >>> bool(whole.closure_error(whole.robot.home) < 1e-15)
        True
    """

    robot: Described

    @property
    def mechanism(self) -> Mechanism:
        """Bodies, joints and closures: what both engines are given."""
        return self.robot.mechanism

    def motion(self, x: Any, dx: Any, ddx: Any) -> CoordinateMotion:
        """How all joints move while the platform moves by x, dx, ddx, each (N, pose coordinates).

        Raises:
            InputError: a pose is out of reach or nearly singular; the message names the first such sample.
        """
        motion = self.robot.coordinate_motion(*self._poses(x, dx, ddx))
        n = len(self.mechanism.coordinates)
        return CoordinateMotion(*(part[:, :n] for part in motion))  # without those of a tool frame

    def efforts(self, x: Any, dx: Any, ddx: Any, engine: Engine = "pinocchio") -> Array:
        """The actuators' efforts (N, actuators) without friction, for a motion of the platform (N, pose coordinates).

        Args:
            x: Poses.
            dx: Their velocities.
            ddx: Their accelerations.
            engine: "pinocchio", the faster, or "mujoco".

        Raises:
            AssumptionError: the engine is not installed.
        """
        motion = self.motion(x, dx, ddx)
        forces = inverse_dynamics(self.mechanism, motion.s, motion.ds, motion.dds, engine)
        return _like(x, self._at_actuators(motion, forces))

    def accelerations(self, x: Any, dx: Any, efforts: Any) -> Array:
        """Accelerations of the platform (N, pose coordinates) under the actuators' efforts less friction.

        The inverse of `efforts`: the tree's mass matrix, projected on the motions that leave the loops closed.
        """
        motion = self.motion(x, dx, np.zeros(np.shape(dx)))
        torques = np.atleast_2d(array(efforts, "efforts", ndim=(1, 2)))
        shape = (len(motion.s), len(self._actuated))
        require(torques.shape == shape, f"efforts must have the shape {shape}, but have {torques.shape}")
        by_pose = np.swapaxes(motion.by_pose, 1, 2)
        mass = mass_matrices(self.mechanism, motion.s, motion.by_pose)
        bias = inverse_dynamics(self.mechanism, motion.s, motion.ds, motion.dds, "pinocchio")
        push = by_pose[:, :, self._actuated] @ torques[..., None] - by_pose @ bias[..., None]
        return _like(x, np.linalg.solve(mass, push)[..., 0])

    def energy(self, x: Any, dx: Any) -> Array:
        """Kinetic plus potential energy (N,) of all parts in J, from the description alone, without an engine."""
        motion = self.motion(x, dx, np.zeros(np.shape(dx)))
        return _like(x, energy(self.mechanism, motion.s, motion.ds))

    def closure_error(self, x: Any) -> Array:
        """The largest closure equation (N,) in m or rad: zero but for rounding."""
        still = np.zeros(np.shape(x))
        s = self.robot.coordinate_motion(*self._poses(x, still, still)).s
        gaps = closures_at(self.mechanism, s)[0]
        return _like(x, np.abs(gaps).max(axis=1))

    def mjcf(self) -> str:
        """The robot as MJCF, MuJoCo's XML: assembled at home; the key frame "home" also holds it against gravity.

        Write it to a file, and open that by `python -m mujoco.viewer --mjcf=FILE`.
        """
        motion = self._at_home
        holding = self._at_actuators(motion, weights(self.mechanism, motion.s))
        return mjcf(self.mechanism, motion.s[0], holding[0])

    def pinocchio(self) -> tuple[PinocchioModel, Any]:
        """The robot as Pinocchio's model and constraints, for `pinocchio.constraintDynamics` and the like.

        Before `pinocchio.getConstraintsJacobian`, call `constraint.calc` for each of them; else it is silently wrong.
        """
        built = pinocchio_model(self.mechanism)
        return built, built.constraints(self.mechanism)

    @property
    def _at_home(self) -> CoordinateMotion:
        still = np.zeros_like(self.robot.home)
        return self.motion(self.robot.home, still, still)

    @cached_property
    def _actuated(self) -> list[int]:
        return [self.mechanism.coordinates.index(name) for name in self.mechanism.actuated]

    def _at_actuators(self, motion: CoordinateMotion, forces: Array) -> Array:
        """The actuators' share (N, actuators) of forces on the tree: the same power on all closed motions."""
        along = np.einsum("nki,nk->ni", motion.by_pose, forces)
        by_pose = np.swapaxes(motion.by_pose[:, self._actuated], 1, 2)
        return np.linalg.solve(by_pose, along[..., None])[..., 0]

    def _poses(self, *parts: Any) -> list[Array]:
        m = len(self.robot.home)
        names = ("x", "dx", "ddx")
        read = [np.atleast_2d(array(part, name, ndim=(1, 2))) for name, part in zip(names, parts, strict=True)]
        for name, part in zip(names, read, strict=True):
            require(part.shape == (len(read[0]), m), f"{name} must be (N, {m}) like x, but its shape is {part.shape}")
            require(bool(np.isfinite(part).all()), f"{name} must be finite")
        return read


def _like(x: Any, values: Any) -> Array:
    """The values as they are if x holds many poses; the first of them if x is a single pose."""
    return values if np.ndim(x) == 2 else values[0]
