"""Fields of geometries, with their meaning and unit for studies and reports, and points that several robots share."""

from dataclasses import field, fields
from math import isfinite, pi
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require


def length(default: float | tuple[float, ...], meaning: str) -> Any:
    """A field that is a length, or one for each motor."""
    return field(default=default, metadata={"unit": "m", "meaning": meaning})


def angles(default: tuple[float, ...], meaning: str) -> Any:
    """A field that is an angle for each motor."""
    return field(default=default, metadata={"unit": "rad", "meaning": meaning, "motors": len(default)})


def check_geometry(geometry: Any) -> None:
    """Refuse lengths that are not positive and angles that are not finite, by name."""
    for each in fields(geometry):
        value = getattr(geometry, each.name)
        if each.metadata["unit"] == "m":
            require(_is_number(value) and value > 0, f"{each.name} must be a positive length in m, but it is {value}")
        else:
            n = each.metadata["motors"]
            is_angles = isinstance(value, tuple) and len(value) == n and all(map(_is_number, value))
            require(is_angles, f"{each.name} must be a tuple of {n} angles in rad, but it is {value}")


def pairs_on_circle(radius: float, half: float, z: float = 0.0) -> Array:
    """Three pairs of points (6, 3) on a circle, at 0°, 120° and 240°, each `half` (rad) to both sides."""
    angles = np.array([k * 2 * pi / 3 + side * half for k in range(3) for side in (-1, 1)])
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(6, z)])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)
