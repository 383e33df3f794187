"""Measured motions of a parallel robot without a controller: a known trajectory, encoders, noise, preparation."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from gough.data import Decimate, Differentiate, LowPass, MaskReversals, MeasuredMotion, Recording, Trim, prepare
from gough.robots import H4
from gough.robots.model import JointMotion, PoseMotion

STEPS = (LowPass(20.0), Differentiate(), Trim(0.3), MaskReversals(), Decimate(10))
"""The trajectories begin and end in motion, so that the filter's ends are cut off generously."""
SIZE = np.array([0.12, 0.12, 0.06, 0.7])
"""How far a trajectory goes from home: m, m, m, rad."""


def trajectory(robot, rng, *, frequency, harmonics, seconds=10.0, rate=1000.0, tries=40) -> PoseMotion:
    """The best conditioned of some random Fourier series around home whose efforts stay below 15 N·m."""
    times = np.arange(round(seconds * rate)) / rate
    coarse = slice(None, None, 10)
    omega = 2 * np.pi * frequency * np.arange(1, harmonics + 1)
    best, found = np.inf, None
    while found is None or tries > 0:
        tries -= 1
        a, b = rng.normal(size=(2, harmonics, len(robot.home)))
        wave = np.exp(1j * np.outer(times, omega)) @ (a - 1j * b)
        size = 0.9 * SIZE[: len(robot.home)] / abs(wave.real).max(axis=0)
        parts = [(np.exp(1j * np.outer(times, omega)) * (1j * omega) ** k) @ (a - 1j * b) for k in range(3)]
        x, dx, ddx = (size * part.real for part in parts)
        pose = PoseMotion(x + robot.home, dx, ddx)
        joints = robot.joint_motion(*(part[coarse] for part in pose))
        W = robot.regressor(*joints)
        if abs(W @ robot.nominal).max() > 15:
            continue
        rows = W.reshape(-1, W.shape[2])
        condition = np.linalg.cond(rows / np.linalg.norm(rows, axis=0))
        if condition < best:
            best, found = condition, pose
    return found


@cache
def trajectories(seed: int = 0) -> tuple[JointMotion, ...]:
    """Ten slow seconds and ten fast ones of an H4's motors."""
    robot, rng = H4(), np.random.default_rng(seed)
    slow = trajectory(robot, rng, frequency=0.1, harmonics=3, tries=10)
    fast = trajectory(robot, rng, frequency=0.5, harmonics=5)
    return tuple(robot.joint_motion(*pose) for pose in (slow, fast))


def efforts_of(robot, parameters) -> Callable[[JointMotion], np.ndarray]:
    """The robot's own model as the robot."""
    return lambda joints: robot.regressor(*joints) @ parameters


def recordings(robot, simulated, rng, *, seed=0, sigma=0.1, counts=20000, noise=None) -> list[Recording]:
    """The trajectories as encoders and torque sensors show them."""
    noise = noise or (lambda shape: rng.normal(0, sigma, shape))
    result = []
    for joints in trajectories(seed):
        step = 2 * np.pi / counts
        q = np.round(joints.q / step) * step if counts else joints.q
        torque = simulated(joints)
        samples = np.hstack([q, torque + noise(torque.shape)])
        names = [*robot.coordinates, *(f"torque {i + 1}" for i in range(q.shape[1]))]
        units = [*robot.coordinate_units, *robot.effort_units]
        result.append(Recording(names, units, samples, rate=1000.0))
    return result


def measured(robot, simulated, rng, *, steps=None, **options) -> MeasuredMotion:
    """A measured motion, prepared as usual unless told otherwise."""
    steps = STEPS if steps is None else steps
    torques = {name: f"torque {i + 1}" for i, name in enumerate(robot.actuators)}
    return prepare(recordings(robot, simulated, rng, **options), robot.coordinates, torques, steps)


def exact(robot, simulated, rng, *, seed=0, every=10, noise) -> MeasuredMotion:
    """The true motion, with noise on the torques only."""
    parts = []
    for joints in trajectories(seed):
        some = JointMotion(*(x[::every] for x in joints))
        torque = simulated(some)
        parts.append(
            MeasuredMotion(
                1000.0 / every, *some, torque + noise(torque.shape), np.ones(torque.shape, dtype=bool),
                coordinates=robot.coordinates, coordinate_units=robot.coordinate_units,
                actuators=robot.actuators, effort_units=robot.effort_units,
            )
        )  # fmt: skip
    return MeasuredMotion.concatenate(*parts)


def variant(robot, name):
    """The same robot with another of its models."""
    return replace(robot, variant=name)
