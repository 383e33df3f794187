"""Mechanisms to be tested, and poses and motions that suit them."""

import numpy as np

from gough.robots import ROBOTS as KNOWN
from gough.robots import Palida
from gough.robots.mechanism import MechanismModel

ROBOTS = {name: MechanismModel(make().mechanism) for name, make in KNOWN.items()}
GENERAL = MechanismModel(Palida(bodies="general").mechanism)
REACH = {
    "palida": 0.2,
    "6-ups": 0.15,
    "6-ucu": 0.15,
    "delta": 0.15,
    "h4": 0.1,
    "par4": 0.15,
    "3-rrr": 0.1,
    "five-bar": 0.06,
}
"""How far poses go from home, in m; turns go to 0.3 rad."""


def around_home(name, rng, n):
    robot = ROBOTS[name]
    size = np.where(np.array(robot.pose_units) == "m", REACH[name], 0.3)
    return robot.home + rng.uniform(-1, 1, (n, len(robot.home))) * size


def motion(name, rng, n):
    """Positions, velocities and accelerations of the actuators."""
    robot = ROBOTS[name]
    x = around_home(name, rng, n)
    return robot.joint_motion(x, rng.normal(size=x.shape), 5 * rng.normal(size=x.shape))


def path(name, rng, times):
    """A smooth periodic motion of one second in the pose, and its derivatives: x, ẋ, ẍ."""
    robot = ROBOTS[name]
    size = 0.4 * np.where(np.array(robot.pose_units) == "m", REACH[name], 0.3)
    a, b = rng.uniform(-1, 1, (2, 2, 1, len(robot.home))) * size
    w = 2 * np.pi * np.arange(1, 3)[:, None]
    c, s = np.cos(w * times)[..., None], np.sin(w * times)[..., None]
    w = w[..., None]
    x = robot.home + (a * c + b * s).sum(axis=0)
    return x, (w * (b * c - a * s)).sum(axis=0), (-(w**2) * (a * c + b * s)).sum(axis=0)
