"""Robots of the Delta family to be tested, and poses and motions that suit them."""

import numpy as np

from gough.robots import H4, Delta, DeltaGeometry, H4Geometry, Par4, Par4Geometry

DELTAS = {
    "h4": H4(),
    "h4 uneven": H4(H4Geometry(arm=0.3, rod=0.61, d=0.09, h=0.08, base=0.11, alpha=(0.2, 2.9, 4.6, 4.9)), gravity=9.78),
    "par4": Par4(),
    "par4 uneven": Par4(Par4Geometry(arm=0.3, rod=0.7, h=0.1, d=0.05, base=0.15, alpha=(0.6, 2.5, 4.1, 5.3))),
    "delta": Delta(),
    "delta uneven": Delta(DeltaGeometry(arm=0.2, rod=0.45, base=0.12, platform=0.08, alpha=(0.1, 2.0, 4.4))),
}
REACH = {4: np.array([0.22, 0.22, 0.15, 1.0]), 3: np.array([0.25, 0.25, 0.15])}
"""Around home, per rod length (θ in rad)."""


def around_home(robot, rng, n):
    """Poses all over the middle of the workspace."""
    size = REACH[len(robot.home)] * np.where(np.array(robot.pose_units) == "m", robot.geometry.rod, 1.0)
    return robot.home + rng.uniform(-1, 1, (n, len(robot.home))) * size


def path(robot, rng, times):
    """A smooth periodic motion of one second, and its derivatives: x, ẋ, ẍ."""
    size = 0.5 * REACH[len(robot.home)] * np.where(np.array(robot.pose_units) == "m", robot.geometry.rod, 1.0)
    n = len(robot.home)
    amplitude = rng.uniform(-1, 1, (2, 3, n)) * size / 3
    w = 2 * np.pi * np.arange(1, 4)[:, None]
    c, s = np.cos(w * times)[..., None], np.sin(w * times)[..., None]
    w = w[..., None]
    a, b = amplitude[:, :, None, :]
    x = (a * c + b * s).sum(axis=0) + robot.home
    return x, (w * (b * c - a * s)).sum(axis=0), (-(w**2) * (a * c + b * s)).sum(axis=0)


def derivatives(f, t, h):
    """First and second derivatives by central differences of sixth order."""
    at = {k: f(t + k * h) for k in range(-3, 4)}
    first = sum(c * (at[k] - at[-k]) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * h)
    second = (sum(c * (at[k] + at[-k]) for k, c in ((1, 270), (2, -27), (3, 2))) - 490 * at[0]) / (180 * h**2)
    return first, second
