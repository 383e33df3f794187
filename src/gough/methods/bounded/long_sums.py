"""Bounds from multipliers in whole numbers, compiled by numba; importing this module imports numba.

A double is three signed digits of 26 bits at a multiple of 26 bits, so that sums of products of doubles are sums of
products of digits: long accumulators as in [KUL13, §8]. Only whole numbers of 64 bits are computed with, none of them
beyond 2^52 times the number of terms; nothing is rounded, whatever the processor's state.
"""

import numpy as np
import numpy.typing as npt

from gough.core.compiled_kernels import compiled

Numbers = npt.NDArray[np.int64]


BITS = 26
_MASK = (1 << BITS) - 1
_HALF = 1 << (BITS - 1)
_FRACTION = (1 << 52) - 1
LENGTH = 288
"""Digits of an accumulator: products of three doubles reach from 2^−3222 to 2^3072."""
ZERO = 136
"""Where the digit of 2^0 is."""
MOST = 200
"""Rows in a sum, and unknowns: 9 · MOST products of digits at one position, each below 2^52, stay below 2^63."""


@compiled
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


@compiled
def add(total: Numbers, a: Numbers, b: Numbers, position: int, sign: int) -> None:
    """Total += sign · a · b, for three digits each, from a position on."""
    for i in range(3):
        for j in range(3):
            total[position + i + j] += sign * a[i] * b[j]


@compiled
def carry(total: Numbers, first: int, last: int) -> int:
    """Digits from −2^25 to 2^25 for a number that has some from `first` to `last`; the position of the leading one."""
    over, leading, i = 0, -1, first
    while i <= last or over != 0:
        v = total[i] + over
        digit = ((v + _HALF) & _MASK) - _HALF
        over = (v - digit) >> BITS
        total[i] = digit
        if digit != 0:
            leading = i
        i += 1
    return leading


@compiled
def left_over(  # noqa: PLR0917
    table: Numbers, j: int, rows: Numbers, a: Numbers, positions: Numbers, wanted: int, d: Numbers
) -> tuple[int, int]:
    """D = wanted − Σ_k λ_k W_kj, added to zeros; the positions of its first digit and of the leading one."""
    b, one = np.empty(3, np.int64), np.empty(3, np.int64)
    first = ZERO + take_apart(0x3FF0000000000000, one) + take_apart(wanted, b)  # 1.0 times it
    last = first
    add(d, one, b, first, 1)
    for k in range(len(rows)):
        position = positions[k] + take_apart(table[rows[k], j], b)
        add(d, a[k], b, position, -1)
        first, last = min(first, position), max(last, position)
    return first, carry(d, first, last + 4)


@compiled
def bound(  # noqa: PLR0917
    table: Numbers, rows: Numbers, weights: Numbers, wanted: Numbers, lower: Numbers, upper: Numbers, total: Numbers
) -> None:
    """Σ (λ_k y_k − |λ_k| e_k) + Σ_j min over the box of d_j θ_j, d = wanted − Wᵀλ, into `total`.

    All doubles are given by their bits. The table has rows [W y e], of which some are used; the box is bounded.
    """
    n, p = len(weights), len(wanted)
    a, b, d = np.empty((n, 3), np.int64), np.empty(3, np.int64), np.zeros(LENGTH, np.int64)
    positions = np.empty(n, np.int64)
    total[:] = 0
    for k in range(n):
        positions[k] = ZERO + take_apart(weights[k], a[k])
        position = positions[k] + take_apart(table[rows[k], p], b)
        add(total, a[k], b, position, 1)
        position = positions[k] + take_apart(table[rows[k], p + 1], b)
        add(total, a[k], b, position, -1 if weights[k] > 0 else 1)
    for j in range(p):
        first, leading = left_over(table, j, rows, a, positions, wanted[j], d)
        if leading >= 0:
            place = take_apart(lower[j] if d[leading] > 0 else upper[j], b)
            for i in range(first, leading + 1):
                for s in range(3):
                    total[i + place + s] += d[i] * b[s]
                d[i] = 0
    carry(total, 0, LENGTH - 20)


@compiled
def bounds(  # noqa: PLR0917
    table: Numbers, rows: Numbers, weights: Numbers, wanted: Numbers, lower: Numbers, upper: Numbers, totals: Numbers
) -> None:
    """`bound` for several rows of numbers and weights."""
    for s in range(len(totals)):
        bound(table, rows[s], weights[s], wanted, lower, upper, totals[s])
