"""Fields of geometries, with what they mean and their unit, so that studies and reports can list them."""

from dataclasses import field, fields
from math import isfinite
from typing import Any

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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)
