"""What lies between a robot and its recording: encoders, amplifiers, converters, a logger that misses samples."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.data import butterworth
from gough.simulate.noise import EffortNoise, Errors


@dataclass(frozen=True, eq=False)
class Ripple(ArrayValue):
    """Torque that a motor adds to what its amplifier asks for: amplitude · sin(waves · q + phase).

    Examples:
        >>> Ripple(0.2, waves=12, phase=0.0).torque(np.array([[0.0, np.pi / 24]]))
        array([[0. , 0.2]])
    """

    amplitude: float
    """N·m."""
    waves: float = 12.0
    """Periods in one turn of the motor's position q."""
    phase: Any = None
    """One number, or one per actuator, in rad; None draws one per actuator for each recording."""

    def __post_init__(self) -> None:
        require(np.isfinite(self.amplitude) and self.amplitude >= 0, "amplitude must be finite and not negative")
        require(np.isfinite(self.waves), "waves must be finite")
        if self.phase is not None:
            object.__setattr__(self, "phase", array(self.phase, "phase", ndim=(0, 1)))

    def with_phase(self, phase: Array) -> "Ripple":
        """The same ripple with the given phase of each actuator (n,)."""
        return replace(self, phase=phase)

    def torque(self, q: Array) -> Array:
        """The added torques (N, n) at positions q (N, n)."""
        require(self.phase is not None, "a ripple has no torque before its phase is stated")
        return np.asarray(self.amplitude * np.sin(self.waves * q + self.phase))


@dataclass(frozen=True, eq=False)
class Instruments(ArrayValue):
    """Encoders, amplifiers and the logger of a robot.

    An amplifier turns its voltage V into the effort gain · V [PRV03i, eq. (33)], [NCPP, eq. (24)]; a ripple may add to
    it. Recorded are the encoders' readings and the voltages, each voltage averaged over the sampling period around
    the instant of its sample: a value held over the period after it would lag by half a period behind the positions.
    Its path: errors are added, the low-pass, the converter's steps, missed samples.

    Examples:
        >>> instruments = Instruments(gain=2.0, encoder_counts=4, noise=0.0)
        >>> instruments.read_positions(np.array([[0.7], [0.8]])).round(3)
        array([[0.   ],
               [1.571]])
    """

    gain: Any = 1.0
    """Effort per volt: one number, or one per actuator."""
    encoder_counts: int | None = 20_000
    """Steps in one turn of the motor's position q; None reads exactly."""
    noise: Errors | float | None = None
    """Errors of the measured efforts, in their unit; a number stands for white Gaussian errors of that σ."""
    ripple: Ripple | None = None
    voltage_limit: float = np.inf
    """Greatest voltage the controller can ask for, volts."""
    low_pass: float | None = None
    """Hz of a second-order Butterworth before the converter, which delays as an analog filter does; None has none."""
    voltage_step: float = 0.0
    """Step of the analog-digital converter, volts; 0 is exact."""
    dropouts: float = 0.0
    """Share of samples that the logger misses, all channels at once."""
    dropout_length: float = 3.0
    """Mean number of samples missed in a row."""
    missed: Literal["nan", "held"] = "nan"
    """What stands in the recording for a missed sample: nothing (NaN), or the last one before."""

    def __post_init__(self) -> None:
        gain = array(self.gain, "gain", ndim=(0, 1))
        require(
            bool(np.isfinite(gain).all() and (gain != 0).all()), "gain must be finite and not 0, in effort per volt"
        )
        object.__setattr__(self, "gain", gain if gain.ndim else float(gain))
        counts = self.encoder_counts
        require(counts is None or counts >= 1, f"encoder_counts must be at least 1 in a turn, but is {counts}")
        if isinstance(self.noise, int | float):
            require(np.isfinite(self.noise) and self.noise >= 0, f"noise must not be negative, but is {self.noise}")
        require(self.voltage_limit > 0, f"voltage_limit must be positive, in volts, but is {self.voltage_limit}")
        require(self.low_pass is None or self.low_pass > 0, f"low_pass must be positive, in Hz, but is {self.low_pass}")
        good = bool(np.isfinite(self.voltage_step) and self.voltage_step >= 0)
        require(good, f"voltage_step must not be negative, but is {self.voltage_step}")
        require(0 <= self.dropouts < 1, f"dropouts is a share of samples, below 1, but is {self.dropouts}")
        require(self.dropout_length >= 1, f"dropout_length must be at least 1 sample, but is {self.dropout_length}")
        require(self.missed in ("nan", "held"), f"missed must be 'nan' or 'held', but is '{self.missed}'")

    @property
    def resolution(self) -> float:
        """Step of the encoders in rad; 0 where they read exactly."""
        return 0.0 if self.encoder_counts is None else 2 * np.pi / self.encoder_counts

    def errors(self, n_actuators: int) -> Errors:
        """The errors of the efforts of so many actuators.

        Examples:
            >>> Instruments(noise=0.1).errors(4).n_actuators
            4
        """
        if self.noise is None or isinstance(self.noise, int | float):
            return EffortNoise.white(np.full(n_actuators, float(self.noise or 0.0)))
        n_noise = self.noise.n_actuators
        require(n_noise == n_actuators, f"there are {n_actuators} actuators, but the noise is that of {n_noise}")
        return self.noise

    def gains(self, n_actuators: int) -> Array:
        """The gain of each actuator (n,)."""
        gain = np.asarray(self.gain)
        require(gain.ndim == 0 or len(gain) == n_actuators, f"there are {n_actuators} actuators, but {gain.size} gains")
        return np.broadcast_to(gain, (n_actuators,))

    def phases(self, rng: np.random.Generator, n_actuators: int) -> Array:
        """The phase of each actuator's ripple (n,), drawn where it is not stated."""
        drawn = rng.uniform(-np.pi, np.pi, n_actuators)  # even where it is not used: what follows stays the same
        if self.ripple is None or self.ripple.phase is None:
            return drawn
        phase = np.asarray(self.ripple.phase)
        require(
            phase.ndim == 0 or len(phase) == n_actuators, f"there are {n_actuators} actuators, but {phase.size} phases"
        )
        return np.array(np.broadcast_to(phase, (n_actuators,)))

    def read_positions(self, q: Array) -> Array:
        """What the encoders show at positions q: the nearest step."""
        step = self.resolution
        return np.floor(q / step + 0.5) * step if step else np.array(q)

    def read_voltages(self, voltages: Array, rate: float, rng: np.random.Generator) -> Array:
        """What the converter yields of true voltages (N, n)."""
        n_samples, n = voltages.shape
        read = voltages + self.errors(n).draw(n_samples, rate=rate, rng=rng) / self.gains(n)
        if self.low_pass is not None:
            read = _filtered(read, self.low_pass, rate)
        step = self.voltage_step
        return np.floor(read / step + 0.5) * step if step else read

    def log(self, samples: Array, rng: np.random.Generator) -> Array:
        """The samples (N, channels) as the logger wrote them: some may be missed."""
        lost = _bursts(rng, len(samples), self.dropouts, self.dropout_length)
        if self.missed == "nan":
            return np.where(lost[:, None], np.nan, samples)
        return np.asarray(samples[np.maximum.accumulate(np.where(lost, 0, np.arange(len(samples))))])


def _filtered(values: Array, cutoff: float, rate: float) -> Array:
    """A causal second-order Butterworth low-pass that has settled at the first value."""
    require(
        cutoff < rate / 2,
        f"a low-pass at {cutoff:g} Hz needs more than {2 * cutoff:g} samples a second, not {rate:g}",
    )
    settled = butterworth.state_space(2, cutoff, rate).settled()
    return butterworth.filtered(values, 2, cutoff, rate, np.outer(settled, values[0]))


def _bursts(rng: np.random.Generator, n_samples: int, share: float, length: float) -> Array:
    """Which samples are missed: runs of the given mean length that cover the given share; never the first sample.

    A chain with two states: a run ends with probability 1/length, and begins so often that the share comes out.
    """
    chance = rng.random(n_samples)  # even where none is missed, so that all else stays the same
    begin = min(share / (length * (1 - share)), 1.0)
    lost = np.zeros(n_samples, dtype=bool)
    if not share:
        return lost
    for k in range(1, n_samples):
        lost[k] = chance[k] >= 1 / length if lost[k - 1] else chance[k] < begin
    return lost
