"""Square systems of linear equations in whole numbers, solved exactly."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from gough.core.arrays import Integers
from gough.core.rational import Whole, over_common_denominator

_FEW = 8
"""Unknowns up to which elimination is faster than digits."""
_PRIME = 2**31 - 1
"""The products of two digits fit into 64 bits."""


def solve_exactly(A: Whole, b: Sequence[Fraction]) -> list[Fraction] | None:
    """The solution of A x = b for whole numbers A; None if A is singular.

    Few unknowns are eliminated without fractions [BAR68]. Of many, the digits of x in the base of a prime are found one
    after the other, all with one inverse modulo the prime, until they determine the fractions [DIX82].

    Examples:
        >>> solve_exactly(np.array([[2, 1], [1, 3]], dtype=object), [Fraction(1), Fraction(0)])
        [Fraction(3, 5), Fraction(-1, 5)]
    """
    if len(b) > _FEW:
        inverse = _inverse_modulo(np.array([[int(x) % _PRIME for x in row] for row in A], dtype=np.int64))
        if inverse is not None:
            return list(_from_digits(A, b, inverse))
    return _eliminated(A, b)


def _from_digits(A: Whole, b: Sequence[Fraction], inverse: Integers) -> Iterator[Fraction]:
    numerators, denominator = over_common_denominator(b)
    right = [int(x) for x in numerators]
    # by Cramer's rule and Hadamard's inequality: |det A| ≤ Π ‖column‖, and b in place of a column for numerators
    most_below = most_above = 1
    for column in A.T:
        most_below *= _norm(column)
    most_above = most_below * max(_norm(numerators), 1)
    total, base = [0] * len(b), 1
    while base <= 2 * most_above * most_below:
        remainders = np.array([x % _PRIME for x in right], dtype=np.int64)
        digits = (inverse * remainders % _PRIME).sum(axis=1) % _PRIME
        known = digits.astype(object)
        right = [(x - int(y)) // _PRIME for x, y in zip(right, A @ known, strict=True)]
        total = [x + base * int(d) for x, d in zip(total, known, strict=True)]
        base *= _PRIME
    common = 1
    for x in total:
        above = _symmetric(x * common, base)
        if abs(above) > most_above:
            above, factor = _fraction(x * common % base, base, most_above)
            common *= factor
        yield Fraction(above, common * denominator)


def _norm(column: Whole) -> int:
    """The length of a column, rounded up."""
    return isqrt(sum(int(x) ** 2 for x in column)) + 1


def _symmetric(x: int, modulus: int) -> int:
    """The number of least size that is x modulo `modulus`."""
    x %= modulus
    return x - modulus if 2 * x > modulus else x


def _fraction(x: int, modulus: int, most: int) -> tuple[int, int]:
    """The (n, d) with n ≡ x d, |n| ≤ most and the least d > 0: Euclid's algorithm, stopped half-way."""
    n, above, d, below = modulus, x, 0, 1
    while above > most:
        q, rest = divmod(n, above)
        n, above, d, below = above, rest, below, d - q * below
    return (above, below) if below > 0 else (-above, -below)


def _inverse_modulo(M: Integers) -> Integers | None:
    """The inverse modulo the prime, by Gauss and Jordan; None if there is none."""
    n = len(M)
    M = np.hstack([M, np.eye(n, dtype=np.int64)])
    for k in range(n):
        candidates = np.flatnonzero(M[k:, k])
        if not candidates.size:
            return None
        pivot = k + int(candidates[0])
        M[[k, pivot]] = M[[pivot, k]]
        M[k] = M[k] * pow(int(M[k, k]), -1, _PRIME) % _PRIME
        factors = M[:, k].copy()
        factors[k] = 0
        M = (M - factors[:, None] * M[k] % _PRIME) % _PRIME
    return M[:, n:]


def _eliminated(A: Whole, b: Sequence[Fraction]) -> list[Fraction] | None:
    n = len(b)
    right, denominator = over_common_denominator(b)
    M = [[int(A[i, j]) for j in range(n)] + [int(right[i])] for i in range(n)]
    previous = 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if M[i][k]), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(n):
            if i != k:
                factor, head = M[i][k], M[k][k]
                M[i] = [(head * x - factor * y) // previous for x, y in zip(M[i], M[k], strict=True)]
        previous = M[k][k]
    return [Fraction(M[i][n], M[i][i] * denominator) for i in range(n)]
