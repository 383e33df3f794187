"""Small problems that compile in a second."""

import pytest

from gough.designs.excitation import DesignProblem, MotionLimits
from gough.robots import Delta, FiveBar


@pytest.fixture(scope="session")
def delta():
    limits = MotionLimits(
        speeds=8.0, efforts=10.0, accelerations=150.0, positions=(-1.0, 2.0), pose={"z": (-0.9, -0.6)}
    )
    return DesignProblem(Delta(), limits, sigma=[0.1, 0.2, 0.3], n_harmonics=2)


@pytest.fixture(scope="session")
def five_bar():
    return DesignProblem(
        FiveBar(),
        MotionLimits(speeds=6.0, efforts=5.0),
        sigma=[[0.01, 0.005], [0.005, 0.04]],
        home=[2.05, 1.09],
        n_harmonics=2,
        frequency=(0.2, 0.5),
        rate=200.0,
    )
