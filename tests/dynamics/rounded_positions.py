"""Robots that follow a known path, measured by encoders with steps and noisy torque sensors: tests and a benchmark."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from gough.data import MeasuredMotion, Recording, default_steps, prepare
from gough.robots import Delta, FiveBar
from gough.robots.hexapod import Hexapod
from gough.robots.model import DynamicModel
from gough.simulate.trajectories import FourierSeries

RATE = 1000.0


@dataclass(frozen=True, eq=False)
class Experiment:
    """A path and the efforts that it needs, at the rate of the recording."""

    robot: DynamicModel
    q: np.ndarray
    efforts: np.ndarray
    turn: float
    """Of a coordinate for one turn of its encoder."""

    def measured(self, rng, *, counts=0, sigma=0.05, noise=0.0, extra=0.0, cutoff=20.0) -> MeasuredMotion:
        """One measurement: the encoders' zeros and the noise differ from one to the next.

        Args:
            rng: Source of randomness.
            counts: Steps in a turn of an encoder; 0: none.
            sigma: Standard deviation of an effort, one number or (N, n).
            noise: Standard deviation of a position.
            extra: Efforts that the model lacks, (N, n).
            cutoff: Of the low-pass, Hz.
        """
        q = self.q + noise * rng.standard_normal(self.q.shape) if noise else self.q
        if counts:
            step, offset = self.turn / counts, rng.random(q.shape[1])
            q = (np.floor(q / step + offset) + 0.5 - offset) * step
        torque = self.efforts + extra + sigma * rng.standard_normal(self.efforts.shape)
        robot, n = self.robot, q.shape[1]
        channels = [f"t{i + 1}" for i in range(n)]
        units = [*robot.coordinate_units, *robot.effort_units]
        recording = Recording([*robot.coordinates, *channels], units, np.hstack([q, torque]), rate=RATE)
        actuators = dict(zip(robot.actuators, channels, strict=True))
        return prepare(recording, robot.coordinates, actuators, default_steps(RATE, cutoff=cutoff))


@cache
def experiment(name: str, seconds: float = 20.0, seed: int = 0) -> Experiment:
    """A five-bar, a delta or a hexapod on a random path of up to 2 Hz."""
    rng = np.random.default_rng(seed)
    times = np.arange(round(seconds * RATE)) / RATE
    if name == "five-bar":
        robot, limits = FiveBar.demo(), {"amplitude": 0.65, "velocity": 6.0, "acceleration": 80.0}
        series = FourierSeries.random(rng, offset=[2.05, 1.09], frequency=0.2, n_harmonics=10, **limits)
        joints = series.at(times)[1:]
        return Experiment(robot, joints[0], robot.regressor(*joints) @ robot.nominal, 2 * np.pi)
    robot, amplitude = (Delta(), [0.15, 0.15, 0.08]) if name == "delta" else (Hexapod(), [0.1] * 3 + [0.25] * 3)
    series = FourierSeries.random(rng, offset=robot.home, amplitude=amplitude, frequency=0.2, n_harmonics=8)
    joints = robot.joint_motion(*series.at(times)[1:])
    turn = 2 * np.pi if name == "delta" else 0.1  # a strut of the hexapod moves by 0.1 m for a turn of its motor
    return Experiment(robot, joints[0], robot.regressor(*joints) @ robot.nominal, turn)
