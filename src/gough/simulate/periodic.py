"""Periodic virtual experiments with noise in positions and efforts: what maximum likelihood is made for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.kernels import Kernel
from gough.robots.model import DynamicModel, ParallelRobot
from gough.simulate.noise import EffortNoise, Errors
from gough.simulate.trajectories import FourierSeries, Motion


@dataclass(frozen=True, eq=False)
class PeriodicExperiment(ArrayValue):
    """A robot that follows a Fourier series exactly, period after period, and is read with errors.

    Positions and efforts have errors of their own, correlated between channels if so stated. What a controller leaves
    of the reference is a series too: add it to `series` as further harmonics.

    Examples:
        >>> from gough.robots import FiveBar
        >>> series = FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.2]], frequency=0.5)
        >>> experiment = PeriodicExperiment(FiveBar(), series, rate=100.0, periods=5, positions=1e-3, efforts=0.1)
        >>> motion = experiment.run(np.random.default_rng(1))
        >>> motion.q.shape, motion.noise.sigma.round(4)
        ((5, 200, 2), array([0.001 , 0.001 , 0.0984, 0.0993]))
    """

    robot: DynamicModel
    """Parallel robots follow the series in their pose, others in their coordinates."""
    series: FourierSeries
    rate: float
    """Samples a second; a period has a whole number of samples."""
    periods: int
    positions: Errors | float
    """Errors of measured positions; a number is the σ of white ones."""
    efforts: Errors | float
    """Errors of measured efforts, likewise."""
    parameters: Array | None = None
    """Parameters of the robot; None takes its nominal ones."""

    def __post_init__(self) -> None:
        if self.parameters is not None:
            p = array(self.parameters, "parameters", ndim=1)
            wanted = len(self.robot.names)
            require(len(p) == wanted, f"{self.robot.name} has {wanted} parameters, but {len(p)} are given")
            object.__setattr__(self, "parameters", p)
        for what, names in (("positions", self.robot.coordinates), ("efforts", self.robot.actuators)):
            value = getattr(self, what)
            if not isinstance(value, int | float):
                n = value.n_actuators
                require(n == len(names), f"there are {len(names)} {what}, but errors of {n}")

    @property
    def truth(self) -> Array:
        """The parameters of the robot."""
        return self.robot.nominal if self.parameters is None else self.parameters

    def exact(self) -> tuple[Array, Array]:
        """Positions (N, n) and efforts (N, actuators) of one period, without errors.

        Raises:
            InputError: the robot cannot follow the series.
        """
        _, *moved = self.series.sample(self.rate)
        kernel: Kernel = self.robot.regressor_kernel()  # type: ignore[attr-defined]
        q = self.robot.inverse(moved[0]) if isinstance(self.robot, ParallelRobot) else moved[0]
        efforts = kernel(*moved) @ self.truth
        if not np.isfinite(efforts).all():
            sample = int(np.argwhere(~np.isfinite(efforts))[0, 0])
            raise InputError(f"{self.robot.name} cannot follow the series: sample {sample} is out of its workspace")
        return q, efforts

    def run(self, rng: np.random.Generator) -> RepeatedMotion:
        """The recorded periods; errors are drawn from `rng`."""
        q, efforts = self.exact()
        robot, n_samples = self.robot, len(q)
        read = []
        for values, errors in ((q, self.positions), (efforts, self.efforts)):
            n = values.shape[1]
            drawn = EffortNoise.white(np.full(n, float(errors))) if isinstance(errors, int | float) else errors
            e = drawn.draw(n_samples * self.periods, rate=self.rate, rng=rng)
            read.append(values + e.reshape(self.periods, n_samples, n))
        return RepeatedMotion(
            self.rate,
            read[0],
            read[1],
            robot.coordinates,
            robot.coordinate_units,
            robot.actuators,
            robot.effort_units,
            source=f"virtual {robot.name}",
        )

    def motion(self) -> Motion:
        """The reference over one period."""
        return self.series.sample(self.rate)


def white(covariance: Any) -> EffortNoise:
    """Errors without memory of several channels, with that covariance between them.

    Examples:
        >>> white([[1.0, 0.5], [0.5, 1.0]]).n_actuators
        2
    """
    return EffortNoise(array(covariance, "the covariance", ndim=2))
