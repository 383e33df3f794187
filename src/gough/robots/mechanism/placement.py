"""The placement of one frame in another: a position and a rotation, as plain numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require

Vector = tuple[float, float, float]
Rotation = tuple[Vector, Vector, Vector]
"""A rotation matrix, row by row."""

UNTURNED: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
AXES: dict[str, Vector] = {
    **dict(zip("xyz", UNTURNED, strict=True)),
    **{f"-{name}": (-row[0], -row[1], -row[2]) for name, row in zip("xyz", UNTURNED, strict=True)},
}
"""The axes that have a name."""
_ROUNDING = 4e-16
"""Sines and cosines of right angles are wrong by less; an exact zero keeps equations short."""
_CROOKED = 1e-9
"""A matrix that is further from a rotation was mistyped."""


@dataclass(frozen=True)
class Placement:
    """A frame in another one: its origin, and the rotation that takes its coordinates into the other's.

    Examples:
        >>> from math import pi
        >>> beside = Placement((0.2, 0.0, 0.0), turned("z", pi / 2))
        >>> (beside @ Placement((1.0, 0.0, 0.0))).position
        (0.2, 1.0, 0.0)
    """

    position: Vector = (0.0, 0.0, 0.0)
    rotation: Rotation = UNTURNED

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", vector(self.position, "position"))
        rows = np.asarray(self.rotation, dtype=float)
        fits = rows.shape == (3, 3) and bool(np.isfinite(rows).all())
        straight = fits and np.abs(rows @ rows.T - np.eye(3)).max() < _CROOKED and np.linalg.det(rows) > 0
        require(
            bool(straight), f"a rotation must be an orthogonal 3 x 3 matrix with determinant 1, not {self.rotation}"
        )
        object.__setattr__(self, "rotation", rotation(rows))

    def __matmul__(self, other: "Placement") -> "Placement":
        """The placement of a frame that stands at `other` in this one."""
        R = np.array(self.rotation)
        at = np.array(self.position) + R @ np.array(other.position)
        return Placement(exact(at), rotation(R @ np.array(other.rotation)))

    @property
    def matrix(self) -> Array:
        """The rotation as an array (3, 3)."""
        return np.array(self.rotation)


def turned(axis: str | Sequence[float], angle: float) -> Rotation:
    """The rotation by an angle about an axis, "x", "y", "z" or a vector [GVL13, §5.1].

    Examples:
        >>> turned("x", 0.0) == UNTURNED
        True
    """
    a = np.array(AXES[axis] if isinstance(axis, str) else unit(axis, "axis"))
    cross = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    return rotation(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross))


def roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> Rotation:
    """R = R_z(yaw) R_y(pitch) R_x(roll).

    Examples:
        >>> roll_pitch_yaw(0.0, 0.0, 0.5) == turned("z", 0.5)
        True
    """
    z, y, x = (np.array(turned(axis, angle)) for axis, angle in (("z", yaw), ("y", pitch), ("x", roll)))
    return rotation(z @ y @ x)


def facing(x: Sequence[float], z: Sequence[float]) -> Rotation:
    """The rotation whose frame has its z axis along `z` and its x axis as near to `x` as possible.

    Examples:
        >>> facing((1.0, 0.0, 0.3), (0.0, 0.0, 2.0)) == UNTURNED
        True
    """
    third = np.array(unit(z, "z"))
    first = np.asarray(x, dtype=float) - third * (third @ np.asarray(x, dtype=float))
    first = np.array(unit(first.tolist(), "x, seen along z,"))
    return rotation(np.column_stack([first, np.cross(third, first), third]))


def vector(value: Any, what: str) -> Vector:
    """Three finite numbers, or InputError that names `what`."""
    numbers = tuple(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else ()
    is_vector = len(numbers) == 3 and all(isinstance(x, int | float) and isfinite(x) for x in numbers)
    require(is_vector, f"{what} must be three finite numbers, but is {value}")
    return (float(numbers[0]), float(numbers[1]), float(numbers[2]))


def unit(value: Any, what: str) -> Vector:
    """A vector made one long; an axis without length has no direction.

    Examples:
        >>> unit((0, 0, 2), "axis")
        (0.0, 0.0, 1.0)
    """
    x, y, z = vector(value, what)
    size = sqrt(x * x + y * y + z * z)
    if size < 1e-12:
        raise InputError(f"{what} has no length, so that it points nowhere: give it as in [0, 0, 1]")
    return exact(np.array([x, y, z]) / size)


def exact(values: Array) -> Vector:
    """Three numbers, without what rounding has left of zeros and ones."""
    near = np.round(values)
    x, y, z = np.where(np.abs(values - near) <= _ROUNDING * np.maximum(np.abs(near), 1.0), near + 0.0, values).tolist()
    return (x, y, z)


def rotation(rows: Array) -> Rotation:
    """A matrix as rows of numbers, without what rounding has left of zeros and ones."""
    return (exact(rows[0]), exact(rows[1]), exact(rows[2]))


STILL = Placement()
"""A frame that stands where the other does."""
