"""Virtual experiments: a robot whose parameters are known moves, and its efforts are measured with errors."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.experiments.trajectories import FourierSeries
from gough.robots.model import DynamicModel, efforts


@dataclass(frozen=True, eq=False)
class EffortNoise(ArrayValue):
    """Errors of measured efforts: Gaussian, correlated between actuators, with a memory if low-pass filtered.

    Examples:
        >>> noise = EffortNoise([[0.01, 0.0], [0.0, 0.04]], cutoff=20.0)
        >>> noise.draw(1000, rate=200.0, rng=np.random.default_rng(1)).shape
        (1000, 2)
    """

    covariance: Array
    """(n, n) covariance of the errors of one sample, after filtering and without outliers."""
    cutoff: float | None = None
    """Hz of the Butterworth low-pass, run forth and back (zero phase); None leaves the errors without memory."""
    order: int = 4
    """Of the filter in one direction."""
    outliers: float = 0.0
    """Share of all readings that are spoilt; each reading of each actuator alike."""
    outlier_size: float = 20.0
    """Size of what is added to a spoilt reading, with either sign, in standard deviations of its actuator."""

    def __post_init__(self) -> None:
        C = array(self.covariance, "the covariance of the efforts", ndim=2)
        object.__setattr__(self, "covariance", C)
        require(C.shape[0] == C.shape[1] > 0, f"a covariance must be square, but its shape is {C.shape}")
        require(bool(np.isfinite(C).all()) and np.array_equal(C, C.T), "the covariance must be finite and symmetric")
        least = float(np.linalg.eigvalsh(C)[0])
        require(least >= -1e-12 * float(C.diagonal().max()), "the covariance must not have negative eigenvalues")
        require(self.cutoff is None or self.cutoff > 0, f"cutoff must be positive, in Hz, but is {self.cutoff}")
        require(self.order >= 1, f"the order of a filter is at least 1, but is {self.order}")
        require(0 <= self.outliers <= 1, f"outliers is a share, between 0 and 1, but is {self.outliers}")
        require(self.outlier_size >= 0, f"outlier_size must not be negative, but is {self.outlier_size}")

    def draw(self, n_samples: int, *, rate: float, rng: np.random.Generator) -> Array:
        """Errors (samples, n) of a recording at `rate` samples a second."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        errors = self._unit(n_samples, rate, rng) @ root.T
        # drawn even where there are none, so that outliers are added to the same noise that would be there without
        chance, sign = rng.random(errors.shape), rng.choice([-1.0, 1.0], size=errors.shape)
        sigma = np.sqrt(self.covariance.diagonal())
        return np.asarray(errors + np.where(chance < self.outliers, sign * self.outlier_size * sigma, 0.0))

    def _unit(self, n_samples: int, rate: float, rng: np.random.Generator) -> Array:
        """Independent series of unit variance, filtered where a cutoff is stated."""
        n = len(self.covariance)
        if self.cutoff is None:
            return rng.standard_normal((n_samples, n))
        require(
            self.cutoff < rate / 2,
            f"a low-pass at {self.cutoff:g} Hz needs more than {2 * self.cutoff:g} samples a second, not {rate:g}",
        )
        from scipy.signal import butter, sosfiltfilt, sosfreqz  # noqa: PLC0415 - start-up time

        sections = butter(self.order, self.cutoff, fs=rate, output="sos")
        margin = ceil(2 * self.order * rate / self.cutoff)  # the filter's transients die out before the recording
        white = rng.standard_normal((n_samples + 2 * margin, n))
        smooth = sosfiltfilt(sections, white, axis=0, padtype=None)[margin : margin + n_samples]
        _, response = sosfreqz(sections, 1 << 14)
        power = float(np.mean(np.abs(response) ** 4))  # Parseval; the square of |H|², since it is passed twice
        return np.asarray(smooth / np.sqrt(power))


@dataclass(frozen=True, eq=False)
class VirtualRecording(ArrayValue):
    """What a virtual experiment yields: the motion, the efforts as measured, and as they truly were.

    Examples:
        >>> rows = np.zeros((1, 2))
        >>> VirtualRecording(np.zeros(1), rows, rows, rows, efforts=rows + 0.1, true_efforts=rows).errors
        array([[0.1, 0.1]])
    """

    times: Array
    """(N,) in seconds."""
    q: Array
    dq: Array
    ddq: Array
    efforts: Array
    """(N, actuators) as measured."""
    true_efforts: Array
    """(N, actuators) without errors."""

    @property
    def errors(self) -> Array:
        """Measured minus true efforts."""
        return self.efforts - self.true_efforts


@dataclass(frozen=True, eq=False)
class VirtualExperiment(ArrayValue):
    """A robot with known parameters that follows a periodic motion exactly, its efforts measured with errors.

    Examples:
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> motion = FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.2]], frequency=0.5)
        >>> experiment = VirtualExperiment(robot, motion, robot.nominal, EffortNoise(0.01 * np.eye(2)), rate=100.0)
        >>> experiment.run(np.random.default_rng(1)).efforts.shape
        (200, 2)
    """

    robot: DynamicModel
    motion: FourierSeries
    parameters: Array
    """The truth, one number per parameter of the robot."""
    noise: EffortNoise
    rate: float
    """Samples a second."""
    periods: int = 1
    """How often the motion is repeated."""

    def __post_init__(self) -> None:
        parameters: Any = array(self.parameters, "the true parameters", ndim=1)
        object.__setattr__(self, "parameters", parameters)
        wanted, n = len(self.robot.names), len(self.robot.actuators)
        require(len(parameters) == wanted, f"{self.robot.name} has {wanted} parameters, not {len(parameters)}")
        given = len(self.noise.covariance)
        require(given == n, f"{self.robot.name} has {n} actuators, but the noise is that of {given}")

    def run(self, rng: np.random.Generator) -> VirtualRecording:
        """One recording; the same state of `rng` gives the same one, bit for bit."""
        times, q, dq, ddq = self.motion.sample(self.rate, self.periods)
        true = efforts(self.robot, self.parameters, q, dq, ddq)
        errors = self.noise.draw(len(times), rate=self.rate, rng=rng)
        return VirtualRecording(times, q, dq, ddq, true + errors, true)
