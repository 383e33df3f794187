"""Campaigns of periodic motions, read with noise in positions and efforts: what repeats are for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import numpy as np

from gough.core.arrays import Array
from gough.robots import Palida
from gough.simulate.benchmark_circle import benchmark_circle
from gough.simulate.periodic import PeriodicExperiment, white
from gough.simulate.trajectories import FourierSeries

FORCES = (412.8, 375.4, 883.0, 371.9, 547.2, 970.9)
"""Variances of the measured forces, N² [AHG, §V]."""
LENGTHS = 5e-4
"""m: standard deviation of a measured strut length. Hall sensors in the drives; [AHG] calls it large, and prints none.
"""
CORRELATION = 0.3
"""Correlation of any two channels: [AHG, figure 5] shows matrices far from diagonal, without numbers."""
RADIUS = 0.12
"""m, of the benchmark circles: in the middle of the workspace."""


@dataclass(frozen=True, eq=False)
class PeriodicCampaign:
    """All that is recorded of one robot in periodic motions: one to identify it by, others to validate by.

    Examples:
        >>> campaign = palida(np.random.default_rng(1), periods=3)
        >>> campaign.robot.name, campaign.truth.shape, list(campaign.validation)
        ('PaLiDA', (33,), ['circle', 'mirrored circle'])
    """

    experiment: PeriodicExperiment
    """To identify by."""
    validation: Mapping[str, PeriodicExperiment]
    """The same robot and instruments on other motions, by name."""

    @property
    def robot(self) -> Palida:
        """The model; its nominal parameters are the blueprint."""
        assert isinstance(self.experiment.robot, Palida)
        return self.experiment.robot

    @property
    def truth(self) -> Array:
        """The true parameters (p,)."""
        return self.experiment.truth


@cache
def palida_excitation() -> FourierSeries:
    """A D-optimal motion of PaLiDA within its limits: five harmonics of 0.5 Hz, the best of five starts.

    `gough design` finds such motions: −ln det of the information is −124.6, of random motions −60 to −79.

    Examples:
        >>> palida_excitation().period
        2.0
    """
    mu = (
        (0.09567, 0.18579, 0.15063, 0.46535, -0.54634),
        (-0.03758, -0.36187, 0.58024, -0.44013, 0.38416),
        (-0.18181, 0.09708, 0.01758, 0.46349, 0.41450),
        (0.22108, -0.77614, 0.18662, 0.40297, 2.49490),
        (0.03176, -0.60157, 0.28671, -0.88959, 2.21743),
        (-1.06787, 2.41767, -1.80527, 0.52404, 7.31654),
    )
    nu = (
        (0.76165, 0.12130, 0.26360, -0.29681, 0.23639),
        (-0.32295, 0.29250, 0.15965, -0.84576, -0.27991),
        (-0.09255, -0.20823, 0.18018, -0.02831, -0.34460),
        (0.49970, -0.14156, -0.10501, 0.28252, 0.77024),
        (-0.06598, -0.17890, 0.05895, 0.29087, -2.00221),
        (-1.19913, 1.14408, 1.18666, -2.53519, -3.54671),
    )
    offset = (-0.07393, -0.03388, -0.63433, 0.06923, -0.16943, 0.40292)
    return FourierSeries(np.array(offset), np.array(mu), np.array(nu), frequency=0.5)


def palida(
    rng: np.random.Generator, *, periods: int = 10, rate: float = 500.0, lengths: float = LENGTHS, spread: float = 0.15
) -> PeriodicCampaign:
    """PaLiDA some 15 % off its blueprint, as in [AHG]: noisy strut lengths and forces, and two circles to validate by.

    Args:
        rng: The source of randomness.
        periods: Number of periods of each motion.
        rate: Samples a second.
        lengths: Standard deviation of a measured strut length, in m.
        spread: Standard deviation of the logarithm of true over nominal parameters.

    Examples:
        >>> campaign = palida(np.random.default_rng(1), periods=2, rate=100.0)
        >>> campaign.experiment.run(np.random.default_rng(2)).q.shape
        (2, 200, 6)
    """
    robot = Palida()
    alike = CORRELATION + (1 - CORRELATION) * np.eye(6)
    sigma = np.sqrt(FORCES)
    truth = robot.nominal * np.exp(spread * rng.standard_normal(len(robot.nominal)))
    noise = white(lengths**2 * alike), white(np.outer(sigma, sigma) * alike)
    experiment = PeriodicExperiment(robot, palida_excitation(), rate, periods, *noise, truth)
    circles = {
        name: replace(experiment, series=benchmark_circle(robot.home, RADIUS, rate=rate, mirrored=mirrored))
        for name, mirrored in (("circle", False), ("mirrored circle", True))
    }
    return PeriodicCampaign(experiment, MappingProxyType(circles))
