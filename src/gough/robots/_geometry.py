"""Fields of geometries, with what they mean and their unit, so that studies and reports can list them."""

from dataclasses import field, fields
from math import cos, isfinite, sin, sqrt
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


def home_height(arm: float, rod: float, offset: float, hanging: float) -> float:
    """The height z of the pose in which all arms hang by the angle `hanging`, to two digits.

    `offset` is the horizontal distance from an arm's motor to its rods' end, which is inside the motor.
    """
    across = offset + arm * cos(hanging)
    require(
        rod > abs(across),
        f"the robot cannot be assembled: rods of {rod:g} m do not bridge the {across:.3g} m from the elbows to the "
        "platform; check that arm is the link on the motor and rod the link on the platform",
    )
    return float(f"{-arm * sin(hanging) - sqrt(rod**2 - across**2):.2g}")
