"""Mistakes that make a calibration wrong: each is a small alternative to what was stated, and a way to make it."""

from abc import ABC
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import require
from gough.data import Poses
from gough.robots.kinematics import KinematicModel


@dataclass(frozen=True, eq=False)
class Corrected:
    """The data as they would be read without a mistake of convention: another unit, sign, order or frame."""

    poses: Poses
    words: str
    """The mistake as a clause after "if": `the readings have the other sign`."""
    stretch: float = 1.0
    """Factor that every reading was multiplied by: densities of data in other units are compared by it."""
    trials: int = 1
    """Alternatives from which this one was chosen."""
    left_out: tuple[int, ...] = ()
    """Poses that are not among them: each counts as spread over twice the range of the readings."""
    blueprint: Array | None = None
    """Parameters of the blueprint, where that is corrected instead of the data."""


@dataclass(frozen=True, eq=False)
class Stated:
    """Robot and data as they were stated, at some of the poses: what corrections are made from."""

    model: KinematicModel
    blueprint: Array
    """Parameters in the robot's frame."""
    whole: Poses
    """The measured poses, in the order of the file."""
    rows: Integers
    """Numbers of those that corrections are judged at, rising."""
    in_robot_frame: bool
    """Whether poses are those of the platform in the base's frame, as stated."""
    predicted: Array | None
    """(rows, chains) readings that the blueprint has at these poses; None where it cannot reach them, or not in the
    robot's frame."""
    aligned: Array | None
    """The same, after poses in an instrument's frame were moved to the robot's as well as can be."""

    @cached_property
    def poses(self) -> Poses:
        """The poses that corrections are judged at."""
        return self.whole.select(self.rows)

    def worst(self) -> list[int]:
        """Poses, counted among `rows`, by how far their readings are from the blueprint's, worst first."""
        return [] if self.aligned is None else worst_first(self.poses.readings, self.aligned).tolist()


def worst_first(readings: Array, predicted: Array) -> Integers:
    """Numbers of poses by how far their readings are from those predicted, worst first.

    Zeros of readings are taken out by medians, which single poses do not move.

    Examples:
        >>> worst_first(np.array([[1.0], [1.1], [9.0], [1.0]]), np.zeros((4, 1)))[0]
        np.int64(2)
    """
    away = readings - predicted
    away = away - np.median(away, axis=0)
    usual = np.maximum(np.median(abs(away), axis=0), 1e-12)
    return np.asarray(np.argsort(-((away / usual) ** 2).mean(axis=1)), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A calibrated robot at its poses, chain by chain: what columns of nested models are computed from."""

    model: KinematicModel
    poses: Poses
    """The poses that were calibrated, in the order of the file."""
    by_pose: Array
    """(N, chains, 6): derivative of each closure error (m) by the position and the left rotation vector."""
    by_reading: Array
    """(N, chains): by the reading."""
    fixed: tuple[str, ...]
    """Parameters that were held at their values."""
    by_fixed: Array
    """(N, chains, fixed): by these."""

    @property
    def n(self) -> int:
        """Number of chains."""
        return self.by_reading.shape[1]

    def of_chains(self, values: Array) -> list[Array]:
        """(N, chains, 1) for each chain: errors `values` (N, chains) of its reading alone, as closure errors."""
        N, n = self.by_reading.shape
        result, each = np.zeros((n, N, n)), np.arange(n)
        result[each, :, each] = (self.by_reading * values).T
        return list(result[..., None])


@dataclass(frozen=True, eq=False)
class Alternative:
    """A nested model: closure errors = derivatives · parameters + columns · further parameters."""

    columns: Array
    """(N, chains, k), m per unit."""
    words: Callable[[Array, Array], str]
    """The mistake in a sentence, from the values (k) of the further parameters and their standard deviations."""
    chain: int | None = None
    """Number of the chain that it is about; None for all."""
    largest: float = np.inf
    """Values beyond this are impossible: such a fit imitates something else."""
    from_pose: bool = False
    """Whether the columns count from some pose on, which is to be found; else at all poses."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """A simulated campaign without mistakes, to make one in."""

    model: KinematicModel
    theta: Array
    """The true parameters."""
    poses: Poses
    sigma: float
    """Standard deviation of closure errors, m."""


class Mistake(ABC):
    """A mistake. A file in `gough.geometry.mistakes` defines one as `MISTAKE`.

    Mistakes of convention are `corrected`: each correction is judged by the probability of the corrected data under
    the blueprint. Small errors are `columns` that are added to the calibrated model, and tested by likelihood ratio.
    """

    name: str
    """What tables and benchmarks call it."""
    title: str
    """What it is, in a few words with an article."""
    advice: str
    """What to do about it, as a sentence."""
    sizes: tuple[float, ...] = (1.0,)
    """Sizes to make it in, in `size_unit`; one for mistakes without size."""
    size_unit: str = ""

    def corrected(self, stated: Stated) -> Iterator[Corrected]:  # noqa: ARG002 - for overriders
        """The data without the mistake, in all its forms."""
        yield from ()

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:  # noqa: ARG002 - for overriders
        """Nested models in which the mistake is allowed for."""
        yield from ()

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses | None:  # noqa: ARG002
        """What is measured if the mistake is made; None where this robot's data cannot have it."""
        return None


_LENGTHS = {"millimetres": 1e-3, "centimetres": 1e-2, "metres": 1.0, "inches": 0.0254}


def wrong_lengths() -> Iterator[tuple[float, str]]:
    """Factors that mend lengths in another unit than stated, and the mistake in words.

    Examples:
        >>> for factor, words in wrong_lengths():
        ...     print(f"{factor:g}: {words}")
        0.1: millimetres were taken for centimetres
        0.001: millimetres were taken for metres
        0.0393701: millimetres were taken for inches
        10: centimetres were taken for millimetres
        0.01: centimetres were taken for metres
        0.393701: centimetres were taken for inches
        1000: metres were taken for millimetres
        100: metres were taken for centimetres
        39.3701: metres were taken for inches
        25.4: inches were taken for millimetres
        2.54: inches were taken for centimetres
        0.0254: inches were taken for metres
    """
    for true, size in _LENGTHS.items():
        for stated, taken in _LENGTHS.items():
            if true != stated:
                yield size / taken, f"{true} were taken for {stated}"


def percent_error(value: float, sigma: float) -> str:
    """A relative error in words: `+0.50 ± 0.02 %`, with two standard deviations.

    Examples:
        >>> percent_error(-0.005, 0.0001)
        '−0.50 ± 0.02 %'
    """
    digits = max(0, min(6, int(np.ceil(-np.log10(max(200 * sigma, 1e-6))))))
    return f"{100 * value:+.{digits}f} ± {200 * sigma:.{digits}f} %".replace("-", "−")


def one_chain(rng: np.random.Generator, n: int) -> int:
    """A chain by chance."""
    require(n > 0, "there is no chain")
    return int(rng.integers(n))
