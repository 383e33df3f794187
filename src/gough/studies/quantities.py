"""Numbers with units, as users write them in files."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

from gough.core.errors import InputError
from gough.core.units import LARGEST, SMALLEST, factor_between

_WRITTEN = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")

_COMMA = re.compile(r"\s*[+-]?\d*,\d")


def quantity(value: Any, unit: str, *, bare: bool = False) -> float:
    """`value`, a number in `unit` or text such as "260 mm", in `unit`.

    Text has a unit: "0.081" alone is refused, because 81 mm and 0.081 mm are both likely. Only "0", pure numbers, and
    text of a command line (`bare`), where numbers have no quotes, may do without.

    Examples:
        >>> quantity("260 mm", "m"), quantity(0.26, "m"), quantity("90 deg", "rad")
        (0.26, 0.26, 1.5707963267948966)
        >>> quantity("90 deg", "m")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: '90 deg': 'deg' cannot become 'm': one measures rad, the other m
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f'must be a number in {unit}, or text such as "20 {unit}", but is {value!r}')
    number, written_unit = _parts(value, unit, bare=bare) if isinstance(value, str) else (float(value), unit)
    try:
        number *= 1.0 if written_unit == unit else factor_between(written_unit, unit)
    except InputError as error:
        raise InputError(f"'{value}': {error}") from error
    if not isfinite(number):
        raise InputError(f"must be a finite number, but is {value!s:.40}")
    if number and not SMALLEST <= abs(number) <= LARGEST:
        raise InputError(f"must be 0 or between {SMALLEST:g} and {LARGEST:g} {unit} in size, but is {value!s:.40}")
    return number


def _parts(text: str, unit: str, *, bare: bool) -> tuple[float, str]:
    if _COMMA.match(text):
        raise InputError(
            f"'{text}' has a decimal comma: write a decimal point, \"{text.replace(',', '.', 1).strip()}\""
        )
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise InputError(f"'{text}' is not a number with a unit, such as \"20 {unit}\"")
    number = float(written[1])
    if not (written[2] or bare or unit in {"", "1"} or number == 0):
        raise InputError(
            f"'{text}' has no unit: write \"{written[1]} {unit}\", or {written[1]} without quotes for {unit}"
        )
    return number, written[2] or unit


def quantities(value: Any, units: Sequence[str]) -> Any:
    """One quantity, or a list of them, in the given units; None stays None.

    Examples:
        >>> quantities(["90 deg", 1.0], ["rad", "m"]), quantities("5 mm", ["m", "m"])
        ([1.5707963267948966, 1.0], 0.005)
    """
    if value is None:
        return None
    if isinstance(value, list):
        if len(value) != len(units):
            raise InputError(f"give one number, or a list of {len(units)}, not of {len(value)}")
        return [quantity(each, unit) for each, unit in zip(value, units, strict=True)]
    return quantity(value, units[0])


def nested(value: Any, unit: str) -> Any:
    """A quantity, or quantities in lists of any depth, in `unit`.

    Examples:
        >>> nested([["5 mm", 0.1], 2], "m")
        [[0.005, 0.1], 2.0]
    """
    return [nested(each, unit) for each in value] if isinstance(value, list) else quantity(value, unit)


def deviations(value: Any, units: Sequence[str]) -> Any:
    """Standard deviations as `quantities`; a list of lists is a covariance, in SI units already.

    Examples:
        >>> deviations("5 mm", ["m"]), deviations([[4.0]], ["m"])
        (0.005, [[4.0]])
    """
    is_matrix = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    return value if is_matrix else quantities(value, units)
