"""Validation of arrays: real numbers that doubles hold exactly, owned by gough and read-only."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from mmap import mmap
from numbers import Rational
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gough.core.errors import InputError

Array = npt.NDArray[np.float64]
"""A float64 array of any shape. Shapes are stated where the array is documented."""
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

T = TypeVar("T", bound=npt.NDArray[Any])
ROWS_PER_BLOCK = 1 << 13
"""Rows of a tall matrix in one block: 1 MB for 16 columns."""
_EXACT = 1 << 53
"""Whole numbers up to here are doubles."""


def array(value: Any, what: str, *, ndim: int | tuple[int, ...], copy: bool = True) -> Array:
    """`value` as a read-only float64 array with one of the given numbers of dimensions.

    Every entry must be a real number that a double holds exactly: what is proven is proven of these numbers, so none
    is rounded on the way in. Integers, fractions, decimals and long doubles are taken where they are exact; booleans,
    texts, dates and masked entries are refused.

    An array that its owner can still write to is copied. A read-only one, such as a memory map of mode "r", stays where
    it is; a memory map that is open for writing is refused. With `copy=False` nothing is copied: for arrays that are
    used during one call and not kept.

    Examples:
        >>> array([1, 2], "y", ndim=1)
        array([1., 2.])
        >>> array([[1], [2, 3]], "y", ndim=2)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: y must be an array of real numbers, but it cannot be read as one
        >>> array([2**53 + 1], "y", ndim=1)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: y[0] is 9007199254740993, which no double equals (the nearest is \
9007199254740992.0): round it yourself, and widen the error bounds by what that changes
    """
    values, is_new = _numbers(value, what)
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if values.ndim not in allowed:
        wanted = " or ".join(str(n) for n in allowed)
        raise InputError(f"{what} must have {wanted} dimension(s), but its shape is {values.shape}")
    if copy:
        values = frozen(values if is_new else _owned(values, what))
    result = values.view()  # of memory that is read-only itself, where it is owned: nobody makes it writable by mistake
    result.flags.writeable = False
    return result


def frozen(values: T) -> T:
    """Make an array that nothing else refers to read-only, so that `array` takes it without a copy."""
    part: Any = values
    while isinstance(part, np.ndarray):
        part.flags.writeable = False
        part = part.base
    return values


def _owned(values: Array, what: str) -> Array:
    """The array itself if nobody can write to it, else a copy."""
    if _is_immutable(values):
        return values
    if isinstance(_base(values), mmap):
        raise InputError(
            f"{what} is a memory map that is open for writing, so that its numbers may change after they were used "
            "in a proof: open the file with mode 'r'"
        )
    return values.copy(order="K")


def _is_immutable(values: Any) -> bool:
    while isinstance(values, np.ndarray):
        if values.flags.writeable:
            return False
        values = values.base
    if values is None:
        return True
    try:
        with memoryview(values) as buffer:
            return buffer.readonly
    except TypeError:
        return False


def _base(values: Any) -> Any:
    while isinstance(values, np.ndarray):
        values = values.base
    return values


def _numbers(value: Any, what: str) -> tuple[Array, bool]:
    """`value` as float64, refused unless every entry is exactly a double; and whether the array is made here."""
    _refuse_masks(value, what)
    try:
        values = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of real numbers, but it cannot be read as one") from error
    kind, is_list = values.dtype.kind, values is not value and isinstance(value, Sequence)
    if kind in "iuf" and is_list:
        _check_entries(value, what)
    if kind == "f" and values.dtype.itemsize <= 8:
        result = values.astype(np.float64, copy=False)
        return result, is_list or result is not values
    if kind in "iu":
        if values.size and (int(values.max()) > _EXACT or int(values.min()) < -_EXACT):
            _check_entries(values.tolist(), what)
        return values.astype(np.float64), True
    if kind == "f":
        return _from_long(values, what), True
    if kind == "O":
        return _from_objects(values, what), True
    reasons = {
        "c": "real, but it is complex",
        "b": "an array of real numbers, but it holds true and false: write 1.0 and 0.0 if these are meant",
        "M": "an array of real numbers, but it holds dates: subtract one of them and divide by a unit of time",
        "m": "an array of real numbers, but it holds spans of time: divide by a unit of time",
    }
    raise InputError(f"{what} must be {reasons.get(kind, 'an array of real numbers, but it cannot be read as one')}")


def is_masked_array(value: Any) -> bool:
    """Whether `value` is a masked array; there is none where nobody has loaded `numpy.ma`.

    It is not loaded here: it would be in the rounding mode of the caller, in which old NumPy misjudges float types.
    """
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def _refuse_masks(value: Any, what: str) -> None:
    if is_masked_array(value):
        masked = np.argwhere(np.ma.getmaskarray(value))
        if masked.size or (value.ndim == 0 and bool(np.ma.getmaskarray(value))):
            place = _place(tuple(masked[0].tolist())) if masked.size else ""
            raise InputError(f"{what}{place} is masked: leave those rows out, or fill them with a number")
    elif not isinstance(value, np.ndarray | str | bytes) and isinstance(value, Sequence):
        for one in value:
            if isinstance(one, Sequence) or is_masked_array(one):
                _refuse_masks(one, what)


def _place(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _leaves(value: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Entries of nested sequences that are not plain floats, with their place."""
    if isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim):
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "f" and value.dtype.itemsize <= 8:
                return
        elif set(map(type, value)) == {float}:
            return
        for i, one in enumerate(value):
            yield from _leaves(one, (*index, i))
    else:
        yield index, value


def _check_entries(value: Any, what: str) -> None:
    """Refuse entries of a list that NumPy would round, or take for numbers though they are none."""
    for index, one in _leaves(value):
        if type(one) is not int or not -_EXACT <= one <= _EXACT:
            _exactly(one, f"{what}{_place(index)}")


def _from_objects(values: Any, what: str) -> Array:
    result = np.empty(values.shape)
    for index in np.ndindex(values.shape):
        result[index] = _exactly(values[index], f"{what}{_place(index)}")
    return result


def _from_long(values: Any, what: str) -> Array:
    with np.errstate(all="ignore"):
        result = values.astype(np.float64)
        wrong = np.argwhere((result.astype(values.dtype) != values) & ~np.isnan(values))
    if wrong.size or (values.ndim == 0 and not np.isnan(values) and result != values):
        index = tuple(wrong[0].tolist()) if values.ndim else ()
        raise _rounded(f"{what}{_place(index)}", str(values[index]), float(result[index]))
    return np.asarray(result, dtype=np.float64)


def _exactly(one: Any, what: str) -> float:
    """One number as the double that equals it."""
    if isinstance(one, np.ndarray) and one.ndim == 0:
        one = one[()]
    if isinstance(one, float | np.float32 | np.float16):
        return float(one)
    if isinstance(one, np.longdouble):
        return float(_from_long(np.asarray(one), what))
    if isinstance(one, Decimal) and not one.is_finite():
        return float(one)
    if isinstance(one, bool | np.bool_ | np.timedelta64) or not isinstance(one, Rational | np.integer | Decimal):
        raise InputError(f"{what} must be a real number, but it is {one!r:.40} of type {type(one).__name__}")
    exact = Fraction(int(one)) if isinstance(one, np.integer) else Fraction(one)
    try:
        near = exact.numerator / exact.denominator
    except OverflowError as error:
        raise InputError(f"{what} is {one!s:.40}, which is beyond all doubles") from error
    if Fraction(near) != exact:
        raise _rounded(what, str(one), near)
    return near


def _rounded(what: str, text: str, near: float) -> InputError:
    return InputError(
        f"{what} is {text:.60}, which no double equals (the nearest is {near!r}): round it yourself, and widen the "
        "error bounds by what that changes"
    )


def first_not_finite(values: Array) -> tuple[int, ...] | None:
    """Index of the first entry that is NaN or infinite, or None; read in blocks, without a mask of the whole array."""
    for start in range(0, len(values), ROWS_PER_BLOCK):
        finite = np.isfinite(values[start : start + ROWS_PER_BLOCK])
        if not finite.all():
            row, *rest = np.argwhere(~finite)[0].tolist()
            return (start + row, *rest)
    return None


class ArrayValue:
    """Equality by content for frozen dataclasses that hold arrays (`==` of dataclasses cannot compare those).

    Fields with `compare=False` do not count.
    """

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.compare
        )


def _same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return bool(a == b)
