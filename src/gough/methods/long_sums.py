"""Bounds from multipliers in whole numbers, compiled by numba; importing this module imports numba.

A double is three signed digits of 26 bits at a multiple of 26 bits, so that sums of products of doubles are sums of
products of digits: long accumulators as in [KUL13, §8]. Only whole numbers of 64 bits are computed with, none of them
beyond 2^52 times the number of terms; nothing is rounded, whatever the processor's state.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., object])
Numbers = npt.NDArray[np.int64]


def _jit(function: F) -> F:
    return cast("F", numba.njit(cache=True, error_model="numpy")(function))


BITS = 26
_MASK = (1 << BITS) - 1
_HALF = 1 << (BITS - 1)
_FRACTION = (1 << 52) - 1
LENGTH = 288
"""Digits of an accumulator: products of three doubles reach from 2^−3222 to 2^3072."""
ZERO = 136
"""Where the digit of 2^0 is."""
MOST = 400
"""Rows in a sum: 3 · MOST products of digits, of less than 2^52 each, stay below 2^63."""


@_jit
def take_apart(bits: int, digits: Numbers) -> int:
    """The three signed digits of a double given by its bits; returns the place of the first."""
    biased, m = (bits >> 52) & 0x7FF, bits & _FRACTION
    if biased > 0:
        m |= 1 << 52
    else:
        biased = 1
    exponent = biased - 1075
    place = exponent // BITS
    shift = exponent - BITS * place
    digits[0] = (m & (_MASK >> shift)) << shift
    digits[1] = (m >> (BITS - shift)) & _MASK
    digits[2] = m >> (2 * BITS - shift)
    if bits < 0:
        for i in range(3):
            digits[i] = -digits[i]
    return place


@_jit
def add(total: Numbers, a: Numbers, b: Numbers, place: int, sign: int) -> None:
    """Total += sign · a · b, for digits that begin at places whose sum is `place`."""
    for i in range(3):
        for j in range(3):
            total[ZERO + place + i + j] += sign * a[i] * b[j]


@_jit
def carry(total: Numbers) -> int:
    """Digits from −2^25 to 2^25 for the same number; returns the position of the leading one, or −1."""
    over, leading = 0, -1
    for i in range(len(total)):
        v = total[i] + over
        if v == 0:
            total[i] = over = 0
            continue
        digit = ((v + _HALF) & _MASK) - _HALF
        over = (v - digit) >> BITS
        total[i] = digit
        if digit != 0:
            leading = i
    return leading


@_jit
def bound(rows: Numbers, weights: Numbers, wanted: Numbers, lower: Numbers, upper: Numbers, total: Numbers) -> int:  # noqa: PLR0917
    """Σ (λ_k y_k − |λ_k| e_k) + Σ_j min over the box of d_j θ_j, d = wanted − Wᵀλ, into `total`; its leading position.

    All doubles are given by their bits; `rows` are [W y e], and the box is bounded.
    """
    n, p = len(weights), len(wanted)
    a, b, d = np.empty((n, 3), np.int64), np.empty(3, np.int64), np.empty(LENGTH, np.int64)
    one, places = np.empty(3, np.int64), np.empty(n, np.int64)
    total[:] = 0
    for k in range(n):
        places[k] = take_apart(weights[k], a[k])
        place = take_apart(rows[k, p], b)
        add(total, a[k], b, places[k] + place, 1)
        place = take_apart(rows[k, p + 1], b)
        add(total, a[k], b, places[k] + place, -1 if weights[k] > 0 else 1)
    unit = take_apart(0x3FF0000000000000, one)  # 1.0
    for j in range(p):
        d[:] = 0
        place = take_apart(wanted[j], b)
        add(d, one, b, unit + place, 1)
        for k in range(n):
            place = take_apart(rows[k, j], b)
            add(d, a[k], b, places[k] + place, -1)
        leading = carry(d)
        if leading >= 0:
            place = take_apart(lower[j] if d[leading] > 0 else upper[j], b)
            for i in range(leading + 1):
                if d[i] != 0:
                    for s in range(3):
                        total[i + place + s] += d[i] * b[s]
    return carry(total)
