"""Values of a file that describes a target: whole numbers, names, and lengths with units."""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.units import factor_between

_LENGTH = re.compile(r"^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S.*?)?\s*$")
_LONGEST = 1.0
"""Metres that a length without a unit may have: a larger one was meant in mm or inches."""


def length(value: Any, unit: str | None = None) -> float:
    """A length in m: text such as "25.4 mm", or a number in `unit`, or a number in m where no unit is stated.

    Raises:
        InputError: it is no length; or it has no unit, and would be a metre or more.

    Examples:
        >>> length("25.4 mm"), length(0.03), length(30, "mm")
        (0.0254, 0.03, 0.03)
        >>> length(25.4)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: 25.4 would be 25.4 m, since lengths without a unit are in m: write "25.4 mm", ...
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f'must be a length such as "25.4 mm", but is {value!r}')
    if isinstance(value, str):
        found = _LENGTH.match(value)
        if found is None:
            raise InputError(f'must be a length such as "25.4 mm", but is {value!r}')
        if found[2] is None and unit is None:
            raise InputError(f'"{value.strip()}" has no unit: write "{value.strip()} mm", or whatever unit is true')
        number, written = float(found[1]), found[2] or unit
        assert written is not None
        return _finite(number * factor_between(written, "m"), value)
    if unit is not None:
        return _finite(float(value) * factor_between(unit, "m"), value)
    number = _finite(float(value), value)
    if abs(number) >= _LONGEST:
        raise InputError(
            f'{value} would be {number:g} m, since lengths without a unit are in m: write "{value} mm", '
            f'or "{value} m" if it is true'
        )
    return number


def _finite(number: float, value: Any) -> float:
    require(isfinite(number), f"must be a finite length, but is {value!r}")
    return number


def whole(value: Any) -> int:
    """A whole number.

    Examples:
        >>> whole(7)
        7
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"must be a whole number such as 7, but is {value!r}")
    return value


def claim(value: Any) -> bool:
    """True or false.

    Examples:
        >>> claim(True)
        True
    """
    if not isinstance(value, bool):
        raise InputError(f"must be true or false, but is {value!r}")
    return value


def word(value: Any) -> str:
    """A name in quotes.

    Examples:
        >>> word("5X5_100")
        '5X5_100'
    """
    if not isinstance(value, str):
        raise InputError(f'must be text in quotes such as "5X5_100", but is {value!r}')
    return value.removeprefix("DICT_").removeprefix("APRILTAG_").removeprefix("tag")


def places(value: Any, unit: str | None = None) -> Array:
    """Points (n, 3) in m from a list of [x, y] or [x, y, z].

    Examples:
        >>> places([["10 mm", 0, 0], [0.02, 0.01, 0]]).tolist()
        [[0.01, 0.0, 0.0], [0.02, 0.01, 0.0]]
    """
    form = "points must be [x, y] or [x, y, z] each, all of one form"
    rows = value if isinstance(value, list) else []
    sizes = {len(row) if isinstance(row, list) else 0 for row in rows}
    require(sizes in ({2}, {3}), f"{form}, but are {str(value)[:40]}")
    points = np.zeros((len(rows), 3))
    for k, row in enumerate(rows):
        try:
            points[k, : len(row)] = [length(entry, unit) for entry in row]
        except InputError as error:
            raise InputError(f"point {k}: {error}") from error
    return points


def pair(value: Any, unit: str | None = None) -> tuple[float, float]:
    """Width and height in m.

    Examples:
        >>> pair(["200 mm", 0.1])
        (0.2, 0.1)
    """
    fits = isinstance(value, list) and len(value) == 2
    require(fits, f'must be [width, height], such as ["200 mm", "150 mm"], but is {value!r}')
    return length(value[0], unit), length(value[1], unit)


def stated_unit(data: Mapping[str, Any]) -> str | None:
    """The unit of lengths without one, if the file states it.

    Examples:
        >>> stated_unit({"unit": "mm"})
        'mm'
    """
    unit = data.get("unit")
    if unit is None:
        return None
    if not isinstance(unit, str):
        raise InputError(f'must be a unit of length in quotes, such as "mm", but is {unit!r}')
    factor_between(unit, "m")
    return unit
