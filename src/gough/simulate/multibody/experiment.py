"""Experiments with known faults: prescribed motions, and efforts by a multibody engine.

They are what effects of `gough.dynamics.effects` are planted in (`gough.dynamics.effect.Truth`). The equations of
`gough.robots` that identification uses are not used here, apart from the kinematics of the loops.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from math import pi
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, nearest
from gough.data import LowPass, MeasuredMotion, Recording, default_steps, prepare
from gough.dynamics.effect import Planted
from gough.robots import H4, Delta, FiveBar, Hexapod
from gough.robots.mechanism import (
    Body,
    Closure,
    Freedom,
    Friction,
    Inertia,
    Joint,
    Limits,
    Mechanism,
    MechanismModel,
    Placement,
    Platform,
)
from gough.robots.mechanism.bodies import body_motions
from gough.robots.mechanism.parts import BASE
from gough.robots.mechanism.placement import turned
from gough.robots.model import CoordinateMotion, DynamicModel
from gough.simulate.multibody.engines import Engine, inverse_dynamics

Scaled = Callable[[Mapping[str, float]], Mechanism]
"""A mechanism whose named dimensions are multiplied by factors."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Two recordings of a prescribed motion and the efforts of a robot with known parameters, without noise.

    Efforts are those of all bodies by Pinocchio or MuJoCo, projected on the motions that leave the loops closed, and
    the friction that the description states: of the drives and of passive joints.

    Examples:
        >>> truth = experiment("five-bar", seconds=1.0)
        >>> truth.efforts(truth.q, truth.dq, truth.ddq).shape
        (2000, 2)
        >>> truth.lengths
        ('base', 'proximal1', 'proximal2', 'distal1', 'distal2')
    """

    robot: DynamicModel
    """The model with which such a robot is identified; its equations are not used."""
    scaled: Scaled
    """The robot that moves."""
    lengths: tuple[str, ...]
    """Names of the dimensions that `with_length` can change."""
    rotors: tuple[float, ...]
    """Inertia of each drive that belongs to the motor's side of an elastic transmission, as in the description."""
    rate: float
    time: Array
    recording: Integers
    q: Array
    dq: Array
    ddq: Array
    factors: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    payload: float = 0.0
    """kg, fixed to the platform."""
    engine: Engine = "pinocchio"

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot that moves, with its payload."""
        whole = self.scaled(self.factors)
        if not self.payload:
            return whole
        carrier = whole.platform
        load = Body("payload", Inertia(self.payload, symmetry="point"))
        grip = Joint("payload", "fixed", carrier.body, "payload", Placement(carrier.tool.position))
        return replace(whole, bodies=(*whole.bodies, load), joints=(*whole.joints, grip))

    def efforts(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Efforts (samples, actuators) for a motion of the actuators."""
        if q is self.q and dq is self.dq and ddq is self.ddq:
            return self._own_efforts
        return self._efforts(q, dq, ddq)

    def drive_efforts(self, q: Array, dq: Array, ddq: Array) -> Array:  # noqa: ARG002 - as the protocol states it
        """The part of `efforts` that accelerates the rotors and overcomes the friction of the drives."""
        dry, viscous = self._drive_friction
        return np.asarray(np.array(self.rotors) * ddq + viscous * dq + dry * np.sign(dq))

    def with_length(self, name: str, factor: float) -> "Experiment":
        """The same motion of the actuators of a robot that has one dimension multiplied by a factor.

        Raises:
            InputError: no dimension has this name.
        """
        if name not in self.lengths:
            known = ", ".join(self.lengths)
            raise InputError(f"no dimension is called '{name}'{nearest(name, self.lengths)} (known: {known})")
        return replace(self, factors=MappingProxyType({**self.factors, name: factor}))

    def with_payload(self, mass: float) -> "Experiment":
        """The same motion with a mass, in kg, fixed to the platform or the last link."""
        return replace(self, payload=mass)

    def passive_friction(self, coefficient: float) -> Array:
        """Additional efforts caused by viscous friction in every passive joint, the closures included.

        Args:
            coefficient: N·m·s/rad, of each turn of a passive joint of the tree, and of the relative turn of the bodies
                that a closure holds together. Slides have none.
        """
        return coefficient * self._passive_friction

    def measured(
        self,
        planted: Planted | None = None,
        rng: np.random.Generator | None = None,
        *,
        effort_noise: float = 0.003,
        encoder_noise: float = 1e-6,
    ) -> tuple[MeasuredMotion, ...]:
        """Each recording after the default preparation, with the noise of the measurement.

        Args:
            planted: What is measured without noise; None: the robot as its model is.
            rng: For the noise; None: no noise.
            effort_noise: White noise of the efforts, so much that the low-pass leaves this part of their rms.
            encoder_noise: White noise of the positions, as a part of their range.
        """
        steps = default_steps(self.rate)
        (cutoff,) = (step.cutoff for step in steps if isinstance(step, LowPass))
        seen = Planted(self.q, self._own_efforts) if planted is None else planted
        q, efforts = seen.q, seen.efforts
        if rng is not None:
            white = np.sqrt((self._own_efforts**2).mean(axis=0)) * effort_noise * np.sqrt(self.rate / (2 * cutoff))
            q = q + encoder_noise * np.ptp(self.q, axis=0) * rng.normal(size=q.shape)
            efforts = efforts + white * rng.normal(size=efforts.shape)
        if seen.step:
            q = seen.step * np.round(q / seen.step)
        robot = self.robot
        names = (*robot.coordinates, *(f"effort of {name}" for name in robot.actuators))
        channels = dict(zip(robot.actuators, names[len(robot.coordinates) :], strict=True))
        units = (*robot.coordinate_units, *robot.effort_units)
        samples = np.hstack([q, efforts])
        return tuple(
            prepare(Recording(names, units, part, rate=self.rate), robot.coordinates, channels, steps)
            for part in (samples[self.recording == k] for k in np.unique(self.recording))
        )

    @cached_property
    def _own_efforts(self) -> Array:
        return self._efforts(self.q, self.dq, self.ddq)

    @cached_property
    def _model(self) -> MechanismModel:
        """For the kinematics of the loops."""
        return MechanismModel(self.mechanism)

    @cached_property
    def _drive_friction(self) -> tuple[Array, Array]:
        """Dry and viscous friction of each drive."""
        known = [self.mechanism.freedoms[name].friction for name in self.mechanism.actuated]
        dry = np.array([(each and each.dry) or 0.0 for each in known])
        return dry, np.array([(each and each.viscous) or 0.0 for each in known])

    def _motion(self, q: Array, dq: Array, ddq: Array) -> tuple[CoordinateMotion, Array]:
        """The motion of all coordinates, and ∂s/∂q (samples, coordinates, actuators)."""
        s = self._model.coordinate_motion(*self._model.pose_motion(q, dq, ddq))
        names = self.mechanism.coordinates
        n = len(names)
        at = [names.index(name) for name in self.mechanism.actuated]
        by_actuator = s.by_pose[:, :n] @ np.linalg.inv(s.by_pose[:, at])
        return CoordinateMotion(*(part[:, :n] for part in s)), by_actuator

    def _efforts(self, q: Array, dq: Array, ddq: Array) -> Array:
        motion, by_actuator = self._motion(q, dq, ddq)
        forces = inverse_dynamics(self.mechanism, motion.s, motion.ds, motion.dds, self.engine)
        for k, freedom in enumerate(self.mechanism.freedoms.values()):
            if freedom.friction is not None:
                dry, viscous, offset = (getattr(freedom.friction, word) or 0.0 for word in ("dry", "viscous", "offset"))
                forces[:, k] += dry * np.sign(motion.ds[:, k]) + viscous * motion.ds[:, k] + offset
        return np.einsum("nki,nk->ni", by_actuator, forces)

    @cached_property
    def _passive_friction(self) -> Array:
        """Efforts for the coefficient 1."""
        motion, by_actuator = self._motion(self.q, self.dq, self.ddq)
        mechanism = self.mechanism
        turns = np.zeros_like(motion.ds)
        for joint in mechanism.joints:
            if joint.kind != "free":
                for name in joint.coordinates:
                    if mechanism.motions[name] == "turn" and name not in mechanism.actuated:
                        k = mechanism.coordinates.index(name)
                        turns[:, k] = motion.ds[:, k]
        efforts = np.einsum("nki,nk->ni", by_actuator, turns)
        rates = [_relative_turns(mechanism, motion.s, along) for along in np.moveaxis(by_actuator, 2, 0)]
        turning = _relative_turns(mechanism, motion.s, motion.ds)
        return efforts + np.stack([(rate * turning).sum(axis=(1, 2)) for rate in rates], axis=1)


def _relative_turns(mechanism: Mechanism, s: Array, ds: Array) -> Array:
    """Relative angular velocities (samples, closures, 3) of the bodies that closures hold together."""
    moving = body_motions(mechanism, s, ds)
    pairs = [closure.bodies for closure in mechanism.closures]
    return (
        np.stack([moving[b].turning - moving[a].turning for a, b in pairs], axis=1)
        if pairs
        else np.zeros((len(s), 0, 3))
    )


def sines(
    rng: np.random.Generator, center: Array, amplitude: Array, *, seconds: float, rate: float, highest: float = 2.5
) -> tuple[Array, Array, Array]:
    """A band-limited motion of all actuators with its exact derivatives, each (samples, actuators).

    Each coordinate is a sum of six sines of equal size and random phase. Their frequencies are spread from 0.1 Hz to
    `highest`, other ones for each coordinate.

    Args:
        rng: For the phases and frequencies.
        center: (actuators,) middle of the motion.
        amplitude: (actuators,) greatest possible distance from it.
        seconds: Duration.
        rate: Samples a second.
        highest: Hz; no sine is faster.
    """
    n = len(center)
    edges = np.geomspace(0.1, highest, 7)
    frequency = rng.uniform(edges[:-1], edges[1:], (n, 6))
    size = amplitude[:, None] / frequency.shape[1]
    t = np.arange(round(seconds * rate)) / rate
    phase = 2 * pi * frequency[None] * t[:, None, None] + rng.uniform(0, 2 * pi, (n, 6))
    w = 2 * pi * frequency
    q, dq, ddq = size * np.sin(phase), size * w * np.cos(phase), -size * w**2 * np.sin(phase)
    return center + q.sum(axis=2), dq.sum(axis=2), ddq.sum(axis=2)


@dataclass(frozen=True)
class _Case:
    """A robot of the catalogue of experiments."""

    robot: DynamicModel
    scaled: Scaled
    lengths: tuple[str, ...]
    amplitude: float
    """Amplitude of each actuator, rad or m."""
    rotors: tuple[float, ...] = ()


def _with_geometry(robot: Any, factors: Mapping[str, float]) -> Mechanism:
    """A robot whose dimensions are fields of its `geometry`."""
    own = robot.geometry
    changed = {name: factor * getattr(own, name) for name, factor in factors.items()}
    return replace(robot, geometry=replace(own, **changed)).mechanism if factors else robot.mechanism


def _frictionless(robot: Any, factors: Mapping[str, float]) -> Mechanism:
    """A robot like that of `_with_geometry` whose passive joints have no friction."""
    whole = _with_geometry(robot, factors)
    joints = [
        each
        if set(each.coordinates) & set(whole.actuated)
        else replace(each, freedoms=tuple(replace(freedom, friction=None) for freedom in each.freedoms))
        for each in whole.joints
    ]
    return replace(whole, joints=tuple(joints))


def _five_bar(factors: Mapping[str, float]) -> Mechanism:
    robot = FiveBar.demo()
    by = [factors.get(name, 1.0) for name in _FIVE_BAR]
    proximal = (by[1] * robot.proximal[0], by[2] * robot.proximal[1])
    distal = (by[3] * robot.distal[0], by[4] * robot.distal[1])
    return replace(robot, base=by[0] * robot.base, proximal=proximal, distal=distal).mechanism


_FIVE_BAR = ("base", "proximal1", "proximal2", "distal1", "distal2")
_OFFSETS = (0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081)
"""m, from each axis to the next, of a lightweight arm with 0.8 m reach."""
_TILTS = (0.0, pi / 2, -pi / 2, pi / 2, -pi / 2, pi / 2, -pi / 2)
"""rad about x: every other axis is horizontal where the arm is stretched."""
_MASSES = (4.0, 4.0, 3.0, 2.7, 1.7, 1.8, 0.6)
_MOTORS = (1.2, 1.2, 0.8, 0.8, 0.4, 0.3, 0.3)
"""kg·m²: rotors behind their gears."""
_DRY = (2.0, 2.0, 1.5, 1.5, 1.0, 0.8, 0.6)
_VISCOUS = (3.0, 3.0, 2.0, 2.0, 1.2, 0.8, 0.6)
_CARRIED = (0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0)
"""rad: the middle of the motion, away from the singular stretched position."""


def seven_axes(factors: Mapping[str, float] = MappingProxyType({})) -> Mechanism:
    """An open chain of seven turning joints, of the size and mass of a lightweight arm.

    Examples:
        >>> arm = seven_axes()
        >>> len(arm.bodies), arm.closures
        (7, ())
    """
    joints, bodies = [], []
    for k in range(7):
        along = _OFFSETS[k] * factors.get(f"offset{k + 1}", 1.0)
        place = (0.0, along, 0.0) if k in (2, 4, 6) else (0.0, 0.0, along)  # up, seen in the frame of the link before
        name, parent = f"q{k + 1}", BASE if k == 0 else f"link{k}"
        drive = Freedom(_CARRIED[k], Limits(-2.9, 2.9), Friction(str(k + 1), _DRY[k], _VISCOUS[k]), _MOTORS[k])
        joints.append(
            Joint(name, "revolute", parent, f"link{k + 1}", Placement(place, turned("x", _TILTS[k])), freedoms=(drive,))
        )
        m, half = _MASSES[k], _OFFSETS[min(k + 1, 6)] / 2
        thin, long = m * 0.05**2 / 2, m * (0.05**2 / 4 + (2 * half) ** 2 / 12)
        bodies.append(
            Body(
                f"link{k + 1}",
                Inertia(m, (0.002 * (k - 3), 0.3 * half, 0.6 * half), (long, 0.9 * long, thin + 0.4 * long)),
            )
        )
    names = tuple(joint.name for joint in joints)
    no_loops: tuple[Closure, ...] = ()
    return Mechanism(
        "seven-axis arm",
        tuple(bodies),
        tuple(joints),
        no_loops,
        actuated=names,
        platform=Platform("link7", names, _CARRIED, Placement((0.0, 0.0, 0.1))),
        gravity=(0.0, 0.0, -9.81),
    )


@cache
def _cases() -> dict[str, _Case]:
    delta, h4 = Delta(), H4()
    arms = (delta.parts.rotor_inertia, h4.parts.rotor_inertia)
    # friction of its passive joints is left to the effect: the dry friction of its description would jump
    hexapod = Hexapod()
    return {
        "delta": _Case(delta, partial(_with_geometry, delta), ("arm", "rod", "base"), 0.45, arms[0]),
        "h4": _Case(h4, partial(_with_geometry, h4), ("arm", "rod", "h", "base"), 0.3, arms[1]),
        "hexapod": _Case(hexapod, partial(_frictionless, hexapod), ("base", "platform"), 0.12),
        "five-bar": _Case(FiveBar.demo(), _five_bar, _FIVE_BAR, 0.5, (4e-3, 4e-3)),
        "arm": _Case(MechanismModel(seven_axes()), seven_axes, tuple(f"offset{k}" for k in range(3, 7)), 0.8, _MOTORS),
    }


EXPERIMENTS = ("arm", "delta", "five-bar", "h4", "hexapod")
"""Names of the robots for which there is an experiment."""


def experiment(
    name: str, *, seed: int = 0, seconds: float = 20.0, rate: float = 1000.0, engine: Engine = "pinocchio"
) -> Experiment:
    """An experiment of two recordings with one of the robots in `EXPERIMENTS`.

    Args:
        name: Which robot.
        seed: Random seed of the motion.
        seconds: Duration of each of the two recordings.
        rate: Samples a second.
        engine: What computes the efforts.

    Raises:
        InputError: there is no robot of this name.
    """
    known = _cases()
    if name not in known:
        raise InputError(f"no experiment is called '{name}'{nearest(name, known)} (known: {', '.join(known)})")
    case, rng = known[name], np.random.default_rng(seed)
    model = MechanismModel(case.scaled({}))
    center = model.inverse(model.home)
    amplitude = np.full(len(center), case.amplitude)
    parts = [sines(rng, center, amplitude, seconds=seconds, rate=rate) for _ in range(2)]
    q, dq, ddq = (np.concatenate(each) for each in zip(*parts, strict=True))
    n = len(parts[0][0])
    return Experiment(
        robot=case.robot,
        scaled=case.scaled,
        lengths=case.lengths,
        rotors=case.rotors or (0.0,) * len(center),
        rate=rate,
        time=np.arange(2 * n) / rate,
        recording=np.repeat([0, 1], n),
        q=q,
        dq=dq,
        ddq=ddq,
        engine=engine,
    )
