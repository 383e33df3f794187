"""What the full mechanisms of the Delta family share: every arm, rod and joint, as the platform moves."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple, Protocol

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, nearest, require
from gough.kernels import Kernel
from gough.robots.model import ParallelRobot
from gough.simulate.multibody.description import Body, Closure, Solid, Tree
from gough.simulate.multibody.engines import (
    Engine,
    PinocchioMechanism,
    build_pinocchio,
    inverse_dynamics,
    mass_matrices,
)
from gough.simulate.multibody.legs import Leg, LegParts, leg_bodies, leg_closures
from gough.simulate.multibody.mjcf import mjcf


class LegGeometry(Protocol):
    """Lengths that all robots of the Delta family have."""

    @property
    def arm(self) -> float: ...
    @property
    def rod(self) -> float: ...


class DeltaLike(ParallelRobot, Protocol):
    """A robot of the Delta family."""

    @property
    def geometry(self) -> LegGeometry: ...
    @property
    def gravity(self) -> float: ...


class TreeMotion(NamedTuple):
    """A motion of all joints (N, coordinates), in the order of `Tree.coordinates`."""

    q: Array
    dq: Array
    ddq: Array
    jacobian: Array
    """∂q/∂x (N, coordinates, pose coordinates): the motions that leave the loops closed."""


@dataclass(frozen=True)
class FullMechanism(ABC):
    """A robot of the Delta family with every part of it a rigid body, as a multibody program sees it.

    Arms, rods and platform make a tree; ball joints at the ends of the rods close its loops. For a motion of the
    platform all joints follow in closed form, with exact derivatives. An engine gives the forces on the open tree, and
    the principle of virtual work leaves those of the motors: (∂q_tree/∂q_motors)ᵀ f_tree. Closure forces do no work
    and need not be known. Friction is not part of a mechanism.

    Examples:
        >>> from gough.simulate.multibody import H4Mechanism
        >>> mechanism: FullMechanism = H4Mechanism()
        >>> len(mechanism.tree.bodies), len(mechanism.tree.coordinates)
        (15, 28)
        >>> bool(mechanism.closure_error(mechanism.robot.home) < 1e-15)
        True
    """

    robot: DeltaLike
    """Whose geometry and gravity are meant."""
    arm_mass: float
    """Mass of one arm, in kg."""
    arm_center: float
    """Distance from the motor's axis to the arm's center of mass, along the arm, in m."""
    arm_inertia: float
    """Moment of inertia of one arm about its center of mass, across the arm, in kg·m²."""
    rotor_inertia: tuple[float, ...]
    """Moment of inertia of each motor, seen behind its gear, in kg·m²."""
    rod_mass: float
    """Mass of one of the two rods of a leg, in kg."""
    rod_radius: float
    """Radius of a rod, in m. A rod resists turning about its own axis as a full cylinder of this radius."""
    rod_inertia: float | None
    """Moment of inertia of one rod about its center, across the rod, in kg·m²; None: that of the uniform cylinder."""
    spacing: float
    """Distance between the two rods of a leg, in m."""

    def __post_init__(self) -> None:
        rotors, n = self.rotor_inertia, len(self.robot.actuators)
        fits = isinstance(rotors, tuple) and len(rotors) == n
        require(fits, f"rotor_inertia must be a tuple of {n} numbers, one per motor")
        require(all(isfinite(r) and r >= 0 for r in rotors), "rotor_inertia must be zero or positive")
        require(isfinite(self.rod_radius) and self.rod_radius > 0, "rod_radius must be positive")
        require(
            isfinite(self.spacing) and self.spacing > 0, "spacing must be positive: two rods cannot be in one place"
        )
        _ = self.tree  # refuses masses and inertias that are negative or not finite

    @property
    @abstractmethod
    def legs(self) -> tuple[Leg, ...]:
        """Where the legs begin and end."""

    @property
    @abstractmethod
    def platform(self) -> tuple[tuple[Body, ...], tuple[Closure, ...]]:
        """The bodies of the platform, and the closures between them."""

    @property
    @abstractmethod
    def lumped(self) -> Mapping[str, float]:
        """The parameters of the robot's simplified models by name, without friction."""

    @abstractmethod
    def _kernel(self) -> Kernel:
        """From pose, velocity, acceleration, legs and lengths: coordinates of the tree and their derivatives."""

    @property
    def _offset(self) -> float:
        """The length h that turns with the platform; zero where nothing turns."""
        return 0.0

    @cached_property
    def tree(self) -> Tree:
        """The mechanism as bodies, joints and closures: what both engines are given."""
        parts = self._parts
        bodies: list[Body] = []
        closures: list[Closure] = []
        for k, leg in enumerate(self.legs, start=1):
            bodies += leg_bodies(k, leg, parts, self.rotor_inertia[k - 1])
            closures += leg_closures(k, leg, parts)
        top, loops = self.platform
        motors = tuple(f"q{k}" for k in range(1, len(self.legs) + 1))
        return Tree(self.robot.name, (*bodies, *top), (*closures, *loops), motors, self.robot.gravity)

    def motion(self, x: Any, dx: Any, ddx: Any) -> TreeMotion:
        """How all joints move while the platform moves by x, dx, ddx, each (N, pose coordinates).

        Raises:
            InputError: a pose is out of reach or nearly singular; the message names the first such sample.
        """
        x, dx, ddx = self._poses(x, dx, ddx)
        self.robot.inverse(x)  # refuses what cannot be reached
        geometry = self.robot.geometry
        numbers = np.array([leg.numbers for leg in self.legs])
        found = self._kernel().evaluate(x, dx, ddx, numbers, [geometry.arm, geometry.rod, self._offset])
        return TreeMotion(found["q"], found["dq"], found["ddq"], found["jacobian"])

    def efforts(self, x: Any, dx: Any, ddx: Any, engine: Engine = "pinocchio") -> Array:
        """The motors' torques (N, motors) without friction, for a motion of the platform (N, pose coordinates).

        Args:
            x: Poses.
            dx: Their velocities.
            ddx: Their accelerations.
            engine: "pinocchio", the faster, or "mujoco".

        Raises:
            AssumptionError: the engine is not installed.
        """
        moving = self.motion(x, dx, ddx)
        forces = inverse_dynamics(self.tree, moving.q, moving.dq, moving.ddq, engine)
        return _like(x, self._torques(moving, forces))

    def accelerations(self, x: Any, dx: Any, efforts: Any) -> Array:
        """Accelerations of the platform (N, pose coordinates) under the motors' torques less friction (N, motors).

        The inverse of `efforts`: the tree's mass matrix, projected on the motions that leave the loops closed.
        """
        moving = self.motion(x, dx, np.zeros(np.shape(dx)))
        torques = np.atleast_2d(array(efforts, "efforts", ndim=(1, 2)))
        shape = (len(moving.q), len(self.legs))
        require(torques.shape == shape, f"efforts must have the shape {shape}, but have {torques.shape}")
        by_pose = np.swapaxes(moving.jacobian, 1, 2)
        mass = by_pose @ mass_matrices(self.tree, moving.q) @ moving.jacobian
        bias = inverse_dynamics(self.tree, moving.q, moving.dq, moving.ddq, "pinocchio")
        push = by_pose[:, :, self._motors] @ torques[..., None] - by_pose @ bias[..., None]
        return _like(x, np.linalg.solve(mass, push)[..., 0])

    def energy(self, x: Any, dx: Any) -> Array:
        """Kinetic plus potential energy (N,) of all parts in J, from the description alone, without an engine."""
        moving = self.motion(x, dx, np.zeros(np.shape(dx)))
        return _like(x, self.tree.energy(moving.q, moving.dq))

    def closure_error(self, x: Any) -> Array:
        """The widest gap (N,) in m between points that a joint holds together: zero but for rounding."""
        still = np.zeros(np.shape(x))
        gaps = self.tree.gaps(self.motion(x, still, still).q)
        return _like(x, np.linalg.norm(gaps, axis=2).max(axis=1))

    def parameters(self, variant: str = "rods") -> Array:
        """The parameters of the robot's simplified model, summed up from the masses; friction is zero.

        Half of each rod goes to its elbow, half to the platform [NCPP, §IV.A]. The variant "rods" is then exact, but
        for the turning of the rods about their own axes. Its `m_rod` is the mass of a uniform slender rod, and
        6 (m/4 - I/L²) of any other rod of mass m and length L whose inertia about its center, across itself, is I.
        """
        known = {model.variant: model.names for model in self.robot.variants}
        if variant not in known:
            raise InputError(
                f"{self.robot.name} has no variant '{variant}'{nearest(variant, known)}; it has {', '.join(known)}"
            )
        lumped = self.lumped
        strange = [name for name in known[variant] if name not in lumped and not name.lower().startswith("f_")]
        assert not strange, f"no rule sums up {strange}"
        return np.array([lumped.get(name, 0.0) for name in known[variant]])

    def mjcf(self) -> str:
        """The mechanism as MJCF, MuJoCo's XML: assembled at home; the key frame "home" also holds it against gravity.

        Write it to a file, and open that by `python -m mujoco.viewer --mjcf=FILE`.
        """
        still = np.zeros_like(self.robot.home)
        moving = self.motion(self.robot.home, still, still)
        holding = self._torques(moving, self.tree.weights(moving.q))
        return mjcf(self.tree, moving.q[0], holding[0])

    def pinocchio(self) -> PinocchioMechanism:
        """The mechanism as Pinocchio's model and constraints, for `pinocchio.constraintDynamics` and the like.

        Before `pinocchio.getConstraintsJacobian`, call `constraint.calc` for each of them; else it is silently wrong.
        """
        return build_pinocchio(self.tree)

    @property
    def _parts(self) -> LegParts:
        geometry, m = self.robot.geometry, self.rod_mass
        arm = Solid(
            self.arm_mass, (self.arm_center, 0.0, 0.0), (self.arm_inertia / 10, self.arm_inertia, self.arm_inertia)
        )
        axial, across = m * self.rod_radius**2 / 2, self._rod_inertia
        rod = Solid(m, (geometry.rod / 2, 0.0, 0.0), (axial, across, across))
        return LegParts(geometry.arm, geometry.rod, self.spacing, arm, rod, self.rod_radius)

    @property
    def _rod_inertia(self) -> float:
        if self.rod_inertia is not None:
            return self.rod_inertia
        return self.rod_mass * (self.robot.geometry.rod**2 / 12 + self.rod_radius**2 / 4)

    @property
    def _arm_moment(self) -> float:
        """First moment of an arm with its halves of two rods."""
        return self.arm_mass * self.arm_center + self.rod_mass * self.robot.geometry.arm

    @property
    def _arm_inertias(self) -> list[float]:
        """Moments of inertia of each motor with its arm and its halves of two rods."""
        moving = self.arm_inertia + self.arm_mass * self.arm_center**2 + self.rod_mass * self.robot.geometry.arm**2
        return [rotor + moving for rotor in self.rotor_inertia]

    @property
    def _chain_parameters(self) -> dict[str, float]:
        """What the models of Par4 and Delta know of the chains: of their mean, and of each."""
        inertias, weight = self._arm_inertias, self.robot.gravity * self._arm_moment  # [NCPP, eqs. (1), (23)]
        numbered = [(str(k), inertia) for k, inertia in enumerate(inertias, start=1)]
        chains = [("", sum(inertias) / len(inertias)), *numbered]
        return {
            **{f"i_act{k}": inertia for k, inertia in chains},
            **{f"gS_arm{k}": weight for k, _ in chains},
            "m_rod": self._rod_column,
        }

    @property
    def _rod_column(self) -> float:
        """What multiplies the rod column: with v_A, v_B the velocities of a rod's ends and s its inertia,

        kinetic energy = m/2 (|v_A|² + |v_B|²)/2 - (m/4 - s/L²)/2 |v_A - v_B|², and m/4 - s/L² = m/6 if uniform.
        """
        return 6 * (self.rod_mass / 4 - self._rod_inertia / self.robot.geometry.rod**2)

    @cached_property
    def _motors(self) -> list[int]:
        return [self.tree.coordinates.index(name) for name in self.tree.actuated]

    def _torques(self, moving: TreeMotion, forces: Array) -> Array:
        """The motors' share (N, motors) of forces on the tree: the same power on all motions with closed loops."""
        along = np.einsum("nki,nk->ni", moving.jacobian, forces)
        by_pose = np.swapaxes(moving.jacobian[:, self._motors], 1, 2)
        return np.linalg.solve(by_pose, along[..., None])[..., 0]

    def _poses(self, *parts: Any) -> list[Array]:
        m = len(self.robot.pose_names)
        names = ("x", "dx", "ddx")
        read = [np.atleast_2d(array(part, name, ndim=(1, 2))) for name, part in zip(names, parts, strict=True)]
        for name, part in zip(names, read, strict=True):
            require(part.shape == (len(read[0]), m), f"{name} must be (N, {m}) like x, but its shape is {part.shape}")
            require(bool(np.isfinite(part).all()), f"{name} must be finite")
        return read


def _like(x: Any, values: Any) -> Array:
    """The values as they are if x holds many poses; the first of them if x is a single pose."""
    return values if np.ndim(x) == 2 else values[0]
