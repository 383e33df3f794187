"""Is a symmetric matrix of whole numbers positive semidefinite? Decided without rounding."""

from collections.abc import Callable

from gough.core.rational import Whole

_BITS = 128
"""Digits kept for the quick look: far more than any margin of a floating-point answer, far less than all."""


SHORT_BITS = 2 * _BITS
"""Bits of the entries that are looked at first."""


def is_semidefinite(M: Whole, before_exact: Callable[[int], None] = lambda _: None) -> bool:
    """Whether xᵀMx ≥ 0 for all x, M symmetric, by fraction-free elimination [BAR68]: its pivots are minors of M.

    Exact numbers are long, and most matrices are far from the edge. So a smaller and a larger matrix with short
    numbers are looked at first: with S = diag(s) M diag(s), s powers of two, and S = T + R, T the whole parts, all
    entries of R are in [0, 1), hence n·1 ± R are diagonally dominant: S is semidefinite if T − n·1 is, and only if
    T + n·1 is. `before_exact` is called with the number of bits if all digits must be looked at.

    Examples:
        >>> import numpy as np
        >>> is_semidefinite(np.array([[1, 1], [1, 1]], dtype=object))
        True
        >>> is_semidefinite(np.array([[1, 2], [2, 3]], dtype=object))
        False
    """
    n = len(M)
    rows = [[int(x) for x in M[i, : i + 1]] for i in range(n)]
    if any(rows[i][i] < 0 for i in range(n)):
        return False
    bits = [rows[i][i].bit_length() for i in range(n)]
    if any(2 * (rows[i][j].bit_length() - 1) >= bits[i] + bits[j] for i in range(n) for j in range(i) if rows[i][j]):
        return False  # M_ij² > M_ii M_jj; it also keeps the numbers below short
    half = [count // 2 for count in bits]
    short = [[_times_power(rows[i][j], _BITS - half[i] - half[j]) for j in range(i + 1)] for i in range(n)]
    if _eliminated(_shifted(short, -n)):
        return True
    if not _eliminated(_shifted(short, n)):
        return False
    before_exact(max((x.bit_length() for row in rows for x in row), default=0))
    return _eliminated(rows)


def exact_cost(n: int, bits: int) -> int:
    """About how many nanoseconds the elimination of n rows of whole numbers with so many bits takes.

    Examples:
        >>> exact_cost(3, 100) < exact_cost(29, 100) < exact_cost(29, 5000)
        True
    """
    return sum((n - k) ** 2 * (200 + 3 * ((k + 1) * bits // 30 + 1) ** 2) // 2 for k in range(n))


def _shifted(rows: list[list[int]], by: int) -> list[list[int]]:
    return [[*row[:-1], row[-1] + by] for row in rows]


def _times_power(x: int, exponent: int) -> int:
    """The whole part of x·2^exponent, rounded down."""
    return x << exponent if exponent >= 0 else x >> -exponent


def _eliminated(rows: list[list[int]]) -> bool:
    """Elimination of a lower triangle; a pivot of 0 is passed over if its column is 0 too."""
    n, previous = len(rows), 1
    rows = [list(row) for row in rows]
    for k in range(n):
        pivot, column = rows[k][k], [rows[i][k] for i in range(k + 1, n)]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        if pivot == 0:
            continue
        for i, head in enumerate(column, start=k + 1):
            row = rows[i]
            for j, other in enumerate(column[: i - k], start=k + 1):
                row[j] = (pivot * row[j] - head * other) // previous
        previous = pivot
    return True
