"""Exact solutions of linear equations, against FLINT."""

from fractions import Fraction

import flint
import numpy as np
import pytest

from gough.core.exact_equations import solve_exactly

PRIME = 2**31 - 1


def by_flint(A, b):
    matrix = flint.fmpq_mat(len(A), len(A), [flint.fmpq(int(x)) for row in A for x in row])
    right = flint.fmpq_mat(len(b), 1, [flint.fmpq(x.numerator, x.denominator) for x in b])
    x = matrix.solve(right)
    return [Fraction(int(x[i, 0].p), int(x[i, 0].q)) for i in range(len(b))]


def whole(rng, n, bits):
    """Whole numbers of very different sizes, some of them zero."""
    sizes = rng.integers(0, bits, (n, n))
    return np.array([[int(rng.integers(-8, 9)) << int(s) for s in row] for row in sizes], dtype=object)


@pytest.mark.parametrize("n", [1, 3, 8, 9, 14, 30])
@pytest.mark.parametrize("bits", [1, 60, 400])
def test_equals_flint(n, bits, rng):
    A = whole(rng, n, bits) + np.diag([1 << bits] * n)
    b = [Fraction(int(rng.integers(-99, 99)), int(rng.integers(1, 99))) for _ in range(n)]
    assert solve_exactly(A, b) == by_flint(A, b)


@pytest.mark.parametrize("n", [4, 12])
def test_singular_equations_have_no_solution(n, rng):
    A = whole(rng, n, 40)
    A[-1] = A[0] + 2 * A[1]
    assert solve_exactly(A, [Fraction(1)] * n) is None


def test_a_determinant_that_the_prime_divides(rng):
    A = whole(rng, 10, 20) + np.diag([1 << 20] * 10)
    A[3] = PRIME * A[3]
    b = [Fraction(k + 1, 7) for k in range(10)]
    assert solve_exactly(A, b) == by_flint(A, b)


def test_zero_and_whole_solutions(rng):
    A, x = whole(rng, 12, 50) + np.diag([1 << 50] * 12), [Fraction(k) for k in range(-6, 6)]
    assert solve_exactly(A, [Fraction(0)] * 12) == [0] * 12
    assert solve_exactly(A, [Fraction(int(v)) for v in A @ np.array([int(v) for v in x], dtype=object)]) == x
