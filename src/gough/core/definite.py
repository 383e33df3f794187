"""Is a symmetric matrix of whole numbers positive semidefinite? Decided without rounding."""

from gough.core.rational import Whole

_BITS = 128
"""Digits kept for the quick look: far more than any margin of a floating-point answer, far less than all."""


def is_semidefinite(M: Whole) -> bool:
    """Whether xᵀMx ≥ 0 for all x, M symmetric, by fraction-free elimination [BAR68]: its pivots are minors of M.

    Exact numbers are long, and most matrices are far from the edge. So a smaller matrix with short numbers is looked
    at first: with S = diag(s) M diag(s), s powers of two, and S = T + R, T the whole parts, all entries of R are in
    [0, 1), hence R + n·1 is diagonally dominant, and S is semidefinite if T − n·1 is.

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
    half = [rows[i][i].bit_length() // 2 for i in range(n)]
    short = [[_times_power(rows[i][j], _BITS - half[i] - half[j]) for j in range(i + 1)] for i in range(n)]
    for i in range(n):
        short[i][i] -= n
    return _eliminated(short) or _eliminated(rows)


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
