"""A small measured motion whose truth is known, for examples in docstrings."""

import numpy as np

from gough.data import MeasuredMotion
from gough.robots import FiveBar, efforts


def random_motion(seed: int, *, n_samples: int = 300, error: float = 0.1) -> tuple[FiveBar, MeasuredMotion]:
    """A five-bar at random positions, velocities and accelerations; torques of its nominal parameters err evenly.

    Examples:
        >>> robot, motion = random_motion(1)
        >>> motion.n_rows
        600
    """
    rng, robot = np.random.default_rng(seed), FiveBar.demo()
    q, dq, ddq = [2.0, 1.0] + 0.3 * rng.normal(size=(n_samples, 2)), *rng.normal(size=(2, n_samples, 2))
    torque = efforts(robot, robot.nominal, q, dq, ddq) + error * rng.uniform(-1, 1, size=(n_samples, 2))
    motion = MeasuredMotion(
        100.0,
        q,
        dq,
        ddq,
        torque,
        np.ones(torque.shape, dtype=bool),
        coordinates=robot.coordinates,
        coordinate_units=robot.coordinate_units,
        actuators=robot.actuators,
        effort_units=robot.effort_units,
    )
    return robot, motion
