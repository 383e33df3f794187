"""The complete mechanism under given efforts: forward dynamics of all bodies, by MuJoCo or Pinocchio."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.robots.mechanism import Inertia, Mechanism, MechanismModel
from gough.robots.mechanism.assembly import moving_closures
from gough.simulate.multibody.engines import load, pinocchio_model
from gough.simulate.multibody.mjcf import mjcf

_LONGEST = 2.5e-4
"""s: longest step of integration."""
_FRICTION_SPEED = 5e-3
"""rad/s or m/s over which dry friction changes its sign in Pinocchio, as in `SimulatedRobot`."""
_CLOSING = 100.0
"""1/s: rate at which a deviation of the closures decays in Pinocchio."""
_SHARED = 1e-10
"""1/kg or 1/(kg·m²): compliance of the closures, so small that motions differ by less than rounding and drift do."""
_STABLE = 1.5
"""Greatest step times rate of decay of friction, where the limit of the classical Runge–Kutta method is 2.78."""


class Plant(Protocol):
    """A robot in motion."""

    def read(self) -> tuple[Array, Array]:
        """True positions and velocities of the actuators."""
        ...

    def advance(self, efforts: Array, seconds: float) -> None:
        """Move under efforts that are held for some time."""
        ...


def plant(mechanism: Mechanism, q: Array, dq: Array, engine: str = "mujoco", *, step: float = _LONGEST) -> Plant:
    """The mechanism with its actuators at q, moving by dq.

    MuJoCo integrates by its implicit method of first order, with soft closures and dry friction as a constraint.
    Pinocchio's accelerations are integrated by the classical Runge–Kutta method of order four, with exact closures; dry
    friction is f · tanh(velocity / 0.005). Friction is that of the description. Its constant offsets are ignored.

    Bodies may have moments of inertia that no rigid body has, one larger than the sum of the other two: equations of
    motion need no more than positive moments.

    Args:
        mechanism: The complete mechanism with masses and friction.
        q: Positions of the actuators.
        dq: Their velocities.
        engine: "mujoco", the faster, or "pinocchio".
        step: Longest step of integration, s.

    Raises:
        InputError: there is no such engine, the engine refuses the mechanism, or q is out of reach.
        AssumptionError: the engine is not installed.

    Examples:
        >>> from gough.robots import Delta
        >>> robot = Delta()
        >>> fallen = plant(robot.mechanism, robot.inverse(robot.home), np.zeros(3), engine="pinocchio")
        >>> fallen.advance(np.zeros(3), 0.01)
        >>> bool((fallen.read()[1] > 0).all())
        True
    """
    if engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}, but is '{engine}'{nearest(engine, ENGINES)}")
    require(step > 0, f"step must be positive, in s, but is {step}")
    model = _model(mechanism)
    pose = model.pose_motion(q[None], dq[None], np.zeros((1, len(q))))
    motion = model.coordinate_motion(*pose)
    return ENGINES[engine](mechanism, motion.s[0], motion.ds[0], step)


@lru_cache(maxsize=4)
def _model(mechanism: Mechanism) -> MechanismModel:
    """The kinematics of the loops, which many runs begin with."""
    return MechanismModel(mechanism)


@dataclass(frozen=True)
class _Friction:
    """Dry and viscous friction of each coordinate (coordinates,)."""

    dry: Array
    viscous: Array

    @classmethod
    def of(cls, mechanism: Mechanism) -> "_Friction":
        known = [mechanism.freedoms[name].friction for name in mechanism.coordinates]
        dry = np.array([(each and each.dry) or 0.0 for each in known])
        return cls(dry, np.array([(each and each.viscous) or 0.0 for each in known]))


class MujocoPlant:
    """A mechanism in MuJoCo."""

    def __init__(self, mechanism: Mechanism, s: Array, ds: Array, step: float) -> None:
        self._mujoco, self._step = load("mujoco"), step
        try:
            text = mjcf(_balanced(mechanism), s, timestep=step, has_friction=True)
            model = self._mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise InputError(
                f"MuJoCo refuses the {mechanism.name} ({' '.join(str(error).split())}): use the engine pinocchio"
            ) from error
        self._set_impossible(model, mechanism)
        # by default MuJoCo smooths dry friction over 20 ms; here over two steps, as it does with the closures
        model.dof_solref[:] = [2 * step, 1.0]
        model.dof_solimp[:, :2] = 0.9999
        self._model, self._data = model, self._mujoco.MjData(model)
        places = [int(model.joint(name).qposadr[0]) for name in mechanism.coordinates]
        n = len(places)  # without the coordinates of a tool frame
        self._data.qpos[places], self._data.qvel[places] = s[:n], ds[:n]
        self._actuated = np.array([places[mechanism.coordinates.index(name)] for name in mechanism.actuated])

    def _set_impossible(self, model: Any, mechanism: Mechanism) -> None:
        """Give bodies their own moments of inertia where MuJoCo reads from a file only what rigid bodies can have."""
        bodies = [body for body in mechanism.bodies if not body.inertia.is_possible]
        for body in bodies:
            moments, axes = np.linalg.eigh(body.inertia.matrix)
            axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
            place = model.body(body.name)
            self._mujoco.mju_mat2Quat(place.iquat, axes.reshape(-1))
            place.inertia[:] = moments
        if bodies:
            self._mujoco.mj_setConst(model, self._mujoco.MjData(model))

    def read(self) -> tuple[Array, Array]:
        """True positions and velocities of the actuators."""
        return self._data.qpos[self._actuated].copy(), self._data.qvel[self._actuated].copy()

    def advance(self, efforts: Array, seconds: float) -> None:
        """Move under efforts that are held for some time."""
        count = _steps(seconds, self._step)
        self._model.opt.timestep = seconds / count
        self._data.ctrl[:] = efforts
        self._mujoco.mj_step(self._model, self._data, count)


def _balanced(mechanism: Mechanism) -> Mechanism:
    """The mechanism with other moments of inertia for each body whose own moments no rigid body has."""
    bodies = tuple(
        body if body.inertia.is_possible else replace(body, inertia=_possible(body.inertia))
        for body in mechanism.bodies
    )
    return replace(mechanism, bodies=bodies)


def _possible(inertia: Inertia) -> Inertia:
    """Nearly equal moments, about axes askew to the body: if they were along them, MuJoCo would note so for good."""
    mean = float(np.trace(inertia.matrix)) / 3
    products = (0.01 * mean, 0.02 * mean, 0.03 * mean)
    return replace(inertia, moments=(mean, mean, mean), products=products, symmetry="none")


class PinocchioPlant:
    """A mechanism in Pinocchio: mass matrix and bias of the open tree by Pinocchio, closures by gough.

    Accelerations and closure forces solve one linear system, in which a deviation of the closures decays at a fixed
    rate [BAU72].
    """

    def __init__(self, mechanism: Mechanism, s: Array, ds: Array, step: float) -> None:
        self._pin = load("pinocchio")
        built = pinocchio_model(mechanism)
        self._model, self._data = built.model, built.model.createData()
        self._order = np.asarray(built.order, dtype=np.int64)
        self._closures = moving_closures(mechanism)
        self._s, self._ds = s.copy(), ds.copy()
        friction = _Friction.of(mechanism)
        self._tree = len(mechanism.coordinates)
        self._dry, self._viscous = friction.dry, friction.viscous
        self._actuated = np.array([mechanism.coordinates.index(name) for name in mechanism.actuated])
        self._step = min(step, self._stable_step())

    def read(self) -> tuple[Array, Array]:
        """True positions and velocities of the actuators."""
        return self._s[self._actuated].copy(), self._ds[self._actuated].copy()

    def advance(self, efforts: Array, seconds: float) -> None:
        """Move under efforts that are held for some time."""
        held = np.zeros(self._tree)
        held[self._actuated] = efforts
        count = _steps(seconds, self._step)
        h = seconds / count
        for _ in range(count):
            s, v1 = self._s, self._ds
            a1 = self._acceleration(s, v1, held)
            v2 = v1 + h / 2 * a1
            a2 = self._acceleration(s + h / 2 * v1, v2, held)
            v3 = v1 + h / 2 * a2
            a3 = self._acceleration(s + h / 2 * v2, v3, held)
            v4 = v1 + h * a3
            a4 = self._acceleration(s + h * v3, v4, held)
            self._s = s + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
            self._ds = v1 + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    def _acceleration(self, s: Array, ds: Array, efforts: Array) -> Array:
        tree, order, size = self._tree, self._order, len(s)
        at, rates = np.ascontiguousarray(s[:tree][order]), np.ascontiguousarray(ds[:tree][order])
        mass = np.triu(self._pin.crba(self._model, self._data, at))  # Pinocchio promises the upper triangle only
        closed = self._closures.evaluate(s, ds)
        C, gaps = closed["C"], closed["gaps"]
        system = np.zeros((size + len(gaps),) * 2)
        system[np.ix_(order, order)] = mass + np.triu(mass, 1).T
        system[:size, size:], system[size:, :size] = C.T, C
        # closures that follow from others, such as those of a planar parallelogram, share their force
        np.fill_diagonal(system[size:, size:], -_SHARED)
        push = np.zeros(size + len(gaps))
        push[order] = -self._pin.nonLinearEffects(self._model, self._data, at, rates)
        v = ds[:tree]
        push[:tree] += efforts - self._dry * np.tanh(v / _FRICTION_SPEED) - self._viscous * v
        push[size:] = -closed["bias"] - 2 * _CLOSING * (C @ ds) - _CLOSING**2 * gaps
        return np.asarray(np.linalg.solve(system, push)[:size])

    def _stable_step(self) -> float:
        """The step at which dry friction, at rest its stiffest, is integrated stably."""
        still = np.zeros_like(self._s)
        rest = self._acceleration(self._s, still, np.zeros(self._tree))
        rates = [0.0]
        for k in np.flatnonzero(self._dry):
            push = np.zeros(self._tree)
            push[k] = self._dry[k]
            rates.append(abs(float((self._acceleration(self._s, still, push) - rest)[k])) / _FRICTION_SPEED)
        # all joints that rub pull at once: the sum of the rates bounds the greatest rate of decay
        return _STABLE / sum(rates) if sum(rates) else np.inf


def _steps(seconds: float, longest: float) -> int:
    return max(1, int(np.ceil(seconds / longest - 1e-9)))


ENGINES: Mapping[str, Any] = MappingProxyType({"mujoco": MujocoPlant, "pinocchio": PinocchioPlant})
"""The simulated mechanisms by the name of their engine."""
