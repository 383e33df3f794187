"""Poses and readings of legs, known to intervals: data that a method and a checker of its proofs both read."""

from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array, first_not_finite
from gough.core.errors import InputError, require
from gough.core.units import LARGEST, SMALLEST


@dataclass(frozen=True, eq=False)
class LegMeasurements(ArrayValue):
    """N poses of a platform and the readings of one leg, each within stated tolerances.

    A leg from a on the base to b on the platform, with length l at reading zero, is consistent with them if for every
    pose k there are errors δ, ω, η within the tolerances of position, rotation and reading such that

        |exp(ω) R_k b + p_k + δ − a| = l + reading_k + η.

    R_k is exactly the rotation of the quaternion, which need not have unit length, so that nothing is lost by rounding.

    Examples:
        >>> leg = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 1e-4, 1e-4, 1e-5)
        >>> len(leg), leg.position_tolerance
        (1, array([[0.0001, 0.0001, 0.0001]]))
    """

    quaternion: Array
    """(N, 4), scalar first."""
    position: Array
    """(N, 3), m."""
    reading: Array
    """(N,), m."""
    position_tolerance: Array
    """(N, 3), or what broadcasts to it: |δ| is at most this, axis by axis."""
    rotation_tolerance: Array
    """(N, 3): of the left rotation vector ω, rad."""
    reading_tolerance: Array
    """(N,): of the reading, m."""

    def __post_init__(self) -> None:
        n = array(self.reading, "reading", ndim=(0, 1, 2), copy=False).size
        _take(self, n, {"reading": (n,), "reading_tolerance": (n,)})

    def __len__(self) -> int:
        return len(self.reading)

    def select(self, poses: Any) -> "LegMeasurements":
        """Some of the poses: a mask, a slice, or numbers."""
        rows = np.arange(len(self))[poses if isinstance(poses, slice) else np.asarray(poses)]
        return LegMeasurements(*(getattr(self, field.name)[rows] for field in fields(self)))

    def widened(self, by: Any) -> "LegMeasurements":
        """The same with every reading uncertain by so much more, one number or one for each; sums are rounded up.

        Examples:
            >>> leg = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 0, 0, 0.5)
            >>> leg.widened(0.25).reading_tolerance
            array([0.75])
        """
        total = self.reading_tolerance + by
        exact = (total - self.reading_tolerance == by) & (total - by == self.reading_tolerance)
        return replace(self, reading_tolerance=np.maximum(np.where(exact, total, np.nextafter(total, np.inf)), 0.0))


@dataclass(frozen=True, eq=False)
class PlatformMeasurements(ArrayValue):
    """N poses of a platform and the readings of several legs at each, all within stated tolerances.

    The errors δ, ω of a pose are the same for all legs; each leg's reading has an error of its own.

    Examples:
        >>> data = PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [[0.1, 0.2]], 1e-4, 1e-4, 1e-5)
        >>> len(data), data.n_legs, data.leg(1).reading
        (1, 2, array([0.2]))
    """

    quaternion: Array
    """(N, 4), scalar first."""
    position: Array
    """(N, 3), m."""
    readings: Array
    """(N, legs), m."""
    position_tolerance: Array
    """(N, 3), or what broadcasts to it."""
    rotation_tolerance: Array
    """(N, 3): of the left rotation vector ω, rad."""
    reading_tolerance: Array
    """(N, legs), m."""

    def __post_init__(self) -> None:
        shape = array(self.readings, "readings", ndim=(0, 1, 2, 3), copy=False).shape
        require(len(shape) == 2 and shape[1] > 0, f"readings must be (N, legs), but their shape is {shape}")
        _take(self, shape[0], {"readings": shape, "reading_tolerance": shape})

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def n_legs(self) -> int:
        """Number of legs with readings."""
        return self.readings.shape[1]

    def leg(self, column: int) -> LegMeasurements:
        """What was measured of one leg, by its column of the readings."""
        return LegMeasurements(
            self.quaternion,
            self.position,
            self.readings[:, column],
            self.position_tolerance,
            self.rotation_tolerance,
            self.reading_tolerance[:, column],
        )

    @classmethod
    def of_leg(cls, leg: LegMeasurements) -> "PlatformMeasurements":
        """A platform of which one leg was measured."""
        return cls(
            leg.quaternion,
            leg.position,
            leg.reading[:, None],
            leg.position_tolerance,
            leg.rotation_tolerance,
            leg.reading_tolerance[:, None],
        )

    def columns(self, columns: Any) -> "PlatformMeasurements":
        """The same poses with the readings of some legs."""
        chosen = list(columns)
        return replace(self, readings=self.readings[:, chosen], reading_tolerance=self.reading_tolerance[:, chosen])

    def select(self, poses: Any) -> "PlatformMeasurements":
        """Some of the poses: a mask, or numbers."""
        rows = np.arange(len(self))[np.asarray(poses)]
        return PlatformMeasurements(*(getattr(self, field.name)[rows] for field in fields(self)))


def _take(data: Any, n: int, own: dict[str, tuple[int, ...]]) -> None:
    """Arrays of a shape each, finite, tolerances not negative; they cannot be written to afterwards."""
    shapes: dict[str, tuple[int, ...]] = {"quaternion": (n, 4), "position": (n, 3)}
    shapes |= {"position_tolerance": (n, 3), "rotation_tolerance": (n, 3), **own}
    for name, shape in shapes.items():
        values = array(getattr(data, name), name, ndim=(0, 1, 2))
        if "tolerance" in name:
            with suppress(ValueError):  # the shape is looked at below
                values = np.broadcast_to(values, shape).copy()
        require(values.shape == shape, f"{name} must have shape {shape}, but it is {values.shape}")
        bad = first_not_finite(values)
        require(bad is None, f"{name} of pose {bad and bad[0]} is NaN or infinite: leave that pose out")
        require("tolerance" not in name or bool((values >= 0).all()), f"{name} must not be negative")
        values.flags.writeable = False
        object.__setattr__(data, name, values)
    require(n > 0, "a leg needs at least one pose")
    largest = abs(data.quaternion).max(axis=1)
    require(bool((largest > 0).all()), "a quaternion of zeros is no rotation")
    off = np.flatnonzero((largest < SMALLEST) | (largest > LARGEST))  # their squares would over- or underflow
    if off.size:
        size = f"the quaternion of pose {off[0]} has the largest component {largest[off[0]]:.3g}"
        raise InputError(f"{size}, which is not between {SMALLEST:g} and {LARGEST:g}: give unit quaternions")
