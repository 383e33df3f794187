"""Geometric models of parallel robots: one implicit equation f(x, pose, reading) = 0 per chain."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.rotations import exp
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates
from gough.robots.mechanism.description import Mechanism

Columns = npt.NDArray[np.int64]
HEADING = 5
"""Among the six freedoms of a pose: the turn about z."""
_STEPS = 60
_SMALL = 1e-11
"""A step below this (m, rad) ends the search: what remains is its square."""
_REGULAR = 1e12
"""Condition of the derivatives by the pose, below which a step is taken."""
_PIECES = (1, 8, 40)
"""The way from the guess's readings to those asked for is cut in so many pieces, until the search arrives."""


class PlatformPoses(NamedTuple):
    """Where platforms are: positions (N, 3) in m and rotation matrices (N, 3, 3)."""

    position: Array
    rotation: Array


class KinematicModel(Protocol):
    """A robot whose chains each relate the platform's pose to one reading of a sensor in the chain."""

    @property
    def name(self) -> str: ...

    @property
    def chains(self) -> tuple[str, ...]:
        """Names of the chains: legs, towers, arms."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """All geometric parameters."""
        ...

    @property
    def units(self) -> tuple[str, ...]: ...

    @property
    def nominal(self) -> Array:
        """The blueprint's values."""
        ...

    @property
    def zeros(self) -> tuple[str, ...]:
        """The parameters that are the zeros of the chains' sensors: they may be lost when the robot is off."""
        ...

    @property
    def columns(self) -> Columns:
        """(chains, k): which k parameters enter each chain's equation."""
        ...

    @property
    def freedoms(self) -> tuple[int, ...]:
        """The degrees of freedom of the platform, one for each chain: 0, 1, 2 along x, y, z, and 3, 4, 5 about them."""
        ...

    @property
    def has_orientation(self) -> bool:
        """Whether the platform turns: then its orientation must be measured too."""
        ...

    @property
    def reading_unit(self) -> str: ...

    @property
    def mechanism(self) -> Mechanism:
        """The robot of the blueprint as bodies, joints and closures."""
        ...

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """From (x (k), position (3), rotation (3, 3), turn (3), reading): `residual` of one chain.

        The platform's rotation is that of `turn`, a small rotation vector, after `rotation`. The form "squared" is a
        polynomial where the robot's equation is one; "length" is the same error as a length in m.
        """
        ...

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, chains) at poses; InputError naming the first pose that cannot be reached."""
        ...

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Poses at readings (N, chains), from one guess or one each; InputError naming the first that is not found."""
        ...

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """Poses that may be assembly modes at readings (N, chains): `assembly_modes` settles which are."""
        ...


def heading(angle: float) -> Array:
    """The rotation about z by an angle.

    Examples:
        >>> heading(np.pi / 2).round(3) + 0.0
        array([[ 0., -1.,  0.],
               [ 1.,  0.,  0.],
               [ 0.,  0.,  1.]])
    """
    return exp(np.array([0.0, 0.0, angle]))


def turned(turn: Any, rotation: Any) -> Any:
    """A rotation after `rotation`: by |turn| about it up to terms of third order, and exactly a rotation.

    Cayley's map: smooth at zero, where the derivative of a sine over its angle is not defined.
    """
    K = ex.matrix(
        ex.vector(0.0, turn[2], -turn[1]), ex.vector(-turn[2], 0.0, turn[0]), ex.vector(turn[1], -turn[0], 0.0)
    )
    factor = 1 / (1 + ex.dot(turn, turn) / 4)
    return rotation + factor * ((K + K @ K / 2) @ rotation)


def chain_trace(function: Any, name: str, k: int) -> Kernel:
    """The kernel of a chain's residual, a function of (x, position, rotation, reading)."""

    def residual(x: Any, position: Any, rotation: Any, turn: Any, reading: Any) -> Any:
        return {"residual": function(x, position, turned(turn, rotation), reading)}

    inputs: dict[str, int | tuple[int, ...]] = {
        "x": k,
        "position": 3,
        "rotation": (3, 3),
        "turn": 3,
        "reading": (),
    }
    return trace(residual, name=name, inputs=inputs)


def rod_trace(ends: Callable[[Any, Any, Any, Any], tuple[Any, Any]], form: str, name: str, k: int) -> Kernel:
    """The kernel of a chain that a rod, a leg or a cable closes: |d|² − l², or |d| − l where form is "length".

    Args:
        ends: The vector d between the ends of the rod, and its length l, of (x, position, rotation, reading).
        form: "squared" or "length".
        name: Name of the kernel, before its form.
        k: Number of parameters of a chain.
    """
    require(form in ("squared", "length"), f"the form of an equation is 'squared' or 'length', not '{form}'")

    def residual(x: Any, position: Any, rotation: Any, reading: Any) -> Any:
        d, length = ends(x, position, rotation, reading)
        return ex.dot(d, d) - length**2 if form == "squared" else ex.norm(d) - length

    return chain_trace(residual, f"{name}_{form}", k)


@lru_cache(maxsize=64)
def all_derivatives(kernel: Kernel) -> Kernel:
    """The kernel of a chain's residual and all its derivatives at once: `residual`, `by_x`, `by_pose`, `by_reading`.

    `by_pose` is (6): by the position and by a left rotation vector.
    """

    def everything(x: Any, position: Any, rotation: Any, turn: Any, reading: Any) -> Any:
        f = kernel.function(
            x, position, ex.vector(*(rotation[i, j] for i in range(3) for j in range(3))), turn, reading
        )
        return {
            "residual": f,
            "by_x": ex.derivative(f, x).T,
            "by_pose": ex.derivative(f, ex.vector(position, turn)).T,
            "by_reading": ex.derivative(f, reading),
        }

    ports = {port.name: port.shape for port in kernel.inputs}
    return trace(everything, name=f"{kernel.name}_derivatives", inputs=ports)


def checked(model: KinematicModel, parameters: Any) -> Array:
    """The parameters of a model as an array of the right length."""
    values = array(parameters, "parameters", ndim=1)
    n = len(model.names)
    require(len(values) == n, f"{model.name} has {n} parameters, but {len(values)} values are given")
    return values


def checked_pose(position: Any, rotation: Any) -> PlatformPoses:
    """Positions (N, 3) and rotations (N, 3, 3); without rotations the platform is not turned."""
    p = np.atleast_2d(array(position, "position", ndim=(1, 2)))
    require(p.shape[1] == 3, f"positions must be (N, 3), but their shape is {p.shape}")
    R = np.broadcast_to(np.eye(3), (len(p), 3, 3)) if rotation is None else array(rotation, "rotation", ndim=(2, 3))
    R = R.reshape(-1, 3, 3)
    require(len(R) == len(p), f"there are {len(p)} positions, but {len(R)} rotations")
    return PlatformPoses(p, R)


@dataclass(frozen=True)
class PoseFinder:
    """Solves the equations of all chains for the pose: Newton's method on many samples at once.

    Steps are limited but not controlled as in `_newton`: poses of every assembly mode are refined, on both sides of the
    singularities, and `find` compares the sides afterwards.
    """

    derivatives: Kernel
    columns: Columns
    freedoms: tuple[int, ...]
    largest: float
    """Longest step that is taken (m): poses far apart on the way may belong to another assembly."""

    @classmethod
    def of(cls, model: KinematicModel, largest: float) -> "PoseFinder":
        """The finder of a robot's poses by the lengths of its rods."""
        return cls(all_derivatives(model.chain_kernel("length")), model.columns, model.freedoms, largest)

    def find(
        self,
        parameters: Array,
        readings: Array,
        guess: PlatformPoses,
        start_readings: Array,
        *,
        same_side: bool = False,
    ) -> PlatformPoses:
        """Poses at the readings, beginning at guesses whose own readings are `start_readings`.

        Newton's method may jump over a singularity into another assembly mode. Where it has, the way from the guess is
        cut in more pieces; with `same_side` poses across a singularity are refused.

        Raises:
            InputError: some sample does not converge; the message names the first.
        """
        n = len(readings)
        p, R = guess.position.copy(), guess.rotation.copy()
        side = self.side(parameters, start_readings, guess)
        solved, todo = np.zeros(n, dtype=bool), np.arange(n)
        for pieces in _PIECES:
            at, turn = guess.position[todo].copy(), guess.rotation[todo].copy()
            for k in range(1, pieces + 1):
                want = start_readings[todo] + (readings[todo] - start_readings[todo]) * (k / pieces)
                at, turn, arrived = self.newton(parameters, want, at, turn)
            p[todo[arrived]], R[todo[arrived]] = at[arrived], turn[arrived]
            solved[todo[arrived]] = True
            here = self.side(parameters, readings[todo[arrived]], PlatformPoses(at[arrived], turn[arrived]))
            arrived[arrived] = here == side[todo[arrived]]
            todo = todo[~arrived]
            if todo.size == 0:
                return PlatformPoses(p, R)
        if solved.all() and not same_side:
            return PlatformPoses(p, R)
        first = todo[0] if same_side else np.flatnonzero(~solved)[0]
        across = " but one across a singularity, in another assembly mode (see assembly_modes)" if solved[first] else ""
        raise InputError(
            f"sample {first}: no pose is found at the readings {np.array2string(readings[first], precision=5)} "
            f"({todo.size} of {n} samples){across}: the robot cannot be assembled so. Check the readings' unit, sign "
            "and order of the chains, the blueprint, or give a guess near the pose"
        )

    def side(self, parameters: Array, readings: Array, poses: PlatformPoses) -> Array:
        """The sign of det ∂f/∂pose: it changes where assembly modes meet."""
        J = evaluate_chains(self.derivatives, self.columns, parameters, poses, readings)["by_pose"]
        return np.asarray(np.sign(np.linalg.det(J[..., list(self.freedoms)])))

    def newton(self, parameters: Array, readings: Array, p: Array, R: Array) -> tuple[Array, Array, Any]:
        """Positions and rotations where Newton's method leads from guesses (N), and which of them it settled."""
        p, R = p.copy(), R.copy()
        n = len(p)
        arrived = np.zeros(n, dtype=bool)
        todo = np.arange(n)
        with np.errstate(all="ignore"):
            for _ in range(_STEPS):
                step, good = self._step(parameters, readings[todo], p[todo], R[todo])
                todo, step = todo[good], step[good]
                size = np.linalg.norm(step[:, :3], axis=1) / self.largest
                size = np.maximum(size, np.linalg.norm(step[:, 3:], axis=1) / 0.3)
                step /= np.maximum(size, 1.0)[:, None]
                p[todo] += step[:, :3]
                R[todo] = exp(step[:, 3:]) @ R[todo]
                done = abs(step).max(axis=1, initial=0.0) <= _SMALL
                arrived[todo[done]] = True
                todo = todo[~done]
                if todo.size == 0:
                    break
        return p, R, arrived

    def _step(self, parameters: Array, readings: Array, p: Array, R: Array) -> tuple[Array, Any]:
        """Newton's step (N, 6), and which samples have one."""
        f = evaluate_chains(self.derivatives, self.columns, parameters, PlatformPoses(p, R), readings)
        free = list(self.freedoms)
        J, r = f["by_pose"][..., free], f["residual"]
        step = np.zeros((len(p), 6))
        try:
            inverse = np.linalg.inv(J)
        except np.linalg.LinAlgError:
            inverse = np.full_like(J, np.inf)
        squares = (J**2).sum(axis=(1, 2)) * (inverse**2).sum(axis=(1, 2))  # at least those of the condition
        if (squares < _REGULAR**2).all() and np.isfinite(r).all():
            step[:, free] = -(inverse @ r[..., None])[..., 0]
            return step, np.ones(len(p), dtype=bool)
        good = np.asarray(np.isfinite(J).all(axis=(1, 2)) & np.isfinite(r).all(axis=1))
        good[good] = np.linalg.cond(J[good]) < _REGULAR
        step[np.flatnonzero(good)[:, None], free] = -np.linalg.solve(J[good], r[good][..., None])[..., 0]
        return step, good


def evaluate_chains(
    kernel: Kernel, columns: Columns, theta: Array, poses: PlatformPoses, readings: Array
) -> dict[str, Array]:
    """The outputs of a chain kernel for all chains of all samples at once: (N, chains, …)."""
    n_samples, n = readings.shape
    x = np.broadcast_to(theta[columns], (n_samples, *columns.shape)).reshape(n_samples * n, columns.shape[1])
    outputs = kernel.evaluate(
        x,
        np.repeat(poses.position, n, axis=0),
        np.repeat(poses.rotation, n, axis=0),
        np.zeros(3),
        readings.reshape(-1),
    )
    return {name: value.reshape(n_samples, n, *value.shape[1:]) for name, value in outputs.items()}


def as_guess(guess: PlatformPoses, n_samples: int) -> PlatformPoses:
    """One guess for all samples, or one each."""
    pose = checked_pose(guess.position, guess.rotation)
    if len(pose.position) == n_samples:
        return pose
    require(len(pose.position) == 1, f"give one guess or one for each of {n_samples}, not {len(pose.position)}")
    return PlatformPoses(np.repeat(pose.position, n_samples, axis=0), np.repeat(pose.rotation, n_samples, axis=0))


def checked_readings(model: KinematicModel, readings: Any) -> Array:
    """Readings (N, chains)."""
    values = np.atleast_2d(array(readings, "readings", ndim=(1, 2)))
    n = len(model.chains)
    require(values.shape[1] == n, f"{model.name} has {n} chains, but the readings have {values.shape[1]} columns")
    require(bool(np.isfinite(values).all()), "readings must be finite: leave out the poses that lack one")
    return values
