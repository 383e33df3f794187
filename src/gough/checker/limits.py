"""How large a certificate may be, and how much work its check may take.

Whoever writes a certificate decides how long it is, how deep its cases are nested and how many digits its numbers have;
without limits, one small file could keep the checker busy for hours. A certificate beyond a limit is not judged:
`BeyondLimit` says which limit it is and what to do.

Work is estimated before it is done, from the lengths of the numbers about to be multiplied, in units of about one
nanosecond of a processor of 2020. It depends on the certificate and the problem alone, never on the clock, so that a
certificate is judged either everywhere or nowhere.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from fractions import Fraction
from math import lcm
from typing import Any, TypeVar, cast

import numpy as np

from gough.core.errors import BeyondLimit, InputError
from gough.core.rational import Whole, rational
from gough.core.sealed import NESTED

FILE_BYTES = 16 * 2**20
"""Largest file of a certificate. The largest in gough's documentation has 1 MB."""
NUMBERS = 2**25
"""Numbers of one array of equations, most of which a file need not list because they are 0; 256 MB."""
DEPTH = (NESTED - 10) // 2
"""Largest depth of nested cases, 150."""
PARTS = 200_000
"""Links, cuts, strips and rounds of one certificate together."""
BITS = 20_000
"""Largest length of a numerator or denominator; doubles need 1074."""
COMMON_BITS = 100_000
"""Largest length of the common denominator of numbers that are added."""
WORK = 30_000_000_000
"""Units of one check, about 30 seconds. The longest in gough's documentation takes 3."""

T = TypeVar("T")
_LEAVES = (int, float, str, Fraction, type(None))
_DIGIT = 30  # bits of a digit of Python's whole numbers


def require_within(amount: int, limit: int, what: str, unit: str = "") -> None:
    """Refuse more than the limit.

    Examples:
        >>> require_within(3, 2, "cases are nested", " deep")
        Traceback (most recent call last):
        ...
        gough.core.errors.BeyondLimit: cases are nested 3 deep, but at most 2 deep are checked; prove it in smaller parts
    """  # noqa: E501 - a message has no line ends
    if amount > limit:
        raise BeyondLimit(f"{what} {amount}{unit}, but at most {limit}{unit} are checked; prove it in smaller parts")


def exact(value: Any, what: str) -> Fraction:
    """`value` without rounding, of no more digits than a check can bear."""
    number = rational(value, what)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > BITS:
        raise BeyondLimit(f"{what} has more than {BITS} binary digits, which are not checked; round it to a double")
    return number


def common(values: Iterable[Fraction]) -> tuple[Whole, int]:
    """Whole numbers n and a denominator d with values = n / d, where d is of a length that a check can bear."""
    fractions = list(values)
    d = 1
    for x in fractions:
        if d % x.denominator:
            spend(gcd_cost(d.bit_length()))
            d = lcm(d, x.denominator)
            if d.bit_length() > COMMON_BITS:
                raise BeyondLimit(
                    f"the common denominator of {len(fractions)} numbers has more than {COMMON_BITS} binary digits, "
                    "which are not checked; round them to doubles"
                )
    numerators = np.empty(len(fractions), dtype=object)
    numerators[:] = [x.numerator * (d // x.denominator) for x in fractions]
    return numerators, d


def remade(value: T, kinds: tuple[type, ...]) -> T:
    """The same value, made again by its constructors, so that each of them has refused what it must.

    A value that was unpickled, copied bit by bit or made by `object.__new__` never met its constructor. Only the
    types named are let through, none derived from them.

    Raises:
        InputError: a constructor refuses it, or it is not made of these types.
        BeyondLimit: it is too deep, or has too many parts.
    """
    count = 0

    def again(part: Any, depth: int) -> Any:
        nonlocal count
        kind = type(part)
        if kind is tuple:
            return tuple(again(each, depth) for each in part)
        if kind in _LEAVES:
            return part
        if kind not in kinds:
            raise InputError(f"a proof is not made of values of type {kind.__name__}")
        count += 1
        require_within(count, PARTS, "a certificate has", " parts")
        require_within(depth, DEPTH + 10, "its parts are nested", " deep")
        return kind(**{field.name: again(getattr(part, field.name), depth + 1) for field in fields(part) if field.init})

    try:
        return cast("T", again(value, 0))
    except (TypeError, AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"a {type(value).__name__} is not complete: {error}") from error


_left: ContextVar[list[int] | None] = ContextVar("_left", default=None)


@contextmanager
def bounded_work(limit: int | None = None) -> Iterator[None]:
    """Within it, `spend` counts down from the limit."""
    token = _left.set([WORK if limit is None else limit])
    try:
        yield
    except RecursionError as error:  # where the caller's own calls leave less room than usual
        raise BeyondLimit(
            "cases are nested deeper than this program's stack allows; prove it in smaller parts"
        ) from error
    finally:
        _left.reset(token)


def spend(units: int) -> None:
    """Say that so much work comes next; refuse it if no more is allowed."""
    left = _left.get()
    if left is not None:
        left[0] -= units
        if left[0] < 0:
            raise BeyondLimit(
                "the check would take more work than is allowed, about 30 seconds; "
                "state less in one certificate, or round its numbers to doubles"
            )


def product_cost(first: int, second: int) -> int:
    """Work of a product of two numbers with so many bits."""
    return 60 + (first // _DIGIT + 1) * (second // _DIGIT + 1)


def gcd_cost(bits: int) -> int:
    """Work of reducing a fraction with so many bits."""
    return 300 + 5 * (bits // _DIGIT + 1) ** 2
