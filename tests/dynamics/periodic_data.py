"""Periodic recordings with known truth, of robots with and without a pose."""

import numpy as np

from gough.robots import H4, FiveBar
from gough.simulate import FourierSeries, PeriodicExperiment, white


def correlated(n, sigma, seed):
    """A covariance far from diagonal, with standard deviations about `sigma`."""
    A = np.random.default_rng(seed).normal(size=(n, 2))
    C = A @ A.T + 1.2 * np.eye(n)
    size = sigma * np.linspace(0.8, 1.3, n)
    return C / np.sqrt(np.outer(C.diagonal(), C.diagonal())) * np.outer(size, size)


def experiment(robot, *, order=3, rate=100.0, periods=5, positions=1e-3, efforts=0.2, seed=1):
    rng = np.random.default_rng(seed)
    if isinstance(robot, FiveBar):
        motion = {"offset": [2.0, 1.1], "amplitude": 0.5, "frequency": 0.5}
    else:
        motion = {"offset": robot.home, "amplitude": [0.1, 0.1, 0.06, 0.5], "frequency": 1.0}
    series = FourierSeries.random(rng, n_harmonics=order, **motion)
    n = len(robot.actuators)
    noise = [white(correlated(n, size, seed + k)) for k, size in enumerate((positions, efforts))]
    return PeriodicExperiment(robot, series, rate, periods, *noise)


ROBOTS = {"five-bar": FiveBar(), "h4": H4(variant="paper")}
