"""Errors of measured efforts: Gaussian with a memory, or uniform within a bound; with outliers."""

from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.data import butterworth


class Errors(Protocol):
    """Errors that can be drawn for a recording.

    Examples:
        >>> errors: Errors = UniformNoise([0.1, 0.2])
        >>> errors.n_actuators
        2
    """

    @property
    def n_actuators(self) -> int:
        """Number of actuators whose errors these are."""
        ...

    def draw(self, n_samples: int, *, rate: float, rng: np.random.Generator) -> Array:
        """Errors (samples, n) of a recording at `rate` samples a second."""
        ...


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
    """Order of the filter in one direction."""
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

    @classmethod
    def white(cls, sigma: Any, **options: Any) -> "EffortNoise":
        """Errors without memory, independent between actuators, of standard deviations sigma (n,).

        Examples:
            >>> EffortNoise.white([0.1, 0.2]).covariance
            array([[0.01, 0.  ],
                   [0.  , 0.04]])
        """
        return cls(np.diag(array(sigma, "sigma", ndim=1) ** 2), **options)

    @property
    def n_actuators(self) -> int:
        """Number of actuators whose errors these are."""
        return len(self.covariance)

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
        filter_of = (self.order, self.cutoff, rate)
        margin = ceil(2 * self.order * rate / self.cutoff)  # the filter's transients die out before the recording
        white = rng.standard_normal((n_samples + 2 * margin, n))
        smooth = butterworth.forth_and_back(white, *filter_of)[margin : margin + n_samples]
        response = butterworth.gain(rate / (2 << 14) * np.arange(1 << 14, dtype=np.float64), *filter_of)
        power = float(np.mean(response**4))  # Parseval; the square of |H|², since it is passed twice
        return np.asarray(smooth / np.sqrt(power))


@dataclass(frozen=True, eq=False)
class UniformNoise(ArrayValue):
    """Errors within a bound, each value as likely as any other, independent: what bounded-error methods assume.

    Examples:
        >>> errors = UniformNoise([0.1, 0.2]).draw(1000, rate=1000.0, rng=np.random.default_rng(1))
        >>> bool((abs(errors) <= [0.1, 0.2]).all())
        True
    """

    bound: Array
    """Greatest error of each actuator (n,)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", array(self.bound, "bound", ndim=1))
        good = bool(np.isfinite(self.bound).all() and (self.bound >= 0).all())
        require(good and len(self.bound) > 0, "bound must be finite and not negative, one number per actuator")

    @property
    def n_actuators(self) -> int:
        """Number of actuators whose errors these are."""
        return len(self.bound)

    def draw(self, n_samples: int, *, rate: float, rng: np.random.Generator) -> Array:
        """Errors (samples, n); the rate does not matter to errors without memory."""
        del rate
        # random() is below 1; rounding of the product cannot lead beyond the bound
        return (2 * rng.random((n_samples, self.n_actuators)) - 1) * self.bound
