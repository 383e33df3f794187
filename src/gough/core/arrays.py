"""Arrays at the door: converted once, checked once, read-only from then on."""

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.errors import InputError

Array = npt.NDArray[np.float64]
"""A float64 array of any shape. Shapes are stated where the array is documented."""

ROWS_PER_BLOCK = 1 << 13
"""Rows handled at a time when a tall matrix is walked through: 1 MB for 16 columns."""


def array(value: Any, what: str, *, ndim: int | tuple[int, ...], copy: bool = True) -> Array:
    """`value` as a read-only float64 array with one of the given numbers of dimensions.

    With `copy=False` the array stays where it is (a memory map stays on disk); whoever passes it promises not to
    change it while gough uses it.

    Examples:
        >>> array([1, 2], "y", ndim=1)
        array([1., 2.])
        >>> array([[1], [2, 3]], "y", ndim=2)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: y must be an array of real numbers, but it cannot be read as one
    """
    try:
        given = np.asarray(value)
        result = given.real.astype(np.float64, copy=copy).view()
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of real numbers, but it cannot be read as one") from error
    if np.iscomplexobj(given):
        raise InputError(f"{what} must be real, but it is complex")
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if result.ndim not in allowed:
        wanted = " or ".join(str(n) for n in allowed)
        raise InputError(f"{what} must have {wanted} dimension(s), but its shape is {result.shape}")
    result.flags.writeable = False
    return result


def first_not_finite(values: Array) -> tuple[int, ...] | None:
    """Index of the first entry that is NaN or infinite, or None; walks by blocks, so it needs no memory."""
    for start in range(0, len(values), ROWS_PER_BLOCK):
        finite = np.isfinite(values[start : start + ROWS_PER_BLOCK])
        if not finite.all():
            row, *rest = np.argwhere(~finite)[0].tolist()
            return (start + row, *rest)
    return None


class ArrayValue:
    """Equality by content for frozen dataclasses that hold arrays (`==` of dataclasses cannot compare those)."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)  # type: ignore[arg-type]
        )


def _same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return bool(a == b)
