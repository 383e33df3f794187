"""Experiments that are ready to run, one per family of robots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gough.experiments.trajectories import FourierSeries
from gough.experiments.virtual import EffortNoise, VirtualExperiment
from gough.robots import FiveBar


def five_bar(rng: np.random.Generator, *, periods: int = 8) -> VirtualExperiment:
    """A bench-top five-bar that differs from its blueprint by some 15 %, moved for `periods` times five seconds.

    Torques come from motor currents: the second motor reads three times as noisily as the first, both feel the same
    supply (correlation 0.6), and a low-pass at 20 Hz gives the errors a memory.

    Examples:
        >>> experiment = five_bar(np.random.default_rng(1), periods=1)
        >>> experiment.run(np.random.default_rng(2)).efforts.shape
        (1000, 2)
    """
    robot = FiveBar.demo()
    motion = FourierSeries.random(
        rng, offset=[2.05, 1.09], amplitude=0.65, frequency=0.2, n_harmonics=10, velocity=6.0, acceleration=80.0
    )
    truth = robot.nominal * np.exp(0.15 * rng.standard_normal(len(robot.names)))
    sigma = np.array([0.02, 0.06])
    covariance = np.outer(sigma, sigma) * [[1.0, 0.6], [0.6, 1.0]]
    return VirtualExperiment(robot, motion, truth, EffortNoise(covariance, cutoff=20.0), rate=200.0, periods=periods)


@dataclass(frozen=True)
class Demo:
    """An experiment to show, and the words that a report needs for it.

    Examples:
        >>> DEMOS["five-bar"].effort_unit
        'N·m'
    """

    robot: str
    """What is moved, as part of a sentence."""
    truth: str
    """How its true parameters were chosen, as part of a sentence."""
    effort_unit: str
    experiment: Callable[..., VirtualExperiment]
    """Makes the experiment from a random generator."""


DEMOS: Mapping[str, Demo] = MappingProxyType(
    {"five-bar": Demo("planar five-bar", "each some 15% off its blueprint", "N·m", five_bar)}
)
"""The demos by the name of their robot."""
