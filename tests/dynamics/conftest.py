"""A planar robot that moves at random: enough for everything but the comparison of models."""

import numpy as np
import pytest

from gough.data import MeasuredMotion
from gough.robots import FiveBar, efforts


@pytest.fixture(scope="session")
def five_bar():
    return FiveBar.demo()


@pytest.fixture(scope="session")
def random_motion(five_bar):
    """Builds a motion with bounded errors; one that starts with the same seed has the same path."""

    def motion(seed=0, n_samples=400, error=0.1, kept=None, parameters=None):
        rng = np.random.default_rng(seed)
        q = [2.0, 1.0] + 0.3 * rng.normal(size=(n_samples, 2))
        dq, ddq = rng.normal(size=(2, n_samples, 2))
        values = five_bar.nominal if parameters is None else parameters
        torque = efforts(five_bar, values, q, dq, ddq) + error * rng.uniform(-1, 1, size=(n_samples, 2))
        return MeasuredMotion(
            100.0, q, dq, ddq, torque, np.ones_like(torque, dtype=bool) if kept is None else kept(rng, torque),
            coordinates=five_bar.coordinates, coordinate_units=five_bar.coordinate_units,
            actuators=five_bar.actuators, effort_units=five_bar.effort_units,
        )  # fmt: skip

    return motion
